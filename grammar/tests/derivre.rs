//! A second opinion on the regex algebra: the crate `derivre`, whose algebra the engine had before.

use derivre::raw::{DerivCache, ExprSet, RelevanceCache};
use derivre::{AlphabetInfo, ExprRef};
use larkspur_grammar::algebra::{Algebra, Lowered};
use larkspur_grammar::{
    ByteSet, Dialect, Limits, RegexId, RegexNode, RegexOptions, RegexSet, SourceId, TextMap, parse_regex,
};
use larkspur_test_support::Random;
use larkspur_test_support::regexes::{self, Steps};

/// Expressions of derivre, without its rewriting of unions to prefix trees, with which derivatives can panic.
fn second() -> ExprSet {
    let mut exprs = ExprSet::new(256);
    let any = exprs.mk_byte(b'a');
    let printer = exprs.pp().clone();
    let (_, mut exprs, _) = AlphabetInfo::from_exprset(exprs, &[any]);
    exprs.set_pp(printer);
    exprs
}

/// The node in both tables; of bytes only, but for whole classes of characters.
fn lower(regexes: &RegexSet, root: RegexId, exprs: &mut ExprSet) -> ExprRef {
    let words = |set: &ByteSet| -> Vec<u32> { set.0.iter().flat_map(|&w| [w as u32, (w >> 32) as u32]).collect() };
    let mut known: Vec<ExprRef> = Vec::new();
    for (_, node) in regexes.iter() {
        let of = |id: &RegexId| known[id.0 as usize];
        let expr = match node {
            RegexNode::Nothing => ExprRef::NO_MATCH,
            RegexNode::Literal(bytes) => exprs.mk_byte_literal(bytes),
            RegexNode::Bytes(set) => exprs.mk_byte_set(&words(set)),
            RegexNode::Concat(parts) => {
                let parts: Vec<ExprRef> = parts.iter().map(of).collect();
                exprs.mk_concat_vec(&parts)
            }
            RegexNode::Or(parts) => exprs.mk_or(&mut parts.iter().map(of).collect()),
            RegexNode::And(parts) => exprs.mk_and(&mut parts.iter().map(of).collect()),
            RegexNode::Not(child) => exprs.mk_not(of(child)),
            RegexNode::Repeat(child, min, max) => exprs.mk_repeat(of(child), *min, max.unwrap_or(u32::MAX)),
            RegexNode::Class(class) => {
                let ascii = class.ranges().iter().flat_map(|&(low, high)| low..=high.min(0x7F));
                let mut set = ByteSet::EMPTY;
                ascii.for_each(|byte| set.insert(byte as u8));
                exprs.mk_byte_set(&words(&set))
            }
            RegexNode::Shortest(_) | RegexNode::MultipleOf { .. } | RegexNode::Values { .. } | RegexNode::Dfa(..) => {
                unreachable!("not made here")
            }
        };
        known.push(expr);
    }
    known[root.0 as usize]
}

const STEPS: Steps = Steps { count: 4..20, min: 0..5, more: 0..30, shortest: false };

fn random_regex(set: &mut RegexSet, random: &mut Random) -> RegexId {
    let parts = vec![
        set.literal(b"a"),
        set.literal(b"bc"),
        set.bytes(ByteSet::range(b'a', b'b')),
        set.bytes(ByteSet::range(b'b', b'd')),
        set.literal(b"abcabc"),
        set.epsilon(),
    ];
    regexes::regex(set, parts, &STEPS, random)
}

#[test]
fn both_algebras_agree_on_random_expressions() {
    let mut random = Random::new(11);
    let (mut decided, mut dead) = (0, 0);
    for round in 0..1_500 {
        let mut set = RegexSet::new();
        let regex = random_regex(&mut set, &mut random);
        let mut algebra = Algebra::new(10_000_000);
        let mut exprs = second();
        let first = algebra.lower(&set, regex, &mut Lowered::default()).expect("it is small");
        let second = lower(&set, regex, &mut exprs);
        let (mut deriv, mut relevance) = (DerivCache::new(), RelevanceCache::new());
        for _ in 0..12 {
            let (mut x, mut y) = (first, second);
            for _ in 0..24 {
                let byte = b"abcde"[random.below(5)];
                x = algebra.derivative(x, byte, u64::MAX).expect("there is no bound");
                y = deriv.derivative(&mut exprs, y, byte);
                assert_eq!(algebra.is_nullable(x), exprs.is_nullable(y), "round {round}");
                let verdicts = (algebra.is_non_empty(x, 20_000), relevance.is_non_empty_limited(&mut exprs, y, 20_000));
                if let (Ok(ours), Ok(theirs)) = verdicts {
                    assert_eq!(ours, theirs, "round {round}");
                    decided += 1;
                    if !ours {
                        dead += 1;
                        break;
                    }
                }
                // What grows in the second without bound is left there.
                if exprs.cost() > 2_000_000 {
                    break;
                }
            }
        }
    }
    assert!(decided > 20_000 && dead > 2_000, "{decided} verdicts, {dead} of them empty");
}

#[test]
fn both_algebras_agree_on_regexes_of_formats() {
    let uri = "[A-Za-z][A-Za-z0-9+.-]*:(//[a-z0-9.-]*(:[0-9]*)?)?(/[a-z0-9%]*)*(\\?[a-z=&]*)?(#[a-z]*)?";
    let email =
        "[a-z0-9]+(\\.[a-z0-9]+){0,5}@[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?){1,8}";
    let date =
        "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T[0-9]{2}:[0-9]{2}(:[0-9]{2})?(Z|[+-][0-9]{2}:[0-9]{2})";
    let mut random = Random::new(5);
    for text in [uri, email, date] {
        let mut set = RegexSet::new();
        let map = TextMap::verbatim(SourceId(0), 0);
        let options = RegexOptions { bytes: true, ..RegexOptions::new(Dialect::Rust) };
        let limits = Limits::default();
        let regex = parse_regex(text, &map, &options, &limits, &mut set, &mut Vec::new()).expect("it is well-formed");
        let mut algebra = Algebra::new(1_000_000);
        let mut exprs = second();
        let first = algebra.lower(&set, regex, &mut Lowered::default()).expect("it is small");
        let second = lower(&set, regex, &mut exprs);
        let mut deriv = DerivCache::new();
        for _ in 0..300 {
            let (mut x, mut y) = (first, second);
            for _ in 0..80 {
                // A byte that goes on, if one of a few does.
                let bytes: Vec<u8> = (0..12).map(|_| b"a1:/.-@T+Z%?#=0"[random.below(15)]).collect();
                let alive = |byte: &&u8| deriv.derivative(&mut exprs, y, **byte) != ExprRef::NO_MATCH;
                let byte = *bytes.iter().find(alive).unwrap_or(&bytes[0]);
                x = algebra.derivative(x, byte, u64::MAX).expect("there is no bound");
                y = deriv.derivative(&mut exprs, y, byte);
                assert_eq!(algebra.is_nullable(x), exprs.is_nullable(y), "{text}");
            }
        }
    }
}
