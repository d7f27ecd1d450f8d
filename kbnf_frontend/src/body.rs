//! Where a KBNF text ends that stands in braces in another text.

use larkspur_grammar::{behind_unescaped, closing_brace};

/// The `}` that closes the body that begins at `start`, behind its `{`. Braces in strings and comments are text, those of
/// repetitions close each other.
///
/// Errors: if none closes it, where the string or comment begins that the text ends in, or else the text's length.
pub fn body_end(text: &str, start: usize) -> Result<usize, usize> {
    closing_brace(text, start, |bytes, at| match bytes[at] {
        quote @ (b'"' | b'\'') => behind_unescaped(bytes, at + 1, quote),
        b'(' if bytes.get(at + 1) == Some(&b'*') => {
            let end = bytes[at + 2..].windows(2).position(|pair| pair == b"*)");
            end.map(|len| at + 2 + len + 2)
        }
        _ => Some(at),
    })
}
