//! Strings as JSON writes them: from a language of decoded characters to the language of its spellings.
//!
//! The spellings of a text are the inverse image of the decoding, which is a homomorphism on spelled characters. An
//! inverse image commutes with every Boolean operation, so that each class of characters is replaced by the spellings
//! of its characters, and `~X` by `~X'` within all spellings. In the generator's profile a character has one spelling:
//! itself, or `\"`, `\\`, `\b \f \n \r \t`, and `\u00XX` for the other control characters (the digits in either case).

use larkspur_grammar::{CharClass, RegexId, RegexNode, RegexSet};
use rustc_hash::FxHashMap;

/// Control characters with an escape of their own, and its letter.
const SHORT: [(u32, u8); 7] = [(8, b'b'), (9, b't'), (10, b'n'), (12, b'f'), (13, b'r'), (0x22, b'"'), (0x5C, b'\\')];

/// Translates char-level regexes of one [`RegexSet`].
#[derive(Debug, Default)]
pub(crate) struct Quoting {
    memo: FxHashMap<RegexId, RegexId>,
}

impl Quoting {
    /// The texts of `regex` as JSON strings, quotes included.
    pub fn string(&mut self, set: &mut RegexSet, regex: RegexId) -> RegexId {
        let inner = self.contents(set, regex);
        let quote = set.literal(b"\"");
        set.concat(&[quote, inner, quote])
    }

    /// The same without quotes. `regex` is of characters: it has no byte sets, no numbers.
    fn contents(&mut self, set: &mut RegexSet, regex: RegexId) -> RegexId {
        let mut stack = vec![regex];
        while let Some(&top) = stack.last() {
            if self.memo.contains_key(&top) {
                stack.pop();
                continue;
            }
            let node = set.node(top).clone();
            let before = stack.len();
            stack.extend(node.children().iter().copied().filter(|child| !self.memo.contains_key(child)));
            if stack.len() > before {
                continue;
            }
            let quoted = self.node(set, top, &node);
            self.memo.insert(top, quoted);
            stack.pop();
        }
        self.memo[&regex]
    }

    /// A node whose children are known.
    fn node(&mut self, set: &mut RegexSet, id: RegexId, node: &RegexNode) -> RegexId {
        let children: Vec<RegexId> = node.children().iter().map(|child| self.memo[child]).collect();
        match node {
            RegexNode::Literal(bytes) => literal(set, bytes),
            RegexNode::Class(class) => spelled_class(set, class),
            RegexNode::Concat(_) => set.concat(&children),
            RegexNode::Or(_) => set.or(&children),
            RegexNode::And(_) => set.and(&children),
            RegexNode::Not(_) => {
                let any = spelled_class(set, &CharClass::all());
                let all = set.repeat(any, 0, None);
                let not = set.not(children[0]);
                set.and(&[not, all])
            }
            RegexNode::Repeat(_, min, max) => set.repeat(children[0], *min, *max),
            RegexNode::Shortest(_) => set.shortest(children[0]),
            RegexNode::Nothing => id,
            RegexNode::Bytes(bytes) => {
                let ascii = bytes.iter().filter(u8::is_ascii).map(|byte| (u32::from(byte), u32::from(byte)));
                spelled_class(set, &CharClass::from_ranges(ascii))
            }
            RegexNode::MultipleOf { .. } => unreachable!("languages of strings are made of characters"),
        }
    }
}

/// The text as the contents of a JSON string, in the spelling that is preferred: for names in messages and literals.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match SHORT.iter().find(|(code, _)| *code == c as u32) {
            Some(&(_, letter)) => out.extend(['\\', letter as char]),
            None if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            None => out.push(c),
        }
    }
    out.push('"');
    out
}

fn literal(set: &mut RegexSet, bytes: &[u8]) -> RegexId {
    if bytes.iter().all(|&b| b >= 0x20 && b != b'"' && b != b'\\') {
        return set.literal(bytes);
    }
    let mut parts = Vec::new();
    for run in bytes.chunk_by(|&a, &b| is_plain(a) && is_plain(b)) {
        parts.push(match run {
            &[byte] if !is_plain(byte) => spelled_class(set, &CharClass::single(byte as char)),
            _ => set.literal(run),
        });
    }
    set.concat(&parts)
}

fn is_plain(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\'
}

/// The spellings of the characters of a class.
fn spelled_class(set: &mut RegexSet, class: &CharClass) -> RegexId {
    let raw = class.intersect(&CharClass::from_ranges([(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)]));
    let mut ways = vec![set.class(raw)];
    let has = |code: u32| char::from_u32(code).is_some_and(|c| class.contains(c));
    let single = |byte: u8| (u32::from(byte), u32::from(byte));
    let short: Vec<(u32, u32)> =
        SHORT.iter().filter(|(code, _)| has(*code)).map(|&(_, letter)| single(letter)).collect();
    if !short.is_empty() {
        let backslash = set.literal(b"\\");
        let letters = set.class(CharClass::from_ranges(short));
        ways.push(set.concat(&[backslash, letters]));
    }
    for high in 0..2u32 {
        let lows = (0..16).filter(|low| has(high * 16 + low) && SHORT.iter().all(|(code, _)| *code != high * 16 + low));
        let digits: Vec<(u32, u32)> = lows
            .flat_map(|low| {
                let digit = char::from_digit(low, 16).expect("a hexadecimal digit");
                [single(digit as u8), single(digit.to_ascii_uppercase() as u8)]
            })
            .collect();
        if !digits.is_empty() {
            let start = set.literal(if high == 0 { b"\\u000" } else { b"\\u001" });
            let digits = set.class(CharClass::from_ranges(digits));
            ways.push(set.concat(&[start, digits]));
        }
    }
    set.or(&ways)
}
