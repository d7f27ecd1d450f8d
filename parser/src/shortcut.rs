//! What masks are made with beside a walk over the trie, and tokens consumed with beside their bytes. Each can be left out, to
//! see what it is worth.

use bitflags::bitflags;

bitflags! {
    /// Things without which all masks are the same, and where tokens lead, and most take longer. `docs/mask.md` explains each
    /// and says what it is worth. Without slices and without what grammars share an engine is by
    /// [`EngineOptions::slices`](crate::EngineOptions::slices) and `term_cache_bytes_max`.
    #[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
    pub struct Shortcuts: u32 {
        /// The mask of a place is remembered.
        const MEMO = 1;
        /// Places with the same terms have one mask.
        const TRACES = 1 << 1;
        /// The terms of a place are remembered with all that is behind it.
        const PLACES = 1 << 2;
        /// A mask keeps its last words, to be shown again or written over.
        const COPIES = 1 << 3;
        /// Lexemes that go their own ways have terms of their own.
        const SPLIT = 1 << 4;
        /// Tokens of a slice by alphabet and length.
        const PARTS = 1 << 5;
        /// States to which most texts lead back.
        const HOMES = 1 << 6;
        /// Counted characters.
        const RUNS = 1 << 7;
        /// Patterns within bounds.
        const BOUNDED = 1 << 8;
        /// States that resemble others.
        const BESIDE = 1 << 9;
        /// Lexemes beside one that takes whole slices.
        const COVERED = 1 << 10;
        /// Counts that no token reaches.
        const HORIZON = 1 << 11;
        /// Where a token leads from a place is remembered.
        const STEPS = 1 << 12;
        /// Masks are made over the tokens of several terms together.
        const UNIONS = 1 << 13;
    }
}
