//! Regex text to a [`Tree`]: alternatives, sequences, quantifiers. Groups, classes and escapes are in files of their own.
//!
//! Recursive over groups and nested classes, as deep as `grammar_depth_max`. A mistake is reported and stands for the
//! empty text, so that the next one is found, too.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ast::{Anchor, Ast, AstId, Tree};
use super::class::{Set, Sets};
use super::error::{RegexError, RegexLint, Report};
use super::escape::Escape;
use super::{Dialect, RegexOptions, unicode};
use crate::limits::Limits;
use crate::regex::{ByteSet, CharClass};

/// A part of a regex is repeated in a message up to this length in bytes.
const SHOWN_MAX: usize = 40;

/// The flags that hold at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flags {
    pub ignore_case: bool,
    pub multi_line: bool,
    pub dot_all: bool,
    pub verbose: bool,
    pub ascii: bool,
    /// Rust's `U`: quantifiers are lazy unless `?` follows.
    pub swap_greed: bool,
    /// Rust's `R`: `.` does not match `\r` either.
    pub crlf: bool,
    /// Rust's `-u` in a grammar of characters.
    pub byte_wise: bool,
}

/// What stands at one place of a sequence.
pub(super) enum Item {
    /// Bytes to match.
    Literal(Vec<u8>),
    /// Anything else.
    Node(AstId),
    /// Flags, or a mistake that stands for nothing.
    Nothing,
}

/// `*`, `+`, `?` or `{m,n}`.
struct Quantifier {
    min: u32,
    max: Option<u32>,
    lazy: bool,
    range: Range<usize>,
}

/// A count as it is written.
struct Count<'t> {
    min: &'t str,
    /// `None` if there is no comma.
    max: Option<&'t str>,
    end: usize,
}

pub(super) struct Parser<'t, 'r, 'm> {
    pub text: &'t str,
    pub at: usize,
    pub options: &'t RegexOptions,
    pub limits: &'t Limits,
    pub report: &'r mut Report<'m>,
    pub tree: Tree,
    pub flags: Flags,
    /// Groups and classes around this place.
    pub depth: usize,
    /// Where each group's name stands.
    pub names: FxHashMap<&'t str, Range<usize>>,
    /// The sets of the escapes so far.
    pub sets: Sets<'t>,
    /// Ranges of characters touched to build classes.
    pub class_work: usize,
    /// A limit was met; going on makes no sense.
    pub stopped: bool,
    /// A class took the rest of the text.
    pub has_open_class: bool,
}

/// The tree of a regex; its root is missing if a limit was met.
pub(super) fn parse(text: &str, options: &RegexOptions, limits: &Limits, report: &mut Report) -> Tree {
    if text.len() > limits.source_bytes_max {
        let error = RegexError::TooLong { limit: limits.source_bytes_max, used: text.len() };
        report.error(error, 0..0);
        return Tree::default();
    }
    let flags = Flags {
        ignore_case: options.ignore_case,
        multi_line: options.multi_line,
        dot_all: options.dot_all,
        verbose: options.verbose,
        ascii: options.ascii || options.bytes,
        swap_greed: false,
        crlf: false,
        byte_wise: false,
    };
    let names = FxHashMap::default();
    let tree = Tree::default();
    let mut parser = Parser {
        text,
        at: 0,
        options,
        limits,
        report,
        tree,
        flags,
        depth: 0,
        names,
        sets: Sets::default(),
        class_work: 0,
        stopped: false,
        has_open_class: false,
    };
    let mut pieces = vec![parser.alternatives(true)];
    // Only a `)` too many stops the alternatives before the end.
    while !parser.stopped && parser.at < text.len() {
        parser.error(RegexError::UnmatchedParenthesis, parser.at..parser.at + 1);
        parser.at += 1;
        pieces.push(parser.alternatives(false));
    }
    if (options.dialect == Dialect::Ecma || options.alone)
        && let Some(meant) = between_slashes(text, options.alone)
    {
        parser.report.lint(RegexLint::Slashes { meant }, 0..text.len());
    }
    let root = parser.tree.concat(pieces);
    parser.tree.root = (!parser.stopped).then_some(root);
    parser.tree
}

impl<'t> Parser<'t, '_, '_> {
    /// Alternatives up to a `)` or the end.
    pub(super) fn alternatives(&mut self, outermost: bool) -> AstId {
        let mut branches = Vec::new();
        loop {
            let first = outermost && branches.is_empty();
            branches.push(self.sequence(first));
            if self.stopped || !self.eat('|') {
                return self.tree.or(branches);
            }
        }
    }

    /// Items up to a `|`, a `)` or the end. `first`: at the start of the regex.
    fn sequence(&mut self, first: bool) -> AstId {
        let mut parts: Vec<AstId> = Vec::new();
        let mut run: Vec<u8> = Vec::new();
        loop {
            self.skip_blank();
            self.stopped |= self.report.is_full();
            if self.tree.nodes.len() > self.limits.regex_nodes_max {
                self.error(RegexError::TooManyNodes { limit: self.limits.regex_nodes_max }, 0..0);
                self.stopped = true;
            }
            let c = match self.peek() {
                Some(c) if !self.stopped && !matches!(c, '|' | ')') => c,
                _ => break,
            };
            let start = self.at;
            if c == '{' && !(parts.is_empty() && run.is_empty()) {
                self.unclosed_count();
            }
            let item = self.item(c, first && parts.is_empty() && run.is_empty());
            self.skip_blank();
            let mut quantifier = if matches!(item, Item::Nothing) { None } else { self.quantifier() };
            match item {
                Item::Nothing => {}
                Item::Literal(bytes) if quantifier.is_none() => run.extend_from_slice(&bytes),
                Item::Literal(_) | Item::Node(_) => {
                    self.flush(&mut run, &mut parts);
                    let mut node = match item {
                        Item::Literal(bytes) => self.tree.literal(&bytes),
                        Item::Node(node) => node,
                        Item::Nothing => continue,
                    };
                    if let Some(quantifier) = quantifier.take() {
                        node = self.quantified(node, start, quantifier);
                    }
                    parts.push(node);
                }
            }
        }
        self.flush(&mut run, &mut parts);
        self.tree.concat(parts)
    }

    /// Warns of `{2,` behind something that could be repeated, where Python takes the brace for a character.
    fn unclosed_count(&mut self) {
        let (start, rest) = (self.at, &self.text[self.at + 1..]);
        let len = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
        let is_count = rest.starts_with(|c: char| c.is_ascii_digit()) && !rest[len..].starts_with('}');
        if is_count && self.options.dialect == Dialect::Python && !self.text[..start].ends_with('^') {
            let count = shown(&self.text[start..start + 1 + len]).to_owned();
            self.report.lint(RegexLint::UnclosedCount { count }, start..start + 1 + len);
        }
    }

    /// Makes the literal bytes so far a part.
    fn flush(&mut self, run: &mut Vec<u8>, parts: &mut Vec<AstId>) {
        if !run.is_empty() {
            parts.push(self.tree.literal(run));
            run.clear();
        }
    }

    /// The item that begins with `c`. Takes at least one character.
    fn item(&mut self, c: char, first: bool) -> Item {
        let start = self.at;
        match c {
            '(' => self.group(first),
            '[' => Item::Node(self.class()),
            '.' => {
                self.at += 1;
                let set = self.dot(start..self.at);
                Item::Node(self.push_set(set))
            }
            '^' | '$' => {
                self.at += 1;
                Item::Node(self.anchor(line_anchor(c, self.flags, self.options.dialect), start..self.at))
            }
            '\\' => match self.escape(false) {
                Some(Escape::Code(code)) => self.character(code, start..self.at),
                Some(Escape::Byte(byte)) => Item::Literal(vec![byte]),
                Some(Escape::Set(id)) => Item::Node(self.set_node(id)),
                Some(Escape::Anchor(anchor)) => Item::Node(self.anchor(anchor, start..self.at)),
                Some(Escape::Boundary(negated)) => {
                    let word = unicode::perl(unicode::Perl::Word, self.options.dialect, self.flags.ascii);
                    Item::Node(self.tree.push(Ast::Boundary { negated, word, span: start..self.at }))
                }
                None => Item::Node(self.tree.push(Ast::Empty)),
            },
            '*' | '+' | '?' | '{' => match self.quantifier() {
                Some(quantifier) => {
                    let operator = self.text[quantifier.range.clone()].to_owned();
                    self.error(RegexError::NothingToRepeat { operator }, quantifier.range);
                    Item::Nothing
                }
                None => {
                    // A brace that begins no count.
                    self.at += 1;
                    if self.options.dialect == Dialect::Rust {
                        self.error(RegexError::BadCount, start..self.at);
                    }
                    Item::Literal(vec![b'{'])
                }
            },
            _ => {
                self.at += c.len_utf8();
                self.character(c as u32, start..self.at)
            }
        }
    }

    /// One character, with its other cases where flag `i` holds.
    fn character(&mut self, code: u32, at: Range<usize>) -> Item {
        let Some(c) = char::from_u32(code) else {
            self.error(RegexError::NotACharacter { code }, at);
            return Item::Node(self.tree.push(Ast::Empty));
        };
        if self.flags.ignore_case {
            let key = (c, self.flags.ascii);
            if let Some(&node) = self.sets.letters.get(&key) {
                return Item::Node(node);
            }
            let class = unicode::fold_char(c, self.options.dialect, self.flags.ascii);
            if class.ranges() != [(code, code)] {
                let node = self.tree.push(Ast::Class(class));
                self.sets.letters.insert(key, node);
                return Item::Node(node);
            }
        }
        Item::Literal(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec())
    }

    fn anchor(&mut self, anchor: Anchor, at: Range<usize>) -> AstId {
        let line = matches!(anchor, Anchor::LineStart | Anchor::LineEnd);
        self.tree.crlf_lines |= line && self.flags.crlf;
        self.tree.push(Ast::Anchor(anchor, at))
    }

    /// The characters of `.`.
    fn dot(&mut self, at: Range<usize>) -> Set {
        let breaks: &[(u32, u32)] = match self.options.dialect {
            _ if self.flags.dot_all => &[],
            Dialect::Ecma => &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)],
            _ if self.flags.crlf => &[(0x0A, 0x0A), (0x0D, 0x0D)],
            _ => &[(0x0A, 0x0A)],
        };
        if self.options.bytes {
            // The line breaks beyond ASCII are no single bytes.
            let breaks = breaks.iter().copied().filter(|&(_, high)| high < 0x80);
            let set = Set { chars: CharClass::from_ranges(breaks), bytes: ByteSet::EMPTY };
            return self.negate(set, at);
        }
        self.negate(Set { chars: CharClass::from_ranges(breaks.iter().copied()), bytes: ByteSet::EMPTY }, at)
    }

    /// `node`, which begins at `start`, with the quantifier that follows it, and, in Rust, those that follow that one.
    fn quantified(&mut self, node: AstId, start: usize, quantifier: Quantifier) -> AstId {
        let rust = self.options.dialect == Dialect::Rust;
        let first = quantifier.range.clone();
        if matches!(self.tree.nodes[node], Ast::Anchor(..)) && !rust {
            let operator = self.text[first.clone()].to_owned();
            self.error(RegexError::NothingToRepeat { operator }, first);
            return node;
        }
        let mut node = self.repeat(node, &quantifier);
        let mut quantifiers = 1;
        let mut inner = shown(&self.text[start..first.end]).to_owned();
        loop {
            self.skip_blank();
            let Some(next) = self.quantifier() else { return node };
            if !rust {
                let operator = self.text[next.range.clone()].to_owned();
                let meant = format!("(?:{inner}){operator}");
                inner = shown(&meant).to_owned();
                self.error(RegexError::MultipleRepeat { operator, first: first.clone(), meant }, next.range);
            } else {
                quantifiers += 1;
                if self.depth + quantifiers > self.limits.grammar_depth_max {
                    self.too_deep(next.range);
                    return node;
                }
                node = self.repeat(node, &next);
            }
        }
    }

    fn repeat(&mut self, node: AstId, quantifier: &Quantifier) -> AstId {
        let id = self.tree.push(Ast::Repeat(node, quantifier.min, quantifier.max));
        // What a fixed count matches does not depend on the order of the attempts.
        if quantifier.lazy && quantifier.max != Some(quantifier.min) {
            self.tree.lazy.insert(id, quantifier.range.clone());
            self.tree.infos[id].lazy = true;
        }
        id
    }

    /// Takes a quantifier, if one stands here.
    fn quantifier(&mut self) -> Option<Quantifier> {
        let start = self.at;
        let dialect = self.options.dialect;
        let (min, max) = match self.peek()? {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            '{' => {
                let count = self.count()?;
                self.at = count.end;
                self.bounds(&count, start..count.end)
            }
            _ => return None,
        };
        if self.at == start {
            self.at += 1;
        } else if dialect == Dialect::Rust {
            self.skip_blank();
        }
        let lazy = self.eat('?');
        let quantifier = Quantifier { min, max, lazy: lazy != self.flags.swap_greed, range: start..self.at };
        if !lazy && dialect != Dialect::Rust && self.eat('+') {
            self.error(RegexError::Atomic { what: "the possessive quantifier" }, start..self.at);
        }
        Some(quantifier)
    }

    /// Reads a count without taking it: `{n}`, `{m,}`, `{,n}`, `{m,n}`, in Python `{,}`, in Rust with blanks.
    fn count(&self) -> Option<Count<'t>> {
        let bytes = self.text.as_bytes();
        let rust = self.options.dialect == Dialect::Rust;
        let blanks = |at: usize| {
            let rest = &self.text[at..];
            if rust { at + rest.len() - rest.trim_start().len() } else { at }
        };
        let digits = |from: usize| {
            let len = bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
            (&self.text[from..from + len], from + len)
        };
        let (min, at) = digits(blanks(self.at + 1));
        let at = blanks(at);
        let (max, at) = if bytes.get(at) == Some(&b',') {
            let (max, at) = digits(blanks(at + 1));
            (Some(max), blanks(at))
        } else {
            (None, at)
        };
        let counts = match max {
            None => !min.is_empty(),
            Some(max) => !min.is_empty() || !max.is_empty() || self.options.dialect == Dialect::Python,
        };
        (counts && bytes.get(at) == Some(&b'}')).then_some(Count { min, max, end: at + 1 })
    }

    /// The numbers of a count, within the limits.
    fn bounds(&mut self, count: &Count<'t>, range: Range<usize>) -> (u32, Option<u32>) {
        // Saturates: more digits than that are over the limit as well.
        let number = |digits: &str| {
            digits.bytes().fold(0u64, |sum, b| sum.saturating_mul(10).saturating_add(u64::from(b - b'0')))
        };
        let min = number(count.min);
        let max = match count.max {
            None => Some(min),
            Some("") => None,
            Some(max) => Some(number(max)),
        };
        if count.min.is_empty() && self.options.dialect == Dialect::Ecma {
            let count = self.text[range.clone()].to_owned();
            self.report.lint(RegexLint::OpenCount { count }, range.clone());
        }
        let limit = u64::from(self.limits.repeat_max);
        let largest = max.unwrap_or(min).max(min);
        if largest > limit {
            let digits = if number(count.min) == largest { count.min } else { count.max.unwrap_or_default() };
            let count = if digits.len() > 20 { format!("of {} digits", digits.len()) } else { digits.to_owned() };
            self.error(RegexError::CountTooLarge { count, limit: self.limits.repeat_max }, range.clone());
        }
        if max.is_some_and(|max| max < min) {
            self.error(RegexError::CountOrder { min, max: max.unwrap_or_default() }, range);
        }
        let clamp = |count: u64| count.min(limit) as u32;
        (clamp(min), max.map(|max| clamp(max.max(min))))
    }

    /// Comments `(?#…)` everywhere, and with flag `x` white space and `# …`.
    pub(super) fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            if rest.starts_with("(?#") {
                match rest.find(')') {
                    Some(end) => self.at += end + 1,
                    None => {
                        self.error(RegexError::UnclosedGroup, self.at..self.at + 1);
                        self.at = self.text.len();
                    }
                }
            } else if !self.skip_verbose() {
                return;
            }
        }
    }

    /// With flag `x`, white space and `# …`; whether there was any.
    pub(super) fn skip_verbose(&mut self) -> bool {
        if !self.flags.verbose {
            return false;
        }
        let start = self.at;
        loop {
            let rest = &self.text[self.at..];
            let blank = |c: char| match self.options.dialect {
                Dialect::Rust => c.is_whitespace(),
                _ => matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}'),
            };
            let len = rest.len() - rest.trim_start_matches(blank).len();
            let comment =
                if rest[len..].starts_with('#') { rest[len..].find('\n').unwrap_or(rest.len() - len) } else { 0 };
            self.at += len + comment;
            if len + comment == 0 {
                return self.at > start;
            }
        }
    }

    pub(super) fn error(&mut self, error: RegexError, at: Range<usize>) {
        self.report.error(error, at);
    }
    pub(super) fn too_deep(&mut self, at: Range<usize>) {
        self.error(RegexError::TooDeep { limit: self.limits.grammar_depth_max }, at);
        self.stopped = true;
    }
    pub(super) fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }
    /// Takes `c` if it stands here.
    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = self.peek() == Some(c);
        if found {
            self.at += c.len_utf8();
        }
        found
    }
}

/// The pattern that a literal of JavaScript holds, `/^…$/i`, with its flags as ECMA-262 has them in patterns. Only with an
/// anchor inside it is surely one: others may be paths. A regex by itself is `alone`, and one also with other signs, or with
/// flags that a path would hardly end with.
fn between_slashes(text: &str, alone: bool) -> Option<String> {
    let (body, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let are_flags = flags.len() <= 8 && flags.bytes().all(|flag| b"dgimsuvy".contains(&flag));
    let is_anchored = body.starts_with('^') || body.ends_with('$') && !body.ends_with("\\$");
    let has_flags = matches!(flags, "i" | "g" | "m" | "s" | "gi" | "ig" | "gm" | "im" | "is" | "gim");
    let has_signs = has_flags && !body.is_empty() || body.contains(['+', '*', '[', '(', '\\']);
    let is_regex = alone && !body.replace("\\/", "").contains('/') && has_signs;
    let kept: String = flags.chars().filter(|flag| "ims".contains(*flag)).collect();
    let body = shown(body);
    (are_flags && (is_anchored || is_regex))
        .then(|| if kept.is_empty() { body.to_owned() } else { format!("(?{kept}:{body})") })
}

/// A part of a regex as a message repeats it, whatever its length.
fn shown(part: &str) -> &str {
    if part.len() <= SHOWN_MAX { part } else { "…" }
}

/// What `^` or `$` means.
fn line_anchor(c: char, flags: Flags, dialect: Dialect) -> Anchor {
    match (c, flags.multi_line) {
        ('^', true) => Anchor::LineStart,
        ('^', false) => Anchor::TextStart,
        (_, true) => Anchor::LineEnd,
        (_, false) if dialect == Dialect::Python => Anchor::TextEndOrFinalNewline,
        (_, false) => Anchor::TextEnd,
    }
}
