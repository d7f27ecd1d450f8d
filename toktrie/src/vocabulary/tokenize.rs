//! Text to tokens: canonically through the model's own tokenizer, or by longest match on the trie.

use super::{TokenId, Vocabulary};

/// How often a tokenizer that did not give the text back is asked again behind the place; then longest match goes on.
/// Each time costs a pass over the rest of the text.
const RETRIES_MAX: usize = 16;

impl Vocabulary {
    /// The canonical tokenization of `bytes`; `None` without a tokenizer, or if no tokens make up these bytes.
    ///
    /// The ids are ordinary tokens whose bytes, one after the other, are `bytes`. Where the tokenizer gives something
    /// else (a special token for text that looks like one, text changed by a normalizer), that place is cut by longest
    /// match, and so is everything from the first byte on that is not UTF-8.
    pub fn tokenize(&self, bytes: &[u8]) -> Option<Vec<TokenId>> {
        let tokenizer = self.tokenizer.as_ref()?;
        let chunk = bytes.utf8_chunks().next();
        let text = chunk.map_or("", |chunk| chunk.valid());
        let mut ids = Vec::new();
        let mut done = 0;
        for _ in 0..=RETRIES_MAX {
            if done == text.len() {
                break;
            }
            done += self.push_matching(&tokenizer(&text[done..]), &bytes[done..text.len()], &mut ids);
            if done == text.len() {
                break;
            }
            // One token past the bad place, up to where a character begins.
            loop {
                let Some((id, len)) = self.trie.longest_match(&bytes[done..text.len()]) else {
                    return self.tokenize_greedy(bytes);
                };
                ids.push(id);
                done += len;
                if text.is_char_boundary(done) {
                    break;
                }
            }
        }
        let Some(rest) = self.tokenize_greedy(&bytes[done..]) else { return self.tokenize_greedy(bytes) };
        ids.extend(rest);
        Some(ids)
    }

    /// Appends to `ids` those of `given` that spell the beginning of `text`, up to where a character ends;
    /// returns how many bytes they are.
    fn push_matching(&self, given: &[TokenId], text: &[u8], ids: &mut Vec<TokenId>) -> usize {
        let (mut spelled, mut kept, mut kept_len) = (0, 0, 0);
        for (at, &id) in given.iter().enumerate() {
            let Some(bytes) = self.token_bytes(id).filter(|bytes| text[spelled..].starts_with(bytes)) else { break };
            spelled += bytes.len();
            if text.get(spelled).is_none_or(|byte| byte & 0xC0 != 0x80) {
                (kept, kept_len) = (at + 1, spelled);
            }
        }
        ids.extend_from_slice(&given[..kept]);
        kept_len
    }

    /// Cuts `bytes` into the longest tokens, left to right; where that runs into a dead end (a vocabulary that lacks
    /// some bytes), into the longest from which the rest can still be cut. `None` if no tokens make up `bytes`.
    pub fn tokenize_greedy(&self, bytes: &[u8]) -> Option<Vec<TokenId>> {
        let mut ids = Vec::new();
        let mut done = 0;
        while done < bytes.len() {
            let Some((id, len)) = self.trie.longest_match(&bytes[done..]) else {
                return self.tokenize_backwards(bytes);
            };
            ids.push(id);
            done += len;
        }
        Some(ids)
    }

    /// The same by dynamic programming from the end. Cost: O(bytes · longest token).
    fn tokenize_backwards(&self, bytes: &[u8]) -> Option<Vec<TokenId>> {
        // For each place the longest token, with its length, after which the rest can be cut; length 0: none.
        let mut best: Vec<(TokenId, usize)> = vec![(0, 0); bytes.len()];
        for start in (0..bytes.len()).rev() {
            let mut node = crate::trie::ROOT;
            for (end, &byte) in bytes.iter().enumerate().skip(start) {
                let Some(child) = self.trie.child(node, byte) else { break };
                node = child;
                let rest_possible = best.get(end + 1).is_none_or(|rest| rest.1 > 0);
                if let Some(id) = self.trie.token(node).filter(|_| rest_possible) {
                    best[start] = (id, end + 1 - start);
                }
            }
        }
        let mut ids = Vec::new();
        let mut done = 0;
        while let Some(&(id, len)) = best.get(done) {
            if len == 0 {
                return None;
            }
            ids.push(id);
            done += len;
        }
        Some(ids)
    }
}
