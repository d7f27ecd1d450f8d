//! Masks against walks: each mask of an engine with all its caches, which has run other schemas before, is compared with that
//! of an engine that keeps nothing and asks the machine byte by byte.

use anyhow::{Result, ensure};
use larkspur::grammar::Limits;
use larkspur::{CompileOptions, CompiledGrammar, Engine, EngineOptions, TokenMask};

use super::data::{Instance, Plan};
use super::engines::{Setup, source};
use super::tokenizer::Tokenizer;

/// Compares the masks before each of the first `tokens_max` tokens of every instance.
///
/// Errors: a mask differs.
pub fn check(plan: &Plan, tokenizer: &Tokenizer, setup: &Setup, tokens_max: usize) -> Result<()> {
    let limits = Limits { mask_cache_bytes_max: 0, term_cache_bytes_max: 0, ..Limits::default() };
    let plain = EngineOptions { limits, slices: Vec::new(), ..EngineOptions::default() };
    let engine = |options| Engine::with_options(tokenizer.vocabulary().clone(), options);
    let engines = [engine(&setup.options)?, engine(&plain)?];
    let options = CompileOptions { spelling: setup.spelling.clone(), ..CompileOptions::default() };
    let (mut masks, mut schemas) = (0, 0);
    for schema in plan.warm_up.iter().chain(&plan.measured) {
        let source = source(&schema.source, setup.host);
        let compiled = engines.each_ref().map(|engine| engine.compile_with(&source, &options));
        let [Ok(known), Ok(walked)] = compiled else { continue };
        // Every other schema is read as by many threads.
        if schemas % 2 == 1 {
            known.publish();
        }
        for instance in &schema.instances {
            masks += compare(&known, &walked, instance, tokens_max, &schema.name)?;
        }
        schemas += 1;
    }
    println!("{masks} masks of {schemas} schemas are what walks say.");
    Ok(())
}

fn compare(
    known: &CompiledGrammar,
    walked: &CompiledGrammar,
    instance: &Instance,
    tokens_max: usize,
    name: &str,
) -> Result<usize> {
    let (mut known, mut walked) = (known.matcher()?, walked.matcher()?);
    let vocabulary_len = known.grammar().shared().vocabulary().len();
    let [mut expected, mut mask] = [TokenMask::new(vocabulary_len), TokenMask::new(vocabulary_len)];
    let mut masks = 0;
    for &token in instance.tokens.iter().take(tokens_max) {
        let results = (known.compute_mask(&mut mask), walked.compute_mask(&mut expected));
        ensure!(results.0 == results.1, "{name}: {results:?} after {:?}", String::from_utf8_lossy(&known.text()));
        let other = mask.words().iter().zip(expected.words()).position(|(one, other)| one != other);
        ensure!(
            other.is_none(),
            "{name}: masks differ at word {other:?} after {:?}",
            String::from_utf8_lossy(&known.text())
        );
        // Once more, when it is known.
        known.compute_mask(&mut mask)?;
        ensure!(mask.words() == expected.words(), "{name}: the mask differs where it is known");
        masks += 1;
        if known.consume_token(token).is_err() {
            break;
        }
        walked.consume_token(token)?;
    }
    Ok(masks)
}
