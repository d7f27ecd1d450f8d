//! The table of Earley sets, their interning, and the step from set to set.

use std::hash::Hash;
use std::sync::Arc;

use larkspur_grammar::hashing::hash_in;
use larkspur_grammar::{GrammarId, IndexVec, Limits, define_id};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use smallvec::SmallVec;

use super::ahead::Ahead;
use super::automata::{Automata, StateId};
use super::closure::{Closure, Room, sets_ignored};
use super::items::ItemTable;
use crate::cfg::params::ParamFacts;
use crate::cfg::{Cfg, DOT_ACCEPT, DOT_END, DotId, LexemeId, NonterminalId, Symbol, TokenLetterId};
use crate::error::Fault;
use crate::growing::{GrowingIds, GrowingMap, GrowingTable};
use crate::lexer::states::{LexStateId, LexemeSetId, Lexer};

define_id! {
    /// An Earley set, or a continuation, which is the same.
    pub(crate) struct SetId = "S";
}
define_id! {
    /// An interned parameter of an item.
    pub(crate) struct ParamId = "p";
}

/// No closure was built yet.
const UNKNOWN: LexStateId = LexStateId(u32::MAX);

/// Bytes of an entry in the memo of scans by text besides the text, roughly.
const RECORDED_SCAN_BYTES: usize = 64;

/// The part of `Limits::earley_bytes_max` that the memo of scans by text may take before it is dropped: one in so many.
const RECORDED_SCANS_SHARE: usize = 16;

/// The empty set: the text is rejected.
pub(crate) const NO_SET: SetId = SetId(0);

/// A position in a rule, what follows when the rule is finished, and the rule's parameter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Item {
    pub dot: DotId,
    /// The continuation; [`NO_SET`] for the start item.
    pub continuation: SetId,
    pub param: ParamId,
    /// Facts about the place rather than the rule.
    pub mark: Mark,
}

const _: () = assert!(size_of::<Item>() == 16);

/// What an item is besides a dotted rule; the two upper bits tell, the rest is a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Mark(u32);

impl Mark {
    /// A dotted rule.
    pub const NONE: Mark = Mark(0);
    /// A dotted rule before which ignored text has ended and may not start again.
    pub const AFTER_IGNORED: Mark = Mark(1);
    const TIME: u32 = 1 << 30;
    const EXPIRED: u32 = 2 << 30;
    const NUMBER: u32 = (1 << 30) - 1;

    /// Not an item: scopes that are predicted here began in this token.
    pub fn time(token: u32) -> Mark {
        Mark(Self::TIME | token & Self::NUMBER)
    }
    /// Not an item: this scope has ended here and is not predicted again.
    pub fn expired(id: NonterminalId) -> Mark {
        Mark(Self::EXPIRED | id.0 & Self::NUMBER)
    }
    /// Whether the item is a dotted rule.
    pub fn is_item(self) -> bool {
        self.0 < Self::TIME
    }
    pub fn as_time(self) -> Option<u32> {
        (self.0 & !Self::NUMBER == Self::TIME).then_some(self.0 & Self::NUMBER)
    }
    pub fn as_expired(self) -> Option<NonterminalId> {
        (self.0 & !Self::NUMBER == Self::EXPIRED).then_some(NonterminalId(self.0 & Self::NUMBER))
    }
}

/// What an item's parameter stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Param {
    /// The value of the dialect's parametric rules.
    pub value: u64,
    /// The innermost scope with a budget that the item is in, as an index into [`Sets::scopes`] plus one; 0 for none.
    pub scope: u32,
    /// The state of an automaton.
    pub state: Option<StateId>,
}

/// A scope with a budget that was entered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Scope {
    /// The scope around it, plus one; 0 for none. Older than this one.
    pub parent: u32,
    /// The rule with the budget.
    pub rule: NonterminalId,
    /// Number of the token in which it was entered.
    pub token: u32,
}

/// Sets by the text of the lexemes that lead to them.
type ByText = FxHashMap<Box<[u8]>, SetId>;

/// All Earley sets of one grammar and epoch.
#[derive(Debug)]
pub(crate) struct Sets {
    pub cfg: Arc<Cfg>,
    pub limits: Limits,
    /// Sorted within a set.
    items: ItemTable,
    /// By their items, which are cold memory mostly.
    ids: GrowingIds<SetId>,
    /// Sets whose contents a set was made of: it holds all that they hold. Sparse.
    included: GrowingMap<SetId, Box<[SetId]>>,
    closures: IndexVec<SetId, Option<Arc<Closure>>>,
    /// The first set with each closure, by its items without what follows them.
    closure_ids: GrowingIds<SetId>,
    /// The lexer state that each set starts, or [`UNKNOWN`]. Parallel to `closures`.
    start_states: IndexVec<SetId, LexStateId>,
    /// Items that were touched to build each set. Parallel to `closures`.
    touched: IndexVec<SetId, u32>,
    /// Sets interned together because they refer to each other, by the hash of their contents with relative references.
    pub(super) families: GrowingTable<(u64, Arc<[SetId]>)>,
    /// The family of a set that has one. Sparse.
    pub(super) family_of: GrowingMap<SetId, Arc<[SetId]>>,
    scans: GrowingMap<(SetId, LexemeSetId), SetId>,
    /// The same where the text of a lexeme is recorded, by text.
    recorded_scans: FxHashMap<(SetId, LexemeSetId), ByText>,
    /// Bytes of `recorded_scans`, roughly.
    recorded_bytes: usize,
    /// Continuations of the symbols predicted in a set, by their number in its closure.
    pub(super) gotos: GrowingMap<(SetId, u32), SetId>,
    unions: GrowingMap<(SetId, SetId), SetId>,
    params: IndexVec<ParamId, Param>,
    param_ids: GrowingMap<Param, ParamId>,
    scopes: Vec<Scope>,
    scope_ids: GrowingMap<Scope, u32>,
    pub facts: ParamFacts,
    pub(super) automata: Automata,
    pub ahead: Ahead,
    /// What closures are made in, kept for its room.
    pub(super) room: Room,
    /// Number of the token that is being read, for scopes; the matcher sets it.
    pub token_now: u32,
    /// Items touched for the question that is being asked, whichever sets it takes; who asks it sets it to 0.
    pub work: usize,
    /// Bytes of all closures, roughly.
    closure_bytes: usize,
    scan_hits: u64,
    scan_misses: u64,
}

/// A set being built: sorted and interned by [`Sets::intern`].
#[derive(Default, Debug)]
pub(crate) struct Kernel {
    pub items: SmallVec<[Item; 4]>,
    /// Continuations of finished items, whose contents are not yet among `items`.
    finished: SmallVec<[SetId; 4]>,
    /// Sets whose contents are among `items`.
    pub(super) included: SmallVec<[SetId; 4]>,
}

impl Kernel {
    pub fn of(items: Vec<Item>) -> Self {
        Self { items: items.into(), ..Self::default() }
    }
    pub fn append(&mut self, other: Kernel) {
        self.items.extend(other.items);
        self.finished.extend(other.finished);
        self.included.extend(other.included);
    }
}

impl Sets {
    pub fn new(cfg: Arc<Cfg>, limits: &Limits) -> Self {
        let mut sets = Self {
            cfg,
            limits: limits.clone(),
            items: ItemTable::default(),
            ids: GrowingIds::default(),
            included: GrowingMap::default(),
            room: Room::default(),
            closures: IndexVec::new(),
            closure_ids: GrowingIds::default(),
            start_states: IndexVec::new(),
            touched: IndexVec::new(),
            families: GrowingTable::default(),
            family_of: GrowingMap::default(),
            scans: GrowingMap::default(),
            recorded_scans: FxHashMap::default(),
            recorded_bytes: 0,
            gotos: GrowingMap::default(),
            unions: GrowingMap::default(),
            params: IndexVec::new(),
            param_ids: GrowingMap::default(),
            scopes: Vec::new(),
            scope_ids: GrowingMap::default(),
            facts: ParamFacts::default(),
            automata: Automata::default(),
            ahead: Ahead::default(),
            token_now: 0,
            work: 0,
            closure_bytes: 0,
            scan_hits: 0,
            scan_misses: 0,
        };
        sets.param(Param::default());
        sets.push(&[]);
        sets
    }

    /// The set that a text starts in.
    pub fn start(&mut self, lexer: &mut Lexer) -> Result<SetId, Fault> {
        let mut kernel = Kernel::default();
        let start = self.cfg.start;
        self.add(&mut kernel, start, NO_SET, ParamId(0), Mark::NONE, lexer)?;
        self.close_kernel(kernel)
    }

    pub fn len(&self) -> usize {
        self.closures.len()
    }

    pub fn item_count(&self) -> usize {
        self.items.len()
    }

    /// Bytes of sets, closures and memos, roughly.
    pub fn bytes(&self) -> usize {
        self.closure_bytes
            + self.items.bytes()
            + (self.scans.len() + self.gotos.len() + self.unions.len()) * 16
            + (self.included.len() + self.families.len() + self.family_of.len()) * 32
            + (self.params.len() + self.scopes.len()) * 64
            + self.recorded_bytes
            + self.automata.bytes()
            + self.ahead.bytes()
    }

    /// Hits and misses of the memo of scans.
    pub fn scan_counts(&self) -> (u64, u64) {
        (self.scan_hits, self.scan_misses)
    }

    pub fn items(&self, id: SetId) -> &[Item] {
        self.items.get(id)
    }

    /// Items that were touched to build a set and those that follow its items, what stands there several times included.
    pub fn touched(&self, id: SetId) -> usize {
        let of = |id: SetId| self.touched.get(id).map_or(0, |&touched| touched as usize);
        of(id) + self.items(id).iter().map(|item| of(item.continuation)).sum::<usize>()
    }

    pub fn param_value(&self, id: ParamId) -> Param {
        self.params[id]
    }

    pub fn param(&mut self, param: Param) -> ParamId {
        self.param_ids.get_or_insert_with(param, || self.params.push(param))
    }

    /// The parameter of a symbol that an item with parameter `caller` predicts in the token `token`.
    pub fn passed(&mut self, id: NonterminalId, value: u64, caller: ParamId, token: u32) -> ParamId {
        let mut scope = self.params[caller].scope;
        // A scope within itself that begins with the same token ends with it: it is the same.
        let is_entered = self.scopes_around(scope).any(|around| (around.rule, around.token) == (id, token));
        if self.cfg.nonterminals[id].max_tokens.is_some() && !is_entered {
            scope = self.enter_scope(Scope { parent: scope, rule: id, token });
        }
        self.param(Param { value, scope, state: None })
    }

    pub fn scope(&self, scope: u32) -> Scope {
        self.scopes[scope as usize - 1]
    }

    /// The scopes around a place, innermost first, beginning with `scope` itself.
    pub fn scopes_around(&self, mut scope: u32) -> impl Iterator<Item = Scope> + '_ {
        std::iter::from_fn(move || {
            let around = *self.scopes.get(scope.checked_sub(1)? as usize)?;
            scope = around.parent;
            Some(around)
        })
    }

    /// The scope's number, as [`Param::scope`] has it.
    pub fn enter_scope(&mut self, scope: Scope) -> u32 {
        self.scope_ids.get_or_insert_with(scope, || {
            self.scopes.push(scope);
            self.scopes.len() as u32
        })
    }

    /// The number of the token in which scopes that the set predicts begin.
    pub fn time(&self, id: SetId) -> Option<u32> {
        self.items(id).iter().find_map(|item| item.mark.as_time())
    }

    /// Whether the text may end in the set.
    pub fn accepts(&self, id: SetId) -> bool {
        self.items(id).iter().any(|item| item.dot == DOT_ACCEPT && item.mark.is_item())
    }

    /// Adds an item to a kernel: finished ones are replaced by what they continue with (see [`Sets::include`]), symbols
    /// that can be empty are stepped over.
    pub fn add(
        &mut self,
        kernel: &mut Kernel,
        mut dot: DotId,
        continuation: SetId,
        param: ParamId,
        mark: Mark,
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        loop {
            if dot == DOT_END {
                kernel.finished.push(continuation);
                return self.check_work(kernel.finished.len());
            }
            if !self.is_over(dot, param, lexer)? {
                kernel.items.push(Item { dot, continuation, param, mark });
            }
            if !self.can_skip(dot, param)? {
                return self.check_work(kernel.items.len());
            }
            dot = self.cfg.dots[dot].next;
        }
    }

    /// Copies the contents of the continuations of a kernel's finished items.
    ///
    /// Of nested rules that end together the continuations hold each other's contents (a dangling `else`, a thousand
    /// deep): those that a newer one was made of are not copied once more.
    pub fn include(&mut self, kernel: &mut Kernel) -> Result<(), Fault> {
        let mut finished = std::mem::take(&mut kernel.finished);
        finished.sort_unstable_by(|a, b| b.cmp(a));
        finished.dedup();
        let mut copied: FxHashSet<SetId> = FxHashSet::default();
        for &id in &finished {
            if copied.contains(&id) {
                continue;
            }
            kernel.items.extend_from_slice(self.items(id));
            kernel.included.push(id);
            self.check_work(kernel.items.len())?;
            let mut agenda = if finished.len() == 1 { vec![] } else { vec![id] };
            while let Some(id) = agenda.pop() {
                let inner = self.included.get(&id).into_iter().flatten();
                agenda.extend(inner.copied().filter(|&inner| copied.insert(inner)));
            }
        }
        Ok(())
    }

    /// Remembers that a set holds all that some others hold.
    pub(super) fn note_included(&mut self, id: SetId, included: &[SetId]) {
        if !included.is_empty() && !self.included.contains_key(&id) {
            self.included.insert(id, included.into());
        }
    }

    /// Checks the work for a set, of which nothing is counted yet.
    pub fn check_work(&self, work: usize) -> Result<(), Fault> {
        let Limits { earley_set_work_max, earley_work_max, .. } = self.limits;
        if work > earley_set_work_max {
            return Err(Fault::exceeded("earley_set_work_max", earley_set_work_max as u64));
        }
        if self.work + work > earley_work_max {
            return Err(Fault::exceeded("earley_work_max", earley_work_max as u64));
        }
        Ok(())
    }

    /// Whether the symbol after the dot can be left out.
    pub fn can_skip(&mut self, dot: DotId, param: ParamId) -> Result<bool, Fault> {
        if dot == DOT_ACCEPT {
            return Ok(false);
        }
        let info = self.cfg.dots[dot];
        match info.symbol {
            _ if info.optional => Ok(true),
            Symbol::Nonterminal(id) => {
                if let Some(may_skip) = self.may_skip_automaton(dot, param)? {
                    return Ok(may_skip);
                }
                let value = info.arg.eval(self.params[param].value);
                let cfg = self.cfg.clone();
                self.facts.nullable(&cfg, id, value, self.limits.param_fuel)
            }
            _ => Ok(false),
        }
    }

    /// Whether what stands from the dot on derives a text, for a rule's parameter.
    pub fn is_productive(&mut self, mut dot: DotId, value: u64) -> Result<bool, Fault> {
        if !self.cfg.has_conditions {
            return Ok(true);
        }
        while dot != DOT_END {
            if !self.cfg.dots[dot].optional && !self.symbol_is_productive(dot, value)? {
                return Ok(false);
            }
            dot = self.cfg.dots[dot].next;
        }
        Ok(true)
    }
    /// Whether the symbol after the dot does.
    pub fn symbol_is_productive(&mut self, dot: DotId, value: u64) -> Result<bool, Fault> {
        match self.cfg.dots[dot].symbol {
            Symbol::Nonterminal(id) if self.cfg.has_conditions && self.cfg.nonterminals[id].automaton.is_none() => {
                let passed = self.cfg.dots[dot].arg.eval(value);
                self.facts.productive(&self.cfg, id, passed, self.limits.param_fuel)
            }
            _ => Ok(true),
        }
    }

    /// The union of two sets.
    pub fn union(&mut self, a: SetId, b: SetId) -> Result<SetId, Fault> {
        let key = (a.min(b), a.max(b));
        if key.0 == NO_SET || key.0 == key.1 {
            return Ok(key.1);
        }
        if let Some(&known) = self.unions.get(&key) {
            return Ok(known);
        }
        let items = [self.items(a), self.items(b)].concat();
        let union = self.intern(Kernel::of(items))?;
        self.unions.insert(key, union);
        Ok(union)
    }

    /// The set after the lexemes of `ended`, all of which began in `set` and end together. `text` is theirs; it matters
    /// only if one of them is recorded.
    pub fn scan(&mut self, set: SetId, ended: LexemeSetId, text: &[u8], lexer: &mut Lexer) -> Result<SetId, Fault> {
        let records = lexer.records(ended);
        if records && self.ahead.is_on {
            return self.scan_ahead(set, ended, text, lexer);
        }
        let known = match records {
            true => self.recorded_scans.get(&(set, ended)).and_then(|by_text| by_text.get(text)),
            false => self.scans.get(&(set, ended)),
        };
        if let Some(&known) = known {
            self.scan_hits += 1;
            return Ok(known);
        }
        self.scan_misses += 1;
        let closure = self.closure(set, lexer)?;
        let mut kernel = Kernel::default();
        let lexemes: SmallVec<[LexemeId; 8]> = lexer.lexemes(ended).into();
        for lexeme in lexemes {
            match self.cfg.lexemes[lexeme].ignored_by {
                Some(grammar) => self.ignore(&mut kernel, set, grammar),
                None => self.scan_lexeme(&mut kernel, set, &closure, lexeme, text, lexer)?,
            }
        }
        let next = self.close_kernel(kernel)?;
        // Sets with a time are not the same at another time.
        if self.cfg.has_scopes {
            return Ok(next);
        }
        if records {
            self.remember_recorded(set, ended, text, next);
        } else {
            self.scans.insert((set, ended), next);
        }
        Ok(next)
    }

    fn remember_recorded(&mut self, set: SetId, ended: LexemeSetId, text: &[u8], next: SetId) {
        let bytes = text.len() + RECORDED_SCAN_BYTES;
        if self.recorded_bytes + bytes > self.limits.earley_bytes_max / RECORDED_SCANS_SHARE {
            self.recorded_scans.clear();
            self.recorded_bytes = 0;
        }
        self.recorded_bytes += bytes;
        self.recorded_scans.entry((set, ended)).or_default().insert(text.into(), next);
    }

    fn scan_lexeme(
        &mut self,
        kernel: &mut Kernel,
        set: SetId,
        closure: &Arc<Closure>,
        lexeme: LexemeId,
        text: &[u8],
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        for scan in closure.scans_of(lexeme) {
            let Some(param) = self.scanned(scan.param, scan.recorded, text, lexer)? else { continue };
            let continuation = self.continuation(set, closure, scan.owner, lexer)?;
            self.add(kernel, scan.next, continuation, param, Mark::NONE, lexer)?;
        }
        Ok(())
    }

    /// Ignored text of a grammar: the kernel items of that grammar stay.
    pub(super) fn ignore(&self, kernel: &mut Kernel, set: SetId, grammar: GrammarId) {
        let mark = if self.cfg.ignore_once[grammar] { Mark::AFTER_IGNORED } else { Mark::NONE };
        for &item in self.items(set) {
            if sets_ignored(&self.cfg, &item) && self.cfg.dots[item.dot].grammar == Some(grammar) {
                kernel.items.push(Item { mark, ..item });
            }
        }
    }

    /// The set after a token letter that began in `set`; [`NO_SET`] if none expects it. Says whether the token is to be
    /// hidden.
    pub fn scan_token(&mut self, set: SetId, token: u32, lexer: &mut Lexer) -> Result<(SetId, bool), Fault> {
        let closure = self.closure(set, lexer)?;
        let mut kernel = Kernel::default();
        let mut hidden = false;
        for scan in &closure.token_scans {
            if !self.cfg.token_letters[scan.letter].tokens.contains(token) {
                continue;
            }
            hidden |= self.cfg.token_letters[scan.letter].hidden;
            let continuation = self.continuation(set, &closure, scan.owner, lexer)?;
            self.add(&mut kernel, scan.next, continuation, scan.param, Mark::NONE, lexer)?;
        }
        // What follows a token letter stands at the token's end, so it counts for the next token.
        let now = self.token_now;
        self.token_now += 1;
        let next = self.close_kernel(kernel);
        self.token_now = now;
        Ok((next?, hidden))
    }

    /// Token letters that the set expects.
    pub fn token_letters(&mut self, set: SetId, lexer: &mut Lexer) -> Result<Vec<TokenLetterId>, Fault> {
        let closure = self.closure(set, lexer)?;
        let mut letters: Vec<TokenLetterId> = closure.token_scans.iter().map(|scan| scan.letter).collect();
        letters.sort_unstable();
        letters.dedup();
        Ok(letters)
    }

    /// Interns a kernel that scanning has filled, with the time where scopes may begin here.
    pub fn close_kernel(&mut self, mut kernel: Kernel) -> Result<SetId, Fault> {
        self.include(&mut kernel)?;
        kernel.items.retain(|item| item.mark.is_item());
        if self.cfg.has_scopes && !kernel.items.is_empty() {
            let mark = Mark::time(self.token_now);
            kernel.items.push(Item { dot: DOT_END, continuation: NO_SET, param: ParamId(0), mark });
        }
        self.intern(kernel)
    }

    pub fn intern(&mut self, mut kernel: Kernel) -> Result<SetId, Fault> {
        self.include(&mut kernel)?;
        let touched = kernel.items.len();
        self.work += touched;
        kernel.items.sort_unstable();
        kernel.items.dedup();
        let hash = hash_items(&kernel.items);
        if let Some(known) = self.find(hash, &kernel.items) {
            return Ok(known);
        }
        self.check_size()?;
        let id = self.push_hashed(hash, &kernel.items);
        self.touched[id] = touched as u32;
        self.note_included(id, &kernel.included);
        Ok(id)
    }

    pub(super) fn find(&self, hash: u64, items: &[Item]) -> Option<SetId> {
        self.ids.find(hash, |id| self.items(id) == items)
    }

    pub(super) fn check_size(&self) -> Result<(), Fault> {
        if self.closures.len() >= self.limits.earley_sets_max {
            return Err(Fault::exceeded("earley_sets_max", self.limits.earley_sets_max as u64));
        }
        if self.bytes() >= self.limits.earley_bytes_max {
            return Err(Fault::exceeded("earley_bytes_max", self.limits.earley_bytes_max as u64));
        }
        Ok(())
    }

    /// The id that the next set will have.
    pub(super) fn next_id(&self) -> SetId {
        self.closures.next_id()
    }

    /// Adds a set whose content is not in the table.
    pub(super) fn push(&mut self, items: &[Item]) -> SetId {
        self.push_hashed(hash_items(items), items)
    }

    fn push_hashed(&mut self, hash: u64, items: &[Item]) -> SetId {
        let id = self.items.push(items);
        self.closures.push(None);
        self.start_states.push(UNKNOWN);
        self.touched.push(items.len() as u32);
        self.ids.insert(hash, id);
        id
    }

    /// The lexer state in which all that the set expects is whole.
    #[inline]
    pub fn start_state(&mut self, id: SetId, lexer: &mut Lexer) -> Result<LexStateId, Fault> {
        match self.start_states[id] {
            UNKNOWN => {
                let start = self.closure(id, lexer)?.start;
                self.start_states[id] = start;
                Ok(start)
            }
            known => Ok(known),
        }
    }

    /// What the set expects. Cost: microseconds the first time, unless another set has the same items before other continuations.
    pub fn closure(&mut self, id: SetId, lexer: &mut Lexer) -> Result<Arc<Closure>, Fault> {
        if let Some(closure) = &self.closures[id] {
            return Ok(closure.clone());
        }
        let hash = hash_heads(self.items(id));
        let alike =
            self.closure_ids.find(hash, |other| self.items(other).iter().map(head).eq(self.items(id).iter().map(head)));
        let closure = match alike.and_then(|other| self.closures[other].clone()) {
            Some(closure) => closure,
            None => {
                self.check_size()?;
                let closure = Arc::new(Closure::build(self, id, lexer)?);
                self.closure_bytes += closure.bytes();
                self.closure_ids.insert(hash, id);
                closure
            }
        };
        self.closures[id] = Some(closure.clone());
        Ok(closure)
    }
}

/// An item without what follows it.
fn head(item: &Item) -> (DotId, ParamId, Mark) {
    (item.dot, item.param, item.mark)
}

fn hash_heads(items: &[Item]) -> u64 {
    let mut hasher = FxHasher::default();
    items.iter().for_each(|item| head(item).hash(&mut hasher));
    hash_in(&hasher)
}

pub(super) fn hash_items(items: &[Item]) -> u64 {
    let mut hasher = FxHasher::default();
    items.hash(&mut hasher);
    hash_in(&hasher)
}
