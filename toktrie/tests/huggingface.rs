//! Hugging Face `tokenizer.json` files.

mod common;

use common::sentencepiece_model::{BPE, BYTE, CONTROL, NORMAL, UNKNOWN, model};
use common::{check_tokenize, check_vocabulary, tokenizer_file};
use larkspur_toktrie::{HuggingFaceOptions, SentencePieceOptions, TokenId, Vocabulary};
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

/// phi-3-mini has the vocabulary of a SentencePiece model whose pieces stand in the order of their scores, runs of blanks aside: written
/// back as such a model, it must cut text the same way.
#[test]
fn sentencepiece_agrees_on_phi_3_mini() {
    let Some(Loaded { vocabulary, reference }) = load("phi-3-mini") else { return };
    let names: Vec<String> = (0..32_000).map(|id| reference.id_to_token(id).unwrap()).collect();
    let pieces: Vec<(&str, f32, u8)> = (0..)
        .zip(&names)
        .map(|(id, name)| match id {
            0 => (name.as_str(), 0.0, UNKNOWN),
            1 | 2 => (name.as_str(), 0.0, CONTROL),
            3..=258 => (name.as_str(), 0.0, BYTE),
            // Runs of blanks come last in the list of merges.
            _ if name.chars().count() > 1 && name.chars().all(|character| character == '\u{2581}') => {
                (name.as_str(), -1e9, NORMAL)
            }
            _ => (name.as_str(), -(id as f32 - 259.0), NORMAL),
        })
        .collect();
    let model = Vocabulary::from_sentencepiece(&model(BPE, &pieces), &SentencePieceOptions::default()).unwrap();
    let source = include_str!("huggingface.rs");
    let texts = common::TEXTS.iter().copied().chain(source.lines().map(str::as_bytes)).chain([source.as_bytes()]);
    let mut compared = 0;
    for text in texts.filter(|text| !text.starts_with(b"<|endoftext|>") && std::str::from_utf8(text).is_ok()) {
        let theirs = vocabulary.tokenize(text).unwrap();
        // Where added tokens of the one file stand in the text, and where U+2581 does, the two may differ.
        if theirs.iter().all(|&id| id < 32_000 && id != 2) && !text.windows(3).any(|part| part == "\u{2581}".as_bytes())
        {
            assert_eq!(model.tokenize(text).unwrap(), theirs, "{}", String::from_utf8_lossy(text));
            compared += 1;
        }
    }
    assert!(compared > 50);
}
