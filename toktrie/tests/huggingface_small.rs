//! Hugging Face `tokenizer.json` files made up for one point each.

mod common;

use common::check_vocabulary;
use larkspur_toktrie::{EosChoice, HuggingFaceOptions, LoadError, Normalizers, TokenId, Vocabulary, VocabularyError};
use serde_json::{Value, json};

/// A BPE tokenizer with these tokens, in order; `parts` are laid over the defaults.
fn file(tokens: &[&str], parts: Value) -> Vec<u8> {
    let vocab: serde_json::Map<String, Value> =
        tokens.iter().enumerate().map(|(id, token)| (token.to_string(), json!(id))).collect();
    let mut file = json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": null, "post_processor": null, "decoder": {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "vocab": vocab, "merges": []},
    });
    for (key, value) in parts.as_object().unwrap() {
        file[key] = value.clone();
    }
    serde_json::to_vec(&file).unwrap()
}

fn added(id: TokenId, content: &str, special: bool) -> Value {
    json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
           "normalized": false, "special": special})
}

fn load(file: &[u8]) -> Result<Vocabulary, LoadError> {
    Vocabulary::from_huggingface(file, &HuggingFaceOptions::default())
}

fn texts(vocabulary: &Vocabulary) -> Vec<&[u8]> {
    (0..vocabulary.len() as TokenId).map(|id| vocabulary.token_bytes(id).unwrap_or(b"")).collect()
}

#[test]
fn byte_alphabet_and_missing_bytes() {
    // "Ġ" is a blank, "Ċ" a line feed, "é" the byte 0xe9, "Ń" the byte 0xad; "世" is not in the alphabet.
    let vocabulary = load(&file(&["a", "Ġ", "Ċa", "é", "Ń", "世"], json!({}))).unwrap();
    let expected: [&[u8]; 6] = [b"a", b" ", b"\na", b"\xe9", b"\xad", "世".as_bytes()];
    assert_eq!(texts(&vocabulary), expected);
    check_vocabulary(&vocabulary);
    assert_eq!(vocabulary.tokenize_greedy(b"a\na \xe9"), Some(vec![0, 2, 1, 3]));
    assert_eq!(vocabulary.tokenize_greedy(b"ab"), None);
}

#[test]
fn decoders_spell_tokens() {
    let spelled = |decoder: Value, tokens: &[&str]| {
        let vocabulary = load(&file(tokens, json!({"decoder": decoder}))).unwrap();
        texts(&vocabulary).iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect::<Vec<_>>()
    };
    let sentencepiece = json!({"type": "Sequence", "decoders": [
        {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
        {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]});
    assert_eq!(spelled(sentencepiece, &["▁a▁", "<0x41>", "<0xZZ>", "<0x+1>"]), [" a ", "A", "<0xZZ>", "<0x+1>"]);
    let metaspace = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
    assert_eq!(spelled(metaspace, &["▁a", "<0x41>"]), [" a", "<0x41>"]);
    let word_piece = json!({"type": "WordPiece", "prefix": "##", "cleanup": true});
    assert_eq!(spelled(word_piece, &["a", "##b", ".", "##"]), [" a", "b", ".", ""]);
    assert_eq!(spelled(json!({"type": "BPEDecoder", "suffix": "</w>"}), &["a</w>", "b"]), ["a ", "b"]);
    assert_eq!(spelled(json!({"type": "Strip", "content": "_", "start": 1, "stop": 2}), &["__a___"]), ["_a_"]);
    assert_eq!(spelled(Value::Null, &["a", "b"]), [" a", " b"]);
}

#[test]
fn unsupported_decoders_are_refused() {
    let error = |decoder: Value| load(&file(&["a"], json!({"decoder": decoder}))).unwrap_err();
    let ctc = json!({"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": true});
    assert_eq!(error(ctc), LoadError::UnsupportedDecoder { name: "CTC".to_owned() });
    let regex = json!({"type": "Replace", "pattern": {"Regex": "a+"}, "content": " "});
    assert_eq!(error(regex), LoadError::UnsupportedDecoder { name: "Replace with a regex".to_owned() });
}

#[test]
fn special_and_other_added_tokens() {
    let json = file(
        &["<", "s", ">", "/"],
        json!({"added_tokens": [added(4, "<s>", true), added(5, "</s>", true), added(6, "<tool>", false)]}),
    );
    let vocabulary = load(&json).unwrap();
    assert_eq!(vocabulary.specials().collect::<Vec<_>>(), [(4, "<s>"), (5, "</s>")]);
    assert_eq!(vocabulary.eos(), [5], "a well-known name");
    assert_eq!(vocabulary.token_bytes(6), Some(&b"<tool>"[..]));
    assert_eq!(vocabulary.tokenize(b"<s></s><tool>"), Some(vec![0, 1, 2, 0, 3, 1, 2, 6]));

    let options = HuggingFaceOptions { special_names: vec!["<tool>".to_owned()], len: Some(64), ..Default::default() };
    let vocabulary = Vocabulary::from_huggingface(&json, &options).unwrap();
    assert_eq!((vocabulary.special_by_name("<tool>"), vocabulary.len()), (Some(6), 64));
    assert_eq!(vocabulary.tokenize(b"<tool>"), None, "the name of a special token is never text");
}

#[test]
fn eos_comes_from_the_caller_or_the_configurations() {
    let json = file(
        &["a", "<x>"],
        json!({"added_tokens": [added(2, "</s>", true), added(3, "<y>", true), added(4, "<z>", false)]}),
    );
    let eos = |options: HuggingFaceOptions| {
        Vocabulary::from_huggingface(&json, &options).map(|vocabulary| vocabulary.eos().to_vec())
    };
    let config =
        |text: &'static str| HuggingFaceOptions { tokenizer_config: Some(text.as_bytes()), ..Default::default() };
    let generation =
        |text: &'static str| HuggingFaceOptions { generation_config: Some(text.as_bytes()), ..Default::default() };
    assert_eq!(eos(config(r#"{"eos_token": "<y>"}"#)), Ok(vec![3]));
    assert_eq!(eos(config(r#"{"eos_token": {"content": "<z>", "special": false}}"#)), Ok(vec![4]));
    assert_eq!(eos(config(r#"{"eos_token": null}"#)), Ok(vec![2]));
    assert_eq!(eos(config("{}")), Ok(vec![2]));
    assert_eq!(eos(generation(r#"{"eos_token_id": 3}"#)), Ok(vec![3]));
    assert_eq!(eos(generation(r#"{"eos_token_id": [3, 1, 3]}"#)), Ok(vec![3, 1]));
    assert_eq!(eos(generation(r#"{"eos_token_id": null}"#)), Ok(vec![2]));
    let both = HuggingFaceOptions {
        tokenizer_config: Some(br#"{"eos_token": "<y>"}"#),
        generation_config: Some(br#"{"eos_token_id": [2, 3]}"#),
        ..Default::default()
    };
    assert_eq!(eos(both.clone()), Ok(vec![2, 3]));
    let choice = EosChoice { ids: vec![], names: vec!["<x>".to_owned()] };
    assert_eq!(eos(HuggingFaceOptions { eos: choice, ..both }), Ok(vec![1]));

    assert_eq!(eos(config(r#"{"eos_token": "<w>"}"#)), Err(LoadError::UnknownEosName { name: "<w>".to_owned() }));
    assert_eq!(eos(generation(r#"{"eos_token_id": 77}"#)), Err(LoadError::UnknownEosId { id: 77 }));
    assert!(matches!(eos(config("{")), Err(LoadError::Json { file: "tokenizer_config.json", .. })));
    assert!(matches!(
        eos(generation(r#"{"eos_token_id": -1}"#)),
        Err(LoadError::Json { file: "generation_config.json", .. })
    ));
}

#[test]
fn canonical_tokenization_is_that_of_the_middle_of_a_text() {
    let tokens = ["▁", "a", "▁a", "b", "<unk>", "e", "é"];
    let parts = |normalizer: Value, pre_tokenizer: Value| {
        json!({
            "normalizer": normalizer, "pre_tokenizer": pre_tokenizer,
            "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
            "model": {"type": "BPE", "merges": ["▁ a"], "unk_token": "<unk>", "dropout": 0.99,
                      "vocab": tokens.iter().enumerate().map(|(id, token)| (token.to_string(), json!(id)))
                          .collect::<serde_json::Map<_, _>>()},
        })
    };
    let prepend = json!({"type": "Sequence", "normalizers": [
        {"type": "Prepend", "prepend": "▁"}, {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]});
    let metaspace = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true});
    for (normalizer, pre_tokenizer) in [(prepend, Value::Null), (Value::Null, metaspace.clone())] {
        let vocabulary = load(&file(&tokens, parts(normalizer, pre_tokenizer))).unwrap();
        for _ in 0..20 {
            assert_eq!(vocabulary.tokenize(b"ab a"), Some(vec![1, 3, 2]), "no leading blank, no dropout");
        }
        assert_eq!(vocabulary.tokenize(b" a"), Some(vec![2]));
    }
    let accents = "e\u{301}é".as_bytes();
    let lacking = load(&file(&tokens, parts(json!({"type": "NFC"}), metaspace.clone()))).unwrap();
    assert_eq!(lacking.tokenize(accents), None, "no token for the accent alone");
    let options = HuggingFaceOptions { normalizers: Normalizers::All, ..Default::default() };
    let lower = file(&tokens, parts(json!({"type": "Lowercase"}), metaspace));
    let vocabulary = Vocabulary::from_huggingface(&lower, &options).unwrap();
    assert_eq!(vocabulary.tokenize(b"ab"), Some(vec![1, 3]));
    assert_eq!(vocabulary.tokenize(b"aB"), None);
}

#[test]
fn malformed_files_are_refused() {
    let is_json_error = |file: &[u8]| matches!(load(file), Err(LoadError::Json { file: "tokenizer.json", .. }));
    for bad in ["", "{}", "[]", "null", "{\"model\": 1}", "\u{feff}{}", "{\"decoder\": {\"type\": \"ByteLevel\"}}"] {
        assert!(is_json_error(bad.as_bytes()), "{bad}");
    }
    let deep = "[".repeat(1_000_000);
    assert!(is_json_error(deep.as_bytes()));
    assert!(is_json_error(format!("{{\"decoder\": {deep}").as_bytes()));
    assert!(is_json_error("{\"decoder\": {\"type\": \"Sequence\", \"decoders\": [".repeat(100_000).as_bytes()));

    let vocab = |vocab: Value| file(&[], json!({"model": {"type": "BPE", "vocab": vocab, "merges": []}}));
    assert_eq!(
        load(&vocab(json!({"a": 4294967295u32}))).unwrap_err(),
        LoadError::Vocabulary(VocabularyError::TooManyTokens { len: 1 << 32, limit: 1 << 24 })
    );
    assert_eq!(
        load(&vocab(json!({"a": 1, "b": 1}))).unwrap_err(),
        LoadError::Vocabulary(VocabularyError::DuplicateId { id: 1 })
    );
    assert!(is_json_error(&vocab(json!({"a": -1}))));
}

/// A whole small file, cut anywhere and with any byte changed: an answer, whichever, and no panic.
#[test]
fn damaged_files_are_answered() {
    let parts = json!({
        "added_tokens": [added(4, "<s>", true), added(5, "<t>", false)],
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true},
        "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3}, "merges": ["a b"]},
    });
    let whole = file(&[], parts);
    assert!(load(&whole).is_ok());
    for at in 0..whole.len() {
        assert!(load(&whole[..at]).is_err());
        for byte in [b'0', b'9', b'"', b'x', b' ', b'}', b']', b',', 0xff] {
            let mut changed = whole.clone();
            changed[at] = byte;
            if let Ok(vocabulary) = load(&changed) {
                for text in ["ab<s> <t>", "é\u{301}", ""] {
                    if let Some(ids) = vocabulary.tokenize(text.as_bytes()) {
                        assert_eq!(vocabulary.decode(&ids), text.as_bytes());
                    }
                }
            }
        }
    }
}
