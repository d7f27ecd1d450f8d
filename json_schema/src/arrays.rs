//! Arrays: specs, their intersections and complements.

use larkspur_grammar::json::JsonId;

use crate::ast::Keywords;
use crate::ir::{ANY, ArrayId, ArraySpec, Count, NEVER, NodeId};
use crate::normal::Normalizer;

/// An array in normal form; `None` if there is certainly none.
pub(crate) fn spec(normalizer: &mut Normalizer, spec: ArraySpec) -> Option<ArrayId> {
    let ArraySpec { prefix, mut rest, mut min, mut max, counts, mut unique, repeats } = spec;
    if repeats.is_some() {
        min = min.max(2);
    }
    let mut prefix = prefix.into_vec();
    let (none, counts): (Vec<Count>, Vec<Count>) =
        merged(counts.into_vec()).into_iter().partition(|count| (count.min, count.max) == (0, Some(0)));
    for count in none {
        let origin = normalizer.ir.origin(count.node);
        let other = normalizer.ir.not(count.node, origin);
        // From a place far off is a demand of few schemas; the prefix grows no longer than a prefix of theirs.
        while (prefix.len() as u64) < count.from {
            prefix.push(rest);
        }
        for node in prefix.iter_mut().skip(count.from as usize).chain([&mut rest]) {
            *node = normalizer.ir.all(&[*node, other], origin);
        }
    }
    if rest == NEVER {
        max = Some(max.unwrap_or(u64::MAX).min(prefix.len() as u64));
    }
    if let Some(never) = prefix.iter().position(|&node| node == NEVER) {
        max = Some(max.unwrap_or(u64::MAX).min(never as u64));
    }
    let mut kept: Vec<Count> = Vec::with_capacity(counts.len());
    for count in counts {
        if count.node == ANY {
            // Every element counts.
            if count.min > 0 {
                min = min.max(count.from.saturating_add(count.min));
            }
            if let Some(most) = count.max {
                let most = count.from.saturating_add(most);
                max = Some(max.map_or(most, |max| max.min(most)));
            }
        } else if count.min > 0 {
            min = min.max(count.from.saturating_add(count.min));
            kept.push(count);
        } else {
            kept.push(count);
        }
    }
    // Without elements to be counted only a demand for none of them is met.
    kept.retain(|count| count.min > 0 || (count.node != NEVER && max.is_none_or(|max| max > count.from)));
    if kept.iter().any(|count| count.node == NEVER || count.max.is_some_and(|max| max < count.min)) {
        return None;
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
    if max.is_some_and(|max| max < min) || unique && repeats.is_some() {
        return None;
    }
    if max.is_some_and(|max| max < 2) {
        unique = false;
    }
    let spec = ArraySpec { prefix: prefix.into(), rest, min, max, counts: kept.into(), unique, repeats };
    Some(normalizer.ir.arrays.intern(spec))
}

/// One count for each node and place, those without effect left out.
fn merged(mut counts: Vec<Count>) -> Vec<Count> {
    counts.sort_unstable();
    let mut out: Vec<Count> = Vec::with_capacity(counts.len());
    for count in counts {
        match out.last_mut().filter(|last| (last.node, last.from) == (count.node, count.from)) {
            Some(last) => {
                last.min = last.min.max(count.min);
                last.max = last.max.into_iter().chain(count.max).min();
            }
            None => out.push(count),
        }
    }
    out.retain(|count| count.min > 0 || count.max.is_some());
    out
}

/// Every array.
pub(crate) fn any() -> ArraySpec {
    ArraySpec { prefix: [].into(), rest: ANY, min: 0, max: None, counts: [].into(), unique: false, repeats: None }
}

/// What the keywords say of arrays.
pub(crate) fn from_keywords(normalizer: &mut Normalizer, keywords: &Keywords) -> Option<ArrayId> {
    let prefix = keywords.prefix.iter().map(|&schema| normalizer.schema(schema)).collect();
    let rest = keywords.rest.map_or(ANY, |schema| normalizer.schema(schema));
    let counts = match keywords.contains {
        Some(schema) => {
            let node = normalizer.schema(schema);
            [Count { node, from: 0, min: keywords.min_contains.unwrap_or(1), max: keywords.max_contains }].into()
        }
        None => [].into(),
    };
    let (min, max, unique) = (keywords.min_items.unwrap_or(0), keywords.max_items, keywords.unique.is_some());
    spec(normalizer, ArraySpec { prefix, rest, min, max, counts, unique, repeats: None })
}

/// Arrays of these elements and no others.
pub(crate) fn exactly(normalizer: &mut Normalizer, elements: Vec<NodeId>) -> Option<ArrayId> {
    let len = elements.len() as u64;
    spec(normalizer, ArraySpec { prefix: elements.into(), min: len, max: Some(len), ..any() })
}

/// Arrays of both.
pub(crate) fn intersection(
    normalizer: &mut Normalizer,
    a: &ArraySpec,
    b: &ArraySpec,
    origin: JsonId,
) -> Option<ArrayId> {
    let len = a.prefix.len().max(b.prefix.len());
    normalizer.charge(len as u64);
    let at = |spec: &ArraySpec, index: usize| spec.prefix.get(index).copied().unwrap_or(spec.rest);
    let prefix = (0..len).map(|index| normalizer.ir.all(&[at(a, index), at(b, index)], origin)).collect();
    let rest = normalizer.ir.all(&[a.rest, b.rest], origin);
    let max = a.max.into_iter().chain(b.max).min();
    let counts = a.counts.iter().chain(&b.counts).copied().collect();
    let (unique, repeats) = (a.unique || b.unique, a.repeats.or(b.repeats));
    spec(normalizer, ArraySpec { prefix, rest, min: a.min.max(b.min), max, counts, unique, repeats })
}

/// All other arrays, in any of several ways.
pub(crate) fn complement(normalizer: &mut Normalizer, array: ArrayId, origin: JsonId) -> Vec<ArrayId> {
    let array = normalizer.ir.arrays.get(array).clone();
    let mut ways = Vec::new();
    if array.unique {
        ways.extend(spec(normalizer, ArraySpec { repeats: Some(origin), ..any() }));
    }
    if array.repeats.is_some() {
        ways.extend(spec(normalizer, ArraySpec { unique: true, ..any() }));
    }
    if let Some(below) = array.min.checked_sub(1) {
        ways.extend(spec(normalizer, ArraySpec { max: Some(below), ..any() }));
    }
    if let Some(above) = array.max.and_then(|max| max.checked_add(1)) {
        ways.extend(spec(normalizer, ArraySpec { min: above, ..any() }));
    }
    for (index, &node) in array.prefix.iter().enumerate().filter(|&(_, &node)| node != ANY) {
        let mut prefix = vec![ANY; index];
        prefix.push(normalizer.ir.not(node, origin));
        ways.extend(spec(normalizer, ArraySpec { prefix: prefix.into(), min: index as u64 + 1, ..any() }));
    }
    let mut counted = |normalizer: &mut Normalizer, count: Count| {
        ways.extend(spec(normalizer, ArraySpec { counts: [count].into(), ..any() }));
    };
    for &count in &array.counts {
        if let Some(below) = count.min.checked_sub(1) {
            counted(normalizer, Count { min: 0, max: Some(below), ..count });
        }
        if let Some(above) = count.max.and_then(|max| max.checked_add(1)) {
            counted(normalizer, Count { min: above, max: None, ..count });
        }
    }
    if array.rest != ANY {
        let node = normalizer.ir.not(array.rest, origin);
        counted(normalizer, Count { node, from: array.prefix.len() as u64, min: 1, max: None });
    }
    ways
}
