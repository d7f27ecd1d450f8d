//! Line breaks by how many blanks stand behind their last line feed, as automata: that of the terminal, with a count of the
//! columns beside its states. As intersections they would be asked at each column, each width by itself, whether they match anything.

use rustc_hash::FxHashMap;

use super::Indenter;
use crate::regex::{ByteSet, RegexId, RegexSet};
use crate::regex_syntax::Automaton;

/// Widths up to which there are such automata, each of as many columns; wider line breaks are intersections.
pub(super) const WIDTH_MAX: usize = 255;

/// What a byte does to the column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    /// A line begins.
    Feed,
    /// So many blanks.
    Blanks(usize),
    Other,
}

/// Where the text is in a line.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Column {
    /// No line feed came yet, or more blanks than are wanted: another one must come.
    Out,
    /// So many blanks behind the line feed.
    At(usize),
}

/// The bytes that neither the automaton nor the count tells apart.
pub(super) struct Letters {
    bytes: Vec<ByteSet>,
    /// Of each its class of the automaton, and what it does.
    steps: Vec<(usize, Step)>,
}

impl Letters {
    pub fn new(automaton: &Automaton, indenter: &Indenter) -> Self {
        let (mut bytes, mut steps) = (Vec::new(), Vec::new());
        let counted = [(b'\n', Step::Feed), (b' ', Step::Blanks(1)), (b'\t', Step::Blanks(indenter.tab as usize))];
        for (class, &all) in automaton.classes().iter().enumerate() {
            let mut rest = all;
            for (byte, step) in counted.into_iter().filter(|(byte, _)| all.contains(*byte)) {
                let only = ByteSet::range(byte, byte);
                rest = rest.intersect(&only.negate());
                bytes.push(only);
                steps.push((class, step));
            }
            if !rest.is_empty() {
                bytes.push(rest);
                steps.push((class, Step::Other));
            }
        }
        Self { bytes, steps }
    }

    /// The texts that lead to one of the states `accepting` and whose last line is so wide.
    pub fn of_width(&self, width: usize, automaton: &Automaton, accepting: &[bool], regexes: &mut RegexSet) -> RegexId {
        let mut states = vec![(0, Column::Out)];
        let mut ids: FxHashMap<(usize, Column), usize> = FxHashMap::from_iter([(states[0], 0)]);
        let mut next: Vec<Vec<Option<usize>>> = Vec::new();
        while let Some(&(state, column)) = states.get(next.len()) {
            let row = self.steps.iter().map(|&(class, step)| {
                let to = (automaton.step(state, class)?, after(column, step, width));
                Some(*ids.entry(to).or_insert_with(|| {
                    states.push(to);
                    states.len() - 1
                }))
            });
            let row = row.collect();
            next.push(row);
        }
        let ends = states.iter().map(|&(state, column)| accepting[state] && column == Column::At(width)).collect();
        Automaton::of(self.bytes.clone(), next).texts(0, ends, regexes)
    }
}

fn after(column: Column, step: Step, width: usize) -> Column {
    match (column, step) {
        (_, Step::Feed) => Column::At(0),
        (Column::At(at), Step::Blanks(blanks)) if at + blanks <= width => Column::At(at + blanks),
        (_, Step::Blanks(_)) => Column::Out,
        (column, Step::Other) => column,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;
    use crate::regex_syntax::{Dialect, Questions, RegexOptions, parse_regex};
    use crate::text_map::TextMap;
    use crate::{SourceId, ir::TerminalId};

    /// Each width's automaton is the intersection that it stands for.
    #[test]
    fn automata_are_the_intersections() {
        let patterns =
            [r"(\r?\n[\t ]*)+", r"(\n *)+", r"\r?\n[\t ]*", r"(\r?\n[\t ]*(#[^\n]*)?)+", r"[^a]*", r"x*\n[ \té]*y?"];
        for pattern in patterns {
            let mut set = RegexSet::new();
            let (map, options) = (TextMap::verbatim(SourceId(0), 0), RegexOptions::new(Dialect::Python));
            let regex = parse_regex(pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new());
            let regex = regex.expect("no mistake");
            let id = TerminalId(0);
            let (open, close) = (Vec::new(), Vec::new());
            let indenter = Indenter { newline: id, indent: id, dedent: id, open, close, tab: 3, width_max: 7 };
            let automaton = Automaton::new(&mut set, regex).expect("small");
            let letters = Letters::new(&automaton, &indenter);
            let tails = super::super::tails(&indenter, &mut set);
            for (width, &tail) in tails.iter().enumerate() {
                let accepting: Vec<bool> = (0..automaton.states()).map(|state| automaton.accepts(state)).collect();
                let found = letters.of_width(width, &automaton, &accepting, &mut set);
                let expected = super::super::of_tail(regex, tail, &mut set);
                for (some, others) in [(found, expected), (expected, found)] {
                    let others = set.not(others);
                    let more = set.and(&[some, others]);
                    assert!(Questions::new().is_empty(&mut set, more), "{pattern:?} of width {width}");
                }
            }
        }
    }
}
