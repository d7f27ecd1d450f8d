//! From schemas to shapes: each node's normal form, computed when it is asked for and remembered.
//!
//! Only what stands in place (`allOf`, `$ref`, `not`, …) is followed; properties and elements stay nodes. A node that
//! needs itself in place is an error of the schema's. Nothing recurses: a node that lacks the shapes of others is put
//! back until they are known.
//!
//! There are several meanings of a node. [`Mode::Exact`] is what is enforced. [`Mode::Wide`] takes `oneOf` for `anyOf`, and
//! what it cannot negate for everything; it is used to prove that the branches of a `oneOf` exclude each other, which
//! it does a fortiori, without asking again whether those inside do. [`Mode::Strings`] is for names.

mod expansion;
mod own;

use std::rc::Rc;

use larkspur_grammar::index::IdMap;
use larkspur_grammar::json::{JsonDocument, JsonId, JsonValue};
use larkspur_grammar::number::Decimal;
use larkspur_grammar::{Limits, RegexId, RegexSet};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use crate::ast::{Keywords, Schema};
use crate::constants::Constants;
use crate::emptiness::Search;
use crate::error::{Demand, Mistake, Said, Sink};
use crate::formats::Format;
use crate::ir::{ANY, ArrayId, ClauseId, Ir, NEVER, Node, NodeId, ObjectId, Shape, ShapeId};
use crate::lints::Lacking;
use crate::numbers::{NumberTable, shortest_text};
use crate::parser;
use crate::plan::Trouble;
use crate::plan::arrays::ArrayPlan;
use crate::plan::objects::ObjectPlan;
use crate::prelude::Prelude;
use crate::refs::Resources;
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

/// What is known of nodes in each meaning.
#[derive(Debug)]
pub(crate) struct ByMode<T>([IdMap<NodeId, T>; 3]);

impl<T> ByMode<T> {
    fn with_room(nodes: usize) -> Self {
        // Most is asked of what is enforced.
        Self([IdMap::with_room(nodes), IdMap::new(), IdMap::new()])
    }
    pub fn get(&self, node: NodeId, mode: Mode) -> Option<&T> {
        self.0[mode as usize].get(node)
    }
    pub fn insert(&mut self, node: NodeId, mode: Mode, value: T) {
        self.0[mode as usize].insert(node, value);
    }
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flat_map(IdMap::iter).map(|(_, value)| value)
    }
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
    keywords: IdMap<JsonId, Rc<Keywords>>,
    /// What each schema is made of.
    expansions: IdMap<JsonId, NodeId>,
    patterns: FxHashMap<(JsonId, Option<usize>), RegexId>,
    formats: FxHashMap<(Format, bool), RegexId>,
    /// See [`and_text`](Self::and_text).
    pub texts_of_both: FxHashMap<(RegexId, RegexId), RegexId>,
    /// Languages and their complements, both ways, see [`not_text`](Self::not_text).
    pub opposites: IdMap<RegexId, RegexId>,
    known: ByMode<Known>,
    /// Nodes whose parts are asked for. Kept for its room.
    open: FxHashSet<NodeId>,
    pub inhabited: ByMode<bool>,
    /// What nodes evaluate, see `unevaluated`.
    pub evaluated_ways: FxHashMap<(NodeId, Asked), Rc<[Way]>>,
    pub listed: FxHashMap<(RegexId, usize), Words>,
    pub constants: Constants,
    pub clause_depths: FxHashMap<ClauseId, usize>,
    pub array_plans: IdMap<ArrayId, Result<Rc<ArrayPlan>, Trouble>>,
    pub object_plans: IdMap<ObjectId, Result<Rc<ObjectPlan>, Trouble>>,
    /// Values are being listed.
    pub is_listing: bool,
    /// How often it was not asked whether there are enough values, since values were being listed.
    pub left_open: usize,
    question_depth: usize,
    /// Read `oneOf` as `anyOf`.
    pub coerce_one_of: bool,
    /// Whether `oneOf` stands anywhere.
    has_one_of: bool,
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
            keywords: IdMap::with_room(document.len()),
            expansions: IdMap::with_room(document.len()),
            patterns: FxHashMap::default(),
            formats: prelude.formats.clone(),
            texts_of_both: FxHashMap::default(),
            opposites: IdMap::new(),
            known: ByMode::with_room(schemas),
            open: FxHashSet::default(),
            inhabited: ByMode::with_room(schemas),
            evaluated_ways: FxHashMap::default(),
            listed: FxHashMap::default(),
            constants: Constants::default(),
            clause_depths: FxHashMap::default(),
            array_plans: IdMap::new(),
            object_plans: IdMap::new(),
            is_listing: false,
            left_open: 0,
            question_depth: 0,
            coerce_one_of: false,
            has_one_of: document.members().any(|member| member.key == "oneOf"),
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
    /// An answer of one who adds to the work what it took.
    pub fn charged<T>(&mut self, ask: impl FnOnce(&mut u64) -> T) -> T {
        let mut work = 0;
        let answer = ask(&mut work);
        self.charge(work);
        answer
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
        if let Some(&known) = self.known.get(root, mode) {
            return known;
        }
        let mut stack: Nodes = smallvec![root];
        let mut open = std::mem::take(&mut self.open);
        while let Some(&top) = stack.last() {
            if self.known.get(top, mode).is_some() {
                stack.pop();
                continue;
            }
            let step = if self.charge(1) { self.step(top, mode) } else { Step::Done(self.nothing()) };
            match step {
                Step::Done(mut known) => {
                    if mode == Mode::Strings {
                        known.shape = self.strings_of(known.shape);
                    }
                    self.known.insert(top, mode, known);
                    open.remove(&top);
                    stack.pop();
                }
                Step::Need(nodes) => {
                    open.insert(top);
                    if let Some(&cyclic) = nodes.iter().find(|node| open.contains(node)) {
                        let place = self.ir.origin(cyclic);
                        self.sink.report(place, Mistake::RefToItself);
                        let nothing = self.nothing();
                        self.known.insert(cyclic, mode, nothing);
                        self.known.insert(top, mode, nothing);
                    }
                    stack.extend(nodes);
                }
            }
        }
        open.clear();
        self.open = open;
        *self.known.get(root, mode).expect("it was found out")
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
        let known = |&node: &NodeId| self.known.get(node, mode).copied();
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
                    let may_be_told_apart = mode == Mode::Exact && self.has_one_of;
                    let told_apart = if may_be_told_apart { self.told_apart(node, &parts) } else { None };
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
        match self.known.get(of, mode) {
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
        if let Some(known) = self.keywords.get(id) {
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
        self.keywords.iter().map(|(id, _)| id).collect()
    }

    /// Whether `propertyNames` was read.
    pub fn names_are_restricted(&self) -> bool {
        self.keywords.iter().any(|(_, keywords)| keywords.names.is_some())
    }

    /// What asks for much, as far as it is known: where there is a `oneOf`, it is taken to be that.
    pub fn demand(&self) -> Option<Demand> {
        let has_one_of = || !self.coerce_one_of && self.keywords.iter().any(|(_, keywords)| keywords.one_of.is_some());
        self.unevaluated.or_else(|| has_one_of().then_some(Demand::OneOf))
    }

    /// The schemas with `anyOf` or `oneOf` that were read, in the text's order.
    pub fn choices_read(&self) -> Vec<Rc<Keywords>> {
        let has_branches = |keywords: &Keywords| keywords.any_of.is_some() || keywords.one_of.is_some();
        self.keywords.iter().map(|(_, keywords)| keywords).filter(|keywords| has_branches(keywords)).cloned().collect()
    }

    /// Whether it was found out that no value is valid for the schema.
    pub fn is_known_empty(&mut self, schema: JsonId) -> bool {
        let node = self.schema(schema);
        self.inhabited.get(node, Mode::Exact) == Some(&false)
    }

    /// Whether that was found out, or shows of what was made of the schema.
    pub fn is_seen_empty(&mut self, schema: JsonId) -> bool {
        let node = self.schema(schema);
        let known = self.known.get(node, Mode::Exact).copied();
        let is_empty =
            known.is_some_and(|known| self.is_empty_shape(known.shape) || self.needs_what_is_empty(known.shape));
        is_empty || self.is_known_empty(schema)
    }

    /// Whether it was found out that no name is valid for the schema.
    pub fn has_no_names(&mut self, schema: JsonId) -> bool {
        let node = self.schema(schema);
        let Some(&Known { shape, .. }) = self.known.get(node, Mode::Strings) else { return false };
        let strings = self.ir.shapes.get(shape).strings;
        self.is_nothing(strings)
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
                JsonValue::Bool(truth) => shape.truth[usize::from(truth)] = true,
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
