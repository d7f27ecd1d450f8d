//! The matcher beyond masks: forced tokens, token healing, taking tokens back, stop reasons.

use std::sync::Arc;

use larkspur_grammar::{Limits, SourceMap, link};
use larkspur_lark_frontend::{LarkOptions, parse};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherError, MatcherOptions, Shared, StopReason};
use larkspur_toktrie::{TokenId, TokenMask, Vocabulary};

/// The single bytes as ids 0 to 255, EOS as 256, then `tokens`; tokenized by longest match.
fn vocabulary(tokens: &[&str]) -> Vocabulary {
    let plain = |builder: &mut larkspur_toktrie::VocabularyBuilder| {
        (0..=255u8).for_each(|byte| _ = builder.token(byte.into(), [byte]));
        builder.special(256, "<eos>").eos(256);
        tokens.iter().enumerate().for_each(|(index, token)| _ = builder.token(257 + index as TokenId, token));
    };
    let mut builder = Vocabulary::builder();
    plain(&mut builder);
    let greedy = builder.build().expect("a sound vocabulary");
    let mut builder = Vocabulary::builder();
    plain(&mut builder);
    builder
        .tokenizer(Arc::new(move |text: &str| greedy.tokenize_greedy(text.as_bytes()).expect("all bytes are there")));
    builder.build().expect("a sound vocabulary")
}

const EOS: TokenId = 256;

fn matcher(grammar: &str, tokens: &[&str], options: MatcherOptions) -> Matcher {
    let mut sources = SourceMap::new();
    let source = sources.add("test", grammar);
    let limits = Limits::default();
    let parsed = parse(&mut sources, source, &LarkOptions::new(&limits));
    let grammar = parsed.grammar.unwrap_or_else(|| panic!("{:?}", parsed.diagnostics));
    let linked = link(vec![grammar], |_, _| Err(Vec::new())).expect("it links");
    let shared = Shared::new(Arc::new(vocabulary(tokens)), &EngineOptions::default()).expect("sound slices");
    let compiled = CompiledGrammar::compile(&shared, linked).expect("it compiles");
    Matcher::new(&compiled, options).expect("it starts")
}

fn token(tokens: &[&str], text: &str) -> TokenId {
    match tokens.iter().position(|token| *token == text) {
        Some(at) => 257 + at as TokenId,
        None => text.bytes().next().expect("a byte").into(),
    }
}

/// The allowed tokens as text, EOS as `<eos>`.
fn allowed(matcher: &mut Matcher) -> Vec<String> {
    let vocabulary = matcher.grammar().shared().vocabulary().clone();
    let mut mask = TokenMask::new(vocabulary.len());
    matcher.compute_mask(&mut mask).expect("a mask");
    let text = |id| match vocabulary.token_bytes(id) {
        Some(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        None => vocabulary.special_name(id).expect("a special token").to_owned(),
    };
    let mut texts: Vec<String> = mask.iter().map(text).collect();
    texts.sort();
    texts
}

#[test]
fn forced_tokens_leave_room_for_longer_ones() {
    let grammar = r#"start: "foo" ("bar" | "baz")"#;
    let tokens = ["foo", "bar", "baz"];
    let matcher = self::matcher(grammar, &tokens, MatcherOptions::default());
    assert_eq!(matcher.forced_bytes().unwrap(), b"fooba");
    // `ba` could become `bar` or `baz`.
    assert_eq!(matcher.forced_tokens().unwrap(), [token(&tokens, "foo")]);

    let tokens = ["foo", "foobar"];
    let mut matcher = self::matcher(grammar, &tokens, MatcherOptions::default());
    assert!(matcher.forced_tokens().unwrap().is_empty(), "`foobar` could still be the first token");
    assert_eq!(allowed(&mut matcher), ["f", "foo", "foobar"], "forcing does not narrow the mask");

    let matcher =
        self::matcher(&format!("%larkspur {{\"no_forcing\": true}}\n{grammar}"), &tokens, MatcherOptions::default());
    assert!(matcher.forced_bytes().unwrap().is_empty());
    assert!(matcher.forced_tokens().unwrap().is_empty());
}

#[test]
fn forced_text_ends_where_a_budget_could() {
    let tokens = ["xx", "bb"];
    let grammar = "start: a \"bb\"\na[max_tokens=2]: \"xxxxxx\"";
    let mut matcher = self::matcher(grammar, &tokens, MatcherOptions::default());
    // Two tokens may be two bytes, and then `bb` may follow.
    assert_eq!(matcher.forced_bytes().unwrap(), b"xx");
    matcher.consume_tokens(&matcher.forced_tokens().unwrap()).unwrap();
    assert_eq!(matcher.forced_bytes().unwrap(), b"x");
    matcher.consume_token(token(&tokens, "xx")).unwrap();
    assert_eq!(matcher.forced_bytes().unwrap(), b"bb");
    assert_eq!(matcher.forced_tokens().unwrap(), [token(&tokens, "bb")]);

    let tokens = ["xx", "yy"];
    let options = MatcherOptions { max_tokens: Some(1), ..MatcherOptions::default() };
    let mut matcher = self::matcher("start: \"xx\" \"yy\"", &tokens, options);
    assert_eq!(matcher.forced_bytes().unwrap(), b"xxyy");
    assert_eq!(matcher.forced_tokens().unwrap(), [token(&tokens, "xx")]);
    assert!(matcher.consume_tokens(&matcher.forced_tokens().unwrap()).unwrap().stopped);
}

/// What [`Matcher::forced_tokens`] says, and that the mask before each of them has no other token.
fn forced(matcher: &Matcher) -> Vec<TokenId> {
    let forced = matcher.forced_tokens().unwrap();
    let mut ahead = matcher.fork();
    for &token in &forced {
        if ahead.forced_bytes().unwrap().is_empty() {
            let mut mask = TokenMask::new(ahead.grammar().shared().vocabulary().len());
            ahead.compute_mask(&mut mask).unwrap();
            assert_eq!(mask.iter().collect::<Vec<_>>(), [token]);
        }
        ahead.consume_token(token).unwrap();
    }
    forced
}

#[test]
fn tokens_that_the_grammar_names_are_forced() {
    let forced = |grammar: &str| forced(&matcher(grammar, &["foo", "foobar"], MatcherOptions::default()));
    assert_eq!(forced("start: <[97]> <[98]>"), [97, 98]);
    assert_eq!(forced("start: \"foo\" <[97]> <eos> <[5-5]> \"foobar\" /x*/"), [257, 97, EOS, 5, 258]);
    assert_eq!(forced("start: \"foo\" <[97]> \"foo\" /.*/"), [257, 97], "the end could be `foobar`");
    assert_eq!(forced("start: \"foo\" <[97]>? \"b\""), [257]);
    assert_eq!(forced("start: <[97-98]> <[99]>"), [] as [TokenId; 0]);
    assert_eq!(forced("start: <[97]> | <[98]> <[99]>"), [] as [TokenId; 0]);
    assert_eq!(forced("start: <[97]> <[98]> | <[97]> <[99]>"), [97]);
    assert_eq!(forced("start: <[97]>? <[98]>?"), [] as [TokenId; 0]);
    assert_eq!(forced("start: <[97]> | \"b\""), [] as [TokenId; 0]);
    assert_eq!(forced("start: a <[97]>\na[max_tokens=3]: <[98]> <[99]>{9} \"x\""), [98, 99, 99, 97]);
    assert_eq!(forced("%larkspur { \"no_forcing\": true }\nstart: <[97]>"), [] as [TokenId; 0]);

    let options = MatcherOptions { max_tokens: Some(2), ..MatcherOptions::default() };
    assert_eq!(matcher("start: <[97]>{5}", &[], options).forced_tokens().unwrap(), [97, 97]);
    let mut bounded = matcher("start: <[97]>{99}", &[], MatcherOptions::default());
    assert_eq!(bounded.forced_tokens().unwrap().len(), 99);
    bounded.consume_tokens(&bounded.forced_tokens().unwrap()).unwrap();
    assert_eq!(bounded.stop_reason(), Some(StopReason::NoExtension));
}

#[test]
fn tokens_behind_what_is_taken_back_are_not_forced_with_it() {
    let options = MatcherOptions { backtracking: true, ..MatcherOptions::default() };
    let mut matcher = matcher("start: a \"bar\" <[97]>\na[stop=\"x\"]: \"foo\"", &["foo", "xb"], options);
    let mut text = Vec::new();
    while !matcher.is_stopped() {
        let forced = matcher.forced_tokens().unwrap();
        assert!(!forced.is_empty());
        for token in forced {
            text.push(token);
            let taken_back = matcher.consume_token(token).unwrap().backtrack_tokens;
            text.truncate(text.len() - taken_back);
        }
    }
    assert_eq!(text, [257, 98, 97, 114, 97]);
    assert_eq!(matcher.text(), b"foobar");
}

#[test]
fn named_tokens_that_are_forced_are_put_behind_a_prompt() {
    let tokens = ["foo", "a:", ": "];
    let mut matcher = self::matcher(r#"start: ": " <[97]> "foo" <eos> /x+/"#, &tokens, MatcherOptions::default());
    let fed = matcher.process_prompt(&[token(&tokens, "a")]).unwrap();
    assert_eq!(fed, [token(&tokens, "a:"), b' '.into(), 97, 257, EOS, b'x'.into()]);
    assert_eq!((matcher.text(), matcher.step_count()), (b": foox".to_vec(), 0));
    assert_eq!(allowed(&mut matcher), ["<eos>", "x"]);

    let mut matcher = self::matcher(r#"start: ": " <[97]> "fo" /.*/"#, &tokens, MatcherOptions::default());
    let fed = matcher.process_prompt(&[token(&tokens, "a")]).unwrap();
    assert_eq!(fed, [token(&tokens, "a:"), b' '.into(), 97], "the text could become `foo`");
    assert_eq!(matcher.text(), b": ");
}

#[test]
fn a_prompt_is_healed() {
    let tokens = [" 1"];
    let mut matcher = self::matcher("start: /[0-9]+/", &tokens, MatcherOptions::default());
    let prompt = [token(&tokens, "a"), token(&tokens, " ")];
    assert_eq!(matcher.process_prompt(&prompt).unwrap(), [token(&tokens, "a")], "the blank could begin ` 1`");
    assert_eq!(allowed(&mut matcher), [" ", " 1"]);
    assert_eq!(matcher.forced_bytes().unwrap(), b" ");
    matcher.consume_token(token(&tokens, " 1")).unwrap();
    assert_eq!(matcher.text(), b"1");
    assert!(matcher.is_accepting().unwrap());
    matcher.rollback(1).unwrap();
    assert_eq!(allowed(&mut matcher), [" ", " 1"]);
    matcher.consume_token(token(&tokens, " ")).unwrap();
    assert!(allowed(&mut matcher).contains(&"7".to_owned()));

    // Nothing that follows begins in the middle of a token: the prompt stays.
    let mut matcher = self::matcher("start: /[a-z]+/", &tokens, MatcherOptions::default());
    assert_eq!(matcher.process_prompt(&prompt).unwrap(), prompt);
}

#[test]
fn forced_text_at_the_end_of_a_prompt_is_consumed() {
    let tokens = ["a:", ": "];
    let mut matcher = self::matcher(r#"start: ": " /[0-9]+/"#, &tokens, MatcherOptions::default());
    let fed = matcher.process_prompt(&[token(&tokens, "a")]).unwrap();
    assert_eq!(fed, [token(&tokens, "a:"), token(&tokens, " ")]);
    assert_eq!(matcher.text(), b": ");
    assert!(allowed(&mut matcher).contains(&"4".to_owned()));
    assert_eq!(matcher.rollback(1), Err(MatcherError::RollbackTooFar { wanted: 1, available: 0 }));
}

#[test]
fn the_text_of_a_stop_is_taken_back() {
    let grammar = "start: x \";\"\nx[stop=\"<e>\", capture]: /.*/";
    let tokens = ["f", "oo<e>", "oo", "o", "<e>;"];
    let backtracking = MatcherOptions { backtracking: true, ..MatcherOptions::default() };

    let mut matcher = self::matcher(grammar, &tokens, backtracking);
    matcher.consume_token(token(&tokens, "f")).unwrap();
    let consumed = matcher.consume_token(token(&tokens, "oo<e>")).unwrap();
    assert_eq!(consumed.backtrack_tokens, 1);
    assert_eq!(matcher.text(), b"foo");
    assert_eq!(allowed(&mut matcher), ["o", "o", "oo"], "the token that was taken back began with `oo`");
    matcher.consume_token(token(&tokens, "oo")).unwrap();
    assert_eq!(allowed(&mut matcher), [";"]);
    assert!(matcher.consume_token(token(&tokens, ";")).unwrap().stopped);
    assert_eq!(matcher.text(), b"foo;");
    assert_eq!(matcher.capture("x").unwrap().as_deref(), Some(&b"foo"[..]));
    matcher.rollback(3).unwrap();
    assert_eq!(matcher.text(), b"", "three tokens are left of what was consumed: `f`, `oo`, `;`");

    // What a token holds after the text of the stop is taken back with it.
    let mut matcher = self::matcher(grammar, &tokens, backtracking);
    for text in ["f", "o"] {
        matcher.consume_token(token(&tokens, text)).unwrap();
    }
    assert_eq!(matcher.consume_token(token(&tokens, "<e>;")).unwrap().backtrack_tokens, 1);
    assert_eq!(allowed(&mut matcher), [";"]);

    // Without the capability the text stays, and only the capture leaves it out.
    let mut matcher = self::matcher(grammar, &tokens, MatcherOptions::default());
    for text in ["f", "oo<e>", ";"] {
        assert_eq!(matcher.consume_token(token(&tokens, text)).unwrap().backtrack_tokens, 0);
    }
    assert_eq!(matcher.text(), b"foo<e>;");
    assert_eq!(matcher.capture("x").unwrap().as_deref(), Some(&b"foo"[..]));
}

#[test]
fn what_cannot_follow_a_stop_is_not_consumed() {
    let grammar = "start: x \";\"\nx[stop=\"<e>\"]: /.*/";
    let tokens = ["<e>!", "<e>;"];
    let options = MatcherOptions { backtracking: true, ..MatcherOptions::default() };
    let mut matcher = self::matcher(grammar, &tokens, options);
    matcher.consume_token(token(&tokens, "f")).unwrap();
    assert!(!allowed(&mut matcher).contains(&"<e>!".to_owned()));
    let wrong = token(&tokens, "<e>!");
    assert_eq!(matcher.is_allowed(wrong), Ok(false));
    assert_eq!(matcher.consume_token(wrong), Err(MatcherError::TokenRejected { token: wrong, at_byte: 3 }));
    assert_eq!(matcher.text(), b"f");
    assert_eq!(matcher.consume_token(token(&tokens, "<e>;")).unwrap().backtrack_tokens, 1);
}

#[test]
fn a_stop_that_is_read_again_takes_nothing_back() {
    let tokens = ["<e>"];
    let options = MatcherOptions { backtracking: true, ..MatcherOptions::default() };
    let mut matcher = self::matcher("start: x \"<e>\"\nx[stop=\"<e>\"]: /.*/", &tokens, options);
    matcher.consume_token(token(&tokens, "a")).unwrap();
    let consumed = matcher.consume_token(token(&tokens, "<e>")).unwrap();
    assert_eq!(consumed.backtrack_tokens, 0);
    assert!(consumed.stopped);
    assert_eq!(matcher.stop_reason(), Some(StopReason::NoExtension));
}

#[test]
fn a_stop_at_eos() {
    let options = MatcherOptions { backtracking: true, ..MatcherOptions::default() };
    let mut matcher = self::matcher("start: x \"!\"\nx[stop=\"\"]: /[a-z]*/", &[], options);
    matcher.consume_token(b'a'.into()).unwrap();
    assert!(allowed(&mut matcher).contains(&"<eos>".to_owned()));
    let consumed = matcher.consume_token(EOS).unwrap();
    assert!(!consumed.stopped);
    assert_eq!(consumed.backtrack_tokens, 1);
    assert_eq!(allowed(&mut matcher), ["!"]);
}

#[test]
fn a_stop_that_ends_the_grammar_ends_the_text() {
    let options = MatcherOptions { backtracking: true, ..MatcherOptions::default() };
    for (stop, last, left) in [("<e>", "<e>", "a"), ("", "", "a")] {
        let tokens = ["<e>"];
        let mut matcher = self::matcher(&format!("start: x\nx[stop=\"{stop}\"]: /.*/"), &tokens, options);
        matcher.consume_token(token(&tokens, "a")).unwrap();
        let last = if last.is_empty() { EOS } else { token(&tokens, last) };
        let consumed = matcher.consume_token(last).unwrap();
        assert_eq!((consumed.backtrack_tokens, consumed.stopped), (1, true));
        assert_eq!(matcher.stop_reason(), Some(StopReason::NoExtension));
        assert_eq!(matcher.text(), left.as_bytes());
        assert_eq!(allowed(&mut matcher), ["<eos>"]);
        matcher.rollback(1).unwrap();
        assert!(!matcher.is_stopped());
    }
}

#[test]
fn text_that_may_be_taken_back() {
    let backtracking = MatcherOptions { backtracking: true, ..MatcherOptions::default() };
    let lens = |grammar: &str, text: &str, options| -> Vec<usize> {
        let mut matcher = self::matcher(grammar, &[], options);
        let after = |byte: u8| {
            matcher.consume_token(byte.into()).unwrap();
            matcher.unsettled_len().unwrap()
        };
        text.bytes().map(after).collect()
    };
    let literal = "start: x \";\"\nx[stop=\"</x>\"]: /.*/";
    assert_eq!(lens(literal, "a</y<</x", backtracking), [0, 1, 2, 0, 1, 1, 2, 3]);
    assert_eq!(lens(literal, "a</", MatcherOptions::default()), [0, 0, 0]);
    let regex = "start: x \";\"\nx[stop=/<[a-z]+>/]: /.*/";
    assert_eq!(lens(regex, "b<ab<c!", backtracking), [0, 1, 2, 3, 1, 2, 0]);
    let suffix = "start: x \";\"\nx[suffix=\"</x>\"]: /.*/";
    assert_eq!(lens(suffix, "a</", backtracking), [0, 0, 0], "it stays in the output");
}

#[test]
fn reasons_to_stop() {
    let mut matcher = self::matcher("start: \"a\"+", &[], MatcherOptions::default());
    assert_eq!(matcher.consume_token(EOS), Err(MatcherError::TokenRejected { token: EOS, at_byte: 0 }));
    assert!(!matcher.consume_token(b'a'.into()).unwrap().stopped);
    assert!(matcher.consume_token(EOS).unwrap().stopped);
    assert_eq!(matcher.stop_reason(), Some(StopReason::EndOfSentence));
    assert_eq!(allowed(&mut matcher), ["<eos>"]);
    assert_eq!(matcher.consume_token(b'a'.into()), Err(MatcherError::Stopped));
    matcher.rollback(1).unwrap();
    assert_eq!(allowed(&mut matcher), ["<eos>", "a"]);

    let mut matcher = self::matcher("start: \"ab\"", &[], MatcherOptions::default());
    assert_eq!(matcher.try_consume_tokens(&[b'a'.into(), b'b'.into(), b'c'.into()]), Ok(2));
    assert_eq!(matcher.stop_reason(), Some(StopReason::NoExtension));
    assert!(matcher.consume_token(EOS).unwrap().stopped, "EOS may follow");

    let options = MatcherOptions { max_tokens: Some(2), ..MatcherOptions::default() };
    let mut matcher = self::matcher("start: \"a\"+", &[], options);
    assert!(matcher.consume_tokens(&[b'a'.into(), b'a'.into()]).unwrap().stopped);
    assert_eq!(matcher.stop_reason(), Some(StopReason::MaxTokens));
}

#[test]
fn all_or_none_of_several_tokens() {
    let mut matcher = self::matcher("start: \"abc\"", &[], MatcherOptions::default());
    let rejected = matcher.consume_tokens(&[b'a'.into(), b'x'.into()]);
    assert_eq!(rejected, Err(MatcherError::TokenRejected { token: b'x'.into(), at_byte: 0 }));
    assert_eq!(matcher.text(), b"");
    assert_eq!(matcher.validate_tokens(&[b'a'.into(), b'b'.into(), b'x'.into()]), Ok(2));
    assert_eq!(matcher.text(), b"");
    let unknown = MatcherError::UnknownToken { token: 9_999, vocabulary_len: 257 };
    assert_eq!(matcher.is_allowed(9_999), Err(unknown));
}

#[test]
fn a_vocabulary_that_cannot_spell_what_must_follow() {
    let mut sources = SourceMap::new();
    let source = sources.add("test", "start: \"a\" \"b\"");
    let limits = Limits::default();
    let grammar = parse(&mut sources, source, &LarkOptions::new(&limits)).grammar.expect("it parses");
    let linked = link(vec![grammar], |_, _| Err(Vec::new())).expect("it links");
    let vocabulary = Vocabulary::builder().token(0, "a").special(1, "<eos>").eos(1).build().expect("sound");
    let shared = Shared::new(Arc::new(vocabulary), &EngineOptions::default()).expect("sound slices");
    let compiled = CompiledGrammar::compile(&shared, linked).expect("it compiles");
    let mut matcher = Matcher::new(&compiled, MatcherOptions::default()).expect("it starts");
    let mut mask = TokenMask::new(2);
    matcher.compute_mask(&mut mask).unwrap();
    assert_eq!(mask.iter().collect::<Vec<_>>(), [0]);
    matcher.consume_token(0).unwrap();
    assert_eq!(matcher.compute_mask(&mut mask), Err(MatcherError::NoToken));
    assert!(mask.is_empty());
    assert_eq!(matcher.forced_bytes().unwrap(), b"b");
}

#[test]
fn grammars_and_matchers_cross_threads() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<CompiledGrammar>();
    is_shared::<Matcher>();
    let matcher = self::matcher("start: /[a-z]+/ \"!\"", &["ab", "c!"], MatcherOptions::default());
    let run = |mut matcher: Matcher| {
        (0..50).map(|_| allowed(&mut matcher)).for_each(|allowed| assert_eq!(allowed.len(), 28));
        matcher.consume_bytes(b"zz").unwrap();
        allowed(&mut matcher)
    };
    let threads: Vec<_> = (0..4)
        .map(|_| {
            std::thread::spawn({
                let fork = matcher.fork();
                move || run(fork)
            })
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("no panic").len(), 29);
    }
}

/// Tokens of several bytes inside lexemes are read at once, and remembered.
#[test]
fn a_token_leads_where_its_bytes_lead() {
    let tokens =
        ["olou", "olo", "lours", "lumn", "mn='", "umb", "5.", "67,", "lumber", "long words", "oloR", "olours='", "ers"];
    let texts: [&[&str]; 10] = [
        &["c", "olou", "r", "=", "1", "5.", "67,"],
        &["c", "olou", "r", "=", "1", "67,", "c", "olou", "r", "=", "1", "67,"],
        &["c", "olo", "u", "r", "s", "=", "'", "long words", "long words", "'", ","],
        &["c", "o", "lumn", "=", "'"],
        &["c", "o", "lumn", "=", "'", "long words"],
        &["c", "o", "lumber", "s", "lumber"],
        &["c", "olo", "umb", "ers", "umb", "ers"],
        &["c", "olou", "oloR"],
        &["c", "olours='", "lumn", "mn='"],
        &["c", "olou", "lours", "lours"],
    ];
    for mode in ["longest", "exact"] {
        let grammar = format!(
            r#"%larkspur {{"lexer": "{mode}"}}
            start: (KEY "=" VALUE ",")+
            KEY: "colour" | "colours" | "column" | /co[a-z]{{4,9}}/
            VALUE: /'[^']*'/ | /[0-9]+(\.[0-9]+)?/"#
        );
        let start = self::matcher(&grammar, &tokens, MatcherOptions::default());
        for text in texts.iter().chain(&texts) {
            let mut at_once = start.fork();
            let mut bytewise = self::matcher(&grammar, &tokens, MatcherOptions::default());
            for piece in *text {
                let result = at_once.consume_token(token(&tokens, piece));
                assert_eq!(result.is_ok(), bytewise.consume_bytes(piece.as_bytes()).is_ok(), "{mode} {text:?} {piece}");
                assert_eq!(allowed(&mut at_once), allowed(&mut bytewise), "{mode} {text:?} after {piece}");
            }
        }
    }
}
