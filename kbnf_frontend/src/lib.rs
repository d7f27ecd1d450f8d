//! KBNF text, the grammar language of the KBNF engine and of Formatron, to the grammar IR.
//!
//! In: a KBNF text. Out: [`Parsed`]: a [`Grammar`](larkspur_grammar::Grammar) in `exact` mode, and everything that is wrong
//! with the text, all in one run. Takes the newest language and what it has dropped (`except!`, `any!`); comments may stand anywhere.
//! Knows nothing of other front ends, of vocabularies and of parsing with the grammar. That KBNF's engine stops at the
//! first match is not a matter of the language, and not of this crate.
//!
//! ```
//! use larkspur_grammar::{Limits, SourceMap, definitions::ReadOptions};
//! use larkspur_kbnf_frontend::parse;
//!
//! let mut sources = SourceMap::new();
//! let source = sources.add("sum.kbnf", "start ::= number {'+' number}; number ::= #'[0-9]+';");
//! let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(&Limits::default()));
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

use larkspur_grammar::definitions::{Parsed, ReadOptions, is_too_long};
use larkspur_grammar::{Diagnostic, SourceId, SourceMap, Span};

pub use ast::Ast;
pub use body::body_end;
pub use codes::CODES;

use error::Sink;

/// The nonterminal that a text starts with.
const START: &str = "start";

/// Reads a KBNF text, which may be a part of another. It starts with `start` unless the options name a nonterminal. Cost: linear in the text.
pub fn parse(sources: &SourceMap, body: Span, options: &ReadOptions) -> Parsed {
    let mut sink = Sink::new(options.limits);
    let Some(ast) = read(sources, body, options, &mut sink) else {
        return Parsed { grammar: None, diagnostics: sink.finish(), look_work: options.look_work };
    };
    let text = &sources.get(body.source).text;
    let grammar = lower::lower(text, &ast.tree, options, Span { end: body.start, ..body }, &mut sink);
    let look_work = grammar.regexes.look_work();
    Parsed { grammar: (!sink.has_errors()).then_some(grammar), diagnostics: sink.finish(), look_work }
}

/// Reads a KBNF text as far as its syntax tree, which prints as text with [`Ast::dump`].
pub fn parse_ast(sources: &SourceMap, source: SourceId, options: &ReadOptions) -> (Option<Ast>, Vec<Diagnostic>) {
    let mut sink = Sink::new(options.limits);
    let ast = read(sources, sources.whole(source), options, &mut sink);
    (ast, sink.finish())
}

/// `None` if the text is over its limit.
fn read(sources: &SourceMap, body: Span, options: &ReadOptions, sink: &mut Sink) -> Option<Ast> {
    if is_too_long(body, options.limits, sink) {
        return None;
    }
    let text = &sources.get(body.source).text[..body.end as usize];
    let lexemes = lexer::lex(text, body, sink);
    parser::parse(text, body.source, &lexemes, options.limits, sink)
}
