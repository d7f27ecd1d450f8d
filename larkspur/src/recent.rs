//! The grammars that an engine compiled last, by their sources: who sends the same schema with each request waits once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::compile::CompileOptions;
use crate::engine::Inner;
use crate::source::{Source, SourceBody, SourceKind};

/// Grammars kept at most: looking for one compares the text's length with each.
const KEPT_MAX: usize = 64;
/// Bytes of a compiled grammar before anything is matched, as measured on MaskBench: of each, and for each byte of source.
const BYTES_OF_EACH: usize = 48 << 10;
const BYTES_PER_SOURCE_BYTE: usize = 64;

/// What a grammar was compiled from.
#[derive(Clone)]
pub(crate) struct Key {
    kind: SourceKind,
    name: String,
    text: String,
    options: CompileOptions,
}

impl Key {
    /// `None` if what is compiled may depend on more than the source: on files that it imports.
    pub fn new(source: &Source, options: &CompileOptions) -> Option<Self> {
        let is_alone = options.modules.is_none() && options.retriever.is_none();
        match &source.body {
            SourceBody::Text { kind, text } if is_alone => {
                Some(Self { kind: *kind, name: source.name.clone(), text: text.clone(), options: options.clone() })
            }
            _ => None,
        }
    }

    fn is_of(&self, source: &Source, options: &CompileOptions) -> bool {
        let SourceBody::Text { kind, text } = &source.body else { return false };
        self.kind == *kind && self.text == *text && self.name == source.name && self.options == *options
    }
}

/// The last one is the one that was asked for last.
pub(crate) struct Recent {
    inner: Mutex<Kept>,
    bytes_max: usize,
}

#[derive(Default)]
struct Kept {
    grammars: VecDeque<(Key, Arc<Inner>)>,
    /// Which of the engine's eras they are of.
    era: u64,
}

impl Recent {
    /// At most so many bytes of grammars that nobody else has.
    pub fn new(bytes_max: usize) -> Self {
        Self { inner: Mutex::default(), bytes_max }
    }

    /// The grammars of the newest era that was asked for; those of older ones are let go, with all that they share.
    fn of_era(&self, era: u64) -> MutexGuard<'_, Kept> {
        // The list is valid after each step.
        let mut kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.era < era {
            *kept = Kept { era, ..Kept::default() };
        }
        kept
    }

    /// The grammar, if it was compiled lately.
    pub fn get(&self, source: &Source, options: &CompileOptions, era: u64) -> Option<Arc<Inner>> {
        let mut kept = self.of_era(era);
        let at = kept.grammars.iter().rposition(|(key, _)| key.is_of(source, options))?;
        let found = kept.grammars.remove(at)?;
        let inner = found.1.clone();
        kept.grammars.push_back(found);
        Some(inner)
    }

    /// Keeps a grammar, and lets go of those that were not asked for longest.
    pub fn keep(&self, key: Key, inner: Arc<Inner>, era: u64) {
        let mut kept = self.of_era(era);
        kept.grammars.push_back((key, inner));
        let mut bytes = 0;
        let mut fits = |(key, inner): &(Key, Arc<Inner>)| {
            // What others have, too, costs nothing to keep.
            if Arc::strong_count(inner) > 1 {
                return true;
            }
            let own = inner.bytes() + BYTES_OF_EACH + key.text.len() * BYTES_PER_SOURCE_BYTE;
            let fits = bytes + own <= self.bytes_max;
            bytes += if fits { own } else { 0 };
            fits
        };
        let (mut last, mut surplus) = (VecDeque::new(), Vec::new());
        for grammar in std::mem::take(&mut kept.grammars).into_iter().rev() {
            match last.len() < KEPT_MAX && fits(&grammar) {
                true => last.push_front(grammar),
                false => surplus.push(grammar),
            }
        }
        kept.grammars = last;
        drop(kept);
        // Nobody waits for this: large grammars take milliseconds.
        drop(surplus);
    }
}
