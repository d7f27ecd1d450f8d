//! o200k_base for both engines, and its canonical tokenizer.

use std::sync::Arc;

use anyhow::Result;
use larkspur_toktrie::Vocabulary;
use tiktoken_rs::CoreBPE;
use toktrie::{TokEnv, TokRxInfo, TokTrie, TokenizerEnv};

/// Ids of o200k_base are below this.
pub const VOCABULARY_LEN: usize = 200_019;

/// Ids that text can have.
const TEXT_IDS: u32 = 199_998;

const SPECIALS: [(u32, &str); 2] = [(EOS, "<|endoftext|>"), (200_018, "<|endofprompt|>")];

/// The token that ends a text.
pub const EOS: u32 = 199_999;

/// The tokenizer of tiktoken.
pub fn tokenizer() -> &'static CoreBPE {
    tiktoken_rs::o200k_base_singleton()
}

/// The canonical tokens of a text.
pub fn tokenize(text: &str) -> Vec<u32> {
    tokenizer().encode_ordinary(text)
}

/// The bytes of each token; none for special tokens and gaps.
pub fn token_bytes() -> Result<Vec<Vec<u8>>> {
    let mut tokens = vec![Vec::new(); VOCABULARY_LEN];
    for id in 0..TEXT_IDS {
        tokens[id as usize] = tokenizer().decode_bytes(&[id])?;
    }
    Ok(tokens)
}

/// For Larkspur.
pub fn for_larkspur(tokens: &[Vec<u8>]) -> Result<Arc<Vocabulary>> {
    let mut builder = Vocabulary::builder();
    for (id, bytes) in tokens.iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
        builder.token(id as u32, bytes);
    }
    for (id, name) in SPECIALS {
        builder.special(id, name);
    }
    Ok(Arc::new(builder.eos(EOS).build()?))
}

/// For the peer, which marks special tokens by a byte that no text has.
pub fn for_llguidance(tokens: &[Vec<u8>]) -> TokEnv {
    let mut words = tokens.to_vec();
    for (id, name) in SPECIALS {
        words[id as usize] = [&[TokTrie::SPECIAL_TOKEN_MARKER], name.as_bytes()].concat();
    }
    Arc::new(Tiktoken { trie: TokTrie::from(&TokRxInfo::new(VOCABULARY_LEN as u32, EOS), &words) })
}

struct Tiktoken {
    trie: TokTrie,
}

impl TokenizerEnv for Tiktoken {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, text: &[u8]) -> Vec<u32> {
        self.trie.tokenize_with_greedy_fallback(text, |text| tokenizer().encode_ordinary(text))
    }
}
