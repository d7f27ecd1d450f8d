//! What a set expects: prediction.

use larkspur_grammar::GrammarId;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::automata::{LiveSymbol, StateId};
use super::sets::{Item, Mark, Param, ParamId, SetId, Sets};
use crate::cfg::{Cfg, DOT_ACCEPT, DOT_END, DotId, LexemeId, LoweredAutomaton, NonterminalId, Symbol, TokenLetterId};
use crate::error::Fault;
use crate::lexer::states::{LexStateId, Lexer, Rest};

/// Whose item waits: one of the set's own, by its place there, or one of a predicted symbol, whose continuation is made when
/// it is needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Owner {
    Kernel(u32),
    Predicted(u32),
}

/// An item that waits for a lexeme.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scan {
    pub lexeme: LexemeId,
    /// The dot after the lexeme.
    pub next: DotId,
    pub owner: Owner,
    /// The item's parameter after the lexeme, or before it if that is `recorded`.
    pub param: ParamId,
    /// Number of the edge whose next state the lexeme's text decides.
    pub recorded: Option<u32>,
}

/// An item that waits for a token letter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TokenScan {
    pub letter: TokenLetterId,
    pub next: DotId,
    pub owner: Owner,
    pub param: ParamId,
}

/// An item that waits for a nonterminal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Waiter {
    /// The dot after the nonterminal.
    pub next: DotId,
    pub owner: Owner,
    pub param: ParamId,
}

/// All that follows from a set's kernel by prediction. It does not know what follows the items: sets that differ in that only
/// have the same closure.
#[derive(Debug)]
pub(crate) struct Closure {
    /// Predicted nonterminals with their parameters.
    pub nodes: Box<[(NonterminalId, ParamId)]>,
    /// What waits for them, node after node.
    waiters: Box<[Waiter]>,
    /// Where those of each node end. Parallel to `nodes`.
    waiter_ends: Box<[u32]>,
    /// Sorted by lexeme.
    scans: Box<[Scan]>,
    pub token_scans: Box<[TokenScan]>,
    /// The lexer state in which all that the set expects is whole, ignored text included.
    pub start: LexStateId,
    /// The same without ignored text.
    pub start_unignored: LexStateId,
    pub accepts: bool,
    /// Whether ignored text may stand here.
    pub has_ignored: bool,
}

impl Closure {
    /// What waits for a predicted nonterminal, by its number.
    pub fn waiters(&self, node: u32) -> &[Waiter] {
        let start = if node == 0 { 0 } else { self.waiter_ends[node as usize - 1] };
        &self.waiters[start as usize..self.waiter_ends[node as usize] as usize]
    }

    /// The items that wait for a lexeme.
    pub fn scans_of(&self, lexeme: LexemeId) -> &[Scan] {
        let from = self.scans.partition_point(|scan| scan.lexeme < lexeme);
        let len = self.scans[from..].partition_point(|scan| scan.lexeme == lexeme);
        &self.scans[from..from + len]
    }

    /// The items that wait for lexemes.
    pub fn scans(&self) -> &[Scan] {
        &self.scans
    }

    /// Bytes that it takes, roughly.
    pub fn bytes(&self) -> usize {
        let waiters = size_of_val(&*self.waiters) + size_of_val(&*self.waiter_ends);
        let scans = size_of_val(&*self.scans) + size_of_val(&*self.token_scans);
        size_of::<Self>() + size_of_val(&*self.nodes) + waiters + scans
    }

    pub(super) fn build(sets: &mut Sets, id: SetId, lexer: &mut Lexer) -> Result<Self, Fault> {
        let cfg = sets.cfg.clone();
        let mut room = std::mem::take(&mut sets.room);
        room.clear();
        let mut builder = Builder { cfg: &cfg, sets, room, accepts: false, token: 0, expired: Vec::new(), work: 0 };
        let built = builder.fill(id, lexer);
        let Builder { sets, mut room, accepts, work, .. } = builder;
        sets.work += work;
        let closure = built.and_then(|grammars| Self::of(&cfg, &mut room, (accepts, &grammars), lexer));
        if room.waiting.capacity().max(room.scans.capacity()) <= ROOM_KEPT_MAX {
            sets.room = room;
        }
        closure
    }

    /// Of what was found.
    fn of(
        cfg: &Cfg,
        Room { nodes, waiting, scans, recorded, token_scans, .. }: &mut Room,
        (accepts, grammars): (bool, &[GrammarId]),
        lexer: &mut Lexer,
    ) -> Result<Self, Fault> {
        waiting.sort_by_key(|&(node, _)| node);
        waiting.dedup();
        let waiter_ends =
            (0..nodes.len() as u32).map(|node| waiting.partition_point(|&(of, _)| of <= node) as u32).collect();
        let waiters = waiting.iter().map(|&(_, waiter)| waiter).collect();
        scans.sort_by_key(|scan| scan.lexeme);
        let entries = recorded;
        let unrecorded = scans.iter().filter(|scan| scan.recorded.is_none());
        entries.extend(unrecorded.map(|scan| (scan.lexeme, lexer.whole(scan.lexeme))));
        let start_unignored = lexer.start_with(entries)?;
        let count = entries.len();
        let ignored = grammars.iter().flat_map(|&grammar| cfg.ignored[grammar].iter());
        entries.extend(ignored.map(|&lexeme| (lexeme, lexer.whole(lexeme))));
        let has_ignored = entries.len() > count;
        let start = if has_ignored { lexer.start_with(entries)? } else { start_unignored };
        Ok(Self {
            nodes: nodes.as_slice().into(),
            waiters,
            waiter_ends,
            scans: scans.as_slice().into(),
            token_scans: token_scans.as_slice().into(),
            start,
            start_unignored,
            accepts,
            has_ignored,
        })
    }
}

/// Past so many items the room is not kept: a table takes as long to be cleared as it is large.
const ROOM_KEPT_MAX: usize = 4_096;

/// What a closure is made in.
#[derive(Default, Debug)]
pub(super) struct Room {
    nodes: Vec<(NonterminalId, ParamId)>,
    node_ids: FxHashMap<(NonterminalId, ParamId), u32>,
    /// What waits for which node.
    waiting: Vec<(u32, Waiter)>,
    scans: Vec<Scan>,
    /// Recorded lexemes without their exceptions.
    recorded: Vec<(LexemeId, Rest)>,
    token_scans: Vec<TokenScan>,
}

impl Room {
    fn clear(&mut self) {
        let Self { nodes, node_ids, waiting, scans, recorded, token_scans } = self;
        nodes.clear();
        node_ids.clear();
        waiting.clear();
        scans.clear();
        recorded.clear();
        token_scans.clear();
    }
}

/// Whether ignored text may stand before what the item waits for.
pub(crate) fn sets_ignored(cfg: &Cfg, item: &Item) -> bool {
    item.mark == Mark::NONE && (item.dot == DOT_ACCEPT || cfg.reads[item.dot.0 as usize])
}

struct Builder<'a> {
    cfg: &'a Cfg,
    sets: &'a mut Sets,
    room: Room,
    accepts: bool,
    /// Number of the token in which scopes predicted here begin.
    token: u32,
    /// Scopes that have ended here.
    expired: Vec<NonterminalId>,
    work: usize,
}

impl Builder<'_> {
    /// Files what a set expects. The grammars whose ignored text may stand here.
    fn fill(&mut self, id: SetId, lexer: &mut Lexer) -> Result<SmallVec<[GrammarId; 4]>, Fault> {
        let mut grammars: SmallVec<[GrammarId; 4]> = SmallVec::new();
        let items: SmallVec<[Item; 8]> = self.sets.items(id).into();
        for item in &items {
            self.token = item.mark.as_time().unwrap_or(self.token);
            self.expired.extend(item.mark.as_expired());
        }
        for (place, item) in (0..).zip(&items).filter(|(_, item)| item.mark.is_item()) {
            self.expect(item.dot, Owner::Kernel(place), item.param)?;
            if let Some(grammar) = self.cfg.dots[item.dot].grammar
                && sets_ignored(self.cfg, item)
                && (item.dot != DOT_ACCEPT || self.cfg.ignored_at_end)
                && !grammars.contains(&grammar)
            {
                grammars.push(grammar);
            }
        }
        let mut next = 0;
        while next < self.room.nodes.len() {
            self.predict(next as u32, lexer)?;
            next += 1;
        }
        Ok(grammars)
    }

    /// Files an item under the symbol that it waits for.
    fn expect(&mut self, dot: DotId, owner: Owner, param: ParamId) -> Result<(), Fault> {
        self.work += 1;
        self.sets.check_work(self.work)?;
        let info = self.cfg.dots[dot];
        let next = info.next;
        match info.symbol {
            Symbol::Lexeme(lexeme) => self.room.scans.push(Scan { lexeme, next, owner, param, recorded: None }),
            Symbol::Tokens(letter) => self.room.token_scans.push(TokenScan { letter, next, owner, param }),
            Symbol::Nothing => self.accepts |= dot == DOT_ACCEPT,
            Symbol::Nonterminal(id) => {
                if self.expired.contains(&id) {
                    return Ok(());
                }
                let passed = self.sets.child_param(dot, param, self.token)?;
                self.wait(id, passed, Waiter { next, owner, param });
            }
        }
        Ok(())
    }

    /// Something waits for a predicted symbol.
    fn wait(&mut self, id: NonterminalId, passed: ParamId, waiter: Waiter) {
        let Room { nodes, node_ids, .. } = &mut self.room;
        let node = *node_ids.entry((id, passed)).or_insert_with(|| {
            nodes.push((id, passed));
            nodes.len() as u32 - 1
        });
        self.room.waiting.push((node, waiter));
    }

    fn predict(&mut self, node: u32, lexer: &mut Lexer) -> Result<(), Fault> {
        let (id, param) = self.room.nodes[node as usize];
        let Param { value, state, .. } = self.sets.param_value(param);
        if let (Some(automaton), Some(state)) = (&self.cfg.nonterminals[id].automaton, state) {
            return self.predict_edges(automaton, state, node, lexer);
        }
        for &alternative in &self.cfg.nonterminals[id].alternatives {
            if !self.cfg.holds(alternative, value) || !self.sets.is_productive(alternative.dot, value)? {
                continue;
            }
            let mut dot = alternative.dot;
            while dot != DOT_END {
                if self.sets.symbol_is_productive(dot, value)? {
                    self.expect(dot, Owner::Predicted(node), param)?;
                }
                if !self.sets.can_skip(dot, param)? {
                    break;
                }
                dot = self.cfg.dots[dot].next;
            }
        }
        Ok(())
    }

    /// The edges that leave a state of an automaton.
    fn predict_edges(
        &mut self,
        automaton: &LoweredAutomaton,
        state: StateId,
        node: u32,
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        let (next, owner, before) = (automaton.tail, Owner::Predicted(node), self.room.nodes[node as usize].1);
        for (number, edge) in self.sets.edges(state, lexer)?.iter().enumerate() {
            self.work += 1;
            self.sets.check_work(self.work)?;
            match edge.symbol {
                LiveSymbol::Lexeme(lexeme, state) => {
                    let param = self.sets.param_in(before, state);
                    self.room.scans.push(Scan { lexeme, next, owner, param, recorded: None });
                }
                LiveSymbol::Recorded(lexeme, ref without) => {
                    self.room.recorded.push((lexeme, without.rest(lexeme, lexer)));
                    self.room.scans.push(Scan { lexeme, next, owner, param: before, recorded: Some(number as u32) });
                }
                LiveSymbol::Rule(id, state) => {
                    if !self.expired.contains(&id) {
                        let param = self.sets.param_in(before, state);
                        let value = self.sets.param_value(before).value;
                        let passed = self.sets.passed(id, value, before, self.token);
                        self.wait(id, passed, Waiter { next, owner, param });
                    }
                }
            }
        }
        Ok(())
    }
}
