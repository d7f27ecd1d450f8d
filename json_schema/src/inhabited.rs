//! Whether a node has any value: the least fixed point over what must be inside a value.
//!
//! Only required properties and the elements that `minItems` asks for are followed, so that little is looked at. Where a
//! regular language is not decided within its fuel, it counts as inhabited: the answer "no" is always right.

use std::rc::Rc;
use std::sync::Arc;

use larkspur_grammar::json::JsonId;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::automata::distinct::has_matching;
use crate::automata::few::Few;
use crate::automata::json::Json;
use crate::ir::{ANY, ArrayId, ArraySpec, ClauseId, Count, NEVER, Node, NodeId, ObjectId, ObjectSpec, Shape, ShapeId};
use crate::normal::{Mode, Normalizer};
use crate::plan::Trouble;
use crate::plan::arrays::ArrayPlan;
use crate::plan::objects::{ObjectPlan, Planner};

/// A way for a node to have a value: what it needs.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Values of all of these.
    All(Vec<NodeId>),
    /// An end of the plan.
    Array(Rc<ArrayPlan>),
    Object(Rc<ObjectPlan>),
}

/// What a node needs: one of the ways. `None`: it has a value for certain.
type Ways = Option<Vec<Way>>;

impl Way {
    fn nodes(&self) -> Vec<NodeId> {
        match self {
            Way::All(nodes) => nodes.clone(),
            Way::Array(plan) => plan.choices().collect(),
            Way::Object(plan) => plan.choices().collect(),
        }
    }
    /// Whether it is a way if these nodes have values. Where that cannot be found out, yes. What is tried is added to `work`.
    fn holds(&self, has_value: &dyn Fn(NodeId) -> bool, work: &mut u64) -> bool {
        let has_value = |node: NodeId| node == ANY || has_value(node);
        match self {
            Way::All(nodes) => nodes.iter().all(|&node| has_value(node)),
            Way::Array(plan) => plan.is_live_with(&plan.start(), &has_value, work) != Ok(false),
            Way::Object(plan) => plan.is_live_with(&plan.start(false), &has_value, work) != Ok(false),
        }
    }
}

impl Normalizer<'_> {
    /// The plan of an array.
    pub fn array_plan(&mut self, array: ArrayId, origin: JsonId) -> Result<Rc<ArrayPlan>, Trouble> {
        if let Some(known) = self.array_plans.get(array) {
            return known.clone();
        }
        let plan = ArrayPlan::new(self, array, origin).map(Rc::new);
        self.array_plans.insert(array, plan.clone());
        plan
    }
    /// The plan of an object.
    pub fn object_plan(&mut self, object: ObjectId, origin: JsonId) -> Result<Rc<ObjectPlan>, Trouble> {
        if let Some(known) = self.object_plans.get(object) {
            return known.clone();
        }
        let plan = Planner::new(self, object, origin).plan().map(Rc::new);
        self.object_plans.insert(object, plan.clone());
        plan
    }

    /// How many clauses stand within each other, this one included.
    pub fn clause_depth(&mut self, clause: ClauseId) -> usize {
        if let Some(&known) = self.clause_depths.get(&clause) {
            return known;
        }
        // Clauses are made of older ones, whose depths are known.
        let inner = self.ir.clauses.get(clause).iter().flat_map(|&way| &self.ir.objects.get(way).clauses);
        let depth = 1 + inner.filter_map(|inner| self.clause_depths.get(inner)).max().unwrap_or(&0);
        self.clause_depths.insert(clause, depth);
        depth
    }

    /// Whether the node has a value.
    pub fn is_inhabited(&mut self, root: NodeId, mode: Mode) -> bool {
        if let Some(&known) = self.inhabited.get(root, mode) {
            return known;
        }
        let left_open = self.left_open;
        let mut order: Vec<(NodeId, Vec<Way>)> = Vec::new();
        let mut now: FxHashMap<NodeId, bool> = FxHashMap::default();
        let mut stack: SmallVec<[NodeId; 8]> = smallvec![root];
        while let Some(node) = stack.pop() {
            if now.contains_key(&node) {
                continue;
            }
            if let Some(&known) = self.inhabited.get(node, mode) {
                now.insert(node, known);
                continue;
            }
            if !self.charge(1) {
                return true;
            }
            match self.ways(node, mode) {
                // Most values are scalars, or need nothing.
                None if node == root => {
                    if self.left_open == left_open {
                        self.inhabited.insert(root, mode, true);
                    }
                    return true;
                }
                None => {
                    now.insert(node, true);
                }
                Some(ways) => {
                    now.insert(node, false);
                    stack.extend(ways.iter().flat_map(Way::nodes));
                    order.push((node, ways));
                }
            }
        }
        // Those found last are needed by those found first.
        let mut grows = true;
        while grows {
            grows = false;
            let (mut work, left) = (order.len() as u64, self.work_left());
            for (node, ways) in order.iter().rev() {
                if work > left {
                    break;
                }
                if !now[node] && ways.iter().any(|way| way.holds(&|needed| now[&needed], &mut work)) {
                    now.insert(*node, true);
                    grows = true;
                }
            }
            if !self.charge(work) {
                return true;
            }
        }
        let answer = now[&root];
        // Where something was left open, only "no" is certain.
        let is_certain = self.left_open == left_open;
        for (node, is) in now.into_iter().filter(|&(_, is)| is_certain || !is) {
            self.inhabited.insert(node, mode, is);
        }
        answer
    }

    /// Whether there is an array of the spec: what the shape it is part of does not say, if that has other values, too.
    pub fn is_array_inhabited(&mut self, array: ArrayId, origin: JsonId) -> bool {
        let shape = Shape { arrays: smallvec![array], ..self.no_shape() };
        let shape = self.ir.shapes.intern(shape);
        let node = self.ir.node(Node::Shape(shape), origin);
        self.is_inhabited(node, Mode::Exact)
    }

    /// Whether a shape has no value, whatever is inside its arrays and objects.
    pub fn is_empty_shape(&mut self, shape: ShapeId) -> bool {
        let shape = self.ir.shapes.get(shape);
        let has_more = shape.null || shape.truth != [false; 2] || !shape.arrays.is_empty() || !shape.objects.is_empty();
        let shape = (!has_more).then(|| shape.clone());
        shape.is_some_and(|shape| !self.has_scalars(&shape))
    }
    /// Whether a shape has no value since each of its arrays and objects needs a value where it was found out that none is
    /// valid.
    pub fn needs_what_is_empty(&mut self, shape: ShapeId) -> bool {
        let shape = self.ir.shapes.get(shape);
        if shape.null || shape.truth != [false; 2] || shape.arrays.is_empty() && shape.objects.is_empty() {
            return false;
        }
        let is_empty = |node: NodeId| node == NEVER || self.inhabited.get(node, Mode::Exact) == Some(&false);
        let array_does = |array: &ArraySpec| {
            let min = usize::try_from(array.min).unwrap_or(usize::MAX);
            let needs_rest = min > array.prefix.len();
            array.prefix.iter().take(min).any(|&node| is_empty(node)) || needs_rest && is_empty(array.rest)
        };
        let object_does = |object: &ObjectSpec| object.named.iter().any(|named| named.required && is_empty(named.node));
        let all_do = shape.arrays.iter().all(|&array| array_does(self.ir.arrays.get(array)))
            && shape.objects.iter().all(|&object| object_does(self.ir.objects.get(object)));
        let shape = all_do.then(|| shape.clone());
        shape.is_some_and(|shape| !self.has_scalars(&shape))
    }
    fn has_scalars(&mut self, shape: &Shape) -> bool {
        let numbers = self.all_numbers(shape);
        shape.null
            || shape.truth != [false; 2]
            || !self.is_no_number(numbers)
            || !self.search.is_empty_value(&self.set, shape.strings)
    }

    fn ways(&mut self, node: NodeId, mode: Mode) -> Ways {
        match node {
            ANY => return None,
            NEVER => return Some(Vec::new()),
            _ => {}
        }
        let shape = self.shape(node, mode);
        let shape = self.ir.shapes.get(shape).clone();
        if self.has_scalars(&shape) {
            return None;
        }
        let origin = self.ir.origin(node);
        let mut ways = Vec::new();
        for &array in &shape.arrays {
            ways.push(self.array_way(array, origin)?);
        }
        for &object in &shape.objects {
            ways.push(self.object_way(object, origin)?);
        }
        for way in &mut ways {
            if let Way::All(needed) = way {
                needed.retain(|&needed| needed != ANY);
                if needed.is_empty() {
                    return None;
                }
            }
        }
        Some(ways)
    }

    /// `None`: there is such an array for certain, as far as can be found out.
    fn array_way(&mut self, array: ArrayId, origin: JsonId) -> Option<Way> {
        let spec = self.ir.arrays.get(array).clone();
        if spec.unique && spec.min > 1 && self.has_too_few(&spec) {
            return Some(Way::All(vec![NEVER]));
        }
        if !spec.counts.is_empty() {
            return self.array_plan(array, origin).ok().map(Way::Array);
        }
        let fixed = spec.prefix.iter().take(usize::try_from(spec.min).unwrap_or(usize::MAX));
        let mut needed: Vec<NodeId> = fixed.copied().collect();
        if spec.min > spec.prefix.len() as u64 {
            needed.push(spec.rest);
        }
        Some(Way::All(needed))
    }

    /// Whether the elements that there must be have not enough values to differ.
    fn has_too_few(&mut self, spec: &ArraySpec) -> bool {
        // Listing values asks for more inhabited nodes, perhaps for this one again.
        if std::mem::replace(&mut self.is_listing, true) {
            self.left_open += 1;
            return false;
        }
        let first = spec.prefix.iter().take(usize::try_from(spec.min).unwrap_or(usize::MAX));
        let mut lists: Vec<Arc<[Json]>> = Vec::new();
        for &node in first.collect::<Vec<_>>() {
            lists.extend(self.few(node).list().map(Arc::from));
        }
        let others = spec.min.saturating_sub(spec.prefix.len() as u64);
        if others > 0
            && let Few::These(values) = self.few(spec.rest)
        {
            let count = usize::try_from(others).unwrap_or(usize::MAX).min(values.len() + 1);
            lists.extend(std::iter::repeat_n(values, count));
        }
        let counts_are_met = spec.counts.iter().all(|count| self.has_enough(spec, count));
        self.is_listing = false;
        let lists: Vec<&Arc<[Json]>> = lists.iter().collect();
        !counts_are_met || self.charge(lists.len() as u64) && !has_matching(&lists, &imbl::OrdSet::new())
    }

    /// Whether there are as many values as must be counted, if these must differ.
    fn has_enough(&mut self, spec: &ArraySpec, count: &Count) -> bool {
        if count.min < 2 {
            return true;
        }
        let is_of_rest = spec.prefix.len() as u64 <= count.from;
        let node = if is_of_rest { self.both(spec.rest, count.node, self.ir.origin(count.node)) } else { count.node };
        let Few::These(values) = self.few(node) else { return true };
        values.len() as u64 >= count.min
    }

    fn object_way(&mut self, object: ObjectId, origin: JsonId) -> Option<Way> {
        let spec = self.ir.objects.get(object);
        if !spec.clauses.is_empty() || !spec.some.is_empty() || spec.min > 0 {
            return self.object_plan(object, origin).ok().map(Way::Object);
        }
        Some(Way::All(spec.named.iter().filter(|named| named.required).map(|named| named.node).collect()))
    }

    /// Where a node without values has its fault: the innermost node that is required and has none, and whether it is
    /// so only because it needs itself.
    pub fn fault(&mut self, root: NodeId) -> (NodeId, bool) {
        let mut seen = vec![root];
        loop {
            let node = *seen.last().expect("the root");
            let ways = self.ways(node, Mode::Exact).unwrap_or_default();
            let [Way::All(way)] = ways.as_slice() else { return (node, false) };
            let missing = way.iter().copied().find(|&needed| !self.is_inhabited(needed, Mode::Exact));
            match missing {
                Some(next) if seen.contains(&next) => return (next, true),
                Some(next) if next != NEVER => seen.push(next),
                _ => return (node, false),
            }
        }
    }
}
