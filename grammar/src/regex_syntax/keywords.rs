//! Names that are no keyword: `(?!(?:if|else)\b)[a-z_]\w*`, as `[a-z_]\w*` without these words.
//!
//! What a look-ahead leaves open at a lexeme's end ([`follow`](super::follow)) is a terminal for each beginning of a keyword, each with
//! an automaton of all word characters. Of a lexeme that is taken whole ([`RegexOptions::whole`](super::RegexOptions::whole)) mostly
//! nothing is left open. Let `X` be the keywords, texts of bounded length, none of them empty; `w` the word characters of `\b`; `R` what
//! follows the look-ahead, without the empty text; and `c` characters any number of which may go on with each text of `R`, at least
//! until that is longer than all of `X`. The keywords are made of characters that are in `w` and in `c`.
//!
//! The look-ahead refuses a text `r` of `R` before `f` if a keyword begins `r f` behind which no `w` stands.
//!
//! - Where that is seen within `r`, `r` is in `X (¬w …)`. Where it depends on `f`, `r` begins a keyword, or is one.
//! - Such an `r` is made of `w`. With a character that is in `w` and in `c` behind it, and enough further ones, it is a text of `R` that is made
//!   of `w` and longer than all keywords, so that nothing refuses it. So the lexeme goes on with that character, and where it
//!   ends, `f` begins with none of these.
//! - So no longer keyword than `r` begins `r f`. If `r` is no keyword, everything may follow it; if it is one, a `w` must, which is none of
//!   `c`. If `w` is within `c`, there is none, and what is left is `R \ X (ε | ¬w …)`.

use super::ast::{Ast, AstId, Direction, Sign, Tree};
use super::look::Way;
use crate::index::IndexVec;
use crate::regex::{CharClass, RegexId, RegexNode, RegexSet};

/// What a look-ahead refuses: keywords before what is no word character.
pub(super) struct Keywords {
    words: RegexId,
    /// Bounds the length of a keyword in bytes, and so in characters.
    length: u64,
    /// What is a word character.
    word: CharClass,
}

impl Keywords {
    /// What a negative look-ahead looks for; `None` if that is something else. `plain` are the languages of nodes without assertions.
    pub fn read(tree: &Tree, child: AstId, set: &mut RegexSet, plain: &IndexVec<AstId, RegexId>) -> Option<Self> {
        let alternatives = match &tree.nodes[child] {
            Ast::Or(parts) => parts.as_ref(),
            _ => std::slice::from_ref(&child),
        };
        let mut words = Vec::with_capacity(alternatives.len());
        let mut boundary: Option<CharClass> = None;
        for &alternative in alternatives {
            let Ast::Concat(parts) = &tree.nodes[alternative] else { return None };
            let (&last, before) = parts.split_last()?;
            if before.iter().any(|&part| tree.infos[part].anchored) {
                return None;
            }
            let word = match &tree.nodes[last] {
                Ast::Boundary { negated: false, word, .. } => word,
                // What no word character follows.
                &Ast::Look { direction: Direction::Ahead, sign: Sign::Negative, child, .. } => {
                    match set.node(plain[child]) {
                        RegexNode::Class(word) if !tree.infos[child].anchored => word,
                        _ => return None,
                    }
                }
                _ => return None,
            };
            if boundary.get_or_insert_with(|| word.clone()) != word {
                return None;
            }
            let texts: Vec<RegexId> = before.iter().map(|&part| plain[part]).collect();
            words.push(set.concat(&texts));
        }
        let (words, word) = (set.or(&words), boundary?);
        let info = set.info(words);
        let length = info.len_max.filter(|_| !info.nullable)?;
        is_made_of(set, words, &word).then_some(Self { words, length, word })
    }

    /// The texts of `rest` before which the look-ahead stands, with what may follow; `None` if that is not as above.
    pub fn left_out(&self, rest: RegexId, set: &mut RegexSet) -> Option<Vec<Way>> {
        let goes_on = goes_on(set, rest, self.length)?;
        if set.info(rest).nullable || !is_made_of(set, self.words, &goes_on) {
            return None;
        }
        let byte = set.any_byte();
        let (all, word) = (set.repeat(byte, 0, None), set.class(self.word.clone()));
        let word_first = set.concat(&[word, all]);
        let refused = if is_made_of(set, rest, &self.word) {
            self.words
        } else {
            let no_word_first = set.not(word_first);
            set.concat(&[self.words, no_word_first])
        };
        let others = set.not(refused);
        let mut ways = vec![Way::plain(set.and(&[rest, others]))];
        if !is_within(&self.word, &goes_on) {
            ways.push(Way { follow: Some(word_first), ..Way::plain(set.and(&[rest, self.words])) });
        }
        Some(ways)
    }
}

/// Characters any number of which may go on with each text of the regex, until that is longer than `length` characters at least.
fn goes_on(set: &RegexSet, regex: RegexId, length: u64) -> Option<CharClass> {
    match set.node(regex) {
        &RegexNode::Repeat(child, _, max) if max.is_none_or(|max| u64::from(max) > length) => match set.node(child) {
            RegexNode::Class(class) => Some(class.clone()),
            _ => None,
        },
        RegexNode::Concat(parts) => goes_on(set, *parts.last()?, length),
        // Without other keywords.
        RegexNode::And(parts) => {
            let left_out = |part: &RegexId| match set.node(*part) {
                RegexNode::Not(child) => set.info(*child).len_max,
                _ => None,
            };
            let mut others = parts.iter().filter(|part| left_out(part).is_none());
            let only = others.next().filter(|_| others.next().is_none())?;
            goes_on(set, *only, parts.iter().filter_map(left_out).fold(length, u64::max))
        }
        _ => None,
    }
}

/// Whether it is certain that all texts of the regex are made of these characters.
fn is_made_of(set: &RegexSet, regex: RegexId, class: &CharClass) -> bool {
    match set.node(regex) {
        RegexNode::Nothing => true,
        RegexNode::Literal(bytes) => {
            std::str::from_utf8(bytes).is_ok_and(|text| text.chars().all(|c| class.contains(c)))
        }
        RegexNode::Class(other) => is_within(other, class),
        RegexNode::Concat(parts) | RegexNode::Or(parts) => parts.iter().all(|&part| is_made_of(set, part, class)),
        RegexNode::And(parts) => parts.iter().any(|&part| is_made_of(set, part, class)),
        &RegexNode::Repeat(child, ..) => is_made_of(set, child, class),
        _ => false,
    }
}

fn is_within(some: &CharClass, all: &CharClass) -> bool {
    some.intersect(all) == *some
}
