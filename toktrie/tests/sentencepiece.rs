//! SentencePiece model files.

mod common;

use common::sentencepiece_model::{BPE, BYTE, CONTROL, NORMAL, UNIGRAM, UNKNOWN, UNUSED, USER_DEFINED, model};
use common::{check_tokenize, check_vocabulary, tokenizer_file};
use larkspur_toktrie::loaders::ProtobufFault;
use larkspur_toktrie::{EosChoice, LoadError, SentencePieceOptions, Vocabulary};

fn load(model: &[u8]) -> Result<Vocabulary, LoadError> {
    Vocabulary::from_sentencepiece(model, &SentencePieceOptions::default())
}

#[test]
fn mistral_7b_v3() {
    let Some(file) = tokenizer_file("mistral-7b-v3-sp/tokenizer.model.v3") else { return };
    let vocabulary = load(&file).unwrap();
    assert_eq!(vocabulary.len(), 32_768);
    assert_eq!(vocabulary.eos(), [2]);
    assert_eq!(vocabulary.special_name(2), Some("</s>"));
    assert_eq!(vocabulary.special_by_name("[INST]"), Some(3));
    assert_eq!(vocabulary.token_bytes(771), Some(&[0][..]));
    check_vocabulary(&vocabulary);
    check_tokenize(&vocabulary);
    // What SentencePiece itself gives behind a leading "▁" that is a word of its own.
    let pieces: Vec<_> = vocabulary
        .tokenize(b" Hello world, this is a test.")
        .unwrap()
        .iter()
        .map(|&id| vocabulary.display(id))
        .collect();
    assert_eq!(pieces, [" Hello", " world", ",", " this", " is", " a", " test", "."]);
}

#[test]
fn bpe_merges_by_score() {
    let vocabulary = load(&model(
        BPE,
        &[
            ("<unk>", 0.0, UNKNOWN),
            ("<s>", 0.0, CONTROL),
            ("</s>", 0.0, CONTROL),
            ("ab", -1.0, NORMAL),
            ("bc", 0.0, NORMAL),
            ("abc", -2.0, NORMAL),
            ("a", -10.0, NORMAL),
            ("b", -11.0, NORMAL),
            ("c", -12.0, NORMAL),
            ("▁", -13.0, NORMAL),
            ("▁a", -3.0, NORMAL),
            ("ca", 0.0, USER_DEFINED),
            ("cb", 0.0, UNUSED),
            ("<0x64>", 0.0, BYTE),
            ("aaa", -5.0, NORMAL),
            ("aa", -6.0, NORMAL),
        ],
    ))
    .unwrap();
    check_vocabulary(&vocabulary);
    assert_eq!(vocabulary.eos(), [2]);
    let tokenize = |text: &str| vocabulary.tokenize(text.as_bytes());
    assert_eq!(tokenize("abc"), Some(vec![5]), "a bc, then abc");
    assert_eq!(tokenize("abca"), Some(vec![3, 11]), "user-defined pieces come first and are not merged");
    assert_eq!(tokenize(" ab"), Some(vec![9, 3]));
    assert_eq!(tokenize(" ac"), Some(vec![10, 8]));
    assert_eq!(tokenize("cb"), Some(vec![8, 7]), "an unused piece is not produced");
    assert_eq!(tokenize("dd"), Some(vec![13, 13]));
    assert_eq!(tokenize("aaaaa"), Some(vec![14, 15]), "leftmost first");
    assert_eq!(tokenize("e"), None);
    assert_eq!(vocabulary.token_bytes(12), Some(&b"cb"[..]));
}

#[test]
fn unigram_takes_the_best_path() {
    let vocabulary = load(&model(
        UNIGRAM,
        &[
            ("<unk>", 0.0, UNKNOWN),
            ("a", -3.0, NORMAL),
            ("b", -3.0, NORMAL),
            ("ab", -5.0, NORMAL),
            ("abb", -12.0, NORMAL),
            ("é", -4.0, NORMAL),
            ("<0xC3>", 0.0, BYTE),
            ("<0xA8>", 0.0, BYTE),
            ("[x]", 0.0, USER_DEFINED),
            ("</s>", 0.0, CONTROL),
        ],
    ))
    .unwrap();
    check_vocabulary(&vocabulary);
    assert_eq!(vocabulary.eos(), [9], "by name, since the file's own id is not a control piece");
    let tokenize = |text: &str| vocabulary.tokenize(text.as_bytes());
    assert_eq!(tokenize("abb"), Some(vec![3, 2]));
    assert_eq!(tokenize("aé[x]b"), Some(vec![1, 5, 8, 2]));
    assert_eq!(tokenize("è"), Some(vec![6, 7]));
    assert_eq!(tokenize("</s>"), None);
}

#[test]
fn names_and_ids_for_special_tokens() {
    let file = model(BPE, &[("a", 0.0, NORMAL), ("<x>", 0.0, USER_DEFINED), ("<y>", 0.0, USER_DEFINED)]);
    let options = SentencePieceOptions {
        eos: EosChoice { ids: vec![1], names: vec![] },
        special_names: vec!["<y>".to_owned()],
        len: Some(32),
    };
    let vocabulary = Vocabulary::from_sentencepiece(&file, &options).unwrap();
    assert_eq!(vocabulary.specials().collect::<Vec<_>>(), [(1, "<x>"), (2, "<y>")]);
    assert_eq!((vocabulary.eos(), vocabulary.len()), (&[1][..], 32));
    let options = SentencePieceOptions { eos: EosChoice { ids: vec![3], names: vec![] }, ..Default::default() };
    assert_eq!(Vocabulary::from_sentencepiece(&file, &options).unwrap_err(), LoadError::UnknownEosId { id: 3 });
}

#[test]
fn scores_may_be_anything() {
    for score in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN] {
        for model_type in [BPE, UNIGRAM] {
            let pieces =
                [("a", score, NORMAL), ("b", 1.0, NORMAL), ("ab", score, NORMAL), ("aab", score, USER_DEFINED)];
            let vocabulary = load(&model(model_type, &pieces)).unwrap();
            for text in ["a", "ab", "aab", "abaabb", "ba"] {
                let ids = vocabulary.tokenize(text.as_bytes()).unwrap();
                assert_eq!(vocabulary.decode(&ids), text.as_bytes());
            }
        }
    }
}

#[test]
fn malformed_files_are_refused() {
    let fault = |file: &[u8]| match load(file) {
        Err(LoadError::Protobuf { at_bytes, fault }) => (at_bytes, fault),
        other => panic!("{other:?}"),
    };
    assert_eq!(load(b"").unwrap_err(), LoadError::NoPieces);
    assert_eq!(fault(b"\x0a\x05\x0a"), (2, ProtobufFault::Truncated));
    assert_eq!(fault(b"\x0a\x02\x0a\x05"), (4, ProtobufFault::Truncated));
    assert_eq!(fault(b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), (11, ProtobufFault::Truncated));
    assert_eq!(fault(b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), (1, ProtobufFault::Varint));
    assert_eq!(fault(b"\x08\x01"), (0, ProtobufFault::Type));
    assert_eq!(fault(b"\x02\x00"), (0, ProtobufFault::Field));
    assert_eq!(fault(b"\x0b"), (0, ProtobufFault::Field));
    assert_eq!(fault(b"\x0a\x02\x08\x01"), (2, ProtobufFault::Type));
    assert_eq!(fault(b"\x0a\x02\x18\x09"), (2, ProtobufFault::Type));
    // Every beginning of a model, and the model with each byte changed: an answer, whichever.
    let file = model(BPE, &[("<unk>", 0.0, UNKNOWN), ("ab", -1.0, NORMAL), ("<0x41>", 0.0, BYTE)]);
    for len in 0..file.len() {
        let _ = load(&file[..len]);
        for bit in 0..8 {
            let mut changed = file.clone();
            changed[len] ^= 1 << bit;
            let _ = load(&changed).map(|vocabulary| vocabulary.tokenize(b"abA"));
        }
    }
}
