//! Plain Rust: a decoding loop with a model that knows nothing, and a grammar that makes it write an order.
//!
//! Run: cargo run --release -p larkspur --example mock_model

use std::error::Error;
use std::sync::Arc;

use larkspur::{Engine, Source, TokenMask, Vocabulary};

const GRAMMAR: &str = r#"
start: "Order: " item (", " item)* "."
item: /[1-9][0-9]?/ " " ("apples" | "pears" | "plums")
"#;

/// In place of a model: logits that depend on nothing but a seed.
struct MockModel(u64);

impl MockModel {
    fn logits(&mut self, len: usize) -> Vec<f32> {
        let mut next = || {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 >> 40) as f32
        };
        (0..len).map(|_| next()).collect()
    }
}

/// Writes an order.
pub fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let grammar = engine.compile(&Source::lark(GRAMMAR))?;
    let mut matcher = grammar.matcher()?;
    let mut mask = TokenMask::new(engine.vocabulary().len());
    let mut model = MockModel(1);
    while !matcher.is_stopped() {
        matcher.compute_mask(&mut mask)?;
        let logits = model.logits(engine.vocabulary().len());
        let best = mask.iter().max_by(|&a, &b| logits[a as usize].total_cmp(&logits[b as usize]));
        matcher.consume_token(best.ok_or("no token is allowed")?)?;
    }
    let text = String::from_utf8(matcher.text())?;
    println!("{text}");
    assert!(text.starts_with("Order: ") && text.ends_with('.'));
    Ok(())
}
