//! Sub-schemas that say the same, word for word but for annotations: the first of them stands for all.
//!
//! Schemas that tools write repeat themselves, often because references were put in place. What is found out about one
//! of equal sub-schemas holds for all of them, and they become one rule. What is wrong with one of them is wrong with all,
//! and is said of each.

use std::hash::Hash;

use larkspur_grammar::hashing::hash_in;
use larkspur_grammar::index::IdMap;
use larkspur_grammar::json::{JsonDocument, JsonId, JsonValue};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::{SmallVec, smallvec};

use crate::draft::{Dialect, Holds};
use crate::parser::name_expects;
use crate::refs::{REFERENCES, Resources};

/// Places that correspond to another one, at most.
const PLACES_MAX: usize = 1_000;

/// Which schemas have an equal one before them.
#[derive(Debug, Default)]
pub(crate) struct Twins {
    first: IdMap<JsonId, JsonId>,
    /// By the first one, those for which it stood.
    met: FxHashMap<JsonId, FxHashSet<JsonId>>,
}

/// So many values of what is no schema are hashed at most: what differs behind them is compared.
const HASHED_MAX: usize = 4_096;

/// What a schema says, in order: keywords and names with what stands there.
#[derive(Clone, Copy)]
enum Part {
    Data(JsonId),
    Schema(JsonId),
    /// So many schemas follow, of a list or a map.
    List(usize),
    Map(usize),
}

struct Finder<'d> {
    document: &'d JsonDocument,
    resources: &'d Resources,
    dialect: Dialect,
    /// Of schemas.
    hashes: IdMap<JsonId, u64>,
    by_hash: FxHashMap<u64, JsonId>,
    first: IdMap<JsonId, JsonId>,
    /// What the other schema says. Kept for its room.
    others: Vec<(&'d str, Part)>,
}

impl Twins {
    /// Looks through a document. In one of several resources, or with references that hang on where they are met, equal
    /// words may mean different things; there, nothing is taken for equal. Cost: linear in the document.
    pub fn find(document: &JsonDocument, resources: &Resources) -> Self {
        let mut dialects = resources.about.values().map(|resource| resource.dialect);
        let (Some(dialect), None, false) = (dialects.next(), dialects.next(), document.has_copies()) else {
            return Self::default();
        };
        let mut finder = Finder {
            document,
            resources,
            dialect,
            hashes: IdMap::with_room(document.len()),
            by_hash: FxHashMap::default(),
            first: IdMap::new(),
            others: Vec::new(),
        };
        let mut parts = Vec::new();
        for index in 0..document.len() as u32 {
            finder.add(JsonId(index), &mut parts);
        }
        Self { first: finder.first, met: FxHashMap::default() }
    }

    /// The schema that stands for this one.
    pub fn first(&mut self, schema: JsonId) -> JsonId {
        let Some(&first) = self.first.get(schema) else { return schema };
        self.met.entry(first).or_default().insert(schema);
        first
    }

    /// The places that say what is said at `place`, in schemas for which one around it stood.
    pub fn places(&self, document: &JsonDocument, place: JsonId) -> SmallVec<[JsonId; 4]> {
        let mut places: SmallVec<[JsonId; 4]> = smallvec![place];
        let mut seen: FxHashSet<JsonId> = FxHashSet::default();
        let mut next = 0;
        while next < places.len() && !self.met.is_empty() {
            // The steps from the schema to the place, the last one first.
            let (mut at, mut steps) = (places[next], SmallVec::<[Step<'_>; 8]>::new());
            next += 1;
            loop {
                for &twin in self.met.get(&at).into_iter().flatten() {
                    let to = steps.iter().rev().try_fold(twin, |at, step| step_into(document, at, step));
                    let is_new = |&to: &JsonId| to != place && places.len() < PLACES_MAX && seen.insert(to);
                    places.extend(to.filter(is_new));
                }
                let Some(parent) = document.parent(at) else { break };
                steps.extend(step_from(document, parent, at));
                at = parent;
            }
        }
        places.remove(0);
        places
    }
}

/// The way from a value to one inside it.
enum Step<'d> {
    Key(&'d str),
    Index(usize),
}

fn step_from(document: &JsonDocument, parent: JsonId, id: JsonId) -> Option<Step<'_>> {
    match document.value(parent) {
        JsonValue::Array(elements) => elements.iter().position(|&element| element == id).map(Step::Index),
        JsonValue::Object(members) => {
            members.iter().find(|member| member.value == id).map(|member| Step::Key(&member.key))
        }
        _ => None,
    }
}

fn step_into(document: &JsonDocument, id: JsonId, step: &Step) -> Option<JsonId> {
    match *step {
        Step::Key(key) => document.get(id, key),
        Step::Index(index) => document.array(id)?.get(index).copied(),
    }
}

impl<'d> Finder<'d> {
    /// Values are met behind what is inside them.
    fn add(&mut self, id: JsonId, parts: &mut Vec<(&'d str, Part)>) {
        if !self.resources.resource_of.contains(id) || self.document.object(id).is_none() {
            return;
        }
        self.parts(id, parts);
        let mut hasher = FxHasher::default();
        for &(key, part) in parts.iter() {
            key.hash(&mut hasher);
            match part {
                Part::Schema(id) if let Some(hash) = self.hashes.get(id) => hash.hash(&mut hasher),
                Part::Data(id) | Part::Schema(id) => self.hash_data(id, &mut hasher),
                Part::List(len) | Part::Map(len) => len.hash(&mut hasher),
            }
        }
        let hash = hash_in(&hasher);
        self.hashes.insert(id, hash);
        // Where nothing leads to a schema, its references were not resolved.
        let is_resolved = |&(key, part): &(&str, Part)| {
            let is_reference = REFERENCES.contains(&key);
            !matches!(part, Part::Data(id) if is_reference && !self.resources.targets.contains_key(&id))
        };
        if !parts.iter().all(is_resolved) {
            return;
        }
        let first = *self.by_hash.entry(hash).or_insert(id);
        if first != id && self.is_same(first, parts) {
            self.first.insert(id, first);
        }
    }

    /// Hashes a value as it is written, as far as [`HASHED_MAX`] allows.
    fn hash_data(&self, id: JsonId, hasher: &mut FxHasher) {
        let (mut left, mut agenda): (usize, SmallVec<[JsonId; 8]>) = (HASHED_MAX, smallvec![id]);
        while let (1.., Some(id)) = (left, agenda.pop()) {
            left -= 1;
            let value = self.document.value(id);
            std::mem::discriminant(&value).hash(hasher);
            match value {
                JsonValue::Null => {}
                JsonValue::Bool(truth) => truth.hash(hasher),
                JsonValue::Number(text) | JsonValue::String(text) => text.hash(hasher),
                JsonValue::Array(elements) => agenda.extend(elements.iter().take(left).copied()),
                JsonValue::Object(members) => {
                    members.iter().take(left).for_each(|member| member.key.hash(hasher));
                    agenda.extend(members.iter().take(left).map(|member| member.value));
                }
            }
        }
    }

    /// What a schema says but for annotations.
    fn parts(&self, schema: JsonId, out: &mut Vec<(&'d str, Part)>) {
        out.clear();
        for member in self.document.object(schema).unwrap_or_default() {
            let (key, value) = (&*member.key, member.value);
            let Some(row) = self.dialect.keyword(key) else {
                out.push((key, Part::Data(value)));
                continue;
            };
            // What is defined here is reached by references.
            if row.is_annotation || ["$defs", "definitions"].contains(&row.name) {
                // Of another type it is a mistake, which others need not have.
                if name_expects(self.document, self.dialect, row.name, value).is_some() {
                    out.push((key, Part::Data(value)));
                }
                continue;
            }
            if row.holds == Holds::Data {
                out.push((key, Part::Data(value)));
                continue;
            }
            match (row.holds, self.document.value(value)) {
                (Holds::List | Holds::SchemaOrList, JsonValue::Array(elements)) => {
                    out.push((key, Part::List(elements.len())));
                    out.extend(elements.iter().map(|&element| ("", Part::Schema(element))));
                }
                (Holds::Map | Holds::Dependencies, JsonValue::Object(members)) => {
                    out.push((key, Part::Map(members.len())));
                    out.extend(members.iter().map(|member| (&*member.key, Part::Schema(member.value))));
                }
                (Holds::Schema | Holds::SchemaOrList, JsonValue::Object(_)) => out.push((key, Part::Schema(value))),
                _ => out.push((key, Part::Data(value))),
            }
        }
    }

    /// Whether a schema says these things. What is inside of it was compared before.
    fn is_same(&mut self, first: JsonId, parts: &[(&str, Part)]) -> bool {
        let mut others = std::mem::take(&mut self.others);
        self.parts(first, &mut others);
        let standing_for = |id: JsonId| self.first.get(id).copied().unwrap_or(id);
        let is_object = |id: JsonId| self.document.object(id).is_some();
        let is_same_part = |(a, b): (&(&str, Part), &(&str, Part))| {
            let is_same_value = match (a.1, b.1) {
                (Part::Schema(a), Part::Schema(b)) if is_object(a) => standing_for(a) == standing_for(b),
                (Part::Schema(a), Part::Schema(b)) | (Part::Data(a), Part::Data(b)) => self.is_same_data(a, b),
                (Part::List(a), Part::List(b)) | (Part::Map(a), Part::Map(b)) => a == b,
                _ => false,
            };
            a.0 == b.0 && is_same_value
        };
        let is_same = others.len() == parts.len() && others.iter().zip(parts).all(is_same_part);
        self.others = others;
        is_same
    }

    /// Whether the values are written in the same way. Cost: as long as they are equal, linear in them.
    fn is_same_data(&self, a: JsonId, b: JsonId) -> bool {
        let mut pairs: SmallVec<[(JsonId, JsonId); 8]> = smallvec![(a, b)];
        while let Some((a, b)) = pairs.pop() {
            let is_same = match (self.document.value(a), self.document.value(b)) {
                (JsonValue::Array(a), JsonValue::Array(b)) => {
                    pairs.extend(a.iter().copied().zip(b.iter().copied()));
                    a.len() == b.len()
                }
                (JsonValue::Object(a), JsonValue::Object(b)) => {
                    pairs.extend(a.iter().map(|member| member.value).zip(b.iter().map(|member| member.value)));
                    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key)
                }
                (a, b) => a == b,
            };
            if !is_same {
                return false;
            }
        }
        true
    }
}
