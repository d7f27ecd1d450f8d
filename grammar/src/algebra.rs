//! The regex algebra: hash-consed expressions over the 256 bytes, closed under every Boolean operation and derivatives.
//!
//! In: nodes of a [`RegexSet`](crate::RegexSet) (see [`Algebra::lower`]). Out: derivatives, nullability, emptiness.
//! Derivatives as in S. Owens, J. Reppy, A. Turon, "Regular-expression derivatives re-examined", JFP 19(2), 2009.
//! Differs: counted repetition stays a node, and alternatives that differ in counts only are merged (`simplify`), so
//! that nested counts stay small; a divisor's remainder is a node, and a state of an automaton; literals are nodes of up
//! to 32 bytes.
//!
//! Everything counts its work, and what can be long stops at a bound with [`OverLimit`]; nothing recurses.
//! The constructors here keep a normal form: no [`Expr::NOTHING`] inside, unions and intersections sorted and flat,
//! one set of bytes each, concatenations nested to the right.

mod behind;
mod bounded;
mod bytes;
mod derivative;
mod dfa;
mod emptiness;
mod finite;
mod first;
mod horizon;
mod ids;
mod letters;
mod lowering;
mod outside;
mod pumped;
#[cfg(test)]
mod random;
mod remainder;
mod runs;
mod simplify;
mod tries;
mod turns;
mod values;
mod ways;
mod witnesses;
mod words;

use std::hash::Hash;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::hashing::hash_of;
use crate::regex::{ByteSet, CharClass};
pub use bounded::{Bounded, Shape, WordsLeft};
pub use horizon::Horizon;
use ids::Ids;
pub use lowering::Lowered;
use remainder::Remainder;
pub use runs::Run;
pub use turns::{Idle, IdleStep, Turn};

/// An expression of an [`Algebra`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Expr(u32);

impl Expr {
    /// Matches nothing.
    pub const NOTHING: Expr = Expr(0);
    /// Matches the empty text only.
    pub const EPSILON: Expr = Expr(1);
    /// Any one byte.
    const ANY_BYTE: Expr = Expr(2);
    /// Every byte string.
    pub const ALL: Expr = Expr(3);
    /// Every byte string but the empty one.
    const NON_EMPTY: Expr = Expr(4);

    /// The number of the expression.
    pub fn to_raw(self) -> u32 {
        self.0
    }
    /// The expression of a number that [`to_raw`](Self::to_raw) gave.
    pub fn from_raw(raw: u32) -> Self {
        Self(raw)
    }
}

/// Work or size beyond a bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OverLimit {
    /// More work than allowed to this question.
    Work,
    /// More expressions than the algebra may hold.
    Size,
}

/// One operation, as it is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Node<'a> {
    Nothing,
    Epsilon,
    /// One byte of the set, which is not empty.
    Set(ByteSet),
    /// At most [`LITERAL_MAX`] bytes, then the rest. One byte alone is a set.
    Literal(&'a [u8], Expr),
    Remainder(Remainder),
    Dfa(&'a dfa::Place),
    Values(&'a values::Place),
    Not(Expr),
    /// `u32::MAX` is without bound. Never once exactly.
    Repeat(Expr, u32, u32),
    /// The first is no concatenation and no literal.
    Concat(Expr, Expr),
    Or(&'a [Expr]),
    And(&'a [Expr]),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tag {
    Nothing,
    Epsilon,
    Set,
    Literal,
    Remainder,
    Dfa,
    Values,
    Not,
    Repeat,
    Concat,
    Or,
    And,
}

/// A node as it is stored: what `a`, `b`, `c` are depends on the tag.
#[derive(Clone, Copy, Debug)]
struct Cell {
    tag: Tag,
    flags: u8,
    a: u32,
    b: u32,
    c: u32,
    /// Bounds of the length in bytes of a match; `u32::MAX` is without bound (or beyond 32 bits).
    len_min: u32,
    len_max: u32,
}

const _: () = assert!(size_of::<Cell>() == 24);

/// The empty text matches.
const NULLABLE: u8 = 1;
/// Some text matches: by construction, or it was found out.
const POSITIVE: u8 = 2;
/// A bounded repetition stands in the outermost sequence.
const COUNTS: u8 = 4;

/// A large count stands in it, not within an intersection or a complement.
const LARGE: u8 = 8;

/// It was found out that no text matches.
const EMPTY: u8 = 16;

/// Some text is as long as the greatest length; where there is none, texts are longer than any bound.
const REACHED: u8 = 32;

/// A count that may be more than what a horizon reaches, and one of texts without bound, such as words, of which a token has few.
const LARGE_COUNT_MIN: u32 = 16;
const LARGE_COUNT_OF_WORDS_MIN: u32 = 3;

/// No bound of a repetition.
const MANY: u32 = u32::MAX;
/// Bytes of one literal node: what a derivative of it hashes.
const LITERAL_MAX: usize = 32;
/// Work that nobody pays for: so much, and this part of all other work, one in so many.
const UNPAID_MAX: u64 = 2_000_000;
const UNPAID_SHARE: u64 = 4;

/// Room for so many expressions is made at once at most: 30 MB of addresses.
const ROOM_MAX: usize = 1 << 20;

/// A growing set of expressions; equal ones (after simplification) have equal ids.
#[derive(Debug)]
pub struct Algebra {
    cells: Vec<Cell>,
    /// Expressions by what they are.
    ids: Ids,
    /// Bytes of the literals.
    text: Vec<u8>,
    /// Operands of unions and intersections.
    operands: Vec<Expr>,
    sets: Vec<ByteSet>,
    set_ids: FxHashMap<ByteSet, u32>,
    remainders: Vec<Remainder>,
    remainder_ids: FxHashMap<Remainder, u32>,
    dfas: Vec<dfa::Words>,
    places: Vec<dfa::Place>,
    /// How far numbers are read.
    values: Vec<values::Place>,
    tries: tries::Tries,
    partials: Vec<dfa::Partial>,
    partial_ids: FxHashMap<Box<[(u8, Expr)]>, u32>,
    /// Letters that lead on from states of automata, dropped when they are many.
    live_letters: FxHashMap<(u32, u128), ByteSet>,
    /// Whether all letters of automata are texts of expressions.
    letters_within: FxHashMap<(u32, Expr), bool>,
    /// How many letters texts have.
    lengths: letters::Lengths,
    known_words: words::KnownWords,
    short_texts: words::ShortTexts,
    behind_texts: words::BehindTexts,
    /// A search asks for the emptiness of a part.
    is_nested: bool,
    classes: FxHashMap<CharClass, Expr>,
    classes_of: derivative::ClassesOf,
    /// Derivatives, dropped when they are many.
    derivatives: FxHashMap<(Expr, u8), Expr>,
    /// Expressions whose emptiness search was given up, with the work it had.
    undecided: FxHashMap<Expr, u64>,
    /// For searches for what [is left out](horizon) of longer texts, too.
    closure: horizon::Allowance,
    witnesses: witnesses::Witnesses,
    turns: turns::Known,
    plainly_some: simplify::Answers,
    within: simplify::Answers,
    /// Whether the texts of the expression are a prefix code. Asked for operands of repetitions.
    codes: FxHashMap<Expr, bool>,
    /// Work ever done.
    work: u64,
    /// Work that was done for all who ask, and that nobody paid for.
    unpaid: u64,
    size_max: usize,
}

impl Algebra {
    /// An algebra that holds `size_max` expressions at most.
    pub fn new(size_max: usize) -> Self {
        let mut algebra = Self {
            cells: Vec::new(),
            ids: Ids::new(),
            text: Vec::new(),
            operands: Vec::new(),
            sets: Vec::new(),
            set_ids: FxHashMap::default(),
            remainders: Vec::new(),
            remainder_ids: FxHashMap::default(),
            dfas: Vec::new(),
            places: Vec::new(),
            values: Vec::new(),
            tries: tries::Tries::new(),
            partials: Vec::new(),
            partial_ids: FxHashMap::default(),
            live_letters: FxHashMap::default(),
            letters_within: FxHashMap::default(),
            lengths: letters::Lengths::default(),
            known_words: words::KnownWords::default(),
            short_texts: words::ShortTexts::default(),
            behind_texts: words::BehindTexts::default(),
            is_nested: false,
            classes: FxHashMap::default(),
            classes_of: derivative::ClassesOf::default(),
            derivatives: FxHashMap::default(),
            undecided: FxHashMap::default(),
            closure: horizon::Allowance::default(),
            witnesses: witnesses::Witnesses::default(),
            turns: turns::Known::default(),
            plainly_some: simplify::Answers::default(),
            within: simplify::Answers::default(),
            codes: FxHashMap::default(),
            work: 0,
            unpaid: 0,
            size_max,
        };
        let fixed = [
            algebra.intern(Node::Nothing),
            algebra.intern(Node::Epsilon),
            algebra.intern(Node::Set(ByteSet::ALL)),
            algebra.intern(Node::Repeat(Expr::ANY_BYTE, 0, MANY)),
            algebra.intern(Node::Repeat(Expr::ANY_BYTE, 1, MANY)),
        ];
        assert_eq!(fixed, [Expr::NOTHING, Expr::EPSILON, Expr::ANY_BYTE, Expr::ALL, Expr::NON_EMPTY]);
        algebra
    }

    /// Makes room for half of what it may hold, so that no list is copied while it grows. Cost: addresses; memory is taken where
    /// it is written.
    pub fn reserve(&mut self) {
        let room = ROOM_MAX.min(self.size_max / 2);
        self.cells.reserve(room);
        self.operands.reserve(room);
        self.text.reserve(room);
    }

    /// Size: the expressions, with four operands or 32 bytes of literals counted as one, and a state of an automaton or a
    /// place in numbers as two, a node of a trie of numbers as four.
    pub fn size(&self) -> usize {
        let places = self.places.len() + self.values.len();
        self.cells.len() + self.operands.len() / 4 + self.text.len() / 32 + places + 4 * self.tries.len()
    }
    /// All work that was ever done, in steps of about 20 ns.
    pub fn work(&self) -> u64 {
        self.work
    }
    /// The expression without the texts of another.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn without(&mut self, expr: Expr, other: Expr) -> Result<Expr, OverLimit> {
        self.check(u64::MAX)?;
        let not = self.not(other);
        Ok(self.and(vec![expr, not]))
    }
    /// The texts of both.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn intersection(&mut self, a: Expr, b: Expr) -> Result<Expr, OverLimit> {
        self.check(u64::MAX)?;
        Ok(self.and(vec![a, b]))
    }
    /// The texts of either.
    ///
    /// Errors: [`OverLimit::Size`]. Cost: linear in their operands.
    pub fn union(&mut self, a: Expr, b: Expr) -> Result<Expr, OverLimit> {
        self.check(u64::MAX)?;
        Ok(self.or(vec![a, b]))
    }
    /// All texts that begin with one of these bytes.
    ///
    /// Errors: [`OverLimit::Size`].
    pub fn beginning_with(&mut self, bytes: ByteSet) -> Result<Expr, OverLimit> {
        self.check(u64::MAX)?;
        let first = self.byte_set(bytes);
        Ok(self.concat(first, Expr::ALL))
    }
    /// One of some expressions, and any number of others behind it.
    ///
    /// Errors: [`OverLimit::Size`]. Cost: linear in their operands.
    pub fn before_some(&mut self, first: Vec<Expr>, others: Vec<Expr>) -> Result<Expr, OverLimit> {
        self.check(u64::MAX)?;
        let (first, other) = (self.or(first), self.or(others));
        let some = self.repeat(other, 0, MANY);
        Ok(self.concat(first, some))
    }
    /// No text has more bytes; `u32::MAX` is without bound.
    pub fn len_max(&self, expr: Expr) -> u32 {
        self.cell(expr).len_max
    }
    /// Whether the empty text matches.
    pub fn is_nullable(&self, expr: Expr) -> bool {
        self.cell(expr).flags & NULLABLE != 0
    }

    fn is_positive(&self, expr: Expr) -> bool {
        self.cell(expr).flags & POSITIVE != 0
    }
    /// Whether some text matches, if it is noted.
    fn noted_non_empty(&self, expr: Expr) -> Option<bool> {
        match self.cell(expr).flags & (POSITIVE | EMPTY) {
            0 => (expr == Expr::NOTHING).then_some(false),
            flags => Some(flags & POSITIVE != 0),
        }
    }
    fn note_non_empty(&mut self, expr: Expr, is_non_empty: bool) {
        self.cells[expr.0 as usize].flags |= if is_non_empty { POSITIVE } else { EMPTY };
    }
    fn counts(&self, expr: Expr) -> bool {
        self.cell(expr).flags & COUNTS != 0
    }
    fn cell(&self, expr: Expr) -> &Cell {
        &self.cells[expr.0 as usize]
    }
    fn pay(&mut self, work: usize) {
        self.work += work as u64;
    }
    /// What all will know, as an answer that is kept: who asks first does not pay for it, unless there were many of these already.
    fn unpaid<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.work;
        let answer = ask(self);
        let taken = self.work - before;
        if self.unpaid < UNPAID_MAX + before / UNPAID_SHARE {
            self.unpaid += taken;
            self.work = before;
        }
        answer
    }
    fn check(&self, work_max: u64) -> Result<(), OverLimit> {
        if self.size() > self.size_max {
            return Err(OverLimit::Size);
        }
        if self.work > work_max { Err(OverLimit::Work) } else { Ok(()) }
    }

    // Most who ask are after one or two kinds of node: in their place, what they do not ask for is not read.
    #[inline(always)]
    fn node(&self, expr: Expr) -> Node<'_> {
        self.view(self.cell(expr))
    }
    #[inline(always)]
    fn view(&self, cell: &Cell) -> Node<'_> {
        let range = |start: u32, len: u32| start as usize..start as usize + len as usize;
        match cell.tag {
            Tag::Nothing => Node::Nothing,
            Tag::Epsilon => Node::Epsilon,
            Tag::Set => Node::Set(self.sets[cell.a as usize]),
            Tag::Literal => Node::Literal(&self.text[range(cell.a, cell.b)], Expr(cell.c)),
            Tag::Remainder => Node::Remainder(self.remainders[cell.a as usize]),
            Tag::Dfa => Node::Dfa(&self.places[cell.a as usize]),
            Tag::Values => Node::Values(&self.values[cell.a as usize]),
            Tag::Not => Node::Not(Expr(cell.a)),
            Tag::Repeat => Node::Repeat(Expr(cell.a), cell.b, cell.c),
            Tag::Concat => Node::Concat(Expr(cell.a), Expr(cell.b)),
            Tag::Or => Node::Or(&self.operands[range(cell.a, cell.b)]),
            Tag::And => Node::And(&self.operands[range(cell.a, cell.b)]),
        }
    }
    fn tag(&self, expr: Expr) -> Tag {
        self.cell(expr).tag
    }
    /// The operands of a union or intersection.
    fn operands(&self, expr: Expr) -> &[Expr] {
        match self.node(expr) {
            Node::Or(parts) | Node::And(parts) => parts,
            _ => &[],
        }
    }

    fn intern(&mut self, node: Node) -> Expr {
        // The upper half is the better one.
        let hash = (hash_of(&node) >> 32) as u32;
        if let Some(id) = self.ids.find(hash, |id| self.node(Expr(id)) == node) {
            return Expr(id);
        }
        let cell = self.store(node);
        let id = u32::try_from(self.cells.len()).expect("the size is bounded");
        self.cells.push(cell);
        self.ids.insert(hash, id);
        Expr(id)
    }

    /// The cell of a new node, its lists appended to theirs.
    fn store(&mut self, node: Node) -> Cell {
        let (flags, len_min, len_max) = self.facts(&node);
        let (tag, a, b, c) = match node {
            Node::Nothing => (Tag::Nothing, 0, 0, 0),
            Node::Epsilon => (Tag::Epsilon, 0, 0, 0),
            Node::Set(set) => {
                let new = self.sets.len() as u32;
                let id = *self.set_ids.entry(set).or_insert(new);
                if id == new {
                    self.sets.push(set);
                }
                (Tag::Set, id, 0, 0)
            }
            Node::Literal(bytes, tail) => {
                let start = self.text.len() as u32;
                self.text.extend_from_slice(bytes);
                (Tag::Literal, start, bytes.len() as u32, tail.0)
            }
            Node::Remainder(remainder) => {
                let new = self.remainders.len() as u32;
                let id = *self.remainder_ids.entry(remainder).or_insert(new);
                if id == new {
                    self.remainders.push(remainder);
                }
                (Tag::Remainder, id, 0, 0)
            }
            Node::Dfa(place) => {
                // Only this node has it: a node is stored once.
                self.places.push(*place);
                (Tag::Dfa, self.places.len() as u32 - 1, 0, 0)
            }
            Node::Values(place) => {
                self.values.push(*place);
                (Tag::Values, self.values.len() as u32 - 1, 0, 0)
            }
            Node::Not(child) => (Tag::Not, child.0, 0, 0),
            Node::Repeat(child, min, max) => (Tag::Repeat, child.0, min, max),
            Node::Concat(first, rest) => (Tag::Concat, first.0, rest.0, 0),
            Node::Or(parts) | Node::And(parts) => {
                let start = self.operands.len() as u32;
                self.operands.extend_from_slice(parts);
                let tag = if matches!(node, Node::Or(_)) { Tag::Or } else { Tag::And };
                (tag, start, parts.len() as u32, 0)
            }
        };
        Cell { tag, flags, a, b, c, len_min, len_max }
    }

    /// Flags and lengths of a node.
    fn facts(&self, node: &Node) -> (u8, u32, u32) {
        let flag = |nullable: bool, positive: bool, counts: bool| {
            let positive = nullable || positive;
            let bit = |holds: bool, bit: u8| if holds { bit } else { 0 };
            bit(nullable, NULLABLE) | bit(positive, POSITIVE) | bit(counts, COUNTS)
        };
        let of = |expr: Expr| *self.cell(expr);
        let nullable = |expr: Expr| self.is_nullable(expr);
        let positive = |expr: Expr| self.is_positive(expr);
        match *node {
            Node::Nothing => (0, 0, 0),
            Node::Epsilon => (flag(true, true, false) | REACHED, 0, 0),
            Node::Set(_) => (flag(false, true, false) | REACHED, 1, 1),
            Node::Literal(bytes, tail) => {
                let len = bytes.len() as u32;
                let tail_cell = of(tail);
                let sum = |other: u32| len.saturating_add(other);
                let flags = flag(false, positive(tail), false) | tail_cell.flags & (LARGE | REACHED);
                (flags, sum(tail_cell.len_min), sum(tail_cell.len_max))
            }
            Node::Remainder(remainder) => {
                (flag(remainder.is_nullable(), true, false), u32::from(!remainder.is_nullable()), MANY)
            }
            Node::Dfa(place) => {
                let is_end = self.is_word_end(place);
                (flag(is_end, true, false), if is_end { 0 } else { self.word_rest_min(place).max(1) }, MANY)
            }
            Node::Values(place) => {
                let is_end = self.is_value(place);
                (flag(is_end, true, false), u32::from(!is_end), MANY)
            }
            Node::Not(child) => {
                let is_finite = of(child).len_max != MANY;
                let reached = if is_finite { REACHED } else { 0 };
                (flag(!nullable(child), is_finite, false) | reached, u32::from(nullable(child)), MANY)
            }
            Node::Repeat(child, min, max) => {
                let cell = of(child);
                let counts = max != MANY || min > 1;
                let len_max = if cell.len_max == 0 { 0 } else { cell.len_max.saturating_mul(max) };
                let nullable = min == 0 || nullable(child);
                let least = if cell.len_max == MANY { LARGE_COUNT_OF_WORDS_MIN } else { LARGE_COUNT_MIN };
                let is_large = min > least || max != MANY && max > least;
                let large = if is_large { LARGE } else { cell.flags & LARGE };
                let flags = flag(nullable, positive(child), counts) | large | cell.flags & REACHED;
                (flags, cell.len_min.saturating_mul(min), len_max)
            }
            Node::Concat(first, rest) => {
                let (a, b) = (of(first), of(rest));
                let both = a.flags & b.flags;
                let either = (a.flags | b.flags) & (COUNTS | LARGE);
                (
                    (both & !(COUNTS | LARGE)) | either,
                    a.len_min.saturating_add(b.len_min),
                    a.len_max.saturating_add(b.len_max),
                )
            }
            Node::Or(parts) => {
                let len_max = parts.iter().map(|&p| of(p).len_max).max().unwrap_or(0);
                let reached = parts.iter().filter(|&&p| of(p).len_max == len_max).fold(0, |f, &p| f | of(p).flags);
                let flags = flag(parts.iter().any(|&p| nullable(p)), parts.iter().any(|&p| positive(p)), false);
                let len_min = parts.iter().map(|&p| of(p).len_min).min().unwrap_or(0);
                (flags | reached & REACHED | self.large_of(parts), len_min, len_max)
            }
            Node::And(parts) => {
                let len_max = parts.iter().map(|&p| of(p).len_max).min().unwrap_or(MANY);
                let reached = if self.leaves_longest(parts, len_max) { POSITIVE | REACHED } else { 0 };
                let flags = flag(parts.iter().all(|&p| nullable(p)), false, false);
                let len_min = parts.iter().map(|&p| of(p).len_min).max().unwrap_or(0);
                (flags | reached | self.large_of(parts), len_min, len_max)
            }
        }
    }

    fn large_of(&self, parts: &[Expr]) -> u8 {
        parts.iter().fold(0, |flags, &part| flags | self.cell(part).flags & LARGE)
    }

    /// Whether an intersection with this greatest length has its longest texts: those of its one operand that is no
    /// complement, as the complements leave out shorter ones only. So are the names of an object but for the listed ones.
    fn leaves_longest(&self, parts: &[Expr], len_max: u32) -> bool {
        let mut others = 0;
        parts.iter().all(|&part| match self.node(part) {
            Node::Not(child) => self.cell(child).len_max < len_max,
            _ => {
                others += 1;
                others == 1 && self.cell(part).flags & REACHED != 0
            }
        })
    }
}

/// The constructors.
impl Algebra {
    fn byte_set(&mut self, set: ByteSet) -> Expr {
        self.pay(1);
        if set.is_empty() { Expr::NOTHING } else { self.intern(Node::Set(set)) }
    }

    /// These bytes, then the tail. All chunks but the first are full, so that the same text has the same chunks
    /// wherever it begins.
    fn literal(&mut self, bytes: &[u8], tail: Expr) -> Expr {
        if tail == Expr::NOTHING || bytes.is_empty() {
            return tail;
        }
        if let Node::Literal(more, after) = self.node(tail)
            && more.len() < LITERAL_MAX
        {
            let joined = [bytes, more].concat();
            return self.chunks(&joined, after);
        }
        if let (Node::Set(set), Some(byte)) = (self.node(tail), self.single(tail)) {
            debug_assert_eq!(set.len(), 1);
            let joined = [bytes, &[byte]].concat();
            return self.chunks(&joined, Expr::EPSILON);
        }
        self.chunks(bytes, tail)
    }
    fn chunks(&mut self, mut bytes: &[u8], mut tail: Expr) -> Expr {
        self.pay(2 + bytes.len() / LITERAL_MAX);
        if bytes.len() == 1 && tail == Expr::EPSILON {
            return self.byte_set(ByteSet::range(bytes[0], bytes[0]));
        }
        while bytes.len() > LITERAL_MAX {
            let (before, chunk) = bytes.split_at(bytes.len() - LITERAL_MAX);
            tail = self.intern(Node::Literal(chunk, tail));
            bytes = before;
        }
        self.intern(Node::Literal(bytes, tail))
    }
    /// The byte of a set of one.
    fn single(&self, expr: Expr) -> Option<u8> {
        match self.node(expr) {
            Node::Set(set) if set.len() == 1 => set.iter().next(),
            _ => None,
        }
    }

    fn not(&mut self, child: Expr) -> Expr {
        self.pay(1);
        match child {
            Expr::NOTHING => Expr::ALL,
            Expr::ALL => Expr::NOTHING,
            Expr::EPSILON => Expr::NON_EMPTY,
            Expr::NON_EMPTY => Expr::EPSILON,
            _ => match self.node(child) {
                Node::Not(inner) => inner,
                _ => self.intern(Node::Not(child)),
            },
        }
    }

    fn concat(&mut self, first: Expr, rest: Expr) -> Expr {
        self.pay(2);
        match (first, rest) {
            (Expr::NOTHING, _) | (_, Expr::NOTHING) => return Expr::NOTHING,
            (Expr::EPSILON, other) | (other, Expr::EPSILON) => return other,
            _ if !matches!(self.tag(first), Tag::Concat | Tag::Literal) => return self.before(first, rest),
            _ => {}
        }
        // The parts of `first`, then put before `rest` from its end.
        let mut parts: Vec<Expr> = Vec::new();
        let mut at = first;
        loop {
            self.pay(1);
            match self.node(at) {
                Node::Concat(head, tail) => {
                    parts.push(head);
                    at = tail;
                }
                Node::Literal(_, tail) => {
                    parts.push(at);
                    at = tail;
                }
                _ => {
                    parts.push(at);
                    break;
                }
            }
        }
        let mut built = rest;
        for part in parts.into_iter().rev() {
            built = match self.node(part) {
                Node::Epsilon => built,
                Node::Literal(bytes, _) => {
                    let mut buffer = [0; LITERAL_MAX];
                    let len = bytes.len();
                    buffer[..len].copy_from_slice(bytes);
                    self.literal(&buffer[..len], built)
                }
                _ => self.before(part, built),
            };
        }
        built
    }
    /// The first part of a sequence, which may be a literal, and what is behind it.
    fn split_first(&mut self, sequence: Expr) -> (Expr, Expr) {
        match self.node(sequence) {
            Node::Literal(bytes, tail) => {
                let bytes: SmallVec<[u8; LITERAL_MAX]> = bytes.into();
                (self.literal(&bytes, Expr::EPSILON), tail)
            }
            Node::Concat(first, tail) => (first, tail),
            _ => (sequence, Expr::EPSILON),
        }
    }
    /// `first`, which is neither a concatenation nor a literal, before `rest`.
    fn before(&mut self, first: Expr, rest: Expr) -> Expr {
        if rest == Expr::EPSILON {
            return first;
        }
        if let Some(joined) = self.join_counts(first, rest) {
            return joined;
        }
        if self.is_said_by(first, rest) {
            return rest;
        }
        match self.single(first) {
            Some(byte) => self.literal(&[byte], rest),
            None => self.intern(Node::Concat(first, rest)),
        }
    }

    /// Puts the operands of nested unions (or intersections) in their place, sorts, removes repeats.
    fn flatten(&mut self, tag: Tag, parts: &mut Vec<Expr>) {
        let is_nested = |part: &Expr| self.tag(*part) == tag;
        if parts.iter().any(is_nested) {
            parts.sort_unstable();
            parts.dedup();
            let mut flat = Vec::with_capacity(parts.len() * 2);
            for &part in parts.iter() {
                if self.tag(part) == tag { flat.extend_from_slice(self.operands(part)) } else { flat.push(part) }
            }
            *parts = flat;
        }
        self.pay(2 * parts.len());
        parts.sort_unstable();
        parts.dedup();
    }

    /// Replaces the sets of bytes by one.
    fn merge_sets(&mut self, parts: &mut Vec<Expr>, merge: impl Fn(ByteSet, &ByteSet) -> ByteSet) {
        let set_of = |this: &Self, part: Expr| match this.node(part) {
            Node::Set(set) => Some(set),
            _ => None,
        };
        let mut sets = parts.iter().filter_map(|&part| set_of(self, part));
        let Some(first) = sets.next() else { return };
        let Some(second) = sets.next() else { return };
        let merged = sets.fold(merge(first, &second), |all, set| merge(all, &set));
        parts.retain(|&part| self.tag(part) != Tag::Set);
        let merged = self.byte_set(merged);
        add(parts, merged);
    }

    fn or(&mut self, mut parts: Vec<Expr>) -> Expr {
        self.flatten(Tag::Or, &mut parts);
        if parts.first() == Some(&Expr::NOTHING) {
            parts.remove(0);
        }
        if parts.binary_search(&Expr::ALL).is_ok() || self.has_opposites(&parts, Tag::And) {
            return Expr::ALL;
        }
        if parts.len() > 1 {
            self.merge_sets(&mut parts, |a, b| a.union(b));
            self.unite_values(&mut parts);
            if parts[0] == Expr::EPSILON && parts[1..].iter().any(|&part| self.is_nullable(part)) {
                parts.remove(0);
            }
        }
        if parts.len() > 1 && parts.iter().any(|&part| self.may_contain(part)) {
            self.merge_counts(&mut parts);
            if parts.binary_search(&Expr::ALL).is_ok() {
                return Expr::ALL;
            }
        }
        match parts.as_slice() {
            [] => Expr::NOTHING,
            &[only] => only,
            &[Expr::EPSILON, other] => self.repeat(other, 0, 1),
            _ => self.intern(Node::Or(&parts)),
        }
    }

    fn and(&mut self, mut parts: Vec<Expr>) -> Expr {
        self.flatten(Tag::And, &mut parts);
        let forgets = self.forget_what_is_said(&mut parts) | self.forget_the_empty_text(&mut parts);
        if forgets {
            self.flatten(Tag::And, &mut parts);
        }
        if parts.first() == Some(&Expr::NOTHING) || self.has_opposites(&parts, Tag::Or) {
            return Expr::NOTHING;
        }
        parts.retain(|&part| part != Expr::ALL);
        if parts.len() > 1 {
            self.merge_sets(&mut parts, |a, b| a.intersect(b));
            self.merge_lengths(&mut parts);
            self.merge_remainders(&mut parts);
            self.subtract_values(&mut parts);
            self.drop_what_holds_words(&mut parts);
            let min = parts.iter().map(|&part| self.cell(part).len_min).max().unwrap_or(0);
            let max = parts.iter().map(|&part| self.cell(part).len_max).min().unwrap_or(MANY);
            if min > max || parts.first() == Some(&Expr::NOTHING) {
                return Expr::NOTHING;
            }
            if max == 0 {
                return if parts.iter().all(|&part| self.is_nullable(part)) { Expr::EPSILON } else { Expr::NOTHING };
            }
        }
        match parts.as_slice() {
            [] => Expr::ALL,
            &[only] => only,
            _ => self.intern(Node::And(&parts)),
        }
    }

    /// Of what a complement leaves out, the other operands need not be said again: `x & ~(x & y)` is `x & ~y`. True if there was some.
    fn forget_what_is_said(&mut self, parts: &mut [Expr]) -> bool {
        let mut said: SmallVec<[(usize, Vec<Expr>); 2]> = SmallVec::new();
        for (at, &part) in parts.iter().enumerate() {
            let Node::Not(child) = self.node(part) else { continue };
            let Node::And(operands) = self.node(child) else { continue };
            let is_new = |operand: &Expr| parts.binary_search(operand).is_err();
            if operands.len() <= parts.len() * 8 && !operands.iter().all(is_new) {
                said.push((at, operands.iter().copied().filter(is_new).collect()));
            }
        }
        let were_some = !said.is_empty();
        for (at, rest) in said {
            let rest = self.and(rest);
            parts[at] = self.not(rest);
        }
        were_some
    }

    /// In an intersection without the empty text, `x?` is `x`. True if there was some.
    fn forget_the_empty_text(&self, parts: &mut [Expr]) -> bool {
        if parts.iter().all(|&part| self.is_nullable(part)) {
            return false;
        }
        let mut were_some = false;
        for part in parts {
            if let Node::Repeat(child, 0, 1) = self.node(*part) {
                *part = child;
                were_some = true;
            }
        }
        were_some
    }

    /// Whether an operand and the complement of another exclude each other: `x` and `~x`, or `x` and `~(x | …)` where
    /// `inner` is [`Tag::Or`] (in an intersection), `x` and `~(x & …)` where it is [`Tag::And`] (in a union).
    fn has_opposites(&self, parts: &[Expr], inner: Tag) -> bool {
        parts.iter().any(|&part| match self.node(part) {
            Node::Not(child) => {
                let nested = if self.tag(child) == inner { self.operands(child) } else { &[] };
                parts.binary_search(&child).is_ok()
                    || nested.len() <= parts.len() * 8 && nested.iter().any(|child| parts.binary_search(child).is_ok())
            }
            _ => false,
        })
    }
}

/// Adds to a sorted list without repeats.
fn add(parts: &mut Vec<Expr>, part: Expr) {
    if let Err(at) = parts.binary_search(&part) {
        parts.insert(at, part);
    }
}
