//! Sets of characters: escapes such as `\w`, properties, case folding. The tables are those of `regex-syntax`.

use std::sync::OnceLock;

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::Dialect;
use crate::diagnostic::did_you_mean;
use crate::regex::CharClass;

/// `\d`, `\w` or `\s`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Perl {
    Digit,
    Word,
    Space,
}

const ASCII_WORD: [(u32, u32); 4] = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
const ASCII_SPACE: [(u32, u32); 2] = [(0x09, 0x0D), (0x20, 0x20)];
/// `str.isspace` has these besides the property `White_Space`.
const PYTHON_SPACE: [(u32, u32); 1] = [(0x1C, 0x1F)];
/// WhiteSpace and LineTerminator of ECMA-262: `Zs` and these.
const ECMA_SPACE: [(u32, u32); 4] = [(0x09, 0x0D), (0x20, 0x20), (0x2028, 0x2029), (0xFEFF, 0xFEFF)];

/// The characters of `\d`, `\w` or `\s`.
pub(super) fn perl(kind: Perl, dialect: Dialect, ascii: bool) -> CharClass {
    static DIGIT: OnceLock<CharClass> = OnceLock::new();
    static SPACE: OnceLock<CharClass> = OnceLock::new();
    static WORD_RUST: OnceLock<CharClass> = OnceLock::new();
    static WORD_PYTHON: OnceLock<CharClass> = OnceLock::new();
    let table = |name: &str| lookup(name).unwrap_or_default();
    let ranges = |ranges: &[(u32, u32)]| CharClass::from_ranges(ranges.iter().copied());
    match (kind, dialect) {
        (Perl::Digit, Dialect::Ecma) => ranges(&[(0x30, 0x39)]),
        (Perl::Digit, _) if ascii => ranges(&[(0x30, 0x39)]),
        (Perl::Digit, _) => DIGIT.get_or_init(|| table("Nd")).clone(),
        (Perl::Word, Dialect::Ecma) => ranges(&ASCII_WORD),
        (Perl::Word, _) if ascii => ranges(&ASCII_WORD),
        (Perl::Word, Dialect::Rust) => WORD_RUST
            .get_or_init(|| {
                ["Alphabetic", "M", "Nd", "Pc", "Join_Control"]
                    .map(table)
                    .iter()
                    .fold(CharClass::default(), |all, one| all.union(one))
            })
            .clone(),
        (Perl::Word, Dialect::Python) => {
            WORD_PYTHON.get_or_init(|| table("L").union(&table("N")).union(&ranges(&[(0x5F, 0x5F)]))).clone()
        }
        (Perl::Space, Dialect::Ecma) => ranges(&ECMA_SPACE).union(&table("Zs")),
        (Perl::Space, _) if ascii => ranges(&ASCII_SPACE),
        (Perl::Space, Dialect::Rust) => SPACE.get_or_init(|| table("White_Space")).clone(),
        (Perl::Space, Dialect::Python) => SPACE.get_or_init(|| table("White_Space")).union(&ranges(&PYTHON_SPACE)),
    }
}

/// The characters of a POSIX class, `alpha` of `[[:alpha:]]`; ASCII in every dialect that has them.
pub(super) fn posix(name: &str) -> Option<CharClass> {
    let ranges: &[(char, char)] = match name {
        "alnum" => &[('0', '9'), ('A', 'Z'), ('a', 'z')],
        "alpha" => &[('A', 'Z'), ('a', 'z')],
        "ascii" => &[('\0', '\x7F')],
        "blank" => &[('\t', '\t'), (' ', ' ')],
        "cntrl" => &[('\0', '\x1F'), ('\x7F', '\x7F')],
        "digit" => &[('0', '9')],
        "graph" => &[('!', '~')],
        "lower" => &[('a', 'z')],
        "print" => &[(' ', '~')],
        "punct" => &[('!', '/'), (':', '@'), ('[', '`'), ('{', '~')],
        "space" => &[('\t', '\r'), (' ', ' ')],
        "upper" => &[('A', 'Z')],
        "word" => &[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')],
        "xdigit" => &[('0', '9'), ('A', 'F'), ('a', 'f')],
        _ => return None,
    };
    Some(CharClass::from_ranges(ranges.iter().map(|&(low, high)| (low as u32, high as u32))))
}

/// The characters of `\p{name}`; `None` if there is no such property.
pub(super) fn property(name: &str) -> Option<CharClass> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '=' | ':' | '!' | '-' | ' ' | '&');
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return None;
    }
    lookup(name)
}

/// A property that may have been meant.
pub(super) fn nearest_property(name: &str) -> Option<&'static str> {
    const KNOWN: [&str; 52] = [
        "Letter",
        "Lowercase_Letter",
        "Uppercase_Letter",
        "Titlecase_Letter",
        "Modifier_Letter",
        "Other_Letter",
        "Mark",
        "Nonspacing_Mark",
        "Spacing_Mark",
        "Enclosing_Mark",
        "Number",
        "Decimal_Number",
        "Letter_Number",
        "Other_Number",
        "Punctuation",
        "Connector_Punctuation",
        "Dash_Punctuation",
        "Open_Punctuation",
        "Close_Punctuation",
        "Symbol",
        "Math_Symbol",
        "Currency_Symbol",
        "Modifier_Symbol",
        "Other_Symbol",
        "Separator",
        "Space_Separator",
        "Other",
        "Control",
        "Format",
        "Unassigned",
        "Private_Use",
        "Alphabetic",
        "Uppercase",
        "Lowercase",
        "White_Space",
        "Emoji",
        "ASCII",
        "Any",
        "Assigned",
        "ID_Start",
        "ID_Continue",
        "Latin",
        "Greek",
        "Cyrillic",
        "Arabic",
        "Hebrew",
        "Han",
        "Hiragana",
        "Katakana",
        "Hangul",
        "Thai",
        "Devanagari",
    ];
    did_you_mean(name, KNOWN)
}

fn lookup(name: &str) -> Option<CharClass> {
    match regex_syntax::parse(&format!("\\p{{{name}}}")).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(from_table(&class)),
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok()?.chars().next().map(CharClass::single),
        _ => None,
    }
}

fn from_table(class: &ClassUnicode) -> CharClass {
    CharClass::from_ranges(class.iter().map(|range| (range.start() as u32, range.end() as u32)))
}

/// The class with the other cases of its characters: Unicode's simple case folding, or that of ASCII.
/// Python also takes the dotted capital and the dotless small i for an i.
pub(super) fn fold(class: &CharClass, dialect: Dialect, ascii: bool) -> CharClass {
    let letters = [(0x41, 0x5A), (0x61, 0x7A)];
    if ascii {
        let others = letters.iter().flat_map(|&(low, high)| {
            let ranges = class.ranges().iter().map(move |&(from, to)| (from.max(low), to.min(high)));
            ranges.filter(|(from, to)| from <= to).map(|(from, to)| (from ^ 0x20, to ^ 0x20))
        });
        return class.union(&CharClass::from_ranges(others));
    }
    let range = |&(low, high): &(u32, u32)| Some(ClassUnicodeRange::new(char::from_u32(low)?, char::from_u32(high)?));
    let mut table = ClassUnicode::new(class.ranges().iter().filter_map(range));
    if table.try_case_fold_simple().is_err() {
        // Only without the table of cases, which is always built in.
        return class.clone();
    }
    let folded = from_table(&table);
    let is_i = dialect == Dialect::Python && ['i', 'I', 'İ', 'ı'].iter().any(|&c| folded.contains(c));
    if is_i {
        folded.union(&CharClass::from_ranges(['i', 'I', 'İ', 'ı'].map(|c| (c as u32, c as u32))))
    } else {
        folded
    }
}

/// [`fold`] of one character, without tables for the most common ones.
pub(super) fn fold_char(c: char, dialect: Dialect, ascii: bool) -> CharClass {
    let alone = c.is_ascii() && !c.is_ascii_alphabetic();
    let special =
        !ascii && matches!(c.to_ascii_lowercase(), 'k' | 's') || dialect == Dialect::Python && matches!(c, 'i' | 'I');
    if alone || (ascii && !c.is_ascii()) {
        CharClass::single(c)
    } else if c.is_ascii() && !special {
        let other = u32::from(c as u8 ^ 0x20);
        CharClass::from_ranges([(c as u32, c as u32), (other, other)])
    } else {
        fold(&CharClass::single(c), dialect, ascii)
    }
}
