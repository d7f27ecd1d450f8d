//! The vocabulary that `--tokenizer` names, for both engines, and its canonical tokenizer; or, for one engine alone, the
//! tokens and nothing else.

use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use larkspur::Vocabulary;
use larkspur::toktrie::{HuggingFaceOptions, SentencePieceOptions};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toktrie::{TokEnv, TokRxInfo, TokTrie, TokenizerEnv};

use crate::vocabulary::{for_larkspur, for_llguidance, token_bytes, tokenize};

/// A vocabulary for both engines, or for one of them.
pub struct Tokenizer {
    pub name: String,
    vocabulary: Option<Arc<Vocabulary>>,
    env: Option<TokEnv>,
    encode: fn(&Vocabulary, &str) -> Vec<u32>,
}

/// The tokens of a vocabulary on their way to a process that has no tokenizer: a line each, so that none is kept there but as
/// the engine keeps it.
#[derive(Serialize, Deserialize)]
struct Header {
    /// Lines that follow, a [`Word`] each.
    len: usize,
    eos: Vec<u32>,
}

/// A token's bytes in hexadecimal digits, and the name of a special one.
#[derive(Serialize, Deserialize)]
struct Word(String, Option<String>);

impl Word {
    fn bytes(&self) -> Result<Vec<u8>> {
        let byte = |digits: &[u8]| Ok(u8::from_str_radix(std::str::from_utf8(digits)?, 16)?);
        self.0.as_bytes().chunks(2).map(byte).collect()
    }
}

/// Writes the tokens of a vocabulary.
pub fn write_tokens(vocabulary: &Vocabulary, to: &mut impl Write) -> Result<()> {
    let header = Header { len: vocabulary.len(), eos: vocabulary.eos().to_vec() };
    writeln!(to, "{}", serde_json::to_string(&header)?)?;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    for id in 0..vocabulary.len() as u32 {
        let bytes = vocabulary.token_bytes(id).map_or_else(String::new, hex);
        let word = Word(bytes, vocabulary.special_name(id).map(str::to_owned));
        writeln!(to, "{}", serde_json::to_string(&word)?)?;
    }
    Ok(())
}

fn read_line<T: DeserializeOwned>(from: &mut impl BufRead) -> Result<T> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    Ok(serde_json::from_str(&line)?)
}

/// The peer's own way to tokens, without a tokenizer.
struct Greedy {
    trie: TokTrie,
}

impl TokenizerEnv for Greedy {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, text: &[u8]) -> Vec<u32> {
        self.trie.greedy_tokenize(text)
    }
}

impl Tokenizer {
    /// What [`write_tokens`] wrote, for Larkspur only.
    pub fn read_for_larkspur(from: &mut impl BufRead) -> Result<Self> {
        let Header { len, eos } = read_line(from)?;
        let mut builder = Vocabulary::builder();
        for id in 0..len as u32 {
            let word: Word = read_line(from)?;
            match &word.1 {
                Some(name) => _ = builder.special(id, name.as_str()),
                None if word.0.is_empty() => {}
                None => _ = builder.token(id, word.bytes()?),
            }
        }
        eos.into_iter().for_each(|eos| _ = builder.eos(eos));
        let vocabulary = Arc::new(builder.len(len).build()?);
        Ok(Self { name: String::new(), vocabulary: Some(vocabulary), env: None, encode: canonical })
    }

    /// What [`write_tokens`] wrote, for the peer only.
    pub fn read_for_llguidance(from: &mut impl BufRead) -> Result<Self> {
        let Header { len, eos } = read_line(from)?;
        let mut words = Vec::with_capacity(len);
        for _ in 0..len {
            let word: Word = read_line(from)?;
            words.push(match &word.1 {
                Some(name) => [&[TokTrie::SPECIAL_TOKEN_MARKER], name.as_bytes()].concat(),
                None => word.bytes()?,
            });
        }
        let first = *eos.first().context("the vocabulary has no token that ends the text")?;
        let trie = TokTrie::from(&TokRxInfo::new(len as u32, first), &words).with_eos_tokens(&eos);
        Ok(Self { name: String::new(), vocabulary: None, env: Some(Arc::new(Greedy { trie })), encode: canonical })
    }

    /// `o200k`, which is part of the program; a path to a `tokenizer.json`, to a sentencepiece model, or to a folder with
    /// one of them; or the name of such a folder in `tokenizers/` of the shared material, which `data` is also in.
    pub fn named(name: &str, data: &Path) -> Result<Self> {
        if name == "o200k" {
            let tokens = token_bytes()?;
            let encode = |_: &Vocabulary, text: &str| tokenize(text);
            let (vocabulary, env) = (for_larkspur(&tokens)?, for_llguidance(&tokens));
            return Ok(Self { name: name.to_owned(), vocabulary: Some(vocabulary), env: Some(env), encode });
        }
        let file = find(name, data)?;
        let vocabulary = Arc::new(load(&file).with_context(|| file.display().to_string())?);
        ensure!(vocabulary.has_tokenizer(), "{name}: there is no tokenizer beside the vocabulary");
        let env = env_of(&vocabulary)?;
        Ok(Self { name: name.to_owned(), vocabulary: Some(vocabulary), env: Some(env), encode: canonical })
    }

    /// For Larkspur.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.vocabulary.as_ref().expect("the peer alone does not ask for it")
    }

    /// For the peer.
    pub fn env(&self) -> &TokEnv {
        self.env.as_ref().expect("Larkspur alone does not ask for it")
    }

    /// The canonical tokens of a text.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        (self.encode)(self.vocabulary(), text)
    }
}

fn canonical(vocabulary: &Vocabulary, text: &str) -> Vec<u32> {
    let bytes = text.as_bytes();
    vocabulary.tokenize(bytes).or_else(|| vocabulary.tokenize_greedy(bytes)).unwrap_or_default()
}

/// The file that a name or a path means.
fn find(name: &str, data: &Path) -> Result<PathBuf> {
    let shared = std::env::var_os("LARKSPUR_SHARED").map(PathBuf::from);
    let folders = [shared, data.parent().map(Path::to_owned), Some(PathBuf::from("../shared"))];
    let named = folders.into_iter().flatten().map(|folder| folder.join("tokenizers").join(name));
    for path in [PathBuf::from(name)].into_iter().chain(named) {
        let inside = ["tokenizer.json", "tokenizer.model", "tokenizer.model.v3"].map(|file| path.join(file));
        if let Some(file) = inside.into_iter().chain([path]).find(|file| file.is_file()) {
            return Ok(file);
        }
    }
    bail!("there is no tokenizer `{name}`, neither as a path nor in `tokenizers/` (LARKSPUR_SHARED, ../shared)")
}

fn load(file: &Path) -> Result<Vocabulary> {
    let bytes = std::fs::read(file)?;
    if file.extension().is_some_and(|extension| extension == "json") {
        let beside = |name: &str| std::fs::read(file.with_file_name(name)).ok();
        let (tokenizer_config, generation_config) = (beside("tokenizer_config.json"), beside("generation_config.json"));
        let options = HuggingFaceOptions {
            tokenizer_config: tokenizer_config.as_deref(),
            generation_config: generation_config.as_deref(),
            ..HuggingFaceOptions::default()
        };
        return Ok(Vocabulary::from_huggingface(&bytes, &options)?);
    }
    Ok(Vocabulary::from_sentencepiece(&bytes, &SentencePieceOptions::default())?)
}

/// For the peer, which marks special tokens by a byte that no text has.
fn env_of(vocabulary: &Arc<Vocabulary>) -> Result<TokEnv> {
    let eos = vocabulary.eos();
    let first = *eos.first().context("the vocabulary has no token that ends the text")?;
    let word = |id: u32| match (vocabulary.special_name(id), vocabulary.token_bytes(id)) {
        (Some(name), _) => [&[TokTrie::SPECIAL_TOKEN_MARKER], name.as_bytes()].concat(),
        (None, bytes) => bytes.unwrap_or_default().to_vec(),
    };
    let words: Vec<Vec<u8>> = (0..vocabulary.len() as u32).map(word).collect();
    let trie = TokTrie::from(&TokRxInfo::new(vocabulary.len() as u32, first), &words).with_eos_tokens(eos);
    Ok(Arc::new(PeerTokenizer { trie, vocabulary: vocabulary.clone() }))
}

struct PeerTokenizer {
    trie: TokTrie,
    vocabulary: Arc<Vocabulary>,
}

impl TokenizerEnv for PeerTokenizer {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, text: &[u8]) -> Vec<u32> {
        self.trie.tokenize_with_greedy_fallback(text, |text| canonical(&self.vocabulary, text))
    }
}
