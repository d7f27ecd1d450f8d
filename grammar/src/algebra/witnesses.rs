//! Texts that were found to be in something else, tried again: `pattern & char{0,200}` and the same with 199 characters mostly have
//! one in common, so that most of what a bound of lengths makes anew is not searched.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Algebra, Expr, Node};

/// Texts by one of the operands of an intersection that they are in.
pub(super) type Witnesses = FxHashMap<Expr, Box<[u8]>>;

/// Texts kept at most; then all are dropped.
const KEPT_MAX: usize = 16_384;
/// Bytes of a text at most.
pub(super) const KEPT_BYTES_MAX: usize = 64;
/// Operands of an intersection at most.
const OPERANDS_MAX: usize = 4;
/// Work for one step of a text at most.
const STEP_WORK_MAX: u64 = 1_000;

impl Algebra {
    /// A text of an intersection, if a known one is.
    pub(super) fn known_text(&mut self, expr: Expr) -> Option<Box<[u8]>> {
        if self.is_nullable(expr) {
            return Some([].into());
        }
        let parts = self.parts_to_try(expr)?;
        parts.iter().find_map(|&of| {
            let text = self.witnesses.get(&of)?.clone();
            parts.iter().all(|&part| part == of || self.has_text(part, &text)).then_some(text)
        })
    }

    /// Keeps a text of an intersection for others that have an operand in common with it, but for bounds of lengths. It may be none.
    pub(super) fn keep_text(&mut self, expr: Expr, text: &[u8]) {
        let Some(parts) = self.parts_to_try(expr) else { return };
        if !parts.iter().all(|&part| self.has_text(part, text)) {
            return;
        }
        if self.witnesses.len() >= KEPT_MAX {
            self.witnesses.clear();
        }
        for part in parts {
            if !self.is_bound(part) {
                self.witnesses.insert(part, text.into());
            }
        }
    }

    fn parts_to_try(&self, expr: Expr) -> Option<SmallVec<[Expr; OPERANDS_MAX]>> {
        match self.node(expr) {
            Node::And(parts) if parts.len() <= OPERANDS_MAX => Some(parts.into()),
            _ => None,
        }
    }

    /// Whether a text is seen to match.
    fn has_text(&mut self, mut expr: Expr, text: &[u8]) -> bool {
        let (len, cell) = (text.len() as u32, self.cell(expr));
        if len < cell.len_min || len > cell.len_max {
            return false;
        }
        self.pay(text.len());
        for &byte in text {
            match self.derivative(expr, byte, self.work.saturating_add(STEP_WORK_MAX)) {
                Ok(next) if next != Expr::NOTHING => expr = next,
                _ => return false,
            }
        }
        self.is_nullable(expr)
    }
}

#[cfg(test)]
mod tests {
    use crate::algebra::{Algebra, Expr, Lowered};
    use crate::regex::{ByteSet, RegexSet};

    /// `[a-z]+@[a-z]+` in so many letters, with a byte behind them.
    fn bounded(set: &mut RegexSet, algebra: &mut Algebra, letters: u32) -> Expr {
        let (letter, any) = (set.bytes(ByteSet::range(b'a', b'z')), set.any_char());
        let (name, at) = (set.repeat(letter, 1, None), set.literal(b"@"));
        let address = set.concat(&[name, at, name]);
        let bound = set.repeat(any, 0, Some(letters));
        let both = set.and(&[address, bound]);
        algebra.lower(set, both, &mut Lowered::default()).expect("small")
    }

    #[test]
    fn a_text_is_tried_beside_another_bound() {
        let (mut set, mut algebra) = (RegexSet::new(), Algebra::new(10_000));
        let long = bounded(&mut set, &mut algebra, 200);
        assert_eq!(algebra.is_non_empty(long, 1_000), Ok(true));
        let shorter = bounded(&mut set, &mut algebra, 199);
        let text = algebra.known_text(shorter).expect("it is the same");
        assert!(algebra.has_text(shorter, &text));
        // Where it is too long, it says nothing.
        let (three, two) = (bounded(&mut set, &mut algebra, 3), bounded(&mut set, &mut algebra, 2));
        assert_eq!(algebra.is_non_empty(three, 1_000), Ok(true));
        assert_eq!(algebra.known_text(two), None);
        assert_eq!(algebra.is_non_empty(two, 1_000), Ok(false));
    }
}
