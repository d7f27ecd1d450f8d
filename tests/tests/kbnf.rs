//! The KBNF grammars that `larkspur-bench lexing` measures: their masks are the oracle's.

use anyhow::{Context, Result, anyhow, ensure};
use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, LinkedGrammar, SourceMap, link};
use larkspur_tests::cases::Step;
use larkspur_tests::compare::{Answers, Caches, Rig};
use larkspur_tests::oracle::{Oracle, Token, Vocab};
use serde::Deserialize;

/// Steps of a walk: first the token that is measured, then any.
const MEASURED: usize = 4;
const STEPS: usize = 14;
const WALKS: usize = 3;

#[derive(Deserialize)]
struct Case {
    name: String,
    grammar: String,
    token: String,
}

#[test]
fn masks_of_the_measured_grammars_are_the_oracles() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("../../bench/grammars/kbnf.json")).expect("a list of grammars");
    assert_eq!(cases.len(), 14);
    for case in &cases {
        if let Err(error) = check(case) {
            panic!("{}: {error:#}", case.name);
        }
    }
}

fn check(case: &Case) -> Result<()> {
    let (linked, vocab) = (linked(&case.grammar)?, vocab());
    let oracle = Oracle::new(&linked, &vocab).map_err(anyhow::Error::msg)?;
    let token = vocab.tokens.iter().position(|token| *token == Token::Bytes(case.token.as_bytes().to_vec()));
    let measured = Step::Token(token.context("the vocabulary has the token")? as u32);
    let mut answers = Answers::new();
    for caches in Caches::some(case.name.len()) {
        let mut rig = Rig::new(&oracle, &mut answers, &linked, &caches).map_err(|errors| anyhow!("{errors:?}"))?;
        for walk in 0..WALKS {
            let mut steps = vec![measured.clone(); MEASURED];
            let mut state = oracle.start();
            for at in 0..STEPS {
                let mask: Vec<u32> = oracle.mask(&state).into_iter().filter(|id| !vocab.eos.contains(id)).collect();
                if at >= MEASURED {
                    let Some(&id) = mask.get((at * 7 + walk * 5) % mask.len().max(1)) else { break };
                    steps.push(Step::Token(id));
                }
                state = oracle.feed_step(&state, &steps[at]).context("the mask allows the step")?;
            }
            let fed = rig.follow(&steps).with_context(|| caches.name.clone())?;
            ensure!(fed == steps.len(), "{}: the walk ends at step {fed}", caches.name);
        }
    }
    Ok(())
}

fn linked(text: &str) -> Result<LinkedGrammar> {
    let mut sources = SourceMap::new();
    let source = sources.add("measured.kbnf", text);
    let limits = Limits::default();
    let parsed = larkspur_kbnf_frontend::parse(&sources, sources.whole(source), &ReadOptions::new(&limits));
    let grammar = parsed.grammar.ok_or_else(|| anyhow!("{:?}", parsed.diagnostics))?;
    link(vec![grammar], |_, _| unreachable!("KBNF has no other language inside"))
        .map_err(|errors| anyhow!("{errors:?}"))
}

/// Single bytes, what begins and ends in the grammars' own words, and what goes beyond them.
fn vocab() -> Vocab {
    let words = [
        "{", "}", "{{", "}}", "{}", "{{}}", "}\n", "{\n", "a", "aa", "aaaaaaaa", "ab", "A9", "e", "n", "d", "en",
        "end", "dend", "ends", "s", "top", "stop", "sto", "x", "\n", "\n\n", "a\n", "\n\na", " ", "  \t", " x", ".",
        "é", "éa",
    ];
    let mut tokens: Vec<Token> = words.iter().map(|word| Token::Bytes(word.as_bytes().to_vec())).collect();
    tokens.extend([0xC3, 0xA9, 0xFF].map(|byte| Token::Bytes(vec![byte])));
    tokens.push(Token::Special("<|eos|>".into()));
    let eos = vec![tokens.len() as u32 - 1];
    Vocab { tokens, eos }
}
