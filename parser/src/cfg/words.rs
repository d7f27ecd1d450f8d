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
