//! What can be told of an expression within a horizon: counts that cannot end there do not count.
//!
//! Who looks at most so many bytes ahead cannot reach the end of `x{0,1000}`, nor what may follow `x{1000,}`. So all
//! the expressions that differ in such counts only are one, and a text within `maxLength: 100000` stays where it is.
//! That holds below sequences, unions and repetitions; an intersection or a complement may well tell them apart:
//! `(ab)*c{200,} & [a-z]{0,350}` is empty after `(ab)^76`.

use rustc_hash::FxHashMap;

use super::{Algebra, Expr, LARGE, MANY, Node};

impl Algebra {
    /// An expression that has the same beginnings of up to `horizon` bytes, of which the same ones match, with counts
    /// beyond that clamped. Cost: a look-up if it has none; else linear in the parts that have, of which `known` holds
    /// those that were clamped before with this horizon.
    pub fn clamped(&mut self, expr: Expr, horizon: u32, known: &mut FxHashMap<Expr, Expr>) -> Expr {
        let mut agenda = vec![expr];
        while let Some(&at) = agenda.last() {
            if !self.is_large(at) || known.contains_key(&at) {
                agenda.pop();
                continue;
            }
            let of = |part: Expr| if self.is_large(part) { known.get(&part).copied() } else { Some(part) };
            let parts: Vec<Expr> = match self.node(at) {
                Node::Literal(_, tail) => vec![tail],
                Node::Repeat(child, ..) => vec![child],
                Node::Concat(first, rest) => vec![first, rest],
                Node::Or(parts) => parts.to_vec(),
                _ => unreachable!("no other expression has large counts"),
            };
            let before = agenda.len();
            agenda.extend(parts.iter().copied().filter(|&part| of(part).is_none()));
            if agenda.len() > before {
                continue;
            }
            let parts: Vec<Expr> = parts.into_iter().map(|part| of(part).expect("it was clamped")).collect();
            let clamped = self.clamp(at, parts, horizon);
            known.insert(at, clamped);
            agenda.pop();
        }
        known.get(&expr).copied().unwrap_or(expr)
    }

    fn is_large(&self, expr: Expr) -> bool {
        self.cell(expr).flags & LARGE != 0
    }

    /// The expression with its parts clamped.
    fn clamp(&mut self, expr: Expr, parts: Vec<Expr>, horizon: u32) -> Expr {
        match self.node(expr) {
            Node::Literal(bytes, _) => {
                let bytes = bytes.to_vec();
                self.literal(&bytes, parts[0])
            }
            Node::Repeat(child, min, max) => {
                // One repetition may be under way, and one more begun.
                let reached = match self.cell(child).len_min {
                    0 => MANY,
                    len => horizon / len + 2,
                };
                let max = if max > reached { MANY } else { max };
                self.repeat(parts[0], min.min(reached), max)
            }
            Node::Concat(..) => self.concat(parts[0], parts[1]),
            _ => self.or(parts),
        }
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use super::*;
    use crate::regex::ByteSet;

    /// A few expressions with counts around a horizon of 3 bytes, and within others.
    fn samples(algebra: &mut Algebra) -> Vec<Expr> {
        let letter = |algebra: &mut Algebra, byte: u8| algebra.byte_set(ByteSet::range(byte, byte));
        let (a, b) = (letter(algebra, b'a'), letter(algebra, b'b'));
        let ab = algebra.concat(a, b);
        let mut samples = Vec::new();
        for child in [a, ab] {
            for (min, max) in [(0, 20), (20, 30), (17, MANY), (2, 40), (0, 17), (20, 20)] {
                let counted = algebra.repeat(child, min, max);
                let behind = algebra.concat(counted, b);
                let before = algebra.literal(b"ba", behind);
                let twice = algebra.repeat(before, 0, 30);
                let either = algebra.or(vec![twice, counted, a]);
                let within = algebra.and(vec![counted, either]);
                samples.extend([counted, behind, before, twice, either, within]);
            }
        }
        samples
    }

    #[test]
    fn clamped_expressions_look_the_same_up_to_the_horizon() {
        let mut algebra = Algebra::new(1_000_000);
        let samples = samples(&mut algebra);
        for horizon in [1, 3, 4, 7] {
            let mut known = FxHashMap::default();
            let mut changed = 0;
            for &sample in &samples {
                let clamped = algebra.clamped(sample, horizon, &mut known);
                changed += usize::from(clamped != sample);
                let mut pairs = vec![(sample, clamped)];
                for _ in 0..=horizon {
                    let mut next = Vec::new();
                    for &(one, other) in &pairs {
                        assert_eq!(algebra.is_nullable(one), algebra.is_nullable(other), "{horizon}");
                        let is_left = |algebra: &mut Algebra, expr| algebra.is_non_empty(expr, 100_000).unwrap();
                        assert_eq!(is_left(&mut algebra, one), is_left(&mut algebra, other), "{horizon}");
                        for byte in *b"abc" {
                            let derived =
                                |algebra: &mut Algebra, expr| algebra.derivative(expr, byte, u64::MAX).unwrap();
                            next.push((derived(&mut algebra, one), derived(&mut algebra, other)));
                        }
                    }
                    next.sort_unstable();
                    next.dedup();
                    pairs = next;
                }
            }
            assert!(changed > samples.len() / 2, "{changed} of {}", samples.len());
        }
    }
}
