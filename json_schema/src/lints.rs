//! Warnings of schemas that compile, and hardly as they are meant: properties, elements, names and branches without values.
//!
//! Only what lowering has asked for is looked at, so that nothing is found out for a warning's sake. Of what several
//! schemas say together nothing is said.

use larkspur_grammar::json::JsonId;

use crate::ast::Keywords;
use crate::error::Mistake;
use crate::normal::Normalizer;

/// References that are followed to see whether a schema is `false`, at most.
const FOLLOWED_MAX: usize = 16;

/// What may lack if no value is valid for its schema.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Lacking {
    Property,
    Element,
    Name,
    Branch,
}

impl Normalizer<'_> {
    /// Warns of schemas for which no value is valid where an object, array or choice can do without.
    pub fn warn_of_empty(&mut self) {
        self.warn_of_empty_branches();
        let has_empty = self.inhabited.values().any(|is_inhabited| !is_inhabited);
        if !has_empty && !self.names_are_restricted() {
            return;
        }
        for id in self.schemas_read() {
            let Some(keywords) = self.read(id) else { continue };
            for schema in parts(&keywords) {
                if self.is_known_empty(schema)
                    && !self.is_false(schema)
                    && let Some(what) = self.what_may_lack(schema)
                {
                    self.sink.report(schema, Mistake::NeverThere { what });
                }
            }
            if let Some(names) = keywords.names.filter(|&names| !self.is_false(names))
                && self.has_no_names(names)
            {
                self.sink.report(names, Mistake::NeverThere { what: Lacking::Name });
            }
        }
    }

    fn warn_of_empty_branches(&mut self) {
        for keywords in self.choices_read() {
            let one_of = keywords.one_of.iter().map(|(_, schemas)| schemas);
            for schemas in keywords.any_of.iter().chain(one_of) {
                self.warn_of_empty_ones(schemas);
            }
        }
    }

    /// Of branches of which none has a value, their schema says all.
    fn warn_of_empty_ones(&mut self, schemas: &[JsonId]) {
        let is_empty: Vec<bool> = schemas.iter().map(|&schema| self.is_seen_empty(schema)).collect();
        let branches = || std::iter::zip(schemas.iter().copied(), is_empty.iter().copied());
        if !is_empty.contains(&true) || branches().all(|(schema, is_empty)| is_empty || self.is_false(schema)) {
            return;
        }
        for (schema, is_empty) in branches() {
            if is_empty && !self.is_false(schema) {
                self.sink.report(schema, Mistake::NeverThere { what: Lacking::Branch });
            }
        }
    }

    /// What may lack if no value is valid for the schema at this place; `None` where more than that is wrong then.
    pub fn what_may_lack(&self, schema: JsonId) -> Option<Lacking> {
        let document = self.document;
        let parent = |id: JsonId| document.parent(document.original(id));
        let holder = parent(schema)?;
        let original = document.original(schema);
        let has = |owner: JsonId, keywords: &[&str], value: JsonId| {
            keywords.iter().any(|keyword| document.get(owner, keyword) == Some(value))
        };
        if let Some(owner) = parent(holder) {
            if has(owner, &["anyOf", "oneOf"], holder) {
                return Some(Lacking::Branch);
            }
            if has(owner, &["properties", "patternProperties"], holder) {
                return (!self.is_required(schema)).then_some(Lacking::Property);
            }
        }
        if has(holder, &["additionalProperties", "unevaluatedProperties"], original) {
            return Some(Lacking::Property);
        }
        if has(holder, &["propertyNames"], original) {
            return Some(Lacking::Name);
        }
        has(holder, &["items", "additionalItems", "unevaluatedItems"], original).then_some(Lacking::Element)
    }

    /// Whether a schema is that of a property which is required beside it.
    fn is_required(&self, schema: JsonId) -> bool {
        let document = self.document;
        let parent = |id: JsonId| document.parent(document.original(id));
        let Some((holder, around)) = parent(schema).and_then(|holder| Some((holder, parent(holder)?))) else {
            return false;
        };
        let members = document.object(holder).filter(|_| document.get(around, "properties") == Some(holder));
        let member = members.and_then(|members| members.iter().find(|member| member.value == schema));
        let required = document.get(around, "required").and_then(|names| document.array(names)).unwrap_or_default();
        member.is_some_and(|member| required.iter().any(|&name| document.string(name) == Some(&member.key)))
    }

    /// Whether it is written that there is no value: by `false`, `{"not": {}}`, or a reference to one of these.
    fn is_false(&self, mut schema: JsonId) -> bool {
        let document = self.document;
        for _ in 0..FOLLOWED_MAX {
            let members = match document.object(schema) {
                None => return document.bool(schema) == Some(false),
                Some(members) => members,
            };
            match members {
                [member] if &*member.key == "$ref" => match self.referred(member.value) {
                    Some(target) => schema = target,
                    None => return false,
                },
                [member] if &*member.key == "not" => {
                    return document.bool(member.value) == Some(true) || document.object(member.value) == Some(&[]);
                }
                _ => return false,
            }
        }
        false
    }
}

/// The schemas of properties and elements that may be there.
fn parts(keywords: &Keywords) -> Vec<JsonId> {
    let named = keywords.properties.iter().map(|&(_, schema)| schema);
    let patterns = keywords.patterns.iter().map(|pattern| pattern.schema);
    named.chain(patterns).chain(keywords.additional).chain(keywords.rest).collect()
}
