//! Texts of so many units at most that are something else besides, such as words in so many characters, with a byte behind them.

use super::{Algebra, Expr, MANY, Node, OverLimit};

/// `(body & unit{0,max}) tail`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounded {
    /// What is counted.
    pub unit: Expr,
    /// How often at most.
    pub max: u32,
    /// The byte behind the text.
    pub tail: u8,
    /// The same as an expression.
    pub end: Expr,
    /// All without the bound: `body tail`.
    pub unbounded: Expr,
}

/// What an expression is made of, as far as units in it are counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The empty text.
    Empty,
    /// One after the other.
    Sequence(Expr, Expr),
    /// Any of them.
    Union(Box<[Expr]>),
    /// At least so often.
    Repetition(Expr, u32),
    /// Something else.
    Other,
}

impl Algebra {
    /// The expression as a bounded one.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn bounded(&mut self, expr: Expr) -> Result<Option<Bounded>, OverLimit> {
        let Node::Concat(first, last) = self.node(expr) else { return Ok(None) };
        let (Node::And(&[a, b]), Node::Set(tail)) = (self.node(first), self.node(last)) else { return Ok(None) };
        let count = |part: Expr| match self.node(part) {
            Node::Repeat(unit, 0, max) if max < MANY && !self.is_nullable(unit) => Some((unit, max)),
            _ => None,
        };
        let (unit, max, body) = match (count(a), count(b)) {
            (Some((unit, max)), None) => (unit, max, b),
            (None, Some((unit, max))) => (unit, max, a),
            _ => return Ok(None),
        };
        let mut bytes = tail.iter();
        let (Some(tail), None) = (bytes.next(), bytes.next()) else { return Ok(None) };
        self.check(u64::MAX)?;
        let unbounded = self.concat(body, last);
        Ok(Some(Bounded { unit, max, tail, end: last, unbounded }))
    }

    /// What an expression is made of.
    pub fn shape(&self, expr: Expr) -> Shape {
        match self.node(expr) {
            Node::Epsilon => Shape::Empty,
            Node::Concat(first, rest) => Shape::Sequence(first, rest),
            Node::Or(parts) => Shape::Union(parts.into()),
            Node::Repeat(child, min, _) => Shape::Repetition(child, min),
            _ => Shape::Other,
        }
    }
}
