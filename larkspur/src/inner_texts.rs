//! What the texts that stand in a source may take together: each alone keeps to its limits, and a source may hold many.

use larkspur_grammar::diagnostic::TooMuch;
use larkspur_grammar::{Grammar, Span};
use larkspur_json_schema::Spent;

use crate::compile::Reading;
use crate::mistake::Mistake;

/// What the inner texts of one source have taken so far.
#[derive(Default)]
pub(crate) struct InnerTexts {
    texts: usize,
    symbols: usize,
    regex_nodes: usize,
    /// What schemas have taken, and all texts for look-arounds.
    pub spent: Spent,
    /// Errors in them that were given away.
    pub errors: usize,
    /// No more of them are read.
    is_over: bool,
}

impl Reading<'_> {
    /// Whether the text at `body`, which stands in the source, is to be read: not if there are too many, which is then
    /// reported, nor behind more errors than are shown.
    pub fn enters(&mut self, body: Span) -> bool {
        self.inner.texts += 1;
        if !self.has_room() {
            (self.inner.is_over, self.leaves_out) = (true, true);
        }
        self.keeps_to(body, "texts", self.inner.texts, "inner_texts_max", self.limits.inner_texts_max);
        !self.inner.is_over
    }

    /// Counts what a text has become.
    pub fn entered(&mut self, body: Span, grammar: &Grammar) {
        self.inner.symbols += grammar.exprs.len();
        self.inner.regex_nodes += grammar.regexes.len();
        let limits = self.limits;
        if let Some(TooMuch::Symbols { limit, name }) = TooMuch::symbols(self.inner.symbols, limits) {
            self.keeps_to(body, "symbols", self.inner.symbols, name, limit);
        }
        self.keeps_to(body, "regex nodes", self.inner.regex_nodes, "regex_nodes_max", limits.regex_nodes_max);
    }

    /// Counts what a schema has taken with those before it; one that was refused for that has said so.
    pub fn took(&mut self, spent: Spent, is_refused: bool) {
        let is_over = spent.work > self.limits.schema_work_max || spent.nodes > self.limits.schema_nodes_max;
        self.inner.is_over |= is_refused && is_over;
        self.inner.spent = spent;
    }

    fn keeps_to(&mut self, body: Span, what: &'static str, used: usize, name: &'static str, limit: usize) {
        if used > limit && !std::mem::replace(&mut self.inner.is_over, true) {
            self.report(Span { end: body.start, ..body }, Mistake::TooMuchInside { what, name, limit });
        }
    }
}
