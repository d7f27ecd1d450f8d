//! The lowered grammar: lexemes, nonterminals and dotted rules in flat tables.
//!
//! In: a linked grammar (see [`lower`]). Out: [`Cfg`], immutable.
//! Right-hand sides are chains of [`Dot`]s interned by what follows, so that rules that end alike share their tails
//! and equal futures have equal ids.

mod after;
mod but_for;
mod check;
pub(crate) mod lower;
pub(crate) mod params;
mod prune;
mod saved;
mod token_ranges;
mod words;

use std::sync::Arc;

use compact_str::CompactString;
use larkspur_grammar::{
    Automaton, AutomatonId, ByteSet, Condition, ConditionId, GrammarId, IndexVec, LexerMode, ParamExpr, RegexId,
    RegexSet, RuleId, SourceId, Span, State, TerminalId, Text, Unproductive, define_id, param,
};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use self::token_ranges::TokenRanges;
use crate::literal_trie::LiteralTrie;
pub(crate) use saved::{ReadError, SavedCfg};

define_id! {
    /// What the lexer recognises as one piece.
    pub(crate) struct LexemeId = "x";
}
define_id! {
    /// A nonterminal of the lowered grammar.
    pub(crate) struct NonterminalId = "N";
}
define_id! {
    /// A position in a right-hand side, together with all that follows it.
    pub(crate) struct DotId = "d";
}
define_id! {
    /// A resolved set of token ids.
    pub(crate) struct TokenLetterId = "tok";
}

/// Nothing follows: the rule is finished.
pub(crate) const DOT_END: DotId = DotId(0);
/// The start rule is finished: the text is accepted.
pub(crate) const DOT_ACCEPT: DotId = DotId(1);

/// A lowered grammar. Of one that is saved, what is skipped stands beside it: see [`SavedCfg`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Cfg {
    /// `exact` if it is that of some grammar; the others' lexemes then [compete](Lexeme::competes).
    pub mode: LexerMode,
    /// In `longest` mode literals beat regexes of the same match.
    pub keywords: bool,
    /// Nodes of all lexemes' regexes.
    #[serde(skip)]
    pub regexes: RegexSet,
    pub lexemes: IndexVec<LexemeId, Lexeme>,
    pub nonterminals: IndexVec<NonterminalId, Nonterminal>,
    pub dots: IndexVec<DotId, Dot>,
    pub token_letters: IndexVec<TokenLetterId, TokenLetter>,
    /// Ignored terminals of each grammar. Indexed by grammar.
    pub ignored: IndexVec<GrammarId, Vec<LexemeId>>,
    /// Whether ignored text of the grammar is one match only. Indexed by grammar.
    pub ignore_once: IndexVec<GrammarId, bool>,
    /// The item that a text starts with: `START' → • start`.
    pub start: DotId,
    /// Whether some rule has a budget (`max_tokens`).
    #[serde(skip)]
    pub has_scopes: bool,
    /// Whether some alternative has a condition.
    #[serde(skip)]
    pub has_conditions: bool,
    /// Whether some rule or tail is captured.
    #[serde(skip)]
    pub has_captures: bool,
    /// Whether some lexeme has a hidden tail (`stop`).
    #[serde(skip)]
    pub has_hidden: bool,
    /// Whether some nonterminal is an automaton.
    #[serde(skip)]
    pub has_automata: bool,
    /// Whether some lexeme ends only before certain texts.
    #[serde(skip)]
    pub has_follows: bool,
    /// Whether some lexeme begins only after certain texts.
    #[serde(skip)]
    pub has_behinds: bool,
    /// Whether look-around makes places from which no text leads on, as far as that is asked. Set when all is lowered.
    pub has_traps: bool,
    /// Whether the text of some lexeme decides a state.
    #[serde(skip)]
    pub has_recorded: bool,
    /// Whether each lexeme matches nothing. Indexed by lexeme; empty before [`Cfg::prune`].
    pub empty_lexemes: Vec<bool>,
    /// The bytes that may come directly behind each lexeme, at most. Indexed by lexeme; empty where it is not asked, and
    /// before [`Cfg::prune`].
    pub after: Vec<ByteSet>,
    /// Whether the symbol after the dot derives some text that is not empty. Indexed by dot.
    pub reads: Vec<bool>,
    /// What is still asked of the grammars that this was lowered from. Indexed by grammar.
    #[serde(skip)]
    pub origins: IndexVec<GrammarId, GrammarOrigin>,
    /// Whether nothing is forced.
    pub no_forcing: bool,
    /// Whether the root's ignored text may stand at the end where nothing else could; the text may end behind other ignored text
    /// if the item `START' → start •` is of the root's grammar.
    pub ignored_at_end: bool,
    /// What to do with rules that can never be finished.
    pub unproductive: Unproductive,
}

/// What is still asked of a grammar that was lowered.
#[derive(Debug, Default)]
pub(crate) struct GrammarOrigin {
    /// [`GrammarOptions::goes_on_with`](larkspur_grammar::GrammarOptions::goes_on_with).
    pub goes_on_with: Option<ByteSet>,
    pub conditions: IndexVec<ConditionId, Condition>,
    pub automata: IndexVec<AutomatonId, Arc<dyn Automaton>>,
}

/// What the lexer recognises as one piece. Never matches the empty text.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Lexeme {
    /// For messages and dumps.
    pub name: CompactString,
    /// For what is reported while compiling; not saved.
    #[serde(skip, default = "nowhere")]
    pub span: Span,
    pub pattern: Pattern,
    pub priority: i32,
    pub is_literal: bool,
    /// Ends at its first match. In `exact` mode the pattern already is the shortest match.
    pub lazy: bool,
    pub tail: Option<Box<LexemeTail>>,
    pub temperature: Option<f32>,
    /// Set if this is ignored text of that grammar.
    pub ignored_by: Option<GrammarId>,
    /// It is of a grammar in `longest` mode: it ends only where no lexeme that competes, too, and began with it goes on.
    pub competes: bool,
    /// It ends only where the text behind it, up to its end or to a token letter, is one of these.
    pub follow: Option<RegexId>,
    /// It begins only where the text before it, from its start or the last token letter on, is one of these.
    pub behind: Option<RegexId>,
    /// Its text decides the state of an automaton; then the pattern is a regex, and it is neither lazy nor has a tail.
    pub recorded: bool,
    /// Of a recorded lexeme: the pattern is this one but for these texts.
    pub but_for: Option<ButFor>,
}

fn nowhere() -> Span {
    Span { source: SourceId(0), start: 0, end: 0 }
}

/// A pattern, and texts that it matches in vain.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ButFor {
    pub pattern: RegexId,
    /// Sorted.
    pub texts: Arc<[Box<[u8]>]>,
}

/// How a lexeme is recognised.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Pattern {
    /// These bytes.
    Literal(Text),
    /// Any of many literals.
    Literals(Box<LiteralTrie>),
    /// A regex in [`Cfg::regexes`].
    Regex(RegexId),
}

/// What is left of literals is an offset or a trie node.
impl Pattern {
    pub fn is_regex(&self) -> bool {
        matches!(self, Pattern::Regex(_))
    }

    /// What is left of literals after a byte; `None` if they do not take it, or of a regex.
    pub fn literal_after(&self, rest: u32, byte: u8) -> Option<u32> {
        self.literal_children(rest).find(|child| child.0 == byte).map(|child| child.1)
    }

    /// The bytes that literals take, each with what is then left. None for a regex.
    pub fn literal_children(&self, rest: u32) -> impl Iterator<Item = (u8, u32)> + '_ {
        let (single, many) = match self {
            Pattern::Literal(bytes) => (bytes.get(rest as usize).map(|&byte| (byte, rest + 1)), None),
            Pattern::Literals(trie) => (None, Some(trie.children(rest))),
            Pattern::Regex(_) => (None, None),
        };
        single.into_iter().chain(many.into_iter().flatten())
    }

    /// The bytes that literals take. None for a regex.
    pub fn literal_bytes(&self, rest: u32) -> ByteSet {
        let mut bytes = ByteSet::EMPTY;
        self.literal_children(rest).for_each(|(byte, _)| bytes.insert(byte));
        bytes
    }

    /// Whether a literal ends here.
    pub fn is_literal_end(&self, rest: u32) -> bool {
        match self {
            Pattern::Literal(bytes) => rest as usize == bytes.len(),
            Pattern::Literals(trie) => trie.is_leaf(rest),
            Pattern::Regex(_) => false,
        }
    }
}

/// The end of a lexeme that is not part of its capture.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LexemeTail {
    /// The lexeme without its tail.
    pub body: RegexId,
    pub tail: RegexId,
    /// The tail's text, if it has only one.
    pub literal: Option<Box<[u8]>>,
    /// `stop`: taken back from the output where that is possible.
    pub hidden: bool,
    pub capture: Option<String>,
}

impl Lexeme {
    /// Whether it ends with the text of a `stop`, which is read again where it is all that can follow.
    pub fn may_read_again(&self) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.hidden && tail.literal.is_some())
    }
}

/// A nonterminal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Nonterminal {
    /// The rule's name, or that of the rule it is a part of with a number.
    pub name: CompactString,
    pub alternatives: LoweredAlternatives,
    /// Whether it derives the empty text; with conditions, for some parameter. Not said of an automaton: its states know.
    pub nullable: bool,
    /// Whether it derives some text; with conditions, for some parameter.
    pub productive: bool,
    /// Budget of a rule with `max_tokens`.
    pub max_tokens: Option<u32>,
    /// Captured under this name.
    pub capture: Option<String>,
    pub priority: i32,
    /// Whether this is a rule, not a part of one.
    pub is_rule: bool,
    /// Whether this is a rule that takes a parameter.
    pub parametric: bool,
    /// In place of alternatives.
    pub automaton: Option<Box<LoweredAutomaton>>,
    /// The embedded grammar that this is of, if nothing in it swallows what follows. For what is reported while compiling; not
    /// saved.
    #[serde(skip)]
    pub within: Option<GrammarId>,
}

/// What the edges of an automaton are lowered to.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LoweredAutomaton {
    pub grammar: GrammarId,
    pub id: AutomatonId,
    /// The dot that follows an edge: before the nonterminal itself, which is all that is left.
    pub tail: DotId,
    /// A lexeme for each terminal, and for each of those that are recorded. Sparse: terminals that match only the empty text, and
    /// recorded ones that are lazy, are left out.
    #[serde(serialize_with = "saved::in_order")]
    pub lexemes: FxHashMap<TerminalId, LexemeId>,
    #[serde(serialize_with = "saved::in_order")]
    pub recorded: FxHashMap<TerminalId, LexemeId>,
    /// Those that derive more than the empty text.
    #[serde(serialize_with = "saved::in_order")]
    pub rules: FxHashMap<RuleId, NonterminalId>,
}

/// Right-hand sides; most nonterminals have one or two.
pub(crate) type LoweredAlternatives = SmallVec<[LoweredAlternative; 2]>;

/// One right-hand side.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct LoweredAlternative {
    pub dot: DotId,
    pub condition: Option<(GrammarId, ConditionId)>,
}

/// A position before a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) struct Dot {
    pub symbol: Symbol,
    /// What the symbol is passed, if it is a nonterminal.
    pub arg: ParamExpr,
    /// The symbol may be left out.
    pub optional: bool,
    pub next: DotId,
    /// The grammar whose ignored text may stand here; `None` for the start's edges.
    pub grammar: Option<GrammarId>,
}

/// What stands after a dot.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub(crate) enum Symbol {
    Lexeme(LexemeId),
    Tokens(TokenLetterId),
    Nonterminal(NonterminalId),
    /// [`DOT_END`] and [`DOT_ACCEPT`].
    Nothing,
}

impl Symbol {
    pub fn nonterminal(self) -> Option<NonterminalId> {
        if let Symbol::Nonterminal(id) = self { Some(id) } else { None }
    }
}

/// A set of tokens that stands in a rule, resolved for the vocabulary.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct TokenLetter {
    pub text: String,
    #[serde(skip)]
    pub tokens: TokenRanges,
    pub hidden: bool,
}

impl Cfg {
    /// Decides what there is, from the tables.
    fn note_features(&mut self) {
        let Self { lexemes, nonterminals, .. } = self;
        let tails = || lexemes.iter().filter_map(|lexeme| lexeme.tail.as_ref());
        self.has_scopes = nonterminals.iter().any(|nonterminal| nonterminal.max_tokens.is_some());
        self.has_conditions = nonterminals.iter().any(|n| n.alternatives.iter().any(|a| a.condition.is_some()));
        self.has_captures = nonterminals.iter().any(|nonterminal| nonterminal.capture.is_some())
            || tails().any(|tail| tail.capture.is_some());
        self.has_hidden = tails().any(|tail| tail.hidden);
        self.has_automata = nonterminals.iter().any(|nonterminal| nonterminal.automaton.is_some());
        self.has_follows = lexemes.iter().any(|lexeme| lexeme.follow.is_some());
        self.has_behinds = lexemes.iter().any(|lexeme| lexeme.behind.is_some());
        self.has_recorded = lexemes.iter().any(|lexeme| lexeme.recorded);
    }
    /// The automaton of a nonterminal that has one.
    pub fn automaton(&self, id: NonterminalId) -> Option<&dyn Automaton> {
        let automaton = self.nonterminals[id].automaton.as_ref()?;
        Some(&*self.origins[automaton.grammar].automata[automaton.id])
    }
    /// The state in which an automaton starts at a dot in an ordinary right-hand side.
    pub fn start_state(&self, dot: &Dot) -> Option<State> {
        match (dot.symbol, dot.arg) {
            (Symbol::Nonterminal(id), ParamExpr::Const(start)) => Some(self.automaton(id)?.start(start as u32)),
            _ => None,
        }
    }
    /// Whether the symbol at a dot in an ordinary right-hand side is an automaton that may be left out.
    pub fn starts_final(&self, dot: &Dot) -> bool {
        let Symbol::Nonterminal(id) = dot.symbol else { return false };
        let (automaton, start) = (self.automaton(id), self.start_state(dot));
        automaton.zip(start).is_some_and(|(automaton, start)| automaton.is_final(&start))
    }
    /// Whether the condition of an alternative holds for a parameter.
    pub fn holds(&self, alternative: LoweredAlternative, param: u64) -> bool {
        alternative
            .condition
            .is_none_or(|(grammar, condition)| param::holds(&self.origins[grammar].conditions, condition, param))
    }
    /// A nonterminal, a lexeme or a token set as it shows in dumps.
    pub fn symbol_name(&self, symbol: Symbol) -> String {
        match symbol {
            Symbol::Lexeme(id) => self.lexemes[id].name.to_string(),
            Symbol::Tokens(id) => self.token_letters[id].text.clone(),
            Symbol::Nonterminal(id) => self.nonterminals[id].name.to_string(),
            Symbol::Nothing => String::new(),
        }
    }
}
