//! Lark text to the grammar IR.
//!
//! In: a Lark text, in Lark's language or llguidance's dialect of it, and what gives the texts that it imports. Out: [`Parsed`]: a [`Grammar`] and everything that
//! is wrong with the text, all in one run. Texts in other languages (`%json`) and names behind `@` are carried along
//! for the linker.
//! Knows nothing of other front ends, of vocabularies and of parsing with the grammar.
//!
//! ```
//! use larkspur_grammar::{Limits, SourceMap};
//! use larkspur_lark_frontend::{LarkOptions, parse};
//!
//! let mut sources = SourceMap::new();
//! let source = sources.add("sum.lark", "start: NUMBER (\"+\" NUMBER)*\n%import common.NUMBER\n");
//! let parsed = parse(&mut sources, source, &LarkOptions::new(&Limits::default()));
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.grammar.unwrap().rules.len(), 1);
//! ```
#![forbid(unsafe_code)]

pub mod ast;
mod attributes;
mod bodies;
mod codes;
mod common;
mod dump;
mod error;
mod expand;
mod follows;
mod foreign;
mod ignored;
mod indenter;
mod lexer;
mod lines;
mod load;
mod lower;
mod modules;
mod options;
mod params;
mod parser;
mod rules;
mod strings;
mod structured;
mod terminals;
mod tokens;
mod whole;

use larkspur_grammar::{
    Diagnostic, Grammar, GrammarOptions, IgnoreEdges, LexerMode, Limits, SourceId, SourceMap, Span,
};

pub use codes::CODES;
pub use lexer::{InnerLanguage, JsonBlock, SyntaxKind};
pub use modules::{ModuleResolver, ModuleText, Modules};

use ast::Ast;
use error::Sink;
use load::Loader;

/// How to read a Lark text.
#[derive(Clone, Copy, Debug)]
pub struct LarkOptions<'a> {
    /// The rule to start with; `start` if it is not given.
    pub start: Option<&'a str>,
    /// Bounds.
    pub limits: &'a Limits,
    /// Beats what the text says.
    pub lexer: Option<LexerMode>,
    /// Read the text as if it began with `%llguidance {}`: Rust's regexes, JSON's strings, [`IgnoreEdges::Open`].
    pub llguidance_face: bool,
    /// The grammar's name, for messages and `@name`.
    pub name: &'a str,
    /// Gives the texts that `%import` names. Without it there are only the libraries that are built in.
    pub modules: Option<&'a Modules>,
    /// Languages besides JSON whose texts may stand in this one.
    pub inner_languages: &'a [InnerLanguage],
    /// What other texts of the same source have taken of [`Limits::look_work_max`].
    pub look_work: u64,
}

impl<'a> LarkOptions<'a> {
    /// A grammar without name that starts with `start`.
    pub fn new(limits: &'a Limits) -> Self {
        Self {
            start: None,
            limits,
            lexer: None,
            llguidance_face: false,
            name: "",
            modules: None,
            inner_languages: &[],
            look_work: 0,
        }
    }
}

/// What [`parse`] returns.
#[derive(Debug)]
pub struct Parsed {
    /// The grammar; `None` iff an error is in `diagnostics`.
    pub grammar: Option<Grammar>,
    /// The texts in other languages with the words behind their `%`, also of a text with errors; of `%json` those that are
    /// JSON.
    pub inner_texts: Vec<(&'static str, Span)>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// [`LarkOptions::look_work`] and what this text has taken.
    pub look_work: u64,
}

/// Reads a Lark text: lexer, parser, imports and templates, lowering. The texts that it imports are added to `sources`.
pub fn parse(sources: &mut SourceMap, source: SourceId, options: &LarkOptions) -> Parsed {
    let mut sink = Sink::new(options.limits);
    let mut look_work = options.look_work;
    let Some(mut loader) = Loader::new(sources, source, options, &mut sink) else {
        return Parsed { grammar: None, inner_texts: Vec::new(), diagnostics: sink.finish(), look_work };
    };
    expand::expand(&mut loader);
    let (ast, is_over) = (loader.ast, loader.is_over);
    // Of what is over the limits nothing more is said.
    if is_over {
        return Parsed { grammar: None, inner_texts: ast.inner_texts(), diagnostics: sink.finish(), look_work };
    }
    let rust = ast.rust.contains(&source);
    let ignore_edges = if rust { IgnoreEdges::Open } else { IgnoreEdges::Both };
    let setting = lower::Setting {
        sources,
        ast: &ast,
        limits: options.limits,
        defaults: GrammarOptions { ignore_edges, ..GrammarOptions::default() },
        lexer: options.lexer,
        nested: false,
    };
    let whole = Span::new(source, 0, 0);
    let grammar = lower::lower(setting, options.name, options.start, whole, &mut look_work, &mut sink);
    let grammar = (!sink.has_errors()).then_some(grammar);
    Parsed { grammar, inner_texts: ast.inner_texts(), diagnostics: sink.finish(), look_work }
}

/// The comments of a Lark text, in order; those of a text with mistakes may be incomplete.
pub fn comments(sources: &SourceMap, source: SourceId, options: &LarkOptions) -> Vec<Span> {
    let mut sink = Sink::new(options.limits);
    let text = &sources.get(source).text;
    let languages = options.inner_languages;
    lexer::lex(text, source, options.llguidance_face, languages, options.limits, &mut sink).comments
}

/// Reads a Lark text as far as its syntax tree, which prints as text with [`Ast::dump`]. The tree of a text with
/// mistakes lacks what could not be read. Imports are not followed.
pub fn parse_ast(sources: &SourceMap, source: SourceId, options: &LarkOptions) -> (Option<Ast>, Vec<Diagnostic>) {
    let mut sink = Sink::new(options.limits);
    let mut sources = sources.clone();
    let ast = Loader::new(&mut sources, source, options, &mut sink).map(|loader| loader.ast);
    (ast, sink.finish())
}
