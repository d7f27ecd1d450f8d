//! The regex algebra against sets of texts, by brute force.

use larkspur_grammar::algebra::{Algebra, Expr, Lowered, OverLimit};
use larkspur_grammar::{ByteSet, RegexId, RegexNode, RegexSet};
use larkspur_test_support::Random;
use larkspur_test_support::regexes::{self, Steps};

const LETTERS: [u8; 2] = *b"ab";
/// Texts of up to six letters: bit `2^len - 1 + value` of a word.
const LEN_MAX: usize = 6;
const ALL: u128 = (1 << ((1 << (LEN_MAX + 1)) - 1)) - 1;
const EPSILON: u128 = 1;

fn texts() -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..LEN_MAX {
        let end = all.len();
        for index in start..end {
            for letter in LETTERS {
                let mut text: Vec<u8> = all[index].clone();
                text.push(letter);
                all.push(text);
            }
        }
        start = end;
    }
    all
}

fn index(text: &[u8]) -> usize {
    text.iter().fold(0, |at, &letter| at * 2 + 1 + usize::from(letter == b'b'))
}

fn concat(a: u128, b: u128, all: &[Vec<u8>]) -> u128 {
    let members = |set: u128| all.iter().enumerate().filter(move |(i, _)| set >> i & 1 == 1).map(|(_, text)| text);
    let mut out = 0;
    for x in members(a) {
        for y in members(b).take_while(|y| x.len() + y.len() <= LEN_MAX) {
            out |= 1 << index(&[&x[..], &y[..]].concat());
        }
    }
    out
}

/// The texts of up to [`LEN_MAX`] letters of every node.
fn languages(set: &RegexSet, all: &[Vec<u8>]) -> Vec<u128> {
    let mut known: Vec<u128> = Vec::new();
    for (_, node) in set.iter() {
        let of = |id: &RegexId| known[id.0 as usize];
        let language = match node {
            RegexNode::Nothing => 0,
            RegexNode::Literal(bytes) if bytes.len() > LEN_MAX => 0,
            RegexNode::Literal(bytes) => 1 << index(bytes),
            RegexNode::Bytes(bytes) => {
                LETTERS.iter().filter(|&&letter| bytes.contains(letter)).fold(0, |all, &l| all | 1 << index(&[l]))
            }
            RegexNode::Concat(parts) => parts.iter().fold(EPSILON, |sum, part| concat(sum, of(part), all)),
            RegexNode::Or(parts) => parts.iter().fold(0, |sum, part| sum | of(part)),
            RegexNode::And(parts) => parts.iter().fold(ALL, |sum, part| sum & of(part)),
            RegexNode::Not(child) => ALL & !of(child),
            RegexNode::Repeat(child, min, max) => {
                let mut power = EPSILON;
                let mut sum = 0;
                for count in 0..=max.unwrap_or(LEN_MAX as u32 + *min).min(LEN_MAX as u32 + *min) {
                    if count >= *min {
                        sum |= power;
                    }
                    power = concat(power, of(child), all);
                }
                sum
            }
            RegexNode::Shortest(child) => {
                let longer = concat(of(child), ALL & !EPSILON, all);
                of(child) & !longer
            }
            RegexNode::Class(_) | RegexNode::MultipleOf { .. } | RegexNode::Values { .. } | RegexNode::Dfa(..) => {
                unreachable!("not made here")
            }
        };
        known.push(language);
    }
    known
}

const STEPS: Steps = Steps { count: 3..17, min: 0..4, more: 0..4, shortest: true };

fn random_regex(set: &mut RegexSet, random: &mut Random) -> RegexId {
    let parts = vec![
        set.literal(b"a"),
        set.literal(b"b"),
        set.bytes(ByteSet::range(b'a', b'b')),
        set.literal(b"ab"),
        set.literal(b"ba"),
        set.epsilon(),
        set.nothing(),
    ];
    regexes::regex(set, parts, &STEPS, random)
}

#[test]
fn random_expressions_match_what_they_should() {
    let all = texts();
    let mut random = Random::new(7);
    let mut algebra = Algebra::new(usize::MAX);
    for round in 0..20_000 {
        let mut set = RegexSet::new();
        let regex = random_regex(&mut set, &mut random);
        let language = languages(&set, &all)[regex.0 as usize];
        let root = algebra.lower(&set, regex, &mut Lowered::default()).unwrap();
        let is_non_empty = algebra.is_non_empty(root, 10_000_000).unwrap();
        assert!(is_non_empty || !set.info(regex).has_text, "round {round}\n{:?}", set.node(regex));
        let mut states = Vec::with_capacity(all.len());
        for text in &all {
            let state = match text.split_last() {
                None => root,
                Some((&last, before)) => algebra.derivative(states[index(before)], last, u64::MAX).unwrap(),
            };
            states.push(state);
            let expected = language >> index(text) & 1 == 1;
            let shown = String::from_utf8_lossy(text);
            assert_eq!(algebra.is_nullable(state), expected, "round {round}, text {shown}\n{:?}", set.node(regex));
            if expected {
                assert!(is_non_empty, "round {round}: {shown} is a text");
            }
        }
        // What is left after a few letters is asked, too: whether there is a text may be known without a search.
        for &state in &states[..15] {
            let Some(has_text) = has_text(&mut algebra, state) else { continue };
            assert_eq!(algebra.is_non_empty(state, 10_000_000), Ok(has_text), "round {round}\n{:?}", set.node(regex));
        }
    }
}

/// Repetitions of a code and of what is none, without one or two others: all counts up to three.
#[test]
fn lengths_without_lengths_match_what_they_should() {
    let all = texts();
    let mut algebra = Algebra::new(usize::MAX);
    let counts: Vec<(u32, Option<u32>)> =
        (0..=3).flat_map(|min| (min..=3).map(move |max| (min, Some(max))).chain([(min, None)])).collect();
    let mut set = RegexSet::new();
    let (a, b, ab) = (set.literal(b"a"), set.literal(b"b"), set.literal(b"ab"));
    let letter = set.bytes(ByteSet::range(b'a', b'b'));
    let mut roots = Vec::new();
    for child in [letter, set.or(&[ab, b]), set.or(&[a, ab, b])] {
        for &(min, max) in &counts {
            let whole = set.repeat(child, min, max);
            for &(min, max) in &counts {
                let refused = set.repeat(child, min, max);
                let first = set.not(refused);
                for &(min, max) in &counts {
                    let refused = set.repeat(child, min, max);
                    let second = set.not(refused);
                    roots.push(set.and(&[whole, first, second]));
                }
            }
        }
    }
    let languages = languages(&set, &all);
    let mut lowered = Lowered::default();
    for root in roots {
        let language = languages[root.0 as usize];
        let start = algebra.lower(&set, root, &mut lowered).unwrap();
        let mut states = vec![start];
        for text in &all {
            if let Some((&last, before)) = text.split_last() {
                states.push(algebra.derivative(states[index(before)], last, u64::MAX).unwrap());
            }
            let expected = language >> index(text) & 1 == 1;
            let shown = String::from_utf8_lossy(text);
            assert_eq!(algebra.is_nullable(states[index(text)]), expected, "text {shown}\n{:?}", set.node(root));
        }
        let has_text = has_text(&mut algebra, start).expect("few states");
        assert_eq!(algebra.is_non_empty(start, 10_000_000), Ok(has_text), "{:?}", set.node(root));
    }
}

/// Bounds of lengths that exclude each other need no search, however large they are.
#[test]
fn lengths_that_exclude_each_other_take_no_search() {
    let mut set = RegexSet::new();
    let mut algebra = Algebra::new(10_000);
    let letter = set.any_char();
    let mut bounded = |min, max| set.repeat(letter, min, max);
    let (any, short, shorter, long) =
        (bounded(0, None), bounded(0, Some(255)), bounded(0, Some(64)), bounded(0, Some(2048)));
    let (not_long, not_shorter) = (set.not(long), set.not(shorter));
    let mut lowered = Lowered::default();
    let mut state = |parts: &[RegexId]| {
        let both = set.and(parts);
        algebra.lower(&set, both, &mut lowered).unwrap()
    };
    assert_eq!(state(&[any, short, not_long]), Expr::NOTHING);
    assert_eq!(state(&[any, short, not_shorter, not_long]), Expr::NOTHING);
    let left = state(&[any, short, not_shorter]);
    let expected = set.repeat(letter, 65, Some(255));
    assert_eq!(left, algebra.lower(&set, expected, &mut lowered).unwrap());
}

/// What the other operands say already is not said again of what a complement leaves out.
#[test]
fn complements_leave_out_what_is_not_said_beside_them() {
    let mut set = RegexSet::new();
    let mut algebra = Algebra::new(10_000);
    let any = set.any_text();
    let [a, b, c] = [b"a", b"b", b"c"].map(|letter| {
        let letter = set.literal(letter);
        set.concat(&[any, letter, any])
    });
    let mut all = |parts: &[RegexId]| set.and(parts);
    let (ab, bc, abc) = (all(&[a, b]), all(&[b, c]), all(&[a, b, c]));
    let [not_ab, not_bc, not_abc, not_b, not_c] = [ab, bc, abc, b, c].map(|regex| set.not(regex));
    let mut lowered = Lowered::default();
    let mut state = |parts: &[RegexId]| {
        let all = set.and(parts);
        algebra.lower(&set, all, &mut lowered).unwrap()
    };
    assert_eq!(state(&[a, b, not_ab]), Expr::NOTHING);
    assert_eq!(state(&[a, not_ab]), state(&[a, not_b]));
    assert_eq!(state(&[a, b, not_abc]), state(&[a, b, not_c]));
    // Each in its place, and of what is left out of one another says nothing more.
    assert_eq!(state(&[a, not_ab, not_bc]), state(&[a, not_b, not_bc]));
}

/// What is left out by lengths is what is shorter or longer.
#[test]
fn complements_of_lengths_are_lengths() {
    let mut set = RegexSet::new();
    let char = set.any_char();
    let within = |letters: usize, (min, max): (u32, Option<u32>)| {
        letters >= min as usize && max.is_none_or(|max| letters <= max as usize)
    };
    for bounds in (0..4).flat_map(|min| (min..5).map(move |max| (min, Some(max))).chain([(min, None)])) {
        let lengths = set.repeat(char, bounds.0, bounds.1);
        let others = set.complement(lengths);
        let mut algebra = Algebra::new(10_000);
        let root = algebra.lower(&set, others, &mut Lowered::default()).unwrap();
        for letters in 0..7 {
            let text = "aé漢🦀bü字"[..].chars().take(letters).collect::<String>();
            let after = |state, byte: u8| algebra.derivative(state, byte, u64::MAX).unwrap();
            let end = text.bytes().fold(root, after);
            assert_eq!(algebra.is_nullable(end), !within(letters, bounds), "{letters} of {bounds:?}");
        }
    }
}

/// Whether some text leads to an end, by a walk over all states; `None` if they are many.
fn has_text(algebra: &mut Algebra, root: Expr) -> Option<bool> {
    let mut seen = vec![root];
    let mut at = 0;
    while let Some(&state) = seen.get(at) {
        if algebra.is_nullable(state) {
            return Some(true);
        }
        for byte in *b"abc" {
            let next = algebra.derivative(state, byte, u64::MAX).unwrap();
            if !seen.contains(&next) {
                seen.push(next);
            }
        }
        at += 1;
        if seen.len() > 300 {
            return None;
        }
    }
    Some(false)
}

/// `(?:[ab]*a[ab]{k})` for k up to `count`, all at once.
fn intersection(set: &mut RegexSet, count: u32) -> RegexId {
    let letter = set.bytes(ByteSet::range(b'a', b'b'));
    let (any, a) = (set.repeat(letter, 0, None), set.literal(b"a"));
    let parts: Vec<RegexId> = (1..=count)
        .map(|k| {
            let rest = set.repeat(letter, k, Some(k));
            set.concat(&[any, a, rest])
        })
        .collect();
    set.and(&parts)
}

#[test]
fn intersections_are_decided_or_given_up_within_their_work() {
    let mut set = RegexSet::new();
    let mut algebra = Algebra::new(2_000_000);
    let many = intersection(&mut set, 30);
    let b = set.literal(b"b");
    let letters = set.bytes(ByteSet::range(b'a', b'b'));
    let bs = set.repeat(b, 0, None);
    let more = set.repeat(letters, 0, None);
    // Twelve letters before the end are all `b`, and the text begins with one: nothing of the sort ends in `a…`.
    let tail = set.repeat(b, 12, Some(12));
    let ends_in_b = set.concat(&[more, tail]);
    let empty = set.and(&[many, ends_in_b]);
    for regex in [many, empty] {
        let expr = algebra.lower(&set, regex, &mut Lowered::default()).unwrap();
        let before = algebra.work();
        let answer = algebra.is_non_empty(expr, 2_000_000);
        assert!(algebra.work() - before < 4_000_000);
        assert!(regex != many || answer == Ok(true));
        assert!(answer == Ok(regex == many) || answer == Err(OverLimit::Work));
    }
    let expr = algebra.lower(&set, bs, &mut Lowered::default()).unwrap();
    assert_eq!(algebra.is_non_empty(expr, 0), Ok(true));
}

#[test]
fn multiples_are_decided_by_arithmetic() {
    let mut set = RegexSet::new();
    let mut algebra = Algebra::new(2_000_000);
    let digit = set.bytes(ByteSet::range(b'0', b'9'));
    let first = set.bytes(ByteSet::range(b'1', b'9'));
    let six = set.repeat(digit, 5, Some(5));
    let six = set.concat(&[first, six]);
    let mut ask = |set: &RegexSet, regex| {
        let expr = algebra.lower(set, regex, &mut Lowered::default()).unwrap();
        let answer = algebra.is_non_empty(expr, 20_000).unwrap();
        let holds = |algebra: &mut Algebra, text: &str| {
            let mut state = expr;
            for byte in text.bytes() {
                state = algebra.derivative(state, byte, u64::MAX).unwrap();
            }
            algebra.is_nullable(state)
        };
        (answer, holds(&mut algebra, "999999"), holds(&mut algebra, "1000003"), holds(&mut algebra, "12.50"))
    };
    // No six digits are a multiple of 1000003, but of 999999 they are.
    let large = set.multiple_of(1_000_003, 0);
    let both = set.and(&[large, six]);
    assert_eq!(ask(&set, both), (false, false, false, false));
    assert_eq!(ask(&set, large), (true, false, true, false));
    let near = set.multiple_of(999_999, 0);
    let both = set.and(&[near, six]);
    assert_eq!(ask(&set, both), (true, true, false, false));
    // Several divisors, and one that excludes another.
    let huge = set.multiple_of(998_244_353, 0);
    let both = set.and(&[large, near, huge]);
    assert!(ask(&set, both).0);
    let (six, three) = (set.multiple_of(6, 0), set.multiple_of(3, 0));
    let not = set.not(three);
    let both = set.and(&[six, not]);
    assert!(!ask(&set, both).0);
    let quarters = set.multiple_of(25, 2);
    assert_eq!(ask(&set, quarters), (true, true, true, true));
    let tenths = set.multiple_of(u64::MAX, 40);
    assert!(ask(&set, tenths).0);
}
