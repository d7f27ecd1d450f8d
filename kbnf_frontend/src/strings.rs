//! What strings hold: KBNF's escapes, which are JavaScript's.

use larkspur_grammar::{SourceId, Span, TextMap};

use crate::ast::Text;
use crate::error::{Mistake, Sink};

/// The string whose inside stands at `start` of the source; `None` if something in it is no escape, which is then
/// reported.
pub(crate) fn decode(inside: &str, source: SourceId, start: usize, is_regex: bool, sink: &mut Sink) -> Option<Text> {
    let mut value = String::with_capacity(inside.len());
    let mut map = TextMap::new(source);
    let mut at = 0;
    let mut is_sound = true;
    while at < inside.len() {
        match piece(&inside[at..]) {
            Ok((c, len)) => {
                value.extend(c);
                map.push(c.map_or(0, char::len_utf8), start + at, start + at + len);
                at += len;
            }
            Err((len, reason)) => {
                let escape = inside[at..at + len].to_owned();
                let span = Span::new(source, start + at, start + at + len);
                sink.report(span, Mistake::EscapeBad { escape, reason, is_regex });
                at += len;
                is_sound = false;
            }
        }
    }
    is_sound.then_some(Text { value, map })
}

/// The character at the beginning of `rest`, which is not empty, and its length in the text. A line break behind a
/// backslash is no character.
///
/// Errors: the length of what is no escape, and why.
fn piece(rest: &str) -> Result<(Option<char>, usize), (usize, &'static str)> {
    let mut chars = rest.chars();
    let first = chars.next().expect("a character");
    if first != '\\' {
        return Ok((Some(first), first.len_utf8()));
    }
    let Some(letter) = chars.next() else { return Err((1, "nothing follows the backslash")) };
    let plain = |c: char| Ok((Some(c), 1 + letter.len_utf8()));
    match letter {
        'b' => plain('\u{8}'),
        'f' => plain('\u{c}'),
        'n' => plain('\n'),
        'r' => plain('\r'),
        't' => plain('\t'),
        'v' => plain('\u{b}'),
        '\\' | '/' | '"' | '\'' => plain(letter),
        '0'..='7' => octal(rest),
        '\n' => Ok((None, 2)),
        '\r' => Ok((None, if rest.starts_with("\\\r\n") { 3 } else { 2 })),
        'x' => character(digits(rest, 2)?, 4),
        'u' if rest[2..].starts_with('{') => braced(rest),
        'u' => unit(rest),
        _ => Err((1 + letter.len_utf8(), "the letter has no meaning behind a backslash")),
    }
}

type Piece = Result<(Option<char>, usize), (usize, &'static str)>;

fn character(code: u32, len: usize) -> Piece {
    char::from_u32(code).map(|c| (Some(c), len)).ok_or((len, "there is no such character"))
}

/// So many hexadecimal digits behind two characters.
fn digits(rest: &str, count: usize) -> Result<u32, (usize, &'static str)> {
    let found = rest.bytes().skip(2).take(count).take_while(u8::is_ascii_hexdigit).count();
    if found < count {
        return Err((2 + found, "a hexadecimal digit is missing"));
    }
    Ok(u32::from_str_radix(&rest[2..2 + count], 16).expect("hexadecimal digits"))
}

/// Up to three octal digits behind a backslash, which make at most 255.
fn octal(rest: &str) -> Piece {
    let len_max = if rest.as_bytes()[1] < b'4' { 3 } else { 2 };
    let digits = rest.bytes().skip(1).take(len_max).take_while(|digit| matches!(digit, b'0'..=b'7'));
    let (len, code) = digits.fold((1, 0), |(len, code), digit| (len + 1, code * 8 + u32::from(digit - b'0')));
    character(code, len)
}

/// `\uHHHH`; two of them may be one character.
fn unit(rest: &str) -> Piece {
    let high = digits(rest, 4)?;
    if (0xD800..0xDC00).contains(&high)
        && rest[6..].starts_with("\\u")
        && let Ok(low) = digits(&rest[6..], 4)
        && (0xDC00..0xE000).contains(&low)
    {
        return character(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00), 12);
    }
    character(high, 6).map_err(|(len, _)| (len, "half of a surrogate pair is no character"))
}

/// `\u{H…}`.
fn braced(rest: &str) -> Piece {
    let found = rest.bytes().skip(3).take_while(u8::is_ascii_hexdigit).count();
    if found == 0 || !rest[3 + found..].starts_with('}') {
        return Err((3 + found, "`\\u{` takes hexadecimal digits and `}`"));
    }
    let len = 4 + found;
    let code = u32::from_str_radix(&rest[3..3 + found], 16).unwrap_or(u32::MAX);
    character(code, len)
}
