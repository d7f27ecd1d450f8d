//! Tables of regexes as bytes, and back with a look at every node.

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::{ByteSet, CharClass, Parts, RegexId, RegexNode, RegexSet, Text};
use crate::dfa::{DfaRef, Table};
use crate::index::Id;
use crate::number::Decimal;
use crate::saved::{AutomatonReader, Inconsistent, NotSavable, SavedAutomaton};

/// A table of regexes as it is saved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedRegexes {
    nodes: Vec<SavedNode>,
    /// Automata of the nodes, each once.
    automata: Vec<SavedAutomaton>,
}

/// A [`RegexNode`], its automaton by number.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum SavedNode {
    Nothing,
    Literal(Text),
    Class(Box<[(u32, u32)]>),
    Bytes(ByteSet),
    Concat(Parts),
    Or(Parts),
    And(Parts),
    Not(RegexId),
    Repeat(RegexId, u32, Option<u32>),
    Shortest(RegexId),
    MultipleOf { divisor: u64, scale: u32 },
    Values { values: Box<[Decimal]>, exponent_max: u8 },
    Dfa(u32, Box<[RegexId]>),
}

impl RegexSet {
    /// What [`SavedRegexes::read`] makes this table from again. Cost: a copy.
    ///
    /// Errors: an automaton that does not say what it is made from.
    pub fn saved(&self) -> Result<SavedRegexes, NotSavable> {
        let mut saved = SavedRegexes { nodes: Vec::with_capacity(self.len()), automata: Vec::new() };
        for (_, node) in self.iter() {
            let node = match node.clone() {
                RegexNode::Nothing => SavedNode::Nothing,
                RegexNode::Literal(bytes) => SavedNode::Literal(bytes),
                RegexNode::Class(class) => SavedNode::Class(class.0),
                RegexNode::Bytes(set) => SavedNode::Bytes(set),
                RegexNode::Concat(parts) => SavedNode::Concat(parts),
                RegexNode::Or(parts) => SavedNode::Or(parts),
                RegexNode::And(parts) => SavedNode::And(parts),
                RegexNode::Not(child) => SavedNode::Not(child),
                RegexNode::Repeat(child, min, max) => SavedNode::Repeat(child, min, max),
                RegexNode::Shortest(child) => SavedNode::Shortest(child),
                RegexNode::MultipleOf { divisor, scale } => SavedNode::MultipleOf { divisor, scale },
                RegexNode::Values { values, exponent_max } => SavedNode::Values { values, exponent_max },
                RegexNode::Dfa(dfa, letters) => SavedNode::Dfa(saved.automaton(&dfa)?, letters),
            };
            saved.nodes.push(node);
        }
        Ok(saved)
    }
}

impl SavedRegexes {
    fn automaton(&mut self, dfa: &DfaRef) -> Result<u32, NotSavable> {
        let automaton = dfa.save().ok_or_else(|| NotSavable { what: format!("the automaton `{}`", dfa.name()) })?;
        let known = self.automata.iter().position(|known| *known == automaton);
        let id = known.unwrap_or_else(|| {
            self.automata.push(automaton);
            self.automata.len() - 1
        });
        Ok(id as u32)
    }

    /// The table.
    ///
    /// Errors: a node that no constructor of [`RegexSet`] makes, or that is there already; an automaton that cannot be
    /// made again. Cost: linear in the bytes.
    pub fn read(self, reader: &dyn AutomatonReader) -> Result<RegexSet, Inconsistent> {
        let different: FxHashSet<&SavedAutomaton> = self.automata.iter().collect();
        Inconsistent::unless(different.len() == self.automata.len(), "an automaton is there twice")?;
        let automaton = |saved: &SavedAutomaton| match saved.kind.as_str() {
            Table::KIND => Table::read(&saved.bytes),
            _ => reader.dfa(saved),
        };
        let automata = self.automata.iter().map(automaton).collect::<Result<Vec<DfaRef>, _>>()?;
        let mut set = RegexSet::new();
        set.own.ids.reserve(self.nodes.len(), |_| 0);
        for (index, node) in self.nodes.into_iter().enumerate() {
            let node = read_node(&set, node, &automata)?;
            Inconsistent::unless(is_normal(&set, &node), "a regex is not in normal form")?;
            let id = set.intern(node);
            Inconsistent::unless(id.index() == index, "a regex is there twice")?;
        }
        Ok(set)
    }
}

/// A node whose children are in the table.
fn read_node(set: &RegexSet, node: SavedNode, automata: &[DfaRef]) -> Result<RegexNode, Inconsistent> {
    let node = match node {
        SavedNode::Nothing => RegexNode::Nothing,
        SavedNode::Literal(bytes) => RegexNode::Literal(bytes),
        SavedNode::Class(ranges) => RegexNode::Class(CharClass(ranges)),
        SavedNode::Bytes(set) => RegexNode::Bytes(set),
        SavedNode::Concat(parts) => RegexNode::Concat(parts),
        SavedNode::Or(parts) => RegexNode::Or(parts),
        SavedNode::And(parts) => RegexNode::And(parts),
        SavedNode::Not(child) => RegexNode::Not(child),
        SavedNode::Repeat(child, min, max) => RegexNode::Repeat(child, min, max),
        SavedNode::Shortest(child) => RegexNode::Shortest(child),
        SavedNode::MultipleOf { divisor, scale } => RegexNode::MultipleOf { divisor, scale },
        SavedNode::Values { values, exponent_max } => RegexNode::Values { values, exponent_max },
        SavedNode::Dfa(dfa, letters) => {
            let dfa = automata.get(dfa as usize).ok_or(Inconsistent { what: "a regex has an unknown automaton" })?;
            RegexNode::Dfa(dfa.clone(), letters)
        }
    };
    let is_older = |child: &RegexId| child.index() < set.len();
    Inconsistent::unless(node.children().iter().all(is_older), "a regex has a part that is not older")?;
    Ok(node)
}

/// Whether a constructor of the table may have made the node, whose children are in the table.
fn is_normal(set: &RegexSet, node: &RegexNode) -> bool {
    let is_ascending = |parts: &[RegexId]| parts.len() >= 2 && parts.is_sorted_by(|a, b| a < b);
    let is_nothing = |id: &RegexId| *set.node(*id) == RegexNode::Nothing;
    let is_empty = |id: &RegexId| matches!(set.node(*id), RegexNode::Literal(bytes) if bytes.is_empty());
    match node {
        RegexNode::Nothing | RegexNode::Literal(_) => true,
        RegexNode::Class(class) => is_class(class),
        RegexNode::Bytes(bytes) => bytes.len() >= 2,
        RegexNode::Concat(parts) => {
            let is_literal = |id: &RegexId| matches!(set.node(*id), RegexNode::Literal(_));
            let is_concat = |id: &RegexId| matches!(set.node(*id), RegexNode::Concat(_));
            parts.len() >= 2
                && !parts.iter().any(|part| is_nothing(part) || is_empty(part) || is_concat(part))
                && !parts.windows(2).any(|two| is_literal(&two[0]) && is_literal(&two[1]))
        }
        RegexNode::Or(parts) => {
            let is_part = |id: &RegexId| !matches!(set.node(*id), RegexNode::Nothing | RegexNode::Or(_));
            is_ascending(parts) && parts.iter().all(is_part)
        }
        RegexNode::And(parts) => {
            let is_part = |id: &RegexId| !matches!(set.node(*id), RegexNode::Nothing | RegexNode::And(_));
            is_ascending(parts) && parts.iter().all(is_part)
        }
        RegexNode::Not(child) => !matches!(set.node(*child), RegexNode::Not(_)),
        RegexNode::Repeat(child, min, max) => {
            let bounds = max.is_none_or(|max| *min <= max && max > 0) && (*min, *max) != (1, Some(1));
            bounds && !is_nothing(child) && !is_empty(child)
        }
        RegexNode::Shortest(child) => {
            use RegexNode::{Bytes, Class, Literal, Nothing};
            let is_short = matches!(set.node(*child), Nothing | Literal(_) | Class(_) | Bytes(_));
            !set.info(*child).nullable && !is_short
        }
        RegexNode::MultipleOf { divisor, .. } => *divisor > 0,
        RegexNode::Values { values, .. } => {
            let is_value = |value: &Decimal| value.is_normal() && !value.is_zero();
            !values.is_empty() && values.iter().all(is_value) && values.is_sorted_by(|a, b| a < b)
        }
        RegexNode::Dfa(dfa, letters) => {
            let is_letter = |id: &RegexId| {
                let info = set.info(*id);
                !info.nullable && info.len_max.is_some() && !is_nothing(id)
            };
            letters.len() == dfa.letters() && letters.iter().all(is_letter)
        }
    }
}

/// Whether it has at least two characters, and its ranges are as [`CharClass`] says.
fn is_class(CharClass(ranges): &CharClass) -> bool {
    let is_scalar = |&(low, high): &(u32, u32)| {
        let ends = [low, high].iter().all(|&end| char::from_u32(end).is_some());
        ends && low <= high && (low > 0xDFFF || high < 0xD800)
    };
    let is_single = matches!(**ranges, [(low, high)] if low == high);
    !ranges.is_empty()
        && !is_single
        && ranges.iter().all(is_scalar)
        && ranges.windows(2).all(|two| two[0].1 + 1 < two[1].0)
}
