//! Sets of positive decimals as tries of their digits, for [`values`](super::values).
//!
//! Nodes are hash-consed, so that sets share what they have in common; nothing recurses, since digits may be thousands.

use rustc_hash::FxHashMap;

/// A set of values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct TrieId(u32);

/// A set of points.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct PointsId(u32);

/// No value.
pub(super) const NO_VALUES: TrieId = TrieId(0);
/// No point.
pub(super) const NO_POINTS: PointsId = PointsId(0);

/// Sets of so many values or fewer are put into another one by one; larger ones are merged.
const ONE_BY_ONE_MAX: usize = 8;

/// A value: its digits, which neither begin nor end with 0, and how many of them stand before the point.
pub(super) type Leaf = (Box<[u8]>, i64);

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Node {
    /// Where the point stands in the values that end here.
    points: Vec<i64>,
    /// By ascending digit.
    children: Vec<(u8, u32)>,
}

/// What is known of a node and all below it.
#[derive(Clone, Copy, Debug)]
struct Extent {
    values: usize,
    /// The least and the greatest point.
    low: i64,
    high: i64,
}

/// A growing table of such sets; equal ones have equal ids.
#[derive(Debug)]
pub(super) struct Tries {
    nodes: Vec<(Node, Extent)>,
    ids: FxHashMap<Node, u32>,
    points: Vec<Box<[i64]>>,
    point_ids: FxHashMap<Box<[i64]>, u32>,
}

impl Tries {
    pub fn new() -> Self {
        let mut tries =
            Self { nodes: Vec::new(), ids: FxHashMap::default(), points: Vec::new(), point_ids: FxHashMap::default() };
        let (empty, none) = (tries.intern(Node::default()), tries.point_set(Vec::new()));
        debug_assert_eq!((empty, none), (NO_VALUES, NO_POINTS));
        tries
    }
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    fn intern(&mut self, node: Node) -> TrieId {
        if let Some(&known) = self.ids.get(&node) {
            return TrieId(known);
        }
        let mut extent = Extent { values: node.points.len(), low: i64::MAX, high: i64::MIN };
        for &point in &node.points {
            (extent.low, extent.high) = (extent.low.min(point), extent.high.max(point));
        }
        for &(_, child) in &node.children {
            let below = self.nodes[child as usize].1;
            extent.values += below.values;
            (extent.low, extent.high) = (extent.low.min(below.low), extent.high.max(below.high));
        }
        let id = u32::try_from(self.nodes.len()).expect("the algebra's size is bounded");
        self.ids.insert(node.clone(), id);
        self.nodes.push((node, extent));
        TrieId(id)
    }
    fn node(&self, id: TrieId) -> &Node {
        &self.nodes[id.0 as usize].0
    }
    fn extent(&self, id: TrieId) -> Extent {
        self.nodes[id.0 as usize].1
    }

    /// These points.
    pub fn point_set(&mut self, mut points: Vec<i64>) -> PointsId {
        points.sort_unstable();
        points.dedup();
        let points = points.into_boxed_slice();
        let next = self.points.len() as u32;
        let id = *self.point_ids.entry(points.clone()).or_insert(next);
        if id == next {
            self.points.push(points);
        }
        PointsId(id)
    }
    pub fn points(&self, id: PointsId) -> &[i64] {
        &self.points[id.0 as usize]
    }

    /// The values whose digits end at a node.
    pub fn ends(&mut self, id: TrieId) -> PointsId {
        self.point_set(self.node(id).points.clone())
    }
    /// The values whose digits go on.
    pub fn longer(&mut self, id: TrieId) -> TrieId {
        let children = self.node(id).children.clone();
        self.intern(Node { points: Vec::new(), children })
    }
    /// What is left behind a digit.
    pub fn child(&self, id: TrieId, digit: u8) -> TrieId {
        let children = &self.node(id).children;
        children.binary_search_by_key(&digit, |child| child.0).map_or(NO_VALUES, |at| TrieId(children[at].1))
    }
    /// The digits that come next.
    pub fn digits(&self, id: TrieId) -> impl Iterator<Item = u8> {
        self.node(id).children.iter().map(|child| child.0)
    }

    /// A set of values, which are sorted and differ. Cost: linear in their digits.
    pub fn build(&mut self, leaves: &[Leaf]) -> TrieId {
        // The nodes on the way to the last value, with what they have so far.
        let mut path = vec![Node::default()];
        let mut last: &[u8] = &[];
        for (digits, point) in leaves {
            let shared = last.iter().zip(digits).take_while(|(a, b)| a == b).count();
            self.close(&mut path, last, shared);
            path.resize_with(digits.len() + 1, Node::default);
            path.last_mut().expect("the root is open").points.push(*point);
            last = digits;
        }
        self.close(&mut path, last, 0);
        self.intern(path.pop().expect("the root is open"))
    }
    /// Interns the nodes of the path that are deeper than `depth`.
    fn close(&mut self, path: &mut Vec<Node>, digits: &[u8], depth: usize) {
        while path.len() > depth + 1 {
            let node = path.pop().expect("deeper than the root");
            let id = self.intern(node);
            let digit = digits[path.len() - 1];
            path.last_mut().expect("the root stays open").children.push((digit, id.0));
        }
    }

    /// All values, sorted. Cost: their digits.
    fn leaves(&self, id: TrieId) -> Vec<Leaf> {
        let mut leaves = Vec::with_capacity(self.extent(id).values);
        let mut digits: Vec<u8> = Vec::new();
        // Nodes with the number of children that were looked at.
        let mut path: Vec<(&Node, usize)> = vec![(self.node(id), 0)];
        while let Some(&mut (node, ref mut next)) = path.last_mut() {
            if *next == 0 {
                leaves.extend(node.points.iter().map(|&point| (Box::from(&digits[..]), point)));
            }
            let child = node.children.get(*next);
            *next += 1;
            match child {
                Some(&(digit, child)) => {
                    digits.push(digit);
                    path.push((self.node(TrieId(child)), 0));
                }
                None => {
                    path.pop();
                    digits.pop();
                }
            }
        }
        leaves
    }

    /// Values of either.
    pub fn union(&mut self, a: TrieId, b: TrieId) -> TrieId {
        let (many, few) = if self.extent(a).values >= self.extent(b).values { (a, b) } else { (b, a) };
        if many == few || few == NO_VALUES {
            return many;
        }
        let mut leaves = self.leaves(few);
        if leaves.len() <= ONE_BY_ONE_MAX {
            return leaves.into_iter().fold(many, |all, (digits, point)| self.with(all, &digits, point));
        }
        leaves.extend(self.leaves(many));
        leaves.sort_unstable();
        leaves.dedup();
        self.build(&leaves)
    }
    /// One value more.
    fn with(&mut self, id: TrieId, digits: &[u8], point: i64) -> TrieId {
        let mut path = vec![id];
        for &digit in digits {
            path.push(self.child(path[path.len() - 1], digit));
        }
        let mut last = self.node(path.pop().expect("the root")).clone();
        if let Err(at) = last.points.binary_search(&point) {
            last.points.insert(at, point);
        }
        let mut below = self.intern(last);
        for (&node, &digit) in path.iter().zip(digits).rev() {
            let mut node = self.node(node).clone();
            match node.children.binary_search_by_key(&digit, |child| child.0) {
                Ok(at) => node.children[at].1 = below.0,
                Err(at) => node.children.insert(at, (digit, below.0)),
            }
            below = self.intern(node);
        }
        below
    }
    /// Values of the first that the second has not. Cost: linear in both.
    pub fn minus(&mut self, a: TrieId, b: TrieId) -> TrieId {
        if a == b || a == NO_VALUES {
            return NO_VALUES;
        }
        let mut leaves = self.leaves(a);
        let without = self.leaves(b);
        leaves.retain(|leaf| without.binary_search(leaf).is_err());
        self.build(&leaves)
    }
    /// The values with points from `low` to `high`. Cost: linear, if not all or none of them are.
    pub fn within(&mut self, id: TrieId, low: i64, high: i64) -> TrieId {
        let extent = self.extent(id);
        if extent.low >= low && extent.high <= high {
            return id;
        }
        if extent.low > high || extent.high < low {
            return NO_VALUES;
        }
        let mut leaves = self.leaves(id);
        leaves.retain(|(_, point)| (low..=high).contains(point));
        self.build(&leaves)
    }
}
