//! Arguments, as `--help` shows them.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use larkspur::{LexerMode, SourceKind, Spelling};

/// Grammars for language models: which tokens keep a text inside the language.
#[derive(Debug, Parser)]
#[command(name = "larkspur", version, about, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile grammars and print what is wrong with them.
    Check(CheckArgs),
    /// Say whether a grammar accepts a text, and where it does not.
    Match(MatchArgs),
    /// Show the tokens that a grammar allows after a text.
    Mask(MaskArgs),
    /// Follow a text token by token: allowed tokens, forced bytes, lexemes, time.
    Trace(MatchArgs),
    /// Generate random sentences of a grammar by sampling from its masks.
    Generate(GenerateArgs),
    /// Print what a grammar looks like inside.
    Dump(DumpArgs),
    /// Write a grammar in another language.
    Convert(ConvertArgs),
    /// Run suites of JSON Schemas with instances, and count the right verdicts.
    Conformance(ConformanceArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
}

/// How a grammar is read.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// The rule to start with [default: start].
    #[arg(long, value_name = "RULE")]
    pub start: Option<String>,
    /// How lexemes end; beats what the grammar says.
    #[arg(long, value_enum)]
    pub lexer: Option<Lexer>,
    /// What the grammar is written in [default: as the file name says; lark for standard input].
    #[arg(long, value_enum)]
    pub kind: Option<Kind>,
    /// How JSON values are written: as a generator writes them, or in any way that JSON has [default: validate for
    /// `match` with a schema, else generate].
    #[arg(long, value_enum)]
    pub profile: Option<Profile>,
    /// Read Lark with llguidance's defaults, as if it began with `%llguidance {}`.
    #[arg(long)]
    pub llguidance: bool,
    /// A folder in which `%import` looks first. May be repeated. Beside these, imports that begin with a dot read files
    /// below the folder of the grammar.
    #[arg(long = "import-path", value_name = "FOLDER")]
    pub import_paths: Vec<String>,
    /// A document that JSON Schemas may refer to: by its `$id`, or by the file's name as it is given here. May be
    /// repeated. Nothing else is loaded.
    #[arg(long = "ref", value_name = "FILE")]
    pub refs: Vec<String>,
    /// The vocabulary: tokenizer.json, *.tiktoken or a sentencepiece .model, a folder with one of them, or `o200k`,
    /// `o200k_harmony`, `cl100k`, `bytes` [default: o200k; for `check`, `dump` and `match` without token ids the single
    /// bytes and what tokens the grammar names].
    #[arg(long, value_name = "PATH|NAME")]
    pub tokenizer: Option<String>,
}

/// How a text is read.
#[derive(Debug, Args)]
pub(crate) struct TextArgs {
    /// In the text, the name of a special token (`<|name|>`, `<name>`) and `<[id]>` are tokens.
    #[arg(long)]
    pub special: bool,
    /// The text as token ids of the vocabulary [default: o200k], between commas.
    #[arg(long, value_name = "IDS", value_delimiter = ',', conflicts_with = "special")]
    pub token_ids: Option<Vec<u32>>,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Grammar files; `-` is standard input.
    #[arg(value_name = "FILE", required_unless_present = "explain")]
    pub files: Vec<String>,
    #[command(flatten)]
    pub read: ReadArgs,
    /// As text for people, or as JSON.
    #[arg(long, value_enum, default_value_t)]
    pub output: Output,
    /// Explain a code, such as L040, with an example of the mistake and its correction.
    #[arg(long, value_name = "CODE")]
    pub explain: Option<String>,
}

/// A text to be matched, or traced.
#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    /// Grammar file; `-` is standard input.
    pub grammar: String,
    /// The text; `-`, or nothing, is standard input. For a JSON Schema also the name of a `.json` file.
    #[arg(allow_hyphen_values = true, conflicts_with = "token_ids")]
    pub text: Option<String>,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub how: TextArgs,
    /// As text for people, or as JSON.
    #[arg(long, value_enum, default_value_t)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct MaskArgs {
    /// Grammar file; `-` is standard input.
    pub grammar: String,
    /// The text before; `-` is standard input [default: none].
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "token_ids")]
    pub after: Option<String>,
    #[command(flatten)]
    pub read: ReadArgs,
    #[command(flatten)]
    pub how: TextArgs,
    /// Every allowed token instead of a few.
    #[arg(long)]
    pub all: bool,
    /// As text for people, or as JSON.
    #[arg(long, value_enum, default_value_t)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct GenerateArgs {
    /// Grammar file; `-` is standard input.
    pub grammar: String,
    #[command(flatten)]
    pub read: ReadArgs,
    /// The same seed gives the same sentences [default: another one each time].
    #[arg(long)]
    pub seed: Option<u64>,
    /// Tokens of a sentence at most; at most 1,000 more follow if it is not complete by then.
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub max_tokens: u32,
    /// Sentences, one after the other.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub count: u32,
}

#[derive(Debug, Args)]
pub(crate) struct DumpArgs {
    /// Grammar file; `-` is standard input.
    pub grammar: String,
    /// Which stage.
    #[arg(long, value_enum)]
    pub stage: Stage,
    /// With `--stage ir`: after the simplifications up to this one, of those that run before lowering.
    #[arg(long, value_name = "NAME", value_parser = pass_names())]
    pub pass: Option<String>,
    #[command(flatten)]
    pub read: ReadArgs,
}

fn pass_names() -> clap::builder::PossibleValuesParser {
    let passes = larkspur::grammar::passes::PASSES.iter();
    passes.map(|pass| clap::builder::PossibleValue::new(pass.name).help(pass.title)).collect::<Vec<_>>().into()
}

#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// Grammar file; `-` is standard input.
    pub grammar: String,
    /// The language to write: Lark of GBNF, regexes and schemas, GBNF of anything else.
    #[arg(long, value_enum)]
    pub to: Target,
    #[command(flatten)]
    pub read: ReadArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ConformanceArgs {
    /// Folders: the official JSON Schema test suite (with `tests/` and `remotes/`), or MaskBench.
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// Only cases in whose set or file this stands.
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,
    /// Only every N-th case.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub step: usize,
    /// Show everything that is not right.
    #[arg(long)]
    pub failures: bool,
    /// As text for people, or as JSON.
    #[arg(long, value_enum, default_value_t)]
    pub output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell.
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Lexer {
    /// The longest match ends.
    Longest,
    /// Every way to split the text counts.
    Exact,
}

impl From<Lexer> for LexerMode {
    fn from(lexer: Lexer) -> Self {
        match lexer {
            Lexer::Longest => LexerMode::Longest,
            Lexer::Exact => LexerMode::Exact,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Profile {
    /// In the schema's order, numbers and strings in their plain spelling, little white space.
    Generate,
    /// Numbers, strings and white space in every spelling.
    Validate,
}

impl From<Profile> for Spelling {
    fn from(profile: Profile) -> Self {
        match profile {
            Profile::Generate => Spelling::generator(),
            Profile::Validate => Spelling::validator(),
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Kind {
    Lark,
    Regex,
    /// A schema, or a list of grammars.
    Json,
    Gbnf,
    Kbnf,
}

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Target {
    Lark,
    Gbnf,
}

impl From<Target> for SourceKind {
    fn from(target: Target) -> Self {
        match target {
            Target::Lark => SourceKind::Lark,
            Target::Gbnf => SourceKind::Gbnf,
        }
    }
}

impl From<Kind> for SourceKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Lark => SourceKind::Lark,
            Kind::Regex => SourceKind::Regex,
            Kind::Json => SourceKind::JsonSchema,
            Kind::Gbnf => SourceKind::Gbnf,
            Kind::Kbnf => SourceKind::Kbnf,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// The syntax tree.
    Ast,
    /// The intermediate representation, linked.
    Ir,
    /// The lexemes.
    Lexer,
    /// The rules after lowering.
    Cfg,
}
