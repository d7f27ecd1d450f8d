//! A grammar as text, with every id as it prints elsewhere: `larkspur dump --stage ir`, and what tests compare.
//!
//! Nodes of regexes and right-hand sides are written inside their parents; one that several parents share has a line of
//! its own, so that the text is linear in the grammar. Nothing here recurses.

use std::fmt::{self, Display, Formatter, Write};

use crate::index::{Id, IndexVec};
use crate::ir::{
    Alternative, Embed, EmbedKind, ExprId, ExprKind, Grammar, IgnoreEdges, Indenter, LexerMode, Rule, Terminal,
    TerminalId, TokenItem, TokenSet, Unproductive,
};
use crate::param::{Comparison, Condition, ParamExpr, ParamRange};
use crate::regex::{ByteSet, CharClass, RegexId, RegexNode};

/// Ranges of a class that are written out.
const CLASS_RANGES_MAX: usize = 12;

impl Display for Grammar {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut grammars = vec![(String::new(), self)];
        while let Some((path, grammar)) = grammars.pop() {
            write_grammar(grammar, &path, f)?;
            let inner = grammar.embeds.iter_enumerated().rev().filter_map(|(id, embed)| match &embed.kind {
                EmbedKind::Inline(inner) => Some((format!("{path}{id}/"), inner.as_ref())),
                _ => None,
            });
            grammars.extend(inner);
        }
        Ok(())
    }
}

fn write_grammar(grammar: &Grammar, path: &str, f: &mut Formatter<'_>) -> fmt::Result {
    writeln!(f, "grammar {path}{:?}", grammar.name)?;
    write_options(grammar, f)?;
    writeln!(f, "start {}", grammar.start)?;
    if !grammar.ignore.is_empty() {
        let ids: Vec<String> = grammar.ignore.iter().map(ToString::to_string).collect();
        writeln!(f, "ignore {}", ids.join(" "))?;
    }
    if let Some(Indenter { newline, indent, dedent, open, close, tab, width_max }) = &grammar.indenter {
        let list = |ids: &[TerminalId]| ids.iter().map(|id| format!(" {id}")).collect::<String>();
        let brackets = format!("open{} close{}", list(open), list(close));
        writeln!(
            f,
            "blocks newline {newline} indent {indent} dedent {dedent} {brackets} tab {tab} width_max {width_max}"
        )?;
    }
    let exprs = Exprs::new(grammar);
    for (id, rule) in grammar.rules.iter_enumerated() {
        write!(f, "{id} {}", rule.name)?;
        write_attributes(rule, f)?;
        writeln!(f, " = {}", exprs.text(rule.body))?;
    }
    for (id, _) in grammar.exprs.iter_enumerated().filter(|(id, _)| exprs.has_own_line(*id)) {
        writeln!(f, "{id} = {}", exprs.text(id))?;
    }
    for (id, condition) in grammar.conditions.iter_enumerated() {
        writeln!(f, "{id} = {}", Shown(condition))?;
    }
    let regexes = Regexes::new(grammar);
    for (id, terminal) in grammar.terminals.iter_enumerated() {
        write_terminal(id, terminal, &regexes, f)?;
    }
    for (id, _) in grammar.regexes.iter().filter(|(id, _)| regexes.has_own_line(*id)) {
        writeln!(f, "{id} = {}", regexes.text(id))?;
    }
    for (id, set) in grammar.token_sets.iter_enumerated() {
        writeln!(f, "{id} {}", Shown(set))?;
    }
    for (id, embed) in grammar.embeds.iter_enumerated() {
        writeln!(f, "{id} {}", Shown(embed))?;
    }
    Ok(())
}

fn write_options(grammar: &Grammar, f: &mut Formatter<'_>) -> fmt::Result {
    let options = &grammar.options;
    let lexer = match options.lexer {
        LexerMode::Longest => "longest",
        LexerMode::Exact => "exact",
    };
    let edges = match options.ignore_edges {
        IgnoreEdges::Both => "both",
        IgnoreEdges::Leading => "leading",
        IgnoreEdges::Trailing => "trailing",
        IgnoreEdges::None => "none",
        IgnoreEdges::Open => "open",
        IgnoreEdges::LeadingOpen => "leading_open",
    };
    write!(f, "options lexer={lexer} ignore_edges={edges}")?;
    for (set, name) in [
        (options.ignore_once, "ignore_once"),
        (options.allow_invalid_utf8, "allow_invalid_utf8"),
        (options.no_forcing, "no_forcing"),
        (options.unproductive == Unproductive::Allow, "unproductive=allow"),
        (options.keywords, "keywords"),
    ] {
        if set {
            write!(f, " {name}")?;
        }
    }
    writeln!(f)
}

fn write_attributes(rule: &Rule, f: &mut Formatter<'_>) -> fmt::Result {
    if rule.parametric {
        f.write_str("::_")?;
    }
    if rule.priority != 0 {
        write!(f, " priority={}", rule.priority)?;
    }
    if let Some(capture) = &rule.capture {
        write!(f, " capture={capture:?}")?;
    }
    if let Some(tokens) = rule.max_tokens {
        write!(f, " max_tokens={tokens}")?;
    }
    if let Some(temperature) = rule.temperature {
        write!(f, " temperature={temperature}")?;
    }
    Ok(())
}

fn write_terminal(id: impl Display, terminal: &Terminal, regexes: &Regexes, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "{id} {}", terminal.name.replace('\n', "\\n"))?;
    if terminal.priority != 0 {
        write!(f, " priority={}", terminal.priority)?;
    }
    if terminal.is_literal {
        f.write_str(" literal")?;
    }
    if terminal.lazy {
        f.write_str(" lazy")?;
    }
    write!(f, " = {}", regexes.text(terminal.regex))?;
    if let Some(tail) = &terminal.tail {
        write!(f, " {} {}", if tail.hidden { "stop" } else { "suffix" }, regexes.text(tail.regex))?;
        if let Some(capture) = &tail.capture {
            write!(f, " stop_capture={capture:?}")?;
        }
    }
    if let Some(behind) = terminal.behind {
        write!(f, " after {}", regexes.text(behind))?;
    }
    if let Some(follow) = terminal.follow {
        write!(f, " before {}", regexes.text(follow))?;
    }
    writeln!(f)
}

/// A piece of text that is still to be written: a node, or what stands between nodes.
enum Piece<I> {
    Node(I),
    Text(String),
}

/// Writes `root` and what it is made of; `pieces` gives a node's pieces.
fn write_tree<I: Copy>(root: I, pieces: impl Fn(I, bool) -> Vec<Piece<I>>) -> String {
    let mut out = String::new();
    let mut stack: Vec<Piece<I>> = pieces(root, true).into_iter().rev().collect();
    while let Some(piece) = stack.pop() {
        match piece {
            Piece::Text(text) => out.push_str(&text),
            Piece::Node(id) => stack.extend(pieces(id, false).into_iter().rev()),
        }
    }
    out
}

/// `open part between part close`; without the brackets at the top.
fn joined<I>(parts: Vec<Vec<Piece<I>>>, between: &str, top: bool) -> Vec<Piece<I>> {
    let mut pieces = Vec::new();
    if !top {
        pieces.push(Piece::Text("(".to_string()));
    }
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            pieces.push(Piece::Text(between.to_string()));
        }
        pieces.extend(part);
    }
    if !top {
        pieces.push(Piece::Text(")".to_string()));
    }
    pieces
}

fn repeat(min: u32, max: Option<u32>) -> String {
    match (min, max) {
        (0, Some(1)) => "?".to_string(),
        (0, None) => "*".to_string(),
        (1, None) => "+".to_string(),
        (min, None) => format!("{{{min},}}"),
        (min, Some(max)) if min == max => format!("{{{min}}}"),
        (min, Some(max)) => format!("{{{min},{max}}}"),
    }
}

/// The nodes directly below one of a right-hand side, in order.
pub(crate) fn children(kind: &ExprKind) -> impl Iterator<Item = ExprId> + '_ {
    let (parts, alternatives, child): (&[ExprId], &[Alternative], Option<ExprId>) = match kind {
        ExprKind::Sequence(parts) => (parts, &[], None),
        ExprKind::Choice(alternatives) => (&[], alternatives, None),
        ExprKind::Repeat(child, ..) => (&[], &[], Some(*child)),
        _ => (&[], &[], None),
    };
    parts.iter().copied().chain(alternatives.iter().map(|alternative| alternative.expr)).chain(child)
}

struct Exprs<'a> {
    grammar: &'a Grammar,
    /// Parents of each node, and rules of which it is the body. Length: nodes.
    uses: IndexVec<ExprId, u32>,
}

impl<'a> Exprs<'a> {
    fn new(grammar: &'a Grammar) -> Self {
        let mut uses: IndexVec<ExprId, u32> = vec![0; grammar.exprs.len()].into();
        grammar.rules.iter().for_each(|rule| uses[rule.body] += 1);
        for id in grammar.exprs.ids().rev() {
            if uses[id] > 0 {
                children(&grammar.exprs[id].kind).for_each(|child| uses[child] += 1);
            }
        }
        Self { grammar, uses }
    }
    fn has_own_line(&self, id: ExprId) -> bool {
        self.uses[id] > 1 && children(&self.grammar.exprs[id].kind).next().is_some()
    }
    fn text(&self, id: ExprId) -> String {
        write_tree(id, |id, top| {
            if !top && self.has_own_line(id) { vec![Piece::Text(id.to_string())] } else { self.pieces(id, top) }
        })
    }
    fn pieces(&self, id: ExprId, top: bool) -> Vec<Piece<ExprId>> {
        let text = |text: String| vec![Piece::Text(text)];
        match &self.grammar.exprs[id].kind {
            ExprKind::Sequence(parts) if parts.is_empty() => text("()".to_string()),
            ExprKind::Sequence(parts) => joined(parts.iter().map(|&part| vec![Piece::Node(part)]).collect(), " ", top),
            ExprKind::Choice(alternatives) => {
                let part = |alternative: &Alternative| {
                    let mut pieces = vec![Piece::Node(alternative.expr)];
                    if let Some(condition) = alternative.condition {
                        pieces.push(Piece::Text(format!(" %if {condition}")));
                    }
                    pieces
                };
                joined(alternatives.iter().map(part).collect(), " | ", top)
            }
            ExprKind::Repeat(child, min, max) => vec![Piece::Node(*child), Piece::Text(repeat(*min, *max))],
            ExprKind::Rule(rule, None) => text(rule.to_string()),
            ExprKind::Rule(rule, Some(param)) => text(format!("{rule}::{}", Shown(param))),
            ExprKind::Terminal(terminal) => text(terminal.to_string()),
            ExprKind::Tokens(set) => text(set.to_string()),
            ExprKind::Embed(embed) => text(embed.to_string()),
            ExprKind::Automaton(automaton, start) => text(format!("{automaton}.{start}")),
        }
    }
}

struct Regexes<'a> {
    grammar: &'a Grammar,
    /// Parents of each node that terminals reach, and terminals. Length: nodes.
    uses: IndexVec<RegexId, u32>,
}

impl<'a> Regexes<'a> {
    fn new(grammar: &'a Grammar) -> Self {
        let mut uses: IndexVec<RegexId, u32> = vec![0; grammar.regexes.len()].into();
        for terminal in grammar.terminals.iter() {
            uses[terminal.regex] += 1;
            if let Some(tail) = &terminal.tail {
                uses[tail.regex] += 1;
            }
            for around in [terminal.behind, terminal.follow].into_iter().flatten() {
                uses[around] += 1;
            }
        }
        for id in (0..grammar.regexes.len()).rev().map(RegexId::from_index) {
            if uses[id] > 0 {
                grammar.regexes.node(id).children().iter().for_each(|&child| uses[child] += 1);
            }
        }
        Self { grammar, uses }
    }
    fn has_own_line(&self, id: RegexId) -> bool {
        self.uses[id] > 1 && !self.grammar.regexes.node(id).children().is_empty()
    }
    /// A shared node shows its id where it is used, and its pieces on its own line.
    fn text(&self, id: RegexId) -> String {
        write_tree(id, |inner, top| {
            if inner != id && self.has_own_line(inner) {
                vec![Piece::Text(inner.to_string())]
            } else {
                self.pieces(inner, top)
            }
        })
    }
    fn pieces(&self, id: RegexId, top: bool) -> Vec<Piece<RegexId>> {
        let text = |text: String| vec![Piece::Text(text)];
        let all = |parts: &[RegexId]| parts.iter().map(|&part| vec![Piece::Node(part)]).collect::<Vec<_>>();
        match self.grammar.regexes.node(id) {
            RegexNode::Nothing => text("nothing".to_string()),
            RegexNode::Literal(bytes) => text(match std::str::from_utf8(bytes) {
                Ok(literal) => format!("{literal:?}"),
                Err(_) => format!("b\"{}\"", bytes.escape_ascii()),
            }),
            RegexNode::Class(class) => text(Shown(class).to_string()),
            RegexNode::Bytes(bytes) => text(Shown(bytes).to_string()),
            RegexNode::Concat(parts) => joined(all(parts), " ", top),
            RegexNode::Or(parts) => joined(all(parts), " | ", top),
            RegexNode::And(parts) => joined(all(parts), " & ", top),
            RegexNode::Not(child) => vec![Piece::Text("~".to_string()), Piece::Node(*child)],
            RegexNode::Repeat(child, min, max) => vec![Piece::Node(*child), Piece::Text(repeat(*min, *max))],
            RegexNode::Shortest(child) => {
                vec![Piece::Text("min(".to_string()), Piece::Node(*child), Piece::Text(")".to_string())]
            }
            RegexNode::Dfa(dfa, _) => text(format!("dfa({})", dfa.name())),
            RegexNode::Values { values, .. } => text(format!("values({})", values.len())),
            RegexNode::MultipleOf { divisor, scale } => text(format!("multiple_of({divisor}e-{scale})")),
        }
    }
}

/// How a part of the IR is written in dumps.
struct Shown<'a, T>(&'a T);

impl Display for Shown<'_, CharClass> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let negated = self.0.contains(char::MAX);
        let class = if negated { self.0.negate() } else { self.0.clone() };
        f.write_str(if negated { "[^" } else { "[" })?;
        for &(low, high) in class.ranges().iter().take(CLASS_RANGES_MAX) {
            write_class_char(low, f)?;
            if low < high {
                f.write_str(if low + 1 < high { "-" } else { "" })?;
                write_class_char(high, f)?;
            }
        }
        match class.ranges().len().saturating_sub(CLASS_RANGES_MAX) {
            0 => f.write_char(']'),
            more => write!(f, "… and {more} more]"),
        }
    }
}

fn write_class_char(code: u32, f: &mut Formatter<'_>) -> fmt::Result {
    match char::from_u32(code) {
        Some(c @ ('[' | ']' | '-' | '^' | '\\')) => write!(f, "\\{c}"),
        Some(c @ ('\'' | '"')) => f.write_char(c),
        Some(c) => write!(f, "{}", c.escape_debug()),
        None => write!(f, "\\u{{{code:x}}}"),
    }
}

impl Display for Shown<'_, ByteSet> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("b[")?;
        let mut bytes = self.0.iter().peekable();
        while let Some(low) = bytes.next() {
            let mut high = low;
            while bytes.next_if(|&next| next == high + 1).is_some() {
                high += 1;
            }
            write!(f, "{}", std::ascii::escape_default(low))?;
            if high > low {
                write!(f, "-{}", std::ascii::escape_default(high))?;
            }
        }
        f.write_char(']')
    }
}

impl Display for Shown<'_, ParamRange> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if *self.0 == ParamRange::ALL { f.write_char('_') } else { write!(f, "[{}:{}]", self.0.start, self.0.end) }
    }
}

impl Display for Shown<'_, ParamExpr> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            ParamExpr::Const(value) => write!(f, "{value}"),
            ParamExpr::Same => f.write_char('_'),
            ParamExpr::SetBit(bit) => write!(f, "set_bit({bit})"),
            ParamExpr::ClearBit(bit) => write!(f, "clear_bit({bit})"),
            ParamExpr::And(mask) => write!(f, "bit_and({mask:#x})"),
            ParamExpr::Or(mask) => write!(f, "bit_or({mask:#x})"),
            ParamExpr::Increment(range) => write!(f, "incr({})", Shown(range)),
            ParamExpr::Decrement(range) => write!(f, "decr({})", Shown(range)),
            ParamExpr::Put(range, number) => write!(f, "put({}, {number})", Shown(range)),
            ParamExpr::Copy { from, to } => write!(f, "copy({}, {})", Shown(from), Shown(to)),
        }
    }
}

fn comparison(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "eq",
        Comparison::Ne => "ne",
        Comparison::Lt => "lt",
        Comparison::Le => "le",
        Comparison::Gt => "gt",
        Comparison::Ge => "ge",
    }
}

impl Display for Shown<'_, Condition> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Condition::True => f.write_str("true"),
            Condition::Compare(range, op, value) => write!(f, "{}({}, {value:#x})", comparison(*op), Shown(range)),
            Condition::BitCount(range, op, value) => {
                write!(f, "bit_count_{}({}, {value})", comparison(*op), Shown(range))
            }
            Condition::And(a, b) => write!(f, "and({a}, {b})"),
            Condition::Or(a, b) => write!(f, "or({a}, {b})"),
            Condition::Not(a) => write!(f, "not({a})"),
        }
    }
}

impl Display for Shown<'_, TokenSet> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} =", self.0.text)?;
        if self.0.negated {
            f.write_str(" not")?;
        }
        for item in &self.0.items {
            match item {
                TokenItem::Name(name) => write!(f, " {name}")?,
                TokenItem::Range(low, high) if low == high => write!(f, " {low}")?,
                TokenItem::Range(low, high) => write!(f, " {low}-{high}")?,
                TokenItem::Any => f.write_str(" any")?,
                TokenItem::Eos => f.write_str(" eos")?,
            }
        }
        if self.0.hidden { f.write_str(" hidden") } else { Ok(()) }
    }
}

impl Display for Shown<'_, Embed> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.0.kind {
            EmbedKind::Named(name) => write!(f, "@{name}")?,
            EmbedKind::Text { language, body } => {
                write!(f, "{language} {}:{}..{}", body.source, body.start, body.end)?;
            }
            EmbedKind::Inline(_) => f.write_str("inline")?,
        }
        if let Some(target) = self.0.target {
            write!(f, " = {target}")?;
        }
        match self.0.rule {
            Some(rule) => write!(f, ".{rule}"),
            None => Ok(()),
        }
    }
}
