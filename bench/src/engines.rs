//! The two engines behind one trait, so that both are measured by the same loop.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use larkspur::{CompileOptions, Source};
use larkspur_grammar::{Diagnostic, Limits, SourceMap, link};
use larkspur_lark_frontend::LarkOptions;
use larkspur_parser::{CompiledGrammar, EngineOptions, MatcherOptions, Shared};
use larkspur_toktrie::{TokenMask, Vocabulary};
use llguidance::api::TopLevelGrammar;
use llguidance::{ParserFactory, TokenParser};
use toktrie::{SimpleVob, TokEnv};

use crate::vocabulary::VOCABULARY_LEN;

/// What is put before a grammar's text, for both engines: the dialect that both read the same way (Rust's regexes, no
/// ignored text at the edges), and masks that are not narrowed to the canonical token.
pub const HEADER: &str = "%llguidance {\"no_forcing\": true}\n";

/// What is measured.
pub trait Engine {
    const NAME: &'static str;
    type Grammar;
    type Matcher;
    /// What a mask is written into, or comes as.
    type Mask;

    fn compile(&self, grammar: &str) -> Result<Self::Grammar>;
    /// A matcher at the start of a text. It shares what the grammar has learnt from earlier matchers.
    fn matcher(&self, grammar: &Self::Grammar) -> Result<Self::Matcher>;
    /// A mask before the first.
    fn no_mask(&self) -> Self::Mask;
    fn mask(matcher: &mut Self::Matcher, mask: &mut Self::Mask) -> Result<()>;
    /// The mask as words of 32 tokens, least significant bit first.
    fn words(mask: &Self::Mask) -> &[u32];
    fn consume(matcher: &mut Self::Matcher, token: u32) -> Result<()>;
    /// What has grown with the grammar's use, for the table.
    fn stats(_grammar: &Self::Grammar) -> Option<String> {
        None
    }
}

/// Larkspur.
pub struct Larkspur {
    shared: Shared,
}

impl Larkspur {
    pub fn new(vocabulary: &Arc<Vocabulary>) -> Result<Self> {
        Ok(Self { shared: Shared::new(vocabulary.clone(), &EngineOptions::default())? })
    }

    /// Compiles a source of any language.
    pub fn compile_source(&self, source: &Source, options: &CompileOptions) -> Result<CompiledGrammar> {
        let linked = larkspur::link(source, options, self.shared.limits()).map_err(|error| anyhow!("{error}"))?;
        CompiledGrammar::compile(&self.shared, linked.grammar).map_err(as_error)
    }
}

fn as_error(diagnostics: Vec<Diagnostic>) -> anyhow::Error {
    let messages: Vec<&str> = diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    anyhow!("{}", messages.join("; "))
}

impl Engine for Larkspur {
    const NAME: &'static str = "larkspur";
    type Grammar = CompiledGrammar;
    type Matcher = larkspur_parser::Matcher;
    type Mask = TokenMask;

    fn compile(&self, grammar: &str) -> Result<CompiledGrammar> {
        let limits: &Limits = self.shared.limits();
        let mut sources = SourceMap::new();
        let source = sources.add("bench.lark", format!("{HEADER}{grammar}"));
        let parsed = larkspur_lark_frontend::parse(&mut sources, source, &LarkOptions::new(limits));
        let grammar = parsed.grammar.ok_or_else(|| as_error(parsed.diagnostics))?;
        let linked = link(vec![grammar], |_, _| unreachable!("no grammar here has %json")).map_err(as_error)?;
        CompiledGrammar::compile(&self.shared, linked).map_err(as_error)
    }

    fn matcher(&self, grammar: &CompiledGrammar) -> Result<Self::Matcher> {
        Ok(larkspur_parser::Matcher::new(grammar, MatcherOptions::default())?)
    }

    fn no_mask(&self) -> TokenMask {
        TokenMask::new(VOCABULARY_LEN)
    }

    fn mask(matcher: &mut Self::Matcher, mask: &mut TokenMask) -> Result<()> {
        Ok(matcher.compute_mask(mask)?)
    }

    fn words(mask: &TokenMask) -> &[u32] {
        mask.words()
    }

    fn consume(matcher: &mut Self::Matcher, token: u32) -> Result<()> {
        matcher.consume_token(token)?;
        Ok(())
    }

    fn stats(grammar: &CompiledGrammar) -> Option<String> {
        let stats = grammar.stats();
        Some(format!(
            "{} lexer states, {} sets, {} items, scans {} of which new {}, masks new {}, trie nodes {}",
            stats.lexer_states,
            stats.earley_sets,
            stats.earley_items,
            stats.scan_hits + stats.scan_misses,
            stats.scan_misses,
            stats.masks.misses,
            stats.masks.nodes_visited,
        ))
    }
}

/// The peer.
pub struct LlGuidance {
    factory: ParserFactory,
    /// Whether masks are narrowed to the canonical token where the text is forced: its default.
    forcing: bool,
}

impl LlGuidance {
    /// With `forcing`, masks and limits are as by default; else masks are not narrowed, and a mask may take any work,
    /// since the C subset exceeds the default limit.
    pub fn new(env: &TokEnv, forcing: bool) -> Result<Self> {
        let mut factory = ParserFactory::new_simple(env)?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        if !forcing {
            factory.limits_mut().step_max_items = 100_000_000;
            factory.limits_mut().step_lexer_fuel = 100_000_000;
        }
        Ok(Self { factory, forcing })
    }
}

impl Engine for LlGuidance {
    const NAME: &'static str = "llguidance";
    /// A parser at the start of a text; its clones share the lexer.
    type Grammar = TokenParser;
    type Matcher = llguidance::Matcher;
    type Mask = Option<SimpleVob>;

    fn compile(&self, grammar: &str) -> Result<TokenParser> {
        let text = if self.forcing { grammar.to_owned() } else { format!("{HEADER}{grammar}") };
        self.factory.create_parser(TopLevelGrammar::from_lark(text))
    }

    fn matcher(&self, grammar: &TokenParser) -> Result<Self::Matcher> {
        let matcher = llguidance::Matcher::new(Ok(grammar.clone()));
        match matcher.get_error() {
            Some(error) => Err(anyhow!(error)),
            None => Ok(matcher),
        }
    }

    fn no_mask(&self) -> Option<SimpleVob> {
        None
    }

    fn mask(matcher: &mut Self::Matcher, mask: &mut Option<SimpleVob>) -> Result<()> {
        *mask = Some(matcher.compute_mask_or_eos()?);
        Ok(())
    }

    fn words(mask: &Option<SimpleVob>) -> &[u32] {
        mask.as_ref().map_or(&[], SimpleVob::as_slice)
    }

    fn consume(matcher: &mut Self::Matcher, token: u32) -> Result<()> {
        matcher.consume_token(token)
    }
}
