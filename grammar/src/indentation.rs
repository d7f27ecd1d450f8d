//! Indentation: a grammar of blocks becomes one whose line breaks know how far the next line is indented.
//!
//! As Lark's `Indenter` has it, a line break is a lexeme that goes up to the next line's first character. The blanks
//! behind its last line feed are a width. Wider than the block's, it is followed by an *indent*; narrower, by a *dedent*
//! for each block that it ends, and the block that it ends in has exactly that width. Line breaks within brackets are
//! ignored text. At the end of the text all blocks end.
//!
//! No stack is needed: widths nest as blocks do. The width of the block that a rule stands in is its parameter, and the
//! line break's terminal becomes one for each width. What is left is that the last line break within a block says which
//! of the outer blocks goes on. A rule with line breaks becomes three, by where it leads to:
//!
//! - *within*: behind it the same block goes on;
//! - *out*: its last line break ends its block; the width behind it is part of the parameter;
//! - *end*: behind it there is nothing but the ends of blocks, since the text ends.
//!
//! A block in a rule that leads *within* is one that leads *out* to the rule's own width; in a rule that leads *out*, to
//! the same width as that. So there are no more derivations of a rule under way than blocks around it, and two.
//!
//! What stands between brackets becomes a grammar of its own, which ignores line breaks.
//!
//! A line break is taken whole: it ends only before what it cannot go on with. Where the lexer mode does not see to that,
//! it is a look-ahead. Parameters of the author's rules are the lower bits, widths the upper ones; what in a rule depends on
//! the parameter keeps its conditions.
//! `docs/decisions/indentation.md` has the reasons.

use rustc_hash::FxHashMap;

use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::index::IndexVec;
use crate::ir::{
    Alternative, Embed, EmbedKind, ExprId, ExprKind, Grammar, Indenter, LexerMode, Rule, RuleId, Terminal, TerminalId,
};
use crate::param::{Comparison, Condition, ConditionId, ParamExpr, ParamRange};
use crate::regex::{ByteSet, RegexId, RegexSet};
use crate::regex_syntax::{Questions, returns_behind, taken_whole};
use crate::span::Span;

/// Codes of this module.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "G003",
        title: "block without beginning or end",
        explanation: "`_INDENT` and `_DEDENT` stand in one alternative, `_NEWLINE _INDENT statement+ _DEDENT`, the first \
                      directly behind the line break.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\n",
    },
    CodeInfo {
        code: "G004",
        title: "brackets across rules",
        explanation: "Line breaks within brackets are ignored, so that an opening bracket and the closing one stand in one \
                      alternative.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"(\" rest _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\nrest: \"x\" \")\"\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"(\" rest \")\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\nrest: \"x\"\n",
    },
    CodeInfo {
        code: "G005",
        title: "parameters beside blocks",
        explanation: "The widths of blocks are the upper bits of the parameter, so that the numbers that rules count with have \
                      the lower ones, 43 with `width_max` 80; and what stands between brackets does not know the parameter \
                      of the rule around it.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: p::0 _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\np::_: \"x\" p::set_bit(60) %if bit_clear(60) | \"z\"\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: p::0 _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\np::_: \"x\" p::set_bit(0) %if bit_clear(0) | \"z\"\n",
    },
    CodeInfo {
        code: "G006",
        title: "line breaks are too large",
        explanation: "The terminal of line breaks is a regex with so many states that where it is taken whole cannot be found out.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\n(a|b)*a(a|b){20} */\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\n(a|b)* */\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\n",
    },
];

/// Bits of a parameter: the author's own, and above these the width of the block around, the width that the last line
/// break leads out to, and the width of a block that begins.
#[derive(Clone, Copy)]
struct Bits {
    own: ParamRange,
    width: ParamRange,
    out: ParamRange,
    new: ParamRange,
}

impl Bits {
    fn new(indenter: &Indenter) -> Self {
        let bits = (u32::BITS - indenter.width_max.min(WIDTH_MAX).leading_zeros()).max(1) as u8;
        let range = |from: u8| ParamRange { start: 64 - from * bits, end: 64 - (from - 1) * bits };
        Self { own: ParamRange { start: 0, end: 64 - 3 * bits }, width: range(3), out: range(2), new: range(1) }
    }

    /// The part of a range that is the author's.
    fn own_part(self, range: ParamRange) -> ParamRange {
        ParamRange { start: range.start.min(self.own.end), end: range.end.min(self.own.end) }
    }

    /// A condition of the author's, of their own bits: the upper ones were never set.
    fn condition(self, condition: &Condition) -> Condition {
        match *condition {
            Condition::Compare(range, comparison, number) => {
                Condition::Compare(self.own_part(range), comparison, number)
            }
            Condition::BitCount(range, comparison, count) => {
                Condition::BitCount(self.own_part(range), comparison, count)
            }
            ref other => other.clone(),
        }
    }

    /// The author's expression, of their own bits. `None` if it may set others.
    fn expr(self, expr: ParamExpr) -> Option<ParamExpr> {
        let upper = !self.own.mask();
        match expr {
            ParamExpr::Const(number) => (number & upper == 0).then_some(ParamExpr::Put(self.own, number)),
            ParamExpr::Same | ParamExpr::ClearBit(_) => Some(expr),
            ParamExpr::SetBit(bit) => (bit < self.own.end).then_some(expr),
            ParamExpr::And(mask) => Some(ParamExpr::And(mask | upper)),
            ParamExpr::Or(mask) => (mask & upper == 0).then_some(expr),
            // Nobody counts to 2^24 by prediction.
            ParamExpr::Increment(range) => (range.end <= self.own.end || range.start + 24 <= self.own.end)
                .then(|| ParamExpr::Increment(self.own_part(range))),
            ParamExpr::Decrement(range) if range.start >= self.own.end => Some(ParamExpr::Same),
            ParamExpr::Decrement(range) => Some(ParamExpr::Decrement(self.own_part(range))),
            ParamExpr::Put(..) | ParamExpr::Copy { .. } => unreachable!("only made here"),
        }
    }
}

/// How often what a parameter may make empty must stand at most.
const WRITTEN_OUT_MAX: u32 = 64;

/// The widest width that a parameter holds.
pub const WIDTH_MAX: u32 = (1 << 16) - 1;

/// A node of a right-hand side with its brackets and blocks found. Children are older than their parents.
struct Node {
    kind: NodeKind,
    span: Span,
    /// Whether line breaks or blocks stand in it, outside of brackets.
    lined: bool,
    nullable: Nullable,
}

/// Whether a part may be empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nullable {
    No,
    /// The parameter decides.
    Sometimes,
    Yes,
}

type NodeId = usize;

#[derive(Clone)]
enum NodeKind {
    /// A terminal, token set, embed or automaton, as it stands.
    Leaf(ExprId),
    Newline,
    Rule(RuleId, Option<ParamExpr>),
    Sequence(Vec<NodeId>),
    Choice(Vec<(NodeId, Option<ConditionId>)>),
    Repeat(NodeId, u32, Option<u32>),
    /// Index in [`Rewriter::brackets`].
    Brackets(usize),
    /// What stands between an indent and a dedent.
    Block(NodeId),
}

/// Where a part of a text begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// In the block where the rule is.
    Within,
    /// Behind a line break that leads out of it.
    Out,
    /// Where nothing but ends of blocks may follow.
    End,
}

/// Where a part may lead to.
const ENDS: [Place; 3] = [Place::Within, Place::Out, Place::End];

/// What a node derives by where it begins (within, behind a line break that begins a block) and where it leads to, as
/// [`ENDS`]; `None` is nothing.
#[derive(Clone, Copy, Default)]
struct Ways {
    within: [Option<ExprId>; 3],
    new: [Option<ExprId>; 3],
    /// The empty text alone, where the parameter allows it.
    empty: Option<ExprId>,
}

/// One part of a sequence before its brackets and blocks are found.
#[derive(Clone, Copy)]
struct Part {
    /// As it stands.
    expr: ExprId,
    node: Option<NodeId>,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Other,
    Open,
    Close,
    Indent,
    Dedent,
}

struct Rewriter<'g> {
    old: &'g Grammar,
    indenter: &'g Indenter,
    bits: Bits,
    new: Grammar,
    nodes: Vec<Node>,
    /// The node of each rule's body.
    bodies: IndexVec<RuleId, NodeId>,
    /// What stands in brackets, brackets included, as it stood.
    brackets: Vec<Vec<ExprId>>,
    /// The variants of each rule with line breaks, as [`ENDS`].
    variants: IndexVec<RuleId, Option<[RuleId; 3]>>,
    /// Of rules that the parameter makes empty, the one that is nothing else.
    empties: IndexVec<RuleId, Option<RuleId>>,
    /// Rules that pass on what an expression makes of the parameter's lower bits.
    passing: FxHashMap<(RuleId, ParamExpr), RuleId>,
    /// Blocks that directly follow a line break.
    begun: Vec<bool>,
    /// A line break that goes on within the block, and one that leads out.
    breaks: [RuleId; 2],
    /// Line breaks by width.
    newlines: Vec<Vec<TerminalId>>,
    diagnostics: Vec<Diagnostic>,
}

/// The grammar with its line breaks told apart, and, if it has brackets, the one that stands in them. Its embeds from
/// that number on are in the second.
///
/// Errors: [`CODES`].
pub(crate) fn rewrite(grammar: &Grammar, indenter: &Indenter) -> Result<(Grammar, Option<Grammar>), Vec<Diagnostic>> {
    let mut rewriter = Rewriter {
        old: grammar,
        indenter,
        bits: Bits::new(indenter),
        new: Grammar { rules: IndexVec::new(), indenter: None, ..grammar.clone() },
        nodes: Vec::new(),
        bodies: IndexVec::new(),
        brackets: Vec::new(),
        variants: IndexVec::new(),
        empties: IndexVec::new(),
        passing: FxHashMap::default(),
        begun: Vec::new(),
        breaks: [RuleId(0); 2],
        newlines: Vec::new(),
        diagnostics: Vec::new(),
    };
    rewriter.read();
    if rewriter.diagnostics.is_empty() {
        rewriter.facts();
    }
    if rewriter.diagnostics.is_empty() {
        rewriter.write();
    }
    if !rewriter.diagnostics.is_empty() {
        return Err(rewriter.diagnostics);
    }
    let inner = rewriter.within_brackets();
    Ok((rewriter.new, inner))
}

// What there is.
impl Rewriter<'_> {
    /// Finds brackets and blocks.
    fn read(&mut self) {
        let old = self.old;
        let mut parts: IndexVec<ExprId, Vec<Part>> = IndexVec::new();
        // Expressions that derive something else with another parameter.
        let mut depends: IndexVec<ExprId, bool> = IndexVec::new();
        for (id, expr) in old.exprs.iter_enumerated() {
            depends.push(match &expr.kind {
                ExprKind::Rule(_, arg) => !matches!(arg, None | Some(ParamExpr::Const(_))),
                ExprKind::Choice(parts) => parts.iter().any(|part| part.condition.is_some() || depends[part.expr]),
                ExprKind::Sequence(parts) => parts.iter().any(|&part| depends[part]),
                &ExprKind::Repeat(child, ..) => depends[child],
                _ => false,
            });
            let other = |rewriter: &mut Self, kind: NodeKind| {
                vec![Part { expr: id, node: Some(rewriter.node(kind, expr.span)), role: Role::Other }]
            };
            let own = match &expr.kind {
                ExprKind::Terminal(terminal) => {
                    let role = self.role(*terminal);
                    let kind = if *terminal == self.indenter.newline { NodeKind::Newline } else { NodeKind::Leaf(id) };
                    vec![Part { role, ..other(self, kind)[0] }]
                }
                &ExprKind::Rule(rule, arg) => {
                    self.check_arg(arg, expr.span);
                    other(self, NodeKind::Rule(rule, arg))
                }
                ExprKind::Sequence(children) => children.iter().flat_map(|&child| parts[child].clone()).collect(),
                ExprKind::Choice(alternatives) => {
                    let nodes = alternatives.iter();
                    let nodes =
                        nodes.map(|a| (self.resolve(&parts[a.expr], &depends, expr.span), a.condition)).collect();
                    other(self, NodeKind::Choice(nodes))
                }
                &ExprKind::Repeat(child, min, max) => {
                    let node = self.resolve(&parts[child], &depends, expr.span);
                    let kind = self.repeat(node, min, max, expr.span);
                    other(self, kind)
                }
                _ => other(self, NodeKind::Leaf(id)),
            };
            parts.push(own);
        }
        for rule in old.rules.iter() {
            let body = self.resolve(&parts[rule.body], &depends, rule.span);
            self.bodies.push(body);
        }
    }

    /// A repetition. Where a parameter may decide whether its child is empty, the times that must be are written out.
    fn repeat(&mut self, child: NodeId, min: u32, max: Option<u32>, span: Span) -> NodeKind {
        if min == 0 || min > WRITTEN_OUT_MAX || self.old.conditions.is_empty() {
            return NodeKind::Repeat(child, min, max);
        }
        let mut parts = vec![child; min as usize];
        let rest = max.map(|max| max.saturating_sub(min));
        if rest != Some(0) {
            parts.push(self.node(NodeKind::Repeat(child, 0, rest), span));
        }
        NodeKind::Sequence(parts)
    }

    fn check_arg(&mut self, arg: Option<ParamExpr>, span: Span) {
        if arg.is_some_and(|arg| self.bits.expr(arg).is_none()) {
            let bits = self.bits.own.end;
            let message = "the parameter grows into the bits where the widths of blocks are".to_string();
            let help =
                format!("bits 0 to {} are free; a smaller `width_max` in the option `indenter` frees more", bits - 1);
            self.diagnostics.push(Diagnostic::error("G005", span, message).help(help));
        }
    }

    fn role(&self, terminal: TerminalId) -> Role {
        let Indenter { indent, dedent, open, close, .. } = self.indenter;
        match terminal {
            _ if terminal == *indent => Role::Indent,
            _ if terminal == *dedent => Role::Dedent,
            _ if open.contains(&terminal) => Role::Open,
            _ if close.contains(&terminal) => Role::Close,
            _ => Role::Other,
        }
    }

    fn node(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.nodes.push(Node { kind, span, lined: false, nullable: Nullable::No });
        self.nodes.len() - 1
    }

    /// The node of a sequence: what stands between brackets, and between an indent and its dedent, is one part of it.
    fn resolve(&mut self, parts: &[Part], depends: &IndexVec<ExprId, bool>, span: Span) -> NodeId {
        // What is open: the part that opened it, and the nodes since then.
        let mut open: Vec<(usize, Vec<NodeId>)> = Vec::new();
        let mut nodes: Vec<NodeId> = Vec::new();
        let mut brackets = 0;
        for (at, part) in parts.iter().enumerate() {
            let place = self.old.exprs[part.expr].span;
            match part.role {
                Role::Open => {
                    brackets += 1;
                    open.push((at, std::mem::take(&mut nodes)));
                }
                // Within brackets there are no blocks.
                Role::Indent | Role::Dedent if brackets > 0 => {}
                Role::Indent => open.push((at, std::mem::take(&mut nodes))),
                Role::Close | Role::Dedent => {
                    let is_block = part.role == Role::Dedent;
                    let wanted = if is_block { Role::Indent } else { Role::Open };
                    let Some((start, before)) = open.pop_if(|(start, _)| parts[*start].role == wanted) else {
                        self.unpaired(part.role, place);
                        continue;
                    };
                    let inner = std::mem::replace(&mut nodes, before);
                    let kind = if is_block {
                        let body = self.sequence(inner, place);
                        NodeKind::Block(body)
                    } else {
                        brackets -= 1;
                        if let Some(part) = parts[start..at].iter().find(|part| depends[part.expr]) {
                            let span = self.old.exprs[part.expr].span;
                            let message = "what stands between brackets depends on the parameter".to_string();
                            let help = "`\"brackets\": []` in the option `indenter` has none, then line breaks between them count";
                            self.diagnostics.push(Diagnostic::error("G005", span, message).help(help));
                        }
                        self.brackets.push(parts[start..=at].iter().map(|part| part.expr).collect());
                        NodeKind::Brackets(self.brackets.len() - 1)
                    };
                    let node = self.node(kind, self.old.exprs[parts[start].expr].span);
                    nodes.push(node);
                }
                Role::Other => nodes.extend(part.node),
            }
        }
        for (start, _) in open {
            self.unpaired(parts[start].role, self.old.exprs[parts[start].expr].span);
        }
        self.sequence(nodes, span)
    }

    fn sequence(&mut self, nodes: Vec<NodeId>, span: Span) -> NodeId {
        if let &[only] = nodes.as_slice() { only } else { self.node(NodeKind::Sequence(nodes), span) }
    }

    fn unpaired(&mut self, role: Role, span: Span) {
        let name = |id: TerminalId| &self.old.terminals[id].name;
        let (indent, dedent) = (name(self.indenter.indent), name(self.indenter.dedent));
        self.diagnostics.push(match role {
            Role::Indent => Diagnostic::error("G003", span, format!("`{indent}` has no `{dedent}` in its alternative")),
            Role::Dedent => {
                Diagnostic::error("G003", span, format!("`{dedent}` has no `{indent}` before it in its alternative"))
            }
            Role::Open => Diagnostic::error("G004", span, "this bracket is not closed in its alternative".to_string()),
            _ => Diagnostic::error("G004", span, "this bracket is not opened in its alternative".to_string()),
        });
    }

    /// Which nodes have line breaks, and which may be empty: whoever uses a rule is looked at again when that changes.
    fn facts(&mut self) {
        let rules = self.old.rules.len();
        // The nodes that each rule reaches without others, children before their parents.
        let mut reached: Vec<Vec<NodeId>> = Vec::with_capacity(rules);
        let mut users: Vec<Vec<usize>> = vec![Vec::new(); rules];
        for (rule, &body) in self.bodies.iter().enumerate() {
            let mut nodes = vec![body];
            let mut next = 0;
            while let Some(&node) = nodes.get(next) {
                next += 1;
                match &self.nodes[node].kind {
                    NodeKind::Sequence(children) => nodes.extend(children),
                    NodeKind::Choice(children) => nodes.extend(children.iter().map(|(child, _)| child)),
                    NodeKind::Repeat(child, ..) | NodeKind::Block(child) => nodes.push(*child),
                    NodeKind::Rule(called, _) => users[called.0 as usize].push(rule),
                    _ => {}
                }
            }
            nodes.sort_unstable();
            reached.push(nodes);
        }
        let mut agenda: Vec<usize> = (0..rules).collect();
        while let Some(rule) = agenda.pop() {
            let body = self.bodies[RuleId(rule as u32)];
            let before = (self.nodes[body].lined, self.nodes[body].nullable);
            for &node in &reached[rule] {
                let of = |id: NodeId| (self.nodes[id].lined, self.nodes[id].nullable);
                let (lined, nullable) = match &self.nodes[node].kind {
                    NodeKind::Leaf(expr) => (false, self.leaf_is_nullable(*expr)),
                    NodeKind::Newline => (true, Nullable::No),
                    NodeKind::Brackets(_) => (false, Nullable::No),
                    NodeKind::Block(_) => (true, Nullable::No),
                    NodeKind::Rule(called, _) => of(self.bodies[*called]),
                    NodeKind::Sequence(parts) => {
                        let least = parts.iter().map(|&part| of(part).1).min();
                        (parts.iter().any(|&part| of(part).0), least.unwrap_or(Nullable::Yes))
                    }
                    NodeKind::Choice(parts) => {
                        let nullable = parts.iter().map(|&(part, condition)| match condition {
                            None => of(part).1,
                            Some(_) => of(part).1.min(Nullable::Sometimes),
                        });
                        (parts.iter().any(|&(part, _)| of(part).0), nullable.max().unwrap_or(Nullable::No))
                    }
                    &NodeKind::Repeat(child, min, _) => {
                        (of(child).0, if min == 0 { Nullable::Yes } else { of(child).1 })
                    }
                };
                (self.nodes[node].lined, self.nodes[node].nullable) = (lined, nullable);
            }
            if before != (self.nodes[body].lined, self.nodes[body].nullable) {
                agenda.extend(&users[rule]);
            }
        }
        for node in &self.nodes {
            if let &NodeKind::Repeat(child, min, _) = &node.kind
                && min > 0
                && self.nodes[child].nullable == Nullable::Sometimes
            {
                let message = format!("what the parameter may make empty is repeated at least {min} times");
                let help = format!("{WRITTEN_OUT_MAX} times are possible");
                self.diagnostics.push(Diagnostic::error("G005", node.span, message).help(help));
            }
        }
    }

    fn leaf_is_nullable(&self, expr: ExprId) -> Nullable {
        match self.old.exprs[expr].kind {
            ExprKind::Terminal(id) if self.old.regexes.info(self.old.terminals[id].regex).nullable => Nullable::Yes,
            _ => Nullable::No,
        }
    }
}

// What becomes of it.
impl Rewriter<'_> {
    fn write(&mut self) {
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
                let name = format!("{}{name}", own.name);
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
        let nothing = self.expr(ExprKind::Choice(Vec::new()), start_span);
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
        let tails = tails(self.indenter, regexes);
        let any = regexes.any_byte();
        let any = regexes.repeat(any, 0, None);
        let feed = regexes.literal(b"\n");
        // In `longest` mode a line break goes on while one of its width may come.
        let is_longest = self.old.options.lexer == LexerMode::Longest;
        let whole = match returns_behind(terminal.regex, b'\n', regexes) {
            Ok(true) if is_longest => Ok(vec![(None, None)]),
            Ok(_) => taken_whole(terminal.regex, regexes)
                .map(|ways| ways.into_iter().map(|(texts, follow)| (Some(texts), Some(follow))).collect()),
            Err(error) => Err(error),
        };
        let whole = whole.unwrap_or_else(|_| {
            let message = format!("`{}` is too large for a line break", terminal.name);
            let help = "a line break is a line feed and blanks, and may hold blank lines and comments";
            self.diagnostics.push(Diagnostic::error("G006", terminal.span, message).help(help));
            Vec::new()
        });
        let mut questions = Questions::new();
        for tail in tails {
            let regexes = &mut self.new.regexes;
            let ends = regexes.concat(&[any, feed, tail]);
            let mut own = Vec::new();
            for &(texts, follow) in &whole {
                let all: Vec<RegexId> = [Some(terminal.regex), texts, Some(ends)].into_iter().flatten().collect();
                let regex = regexes.and(&all);
                if questions.is_empty(regexes, regex) {
                    continue;
                }
                let follow = match (terminal.follow, follow) {
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
            let body = self.expr(ExprKind::Choice(alternatives), terminal.span);
            self.rule(format!("{}{name}", terminal.name), body, terminal.span)
        });
    }

    /// A line break of this width.
    fn newline(&mut self, width: usize, span: Span) -> ExprId {
        let ways = self.newlines[width].clone();
        let ways: Vec<_> = ways.into_iter().map(|id| Some(self.expr(ExprKind::Terminal(id), span))).collect();
        let none = ExprKind::Choice(Vec::new());
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
            _ => Some(self.expr(ExprKind::Choice(ways), span)),
        }
    }

    fn nothing(&mut self, span: Span) -> ExprId {
        self.expr(ExprKind::Sequence(Vec::new()), span)
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
                let parts = parts.into_iter().map(within).collect();
                only(self.expr(ExprKind::Sequence(parts), span))
            }
            NodeKind::Choice(parts) if !lined => {
                let parts = parts.into_iter().map(|(part, condition)| (within(part), condition));
                let alternatives = parts.map(|(expr, condition)| Alternative { expr, condition }).collect();
                only(self.expr(ExprKind::Choice(alternatives), span))
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
                None if min <= less => Some(rewriter.expr(ExprKind::Sequence(Vec::new()), span)),
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
        Some(self.expr(ExprKind::Sequence(parts), span))
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
            let expr = self.expr(ExprKind::Sequence(vec![newline, call]), span);
            alternatives.push(Alternative { expr, condition });
        }
        let body = self.expr(ExprKind::Choice(alternatives), span);
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
    fn within_brackets(&mut self) -> Option<Grammar> {
        if self.brackets.is_empty() {
            return None;
        }
        let mut inner = self.old.clone();
        inner.indenter = None;
        inner.name = format!("{}/brackets", self.old.name);
        let Indenter { newline, indent, dedent, .. } = *self.indenter;
        for expr in inner.exprs.iter_mut() {
            if matches!(expr.kind, ExprKind::Terminal(id) if [newline, indent, dedent].contains(&id)) {
                expr.kind = ExprKind::Choice(Vec::new());
            }
        }
        inner.ignore.push(newline);
        for (index, parts) in std::mem::take(&mut self.brackets).into_iter().enumerate() {
            let span = inner.exprs[parts[0]].span;
            let body = inner.expr(ExprKind::Sequence(parts), span);
            let rule = inner.rules.push(Rule::new("brackets", span, body));
            inner.start = rule;
            let embed = self.old.embeds.len() + index;
            self.new.embeds.iter_mut().nth(embed).expect("one for each pair").rule = Some(rule);
        }
        Some(inner)
    }
}

/// What may stand behind a last line feed, by its width: blanks, a tab counting for several, and what is neither.
fn tails(indenter: &Indenter, regexes: &mut RegexSet) -> Vec<RegexId> {
    let mut other = ByteSet::EMPTY;
    (0..=255u8).filter(|byte| !b"\t\n ".contains(byte)).for_each(|byte| other.insert(byte));
    let other = regexes.bytes(other);
    let other = regexes.repeat(other, 0, None);
    let (blank, tab) = (regexes.literal(b" "), regexes.literal(b"\t"));
    let mut tails = vec![other];
    for width in 1..=indenter.width_max as usize {
        let mut ways = vec![regexes.concat(&[blank, tails[width - 1]])];
        if let Some(rest) = width.checked_sub(indenter.tab as usize) {
            ways.push(regexes.concat(&[tab, tails[rest]]));
        }
        let ways = regexes.or(&ways);
        tails.push(regexes.concat(&[other, ways]));
    }
    tails
}
