//! What begins with `(`.

use std::ops::Range;

use super::Dialect;
use super::ast::{Ast, Direction, Sign};
use super::error::RegexError;
use super::parser::{Flags, Item, Parser};

impl<'t> Parser<'t, '_, '_> {
    /// The group that begins here. `first`: at the start of the regex.
    pub(super) fn group(&mut self, first: bool) -> Item {
        let open = self.at;
        self.at += 1;
        if self.options.dialect == Dialect::Rust {
            self.skip_verbose();
        }
        if !self.eat('?') {
            return self.body(open);
        }
        let rest = self.rest();
        let starts = |prefix: &str| rest.starts_with(prefix);
        let second = rest.chars().nth(1);
        match rest.chars().next() {
            Some(':') => {
                self.at += 1;
                self.body(open)
            }
            Some(sign @ ('=' | '!')) => self.look(open, Direction::Ahead, sign),
            Some('<') if let Some(sign @ ('=' | '!')) = second => self.look(open, Direction::Behind, sign),
            Some('<') => self.named(open, 1),
            Some('P') if second == Some('<') => self.named(open, 2),
            Some('P') if second == Some('=') => {
                self.reference(open, |reference| RegexError::BackReference { reference })
            }
            Some('P') if second == Some('>') => self.reference(open, |reference| RegexError::Recursion { reference }),
            Some('>') => self.unsupported(open, 1, RegexError::Atomic { what: "an atomic group" }),
            Some('(') => {
                // The condition is a group's number or name.
                let len = rest.find(')').map_or(1, |end| end + 1);
                self.unsupported(open, len, RegexError::Conditional)
            }
            Some('R') if starts("R)") && self.options.dialect != Dialect::Rust => {
                self.reference(open, |reference| RegexError::Recursion { reference })
            }
            Some('&' | '0'..='9') => self.reference(open, |reference| RegexError::Recursion { reference }),
            Some('+' | '-') if second.is_some_and(|c| c.is_ascii_digit()) => {
                self.reference(open, |reference| RegexError::Recursion { reference })
            }
            Some(c) if c.is_ascii_alphabetic() || c == '-' => self.flags(open, first),
            next => {
                let len = next.filter(|&c| c != ')').map_or(0, char::len_utf8);
                let start = self.text[open..self.at + len].to_owned();
                self.unsupported(open, len, RegexError::UnknownGroup { start })
            }
        }
    }

    /// Alternatives and `)`. Flags set inside end with it.
    fn body(&mut self, open: usize) -> Item {
        if self.depth >= self.limits.grammar_depth_max {
            self.too_deep(open..open + 1);
            return Item::Nothing;
        }
        let flags = self.flags;
        self.depth += 1;
        let node = self.alternatives(false);
        self.depth -= 1;
        self.flags = flags;
        if !self.eat(')') && !self.stopped && !self.has_open_class {
            self.error(RegexError::UnclosedGroup, open..open + 1);
        }
        // An anchor in a group may be repeated; one by itself may not.
        let is_anchor = matches!(self.tree.nodes[node], Ast::Anchor(..));
        Item::Node(if is_anchor { self.tree.push(Ast::Concat([node].into())) } else { node })
    }

    /// `(?=`, `(?!`, `(?<=`, `(?<!`.
    fn look(&mut self, open: usize, direction: Direction, sign: char) -> Item {
        let len = if direction == Direction::Behind { 2 } else { 1 };
        let sign = if sign == '!' { Sign::Negative } else { Sign::Positive };
        if self.options.dialect == Dialect::Rust {
            return self.unsupported(open, len, RegexError::LookAround);
        }
        self.at += len;
        let span = open..self.at;
        match self.body(open) {
            Item::Node(child) => Item::Node(self.tree.push(Ast::Look { direction, sign, child, span })),
            other => other,
        }
    }

    /// A group that we cannot do, after `len` more bytes: what is inside is read for its mistakes.
    fn unsupported(&mut self, open: usize, len: usize, error: RegexError) -> Item {
        self.at += len;
        self.error(error, open..self.at);
        self.body(open);
        Item::Node(self.tree.push(Ast::Empty))
    }

    /// `(?P=name)`, `(?1)` and the like, up to the `)`.
    fn reference(&mut self, open: usize, error: impl FnOnce(String) -> RegexError) -> Item {
        match self.rest().find(')') {
            Some(len) => {
                self.at += len + 1;
                let reference = self.text[open..self.at].to_owned();
                self.error(error(reference), open..self.at);
            }
            None => {
                self.at = self.text.len();
                self.error(RegexError::UnclosedGroup, open..open + 1);
            }
        }
        Item::Node(self.tree.push(Ast::Empty))
    }

    /// A group whose name begins `len` bytes from here.
    fn named(&mut self, open: usize, len: usize) -> Item {
        self.at += len;
        let start = self.at;
        let rest = self.rest();
        let end = rest.find(['>', ')', '(']).unwrap_or(rest.len());
        let name = &rest[..end];
        self.at += end;
        let mut chars = name.chars();
        let begins = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$');
        // Rust also allows what a path is made of.
        let goes_on = chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '[' | ']'));
        if !self.eat('>') || !begins || !goes_on {
            self.error(RegexError::BadGroupName { name: name.to_owned() }, start..start + end);
        } else {
            self.define(name, start..start + end);
        }
        self.body(open)
    }

    fn define(&mut self, name: &'t str, at: Range<usize>) {
        match self.names.get(name) {
            Some(first) if self.options.dialect != Dialect::Ecma => {
                let (name, first) = (name.to_owned(), first.clone());
                self.error(RegexError::RepeatedGroupName { name, first }, at);
            }
            Some(_) => {}
            None => {
                self.names.insert(name, at);
            }
        }
    }

    /// `(?i)` or `(?i:…)`.
    fn flags(&mut self, open: usize, first: bool) -> Item {
        let before = self.flags;
        let start = self.at;
        let mut flags = before;
        let mut on = true;
        loop {
            let at = self.at;
            let Some(c) = self.peek() else {
                self.error(RegexError::UnclosedGroup, open..open + 1);
                return Item::Nothing;
            };
            match c {
                ')' => {
                    self.at += 1;
                    let text = &self.text[start..at];
                    if self.options.dialect == Dialect::Python && !first {
                        let flags = text.to_owned();
                        self.error(RegexError::FlagsNotFirst { flags }, open..self.at);
                    }
                    self.flags = flags;
                    return Item::Nothing;
                }
                ':' => {
                    self.at += 1;
                    self.flags = flags;
                    let item = self.body(open);
                    self.flags = before;
                    return item;
                }
                '-' if on => {
                    self.at += 1;
                    on = false;
                    if matches!(self.peek(), Some(':' | ')')) {
                        self.error(RegexError::UnknownFlag { flag: "-".into() }, at..self.at);
                    }
                }
                c => {
                    self.at += c.len_utf8();
                    if !self.set_flag(&mut flags, c, on) {
                        self.error(RegexError::UnknownFlag { flag: c.into() }, at..self.at);
                        if !c.is_ascii_alphabetic() {
                            // Not flags at all: read on as in a group.
                            self.body(open);
                            return Item::Nothing;
                        }
                    }
                }
            }
        }
    }

    /// Sets a flag; false if there is none of that name.
    fn set_flag(&self, flags: &mut Flags, name: char, on: bool) -> bool {
        match name {
            'i' => flags.ignore_case = on,
            'm' => flags.multi_line = on,
            's' => flags.dot_all = on,
            'x' => flags.verbose = on,
            'a' if on => flags.ascii = true,
            'u' => {
                flags.ascii = !on || self.options.bytes;
                flags.byte_wise = !on && !self.options.bytes && self.options.dialect == Dialect::Rust;
            }
            'U' => flags.swap_greed = on,
            'R' => flags.crlf = on,
            _ => return false,
        }
        true
    }
}
