//! Memory of one engine: a process of its own gets the tokens, then the schemas one by one, so that nothing else is in it: no
//! tokenizer, and not the other engine's vocabulary.

use std::io::{BufRead, BufWriter, Write, stdin};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use larkspur::Vocabulary;
use serde::{Deserialize, Serialize};

use super::data::{Instance, Schema};
use super::engines::{Larkspur, LlGuidance, SchemaEngine, Setup};
use super::tokenizer::{Tokenizer, write_tokens};
use crate::engines::Engine;
use crate::machine::memory_bytes;
use crate::measure::is_allowed;

/// Resident set in MB.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Memory {
    /// With the engine's vocabulary.
    pub vocabulary_mb: f64,
    /// With the engine.
    pub engine_mb: f64,
    /// After all schemas, each compiled, walked and dropped before the next.
    pub end_mb: f64,
    pub peak_mb: f64,
    pub schemas: usize,
}

/// A schema as it goes to the child.
#[derive(Serialize, Deserialize)]
struct Line {
    text: String,
    instances: Vec<Vec<u32>>,
}

/// Runs a child over the schemas. `arguments` are those that choose the profile.
pub fn measure<'a>(
    engine: &str,
    folder: &Path,
    arguments: &[String],
    vocabulary: &Vocabulary,
    schemas: impl Iterator<Item = &'a Schema>,
) -> Result<Memory> {
    let mut child = Command::new(std::env::current_exe()?)
        .arg("maskbench")
        .arg(folder)
        .args(arguments)
        .args(["--memory-child", engine])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = BufWriter::new(child.stdin.take().context("stdin is piped")?);
    write_tokens(vocabulary, &mut input)?;
    for schema in schemas {
        let tokens = |instance: &Instance| instance.tokens.clone();
        let line = Line { text: schema.source.clone(), instances: schema.instances.iter().map(tokens).collect() };
        writeln!(input, "{}", serde_json::to_string(&line)?)?;
    }
    input.flush()?;
    drop(input);
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the process for {engine} ended with {}", output.status);
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// What a child does.
pub fn obey(engine: &str, setup: &Setup) -> Result<()> {
    let mut input = stdin().lock();
    let memory = match engine {
        Larkspur::NAME => run::<Larkspur>(&Tokenizer::read_for_larkspur(&mut input)?, input, setup),
        _ => run::<LlGuidance>(&Tokenizer::read_for_llguidance(&mut input)?, input, setup),
    }?;
    println!("{}", serde_json::to_string(&memory)?);
    Ok(())
}

fn run<E: SchemaEngine>(tokenizer: &Tokenizer, schemas: impl BufRead, setup: &Setup) -> Result<Memory> {
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let mut memory = Memory { vocabulary_mb: mb(memory_bytes().0), ..Memory::default() };
    let engine = E::start(tokenizer, setup)?;
    memory.engine_mb = mb(memory_bytes().0);
    let mut mask = engine.no_mask();
    for line in schemas.lines() {
        let line: Line = serde_json::from_str(&line?)?;
        memory.schemas += 1;
        let Ok(grammar) = engine.compile(&line.text) else { continue };
        for tokens in &line.instances {
            // What an engine says of an instance is counted elsewhere.
            _ = walk(&engine, &grammar, tokens, &mut mask);
        }
    }
    let (now, peak) = memory_bytes();
    (memory.end_mb, memory.peak_mb) = (mb(now), mb(peak));
    Ok(memory)
}

fn walk<E: SchemaEngine>(engine: &E, grammar: &E::Grammar, tokens: &[u32], mask: &mut E::Mask) -> Result<()> {
    let mut matcher = engine.matcher(grammar)?;
    for &token in tokens {
        E::mask(&mut matcher, mask)?;
        if !is_allowed(E::words(mask), token) {
            break;
        }
        E::consume(&mut matcher, token)?;
    }
    Ok(())
}
