//! Regular languages of bytes as a hash-consed table of nodes: the terminals of every front end.
//!
//! A node's children are older than the node, so that every pass is one loop over the table and nothing recurses.
//! Meaning is over bytes: a [`CharClass`] stands for the UTF-8 encodings of its characters.

mod saved;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hashbrown::HashTable;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::define_id;
use crate::dfa::DfaRef;
use crate::hashing::hash_of;
use crate::index::Id;
use crate::number::Decimal;
use crate::ranges;

pub use saved::SavedRegexes;

define_id! {
    /// A node of a [`RegexSet`].
    pub struct RegexId = "re";
}

/// A set of Unicode scalar values: sorted, disjoint, non-adjacent, inclusive ranges, without surrogates.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CharClass(Box<[(u32, u32)]>);

/// A set of bytes, bit `b % 64` of word `b / 64`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct ByteSet(pub [u64; 4]);

/// A node's bytes; most are few.
pub type Text = SmallVec<[u8; 16]>;
/// What a node is made of; most are few.
pub type Parts = SmallVec<[RegexId; 4]>;

/// One operation of the algebra.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum RegexNode {
    /// No text at all.
    Nothing,
    /// These bytes; empty for the empty text.
    Literal(Text),
    /// One character of the class, in UTF-8.
    Class(CharClass),
    /// One byte of the set.
    Bytes(ByteSet),
    /// One after the other; at least two.
    Concat(Parts),
    /// Any of them; at least two, sorted, without repeats.
    Or(Parts),
    /// All of them; at least two, sorted, without repeats.
    And(Parts),
    /// Every byte string that the child does not match. [`RegexSet::complement`] keeps within UTF-8.
    Not(RegexId),
    /// The child `min` to `max` times; `None` is without bound.
    Repeat(RegexId, u32, Option<u32>),
    /// `min(L)`: the texts of `L` of which no proper prefix is in `L`.
    Shortest(RegexId),
    /// Decimal numbers `0 | [1-9][0-9]*` with an optional fraction whose value is a multiple of
    /// `divisor / 10^scale`. No sign, no exponent. `divisor` is positive.
    MultipleOf {
        /// The divisor's digits as an integer.
        divisor: u64,
        /// How many of them stand behind the point.
        scale: u32,
    },
    /// Numbers in all ways to write them whose exponents go from `-exponent_max` to `exponent_max` or are those of
    /// scientific notation. At least one; sorted, without repeats and 0.
    Values {
        /// The numbers.
        values: Box<[Decimal]>,
        /// The largest exponent that every mantissa may have.
        exponent_max: u8,
    },
    /// The words of an automaton, with the texts of its letters: see [`RegexSet::dfa`].
    Dfa(DfaRef, Box<[RegexId]>),
}

/// What a node knows of itself without search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegexInfo {
    /// Whether it matches the empty text.
    pub nullable: bool,
    /// Lower bound of the length in bytes of a match.
    pub len_min: u64,
    /// Upper bound of the length in bytes of a match; `None` is without bound.
    pub len_max: Option<u64>,
    /// It certainly matches some text. False says nothing: of an intersection or a complement, only a search can tell.
    pub has_text: bool,
}

/// Texts, and what must follow them: [`None`] is anything.
pub(crate) type Ending = (RegexId, Option<RegexId>);

/// Work with which no look-around is decided.
const LOOK_WORK_MIN: u64 = 1_000;

/// A growing table of regexes; equal nodes have equal ids.
#[derive(Clone, Debug, Default)]
pub struct RegexSet {
    /// What it was begun with, shared with others.
    base: Option<Arc<Base>>,
    /// The nodes behind those of the base.
    own: Table,
    /// Kept for its room.
    parts: Vec<RegexId>,
    /// Work that was spent on the look-arounds and lazy quantifiers of all its regexes, in steps of 20 ns.
    pub(crate) look_work: u64,
    /// [`Limits::look_work_max`](crate::Limits::look_work_max) of those who read regexes into it, if anybody has.
    pub(crate) look_work_max: Option<u64>,
    /// What texts say of whether what follows them is allowed, by both: a hundred keywords with `\b` ask the same.
    pub(crate) splits: FxHashMap<(RegexId, RegexId), Box<[Ending]>>,
}

/// The first nodes of several tables.
#[derive(Debug)]
struct Base {
    number: u64,
    table: Table,
}

/// Nodes, from some id on.
#[derive(Clone, Debug, Default)]
struct Table {
    nodes: Vec<RegexNode>,
    /// Parallel to `nodes`.
    infos: Vec<RegexInfo>,
    /// Nodes with their hashes, by their contents.
    ids: HashTable<(u64, RegexId)>,
}

/// The nodes that a table was begun with, which are those of others, too: see [`RegexSet::into_base`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegexBase {
    /// Tells them apart from those of all other bases of the process.
    pub number: u64,
    /// So many nodes.
    pub len: usize,
}

/// A node that is looked for: its list need not be its own.
#[derive(PartialEq, Eq, Hash)]
enum NodeView<'a> {
    Literal(&'a [u8]),
    Concat(&'a [RegexId]),
    Or(&'a [RegexId]),
    And(&'a [RegexId]),
    Other(&'a RegexNode),
}

impl NodeView<'_> {
    fn to_node(&self) -> RegexNode {
        match *self {
            NodeView::Literal(bytes) => RegexNode::Literal(Text::from_slice(bytes)),
            NodeView::Concat(parts) => RegexNode::Concat(Parts::from_slice(parts)),
            NodeView::Or(parts) => RegexNode::Or(Parts::from_slice(parts)),
            NodeView::And(parts) => RegexNode::And(Parts::from_slice(parts)),
            NodeView::Other(node) => node.clone(),
        }
    }
}

/// Which nodes of a table were copied into another, and where they are there: see [`RegexSet::import_with`].
#[derive(Clone, Debug, Default)]
pub struct Imported {
    /// Indexed by the nodes of the table that they are from.
    ids: Vec<Option<RegexId>>,
}

impl Table {
    /// The node of a hash, if it is there; `first` is the first one's id.
    fn find(&self, hash: u64, view: &NodeView<'_>, first: usize) -> Option<RegexId> {
        let is_it = |&(other, id): &(u64, RegexId)| other == hash && self.nodes[id.index() - first].view() == *view;
        self.ids.find(hash, is_it).map(|&(_, id)| id)
    }
}

impl RegexSet {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }
    /// Makes room for so many more nodes.
    pub fn reserve(&mut self, more: usize) {
        self.own.nodes.reserve(more);
        self.own.infos.reserve(more);
        self.own.ids.reserve(more, |&(hash, _)| hash);
    }
    /// This table as the beginning of others, which it is shared by when it is cloned. Whatever is found out of its nodes holds in
    /// all of these.
    pub fn into_base(self) -> Self {
        assert!(self.base.is_none(), "a beginning has none itself");
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let base = Base { number, table: self.own };
        Self { base: Some(Arc::new(base)), own: Table::default(), ..self }
    }
    /// What it began with, if that was [made to be a beginning](Self::into_base).
    pub fn base(&self) -> Option<RegexBase> {
        self.base.as_ref().map(|base| RegexBase { number: base.number, len: base.table.nodes.len() })
    }
    /// How many nodes it began with.
    fn base_len(&self) -> usize {
        self.base.as_ref().map_or(0, |base| base.table.nodes.len())
    }
    /// The part that holds a node, and its index there.
    fn place(&self, id: RegexId) -> (&Table, usize) {
        match &self.base {
            Some(base) if id.index() < base.table.nodes.len() => (&base.table, id.index()),
            _ => (&self.own, id.index() - self.base_len()),
        }
    }
    /// The node.
    pub fn node(&self, id: RegexId) -> &RegexNode {
        let (table, index) = self.place(id);
        &table.nodes[index]
    }
    /// What is known of the node.
    pub fn info(&self, id: RegexId) -> RegexInfo {
        let (table, index) = self.place(id);
        table.infos[index]
    }
    /// Notes that a node matches some text, where its maker knows what only a search could tell. It is not one of the
    /// [beginning](Self::base).
    pub fn note_text(&mut self, id: RegexId) {
        let own = id.index() - self.base_len();
        self.own.infos[own].has_text = true;
    }
    /// Work of [`Limits::look_work_max`](crate::Limits::look_work_max) that was taken: for other tables of the same source.
    pub fn look_work(&self) -> u64 {
        self.look_work
    }
    /// Begins with what other tables of the source have taken.
    pub fn set_look_work(&mut self, taken: u64) {
        self.look_work = taken;
    }
    /// Work that is left for look-arounds.
    pub(crate) fn look_work_left(&self) -> u64 {
        self.look_work_max.unwrap_or(u64::MAX).saturating_sub(self.look_work)
    }
    /// Whether that is too little to decide anything.
    pub(crate) fn lacks_look_work(&self) -> bool {
        self.look_work_left() < LOOK_WORK_MIN
    }
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.base_len() + self.own.nodes.len()
    }
    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// All nodes, children first.
    pub fn iter(&self) -> impl Iterator<Item = (RegexId, &RegexNode)> {
        let base = self.base.iter().flat_map(|base| &base.table.nodes);
        base.chain(&self.own.nodes).enumerate().map(|(index, node)| (RegexId::from_index(index), node))
    }

    pub(crate) fn intern(&mut self, node: RegexNode) -> RegexId {
        let (hash, known) = self.find(&node.view());
        known.unwrap_or_else(|| self.push(hash, node))
    }
    fn intern_view(&mut self, view: NodeView<'_>) -> RegexId {
        let (hash, known) = self.find(&view);
        known.unwrap_or_else(|| self.push(hash, view.to_node()))
    }
    fn find(&self, view: &NodeView<'_>) -> (u64, Option<RegexId>) {
        let hash = hash_of(view);
        let known = self.base.as_ref().and_then(|base| base.table.find(hash, view, 0));
        (hash, known.or_else(|| self.own.find(hash, view, self.base_len())))
    }
    fn push(&mut self, hash: u64, node: RegexNode) -> RegexId {
        let id = RegexId::from_index(self.len());
        self.own.infos.push(self.info_of(&node));
        self.own.nodes.push(node);
        self.own.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    fn info_of(&self, node: &RegexNode) -> RegexInfo {
        let fixed = |len: u64| RegexInfo { nullable: len == 0, len_min: len, len_max: Some(len), has_text: true };
        match node {
            RegexNode::Nothing => RegexInfo { nullable: false, len_min: 0, len_max: Some(0), has_text: false },
            RegexNode::Literal(bytes) => fixed(bytes.len() as u64),
            RegexNode::Class(class) => RegexInfo {
                nullable: false,
                len_min: class.0.first().map_or(0, |&(low, _)| utf8_len(low)),
                len_max: Some(class.0.last().map_or(0, |&(_, high)| utf8_len(high))),
                has_text: !class.0.is_empty(),
            },
            RegexNode::Bytes(bytes) => RegexInfo { has_text: !bytes.is_empty(), ..fixed(1) },
            RegexNode::Concat(parts) => parts.iter().fold(fixed(0), |sum, &part| {
                let info = self.info(part);
                RegexInfo {
                    nullable: sum.nullable && info.nullable,
                    len_min: sum.len_min.saturating_add(info.len_min),
                    len_max: sum.len_max.zip(info.len_max).map(|(a, b)| a.saturating_add(b)),
                    has_text: sum.has_text && info.has_text,
                }
            }),
            RegexNode::Or(parts) => {
                let infos = || parts.iter().map(|&part| self.info(part));
                RegexInfo {
                    nullable: infos().any(|info| info.nullable),
                    len_min: infos().map(|info| info.len_min).min().unwrap_or(0),
                    len_max: infos().map(|info| info.len_max).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten(),
                    has_text: infos().any(|info| info.has_text),
                }
            }
            RegexNode::And(parts) => {
                let infos = || parts.iter().map(|&part| self.info(part));
                RegexInfo {
                    nullable: infos().all(|info| info.nullable),
                    len_min: infos().map(|info| info.len_min).max().unwrap_or(0),
                    len_max: infos().filter_map(|info| info.len_max).min(),
                    has_text: infos().all(|info| info.nullable),
                }
            }
            RegexNode::Not(child) => {
                let nullable = !self.info(*child).nullable;
                RegexInfo { nullable, len_min: 0, len_max: None, has_text: nullable }
            }
            RegexNode::Repeat(child, min, max) => {
                let info = self.info(*child);
                RegexInfo {
                    nullable: *min == 0 || info.nullable,
                    len_min: info.len_min.saturating_mul(u64::from(*min)),
                    len_max: match (info.len_max, max) {
                        (Some(0), _) => Some(0),
                        (Some(len), Some(max)) => Some(len.saturating_mul(u64::from(*max))),
                        _ => None,
                    },
                    has_text: *min == 0 || info.has_text,
                }
            }
            RegexNode::Shortest(child) => self.info(*child),
            RegexNode::MultipleOf { .. } | RegexNode::Values { .. } => {
                RegexInfo { nullable: false, len_min: 1, len_max: None, has_text: false }
            }
            RegexNode::Dfa(dfa, _) => {
                let nullable = dfa.is_accepting(dfa.start());
                RegexInfo { nullable, len_min: u64::from(!nullable), len_max: None, has_text: nullable }
            }
        }
    }

    /// The language without texts.
    pub fn nothing(&mut self) -> RegexId {
        self.intern(RegexNode::Nothing)
    }
    /// The empty text.
    pub fn epsilon(&mut self) -> RegexId {
        self.literal(b"")
    }
    /// These bytes.
    pub fn literal(&mut self, bytes: &[u8]) -> RegexId {
        self.intern_view(NodeView::Literal(bytes))
    }
    /// One character of the class.
    pub fn class(&mut self, class: CharClass) -> RegexId {
        match class.ranges() {
            [] => self.nothing(),
            &[(low, high)] if low == high => {
                let c = char::from_u32(low).expect("classes hold scalar values");
                self.literal(c.encode_utf8(&mut [0; 4]).as_bytes())
            }
            _ => self.intern(RegexNode::Class(class)),
        }
    }
    /// One byte of the set.
    pub fn bytes(&mut self, set: ByteSet) -> RegexId {
        match set.len() {
            0 => self.nothing(),
            1 => {
                let byte = set.iter().next().expect("one byte");
                self.literal(&[byte])
            }
            _ => self.intern(RegexNode::Bytes(set)),
        }
    }
    /// Any one byte.
    pub fn any_byte(&mut self) -> RegexId {
        self.bytes(ByteSet::ALL)
    }
    /// Any one character, line breaks included.
    pub fn any_char(&mut self) -> RegexId {
        self.class(CharClass::all())
    }
    /// Every text in valid UTF-8, the empty one included.
    pub fn any_text(&mut self) -> RegexId {
        let any = self.any_char();
        self.repeat(any, 0, None)
    }
    /// One after the other. Flattens, joins adjacent literals.
    pub fn concat(&mut self, parts: &[RegexId]) -> RegexId {
        let mut flat = std::mem::take(&mut self.parts);
        flat.clear();
        let mut nothing = None;
        for &part in parts {
            match self.node(part) {
                RegexNode::Nothing => nothing = Some(part),
                RegexNode::Concat(inner) => flat.extend_from_slice(inner),
                RegexNode::Literal(bytes) if bytes.is_empty() => {}
                _ => flat.push(part),
            }
        }
        self.join_literals(&mut flat);
        let id = nothing.unwrap_or_else(|| match flat.as_slice() {
            [] => self.epsilon(),
            &[only] => only,
            _ => self.intern_view(NodeView::Concat(&flat)),
        });
        self.parts = flat;
        id
    }
    /// Literals that follow each other as one.
    fn join_literals(&mut self, parts: &mut Vec<RegexId>) {
        let (mut kept, mut at) = (0, 0);
        while at < parts.len() {
            let texts = parts[at..].iter().map_while(|&part| match self.node(part) {
                RegexNode::Literal(bytes) => Some(&**bytes),
                _ => None,
            });
            let len = texts.clone().count();
            parts[kept] = match len {
                0 | 1 => parts[at],
                _ => {
                    let joined: SmallVec<[u8; 64]> = texts.flatten().copied().collect();
                    self.literal(&joined)
                }
            };
            kept += 1;
            at += len.max(1);
        }
        parts.truncate(kept);
    }
    /// Any of them. Flattens, sorts, drops repeats and [`RegexNode::Nothing`].
    pub fn or(&mut self, parts: &[RegexId]) -> RegexId {
        let mut flat = std::mem::take(&mut self.parts);
        flat.clear();
        for &part in parts {
            match self.node(part) {
                RegexNode::Nothing => {}
                RegexNode::Or(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let id = match flat.as_slice() {
            [] => self.nothing(),
            &[only] => only,
            _ => self.intern_view(NodeView::Or(&flat)),
        };
        self.parts = flat;
        id
    }
    /// All of them: intersection. `parts` must not be empty.
    pub fn and(&mut self, parts: &[RegexId]) -> RegexId {
        assert!(!parts.is_empty(), "an intersection needs an operand");
        let mut flat = std::mem::take(&mut self.parts);
        flat.clear();
        let mut nothing = None;
        for &part in parts {
            match self.node(part) {
                RegexNode::Nothing => nothing = Some(part),
                RegexNode::And(inner) => flat.extend_from_slice(inner),
                _ => flat.push(part),
            }
        }
        flat.sort_unstable();
        flat.dedup();
        let id = nothing.unwrap_or_else(|| match flat.as_slice() {
            &[only] => only,
            _ => self.intern_view(NodeView::And(&flat)),
        });
        self.parts = flat;
        id
    }
    /// Every byte string that `child` does not match, invalid UTF-8 included.
    pub fn not(&mut self, child: RegexId) -> RegexId {
        match *self.node(child) {
            RegexNode::Not(inner) => inner,
            _ => self.intern(RegexNode::Not(child)),
        }
    }
    /// Every text in valid UTF-8 that `child` does not match: what authors mean by `~X`.
    pub fn complement(&mut self, child: RegexId) -> RegexId {
        let not = self.not(child);
        let text = self.any_text();
        self.and(&[not, text])
    }
    /// `child` `min` to `max` times; `min <= max`.
    pub fn repeat(&mut self, child: RegexId, min: u32, max: Option<u32>) -> RegexId {
        assert!(max.is_none_or(|max| min <= max), "a repetition's minimum is at most its maximum");
        match (min, max) {
            (_, Some(0)) => self.epsilon(),
            (1, Some(1)) => child,
            _ => match self.node(child) {
                RegexNode::Nothing if min == 0 => self.epsilon(),
                RegexNode::Nothing => child,
                RegexNode::Literal(bytes) if bytes.is_empty() => child,
                _ => self.intern(RegexNode::Repeat(child, min, max)),
            },
        }
    }
    /// `child` or the empty text.
    pub fn optional(&mut self, child: RegexId) -> RegexId {
        let epsilon = self.epsilon();
        if self.info(child).nullable { child } else { self.or(&[child, epsilon]) }
    }
    /// The texts of `child` of which no proper prefix is in `child`.
    pub fn shortest(&mut self, child: RegexId) -> RegexId {
        if self.info(child).nullable {
            return self.epsilon();
        }
        match self.node(child) {
            RegexNode::Nothing | RegexNode::Literal(_) | RegexNode::Class(_) | RegexNode::Bytes(_) => child,
            _ => self.intern(RegexNode::Shortest(child)),
        }
    }
    /// See [`RegexNode::Values`].
    ///
    /// Panics if 0 is among the values: its exponents have no bound.
    pub fn values(&mut self, values: impl IntoIterator<Item = Decimal>, exponent_max: u8) -> RegexId {
        let mut values: Vec<Decimal> = values.into_iter().collect();
        assert!(!values.iter().any(Decimal::is_zero), "0 has any exponent");
        values.sort_unstable();
        values.dedup();
        if values.is_empty() {
            return self.nothing();
        }
        self.intern(RegexNode::Values { values: values.into(), exponent_max })
    }
    /// See [`RegexNode::MultipleOf`]. `divisor` must be positive.
    pub fn multiple_of(&mut self, divisor: u64, scale: u32) -> RegexId {
        assert!(divisor > 0, "a divisor is positive");
        self.intern(RegexNode::MultipleOf { divisor, scale })
    }
    /// Copies `id` and what it is made of from another table.
    pub fn import(&mut self, from: &RegexSet, id: RegexId) -> RegexId {
        self.import_with(from, id, &mut Imported::default())
    }
    /// The same for one who copies many: `imported` is of the same two tables, which may have grown. Cost: linear in what
    /// is not copied yet.
    pub fn import_with(&mut self, from: &RegexSet, id: RegexId, imported: &mut Imported) -> RegexId {
        imported.ids.resize(from.len(), None);
        let mut stack: SmallVec<[RegexId; 16]> = SmallVec::from_slice(&[id]);
        while let Some(&top) = stack.last() {
            if imported.ids[top.index()].is_some() {
                stack.pop();
                continue;
            }
            let node = from.node(top);
            let before = stack.len();
            stack.extend(node.children().iter().copied().filter(|child| imported.ids[child.index()].is_none()));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let copy = self.mapped(node, |child| imported.ids[child.index()].expect("children come first"));
            imported.ids[top.index()] = Some(copy);
        }
        imported.ids[id.index()].expect("it was the first on the stack")
    }
    /// A node like another, of other children.
    fn mapped(&mut self, node: &RegexNode, map: impl Fn(RegexId) -> RegexId) -> RegexId {
        let mut parts = std::mem::take(&mut self.parts);
        parts.clear();
        parts.extend(node.children().iter().map(|&child| map(child)));
        if matches!(node, RegexNode::Or(_) | RegexNode::And(_)) {
            parts.sort_unstable();
        }
        let id = match *node {
            RegexNode::Concat(_) => self.intern_view(NodeView::Concat(&parts)),
            RegexNode::Or(_) => self.intern_view(NodeView::Or(&parts)),
            RegexNode::And(_) => self.intern_view(NodeView::And(&parts)),
            RegexNode::Not(_) => self.intern(RegexNode::Not(parts[0])),
            RegexNode::Repeat(_, min, max) => self.intern(RegexNode::Repeat(parts[0], min, max)),
            RegexNode::Shortest(_) => self.intern(RegexNode::Shortest(parts[0])),
            RegexNode::Dfa(ref dfa, _) => self.intern(RegexNode::Dfa(dfa.clone(), parts.as_slice().into())),
            ref leaf => self.intern_view(leaf.view()),
        };
        self.parts = parts;
        id
    }
}

impl RegexNode {
    fn view(&self) -> NodeView<'_> {
        match self {
            RegexNode::Literal(bytes) => NodeView::Literal(bytes),
            RegexNode::Concat(parts) => NodeView::Concat(parts),
            RegexNode::Or(parts) => NodeView::Or(parts),
            RegexNode::And(parts) => NodeView::And(parts),
            other => NodeView::Other(other),
        }
    }
    /// The nodes that this one is made of.
    pub fn children(&self) -> &[RegexId] {
        match self {
            RegexNode::Concat(parts) | RegexNode::Or(parts) | RegexNode::And(parts) => parts,
            RegexNode::Dfa(_, letters) => letters,
            RegexNode::Not(child) | RegexNode::Repeat(child, ..) | RegexNode::Shortest(child) => {
                std::slice::from_ref(child)
            }
            _ => &[],
        }
    }
}

impl CharClass {
    /// The class of these inclusive ranges of code points, in any order; surrogates are left out.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut cut: Vec<(u32, u32)> = Vec::new();
        for (low, high) in ranges {
            let high = high.min(0x10FFFF);
            for (low, high) in [(low, high.min(0xD7FF)), (low.max(0xE000), high)] {
                if low <= high {
                    cut.push((low, high));
                }
            }
        }
        Self(ranges::merged(cut).into())
    }
    /// Every scalar value.
    pub fn all() -> Self {
        Self([(0, 0xD7FF), (0xE000, 0x10FFFF)].into())
    }
    /// One character.
    pub fn single(c: char) -> Self {
        Self::from_ranges([(c as u32, c as u32)])
    }
    /// The ranges, sorted.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }
    /// Whether the class has no characters.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
    /// Whether `c` is in the class.
    pub fn contains(&self, c: char) -> bool {
        ranges::contains(&self.0, c as u32)
    }
    /// Every scalar value that is not in the class.
    pub fn negate(&self) -> Self {
        Self::from_ranges(ranges::gaps(&self.0, 0x110000))
    }
    /// Characters of either.
    pub fn union(&self, other: &Self) -> Self {
        Self::from_ranges(self.0.iter().chain(&other.0).copied())
    }
    /// Characters of both.
    pub fn intersect(&self, other: &Self) -> Self {
        self.within(&other.0)
    }
    /// The characters in some ranges of code points, which are sorted and do not touch.
    pub fn within(&self, ranges: &[(u32, u32)]) -> Self {
        let mut both = Vec::new();
        let mut from = 0;
        for &(low, high) in &self.0 {
            from += ranges[from..].partition_point(|range| range.1 < low);
            let inside = ranges[from..].iter().take_while(|range| range.0 <= high);
            both.extend(inside.map(|range| (range.0.max(low), range.1.min(high))));
        }
        Self(both.into())
    }
}

impl ByteSet {
    /// Every byte.
    pub const ALL: ByteSet = ByteSet([u64::MAX; 4]);
    /// No byte.
    pub const EMPTY: ByteSet = ByteSet([0; 4]);
    /// The bytes of an inclusive range.
    pub fn range(low: u8, high: u8) -> Self {
        ByteSet(std::array::from_fn(|word| {
            let (first, last) = (64 * word as u8, 64 * word as u8 + 63);
            let (low, high) = (low.max(first), high.min(last));
            if low > high { 0 } else { u64::MAX << (low - first) & u64::MAX >> (last - high) }
        }))
    }
    /// Adds a byte.
    pub fn insert(&mut self, byte: u8) {
        self.0[usize::from(byte / 64)] |= 1 << (byte % 64);
    }
    /// Whether the byte is in the set.
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1 == 1
    }
    /// Number of bytes in the set.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0 == [0; 4]
    }
    /// The bytes in order.
    pub fn iter(&self) -> impl Iterator<Item = u8> + Clone + '_ {
        self.0.iter().zip([0u8, 64, 128, 192]).flat_map(|(&word, base)| {
            let or_none = |word: u64| (word != 0).then_some(word);
            let words = std::iter::successors(or_none(word), move |word| or_none(word & (word - 1)));
            words.map(move |word| base + word.trailing_zeros() as u8)
        })
    }
    /// The bytes that are not in the set.
    pub fn negate(&self) -> Self {
        Self(self.0.map(|word| !word))
    }
    /// Bytes of either.
    pub fn union(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }
    /// Bytes of both.
    pub fn intersect(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }
}

fn utf8_len(code: u32) -> u64 {
    match code {
        0..=0x7F => 1,
        0x80..=0x7FF => 2,
        0x800..=0xFFFF => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_the_bytes_between_their_ends() {
        let ends = [0, 1, 62, 63, 64, 65, 127, 128, 191, 192, 254, 255];
        for (low, high) in ends.into_iter().flat_map(|low| ends.map(|high| (low, high))) {
            assert!(ByteSet::range(low, high).iter().eq(low..=high), "{low} to {high}");
        }
    }
}
