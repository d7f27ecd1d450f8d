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
    mut min: u64,
    mut max: Option<u64>,
    mut some: Vec<NodeId>,
) -> Option<ArrayId> {
    some.sort_unstable();
    some.dedup();
    if !some.is_empty() {
        min = min.max(1);
        some.retain(|&node| node != ANY);
        if some.contains(&NEVER) {
            return None;
        }
    }
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
    Some(normalizer.ir.arrays.intern(ArraySpec { prefix: prefix.into(), rest, min, max, some: some.into() }))
}

/// What the keywords say of arrays.
pub(crate) fn from_keywords(normalizer: &mut Normalizer, keywords: &Keywords) -> Option<ArrayId> {
    let prefix: Vec<NodeId> = keywords.prefix.iter().map(|&schema| normalizer.schema(schema)).collect();
    let rest = keywords.rest.or(keywords.unevaluated_items).map_or(ANY, |schema| normalizer.schema(schema));
    let some = match keywords.contains {
        Some(schema) if keywords.min_contains != Some(0) => vec![normalizer.schema(schema)],
        _ => Vec::new(),
    };
    spec(normalizer, prefix, rest, keywords.min_items.unwrap_or(0), keywords.max_items, some)
}

/// Arrays of these elements and no others.
pub(crate) fn exactly(normalizer: &mut Normalizer, elements: Vec<NodeId>) -> Option<ArrayId> {
    let len = elements.len() as u64;
    spec(normalizer, elements, ANY, len, Some(len), Vec::new())
}

/// All other arrays, in any of several ways.
///
/// Errors: what cannot be said, as the end of a sentence.
pub(crate) fn complement(normalizer: &mut Normalizer, array: ArrayId, origin: JsonId) -> Result<Vec<ArrayId>, String> {
    let array = normalizer.ir.arrays.get(array).clone();
    let mut ways = Vec::new();
    if let Some(below) = array.min.checked_sub(1) {
        ways.extend(spec(normalizer, Vec::new(), ANY, 0, Some(below), Vec::new()));
    }
    if let Some(above) = array.max.and_then(|max| max.checked_add(1)) {
        ways.extend(spec(normalizer, Vec::new(), ANY, above, None, Vec::new()));
    }
    for (index, &node) in array.prefix.iter().enumerate().filter(|&(_, &node)| node != ANY) {
        let other = normalizer.ir.not(node, origin);
        let mut prefix = vec![ANY; index];
        prefix.push(other);
        ways.extend(spec(normalizer, prefix, ANY, index as u64 + 1, None, Vec::new()));
    }
    for &node in &array.some {
        let other = normalizer.ir.not(node, origin);
        ways.extend(spec(normalizer, Vec::new(), other, 0, None, Vec::new()));
    }
    if array.rest != ANY {
        let first = array.prefix.len() as u64;
        let other = normalizer.ir.not(array.rest, origin);
        if first == 0 {
            ways.extend(spec(normalizer, Vec::new(), ANY, 1, None, vec![other]));
        } else if array.max == Some(first + 1) {
            let mut prefix = vec![ANY; array.prefix.len()];
            prefix.push(other);
            ways.extend(spec(normalizer, prefix, ANY, first + 1, None, Vec::new()));
        } else {
            let reason = "that takes an array of which some element behind the first ones is not valid";
            return Err(reason.to_owned());
        }
    }
    Ok(ways)
}
