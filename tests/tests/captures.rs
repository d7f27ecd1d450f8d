//! Captures of random grammars against backtracking.

use larkspur_parser::{EngineOptions, Matcher, MatcherOptions};
use larkspur_tests::compare::compile;
use larkspur_tests::oracle::captures::{Capture, NoAnswer, captures};
use larkspur_tests::oracle::{Token, Vocab};
use larkspur_tests::random::{EXACT, Features, specs};
use proptest::prelude::*;

proptest! {
    #![proptest_config(larkspur_tests::property_config(200))]

    /// After EOS, the captures are those of the preferred derivation.
    #[test]
    fn captures_are_those_of_the_preferred_derivation(
        mut spec in specs(Features { embeds: true, attributes: true, ..Features::default() }),
        texts in prop::collection::vec("[abc]{0,5}", 30),
    ) {
        spec.exact = EXACT;
        let mut linked = spec.link();
        for (number, grammar) in linked.grammars.iter_mut().enumerate() {
            for rule in grammar.rules.iter_mut() {
                rule.capture = Some(format!("g{number}{}", rule.name));
            }
        }
        let vocab = Vocab { tokens: vec![Token::Special("<|eos|>".into())], eos: vec![0] };
        let Ok(compiled) = compile(&linked, &vocab, &EngineOptions::default()) else { return Ok(()) };
        for text in texts {
            let expected = match captures(&linked, text.as_bytes()) {
                Ok(captures) => captures,
                Err(NoAnswer::NotAccepted | NoAnswer::OutOfScope) => continue,
            };
            let mut matcher = Matcher::new(&compiled, MatcherOptions::default()).expect("it starts");
            matcher.consume_bytes(text.as_bytes()).expect("the text is accepted");
            if matcher.stop_reason().is_none() {
                matcher.consume_token(0).expect("the text may end");
            }
            let captures = matcher.captures();
            prop_assert!(captures.is_ok(), "{text:?}: {captures:?}");
            let captures: Vec<_> = captures.unwrap().into_iter().map(|c| (c.name, c.start, c.end)).collect();
            // How often a repetition repeats what reads nothing is not defined.
            let read = |captures: Vec<Capture>| captures.into_iter().filter(|c| c.1 < c.2).collect::<Vec<_>>();
            prop_assert_eq!(read(captures), read(expected), "{:?}", text);
        }
    }
}
