//! Characters of strings and classes, and their escapes.

/// The character at the beginning of `rest`, which is not empty, and its length in the text.
///
/// Errors: the length of what is no escape, and why.
pub(crate) fn character(rest: &str) -> Result<(char, usize), (usize, &'static str)> {
    let mut chars = rest.chars();
    let first = chars.next().expect("a character");
    if first != '\\' {
        return Ok((first, first.len_utf8()));
    }
    let Some(letter) = chars.next() else { return Err((1, "nothing follows the backslash")) };
    let plain = |c: char| Ok((c, 1 + letter.len_utf8()));
    match letter {
        't' => plain('\t'),
        'r' => plain('\r'),
        'n' => plain('\n'),
        '\\' | '"' | '[' | ']' | '-' => plain(letter),
        'x' => code(rest, 2),
        'u' => code(rest, 4),
        'U' => code(rest, 8),
        _ => Err((1 + letter.len_utf8(), "the letter has no meaning behind a backslash")),
    }
}

/// A code point of so many hexadecimal digits behind two characters.
fn code(rest: &str, digits: usize) -> Result<(char, usize), (usize, &'static str)> {
    let found = rest.bytes().skip(2).take(digits).take_while(u8::is_ascii_hexdigit).count();
    if found < digits {
        return Err((2 + found, "a hexadecimal digit is missing"));
    }
    let value = u32::from_str_radix(&rest[2..2 + digits], 16).expect("hexadecimal digits");
    char::from_u32(value).map(|c| (c, 2 + digits)).ok_or((2 + digits, "there is no such character"))
}
