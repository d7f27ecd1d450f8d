//! GBNF text to [`Ast`]. After a mistake it goes on with what follows, so that all mistakes show in one run.

use larkspur_grammar::diagnostic::{TooMuch, escaped_end, one_character_each, shown_character};
use larkspur_grammar::{CharClass, IndexVec, Limits, SourceId, Span, behind_bom, index::Id, typographic};

use crate::ast::{Ast, Definition, Node, NodeId, NodeKind, Symbol, Tree};
use crate::characters::character;
use crate::error::{Mistake, Sink};

struct Parser<'a> {
    /// Up to the body's end.
    text: &'a str,
    at: usize,
    /// Where the body begins.
    begin: usize,
    source: SourceId,
    limits: &'a Limits,
    sink: &'a mut Sink,
    nodes: IndexVec<NodeId, Node>,
    comments: Vec<Span>,
    /// Names whose definitions were left out.
    unread: Vec<String>,
    /// Names with other letters than ASCII's that were reported.
    not_ascii: Vec<String>,
}

/// Alternatives that are being read: those of a group, or of a whole rule.
struct Open {
    /// Where the group was opened.
    start: usize,
    finished: Vec<NodeId>,
    sequence: Vec<NodeId>,
    sequence_start: usize,
}

impl Open {
    fn new(start: usize, sequence_start: usize) -> Self {
        Self { start, finished: Vec::new(), sequence: Vec::new(), sequence_start }
    }
}

/// Reads a part of a text; `None` if there is too much of it, which is then reported.
pub(crate) fn parse(text: &str, body: Span, limits: &Limits, sink: &mut Sink) -> Option<Ast> {
    let (text, begin) = (&text[..body.end as usize], body.start as usize);
    let (nodes, comments) = (IndexVec::new(), Vec::new());
    let at = begin + behind_bom(&text[begin..]);
    let (unread, not_ascii) = (Vec::new(), Vec::new());
    let mut parser = Parser { text, at, begin, source: body.source, limits, sink, nodes, comments, unread, not_ascii };
    let mut definitions = Vec::new();
    loop {
        parser.space(true);
        if parser.at == text.len() || parser.sink.must_stop() {
            let tree = Tree { definitions, unread: parser.unread, nodes: parser.nodes };
            return Some(Ast { tree, comments: parser.comments });
        }
        let start = parser.at;
        definitions.extend(parser.definition());
        if let Some(too_much) = TooMuch::symbols(parser.nodes.len() + definitions.len(), limits) {
            parser.sink.report(Span::new(body.source, start, start), too_much);
            return None;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

impl Parser<'_> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }
    fn since(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at)
    }
    /// The character here, or none at the end.
    fn here(&self) -> Span {
        Span::new(self.source, self.at, self.at + self.here_len())
    }
    fn here_len(&self) -> usize {
        self.rest().chars().next().map_or(0, char::len_utf8)
    }
    fn found(&self) -> String {
        match self.rest().chars().next() {
            None => "the end".to_owned(),
            Some('\n' | '\r') => "the end of the line".to_owned(),
            Some(c) => format!("`{}`", shown_character(c)),
        }
    }
    fn node(&mut self, kind: NodeKind, start: usize) -> NodeId {
        let span = self.since(start);
        self.nodes.push(Node { kind, span })
    }
    fn has_too_many_nodes(&self) -> bool {
        TooMuch::symbols(self.nodes.len(), self.limits).is_some()
    }

    /// Skips blanks and comments, and line breaks if these are blanks here.
    fn space(&mut self, newlines: bool) {
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' => self.at += 1,
                b'\n' | b'\r' if newlines => self.at += 1,
                b'#' => {
                    let start = self.at;
                    self.skip_line();
                    // Some places are looked at twice.
                    if self.comments.last().is_none_or(|last| (last.start as usize) < start) {
                        self.comments.push(self.since(start));
                    }
                }
                _ => return,
            }
        }
    }
    fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.find(['\n', '\r']).unwrap_or(rest.len());
    }
    /// The word here; empty if there is none. Letters beyond ASCII are a mistake, but a part of it.
    fn word(&mut self) -> &str {
        let start = self.at;
        while self.byte().is_some_and(|byte| is_word(byte) || !byte.is_ascii() && self.is_letter()) {
            self.at += self.here_len();
        }
        &self.text[start..self.at]
    }
    fn is_letter(&self) -> bool {
        self.rest().starts_with(char::is_alphanumeric)
    }
    /// The name here, empty if there is none; one with letters beyond ASCII is reported where it stands first.
    fn name(&mut self) -> String {
        let start = self.at;
        let name = self.word().to_owned();
        if !name.is_ascii() && !self.not_ascii.contains(&name) {
            self.sink.report(self.since(start), Mistake::NameNotAscii { name: name.clone() });
            self.not_ascii.push(name.clone());
        }
        name
    }
    /// Whether the word here is a rule's that is being defined.
    fn is_definition(&mut self) -> bool {
        let start = self.at;
        self.word();
        self.space(false);
        let is_name = self.at > start;
        let (is_definition, is_foreign) = (self.rest().starts_with("::="), self.foreign_sign().is_some());
        self.at = start;
        is_name && (is_definition || is_foreign && self.is_first_on_line())
    }
    /// The sign here with which other languages define.
    fn foreign_sign(&self) -> Option<&'static str> {
        [":=", "->", "<-", "=>", "=", ":"].into_iter().find(|sign| self.rest().starts_with(sign))
    }
    /// The name of `<name> ::=` here, and how long that is without the sign.
    fn angle_name(&self) -> Option<(String, usize)> {
        let (name, behind) = self.rest().strip_prefix('<')?.split_once('>')?;
        let is_name = !name.is_empty() && name.len() < 80 && !name.contains('\n');
        (is_name && behind.trim_start_matches([' ', '\t']).starts_with("::="))
            .then(|| (name.to_owned(), name.len() + 2))
    }
    /// Whether only blanks stand before this on its line.
    fn is_first_on_line(&self) -> bool {
        let before = &self.text[self.begin..self.at];
        let line = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        before[line..].trim_start_matches([' ', '\t']).is_empty()
    }

    /// `name ::= alternatives`. Without a sign of a definition the line is left out.
    fn definition(&mut self) -> Option<Definition> {
        let start = self.at;
        let name = self.name();
        let name_span = self.since(start);
        if let Some((name, len)) = self.angle_name().filter(|_| name.is_empty()) {
            self.at += len;
            self.sink.report(self.since(start), Mistake::AngleName { name });
            self.skip_line();
            return None;
        }
        if name.is_empty() {
            if self.rest().starts_with("(*") {
                self.comment_sign();
                return None;
            }
            if self.rest().starts_with("//") || self.rest().starts_with("/*") {
                self.comment_sign();
                return None;
            }
            let mistake = match self.rest().chars().next() {
                Some(found @ ('\'' | '/')) => Mistake::UnexpectedCharacter { found },
                _ => Mistake::NameExpected { found: self.found() },
            };
            self.sink.report(self.here(), mistake);
            self.skip_line();
            return None;
        }
        self.space(false);
        if self.rest().starts_with("::=") {
            self.at += 3;
        } else {
            let found = self.found();
            let sign = self.foreign_sign();
            let place =
                Span::new(self.source, self.at, self.at + sign.map_or(self.here().end as usize - self.at, str::len));
            let found = sign.map_or(found, |sign| format!("`{sign}`"));
            self.sink.report(place, Mistake::DefinitionSign { found });
            match sign {
                // What is meant is clear: the rest is read.
                Some(sign) => self.at += sign.len(),
                None => {
                    self.unread.push(name);
                    self.skip_line();
                    return None;
                }
            }
        }
        let head = self.since(start);
        self.space(true);
        let first = NodeId::from_index(self.nodes.len());
        // The next rule's name would be read as a part of this one.
        let body = if self.is_new_rule() {
            self.sink.report(head, Mistake::RuleEmpty { name: name.clone() });
            self.node(NodeKind::Sequence(Vec::new()), head.start as usize)
        } else {
            self.alternatives()
        };
        Some(Definition { name, name_span, body, first })
    }

    /// A rule's right-hand side, up to the end of its line. Groups that are open stand in a list, so that reading does
    /// not recurse.
    fn alternatives(&mut self) -> NodeId {
        let mut open = vec![Open::new(self.at, self.at)];
        loop {
            if self.has_too_many_nodes() {
                // Where the groups end was not looked at.
                open.truncate(1);
                break;
            }
            let nested = open.len() > 1;
            self.space(nested);
            let start = self.at;
            let Some(byte) = self.byte() else { break };
            match byte {
                b'\n' | b'\r' => {
                    self.space(true);
                    // A line that begins with `|` goes on with the rule.
                    if self.byte() != Some(b'|') {
                        self.at = start;
                        break;
                    }
                }
                b'|' => {
                    self.at += 1;
                    self.finish_sequence(open.last_mut().expect("one is open"), start);
                    self.space(true);
                    open.last_mut().expect("one is open").sequence_start = self.at;
                    if self.is_new_rule() {
                        break;
                    }
                }
                b'(' if self.rest().starts_with("(*") => self.comment_sign(),
                b'(' => {
                    self.at += 1;
                    if open.len() > self.limits.grammar_depth_max {
                        let limit = self.limits.grammar_depth_max;
                        let too_much = TooMuch::Depth { limit, what: "groups" };
                        self.sink.report(self.since(start), too_much);
                        // Where the groups end was not looked at.
                        open.truncate(1);
                        self.at = self.text.len();
                        break;
                    }
                    if self.byte() == Some(b'=') {
                        self.at += 1;
                        self.sink.report(self.since(start), Mistake::LookAhead);
                    }
                    self.space(true);
                    open.push(Open::new(start, self.at));
                }
                b')' => {
                    self.at += 1;
                    match open.len() {
                        1 => self.sink.report(self.since(start), Mistake::GroupNotOpen),
                        _ => {
                            let inner = open.pop().expect("a group");
                            let (group_start, node) = (inner.start, self.finish(inner, start));
                            self.nodes[node].span = self.since(group_start);
                            open.last_mut().expect("the outer one").sequence.push(node);
                        }
                    }
                }
                b'?' if self.is_group_mark() => {
                    self.at += 2;
                    self.sink.report(Span::new(self.source, start - 1, self.at), Mistake::GroupMark);
                }
                b'*' | b'+' | b'?' => {
                    self.at += 1;
                    let (min, max) = match byte {
                        b'*' => (0, None),
                        b'+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    self.repeat(open.last_mut().expect("one is open"), min, max, start);
                }
                b'{' => {
                    if let Some((min, max)) = self.counts() {
                        self.repeat(open.last_mut().expect("one is open"), min, max, start);
                    }
                }
                b'-' if self.rest().starts_with("->") => {
                    self.at += 2;
                    self.space(false);
                    self.word();
                    self.sink.report(self.since(start), Mistake::Alias);
                }
                _ if is_word(byte) || !byte.is_ascii() && self.is_letter() => {
                    if self.is_definition() {
                        let is_first = self.is_first_on_line();
                        if is_first && nested {
                            break;
                        }
                        if !is_first {
                            let name = self.word().to_owned();
                            self.sink.report(self.since(start), Mistake::DefinitionOnLine { name });
                            self.at = start;
                            break;
                        }
                    }
                    let name = self.name();
                    if name == "TagDispatch" && self.byte() == Some(b'(') {
                        self.sink.report(self.since(start), Mistake::TagDispatch);
                        self.skip_line();
                        continue;
                    }
                    let node = self.node(NodeKind::Name(name), start);
                    open.last_mut().expect("one is open").sequence.push(node);
                }
                _ => {
                    if let Some(node) = self.symbol(byte) {
                        open.last_mut().expect("one is open").sequence.push(node);
                    }
                }
            }
            if self.sink.must_stop() {
                break;
            }
        }
        let end = self.at;
        while open.len() > 1 {
            let inner = open.pop().expect("a group");
            let opened = Span::new(self.source, inner.start, inner.start + 1);
            let line_end = self.text[..end].trim_end().len();
            self.sink.report(Span::new(self.source, line_end, line_end), Mistake::UnclosedGroup { opened });
            let node = self.finish(inner, end);
            open.last_mut().expect("the outer one").sequence.push(node);
        }
        let whole = open.pop().expect("the rule's own");
        self.finish(whole, end)
    }

    /// Whether the next rule stands behind the blanks here, and where these end.
    fn rule_behind_blanks(&mut self) -> (bool, usize) {
        let start = self.at;
        self.space(true);
        let found = (self.is_definition(), self.at);
        self.at = start;
        found
    }

    /// Whether the next rule begins here, on a line of its own.
    fn is_new_rule(&mut self) -> bool {
        // In this order: the line is looked at back to its start, and may be long.
        self.is_definition() && self.is_first_on_line()
    }

    fn finish_sequence(&mut self, open: &mut Open, end: usize) {
        let parts = std::mem::take(&mut open.sequence);
        let node = match parts.as_slice() {
            &[only] => only,
            _ => {
                let span = Span::new(self.source, open.sequence_start.min(end), end);
                self.nodes.push(Node { kind: NodeKind::Sequence(parts), span })
            }
        };
        open.finished.push(node);
    }

    fn finish(&mut self, mut open: Open, end: usize) -> NodeId {
        self.finish_sequence(&mut open, end);
        match open.finished.as_slice() {
            &[only] => only,
            _ => {
                let span = Span::new(self.source, open.start, end);
                self.nodes.push(Node { kind: NodeKind::Choice(open.finished), span })
            }
        }
    }

    fn repeat(&mut self, open: &mut Open, min: u32, max: Option<u32>, start: usize) {
        let Some(child) = open.sequence.pop() else {
            return self.sink.report(self.since(start), Mistake::RepeatNothing);
        };
        let begin = self.nodes[child].span.start as usize;
        let node = self.node(NodeKind::Repeat(child, min, max), begin);
        open.sequence.push(node);
    }

    /// `{m}`, `{m,}`, `{m,n}`; `None` if it is none, which is then reported.
    fn counts(&mut self) -> Option<(u32, Option<u32>)> {
        let start = self.at;
        self.at += 1;
        self.space(true);
        let min = self.number();
        self.space(true);
        let max = match self.byte() {
            Some(b',') => {
                self.at += 1;
                self.space(true);
                let max = self.number();
                self.space(true);
                max
            }
            _ => min,
        };
        if self.byte() != Some(b'}') {
            self.no_counts(start);
            return None;
        }
        self.at += 1;
        let limit = self.limits.repeat_max;
        let Some(min) = min else {
            let reason = "the smallest count is missing";
            let meant = max.map(|max| format!("{{0,{max}}}"));
            self.sink.report(self.since(start), Mistake::RepeatCounts { reason, meant });
            return None;
        };
        let largest = max.unwrap_or(min).max(min);
        if largest > u64::from(limit) {
            self.sink.report(self.since(start), TooMuch::Count { limit, what: "repetition" });
            return None;
        }
        let (min, max) = (min as u32, max.map(|max| max as u32));
        if let Some(max) = max.filter(|&max| max < min) {
            self.sink.report(self.since(start), Mistake::RepeatOrder { min, max });
            return None;
        }
        Some((min, max))
    }

    /// Reports what stands in braces and is no counts, and goes on behind it, at the line's end if they are not closed.
    fn no_counts(&mut self, start: usize) {
        let behind = &self.text[start + 1..];
        let line = &behind[..behind.find(['\n', '\r']).unwrap_or(behind.len())];
        let Some((inner, _)) = line.split_once('}') else {
            self.at = start + 1 + line.len();
            let reason = "counts in braces are not closed on their line";
            return self.sink.report(self.since(start), Mistake::RepeatCounts { reason, meant: None });
        };
        self.at = start + 1 + inner.len() + 1;
        let inner = inner.trim();
        if inner.contains(['"', '[', '(', '<']) || inner.starts_with(|c: char| c.is_alphabetic()) {
            let mistake = Mistake::Braces { inner: inner.to_owned() };
            return self.sink.report(Span::new(self.source, start, start + 1), mistake);
        }
        let numbers: Vec<&str> =
            inner.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect();
        let meant = match (numbers.as_slice(), inner.contains("..") || !inner.contains('.')) {
            ([min, max], true) => Some(format!("{{{min},{max}}}")),
            _ => None,
        };
        let reason = "counts are whole numbers with a comma between them";
        self.sink.report(self.since(start), Mistake::RepeatCounts { reason, meant });
    }

    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        while self.byte().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        let digits = &self.text[start..self.at];
        (!digits.is_empty()).then(|| digits.parse().unwrap_or(u64::MAX))
    }

    /// Whether the `?` here is that of `(?:`.
    fn is_group_mark(&self) -> bool {
        self.rest().starts_with("?:") && self.text[..self.at].ends_with('(')
    }

    /// `\d+` and the like outside of a class, which is skipped. `None` if it is none.
    fn regex_escape(&mut self) -> Option<()> {
        let start = self.at;
        let class = self.rest().strip_prefix('\\')?.chars().next().filter(|c| "dDwWsSbB".contains(*c))?;
        let rest = self.rest();
        self.at += rest.find([' ', '\t', '\r', '\n', '"', '|', ')', '/', '#']).unwrap_or(rest.len());
        self.sink.report(self.since(start), Mistake::RegexEscape { class });
        Some(())
    }

    /// `%json {…}` and other directives of Lark, which are skipped.
    fn directive(&mut self) {
        let start = self.at;
        self.at += 1;
        let word = self.word().to_owned();
        let place = self.since(start);
        self.space(false);
        let mut depth = 0usize;
        let line = self.text[self.at..].find(['\n', '\r']).map_or(self.text.len(), |len| self.at + len);
        // Its value may go over lines, if it is closed.
        let end = self.text[self.at..].bytes().position(|byte| {
            depth += usize::from(byte == b'{');
            depth = depth.saturating_sub(usize::from(byte == b'}'));
            depth == 0
        });
        if self.byte() == Some(b'{') {
            self.at = end.map_or(line, |len| self.at + len + 1);
        }
        self.sink.report(place, Mistake::Directive { word });
    }

    /// A string, class, `.` or token; `None` if it is none, which is then reported.
    fn symbol(&mut self, byte: u8) -> Option<NodeId> {
        match byte {
            b'"' => self.string(),
            b'[' => self.class(),
            b'.' => {
                let start = self.at;
                self.range_dots();
                self.at += 1;
                Some(self.node(NodeKind::Symbol(Symbol::Class(CharClass::all())), start))
            }
            b'<' | b'!' => self.token(),
            b'/' if self.rest().starts_with("//") || self.rest().starts_with("/*") => {
                self.comment_sign();
                None
            }
            b'/' if self.rest()[1..].starts_with([' ', '\t', '"', '\n', '\r']) => {
                self.sink.report(self.here(), Mistake::ChoiceSlash);
                self.at += 1;
                None
            }
            b'\\' if self.regex_escape().is_some() => None,
            b'%' if self.rest()[1..].starts_with(|c: char| c.is_ascii_alphabetic()) => {
                self.directive();
                None
            }
            _ => {
                let span = self.here();
                let found = self.rest().chars().next().expect("a character");
                if let Some((inner, len)) = typographic(self.rest()) {
                    let (start, inner) = (self.at, inner.to_owned());
                    self.at += len;
                    self.sink.report(self.since(start), Mistake::TypographicQuotes { inner });
                    return None;
                }
                self.sink.report(span, Mistake::UnexpectedCharacter { found });
                // The whole of a quoted text or regex is one mistake.
                let line = &self.text[span.end as usize..];
                let line = &line[..line.find(['\n', '\r']).unwrap_or(line.len())];
                let len = if matches!(found, '\'' | '/') { line.find(found).map_or(0, |at| at + 1) } else { 0 };
                self.at = span.end as usize + len;
                None
            }
        }
    }

    /// A comment of another language, which is skipped.
    fn comment_sign(&mut self) {
        let start = self.at;
        self.sink.report(Span::new(self.source, start, start + 2), Mistake::CommentSign);
        let rest = self.rest();
        let (open, close) = if rest.starts_with("(*") { ("(*", "*)") } else { ("/*", "*/") };
        match rest.strip_prefix(open).and_then(|rest| rest.find(close)) {
            Some(len) => self.at += len + 4,
            None => self.skip_line(),
        }
    }

    /// Warns of `"a".."z"`.
    fn range_dots(&mut self) {
        let (before, rest) = (&self.text[self.begin..self.at], self.rest());
        let Some(after) = rest.strip_prefix("..") else { return };
        if let Some((low, high)) = one_character_each(before, after) {
            let mistake = Mistake::RangeDots { low: low.to_owned(), high: high.to_owned() };
            self.sink.report(Span::new(self.source, self.at, self.at + 2), mistake);
        }
    }

    /// A character of a string or class. `None` if it is no escape, which is then reported.
    fn character(&mut self) -> Option<char> {
        match character(self.rest()) {
            Ok((c, len)) => {
                self.at += len;
                Some(c)
            }
            Err((len, reason)) => {
                let start = self.at;
                self.at += len;
                let escape = self.text[start..self.at].to_owned();
                self.sink.report(self.since(start), Mistake::EscapeBad { escape, reason });
                None
            }
        }
    }

    fn string(&mut self) -> Option<NodeId> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            match self.byte() {
                None => return self.unclosed_string(start),
                Some(b'"') => break,
                Some(_) => text.extend(self.character()),
            }
        }
        self.at += 1;
        if self.holds_rule(start) {
            return self.unclosed_string(start);
        }
        Some(self.node(NodeKind::Symbol(Symbol::Literal(text)), start))
    }

    /// Goes on at the end of the string's line, so that what follows is read.
    fn unclosed_string(&mut self, start: usize) -> Option<NodeId> {
        self.skip_unclosed(start);
        if !self.reports_escaped_end(start, '"') {
            self.sink.report(Span::new(self.source, start, start + 1), Mistake::UnclosedString);
        }
        None
    }
    fn skip_unclosed(&mut self, start: usize) {
        self.at = self.text[start..].find('\n').map_or(self.text.len(), |len| start + len);
    }
    /// Reports the backslash before what was likely meant as the end of what begins at `start` and goes on to the end of
    /// the line, here; whether there is one.
    fn reports_escaped_end(&mut self, start: usize, end: char) -> bool {
        let Some(len) = escaped_end(&self.text[start + 1..self.at], end, " \t\r|)*+?") else { return false };
        let at = start + 1 + len;
        self.sink.report(Span::new(self.source, at, at + 2), Mistake::EscapedEnd { end });
        true
    }

    /// Whether the string that begins at `start` and ends here goes over the beginning of a rule, and its end leaves a quote
    /// alone on the line: it was likely to end before.
    fn holds_rule(&self, start: usize) -> bool {
        let mut lines = self.text[start..self.at].split('\n').skip(1);
        let is_rule = |line: &str| {
            line.split_once("::=").is_some_and(|(name, _)| {
                let name = name.trim_matches([' ', '\t']);
                !name.is_empty() && name.bytes().all(is_word)
            })
        };
        lines.any(is_rule) && {
            let rest = self.rest();
            let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
            (line.matches('"').count() - line.matches("\\\"").count()) % 2 == 1
        }
    }

    fn class(&mut self) -> Option<NodeId> {
        let start = self.at;
        self.at += 1;
        let negated = self.byte() == Some(b'^');
        self.at += usize::from(negated);
        let first = self.at;
        if let Some(end) = self.rest().strip_prefix("[:").and_then(|rest| rest.find("]]").filter(|&end| end < 12)) {
            let name = self.rest()[2..2 + end].trim_end_matches(':').to_owned();
            self.at += end + 4;
            self.sink.report(self.since(start), Mistake::PosixClass { name, negated });
            return Some(self.node(NodeKind::Sequence(Vec::new()), start));
        }
        let mut ranges = Vec::new();
        // Up to here no rule begins.
        let mut blanks_end = first;
        loop {
            let byte = self.byte();
            let mut is_unclosed = byte.is_none();
            if byte == Some(b'\n') && self.at >= blanks_end {
                (is_unclosed, blanks_end) = self.rule_behind_blanks();
            }
            match byte {
                _ if is_unclosed => {
                    self.skip_unclosed(start);
                    if !self.reports_escaped_end(start, ']') {
                        self.sink.report(self.since(start), Mistake::UnclosedClass);
                    }
                    return None;
                }
                Some(b']') => break,
                _ => {
                    let item = self.at;
                    let low = self.character();
                    let is_range = self.rest().starts_with('-') && !self.rest().starts_with("-]");
                    let high = if is_range {
                        self.at += 1;
                        if self.byte().is_none() {
                            continue;
                        }
                        self.character()
                    } else {
                        low
                    };
                    if let (Some(low), Some(high)) = (low, high) {
                        if low > high {
                            self.sink.report(self.since(item), Mistake::RangeOrder { low, high });
                        }
                        ranges.push((low as u32, high as u32));
                    }
                }
            }
        }
        let has_items = self.at > first;
        self.at += 1;
        if ranges.is_empty() {
            // Of items that are mistakes enough was said.
            if !has_items {
                self.sink.report(self.since(start), Mistake::ClassEmpty);
            }
            return Some(self.node(NodeKind::Sequence(Vec::new()), start));
        }
        let class = CharClass::from_ranges(ranges);
        let class = if negated { class.negate() } else { class };
        Some(self.node(NodeKind::Symbol(Symbol::Class(class)), start))
    }

    fn token(&mut self) -> Option<NodeId> {
        let start = self.at;
        let negated = self.byte() == Some(b'!');
        self.at += usize::from(negated);
        if self.byte() != Some(b'<') {
            self.sink.report(self.since(start), Mistake::TokenBad { reason: "`!` stands before a token" });
            return None;
        }
        let open = self.at;
        // Only up to there: a line may hold very many.
        let end = self.rest().find(['>', '\n', '\r']);
        let Some(len) = end.filter(|&len| self.rest()[len..].starts_with('>')) else {
            self.at += 1;
            self.word();
            self.sink.report(self.since(start), Mistake::UnclosedToken);
            return None;
        };
        self.at += len + 1;
        let text = self.text[open..self.at].to_owned();
        let inner = &text[1..text.len() - 1];
        let reason = match inner.strip_prefix('[').and_then(|id| id.strip_suffix(']')) {
            Some(id) if id.parse::<u32>().is_err() => Some("the id of a token is a number"),
            None if inner.strip_prefix('[').is_some_and(|id| id.parse::<u32>().is_ok()) => {
                Some("the id of a token is closed with `]`")
            }
            None if inner.is_empty() => Some("the token has no name"),
            _ => None,
        };
        if let Some(reason) = reason {
            self.sink.report(self.since(open), Mistake::TokenBad { reason });
            return None;
        }
        Some(self.node(NodeKind::Symbol(Symbol::Token { text, negated }), start))
    }
}
