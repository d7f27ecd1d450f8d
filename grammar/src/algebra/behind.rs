//! Expressions before whose texts any text may stand: `Σ*x & Σ*y` has `wu` with each of its `u`, whatever `w` is.
//!
//! So unanchored patterns that must all match are seen to go on after any text, where a search would go through the product of how
//! far each of them has come.

use smallvec::SmallVec;

use super::{Algebra, Expr, MANY, Node};

/// Operations that are looked at, and those within each other.
const PARTS_MAX: usize = 512;
const DEPTH_MAX: u32 = 16;
/// Work to find out whether what is left of an expression has a text.
const WORK_MAX: u64 = 20_000;

impl Algebra {
    /// Repetitions of all lengths of what parts of an expression begin with any number of. None if the expression is not
    /// [open](Self::is_open_behind) behind texts of all of them. Cost: linear, some hundred operations at most.
    pub fn leading_repetitions(&mut self, expr: Expr) -> Vec<Expr> {
        let (mut children, mut left) = (Vec::new(), PARTS_MAX);
        let mut stack = vec![self.head(expr)];
        while let Some(expr) = stack.pop().filter(|_| left > 0) {
            left -= 1;
            match self.node(self.head(expr)) {
                Node::Repeat(child, _, MANY) => children.push(child),
                Node::Or(parts) | Node::And(parts) => stack.extend(parts),
                _ => {}
            }
        }
        children.sort_unstable();
        children.dedup();
        let repetitions: Vec<Expr> = children.into_iter().map(|child| self.repeat(child, 0, MANY)).collect();
        if self.is_open_behind(expr, &repetitions) { repetitions } else { Vec::new() }
    }

    /// Whether an expression has texts before which may stand any text that all of these repetitions have: those that are made
    /// of parts that begin with one of them, such as unanchored patterns. False if that does not show soon.
    pub fn is_open_behind(&mut self, expr: Expr, repetitions: &[Expr]) -> bool {
        let (head, tail) = self.split_first(expr);
        let open = self.open_behind(head, repetitions, DEPTH_MAX, &mut PARTS_MAX.clone());
        let way = open.map(|open| self.concat(open, tail));
        way.is_some_and(|way| self.is_non_empty(way, WORK_MAX) == Ok(true))
    }

    fn open_behind(&mut self, expr: Expr, repetitions: &[Expr], depth: u32, left: &mut usize) -> Option<Expr> {
        *left = left.checked_sub(1)?;
        let head = self.head(expr);
        match self.node(head) {
            Node::Repeat(child, _, MANY) => {
                let repetition = self.repeat(child, 0, MANY);
                repetitions.contains(&repetition).then_some(expr)
            }
            Node::Or(parts) if head == expr && depth > 0 => {
                let parts: SmallVec<[Expr; 8]> = parts.into();
                let mut open = |part| self.open_behind(part, repetitions, depth - 1, left);
                let open: Vec<Expr> = parts.into_iter().filter_map(&mut open).collect();
                (!open.is_empty()).then(|| self.or(open))
            }
            Node::And(parts) if head == expr && depth > 0 => {
                let parts: SmallVec<[Expr; 8]> = parts.into();
                let mut open = |part| self.open_behind(part, repetitions, depth - 1, left);
                let open = parts.into_iter().map(&mut open).collect::<Option<_>>()?;
                Some(self.and(open))
            }
            _ => None,
        }
    }

    /// The first part of a sequence.
    fn head(&self, expr: Expr) -> Expr {
        if let Node::Concat(head, _) = self.node(expr) { head } else { expr }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::Lowered;
    use crate::algebra::random::{LETTERS, expr, set_of};
    use crate::regex::RegexSet;

    fn after(algebra: &mut Algebra, expr: Expr, text: &[u8]) -> Expr {
        text.iter().fold(expr, |at, &byte| algebra.derivative(at, byte, u64::MAX).expect("small"))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn what_is_open_goes_on_after_texts_of_all_repetitions(program in vec(any::<u8>(), 1..14)) {
            let (mut algebra, expr) = expr(&program);
            let repetitions = algebra.leading_repetitions(expr);
            if algebra.is_open_behind(expr, &repetitions) {
                let two = || LETTERS.into_iter().flat_map(|a| LETTERS.into_iter().map(move |b| [a, b]));
                let texts = LETTERS.into_iter().flat_map(|a| two().map(move |[b, c]| [a, b, c]));
                for text in texts {
                    let is_before = repetitions.iter().all(|&one| {
                        let left = after(&mut algebra, one, &text);
                        algebra.is_nullable(left)
                    });
                    let left = after(&mut algebra, expr, &text);
                    prop_assert!(!is_before || algebra.is_non_empty(left, 1_000_000) == Ok(true), "{text:?}");
                }
            }
        }
    }

    #[test]
    fn unanchored_patterns_are_open_behind_any_text() {
        let mut set = RegexSet::new();
        let letters = set.bytes(set_of(b"abc"));
        let any = set.repeat(letters, 0, None);
        let within = |set: &mut RegexSet, text: &[u8]| {
            let text = set.literal(text);
            set.concat(&[any, text, any])
        };
        let (ab, ba) = (within(&mut set, b"ab"), within(&mut set, b"ba"));
        let (not_ab, c) = (set.not(ab), set.literal(b"c"));
        let anchored = set.concat(&[c, any]);
        let either = set.or(&[ba, anchored]);
        let cases = [set.and(&[ab, either]), set.and(&[ab, anchored]), set.and(&[any, not_ab])];
        let (mut algebra, mut lowered) = (Algebra::new(100_000), Lowered::default());
        let any = algebra.lower(&set, any, &mut lowered).expect("small");
        let are_open = cases.map(|regex| {
            let expr = algebra.lower(&set, regex, &mut lowered).expect("small");
            (algebra.leading_repetitions(expr) == [any], algebra.is_open_behind(expr, &[any]))
        });
        assert_eq!(are_open, [(true, true), (false, false), (false, false)]);
    }
}
