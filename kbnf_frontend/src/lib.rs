//! KBNF text, the grammar language of the KBNF engine and of Formatron, to the grammar IR.
//!
//! In: a KBNF text. Out: [`Parsed`]: a [`Grammar`] in `exact` mode, and everything that is wrong with the text, all in
//! one run. Takes the newest language and what it has dropped (`except!`, `any!`); comments may stand anywhere.
//! Knows nothing of other front ends, of vocabularies and of parsing with the grammar. That KBNF's engine stops at the
//! first match is not a matter of the language, and not of this crate.
//!
//! ```
//! use larkspur_grammar::{Limits, SourceMap};
//! use larkspur_kbnf_frontend::{KbnfOptions, parse};
//!
//! let mut sources = SourceMap::new();
//! let source = sources.add("sum.kbnf", "start ::= number {'+' number}; number ::= #'[0-9]+';");
//! let parsed = parse(&sources, sources.whole(source), &KbnfOptions::new(&Limits::default()));
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.grammar.unwrap().rules.len(), 2);
//! ```
#![forbid(unsafe_code)]

mod ast;
mod body;
mod codes;
mod error;
mod lexer;
mod lower;
mod only_empty;
mod parser;
mod strings;

use larkspur_grammar::{Diagnostic, Grammar, Limits, SourceId, SourceMap, Span};

pub use ast::Ast;
pub use body::body_end;
pub use codes::CODES;

use error::{Mistake, Sink};

/// How to read a KBNF text.
#[derive(Clone, Copy, Debug)]
pub struct KbnfOptions<'a> {
    /// The nonterminal to start with; `start` if it is not given.
    pub start: Option<&'a str>,
    /// Bounds.
    pub limits: &'a Limits,
    /// The grammar's name, for messages and `@name`.
    pub name: &'a str,
}

impl<'a> KbnfOptions<'a> {
    /// A grammar without name that starts with `start`.
    pub fn new(limits: &'a Limits) -> Self {
        Self { start: None, limits, name: "" }
    }
}

/// What [`parse`] returns.
#[derive(Debug)]
pub struct Parsed {
    /// The grammar; `None` iff an error is in `diagnostics`.
    pub grammar: Option<Grammar>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a KBNF text, which may be a part of another. Cost: linear in the text.
pub fn parse(sources: &SourceMap, body: Span, options: &KbnfOptions) -> Parsed {
    let mut sink = Sink::new(options.limits);
    let Some(ast) = read(sources, body, options, &mut sink) else {
        return Parsed { grammar: None, diagnostics: sink.finish() };
    };
    let text = &sources.get(body.source).text;
    let grammar = lower::lower(text, &ast, options, Span { end: body.start, ..body }, &mut sink);
    Parsed { grammar: (!sink.has_errors()).then_some(grammar), diagnostics: sink.finish() }
}

/// Reads a KBNF text as far as its syntax tree, which prints as text with [`Ast::dump`].
pub fn parse_ast(sources: &SourceMap, source: SourceId, options: &KbnfOptions) -> (Option<Ast>, Vec<Diagnostic>) {
    let mut sink = Sink::new(options.limits);
    let ast = read(sources, sources.whole(source), options, &mut sink);
    (ast, sink.finish())
}

/// `None` if the text is over its limit.
fn read(sources: &SourceMap, body: Span, options: &KbnfOptions, sink: &mut Sink) -> Option<Ast> {
    let limit = options.limits.source_bytes_max.min(u32::MAX as usize);
    let used = (body.end - body.start) as usize;
    if used > limit {
        sink.report(Span { end: body.start, ..body }, Mistake::SourceTooLarge { limit, used });
        return None;
    }
    let text = &sources.get(body.source).text[..body.end as usize];
    let lexemes = lexer::lex(text, body, sink);
    Some(parser::parse(text, body.source, &lexemes, options.limits, sink))
}
