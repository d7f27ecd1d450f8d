//! From schemas to shapes: each node's normal form, computed when it is asked for and remembered.
//!
//! Only what stands in place (`allOf`, `$ref`, `not`, …) is followed; properties and elements stay nodes. A node that
//! needs itself in place is an error of the schema's. Nothing recurses: a node that lacks the shapes of others is put
//! back until they are known.
//!
//! There are several meanings of a node. [`Mode::Exact`] is what is enforced. [`Mode::Wide`] takes `oneOf` for `anyOf`, and
//! what it cannot negate for everything; it is used to prove that the branches of a `oneOf` exclude each other, which
//! it does a fortiori, without asking again whether those inside do. [`Mode::Strings`] is for names.

use std::rc::Rc;

use compact_str::CompactString;
use larkspur_grammar::json::{JsonDocument, JsonId, JsonValue};
use larkspur_grammar::number::{Decimal, NumberKind, NumberRange};
use larkspur_grammar::{Dialect, Limits, RegexId, RegexOptions, RegexSet, parse_regex};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use crate::ast::{Keywords, Limit, PatternProperty, Schema, Types};
use crate::constants::Constants;
use crate::emptiness::Search;
use crate::error::{ABOVE_ZERO, Demand, Mistake, Said, Sink};
use crate::formats::{self, Format, Meaning};
use crate::ir::{ANY, ArrayId, ClauseId, Ir, NEVER, Node, NodeId, ObjectId, Shape, ShapeId};
use crate::lints::Lacking;
use crate::numbers::{COUNT_MAX, DIGITS_MAX, NumberTable, Numbers, RangeError, shortest_text};
use crate::parser;
use crate::patterns::{forgive, open_count};
use crate::plan::Trouble;
use crate::plan::arrays::ArrayPlan;
use crate::plan::objects::ObjectPlan;
use crate::prelude::Prelude;
use crate::refs::{Resources, Target};
use crate::spelling::UnknownFormat;
use crate::twins::Twins;
use crate::unevaluated::{Asked, Way};
use crate::words::Words;
use crate::{Spent, arrays, objects};

/// Of the values of a document about one in so many is a schema.
const VALUES_PER_SCHEMA: usize = 3;

/// Branches of a `oneOf` whose opposite is said in pairs, at most.
const PAIRED_MAX: usize = 64;

/// Steps of searches for a text that count as one of work.
const SEARCH_STEPS: u64 = 2;
/// Parts of nodes that were put together that count as one of work.
const NODE_PARTS: u64 = 4;

/// Questions within each other, at most: they recurse.
const QUESTIONS_MAX: usize = 20;

/// Which meaning of a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Mode {
    /// What is enforced.
    Exact,
    /// At least what is enforced.
    Wide,
    /// Of what is enforced only the strings: all that counts of names. What a schema says of names has no part in it.
    Strings,
}

/// A shape, and whether it is exactly what the node means: always in [`Mode::Exact`].
#[derive(Clone, Copy, Debug)]
struct Known {
    shape: ShapeId,
    exact: bool,
}

enum Step {
    Done(Known),
    Need(Nodes),
}

/// A few nodes.
type Nodes = SmallVec<[NodeId; 8]>;

/// Everything that one run knows.
pub(crate) struct Normalizer<'a> {
    pub document: &'a JsonDocument,
    pub limits: &'a Limits,
    pub sink: Sink<'a>,
    resources: &'a Resources,
    twins: Twins,
    pub set: RegexSet,
    pub search: Search,
    pub numbers: NumberTable,
    pub ir: Ir,
    /// All texts.
    pub any_text: RegexId,
    keywords: FxHashMap<JsonId, Rc<Keywords>>,
    /// What each schema is made of.
    expansions: FxHashMap<JsonId, NodeId>,
    patterns: FxHashMap<(JsonId, Option<usize>), RegexId>,
    formats: FxHashMap<(Format, bool), RegexId>,
    known: FxHashMap<(NodeId, Mode), Known>,
    /// Nodes whose parts are asked for. Kept for its room.
    open: FxHashSet<NodeId>,
    pub inhabited: FxHashMap<(NodeId, Mode), bool>,
    /// What nodes evaluate, see `unevaluated`.
    pub evaluated_ways: FxHashMap<(NodeId, Asked), Rc<[Way]>>,
    pub listed: FxHashMap<(RegexId, usize), Words>,
    pub constants: Constants,
    pub clause_depths: FxHashMap<ClauseId, usize>,
    pub array_plans: FxHashMap<ArrayId, Result<Rc<ArrayPlan>, Trouble>>,
    pub object_plans: FxHashMap<ObjectId, Result<Rc<ObjectPlan>, Trouble>>,
    /// Values are being listed.
    pub is_listing: bool,
    /// How often it was not asked whether there are enough values, since values were being listed.
    pub left_open: usize,
    question_depth: usize,
    /// Read `oneOf` as `anyOf`.
    pub coerce_one_of: bool,
    /// Whether integers are written with fractions and exponents, too.
    pub has_any_spelling: bool,
    /// What a `format` of unknown name is.
    pub unknown_format: UnknownFormat,
    /// `format` says nothing.
    pub format_annotation: bool,
    /// The `unevaluatedProperties` or `unevaluatedItems` for which many sets of branches are looked at, or were.
    pub unevaluated: Option<Demand>,
    /// What other schemas of the source have taken.
    pub before: Spent,
    work: u64,
    is_over: bool,
}

impl<'a> Normalizer<'a> {
    pub fn new(
        document: &'a JsonDocument,
        resources: &'a Resources,
        twins: Twins,
        limits: &'a Limits,
        sink: Sink<'a>,
        prelude: &Prelude,
    ) -> Self {
        let room = crate::ir::room(document);
        let schemas = room / VALUES_PER_SCHEMA;
        let mut set = prelude.set.clone();
        set.reserve(room);
        Self {
            document,
            limits,
            sink,
            resources,
            twins,
            set,
            search: Search::default(),
            numbers: prelude.numbers.clone(),
            ir: Ir::new(document.root(), room),
            any_text: prelude.any_text,
            keywords: FxHashMap::with_capacity_and_hasher(schemas, FxBuildHasher),
            expansions: FxHashMap::with_capacity_and_hasher(schemas, FxBuildHasher),
            patterns: FxHashMap::default(),
            formats: FxHashMap::default(),
            known: FxHashMap::with_capacity_and_hasher(schemas, FxBuildHasher),
            open: FxHashSet::default(),
            inhabited: FxHashMap::with_capacity_and_hasher(schemas, FxBuildHasher),
            evaluated_ways: FxHashMap::default(),
            listed: FxHashMap::default(),
            constants: Constants::default(),
            clause_depths: FxHashMap::default(),
            array_plans: FxHashMap::default(),
            object_plans: FxHashMap::default(),
            is_listing: false,
            left_open: 0,
            question_depth: 0,
            coerce_one_of: false,
            has_any_spelling: false,
            unknown_format: UnknownFormat::default(),
            format_annotation: false,
            unevaluated: None,
            before: Spent::default(),
            work: 0,
            is_over: false,
        }
    }

    /// Counts work; false if there was too much of it, which is then reported.
    pub fn charge(&mut self, work: u64) -> bool {
        self.work += work;
        let limits = self.limits;
        let root = self.document.root();
        let Spent { work, nodes, .. } = self.spent();
        if work > limits.schema_work_max {
            let what = match self.before.work {
                0 => "the work for the schema",
                _ => "with the schemas before it, the work for the schema",
            };
            self.over(root, what, "schema_work_max", limits.schema_work_max);
        } else if nodes > limits.schema_nodes_max {
            let what = match self.before.nodes {
                0 => "the schema",
                _ => "with the schemas before it, the schema",
            };
            self.over(root, what, "schema_nodes_max", limits.schema_nodes_max as u64);
        } else if self.set.len() > limits.regex_nodes_max {
            self.over(
                root,
                "the number of regex nodes of the schema",
                "regex_nodes_max",
                limits.regex_nodes_max as u64,
            );
        }
        !self.is_over
    }
    /// What this schema has taken so far, and the others before it.
    pub fn spent(&self) -> Spent {
        let look_work = self.set.look_work();
        Spent { work: self.all_work(), nodes: self.before.nodes + self.ir.len(), look_work }
    }
    fn all_work(&self) -> u64 {
        self.before.work + self.work + self.search.work() / SEARCH_STEPS + self.ir.work() / NODE_PARTS
    }
    /// Work that is left; one more is too much.
    pub fn work_left(&self) -> u64 {
        self.limits.schema_work_max.saturating_sub(self.all_work())
    }
    /// Whether these are too many alternatives, which is then reported.
    pub fn has_too_many(&mut self, alternatives: usize) -> bool {
        let max = self.limits.schema_alternatives_max;
        self.exceeds(alternatives, max, "the number of alternatives", "schema_alternatives_max")
    }
    /// Whether the rules have too many symbols, which is then reported.
    pub fn has_too_many_symbols(&mut self, symbols: usize) -> bool {
        let max = self.limits.grammar_symbols_max;
        self.exceeds(symbols, max, "the number of symbols of the rules", "grammar_symbols_max")
    }
    fn exceeds(&mut self, used: usize, max: usize, what: &'static str, limit: &'static str) -> bool {
        if used > max {
            self.over(self.document.root(), what, limit, max as u64);
        }
        self.is_over
    }
    fn over(&mut self, place: JsonId, what: &'static str, limit: &'static str, value: u64) {
        if !std::mem::replace(&mut self.is_over, true) {
            let demand = self.demand();
            self.sink.report(place, Mistake::Limit { what, limit, value, demand });
        }
    }
    /// The node of a schema.
    pub fn schema(&mut self, id: JsonId) -> NodeId {
        match self.document.bool(id) {
            Some(true) => ANY,
            Some(false) => NEVER,
            None => {
                let id = self.twins.first(id);
                self.ir.node(Node::Schema(id), id)
            }
        }
    }

    /// The normal form of a node in the wide meaning, and whether that is the exact one.
    pub fn wide_shape(&mut self, node: NodeId) -> (ShapeId, bool) {
        let known = self.evaluate(node, Mode::Wide);
        (known.shape, known.exact)
    }

    /// The normal form of a node.
    pub fn shape(&mut self, node: NodeId, mode: Mode) -> ShapeId {
        self.evaluate(node, mode).shape
    }

    fn evaluate(&mut self, root: NodeId, mode: Mode) -> Known {
        if let Some(&known) = self.known.get(&(root, mode)) {
            return known;
        }
        let mut stack: Nodes = smallvec![root];
        let mut open = std::mem::take(&mut self.open);
        while let Some(&top) = stack.last() {
            if self.known.contains_key(&(top, mode)) {
                stack.pop();
                continue;
            }
            let step = if self.charge(1) { self.step(top, mode) } else { Step::Done(self.nothing()) };
            match step {
                Step::Done(mut known) => {
                    if mode == Mode::Strings {
                        known.shape = self.strings_of(known.shape);
                    }
                    self.known.insert((top, mode), known);
                    open.remove(&top);
                    stack.pop();
                }
                Step::Need(nodes) => {
                    open.insert(top);
                    if let Some(&cyclic) = nodes.iter().find(|node| open.contains(node)) {
                        let place = self.ir.origin(cyclic);
                        self.sink.report(place, Mistake::RefToItself);
                        let nothing = self.nothing();
                        self.known.insert((cyclic, mode), nothing);
                        self.known.insert((top, mode), nothing);
                    }
                    stack.extend(nodes);
                }
            }
        }
        open.clear();
        self.open = open;
        self.known[&(root, mode)]
    }

    fn strings_of(&mut self, shape: ShapeId) -> ShapeId {
        let strings = self.ir.shapes.get(shape).strings;
        let shape = Shape { strings, ..self.no_shape() };
        self.ir.shapes.intern(shape)
    }

    fn nothing(&mut self) -> Known {
        let shape = self.no_shape();
        Known { shape: self.ir.shapes.intern(shape), exact: true }
    }
    fn everything(&mut self, exact: bool) -> Known {
        let shape = self.any_shape();
        Known { shape: self.ir.shapes.intern(shape), exact }
    }

    /// The shapes of several nodes.
    ///
    /// Errors: those that are not known yet.
    fn all_known(&self, nodes: &[NodeId], mode: Mode) -> Result<SmallVec<[Known; 8]>, Nodes> {
        let known = |&node: &NodeId| self.known.get(&(node, mode)).copied();
        let all: Option<_> = nodes.iter().map(known).collect();
        // The first one is made first, so that names are met in the order of the text.
        all.ok_or_else(|| nodes.iter().rev().filter(|node| known(node).is_none()).copied().collect())
    }

    fn step(&mut self, node: NodeId, mode: Mode) -> Step {
        let origin = self.ir.origin(node);
        let done = |shape| Step::Done(Known { shape, exact: true });
        match self.ir.get(node).clone() {
            Node::Any => Step::Done(self.everything(true)),
            Node::Never => Step::Done(self.nothing()),
            Node::Shape(shape) => done(shape),
            Node::Values(values) => done(self.values(&values)),
            Node::Schema(id) => {
                let expansion = self.expand(id);
                self.alias(expansion, mode)
            }
            Node::Keywords(id) => self.keywords(id, mode),
            Node::All(parts) => match self.all_known(&parts, mode) {
                Err(missing) => {
                    let told_apart = if mode == Mode::Exact { self.told_apart(node, &parts) } else { None };
                    told_apart.map_or(Step::Need(missing), |node| self.alias(node, mode))
                }
                Ok(known) => {
                    let exact = known.iter().all(|known| known.exact);
                    let shapes: SmallVec<[ShapeId; 8]> = known.iter().map(|known| known.shape).collect();
                    Step::Done(Known { shape: self.and_all_shapes(&shapes, origin), exact })
                }
            },
            Node::Some(parts) => self.union(&parts, mode, true),
            Node::One(parts) if mode == Mode::Wide => self.union(&parts, mode, false),
            Node::One(parts) => self.one_of(&parts, mode, origin),
            Node::Not(inner) => {
                if let Some(opposite) = self.opposite(inner, mode, origin) {
                    return self.alias(opposite, mode);
                }
                self.not(inner, mode, origin)
            }
        }
    }

    /// The opposite of a node in terms of the opposites of its parts. Opposites of what was put together of many ways
    /// would have many more.
    fn opposite(&mut self, node: NodeId, mode: Mode, origin: JsonId) -> Option<NodeId> {
        let not = |this: &mut Self, parts: &[NodeId]| -> Vec<NodeId> {
            parts.iter().map(|&part| this.ir.not(part, origin)).collect()
        };
        match self.ir.get(node).clone() {
            Node::Schema(id) => {
                let expansion = self.expand(id);
                Some(self.ir.not(expansion, origin))
            }
            Node::All(parts) => {
                let parts = not(self, &parts);
                Some(self.ir.some(&parts, origin))
            }
            Node::Some(parts) => {
                let parts = not(self, &parts);
                Some(self.ir.all(&parts, origin))
            }
            // None of them, or two of them.
            Node::One(parts) if parts.len() <= PAIRED_MAX => {
                let none = not(self, &parts);
                let mut ways = vec![self.ir.all(&none, origin)];
                for (index, &first) in parts.iter().enumerate() {
                    for &second in &parts[index + 1..] {
                        let both = self.ir.all(&[first, second], origin);
                        if mode == Mode::Strings || self.may_be(both) {
                            ways.push(both);
                        }
                    }
                }
                Some(self.ir.some(&ways, origin))
            }
            _ => None,
        }
    }

    /// Whether the node may have a value. To find that out may take the same question about other nodes, which may
    /// be this one again.
    fn may_be(&mut self, node: NodeId) -> bool {
        if self.question_depth >= QUESTIONS_MAX {
            return true;
        }
        self.question_depth += 1;
        let answer = self.is_inhabited(node, Mode::Wide);
        self.question_depth -= 1;
        answer
    }

    fn not(&mut self, inner: NodeId, mode: Mode, origin: JsonId) -> Step {
        let done = |shape| Step::Done(Known { shape, exact: true });
        match self.all_known(&[inner], mode) {
            Err(missing) => Step::Need(missing),
            Ok(known) if !known[0].exact => Step::Done(self.everything(false)),
            Ok(known) => done(self.not_shape(known[0].shape, origin)),
        }
    }

    fn alias(&mut self, of: NodeId, mode: Mode) -> Step {
        match self.known.get(&(of, mode)) {
            Some(&known) => Step::Done(known),
            None => Step::Need(smallvec![of]),
        }
    }

    fn union(&mut self, parts: &[NodeId], mode: Mode, is_exact: bool) -> Step {
        match self.all_known(parts, mode) {
            Err(missing) => Step::Need(missing),
            Ok(known) => {
                let exact = is_exact && known.iter().all(|known| known.exact);
                let shapes: Vec<ShapeId> = known.iter().map(|known| known.shape).collect();
                Step::Done(Known { shape: self.or_shapes(&shapes), exact })
            }
        }
    }

    /// `oneOf`: where two branches may both be valid, each without the other.
    fn one_of(&mut self, parts: &[NodeId], mode: Mode, origin: JsonId) -> Step {
        // Each branch first: what refers to itself in place is found here, not in the proofs.
        let shapes: Vec<ShapeId> = match self.all_known(parts, mode) {
            Err(missing) => return Step::Need(missing),
            Ok(known) => known.iter().map(|known| known.shape).collect(),
        };
        Step::Done(Known { shape: self.one_of_shapes(&shapes, origin), exact: true })
    }

    /// The keywords of a schema, read when they are first needed.
    pub fn read(&mut self, id: JsonId) -> Option<Rc<Keywords>> {
        if let Some(known) = self.keywords.get(&id) {
            return Some(known.clone());
        }
        match parser::parse(self.document, self.resources, id, &mut self.sink) {
            Schema::Bool => None,
            Schema::Keywords(keywords) => {
                self.keywords.insert(id, keywords.clone());
                Some(keywords)
            }
        }
    }

    /// The schemas whose keywords were read, in the order of the text.
    pub fn schemas_read(&self) -> Vec<JsonId> {
        let mut schemas: Vec<JsonId> = self.keywords.keys().copied().collect();
        schemas.sort_unstable();
        schemas
    }

    /// Whether `propertyNames` was read.
    pub fn names_are_restricted(&self) -> bool {
        self.keywords.values().any(|keywords| keywords.names.is_some())
    }

    /// What asks for much, as far as it is known: where there is a `oneOf`, it is taken to be that.
    pub fn demand(&self) -> Option<Demand> {
        let has_one_of = || !self.coerce_one_of && self.keywords.values().any(|keywords| keywords.one_of.is_some());
        self.unevaluated.or_else(|| has_one_of().then_some(Demand::OneOf))
    }

    /// The schemas with `anyOf` or `oneOf` that were read, in the text's order.
    pub fn choices_read(&self) -> Vec<Rc<Keywords>> {
        let has_branches = |keywords: &Keywords| keywords.any_of.is_some() || keywords.one_of.is_some();
        let mut choices: Vec<_> = self.keywords.iter().filter(|(_, keywords)| has_branches(keywords)).collect();
        choices.sort_unstable_by_key(|&(&id, _)| id);
        choices.into_iter().map(|(_, keywords)| keywords.clone()).collect()
    }

    /// Whether it was found out that no value is valid for the schema.
    pub fn is_known_empty(&mut self, schema: JsonId) -> bool {
        let node = self.schema(schema);
        self.inhabited.get(&(node, Mode::Exact)) == Some(&false)
    }

    /// Whether that was found out, or shows of what was made of the schema.
    pub fn is_seen_empty(&mut self, schema: JsonId) -> bool {
        let node = self.schema(schema);
        let known = self.known.get(&(node, Mode::Exact)).copied();
        let is_empty =
            known.is_some_and(|known| self.is_empty_shape(known.shape) || self.needs_what_is_empty(known.shape));
        is_empty || self.is_known_empty(schema)
    }

    /// Whether it was found out that no name is valid for the schema.
    pub fn has_no_names(&mut self, schema: JsonId) -> bool {
        let node = self.schema(schema);
        let Some(&Known { shape, .. }) = self.known.get(&(node, Mode::Strings)) else { return false };
        let strings = self.ir.shapes.get(shape).strings;
        self.is_nothing(strings)
    }

    /// A schema as the conjunction of its keywords.
    pub fn expand(&mut self, id: JsonId) -> NodeId {
        if let Some(&known) = self.expansions.get(&id) {
            return known;
        }
        let Some(keywords) = self.read(id) else {
            let node = if self.document.bool(id) == Some(true) { ANY } else { NEVER };
            self.expansions.insert(id, node);
            return node;
        };
        let mut parts: Nodes = smallvec![self.ir.node(Node::Keywords(id), id)];
        parts.extend(self.references(&keywords));
        for &schema in &keywords.all_of {
            parts.push(self.schema(schema));
        }
        if let Some(list) = &keywords.any_of {
            let list: Vec<NodeId> = list.iter().map(|&schema| self.schema(schema)).collect();
            parts.push(self.ir.some(&list, id));
        }
        if let Some((place, schemas)) = &keywords.one_of {
            let list: Vec<NodeId> = schemas.iter().map(|&schema| self.schema(schema)).collect();
            self.warn_of_twice(&list, schemas);
            let one = if self.coerce_one_of { self.ir.some(&list, *place) } else { self.ir.one(&list, *place) };
            parts.push(one);
        }
        if let Some(schema) = keywords.not {
            let node = self.schema(schema);
            parts.push(self.ir.not(node, schema));
        }
        if let Some(condition) = keywords.condition {
            parts.push(self.conditional(condition, keywords.then, keywords.otherwise));
        }
        for (name, names) in &keywords.dependent_required {
            let mut all = vec![(name.clone(), ANY, true)];
            all.extend(names.iter().map(|name| (name.clone(), ANY, true)));
            all.dedup_by(|a, b| a.0 == b.0);
            let required = self.object_node(all, id);
            parts.push(self.unless(name, required, id));
        }
        for (name, schema) in &keywords.dependent_schemas {
            let node = self.schema(*schema);
            let has = self.has_property(name, id);
            let required = self.ir.all(&[has, node], *schema);
            parts.push(self.unless(name, required, id));
        }
        parts.push(self.unevaluated(id, &keywords));
        let node = self.ir.all(&parts, id);
        self.expansions.insert(id, node);
        node
    }

    /// What a schema refers to in place.
    pub fn references(&mut self, keywords: &Keywords) -> Nodes {
        let own = keywords.reference.map(|reference| (reference, "$ref"));
        own.into_iter().chain(keywords.dynamic).map(|(reference, keyword)| self.reference(reference, keyword)).collect()
    }
    /// Objects that have the property.
    pub fn has_property(&mut self, name: &str, origin: JsonId) -> NodeId {
        self.object_node(vec![(name.into(), ANY, true)], origin)
    }
    pub fn draft(&self, id: JsonId) -> crate::draft::Draft {
        self.resources.dialect(self.document, id).draft
    }

    /// The schema that a reference leads to, if there is one.
    pub fn referred(&self, reference: JsonId) -> Option<JsonId> {
        match self.resources.target(reference) {
            Target::Schema(target) => Some(target),
            Target::Missing | Target::Remote { .. } => None,
        }
    }

    /// Values that have these properties if they are objects.
    pub fn objects_only_with(&mut self, names: Vec<CompactString>, origin: JsonId) -> NodeId {
        let object = objects::with(self, names.into_iter().map(|name| (name, ANY, true)).collect());
        let shape = Shape { objects: object.into_iter().collect(), ..self.any_shape() };
        let shape = self.ir.shapes.intern(shape);
        self.ir.node(Node::Shape(shape), origin)
    }

    /// Objects without the property, and everything else that `then` allows.
    fn unless(&mut self, name: &str, then: NodeId, origin: JsonId) -> NodeId {
        let without = objects::with(self, vec![(name.into(), NEVER, false)]);
        let shape = Shape { objects: without.into_iter().collect(), ..self.any_shape() };
        let shape = self.ir.shapes.intern(shape);
        let without = self.ir.node(Node::Shape(shape), origin);
        self.ir.some(&[without, then], origin)
    }

    /// Objects with these properties, and no other values.
    fn object_node(&mut self, mut named: Vec<(CompactString, NodeId, bool)>, origin: JsonId) -> NodeId {
        let mut seen = FxHashSet::default();
        named.retain(|(name, ..)| seen.insert(name.clone()));
        let object = objects::with(self, named);
        let shape = Shape { objects: object.into_iter().collect(), ..self.no_shape() };
        let shape = self.ir.shapes.intern(shape);
        self.ir.node(Node::Shape(shape), origin)
    }

    /// Warns of branches of a `oneOf` that are one node, and could be alone only without each other.
    fn warn_of_twice(&mut self, nodes: &[NodeId], schemas: &[JsonId]) {
        if self.coerce_one_of {
            return;
        }
        let mut first: FxHashMap<NodeId, usize> = FxHashMap::default();
        for (second, (&node, &place)) in nodes.iter().zip(schemas).enumerate() {
            if node == NEVER {
                continue;
            }
            let first = *first.entry(node).or_insert(second);
            if first != second {
                self.sink.report(place, Mistake::BranchTwice { first, second });
            }
        }
    }

    fn conditional(&mut self, condition: JsonId, then: Option<JsonId>, otherwise: Option<JsonId>) -> NodeId {
        if then.is_none() && otherwise.is_none() {
            return ANY;
        }
        let mut branch = |schema: Option<JsonId>| schema.map_or(ANY, |schema| self.schema(schema));
        let (then, otherwise) = (branch(then), branch(otherwise));
        let holds = self.schema(condition);
        let fails = self.ir.not(holds, condition);
        let yes = self.ir.all(&[holds, then], condition);
        let no = self.ir.all(&[fails, otherwise], condition);
        self.ir.some(&[yes, no], condition)
    }

    fn reference(&mut self, reference: JsonId, keyword: &'static str) -> NodeId {
        let text = self.document.string(reference).unwrap_or_default();
        match self.resources.target(reference) {
            Target::Schema(target) => self.schema(target),
            Target::Missing => {
                let has_room = self.sink.has_room();
                let near = if has_room { self.resources.near_reference(self.document, reference, text) } else { None };
                let is_openapi =
                    text.starts_with("#/components/") && !self.resources.has_components(self.document, reference);
                self.sink.report(reference, Mistake::RefMissing { keyword, target: text.to_owned(), near, is_openapi });
                ANY
            }
            Target::Remote { uri, reason } => {
                let has_room = self.sink.has_room();
                let near = if has_room { self.resources.near_reference(self.document, reference, text) } else { None };
                self.sink.report(reference, Mistake::RefRemote { keyword, uri, reason, near });
                ANY
            }
        }
    }

    /// What a schema's keywords say, without those that hold sub-schemas in place.
    fn keywords(&mut self, id: JsonId, mode: Mode) -> Step {
        let Some(keywords) = self.read(id) else { return Step::Done(self.everything(true)) };
        let names = keywords.names.filter(|_| mode != Mode::Strings).map(|schema| {
            let node = self.schema(schema);
            let names = self.shape(node, Mode::Strings);
            self.ir.shapes.get(names).strings
        });
        let values = keywords.enumeration.as_ref().map(|(place, list)| (*place, list.clone()));
        let mut needed = Nodes::new();
        if let Some((place, list)) = values {
            needed.push(self.ir.node(Node::Values(list.into()), place));
        }
        if let Some(value) = keywords.constant {
            needed.push(self.ir.node(Node::Values([value].into()), value));
        }
        let values = match self.all_known(&needed, mode) {
            Err(missing) => return Step::Need(missing),
            Ok(values) => values,
        };
        let shape = match mode {
            Mode::Strings => self.own_scalars(&keywords),
            Mode::Exact | Mode::Wide => self.own_shape(&keywords, names),
        };
        let mut shape = self.ir.shapes.intern(shape);
        for value in values {
            shape = self.and_shapes(value.shape, shape, id);
        }
        Step::Done(Known { shape, exact: true })
    }

    fn own_shape(&mut self, keywords: &Keywords, names: Option<RegexId>) -> Shape {
        let types = keywords.types.unwrap_or(Types::ALL);
        let mut shape = self.own_scalars(keywords);
        if types.has(Types::ARRAY) {
            shape.arrays = arrays::from_keywords(self, keywords).into_iter().collect();
        }
        if types.has(Types::OBJECT) {
            shape.objects = objects::from_keywords(self, keywords, names).into_iter().collect();
        }
        shape
    }

    fn own_scalars(&mut self, keywords: &Keywords) -> Shape {
        let types = keywords.types.unwrap_or(Types::ALL);
        let mut shape = self.no_shape();
        shape.null = types.has(Types::NULL);
        shape.truth = [types.has(Types::BOOLEAN); 2];
        if types.has(Types::INTEGER) {
            shape.integers = self.own_numbers(keywords, types.has(Types::NUMBER));
            let by_spelling = self.has_any_spelling && keywords.integers_by_spelling && !types.has(Types::NUMBER);
            shape.numbers = if by_spelling { Numbers::NONE } else { shape.integers };
        }
        if types.has(Types::STRING) {
            shape.strings = self.own_strings(keywords);
        } else {
            self.check_format(keywords);
        }
        shape
    }

    fn own_numbers(&mut self, keywords: &Keywords, fractions: bool) -> Numbers {
        let kind = if fractions { NumberKind::Number } else { NumberKind::Integer };
        let mut range = NumberRange::all(kind);
        for limit in &keywords.minimum {
            if self.is_written_out(limit) {
                range = range.at_least(limit.value.clone(), limit.exclusive);
            }
        }
        for limit in &keywords.maximum {
            if self.is_written_out(limit) {
                range = range.at_most(limit.value.clone(), limit.exclusive);
            }
        }
        if let Some((divisor, _)) = &keywords.multiple_of {
            range = range.multiple_of(divisor.clone());
        }
        let numbers = match range == NumberRange::all(kind) {
            true if fractions => Numbers::ALL,
            true => Numbers::INTEGERS,
            false => self.range(keywords, range),
        };
        let Some(Meaning::Integers { low, high }) = self.format_name(keywords).map(formats::meaning) else {
            return numbers;
        };
        let bound = |text: &str| Decimal::parse(text).expect("a number");
        let range = NumberRange::all(NumberKind::Integer).at_least(bound(low), false).at_most(bound(high), false);
        let bounded = self.range(keywords, range);
        self.numbers.and(numbers, bounded)
    }

    /// Whether a bound has not too many digits, which is otherwise reported.
    fn is_written_out(&mut self, limit: &Limit) -> bool {
        let is_short = limit.value.digits().len() as i64 <= DIGITS_MAX;
        if !is_short {
            let reason = "a bound of over 10,000 digits is not written out".to_owned();
            self.sink.report(limit.place, Mistake::Refused { keyword: limit.keyword, reason });
        }
        is_short
    }

    fn range(&mut self, keywords: &Keywords, range: NumberRange) -> Numbers {
        let wider = if range.kind == NumberKind::Integer { Numbers::INTEGERS } else { Numbers::ALL };
        let without_divisor = NumberRange { multiple_of: None, ..range.clone() };
        match self.numbers.range(range, &mut self.set, self.limits) {
            Ok(numbers) => numbers,
            Err(error) => {
                let bound = keywords.minimum.first().or(keywords.maximum.first());
                let divisor = keywords.multiple_of.as_ref().map(|(_, place)| (*place, "multipleOf"));
                let place = divisor.or(bound.map(|limit| (limit.place, limit.keyword)));
                let (place, keyword) = place.unwrap_or((self.document.root(), "multipleOf"));
                let mistake = match error {
                    RangeError::NotPositive => Mistake::KeywordValue { keyword, expected: ABOVE_ZERO, hint: None },
                    RangeError::DivisorTooLarge => Mistake::Refused {
                        keyword,
                        reason: "remainders are computed in 64 bits, and its digits are too many".to_owned(),
                    },
                    RangeError::TooLarge { limit } => Mistake::Limit {
                        what: "a number written out",
                        limit: "regex_nodes_max",
                        value: limit as u64,
                        demand: None,
                    },
                };
                self.sink.report(place, mistake);
                if !self.sink.lenient {
                    return Numbers::NONE;
                }
                // The bounds can be enforced all the same.
                self.numbers.range(without_divisor, &mut self.set, self.limits).unwrap_or(wider)
            }
        }
    }

    fn format_name(&self, keywords: &Keywords) -> Option<&'a str> {
        keywords.format.filter(|_| !self.format_annotation).and_then(|place| self.document.string(place))
    }

    /// Says of a format that it is unknown.
    fn check_format(&mut self, keywords: &Keywords) {
        if let (Some(name), Some(place)) = (self.format_name(keywords), keywords.format)
            && formats::meaning(name) == Meaning::Unknown
        {
            let is_error = self.unknown_format == UnknownFormat::Error && !self.sink.lenient;
            self.sink.report(place, Mistake::FormatUnknown { format: name.to_owned(), is_error });
        }
    }

    /// The language of the schema's `format`, if it says something of texts.
    fn format(&mut self, keywords: &Keywords) -> Option<RegexId> {
        let name = self.format_name(keywords)?;
        match formats::meaning(name) {
            Meaning::Unknown => {
                self.check_format(keywords);
                None
            }
            Meaning::Text(format) => {
                let bound = keywords.max_length.map(|(max, _)| max);
                let is_short = bound.zip(formats::short_length(format)).is_some_and(|(max, short)| max <= short);
                if let Some(&known) = self.formats.get(&(format, is_short)) {
                    return Some(known);
                }
                let regex = formats::regex(&mut self.set, format, is_short);
                self.formats.insert((format, is_short), regex);
                Some(regex)
            }
            Meaning::Integers { .. } | Meaning::Nothing => None,
        }
    }

    fn own_strings(&mut self, keywords: &Keywords) -> RegexId {
        let format = self.format(keywords).unwrap_or(self.any_text);
        let pattern = keywords.pattern.map_or(self.any_text, |place| self.pattern(place, None));
        let strings = self.and_text(format, pattern);
        let lengths = self.own_lengths(keywords, strings);
        self.and_text(strings, lengths)
    }

    /// The texts that `minLength` and `maxLength` allow; a bound that holds for all of `strings` is left out.
    fn own_lengths(&mut self, keywords: &Keywords, strings: RegexId) -> RegexId {
        // Lengths in bytes, which are at least as many as the characters and at most four times as many.
        let info = self.set.info(strings);
        let min = keywords.min_length.filter(|&(min, _)| info.len_min.div_ceil(4) < min);
        let max = keywords.max_length.filter(|&(max, _)| info.len_max.is_none_or(|len| len > max));
        if min.is_none() && max.is_none() {
            return self.any_text;
        }
        if let (Some((min, _)), Some((max, _))) = (min, max)
            && max < min
        {
            return self.set.nothing();
        }
        let mut narrow = |bound: Option<(u64, JsonId)>, keyword: &'static str| {
            let (count, place) = bound?;
            let count = u32::try_from(count).ok().filter(|&count| count <= COUNT_MAX);
            if count.is_none() {
                self.sink.report(place, Mistake::CountTooLarge { keyword });
            }
            count
        };
        let (min, max) = (narrow(min, "minLength").unwrap_or(0), narrow(max, "maxLength"));
        let any = self.set.any_char();
        self.set.repeat(any, min, max)
    }

    /// The language of a key of `patternProperties`.
    pub fn pattern_of_key(&mut self, pattern: &PatternProperty) -> RegexId {
        self.pattern(pattern.object, Some(pattern.member))
    }

    /// Whether certainly no text matches the string, which is a regex.
    pub fn matches_nothing(&mut self, place: JsonId) -> bool {
        let pattern = self.pattern(place, None);
        self.is_nothing(pattern)
    }

    /// The language of a string that is a regex, or of the key of an object's member.
    fn pattern(&mut self, place: JsonId, member: Option<usize>) -> RegexId {
        if let Some(&known) = self.patterns.get(&(place, member)) {
            return known;
        }
        let document = self.document;
        let (text, map) = match member {
            None => (document.string(place).unwrap_or_default(), document.string_map(place)),
            Some(member) => {
                let Some(member) = document.object(place).and_then(|members| members.get(member)) else {
                    return self.any_text;
                };
                (&*member.key, document.key_map(member))
            }
        };
        let options = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
        let mut said = Vec::new();
        let parsed = parse_regex(text, &map, &options, self.limits, &mut self.set, &mut said);
        let is_right = parsed.is_ok();
        let regex = parsed.unwrap_or_else(|mut errors| {
            let is_lenient = self.sink.lenient && forgive(&mut errors);
            said.extend(errors);
            // A name of which it is not known whether a pattern has it is one that is not listed.
            if is_lenient && member.is_some() { self.set.nothing() } else { self.any_text }
        });
        let open_count = open_count(text).filter(|_| is_right);
        if let Some(count) = open_count.clone() {
            let members = document.object(place).unwrap_or_default();
            let at = member.and_then(|member| members.get(member)).map_or(place, |member| member.value);
            self.sink.report_within(at, map.span(count.clone()), Mistake::OpenCount { text: text[count].to_owned() });
        }
        if !said.is_empty() || open_count.is_some() {
            self.sink.note_regex(place, member);
        }
        said.into_iter().for_each(|diagnostic| self.sink.push_within(place, diagnostic));
        self.patterns.insert((place, member), regex);
        regex
    }

    /// Says of schemas for which an equal one stood what was said of that. Of schemas that lead to each other in a ring,
    /// one is named.
    pub fn repeat_for_twins(&mut self) {
        let mut list = self.sink.take_said();
        list.retain(|(_, said)| !matches!(said, Said::Mistake { mistake: Mistake::RefToItself, .. }));
        for (place, said) in list {
            for twin in self.twins.places(self.document, place) {
                match said {
                    // What says nothing at one place may be what a reference leads to at the other.
                    Said::Mistake { ref mistake, .. }
                        if mistake.is_idle() && self.resources.is_led_into(self.document, twin) => {}
                    // And what may lack here may be needed there, or something else.
                    Said::Mistake { mistake: Mistake::NeverThere { what: said }, .. } => {
                        let may_lack =
                            self.what_may_lack(twin).filter(|&what| said != Lacking::Name || what == Lacking::Name);
                        if let Some(what) = may_lack {
                            self.sink.repeat(twin, &Mistake::NeverThere { what }, false);
                        }
                    }
                    Said::Mistake { ref mistake, is_of_key } => self.sink.repeat(twin, mistake, is_of_key),
                    Said::Regex { member } => drop(self.pattern(twin, member)),
                }
            }
        }
    }

    /// One of these values.
    fn values(&mut self, values: &[JsonId]) -> ShapeId {
        let mut shape = self.no_shape();
        let (mut numbers, mut strings) = (Vec::new(), Vec::new());
        let (mut arrays, mut objects) = (Vec::new(), Vec::new());
        let document = self.document;
        for &value in values {
            match document.value(value) {
                JsonValue::Null => shape.null = true,
                JsonValue::Bool(truth) => shape.truth[usize::from(*truth)] = true,
                JsonValue::Number(text) => match Decimal::parse(text).filter(|value| shortest_text(value).is_some()) {
                    Some(value) => numbers.push(value),
                    None => {
                        let reason = "a constant of over 10,000 digits is not written out".to_owned();
                        self.sink.report(value, Mistake::Refused { keyword: "const", reason });
                    }
                },
                JsonValue::String(text) => strings.push(self.set.literal(text.as_bytes())),
                JsonValue::Array(elements) => {
                    let elements = elements.iter().map(|&element| self.value(element)).collect();
                    arrays.extend(arrays::exactly(self, elements));
                }
                JsonValue::Object(members) => {
                    let members = members.iter().map(|member| (member.key.clone(), self.value(member.value))).collect();
                    objects.extend(objects::exactly(self, members));
                }
            }
        }
        shape.numbers = self.numbers.values(numbers);
        shape.integers = shape.numbers;
        shape.strings = self.set.or(&strings);
        let mut seen = FxHashSet::default();
        shape.arrays = arrays.into_iter().filter(|&array| seen.insert(array)).collect();
        let mut seen = FxHashSet::default();
        shape.objects = objects.into_iter().filter(|&object| seen.insert(object)).collect();
        self.has_too_many(shape.arrays.len().max(shape.objects.len()));
        self.ir.shapes.intern(shape)
    }

    fn value(&mut self, value: JsonId) -> NodeId {
        self.ir.node(Node::Values([value].into()), value)
    }
}
