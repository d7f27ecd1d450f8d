//! The grammars that an engine compiled last, by their sources: who sends the same schema with each request waits once.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::compile::CompileOptions;
use crate::engine::Inner;
use crate::source::{Source, SourceBody, SourceKind};

/// Grammars kept at most: looking for one compares the text's length with each.
const KEPT_MAX: usize = 64;
/// Bytes of a compiled grammar before anything is matched, as measured on MaskBench: of each, and for each byte of source.
const BYTES_OF_EACH: usize = 48 << 10;
const BYTES_PER_SOURCE_BYTE: usize = 64;
/// Grammars that are measured anew for each that is kept: they grow with what they learn.
const MEASURED_ANEW: usize = 4;

/// Grammars that wait at most for the end of a request to be freed, and which share of `bytes_max` they may have.
const WAITING_MAX: usize = 16;
const WAITING_SHARE: usize = 2;

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
    /// Whether grammars wait to be freed. Only the lock decides; this spares it.
    has_waiting: AtomicBool,
    bytes_max: usize,
}

struct Entry {
    key: Key,
    inner: Arc<Inner>,
    /// Bytes of the grammar when it was measured last.
    bytes: usize,
}

impl Entry {
    fn measure(&mut self) {
        self.bytes = self.inner.bytes() + BYTES_OF_EACH + self.key.text.len() * BYTES_PER_SOURCE_BYTE;
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
        Self { inner: Mutex::default(), has_waiting: AtomicBool::new(false), bytes_max }
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
        let at = kept.grammars.iter().rposition(|entry| entry.key.is_of(source, options))?;
        let found = kept.grammars.remove(at)?;
        let inner = found.inner.clone();
        kept.grammars.push_back(found);
        Some(inner)
    }

    /// Keeps a grammar, and lets go of those that were not asked for longest. They are freed by [`free`](Self::free) rather than here,
    /// where somebody waits for a grammar: that takes a tenth as long as to compile one, and of large ones milliseconds.
    pub fn keep(&self, key: Key, inner: Arc<Inner>, era: u64) {
        let mut kept = self.of_era(era);
        let mut entry = Entry { key, inner, bytes: 0 };
        entry.measure();
        kept.grammars.push_back(entry);
        let surplus = kept.surplus(self.bytes_max);
        self.has_waiting.store(!kept.waiting.is_empty(), Ordering::Relaxed);
        drop(kept);
        drop(surplus);
    }

    /// Frees what was let go: called where a request ends.
    pub fn free(&self) {
        if self.has_waiting.load(Ordering::Relaxed) {
            let mut kept = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let waiting = std::mem::take(&mut kept.waiting);
            self.has_waiting.store(false, Ordering::Relaxed);
            drop(kept);
            drop(waiting);
        }
    }
}

impl Kept {
    /// Takes out what is too much: the oldest, and those that nobody else has and that do not fit beside newer ones. Few of them
    /// wait; the others are returned.
    fn surplus(&mut self, bytes_max: usize) -> Vec<Entry> {
        let over = self.grammars.len().saturating_sub(KEPT_MAX);
        self.waiting.extend(self.grammars.drain(..over));
        for _ in 0..MEASURED_ANEW {
            self.next = (self.next + 1) % self.grammars.len();
            self.grammars[self.next].measure();
        }
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
