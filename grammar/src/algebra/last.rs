//! The bytes that texts end with.

use super::{Algebra, Expr, Node};
use crate::regex::ByteSet;

/// How deep alternatives within alternatives are looked at.
const DEPTH_MAX: usize = 8;

impl Algebra {
    /// Bytes among which is the last one of each text that an expression matches but for the empty text; all bytes where that
    /// does not show at once.
    pub fn last_bytes(&self, expr: Expr) -> ByteSet {
        self.last_bytes_to(expr, DEPTH_MAX)
    }

    fn last_bytes_to(&self, mut expr: Expr, depth: usize) -> ByteSet {
        let unknown = ByteSet::range(0, 255);
        loop {
            expr = match self.node(expr) {
                Node::Nothing | Node::Epsilon => return ByteSet::EMPTY,
                Node::Set(set) => return set,
                Node::Literal(bytes, Expr::EPSILON) => {
                    return bytes.last().map_or(ByteSet::EMPTY, |&byte| ByteSet::range(byte, byte));
                }
                Node::Literal(_, rest) | Node::Concat(_, rest) if !self.is_nullable(rest) => rest,
                Node::Or(parts) if depth > 0 => {
                    let last = parts.iter().map(|&part| self.last_bytes_to(part, depth - 1));
                    return last.fold(ByteSet::EMPTY, |all, last| all.union(&last));
                }
                Node::And(parts) if depth > 0 => {
                    let last = parts.iter().map(|&part| self.last_bytes_to(part, depth - 1));
                    return last.fold(unknown, |all, last| all.intersect(&last));
                }
                _ => return unknown,
            };
        }
    }
}
