//! Texts in which some words must stand or may not, whose states nearly all tokens lead back to: their masks are the oracle's.

use larkspur_grammar::LexerMode;
use larkspur_parser::{EngineOptions, Matcher, MatcherOptions};
use larkspur_tests::compare::compile;
use larkspur_tests::oracle::{Oracle, Token, Vocab};
use larkspur_tests::property_config;
use larkspur_tests::walks::{check, linked};
use larkspur_toktrie::TokenMask;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// Letters of which each pair is a token; the first ones are those of words.
const LETTERS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEF";

/// Enough tokens that few of them leave a text: all pairs of letters, some words and what may stand around, and more characters
/// of several bytes, whole and in parts.
fn vocab() -> Vocab {
    let mut texts: Vec<Vec<u8>> = LETTERS.iter().map(|&letter| vec![letter]).collect();
    texts.extend(LETTERS.iter().flat_map(|&first| LETTERS.iter().map(move |&second| vec![first, second])));
    let words = [
        "bad", "abad", "cab", "bac", "dada", " cab", "cabad", "bbb", "é", "éa", "abé", "日本", "a日b", "🙂", " ", "\n",
    ];
    let ends = [">", "a>", "ba>", ">a", "é>", "cab>", ">>", "\"", "a\"", "\\", "\\n", "a\\", "\u{2028}a", "<"];
    texts.extend(words.iter().chain(&ends).map(|text| text.as_bytes().to_vec()));
    texts.extend(
        [&b"\xC3"[..], b"\xA9", b"a\xC3", b"\xA9a", b"\xE6\x97", b"\xA5b", b"\xF0\x9F", b"\x99\x82", b"\xFF"]
            .map(<[u8]>::to_vec),
    );
    texts.extend([vec![b'x'; 40], [&[b'x'; 34][..], b"bad"].concat(), [&[b'x'; 34][..], b">"].concat()]);
    let mut tokens: Vec<Token> = texts.into_iter().map(Token::Bytes).collect();
    tokens.push(Token::Special("<|eos|>".into()));
    let eos = vec![tokens.len() as u32 - 1];
    Vocab { tokens, eos }
}

/// A text of such characters, with words in it or none of these.
#[derive(Clone, Debug)]
struct Text {
    any: &'static str,
    /// Of these, by their words: whether one must be there, or none may.
    words: Vec<(Vec<String>, bool)>,
    /// What it ends with must be one of some.
    ends: Vec<String>,
}

impl Text {
    fn terminal(&self) -> String {
        let Text { any, words, ends } = self;
        let mut parts = vec![format!("/{any}*>/")];
        for (words, must) in words {
            let not = if *must { "" } else { "~" };
            parts.push(format!("{not}/{any}*({}){any}*>/", words.join("|")));
        }
        if !ends.is_empty() {
            parts.push(format!("/{any}*({})>/", ends.join("|")));
        }
        parts.join(" & ")
    }
}

fn texts() -> impl Strategy<Value = Text> {
    let class = select(&["[^>]", "[^>\"]", r"[^>\x00-\x1F]", "[^>é]", "[ -=?-~é日]", r"([^>\\]|\\n)"][..]);
    let word = || {
        let letter = select(&["a", "b", "c", "d", "é", "[ab]", "[a-z]", "日"][..]);
        vec(letter, 1..4).prop_map(|letters| letters.concat())
    };
    let words = vec((vec(word(), 1..4), any::<bool>()), 1..4);
    (class, words, vec(word(), 0..3)).prop_map(|(any, words, ends)| Text { any, words, ends })
}

proptest! {
    #![proptest_config(property_config(24))]

    #[test]
    fn masks_are_the_oracles(text in texts(), other in texts(), is_exact: bool, are_two: bool) {
        let mode = if is_exact { LexerMode::Exact } else { LexerMode::Longest };
        let second = if are_two { format!(" | B \"<\"\nB: {}", other.terminal()) } else { String::new() };
        let grammar = format!("start: A{second}\nA: {}\n", text.terminal());
        let linked = linked(&grammar, mode).expect("it is sound");
        let vocab = vocab();
        // Where words exclude each other, there is no text.
        prop_assume!(Oracle::new(&linked, &vocab).is_ok());
        let checked = check(&linked, &vocab, (3, 6));
        prop_assert!(checked.is_ok(), "{grammar}\n{:#}", checked.expect_err("it is none"));
    }
}

#[test]
fn few_nodes_are_looked_at() {
    let vocab = vocab();
    for (words, has_word) in [("bad", false), ("bad|cab|abba", false), ("bad|cab", true)] {
        let not = if has_word { "" } else { "~" };
        let text = format!("start: A\nA: /[^>]*>/ & {not}/[^>]*({words})[^>]*>/\n");
        let linked = linked(&text, LexerMode::Exact).expect("it is sound");
        let grammar = compile(&linked, &vocab, &EngineOptions::default()).expect("it is sound");
        let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
        let mut mask = TokenMask::new(vocab.tokens.len());
        matcher.compute_mask(&mut mask).expect("it is within the limits");
        assert!(mask.count() > LETTERS.len() * LETTERS.len(), "{words}");
        assert!(grammar.stats().masks.nodes_visited < 400, "{words}: {:?}", grammar.stats().masks);
    }
}
