//! Where a lexeme's text divides into its body and its tail (`stop`, `suffix`).

use rustc_hash::FxHashSet;

use super::Machine;
use crate::cfg::LexemeId;
use crate::error::Fault;
use crate::lexer::arena::Expr;

/// Tails that have begun in a text that is read once, all at the same time.
pub(crate) struct OpenTails {
    whole: Expr,
    /// Where each began, and what is left of it. Ascending; of those alike the earliest.
    open: Vec<(usize, Expr)>,
    rests: FxHashSet<Expr>,
}

impl OpenTails {
    pub fn new(whole: Expr) -> Self {
        Self { whole, open: Vec::new(), rests: FxHashSet::default() }
    }

    /// A tail may begin here, behind all that was read.
    pub fn begin(&mut self, at: usize) {
        if self.rests.insert(self.whole) {
            self.open.push((at, self.whole));
        }
    }

    /// Reads a byte of all of them. Cost: one unit of work for each, and their rows.
    ///
    /// Errors: `lexer_work_max` and as of a row.
    pub fn read(&mut self, machine: &mut Machine, byte: u8) -> Result<(), Fault> {
        machine.work_on_tail(1 + self.open.len() as u64)?;
        self.rests.clear();
        let mut kept = 0;
        for index in 0..self.open.len() {
            let (began, rest) = self.open[index];
            let rest = machine.lexer.expr_row(rest)?.next(byte);
            if rest != Expr::NOTHING && self.rests.insert(rest) {
                self.open[kept] = (began, rest);
                kept += 1;
            }
        }
        self.open.truncate(kept);
        Ok(())
    }

    /// Where the first of them began.
    pub fn first(&self) -> Option<usize> {
        self.open.first().map(|&(began, _)| began)
    }

    /// Where the first of those began that are whole.
    fn first_whole(&self, machine: &Machine) -> Option<usize> {
        self.open.iter().find(|&&(_, rest)| machine.lexer.arena().nullable(rest)).map(|&(began, _)| began)
    }
}

impl Machine {
    /// Length of the tail of a lexeme with this text: the leftmost split that leaves a match of the tail on the right.
    ///
    /// Errors: `lexer_work_max` and as of a row.
    /// Cost: a unit of the lexer's work for each byte and each tail that may have begun before it, of those alike one.
    pub fn tail_len(&mut self, lexeme: LexemeId, text: &[u8]) -> Result<usize, Fault> {
        let cfg = self.cfg.clone();
        let Some(tail) = &cfg.lexemes[lexeme].tail else { return Ok(0) };
        if let Some(literal) = &tail.literal {
            // Not longer than the text, unless a saved grammar was forged.
            return Ok(literal.len().min(text.len()));
        }
        let exprs = self.lexer.arena().lower(&cfg.regexes, &[tail.body, tail.tail])?;
        let mut body = exprs[0];
        let mut tails = OpenTails::new(exprs[1]);
        for (split, &byte) in text.iter().enumerate() {
            if self.lexer.arena().nullable(body) {
                tails.begin(split);
            }
            body = self.lexer.expr_row(body)?.next(byte);
            tails.read(self, byte)?;
        }
        if self.lexer.arena().nullable(body) {
            tails.begin(text.len());
        }
        Ok(tails.first_whole(self).map_or(0, |began| text.len() - began))
    }

    fn work_on_tail(&mut self, units: u64) -> Result<(), Fault> {
        self.lexer.work += units;
        let limit = self.limits.lexer_work_max;
        if self.lexer.work > limit { Err(Fault::exceeded("lexer_work_max", limit)) } else { Ok(()) }
    }
}
