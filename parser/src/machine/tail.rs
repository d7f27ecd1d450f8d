//! Where a lexeme's text divides into its body and its tail (`stop`, `suffix`).

use super::Machine;
use crate::cfg::LexemeId;
use crate::error::Fault;
use crate::lexer::arena::Expr;

impl Machine {
    /// Length of the tail of a lexeme with this text: the leftmost split that leaves a match of the tail on the right.
    pub fn tail_len(&mut self, lexeme: LexemeId, text: &[u8]) -> Result<usize, Fault> {
        let cfg = self.cfg.clone();
        let Some(tail) = &cfg.lexemes[lexeme].tail else { return Ok(0) };
        if let Some(literal) = &tail.literal {
            // Not longer than the text, unless a saved grammar was forged.
            return Ok(literal.len().min(text.len()));
        }
        let exprs = self.lexer.arena().lower(&cfg.regexes, &[tail.body, tail.tail])?;
        let mut body = exprs[0];
        for split in 0..=text.len() {
            if self.lexer.arena().nullable(body) && self.matches(exprs[1], &text[split..])? {
                return Ok(text.len() - split);
            }
            if let Some(&byte) = text.get(split) {
                body = self.lexer.expr_row(body)?.next(byte);
            }
        }
        Ok(0)
    }

    fn matches(&mut self, mut expr: Expr, text: &[u8]) -> Result<bool, Fault> {
        for &byte in text {
            if expr == Expr::NOTHING {
                return Ok(false);
            }
            expr = self.lexer.expr_row(expr)?.next(byte);
        }
        Ok(expr != Expr::NOTHING && self.lexer.arena().nullable(expr))
    }
}
