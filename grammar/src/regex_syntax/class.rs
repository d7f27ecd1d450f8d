//! Character classes in brackets.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ast::{Ast, AstId};
use super::error::{RegexError, RegexLint};
use super::escape::Escape;
use super::parser::{Flags, Parser};
use super::{Dialect, unicode};
use crate::define_id;
use crate::index::IndexVec;
use crate::regex::{ByteSet, CharClass};

/// Characters, and with `allow_invalid_utf8` single bytes.
#[derive(Clone, Default)]
pub(super) struct Set {
    pub chars: CharClass,
    /// Bytes above 0x7F; those below are characters.
    pub bytes: ByteSet,
}

impl Set {
    fn union(&self, other: &Set) -> Set {
        Set { chars: self.chars.union(&other.chars), bytes: self.bytes.union(&other.bytes) }
    }
    fn intersect(&self, other: &Set) -> Set {
        Set { chars: self.chars.intersect(&other.chars), bytes: self.bytes.intersect(&other.bytes) }
    }
    fn without(&self, other: &Set) -> Set {
        Set { chars: self.chars.intersect(&other.chars.negate()), bytes: self.bytes.intersect(&other.bytes.negate()) }
    }
}

define_id! {
    /// The set of an escape.
    pub(super) struct SetId = "set";
}

/// An escape's text and the flags that its set depends on.
pub(super) type SetKey<'t> = (&'t str, [bool; 3]);

/// The sets of escapes (`\w`, `\p{L}`), each built once: they are large.
#[derive(Default)]
pub(super) struct Sets<'t> {
    sets: IndexVec<SetId, Set>,
    ids: FxHashMap<SetKey<'t>, SetId>,
    /// The nodes of those that stood outside of brackets.
    nodes: FxHashMap<SetId, AstId>,
    /// The nodes of classes in brackets, by their text and the flags `i`, `a` and `x`.
    classes: FxHashMap<SetKey<'t>, AstId>,
    /// The nodes of characters that have other cases, by the character and flag `a`.
    pub letters: FxHashMap<(char, bool), AstId>,
}

impl<'t> Sets<'t> {
    pub(super) fn find(&self, key: SetKey<'t>) -> Option<SetId> {
        self.ids.get(&key).copied()
    }
    pub(super) fn insert(&mut self, key: SetKey<'t>, set: Set) -> SetId {
        let id = self.sets.push(set);
        self.ids.insert(key, id);
        id
    }
}

/// The items of a class, collected.
#[derive(Default)]
struct Items {
    /// Single characters and ranges, which flag `i` widens.
    ranges: Vec<(u32, u32)>,
    bytes: ByteSet,
    /// Escapes.
    sets: Vec<SetId>,
    /// Nested classes.
    nested: Set,
}

impl Items {
    fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
    fn push(&mut self, c: char) {
        self.ranges.push((c as u32, c as u32));
    }
}

/// A class as it was read.
struct Body {
    /// Where its `[` stands.
    open: usize,
    negated: bool,
    /// What stands before the last of Rust's operators.
    left: Option<(Set, Operator)>,
    items: Items,
}

/// Rust's operators between sets.
#[derive(Clone, Copy)]
enum Operator {
    Intersection,
    Difference,
    SymmetricDifference,
}

const OPERATORS: [(&str, Operator); 3] =
    [("&&", Operator::Intersection), ("--", Operator::Difference), ("~~", Operator::SymmetricDifference)];

impl<'t> Parser<'t, '_, '_> {
    /// The node of the class that begins here.
    pub(super) fn class(&mut self) -> AstId {
        let body = match self.options.dialect {
            Dialect::Rust => self.rust_class(),
            Dialect::Python | Dialect::Ecma => self.plain_class(),
        };
        let Flags { ignore_case, ascii, verbose, .. } = self.flags;
        let key = (&self.text[body.open..self.at], [ignore_case, ascii, verbose]);
        // Of bytes, each mistake is reported anew.
        let known = !self.options.bytes && !self.flags.byte_wise && body.left.is_none();
        if known && let Some(&node) = self.sets.classes.get(&key) {
            return node;
        }
        let set = self.finish(body);
        let node = self.push_set(set);
        if known {
            self.sets.classes.insert(key, node);
        }
        node
    }

    /// Reports a class that takes all of the text. That a group around it is not closed, either, is its fault.
    fn unclosed_class(&mut self, open: usize) {
        self.error(RegexError::UnclosedClass, open..open + 1);
        self.has_open_class = true;
    }

    fn finish(&mut self, body: Body) -> Set {
        let right = self.collect(body.items);
        let set = combine(body.left, right);
        if body.negated { self.negate(set, body.open..self.at) } else { set }
    }

    /// A class of characters, ranges and escapes.
    fn plain_class(&mut self) -> Body {
        let open = self.at;
        self.at += 1;
        let negated = self.eat('^');
        let mut items = Items::default();
        if self.options.dialect == Dialect::Ecma && self.eat(']') {
            self.lint_empty(negated, open);
            return Body { open, negated, left: None, items };
        }
        let first = self.at;
        let mut linted = false;
        loop {
            let start = self.at;
            let Some(c) = self.peek() else {
                self.unclosed_class(open);
                break;
            };
            if c == ']' && start > first {
                self.at += 1;
                break;
            }
            linted = linted || self.lint_notation(start, start == first);
            let low = self.class_item(c);
            let low_end = self.at;
            linted = linted || self.rest().starts_with("--") && self.lint_notation(low_end, false);
            let mut after = self.rest().chars();
            if after.next() == Some('-') && after.next().is_some_and(|c| c != ']') {
                self.at += 1;
                let high_start = self.at;
                let high = self.peek().and_then(|c| self.class_item(c));
                self.add_range(&mut items, (low, start..low_end), (high, high_start..self.at));
            } else {
                self.add(&mut items, low, start..low_end);
            }
        }
        Body { open, negated, left: None, items }
    }

    /// A class with Rust's nesting and operators.
    fn rust_class(&mut self) -> Body {
        let open = self.at;
        if self.depth >= self.limits.grammar_depth_max {
            self.too_deep(open..open + 1);
            return Body { open, negated: false, left: None, items: Items::default() };
        }
        self.depth += 1;
        self.at += 1;
        self.skip_class_blank();
        let negated = self.eat('^');
        self.skip_class_blank();
        let mut items = Items::default();
        while self.eat('-') {
            items.push('-');
            self.skip_class_blank();
        }
        if items.is_empty() && self.eat(']') {
            items.push(']');
        }
        let mut left: Option<(Set, Operator)> = None;
        while !self.stopped {
            self.skip_class_blank();
            let Some(c) = self.peek() else {
                self.unclosed_class(open);
                break;
            };
            if c == ']' {
                self.at += 1;
                break;
            }
            if let Some(&(_, operator)) = OPERATORS.iter().find(|(text, _)| self.rest().starts_with(text)) {
                self.at += 2;
                let right = self.collect(std::mem::take(&mut items));
                left = Some((combine(left, right), operator));
            } else if c == '[' {
                let nested = match self.posix_class() {
                    Some(set) => set,
                    None => {
                        let body = self.rust_class();
                        self.finish(body)
                    }
                };
                self.charge(items.nested.chars.ranges().len() + nested.chars.ranges().len());
                items.nested = items.nested.union(&nested);
            } else {
                self.rust_item(c, &mut items);
            }
        }
        self.depth -= 1;
        Body { open, negated, left, items }
    }

    /// A character, an escape or a range.
    fn rust_item(&mut self, c: char, items: &mut Items) {
        let start = self.at;
        let low = self.class_item(c);
        let low_end = self.at;
        self.skip_class_blank();
        let hyphen = self.at;
        if self.eat('-') {
            self.skip_class_blank();
            match self.peek() {
                Some(c) if c != ']' && c != '-' => {
                    let high_start = self.at;
                    let high = self.class_item(c);
                    return self.add_range(items, (low, start..low_end), (high, high_start..self.at));
                }
                // A hyphen before `]`, or the operator `--`: read again.
                _ => self.at = hyphen,
            }
        }
        self.add(items, low, start..low_end);
    }

    /// `[:alpha:]` or `[:^alpha:]`, if it stands here.
    fn posix_class(&mut self) -> Option<Set> {
        let start = self.at;
        let name = posix_name(self.rest())?;
        let (negated, plain) = name.strip_prefix('^').map_or((false, name), |name| (true, name));
        let chars = unicode::posix(plain)?;
        self.at += name.len() + 4;
        let set = self.folded(Set { chars, bytes: ByteSet::EMPTY });
        Some(if negated { self.negate(set, start..self.at) } else { set })
    }

    /// With flag `x`, blanks in one of Rust's classes.
    fn skip_class_blank(&mut self) {
        let start = self.at;
        if self.skip_verbose() {
            self.report.lint(RegexLint::VerboseClass { ignored: true }, start..self.at);
        }
    }

    /// The item that begins with `c`; `None` after a mistake. Takes at least one character.
    fn class_item(&mut self, c: char) -> Option<Escape> {
        if c == '\\' {
            return self.escape(true);
        }
        let start = self.at;
        self.at += c.len_utf8();
        if self.flags.verbose && self.options.dialect != Dialect::Rust && (c.is_ascii_whitespace() || c == '#') {
            self.report.lint(RegexLint::VerboseClass { ignored: false }, start..self.at);
        }
        Some(Escape::Code(c as u32))
    }

    fn add(&mut self, items: &mut Items, item: Option<Escape>, at: Range<usize>) {
        match item {
            Some(Escape::Code(code)) if char::from_u32(code).is_none() => {
                self.error(RegexError::NotACharacter { code }, at);
            }
            Some(Escape::Code(code)) => items.ranges.push((code, code)),
            Some(Escape::Byte(byte)) => items.bytes.insert(byte),
            Some(Escape::Set(id)) => items.sets.push(id),
            Some(Escape::Anchor(_) | Escape::Boundary(_)) | None => {}
        }
    }

    fn add_range(
        &mut self,
        items: &mut Items,
        (low, low_at): (Option<Escape>, Range<usize>),
        (high, high_at): (Option<Escape>, Range<usize>),
    ) {
        let whole = low_at.start..high_at.end;
        match (low, high) {
            (Some(Escape::Code(low)), Some(Escape::Code(high))) if low <= high => {
                if (0xD800..0xE000).contains(&low) && (0xD800..0xE000).contains(&high) {
                    return self.error(RegexError::NotACharacter { code: low }, whole);
                }
                items.ranges.push((low, high));
            }
            (Some(Escape::Byte(low)), Some(Escape::Byte(high))) if low <= high => {
                items.bytes = items.bytes.union(&ByteSet::range(low, high));
            }
            (Some(Escape::Code(low @ ..0x80)), Some(Escape::Byte(high))) => {
                items.ranges.push((low, 0x7F));
                items.bytes = items.bytes.union(&ByteSet::range(0x80, high));
            }
            (Some(Escape::Code(_)), Some(Escape::Code(_)))
            | (Some(Escape::Byte(_)), Some(Escape::Byte(_)))
            | (Some(Escape::Byte(_)), Some(Escape::Code(..0x80))) => {
                let (from, to) = (self.text[low_at].to_owned(), self.text[high_at].to_owned());
                self.error(RegexError::RangeOrder { from, to }, whole);
            }
            (None, _) | (_, None) => {}
            (low, high) if self.options.dialect == Dialect::Ecma => {
                // As in ECMA-262 without the `u` flag, and in what people write: the hyphen is one.
                self.add(items, low, low_at);
                items.push('-');
                self.add(items, high, high_at);
            }
            (low, _) => {
                let at = if matches!(low, Some(Escape::Set(_))) { low_at } else { high_at };
                let item = self.text[at.clone()].to_owned();
                self.error(RegexError::ClassInRange { item }, at);
            }
        }
    }

    /// The union of the items, with other cases where flag `i` holds.
    fn collect(&mut self, mut items: Items) -> Set {
        items.sets.sort_unstable();
        items.sets.dedup();
        let touched: usize = items.sets.iter().map(|&id| self.sets.sets[id].chars.ranges().len()).sum();
        self.charge(touched + items.nested.chars.ranges().len() + items.ranges.len());
        let plain = Set { chars: CharClass::from_ranges(items.ranges), bytes: items.bytes };
        let plain = self.folded(plain);
        if items.sets.is_empty() && items.nested.chars.is_empty() {
            return plain.union(&items.nested);
        }
        let sets = items.sets.iter().map(|&id| &self.sets.sets[id]).chain([&plain, &items.nested]);
        let ranges = sets.clone().flat_map(|set| set.chars.ranges().iter().copied());
        let bytes = sets.fold(ByteSet::EMPTY, |all, set| all.union(&set.bytes));
        Set { chars: CharClass::from_ranges(ranges), bytes }
    }

    /// The set with the other cases of its characters, where flag `i` holds.
    pub(super) fn folded(&mut self, set: Set) -> Set {
        if !self.flags.ignore_case {
            return set;
        }
        // A wide range has at most the 3,000 characters that have cases, which take longer than ranges.
        self.charge(set.chars.ranges().iter().map(|&(low, high)| 10 * (high - low + 1).min(3_000) as usize).sum());
        Set { chars: unicode::fold(&set.chars, self.options.dialect, self.flags.ascii), ..set }
    }

    /// Counts ranges touched to build classes that were not built before. Classes are short to write and long to build, so that the regex's length bounds nothing:
    /// twenty ranges for each node are, which takes about a second.
    fn charge(&mut self, ranges: usize) {
        let limit = self.limits.regex_nodes_max;
        self.class_work = self.class_work.saturating_add(ranges);
        if self.class_work / 20 > limit && !self.stopped {
            self.error(RegexError::TooManyNodes { limit }, 0..0);
            self.stopped = true;
        }
    }

    /// All other characters; with `allow_invalid_utf8` all other bytes.
    pub(super) fn negate(&mut self, set: Set, at: Range<usize>) -> Set {
        if self.flags.byte_wise {
            let item = self.text[at.clone()].to_owned();
            self.error(RegexError::BytesNotAllowed { item }, at);
            return set;
        }
        if !self.options.bytes {
            return Set { chars: set.chars.negate(), bytes: ByteSet::EMPTY };
        }
        if set.chars.ranges().last().is_some_and(|&(_, high)| high >= 0x80) {
            let item = self.text[at.clone()].to_owned();
            self.error(RegexError::NotOneByte { item }, at);
            return set;
        }
        let ascii = CharClass::from_ranges([(0, 0x7F)]);
        let bytes = set.bytes.negate().intersect(&ByteSet::range(0x80, 0xFF));
        Set { chars: set.chars.negate().intersect(&ascii), bytes }
    }

    /// The node of an escape's set.
    pub(super) fn set_node(&mut self, id: SetId) -> AstId {
        if let Some(&node) = self.sets.nodes.get(&id) {
            return node;
        }
        let node = self.push_set(self.sets.sets[id].clone());
        self.sets.nodes.insert(id, node);
        node
    }

    /// A node for one character or byte of the set.
    pub(super) fn push_set(&mut self, set: Set) -> AstId {
        if set.bytes.is_empty() {
            return self.tree.push(Ast::Class(set.chars));
        }
        let ascii = set.chars.intersect(&CharClass::from_ranges([(0, 0x7F)]));
        let low = ascii.ranges().iter().map(|&(low, high)| ByteSet::range(low as u8, high as u8));
        let bytes = self.tree.push(Ast::Bytes(low.fold(set.bytes, |all, one| all.union(&one))));
        let wide = set.chars.intersect(&CharClass::from_ranges([(0x80, 0x10FFFF)]));
        if wide.is_empty() {
            return bytes;
        }
        let wide = self.tree.push(Ast::Class(wide));
        self.tree.or(vec![bytes, wide])
    }

    /// Warns of what Rust reads as an operator, if it stands at `at`; whether it does.
    fn lint_notation(&mut self, at: usize, first: bool) -> bool {
        let rest = &self.text[at..];
        let posix = || {
            let name = posix_name(rest)?;
            unicode::posix(name.strip_prefix('^').unwrap_or(name)).map(|_| name.len() + 4)
        };
        let operator = OPERATORS.iter().any(|(text, _)| rest.starts_with(text)) && !(first && rest.starts_with("--"));
        let Some(len) = posix().or(operator.then_some(2)) else { return false };
        let notation = rest[..len].to_owned();
        self.report.lint(RegexLint::ClassNotation { notation }, at..at + len);
        true
    }

    /// Warns of ECMA's `[]` and `[^]` where other dialects would read a class.
    fn lint_empty(&mut self, negated: bool, open: usize) {
        if self.rest().contains(']') {
            self.report.lint(RegexLint::EmptyEcmaClass { negated }, open..self.at);
        }
    }
}

/// What stands between `[:` and `:]`, if `text` begins so; no class has a long name.
fn posix_name(text: &str) -> Option<&str> {
    let body = text.strip_prefix("[:")?;
    let len = body.bytes().take(10).take_while(|&b| b == b'^' || b.is_ascii_alphabetic()).count();
    body[len..].starts_with(":]").then(|| &body[..len])
}

fn combine(left: Option<(Set, Operator)>, right: Set) -> Set {
    match left {
        None => right,
        Some((left, Operator::Intersection)) => left.intersect(&right),
        Some((left, Operator::Difference)) => left.without(&right),
        Some((left, Operator::SymmetricDifference)) => left.without(&right).union(&right.without(&left)),
    }
}
