//! Recorded lexemes whose exceptions are looked at *late*: when their text is whole.
//!
//! Until then exceptions need not count if they cannot use up what a text that has begun may become: endlessly many texts
//! begin with it. And if no text that the lexeme matches is the beginning of another one, nothing is left but to end when
//! it is whole. JSON strings are such: all sets of names that an object has share the lexer states of one string.
//!
//! Where finitely many texts begin so, as with `maxLength`, they are *counted*: more than [`MANY`] are more than a text has room
//! for. Where fewer are left, as near the end of a name, the state is [near](super::states::LexState::is_near), and it is asked
//! at each byte whether they are used up. Masks ask it along the exceptions only: `Trace::near`.

use larkspur_grammar::index::Id;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::arena::Expr;
use super::split::Entry;
use super::states::{LeftOutTexts, LexStateId, Lexer};
use crate::cfg::LexemeId;
use crate::error::Fault;

/// Derivatives of a lexeme that are looked at at most, some milliseconds' worth; with more it counts as not late, which costs
/// lexer states for each exception.
const LATE_EXPRS_MAX: usize = 4_096;

/// The same once it shows that texts must be counted: `maxLength: 255` has as many, and most patterns of names have few.
const COUNTED_EXPRS_MAX: usize = 512;

/// Texts are counted if they are of bytes below this. Of wider ones with a length few tokens come near to their end, and what these
/// do is known of all lengths (`mask/terms/bounded.rs`): to look at each state anew took eight times the time.
const COUNTED_BYTE_END: u8 = 0x80;

/// So many texts are never used up: a matcher's positions are of 32 bits, and each text of an object has some bytes around it.
pub(crate) const MANY: u32 = 1 << 30;

/// Texts are counted by what they begin with in so many bytes: with ten digits there are [`MANY`], or with seven letters.
const COUNTED_BYTES: u32 = 12;

/// Derivatives that are looked at to count texts at most. With more, those that were counted until then are too few.
const COUNTED_STEPS_MAX: usize = 64;

/// When exceptions of a lexeme are looked at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Lateness {
    /// At each byte.
    Never,
    /// When a text is whole: endlessly many texts begin like any that has begun.
    Endless,
    /// When a text is whole or few are left that begin so.
    Counted,
}

impl Lexer {
    /// When the exceptions of a recorded lexeme are looked at.
    pub fn lateness(&mut self, lexeme: LexemeId) -> Lateness {
        if let Some(&Some(known)) = self.late.get(lexeme.index()) {
            return known;
        }
        let lateness = match self.cfg.lexemes[lexeme].pattern.is_regex() {
            // Finitely many texts more or less change nothing, so that all objects share one answer, whatever they list.
            true => self.may_wait(self.arena().but_for_finitely_many(Expr::from_raw(self.whole(lexeme)))),
            false => Lateness::Never,
        };
        self.late.resize(self.cfg.lexemes.len(), None);
        self.late[lexeme.index()] = Some(lateness);
        self.has_counted |= lateness == Lateness::Counted;
        lateness
    }

    /// How long exceptions may wait in this language.
    fn may_wait(&mut self, whole: Expr) -> Lateness {
        if let Some(known) = self.arena().late(whole) {
            return known;
        }
        // That endlessly many texts are left shows of most patterns as they stand; that none is the beginning of another one is
        // so as well in a larger language, mostly that of all strings. It stands within fewer intersections, of which a source
        // can nest some hundred.
        let relaxed = self.arena().relaxed_if_pumped(whole);
        let is_endless = relaxed.is_some_and(|relaxed| self.may_wait(relaxed) != Lateness::Never);
        let lateness = if is_endless { Lateness::Endless } else { self.until_whole(whole) };
        // Where the question's work was used up, another grammar may find it out.
        if self.work < self.limits.lexer_work_max {
            self.arena().set_late(whole, lateness);
        }
        lateness
    }

    /// Takes from lexemes the texts that they leave out wherever they stand, if these cannot be used up: what is left is
    /// the same in many grammars.
    pub(super) fn leave_out(&mut self, but_for: &[(LexemeId, Expr)]) {
        let cfg = self.cfg.clone();
        for &(lexeme, pattern) in but_for {
            let own = std::mem::replace(&mut self.initial[lexeme], pattern.to_raw());
            if self.lateness(lexeme) == Lateness::Endless {
                let but_for = cfg.lexemes[lexeme].but_for.as_ref().expect("it was lowered");
                self.left_out.insert(lexeme, but_for.texts.clone());
            } else {
                self.initial[lexeme] = own;
                self.late[lexeme.index()] = None;
            }
        }
    }

    /// Texts that a late lexeme leaves out wherever it stands, if there are any.
    pub fn left_out(&self, lexeme: LexemeId) -> Option<&LeftOutTexts> {
        self.left_out.get(&lexeme)
    }

    /// Whether a text is one of those.
    pub fn leaves_out(&self, lexeme: LexemeId, text: &[u8]) -> bool {
        self.left_out(lexeme).is_some_and(|texts| texts.binary_search_by(|other| (**other).cmp(text)).is_ok())
    }

    /// Whether it is known that the exceptions of a lexeme are looked at late.
    pub fn is_known_late(&self, lexeme: LexemeId) -> bool {
        self.known_lateness(lexeme) != Lateness::Never
    }

    /// [`Self::lateness`], if that was asked.
    pub fn known_lateness(&self, lexeme: LexemeId) -> Lateness {
        self.late.get(lexeme.index()).copied().flatten().unwrap_or(Lateness::Never)
    }

    /// Whether it is known that the texts of a lexeme are counted.
    pub(super) fn is_counted(&self, lexeme: LexemeId) -> bool {
        self.has_counted && self.known_lateness(lexeme) == Lateness::Counted
    }

    /// Lexemes that are live in a state and whose texts are counted, each once.
    pub fn counted_lexemes(&self, id: LexStateId) -> SmallVec<[LexemeId; 2]> {
        let mut counted = SmallVec::new();
        if self.has_counted {
            counted.extend(self.live_lexemes(id).filter(|&lexeme| self.is_counted(lexeme)));
            counted.dedup();
        }
        counted
    }

    /// Whether texts of one of these lexemes are counted, and few are left.
    pub(super) fn are_near(&mut self, entries: &[Entry]) -> bool {
        self.has_counted
            && entries.iter().any(|&(lexeme, rest)| {
                self.is_counted(lexeme) && {
                    let expr = self.parts(rest).0;
                    !self.is_nullable(expr) && self.texts_left(expr) < MANY
                }
            })
    }

    /// Counted lexemes that are live in a state and do not match, with what is left of each, if few texts are.
    pub fn near_lexemes(&mut self, id: LexStateId) -> Vec<(LexemeId, Expr)> {
        if !self.states[id].is_near {
            return Vec::new();
        }
        let mut near = self.states[id].key.entries.to_vec();
        near.retain(|&entry| self.are_near(&[entry]));
        near.into_iter().map(|(lexeme, rest)| (lexeme, self.parts(rest).0)).collect()
    }

    /// Whether so many texts may be all that are left of a lexeme in a state.
    pub fn may_be_all(&mut self, id: LexStateId, lexeme: LexemeId, texts: u32) -> bool {
        let near = self.near_lexemes(id);
        near.into_iter().any(|(near, left)| near == lexeme && texts >= self.texts_left(left))
    }

    /// Texts that an expression matches, none of which is the beginning of another: at least so many, up to [`MANY`].
    /// Counts the different beginnings of so many bytes that they have; each is that of another text.
    pub fn texts_left(&mut self, expr: Expr) -> u32 {
        if let Some(&known) = self.texts_left.get(&expr) {
            return known;
        }
        // What meets a limit is asked for again.
        let Ok(counted) = self.count_texts(expr) else { return 0 };
        self.texts_left.insert(expr, counted);
        counted
    }

    fn count_texts(&mut self, expr: Expr) -> Result<u32, Fault> {
        let (mut wholes, mut least) = (0u64, 1);
        let mut now: FxHashMap<Expr, u64> = FxHashMap::from_iter([(expr, 1)]);
        let mut steps = 0;
        for _ in 0..COUNTED_BYTES {
            steps += now.len();
            if steps > COUNTED_STEPS_MAX {
                break;
            }
            let mut next: FxHashMap<Expr, u64> = FxHashMap::default();
            for (expr, times) in now {
                let row = self.expr_row(expr)?;
                let mut sizes = [0u64; 256];
                row.classes.of.iter().for_each(|&class| sizes[usize::from(class)] += 1);
                let left = row.next.iter().zip(sizes).filter(|&(&next, size)| next != Expr::NOTHING && size > 0);
                let mut is_over = true;
                for (&left, size) in left {
                    *next.entry(left).or_default() += times * size;
                    is_over = false;
                }
                wholes += if is_over { times } else { 0 };
            }
            let all = wholes + next.values().sum::<u64>();
            least = all.min(u64::from(MANY)) as u32;
            if least == MANY || next.is_empty() {
                break;
            }
            now = next;
        }
        Ok(least)
    }

    /// Lexemes with late exceptions that match in a state.
    pub fn late_lexemes(&self, id: LexStateId) -> Vec<LexemeId> {
        let matched = self.lexemes(self.state(id).matched);
        matched.iter().copied().filter(|&lexeme| self.is_known_late(lexeme)).collect()
    }

    /// [`Lateness::Endless`] if each text is the beginning of none that the expression matches, of endlessly many, or the only
    /// one; [`Lateness::Counted`] if it may also be that of finitely many. [`Lateness::Never`] if one of those is the beginning of
    /// another one, or if that takes too long to see or meets a limit. Depth first, so that most finite languages show at once.
    fn until_whole(&mut self, whole: Expr) -> Lateness {
        let (mut lateness, mut exprs_max, mut is_narrow) = (Lateness::Endless, LATE_EXPRS_MAX, true);
        // Whether endlessly many texts are left; `None` while that is being found out, and then they are: it is a circle.
        let mut is_endless: FxHashMap<Expr, Option<bool>> = FxHashMap::default();
        let mut path: Vec<Step> = Vec::new();
        let mut next = Some(whole);
        loop {
            if let Some(expr) = next.take() {
                let Ok(row) = self.expr_row(expr) else { return Lateness::Never };
                let left: Vec<Expr> = row.next.iter().copied().filter(|&next| next != Expr::NOTHING).collect();
                let is_whole = self.is_nullable(expr);
                is_narrow = is_narrow && (COUNTED_BYTE_END..=255).all(|byte| row.next(byte) == Expr::NOTHING);
                if lateness == Lateness::Counted && !is_narrow {
                    return Lateness::Never;
                }
                if is_whole && !left.is_empty() || is_endless.len() >= exprs_max {
                    return Lateness::Never;
                }
                is_endless.insert(expr, None);
                path.push(Step { expr, is_whole, left, is_endless: false });
            }
            let Some(step) = path.last_mut() else { return lateness };
            if let Some(expr) = step.left.pop() {
                match is_endless.get(&expr) {
                    Some(known) => step.is_endless |= known.unwrap_or(true),
                    None => next = Some(expr),
                }
                continue;
            }
            let done = path.pop().expect("a step");
            if !done.is_endless && !done.is_whole {
                (lateness, exprs_max) = (Lateness::Counted, COUNTED_EXPRS_MAX);
                if !is_narrow {
                    return Lateness::Never;
                }
            }
            is_endless.insert(done.expr, Some(done.is_endless));
            if let Some(before) = path.last_mut() {
                before.is_endless |= done.is_endless;
            }
        }
    }
}

/// An expression that is being looked at.
struct Step {
    expr: Expr,
    is_whole: bool,
    /// Derivatives that are still to be looked at.
    left: Vec<Expr>,
    /// One that was leads into a circle.
    is_endless: bool,
}
