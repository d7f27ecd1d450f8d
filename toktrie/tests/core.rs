//! Vocabulary, mask and trie through the public API.

use std::sync::Arc;

use larkspur_toktrie::{NO_TOKEN, Recognizer, TokenMask, TokenTrie, Vocabulary, VocabularyError, mask};

/// Takes exactly the prefixes of a text.
struct Text(&'static [u8]);

impl Recognizer for Text {
    type State = usize;
    fn step(&mut self, at: usize, byte: u8) -> Option<usize> {
        (self.0.get(at) == Some(&byte)).then_some(at + 1)
    }
}

fn small() -> Vocabulary {
    Vocabulary::builder()
        .token(0, b"a")
        .token(1, b"ab")
        .token(2, b"abc")
        .token(3, b"b")
        .token(5, b"ab")
        .token(6, b"")
        .token(7, [0xff, 0xc3])
        .special(8, "<eos>")
        .special(9, "<|end|>")
        .eos(9)
        .eos(8)
        .eos(9)
        .len(40)
        .build()
        .unwrap()
}

#[test]
fn vocabulary_answers() {
    let vocabulary = small();
    assert_eq!(vocabulary.len(), 40);
    assert_eq!(vocabulary.token_bytes(1), Some(&b"ab"[..]));
    assert_eq!(vocabulary.token_bytes(5), Some(&b"ab"[..]));
    for id in [4, 6, 8, 9, 10, 39, 40, u32::MAX] {
        assert_eq!(vocabulary.token_bytes(id), None, "{id}");
    }
    assert!(vocabulary.is_special(8) && !vocabulary.is_special(0) && !vocabulary.is_special(4));
    assert_eq!(vocabulary.special_name(9), Some("<|end|>"));
    assert_eq!(vocabulary.special_by_name("<|end|>"), Some(9));
    assert_eq!(vocabulary.special_by_name("a"), None);
    assert_eq!(vocabulary.special_by_name("zzz"), None);
    assert_eq!(vocabulary.specials().collect::<Vec<_>>(), [(8, "<eos>"), (9, "<|end|>")]);
    assert_eq!(vocabulary.eos(), [9, 8]);
    assert_eq!(vocabulary.token_len_max(), 3);
    assert_eq!(vocabulary.decode(&[2, 9, 77, 4, 3]), b"abcb");
    assert_eq!(vocabulary.display(7), "\\xff\\xc3");
    assert_eq!(vocabulary.display(9), "<|end|>");
    assert_eq!(vocabulary.display(4), "<[4]>");
}

#[test]
fn vocabularies_are_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Vocabulary>();
    shared::<TokenTrie>();
    shared::<TokenMask>();
}

#[test]
fn display_escapes_what_would_confuse() {
    let vocabulary = Vocabulary::builder().token(0, "é\n\\\"\u{7f}").build().unwrap();
    assert_eq!(vocabulary.display(0), "é\\n\\\\\"\\u{7f}");
}

#[test]
fn builder_reports_mistakes() {
    let error = |build: &dyn Fn(&mut larkspur_toktrie::VocabularyBuilder)| {
        let mut builder = Vocabulary::builder();
        build(&mut builder);
        builder.build().unwrap_err()
    };
    assert_eq!(
        error(&|b| {
            b.token(3, b"a").token(3, b"b");
        }),
        VocabularyError::DuplicateId { id: 3 }
    );
    assert_eq!(
        error(&|b| {
            b.token(3, b"a").special(3, "b");
        }),
        VocabularyError::DuplicateId { id: 3 }
    );
    assert_eq!(
        error(&|b| {
            b.special(3, "a").special(3, "a");
        }),
        VocabularyError::DuplicateId { id: 3 }
    );
    assert_eq!(
        error(&|b| {
            b.token(3, b"a").eos(3);
        }),
        VocabularyError::EosNotSpecial { id: 3 }
    );
    assert_eq!(
        error(&|b| {
            b.token(3, b"a").eos(4);
        }),
        VocabularyError::EosNotSpecial { id: 4 }
    );
    assert_eq!(
        error(&|b| {
            b.token(3, b"a").len(3);
        }),
        VocabularyError::LenTooSmall { len: 3, id: 3 }
    );
    assert_eq!(
        error(&|b| {
            b.token(u32::MAX, b"a");
        }),
        VocabularyError::TooManyTokens { len: 1 << 32, limit: 1 << 24 }
    );
    assert_eq!(
        error(&|b| {
            b.len(usize::MAX);
        }),
        VocabularyError::TooManyTokens { len: usize::MAX, limit: 1 << 24 }
    );
    assert_eq!(
        error(&|b| {
            b.token(0, vec![b'a'; 65_536]);
        }),
        VocabularyError::TokenTooLong { id: 0, len: 65_536, limit: 65_535 }
    );
}

#[test]
fn empty_vocabulary_is_harmless() {
    let vocabulary = Vocabulary::builder().build().unwrap();
    let mut mask = TokenMask::new(vocabulary.len());
    assert_eq!(vocabulary.trie().walk(&mut Text(b"a"), 0, &mut mask), 0);
    assert!(mask.is_empty() && mask.words().is_empty());
    assert_eq!(vocabulary.tokenize_greedy(b""), Some(vec![]));
    assert_eq!(vocabulary.tokenize_greedy(b"a"), None);
}

#[test]
fn trie_is_depth_first() {
    let vocabulary = small();
    let trie = vocabulary.trie();
    assert_eq!(trie.bytes(), [0, b'a', b'b', b'c', b'b', 0xff, 0xc3]);
    assert_eq!(trie.depths(), [0, 1, 2, 3, 1, 1, 2]);
    assert_eq!(trie.subtree_ends(), [7, 4, 4, 4, 5, 7, 7]);
    assert_eq!(trie.tokens(), [NO_TOKEN, 0, 1, 2, 3, NO_TOKEN, 7]);
    assert_eq!(trie.duplicates(), [(1, 5)]);
    assert_eq!(trie.child(0, b'b'), Some(4));
    assert_eq!(trie.child(1, b'b'), Some(2));
    assert_eq!(trie.child(1, b'a'), None);
    assert_eq!(trie.child(1, b'c'), None);
    assert_eq!(trie.children(0).collect::<Vec<_>>(), [1, 4, 5]);
    assert_eq!(trie.node_of(b""), Some(0));
    assert_eq!(trie.token_of(b"abc"), Some(2));
    assert_eq!(trie.token_of(b"\xff"), None);
    assert_eq!(trie.longest_match(b"abx"), Some((1, 2)));
}

#[test]
fn walk_allows_what_the_recognizer_takes() {
    let vocabulary = small();
    let mut mask = TokenMask::new(vocabulary.len());
    let visited = vocabulary.trie().walk(&mut Text(b"abx"), 0, &mut mask);
    // a, ab, abc refused; b and 0xff refused.
    assert_eq!(visited, 5);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [0, 1]);
    vocabulary.trie().finish_mask(&mut mask);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [0, 1, 5]);

    mask.clear();
    let node = vocabulary.trie().node_of(b"a").unwrap();
    vocabulary.trie().walk_from(node, &mut Text(b"bc"), 0, &mut mask);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn walk_over_tokens_longer_than_the_inline_stack() {
    let long = vec![b'a'; 3000];
    let vocabulary = Vocabulary::builder().token(0, &long).token(1, b"a").token(2, &long[..300]).build().unwrap();
    struct Any;
    impl Recognizer for Any {
        type State = u64;
        fn step(&mut self, state: u64, _byte: u8) -> Option<u64> {
            (state < 2999).then_some(state + 1)
        }
    }
    let mut mask = TokenMask::new(3);
    assert_eq!(vocabulary.trie().walk(&mut Any, 0, &mut mask), 3000);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn subset_keeps_one_of_several_equal_tokens() {
    let vocabulary = small();
    let tokens = |trie: &TokenTrie| trie.tokens().iter().copied().filter(|&id| id != NO_TOKEN).collect::<Vec<_>>();
    let all = vocabulary.trie().subset(|_| true);
    assert_eq!(all.subtree_ends(), vocabulary.trie().subtree_ends());
    assert_eq!(all.duplicates(), [(1, 5)]);
    let some = vocabulary.trie().subset(|id| id >= 3);
    assert_eq!(tokens(&some), [5, 3, 7]);
    assert_eq!(some.token_of(b"ab"), Some(5));
    assert_eq!(some.duplicates(), []);
    assert_eq!(vocabulary.trie().subset(|_| false).len(), 1);
}

#[test]
fn mask_words_and_bits_agree() {
    let mut mask = TokenMask::new(70);
    assert_eq!(mask.words().len(), 3);
    mask.set_all();
    assert_eq!((mask.count(), mask.words()[2]), (70, 0b11_1111));
    mask.forbid(69);
    mask.forbid(500);
    assert!(!mask.is_allowed(69) && !mask.is_allowed(70) && !mask.is_allowed(u32::MAX) && mask.is_allowed(68));
    mask.clear();
    mask.allow(0);
    mask.allow(31);
    mask.allow(32);
    assert_eq!(mask.words(), [0x8000_0001, 1, 0]);
    let mut other = TokenMask::new(70);
    other.allow(32);
    other.allow(64);
    mask.or_assign(other.words());
    assert_eq!(mask.iter().collect::<Vec<_>>(), [0, 31, 32, 64]);
    mask.and_not_assign(&[1, 0, 0]);
    mask.and_assign(other.words());
    assert_eq!(mask, other);
    mask.copy_from(&[2, 0, 0]);
    assert_eq!(mask.iter().collect::<Vec<_>>(), [1]);
    assert_eq!(format!("{mask:?}"), "TokenMask(1 of 70: [1])");

    let mut words = [7u32; 2];
    mask::set_all(&mut words, 32);
    assert_eq!(words, [u32::MAX, 0]);
    mask::set_all(&mut words, 64);
    assert_eq!(mask::count(&words), 64);
}

#[test]
fn single_bytes_tokenize_everything() {
    let vocabulary = Vocabulary::single_bytes();
    assert_eq!(vocabulary.len(), 257);
    assert_eq!(vocabulary.eos(), [256]);
    let text = b"a\xc3\xa9\xff\xc3";
    let ids: Vec<u32> = text.iter().map(|&byte| byte.into()).collect();
    assert_eq!(vocabulary.tokenize(text), Some(ids.clone()));
    assert_eq!(vocabulary.tokenize_greedy(text), Some(ids.clone()));
    assert_eq!(vocabulary.decode(&ids), text);
}

#[test]
fn greedy_finds_a_way_where_bytes_are_missing() {
    let vocabulary = Vocabulary::builder().token(0, b"ab").token(1, b"a").token(2, b"bc").build().unwrap();
    assert_eq!(vocabulary.tokenize_greedy(b"abbc"), Some(vec![0, 2]));
    assert_eq!(vocabulary.tokenize_greedy(b"abc"), Some(vec![1, 2]));
    assert_eq!(vocabulary.tokenize_greedy(b"abcb"), None);
    assert_eq!(vocabulary.tokenize(b"ab"), None, "no tokenizer");
}

#[test]
fn tokenize_repairs_what_the_callback_gets_wrong() {
    // The callback knows the word "hello", turns "<s>" into a special token and swallows every "!".
    let tokenizer = |text: &str| {
        let mut ids = Vec::new();
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let len = if rest.starts_with("hello") {
                ids.push(300);
                5
            } else if rest.starts_with("<s>") {
                ids.push(301);
                3
            } else if first == '!' {
                1
            } else {
                ids.extend(rest[..first.len_utf8()].bytes().map(u32::from));
                first.len_utf8()
            };
            rest = &rest[len..];
        }
        ids
    };
    let mut builder = Vocabulary::builder();
    for byte in 0..=255u8 {
        builder.token(byte.into(), [byte]);
    }
    let vocabulary = builder.token(300, b"hello").special(301, "<s>").tokenizer(Arc::new(tokenizer)).build().unwrap();
    assert_eq!(vocabulary.tokenize(b"hello"), Some(vec![300]));
    let text = "hello<s>!!éhello<s".as_bytes();
    let ids = vocabulary.tokenize(text).unwrap();
    assert_eq!(vocabulary.decode(&ids), text);
    assert_eq!(ids.iter().filter(|&&id| id == 300).count(), 2);
    assert!(!ids.contains(&301));
    let bad = "!".repeat(1000) + "hello";
    assert_eq!(vocabulary.decode(&vocabulary.tokenize(bad.as_bytes()).unwrap()), bad.as_bytes());
    let mixed = b"hello\xff\xc3hello";
    assert_eq!(vocabulary.decode(&vocabulary.tokenize(mixed).unwrap()), mixed);
}
