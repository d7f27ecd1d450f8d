//! Masks by id, for drafts, and for many matchers at once.

use std::collections::HashMap;
use std::sync::Arc;

use larkspur::grammar::Limits;
use larkspur::{
    CompiledGrammar, Engine, EngineOptions, MaskId, Matcher, MatcherError, Source, TokenId, TokenMask, Vocabulary,
    VocabularyBuilder, compute_masks,
};

/// Bytes, some longer tokens, and EOS.
fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = VocabularyBuilder::default();
    let words = ["\"a", "a\"", "\":", "\": ", ", \"", "true", "fal", "se}", "{\"", "b\": ", "\"}", "ab", "e, ", "12"];
    let texts = (0..=255u8).map(|byte| vec![byte]).chain(words.map(|word| word.as_bytes().to_vec()));
    for (id, text) in (0..).zip(texts) {
        builder.token(id, &text);
    }
    builder.special(270, "<|end|>");
    builder.eos(270);
    Arc::new(builder.build().expect("the vocabulary is sound"))
}

const SCHEMA: &str = r#"{"type": "object", "properties": {"a": {"type": "boolean"}, "b": {"type": "integer"}},
    "required": ["a"]}"#;

const TEXT: &str = r#"{"a": true, "b": 12, "ab": "ab"}"#;

fn compiled(limits: Limits) -> CompiledGrammar {
    let options = EngineOptions { limits, ..EngineOptions::default() };
    let engine = Engine::with_options(vocabulary(), &options).expect("the slices are sound");
    engine.compile(&Source::json_schema(SCHEMA)).expect("it compiles")
}

fn mask_of(matcher: &mut Matcher) -> TokenMask {
    let mut mask = TokenMask::new(vocabulary().len());
    matcher.compute_mask(&mut mask).expect("within limits");
    mask
}

fn bytes(text: &str) -> Vec<TokenId> {
    text.bytes().map(TokenId::from).collect()
}

#[test]
fn equal_ids_are_equal_masks() {
    let grammar = compiled(Limits::default());
    let mut kept: HashMap<MaskId, TokenMask> = HashMap::new();
    let mut asked = 0;
    for _ in 0..2 {
        let mut matcher = grammar.matcher().expect("within limits");
        for token in bytes(TEXT).into_iter().chain([270]) {
            let id = matcher.compute_mask_id().expect("within limits");
            let mut fetched = TokenMask::new(vocabulary().len());
            assert!(matcher.mask_by_id(id, &mut fetched));
            let expected = mask_of(&mut matcher);
            assert_eq!(fetched.words(), expected.words());
            let known = kept.entry(id).or_insert_with(|| expected.clone());
            assert_eq!(known.words(), expected.words());
            asked += 1;
            matcher.consume_token(token).expect("the mask allows it");
        }
        // After the end EOS is all that is allowed.
        let id = matcher.compute_mask_id().expect("within limits");
        let mut fetched = TokenMask::new(vocabulary().len());
        assert!(matcher.mask_by_id(id, &mut fetched));
        assert_eq!(fetched.iter().collect::<Vec<_>>(), [270]);
    }
    assert!(kept.len() < asked / 2, "{} of {asked}", kept.len());
}

#[test]
fn ids_of_dropped_masks_and_of_other_grammars_are_told() {
    let tiny = compiled(Limits { mask_cache_bytes_max: 40, ..Limits::default() });
    let mut matcher = tiny.matcher().expect("within limits");
    let first = matcher.compute_mask_id().expect("within limits");
    let mut mask = TokenMask::new(vocabulary().len());
    assert!(matcher.mask_by_id(first, &mut mask));
    let start = mask.clone();
    matcher.consume_token(u32::from(b'{')).expect("the mask allows it");
    let second = matcher.compute_mask_id().expect("within limits");
    assert_ne!(first, second);
    assert!(!matcher.mask_by_id(first, &mut mask), "there is room for one");
    assert_eq!(mask.words(), start.words(), "it is as it was");
    let other = compiled(Limits::default()).matcher().expect("within limits");
    assert!(!other.mask_by_id(second, &mut mask));
}

#[test]
fn ids_where_bytes_are_spelled_again() {
    let engine = Engine::new(vocabulary());
    let grammar = engine.compile(&Source::lark("start: \"b\\\": true\"\n")).expect("it compiles");
    let mut matcher = grammar.matcher().expect("within limits");
    matcher.process_prompt(&bytes("x\"a")).expect("the prompt is heard");
    let id = matcher.compute_mask_id().expect("within limits");
    let mut fetched = TokenMask::new(vocabulary().len());
    assert!(matcher.mask_by_id(id, &mut fetched));
    assert_eq!(fetched.words(), mask_of(&mut matcher).words());
}

#[test]
fn a_grammar_that_cannot_be_spelled_has_no_id() {
    let mut builder = VocabularyBuilder::default();
    builder.token(0, b"a");
    let engine = Engine::new(Arc::new(builder.build().expect("the vocabulary is sound")));
    let grammar = engine.compile(&Source::lark("start: \"ab\"\n")).expect("it compiles");
    let mut matcher = grammar.matcher().expect("within limits");
    matcher.consume_token(0).expect("it follows");
    assert_eq!(matcher.compute_mask_id(), Err(MatcherError::NoToken));
    assert_eq!(matcher.compute_mask(&mut TokenMask::new(1)), Err(MatcherError::NoToken));
}

#[test]
fn drafts() {
    let grammar = compiled(Limits::default());
    let matcher = grammar.matcher().expect("within limits");
    for (text, allowed) in [("{\"a\": true}", 11), ("{\"a\": 12", 6), ("", 0), ("x", 0)] {
        let draft = bytes(text);
        let mut masks = vec![TokenMask::new(vocabulary().len()); draft.len() + 1];
        let written = matcher.compute_draft_masks(&draft, &mut masks).expect("within limits");
        assert_eq!(written, allowed + 1, "{text}");
        let mut step = matcher.fork();
        for (index, mask) in masks[..written].iter().enumerate() {
            assert_eq!(mask.words(), mask_of(&mut step).words(), "{text} at {index}");
            if index < allowed {
                step.consume_token(draft[index]).expect("the mask allows it");
            }
        }
        assert_eq!(matcher.step_count(), 0);
    }
    // EOS ends a draft: nothing may stand behind it.
    let draft = [bytes("{\"a\": true}"), vec![270, 270]].concat();
    let mut masks = vec![TokenMask::new(vocabulary().len()); draft.len() + 1];
    assert_eq!(matcher.compute_draft_masks(&draft, &mut masks), Ok(draft.len() - 1));
    assert_eq!(matcher.compute_draft_masks(&draft[..draft.len() - 1], &mut masks), Ok(draft.len() - 1));
}

#[test]
fn trees_of_drafts() {
    let grammar = compiled(Limits::default());
    let mut matcher = grammar.matcher().expect("within limits");
    matcher.consume_tokens(&bytes("{\"a\": ")).expect("it follows");
    let t = |c: char| c as TokenId;
    // true | tx | 1 | f
    let tree = [
        (t('t'), None),
        (t('r'), Some(0)),
        (t('x'), Some(0)),
        (t('u'), Some(1)),
        (t('1'), None),
        (t('2'), Some(4)),
        (t('f'), None),
    ];
    let mut masks = vec![TokenMask::new(vocabulary().len()); tree.len()];
    let alive = matcher.compute_tree_masks(&tree, &mut masks).expect("within limits");
    assert_eq!(alive, [true, true, false, true, false, false, true]);
    for (index, text) in [(0, "t"), (1, "tr"), (3, "tru"), (6, "f")] {
        let mut step = matcher.fork();
        step.consume_tokens(&bytes(text)).expect("it follows");
        assert_eq!(masks[index].words(), mask_of(&mut step).words(), "{text}");
    }
    for index in [2, 4, 5] {
        assert!(masks[index].is_empty());
    }
    assert_eq!(matcher.step_count(), 6);
}

#[test]
fn batches_are_what_each_would_be() {
    let grammars = [compiled(Limits::default()), compiled(Limits::default())];
    let mut matchers = Vec::new();
    for len in 0..TEXT.len() {
        let mut matcher = grammars[len % 2].matcher().expect("within limits");
        matcher.consume_tokens(&bytes(&TEXT[..len])).expect("it follows");
        matchers.push(matcher);
    }
    let alone = compiled(Limits::default());
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
        let mut masks = vec![TokenMask::new(vocabulary().len()); matchers.len()];
        let mut batch: Vec<_> = matchers.iter_mut().zip(&mut masks).collect();
        let results = pool.install(|| compute_masks(&mut batch));
        assert_eq!(results, vec![Ok(()); matchers.len()]);
        for (len, mask) in masks.iter().enumerate() {
            let mut matcher = alone.matcher().expect("within limits");
            matcher.consume_tokens(&bytes(&TEXT[..len])).expect("it follows");
            assert_eq!(mask.words(), mask_of(&mut matcher).words(), "after {len} with {threads}");
        }
    }
}

/// What a matcher says before each token: the mask's words, and whether the text may end.
fn said(grammar: &CompiledGrammar, tokens: &[TokenId], by_id: bool) -> Vec<(Vec<u32>, bool)> {
    let mut matcher = grammar.matcher().expect("within limits");
    let mut said = Vec::new();
    let mut mask = TokenMask::new(vocabulary().len());
    for &token in tokens {
        match by_id {
            false => matcher.compute_mask(&mut mask).expect("within limits"),
            // Ids may be dropped between the two calls, though not here.
            true => {
                let id = matcher.compute_mask_id().expect("within limits");
                assert!(matcher.mask_by_id(id, &mut mask));
            }
        }
        said.push((mask.words().to_vec(), matcher.is_accepting().expect("within limits")));
        // There and back again.
        matcher.consume_token(token).expect("the mask allows it");
        matcher.rollback(1).expect("it was consumed");
        matcher.consume_token(token).expect("the mask allows it");
    }
    said
}

/// Tokens that a grammar allows one after the other, another way for each number.
fn way(grammar: &CompiledGrammar, number: usize) -> Vec<TokenId> {
    let mut matcher = grammar.matcher().expect("within limits");
    let mut tokens = Vec::new();
    for step in 0..24 {
        let allowed: Vec<TokenId> = mask_of(&mut matcher).iter().filter(|&token| token != 270).collect();
        let Some(&token) = allowed.get((step * 5 + number * 7) % allowed.len().max(1)) else { break };
        if matcher.consume_token(token).expect("the mask allows it").stopped {
            break;
        }
        tokens.push(token);
    }
    tokens
}

#[test]
fn many_threads_see_what_one_sees() {
    let sources = [
        Source::json_schema(SCHEMA),
        Source::json_schema("{\"type\": \"array\", \"items\": {}, \"uniqueItems\": true}"),
        Source::lark("start: (\"{\" NAME \":\" /[0-9]+/ \"}\" | NAME)+\nNAME: /[a-z\" ]+/\n%ignore \" \"\n"),
        Source::lark("%larkspur {\"lexer\": \"exact\"}\nstart: (A | \"a\" /[ab:]*/ \"\\\"\")+\nA: /(ab|a)+\\\"?/\n"),
        Source::lark("start: word+\nword[max_tokens=3]: /[a-z:\"]+/ | \"12\"\n"),
    ];
    for source in &sources {
        let alone = Engine::new(vocabulary()).compile(source).unwrap_or_else(|error| panic!("{error}"));
        let ways: Vec<_> = (0..6).map(|number| way(&alone, number)).collect();
        let expected: Vec<_> = ways.iter().map(|tokens| said(&alone, tokens, false)).collect();
        for publish in [false, true] {
            let shared = Engine::new(vocabulary()).compile(source).expect("it has compiled");
            if publish {
                shared.publish();
            }
            std::thread::scope(|scope| {
                for thread in 0..4 {
                    let (shared, ways, expected) = (&shared, &ways, &expected);
                    scope.spawn(move || {
                        for round in 0..36 {
                            let way = (thread + round) % 6;
                            assert_eq!(said(shared, &ways[way], round % 2 == 0), expected[way], "{source:?} {way}");
                        }
                    });
                }
            });
            let masks = shared.stats().masks;
            let asked: usize = ways.iter().map(|tokens| tokens.len() * 24).sum();
            assert_eq!(masks.hits + masks.misses, asked as u64, "each mask is counted once");
        }
    }
}
