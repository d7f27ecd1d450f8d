//! What a schema is made of: its keywords and the schemas that they put in its place.

use compact_str::CompactString;
use larkspur_grammar::json::JsonId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

use super::{Nodes, Normalizer};
use crate::ast::Keywords;
use crate::error::Mistake;
use crate::ir::{ANY, NEVER, Node, NodeId, Shape};
use crate::objects;
use crate::refs::Target;

impl Normalizer<'_> {
    /// A schema as the conjunction of its keywords.
    pub fn expand(&mut self, id: JsonId) -> NodeId {
        if let Some(&known) = self.expansions.get(id) {
            return known;
        }
        let Some(keywords) = self.read(id) else {
            let node = if self.document.bool(id) == Some(true) { ANY } else { NEVER };
            self.expansions.insert(id, node);
            return node;
        };
        let mut parts: Nodes = smallvec![self.ir.node(Node::Keywords(id), id)];
        parts.extend(self.references(&keywords));
        for &schema in &keywords.all_of {
            parts.push(self.schema(schema));
        }
        if let Some(list) = &keywords.any_of {
            let list: Vec<NodeId> = list.iter().map(|&schema| self.schema(schema)).collect();
            parts.push(self.ir.some(&list, id));
        }
        if let Some((place, schemas)) = &keywords.one_of {
            let list: Vec<NodeId> = schemas.iter().map(|&schema| self.schema(schema)).collect();
            self.warn_of_twice(&list, schemas);
            let one = if self.coerce_one_of { self.ir.some(&list, *place) } else { self.ir.one(&list, *place) };
            parts.push(one);
        }
        if let Some(schema) = keywords.not {
            let node = self.schema(schema);
            parts.push(self.ir.not(node, schema));
        }
        if let Some(condition) = keywords.condition {
            parts.push(self.conditional(condition, keywords.then, keywords.otherwise));
        }
        for (name, names) in &keywords.dependent_required {
            let mut all = vec![(name.clone(), ANY, true)];
            all.extend(names.iter().map(|name| (name.clone(), ANY, true)));
            all.dedup_by(|a, b| a.0 == b.0);
            let required = self.object_node(all, id);
            parts.push(self.unless(name, required, id));
        }
        for (name, schema) in &keywords.dependent_schemas {
            let node = self.schema(*schema);
            let has = self.has_property(name, id);
            let required = self.ir.all(&[has, node], *schema);
            parts.push(self.unless(name, required, id));
        }
        parts.push(self.unevaluated(id, &keywords));
        let node = self.ir.all(&parts, id);
        self.expansions.insert(id, node);
        node
    }

    /// What a schema refers to in place.
    pub fn references(&mut self, keywords: &Keywords) -> Nodes {
        let own = keywords.reference.map(|reference| (reference, "$ref"));
        own.into_iter().chain(keywords.dynamic).map(|(reference, keyword)| self.reference(reference, keyword)).collect()
    }
    /// Objects that have the property.
    pub fn has_property(&mut self, name: &str, origin: JsonId) -> NodeId {
        self.object_node(vec![(name.into(), ANY, true)], origin)
    }
    pub fn draft(&self, id: JsonId) -> crate::draft::Draft {
        self.resources.dialect(self.document, id).draft
    }

    /// The schema that a reference leads to, if there is one.
    pub fn referred(&self, reference: JsonId) -> Option<JsonId> {
        match self.resources.target(reference) {
            Target::Schema(target) => Some(target),
            Target::Missing | Target::Remote { .. } => None,
        }
    }

    /// Values that have these properties if they are objects.
    pub fn objects_only_with(&mut self, names: Vec<CompactString>, origin: JsonId) -> NodeId {
        let object = objects::with(self, names.into_iter().map(|name| (name, ANY, true)).collect());
        let shape = Shape { objects: object.into_iter().collect(), ..self.any_shape() };
        let shape = self.ir.shapes.intern(shape);
        self.ir.node(Node::Shape(shape), origin)
    }

    /// Objects without the property, and everything else that `then` allows.
    fn unless(&mut self, name: &str, then: NodeId, origin: JsonId) -> NodeId {
        let without = objects::with(self, vec![(name.into(), NEVER, false)]);
        let shape = Shape { objects: without.into_iter().collect(), ..self.any_shape() };
        let shape = self.ir.shapes.intern(shape);
        let without = self.ir.node(Node::Shape(shape), origin);
        self.ir.some(&[without, then], origin)
    }

    /// Objects with these properties, and no other values.
    fn object_node(&mut self, mut named: Vec<(CompactString, NodeId, bool)>, origin: JsonId) -> NodeId {
        let mut seen = FxHashSet::default();
        named.retain(|(name, ..)| seen.insert(name.clone()));
        let object = objects::with(self, named);
        let shape = Shape { objects: object.into_iter().collect(), ..self.no_shape() };
        let shape = self.ir.shapes.intern(shape);
        self.ir.node(Node::Shape(shape), origin)
    }

    /// Warns of branches of a `oneOf` that are one node, and could be alone only without each other.
    fn warn_of_twice(&mut self, nodes: &[NodeId], schemas: &[JsonId]) {
        if self.coerce_one_of {
            return;
        }
        let mut first: FxHashMap<NodeId, usize> = FxHashMap::default();
        for (second, (&node, &place)) in nodes.iter().zip(schemas).enumerate() {
            if node == NEVER {
                continue;
            }
            let first = *first.entry(node).or_insert(second);
            if first != second {
                self.sink.report(place, Mistake::BranchTwice { first, second });
            }
        }
    }

    fn conditional(&mut self, condition: JsonId, then: Option<JsonId>, otherwise: Option<JsonId>) -> NodeId {
        if then.is_none() && otherwise.is_none() {
            return ANY;
        }
        let mut branch = |schema: Option<JsonId>| schema.map_or(ANY, |schema| self.schema(schema));
        let (then, otherwise) = (branch(then), branch(otherwise));
        let holds = self.schema(condition);
        let fails = self.ir.not(holds, condition);
        let yes = self.ir.all(&[holds, then], condition);
        let no = self.ir.all(&[fails, otherwise], condition);
        self.ir.some(&[yes, no], condition)
    }

    fn reference(&mut self, reference: JsonId, keyword: &'static str) -> NodeId {
        let text = self.document.string(reference).unwrap_or_default();
        match self.resources.target(reference) {
            Target::Schema(target) => self.schema(target),
            Target::Missing => {
                let has_room = self.sink.has_room();
                let near = if has_room { self.resources.near_reference(self.document, reference, text) } else { None };
                let is_openapi =
                    text.starts_with("#/components/") && !self.resources.has_components(self.document, reference);
                self.sink.report(reference, Mistake::RefMissing { keyword, target: text.to_owned(), near, is_openapi });
                ANY
            }
            Target::Remote { uri, reason } => {
                let has_room = self.sink.has_room();
                let near = if has_room { self.resources.near_reference(self.document, reference, text) } else { None };
                self.sink.report(reference, Mistake::RefRemote { keyword, uri, reason, near });
                ANY
            }
        }
    }
}
