//! The sample grammars do what the texts beside them say, on bytes by the engine and the oracle, and on real
//! vocabularies token by token.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherOptions, Shared};
use larkspur_test_support::Random;
use larkspur_tests::cases::Step;
use larkspur_tests::compare::{Caches, Rig, compile, feed};
use larkspur_tests::oracle::{Oracle, Token, Vocab};
use larkspur_tests::samples::{Piece, Sample, all};
use larkspur_toktrie::{HuggingFaceOptions, TiktokenOptions, TokenId, TokenMask, Vocabulary};

fn for_all(check: impl Fn(&Sample) -> Result<()>) {
    let mut failures = Vec::new();
    for sample in all().expect("the samples can be read").iter().filter(|sample| sample.needs.is_none()) {
        if let Err(error) = check(sample) {
            failures.push(format!("{}: {error:#}", sample.name));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn verdicts() {
    for_all(|sample| {
        if names_ids(sample) {
            return Ok(());
        }
        let vocab = sample.byte_vocab();
        let grammar = compile(&sample.link()?, &vocab, &EngineOptions::default())
            .map_err(|errors| anyhow::anyhow!("does not compile: {errors:?}"))?;
        ensure!(grammar.warnings().is_empty(), "has warnings: {:?}", grammar.warnings());
        for text in &sample.accepts {
            let (at, matcher) = run(sample, &grammar, &vocab, text)?;
            ensure!(at.is_none(), "{text:?} is rejected at {}", at.unwrap_or_default());
            ensure!(matcher.is_accepting()?, "{text:?} is incomplete");
        }
        for text in &sample.incomplete {
            let (at, matcher) = run(sample, &grammar, &vocab, text)?;
            ensure!(at.is_none(), "{text:?} is rejected at {}", at.unwrap_or_default());
            ensure!(!matcher.is_accepting()?, "{text:?} is accepted");
        }
        for reject in &sample.rejects {
            let (at, _) = run(sample, &grammar, &vocab, &reject.text)?;
            ensure!(at == Some(reject.at), "{:?} is rejected at {at:?}, not at {}", reject.text, reject.at);
        }
        Ok(())
    });
}

/// Whether the grammar names tokens by id, which only the vocabulary that it is for has.
fn names_ids(sample: &Sample) -> bool {
    sample.grammar.contains("<[1")
}

/// Where the text is rejected, and the matcher there.
fn run(sample: &Sample, grammar: &CompiledGrammar, vocab: &Vocab, text: &str) -> Result<(Option<usize>, Matcher)> {
    let mut matcher = Matcher::new(grammar, MatcherOptions::default())?;
    for (at, step) in sample.steps(vocab, text) {
        if feed(&mut matcher, &step).is_err() {
            return Ok((Some(at), matcher));
        }
    }
    Ok((None, matcher))
}

#[test]
fn masks_are_the_oracles() {
    for_all(|sample| {
        if names_ids(sample) {
            return Ok(());
        }
        let vocab = sample.byte_vocab();
        let linked = sample.link()?;
        let oracle = Oracle::new(&linked, &vocab).map_err(anyhow::Error::msg)?;
        let mut answers = HashMap::new();
        let mut rig =
            Rig::new(&oracle, &mut answers, &linked, &Caches::on()).map_err(|errors| anyhow::anyhow!("{errors:?}"))?;
        let mut texts: Vec<&String> = sample.accepts.iter().collect();
        texts.sort_by_key(|text| text.len());
        for text in texts.into_iter().take(2) {
            let steps: Vec<Step> = sample.steps(&vocab, text).into_iter().map(|(_, step)| step).take(60).collect();
            let fed = rig.follow(&steps)?;
            ensure!(fed == steps.len(), "{text:?} is rejected at step {fed}");
        }
        Ok(())
    });
}

/// Samples that must be right on real vocabularies, and how many tokens of each text are looked at: tool calls, and texts that can
/// be split at nearly each of their bytes, of which the oracle keeps all ways.
const ON_REAL: [(&str, &str, usize); 10] = [
    ("llama_tool_call", "llama-3.1", 40),
    ("llama_builtin_tools", "llama-3.1", 40),
    ("llama_token_ids", "llama-3.1", 40),
    ("think_json", "qwen3", 40),
    ("hermes_tool_call", "qwen3", 40),
    ("tool_name_suffix", "o200k", 40),
    ("hermes_tool_call_text", "o200k", 40),
    ("gbnf_lisp", "o200k", 6),
    ("gbnf_markdown", "llama-3.1", 6),
    ("gbnf_xml", "o200k", 6),
];

#[test]
fn masks_on_real_vocabularies_are_the_oracles() {
    let samples = all().expect("the samples can be read");
    let mut engines: HashMap<&str, Option<(Shared, Vocab)>> = HashMap::new();
    for (name, vocabulary_name, tokens_max) in ON_REAL {
        let engine = engines.entry(vocabulary_name).or_insert_with(|| {
            let vocabulary = Arc::new(real_vocabulary(vocabulary_name)?);
            let vocab = oracle_vocab(&vocabulary);
            Some((Shared::new(vocabulary, &EngineOptions::default()).expect("the slices are sound"), vocab))
        });
        let Some((shared, vocab)) = engine else {
            println!("SKIPPED: {name} on {vocabulary_name}, which is not in the shared folder");
            continue;
        };
        let sample = samples.iter().find(|sample| sample.name == name).expect("the sample is there");
        on_real(sample, (shared, vocab), tokens_max)
            .with_context(|| format!("{name} on {vocabulary_name}"))
            .expect("all is right");
    }
}

/// A vocabulary of the shared folder, with the tokens of Meta's and Qwen's tool calls by their names.
fn real_vocabulary(name: &str) -> Option<Vocabulary> {
    let shared = std::env::var_os("LARKSPUR_SHARED")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")), PathBuf::from);
    let folder = shared.join("tokenizers").join(name);
    if name == "o200k" {
        let ranks = std::fs::read(folder.join("o200k_base.tiktoken")).ok()?;
        return Some(Vocabulary::from_tiktoken_ranks(&ranks, &TiktokenOptions::o200k_base()).expect("it loads"));
    }
    let json = std::fs::read(folder.join("tokenizer.json")).ok()?;
    let names = ["<think>", "</think>", "<tool_call>", "</tool_call>"].map(String::from).to_vec();
    let special_names = if name == "qwen3" { names } else { Vec::new() };
    let options = HuggingFaceOptions { special_names, ..HuggingFaceOptions::default() };
    let loaded = Vocabulary::from_huggingface(&json, &options).expect("it loads");
    // This copy of the Llama vocabulary has the reserved names of these two.
    let renamed = HashMap::from([(128_010, "<|python_tag|>"), (128_008, "<|eom_id|>")]);
    let mut builder = Vocabulary::builder();
    for id in 0..loaded.len() as TokenId {
        if let Some(bytes) = loaded.token_bytes(id) {
            builder.token(id, bytes);
        } else if let Some(special) = loaded.special_name(id) {
            builder.special(id, *renamed.get(&id).filter(|_| name == "llama-3.1").unwrap_or(&special));
        }
    }
    loaded.eos().iter().for_each(|&eos| _ = builder.eos(eos));
    Some(builder.len(loaded.len()).build().expect("it is as sound as before"))
}

fn oracle_vocab(vocabulary: &Vocabulary) -> Vocab {
    let token = |id| match vocabulary.token_bytes(id) {
        Some(bytes) => Token::Bytes(bytes.to_vec()),
        None => Token::Special(vocabulary.special_name(id).unwrap_or_default().into()),
    };
    Vocab { tokens: (0..vocabulary.len() as TokenId).map(token).collect(), eos: vocabulary.eos().to_vec() }
}

/// Follows two texts and three sampled sentences; in each state the oracle judges some hundred tokens.
fn on_real(sample: &Sample, (shared, vocab): (&Shared, &Vocab), tokens_max: usize) -> Result<()> {
    let linked = sample.link()?;
    let oracle = Oracle::new(&linked, vocab).map_err(anyhow::Error::msg)?;
    let grammar = CompiledGrammar::compile(shared, linked.clone()).map_err(|errors| anyhow::anyhow!("{errors:?}"))?;
    let mut random = Random::new(1);
    for text in sample.accepts.iter().take(2) {
        let tokens = tokenize(sample, shared.vocabulary(), text);
        let tokens = &tokens[..tokens.len().min(tokens_max)];
        follow(&oracle, &grammar, &mut random, Some(tokens), tokens_max)?;
    }
    for _ in 0..3 {
        follow(&oracle, &grammar, &mut random, None, tokens_max)?;
    }
    Ok(())
}

fn tokenize(sample: &Sample, vocabulary: &Vocabulary, text: &str) -> Vec<TokenId> {
    let mut tokens = Vec::new();
    for piece in sample.pieces(text) {
        match piece {
            Piece::Text(run) => {
                tokens.extend(vocabulary.tokenize_greedy(run.as_bytes()).expect("it spells every byte"))
            }
            Piece::Special(name) => {
                let by_id = || name.strip_prefix("<[")?.strip_suffix("]>")?.parse().ok();
                let id = vocabulary.special_by_name(name).or_else(by_id);
                tokens.push(id.unwrap_or_else(|| panic!("the vocabulary has no `{name}`")));
            }
        }
    }
    tokens
}

/// Follows the tokens, or tokens sampled from masks until the text ends (at most so many). In each state the oracle must
/// agree on a hundred allowed tokens and three hundred of all.
fn follow(
    oracle: &Oracle,
    grammar: &CompiledGrammar,
    random: &mut Random,
    tokens: Option<&[TokenId]>,
    tokens_max: usize,
) -> Result<()> {
    let vocabulary = grammar.shared().vocabulary().clone();
    let mut matcher = Matcher::new(grammar, MatcherOptions::default())?;
    let mut mask = TokenMask::new(vocabulary.len());
    let mut state = oracle.start();
    for at in 0..tokens_max {
        matcher.compute_mask(&mut mask)?;
        let allowed: Vec<TokenId> = mask.iter().collect();
        let accepting = oracle.is_accepting(&state);
        ensure!(matcher.is_accepting()? == accepting, "at token {at}: accepting is {accepting} by the oracle");
        let mut judged: Vec<TokenId> = (0..100).map(|_| allowed[random.below(allowed.len())]).collect();
        judged.extend((0..300).map(|_| random.below(vocabulary.len()) as TokenId));
        for id in judged {
            let expected = oracle.feed_token(&state, id).is_some() || accepting && vocabulary.eos().contains(&id);
            let shown = vocabulary.display(id);
            ensure!(mask.is_allowed(id) == expected, "at token {at}: {shown} ({id}) is {expected} by the oracle");
        }
        let next = match tokens {
            Some(tokens) => tokens.get(at).copied(),
            None => Some(allowed[random.below(allowed.len())]),
        };
        let Some(next) = next else { break };
        matcher.consume_token(next).with_context(|| vocabulary.display(next))?;
        match oracle.feed_token(&state, next) {
            Some(after) => state = oracle.token_end(&after),
            None => {
                ensure!(accepting && matcher.is_stopped(), "{} does not end the text", vocabulary.display(next));
                break;
            }
        }
        if matcher.is_stopped() {
            ensure!(oracle.is_accepting(&state), "the text has ended where it may not");
            break;
        }
    }
    Ok(())
}
