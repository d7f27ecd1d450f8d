//! Repetitions whose body forbids what comes next: `((?!\*/).)*`, `(\*(?!/)|[^*])*`.
//!
//! What the body's look-aheads forbid reaches into the next time of the body, and into what follows the repetition. So there
//! is a state for each set of texts that must not come next, as sequences of classes of characters; the body's ways lead
//! from state to state, and every state may end the repetition with what it does not forbid. These right-linear equations
//! are solved by Arden's rule (`X = A X | B` has the solution `A* B`).

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ast::{Ast, AstId, Direction, Sign, Tree};
use crate::index::IndexVec;
use crate::regex::{CharClass, RegexId, RegexSet};

/// States of one repetition at most.
const STATES_MAX: usize = 64;
/// Ways through the body from one state at most.
const WAYS_MAX: usize = 256;
/// Forbidden texts of one look-ahead at most, and characters of each.
const WORDS_MAX: usize = 16;

/// A text that must not come next, by classes of its characters.
type Word = Vec<CharClass>;
/// What must not come next: the ends of words.
type State = Vec<(usize, usize)>;

/// One part of a body.
enum Step {
    /// These words must not come next.
    Forbid(Range<usize>),
    Char(CharClass),
    /// Anything but the empty text.
    Text(RegexId),
}

/// A body as its alternatives.
pub(super) struct Loop {
    words: Vec<Word>,
    alternatives: Vec<Vec<Step>>,
}

/// What the equations are about.
struct Equation {
    state: State,
    /// The ways through the body, by the state they lead to.
    ways: FxHashMap<usize, RegexId>,
    end: RegexId,
}

impl Loop {
    /// The body, if it has the form that is understood here: each alternative a sequence that holds assertions only as
    /// negative look-aheads for a few short texts, and that is never empty.
    pub fn read(tree: &Tree, body: AstId, set: &RegexSet, plain: &IndexVec<AstId, RegexId>) -> Option<Self> {
        let mut read = Self { words: Vec::new(), alternatives: Vec::new() };
        let alternatives: &[AstId] = match &tree.nodes[body] {
            Ast::Or(parts) => parts,
            _ => &[body],
        };
        for &alternative in alternatives {
            let steps = read.steps(tree, alternative, set, plain)?;
            read.alternatives.push(steps);
        }
        Some(read)
    }

    /// A body of a few alternatives, each of texts of one length, of which in every round the first that fits is taken.
    pub fn ordered(tree: &Tree, body: AstId) -> Option<Self> {
        let Ast::Or(parts) = &tree.nodes[body] else { return None };
        let mut read = Self { words: Vec::new(), alternatives: Vec::new() };
        for &part in parts {
            let texts = words(tree, part)?;
            if texts.iter().any(|text| text.is_empty() || text.len() != texts[0].len()) {
                return None;
            }
            let before = read.words.len();
            for text in &texts {
                let mut steps = vec![Step::Forbid(0..before)];
                steps.extend(text.iter().cloned().map(Step::Char));
                read.alternatives.push(steps);
            }
            read.words.extend(texts);
        }
        Some(read)
    }

    fn steps(
        &mut self,
        tree: &Tree,
        alternative: AstId,
        set: &RegexSet,
        plain: &IndexVec<AstId, RegexId>,
    ) -> Option<Vec<Step>> {
        let parts: &[AstId] = match &tree.nodes[alternative] {
            Ast::Concat(parts) => parts,
            _ => &[alternative],
        };
        let mut steps = Vec::new();
        for &part in parts {
            match &tree.nodes[part] {
                Ast::Look { direction: Direction::Ahead, sign: Sign::Negative, child, .. } => {
                    let words = words(tree, *child)?;
                    if words.iter().any(Vec::is_empty) {
                        return None;
                    }
                    let first = self.words.len();
                    self.words.extend(words);
                    steps.push(Step::Forbid(first..self.words.len()));
                }
                _ if let Some(class) = character(tree, part) => steps.push(Step::Char(class)),
                Ast::Literal(range) => {
                    let text = std::str::from_utf8(&tree.text[range.start as usize..range.end as usize]).ok()?;
                    steps.extend(text.chars().map(|c| Step::Char(CharClass::single(c))));
                }
                _ if tree.infos[part].anchored || set.info(plain[part]).nullable => return None,
                _ => steps.push(Step::Text(plain[part])),
            }
        }
        steps.iter().any(|step| !matches!(step, Step::Forbid(_))).then_some(steps)
    }

    /// The texts of the body, at least once or any number of times, and then of `rest`, which `any` of all texts may follow.
    /// `is_open` is asked whether a rest can be the beginning of a forbidden text, so that more than it would decide.
    /// `None`: there are too many states, or something cannot be decided.
    pub fn solve(
        &self,
        set: &mut RegexSet,
        at_least_once: bool,
        rest: RegexId,
        any: RegexId,
        mut is_open: impl FnMut(&mut RegexSet, RegexId) -> bool,
    ) -> Option<RegexId> {
        // The first is the start, which differs from the state that forbids nothing by where it may end.
        let mut equations = vec![self.equation(set, Vec::new(), rest, any, &mut is_open)?];
        if at_least_once {
            equations[0].end = set.nothing();
        }
        let mut known: FxHashMap<State, usize> = FxHashMap::default();
        let mut next = 0;
        while next < equations.len() {
            let mut ways: FxHashMap<usize, Vec<RegexId>> = FxHashMap::default();
            let state = equations[next].state.clone();
            for (text, after) in self.ways(set, &state, any)? {
                let to = match known.get(&after) {
                    Some(&to) => to,
                    None => {
                        equations.push(self.equation(set, after.clone(), rest, any, &mut is_open)?);
                        if equations.len() > STATES_MAX {
                            return None;
                        }
                        known.insert(after, equations.len() - 1);
                        equations.len() - 1
                    }
                };
                ways.entry(to).or_default().push(text);
            }
            equations[next].ways = ways.into_iter().map(|(to, texts)| (to, set.or(&texts))).collect();
            next += 1;
        }
        // From the last to the first, each solved for itself and put into those before it.
        for solved in (0..equations.len()).rev() {
            let repeated = equations[solved].ways.remove(&solved).map(|own| set.repeat(own, 0, None));
            let again = repeated.unwrap_or_else(|| set.epsilon());
            let end = set.concat(&[again, equations[solved].end]);
            let ways: Vec<(usize, RegexId)> = equations[solved].ways.iter().map(|(&to, &way)| (to, way)).collect();
            let ways: Vec<(usize, RegexId)> =
                ways.into_iter().map(|(to, way)| (to, set.concat(&[again, way]))).collect();
            equations[solved].end = end;
            for equation in &mut equations[..solved] {
                let Some(into) = equation.ways.remove(&solved) else { continue };
                let ended = set.concat(&[into, end]);
                equation.end = set.or(&[equation.end, ended]);
                for &(to, way) in &ways {
                    let way = set.concat(&[into, way]);
                    let both = equation.ways.get(&to).map_or(way, |&known| set.or(&[known, way]));
                    equation.ways.insert(to, both);
                }
            }
        }
        Some(equations[0].end)
    }

    fn equation(
        &self,
        set: &mut RegexSet,
        state: State,
        rest: RegexId,
        any: RegexId,
        is_open: &mut impl FnMut(&mut RegexSet, RegexId) -> bool,
    ) -> Option<Equation> {
        let mut end = rest;
        for &(word, at) in &state {
            let classes: Vec<RegexId> = self.words[word][at..].iter().map(|class| set.class(class.clone())).collect();
            for len in 0..classes.len() {
                let beginning = set.concat(&classes[..len]);
                let undecided = set.and(&[rest, beginning]);
                if is_open(set, undecided) {
                    return None;
                }
            }
            let found = set.concat(&[&classes[..], &[any]].concat());
            let not_found = set.not(found);
            end = set.and(&[end, not_found]);
        }
        Some(Equation { state, ways: FxHashMap::default(), end })
    }

    /// The ways through the body from a state: what they read, and what they forbid after it.
    fn ways(&self, set: &mut RegexSet, state: &State, any: RegexId) -> Option<Vec<(RegexId, State)>> {
        let mut all = Vec::new();
        for alternative in &self.alternatives {
            let mut ways = vec![(set.epsilon(), state.clone())];
            for step in alternative {
                let mut longer = Vec::new();
                for (text, state) in ways {
                    self.step(set, step, (text, state), any, &mut longer)?;
                    if longer.len() > WAYS_MAX {
                        return None;
                    }
                }
                ways = longer;
            }
            all.extend(ways);
            if all.len() > WAYS_MAX {
                return None;
            }
        }
        Some(all)
    }

    fn step(
        &self,
        set: &mut RegexSet,
        step: &Step,
        (text, mut state): (RegexId, State),
        any: RegexId,
        ways: &mut Vec<(RegexId, State)>,
    ) -> Option<()> {
        match step {
            Step::Forbid(words) => {
                state.extend(words.clone().map(|word| (word, 0)));
                state.sort_unstable();
                state.dedup();
                ways.push((text, state));
            }
            Step::Char(class) => {
                // Characters that go the same way with every forbidden text.
                let mut classes: Vec<(CharClass, State)> = vec![(class.clone(), Vec::new())];
                for (word, at) in state {
                    let next = &self.words[word][at];
                    let is_last = at + 1 == self.words[word].len();
                    let mut finer = Vec::new();
                    for (class, after) in classes {
                        let (within, without) = (class.intersect(next), class.intersect(&next.negate()));
                        if !is_last && !within.is_empty() {
                            let mut after = after.clone();
                            after.push((word, at + 1));
                            finer.push((within, after));
                        }
                        if !without.is_empty() {
                            finer.push((without, after));
                        }
                    }
                    if finer.len() > WAYS_MAX {
                        return None;
                    }
                    classes = finer;
                }
                for (class, after) in classes.into_iter().filter(|(class, _)| !class.is_empty()) {
                    let class = set.class(class);
                    ways.push((set.concat(&[text, class]), after));
                }
            }
            Step::Text(regex) => {
                // Only what is forbidden as one character is decided by a text that is not looked into.
                let mut allowed = *regex;
                for (word, at) in state {
                    let [class] = &self.words[word][at..] else { return None };
                    let class = set.class(class.clone());
                    let found = set.concat(&[class, any]);
                    let not_found = set.not(found);
                    allowed = set.and(&[allowed, not_found]);
                }
                ways.push((set.concat(&[text, allowed]), Vec::new()));
            }
        }
        Some(())
    }
}

/// The characters of a regex that matches one.
fn character(tree: &Tree, id: AstId) -> Option<CharClass> {
    match &tree.nodes[id] {
        Ast::Class(class) => Some(class.clone()),
        Ast::Literal(range) => {
            let text = std::str::from_utf8(&tree.text[range.start as usize..range.end as usize]).ok()?;
            let mut chars = text.chars();
            chars.next().filter(|_| chars.next().is_none()).map(CharClass::single)
        }
        Ast::Or(parts) => {
            let mut parts = parts.iter().map(|&part| character(tree, part));
            let first = parts.next()??;
            parts.try_fold(first, |all, part| Some(all.union(&part?)))
        }
        _ => None,
    }
}

/// The texts of a regex, if they are a few short ones.
fn words(tree: &Tree, id: AstId) -> Option<Vec<Word>> {
    let found = match &tree.nodes[id] {
        Ast::Empty => vec![Vec::new()],
        Ast::Literal(range) => {
            let text = std::str::from_utf8(&tree.text[range.start as usize..range.end as usize]).ok()?;
            vec![text.chars().map(CharClass::single).collect()]
        }
        Ast::Class(class) => vec![vec![class.clone()]],
        Ast::Concat(parts) => {
            let mut all: Vec<Word> = vec![Vec::new()];
            for &part in parts {
                let tails = words(tree, part)?;
                if all.len() * tails.len() > WORDS_MAX {
                    return None;
                }
                all = all.iter().flat_map(|head| tails.iter().map(|tail| [&head[..], tail].concat())).collect();
            }
            all
        }
        Ast::Or(parts) => {
            let mut all = Vec::new();
            for &part in parts {
                all.extend(words(tree, part)?);
            }
            all
        }
        &Ast::Repeat(child, min, Some(max)) if max as usize <= WORDS_MAX => {
            let each = words(tree, child)?;
            let mut all = Vec::new();
            let mut times: Vec<Word> = vec![Vec::new()];
            for count in 0..=max {
                if count >= min {
                    all.extend(times.iter().cloned());
                }
                if all.len() > WORDS_MAX || times.len() * each.len() > WORDS_MAX {
                    return None;
                }
                times = times.iter().flat_map(|head| each.iter().map(|tail| [&head[..], tail].concat())).collect();
            }
            all
        }
        _ => return None,
    };
    (found.len() <= WORDS_MAX && found.iter().all(|word| word.len() <= WORDS_MAX)).then_some(found)
}
