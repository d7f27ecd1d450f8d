//! The two engines on JSON Schemas, behind the trait that the other measurements use, with what this one asks besides.

use anyhow::{Context, Result, anyhow};
use clap::ValueEnum;
use larkspur::{CompileOptions, CompiledGrammar, EngineOptions, GrammarStats, Shortcuts, Source, Spelling, TokenMask};
use llguidance::api::TopLevelGrammar;
use llguidance::{ParserFactory, TokenParser};
use serde::Serialize;
use toktrie::{SimpleVob, TokEnv};

use super::tokenizer::Tokenizer;
use crate::engines::Engine;

/// An engine on JSON Schemas.
pub trait SchemaEngine: Engine + Sized {
    /// A new engine, which has seen no schema.
    fn start(tokenizer: &Tokenizer, setup: &Setup) -> Result<Self>;
    /// Whether the matchers of a grammar share what it learns.
    fn shares(&self) -> bool;
    /// A matcher that shares, also where [`Engine::matcher`] does not.
    fn warm_matcher(&self, grammar: &Self::Grammar) -> Result<Self::Matcher>;
    /// Whether the text so far is complete.
    fn is_accepting(matcher: &mut Self::Matcher) -> Result<bool>;
    /// Asks for the mask's id, where an engine has ids.
    fn mask_id(_: &mut Self::Matcher) -> Option<Result<()>> {
        None
    }
    fn fork(matcher: &Self::Matcher) -> Self::Matcher;
    fn rollback(matcher: &mut Self::Matcher, tokens: usize) -> Result<()>;
    /// What a grammar and its matchers have done so far.
    fn work_so_far(grammar: &Self::Grammar) -> Work;
    /// What the mask that `matcher` has just made took, given the work before it.
    fn work_of_mask(grammar: &Self::Grammar, matcher: &Self::Matcher, before: Work) -> Work;
    /// What the grammar holds.
    fn inside(grammar: &Self::Grammar) -> Option<GrammarStats>;
    /// Whether a schema was refused since no value is valid.
    fn is_unsatisfiable(error: &anyhow::Error) -> bool;
}

/// How engines are set up.
#[derive(Clone)]
pub struct Setup {
    /// How JSON is spelled for Larkspur; the peer has one way.
    pub spelling: Spelling,
    /// The texts that the JSON values are part of, if they are not all of them.
    pub host: Option<Host>,
    /// Matchers of the peer share the lexer with all others of the grammar, also in the cold settings.
    pub peer_shares: bool,
    /// Of Larkspur's engines.
    pub options: EngineOptions,
}

/// What an engine can do without beside [`Shortcuts`].
const SLICES: &str = "slices";
const SHARING: &str = "sharing";

/// Options of an engine that does without what is named as in `docs/mask.md`.
///
/// Errors: there is no such thing.
pub fn options_without(names: &[String]) -> Result<EngineOptions> {
    let mut options = EngineOptions::default();
    for name in names {
        match &**name {
            SLICES => options.slices.clear(),
            SHARING => options.limits.term_cache_bytes_max = 0,
            name => {
                let shortcut = Shortcuts::from_name(&name.to_ascii_uppercase());
                options.without |= shortcut.with_context(|| {
                    let shortcuts = Shortcuts::all().iter_names().map(|(name, _)| name.to_ascii_lowercase());
                    let all: Vec<String> = [SLICES, SHARING].map(str::to_owned).into_iter().chain(shortcuts).collect();
                    format!("there is no `{name}` to do without; there are {}", all.join(", "))
                })?;
            }
        }
    }
    Ok(options)
}

/// A text around a JSON value.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Host {
    /// A call of a tool, in a Lark grammar.
    Lark,
}

impl Host {
    /// The grammar around a schema.
    pub fn grammar(self, schema: &str) -> String {
        let Host::Lark = self;
        format!("start: \"<tool_call>\" call \"</tool_call>\"\ncall: %json {schema}\n")
    }

    /// The text around a value.
    pub fn text(self, value: &str) -> String {
        let Host::Lark = self;
        format!("<tool_call>{value}</tool_call>")
    }
}

/// What masks have cost, as counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Work {
    /// Trie nodes visited.
    pub nodes: u64,
    /// Lexer states built.
    pub lexer_states: u64,
    /// Earley sets built.
    pub sets: u64,
    /// Scans whose result was not known.
    pub scan_misses: u64,
    /// Masks found in the memo.
    pub hits: u64,
}

impl Work {
    /// Both together.
    pub fn plus(self, other: Work) -> Work {
        Work {
            nodes: self.nodes + other.nodes,
            lexer_states: self.lexer_states + other.lexer_states,
            sets: self.sets + other.sets,
            scan_misses: self.scan_misses + other.scan_misses,
            hits: self.hits + other.hits,
        }
    }

    /// What was done since `before`.
    pub fn since(self, before: Work) -> Work {
        Work {
            nodes: self.nodes.saturating_sub(before.nodes),
            lexer_states: self.lexer_states.saturating_sub(before.lexer_states),
            sets: self.sets.saturating_sub(before.sets),
            scan_misses: self.scan_misses.saturating_sub(before.scan_misses),
            hits: self.hits.saturating_sub(before.hits),
        }
    }
}

/// Larkspur through its facade.
pub struct Larkspur {
    engine: larkspur::Engine,
    options: CompileOptions,
    host: Option<Host>,
}

/// What Larkspur compiles.
pub fn source(text: &str, host: Option<Host>) -> Source {
    match host {
        None => Source::json_schema(text),
        Some(Host::Lark) => Source::lark(text),
    }
}

/// A schema was refused.
#[derive(Debug, thiserror::Error)]
#[error("{code} {message}")]
pub struct Refused {
    code: &'static str,
    message: String,
}

/// Codes of schemas for which no value is valid.
const UNSATISFIABLE: [&str; 2] = ["J020", "J021"];

impl Larkspur {
    pub fn over(engine: larkspur::Engine, spelling: Spelling, host: Option<Host>) -> Self {
        let options = CompileOptions { spelling, ..CompileOptions::default() };
        Self { engine, options, host }
    }
}

impl Engine for Larkspur {
    const NAME: &'static str = "larkspur";
    type Grammar = CompiledGrammar;
    type Matcher = larkspur::Matcher;
    type Mask = TokenMask;

    /// Ready for the first mask: a matcher at the start has been made once, as the peer makes one.
    fn compile(&self, text: &str) -> Result<CompiledGrammar> {
        let grammar = self.engine.compile_with(&source(text, self.host), &self.options).map_err(|error| {
            let first = error.diagnostics.iter().find(|diagnostic| diagnostic.is_error());
            let (code, message) = first.map_or(("", String::new()), |error| (error.code, error.message.clone()));
            Refused { code, message }
        })?;
        grammar.matcher()?;
        Ok(grammar)
    }

    fn matcher(&self, grammar: &CompiledGrammar) -> Result<larkspur::Matcher> {
        Ok(grammar.matcher()?)
    }

    fn no_mask(&self) -> TokenMask {
        TokenMask::new(self.engine.vocabulary().len())
    }

    fn mask(matcher: &mut larkspur::Matcher, mask: &mut TokenMask) -> Result<()> {
        Ok(matcher.compute_mask(mask)?)
    }

    fn words(mask: &TokenMask) -> &[u32] {
        mask.words()
    }

    fn consume(matcher: &mut larkspur::Matcher, token: u32) -> Result<()> {
        matcher.consume_token(token)?;
        Ok(())
    }
}

impl SchemaEngine for Larkspur {
    fn start(tokenizer: &Tokenizer, setup: &Setup) -> Result<Self> {
        let engine = larkspur::Engine::with_options(tokenizer.vocabulary().clone(), &setup.options)?;
        Ok(Self::over(engine, setup.spelling.clone(), setup.host))
    }

    fn shares(&self) -> bool {
        true
    }

    fn warm_matcher(&self, grammar: &CompiledGrammar) -> Result<larkspur::Matcher> {
        self.matcher(grammar)
    }

    fn is_accepting(matcher: &mut larkspur::Matcher) -> Result<bool> {
        Ok(matcher.is_accepting()?)
    }

    fn mask_id(matcher: &mut larkspur::Matcher) -> Option<Result<()>> {
        Some(matcher.compute_mask_id().map(|_| ()).map_err(Into::into))
    }

    fn fork(matcher: &larkspur::Matcher) -> larkspur::Matcher {
        matcher.fork()
    }

    fn rollback(matcher: &mut larkspur::Matcher, tokens: usize) -> Result<()> {
        Ok(matcher.rollback(tokens)?)
    }

    fn work_so_far(grammar: &CompiledGrammar) -> Work {
        let stats = grammar.stats();
        Work {
            nodes: stats.masks.nodes_visited,
            lexer_states: stats.lexer_states as u64,
            sets: stats.earley_sets as u64,
            scan_misses: stats.scan_misses,
            hits: stats.masks.hits,
        }
    }

    fn work_of_mask(grammar: &CompiledGrammar, _matcher: &larkspur::Matcher, before: Work) -> Work {
        Self::work_so_far(grammar).since(before)
    }

    fn inside(grammar: &CompiledGrammar) -> Option<GrammarStats> {
        Some(grammar.stats())
    }

    fn is_unsatisfiable(error: &anyhow::Error) -> bool {
        error.downcast_ref::<Refused>().is_some_and(|refused| UNSATISFIABLE.contains(&refused.code))
    }
}

/// The peer, as it is by default and as MaskBench runs it.
pub struct LlGuidance {
    factory: ParserFactory,
    shares: bool,
    host: Option<Host>,
}

impl LlGuidance {
    pub fn over(env: &TokEnv, shares: bool, host: Option<Host>) -> Result<Self> {
        let mut factory = ParserFactory::new_simple(env)?;
        factory.quiet();
        factory.limits_mut().verbose_errors = false;
        Ok(Self { factory, shares, host })
    }
}

fn peer_matcher(parser: TokenParser) -> Result<llguidance::Matcher> {
    let matcher = llguidance::Matcher::new(Ok(parser));
    match matcher.get_error() {
        Some(error) => Err(anyhow!(error)),
        None => Ok(matcher),
    }
}

impl Engine for LlGuidance {
    const NAME: &'static str = "llguidance";
    /// A parser at the start of a text.
    type Grammar = TokenParser;
    type Matcher = llguidance::Matcher;
    type Mask = Option<SimpleVob>;

    fn compile(&self, text: &str) -> Result<TokenParser> {
        let grammar = match self.host {
            None => TopLevelGrammar::from_json_schema(serde_json::from_str(text)?),
            Some(Host::Lark) => TopLevelGrammar::from_lark(text.to_owned()),
        };
        let mut parser = self.factory.create_parser(grammar)?;
        parser.start_without_prompt();
        Ok(parser)
    }

    /// MaskBench gives each instance a parser of its own, with a lexer as it was after compiling.
    fn matcher(&self, grammar: &TokenParser) -> Result<llguidance::Matcher> {
        peer_matcher(if self.shares { grammar.clone() } else { grammar.deep_clone() })
    }

    fn no_mask(&self) -> Option<SimpleVob> {
        None
    }

    fn mask(matcher: &mut llguidance::Matcher, mask: &mut Option<SimpleVob>) -> Result<()> {
        *mask = Some(matcher.compute_mask_or_eos()?);
        Ok(())
    }

    fn words(mask: &Option<SimpleVob>) -> &[u32] {
        mask.as_ref().map_or(&[], SimpleVob::as_slice)
    }

    fn consume(matcher: &mut llguidance::Matcher, token: u32) -> Result<()> {
        matcher.consume_token(token)
    }
}

impl SchemaEngine for LlGuidance {
    fn start(tokenizer: &Tokenizer, setup: &Setup) -> Result<Self> {
        Self::over(tokenizer.env(), setup.peer_shares, setup.host)
    }

    fn shares(&self) -> bool {
        self.shares
    }

    fn warm_matcher(&self, grammar: &TokenParser) -> Result<llguidance::Matcher> {
        peer_matcher(grammar.clone())
    }

    fn is_accepting(matcher: &mut llguidance::Matcher) -> Result<bool> {
        matcher.is_accepting()
    }

    fn fork(matcher: &llguidance::Matcher) -> llguidance::Matcher {
        matcher.clone()
    }

    fn rollback(matcher: &mut llguidance::Matcher, tokens: usize) -> Result<()> {
        matcher.rollback(tokens)
    }

    fn work_so_far(_grammar: &TokenParser) -> Work {
        Work::default()
    }

    /// The peer counts by steps.
    fn work_of_mask(_grammar: &TokenParser, matcher: &llguidance::Matcher, _before: Work) -> Work {
        let nodes = matcher.last_step_stats().map_or(0, |stats| stats.trie_nodes_walked as u64);
        Work { nodes, ..Work::default() }
    }

    fn inside(_grammar: &TokenParser) -> Option<GrammarStats> {
        None
    }

    fn is_unsatisfiable(error: &anyhow::Error) -> bool {
        format!("{error:#}").contains("nsatisfiable")
    }
}
