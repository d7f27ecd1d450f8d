//! One pass over the text with a stack of open arrays and objects.

use std::borrow::Cow;

use compact_str::CompactString;
use rustc_hash::FxHashMap;

use super::error::{JsonError, repeated_key};
use super::strings::{Quote, end_behind_lines, quote as quote_meant, unclosed_end};
use super::{Escape, JsonDocument, JsonId, JsonMember, Part, Value};
use crate::diagnostic::{Diagnostic, Severity, more_problems};
use crate::index::IndexVec;
use crate::limits::Limits;
use crate::span::{SourceId, Span};
use crate::typographic::typographic;

/// An array or object whose end has not come yet.
struct Open {
    bracket: char,
    start: usize,
    /// Where its elements and members begin among those of all that is open.
    elements: usize,
    members: usize,
    /// The key whose value comes next.
    key: Option<(CompactString, Span)>,
}

/// What the reader looks for next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expect {
    /// A value.
    Value,
    /// After `[`: a value or `]`. After `{`: a key or `}`.
    FirstEntry,
    /// A comma or the closing bracket.
    CommaOrEnd,
    /// After a comma in an array: a value. In an object: a key.
    Entry,
}

struct Reader<'a> {
    source: SourceId,
    text: &'a str,
    at: usize,
    limits: &'a Limits,
    document: JsonDocument,
    open: Vec<Open>,
    /// Elements and members of all that is open, the outermost first.
    elements: Vec<JsonId>,
    members: Vec<JsonMember>,
    errors: Vec<Diagnostic>,
    /// A key was repeated: there are values in the table that nothing holds.
    has_repeats: bool,
    /// Only a part of the text is JSON.
    is_part: bool,
    /// Reading makes no sense any more.
    stopped: bool,
}

/// Bytes that a value of a schema takes, roughly.
const BYTES_PER_VALUE: usize = 16;

/// Of the values that there is room for one in so many is a member of an object, where descriptions are long.
const VALUES_PER_MEMBER: usize = 4;

/// Values that there is room for from the start where the text may go on behind the value.
const PART_ROOM: usize = 256;

/// Members of objects that are open at once, mostly.
const MEMBERS_ROOM: usize = 16;

/// Keys of an object that are compared each with each to find repeats.
const COMPARED_MAX: usize = 8;

/// A text that is no JSON.
pub(super) struct Broken {
    pub diagnostics: Vec<Diagnostic>,
    /// Where the value ended, if it could be read nevertheless.
    pub end: Option<usize>,
}

/// See [`super::parse_json_prefix`]; with `whole`, nothing but white space may follow.
pub(super) fn read(
    source: SourceId,
    text: &str,
    start: usize,
    limits: &Limits,
    whole: bool,
) -> Result<(JsonDocument, usize), Broken> {
    if text.len() > limits.source_bytes_max {
        let error = JsonError::TooLong { limit: limits.source_bytes_max, used: text.len() };
        return Err(Broken { diagnostics: vec![error.at(Span::new(source, 0, 0))], end: None });
    }
    let room = text.len().saturating_sub(start) / BYTES_PER_VALUE;
    // Nobody knows how much of the rest is one value.
    let room = if whole { room } else { room.min(PART_ROOM) };
    let document = JsonDocument {
        values: IndexVec::with_room(room),
        elements: Vec::new(),
        members: Vec::with_capacity(room / VALUES_PER_MEMBER),
        // No text is longer than it is written, and descriptions are most of a large schema.
        texts: String::with_capacity(room * BYTES_PER_VALUE),
        spans: IndexVec::with_room(room),
        parents: IndexVec::with_room(room),
        escapes: Vec::new(),
        originals: FxHashMap::default(),
        root: JsonId(0),
        warnings: Vec::new(),
    };
    let at = start.min(text.len());
    let mut reader = Reader {
        source,
        text,
        at,
        limits,
        document,
        open: Vec::new(),
        elements: Vec::new(),
        members: Vec::with_capacity(room.min(MEMBERS_ROOM)),
        errors: Vec::new(),
        has_repeats: false,
        is_part: !whole,
        stopped: false,
    };
    reader.document_value();
    let end = reader.at;
    if whole && !reader.stopped {
        reader.skip_blank();
        if reader.at < text.len() {
            reader.error(JsonError::TrailingText, reader.at, text.trim_end().len().max(reader.at));
        }
    }
    if !reader.errors.is_empty() {
        return Err(Broken { diagnostics: reader.errors, end: (!reader.stopped).then_some(end) });
    }
    if reader.has_repeats {
        reader.document.keep_held();
    }
    Ok((reader.document, end))
}

impl<'a> Reader<'a> {
    /// Reads until the outermost value has ended. Each turn takes a byte, closes a bracket or stops.
    fn document_value(&mut self) {
        let mut expect = Expect::Value;
        while !self.stopped {
            self.skip_blank();
            expect = match expect {
                Expect::Value => match self.value() {
                    Some(next) => next,
                    None => return,
                },
                Expect::FirstEntry | Expect::Entry => match self.entry(expect == Expect::FirstEntry) {
                    Some(next) => next,
                    None => return,
                },
                Expect::CommaOrEnd => match self.comma_or_end() {
                    Some(next) => next,
                    None => return,
                },
            };
        }
    }

    /// Reads a value or the start of one; `None` at the end of the outermost.
    fn value(&mut self) -> Option<Expect> {
        let start = self.at;
        match self.peek() {
            Some(bracket @ ('{' | '[')) => {
                if self.open.len() >= self.limits.grammar_depth_max {
                    let limit = self.limits.grammar_depth_max;
                    return self.stop(JsonError::TooDeep { limit }, start, start + 1);
                }
                self.at += 1;
                let (elements, members) = (self.elements.len(), self.members.len());
                self.open.push(Open { bracket, start, elements, members, key: None });
                Some(Expect::FirstEntry)
            }
            Some(quote @ ('"' | '\'')) => {
                let text = self.string(quote, false);
                let text = self.kept(&text);
                self.finish(Value::String(text), start)
            }
            Some(_) if self.is_typographic() => {
                let text = self.typographic();
                let text = self.kept(text);
                self.finish(Value::String(text), start)
            }
            Some('-' | '+' | '.' | '0'..='9') => {
                let number = self.number();
                let number = self.kept(number);
                self.finish(Value::Number(number), start)
            }
            Some(c) if c.is_alphanumeric() || c == '_' => {
                let word = self.word();
                let value = match word {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    "null" => Value::Null,
                    _ => {
                        let word = shortened(word);
                        self.error(JsonError::UnknownWord { word }, start, self.at);
                        Value::Null
                    }
                };
                self.finish(value, start)
            }
            Some(',' | '}' | ']') if !self.open.is_empty() => {
                // The value was forgotten; the bracket or comma is read by whoever expects one.
                let found = self.found();
                self.error(JsonError::ExpectedValue { found }, start, start + 1);
                self.finish(Value::Null, start)
            }
            None if !self.open.is_empty() => self.unclosed(),
            _ => {
                let (found, len) = (self.found(), self.peek().map_or(0, char::len_utf8));
                self.stop(JsonError::ExpectedValue { found }, start, start + len)
            }
        }
    }

    /// After `[`, `{` or a comma.
    fn entry(&mut self, first: bool) -> Option<Expect> {
        let start = self.at;
        let bracket = self.open.last()?.bracket;
        let close = self.peek();
        if let Some(c @ ('}' | ']')) = close {
            if !first {
                let comma = self.text[..start].rfind(',').unwrap_or(start);
                self.error(JsonError::TrailingComma, comma, comma + 1);
            }
            return self.close(c);
        }
        if bracket == '[' {
            return Some(Expect::Value);
        }
        let key = match close {
            Some(quote @ ('"' | '\'')) => CompactString::from(self.string(quote, true)),
            Some(_) if self.is_typographic() => self.typographic().into(),
            Some(c) if c.is_alphabetic() || c == '_' || c == '$' => {
                let key: CompactString = self.word().into();
                self.error(JsonError::UnquotedKey { key: shortened(&key) }, start, self.at);
                key
            }
            None => return self.unclosed(),
            Some(c) => {
                let found = self.found();
                self.error(JsonError::ExpectedKey { found }, start, start + c.len_utf8());
                match c {
                    c if c.is_ascii_digit() || c == '-' => self.number().into(),
                    '{' | '[' => {
                        // A value where the key should be: read it as the value of an unnamed member.
                        let span = self.span(start, start);
                        self.open.last_mut()?.key = Some(("".into(), span));
                        return Some(Expect::Value);
                    }
                    ':' => "".into(),
                    c => {
                        self.at += c.len_utf8();
                        return Some(Expect::Entry);
                    }
                }
            }
        };
        let span = self.span(start, self.at);
        self.skip_blank();
        match self.peek() {
            Some(':') => self.at += 1,
            _ => {
                let (found, len) = (self.found(), self.peek().map_or(0, char::len_utf8));
                self.error(JsonError::ExpectedColon { found }, self.at, self.at + len);
                if self.peek() == Some('=') {
                    self.at += 1;
                }
            }
        }
        self.open.last_mut()?.key = Some((key, span));
        Some(Expect::Value)
    }

    /// After an entry.
    fn comma_or_end(&mut self) -> Option<Expect> {
        let start = self.at;
        let top = self.open.last()?;
        let (open, opened) = (top.bracket, self.span(top.start, top.start + 1));
        match self.peek() {
            Some(',') => {
                self.at += 1;
                Some(Expect::Entry)
            }
            Some(c @ ('}' | ']')) => self.close(c),
            None => self.unclosed(),
            Some(':') if self.is_member_in_array() => self.member_behind_array(),
            Some(c) => {
                let found = self.found();
                self.error(JsonError::ExpectedComma { found, open, opened }, start, start + c.len_utf8());
                match c {
                    // The comma was forgotten.
                    '"' | '{' | '[' | '-' | '0'..='9' => return Some(Expect::Entry),
                    c if c.is_alphabetic() => return Some(Expect::Entry),
                    ';' => self.at += 1,
                    _ => {
                        self.stopped = true;
                        return None;
                    }
                }
                Some(Expect::Entry)
            }
        }
    }

    /// Whether what was just read in an array is rather the key of a member of the object around it.
    fn is_member_in_array(&self) -> bool {
        let [.., outer, top] = self.open.as_slice() else { return false };
        let last = self.elements[top.elements..].last();
        outer.bracket == '{' && top.bracket == '[' && last.is_some_and(|&last| self.document.string(last).is_some())
    }
    /// Closes the array before its last element, and takes that as the key before the colon here.
    fn member_behind_array(&mut self) -> Option<Expect> {
        let key = self.elements.pop()?;
        let (text, span) = (self.document.string(key)?.into(), self.document.span(key));
        let top = self.open.pop()?;
        let before = self.text[..span.start as usize].trim_end();
        let end = before.strip_suffix(',').unwrap_or(before).trim_end().len();
        // That a comma is missing before it was said of the same.
        let is_same = |error: &mut Diagnostic| error.code == "N013" && error.labels[0].span.start == span.start;
        self.errors.pop_if(is_same);
        self.error(JsonError::Unclosed { open: top.bracket, opened: self.span(top.start, top.start + 1) }, end, end);
        let array = self.array(top.elements);
        self.finish(array, top.start);
        self.at += 1;
        self.open.last_mut()?.key = Some((text, span));
        Some(Expect::Value)
    }

    /// Closes the innermost bracket with `c`, which stands here.
    fn close(&mut self, c: char) -> Option<Expect> {
        let top = self.open.last()?;
        let (open, opened) = (top.bracket, self.span(top.start, top.start + 1));
        let matching = if open == '{' { '}' } else { ']' };
        if c != matching {
            let outer_matches = self.open.iter().rev().skip(1).any(|outer| (outer.bracket == '{') == (c == '}'));
            if outer_matches {
                // The inner one was forgotten; the outer one reads `c` again.
                self.error(JsonError::Unclosed { open, opened }, self.at, self.at + 1);
            } else {
                self.error(JsonError::WrongBracket { found: c, open, opened }, self.at, self.at + 1);
                self.at += 1;
            }
        } else {
            self.at += 1;
        }
        let top = self.open.pop()?;
        let value = match top.bracket {
            '[' => self.array(top.elements),
            _ => self.object(top.members),
        };
        // Where there were mistakes, an object may have had elements.
        self.elements.truncate(top.elements);
        self.members.truncate(top.members);
        self.finish(value, top.start)
    }

    /// The array of the elements from `start` on.
    fn array(&mut self, start: usize) -> Value {
        let elements = &mut self.document.elements;
        let before = elements.len();
        elements.extend_from_slice(&self.elements[start..]);
        self.elements.truncate(start);
        Value::Array(Part::since(before, elements.len()))
    }
    /// The object of the members from `start` on.
    fn object(&mut self, start: usize) -> Value {
        let before = self.document.members.len();
        if has_repeats(&self.members[start..]) {
            let members = self.members.drain(start..).collect();
            let members = self.without_repeats(members);
            self.document.members.extend(members);
        } else {
            self.document.members.extend(self.members.drain(start..));
        }
        Value::Object(Part::since(before, self.document.members.len()))
    }

    /// Of members with equal keys, the last value at the first one's place.
    fn without_repeats(&mut self, members: Vec<JsonMember>) -> Vec<JsonMember> {
        let order = order_of(&members);
        self.has_repeats = true;
        // Stable sorting keeps equal keys in text order: the first of a run stays, the last gives the value.
        let mut replaced: Vec<Option<JsonMember>> = members.into_iter().map(Some).collect();
        let mut from = 0;
        for index in 1..=order.len() {
            let same = index < order.len()
                && replaced[order[index]].as_ref().map(|m| &m.key) == replaced[order[from]].as_ref().map(|m| &m.key);
            if same {
                continue;
            }
            let run = &order[from..index];
            from = index;
            let (&first, &last) = match (run.first(), run.last()) {
                (Some(first), Some(last)) if first != last => (first, last),
                _ => continue,
            };
            let (first_span, last_member) = (replaced[first].as_ref().map(|m| m.key_span), replaced[last].take());
            if let (Some(first_span), Some(member)) = (first_span, last_member) {
                if self.document.warnings.len() < self.limits.diagnostics_max {
                    self.document.warnings.push(repeated_key(&shortened(&member.key), member.key_span, first_span));
                }
                run.iter().for_each(|&index| replaced[index] = None);
                replaced[first] = Some(member);
            }
        }
        replaced.into_iter().flatten().collect()
    }

    /// Adds a value that ends here to the innermost open bracket; `None` if there is none.
    fn finish(&mut self, value: Value, start: usize) -> Option<Expect> {
        let span = self.span(start, self.at);
        let id = self.document.values.next_id();
        let JsonDocument { parents, elements, members, .. } = &mut self.document;
        match value {
            Value::Array(part) => elements[part.range()].iter().for_each(|&child| parents[child] = id),
            Value::Object(part) => members[part.range()].iter().for_each(|member| parents[member.value] = id),
            _ => {}
        }
        self.document.values.push(value);
        self.document.spans.push(span);
        self.document.parents.push(id);
        match self.open.last_mut() {
            None => {
                self.document.root = id;
                return None;
            }
            Some(top) => match top.key.take() {
                Some((key, key_span)) => self.members.push(JsonMember { key, key_span, value: id }),
                None => self.elements.push(id),
            },
        }
        Some(Expect::CommaOrEnd)
    }

    /// Puts a text into the table.
    fn kept(&mut self, text: &str) -> Part {
        let start = self.document.texts.len();
        self.document.texts.push_str(text);
        Part::since(start, self.document.texts.len())
    }

    /// Whether typographic quotes stand here.
    fn is_typographic(&self) -> bool {
        !self.text.as_bytes()[self.at].is_ascii() && typographic(&self.text[self.at..]).is_some()
    }
    /// What stands in typographic quotes here.
    fn typographic(&mut self) -> &'a str {
        let (text, start) = (self.text, self.at);
        let Some((inner, len)) = typographic(&text[start..]) else { return "" };
        self.at += len;
        let shown = shortened(inner);
        self.error(JsonError::TypographicQuotes { inner: shown }, start, self.at);
        inner
    }

    /// Reads a string whose opening quote stands here.
    #[inline]
    fn string(&mut self, quote: char, is_key: bool) -> Cow<'a, str> {
        let (text, start) = (self.text, self.at + 1);
        let rest = &text.as_bytes()[start..];
        let len = plain_len(rest, quote as u8);
        // Most strings stand there as they are.
        match rest.get(len..) {
            Some(&[b'"', behind, ..]) if quote == '"' && is_right_behind(behind) => {
                self.at = start + len + 1;
                Cow::Borrowed(&text[start..start + len])
            }
            _ => Cow::Owned(self.string_with_more(quote, is_key)),
        }
    }

    /// The same of any string: with escapes, with mistakes.
    #[inline(never)]
    fn string_with_more(&mut self, quote: char, is_key: bool) -> String {
        let text = self.text;
        let start = self.at;
        if quote == '\'' {
            self.error(JsonError::SingleQuotes, start, start + 1);
        }
        self.at += 1;
        let mut decoded = String::new();
        let mut run = self.at;
        // Up to here quotes, and line breaks, are a part of its text, which was reported.
        let (mut quotes_end, mut lines_end) = (start, start);
        let end = loop {
            let rest = &text.as_bytes()[self.at..];
            let plain = plain_len(rest, quote as u8);
            self.at += plain;
            let stop = text.as_bytes().get(self.at).copied();
            let breaks = if stop.is_some_and(|byte| byte < 0x20) { line_break(&text[self.at..]) } else { 0 };
            if breaks > 0 {
                if self.at >= lines_end {
                    let Some(end) = end_behind_lines(text, self.at, quote, is_key, self.is_part) else {
                        break self.unclosed_string(start, run, self.at, is_key);
                    };
                    lines_end = end;
                    self.error(JsonError::LineBreak, self.at, self.at);
                }
                self.at += breaks;
                continue;
            }
            if let Some(code) = stop.filter(|&byte| byte < 0x20) {
                self.error(JsonError::ControlCharacter { code: u32::from(code) }, self.at, self.at + 1);
                self.at += 1;
                continue;
            }
            if stop == Some(quote as u8) {
                if self.at < quotes_end {
                    self.at += 1;
                    continue;
                }
                // Behind the outermost value anything may follow.
                let is_right = rest.get(plain + 1).is_some_and(|&behind| is_right_behind(behind));
                if is_right || quote != '"' || self.open.is_empty() || self.at == quotes_end {
                    break self.at;
                }
                match quote_meant(text, start, self.at, is_key) {
                    Quote::Ends => break self.at,
                    Quote::Inside { end } => {
                        self.error(JsonError::QuoteInside, self.at, self.at + 1);
                        quotes_end = end;
                        self.at += 1;
                        continue;
                    }
                    Quote::Opens => break self.unclosed_string(start, run, self.at, is_key),
                }
            }
            if stop.is_none() {
                break self.unclosed_string(start, run, self.at, is_key);
            }
            decoded.push_str(&text[run..self.at]);
            let (escape, before) = (self.at, decoded.len());
            self.escape(&mut decoded);
            self.document.escapes.push(Escape {
                source: self.source,
                start: escape as u32,
                end: self.at as u32,
                decoded: (decoded.len() - before) as u32,
            });
            run = self.at;
        };
        decoded.push_str(&text[run..end]);
        let is_closed = text[end..].starts_with(quote);
        self.at = end + usize::from(is_closed);
        decoded
    }

    /// Reports a string that is not closed up to `line_end`; returns where it was meant to end, behind `run`.
    fn unclosed_string(&mut self, start: usize, run: usize, line_end: usize, is_key: bool) -> usize {
        let open = self.open.iter().rev().map(|open| open.bracket);
        let end = unclosed_end(self.text, start, line_end, is_key, open).max(run);
        self.error(JsonError::UnclosedString, start, end);
        // Where nothing follows, nothing else is missing for sure.
        self.stopped |= self.text[end..].trim_end().is_empty();
        end
    }

    /// Reads the escape that stands here; at least its backslash.
    fn escape(&mut self, decoded: &mut String) {
        let start = self.at;
        self.at += 1;
        let Some(c) = self.peek() else { return };
        let plain = match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => return self.unicode_escape(start, decoded),
            _ => {
                if c != '\n' {
                    self.at += c.len_utf8();
                }
                let escape = self.text[start..self.at].to_owned();
                return self.error(JsonError::UnknownEscape { escape }, start, self.at);
            }
        };
        self.at += 1;
        decoded.push(plain);
    }

    fn unicode_escape(&mut self, start: usize, decoded: &mut String) {
        self.at += 1;
        let Some(high) = self.hex4() else {
            return self.error(JsonError::BadUnicodeEscape, start, self.at);
        };
        let code = match high {
            0xD800..=0xDBFF => {
                let back = self.at;
                let low = if self.text[self.at..].starts_with("\\u") {
                    self.at += 2;
                    self.hex4()
                } else {
                    None
                };
                match low {
                    Some(low @ 0xDC00..=0xDFFF) => 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00),
                    _ => {
                        self.at = back;
                        high
                    }
                }
            }
            _ => high,
        };
        match char::from_u32(code) {
            Some(c) => decoded.push(c),
            None => self.error(JsonError::LoneSurrogate { code }, start, self.at),
        }
    }

    /// Takes four hexadecimal digits, or as many as there are and `None`.
    fn hex4(&mut self) -> Option<u32> {
        let rest = &self.text.as_bytes()[self.at..];
        let len = rest.iter().take(4).take_while(|b| b.is_ascii_hexdigit()).count();
        let digits = &self.text[self.at..self.at + len];
        self.at += len;
        if len == 4 { u32::from_str_radix(digits, 16).ok() } else { None }
    }

    /// Takes everything that looks like a number and checks it.
    fn number(&mut self) -> &'a str {
        let (text, start) = (self.text, self.at);
        let rest = &text[start..];
        let like = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_');
        let len = rest.find(|c| !like(c)).unwrap_or(rest.len());
        self.at += len;
        let text = &rest[..len];
        if let Err(reason) = check_number(text) {
            self.error(JsonError::BadNumber { reason }, start, self.at);
            return "0";
        }
        text
    }

    fn word(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let len = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$')).unwrap_or(rest.len());
        let word = &self.text[self.at..self.at + len];
        self.at += len;
        word
    }

    /// White space; comments are reported and skipped.
    #[inline]
    fn skip_blank(&mut self) {
        // Mostly nothing is there.
        if self.text.as_bytes().get(self.at).is_some_and(|&byte| byte <= b' ' || matches!(byte, b'/' | b'#')) {
            self.skip_what_is_blank();
        }
    }
    #[inline(never)]
    fn skip_what_is_blank(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            while bytes.get(self.at).is_some_and(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')) {
                self.at += 1;
            }
            if !bytes.get(self.at).is_some_and(|byte| matches!(byte, b'/' | b'#')) {
                return;
            }
            let rest = &self.text[self.at..];
            let len = if rest.starts_with("//") || (rest.starts_with('#') && !self.open.is_empty()) {
                rest.find('\n').unwrap_or(rest.len())
            } else if let Some(body) = rest.strip_prefix("/*") {
                body.find("*/").map_or(rest.len(), |len| len + 4)
            } else {
                return;
            };
            if self.open.is_empty() && !self.document.values.is_empty() {
                // After the value: not ours.
                return;
            }
            self.error(JsonError::Comment, self.at, self.at + len);
            self.at += len;
        }
    }

    fn unclosed(&mut self) -> Option<Expect> {
        if let Some(top) = self.open.last() {
            let (open, opened) = (top.bracket, self.span(top.start, top.start + 1));
            let end = self.text.len();
            self.error(JsonError::Unclosed { open, opened }, end, end);
        }
        self.stopped = true;
        None
    }
    fn stop(&mut self, error: JsonError, start: usize, end: usize) -> Option<Expect> {
        self.error(error, start, end);
        self.stopped = true;
        None
    }
    fn error(&mut self, error: JsonError, start: usize, end: usize) {
        // A document with a mistake is an error, whatever the limit.
        if self.errors.len() < self.limits.diagnostics_max.max(1) {
            let span = self.span(start, end);
            self.errors.push(error.at(span));
        } else if !std::mem::replace(&mut self.stopped, true) {
            let span = self.span(start, end);
            self.errors.push(more_problems("N099", Severity::Error, Some(span), None));
        }
    }
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }
    fn peek(&self) -> Option<char> {
        match self.text.as_bytes().get(self.at)? {
            byte if byte.is_ascii() => Some(char::from(*byte)),
            _ => self.text[self.at..].chars().next(),
        }
    }
    fn found(&self) -> String {
        match self.peek() {
            None => "the end of the text".into(),
            Some(c) if c.is_control() => format!("U+{:04X}", c as u32),
            Some(c) => format!("`{c}`"),
        }
    }
}

/// Whether keys of an object are equal.
fn has_repeats(members: &[JsonMember]) -> bool {
    if members.len() > COMPARED_MAX {
        return order_of(members).windows(2).any(|pair| members[pair[0]].key == members[pair[1]].key);
    }
    let is_repeat = |(at, member): (usize, &JsonMember)| members[..at].iter().any(|other| other.key == member.key);
    members.iter().enumerate().any(is_repeat)
}

/// The members in the order of their keys, those of equal keys in the order of the text.
fn order_of(members: &[JsonMember]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|&a, &b| members[a].key.cmp(&members[b].key));
    order
}

/// How many bytes at the beginning are neither the quote, a backslash nor a control character. Eight at a time (H. S. Warren, Hacker's
/// Delight, 6-1): descriptions are most of a large schema.
fn plain_len(bytes: &[u8], quote: u8) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // Of each the lowest high bit is right; those above it may be wrong.
    let less = |word: u64, byte: u8| word.wrapping_sub(ONES * u64::from(byte)) & !word & HIGH;
    let equal = |word: u64, byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, &word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(word);
        let found = less(word, 0x20) | equal(word, quote) | equal(word, b'\\');
        if found != 0 {
            return index * 8 + found.trailing_zeros() as usize / 8;
        }
    }
    let in_rest = rest.iter().position(|&byte| byte == quote || byte == b'\\' || byte < 0x20);
    words.len() * 8 + in_rest.unwrap_or(rest.len())
}

/// Whether a quote before this byte ends its string for sure.
fn is_right_behind(byte: u8) -> bool {
    matches!(byte, b',' | b'}' | b']' | b':' | b'\n')
}

/// The bytes of the line break at the start of a text, 0 if none is there.
fn line_break(text: &str) -> usize {
    match text.as_bytes() {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        _ => 0,
    }
}

/// Whether it is a JSON number; otherwise what is wrong with it.
pub(crate) fn check_number(text: &str) -> Result<(), &'static str> {
    if text.starts_with('+') {
        return Err("a number does not begin with `+`");
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let rest = text.strip_prefix('-').unwrap_or(text);
    let whole = digits(rest);
    if whole == 0 {
        return Err("a digit must stand before anything else");
    }
    if whole > 1 && rest.starts_with('0') {
        return Err("a number does not begin with `0` unless a point follows");
    }
    let mut rest = &rest[whole..];
    if let Some(fraction) = rest.strip_prefix('.') {
        let len = digits(fraction);
        if len == 0 {
            return Err("a digit must follow the point");
        }
        rest = &fraction[len..];
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let len = digits(exponent);
        if len == 0 {
            return Err("digits must follow the `e`");
        }
        rest = &exponent[len..];
    }
    if rest.is_empty() { Ok(()) } else { Err("it goes on with something that is not part of a number") }
}

/// At most 40 characters of a text, for a message.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::plain_len;

    #[test]
    fn what_is_plain_is_found_at_each_place_before_any_byte() {
        let naive = |bytes: &[u8], quote: u8| {
            bytes.iter().position(|&byte| byte == quote || byte == b'\\' || byte < 0x20).unwrap_or(bytes.len())
        };
        for quote in [b'"', b'\''] {
            for byte in 0..=255u8 {
                for (at, len) in (0..20).flat_map(|len| (0..len).map(move |at| (at, len))) {
                    for others in [b'a', 0x20, 0x7F, 0x80, 0xFF, byte] {
                        let mut bytes = vec![others; len];
                        bytes[at] = byte;
                        assert_eq!(plain_len(&bytes, quote), naive(&bytes, quote), "{bytes:?}");
                    }
                }
            }
        }
    }
}
