//! Look-around in `exact` mode: whether a place between lexemes leads to the text's end.
//!
//! What look-around knows at a place is one of few values, so that each rule can be asked once from which value it leads to which:
//! reachability along the words of a grammar, tabulated as in T. Reps, Information and Software Technology 40, 1998. What waits
//! for the rules of an Earley set are its continuations, a finite graph.
//! A grammar in which every way through a rule leads on has no traps, and pays nothing while it is used. In the others each
//! lexeme that begins is asked. That is most often known when a grammar is compiled.
//!
//! Parameters are not looked at: a rule leads to all that it leads to with any. Grammars with what ends lexemes from without, or
//! decides at run time what is a rule, are not asked: see [`Cfg::is_asked_for_traps`].

use std::collections::VecDeque;
use std::sync::Arc;

use larkspur_grammar::{ByteSet, IndexVec, LexerMode, Unproductive, define_id};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Machine, Thread};
use crate::cfg::{Cfg, DOT_ACCEPT, DOT_END, DotId, LexemeId, NonterminalId, Symbol};
use crate::earley::sets::{Mark, NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::arena::Expr;
use crate::lexer::guards::Guard;
use crate::lexer::states::{DEAD, LexStateId, Lexer, NO_LEXEMES};

/// Lexer states and steps looked at when a grammar is compiled, and while it is used. Lark's own grammars take some
/// hundreds; past it nothing is said of traps, as if there were none.
const STATES_MAX: usize = 4_096;
const STEPS_MAX: usize = 65_536;

define_id! {
    /// A [`Place`].
    pub(crate) struct PlaceId = "place";
}
define_id! {
    /// An [`Entry`].
    pub(crate) struct EntryId = "entry";
}

/// What look-around knows between two lexemes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Place {
    guard: Guard,
    /// Bytes that do not come next: ignored text that has ended here would go on.
    barred: ByteSet,
}

/// What is read from a place on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Part {
    Rule(NonterminalId),
    /// A rule from here on.
    Rest(DotId, Stage),
}

/// A part of the grammar from a place on.
#[derive(Default, Debug)]
struct Entry {
    /// Where it leads to, by texts that are not empty.
    exits: Vec<PlaceId>,
    /// Whether it leads to the end of the text.
    accepts: bool,
    /// Who goes on behind it.
    waiters: Vec<(EntryId, DotId)>,
}

/// How a dot was reached, which decides what may be done there besides reading its symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Stage {
    /// Nothing of the rule was read: the symbol may be left out if it can be empty.
    Predicted,
    /// Something was: so it is, and ignored text may stand here.
    Read,
    /// As an item of a set, beside which there are others if the symbol may be left out: ignored text may stand here.
    Item,
    /// Behind ignored text that may not start again: nothing besides.
    Only,
}

/// A place on the way through an entry.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Step {
    entry: EntryId,
    dot: DotId,
    place: PlaceId,
    stage: Stage,
}

/// What is known of all ways through the grammar.
#[derive(Default, Debug)]
pub(crate) struct Ways {
    places: IndexVec<PlaceId, Place>,
    place_ids: FxHashMap<Place, PlaceId>,
    lexeme_exits: FxHashMap<(LexemeId, PlaceId), Arc<[PlaceId]>>,
    entries: IndexVec<EntryId, Entry>,
    entry_ids: FxHashMap<(Part, PlaceId), EntryId>,
    steps: FxHashSet<Step>,
    agenda: Vec<Step>,
    /// Whether a set at a place leads to the end, as far as that is known.
    sets: FxHashMap<(SetId, PlaceId), bool>,
    states: usize,
}

/// What compiling finds out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Traps {
    /// There are none, or it is not known.
    None,
    /// There may be some.
    Some,
    /// No text leads to the end.
    Everywhere,
}

impl Cfg {
    /// Whether look-around can make traps that are looked for.
    fn is_asked_for_traps(&self) -> bool {
        self.mode == LexerMode::Exact
            && (self.has_follows || self.has_behinds)
            && !(self.has_scopes || self.has_hidden || self.has_automata || self.has_recorded)
            && self.token_letters.is_empty()
            && !self.lexemes.iter().any(|lexeme| lexeme.competes)
            && self.unproductive == Unproductive::Error
    }
}

impl Machine {
    /// Whether look-around makes traps in the grammar: places that a text leads to and none leads on from.
    pub fn traps(&mut self) -> Result<Traps, Fault> {
        if !self.cfg.is_asked_for_traps() {
            return Ok(Traps::None);
        }
        let cfg = self.cfg.clone();
        let mut ways = Ways::default();
        let place = ways.place(Place { guard: self.outset(), barred: ByteSet::EMPTY });
        let start = ways.entry(&cfg, Part::Rest(cfg.start, Stage::Read), place);
        ways.run(&cfg, &mut self.lexer)?;
        if ways.is_spent() {
            return Ok(Traps::None);
        }
        if !ways.entries[start].accepts {
            return Ok(Traps::Everywhere);
        }
        let has_traps = ways.has_dead_steps(&cfg, &mut self.lexer)?;
        Ok(if has_traps { Traps::Some } else { Traps::None })
    }

    /// In a grammar with traps: whether the lexemes of a thread lead to the end of the text.
    ///
    /// Errors: `ignored_places_max`.
    pub(super) fn leads_to_an_end(&mut self, thread: Thread) -> Result<bool, Fault> {
        let cfg = self.cfg.clone();
        let mut seen: FxHashSet<LexStateId> = FxHashSet::from_iter([thread.lex]);
        let mut agenda = VecDeque::from([thread.lex]);
        while let Some(lex) = agenda.pop_front() {
            let ends = self.lexer.state(lex).ends;
            for &(guard, ends) in self.lexer.by_follow(lex, ends)?.iter() {
                for lexeme in self.lexer.lexemes(ends).to_vec() {
                    let alone = self.lexer.lexeme_set(&[lexeme]);
                    let set = self.scan(Thread { lex, ..thread }, alone)?;
                    let barred = match cfg.lexemes[lexeme].ignored_by {
                        Some(_) => self.lexer.goes_on_with(lex, lexeme)?,
                        None => ByteSet::EMPTY,
                    };
                    if self.set_leads_to_an_end(set, Place { guard, barred })? {
                        return Ok(true);
                    }
                }
            }
            for next in self.lexer.row(lex)?.next {
                if next != DEAD && seen.insert(next) {
                    agenda.push_back(next);
                }
            }
            if seen.len() > self.limits.ignored_places_max {
                return Err(Fault::exceeded("ignored_places_max", self.limits.ignored_places_max as u64));
            }
        }
        Ok(false)
    }

    fn set_leads_to_an_end(&mut self, set: SetId, place: Place) -> Result<bool, Fault> {
        let cfg = self.cfg.clone();
        let mut ways = std::mem::take(&mut self.ways);
        let start = (set, ways.place(place));
        let mut seen: FxHashSet<(SetId, PlaceId)> = FxHashSet::from_iter([start]);
        let mut agenda = vec![start];
        let mut found = false;
        while let Some((set, place)) = agenda.pop() {
            match ways.sets.get(&(set, place)) {
                Some(true) => found = true,
                Some(false) => continue,
                None => {}
            }
            for item in self.sets.items(set).iter().filter(|item| item.mark.is_item()) {
                if found {
                    break;
                }
                let stage = if item.mark == Mark::NONE { Stage::Item } else { Stage::Only };
                let entry = ways.entry(&cfg, Part::Rest(item.dot, stage), place);
                ways.run(&cfg, &mut self.lexer)?;
                found = ways.entries[entry].accepts || ways.is_spent();
                let further = ways.entries[entry].exits.iter().map(|&exit| (item.continuation, exit));
                agenda.extend(further.filter(|&(set, exit)| set != NO_SET && seen.insert((set, exit))));
            }
            if found {
                break;
            }
        }
        if found {
            ways.sets.insert(start, true);
        } else {
            ways.sets.extend(seen.into_iter().map(|dead| (dead, false)));
        }
        self.ways = ways;
        Ok(found)
    }
}

impl Ways {
    fn place(&mut self, place: Place) -> PlaceId {
        *self.place_ids.entry(place).or_insert_with(|| self.places.push(place))
    }

    /// Past this what is known is not all that there is.
    fn is_spent(&self) -> bool {
        self.states > STATES_MAX || self.steps.len() > STEPS_MAX
    }

    fn entry(&mut self, cfg: &Cfg, part: Part, place: PlaceId) -> EntryId {
        if let Some(&known) = self.entry_ids.get(&(part, place)) {
            return known;
        }
        let entry = self.entries.push(Entry::default());
        self.entry_ids.insert((part, place), entry);
        match part {
            Part::Rest(dot, stage) => self.push(Step { entry, dot, place, stage }),
            Part::Rule(id) => {
                for alternative in &cfg.nonterminals[id].alternatives {
                    self.push(Step { entry, dot: alternative.dot, place, stage: Stage::Predicted });
                }
            }
        }
        entry
    }

    fn push(&mut self, step: Step) {
        if self.steps.insert(step) {
            self.agenda.push(step);
        }
    }

    /// Follows all ways that are under way to their ends.
    fn run(&mut self, cfg: &Cfg, lexer: &mut Lexer) -> Result<(), Fault> {
        while let Some(step) = self.agenda.pop() {
            if self.is_spent() {
                return Ok(());
            }
            if step.dot == DOT_END {
                if step.stage == Stage::Read {
                    self.exit(step.entry, step.place);
                }
                continue;
            }
            for next in self.after(cfg, lexer, step, true)? {
                self.push(next);
            }
        }
        Ok(())
    }

    fn exit(&mut self, entry: EntryId, place: PlaceId) {
        if self.entries[entry].exits.contains(&place) {
            return;
        }
        self.entries[entry].exits.push(place);
        for (entry, dot) in self.entries[entry].waiters.clone() {
            self.push(Step { entry, dot, place, stage: Stage::Read });
        }
    }

    /// The steps behind a step's symbol, as far as they are known. With `waits` those that are found later are added then.
    fn after(&mut self, cfg: &Cfg, lexer: &mut Lexer, step: Step, waits: bool) -> Result<Vec<Step>, Fault> {
        let dot = cfg.dots[step.dot];
        let may_skip = dot.optional || matches!(dot.symbol, Symbol::Nonterminal(id) if cfg.nonterminals[id].nullable);
        let mut after = Vec::new();
        if may_skip && matches!(step.stage, Stage::Predicted | Stage::Read) {
            after.push(Step { dot: dot.next, ..step });
        }
        let exits = match dot.symbol {
            Symbol::Lexeme(lexeme) => self.lexeme_exits(cfg, lexer, lexeme, step.place)?.to_vec(),
            Symbol::Nonterminal(id) => {
                let called = self.entry(cfg, Part::Rule(id), step.place);
                if waits && !self.entries[called].waiters.contains(&(step.entry, dot.next)) {
                    self.entries[called].waiters.push((step.entry, dot.next));
                }
                self.entries[called].exits.clone()
            }
            Symbol::Nothing => {
                self.entries[step.entry].accepts |= self.may_end(step.place, lexer);
                vec![]
            }
            Symbol::Tokens(_) => unreachable!("grammars with token letters are not asked"),
        };
        after.extend(exits.into_iter().map(|place| Step { dot: dot.next, place, stage: Stage::Read, ..step }));
        self.ignore(cfg, lexer, step, &mut after)?;
        Ok(after)
    }

    /// The same place behind ignored text, if that may stand there.
    fn ignore(&mut self, cfg: &Cfg, lexer: &mut Lexer, step: Step, after: &mut Vec<Step>) -> Result<(), Fault> {
        let may_ignore = matches!(step.stage, Stage::Read | Stage::Item);
        let reads = step.dot == DOT_ACCEPT || cfg.reads[step.dot.0 as usize];
        let Some(grammar) = cfg.dots[step.dot].grammar.filter(|_| may_ignore && reads) else { return Ok(()) };
        let stage = if cfg.ignore_once[grammar] { Stage::Only } else { Stage::Item };
        for &lexeme in &cfg.ignored[grammar] {
            let exits = self.lexeme_exits(cfg, lexer, lexeme, step.place)?;
            after.extend(exits.iter().map(|&place| Step { place, stage, ..step }));
        }
        Ok(())
    }

    /// Whether the text may end at a place, as far as look-aheads say.
    fn may_end(&self, place: PlaceId, lexer: &Lexer) -> bool {
        let owed = self.places[place].guard.owed;
        owed == Expr::ALL || lexer.arena().nullable(owed)
    }

    /// Where a lexeme leads to that begins at a place.
    fn lexeme_exits(
        &mut self,
        cfg: &Cfg,
        lexer: &mut Lexer,
        lexeme: LexemeId,
        from: PlaceId,
    ) -> Result<Arc<[PlaceId]>, Fault> {
        if let Some(known) = self.lexeme_exits.get(&(lexeme, from)) {
            return Ok(known.clone());
        }
        let Place { guard, barred } = self.places[from];
        let whole = lexer.start(&[lexeme])?;
        let start = lexer.guarded(whole, guard)?;
        let mut seen: FxHashSet<LexStateId> = FxHashSet::from_iter([DEAD, start]);
        let mut agenda = vec![start];
        let mut exits: Vec<PlaceId> = Vec::new();
        while let Some(lex) = agenda.pop() {
            self.states += 1;
            if lex == DEAD || self.is_spent() {
                break;
            }
            let ends = lexer.state(lex).ends;
            if ends != NO_LEXEMES {
                let is_ignored = cfg.lexemes[lexeme].ignored_by.is_some();
                let barred = if is_ignored { lexer.goes_on_with(lex, lexeme)? } else { ByteSet::EMPTY };
                for &(guard, _) in lexer.by_follow(lex, ends)?.iter() {
                    exits.push(self.place(Place { guard, barred }));
                }
            }
            for (byte, next) in (0..=255u8).zip(lexer.row(lex)?.next) {
                if !(lex == start && barred.contains(byte)) && seen.insert(next) {
                    agenda.push(next);
                }
            }
        }
        exits.sort_unstable();
        exits.dedup();
        let exits: Arc<[PlaceId]> = exits.into();
        self.lexeme_exits.insert((lexeme, from), exits.clone());
        Ok(exits)
    }

    /// Whether some step that texts lead to leads to no end of its part.
    fn has_dead_steps(&mut self, cfg: &Cfg, lexer: &mut Lexer) -> Result<bool, Fault> {
        let steps: Vec<Step> = self.steps.iter().copied().collect();
        let mut before: FxHashMap<Step, Vec<Step>> = FxHashMap::default();
        let mut agenda = Vec::new();
        for &step in &steps {
            let is_end = match step.dot {
                DOT_END => step.stage == Stage::Read,
                DOT_ACCEPT => self.may_end(step.place, lexer),
                _ => false,
            };
            if is_end {
                agenda.push(step);
            }
            if step.dot != DOT_END {
                for next in self.after(cfg, lexer, step, false)? {
                    before.entry(next).or_default().push(step);
                }
            }
        }
        let mut alive: FxHashSet<Step> = agenda.iter().copied().collect();
        while let Some(step) = agenda.pop() {
            for &earlier in before.get(&step).into_iter().flatten() {
                if alive.insert(earlier) {
                    agenda.push(earlier);
                }
            }
        }
        Ok(steps.iter().any(|step| step.stage != Stage::Predicted && !alive.contains(step)))
    }
}
