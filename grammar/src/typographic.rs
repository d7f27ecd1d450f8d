//! Typographic quotes, which word processors write where a language wants straight ones.

/// How far the closing quote is looked for, in characters.
const INNER_MAX: usize = 500;

/// What stands in typographic quotes at the start of a text, on one line, and of how many bytes the whole is.
pub fn typographic(text: &str) -> Option<(&str, usize)> {
    let open = text.chars().next()?;
    let closing: &[char] = match open {
        '“' | '”' | '„' | '‟' => &['”', '“', '"'],
        '‘' | '’' | '‚' => &['’', '‘', '\''],
        '«' => &['»'],
        '»' => &['«'],
        _ => return None,
    };
    let inner = &text[open.len_utf8()..];
    let mut line = inner.char_indices().take(INNER_MAX).take_while(|&(_, c)| c != '\n');
    let (end, close) = line.find(|(_, c)| closing.contains(c))?;
    Some((&inner[..end], open.len_utf8() + end + close.len_utf8()))
}

#[cfg(test)]
mod tests {
    use super::typographic;

    #[test]
    fn quotes_are_found_with_their_ends() {
        assert_eq!(typographic("“hello” b"), Some(("hello", 11)));
        assert_eq!(typographic("„é\" b"), Some(("é", 6)));
        assert_eq!(typographic("»x«"), Some(("x", 5)));
        assert_eq!(typographic("‘’"), Some(("", 6)));
        assert_eq!(typographic("“a\n”"), None);
        assert_eq!(typographic("\"a\""), None);
        assert_eq!(typographic(&format!("“{}”", "a".repeat(500))), None);
    }
}
