//! What the writers of grammars share: where parentheses and blanks stand.

use larkspur_grammar::CharClass;

/// Where a node stands: each place takes less without parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    Alternative,
    Part,
    Repeated,
}

/// Appends a word, with a blank before it unless a parenthesis has just been opened.
pub(crate) fn word(out: &mut String, word: &str) {
    // Nothing else ends in one: strings end in quotes.
    if !out.ends_with('(') {
        out.push(' ');
    }
    out.push_str(word);
}

/// A repetition that is written alike everywhere.
pub(crate) fn sign(min: u32, max: Option<u32>) -> Option<String> {
    match (min, max) {
        (0, None) => Some("*".to_owned()),
        (1, None) => Some("+".to_owned()),
        (0, Some(1)) => Some("?".to_owned()),
        (min, None) => Some(format!("{{{min},}}")),
        (_, Some(_)) => None,
    }
}

/// A class in brackets; `None` if it has all characters.
pub(crate) fn brackets(class: &CharClass, letter: impl Fn(char) -> String) -> Option<String> {
    let complement = class.negate();
    if complement.is_empty() {
        return None;
    }
    let negated = class.is_empty() || class.contains(char::MAX);
    let ranges = if negated { complement.ranges() } else { class.ranges() };
    let letter = |code: u32| letter(char::from_u32(code).expect("classes hold characters"));
    let mut out = String::from(if negated { "[^" } else { "[" });
    for &(low, high) in ranges {
        out.push_str(&letter(low));
        if high > low {
            out.push_str(if high > low + 1 { "-" } else { "" });
            out.push_str(&letter(high));
        }
    }
    out.push(']');
    Some(out)
}
