//! Right-hand sides: alternatives, sequences, repetition and groups.
//!
//! Groups that are open stand in a list, so that reading does not recurse. After a mistake the alternative of the
//! outermost body is given up and reading goes on with the next one.

use larkspur_grammar::Span;

use crate::ast::{AstAlternative, Node, NodeId, NodeKind};
use crate::error::{LimitMistake, SyntaxMistake, TemplateMistake};
use crate::foreign::{Foreign, without_repetition};
use crate::lexer::{Lexeme, SyntaxKind, class_at, near_line};
use crate::parser::{Parse, Parser, Reported, SEQUENCE_ENDS};

/// A choice that is being read: a definition's body or a group's, and how far it is.
struct OpenChoice {
    /// What it stands in; nothing for a definition's body.
    group: Option<OpenGroup>,
    first: Lexeme,
    alternatives: Vec<AstAlternative>,
    /// Where the alternative begins.
    alternative: Lexeme,
    /// The sequences of the alternative that stand before `&`.
    operands: Vec<NodeId>,
    /// Where the sequence begins.
    sequence: Lexeme,
    parts: Vec<NodeId>,
}

/// A group whose end has not come yet.
struct OpenGroup {
    opened: Lexeme,
    closing: SyntaxKind,
    atom: Atom,
    /// The name of a template whose arguments these are, and those that are read.
    template: Option<(Lexeme, Vec<NodeId>)>,
}

/// Where an atom begins and the `~` before it.
#[derive(Clone, Copy)]
struct Atom {
    first: Lexeme,
    tildes: usize,
}

impl OpenChoice {
    fn new(first: Lexeme, group: Option<OpenGroup>) -> Self {
        Self {
            group,
            first,
            alternatives: Vec::new(),
            alternative: first,
            operands: Vec::new(),
            sequence: first,
            parts: Vec::new(),
        }
    }
    fn begin_alternative(&mut self, first: Lexeme) {
        self.alternative = first;
        self.operands.clear();
        self.begin_sequence(first);
    }
    fn begin_sequence(&mut self, first: Lexeme) {
        self.sequence = first;
        self.parts.clear();
    }
}

/// In place of a count that was over the limit.
const COUNT_REPORTED: u32 = u32::MAX;

impl Parser<'_, '_> {
    /// A definition's body: alternatives; the next line goes on if it begins with `|`.
    pub(crate) fn body(&mut self) -> Parse<NodeId> {
        let depth = self.depth;
        let mut first_node = self.nodes.len();
        *self.symbols += 1;
        let mut open = vec![OpenChoice::new(self.peek(), None)];
        loop {
            let alternatives = open[0].alternatives.len();
            match self.advance(&mut open) {
                Ok(Some(body)) => return Ok(body),
                Ok(None) if open[0].alternatives.len() > alternatives => first_node = self.nodes.len(),
                Ok(None) => {}
                Err(Reported) => {
                    open.truncate(1);
                    if self.is_over() || !self.skip_alternative(depth) {
                        return Err(Reported);
                    }
                    let span = self.span(open[0].first);
                    let body = self.broken(first_node, span);
                    open[0].alternatives.push(AstAlternative { body, alias: None, condition: None });
                    self.next();
                    *self.symbols += 1;
                    open[0].begin_alternative(self.peek());
                    first_node = self.nodes.len();
                }
            }
        }
    }

    /// Reads an item, or the end of a sequence and what it ends. Returns the body when it is whole.
    fn advance(&mut self, open: &mut Vec<OpenChoice>) -> Parse<Option<NodeId>> {
        let top = open.last_mut().expect("the body is open");
        if self.is_over() {
            return Err(Reported);
        }
        let group = top.group.as_ref().map(|group| (group.opened, group.closing));
        if self.steps_over_break(group) {
            return Ok(None);
        }
        let in_template = top.group.as_ref().is_some_and(|group| group.template.is_some());
        let ends = SEQUENCE_ENDS.contains(&self.peek().kind) || in_template && self.is(SyntaxKind::Comma);
        if !ends {
            if let Some(group) = self.item(&mut top.parts)? {
                *self.symbols += 1;
                open.push(OpenChoice::new(self.peek(), Some(group)));
            }
            return Ok(None);
        }
        if top.parts.is_empty() && (self.is(SyntaxKind::And) || !top.operands.is_empty()) {
            // Whatever follows is read all the same.
            let and = self.peek();
            let touches = |next: &Lexeme| next.start == and.end && and.kind == SyntaxKind::And;
            let _: Parse<()> = match self.lexemes.get(self.at + 1).is_some_and(touches) {
                true => self.fail(Foreign::Predicate { sign: "&" }),
                false => self.fail_expected("what `&` joins"),
            };
        }
        let sequence = self.sequence(top);
        top.operands.push(sequence);
        if self.accept(SyntaxKind::And).is_some() {
            top.begin_sequence(self.peek());
            return Ok(None);
        }
        let alternative = self.alternative(top)?;
        top.alternatives.push(alternative);
        if self.is(SyntaxKind::Newline) && self.peek_after() == SyntaxKind::VBar {
            self.next();
        }
        if let Some(bar) = self.accept(SyntaxKind::VBar) {
            if self.is(SyntaxKind::VBar) && self.peek().start == bar.end {
                let span = self.span(bar).to(self.here());
                self.sink.report(span, SyntaxMistake::NothingBetween { signs: "||" });
            }
            *self.symbols += 1;
            top.begin_alternative(self.peek());
            return Ok(None);
        }
        let top = open.pop().expect("the body is open");
        let span = self.since(top.first);
        let choice = match top.alternatives.as_slice() {
            &[AstAlternative { body, alias: None, condition: None }] => body,
            _ => self.node(NodeKind::Choice(top.alternatives), span),
        };
        match (top.group, open.last_mut()) {
            (Some(mut group), Some(outer)) => {
                if let Some((_, arguments)) = &mut group.template {
                    arguments.push(self.template_argument(choice));
                    if self.accept(SyntaxKind::Comma).is_some() {
                        open.push(OpenChoice::new(self.peek(), Some(group)));
                        return Ok(None);
                    }
                }
                let group_node = self.group_end(&mut group, choice)?;
                let item = self.item_end(group.atom, group_node)?;
                outer.parts.push(item);
                Ok(None)
            }
            _ => Ok(Some(choice)),
        }
    }

    /// The sequence that ends here.
    fn sequence(&mut self, choice: &mut OpenChoice) -> NodeId {
        let first = choice.sequence;
        let parts = std::mem::take(&mut choice.parts);
        if let [only] = parts.as_slice() {
            return *only;
        }
        let span = if parts.is_empty() { Span { end: first.start, ..self.span(first) } } else { self.since(first) };
        self.node(NodeKind::Sequence(parts), span)
    }

    /// The alternative whose last sequence has ended: joined by `&`, with its alias and condition.
    fn alternative(&mut self, choice: &mut OpenChoice) -> Parse<AstAlternative> {
        let operands = std::mem::take(&mut choice.operands);
        let body = match operands.as_slice() {
            [only] => *only,
            _ => {
                let span = self.since(choice.alternative);
                self.node(NodeKind::And(operands), span)
            }
        };
        let mut alias = None;
        if let Some(arrow) = self.accept(SyntaxKind::Arrow) {
            let name = self.any_name("the alias")?;
            if choice.group.is_some() {
                let span = self.span(arrow).to(name.span);
                self.sink.report(span, SyntaxMistake::AliasInGroup);
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

    /// Reads an atom and its repetition into `parts`, or the start of a group, which is returned.
    fn item(&mut self, parts: &mut Vec<NodeId>) -> Parse<Option<OpenGroup>> {
        let first = self.peek();
        let mut tildes = 0;
        while self.accept(SyntaxKind::Tilde).is_some() {
            tildes += 1;
        }
        if tildes > 0 && self.is(SyntaxKind::Number) {
            return self.fail_expected("something to repeat before `~`");
        }
        let atom = Atom { first, tildes };
        let mut template = None;
        self.no_empty_brackets();
        let closing = match self.peek().kind {
            SyntaxKind::LParen => SyntaxKind::RParen,
            SyntaxKind::LBracket => SyntaxKind::RBracket,
            SyntaxKind::LBrace if self.peek_after() != SyntaxKind::RBrace => {
                let (place, foreign) = (self.here(), self.braces());
                self.sink.report(place, foreign);
                SyntaxKind::RBrace
            }
            SyntaxKind::RuleName if self.begins_arguments(self.at + 1) => {
                template = Some((self.next(), Vec::new()));
                SyntaxKind::RBrace
            }
            _ => {
                let value = self.value()?;
                parts.push(self.item_end(atom, value)?);
                return Ok(None);
            }
        };
        self.enter()?;
        let opened = self.next();
        self.no_group_mark(opened);
        Ok(Some(OpenGroup { opened, closing, atom, template }))
    }

    /// Warns of `a[]` and `a()`: what is right behind a name looks like a part of it.
    fn no_empty_brackets(&mut self) {
        let opened = self.peek();
        let brackets = match (opened.kind, self.peek_after()) {
            (SyntaxKind::LParen, SyntaxKind::RParen) => "()",
            (SyntaxKind::LBracket, SyntaxKind::RBracket) => "[]",
            _ => return,
        };
        let is_name = |kind| matches!(kind, SyntaxKind::RuleName | SyntaxKind::TerminalName);
        let touches = |last: &Lexeme| last.end == opened.start && is_name(last.kind);
        if self.at > 0 && touches(&self.lexemes[self.at - 1]) {
            let span = Span { end: self.lexemes[self.at + 1].end, ..self.span(opened) };
            self.sink.report(span, SyntaxMistake::NothingBetween { signs: brackets });
        }
    }

    /// Reports `(?:`, and skips what is too much of it.
    fn no_group_mark(&mut self, opened: Lexeme) {
        let is_mark = opened.kind == SyntaxKind::LParen && self.peek().start == opened.end;
        if is_mark && self.is(SyntaxKind::Question) && self.peek_after() == SyntaxKind::Colon {
            self.next();
            self.next();
            let span = self.since(opened);
            self.sink.report(span, Foreign::GroupMark);
        }
    }

    /// What to say of the brace here, which begins no repetition.
    fn braces(&self) -> Foreign {
        let line = near_line(self.text, self.peek().start as usize + 1);
        let inner = line.find('}').map(|end| line[..end].trim().to_string());
        Foreign::Braces { inner: inner.filter(|inner| !inner.contains('{')) }
    }

    /// Whether a lexeme behind a brace begins counts, right or wrong.
    fn begins_counts(&self, at: usize) -> bool {
        matches!(self.kind(at), SyntaxKind::Number | SyntaxKind::Comma) || self.is_negative(at)
    }
    /// Whether a number with a `-` before it stands at a lexeme.
    fn is_negative(&self, at: usize) -> bool {
        self.kind(at) == SyntaxKind::Minus && self.kind(at + 1) == SyntaxKind::Number
    }

    /// Whether the brace at a lexeme, behind an item, is no repetition of it, but that of another language.
    fn is_foreign_brace(&self, at: usize) -> bool {
        let is_apart = at > 0 && self.lexemes[at - 1].end < self.lexemes[at].start;
        let is_count = self.kind(at + 1) == SyntaxKind::RBrace || self.begins_counts(at + 1);
        self.kind(at) == SyntaxKind::LBrace && is_apart && !is_count
    }

    /// Whether a template's arguments begin at a lexeme: a brace that begins no repetition.
    fn begins_arguments(&self, at: usize) -> bool {
        if self.kind(at) != SyntaxKind::LBrace || self.begins_counts(at + 1) {
            return false;
        }
        // `x { x }` of a rule that is no template is a repetition in EBNF.
        let name = self.lexemes[at - 1];
        let is_rule = || name.kind == SyntaxKind::TerminalName || self.heads().get(self.str(name)) == Some(&false);
        !(self.is_foreign_brace(at) && is_rule())
    }

    /// As in Lark an argument is a symbol, a literal, a range or a template with its arguments.
    fn template_argument(&mut self, node: NodeId) -> NodeId {
        let Node { kind, span } = &self.nodes[node];
        let span = *span;
        let is_value = match kind {
            NodeKind::Rule(_, param) => param.is_none(),
            NodeKind::Terminal(_)
            | NodeKind::Template(..)
            | NodeKind::String
            | NodeKind::Regex
            | NodeKind::Range(..) => true,
            NodeKind::Token | NodeKind::GrammarRef | NodeKind::RegexJson(_) | NodeKind::Error => true,
            _ => false,
        };
        if is_value {
            return node;
        }
        self.sink.report(span, TemplateMistake::Argument);
        self.node(NodeKind::Error, span)
    }

    /// The group that ends here, with its bracket.
    fn group_end(&mut self, group: &mut OpenGroup, body: NodeId) -> Parse<NodeId> {
        if self.is(SyntaxKind::Newline) && self.peek_after() == group.closing {
            self.next();
        }
        self.close(group.closing, group.opened)?;
        self.leave();
        if let Some((name, arguments)) = group.template.take() {
            let span = self.since(name);
            let name = self.str(name).to_string();
            return Ok(self.node(NodeKind::Template(name, arguments), span));
        }
        let span = self.since(group.opened);
        Ok(match group.closing {
            SyntaxKind::RBracket => self.node(NodeKind::Repeat(body, 0, Some(1)), span),
            _ => self.node(NodeKind::Group(body), span),
        })
    }

    /// What stands around a value or group: `~` before it, which binds tighter, and a repetition behind it.
    fn item_end(&mut self, atom: Atom, inner: NodeId) -> Parse<NodeId> {
        let mut node = inner;
        // Two `~` cancel, but what they stand before still has to be a terminal: an even number stays two.
        let complements = if atom.tildes == 0 { 0 } else { 2 - atom.tildes % 2 };
        for _ in 0..complements {
            let span = self.since(atom.first);
            node = self.node(NodeKind::Complement(node), span);
        }
        let Some((min, max)) = self.repetition()? else { return Ok(node) };
        self.no_attributes();
        let span = self.since(atom.first);
        let repeat = self.node(NodeKind::Repeat(node, min, max), span);
        let second = self.peek();
        while self.repetition()?.is_some() {
            let span = self.since(second);
            self.sink.report(span, SyntaxMistake::RepeatTwice);
        }
        Ok(repeat)
    }

    /// Whether a `~` and a count in braces stand here.
    fn is_braced_count(&self) -> bool {
        let is_count = matches!(self.kind(self.at + 2), SyntaxKind::Number | SyntaxKind::Comma);
        self.is(SyntaxKind::Tilde) && self.peek_after() == SyntaxKind::LBrace && is_count
    }
    /// Reports `~{2,5}`, of which the braces stand here.
    fn braced_count(&mut self, tilde: Lexeme) {
        let line = near_line(self.text, self.peek().start as usize + 1);
        let counts = line[..line.find('}').unwrap_or(line.len())].replace([' ', '\t'], "");
        let span = self.span(tilde);
        self.sink.report(span, Foreign::CountBraces { counts });
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
                let min = if self.reports_other_counts(first, false) { COUNT_REPORTED } else { min };
                let max = if self.accept(SyntaxKind::DotDot).is_some() { self.count()? } else { min };
                (min, Some(max))
            }
            SyntaxKind::LBrace if self.is_foreign_brace(self.at) => return Ok(None),
            SyntaxKind::LBrace | SyntaxKind::Tilde if first.kind == SyntaxKind::LBrace || self.is_braced_count() => {
                if self.accept(SyntaxKind::Tilde).is_some() {
                    self.braced_count(first);
                }
                self.next();
                // Open, for recovery; it does not nest.
                self.depth += 1;
                let min = if self.is(SyntaxKind::Comma) { 0 } else { self.count()? };
                let min = if self.reports_other_counts(first, true) { COUNT_REPORTED } else { min };
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
        if bounds.0 == COUNT_REPORTED || bounds.1 == Some(COUNT_REPORTED) {
            return Ok(Some((0, None)));
        }
        if let (min, Some(max)) = bounds
            && min > max
        {
            let span = self.since(first);
            self.sink.report(span, SyntaxMistake::RepeatOrder { min: min.into(), max: max.into() });
            return Ok(Some((min, None)));
        }
        Ok(Some(bounds))
    }

    /// Whether `~2-5`, `{2-5}` or `{2..5}` goes on here; what is reported is skipped.
    fn reports_other_counts(&mut self, first: Lexeme, braces: bool) -> bool {
        let is_sign = self.is(SyntaxKind::Minus) || braces && self.is(SyntaxKind::DotDot);
        if !is_sign || self.peek_after() != SyntaxKind::Number {
            return false;
        }
        let sign = self.str(self.peek()).to_string();
        let min = self.str(self.lexemes[self.at - 1]).to_string();
        self.next();
        let last = self.next();
        let max = self.str(last).to_string();
        let span = self.since(first);
        self.sink.report(span, Foreign::CountSign { sign, braces, min, max });
        true
    }

    /// A number, or a name in place of one, is skipped if it is no count, so that others are read.
    fn count(&mut self) -> Parse<u32> {
        let lexeme = self.peek();
        let text = self.str(lexeme);
        if self.is_negative(self.at) {
            let span = self.span(lexeme).to(self.span(self.lexemes[self.at + 1]));
            self.next();
            let found = format!("`-{}`", self.str(self.peek()));
            self.sink.report(span, SyntaxMistake::NumberExpected { expected: "a count", found });
            self.next();
            return Ok(COUNT_REPORTED);
        }
        if lexeme.kind != SyntaxKind::Number || !text.bytes().all(|b| b.is_ascii_digit()) {
            let found = self.found();
            let _: Parse<()> = self.fail(SyntaxMistake::NumberExpected { expected: "a count", found });
            let is_meant_as_one =
                matches!(lexeme.kind, SyntaxKind::Number | SyntaxKind::RuleName | SyntaxKind::TerminalName);
            if !is_meant_as_one {
                return Err(Reported);
            }
            self.next();
            return Ok(COUNT_REPORTED);
        }
        let count = text.parse::<u32>().ok().filter(|&count| count <= self.limits.repeat_max);
        let Some(count) = count else {
            let count = if text.len() > 20 { format!("{}…", &text[..20]) } else { text.to_string() };
            let span = self.span(lexeme);
            self.sink.report(span, LimitMistake::RepeatTooLarge { count, limit: self.limits.repeat_max });
            self.next();
            return Ok(COUNT_REPORTED);
        };
        self.next();
        Ok(count)
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
            SyntaxKind::Inner => {
                let index = self.inner.partition_point(|(_, body)| body.start < lexeme.start);
                let (language, body) = self.inner[index];
                NodeKind::Inner(language, body)
            }
            SyntaxKind::Regex => NodeKind::Regex,
            SyntaxKind::GrammarRef => NodeKind::GrammarRef,
            SyntaxKind::SpecialToken => NodeKind::Token,
            SyntaxKind::Error => NodeKind::Error,
            _ => return self.no_value(),
        };
        self.next();
        Ok(self.node(kind, span))
    }

    /// Reports what is no item.
    fn no_value<T>(&mut self) -> Parse<T> {
        let first = self.peek();
        let at = first.start as usize;
        if let Some(class) = class_at(self.text, at) {
            return self.fail(Foreign::Class { class });
        }
        let touches = self.lexemes.get(self.at + 1).is_some_and(|next| next.start == first.end);
        let foreign = match first.kind {
            SyntaxKind::Dot => Foreign::AnyCharacter,
            SyntaxKind::Comma => Foreign::Comma,
            SyntaxKind::Bang if touches => Foreign::Predicate { sign: "!" },
            SyntaxKind::LBrace => self.braces(),
            _ => return self.fail_expected("a symbol, a literal or a group"),
        };
        self.fail(foreign)
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
        if self.is(SyntaxKind::Dot) && [SyntaxKind::RuleName, SyntaxKind::TerminalName].contains(&self.peek_after()) {
            self.next();
            let last = self.next();
            let foreign =
                Foreign::Path { module: name, name: self.str(last).to_string(), ignored: self.is_ignored(lexeme) };
            return self.fail_foreign(lexeme, foreign);
        }
        if self.is(SyntaxKind::Dot) && self.peek_after() == SyntaxKind::Number {
            self.next();
            let last = self.next();
            let priority = self.str(last).to_string();
            return self.fail_foreign(lexeme, Foreign::PriorityAtUse { name, priority });
        }
        if self.begins_arguments(self.at) {
            let span = self.span(lexeme);
            return self
                .fail_at(span, SyntaxMistake::Expected { expected: "a rule before `{`", found: format!("`{name}`") });
        }
        self.no_attributes();
        if self.is(SyntaxKind::Colon) || (self.is(SyntaxKind::DoubleColon) && self.peek_after() == SyntaxKind::Colon) {
            return self.fail_expected("a symbol, a literal, `|` or the end of the line");
        }
        let mut param = None;
        if let Some(colons) = self.accept(SyntaxKind::DoubleColon) {
            if lexeme.kind == SyntaxKind::TerminalName {
                let span = self.span(colons);
                return self.fail_at(
                    span,
                    SyntaxMistake::Expected { expected: "a rule before `::`", found: format!("`{name}`") },
                );
            }
            param = Some(self.param_expr()?);
        }
        let span = self.since(lexeme);
        let kind = match lexeme.kind {
            SyntaxKind::TerminalName => NodeKind::Terminal(name),
            _ => NodeKind::Rule(name, param.map(Box::new)),
        };
        Ok(self.node(kind, span))
    }

    /// Reports attributes right behind a name that is used, or its repetition, and skips them: to their `]`, or without one
    /// to the end of the line.
    fn no_attributes(&mut self) {
        let opened = self.peek();
        if opened.kind != SyntaxKind::LBracket {
            return;
        }
        let before = without_repetition(&self.text[..opened.start as usize]);
        let item = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let name = &before[item.len()..];
        if name.is_empty() || self.peek_after() != SyntaxKind::RuleName {
            return;
        }
        let attribute = self.str(self.lexemes[self.at + 1]);
        let line = self.rest_of_line();
        let is_end = |lexeme: &Lexeme| lexeme.kind == SyntaxKind::RBracket;
        let close = line.iter().position(is_end);
        let attributes = &line[..close.unwrap_or(line.len())];
        let has_value = attributes.iter().any(|lexeme| lexeme.kind == SyntaxKind::Equals);
        if !has_value || !crate::attributes::NAMES.contains(&attribute) {
            return;
        }
        let last = attributes[attributes.len() - 1];
        let span = self.span(opened).to(self.span(close.map_or(last, |close| line[close])));
        let inside = self.text[opened.end as usize..last.end as usize].trim().to_string();
        let name = name.to_string();
        self.sink.report(span, Foreign::AttributesAtUse { name, inside });
        self.at += close.map_or(line.len(), |close| close + 1);
    }

    /// Whether a lexeme stands right behind `%ignore`.
    fn is_ignored(&self, lexeme: Lexeme) -> bool {
        self.text[..lexeme.start as usize].trim_end_matches([' ', '\t']).ends_with("%ignore")
    }

    /// A stop or suffix: a string, a regex, a range or a terminal.
    pub(crate) fn terminal_value(&mut self) -> Parse<NodeId> {
        match self.peek().kind {
            SyntaxKind::String | SyntaxKind::Regex | SyntaxKind::TerminalName | SyntaxKind::KwRegex => self.value(),
            _ => self.fail_expected("a string, a regex or a terminal"),
        }
    }
}
