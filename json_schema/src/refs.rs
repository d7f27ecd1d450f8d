//! What references can lead to: `$id` names resources, `$anchor` places in them; pointers lead anywhere.
//!
//! `loader` finds the names, `reach` says where each reference leads. Ids here are of originals, see
//! [`JsonDocument::original`], but for the table of targets.

use std::cell::OnceCell;

use compact_str::CompactString;
use larkspur_grammar::diagnostic::did_you_mean;
use larkspur_grammar::index::IdMap;
use larkspur_grammar::json::{JsonDocument, JsonId, JsonValue, pointer_key, pointer_step};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::draft::{Dialect, Holds};

/// An object with more members than this is searched by a table of its keys.
const INDEXED_MEMBERS_MIN: usize = 16;

/// Keywords by which a schema refers to another.
pub(crate) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

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
    pub resource_of: IdMap<JsonId, JsonId>,
    /// By the resource's root.
    pub about: FxHashMap<JsonId, Resource>,
    /// Members of large objects.
    members: FxHashMap<JsonId, FxHashMap<CompactString, JsonId>>,
    /// By the place of the reference's text, which may be a copy; the schema may be one, too.
    pub targets: FxHashMap<JsonId, Target>,
    /// The schemas that references lead to, and all that they are inside of.
    around_targets: FxHashSet<JsonId>,
    /// The keys of all objects, once they were asked for.
    keys: OnceCell<FxHashSet<CompactString>>,
}

impl Resources {
    /// The root of the resource that a value belongs to: that of the nearest schema around it.
    pub fn root_of(&self, document: &JsonDocument, id: JsonId) -> JsonId {
        let mut at = document.original(id);
        loop {
            if let Some(&resource) = self.resource_of.get(at) {
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

    /// Notes where references lead, when all of them are resolved. Cost: linear in the document.
    pub fn note_targets(&mut self, document: &JsonDocument) {
        for target in self.targets.values() {
            let &Target::Schema(target) = target else { continue };
            let mut at = document.original(target);
            while self.around_targets.insert(at)
                && let Some(parent) = document.parent(at)
            {
                at = document.original(parent);
            }
        }
    }

    /// Whether a reference that is reached leads to this value, or into it.
    pub fn is_led_into(&self, document: &JsonDocument, value: JsonId) -> bool {
        self.around_targets.contains(&document.original(value))
    }

    /// Whether an object of the document has a member of this name, keyword or not. Cost: linear in the document, once.
    pub fn has_key(&self, document: &JsonDocument, key: &str) -> bool {
        self.keys.get_or_init(|| document.members().map(|member| member.key.clone()).collect()).contains(key)
    }

    /// Whether `unevaluatedProperties` or `unevaluatedItems` stands anywhere.
    pub fn has_unevaluated(&self, document: &JsonDocument) -> bool {
        ["unevaluatedProperties", "unevaluatedItems"].iter().any(|key| self.has_key(document, key))
    }

    /// Whether the resource has OpenAPI's `components`.
    pub fn has_components(&self, document: &JsonDocument, place: JsonId) -> bool {
        document.get(self.root_of(document, place), "components").is_some()
    }

    /// A reference within the resource that is nearly written like this one, which leads nowhere.
    pub fn near_reference(&self, document: &JsonDocument, place: JsonId, text: &str) -> Option<String> {
        let root = self.root_of(document, place);
        let Some(fragment) = text.strip_prefix('#') else {
            // A name alone, or a pointer without its `#`.
            let path = text.strip_prefix('/').unwrap_or(text);
            let is_pointer = path.starts_with("$defs/") || path.starts_with("definitions/");
            let pointer = || near_pointer(document, root, path).filter(|_| is_pointer);
            return definition(document, root, path).or_else(pointer);
        };
        let name = fragment.strip_prefix('/').unwrap_or(fragment);
        if let Some(definition) = definition(document, root, name) {
            return Some(definition);
        }
        let pointer = match fragment.strip_prefix('/') {
            Some(pointer) => pointer,
            // Without its first slash.
            None if fragment.contains('/') => fragment,
            None => {
                let names =
                    self.anchors.keys().chain(self.dynamic_anchors.keys()).filter(|(resource, _)| *resource == root);
                return did_you_mean(fragment, names.map(|(_, name)| &**name)).map(|name| format!("#{name}"));
            }
        };
        // Where the other drafts have their definitions nothing needs to be guessed.
        let other = other_definitions(pointer);
        let moved = other.as_deref().and_then(|other| near_pointer(document, root, other));
        let exact = moved.clone().filter(|moved| moved.strip_prefix("#/") == other.as_deref());
        let near = exact.or_else(|| near_pointer(document, root, pointer)).or(moved);
        near.filter(|near| near != text)
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
                    table.get(&*pointer_key(step)).copied()
                }
                Some(_) => document.get(at, &pointer_key(step)),
                None => document.element(at, step),
            };
            at = document.original(next?);
        }
        Some(at)
    }
}

/// The reference to the definition of a name.
fn definition(document: &JsonDocument, root: JsonId, name: &str) -> Option<String> {
    let has = |holder: &&str| document.get(root, holder).and_then(|holder| document.get(holder, name)).is_some();
    let holder = ["$defs", "definitions"].into_iter().find(|holder| has(holder))?;
    Some(format!("#/{holder}/{}", pointer_step(name)))
}

/// The pointer that begins with `$defs` for one that begins with `definitions`, and the other way round.
fn other_definitions(pointer: &str) -> Option<String> {
    let (first, rest) = pointer.split_once('/')?;
    let other = match first {
        "$defs" => "definitions",
        "definitions" => "$defs",
        _ => return None,
    };
    Some(format!("{other}/{rest}"))
}

/// A reference that leads somewhere, whose steps from `root` are those of the pointer, or nearly written so.
fn near_pointer(document: &JsonDocument, root: JsonId, pointer: &str) -> Option<String> {
    let (mut at, mut near) = (root, "#".to_owned());
    for step in pointer.split('/') {
        let (key, next) = match document.object(at) {
            Some(members) => {
                let key = pointer_key(step);
                let is_there = members.iter().any(|member| *member.key == *key);
                let keys = members.iter().map(|member| &*member.key);
                let key = if is_there { key } else { did_you_mean(&key, keys)?.to_owned().into() };
                let next = document.get(at, &key)?;
                (key.replace('~', "~0").replace('/', "~1"), next)
            }
            None => (step.to_owned(), document.element(at, step)?),
        };
        near = format!("{near}/{key}");
        at = document.original(next);
    }
    Some(near)
}

/// The places inside a schema where its keywords have schemas; those of `$defs` only if they are asked for.
pub(crate) fn schemas_in(
    document: &JsonDocument,
    id: JsonId,
    dialect: Dialect,
    with_definitions: bool,
) -> SmallVec<[JsonId; 16]> {
    let mut found = SmallVec::new();
    for member in document.object(id).unwrap_or_default() {
        let Some(row) = dialect.keyword(&member.key) else { continue };
        if row.holds == Holds::Data || !with_definitions && ["$defs", "definitions"].contains(&row.name) {
            continue;
        }
        match (row.holds, document.value(member.value)) {
            (Holds::List | Holds::SchemaOrList, JsonValue::Array(elements)) if !elements.is_empty() => {
                found.extend_from_slice(elements);
            }
            (Holds::List, _) => {}
            (Holds::Schema | Holds::SchemaOrList, _) => found.push(member.value),
            (Holds::Map | Holds::Dependencies, JsonValue::Object(members)) => {
                found.extend(members.iter().map(|member| member.value));
            }
            (Holds::Data | Holds::Map | Holds::Dependencies, _) => {}
        }
    }
    if document.has_copies() {
        found.iter_mut().for_each(|id| *id = document.original(*id));
    }
    found
}
