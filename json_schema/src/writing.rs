//! One scalar and its texts, both ways: for what compares values while they are written (names of properties, elements
//! of `uniqueItems`).
//!
//! The *canonical* text of a scalar is the same for all its spellings, and differs for other values: `null`, `true`,
//! `false`, a string with as few escapes as can be, a number as its digits and an exponent (`15e-1`, `0e0`).

use larkspur_grammar::number::Decimal;
use larkspur_grammar::{RegexId, RegexSet};
use serde::{Deserialize, Serialize};

use crate::number_texts::value_texts;
use crate::spelling::{NumberSpelling, Spelling, StringEscapes};
use crate::strings::{Escapes, Quoting, quoted};

/// How scalars are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Writing {
    pub escapes: Escapes,
    pub numbers: NumberSpelling,
}

impl Writing {
    pub fn new(spelling: &Spelling) -> Self {
        Self { escapes: Escapes::new(&spelling.string_escapes), numbers: spelling.number_spelling }
    }
    /// Whether each string has one spelling.
    pub fn has_one_text(self) -> bool {
        self.escapes == Escapes::new(&StringEscapes::Minimal)
    }
    /// All spellings of a string, quotes included.
    pub fn string(self, text: &str, set: &mut RegexSet) -> RegexId {
        let literal = set.literal(text.as_bytes());
        Quoting::new(self.escapes).string(set, literal)
    }
    /// All spellings of a number that sets of numbers have with [`Extent::Comparable`](crate::number_texts::Extent::Comparable).
    pub fn number(self, value: &Decimal, set: &mut RegexSet) -> RegexId {
        value_texts(value, self.numbers, set)
    }
    /// All spellings of a scalar, given by its canonical text or by any other one.
    ///
    /// Panics if the text is no scalar, or a number whose exponent has more than 17 digits.
    pub fn scalar(self, text: &str, set: &mut RegexSet) -> RegexId {
        match text.as_bytes().first() {
            Some(b'"') => {
                let text = decoded(text.as_bytes()).expect("a string");
                self.string(&text, set)
            }
            Some(b'-' | b'0'..=b'9') => {
                let value = Decimal::parse(text).expect("a number");
                self.number(&value, set)
            }
            _ => set.literal(text.as_bytes()),
        }
    }
}

/// The text of a JSON string with its quotes; `None` if it is none.
pub(crate) fn decoded(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let mut rest = text.strip_prefix('"')?.strip_suffix('"')?.chars();
    let mut out = String::with_capacity(text.len());
    while let Some(c) = rest.next() {
        let decoded = match c {
            '\\' => match rest.next()? {
                'b' => '\u{8}',
                'f' => '\u{C}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let high = unit(&mut rest)?;
                    match high {
                        0xD800..=0xDBFF => {
                            if rest.next() != Some('\\') || rest.next() != Some('u') {
                                return None;
                            }
                            let low = unit(&mut rest)?.checked_sub(0xDC00).filter(|&low| low < 0x400)?;
                            char::from_u32(0x1_0000 + ((high - 0xD800) << 10) + low)?
                        }
                        _ => char::from_u32(high)?,
                    }
                }
                c @ ('"' | '\\' | '/') => c,
                _ => return None,
            },
            '"' | '\0'..='\u{1F}' => return None,
            c => c,
        };
        out.push(decoded);
    }
    Some(out)
}

/// Four hexadecimal digits.
fn unit(text: &mut std::str::Chars) -> Option<u32> {
    (0..4).try_fold(0, |value, _| Some(value * 16 + text.next()?.to_digit(16)?))
}

/// The canonical text of a scalar; `None` if it is none, or a number whose exponent has more than 17 digits.
pub(crate) fn canonical(text: &[u8]) -> Option<Box<str>> {
    match text {
        b"null" => Some("null".into()),
        b"true" => Some("true".into()),
        b"false" => Some("false".into()),
        [b'"', ..] => Some(quoted(&decoded(text)?).into()),
        _ => {
            let value = Decimal::parse(std::str::from_utf8(text).ok()?)?;
            Some(canonical_number(&value))
        }
    }
}

/// The canonical text of a number.
pub(crate) fn canonical_number(value: &Decimal) -> Box<str> {
    if value.is_zero() {
        return "0e0".into();
    }
    let digits: String = value.digits().iter().map(|digit| char::from(b'0' + digit)).collect();
    let exponent = value.point() - digits.len() as i64;
    let sign = if value.is_negative() { "-" } else { "" };
    format!("{sign}{digits}e{exponent}").into()
}
