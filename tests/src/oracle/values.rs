//! Numbers in all their ways to be written, one by one.

use larkspur_grammar::number::Decimal;
use larkspur_grammar::{RegexId, RegexSet};

/// What [`RegexNode::Values`](larkspur_grammar::RegexNode::Values) stands for, without that node.
pub fn spelled_out(values: &[Decimal], exponent_max: u8, set: &mut RegexSet) -> RegexId {
    let most = i64::from(exponent_max);
    let mut ways = Vec::new();
    for value in values {
        let scientific = value.point() - 1;
        let window = -most..=most;
        for exponent in window.clone().chain((!window.contains(&scientific)).then_some(scientific)) {
            let (mantissa, exponent) = (mantissas(value, exponent, set), exponents(exponent, set));
            ways.push(set.concat(&[mantissa, exponent]));
        }
    }
    set.or(&ways)
}

/// All plain decimals whose value times `10^exponent` is this one.
fn mantissas(value: &Decimal, exponent: i64, set: &mut RegexSet) -> RegexId {
    let digits: String = value.digits().iter().map(|digit| char::from(b'0' + digit)).collect();
    let (len, point) = (digits.len() as i64, value.point() - exponent);
    let sign = if value.is_negative() { "-" } else { "" };
    let is_whole = point >= len;
    let text = if point <= 0 {
        format!("{sign}0.{}{digits}", "0".repeat((-point) as usize))
    } else if is_whole {
        format!("{sign}{digits}{}", "0".repeat((point - len) as usize))
    } else {
        format!("{sign}{}.{}", &digits[..point as usize], &digits[point as usize..])
    };
    let (text, zero) = (set.literal(text.as_bytes()), set.literal(b"0"));
    let tail = if is_whole {
        let (point, zeros) = (set.literal(b"."), set.repeat(zero, 1, None));
        let fraction = set.concat(&[point, zeros]);
        set.optional(fraction)
    } else {
        set.repeat(zero, 0, None)
    };
    set.concat(&[text, tail])
}

fn exponents(exponent: i64, set: &mut RegexSet) -> RegexId {
    let any_of = |texts: &[&[u8]], set: &mut RegexSet| {
        let texts: Vec<RegexId> = texts.iter().map(|text| set.literal(text)).collect();
        set.or(&texts)
    };
    let e = any_of(&[b"e", b"E"], set);
    let sign = match exponent.signum() {
        0 => any_of(&[b"", b"+", b"-"], set),
        1 => any_of(&[b"", b"+"], set),
        _ => any_of(&[b"-"], set),
    };
    let zero = set.literal(b"0");
    let (zeros, digits) = (set.repeat(zero, 0, None), set.literal(exponent.abs().to_string().as_bytes()));
    let text = set.concat(&[e, sign, zeros, digits]);
    if exponent == 0 { set.optional(text) } else { text }
}
