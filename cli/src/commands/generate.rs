//! `larkspur generate GRAMMAR`: random sentences.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use anyhow::Result;
use larkspur::{CompiledGrammar, TokenId, TokenMask, Vocabulary};

use crate::Outcome;
use crate::args::{GenerateArgs, Profile};
use crate::grammar::compile;
use crate::sampler::{Sampler, Unit};
use crate::{render, vocabulary};

/// Shares of the budget between which a sentence is as long as it likes.
const LENGTH_SHARES: (f64, f64) = (0.05, 0.5);

/// Chance that free text is led to its end, at each token.
const CLOSE_CHANCE: f64 = 0.15;

/// A search for a way to the end that found none is tried again after this part of the budget that is left.
const SEARCHES: u32 = 6;

/// Chance to end at the first place where that is possible.
const END_CHANCE: f64 = 0.15;

pub(crate) fn run(args: &GenerateArgs) -> Result<Outcome> {
    let Some(mut linked) = args.read.linked(&args.grammar, Profile::Generate)? else { return Ok(Outcome::Failed) };
    let has_tokens = linked.grammar.grammars.iter().any(|grammar| !grammar.token_sets.is_empty());
    // The budget is kept here: a matcher whose budget has ended does not say whether the text is complete.
    let budget = linked.max_tokens.take().map_or(args.max_tokens, |tokens| tokens.min(args.max_tokens));
    let linked_grammar = linked.grammar.clone();
    let vocabulary = vocabulary::named_or_default(args.read.tokenizer.as_deref())?;
    let Some(grammar) = compile(&args.grammar, linked, vocabulary.clone())? else { return Ok(Outcome::Failed) };
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    let mut sampler = Sampler::new(&vocabulary, &linked_grammar, seed);
    for _ in 0..args.count {
        let complete = sentence(budget, &grammar, &vocabulary, &mut sampler, has_tokens)?;
        writeln!(std::io::stdout())?;
        if !complete {
            render::note(&format!("the budget of {budget} tokens ended before the sentence was complete"));
        }
    }
    Ok(Outcome::Good)
}

/// Streams one sentence to standard output. Returns whether it is complete.
fn sentence(
    budget: u32,
    grammar: &CompiledGrammar,
    vocabulary: &Vocabulary,
    sampler: &mut Sampler,
    has_tokens: bool,
) -> Result<bool> {
    let mut matcher = grammar.matcher()?;
    let mut mask = TokenMask::new(vocabulary.len());
    let (low, high) = LENGTH_SHARES;
    let length = (low + (high - low) * sampler.random().unit()) * f64::from(budget);
    let mut way: VecDeque<Unit> = VecDeque::new();
    let mut next_search = 0;
    let mut out = std::io::stdout();
    for used in 0..budget {
        let is_accepting = matcher.is_accepting()?;
        let haste = (f64::from(used) / length.max(1.0)).min(1.0);
        if is_accepting && (haste >= 1.0 || sampler.random().unit() < END_CHANCE + haste / 2.0) {
            return Ok(true);
        }
        matcher.compute_mask(&mut mask)?;
        // Free text, such as the inside of a string, would go on for long: now and then it is led to its end.
        let is_free = sampler.is_free(&matcher)?;
        if is_free && way.is_empty() && sampler.random().unit() < CLOSE_CHANCE {
            let end = sampler.end_of_free(&matcher)?.unwrap_or_default();
            way.extend(end.iter().map(|&byte| Unit::Byte(byte)));
        }
        if haste >= 1.0 && way.is_empty() && used >= next_search {
            // A step may be a token of its own.
            let len_max = (budget - used) as usize;
            way = sampler.way_out(&matcher, len_max, has_tokens)?.unwrap_or_default().into();
            next_search = used + 1 + len_max as u32 / SEARCHES;
        }
        let token = match next_of(&mut way, &mask, vocabulary) {
            Some(token) => Some(token),
            None => {
                way.clear();
                sampler.draw(&mask, is_accepting, is_free, haste)
            }
        };
        let Some(token) = token.filter(|&token| !is_accepting || !sampler.is_blank(token)) else {
            return Ok(is_accepting);
        };
        let stopped = matcher.consume_token(token)?.stopped;
        match vocabulary.token_bytes(token) {
            Some(bytes) => out.write_all(bytes)?,
            None => out.write_all(vocabulary.display(token).as_bytes())?,
        }
        out.flush()?;
        if stopped {
            break;
        }
    }
    Ok(matcher.is_accepting()?)
}

/// The longest token that goes along the way, taken off it; `None` if there is none.
fn next_of(way: &mut VecDeque<Unit>, mask: &TokenMask, vocabulary: &Vocabulary) -> Option<TokenId> {
    let bytes: Vec<u8> = way
        .iter()
        .map_while(|unit| match unit {
            Unit::Byte(byte) => Some(*byte),
            Unit::Token(_) => None,
        })
        .collect();
    let (token, len) = match way.front()? {
        Unit::Token(token) => (*token, 1),
        Unit::Byte(_) => vocabulary.trie().longest_match(&bytes)?,
    };
    if !mask.is_allowed(token) {
        return None;
    }
    way.drain(..len);
    Some(token)
}
