//! Masks of many matchers at once.

use larkspur_toktrie::TokenMask;
use rayon::prelude::*;

use crate::error::MatcherError;
use crate::matcher::Matcher;

/// Computes the masks of many matchers on the threads of the rayon pool that it is called in, and returns what
/// [`Matcher::compute_mask`] would, in order. Matchers of one grammar wait for each other where masks are new; known ones
/// are copied. A server calls it within the `install` of a pool of its own; else it is rayon's global one.
///
/// Panics if a mask is not of its matcher's vocabulary's length.
pub fn compute_masks(batch: &mut [(&mut Matcher, &mut TokenMask)]) -> Vec<Result<(), MatcherError>> {
    if rayon::current_num_threads() > 1 {
        batch.iter().for_each(|(matcher, _)| matcher.publish());
    }
    // A mask takes from a tenth of a microsecond to milliseconds: each is a job of its own where threads are idle.
    batch.par_iter_mut().map(|(matcher, mask)| matcher.compute_mask(mask)).collect()
}
