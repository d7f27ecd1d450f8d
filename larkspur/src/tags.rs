//! Structural tags: free text, and in it tags whose content is a grammar.
//!
//! A text is `(head tag)* rest`. A head ends where a trigger first occurs in it, and the rest has none, so that one text is
//! read in one way. Heads and rest are one lexeme each, all live at once: inside the free text a mask is that of a string.

use larkspur_grammar::index::Id;
use larkspur_grammar::{
    Alternative, Embed, EmbedKind, ExprId, ExprKind, Grammar, GrammarOptions, IgnoreEdges, LexerMode, RegexId, Rule,
    RuleId, Span, Terminal, TokenItem, TokenSet,
};

use crate::compile::Reading;
use crate::front_ends::content_text;
use crate::mistake::Mistake;
use crate::source::{Source, SourceBody, SourceKind};

/// Free text until a trigger, then a grammar, then free text again: what models write around calls of tools.
///
/// A tag begins where one of the triggers first occurs in the free text; the triggers are the tags' beginnings unless
/// [`trigger`](Self::trigger) says otherwise. From there on the text is one of the tags that begin so. Nothing else is said
/// of the free text, so that a model that never writes a trigger writes what it likes.
///
/// ```
/// use std::sync::Arc;
/// use larkspur::{Engine, Source, StructuralTags, Vocabulary};
///
/// let weather = Source::json_schema(r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#);
/// let tags = StructuralTags::new()
///     .tag("<function=weather>", weather, "</function>")
///     .tag("<function=sum>", Source::gbnf("root ::= [0-9]+ (\"+\" [0-9]+)*"), "</function>")
///     .trigger("<function=")
///     .exclude("<think>");
/// let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
/// let grammar = engine.compile(&Source::from(tags))?;
/// let accepts = |text: &str| {
///     let mut matcher = grammar.matcher().unwrap();
///     matcher.consume_bytes(text.as_bytes()).is_ok() && matcher.is_accepting().unwrap()
/// };
/// assert!(accepts("1 < 2. <function=sum>1+2</function> That is 3."));
/// assert!(!accepts("<function=sum>1+</function>"));
/// assert!(!accepts("<function=other>"));
/// assert!(!accepts("<think>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A content may be any text that has a [`SourceKind`] but a list, or structural tags again; it has its own lexer mode and
/// ignored text, which does not stand at its edges. Mistakes in it are reported when the source is linked or compiled, with
/// those of the tags (`F007`).
#[derive(Clone, Debug, Default)]
pub struct StructuralTags {
    tags: Vec<Tag>,
    triggers: Vec<String>,
    excluded: Vec<String>,
    at_least: u8,
    at_most: Option<u8>,
    ends_with_tag: bool,
}

/// What a tag begins or ends with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mark {
    /// This text; as an end it may be empty.
    Text(String),
    /// A token of the vocabulary, by name (`<|python_tag|>`), which no text matches.
    Token(String),
}

impl Mark {
    /// A token of the vocabulary, by name.
    pub fn token(name: impl Into<String>) -> Self {
        Mark::Token(name.into())
    }
}

impl From<&str> for Mark {
    fn from(text: &str) -> Self {
        Mark::Text(text.to_owned())
    }
}

impl From<String> for Mark {
    fn from(text: String) -> Self {
        Mark::Text(text)
    }
}

#[derive(Clone, Debug)]
struct Tag {
    begin: Mark,
    /// `None` is any text up to the end's first occurrence.
    content: Option<Source>,
    end: Mark,
}

impl StructuralTags {
    /// Free text without tags.
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a tag. Tags may begin alike; the text is then any of them.
    pub fn tag(mut self, begin: impl Into<Mark>, content: impl Into<Source>, end: impl Into<Mark>) -> Self {
        self.tags.push(Tag { begin: begin.into(), content: Some(content.into()), end: end.into() });
        self
    }
    /// Adds a tag whose content is any text in which its end does not occur.
    pub fn text_tag(mut self, begin: impl Into<Mark>, end: impl Into<Mark>) -> Self {
        self.tags.push(Tag { begin: begin.into(), content: None, end: end.into() });
        self
    }
    /// Adds a trigger: a text with which tags begin, and which does not occur in free text. Once there is one, each tag that
    /// begins with a text begins with one of them, and a trigger may be that of no tag. None occurs in another.
    pub fn trigger(mut self, text: impl Into<String>) -> Self {
        self.triggers.push(text.into());
        self
    }
    /// Adds a text that does not occur in free text. It says nothing of tags, nor of a trigger itself.
    /// Special tokens do not stand in free text in any case.
    pub fn exclude(mut self, text: impl Into<String>) -> Self {
        self.excluded.push(text.into());
        self
    }
    /// The text has that many tags at least; 0 unless it is said.
    pub fn at_least(mut self, tags: u8) -> Self {
        self.at_least = tags;
        self
    }
    /// The text has that many tags at most; behind them stands free text without triggers.
    pub fn at_most(mut self, tags: u8) -> Self {
        self.at_most = Some(tags);
        self
    }
    /// Nothing stands behind the last tag that [`at_most`](Self::at_most) allows: the text ends with it.
    pub fn end_with_last_tag(mut self) -> Self {
        self.ends_with_tag = true;
        self
    }

    /// The triggers with each once: those that were given, or else the beginnings that no other one begins.
    fn all_triggers(&self) -> Vec<&str> {
        let mut triggers: Vec<&str> = match self.triggers.as_slice() {
            [] => self.tags.iter().filter_map(|tag| tag.begin.text()).collect(),
            given => given.iter().map(String::as_str).collect(),
        };
        triggers.sort_unstable();
        triggers.dedup();
        if self.triggers.is_empty() {
            // In this order those that one begins stand behind it.
            let mut kept: Vec<&str> = Vec::new();
            triggers.retain(|trigger| {
                let is_new = kept.last().is_none_or(|shorter| !trigger.starts_with(shorter));
                kept.extend(is_new.then_some(*trigger));
                is_new
            });
        }
        triggers
    }

    /// What is wrong with them, in a sentence, and the tag that it is about if it is one.
    fn mistakes(&self, triggers: &[&str]) -> Vec<(Option<usize>, String)> {
        let mut mistakes = Vec::new();
        if triggers.contains(&"") {
            let empty = self.tags.iter().position(|tag| self.triggers.is_empty() && tag.begin.text() == Some(""));
            mistakes.push((empty, "a trigger, or the beginning of a tag, is empty".to_owned()));
        }
        if self.excluded.iter().any(String::is_empty) {
            mistakes.push((None, "an excluded text is empty".to_owned()));
        }
        for outer in triggers {
            let inner = triggers.iter().find(|inner| !inner.is_empty() && *inner != outer && outer.contains(**inner));
            mistakes.extend(inner.map(|inner| (None, format!("the trigger `{outer}` holds the trigger `{inner}`"))));
        }
        for (index, Tag { begin, content, end }) in self.tags.iter().enumerate() {
            let name = begin.name();
            let mut of_tag = |reason: String| mistakes.push((Some(index), reason));
            if begin.text().is_some_and(|begin| !triggers.iter().any(|trigger| begin.starts_with(trigger))) {
                of_tag(format!("the tag `{name}` begins with no trigger"));
            }
            if content.is_none() && end.text() == Some("") {
                of_tag(format!("the tag `{name}` is any text and has no end"));
            }
            match content.as_ref().map(|content| &content.body) {
                Some(SourceBody::Text { kind: SourceKind::List, .. }) => {
                    of_tag(format!("the content of `{name}` is a list of grammars"));
                }
                Some(SourceBody::Grammar { .. }) => {
                    of_tag(format!("the content of `{name}` is a grammar without text"));
                }
                _ => {}
            }
        }
        if self.at_most.is_some_and(|most| most < self.at_least) {
            mistakes.push((None, "the least number of tags is over the greatest".to_owned()));
        }
        if self.ends_with_tag && self.at_most.is_none_or(|most| most == 0) {
            mistakes.push((None, "the text is to end with a tag, and no number of them is the greatest".to_owned()));
        }
        mistakes
    }

    /// The tags as a text, one to a line, which spans point into.
    fn shown(&self) -> String {
        self.tags.iter().map(|tag| format!("{:?} … {:?}\n", tag.begin.name(), tag.end.name())).collect()
    }
}

impl Mark {
    fn text(&self) -> Option<&str> {
        match self {
            Mark::Text(text) => Some(text),
            Mark::Token(_) => None,
        }
    }
    fn name(&self) -> &str {
        let (Mark::Text(name) | Mark::Token(name)) = self;
        name
    }
}

/// The grammar of structural tags, with those of their contents inside; none if an error was reported.
pub(crate) fn read(reading: &mut Reading, name: &str, tags: &StructuralTags, depth: usize) -> Option<Grammar> {
    let source = reading.sources.add(name, tags.shown());
    let whole = reading.sources.whole(source);
    let triggers = tags.all_triggers();
    let mut mistakes = tags.mistakes(&triggers);
    if depth == 0 && reading.options.start.is_some() {
        mistakes.push((None, "they have no rules to start with".to_owned()));
    }
    if depth > reading.limits.grammar_depth_max {
        mistakes.push((None, format!("they stand in one another more than {} deep", reading.limits.grammar_depth_max)));
    }
    // A line for each tag.
    let mut start = 0;
    let line = |text: &str| {
        let span = Span::new(source, start, start + text.len());
        start += text.len() + 1;
        span
    };
    let lines: Vec<Span> = reading.sources.get(source).text.lines().map(line).collect();
    if !mistakes.is_empty() {
        for (tag, reason) in mistakes {
            reading.report(tag.map_or(whole, |tag| lines[tag]), Mistake::Tags { reason });
        }
        return None;
    }
    let mut builder = Builder::new(tags, &triggers, whole);
    for (index, (tag, &span)) in tags.tags.iter().zip(&lines).enumerate() {
        let content = tag.content.as_ref().map(|content| content_of(reading, content, depth));
        // After a mistake the other contents are still read, for theirs.
        if content.as_ref().is_none_or(Option::is_some) {
            builder.tag(index, tag, content.flatten(), span);
        }
    }
    if reading.has_errors() { None } else { Some(builder.finish()) }
}

fn content_of(reading: &mut Reading, content: &Source, depth: usize) -> Option<EmbedKind> {
    match &content.body {
        SourceBody::Tags(tags) => {
            read(reading, &content.name, tags, depth + 1).map(|grammar| EmbedKind::Inline(Box::new(grammar)))
        }
        SourceBody::Text { kind, text } => {
            let source = reading.sources.add(&content.name, text);
            content_text(reading, *kind, source)
        }
        SourceBody::Grammar { .. } => None,
    }
}

/// The tags' grammar in the making.
struct Builder<'a> {
    tags: &'a StructuralTags,
    triggers: &'a [&'a str],
    grammar: Grammar,
    whole: Span,
    /// The tags of each trigger, without it.
    by_trigger: Vec<Vec<ExprId>>,
    /// The tags that begin with a token.
    by_token: Vec<ExprId>,
    /// Free text is of grammars in `longest` mode.
    competes: bool,
}

impl<'a> Builder<'a> {
    fn new(tags: &'a StructuralTags, triggers: &'a [&'a str], whole: Span) -> Self {
        let mut grammar = Grammar::new("");
        grammar.options =
            GrammarOptions { lexer: LexerMode::Exact, ignore_edges: IgnoreEdges::None, ..GrammarOptions::default() };
        // Behind a tag without an end its content may go on, with which free text must not compete.
        let competes = tags.tags.iter().all(|tag| tag.end.text() != Some(""));
        Self {
            tags,
            triggers,
            grammar,
            whole,
            by_trigger: vec![Vec::new(); triggers.len()],
            by_token: Vec::new(),
            competes,
        }
    }

    fn lexeme(&mut self, name: String, regex: RegexId, span: Span) -> ExprId {
        let terminal = self.grammar.terminals.push(Terminal::new(name, span, regex));
        self.grammar.expr(ExprKind::Terminal(terminal), span)
    }

    /// A piece of free text. No two of them can end at one byte and go on, so that the mode does not matter to the language; in
    /// `longest` mode a step within them is a look-up, also where the text may end.
    fn free(&mut self, name: String, regex: RegexId) -> ExprId {
        let span = self.whole;
        if !self.competes {
            return self.lexeme(name, regex, span);
        }
        let mut inner = Grammar::new("");
        inner.options = GrammarOptions { lexer: LexerMode::Longest, ..self.grammar.options.clone() };
        let regex = inner.regexes.import(&self.grammar.regexes, regex);
        let terminal = inner.terminals.push(Terminal::new(name, span, regex));
        let body = inner.expr(ExprKind::Terminal(terminal), span);
        inner.start = inner.rules.push(Rule::new("text", span, body));
        let kind = EmbedKind::Inline(Box::new(inner));
        let embed = self.grammar.embeds.push(Embed { kind, span, target: None, rule: None });
        self.grammar.expr(ExprKind::Embed(embed), span)
    }

    fn literal(&mut self, text: &str, span: Span) -> ExprId {
        if text.is_empty() {
            return self.grammar.expr(ExprKind::sequence([]), span);
        }
        let regex = self.grammar.regexes.literal(text.as_bytes());
        self.lexeme(format!("{text:?}"), regex, span)
    }

    fn token(&mut self, name: &str, span: Span) -> ExprId {
        let items = vec![TokenItem::Name(name.to_owned())];
        let set = TokenSet { text: name.to_owned(), span, items, negated: false, hidden: false };
        let set = self.grammar.token_sets.push(set);
        self.grammar.expr(ExprKind::Tokens(set), span)
    }

    /// A tag, with its beginning if that is a token, else without its trigger.
    fn tag(&mut self, index: usize, tag: &Tag, content: Option<EmbedKind>, span: Span) {
        let mut parts = Vec::with_capacity(3);
        let mut group = None;
        match &tag.begin {
            Mark::Token(name) => parts.push(self.token(name, span)),
            Mark::Text(begin) => {
                let found = self.triggers.iter().position(|trigger| begin.starts_with(trigger));
                let trigger = found.expect("it begins with a trigger");
                parts.push(self.literal(&begin[self.triggers[trigger].len()..], span));
                group = Some(trigger);
            }
        }
        if let Some(kind) = content {
            let embed = self.grammar.embeds.push(Embed { kind, span, target: None, rule: None });
            parts.push(self.grammar.expr(ExprKind::Embed(embed), span));
        }
        let any = self.grammar.regexes.any_text();
        match (&tag.end, &tag.content) {
            (Mark::Text(end), Some(_)) => parts.push(self.literal(end, span)),
            (Mark::Text(end), None) => {
                let end_regex = self.grammar.regexes.literal(end.as_bytes());
                let some_end = self.grammar.regexes.concat(&[any, end_regex]);
                let regex = self.grammar.regexes.shortest(some_end);
                parts.push(self.lexeme(format!("text up to {end:?}"), regex, span));
            }
            (Mark::Token(name), content) => {
                if content.is_none() {
                    parts.push(self.lexeme("text".to_owned(), any, span));
                }
                parts.push(self.token(name, span));
            }
        }
        let body = self.grammar.expr(ExprKind::sequence(parts), span);
        let rule = self.rule(format!("tag{index}"), body, span);
        match group {
            Some(trigger) => self.by_trigger[trigger].push(rule),
            None => self.by_token.push(rule),
        }
    }

    /// A rule, used.
    fn rule(&mut self, name: String, body: ExprId, span: Span) -> ExprId {
        let rule = self.grammar.rules.push(Rule::new(name, span, body));
        self.grammar.expr(ExprKind::Rule(rule, None), span)
    }

    fn choice(&mut self, ways: Vec<ExprId>) -> ExprId {
        let ways = ways.into_iter().map(|expr| Alternative { expr, condition: None });
        self.grammar.expr(ExprKind::choice(ways), self.whole)
    }

    /// Every text in which none of these occurs.
    fn without(&mut self, texts: &[RegexId]) -> RegexId {
        let regexes = &mut self.grammar.regexes;
        let any = regexes.any_text();
        let one = regexes.or(texts);
        let some = regexes.concat(&[any, one, any]);
        regexes.complement(some)
    }

    fn finish(mut self) -> Grammar {
        let span = self.whole;
        let (tags, triggers) = (self.tags, self.triggers);
        let regexes = &mut self.grammar.regexes;
        let trigger_regexes: Vec<RegexId> = triggers.iter().map(|text| regexes.literal(text.as_bytes())).collect();
        let excluded: Vec<RegexId> = tags.excluded.iter().map(|text| regexes.literal(text.as_bytes())).collect();
        let any = regexes.any_text();
        let one = regexes.or(&trigger_regexes);
        let some = regexes.concat(&[any, one]);
        let up_to_first = regexes.shortest(some);
        let before = self.without(&excluded);
        let rest = self.without(&[&trigger_regexes[..], &excluded].concat());
        let rest = self.free("text".to_owned(), rest);

        // Free text up to its first trigger or a token, and the tag.
        let mut ways = Vec::new();
        for (index, group) in std::mem::take(&mut self.by_trigger).into_iter().enumerate() {
            if group.is_empty() {
                continue;
            }
            let ends_so = self.grammar.regexes.concat(&[before, trigger_regexes[index]]);
            let head = self.grammar.regexes.and(&[up_to_first, ends_so]);
            let head = self.free(format!("text up to {:?}", triggers[index]), head);
            let group = self.choice(group);
            ways.push(self.grammar.expr(ExprKind::sequence([head, group]), span));
        }
        if !self.by_token.is_empty() {
            let group = std::mem::take(&mut self.by_token);
            let group = self.choice(group);
            ways.push(self.grammar.expr(ExprKind::sequence([rest, group]), span));
        }
        let tagged = self.choice(ways);
        let tagged = match tags.at_most {
            Some(0) => tagged,
            _ => self.rule("tagged".to_owned(), tagged, span),
        };

        // A rule for each number of tags that are there, the last first.
        let nothing = self.grammar.expr(ExprKind::sequence([]), span);
        let last = tags.at_most.unwrap_or(tags.at_least);
        let mut next = nothing;
        for count in (0..=last).rev() {
            let is_last = count == last;
            let mut ways = Vec::new();
            if !(is_last && tags.at_most.is_some()) {
                // Without a greatest number the last rule goes on with itself.
                let own = RuleId::from_index(self.grammar.rules.len());
                let more = if is_last { self.grammar.expr(ExprKind::Rule(own, None), span) } else { next };
                ways.push(self.grammar.expr(ExprKind::sequence([tagged, more]), span));
            }
            if count >= tags.at_least {
                ways.push(if is_last && tags.ends_with_tag { nothing } else { rest });
            }
            let body = self.choice(ways);
            next = self.rule(format!("after{count}"), body, span);
        }
        self.grammar.start = RuleId::from_index(self.grammar.rules.len() - 1);
        self.grammar
    }
}
