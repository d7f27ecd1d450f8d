//! What the cases of `tests/cases` say of captures.

use std::sync::Arc;

use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherOptions, Shared};
use larkspur_tests::cases::all;
use larkspur_toktrie::Vocabulary;

#[test]
fn captures_are_what_the_cases_say() {
    let shared = Shared::new(Arc::new(Vocabulary::single_bytes()), &EngineOptions::default()).expect("default slices");
    let mut failures = Vec::new();
    for (path, case) in all().expect("cases can be read") {
        for mode in case.modes().into_iter().filter(|_| !case.captures.is_empty()) {
            let linked = case.link(mode).expect("cases with captures are correct");
            let grammar = CompiledGrammar::compile(&shared, linked).expect("cases with captures compile");
            for expected in &case.captures {
                let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
                let mut found = Ok(());
                for byte in case.text(&expected.text) {
                    found = found.and_then(|()| matcher.consume_token(byte.into()).map(|_| ()));
                }
                if expected.end && !matcher.is_stopped() {
                    let eos = matcher.grammar().shared().vocabulary().eos()[0];
                    found = found.and_then(|()| matcher.consume_token(eos).map(|_| ()));
                }
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                let found = found
                    .and_then(|()| matcher.captures())
                    .map(|captures| captures.iter().map(|c| (c.name.clone(), text(&c.bytes))).collect::<Vec<_>>());
                if found.as_ref() != Ok(&expected.spans) {
                    let (path, name) = (path.display(), &case.name);
                    failures.push(format!("{path} {name} {mode:?} after {:?}: {found:?}", expected.text));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
