//! Derivatives, and the classes of bytes that an expression tells apart.

use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::remainder::Remainder;
use super::{Algebra, Expr, LITERAL_MAX, MANY, Node, OverLimit};
use crate::regex::ByteSet;

/// Derivatives that are kept, after which all are dropped: for ever they would be several times the expressions, and
/// one growth of a large table stops everything for 100 ms.
const DERIVATIVES_KEPT: usize = 8_192;

/// What [`Algebra::common_classes`] has met, kept for its room.
#[derive(Default, Debug)]
pub(super) struct ClassesOf {
    sets: FxHashSet<ByteSet>,
    seen: FxHashSet<Expr>,
}

/// Past so many expressions the room is not kept: clearing a table takes as long as it is large.
const ROOM_KEPT_MAX: usize = 512;

/// Expressions that are to be derived.
type Agenda = SmallVec<[Expr; 32]>;

impl Algebra {
    /// What may follow `byte`.
    ///
    /// Errors: [`OverLimit`] if that took all work up to `work_max` (of [`work`](Self::work)), or the size is spent.
    pub fn derivative(&mut self, expr: Expr, byte: u8, work_max: u64) -> Result<Expr, OverLimit> {
        if let Some(leaf) = self.leaf_derivative(expr, byte) {
            return Ok(leaf);
        }
        if self.derivatives.len() > DERIVATIVES_KEPT {
            self.derivatives.clear();
            self.derivatives.shrink_to(DERIVATIVES_KEPT);
        }
        let mut stack: Agenda = smallvec![expr];
        loop {
            let top = stack[stack.len() - 1];
            let derived = match self.derivatives.get(&(top, byte)) {
                Some(&known) => known,
                None => {
                    self.check(work_max)?;
                    if let Node::Dfa(&place) = self.node(top) {
                        self.prepare(&place, work_max)?;
                    }
                    let Some(derived) = self.derive(top, byte, &mut stack) else { continue };
                    self.derivatives.insert((top, byte), derived);
                    derived
                }
            };
            stack.pop();
            if stack.is_empty() {
                return Ok(derived);
            }
        }
    }

    /// The derivative of an expression without operands, or that the byte plainly does not begin.
    fn leaf_derivative(&mut self, expr: Expr, byte: u8) -> Option<Expr> {
        match self.node(expr) {
            Node::Nothing | Node::Epsilon => Some(Expr::NOTHING),
            Node::Set(set) => Some(if set.contains(byte) { Expr::EPSILON } else { Expr::NOTHING }),
            Node::Literal(bytes, tail) => {
                if bytes[0] != byte {
                    return Some(Expr::NOTHING);
                }
                let mut buffer = [0; LITERAL_MAX];
                let len = bytes.len() - 1;
                buffer[..len].copy_from_slice(&bytes[1..]);
                Some(if len == 0 { tail } else { self.chunks(&buffer[..len], tail) })
            }
            Node::Remainder(remainder) => Some(match remainder.after(byte) {
                Some(after) => self.remainder(after),
                None => Expr::NOTHING,
            }),
            Node::Dfa(&place) => self.after_byte(place, byte),
            Node::Values(&place) => Some(self.value_after(place, byte)),
            Node::Concat(head, _) => match self.node(head) {
                Node::Set(set) if !set.contains(byte) => Some(Expr::NOTHING),
                _ => None,
            },
            _ => None,
        }
    }

    /// The derivative if it is a leaf's or known.
    fn known_derivative(&mut self, expr: Expr, byte: u8) -> Option<Expr> {
        self.leaf_derivative(expr, byte).or_else(|| self.derivatives.get(&(expr, byte)).copied())
    }

    /// The derivative of an expression with operands, or `None` with those pushed that must be derived before.
    fn derive(&mut self, expr: Expr, byte: u8, stack: &mut Agenda) -> Option<Expr> {
        self.pay(1);
        match self.node(expr) {
            Node::Not(child) => {
                let derived = self.derived(child, byte, stack)?;
                Some(self.not(derived))
            }
            Node::Repeat(child, min, max) => {
                let derived = self.derived(child, byte, stack)?;
                if derived == Expr::NOTHING {
                    return Some(Expr::NOTHING);
                }
                let less = if max == MANY { MANY } else { max - 1 };
                let rest = self.repeat(child, min.saturating_sub(1), less);
                Some(self.concat(derived, rest))
            }
            Node::Concat(..) => self.derive_sequence(expr, byte, stack),
            Node::Or(parts) => {
                let parts: SmallVec<[Expr; 16]> = parts.into();
                let derived = self.all_derived(&parts, byte, stack)?;
                Some(self.or(derived))
            }
            Node::And(parts) => {
                let parts: SmallVec<[Expr; 16]> = parts.into();
                // One that is nothing is enough.
                for &part in &parts {
                    if self.known_derivative(part, byte) == Some(Expr::NOTHING) {
                        return Some(Expr::NOTHING);
                    }
                }
                let derived = self.all_derived(&parts, byte, stack)?;
                Some(self.and(derived))
            }
            _ => self.leaf_derivative(expr, byte),
        }
    }

    fn derived(&mut self, expr: Expr, byte: u8, stack: &mut Agenda) -> Option<Expr> {
        let known = self.known_derivative(expr, byte);
        if known.is_none() {
            stack.push(expr);
        }
        known
    }

    fn all_derived(&mut self, parts: &[Expr], byte: u8, stack: &mut Agenda) -> Option<Vec<Expr>> {
        let before = stack.len();
        let mut derived = Vec::with_capacity(parts.len());
        for &part in parts {
            derived.extend(self.derived(part, byte, stack));
        }
        self.pay(parts.len());
        (stack.len() == before).then_some(derived)
    }

    /// Of a sequence: the ways to go on in each part up to the first that is not empty, as one union.
    fn derive_sequence(&mut self, expr: Expr, byte: u8, stack: &mut Agenda) -> Option<Expr> {
        let mut ways: SmallVec<[(Expr, Expr); 8]> = SmallVec::new();
        let mut at = expr;
        let mut is_known = true;
        loop {
            self.pay(1);
            let (head, tail) = match self.node(at) {
                Node::Concat(head, tail) => (head, tail),
                _ => (at, Expr::EPSILON),
            };
            match self.derived(head, byte, stack) {
                Some(Expr::NOTHING) => {}
                Some(derived) => ways.push((derived, tail)),
                None => is_known = false,
            }
            if !self.is_nullable(head) || tail == Expr::EPSILON {
                break;
            }
            at = tail;
        }
        if !is_known {
            return None;
        }
        let ways: Vec<Expr> = ways.into_iter().map(|(derived, tail)| self.concat(derived, tail)).collect();
        Some(self.or(ways))
    }

    /// The coarsest partition of the bytes within whose classes all derivatives are equal, as far as the sets of bytes
    /// in first position tell.
    ///
    /// Errors: as [`derivative`](Self::derivative).
    pub fn first_classes(&mut self, expr: Expr, work_max: u64) -> Result<Vec<ByteSet>, OverLimit> {
        self.common_classes(vec![expr], work_max)
    }

    /// The same for several expressions: within a class, the derivatives of each are equal.
    pub(super) fn common_classes(&mut self, mut stack: Vec<Expr>, work_max: u64) -> Result<Vec<ByteSet>, OverLimit> {
        let mut classes = vec![ByteSet::ALL];
        let ClassesOf { mut sets, mut seen } = std::mem::take(&mut self.classes_of);
        sets.clear();
        seen.clear();
        while let Some(expr) = stack.pop() {
            if !seen.insert(expr) {
                continue;
            }
            self.pay(1);
            if seen.len().is_multiple_of(1024) {
                self.check(work_max)?;
            }
            if let Node::Dfa(&place) = self.node(expr) {
                self.prepare(&place, work_max)?;
                if sets.is_empty() {
                    // They are apart.
                    classes = self.place_classes(&place).collect();
                    sets.extend(&classes);
                    let rest = classes.iter().fold(ByteSet::EMPTY, |all, class| all.union(class)).negate();
                    classes.extend(Some(rest).filter(|rest| !rest.is_empty()));
                    continue;
                }
            }
            let mut split = |set: ByteSet| {
                if sets.insert(set) {
                    refine(&mut classes, &set);
                }
            };
            match self.node(expr) {
                Node::Nothing | Node::Epsilon => {}
                Node::Set(set) => split(set),
                Node::Literal(bytes, _) => split(ByteSet::range(bytes[0], bytes[0])),
                Node::Remainder(_) => Remainder::letters().for_each(|byte| split(ByteSet::range(byte, byte))),
                Node::Dfa(place) => self.place_classes(place).for_each(split),
                Node::Values(place) => self.value_classes(place).for_each(split),
                Node::Concat(head, tail) => {
                    stack.push(head);
                    if self.is_nullable(head) {
                        stack.push(tail);
                    }
                }
                Node::Not(child) | Node::Repeat(child, ..) => stack.push(child),
                Node::Or(parts) | Node::And(parts) => stack.extend(parts),
            }
        }
        if seen.capacity() < ROOM_KEPT_MAX {
            self.classes_of = ClassesOf { sets, seen };
        }
        Ok(classes)
    }
}

/// Splits each class into what is in `set` and what is not.
fn refine(classes: &mut Vec<ByteSet>, set: &ByteSet) {
    // A byte alone is in one class.
    let only = set.iter().next().filter(|_| set.len() == 1);
    let split = match only.and_then(|byte| classes.iter().position(|class| class.contains(byte))) {
        Some(index) => index..index + 1,
        None => 0..classes.len(),
    };
    for index in split {
        let inside = classes[index].intersect(set);
        if !inside.is_empty() && inside != classes[index] {
            let outside = classes[index].intersect(&set.negate());
            classes[index] = inside;
            classes.push(outside);
        }
    }
}
