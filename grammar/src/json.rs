//! A JSON reader that keeps spans: for `%json {…}`, `%llguidance {…}`, `%regex {…}` and schema files.
//!
//! RFC 8259, with two choices: numbers stay text, so that nothing is rounded; of equal keys in one object the last
//! counts, as everywhere, and a warning says so. Differs from general readers in that mistakes do not stop it where it
//! can tell what was meant: a missing comma, a comma too many, quotes forgotten around a key, comments.
//! Values live in one table, children before their parents, and what they hold in others; nothing recurses, neither here nor when a
//! document is dropped.

mod error;
mod path;
mod reader;
mod strings;

use std::borrow::Cow;
use std::ops::Range;

use compact_str::CompactString;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::define_id;
use crate::diagnostic::Diagnostic;
use crate::index::{Id, IndexVec};
use crate::limits::Limits;
use crate::span::{SourceId, Span, behind_bom};
use crate::text_map::TextMap;

pub use error::CODES;
pub use path::{PathStep, path_at, path_pointer};
pub(crate) use reader::check_number;

define_id! {
    /// A value of a [`JsonDocument`].
    pub struct JsonId = "j";
}

/// A value; the values inside it are entries of the same document.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum JsonValue<'d> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as it is written; [`Decimal`](crate::number::Decimal) reads it exactly.
    Number(&'d str),
    /// A string, decoded.
    String(&'d str),
    /// The elements in order.
    Array(&'d [JsonId]),
    /// The members in order of their keys' first occurrence, without repeated keys.
    Object(&'d [JsonMember]),
}

/// The same as it is kept: texts, elements and members are in tables of the document.
#[derive(Clone, Copy, Debug)]
enum Value {
    Null,
    Bool(bool),
    Number(Part),
    String(Part),
    Array(Part),
    Object(Part),
}

/// A part of a table.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: u32,
    len: u32,
}

impl Part {
    /// What was added to a table since it had `start` entries.
    fn since(start: usize, end: usize) -> Self {
        Self { start: start as u32, len: (end - start) as u32 }
    }
    fn range(self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
    /// The same of a table that stands behind `before` entries now.
    fn behind(self, before: usize) -> Self {
        Self { start: self.start + before as u32, ..self }
    }
}

/// A key and its value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JsonMember {
    /// The key, decoded.
    pub key: CompactString,
    /// Where the key stands, quotes included.
    pub key_span: Span,
    /// The value.
    pub value: JsonId,
}

/// A JSON text, or several of them in one table.
#[derive(Clone, Debug)]
pub struct JsonDocument {
    /// Values, children before parents.
    values: IndexVec<JsonId, Value>,
    /// The elements of all arrays.
    elements: Vec<JsonId>,
    /// The members of all objects.
    members: Vec<JsonMember>,
    /// The texts of all strings and numbers.
    texts: String,
    /// Where each value stands. Indexed as `values`.
    spans: IndexVec<JsonId, Span>,
    /// The array or object that holds each value; a text's outermost value holds itself. Indexed as `values`.
    parents: IndexVec<JsonId, JsonId>,
    /// The escapes in strings and keys, in the order of the texts and of their bytes.
    escapes: Vec<Escape>,
    /// What the values that [`copy`](JsonDocument::copy) made are copies of.
    originals: FxHashMap<JsonId, JsonId>,
    root: JsonId,
    warnings: Vec<Diagnostic>,
}

/// An escape in a string: its bytes in the source, and how many it stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Escape {
    source: SourceId,
    start: u32,
    end: u32,
    decoded: u32,
}

/// Reads the value that starts at byte `start` of `text` (white space before it is skipped) and returns it with the byte
/// after it. `start` is on a character's start, or past the end, where the value is missing.
///
/// Errors: the mistakes found, of codes [`CODES`]; [`value_end`] then says where to go on.
pub fn parse_json_prefix(
    source: SourceId,
    text: &str,
    start: usize,
    limits: &Limits,
) -> Result<(JsonDocument, usize), Vec<Diagnostic>> {
    parse_json_part(source, text, start, limits).map_err(|(diagnostics, _)| diagnostics)
}

/// The same; of a value with mistakes, too, where it ends, if that could be told.
pub fn parse_json_part(
    source: SourceId,
    text: &str,
    start: usize,
    limits: &Limits,
) -> Result<(JsonDocument, usize), (Vec<Diagnostic>, Option<usize>)> {
    reader::read(source, text, start, limits, false).map_err(|broken| (broken.diagnostics, broken.end))
}

/// Reads a text that is one JSON value; a byte order mark before it is skipped.
///
/// Errors: as [`parse_json_prefix`], and for what follows the value.
pub fn parse_json(source: SourceId, text: &str, limits: &Limits) -> Result<JsonDocument, Vec<Diagnostic>> {
    let start = behind_bom(text);
    reader::read(source, text, start, limits, true).map(|(document, _)| document).map_err(|broken| broken.diagnostics)
}

/// The byte after the JSON value at `start` whether it is well-formed or not, judged by brackets and quotes alone;
/// where these do not close, the end of the text. For front ends that go on after mistakes.
pub fn value_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let blank = |b: &&u8| b.is_ascii_whitespace();
    let mut at = start.min(text.len());
    at += bytes[at..].iter().take_while(blank).count();
    let mut depth = 0usize;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at),
            b'{' | b'[' => (at, depth) = (at + 1, depth + 1),
            b'}' | b']' => (at, depth) = (at + usize::from(depth > 0), depth.saturating_sub(1)),
            _ if depth > 0 => at += 1,
            _ => {
                let word = |c: char| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_' | '$');
                let rest = text.get(at..).unwrap_or_default();
                return at + rest.find(|c| !word(c)).unwrap_or(rest.len());
            }
        }
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// The byte after the string that begins at `start`; one that is not closed on its line ends there.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\n' => return at,
            b'\\' if bytes.get(at + 1).is_some_and(|&b| b != b'\n') => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

impl JsonDocument {
    /// The value.
    #[inline]
    pub fn value(&self, id: JsonId) -> JsonValue<'_> {
        match self.values[id] {
            Value::Null => JsonValue::Null,
            Value::Bool(value) => JsonValue::Bool(value),
            Value::Number(text) => JsonValue::Number(&self.texts[text.range()]),
            Value::String(text) => JsonValue::String(&self.texts[text.range()]),
            Value::Array(elements) => JsonValue::Array(&self.elements[elements.range()]),
            Value::Object(members) => JsonValue::Object(&self.members[members.range()]),
        }
    }
    /// Where the value stands, quotes and brackets included.
    pub fn span(&self, id: JsonId) -> Span {
        self.spans[id]
    }
    /// The outermost value.
    pub fn root(&self) -> JsonId {
        self.root
    }
    /// Number of values: the root, and what is inside it or was appended.
    pub fn len(&self) -> usize {
        self.values.len()
    }
    /// Never: there is a root.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
    /// Gives back the room that is not needed: for a document that is kept.
    pub fn shrink(&mut self) {
        self.values.shrink();
        self.spans.shrink();
        self.parents.shrink();
        self.elements.shrink_to_fit();
        self.members.shrink_to_fit();
        self.texts.shrink_to_fit();
    }
    /// The array or object that holds the value; `None` for the outermost value of a text.
    pub fn parent(&self, id: JsonId) -> Option<JsonId> {
        Some(self.parents[id]).filter(|&parent| parent != id)
    }
    /// Adds the values of another text and returns its outermost value. The root stays what it is.
    pub fn append(&mut self, other: JsonDocument) -> JsonId {
        let offset = self.values.len() as u32;
        let moved = |id: JsonId| JsonId(id.0 + offset);
        let (elements, members, texts) = (self.elements.len(), self.members.len(), self.texts.len());
        for value in other.values.into_vec() {
            self.values.push(match value {
                Value::Null | Value::Bool(_) => value,
                Value::Number(text) => Value::Number(text.behind(texts)),
                Value::String(text) => Value::String(text.behind(texts)),
                Value::Array(part) => Value::Array(part.behind(elements)),
                Value::Object(part) => Value::Object(part.behind(members)),
            });
        }
        self.elements.extend(other.elements.into_iter().map(moved));
        self.members
            .extend(other.members.into_iter().map(|member| JsonMember { value: moved(member.value), ..member }));
        self.texts.push_str(&other.texts);
        for (span, parent) in other.spans.into_vec().into_iter().zip(other.parents.into_vec()) {
            self.spans.push(span);
            self.parents.push(moved(parent));
        }
        let in_order = other.escapes.first().is_none_or(|first| self.escapes.last() < Some(first));
        self.escapes.extend(other.escapes);
        if !in_order {
            self.escapes.sort();
            // A text may be there twice.
            self.escapes.dedup();
        }
        self.originals.extend(other.originals.into_iter().map(|(copy, original)| (moved(copy), moved(original))));
        self.warnings.extend(other.warnings);
        moved(other.root)
    }
    /// Whether there are values that [`copy`](JsonDocument::copy) made.
    pub fn has_copies(&self) -> bool {
        !self.originals.is_empty()
    }
    /// What the value is a copy of; itself if it is none.
    pub fn original(&self, id: JsonId) -> JsonId {
        if self.originals.is_empty() {
            return id;
        }
        self.originals.get(&id).copied().unwrap_or(id)
    }
    /// Makes the array or object hold `copy` in the place of what it is a copy of. Cost: linear in what it holds.
    pub fn replace(&mut self, holder: JsonId, copy: JsonId) {
        let original = self.original(copy);
        match self.values[holder] {
            Value::Array(part) => {
                for at in part.range() {
                    if self.original(self.elements[at]) == original {
                        self.elements[at] = copy;
                    }
                }
            }
            Value::Object(part) => {
                for at in part.range() {
                    if self.original(self.members[at].value) == original {
                        self.members[at].value = copy;
                    }
                }
            }
            _ => {}
        }
        self.parents[copy] = holder;
    }
    /// Takes a member out of an object, if it has it; the value itself stays in the table. Cost: linear in the object.
    pub fn remove_member(&mut self, id: JsonId, key: &str) {
        let Value::Object(part) = &mut self.values[id] else { return };
        let members = &mut self.members[part.range()];
        if let Some(at) = members.iter().position(|member| &*member.key == key) {
            members[at..].rotate_left(1);
            part.len -= 1;
        }
    }
    /// Copies a value with all that is inside it and returns what each value became, by its original. The copies stand
    /// where the originals do, in spans and pointers alike; what holds the value still holds the original.
    pub fn copy(&mut self, id: JsonId) -> FxHashMap<JsonId, JsonId> {
        let mut inside = vec![id];
        let mut next = 0;
        while let Some(&at) = inside.get(next) {
            inside.extend(self.children(at));
            next += 1;
        }
        let (mut copies, mut by_original) = (FxHashMap::default(), FxHashMap::default());
        // Children before parents.
        for &at in inside.iter().rev() {
            let copied = |id: JsonId| copies[&id];
            let value = match self.values[at] {
                Value::Array(part) => {
                    let start = self.elements.len();
                    self.elements.extend_from_within(part.range());
                    self.elements[start..].iter_mut().for_each(|element| *element = copied(*element));
                    Value::Array(Part::since(start, self.elements.len()))
                }
                Value::Object(part) => {
                    let start = self.members.len();
                    self.members.extend_from_within(part.range());
                    self.members[start..].iter_mut().for_each(|member| member.value = copied(member.value));
                    Value::Object(Part::since(start, self.members.len()))
                }
                other => other,
            };
            let copy = self.values.push(value);
            self.children(copy).into_iter().for_each(|child| self.parents[child] = copy);
            self.spans.push(self.spans[at]);
            self.parents.push(self.parents[at]);
            let original = self.original(at);
            self.originals.insert(copy, original);
            copies.insert(at, copy);
            by_original.insert(original, copy);
        }
        by_original
    }
    /// Takes the values out of the table that the root does not hold. Copies must not have been made. Cost: linear in the
    /// document.
    fn keep_held(&mut self) {
        let mut is_held = vec![false; self.values.len()];
        is_held[self.root.index()] = true;
        for id in self.values.ids().rev() {
            // Parents come before their children.
            if is_held[id.index()] {
                self.children(id).into_iter().for_each(|child| is_held[child.index()] = true);
            }
        }
        let mut moved = IndexVec::<JsonId, JsonId>::with_room(is_held.len());
        let mut kept = 0;
        for &is_held in &is_held {
            moved.push(JsonId(kept));
            kept += u32::from(is_held);
        }
        self.elements.iter_mut().for_each(|element| *element = moved[*element]);
        self.members.iter_mut().for_each(|member| member.value = moved[member.value]);
        let is_held = |index: usize| is_held[index];
        self.values = only(std::mem::take(&mut self.values).into_vec(), is_held);
        self.spans = only(std::mem::take(&mut self.spans).into_vec(), is_held);
        self.parents = only(std::mem::take(&mut self.parents).into_vec(), is_held);
        self.parents.iter_mut().for_each(|parent| *parent = moved[*parent]);
        self.root = moved[self.root];
    }
    fn children(&self, id: JsonId) -> SmallVec<[JsonId; 16]> {
        match self.value(id) {
            JsonValue::Array(elements) => SmallVec::from_slice(elements),
            JsonValue::Object(members) => members.iter().map(|member| member.value).collect(),
            _ => SmallVec::new(),
        }
    }
    /// What is probably not meant: repeated keys.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }
    /// The member of an object by its key; `None` also if `id` is no object. Cost: linear in the object.
    pub fn member(&self, id: JsonId, key: &str) -> Option<&JsonMember> {
        self.object(id)?.iter().find(|member| &*member.key == key)
    }
    /// The value of an object's member; `None` also if `id` is no object. Cost: linear in the object.
    pub fn get(&self, id: JsonId, key: &str) -> Option<JsonId> {
        self.member(id, key).map(|member| member.value)
    }
    /// The members, if it is an object.
    pub fn object(&self, id: JsonId) -> Option<&[JsonMember]> {
        match self.values[id] {
            Value::Object(members) => Some(&self.members[members.range()]),
            _ => None,
        }
    }
    /// The members of all objects, copies among them, in the order of the table.
    pub fn members(&self) -> impl Iterator<Item = &JsonMember> {
        self.values.ids().filter_map(|id| self.object(id)).flatten()
    }
    /// The elements, if it is an array.
    pub fn array(&self, id: JsonId) -> Option<&[JsonId]> {
        match self.values[id] {
            Value::Array(elements) => Some(&self.elements[elements.range()]),
            _ => None,
        }
    }
    /// The decoded text, if it is a string.
    pub fn string(&self, id: JsonId) -> Option<&str> {
        match self.values[id] {
            Value::String(text) => Some(&self.texts[text.range()]),
            _ => None,
        }
    }
    /// The number as written, if it is one.
    pub fn number(&self, id: JsonId) -> Option<&str> {
        match self.values[id] {
            Value::Number(text) => Some(&self.texts[text.range()]),
            _ => None,
        }
    }
    /// The truth value, if it is one.
    pub fn bool(&self, id: JsonId) -> Option<bool> {
        match self.values[id] {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }
    /// `null`, `boolean`, `number`, `string`, `array` or `object`: for messages.
    pub fn type_name(&self, id: JsonId) -> &'static str {
        match self.values[id] {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }
    /// Where the bytes of a decoded string stand in the source. Cost: linear in its escapes.
    pub fn string_map(&self, id: JsonId) -> TextMap {
        self.text_map(self.spans[id])
    }
    /// Where the bytes of a decoded key stand in the source: for `patternProperties`.
    pub fn key_map(&self, member: &JsonMember) -> TextMap {
        self.text_map(member.key_span)
    }
    fn text_map(&self, span: Span) -> TextMap {
        let from = self.escapes.partition_point(|escape| (escape.source, escape.start) < (span.source, span.start));
        let is_within = |escape: &&Escape| escape.source == span.source && escape.start < span.end;
        let mut escapes = self.escapes[from..].iter().take_while(is_within).peekable();
        let mut run = span.start as usize + 1;
        if escapes.peek().is_none() {
            return TextMap::verbatim(span.source, run);
        }
        let mut map = TextMap::new(span.source);
        for escape in escapes {
            let (start, end) = (escape.start as usize, escape.end as usize);
            map.push(start - run, run, start);
            map.push(escape.decoded as usize, start, end);
            run = end;
        }
        let end = span.end as usize - 1;
        map.push(end - run, run, end);
        map
    }
    /// The value that a JSON pointer (RFC 6901: `/properties/a~1b/0`, not a URI fragment) leads to from the root.
    pub fn resolve(&self, pointer: &str) -> Option<JsonId> {
        if pointer.is_empty() {
            return Some(self.root);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self.root, |at, step| match self.values[at] {
            Value::Object(_) => self.get(at, &pointer_key(step)),
            _ => self.element(at, step),
        })
    }
    /// The element of an array that a step of a JSON pointer names; `None` also if `id` is no array.
    pub fn element(&self, id: JsonId, step: &str) -> Option<JsonId> {
        let plain = step == "0" || (!step.starts_with('0') && step.bytes().all(|b| b.is_ascii_digit()));
        self.array(id)?.get(step.parse::<usize>().ok().filter(|_| plain)?).copied()
    }
    /// The JSON pointer that leads to the value from its text's outermost value, for which it is empty. Cost: logarithmic in
    /// the arrays and objects around it, linear where keys are repeated.
    pub fn pointer(&self, id: JsonId) -> String {
        let mut steps: SmallVec<[Cow<'_, str>; 8]> = SmallVec::new();
        let mut at = self.original(id);
        while let Some(parent) = self.parent(at).map(|parent| self.original(parent)) {
            // They stand in the order of the text, but for the last value of a repeated key.
            let start = self.spans[at].start;
            let is_before = |id: JsonId| self.spans[id].start < start;
            steps.push(match self.value(parent) {
                JsonValue::Array(elements) => {
                    elements.partition_point(|&element| is_before(element)).to_string().into()
                }
                JsonValue::Object(members) => {
                    let is_it = |member: &&JsonMember| self.original(member.value) == at;
                    let member = members.get(members.partition_point(|member| is_before(member.value)));
                    member
                        .filter(is_it)
                        .or_else(|| members.iter().find(is_it))
                        .map(|member| escaped_step(&member.key))
                        .unwrap_or_default()
                }
                _ => Cow::default(),
            });
            at = parent;
        }
        let mut pointer = String::with_capacity(steps.iter().map(|step| 1 + step.len()).sum());
        steps.iter().rev().for_each(|step| pointer.extend(["/", step]));
        pointer
    }
}

/// The entries whose index is one of those.
fn only<T>(entries: Vec<T>, is_one: impl Fn(usize) -> bool) -> IndexVec<JsonId, T> {
    let entries = entries.into_iter().enumerate().filter(|&(index, _)| is_one(index));
    entries.map(|(_, entry)| entry).collect::<Vec<T>>().into()
}

/// The key that a step of a JSON pointer names.
pub fn pointer_key(step: &str) -> Cow<'_, str> {
    if step.contains('~') { step.replace("~1", "/").replace("~0", "~").into() } else { step.into() }
}

/// A key as a step of a JSON pointer: `~` and `/` escaped.
pub fn pointer_step(key: &str) -> String {
    escaped_step(key).into()
}

fn escaped_step(key: &str) -> Cow<'_, str> {
    // `any`, which ends early, looks at one byte at a time.
    match key.bytes().fold(false, |is_special, byte| is_special | (byte == b'~') | (byte == b'/')) {
        true => key.replace('~', "~0").replace('/', "~1").into(),
        false => key.into(),
    }
}
