//! `longest` mode: lexemes that swallow what must follow them.
//!
//! No shorter match is ever retried in `longest` mode, so that `/[a-z]+/ "x"` can never be finished. From each Earley
//! set the lexer's states are searched for one in which lexemes match, and every byte with which anything could follow
//! is taken by a lexeme that goes on over all characters that begin with it. That is a lint, with the text as a witness. If
//! the search finds no way at all to finish, and nothing was left out of it, the grammar is an error: such masks would lead
//! a model into a trap.

use std::collections::VecDeque;

use larkspur_grammar::{ByteSet, Diagnostic};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::LexemeId;
use crate::earley::sets::SetId;
use crate::error::Fault;
use crate::lexer::states::{DEAD, LexStateId, NO_LEXEMES, StateKind};
use crate::machine::Machine;

/// Earley sets searched; enough for the lexical structure of any grammar seen, few enough not to be felt.
const SETS_MAX: usize = 32;

/// Lexer states searched from each set.
const STATES_MAX: usize = 32;

/// Bytes of sets made for that; thousands of rules that may all begin in one place make sets of megabytes.
const BYTES_MAX: usize = 4 << 20;

/// The part of `Limits::earley_work_max` that may be spent for them, one in so many.
const WORK_SHARE: usize = 4;

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
    /// The same for lexemes with look-around, which is there to forbid: said if it is all that can be said of an error.
    forbidden: FxHashMap<LexemeId, Diagnostic>,
    /// Bytes of sets at which the search ends.
    bytes_max: usize,
    /// Whether something was left out.
    is_cut: bool,
    can_finish: bool,
}

/// A lexer state of the search, and how it was reached.
struct Reached {
    lex: LexStateId,
    from: usize,
    byte: u8,
}

/// Lints of a grammar in `longest` mode. The error, if there is one, is last.
pub(crate) fn swallows(machine: &mut Machine) -> Result<Vec<Diagnostic>, Fault> {
    if machine.cfg.has_behinds {
        // What is live in a set depends on the text before it.
        return Ok(Vec::new());
    }
    let start = machine.start()?;
    let Some(thread) = Machine::single(start) else { return Ok(Vec::new()) };
    let mut search = Search {
        bytes_max: machine.sets.bytes() + BYTES_MAX,
        machine,
        queue: VecDeque::from([thread.set]),
        seen: FxHashSet::from_iter([thread.set]),
        reported: FxHashMap::default(),
        forbidden: FxHashMap::default(),
        is_cut: false,
        can_finish: false,
    };
    while let Some(set) = search.queue.pop_front() {
        search.set(set)?;
    }
    // A budget ends a rule in the middle of a lexeme.
    let (can_finish, is_cut) = (search.can_finish, search.is_cut || search.machine.cfg.has_scopes);
    let never = !can_finish && !is_cut;
    let is_forbidden = never && search.reported.is_empty();
    let forbidden = search.forbidden.into_values().filter(|_| is_forbidden);
    let mut diagnostics: Vec<Diagnostic> = search.reported.into_values().chain(forbidden).collect();
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| label.span.start));
    if never && !diagnostics.is_empty() {
        let witness = diagnostics.remove(0);
        let mut error = Diagnostic { code: "P004", severity: larkspur_grammar::Severity::Error, ..witness };
        error.message = format!("the grammar can never be finished in `longest` mode: {}", error.message);
        diagnostics.push(error);
    }
    Ok(diagnostics)
}

impl Search<'_> {
    fn set(&mut self, set: SetId) -> Result<(), Fault> {
        let closure = self.machine.sets.closure(set, &mut self.machine.lexer)?;
        self.can_finish |= closure.accepts;
        // Tokens lead on, too; where they stand, nothing is certain.
        self.is_cut |= !closure.token_scans.is_empty();
        let mut reached = vec![Reached { lex: closure.start, from: 0, byte: 0 }];
        let mut seen: FxHashSet<LexStateId> = FxHashSet::from_iter([closure.start]);
        let mut next = 0;
        while next < reached.len() {
            self.state(set, &reached, next)?;
            let lex = reached[next].lex;
            for byte in READABLE_FIRST.into_iter() {
                let target = self.machine.lexer.next(lex, byte)?;
                if target == DEAD || seen.contains(&target) {
                    continue;
                }
                if reached.len() >= STATES_MAX {
                    self.is_cut = true;
                    break;
                }
                seen.insert(target);
                reached.push(Reached { lex: target, from: next, byte });
            }
            next += 1;
        }
        Ok(())
    }

    /// What follows if lexemes end in a state.
    fn state(&mut self, set: SetId, reached: &[Reached], at: usize) -> Result<(), Fault> {
        let is_long = self.machine.sets.work > self.machine.limits.earley_work_max / WORK_SHARE;
        if is_long || self.machine.sets.bytes() > self.bytes_max {
            self.is_cut = true;
            self.queue.clear();
            return Ok(());
        }
        let lex = reached[at].lex;
        let state = self.machine.lexer.state(lex);
        let (ends, is_lazy) = (state.ends, state.kind == StateKind::LazyEnd);
        if ends == NO_LEXEMES {
            return Ok(());
        }
        // Of the texts that a recorded lexeme matches only one is tried.
        self.is_cut |= self.machine.lexer.records(ends);
        let text = witness(reached, at, None);
        let after = self.machine.sets.scan(set, ends, &text, &mut self.machine.lexer)?;
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
            if self.seen.len() >= SETS_MAX {
                self.is_cut |= !self.seen.contains(&after);
            } else if self.seen.insert(after) {
                self.queue.push_back(after);
            }
        }
        let ended = self.machine.lexer.lexemes(ends).to_vec();
        let cfg = self.machine.cfg.clone();
        let is_text = |lexeme: &&LexemeId| cfg.lexemes[**lexeme].ignored_by.is_none();
        let text = ended.iter().find(is_text);
        let Some(&lexeme) = text.or(ended.first()) else { return Ok(()) };
        // Where ignored text is also the beginning of something that is not, the text goes on as that; where it is that of
        // other ignored text, as that.
        if text.is_none() && self.machine.lexer.live_lexemes(lex).any(|live| live != ended[0]) {
            return Ok(());
        }
        let is_forbidden = !is_open && allowed.is_empty() && !follow.is_empty();
        let swallowed = match self.swallowed_one(after, lexeme, &goes_on)? {
            _ if !is_open => follow,
            // After ignored text something else may well come first.
            Some(swallowed) if text.is_some() => swallowed,
            _ => return Ok(()),
        };
        // A name that an object cannot have leads nowhere; nothing is swallowed behind it.
        if swallowed.is_empty() {
            self.is_cut = true;
            return Ok(());
        }
        let looks_ahead = self.machine.lexer.state(lex).looks_ahead;
        let reported = if looks_ahead { &self.forbidden } else { &self.reported };
        if reported.contains_key(&lexeme) {
            return Ok(());
        }
        let taken = READABLE_FIRST.into_iter().find(|&byte| swallowed.contains(byte) && !is_forbidden);
        let diagnostic = self.diagnostic(lexeme, after, &swallowed, witness(reached, at, taken), (lex, taken))?;
        let reported = if looks_ahead { &mut self.forbidden } else { &mut self.reported };
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
        let help =
            "make the terminal stop before it, put something between them, or use `%larkspur { \"lexer\": \"exact\" }`";
        Ok(Diagnostic::warning("P003", cfg.lexemes[lexeme].span, message).at(label).help(help))
    }

    /// The first bytes of something else that may follow and that is swallowed whole, with no ignored text that could
    /// stand before it.
    fn swallowed_one(&mut self, after: SetId, ended: LexemeId, goes_on: &ByteSet) -> Result<Option<ByteSet>, Fault> {
        let start = self.machine.sets.start_state(after, &mut self.machine.lexer)?;
        if goes_on.is_empty() || self.machine.lexer.live_lexemes(start).count() > LEXEMES_MAX {
            return Ok(None);
        }
        let closure = self.machine.sets.closure(after, &mut self.machine.lexer)?;
        let cfg = self.machine.cfg.clone();
        let mut swallowed = None;
        for id in self.machine.lexer.live_lexemes(closure.start).collect::<Vec<_>>() {
            let alone = self.machine.lexer.start(&[id])?;
            let first = self.machine.lexer.row(alone)?.live;
            let is_swallowed = first.intersect(goes_on) == first;
            if cfg.lexemes[id].ignored_by.is_some() {
                if !is_swallowed {
                    return Ok(None);
                }
            } else if is_swallowed && swallowed.is_none() && id != ended {
                swallowed = Some(first);
            }
        }
        Ok(swallowed)
    }
}

/// The text that leads to a state of the search, and the byte after it.
fn witness(reached: &[Reached], at: usize, last: Option<u8>) -> Vec<u8> {
    let mut text = Vec::new();
    let mut step = at;
    while step != 0 {
        text.push(reached[step].byte);
        step = reached[step].from;
    }
    text.reverse();
    text.extend(last);
    text
}
