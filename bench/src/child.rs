//! Measurements that need a process of their own: the first mask ever, memory, and what may not end.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use larkspur_toktrie::Vocabulary;
use serde::{Deserialize, Serialize};
use toktrie::TokEnv;

use crate::cases::CASES;
use crate::engines::{Engine, Larkspur, LlGuidance};
use crate::machine::memory_bytes;
use crate::measure::{Clock, PassSummary, Spread, brief, run, timed, us};
use crate::vocabulary::{for_larkspur, for_llguidance, token_bytes, tokenize};
use crate::wide;

/// What a child process is to do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Order {
    pub engine: String,
    pub task: Task,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Task {
    /// The first pass over a text, everything cold.
    Cold { grammar: String, size: usize, seconds: f64 },
    /// One of so many strings, as rules or as one terminal.
    Alternatives { count: usize, form: wide::Form },
    /// A list of so many lexemes.
    List { kind: wide::ListKind, lexemes: usize, seconds: f64 },
}

/// What it has found. Times in microseconds, memory in bytes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Answer {
    pub error: Option<String>,
    /// From the bytes of the tokens to a trie.
    pub trie_us: f64,
    /// From the trie to an engine, slices included.
    pub engine_us: f64,
    pub compile_us: f64,
    pub first_mask_us: f64,
    /// The pass after that: with masks, or sampled.
    pub pass: PassSummary,
    /// Lexemes consumed.
    pub lexemes: usize,
    pub consume_total_us: f64,
    pub memory_trie: i64,
    pub memory_engine: i64,
    pub memory_compile: i64,
    pub memory_pass: i64,
    pub memory_max: i64,
}

/// Runs a child, at most so long.
pub fn order(order: &Order, timeout: Duration) -> Answer {
    match try_order(order, timeout) {
        Ok(answer) => answer,
        Err(error) => Answer { error: Some(brief(&error)), ..Answer::default() },
    }
}

fn try_order(order: &Order, timeout: Duration) -> Result<Answer> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["--child", &serde_json::to_string(order)?])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut stdout = child.stdout.take().context("stdout is piped")?;
    let mut stderr = child.stderr.take().context("stderr is piped")?;
    let answer = thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let complaints = thread::spawn(move || {
        let mut bytes = Vec::new();
        stderr.read_to_end(&mut bytes).map(|_| String::from_utf8_lossy(&bytes).into_owned())
    });
    let begin = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if begin.elapsed() > timeout {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(Duration::from_millis(2));
    };
    let text = answer.join().expect("reading does not panic")?;
    let complaints = complaints.join().expect("reading does not panic")?;
    match status {
        None => bail!("stopped after {} s", timeout.as_secs()),
        Some(status) if !status.success() => bail!("{status}: {}", complaints.trim().lines().next().unwrap_or("")),
        Some(_) => Ok(serde_json::from_str(text.trim())?),
    }
}

/// What a child does.
pub fn obey(order: &str) -> Result<()> {
    let order: Order = serde_json::from_str(order)?;
    let tokens = token_bytes()?;
    // The tokenizer is used later on and must not count then.
    tokenize("warm");
    let mut ledger = Ledger::new();
    let mut answer = match order.engine.as_str() {
        Larkspur::NAME => {
            let (vocabulary, trie_us): (Arc<Vocabulary>, f64) = flatten(timed(|| for_larkspur(&tokens)))?;
            let memory_trie = ledger.growth();
            let (engine, engine_us) = flatten(timed(|| Larkspur::new(&vocabulary)))?;
            let memory_engine = ledger.growth();
            let base = Answer { trie_us, engine_us, memory_trie, memory_engine, ..Answer::default() };
            perform(&engine, &order.task, base, &mut ledger)
        }
        _ => {
            let (env, trie_us): (TokEnv, f64) = timed(|| for_llguidance(&tokens));
            let memory_trie = ledger.growth();
            let (engine, engine_us) = flatten(timed(|| LlGuidance::new(&env, false)))?;
            let memory_engine = ledger.growth();
            let base = Answer { trie_us, engine_us, memory_trie, memory_engine, ..Answer::default() };
            perform(&engine, &order.task, base, &mut ledger)
        }
    };
    answer.memory_max = memory_bytes().1 as i64 - ledger.begin;
    println!("{}", serde_json::to_string(&answer)?);
    Ok(())
}

fn flatten<T>((value, us): (Result<T>, f64)) -> Result<(T, f64)> {
    Ok((value?, us))
}

/// Memory by what it was used for.
struct Ledger {
    begin: i64,
    last: i64,
}

impl Ledger {
    fn new() -> Self {
        let now = memory_bytes().0 as i64;
        Self { begin: now, last: now }
    }

    /// Since the last call.
    fn growth(&mut self) -> i64 {
        let now = memory_bytes().0 as i64;
        now - std::mem::replace(&mut self.last, now)
    }
}

fn perform<E: Engine>(engine: &E, task: &Task, mut answer: Answer, ledger: &mut Ledger) -> Answer {
    let result = match task {
        Task::Cold { grammar, size, seconds } => cold(engine, grammar, *size, *seconds, &mut answer, ledger),
        Task::Alternatives { count, form } => alternatives(engine, *count, *form, &mut answer, ledger),
        Task::List { kind, lexemes, seconds } => list(engine, *kind, *lexemes, *seconds, &mut answer, ledger),
    };
    answer.error = result.err().map(|error| brief(&error));
    answer
}

fn cold<E: Engine>(
    engine: &E,
    grammar: &str,
    size: usize,
    seconds: f64,
    answer: &mut Answer,
    ledger: &mut Ledger,
) -> Result<()> {
    let case = CASES.iter().find(|case| case.name == grammar).context("no such grammar")?;
    let tokens = tokenize(&(case.text)(size));
    ledger.growth();
    let (grammar, compile_us) = flatten(timed(|| engine.compile(case.grammar)))?;
    answer.compile_us = compile_us;
    answer.memory_compile = ledger.growth();
    answer.pass = run(engine, &grammar, &tokens, Duration::from_secs_f64(seconds), |_, _| {})?.summary();
    answer.first_mask_us = answer.pass.first_mask_us;
    answer.memory_pass = ledger.growth();
    Ok(())
}

fn alternatives<E: Engine>(
    engine: &E,
    count: usize,
    form: wide::Form,
    answer: &mut Answer,
    ledger: &mut Ledger,
) -> Result<()> {
    let (text, sample) = wide::alternatives(count, form);
    let tokens = tokenize(&sample);
    ledger.growth();
    let (grammar, compile_us) = flatten(timed(|| engine.compile(&text)))?;
    answer.compile_us = compile_us;
    answer.memory_compile = ledger.growth();
    let pass = run(engine, &grammar, &tokens, Duration::from_secs(60), |_, _| {})?;
    answer.pass = pass.summary();
    answer.first_mask_us = answer.pass.first_mask_us;
    answer.memory_pass = ledger.growth();
    Ok(())
}

/// A mask is made only now and then.
const LIST_MASK_EVERY: usize = 1000;

fn list<E: Engine>(
    engine: &E,
    kind: wide::ListKind,
    lexemes: usize,
    seconds: f64,
    answer: &mut Answer,
    ledger: &mut Ledger,
) -> Result<()> {
    let tokens = tokenize(&wide::list_text(lexemes));
    ledger.growth();
    let (grammar, compile_us) = flatten(timed(|| engine.compile(wide::list_grammar(kind))))?;
    answer.compile_us = compile_us;
    answer.memory_compile = ledger.growth();
    let mut matcher = engine.matcher(&grammar)?;
    let mut mask = engine.no_mask();
    let mut clock = Clock::new();
    let (mut mask_ns, mut consume_ns) = (Vec::new(), 0);
    let mut consumed = 0;
    let mut trouble = None;
    for (index, chunk) in tokens.chunks(LIST_MASK_EVERY).enumerate() {
        let (result, ns) = clock.time(|| E::mask(&mut matcher, &mut mask));
        mask_ns.push(ns);
        if let Err(error) = result {
            trouble = Some(format!("mask {}: {}", index * LIST_MASK_EVERY, brief(&error)));
            break;
        }
        let (result, ns) = clock.time(|| chunk.iter().try_for_each(|&token| E::consume(&mut matcher, token)));
        consume_ns += ns;
        if let Err(error) = result {
            trouble = Some(format!("after {consumed} tokens: {}", brief(&error)));
            break;
        }
        consumed += chunk.len();
        if consume_ns as f64 > seconds * 1e9 {
            trouble = Some(format!("{seconds} s spent"));
            break;
        }
    }
    answer.consume_total_us = us(consume_ns);
    answer.lexemes = lexemes * consumed / tokens.len();
    answer.pass =
        PassSummary { masks: mask_ns.len(), mask: Spread::of(&mask_ns), stopped: trouble, ..Default::default() };
    answer.memory_pass = ledger.growth();
    Ok(())
}
