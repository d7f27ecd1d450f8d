//! Regexes that are a list of texts, as the words of an `enum` between quotes are: their lexemes are stepped as a trie, without
//! derivatives, and their masks need no lexer states.

use std::borrow::Cow;

use larkspur_grammar::{RegexId, RegexNode, RegexSet};

type Words<'a> = Vec<Cow<'a, [u8]>>;

/// Alternatives within sequences within alternatives, so deep at most.
const DEPTH_MAX: u32 = 8;

/// Bytes of texts that stand in no literal as a whole.
const COPIED_MAX: usize = 1 << 23;

/// The texts of a regex of literals, alternatives of these, and literals before and behind such; `None` of any other, and of one
/// with an empty text.
///
/// Cost: linear in the texts.
pub(super) fn words(regexes: &RegexSet, regex: RegexId) -> Option<Words<'_>> {
    let mut room = COPIED_MAX;
    let words = words_within(regexes, regex, &mut room, DEPTH_MAX)?;
    words.iter().all(|word| !word.is_empty()).then_some(words)
}

fn words_within<'a>(regexes: &'a RegexSet, regex: RegexId, room: &mut usize, depth: u32) -> Option<Words<'a>> {
    let depth = depth.checked_sub(1)?;
    match regexes.node(regex) {
        RegexNode::Literal(text) => Some(vec![Cow::Borrowed(text)]),
        RegexNode::Or(parts) => {
            let mut words = Words::with_capacity(parts.len());
            for &part in parts.iter() {
                match regexes.node(part) {
                    RegexNode::Literal(text) => words.push(Cow::Borrowed(text)),
                    _ => words.append(&mut words_within(regexes, part, room, depth)?),
                }
            }
            Some(words)
        }
        RegexNode::Concat(parts) => {
            let may_be_words = |part: &RegexId| {
                matches!(regexes.node(*part), RegexNode::Literal(_) | RegexNode::Or(_) | RegexNode::Concat(_))
            };
            if !parts.iter().all(may_be_words) {
                return None;
            }
            let mut all: Words<'a> = vec![Cow::Borrowed(&[])];
            for &part in parts.iter() {
                if let RegexNode::Literal(text) = regexes.node(part) {
                    *room = room.checked_sub(all.iter().map(|word| word.len() + text.len()).sum())?;
                    for word in &mut all {
                        *word =
                            if word.is_empty() { Cow::Borrowed(text) } else { Cow::Owned([word, &text[..]].concat()) };
                    }
                    continue;
                }
                let next = words_within(regexes, part, room, depth)?;
                // With several ways in two parts, the texts would be more than the regex is long.
                if all.len() > 1 && next.len() > 1 {
                    return None;
                }
                let pairs = || all.iter().flat_map(|word| next.iter().map(move |next| (word, next)));
                *room = room.checked_sub(pairs().map(|(word, next)| word.len() + next.len()).sum())?;
                all = pairs().map(|(word, next)| Cow::Owned([&**word, &**next].concat())).collect();
            }
            Some(all)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(regexes: &RegexSet, regex: RegexId) -> Option<Vec<String>> {
        let mut texts: Vec<String> =
            words(regexes, regex)?.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
        texts.sort();
        Some(texts)
    }

    #[test]
    fn words_are_literals_with_literals_around_them() {
        let set = &mut RegexSet::new();
        let [quote, a, ab, null, empty] = ["\"", "a", "ab", "null", ""].map(|text| set.literal(text.as_bytes()));
        let either = set.or(&[a, ab, empty]);
        let quoted = set.concat(&[quote, either, quote]);
        let all = set.or(&[quoted, null]);
        assert_eq!(texts(set, all).expect("words"), ["\"\"", "\"a\"", "\"ab\"", "null"]);
        assert_eq!(texts(set, either), None, "one of them is empty");
        let twice = set.concat(&[quoted, either]);
        assert_eq!(texts(set, twice), None, "nine texts of a regex of three");
        let any = set.any_char();
        let behind = set.concat(&[a, any]);
        assert_eq!(texts(set, behind), None, "not a list of texts");
    }

    #[test]
    fn long_and_deep_regexes_are_no_words() {
        let set = &mut RegexSet::new();
        let long = set.literal(&vec![b'x'; COPIED_MAX / 8]);
        let letters: Vec<RegexId> = (b'a'..=b'z').map(|letter| set.literal(&[letter])).collect();
        let letter = set.or(&letters);
        let many = set.concat(&[letter, long]);
        assert!(words(set, many).is_none());
        let mut deep = letter;
        for _ in 0..DEPTH_MAX {
            let behind = set.concat(&[letters[0], deep, letters[1]]);
            deep = set.or(&[behind, letters[2]]);
        }
        assert!(words(set, deep).is_none());
    }
}
