//! The IR to a GBNF text.
//!
//! GBNF is context-free over characters: what a lexer decides (longest matches, lazy ones, `stop`), parameters, budgets,
//! objects whose names are compared have no words in it. Ignored text is written out behind each lexeme. What a regex says with `&`,
//! `~` and look-around becomes the rules of an automaton ([`right_linear`](crate::right_linear)).

use std::collections::hash_map::Entry;
use std::fmt::Write;

use larkspur_grammar::lints::productive;
use larkspur_grammar::{
    CharClass, ExprId, ExprKind, Grammar, GrammarId, IgnoreEdges, IndexVec, LexerMode, Limits, LinkedGrammar, RegexId,
    RegexNode, RuleId, Span, TerminalId, TokenItem, TokenSet,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::right_linear::{Refused, State, automaton};
use crate::to_lark::Converted;
use crate::writing::{Place, brackets, sign, word};

const NOT_UTF8: &str = "texts that need not be UTF-8";
/// Refusals that are reported.
const REFUSALS_MAX: usize = 100;

/// What GBNF has no words for, and where it stands.
pub type Refusal = (Span, &'static str);

/// A comment of the text that a grammar was read from, without its sign.
#[derive(Clone, Debug)]
pub struct Comment {
    /// Where it stands.
    pub span: Span,
    /// Whether nothing but blanks stands before it in its line: then it is about what comes next.
    pub is_alone: bool,
    /// What it says; one line.
    pub text: String,
}

/// Writes what is reached of a linked grammar, with the comments (in order) that stand before a definition or in it. Errors:
/// everything that cannot be written.
pub fn from_ir(linked: &LinkedGrammar, comments: &[Comment], limits: &Limits) -> Result<Converted, Vec<Refusal>> {
    let (comments, last_comments) = comments_of(linked, comments);
    let mut writer = Writer {
        linked,
        comments,
        size_max: limits.source_bytes_max,
        refusals: Vec::new(),
        notes: Vec::new(),
        names: FxHashMap::default(),
        taken: FxHashSet::default(),
        waiting: Vec::new(),
        out: String::new(),
        automata: FxHashMap::default(),
        finished: FxHashMap::default(),
        span: linked.grammars[linked.root].rules[linked.grammars[linked.root].start].span,
    };
    writer.grammar();
    last_comments.iter().for_each(|text| writer.comment(text));
    writer.refusals.sort_unstable_by_key(|&(span, reason)| (span.start, span.end, reason));
    writer.refusals.dedup();
    writer.refusals.truncate(REFUSALS_MAX);
    if writer.refusals.is_empty() {
        Ok(Converted { text: writer.out, notes: writer.notes })
    } else {
        Err(writer.refusals)
    }
}

/// What becomes a rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Part {
    Rule(GrammarId, RuleId),
    Terminal(GrammarId, TerminalId),
    /// Ignored text.
    Ignored(GrammarId),
    /// A state of a regex's automaton.
    State(GrammarId, RegexId, usize),
}

enum Task {
    Expr(ExprId, Place),
    Regex(RegexId, Place),
    Close(String),
    Word(String),
}

/// The comments of each definition, and those behind the last one.
fn comments_of(linked: &LinkedGrammar, comments: &[Comment]) -> (FxHashMap<Part, Vec<String>>, Vec<String>) {
    let mut definitions: Vec<(u32, u32, Part)> = Vec::new();
    for (id, grammar) in linked.grammars.iter_enumerated() {
        let rules = grammar.rules.iter_enumerated().map(|(rule, info)| (info.span, Part::Rule(id, rule)));
        let named = grammar.terminals.iter_enumerated().filter(|(_, terminal)| is_named(&terminal.name));
        let terminals = named.map(|(terminal, info)| (info.span, Part::Terminal(id, terminal)));
        definitions.extend(rules.chain(terminals).map(|(span, part)| (span.source.0, span.start, part)));
    }
    definitions.sort_by_key(|&(source, start, _)| (source, start));
    let (mut by_part, mut last): (FxHashMap<Part, Vec<String>>, Vec<String>) = Default::default();
    for comment in comments {
        let place = (comment.span.source.0, comment.span.start);
        let next = definitions.partition_point(|&(source, start, _)| (source, start) < place);
        let at = if comment.is_alone || next == 0 { next } else { next - 1 };
        match definitions.get(at).filter(|(source, ..)| *source == place.0) {
            Some(&(.., part)) => by_part.entry(part).or_default().push(comment.text.clone()),
            None => last.push(comment.text.clone()),
        }
    }
    (by_part, last)
}

/// Whether a terminal has a name of its own.
fn is_named(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
}

struct Writer<'a> {
    linked: &'a LinkedGrammar,
    comments: FxHashMap<Part, Vec<String>>,
    size_max: usize,
    refusals: Vec<Refusal>,
    notes: Vec<String>,
    names: FxHashMap<Part, String>,
    taken: FxHashSet<String>,
    /// Named, and not yet written.
    waiting: Vec<Part>,
    out: String,
    /// Of the regexes that GBNF has no words for, with the first terminal that each stands in.
    automata: FxHashMap<(GrammarId, RegexId), (Vec<State>, Span)>,
    /// The terminal that is written.
    span: Span,
    /// Of each grammar that is reached, which nodes derive a text.
    finished: FxHashMap<GrammarId, IndexVec<ExprId, bool>>,
}

/// Which nodes derive a text. GBNF would begin on the others, and never end.
fn finished(grammar: &Grammar) -> IndexVec<ExprId, bool> {
    let rules = productive(grammar);
    let mut finished: IndexVec<ExprId, bool> = IndexVec::new();
    for node in grammar.exprs.iter() {
        // Children are older than their parents.
        let is_finished = match &node.kind {
            ExprKind::Sequence(parts) => parts.iter().all(|&part| finished[part]),
            ExprKind::Choice(ways) => ways.iter().any(|way| finished[way.expr]),
            ExprKind::Repeat(child, min, _) => *min == 0 || finished[*child],
            ExprKind::Rule(rule, _) => rules[*rule],
            _ => true,
        };
        finished.push(is_finished);
    }
    finished
}

impl<'a> Writer<'a> {
    fn grammar(&mut self) {
        let root = self.linked.root;
        let grammar: &'a Grammar = &self.linked.grammars[root];
        if grammar.options.lexer == LexerMode::Longest {
            self.notes
                .push("every way to split a text counts now: the grammar was read with the longest match".to_owned());
        }
        let start = Part::Rule(root, grammar.start);
        self.taken.insert("root".to_owned());
        if grammar.ignore.is_empty() {
            self.names.insert(start, "root".to_owned());
            self.waiting.push(start);
        } else {
            let (ignored, start) = (self.name(Part::Ignored(root)), self.name(start));
            let _ = writeln!(self.out, "root ::= {ignored} {start}");
            self.notes.push("ignored text may end anywhere now: it was taken whole".to_owned());
        }
        let mut next = 0;
        while let Some(&part) = self.waiting.get(next) {
            next += 1;
            self.part(part);
            if self.out.len() > self.size_max {
                self.refusals.push((grammar.rules[grammar.start].span, "the text would be too long"));
                return;
            }
        }
    }

    /// A part's name; it will be written.
    fn name(&mut self, part: Part) -> String {
        if let Some(known) = self.names.get(&part) {
            return known.clone();
        }
        let grammars = &self.linked.grammars;
        let own = match part {
            Part::Rule(grammar, rule) => grammars[grammar].rules[rule].name.to_string(),
            Part::Terminal(grammar, terminal) => grammars[grammar].terminals[terminal].name.to_string(),
            Part::Ignored(_) => "ignored".to_owned(),
            Part::State(..) => "state".to_owned(),
        };
        let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let wanted: String = own.chars().map(letter).collect::<String>().trim_matches('-').to_owned();
        let wanted = if wanted.is_empty() { "x".to_owned() } else { wanted };
        // Of many states the first numbers are taken.
        let from = if let Part::State(..) = part { self.automata.len() + self.waiting.len() } else { 2 };
        let numbered = (from..).map(|number| format!("{wanted}-{number}"));
        let free = std::iter::once(wanted.clone()).chain(numbered).find(|name| !self.taken.contains(name));
        let free = free.expect("numbers do not end");
        if free != own && !matches!(part, Part::State(..)) {
            self.notes.push(format!("`{own}` is `{free}`"));
        }
        self.taken.insert(free.clone());
        self.names.insert(part, free.clone());
        self.waiting.push(part);
        free
    }

    fn comment(&mut self, text: &str) {
        let _ = writeln!(self.out, "#{}{text}", if text.is_empty() { "" } else { " " });
    }

    fn part(&mut self, part: Part) {
        let name = self.names[&part].clone();
        for text in self.comments.remove(&part).unwrap_or_default() {
            self.comment(&text);
        }
        let _ = write!(self.out, "{name} ::=");
        match part {
            Part::Rule(id, rule) => {
                let grammar: &'a Grammar = &self.linked.grammars[id];
                let rule = &grammar.rules[rule];
                if rule.max_tokens.is_some() {
                    self.refusals.push((rule.span, "`max_tokens`"));
                }
                if rule.parametric {
                    self.refusals.push((rule.span, "parameters"));
                }
                self.tasks(id, vec![Task::Expr(rule.body, Place::Alternative)]);
            }
            Part::Terminal(id, terminal) => {
                let terminal = &self.linked.grammars[id].terminals[terminal];
                let regex = terminal.regex;
                self.span = terminal.span;
                self.tasks(id, vec![Task::Regex(regex, Place::Alternative)]);
            }
            Part::State(id, regex, state) => self.state(id, regex, state),
            Part::Ignored(id) => {
                let grammar: &'a Grammar = &self.linked.grammars[id];
                let start = grammar.rules[grammar.start].span;
                if grammar.options.ignore_once {
                    self.refusals.push((start, "`ignore_once`"));
                }
                if id == self.linked.root && grammar.options.ignore_edges != IgnoreEdges::Both {
                    self.refusals.push((start, "`ignore_edges`"));
                }
                for terminal in grammar.ignore.iter().map(|&terminal| &grammar.terminals[terminal]) {
                    if terminal.follow.is_some() || terminal.behind.is_some() {
                        self.refusals.push((terminal.span, "look-around beyond a terminal"));
                    }
                }
                let names: Vec<String> =
                    grammar.ignore.iter().map(|&terminal| self.name(Part::Terminal(id, terminal))).collect();
                let _ = write!(self.out, " ({})*", names.join(" | "));
            }
        }
        self.out.push('\n');
    }

    /// Writes nodes; does not recurse.
    fn tasks(&mut self, id: GrammarId, mut stack: Vec<Task>) {
        while let Some(task) = stack.pop() {
            match task {
                Task::Expr(expr, place) => self.expr(id, expr, place, &mut stack),
                Task::Regex(regex, place) => self.regex(id, regex, place, &mut stack),
                Task::Close(text) => self.out.push_str(&text),
                Task::Word(text) => self.word(&text),
            }
            if self.out.len() > self.size_max {
                return;
            }
        }
    }

    fn word(&mut self, text: &str) {
        word(&mut self.out, text);
    }

    fn open_if(&mut self, needed: bool, stack: &mut Vec<Task>) {
        if needed {
            self.word("(");
            stack.push(Task::Close(")".to_owned()));
        }
    }

    fn sequence(
        &mut self,
        parts: impl DoubleEndedIterator<Item = Task> + ExactSizeIterator,
        place: Place,
        stack: &mut Vec<Task>,
    ) {
        if parts.len() == 0 {
            return self.word("\"\"");
        }
        self.open_if(place == Place::Repeated && parts.len() > 1, stack);
        stack.extend(parts.rev());
    }

    fn choice(&mut self, parts: Vec<Task>, place: Place, stack: &mut Vec<Task>) {
        self.open_if(place > Place::Alternative, stack);
        for (index, part) in parts.into_iter().enumerate().rev() {
            stack.push(part);
            stack.extend((index > 0).then(|| Task::Word("|".to_owned())));
        }
    }

    fn repeat(&mut self, child: Task, (min, max): (u32, Option<u32>), place: Place, stack: &mut Vec<Task>) {
        self.open_if(place == Place::Repeated, stack);
        stack.push(Task::Close(sign(min, max).unwrap_or_else(|| match max {
            Some(max) if min != max => format!("{{{min},{max}}}"),
            _ => format!("{{{min}}}"),
        })));
        stack.push(child);
    }

    /// Whether a node derives a text; that some is left out is noted.
    fn is_finished(&mut self, id: GrammarId, expr: ExprId) -> bool {
        let grammar: &'a Grammar = &self.linked.grammars[id];
        let is_finished = self.finished.entry(id).or_insert_with(|| finished(grammar))[expr];
        let note = "what no text can finish is left out";
        if !is_finished && !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
        is_finished
    }

    fn expr(&mut self, id: GrammarId, expr: ExprId, place: Place, stack: &mut Vec<Task>) {
        let grammar: &'a Grammar = &self.linked.grammars[id];
        let span = grammar.exprs[expr].span;
        match &grammar.exprs[expr].kind {
            ExprKind::Sequence(parts) => {
                let inner = if parts.len() == 1 { place } else { Place::Part };
                self.sequence(parts.iter().map(|&part| Task::Expr(part, inner)), place, stack);
            }
            ExprKind::Choice(alternatives) => {
                if alternatives.iter().any(|alternative| alternative.condition.is_some()) {
                    self.refusals.push((span, "conditions"));
                }
                let mut ways: Vec<ExprId> = alternatives.iter().map(|one| one.expr).collect();
                ways.retain(|&way| self.is_finished(id, way));
                match ways.as_slice() {
                    // The whole grammar has no text.
                    [] => stack.push(Task::Expr(alternatives[0].expr, place)),
                    &[only] => stack.push(Task::Expr(only, place)),
                    _ => {
                        let parts = ways.into_iter().map(|way| Task::Expr(way, Place::Alternative)).collect();
                        self.choice(parts, place, stack);
                    }
                }
            }
            ExprKind::Repeat(child, ..) if !self.is_finished(id, *child) => self.word("\"\""),
            ExprKind::Repeat(child, min, max) => {
                self.repeat(Task::Expr(*child, Place::Repeated), (*min, *max), place, stack);
            }
            &ExprKind::Rule(rule, _) => {
                let name = self.name(Part::Rule(id, rule));
                self.word(&name);
            }
            &ExprKind::Terminal(terminal) => self.lexeme(id, terminal, span, place, stack),
            &ExprKind::Tokens(set) => self.tokens(&grammar.token_sets[set], span, place, stack),
            &ExprKind::Embed(embed) => {
                let target = grammar.embeds[embed].target.expect("the grammar is linked");
                if !grammar.ignore.is_empty() || !self.linked.grammars[target].ignore.is_empty() {
                    self.refusals.push((span, "ignored text around another grammar"));
                }
                let name = self
                    .name(Part::Rule(target, grammar.embeds[embed].rule.unwrap_or(self.linked.grammars[target].start)));
                self.word(&name);
            }
            ExprKind::Automaton(..) => self.refusals.push((span, "names or elements that are counted or compared")),
        }
    }

    /// A lexeme, and the ignored text behind it.
    fn lexeme(&mut self, id: GrammarId, terminal: TerminalId, span: Span, place: Place, stack: &mut Vec<Task>) {
        let grammar: &'a Grammar = &self.linked.grammars[id];
        let definition = &grammar.terminals[terminal];
        if definition.lazy || definition.tail.is_some() {
            self.refusals.push((span, "lexemes that end at their first match"));
        }
        if definition.follow.is_some() || definition.behind.is_some() {
            self.refusals.push((span, "look-around beyond a terminal"));
        }
        self.span = span;
        let is_named = is_named(&definition.name);
        let own = |place| match is_named {
            true => None,
            false => Some(Task::Regex(definition.regex, place)),
        };
        let named = is_named.then(|| self.name(Part::Terminal(id, terminal)));
        let lexeme = |place| own(place).unwrap_or_else(|| Task::Word(named.clone().expect("it is named")));
        if grammar.ignore.is_empty() {
            return stack.push(lexeme(place));
        }
        let ignored = self.name(Part::Ignored(id));
        self.open_if(place == Place::Repeated, stack);
        stack.push(Task::Word(ignored));
        stack.push(lexeme(Place::Part));
    }

    /// A state of an automaton: what goes on from there.
    fn state(&mut self, id: GrammarId, regex: RegexId, state: usize) {
        let (states, span) = &self.automata[&(id, regex)];
        self.span = *span;
        let State { accepts, next } = &states[state];
        let (accepts, next) = (*accepts, next.iter().map(|(class, to)| (characters(class), *to)).collect::<Vec<_>>());
        let mut is_first = true;
        for (class, to) in next {
            if !std::mem::take(&mut is_first) {
                self.word("|");
            }
            self.word(&class);
            // Where nothing goes on, the text ends.
            let State { accepts, next } = &self.automata[&(id, regex)].0[to];
            if !accepts || !next.is_empty() {
                let name = self.name(Part::State(id, regex, to));
                self.word(&name);
            }
        }
        if accepts {
            if !is_first {
                self.word("|");
            }
            self.word("\"\"");
        } else if is_first {
            self.refusals.push((self.span, "terminals that match nothing"));
        }
    }

    fn tokens(&mut self, set: &TokenSet, span: Span, place: Place, stack: &mut Vec<Task>) {
        const IDS_MAX: u32 = 1_000;
        let mut words = Vec::new();
        for item in &set.items {
            match item {
                TokenItem::Name(name) if name.starts_with('<') && name.ends_with('>') => words.push(name.clone()),
                TokenItem::Range(low, high) if high - low < IDS_MAX => {
                    words.extend((*low..=*high).map(|id| format!("<[{id}]>")));
                }
                _ => return self.refusals.push((span, "this set of tokens")),
            }
        }
        match (set.negated, words.as_slice()) {
            (_, []) => self.refusals.push((span, "this set of tokens")),
            (false, [word]) => self.word(word),
            (true, [word]) => self.word(&format!("!{word}")),
            (true, _) => self.refusals.push((span, "any token but several")),
            (false, _) => self.choice(words.into_iter().map(Task::Word).collect(), place, stack),
        }
    }

    fn regex(&mut self, id: GrammarId, regex: RegexId, place: Place, stack: &mut Vec<Task>) {
        let grammar: &'a Grammar = &self.linked.grammars[id];
        let span = self.span;
        match grammar.regexes.node(regex) {
            RegexNode::Literal(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => self.word(&string(text)),
                Err(_) => self.refusals.push((span, NOT_UTF8)),
            },
            RegexNode::Class(class) => self.word(&characters(class)),
            RegexNode::Bytes(bytes) if bytes.iter().all(|byte| byte.is_ascii()) => {
                let class = CharClass::from_ranges(bytes.iter().map(|byte| (u32::from(byte), u32::from(byte))));
                self.word(&characters(&class));
            }
            RegexNode::Bytes(_) => self.refusals.push((span, NOT_UTF8)),
            RegexNode::Concat(parts) => {
                self.sequence(parts.iter().map(|&part| Task::Regex(part, Place::Part)), place, stack);
            }
            RegexNode::Or(parts) => {
                let parts = parts.iter().map(|&part| Task::Regex(part, Place::Alternative)).collect();
                self.choice(parts, place, stack);
            }
            RegexNode::Repeat(child, min, max) => {
                self.repeat(Task::Regex(*child, Place::Repeated), (*min, *max), place, stack);
            }
            RegexNode::And(_)
            | RegexNode::Not(_)
            | RegexNode::Shortest(_)
            | RegexNode::MultipleOf { .. }
            | RegexNode::Values { .. }
            | RegexNode::Dfa(..) => {
                if let Entry::Vacant(entry) = self.automata.entry((id, regex)) {
                    match automaton(&grammar.regexes, regex) {
                        Ok(states) => entry.insert((states, span)),
                        Err(Refused::TooLarge) => {
                            return self.refusals.push((span, "`&`, `~` and look-around of this size"));
                        }
                        Err(Refused::NotUtf8) => return self.refusals.push((span, NOT_UTF8)),
                    };
                }
                let name = self.name(Part::State(id, regex, 0));
                self.word(&name);
            }
            RegexNode::Nothing => self.refusals.push((span, "terminals that match nothing")),
        }
    }
}

fn string(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        _ => escaped(c),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

fn escaped(c: char) -> String {
    match c {
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\0'..='\x1F' | '\x7F' => format!("\\x{:02X}", c as u32),
        ' '..='~' => c.to_string(),
        _ if c.is_alphanumeric() => c.to_string(),
        '\u{80}'..='\u{FFFF}' => format!("\\u{:04X}", c as u32),
        _ => format!("\\U{:08X}", c as u32),
    }
}

fn characters(class: &CharClass) -> String {
    let letter = |c: char| match c {
        '\\' | ']' | '[' | '-' => format!("\\{c}"),
        // At the beginning it would be the complement.
        '^' => "\\x5E".to_owned(),
        _ => escaped(c),
    };
    brackets(class, letter).unwrap_or_else(|| ".".to_owned())
}
