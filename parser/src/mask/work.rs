//! Work on one mask, and its bound.

use crate::error::Fault;

/// A mask waits for so many nodes of a walk that is of use for others: a third of a millisecond.
const UNIT_NODES_MAX: usize = 1 << 16;

/// Work on one mask, as `Limits::mask_work_max` counts it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Work {
    done: u64,
    max: u64,
    visited: u64,
    /// Nodes of a walk to find the tokens of a unit, at most.
    pub unit_nodes: usize,
    /// Nodes at which lexemes may end in a term that is made.
    pub ends_max: u64,
}

impl Work {
    pub fn up_to(max: u64) -> Self {
        Self { done: 0, max, visited: 0, unit_nodes: UNIT_NODES_MAX, ends_max: u64::MAX }
    }

    pub fn done(self) -> u64 {
        self.done
    }

    /// Of the work, nodes of the trie.
    pub fn visited(self) -> u64 {
        self.visited
    }

    pub fn visit(&mut self, nodes: u64) -> Result<(), Fault> {
        self.visited += nodes;
        self.add(nodes)
    }

    pub fn add(&mut self, work: u64) -> Result<(), Fault> {
        self.done += work;
        if self.done > self.max { Err(Fault::exceeded("mask_work_max", self.max)) } else { Ok(()) }
    }
}
