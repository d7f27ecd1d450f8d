//! Larkspur as an engine to be judged: byte by byte, in the validator's spelling.

use std::sync::Arc;

use larkspur::{
    CompileOptions, CompiledGrammar, Diagnostic, Engine as Larkspur, EngineOptions, MatcherError, Retriever, Source,
    Spelling, Vocabulary,
};

use crate::run::{Engine, Judge, Refusal};
use crate::suite::Case;

/// Codes of schemas for which no value is valid.
const UNSATISFIABLE: [&str; 2] = ["J020", "J021"];

/// Larkspur.
pub struct LarkspurEngine {
    name: &'static str,
    engine: Larkspur,
    options: CompileOptions,
}

impl LarkspurEngine {
    /// An engine over single bytes that takes JSON in any spelling; `retriever` has the documents that schemas refer to.
    pub fn new(retriever: &Retriever) -> Self {
        Self::with_spelling("larkspur", retriever, Spelling::validator())
    }

    /// The same for another spelling, under a name of its own.
    pub fn with_spelling(name: &'static str, retriever: &Retriever, spelling: Spelling) -> Self {
        let options = EngineOptions { slices: Vec::new(), ..EngineOptions::default() };
        let vocabulary = Arc::new(Vocabulary::single_bytes());
        let engine =
            Larkspur::with_options(vocabulary, &options).expect("without slices nothing can be wrong with them");
        let retriever = Some(retriever.clone());
        Self { name, engine, options: CompileOptions { retriever, spelling, ..CompileOptions::default() } }
    }
}

impl Engine for LarkspurEngine {
    fn name(&self) -> &'static str {
        self.name
    }
    fn compile(&self, case: &Case) -> Result<Box<dyn Judge>, Refusal> {
        let options = CompileOptions {
            draft: Some(case.draft),
            format_annotation: case.format_annotation,
            ..self.options.clone()
        };
        match self.engine.compile_with(&Source::json_schema(case.schema.as_str()), &options) {
            Ok(grammar) => Ok(Box::new(grammar)),
            Err(error) => Err(refusal(error.diagnostics.iter().find(|diagnostic| diagnostic.is_error()))),
        }
    }
}

fn refusal(error: Option<&Diagnostic>) -> Refusal {
    let Some(error) = error else { return Refusal::default() };
    Refusal {
        reason: format!("{} {}", error.code, without_places(&error.message)),
        message: error.message.clone(),
        is_unsatisfiable: UNSATISFIABLE.contains(&error.code),
    }
}

/// A message without what differs between schemas: pointers and other names in back quotes but the first.
fn without_places(message: &str) -> String {
    let mut parts = message.split('`');
    let mut out = parts.next().unwrap_or_default().to_owned();
    let mut quoted = true;
    for (index, part) in parts.enumerate() {
        match quoted {
            true if index == 0 && !part.starts_with('/') => out.extend(["`", part, "`"]),
            true => out.push('…'),
            false => out.push_str(part),
        }
        quoted = !quoted;
    }
    out
}

impl Judge for CompiledGrammar {
    fn accepts(&self, text: &str) -> Result<bool, String> {
        let mut matcher = self.matcher().map_err(|error| error.to_string())?;
        match matcher.consume_bytes(text.as_bytes()) {
            Ok(()) => matcher.is_accepting().map_err(|error| error.to_string()),
            Err(MatcherError::TextRejected { .. } | MatcherError::Stopped) => Ok(false),
            Err(error) => Err(error.to_string()),
        }
    }
}
