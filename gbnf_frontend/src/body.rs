//! Where a GBNF text ends that stands in braces in another text.

/// The `}` that closes the body that begins at `start`, behind its `{`. Braces in strings, classes, tokens and comments are
/// text, those of counts close each other.
///
/// Errors: if none closes it, where the string, class or token begins that the text ends in, or else the text's length.
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
            b'"' => at = closed(bytes, at, b'"').ok_or(begin)?,
            b'[' => at = closed(bytes, at, b']').ok_or(begin)?,
            b'<' => at += bytes[at..].iter().position(|&byte| byte == b'>').ok_or(begin)? + 1,
            b'#' => at += bytes[at..].iter().position(|byte| b"\n\r".contains(byte)).unwrap_or(bytes.len() - at),
            _ => {}
        }
    }
    Err(bytes.len())
}

/// Behind the first `end` that no backslash stands before.
fn closed(bytes: &[u8], mut at: usize, end: u8) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == end => return Some(at + 1),
            _ => at += 1,
        }
    }
}
