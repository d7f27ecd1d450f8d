//! Hugging Face `tokenizer.json` files.

mod common;

use common::{check_tokenize, check_vocabulary, tokenizer_file};
use larkspur_toktrie::{HuggingFaceOptions, TokenId, Vocabulary};
use tokenizers::Tokenizer;

struct Loaded {
    vocabulary: Vocabulary,
    reference: Tokenizer,
}

fn load(name: &str) -> Option<Loaded> {
    let json = tokenizer_file(&format!("{name}/tokenizer.json"))?;
    let config = tokenizer_file(&format!("{name}/tokenizer_config.json"))?;
    let options = HuggingFaceOptions { tokenizer_config: Some(&config), ..Default::default() };
    let vocabulary = Vocabulary::from_huggingface(&json, &options).unwrap();
    Some(Loaded { vocabulary, reference: Tokenizer::from_bytes(&json).unwrap() })
}

/// Everything that holds for each of them.
fn check(name: &str, len: usize, eos: &str) {
    let Some(Loaded { vocabulary, mut reference }) = load(name) else { return };
    assert_eq!(vocabulary.len(), len);
    let eos_names: Vec<_> = vocabulary.eos().iter().map(|&id| vocabulary.special_name(id).unwrap()).collect();
    assert_eq!(eos_names, [eos]);
    check_vocabulary(&vocabulary);
    check_tokenize(&vocabulary);
    check_against_decoder(&vocabulary, &reference);

    // On text that no normalizer changes, `tokenize` is the reference's tokenization.
    reference.set_encode_special_tokens(true);
    for text in
        ["x, \"a\": {\"b\": [true, false, null]}", "The quick brown fox  jumps\nover <|im_end|> the lazy dog's 12345"]
    {
        let ids = vocabulary.tokenize(text.as_bytes()).unwrap();
        let expected = reference.encode_fast(text, false).unwrap().get_ids().to_vec();
        if vocabulary.decode(&expected) == text.as_bytes() {
            assert_eq!(ids, expected, "{text}");
        } else {
            // The reference puts a blank in front, which changes the first word.
            assert_eq!(vocabulary.decode(&expected), format!(" {text}").as_bytes());
            let compared = ids.len() - 3;
            assert!(compared > 5);
            assert!(expected.ends_with(&ids[ids.len() - compared..]), "{ids:?} {expected:?}");
        }
    }
}

/// Tokens spell what the reference's decoder yields between other tokens.
fn check_against_decoder(vocabulary: &Vocabulary, reference: &Tokenizer) {
    let context = vocabulary.trie().token_of(b"a").unwrap();
    for id in 0..vocabulary.len() as TokenId {
        let Some(bytes) = vocabulary.token_bytes(id) else { continue };
        let decoded = reference.decode(&[context, id, context], false).unwrap();
        if let Ok(text) = std::str::from_utf8(bytes) {
            assert_eq!(decoded, format!("a{text}a"), "token {id}");
        } else {
            assert!(decoded.contains('\u{fffd}'), "token {id} {bytes:?} is {decoded:?}");
        }
    }
}

#[test]
fn gpt2() {
    check("gpt2", 50_257, "<|endoftext|>");
}

#[test]
fn qwen3() {
    check("qwen3", 151_669, "<|im_end|>");
    let Some(Loaded { vocabulary, .. }) = load("qwen3") else { return };
    // Not flagged as special: ordinary text.
    assert_eq!(vocabulary.token_bytes(151_667), Some(&b"<think>"[..]));
    assert_eq!(vocabulary.tokenize(b"<think>"), Some(vec![151_667]));
    assert!(vocabulary.is_special(151_644));
}

#[test]
fn mistral_nemo() {
    check("mistral-nemo", 131_072, "</s>");
}

#[test]
fn phi_3_mini() {
    check("phi-3-mini", 32_011, "<|endoftext|>");
}

#[test]
fn deepseek_v3() {
    check("deepseek-v3", 128_815, "<｜end▁of▁sentence｜>");
}

#[test]
fn llama_3_1() {
    check("llama-3.1", 128_256, "<|eot_id|>");
}

#[test]
fn gemma_3() {
    check("gemma-3", 262_145, "<end_of_turn>");
}
