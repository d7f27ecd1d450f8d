//! Values on lines of their own (`whitespace: {"indent": N}`).
//!
//! Every rule has a parameter: how many brackets are around the value, and so how far its own closing bracket is
//! indented. What stands inside is one further.

use larkspur_grammar::param::Comparison;
use larkspur_grammar::{Alternative, Condition, ExprId, ExprKind, ParamExpr, ParamRange, RuleId};

use super::Lowerer;
use crate::automata::Lines;

/// One bracket more around what is called.
const DEEPER: ParamExpr = ParamExpr::Increment(ParamRange::ALL);

impl Lowerer<'_, '_> {
    /// The rule for the start of a line.
    pub(super) fn make_line(&mut self, spaces: u8) -> RuleId {
        let newline = self.normalizer.set.literal(b"\n");
        let newline = self.terminal(newline, || "line break".into());
        let line = self.reserve("line");
        self.grammar.rules[line].parametric = true;
        let mut parts = vec![newline];
        if spaces > 0 {
            let blanks = self.normalizer.set.literal(&vec![b' '; spaces.into()]);
            let blanks = self.terminal(blanks, || "indentation".into());
            let more = self.reserve("indentation");
            self.grammar.rules[more].parametric = true;
            let less = ParamExpr::Decrement(ParamRange::ALL);
            let rest = self.expr(ExprKind::Rule(more, Some(less)));
            let some = self.run(&[blanks, rest]);
            let none = self.run(&[]);
            let condition = Condition::Compare(ParamRange::ALL, Comparison::Gt, 0);
            let is_deep = self.grammar.conditions.push(condition);
            let is_flat = self.grammar.conditions.push(Condition::Not(is_deep));
            let ways = [(some, is_deep), (none, is_flat)]
                .map(|(expr, condition)| Alternative { expr, condition: Some(condition) });
            self.grammar.rules[more].body = self.expr(ExprKind::choice(ways));
            parts.push(self.expr(ExprKind::Rule(more, Some(ParamExpr::Same))));
        }
        self.grammar.rules[line].body = self.expr(ExprKind::sequence(parts));
        line
    }

    /// A rule of the same value.
    pub(super) fn own_rule(&mut self, rule: RuleId) -> ExprId {
        self.expr(ExprKind::Rule(rule, self.line.map(|_| ParamExpr::Same)))
    }
    /// The rule of a value inside.
    pub(super) fn inner_rule(&mut self, rule: RuleId) -> ExprId {
        self.expr(ExprKind::Rule(rule, self.line.map(|_| DEEPER)))
    }

    /// What stands before the first element or member, if anything does.
    pub(super) fn first_line(&mut self) -> Option<ExprId> {
        let line = self.line?;
        Some(self.expr(ExprKind::Rule(line, Some(DEEPER))))
    }
    /// What stands between two elements or members.
    pub(super) fn comma(&mut self) -> ExprId {
        let comma = self.mark(self.marks.comma);
        match self.first_line() {
            Some(line) => self.run(&[comma, line]),
            None => comma,
        }
    }
    /// The end of an array that has elements.
    pub(super) fn close_bracket(&mut self) -> ExprId {
        let close = self.mark(self.marks.close_bracket);
        self.on_own_line(close)
    }
    /// The end of an object that has members.
    pub(super) fn close_brace(&mut self) -> ExprId {
        let close = self.mark(self.marks.close_brace);
        self.on_own_line(close)
    }
    fn on_own_line(&mut self, close: ExprId) -> ExprId {
        let Some(line) = self.line else { return close };
        let line = self.expr(ExprKind::Rule(line, Some(ParamExpr::Same)));
        self.run(&[line, close])
    }

    /// The same as rules for an automaton, for each number of brackets that it may have open in itself.
    pub(super) fn lines(&mut self, depth: usize) -> Vec<Lines> {
        let Some(line) = self.line else { return Vec::new() };
        let mut own = line;
        let mut lines = Vec::with_capacity(depth);
        for _ in 0..depth {
            let rule_of = |this: &mut Self, body: ExprId, name: &str| {
                let rule = this.reserve(name);
                this.grammar.rules[rule].body = body;
                rule
            };
            let next = self.expr(ExprKind::Rule(own, Some(DEEPER)));
            let first = rule_of(self, next, "line");
            let marks = self.marks;
            let [close_brace, close_bracket] = [marks.close_brace, marks.close_bracket].map(|close| {
                let line = self.expr(ExprKind::Rule(own, Some(ParamExpr::Same)));
                let close = self.mark(close);
                let body = self.run(&[line, close]);
                rule_of(self, body, "end")
            });
            let comma = self.mark(marks.comma);
            let body = self.run(&[comma, next]);
            let comma = rule_of(self, body, "comma");
            lines.push(Lines { first, comma, close_brace, close_bracket });
            own = first;
        }
        lines
    }
}
