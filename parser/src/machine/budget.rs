//! `max_tokens`: scopes that end when their tokens are used up, matched or not.

use larkspur_grammar::LexerMode;
use rustc_hash::FxHashSet;

use super::{Cursor, Machine, Thread};
use crate::cfg::{DOT_END, DotId, LexemeId, NonterminalId};
use crate::earley::closure::{Owner, sets_ignored};
use crate::earley::sets::{Item, Kernel, Mark, NO_SET, ParamId, SetId};
use crate::error::Fault;
use crate::lexer::guards::Guard;
use crate::lexer::states::{DEAD, StateKind};

/// What the end of scopes makes of one set.
struct Cut {
    /// The items that stay.
    kept: Kernel,
    /// The items that waited for a scope that has ended, advanced.
    advanced: Kernel,
    /// Scopes that the set predicts and that have ended.
    expired: Vec<NonterminalId>,
    is_cut: bool,
}

/// Items and predicted symbols of a set that live lexemes belong to.
struct UnderWay {
    /// Kernel items, as (dot after the symbol that they wait for, continuation, parameter).
    items: FxHashSet<(DotId, SetId, ParamId)>,
    /// Numbers of predicted symbols in the closure.
    nodes: FxHashSet<u32>,
}

impl Machine {
    /// The place at the end of token number `token`: scopes whose tokens are used up have ended, and what is predicted
    /// here counts for the next token.
    pub fn end_token(&mut self, cursor: Cursor, token: u32) -> Result<Cursor, Fault> {
        if !self.cfg.has_scopes {
            return Ok(cursor);
        }
        self.sets.token_now = token + 1;
        let mut threads = Vec::new();
        for &thread in self.threads(cursor).iter() {
            self.end_token_thread(thread, token, &mut threads)?;
        }
        match self.cursor(threads)? {
            Some(cursor) => Ok(cursor),
            None => Ok(Cursor(self.fresh_guarded(NO_SET, Guard::NONE)?)),
        }
    }

    /// [`Machine::end_token`] of one thread. Appends the threads that it becomes: at a lexeme's start one; otherwise
    /// itself, or what waited for the scopes that have ended, which stands at a lexeme's start, and what goes on.
    pub fn end_token_thread(&mut self, thread: Thread, token: u32, threads: &mut Vec<Thread>) -> Result<(), Fault> {
        let is_fresh = self.lexer.state(thread.lex).kind == StateKind::Fresh;
        // At a lexeme's start nothing that is predicted here has begun: it begins with the next token.
        let under_way = if is_fresh { None } else { Some(self.under_way(thread)?) };
        let Cut { mut kept, advanced, expired, is_cut } = self.cut(thread.set, token, under_way)?;
        if is_fresh {
            kept.append(advanced);
            let set = self.sets.close_kernel(kept)?;
            threads.push(self.fresh_guarded(set, self.lexer.guard(thread.lex))?);
            return Ok(());
        }
        if !is_cut {
            threads.push(thread);
            return Ok(());
        }
        let advanced = self.sets.close_kernel(advanced)?;
        if advanced != NO_SET {
            threads.push(self.fresh_guarded(advanced, self.lexer.guard(thread.lex))?);
        }
        if !kept.items.is_empty() {
            // What goes on keeps the time at which its scopes began.
            kept.items.extend(self.sets.items(thread.set).iter().copied().filter(|item| item.mark.as_time().is_some()));
            kept.items.extend(expired.into_iter().map(|id| Item {
                dot: DOT_END,
                continuation: NO_SET,
                param: ParamId(0),
                mark: Mark::expired(id),
            }));
            let set = self.sets.intern(kept)?;
            let closure = self.sets.closure(set, &mut self.lexer)?;
            let ignored = closure.has_ignored;
            let cfg = self.cfg.clone();
            // Of a recorded lexeme there may be several with other exceptions, so that it is read anew.
            let lex = if self.lexer.state(thread.lex).records {
                let text = self.tape.from(thread.began);
                let lex = self.lexer.run(closure.start, text)?;
                let live: Vec<LexemeId> = self.lexer.live_lexemes(thread.lex).collect();
                let lex = self.lexer.retain(lex, |lexeme| live.contains(&lexeme))?;
                let lex = self.sets.without_left_out(set, lex, text, &mut self.lexer)?;
                self.lexer.guarded(lex, self.lexer.guard(thread.lex))?
            } else {
                self.lexer.retain(thread.lex, |lexeme| {
                    !closure.scans_of(lexeme).is_empty() || ignored && cfg.lexemes[lexeme].ignored_by.is_some()
                })?
            };
            let rest = Thread { set, ..self.moved(thread, lex) };
            let is_exact = self.cfg.mode == LexerMode::Exact;
            let is_stuck = is_exact && self.lexer.state(lex).may_be_stuck && !self.leads_on(rest)?;
            if lex != DEAD && !is_stuck {
                threads.push(rest);
            }
        }
        Ok(())
    }

    /// Whether a scope ends at `cursor` if token number `token` ends there.
    pub fn ends_scope(&mut self, cursor: Cursor, token: u32) -> Result<bool, Fault> {
        if !self.cfg.has_scopes {
            return Ok(false);
        }
        for &thread in self.threads(cursor).iter() {
            let is_fresh = self.lexer.state(thread.lex).kind == StateKind::Fresh;
            let under_way = if is_fresh { None } else { Some(self.under_way(thread)?) };
            if self.cut(thread.set, token, under_way)?.is_cut {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_used_up(&self, rule: NonterminalId, entered: u32, token: u32) -> bool {
        let budget = self.cfg.nonterminals[rule].max_tokens.expect("a scope has a budget");
        token >= entered && token - entered + 1 >= budget
    }

    /// The outermost scope around a parameter that is used up, as [`Param::scope`](crate::earley::sets::Param::scope).
    fn outermost_used_up(&self, param: ParamId, token: u32) -> Option<u32> {
        let mut scope = self.sets.param_value(param).scope;
        let mut outermost = None;
        while scope != 0 {
            let entered = self.sets.scope(scope);
            if self.is_used_up(entered.rule, entered.token, token) {
                outermost = Some(scope);
            }
            scope = entered.parent;
        }
        outermost
    }

    fn is_inside(&self, param: ParamId, scope: u32) -> bool {
        let mut inner = self.sets.param_value(param).scope;
        while inner != 0 {
            if inner == scope {
                return true;
            }
            inner = self.sets.scope(inner).parent;
        }
        false
    }

    /// What of a thread's set the live lexemes belong to.
    fn under_way(&mut self, thread: Thread) -> Result<UnderWay, Fault> {
        let closure = self.sets.closure(thread.set, &mut self.lexer)?;
        let mut under_way = UnderWay { items: FxHashSet::default(), nodes: FxHashSet::default() };
        let mut agenda: Vec<(DotId, Owner, ParamId)> = Vec::new();
        for lexeme in self.lexer.live_lexemes(thread.lex) {
            agenda.extend(closure.scans_of(lexeme).iter().map(|scan| (scan.next, scan.owner, scan.param)));
            if let Some(grammar) = self.cfg.lexemes[lexeme].ignored_by {
                let items = self.sets.items(thread.set).iter();
                let of_grammar = items
                    .filter(|item| self.cfg.dots[item.dot].grammar == Some(grammar) && sets_ignored(&self.cfg, item));
                let waits = of_grammar.map(|item| (self.cfg.dots[item.dot].next, item.continuation, item.param));
                under_way.items.extend(waits);
            }
        }
        while let Some((next, owner, param)) = agenda.pop() {
            match owner {
                Owner::Kernel(place) => {
                    let continuation = self.sets.items(thread.set)[place as usize].continuation;
                    under_way.items.insert((next, continuation, param));
                }
                Owner::Predicted(node) => {
                    if under_way.nodes.insert(node) {
                        let waiters = closure.waiters(node).iter();
                        agenda.extend(waiters.map(|waiter| (waiter.next, waiter.owner, waiter.param)));
                    }
                }
            }
        }
        Ok(under_way)
    }

    /// Splits a set's items. In the middle of lexemes only what is under way ends, predicted scopes included.
    fn cut(&mut self, set: SetId, token: u32, under_way: Option<UnderWay>) -> Result<Cut, Fault> {
        let mut cut = Cut { kept: Kernel::default(), advanced: Kernel::default(), expired: Vec::new(), is_cut: false };
        for item in self.sets.items(set).to_vec() {
            if !item.mark.is_item() {
                cut.expired.extend(item.mark.as_expired());
                continue;
            }
            match self.outermost_used_up(item.param, token) {
                None => cut.kept.items.push(item),
                Some(scope) => {
                    cut.is_cut = true;
                    let waits = (self.cfg.dots[item.dot].next, item.continuation, item.param);
                    if under_way.as_ref().is_some_and(|under_way| !under_way.items.contains(&waits)) {
                        continue;
                    }
                    self.leave(item.continuation, scope, &mut cut.advanced);
                }
            }
        }
        if let Some(under_way) = under_way {
            self.cut_predicted(set, token, &under_way, &mut cut)?;
        }
        Ok(cut)
    }

    /// The items outside `scope` that a continuation leads to.
    fn leave(&self, continuation: SetId, scope: u32, advanced: &mut Kernel) {
        let mut visited = FxHashSet::default();
        let mut agenda = vec![continuation];
        while let Some(id) = agenda.pop() {
            if !visited.insert(id) {
                continue;
            }
            for &item in self.sets.items(id).iter().filter(|item| item.mark.is_item()) {
                if self.is_inside(item.param, scope) {
                    agenda.push(item.continuation);
                } else {
                    advanced.items.push(item);
                }
            }
        }
    }

    fn cut_predicted(&mut self, set: SetId, token: u32, under_way: &UnderWay, cut: &mut Cut) -> Result<(), Fault> {
        let closure = self.sets.closure(set, &mut self.lexer)?;
        for (number, &(id, param)) in closure.nodes.iter().enumerate() {
            if self.cfg.nonterminals[id].max_tokens.is_none() {
                continue;
            }
            let scope = self.sets.scope(self.sets.param_value(param).scope);
            // A rule within its own scope opens none: what it is in ends elsewhere.
            if scope.rule != id || !self.is_used_up(scope.rule, scope.token, token) {
                continue;
            }
            cut.is_cut = true;
            cut.expired.push(id);
            if !under_way.nodes.contains(&(number as u32)) {
                continue;
            }
            for waiter in closure.waiters(number as u32) {
                // A scope within one that has ended is left with it.
                if self.outermost_used_up(waiter.param, token).is_some() {
                    continue;
                }
                let Machine { sets, lexer, .. } = self;
                let continuation = sets.continuation(set, &closure, waiter.owner, lexer)?;
                sets.add(&mut cut.advanced, waiter.next, continuation, waiter.param, Mark::NONE, lexer)?;
            }
        }
        Ok(())
    }
}
