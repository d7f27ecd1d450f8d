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

/// Grammars that wait at most for the end of a request to be freed, and which share of `bytes_max` they may have.
const WAITING_MAX: usize = 16;
const WAITING_SHARE: usize = 2;

/// What a grammar was compiled from, but for its text and the name of that, which it has.
pub(crate) struct Key {
    kind: SourceKind,
    options: CompileOptions,
}

impl Key {
    /// `None` if what is compiled may depend on more than the source: on files that it imports.
    pub fn new(source: &Source, options: &CompileOptions) -> Option<Self> {
        let is_alone = options.modules.is_none() && options.retriever.is_none();
        match &source.body {
            SourceBody::Text { kind, .. } if is_alone => Some(Self { kind: *kind, options: options.clone() }),
            _ => None,
        }
    }
}

/// The last one is the one that was asked for last.
pub(crate) struct Recent {
    inner: Mutex<Kept>,
    bytes_max: usize,
}

/// Small, since each compilation goes through all of them: what is behind is in no cache of the processor's.
struct Entry {
    /// Bytes of the source; few have as many.
    source_len: usize,
    /// Bytes of the grammar when it was measured last.
    bytes: usize,
    inner: Arc<Inner>,
    key: Box<Key>,
}

impl Entry {
    fn new(key: Key, inner: Arc<Inner>) -> Self {
        let source_len = inner.sources.first().map_or(0, |source| source.text.len());
        let mut entry = Self { source_len, bytes: 0, inner, key: Box::new(key) };
        entry.measure();
        entry
    }

    fn measure(&mut self) {
        if let Some(bytes) = self.inner.bytes() {
            self.bytes = bytes + BYTES_OF_EACH + self.source_len * BYTES_PER_SOURCE_BYTE;
        }
    }

    fn is_of(&self, source: &Source, options: &CompileOptions) -> bool {
        let SourceBody::Text { kind, text } = &source.body else { return false };
        let is_same_text = |own: &larkspur_grammar::Source| own.text == *text && own.name == source.name;
        self.source_len == text.len()
            && self.key.kind == *kind
            && self.inner.sources.first().is_some_and(is_same_text)
            && self.key.options == *options
    }
}

#[derive(Default)]
struct Kept {
    grammars: VecDeque<Entry>,
    /// Those that were let go and are not freed yet.
    waiting: Vec<Entry>,
    /// The one that is measured next.
    next: usize,
    /// Which of the engine's eras they are of.
    era: u64,
}

impl Recent {
    /// At most so many bytes of grammars that nobody else has, and half as many that wait to be freed.
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
        let at = kept.grammars.iter().rposition(|entry| entry.is_of(source, options))?;
        let found = kept.grammars.remove(at)?;
        let inner = found.inner.clone();
        kept.grammars.push_back(found);
        Some(inner)
    }

    /// Keeps a grammar, and lets go of those that were not asked for longest. They are freed by [`end`](Self::end) rather than here,
    /// where somebody waits for a grammar: that takes a tenth as long as to compile one, and of large ones milliseconds.
    pub fn keep(&self, key: Key, inner: Arc<Inner>, era: u64) {
        let mut kept = self.of_era(era);
        kept.grammars.push_back(Entry::new(key, inner));
        let surplus = kept.surplus(self.bytes_max);
        drop(kept);
        drop(surplus);
    }

    /// Where a request of a grammar ends: measures the grammar, which has grown by what it learnt, and frees what was let go.
    pub fn end(&self, inner: &Arc<Inner>) {
        let mut kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(entry) = kept.grammars.iter_mut().rfind(|entry| Arc::ptr_eq(&entry.inner, inner)) {
            entry.measure();
        }
        let waiting = std::mem::take(&mut kept.waiting);
        drop(kept);
        drop(waiting);
    }
}

impl Kept {
    /// Takes out what is too much: the oldest, and those that nobody else has and that do not fit beside newer ones. Few of them
    /// wait; the others are returned.
    fn surplus(&mut self, bytes_max: usize) -> Vec<Entry> {
        let over = self.grammars.len().saturating_sub(KEPT_MAX);
        self.waiting.extend(self.grammars.drain(..over));
        // Matchers may be at work for longer than anybody has their grammar.
        self.next = (self.next + 1) % self.grammars.len();
        self.grammars[self.next].measure();
        if self.grammars.iter().map(|entry| entry.bytes).sum::<usize>() > bytes_max {
            let mut bytes = 0;
            for entry in std::mem::take(&mut self.grammars).into_iter().rev() {
                // What others have, too, costs nothing to keep.
                let is_shared = Arc::strong_count(&entry.inner) > 1;
                if is_shared || bytes + entry.bytes <= bytes_max {
                    bytes += if is_shared { 0 } else { entry.bytes };
                    self.grammars.push_front(entry);
                } else {
                    self.waiting.push(entry);
                }
            }
        }
        let mut bytes = 0;
        let may_wait = |entry: &&Entry| {
            bytes += entry.bytes;
            bytes <= bytes_max / WAITING_SHARE
        };
        let waiting = self.waiting.iter().rev().take(WAITING_MAX).take_while(may_wait).count();
        self.waiting.drain(..self.waiting.len() - waiting).collect()
    }
}

#[cfg(test)]
mod tests {
    use larkspur_toktrie::Vocabulary;

    use super::*;
    use crate::engine::{CompiledGrammar, Engine};

    fn waiting(engine: &Engine) -> usize {
        engine.recent().inner.lock().expect("nothing panicked").waiting.len()
    }

    #[test]
    fn grammars_wait_to_be_freed_until_a_request_ends() {
        let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
        let compile =
            |number: usize| engine.compile(&Source::lark(format!("start: \"{number}\"\n"))).expect("it compiles");
        let mut held: Vec<CompiledGrammar> = (0..KEPT_MAX + 5).map(compile).collect();
        assert_eq!(waiting(&engine), 5);
        drop(held[0].clone());
        drop(held[KEPT_MAX].clone());
        assert_eq!(waiting(&engine), 5, "others have these grammars");
        held.pop();
        assert_eq!(waiting(&engine), 0);
        held.extend((KEPT_MAX + 5..KEPT_MAX + 50).map(compile));
        assert_eq!(waiting(&engine), WAITING_MAX, "nobody ends a request");
    }
}
