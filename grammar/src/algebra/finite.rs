//! What finitely many texts change.

use smallvec::SmallVec;

use super::{Algebra, Expr, MANY, Node};

impl Algebra {
    /// An expression of the same texts and finitely many more, as plain as one look at the outermost sequence gives it:
    /// intersections there lose the complements of what is bounded in length, if all else in the sequence is.
    /// Cost: linear in the sequence.
    pub fn but_for_finitely_many(&mut self, expr: Expr) -> Expr {
        let mut before: SmallVec<[Expr; 8]> = SmallVec::new();
        let mut rest = expr;
        loop {
            let (first, tail) = self.split_first(rest);
            if let Some(plain) = self.without_bounded_complements(first) {
                if self.cell(tail).len_max == MANY {
                    return expr;
                }
                let parts = before.into_iter().rev();
                let behind = self.concat(plain, tail);
                return parts.fold(behind, |behind, part| self.concat(part, behind));
            }
            if tail == Expr::EPSILON || self.cell(first).len_max == MANY {
                return expr;
            }
            before.push(first);
            rest = tail;
        }
    }

    /// An intersection without the complements of what is bounded in length; `None` if there are none.
    fn without_bounded_complements(&mut self, expr: Expr) -> Option<Expr> {
        let Node::And(parts) = self.node(expr) else { return None };
        let parts = parts.to_vec();
        let mut left = Vec::with_capacity(parts.len());
        for &part in &parts {
            let Node::Not(child) = self.node(part) else {
                left.push(part);
                continue;
            };
            let of: Vec<Expr> = match self.node(child) {
                Node::Or(of) => of.to_vec(),
                _ => vec![child],
            };
            let endless: Vec<Expr> = of.iter().copied().filter(|&of| self.cell(of).len_max == MANY).collect();
            if endless.len() == of.len() {
                left.push(part);
            } else if !endless.is_empty() {
                let any = self.or(endless);
                left.push(self.not(any));
            }
        }
        if left == parts { None } else { Some(self.and(left)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::Lowered;
    use crate::regex::{CharClass, RegexSet};

    #[test]
    fn complements_of_bounded_texts_are_left_out() {
        let mut set = RegexSet::new();
        let letter = set.class(CharClass::from_ranges([(0x61, 0x7A)]));
        let name = set.repeat(letter, 0, None);
        let quote = set.literal(b"\"");
        let (ab, cd) = (set.literal(b"ab"), set.literal(b"cd"));
        let listed = set.or(&[ab, cd]);
        let endless = {
            let more = set.repeat(ab, 1, None);
            set.concat(&[cd, more])
        };
        let both = set.or(&[listed, endless]);
        let string = |set: &mut RegexSet, without: Option<_>, times: Option<u32>| {
            let contents = match without {
                Some(without) => {
                    let not = set.not(without);
                    set.and(&[name, not])
                }
                None => name,
            };
            let behind = set.repeat(letter, 0, times);
            set.concat(&[quote, contents, quote, behind])
        };
        let cases = [
            // (what is left out, how often a letter follows, what is left out afterwards)
            (Some(listed), Some(3), None),
            (Some(both), Some(3), Some(endless)),
            (Some(endless), Some(3), Some(endless)),
            // Endlessly many texts begin with one that is left out.
            (Some(listed), None, Some(listed)),
        ];
        for (without, times, left) in cases {
            let (given, expected) = (string(&mut set, without, times), string(&mut set, left, times));
            let mut algebra = Algebra::new(10_000);
            let mut lowered = Lowered::default();
            let given = algebra.lower(&set, given, &mut lowered).expect("small");
            let expected = algebra.lower(&set, expected, &mut lowered).expect("small");
            assert_eq!(algebra.but_for_finitely_many(given), expected, "{without:?} {times:?}");
        }
    }
}
