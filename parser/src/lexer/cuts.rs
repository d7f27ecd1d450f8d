//! `longest` mode counts characters, a lexer bytes. Where lexemes go on with a byte, but not over every character that begins
//! with it, they are *cut*: what matches ends as well, and the other characters only may follow (`docs/lexing.md`). So
//! `/[^“”]+/` ends before `”`, although it goes on with the first byte of that.

use std::sync::Arc;

use larkspur_grammar::index::Id;
use larkspur_grammar::{CharClass, LexerMode, RegexSet};

use super::arena::Expr;
use super::guards::{Guard, Guarded};
use super::rows::{ASK, Row};
use super::states::{DEAD, LexStateId, LexemeSetId, Lexer, NO_LEXEMES};
use crate::error::Fault;

/// The bytes that characters of several bytes begin with.
const LEADS: std::ops::RangeInclusive<u8> = 0xC2..=0xF4;

/// Bytes that go on a character.
const CONTINUATIONS: (u8, u8) = (0x80, 0xBF);

/// The rest of a character: how many bytes, and which the first of them may be.
pub(super) type CharacterRest = (u32, (u8, u8));

/// Lexemes that end at a cut, by what may then follow.
pub(crate) type Cut = Arc<[Guarded<LexemeSetId>]>;

impl Lexer {
    /// In `longest` mode: the lexemes that end in a state before a byte with which others, or they, go on to the state `next`.
    /// `None` if it does not begin a character, if none matches or can be followed by the byte, and if what goes on goes
    /// on over all characters that begin with it.
    ///
    /// Errors: as [`row`](Self::row).
    #[inline]
    pub fn cut(&mut self, id: LexStateId, byte: u8, next: LexStateId) -> Result<Option<Cut>, Fault> {
        if byte < *LEADS.start() || next == DEAD || !self.may_be_cut(id, byte) {
            return Ok(None);
        }
        if let Some(known) = self.cuts.get(&(id, byte)) {
            return Ok(known.clone());
        }
        let cut = self.make_cut(id, byte, next)?;
        self.cuts.insert((id, byte), cut.clone());
        Ok(cut)
    }

    /// Whether some character that begins with a byte can be read in a state where only certain texts may follow.
    pub fn reads_character(&mut self, id: LexStateId, guard: Guard, byte: u8) -> Result<bool, Fault> {
        let guarded = self.guarded(id, guard)?;
        let begun = self.next(guarded, byte)?;
        self.has_character(begun, lead(byte).1)
    }

    fn has_character(&mut self, id: LexStateId, (len, first): CharacterRest) -> Result<bool, Fault> {
        if id == DEAD || len == 0 {
            return Ok(id != DEAD);
        }
        for byte in first.0..=first.1 {
            let next = self.next_in_character(id, byte)?;
            if self.has_character(next, (len - 1, CONTINUATIONS))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The bytes of a row before which its state is cut: [`ASK`] is all that the row says of them.
    pub(super) fn mark_cuts(&mut self, id: LexStateId, row: &mut Row) -> Result<(), Fault> {
        for byte in LEADS {
            if self.cut(id, byte, row.next[usize::from(byte)])?.is_some() {
                row.quick[usize::from(byte)] = ASK;
            }
        }
        Ok(())
    }

    fn may_be_cut(&self, id: LexStateId, byte: u8) -> bool {
        let ends = self.states[id].ends;
        let may_follow = || {
            self.cfg.after.is_empty()
                || self.lexeme_sets[ends].iter().any(|lexeme| self.cfg.after[lexeme.index()].contains(byte))
        };
        self.cfg.mode == LexerMode::Longest && ends != NO_LEXEMES && LEADS.contains(&byte) && may_follow()
    }

    fn make_cut(&mut self, id: LexStateId, byte: u8, next: LexStateId) -> Result<Option<Cut>, Fault> {
        let (code, rest) = lead(byte);
        if self.goes_on_over_all(next, rest)? {
            return Ok(None);
        }
        let mut taken: Vec<(u32, u32)> = Vec::new();
        self.characters(next, code, rest, &mut taken)?;
        let mut regexes = RegexSet::new();
        let character = regexes.class(CharClass::from_ranges(taken));
        let byte = regexes.any_byte();
        let others = regexes.repeat(byte, 0, None);
        let taken = regexes.concat(&[character, others]);
        let taken = self.arena.lower(&regexes, &[taken])?[0];
        let owed = self.arena.without(Expr::ALL, taken, &self.limits)?;
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

    /// Whether lexemes of a state go on over every rest of a character.
    fn goes_on_over_all(&mut self, id: LexStateId, (len, first): CharacterRest) -> Result<bool, Fault> {
        if let Some(&known) = self.over_all.get(&(id, (len, first))) {
            return Ok(known);
        }
        let mut over_all = true;
        let mut last = DEAD;
        for byte in first.0..=first.1 {
            let next = self.next_in_character(id, byte)?;
            over_all =
                next != DEAD && (next == last || len == 1 || self.goes_on_over_all(next, (len - 1, CONTINUATIONS))?);
            last = next;
            if !over_all {
                break;
            }
        }
        self.over_all.insert((id, (len, first)), over_all);
        Ok(over_all)
    }

    /// As [`next`](Self::next), without a row, which would ask for the cuts of this state.
    fn next_in_character(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        match &self.rows[id.index()] {
            Some(row) => Ok(row.next[usize::from(byte)]),
            None => self.single_step(id, byte),
        }
    }

    /// Adds the characters that lexemes of a state go on over, of those whose code begins with `code`.
    fn characters(
        &mut self,
        id: LexStateId,
        code: u32,
        (len, first): CharacterRest,
        taken: &mut Vec<(u32, u32)>,
    ) -> Result<(), Fault> {
        for byte in first.0..=first.1 {
            let next = self.next_in_character(id, byte)?;
            let code = code << 6 | u32::from(byte & 0x3F);
            let left = len - 1;
            if next == DEAD {
                continue;
            }
            if left == 0 || self.goes_on_over_all(next, (left, CONTINUATIONS))? {
                let first = code << (6 * left);
                let last = first | ((1 << (6 * left)) - 1);
                match taken.last_mut().filter(|range| range.1 + 1 == first) {
                    Some(range) => range.1 = last,
                    None => taken.push((first, last)),
                }
            } else {
                self.characters(next, code, (left, CONTINUATIONS), taken)?;
            }
        }
        Ok(())
    }
}

/// What the first byte of a character says of it: the first bits of its code, and what may follow (RFC 3629, section 4).
fn lead(byte: u8) -> (u32, CharacterRest) {
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
