//! The regex algebra: one hash-consed `derivre` set of expressions over the 256 bytes, shared by all grammars of an
//! engine, so that an expression id means the same in each of them.
//!
//! Derivatives as in S. Owens, J. Reppy, A. Turon, "Regular-expression derivatives re-examined", JFP 19(2), 2009.
//! Differs: a whole row at a time, one derivative per class of bytes that the first positions tell apart
//! (`derivre` takes one byte at a time; a row by classes is 5 to 70 times cheaper than 256 of those).
//! The or-to-trie rewriting of `derivre` is off, since with it derivatives can panic; its look-ahead, its builder and
//! its JSON quoting are not used. Nothing outside this folder knows `derivre`'s types.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use derivre::raw::{DerivCache, ExprSet, RelevanceCache};
use derivre::{AlphabetInfo, ExprRef};
use larkspur_grammar::{ByteSet, CharClass, Limits, RegexId, RegexNode, RegexSet};
use regex_syntax::utf8::{Utf8Range, Utf8Sequences};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::error::Fault;

/// An expression of an [`Arena`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) struct Expr(u32);

impl Expr {
    /// Matches nothing.
    pub const NOTHING: Expr = Expr(2);

    pub fn to_raw(self) -> u32 {
        self.0
    }
    pub fn from_raw(raw: u32) -> Self {
        Self(raw)
    }
    fn get(self) -> ExprRef {
        ExprRef::new(self.0)
    }
}

/// All derivatives of one expression.
#[derive(Debug)]
pub(crate) struct ExprRow {
    /// Class of each byte.
    pub class_of: [u8; 256],
    /// Derivative by each class; [`Expr::NOTHING`] if it is empty.
    pub next: Vec<Expr>,
}

impl ExprRow {
    pub fn next(&self, byte: u8) -> Expr {
        self.next[usize::from(self.class_of[usize::from(byte)])]
    }
}

/// Expressions shared by the grammars of an engine, within one epoch.
pub(crate) struct Arena {
    inner: Mutex<Inner>,
    expressions_max: usize,
}

struct Inner {
    exprs: ExprSet,
    deriv: DerivCache,
    relevance: RelevanceCache,
    rows: FxHashMap<Expr, Arc<ExprRow>>,
    classes: FxHashMap<CharClass, ExprRef>,
    /// Expressions whose emptiness search ran out of fuel, with the fuel it had.
    undecided: FxHashMap<ExprRef, u64>,
    /// Expressions whose row took more work than allowed. Remembered, since a second attempt finds derivatives cached.
    too_dear: FxHashSet<Expr>,
    expressions_max: usize,
}

/// In a [`Fault`]: a divisor beyond what the algebra's 32-bit remainders hold. Not a limit that can be raised.
pub(crate) const MULTIPLE_OF_MAX: &str = "multiple_of_max";

/// Entries of the derivative cache, after which it is dropped: kept for ever it is several times the expressions, and
/// one growth of its table stops everything for 100 ms.
const DERIVATIVES_KEPT: usize = 8192;

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Arena({} expressions)", self.len())
    }
}

impl Arena {
    pub fn new(limits: &Limits) -> Self {
        let mut exprs = ExprSet::new(256);
        let any = exprs.mk_byte(b'a');
        let printer = exprs.pp().clone();
        let (_, mut exprs, _) = AlphabetInfo::from_exprset(exprs, &[any]);
        exprs.set_pp(printer);
        debug_assert_eq!(ExprRef::NO_MATCH.as_u32(), Expr::NOTHING.0);
        Self {
            inner: Mutex::new(Inner {
                exprs,
                deriv: DerivCache::new(),
                relevance: RelevanceCache::new(),
                rows: FxHashMap::default(),
                classes: FxHashMap::default(),
                undecided: FxHashMap::default(),
                too_dear: FxHashSet::default(),
                expressions_max: limits.expressions_max,
            }),
            expressions_max: limits.expressions_max,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The lock guards caches that are valid after each call; a panic inside one is a bug of ours elsewhere.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of expressions.
    pub fn len(&self) -> usize {
        self.lock().exprs.len()
    }

    /// Whether a new epoch should begin: half of the budget is spent.
    pub fn is_worn(&self) -> bool {
        self.len() > self.expressions_max / 2
    }

    /// The expressions of `roots`, lowered together.
    ///
    /// Errors: `expressions_max`; `multiple_of_max` for divisors beyond what the algebra's 32-bit remainders hold.
    pub fn lower(&self, regexes: &RegexSet, roots: &[RegexId]) -> Result<Vec<Expr>, Fault> {
        self.lock().lower(regexes, roots)
    }

    /// Whether the expression matches some text.
    ///
    /// Errors: `regex_emptiness_fuel` if `fuel` steps do not decide.
    pub fn is_non_empty(&self, expr: Expr, fuel: u64) -> Result<bool, Fault> {
        self.lock().is_non_empty(expr.get(), fuel, "regex_emptiness_fuel")
    }

    /// Whether the expression matches the empty text.
    pub fn nullable(&self, expr: Expr) -> bool {
        self.lock().exprs.is_nullable(expr.get())
    }

    /// All derivatives of the expression. Cost: 2 to 3 us the first time.
    ///
    /// Errors: `expressions_max`, `lexer_row_emptiness_fuel`, `lexer_row_work_max`.
    pub fn row(&self, expr: Expr, limits: &Limits) -> Result<Arc<ExprRow>, Fault> {
        self.lock().row(expr, limits)
    }
}

impl Inner {
    fn check_size(&self) -> Result<(), Fault> {
        if self.exprs.len() > self.expressions_max {
            return Err(Fault::exceeded("expressions_max", self.expressions_max as u64));
        }
        Ok(())
    }

    fn lower(&mut self, regexes: &RegexSet, roots: &[RegexId]) -> Result<Vec<Expr>, Fault> {
        // Children are older than their parents: mark what is reachable, then go up the table.
        let mut reachable = vec![false; regexes.len()];
        let mut stack = roots.to_vec();
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut reachable[id.0 as usize], true) {
                stack.extend(regexes.node(id).children());
            }
        }
        let mut lowered: Vec<ExprRef> = vec![ExprRef::NO_MATCH; regexes.len()];
        // A node that was imported later may be a child of an older one only if it is older itself.
        for (id, node) in regexes.iter().filter(|(id, _)| reachable[id.0 as usize]) {
            lowered[id.0 as usize] = self.lower_node(regexes, node, &lowered)?;
            self.check_size()?;
        }
        Ok(roots.iter().map(|root| Expr(lowered[root.0 as usize].as_u32())).collect())
    }

    fn lower_node(&mut self, regexes: &RegexSet, node: &RegexNode, lowered: &[ExprRef]) -> Result<ExprRef, Fault> {
        let of = |id: &RegexId| lowered[id.0 as usize];
        Ok(match node {
            RegexNode::Nothing => ExprRef::NO_MATCH,
            RegexNode::Literal(bytes) => self.exprs.mk_byte_literal(bytes),
            RegexNode::Class(class) => self.class(class),
            RegexNode::Bytes(set) => self.byte_set(set),
            RegexNode::Concat(parts) => {
                let parts: Vec<ExprRef> = parts.iter().map(of).collect();
                self.exprs.mk_concat_vec(&parts)
            }
            RegexNode::Or(parts) => self.or(regexes, parts, lowered),
            RegexNode::And(parts) => self.exprs.mk_and(&mut parts.iter().map(of).collect()),
            RegexNode::Not(child) => self.exprs.mk_not(of(child)),
            RegexNode::Repeat(child, min, max) => self.exprs.mk_repeat(of(child), *min, max.unwrap_or(u32::MAX)),
            RegexNode::Shortest(child) => {
                let longer = self.exprs.mk_concat(of(child), ExprRef::NON_EMPTY_BYTE_STRING);
                let not = self.exprs.mk_not(longer);
                self.exprs.mk_and(&mut vec![of(child), not])
            }
            &RegexNode::MultipleOf { divisor, scale } => self.multiple_of(divisor, scale)?,
        })
    }

    /// Alternatives; literals among them share their prefixes.
    fn or(&mut self, regexes: &RegexSet, parts: &[RegexId], lowered: &[ExprRef]) -> ExprRef {
        let mut literals: Vec<(Vec<u8>, ExprRef)> = Vec::new();
        let mut others: Vec<ExprRef> = Vec::new();
        for part in parts {
            match regexes.node(*part) {
                RegexNode::Literal(bytes) if !bytes.is_empty() => {
                    literals.push((bytes.to_vec(), ExprRef::EMPTY_STRING))
                }
                _ => others.push(lowered[part.0 as usize]),
            }
        }
        if literals.len() > 2 {
            others.push(self.exprs.mk_prefix_tree(literals));
        } else {
            others.extend(literals.iter().map(|(bytes, _)| self.exprs.mk_byte_literal(bytes)));
        }
        self.exprs.mk_or(&mut others)
    }

    fn byte_set(&mut self, set: &ByteSet) -> ExprRef {
        let words: Vec<u32> = set.0.iter().flat_map(|&word| [word as u32, (word >> 32) as u32]).collect();
        self.exprs.mk_byte_set(&words)
    }

    /// The UTF-8 encodings of a class's characters: ranges of equal continuation share it.
    fn class(&mut self, class: &CharClass) -> ExprRef {
        if let Some(&known) = self.classes.get(class) {
            return known;
        }
        let mut sequences: Vec<Vec<Utf8Range>> = Vec::new();
        for &(low, high) in class.ranges() {
            let as_char = |code| char::from_u32(code).expect("classes hold scalar values");
            sequences.extend(Utf8Sequences::new(as_char(low), as_char(high)).map(|s| s.as_slice().to_vec()));
        }
        let views: Vec<&[Utf8Range]> = sequences.iter().map(Vec::as_slice).collect();
        let expr = self.utf8(&views);
        self.classes.insert(class.clone(), expr);
        expr
    }

    /// Sequences of byte ranges, sorted; at most four ranges each, which bounds the recursion.
    fn utf8(&mut self, sequences: &[&[Utf8Range]]) -> ExprRef {
        let mut by_tail: Vec<(ExprRef, ByteSet)> = Vec::new();
        let mut at = 0;
        while at < sequences.len() {
            let first = sequences[at][0];
            let end = at + sequences[at..].iter().take_while(|sequence| sequence[0] == first).count();
            let tails: Vec<&[Utf8Range]> =
                sequences[at..end].iter().map(|s| &s[1..]).filter(|s| !s.is_empty()).collect();
            let tail = if tails.is_empty() { ExprRef::EMPTY_STRING } else { self.utf8(&tails) };
            let bytes = ByteSet::range(first.start, first.end);
            match by_tail.iter_mut().find(|(known, _)| *known == tail) {
                Some((_, set)) => *set = set.union(&bytes),
                None => by_tail.push((tail, bytes)),
            }
            at = end;
        }
        let mut parts: Vec<ExprRef> = Vec::with_capacity(by_tail.len());
        for (tail, set) in by_tail {
            let first = self.byte_set(&set);
            parts.push(self.exprs.mk_concat(first, tail));
        }
        self.exprs.mk_or(&mut parts)
    }

    /// Decimal numbers whose value is a multiple of `divisor / 10^scale`; any number of zeros may end a fraction.
    fn multiple_of(&mut self, divisor: u64, scale: u32) -> Result<ExprRef, Fault> {
        // derivre computes `remainder * 10 + digit * 10^scale` in 32 bits.
        let most = u64::from(u32::MAX);
        let fits =
            10u64.checked_pow(scale).and_then(|power| power.checked_mul(divisor.max(9))).is_some_and(|x| x < most)
                && divisor.checked_mul(20).is_some_and(|x| x < most);
        if !fits {
            return Err(Fault::exceeded(MULTIPLE_OF_MAX, most));
        }
        let digit = self.byte_set(&ByteSet::range(b'0', b'9'));
        let positive = self.byte_set(&ByteSet::range(b'1', b'9'));
        let digits = self.exprs.mk_repeat(digit, 0, u32::MAX);
        let some_digits = self.exprs.mk_repeat(digit, 1, u32::MAX);
        let zero = self.exprs.mk_byte(b'0');
        let zeros = self.exprs.mk_repeat(zero, 0, u32::MAX);
        let some_zeros = self.exprs.mk_repeat(zero, 1, u32::MAX);
        let point = self.exprs.mk_byte(b'.');
        let integer = {
            let long = self.exprs.mk_concat(positive, digits);
            self.exprs.mk_or(&mut vec![zero, long])
        };
        let multiple = self.exprs.mk_remainder_is(divisor as u32, divisor as u32, scale, false);
        let whole = self.exprs.mk_and(&mut vec![multiple, integer]);
        let fraction = self.exprs.mk_concat_vec(&[integer, point, some_digits]);
        let with_fraction = self.exprs.mk_and(&mut vec![multiple, fraction]);
        let padded = self.exprs.mk_concat(with_fraction, zeros);
        let whole_padded = self.exprs.mk_concat_vec(&[whole, point, some_zeros]);
        Ok(self.exprs.mk_or(&mut vec![whole, padded, whole_padded]))
    }

    fn is_non_empty(&mut self, expr: ExprRef, fuel: u64, limit: &'static str) -> Result<bool, Fault> {
        if expr == ExprRef::NO_MATCH || self.exprs.is_positive(expr) {
            return Ok(expr != ExprRef::NO_MATCH);
        }
        if self.undecided.get(&expr).is_some_and(|&spent| spent >= fuel) {
            return Err(Fault::exceeded(limit, fuel));
        }
        match self.relevance.is_non_empty_limited(&mut self.exprs, expr, fuel) {
            Ok(non_empty) => Ok(non_empty),
            Err(_) => {
                self.undecided.insert(expr, fuel);
                Err(Fault::exceeded(limit, fuel))
            }
        }
    }

    fn row(&mut self, expr: Expr, limits: &Limits) -> Result<Arc<ExprRow>, Fault> {
        if let Some(row) = self.rows.get(&expr) {
            return Ok(row.clone());
        }
        self.check_size()?;
        if self.too_dear.contains(&expr) {
            return Err(Fault::exceeded("lexer_row_work_max", limits.lexer_row_work_max));
        }
        let classes = self.first_classes(expr.get());
        let mut class_of = [0; 256];
        let mut next = Vec::with_capacity(classes.len());
        let (fuel, work_max) = (limits.lexer_row_emptiness_fuel, limits.lexer_row_work_max);
        let work_before = self.exprs.cost();
        for (index, class) in classes.iter().enumerate() {
            class.iter().for_each(|byte| class_of[usize::from(byte)] = index as u8);
            let byte = class.iter().next().expect("classes are not empty");
            let derivative = self.deriv.derivative(&mut self.exprs, expr.get(), byte);
            let alive = self.is_non_empty(derivative, fuel, "lexer_row_emptiness_fuel")?;
            next.push(if alive { Expr(derivative.as_u32()) } else { Expr::NOTHING });
            if self.exprs.cost() - work_before > work_max {
                self.too_dear.insert(expr);
                return Err(Fault::exceeded("lexer_row_work_max", work_max));
            }
        }
        if self.deriv.num_deriv > DERIVATIVES_KEPT {
            self.deriv = DerivCache::new();
        }
        let row = Arc::new(ExprRow { class_of, next });
        self.rows.insert(expr, row.clone());
        Ok(row)
    }

    /// The coarsest partition of the bytes within whose classes all derivatives are equal: that by the byte sets in
    /// first position.
    fn first_classes(&self, expr: ExprRef) -> Vec<ByteSet> {
        let mut classes = vec![ByteSet::ALL];
        let mut seen = FxHashSet::default();
        let mut stack = vec![expr];
        while let Some(expr) = stack.pop() {
            if !seen.insert(expr) {
                continue;
            }
            // derivre does not export its tags; these are their numbers.
            match self.exprs.get_tag(expr) as u8 {
                TAG_EMPTY_STRING | TAG_NO_MATCH => {}
                TAG_BYTE | TAG_BYTE_SET | TAG_BYTE_CONCAT => {
                    let node = self.exprs.get(expr);
                    let mut set = ByteSet::EMPTY;
                    (0..=255).filter(|&byte| node.matches_byte(byte)).for_each(|byte| set.insert(byte));
                    refine(&mut classes, &set);
                }
                TAG_REMAINDER_IS => {
                    b"0123456789.".iter().for_each(|&byte| refine(&mut classes, &ByteSet::range(byte, byte)))
                }
                TAG_CONCAT => {
                    let parts = self.exprs.get_args(expr);
                    stack.push(parts[0]);
                    if self.exprs.is_nullable(parts[0]) {
                        stack.push(parts[1]);
                    }
                }
                _ => stack.extend(self.exprs.get_args(expr)),
            }
        }
        classes
    }
}

const TAG_EMPTY_STRING: u8 = 1;
const TAG_NO_MATCH: u8 = 2;
const TAG_BYTE: u8 = 3;
const TAG_BYTE_SET: u8 = 4;
const TAG_BYTE_CONCAT: u8 = 5;
const TAG_REMAINDER_IS: u8 = 6;
const TAG_CONCAT: u8 = 10;

/// Splits each class into what is in `set` and what is not.
fn refine(classes: &mut Vec<ByteSet>, set: &ByteSet) {
    for index in 0..classes.len() {
        let inside = classes[index].intersect(set);
        if !inside.is_empty() && inside != classes[index] {
            let outside = classes[index].intersect(&set.negate());
            classes[index] = inside;
            classes.push(outside);
        }
    }
}
