//! The syntax tree as text, for `larkspur dump --stage ast`.

use std::fmt::Write;

use crate::ast::{Ast, AstGrammarId, Definition, Item, Manner, NodeId, NodeKind};

impl Ast {
    /// One line for each node, children indented; `text` is the source that the tree was read from.
    pub fn dump(&self, text: &str) -> String {
        let mut out = String::new();
        for (id, grammar) in self.grammars.iter_enumerated() {
            let _ = writeln!(out, "grammar {id}");
            for item in &grammar.items {
                self.item(item, text, &mut out);
            }
        }
        out
    }

    fn item(&self, item: &Item, text: &str, out: &mut String) {
        let _ = match item {
            Item::Definition(definition) => {
                self.definition(definition, text, out);
                Ok(())
            }
            Item::Ignore(body) => {
                let _ = writeln!(out, "  ignore");
                self.tree(*body, text, out);
                Ok(())
            }
            Item::Import(import) => {
                let dot = if import.relative { "." } else { "" };
                for (name, alias) in &import.names {
                    let _ = writeln!(out, "  import {dot}{}.{} as {}", import.module(), name.text, alias.text);
                }
                Ok(())
            }
            Item::Declare(name) => writeln!(out, "  declare {}", name.text),
            Item::Options { llguidance, json } => {
                let span = self.json[*json].span;
                let name = if *llguidance { "llguidance" } else { "larkspur" };
                writeln!(out, "  {name} {}", &text[span.start as usize..span.end as usize])
            }
        };
    }

    fn definition(&self, definition: &Definition, text: &str, out: &mut String) {
        let manner = match definition.manner {
            Manner::Define => "",
            Manner::Override => "override ",
            Manner::Extend => "extend ",
        };
        let _ = write!(out, "  {manner}{}", if definition.is_terminal { "terminal" } else { "rule" });
        let _ = write!(out, " {}", definition.name.text);
        if !definition.params.is_empty() {
            let params: Vec<&str> = definition.params.iter().map(|param| param.text.as_str()).collect();
            let _ = write!(out, "{{{}}}", params.join(", "));
        }
        if definition.parametric {
            out.push_str("::_");
        }
        if definition.priority != 0 {
            let _ = write!(out, " priority {}", definition.priority);
        }
        if definition.keep_all {
            out.push_str(" keep-all");
        }
        if definition.inline {
            out.push_str(" inline");
        }
        for attribute in &definition.attributes {
            let _ = write!(out, " [{}]", &text[attribute.span.start as usize..attribute.span.end as usize]);
        }
        out.push('\n');
        self.tree(definition.body, text, out);
    }

    fn tree(&self, root: NodeId, text: &str, out: &mut String) {
        let mut stack = vec![(root, 2)];
        while let Some((id, depth)) = stack.pop() {
            let node = &self.nodes[id];
            let _ = write!(out, "{:width$}", "", width = 2 * depth);
            let written = &text[node.span.start as usize..node.span.end as usize];
            let _ = match &node.kind {
                NodeKind::Choice(alternatives) => {
                    let aliases: Vec<String> = alternatives
                        .iter()
                        .enumerate()
                        .filter_map(|(at, alternative)| {
                            let alias = alternative.alias.as_ref()?;
                            Some(format!(" {}->{}", at + 1, alias.text))
                        })
                        .collect();
                    writeln!(out, "choice{}", aliases.concat())
                }
                NodeKind::Sequence(_) => writeln!(out, "sequence"),
                NodeKind::And(_) => writeln!(out, "and"),
                NodeKind::Repeat(_, min, Some(max)) => writeln!(out, "repeat {min}..{max}"),
                NodeKind::Repeat(_, min, None) => writeln!(out, "repeat {min}.."),
                NodeKind::Complement(_) => writeln!(out, "complement"),
                NodeKind::Group(_) => writeln!(out, "group"),
                NodeKind::Lark(grammar) => writeln!(out, "grammar {}", grammar as &AstGrammarId),
                NodeKind::Error | NodeKind::Broken(_) => writeln!(out, "error"),
                NodeKind::Range(..) => writeln!(out, "range"),
                NodeKind::Rule(..) => writeln!(out, "rule {written}"),
                NodeKind::Terminal(_) => writeln!(out, "terminal {written}"),
                NodeKind::Template(name, _) => writeln!(out, "template {name}"),
                NodeKind::Common(_) | NodeKind::Declared => writeln!(out, "terminal"),
                NodeKind::String => writeln!(out, "string {written}"),
                NodeKind::Regex => writeln!(out, "regex {}", written.replace('\n', "\\n")),
                NodeKind::RegexJson(_) | NodeKind::Json(_) => writeln!(out, "json {}", written.replace('\n', "\\n")),
                NodeKind::Inner(..) => writeln!(out, "inner {}", written.replace('\n', "\\n")),
                NodeKind::GrammarRef => writeln!(out, "embed {written}"),
                NodeKind::Token => writeln!(out, "token {written}"),
            };
            stack.extend(self.children(id).into_iter().rev().map(|child| (child, depth + 1)));
        }
    }
}
