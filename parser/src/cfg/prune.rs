//! What can be empty, what can be finished, what can go on for ever; and the removal of the rest.

use larkspur_grammar::index::Id;
use larkspur_grammar::{
    ByteSet, Diagnostic, EdgeSymbol, IndexVec, Limits, ParamExpr, Severity, Span, State, Unproductive, components,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Cfg, DOT_ACCEPT, DOT_END, Dot, DotId, LexemeId, NonterminalId, Symbol};
use crate::codes::limit_diagnostic;
use crate::counting_sort::Lists;

/// To find out what goes on for ever, so many times as many symbols are looked at as a grammar may have, at most.
const LOOKS_MAX: usize = 2;

/// Symbols that an alternative is still without which has one that never comes.
const NEVER: u32 = u32::MAX;

impl Cfg {
    /// Decides nullability and productivity, given the lexemes that match nothing, and removes alternatives that can
    /// never be finished. `first` has the bytes that a lexeme begins with, at most; `start_span` is where the start rule stands.
    ///
    /// Errors: the start can never be finished (`P001`), unless the grammar allows that; `grammar_symbols_max`.
    pub fn prune(
        &mut self,
        is_empty: impl Fn(LexemeId) -> bool,
        first: impl Fn(LexemeId) -> ByteSet,
        start_span: Span,
        limits: &Limits,
    ) -> Result<(), Diagnostic> {
        self.empty_lexemes = self.lexemes.ids().map(&is_empty).collect();
        let users = self.users();
        self.nullable(&users);
        let symbol_has = |dot: &Dot| match dot.symbol {
            Symbol::Lexeme(id) => dot.optional || !is_empty(id),
            // From each state of an automaton a final one can be reached.
            Symbol::Nonterminal(id) => dot.optional || self.automaton(id).is_some(),
            Symbol::Tokens(id) => dot.optional || !self.token_letters[id].tokens.is_empty(),
            Symbol::Nothing => true,
        };
        let mut finishes = self.least_fixed_point(&users, symbol_has);
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            finishes[id] |= nonterminal.automaton.is_some();
        }
        let allow = self.unproductive == Unproductive::Allow;
        let (over, endless, reads) = loop {
            let over = self.over(&finishes);
            let endless = match allow {
                true => {
                    let symbols_max = limits.grammar_symbols_max;
                    let looks_max = symbols_max.saturating_mul(LOOKS_MAX);
                    let endless = self.endless(&is_empty, &finishes, &over, looks_max);
                    let exceeded = || limit_diagnostic("grammar_symbols_max", symbols_max as u64, Some(start_span));
                    endless.ok_or_else(exceeded)?
                }
                false => vec![false; finishes.len()].into(),
            };
            let reads = self.reads_something(&is_empty, &finishes, &over);
            if !self.remove_idle_edges(|id| reads[id] || endless[id]) {
                break (over, endless, reads);
            }
        };
        self.reads = self
            .dots
            .iter()
            .zip(&over)
            .map(|(dot, is_over)| match dot.symbol {
                Symbol::Nonterminal(id) => !is_over && (reads[id] || endless[id]),
                Symbol::Nothing => false,
                _ => true,
            })
            .collect();
        self.remove_dead(&is_empty, &finishes, &endless);
        let Symbol::Nonterminal(start) = self.dots[self.start].symbol else { unreachable!("start is a nonterminal") };
        if self.nonterminals[start].productive {
            self.after = self.bytes_after(first);
            return Ok(());
        }
        let name = &self.nonterminals[start].name;
        Err(Diagnostic::new(
            "P001",
            Severity::Error,
            Some(start_span),
            format!("the grammar matches no text: `{name}` can never be finished"),
        )
        .help("every alternative needs something that does not lead back to the rule itself or to a terminal without matches"))
    }

    /// Whether there is an automaton that cannot go on from where it starts. By dot.
    fn over(&self, finishes: &IndexVec<NonterminalId, bool>) -> Vec<bool> {
        let reads_all: IndexVec<NonterminalId, bool> =
            self.nonterminals.ids().map(|id| self.reads_all(id, finishes)).collect::<Vec<_>>().into();
        // Many dots start in the same place.
        let mut known: FxHashMap<(Symbol, ParamExpr), bool> = FxHashMap::default();
        let mut is_over = |dot: &Dot| match dot.symbol {
            // From each state a final one can be reached.
            Symbol::Nonterminal(id) if reads_all[id] && !self.starts_final(dot) => false,
            Symbol::Nonterminal(id) if self.automaton(id).is_some() => {
                let is_over = || self.start_state(dot).is_some_and(|start| self.is_over(dot.symbol, &start, finishes));
                *known.entry((dot.symbol, dot.arg)).or_insert_with(is_over)
            }
            _ => false,
        };
        self.dots.iter().map(&mut is_over).collect()
    }

    /// Whether each edge of an automaton can be taken, wherever it is.
    fn reads_all(&self, id: NonterminalId, finishes: &IndexVec<NonterminalId, bool>) -> bool {
        let (Some(automaton), Some(lowered)) = (self.automaton(id), &self.nonterminals[id].automaton) else {
            return false;
        };
        let has_texts = |lexeme: &LexemeId| !self.empty_lexemes[lexeme.index()];
        lowered.lexemes.len() == automaton.terminals().len()
            && lowered.recorded.len() == automaton.recorded().len()
            && lowered.rules.len() == automaton.rules().len()
            && lowered.lexemes.values().chain(lowered.recorded.values()).all(has_texts)
            && lowered.rules.values().all(|&id| finishes[id])
    }

    /// Whether an automaton cannot go on from a state.
    fn is_over(&self, symbol: Symbol, state: &State, finishes: &IndexVec<NonterminalId, bool>) -> bool {
        let Symbol::Nonterminal(id) = symbol else { return false };
        let (Some(automaton), Some(lowered)) = (self.automaton(id), &self.nonterminals[id].automaton) else {
            return false;
        };
        // Past a limit it goes on, to meet that limit again.
        let Ok(edges) = automaton.edges(state) else { return false };
        let is_empty = |lexeme: Option<&LexemeId>| lexeme.is_none_or(|&lexeme| self.empty_lexemes[lexeme.index()]);
        edges.iter().all(|edge| match &edge.symbol {
            EdgeSymbol::Terminal(terminal) => is_empty(lowered.lexemes.get(terminal)),
            EdgeSymbol::Recorded(terminal, _) => is_empty(lowered.recorded.get(terminal)),
            EdgeSymbol::Rule(rule) => lowered.rules.get(rule).is_none_or(|&id| !finishes[id]),
        })
    }

    /// Removes the rules that derive no text but the empty one from the edges of automata, which do not take that. True if
    /// there were some: an automaton may then be over where it was not.
    fn remove_idle_edges(&mut self, reads: impl Fn(NonterminalId) -> bool) -> bool {
        let mut were_some = false;
        for automaton in self.nonterminals.iter_mut().filter_map(|nonterminal| nonterminal.automaton.as_mut()) {
            let before = automaton.rules.len();
            automaton.rules.retain(|_, &mut id| reads(id));
            were_some |= automaton.rules.len() < before;
        }
        were_some
    }

    /// The users of each nonterminal, with the number of the alternative among all.
    fn users(&self) -> Lists<(NonterminalId, u32)> {
        let mut pairs = Vec::with_capacity(self.dots.len());
        let mut number = 0;
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            for alternative in &nonterminal.alternatives {
                let mut dot = alternative.dot;
                while dot != DOT_END {
                    if let Symbol::Nonterminal(child) = self.dots[dot].symbol {
                        pairs.push((child, (id, number)));
                    }
                    dot = self.dots[dot].next;
                }
                number += 1;
            }
        }
        Lists::new(self.nonterminals.len(), &pairs)
    }

    /// Least fixed point of a property that a nonterminal has if each symbol of one alternative has it. Of symbols that are no
    /// nonterminals it is known.
    fn least_fixed_point(
        &self,
        users: &Lists<(NonterminalId, u32)>,
        symbol_has: impl Fn(&Dot) -> bool,
    ) -> IndexVec<NonterminalId, bool> {
        let mut has: IndexVec<NonterminalId, bool> = vec![false; self.nonterminals.len()].into();
        // Of each alternative of all: how many symbols are still without the property, and where it begins.
        let mut missing: Vec<(u32, DotId)> = Vec::with_capacity(self.nonterminals.len());
        let mut agenda = Vec::new();
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            for alternative in &nonterminal.alternatives {
                let mut count = 0;
                let mut dot = alternative.dot;
                while dot != DOT_END {
                    let info = &self.dots[dot];
                    if !symbol_has(info) {
                        if !matches!(info.symbol, Symbol::Nonterminal(_)) {
                            count = NEVER;
                            break;
                        }
                        count += 1;
                    }
                    dot = info.next;
                }
                if count == 0 && !std::mem::replace(&mut has[id], true) {
                    agenda.push(id);
                }
                missing.push((count, alternative.dot));
            }
        }
        while let Some(child) = agenda.pop() {
            for &(user, alternative) in users.of(child) {
                // An optional symbol has the property already; it was never counted.
                let (count, start) = &mut missing[alternative as usize];
                *count = count.saturating_sub(1);
                if *count == 0 && !has[user] && self.alternative_has(*start, &has, &symbol_has) {
                    has[user] = true;
                    agenda.push(user);
                }
            }
        }
        has
    }

    fn alternative_has(
        &self,
        mut dot: DotId,
        has: &IndexVec<NonterminalId, bool>,
        symbol_has: &impl Fn(&Dot) -> bool,
    ) -> bool {
        while dot != DOT_END {
            let holds = symbol_has(&self.dots[dot])
                || matches!(self.dots[dot].symbol, Symbol::Nonterminal(child) if has[child]);
            if !holds {
                return false;
            }
            dot = self.dots[dot].next;
        }
        true
    }

    fn nullable(&mut self, users: &Lists<(NonterminalId, u32)>) {
        let nullable = self.least_fixed_point(users, |dot| dot.optional || self.starts_final(dot));
        for (id, nullable) in nullable.iter_enumerated() {
            self.nonterminals[id].nullable = *nullable;
        }
    }

    /// Nonterminals that can go on for ever, reading letters again and again. `None` if more than so many symbols are
    /// to be looked at for that.
    ///
    /// A goes on by B if some alternative of A, of which each symbol can be finished or go on for ever itself, has B after symbols
    /// that can be finished, and the step reads something if one of those can be non-empty. Endless is what leads to a cycle of
    /// such steps in which one reads something. What left recursion repeats can be finished.
    fn endless(
        &self,
        is_empty: &impl Fn(LexemeId) -> bool,
        finishes: &IndexVec<NonterminalId, bool>,
        over: &[bool],
        looks_max: usize,
    ) -> Option<IndexVec<NonterminalId, bool>> {
        let reads = self.reads_something(is_empty, finishes, over);
        // Where one turns out to derive nothing, others that only led to an end by it may, too.
        let mut is_live: IndexVec<NonterminalId, bool> = vec![true; finishes.len()].into();
        for _ in 0..looks_max / self.dots.len().max(1) {
            let endless = self.endless_among(&is_live, is_empty, finishes, &reads);
            let mut is_same = true;
            for id in finishes.ids() {
                let stays = finishes[id] || endless[id];
                is_same &= std::mem::replace(&mut is_live[id], stays) == stays;
            }
            if is_same {
                return Some(endless);
            }
        }
        None
    }

    /// The same, if these can be finished or go on for ever.
    fn endless_among(
        &self,
        is_live: &IndexVec<NonterminalId, bool>,
        is_empty: &impl Fn(LexemeId) -> bool,
        finishes: &IndexVec<NonterminalId, bool>,
        reads: &IndexVec<NonterminalId, bool>,
    ) -> IndexVec<NonterminalId, bool> {
        let mut steps: Vec<(NonterminalId, (NonterminalId, bool))> = Vec::with_capacity(self.dots.len());
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            for alternative in &nonterminal.alternatives {
                let before = steps.len();
                let (mut has_read, mut is_reached) = (false, true);
                let mut dot = alternative.dot;
                while dot != DOT_END {
                    let info = self.dots[dot];
                    let (ends, goes_on) = self.derives(info.symbol, is_empty, finishes, is_live);
                    if !ends && !goes_on && !info.optional {
                        steps.truncate(before);
                        break;
                    }
                    let read = match info.symbol {
                        Symbol::Nonterminal(child) => {
                            if is_reached && goes_on {
                                steps.push((id, (child, has_read)));
                            }
                            reads[child]
                        }
                        Symbol::Lexeme(_) => ends,
                        _ => true,
                    };
                    is_reached &= ends || info.optional;
                    has_read |= read;
                    dot = info.next;
                }
            }
        }
        let component_of = component_of(&Lists::new(finishes.len(), &steps), finishes.len());
        let mut endless: IndexVec<NonterminalId, bool> = vec![false; finishes.len()].into();
        let is_cycle = |from: NonterminalId, to: NonterminalId| component_of[from.index()] == component_of[to.index()];
        let cycles = steps.iter().filter(|&&(from, (to, has_read))| has_read && is_cycle(from, to));
        let mut agenda: Vec<NonterminalId> = cycles.map(|step| step.0).collect();
        let before: Vec<_> = steps.iter().map(|&(from, (to, _))| (to, from)).collect();
        let before = Lists::new(finishes.len(), &before);
        while let Some(id) = agenda.pop() {
            if !std::mem::replace(&mut endless[id], true) {
                agenda.extend(before.of(id));
            }
        }
        endless
    }

    /// Whether a symbol can be finished, and whether it goes on for ever if nonterminals do.
    fn derives(
        &self,
        symbol: Symbol,
        is_empty: &impl Fn(LexemeId) -> bool,
        finishes: &IndexVec<NonterminalId, bool>,
        endless: &IndexVec<NonterminalId, bool>,
    ) -> (bool, bool) {
        match symbol {
            Symbol::Lexeme(lexeme) => (!is_empty(lexeme), false),
            Symbol::Nonterminal(child) => (finishes[child], endless[child]),
            Symbol::Tokens(letter) => (!self.token_letters[letter].tokens.is_empty(), false),
            Symbol::Nothing => (true, false),
        }
    }

    /// Nonterminals that derive some text that is not empty.
    fn reads_something(
        &self,
        is_empty: &impl Fn(LexemeId) -> bool,
        finishes: &IndexVec<NonterminalId, bool>,
        over: &[bool],
    ) -> IndexVec<NonterminalId, bool> {
        let len = self.nonterminals.len();
        let mut reads: IndexVec<NonterminalId, bool> = vec![false; len].into();
        let (mut used, mut agenda) = (Vec::with_capacity(2 * len), Vec::with_capacity(len));
        let mut children: SmallVec<[NonterminalId; 16]> = SmallVec::new();
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            // Where an automaton stands it is told from where it starts there.
            reads[id] = nonterminal.automaton.is_some();
            for alternative in &nonterminal.alternatives {
                children.clear();
                let letters = self.finite_symbols(alternative.dot, is_empty, (finishes, over), &mut children);
                match letters {
                    Some(true) if !std::mem::replace(&mut reads[id], true) => agenda.push(id),
                    Some(false) if !reads[id] => used.extend(children.iter().map(|&child| (child, id))),
                    _ => {}
                }
            }
        }
        let users = Lists::new(self.nonterminals.len(), &used);
        while let Some(child) = agenda.pop() {
            for &user in users.of(child) {
                if !std::mem::replace(&mut reads[user], true) {
                    agenda.push(user);
                }
            }
        }
        reads
    }

    /// Whether an alternative has a lexeme or a token; adds its nonterminals to `children`. `None` if it cannot be finished.
    fn finite_symbols(
        &self,
        mut dot: DotId,
        is_empty: &impl Fn(LexemeId) -> bool,
        (finishes, over): (&IndexVec<NonterminalId, bool>, &[bool]),
        children: &mut SmallVec<[NonterminalId; 16]>,
    ) -> Option<bool> {
        let mut has_letter = false;
        while dot != DOT_END {
            let info = self.dots[dot];
            let ends = match info.symbol {
                Symbol::Nonterminal(child) if self.nonterminals[child].automaton.is_some() => {
                    has_letter |= !over[dot.index()];
                    true
                }
                Symbol::Nonterminal(child) => {
                    if finishes[child] {
                        children.push(child);
                    }
                    finishes[child]
                }
                Symbol::Lexeme(lexeme) => {
                    has_letter |= !is_empty(lexeme);
                    !is_empty(lexeme)
                }
                _ => {
                    has_letter = true;
                    true
                }
            };
            if !ends && !info.optional {
                return None;
            }
            dot = info.next;
        }
        Some(has_letter)
    }

    /// Removes symbols that can neither be finished nor go on for ever, and alternatives that cannot do without them.
    fn remove_dead(
        &mut self,
        is_empty: &impl Fn(LexemeId) -> bool,
        finishes: &IndexVec<NonterminalId, bool>,
        endless: &IndexVec<NonterminalId, bool>,
    ) {
        let has_texts = |id: NonterminalId| finishes[id] || endless[id];
        let is_whole = finishes.ids().all(has_texts)
            && !self.empty_lexemes.contains(&true)
            && self.token_letters.iter().all(|letter| !letter.tokens.is_empty());
        if is_whole {
            self.nonterminals.iter_mut().for_each(|nonterminal| nonterminal.productive = true);
            return;
        }
        // Dots are older than those before them, so one pass decides and mends all chains.
        let mut mended: Vec<DotId> = Vec::with_capacity(self.dots.len());
        let mut is_live: Vec<bool> = Vec::with_capacity(self.dots.len());
        for id in self.dots.ids() {
            let info = self.dots[id];
            if id == DOT_END || id == DOT_ACCEPT {
                mended.push(id);
                is_live.push(true);
                continue;
            }
            let (ends, goes_on) = self.derives(info.symbol, is_empty, finishes, endless);
            let next = mended[info.next.index()];
            let next_is_live = is_live[info.next.index()];
            self.dots[id].next = next;
            mended.push(if ends || goes_on || !info.optional { id } else { next });
            is_live.push((ends || goes_on || info.optional) && next_is_live);
        }
        for (id, nonterminal) in self.nonterminals.iter_mut().enumerate() {
            nonterminal.alternatives.retain(|alternative| is_live[alternative.dot.index()]);
            for alternative in &mut nonterminal.alternatives {
                alternative.dot = mended[alternative.dot.index()];
            }
            nonterminal.productive = has_texts(NonterminalId(id as u32));
        }
        self.start = mended[self.start.index()];
    }
}

/// The number of each nonterminal's strongly connected component.
fn component_of(steps: &Lists<(NonterminalId, bool)>, len: usize) -> Vec<usize> {
    let mut component_of = vec![0; len];
    let next = |node: usize, edge: usize| steps.of(NonterminalId(node as u32)).get(edge).map(|step| step.0.index());
    for (number, component) in components(len, next).into_iter().enumerate() {
        component.into_iter().for_each(|node| component_of[node] = number);
    }
    component_of
}
