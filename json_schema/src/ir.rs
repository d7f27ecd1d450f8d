//! The normalised form of a schema: Boolean nodes over sub-schemas, and the shapes that they stand for.
//!
//! A [`Node`] says what is wanted, in terms of other nodes; a [`Shape`] says which values these are, one part for each
//! JSON type. The parts of scalars are regular languages, which Boolean operations act on at once. Arrays and objects
//! are lists of alternatives ([`ArraySpec`], [`ObjectSpec`]) that refer to nodes again, so that what is inside a value
//! is looked at only when it is reached, and recursion through `$ref` needs no special case. All tables are
//! hash-consed: equal sub-schemas and equal intersections are one entry.

use std::hash::Hash;
use std::marker::PhantomData;

use compact_str::CompactString;
use indexmap::IndexSet;
use larkspur_grammar::index::Id;
use larkspur_grammar::json::{JsonDocument, JsonId};
use larkspur_grammar::{IndexVec, RegexId, define_id};
use rustc_hash::{FxBuildHasher, FxHashSet};
use smallvec::SmallVec;

use crate::numbers::Numbers;

define_id! {
    /// A node of the Boolean form.
    pub(crate) struct NodeId = "n";
}
define_id! {
    /// A normal form.
    pub(crate) struct ShapeId = "s";
}
define_id! {
    /// A way for an array to be valid.
    pub(crate) struct ArrayId = "a";
}
define_id! {
    /// A way for an object to be valid.
    pub(crate) struct ObjectId = "o";
}
define_id! {
    /// A demand for a property that is not valid.
    pub(crate) struct ViolationId = "v";
}
define_id! {
    /// A list of ways for an object of which one must hold.
    pub(crate) struct ClauseId = "c";
}
define_id! {
    /// A property's name.
    pub(crate) struct KeyId = "k";
}

/// Values, by what they are made of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Node {
    /// Every value.
    Any,
    /// No value.
    Never,
    /// A schema with all its keywords.
    Schema(JsonId),
    /// What a schema's keywords without sub-schemas in place say.
    Keywords(JsonId),
    /// One of these values.
    Values(Box<[JsonId]>),
    /// A shape that was made.
    Shape(ShapeId),
    /// All of them; at least two.
    All(Box<[NodeId]>),
    /// Any of them; at least two.
    Some(Box<[NodeId]>),
    /// Exactly one of them; at least two.
    One(Box<[NodeId]>),
    /// Not that.
    Not(NodeId),
}

/// A set of values, by type.
#[derive(PartialEq, Eq, Hash, Debug)]
pub(crate) struct Shape {
    pub null: bool,
    /// `false`, `true`.
    pub truth: [bool; 2],
    /// Written with a fraction or an exponent.
    pub numbers: Numbers,
    /// Written without. Another set than `numbers` only by draft 4's `integer`; its fractions do not count.
    pub integers: Numbers,
    /// The decoded texts.
    pub strings: RegexId,
    /// Any of these ways; none is no array.
    pub arrays: AnyOf<ArrayId>,
    /// Any of these ways; none is no object.
    pub objects: AnyOf<ObjectId>,
}

/// As slices are copied, which takes a fraction of what a `SmallVec` takes to clone itself.
impl Clone for Shape {
    fn clone(&self) -> Self {
        Self { arrays: SmallVec::from_slice(&self.arrays), objects: SmallVec::from_slice(&self.objects), ..*self }
    }
}

/// The ways in which an array or an object may be; most often one.
pub(crate) type AnyOf<I> = SmallVec<[I; 4]>;

/// Arrays of `min` to `max` elements; the first ones are of `prefix`, the others of `rest`.
/// The prefix is not longer than `max`, none of its first `min` is [`Node::Never`].
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ArraySpec {
    pub prefix: Box<[NodeId]>,
    /// [`Node::Any`] where `max` leaves no room for it.
    pub rest: NodeId,
    pub min: u64,
    pub max: Option<u64>,
    /// Elements that are counted, sorted by what is counted.
    pub counts: Box<[Count]>,
    /// No two elements are equal.
    pub unique: bool,
    /// Some two elements are equal, which is seen to only where nothing but arrays without equal ones is left; the place of
    /// the keyword that asks for it.
    pub repeats: Option<JsonId>,
}

/// `min` to `max` of the elements from the index `from` on are of the node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Count {
    pub node: NodeId,
    pub from: u64,
    pub min: u64,
    pub max: Option<u64>,
}

/// A property that is named.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Named {
    pub key: KeyId,
    /// [`Node::Never`] if the property must not be there.
    pub node: NodeId,
    pub required: bool,
}

/// Objects of `min` to `max` properties.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ObjectSpec {
    /// In the order in which they are written.
    pub named: Box<[Named]>,
    /// The other properties: disjoint languages of names, each with what its values are. A name in none of them is not
    /// allowed. They may hold names of `named`, which do not count there.
    pub cells: Box<[(RegexId, NodeId)]>,
    pub min: u64,
    pub max: Option<u64>,
    /// For each of them there is a property.
    pub some: Box<[ViolationId]>,
    /// For each of them the object is valid in one of the ways: what would otherwise be multiplied out.
    pub clauses: Box<[ClauseId]>,
}

/// Some property, of whatever name, is not as an object spec has it: the opposite of its cells.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Violation {
    /// Names that do not count.
    pub excluded: Box<[KeyId]>,
    /// What the other properties are not: the name is in none of these, or the value is not of the cell's node.
    pub cells: Box<[(RegexId, NodeId)]>,
}

/// A table of distinct entries.
#[derive(Debug)]
pub(crate) struct Interned<I, T> {
    entries: IndexSet<T, FxBuildHasher>,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T: Eq + Hash> Interned<I, T> {
    /// With room for so many.
    pub fn new(room: usize) -> Self {
        Self { entries: IndexSet::with_capacity_and_hasher(room, FxBuildHasher), id: PhantomData }
    }
    pub fn intern(&mut self, entry: T) -> I {
        I::from_index(self.entries.insert_full(entry).0)
    }
    pub fn get(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
    pub fn len(&self) -> usize {
        self.entries.len()
    }
}

/// So many nodes are looked through for one; for more there is a set.
const LOOKED_THROUGH_MAX: usize = 16;

/// Nodes in the order in which they came, each once.
#[derive(Default)]
struct Distinct {
    nodes: SmallVec<[NodeId; 8]>,
    /// The same, once they are many.
    seen: FxHashSet<NodeId>,
}

impl Distinct {
    fn push(&mut self, node: NodeId) {
        let is_new = if self.nodes.len() < LOOKED_THROUGH_MAX {
            !self.nodes.contains(&node)
        } else {
            if self.seen.is_empty() {
                self.seen.extend(&self.nodes);
            }
            self.seen.insert(node)
        };
        if is_new {
            self.nodes.push(node);
        }
    }
}

/// All tables.
#[derive(Debug)]
pub(crate) struct Ir {
    nodes: Interned<NodeId, Node>,
    /// The schema or keyword for which a node was first made. Indexed as `nodes`.
    origins: IndexVec<NodeId, JsonId>,
    pub shapes: Interned<ShapeId, Shape>,
    pub arrays: Interned<ArrayId, ArraySpec>,
    pub objects: Interned<ObjectId, ObjectSpec>,
    pub violations: Interned<ViolationId, Violation>,
    pub clauses: Interned<ClauseId, AnyOf<ObjectId>>,
    pub keys: Interned<KeyId, CompactString>,
    /// Parts of nodes that were put together, 50 ns each.
    work: u64,
}

/// Values of a document for which room is made at most: of many most are no schemas, but those of an enumeration.
const ROOM_MAX: usize = 1 << 12;

/// For how many values of a document room is made.
pub(crate) fn room(document: &JsonDocument) -> usize {
    document.len().min(ROOM_MAX)
}

pub(crate) const ANY: NodeId = NodeId(0);
pub(crate) const NEVER: NodeId = NodeId(1);

impl Ir {
    /// With room for what is of so many values.
    pub fn new(root: JsonId, values: usize) -> Self {
        let mut ir = Self {
            nodes: Interned::new(values),
            origins: IndexVec::with_room(values),
            shapes: Interned::new(values / 2),
            arrays: Interned::new(0),
            objects: Interned::new(values / 8),
            violations: Interned::new(0),
            clauses: Interned::new(values / 2),
            keys: Interned::new(values / 2),
            work: 0,
        };
        let any = ir.node(Node::Any, root);
        let never = ir.node(Node::Never, root);
        debug_assert_eq!((any, never), (ANY, NEVER));
        ir
    }
    /// Entries of all tables.
    pub fn len(&self) -> usize {
        self.nodes.len() + self.shapes.len() + self.arrays.len() + self.objects.len() + self.keys.len()
    }
    /// Parts of nodes that were put together.
    pub fn work(&self) -> u64 {
        self.work
    }
    pub fn get(&self, id: NodeId) -> &Node {
        self.nodes.get(id)
    }
    /// The schema or keyword for which the node was first made.
    pub fn origin(&self, id: NodeId) -> JsonId {
        self.origins[id]
    }
    pub fn node(&mut self, node: Node, origin: JsonId) -> NodeId {
        let id = self.nodes.intern(node);
        if self.origins.len() < self.nodes.len() {
            self.origins.push(origin);
        }
        id
    }
    /// All of them, in order, each once.
    pub fn all(&mut self, parts: &[NodeId], origin: JsonId) -> NodeId {
        let mut flat = Distinct::default();
        for &part in parts {
            match self.get(part) {
                Node::Never => return NEVER,
                Node::Any => {}
                Node::All(inner) => inner.iter().for_each(|&node| flat.push(node)),
                _ => flat.push(part),
            }
        }
        self.work += flat.nodes.len() as u64;
        match flat.nodes.as_slice() {
            [] => ANY,
            &[only] => only,
            nodes => self.node(Node::All(nodes.into()), origin),
        }
    }
    /// Any of them.
    pub fn some(&mut self, parts: &[NodeId], origin: JsonId) -> NodeId {
        let mut flat = Distinct::default();
        for &part in parts {
            match self.get(part) {
                Node::Any => return ANY,
                Node::Never => {}
                _ => flat.push(part),
            }
        }
        match flat.nodes.as_slice() {
            [] => NEVER,
            &[only] => only,
            nodes => self.node(Node::Some(nodes.into()), origin),
        }
    }
    /// Exactly one of them.
    pub fn one(&mut self, parts: &[NodeId], origin: JsonId) -> NodeId {
        let parts: SmallVec<[NodeId; 8]> = parts.iter().copied().filter(|&part| part != NEVER).collect();
        match parts.as_slice() {
            [] => NEVER,
            &[only] => only,
            parts => self.node(Node::One(parts.into()), origin),
        }
    }
    /// Everything else.
    pub fn not(&mut self, part: NodeId, origin: JsonId) -> NodeId {
        match *self.get(part) {
            Node::Any => NEVER,
            Node::Never => ANY,
            Node::Not(inner) => inner,
            _ => self.node(Node::Not(part), origin),
        }
    }
}
