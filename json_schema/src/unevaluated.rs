//! `unevaluatedProperties` and `unevaluatedItems`: what counts as evaluated, by which branches hold.
//!
//! A schema's in-place branches are multiplied out into [`Way`]s: a condition, and what is evaluated where it holds. Of
//! `anyOf` any set of branches may be chosen without a word about the others: where more of them hold, more is
//! evaluated, and another way says so. The schema is then "some way, and what that way leaves over is as the keyword
//! says". The keyword's own schema is never looked into here.
//!
//! Properties and elements are looked at one after the other. For properties the ways are those of objects: conditions
//! that ask for different constants of a property are never met together, so that what would be a way for each set of
//! the branches of a discriminator is one for each branch.

use std::collections::BTreeSet;
use std::rc::Rc;

use larkspur_grammar::json::JsonId;
use rustc_hash::FxHashSet;
use smallvec::smallvec;

use crate::ast::Keywords;
use crate::draft::Draft;
use crate::error::Demand;
use crate::ir::{ANY, ArraySpec, KeyId, NEVER, Named, Node, NodeId, ObjectSpec, Shape};
use crate::normal::Normalizer;
use crate::{arrays, objects};

/// With more ways than these it is the keyword that takes most of the work.
const FEW_WAYS_MAX: usize = 64;

/// What is asked of: the ways of objects, or those of arrays.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Asked {
    Properties,
    Items,
}

/// What a schema and its branches have looked at, of what is asked of.
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

/// The schema whose ways are looked for.
#[derive(Clone, Copy)]
struct Around {
    id: JsonId,
    asked: Asked,
}

impl Asked {
    fn demand(self) -> Demand {
        match self {
            Asked::Properties => Demand::UnevaluatedProperties,
            Asked::Items => Demand::UnevaluatedItems,
        }
    }
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
        let properties =
            keywords.unevaluated_properties.map(|schema| self.left_schema(id, keywords, schema, Asked::Properties));
        let items = keywords.unevaluated_items.map(|schema| self.left_schema(id, keywords, schema, Asked::Items));
        let parts: Vec<NodeId> = properties.into_iter().chain(items).collect();
        self.ir.all(&parts, id)
    }

    /// Values of which what is left over is of the schema.
    fn left_schema(&mut self, id: JsonId, keywords: &Keywords, schema: JsonId, asked: Asked) -> NodeId {
        let before = self.unevaluated.replace(asked.demand());
        let ways = loop {
            match self.inner_ways(id, keywords, asked) {
                Ok(ways) => break ways,
                Err(missing) => missing.into_iter().for_each(|node| self.find_ways(node, asked)),
            }
        };
        if ways.len() <= FEW_WAYS_MAX {
            self.unevaluated = before;
        }
        let mut nodes = Vec::with_capacity(ways.len() + 1);
        for way in &ways {
            let left = match asked {
                Asked::Properties => self.left_properties(id, schema, &way.evaluated),
                Asked::Items => self.left_items(id, schema, &way.evaluated),
            };
            nodes.push(self.ir.all(&[way.node, left], id));
        }
        // The ways are those of objects; of other values nothing is asked.
        if asked == Asked::Properties && ways.iter().all(|way| way.node != ANY) {
            let others = Shape { objects: smallvec![], ..self.any_shape() };
            let others = self.ir.shapes.intern(others);
            nodes.push(self.ir.node(Node::Shape(others), id));
        }
        self.ir.some(&nodes, id)
    }

    /// Values of which no property that is left over is against the schema.
    fn left_properties(&mut self, id: JsonId, schema: JsonId, evaluated: &Evaluated) -> NodeId {
        if evaluated.all_properties {
            return ANY;
        }
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
        let shape = Shape { objects: object.into_iter().collect(), ..self.any_shape() };
        let shape = self.ir.shapes.intern(shape);
        self.ir.node(Node::Shape(shape), id)
    }

    /// Values of which no element that is left over is against the schema.
    fn left_items(&mut self, id: JsonId, schema: JsonId, evaluated: &Evaluated) -> NodeId {
        if evaluated.all_items {
            return ANY;
        }
        let mut rest = vec![self.schema(schema)];
        rest.extend(&evaluated.matching);
        let rest = self.ir.some(&rest, id);
        let prefix = vec![ANY; evaluated.prefix].into();
        let array = arrays::spec(self, ArraySpec { prefix, rest, ..arrays::any() });
        let shape = Shape { arrays: array.into_iter().collect(), ..self.any_shape() };
        let shape = self.ir.shapes.intern(shape);
        self.ir.node(Node::Shape(shape), id)
    }

    /// Makes the ways of a node known, and those of all nodes that it is made of.
    fn find_ways(&mut self, root: NodeId, asked: Asked) {
        let mut stack = vec![root];
        let mut open: FxHashSet<NodeId> = FxHashSet::default();
        while let Some(&top) = stack.last() {
            if self.evaluated_ways.contains_key(&(top, asked)) || !self.charge(1) {
                self.evaluated_ways.entry((top, asked)).or_insert_with(|| Rc::from([]));
                stack.pop();
                continue;
            }
            match self.outer_ways(top, asked) {
                Ok(ways) => {
                    self.evaluated_ways.insert((top, asked), ways.into());
                    stack.pop();
                }
                Err(missing) => {
                    open.insert(top);
                    for node in missing {
                        // What needs itself in place is an error, which is reported where its shape is made.
                        if open.contains(&node) {
                            self.evaluated_ways.insert((node, asked), Rc::from([]));
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
    fn outer_ways(&mut self, node: NodeId, asked: Asked) -> Result<Vec<Way>, Vec<NodeId>> {
        let plain = || vec![Way { node: ANY, evaluated: Evaluated::default() }];
        let Node::Schema(id) = *self.ir.get(node) else { return Ok(plain()) };
        let Some(keywords) = self.read(id) else { return Ok(plain()) };
        let mut ways = self.inner_ways(id, &keywords, asked)?;
        for way in &mut ways {
            match asked {
                Asked::Properties => way.evaluated.all_properties |= keywords.unevaluated_properties.is_some(),
                Asked::Items => way.evaluated.all_items |= keywords.unevaluated_items.is_some(),
            }
        }
        Ok(fewest(ways))
    }

    /// The ways of a schema without the keywords that ask for them.
    fn inner_ways(&mut self, id: JsonId, keywords: &Keywords, asked: Asked) -> Result<Vec<Way>, Vec<NodeId>> {
        let own = match asked {
            Asked::Properties => self.own_properties(keywords),
            Asked::Items => self.own_items(id, keywords),
        };
        let mut ways = vec![Way { node: ANY, evaluated: own }];
        let mut lists: Vec<Vec<Way>> = Vec::new();
        let mut always = self.references(keywords);
        always.extend(keywords.all_of.iter().map(|&schema| self.schema(schema)));
        for node in self.known_ways(&always, asked)? {
            lists.push(node);
        }
        let around = Around { id, asked };
        for &schema in keywords.any_of.iter().flatten() {
            let mut list = self.chosen(&[schema], &[], around)?;
            list.push(Way { node: ANY, evaluated: Evaluated::default() });
            lists.push(list);
        }
        if let Some((_, branches)) = &keywords.one_of {
            // Exactly one holds, so that another need not be left open.
            let mut list = Vec::new();
            for &branch in branches {
                list.extend(self.chosen(&[branch], &[], around)?);
            }
            lists.push(list);
        }
        if let Some(condition) = keywords.condition {
            let holds = self.schema(condition);
            let fails = self.ir.not(holds, condition);
            let then: Vec<JsonId> = [condition].into_iter().chain(keywords.then).collect();
            let mut list = self.chosen(&then, &[], around)?;
            let otherwise: Vec<JsonId> = keywords.otherwise.into_iter().collect();
            list.extend(self.chosen(&otherwise, &[fails], around)?);
            lists.push(list);
        }
        for (name, schema) in &keywords.dependent_schemas {
            let has = self.has_property(name, id);
            let mut list = self.chosen(&[*schema], &[has], around)?;
            list.push(Way { node: ANY, evaluated: Evaluated::default() });
            lists.push(list);
        }
        for list in lists {
            ways = self.product_of_ways(&ways, &list, around);
        }
        Ok(fewest(ways))
    }

    /// What a schema's own keywords evaluate of an object.
    fn own_properties(&mut self, keywords: &Keywords) -> Evaluated {
        Evaluated {
            names: keywords.properties.iter().map(|(name, _)| self.ir.keys.intern(name.clone())).collect(),
            patterns: keywords.patterns.iter().map(|pattern| (pattern.object, pattern.member)).collect(),
            all_properties: keywords.additional.is_some(),
            ..Evaluated::default()
        }
    }

    /// The same of an array.
    fn own_items(&mut self, id: JsonId, keywords: &Keywords) -> Evaluated {
        let contains = keywords.contains.filter(|_| self.draft(id) >= Draft::Draft2020);
        Evaluated {
            prefix: keywords.prefix.len(),
            all_items: keywords.rest.is_some(),
            matching: contains.map(|schema| self.schema(schema)).into_iter().collect(),
            ..Evaluated::default()
        }
    }

    fn known_ways(&self, nodes: &[NodeId], asked: Asked) -> Result<Vec<Vec<Way>>, Vec<NodeId>> {
        let known = |node: NodeId| self.evaluated_ways.get(&(node, asked));
        let missing: Vec<NodeId> = nodes.iter().copied().filter(|&node| known(node).is_none()).collect();
        if !missing.is_empty() {
            return Err(missing);
        }
        Ok(nodes.iter().filter_map(|&node| known(node)).map(|ways| ways.to_vec()).collect())
    }

    /// The ways in which all of these schemas and nodes hold.
    fn chosen(&mut self, schemas: &[JsonId], nodes: &[NodeId], around: Around) -> Result<Vec<Way>, Vec<NodeId>> {
        let branches: Vec<NodeId> = schemas.iter().map(|&schema| self.schema(schema)).collect();
        let lists = self.known_ways(&branches, around.asked)?;
        let all: Vec<NodeId> = branches.iter().chain(nodes).copied().collect();
        let mut ways = vec![Way { node: self.ir.all(&all, around.id), evaluated: Evaluated::default() }];
        for list in lists {
            ways = self.product_of_ways(&ways, &list, around);
        }
        Ok(ways)
    }

    fn product_of_ways(&mut self, a: &[Way], b: &[Way], around: Around) -> Vec<Way> {
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
                let node = self.both_ways(x.node, y.node, around);
                let way = Way { node, evaluated: x.evaluated.with(&y.evaluated) };
                if way.node != NEVER && seen.insert(way.clone()) {
                    out.push(way);
                }
            }
        }
        fewest(out)
    }

    /// The condition of both ways in a schema; of objects without what follows from the rest, and [`NEVER`] if there is none.
    fn both_ways(&mut self, x: NodeId, y: NodeId, around: Around) -> NodeId {
        let both = self.ir.all(&[x, y], around.id);
        if around.asked == Asked::Items || both == NEVER || both == x || both == y {
            return both;
        }
        let own = self.ir.node(Node::Schema(around.id), around.id);
        let mut facts = vec![self.facts(own), self.facts(both)];
        if !self.may_be_objects(&facts) {
            return NEVER;
        }
        let Node::All(parts) = self.ir.get(both).clone() else { return both };
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            // What is not met anyway need not be asked for.
            let is_implied = match *self.ir.get(part) {
                Node::Not(inner) => {
                    facts.push(self.facts(inner));
                    let is_implied = !self.may_be_objects(&facts);
                    facts.pop();
                    is_implied
                }
                _ => false,
            };
            if !is_implied {
                kept.push(part);
            }
        }
        self.ir.all(&kept, around.id)
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
