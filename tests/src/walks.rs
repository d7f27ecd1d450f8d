//! Walks through a grammar's texts, whose masks are to be the oracle's.

use anyhow::{Context, Result, anyhow, ensure};
use larkspur_grammar::{LexerMode, Limits, LinkedGrammar, SourceMap, link};
use larkspur_lark_frontend::{LarkOptions, parse};

use crate::cases::Step;
use crate::compare::{Answers, Caches, Rig};
use crate::oracle::{Oracle, Vocab};

/// A Lark grammar in a mode.
pub fn linked(text: &str, mode: LexerMode) -> Result<LinkedGrammar> {
    let mut sources = SourceMap::new();
    let source = sources.add("walks.lark", text);
    let limits = Limits::default();
    let options = LarkOptions { lexer: Some(mode), ..LarkOptions::new(&limits) };
    let parsed = parse(&mut sources, source, &options);
    let grammar = parsed.grammar.ok_or_else(|| anyhow!("{:?}", parsed.diagnostics))?;
    link(vec![grammar], |_, _| unreachable!("no other language inside")).map_err(|errors| anyhow!("{errors:?}"))
}

/// So many walks of so many tokens at most, which take tokens in turn, from another one each, until the text ends.
pub fn check(linked: &LinkedGrammar, vocab: &Vocab, (walks, tokens_max): (usize, usize)) -> Result<()> {
    let oracle = Oracle::new(linked, vocab).map_err(anyhow::Error::msg)?;
    let mut answers = Answers::new();
    let number = linked.grammars.iter().map(|grammar| grammar.exprs.len()).sum();
    for caches in Caches::some(number) {
        let mut rig = Rig::new(&oracle, &mut answers, linked, &caches).map_err(|errors| anyhow!("{errors:?}"))?;
        for walk in 0..walks {
            let mut steps: Vec<Step> = Vec::new();
            let mut state = oracle.start();
            for at in 0..tokens_max {
                let mask: Vec<u32> = oracle.mask(&state).into_iter().filter(|id| !vocab.eos.contains(id)).collect();
                let Some(&id) = mask.get((at * 5 + walk * 3) % mask.len().max(1)) else { break };
                steps.push(Step::Token(id));
                state = oracle.feed_step(&state, &steps[at]).context("the mask allows the step")?;
            }
            let fed = rig.follow(&steps).with_context(|| caches.name.clone())?;
            ensure!(fed == steps.len(), "{}: the walk ends at step {fed}", caches.name);
        }
    }
    Ok(())
}
