//! Lexemes to [`Ast`]. After a mistake it goes on with what follows, so that all mistakes show in one run.

use larkspur_grammar::diagnostic::{TooMuch, did_you_mean};
use larkspur_grammar::{IndexVec, Limits, SourceId, Span, index::Id};

use crate::ast::{Ast, Definition, Excluded, Node, NodeId, NodeKind, PatternKind, Symbol, Text, Tree};
use crate::error::{Mistake, Sink};
use crate::lexer::{Bracket, Lexeme, SyntaxKind};
use crate::strings::decode;

struct Parser<'a> {
    text: &'a str,
    source: SourceId,
    lexemes: &'a [Lexeme],
    at: usize,
    limits: &'a Limits,
    sink: &'a mut Sink,
    nodes: IndexVec<NodeId, Node>,
    /// Names whose definitions were left out.
    unread: Vec<String>,
}

/// Alternatives that are being read: those of a bracket, or of a whole definition.
struct Open {
    bracket: Option<Bracket>,
    /// Where they begin: the bracket, or the definition's sign.
    span: Span,
    finished: Vec<NodeId>,
    sequence: Vec<NodeId>,
    /// A comma behind which nothing stands yet.
    comma: Option<Span>,
}

impl Open {
    fn new(bracket: Option<Bracket>, span: Span) -> Self {
        Self { bracket, span, finished: Vec::new(), sequence: Vec::new(), comma: None }
    }
    fn push(&mut self, node: NodeId) {
        self.comma = None;
        self.sequence.push(node);
    }
}

/// Reads a text's lexemes; `None` if there are too many of them, which is then reported.
pub(crate) fn parse(text: &str, source: SourceId, lexemes: &[Lexeme], limits: &Limits, sink: &mut Sink) -> Option<Ast> {
    let mut parser = Parser { text, source, lexemes, at: 0, limits, sink, nodes: IndexVec::new(), unread: Vec::new() };
    let mut definitions = Vec::new();
    while parser.at < lexemes.len() && !parser.sink.must_stop() {
        let start = parser.here();
        definitions.extend(parser.definition());
        if let Some(too_much) = TooMuch::symbols(parser.nodes.len() + definitions.len(), limits) {
            parser.sink.report(Span { end: start.start, ..start }, too_much);
            return None;
        }
    }
    Some(Ast { tree: Tree { definitions, unread: parser.unread, nodes: parser.nodes } })
}

impl<'a> Parser<'a> {
    fn kind(&self) -> Option<SyntaxKind> {
        self.kind_at(self.at)
    }
    fn kind_at(&self, at: usize) -> Option<SyntaxKind> {
        self.lexemes.get(at).map(|lexeme| lexeme.kind)
    }
    /// The lexeme here, or the text's end.
    fn here(&self) -> Span {
        let end = self.text.trim_end().len();
        self.lexemes.get(self.at).map_or(Span::new(self.source, end, end), |lexeme| lexeme.span)
    }
    /// The end of the lexeme before this one.
    fn before(&self) -> Span {
        let end = self.at.checked_sub(1).map_or(0, |at| self.lexemes[at].span.end as usize);
        Span::new(self.source, end, end)
    }
    fn written(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }
    fn found(&self) -> String {
        match self.kind() {
            None => "the end".to_owned(),
            Some(_) => {
                let written = self.written(self.here());
                let line = written.lines().next().unwrap_or_default();
                format!("`{}`", line.chars().take(30).collect::<String>())
            }
        }
    }
    fn is_definition(&self) -> bool {
        self.kind() == Some(SyntaxKind::Name) && self.kind_at(self.at + 1) == Some(SyntaxKind::Define)
    }
    fn node(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.nodes.push(Node { kind, span })
    }
    fn has_too_many_nodes(&self) -> bool {
        TooMuch::symbols(self.nodes.len(), self.limits).is_some()
    }

    /// `name ::= alternatives;`. Without name or sign all up to the next definition is left out.
    fn definition(&mut self) -> Option<Definition> {
        if !self.is_definition() {
            match self.kind() {
                Some(SyntaxKind::Name) => {
                    self.unread.push(self.written(self.here()).to_owned());
                    self.at += 1;
                    let mistake = Mistake::DefinitionSign { found: self.found() };
                    self.sink.report(self.here(), mistake);
                }
                // Was reported already.
                Some(SyntaxKind::Mistake | SyntaxKind::Counts) => {}
                _ => {
                    let mistake = Mistake::NameExpected { found: self.found() };
                    self.sink.report(self.here(), mistake);
                }
            }
            while self.kind().is_some_and(|kind| kind != SyntaxKind::Semicolon) && !self.is_definition() {
                self.at += 1;
            }
            self.at += usize::from(self.kind() == Some(SyntaxKind::Semicolon));
            return None;
        }
        let name_span = self.here();
        let name = self.written(name_span).to_owned();
        self.at += 1;
        let sign = self.here();
        self.at += 1;
        let first = NodeId::from_index(self.nodes.len());
        let body = self.alternatives(sign);
        Some(Definition { name, name_span, body, first })
    }

    /// A right-hand side with its semicolon. Brackets that are open stand in a list, so that reading does not recurse.
    fn alternatives(&mut self, sign: Span) -> NodeId {
        let mut outer: Vec<Open> = Vec::new();
        let mut open = Open::new(None, sign);
        let is_ended = loop {
            if self.has_too_many_nodes() {
                // What is open was not forgotten.
                outer.clear();
                open.bracket = None;
                break true;
            }
            let span = self.here();
            let Some(kind) = self.kind() else { break false };
            if self.is_definition() || self.sink.must_stop() {
                break false;
            }
            self.at += 1;
            match kind {
                SyntaxKind::Semicolon => break true,
                SyntaxKind::Bar => self.finish_sequence(&mut open, span, "this alternative"),
                SyntaxKind::Comma => {
                    if open.comma.is_some() || open.sequence.is_empty() {
                        self.sink.report(span, Mistake::CommaAlone);
                    }
                    open.comma = Some(span);
                }
                SyntaxKind::Open(bracket) => {
                    if outer.len() >= self.limits.grammar_depth_max {
                        let limit = self.limits.grammar_depth_max;
                        self.sink.report(span, TooMuch::Depth { limit, what: "brackets" });
                        self.at = self.lexemes.len();
                        // What is open was not forgotten.
                        outer.clear();
                        open.bracket = None;
                        let node = self.node(nothing(), span);
                        open.push(node);
                        break true;
                    }
                    outer.push(std::mem::replace(&mut open, Open::new(Some(bracket), span)));
                }
                SyntaxKind::Close(bracket) => match (open.bracket, outer.pop()) {
                    (Some(opened), Some(outside)) => {
                        if opened != bracket {
                            let found = bracket.close();
                            let mistake = Mistake::BracketOther { found, close: opened.close(), opened: open.span };
                            self.sink.report(span, mistake);
                        }
                        let inner = std::mem::replace(&mut open, outside);
                        let node = self.finish(inner, span);
                        open.push(node);
                    }
                    _ => self.sink.report(span, Mistake::BracketNotOpen),
                },
                SyntaxKind::Counts => {}
                SyntaxKind::Star => self.repeat(&mut open, 0, None, span),
                SyntaxKind::Plus => self.repeat(&mut open, 1, None, span),
                SyntaxKind::Question => self.repeat(&mut open, 0, Some(1), span),
                SyntaxKind::Define => {
                    let mistake = Mistake::NameExpected { found: format!("`{}`", self.written(span)) };
                    self.sink.report(span, mistake);
                }
                _ => {
                    let node = self.symbol(kind, span);
                    open.push(node);
                }
            }
        };
        if !is_ended && !self.sink.must_stop() {
            let next = self.kind().map(|_| self.written(self.here()).to_owned());
            // An open bracket says enough.
            if outer.is_empty() {
                self.sink.report(self.before(), Mistake::SemicolonMissing { next });
            }
        }
        let end = if is_ended { self.lexemes[self.at - 1].span } else { self.before() };
        while let (Some(bracket), Some(outside)) = (open.bracket, outer.pop()) {
            let mistake = Mistake::UnclosedBracket { opened: open.span, close: bracket.close() };
            self.sink.report(end, mistake);
            let inner = std::mem::replace(&mut open, outside);
            let node = self.finish(inner, end);
            open.push(node);
        }
        self.finish(open, end)
    }

    /// A string, pattern, nonterminal or special nonterminal. What is none is reported and stands for the empty text.
    fn symbol(&mut self, kind: SyntaxKind, span: Span) -> NodeId {
        let kind = match kind {
            SyntaxKind::Name => NodeKind::Name(self.written(span).to_owned()),
            SyntaxKind::String => {
                self.string(span, 0, false).map_or_else(nothing, |text| NodeKind::Symbol(Symbol::Literal(text.value)))
            }
            SyntaxKind::Pattern(kind) => {
                let text = self.string(span, kind.prefix().len(), kind != PatternKind::Substrings);
                text.map_or_else(nothing, |text| NodeKind::Symbol(Symbol::Pattern(kind, text)))
            }
            SyntaxKind::Special => match self.written(span) {
                "any!" => NodeKind::Symbol(Symbol::Any),
                "except!" => return self.except(span),
                other => {
                    let near = did_you_mean(other, ["any!", "except!"]).map(str::to_owned);
                    self.sink.report(span, Mistake::SpecialUnknown { name: other.to_owned(), near });
                    self.skip_round();
                    nothing()
                }
            },
            SyntaxKind::Number => {
                self.sink.report(span, Mistake::Counts { meant: None });
                nothing()
            }
            _ => nothing(),
        };
        self.node(kind, span)
    }

    /// What stands between the quotes, the first of which stands behind so many bytes; `None` if a mistake was reported.
    fn string(&mut self, span: Span, prefix: usize, is_regex: bool) -> Option<Text> {
        let start = span.start as usize + prefix + 1;
        decode(&self.text[start..span.end as usize - 1], self.source, start, is_regex, self.sink)
    }

    /// What stands in parentheses behind an unknown word, if anything does.
    fn skip_round(&mut self) {
        if self.kind() == Some(SyntaxKind::Open(Bracket::Round)) {
            self.skip_to_close();
        }
    }
    /// Up to the next closing parenthesis of this definition.
    fn skip_to_close(&mut self) {
        let is_end = |kind| matches!(kind, SyntaxKind::Semicolon | SyntaxKind::Close(Bracket::Round));
        while self.kind().is_some_and(|kind| !is_end(kind)) && !self.is_definition() {
            self.at += 1;
        }
        self.at += usize::from(self.kind() == Some(SyntaxKind::Close(Bracket::Round)));
    }

    /// `except!(…)` behind its first word.
    fn except(&mut self, word: Span) -> NodeId {
        match self.except_parts() {
            Ok(kind) => {
                let span = word.to(self.lexemes[self.at - 1].span);
                self.node(kind, span)
            }
            Err((span, reason)) => {
                self.sink.report(span, Mistake::ExceptForm { reason });
                self.skip_to_close();
                self.node(nothing(), word)
            }
        }
    }

    /// Errors: what is no part of it, and why.
    fn except_parts(&mut self) -> Result<NodeKind, (Span, &'static str)> {
        self.expect(SyntaxKind::Open(Bracket::Round), "`(` follows `except!`")?;
        let excluded = self.here();
        let excluded = match self.kind() {
            Some(SyntaxKind::String) => Excluded::Literal(self.string(excluded, 0, false).map(|text| text.value)),
            Some(SyntaxKind::Name) => Excluded::Name(self.written(excluded).to_owned(), excluded),
            Some(SyntaxKind::Pattern(_)) => {
                return Err((excluded, "`except!` takes no regex; `#ex\"…\"` does"));
            }
            _ => return Err((excluded, "`except!` takes a string or a nonterminal")),
        };
        self.at += 1;
        let mut max = None;
        if self.kind() == Some(SyntaxKind::Comma) {
            self.at += 1;
            let span = self.here();
            self.expect(SyntaxKind::Number, "behind the comma stands a number of bytes")?;
            max = Some(self.written(span).parse().unwrap_or(u32::MAX));
        }
        self.expect(
            SyntaxKind::Close(Bracket::Round),
            "`except!` takes one string or nonterminal, and possibly a number",
        )?;
        Ok(NodeKind::Symbol(Symbol::Except(excluded, max)))
    }

    fn expect(&mut self, kind: SyntaxKind, reason: &'static str) -> Result<(), (Span, &'static str)> {
        if self.kind() != Some(kind) {
            return Err((self.here(), reason));
        }
        self.at += 1;
        Ok(())
    }

    /// Signs of repetition behind each other are one, so that they nest no deeper than brackets do.
    fn repeat(&mut self, open: &mut Open, min: u32, max: Option<u32>, sign: Span) {
        let Some(&child) = open.sequence.last().filter(|_| open.comma.is_none()) else {
            return self.sink.report(sign, Mistake::RepeatNothing);
        };
        let span = self.nodes[child].span.to(sign);
        let Node { kind: NodeKind::Repeat(_, inner_min, inner_max), span: inner } = &mut self.nodes[child] else {
            let node = self.node(NodeKind::Repeat(child, min, max), span);
            *open.sequence.last_mut().expect("the child") = node;
            return;
        };
        *inner_min = min.min(*inner_min);
        *inner_max = max.and(*inner_max);
        *inner = span;
    }

    /// Ends an alternative before `end`; `what` is empty if nothing stands in it.
    fn finish_sequence(&mut self, open: &mut Open, end: Span, what: &'static str) {
        if let Some(comma) = open.comma.take() {
            if !open.sequence.is_empty() {
                self.sink.report(comma, Mistake::CommaAlone);
            }
        } else if open.sequence.is_empty() {
            self.sink.report(end, Mistake::Empty { what });
        }
        let parts = std::mem::take(&mut open.sequence);
        let node = match parts.as_slice() {
            &[only] => only,
            [] => self.node(NodeKind::Sequence(parts), end),
            &[first, .., last] => {
                let span = self.nodes[first].span.to(self.nodes[last].span);
                self.node(NodeKind::Sequence(parts), span)
            }
        };
        open.finished.push(node);
    }

    /// Ends a bracket or definition, whose last lexeme is `end`.
    fn finish(&mut self, mut open: Open, end: Span) -> NodeId {
        let what = match (open.finished.is_empty(), open.bracket) {
            (false, _) => "this alternative",
            (true, Some(_)) => "this bracket",
            (true, None) => "this right-hand side",
        };
        let place = if open.bracket.is_some() && open.finished.is_empty() { open.span.to(end) } else { end };
        self.finish_sequence(&mut open, place, what);
        let node = match open.finished.as_slice() {
            &[only] => only,
            &[first, .., last] => {
                let span = self.nodes[first].span.to(self.nodes[last].span);
                self.node(NodeKind::Choice(open.finished), span)
            }
            [] => unreachable!("one was just finished"),
        };
        let span = open.span.to(end);
        let (min, max) = match open.bracket {
            None => return node,
            Some(Bracket::Round) => {
                self.nodes[node].span = span;
                return node;
            }
            Some(Bracket::Square) => (0, Some(1)),
            Some(Bracket::Curly) => (0, None),
        };
        self.node(NodeKind::Repeat(node, min, max), span)
    }
}

/// What stands in the place of a mistake.
fn nothing() -> NodeKind {
    NodeKind::Sequence(Vec::new())
}
