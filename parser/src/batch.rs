//! Masks of many matchers at once.

use std::sync::{Mutex, PoisonError};

use larkspur_toktrie::TokenMask;

use crate::error::MatcherError;
use crate::matcher::Matcher;

/// Computes the masks of many matchers on up to `threads` threads, this one among them, and returns what
/// [`Matcher::compute_mask`] would, in order. Matchers of one grammar wait for each other where masks are new; known ones are
/// copied.
///
/// Cost: threads are started for the call, some 20 us each: a server with a pool of its own calls `compute_mask` there.
///
/// # Panics
/// If a mask is not of its matcher's vocabulary's length.
pub fn compute_masks(batch: &mut [(&mut Matcher, &mut TokenMask)], threads: usize) -> Vec<Result<(), MatcherError>> {
    let threads = threads.min(batch.len());
    let mut results: Vec<Result<(), MatcherError>> = batch.iter().map(|_| Ok(())).collect();
    let jobs = Mutex::new(batch.iter_mut().zip(&mut results));
    let work = || {
        loop {
            // The lock guards an iterator, which no panic leaves halfway.
            let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(((matcher, mask), result)) = job else { return };
            *result = matcher.compute_mask(mask);
        }
    };
    std::thread::scope(|scope| {
        (1..threads).for_each(|_| _ = scope.spawn(work));
        work();
    });
    results
}
