//! Arrays: specs, their complements, and their rules.

use larkspur_grammar::json::JsonId;

use crate::ast::Keywords;
use crate::ir::{ANY, ArrayId, ArraySpec, NEVER, NodeId};
use crate::normal::Normalizer;

/// An array in normal form; `None` if there is none.
pub(crate) fn spec(
    normalizer: &mut Normalizer,
    mut prefix: Vec<NodeId>,
    mut rest: NodeId,
    min: u64,
    mut max: Option<u64>,
) -> Option<ArrayId> {
    if rest == NEVER {
        max = Some(max.unwrap_or(u64::MAX).min(prefix.len() as u64));
    }
    if let Some(never) = prefix.iter().position(|&node| node == NEVER) {
        max = Some(max.unwrap_or(u64::MAX).min(never as u64));
    }
    if let Some(max) = max
        && max <= prefix.len() as u64
    {
        prefix.truncate(max as usize);
        rest = ANY;
    } else {
        while prefix.last() == Some(&rest) {
            prefix.pop();
        }
    }
    if max.is_some_and(|max| max < min) {
        return None;
    }
    Some(normalizer.ir.arrays.intern(ArraySpec { prefix: prefix.into(), rest, min, max }))
}

/// What the keywords say of arrays.
pub(crate) fn from_keywords(normalizer: &mut Normalizer, keywords: &Keywords) -> Option<ArrayId> {
    let prefix: Vec<NodeId> = keywords.prefix.iter().map(|&schema| normalizer.schema(schema)).collect();
    let rest = keywords.rest.or(keywords.unevaluated_items).map_or(ANY, |schema| normalizer.schema(schema));
    spec(normalizer, prefix, rest, keywords.min_items.unwrap_or(0), keywords.max_items)
}

/// Arrays of these elements and no others.
pub(crate) fn exactly(normalizer: &mut Normalizer, elements: Vec<NodeId>) -> Option<ArrayId> {
    let len = elements.len() as u64;
    spec(normalizer, elements, ANY, len, Some(len))
}

/// All other arrays, in any of several ways.
///
/// Errors: what cannot be said, as the end of a sentence.
pub(crate) fn complement(normalizer: &mut Normalizer, array: ArrayId, origin: JsonId) -> Result<Vec<ArrayId>, String> {
    let array = normalizer.ir.arrays.get(array).clone();
    let mut ways = Vec::new();
    if let Some(below) = array.min.checked_sub(1) {
        ways.extend(spec(normalizer, Vec::new(), ANY, 0, Some(below)));
    }
    if let Some(above) = array.max.and_then(|max| max.checked_add(1)) {
        ways.extend(spec(normalizer, Vec::new(), ANY, above, None));
    }
    for (index, &node) in array.prefix.iter().enumerate().filter(|&(_, &node)| node != ANY) {
        let other = normalizer.ir.not(node, origin);
        let mut prefix = vec![ANY; index];
        prefix.push(other);
        ways.extend(spec(normalizer, prefix, ANY, index as u64 + 1, None));
    }
    // Whatever is beyond the prefix can be wrong only if there is at most one such element.
    if array.rest != ANY {
        let first = array.prefix.len() as u64;
        if array.max != Some(first + 1) {
            return Err("that takes an array of which some element, wherever it is, is not valid".to_owned());
        }
        let other = normalizer.ir.not(array.rest, origin);
        let mut prefix = vec![ANY; array.prefix.len()];
        prefix.push(other);
        ways.extend(spec(normalizer, prefix, ANY, first + 1, None));
    }
    Ok(ways)
}
