//! Where a string was meant to end that is not written right: with a quote or a line break in it, or without its end.
//!
//! Asked only where what follows cannot be right, so that a right text is never judged.

/// What a quote is that ends a string, by the look of what follows.
pub(super) enum Quote {
    /// The string's end.
    Ends,
    /// A part of its text, which ends with the quote at `end`.
    Inside { end: usize },
    /// The beginning of the next string; this one was meant to end before it.
    Opens,
}

/// Signs that may follow a string.
const BEHIND: [char; 4] = [',', '}', ']', ':'];

/// What the quote at `at` is, to which a string goes that begins at `start`.
pub(super) fn quote(text: &str, start: usize, at: usize, is_key: bool) -> Quote {
    let rest = &text[at + 1..];
    let next = rest.trim_start_matches([' ', '\t']);
    let is_direct = next.len() == rest.len();
    let Some(first) = next.chars().next().filter(|c| !c.is_control() && !"\"/#;={[".contains(*c)) else {
        return Quote::Ends;
    };
    let word = &next[..next.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(next.len())];
    let is_value = ["true", "false", "null"].contains(&word) || first.is_ascii_digit() || first == '-';
    let is_member = next[word.len()..].trim_start().starts_with(':');
    if BEHIND.contains(&first) || is_value && (is_key || !is_direct) || !is_direct && (is_key || is_member) {
        return Quote::Ends;
    }
    let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
    let mut quotes = unescaped(line, '"').map(|quote| at + 1 + quote);
    let follows = |quote: usize| text[quote + 1..].trim_start().chars().next();
    let ends = |quote: &usize| follows(*quote).is_none_or(|c| BEHIND.contains(&c) && (c == ':') == is_key);
    let named = quotes.clone().next().is_some_and(|quote| follows(quote) == Some(':'));
    let (mut inside, mut end) = (1, None);
    for quote in quotes.by_ref() {
        if ends(&quote) {
            end = Some(quote);
            break;
        }
        inside += 1;
    }
    let is_odd = inside % 2 == 1;
    let opens = text[start + 1..at].trim_end().ends_with(if is_key { ':' } else { ',' });
    match end {
        _ if is_direct && opens && (is_key || named || is_odd) => Quote::Opens,
        Some(end) if is_direct || is_odd => Quote::Inside { end },
        _ => Quote::Ends,
    }
}

/// The quote that ends a string which goes on behind the line break at `at`; `None` if the string was rather meant to end
/// before it. If only a `part` of the text is JSON, less is taken for a string's text.
pub(super) fn end_behind_lines(text: &str, at: usize, quote: char, is_key: bool, part: bool) -> Option<usize> {
    let end = at + unescaped(&text[at..], quote).next()?;
    let before = text[at..end].rsplit('\n').next().unwrap_or_default().trim();
    let behind = text[end + quote.len_utf8()..].trim_start().chars().next();
    let closes = behind.is_none_or(|c| BEHIND.contains(&c) && (c == ':') == is_key);
    let opens = before.is_empty() || before.ends_with([',', '{', '[', ':']);
    (closes || !part && !opens).then_some(end)
}

/// Where a string that begins at `start` was meant to end that is not closed up to `line_end`: before the signs that end an
/// entry, and the brackets that are open, the innermost first.
pub(super) fn unclosed_end(
    text: &str,
    start: usize,
    line_end: usize,
    is_key: bool,
    open: impl Iterator<Item = char> + Clone,
) -> usize {
    let inner = text[start + 1..line_end].trim_end();
    if let Some(colon) = inner.find(':').filter(|_| is_key) {
        return start + 1 + inner[..colon].trim_end().len();
    }
    let inner = inner.strip_suffix(',').unwrap_or(inner).trim_end();
    let without = inner.trim_end_matches(['}', ']', ' ', '\t']);
    let closes = |from: usize| {
        let brackets = inner[from..].chars().filter(|c| !c.is_whitespace());
        let mut open = open.clone();
        brackets.into_iter().all(|c| open.next() == Some(if c == '}' { '{' } else { '[' }))
    };
    let tail = inner[without.len()..].char_indices().map(|(at, _)| without.len() + at).find(|&from| closes(from));
    start + 1 + inner[..tail.unwrap_or(inner.len())].trim_end().len()
}

/// The quotes in a text that have no backslash.
fn unescaped(text: &str, quote: char) -> impl Iterator<Item = usize> + Clone {
    let mut is_escaped = false;
    text.char_indices().filter_map(move |(at, c)| {
        let was_escaped = is_escaped;
        is_escaped = c == '\\' && !was_escaped;
        (c == quote && !was_escaped).then_some(at)
    })
}
