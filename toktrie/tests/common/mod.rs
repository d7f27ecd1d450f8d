//! Where the real tokenizers are, and what each vocabulary must fulfil.
#![allow(dead_code, reason = "each test crate uses a part")]

pub mod sentencepiece_model;

use std::io::Write;
use std::path::PathBuf;

use larkspur_toktrie::{NO_TOKEN, Recognizer, TokenId, TokenMask, Vocabulary};

/// The contents of a file of `shared/tokenizers`; `None`, with a line that says so, where it is not there.
pub fn tokenizer_file(name: &str) -> Option<Vec<u8>> {
    let shared = match std::env::var_os("LARKSPUR_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared"),
    };
    let path = shared.join("tokenizers").join(name);
    match std::fs::read(&path) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            // Past the test harness, which would swallow it: a skipped test passes.
            let line = format!("SKIPPED: tokenizers/{name} ({error}); set LARKSPUR_SHARED to the shared folder\n");
            let _ = std::io::stderr().write_all(line.as_bytes());
            None
        }
    }
}

/// Each token's bytes lead to it, or to the canonical one of those with equal bytes; a walk that takes everything
/// allows every ordinary token and nothing else; both orders of the trie agree.
pub fn check_vocabulary(vocabulary: &Vocabulary) {
    let trie = vocabulary.trie();
    let mut ordinary = TokenMask::new(vocabulary.len());
    let mut lengths = 0;
    for id in 0..vocabulary.len() as TokenId {
        let Some(bytes) = vocabulary.token_bytes(id) else { continue };
        assert!(!vocabulary.is_special(id), "{id} is both");
        ordinary.allow(id);
        lengths = lengths.max(bytes.len());
        let found = trie.token_of(bytes).unwrap_or_else(|| panic!("token {id} {bytes:?} is not in the trie"));
        assert_eq!(vocabulary.token_bytes(found), Some(bytes));
        assert!(found == id || found < id && trie.duplicates().contains(&(found, id)), "{found} for {id}");
    }
    assert_eq!(lengths, vocabulary.token_len_max());

    struct Everything;
    impl Recognizer for Everything {
        type State = ();
        fn step(&mut self, _state: (), _byte: u8) -> Option<()> {
            Some(())
        }
    }
    let mut walked = TokenMask::new(vocabulary.len());
    assert_eq!(trie.walk(&mut Everything, (), &mut walked), trie.len() as u64 - 1);
    trie.finish_mask(&mut walked);
    assert!(walked == ordinary, "{walked:?} against {ordinary:?}");

    let mut reached = 1;
    for node in 0..trie.len() as u32 {
        for child in trie.children(node) {
            assert_eq!(trie.depths()[child as usize], trie.depths()[node as usize] + 1);
            assert_eq!(trie.child(node, trie.bytes()[child as usize]), Some(child));
            reached += 1;
        }
    }
    assert_eq!(reached, trie.len());
    let in_trie = trie.tokens().iter().filter(|&&token| token != NO_TOKEN).count();
    assert_eq!(in_trie + trie.duplicates().len(), ordinary.count());
}

/// Texts that tokenizers stumble over.
pub const TEXTS: &[&[u8]] = &[
    b"",
    b"Hello world",
    b" leading and  double   blanks ",
    b"{\"name\": \"get_weather\",\n\t\"arguments\": [1, 23, 456789]}",
    "caf\u{e9} cafe\u{301} \u{2581}\u{2581}x \u{212b} \u{1f980}\u{200d} 你好，世界".as_bytes(),
    b"<|endoftext|><s></s><eos><bos>[INST]<|im_end|><|begin_of_text|><think></think><0x41>",
    "<｜end▁of▁sentence｜>\u{0}\u{1}\r\n\n\n".as_bytes(),
    b"\xffabc",
    b"abc \xc3",
    b"half a character: \xf0\x9f\xa6",
    b"\xe4\xbd\xa0\xe5\xa5",
];

/// What [`Vocabulary::tokenize`] promises, on [`TEXTS`].
pub fn check_tokenize(vocabulary: &Vocabulary) {
    for text in TEXTS {
        let ids = vocabulary.tokenize(text).unwrap_or_else(|| panic!("{:?}", String::from_utf8_lossy(text)));
        assert_eq!(vocabulary.decode(&ids), *text, "{:?}", String::from_utf8_lossy(text));
        assert!(ids.iter().all(|&id| !vocabulary.is_special(id)), "{ids:?}");
    }
}
