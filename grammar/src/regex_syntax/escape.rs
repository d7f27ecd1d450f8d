//! What begins with a backslash.

use std::ops::Range;

use super::Dialect;
use super::ast::Anchor;
use super::class::{Set, SetId, SetKey};
use super::error::{RegexError, RegexLint};
use super::parser::{Flags, Parser};
use super::unicode::{self, Perl};
use crate::regex::ByteSet;

/// What an escape stands for.
pub(super) enum Escape {
    /// A character, or half of a surrogate pair.
    Code(u32),
    /// A byte above 0x7F.
    Byte(u8),
    /// A set of characters, with other cases where flag `i` holds.
    Set(SetId),
    /// A place.
    Anchor(Anchor),
    /// The edge of a word; true for anywhere else.
    Boundary(bool),
}

impl<'t> Parser<'t, '_, '_> {
    /// Takes the escape that stands here; `None` after a mistake.
    pub(super) fn escape(&mut self, in_class: bool) -> Option<Escape> {
        let start = self.at;
        let dialect = self.options.dialect;
        self.at += 1;
        let Some(c) = self.peek() else {
            self.error(RegexError::TrailingBackslash, start..self.at);
            return None;
        };
        self.at += c.len_utf8();
        match c {
            'n' => Some(Escape::Code(0x0A)),
            't' => Some(Escape::Code(0x09)),
            'r' => Some(Escape::Code(0x0D)),
            'f' => Some(Escape::Code(0x0C)),
            'v' => Some(Escape::Code(0x0B)),
            'a' => {
                self.foreign(start, "the bell character");
                Some(Escape::Code(0x07))
            }
            'd' | 'D' => Some(self.perl(Perl::Digit, c == 'D', start)),
            'w' | 'W' => Some(self.perl(Perl::Word, c == 'W', start)),
            's' | 'S' => Some(self.perl(Perl::Space, c == 'S', start)),
            'p' | 'P' => self.property(c == 'P', start),
            'x' => self.hex(start, 2),
            'u' => self.hex(start, 4),
            'U' => self.hex(start, 8),
            'c' => self.control(start),
            'A' if !in_class => {
                self.foreign(start, "the start of the text");
                Some(Escape::Anchor(Anchor::TextStart))
            }
            'Z' | 'z' if !in_class => {
                self.foreign(start, "the end of the text");
                Some(Escape::Anchor(Anchor::TextEnd))
            }
            'b' if in_class && dialect != Dialect::Rust => Some(Escape::Code(0x08)),
            'b' if !in_class && self.peek() == Some('{') && dialect == Dialect::Rust => self.word_boundary(start),
            'b' | 'B' if !in_class => Some(Escape::Boundary(c == 'B')),
            '<' | '>' if !in_class && dialect == Dialect::Rust => self.word_boundary(start),
            'N' if self.peek() == Some('{') => {
                self.at += self.rest().find('}').map_or(1, |end| end + 1);
                self.error(RegexError::NamedCharacter, start..self.at);
                None
            }
            'k' | 'g' if matches!(self.peek(), Some('<' | '{' | '\'' | '0'..='9')) => self.back_reference(start),
            '0'..='9' => self.number(start, in_class),
            c if c.is_ascii_alphanumeric() => self.unknown(start, in_class),
            c => Some(Escape::Code(c as u32)),
        }
    }

    /// What the set of the escape at `at` depends on.
    fn set_key(&self, at: Range<usize>) -> SetKey<'t> {
        let Flags { ignore_case, ascii, byte_wise, .. } = self.flags;
        (&self.text[at], [ignore_case, ascii, byte_wise])
    }

    fn unknown(&mut self, start: usize, in_class: bool) -> Option<Escape> {
        let escape = self.text[start..self.at].to_owned();
        let dialect = self.options.dialect;
        self.error(RegexError::UnknownEscape { escape, dialect, in_class }, start..self.at);
        None
    }

    /// An escape that ECMA-262 does not have.
    fn foreign(&mut self, start: usize, meaning: &'static str) {
        if self.options.dialect == Dialect::Ecma {
            let escape = self.text[start..self.at].to_owned();
            self.report.lint(RegexLint::ForeignEscape { escape, meaning }, start..self.at);
        }
    }

    /// Rust's `\b{start}`, `\<` and the like.
    fn word_boundary(&mut self, start: usize) -> Option<Escape> {
        if self.options.dialect == Dialect::Rust && self.text[start..].starts_with("\\b{") {
            self.at += self.rest().find('}').map_or(0, |end| end + 1);
        }
        let escape = self.text[start..self.at].to_owned();
        self.error(RegexError::WordBoundary { escape }, start..self.at);
        None
    }

    /// `\k<name>`, `\g{1}`, `\1`: what follows the letter up to the closing bracket, or digits.
    fn back_reference(&mut self, start: usize) -> Option<Escape> {
        let rest = self.rest();
        let close = match rest.chars().next() {
            Some('<') => rest.find('>'),
            Some('{') => rest.find('}'),
            Some('\'') => rest[1..].find('\'').map(|end| end + 1),
            _ => None,
        };
        self.at += match close {
            Some(end) => end + 1,
            None => rest.bytes().take_while(u8::is_ascii_digit).count(),
        };
        let reference = self.text[start..self.at].to_owned();
        self.error(RegexError::BackReference { reference }, start..self.at);
        None
    }

    /// `\0`, an octal escape or a back-reference; its first digit is taken.
    fn number(&mut self, start: usize, in_class: bool) -> Option<Escape> {
        let digits = self.text[start + 1..].bytes().take(3);
        let octal = digits.take_while(|b| (b'0'..=b'7').contains(b)).count();
        let python = self.options.dialect == Dialect::Python;
        let zero = self.text[start + 1..].starts_with('0');
        let next_is_digit = self.peek().is_some_and(|c| c.is_ascii_digit());
        if python && (octal == 3 || (octal > 0 && (zero || in_class))) || zero && !next_is_digit {
            self.at = start + 1 + octal.max(1);
            let code = u32::from_str_radix(&self.text[start + 1..self.at], 8).unwrap_or(u32::MAX);
            if code <= 0xFF {
                return self.byte(code, start..self.at);
            }
        } else if !in_class && !zero {
            return self.back_reference(start);
        } else {
            self.at += self.rest().bytes().take_while(u8::is_ascii_digit).count();
        }
        let escape = self.text[start..self.at].to_owned();
        self.error(RegexError::BadOctal { escape }, start..self.at);
        None
    }

    /// A code up to 0xFF: with `allow_invalid_utf8` a byte.
    fn byte(&mut self, code: u32, at: Range<usize>) -> Option<Escape> {
        if code >= 0x80 && self.flags.byte_wise {
            let item = self.text[at.clone()].to_owned();
            self.error(RegexError::BytesNotAllowed { item }, at);
            return None;
        }
        match u8::try_from(code) {
            Ok(byte @ 0x80..) if self.options.bytes => Some(Escape::Byte(byte)),
            _ => Some(Escape::Code(code)),
        }
    }

    /// `\cJ`: a control character by its letter.
    fn control(&mut self, start: usize) -> Option<Escape> {
        let Some(letter) = self.peek().filter(char::is_ascii_alphabetic) else {
            self.error(RegexError::BadControl, start..self.at);
            return None;
        };
        self.at += 1;
        Some(Escape::Code(letter as u32 & 0x1F))
    }

    /// The digits of `\x41`, `\u0041`, `\U00000041`, or any of them as `{41}`.
    fn hex(&mut self, start: usize, len: usize) -> Option<Escape> {
        let braces = self.eat('{');
        let digits_start = self.at;
        let most = if braces { usize::MAX } else { len };
        let taken = self.rest().bytes().take(most).take_while(u8::is_ascii_hexdigit).count();
        self.at += taken;
        let digits = &self.text[digits_start..self.at];
        let complete = if braces { taken > 0 && self.eat('}') } else { taken == len };
        if !complete {
            let wanted = match (braces, len) {
                (true, _) => "hexadecimal digits and a `}` must follow",
                (_, 2) => "two hexadecimal digits must follow",
                (_, 4) => "four hexadecimal digits must follow",
                _ => "eight hexadecimal digits must follow",
            };
            let escape = self.text[start..self.at].to_owned();
            self.error(RegexError::BadHex { escape, wanted }, start..self.at);
            return None;
        }
        let digits = digits.trim_start_matches('0');
        let code = if digits.is_empty() { 0 } else { u32::from_str_radix(digits, 16).unwrap_or(u32::MAX) };
        if code > 0x10FFFF {
            self.error(RegexError::NotACharacter { code }, start..self.at);
            return None;
        }
        if len == 2 && !braces {
            return self.byte(code, start..self.at);
        }
        if len == 4 && !braces && (0xD800..0xDC00).contains(&code) {
            return Some(Escape::Code(self.second_half(code)));
        }
        Some(Escape::Code(code))
    }

    /// The character of a surrogate pair whose first half was just taken; the half itself if no second follows.
    fn second_half(&mut self, high: u32) -> u32 {
        let low = self.rest().strip_prefix("\\u").and_then(|rest| rest.get(..4));
        let low = low.filter(|low| low.bytes().all(|b| b.is_ascii_hexdigit()));
        match low.and_then(|low| u32::from_str_radix(low, 16).ok()) {
            Some(low @ 0xDC00..=0xDFFF) => {
                self.at += 6;
                0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
            }
            _ => high,
        }
    }

    /// `\w` and the like; its letter is taken.
    fn perl(&mut self, kind: Perl, negated: bool, start: usize) -> Escape {
        let at = start..self.at;
        if let Some(id) = self.sets.find(self.set_key(at.clone())) {
            return Escape::Set(id);
        }
        let dialect = self.options.dialect;
        let mut chars = unicode::perl(kind, dialect, self.flags.ascii);
        // Elsewhere flag `i` adds nothing to these.
        if dialect == Dialect::Ecma && self.flags.ignore_case {
            chars = unicode::fold(&chars, dialect, self.flags.ascii);
        }
        let mut set = Set { chars, bytes: ByteSet::EMPTY };
        if negated {
            set = self.negate(set, at.clone());
        }
        Escape::Set(self.sets.insert(self.set_key(at), set))
    }

    /// `\pL` or `\p{…}`; its letter is taken.
    fn property(&mut self, negated: bool, start: usize) -> Option<Escape> {
        let text = self.text;
        let name = if self.eat('{') {
            let from = self.at;
            let Some(len) = self.rest().find('}') else {
                let wanted = "a property's name and a `}` must follow";
                self.error(RegexError::BadHex { escape: "\\p{".into(), wanted }, start..self.at);
                return None;
            };
            self.at += len + 1;
            &text[from..from + len]
        } else {
            let from = self.at;
            self.at += self.peek().map_or(0, char::len_utf8);
            &text[from..self.at]
        };
        let key = self.set_key(start..self.at);
        if let Some(id) = self.sets.find(key) {
            return Some(Escape::Set(id));
        }
        let Some(chars) = unicode::property(name) else {
            let nearest = unicode::nearest_property(name);
            let name = name.chars().take(64).collect();
            self.error(RegexError::UnknownProperty { name, nearest }, start..self.at);
            return None;
        };
        // ECMA-262 takes the complement first and then looks for other cases; Rust does it the other way round.
        let ecma = self.options.dialect == Dialect::Ecma;
        let chars = if negated && ecma { chars.negate() } else { chars };
        let set = self.folded(Set { chars, bytes: ByteSet::EMPTY });
        let set = if negated && !ecma { Set { chars: set.chars.negate(), ..set } } else { set };
        Some(Escape::Set(self.sets.insert(key, set)))
    }
}
