//! The linked grammars as plain productions: what derives what, without rules that derive nothing.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use larkspur_grammar::index::Id;
use larkspur_grammar::param::Comparison;
use larkspur_grammar::{
    AutomatonId, Condition, ConditionId, ExprId, ExprKind, Grammar, GrammarId, GrammarOptions, LexerMode,
    LinkedGrammar, ParamExpr, RegexNode, RuleId, TerminalId, TokenItem, TokenSet, Unproductive,
};

use super::Vocab;
use super::automata::{StateNumber, States};
use super::regex::{Re, Regexes};

/// A nonterminal: a rule, a node of a right-hand side, or [`Symbols::START`].
pub type Nonterminal = usize;
/// A number in [`Symbols::lexemes`].
pub type LexemeId = usize;

/// Pairs of nonterminal and parameter that a grammar may reach.
const PAIRS_MAX: usize = 200_000;

/// What stands in a production.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Symbol {
    /// A nonterminal and what it is passed.
    Rule(Nonterminal, ParamExpr),
    /// A lexeme.
    Lexeme(LexemeId),
    /// A token of a set, in [`Symbols::token_sets`].
    Tokens(usize),
    /// The rest of an automaton, in a state.
    Tail(Nonterminal, StateNumber),
}

/// The right-hand side of a nonterminal.
#[derive(Clone, Debug)]
pub enum Body {
    /// One after the other.
    Sequence(Vec<Symbol>),
    /// Any of them.
    Choice(Vec<(Option<ConditionId>, Symbol)>),
    /// So many times.
    Repeat(Symbol, u32, Option<u32>),
    /// An automaton and where it starts.
    Automaton(AutomatonId, u32),
}

/// A nonterminal's production and attributes.
#[derive(Clone, Debug)]
pub struct Production {
    /// Whose rules it is among; `None` for [`Symbols::START`].
    pub grammar: Option<GrammarId>,
    /// The rule, if it is one.
    pub rule: Option<RuleId>,
    /// Its right-hand side.
    pub body: Body,
    /// `max_tokens` of the rule, if not 0.
    pub max_tokens: Option<u32>,
}

/// A terminal's lexeme.
#[derive(Clone, Debug)]
pub struct Lexeme {
    /// Name for messages.
    pub name: String,
    /// `L \ {ε}`, or `L·tail`; in `exact` mode `min` of it if it is lazy.
    pub regex: Re,
    /// Ends at its first match.
    pub lazy: bool,
    /// Of lexemes that end together in `longest` mode.
    pub priority: i32,
    /// Written as a string.
    pub is_literal: bool,
    /// The terminal's own regex and its tail.
    pub tail: Option<Tail>,
    /// It is of a grammar in `longest` mode.
    pub competes: bool,
    /// Its only match is the empty text, its first one.
    pub only_empty: bool,
    /// What the text behind it must be.
    pub follow: Option<Re>,
    /// What the text before it must be, from the last token letter on.
    pub behind: Option<Re>,
}

/// The end of a lexeme with `stop` or `suffix`.
#[derive(Clone, Debug)]
pub struct Tail {
    /// The terminal's regex, without the tail.
    pub before: Re,
    /// The tail's regex.
    pub regex: Re,
    /// The tail's only text, if it is a string.
    pub string: Option<Vec<u8>>,
    /// `stop`, not `suffix`.
    pub hidden: bool,
}

/// What a nonterminal with a parameter can derive.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Fact {
    /// Some text.
    productive: bool,
    /// The empty text.
    nullable: bool,
    /// Some text that is not empty.
    nonempty: bool,
    /// A text without end.
    endless: bool,
}

/// All productions.
pub struct Symbols {
    /// The grammars, for their options and conditions.
    pub linked: LinkedGrammar,
    /// Indexed by [`Nonterminal`].
    pub productions: Vec<Production>,
    /// Indexed by [`LexemeId`]. Grows by what terminals are without exceptions.
    pub lexemes: RefCell<Vec<Rc<Lexeme>>>,
    /// What is known of automata.
    pub states: RefCell<States>,
    /// All languages.
    pub regexes: Rc<RefCell<Regexes>>,
    /// Where each grammar's numbers begin.
    pub(super) bases: Bases,
    /// Ids of the tokens in each set.
    pub token_sets: Vec<BTreeSet<u32>>,
    /// The ignored terminals of each grammar.
    pub ignored: Vec<Vec<LexemeId>>,
    facts: HashMap<(Nonterminal, u64), Fact>,
    /// Lexemes with a text.
    live_lexemes: HashSet<LexemeId>,
    /// What the start leads to.
    reached: Reached,
}

/// What some symbol leads to: what nothing leads to has no say.
#[derive(Default)]
struct Reached {
    nonterminals: BTreeSet<Nonterminal>,
    /// Ignored ones, too.
    lexemes: BTreeSet<LexemeId>,
    has_tokens: bool,
    has_automata: bool,
}

impl Symbols {
    /// `START'`, whose production is the root's start rule.
    pub const START: Nonterminal = 0;

    /// Lowers the grammars. Errors: the root's start derives nothing; an unknown token name; too many parameters.
    pub fn new(linked: &LinkedGrammar, vocab: &Vocab, regexes: Rc<RefCell<Regexes>>) -> Result<Symbols, String> {
        let mut symbols = Symbols {
            regexes: regexes.clone(),
            states: RefCell::default(),
            bases: Bases::new(linked),
            linked: linked.clone(),
            productions: Vec::new(),
            lexemes: RefCell::default(),
            token_sets: Vec::new(),
            ignored: Vec::new(),
            facts: HashMap::new(),
            live_lexemes: HashSet::new(),
            reached: Reached::default(),
        };
        // Numbers: START', then each grammar's rules and nodes; lexemes and token sets grammar by grammar.
        let root = linked.root;
        symbols.productions.push(Production {
            grammar: None,
            rule: None,
            body: Body::Sequence(vec![symbols.bases.rule_symbol(root, linked.grammars[root].start, None)]),
            max_tokens: None,
        });
        for (id, grammar) in linked.grammars.iter_enumerated() {
            symbols.add_grammar(id, grammar, &Bases::new(linked), vocab, &mut regexes.borrow_mut())?;
        }
        symbols.reach();
        symbols.decide()?;
        let start = symbols.fact(Symbols::START, 0);
        let endless = symbols.allow_endless() && start.endless;
        if !(start.productive || endless) {
            return Err("the start rule derives nothing".into());
        }
        Ok(symbols)
    }

    fn reach(&mut self) {
        let mut reached = Reached { lexemes: self.ignored.iter().flatten().copied().collect(), ..Reached::default() };
        let mut agenda = vec![Self::START];
        while let Some(nonterminal) = agenda.pop() {
            if !reached.nonterminals.insert(nonterminal) {
                continue;
            }
            let symbols: Vec<Symbol> = match &self.productions[nonterminal].body {
                Body::Sequence(symbols) => symbols.clone(),
                Body::Choice(alternatives) => alternatives.iter().map(|alternative| alternative.1).collect(),
                Body::Repeat(symbol, ..) => vec![*symbol],
                Body::Automaton(..) => {
                    reached.has_automata = true;
                    vec![]
                }
            };
            for symbol in symbols {
                match symbol {
                    Symbol::Rule(nonterminal, _) => agenda.push(nonterminal),
                    Symbol::Lexeme(lexeme) => _ = reached.lexemes.insert(lexeme),
                    Symbol::Tokens(_) => reached.has_tokens = true,
                    Symbol::Tail(..) => reached.has_automata = true,
                }
            }
        }
        self.reached = reached;
    }

    fn add_grammar(
        &mut self,
        id: GrammarId,
        grammar: &Grammar,
        bases: &Bases,
        vocab: &Vocab,
        regexes: &mut Regexes,
    ) -> Result<(), String> {
        let base = &bases.grammars[id.index()];
        let mut nullable = Vec::new();
        let mut only_empty = Vec::new();
        for terminal in grammar.terminals.ids() {
            let lexeme = self.lower_terminal(grammar, terminal, regexes);
            if regexes.nonempty(lexeme.regex) {
                self.live_lexemes.insert(self.lexemes.borrow().len());
            }
            self.lexemes.borrow_mut().push(Rc::new(lexeme));
            let terminal = &grammar.terminals[terminal];
            let regex = regexes.import(&grammar.regexes, terminal.regex);
            nullable.push(terminal.tail.is_none() && regexes.nullable(regex));
            // The empty text is its first match.
            only_empty.push(terminal.tail.is_none() && terminal.lazy && regexes.nullable(regex));
        }
        for set in grammar.token_sets.iter() {
            self.token_sets.push(resolve(set, vocab)?);
        }
        self.ignored.push(grammar.ignore.iter().map(|terminal| base.lexemes + terminal.index()).collect());
        for (rule_id, rule) in grammar.rules.iter_enumerated() {
            let body = match rule.max_tokens {
                Some(0) => vec![],
                _ => vec![bases.symbol(id, grammar, rule.body)],
            };
            self.productions.push(Production {
                grammar: Some(id),
                rule: Some(rule_id),
                body: Body::Sequence(body),
                max_tokens: rule.max_tokens.filter(|&tokens| tokens > 0),
            });
        }
        for expr in grammar.exprs.iter() {
            let body = match &expr.kind {
                ExprKind::Sequence(parts) => {
                    Body::Sequence(parts.iter().map(|&part| bases.symbol(id, grammar, part)).collect())
                }
                ExprKind::Choice(alternatives) => Body::Choice(
                    alternatives.iter().map(|alt| (alt.condition, bases.symbol(id, grammar, alt.expr))).collect(),
                ),
                ExprKind::Repeat(child, min, max) => Body::Repeat(bases.symbol(id, grammar, *child), *min, *max),
                ExprKind::Terminal(terminal) => {
                    let lexeme = Symbol::Lexeme(base.lexemes + terminal.index());
                    // A terminal that matches the empty text is optional where it stands.
                    let at = terminal.index();
                    Body::Repeat(lexeme, u32::from(!nullable[at]), Some(u32::from(!only_empty[at])))
                }
                &ExprKind::Automaton(automaton, start) => Body::Automaton(automaton, start),
                ExprKind::Rule(..) | ExprKind::Tokens(_) | ExprKind::Embed(_) => {
                    Body::Sequence(vec![bases.leaf(id, grammar, &expr.kind)])
                }
            };
            self.productions.push(Production { grammar: Some(id), rule: None, body, max_tokens: None });
        }
        Ok(())
    }

    fn lower_terminal(&self, grammar: &Grammar, id: TerminalId, regexes: &mut Regexes) -> Lexeme {
        let terminal = &grammar.terminals[id];
        let before = regexes.import(&grammar.regexes, terminal.regex);
        let tail = terminal.tail.as_ref().map(|tail| Tail {
            before,
            regex: regexes.import(&grammar.regexes, tail.regex),
            string: match grammar.regexes.node(tail.regex) {
                RegexNode::Literal(bytes) => Some(bytes.to_vec()),
                _ => None,
            },
            hidden: tail.hidden,
        });
        let lazy = terminal.lazy || tail.is_some();
        let mut regex = match &tail {
            Some(tail) => regexes.then(before, tail.regex),
            None => before,
        };
        regex = regexes.without_empty(regex);
        if lazy && self.mode() == LexerMode::Exact {
            regex = regexes.shortest(regex);
        }
        Lexeme {
            only_empty: tail.is_none() && lazy && regexes.nullable(before),
            name: terminal.name.to_string(),
            regex,
            lazy,
            priority: terminal.priority,
            is_literal: terminal.is_literal,
            tail,
            competes: grammar.options.lexer == LexerMode::Longest,
            follow: terminal.follow.map(|follow| regexes.import(&grammar.regexes, follow)),
            behind: terminal.behind.map(|behind| regexes.import(&grammar.regexes, behind)),
        }
    }

    /// All lexemes.
    pub fn lexemes(&self) -> Vec<Rc<Lexeme>> {
        self.lexemes.borrow().clone()
    }
    /// Whether some lexeme ends only before certain texts.
    pub fn has_follows(&self) -> bool {
        self.reached_lexemes().any(|lexeme| lexeme.follow.is_some())
    }
    /// Whether some lexeme begins only after certain texts.
    pub fn has_behinds(&self) -> bool {
        self.reached_lexemes().any(|lexeme| lexeme.behind.is_some())
    }
    fn reached_lexemes(&self) -> impl Iterator<Item = Rc<Lexeme>> {
        self.reached.lexemes.iter().map(|&lexeme| self.lexeme(lexeme))
    }
    /// A lexeme.
    pub fn lexeme(&self, id: LexemeId) -> Rc<Lexeme> {
        self.lexemes.borrow()[id].clone()
    }
    /// The root's options, which count for all grammars except for what each grammar ignores.
    pub fn options(&self) -> &GrammarOptions {
        &self.linked.grammars[self.linked.root].options
    }
    /// `exact` if some grammar that the root leads to is.
    pub fn mode(&self) -> LexerMode {
        let mut reached = BTreeSet::from([self.linked.root]);
        loop {
            let grammars = reached.iter().map(|&id| &self.linked.grammars[id]);
            let more: BTreeSet<GrammarId> =
                grammars.flat_map(|grammar| grammar.embeds.iter().filter_map(|embed| embed.target)).collect();
            if more.is_subset(&reached) {
                break;
            }
            reached.extend(more);
        }
        let is_exact = reached.iter().any(|&id| self.linked.grammars[id].options.lexer == LexerMode::Exact);
        if is_exact { LexerMode::Exact } else { LexerMode::Longest }
    }
    /// Whether texts without end count.
    pub fn allow_endless(&self) -> bool {
        self.options().unproductive == Unproductive::Allow
    }

    /// Whether everything that begins in the grammar must lead to the text's end, look-around and all.
    pub fn has_no_traps(&self) -> bool {
        let is_free = |lexeme: Rc<Lexeme>| !lexeme.competes && !lexeme.tail.as_ref().is_some_and(|tail| tail.hidden);
        self.mode() == LexerMode::Exact
            && (self.has_follows() || self.has_behinds())
            && !self.allow_endless()
            && !(self.reached.has_tokens || self.reached.has_automata)
            && !self.has_scopes()
            && self.reached_lexemes().all(is_free)
    }

    /// Whether some rule has `max_tokens`.
    pub fn has_scopes(&self) -> bool {
        self.reached.nonterminals.iter().any(|&id| self.productions[id].max_tokens.is_some())
    }

    fn fact(&self, nonterminal: Nonterminal, param: u64) -> Fact {
        self.facts.get(&(nonterminal, param)).copied().unwrap_or_default()
    }
    fn symbol_fact(&self, symbol: Symbol, param: u64) -> Fact {
        let once = |productive| Fact { productive, nonempty: productive, ..Fact::default() };
        match symbol {
            Symbol::Rule(nonterminal, argument) => self.fact(nonterminal, eval(argument, param)),
            Symbol::Lexeme(lexeme) => once(self.live_lexemes.contains(&lexeme)),
            Symbol::Tokens(set) => once(!self.token_sets[set].is_empty()),
            Symbol::Tail(nonterminal, state) => Fact {
                productive: true,
                nullable: self.is_final(nonterminal, state),
                nonempty: !self.live_edges(nonterminal, state).is_empty(),
                endless: false,
            },
        }
    }
    /// Whether the symbol derives a text.
    pub fn productive(&self, symbol: Symbol, param: u64) -> bool {
        self.symbol_fact(symbol, param).productive
    }
    /// Whether the symbol derives the empty text.
    pub fn nullable(&self, symbol: Symbol, param: u64) -> bool {
        self.symbol_fact(symbol, param).nullable
    }
    /// Whether the symbol derives a text that is not empty.
    pub fn nonempty(&self, symbol: Symbol, param: u64) -> bool {
        self.symbol_fact(symbol, param).nonempty
    }
    /// Whether the symbol derives a text without end.
    pub fn endless(&self, symbol: Symbol, param: u64) -> bool {
        self.symbol_fact(symbol, param).endless
    }

    /// Whether the symbol derives any text, be it without end.
    pub fn is_live(&self, symbol: Symbol, param: u64) -> bool {
        self.productive(symbol, param) || self.endless(symbol, param)
    }

    /// Whether alternative `condition` is there for a parameter.
    pub fn holds(&self, grammar: Option<GrammarId>, condition: Option<ConditionId>, param: u64) -> bool {
        let (Some(grammar), Some(condition)) = (grammar, condition) else { return true };
        let child = |id: ConditionId| self.holds(Some(grammar), Some(id), param);
        match self.linked.grammars[grammar].conditions[condition] {
            Condition::True => true,
            Condition::Compare(bits, comparison, value) => {
                let number = (bits.start..bits.end).rev().fold(0, |n, bit| n << 1 | (param >> bit & 1));
                compare(number, comparison, value)
            }
            Condition::BitCount(bits, comparison, count) => {
                let ones = (bits.start..bits.end).filter(|&bit| param >> bit & 1 == 1).count();
                compare(ones as u64, comparison, u64::from(count))
            }
            Condition::And(a, b) => child(a) && child(b),
            Condition::Or(a, b) => child(a) || child(b),
            Condition::Not(a) => !child(a),
        }
    }

    /// Finds what can be reached, then what derives something, by repetition until nothing changes.
    fn decide(&mut self) -> Result<(), String> {
        let mut reached = vec![(Symbols::START, 0)];
        let mut seen: HashSet<(Nonterminal, u64)> = reached.iter().copied().collect();
        let mut at = 0;
        while let Some(&(nonterminal, param)) = reached.get(at) {
            at += 1;
            for symbol in self.symbols_of(nonterminal, param) {
                if let Symbol::Rule(child, argument) = symbol {
                    let pair = (child, eval(argument, param));
                    if seen.insert(pair) {
                        reached.push(pair);
                    }
                }
            }
            if seen.len() > PAIRS_MAX {
                return Err(format!("rules reach more than {PAIRS_MAX} parameters"));
            }
        }
        while self.improve(&reached) {}
        if self.allow_endless() {
            // At first all may go on for ever; what only did so by others that do not stops.
            for &pair in &reached {
                self.facts.entry(pair).or_default().endless = true;
            }
            loop {
                let endless: Vec<bool> = reached.iter().map(|&pair| self.goes_on(pair)).collect();
                let is_same = reached.iter().zip(&endless).all(|(pair, &endless)| self.facts[pair].endless == endless);
                if is_same {
                    break;
                }
                for (pair, endless) in reached.iter().zip(endless) {
                    self.facts.entry(*pair).or_default().endless = endless;
                }
            }
        }
        Ok(())
    }

    fn improve(&mut self, pairs: &[(Nonterminal, u64)]) -> bool {
        let mut changed = false;
        // Children mostly come after their parents.
        for &(nonterminal, param) in pairs.iter().rev() {
            let fact = self.improved_fact(nonterminal, param);
            changed |= self.facts.insert((nonterminal, param), fact) != Some(fact);
        }
        changed
    }

    /// All symbols that stand in the production for this parameter.
    fn symbols_of(&self, nonterminal: Nonterminal, param: u64) -> Vec<Symbol> {
        let production = &self.productions[nonterminal];
        match &production.body {
            Body::Sequence(parts) => parts.clone(),
            Body::Choice(alternatives) => (alternatives.iter())
                .filter(|(condition, _)| self.holds(production.grammar, *condition, param))
                .map(|&(_, symbol)| symbol)
                .collect(),
            Body::Repeat(_, _, Some(0)) => vec![],
            Body::Repeat(child, ..) => vec![*child],
            Body::Automaton(..) => {
                let (automaton, grammar) = self.automaton(nonterminal).expect("an automaton");
                let same = Some(ParamExpr::Same);
                automaton.rules().iter().map(|&rule| self.bases.rule_symbol(grammar, rule, same)).collect()
            }
        }
    }

    fn improved_fact(&self, nonterminal: Nonterminal, param: u64) -> Fact {
        let facts: Vec<Fact> =
            self.symbols_of(nonterminal, param).iter().map(|&s| self.symbol_fact(s, param)).collect();
        let (productive, nullable, nonempty) = match self.productions[nonterminal].body {
            Body::Sequence(_) => {
                let productive = facts.iter().all(|fact| fact.productive);
                let nonempty = productive && facts.iter().any(|fact| fact.nonempty);
                (productive, facts.iter().all(|fact| fact.nullable), nonempty)
            }
            Body::Choice(_) => (
                facts.iter().any(|fact| fact.productive),
                facts.iter().any(|fact| fact.nullable),
                facts.iter().any(|fact| fact.nonempty),
            ),
            Body::Repeat(_, min, _) => {
                let child = facts.first().copied().unwrap_or_default();
                (min == 0 || child.productive, min == 0 || child.nullable, child.nonempty)
            }
            Body::Automaton(_, start) => {
                let (automaton, _) = self.automaton(nonterminal).expect("an automaton");
                let start = automaton.start(start);
                (true, automaton.is_final(&start), !self.edges_of(nonterminal, &start).is_empty())
            }
        };
        Fact { productive, nullable, nonempty, endless: false }
    }

    /// Whether `pair` derives a text without end: what is predicted from it meets a cycle on which text is read.
    fn goes_on(&self, pair: (Nonterminal, u64)) -> bool {
        self.predictions(pair).iter().any(|&(candidate, _)| {
            let (nonterminal, param) = candidate;
            let repeats = matches!(self.productions[nonterminal].body,
                Body::Repeat(child, _, None) if self.nonempty(child, param));
            repeats || self.predictions(candidate).contains(&(candidate, true))
        })
    }

    /// Pairs that stand in what is derived from `pair` behind symbols that derive texts, and whether text may stand
    /// before them.
    fn predictions(&self, pair: (Nonterminal, u64)) -> HashSet<((Nonterminal, u64), bool)> {
        let mut seen = HashSet::from([(pair, false)]);
        let mut queue = vec![(pair, false)];
        while let Some(((nonterminal, param), text_before)) = queue.pop() {
            let children = self.symbols_of(nonterminal, param);
            let is_live = |&child: &Symbol| self.is_live(child, param);
            let places: Vec<(Symbol, bool)> = match self.productions[nonterminal].body {
                Body::Sequence(_) | Body::Repeat(..) if !children.iter().all(is_live) => continue,
                Body::Choice(_) => children.iter().map(|&child| (child, false)).collect(),
                Body::Automaton(..) => children.iter().flat_map(|&child| [(child, false), (child, true)]).collect(),
                Body::Sequence(_) => {
                    let derivable = children.iter().take_while(|&&child| self.productive(child, param)).count();
                    let text = |at: usize| children[..at].iter().any(|&child| self.nonempty(child, param));
                    children.iter().enumerate().take(derivable + 1).map(|(at, &child)| (child, text(at))).collect()
                }
                Body::Repeat(_, _, Some(1)) => children.iter().map(|&child| (child, false)).collect(),
                Body::Repeat(..) => {
                    children.iter().flat_map(|&child| [(child, false), (child, self.nonempty(child, param))]).collect()
                }
            };
            for (child, text) in places {
                if let Symbol::Rule(child, argument) = child {
                    let next = ((child, eval(argument, param)), text_before || text);
                    if seen.insert(next) {
                        queue.push(next);
                    }
                }
            }
        }
        seen
    }
}

/// The value that a rule is passed, given its caller's parameter.
pub fn eval(argument: ParamExpr, param: u64) -> u64 {
    let field = |start: u8, end: u8| (start..end).fold(0u64, |mask, bit| mask | 1 << bit);
    match argument {
        ParamExpr::Const(value) => value,
        ParamExpr::Same => param,
        ParamExpr::SetBit(bit) => param | 1 << bit,
        ParamExpr::ClearBit(bit) => param & !(1 << bit),
        ParamExpr::And(value) => param & value,
        ParamExpr::Or(value) => param | value,
        ParamExpr::Increment(bits) => {
            let field = field(bits.start, bits.end);
            if param & field == field { param } else { param + (1 << bits.start) }
        }
        ParamExpr::Decrement(bits) => {
            let field = field(bits.start, bits.end);
            if param & field == 0 { param } else { param - (1 << bits.start) }
        }
        ParamExpr::Put(bits, number) => (0..64).fold(0, |value, bit| {
            let is_put = bit >= bits.start && bit < bits.end;
            let put = if is_put { number >> (bit - bits.start) } else { param >> bit };
            value | (put & 1) << bit
        }),
        ParamExpr::Copy { from, to } => {
            let number = (param & field(from.start, from.end)) >> from.start;
            eval(ParamExpr::Put(to, number), param)
        }
    }
}

fn compare(a: u64, comparison: Comparison, b: u64) -> bool {
    match comparison {
        Comparison::Eq => a == b,
        Comparison::Ne => a != b,
        Comparison::Lt => a < b,
        Comparison::Le => a <= b,
        Comparison::Gt => a > b,
        Comparison::Ge => a >= b,
    }
}

/// The tokens of a set in a vocabulary.
fn resolve(set: &TokenSet, vocab: &Vocab) -> Result<BTreeSet<u32>, String> {
    let all: BTreeSet<u32> = (0..vocab.tokens.len() as u32).collect();
    let mut ids = BTreeSet::new();
    for item in &set.items {
        match item {
            TokenItem::Name(name) => {
                let id = vocab.special(name).ok_or_else(|| format!("there is no special token `{name}`"))?;
                ids.insert(id);
            }
            TokenItem::Range(first, last) => ids.extend(all.iter().filter(|&id| (first..=last).contains(&id))),
            TokenItem::Any => ids.extend(&all),
            TokenItem::Eos => ids.extend(&vocab.eos),
        }
    }
    Ok(if set.negated { all.difference(&ids).copied().collect() } else { ids })
}

/// Where each grammar's numbers begin.
pub(super) struct Bases {
    pub grammars: Vec<Base>,
}

pub(super) struct Base {
    pub rules: usize,
    exprs: usize,
    pub lexemes: usize,
    token_sets: usize,
    start: RuleId,
}

impl Bases {
    fn new(linked: &LinkedGrammar) -> Self {
        let (mut nonterminals, mut lexemes, mut token_sets) = (1, 0, 0);
        let mut grammars = Vec::new();
        for grammar in linked.grammars.iter() {
            let exprs = nonterminals + grammar.rules.len();
            grammars.push(Base { rules: nonterminals, exprs, lexemes, token_sets, start: grammar.start });
            nonterminals = exprs + grammar.exprs.len();
            lexemes += grammar.terminals.len();
            token_sets += grammar.token_sets.len();
        }
        Bases { grammars }
    }
    fn rule_symbol(&self, grammar: GrammarId, rule: RuleId, argument: Option<ParamExpr>) -> Symbol {
        let nonterminal = self.grammars[grammar.index()].rules + rule.index();
        Symbol::Rule(nonterminal, argument.unwrap_or(ParamExpr::Const(0)))
    }
    /// A node as a symbol of the production that it stands in.
    fn symbol(&self, id: GrammarId, grammar: &Grammar, expr: ExprId) -> Symbol {
        match &grammar.exprs[expr].kind {
            leaf @ (ExprKind::Rule(..) | ExprKind::Tokens(_) | ExprKind::Embed(_)) => self.leaf(id, grammar, leaf),
            _ => Symbol::Rule(self.grammars[id.index()].exprs + expr.index(), ParamExpr::Same),
        }
    }
    fn leaf(&self, id: GrammarId, grammar: &Grammar, kind: &ExprKind) -> Symbol {
        match kind {
            ExprKind::Rule(rule, argument) => self.rule_symbol(id, *rule, *argument),
            ExprKind::Tokens(set) => Symbol::Tokens(self.grammars[id.index()].token_sets + set.index()),
            ExprKind::Embed(embed) => {
                let target = grammar.embeds[*embed].target.expect("embeds are linked");
                let start = grammar.embeds[*embed].rule.unwrap_or(self.grammars[target.index()].start);
                self.rule_symbol(target, start, None)
            }
            _ => unreachable!("not a leaf"),
        }
    }
}
