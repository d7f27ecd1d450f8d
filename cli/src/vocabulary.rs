//! Which vocabulary: an embedded one, a file's, or bytes.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use larkspur::Vocabulary;
use larkspur::toktrie::{HuggingFaceOptions, SentencePieceOptions, TiktokenOptions};
use tiktoken_rs::CoreBPE;

/// The vocabularies that are part of the program.
const KNOWN: &str = "`o200k`, `o200k_harmony`, `cl100k` and `bytes`";

/// The vocabulary that `--tokenizer` names.
pub(crate) fn named(name: &str) -> Result<Arc<Vocabulary>> {
    let vocabulary = match name {
        "bytes" => Vocabulary::single_bytes(),
        "o200k" | "o200k_base" => embedded(tiktoken_rs::o200k_base_singleton(), &["<|endoftext|>"])?,
        "o200k_harmony" => {
            embedded(tiktoken_rs::o200k_harmony_singleton(), &["<|return|>", "<|call|>", "<|endoftext|>"])?
        }
        "cl100k" | "cl100k_base" => embedded(tiktoken_rs::cl100k_base_singleton(), &["<|endoftext|>"])?,
        path if !Path::new(path).exists() => {
            bail!("there is neither a file or folder `{path}` nor a vocabulary of this name: built in are {KNOWN}")
        }
        path => from_path(Path::new(path)).with_context(|| path.to_owned())?,
    };
    Ok(Arc::new(vocabulary))
}

/// The vocabulary that `--tokenizer` names, or the default, `o200k`.
pub(crate) fn named_or_default(name: Option<&str>) -> Result<Arc<Vocabulary>> {
    named(name.unwrap_or("o200k"))
}

/// A vocabulary that is part of the program.
fn embedded(bpe: &'static CoreBPE, eos: &[&str]) -> Result<Vocabulary> {
    let mut builder = Vocabulary::builder();
    let mut len = 0;
    let mut specials = HashSet::new();
    for name in bpe.special_tokens() {
        let Some(&id) = bpe.encode_with_special_tokens(name).first() else { continue };
        len = len.max(id);
        specials.insert(id);
        builder.special(id, name);
        if eos.contains(&name) {
            builder.eos(id);
        }
    }
    // Special tokens have the highest ids.
    for id in (0..len).filter(|id| !specials.contains(id)) {
        if let Ok(bytes) = bpe.decode_bytes(&[id]) {
            builder.token(id, bytes);
        }
    }
    builder.tokenizer(Arc::new(|text: &str| bpe.encode_ordinary(text)));
    Ok(builder.build()?)
}

/// The vocabulary of a file, or of the file of a known name in a folder.
fn from_path(path: &Path) -> Result<Vocabulary> {
    if path.is_dir() {
        return from_path(&file_in(path)?);
    }
    let bytes = std::fs::read(path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    if name.ends_with(".json") {
        let beside = |name: &str| path.parent().and_then(|folder| std::fs::read(folder.join(name)).ok());
        let (tokenizer_config, generation_config) = (beside("tokenizer_config.json"), beside("generation_config.json"));
        let options = HuggingFaceOptions {
            tokenizer_config: tokenizer_config.as_deref(),
            generation_config: generation_config.as_deref(),
            ..HuggingFaceOptions::default()
        };
        return Ok(Vocabulary::from_huggingface(&bytes, &options)?);
    }
    if name.ends_with(".tiktoken") {
        return Ok(Vocabulary::from_tiktoken_ranks(&bytes, &tiktoken_options(&name))?);
    }
    if name.contains(".model") {
        return Ok(Vocabulary::from_sentencepiece(&bytes, &SentencePieceOptions::default())?);
    }
    bail!("not a tokenizer: neither `tokenizer.json`, `*.tiktoken` nor a sentencepiece `*.model`");
}

/// What a ranks file does not say, by its name.
fn tiktoken_options(name: &str) -> TiktokenOptions {
    let (mut options, bpe): (TiktokenOptions, fn() -> &'static CoreBPE) = match name {
        "o200k_base.tiktoken" => (TiktokenOptions::o200k_base(), tiktoken_rs::o200k_base_singleton),
        "o200k_harmony.tiktoken" => (TiktokenOptions::o200k_harmony(), tiktoken_rs::o200k_harmony_singleton),
        "cl100k_base.tiktoken" => (TiktokenOptions::cl100k_base(), tiktoken_rs::cl100k_base_singleton),
        _ => return TiktokenOptions::default(),
    };
    // The tokenizer takes a while to build, and not every command needs it.
    options.tokenizer = Some(Arc::new(move |text: &str| bpe().encode_ordinary(text)));
    options
}

fn file_in(folder: &Path) -> Result<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.sort();
    let kinds: [fn(&str) -> bool; 3] =
        [|name| name == "tokenizer.json", |name| name.ends_with(".tiktoken"), |name| name.contains(".model")];
    kinds
        .iter()
        .find_map(|is_kind| {
            files.iter().find(|file| is_kind(&file.file_name().unwrap_or_default().to_string_lossy().to_lowercase()))
        })
        .cloned()
        .ok_or_else(|| anyhow!("the folder has neither `tokenizer.json`, `*.tiktoken` nor a sentencepiece `*.model`"))
}
