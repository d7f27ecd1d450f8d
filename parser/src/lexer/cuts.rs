//! `longest` mode counts characters, a lexer bytes. Where lexemes go on with a byte, but not over every character that begins
//! with it, they are *cut*: what matches ends as well, and the other characters only may follow (`docs/lexing.md`). So
//! `/[^“”]+/` ends before `”`, although it goes on with the first byte of that.

use std::sync::Arc;

use larkspur_grammar::index::Id;
use larkspur_grammar::{CharClass, LexerMode, RegexSet};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::arena::Expr;
use super::guards::{Guard, Guarded};
use super::rows::{ASK, Row, UNKNOWN};
use super::states::{DEAD, LexStateId, LexemeSetId, Lexer, NO_LEXEMES};
use crate::cfg::LexemeId;
use crate::error::Fault;

/// The bytes that characters of several bytes begin with.
const LEADS: std::ops::RangeInclusive<u8> = 0xC2..=0xF4;

/// Bytes that go on a character.
pub(crate) const CONTINUATIONS: (u8, u8) = (0x80, 0xBF);

/// The rest of a character: how many bytes, and which the first of them may be.
pub(crate) type CharacterRest = (u32, (u8, u8));

/// Lexemes that end at a cut, by what may then follow.
pub(crate) type Cut = Arc<[Guarded<LexemeSetId>]>;

/// Bytes that lead to the same state, and that.
type Run = (u8, u8, LexStateId);

/// Codes of characters, in ranges, sorted.
type Codes = Vec<(u32, u32)>;

/// What is known of the characters that states go on over.
#[derive(Default, Debug)]
pub(super) struct Characters {
    cuts: FxHashMap<(LexStateId, u8), Option<Cut>>,
    /// What may follow at a cut, by the state behind the character's first byte, and that byte; `None` if nothing can.
    owed: FxHashMap<(LexStateId, u8), Option<Expr>>,
    /// Whether a state goes on over every rest of a character.
    over_all: FxHashMap<(LexStateId, CharacterRest), bool>,
    /// The characters with which lexemes of the grammar begin, by the first byte; `None` if that may be more than characters.
    first: FxHashMap<u8, Option<Codes>>,
}

/// Lexemes that are asked for the characters that they begin with, at most.
const LEXEMES_ASKED_MAX: usize = 1_000;

impl Lexer {
    /// In `longest` mode: the lexemes that end in a state before a byte with which others, or they, go on to the state `next`.
    /// `None` if it does not begin a character, if none matches or can be followed by the byte, and if what goes on goes
    /// on over all characters that begin with it.
    ///
    /// Errors: as [`row`](Self::row).
    #[inline]
    pub fn cut(&mut self, id: LexStateId, byte: u8, next: LexStateId) -> Result<Option<Cut>, Fault> {
        if byte < *LEADS.start() || next == DEAD || !self.may_end_within(id, byte) {
            return Ok(None);
        }
        self.note_cuts(id);
        if !self.may_follow(id, byte) {
            return Ok(None);
        }
        if let Some(known) = self.characters.cuts.get(&(id, byte)) {
            return Ok(known.clone());
        }
        let cut = self.make_cut(id, byte, next)?;
        self.characters.cuts.insert((id, byte), cut.clone());
        Ok(cut)
    }

    /// Whether some character that begins with a byte can be read in a state where only certain texts may follow.
    pub fn reads_character(&mut self, id: LexStateId, guard: Guard, byte: u8) -> Result<bool, Fault> {
        let guarded = self.guarded(id, guard)?;
        let begun = self.next(guarded, byte)?;
        self.reads_rest(begun, byte)
    }

    /// Whether some rest of a character that a byte has begun can be read in a state.
    pub fn reads_rest(&mut self, begun: LexStateId, byte: u8) -> Result<bool, Fault> {
        self.has_character(begun, lead(byte).1)
    }

    fn has_character(&mut self, id: LexStateId, (len, first): CharacterRest) -> Result<bool, Fault> {
        if id == DEAD || len == 0 {
            return Ok(id != DEAD);
        }
        for (_, _, next) in self.runs_in_character(id, first)? {
            if self.has_character(next, (len - 1, CONTINUATIONS))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The bytes of a row before which its state is cut: [`ASK`] is all that the row says of them.
    pub(super) fn mark_cuts(&mut self, id: LexStateId, row: &mut Row) -> Result<(), Fault> {
        if self.cfg.mode != LexerMode::Longest || self.states[id].ends == NO_LEXEMES {
            return Ok(());
        }
        for byte in LEADS {
            if self.cut(id, byte, row.next[usize::from(byte)])?.is_some() {
                row.quick[usize::from(byte)] = ASK;
            }
        }
        Ok(())
    }

    /// Whether lexemes match in a state before the first byte of a character.
    fn may_end_within(&self, id: LexStateId, byte: u8) -> bool {
        self.cfg.mode == LexerMode::Longest && self.states[id].ends != NO_LEXEMES && LEADS.contains(&byte)
    }

    /// Whether a byte may stand behind the lexemes that end in a state.
    fn may_follow(&self, id: LexStateId, byte: u8) -> bool {
        let mut ends = self.lexeme_sets[self.states[id].ends].iter();
        self.cfg.after.is_empty() || ends.any(|lexeme| self.cfg.after[lexeme.index()].contains(byte))
    }

    fn make_cut(&mut self, id: LexStateId, byte: u8, next: LexStateId) -> Result<Option<Cut>, Fault> {
        let owed = match self.characters.owed.get(&(next, byte)) {
            Some(&known) => known,
            None => {
                let owed = self.owed_at_cut(byte, next)?;
                self.characters.owed.insert((next, byte), owed);
                owed
            }
        };
        let Some(owed) = owed else { return Ok(None) };
        let ends = self.states[id].ends;
        let mut cut = Vec::new();
        for &(guard, ends) in self.by_follow(id, ends)?.iter() {
            let owed = self.both(guard.owed, owed)?;
            if owed != Expr::NOTHING {
                cut.push((Guard { owed, ..guard }, ends));
            }
        }
        Ok(Some(cut.into()))
    }

    /// What may follow lexemes that end before a byte with which others, or they, go on to the state `next`: no character that
    /// these go on over. `None` if nothing else can follow.
    fn owed_at_cut(&mut self, byte: u8, next: LexStateId) -> Result<Option<Expr>, Fault> {
        let (code, rest) = lead(byte);
        if self.goes_on_over_all(next, rest)? {
            return Ok(None);
        }
        let mut taken = Codes::new();
        self.characters(next, code, rest, &mut taken)?;
        let is_taken = |first: &(u32, u32)| taken.iter().any(|range| range.0 <= first.0 && first.1 <= range.1);
        if self.first_characters(byte)?.is_some_and(|first| first.iter().all(is_taken)) {
            return Ok(None);
        }
        let mut regexes = RegexSet::new();
        let character = regexes.class(CharClass::from_ranges(taken));
        let byte = regexes.any_byte();
        let others = regexes.repeat(byte, 0, None);
        let taken = regexes.concat(&[character, others]);
        let taken = self.arena.lower(&regexes, &[taken])?[0];
        Ok(Some(self.arena.without(Expr::ALL, taken, &self.limits)?))
    }

    /// The characters with which lexemes of the grammar begin, of those that begin with a byte. `None` if lexemes begin with it
    /// otherwise, or if there are too many.
    fn first_characters(&mut self, byte: u8) -> Result<Option<&Codes>, Fault> {
        if !self.characters.first.contains_key(&byte) {
            let lexemes: Vec<LexemeId> = self.cfg.lexemes.ids().collect();
            let mut first = None;
            if lexemes.len() <= LEXEMES_ASKED_MAX {
                let start = self.start(&lexemes)?;
                let begun = self.next_in_character(start, byte)?;
                let (code, rest) = lead(byte);
                let mut codes = Codes::new();
                if self.reads_only_characters(begun, rest)? {
                    self.characters(begun, code, rest, &mut codes)?;
                    first = Some(codes);
                }
            }
            self.characters.first.insert(byte, first);
        }
        Ok(self.characters.first[&byte].as_ref())
    }

    /// Whether what is read in a state is, first, a rest of a character.
    fn reads_only_characters(&mut self, id: LexStateId, (len, first): CharacterRest) -> Result<bool, Fault> {
        if id == DEAD || len == 0 {
            return Ok(true);
        }
        if self.states[id].matched != NO_LEXEMES {
            return Ok(false);
        }
        for (from, to, next) in self.runs_in_character(id, (0, u8::MAX))? {
            let is_rest = first.0 <= from && to <= first.1;
            if next != DEAD && !(is_rest && self.reads_only_characters(next, (len - 1, CONTINUATIONS))?) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether lexemes of a state go on over every rest of a character.
    fn goes_on_over_all(&mut self, id: LexStateId, (len, first): CharacterRest) -> Result<bool, Fault> {
        if let Some(&known) = self.characters.over_all.get(&(id, (len, first))) {
            return Ok(known);
        }
        let mut over_all = true;
        for (_, _, next) in self.runs_in_character(id, first)? {
            over_all = next != DEAD && (len == 1 || self.goes_on_over_all(next, (len - 1, CONTINUATIONS))?);
            if !over_all {
                break;
            }
        }
        self.characters.over_all.insert((id, (len, first)), over_all);
        Ok(over_all)
    }

    /// As [`next`](Self::next), without a row, which would ask for the cuts of this state.
    fn next_in_character(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        match self.rows[id.index()].as_ref().map(|row| row.next[usize::from(byte)]) {
            Some(next) if next != UNKNOWN => Ok(next),
            _ => self.single_step(id, byte),
        }
    }

    /// The states behind the bytes of a range.
    fn runs_in_character(&mut self, id: LexStateId, (first, last): (u8, u8)) -> Result<SmallVec<[Run; 8]>, Fault> {
        let classes = self.classes_of_rests(id)?;
        let mut runs: SmallVec<[Run; 8]> = SmallVec::new();
        for byte in first..=last {
            let is_alike = |run: &&Run| classes.is_some_and(|of| of[usize::from(run.1)] == of[usize::from(byte)]);
            let next = match runs.last().filter(is_alike) {
                Some(run) => run.2,
                None => self.next_in_character(id, byte)?,
            };
            match runs.last_mut() {
                Some(run) if run.2 == next => run.1 = byte,
                _ => runs.push((byte, byte, next)),
            }
        }
        Ok(runs)
    }

    /// Adds the characters that lexemes of a state go on over, of those whose code begins with `code`.
    fn characters(
        &mut self,
        id: LexStateId,
        code: u32,
        (len, first): CharacterRest,
        taken: &mut Codes,
    ) -> Result<(), Fault> {
        let left = len - 1;
        for (from, to, next) in self.runs_in_character(id, first)? {
            if next == DEAD {
                continue;
            }
            let code = |byte: u8| code << 6 | u32::from(byte & 0x3F);
            if left == 0 || self.goes_on_over_all(next, (left, CONTINUATIONS))? {
                let (first, last) = (code(from) << (6 * left), ((code(to) + 1) << (6 * left)) - 1);
                match taken.last_mut().filter(|range| range.1 + 1 == first) {
                    Some(range) => range.1 = last,
                    None => taken.push((first, last)),
                }
            } else {
                for byte in from..=to {
                    self.characters(next, code(byte), (left, CONTINUATIONS), taken)?;
                }
            }
        }
        Ok(())
    }
}

/// What the first byte of a character says of it: the first bits of its code, and what may follow (RFC 3629, section 4).
pub(crate) fn lead(byte: u8) -> (u32, CharacterRest) {
    let (bits, len) = match byte {
        0..0xE0 => (byte & 0x1F, 1),
        0xE0..0xF0 => (byte & 0x0F, 2),
        _ => (byte & 0x07, 3),
    };
    let first = match byte {
        0xE0 => (0xA0, 0xBF),
        0xED => (0x80, 0x9F),
        0xF0 => (0x90, 0xBF),
        0xF4 => (0x80, 0x8F),
        _ => CONTINUATIONS,
    };
    (u32::from(bits), (len, first))
}
