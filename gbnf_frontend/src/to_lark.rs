//! [`Ast`] to a Lark text of the same language.
//!
//! Each rule becomes a rule, each string and class a literal or regex in it, in lexer mode `exact`, where terminals are
//! only a way of writing. Names are made Lark's; comments stay with the rule that they stand before or in.
//! `scripts/gbnf_to_lark.py` writes the same text.

use std::fmt::Write;

use larkspur_grammar::{CharClass, index::Id};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Ast, Definition, NodeId, NodeKind, Symbol, Tree};
use crate::writing::{Place, brackets, sign, word};

/// A converted text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converted {
    /// In the other language.
    pub text: String,
    /// What differs from the text it was made from: rules under other names or left out.
    pub notes: Vec<String>,
}

const HEADER: &str = "%larkspur { \"lexer\": \"exact\", \"unproductive\": \"allow\" }\n";

/// Converts a text without mistakes. `start` is the rule that becomes `start`. Cost: linear.
pub(crate) fn to_lark(text: &str, ast: &Ast, start: &str) -> Converted {
    let Ast { tree: ast, comments } = ast;
    let mut notes = Vec::new();
    let writer = Writer { ast, names: lark_names(ast, start, &mut notes), empty: empty_nodes(ast) };
    let last: FxHashMap<&str, usize> =
        ast.definitions.iter().enumerate().map(|(index, definition)| (definition.name.as_str(), index)).collect();
    let mut comments = comments.iter().peekable();
    let mut out = String::from(HEADER);
    let comment = |out: &mut String, start: usize, end: usize| {
        let _ = writeln!(out, "//{}", text[start..end].trim_start_matches('#').trim_end());
    };
    for (index, definition) in ast.definitions.iter().enumerate() {
        out.push('\n');
        // Those within the rule and on its last line stand before it, too.
        let end = ast.nodes[definition.body].span.end as usize;
        let line_end = text[end..].find(['\n', '\r']).map_or(text.len(), |len| end + len);
        while let Some(span) = comments.next_if(|span| (span.start as usize) < line_end) {
            comment(&mut out, span.start as usize, span.end as usize);
        }
        if last[definition.name.as_str()] == index {
            writer.rule(&mut out, definition);
        } else {
            notes.push(format!("an earlier `{}` is left out: the last one counts", definition.name));
        }
    }
    if comments.peek().is_some() {
        out.push('\n');
    }
    comments.for_each(|span| comment(&mut out, span.start as usize, span.end as usize));
    Converted { text: out, notes }
}

/// A name in Lark's alphabet for each rule; none twice. Names that are Lark's already stay.
fn lark_names<'a>(ast: &'a Tree, start: &str, notes: &mut Vec<String>) -> FxHashMap<&'a str, String> {
    let mut order: Vec<&str> = Vec::new();
    let mut seen = FxHashSet::default();
    order.extend(ast.definitions.iter().map(|definition| definition.name.as_str()).filter(|&name| seen.insert(name)));
    let wanted = |name: &str| if name == start { "start".to_owned() } else { lark_name(name) };
    // Whoever keeps the name comes first.
    let mut by_claim = order.clone();
    by_claim.sort_by_key(|&name| (name != start, wanted(name) != name));
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let mut names = FxHashMap::default();
    for name in by_claim {
        let wanted = wanted(name);
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|name| !taken.contains(name));
        let free = free.expect("numbers do not end");
        taken.insert(free.clone());
        names.insert(name, free);
    }
    notes.extend(
        order.iter().filter(|&&name| names[name] != name).map(|&name| format!("`{name}` is `{}`", names[name])),
    );
    names
}

/// `[_]?[a-z][a-z0-9_]*`.
fn lark_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let mut after_small = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && after_small {
            out.push('_');
        }
        after_small = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    let first = out.strip_prefix('_').unwrap_or(&out);
    if first.starts_with(|c: char| c.is_ascii_lowercase()) {
        out
    } else {
        format!("r_{}", first.trim_start_matches('_'))
    }
}

/// Whether a node is the empty text only, however it is written. Indexed by node.
fn empty_nodes(ast: &Tree) -> Vec<bool> {
    let mut empty: Vec<bool> = Vec::with_capacity(ast.nodes.len());
    for node in ast.nodes.iter() {
        let all = |parts: &[NodeId]| parts.iter().all(|part| empty[part.index()]);
        empty.push(match &node.kind {
            NodeKind::Sequence(parts) | NodeKind::Choice(parts) => all(parts),
            NodeKind::Repeat(child, _, max) => *max == Some(0) || empty[child.index()],
            NodeKind::Symbol(Symbol::Literal(text)) => text.is_empty(),
            NodeKind::Name(_) | NodeKind::Symbol(_) => false,
        });
    }
    empty
}

enum Task {
    Node(NodeId, Place),
    /// `)` or a repetition, without a blank before it.
    Close(String),
    Bar,
}

struct Writer<'a> {
    ast: &'a Tree,
    names: FxHashMap<&'a str, String>,
    empty: Vec<bool>,
}

impl Writer<'_> {
    fn rule(&self, out: &mut String, definition: &Definition) {
        let name = &self.names[definition.name.as_str()];
        let _ = write!(out, "{name}:");
        let body = [definition.body];
        let alternatives = match &self.ast.nodes[definition.body].kind {
            NodeKind::Choice(parts) => parts.as_slice(),
            _ => &body,
        };
        for (index, &alternative) in alternatives.iter().enumerate() {
            if index > 0 {
                let _ = write!(out, "\n{:width$}|", "", width = name.len());
            }
            self.node(out, alternative);
        }
        out.push('\n');
    }

    /// Does not recurse: quantifiers may be stacked without end.
    fn node(&self, out: &mut String, node: NodeId) {
        let mut stack = vec![Task::Node(node, Place::Alternative)];
        while let Some(task) = stack.pop() {
            match task {
                Task::Node(node, _) if self.empty[node.index()] => {}
                Task::Node(node, place) => self.tasks(out, &self.ast.nodes[node].kind, place, &mut stack),
                Task::Close(text) => out.push_str(&text),
                Task::Bar => word(out, "|"),
            }
        }
    }

    fn tasks(&self, out: &mut String, kind: &NodeKind, place: Place, stack: &mut Vec<Task>) {
        match kind {
            NodeKind::Sequence(parts) => {
                let live: Vec<NodeId> = parts.iter().copied().filter(|part| !self.empty[part.index()]).collect();
                match live[..] {
                    [only] => stack.push(Task::Node(only, place)),
                    _ => {
                        open_if(place == Place::Repeated, out, stack);
                        stack.extend(live.into_iter().rev().map(|part| Task::Node(part, Place::Part)));
                    }
                }
            }
            NodeKind::Choice(parts) => {
                open_if(true, out, stack);
                for (index, &part) in parts.iter().enumerate().rev() {
                    stack.push(Task::Node(part, Place::Alternative));
                    stack.extend((index > 0).then_some(Task::Bar));
                }
            }
            NodeKind::Repeat(child, min, max) => {
                open_if(place == Place::Repeated, out, stack);
                stack.push(Task::Close(sign(*min, *max).unwrap_or_else(|| match max {
                    Some(max) if min != max => format!("~{min}..{max}"),
                    _ => format!("~{min}"),
                })));
                stack.push(Task::Node(*child, Place::Repeated));
            }
            NodeKind::Symbol(Symbol::Literal(text)) => word(out, &string(text)),
            NodeKind::Symbol(Symbol::Class(class)) => word(out, &regex(class)),
            NodeKind::Name(name) => word(out, &self.names[name.as_str()]),
            NodeKind::Symbol(Symbol::Token { text, negated }) => word(out, &token(text, *negated)),
        }
    }
}

fn open_if(needed: bool, out: &mut String, stack: &mut Vec<Task>) {
    if needed {
        word(out, "(");
        stack.push(Task::Close(")".to_owned()));
    }
}

fn string(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        _ => escaped(c).unwrap_or_else(|| c.to_string()),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// How characters are written that are not seen.
fn escaped(c: char) -> Option<String> {
    match c {
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        '\0'..='\x1F' | '\x7F' => Some(format!("\\x{:02X}", c as u32)),
        // Controls, blanks, marks of direction, private use.
        '\u{80}'..='\u{A0}'
        | '\u{AD}'
        | '\u{2000}'..='\u{200F}'
        | '\u{2028}'..='\u{202F}'
        | '\u{205F}'..='\u{206F}'
        | '\u{3000}'
        | '\u{E000}'..='\u{F8FF}'
        | '\u{FEFF}'
        | '\u{FFF0}'..='\u{FFFF}' => Some(format!("\\u{:04X}", c as u32)),
        '\u{10000}'.. => Some(format!("\\U{:08X}", c as u32)),
        _ => None,
    }
}

fn regex(class: &CharClass) -> String {
    let letter = |c: char| match c {
        '\\' | ']' | '[' | '^' | '-' | '/' | '&' | '~' | '|' => format!("\\{c}"),
        _ => escaped(c).unwrap_or_else(|| c.to_string()),
    };
    brackets(class, letter).map_or_else(|| "/(.|\\n)/".to_owned(), |brackets| format!("/{brackets}/"))
}

/// `text` is `<name>` or `<[id]>`.
fn token(text: &str, negated: bool) -> String {
    let inner = &text[1..text.len() - 1];
    let id = inner.strip_prefix('[').and_then(|id| id.strip_suffix(']'));
    let is_plain = inner.chars().all(|c| c.is_ascii_alphanumeric() || "_|-./".contains(c));
    let item = match id {
        Some(id) => id.to_owned(),
        None if is_plain => text.to_owned(),
        None => string(text),
    };
    match (negated, id.is_none() && is_plain) {
        (true, _) => format!("<[^{item}]>"),
        (false, true) => item,
        (false, false) => format!("<[{item}]>"),
    }
}
