//! Where a GBNF text ends that stands in braces in another text.

use larkspur_grammar::{behind_unescaped, closing_brace};

/// The `}` that closes the body that begins at `start`, behind its `{`. Braces in strings, classes, tokens and comments are
/// text, those of counts close each other.
///
/// Errors: if none closes it, where the string, class or token begins that the text ends in, or else the text's length.
pub fn body_end(text: &str, start: usize) -> Result<usize, usize> {
    closing_brace(text, start, |bytes, at| {
        let behind = |end: &[u8]| bytes[at..].iter().position(|byte| end.contains(byte)).map(|len| at + len);
        match bytes[at] {
            b'"' => behind_unescaped(bytes, at + 1, b'"'),
            b'[' => behind_unescaped(bytes, at + 1, b']'),
            b'<' => behind(b">").map(|end| end + 1),
            b'#' => behind(b"\n\r").or(Some(bytes.len())),
            _ => Some(at),
        }
    })
}
