//! Automata as expressions: a state, and how much of a letter was read.
//!
//! A letter is read as the list of letters that it may still become, each with what is left of its text. Such lists do
//! not depend on the state; the steps from one by every class of bytes are made at once and shared by all states.

use std::sync::Arc;

use super::{Algebra, Cell, Expr, MANY, Node, OverLimit, WordsLeft};
use crate::dfa::DfaRef;
use crate::regex::ByteSet;

/// States whose letters are kept, after which all are dropped: neighbours ask for the same.
const LIVE_LETTERS_KEPT: usize = 8_192;

/// Work to find out whether a letter is one of a repetition's texts, and to find a text of it.
pub(super) const WITHIN_WORK_MAX: u64 = 20_000;

/// What is left of an automaton's words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    /// Index in [`Algebra::dfas`].
    pub(super) dfa: u32,
    pub(super) state: u128,
    /// Index in [`Algebra::partials`].
    pub(super) partial: u32,
}

/// An automaton with the texts of its letters.
#[derive(Debug)]
pub(super) struct Words {
    pub(super) dfa: DfaRef,
    pub(super) letters: Arc<[Expr]>,
    /// The letters, those of the shortest texts first.
    pub(super) order: Arc<[u8]>,
    /// Every letter is one byte.
    pub(super) reads_bytes: bool,
    /// Index in [`Algebra::partials`]: no byte of a letter was read.
    pub(super) whole: u32,
}

/// A part of a letter's text was read, or none.
#[derive(Debug)]
pub(super) struct Partial {
    /// The letters that this may become, with what is left of their texts.
    pub(super) ways: Box<[(u8, Expr)]>,
    letters: ByteSet,
    /// Classes of bytes and where they lead. `None`: not asked for yet.
    steps: Option<Box<[(ByteSet, Target)]>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    Letter(u8),
    Partial(u32),
}

impl Algebra {
    /// The words of an automaton from its start.
    pub(super) fn dfa(&mut self, dfa: &DfaRef, letters: Vec<Expr>) -> Expr {
        self.pay(letters.len());
        let known = self.dfas.iter().position(|known| known.dfa == *dfa && *known.letters == *letters);
        let id = known.unwrap_or_else(|| {
            let ways = letters.iter().enumerate().map(|(letter, &text)| (letter as u8, text)).collect();
            let whole = self.partial(ways);
            let mut order: Vec<u8> = (0..letters.len()).map(|letter| letter as u8).collect();
            order.sort_by_key(|&letter| self.cell(letters[usize::from(letter)]).len_min);
            let reads_bytes = letters.iter().all(|&letter| self.cell(letter).len_max == 1);
            self.dfas.push(Words {
                dfa: dfa.clone(),
                letters: letters.into(),
                order: order.into(),
                reads_bytes,
                whole,
            });
            self.dfas.len() - 1
        });
        self.at_state(id as u32, dfa.start())
    }

    /// Leaves out of the operands of an intersection the repetitions that have all words of an automaton beside them: all
    /// characters any number of times, as what is left of a least length has. An automaton's words need no search.
    pub(super) fn drop_what_holds_words(&mut self, parts: &mut Vec<Expr>) {
        let before_letter = |this: &Self, part: Expr| match this.node(part) {
            Node::Dfa(place) if this.is_before_letter(place) => Some(place.dfa),
            _ => None,
        };
        let Some((at, dfa)) = parts.iter().find_map(|&part| Some((part, before_letter(self, part)?))) else { return };
        let fewest = u32::from(!self.is_nullable(at));
        let mut kept = Vec::with_capacity(parts.len());
        for &part in &*parts {
            let repeated = match self.node(part) {
                Node::Repeat(child, min, MANY) if min <= fewest => Some(child),
                _ => None,
            };
            if !repeated.is_some_and(|child| self.has_letters(dfa, child)) {
                kept.push(part);
            }
        }
        *parts = kept;
    }

    /// Whether all letters of an automaton are texts of an expression, as far as that is found out with little work.
    pub(super) fn has_letters(&mut self, dfa: u32, expr: Expr) -> bool {
        if let Some(&known) = self.letters_within.get(&(dfa, expr)) {
            return known;
        }
        // What asks for this again while it is found out is told no.
        self.letters_within.insert((dfa, expr), false);
        let letters = self.dfas[dfa as usize].letters.clone();
        let is_within = letters.iter().all(|&letter| self.has_texts_within(letter, expr));
        self.letters_within.insert((dfa, expr), is_within);
        is_within
    }

    /// Where an intersection is in an automaton.
    pub(super) fn place_in(&self, intersection: Expr) -> Option<Place> {
        self.operands(intersection).iter().find_map(|&part| match self.node(part) {
            Node::Dfa(place) => Some(*place),
            _ => None,
        })
    }

    /// Before a letter.
    fn at_state(&mut self, id: u32, state: u128) -> Expr {
        self.pay(2);
        let partial = self.dfas[id as usize].whole;
        self.intern(Node::Dfa(&Place { dfa: id, state, partial }))
    }

    /// The letters that lead on from a state.
    fn live_letters(&mut self, place: &Place) -> ByteSet {
        if let Some(&known) = self.live_letters.get(&(place.dfa, place.state)) {
            return known;
        }
        let words = &self.dfas[place.dfa as usize];
        let live = words.dfa.live_letters(place.state);
        self.work += words.letters.len() as u64;
        if self.live_letters.len() > LIVE_LETTERS_KEPT {
            self.live_letters.clear();
        }
        self.live_letters.insert((place.dfa, place.state), live);
        live
    }

    fn partial(&mut self, ways: Box<[(u8, Expr)]>) -> u32 {
        if let Some(&known) = self.partial_ids.get(&ways) {
            return known;
        }
        let mut letters = ByteSet::EMPTY;
        ways.iter().for_each(|way| letters.insert(way.0));
        let id = self.partials.len() as u32;
        self.partial_ids.insert(ways.clone(), id);
        self.partials.push(Partial { ways, letters, steps: None });
        id
    }
    /// No fewer bytes are left of a word: each letter has one, and of one that was begun nothing is counted.
    pub(super) fn word_rest_min(&self, place: &Place) -> u32 {
        let words = &self.dfas[place.dfa as usize];
        words.dfa.letters_min(place.state).saturating_sub(u32::from(place.partial != words.whole))
    }

    /// Whether no letter is begun.
    pub(super) fn is_before_letter(&self, place: &Place) -> bool {
        place.partial == self.dfas[place.dfa as usize].whole
    }

    /// A number of bytes in which each word can be made whole that was begun; `None` if the automaton does not say it.
    pub(super) fn word_completion(&self, place: &Place) -> Option<u32> {
        let Words { dfa, letters, .. } = &self.dfas[place.dfa as usize];
        let most = |len: fn(&Cell) -> u32| letters.iter().map(|&letter| len(self.cell(letter))).max();
        // One may be begun.
        let letter = most(|cell| cell.len_min)?.checked_mul(dfa.shortest_rest_max()?)?;
        letter.checked_add(most(|cell| cell.len_max)?)
    }

    /// What is said of the letters that are left before one; `None` if the automaton does not say it.
    pub(super) fn words_left(&self, place: &Place) -> Option<WordsLeft> {
        let Words { dfa, letters, .. } = &self.dfas[place.dfa as usize];
        let least_max = dfa.shortest_rest_max().filter(|_| self.is_before_letter(place))?;
        Some(WordsLeft { letters: letters.clone(), least: dfa.shortest_rest(place.state), least_max })
    }

    /// Whether a word may end at a place.
    pub(super) fn is_word_end(&self, place: &Place) -> bool {
        let words = &self.dfas[place.dfa as usize];
        place.partial == words.whole && words.dfa.is_accepting(place.state)
    }

    /// Makes the steps from a place, which [`after_byte`](Self::after_byte) and [`place_classes`](Self::place_classes)
    /// need.
    ///
    /// Errors: as of derivatives.
    pub(super) fn prepare(&mut self, place: &Place, work_max: u64) -> Result<(), OverLimit> {
        let partial = &self.partials[place.partial as usize];
        if partial.steps.is_some() {
            return Ok(());
        }
        let ways = partial.ways.clone();
        let mut steps: Vec<(ByteSet, Target)> = Vec::new();
        for class in self.common_classes(ways.iter().map(|way| way.1).collect(), work_max)? {
            let byte = class.iter().next().expect("classes are not empty");
            let mut left: Vec<(u8, Expr)> = Vec::new();
            for &(letter, text) in &ways {
                match self.derivative(text, byte, work_max)? {
                    Expr::NOTHING => {}
                    rest => left.push((letter, rest)),
                }
            }
            let target = match left.as_slice() {
                [] => continue,
                &[(letter, Expr::EPSILON)] => Target::Letter(letter),
                _ => {
                    // Letters are a prefix code, unless a saved grammar was forged.
                    if left.iter().any(|way| self.is_nullable(way.1)) {
                        return Err(OverLimit::Work);
                    }
                    Target::Partial(self.partial(left.into()))
                }
            };
            match steps.iter_mut().find(|step| step.1 == target) {
                Some(step) => step.0 = step.0.union(&class),
                None => steps.push((class, target)),
            }
        }
        self.partials[place.partial as usize].steps = Some(steps.into());
        Ok(())
    }

    /// What is left after a byte; `None` before [`prepare`](Self::prepare).
    pub(super) fn after_byte(&mut self, place: Place, byte: u8) -> Option<Expr> {
        let steps = self.partials[place.partial as usize].steps.as_ref()?;
        let Some(&(_, target)) = steps.iter().find(|step| step.0.contains(byte)) else { return Some(Expr::NOTHING) };
        self.pay(2);
        Some(match target {
            Target::Letter(letter) => match self.dfas[place.dfa as usize].dfa.next(place.state, letter) {
                Some(state) => self.at_state(place.dfa, state),
                None => Expr::NOTHING,
            },
            Target::Partial(partial) => {
                let letters = self.partials[partial as usize].letters;
                if self.live_letters(&place).intersect(&letters).is_empty() {
                    return Some(Expr::NOTHING);
                }
                let state = self.dfas[place.dfa as usize].dfa.before_letters(place.state, &letters);
                self.intern(Node::Dfa(&Place { state, partial, ..place }))
            }
        })
    }

    /// The texts of the letters of an automaton.
    pub(super) fn texts_of_letters(&self, place: &Place) -> &[Expr] {
        &self.dfas[place.dfa as usize].letters
    }

    /// Bytes that lead on; all, before [`prepare`](Self::prepare).
    pub(super) fn place_first(&self, place: &Place) -> ByteSet {
        let Some(steps) = &self.partials[place.partial as usize].steps else { return ByteSet::ALL };
        let known = self.live_letters.get(&(place.dfa, place.state)).copied();
        let live = known.unwrap_or_else(|| self.dfas[place.dfa as usize].dfa.live_letters(place.state));
        let leads_on = |target: Target| match target {
            Target::Letter(letter) => live.contains(letter),
            Target::Partial(partial) => !live.intersect(&self.partials[partial as usize].letters).is_empty(),
        };
        let first = steps.iter().filter(|step| leads_on(step.1));
        first.fold(ByteSet::EMPTY, |first, step| first.union(&step.0))
    }

    /// Classes of bytes that lead to the same. They are none before [`prepare`](Self::prepare).
    pub(super) fn place_classes(&self, place: &Place) -> impl Iterator<Item = ByteSet> {
        let steps = self.partials[place.partial as usize].steps.as_deref().unwrap_or_default();
        steps.iter().map(|step| step.0)
    }
}
