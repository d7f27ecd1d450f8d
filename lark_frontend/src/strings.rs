//! Strings: their escapes, and their regexes where case does not count.
//!
//! Lark evaluates a string as Python does, but knows `\n \t \r \f \x \u \U \\ \"` only; another backslash stays.
//! Behind `%llguidance` a string is one of JSON, with `\xHH` besides.

use larkspur_grammar::{CharClass, RegexId, RegexSet, Span};
use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use crate::error::{LiteralMistake, Sink};

/// A string as it stands in the source, quotes and flag included.
#[derive(Clone, Copy)]
pub(crate) struct Written<'a> {
    pub text: &'a str,
    pub span: Span,
}

impl<'a> Written<'a> {
    /// Between the quotes.
    fn inner(self) -> &'a str {
        let end = self.text.rfind('"').unwrap_or(self.text.len());
        self.text.get(1..end).unwrap_or("")
    }
    /// Whether it has flag `i`.
    pub fn ignores_case(self) -> bool {
        self.text.ends_with('i')
    }
    fn span_of(self, start: usize, end: usize) -> Span {
        let base = self.span.start as usize + 1;
        Span::new(self.span.source, base + start, base + end)
    }

    /// The text that it stands for. Bad escapes are reported and left out.
    pub fn decode(self, json_like: bool, sink: &mut Sink) -> String {
        let inner = self.inner();
        let mut out = String::with_capacity(inner.len());
        let mut at = 0;
        while let Some(found) = inner[at..].find('\\') {
            out.push_str(&inner[at..at + found]);
            at += found;
            match escape(&inner[at..], json_like) {
                Ok((c, length)) => {
                    out.push(c);
                    at += length;
                }
                Err(Escape::Kept(length)) => {
                    let escape = inner[at..at + length].to_string();
                    sink.report(
                        self.span_of(at, at + length),
                        LiteralMistake::EscapeKept { escape, inner: inner.to_string() },
                    );
                    out.push_str(&inner[at..at + length]);
                    at += length;
                }
                Err(Escape::Bad(length, reason)) => {
                    let escape = inner[at..at + length].to_string();
                    sink.report(self.span_of(at, at + length), LiteralMistake::EscapeBad { escape, reason });
                    at += length;
                }
            }
        }
        out.push_str(&inner[at..]);
        out
    }
}

/// An escape that stands for no character; with its length in bytes.
enum Escape {
    /// It stands for itself.
    Kept(usize),
    /// It is a mistake.
    Bad(usize, &'static str),
}

/// The character that the escape at the start of `text` stands for, and the escape's length.
fn escape(text: &str, json_like: bool) -> Result<(char, usize), Escape> {
    let Some(c) = text[1..].chars().next() else { return Err(Escape::Bad(1, "nothing follows the backslash")) };
    let simple = match c {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'f' => Some('\x0C'),
        '\\' | '"' => Some(c),
        '/' if json_like => Some('/'),
        'b' if json_like => Some('\x08'),
        _ => None,
    };
    if let Some(c) = simple {
        return Ok((c, 2));
    }
    let length = 1 + c.len_utf8();
    match c {
        'x' => hex(text, 2),
        'u' => hex(text, 4),
        'U' if !json_like => hex(text, 8),
        _ if json_like => Err(Escape::Bad(length, "there are `\\\" \\\\ \\/ \\b \\f \\n \\r \\t \\uXXXX \\xXX`")),
        _ => Err(Escape::Kept(length)),
    }
}

/// `\xHH`, `\uHHHH`, `\UHHHHHHHH`; two `\u` that are a surrogate pair are one character.
fn hex(text: &str, digits: usize) -> Result<(char, usize), Escape> {
    let read = |text: &str| text.get(2..2 + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
    let plain = text[2..].bytes().take(digits).take_while(u8::is_ascii_hexdigit).count();
    if plain < digits {
        return Err(Escape::Bad(2 + plain, "it takes 2 hexadecimal digits after `x`, 4 after `u`, 8 after `U`"));
    }
    let Some(code) = read(text) else { return Err(Escape::Bad(2 + plain, "it is not a number")) };
    if let Some(c) = char::from_u32(code) {
        return Ok((c, 2 + digits));
    }
    if digits == 4 && (0xD800..0xDC00).contains(&code) && text[6..].starts_with("\\u") {
        let second = read(&text[6..]).filter(|low| (0xDC00..0xE000).contains(low));
        if let Some(c) = second.and_then(|low| char::from_u32(0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00))) {
            return Ok((c, 12));
        }
    }
    Err(Escape::Bad(2 + digits, "it is not a Unicode character"))
}

/// The regex of a text in which upper and lower case are alike, by Unicode's simple case folding.
pub(crate) fn ignore_case(text: &str, set: &mut RegexSet) -> RegexId {
    let parts: Vec<RegexId> = text.chars().map(|c| set.class(folded(c))).collect();
    set.concat(&parts)
}

fn folded(c: char) -> CharClass {
    let mut class = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    // The tables are compiled in, see this crate's Cargo.toml; without them a character is only itself.
    if class.try_case_fold_simple().is_err() {
        return CharClass::single(c);
    }
    CharClass::from_ranges(class.iter().map(|range| (range.start() as u32, range.end() as u32)))
}
