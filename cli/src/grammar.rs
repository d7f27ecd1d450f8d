//! From a grammar's file to a compiled grammar.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use larkspur::{
    CompileOptions, CompiledGrammar, Diagnostic, Engine, Folder, Limits, Linked, Retriever, Severity, Source,
    SourceKind, Vocabulary,
};

use crate::args::{Lexer, Profile, ReadArgs};
use crate::render::{self, Unplaced};

/// How a grammar from standard input is called.
const STDIN: &str = "<stdin>";

impl ReadArgs {
    /// `profile` is that of the command. Fails if a file of `--ref` cannot be read.
    pub fn options(&self, source: &Source, profile: Profile) -> Result<CompileOptions> {
        let has_modes = matches!(source.kind(), None | Some(SourceKind::Lark | SourceKind::List));
        if matches!(self.lexer, Some(Lexer::Longest)) && !has_modes {
            bail!("{}: only Lark can be read in `longest` mode", source.name);
        }
        // What comes from standard input stands in the current folder.
        let folder = Folder::beside(if source.name == STDIN { "" } else { &source.name });
        if let Some(path) = self.import_paths.iter().find(|path| !Path::new(path).is_dir()) {
            bail!("--import-path: there is no folder `{path}`");
        }
        let folder = self.import_paths.iter().fold(folder, Folder::search);
        Ok(CompileOptions {
            modules: Some(folder.into()),
            spelling: self.profile.unwrap_or(profile).into(),
            start: self.start.clone(),
            lexer: self.lexer.map(Into::into),
            llguidance_face: self.llguidance,
            retriever: documents(&self.refs)?,
            ..CompileOptions::default()
        })
    }

    /// Reads a grammar's file.
    pub fn source(&self, path: &str) -> Result<Source> {
        let (name, bytes) = match path {
            "-" => (STDIN, read_stdin()?),
            _ => (path, std::fs::read(path).with_context(|| path.to_owned())?),
        };
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let line = error.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
                let message = format!("{name}: the grammar is not UTF-8 at byte {at} (line {line})");
                let diagnostic = Diagnostic::new("F009", Severity::Error, None, message);
                bail!(Unplaced(diagnostic.help("save it as UTF-8")))
            }
        };
        let kind = self.kind.map(SourceKind::from).or_else(|| (path == "-").then_some(SourceKind::Lark));
        match kind {
            Some(kind) => Ok(Source::from_file(name, kind, text)),
            None => Source::from_path_name(name, text).context("say it with `--kind`"),
        }
    }

    /// Reads and links a grammar. `None` if it has mistakes, which are then shown. `profile` is that of the command for
    /// JSON Schemas.
    pub fn linked(&self, path: &str, profile: Profile) -> Result<Option<Linked>> {
        self.linked_source(&self.source(path)?, profile)
    }

    /// Links a grammar. `None` if it has mistakes, which are then shown.
    pub fn linked_source(&self, source: &Source, profile: Profile) -> Result<Option<Linked>> {
        let is_schema = source.kind() == Some(SourceKind::JsonSchema);
        let options = self.options(source, if is_schema { profile } else { Profile::Generate })?;
        match larkspur::link(source, &options, &Limits::default()) {
            Ok(linked) => Ok(Some(linked)),
            Err(error) => {
                render::diagnostics(&mut anstream::stderr().lock(), &error.diagnostics, &error.sources)?;
                Ok(None)
            }
        }
    }
}

/// A retriever of these files, by their names and by the `$id`s in them.
fn documents(files: &[String]) -> Result<Option<Retriever>> {
    if files.is_empty() {
        return Ok(None);
    }
    let mut texts: HashMap<String, String> = HashMap::new();
    for file in files {
        let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
        let document: serde_json::Value = serde_json::from_str(&text).with_context(|| file.to_owned())?;
        let uri = document.get("$id").or(document.get("id")).and_then(serde_json::Value::as_str);
        if let Some(uri) = uri.map(|uri| uri.split('#').next().unwrap_or_default()) {
            texts.insert(uri.to_owned(), text.clone());
        }
        texts.insert(file.clone(), text);
    }
    Ok(Some(Retriever::new(move |uri| Ok(texts.get(uri).cloned()))))
}

/// Compiles what [`ReadArgs::linked`] returned. `None` if it has mistakes, which are then shown; of warnings only the
/// number is shown.
pub(crate) fn compile(path: &str, linked: Linked, vocabulary: Arc<Vocabulary>) -> Result<Option<CompiledGrammar>> {
    match Engine::new(vocabulary).compile_linked(linked) {
        Ok(grammar) => {
            match grammar.warnings().len() {
                0 => {}
                1 => render::note(&format!("one warning; `larkspur check {path}` shows it")),
                count => render::note(&format!("{count} warnings; `larkspur check {path}` shows them")),
            }
            Ok(Some(grammar))
        }
        Err(error) => {
            render::diagnostics(&mut anstream::stderr().lock(), &error.diagnostics, &error.sources)?;
            Ok(None)
        }
    }
}

/// All of standard input.
pub(crate) fn read_stdin() -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes).context("standard input")?;
    Ok(bytes)
}
