//! Early stages as text, for `larkspur dump`.

use std::fmt::Write;

use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, SourceId, SourceMap, Span};
use larkspur_lark_frontend::LarkOptions;

use crate::compile::{CompileOptions, Linked};
use crate::error::CompileError;
use crate::mistake::Mistake;
use crate::source::{Source, SourceBody, SourceKind};

/// The syntax tree of a Lark, GBNF or KBNF text. A text with mistakes has one, too, without what could not be read.
///
/// Errors: `F005` for any other source; what keeps the text from being read at all.
pub fn ast_dump(source: &Source, options: &CompileOptions, limits: &Limits) -> Result<String, CompileError> {
    let limits = &limits.clone().within_stack();
    let mut sources = SourceMap::new();
    let (dump, diagnostics) = match &source.body {
        SourceBody::Text { kind: SourceKind::Lark, text } => {
            let id = sources.add(&source.name, text);
            let lark = LarkOptions { llguidance_face: options.llguidance_face, ..LarkOptions::new(limits) };
            let (ast, diagnostics) = larkspur_lark_frontend::parse_ast(&sources, id, &lark);
            (ast.map(|ast| ast.dump(text)), diagnostics)
        }
        SourceBody::Text { kind: SourceKind::Gbnf, text } => {
            let id = sources.add(&source.name, text);
            let (ast, diagnostics) = larkspur_gbnf_frontend::parse_ast(&sources, id, &ReadOptions::new(limits));
            (ast.map(|ast| ast.dump()), diagnostics)
        }
        SourceBody::Text { kind: SourceKind::Kbnf, text } => {
            let id = sources.add(&source.name, text);
            let (ast, diagnostics) = larkspur_kbnf_frontend::parse_ast(&sources, id, &ReadOptions::new(limits));
            (ast.map(|ast| ast.dump()), diagnostics)
        }
        _ => {
            let mut diagnostic = Mistake::NoSyntaxTree.diagnostic(Span::new(SourceId(0), 0, 0));
            diagnostic.labels.clear();
            (None, vec![diagnostic])
        }
    };
    dump.ok_or(CompileError { diagnostics, sources })
}

/// The linked grammars as text, each with its id.
pub fn ir_dump(linked: &Linked) -> String {
    let mut out = String::new();
    for (id, grammar) in linked.grammar.grammars.iter_enumerated() {
        let root = if id == linked.grammar.root { " root" } else { "" };
        let _ = write!(out, "# {id}{root}\n{grammar}");
    }
    out
}
