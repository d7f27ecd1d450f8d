//! Grammars through the parser, over single bytes.

use std::sync::Arc;

use larkspur_grammar::{Grammar, link};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherOptions, Shared};
use larkspur_toktrie::Vocabulary;

/// An engine whose tokens are the bytes.
pub fn single_bytes() -> Shared {
    let options = EngineOptions { slices: Vec::new(), ..EngineOptions::default() };
    Shared::new(Arc::new(Vocabulary::single_bytes()), &options).expect("there are no slices")
}

/// A grammar in which no other stands; `None` if it matches no text. `text` is shown if something else is wrong.
pub fn compile(grammar: Grammar, text: &str) -> Option<CompiledGrammar> {
    let linked = link(vec![grammar], |_, _| unreachable!("no schemas")).expect("nothing to link");
    match CompiledGrammar::compile(&single_bytes(), linked) {
        Ok(grammar) => Some(grammar),
        Err(errors) => {
            assert!(errors.iter().all(|error| !error.is_error() || error.code == "P001"), "{text}\n{errors:#?}");
            None
        }
    }
}

/// Whether the text is in the grammar's language.
pub fn accepts(grammar: &Option<CompiledGrammar>, text: &[u8]) -> bool {
    let Some(grammar) = grammar else { return false };
    let mut matcher = Matcher::new(grammar, MatcherOptions::default()).expect("it starts");
    matcher.consume_bytes(text).is_ok() && matcher.is_accepting().expect("within limits")
}
