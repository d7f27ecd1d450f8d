//! Ranks in tiktoken's format.

mod common;

use common::{check_vocabulary, tokenizer_file};
use larkspur_toktrie::loaders::RankFault;
use larkspur_toktrie::{EosChoice, LoadError, TiktokenOptions, Vocabulary, VocabularyError};

fn check(name: &str, options: TiktokenOptions, len: usize, eos: &[u32]) {
    let Some(ranks) = tokenizer_file(name) else { return };
    let vocabulary = Vocabulary::from_tiktoken_ranks(&ranks, &options).unwrap();
    assert_eq!(vocabulary.len(), len);
    assert_eq!(vocabulary.eos(), eos);
    check_vocabulary(&vocabulary);
    let ids = vocabulary.tokenize_greedy(b"Hello world").unwrap();
    assert_eq!(vocabulary.decode(&ids), b"Hello world");
    assert_eq!(vocabulary.tokenize(b"Hello world"), None);
}

#[test]
fn o200k() {
    check("o200k/o200k_base.tiktoken", TiktokenOptions::o200k_base(), 200_019, &[199_999]);
}

#[test]
fn o200k_harmony() {
    check("o200k/o200k_base.tiktoken", TiktokenOptions::o200k_harmony(), 201_088, &[200_002, 200_012, 199_999]);
}

#[test]
fn cl100k() {
    check("cl100k/cl100k_base.tiktoken", TiktokenOptions::cl100k_base(), 100_277, &[100_257]);
}

#[test]
fn small_file() {
    // "a", "ab" (unpadded), "a\xff", an empty token; a blank line and Windows line ends.
    let ranks = b"YQ== 0\r\nYWI 1\n\n  Yf8= 7 \n";
    let options = TiktokenOptions {
        specials: vec![(9, "<eos>".to_owned()), (8, "<end>".to_owned())],
        len: Some(64),
        ..Default::default()
    };
    let vocabulary = Vocabulary::from_tiktoken_ranks(ranks, &options).unwrap();
    assert_eq!(vocabulary.token_bytes(0), Some(&b"a"[..]));
    assert_eq!(vocabulary.token_bytes(1), Some(&b"ab"[..]));
    assert_eq!(vocabulary.token_bytes(7), Some(&b"a\xff"[..]));
    assert_eq!((vocabulary.len(), vocabulary.eos()), (64, &[9][..]));
}

#[test]
fn eos_by_name_and_id() {
    let specials = vec![(1, "<a>".to_owned()), (2, "<b>".to_owned())];
    let with = |eos: EosChoice| {
        let options = TiktokenOptions { specials: specials.clone(), eos, ..Default::default() };
        Vocabulary::from_tiktoken_ranks(b"YQ== 0", &options)
    };
    let both = EosChoice { ids: vec![2], names: vec!["<a>".to_owned()] };
    assert_eq!(with(both).unwrap().eos(), [2, 1]);
    assert!(with(EosChoice::default()).unwrap().eos().is_empty());
    assert_eq!(
        with(EosChoice { names: vec!["<c>".to_owned()], ..Default::default() }).unwrap_err(),
        LoadError::UnknownEosName { name: "<c>".to_owned() }
    );
    assert_eq!(with(EosChoice { ids: vec![0], ..Default::default() }).unwrap_err(), LoadError::UnknownEosId { id: 0 });
}

#[test]
fn malformed_files_are_refused() {
    let fault = |ranks: &[u8]| match Vocabulary::from_tiktoken_ranks(ranks, &TiktokenOptions::default()) {
        Err(LoadError::RankLine { line, fault }) => (line, fault),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(b"YQ== 0\nYQ=="), (2, RankFault::Fields));
    assert_eq!(fault(b"{\"a\": 1}"), (1, RankFault::Base64));
    for bad in ["Y 0", "Y=== 0", "YQ= 0", "YQ==YQ== 0", "Y\u{e9}== 0", "Yf== 0", "Yf9= 0", "\u{0} 0"] {
        assert_eq!(fault(bad.as_bytes()), (1, RankFault::Base64), "{bad}");
    }
    for bad in ["YQ== x", "YQ== -1", "YQ== +1", "YQ== 4294967296", "YQ== 1 2", "YQ== \u{ff}"] {
        assert_eq!(fault(bad.as_bytes()), (1, RankFault::Rank), "{bad}");
    }
    let error = |ranks: &[u8]| Vocabulary::from_tiktoken_ranks(ranks, &TiktokenOptions::default()).unwrap_err();
    assert_eq!(error(b"YQ== 0\nYg== 0"), LoadError::Vocabulary(VocabularyError::DuplicateId { id: 0 }));
    assert_eq!(
        error(b"YQ== 4294967295"),
        LoadError::Vocabulary(VocabularyError::TooManyTokens { len: 1 << 32, limit: 1 << 24 })
    );
}
