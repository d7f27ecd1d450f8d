//! Parameters of rules: a `u64` handed down when a rule is predicted, expressions over it, and conditions on it.
//! The dialect's operations are those of llguidance's parametric grammars.

use serde::{Deserialize, Serialize};

use crate::define_id;
use crate::index::IndexVec;

define_id! {
    /// A condition in a [`Grammar`](crate::Grammar).
    pub struct ConditionId = "if";
}

/// Bits `start..end` of the parameter, `start` being the least significant; `end` is at most 64.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct ParamRange {
    /// First bit.
    pub start: u8,
    /// One past the last bit.
    pub end: u8,
}

impl ParamRange {
    /// The whole parameter, written `_`.
    pub const ALL: ParamRange = ParamRange { start: 0, end: 64 };
    /// Ones in the range's bits.
    pub fn mask(self) -> u64 {
        let width = u32::from(self.end - self.start);
        if width == 64 { u64::MAX } else { ((1u64 << width) - 1) << self.start }
    }
    /// The range's bits, moved down.
    pub fn get(self, value: u64) -> u64 {
        (value & self.mask()) >> self.start
    }
}

/// What a rule passes to a rule that it calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum ParamExpr {
    /// A number.
    Const(u64),
    /// The caller's own parameter, `_`.
    Same,
    /// The caller's parameter with bit `k` set.
    SetBit(u8),
    /// … with bit `k` cleared.
    ClearBit(u8),
    /// … and-ed with a constant.
    And(u64),
    /// … or-ed with a constant.
    Or(u64),
    /// … with the range's number one higher; stays at the range's maximum.
    Increment(ParamRange),
    /// … with the range's number one lower; stays at 0.
    Decrement(ParamRange),
    /// … with this number in the range.
    Put(ParamRange, u64),
    /// … with the number of one range in another one, which is as wide.
    Copy {
        /// Where it is.
        from: ParamRange,
        /// Where it is put as well.
        to: ParamRange,
    },
}

impl ParamExpr {
    /// The value passed on, given the caller's parameter.
    pub fn eval(self, value: u64) -> u64 {
        match self {
            ParamExpr::Const(c) => c,
            ParamExpr::Same => value,
            ParamExpr::SetBit(k) => value | 1 << k,
            ParamExpr::ClearBit(k) => value & !(1 << k),
            ParamExpr::And(m) => value & m,
            ParamExpr::Or(m) => value | m,
            ParamExpr::Increment(r) if value & r.mask() == r.mask() => value,
            ParamExpr::Increment(r) => value + (1 << r.start),
            ParamExpr::Decrement(r) if value & r.mask() == 0 => value,
            ParamExpr::Decrement(r) => value - (1 << r.start),
            ParamExpr::Put(r, number) => value & !r.mask() | number << r.start & r.mask(),
            ParamExpr::Copy { from, to } => value & !to.mask() | from.get(value) << to.start & to.mask(),
        }
    }
}

/// When an alternative is there, `%if`; children are older entries of the grammar's table.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Condition {
    /// Always.
    True,
    /// The range's number compared with a constant.
    Compare(ParamRange, Comparison, u64),
    /// The number of ones in the range compared with a constant.
    BitCount(ParamRange, Comparison, u32),
    /// Both.
    And(ConditionId, ConditionId),
    /// Either.
    Or(ConditionId, ConditionId),
    /// Not.
    Not(ConditionId),
}

/// A comparison of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Comparison {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl Comparison {
    /// Whether `a` compares so with `b`.
    pub fn holds<T: Ord>(self, a: T, b: T) -> bool {
        match self {
            Comparison::Eq => a == b,
            Comparison::Ne => a != b,
            Comparison::Lt => a < b,
            Comparison::Le => a <= b,
            Comparison::Gt => a > b,
            Comparison::Ge => a >= b,
        }
    }
}

/// Whether a condition of a table holds for a parameter.
pub fn holds(conditions: &IndexVec<ConditionId, Condition>, condition: ConditionId, param: u64) -> bool {
    // Children are older than their parents, so one pass over the older part of the table decides; conditions are
    // a handful of nodes (`Limits::grammar_depth_max` bounds them).
    let mut stack = vec![(condition, false)];
    let mut values: Vec<bool> = Vec::new();
    while let Some((id, ready)) = stack.pop() {
        match conditions[id] {
            Condition::True => values.push(true),
            Condition::Compare(range, comparison, value) => values.push(comparison.holds(range.get(param), value)),
            Condition::BitCount(range, comparison, value) => {
                values.push(comparison.holds(range.get(param).count_ones(), value));
            }
            Condition::And(a, b) | Condition::Or(a, b) if !ready => stack.extend([(id, true), (a, false), (b, false)]),
            Condition::Not(a) if !ready => stack.extend([(id, true), (a, false)]),
            Condition::And(..) | Condition::Or(..) => {
                let (a, b) = (values.pop().expect("operand"), values.pop().expect("operand"));
                let is_and = matches!(conditions[id], Condition::And(..));
                values.push(if is_and { a && b } else { a || b });
            }
            Condition::Not(_) => {
                let a = values.pop().expect("operand");
                values.push(!a);
            }
        }
    }
    values.pop().expect("a condition has a value")
}
