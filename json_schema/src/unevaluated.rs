//! `unevaluatedProperties` and `unevaluatedItems`: what counts as evaluated, by which branches hold.
//!
//! A schema's in-place branches are multiplied out into [`Way`]s: a condition, and what is evaluated where it holds. Of
//! `anyOf` any set of branches may be chosen without a word about the others: where more of them hold, more is
//! evaluated, and another way says so. The schema is then "some way, and what that way leaves over is as the keyword
//! says". The keyword's own schema is never looked into here.

use std::collections::BTreeSet;
use std::rc::Rc;

use larkspur_grammar::json::JsonId;
use rustc_hash::FxHashSet;

use crate::ast::Keywords;
use crate::draft::Draft;
use crate::ir::{ANY, ArraySpec, KeyId, NEVER, Named, Node, NodeId, ObjectSpec, Shape};
use crate::normal::Normalizer;
use crate::{arrays, objects};

/// With more ways than these it is the keyword that takes most of the work.
const FEW_WAYS_MAX: usize = 64;

/// What a schema and its branches have looked at.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Evaluated {
    names: BTreeSet<KeyId>,
    /// Names that match a pattern: the object of `patternProperties` and the index in it.
    patterns: BTreeSet<(JsonId, usize)>,
    all_properties: bool,
    /// The first elements.
    prefix: usize,
    all_items: bool,
    /// Elements of these.
    matching: BTreeSet<NodeId>,
}

/// A condition, and what is evaluated where it holds.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Way {
    node: NodeId,
    evaluated: Evaluated,
}

impl Evaluated {
    fn with(&self, other: &Self) -> Self {
        Self {
            names: &self.names | &other.names,
            patterns: &self.patterns | &other.patterns,
            all_properties: self.all_properties || other.all_properties,
            prefix: self.prefix.max(other.prefix),
            all_items: self.all_items || other.all_items,
            matching: &self.matching | &other.matching,
        }
    }
    /// Whether nothing of it is new beside the other.
    fn is_part_of(&self, other: &Self) -> bool {
        self.with(other) == *other
    }
}

impl Normalizer<'_> {
    /// What a schema with such a keyword says on top of all others.
    pub fn unevaluated(&mut self, id: JsonId, keywords: &Keywords) -> NodeId {
        if keywords.unevaluated_properties.is_none() && keywords.unevaluated_items.is_none() {
            return ANY;
        }
        let keyword =
            if keywords.unevaluated_properties.is_some() { "unevaluatedProperties" } else { "unevaluatedItems" };
        let before = self.unevaluated_keyword.replace(keyword);
        let ways = loop {
            match self.inner_ways(id, keywords) {
                Ok(ways) => break ways,
                Err(missing) => missing.into_iter().for_each(|node| self.find_ways(node)),
            }
        };
        if ways.len() <= FEW_WAYS_MAX {
            self.unevaluated_keyword = before;
        }
        let mut nodes = Vec::with_capacity(ways.len());
        for way in ways {
            let left = self.left_over(id, keywords, &way.evaluated);
            nodes.push(self.ir.all(&[way.node, left], id));
        }
        self.ir.some(&nodes, id)
    }

    /// Values of which nothing that is left over is against the keywords.
    fn left_over(&mut self, id: JsonId, keywords: &Keywords, evaluated: &Evaluated) -> NodeId {
        let mut shape = self.any_shape();
        if let Some(schema) = keywords.unevaluated_properties
            && !evaluated.all_properties
        {
            let other = self.schema(schema);
            let mut patterns = Vec::with_capacity(evaluated.patterns.len());
            for &(object, member) in &evaluated.patterns {
                let pattern = crate::ast::PatternProperty { member, object, schema };
                patterns.push((self.pattern_of_key(&pattern), ANY));
            }
            let cells = objects::cells(self, &patterns, other, None);
            let named = evaluated.names.iter().map(|&key| Named { key, node: ANY, required: false }).collect();
            let any = self.any_object();
            let any = self.ir.objects.get(any).clone();
            let object = objects::spec(self, ObjectSpec { named, cells: cells.into(), ..any });
            shape.objects = object.into_iter().collect();
        }
        if let Some(schema) = keywords.unevaluated_items
            && !evaluated.all_items
        {
            let mut rest = vec![self.schema(schema)];
            rest.extend(&evaluated.matching);
            let rest = self.ir.some(&rest, id);
            let prefix = vec![ANY; evaluated.prefix].into();
            shape.arrays = arrays::spec(self, ArraySpec { prefix, rest, ..arrays::any() }).into_iter().collect();
        }
        let shape: Shape = shape;
        let shape = self.ir.shapes.intern(shape);
        self.ir.node(Node::Shape(shape), id)
    }

    /// Makes the ways of a node known, and those of all nodes that it is made of.
    fn find_ways(&mut self, root: NodeId) {
        let mut stack = vec![root];
        let mut open: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(&top) = stack.last() {
            if self.evaluated_ways.contains_key(&top) || !self.charge(1) {
                self.evaluated_ways.entry(top).or_insert_with(|| Rc::from([]));
                stack.pop();
                continue;
            }
            match self.outer_ways(top) {
                Ok(ways) => {
                    self.evaluated_ways.insert(top, ways.into());
                    stack.pop();
                }
                Err(missing) => {
                    open.insert(top);
                    for node in missing {
                        // What needs itself in place is an error, which is reported where its shape is made.
                        if open.contains(&node) {
                            self.evaluated_ways.insert(node, Rc::from([]));
                        }
                        stack.push(node);
                    }
                }
            }
        }
    }

    /// The ways of a node as others see it.
    ///
    /// Errors: the nodes whose ways must be known before.
    fn outer_ways(&mut self, node: NodeId) -> Result<Vec<Way>, Vec<NodeId>> {
        let plain = || vec![Way { node: ANY, evaluated: Evaluated::default() }];
        let Node::Schema(id) = *self.ir.get(node) else { return Ok(plain()) };
        let Some(keywords) = self.read(id) else { return Ok(plain()) };
        let mut ways = self.inner_ways(id, &keywords)?;
        for way in &mut ways {
            way.evaluated.all_properties |= keywords.unevaluated_properties.is_some();
            way.evaluated.all_items |= keywords.unevaluated_items.is_some();
        }
        Ok(fewest(ways))
    }

    /// The ways of a schema without the keywords that ask for them.
    fn inner_ways(&mut self, id: JsonId, keywords: &Keywords) -> Result<Vec<Way>, Vec<NodeId>> {
        let mut ways = vec![Way { node: ANY, evaluated: self.own(id, keywords) }];
        let mut lists: Vec<Vec<Way>> = Vec::new();
        let mut always = self.references(keywords);
        always.extend(keywords.all_of.iter().map(|&schema| self.schema(schema)));
        for node in self.known_ways(&always)? {
            lists.push(node);
        }
        for &schema in keywords.any_of.iter().flatten() {
            let mut list = self.chosen(&[schema], &[], id)?;
            list.push(Way { node: ANY, evaluated: Evaluated::default() });
            lists.push(list);
        }
        if let Some((_, branches)) = &keywords.one_of {
            // Exactly one holds, so that another need not be left open.
            let mut list = Vec::new();
            for &branch in branches {
                list.extend(self.chosen(&[branch], &[], id)?);
            }
            lists.push(list);
        }
        if let Some(condition) = keywords.condition {
            let holds = self.schema(condition);
            let fails = self.ir.not(holds, condition);
            let then: Vec<JsonId> = [condition].into_iter().chain(keywords.then).collect();
            let mut list = self.chosen(&then, &[], id)?;
            let otherwise: Vec<JsonId> = keywords.otherwise.into_iter().collect();
            list.extend(self.chosen(&otherwise, &[fails], id)?);
            lists.push(list);
        }
        for (name, schema) in &keywords.dependent_schemas {
            let has = self.has_property(name, id);
            let mut list = self.chosen(&[*schema], &[has], id)?;
            list.push(Way { node: ANY, evaluated: Evaluated::default() });
            lists.push(list);
        }
        for list in lists {
            ways = self.product_of_ways(&ways, &list, id);
        }
        Ok(fewest(ways))
    }

    /// What a schema's own keywords evaluate.
    fn own(&mut self, id: JsonId, keywords: &Keywords) -> Evaluated {
        let mut own = Evaluated {
            all_properties: keywords.additional.is_some(),
            prefix: keywords.prefix.len(),
            all_items: keywords.rest.is_some(),
            ..Evaluated::default()
        };
        own.names.extend(keywords.properties.iter().map(|(name, _)| self.ir.keys.intern(name.clone())));
        own.patterns.extend(keywords.patterns.iter().map(|pattern| (pattern.object, pattern.member)));
        if let Some(contains) = keywords.contains
            && self.draft(id) >= Draft::Draft2020
        {
            own.matching.insert(self.schema(contains));
        }
        own
    }

    fn known_ways(&self, nodes: &[NodeId]) -> Result<Vec<Vec<Way>>, Vec<NodeId>> {
        let missing: Vec<NodeId> =
            nodes.iter().copied().filter(|node| !self.evaluated_ways.contains_key(node)).collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        Ok(nodes.iter().map(|node| self.evaluated_ways[node].to_vec()).collect())
    }

    /// The ways in which all of these schemas and nodes hold.
    fn chosen(&mut self, schemas: &[JsonId], nodes: &[NodeId], id: JsonId) -> Result<Vec<Way>, Vec<NodeId>> {
        let branches: Vec<NodeId> = schemas.iter().map(|&schema| self.schema(schema)).collect();
        let lists = self.known_ways(&branches)?;
        let all: Vec<NodeId> = branches.iter().chain(nodes).copied().collect();
        let mut ways = vec![Way { node: self.ir.all(&all, id), evaluated: Evaluated::default() }];
        for list in lists {
            ways = self.product_of_ways(&ways, &list, id);
        }
        Ok(ways)
    }

    fn product_of_ways(&mut self, a: &[Way], b: &[Way], id: JsonId) -> Vec<Way> {
        let mut out: Vec<Way> = Vec::with_capacity(a.len() * b.len().min(4));
        let mut seen: FxHashSet<Way> = FxHashSet::default();
        for x in a {
            // A condition that adds nothing need not be met, if it may be left out.
            let free = b.iter().any(|y| y.node == ANY && y.evaluated.is_part_of(&x.evaluated));
            for y in b {
                if free && y.node != ANY && y.evaluated.is_part_of(&x.evaluated) {
                    continue;
                }
                if !self.charge(1) || self.has_too_many(out.len()) {
                    return out;
                }
                let way = Way { node: self.ir.all(&[x.node, y.node], id), evaluated: x.evaluated.with(&y.evaluated) };
                if way.node != NEVER && seen.insert(way.clone()) {
                    out.push(way);
                }
            }
        }
        fewest(out)
    }
}

/// Without conditions that make no difference: where all ways evaluate the same, any of them holds.
fn fewest(ways: Vec<Way>) -> Vec<Way> {
    match ways.first() {
        Some(first)
            if ways.iter().all(|way| way.evaluated == first.evaluated) && ways.iter().any(|w| w.node == ANY) =>
        {
            vec![Way { node: ANY, evaluated: first.evaluated.clone() }]
        }
        _ => ways,
    }
}
