//! Nodes that have the same values.

use rustc_hash::FxHashMap;

use crate::ir::{NEVER, NodeId, ShapeId};
use crate::normal::Normalizer;

/// To find out what a node's values are counts as so much work.
const NODE_WORK: u64 = 16;

/// What is known of the nodes of one plan.
#[derive(Default)]
pub(super) struct Alike {
    known: FxHashMap<NodeId, NodeId>,
    by_shape: FxHashMap<ShapeId, NodeId>,
}

impl Alike {
    /// One node for all that certainly have the same values; [`NEVER`] if there are certainly none.
    pub fn node(&mut self, normalizer: &mut Normalizer<'_>, node: NodeId) -> NodeId {
        if let Some(&known) = self.known.get(&node) {
            return known;
        }
        normalizer.charge(NODE_WORK);
        let (shape, is_exact) = normalizer.wide_shape(node);
        let found = if normalizer.is_empty_shape(shape) {
            NEVER
        } else if is_exact {
            *self.by_shape.entry(shape).or_insert(node)
        } else {
            node
        };
        self.known.insert(node, found);
        found
    }
}
