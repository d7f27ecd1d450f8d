//! Writing the rules that know how wide a block is.

use super::widths::{self, Letters};
use super::{Bits, ENDS, Node, NodeId, NodeKind, Nullable, Place, Rewriter, Ways, of_tail, tails};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    Alternative, Embed, EmbedKind, ExprId, ExprKind, Grammar, Indenter, LexerMode, Rule, RuleId, Terminal, TerminalId,
};
use crate::param::{Comparison, Condition, ConditionId, ParamExpr, ParamRange};
use crate::regex_syntax::{Automaton, Questions};
use crate::span::Span;
use compact_str::format_compact;

impl Rewriter<'_> {
    pub(super) fn write(&mut self) {
        let start_span = self.old.rules[self.old.start].span;
        // Every rule keeps its number, as the variant that goes on within the block.
        self.new.rules = self.old.rules.clone();
        for condition in self.new.conditions.iter_mut() {
            *condition = self.bits.condition(condition);
        }
        for (rule, &body) in self.old.rules.ids().zip(self.bodies.iter()) {
            let own = &self.old.rules[rule];
            let Node { lined, nullable, .. } = self.nodes[body];
            let mut variant = |name: &str| {
                let name = format_compact!("{}{name}", own.name);
                self.new.rules.push(Rule { name, parametric: true, ..own.clone() })
            };
            self.empties.push((nullable == Nullable::Sometimes).then(|| variant(":empty")));
            self.variants.push(lined.then(|| [rule, variant(":out"), variant(":end")]));
            self.new.rules[rule].parametric |= lined;
        }
        self.line_breaks();
        self.begun = vec![false; self.nodes.len()];
        let mut ways: Vec<Ways> = Vec::with_capacity(self.nodes.len());
        for node in 0..self.nodes.len() {
            let own = self.ways(node, &ways);
            ways.push(own);
        }
        let nothing = self.expr(ExprKind::choice([]), start_span);
        for rule in self.old.rules.ids() {
            let Ways { within, empty, .. } = ways[self.bodies[rule]];
            self.new.rules[rule].body = within[0].unwrap_or(nothing);
            if let Some(rule) = self.empties[rule] {
                self.new.rules[rule].body = empty.unwrap_or(nothing);
            }
            if let Some(variants) = self.variants[rule] {
                for (variant, way) in variants.into_iter().zip(within) {
                    self.new.rules[variant].body = way.unwrap_or(nothing);
                }
            }
        }
        let mut starts = vec![self.old.start];
        if let Some([within, _, end]) = self.variants[self.old.start] {
            starts = vec![within, end];
        }
        let starts = starts.into_iter().map(|rule| {
            let arg = self.new.rules[rule].parametric.then_some(ParamExpr::Const(0));
            self.new.expr(ExprKind::Rule(rule, arg), start_span)
        });
        let starts: Vec<ExprId> = starts.collect();
        let body = self.choice(starts.into_iter().map(Some), start_span).expect("there is a start");
        let name = self.old.rules[self.old.start].name.clone();
        self.new.start = self.new.rules.push(Rule::new(name, start_span, body));
        for node in 0..self.nodes.len() {
            if matches!(self.nodes[node].kind, NodeKind::Block(_)) && !self.begun[node] {
                let name = |id: TerminalId| &self.old.terminals[id].name;
                let message = format!(
                    "`{}` does not directly follow `{}`",
                    name(self.indenter.indent),
                    name(self.indenter.newline)
                );
                self.diagnostics.push(Diagnostic::error("G003", self.nodes[node].span, message));
            }
        }
    }

    fn expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.new.expr(kind, span)
    }

    /// A terminal for each width, and the rules that choose one.
    fn line_breaks(&mut self) {
        let id = self.indenter.newline;
        let terminal = self.old.terminals[id].clone();
        let regexes = &mut self.new.regexes;
        let Ok(automaton) = Automaton::new(regexes, terminal.regex) else {
            let message = format!("`{}` is too large for a line break", terminal.name);
            let help = "a line break is a line feed and blanks, and may hold blank lines and comments";
            self.diagnostics.push(Diagnostic::error("G006", terminal.span, message).help(help));
            return;
        };
        // In `longest` mode a line break goes on while one of its width may come.
        let is_longest = self.old.options.lexer == LexerMode::Longest;
        let whole = match is_longest && automaton.returns_to(b'\n') {
            true => vec![((0..automaton.states()).map(|state| automaton.accepts(state)).collect(), None)],
            false => automaton.whole(regexes),
        };
        let letters = Letters::new(&automaton, self.indenter);
        let mut questions = Questions::new();
        for (width, tail) in tails(self.indenter, regexes).into_iter().enumerate() {
            let mut own = Vec::new();
            for (accepting, follow) in &whole {
                let regexes = &mut self.new.regexes;
                let regex = if width <= widths::WIDTH_MAX {
                    letters.of_width(width, &automaton, accepting, regexes)
                } else {
                    let texts = automaton.texts(0, accepting.clone(), regexes);
                    of_tail(texts, tail, regexes)
                };
                if questions.is_empty(regexes, regex) {
                    continue;
                }
                let follow = match (terminal.follow, *follow) {
                    (Some(old), Some(new)) => Some(regexes.and(&[old, new])),
                    (old, new) => old.or(new),
                };
                own.push(self.new.terminals.push(Terminal { regex, follow, ..terminal.clone() }));
            }
            self.newlines.push(own);
        }
        self.breaks = [(":within", self.bits.width), (":out", self.bits.out)].map(|(name, range)| {
            let mut alternatives = Vec::new();
            for width in 0..self.newlines.len() {
                let condition = Some(self.condition(range, Comparison::Eq, width));
                let expr = self.newline(width, terminal.span);
                alternatives.push(Alternative { expr, condition });
            }
            let body = self.expr(ExprKind::choice(alternatives), terminal.span);
            self.rule(format!("{}{name}", terminal.name), body, terminal.span)
        });
    }

    /// A line break of this width.
    fn newline(&mut self, width: usize, span: Span) -> ExprId {
        let ways = self.newlines[width].clone();
        let ways: Vec<_> = ways.into_iter().map(|id| Some(self.expr(ExprKind::Terminal(id), span))).collect();
        let none = ExprKind::choice([]);
        self.choice(ways.into_iter(), span).unwrap_or_else(|| self.expr(none, span))
    }

    fn condition(&mut self, range: ParamRange, comparison: Comparison, width: usize) -> ConditionId {
        self.new.conditions.push(Condition::Compare(range, comparison, width as u64))
    }

    /// A rule that hands its parameter on.
    fn rule(&mut self, name: String, body: ExprId, span: Span) -> RuleId {
        self.new.rules.push(Rule { parametric: true, ..Rule::new(name, span, body) })
    }

    /// A rule called with these bits of the parameter.
    fn call(&mut self, rule: RuleId, keep: &[ParamRange], span: Span) -> ExprId {
        let mask = keep.iter().fold(0, |mask, range| mask | range.mask());
        self.expr(ExprKind::Rule(rule, Some(ParamExpr::And(mask))), span)
    }

    /// What of the parameter leads to one of [`ENDS`].
    fn kept(&self, end: usize) -> Vec<ParamRange> {
        if ENDS[end] == Place::Out { vec![self.bits.width, self.bits.out] } else { vec![self.bits.width] }
    }

    /// A rule called with these bits of the parameter, and what the author's expression makes of theirs.
    fn call_with(&mut self, rule: RuleId, arg: Option<ParamExpr>, keep: &[ParamRange], span: Span) -> ExprId {
        let Some(arg) = arg else { return self.call(rule, keep, span) };
        if keep.is_empty() && matches!(arg, ParamExpr::Const(_)) {
            return self.expr(ExprKind::Rule(rule, Some(arg)), span);
        }
        let keep = [keep, &[self.bits.own]].concat();
        let arg = self.bits.expr(arg).expect("checked when it was read");
        if arg == ParamExpr::Same {
            return self.call(rule, &keep, span);
        }
        let passing = match self.passing.get(&(rule, arg)) {
            Some(&passing) => passing,
            None => {
                let body = self.expr(ExprKind::Rule(rule, Some(arg)), span);
                let passing = self.rule(format!("{}:call", self.new.rules[rule].name), body, span);
                self.passing.insert((rule, arg), passing);
                passing
            }
        };
        self.call(passing, &keep, span)
    }

    fn choice(&mut self, ways: impl Iterator<Item = Option<ExprId>>, span: Span) -> Option<ExprId> {
        self.choice_if(ways.map(|expr| (expr, None)), span)
    }

    fn choice_if(
        &mut self,
        ways: impl Iterator<Item = (Option<ExprId>, Option<ConditionId>)>,
        span: Span,
    ) -> Option<ExprId> {
        let ways = ways.filter_map(|(expr, condition)| Some(Alternative { expr: expr?, condition }));
        let ways: Vec<Alternative> = ways.collect();
        match ways.as_slice() {
            [] => None,
            &[Alternative { expr, condition: None }] => Some(expr),
            _ => Some(self.expr(ExprKind::choice(ways), span)),
        }
    }

    fn nothing(&mut self, span: Span) -> ExprId {
        self.expr(ExprKind::sequence([]), span)
    }

    fn ways(&mut self, node: NodeId, ways: &[Ways]) -> Ways {
        let Node { kind, span, lined, nullable } = &self.nodes[node];
        let (kind, span, lined, nullable) = (kind.clone(), *span, *lined, *nullable);
        let empty = match nullable {
            Nullable::No => None,
            Nullable::Yes => Some(self.nothing(span)),
            Nullable::Sometimes => self.empty_way(&kind, span, ways),
        };
        let only = |expr: ExprId| Ways { within: [Some(expr), None, None], new: [None; 3], empty };
        let within = |child: NodeId| ways[child].within[0].expect("what has no line breaks goes on within the block");
        match kind {
            NodeKind::Leaf(expr) => only(expr),
            NodeKind::Brackets(index) => {
                let embed = Embed { kind: EmbedKind::Named(String::new()), span, target: None, rule: None };
                let embed = self.new.embeds.push(embed);
                debug_assert_eq!(embed.0 as usize, self.old.embeds.len() + index);
                only(self.expr(ExprKind::Embed(embed), span))
            }
            NodeKind::Rule(rule, arg) => match self.variants[rule] {
                None if arg.is_none() => only(self.expr(ExprKind::Rule(rule, None), span)),
                None => only(self.call_with(rule, arg, &[], span)),
                Some(variants) => {
                    let within = [0, 1, 2].map(|end| {
                        let keep = self.kept(end);
                        Some(self.call_with(variants[end], arg, &keep, span))
                    });
                    Ways { within, new: [None; 3], empty }
                }
            },
            NodeKind::Newline => {
                let [same, out] = self.breaks;
                let Bits { width: width_bits, out: out_bits, .. } = self.bits;
                let within =
                    [Some(self.call(same, &[width_bits], span)), Some(self.call(out, &[out_bits], span)), None];
                Ways { within, new: [None; 3], empty }
            }
            NodeKind::Sequence(parts) if !lined => {
                only(self.expr(ExprKind::sequence(parts.into_iter().map(within)), span))
            }
            NodeKind::Choice(parts) if !lined => {
                let parts = parts.into_iter().map(|(part, condition)| (within(part), condition));
                let alternatives = parts.map(|(expr, condition)| Alternative { expr, condition });
                only(self.expr(ExprKind::choice(alternatives), span))
            }
            NodeKind::Repeat(child, min, max) if !lined => {
                only(self.expr(ExprKind::Repeat(within(child), min, max), span))
            }
            NodeKind::Sequence(parts) => Ways { empty, ..self.sequence_ways(&parts, span, ways) },
            NodeKind::Choice(parts) => {
                let mut both = Ways { empty, ..Ways::default() };
                for end in 0..ENDS.len() {
                    let within = parts.iter().map(|&(part, condition)| (ways[part].within[end], condition));
                    both.within[end] = self.choice_if(within, span);
                    let new = parts.iter().map(|&(part, condition)| (ways[part].new[end], condition));
                    both.new[end] = self.choice_if(new, span);
                }
                both
            }
            NodeKind::Repeat(child, min, max) => Ways { empty, ..self.repeat_ways(child, min, max, span, ways) },
            NodeKind::Block(body) => Ways { empty, ..self.block_ways(span, ways[body]) },
        }
    }

    /// The empty text, where the parameter decides whether a node is empty.
    fn empty_way(&mut self, kind: &NodeKind, span: Span, ways: &[Ways]) -> Option<ExprId> {
        match kind {
            NodeKind::Rule(rule, arg) => {
                let empty = self.empties[*rule].expect("the parameter makes it empty");
                Some(self.call_with(empty, *arg, &[], span))
            }
            NodeKind::Sequence(parts) => {
                let mut all = self.nothing(span);
                for &part in parts.iter().rev() {
                    all = self.join(ways[part].empty, Some(all), span)?;
                }
                Some(all)
            }
            NodeKind::Choice(parts) => {
                self.choice_if(parts.iter().map(|&(part, condition)| (ways[part].empty, condition)), span)
            }
            _ => unreachable!("repetitions that must be are written out, and the parameter does not change others"),
        }
    }

    /// All but the last time go on within the block; the first one may be behind a line break that begins one.
    fn repeat_ways(&mut self, child: NodeId, min: u32, max: Option<u32>, span: Span, ways: &[Ways]) -> Ways {
        let own = ways[child];
        let min = if self.nodes[child].nullable == Nullable::No { min } else { 0 };
        let times = |rewriter: &mut Self, less: u32| {
            let max = max.map(|max| max.saturating_sub(less));
            let repeated = own.within[0].filter(|_| max != Some(0));
            match repeated {
                Some(within) => Some(rewriter.expr(ExprKind::Repeat(within, min.saturating_sub(less), max), span)),
                None if min <= less => Some(rewriter.expr(ExprKind::sequence([]), span)),
                None => None,
            }
        };
        let mut all = Ways::default();
        if max == Some(0) {
            all.within[0] = times(self, 0);
            return all;
        }
        all.within[0] = times(self, 0);
        let before_last = times(self, 1);
        for end in 1..ENDS.len() {
            all.within[end] = self.join(before_last, own.within[end], span);
        }
        let after_first = times(self, 1);
        for end in 0..ENDS.len() {
            let mut found = Vec::new();
            if end == 0 {
                found.push(self.join(own.new[0], after_first, span));
            } else {
                // The block is the last one, or what leads out stands further on.
                found.push(own.new[end].filter(|_| min <= 1));
                if max != Some(1) {
                    let between = times(self, 2);
                    let rest = self.join(between, own.within[end], span);
                    found.push(self.join(own.new[0], rest, span));
                }
            }
            all.new[end] = self.choice(found.into_iter(), span);
        }
        all
    }

    fn join(&mut self, first: Option<ExprId>, rest: Option<ExprId>, span: Span) -> Option<ExprId> {
        let (first, rest) = (first?, rest?);
        let kind = |id: ExprId| &self.new.exprs[id].kind;
        let parts = match (kind(first), kind(rest)) {
            (ExprKind::Sequence(none), _) if none.is_empty() => return Some(rest),
            (_, ExprKind::Sequence(parts)) => [&[first], &parts[..]].concat(),
            _ => vec![first, rest],
        };
        Some(self.expr(ExprKind::sequence(parts), span))
    }

    /// From the right: what the rest of the sequence derives from each place, for each place that it may lead to.
    fn sequence_ways(&mut self, parts: &[NodeId], span: Span, ways: &[Ways]) -> Ways {
        let mut all = Ways::default();
        for (end, &place) in ENDS.iter().enumerate() {
            let nothing = self.nothing(span);
            let mut rest: [Option<ExprId>; 3] = ENDS.map(|from| (from == place).then_some(nothing));
            let mut rest_new: Option<ExprId> = None;
            for (at, &part) in parts.iter().enumerate().rev() {
                let own = ways[part];
                let mut within: Vec<Option<ExprId>> = Vec::new();
                let mut new: Vec<Option<ExprId>> = Vec::new();
                for (middle, &rest) in rest.iter().enumerate() {
                    within.push(self.join(own.within[middle], rest, span));
                    new.push(self.join(own.new[middle], rest, span));
                }
                if matches!(self.nodes[part].kind, NodeKind::Newline)
                    && let Some(after) = rest_new
                {
                    within.push(Some(self.wider(after, span)));
                    self.mark_begun(&parts[at + 1..]);
                }
                new.push(self.join(own.empty, rest_new, span));
                let (out, end) = (self.join(own.empty, rest[1], span), self.join(own.empty, rest[2], span));
                rest = [self.choice(within.into_iter(), span), out, end];
                rest_new = self.choice(new.into_iter(), span);
            }
            all.within[end] = rest[0];
            all.new[end] = rest_new;
        }
        all
    }

    /// Marks the blocks that a sequence may begin with.
    fn mark_begun(&mut self, parts: &[NodeId]) {
        let mut agenda = vec![parts.to_vec()];
        while let Some(parts) = agenda.pop() {
            for part in parts {
                match &self.nodes[part].kind {
                    NodeKind::Block(_) => self.begun[part] = true,
                    NodeKind::Sequence(inner) => agenda.push(inner.clone()),
                    NodeKind::Choice(inner) => agenda.extend(inner.iter().map(|&(part, _)| vec![part])),
                    NodeKind::Repeat(inner, ..) => agenda.push(vec![*inner]),
                    _ => {}
                }
                if self.nodes[part].nullable == Nullable::No {
                    break;
                }
            }
        }
    }

    /// A line break wider than the block, and what follows it.
    fn wider(&mut self, after: ExprId, span: Span) -> ExprId {
        let name = &self.old.terminals[self.indenter.newline].name;
        let (wider, after_name) = (format!("{name}:wider"), format!("{name}:new"));
        let after = self.rule(after_name, after, span);
        let mut alternatives = Vec::new();
        for width in 1..self.newlines.len() {
            let condition = Some(self.condition(self.bits.width, Comparison::Lt, width));
            let newline = self.newline(width, span);
            let call = self.expr(ExprKind::Rule(after, Some(ParamExpr::Put(self.bits.new, width as u64))), span);
            let expr = self.expr(ExprKind::sequence([newline, call]), span);
            alternatives.push(Alternative { expr, condition });
        }
        let body = self.expr(ExprKind::choice(alternatives), span);
        let rule = self.rule(wider, body, span);
        self.expr(ExprKind::Rule(rule, Some(ParamExpr::Same)), span)
    }

    fn block_ways(&mut self, span: Span, own: Ways) -> Ways {
        let Bits { width, out, new, .. } = self.bits;
        let mut all = Ways::default();
        if let Some(out_body) = own.within[1] {
            let body = self.rule("block:out".to_string(), out_body, span);
            let begin = self.expr(ExprKind::Rule(body, Some(ParamExpr::Copy { from: new, to: width })), span);
            let begin = self.rule("block".to_string(), begin, span);
            // Back to the block around it, or further out.
            let back = ParamExpr::Copy { from: width, to: out };
            all.new[0] = Some(self.expr(ExprKind::Rule(begin, Some(back)), span));
            all.new[1] = Some(self.expr(ExprKind::Rule(begin, Some(ParamExpr::Same)), span));
        }
        if let Some(end) = self.choice([own.within[0], own.within[2]].into_iter(), span) {
            let body = self.rule("block:end".to_string(), end, span);
            all.new[2] = Some(self.expr(ExprKind::Rule(body, Some(ParamExpr::Copy { from: new, to: width })), span));
        }
        all
    }

    /// The grammar between brackets.
    pub(super) fn within_brackets(&mut self) -> Option<Grammar> {
        if self.brackets.is_empty() {
            return None;
        }
        let mut inner = self.old.clone();
        inner.indenter = None;
        inner.name = format!("{}/brackets", self.old.name);
        let Indenter { newline, indent, dedent, .. } = *self.indenter;
        for expr in inner.exprs.iter_mut() {
            if matches!(expr.kind, ExprKind::Terminal(id) if [newline, indent, dedent].contains(&id)) {
                expr.kind = ExprKind::choice([]);
            }
        }
        inner.ignore.push(newline);
        for (index, parts) in std::mem::take(&mut self.brackets).into_iter().enumerate() {
            let span = inner.exprs[parts[0]].span;
            let body = inner.expr(ExprKind::sequence(parts), span);
            let rule = inner.rules.push(Rule::new("brackets", span, body));
            inner.start = rule;
            let embed = self.old.embeds.len() + index;
            self.new.embeds.iter_mut().nth(embed).expect("one for each pair").rule = Some(rule);
        }
        Some(inner)
    }
}
