//! JSON texts as MaskBench writes them: Python's `json.dumps(value, ensure_ascii=False)`.
//!
//! In: a well-formed JSON text. Out: the same value with `, ` and `: ` between its parts and no other white space, strings
//! with as few escapes as JSON needs. Numbers stay as they are written, since Python would change what `1e-7` looks like.

/// Respells a JSON text. What is not JSON comes out as something that is not JSON either.
pub fn respell(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let mut rest = json.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' | '\t' | '\n' | '\r' => {}
            ',' => out.push_str(", "),
            ':' => out.push_str(": "),
            '"' => {
                out.push('"');
                string(&mut rest, &mut out);
            }
            _ => out.push(c),
        }
    }
    out
}

/// The rest of a string, its closing quote included.
fn string(rest: &mut std::str::Chars, out: &mut String) {
    while let Some(c) = rest.next() {
        match c {
            '"' => {
                out.push('"');
                return;
            }
            '\\' => escape(rest, out),
            _ => out.push(c),
        }
    }
}

/// What follows a backslash.
fn escape(rest: &mut std::str::Chars, out: &mut String) {
    match rest.next() {
        Some('/') => out.push('/'),
        Some('u') => {
            let high = hex4(rest);
            let is_high = (0xD800..0xDC00).contains(&high);
            let pair = is_high.then(|| low_surrogate(rest)).flatten();
            let code = pair.map_or(high, |low| 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            match char::from_u32(code) {
                Some('"') => out.push_str("\\\""),
                Some('\\') => out.push_str("\\\\"),
                Some('\n') => out.push_str("\\n"),
                Some('\r') => out.push_str("\\r"),
                Some('\t') => out.push_str("\\t"),
                Some('\u{8}') => out.push_str("\\b"),
                Some('\u{c}') => out.push_str("\\f"),
                Some(c) if c >= ' ' => out.push(c),
                // A control character, or half of a pair, which no text in UTF-8 can have otherwise.
                _ => out.push_str(&format!("\\u{code:04x}")),
            }
        }
        Some(c) => out.extend(['\\', c]),
        None => out.push('\\'),
    }
}

fn hex4(rest: &mut std::str::Chars) -> u32 {
    (0..4).fold(0, |value, _| value << 4 | rest.next().and_then(|c| c.to_digit(16)).unwrap_or(0))
}

/// The second half of a pair, if it follows.
fn low_surrogate(rest: &mut std::str::Chars) -> Option<u32> {
    let mut ahead = rest.clone();
    if ahead.next() != Some('\\') || ahead.next() != Some('u') {
        return None;
    }
    let low = hex4(&mut ahead);
    (0xDC00..0xE000).contains(&low).then(|| {
        *rest = ahead;
        low
    })
}

#[cfg(test)]
mod tests {
    use super::respell;

    #[test]
    fn like_python() {
        assert_eq!(respell("{\"a\" :[1 ,2.50],\n\t\"b\":{}}"), "{\"a\": [1, 2.50], \"b\": {}}");
        assert_eq!(respell(r#""\u0061\/\u00e9\u001F\n\"\\,:""#), r#""a/é\u001f\n\"\\,:""#);
        assert_eq!(respell(r#""\ud83d\ude00 \ud83d \u000a""#), r#""😀 \ud83d \n""#);
    }
}
