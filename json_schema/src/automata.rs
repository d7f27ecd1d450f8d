//! Arrays and objects as automata: what no list of rules can say.
//!
//! An [`Automaton`](larkspur_grammar::Automaton) for all arrays and objects of a grammar that need it: properties in any
//! order, names that do not repeat, elements that are counted, elements that differ. Its states are the plans'
//! ([`plan`](crate::plan)) together with the texts that later ones are compared with. A value inside is a rule of the
//! grammar, except where values are compared: there all that is inside is read by the automaton itself, which has a
//! stack for it, since only terminals are recorded.

pub(crate) mod distinct;
pub(crate) mod elements;
pub(crate) mod few;
pub(crate) mod json;
pub(crate) mod run;
pub(crate) mod saved;
pub(crate) mod state;

use std::sync::Arc;

use larkspur_grammar::{RuleId, State, TerminalId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::ir::NodeId;
use crate::plan::arrays::ArrayPlan;
use crate::plan::objects::ObjectPlan;
use crate::writing::Writing;
use json::Json;

/// Terminals of the brackets and separators, with the white space that may stand there.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Marks {
    pub open_brace: TerminalId,
    pub close_brace: TerminalId,
    pub close_empty_brace: TerminalId,
    pub open_bracket: TerminalId,
    pub close_bracket: TerminalId,
    pub close_empty_bracket: TerminalId,
    pub comma: TerminalId,
    pub colon: TerminalId,
}

/// The same as rules that begin with the line's indentation, for one number of brackets that the automaton has open.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Lines {
    /// The line of the first element or member.
    pub first: RuleId,
    pub comma: RuleId,
    pub close_brace: RuleId,
    pub close_bracket: RuleId,
}

/// All automata of a grammar.
#[derive(Debug)]
pub(crate) struct Containers {
    pub arrays: Vec<ArrayPlan>,
    pub objects: Vec<ObjectMachine>,
    pub values: FxHashMap<NodeId, Value>,
    /// Values that are read here.
    pub inline: Vec<Inline>,
    pub marks: Marks,
    /// By the number of brackets that are open within the automaton, less one; empty if values are not on lines of
    /// their own.
    pub lines: Vec<Lines>,
    pub starts: Vec<State>,
    /// The listed properties come in any order.
    pub any_order: bool,
    pub writing: Writing,
    /// Open brackets of a value that is compared at most.
    pub depth_max: usize,
    /// States of one search for an end at most.
    pub search_max: usize,
    pub terminals: Vec<TerminalId>,
    pub recorded: Vec<TerminalId>,
    pub rules: Vec<RuleId>,
}

impl Containers {
    /// Sets the terminals and rules that edges have.
    pub fn note_symbols(&mut self) {
        let marks = &self.marks;
        let mut terminals = vec![marks.comma];
        let mut recorded = Vec::new();
        if !self.arrays.is_empty() {
            terminals.extend([marks.close_bracket, marks.close_empty_bracket]);
        }
        if !self.objects.is_empty() {
            terminals.extend([marks.close_brace, marks.close_empty_brace]);
        }
        if !self.inline.is_empty() {
            terminals.extend([marks.open_brace, marks.open_bracket, marks.colon]);
        }
        for object in &self.objects {
            terminals.extend(object.keys.iter().filter_map(|key| key.terminal));
            recorded.extend(object.names);
            recorded.extend(object.cells.iter().map(|cell| cell.terminal));
        }
        recorded.extend(self.inline.iter().flat_map(|value| value.scalars.iter().map(|set| set.terminal)));
        for symbols in [&mut terminals, &mut recorded] {
            symbols.sort_unstable();
            symbols.dedup();
        }
        let mut rules: Vec<RuleId> =
            self.values.values().flat_map(|value| value.rule.into_iter().chain(value.member)).collect();
        rules.extend(self.lines.iter().flat_map(|of| [of.first, of.comma, of.close_brace, of.close_bracket]));
        rules.sort_unstable();
        rules.dedup();
        (self.terminals, self.recorded, self.rules) = (terminals, recorded, rules);
    }
}

/// An object's plan, with its names as terminals.
#[derive(Debug)]
pub(crate) struct ObjectMachine {
    pub plan: ObjectPlan,
    pub keys: Vec<KeyName>,
    /// Indices of the keys by their texts.
    pub index: FxHashMap<Arc<str>, u32>,
    /// All keys as one terminal, where the order is free and they are many.
    pub names: Option<TerminalId>,
    pub cells: Vec<CellNames>,
}

impl ObjectMachine {
    /// `cells` are the terminals of the plan's cells.
    pub fn new(plan: ObjectPlan, keys: Vec<KeyName>, names: Option<TerminalId>, cells: Vec<TerminalId>) -> Self {
        let index = keys.iter().enumerate().map(|(index, key)| (key.text.clone(), index as u32)).collect();
        let few = |words: &Arc<[Box<str>]>| words.iter().map(|word| Arc::from(&**word)).collect();
        let cells = plan.cells.iter().zip(cells);
        let cells = cells.map(|(cell, terminal)| CellNames { terminal, few: cell.few.as_ref().map(few) }).collect();
        Self { plan, keys, index, names, cells }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeyName {
    pub text: Arc<str>,
    /// `None` where the name is one of [`ObjectMachine::names`].
    pub terminal: Option<TerminalId>,
}

#[derive(Debug)]
pub(crate) struct CellNames {
    pub terminal: TerminalId,
    /// All names, if these are few.
    pub few: Option<Vec<Arc<str>>>,
}

/// How a node's values are read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Value {
    /// As a rule.
    pub rule: Option<RuleId>,
    /// As a rule, with the colon before it.
    pub member: Option<RuleId>,
    /// By the automaton: an index of `inline`.
    pub inline: Option<u32>,
}

/// A value that the automaton reads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Inline {
    /// At most one of each kind.
    pub scalars: Vec<ScalarSet>,
    pub arrays: Vec<u32>,
    pub objects: Vec<u32>,
    /// All values, if these are few; only of elements of arrays whose elements differ.
    pub few: Option<Arc<[Json]>>,
}

/// Scalars as a terminal. Strings have one of their own wherever they can: no string is the beginning of another, so that
/// what they must not be is looked at when one is whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ScalarSet {
    pub terminal: TerminalId,
    pub kind: ScalarKind,
    /// All of them in canonical form, if these are few.
    pub few: Option<Arc<[Arc<[u8]>]>>,
}

/// Which scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum ScalarKind {
    Strings,
    Others,
    Both,
}

impl ScalarKind {
    /// Whether a scalar in canonical form is of the kind.
    pub fn contains(self, canonical: &[u8]) -> bool {
        match self {
            ScalarKind::Strings => canonical.first() == Some(&b'"'),
            ScalarKind::Others => canonical.first() != Some(&b'"'),
            ScalarKind::Both => true,
        }
    }
}
