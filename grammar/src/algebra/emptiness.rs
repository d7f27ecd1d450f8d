//! Whether an expression matches some text: a best-first search over derivatives.
//!
//! Only intersections and complements need one; the rest is decided by its parts. States nearest to a match by the least
//! length of what is left come first where their parts have the least left in sum, in turns with those on the way to the
//! shortest text, which finds a text of most intersections at once; what has none is walked in full, or found to have none
//! without the lengths that it is bound to.
//! Differs from `derivre`'s search over symbolic derivatives: those of an intersection are the product of its operands',
//! which takes 38 s and 0.9 GB for fifteen times `[ab]*a[ab]{k}`; here one derivative is taken for each class of bytes.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use super::witnesses::KEPT_BYTES_MAX;
use super::{Algebra, Expr, MANY, Node, OverLimit, Tag};
use crate::regex::ByteSet;

/// Ways into which an intersection of unions is taken apart at most.
const WAYS_MAX: usize = 64;

/// Work to find out whether a part of an intersection is empty.
const NESTED_WORK_MAX: u64 = 50_000;

/// When a search asks whether there is a text without bounds of lengths, and of how many letters: after so much work, with so much for
/// a table of letters. Many searches are over before a large one would be worth it.
const ASKS: [(u64, u64); 2] = [(20_000, 40_000), (200_000, 3_000_000)];

/// Work after which it is asked whether what the search begins with [lacks bytes](Algebra::lacks_bytes).
const LACK_AFTER: u64 = 50;

/// Counts from here on are bounds of lengths, with which a search finds many states.
const BOUND_MIN: u32 = 8;

/// Classes of bytes that wait where one leads nearer to an end, at least: letters of Unicode have hundreds, where patterns and numbers
/// have a dozen, of which a complement or a remainder may want any.
const CLASSES_LEFT_MIN: usize = 32;

/// States to look at, in two orders: the least length of a text through them, as A* has it (P. Hart, N. Nilsson, B. Raphael, 1968), and
/// the least length of what is left, then its sum over an intersection's parts. Either order may go astray where the other is at
/// the end at once: many patterns in one text need the sum; complements and remainders, of which little is known, and parts
/// that exclude each other while both go on, the breadth.
#[derive(Default)]
struct Frontier {
    by_text: BinaryHeap<Reverse<(u32, u32, usize, Expr)>>,
    by_sum: BinaryHeap<Reverse<(u32, u32, usize, Expr)>>,
    is_odd: bool,
}

/// How a search came to a state, and how far it has gone on from there.
struct Found {
    /// The state before, and the byte that led from it; the root's is itself.
    from: Expr,
    byte: u8,
    /// Bytes read.
    depth: u32,
    /// States that were found before.
    order: usize,
    /// Classes of bytes that are left to be read. `None`: none was.
    left: Option<std::vec::IntoIter<ByteSet>>,
}

impl Frontier {
    fn push(&mut self, len_min: u32, sum: u32, found: &Found, state: Expr) {
        self.by_text.push(Reverse((found.depth.saturating_add(len_min), len_min, found.order, state)));
        self.by_sum.push(Reverse((len_min, sum, found.order, state)));
    }
    fn pop(&mut self) -> Option<Expr> {
        self.is_odd = !self.is_odd;
        let heap = if self.is_odd { &mut self.by_text } else { &mut self.by_sum };
        heap.pop().map(|entry| entry.0.3)
    }
}

impl Algebra {
    /// Whether the expression matches some text.
    ///
    /// Errors: [`OverLimit::Work`] if `work` steps do not decide, [`OverLimit::Size`].
    pub fn is_non_empty(&mut self, expr: Expr, work: u64) -> Result<bool, OverLimit> {
        if let Some(known) = self.known_non_empty(expr) {
            return Ok(known);
        }
        if self.undecided.get(&expr).is_some_and(|&spent| spent >= work) {
            return Err(OverLimit::Work);
        }
        let begun = self.work;
        let answer = self.search(expr, self.work.saturating_add(work));
        if !self.is_nested && self.work - begun > ASKS[0].0 {
            self.lengths.missed += self.work - begun;
        }
        match answer {
            Ok(answer) => self.note_non_empty(expr, answer),
            Err(_) => {
                self.undecided.insert(expr, work);
            }
        }
        answer
    }

    /// What is known without a search.
    fn known_non_empty(&mut self, expr: Expr) -> Option<bool> {
        if let Some(known) = self.noted_non_empty(expr) {
            return Some(known);
        }
        let answer = match self.node(expr) {
            Node::And(_) => {
                let known = self.known_text(expr).map(|_| true);
                let known = known.or_else(|| self.has_multiple(expr)).or_else(|| self.has_word(expr, None));
                known.or_else(|| self.has_text_of_letters(expr))?
            }
            _ => return None,
        };
        self.note_non_empty(expr, answer);
        Some(answer)
    }

    fn search(&mut self, root: Expr, work_max: u64) -> Result<bool, OverLimit> {
        let mut found: FxHashMap<Expr, Found> = FxHashMap::default();
        let mut frontier = Frontier::default();
        let mut wholes = Vec::new();
        if self.reach((root, 0, root), &mut found, &mut frontier, Some(&mut wholes), work_max) {
            return Ok(true);
        }
        let mut roots: Vec<Expr> = found.keys().copied().collect();
        roots.sort_unstable();
        wholes.sort_unstable();
        let started = self.work;
        let mut asks = ASKS.iter().peekable();
        let mut is_asked = false;
        while let Some(state) = frontier.pop() {
            // Most of what has a text is near one.
            if !is_asked && self.work - started > LACK_AFTER {
                is_asked = true;
                roots.retain(|&root| !self.lacks_bytes(root));
                if roots.is_empty() {
                    break;
                }
            }
            if let Some((_, table_work)) = asks.next_if(|(after, _)| self.work - started > *after)
                && !self.is_nested
                && let Some(answer) = self.any_counted((&wholes, &roots), *table_work)
            {
                if answer {
                    return Ok(true);
                }
                break;
            }
            let at = found.get_mut(&state).expect("what is in the frontier was found");
            let mut classes = match at.left.take() {
                Some(left) => left,
                None => self.first_classes(state, work_max)?.into_iter(),
            };
            // As soon as one byte leads nearer to an end, the search goes there; the others wait if they are many.
            let (near, before) = (self.cell(state).len_min, found.len());
            while let Some(class) = classes.next() {
                let byte = class.iter().next().expect("classes are not empty");
                let next = self.derivative(state, byte, work_max)?;
                if next != Expr::NOTHING && self.reach((state, byte, next), &mut found, &mut frontier, None, work_max) {
                    return Ok(true);
                }
                self.pay(4);
                self.check(work_max)?;
                let is_nearer = found.len() > before && self.cell(next).len_min < near;
                if is_nearer && classes.len() >= CLASSES_LEFT_MIN {
                    self.wait(state, &found, &mut frontier);
                    break;
                }
            }
            found.get_mut(&state).expect("as before").left = Some(classes);
        }
        found.into_keys().for_each(|state| self.note_non_empty(state, false));
        Ok(false)
    }

    /// Whether one of the intersections that a search begins with has a text, by what their bounds of lengths say, or by all but what
    /// they leave out.
    fn any_counted(&mut self, (wholes, roots): (&[Expr], &[Expr]), table_work: u64) -> Option<bool> {
        let is_empty = |this: &mut Self, root| {
            this.is_empty_without(root, Self::is_bound)
                || this.is_empty_without(root, |this, part| this.tag(part) == Tag::Not)
        };
        if roots.iter().all(|&root| is_empty(self, root)) {
            return Some(false);
        }
        // Before they are taken apart: one table in place of one for each of the ways.
        if wholes != roots {
            let answers = wholes.iter().map(|&whole| self.count_letters(whole, table_work));
            if let Some(answer) = any_known(answers) {
                return Some(answer);
            }
        }
        // Few letters are counted in the table of many. Where one table is too dear, the others are hardly cheaper.
        for &root in roots {
            if self.is_worth_a_table(root) {
                match self.count_letters(root, table_work) {
                    Some(true) => return Some(true),
                    Some(false) => {}
                    None => break,
                }
            }
        }
        let mut are_known = true;
        for &root in roots {
            match self.has_text_of_letters(root) {
                Some(true) => return Some(true),
                answer => are_known &= answer.is_some(),
            }
        }
        are_known.then_some(false)
    }

    /// Adds what `next` consists of to the frontier, as reached from `from` by a byte; true if one of it is known to have a text.
    fn reach(
        &mut self,
        (from, byte, next): (Expr, u8, Expr),
        found: &mut FxHashMap<Expr, Found>,
        frontier: &mut Frontier,
        wholes: Option<&mut Vec<Expr>>,
        work_max: u64,
    ) -> bool {
        let mut open = Vec::new();
        if self.split(next, &mut open, wholes, work_max) {
            self.mark_non_empty((from, byte, next), found);
            return true;
        }
        if found.is_empty() {
            // What the search begins with.
            for state in std::mem::take(&mut open) {
                match self.has_word(state, Some(work_max.saturating_sub(self.work))) {
                    Some(true) => return true,
                    Some(false) => self.note_non_empty(state, false),
                    None => open.push(state),
                }
            }
        }
        let depth = found.get(&from).map_or(0, |before| before.depth + 1);
        for state in open {
            let order = found.len();
            if let Entry::Vacant(entry) = found.entry(state) {
                entry.insert(Found { from, byte, depth, order, left: None });
                self.wait(state, found, frontier);
            }
        }
        false
    }

    /// Adds a state to the frontier.
    fn wait(&self, state: Expr, found: &FxHashMap<Expr, Found>, frontier: &mut Frontier) {
        let sum = self.operands(state).iter().map(|&part| self.cell(part).len_min).fold(0, u32::saturating_add);
        frontier.push(self.cell(state).len_min, sum, &found[&state], state);
    }

    /// Notes that a byte leads from a state to something that has a text, and what led there.
    fn mark_non_empty(&mut self, (mut state, mut byte, next): (Expr, u8, Expr), found: &FxHashMap<Expr, Found>) {
        let mut text = if next == state { None } else { self.known_text(next).map(Vec::from) };
        loop {
            self.note_non_empty(state, true);
            text = text.filter(|text| text.len() < KEPT_BYTES_MAX);
            if let Some(text) = &mut text {
                text.insert(0, byte);
                self.keep_text(state, text);
            }
            match found.get(&state) {
                Some(before) if before.from != state => (state, byte) = (before.from, before.byte),
                _ => return,
            }
        }
    }

    /// Adds to `open` expressions of which one has a text exactly if `expr` has; true if one is known to have. Past `work_max` they
    /// are taken as they are. The same holds of `wholes`, in which intersections are not [`distributed`](Self::distributed).
    fn split(&mut self, expr: Expr, open: &mut Vec<Expr>, mut wholes: Option<&mut Vec<Expr>>, work_max: u64) -> bool {
        // Each with whether it is a way of an intersection.
        let mut stack = vec![(expr, false)];
        let mut add_whole = |whole, is_way: bool| {
            if let Some(wholes) = wholes.as_mut().filter(|_| !is_way) {
                wholes.push(whole);
            }
        };
        while let Some((top, is_way)) = stack.pop() {
            if self.work > work_max {
                add_whole(top, is_way);
                open.push(top);
                continue;
            }
            self.pay(1);
            match self.known_non_empty(top) {
                Some(true) => return true,
                Some(false) => continue,
                None => {}
            }
            // Automata tell many more bytes apart than patterns and lengths, so that a search through both takes long to find
            // out what these say by themselves.
            if self.is_outside_itself(top) || self.is_empty_without(top, |this, part| this.tag(part) == Tag::Dfa) {
                self.note_non_empty(top, false);
                continue;
            }
            let next = match self.node(top) {
                Node::Or(parts) => {
                    stack.extend(parts.iter().map(|&part| (part, is_way)));
                    continue;
                }
                Node::And(_) => None,
                Node::Repeat(child, ..) | Node::Literal(_, child) => Some(child),
                Node::Concat(..) => match self.doubtful_part(top) {
                    Doubt::One(part) => Some(part),
                    Doubt::Several => None,
                    Doubt::None => return true,
                    Doubt::Empty => continue,
                },
                _ => None,
            };
            if let Some(next) = next {
                stack.push((next, is_way));
                continue;
            }
            add_whole(top, is_way);
            match self.distributed(top) {
                Some(ways) => stack.extend(ways.into_iter().map(|way| (way, true))),
                None => open.push(top),
            }
        }
        false
    }

    /// Whether it is an intersection that is empty, also without its parts of a kind.
    fn is_empty_without(&mut self, intersection: Expr, is_left_out: impl Fn(&Self, Expr) -> bool) -> bool {
        if self.is_nested || self.tag(intersection) != Tag::And {
            return false;
        }
        let parts = self.operands(intersection);
        let others: Vec<Expr> = parts.iter().copied().filter(|&part| !is_left_out(self, part)).collect();
        if others.len() == parts.len() || others.len() < 2 {
            return false;
        }
        let others = self.and(others);
        self.is_nested = true;
        let answer = self.is_non_empty(others, NESTED_WORK_MAX);
        self.is_nested = false;
        answer == Ok(false)
    }

    /// Whether it is a bound of lengths, such as `maxLength: 254` beside a pattern, and what its derivatives begin with.
    pub(super) fn is_bound(&self, part: Expr) -> bool {
        let head = match self.node(part) {
            Node::Concat(_, tail) => tail,
            _ => part,
        };
        matches!(self.node(head), Node::Repeat(_, min, max) if min >= BOUND_MIN || max >= BOUND_MIN && max != MANY)
    }

    /// An intersection with unions as the intersections of their operands: a walk over pairs of ways instead of pairs
    /// of sets of ways, of which there may be exponentially many. `None` if there is no union or too many ways.
    fn distributed(&mut self, intersection: Expr) -> Option<Vec<Expr>> {
        let Node::And(parts) = self.node(intersection) else { return None };
        let parts = parts.to_vec();
        let mut ways_count = 1usize;
        for &part in parts.iter().filter(|&&part| self.tag(part) == Tag::Or) {
            ways_count = ways_count.saturating_mul(self.operands(part).len());
        }
        if ways_count == 1 || ways_count > WAYS_MAX {
            return None;
        }
        let at = parts.iter().position(|&part| self.tag(part) == Tag::Or)?;
        let choices = self.operands(parts[at]).to_vec();
        self.pay(choices.len() * parts.len());
        let with = |this: &mut Self, choice: Expr| {
            let mut one = parts.clone();
            one[at] = choice;
            this.and(one)
        };
        Some(choices.into_iter().map(|choice| with(self, choice)).collect())
    }

    /// Which part of a sequence decides whether it has a text.
    fn doubtful_part(&mut self, sequence: Expr) -> Doubt {
        let mut doubtful = None;
        let mut at = sequence;
        loop {
            self.pay(1);
            let (head, tail) = match self.node(at) {
                Node::Concat(head, tail) => (head, tail),
                Node::Literal(_, tail) => (Expr::EPSILON, tail),
                _ => (at, Expr::EPSILON),
            };
            match self.known_non_empty(head) {
                Some(true) => {}
                Some(false) => return Doubt::Empty,
                None if doubtful.is_some() => return Doubt::Several,
                None => doubtful = Some(head),
            }
            if tail == Expr::EPSILON {
                return doubtful.map_or(Doubt::None, Doubt::One);
            }
            at = tail;
        }
    }
}

/// Whether one of some answers is yes; `None` at the first that is not known.
fn any_known(answers: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    for answer in answers {
        if answer? {
            return Some(true);
        }
    }
    Some(false)
}

/// Whether a sequence has a text.
enum Doubt {
    /// It has.
    None,
    /// It has not.
    Empty,
    /// It has if this part has.
    One(Expr),
    /// Several parts are in doubt.
    Several,
}
