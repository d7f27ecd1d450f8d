//! `longest` mode: lexemes that swallow what must follow them.
//!
//! No shorter match is ever retried in `longest` mode, so that `/[a-z]+/ "x"` can never be finished. From each Earley
//! set the lexer's states are searched for one in which lexemes match, and every byte with which anything could follow
//! is taken by a lexeme that goes on over all characters that begin with it. Where it is so however the lexeme goes on, that is a
//! lint, with the text as a witness: a comment that a line break ends may end there. If the search finds no way at all to
//! finish, and nothing was left out of it, the grammar is an error: such masks would lead a model into a trap.
//!
//! Embedded grammars that say that nothing is swallowed in them, as JSON values do, are not searched.
//!
//! Compiling searches until it is sure that there is no error, which is mostly soon; for the lints the search begins anew when somebody
//! asks for them.

use std::collections::VecDeque;

use larkspur_grammar::{ByteSet, Diagnostic, LexerMode};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::cfg::LexemeId;
use crate::earley::closure::{Closure, Owner};
use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::states::{DEAD, LexStateId, NO_LEXEMES, StateKind};
use crate::machine::Machine;

/// Earley sets searched; enough for the lexical structure of any grammar seen, few enough not to be felt.
const SETS_MAX: usize = 32;

/// Lexer states searched from each set.
const STATES_MAX: usize = 32;

/// Lexer states looked at to see whether a longer match helps, for all of a grammar.
const LONGER_MAX: usize = 1_000;

/// Bytes of sets made for that; thousands of rules that may all begin in one place make sets of megabytes.
const BYTES_MAX: usize = 4 << 20;

/// The part of `Limits::earley_work_max` that may be spent for them, one in so many.
const WORK_SHARE: usize = 4;

/// So few steps from a state are taken one by one, whatever reads best.
const FEW_BYTES: usize = 2;

/// Lexemes that may follow, looked at one by one.
const LEXEMES_MAX: usize = 64;

/// All bytes, those first that read well in a message: lower case, what else has a shape, the others.
const READABLE_FIRST: [u8; 256] = {
    let mut bytes = [0; 256];
    let (mut len, mut class) = (0, 0);
    while class < 3 {
        let mut byte = 0;
        while byte < 256 {
            let is_lower = (byte as u8).is_ascii_lowercase();
            let of_class = if is_lower { 0 } else { 2 - (byte as u8).is_ascii_graphic() as usize };
            if of_class == class {
                bytes[len] = byte as u8;
                len += 1;
            }
            byte += 1;
        }
        class += 1;
    }
    bytes
};

struct Search<'a> {
    machine: &'a mut Machine,
    queue: VecDeque<SetId>,
    seen: FxHashSet<SetId>,
    reported: FxHashMap<LexemeId, Diagnostic>,
    /// The same for lexemes with look-around, which is there to forbid, and for those that may go on to where something can
    /// follow: said if it is all that can be said of an error.
    forgiven: FxHashMap<LexemeId, Diagnostic>,
    /// Bytes of sets at which the search ends.
    bytes_max: usize,
    /// States looked at behind a place where something is swallowed.
    longer: usize,
    /// Whether something was left out.
    is_cut: bool,
    can_finish: bool,
    wanted: Wanted,
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// Whether the grammar can be finished.
    End,
    /// All lints.
    Lints,
}

/// A lexer state of the search, and a text that leads to it.
#[derive(Clone)]
struct Reached {
    lex: LexStateId,
    text: Vec<u8>,
}

/// What may follow in a state in which lexemes end.
struct Ending {
    after: SetId,
    /// Whether anything may.
    is_open: bool,
    /// The bytes that lexemes take that go on, and those with which something may follow.
    goes_on: ByteSet,
    follow: ByteSet,
    swallow: Option<Swallow>,
}

impl Ending {
    /// Whether what is swallowed elsewhere may follow here.
    fn allows(&self, swallow: &Swallow) -> bool {
        let bytes = swallow.bytes.intersect(&self.follow);
        bytes.intersect(&self.goes_on) != bytes
    }
}

/// What follows a lexeme that ends is taken by one that goes on.
struct Swallow {
    lexeme: LexemeId,
    /// The bytes with which what is taken begins.
    bytes: ByteSet,
    /// It is look-around that takes it.
    is_forbidden: bool,
}

/// Lints of a grammar, which are of `longest` mode. The error, if there is one, is last.
pub(crate) fn lints(machine: &mut Machine) -> Result<Vec<Diagnostic>, Fault> {
    Ok(search(machine, Wanted::Lints)?.unwrap_or_default())
}

/// The same of a grammar that cannot be finished, or of which all were found on the way; `None` of one that can, perhaps.
pub(crate) fn lints_without_end(machine: &mut Machine) -> Result<Option<Vec<Diagnostic>>, Fault> {
    search(machine, Wanted::End)
}

/// Lints of a grammar. `None` once it is found what is wanted, if that is not all of them.
fn search(machine: &mut Machine, wanted: Wanted) -> Result<Option<Vec<Diagnostic>>, Fault> {
    // What is live in a set depends on the text before it, with look-behinds.
    if machine.cfg.mode != LexerMode::Longest || machine.cfg.has_behinds {
        return Ok(Some(Vec::new()));
    }
    let start = machine.start()?;
    let Some(thread) = Machine::single(start) else { return Ok(Some(Vec::new())) };
    // A budget ends a rule in the middle of a lexeme.
    let has_scopes = machine.cfg.has_scopes;
    let mut search = Search {
        bytes_max: machine.sets.bytes() + BYTES_MAX,
        machine,
        queue: VecDeque::from([thread.set]),
        seen: FxHashSet::from_iter([thread.set]),
        reported: FxHashMap::default(),
        forgiven: FxHashMap::default(),
        longer: 0,
        is_cut: has_scopes,
        can_finish: false,
        wanted,
    };
    while let Some(set) = search.queue.pop_front() {
        search.set(set)?;
        if search.is_done() {
            return Ok(None);
        }
    }
    let never = !search.can_finish && !search.is_cut;
    let is_all = never && search.reported.is_empty();
    let forgiven = search.forgiven.into_values().filter(|_| is_all);
    let mut diagnostics: Vec<Diagnostic> = search.reported.into_values().chain(forgiven).collect();
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span.start));
    if never && !diagnostics.is_empty() {
        let witness = diagnostics.remove(0);
        let mut error = Diagnostic { code: "P004", severity: larkspur_grammar::Severity::Error, ..witness };
        error.message = format!("the grammar can never be finished in `longest` mode: {}", error.message);
        diagnostics.push(error);
    }
    Ok(Some(diagnostics))
}

impl Search<'_> {
    /// Whether it is known that there is no error, and nothing else is wanted.
    fn is_done(&self) -> bool {
        self.wanted == Wanted::End && (self.can_finish || self.is_cut)
    }

    fn set(&mut self, set: SetId) -> Result<(), Fault> {
        let closure = self.machine.sets.closure(set, &mut self.machine.lexer)?;
        self.can_finish |= closure.accepts;
        // Tokens lead on, too; where they stand, nothing is certain.
        self.is_cut |= !closure.token_scans.is_empty();
        let mut start = closure.start;
        if let Some(after) = self.behind_embedded(set, &closure)? {
            self.reach(after);
            let cfg = self.machine.cfg.clone();
            start = self.machine.lexer.retain(start, |lexeme| cfg.lexemes[lexeme].ignored_by.is_some())?;
        }
        let mut reached = vec![Reached { lex: start, text: Vec::new() }];
        let mut seen: FxHashSet<LexStateId> = FxHashSet::from_iter([start]);
        let mut next = 0;
        while next < reached.len() && !self.is_done() {
            let ending = self.state(set, &reached[next])?;
            if let Some(ending) = &ending
                && let Some(swallow) = &ending.swallow
            {
                let is_lost = !self.longer_helps(set, reached[next].clone(), ending, swallow)?;
                self.report(&reached[next], ending, swallow, is_lost)?;
            }
            self.is_cut |= self.step(&mut reached, &mut seen, next)?;
            next += 1;
        }
        Ok(())
    }

    /// A set that is to be searched, if there is room for it.
    fn reach(&mut self, set: SetId) {
        if self.seen.len() >= SETS_MAX {
            self.is_cut |= !self.seen.contains(&set);
        } else if self.seen.insert(set) {
            self.queue.push_back(set);
        }
    }

    /// The set behind an embedded grammar in which nothing is swallowed, if nothing else may stand in a set but ignored text, and
    /// what follows begins with no byte that a text of it could go on with.
    fn behind_embedded(&mut self, set: SetId, closure: &Closure) -> Result<Option<SetId>, Fault> {
        let Machine { cfg, sets, lexer, .. } = &mut *self.machine;
        let within = |node: u32| cfg.nonterminals[closure.nodes[node as usize].0].within;
        let is_within = |owner: Owner| matches!(owner, Owner::Predicted(node) if within(node).is_some());
        if closure.scans().is_empty() || !closure.scans().iter().all(|scan| is_within(scan.owner)) {
            return Ok(None);
        }
        let (mut after, mut goes_on_with) = (NO_SET, ByteSet::EMPTY);
        for node in 0..closure.nodes.len() as u32 {
            if let Some(grammar) = within(node)
                && closure.waiters(node).iter().any(|waiter| !is_within(waiter.owner))
            {
                let next = sets.continuation(set, closure, Owner::Predicted(node), lexer)?;
                after = sets.union(after, next)?;
                let bytes = cfg.origins[grammar].goes_on_with.unwrap_or(ByteSet::ALL);
                goes_on_with = goes_on_with.union(&bytes);
            }
        }
        // Blanks that are ignored are so as a part of the text, too.
        let start = sets.closure(after, lexer)?.start_unignored;
        let follow = lexer.row(start)?.live;
        Ok(follow.intersect(&goes_on_with).is_empty().then_some(after))
    }

    /// Adds the states behind one; whether some were left out.
    fn step(
        &mut self,
        reached: &mut Vec<Reached>,
        seen: &mut FxHashSet<LexStateId>,
        from: usize,
    ) -> Result<bool, Fault> {
        let (lexer, before) = (&mut self.machine.lexer, reached[from].lex);
        let first = lexer.all_first_bytes(before);
        let bytes: SmallVec<[u8; FEW_BYTES]> = match first.len() as usize {
            // Within a literal there is one; a few steps take less than a row.
            ..=FEW_BYTES => first.iter().collect(),
            _ => {
                lexer.row(before)?;
                READABLE_FIRST.into_iter().filter(|&byte| first.contains(byte)).collect()
            }
        };
        for byte in bytes {
            let lex = lexer.next(before, byte)?;
            if lex == DEAD || seen.contains(&lex) {
                continue;
            }
            if reached.len() >= STATES_MAX {
                return Ok(true);
            }
            seen.insert(lex);
            let text = [&reached[from].text[..], &[byte]].concat();
            reached.push(Reached { lex, text });
        }
        Ok(false)
    }

    /// Whether a longer match of the same lexeme may be followed by what is swallowed here, or by anything where nothing may
    /// follow here: it is not lost then. Also if there is no more time to find out.
    fn longer_helps(&mut self, set: SetId, from: Reached, ending: &Ending, swallow: &Swallow) -> Result<bool, Fault> {
        let taken = READABLE_FIRST.into_iter().find(|&byte| swallow.bytes.contains(byte));
        let goes_on = taken.map_or(Ok(DEAD), |byte| self.machine.lexer.next(from.lex, byte))?;
        if !self.machine.lexer.live_lexemes(goes_on).any(|live| live == swallow.lexeme) {
            return Ok(false);
        }
        let mut seen: FxHashSet<LexStateId> = FxHashSet::from_iter([from.lex]);
        let mut reached = vec![from];
        let mut next = 0;
        while next < reached.len() {
            self.step(&mut reached, &mut seen, next)?;
            next += 1;
            let Some(state) = reached.get(next) else { break };
            self.longer += 1;
            if self.longer > LONGER_MAX {
                return Ok(true);
            }
            let longer = self.state(set, state)?;
            if longer.is_some_and(|longer| longer.is_open && (!ending.is_open || longer.allows(swallow))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What follows if lexemes end in a state.
    fn state(&mut self, set: SetId, Reached { lex, text }: &Reached) -> Result<Option<Ending>, Fault> {
        let is_long = self.machine.sets.work > self.machine.limits.earley_work_max / WORK_SHARE;
        if is_long || self.machine.sets.bytes() > self.bytes_max {
            self.is_cut = true;
            self.queue.clear();
            return Ok(None);
        }
        let lex = *lex;
        let state = self.machine.lexer.state(lex);
        let (ends, is_lazy) = (state.ends, state.kind == StateKind::LazyEnd);
        if ends == NO_LEXEMES {
            return Ok(None);
        }
        // Of the texts that a recorded lexeme matches only one is tried.
        let records = self.machine.lexer.records(ends);
        self.is_cut |= records;
        let after = self.machine.sets.scan(set, ends, text, &mut self.machine.lexer)?;
        let closure = self.machine.sets.closure(after, &mut self.machine.lexer)?;
        let follow = self.machine.lexer.row(closure.start)?.live;
        // What look-around of the lexemes that end leaves of it.
        let (mut allowed, mut may_end) = (ByteSet::EMPTY, false);
        for &(guard, _) in self.machine.lexer.by_follow(lex, ends)?.iter() {
            may_end |= self.machine.may_end(guard);
            let start = self.machine.lexer.guarded(closure.start, guard)?;
            allowed = allowed.union(&self.machine.lexer.row(start)?.live);
        }
        let goes_on = if is_lazy { ByteSet::EMPTY } else { self.swallowing(lex, &follow, closure.start)? };
        let is_open =
            may_end && (closure.accepts || !closure.token_scans.is_empty()) || allowed.intersect(&goes_on) != allowed;
        if is_open {
            self.can_finish |= closure.accepts;
            self.reach(after);
        }
        let mut ending = Ending { after, is_open, goes_on, follow: allowed, swallow: None };
        if records {
            return Ok(Some(ending));
        }
        let ended = self.machine.lexer.lexemes(ends).to_vec();
        let cfg = self.machine.cfg.clone();
        let is_text = |lexeme: &&LexemeId| cfg.lexemes[**lexeme].ignored_by.is_none();
        let text = ended.iter().find(is_text);
        let Some(&lexeme) = text.or(ended.first()) else { return Ok(Some(ending)) };
        // Where ignored text is also the beginning of something that is not, the text goes on as that; where it is that of
        // other ignored text, as that.
        if text.is_none() && self.machine.lexer.live_lexemes(lex).any(|live| live != ended[0]) {
            return Ok(Some(ending));
        }
        let is_forbidden = !is_open && allowed.is_empty() && !follow.is_empty();
        let swallowed = match self.swallowed_one((lex, after), lexeme, &ending.goes_on)? {
            _ if !is_open => follow,
            // After ignored text something else may well come first.
            Some(swallowed) if text.is_some() => swallowed,
            _ => return Ok(Some(ending)),
        };
        // A name that an object cannot have leads nowhere; nothing is swallowed behind it.
        if swallowed.is_empty() {
            self.is_cut = true;
            return Ok(Some(ending));
        }
        ending.swallow = Some(Swallow { lexeme, bytes: swallowed, is_forbidden });
        Ok(Some(ending))
    }

    /// Notes the lint of a state; `is_lost` if a longer match does not help.
    fn report(
        &mut self,
        Reached { lex, text }: &Reached,
        ending: &Ending,
        &Swallow { lexeme, bytes, is_forbidden }: &Swallow,
        is_lost: bool,
    ) -> Result<(), Fault> {
        let lex = *lex;
        let is_said = is_lost && !self.machine.lexer.state(lex).looks_ahead;
        let reported = if is_said { &self.reported } else { &self.forgiven };
        if reported.contains_key(&lexeme) {
            return Ok(());
        }
        let taken = READABLE_FIRST.into_iter().find(|&byte| bytes.contains(byte) && !is_forbidden);
        let diagnostic =
            self.diagnostic(lexeme, ending.after, &bytes, text.iter().copied().chain(taken).collect(), (lex, taken))?;
        let reported = if is_said { &mut self.reported } else { &mut self.forgiven };
        reported.insert(lexeme, diagnostic);
        Ok(())
    }

    /// The bytes with which lexemes go on in a state, but for those of `follow` that begin a character which they do not go on
    /// over and which lexemes that begin in the state `start` take.
    fn swallowing(&mut self, lex: LexStateId, follow: &ByteSet, start: LexStateId) -> Result<ByteSet, Fault> {
        let lexer = &mut self.machine.lexer;
        let goes_on = lexer.row(lex)?.live;
        let mut open = ByteSet::EMPTY;
        for byte in goes_on.intersect(follow).iter() {
            let next = lexer.next(lex, byte)?;
            let Some(cut) = lexer.cut(lex, byte, next)? else { continue };
            for &(guard, _) in cut.iter() {
                if lexer.reads_character(start, guard, byte)? {
                    open.insert(byte);
                }
            }
        }
        Ok(goes_on.intersect(&open.negate()))
    }

    /// The lint: `lexeme` has ended, what begins with the bytes `swallowed` may follow in the set `after`, and in the
    /// lexer's state something goes on with the byte.
    fn diagnostic(
        &mut self,
        lexeme: LexemeId,
        after: SetId,
        swallowed: &ByteSet,
        witness: Vec<u8>,
        (lex, taken): (LexStateId, Option<u8>),
    ) -> Result<Diagnostic, Fault> {
        let cfg = self.machine.cfg.clone();
        let start = self.machine.sets.start_state(after, &mut self.machine.lexer)?;
        let mut expected: Vec<&str> = Vec::new();
        for id in self.machine.lexer.live_lexemes(start).collect::<Vec<_>>() {
            let alone = self.machine.lexer.start(&[id])?;
            if expected.len() < 3
                && self.machine.lexer.row(alone)?.live.intersect(swallowed) == self.machine.lexer.row(alone)?.live
            {
                expected.push(&cfg.lexemes[id].name);
            }
        }
        let goes_on = match taken {
            Some(byte) => self.machine.lexer.next(lex, byte)?,
            None => DEAD,
        };
        let mut takers = self.machine.lexer.live_lexemes(goes_on).collect::<Vec<_>>().into_iter();
        let name = &cfg.lexemes[lexeme].name;
        let other = if takers.clone().any(|id| id == lexeme) { None } else { takers.next() };
        let text = String::from_utf8_lossy(&witness).escape_debug().to_string();
        let expected = expected.join(", ");
        let (message, label) = match other.map(|id| &cfg.lexemes[id].name) {
            _ if taken.is_none() => (
                format!("look-around in {name} forbids what must follow it ({expected})"),
                format!("behind \"{text}\" nothing may stand that the rules have next"),
            ),
            None => (
                format!("{name} swallows what must follow it ({expected})"),
                format!("in \"{text}\" the match goes on over the last character"),
            ),
            Some(other) => (
                format!("{other} swallows what must follow {name} ({expected})"),
                format!("in \"{text}\" {other} goes on over the last character"),
            ),
        };
        let help = "say on its rule what ends it, `text[stop=\"…\"]` or `text[suffix=\"…\"]`, or that the first match does, `text[lazy]`; or make \
             the terminal stop before it, put something between them, or use `%larkspur { \"lexer\": \"exact\" }`";
        Ok(Diagnostic::warning("P003", cfg.lexemes[lexeme].span, message).at(label).help(help))
    }

    /// The first bytes of something else that may follow and that is swallowed whole, with no ignored text that could
    /// stand before it. What goes on as the same lexeme loses nothing: in `" "? VALUE` blanks are a value's, too.
    fn swallowed_one(
        &mut self,
        (lex, after): (LexStateId, SetId),
        ended: LexemeId,
        goes_on: &ByteSet,
    ) -> Result<Option<ByteSet>, Fault> {
        let start = self.machine.sets.start_state(after, &mut self.machine.lexer)?;
        if goes_on.is_empty() || self.machine.lexer.live_lexemes(start).count() > LEXEMES_MAX {
            return Ok(None);
        }
        let closure = self.machine.sets.closure(after, &mut self.machine.lexer)?;
        let cfg = self.machine.cfg.clone();
        let going_on: Vec<LexemeId> = self.machine.lexer.live_lexemes(lex).collect();
        let mut swallowed = None;
        for id in self.machine.lexer.live_lexemes(closure.start).collect::<Vec<_>>() {
            let alone = self.machine.lexer.start(&[id])?;
            let first = self.machine.lexer.row(alone)?.live;
            let is_swallowed = first.intersect(goes_on) == first;
            if cfg.lexemes[id].ignored_by.is_some() {
                if !is_swallowed {
                    return Ok(None);
                }
            } else if is_swallowed && swallowed.is_none() && id != ended && !going_on.contains(&id) {
                swallowed = Some(first);
            }
        }
        Ok(swallowed)
    }
}
