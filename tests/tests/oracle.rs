//! The oracle against even plainer definitions: texts split in every way.

use std::collections::HashMap;

use larkspur_grammar::{AutomatonId, EdgeSymbol, ExprId, ExprKind, GrammarId, RegexSet, RuleId, TerminalId};
use larkspur_grammar::{Grammar, LinkedGrammar};
use larkspur_tests::compare::reaches_an_end;
use larkspur_tests::oracle::regex::Regexes;
use larkspur_tests::oracle::{Oracle, State, Vocab};
use larkspur_tests::random::{EXACT, Features, Spec, specs, vocabs};
use proptest::prelude::*;

/// All texts of up to `len` letters.
fn texts(letters: &[u8], len: usize) -> Vec<Vec<u8>> {
    let mut texts = vec![vec![]];
    let mut from = 0;
    for _ in 0..len {
        let to = texts.len();
        for at in from..to {
            texts.extend(letters.iter().map(|&letter| [&texts[at][..], &[letter]].concat()).collect::<Vec<_>>());
        }
        from = to;
    }
    texts
}

/// Membership by trying every split: `exact` mode without ignored text, token sets and budgets.
struct Splits<'a> {
    linked: &'a LinkedGrammar,
    regexes: Regexes,
    text: Vec<u8>,
    /// `None` while it is being decided: a derivation that needs itself is none.
    known: HashMap<(GrammarId, ExprId, usize, usize), bool>,
    changed: bool,
}

impl Splits<'_> {
    /// Least fixed point, by repetition until nothing changes.
    fn accepts(&mut self) -> bool {
        loop {
            self.changed = false;
            let root = self.linked.root;
            let start = self.linked.grammars[root].start;
            let mut visited = HashMap::new();
            let accepted = self.rule(root, start, 0, self.text.len(), &mut visited);
            if !self.changed {
                return accepted;
            }
        }
    }
    fn grammar(&self, id: GrammarId) -> &Grammar {
        &self.linked.grammars[id]
    }
    fn rule(&mut self, g: GrammarId, rule: RuleId, from: usize, to: usize, visited: &mut Visited) -> bool {
        let body = self.grammar(g).rules[rule].body;
        self.expr(g, body, from, to, visited)
    }
    fn expr(&mut self, g: GrammarId, expr: ExprId, from: usize, to: usize, visited: &mut Visited) -> bool {
        let key = (g, expr, from, to);
        let known = self.known.get(&key).copied().unwrap_or(false);
        if known || visited.insert(key, ()).is_some() {
            return known;
        }
        let kind = self.grammar(g).exprs[expr].kind.clone();
        let derives = match kind {
            ExprKind::Sequence(parts) => self.sequence(g, &parts, from, to, visited),
            ExprKind::Choice(alternatives) => {
                alternatives.iter().any(|alternative| self.expr(g, alternative.expr, from, to, visited))
            }
            ExprKind::Repeat(child, min, max) => self.repeat(g, child, min, max, from, to, visited),
            ExprKind::Rule(rule, _) => self.rule(g, rule, from, to, visited),
            ExprKind::Terminal(terminal) => self.terminal(g, terminal, from, to),
            ExprKind::Tokens(_) => false,
            ExprKind::Automaton(automaton, start) => {
                let start = self.grammar(g).automata[automaton].start(start);
                self.automaton(g, automaton, &start, from, to, visited)
            }
            ExprKind::Embed(embed) => {
                let target = self.grammar(g).embeds[embed].target.expect("linked");
                let start = self.grammar(g).embeds[embed].rule.unwrap_or(self.grammar(target).start);
                self.rule(target, start, from, to, visited)
            }
        };
        self.changed |= derives;
        self.known.insert(key, derives);
        derives
    }
    fn sequence(&mut self, g: GrammarId, parts: &[ExprId], from: usize, to: usize, visited: &mut Visited) -> bool {
        let [first, rest @ ..] = parts else { return from == to };
        (from..=to)
            .any(|middle| self.expr(g, *first, from, middle, visited) && self.sequence(g, rest, middle, to, visited))
    }
    #[expect(clippy::too_many_arguments, reason = "a recursive definition")]
    fn repeat(
        &mut self,
        g: GrammarId,
        child: ExprId,
        min: u32,
        max: Option<u32>,
        from: usize,
        to: usize,
        visited: &mut Visited,
    ) -> bool {
        if from == to && (min == 0 || self.expr(g, child, from, from, visited)) {
            return true;
        }
        // Repetitions without text only fill up the minimum.
        let empty = self.expr(g, child, from, from, visited);
        let min = if empty { 0 } else { min };
        max != Some(0)
            && (from + 1..=to).any(|middle| {
                let more = max.map(|max| max - 1);
                self.expr(g, child, from, middle, visited)
                    && self.repeat(g, child, min.saturating_sub(1), more, middle, to, visited)
            })
    }
    fn automaton(
        &mut self,
        g: GrammarId,
        id: AutomatonId,
        state: &larkspur_grammar::State,
        from: usize,
        to: usize,
        visited: &mut Visited,
    ) -> bool {
        let automaton = self.grammar(g).automata[id].clone();
        if from == to {
            return automaton.is_final(state);
        }
        let edges = automaton.edges(state).expect("within limits");
        (from + 1..=to).any(|middle| {
            let text = self.text[from..middle].to_vec();
            edges.iter().any(|edge| {
                let (reads, text) = match &edge.symbol {
                    EdgeSymbol::Terminal(terminal) => (self.terminal(g, *terminal, from, middle), vec![]),
                    EdgeSymbol::Recorded(terminal, exceptions) => {
                        let is_excepted = exceptions.iter().any(|exception| {
                            let mut set = RegexSet::new();
                            let regex = automaton.excepted(exception, &mut set);
                            let regex = self.regexes.import(&set, regex);
                            self.regexes.matches(regex, &text)
                        });
                        (!is_excepted && self.terminal(g, *terminal, from, middle), text.clone())
                    }
                    EdgeSymbol::Rule(rule) => (self.rule(g, *rule, from, middle, visited), vec![]),
                };
                reads && {
                    let next = automaton.next(state, edge.label, &text).expect("within limits");
                    self.automaton(g, id, &next, middle, to, visited)
                }
            })
        })
    }
    fn terminal(&mut self, g: GrammarId, terminal: TerminalId, from: usize, to: usize) -> bool {
        let grammar = &self.linked.grammars[g];
        let terminal = &grammar.terminals[terminal];
        let before = self.regexes.import(&grammar.regexes, terminal.regex);
        let Some(tail) = &terminal.tail else {
            if terminal.lazy && self.regexes.nullable(before) {
                return from == to;
            }
            let shortest =
                !terminal.lazy || self.shortest_match(|regexes, text| regexes.matches(before, text), from, to);
            return self.regexes.matches(before, &self.text[from..to]) && shortest;
        };
        let tail = self.regexes.import(&grammar.regexes, tail.regex);
        let split = |regexes: &mut Regexes, text: &[u8]| {
            (0..=text.len()).any(|at| regexes.matches(before, &text[..at]) && regexes.matches(tail, &text[at..]))
        };
        let text = self.text[from..to].to_vec();
        split(&mut self.regexes, &text) && self.shortest_match(split, from, to)
    }
    /// Whether no shorter text than `from..to`, but for the empty one, matches.
    fn shortest_match(&mut self, matches: impl Fn(&mut Regexes, &[u8]) -> bool, from: usize, to: usize) -> bool {
        let text = self.text.clone();
        !(from + 1..to).any(|end| matches(&mut self.regexes, &text[from..end]))
    }
}

type Visited = HashMap<(GrammarId, ExprId, usize, usize), ()>;

fn read(oracle: &Oracle, text: &[u8]) -> Option<State> {
    text.iter().try_fold(oracle.start(), |state, &byte| oracle.feed_byte(&state, byte))
}

proptest! {
    #![proptest_config(larkspur_tests::property_config(150))]

    /// `exact` accepts the context-free language, and a prefix is viable iff it is a prefix of an accepted text.
    #[test]
    fn exact_is_the_context_free_language(spec in specs(Features { embeds: true, attributes: true, tails: false, ..Features::default() })) {
        is_context_free(spec)?;
    }

    /// The same with automata.
    #[test]
    fn exact_is_the_context_free_language_with_automata(
        spec in specs(Features { embeds: true, attributes: true, automata: true, ..Features::default() })
    ) {
        is_context_free(spec)?;
    }

    /// `exact`: from every viable prefix an accepted text can be reached, ignored text, budgets and tokens included.
    #[test]
    fn exact_has_no_traps(
        mut spec in specs(Features { endless: false, ..Features::ALL }),
        vocab in vocabs(),
        choices: [u8; 6],
    ) {
        spec.exact = EXACT;
        let Ok(oracle) = Oracle::new(&spec.link(), &vocab) else { return Ok(()) };
        let mut state = oracle.start();
        let mut read = Vec::new();
        for choice in choices {
            prop_assert!(reaches_an_end(&oracle, &state, 100) != Some(false), "after {:?}", read);
            let mask: Vec<u32> = oracle.mask(&state).into_iter().collect();
            if mask.is_empty() {
                break;
            }
            let id = mask[usize::from(choice) % mask.len()];
            match oracle.feed_token(&state, id) {
                Some(next) => {
                    state = oracle.token_end(&next);
                    read.push(&vocab.tokens[id as usize]);
                }
                None => break,
            }
        }
    }
}

fn is_context_free(mut spec: Spec) -> Result<(), TestCaseError> {
    spec.exact = EXACT;
    for grammar in &mut spec.grammars {
        grammar.ignore.clear();
    }
    let linked = spec.link();
    let oracle = Oracle::new(&linked, &Vocab::default());
    for text in texts(b"abc", 4) {
        let mut splits = Splits {
            linked: &linked,
            regexes: Regexes::default(),
            text: text.clone(),
            known: HashMap::new(),
            changed: false,
        };
        let expected = splits.accepts();
        match &oracle {
            Ok(oracle) => {
                let state = read(oracle, &text);
                let accepted = state.as_ref().is_some_and(|state| oracle.is_accepting(state));
                prop_assert_eq!(accepted, expected, "{:?}", String::from_utf8_lossy(&text));
            }
            Err(_) => prop_assert!(!expected),
        }
    }
    Ok(())
}
