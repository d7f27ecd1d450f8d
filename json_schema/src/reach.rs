//! Where each reference leads that can be reached from the root: `$ref`, and `$dynamicRef` and `$recursiveRef`, which
//! depend on the path to them (JSON Schema 2020-12, section 8.2.3.2; 2019-09, section 8.2.4.2).
//!
//! Of the path only this matters: for each name the outermost resource that has a dynamic anchor of that name, which is
//! the *scope*. A schema means the same wherever its scope is the same. So a resource that is reached in a second scope
//! is copied, its references are resolved for that scope, and nobody else needs to know of scopes. Where there are no
//! dynamic anchors there is one scope, and nothing is copied.

use compact_str::CompactString;
use larkspur_grammar::define_id;
use larkspur_grammar::json::JsonId;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Mistake;
use crate::loader::Loader;
use crate::refs::{RECURSIVE, REFERENCES, Target, schemas_in};

define_id! {
    /// A set of dynamic anchors, each name with its schema.
    struct ScopeId = "d";
}

/// Of each name the first one that was met; in the order of names.
type Scope = Vec<(CompactString, JsonId)>;

fn find(scope: &Scope, name: &str) -> Option<JsonId> {
    scope.binary_search_by(|(other, _)| (**other).cmp(name)).ok().map(|at| scope[at].1)
}

struct Reach<'l, 'a> {
    loader: &'l mut Loader<'a>,
    scopes: Vec<Scope>,
    scope_ids: FxHashMap<Scope, ScopeId>,
    entered: FxHashMap<(ScopeId, JsonId), ScopeId>,
    /// The scope in which a resource was met first, by its root: there it is the original.
    first: FxHashMap<JsonId, ScopeId>,
    /// What the values of a resource are in other scopes.
    copies: FxHashMap<(JsonId, ScopeId), FxHashMap<JsonId, JsonId>>,
    seen: FxHashSet<(JsonId, ScopeId)>,
    /// Schemas whose references are still to be resolved, with the scope in them.
    stack: Vec<(JsonId, ScopeId)>,
    copied: usize,
}

/// Resolves all references that can be reached from the root, and loads the documents that they lead to.
///
/// Errors: a limit was met, which is among the mistakes.
pub(crate) fn resolve(loader: &mut Loader) -> Result<(), ()> {
    // As of most schemas.
    if !loader.has_references {
        return Ok(());
    }
    let root = loader.document.root();
    let mut reach = Reach {
        loader,
        scopes: Vec::new(),
        scope_ids: FxHashMap::default(),
        entered: FxHashMap::default(),
        first: FxHashMap::default(),
        copies: FxHashMap::default(),
        seen: FxHashSet::default(),
        stack: Vec::new(),
        copied: 0,
    };
    let outside = reach.scope(Vec::new());
    reach.instance(root, outside);
    while let Some((schema, scope)) = reach.stack.pop() {
        let limit = reach.loader.limits.schema_nodes_max;
        if reach.copied > limit {
            let what = "what `$dynamicRef` and `$recursiveRef` make of the schema";
            let mistake = Mistake::Limit { what, limit: "schema_nodes_max", value: limit as u64, demand: None };
            reach.loader.mistakes.push((root, mistake));
            return Err(());
        }
        reach.schema(schema, scope);
    }
    loader.resources.note_targets(&loader.document);
    Ok(())
}

impl Reach<'_, '_> {
    fn scope(&mut self, scope: Scope) -> ScopeId {
        if let Some(&known) = self.scope_ids.get(&scope) {
            return known;
        }
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(scope.clone());
        self.scope_ids.insert(scope, id);
        id
    }

    /// The scope inside a resource that is entered from `outer`.
    fn enter(&mut self, outer: ScopeId, resource: JsonId) -> ScopeId {
        let anchors = &self.loader.resources.about[&resource].dynamic;
        if anchors.is_empty() {
            return outer;
        }
        if let Some(&known) = self.entered.get(&(outer, resource)) {
            return known;
        }
        let mut scope = self.scopes[outer.0 as usize].clone();
        let mut added: Scope = anchors.iter().filter(|(name, _)| find(&scope, name).is_none()).cloned().collect();
        added.sort_by(|a, b| a.0.cmp(&b.0));
        added.dedup_by(|later, first| later.0 == first.0);
        scope.append(&mut added);
        scope.sort_by(|a, b| a.0.cmp(&b.0));
        let inner = self.scope(scope);
        self.entered.insert((outer, resource), inner);
        inner
    }

    /// What the schema is when it is reached from `outer`.
    fn instance(&mut self, schema: JsonId, outer: ScopeId) -> JsonId {
        let resource = self.loader.resources.root_of(&self.loader.document, schema);
        let scope = self.enter(outer, resource);
        if self.seen.insert((schema, scope)) {
            self.stack.push((schema, scope));
        }
        self.copy(schema, resource, scope)
    }

    /// What a value of the resource is in a scope.
    fn copy(&mut self, value: JsonId, resource: JsonId, scope: ScopeId) -> JsonId {
        if *self.first.entry(resource).or_insert(scope) == scope {
            return value;
        }
        let copies = self.copies.entry((resource, scope)).or_insert_with(|| {
            let copies = self.loader.document.copy(resource);
            self.copied += copies.len();
            copies
        });
        copies[&value]
    }

    /// Resolves the references of a schema, and goes on to the schemas that it applies.
    fn schema(&mut self, schema: JsonId, scope: ScopeId) {
        let resource = self.loader.resources.root_of(&self.loader.document, schema);
        let dialect = self.loader.resources.about[&resource].dialect;
        let has_siblings = dialect.draft.ref_has_siblings();
        let mut is_alone = false;
        let members = self.loader.document.object(schema).unwrap_or_default();
        // Most schemas are no references.
        let may_refer = members.iter().any(|member| member.key.starts_with('$'));
        for key in REFERENCES.into_iter().filter(|_| may_refer) {
            let Some(place) = self.loader.document.get(schema, key) else { continue };
            if dialect.keyword(key).is_none() {
                continue;
            }
            let place = self.loader.document.original(place);
            let Some(text) = self.loader.document.string(place).map(str::to_owned) else { continue };
            is_alone |= !has_siblings;
            let target = match self.target(schema, key, &text, scope) {
                Target::Schema(target) => Target::Schema(self.instance(target, scope)),
                other => other,
            };
            let place = self.copy(place, resource, scope);
            self.loader.resources.targets.insert(place, target);
        }
        if is_alone {
            return;
        }
        for inner in schemas_in(&self.loader.document, schema, dialect, false) {
            // It may be the instance for another scope by now, or stand in one.
            let inner = self.loader.document.original(inner);
            let instance = self.instance(inner, scope);
            if self.loader.resources.root_of(&self.loader.document, inner) != resource {
                // A resource inside this one: what holds it holds the instance for this scope.
                let outer = self.loader.document.parent(inner).expect("it stands in a schema");
                let outer = self.loader.document.original(outer);
                let holder = self.copy(outer, resource, scope);
                if (holder, instance) != (outer, inner) {
                    self.loader.document.replace(holder, instance);
                    // Linear in what the holder holds, which counts as if it were copied.
                    self.copied += self.loader.document.object(holder).map_or(1, <[_]>::len);
                }
            }
        }
    }

    /// Where a reference leads in a scope.
    fn target(&mut self, schema: JsonId, key: &str, text: &str, scope: ScopeId) -> Target {
        let resolved = self.loader.resolve(schema, text);
        let name: Option<CompactString> = match (key, &resolved.target) {
            ("$dynamicRef", _) => resolved.dynamic,
            ("$recursiveRef", Target::Schema(target)) => {
                let about = self.loader.resources.about.get(target);
                about
                    .and_then(|about| about.dynamic.iter().find(|(name, _)| **name == *RECURSIVE))
                    .map(|(name, _)| name.clone())
            }
            _ => None,
        };
        let Some(name) = name else { return resolved.target };
        find(&self.scopes[scope.0 as usize], &name).map_or(resolved.target, Target::Schema)
    }
}
