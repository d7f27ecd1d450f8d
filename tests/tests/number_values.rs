//! Finite sets of numbers as one expression of the algebra, against the same sets with every way to write each number
//! spelled out.

use larkspur_grammar::RegexSet;
use larkspur_grammar::algebra::{Algebra, Expr, Lowered};
use larkspur_grammar::number::Decimal;
use larkspur_tests::oracle::values::spelled_out;
use proptest::prelude::*;

const EXPONENT_MAX: u8 = 3;

fn decimal() -> impl Strategy<Value = Decimal> {
    let digits = prop_oneof![1i64..30, 1i64..2_000, prop::sample::select(vec![1, 10, 100, 12, 120, 1_234])];
    (digits, -12i64..8, any::<bool>()).prop_map(|(digits, exponent, is_negative)| {
        let value = Decimal::from(if is_negative { -digits } else { digits });
        value.times_power_of_ten(exponent)
    })
}

/// Texts that look like numbers, and often are ones of the values.
fn text(values: Vec<Decimal>) -> impl Strategy<Value = Vec<u8>> {
    let near =
        (prop::sample::select(values), -6i64..7, 0usize..3, any::<bool>()).prop_map(|(value, exponent, zeros, e)| {
            let mantissa = value.times_power_of_ten(-exponent);
            let digits: String = mantissa.digits().iter().map(|digit| char::from(b'0' + digit)).collect();
            let sign = if value.is_negative() { "-" } else { "" };
            let point = mantissa.point();
            let zeros = "0".repeat(zeros);
            let text = match usize::try_from(point) {
                Err(_) | Ok(0) => format!("{sign}0.{}{digits}{zeros}", "0".repeat((-point) as usize)),
                Ok(point) if point < digits.len() => format!("{sign}{}.{}{zeros}", &digits[..point], &digits[point..]),
                Ok(point) if zeros.is_empty() => format!("{sign}{digits:0<point$}"),
                Ok(point) => format!("{sign}{digits:0<point$}.{zeros}"),
            };
            if exponent == 0 { text } else { format!("{text}{}{exponent}", if e { 'E' } else { 'e' }) }
        });
    prop_oneof![4 => near.prop_map(String::into_bytes), 1 => "[-+0-9.eE]{0,8}".prop_map(String::into_bytes)]
}

fn is_read(algebra: &mut Algebra, mut expr: Expr, text: &[u8]) -> Vec<bool> {
    let mut seen = vec![algebra.is_nullable(expr)];
    for &byte in text {
        expr = algebra.derivative(expr, byte, u64::MAX).expect("no limit");
        let is_live = algebra.is_non_empty(expr, u64::MAX).expect("no limit");
        seen.extend([is_live, algebra.is_nullable(expr)]);
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(600) })]
    /// Alone, in a union and without some: each beginning of a text is live in one exactly if it is in the other.
    #[test]
    fn values_are_all_their_texts(
        (values, more, without, texts) in
            (prop::collection::vec(decimal(), 1..8), prop::collection::vec(decimal(), 1..8)).prop_flat_map(|(a, b)| {
                let all: Vec<Decimal> = a.iter().chain(&b).cloned().collect();
                let without = prop::sample::subsequence(all.clone(), 0..=all.len());
                (Just(a), Just(b), without, prop::collection::vec(text(all), 1..20))
            })
    ) {
        let mut set = RegexSet::new();
        let mut pairs = Vec::new();
        let mut pair = |set: &mut RegexSet, values: &[Decimal]| {
            let (one, other) = (set.values(values.to_vec(), EXPONENT_MAX), spelled_out(values, EXPONENT_MAX, set));
            pairs.push((one, other));
            (one, other)
        };
        let (a, b, c) = (pair(&mut set, &values), pair(&mut set, &more), pair(&mut set, &without));
        let all = |set: &mut RegexSet, a, b, c| {
            let (union, not) = (set.or(&[a, b]), set.not(c));
            set.and(&[union, not])
        };
        pairs.push((all(&mut set, a.0, b.0, c.0), all(&mut set, a.1, b.1, c.1)));
        let mut algebra = Algebra::new(10_000_000);
        let mut lowered = Lowered::default();
        for (one, other) in pairs {
            let one = algebra.lower(&set, one, &mut lowered).expect("no limit");
            let other = algebra.lower(&set, other, &mut lowered).expect("no limit");
            for text in &texts {
                let (one, other) = (is_read(&mut algebra, one, text), is_read(&mut algebra, other, text));
                prop_assert_eq!(one, other, "{}", String::from_utf8_lossy(text));
            }
        }
    }
}
