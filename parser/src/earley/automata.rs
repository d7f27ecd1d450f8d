//! States of automata: interned, with the edges that lead on from each.
//!
//! A state is a part of an item's parameter. An automaton N in state q is predicted as the nonterminal N with that
//! parameter; an edge is scanned (or waited for) by the item `N → edge • N`, whose parameter has the next state: the only
//! dot behind an edge is the one before N itself. What is finished and what can be skipped is then as for any rule, and
//! of this right recursion only the outer continuation is left.

use std::sync::Arc;

use larkspur_grammar::hashing::hash_of;
use larkspur_grammar::index::Id;
use larkspur_grammar::{
    Automaton, EdgeSymbol, Exceptions, IndexVec, LimitExceeded, ParamExpr, RegexId, RegexNode, RegexSet, State, Untold,
    define_id,
};
use rustc_hash::FxHashMap;

use super::sets::{Param, ParamId, SetId, Sets};
use crate::cfg::{Dot, DotId, LexemeId, NonterminalId, Symbol};
use crate::error::Fault;
use crate::growing::GrowingIds;
use crate::lexer::arena::Expr;
use crate::lexer::exceptions::{NO_TEXTS, TrieId};
use crate::lexer::late::{Lateness, MANY};
use crate::lexer::states::{DEAD, LexStateId, LexemeSetId, Lexer, Rest};

define_id! {
    /// A state of an automaton.
    pub(crate) struct StateId = "s";
}

/// Sets of exceptions that are kept at hand, to be extended by what is new in the next one.
const RECENT_EXCEPTIONS: usize = 16;

/// Bytes that a state takes besides its edges, roughly: entry and key 250, and what it does not share with the states
/// before it.
const STATE_BYTES: usize = 1024;

/// All states that automata have reached.
#[derive(Default, Debug)]
pub(crate) struct Automata {
    states: IndexVec<StateId, Entry>,
    /// States by their hashes, which are kept: values are large.
    ids: GrowingIds<StateId>,
    /// Where automata start, by the dot before them.
    starts: FxHashMap<DotId, StateId>,
    /// What is behind recorded edges, whatever their texts were, by the labels of the edges.
    untold: FxHashMap<(StateId, u32), Option<Behind>>,
    recent: Vec<Recent>,
    edges: usize,
    /// Bytes of all tries of exceptions.
    trie_bytes: usize,
}

#[derive(Debug)]
struct Entry {
    automaton: NonterminalId,
    state: State,
    is_final: bool,
    edges: Option<Arc<[LiveEdge]>>,
    /// The state that looks ahead for it, if that is known.
    untold: Option<StateId>,
}

/// An edge that some text takes.
#[derive(Debug)]
pub(crate) struct LiveEdge {
    pub symbol: LiveSymbol,
    label: u32,
}

impl LiveEdge {
    /// The lexeme of a recorded edge, and what it leaves out.
    fn recorded(&self) -> (LexemeId, &Without) {
        match &self.symbol {
            &LiveSymbol::Recorded(lexeme, ref without) => (lexeme, without),
            LiveSymbol::Lexeme(..) | LiveSymbol::Rule(..) => unreachable!("a recorded edge"),
        }
    }
}

#[derive(Debug)]
pub(crate) enum LiveSymbol {
    /// A lexeme, and the state behind it.
    Lexeme(LexemeId, StateId),
    /// A lexeme whose text decides the state, and what it leaves out.
    Recorded(LexemeId, Without),
    /// A rule, and the state behind it.
    Rule(NonterminalId, StateId),
}

/// What a recorded lexeme leaves out.
#[derive(Debug)]
pub(crate) enum Without {
    /// As what is left of the lexeme.
    Rest(Rest),
    /// What is looked at when the text is whole: see [`Lexer::lateness`].
    Late(Exceptions),
}

impl Without {
    /// What the lexer reads.
    pub fn rest(&self, lexeme: LexemeId, lexer: &Lexer) -> Rest {
        match *self {
            Without::Rest(rest) => rest,
            Without::Late(_) => lexer.whole(lexeme),
        }
    }
}

/// What is behind a recorded edge, whatever its text was but for some.
#[derive(Clone, Debug)]
pub(super) struct Behind {
    pub state: StateId,
    pub but_for: Exceptions,
}

/// A set of exceptions that was lowered.
#[derive(Debug)]
struct Recent {
    automaton: NonterminalId,
    exceptions: Exceptions,
    lowered: Lowered,
}

/// What exceptions stand for.
#[derive(Clone, Debug)]
struct Lowered {
    texts: TrieId,
    others: Expr,
}

impl From<LimitExceeded> for Fault {
    fn from(exceeded: LimitExceeded) -> Self {
        Fault::exceeded(exceeded.limit, exceeded.value)
    }
}

impl Automata {
    /// Bytes that states take, roughly.
    pub fn bytes(&self) -> usize {
        let untold = self.untold.len() * size_of::<((StateId, u32), Option<Behind>)>();
        self.states.len() * STATE_BYTES + self.edges * size_of::<LiveEdge>() + self.trie_bytes + untold
    }
}

impl Sets {
    fn automaton(&self, id: NonterminalId) -> &dyn Automaton {
        self.cfg.automaton(id).expect("an automaton")
    }

    fn state(&mut self, automaton: NonterminalId, state: State) -> Result<StateId, Fault> {
        let hash = hash_of(&(automaton, &state));
        let Automata { ids, states, .. } = &self.automata;
        let is_it = |known: &Entry| known.automaton == automaton && known.state == state;
        if let Some(known) = ids.find(hash, |id| is_it(&states[id])) {
            return Ok(known);
        }
        self.check_size()?;
        let is_final = self.automaton(automaton).is_final(&state);
        let id = self.automata.states.push(Entry { automaton, state, is_final, edges: None, untold: None });
        self.automata.ids.insert(hash, id);
        Ok(id)
    }

    /// The state of the automaton at a dot, for an item with this parameter; `None` if there is no automaton.
    fn state_at(&mut self, dot: DotId, param: ParamId) -> Result<Option<StateId>, Fault> {
        if !self.cfg.has_automata {
            return Ok(None);
        }
        let Dot { symbol: Symbol::Nonterminal(id), arg, .. } = self.cfg.dots[dot] else { return Ok(None) };
        if self.cfg.nonterminals[id].automaton.is_none() {
            return Ok(None);
        }
        if arg == ParamExpr::Same {
            return Ok(Some(self.param_value(param).state.expect("what follows an edge has a state")));
        }
        if let Some(&known) = self.automata.starts.get(&dot) {
            return Ok(Some(known));
        }
        let start = self.cfg.start_state(&self.cfg.dots[dot]).expect("an automaton starts");
        let state = self.state(id, start)?;
        self.automata.starts.insert(dot, state);
        Ok(Some(state))
    }

    /// Whether the automaton at a dot may be left out; `None` if there is none.
    pub(super) fn may_skip_automaton(&mut self, dot: DotId, param: ParamId) -> Result<Option<bool>, Fault> {
        Ok(self.state_at(dot, param)?.map(|state| self.automata.states[state].is_final))
    }

    /// Whether there is an automaton at a dot that cannot go on.
    pub fn is_over(&mut self, dot: DotId, param: ParamId, lexer: &mut Lexer) -> Result<bool, Fault> {
        match self.state_at(dot, param)? {
            Some(state) => Ok(self.edges(state, lexer)?.is_empty()),
            None => Ok(false),
        }
    }

    /// The parameter of the nonterminal at a dot that an item with parameter `caller` predicts in the token `token`.
    pub fn child_param(&mut self, dot: DotId, caller: ParamId, token: u32) -> Result<ParamId, Fault> {
        let info = self.cfg.dots[dot];
        let Symbol::Nonterminal(id) = info.symbol else { return Ok(ParamId(0)) };
        let Param { value, scope, .. } = self.param_value(caller);
        Ok(match self.state_at(dot, caller)? {
            Some(state) => self.param(Param { value, scope, state: Some(state) }),
            None => self.passed(id, info.arg.eval(value), caller, token),
        })
    }

    /// The parameter behind an edge, for one with the state before it.
    pub fn param_in(&mut self, before: ParamId, state: StateId) -> ParamId {
        let param = self.param_value(before);
        self.param(Param { state: Some(state), ..param })
    }

    /// The edges that lead on from a state. Cost: asks the automaton the first time.
    pub fn edges(&mut self, id: StateId, lexer: &mut Lexer) -> Result<Arc<[LiveEdge]>, Fault> {
        let Entry { automaton, state, edges, .. } = &self.automata.states[id];
        if let Some(edges) = edges {
            return Ok(edges.clone());
        }
        let (automaton, state) = (*automaton, state.clone());
        if self.automaton(automaton).forgot_edges(&state) {
            return Err(Fault::Untold);
        }
        let cfg = self.cfg.clone();
        let edges = self.automaton(automaton).edges(&state)?;
        self.check_work(edges.len())?;
        let tables = cfg.nonterminals[automaton].automaton.as_ref().expect("an automaton");
        let is_live = |lexeme: &&LexemeId| !cfg.empty_lexemes[lexeme.index()];
        let mut live = Vec::with_capacity(edges.len());
        for edge in &edges {
            let label = edge.label;
            let symbol = match &edge.symbol {
                EdgeSymbol::Terminal(terminal) => match tables.lexemes.get(terminal).filter(is_live) {
                    Some(&lexeme) => LiveSymbol::Lexeme(lexeme, self.next_state(id, label, &[])?),
                    None => continue,
                },
                EdgeSymbol::Recorded(terminal, exceptions) => {
                    let Some(&lexeme) = tables.recorded.get(terminal).filter(is_live) else { continue };
                    match self.without(automaton, lexeme, exceptions, lexer)? {
                        Some(without) => LiveSymbol::Recorded(lexeme, without),
                        None => continue,
                    }
                }
                EdgeSymbol::Rule(rule) => {
                    let rule = tables.rules.get(rule).filter(|&&rule| cfg.nonterminals[rule].productive);
                    match rule {
                        Some(&rule) => LiveSymbol::Rule(rule, self.next_state(id, label, &[])?),
                        None => continue,
                    }
                }
            };
            live.push(LiveEdge { symbol, label });
        }
        let live: Arc<[LiveEdge]> = live.into();
        self.automata.edges += live.len();
        self.automata.trie_bytes = lexer.tries.bytes();
        self.automata.states[id].edges = Some(live.clone());
        Ok(live)
    }

    fn next_state(&mut self, id: StateId, label: u32, text: &[u8]) -> Result<StateId, Fault> {
        let Entry { automaton, state, .. } = &self.automata.states[id];
        let automaton = *automaton;
        let next = self.automaton(automaton).next(state, label, text)?;
        self.state(automaton, next)
    }

    /// What a recorded lexeme leaves out; `None` if that is all.
    fn without(
        &mut self,
        automaton: NonterminalId,
        lexeme: LexemeId,
        exceptions: &Exceptions,
        lexer: &mut Lexer,
    ) -> Result<Option<Without>, Fault> {
        let lateness = lexer.lateness(lexeme);
        let late = Ok(Some(Without::Late(exceptions.clone())));
        let is_late = match lateness {
            Lateness::Never => false,
            Lateness::Endless => true,
            // Exceptions that stand for many texts each may be all that are left, however many these are.
            Lateness::Counted => exceptions.is_empty() || self.automaton(automaton).are_single_texts(exceptions),
        };
        if is_late {
            let whole = Expr::from_raw(lexer.whole(lexeme));
            if lateness == Lateness::Endless || exceptions.is_empty() || lexer.texts_left(whole) >= MANY {
                return late;
            }
            return if self.are_all(automaton, exceptions, whole, &[], lexer)? { Ok(None) } else { late };
        }
        if exceptions.is_untold() {
            return Err(Fault::Untold);
        }
        let Lowered { texts, others } = self.exceptions(automaton, exceptions, lexer)?;
        Ok(lexer.whole_without(lexeme, texts, others)?.map(Without::Rest))
    }

    /// Whether exceptions are all that a counted lexeme still matches behind a text, where `left` is left of it.
    fn are_all(
        &mut self,
        automaton: NonterminalId,
        exceptions: &Exceptions,
        left: Expr,
        text: &[u8],
        lexer: &mut Lexer,
    ) -> Result<bool, Fault> {
        if exceptions.is_untold() {
            return Err(Fault::Untold);
        }
        let Lowered { texts, others } = self.exceptions(automaton, exceptions, lexer)?;
        assert_eq!(others, Expr::NOTHING, "exceptions are single texts");
        let texts = text.iter().fold(texts, |texts, &byte| lexer.tries.child(texts, byte));
        Ok(lexer.tries.len(texts) >= lexer.texts_left(left) && !lexer.has_other(left, texts)?)
    }

    /// The state that items with this parameter have, if their edge has a number.
    pub(super) fn before(&self, param: ParamId) -> StateId {
        self.param_value(param).state.expect("an edge leaves a state")
    }

    /// The texts that an exception of an edge stands for, if they are a list.
    pub(super) fn spellings(&self, param: ParamId, exception: &[u8]) -> Option<Vec<Box<[u8]>>> {
        let automaton = self.automaton(self.automata.states[self.before(param)].automaton);
        let mut regexes = RegexSet::new();
        let regex = automaton.excepted(exception, &mut regexes);
        Some(alternatives(&regexes, regex)?.into_iter().map(Box::from).collect())
    }

    /// Whether a recorded edge does not leave out a text that its lexeme matches.
    pub(super) fn takes(&mut self, param: ParamId, edge: u32, text: &[u8], lexer: &mut Lexer) -> Result<bool, Fault> {
        let state = self.before(param);
        let edges = self.edges(state, lexer)?;
        let (lexeme, without) = edges[edge as usize].recorded();
        match without {
            Without::Rest(rest) => Ok(*rest == lexer.whole(lexeme) || lexer.takes_text(*rest, text)?),
            Without::Late(_) if lexer.leaves_out(lexeme, text) => Ok(false),
            Without::Late(exceptions) if exceptions.is_untold() => Err(Fault::Untold),
            Without::Late(exceptions) if exceptions.is_empty() => Ok(true),
            Without::Late(exceptions) => {
                let automaton = self.automaton(self.automata.states[state].automaton);
                Ok(!exceptions.contains(&automaton.exception(text)))
            }
        }
    }

    /// Whether a recorded edge leaves out nothing of what its lexeme matches.
    pub(super) fn takes_all(&mut self, param: ParamId, edge: u32, lexer: &mut Lexer) -> Result<bool, Fault> {
        let edges = self.edges(self.before(param), lexer)?;
        let (lexeme, without) = edges[edge as usize].recorded();
        Ok(match without {
            Without::Rest(rest) => *rest == lexer.whole(lexeme),
            Without::Late(exceptions) => exceptions.is_empty() && lexer.left_out(lexeme).is_none(),
        })
    }

    /// Whether a recorded edge leaves out nothing of what its lexeme matches but what [`Self::left_out`] lists.
    pub(super) fn takes_others(&mut self, param: ParamId, edge: u32, lexer: &mut Lexer) -> Result<bool, Fault> {
        let edges = self.edges(self.before(param), lexer)?;
        let (lexeme, without) = edges[edge as usize].recorded();
        Ok(match without {
            Without::Rest(rest) => *rest == lexer.whole(lexeme),
            Without::Late(exceptions) => !exceptions.is_untold(),
        })
    }

    /// The lexer state without those late lexemes that began in a set and none of whose edges takes the text, nor any that begins
    /// with it.
    pub fn without_left_out(
        &mut self,
        set: SetId,
        lex: LexStateId,
        text: &[u8],
        lexer: &mut Lexer,
    ) -> Result<LexStateId, Fault> {
        if !lexer.state(lex).is_watched() {
            return Ok(lex);
        }
        let closure = self.closure(set, lexer)?;
        let mut left_out = Vec::new();
        for lexeme in lexer.late_lexemes(lex) {
            let mut is_taken = false;
            let scans = if lexer.leaves_out(lexeme, text) { &[] } else { closure.scans_of(lexeme) };
            for scan in scans {
                is_taken = match scan.recorded {
                    Some(edge) => self.takes(scan.param, edge, text, lexer)?,
                    None => true,
                };
                if is_taken {
                    break;
                }
            }
            if !is_taken {
                left_out.push(lexeme);
            }
        }
        for (lexeme, left) in lexer.near_lexemes(lex) {
            let mut goes_on = false;
            for scan in closure.scans_of(lexeme) {
                goes_on = match scan.recorded {
                    Some(edge) => self.goes_on_behind(scan.param, edge, left, text, lexer)?,
                    None => true,
                };
                if goes_on {
                    break;
                }
            }
            if !goes_on {
                left_out.push(lexeme);
            }
        }
        if left_out.is_empty() { Ok(lex) } else { lexer.retain(lex, |lexeme| !left_out.contains(&lexeme)) }
    }

    /// Whether what a recorded edge leaves out is looked at late.
    pub(super) fn leaves_out_late(&mut self, param: ParamId, edge: u32, lexer: &mut Lexer) -> Result<bool, Fault> {
        let edges = self.edges(self.before(param), lexer)?;
        Ok(matches!(edges[edge as usize].recorded(), (_, Without::Late(_))))
    }

    /// The texts that a counted lexeme which begins in a set leaves out by one of its edges, as a trie: what is used up by all is
    /// used up by that. No text if that leaves out nothing; `None` if it is forgotten what it does.
    pub fn counted_texts(&mut self, set: SetId, lexeme: LexemeId, lexer: &mut Lexer) -> Result<Option<TrieId>, Fault> {
        let closure = self.closure(set, lexer)?;
        for scan in closure.scans_of(lexeme) {
            let Some(edge) = scan.recorded else { break };
            let state = self.before(scan.param);
            let edges = self.edges(state, lexer)?;
            match edges[edge as usize].recorded() {
                (_, Without::Late(exceptions)) if exceptions.is_untold() => return Ok(None),
                (_, Without::Late(exceptions)) => {
                    let automaton = self.automata.states[state].automaton;
                    return Ok(Some(self.exceptions(automaton, exceptions, lexer)?.texts));
                }
                // The lexer knows what that leaves out.
                (_, Without::Rest(_)) => {}
            }
        }
        Ok(Some(NO_TEXTS))
    }

    /// Whether a recorded edge takes some text that begins so; `left` is left of its lexeme.
    fn goes_on_behind(
        &mut self,
        param: ParamId,
        edge: u32,
        left: Expr,
        text: &[u8],
        lexer: &mut Lexer,
    ) -> Result<bool, Fault> {
        let state = self.before(param);
        let edges = self.edges(state, lexer)?;
        match edges[edge as usize].recorded() {
            (_, Without::Rest(rest)) => lexer.begins_with(*rest, text),
            (_, Without::Late(exceptions)) => {
                let automaton = self.automata.states[state].automaton;
                Ok(!self.are_all(automaton, exceptions, left, text, lexer)?)
            }
        }
    }

    /// The state behind a recorded edge that has read a text.
    pub(super) fn behind_recorded(
        &mut self,
        param: ParamId,
        edge: u32,
        text: &[u8],
        lexer: &mut Lexer,
    ) -> Result<StateId, Fault> {
        let state = self.before(param);
        let label = self.edges(state, lexer)?[edge as usize].label;
        self.next_state(state, label, text)
    }

    /// What is behind a recorded edge if it is the same for all texts but for some.
    pub(super) fn behind_any(&mut self, param: ParamId, edge: u32, lexer: &mut Lexer) -> Result<Option<Behind>, Fault> {
        let id = self.before(param);
        let label = self.edges(id, lexer)?[edge as usize].label;
        if let Some(known) = self.automata.untold.get(&(id, label)) {
            return Ok(known.clone());
        }
        let Entry { automaton, state, .. } = &self.automata.states[id];
        let automaton = *automaton;
        let behind = match self.automaton(automaton).next_untold(state, label) {
            Some(Untold { state, but_for }) => Some(Behind { state: self.state(automaton, state)?, but_for }),
            None => None,
        };
        self.automata.untold.insert((id, label), behind.clone());
        Ok(behind)
    }

    /// Whether a text that a state's edge has read is among these.
    pub(super) fn is_among(&self, param: ParamId, texts: &Exceptions, text: &[u8]) -> bool {
        let automaton = || self.automaton(self.automata.states[self.before(param)].automaton);
        !texts.is_empty() && texts.contains(&automaton().exception(text))
    }

    /// The state that looks ahead for a state: its untold one, unless that does not know its own edges.
    pub(super) fn untold_state(&mut self, id: StateId, lexer: &mut Lexer) -> Result<StateId, Fault> {
        let Entry { automaton, state, untold, .. } = &self.automata.states[id];
        if let Some(known) = *untold {
            return Ok(known);
        }
        let automaton = *automaton;
        let untold = self.automaton(automaton).untold(state);
        let mut found = self.state(automaton, untold)?;
        if found != id && !self.knows_edges(found, lexer)? {
            found = id;
        }
        self.automata.states[id].untold = Some(found);
        Ok(found)
    }

    fn knows_edges(&mut self, id: StateId, lexer: &mut Lexer) -> Result<bool, Fault> {
        let is_untold = |edge: &LiveEdge| matches!(&edge.symbol, LiveSymbol::Recorded(_, Without::Late(exceptions)) if exceptions.is_untold());
        match self.edges(id, lexer) {
            Ok(edges) => Ok(!edges.iter().any(is_untold)),
            Err(Fault::Untold) => Ok(false),
            Err(fault) => Err(fault),
        }
    }

    /// The parameter behind what an item has scanned, `text`: its own, or by edge number `recorded` of its state.
    /// `None` if that edge leaves out the text.
    pub fn scanned(
        &mut self,
        param: ParamId,
        recorded: Option<u32>,
        text: &[u8],
        lexer: &mut Lexer,
    ) -> Result<Option<ParamId>, Fault> {
        let Some(edge) = recorded else { return Ok(Some(param)) };
        // The lexer has read the lexeme for all edges that have it.
        if !self.takes(param, edge, text, lexer)? {
            return Ok(None);
        }
        let next = self.behind_recorded(param, edge, text, lexer)?;
        Ok(Some(self.param_in(param, next)))
    }

    /// Whether something that begins with `byte` may follow recorded lexemes that end; true if that is not known. Nothing is
    /// kept: a walk over the trie asks this of every text that some token would end the lexeme with, and nearly all of
    /// them are followed by what cannot follow.
    pub fn may_follow(
        &mut self,
        set: SetId,
        ended: LexemeSetId,
        text: &[u8],
        byte: u8,
        lexer: &mut Lexer,
    ) -> Result<bool, Fault> {
        if !self.ahead.is_on || self.knows_ahead(set, ended) {
            return Ok(true);
        }
        let closure = self.closure(set, lexer)?;
        for lexeme in lexer.lexemes(ended).to_vec() {
            if self.cfg.lexemes[lexeme].ignored_by.is_some() {
                return Ok(true);
            }
            for scan in closure.scans_of(lexeme) {
                let Some(edge) = scan.recorded else { return Ok(true) };
                if self.edge_may_be_followed(scan.param, edge, text, byte, lexer)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn edge_may_be_followed(
        &mut self,
        param: ParamId,
        edge: u32,
        text: &[u8],
        byte: u8,
        lexer: &mut Lexer,
    ) -> Result<bool, Fault> {
        let behind = self.behind_any(param, edge, lexer)?;
        if behind.is_some_and(|behind| !self.is_among(param, &behind.but_for, text)) {
            return Ok(true);
        }
        let state = self.before(param);
        let label = self.edges(state, lexer)?[edge as usize].label;
        let Entry { automaton, state, .. } = &self.automata.states[state];
        let cfg = self.cfg.clone();
        let tables = cfg.nonterminals[*automaton].automaton.as_ref().expect("an automaton");
        let asked = cfg.automaton(*automaton).expect("an automaton");
        let next = asked.next(state, label, text)?;
        if asked.is_final(&next) || !cfg.ignored[tables.grammar].is_empty() {
            return Ok(true);
        }
        for edge in asked.edges(&next)? {
            let lexeme = match &edge.symbol {
                EdgeSymbol::Rule(_) => return Ok(true),
                EdgeSymbol::Terminal(terminal) => tables.lexemes.get(terminal),
                EdgeSymbol::Recorded(terminal, _) => tables.recorded.get(terminal),
            };
            if let Some(&lexeme) = lexeme {
                let start = lexer.start(&[lexeme])?;
                if lexer.next(start, byte)? != DEAD {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// What exceptions stand for. Cost: what is new beside a set that was asked for not long ago.
    fn exceptions(
        &mut self,
        automaton: NonterminalId,
        exceptions: &Exceptions,
        lexer: &mut Lexer,
    ) -> Result<Lowered, Fault> {
        if exceptions.is_empty() {
            return Ok(Lowered { texts: NO_TEXTS, others: Expr::NOTHING });
        }
        let is_it = |recent: &&Recent| recent.automaton == automaton && recent.exceptions == *exceptions;
        if let Some(known) = self.automata.recent.iter().rev().find(is_it) {
            return Ok(known.lowered.clone());
        }
        // The largest one that is not larger is most likely the one before.
        let mut order: Vec<usize> = (0..self.automata.recent.len()).collect();
        order.retain(|&index| {
            let recent = &self.automata.recent[index];
            recent.automaton == automaton && recent.exceptions.len() <= exceptions.len()
        });
        let base = order.into_iter().max_by_key(|&index| self.automata.recent[index].exceptions.len());
        let mut lowered = Lowered { texts: NO_TEXTS, others: Expr::NOTHING };
        let mut from = Exceptions::default();
        let mut replaced = None;
        if let Some(index) = base {
            let recent = &self.automata.recent[index];
            let most = exceptions.len() - recent.exceptions.len();
            // Only one that is contained will do: what two exceptions stand for may overlap.
            let added = recent.exceptions.changes_to(exceptions).take(most + 1).filter(|&(_, is_new)| is_new).count();
            let is_contained =
                recent.exceptions.changes_to(exceptions).take(most + 1).count() == added && added == most;
            if is_contained {
                (from, lowered, replaced) = (recent.exceptions.clone(), recent.lowered.clone(), Some(index));
            }
        }
        let added: Vec<&[u8]> = from.changes_to(exceptions).map(|(text, _)| text).collect();
        for &exception in &added {
            self.except(automaton, exception, &mut lowered, lexer)?;
        }
        let recent = Recent { automaton, exceptions: exceptions.clone(), lowered: lowered.clone() };
        match replaced {
            Some(index) => _ = self.automata.recent.remove(index),
            None if self.automata.recent.len() >= RECENT_EXCEPTIONS => _ = self.automata.recent.remove(0),
            None => {}
        }
        self.automata.recent.push(recent);
        Ok(lowered)
    }

    fn except(
        &self,
        automaton: NonterminalId,
        exception: &[u8],
        lowered: &mut Lowered,
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        let mut regexes = RegexSet::new();
        let regex = self.automaton(automaton).excepted(exception, &mut regexes);
        let alternatives = alternatives(&regexes, regex);
        match alternatives {
            Some(texts) => texts.into_iter().for_each(|text| lowered.texts = lexer.tries.with(lowered.texts, text)),
            None => lowered.others = lexer.arena().lower_beside(&regexes, regex, lowered.others)?,
        }
        Ok(())
    }
}

/// The texts of a regex that is a list of them.
fn alternatives(regexes: &RegexSet, regex: RegexId) -> Option<Vec<&[u8]>> {
    let literal = |id: RegexId| match regexes.node(id) {
        RegexNode::Literal(text) => Some(&text[..]),
        _ => None,
    };
    match regexes.node(regex) {
        RegexNode::Or(parts) => parts.iter().copied().map(literal).collect(),
        _ => literal(regex).map(|text| vec![text]),
    }
}
