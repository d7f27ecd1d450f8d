//! The regexes that are lexemes as they stand and are taken as long as they go on: not parts of other terminals, and without attributes
//! that end them earlier. Look-aheads leave less open in them ([`RegexOptions::whole`](larkspur_grammar::RegexOptions::whole)).

use rustc_hash::FxHashSet;

use crate::ast::{Ast, AstGrammar, AttributeValue, Definition, Item, NodeId, NodeKind};

/// These regexes of a grammar in `longest` mode. `newline` is the terminal of which blocks take parts by their widths.
/// Cost: linear in its bodies.
pub(crate) fn regexes<'a>(ast: &'a Ast, grammar: &'a AstGrammar, newline: &'a str) -> FxHashSet<NodeId> {
    let names_of_parts = FxHashSet::from_iter([newline]);
    let mut found = Uses { ast, whole: Vec::new(), parts: FxHashSet::default(), names_of_parts };
    for item in &grammar.items {
        match item {
            Item::Definition(definition) if definition.is_terminal => found.terminal(definition),
            Item::Definition(definition) => found.rule(definition),
            &Item::Ignore(body) => found.parts_of(body),
            _ => {}
        }
    }
    let Uses { whole, parts, names_of_parts, .. } = found;
    let is_whole = |(node, name): &(NodeId, Option<&str>)| {
        !parts.contains(node) && name.is_none_or(|name| !names_of_parts.contains(name))
    };
    whole.into_iter().filter(is_whole).map(|(node, _)| node).collect()
}

struct Uses<'a> {
    ast: &'a Ast,
    /// Regexes that are all of a terminal, and its name if it has one.
    whole: Vec<(NodeId, Option<&'a str>)>,
    /// Regexes that stand in terminals.
    parts: FxHashSet<NodeId>,
    /// Names that stand in terminals.
    names_of_parts: FxHashSet<&'a str>,
}

impl<'a> Uses<'a> {
    fn terminal(&mut self, definition: &'a Definition) {
        let mut body = definition.body;
        while let NodeKind::Group(inner) = self.ast.nodes[body].kind {
            body = inner;
        }
        match self.ast.nodes[body].kind {
            NodeKind::Regex => self.whole.push((body, Some(&definition.name.text))),
            _ => self.parts_of(body),
        }
    }

    fn rule(&mut self, definition: &'a Definition) {
        for attribute in &definition.attributes {
            match attribute.value {
                // Its lexeme ends where that is met.
                AttributeValue::Stop(value) | AttributeValue::Suffix(value) => {
                    self.parts_of(value);
                    self.parts_of(definition.body);
                }
                AttributeValue::Lazy => self.parts_of(definition.body),
                _ => {}
            }
        }
        let mut stack = vec![definition.body];
        while let Some(node) = stack.pop() {
            match self.ast.nodes[node].kind {
                NodeKind::And(_) | NodeKind::Complement(_) => self.parts_of(node),
                NodeKind::Regex => self.whole.push((node, None)),
                _ => stack.extend(self.ast.children(node)),
            }
        }
    }

    /// Notes what stands in a terminal.
    fn parts_of(&mut self, body: NodeId) {
        let mut stack = vec![body];
        while let Some(node) = stack.pop() {
            match &self.ast.nodes[node].kind {
                NodeKind::Regex => _ = self.parts.insert(node),
                NodeKind::Rule(name, _) | NodeKind::Terminal(name) => _ = self.names_of_parts.insert(name),
                _ => stack.extend(self.ast.children(node)),
            }
        }
    }
}
