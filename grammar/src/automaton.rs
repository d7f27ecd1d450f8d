//! Nonterminals whose right-hand sides are made while parsing.
//!
//! An [`Automaton`] is a right-linear grammar over states that nobody could list: which properties an object has so
//! far, which values an array holds. Its edges are terminals and rules of the grammar it stands in; what the text of a
//! terminal was may decide the next state, and a terminal may leave out texts that the state excludes. The parser asks
//! for the edges of the states that it reaches, and knows nothing of what a state means.

use std::any::Any;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use imbl::ordset::DiffItem;
use rustc_hash::FxHasher;

use crate::hashing::hash_in;
use crate::ir::{RuleId, TerminalId};
use crate::regex::{RegexId, RegexSet};
use crate::saved::SavedAutomaton;

/// A nonterminal with states. Equal arguments give equal answers: nothing in it may change.
pub trait Automaton: Debug + Send + Sync {
    /// Where it starts; `start` is what [`ExprKind::Automaton`](crate::ExprKind::Automaton) holds.
    fn start(&self, start: u32) -> State;
    /// Whether it may be finished in this state.
    fn is_final(&self, state: &State) -> bool;
    /// The ways on from a state. Each leads to a state from which a final one can be reached.
    ///
    /// Errors: a limit that finding them exceeds.
    fn edges(&self, state: &State) -> Result<Vec<Edge>, LimitExceeded>;
    /// The state behind an edge; `text` is what a recorded terminal matched, otherwise empty.
    ///
    /// Errors: a limit that making the state exceeds.
    fn next(&self, state: &State, label: u32, text: &[u8]) -> Result<State, LimitExceeded>;
    /// All terminals that edges have, but for those that are only recorded. An edge is not taken by the empty text, even if its
    /// terminal matches that.
    fn terminals(&self) -> &[TerminalId];
    /// All terminals whose text is recorded by some edge.
    fn recorded(&self) -> &[TerminalId];
    /// All rules that edges have. An edge is not taken by the empty text, even if its rule derives that. A parametric
    /// rule has the parameter of the rule that the automaton stands in. What is captured inside is not reported.
    fn rules(&self) -> &[RuleId];
    /// The texts that an exception of an edge stands for, as a regex in `set`.
    fn excepted(&self, exception: &[u8], set: &mut RegexSet) -> RegexId {
        set.literal(exception)
    }
    /// The exception that stands for a text: the texts of [`Self::excepted`] are those that it is returned for.
    fn exception(&self, text: &[u8]) -> Vec<u8> {
        text.to_vec()
    }
    /// Whether each of these exceptions stands for one text: how many are left of a terminal is then known from how many there are.
    /// If they are untold, none may stand for very many.
    fn are_single_texts(&self, _exceptions: &Exceptions) -> bool {
        false
    }
    /// The state as far as it does not depend on the texts that were read: it goes on as the state itself does, also
    /// behind each edge, except that exceptions may be [untold](Exceptions::untold). Who only looks ahead finds few such
    /// states where there is one for every text.
    fn untold(&self, state: &State) -> State {
        state.clone()
    }
    /// [`Self::untold`] of the state behind a recorded edge if that is the same whatever its text was, but for some texts.
    fn next_untold(&self, _state: &State, _label: u32) -> Option<Untold> {
        None
    }
    /// What it is made from, for a saved grammar. `None` if it does not say: then grammars with it cannot be saved.
    fn save(&self) -> Option<SavedAutomaton> {
        None
    }
    /// Number of places where it starts: [`start`](Self::start) takes less. Asked where it was read from a saved grammar.
    fn starts(&self) -> u32 {
        u32::MAX
    }
    /// Whether an untold state has forgotten what decides its edges: who looks ahead must then go the way from where it
    /// began again.
    fn forgot_edges(&self, _state: &State) -> bool {
        false
    }
}

/// The state behind a recorded edge, whatever its text was.
#[derive(Clone, Debug)]
pub struct Untold {
    /// It.
    pub state: State,
    /// The texts, as [exceptions](Automaton::exception), behind which there is another one.
    pub but_for: Exceptions,
}

/// A way from one state to the next.
#[derive(Clone, Debug)]
pub struct Edge {
    /// What is read.
    pub symbol: EdgeSymbol,
    /// Tells edges of one state apart for [`Automaton::next`].
    pub label: u32,
}

/// What an [`Edge`] reads.
#[derive(Clone, Debug)]
pub enum EdgeSymbol {
    /// A terminal.
    Terminal(TerminalId),
    /// A terminal whose text decides the next state, without the texts of the exceptions
    /// (see [`Automaton::excepted`]). Neither lazy nor with a tail.
    Recorded(TerminalId, Exceptions),
    /// A rule.
    Rule(RuleId),
}

/// A set of byte strings that shares memory with the sets it was made from, and knows its hash.
#[derive(Clone, Debug, Default)]
pub struct Exceptions {
    set: imbl::OrdSet<Arc<[u8]>>,
    /// Sum of the strings' hashes, so that a set of thousands is hashed at once.
    hash: u64,
    is_untold: bool,
}

impl Exceptions {
    /// A set of which it is forgotten what is in it; it stays so with any string more.
    pub fn untold() -> Self {
        Self { is_untold: true, ..Self::default() }
    }
    /// Whether it is forgotten what is in the set.
    pub fn is_untold(&self) -> bool {
        self.is_untold
    }
    /// The set with one string more. Cost: logarithmic.
    pub fn with(&self, exception: &[u8]) -> Self {
        if self.is_untold || self.contains(exception) {
            return self.clone();
        }
        let mut hasher = FxHasher::default();
        exception.hash(&mut hasher);
        let hash = self.hash.wrapping_add(hash_in(&hasher));
        Self { set: self.set.update(exception.into()), hash, is_untold: false }
    }
    /// Whether the string is in the set, which must not be untold.
    pub fn contains(&self, exception: &[u8]) -> bool {
        debug_assert!(!self.is_untold, "nobody knows");
        self.set.contains(exception)
    }
    /// The strings, in order.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.set.iter().map(AsRef::as_ref)
    }
    /// The strings that only the other set has, and those that only this one has (`false`).
    /// Cost: proportional to what the two do not share in memory.
    pub fn changes_to<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (&'a [u8], bool)> {
        self.set.diff(&other.set).map(|change| match change {
            DiffItem::Add(text) => (text.as_ref(), true),
            DiffItem::Remove(text) => (text.as_ref(), false),
        })
    }
    /// Number of strings.
    pub fn len(&self) -> usize {
        self.set.len()
    }
    /// Whether there is none for certain.
    pub fn is_empty(&self) -> bool {
        !self.is_untold && self.set.is_empty()
    }
}

impl PartialEq for Exceptions {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && self.is_untold == other.is_untold
            && (self.set.ptr_eq(&other.set) || self.set == other.set)
    }
}

impl Eq for Exceptions {}

impl Hash for Exceptions {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.hash ^ u64::from(self.is_untold));
    }
}

/// A limit of [`Limits`](crate::Limits) that an automaton exceeded while parsing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LimitExceeded {
    /// The limit's name.
    pub limit: &'static str,
    /// Its value.
    pub value: u64,
}

/// A state of an [`Automaton`]: a value of its own type, of which the parser knows only which are equal.
#[derive(Clone, Debug)]
pub struct State(Arc<dyn StateValue>);

impl State {
    /// Wraps a value.
    pub fn new<T: Eq + Hash + Debug + Send + Sync + 'static>(value: T) -> Self {
        Self(Arc::new(value))
    }
    /// The value.
    ///
    /// Panics if it is of another type: states stay with their automaton.
    pub fn get<T: 'static>(&self) -> &T {
        self.0.as_any().downcast_ref().expect("a state of this automaton")
    }
}

impl PartialEq for State {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.equals(&*other.0)
    }
}

impl Eq for State {}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.0.hash_into(hasher);
    }
}

trait StateValue: Debug + Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn equals(&self, other: &dyn StateValue) -> bool;
    fn hash_into(&self, hasher: &mut dyn Hasher);
}

impl<T: Eq + Hash + Debug + Send + Sync + 'static> StateValue for T {
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn equals(&self, other: &dyn StateValue) -> bool {
        other.as_any().downcast_ref::<T>().is_some_and(|other| self == other)
    }
    fn hash_into(&self, mut hasher: &mut dyn Hasher) {
        self.hash(&mut hasher);
    }
}
