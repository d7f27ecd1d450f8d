//! What a slip in the text was probably meant as, and where it was meant to end.

/// How many bytes are looked at to find out what was likely meant.
const LOOKED_AT: usize = 500;

/// The name of a file that stands where a JSON value is expected.
pub(super) fn json_file(text: &str, at: usize) -> Option<String> {
    let word = near_line(text, at).split([' ', '\t', '\r', '|', ')']).next()?;
    let file = word.trim_matches('"');
    let is_name = file.ends_with(".json") && !file.contains(['{', '[', '"', ',']);
    is_name.then(|| file.to_string())
}

/// Whether a line that is not indented begins a statement.
pub(super) fn is_statement(line: &str) -> bool {
    let name = line.trim_start_matches(['?', '!']);
    let rest = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let is_definition = rest.len() < name.len() && rest.trim_start().starts_with([':', '[', '{', '.']);
    line.starts_with('%') || is_definition && rest.contains(':')
}

/// The line from a byte on, as far as it is worth looking at: what follows is looked at more than once.
pub(crate) fn near_line(text: &str, from: usize) -> &str {
    let rest = &text[from..];
    let rest = &rest[..rest.floor_char_boundary(LOOKED_AT)];
    &rest[..rest.find('\n').unwrap_or(rest.len())]
}

/// Where in the text of a string a `\"` stands that was likely meant as the string's end.
pub(super) fn escaped_quote(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\'
            && let Some((_, '"')) = chars.next()
            && chars.peek().is_none_or(|&(_, next)| [' ', '|', ')', '\t', '\r'].contains(&next))
        {
            return Some(at);
        }
    }
    None
}

/// The slash that ends a regex too soon, and where it was likely meant to end. The regex begins at `start`, and `slash`
/// ends it.
pub(super) fn meant_end(text: &str, start: usize, slash: usize, all_flags: bool) -> Option<(usize, usize)> {
    let mut scan = ClassScan::default();
    text[start + 1..slash].chars().for_each(|c| scan.take(c));
    let is_open = scan.in_class;
    scan.take('/');
    let rest = near_line(text, slash + 1);
    let is_name = !all_flags && rest.starts_with(|c: char| c.is_alphanumeric());
    let is_text = rest.starts_with('.') && !rest.starts_with("..") || rest.starts_with('\\') && rest.trim().len() > 1;
    if !is_open && !is_name && !is_text {
        return None;
    }
    let (mut slashes, mut last) = (0, None);
    for (at, c) in rest.char_indices() {
        if c.is_ascii_whitespace() && !(is_open && scan.in_class) {
            break;
        }
        if c == '/' && !scan.in_class && !scan.escaped {
            (slashes, last) = (slashes + 1, Some(at));
        }
        scan.take(c);
    }
    // In `/a/b/c/` there may be a rule `b`.
    if is_name && !is_open && slashes % 2 == 0 {
        return None;
    }
    let end = last? + 1;
    let flags = rest[end..].find(|c: char| !"imslux".contains(c)).unwrap_or(rest.len() - end);
    Some((slash, slash + 1 + end + flags))
}

/// Whether a regex is in a class, character by character.
#[derive(Default)]
struct ClassScan {
    in_class: bool,
    escaped: bool,
    /// Nothing but `^` stands in the class yet, so that a `]` does not end it.
    is_new: bool,
}

impl ClassScan {
    fn take(&mut self, c: char) {
        let is_new = std::mem::take(&mut self.is_new);
        match c {
            _ if self.escaped => self.escaped = false,
            '\\' => self.escaped = true,
            '[' if !self.in_class => (self.in_class, self.is_new) = (true, true),
            '^' if is_new => self.is_new = true,
            ']' if self.in_class && !is_new => self.in_class = false,
            _ => {}
        }
    }
}

/// The character class that begins right before `at`, with its repetition, if a regex was left without its slashes:
/// `[a-z]+`. Brackets with names in them are Lark's own; what begins with a range of single characters is none.
pub(crate) fn class_at(text: &str, at: usize) -> Option<String> {
    let open = at.checked_sub(1).filter(|&open| text.as_bytes()[open] == b'[')?;
    let inside = &text[at..];
    let mut chars = inside.chars();
    let range = (chars.next()?, chars.next()?, chars.next()?);
    if range.1 != '-' || !range.0.is_ascii_alphanumeric() || !range.2.is_ascii_alphanumeric() {
        return None;
    }
    let end = at + inside.find([']', ' ', '/', '\n']).filter(|&end| inside.as_bytes()[end] == b']')? + 1;
    let repeat = text[end..].starts_with(['+', '*', '?']);
    Some(text[open..end + usize::from(repeat)].to_string())
}
