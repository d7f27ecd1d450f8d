//! Where a text ends that stands in braces in a text of another language.

/// The `}` that closes the text that begins at `start`, behind its `{`; braces within close each other.
///
/// `skip` gives the place behind what begins at a place in which braces are text, such as a string: the same place if
/// nothing of the kind begins there, `None` if it does not end.
///
/// Errors: if none closes it, where that begins in which the text ends, or else the text's length. Cost: linear.
pub fn closing_brace(text: &str, start: usize, skip: impl Fn(&[u8], usize) -> Option<usize>) -> Result<usize, usize> {
    let bytes = text.as_bytes();
    let mut open = 0usize;
    let mut at = start;
    while at < bytes.len() {
        let behind = skip(bytes, at).ok_or(at)?;
        if behind > at {
            at = behind;
            continue;
        }
        match bytes[at] {
            b'{' => open += 1,
            b'}' if open == 0 => return Ok(at),
            b'}' => open -= 1,
            _ => {}
        }
        at += 1;
    }
    Err(bytes.len())
}

/// Behind the first `end` from a place on that no backslash stands before.
pub fn behind_unescaped(bytes: &[u8], mut at: usize, end: u8) -> Option<usize> {
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == end => return Some(at + 1),
            _ => at += 1,
        }
    }
}
