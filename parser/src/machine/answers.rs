//! What can be asked of a place: whether the text may end there, and what may follow.

use larkspur_grammar::{ByteSet, LexerMode};
use smallvec::SmallVec;

use super::{Cursor, Machine, Thread};
use crate::cfg::{LexemeId, TokenLetterId};
use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::arena::Expr;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::states::{LexStateId, NO_LEXEMES, StateKind};

/// All threads of a place; most often one.
type Readers = SmallVec<[Thread; 4]>;
/// The sets reached, with what may follow.
type Reached = SmallVec<[Guarded<SetId>; 4]>;

impl Machine {
    /// The sets that the text may be in here, at a token letter or at its end: all lexemes that match have ended.
    pub fn boundary(&mut self, cursor: Cursor) -> Result<SmallVec<[SetId; 4]>, Fault> {
        let mut sets = SmallVec::new();
        if let Some(thread) = Self::single(cursor) {
            let state = self.lexer.state(thread.lex);
            if state.kind != StateKind::Fresh && state.ends == NO_LEXEMES {
                return Ok(sets);
            }
        }
        for (guard, set) in self.place(cursor)?.1 {
            if self.may_end(guard) {
                sets.push(set);
            }
        }
        sets.sort_unstable();
        sets.dedup();
        Ok(sets)
    }

    /// Whether the text may end there, or a token letter follow, as far as look-aheads say.
    pub fn may_end(&self, guard: Guard) -> bool {
        guard.owed == Expr::ALL || self.lexer.arena().nullable(guard.owed)
    }

    /// All threads of a place, those that have read the text of a `stop` again included, and the sets reached, with what
    /// may follow.
    fn place(&mut self, cursor: Cursor) -> Result<(Readers, Reached), Fault> {
        let mut sets = Reached::new();
        let mut threads = Readers::new();
        let mut agenda: Readers = self.threads(cursor).iter().copied().collect();
        let mut times = 0;
        while !agenda.is_empty() {
            let mut readers = Vec::new();
            for &thread in &agenda {
                let state = self.lexer.state(thread.lex);
                if state.kind == StateKind::Fresh {
                    sets.push((self.lexer.guard(thread.lex), thread.set));
                } else if state.ends != NO_LEXEMES {
                    let ends = state.ends;
                    for &(guard, ends) in self.lexer.by_follow(thread.lex, ends)?.iter() {
                        let (reread, set) = self.end(thread, ends, times)?;
                        readers.extend(self.guard(reread, guard)?);
                        if set != NO_SET {
                            sets.push((guard, set));
                        }
                    }
                }
            }
            threads.append(&mut agenda);
            agenda = self.next_readers(readers, threads.len())?.into();
            times += 1;
        }
        sets.sort_unstable();
        sets.dedup();
        Ok((threads, sets))
    }

    /// The lexer states that the next byte can be read in.
    pub(super) fn lexer_states(&mut self, cursor: Cursor) -> Result<Vec<LexStateId>, Fault> {
        let (threads, sets) = self.place(cursor)?;
        let mut states: Vec<LexStateId> = threads.iter().map(|thread| thread.lex).collect();
        for (guard, set) in sets {
            states.push(self.guarded_start(set, guard)?);
        }
        states.sort_unstable();
        states.dedup();
        Ok(states)
    }

    /// Whether some lexeme may end here, without which the text may not either.
    pub fn ends_lexeme(&self, cursor: Cursor) -> bool {
        self.threads(cursor).iter().any(|thread| {
            let state = self.lexer.state(thread.lex);
            state.kind == StateKind::Fresh || state.ends != NO_LEXEMES
        })
    }

    /// Whether the text may end here.
    pub fn accepts(&mut self, cursor: Cursor) -> Result<bool, Fault> {
        Ok(self.boundary(cursor)?.iter().any(|&set| self.sets.accepts(set)))
    }

    /// Token letters that can follow.
    pub fn token_letters(&mut self, cursor: Cursor) -> Result<Vec<TokenLetterId>, Fault> {
        if self.cfg.token_letters.is_empty() {
            return Ok(Vec::new());
        }
        let mut letters = Vec::new();
        for set in self.boundary(cursor)? {
            letters.extend(self.sets.token_letters(set, &mut self.lexer)?);
        }
        letters.sort_unstable();
        letters.dedup();
        Ok(letters)
    }

    /// The place after a token letter, and whether the token is to be hidden; `None` if it cannot follow.
    pub fn step_token(&mut self, cursor: Cursor, token: u32) -> Result<Option<(Cursor, bool)>, Fault> {
        if self.cfg.token_letters.is_empty() {
            return Ok(None);
        }
        let mut threads = Vec::new();
        let mut hidden = false;
        let mut reached = NO_SET;
        for set in self.boundary(cursor)? {
            let (next, hide) = self.sets.scan_token(set, token, &mut self.lexer)?;
            if next == NO_SET {
                continue;
            }
            hidden |= hide;
            match self.cfg.mode {
                LexerMode::Longest => threads.push(self.fresh_guarded(next, self.outset())?),
                LexerMode::Exact => reached = self.sets.union(reached, next)?,
            }
        }
        if reached != NO_SET {
            threads.push(self.fresh_guarded(reached, self.outset())?);
        }
        Ok(self.cursor(threads)?.map(|cursor| (cursor, hidden)))
    }

    /// Bytes that can follow.
    pub fn live_bytes(&mut self, cursor: Cursor) -> Result<ByteSet, Fault> {
        let mut candidates = ByteSet::EMPTY;
        for state in self.lexer_states(cursor)? {
            candidates = candidates.union(&self.lexer.row(state)?.live);
        }
        let mut live = ByteSet::EMPTY;
        for byte in candidates.iter() {
            if self.step(cursor, byte)?.is_some() {
                live.insert(byte);
            }
        }
        Ok(live)
    }

    /// Whether nothing can follow where the text starts, nor the text end there.
    pub fn is_stuck_at_start(&mut self) -> Result<bool, Fault> {
        let start = self.start()?;
        Ok(!self.accepts(start)? && self.token_letters(start)?.is_empty() && self.live_bytes(start)?.is_empty())
    }

    /// The byte that is the only letter that can follow, the end of the text included.
    pub fn forced_byte(&mut self, cursor: Cursor) -> Result<Option<u8>, Fault> {
        if let Some(thread) = Self::single(cursor)
            && self.lexer.state(thread.lex).ends == NO_LEXEMES
            && self.lexer.row(thread.lex)?.live.len() > 1
            && self.cfg.mode == LexerMode::Longest
            && self.lexer.counted_lexemes(thread.lex).is_empty()
        {
            return Ok(None);
        }
        if self.accepts(cursor)? || !self.token_letters(cursor)?.is_empty() {
            return Ok(None);
        }
        let live = self.live_bytes(cursor)?;
        Ok(if live.len() == 1 { live.iter().next() } else { None })
    }

    /// The token that is the only letter that can follow, the end of the text included.
    pub fn forced_token(&mut self, cursor: Cursor) -> Result<Option<u32>, Fault> {
        let letters = self.token_letters(cursor)?;
        if letters.is_empty() || self.accepts(cursor)? || !self.live_bytes(cursor)?.is_empty() {
            return Ok(None);
        }
        let mut tokens = letters.iter().flat_map(|&letter| self.cfg.token_letters[letter].tokens.iter());
        let first = tokens.next();
        Ok(first.filter(|&first| tokens.all(|token| token == first)))
    }

    /// Items that were touched to build the sets of a place and those that follow their items, and one for each thread.
    pub fn touched(&self, cursor: Cursor) -> usize {
        self.threads(cursor).iter().map(|thread| 1 + self.sets.touched(thread.set)).sum()
    }

    /// Names of what can follow: live lexemes, and what may start if those end here.
    pub fn expected(&mut self, cursor: Cursor) -> Result<Vec<String>, Fault> {
        let mut lexemes: Vec<LexemeId> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for state in self.lexer_states(cursor)? {
            lexemes.extend(self.lexer.growing_lexemes(state)?);
        }
        lexemes.sort_unstable();
        lexemes.dedup();
        names.extend(lexemes.iter().map(|&lexeme| self.cfg.lexemes[lexeme].name.to_string()));
        for letter in self.token_letters(cursor)? {
            names.push(self.cfg.token_letters[letter].text.clone());
        }
        let mut seen = rustc_hash::FxHashSet::default();
        names.retain(|name| seen.insert(name.clone()));
        Ok(names)
    }

    /// The highest temperature of the lexemes that can follow.
    pub fn temperature(&mut self, cursor: Cursor) -> Result<Option<f32>, Fault> {
        let mut highest: Option<f32> = None;
        for state in self.lexer_states(cursor)? {
            for lexeme in self.lexer.live_lexemes(state) {
                if let Some(temperature) = self.cfg.lexemes[lexeme].temperature {
                    highest = Some(highest.map_or(temperature, |highest| highest.max(temperature)));
                }
            }
        }
        Ok(highest)
    }
}
