//! Automata as regexes, below and beside other operations, against the matcher; and whether they have texts in common.

use std::sync::Arc;

use larkspur_grammar::algebra::{Algebra, Expr, Lowered};
use larkspur_grammar::{CharClass, Dfa, DfaRef, RegexId, RegexSet};
use proptest::prelude::*;

use crate::matcher::matches;

/// Brackets closed in order, nested three deep at most, of two kinds; letters 0 and 1 open, 2 and 3 close, 4 is between.
#[derive(Debug)]
struct Brackets;

impl Dfa for Brackets {
    fn name(&self) -> &str {
        "brackets"
    }
    fn letters(&self) -> usize {
        5
    }
    fn start(&self) -> u128 {
        1
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        match letter {
            0 | 1 => (state < 8).then_some(state << 1 | u128::from(letter)),
            2 | 3 => (state > 1 && state & 1 == u128::from(letter) - 2).then_some(state >> 1),
            _ => Some(state),
        }
    }
    fn is_accepting(&self, state: u128) -> bool {
        state == 1
    }
}

/// The automaton with letters of one, two and three bytes that begin alike.
fn brackets(set: &mut RegexSet) -> RegexId {
    let close = set.class(CharClass::from_ranges([(u32::from('ä'), u32::from('å')), (u32::from('€'), u32::from('€'))]));
    let letters = [set.literal(b"("), set.literal("ö".as_bytes()), set.literal(b")"), close, set.literal(b"ab")];
    set.dfa(&DfaRef::new(Arc::new(Brackets)), &letters)
}

fn regexes(set: &mut RegexSet) -> Vec<RegexId> {
    let all = brackets(set);
    let any = set.any_text();
    let not = set.not(all);
    let not_text = set.complement(all);
    let open = set.literal(b"(");
    let begins = set.concat(&[open, any]);
    let twice = set.concat(&[all, open, all]);
    let char = set.any_char();
    let short = set.repeat(char, 2, Some(4));
    let shortest = set.concat(&[open, all]);
    let (ab, ascii) = (set.literal(b"ab"), set.class(CharClass::from_ranges([(0, 0x7F)])));
    let (letter, some_letters) = (set.or(&[char, ab]), set.or(&[ascii, ab]));
    let (letters, one_or_more) = (set.repeat(letter, 0, None), set.repeat(letter, 1, None));
    let some_letters = set.repeat(some_letters, 1, None);
    let parts = [
        set.and(&[all, letters]),
        set.and(&[all, one_or_more]),
        set.and(&[twice, one_or_more]),
        set.and(&[all, some_letters]),
        set.and(&[all, begins, short]),
        set.and(&[not_text, short]),
        set.repeat(shortest, 1, Some(3)),
        set.shortest(shortest),
        set.or(&[all, twice]),
        set.and(&[twice, all]),
    ];
    parts.into_iter().chain([all, not, not_text, twice]).collect()
}

fn accepts(algebra: &mut Algebra, mut state: Expr, text: &[u8]) -> bool {
    for &byte in text {
        state = algebra.derivative(state, byte, u64::MAX).expect("small");
    }
    algebra.is_nullable(state)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(2_000)) })]
    #[test]
    fn derivatives(pieces in prop::collection::vec(prop::sample::select(vec!["(", "ö", ")", "ä", "€", "ab", "a", "\u{e6}"]), 0..9)) {
        let mut set = RegexSet::new();
        let text = pieces.concat();
        let mut algebra = Algebra::new(1_000_000);
        let mut lowered = Lowered::default();
        for regex in regexes(&mut set) {
            let expr = algebra.lower(&set, regex, &mut lowered).expect("small");
            prop_assert_eq!(accepts(&mut algebra, expr, text.as_bytes()), matches(&set, regex, text.as_bytes()), "{}", text);
        }
    }
}

#[test]
fn emptiness() {
    let mut set = RegexSet::new();
    let all = brackets(&mut set);
    let literal = |set: &mut RegexSet, text: &str| set.literal(text.as_bytes());
    let (good, bad) = (literal(&mut set, "(öabä)"), literal(&mut set, "(ö)ä"));
    let (open, char) = (literal(&mut set, "("), set.any_char());
    let deep = set.repeat(open, 4, Some(4));
    let any = set.any_text();
    let deep = set.concat(&[deep, any]);
    let short = set.repeat(char, 0, Some(2));
    let long = set.repeat(char, 3, None);
    let not = set.complement(all);
    let mut algebra = Algebra::new(1_000_000);
    let mut lowered = Lowered::default();
    let cases = [
        (set.and(&[all, good]), true),
        (set.and(&[all, bad]), false),
        (set.and(&[all, deep]), false),
        (set.and(&[not, deep]), true),
        (set.and(&[all, short, long]), false),
        (set.and(&[all, not]), false),
        (set.and(&[all, long]), true),
    ];
    for (regex, has_text) in cases {
        let expr = algebra.lower(&set, regex, &mut lowered).expect("small");
        assert_eq!(algebra.is_non_empty(expr, 200_000), Ok(has_text), "{regex:?}");
    }
}

#[test]
fn repetitions_that_have_all_words_are_left_out() {
    let mut set = RegexSet::new();
    let all = brackets(&mut set);
    let (char, ab) = (set.any_char(), set.literal(b"ab"));
    let letter = set.or(&[char, ab]);
    let letters = set.repeat(letter, 0, None);
    let both = set.and(&[all, letters]);
    let chars = set.any_text();
    let with_chars = set.and(&[all, chars]);
    let mut algebra = Algebra::new(1_000_000);
    let mut lowered = Lowered::default();
    let mut lower = |regex| algebra.lower(&set, regex, &mut lowered).expect("small");
    assert_eq!(lower(both), lower(all));
    assert_ne!(lower(with_chars), lower(all), "a letter is two characters");
}

#[test]
fn equal_automata_are_equal_nodes_in_any_table() {
    let (mut one, mut other) = (RegexSet::new(), RegexSet::new());
    let (a, b) = (brackets(&mut one), brackets(&mut other));
    assert_eq!(one.import(&other, b), a);
    let mut algebra = Algebra::new(1_000);
    let lowered = algebra.lower(&one, a, &mut Lowered::default());
    assert_eq!(lowered, algebra.lower(&other, b, &mut Lowered::default()));
}
