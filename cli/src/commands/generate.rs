//! `larkspur generate GRAMMAR`: random sentences.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use anyhow::Result;
use larkspur::{CompiledGrammar, Matcher, TokenId, TokenMask, Vocabulary};

use crate::Outcome;
use crate::args::{GenerateArgs, Profile};
use crate::grammar::compile;
use crate::sampler::{Here, Sampler, Unit};
use crate::{render, vocabulary};

/// Shares of the budget between which a sentence is as long as it likes.
const LENGTH_SHARES: (f64, f64) = (0.05, 0.5);

/// Chance that free text is led to its end, at each token.
const CLOSE_CHANCE: f64 = 0.15;

/// A search for a way to the end that found none is tried again after this part of the budget that is left.
const SEARCHES: u32 = 6;

/// Chance to end at the first place where that is possible.
const END_CHANCE: f64 = 0.15;

/// Tokens beyond the budget in which a sentence may be brought to its end.
const END_TOKENS_MAX: u32 = 1_000;

/// Ways to the end that are looked for beyond the budget; one that cannot be gone in tokens is given up.
const END_SEARCHES_MAX: u32 = 16;

pub(crate) fn run(args: &GenerateArgs) -> Result<Outcome> {
    let Some(mut linked) = args.read.linked(&args.grammar, Profile::Generate)? else { return Ok(Outcome::Failed) };
    let has_tokens = linked.grammar.grammars.iter().any(|grammar| !grammar.token_sets.is_empty());
    // The budget is kept here: a matcher whose budget has ended does not say whether the text is complete.
    let tokens_max = linked.max_tokens.take().unwrap_or(u32::MAX);
    let budget = tokens_max.min(args.max_tokens);
    let budget = Budget { tokens: budget, end_tokens: (tokens_max - budget).min(END_TOKENS_MAX) };
    let linked_grammar = linked.grammar.clone();
    let vocabulary = vocabulary::named_or_default(args.read.tokenizer.as_deref())?;
    let Some(grammar) = compile(&args.grammar, linked, vocabulary.clone())? else { return Ok(Outcome::Failed) };
    let seed = args.seed.unwrap_or_else(|| RandomState::new().hash_one(0));
    let mut sampler = Sampler::new(&vocabulary, &linked_grammar, seed);
    for _ in 0..args.count {
        let complete = sentence(&budget, &grammar, &vocabulary, &mut sampler, has_tokens)?;
        writeln!(std::io::stdout())?;
        if !complete {
            render::note(&format!("no end of the sentence was found after the budget of {} tokens", budget.tokens));
        }
    }
    Ok(Outcome::Good)
}

/// How long a sentence may be.
struct Budget {
    /// Tokens that are drawn.
    tokens: u32,
    /// Tokens that may follow to bring the sentence to its end.
    end_tokens: u32,
}

/// A sentence as far as it is.
struct Sentence<'a> {
    matcher: Matcher,
    mask: TokenMask,
    vocabulary: &'a Vocabulary,
}

impl Sentence<'_> {
    /// Consumes and prints a token; true if the sentence has ended.
    fn push(&mut self, token: TokenId) -> Result<bool> {
        let stopped = self.matcher.consume_token(token)?.stopped;
        let mut out = std::io::stdout();
        match self.vocabulary.token_bytes(token) {
            Some(bytes) => out.write_all(bytes)?,
            None => out.write_all(self.vocabulary.display(token).as_bytes())?,
        }
        out.flush()?;
        Ok(stopped)
    }
}

/// Streams one sentence to standard output. Returns whether it is complete.
fn sentence(
    budget: &Budget,
    grammar: &CompiledGrammar,
    vocabulary: &Vocabulary,
    sampler: &mut Sampler,
    has_tokens: bool,
) -> Result<bool> {
    let mut sentence = Sentence { matcher: grammar.matcher()?, mask: TokenMask::new(vocabulary.len()), vocabulary };
    let (low, high) = LENGTH_SHARES;
    let length = (low + (high - low) * sampler.random().unit()) * f64::from(budget.tokens);
    let mut way: VecDeque<Unit> = VecDeque::new();
    let mut next_search = 0;
    for used in 0..budget.tokens {
        let is_accepting = sentence.matcher.is_accepting()?;
        let haste = (f64::from(used) / length.max(1.0)).min(1.0);
        if is_accepting && (haste >= 1.0 || sampler.random().unit() < END_CHANCE + haste / 2.0) {
            return Ok(true);
        }
        sentence.matcher.compute_mask(&mut sentence.mask)?;
        // Free text, such as the inside of a string, would go on for long: now and then it is led to its end.
        let is_free = sampler.is_free(&sentence.matcher)?;
        if is_free && way.is_empty() && sampler.random().unit() < CLOSE_CHANCE {
            let end = sampler.end_of_free(&sentence.matcher)?.unwrap_or_default();
            way.extend(end.iter().map(|&byte| Unit::Byte(byte)));
        }
        if haste >= 1.0 && way.is_empty() && used >= next_search {
            // A step may be a token of its own.
            let len_max = (budget.tokens - used) as usize;
            way = sampler.way_out(&sentence.matcher, len_max, has_tokens)?.unwrap_or_default().into();
            next_search = used + 1 + len_max as u32 / SEARCHES;
        }
        let token = match next_of(&mut way, &sentence.mask, vocabulary) {
            Some(token) => Some(token),
            None => {
                way.clear();
                sampler.draw(&sentence.mask, Here { is_accepting, is_free }, haste)
            }
        };
        let Some(token) = token.filter(|&token| !is_accepting || !sampler.is_blank(token)) else {
            return Ok(is_accepting);
        };
        if sentence.push(token)? {
            return Ok(sentence.matcher.is_accepting()?);
        }
    }
    end(sentence, budget.end_tokens, sampler, has_tokens)
}

/// Leads a sentence whose budget has ended to its end, by a short way. Returns whether it is complete.
fn end(mut sentence: Sentence, tokens_max: u32, sampler: &mut Sampler, has_tokens: bool) -> Result<bool> {
    let mut way: VecDeque<Unit> = VecDeque::new();
    let mut searches = 0;
    for _ in 0..tokens_max {
        if sentence.matcher.is_accepting()? {
            return Ok(true);
        }
        sentence.matcher.compute_mask(&mut sentence.mask)?;
        let mut token = next_of(&mut way, &sentence.mask, sentence.vocabulary);
        while token.is_none() && searches < END_SEARCHES_MAX {
            searches += 1;
            way = sampler.short_way(&sentence.matcher, has_tokens)?.unwrap_or_default().into();
            token = next_of(&mut way, &sentence.mask, sentence.vocabulary);
        }
        let Some(token) = token else { break };
        if sentence.push(token)? {
            break;
        }
    }
    Ok(sentence.matcher.is_accepting()?)
}

/// The longest token that goes along the way and is allowed, taken off it; `None` if there is none.
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
        Unit::Byte(_) => {
            let (longest, len) = vocabulary.trie().longest_match(&bytes)?;
            let shorter = (1..len).rev().filter_map(|len| Some((vocabulary.trie().token_of(&bytes[..len])?, len)));
            std::iter::once((longest, len)).chain(shorter).find(|&(token, _)| mask.is_allowed(token))?
        }
    };
    if !mask.is_allowed(token) {
        return None;
    }
    way.drain(..len);
    Some(token)
}
