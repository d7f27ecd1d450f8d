//! A matcher over [`RegexSet`] nodes that is too simple to be wrong: sets of end positions, no automaton.
//! For texts under 128 bytes.

use std::collections::{HashMap, HashSet};

use larkspur_grammar::number::Decimal;
use larkspur_grammar::{DfaRef, RegexId, RegexNode, RegexSet};

/// Whether the whole text is in the language of `id`.
pub fn matches(set: &RegexSet, id: RegexId, text: &[u8]) -> bool {
    assert!(text.len() < 127);
    let mut matcher = Matcher { set, text, memo: HashMap::new() };
    matcher.ends(id, 0) >> text.len() & 1 == 1
}

struct Matcher<'a> {
    set: &'a RegexSet,
    text: &'a [u8],
    memo: HashMap<(RegexId, usize), u128>,
}

fn positions(set: u128) -> impl Iterator<Item = usize> {
    (0..128).filter(move |&at| set >> at & 1 == 1)
}

impl Matcher<'_> {
    /// Bit `e`: `text[start..e]` is in the language.
    fn ends(&mut self, id: RegexId, start: usize) -> u128 {
        if let Some(&known) = self.memo.get(&(id, start)) {
            return known;
        }
        let rest = &self.text[start..];
        let result = match self.set.node(id) {
            RegexNode::Nothing => 0,
            RegexNode::Literal(bytes) => u128::from(rest.starts_with(bytes)) << (start + bytes.len()).min(127),
            RegexNode::Class(class) => (1..=rest.len().min(4))
                .find_map(|len| {
                    let c = std::str::from_utf8(&rest[..len]).ok()?.chars().next()?;
                    class.contains(c).then_some(1 << (start + len))
                })
                .unwrap_or(0),
            RegexNode::Bytes(set) => match rest.first() {
                Some(&byte) if set.contains(byte) => 1 << (start + 1),
                _ => 0,
            },
            RegexNode::Concat(parts) => parts.iter().fold(1 << start, |from, &part| self.step(part, from)),
            RegexNode::Or(parts) => parts.iter().fold(0, |all, &part| all | self.ends(part, start)),
            RegexNode::And(parts) => parts.iter().fold(u128::MAX, |all, &part| all & self.ends(part, start)),
            RegexNode::Not(child) => {
                let inside = (start..=self.text.len()).fold(0, |all, at| all | 1 << at);
                inside & !self.ends(*child, start)
            }
            RegexNode::Repeat(child, min, max) => self.repeat(*child, *min, *max, start),
            RegexNode::Shortest(child) => {
                let all = self.ends(*child, start);
                all & all.wrapping_neg()
            }
            RegexNode::MultipleOf { divisor, scale } => (1..=rest.len())
                .filter(|&len| is_multiple(&rest[..len], *divisor, *scale))
                .fold(0, |all, len| all | 1 << (start + len)),
            RegexNode::Values { values, exponent_max } => (1..=rest.len())
                .filter(|&len| is_value(&rest[..len], values, *exponent_max))
                .fold(0, |all, len| all | 1 << (start + len)),
            RegexNode::Dfa(dfa, letters) => self.words(dfa, letters, start),
        };
        self.memo.insert((id, start), result);
        result
    }

    fn words(&mut self, dfa: &DfaRef, letters: &[RegexId], start: usize) -> u128 {
        let mut seen = HashSet::from([(start, dfa.start())]);
        let mut stack: Vec<(usize, u128)> = seen.iter().copied().collect();
        let mut all = 0;
        while let Some((at, state)) = stack.pop() {
            if dfa.is_accepting(state) {
                all |= 1 << at;
            }
            for (letter, &text) in letters.iter().enumerate() {
                let Some(next) = dfa.next(state, letter as u8) else { continue };
                stack.extend(positions(self.ends(text, at)).map(|end| (end, next)).filter(|&way| seen.insert(way)));
            }
        }
        all
    }

    fn step(&mut self, id: RegexId, from: u128) -> u128 {
        positions(from).fold(0, |all, at| all | self.ends(id, at))
    }

    fn repeat(&mut self, child: RegexId, min: u32, max: Option<u32>, start: usize) -> u128 {
        let mut now = 1u128 << start;
        let mut count = 0;
        while count < min && now != 0 {
            let next = self.step(child, now);
            count = if next == now { min } else { count + 1 };
            now = next;
        }
        let mut all = now;
        while max.is_none_or(|max| count < max) {
            now = self.step(child, now);
            if now & !all == 0 {
                break;
            }
            all |= now;
            count += 1;
        }
        all
    }
}

/// Whether the text is one of the numbers, with an exponent up to `exponent_max` or in scientific notation.
fn is_value(text: &[u8], values: &[Decimal], exponent_max: u8) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let Some(value) = Decimal::parse(text) else { return false };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent: i64 = exponent.parse().expect("a number");
    let whole = mantissa.trim_start_matches('-').split('.').next().expect("a part");
    let is_scientific = whole.len() == 1 && whole != "0";
    values.contains(&value) && (exponent.unsigned_abs() <= u64::from(exponent_max) || is_scientific)
}

/// Whether the text is a plain decimal whose value is a multiple of `divisor / 10^scale`.
fn is_multiple(text: &[u8], divisor: u64, scale: u32) -> bool {
    let Ok(text) = std::str::from_utf8(text) else { return false };
    let (whole, fraction) = text.split_once('.').map_or((text, None), |(whole, fraction)| (whole, Some(fraction)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || whole.len() > 1 && whole.starts_with('0') || !fraction.is_none_or(digits) {
        return false;
    }
    let fraction = fraction.unwrap_or("").trim_end_matches('0');
    let places = fraction.len().max(scale as usize);
    let value: u128 = format!("{whole}{fraction:0<places$}").parse().expect("short numbers only");
    value.is_multiple_of(u128::from(divisor) * 10u128.pow((places - scale as usize) as u32))
}
