//! Whether a node has any value: the least fixed point over what must be inside a value.
//!
//! Only required properties and the elements that `minItems` asks for are followed, so that little is looked at. Where a
//! regular language is not decided within its fuel, it counts as inhabited: the answer "no" is always right.

use rustc_hash::FxHashMap;

use crate::ir::{ANY, NEVER, NodeId};
use crate::normal::{Mode, Normalizer};

/// What a node needs: all of one of the lists. `None`: it has a value for certain.
type Ways = Option<Vec<Vec<NodeId>>>;

impl Normalizer<'_> {
    /// Whether the node has a value.
    pub fn is_inhabited(&mut self, root: NodeId, mode: Mode) -> bool {
        if let Some(&known) = self.inhabited.get(&(root, mode)) {
            return known;
        }
        let mut order: Vec<(NodeId, Vec<Vec<NodeId>>)> = Vec::new();
        let mut now: FxHashMap<NodeId, bool> = FxHashMap::default();
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if now.contains_key(&node) {
                continue;
            }
            if let Some(&known) = self.inhabited.get(&(node, mode)) {
                now.insert(node, known);
                continue;
            }
            if !self.charge(1) {
                return true;
            }
            match self.ways(node, mode) {
                None => {
                    now.insert(node, true);
                }
                Some(ways) => {
                    now.insert(node, false);
                    stack.extend(ways.iter().flatten().copied());
                    order.push((node, ways));
                }
            }
        }
        // Those found last are needed by those found first.
        let mut grows = true;
        while grows {
            grows = false;
            for (node, ways) in order.iter().rev() {
                if !now[node] && ways.iter().any(|way| way.iter().all(|needed| now[needed])) {
                    now.insert(*node, true);
                    grows = true;
                }
            }
            if !self.charge(order.len() as u64) {
                return true;
            }
        }
        let answer = now[&root];
        self.inhabited.extend(now.into_iter().map(|(node, is)| ((node, mode), is)));
        answer
    }

    fn ways(&mut self, node: NodeId, mode: Mode) -> Ways {
        match node {
            ANY => return None,
            NEVER => return Some(Vec::new()),
            _ => {}
        }
        let shape = self.shape(node, mode);
        let shape = self.ir.shapes.get(shape).clone();
        let scalar = shape.null
            || shape.truth != [false; 2]
            || !self.is_no_number(shape.numbers)
            || !self.is_nothing(shape.strings);
        if scalar {
            return None;
        }
        let mut ways = Vec::new();
        for &array in &shape.arrays {
            let spec = self.ir.arrays.get(array).clone();
            let fixed = spec.prefix.iter().take(usize::try_from(spec.min).unwrap_or(usize::MAX));
            let mut needed: Vec<NodeId> = fixed.copied().collect();
            if spec.min > spec.prefix.len() as u64 {
                needed.push(spec.rest);
            }
            // Behind a prefix the element may be any of several.
            if spec.prefix.is_empty() {
                let origin = self.ir.origin(node);
                for &some in &spec.some {
                    needed.push(self.ir.all(&[spec.rest, some], origin));
                }
            }
            ways.push(needed);
        }
        for &object in &shape.objects {
            let spec = self.ir.objects.get(object);
            ways.push(spec.named.iter().filter(|named| named.required).map(|named| named.node).collect());
        }
        for way in &mut ways {
            way.retain(|&needed| needed != ANY);
            if way.is_empty() {
                return None;
            }
        }
        Some(ways)
    }

    /// Where a node without values has its fault: the innermost node that is required and has none, and whether it is
    /// so only because it needs itself.
    pub fn fault(&mut self, root: NodeId) -> (NodeId, bool) {
        let mut seen = vec![root];
        loop {
            let node = *seen.last().expect("the root");
            let ways = self.ways(node, Mode::Exact).unwrap_or_default();
            let [way] = ways.as_slice() else { return (node, false) };
            let missing = way.iter().copied().find(|&needed| !self.is_inhabited(needed, Mode::Exact));
            match missing {
                Some(next) if seen.contains(&next) => return (next, true),
                Some(next) if next != NEVER => seen.push(next),
                _ => return (node, false),
            }
        }
    }
}
