//! What is said of `pattern` beyond its syntax: what is probably meant by it, and what of it need not be enforced.

use std::ops::Range;

use larkspur_grammar::{Diagnostic, Severity};

/// Codes of what a regex may have, and is not built.
const NOT_BUILT: [&str; 4] = ["R023", "R024", "R026", "R027"];

/// Letters of JavaScript's flags.
const FLAGS: &str = "dgimsuvy";

/// Makes warnings of errors, if all of them say of a right pattern that it cannot be enforced.
pub(crate) fn forgive(errors: &mut [Diagnostic]) -> bool {
    let is_right = errors.iter().all(|error| NOT_BUILT.contains(&error.code));
    for error in errors.iter_mut().filter(|_| is_right) {
        error.severity = Severity::Warning;
        error.message.push_str("; it is not enforced");
    }
    is_right
}

/// What stands between the slashes of a pattern that is written as in JavaScript's code.
pub(crate) fn between_slashes(pattern: &str) -> Option<&str> {
    let (inner, flags) = pattern.strip_prefix('/')?.rsplit_once('/')?;
    (!inner.is_empty() && flags.chars().all(|flag| FLAGS.contains(flag))).then_some(inner)
}

/// Where `{` and digits stand behind something that could be repeated, which `}` does not close: by ECMA-262's annex B they
/// are characters.
pub(crate) fn open_count(pattern: &str) -> Option<Range<usize>> {
    let bytes = pattern.as_bytes();
    let (mut at, mut in_class, mut is_atom) = (0, false, false);
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += escape_len(&pattern[at..]) - 1,
            b'[' => in_class = true,
            b']' => in_class = false,
            b'{' if !in_class && is_atom => {
                let count = bytes[at + 1..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b',').count();
                let end = at + 1 + count;
                if bytes.get(at + 1).is_some_and(u8::is_ascii_digit) && bytes.get(end) != Some(&b'}') {
                    return Some(at..end);
                }
                at += count;
            }
            _ => {}
        }
        is_atom = !matches!(bytes.get(at), Some(b'(' | b'|' | b'^'));
        at += 1;
    }
    None
}

/// The bytes of the escape at the start of a text, as far as a brace may belong to it: `\u{1F600}`, `\p{L}`.
fn escape_len(text: &str) -> usize {
    let has_braces = matches!(text.as_bytes(), [_, b'u' | b'p' | b'P' | b'x', b'{', ..]);
    let end = text.find('}').filter(|_| has_braces).map(|end| end + 1);
    end.unwrap_or_else(|| 1 + text[1..].chars().next().map_or(0, char::len_utf8))
}
