//! How a rule's parameter is shared between the widths of blocks and what the grammar itself says with it.

use super::WIDTH_MAX;
use crate::ir::Indenter;
use crate::param::{Condition, ParamExpr, ParamRange};

/// Bits of a parameter: the author's own, and above these the width of the block around, the width that the last line
/// break leads out to, and the width of a block that begins.
#[derive(Clone, Copy)]
pub(super) struct Bits {
    pub own: ParamRange,
    pub width: ParamRange,
    pub out: ParamRange,
    pub new: ParamRange,
}

impl Bits {
    pub fn new(indenter: &Indenter) -> Self {
        let bits = (u32::BITS - indenter.width_max.min(WIDTH_MAX).leading_zeros()).max(1) as u8;
        let range = |from: u8| ParamRange { start: 64 - from * bits, end: 64 - (from - 1) * bits };
        Self { own: ParamRange { start: 0, end: 64 - 3 * bits }, width: range(3), out: range(2), new: range(1) }
    }

    /// The part of a range that is the author's.
    pub fn own_part(self, range: ParamRange) -> ParamRange {
        ParamRange { start: range.start.min(self.own.end), end: range.end.min(self.own.end) }
    }

    /// A condition of the author's, of their own bits: the upper ones were never set.
    pub fn condition(self, condition: &Condition) -> Condition {
        match *condition {
            Condition::Compare(range, comparison, number) => {
                Condition::Compare(self.own_part(range), comparison, number)
            }
            Condition::BitCount(range, comparison, count) => {
                Condition::BitCount(self.own_part(range), comparison, count)
            }
            ref other => other.clone(),
        }
    }

    /// The author's expression, of their own bits. `None` if it may set others.
    pub fn expr(self, expr: ParamExpr) -> Option<ParamExpr> {
        let upper = !self.own.mask();
        match expr {
            ParamExpr::Const(number) => (number & upper == 0).then_some(ParamExpr::Put(self.own, number)),
            ParamExpr::Same | ParamExpr::ClearBit(_) => Some(expr),
            ParamExpr::SetBit(bit) => (bit < self.own.end).then_some(expr),
            ParamExpr::And(mask) => Some(ParamExpr::And(mask | upper)),
            ParamExpr::Or(mask) => (mask & upper == 0).then_some(expr),
            // Nobody counts to 2^24 by prediction.
            ParamExpr::Increment(range) => (range.end <= self.own.end || range.start + 24 <= self.own.end)
                .then(|| ParamExpr::Increment(self.own_part(range))),
            ParamExpr::Decrement(range) if range.start >= self.own.end => Some(ParamExpr::Same),
            ParamExpr::Decrement(range) => Some(ParamExpr::Decrement(self.own_part(range))),
            ParamExpr::Put(..) | ParamExpr::Copy { .. } => unreachable!("only made here"),
        }
    }
}
