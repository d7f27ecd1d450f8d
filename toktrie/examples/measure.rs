//! Measures building a vocabulary from tiktoken ranks and walking its trie.
//!
//! `cargo run --release -p larkspur-toktrie --example measure -- o200k_base.tiktoken`

use std::hint::black_box;
use std::time::{Duration, Instant};

use larkspur_toktrie::{NO_TOKEN, Recognizer, TiktokenOptions, TokenMask, TokenTrie, Vocabulary};

/// Takes every byte.
struct Everything;

impl Recognizer for Everything {
    type State = ();
    fn step(&mut self, _state: (), _byte: u8) -> Option<()> {
        Some(())
    }
}

/// An automaton as a table: next state by state and byte, 0 refuses.
struct Table(Vec<[u32; 256]>);

impl Recognizer for Table {
    type State = u32;
    fn step(&mut self, state: u32, byte: u8) -> Option<u32> {
        let next = self.0[state as usize][byte as usize];
        (next != 0).then_some(next)
    }
}

/// Takes every byte, with two states that alternate.
fn everything() -> Table {
    Table(vec![[0; 256], [2; 256], [1; 256]])
}

/// The inside of a JSON string: no control characters, escapes, and nothing after the closing quote.
fn json_string() -> Table {
    let mut inside = [1; 256];
    inside[..0x20].fill(0);
    inside[b'\\' as usize] = 2;
    inside[b'"' as usize] = 3;
    let mut escape = [0; 256];
    for byte in *b"\"\\/bfnrtu" {
        escape[byte as usize] = 1;
    }
    Table(vec![[0; 256], inside, escape, [0; 256]])
}

/// An identifier in lower case.
fn identifier() -> Table {
    let mut inside = [0; 256];
    inside[b'a' as usize..=b'z' as usize].fill(1);
    inside[b'_' as usize] = 1;
    Table(vec![[0; 256], inside])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: measure RANKS_FILE")?;
    let ranks = std::fs::read(path)?;
    let load = || Vocabulary::from_tiktoken_ranks(&ranks, &TiktokenOptions::o200k_base());
    let vocabulary = load()?;
    report("load, trie included", 21, || drop(black_box(load())));
    report("subset of every other token", 21, || drop(black_box(vocabulary.trie().subset(|id| id % 2 == 0))));
    let trie = vocabulary.trie();
    let tokens = trie.tokens().iter().filter(|&&token| token != NO_TOKEN).count();
    println!("{} nodes, {tokens} tokens, longest {} bytes", trie.len(), trie.depth_max());
    walk("no state, everything", trie, &mut Everything, ());
    walk("table, everything", trie, &mut everything(), 1);
    walk("table, JSON string", trie, &mut json_string(), 1);
    walk("table, identifier", trie, &mut identifier(), 1);
    Ok(())
}

fn walk<R: Recognizer>(name: &str, trie: &TokenTrie, recognizer: &mut R, start: R::State) {
    let mut mask = TokenMask::new(trie.id_end());
    let visited = trie.walk(recognizer, start, &mut mask);
    let median = report(&format!("walk: {name}"), 301, || {
        mask.clear();
        black_box(trie.walk(recognizer, start, &mut mask));
    });
    let ns_per_node = median.as_nanos() as f64 / visited as f64;
    println!("  {visited} nodes visited, {} allowed, {ns_per_node:.2} ns per node (p50)", mask.count());
}

fn report(name: &str, times: usize, mut work: impl FnMut()) -> Duration {
    let mut durations: Vec<Duration> = (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    durations.sort();
    let at = |part: usize| durations[(times - 1) * part / 100];
    println!("{name}: p50 {:?}, p99 {:?}, max {:?}", at(50), at(99), at(100));
    at(50)
}
