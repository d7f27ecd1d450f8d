//! Where the bytes of a decoded text stand in the source it was written in.
//!
//! A regex inside `/…/`, a JSON string or a Lark string is decoded before it is read; what is wrong in it must be shown
//! at the place in the file. A [`TextMap`] is kept beside the decoded text for that.

use std::ops::Range;

use crate::span::{SourceId, Span};

/// Maps byte offsets of a decoded text to its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TextMap {
    source: SourceId,
    /// Sorted by `decoded_start`; never empty ranges of decoded text. Neighbours that are copied verbatim are merged.
    pieces: Vec<Piece>,
    /// Length of the decoded text so far.
    decoded_len: u32,
    /// Where the source stands after the last piece.
    source_end: u32,
    /// Whether the last piece goes on for ever.
    open: bool,
}

/// Decoded bytes from `decoded_start` up to the next piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Piece {
    decoded_start: u32,
    source_start: u32,
    source_end: u32,
    /// Byte `i` of the piece is byte `i` of the source; otherwise the whole piece is one escape.
    verbatim: bool,
}

impl TextMap {
    /// The map of a text that stands in the source as it is, from byte `start` on.
    pub fn verbatim(source: SourceId, start: usize) -> Self {
        let start = start as u32;
        let piece = Piece { decoded_start: 0, source_start: start, source_end: u32::MAX, verbatim: true };
        Self { source, pieces: vec![piece], decoded_len: u32::MAX, source_end: start, open: true }
    }
    /// The map of an empty text; [`push`](Self::push) adds to it.
    pub fn new(source: SourceId) -> Self {
        Self { source, pieces: Vec::new(), decoded_len: 0, source_end: 0, open: false }
    }
    /// The source that the map points into.
    pub fn source(&self) -> SourceId {
        self.source
    }
    /// Adds `decoded_len` bytes that were written as `source_start..source_end`. Bytes of equal number count as copied
    /// one by one, so that a run of plain text is one piece. Must not follow [`verbatim`](Self::verbatim).
    pub fn push(&mut self, decoded_len: usize, source_start: usize, source_end: usize) {
        debug_assert!(!self.open, "a verbatim map has no end to add to");
        let (source_start, source_end) = (source_start as u32, source_end as u32);
        let decoded_start = self.decoded_len;
        let verbatim = decoded_len == (source_end - source_start) as usize;
        self.decoded_len += decoded_len as u32;
        self.source_end = source_end;
        if decoded_len == 0 {
            return;
        }
        match self.pieces.last_mut() {
            Some(last) if verbatim && last.verbatim && last.source_end == source_start => last.source_end = source_end,
            _ => self.pieces.push(Piece { decoded_start, source_start, source_end, verbatim }),
        }
    }
    /// The source of a range of the decoded text; that of an empty range is the point before its start.
    /// An escape that the range touches is in it as a whole.
    pub fn span(&self, decoded: Range<usize>) -> Span {
        let start = self.place(decoded.start).0;
        let end = if decoded.end > decoded.start { self.place(decoded.end - 1).1 } else { start };
        Span { source: self.source, start, end: end.max(start) }
    }
    /// Start and end of the source of one decoded byte; past the end of the text, the end of the source.
    fn place(&self, offset: usize) -> (u32, u32) {
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let index = self.pieces.partition_point(|piece| piece.decoded_start <= offset);
        match index.checked_sub(1).map(|index| self.pieces[index]) {
            Some(piece) if offset < self.decoded_len => {
                if piece.verbatim {
                    let start = piece.source_start.saturating_add(offset - piece.decoded_start);
                    (start, start.saturating_add(1))
                } else {
                    (piece.source_start, piece.source_end)
                }
            }
            _ => (self.source_end, self.source_end),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_whole_and_plain_text_is_one_piece() {
        // "ab\u00e9c" at 10: the quote at 10, a at 11, b at 12, the escape at 13..19, c at 19.
        let mut map = TextMap::new(SourceId(3));
        map.push(1, 11, 12);
        map.push(1, 12, 13);
        map.push(2, 13, 19);
        map.push(1, 19, 20);
        assert_eq!(map.pieces.len(), 3);
        let span = |range| {
            let span = map.span(range);
            (span.start, span.end)
        };
        assert_eq!(span(0..2), (11, 13));
        assert_eq!(span(1..3), (12, 19));
        assert_eq!(span(3..5), (13, 20));
        assert_eq!(span(4..4), (19, 19));
        assert_eq!(span(5..5), (20, 20));
        assert_eq!(span(2..9), (13, 20));
    }

    #[test]
    fn verbatim_text() {
        let map = TextMap::verbatim(SourceId(0), 7);
        assert_eq!(map.span(0..3), Span::new(SourceId(0), 7, 10));
        assert_eq!(map.span(5..5), Span::new(SourceId(0), 12, 12));
    }
}
