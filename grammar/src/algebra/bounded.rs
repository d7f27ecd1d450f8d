//! Texts of so many units that are something else besides, such as words in so many characters, with a byte behind them.

use std::sync::Arc;

use super::{Algebra, Expr, MANY, Node, OverLimit, Tag};

/// `(body & unit{min,max}) tail`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounded {
    /// What is counted.
    pub unit: Expr,
    /// How often at least.
    pub min: u32,
    /// How often at most; `u32::MAX` if there is no bound.
    pub max: u32,
    /// The byte behind the text.
    pub tail: u8,
    /// The same as an expression.
    pub end: Expr,
    /// All without the bounds: `body tail`.
    pub unbounded: Expr,
    /// Whether the body is nothing but units.
    pub is_run: bool,
    /// What else the text repeats and counts, if it is seen so; then each text of that must be one unit.
    pub other_unit: Option<Expr>,
}

/// What an expression is made of, as far as units in it are counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// The empty text.
    Empty,
    /// Bytes, and what is behind them.
    Literal(Box<[u8]>, Expr),
    /// One after the other.
    Sequence(Expr, Expr),
    /// Any of them.
    Union(Box<[Expr]>),
    /// From so often to so often; `u32::MAX` for no bound.
    Repetition(Expr, u32, u32),
    /// All of them at once.
    Intersection(Box<[Expr]>),
    /// All texts else.
    Complement(Expr),
    /// What is left of an automaton's words, of which no letter is begun.
    Words(WordsLeft),
    /// Something else.
    Other,
}

/// What is left of an automaton's words, counted in letters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WordsLeft {
    /// The texts of each letter.
    pub letters: Arc<[Expr]>,
    /// Those of the shortest word that is left, if that is known.
    pub least: Option<u32>,
    /// No more are in the shortest word that is left, here and wherever a word leads.
    pub least_max: u32,
}

impl Algebra {
    /// The expression as a bounded one, in several ways to see it so. Who takes one must make sure that the text is made of its units.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn bounded(&mut self, expr: Expr) -> Result<Vec<Bounded>, OverLimit> {
        let Node::Concat(first, last) = self.node(expr) else { return Ok(Vec::new()) };
        let parts = match self.node(first) {
            Node::And(parts) => parts.to_vec(),
            Node::Repeat(..) => vec![first],
            _ => return Ok(Vec::new()),
        };
        let Node::Set(tail) = self.node(last) else { return Ok(Vec::new()) };
        let mut bytes = tail.iter();
        let (Some(tail), None) = (bytes.next(), bytes.next()) else { return Ok(Vec::new()) };
        let count = |&part: &Expr| match self.node(part) {
            Node::Repeat(unit, min, max) if (min > 0 || max < MANY) && !self.is_nullable(unit) => {
                Some((part, unit, min, max))
            }
            _ => None,
        };
        let mut counts: Vec<_> = parts.iter().filter_map(count).collect();
        // What says little, as `x{0,1}` does, is more likely what is bounded.
        counts.sort_by_key(|&(_, _, min, max)| std::cmp::Reverse(if max < MANY { max } else { min }));
        // Of many the first one only: each way is an intersection of all others.
        if counts.len() > 2 {
            counts.truncate(1);
        }
        let mut found = Vec::with_capacity(2 * counts.len());
        let is_run = parts.len() == 1;
        for (index, &(counted, unit, min, max)) in counts.iter().enumerate() {
            self.check(u64::MAX)?;
            let others: Vec<Expr> = parts.iter().copied().filter(|&part| part != counted).collect();
            let bounded = Bounded { unit, min, max, tail, end: last, unbounded: last, is_run, other_unit: None };
            if let [_, _] = *counts
                && let (other, other_unit, low, high) = counts[1 - index]
                && min.max(low) <= max.min(high)
            {
                let uncounted = self.repeat(other_unit, 0, MANY);
                let others = others.iter().map(|&part| if part == other { uncounted } else { part }).collect();
                let unbounded = self.unbounded(others, &bounded);
                let (min, max, other_unit) = (min.max(low), max.min(high), Some(other_unit));
                found.push(Bounded { min, max, unbounded, other_unit, ..bounded });
            }
            let unbounded = self.unbounded(others, &bounded);
            found.push(Bounded { unbounded, ..bounded });
        }
        Ok(found)
    }

    /// What is said of a text beside its bounds, and its end.
    fn unbounded(&mut self, mut others: Vec<Expr>, bounded: &Bounded) -> Expr {
        if others.iter().all(|&part| self.tag(part) == Tag::Not) {
            // Only the bound says what the text is made of.
            others.push(self.repeat(bounded.unit, 0, MANY));
        }
        let body = self.and(others);
        self.concat(body, bounded.end)
    }

    /// An intersection, with what stands behind it, without the complements in it, so with more texts; `None` if it has none or
    /// is made of nothing else.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn without_complements(&mut self, expr: Expr) -> Result<Option<Expr>, OverLimit> {
        let (first, rest) = match self.node(expr) {
            Node::Concat(first, rest) => (first, rest),
            _ => (expr, Expr::EPSILON),
        };
        let Node::And(parts) = self.node(first) else { return Ok(None) };
        let (complements, others): (Vec<Expr>, Vec<Expr>) = parts.iter().partition(|&&part| self.tag(part) == Tag::Not);
        if complements.is_empty() || others.is_empty() {
            return Ok(None);
        }
        self.check(u64::MAX)?;
        let others = self.and(others);
        Ok(Some(self.concat(others, rest)))
    }

    /// What an expression is made of.
    pub fn shape(&self, expr: Expr) -> Shape {
        match self.node(expr) {
            Node::Epsilon => Shape::Empty,
            Node::Literal(text, rest) => Shape::Literal(text.into(), rest),
            Node::Concat(first, rest) => Shape::Sequence(first, rest),
            Node::Or(parts) => Shape::Union(parts.into()),
            Node::Repeat(child, min, max) => Shape::Repetition(child, min, max),
            Node::And(parts) => Shape::Intersection(parts.into()),
            Node::Not(child) => Shape::Complement(child),
            Node::Dfa(place) => self.words_left(place).map_or(Shape::Other, Shape::Words),
            _ => Shape::Other,
        }
    }
}
