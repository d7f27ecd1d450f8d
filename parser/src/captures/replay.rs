//! Reading a text again into a [`Chart`]: what the machine does with its sets, done with positions.
//!
//! A [`Group`] is a thread of the machine with the nodes at which its lexemes may have begun. Everything that decides
//! which lexemes end is asked of the machine, so that the two cannot differ.

use larkspur_grammar::LexerMode;
use rustc_hash::FxHashMap;

use super::chart::{Chart, Frontier, Live, NodeId};
use crate::cfg::{DOT_ACCEPT, LexemeId};
use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::states::{DEAD, LexStateId, LexemeSetId, NO_LEXEMES, StateKind};
use crate::machine::{Machine, REREAD_DEPTH_MAX, Thread};
use crate::matcher::{Event, EventKind};

/// A thread of the machine, and where its lexemes may have begun.
#[derive(Clone, Debug)]
struct Group {
    lex: LexStateId,
    set: SetId,
    nodes: Vec<NodeId>,
}

/// A set that lexemes that end lead to, before its node is made.
#[derive(Debug)]
struct Reached {
    set: SetId,
    nodes: Vec<NodeId>,
    /// What look-around knows there.
    guard: Guard,
    /// Empty if the nodes are where the lexemes began that the set expects.
    lexemes: Vec<LexemeId>,
}

#[derive(Debug)]
pub(super) struct Replay<'a> {
    pub chart: Chart<'a>,
    /// Texts of a `stop` that are being read again.
    depth: u32,
    /// Number of the token being read.
    token: u32,
    groups: Vec<Group>,
    /// Bytes read.
    pos: usize,
    /// Tails that were taken back from the text: the nodes they led to, and their bytes.
    pub hidden: Vec<(NodeId, Vec<u8>)>,
}

/// What became of a text.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is accepted at this node.
    Accepted(NodeId),
    /// It is in progress here.
    Open(Vec<Frontier>),
}

impl<'a> Replay<'a> {
    pub fn new(machine: &'a mut Machine) -> Result<Self, Fault> {
        machine.sets.token_now = 0;
        machine.tape.set(0, Vec::new());
        let set = machine.sets.start(&mut machine.lexer)?;
        let lex = machine.guarded_start(set, machine.outset())?;
        let chart = Chart::new(machine)?;
        let groups = vec![Group { lex, set, nodes: vec![NodeId(0)] }];
        Ok(Self { chart, depth: 0, token: 0, groups, pos: 0, hidden: Vec::new() })
    }

    /// Reads a text with all that it holds besides bytes.
    pub fn read(&mut self, text: &[u8], events: &[Event]) -> Result<(), Fault> {
        for segment in events.chunk_by(|event, _| !matches!(event.kind, EventKind::Hidden(_))) {
            let taken_back = match segment.last() {
                Some(Event { at, kind: EventKind::Hidden(bytes) }) => Some((*at, bytes.clone())),
                _ => None,
            };
            let Some((kept, bytes)) = taken_back else {
                self.read_segment(text, segment)?;
                continue;
            };
            // The tokens of a tail that was taken back ended within it.
            let whole = [&text[..kept], &bytes[..]].concat();
            let made = self.chart.nodes.len();
            self.read_segment(&whole, &segment[..segment.len() - 1])?;
            self.read_bytes(&whole[self.pos..])?;
            self.pos = kept;
            self.chart.machine.tape.truncate(kept);
            for index in made..self.chart.nodes.len() {
                let id = NodeId(index as u32);
                if self.chart.nodes[id].pos > kept {
                    self.chart.nodes[id].pos = kept;
                    self.hidden.push((id, bytes.to_vec()));
                }
            }
        }
        self.read_bytes(&text[self.pos..])
    }

    fn read_segment(&mut self, text: &[u8], events: &[Event]) -> Result<(), Fault> {
        // The sets in which a token that is read as bytes, too, was a letter.
        let mut letter: Option<(u32, usize, Vec<Reached>)> = None;
        for event in events {
            self.read_bytes(&text[self.pos..event.at])?;
            match event.kind {
                EventKind::Token(token) => {
                    let reached = self.boundary(&self.groups.clone(), self.pos)?;
                    letter = Some((token, self.pos, reached));
                }
                EventKind::TokenEnd(token) => {
                    if let Some((letter, began, reached)) = letter.take() {
                        if began == self.pos {
                            // It was no text here.
                            self.groups.clear();
                        }
                        self.read_letter(letter, began, reached)?;
                    }
                    self.end_token(token)?;
                }
                EventKind::Hidden(_) => {}
            }
        }
        Ok(())
    }

    fn read_bytes(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        for &byte in bytes {
            // Most sets are known from when the text was consumed; `capture_work_max` bounds the rest.
            self.chart.machine.begin_question();
            let groups = std::mem::take(&mut self.groups);
            self.groups = self.step(groups, byte, self.pos)?;
            self.chart.machine.tape.truncate(self.pos);
            self.chart.machine.tape.push(byte);
            self.pos += 1;
        }
        Ok(())
    }

    /// The set after lexemes of a group that end here.
    fn scan(&mut self, group: &Group, ends: LexemeSetId) -> Result<SetId, Fault> {
        let began = self.began(group)?;
        let machine = &mut *self.chart.machine;
        let text = if machine.lexer.records(ends) { machine.tape.from(began) } else { &[] };
        machine.sets.scan(group.set, ends, text, &mut machine.lexer)
    }

    /// The lexer state of a group after a byte; the tape is read up to before it.
    fn goes_on(&mut self, group: &Group, byte: u8) -> Result<LexStateId, Fault> {
        let thread = Thread { lex: group.lex, set: group.set, began: self.began(group)? };
        self.chart.machine.goes_on(thread, byte)
    }

    /// Where the lexemes of a group began if one of them is recorded, as [`Thread::began`].
    fn began(&self, group: &Group) -> Result<u32, Fault> {
        if !self.chart.machine.lexer.state(group.lex).records {
            return Ok(0);
        }
        let began = group.nodes.first().map_or(0, |&node| self.chart.nodes[node].pos);
        u32::try_from(began).map_err(|_| Fault::exceeded("text_bytes_max", u32::MAX.into()))
    }

    /// The groups after a byte that stands at `pos`, up to which the tape is read.
    fn step(&mut self, groups: Vec<Group>, byte: u8, pos: usize) -> Result<Vec<Group>, Fault> {
        self.chart.step(groups.len())?;
        match self.chart.cfg.mode {
            LexerMode::Longest => self.step_longest(groups, byte, pos),
            LexerMode::Exact => self.step_exact(groups, byte, pos),
        }
    }

    fn step_longest(&mut self, groups: Vec<Group>, byte: u8, pos: usize) -> Result<Vec<Group>, Fault> {
        let mut next = Vec::with_capacity(groups.len());
        for group in groups {
            let lex = self.goes_on(&group, byte)?;
            if lex != DEAD {
                if let Some(cut) = self.chart.machine.lexer.cut(group.lex, byte, lex)? {
                    self.end_before(&group, (&cut, true), byte, pos, &mut next)?;
                }
                self.enter(Group { lex, ..group }, byte, pos + 1, &mut next)?;
                continue;
            }
            let lexer = &mut self.chart.machine.lexer;
            let ends = lexer.state(group.lex).ends;
            if ends != NO_LEXEMES {
                let ends = lexer.by_follow(group.lex, ends)?;
                self.end_before(&group, (&ends, false), byte, pos, &mut next)?;
            }
        }
        self.merge(next)
    }

    /// Adds the groups that begin with a byte behind lexemes of a group in `longest` mode, which go on at a cut.
    fn end_before(
        &mut self,
        group: &Group,
        (ends, is_cut): (&[Guarded<LexemeSetId>], bool),
        byte: u8,
        pos: usize,
        next: &mut Vec<Group>,
    ) -> Result<(), Fault> {
        for &(guard, ends) in ends {
            let set = self.scan(group, ends)?;
            let machine = &mut *self.chart.machine;
            let lex = machine.begin_guarded(set, guard, byte)?.lex;
            if lex == DEAD || is_cut && !machine.goes_on_behind_cut(lex, byte)? {
                continue;
            }
            let lexemes = machine.lexer.lexemes(ends).to_vec();
            let node = self.node(&[Reached { set, nodes: group.nodes.clone(), lexemes, guard }], pos, pos)?;
            self.enter(Group { lex, set, nodes: vec![node] }, byte, pos + 1, next)?;
        }
        Ok(())
    }

    /// A group after a byte in `longest` mode: lazy lexemes that match have ended.
    fn enter(&mut self, group: Group, byte: u8, pos: usize, next: &mut Vec<Group>) -> Result<(), Fault> {
        let state = self.chart.machine.lexer.state(group.lex);
        if state.kind != StateKind::LazyEnd {
            next.push(group);
            return Ok(());
        }
        let ends = state.ends;
        self.chart.machine.tape.push(byte);
        let (read_again, reached) = self.end(&group, ends, pos, 0)?;
        // Lazy lexemes look no further than to their end: only what may follow here counts.
        let guard = self.chart.machine.lexer.guard(group.lex);
        next.extend(self.guard(read_again, guard)?);
        if let Some(reached) = reached {
            let set = reached.set;
            let node = self.node(&[reached], pos, pos)?;
            next.push(self.fresh(set, guard, vec![node])?);
        }
        self.chart.machine.tape.truncate(pos - 1);
        Ok(())
    }

    fn fresh(&mut self, set: SetId, guard: Guard, nodes: Vec<NodeId>) -> Result<Group, Fault> {
        let lex = self.chart.machine.guarded_start(set, guard)?;
        Ok(Group { lex, set, nodes })
    }

    /// Groups where only certain texts may follow.
    fn guard(&mut self, mut groups: Vec<Group>, guard: Guard) -> Result<Vec<Group>, Fault> {
        for group in &mut groups {
            group.lex = self.chart.machine.lexer.guarded(group.lex, guard)?;
        }
        groups.retain(|group| group.lex != DEAD);
        Ok(groups)
    }

    /// Ends lexemes as [`end`](Self::end) does, with what may then follow.
    fn end_looking_ahead(
        &mut self,
        group: &Group,
        ends: LexemeSetId,
        pos: usize,
        times: u32,
    ) -> Result<(Vec<Group>, Vec<Reached>), Fault> {
        let (mut read_again, mut all) = (Vec::new(), Vec::new());
        for &(guard, ends) in self.chart.machine.lexer.by_follow(group.lex, ends)?.iter() {
            let (groups, reached) = self.end(group, ends, pos, times)?;
            read_again.extend(self.guard(groups, guard)?);
            all.extend(reached.map(|reached| Reached { guard, ..reached }));
        }
        Ok((read_again, all))
    }

    /// The node at `pos` that lexemes whose text ends at `end` lead to.
    fn node(&mut self, reached: &[Reached], pos: usize, end: usize) -> Result<NodeId, Fault> {
        self.chart.begin(pos, self.token);
        for Reached { nodes, lexemes, .. } in reached {
            for &node in nodes {
                if lexemes.is_empty() {
                    let items = self.chart.items(node).to_vec();
                    self.chart.carry_all(node, &items)?;
                }
                for &lexeme in lexemes {
                    let mut text = Vec::new();
                    if self.chart.cfg.lexemes[lexeme].recorded {
                        let began = self.chart.nodes[node].pos;
                        text.extend_from_slice(&self.chart.machine.tape.from(began as u32)[..end - began]);
                    }
                    self.chart.scan(node, lexeme, end, &text)?;
                }
            }
        }
        self.chart.finish(&[])
    }

    /// Ends lexemes whose text ends at `pos`: groups that have read the text of a `stop` again, and what the others lead
    /// to. `times` texts were read again within this byte before.
    fn end(
        &mut self,
        group: &Group,
        ends: LexemeSetId,
        pos: usize,
        times: u32,
    ) -> Result<(Vec<Group>, Option<Reached>), Fault> {
        let cfg = self.chart.cfg.clone();
        let machine = &mut *self.chart.machine;
        if !cfg.has_hidden {
            let lexemes = machine.lexer.lexemes(ends).to_vec();
            let set = self.scan(group, ends)?;
            return Ok((Vec::new(), Some(Reached { set, nodes: group.nodes.clone(), guard: Guard::NONE, lexemes })));
        }
        let stop_text = |id: LexemeId| {
            cfg.lexemes[id].tail.as_ref().filter(|tail| tail.hidden).and_then(|tail| tail.literal.as_deref())
        };
        let (stops, mut ended): (Vec<LexemeId>, Vec<LexemeId>) =
            machine.lexer.lexemes(ends).iter().partition(|&&id| stop_text(id).is_some());
        let mut set = NO_SET;
        if !ended.is_empty() {
            let plain = machine.lexer.lexeme_set(&ended);
            set = self.scan(group, plain)?;
        }
        let mut read_again = Vec::new();
        for stop in stops {
            let machine = &mut *self.chart.machine;
            let alone = machine.lexer.lexeme_set(&[stop]);
            let after = self.scan(group, alone)?;
            let machine = &mut *self.chart.machine;
            let text = stop_text(stop).expect("a stop");
            let guard = Guard::after(machine.lexer.guard(group.lex).past);
            if machine.reread(after, guard, stop, self.depth + times)?.is_some() {
                read_again.extend(self.read_again(group, stop, after, text, pos, times)?);
            } else {
                set = machine.sets.union(set, after)?;
                ended.push(stop);
            }
        }
        let reached =
            (set != NO_SET).then(|| Reached { set, nodes: group.nodes.clone(), guard: Guard::NONE, lexemes: ended });
        Ok((read_again, reached))
    }

    /// The groups after the text of a `stop`, read by the set `after`. Goes no deeper than [`REREAD_DEPTH_MAX`].
    fn read_again(
        &mut self,
        group: &Group,
        stop: LexemeId,
        after: SetId,
        text: &[u8],
        pos: usize,
        times: u32,
    ) -> Result<Vec<Group>, Fault> {
        debug_assert!(self.depth + times < REREAD_DEPTH_MAX, "the machine reads no deeper");
        let began = pos - text.len();
        let guard = Guard::after(self.chart.machine.lexer.guard(group.lex).past);
        let reached = Reached { set: after, nodes: group.nodes.clone(), guard, lexemes: vec![stop] };
        let node = self.node(&[reached], began, pos)?;
        let mut groups = vec![self.fresh(after, guard, vec![node])?];
        self.depth += times + 1;
        self.chart.machine.tape.truncate(began);
        for (at, &byte) in text.iter().enumerate() {
            groups = self.step(groups, byte, began + at)?;
            self.chart.machine.tape.truncate(began + at);
            self.chart.machine.tape.push(byte);
        }
        self.depth -= times + 1;
        Ok(groups)
    }

    fn step_exact(&mut self, groups: Vec<Group>, byte: u8, pos: usize) -> Result<Vec<Group>, Fault> {
        let mut next = Vec::with_capacity(groups.len() + 1);
        let mut agenda = groups;
        let mut times = 0;
        // By what look-around knows.
        let mut ended: Vec<(Guard, SetId, Vec<Reached>)> = Vec::new();
        while !agenda.is_empty() {
            let mut readers = Vec::new();
            for group in agenda {
                let goes_on = self.goes_on(&group, byte)?;
                let machine = &mut *self.chart.machine;
                let ends = machine.lexer.ends_before(group.lex, byte, goes_on)?;
                if ends != NO_LEXEMES {
                    let (read_again, reached) = self.end_looking_ahead(&group, ends, pos, times)?;
                    readers.extend(read_again);
                    for reached in reached {
                        match ended.iter_mut().find(|(guard, ..)| *guard == reached.guard) {
                            Some((_, set, all)) => {
                                *set = self.chart.machine.sets.union(*set, reached.set)?;
                                all.push(reached);
                            }
                            None => ended.push((reached.guard, reached.set, vec![reached])),
                        }
                    }
                }
                if goes_on != DEAD {
                    next.push(Group { lex: goes_on, ..group });
                }
            }
            agenda = self.unite(readers, false)?;
            times += 1;
        }
        for (guard, set, reached) in ended {
            let lex = self.chart.machine.begin_guarded(set, guard, byte)?.lex;
            if lex != DEAD {
                let node = self.node(&reached, pos, pos)?;
                next.push(Group { lex, set, nodes: vec![node] });
            }
        }
        let mut viable = Vec::with_capacity(next.len());
        for group in next {
            let machine = &mut *self.chart.machine;
            // Ignored text is not recorded.
            let thread = Thread { lex: group.lex, set: group.set, began: 0 };
            if !machine.lexer.state(group.lex).may_be_stuck || machine.leads_on(thread)? {
                viable.push(group);
            }
        }
        self.merge(viable)
    }

    /// Unites groups that are one thread of the machine.
    fn merge(&mut self, groups: Vec<Group>) -> Result<Vec<Group>, Fault> {
        let is_exact = self.chart.cfg.mode == LexerMode::Exact;
        self.unite(groups, is_exact)
    }

    /// Unites groups of one lexer state and set, or with `unites_sets` also of several sets, as the machine does behind a byte.
    fn unite(&mut self, groups: Vec<Group>, unites_sets: bool) -> Result<Vec<Group>, Fault> {
        if groups.len() < 2 {
            return Ok(groups);
        }
        // In the order in which they were found: the numbers of states and sets depend on what else was asked of the machine.
        let mut merged: Vec<Group> = Vec::with_capacity(groups.len());
        let mut by_state: FxHashMap<LexStateId, Vec<usize>> = FxHashMap::default();
        for group in groups {
            let machine = &mut *self.chart.machine;
            let unites_sets = unites_sets && machine.lexer.state(group.lex).kind != StateKind::Fresh;
            let (cfg, sets, nodes) = (&machine.cfg, &machine.sets, &self.chart.nodes);
            // Where a lexeme is recorded, where it began counts.
            let records = machine.lexer.state(group.lex).records;
            let began = |group: &Group| group.nodes.first().map(|&node| nodes[node].pos);
            let is_same_time = |set: SetId| !cfg.has_scopes || sets.time(set) == sets.time(group.set);
            let is_one = |other: &Group| {
                (!records || began(other) == began(&group))
                    && (other.set == group.set || unites_sets && is_same_time(other.set))
            };
            let of_state = by_state.entry(group.lex).or_default();
            match of_state.iter().rev().find(|&&index| is_one(&merged[index])) {
                Some(&index) => {
                    let other = &mut merged[index];
                    other.set = machine.sets.union(other.set, group.set)?;
                    other.nodes.extend(group.nodes);
                    other.nodes.sort_unstable();
                    other.nodes.dedup();
                }
                None => {
                    of_state.push(merged.len());
                    merged.push(group);
                }
            }
        }
        Ok(merged)
    }

    /// What the text may be in here, at a token letter or at its end: all lexemes that match have ended.
    fn boundary(&mut self, groups: &[Group], pos: usize) -> Result<Vec<Reached>, Fault> {
        let mut boundary = Vec::new();
        let mut agenda = groups.to_vec();
        let mut times = 0;
        while !agenda.is_empty() {
            let mut readers = Vec::new();
            for group in agenda {
                let state = self.chart.machine.lexer.state(group.lex);
                if state.kind == StateKind::Fresh {
                    let guard = self.chart.machine.lexer.guard(group.lex);
                    boundary.push(Reached { set: group.set, nodes: group.nodes, guard, lexemes: Vec::new() });
                } else if state.ends != NO_LEXEMES {
                    let ends = state.ends;
                    let (read_again, reached) = self.end_looking_ahead(&group, ends, pos, times)?;
                    readers.extend(read_again);
                    boundary.extend(reached);
                }
            }
            agenda = self.unite(readers, false)?;
            times += 1;
        }
        // The text ends here for all look-aheads.
        boundary.retain(|reached| self.chart.machine.may_end(reached.guard));
        Ok(boundary)
    }

    /// Adds the groups after a token letter that stands at `began`.
    fn read_letter(&mut self, token: u32, began: usize, reached: Vec<Reached>) -> Result<(), Fault> {
        // What leads to the same set is one node, so that it is left to the rules which way is preferred.
        let mut from: Vec<(SetId, Vec<NodeId>)> = Vec::new();
        for reached in reached {
            let machine = &mut *self.chart.machine;
            let (set, _) = machine.sets.scan_token(reached.set, token, &mut machine.lexer)?;
            if set == NO_SET {
                continue;
            }
            let nodes =
                if reached.lexemes.is_empty() { reached.nodes } else { vec![self.node(&[reached], began, began)?] };
            match from.iter_mut().find(|(other, _)| *other == set) {
                Some((_, others)) => others.extend(nodes),
                None => from.push((set, nodes)),
            }
        }
        let mut begun: Vec<(SetId, Vec<NodeId>)> = Vec::new();
        for (set, nodes) in from {
            // What follows a token letter counts for the next token.
            self.chart.begin(self.pos, self.token + 1);
            nodes.iter().try_for_each(|&node| self.chart.scan_token(node, token, self.pos))?;
            let node = self.chart.finish(&[])?;
            match begun.first_mut().filter(|_| self.chart.cfg.mode == LexerMode::Exact) {
                Some((all, nodes)) => {
                    *all = self.chart.machine.sets.union(*all, set)?;
                    nodes.push(node);
                }
                None => begun.push((set, vec![node])),
            }
        }
        for (set, nodes) in begun {
            let outset = self.chart.machine.outset();
            let group = self.fresh(set, outset, nodes)?;
            self.groups.push(group);
        }
        let groups = std::mem::take(&mut self.groups);
        self.groups = self.merge(groups)?;
        Ok(())
    }

    /// A token has ended: scopes whose tokens are used up end.
    fn end_token(&mut self, token: u32) -> Result<(), Fault> {
        self.token = token + 1;
        self.chart.machine.sets.token_now = token + 1;
        if !self.chart.cfg.has_scopes {
            return Ok(());
        }
        let mut next = Vec::new();
        for group in std::mem::take(&mut self.groups) {
            self.end_token_of(group, token, &mut next)?;
        }
        self.groups = self.merge(next)?;
        Ok(())
    }

    fn end_token_of(&mut self, group: Group, token: u32, next: &mut Vec<Group>) -> Result<(), Fault> {
        let thread = Thread { lex: group.lex, set: group.set, began: self.began(&group)? };
        let mut threads = Vec::new();
        self.chart.machine.end_token_thread(thread, token, &mut threads)?;
        let is_fresh = self.chart.machine.lexer.state(group.lex).kind == StateKind::Fresh;
        if !is_fresh && threads == [thread] {
            next.push(group);
            return Ok(());
        }
        let mut cuts = Vec::with_capacity(group.nodes.len());
        let live = if is_fresh { Live::All } else { self.live(group.lex) };
        for &node in &group.nodes {
            cuts.push((node, self.chart.cut(node, token, (!is_fresh).then_some(&live))?));
        }
        let number = self.chart.cuts.len();
        self.chart.cuts.push(Frontier { nodes: group.nodes, live });
        for Thread { lex, set, .. } in threads {
            let begins = self.chart.machine.lexer.state(lex).kind == StateKind::Fresh;
            let mut nodes = Vec::new();
            if begins {
                // Where scopes have ended, and, at a lexeme's start, where the others go on.
                self.chart.begin(self.pos, token + 1);
                for (node, cut) in &cuts {
                    if is_fresh {
                        self.chart.carry_all(*node, &cut.kept)?;
                    }
                    cut.ended.iter().try_for_each(|&ended| self.chart.complete_cut(ended, number))?;
                }
                nodes.push(self.chart.finish(&[])?);
            } else {
                // What goes on, where it began.
                for (node, cut) in cuts.iter().filter(|(_, cut)| !cut.kept.is_empty()) {
                    let (pos, began) = (self.chart.nodes[*node].pos, self.chart.nodes[*node].token);
                    self.chart.begin(pos, began);
                    self.chart.carry_all(*node, &cut.kept)?;
                    nodes.push(self.chart.finish(&cut.expired)?);
                }
            }
            next.push(Group { lex, set, nodes });
        }
        Ok(())
    }

    fn live(&self, lex: LexStateId) -> Live {
        Live::Lexemes(self.chart.machine.lexer.live_lexemes(lex).collect())
    }

    /// What the text is, if it ends here.
    pub fn finish(&mut self) -> Result<Outcome, Fault> {
        let groups = self.groups.clone();
        let mut accepting = Vec::new();
        for reached in self.boundary(&groups, self.pos)? {
            if self.chart.machine.sets.accepts(reached.set) {
                accepting.push(reached);
            }
        }
        if !accepting.is_empty() {
            let node = self.node(&accepting, self.pos, self.pos)?;
            debug_assert!(self.chart.items(node).iter().any(|item| item.dot == DOT_ACCEPT), "the machine accepts");
            return Ok(Outcome::Accepted(node));
        }
        self.frontiers(groups).map(Outcome::Open)
    }

    /// What is in progress. A lexeme that no byte goes on with has ended.
    fn frontiers(&mut self, mut groups: Vec<Group>) -> Result<Vec<Frontier>, Fault> {
        let mut frontiers = Vec::new();
        let mut times = 0;
        while !groups.is_empty() {
            let mut readers = Vec::new();
            for group in groups.into_iter().rev() {
                let lexer = &mut self.chart.machine.lexer;
                let ends = lexer.state(group.lex).ends;
                if lexer.state(group.lex).kind == StateKind::Fresh {
                    frontiers.push(Frontier { nodes: group.nodes, live: Live::All });
                } else if ends != NO_LEXEMES && !lexer.grows(group.lex)? {
                    let (read_again, reached) = self.end_looking_ahead(&group, ends, self.pos, times)?;
                    readers.extend(read_again);
                    for reached in reached {
                        let node = self.node(&[reached], self.pos, self.pos)?;
                        frontiers.push(Frontier { nodes: vec![node], live: Live::All });
                    }
                } else {
                    let live = self.live(group.lex);
                    frontiers.push(Frontier { nodes: group.nodes, live });
                }
            }
            groups = self.unite(readers, false)?;
            times += 1;
        }
        Ok(frontiers)
    }
}
