//! Objects: specs, their intersections and complements.
//!
//! Named properties are compared by their decoded names. The names of all others are split into disjoint cells, by `&`
//! and `~` of the patterns, so that each name has one schema for its value.

use compact_str::CompactString;
use larkspur_grammar::json::JsonId;
use larkspur_grammar::{RegexId, RegexNode, RegexSet};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::ast::Keywords;
use crate::ir::{ANY, AnyOf, ClauseId, KeyId, NEVER, Named, NodeId, ObjectId, ObjectSpec, Violation, ViolationId};
use crate::normal::Normalizer;

/// Cells that are passed by count as one of work if they are so many.
const CELLS_PER_WORK: u64 = 16;

/// An object in normal form; `None` if there is none.
pub(crate) fn spec(normalizer: &mut Normalizer, spec: ObjectSpec) -> Option<ObjectId> {
    let required = spec.named.iter().filter(|named| named.required).count() as u64;
    let dead = spec.named.iter().any(|named| named.required && named.node == NEVER);
    let possible = spec.named.iter().filter(|named| named.node != NEVER).count() as u64;
    let most = if spec.cells.is_empty() { possible } else { u64::MAX };
    if dead || spec.max.is_some_and(|max| max < spec.min.max(required)) || most < spec.min {
        return None;
    }
    let spec = ObjectSpec {
        min: if spec.min <= required { 0 } else { spec.min },
        max: spec.max.filter(|&max| max < most),
        ..spec
    };
    Some(normalizer.ir.objects.intern(spec))
}

/// What the keywords say of objects. `names` are the names that `propertyNames` allows.
pub(crate) fn from_keywords(
    normalizer: &mut Normalizer,
    keywords: &Keywords,
    names: Option<RegexId>,
) -> Option<ObjectId> {
    let patterns: Vec<(RegexId, NodeId)> = keywords
        .patterns
        .iter()
        .map(|pattern| (normalizer.pattern_of_key(pattern), normalizer.schema(pattern.schema)))
        .collect();
    let additional = keywords.additional.map_or(ANY, |schema| normalizer.schema(schema));
    let cells = cells(normalizer, &patterns, additional, names);
    let mut named: Vec<Named> = Vec::with_capacity(keywords.properties.len());
    for (name, schema) in &keywords.properties {
        let mut nodes: SmallVec<[NodeId; 4]> = smallvec![normalizer.schema(*schema)];
        for &(pattern, node) in &patterns {
            if normalizer.matches(pattern, name) {
                nodes.push(node);
            }
        }
        if names.is_some_and(|names| names != normalizer.any_text && !normalizer.matches(names, name)) {
            nodes.push(NEVER);
        }
        let node = normalizer.ir.all(&nodes, *schema);
        let key = normalizer.ir.keys.intern(name.clone());
        named.push(Named { key, node, required: false });
    }
    let mut index_of: FxHashMap<KeyId, usize> = FxHashMap::default();
    if !keywords.required.is_empty() {
        index_of.reserve(named.len() + keywords.required.len());
        index_of.extend(named.iter().enumerate().map(|(index, named)| (named.key, index)));
    }
    for name in &keywords.required {
        let key = normalizer.ir.keys.intern(name.clone());
        match index_of.get(&key) {
            Some(&index) => named[index].required = true,
            None => {
                let node = normalizer.property(&cells, name);
                index_of.insert(key, named.len());
                named.push(Named { key, node, required: true });
            }
        }
    }
    let (min, max) = (keywords.min_properties.unwrap_or(0), keywords.max_properties);
    spec(
        normalizer,
        ObjectSpec { named: named.into(), cells: cells.into(), min, max, some: [].into(), clauses: [].into() },
    )
}

/// Names with one schema.
struct Cell {
    names: RegexId,
    node: NodeId,
    /// What they all begin with.
    beginning: Vec<u8>,
}

/// The names that are not listed, split by the patterns.
pub(crate) fn cells(
    normalizer: &mut Normalizer,
    patterns: &[(RegexId, NodeId)],
    additional: NodeId,
    names: Option<RegexId>,
) -> Vec<(RegexId, NodeId)> {
    let all = names.unwrap_or(normalizer.any_text);
    if patterns.is_empty() {
        let is_closed = additional == NEVER || normalizer.is_nothing(all);
        return if is_closed { Vec::new() } else { vec![(all, additional)] };
    }
    let beginnings: Vec<Vec<u8>> = patterns.iter().map(|&(pattern, _)| beginning(&normalizer.set, pattern)).collect();
    let opposites: Vec<RegexId> = patterns.iter().map(|&(pattern, _)| normalizer.not_text(pattern)).collect();
    let mut cells: Vec<Cell> = Vec::new();
    for (index, (&(pattern, node), its_beginning)) in patterns.iter().zip(&beginnings).enumerate() {
        let mut split = Vec::with_capacity(cells.len() + 1);
        let origin = normalizer.ir.origin(node);
        for cell in cells {
            if are_apart(&cell.beginning, its_beginning) {
                split.push(cell);
                continue;
            }
            if !normalizer.charge(1) {
                return Vec::new();
            }
            let inside = normalizer.and_text(cell.names, pattern);
            if normalizer.is_nothing(inside) {
                split.push(cell);
                continue;
            }
            let outside = normalizer.and_text(cell.names, opposites[index]);
            let is_split = !normalizer.is_nothing(outside);
            let node = normalizer.ir.all(&[cell.node, node], origin);
            let longer = if cell.beginning.len() < its_beginning.len() { its_beginning } else { &cell.beginning };
            let names = if is_split { inside } else { cell.names };
            split.push(Cell { names, node, beginning: longer.clone() });
            if is_split {
                split.push(Cell { names: outside, ..cell });
            }
        }
        // Names of no pattern before.
        let mut names = normalizer.and_text(all, pattern);
        for (&opposite, other) in opposites.iter().zip(&beginnings).take(index) {
            if !are_apart(other, its_beginning) {
                names = normalizer.and_text(names, opposite);
            }
        }
        if !normalizer.is_nothing(names) {
            split.push(Cell { names, node, beginning: its_beginning.clone() });
        }
        cells = split;
        if normalizer.has_too_many(cells.len()) || !normalizer.charge(1 + cells.len() as u64 / CELLS_PER_WORK) {
            return Vec::new();
        }
    }
    let mut cells: Vec<(RegexId, NodeId)> = cells.into_iter().map(|cell| (cell.names, cell.node)).collect();
    let others = opposites.iter().fold(all, |names, &opposite| normalizer.and_text(names, opposite));
    if !normalizer.is_nothing(others) {
        cells.push((others, additional));
    }
    // Patterns that change nothing need no cells. Together the cells hold every name that is allowed.
    if let Some(&(_, first)) = cells.first()
        && first != NEVER
        && cells.iter().all(|&(_, node)| node == first)
    {
        return vec![(all, first)];
    }
    let is_possible =
        |&(regex, node): &(RegexId, NodeId)| node != NEVER && *normalizer.set.node(regex) != RegexNode::Nothing;
    cells.into_iter().filter(is_possible).collect()
}

/// What all texts of a language begin with, as far as that is written there.
fn beginning(set: &RegexSet, regex: RegexId) -> Vec<u8> {
    let parts = match set.node(regex) {
        RegexNode::Concat(parts) => parts,
        _ => std::slice::from_ref(&regex),
    };
    let literals = parts.iter().map_while(|&part| match set.node(part) {
        RegexNode::Literal(text) => Some(text),
        _ => None,
    });
    literals.flat_map(|text| text.iter().copied()).collect()
}

/// Whether no text can begin with both.
fn are_apart(a: &[u8], b: &[u8]) -> bool {
    a.iter().zip(b).any(|(a, b)| a != b)
}

/// An object with exactly these members, in this order.
pub(crate) fn exactly(normalizer: &mut Normalizer, members: Vec<(CompactString, NodeId)>) -> Option<ObjectId> {
    let named = members
        .into_iter()
        .map(|(name, node)| Named { key: normalizer.ir.keys.intern(name), node, required: true })
        .collect();
    spec(normalizer, ObjectSpec { named, cells: [].into(), min: 0, max: None, some: [].into(), clauses: [].into() })
}

/// Objects of which only some properties matter.
pub(crate) fn with(normalizer: &mut Normalizer, named: Vec<(CompactString, NodeId, bool)>) -> Option<ObjectId> {
    let named = named
        .into_iter()
        .map(|(name, node, required)| Named { key: normalizer.ir.keys.intern(name), node, required })
        .collect();
    let cells = [(normalizer.any_text, ANY)].into();
    spec(normalizer, ObjectSpec { named, cells, min: 0, max: None, some: [].into(), clauses: [].into() })
}

/// Objects of which one property matters.
pub(crate) fn with_key(normalizer: &mut Normalizer, named: Named) -> Option<ObjectId> {
    let (named, cells) = ([named].into(), [(normalizer.any_text, ANY)].into());
    spec(normalizer, ObjectSpec { named, cells, min: 0, max: None, some: [].into(), clauses: [].into() })
}

/// Objects of both.
pub(crate) fn intersection(
    normalizer: &mut Normalizer,
    a: &ObjectSpec,
    b: &ObjectSpec,
    origin: JsonId,
) -> Option<ObjectId> {
    let parts = |spec: &ObjectSpec| 2 * spec.named.len() + spec.some.len() + spec.clauses.len();
    normalizer.charge((parts(a) + parts(b)) as u64);
    let index =
        |spec: &ObjectSpec| -> FxHashMap<KeyId, Named> { spec.named.iter().map(|named| (named.key, *named)).collect() };
    let (in_a, in_b) = (index(a), index(b));
    let mut named: Vec<Named> = Vec::with_capacity(a.named.len() + b.named.len());
    let merge = |normalizer: &mut Normalizer, here: Named, other: Option<&Named>, cells: &[(RegexId, NodeId)]| {
        let (node, required) = match other {
            Some(other) => (other.node, other.required),
            None => {
                let name = normalizer.ir.keys.get(here.key).clone();
                (normalizer.property(cells, &name), false)
            }
        };
        Named { key: here.key, node: normalizer.both(here.node, node, origin), required: here.required || required }
    };
    for &here in &a.named {
        named.push(merge(normalizer, here, in_b.get(&here.key), &b.cells));
    }
    for &here in b.named.iter().filter(|named| !in_a.contains_key(&named.key)) {
        named.push(merge(normalizer, here, None, &a.cells));
    }
    let mut cells = Vec::new();
    for &(regex_a, node_a) in &a.cells {
        for &(regex_b, node_b) in &b.cells {
            if !normalizer.charge(1) || normalizer.has_too_many(cells.len()) {
                return None;
            }
            let node = normalizer.ir.all(&[node_a, node_b], origin);
            let regex = if regex_a == regex_b { regex_a } else { normalizer.and_text(regex_a, regex_b) };
            if node != NEVER && !normalizer.is_nothing(regex) {
                cells.push((regex, node));
            }
        }
    }
    let max = a.max.into_iter().chain(b.max).min();
    let mut some: Vec<ViolationId> = a.some.iter().chain(&b.some).copied().collect();
    some.sort_unstable();
    some.dedup();
    let mut clauses: Vec<ClauseId> = a.clauses.iter().chain(&b.clauses).copied().collect();
    let mut seen = rustc_hash::FxHashSet::default();
    clauses.retain(|&clause| seen.insert(clause));
    let min = a.min.max(b.min);
    let (named, cells, some, clauses) = (named.into(), cells.into(), some.into(), clauses.into());
    spec(normalizer, ObjectSpec { named, cells, min, max, some, clauses })
}

/// Clauses within each other, at most: opposites recurse this deep.
const CLAUSE_DEPTH_MAX: usize = 24;

/// Objects that are valid in one of the ways, as a single way; `None` if there is no way.
pub(crate) fn as_one(normalizer: &mut Normalizer, ways: &[ObjectId]) -> Option<ObjectId> {
    if ways.len() < 2 {
        return ways.first().copied();
    }
    let clause = normalizer.ir.clauses.intern(ways.into());
    if normalizer.clause_depth(clause) > CLAUSE_DEPTH_MAX {
        normalizer.has_too_many(usize::MAX);
        return None;
    }
    let any = normalizer.any_object();
    let any = normalizer.ir.objects.get(any).clone();
    Some(normalizer.ir.objects.intern(ObjectSpec { clauses: [clause].into(), ..any }))
}

/// Ways compared with each other at most; beyond it all stay.
const ABSORBED_MAX: usize = 600;

/// The ways that are not part of another one, so that products of `required` and `not` stay small. Two ways of which
/// none `is_new` are not compared.
pub(crate) fn absorbed(normalizer: &mut Normalizer, ways: &[(ObjectId, bool)]) -> AnyOf<ObjectId> {
    let (ways, is_new): (Vec<ObjectId>, Vec<bool>) = ways.iter().copied().unzip();
    let pairs = is_new.iter().filter(|&&is_new| is_new).count() * ways.len();
    if ways.len() < 3 || ways.len() > ABSORBED_MAX || !normalizer.charge(pairs as u64) {
        return ways.into();
    }
    let specs: Vec<&ObjectSpec> = ways.iter().map(|&way| normalizer.ir.objects.get(way)).collect();
    let maps: Vec<FxHashMap<KeyId, Named>> =
        specs.iter().map(|spec| spec.named.iter().map(|named| (named.key, *named)).collect()).collect();
    // Whether every object of `small` is one of `large`, as far as that shows.
    let is_part = |small: usize, large: usize| {
        let (a, b) = (specs[small], specs[large]);
        let open = a.cells == b.cells && b.cells.iter().all(|&(_, node)| node == ANY) && b.cells.len() == 1;
        let bounds = b.min == 0 && b.max.is_none() && b.some.is_empty() && b.clauses.is_empty();
        open && bounds
            && b.named.len() <= a.named.len()
            && b.named.iter().all(|wide| {
                let narrow = maps[small].get(&wide.key);
                narrow.is_some_and(|narrow| {
                    (narrow.node == wide.node || wide.node == ANY) && (narrow.required || !wide.required)
                })
            })
    };
    let is_kept = |way: usize| {
        (0..ways.len()).all(|other| {
            let is_asked = other != way && (is_new[way] || is_new[other]);
            !is_asked || !is_part(way, other) || (is_part(other, way) && way < other)
        })
    };
    (0..ways.len()).filter(|&way| is_kept(way)).map(|way| ways[way]).collect()
}

/// All other objects, in any of several ways.
pub(crate) fn complement(normalizer: &mut Normalizer, object: ObjectId, origin: JsonId) -> Vec<ObjectId> {
    let object = normalizer.ir.objects.get(object).clone();
    let any = [(normalizer.any_text, ANY)];
    let base =
        ObjectSpec { named: [].into(), cells: any.into(), min: 0, max: None, some: [].into(), clauses: [].into() };
    let mut ways: Vec<ObjectId> = Vec::new();
    if *object.cells != any {
        let mut excluded: Vec<KeyId> = object.named.iter().map(|named| named.key).collect();
        excluded.sort_unstable();
        let violation = Violation { excluded: excluded.into(), cells: object.cells.clone() };
        let violation = normalizer.ir.violations.intern(violation);
        ways.extend(spec(normalizer, ObjectSpec { some: [violation].into(), ..base.clone() }));
    }
    for &clause in &object.clauses {
        // None of its ways: something of each is violated.
        let list = normalizer.ir.clauses.get(clause).clone();
        let lists: Vec<Vec<ObjectId>> = list.iter().map(|&way| complement(normalizer, way, origin)).collect();
        let mut all = Some(normalizer.any_object());
        for list in &lists {
            let one = as_one(normalizer, list);
            all = all.zip(one).and_then(|(all, one)| normalizer.and_objects(all, one, origin));
        }
        ways.extend(all);
    }
    for &some in &object.some {
        let Violation { excluded, cells } = normalizer.ir.violations.get(some).clone();
        let named = excluded.iter().map(|&key| Named { key, node: ANY, required: false }).collect();
        ways.extend(spec(normalizer, ObjectSpec { named, cells, ..base.clone() }));
    }
    for &Named { key, node, required } in &object.named {
        if required {
            let absent = Named { key, node: NEVER, required: false };
            ways.extend(spec(normalizer, ObjectSpec { named: [absent].into(), ..base.clone() }));
        }
        if node != ANY {
            let node = normalizer.ir.not(node, origin);
            let wrong = Named { key, node, required: true };
            ways.extend(spec(normalizer, ObjectSpec { named: [wrong].into(), ..base.clone() }));
        }
    }
    if let Some(below) = object.min.checked_sub(1) {
        ways.extend(spec(normalizer, ObjectSpec { max: Some(below), ..base.clone() }));
    }
    if let Some(above) = object.max.and_then(|max| max.checked_add(1)) {
        ways.extend(spec(normalizer, ObjectSpec { min: above, ..base }));
    }
    ways
}
