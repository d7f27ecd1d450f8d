//! Where a KBNF text ends that stands in braces in another text.

/// The `}` that closes the body that begins at `start`, behind its `{`. Braces in strings and comments are text, those of
/// repetitions close each other.
///
/// Errors: if none closes it, where the string or comment begins that the text ends in, or else the text's length.
pub fn body_end(text: &str, start: usize) -> Result<usize, usize> {
    let bytes = text.as_bytes();
    let mut open = 0usize;
    let mut at = start;
    while at < bytes.len() {
        let begin = at;
        at += 1;
        match bytes[begin] {
            b'{' => open += 1,
            b'}' if open == 0 => return Ok(begin),
            b'}' => open -= 1,
            b'(' if bytes.get(at) == Some(&b'*') => {
                at += 1;
                at += bytes[at..].windows(2).position(|pair| pair == b"*)").ok_or(begin)? + 2;
            }
            quote @ (b'"' | b'\'') => loop {
                match *bytes.get(at).ok_or(begin)? {
                    b'\\' => at += 2,
                    byte if byte == quote => break at += 1,
                    _ => at += 1,
                }
            },
            _ => {}
        }
    }
    Err(bytes.len())
}
