//! GBNF text, the grammar language of llama.cpp, to the grammar IR.
//!
//! In: a GBNF text. Out: [`Parsed`]: a [`Grammar`](larkspur_grammar::Grammar) in `exact` mode, and everything that is wrong with the text,
//! all in one run. Takes all that llama.cpp takes, and besides: left recursion, counts of any size, a line break before
//! `|`. Parts of the grammar that are regular become terminals, which keeps the language.
//! Knows nothing of other front ends, of vocabularies and of parsing with the grammar.
//!
//! ```
//! use larkspur_gbnf_frontend::parse;
//! use larkspur_grammar::{Limits, SourceMap, definitions::ReadOptions};
//!
//! let mut sources = SourceMap::new();
//! let source = sources.add("sum.gbnf", "root ::= num (\"+\" num)*\nnum ::= [0-9]+\n");
//! let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(&Limits::default()));
//! assert!(parsed.diagnostics.is_empty());
//! assert_eq!(parsed.grammar.unwrap().terminals.len(), 1);
//! ```
#![forbid(unsafe_code)]

mod ast;
mod body;
mod characters;
mod codes;
mod error;
mod from_ir;
mod lower;
mod parser;
mod regular;
mod right_linear;
mod to_lark;
mod writing;

use larkspur_grammar::definitions::{Parsed, ReadOptions, is_too_long};
use larkspur_grammar::{Diagnostic, SourceId, SourceMap, Span};

pub use ast::Ast;
pub use body::body_end;
pub use codes::CODES;
pub use from_ir::{Comment, Refusal, from_ir};
pub use to_lark::Converted;

use error::Sink;

/// The rule that a text starts with.
const START: &str = "root";

/// Reads a GBNF text, which may be a part of another. It starts with `root` unless the options name a rule. Cost: linear in the text, but for counts that are written out.
pub fn parse(sources: &SourceMap, body: Span, options: &ReadOptions) -> Parsed {
    parse_with_ast(sources, body, options).1
}

/// The same with the syntax tree; `None` if the text is over its limit.
fn parse_with_ast(sources: &SourceMap, body: Span, options: &ReadOptions) -> (Option<Ast>, Parsed) {
    let mut sink = Sink::new(options.limits);
    let Some(ast) = read(sources, body, options, &mut sink) else {
        return (None, Parsed { grammar: None, diagnostics: sink.finish(), look_work: options.look_work });
    };
    let text = &sources.get(body.source).text;
    let whole = Span { end: body.start, ..body };
    let grammar = lower::lower(text, &ast.tree, options, whole, &mut sink);
    let grammar = (!sink.has_errors()).then_some(grammar);
    (Some(ast), Parsed { grammar, diagnostics: sink.finish(), look_work: options.look_work })
}

/// Reads a GBNF text as far as its syntax tree, which prints as text with [`Ast::dump`].
pub fn parse_ast(sources: &SourceMap, source: SourceId, options: &ReadOptions) -> (Option<Ast>, Vec<Diagnostic>) {
    let mut sink = Sink::new(options.limits);
    let ast = read(sources, sources.whole(source), options, &mut sink);
    (ast, sink.finish())
}

/// Converts a GBNF text to a Lark text of the same language; `None` iff an error is in the diagnostics.
pub fn to_lark(sources: &SourceMap, source: SourceId, options: &ReadOptions) -> (Option<Converted>, Vec<Diagnostic>) {
    let (ast, parsed) = parse_with_ast(sources, sources.whole(source), options);
    let sound = ast.filter(|_| parsed.grammar.is_some());
    let text = &sources.get(source).text;
    let converted = sound.map(|ast| to_lark::to_lark(text, &ast, options.start.unwrap_or(START)));
    (converted, parsed.diagnostics)
}

/// `None` if the text is over its limit.
fn read(sources: &SourceMap, body: Span, options: &ReadOptions, sink: &mut Sink) -> Option<Ast> {
    if is_too_long(body, options.limits, sink) {
        return None;
    }
    parser::parse(&sources.get(body.source).text, body, options.limits, sink)
}
