//! Documents and the names in them: the schema itself, and those that its references lead to, when they do.
//!
//! All documents are in one table of values, each with spans of its own. Nothing is loaded but what is built in and what
//! the caller's [`Retriever`] gives.

use compact_str::CompactString;
use larkspur_grammar::json::{JsonDocument, JsonId, parse_json};
use larkspur_grammar::{Diagnostic, Limits, SourceMap};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::documents::{Retriever, built_in};
use crate::draft::{Dialect, Draft};
use crate::error::Mistake;
use crate::refs::{RECURSIVE, REFERENCES, Resource, Resources, Target, schemas_in};
use crate::uri::{join, percent_decoded};

/// Why a document is not there; `None`: nobody gives it.
type Failure = Option<String>;

/// What a reference means before the path to it counts.
pub(crate) struct Resolved {
    pub target: Target,
    /// The name in the fragment, if it is that of a `$dynamicAnchor`.
    pub dynamic: Option<CompactString>,
}

/// The documents of one run.
pub(crate) struct Loader<'a> {
    pub document: JsonDocument,
    pub resources: Resources,
    pub limits: &'a Limits,
    /// Whether a schema of those that were added refers to another.
    pub has_references: bool,
    /// Mistakes in what was loaded.
    pub mistakes: Vec<(JsonId, Mistake)>,
    /// Of texts that are not JSON.
    pub diagnostics: Vec<Diagnostic>,
    sources: &'a mut SourceMap,
    retriever: Option<&'a Retriever>,
    /// Of documents without `$schema`.
    default: Dialect,
    fetched: FxHashMap<String, Result<JsonId, Failure>>,
    dialects: FxHashMap<String, Option<Dialect>>,
    documents: usize,
    bytes: usize,
}

impl<'a> Loader<'a> {
    /// Finds the names of the schema. `draft` is that of documents without `$schema`, `uri` that of the schema, unless
    /// it has an `$id`.
    pub fn new(
        document: JsonDocument,
        sources: &'a mut SourceMap,
        limits: &'a Limits,
        retriever: Option<&'a Retriever>,
        draft: Draft,
        uri: &str,
    ) -> Self {
        let mut loader = Self {
            document,
            resources: Resources::default(),
            limits,
            has_references: false,
            mistakes: Vec::new(),
            diagnostics: Vec::new(),
            sources,
            retriever,
            default: Dialect::of(draft),
            fetched: FxHashMap::default(),
            dialects: FxHashMap::default(),
            documents: 0,
            bytes: 0,
        };
        loader.add(loader.document.root(), uri);
        loader
    }

    /// Finds the names of a document.
    fn add(&mut self, root: JsonId, uri: &str) {
        let resource = Resource { uri: uri.to_owned(), dialect: self.default, dynamic: Vec::new() };
        self.resources.about.insert(root, resource);
        self.resources.by_uri.entry(uri.to_owned()).or_insert(root);
        self.find(root, root);
    }

    /// Finds the names of the schema at `id` and of those inside it.
    fn find(&mut self, id: JsonId, resource: JsonId) {
        let mut stack: SmallVec<[(JsonId, JsonId); 16]> = smallvec![(id, resource)];
        while let Some((id, outer)) = stack.pop() {
            if self.resources.resource_of.contains(id) {
                continue;
            }
            let resource = self.name(id, outer);
            self.resources.resource_of.insert(id, resource);
            let dialect = self.resources.about[&resource].dialect;
            let inside = schemas_in(&self.document, id, dialect, true);
            stack.extend(inside.into_iter().map(|schema| (schema, resource)));
        }
    }

    /// The resource of a schema in `outer`, with the names that the schema gives noted.
    fn name(&mut self, id: JsonId, outer: JsonId) -> JsonId {
        let Some(members) = self.document.object(id) else { return outer };
        let is_root = self.document.parent(id).is_none();
        // Most schemas have neither a name nor anything that hangs on it.
        if !is_root && !members.iter().any(|member| member.key.starts_with('$') || &*member.key == "id") {
            return outer;
        }
        self.has_references |= members.iter().any(|member| REFERENCES.contains(&&*member.key));
        let mut dialect = self.resources.about[&outer].dialect;
        let mut draft = dialect.draft;
        let place = self.document.get(id, "$schema");
        let schema = place.and_then(|place| self.text(place));
        if let Some(known) = schema.as_deref().and_then(Draft::from_uri) {
            draft = known;
        }
        // Up to draft 7 a schema with `$ref` has no other keywords.
        let has_id = draft.ref_has_siblings() || self.document.get(id, "$ref").is_none() || is_root;
        let name = self.document.get(id, draft.id_keyword()).filter(|_| has_id).and_then(|place| self.text(place));
        let (uri, fragment) = name.as_deref().map_or(("", ""), |name| name.split_once('#').unwrap_or((name, "")));
        let resource = if uri.is_empty() && !is_root { outer } else { id };
        if resource == id {
            if let (Some(place), Some(schema)) = (place, &schema) {
                dialect = self.dialect(place, schema).unwrap_or(dialect);
            }
            let base = &self.resources.about[&outer].uri;
            let uri = if uri.is_empty() { base.clone() } else { join(base, uri) };
            self.resources.by_uri.entry(uri.clone()).or_insert(id);
            self.resources.about.insert(id, Resource { uri, dialect, dynamic: Vec::new() });
        }
        if !fragment.is_empty() && !fragment.starts_with('/') {
            self.resources.anchors.entry((resource, fragment.into())).or_insert(id);
        }
        self.anchors(id, resource, dialect.draft);
        resource
    }

    fn anchors(&mut self, id: JsonId, resource: JsonId, draft: Draft) {
        let text = |key: &str| self.document.get(id, key).and_then(|place| self.text(place));
        let anchor = text("$anchor").filter(|_| draft >= Draft::Draft2019);
        let dynamic = text("$dynamicAnchor").filter(|_| draft >= Draft::Draft2020);
        let recursive = self.document.get(id, "$recursiveAnchor").and_then(|place| self.document.bool(place));
        if let Some(anchor) = anchor {
            self.resources.anchors.entry((resource, anchor.into())).or_insert(id);
        }
        let is_recursive = draft == Draft::Draft2019 && id == resource && recursive == Some(true);
        let about = self.resources.about.get_mut(&resource).expect("every resource is noted before what is in it");
        if let Some(name) = dynamic.filter(|name| !name.is_empty()) {
            let name: CompactString = name.into();
            about.dynamic.push((name.clone(), id));
            self.resources.dynamic_anchors.entry((resource, name)).or_insert(id);
        }
        if is_recursive {
            about.dynamic.push((RECURSIVE.into(), id));
        }
    }

    fn text(&self, place: JsonId) -> Option<String> {
        self.document.string(place).map(str::to_owned)
    }

    /// The dialect that the `$schema` at `place` means. `None`: it is not known, which is reported.
    fn dialect(&mut self, place: JsonId, uri: &str) -> Option<Dialect> {
        if let Some(draft) = Draft::from_uri(uri) {
            return Some(Dialect::of(draft));
        }
        if let Some(&known) = self.dialects.get(uri) {
            return known;
        }
        let is_old = ["draft-00", "draft-01", "draft-02", "draft-03"].iter().any(|draft| uri.contains(draft));
        let dialect = if is_old { None } else { self.custom_dialect(place, uri) };
        if dialect.is_none() {
            let near = Draft::near_uri(uri);
            let mistake = Mistake::DraftUnknown { uri: uri.to_owned(), is_old, read_as: self.default.draft, near };
            self.mistakes.push((place, mistake));
        }
        self.dialects.insert(uri.to_owned(), dialect);
        dialect
    }

    /// The dialect of a meta-schema of the author's own: the draft of the meta-schema that it names itself, and the
    /// vocabularies that it lists.
    fn custom_dialect(&mut self, place: JsonId, uri: &str) -> Option<Dialect> {
        let mut seen: Vec<String> = Vec::new();
        let mut metaschema = None;
        let mut next = uri.to_owned();
        let draft = loop {
            if let Some(draft) = Draft::from_uri(&next) {
                break draft;
            }
            if seen.contains(&next) {
                return None;
            }
            let root = self.fetch(next.trim_end_matches('#')).ok()?;
            seen.push(next);
            metaschema.get_or_insert(root);
            let schema = self.document.get(root, "$schema").and_then(|place| self.text(place));
            match schema {
                Some(schema) => next = schema,
                None => break self.default.draft,
            }
        };
        let listed = metaschema.and_then(|root| self.document.get(root, "$vocabulary"));
        let Some(listed) = listed.filter(|_| draft >= Draft::Draft2019) else { return Some(Dialect::of(draft)) };
        let mut dialect = Dialect::core(draft);
        for member in self.document.object(listed).unwrap_or_default() {
            match dialect.with(&member.key) {
                Some(more) => dialect = more,
                None if self.document.bool(member.value) == Some(true) => {
                    let mistake = Mistake::VocabularyUnknown { uri: member.key.to_string() };
                    self.mistakes.push((place, mistake));
                }
                None => {}
            }
        }
        Some(dialect)
    }

    /// The outermost value of a document.
    ///
    /// Errors: why it is not there.
    fn fetch(&mut self, uri: &str) -> Result<JsonId, Failure> {
        if let Some(known) = self.fetched.get(uri) {
            return known.clone();
        }
        let fetched = self.fetch_new(uri);
        self.fetched.insert(uri.to_owned(), fetched.clone());
        fetched
    }

    fn fetch_new(&mut self, uri: &str) -> Result<JsonId, Failure> {
        let text = match (built_in(uri), self.retriever) {
            (Some(text), _) => text.to_owned(),
            (None, None) => return Err(None),
            (None, Some(retriever)) => {
                if self.documents >= self.limits.schema_documents_max {
                    let limit = self.limits.schema_documents_max;
                    return Err(Some(format!("the limit `schema_documents_max` of {limit} is met")));
                }
                self.documents += 1;
                let no_document = || Some("there is no such document".to_owned());
                retriever.get(uri).map_err(Some)?.ok_or_else(no_document)?
            }
        };
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > self.limits.schema_documents_bytes_max {
            let limit = self.limits.schema_documents_bytes_max;
            return Err(Some(format!("the limit `schema_documents_bytes_max` of {limit} is met")));
        }
        let source = self.sources.add(uri, text);
        match parse_json(source, &self.sources.get(source).text, self.limits) {
            Ok(document) => Ok(self.document.append(document)),
            Err(errors) => {
                self.diagnostics.extend(errors);
                Err(Some("it is not a JSON text".to_owned()))
            }
        }
    }

    /// What `reference` in the schema `from` means.
    pub fn resolve(&mut self, from: JsonId, reference: &str) -> Resolved {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let own = self.resources.root_of(&self.document, from);
        let is = |target| Resolved { target, dynamic: None };
        let resource = if uri.is_empty() {
            own
        } else {
            let absolute = join(&self.resources.about[&own].uri, uri);
            match self.load(&absolute) {
                Ok(resource) => resource,
                Err(reason) => return is(Target::Remote { uri: absolute, reason }),
            }
        };
        let Some(fragment) = percent_decoded(fragment) else { return is(Target::Missing) };
        if fragment.is_empty() {
            return is(Target::Schema(resource));
        }
        if !fragment.starts_with('/') {
            let key = (resource, CompactString::from(fragment));
            if let Some(&schema) = self.resources.dynamic_anchors.get(&key) {
                return Resolved { target: Target::Schema(schema), dynamic: Some(key.1) };
            }
            return is(self.resources.anchors.get(&key).map_or(Target::Missing, |&schema| Target::Schema(schema)));
        }
        match self.resources.resolve_pointer(&self.document, resource, &fragment) {
            Some(schema) => {
                // What no keyword leads to is a schema all the same.
                let resource = self.resources.root_of(&self.document, schema);
                self.find(schema, resource);
                is(Target::Schema(schema))
            }
            None => is(Target::Missing),
        }
    }

    /// The root of the resource with a URI.
    fn load(&mut self, uri: &str) -> Result<JsonId, Failure> {
        if let Some(&known) = self.resources.by_uri.get(uri) {
            return Ok(known);
        }
        let root = self.fetch(uri)?;
        // A document may be asked for under several URIs.
        if self.resources.resource_of.contains(root) {
            self.resources.by_uri.insert(uri.to_owned(), root);
        } else {
            self.add(root, uri);
        }
        Ok(root)
    }
}
