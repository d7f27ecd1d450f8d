//! Which tokens of a tokenized text stand whatever follows it.

use super::{TokenId, Vocabulary};

/// So many tokens that cross the end from inside another one are tried; where there are more, one is taken to be possible.
const TRIED_MAX: usize = 16;
/// As many bytes before such a token as so many of the longest tokens have are tokenized again.
const LOOK_BACK: usize = 4;

impl Vocabulary {
    /// How many of `tokens`, in which the tokenizer spells `text`, it would also give for the text with more behind it.
    /// `crossing` gives tokens below a node of the [trie](Self::trie), as many as it is asked for if there are so many, that
    /// may stand where the text leads to the node: that begin inside the text and may go on past its end.
    ///
    /// A tokenizer by merges gives to a text that it cuts at some place what it gives to its two sides. So where a token
    /// crosses the end, the text before and with that token is tokenized as by itself, and where none does, `text` is. One
    /// that begins where one of `tokens` does is taken to be possible. Cost: a look at each of the last bytes, as many as the
    /// longest token has, and for each of them that is inside a token at most 16 short tokenizations.
    ///
    /// None of tokens that do not spell the text. Errors: those of `crossing`.
    pub fn stable_tokens<E>(
        &self,
        tokens: &[TokenId],
        text: &[u8],
        mut crossing: impl FnMut(u32, usize) -> Result<Vec<TokenId>, E>,
    ) -> Result<usize, E> {
        if self.decode(tokens) != text {
            return Ok(0);
        }
        let starts: Vec<usize> = tokens
            .iter()
            .scan(0, |end, &token| {
                let start = *end;
                *end += self.token_bytes(token).map_or(0, <[u8]>::len);
                Some(start)
            })
            .collect();
        let again_from = text.len().saturating_sub(LOOK_BACK * self.token_len_max());
        let first_again = starts.partition_point(|&start| start < again_from);
        let mut stable = tokens.len();
        for start in (text.len() + 1).saturating_sub(self.token_len_max())..text.len() {
            let Some(node) = self.trie().node_of(&text[start..]) else { continue };
            match starts.binary_search(&start) {
                Ok(index) => {
                    if index < stable && !crossing(node, 1)?.is_empty() {
                        stable = index;
                    }
                }
                Err(after) => {
                    let others = crossing(node, TRIED_MAX + 1)?;
                    let before = &text[starts.get(first_again).copied().unwrap_or(start)..start];
                    for (number, &other) in others.iter().enumerate() {
                        let longer = [before, self.token_bytes(other).unwrap_or(b"")].concat();
                        let again = if number < TRIED_MAX { self.spelled(&longer) } else { None };
                        let same = match again {
                            None => after - 1 - first_again,
                            Some(again)
                                if again.last().and_then(|&last| self.token_bytes(last)) == self.token_bytes(other) =>
                            {
                                shared_len(&tokens[first_again..], &again)
                            }
                            Some(_) => continue,
                        };
                        stable = stable.min(first_again + same);
                    }
                }
            }
        }
        Ok(stable)
    }

    /// What the tokenizer gives for whole characters.
    fn spelled(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        std::str::from_utf8(text).ok()?;
        self.tokenize(text)
    }
}

fn shared_len(tokens: &[TokenId], others: &[TokenId]) -> usize {
    tokens.iter().zip(others).take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;

    use super::*;

    /// Merges in the order of the pairs, as byte-pair encoding does.
    fn merged(text: &str, merges: &[(&str, &str)]) -> Vec<String> {
        let mut parts: Vec<String> = text.chars().map(String::from).collect();
        for (left, right) in merges {
            let mut at = 0;
            while at + 1 < parts.len() {
                if parts[at] == *left && parts[at + 1] == *right {
                    let right = parts.remove(at + 1);
                    parts[at].push_str(&right);
                }
                at += 1;
            }
        }
        parts
    }

    fn vocabulary(merges: &'static [(&'static str, &'static str)]) -> Vocabulary {
        let mut builder = Vocabulary::builder();
        for byte in 0..=127u8 {
            builder.token(byte.into(), [byte]);
        }
        for (id, (left, right)) in (128..).zip(merges) {
            builder.token(id, [*left, *right].concat().into_bytes());
        }
        let id = |part: &String| match part.as_bytes() {
            [byte] => TokenId::from(*byte),
            _ => 128 + merges.iter().position(|(left, right)| [*left, *right].concat() == *part).unwrap() as TokenId,
        };
        builder.tokenizer(Arc::new(move |text: &str| merged(text, merges).iter().map(id).collect()));
        builder.build().unwrap()
    }

    fn stable(vocabulary: &Vocabulary, text: &str) -> usize {
        let tokens = vocabulary.tokenize(text.as_bytes()).unwrap();
        let trie = vocabulary.trie();
        let below = |node: u32, max| {
            Ok((node + 1..trie.subtree_ends()[node as usize]).filter_map(|n| trie.token(n)).take(max).collect())
        };
        vocabulary.stable_tokens::<Infallible>(&tokens, text.as_bytes(), below).unwrap()
    }

    #[test]
    fn a_token_may_begin_inside_one() {
        // `rea` is made before `Pierre` could be.
        let merges = &[("r", "e"), ("re", "a"), ("P", "i"), ("e", "r"), ("Pi", "er"), ("Pier", "re")];
        let vocabulary = vocabulary(merges);
        assert_eq!(vocabulary.tokenize(b"x Pierre").unwrap().len(), 3);
        assert_eq!(stable(&vocabulary, "x Pierre"), 2, "all of `Pierre` may be cut otherwise");
        assert_eq!(stable(&vocabulary, "x Pierre!"), vocabulary.tokenize(b"x Pierre!").unwrap().len());
    }

    #[test]
    fn tokens_of_another_text_do_not_stand() {
        let vocabulary = vocabulary(&[("a", "b")]);
        for (tokens, text) in [(vec![97, 97, 97], "aa"), (vec![], "abc"), (vec![97], "ab"), (vec![128, 9_999], "ab")] {
            let stable = vocabulary.stable_tokens::<Infallible>(&tokens, text.as_bytes(), |_, _| Ok(vec![128]));
            assert!(stable == Ok(0) || vocabulary.decode(&tokens) == text.as_bytes(), "{tokens:?} {text}");
        }
    }

    #[test]
    fn what_stands_before_may_change_too() {
        // `abcde` is `ab` `cde`; before `ex` it is `abc` `d`.
        let merges = &[("e", "x"), ("d", "e"), ("a", "b"), ("c", "de"), ("ab", "c")];
        let vocabulary = vocabulary(merges);
        assert_eq!(vocabulary.tokenize(b"abcde").unwrap().len(), 2);
        assert_eq!(vocabulary.tokenize(b"abcdex").unwrap().len(), 3);
        assert_eq!(stable(&vocabulary, "abcde"), 0);
    }

    /// All texts of up to five letters, with all that could follow.
    #[test]
    fn stable_is_what_all_continuations_share() {
        let merges = &[("a", "b"), ("b", "c"), ("c", "a"), ("ab", "ca"), ("a", "bc"), ("bc", "c"), ("a", "a")];
        let vocabulary = vocabulary(merges);
        let texts = |len: u32| {
            (0..3u32.pow(len)).map(move |number| {
                (0..len).map(|place| char::from(b'a' + (number / 3u32.pow(place) % 3) as u8)).collect::<String>()
            })
        };
        for text in (1..=5).flat_map(texts) {
            let tokens = vocabulary.tokenize(text.as_bytes()).unwrap();
            let kept = &tokens[..stable(&vocabulary, &text)];
            for more in (0..=3).flat_map(texts) {
                let longer = vocabulary.tokenize(format!("{text}{more}").as_bytes()).unwrap();
                assert!(longer.starts_with(kept), "{text} + {more}: {longer:?} does not begin with {kept:?}");
            }
        }
    }
}
