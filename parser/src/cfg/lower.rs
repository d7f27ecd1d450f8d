//! Lowering of the linked IR: instances of rules on demand, repetition to left recursion, literals to groups.
//!
//! Nothing recurses: what a right-hand side holds is queued as a nonterminal of its own.

mod automaton;
mod levels;

use compact_str::{ToCompactString, format_compact};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use larkspur_grammar::hashing::hash_of;
use larkspur_grammar::index::IdMap;
use larkspur_grammar::{
    Alternative, AutomatonId, Diagnostic, ExprId, ExprKind, Grammar, GrammarId, Imported, IndexVec, LexerMode, Limits,
    LinkedGrammar, ParamExpr, RegexId, RegexNode, RegexSet, RuleId, Span, TerminalId, Text, TokenItem, TokenSetId,
    diagnostic::did_you_mean,
};
use larkspur_toktrie::Vocabulary;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

use super::but_for::but_for;
use super::words::words;
use super::*;

/// A rule or a part of one, in the context that decides what it lowers to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Context {
    grammar: GrammarId,
    /// Bits of the temperature that holds here.
    temperature: Option<u32>,
}

/// What a nonterminal was made for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    Rule(Context, RuleId),
    Part(Context, ExprId),
    Element(Context, ExprId),
    /// One or more.
    Many(Atom),
    /// Exactly this many.
    Power(Atom, u32),
    /// One to this many.
    UpTo(Atom, u32),
    Automaton(Context, AutomatonId),
}

impl Origin {
    fn grammar(self) -> GrammarId {
        match self {
            Origin::Rule(Context { grammar, .. }, _)
            | Origin::Part(Context { grammar, .. }, _)
            | Origin::Element(Context { grammar, .. }, _)
            | Origin::Automaton(Context { grammar, .. }, _)
            | Origin::Many(Atom { grammar, .. })
            | Origin::Power(Atom { grammar, .. }, _)
            | Origin::UpTo(Atom { grammar, .. }, _) => grammar,
        }
    }
}

/// What rules, their parts and terminals of a grammar have become where no temperature holds.
#[derive(Default)]
struct Plain {
    rules: IdMap<RuleId, NonterminalId>,
    parts: IdMap<ExprId, NonterminalId>,
    terminals: IdMap<TerminalId, LoweredTerminal>,
}

/// The lexeme of a terminal, and whether the terminal may be left out; `None` if it is the empty text only.
type LoweredTerminal = Option<(LexemeId, bool)>;

/// A symbol with all that its place in a right-hand side says of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Atom {
    symbol: Symbol,
    arg: ParamExpr,
    optional: bool,
    grammar: GrammarId,
}

/// A right-hand side; most are short.
type Atoms = SmallVec<[Atom; 8]>;

struct Lowering<'a> {
    linked: &'a LinkedGrammar,
    mode: LexerMode,
    vocabulary: &'a Vocabulary,
    limits: &'a Limits,
    /// The root's, and what is needed of those of other grammars.
    regexes: RegexSet,
    /// What of each other grammar's regexes is among those.
    imported: IndexVec<GrammarId, Imported>,
    lexemes: IndexVec<LexemeId, Lexeme>,
    lexeme_ids: FxHashMap<LexemeKey, LexemeId>,
    plain: IndexVec<GrammarId, Plain>,
    /// Where a temperature holds.
    terminal_ids: FxHashMap<(Context, TerminalId), Option<LoweredTerminal>>,
    nonterminals: IndexVec<NonterminalId, Nonterminal>,
    /// Of all that is not in `plain`.
    origins: FxHashMap<Origin, Option<NonterminalId>>,
    queue: Vec<(NonterminalId, Origin)>,
    dots: IndexVec<DotId, Dot>,
    /// By what is in `dots`.
    dot_ids: HashTable<DotId>,
    token_letters: IndexVec<TokenLetterId, TokenLetter>,
    token_letter_ids: FxHashMap<(GrammarId, TokenSetId), TokenLetterId>,
    diagnostics: Vec<Diagnostic>,
    symbols: usize,
    /// Whether some rule is captured.
    has_captures: bool,
}

#[derive(PartialEq, Eq, Hash)]
struct LexemeKey {
    pattern: RegexId,
    priority: i32,
    is_literal: bool,
    lazy: bool,
    tail: Option<Box<TailKey>>,
    temperature: Option<u32>,
    ignored_by: Option<GrammarId>,
    competes: bool,
    follow: Option<RegexId>,
    behind: Option<RegexId>,
    recorded: bool,
}

/// Of a [`LexemeTail`] what tells it apart.
#[derive(PartialEq, Eq, Hash)]
struct TailKey {
    body: RegexId,
    tail: RegexId,
    hidden: bool,
    capture: Option<String>,
}

impl LexemeKey {
    /// A lexeme of a rule, without look-around or a tail, that is not recorded.
    fn plain(pattern: RegexId, priority: i32, is_literal: bool) -> Self {
        Self {
            pattern,
            priority,
            is_literal,
            lazy: false,
            tail: None,
            temperature: None,
            ignored_by: None,
            competes: false,
            follow: None,
            behind: None,
            recorded: false,
        }
    }
}

/// Alternatives that are compared with each other without a table.
const FEW: usize = 16;

/// Entries of a table for which room is made at once at most.
const ROOM_MAX: usize = 1 << 14;

/// Lowers `linked` for a vocabulary.
///
/// Errors: unknown special tokens (`V001`), ids past the vocabulary (`V002`), too many symbols (`B001`).
/// Emptiness of lexemes is not known here: see [`Cfg::prune`].
pub(crate) fn lower(
    mut linked: LinkedGrammar,
    vocabulary: &Vocabulary,
    limits: &Limits,
) -> Result<(Cfg, Vec<Diagnostic>), Vec<Diagnostic>> {
    // Most grammars are alone: their regexes need no copy.
    let regexes = std::mem::take(&mut linked.grammars[linked.root].regexes);
    let mut lowering = Lowering {
        linked: &linked,
        mode: mode(&linked),
        vocabulary,
        limits,
        regexes,
        imported: linked.grammars.iter().map(|_| Imported::default()).collect::<Vec<_>>().into(),
        lexemes: IndexVec::new(),
        lexeme_ids: FxHashMap::default(),
        plain: linked.grammars.iter().map(|_| Plain::default()).collect::<Vec<_>>().into(),
        terminal_ids: FxHashMap::default(),
        nonterminals: IndexVec::new(),
        origins: FxHashMap::default(),
        queue: Vec::new(),
        dots: IndexVec::new(),
        dot_ids: HashTable::new(),
        token_letters: IndexVec::new(),
        token_letter_ids: FxHashMap::default(),
        diagnostics: Vec::new(),
        symbols: 0,
        has_captures: linked.grammars.iter().any(|grammar| grammar.rules.iter().any(|rule| rule.capture.is_some())),
    };
    lowering.make_room();
    let start = lowering.start();
    if !lowering.run() {
        let span = linked.grammars[linked.root].rules[linked.grammars[linked.root].start].span;
        let message = format!("the grammar has more than {} symbols after lowering", limits.grammar_symbols_max);
        lowering.diagnostics.push(
            Diagnostic::error("B001", span, message)
                .help("raise the limit `grammar_symbols_max`, or make counts smaller"),
        );
    }
    let (ignored, ignore_once) = lowering.ignored();
    lowering.merge_levels(start);
    let Lowering { mode, regexes, lexemes, nonterminals, dots, token_letters, mut diagnostics, .. } = lowering;
    diagnostics.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| (label.span.source, label.span.start)));
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let options = &linked.grammars[linked.root].options;
    let (keywords, no_forcing, unproductive) = (options.keywords, options.no_forcing, options.unproductive);
    let ignored_at_end = options.ignore_edges.trailing();
    let origin = |grammar: Grammar| GrammarOrigin {
        goes_on_with: grammar.options.goes_on_with,
        conditions: grammar.conditions,
        automata: grammar.automata,
    };
    let mut cfg = Cfg {
        mode,
        keywords,
        regexes,
        lexemes,
        nonterminals,
        dots,
        token_letters,
        ignored,
        ignore_once,
        start,
        has_scopes: false,
        has_conditions: false,
        has_captures: false,
        has_hidden: false,
        has_automata: false,
        has_follows: false,
        has_behinds: false,
        has_traps: false,
        has_recorded: false,
        empty_lexemes: Vec::new(),
        after: Vec::new(),
        reads: Vec::new(),
        origins: linked.grammars.into_vec().into_iter().map(origin).collect::<Vec<_>>().into(),
        no_forcing,
        ignored_at_end,
        unproductive,
    };
    cfg.note_features();
    Ok((cfg, diagnostics))
}

impl Nonterminal {
    /// A part of a rule, without alternatives.
    fn part() -> Self {
        Self {
            name: CompactString::default(),
            alternatives: SmallVec::new(),
            nullable: false,
            productive: false,
            max_tokens: None,
            capture: None,
            priority: 0,
            is_rule: false,
            parametric: false,
            automaton: None,
            within: None,
        }
    }
}

impl<'a> Lowering<'a> {
    /// Tables that grow as they are filled were a tenth of the time. Of large grammars perhaps little is reached.
    fn make_room(&mut self) {
        let sum = |len: fn(&Grammar) -> usize| self.linked.grammars.iter().map(len).sum::<usize>().min(ROOM_MAX);
        let terminals = sum(|grammar| grammar.terminals.len());
        let (rules, exprs) = (sum(|grammar| grammar.rules.len()), sum(|grammar| grammar.exprs.len()));
        // A terminal may be several lexemes, and parts of rules are nonterminals of their own.
        self.lexemes.reserve(2 * terminals);
        self.lexeme_ids.reserve(terminals);
        self.nonterminals.reserve(2 * rules);
        self.dots.reserve(exprs);
        let dots = &self.dots;
        self.dot_ids.reserve(exprs, |&id| hash_of(&dots[id]));
    }

    /// The dots `START' → • start` and its two fixed companions.
    fn start(&mut self) -> DotId {
        let root = self.linked.root;
        let grammar = &self.linked.grammars[root];
        let edges = grammar.options.ignore_edges;
        let nothing =
            Dot { symbol: Symbol::Nothing, arg: ParamExpr::Same, optional: false, next: DOT_END, grammar: None };
        let end = self.dots.push(nothing);
        let accept = self.dots.push(Dot { grammar: edges.may_end_open().then_some(root), ..nothing });
        debug_assert_eq!((end, accept), (DOT_END, DOT_ACCEPT));
        let context = Context { grammar: root, temperature: None };
        let start = self.nonterminal(Origin::Rule(context, grammar.start));
        self.dots.push(Dot {
            symbol: Symbol::Nonterminal(start),
            arg: ParamExpr::Const(0),
            optional: false,
            next: DOT_ACCEPT,
            grammar: edges.leading().then_some(root),
        })
    }

    /// Lowers all that is queued. False past the symbol limit.
    fn run(&mut self) -> bool {
        while let Some((id, origin)) = self.queue.pop() {
            let alternatives = match origin {
                Origin::Rule(context, rule) => self.rule(context, rule),
                Origin::Part(context, expr) => self.alternatives(context, expr),
                Origin::Element(context, expr) => {
                    let mut atoms = Atoms::new();
                    self.sequence(context, expr, &mut atoms);
                    smallvec![self.alternative(&atoms)]
                }
                Origin::Many(atom) => {
                    let many = Atom { symbol: Symbol::Nonterminal(id), arg: ParamExpr::Same, optional: false, ..atom };
                    smallvec![self.alternative(&[atom]), self.alternative(&[many, atom])]
                }
                Origin::Power(atom, count) => {
                    let atoms = [self.power(atom, count / 2), self.power(atom, count - count / 2)].concat();
                    smallvec![self.alternative(&atoms)]
                }
                Origin::UpTo(atom, count) => self.up_to_alternatives(atom, count),
                Origin::Automaton(context, automaton) => {
                    self.automaton(id, context, automaton);
                    SmallVec::new()
                }
            };
            self.nonterminals[id].alternatives = alternatives;
            if self.symbols > self.limits.grammar_symbols_max {
                return false;
            }
        }
        true
    }

    /// Where the nonterminal of an origin is noted.
    fn nonterminal_slot(&mut self, origin: Origin) -> &mut Option<NonterminalId> {
        match origin {
            Origin::Rule(Context { grammar, temperature: None }, rule) => self.plain[grammar].rules.slot(rule),
            // What is a choice is a part, all else an element.
            Origin::Part(Context { grammar, temperature: None }, expr)
            | Origin::Element(Context { grammar, temperature: None }, expr) => self.plain[grammar].parts.slot(expr),
            _ => self.origins.entry(origin).or_default(),
        }
    }

    fn nonterminal(&mut self, origin: Origin) -> NonterminalId {
        if let Some(id) = *self.nonterminal_slot(origin) {
            return id;
        }
        let within = Some(origin.grammar()).filter(|&grammar| self.swallows_nothing(grammar));
        let mut nonterminal = Nonterminal { within, ..Nonterminal::part() };
        let number = self.nonterminals.len();
        match origin {
            Origin::Rule(context, rule_id) => {
                let rule = &self.linked.grammars[context.grammar].rules[rule_id];
                nonterminal.name = rule.name.clone();
                nonterminal.max_tokens = rule.max_tokens.filter(|&tokens| tokens > 0);
                nonterminal.capture = rule.capture.clone();
                nonterminal.priority = rule.priority;
                nonterminal.is_rule = true;
                nonterminal.parametric = rule.parametric;
            }
            Origin::Part(..) | Origin::Element(..) => nonterminal.name = numbered("part", number),
            Origin::Many(_) => nonterminal.name = numbered("many", number),
            Origin::Power(_, count) => nonterminal.name = format_compact!("exactly{count}_{number}"),
            Origin::UpTo(_, count) => nonterminal.name = format_compact!("upto{count}_{number}"),
            Origin::Automaton(_, automaton) => nonterminal.name = format_compact!("{automaton}_{number}"),
        }
        self.symbols += 1;
        let id = self.nonterminals.push(nonterminal);
        *self.nonterminal_slot(origin) = Some(id);
        self.queue.push((id, origin));
        id
    }

    fn rule(&mut self, context: Context, rule_id: RuleId) -> LoweredAlternatives {
        let rule = &self.linked.grammars[context.grammar].rules[rule_id];
        if rule.max_tokens == Some(0) {
            return smallvec![LoweredAlternative { dot: DOT_END, condition: None }];
        }
        let temperature = rule.temperature.map(f32::to_bits).or(context.temperature);
        self.alternatives(Context { temperature, ..context }, rule.body)
    }

    /// What the edges of an automaton can read, and the dot behind them.
    fn automaton(&mut self, id: NonterminalId, context: Context, automaton_id: AutomatonId) {
        let grammar = &self.linked.grammars[context.grammar];
        let automaton = &grammar.automata[automaton_id];
        let itself =
            Atom { symbol: Symbol::Nonterminal(id), arg: ParamExpr::Same, optional: false, grammar: context.grammar };
        let tail = self.alternative(&[itself]).dot;
        let mut lowered = LoweredAutomaton {
            grammar: context.grammar,
            id: automaton_id,
            tail,
            lexemes: FxHashMap::default(),
            recorded: FxHashMap::default(),
            rules: FxHashMap::default(),
        };
        for &terminal in automaton.terminals() {
            self.symbols += 1;
            lowered.lexemes.extend(self.terminal(context, terminal).map(|(lexeme, _)| (terminal, lexeme)));
        }
        for &terminal in automaton.recorded() {
            self.symbols += 1;
            lowered.recorded.extend(self.recorded(context, terminal).map(|lexeme| (terminal, lexeme)));
        }
        for &rule in automaton.rules() {
            self.symbols += 1;
            lowered.rules.insert(rule, self.nonterminal(Origin::Rule(context, rule)));
        }
        self.nonterminals[id].automaton = Some(Box::new(lowered));
    }

    fn import(&mut self, grammar: GrammarId, regex: RegexId) -> RegexId {
        if grammar == self.linked.root {
            return regex;
        }
        self.regexes.import_with(&self.linked.grammars[grammar].regexes, regex, &mut self.imported[grammar])
    }

    /// The lexeme of a terminal whose text is recorded; `None` if it is the empty text only, or lazy.
    fn recorded(&mut self, context: Context, id: TerminalId) -> Option<LexemeId> {
        let grammar = &self.linked.grammars[context.grammar];
        let terminal = &grammar.terminals[id];
        let regex = self.import(context.grammar, terminal.regex);
        let looks = terminal.follow.is_some() || terminal.behind.is_some();
        let is_plain = !terminal.lazy && terminal.tail.is_none() && !looks;
        if !is_plain || self.regexes.info(regex).len_max == Some(0) {
            return None;
        }
        let pattern = self.without_empty(regex);
        let key = LexemeKey {
            temperature: context.temperature,
            competes: self.competes(context.grammar),
            recorded: true,
            ..LexemeKey::plain(pattern, terminal.priority, terminal.is_literal)
        };
        Some(self.lexeme(key, &terminal.name, terminal.span))
    }

    /// The alternatives of a right-hand side, in order of preference; literals gathered where the first one stands.
    fn alternatives(&mut self, context: Context, body: ExprId) -> LoweredAlternatives {
        let grammar = &self.linked.grammars[context.grammar];
        if !matches!(grammar.exprs[body].kind, ExprKind::Choice(_)) {
            let mut atoms = Atoms::new();
            self.sequence(context, body, &mut atoms);
            return smallvec![self.alternative(&atoms)];
        }
        // Choices within choices are flattened.
        let mut leaves: SmallVec<[Alternative; 8]> = SmallVec::new();
        let mut stack: SmallVec<[Alternative; 8]> = smallvec![Alternative { expr: body, condition: None }];
        while let Some(alternative) = stack.pop() {
            match &grammar.exprs[alternative.expr].kind {
                ExprKind::Choice(inner) if alternative.condition.is_none() => stack.extend(inner.iter().rev().copied()),
                _ => leaves.push(alternative),
            }
        }
        let grouped = self.literal_groups(context, &leaves);
        let mut lowered = LoweredAlternatives::with_capacity(leaves.len());
        let mut seen = FxHashSet::default();
        let mut atoms = Atoms::new();
        for (index, leaf) in leaves.iter().enumerate() {
            atoms.clear();
            match *grouped.get(index).unwrap_or(&Grouped::No) {
                Grouped::No => self.sequence(context, leaf.expr, &mut atoms),
                Grouped::First(lexeme) => atoms.push(self.lexeme_atom(context, lexeme, false)),
                Grouped::Rest => continue,
            };
            let mut alternative = self.alternative(&atoms);
            alternative.condition = leaf.condition.map(|condition| (context.grammar, condition));
            let is_new = match leaves.len() {
                ..=FEW => !lowered.contains(&alternative),
                _ => seen.insert(alternative),
            };
            if is_new {
                lowered.push(alternative);
            }
        }
        lowered
    }

    /// Which alternatives are plain literals of equal attributes: they become one lexeme, since the same items wait
    /// for each of them. Empty if none are.
    fn literal_groups(&mut self, context: Context, leaves: &[Alternative]) -> Vec<Grouped> {
        let grammar = &self.linked.grammars[context.grammar];
        let is_terminal = |leaf: &&Alternative| matches!(grammar.exprs[leaf.expr].kind, ExprKind::Terminal(_));
        if leaves.iter().filter(is_terminal).nth(1).is_none() {
            return Vec::new();
        }
        let mut groups: FxHashMap<(i32, bool, usize), Vec<usize>> = FxHashMap::default();
        // Captures tell which alternative it is: literals are then not moved over something that may hold one.
        let mut run = 0;
        for (index, leaf) in leaves.iter().enumerate() {
            let ExprKind::Terminal(id) = grammar.exprs[leaf.expr].kind else {
                run += usize::from(self.has_captures);
                continue;
            };
            let terminal = &grammar.terminals[id];
            let regexes = if context.grammar == self.linked.root { &self.regexes } else { &grammar.regexes };
            let is_text = matches!(regexes.node(terminal.regex), RegexNode::Literal(bytes) if !bytes.is_empty());
            if leaf.condition.is_none()
                && is_text
                && !terminal.lazy
                && terminal.tail.is_none()
                && terminal.follow.is_none()
                && terminal.behind.is_none()
            {
                groups.entry((terminal.priority, terminal.is_literal, run)).or_default().push(index);
            }
        }
        let mut grouped: Vec<Grouped> = leaves.iter().map(|_| Grouped::No).collect();
        for ((priority, is_literal, _), members) in groups {
            if members.len() < 2 {
                continue;
            }
            let terminals = members.iter().map(|&index| {
                let ExprKind::Terminal(id) = grammar.exprs[leaves[index].expr].kind else { unreachable!("a terminal") };
                &grammar.terminals[id]
            });
            let terminals: Vec<_> = terminals.collect();
            let literals: Vec<RegexId> =
                terminals.iter().map(|terminal| self.import(context.grammar, terminal.regex)).collect();
            let names: Vec<&str> = terminals.iter().take(4).map(|terminal| terminal.name.as_str()).collect();
            let more = if terminals.len() > 4 { format!(" | … ({} in all)", terminals.len()) } else { String::new() };
            let pattern = self.regexes.or(&literals);
            let key = LexemeKey {
                temperature: context.temperature,
                competes: self.competes(context.grammar),
                ..LexemeKey::plain(pattern, priority, is_literal)
            };
            let name = format_compact!("{}{more}", names.join(" | "));
            let lexeme = self.lexeme(key, &name, terminals[0].span);
            for &index in &members {
                grouped[index] = Grouped::Rest;
            }
            grouped[members[0]] = Grouped::First(lexeme);
        }
        grouped
    }

    /// Appends the symbols of a right-hand side without choices.
    fn sequence(&mut self, context: Context, body: ExprId, atoms: &mut Atoms) {
        let linked = self.linked;
        let grammar = &linked.grammars[context.grammar];
        let mut stack: SmallVec<[ExprId; 8]> = SmallVec::from_slice(&[body]);
        while let Some(expr) = stack.pop() {
            match &grammar.exprs[expr].kind {
                ExprKind::Sequence(parts) => parts.iter().rev().for_each(|&part| stack.push(part)),
                ExprKind::Repeat(child, min, max) => {
                    let Some(atom) = self.element(context, *child) else { continue };
                    self.repeat(atom, *min, *max, atoms);
                }
                _ => self.element(context, expr).into_iter().for_each(|atom| atoms.push(atom)),
            }
        }
    }

    /// One symbol for an expression; `None` if it only derives the empty text.
    fn element(&mut self, context: Context, expr: ExprId) -> Option<Atom> {
        let linked = self.linked;
        let grammar = &linked.grammars[context.grammar];
        let atom = |symbol, arg| Some(Atom { symbol, arg, optional: false, grammar: context.grammar });
        match &grammar.exprs[expr].kind {
            ExprKind::Terminal(id) => {
                let (lexeme, optional) = self.terminal(context, *id)?;
                Some(self.lexeme_atom(context, lexeme, optional))
            }
            ExprKind::Tokens(id) => atom(Symbol::Tokens(self.tokens(context.grammar, *id)), ParamExpr::Same),
            ExprKind::Rule(rule, arg) => {
                let arg = arg.unwrap_or(ParamExpr::Const(0));
                atom(Symbol::Nonterminal(self.nonterminal(Origin::Rule(context, *rule))), arg)
            }
            ExprKind::Embed(embed) => {
                let target = grammar.embeds[*embed].target.expect("grammars are linked");
                let inner = Context { grammar: target, ..context };
                let start = grammar.embeds[*embed].rule.unwrap_or(linked.grammars[target].start);
                atom(Symbol::Nonterminal(self.nonterminal(Origin::Rule(inner, start))), ParamExpr::Const(0))
            }
            &ExprKind::Automaton(id, start) => {
                let automaton = self.nonterminal(Origin::Automaton(context, id));
                atom(Symbol::Nonterminal(automaton), ParamExpr::Const(start.into()))
            }
            ExprKind::Choice(_) => {
                atom(Symbol::Nonterminal(self.nonterminal(Origin::Part(context, expr))), ParamExpr::Same)
            }
            ExprKind::Sequence(parts) => match parts.as_slice() {
                [] => None,
                &[only] if !matches!(grammar.exprs[only].kind, ExprKind::Sequence(_)) => self.element(context, only),
                _ => atom(Symbol::Nonterminal(self.nonterminal(Origin::Element(context, expr))), ParamExpr::Same),
            },
            ExprKind::Repeat(..) => {
                atom(Symbol::Nonterminal(self.nonterminal(Origin::Element(context, expr))), ParamExpr::Same)
            }
        }
    }

    fn lexeme_atom(&self, context: Context, lexeme: LexemeId, optional: bool) -> Atom {
        Atom { symbol: Symbol::Lexeme(lexeme), arg: ParamExpr::Same, optional, grammar: context.grammar }
    }

    /// Appends `atom` `min` to `max` times: powers by halves, the open end as left recursion without nullable tails.
    fn repeat(&mut self, atom: Atom, min: u32, max: Option<u32>, atoms: &mut Atoms) {
        let core = Atom { optional: false, ..atom };
        let min = if atom.optional { 0 } else { min };
        let of = |symbol, optional| Atom { symbol, arg: ParamExpr::Same, optional, grammar: atom.grammar };
        match max {
            None => {
                if min > 1 {
                    atoms.extend(self.power(core, min - 1));
                }
                let many = self.nonterminal(Origin::Many(core));
                atoms.push(of(Symbol::Nonterminal(many), min == 0));
            }
            Some(0) => {}
            Some(max) => {
                atoms.extend(self.power(core, min));
                match max - min {
                    0 => {}
                    1 => atoms.push(Atom { optional: true, ..core }),
                    rest => {
                        let rest = self.nonterminal(Origin::UpTo(core, rest));
                        atoms.push(of(Symbol::Nonterminal(rest), true));
                    }
                }
            }
        }
    }

    /// `atom` exactly `count` times.
    fn power(&mut self, atom: Atom, count: u32) -> Atoms {
        if count <= 3 {
            return smallvec![atom; count as usize];
        }
        let power = self.nonterminal(Origin::Power(atom, count));
        smallvec![Atom { symbol: Symbol::Nonterminal(power), arg: ParamExpr::Same, optional: false, ..atom }]
    }

    /// `atom` one to `count` times, without ambiguity: fewer than half, or exactly half and then up to the rest.
    fn up_to_alternatives(&mut self, atom: Atom, count: u32) -> LoweredAlternatives {
        let half = count.div_ceil(2);
        let mut full = self.power(atom, half);
        self.repeat(atom, 0, Some(count - half), &mut full);
        let mut alternatives: LoweredAlternatives = smallvec![self.alternative(&full)];
        if half > 1 {
            let mut fewer = Atoms::new();
            self.repeat(atom, 0, Some(half - 1), &mut fewer);
            fewer.iter_mut().for_each(|atom| atom.optional = false);
            alternatives.push(self.alternative(&fewer));
        }
        alternatives
    }

    /// Interns the dots of a right-hand side, from its end.
    fn alternative(&mut self, atoms: &[Atom]) -> LoweredAlternative {
        self.symbols += atoms.len();
        let mut next = DOT_END;
        for atom in atoms.iter().rev() {
            let Atom { symbol, arg, optional, grammar } = *atom;
            let dot = Dot { symbol, arg, optional, next, grammar: Some(grammar) };
            let dots = &mut self.dots;
            let hash = hash_of(&dot);
            next = match self.dot_ids.entry(hash, |&id| dots[id] == dot, |&id| hash_of(&dots[id])) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => *new.insert(dots.push(dot)).get(),
            };
        }
        LoweredAlternative { dot: next, condition: None }
    }

    /// Where it is noted what a terminal has become.
    fn terminal_slot(&mut self, context: Context, id: TerminalId) -> &mut Option<LoweredTerminal> {
        match context.temperature {
            None => self.plain[context.grammar].terminals.slot(id),
            Some(_) => self.terminal_ids.entry((context, id)).or_default(),
        }
    }

    /// See [`LoweredTerminal`].
    fn terminal(&mut self, context: Context, id: TerminalId) -> LoweredTerminal {
        if let Some(known) = *self.terminal_slot(context, id) {
            return known;
        }
        let grammar = &self.linked.grammars[context.grammar];
        let terminal = &grammar.terminals[id];
        let body = self.import(context.grammar, terminal.regex);
        let tail = terminal.tail.as_ref().map(|tail| {
            let regex = self.import(context.grammar, tail.regex);
            Box::new(TailKey { body, tail: regex, hidden: tail.hidden, capture: tail.capture.clone() })
        });
        let whole = match tail.as_deref() {
            Some(&TailKey { tail, .. }) => self.regexes.concat(&[body, tail]),
            None => body,
        };
        let optional = self.regexes.info(whole).nullable;
        let lazy = terminal.lazy || tail.is_some();
        let lowered = if optional && (lazy || self.regexes.info(whole).len_max == Some(0)) {
            // The empty match is the first one: nothing else can ever end a lazy lexeme.
            None
        } else {
            let pattern = self.without_empty(whole);
            let key = LexemeKey {
                lazy,
                tail,
                temperature: context.temperature,
                competes: self.competes(context.grammar),
                follow: terminal.follow.map(|follow| self.import(context.grammar, follow)),
                behind: terminal.behind.map(|behind| self.import(context.grammar, behind)),
                ..LexemeKey::plain(pattern, terminal.priority, terminal.is_literal)
            };
            Some((self.lexeme(key, &terminal.name, terminal.span), optional))
        };
        *self.terminal_slot(context, id) = Some(lowered);
        lowered
    }

    fn without_empty(&mut self, regex: RegexId) -> RegexId {
        if !self.regexes.info(regex).nullable {
            return regex;
        }
        if let RegexNode::Or(parts) = self.regexes.node(regex) {
            let epsilon = RegexNode::Literal(Default::default());
            let rest: Vec<RegexId> =
                parts.iter().copied().filter(|&part| *self.regexes.node(part) != epsilon).collect();
            if rest.iter().all(|&part| !self.regexes.info(part).nullable) {
                return self.regexes.or(&rest);
            }
        }
        if let RegexNode::Repeat(child, 0, max) = *self.regexes.node(regex)
            && !self.regexes.info(child).nullable
        {
            return self.regexes.repeat(child, 1, max);
        }
        let byte = self.regexes.any_byte();
        let some = self.regexes.repeat(byte, 1, None);
        self.regexes.and(&[regex, some])
    }

    fn lexeme(&mut self, key: LexemeKey, name: &CompactString, span: Span) -> LexemeId {
        if let Some(&id) = self.lexeme_ids.get(&key) {
            return id;
        }
        let regex = key.pattern;
        let pattern = match self.regexes.node(regex) {
            _ if key.recorded => Pattern::Regex(regex),
            RegexNode::Literal(bytes) => Pattern::Literal(Text::from_slice(bytes)),
            _ if key.lazy && self.mode == LexerMode::Exact => Pattern::Regex(self.regexes.shortest(regex)),
            _ if key.lazy => Pattern::Regex(regex),
            _ => match words(&self.regexes, regex) {
                Some(words) => {
                    let trie = LiteralTrie::new(words.iter().map(|word| &**word).collect());
                    Pattern::Literals(Box::new(trie))
                }
                None => Pattern::Regex(regex),
            },
        };
        let tail = key.tail.as_deref().map(|&TailKey { body, tail, hidden, ref capture }| {
            let literal = match self.regexes.node(tail) {
                RegexNode::Literal(bytes) => Some(bytes[..].into()),
                _ => None,
            };
            Box::new(LexemeTail { body, tail, literal, hidden, capture: capture.clone() })
        });
        let but_for = match pattern {
            Pattern::Regex(regex) if key.recorded => but_for(&mut self.regexes, regex),
            _ => None,
        };
        let id = self.lexemes.push(Lexeme {
            name: name.clone(),
            span,
            pattern,
            priority: key.priority,
            is_literal: key.is_literal,
            lazy: key.lazy,
            tail,
            temperature: key.temperature.map(f32::from_bits),
            ignored_by: key.ignored_by,
            competes: key.competes,
            follow: key.follow,
            behind: key.behind,
            recorded: key.recorded,
            but_for,
        });
        self.lexeme_ids.insert(key, id);
        id
    }

    /// Whether an embedded grammar is one that says so.
    fn swallows_nothing(&self, grammar: GrammarId) -> bool {
        grammar != self.linked.root && self.linked.grammars[grammar].options.goes_on_with.is_some()
    }

    fn competes(&self, grammar: GrammarId) -> bool {
        self.linked.grammars[grammar].options.lexer == LexerMode::Longest
    }

    /// Ignored text of every grammar that something was lowered of.
    fn ignored(&mut self) -> (IndexVec<GrammarId, Vec<LexemeId>>, IndexVec<GrammarId, bool>) {
        let linked = self.linked;
        let mut ignored = IndexVec::new();
        let mut once = IndexVec::new();
        for (id, grammar) in linked.grammars.iter_enumerated() {
            let mut lexemes: Vec<LexemeId> = Vec::new();
            for &terminal_id in &grammar.ignore {
                let terminal = &grammar.terminals[terminal_id];
                let regex = self.import(id, terminal.regex);
                if self.regexes.info(regex).len_max == Some(0) {
                    continue;
                }
                let pattern = self.without_empty(regex);
                let key = LexemeKey {
                    lazy: terminal.lazy,
                    ignored_by: Some(id),
                    competes: self.competes(id),
                    follow: terminal.follow.map(|follow| self.import(id, follow)),
                    behind: terminal.behind.map(|behind| self.import(id, behind)),
                    ..LexemeKey::plain(pattern, 0, terminal.is_literal)
                };
                lexemes.push(self.lexeme(key, &terminal.name, terminal.span));
            }
            lexemes.sort_unstable();
            lexemes.dedup();
            ignored.push(lexemes);
            once.push(grammar.options.ignore_once);
        }
        (ignored, once)
    }

    fn tokens(&mut self, grammar_id: GrammarId, id: TokenSetId) -> TokenLetterId {
        if let Some(&known) = self.token_letter_ids.get(&(grammar_id, id)) {
            return known;
        }
        let set = &self.linked.grammars[grammar_id].token_sets[id];
        let len = self.vocabulary.len();
        let mut ranges: Vec<(u32, u32)> = Vec::with_capacity(set.items.len());
        for item in &set.items {
            match item {
                // Some vocabularies have tokens such as `<think>` that are not special: named, they are given as tokens.
                TokenItem::Name(name) => match named_token(self.vocabulary, name) {
                    Some(token) => ranges.push((token, token)),
                    None => self.diagnostics.push(unknown_token(self.vocabulary, name, set.span)),
                },
                &TokenItem::Range(first, last) if first > last || last as usize >= len => {
                    let message = format!("`{}` is not within the vocabulary's {len} tokens", set.text);
                    self.diagnostics.push(
                        Diagnostic::error("V002", set.span, message)
                            .help(format!("ids are from 0 to {}", len.max(1) - 1)),
                    );
                }
                &TokenItem::Range(first, last) => ranges.push((first, last)),
                TokenItem::Any => ranges.extend((len as u32).checked_sub(1).map(|last| (0, last))),
                TokenItem::Eos => ranges.extend(self.vocabulary.eos().iter().map(|&token| (token, token))),
            }
        }
        let named = TokenRanges::new(ranges);
        let tokens = if set.negated { named.others(len) } else { named };
        let letter = self.token_letters.push(TokenLetter { text: set.text.clone(), tokens, hidden: set.hidden });
        self.token_letter_ids.insert((grammar_id, id), letter);
        letter
    }
}

/// A word and a number. [`format_compact!`] takes several times as long.
fn numbered(word: &'static str, number: usize) -> CompactString {
    let mut name = CompactString::const_new(word);
    name.push_str(&number.to_compact_string());
    name
}

/// `exact` if it is that of a grammar that the root leads to.
fn mode(linked: &LinkedGrammar) -> LexerMode {
    let mut seen = FxHashSet::from_iter([linked.root]);
    let mut agenda = vec![linked.root];
    while let Some(id) = agenda.pop() {
        let grammar = &linked.grammars[id];
        if grammar.options.lexer == LexerMode::Exact {
            return LexerMode::Exact;
        }
        agenda.extend(grammar.embeds.iter().filter_map(|embed| embed.target).filter(|&target| seen.insert(target)));
    }
    LexerMode::Longest
}

#[derive(Clone, Copy)]
enum Grouped {
    No,
    First(LexemeId),
    Rest,
}

fn named_token(vocabulary: &Vocabulary, name: &str) -> Option<u32> {
    vocabulary.special_by_name(name).or_else(|| vocabulary.trie().token_of(name.as_bytes()))
}

fn unknown_token(vocabulary: &Vocabulary, name: &str, span: Span) -> Diagnostic {
    let diagnostic = Diagnostic::error("V001", span, format!("the vocabulary has no special token `{name}`"));
    let names: Vec<&str> = vocabulary.specials().map(|(_, name)| name).collect();
    match did_you_mean(name, names.iter().copied()) {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None if names.is_empty() => diagnostic.help("it has no special tokens at all; write a string for text"),
        None if names.len() <= 8 => diagnostic.help(format!("its special tokens are {}", names.join(" "))),
        None => {
            let shown = names.iter().take(8).copied().collect::<Vec<_>>().join(" ");
            diagnostic.help(format!("it has {} special tokens, among them {shown}", names.len()))
        }
    }
}
