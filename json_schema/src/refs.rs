//! What references can lead to: `$id` names resources, `$anchor` places in them; pointers lead anywhere.
//!
//! `loader` finds the names, `reach` says where each reference leads. Ids here are of originals, see
//! [`JsonDocument::original`], but for the table of targets.

use compact_str::CompactString;
use larkspur_grammar::json::{JsonDocument, JsonId, pointer_key};
use rustc_hash::FxHashMap;

use crate::draft::{Dialect, Holds};

/// An object with more members than this is searched by a table of its keys.
const INDEXED_MEMBERS_MIN: usize = 16;

/// The name under which `$recursiveAnchor` is noted; no `$dynamicAnchor` has it.
pub(crate) const RECURSIVE: &str = "";

/// What is known of a schema resource.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    /// Without fragment.
    pub uri: String,
    pub dialect: Dialect,
    /// The `$dynamicAnchor`s by name, and [`RECURSIVE`] for `$recursiveAnchor: true` at the root.
    pub dynamic: Vec<(CompactString, JsonId)>,
}

/// Where a reference leads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Target {
    Schema(JsonId),
    Missing,
    /// A document that is not there, and why.
    Remote {
        uri: String,
        reason: Option<String>,
    },
}

/// The resources of all documents.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    /// Schemas that begin a resource, by their URI without fragment.
    pub by_uri: FxHashMap<String, JsonId>,
    /// Named places: root of the resource, name.
    pub anchors: FxHashMap<(JsonId, CompactString), JsonId>,
    /// The same for dynamic ones.
    pub dynamic_anchors: FxHashMap<(JsonId, CompactString), JsonId>,
    /// For each schema that was found: the root of its resource.
    pub resource_of: FxHashMap<JsonId, JsonId>,
    /// By the resource's root.
    pub about: FxHashMap<JsonId, Resource>,
    /// Members of large objects.
    members: FxHashMap<JsonId, FxHashMap<CompactString, JsonId>>,
    /// By the place of the reference's text, which may be a copy; the schema may be one, too.
    pub targets: FxHashMap<JsonId, Target>,
}

impl Resources {
    /// The root of the resource that a value belongs to: that of the nearest schema around it.
    pub fn root_of(&self, document: &JsonDocument, id: JsonId) -> JsonId {
        let mut at = document.original(id);
        loop {
            if let Some(&resource) = self.resource_of.get(&at) {
                return resource;
            }
            match document.parent(at) {
                Some(parent) => at = document.original(parent),
                None => return at,
            }
        }
    }

    /// The dialect of a schema.
    pub fn dialect(&self, document: &JsonDocument, id: JsonId) -> Dialect {
        self.about[&self.root_of(document, id)].dialect
    }

    /// Where the reference leads whose text stands at `place`.
    pub fn target(&self, place: JsonId) -> Target {
        self.targets.get(&place).cloned().unwrap_or(Target::Missing)
    }

    /// The value that a JSON pointer leads to from `id`.
    pub fn resolve_pointer(&mut self, document: &JsonDocument, id: JsonId, pointer: &str) -> Option<JsonId> {
        let mut at = id;
        for step in pointer.split('/').skip(1) {
            let next = match document.object(at) {
                Some(members) if members.len() > INDEXED_MEMBERS_MIN => {
                    let table = self
                        .members
                        .entry(at)
                        .or_insert_with(|| members.iter().map(|member| (member.key.clone(), member.value)).collect());
                    table.get(pointer_key(step).as_str()).copied()
                }
                Some(_) => document.get(at, &pointer_key(step)),
                None => document.element(at, step),
            };
            at = document.original(next?);
        }
        Some(at)
    }
}

/// The places inside a schema where its keywords have schemas; those of `$defs` only if they are asked for.
pub(crate) fn schemas_in(document: &JsonDocument, id: JsonId, dialect: Dialect, with_definitions: bool) -> Vec<JsonId> {
    let mut found = Vec::new();
    for member in document.object(id).unwrap_or_default() {
        let Some(row) = dialect.keyword(&member.key) else { continue };
        if !with_definitions && ["$defs", "definitions"].contains(&row.name) {
            continue;
        }
        let elements = document.array(member.value).unwrap_or_default();
        match row.holds {
            Holds::Data => {}
            Holds::Schema => found.push(member.value),
            Holds::SchemaOrList if elements.is_empty() => found.push(member.value),
            Holds::List | Holds::SchemaOrList => found.extend(elements),
            Holds::Map | Holds::Dependencies => {
                found.extend(document.object(member.value).unwrap_or_default().iter().map(|member| member.value));
            }
        }
    }
    found.iter_mut().for_each(|id| *id = document.original(*id));
    found
}
