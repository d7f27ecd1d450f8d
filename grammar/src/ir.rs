//! The IR: one [`Grammar`] per source grammar, in tables whose entries refer to each other by id.

use std::sync::Arc;

use compact_str::CompactString;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::automaton::Automaton;
use crate::define_id;
use crate::index::IndexVec;
use crate::param::{Condition, ConditionId, ParamExpr, holds};
use crate::regex::{ByteSet, RegexId, RegexSet};
use crate::span::Span;

define_id! {
    /// A rule of a [`Grammar`].
    pub struct RuleId = "R";
}
define_id! {
    /// A terminal of a [`Grammar`].
    pub struct TerminalId = "T";
}
define_id! {
    /// A node of a rule's right-hand side.
    pub struct ExprId = "e";
}
define_id! {
    /// A place where another grammar stands.
    pub struct EmbedId = "g";
}
define_id! {
    /// A set of vocabulary tokens that stands in a rule.
    pub struct TokenSetId = "tok";
}
define_id! {
    /// A nonterminal with states.
    pub struct AutomatonId = "M";
}
define_id! {
    /// A grammar of a [`LinkedGrammar`](crate::LinkedGrammar).
    pub struct GrammarId = "G";
}

/// One grammar, whatever language it was written in.
#[derive(Clone, Debug)]
pub struct Grammar {
    /// Name for messages and for `@name`.
    pub name: String,
    /// Lexer mode, ignored text, UTF-8.
    pub options: GrammarOptions,
    /// Nodes of all terminals' regexes.
    pub regexes: RegexSet,
    /// Terminals, in order of definition, anonymous ones where they first stand.
    pub terminals: IndexVec<TerminalId, Terminal>,
    /// Rules, in order of definition.
    pub rules: IndexVec<RuleId, Rule>,
    /// Nodes of all right-hand sides; children are older than their parents.
    pub exprs: IndexVec<ExprId, Expr>,
    /// Conditions of parametric alternatives; children are older.
    pub conditions: IndexVec<ConditionId, Condition>,
    /// Token sets.
    pub token_sets: IndexVec<TokenSetId, TokenSet>,
    /// Grammars that stand inside this one.
    pub embeds: IndexVec<EmbedId, Embed>,
    /// Nonterminals with states.
    pub automata: IndexVec<AutomatonId, Arc<dyn Automaton>>,
    /// Terminals that may stand between lexemes.
    pub ignore: Vec<TerminalId>,
    /// Blocks by indentation; taken out by [`link`](crate::link()).
    pub indenter: Option<Indenter>,
    /// Where it starts.
    pub start: RuleId,
}

/// How lexemes end; `docs/decisions` and the dialect reference define both.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum LexerMode {
    /// The longest match of all lexemes allowed here ends; no shorter one is retried.
    Longest,
    /// The context-free language itself: every way to split the text into lexemes counts.
    Exact,
}

/// Where ignored text may stand besides between lexemes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum IgnoreEdges {
    /// Before the first lexeme and after the last one.
    Both,
    /// Before the first.
    Leading,
    /// After the last.
    Trailing,
    /// Only between lexemes.
    None,
    /// Between lexemes, and behind one behind which another one could stand: the text may end there, too. So llguidance has it.
    Open,
    /// The same, and before the first lexeme.
    LeadingOpen,
}

impl IgnoreEdges {
    /// Whether it may stand before the first lexeme.
    pub fn leading(self) -> bool {
        matches!(self, IgnoreEdges::Both | IgnoreEdges::Leading | IgnoreEdges::LeadingOpen)
    }
    /// Whether it may stand after the last lexeme.
    pub fn trailing(self) -> bool {
        matches!(self, IgnoreEdges::Both | IgnoreEdges::Trailing)
    }
    /// Whether the text may end behind it, wherever it may stand.
    pub fn may_end_open(self) -> bool {
        !matches!(self, IgnoreEdges::Leading | IgnoreEdges::None)
    }
}

/// What to do with rules that can never be finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
pub enum Unproductive {
    /// A grammar whose start can never be finished is an error; other such rules are removed.
    Error,
    /// Such rules stay: the grammar may go on for ever.
    Allow,
}

/// Options of one grammar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GrammarOptions {
    /// How lexemes end. Each of the linked grammars has its own.
    pub lexer: LexerMode,
    /// Where ignored text may stand. In an embedded grammar only [`IgnoreEdges::None`] has an effect on masks:
    /// at its edges the outer grammar's ignored text applies.
    pub ignore_edges: IgnoreEdges,
    /// Ignored text is one match of one `%ignore` terminal, not a run of them.
    pub ignore_once: bool,
    /// Regexes and complements are over bytes, and the text may end inside a character. The root's counts for all.
    pub allow_invalid_utf8: bool,
    /// `forced_bytes` and `forced_tokens` stay empty. The root's counts for all.
    pub no_forcing: bool,
    /// What to do with rules that can never be finished. The root's counts for all.
    pub unproductive: Unproductive,
    /// In `longest` mode a literal beats a regex that matches the same text (Lark's contextual lexer).
    pub keywords: bool,
    /// A program made the grammar, with one rule for all that it knows to be equal: it is not linted, and the pass `equal`
    /// leaves it as it is.
    pub is_made: bool,
    /// Who made it says that in `longest` mode no lexeme of it swallows what follows within it, and that a text of it that could be
    /// over goes on with these bytes at most. Not looked into for what is swallowed where it is embedded.
    pub goes_on_with: Option<ByteSet>,
}

impl Default for GrammarOptions {
    fn default() -> Self {
        Self {
            lexer: LexerMode::Longest,
            ignore_edges: IgnoreEdges::Both,
            ignore_once: false,
            allow_invalid_utf8: false,
            no_forcing: false,
            unproductive: Unproductive::Error,
            keywords: false,
            is_made: false,
            goes_on_with: None,
        }
    }
}

/// What the lexer recognises as one piece.
#[derive(Clone, Debug)]
pub struct Terminal {
    /// Name as shown in messages: `NUMBER`, `"if"`, `/[a-z]+/`.
    pub name: CompactString,
    /// Where it is defined, or where it first stands.
    pub span: Span,
    /// Its language without the tail. If it matches the empty text, the terminal is optional where it stands.
    pub regex: RegexId,
    /// Of lexemes that end at the same byte in `longest` mode, those of the highest priority end.
    pub priority: i32,
    /// Whether it was written as a string: for [`GrammarOptions::keywords`].
    pub is_literal: bool,
    /// Whether it ends at its first match.
    pub lazy: bool,
    /// `stop=` or `suffix=`: what follows the regex inside this lexeme. A terminal with a tail is lazy.
    pub tail: Option<Box<Tail>>,
    /// The lexeme ends only where the text that follows it, up to its end or to a token letter, is one of these: a
    /// look-ahead that sees beyond the terminal. Such a terminal is not lazy and has no tail.
    pub follow: Option<RegexId>,
    /// The lexeme begins only where the text before it, from its start or the last token letter on, is one of these: a
    /// look-behind that sees beyond the terminal. Such a terminal is not lazy and has no tail.
    pub behind: Option<RegexId>,
}

/// The end of a lexeme that `stop=` or `suffix=` adds.
#[derive(Clone, Debug)]
pub struct Tail {
    /// What ends the lexeme; does not match the empty text.
    pub regex: RegexId,
    /// `stop`: hidden from the output where that is possible. `suffix`: stays.
    pub hidden: bool,
    /// `stop_capture`: the name under which the text that matched is captured.
    pub capture: Option<String>,
}

/// A rule.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Name as written.
    pub name: CompactString,
    /// Where the name stands in the definition.
    pub span: Span,
    /// Right-hand side.
    pub body: ExprId,
    /// Whether it takes a parameter (`name::_`).
    pub parametric: bool,
    /// Chooses among derivations for captures; no effect on masks.
    pub priority: i32,
    /// Capture the rule's text under this name. Without the tail where the body is a terminal that has one.
    pub capture: Option<String>,
    /// Ends after this many tokens at the latest, matched or not; 0 makes the rule empty.
    pub max_tokens: Option<u32>,
    /// Sampling temperature while inside.
    pub temperature: Option<f32>,
}

/// Characters of a terminal's name at most where it is what was written.
const NAME_MAX: usize = 40;

impl Terminal {
    /// Whether it is what its regex matches, whatever stands around it and as long as it can be.
    pub fn is_plain(&self) -> bool {
        !self.lazy && self.tail.is_none() && self.follow.is_none() && self.behind.is_none()
    }
    /// A name for a terminal without one: the text's part that it is, on one line, cut if it is long.
    pub fn name_as_written(text: &str) -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        if line.chars().count() <= NAME_MAX { line } else { line.chars().take(NAME_MAX - 1).chain(['…']).collect() }
    }
    /// A terminal that is neither lazy nor written as a string, of priority 0.
    pub fn new(name: impl Into<CompactString>, span: Span, regex: RegexId) -> Self {
        Self {
            name: name.into(),
            span,
            regex,
            priority: 0,
            is_literal: false,
            lazy: false,
            tail: None,
            follow: None,
            behind: None,
        }
    }
}

impl Rule {
    /// A rule without parameter, attributes and priority.
    pub fn new(name: impl Into<CompactString>, span: Span, body: ExprId) -> Self {
        Self {
            name: name.into(),
            span,
            body,
            parametric: false,
            priority: 0,
            capture: None,
            max_tokens: None,
            temperature: None,
        }
    }
}

/// A node of a right-hand side and where it stands.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// What stands one after the other; mostly little.
pub type Exprs = SmallVec<[ExprId; 6]>;
/// What stands side by side; mostly little.
pub type Alternatives = SmallVec<[Alternative; 2]>;

/// What a node of a right-hand side is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ExprKind {
    /// One after the other; empty for the empty text.
    Sequence(Exprs),
    /// Any of them, in order of preference for captures.
    Choice(Alternatives),
    /// The child `min` to `max` times; `None` is without bound.
    Repeat(ExprId, u32, Option<u32>),
    /// A rule, with what it is passed if it is parametric.
    Rule(RuleId, Option<ParamExpr>),
    /// A terminal.
    Terminal(TerminalId),
    /// One token of the vocabulary, given as a token.
    Tokens(TokenSetId),
    /// Another grammar.
    Embed(EmbedId),
    /// A nonterminal whose right-hand sides are made while parsing, and where it starts.
    Automaton(AutomatonId, u32),
}

impl ExprKind {
    /// One after the other.
    pub fn sequence(parts: impl IntoIterator<Item = ExprId>) -> Self {
        ExprKind::Sequence(parts.into_iter().collect())
    }
    /// Any of them.
    pub fn choice(alternatives: impl IntoIterator<Item = Alternative>) -> Self {
        ExprKind::Choice(alternatives.into_iter().collect())
    }
}

/// One alternative of a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alternative {
    /// What it derives.
    pub expr: ExprId,
    /// When it is there, of the rule's parameter; `None` is always.
    pub condition: Option<ConditionId>,
}

/// Tokens of the vocabulary, resolved when the grammar is compiled for one.
#[derive(Clone, Debug)]
pub struct TokenSet {
    /// As written, for messages: `<|eom_id|>`, `<[5-9]>`.
    pub text: String,
    /// Where it stands.
    pub span: Span,
    /// What is in the set.
    pub items: Vec<TokenItem>,
    /// Every token but those.
    pub negated: bool,
    /// The token is taken back from the output where that is possible (`stop=""`).
    pub hidden: bool,
}

/// An element of a [`TokenSet`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenItem {
    /// A special token by its name, `<|eom_id|>`.
    Name(String),
    /// Ids from the first to the second, both included.
    Range(u32, u32),
    /// Every token.
    Any,
    /// Every end-of-sequence token.
    Eos,
}

/// How line breaks make blocks: see [`indentation`](crate::indentation).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Indenter {
    /// The line break with the blanks behind it.
    pub newline: TerminalId,
    /// Where a block begins; the terminal's regex says nothing.
    pub indent: TerminalId,
    /// Where a block ends; the terminal's regex says nothing.
    pub dedent: TerminalId,
    /// Brackets between which line breaks are ignored.
    pub open: Vec<TerminalId>,
    /// What closes them; which one closes which does not count.
    pub close: Vec<TerminalId>,
    /// How much a tab counts.
    pub tab: u32,
    /// The widest block; at most [`WIDTH_MAX`](crate::indentation::WIDTH_MAX).
    pub width_max: u32,
}

/// A grammar that stands inside another.
#[derive(Clone, Debug)]
pub struct Embed {
    /// What stands there.
    pub kind: EmbedKind,
    /// Where it stands.
    pub span: Span,
    /// The linked grammar; set by [`link`](crate::link()).
    pub target: Option<GrammarId>,
    /// The rule of it that stands here; `None` is its start.
    pub rule: Option<RuleId>,
}

/// What an embed names or holds.
#[derive(Clone, Debug)]
pub enum EmbedKind {
    /// `@name`: a grammar of the same list.
    Named(String),
    /// `%json { … }`, `%gbnf { … }`: a text in another language, read by whoever [links](crate::link()).
    Text {
        /// The word behind the `%`.
        language: &'static str,
        /// Where the text stands.
        body: Span,
    },
    /// `%lark { … }`, already read by the front end.
    Inline(Box<Grammar>),
}

/// Grammars that stand inside each other are dropped one by one, so that dropping does not recurse.
impl Drop for Embed {
    fn drop(&mut self) {
        let nothing = || EmbedKind::Named(String::new());
        let mut inline = vec![std::mem::replace(&mut self.kind, nothing())];
        while let Some(kind) = inline.pop() {
            if let EmbedKind::Inline(mut grammar) = kind {
                inline.extend(grammar.embeds.iter_mut().map(|embed| std::mem::replace(&mut embed.kind, nothing())));
            }
        }
    }
}

impl Grammar {
    /// A grammar without rules; `start` must be set before it is used.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            options: GrammarOptions::default(),
            regexes: RegexSet::new(),
            terminals: IndexVec::new(),
            rules: IndexVec::new(),
            exprs: IndexVec::new(),
            conditions: IndexVec::new(),
            token_sets: IndexVec::new(),
            embeds: IndexVec::new(),
            automata: IndexVec::new(),
            ignore: Vec::new(),
            indenter: None,
            start: RuleId(0),
        }
    }
    /// Appends a node.
    pub fn expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.exprs.push(Expr { kind, span })
    }
    /// The empty text.
    pub fn empty(&mut self, span: Span) -> ExprId {
        self.expr(ExprKind::sequence([]), span)
    }
    /// One after the other; one alone is itself.
    pub fn sequence(&mut self, parts: Vec<ExprId>, span: Span) -> ExprId {
        match parts.as_slice() {
            &[only] => only,
            _ => self.expr(ExprKind::sequence(parts), span),
        }
    }
    /// Any of them; one alone is itself.
    pub fn choice(&mut self, ways: Vec<ExprId>, span: Span) -> ExprId {
        match ways.as_slice() {
            &[only] => only,
            _ => {
                let ways = ways.into_iter().map(|expr| Alternative { expr, condition: None }).collect();
                self.expr(ExprKind::Choice(ways), span)
            }
        }
    }
    /// Whether a condition holds for a parameter.
    pub fn holds(&self, condition: ConditionId, param: u64) -> bool {
        holds(&self.conditions, condition, param)
    }
}
