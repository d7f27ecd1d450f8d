//! Counts around the longest tokens: each part of the vocabulary sees them clamped to its own, and masks are the oracle's.

use larkspur_grammar::LexerMode;
use larkspur_tests::oracle::{Token, Vocab};
use larkspur_tests::walks::{check, linked};

/// Bounds above and below the lengths of tokens (1 to 40 bytes), of characters, words and both.
const GRAMMARS: [&str; 23] = [
    r#"start: "<" /[aé ]{0,60}/ ">""#,
    r#"start: "<" /[aé]{30,45}/ ">""#,
    r#"start: "<" T ">"
T: /(a+ ){0,17}a+/ & /.{0,50}/"#,
    r#"start: "<" T ">"
T: /([aé]+ +){0,9}[aé]+/ & /.{0,48}/"#,
    r#"start: "<" (/a{0,50}/ | /(a|é){20,40}/) (">" | " ")+"#,
    r#"start: (/a{1,33}/ " ")+ ">""#,
    r#"start: "<" T+
T: (/([aé]+ +){0,9}[aé]+/ & /[^>]{0,48}/) ">""#,
    r#"start: (T | "<")+
T: (/(a|é| a)+/ & /[^"]{0,12}/) "\"""#,
    r#"start: "<" (T " "?)+
T: (/(([aé]+ ){0,3}[aé]+ ){1,2} a/ & /[^>]{0,33}/) ">""#,
    r#"start: "<" T+
T: (/(é|aé|a>?)*/ & /.{0,9}/) ">""#,
    r#"start: "<" T (">" | " ")
T: (/a*(é| )a{3,20}|a{0,5}/ & /[^"]{0,35}/) "\"""#,
    r#"start: "<" T+
T: (/[aé]>[aé ]*|[aé ]+/ & /[^>]{0,12}/) ">""#,
    // What comes behind a run differs, begins as the run goes on, or stands beside it.
    r#"start: "<" (/[^>"]{1,20}>/ | /[^>"]{1,20}"/)+"#,
    r#"start: (/[a ]{0,20} a/ | /[aé]{3,7}>/)+"#,
    r#"start: "<" (/([a ]{0,9}>|é{2,5}"|a>")/)+"#,
    r#"start: "<" /([^"]|"a){0,12}">/"#,
    r#"start: "<" /(a[é ]|é){0,12}>/ " ""#,
    r#"start: "<" /(a|aé){0,12}>/ " ""#,
    r#"start: "<" /[^>]{2,}>/ | "<" /[^"]*"/ "a""#,
    // One lexeme takes whole slices, the other one does not; it can end there, or cannot.
    r#"start: (A ">" | B "<")+
A: /[^"]*aaa[^"]*"/
B: /[^"]*"/ & ~/[^"]*aaa[^"]*"/"#,
    r#"start: (A | B " ")+
A: /[^"]*"/
B: /a[^"é]{0,20}"/ & ~/[^"]* [^"]*"/"#,
    r#"start: (/[^"]*"/ ">" | /a{0,9}é?>/ "<")+"#,
    r#"start: (/[^"]*"/ ">" | /(a|é){0,9}("|é)/ "<")+"#,
];

/// Tokens of many lengths, in all slices and none.
fn vocab() -> Vocab {
    let mut texts: Vec<Vec<u8>> =
        ["<", ">", "a", "é", " ", "  ", "a a", "aé a ", "a>", " >", "\"", "a\"", "a>a", ">é ", "é\" a", "\"<"]
            .iter()
            .map(|text| text.as_bytes().to_vec())
            .collect();
    texts.extend([2, 5, 9, 12, 20, 29, 31, 33, 40].map(|len| b"a".repeat(len)));
    texts.extend([4, 8, 16].map(|len| "é".repeat(len).into_bytes()));
    texts.extend([4, 12, 18].map(|len| "a ".repeat(len).into_bytes()));
    texts.extend([vec![0xC3], vec![0xA9], vec![0xA9, b'a'], [&b"a".repeat(35)[..], b">"].concat()]);
    let mut tokens: Vec<Token> = texts.into_iter().map(Token::Bytes).collect();
    tokens.push(Token::Special("<|eos|>".into()));
    let eos = vec![tokens.len() as u32 - 1];
    Vocab { tokens, eos }
}

#[test]
fn masks_around_bounds_are_the_oracles() {
    let vocab = vocab();
    for text in GRAMMARS {
        let checked = linked(text, LexerMode::Exact).and_then(|linked| check(&linked, &vocab, (12, 24)));
        checked.unwrap_or_else(|error| panic!("{text}: {error:#}"));
    }
}
