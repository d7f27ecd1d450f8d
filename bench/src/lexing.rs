//! What exactness costs: GBNF texts, whose every way to be split counts, Lark texts in both lexer modes, and KBNF's engine.
//!
//! In: options. Out: three tables on standard output. What is measured, and how, is in `bench/README.md`.

use std::fmt::Write;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use larkspur::kbnf::{Config as KbnfConfig, Engine as KbnfEngine};
use larkspur::{CompileOptions, LexerMode, Limits, Source, SourceKind, Vocabulary};
use larkspur_parser::CompiledGrammar;

use crate::cases::CASES;
use crate::engines::{Engine, HEADER, Larkspur};
use crate::growth::warm_larkspur;
use crate::measure::{Clock, Pass, PassSummary, run, timed};
use crate::random::Random;
use crate::report::{Table, short};
use crate::vocabulary::{EOS, for_larkspur, token_bytes, tokenize};

/// Options of `lexing`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Only GBNF languages, or Lark grammars, whose name contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Tokens of a GBNF language's texts.
    #[arg(long, default_value_t = 4_000)]
    tokens: usize,
    /// Length of a Lark grammar's text in kB.
    #[arg(long, default_value_t = 16)]
    size_kb: usize,
    /// New engines, one after the other; of each step the least time counts.
    #[arg(long, default_value_t = 5)]
    repeat: usize,
}

macro_rules! sample {
    ($name:literal) => {
        ($name, include_str!(concat!("../../sample_grammars/", $name, ".gbnf")))
    };
}

/// The languages that llama.cpp has samples of.
const SAMPLES: &[(&str, &str)] = &[
    sample!("gbnf_arithmetic"),
    sample!("gbnf_c_subset"),
    sample!("gbnf_chess"),
    sample!("gbnf_japanese"),
    sample!("gbnf_json"),
    sample!("gbnf_list"),
];

/// Rules of a grammar that is made up, and how many of these there are.
const RULES: usize = 500;
const GENERATED: u64 = 3;
/// Tokens of one text at most, so that brackets do not nest ever deeper.
const TEXT_TOKENS_MAX: usize = 400;
/// A pass is stopped after this.
const PASS: Duration = Duration::from_secs(20);

pub fn measure(args: &Args) -> Result<()> {
    let vocabulary = for_larkspur(&token_bytes()?)?;
    let mut languages: Vec<(String, String)> =
        SAMPLES.iter().map(|&(name, text)| (name.to_owned(), text.to_owned())).collect();
    languages.extend((0..GENERATED).map(|seed| (format!("rules_{RULES}_{seed}"), made_up(seed))));
    languages.retain(|(name, _)| name.contains(&args.only));
    let columns =
        ["language", "tokens", "compile", "cold", "p99", "max", "warm", "one character: cold", "warm", "factor"];
    let mut table = Table::new(&columns, 1);
    for (name, gbnf) in &languages {
        eprintln!("{name}");
        let native = Source::gbnf(gbnf.as_str());
        let limits = Limits::default();
        let converted = larkspur::convert(&native, SourceKind::Lark, &CompileOptions::default(), &limits)
            .map_err(|error| anyhow!("{name}: {error}"))?;
        let by_characters = Source::lark(converted.text);
        let texts = walks(&native, &vocabulary, args.tokens).with_context(|| name.clone())?;
        let mut sides = [Side::default(), Side::default()];
        for _ in 0..args.repeat.max(1) {
            let ways = [&native, &by_characters].map(|source| (source, CompileOptions::default()));
            repeat(&mut sides, &ways, &vocabulary, &texts).with_context(|| name.clone())?;
        }
        let [native, characters] = sides.each_ref().map(Side::summaries);
        table.row(&[
            name.clone(),
            native[0].masks.to_string(),
            short(sides[0].compile_us),
            short(native[0].mask.mean),
            short(native[0].mask.p99),
            short(native[0].mask.max),
            short(native[1].mask.mean),
            short(characters[0].mask.mean),
            short(characters[1].mask.mean),
            short(characters[0].mask.mean / native[0].mask.mean),
        ]);
    }
    let mut out = String::from("GBNF: masks in us\n\n");
    table.finish(&mut out);
    modes(args, &vocabulary, &mut out)?;
    kbnf(args, &vocabulary, &mut out)?;
    print!("{out}");
    Ok(())
}

/// Lark grammars in both modes.
fn modes(args: &Args, vocabulary: &std::sync::Arc<Vocabulary>, out: &mut String) -> Result<()> {
    out.push_str("Lark in both lexer modes: masks, and masks with the token after them, in us\n\n");
    let columns =
        ["grammar", "tokens", "longest: cold", "warm", "with token", "exact: cold", "warm", "with token", "over"];
    let mut table = Table::new(&columns, 1);
    for case in CASES.iter().filter(|case| case.name.contains(&args.only)) {
        eprintln!("{}", case.name);
        let source = Source::lark(format!("{HEADER}{}", case.grammar));
        let texts = [tokenize(&(case.text)(args.size_kb * 1024))];
        let mut sides = [Side::default(), Side::default()];
        for _ in 0..args.repeat.max(1) {
            let ways = [LexerMode::Longest, LexerMode::Exact]
                .map(|mode| (&source, CompileOptions { lexer: Some(mode), ..CompileOptions::default() }));
            repeat(&mut sides, &ways, vocabulary, &texts).with_context(|| case.name)?;
        }
        let [longest, exact] = sides.each_ref().map(Side::summaries);
        let mut row = vec![case.name.to_owned(), longest[0].masks.to_string()];
        for [cold, warm] in [&longest, &exact] {
            row.extend([cold.mask.mean, warm.mask.mean, warm.sum.mean].map(short));
        }
        let over = (exact[1].sum.mean / longest[1].sum.mean - 1.0) * 100.0;
        row.push(match exact[1].stopped.as_ref().or(longest[1].stopped.as_ref()) {
            Some(stopped) => stopped.clone(),
            None => format!("{over:+.0} %"),
        });
        table.row(&row);
    }
    table.finish(out);
    Ok(())
}

/// A KBNF grammar of a kind that its own benchmark has, and a token that it takes again and again. `kbnf_times.py` reads the same
/// file for the package `kbnf`; `tests/tests/samples.rs` compares their masks with the oracle's.
#[derive(serde::Deserialize)]
struct KbnfCase {
    name: String,
    grammar: String,
    token: String,
    /// How often the token is taken.
    count: usize,
}

const KBNF: &str = include_str!("../grammars/kbnf.json");

/// The engine in KBNF's shape: a token, the tokens allowed then, and logits, as `kbnf_times.py` does it.
fn kbnf(args: &Args, vocabulary: &std::sync::Arc<Vocabulary>, out: &mut String) -> Result<()> {
    out.push_str("KBNF's engine: a token, what is allowed then, and its logits, in us\n\n");
    let columns = [
        "grammar",
        "tokens",
        "compile",
        "cold",
        "of it the mask",
        "warm",
        "of it the mask",
        "no cache",
        "of it the mask",
    ];
    let mut table = Table::new(&columns, 1);
    let cases: Vec<KbnfCase> = serde_json::from_str(KBNF)?;
    for case in cases.iter().filter(|case| case.name.contains(&args.only)) {
        eprintln!("KBNF, {}", case.name);
        let mut least = [f64::INFINITY; 7];
        for _ in 0..args.repeat.max(1) {
            for (at, time_us) in kbnf_times(case, vocabulary)?.into_iter().enumerate() {
                least[at] = least[at].min(time_us);
            }
        }
        let mut row = vec![case.name.clone(), case.count.to_string()];
        row.extend(least.map(short));
        table.row(&row);
    }
    table.finish(out);
    Ok(())
}

/// Compiling; then for a first pass, a second one, and the second one without a cache of masks, the mean of a token and of its mask.
fn kbnf_times(case: &KbnfCase, vocabulary: &std::sync::Arc<Vocabulary>) -> Result<[f64; 7]> {
    let token = tokenize(&case.token)[0];
    let mut logits = vec![0.0f32; crate::vocabulary::VOCABULARY_LEN];
    let mut times = Vec::with_capacity(10);
    for cache_enabled in [true, false] {
        let config = KbnfConfig { cache_enabled, ..KbnfConfig::default() };
        let (engine, compile_us) = timed(|| KbnfEngine::with_config(&case.grammar, vocabulary.clone(), config));
        let mut engine = engine.map_err(|error| anyhow!("{}: {error}", case.name))?;
        times.push(compile_us);
        for _ in 0..2 {
            let mut clock = Clock::new();
            let (mut all_ns, mut mask_ns) = (0, 0);
            for _ in 0..case.count {
                let (accepted, accept_ns) = clock.time(|| engine.try_accept_new_token(token));
                accepted?;
                let (computed, compute_ns) = clock.time(|| engine.compute_allowed_token_ids());
                computed?;
                let (masked, logits_ns) = clock.time(|| engine.mask_logits(&mut logits));
                masked?;
                mask_ns += compute_ns;
                all_ns += accept_ns + compute_ns + logits_ns;
            }
            times.extend([all_ns, mask_ns].map(|ns| ns as f64 / 1000.0 / case.count as f64));
            engine.reset()?;
        }
    }
    let [compile, cold, cold_mask, warm, warm_mask, _, _, _, no_cache, no_cache_mask] = times[..] else {
        unreachable!("two engines, each compiled and passed twice")
    };
    Ok([compile, cold, cold_mask, warm, warm_mask, no_cache, no_cache_mask])
}

/// One way to compile a language: the least times so far.
#[derive(Default)]
struct Side {
    compile_us: f64,
    cold: Vec<Pass>,
    warm: Vec<Pass>,
}

/// Warm passes of both ways in turn, so that what else the machine does befalls both.
const WARM_PASSES: usize = 8;

/// A new engine for each way goes over the texts, and then over and over in turn.
fn repeat(
    sides: &mut [Side; 2],
    ways: &[(&Source, CompileOptions); 2],
    vocabulary: &std::sync::Arc<Vocabulary>,
    texts: &[Vec<u32>],
) -> Result<()> {
    let mut compiled = Vec::with_capacity(ways.len());
    for (side, (source, options)) in sides.iter_mut().zip(ways) {
        let engine = warm_larkspur(vocabulary)?;
        let (grammar, compile_us) = timed(|| engine.compile_source(source, options));
        let grammar = grammar?;
        let is_first = side.cold.is_empty();
        side.compile_us = if is_first { compile_us } else { side.compile_us.min(compile_us) };
        add(&mut side.cold, &engine, &grammar, texts)?;
        compiled.push((engine, grammar));
    }
    for _ in 0..WARM_PASSES {
        for (side, (engine, grammar)) in sides.iter_mut().zip(&compiled) {
            add(&mut side.warm, engine, grammar, texts)?;
        }
    }
    Ok(())
}

/// A pass over the texts; of each step the least time is kept.
fn add(passes: &mut Vec<Pass>, engine: &Larkspur, grammar: &CompiledGrammar, texts: &[Vec<u32>]) -> Result<()> {
    for (index, text) in texts.iter().enumerate() {
        let pass = run(engine, grammar, text, PASS, |_, _| {})?;
        match passes.get_mut(index) {
            Some(known) => known.merge(pass),
            None => passes.push(pass),
        }
    }
    Ok(())
}

impl Side {
    /// Of all texts together: cold, warm.
    fn summaries(&self) -> [PassSummary; 2] {
        [&self.cold, &self.warm].map(|passes| {
            let mut all = Pass::default();
            for pass in passes {
                // A text's last mask has no token after it.
                let tokens = pass.consume_ns.len();
                all.mask_ns.extend(&pass.mask_ns[..tokens]);
                all.consume_ns.extend(&pass.consume_ns);
                all.stopped = all.stopped.or(pass.stopped.clone());
            }
            all.summary()
        })
    }
}

/// Texts of a language, as tokens: walks through its masks, which prefer short tokens of plain characters.
fn walks(source: &Source, vocabulary: &std::sync::Arc<Vocabulary>, tokens: usize) -> Result<Vec<Vec<u32>>> {
    let engine = warm_larkspur(vocabulary)?;
    let grammar: CompiledGrammar = engine.compile_source(source, &CompileOptions::default())?;
    let bytes = token_bytes()?;
    let mut random = Random::new(7);
    let mut texts = Vec::new();
    let mut count = 0;
    while count < tokens {
        let mut matcher = engine.matcher(&grammar)?;
        let mut mask = engine.no_mask();
        let mut text = Vec::new();
        while text.len() < TEXT_TOKENS_MAX && count + text.len() < tokens {
            Larkspur::mask(&mut matcher, &mut mask)?;
            let allowed: Vec<u32> = mask.iter().filter(|&token| token != EOS).collect();
            if allowed.is_empty() {
                break;
            }
            let price = |&token: &u32| {
                let text = &bytes[token as usize];
                let is_plain = text.iter().all(|byte| (b' '..=b'~').contains(byte) || *byte == b'\n');
                text.len() + if is_plain { 0 } else { 6 }
            };
            let candidates = (0..4).map(|_| allowed[random.below(allowed.len() as u64) as usize]);
            let token = candidates.min_by_key(price).expect("there are four");
            Larkspur::consume(&mut matcher, token)?;
            text.push(token);
        }
        anyhow::ensure!(!text.is_empty(), "nothing but the empty text");
        count += text.len();
        texts.push(text);
    }
    Ok(texts)
}

/// A grammar of [`RULES`] rules: words, runs of characters, rules further on, and some of any rules in brackets.
fn made_up(seed: u64) -> String {
    const WORDS: &[&str] =
        &["if", "then", "let", "=", ", ", "; ", "return ", "\\n", "(", ")", "true", "false", " + ", "\\\""];
    const RUNS: &[&str] = &["[a-z]+", "[0-9]+", "[ ]*", "[A-Za-z_] [A-Za-z0-9_]*", "[^;\\n]{1,20}", "[0-9a-f]{4}"];
    let mut random = Random::new(seed);
    let mut out = String::from("root ::= (r0 \"\\n\" | r1 \"\\n\" | r2 \"\\n\")+\n");
    for rule in 0..RULES {
        let _ = write!(out, "r{rule} ::= ");
        for alternative in 0..1 + random.below(3) {
            if alternative > 0 {
                out.push_str(" | ");
            }
            // So that a text has an end, and begins with something.
            let _ = write!(out, "\"{}\"", random.pick(WORDS));
            for _ in 0..1 + random.below(3) {
                match random.below(20) {
                    0 => _ = write!(out, " \"{{\" r{} \"}}\"", random.below(RULES as u64)),
                    1..8 if rule + 1 < RULES => {
                        let further = (rule as u64 + 1 + random.below(30)).min(RULES as u64 - 1);
                        let _ = write!(out, " r{further}{}", ["", "?", "*"][random.below(3) as usize]);
                    }
                    8..14 => _ = write!(out, " {}", random.pick(RUNS)),
                    _ => _ = write!(out, " \"{}\"", random.pick(WORDS)),
                }
            }
        }
        out.push('\n');
    }
    out
}
