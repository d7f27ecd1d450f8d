//! Strings as JSON writes them: from a language of decoded characters to the language of its spellings.
//!
//! The spellings of a text are the inverse image of the decoding, which is a homomorphism on spelled characters. An
//! inverse image commutes with every Boolean operation, so that each class of characters is replaced by the spellings
//! of its characters, and `~X` by `~X'` within all spellings. Patterns, lengths, formats, constants and names thus hold
//! for the decoded text, however it is written.
//!
//! A surrogate that is not half of a pair is no character (`"\ud800"`), so that no string has one. The escapes of a
//! class are a trie over hexadecimal digits whose equal tails are shared.

use compact_str::CompactString;
use larkspur_grammar::index::IdMap;
use larkspur_grammar::{ByteSet, CharClass, Parts, RegexId, RegexNode, RegexSet, Text};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use crate::spelling::StringEscapes;

/// Characters with an escape of their own, and its letter.
const SHORT: [(u32, u8); 8] =
    [(8, b'b'), (9, b't'), (10, b'n'), (12, b'f'), (13, b'r'), (0x22, b'"'), (0x2F, b'/'), (0x5C, b'\\')];

/// Where the slash is in [`SHORT`].
const SLASH: usize = 6;

/// Characters that may be written as themselves.
const RAW: [(u32, u32); 3] = [(0x20, 0x21), (0x23, 0x5B), (0x5D, 0x10FFFF)];
const CONTROLS: (u32, u32) = (0, 0x1F);
const CONTROLS_WITHOUT_SHORT: [(u32, u32); 3] = [(0, 7), (11, 11), (14, 0x1F)];

/// Which characters are written as `\uXXXX`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
enum Unicode {
    /// Those without any other text.
    Needed,
    Controls,
    All,
}

/// Which escapes are written, besides those of characters that have no other text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Escapes {
    /// One bit for each of [`SHORT`].
    short: u8,
    unicode: Unicode,
}

impl Escapes {
    pub fn new(escapes: &StringEscapes) -> Self {
        // All but `\/`.
        let usual = SHORT.iter().enumerate().filter(|(_, short)| short.1 != b'/').map(|(bit, _)| 1 << bit).sum();
        match escapes {
            StringEscapes::Minimal => Self { short: usual, unicode: Unicode::Needed },
            StringEscapes::Any => Self { short: u8::MAX, unicode: Unicode::All },
            StringEscapes::Chosen { letters, unicode } => {
                let chosen = SHORT.iter().enumerate().filter(|(_, short)| letters.contains(char::from(short.1)));
                let unicode = match (letters.contains('u'), unicode) {
                    (true, true) => Unicode::All,
                    (true, false) => Unicode::Controls,
                    (false, _) => Unicode::Needed,
                };
                Self { short: chosen.map(|(bit, _)| 1 << bit).sum(), unicode }
            }
        }
    }
    /// Characters that have a short escape, with its letter.
    fn short(self) -> impl Iterator<Item = (u32, u8)> {
        SHORT.into_iter().enumerate().filter(move |(bit, _)| self.short >> bit & 1 == 1).map(|(_, short)| short)
    }
    /// The letter of a character that would have no text without it.
    fn needed(self, code: u32) -> Option<u8> {
        let has_other = self.unicode != Unicode::Needed && code < 0x20 || self.unicode == Unicode::All;
        SHORT.iter().find(|short| short.0 == code && code != 0x2F && !has_other).map(|short| short.1)
    }
    /// Whether a character can be written as itself only.
    fn is_plain(self, byte: u8) -> bool {
        // Of the short escapes all others are of these.
        let is_special = byte < 0x20 || byte == b'"' || byte == b'\\' || byte == b'/' && self.escapes_slash();
        self.unicode != Unicode::All && !is_special
    }
    fn escapes_slash(self) -> bool {
        self.short >> SLASH & 1 == 1
    }
}

/// Translates char-level regexes of one [`RegexSet`].
#[derive(Clone, Debug)]
pub(crate) struct Quoting {
    escapes: Escapes,
    /// What of the table is translated.
    memo: IdMap<RegexId, RegexId>,
    characters: FxHashMap<char, RegexId>,
}

impl Quoting {
    pub fn new(escapes: Escapes) -> Self {
        Self { escapes, memo: IdMap::new(), characters: FxHashMap::default() }
    }

    /// The texts of `regex` as JSON strings, quotes included.
    pub fn string(&mut self, set: &mut RegexSet, regex: RegexId) -> RegexId {
        if let RegexNode::Literal(bytes) = set.node(regex)
            && bytes.iter().all(|&byte| self.escapes.is_plain(byte))
        {
            let mut text: SmallVec<[u8; 64]> = SmallVec::with_capacity(bytes.len() + 2);
            text.push(b'"');
            text.extend_from_slice(bytes);
            text.push(b'"');
            return set.literal(&text);
        }
        let inner = self.contents(set, regex);
        let quote = set.literal(b"\"");
        set.concat(&[quote, inner, quote])
    }

    /// The same without quotes. `regex` is of characters: it has no byte sets but ASCII ones, no numbers.
    fn contents(&mut self, set: &mut RegexSet, regex: RegexId) -> RegexId {
        let mut stack: SmallVec<[RegexId; 16]> = SmallVec::from_slice(&[regex]);
        while let Some(&top) = stack.last() {
            if self.memo.contains(top) {
                stack.pop();
                continue;
            }
            let node = set.node(top).clone();
            let before = stack.len();
            // Literals among alternatives are translated together.
            let is_or = matches!(node, RegexNode::Or(_));
            let is_done = |child: &RegexId| {
                self.memo.contains(*child) || is_or && matches!(set.node(*child), RegexNode::Literal(_))
            };
            stack.extend(node.children().iter().copied().filter(|child| !is_done(child)));
            if stack.len() > before {
                continue;
            }
            let quoted = self.node(set, top, &node);
            self.memo.insert(top, quoted);
            stack.pop();
        }
        self.known(regex)
    }

    fn known(&self, id: RegexId) -> RegexId {
        *self.memo.get(id).expect("it is translated")
    }

    /// A node whose children are known.
    fn node(&mut self, set: &mut RegexSet, id: RegexId, node: &RegexNode) -> RegexId {
        let of = |child: &RegexId| self.known(*child);
        match node {
            RegexNode::Literal(bytes) => self.literal(set, bytes),
            RegexNode::Class(class) => spelled_class(set, class, self.escapes),
            RegexNode::Concat(parts) => {
                let parts: Parts = parts.iter().map(of).collect();
                set.concat(&parts)
            }
            RegexNode::Or(parts) => self.alternatives(set, parts),
            RegexNode::And(parts) => {
                let parts: Parts = parts.iter().map(of).collect();
                set.and(&parts)
            }
            RegexNode::Not(child) => {
                let not = of(child);
                let not = set.not(not);
                let any = self.any(set);
                set.and(&[not, any])
            }
            RegexNode::Repeat(child, min, max) => set.repeat(of(child), *min, *max),
            RegexNode::Shortest(child) => set.shortest(of(child)),
            RegexNode::Nothing => id,
            RegexNode::Bytes(bytes) => {
                let ascii = bytes.iter().filter(u8::is_ascii).map(|byte| (u32::from(byte), u32::from(byte)));
                spelled_class(set, &CharClass::from_ranges(ascii), self.escapes)
            }
            RegexNode::Dfa(dfa, letters) => {
                let letters: Vec<RegexId> = letters.iter().map(of).collect();
                set.dfa(dfa, &letters)
            }
            RegexNode::MultipleOf { .. } | RegexNode::Values { .. } => {
                unreachable!("languages of strings are made of characters")
            }
        }
    }

    /// All spellings of all texts.
    fn any(&mut self, set: &mut RegexSet) -> RegexId {
        let any = set.any_char();
        let escapes = self.escapes;
        let any = *self.memo.get_or_insert_with(any, || spelled_class(set, &CharClass::all(), escapes));
        set.repeat(any, 0, None)
    }

    fn literal(&mut self, set: &mut RegexSet, bytes: &[u8]) -> RegexId {
        if bytes.iter().all(|&byte| self.escapes.is_plain(byte)) {
            return set.literal(bytes);
        }
        let text = std::str::from_utf8(bytes).expect("literals of strings are UTF-8");
        let parts: Vec<RegexId> = text.chars().map(|c| self.character(set, c)).collect();
        set.concat(&parts)
    }

    fn character(&mut self, set: &mut RegexSet, c: char) -> RegexId {
        let escapes = self.escapes;
        *self.characters.entry(c).or_insert_with(|| spelled_class(set, &CharClass::single(c), escapes))
    }

    /// Alternatives, of which literals that are not written as they are share their prefixes.
    fn alternatives(&mut self, set: &mut RegexSet, parts: &[RegexId]) -> RegexId {
        let mut ways: SmallVec<[RegexId; 16]> = SmallVec::new();
        let mut literals: Vec<Text> = Vec::new();
        for part in parts {
            match set.node(*part) {
                RegexNode::Literal(bytes) if bytes.iter().all(|&byte| self.escapes.is_plain(byte)) => ways.push(*part),
                RegexNode::Literal(bytes) => literals.push(bytes.clone()),
                _ => ways.push(self.known(*part)),
            }
        }
        if !literals.is_empty() {
            ways.push(self.trie(set, literals));
        }
        set.or(&ways)
    }

    /// Any of these texts, as a tree in which each edge has as many characters as can be.
    fn trie(&mut self, set: &mut RegexSet, mut texts: Vec<Text>) -> RegexId {
        texts.sort_unstable();
        let texts: Vec<&str> = texts.iter().map(|text| std::str::from_utf8(text).expect("UTF-8")).collect();
        let epsilon = set.epsilon();
        // Nodes on the way to the last text: depth in bytes, and what goes on from there.
        let mut path: Vec<(usize, Vec<RegexId>)> = vec![(0, Vec::new())];
        for (index, text) in texts.iter().enumerate() {
            match path.last_mut().filter(|top| top.0 == text.len()) {
                Some(top) => top.1.push(epsilon),
                None => path.push((text.len(), vec![epsilon])),
            }
            let shared = texts.get(index + 1).map_or(0, |next| common_prefix(text, next));
            while let Some((depth, ways)) = path.pop_if(|top| top.0 > shared) {
                let above = path.last().map_or(0, |top| top.0).max(shared);
                let mut edge: Vec<RegexId> = text[above..depth].chars().map(|c| self.character(set, c)).collect();
                edge.push(set.or(&ways));
                let edge = set.concat(&edge);
                match path.last_mut().filter(|top| top.0 == above) {
                    Some(top) => top.1.push(edge),
                    None => path.push((above, vec![edge])),
                }
            }
        }
        let (_, ways) = path.swap_remove(0);
        set.or(&ways)
    }
}

/// Bytes that two texts begin with alike, up to a character's boundary.
fn common_prefix(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
}

/// The text as the contents of a JSON string, in the spelling that is preferred: for names in messages and literals.
pub(crate) fn quoted(text: &str) -> CompactString {
    let mut out = CompactString::with_capacity(text.len() + 2);
    out.push('"');
    if text.bytes().all(|byte| byte >= 0x20 && byte != b'"' && byte != b'\\') {
        out.extend([text, "\""]);
        return out;
    }
    for c in text.chars() {
        match SHORT.iter().find(|(code, _)| *code == c as u32 && c != '/') {
            Some(&(_, letter)) => out.extend(['\\', letter as char]),
            None if (c as u32) < 0x20 => out.push_str(&format!("\\u{:04x}", c as u32)),
            None => out.push(c),
        }
    }
    out.push('"');
    out
}

/// The spellings of the characters of a class.
fn spelled_class(set: &mut RegexSet, class: &CharClass, escapes: Escapes) -> RegexId {
    let raw = class.within(&RAW);
    let mut ways = vec![set.class(raw)];
    let has = |code: u32| char::from_u32(code).is_some_and(|c| class.contains(c));
    let mut letters = ByteSet::EMPTY;
    escapes.short().filter(|(code, _)| has(*code)).for_each(|(_, letter)| letters.insert(letter));
    SHORT.iter().filter(|(code, _)| has(*code)).filter_map(|(code, _)| escapes.needed(*code)).for_each(|letter| {
        letters.insert(letter);
    });
    let backslash = set.literal(b"\\");
    let letters = set.bytes(letters);
    ways.push(set.concat(&[backslash, letters]));
    let escaped = match escapes.unicode {
        Unicode::All => class.clone(),
        Unicode::Controls => class.within(&[CONTROLS]),
        Unicode::Needed => class.within(&CONTROLS_WITHOUT_SHORT),
    };
    ways.push(unicode_escapes(set, &escaped));
    set.or(&ways)
}

/// A place of an escape: a digit, or bytes that stand there in any case.
#[derive(Clone, Copy)]
enum Place {
    /// Any hexadecimal digit.
    Hex,
    /// The second digit of a surrogate: 2 bits, from this digit up.
    Surrogate(u8),
    /// `\uD`, with `d` in either case.
    Lead,
}

impl Place {
    fn count(self) -> u32 {
        match self {
            Place::Hex => 16,
            Place::Surrogate(_) => 4,
            Place::Lead => 1,
        }
    }
}

const BASIC: [Place; 4] = [Place::Hex; 4];
const PAIR: [Place; 8] = [
    Place::Lead,
    Place::Surrogate(8),
    Place::Hex,
    Place::Hex,
    Place::Lead,
    Place::Surrogate(12),
    Place::Hex,
    Place::Hex,
];

/// All `\uXXXX` of a class, pairs of surrogates for what is beyond the first 65,536 characters.
fn unicode_escapes(set: &mut RegexSet, class: &CharClass) -> RegexId {
    let part = |low: u32, high: u32| -> Vec<(u32, u32)> {
        let cut = class.ranges().iter().filter(|range| range.0 <= high && range.1 >= low);
        cut.map(|range| (range.0.max(low) - low, range.1.min(high) - low)).collect()
    };
    let (basic, pairs) = (part(0, 0xFFFF), part(0x1_0000, 0x10_FFFF));
    let start = set.literal(b"\\u");
    let basic = places(set, &BASIC, &basic);
    let basic = set.concat(&[start, basic]);
    let pairs = places(set, &PAIR, &pairs);
    set.or(&[basic, pairs])
}

/// The numbers of the ranges, which are sorted, written at these places; at most eight places, which bounds the
/// recursion.
fn places(set: &mut RegexSet, at: &[Place], ranges: &[(u32, u32)]) -> RegexId {
    let Some((&first, rest)) = at.split_first() else {
        return if ranges.is_empty() { set.nothing() } else { set.epsilon() };
    };
    if ranges.is_empty() {
        return set.nothing();
    }
    let base = match first {
        Place::Hex => 0,
        Place::Surrogate(base) => base,
        Place::Lead => {
            let (start, d) = (set.literal(b"\\u"), digit_bytes(13));
            let (d, rest) = (set.bytes(d), places(set, rest, ranges));
            return set.concat(&[start, d, rest]);
        }
    };
    let step: u32 = rest.iter().map(|place| place.count()).product();
    if ranges == [(0, first.count() * step - 1)] {
        let bytes = (0..first.count()).fold(ByteSet::EMPTY, |all, digit| all.union(&digit_bytes(base + digit as u8)));
        let (bytes, rest) = (set.bytes(bytes), places(set, rest, &[(0, step - 1)]));
        return set.concat(&[bytes, rest]);
    }
    let mut by_tail: Vec<(RegexId, ByteSet)> = Vec::new();
    let mut next = 0;
    for digit in 0..first.count() {
        let (low, high) = (digit * step, (digit + 1) * step - 1);
        while ranges.get(next).is_some_and(|range| range.1 < low) {
            next += 1;
        }
        let inside = ranges[next..].iter().take_while(|range| range.0 <= high);
        let inside: Vec<(u32, u32)> = inside.map(|range| (range.0.max(low) - low, range.1.min(high) - low)).collect();
        let tail = places(set, rest, &inside);
        let bytes = digit_bytes(base + digit as u8);
        match by_tail.iter_mut().find(|(known, _)| *known == tail) {
            Some((_, set)) => *set = set.union(&bytes),
            None => by_tail.push((tail, bytes)),
        }
    }
    let mut ways = Vec::with_capacity(by_tail.len());
    for (tail, bytes) in by_tail {
        let bytes = set.bytes(bytes);
        ways.push(set.concat(&[bytes, tail]));
    }
    set.or(&ways)
}

/// A hexadecimal digit in either case.
fn digit_bytes(digit: u8) -> ByteSet {
    let mut bytes = ByteSet::EMPTY;
    let lower = b"0123456789abcdef"[usize::from(digit)];
    bytes.insert(lower);
    bytes.insert(lower.to_ascii_uppercase());
    bytes
}
