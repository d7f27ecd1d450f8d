//! Lexemes to [`Ast`]: statements, one function for each. Their right-hand sides are read in `bodies.rs`.
//!
//! After a mistake the statement is given up and reading goes on with the next one; the name of a broken definition
//! still counts as defined, and the names in it are still looked up.
//! A nested grammar is stepped over and read when its surroundings are done, so that nothing here recurses.

use std::cell::OnceCell;

use larkspur_grammar::{Condition, ConditionId, IndexVec, Limits, SourceId, Span, index::Id};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Ast, AstGrammar, AstGrammarId, Definition, Import, Item, Manner, Name, Node, NodeId, NodeKind};
use crate::error::{AttributeMistake, LexerMistake, Mistake, Sink, SyntaxMistake, TemplateMistake, TooMuch};
use crate::foreign::{Foreign, HEADERS, KEYWORDS};
use crate::lexer::{JsonBlock, Lexed, Lexeme, SyntaxKind};
use crate::lines::BARE_DIRECTIVES;

/// The mistake is in the sink; the statement is given up.
pub(crate) struct Reported;

/// What parsing functions return.
pub(crate) type Parse<T> = Result<T, Reported>;

/// Reads all statements of a text into `ast`. Returns the text's own grammar.
pub(crate) fn parse(
    text: &str,
    source: SourceId,
    lexed: Lexed,
    limits: &Limits,
    ast: &mut Ast,
    sink: &mut Sink,
) -> AstGrammarId {
    let Ast { grammars, nodes, conditions, json, symbols, excused, .. } = ast;
    let root = grammars.next_id();
    let mut parser = Parser {
        text,
        source,
        lexemes: &lexed.lexemes,
        json: &lexed.json,
        inner: &lexed.inner,
        json_before: json.len(),
        at: 0,
        depth: 0,
        in_rule_body: false,
        statement: 0,
        has_break: false,
        says_over: false,
        heads: OnceCell::new(),
        symbols,
        limits,
        sink,
        grammars,
        nested: Vec::new(),
        nested_ends: nested_ends(&lexed.lexemes),
        nodes,
        conditions,
        excused,
        is_foreign: false,
    };
    parser.grammars();
    // What reads a grammar of another language has said enough.
    if let Some(span) = lexed.semicolon.filter(|_| !parser.is_foreign) {
        parser.sink.report(span, Foreign::Semicolon);
    }
    json.extend(lexed.json);
    root
}

pub(crate) struct Parser<'a, 's> {
    pub(crate) text: &'a str,
    source: SourceId,
    pub(crate) lexemes: &'a [Lexeme],
    json: &'a [JsonBlock],
    /// Texts in other languages, in order.
    pub(crate) inner: &'a [(&'static str, Span)],
    /// JSON values of other texts.
    json_before: usize,
    /// Index of the next lexeme.
    pub(crate) at: usize,
    /// Brackets and nested grammars that are open.
    pub(crate) depth: usize,
    /// Whether the last statement was a definition: for the message when the next line is none.
    in_rule_body: bool,
    /// The first lexeme of the statement.
    pub(crate) statement: usize,
    /// Whether the statement goes on behind a line break, which is reported.
    pub(crate) has_break: bool,
    /// Whether it was said that there are too many symbols.
    says_over: bool,
    /// See [`Parser::heads`].
    pub(crate) heads: OnceCell<FxHashMap<&'a str, bool>>,
    /// Nodes, alternatives and statements so far.
    pub(crate) symbols: &'s mut usize,
    pub(crate) limits: &'a Limits,
    pub(crate) sink: &'s mut Sink,
    grammars: &'s mut IndexVec<AstGrammarId, AstGrammar>,
    /// Nested grammars that are still to be read: the lexeme behind the brace, and the depth there.
    nested: Vec<(AstGrammarId, usize, usize)>,
    /// Of each `{` of a nested grammar that is closed, its `}`. Indices of lexemes.
    nested_ends: FxHashMap<usize, usize>,
    pub(crate) nodes: &'s mut IndexVec<NodeId, Node>,
    pub(crate) conditions: &'s mut IndexVec<ConditionId, Condition>,
    /// See [`Ast::excused`].
    excused: &'s mut FxHashSet<String>,
    /// Whether a definition of another language was met.
    is_foreign: bool,
}

/// Of each `{` behind `%lark`, the `}` that closes it. A repetition's `{` that is left open ends with its line.
fn nested_ends(lexemes: &[Lexeme]) -> FxHashMap<usize, usize> {
    let mut ends = FxHashMap::default();
    // Braces that are open, and whether they are a nested grammar's.
    let mut open: Vec<(usize, bool)> = Vec::new();
    for (at, lexeme) in lexemes.iter().enumerate() {
        match lexeme.kind {
            SyntaxKind::LBrace => open.push((at, at > 0 && lexemes[at - 1].kind == SyntaxKind::KwLark)),
            SyntaxKind::Newline => {
                while let Some((_, false)) = open.last() {
                    open.pop();
                }
            }
            SyntaxKind::RBrace => {
                if let Some((from, true)) = open.pop() {
                    ends.insert(from, at);
                }
            }
            _ => {}
        }
    }
    ends
}

/// Lexemes that end a sequence.
pub(crate) const SEQUENCE_ENDS: &[SyntaxKind] = &[
    SyntaxKind::Newline,
    SyntaxKind::VBar,
    SyntaxKind::Arrow,
    SyntaxKind::RBrace,
    SyntaxKind::RParen,
    SyntaxKind::RBracket,
    SyntaxKind::And,
    SyntaxKind::KwIf,
    SyntaxKind::Eof,
];

// Looking at lexemes.
impl<'a> Parser<'a, '_> {
    pub(crate) fn peek(&self) -> Lexeme {
        self.lexemes[self.at.min(self.lexemes.len() - 1)]
    }
    pub(crate) fn peek_after(&self) -> SyntaxKind {
        self.lexemes.get(self.at + 1).map_or(SyntaxKind::Eof, |lexeme| lexeme.kind)
    }
    pub(crate) fn is(&self, kind: SyntaxKind) -> bool {
        self.peek().kind == kind
    }
    pub(crate) fn next(&mut self) -> Lexeme {
        let lexeme = self.peek();
        self.at = (self.at + 1).min(self.lexemes.len() - 1);
        lexeme
    }
    pub(crate) fn accept(&mut self, kind: SyntaxKind) -> Option<Lexeme> {
        self.is(kind).then(|| self.next())
    }
    pub(crate) fn span(&self, lexeme: Lexeme) -> Span {
        Span { source: self.source, start: lexeme.start, end: lexeme.end }
    }
    pub(crate) fn here(&self) -> Span {
        self.span(self.peek())
    }
    /// From `start` to the end of the lexeme before this one.
    pub(crate) fn since(&self, start: Lexeme) -> Span {
        let end = if self.at == 0 { start.end } else { self.lexemes[self.at - 1].end };
        Span { source: self.source, start: start.start, end: end.max(start.start) }
    }
    pub(crate) fn str(&self, lexeme: Lexeme) -> &'a str {
        &self.text[lexeme.start as usize..lexeme.end as usize]
    }
    /// How the next lexeme is called in messages.
    pub(crate) fn found(&self) -> String {
        let lexeme = self.peek();
        let named = [SyntaxKind::RuleName, SyntaxKind::TerminalName, SyntaxKind::Number, SyntaxKind::String]
            .contains(&lexeme.kind);
        let text = self.str(lexeme);
        if named && text.len() <= 40 { format!("`{text}`") } else { lexeme.kind.describe().to_string() }
    }
    pub(crate) fn fail<T>(&mut self, mistake: impl Into<Mistake>) -> Parse<T> {
        if !self.is(SyntaxKind::Error) {
            let mut span = self.here();
            if self.at > 0 && [SyntaxKind::Newline, SyntaxKind::Eof].contains(&self.peek().kind) {
                // What is missing is missing behind the last lexeme.
                let end = self.lexemes[self.at - 1].end;
                span = Span { start: end, end, ..span };
            }
            self.sink.report(span, mistake);
        }
        Err(Reported)
    }
    pub(crate) fn fail_at<T>(&mut self, span: Span, mistake: impl Into<Mistake>) -> Parse<T> {
        self.sink.report(span, mistake);
        Err(Reported)
    }
    pub(crate) fn fail_expected<T>(&mut self, expected: &'static str) -> Parse<T> {
        let found = self.found();
        self.fail(SyntaxMistake::Expected { expected, found })
    }
    pub(crate) fn fail_foreign<T>(&mut self, first: Lexeme, foreign: Foreign) -> Parse<T> {
        let span = self.since(first);
        self.fail_at(span, foreign)
    }
    /// The lexemes up to the end of the line, but for very many.
    pub(crate) fn rest_of_line(&self) -> &'a [Lexeme] {
        let rest = &self.lexemes[self.at.min(self.lexemes.len())..];
        let rest = &rest[..rest.len().min(1000)];
        let ends = [SyntaxKind::Newline, SyntaxKind::Eof];
        &rest[..rest.iter().position(|lexeme| ends.contains(&lexeme.kind)).unwrap_or(rest.len())]
    }
    /// Names on the rest of the line, which is given up, are not missed elsewhere.
    fn excuse_line(&mut self) -> Vec<String> {
        let is_name = |lexeme: &&Lexeme| [SyntaxKind::RuleName, SyntaxKind::TerminalName].contains(&lexeme.kind);
        let line = self.rest_of_line().iter();
        let names: Vec<String> = line.filter(is_name).map(|&lexeme| self.str(lexeme).to_string()).collect();
        self.excused.extend(names.iter().map(|name| name.to_ascii_lowercase()));
        names
    }
    pub(crate) fn expect(&mut self, kind: SyntaxKind) -> Parse<Lexeme> {
        if self.is(kind) { Ok(self.next()) } else { self.fail_expected(kind.describe()) }
    }
    /// The closing bracket of what `opened` opened.
    pub(crate) fn close(&mut self, kind: SyntaxKind, opened: Lexeme) -> Parse<()> {
        if self.accept(kind).is_some() {
            return Ok(());
        }
        let ends_here = SEQUENCE_ENDS.contains(&self.peek().kind) || self.is(SyntaxKind::Colon);
        if !ends_here {
            return self.fail_expected(kind.describe());
        }
        let opened_span = self.span(opened);
        let what = match kind {
            SyntaxKind::RParen => "(",
            SyntaxKind::RBracket => "[",
            _ => "{",
        };
        self.fail(SyntaxMistake::Unclosed { what, opened: opened_span })
    }
    pub(crate) fn enter(&mut self) -> Parse<()> {
        if self.depth >= self.limits.grammar_depth_max {
            return self.fail(TooMuch::Depth { limit: self.limits.grammar_depth_max, what: "brackets" });
        }
        self.depth += 1;
        Ok(())
    }
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
    pub(crate) fn node(&mut self, kind: NodeKind, span: Span) -> NodeId {
        *self.symbols += 1;
        self.nodes.push(Node { kind, span })
    }
}

// Statements.
impl Parser<'_, '_> {
    /// The text's own grammar, and those nested in it, each behind what it stands in.
    fn grammars(&mut self) {
        let root = self.grammars.push(AstGrammar::default());
        self.grammars[root] = self.statements(false);
        let mut next = 0;
        while let Some(&(id, at, depth)) = self.nested.get(next)
            && TooMuch::symbols(*self.symbols, self.limits).is_none()
        {
            next += 1;
            (self.at, self.depth) = (at, depth);
            self.grammars[id] = self.statements(true);
        }
    }

    /// Whether there are too many symbols, which is then reported once.
    pub(crate) fn is_over(&mut self) -> bool {
        let too_much = TooMuch::symbols(*self.symbols, self.limits);
        if let Some(too_much) = too_much
            && !std::mem::replace(&mut self.says_over, true)
        {
            self.sink.report(self.here(), too_much);
        }
        too_much.is_some()
    }

    /// Statements up to the end of the text, or of a nested grammar.
    fn statements(&mut self, nested: bool) -> AstGrammar {
        let mut grammar = AstGrammar::default();
        self.in_rule_body = false;
        loop {
            while self.accept(SyntaxKind::Newline).is_some() {}
            if self.is(SyntaxKind::Eof) || self.sink.must_stop() || (nested && self.is(SyntaxKind::RBrace)) {
                return grammar;
            }
            if self.is_over() {
                grammar.has_unread = true;
                return grammar;
            }
            let depth = self.depth;
            let (before, items_len) = (self.at, grammar.items.len());
            self.has_break = false;
            let result = self.statement(&mut grammar.items).and_then(|()| self.statement_end(nested));
            if result.is_err() {
                grammar.has_unread |= grammar.items.len() == items_len;
                self.depth = depth;
                self.recover(nested);
                if self.at == before {
                    self.next();
                }
            }
        }
    }

    /// Skips to the end of the statement. In a nested grammar its closing brace ends it too.
    fn recover(&mut self, nested: bool) {
        let mut braces = 0usize;
        loop {
            match self.peek().kind {
                SyntaxKind::Eof => return,
                SyntaxKind::Newline if self.in_rule_body && self.goes_on(self.at + 1) => {}
                SyntaxKind::Newline if self.peek_after() != SyntaxKind::VBar => return,
                SyntaxKind::LBrace => match self.nested_ends.get(&self.at) {
                    Some(&end) => self.at = end,
                    None => braces += 1,
                },
                SyntaxKind::RBrace if braces > 0 => braces -= 1,
                SyntaxKind::RBrace if nested => return,
                _ => {}
            }
            self.next();
        }
    }

    fn statement_end(&mut self, nested: bool) -> Parse<()> {
        match self.peek().kind {
            SyntaxKind::Newline | SyntaxKind::Eof => Ok(()),
            SyntaxKind::RBrace if nested => Ok(()),
            SyntaxKind::RParen => self.fail(SyntaxMistake::NotOpen { close: ")", open: "(" }),
            SyntaxKind::RBracket => self.fail(SyntaxMistake::NotOpen { close: "]", open: "[" }),
            SyntaxKind::RBrace => self.fail(SyntaxMistake::NotOpen { close: "}", open: "{" }),
            _ => self.fail_expected("the end of the statement"),
        }
    }

    fn statement(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        *self.symbols += 1;
        let after_body = std::mem::replace(&mut self.in_rule_body, false);
        self.no_foreign_statement()?;
        let begins = self.is_head(self.at);
        self.statement = self.at;
        match self.peek().kind {
            SyntaxKind::RuleName | SyntaxKind::TerminalName | SyntaxKind::Bang | SyntaxKind::Question => {
                if after_body && !begins {
                    // A line that goes on with the body before it: the likeliest mistake of all.
                    let found = self.found();
                    self.in_rule_body = true;
                    return self.fail(SyntaxMistake::StatementExpected { found, after_body });
                }
                self.in_rule_body = true;
                self.definition(Manner::Define, items)
            }
            SyntaxKind::KwIgnore => {
                let first = self.next();
                if [SyntaxKind::Newline, SyntaxKind::Eof].contains(&self.peek().kind) {
                    if let Some((span, comment)) = self.regex_as_comment() {
                        let what = "what to ignore".to_string();
                        return self.fail_at(span, LexerMistake::OnlyComment { what, comment });
                    }
                    return self.fail_at(self.span(first), LexerMistake::IgnoreMissing);
                }
                let body = self.body()?;
                items.push(Item::Ignore(body));
                Ok(())
            }
            SyntaxKind::KwImport => {
                self.no_foreign_import()?;
                let first = self.at;
                let result = self.import(items);
                if result.is_err() {
                    let at = std::mem::replace(&mut self.at, first);
                    self.excuse_line();
                    self.at = at;
                }
                result
            }
            SyntaxKind::KwLlguidance | SyntaxKind::KwLarkspur => {
                let llguidance = self.next().kind == SyntaxKind::KwLlguidance;
                let json = self.json()?;
                items.push(Item::Options { llguidance, json });
                Ok(())
            }
            SyntaxKind::KwOverride | SyntaxKind::KwExtend => {
                self.in_rule_body = true;
                let extends = self.next().kind == SyntaxKind::KwExtend;
                self.definition(if extends { Manner::Extend } else { Manner::Override }, items)
            }
            SyntaxKind::KwDeclare => self.declare(items),
            SyntaxKind::Error if self.str(self.peek()).starts_with('%') => {
                // What an unknown directive names may be what it defines.
                self.excuse_line();
                Err(Reported)
            }
            _ => {
                let found = self.found();
                self.in_rule_body = after_body;
                self.fail(SyntaxMistake::StatementExpected { found, after_body })
            }
        }
    }

    /// Reports statements of other languages. What they put before a definition is skipped.
    fn no_foreign_statement(&mut self) -> Parse<()> {
        let first = self.peek();
        let word = self.str(first);
        let names = [SyntaxKind::RuleName, SyntaxKind::TerminalName];
        match (first.kind, self.peek_after()) {
            (SyntaxKind::SpecialToken, SyntaxKind::DoubleColon | SyntaxKind::Equals | SyntaxKind::Colon) => {
                let name = word.trim_matches(['<', '>']).to_string();
                self.next();
                self.is_foreign = true;
                self.fail_foreign(first, Foreign::AngleName { name })
            }
            // Python's.
            (SyntaxKind::RuleName, after)
                if names.contains(&after)
                    && word == "from"
                    && self.lexemes.get(self.at + 2).is_some_and(|&third| self.str(third) == "import") =>
            {
                let module = self.str(self.lexemes[self.at + 1]).to_string();
                let mut names = self.excuse_line();
                names.drain(..names.len().min(3));
                let line = self.rest_of_line();
                let span = self.span(first).to(self.span(line[line.len() - 1]));
                self.fail_at(span, Foreign::Import { module, names })
            }
            (SyntaxKind::RuleName, after) if names.contains(&after) && HEADERS.contains(&word) => {
                self.is_foreign = true;
                self.next();
                self.fail_foreign(first, Foreign::Header { word: word.to_string() })
            }
            (SyntaxKind::RuleName, after)
                if (names.contains(&after) || after == SyntaxKind::String) && BARE_DIRECTIVES.contains(&word) =>
            {
                self.next();
                let span = self.since(first);
                self.excuse_line();
                self.fail_at(span, Foreign::NoPercent { word: word.to_string() })
            }
            (SyntaxKind::RuleName, after) if names.contains(&after) && KEYWORDS.contains(&word) => {
                self.is_foreign = true;
                self.next();
                let span = self.since(first);
                self.sink.report(span, Foreign::Keyword { word: word.to_string() });
                // Of the head nothing more is said.
                if self.peek_after() == SyntaxKind::Colon {
                    return Ok(());
                }
                self.excuse_line();
                Err(Reported)
            }
            _ => Ok(()),
        }
    }

    /// Reports an import without a dot, of a list without parentheses, or of everything.
    fn no_foreign_import(&mut self) -> Parse<()> {
        let first = self.peek();
        let line = &self.rest_of_line()[1..];
        let kind = |at: usize| line.get(at).map_or(SyntaxKind::Newline, |lexeme| lexeme.kind);
        let is_name = |at: usize| [SyntaxKind::RuleName, SyntaxKind::TerminalName].contains(&kind(at));
        let dots =
            line.iter().take_while(|lexeme| [SyntaxKind::Dot, SyntaxKind::DotDot].contains(&lexeme.kind)).count();
        let mut end = dots + 1;
        while kind(end) == SyntaxKind::Dot && is_name(end + 1) {
            end += 2;
        }
        let is_all = kind(end) == SyntaxKind::Dot && kind(end + 1) == SyntaxKind::Star || kind(end) == SyntaxKind::Star;
        let is_alone = end == line.len() && end == dots + 1;
        let is_as = end > dots + 1 && line.get(end).is_some_and(|&word| self.str(word) == "as");
        if !is_name(dots) || !(is_all || is_alone || is_name(end) && !is_as || kind(end) == SyntaxKind::Comma) {
            return Ok(());
        }
        if is_all {
            self.excused.extend(crate::common::names().map(str::to_ascii_lowercase));
        }
        let module = self.str(line[dots]);
        let mut names = self.excuse_line();
        names.retain(|name| name != module || is_alone && name.starts_with(|c: char| c.is_ascii_uppercase()));
        names.retain(|name| name != "common");
        let module = if is_alone || kind(dots + 1) == SyntaxKind::Comma { "common" } else { module };
        let span = self.span(first).to(self.span(line[line.len() - 1]));
        self.fail_at(span, Foreign::Import { module: module.to_string(), names })
    }

    /// The JSON lexeme that always follows a directive with JSON: its index.
    pub(crate) fn json(&mut self) -> Parse<usize> {
        let lexeme = self.expect(SyntaxKind::Json)?;
        // A value that is missing is empty, and may share its place with none.
        let index = self.json.partition_point(|block| block.span.start < lexeme.start);
        Ok(self.json_before + index)
    }

    /// Whether a definition of another language begins with the name at a lexeme: its `:` stands on the next line, or behind
    /// parentheses or angles.
    pub(crate) fn is_foreign_head(&self, name: usize) -> bool {
        let kind = |at: usize| self.lexemes.get(at).map_or(SyntaxKind::Eof, |lexeme| lexeme.kind);
        match kind(name + 1) {
            SyntaxKind::Newline | SyntaxKind::SpecialToken => kind(name + 2) == SyntaxKind::Colon,
            SyntaxKind::LParen => {
                let ends = [SyntaxKind::RParen, SyntaxKind::Newline, SyntaxKind::Eof];
                let close = (name + 1..name + 1000).find(|&at| ends.contains(&kind(at)));
                close.is_some_and(|close| kind(close + 1) == SyntaxKind::Colon)
            }
            _ => false,
        }
    }

    fn definition(&mut self, manner: Manner, items: &mut Vec<Item>) -> Parse<()> {
        let first = self.peek();
        let (mut keep_all, mut inline) = (false, false);
        while let kind @ (SyntaxKind::Bang | SyntaxKind::Question) = self.peek().kind {
            let (seen, mark) = if kind == SyntaxKind::Bang { (&mut keep_all, "!") } else { (&mut inline, "?") };
            if std::mem::replace(seen, true) {
                let span = self.here();
                self.sink.report(span, SyntaxMistake::MarkTwice { mark });
            }
            self.next();
        }
        let is_terminal = self.is(SyntaxKind::TerminalName);
        if !is_terminal && !self.is(SyntaxKind::RuleName) {
            return self.fail_expected(if manner == Manner::Define { "a rule name" } else { "a definition" });
        }
        let lexeme = self.next();
        let name = Name { text: self.str(lexeme).to_string(), span: self.span(lexeme) };
        if is_terminal && (keep_all || inline) {
            let span = self.span(first);
            self.sink.report(
                span,
                SyntaxMistake::Expected {
                    expected: "a rule name behind `!` or `?`",
                    found: format!("`{}`", name.text),
                },
            );
        }
        if inline && name.text.starts_with('_') {
            let span = self.since(first);
            self.sink.report(span, SyntaxMistake::InlineUnderscoreRule { rule: name.text.clone() });
        }
        let (first_node, name_span) = (self.nodes.len(), name.span);
        let error = self.node(NodeKind::Error, name_span);
        let mut definition = Definition { manner, keep_all, inline, ..Definition::new(name, is_terminal, error) };
        let result = self.definition_rest(&mut definition);
        if result.is_err() {
            definition.body = self.broken(first_node, name_span);
        }
        items.push(Item::Definition(definition));
        result
    }

    fn definition_rest(&mut self, definition: &mut Definition) -> Parse<()> {
        loop {
            self.no_other_sign()?;
            self.no_parentheses(&definition.name.text)?;
            match self.peek().kind {
                SyntaxKind::DoubleColon if !definition.parametric && !definition.is_terminal => {
                    let colons = self.next();
                    if self.begins_item(self.at) {
                        let (span, name) = (self.span(colons), definition.name.text.clone());
                        self.sink.report(span, Foreign::ColonTwice { name });
                        break;
                    }
                    self.expect(SyntaxKind::Underscore)?;
                    definition.parametric = true;
                }
                SyntaxKind::LBrace if definition.params.is_empty() && !definition.is_terminal => {
                    definition.params = self.template_params()?;
                }
                SyntaxKind::Dot => {
                    self.next();
                    definition.priority = self.priority()?;
                }
                SyntaxKind::LBracket if definition.is_terminal => return self.fail(AttributeMistake::OnTerminal),
                SyntaxKind::LBracket => self.attributes(definition)?,
                SyntaxKind::Colon => break,
                SyntaxKind::Newline if self.peek_after() == SyntaxKind::Colon => {
                    self.next();
                    if !std::mem::replace(&mut self.is_foreign, true) {
                        let span = self.here();
                        self.sink.report(span, Foreign::ColonBelow);
                    }
                }
                _ => {
                    self.colon_missing(&definition.name.text)?;
                    break;
                }
            }
        }
        self.check_attributes(definition);
        self.accept(SyntaxKind::Colon);
        if self.is(SyntaxKind::Newline)
            && self.peek_after() != SyntaxKind::VBar
            && let Some((span, comment)) = self.regex_as_comment()
        {
            let kind = if definition.is_terminal { "terminal" } else { "rule" };
            let what = format!("{kind} `{}`", definition.name.text);
            return self.fail_at(span, LexerMistake::OnlyComment { what, comment });
        }
        let body = self.body()?;
        definition.body = body;
        if definition.name.text.starts_with('_')
            && !definition.is_terminal
            && let NodeKind::Choice(alternatives) = &self.nodes[body].kind
            && let Some(alias) = alternatives.iter().find_map(|alternative| alternative.alias.as_ref())
        {
            let span = alias.span;
            self.sink.report(span, SyntaxMistake::AliasOnUnderscoreRule { rule: definition.name.text.clone() });
        }
        Ok(())
    }

    /// Reports that the `:` is missing here. What follows is read as if it were there, if it may be a body.
    fn colon_missing(&mut self, name: &str) -> Parse<()> {
        if self.is(SyntaxKind::Error) {
            return Err(Reported);
        }
        let end = self.lexemes[self.at - 1].end;
        let span = Span { start: end, end, ..self.here() };
        self.sink.report(span, SyntaxMistake::ColonMissing { name: name.to_string() });
        if self.begins_item(self.at) { Ok(()) } else { Err(Reported) }
    }

    /// The comment right behind the lexeme before this one, if it was likely meant as a regex: `//.*/`.
    fn regex_as_comment(&self) -> Option<(Span, String)> {
        let end = self.lexemes[self.at.checked_sub(1)?].end as usize;
        let rest = &self.text[end..];
        let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let comment = line.trim();
        let body = comment.strip_prefix("//")?.trim_end_matches(|c| "imslux".contains(c)).strip_suffix('/')?;
        let start = end + line.find("//")?;
        let span = Span::new(self.source, start, start + comment.len());
        (!body.is_empty()).then(|| (span, comment.to_string()))
    }

    /// Reports what other languages write in place of the `:`.
    fn no_other_sign(&mut self) -> Parse<()> {
        let first = self.peek();
        let sign = match (first.kind, self.peek_after()) {
            (SyntaxKind::DoubleColon, SyntaxKind::Equals) => "::=",
            (SyntaxKind::Colon, SyntaxKind::Equals) => ":=",
            (SyntaxKind::Equals, _) => "=",
            (SyntaxKind::LeftArrow, _) => "<-",
            (SyntaxKind::FatArrow, _) => "=>",
            (SyntaxKind::Arrow, _) => "->",
            _ => return Ok(()),
        };
        self.next();
        if [":=", "::="].contains(&sign) {
            self.next();
        }
        let span = self.since(first);
        self.fail_at(span, SyntaxMistake::DefinedOtherwise { sign })
    }

    /// Reports parameters and attributes in parentheses or angles.
    fn no_parentheses(&mut self, name: &str) -> Parse<()> {
        let first = self.peek();
        let name = name.to_string();
        if first.kind == SyntaxKind::SpecialToken && self.peek_after() == SyntaxKind::Colon {
            return self.fail(Foreign::Parameters { name });
        }
        if first.kind != SyntaxKind::LParen {
            return Ok(());
        }
        let line = self.rest_of_line();
        let close = line.iter().position(|lexeme| lexeme.kind == SyntaxKind::RParen).unwrap_or(line.len());
        let foreign = match line[..close].iter().any(|lexeme| lexeme.kind == SyntaxKind::Equals) {
            true => {
                let inside =
                    &self.text[line[0].end as usize..line.get(close).unwrap_or(&line[close - 1]).start as usize];
                Foreign::AttributesInParentheses { name, inside: inside.to_string() }
            }
            false => Foreign::Parameters { name },
        };
        self.fail(foreign)
    }

    fn priority(&mut self) -> Parse<i32> {
        let first = self.peek();
        let negative = self.accept(SyntaxKind::Minus).is_some();
        if !negative {
            self.accept(SyntaxKind::Plus);
        }
        let number = self.peek();
        let text = if number.kind == SyntaxKind::Number { self.str(number) } else { "" };
        let Ok(value) = text.parse::<i32>() else {
            if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
                let span = self.span(first).to(self.span(number));
                let digits = if text.len() > 20 { format!("{}…", &text[..20]) } else { text.to_string() };
                let found = format!("{}{digits}", if negative { "-" } else { "" });
                return self.fail_at(span, SyntaxMistake::PriorityTooLarge { found });
            }
            let found = self.found();
            return self.fail(SyntaxMistake::NumberExpected { expected: "a priority: a whole number", found });
        };
        self.next();
        Ok(if negative { -value } else { value })
    }

    /// `{x, y}` behind a template's name.
    fn template_params(&mut self) -> Parse<Vec<Name>> {
        let opened = self.next();
        let mut params: Vec<Name> = Vec::new();
        loop {
            if !self.is(SyntaxKind::RuleName) {
                return self.fail_expected("a parameter's name, in lower case");
            }
            let param = self.any_name("a parameter's name")?;
            if let Some(first) = params.iter().find(|first| first.text == param.text) {
                let first = first.span;
                self.sink.report(param.span, TemplateMistake::ParamTwice { name: param.text.clone(), first });
            }
            params.push(param);
            if self.accept(SyntaxKind::Comma).is_none() {
                break;
            }
        }
        self.close(SyntaxKind::RBrace, opened)?;
        Ok(params)
    }

    /// `%import module.X`, `%import .folder.module.X -> Y`, `%import module (X, Y)`.
    fn import(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.next();
        let first = self.peek();
        let relative = self.is(SyntaxKind::Dot) || self.is(SyntaxKind::DotDot);
        let dots = self.at;
        let mut above = false;
        while [SyntaxKind::Dot, SyntaxKind::DotDot].contains(&self.peek().kind) {
            above |= self.at > dots || self.is(SyntaxKind::DotDot);
            self.next();
        }
        let mut path: Vec<Name> = Vec::new();
        if self.is(SyntaxKind::String) && path.is_empty() {
            return self.import_of_file();
        }
        loop {
            if self.is(SyntaxKind::LParen) && !path.is_empty() {
                return self.dot_before_names(first, &path);
            }
            path.push(self.any_name("the name of what to import")?);
            if self.accept(SyntaxKind::Dot).is_none() {
                break;
            }
        }
        let mut names: Vec<(Name, Name)> = Vec::new();
        let span = self.since(first);
        if let Some(opened) = self.accept(SyntaxKind::LParen) {
            loop {
                let name = self.any_name("the name of a rule or terminal")?;
                names.push((name.clone(), name));
                if self.is(SyntaxKind::Arrow) {
                    return self.fail_expected("`,` or `)` (a new name needs `%import module.NAME -> NEW_NAME`)");
                }
                if self.accept(SyntaxKind::Comma).is_none() {
                    break;
                }
            }
            self.close(SyntaxKind::RParen, opened)?;
        } else if path.len() > 1 {
            let name = path.pop().expect("two names");
            let has_alias = self.accept(SyntaxKind::Arrow).is_some() || self.accept_as(first);
            let alias = if has_alias { self.any_name("the new name")? } else { name.clone() };
            names.push((name, alias));
        } else {
            return self.fail_expected("`.` and what to import, or names in parentheses");
        }
        *self.symbols += names.len();
        items.push(Item::Import(Import { relative, above, path, span, names }));
        Ok(())
    }

    /// Takes Python's `as` before a new name, and reports it; `first` begins the path.
    fn accept_as(&mut self, first: Lexeme) -> bool {
        let names = [SyntaxKind::RuleName, SyntaxKind::TerminalName];
        if self.str(self.peek()) != "as" || !names.contains(&self.peek_after()) {
            return false;
        }
        let path = self.text[first.start as usize..self.lexemes[self.at - 1].end as usize].to_string();
        let word = self.next();
        let (span, name) = (self.span(word), self.str(self.peek()).to_string());
        self.sink.report(span, Foreign::ImportAs { path, name });
        true
    }

    /// Reports `%import "lib.lark"`.
    fn import_of_file(&mut self) -> Parse<()> {
        let file = self.str(self.peek()).trim_matches('"');
        let file = file.strip_prefix("./").unwrap_or(file);
        let stem = file.strip_suffix(".lark").unwrap_or(file).replace('/', ".");
        let is_built_in = crate::modules::built_in_names().any(|name| name == stem);
        let module = if is_built_in { stem } else { format!(".{stem}") };
        if module == "common" {
            self.excused.extend(crate::common::names().map(str::to_ascii_lowercase));
        }
        self.fail(Foreign::ImportString { module })
    }

    /// Reports `%import common.(A, B)`.
    fn dot_before_names(&mut self, first: Lexeme, path: &[Name]) -> Parse<()> {
        let mut module = self.text[first.start as usize..self.peek().start as usize].to_string();
        module.truncate(module.trim_end_matches(['.', ' ']).len());
        let mut names = self.excuse_line();
        names.retain(|name| path.iter().all(|part| part.text != *name));
        let span = self.span(first).to(self.here());
        self.fail_at(span, Foreign::Import { module, names })
    }

    /// `%declare A B`.
    fn declare(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.next();
        loop {
            items.push(Item::Declare(self.any_name("a name to declare")?));
            *self.symbols += 1;
            if !self.is(SyntaxKind::RuleName) && !self.is(SyntaxKind::TerminalName) {
                return Ok(());
            }
        }
    }

    pub(crate) fn any_name(&mut self, expected: &'static str) -> Parse<Name> {
        if !self.is(SyntaxKind::RuleName) && !self.is(SyntaxKind::TerminalName) {
            return self.fail_expected(expected);
        }
        let lexeme = self.next();
        Ok(Name { text: self.str(lexeme).to_string(), span: self.span(lexeme) })
    }

    /// `%lark { … }`, which is stepped over for now.
    pub(crate) fn nested(&mut self) -> Parse<NodeId> {
        self.enter()?;
        let keyword = self.next();
        let opened_at = self.at;
        let opened = self.expect(SyntaxKind::LBrace)?;
        let grammar = self.grammars.push(AstGrammar::default());
        self.nested.push((grammar, self.at, self.depth));
        let span = self.span(keyword).to(self.span(opened));
        let node = self.node(NodeKind::Lark(grammar), span);
        self.at = self.nested_ends.get(&opened_at).copied().unwrap_or(self.lexemes.len() - 1);
        self.close(SyntaxKind::RBrace, opened)?;
        self.leave();
        self.nodes[node].span = self.since(keyword);
        Ok(node)
    }

    /// What is left of a body that was given up: names, literals and nested grammars among the nodes from `first_node` on.
    pub(crate) fn broken(&mut self, first_node: usize, span: Span) -> NodeId {
        let is_kept = |kind: &NodeKind| {
            let is_name = matches!(kind, NodeKind::Rule(..) | NodeKind::Terminal(_) | NodeKind::Lark(_));
            is_name || matches!(kind, NodeKind::String | NodeKind::Regex | NodeKind::Range(..) | NodeKind::RegexJson(_))
        };
        let parts = (first_node..self.nodes.len()).map(NodeId::from_index);
        let kind = NodeKind::Broken(parts.filter(|&id| is_kept(&self.nodes[id].kind)).collect());
        self.node(kind, span)
    }
}
