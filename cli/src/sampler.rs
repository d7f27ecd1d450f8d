//! Random sentences: tokens drawn from masks, and a way out before the budget ends.
//!
//! A draw first chooses a class of tokens (words, digits, punctuation, …) and then a token of it, common ones (of low
//! id) more often; over all tokens alike, most would be rare words of many scripts. From some length on, a search by
//! single bytes looks for a short way to the end of the sentence, and the sentence follows it. Where the budget ends first,
//! the search has no bound but [`WAY_LEN_MAX`], and one level by level follows if it fails.

use std::collections::HashMap;

use anyhow::Result;
use larkspur::grammar::RegexNode;
use larkspur::{ByteSet, LinkedGrammar, Matcher, TokenId, TokenMask, Vocabulary};

/// Attempts to find a way to the end, the first without chance.
const ROLLOUTS: usize = 4;

/// A way of this many steps is short enough.
const WAY_LEN_SHORT: usize = 8;

/// Steps of a way to the end beyond the budget.
const WAY_LEN_MAX: usize = 1_000;

/// Places looked at in the search that knows no likely steps.
const SEARCH_PLACES_MAX: usize = 4_000;

/// Of places that look alike, so many are looked at in that search: they may differ in how much is open.
const SEARCH_ALIKE_MAX: u32 = 16;

/// Added to a token's id before its weight is 1 / id: the first few hundred are about equally common.
const RANK_OFFSET: f64 = 500.0;

/// Lengths count up to here in a token's weight.
const WEIGHT_LEN_MAX: usize = 6;

/// The SplitMix64 generator: S. Vigna, public domain reference of 2015.
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// At least 0, below 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// What a token, or a byte, begins with after one blank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Class {
    Letter,
    Digit,
    /// Quotes, closing brackets and the like.
    Closer,
    Punctuation,
    Blank,
    Control,
    Other,
    /// The beginning of a comment in most languages, which would fill the sentence.
    Comment,
    Special,
}

/// How often each class is chosen where all are there. Indexed by class.
const CLASS_WEIGHTS: [f64; 9] = [10.0, 3.0, 2.0, 4.0, 0.3, 0.2, 0.1, 0.01, 3.0];

/// The same in free text, such as the inside of a string.
const FREE_CLASS_WEIGHTS: [f64; 9] = [10.0, 0.5, 0.1, 0.5, 0.0, 0.0, 0.05, 0.0, 1.0];

/// Of the bytes at least this many can follow in free text.
const FREE_BYTES_MIN: u32 = 128;

/// What a class keeps of its weight right after a token of it.
const TIRED: f64 = 0.25;

/// In free text a word after a blank is this much more frequent than one without.
const BLANK_BEFORE: f64 = 8.0;

/// Strings of the grammar that are tried.
const STRINGS_MAX: usize = 64;

/// Draws tokens for one vocabulary.
#[derive(Debug)]
pub(crate) struct Sampler<'a> {
    vocabulary: &'a Vocabulary,
    /// Class of each token. Indexed by token.
    classes: Vec<Class>,
    /// Strings that the grammar holds, short ones first: one of them may end free text, or the sentence.
    strings: Vec<Box<[u8]>>,
    random: Random,
    /// Class of the token drawn last.
    last: Option<Class>,
}

/// What is known of the place at which a token is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Here {
    /// The text may end here.
    pub is_accepting: bool,
    /// What follows is free text.
    pub is_free: bool,
}

/// A step of a way to the end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    Byte(u8),
    Token(TokenId),
}

impl<'a> Sampler<'a> {
    pub fn new(vocabulary: &'a Vocabulary, grammar: &LinkedGrammar, seed: u64) -> Self {
        let classes = (0..vocabulary.len() as TokenId).map(|id| class_of_token(vocabulary, id)).collect();
        let mut strings: Vec<Box<[u8]>> = [b"\"".as_slice(), b"'", b"\n", b"*/", b"-->"].map(Box::from).into();
        for (_, node) in grammar.grammars.iter().flat_map(|grammar| grammar.regexes.iter()) {
            if let RegexNode::Literal(bytes) = node
                && !bytes.is_empty()
            {
                strings.push(bytes[..].into());
            }
        }
        strings.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        strings.dedup();
        strings.truncate(STRINGS_MAX);
        Self { vocabulary, classes, strings, random: Random::new(seed), last: None }
    }

    /// Whether a token is nothing but white space.
    pub fn is_blank(&self, token: TokenId) -> bool {
        self.vocabulary.token_bytes(token).is_some_and(|bytes| bytes.iter().all(u8::is_ascii_whitespace))
    }

    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }

    /// Whether what follows is free text: nearly any byte.
    pub fn is_free(&self, matcher: &Matcher) -> Result<bool> {
        Ok(matcher.allowed_bytes()?.len() >= FREE_BYTES_MIN)
    }

    /// Draws an allowed token that does not end the text; `None` if there is none. `haste`, from 0 to 1, prefers
    /// what closes something.
    pub fn draw(&mut self, mask: &TokenMask, here: Here, haste: f64) -> Option<TokenId> {
        let Here { is_accepting, is_free } = here;
        let eos = self.vocabulary.eos();
        let candidates = || mask.iter().filter(|id| !is_accepting || !eos.contains(id));
        let mut weights = if is_free { FREE_CLASS_WEIGHTS } else { CLASS_WEIGHTS };
        weights[Class::Closer as usize] *= 1.0 + 4.0 * haste;
        if let Some(last) = self.last.filter(|_| !is_free) {
            weights[last as usize] *= TIRED;
        }
        let mut is_there = [false; CLASS_WEIGHTS.len()];
        for id in candidates() {
            is_there[self.classes[id as usize] as usize] = true;
        }
        let classes = weights.iter().zip(is_there).enumerate();
        // A class that is never chosen of itself is taken where there is no other.
        let classes = classes.map(|(class, (weight, is_there))| (class, if is_there { weight + 1e-9 } else { 0.0 }));
        let class = pick(&mut self.random, classes)?;
        let in_class = candidates().filter(|&id| self.classes[id as usize] as usize == class);
        let mut random = self.random.clone();
        let token = pick(&mut random, in_class.map(|id| (id, self.weight(id, is_free))));
        self.random = random;
        self.last = token.map(|token| self.classes[token as usize]);
        token
    }

    fn weight(&self, id: TokenId, is_free: bool) -> f64 {
        let bytes = self.vocabulary.token_bytes(id).unwrap_or_default();
        let is_word = is_free && matches!(bytes, [b' ', byte, ..] if byte.is_ascii_alphabetic());
        let len = bytes.len().clamp(1, WEIGHT_LEN_MAX) as f64;
        len * if is_word { BLANK_BEFORE } else { 1.0 } / (f64::from(id) + RANK_OFFSET)
    }

    /// Text that ends the free text here, if one of the grammar's strings does.
    pub fn end_of_free(&self, matcher: &Matcher) -> Result<Option<&[u8]>> {
        for end in &self.strings {
            let mut after = matcher.fork();
            if after.consume_bytes(end).is_ok() && !self.is_free(&after)? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// A way of at most `len_max` steps from here to where the text may end, if one is found. `has_tokens`: the grammar
    /// names tokens.
    pub fn way_out(&mut self, matcher: &Matcher, len_max: usize, has_tokens: bool) -> Result<Option<Vec<Unit>>> {
        let mut best: Option<Vec<Unit>> = None;
        for attempt in 0..ROLLOUTS {
            let len_max = best.as_ref().map_or(len_max, |way| way.len() - 1);
            if let Some(way) = self.rollout(matcher.fork(), len_max, has_tokens, attempt as f64)? {
                let is_short = way.len() <= WAY_LEN_SHORT;
                best = Some(way);
                if is_short {
                    break;
                }
            }
        }
        Ok(best)
    }

    /// A way from here to where the text may end, for a sentence that must end now: the shortest that likely steps lead
    /// to, or else the first that a search level by level finds.
    pub fn short_way(&mut self, matcher: &Matcher, has_tokens: bool) -> Result<Option<Vec<Unit>>> {
        match self.way_out(matcher, WAY_LEN_MAX, has_tokens)? {
            Some(way) => Ok(Some(way)),
            None => self.search(matcher, has_tokens),
        }
    }

    /// Breadth first, over one byte of each kind, the grammar's strings and special tokens.
    fn search(&mut self, matcher: &Matcher, has_tokens: bool) -> Result<Option<Vec<Unit>>> {
        let mut places: Vec<Place> = vec![Place { before: 0, step: vec![], matcher: matcher.fork() }];
        let mut seen: HashMap<Look, u32> = HashMap::new();
        let mut next = 0;
        while next < places.len() {
            let mut found = None;
            for (step, after) in self.next_places(&places[next].matcher, has_tokens)? {
                let is_end = after.is_accepting()?;
                let look = Look { allowed: after.allowed_bytes()?, expected: after.expected()? };
                let alike = seen.entry(look).or_default();
                *alike += 1;
                if is_end || *alike <= SEARCH_ALIKE_MAX && places.len() < SEARCH_PLACES_MAX {
                    places.push(Place { before: next, step, matcher: after });
                }
                if is_end {
                    found = Some(places.len() - 1);
                    break;
                }
            }
            if let Some(mut at) = found {
                let mut steps = Vec::new();
                while at != 0 {
                    steps.push(std::mem::take(&mut places[at].step));
                    at = places[at].before;
                }
                return Ok(Some(steps.into_iter().rev().flatten().collect()));
            }
            next += 1;
        }
        Ok(None)
    }

    fn next_places(&mut self, matcher: &Matcher, has_tokens: bool) -> Result<Vec<(Vec<Unit>, Matcher)>> {
        let mut next = Vec::new();
        for text in self.steps(&matcher.allowed_bytes()?) {
            let mut after = matcher.fork();
            if after.consume_bytes(&text).is_ok() {
                next.push((text.iter().map(|&byte| Unit::Byte(byte)).collect(), after));
            }
        }
        if has_tokens && let Some(token) = self.allowed_special(matcher)? {
            let mut after = matcher.fork();
            after.consume_token(token)?;
            next.push((vec![Unit::Token(token)], after));
        }
        Ok(next)
    }

    fn rollout(
        &mut self,
        mut matcher: Matcher,
        len_max: usize,
        has_tokens: bool,
        chance: f64,
    ) -> Result<Option<Vec<Unit>>> {
        let mut way = Vec::new();
        let mut seen: HashMap<Look, u32> = HashMap::new();
        while !matcher.is_accepting()? {
            if way.len() >= len_max {
                return Ok(None);
            }
            if has_tokens && let Some(token) = self.allowed_special(&matcher)? {
                matcher.consume_token(token)?;
                way.push(Unit::Token(token));
                continue;
            }
            let Some((text, after, look)) = self.best_step(&matcher, &seen, chance)? else { return Ok(None) };
            *seen.entry(look).or_default() += 1;
            way.extend(text.iter().map(|&byte| Unit::Byte(byte)));
            matcher = after;
        }
        Ok(Some(way))
    }

    /// The step that most likely leads to the end: one that closes something, is short, or leads to a place that looks
    /// unlike those before.
    fn best_step(&mut self, matcher: &Matcher, seen: &HashMap<Look, u32>, chance: f64) -> Result<Option<Step>> {
        let mut best: Option<(f64, Step)> = None;
        for text in self.steps(&matcher.allowed_bytes()?) {
            let mut after = matcher.fork();
            if after.consume_bytes(&text).is_err() {
                continue;
            }
            let look = Look { allowed: after.allowed_bytes()?, expected: after.expected()? };
            if after.is_accepting()? {
                return Ok(Some((text, after, look)));
            }
            let times = f64::from(seen.get(&look).copied().unwrap_or_default());
            let (rank, tired) = rank(&text);
            let score = rank + tired * times + chance * self.random.unit();
            if best.as_ref().is_none_or(|(least, _)| score < *least) {
                best = Some((score, (text, after, look)));
            }
        }
        Ok(best.map(|(_, step)| step))
    }

    /// What may be tried next: one letter, one digit and so on for all of their kind, and strings of the grammar.
    fn steps(&mut self, allowed: &ByteSet) -> Vec<Box<[u8]>> {
        let mut steps: Vec<Box<[u8]>> = Vec::new();
        for is_kind in [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit] {
            let kind: Vec<u8> = allowed.iter().filter(is_kind).collect();
            if !kind.is_empty() {
                steps.push([kind[(self.random.next() % kind.len() as u64) as usize]].into());
            }
        }
        steps.extend(allowed.iter().find(|byte| !byte.is_ascii()).map(|byte| [byte].into()));
        let others = allowed.iter().filter(|byte| byte.is_ascii() && !byte.is_ascii_alphanumeric());
        steps.extend(others.map(|byte| Box::from([byte])));
        steps.extend(self.strings.iter().filter(|string| string.len() > 1 && allowed.contains(string[0])).cloned());
        steps
    }

    fn allowed_special(&self, matcher: &Matcher) -> Result<Option<TokenId>> {
        for (id, _) in self.vocabulary.specials() {
            if matcher.is_allowed(id)? {
                return Ok(Some(id));
            }
        }
        Ok(None)
    }
}

/// A place of the search: the one before it, the step from there, and the matcher.
struct Place {
    before: usize,
    step: Vec<Unit>,
    matcher: Matcher,
}

/// A text, the matcher after it, and how the place looks.
type Step = (Box<[u8]>, Matcher, Look);

/// What can be seen of a place from outside.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Look {
    allowed: ByteSet,
    expected: Vec<String>,
}

/// How far from the end a step is likely to lead, and how much more so each time that it leads to the same look.
fn rank(text: &[u8]) -> (f64, f64) {
    match text {
        [b')' | b']' | b'}' | b'>'] => (0.0, 0.5),
        [b'"' | b'\''] => (1.0, 2.0),
        [b'0'..=b'9'] => (2.0, 2.0),
        [b'a'..=b'z' | b'A'..=b'Z'] => (3.0, 2.0),
        [b';' | b'.' | b'/' | b'@' | b':' | b'='] => (4.0, 2.0),
        [b'\n'] => (4.0, 1.0),
        [b' ' | b'\t' | b'\r'] => (6.0, 3.0),
        [0x80..=0xff] => (9.0, 3.0),
        [_] => (5.0, 2.0),
        _ => (3.5, 1.5),
    }
}

/// One of the items, by their weights.
fn pick<T: Copy>(random: &mut Random, items: impl Iterator<Item = (T, f64)>) -> Option<T> {
    // One pass: the item at hand takes the place of the chosen one with its share of the weight so far.
    let mut total = 0.0;
    let mut chosen = None;
    for (item, weight) in items.filter(|(_, weight)| *weight > 0.0) {
        total += weight;
        if random.unit() * total < weight {
            chosen = Some(item);
        }
    }
    chosen
}

fn class_of_token(vocabulary: &Vocabulary, id: TokenId) -> Class {
    let Some(bytes) = vocabulary.token_bytes(id) else { return Class::Special };
    let word = bytes.strip_prefix(b" ").unwrap_or(bytes);
    if [b"//", b"/*", b"--", b"##"].iter().any(|start| word.starts_with(*start)) {
        return Class::Comment;
    }
    if !bytes.is_ascii() {
        return Class::Other;
    }
    word.first().map_or(Class::Blank, |&byte| class_of_byte(byte))
}

fn class_of_byte(byte: u8) -> Class {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        b'0'..=b'9' => Class::Digit,
        b' ' => Class::Blank,
        b'"' | b'\'' | b')' | b']' | b'}' | b'>' | b';' => Class::Closer,
        0..=0x1f | 0x7f => Class::Control,
        0x80.. => Class::Other,
        _ => Class::Punctuation,
    }
}
