//! Plain ways to match: some of an expression's texts, so few that a handful of states tells them.
//!
//! What takes any text in some way takes it whatever else it could do: `.*x.*` or a URI takes what `.*x.*` takes, and what is no
//! email address takes at least all that has not an `@` between characters of addresses, whatever their order; what is neither that
//! nor a date takes all that has a character which neither has. So of a union one part is a way, and of a complement one that leaves
//! out more.

use smallvec::SmallVec;

use super::{Algebra, Expr, MANY, Node, OverLimit, Tag};
use crate::regex::ByteSet;

/// Ways at most, and unions that are looked at for them.
const WAYS_MAX: usize = 8;
const CHOICES_MAX: usize = 24;
/// Operations within each other that are looked at.
const DEPTH_MAX: u32 = 16;
/// Operations that are looked at in one way.
const PARTS_MAX: usize = 512;
/// Expressions that are looked at for the bytes of one.
const BYTES_ROOM: u32 = 512;
/// Repetitions of characters that are shorter are left as they are.
const COUNT_MIN: u32 = 5;
/// Bytes of a character at most, spelled in any way.
const CHARACTER_MAX: u32 = 12;

/// Which texts an expression is to have that takes the place of another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Than {
    /// Some of them.
    Fewer,
    /// All of them and more.
    More,
}

impl Algebra {
    /// Whether an expression may have [plain ways](Self::plain_ways): it is a union or an intersection, then more or nothing.
    pub fn has_ways(&self, expr: Expr) -> bool {
        let head = if let Node::Concat(head, _) = self.node(expr) { head } else { expr };
        matches!(self.tag(head), Tag::Or | Tag::And)
    }

    /// Expressions of some of the texts of an expression, plainer than it is, that may go on with all of these bytes and match
    /// texts of any length. None if nothing is found that is plainer. Cost: some hundred operations for each.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn plain_ways(&mut self, expr: Expr, first: &ByteSet) -> Result<Vec<Expr>, OverLimit> {
        self.check(u64::MAX)?;
        let (head, tail) = self.split_first(expr);
        let (mut agenda, mut ways) = (vec![head], Vec::new());
        let mut choices = CHOICES_MAX;
        while let Some(head) = agenda.pop().filter(|_| ways.len() < WAYS_MAX) {
            let is_open = self.cell(head).len_max == MANY && first.intersect(&self.first_bytes(head)) == *first;
            if !is_open {
                continue;
            }
            if let Some(chosen) = self.choices(head).filter(|_| choices > 0) {
                choices -= 1;
                agenda.extend(chosen);
                continue;
            }
            let beyond = self.beyond_bytes(head, first);
            for head in beyond.into_iter().chain([head]) {
                let plain = self.plainer(Than::Fewer, head, DEPTH_MAX, &mut PARTS_MAX.clone());
                let way = self.concat(plain, tail);
                if way != expr && way != Expr::NOTHING && !ways.contains(&way) {
                    ways.push(way);
                }
            }
        }
        Ok(ways)
    }

    /// Expressions that each match some texts of another one, if that is a union, or an intersection with one.
    fn choices(&mut self, expr: Expr) -> Option<Vec<Expr>> {
        let parts = match self.node(expr) {
            Node::Or(parts) => return Some(parts.to_vec()),
            Node::And(parts) => parts.to_vec(),
            _ => return None,
        };
        for (at, &part) in parts.iter().enumerate() {
            let chosen = match self.node(part) {
                Node::Or(ways) => ways.to_vec(),
                Node::Not(child) if self.tag(child) == Tag::And => {
                    let either = self.operands(child).to_vec();
                    either.into_iter().map(|part| self.not(part)).collect()
                }
                _ => continue,
            };
            let with = |this: &mut Self, choice: Expr| {
                let mut one = parts.clone();
                one[at] = choice;
                this.and(one)
            };
            return Some(chosen.into_iter().map(|choice| with(self, choice)).collect());
        }
        None
    }

    /// Of an intersection with several complements of texts that do not have all of these bytes the texts that have a byte which
    /// none of those has.
    fn beyond_bytes(&mut self, expr: Expr, first: &ByteSet) -> Option<Expr> {
        let Node::And(parts) = self.node(expr) else { return None };
        let (mut bytes, mut others) = (ByteSet::EMPTY, Vec::with_capacity(parts.len()));
        for &part in parts {
            let of_all = match self.node(part) {
                Node::Not(child) => bytes.union(&self.bytes_within(child, DEPTH_MAX, &mut BYTES_ROOM.clone())),
                _ => ByteSet::ALL,
            };
            if first.intersect(&of_all) == *first { others.push(part) } else { bytes = of_all }
        }
        if others.len() + 2 > parts.len() {
            return None;
        }
        let any = self.byte_set(bytes);
        let any = self.repeat(any, 0, MANY);
        others.push(self.not(any));
        Some(self.and(others))
    }

    fn plainer(&mut self, than: Than, expr: Expr, depth: u32, left: &mut usize) -> Expr {
        if depth == 0 || *left == 0 {
            return expr;
        }
        *left -= 1;
        match (self.node(expr), than) {
            (Node::Or(parts), _) => {
                let parts: SmallVec<[Expr; 8]> = parts.into();
                let parts = parts.into_iter().map(|part| self.plainer(than, part, depth - 1, left)).collect();
                self.or(parts)
            }
            (Node::And(parts), _) => {
                let parts: SmallVec<[Expr; 8]> = parts.into();
                let parts = parts.into_iter().map(|part| self.plainer(than, part, depth - 1, left)).collect();
                self.and(parts)
            }
            (Node::Not(child), _) => {
                let other = if than == Than::Fewer { Than::More } else { Than::Fewer };
                let child = self.plainer(other, child, depth - 1, left);
                self.not(child)
            }
            (_, Than::Fewer) => expr,
            (_, Than::More) => self.of_same_bytes(expr, left),
        }
    }

    /// A sequence of parts that have the same bytes in any order and number, but for sets of bytes, literals, and short
    /// repetitions of a character.
    fn of_same_bytes(&mut self, sequence: Expr, left: &mut usize) -> Expr {
        let (mut parts, mut rest) = (Vec::new(), sequence);
        while rest != Expr::EPSILON && *left > 0 {
            *left -= 1;
            let (part, tail) = self.split_first(rest);
            parts.push(match self.node(part) {
                Node::Set(_) | Node::Literal(..) => part,
                Node::Repeat(child, min, max)
                    if min < COUNT_MIN
                        && (max < COUNT_MIN || max == MANY)
                        && self.cell(child).len_max <= CHARACTER_MAX =>
                {
                    part
                }
                _ => {
                    let bytes = self.bytes_within(part, DEPTH_MAX, &mut BYTES_ROOM.clone());
                    let any = self.byte_set(bytes);
                    self.repeat(any, u32::from(!self.is_nullable(part)), MANY)
                }
            });
            rest = tail;
        }
        parts.into_iter().rev().fold(rest, |behind, part| self.concat(part, behind))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::Lowered;
    use crate::algebra::random::{expr, set_of};
    use crate::regex::RegexSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn ways_are_within_the_expression(program in vec(any::<u8>(), 1..14)) {
            let (mut algebra, expr) = expr(&program);
            for first in [ByteSet::EMPTY, set_of(b"ab")] {
                for way in algebra.plain_ways(expr, &first).expect("small") {
                    let outside = algebra.without(way, expr).expect("small");
                    prop_assert_eq!(algebra.is_non_empty(outside, 1_000_000), Ok(false));
                }
            }
        }
    }

    #[test]
    fn a_complement_of_counts_has_a_way_without_counts() {
        let mut set = RegexSet::new();
        let (letter, at) = (set.bytes(set_of(b"abc")), set.literal(b"@"));
        let name = set.repeat(letter, 1, Some(64));
        let address = set.concat(&[name, at, name]);
        let any = set.bytes(ByteSet::ALL);
        let (any, many, others) = (set.repeat(any, 0, None), set.repeat(letter, 1, None), set.not(address));
        let text = set.and(&[any, others]);
        let plain = set.concat(&[many, at, many]);
        let plain = set.not(plain);
        let (mut algebra, mut lowered) = (Algebra::new(100_000), Lowered::default());
        let [text, plain] = [text, plain].map(|regex| algebra.lower(&set, regex, &mut lowered).expect("small"));
        assert_eq!(algebra.plain_ways(text, &ByteSet::ALL), Ok(vec![plain]));
    }
}
