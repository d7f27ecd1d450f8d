//! Early stages as text, for `larkspur dump`.

use std::fmt::Write;

use larkspur_grammar::{Limits, SourceId, SourceMap, Span};
use larkspur_lark_frontend::{LarkOptions, parse_ast};

use crate::compile::{CompileOptions, Linked};
use crate::error::{CompileError, Mistake};
use crate::source::{Source, SourceBody, SourceKind};

/// The syntax tree of a Lark text. A text with mistakes has one, too, without what could not be read.
///
/// Errors: `F005` for any other source; what keeps the text from being read at all.
pub fn ast_dump(source: &Source, options: &CompileOptions, limits: &Limits) -> Result<String, CompileError> {
    let mut sources = SourceMap::new();
    let SourceBody::Text { kind: SourceKind::Lark, text } = &source.body else {
        let mut diagnostic = Mistake::NoSyntaxTree.diagnostic(Span::new(SourceId(0), 0, 0));
        diagnostic.labels.clear();
        return Err(CompileError { diagnostics: vec![diagnostic], sources });
    };
    let id = sources.add(&source.name, text);
    let mut lark = LarkOptions::new(limits);
    lark.llguidance_face = options.llguidance_face;
    match parse_ast(&sources, id, &lark) {
        (Some(ast), _) => Ok(ast.dump(text)),
        (None, diagnostics) => Err(CompileError { diagnostics, sources }),
    }
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
