//! Reading the rules: what stands in blocks, and what may be empty.

use super::{Node, NodeId, NodeKind, Nullable, Part, Rewriter, Role, WRITTEN_OUT_MAX};
use crate::diagnostic::Diagnostic;
use crate::index::IndexVec;
use crate::ir::{ExprId, ExprKind, Indenter, RuleId, TerminalId};
use crate::param::ParamExpr;
use crate::span::Span;

impl Rewriter<'_> {
    /// Finds brackets and blocks.
    pub(super) fn read(&mut self) {
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
    pub(super) fn facts(&mut self) {
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
