//! The engine and what it compiles.

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use larkspur_grammar::{Diagnostic, LexerMode, Limits, SourceMap};
use larkspur_json_schema::LateWarnings;
use larkspur_parser::{EngineOptions, GrammarStats, Matcher, MatcherError, MatcherOptions, Shared, SliceError};
use larkspur_toktrie::Vocabulary;

use crate::compile::{CompileOptions, Linked, link_with_late_warnings, with_late};
use crate::error::CompileError;
use crate::recent::{Key, Recent};
use crate::source::Source;

/// What all grammars of one vocabulary share. Cheap to clone; one is enough for a process and a vocabulary.
#[derive(Clone)]
pub struct Engine {
    shared: Shared,
    recent: Arc<Recent>,
}

impl Engine {
    /// An engine with default limits and slices. Cost: tens of milliseconds for 200,000 tokens.
    pub fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self::with_options(vocabulary, &EngineOptions::default())
            .expect("the default slices are regexes of small automata")
    }

    /// An engine with limits and slices of the caller's choice.
    ///
    /// Errors: [`SliceError`] if a slice is not a regex or needs too many states, if there are too many slices, or if a limit
    /// is too small for one, also for one of [`DEFAULT_SLICES`](crate::DEFAULT_SLICES).
    pub fn with_options(vocabulary: Arc<Vocabulary>, options: &EngineOptions) -> Result<Self, SliceError> {
        let recent = Arc::new(Recent::new(options.limits.grammars_kept_bytes_max));
        Ok(Self { shared: Shared::new(vocabulary, options)?, recent })
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.shared.vocabulary()
    }

    /// The limits that sources, grammars and matchers meet.
    pub fn limits(&self) -> &Limits {
        self.shared.limits()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    #[cfg(test)]
    pub(crate) fn recent(&self) -> &Recent {
        &self.recent
    }

    /// Compiles a source. One that was compiled lately gives the same grammar again, with all that it has learnt: the last
    /// 64 are kept, or as many as `grammars_kept_bytes_max` allows.
    ///
    /// Errors: everything that is wrong with it, with the places.
    pub fn compile(&self, source: &Source) -> Result<CompiledGrammar, CompileError> {
        self.compile_with(source, &CompileOptions::default())
    }

    /// Compiles a source that is read as `options` say. What may depend on files, by `modules` or `retriever`, is compiled
    /// anew each time.
    ///
    /// Errors: as [`compile`](Self::compile).
    pub fn compile_with(&self, source: &Source, options: &CompileOptions) -> Result<CompiledGrammar, CompileError> {
        let era = self.shared.era_number();
        if let Some(inner) = self.recent.get(source, options, era) {
            return Ok(CompiledGrammar { inner, recent: Arc::downgrade(&self.recent) });
        }
        let (linked, late) = link_with_late_warnings(source, options, self.limits())?;
        let mut compiled = self.compile_with_late_warnings(linked, late)?;
        if let Some(key) = Key::new(source, options) {
            self.recent.keep(key, compiled.inner.clone(), self.shared.era_number());
            compiled.recent = Arc::downgrade(&self.recent);
        }
        Ok(compiled)
    }

    /// Compiles what [`link`](crate::link) returned: for callers that look at the grammar before they choose a vocabulary.
    ///
    /// Errors: what shows only with a vocabulary, such as a special token that it does not have, or only in the regex
    /// algebra, such as a grammar that matches no text.
    pub fn compile_linked(&self, linked: Linked) -> Result<CompiledGrammar, CompileError> {
        self.compile_with_late_warnings(linked, Vec::new())
    }

    fn compile_with_late_warnings(
        &self,
        linked: Linked,
        late: Vec<LateWarnings>,
    ) -> Result<CompiledGrammar, CompileError> {
        let Linked { grammar, sources, warnings, max_tokens } = linked;
        match larkspur_parser::CompiledGrammar::compile(&self.shared, grammar) {
            Ok(compiled) => {
                let inner = Inner::new(compiled, sources, warnings, max_tokens);
                Ok(CompiledGrammar::new(Inner { late, ..inner }))
            }
            Err(errors) => {
                let mut diagnostics = with_late(warnings, &late);
                // That nothing is matched is said once.
                let place = |found: &Diagnostic| found.labels.first().map(|label| label.span);
                let is_said = |warning: &Diagnostic| {
                    let is_same = |error: &Diagnostic| error.code == "P001" && place(error) == place(warning);
                    ["G104", "P002"].contains(&warning.code) && errors.iter().any(is_same)
                };
                diagnostics.retain(|warning| !is_said(warning));
                let errors: Vec<Diagnostic> = errors.iter().filter(|found| !is_said(found)).cloned().collect();
                diagnostics.extend(errors);
                Err(CompileError { diagnostics, sources })
            }
        }
    }
}

/// The vocabulary only: the tables in full fill books.
impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("vocabulary", self.vocabulary()).finish_non_exhaustive()
    }
}

/// A grammar, ready to match. `Send + Sync`, cheap to clone.
#[derive(Clone)]
pub struct CompiledGrammar {
    inner: Arc<Inner>,
    /// Where its engine keeps it, if it does.
    recent: Weak<Recent>,
}

/// A request ends where nobody but the engine has its grammar any more: the engine measures that, and frees grammars that it let
/// go while others waited for theirs. A clone that goes ends nothing.
impl Drop for CompiledGrammar {
    fn drop(&mut self) {
        // This one and the engine's.
        let is_last = Arc::strong_count(&self.inner) <= 2;
        if is_last && let Some(recent) = self.recent.upgrade() {
            recent.end(&self.inner);
        }
    }
}

pub(crate) struct Inner {
    pub compiled: larkspur_parser::CompiledGrammar,
    pub sources: SourceMap,
    /// Those of the front ends.
    read_warnings: Vec<Diagnostic>,
    /// What is besides to be said of schemas.
    late: Vec<LateWarnings>,
    /// All, once somebody has asked.
    warnings: OnceLock<Vec<Diagnostic>>,
    pub max_tokens: Option<u32>,
}

impl Inner {
    /// A grammar with what its front ends have warned of.
    pub fn new(
        compiled: larkspur_parser::CompiledGrammar,
        sources: SourceMap,
        read_warnings: Vec<Diagnostic>,
        max_tokens: Option<u32>,
    ) -> Self {
        Self { compiled, sources, read_warnings, late: Vec::new(), warnings: OnceLock::new(), max_tokens }
    }

    /// Bytes of what matchers have built, roughly; `None` while one is at work.
    pub fn bytes(&self) -> Option<usize> {
        self.compiled.bytes()
    }
}

impl CompiledGrammar {
    pub(crate) fn new(inner: Inner) -> Self {
        Self { inner: Arc::new(inner), recent: Weak::new() }
    }

    /// A matcher for one text, with the budget of tokens that the source gave.
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    pub fn matcher(&self) -> Result<Matcher, MatcherError> {
        self.matcher_with(MatcherOptions::default())
    }

    /// A matcher for one text. Of the budgets of tokens in `options` and in the source, the smaller holds.
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    pub fn matcher_with(&self, mut options: MatcherOptions) -> Result<Matcher, MatcherError> {
        options.max_tokens = options.max_tokens.into_iter().chain(self.inner.max_tokens).min();
        Matcher::new(&self.inner.compiled, options)
    }

    /// Has matchers on several threads read known masks, and where tokens lead, without waiting for each other. That begins by
    /// itself once one has had to wait. Cost: up to 10 MB and a quarter of `mask_cache_bytes_max`, as they are filled.
    pub fn publish(&self) {
        self.inner.compiled.publish();
    }

    pub(crate) fn compiled(&self) -> &larkspur_parser::CompiledGrammar {
        &self.inner.compiled
    }

    /// Tokens of the whole text at most, as a list of grammars says with `max_tokens`.
    pub fn max_tokens(&self) -> Option<u32> {
        self.inner.max_tokens
    }

    /// What is probably not meant as it is written. Cost: the first time some microseconds for each, and in `longest` mode a
    /// search of some hundred.
    pub fn warnings(&self) -> &[Diagnostic] {
        let Inner { compiled, read_warnings, late, warnings, .. } = &*self.inner;
        warnings.get_or_init(|| {
            let mut all = with_late(read_warnings.clone(), late);
            all.extend(compiled.warnings().iter().cloned());
            all
        })
    }

    /// What the spans of [`warnings`](Self::warnings) point into.
    pub fn sources(&self) -> &SourceMap {
        &self.inner.sources
    }

    /// The lexer mode that holds.
    pub fn lexer_mode(&self) -> LexerMode {
        self.inner.compiled.lexer_mode()
    }

    /// Sizes of what has been built so far.
    pub fn stats(&self) -> GrammarStats {
        self.inner.compiled.stats()
    }

    /// The lexemes as text, with ids that depend on nothing but the grammar.
    pub fn dump_lexer(&self) -> String {
        self.inner.compiled.dump_lexer()
    }

    /// The lowered rules as text, with ids that depend on nothing but the grammar.
    pub fn dump_cfg(&self) -> String {
        self.inner.compiled.dump_cfg()
    }
}

/// Sizes and settings only.
impl fmt::Debug for CompiledGrammar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledGrammar")
            .field("lexer_mode", &self.lexer_mode())
            .field("max_tokens", &self.inner.max_tokens)
            .field("known_warnings", &self.inner.warnings.get().map(Vec::len))
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
