//! The engine on random grammars.

use std::collections::BTreeSet;

use larkspur_parser::{Matcher, MatcherOptions, Shared};
use larkspur_tests::cases::Step;
use larkspur_tests::compare::{Answers, Caches, Rig, compile, is_trap, reaches_an_end, shared};
use larkspur_tests::oracle::{Oracle, Token, Vocab};
use larkspur_tests::random::{
    EXACT, Features, GrammarSpec, Node, RegexSpec, Spec, TerminalSpec, short_regex_specs, specs, vocabs,
};
use larkspur_tests::toys::{Kind, PartSpec, ToySpec};
use larkspur_toktrie::TokenMask;
use proptest::prelude::*;

/// States of automata after which a walk ends: each way to split a text may lead to another.
const AUTOMATON_STATES: usize = 200;

/// Why a case does not count; another one is drawn for it.
const GIVEN_UP: &str = "the oracle has given up";

/// One case in so many is tried in an engine without something, too.
const WITHOUT_SHARE: usize = 3;

/// Walks through the masks as `choices` say, and compares in every state; now and then feeds text or what is forbidden.
fn compare(spec: &Spec, vocab: &Vocab, choices: &[u8], caches: usize) -> Result<(), TestCaseError> {
    let number: usize = choices.iter().map(|&choice| usize::from(choice)).sum();
    let without = number.is_multiple_of(WITHOUT_SHARE).then(|| Caches::without(number / WITHOUT_SHARE));
    let ways = Caches::all().into_iter().nth(caches).into_iter().chain(without);
    let engines: Vec<_> = ways.map(|caches| (shared(vocab, &caches.options), caches)).collect();
    compare_in(&engines, spec, vocab, choices)
}

/// The same in engines that other grammars use, too.
fn compare_in(engines: &[(Shared, Caches)], spec: &Spec, vocab: &Vocab, choices: &[u8]) -> Result<(), TestCaseError> {
    let linked = spec.link();
    let Ok(oracle) = Oracle::new(&linked, vocab).map(Oracle::without_patience) else {
        for (_, caches) in engines {
            prop_assert!(compile(&linked, vocab, &caches.options).is_err(), "the engine compiles an empty language");
        }
        return Ok(());
    };
    let mut steps = Vec::new();
    let mut state = oracle.start();
    for &choice in choices {
        let mask: Vec<u32> = oracle.mask(&state).into_iter().collect();
        let step = match choice {
            0..240 if !mask.is_empty() => Step::Token(mask[usize::from(choice) % mask.len()]),
            240..250 => Step::Text(vec![b"abc"[usize::from(choice) % 3]]),
            _ => Step::Token(u32::from(choice) % vocab.tokens.len() as u32),
        };
        let next = oracle.feed_step(&state, &step);
        steps.push(step);
        match next {
            Some(next) => state = next,
            None => break,
        }
        // What was read so far is enough.
        if oracle.automaton_states() > AUTOMATON_STATES {
            break;
        }
    }
    if oracle.is_undecided() {
        return Err(TestCaseError::reject(GIVEN_UP));
    }
    let mut answers = Answers::new();
    for (engine, caches) in engines {
        match Rig::beside(&oracle, &mut answers, &linked, (engine, caches)) {
            Ok(mut rig) => {
                let result = rig.follow(&steps);
                if oracle.is_undecided() {
                    return Err(TestCaseError::reject(GIVEN_UP));
                }
                prop_assert!(result.is_ok(), "{}: {:#}", caches.name, result.unwrap_err());
            }
            Err(diagnostics) => {
                prop_assert!(is_trap(&diagnostics), "the engine does not compile it: {diagnostics:#?}");
                let ends = reaches_an_end(&oracle, &oracle.start(), 100);
                prop_assert!(ends != Some(true), "a text can be finished: {diagnostics:#?}");
            }
        }
    }
    Ok(())
}

/// Samples a sentence from the engine's masks, at most `choices.len()` tokens. `None` if it has not ended by then.
fn sample(matcher: &mut Matcher, vocab: &Vocab, choices: &[u8]) -> Option<Vec<u32>> {
    let mut tokens = Vec::new();
    for &choice in choices {
        let mut mask = TokenMask::new(vocab.tokens.len());
        matcher.compute_mask(&mut mask).ok()?;
        let allowed: Vec<u32> = mask.iter().collect();
        let ends: Vec<u32> = allowed.iter().copied().filter(|id| vocab.eos.contains(id)).collect();
        let token = match ends.first() {
            Some(&eos) if choice % 3 == 0 => eos,
            _ => allowed[usize::from(choice) % allowed.len()],
        };
        let consumed = matcher.consume_token(token).expect("the mask allows it");
        tokens.push(token);
        if consumed.stopped {
            return Some(tokens);
        }
    }
    None
}

/// An edge by a rule that derives the empty text alone is none, so that no ignored text stands before it. (Found by
/// `masks_are_the_oracles_with_automata`.)
#[test]
fn a_rule_that_reads_nothing_is_no_edge() {
    let literal = |text: &str| TerminalSpec {
        regex: RegexSpec::Literal(text.into()),
        lazy: false,
        tail: None,
        priority: 0,
        follow: None,
        behind: None,
    };
    let part = PartSpec { terminal: 0, kind: Kind::Plain, cap: 1 };
    let toy = |follow: Option<usize>, min, more| {
        let follows = [(follow, None), (follow, None)];
        ToySpec { parts: vec![part], follows, min, more, folds: false, special: None }
    };
    let spec = |ignored: usize, rules: Vec<Node>, toys: Vec<ToySpec>, edges| Spec {
        exact: EXACT,
        keywords: false,
        endless: false,
        edges,
        grammars: vec![GrammarSpec {
            rules: rules.into_iter().map(|rule| (rule, None)).collect(),
            terminals: vec![literal("a"), literal("b")],
            ignore: vec![ignored],
            ignore_once: false,
            toys,
        }],
    };
    let bytes = [b'a', b'b'].map(|byte| Token::Bytes(vec![byte]));
    let vocab = Vocab { tokens: bytes.into_iter().chain([Token::Special("<|eos|>".into())]).collect(), eos: vec![2] };
    for edges in 0..4 {
        // The rule is empty; it is an automaton that is over where it starts.
        let empty = spec(0, vec![Node::Toy(0, 1), Node::Sequence(vec![])], vec![toy(Some(1), 0, 2)], edges);
        let over = vec![toy(None, 0, 0), toy(Some(1), 1, 1)];
        let over = spec(1, vec![Node::Toy(1, 0), Node::Toy(0, 0)], over, edges);
        for spec in [empty, over] {
            for caches in 0..4 {
                for choices in [[0; 8], [1; 8]] {
                    compare(&spec, &vocab, &choices, caches).unwrap_or_else(|error| panic!("{spec:?}: {error}"));
                }
            }
        }
    }
}

/// A text that a counted lexeme has used up may not begin again beside a lexeme that ends there. (Found by
/// `masks_are_the_oracles_in_each_mode_of_one_engine`.)
#[test]
fn a_text_that_is_used_up_does_not_begin_where_another_ends() {
    let terminal = |texts: [&str; 2]| TerminalSpec {
        regex: RegexSpec::Or(texts.map(|text| RegexSpec::Literal(text.into())).into()),
        lazy: false,
        tail: None,
        priority: 0,
        follow: None,
        behind: None,
    };
    let part = |terminal, kind| PartSpec { terminal, kind, cap: 2 };
    let parts = vec![part(1, Kind::Plain), part(0, Kind::Distinct)];
    let toy = ToySpec { parts, follows: [(None, None); 2], min: 2, more: 0, folds: false, special: None };
    let grammar = GrammarSpec {
        rules: vec![(Node::Toy(0, 0), None)],
        terminals: vec![terminal(["cab", "cc"]), terminal(["b", "c"])],
        ignore: vec![],
        ignore_once: false,
        toys: vec![toy],
    };
    let spec = |exact| Spec { exact, keywords: false, endless: false, edges: 0, grammars: vec![grammar.clone()] };
    let bytes = ["a", "b", "c", "ab"].map(|text| Token::Bytes(text.into()));
    let vocab = Vocab { tokens: bytes.into_iter().chain([Token::Special("<|eos|>".into())]).collect(), eos: vec![4] };
    for (exact, caches) in [0, EXACT].into_iter().flat_map(|exact| (0..4).map(move |caches| (exact, caches))) {
        for choices in [[1, 0, 0, 1, 0], [1, 2, 1, 0, 0], [1, 0, 1, 1, 0], [1, 3, 1, 0, 0]] {
            compare(&spec(exact), &vocab, &choices, caches)
                .unwrap_or_else(|error| panic!("{exact} {choices:?}: {error}"));
        }
    }
}

fn features() -> Features {
    Features { endless: false, ..Features::ALL }
}

/// A spec in `longest` mode with terminals of these regexes. Where these are even in number, its start is any number of what it was and
/// of all of them but one.
fn of_characters(spec: Spec, regexes: &[RegexSpec]) -> Spec {
    let is_repeated = regexes.len().is_multiple_of(2);
    let mut regexes = regexes.iter().cycle();
    let mut grammars = spec.grammars;
    for grammar in &mut grammars {
        grammar.terminals.iter_mut().zip(&mut regexes).for_each(|(terminal, regex)| terminal.regex = regex.clone());
        if !is_repeated {
            continue;
        }
        let (start, _) = &mut grammar.rules[0];
        let alternatives = (1..grammar.terminals.len()).map(Node::Terminal).chain([start.clone()]);
        *start = Node::Repeat(Box::new(Node::Choice(alternatives.collect())), 0, None);
    }
    Spec { exact: 0, grammars, ..spec }
}

proptest! {
    #![proptest_config(larkspur_tests::property_config(300))]

    /// Along random walks the engine's masks are the oracle's.
    #[test]
    fn masks_are_the_oracles(spec in specs(features()), vocab in vocabs(), choices: [u8; 8], options in 0..4usize) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same without tokens as letters, budgets and tails, which keeps grammars small when they are shrunk.
    #[test]
    fn masks_are_the_oracles_on_plain_grammars(
        spec in specs(Features { ignore: true, embeds: true, attributes: true, ..Features::default() }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same without budgets.
    #[test]
    fn masks_are_the_oracles_without_budgets(
        spec in specs(Features { budgets: false, ..features() }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same for grammars with endless texts.
    #[test]
    fn masks_are_the_oracles_on_endless_grammars(
        spec in specs(Features { endless: true, ..Features::default() }),
        vocab in vocabs(),
        choices: [u8; 8],
    ) {
        compare(&spec, &vocab, &choices, 0)?;
    }

    /// The same where an engine has the grammar in all modes, one after the other: what lexemes do is shared where it is the same.
    #[test]
    fn masks_are_the_oracles_in_each_mode_of_one_engine(
        spec in specs(Features { ignore: true, embeds: true, automata: true, ..Features::default() }),
        vocab in vocabs(),
        choices: [u8; 6],
        modes in Just(vec![0, EXACT, 1, 2]).prop_shuffle(),
    ) {
        let caches = Caches::on();
        let engine = [(shared(&vocab, &caches.options), caches)];
        for exact in modes {
            compare_in(&engine, &Spec { exact, ..spec.clone() }, &vocab, &choices)?;
        }
    }

    /// The same in `longest` mode of terminals of a character or two, of which any number may stand side by side.
    #[test]
    fn masks_are_the_oracles_of_characters(
        spec in specs(Features { ignore: true, embeds: true, automata: true, ..Features::default() }),
        regexes in prop::collection::vec(short_regex_specs(), 1..5),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&of_characters(spec, &regexes), &vocab, &choices, options)?;
    }

    /// The same with look-aheads that see beyond their terminals.
    #[test]
    fn masks_are_the_oracles_with_look_aheads(
        spec in specs(Features { follows: true, ..features() }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same with look-aheads and little else.
    #[test]
    fn masks_are_the_oracles_with_look_aheads_alone(
        spec in specs(Features { ignore: true, embeds: true, follows: true, ..Features::default() }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same where all grammars are in `exact` mode, in which no token leads into a trap.
    #[test]
    fn masks_are_the_oracles_without_traps(
        spec in specs(Features { ignore: true, embeds: true, follows: true, behinds: true, ..Features::default() })
            .prop_map(|spec| Spec { exact: EXACT, ..spec }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same with look-behinds that see beyond their terminals.
    #[test]
    fn masks_are_the_oracles_with_look_behinds(
        spec in specs(Features { behinds: true, ..features() }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same with look-around and little else.
    #[test]
    fn masks_are_the_oracles_with_look_around_alone(
        spec in specs(Features { ignore: true, embeds: true, follows: true, behinds: true, ..Features::default() }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same with automata.
    #[test]
    fn masks_are_the_oracles_with_automata(
        spec in specs(Features { automata: true, ..features() }),
        vocab in vocabs(),
        choices: [u8; 8],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// The same with automata and little else.
    #[test]
    fn masks_are_the_oracles_on_plain_automata(
        spec in specs(Features { ignore: true, embeds: true, automata: true, ..Features::default() }),
        vocab in vocabs(),
        choices: [u8; 6],
        options in 0..4usize,
    ) {
        compare(&spec, &vocab, &choices, options)?;
    }

    /// A sentence that was sampled from masks is a sentence; taking everything back and a reset give the start again.
    #[test]
    fn sampled_sentences_are_accepted(spec in specs(features()), vocab in vocabs(), choices: [u8; 16]) {
        let linked = spec.link();
        let Ok(oracle) = Oracle::new(&linked, &vocab) else { return Ok(()) };
        // What does not compile is a matter of the tests above.
        let Ok(grammar) = compile(&linked, &vocab, &Caches::on().options) else { return Ok(()) };
        let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
        let mask_at_start = mask_of(&mut matcher, &vocab);
        let Some(tokens) = sample(&mut matcher, &vocab, &choices) else { return Ok(()) };
        let mut state = oracle.start();
        for (at, &id) in tokens.iter().enumerate() {
            match oracle.feed_step(&state, &Step::Token(id)) {
                Some(next) => state = next,
                None => {
                    let ends = at + 1 == tokens.len() && vocab.eos.contains(&id) && oracle.is_accepting(&state);
                    prop_assert!(ends, "{:?} is rejected at {at}", show(&vocab, &tokens));
                }
            }
        }
        prop_assert!(oracle.is_accepting(&state), "{:?} is not accepted", show(&vocab, &tokens));
        matcher.rollback(matcher.step_count()).expect("as many as there are");
        prop_assert_eq!(mask_of(&mut matcher, &vocab), mask_at_start.clone());
        matcher.consume_token(tokens[0]).expect("as before");
        matcher.reset().expect("it starts");
        prop_assert_eq!(mask_of(&mut matcher, &vocab), mask_at_start);
    }
}

fn mask_of(matcher: &mut Matcher, vocab: &Vocab) -> BTreeSet<u32> {
    let mut mask = TokenMask::new(vocab.tokens.len());
    match matcher.compute_mask(&mut mask) {
        Ok(()) => mask.iter().collect(),
        Err(_) => BTreeSet::new(),
    }
}

fn show<'a>(vocab: &'a Vocab, tokens: &[u32]) -> Vec<&'a Token> {
    tokens.iter().map(|&id| &vocab.tokens[id as usize]).collect()
}
