//! Lexemes to [`Ast`]: recursive descent, one function for each construct.
//!
//! After a mistake the statement is given up and reading goes on with the next one; the name of a broken definition
//! still counts as defined. Recursion is bounded by `Limits::grammar_depth_max`.

use larkspur_grammar::{Condition, ConditionId, IndexVec, Limits, SourceId, Span};

use crate::ast::{
    Ast, AstAlternative, AstGrammar, AstGrammarId, Definition, Import, Item, Name, Node, NodeId, NodeKind,
};
use crate::error::{Mistake, Sink};
use crate::lexer::{JsonBlock, Lexed, Lexeme, SyntaxKind};

/// The mistake is in the sink; the statement is given up.
pub(crate) struct Reported;

/// What parsing functions return.
pub(crate) type Parse<T> = Result<T, Reported>;

/// Reads all statements of a text.
pub(crate) fn parse(text: &str, source: SourceId, lexed: Lexed, limits: &Limits, sink: &mut Sink) -> Ast {
    let mut parser = Parser {
        text,
        source,
        lexemes: &lexed.lexemes,
        json: &lexed.json,
        at: 0,
        depth: 0,
        in_rule_body: false,
        symbols: 0,
        limits,
        sink,
        grammars: IndexVec::new(),
        nodes: IndexVec::new(),
        conditions: IndexVec::new(),
    };
    parser.statements(None);
    let (grammars, nodes, conditions) = (parser.grammars, parser.nodes, parser.conditions);
    Ast { grammars, nodes, conditions, json: lexed.json, begins_with_llguidance: lexed.begins_with_llguidance }
}

pub(crate) struct Parser<'a, 's> {
    text: &'a str,
    source: SourceId,
    lexemes: &'a [Lexeme],
    json: &'a [JsonBlock],
    /// Index of the next lexeme.
    at: usize,
    /// Brackets and nested grammars that are open.
    depth: usize,
    /// Whether the last statement was a definition: for the message when the next line is none.
    in_rule_body: bool,
    /// Nodes, alternatives and statements so far.
    symbols: usize,
    pub(crate) limits: &'a Limits,
    pub(crate) sink: &'s mut Sink,
    grammars: IndexVec<AstGrammarId, AstGrammar>,
    nodes: IndexVec<NodeId, Node>,
    pub(crate) conditions: IndexVec<ConditionId, Condition>,
}

/// Lexemes that end a sequence.
const SEQUENCE_ENDS: &[SyntaxKind] = &[
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
    fn peek_after(&self) -> SyntaxKind {
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
    pub(crate) fn fail<T>(&mut self, mistake: Mistake) -> Parse<T> {
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
    pub(crate) fn fail_at<T>(&mut self, span: Span, mistake: Mistake) -> Parse<T> {
        self.sink.report(span, mistake);
        Err(Reported)
    }
    pub(crate) fn fail_expected<T>(&mut self, expected: &'static str) -> Parse<T> {
        let found = self.found();
        self.fail(Mistake::Expected { expected, found })
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
        self.fail(Mistake::Unclosed { what, opened: opened_span })
    }
    pub(crate) fn enter(&mut self) -> Parse<()> {
        if self.depth >= self.limits.grammar_depth_max {
            return self.fail(Mistake::TooDeep { limit: self.limits.grammar_depth_max });
        }
        self.depth += 1;
        Ok(())
    }
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
    pub(crate) fn node(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.symbols += 1;
        self.nodes.push(Node { kind, span })
    }
}

// Statements.
impl Parser<'_, '_> {
    /// Statements up to the end of the text, or to the `}` that closes what `opened` opened.
    fn statements(&mut self, opened: Option<Lexeme>) -> AstGrammarId {
        let mut items = Vec::new();
        self.in_rule_body = false;
        loop {
            while self.accept(SyntaxKind::Newline).is_some() {}
            if self.is(SyntaxKind::Eof) || self.sink.is_full() || (opened.is_some() && self.is(SyntaxKind::RBrace)) {
                break;
            }
            if self.symbols > self.limits.grammar_symbols_max {
                let span = self.here();
                self.sink.report(span, Mistake::SymbolsTooMany { limit: self.limits.grammar_symbols_max });
                self.at = self.lexemes.len() - 1;
                break;
            }
            let depth = self.depth;
            let before = self.at;
            let result = self.statement(&mut items).and_then(|()| self.statement_end(opened.is_some()));
            if result.is_err() {
                self.depth = depth;
                self.recover(opened.is_some());
                if self.at == before {
                    self.next();
                }
            }
        }
        self.grammars.push(AstGrammar { items })
    }

    /// Skips to the end of the statement. In a nested grammar its closing brace ends it too.
    fn recover(&mut self, nested: bool) {
        let mut braces = 0usize;
        loop {
            match self.peek().kind {
                SyntaxKind::Eof => return,
                SyntaxKind::Newline if self.peek_after() != SyntaxKind::VBar => return,
                SyntaxKind::LBrace => braces += 1,
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
            _ => self.fail_expected("the end of the statement"),
        }
    }

    fn statement(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.symbols += 1;
        let after_body = std::mem::replace(&mut self.in_rule_body, false);
        match self.peek().kind {
            SyntaxKind::RuleName | SyntaxKind::TerminalName | SyntaxKind::Bang | SyntaxKind::Question => {
                let first = self.at;
                while [SyntaxKind::Bang, SyntaxKind::Question].contains(&self.peek().kind) {
                    self.next();
                }
                let begins = [SyntaxKind::Colon, SyntaxKind::DoubleColon, SyntaxKind::Dot]
                    .into_iter()
                    .chain([SyntaxKind::LBracket, SyntaxKind::LBrace])
                    .any(|kind| kind == self.peek_after());
                self.at = first;
                if after_body && !begins {
                    // A line that goes on with the body before it: the likeliest mistake of all.
                    let found = self.found();
                    self.in_rule_body = true;
                    return self.fail(Mistake::StatementExpected { found, after_body });
                }
                self.in_rule_body = true;
                self.definition(items)
            }
            SyntaxKind::KwIgnore => {
                self.next();
                let body = self.choice(Place::Top)?;
                items.push(Item::Ignore(body));
                Ok(())
            }
            SyntaxKind::KwImport => self.import(items),
            SyntaxKind::KwLlguidance | SyntaxKind::KwLarkspur => {
                let llguidance = self.next().kind == SyntaxKind::KwLlguidance;
                let json = self.json()?;
                items.push(Item::Options { llguidance, json });
                Ok(())
            }
            SyntaxKind::KwOverride => self.fail(Mistake::Override),
            SyntaxKind::KwExtend => self.fail(Mistake::Extend),
            SyntaxKind::KwDeclare => self.declare(items),
            _ => {
                let found = self.found();
                self.in_rule_body = after_body;
                self.fail(Mistake::StatementExpected { found, after_body })
            }
        }
    }

    /// The JSON lexeme that always follows a directive with JSON: its index.
    fn json(&mut self) -> Parse<usize> {
        let lexeme = self.expect(SyntaxKind::Json)?;
        // A value that is missing is empty, and may share its place with none.
        let index = self.json.partition_point(|block| block.span.start < lexeme.start);
        Ok(index)
    }

    fn definition(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        let first = self.peek();
        let (mut keep_all, mut inline) = (false, false);
        while let kind @ (SyntaxKind::Bang | SyntaxKind::Question) = self.peek().kind {
            keep_all |= kind == SyntaxKind::Bang;
            inline |= kind == SyntaxKind::Question;
            self.next();
        }
        let is_terminal = self.is(SyntaxKind::TerminalName);
        if !is_terminal && !self.is(SyntaxKind::RuleName) {
            return self.fail_expected("a rule name");
        }
        let lexeme = self.next();
        let name = Name { text: self.str(lexeme).to_string(), span: self.span(lexeme) };
        if is_terminal && (keep_all || inline) {
            let span = self.span(first);
            self.sink.report(
                span,
                Mistake::Expected { expected: "a rule name behind `!` or `?`", found: format!("`{}`", name.text) },
            );
        }
        if inline && name.text.starts_with('_') {
            let span = self.since(first);
            self.sink.report(span, Mistake::InlineUnderscoreRule { rule: name.text.clone() });
        }
        let error = self.node(NodeKind::Error, name.span);
        let mut definition = Definition {
            name,
            is_terminal,
            keep_all,
            inline,
            parametric: false,
            priority: 0,
            attributes: Vec::new(),
            body: error,
        };
        let result = self.definition_rest(&mut definition);
        items.push(Item::Definition(definition));
        result
    }

    fn definition_rest(&mut self, definition: &mut Definition) -> Parse<()> {
        loop {
            match self.peek().kind {
                SyntaxKind::DoubleColon if !definition.parametric && !definition.is_terminal => {
                    self.next();
                    self.expect(SyntaxKind::Underscore)?;
                    definition.parametric = true;
                }
                SyntaxKind::LBrace => return self.fail(Mistake::Template),
                SyntaxKind::Dot => {
                    self.next();
                    definition.priority = self.priority()?;
                }
                SyntaxKind::LBracket if definition.is_terminal => return self.fail(Mistake::AttributeOnTerminal),
                SyntaxKind::LBracket => self.attributes(definition)?,
                SyntaxKind::Colon => break,
                _ => return self.fail_expected("`:`"),
            }
        }
        self.check_attributes(definition);
        self.next();
        let body = self.choice(Place::Top)?;
        definition.body = body;
        if definition.name.text.starts_with('_')
            && !definition.is_terminal
            && let NodeKind::Choice(alternatives) = &self.nodes[body].kind
            && let Some(alias) = alternatives.iter().find_map(|alternative| alternative.alias.as_ref())
        {
            let span = alias.span;
            self.sink.report(span, Mistake::AliasOnUnderscoreRule { rule: definition.name.text.clone() });
        }
        Ok(())
    }

    fn priority(&mut self) -> Parse<i32> {
        let negative = self.accept(SyntaxKind::Minus).is_some();
        if !negative {
            self.accept(SyntaxKind::Plus);
        }
        let number = self.peek();
        let text = if number.kind == SyntaxKind::Number { self.str(number) } else { "" };
        let Ok(value) = text.parse::<i32>() else {
            let found = self.found();
            return self.fail(Mistake::NumberExpected { expected: "a priority: a whole number", found });
        };
        self.next();
        Ok(if negative { -value } else { value })
    }

    /// `%import common.X`, `%import common.X -> Y`, `%import common (X, Y)`.
    fn import(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        self.next();
        let first = self.peek();
        let mut path: Vec<Name> = Vec::new();
        let relative = [SyntaxKind::Dot, SyntaxKind::DotDot].contains(&self.peek().kind);
        while [SyntaxKind::Dot, SyntaxKind::DotDot].contains(&self.peek().kind) {
            self.next();
        }
        loop {
            path.push(self.any_name("the name of what to import")?);
            if self.accept(SyntaxKind::Dot).is_none() {
                break;
            }
        }
        let path_span = self.since(first);
        let mut names: Vec<(Name, Name)> = Vec::new();
        if let Some(opened) = self.accept(SyntaxKind::LParen) {
            loop {
                let name = self.any_name("a terminal name")?;
                names.push((name.clone(), name));
                if self.accept(SyntaxKind::Comma).is_none() {
                    break;
                }
            }
            self.close(SyntaxKind::RParen, opened)?;
        } else if path.len() > 1 {
            let name = path.pop().expect("two names");
            let alias =
                if self.accept(SyntaxKind::Arrow).is_some() { self.any_name("the new name")? } else { name.clone() };
            names.push((name, alias));
        }
        if relative || path.len() != 1 || path[0].text != "common" || names.is_empty() {
            let path = self.text[path_span.start as usize..path_span.end as usize].to_string();
            names.into_iter().for_each(|(_, alias)| self.unknown(alias, items));
            return self.fail_at(path_span, Mistake::FileImport { path });
        }
        items.extend(names.into_iter().map(|(name, alias)| Item::Import(Import { name, alias })));
        Ok(())
    }

    /// `%declare A B`: not supported, but the names count as defined.
    fn declare(&mut self, items: &mut Vec<Item>) -> Parse<()> {
        let span = self.here();
        self.next();
        while self.is(SyntaxKind::RuleName) || self.is(SyntaxKind::TerminalName) {
            let name = self.any_name("a name")?;
            self.unknown(name, items);
        }
        self.fail_at(span, Mistake::Declare)
    }

    /// Enters a name whose definition could not be read, so that its uses are not reported besides.
    fn unknown(&mut self, name: Name, items: &mut Vec<Item>) {
        let body = self.node(NodeKind::Error, name.span);
        items.push(Item::Definition(Definition {
            is_terminal: name.text.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase()),
            name,
            keep_all: false,
            inline: false,
            parametric: false,
            priority: 0,
            attributes: Vec::new(),
            body,
        }));
    }

    fn any_name(&mut self, expected: &'static str) -> Parse<Name> {
        if !self.is(SyntaxKind::RuleName) && !self.is(SyntaxKind::TerminalName) {
            return self.fail_expected(expected);
        }
        let lexeme = self.next();
        Ok(Name { text: self.str(lexeme).to_string(), span: self.span(lexeme) })
    }
}

/// Where a choice stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A definition's body.
    Top,
    /// In parentheses or brackets.
    Group,
}

// Bodies.
impl Parser<'_, '_> {
    /// Alternatives; the next line goes on if it begins with `|`.
    fn choice(&mut self, place: Place) -> Parse<NodeId> {
        let first = self.peek();
        let depth = self.depth;
        let mut alternatives = Vec::new();
        loop {
            match self.alternative(place) {
                Ok(alternative) => alternatives.push(alternative),
                Err(Reported) if place == Place::Top && self.skip_alternative(depth) => {
                    let body = self.node(NodeKind::Error, self.span(first));
                    alternatives.push(AstAlternative { body, alias: None, condition: None });
                }
                Err(Reported) => return Err(Reported),
            }
            if self.symbols > self.limits.grammar_symbols_max {
                return self.fail(Mistake::SymbolsTooMany { limit: self.limits.grammar_symbols_max });
            }
            if self.is(SyntaxKind::Newline) && self.peek_after() == SyntaxKind::VBar {
                self.next();
            }
            if self.accept(SyntaxKind::VBar).is_none() {
                break;
            }
        }
        let span = self.since(first);
        match alternatives.as_slice() {
            [AstAlternative { body, alias: None, condition: None }] => Ok(*body),
            _ => Ok(self.node(NodeKind::Choice(alternatives), span)),
        }
    }

    /// After a mistake, skips to the `|` that begins the next alternative of a body. False if there is none: then
    /// nothing is skipped, and the statement is given up.
    fn skip_alternative(&mut self, depth: usize) -> bool {
        let mut open = self.depth - depth;
        self.depth = depth;
        let mut at = self.at;
        loop {
            let after = self.lexemes.get(at + 1).map_or(SyntaxKind::Eof, |lexeme| lexeme.kind);
            match self.lexemes.get(at).map_or(SyntaxKind::Eof, |lexeme| lexeme.kind) {
                SyntaxKind::Eof => return false,
                SyntaxKind::Newline if after != SyntaxKind::VBar => return false,
                SyntaxKind::VBar if open == 0 => {
                    self.at = at;
                    return true;
                }
                SyntaxKind::LParen | SyntaxKind::LBracket | SyntaxKind::LBrace => open += 1,
                SyntaxKind::RParen | SyntaxKind::RBracket | SyntaxKind::RBrace => match open.checked_sub(1) {
                    Some(left) => open = left,
                    None => return false,
                },
                _ => {}
            }
            at += 1;
        }
    }

    fn alternative(&mut self, place: Place) -> Parse<AstAlternative> {
        self.symbols += 1;
        let first = self.peek();
        let mut parts = vec![self.sequence()?];
        while self.accept(SyntaxKind::And).is_some() {
            parts.push(self.sequence()?);
        }
        let body = if parts.len() == 1 {
            parts[0]
        } else {
            let span = self.since(first);
            self.node(NodeKind::And(parts), span)
        };
        let mut alias = None;
        if let Some(arrow) = self.accept(SyntaxKind::Arrow) {
            let name = self.any_name("the alias")?;
            if place == Place::Group {
                let span = self.span(arrow).to(name.span);
                self.sink.report(span, Mistake::AliasInGroup);
            }
            alias = Some(name);
        }
        let mut condition = None;
        if let Some(keyword) = self.accept(SyntaxKind::KwIf) {
            let id = self.condition()?;
            condition = Some((id, self.since(keyword)));
        }
        Ok(AstAlternative { body, alias, condition })
    }

    fn sequence(&mut self) -> Parse<NodeId> {
        let first = self.peek();
        let mut parts = Vec::new();
        while !SEQUENCE_ENDS.contains(&self.peek().kind) {
            parts.push(self.item()?);
            if self.symbols > self.limits.grammar_symbols_max {
                return self.fail(Mistake::SymbolsTooMany { limit: self.limits.grammar_symbols_max });
            }
        }
        if let [only] = parts.as_slice() {
            return Ok(*only);
        }
        let span = if parts.is_empty() { Span { end: first.start, ..self.span(first) } } else { self.since(first) };
        Ok(self.node(NodeKind::Sequence(parts), span))
    }

    /// An atom and its repetition.
    fn item(&mut self) -> Parse<NodeId> {
        let first = self.peek();
        let atom = self.atom()?;
        let Some((min, max)) = self.repetition()? else { return Ok(atom) };
        let span = self.since(first);
        let repeat = self.node(NodeKind::Repeat(atom, min, max), span);
        let second = self.peek();
        while self.repetition()?.is_some() {
            let span = self.since(second);
            self.sink.report(span, Mistake::RepeatTwice);
        }
        Ok(repeat)
    }

    /// `?`, `*`, `+`, `~n`, `~n..m`, `{n}`, `{n,}`, `{,m}`, `{n,m}`, or nothing.
    fn repetition(&mut self) -> Parse<Option<(u32, Option<u32>)>> {
        let first = self.peek();
        let bounds = match first.kind {
            SyntaxKind::Question => {
                self.next();
                (0, Some(1))
            }
            SyntaxKind::Star => {
                self.next();
                (0, None)
            }
            SyntaxKind::Plus => {
                self.next();
                (1, None)
            }
            SyntaxKind::Tilde if self.peek_after() == SyntaxKind::Number => {
                self.next();
                let min = self.count()?;
                let max = if self.accept(SyntaxKind::DotDot).is_some() { self.count()? } else { min };
                (min, Some(max))
            }
            SyntaxKind::LBrace => {
                self.next();
                // Open, for recovery; it does not nest.
                self.depth += 1;
                let min = if self.is(SyntaxKind::Comma) { 0 } else { self.count()? };
                let mut max = Some(min);
                if self.accept(SyntaxKind::Comma).is_some() {
                    max = if self.is(SyntaxKind::RBrace) { None } else { Some(self.count()?) };
                }
                self.close(SyntaxKind::RBrace, first)?;
                self.depth -= 1;
                (min, max)
            }
            _ => return Ok(None),
        };
        if let (min, Some(max)) = bounds
            && min > max
        {
            let span = self.since(first);
            self.sink.report(span, Mistake::RepeatOrder { min: min.into(), max: max.into() });
            return Ok(Some((min, None)));
        }
        Ok(Some(bounds))
    }

    fn count(&mut self) -> Parse<u32> {
        let lexeme = self.peek();
        let text = self.str(lexeme);
        if lexeme.kind != SyntaxKind::Number || !text.bytes().all(|b| b.is_ascii_digit()) {
            let found = self.found();
            return self.fail(Mistake::NumberExpected { expected: "a count", found });
        }
        let count = text.parse::<u32>().ok().filter(|&count| count <= self.limits.repeat_max);
        let Some(count) = count else {
            let count = if text.len() > 20 { format!("{}…", &text[..20]) } else { text.to_string() };
            let span = self.span(lexeme);
            self.sink.report(span, Mistake::RepeatTooLarge { count, limit: self.limits.repeat_max });
            self.next();
            return Ok(0);
        };
        self.next();
        Ok(count)
    }

    /// `~` binds tighter than repetition; two of them cancel.
    fn atom(&mut self) -> Parse<NodeId> {
        let first = self.peek();
        let mut complemented = false;
        let mut tildes = 0;
        while self.accept(SyntaxKind::Tilde).is_some() {
            complemented = !complemented;
            tildes += 1;
        }
        if tildes > 0 && self.is(SyntaxKind::Number) {
            return self.fail_expected("something to repeat before `~`");
        }
        let inner = match self.peek().kind {
            SyntaxKind::LParen => self.group(SyntaxKind::RParen)?,
            SyntaxKind::LBracket => self.group(SyntaxKind::RBracket)?,
            _ => self.value()?,
        };
        if tildes == 0 {
            return Ok(inner);
        }
        let span = self.since(first);
        let negated = self.node(NodeKind::Complement(inner), span);
        // `~~X` still has to be a terminal; it stays two complements.
        Ok(if complemented { negated } else { self.node(NodeKind::Complement(negated), span) })
    }

    fn group(&mut self, closing: SyntaxKind) -> Parse<NodeId> {
        self.enter()?;
        let opened = self.next();
        let body = self.choice(Place::Group)?;
        if self.is(SyntaxKind::Newline) && self.peek_after() == closing {
            self.next();
        }
        self.close(closing, opened)?;
        self.leave();
        let span = self.since(opened);
        Ok(match closing {
            SyntaxKind::RBracket => self.node(NodeKind::Repeat(body, 0, Some(1)), span),
            _ => self.node(NodeKind::Group(body), span),
        })
    }

    /// What stands without brackets.
    fn value(&mut self) -> Parse<NodeId> {
        let lexeme = self.peek();
        let span = self.span(lexeme);
        let kind = match lexeme.kind {
            SyntaxKind::String => {
                let low = self.string()?;
                if self.accept(SyntaxKind::DotDot).is_none() {
                    return Ok(low);
                }
                let high = self.string()?;
                let span = self.since(lexeme);
                return Ok(self.node(NodeKind::Range(low, high), span));
            }
            SyntaxKind::RuleName | SyntaxKind::TerminalName => return self.reference(),
            SyntaxKind::KwRegex | SyntaxKind::KwJson => {
                self.next();
                let json = self.json()?;
                let kind =
                    if lexeme.kind == SyntaxKind::KwRegex { NodeKind::RegexJson(json) } else { NodeKind::Json(json) };
                let span = self.since(lexeme);
                return Ok(self.node(kind, span));
            }
            SyntaxKind::KwLark => return self.nested(),
            SyntaxKind::Regex => NodeKind::Regex,
            SyntaxKind::GrammarRef => NodeKind::GrammarRef,
            SyntaxKind::SpecialToken => NodeKind::Token,
            SyntaxKind::Error => NodeKind::Error,
            _ => return self.fail_expected("a symbol, a literal or a group"),
        };
        self.next();
        Ok(self.node(kind, span))
    }

    /// A string's node.
    pub(crate) fn string(&mut self) -> Parse<NodeId> {
        let lexeme = self.expect(SyntaxKind::String)?;
        let span = self.span(lexeme);
        Ok(self.node(NodeKind::String, span))
    }

    fn reference(&mut self) -> Parse<NodeId> {
        let lexeme = self.next();
        let name = self.str(lexeme).to_string();
        if self.is(SyntaxKind::LBrace) && ![SyntaxKind::Number, SyntaxKind::Comma].contains(&self.peek_after()) {
            return self.fail(Mistake::Template);
        }
        if self.is(SyntaxKind::Colon) || (self.is(SyntaxKind::DoubleColon) && self.peek_after() == SyntaxKind::Colon) {
            return self.fail_expected("a symbol, a literal, `|` or the end of the line");
        }
        let mut param = None;
        if let Some(colons) = self.accept(SyntaxKind::DoubleColon) {
            if lexeme.kind == SyntaxKind::TerminalName {
                let span = self.span(colons);
                return self
                    .fail_at(span, Mistake::Expected { expected: "a rule before `::`", found: format!("`{name}`") });
            }
            param = Some(self.param_expr()?);
        }
        let span = self.since(lexeme);
        let kind = match lexeme.kind {
            SyntaxKind::TerminalName => NodeKind::Terminal(name),
            _ => NodeKind::Rule(name, param),
        };
        Ok(self.node(kind, span))
    }

    /// A stop or suffix: a string, a regex, a range or a terminal.
    pub(crate) fn terminal_value(&mut self) -> Parse<NodeId> {
        match self.peek().kind {
            SyntaxKind::String | SyntaxKind::Regex | SyntaxKind::TerminalName | SyntaxKind::KwRegex => self.value(),
            _ => self.fail_expected("a string, a regex or a terminal"),
        }
    }

    /// `%lark { … }`.
    fn nested(&mut self) -> Parse<NodeId> {
        self.enter()?;
        let keyword = self.next();
        let opened = self.expect(SyntaxKind::LBrace)?;
        let in_rule_body = self.in_rule_body;
        let grammar = self.statements(Some(opened));
        self.in_rule_body = in_rule_body;
        self.close(SyntaxKind::RBrace, opened)?;
        self.leave();
        let span = self.since(keyword);
        Ok(self.node(NodeKind::Lark(grammar), span))
    }
}
