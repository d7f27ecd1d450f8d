//! What a matcher has consumed: persistent sequences that share their past, so that forks are cheap.

use std::sync::Arc;

/// A sequence that can be extended, truncated and forked.
///
/// Costs: push and pop O(1); fork O(1), at most a chunk of `LEN` copies; truncation O(what is dropped / chunk).
#[derive(Debug)]
pub(crate) struct PersistentVec<T, const LEN: usize = 64> {
    full: Option<Arc<Chunk<T>>>,
    /// The newest entries, fewer than a chunk.
    tail: Vec<T>,
}

#[derive(Debug)]
struct Chunk<T> {
    entries: Box<[T]>,
    /// Entries in this chunk and all before it.
    len: usize,
    before: Option<Arc<Chunk<T>>>,
}

impl<T: Clone, const LEN: usize> Clone for PersistentVec<T, LEN> {
    fn clone(&self) -> Self {
        Self { full: self.full.clone(), tail: self.tail.clone() }
    }
}

impl<T: Clone, const LEN: usize> Default for PersistentVec<T, LEN> {
    fn default() -> Self {
        Self { full: None, tail: Vec::new() }
    }
}

impl<T: Clone, const LEN: usize> PersistentVec<T, LEN> {
    pub fn len(&self) -> usize {
        self.full.as_ref().map_or(0, |chunk| chunk.len) + self.tail.len()
    }

    pub fn push(&mut self, entry: T) {
        self.push_with(|| entry);
    }

    /// Adds an entry that is made where it will stand. To move one of some words there through memory took half of the time of
    /// a step, since what is stored in parts and loaded as a whole waits for the stores.
    #[inline]
    pub fn push_with(&mut self, make: impl FnOnce() -> T) {
        self.reserve();
        self.tail.extend(std::iter::once_with(make));
        self.close_if_full();
    }

    /// Adds entries at the end.
    #[inline]
    pub fn extend(&mut self, entries: &[T]) {
        // Nearly always.
        match self.tail.capacity() >= LEN && self.tail.len() + entries.len() < LEN {
            true => self.tail.extend_from_slice(entries),
            false => self.extend_over(entries),
        }
    }

    fn extend_over(&mut self, mut entries: &[T]) {
        while !entries.is_empty() {
            let (now, later) = entries.split_at(entries.len().min(LEN - self.tail.len()));
            self.reserve();
            self.tail.extend_from_slice(now);
            self.close_if_full();
            entries = later;
        }
    }

    /// Makes room for the rest of a chunk.
    #[inline]
    fn reserve(&mut self) {
        if self.tail.capacity() < LEN {
            self.tail.reserve_exact(LEN - self.tail.len());
        }
    }

    #[inline]
    fn close_if_full(&mut self) {
        if self.tail.len() == LEN {
            let entries: Box<[T]> = std::mem::take(&mut self.tail).into();
            let before = self.full.take();
            let len = before.as_ref().map_or(0, |chunk| chunk.len) + LEN;
            self.full = Some(Arc::new(Chunk { entries, len, before }));
        }
    }

    /// Keeps the oldest `len` entries, which must be there.
    pub fn truncate(&mut self, len: usize) {
        debug_assert!(len <= self.len());
        let mut last = None;
        while let Some(chunk) = self.full.take_if(|chunk| chunk.len > len) {
            self.full = chunk.before.clone();
            last = Some(chunk);
        }
        let kept = len - self.full.as_ref().map_or(0, |chunk| chunk.len);
        match last {
            Some(chunk) => self.tail = chunk.entries[..kept].to_vec(),
            None => self.tail.truncate(kept),
        }
    }

    /// The entries from `start` on, oldest first. Cost: O(their number).
    pub fn suffix(&self, start: usize) -> Vec<T> {
        let mut suffix = Vec::new();
        self.suffix_into(start, &mut suffix);
        suffix
    }

    /// Overwrites a list with the entries from `start` on, oldest first. Cost: O(their number).
    pub fn suffix_into(&self, start: usize, suffix: &mut Vec<T>) {
        suffix.clear();
        let before = self.full.as_ref().map_or(0, |chunk| chunk.len);
        if start < before {
            let mut chunks = Vec::new();
            let mut next = self.full.as_ref();
            while let Some(chunk) = next.filter(|chunk| chunk.len > start) {
                chunks.push(chunk);
                next = chunk.before.as_ref();
            }
            suffix.reserve(self.len() - start);
            for chunk in chunks.iter().rev() {
                let first = chunk.len - LEN;
                suffix.extend_from_slice(&chunk.entries[start.saturating_sub(first)..]);
            }
        }
        suffix.extend_from_slice(&self.tail[start.saturating_sub(before).min(self.tail.len())..]);
    }

    /// All entries, oldest first. Cost: O(length).
    pub fn to_vec(&self) -> Vec<T> {
        let mut chunks = Vec::new();
        let mut next = self.full.as_ref();
        while let Some(chunk) = next {
            chunks.push(chunk);
            next = chunk.before.as_ref();
        }
        let mut all = Vec::with_capacity(self.len());
        chunks.iter().rev().for_each(|chunk| all.extend_from_slice(&chunk.entries));
        all.extend_from_slice(&self.tail);
        all
    }

    /// The entry at `index`, which must be there. Cost: O(distance from the end / chunk).
    pub fn get(&self, index: usize) -> &T {
        let mut chunk = self.full.as_ref();
        let before = chunk.map_or(0, |chunk| chunk.len);
        if index >= before {
            return &self.tail[index - before];
        }
        loop {
            let current = chunk.expect("the index is within the sequence");
            let start = current.len - LEN;
            if index >= start {
                return &current.entries[index - start];
            }
            chunk = current.before.as_ref();
        }
    }
}

impl<T> Drop for Chunk<T> {
    /// Drops the chunks before one after the other: a long history must not recurse.
    fn drop(&mut self) {
        let mut next = self.before.take();
        while let Some(chunk) = next {
            match Arc::try_unwrap(chunk) {
                Ok(mut chunk) => next = chunk.before.take(),
                Err(_) => break,
            }
        }
    }
}
