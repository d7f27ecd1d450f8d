//! What tells the branches of a `oneOf` apart.
//!
//! ```json
//! {"required": ["type"], "oneOf": [{"properties": {"type": {"const": 1}}}, {"properties": {"type": {"const": 2}}}]}
//! ```
//!
//! Taken alone, branches like these have the objects without a `type` in common. Each would have to be multiplied with
//! the opposite of all others, only for the schema around them to drop what comes of it. But what is demanded beside a
//! `oneOf` may as well be demanded in each branch: *c ∧ one(a, b) = c ∧ one(c ∧ a, c ∧ b)*. Then they exclude each
//! other ([`Normalizer::told_apart`]). Where nothing demands the property, objects with it and without it are two cases,
//! and only those without it have to be multiplied ([`Normalizer::split_by_discriminator`]).

use std::rc::Rc;

use compact_str::CompactString;
use larkspur_grammar::json::JsonId;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::ast::Keywords;
use crate::ir::{ANY, NEVER, Named, Node, NodeId, ObjectId};
use crate::normal::Normalizer;
use crate::objects;

/// Schemas within each other in place that are followed at most; those further on are left as they are.
const FOLLOWED_MAX: usize = 100;

/// What a node says of one value: itself, by `allOf` and by references.
#[derive(Default)]
pub(crate) struct InPlace {
    pub keywords: Vec<Rc<Keywords>>,
    /// Of shapes that were made.
    pub objects: Vec<ObjectId>,
    /// The branches of each `oneOf`.
    branches: Vec<Box<[NodeId]>>,
}

impl Normalizer<'_> {
    /// The conjunction of `parts` with the branches of `oneOf`s in it told apart; `None` if there is nothing to be done.
    ///
    /// That is where a property is required, and one of several branches that name it does not require it itself. Cost:
    /// linear in what is said in place.
    pub fn told_apart(&mut self, conjunction: NodeId, parts: &[NodeId]) -> Option<NodeId> {
        let mut around = self.in_place(parts);
        let branches = std::mem::take(&mut around.branches);
        let required = if branches.is_empty() { FxHashSet::default() } else { self.required(&around) };
        if required.is_empty() {
            return None;
        }
        // How many branches name a property, and what each of them names without requiring it.
        let mut named: FxHashMap<CompactString, usize> = FxHashMap::default();
        let mut lacking: FxHashMap<NodeId, Vec<CompactString>> = FxHashMap::default();
        for &branch in branches.iter().flatten() {
            let inside = self.in_place(&[branch]);
            let has = self.required(&inside);
            let mut names: Vec<&CompactString> =
                inside.keywords.iter().flat_map(|keywords| &keywords.properties).map(|(name, _)| name).collect();
            names.retain(|&name| required.contains(name));
            names.sort_unstable();
            names.dedup();
            names.iter().for_each(|&name| *named.entry(name.clone()).or_default() += 1);
            lacking.insert(branch, names.into_iter().filter(|&name| !has.contains(name)).cloned().collect());
        }
        lacking.values_mut().for_each(|names| names.retain(|name| named[name] > 1));
        lacking.retain(|_, names| !names.is_empty());
        if lacking.is_empty() {
            return None;
        }
        let parts = self.with_demands(parts, &lacking);
        let origin = self.ir.origin(conjunction);
        Some(self.ir.all(&parts, origin)).filter(|&told_apart| told_apart != conjunction)
    }

    /// Follows what is said in place.
    pub fn in_place(&mut self, nodes: &[NodeId]) -> InPlace {
        let mut found = InPlace::default();
        let mut stack: SmallVec<[NodeId; 16]> = nodes.into();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(node) = stack.pop() {
            match self.ir.get(node) {
                Node::All(parts) => stack.extend_from_slice(parts),
                Node::One(branches) => found.branches.push(branches.clone()),
                Node::Shape(shape) => {
                    if let &[only] = &*self.ir.shapes.get(*shape).objects {
                        found.objects.push(only);
                    }
                }
                &Node::Keywords(id) => found.keywords.extend(self.read(id)),
                &Node::Schema(id) if seen.len() < FOLLOWED_MAX && seen.insert(node) => {
                    self.charge(1);
                    let Some(keywords) = self.read(id) else { continue };
                    let referred = [keywords.reference, keywords.dynamic.map(|(place, _)| place)];
                    let referred = referred.into_iter().flatten().filter_map(|place| self.referred(place));
                    let schemas: SmallVec<[JsonId; 8]> = referred.chain(keywords.all_of.iter().copied()).collect();
                    stack.extend(schemas.into_iter().map(|schema| self.schema(schema)));
                    if let Some((_, list)) = keywords.one_of.as_ref().filter(|_| !self.coerce_one_of) {
                        found.branches.push(list.iter().map(|&branch| self.schema(branch)).collect());
                    }
                    found.keywords.push(keywords);
                }
                _ => {}
            }
        }
        found
    }

    /// The properties that all objects have.
    fn required(&self, said: &InPlace) -> FxHashSet<CompactString> {
        let by_keywords = said.keywords.iter().flat_map(|keywords| keywords.required.iter().cloned());
        let named = said.objects.iter().flat_map(|&object| &self.ir.objects.get(object).named);
        let by_objects = named.filter(|named| named.required).map(|named| self.ir.keys.get(named.key).clone());
        by_keywords.chain(by_objects).collect()
    }

    /// The parts, with the properties that the branches of `oneOf`s lack required in them.
    fn with_demands(&mut self, parts: &[NodeId], lacking: &FxHashMap<NodeId, Vec<CompactString>>) -> Vec<NodeId> {
        let mut out = Vec::with_capacity(parts.len());
        let mut stack: Vec<NodeId> = parts.iter().rev().copied().collect();
        let mut seen: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(node) = stack.pop() {
            match self.ir.get(node).clone() {
                Node::All(parts) => stack.extend(parts.iter().rev()),
                Node::One(mut branches) => {
                    for branch in &mut branches {
                        let Some(names) = lacking.get(branch) else { continue };
                        let origin = self.ir.origin(*branch);
                        let demanded = self.objects_only_with(names.clone(), origin);
                        // The properties keep the branch's order.
                        *branch = self.ir.all(&[*branch, demanded], origin);
                    }
                    let origin = self.ir.origin(node);
                    out.push(self.ir.one(&branches, origin));
                }
                // A second time it may be within itself, which is a mistake that is found later.
                Node::Schema(id) if seen.len() < FOLLOWED_MAX && seen.insert(node) => stack.push(self.expand(id)),
                _ => out.push(node),
            }
        }
        out
    }

    /// The ways of each branch of a `oneOf`. Where a property tells the branches apart, a way that may lack it becomes
    /// two, one that has it and one that has it not: so only those without it have objects in common.
    pub fn split_by_discriminator(&mut self, lists: Vec<Vec<ObjectId>>, origin: JsonId) -> Vec<Vec<ObjectId>> {
        let Some(key) = self.optional_discriminator(&lists) else { return lists };
        let split = |this: &mut Self, way: ObjectId| -> Vec<ObjectId> {
            let named = this.ir.objects.get(way).named.iter().find(|named| named.key == key);
            if named.is_none_or(|named| named.required || named.node == NEVER) {
                return vec![way];
            }
            [(ANY, true), (NEVER, false)]
                .into_iter()
                .filter_map(|(node, required)| {
                    let one = objects::with_key(this, Named { key, node, required })?;
                    this.and_objects(way, one, origin)
                })
                .collect()
        };
        lists.into_iter().map(|list| list.into_iter().flat_map(|way| split(self, way)).collect()).collect()
    }
}
