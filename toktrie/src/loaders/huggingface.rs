//! Hugging Face `tokenizer.json`, through the `tokenizers` crate (feature `huggingface`).
//!
//! Ordinary tokens spell what the file's decoder yields for them in the middle of a text: byte-level BPE in GPT-2's
//! byte alphabet, `▁` for a blank and `<0xNN>` for a byte, and the other decoders that work token by token.
//! Added tokens are special if they are flagged so, if they end the text, or if the caller says so; the others are
//! ordinary text. The canonical tokenizer is that of the crate, told to read special tokens' names as plain text and
//! to put no blank in front; it is built when it is first asked, since that takes longer than all the rest.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use serde_json::Value;
use tokenizers::{ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use super::{EOS_NAMES_WELL_KNOWN, EosChoice, LoadError};
use crate::vocabulary::{TokenId, TokenizeFn, Vocabulary};

mod pieces;
mod plain_text;
mod spelling;

use pieces::Pieces;
use spelling::Spelling;

/// What stands beside `tokenizer.json`, and what the caller may know better.
#[derive(Debug, Clone, Default)]
pub struct HuggingFaceOptions<'a> {
    /// Contents of `tokenizer_config.json`; its `eos_token` ends the text.
    pub tokenizer_config: Option<&'a [u8]>,
    /// Contents of `generation_config.json`; its `eos_token_id` (one or several) ends the text.
    pub generation_config: Option<&'a [u8]>,
    /// Which tokens end the text. If empty, what the two configurations say together; without them, well-known names.
    pub eos: EosChoice,
    /// Names of added tokens that are special although the file does not flag them.
    pub special_names: Vec<String>,
    /// The model's vocabulary size (`vocab_size` in `config.json`), where it is padded.
    pub len: Option<usize>,
    /// How the canonical tokenizer treats text that the file's normalizers would change.
    pub normalizers: Normalizers,
}

/// Which normalizers the canonical tokenizer applies. One that puts a blank in front never is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Normalizers {
    /// Only those that write a blank as `▁`: the tokens spell the text as it is. Differs from the model's own way
    /// only on text that its normalizers change (such as a letter with a combining accent).
    #[default]
    Escapes,
    /// All of them. Where they change the text, [`Vocabulary::tokenize`] falls back on longest match.
    All,
}

/// The parts of the file that say what the tokens are.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    #[serde(default)]
    normalizer: Value,
    #[serde(default)]
    pre_tokenizer: Value,
    #[serde(default)]
    decoder: Value,
    model: Model,
}

#[derive(Deserialize)]
struct AddedToken {
    id: TokenId,
    content: String,
    #[serde(default)]
    special: bool,
}

#[derive(Deserialize)]
struct Model {
    vocab: Pieces,
}

impl Vocabulary {
    /// The vocabulary of a `tokenizer.json`.
    ///
    /// Errors: [`LoadError::Json`], [`LoadError::UnsupportedDecoder`], [`LoadError::UnknownEosName`],
    /// [`LoadError::UnknownEosId`], [`LoadError::Vocabulary`]. What is wrong with the file only as a tokenizer, such as a
    /// merge of tokens that are not there, is no error: the canonical tokenization is then longest match.
    /// Cost: 0.03 s (gpt2) to 0.2 s (gemma-3) on a 2-core AMD EPYC machine; the first canonical tokenization takes up to a
    /// second more.
    pub fn from_huggingface(json: &[u8], options: &HuggingFaceOptions) -> Result<Vocabulary, LoadError> {
        let File { added_tokens, normalizer, pre_tokenizer, decoder, model } = read_json("tokenizer.json", json)?;
        let spelling = Spelling::of_decoder(&decoder)?;
        let mut tokens: FxHashMap<String, TokenId> = model.vocab.0;
        let mut flagged = FxHashSet::default();
        for added in added_tokens {
            // What the model has itself keeps its id.
            let id = *tokens.entry(added.content).or_insert(added.id);
            if added.special {
                flagged.insert(id);
            }
        }

        let id_of = |name: &str| tokens.get(name).copied();
        let eos = match options.chosen_eos()? {
            choice if choice.is_empty() => {
                EOS_NAMES_WELL_KNOWN.iter().filter_map(|name| id_of(name)).filter(|id| flagged.contains(id)).collect()
            }
            choice => {
                let ids: FxHashSet<TokenId> = tokens.values().copied().collect();
                choice.resolve(id_of, |id| ids.contains(&id))?
            }
        };

        let mut builder = Vocabulary::builder();
        let named_special = |name: &String| options.special_names.contains(name);
        for (name, &id) in &tokens {
            if flagged.contains(&id) || eos.contains(&id) || named_special(name) {
                builder.special(id, name.as_str());
            } else {
                builder.token(id, spelling.bytes_of(name));
            }
        }
        for id in eos {
            builder.eos(id);
        }
        if let Some(len) = options.len {
            builder.len(len);
        }
        let normalizer = plain_text::normalizer(normalizer, options.normalizers);
        builder.tokenizer(when_asked(json, normalizer, plain_text::pre_tokenizer(pre_tokenizer)));
        Ok(builder.build()?)
    }
}

impl HuggingFaceOptions<'_> {
    fn chosen_eos(&self) -> Result<EosChoice, LoadError> {
        if !self.eos.is_empty() {
            return Ok(self.eos.clone());
        }
        let mut choice = EosChoice::default();
        if let Some(json) = self.tokenizer_config {
            choice.names.extend(TokenizerConfig::eos_name(json)?);
        }
        if let Some(json) = self.generation_config {
            choice.ids.extend(GenerationConfig::eos_ids(json)?);
        }
        Ok(choice)
    }
}

#[derive(Deserialize)]
struct TokenizerConfig {
    #[serde(default)]
    eos_token: Value,
}

impl TokenizerConfig {
    /// A string, or an object with the string as `content`, or nothing.
    fn eos_name(json: &[u8]) -> Result<Option<String>, LoadError> {
        let config: Self = read_json("tokenizer_config.json", json)?;
        let name = config.eos_token.as_str().or_else(|| config.eos_token.get("content")?.as_str());
        Ok(name.map(str::to_owned))
    }
}

#[derive(Deserialize)]
struct GenerationConfig {
    eos_token_id: Option<OneOrMany>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(TokenId),
    Many(Vec<TokenId>),
}

impl GenerationConfig {
    fn eos_ids(json: &[u8]) -> Result<Vec<TokenId>, LoadError> {
        let config: Self = read_json("generation_config.json", json)?;
        Ok(match config.eos_token_id {
            None => Vec::new(),
            Some(OneOrMany::One(id)) => vec![id],
            Some(OneOrMany::Many(ids)) => ids,
        })
    }
}

/// The tokenizer as a callback for text in the middle of a document; built when it is first called.
fn when_asked(json: &[u8], normalizer: Value, pre_tokenizer: Value) -> TokenizeFn {
    let parts = Mutex::new(Some((Box::<[u8]>::from(json), normalizer, pre_tokenizer)));
    let built: OnceLock<Option<Tokenizer>> = OnceLock::new();
    Arc::new(move |text: &str| {
        let tokenizer = built.get_or_init(|| {
            let (json, normalizer, pre_tokenizer) = parts.lock().unwrap_or_else(PoisonError::into_inner).take()?;
            canonical(&json, normalizer, pre_tokenizer).ok()
        });
        // Text that the tokenizer cannot read is left to longest match.
        let encoded = tokenizer.as_ref().and_then(|tokenizer| tokenizer.encode_fast(text, false).ok());
        encoded.map(|encoding| encoding.get_ids().to_vec()).unwrap_or_default()
    })
}

fn canonical(json: &[u8], normalizer: Value, pre_tokenizer: Value) -> tokenizers::Result<Tokenizer> {
    let mut tokenizer = Tokenizer::from_bytes(json)?;
    let normalizer: Option<NormalizerWrapper> = serde_json::from_value(normalizer)?;
    tokenizer.with_normalizer(normalizer)?;
    let pre_tokenizer: Option<PreTokenizerWrapper> = serde_json::from_value(pre_tokenizer)?;
    tokenizer.with_pre_tokenizer(pre_tokenizer);
    tokenizer.with_padding(None).with_truncation(None)?;
    tokenizer.set_encode_special_tokens(true);
    if let ModelWrapper::BPE(model) = tokenizer.get_model()
        && model.dropout.is_some()
    {
        // Dropout is for training: it makes the tokenization a random one.
        let mut model = model.clone();
        model.dropout = None;
        tokenizer.with_model(model);
    }
    Ok(tokenizer)
}

fn read_json<'a, T: Deserialize<'a>>(file: &'static str, json: &'a [u8]) -> Result<T, LoadError> {
    // A struct would also be read from an array.
    if !json.trim_ascii_start().starts_with(b"{") {
        return Err(LoadError::Json { file, message: "there is no JSON object".to_owned() });
    }
    serde_json::from_slice(json).map_err(|error| LoadError::Json { file, message: error.to_string() })
}
