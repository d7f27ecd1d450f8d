//! Which schemas apply at a place inside a value: for messages about a text that is rejected there.

use larkspur_grammar::json::{JsonId, PathStep};
use larkspur_grammar::{Dialect, Limits, RegexOptions, RegexSet, SourceMap, Span, parse_regex};
use rustc_hash::FxHashSet;

use crate::SchemaOptions;
use crate::emptiness::Search;
use crate::loader::Loader;
use crate::reach;
use crate::refs::{REFERENCES, Target};

/// Schemas that are followed at one place, at most: the list is for human eyes.
const SCHEMAS_MAX: usize = 1_000;

/// The schemas that say something of the value that `path` leads to, as URI references: `#/properties/a`, or with the
/// name of another document before it. Whether a branch of `anyOf` and the like is the one that matters is not asked.
pub fn schemas_at(sources: &mut SourceMap, body: Span, options: &SchemaOptions, path: &[PathStep]) -> Vec<String> {
    let Ok(document) = crate::read(sources, body, options.limits) else { return Vec::new() };
    let mut loader = Loader::new(document, sources, options.limits, options.retriever, options.draft, options.uri);
    if reach::resolve(&mut loader).is_err() {
        return Vec::new();
    }
    let root = loader.document.root();
    let places = Places { loader: &loader, limits: options.limits };
    let mut schemas = places.in_place(vec![root]);
    for step in path {
        let inner = schemas.iter().flat_map(|&schema| places.inside(schema, step)).collect();
        schemas = places.in_place(inner);
    }
    let places: Vec<(Span, String)> =
        schemas.iter().map(|&id| (loader.document.span(id), loader.document.pointer(id))).collect();
    let name = |(span, pointer): (Span, String)| match span.source == body.source {
        true => format!("#{pointer}"),
        false => format!("{}#{pointer}", sources.get(span.source).name),
    };
    places.into_iter().map(name).collect()
}

struct Places<'l, 'a> {
    loader: &'l Loader<'a>,
    limits: &'l Limits,
}

impl Places<'_, '_> {
    /// The schemas, and those that they apply to the same value.
    fn in_place(&self, schemas: Vec<JsonId>) -> Vec<JsonId> {
        let document = &self.loader.document;
        let mut found = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack: Vec<JsonId> = schemas.into_iter().rev().collect();
        while let Some(schema) = stack.pop() {
            if found.len() >= SCHEMAS_MAX || !seen.insert(schema) {
                continue;
            }
            found.push(schema);
            let mut next = Vec::new();
            for key in REFERENCES {
                let place = document.get(schema, key).filter(|&place| document.string(place).is_some());
                if let Some(Target::Schema(target)) = place.map(|place| self.loader.resources.target(place)) {
                    next.push(target);
                }
            }
            for key in ["allOf", "anyOf", "oneOf"] {
                next.extend(document.get(schema, key).and_then(|list| document.array(list)).unwrap_or_default());
            }
            next.extend(["then", "else"].iter().filter_map(|key| document.get(schema, key)));
            for key in ["dependentSchemas", "dependencies"] {
                let map = document.get(schema, key).and_then(|map| document.object(map)).unwrap_or_default();
                next.extend(map.iter().map(|member| member.value).filter(|&value| document.array(value).is_none()));
            }
            stack.extend(next.into_iter().rev());
        }
        found
    }

    /// The schemas that a schema has for what is a step inside its value.
    fn inside(&self, schema: JsonId, step: &PathStep) -> Vec<JsonId> {
        match step {
            PathStep::Key(key) => self.property(schema, key),
            PathStep::Index(index) => self.element(schema, usize::try_from(*index).unwrap_or(usize::MAX)),
        }
    }

    fn property(&self, schema: JsonId, key: &str) -> Vec<JsonId> {
        let document = &self.loader.document;
        let named = document.get(schema, "properties").and_then(|map| document.get(map, key));
        let mut found: Vec<JsonId> = named.into_iter().collect();
        let patterns = document.get(schema, "patternProperties").and_then(|map| document.object(map));
        for member in patterns.unwrap_or_default() {
            let mut set = RegexSet::new();
            let regex_options = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
            let map = document.key_map(member);
            let regex = parse_regex(&member.key, &map, &regex_options, self.limits, &mut set, &mut Vec::new());
            if regex.is_ok_and(|regex| Search::default().matches(&set, regex, key) == Some(true)) {
                found.push(member.value);
            }
        }
        if found.is_empty() {
            let others = ["additionalProperties", "unevaluatedProperties"];
            found.extend(others.iter().filter_map(|other| document.get(schema, other)));
        }
        found
    }

    fn element(&self, schema: JsonId, index: usize) -> Vec<JsonId> {
        let document = &self.loader.document;
        let items = document.get(schema, "items");
        let lists = [document.get(schema, "prefixItems"), items].into_iter().flatten();
        let prefix = lists.filter_map(|list| document.array(list)).next();
        let mut found: Vec<JsonId> = match prefix.and_then(|list| list.get(index)) {
            Some(&element) => vec![element],
            None => {
                let rest = items.filter(|&items| document.array(items).is_none());
                rest.or(document.get(schema, "additionalItems")).into_iter().collect()
            }
        };
        if found.is_empty() {
            found.extend(document.get(schema, "unevaluatedItems"));
        }
        found.extend(document.get(schema, "contains"));
        found
    }
}
