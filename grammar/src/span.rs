//! Where something stands in a source text.

use serde::{Deserialize, Serialize};

use crate::define_id;
use crate::index::IndexVec;

define_id! {
    /// A source text in a [`SourceMap`].
    pub struct SourceId = "src";
}

/// A range of bytes of one source text, end exclusive.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        Self { source, start: start as u32, end: end as u32 }
    }
    /// The smallest span that holds both; `other` must be of the same source.
    pub fn to(self, other: Span) -> Self {
        debug_assert_eq!(self.source, other.source);
        Self { source: self.source, start: self.start.min(other.start), end: self.end.max(other.end) }
    }
}

/// Where a text begins behind the byte order mark that some editors write.
pub fn behind_bom(text: &str) -> usize {
    const BOM: char = '\u{feff}';
    if text.starts_with(BOM) { BOM.len_utf8() } else { 0 }
}

/// Where a name stands that is alone in groups, of which `span` is the place. With a comment before it, the groups' place.
pub fn name_in_groups(text: &str, name: &str, span: Span) -> Span {
    let inner = text[span.start as usize..span.end as usize].trim_start_matches(['(', ' ', '\t', '\r', '\n']);
    let start = span.end - inner.len() as u32;
    if inner.starts_with(name) { Span { start, end: start + name.len() as u32, ..span } } else { span }
}

/// A source text and the name it is shown under.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Source {
    /// File name, or a description such as `<grammar>` or `grammars[1]`.
    pub name: String,
    /// The text. Sources are limited to 4 GB by [`Span`]; front ends enforce `Limits::source_bytes_max` first.
    pub text: String,
}

/// All source texts of one compilation.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SourceMap {
    sources: IndexVec<SourceId, Source>,
}

impl SourceMap {
    /// No sources.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a text under a name.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        self.sources.push(Source { name: name.into(), text: text.into() })
    }
    /// Whether a span is of one of the texts, and begins and ends between characters of it.
    pub fn contains(&self, span: Span) -> bool {
        let text = self.sources.get(span.source).map(|source| &source.text);
        text.is_some_and(|text| text.get(span.start as usize..span.end as usize).is_some())
    }
    /// The source, which must have been added to this map.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id]
    }
    /// The source that was added first.
    pub fn first(&self) -> Option<&Source> {
        self.sources.iter().next()
    }
    /// The span of a whole text.
    pub fn whole(&self, id: SourceId) -> Span {
        Span::new(id, 0, self.sources[id].text.len())
    }
    /// Line and column of a byte, both from 1; the column counts characters, without a byte order mark.
    pub fn line_column(&self, id: SourceId, offset: u32) -> (u32, u32) {
        let text = &self.sources[id].text;
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line = before.bytes().filter(|&b| b == b'\n').count() as u32 + 1;
        let line_start = before.rfind('\n').map_or(behind_bom(before), |at| at + 1);
        (line, before[line_start..].chars().count() as u32 + 1)
    }
}
