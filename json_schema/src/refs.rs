//! `$ref`: which schema a reference means. `$id` names resources, `$anchor` places in them; pointers lead anywhere.
//!
//! One pass over all places where a schema may stand finds the names; nothing is loaded from outside.

use larkspur_grammar::json::{JsonDocument, JsonId, JsonValue};
use rustc_hash::FxHashMap;

use crate::draft::{Draft, Holds, keyword};

/// The resources of a document.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    /// Schemas that begin a resource, by their URI without fragment.
    by_uri: FxHashMap<String, JsonId>,
    /// Named places: URI of the resource, name.
    anchors: FxHashMap<(String, String), JsonId>,
    /// For each schema that was found: the root of its resource.
    resource_of: FxHashMap<JsonId, JsonId>,
    /// URI and draft of each resource, by its root.
    about: FxHashMap<JsonId, (String, Draft)>,
    /// A `$dynamicAnchor` or `$recursiveAnchor` stands somewhere.
    pub has_dynamic_anchors: bool,
}

/// Where a reference leads.
pub(crate) enum Target {
    Schema(JsonId),
    Missing,
    Remote(String),
}

impl Resources {
    /// Finds all names. `draft` is that of the root if it has no `$schema`.
    pub fn find(document: &JsonDocument, draft: Draft) -> Self {
        let mut found = Self::default();
        let root = document.root();
        found.about.insert(root, (String::new(), draft));
        found.by_uri.insert(String::new(), root);
        let mut stack = vec![(root, root)];
        while let Some((id, resource)) = stack.pop() {
            if found.resource_of.contains_key(&id) {
                continue;
            }
            let resource = found.name(document, id, resource);
            found.resource_of.insert(id, resource);
            let draft = found.about[&resource].1;
            for member in document.object(id).unwrap_or_default() {
                let Some(row) = keyword(draft, &member.key) else { continue };
                let elements = document.array(member.value).unwrap_or_default();
                let values = || document.object(member.value).unwrap_or_default().iter().map(|member| member.value);
                match row.holds {
                    Holds::Data => {}
                    Holds::Schema => stack.push((member.value, resource)),
                    Holds::List => stack.extend(elements.iter().map(|&element| (element, resource))),
                    Holds::Map | Holds::Dependencies => stack.extend(values().map(|value| (value, resource))),
                    Holds::SchemaOrList if elements.is_empty() => stack.push((member.value, resource)),
                    Holds::SchemaOrList => stack.extend(elements.iter().map(|&element| (element, resource))),
                }
            }
        }
        found
    }

    /// The resource of a schema in `outer`, with the names that the schema gives noted.
    fn name(&mut self, document: &JsonDocument, id: JsonId, outer: JsonId) -> JsonId {
        let JsonValue::Object(_) = document.value(id) else { return outer };
        let text = |key: &str| document.get(id, key).and_then(|value| document.string(value));
        let (base, mut draft) = self.about[&outer].clone();
        let mut resource = outer;
        if let Some(named) = text("$schema").and_then(Draft::from_uri) {
            draft = named;
        }
        // Up to draft 7 a schema with `$ref` has no other keywords.
        let has_id = draft.ref_has_siblings() || document.get(id, "$ref").is_none() || id == document.root();
        if let Some(uri) = text(draft.id_keyword()).filter(|_| has_id) {
            let (uri, fragment) = uri.split_once('#').unwrap_or((uri, ""));
            if !uri.is_empty() {
                let uri = join(&base, uri);
                self.by_uri.entry(uri.clone()).or_insert(id);
                self.about.insert(id, (uri, draft));
                resource = id;
            }
            if !fragment.is_empty() && !fragment.starts_with('/') {
                let uri = self.about[&resource].0.clone();
                self.anchors.entry((uri, fragment.to_owned())).or_insert(id);
            }
        }
        if id == document.root() && resource == id {
            self.about.get_mut(&id).expect("the root is known").1 = draft;
        }
        for key in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = text(key).filter(|_| draft.ref_has_siblings()) {
                let uri = self.about[&resource].0.clone();
                self.anchors.entry((uri, name.to_owned())).or_insert(id);
                self.has_dynamic_anchors |= key == "$dynamicAnchor";
            }
        }
        self.has_dynamic_anchors |=
            document.get(id, "$recursiveAnchor").and_then(|value| document.bool(value)) == Some(true);
        resource
    }

    /// The resource that a schema belongs to: found, or that of the nearest schema around it.
    fn resource(&self, document: &JsonDocument, id: JsonId) -> JsonId {
        let mut at = id;
        loop {
            if let Some(&resource) = self.resource_of.get(&at) {
                return resource;
            }
            match document.parent(at) {
                Some(parent) => at = parent,
                None => return document.root(),
            }
        }
    }

    /// The draft of a schema.
    pub fn draft(&self, document: &JsonDocument, id: JsonId) -> Draft {
        self.about[&self.resource(document, id)].1
    }

    /// The schema that `reference` in the schema `from` means.
    pub fn resolve(&self, document: &JsonDocument, from: JsonId, reference: &str) -> Target {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.resource(document, from);
        let resource = if uri.is_empty() {
            own
        } else {
            let absolute = join(&self.about[&own].0, uri);
            match self.by_uri.get(&absolute) {
                Some(&resource) => resource,
                None => return Target::Remote(absolute),
            }
        };
        let Some(fragment) = percent_decoded(fragment) else { return Target::Missing };
        if fragment.is_empty() {
            return Target::Schema(resource);
        }
        let found = if fragment.starts_with('/') {
            document.resolve(&(document.pointer(resource) + &fragment))
        } else {
            let uri = self.about[&resource].0.clone();
            self.anchors.get(&(uri, fragment)).copied()
        };
        found.map_or(Target::Missing, Target::Schema)
    }
}

/// `%25` and the like as bytes; `None` if that is no text.
fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok()
}

/// A URI reference without fragment against a base: RFC 3986, section 5.2.
fn join(base: &str, reference: &str) -> String {
    let (scheme, rest) = split_scheme(reference);
    if !scheme.is_empty() {
        return format!("{scheme}{}", without_dots(rest));
    }
    let (scheme, base_rest) = split_scheme(base);
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let authority_end = match base_rest.strip_prefix("//") {
        Some(after) => 2 + after.find('/').unwrap_or(after.len()),
        None => 0,
    };
    let (authority, path) = base_rest.split_at(authority_end);
    let path = path.split('?').next().unwrap_or_default();
    let joined = if reference.starts_with('/') {
        reference.to_owned()
    } else if reference.starts_with('?') {
        format!("{path}{reference}")
    } else {
        let folder = path.rfind('/').map_or(if authority.is_empty() { "" } else { "/" }, |at| &path[..=at]);
        format!("{folder}{reference}")
    };
    format!("{scheme}{authority}{}", without_dots(&joined))
}

/// The scheme with its colon, and what follows.
fn split_scheme(uri: &str) -> (&str, &str) {
    match uri.find([':', '/', '?']) {
        Some(at) if uri[at..].starts_with(':') && at > 0 => uri.split_at(at + 1),
        _ => ("", uri),
    }
}

/// Without `.` and `..` in the path.
fn without_dots(path: &str) -> String {
    if !path.split(['/', '?']).any(|part| part == "." || part == "..") {
        return path.to_owned();
    }
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut parts: Vec<&str> = Vec::new();
    let count = path.split('/').count();
    for (index, part) in path.split('/').enumerate() {
        match part {
            "." | ".." => {
                if part == ".." && parts.len() > 1 {
                    parts.pop();
                }
                if index + 1 == count {
                    parts.push("");
                }
            }
            part => parts.push(part),
        }
    }
    parts.join("/") + query
}
