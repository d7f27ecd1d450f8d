//! Which constants a node may be, as far as `const`, `enum` and their opposites say it.
//!
//! Ways of an object are often told apart by such a property: `type`, `kind`, `version`. To see at once that two of
//! them have no object in common, or that the one says all that the other does, keeps what `if` and `oneOf` multiply as
//! small as what they mean.

use std::rc::Rc;

use compact_str::CompactString;
use larkspur_grammar::json::{JsonId, JsonValue};
use larkspur_grammar::number::Decimal;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Keywords, Types};
use crate::ir::{ANY, KeyId, NEVER, Named, Node, NodeId, ObjectId};
use crate::normal::Normalizer;

/// Constants that are told apart at most; longer lists say nothing here.
const CONSTANTS_MAX: usize = 512;

/// Constants that are looked at, and parts of nodes, count as one of work if they are so many.
const CONSTANTS_PER_WORK: u64 = 16;

/// Schemas within each other that are asked at most.
const DEPTH_MAX: usize = 16;

/// Properties of a way that are looked for one by one in another, at most.
const IMPLIED_NAMES_MAX: usize = 4;

/// A value without parts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Scalar {
    Null,
    Bool(bool),
    Number(Decimal),
    String(CompactString),
}

/// Values, by which constants are among them. Numbers are those of [`Constants::ids`], in order.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Among {
    These(Rc<[u32]>),
    /// All but these, and everything that is no constant.
    Others(Rc<[u32]>),
}

/// What is known of a node's values: they are among these, and, if it `is_all`, these are all of them.
#[derive(Clone, Debug)]
struct Domain {
    among: Among,
    is_all: bool,
}

/// A property of which some constants are known.
#[derive(Debug)]
struct Property {
    key: KeyId,
    is_required: bool,
    domain: Domain,
}

/// What is known of a node's objects.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    required: FxHashSet<KeyId>,
    /// What properties are among, if they are there; the same one perhaps several times.
    among: Vec<(KeyId, Among)>,
}

/// What was found out.
#[derive(Default)]
pub(crate) struct Constants {
    ids: FxHashMap<Scalar, u32>,
    domains: FxHashMap<NodeId, Option<Domain>>,
    /// In the order of keys.
    of_objects: FxHashMap<ObjectId, Rc<[Property]>>,
    facts: FxHashMap<NodeId, Rc<Facts>>,
}

impl Among {
    /// What is among all of them; `None` if there are none, or these are too many to say.
    fn all<'a>(all: impl Iterator<Item = &'a Self>) -> Option<Self> {
        let (mut these, mut others): (Option<Vec<u32>>, Vec<u32>) = (None, Vec::new());
        let mut is_any = false;
        for among in all {
            is_any = true;
            match (among, &mut these) {
                (Self::These(ids), None) => these = Some(ids.to_vec()),
                (Self::These(ids), Some(these)) => these.retain(|id| ids.binary_search(id).is_ok()),
                (Self::Others(ids), _) => others.extend(ids.iter()),
            }
        }
        others.sort_unstable();
        others.dedup();
        let among = match these {
            None => is_any.then(|| Self::Others(others.into()))?,
            Some(mut these) => {
                these.retain(|id| others.binary_search(id).is_err());
                Self::These(these.into())
            }
        };
        Some(among).filter(|among| among.len() <= CONSTANTS_MAX)
    }
    fn len(&self) -> usize {
        let (Self::These(ids) | Self::Others(ids)) = self;
        ids.len()
    }
    fn not(&self) -> Self {
        match self {
            Self::These(these) => Self::Others(these.clone()),
            Self::Others(others) => Self::These(others.clone()),
        }
    }
    fn is_disjoint(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::These(a), Self::These(b)) => !a.iter().any(|id| b.binary_search(id).is_ok()),
            (Self::These(a), Self::Others(b)) | (Self::Others(b), Self::These(a)) => {
                a.iter().all(|id| b.binary_search(id).is_ok())
            }
            (Self::Others(_), Self::Others(_)) => false,
        }
    }
}

impl Normalizer<'_> {
    /// Values of both nodes; one of them if it certainly has no others.
    pub fn both(&mut self, a: NodeId, b: NodeId, origin: JsonId) -> NodeId {
        let is_open = |node: NodeId| node == ANY || node == NEVER;
        if a != b && !is_open(a) && !is_open(b) {
            if self.is_implied(a, b) {
                return a;
            }
            if self.is_implied(b, a) {
                return b;
            }
        }
        self.ir.all(&[a, b], origin)
    }

    /// Whether all values of the first are certainly values of the second.
    fn is_implied(&mut self, narrow: NodeId, wide: NodeId) -> bool {
        if narrow == wide || wide == ANY {
            return true;
        }
        let Some(wide) = self.domain(wide, 0).filter(|domain| domain.is_all) else { return false };
        let Some(narrow) = self.domain(narrow, 0) else { return false };
        narrow.among.is_disjoint(&wide.among.not())
    }

    /// Whether all that a node says is which constants it is, or is not.
    pub fn is_of_constants(&mut self, node: NodeId) -> bool {
        self.domain(node, 0).is_some_and(|domain| domain.is_all)
    }

    /// The values that are not of a node, if all that it says is which constants it is not.
    pub fn constants_besides(&mut self, node: NodeId, origin: JsonId) -> Option<NodeId> {
        let domain = self.domain(node, 0).filter(|domain| domain.is_all)?;
        matches!(domain.among, Among::Others(_)).then(|| self.ir.not(node, origin))
    }

    /// Whether the ways have no object in common, since one requires a property that cannot be of both.
    pub fn are_told_apart(&mut self, a: ObjectId, b: ObjectId) -> bool {
        let (a, b) = (self.constants_of(a), self.constants_of(b));
        a.iter().any(|mine| {
            let other = b.binary_search_by_key(&mine.key, |property| property.key).map(|at| &b[at]);
            other.is_ok_and(|other| {
                (mine.is_required || other.is_required) && mine.domain.among.is_disjoint(&other.domain.among)
            })
        })
    }

    /// What is known of a node's objects, as far as it is said in place.
    pub fn facts(&mut self, node: NodeId) -> Rc<Facts> {
        if let Some(known) = self.constants.facts.get(&node) {
            return known.clone();
        }
        let mut facts = Facts::default();
        if let Node::All(parts) = self.ir.get(node).clone() {
            self.charge(parts.len() as u64 / CONSTANTS_PER_WORK);
            for part in parts {
                let inner = self.facts(part);
                facts.required.extend(&inner.required);
                facts.among.extend(inner.among.iter().cloned());
            }
        } else {
            let said = self.in_place(&[node]);
            for keywords in &said.keywords {
                facts.required.extend(keywords.required.iter().map(|name| self.ir.keys.intern(name.clone())));
                for (name, schema) in &keywords.properties {
                    let value = self.schema(*schema);
                    let key = self.ir.keys.intern(name.clone());
                    facts.among.extend(self.domain(value, 0).map(|domain| (key, domain.among)));
                }
            }
            for object in said.objects {
                let required = self.ir.objects.get(object).named.iter().filter(|named| named.required);
                facts.required.extend(required.map(|named| named.key));
                facts
                    .among
                    .extend(self.constants_of(object).iter().map(|known| (known.key, known.domain.among.clone())));
            }
        }
        let facts = Rc::new(facts);
        self.constants.facts.insert(node, facts.clone());
        facts
    }

    /// Whether there may be an object of which all this is true.
    pub fn may_be_objects(&mut self, facts: &[Rc<Facts>]) -> bool {
        let mut among: FxHashMap<KeyId, Vec<&Among>> = FxHashMap::default();
        let mut constants = 0;
        for (key, one) in facts.iter().flat_map(|facts| &facts.among) {
            if facts.iter().any(|facts| facts.required.contains(key)) {
                among.entry(*key).or_default().push(one);
                constants += one.len() as u64;
            }
        }
        let is_nothing = |all: &Vec<&Among>| match Among::all(all.iter().copied()) {
            Some(Among::These(ids)) => ids.is_empty(),
            Some(Among::Others(_)) | None => false,
        };
        self.charge(constants / CONSTANTS_PER_WORK) && !among.values().any(is_nothing)
    }

    /// Whether all objects of the first way are certainly of the second.
    pub fn is_way_implied(&mut self, narrow: ObjectId, wide: ObjectId) -> bool {
        let (a, b) = (self.ir.objects.get(narrow), self.ir.objects.get(wide));
        let is_open = *b.cells == [(self.any_text, ANY)] && b.min == 0 && b.max.is_none();
        if !is_open || !b.some.is_empty() || !b.clauses.is_empty() || b.named.len() > IMPLIED_NAMES_MAX {
            return false;
        }
        let mut pairs = Vec::with_capacity(b.named.len());
        for wide in &b.named {
            match a.named.iter().find(|narrow| narrow.key == wide.key) {
                Some(narrow) if narrow.required || !wide.required => pairs.push((narrow.node, wide.node)),
                _ => return false,
            }
        }
        pairs.into_iter().all(|(narrow, wide)| self.is_implied(narrow, wide))
    }

    /// A property that ways of several lists name with other constants each, and may lack; that of most ways.
    pub fn optional_discriminator(&mut self, lists: &[Vec<ObjectId>]) -> Option<KeyId> {
        let mut found: FxHashMap<KeyId, Vec<(usize, Among)>> = FxHashMap::default();
        for (list, ways) in lists.iter().enumerate() {
            for &way in ways {
                for Property { key, domain, .. } in self.constants_of(way).iter().filter(|known| !known.is_required) {
                    found.entry(*key).or_default().push((list, domain.among.clone()));
                }
            }
        }
        found.retain(|_, ways| ways.windows(2).any(|pair| pair[0].0 != pair[1].0 && pair[0].1.is_disjoint(&pair[1].1)));
        found.into_iter().max_by_key(|(key, ways)| (ways.len(), std::cmp::Reverse(*key))).map(|(key, _)| key)
    }

    fn constants_of(&mut self, object: ObjectId) -> Rc<[Property]> {
        if let Some(known) = self.constants.of_objects.get(&object) {
            return known.clone();
        }
        let named = self.ir.objects.get(object).named.clone();
        let mut known: Vec<Property> = Vec::new();
        for &Named { key, node, required: is_required } in &named {
            known.extend(self.domain(node, 0).map(|domain| Property { key, is_required, domain }));
        }
        known.sort_unstable_by_key(|property| property.key);
        let known: Rc<[Property]> = known.into();
        self.constants.of_objects.insert(object, known.clone());
        known
    }

    /// What is known of the node's values; `None` if nothing is.
    fn domain(&mut self, node: NodeId, depth: usize) -> Option<Domain> {
        if let Some(known) = self.constants.domains.get(&node) {
            return known.clone();
        }
        if depth > DEPTH_MAX || !self.charge(1) {
            return None;
        }
        let found = match self.ir.get(node).clone() {
            Node::Any | Node::Shape(_) => None,
            Node::Never => Some(Domain { among: Among::These([].into()), is_all: true }),
            Node::Values(values) => self.among_values(&values, Types::ALL).map(|among| Domain { among, is_all: true }),
            Node::Keywords(id) => self.domain_of_keywords(id),
            Node::Schema(id) => self.domain_of_schema(id, depth),
            Node::All(parts) => self.domain_of_all(&parts, depth),
            Node::Some(parts) => {
                let domains: Option<Vec<Domain>> = parts.iter().map(|&part| self.domain(part, depth + 1)).collect();
                domains.and_then(|domains| {
                    let is_all = domains.iter().all(|domain| domain.is_all);
                    let opposites: Vec<Among> = domains.iter().map(|domain| domain.among.not()).collect();
                    Some(Domain { among: Among::all(opposites.iter())?.not(), is_all })
                })
            }
            Node::One(_) => None,
            Node::Not(inner) => self
                .domain(inner, depth + 1)
                .filter(|domain| domain.is_all)
                .map(|domain| Domain { among: domain.among.not(), is_all: true }),
        };
        self.constants.domains.insert(node, found.clone());
        found
    }

    fn domain_of_all(&mut self, parts: &[NodeId], depth: usize) -> Option<Domain> {
        let mut all = Vec::with_capacity(parts.len());
        for &part in parts {
            all.extend(self.domain(part, depth + 1));
        }
        let is_all = all.len() == parts.len() && all.iter().all(|domain| domain.is_all);
        let among = Among::all(all.iter().map(|domain| &domain.among))?;
        Some(Domain { among, is_all })
    }

    fn domain_of_schema(&mut self, id: JsonId, depth: usize) -> Option<Domain> {
        let keywords = self.read(id)?;
        let own = self.ir.node(Node::Keywords(id), id);
        let mut parts = vec![own];
        let referred = keywords.reference.and_then(|place| self.referred(place));
        parts.extend(referred.into_iter().chain(keywords.all_of.iter().copied()).map(|schema| self.schema(schema)));
        let domain = self.domain_of_all(&parts, depth);
        // What is not looked at here may make it narrower.
        let is_whole = keywords.dynamic.is_none()
            && keywords.any_of.is_none()
            && keywords.one_of.is_none()
            && keywords.not.is_none()
            && keywords.condition.is_none()
            && keywords.reference.is_some() == referred.is_some();
        domain.map(|domain| Domain { is_all: domain.is_all && is_whole, ..domain })
    }

    /// What a schema's keywords without sub-schemas in place say.
    fn domain_of_keywords(&mut self, id: JsonId) -> Option<Domain> {
        let keywords = self.read(id)?;
        let types = keywords.types.unwrap_or(Types::ALL);
        let lists = keywords.enumeration.as_ref().map(|(_, values)| values.clone());
        let lists = lists.into_iter().chain(keywords.constant.map(|value| vec![value]));
        let lists: Option<Vec<Among>> = lists.map(|values| self.among_values(&values, types)).collect();
        let among = Among::all(lists?.iter())?;
        // Of values without parts, nothing else says more. Which numbers are integers is not asked here.
        let is_all = keywords.minimum.is_empty()
            && keywords.maximum.is_empty()
            && keywords.multiple_of.is_none()
            && keywords.min_length.is_none()
            && keywords.max_length.is_none()
            && keywords.pattern.is_none()
            && keywords.format.is_none()
            && (keywords.types.is_none() || !self.has_number(&keywords));
        Some(Domain { among, is_all })
    }

    fn has_number(&self, keywords: &Keywords) -> bool {
        let listed = keywords.enumeration.iter().flat_map(|(_, values)| values);
        listed.chain(&keywords.constant).any(|&value| matches!(self.document.value(value), JsonValue::Number(_)))
    }

    /// `None` if not all of the values are without parts, or these are too many.
    fn among_values(&mut self, values: &[JsonId], types: Types) -> Option<Among> {
        if values.len() > CONSTANTS_MAX {
            return None;
        }
        let mut ids = Vec::with_capacity(values.len());
        for &value in values {
            let (scalar, of) = match self.document.value(value) {
                JsonValue::Null => (Scalar::Null, Types::NULL),
                JsonValue::Bool(truth) => (Scalar::Bool(truth), Types::BOOLEAN),
                JsonValue::Number(text) => (Scalar::Number(Decimal::parse(text)?), Types::INTEGER),
                JsonValue::String(text) => (Scalar::String(text.into()), Types::STRING),
                JsonValue::Array(_) | JsonValue::Object(_) => return None,
            };
            if types.has(of) || matches!(scalar, Scalar::Number(_)) {
                let next = self.constants.ids.len() as u32;
                ids.push(*self.constants.ids.entry(scalar).or_insert(next));
            }
        }
        ids.sort_unstable();
        ids.dedup();
        Some(Among::These(ids.into()))
    }
}
