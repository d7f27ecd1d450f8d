//! Runs: repetitions with something behind them, such as the inside of a string and its closing quote.

use super::{Algebra, Expr, Node, OverLimit};

/// Alternatives that are looked at; an expression with more has no runs.
const ALTERNATIVES_MAX: usize = 8;

/// `unit{min,max} tail`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// What is repeated.
    pub unit: Expr,
    /// How often at least.
    pub min: u32,
    /// How often at most; `u32::MAX` is without bound.
    pub max: u32,
    /// What comes behind it, which is not empty.
    pub tail: Expr,
}

impl Algebra {
    /// The alternatives of an expression that are runs, and all else that it matches.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn runs(&mut self, expr: Expr) -> Result<(Vec<Run>, Expr), OverLimit> {
        let alternatives = match self.node(expr) {
            Node::Or(parts) if parts.len() <= ALTERNATIVES_MAX => parts.to_vec(),
            Node::Concat(..) => vec![expr],
            _ => return Ok((Vec::new(), expr)),
        };
        let (mut runs, mut others) = (Vec::new(), Vec::new());
        for part in alternatives {
            match self.run(part) {
                Some(run) => runs.push(run),
                None => others.push(part),
            }
        }
        if runs.is_empty() {
            return Ok((runs, expr));
        }
        self.check(u64::MAX)?;
        Ok((runs, self.or(others)))
    }

    fn run(&self, expr: Expr) -> Option<Run> {
        let Node::Concat(first, tail) = self.node(expr) else { return None };
        let Node::Repeat(unit, min, max) = self.node(first) else { return None };
        (max > 1 && !self.is_nullable(unit) && !self.is_nullable(tail)).then_some(Run { unit, min, max, tail })
    }
}
