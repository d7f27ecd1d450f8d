//! Texts in other languages inside Lark: `%json { … }`, `%gbnf { … }`, `%kbnf { … }`.

use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Diagnostic, Grammar, LexerMode, Limits, SourceMap, Span};
use larkspur_json_schema::SchemaOptions;
use larkspur_lark_frontend::InnerLanguage;

/// The languages besides JSON.
pub const INNER_LANGUAGES: &[InnerLanguage] = &[
    InnerLanguage { name: "gbnf", end: larkspur_gbnf_frontend::body_end },
    InnerLanguage { name: "kbnf", end: larkspur_kbnf_frontend::body_end },
];

/// Reads such a text as the facade does; `mode` is that of the root, which JSON values have.
pub fn read_inner(
    sources: &mut SourceMap,
    mode: LexerMode,
    language: &str,
    body: Span,
) -> Result<Grammar, Vec<Diagnostic>> {
    let limits = Limits::default();
    let (grammar, diagnostics) = match language {
        "gbnf" => {
            let parsed = larkspur_gbnf_frontend::parse(sources, body, &ReadOptions::new(&limits));
            (parsed.grammar, parsed.diagnostics)
        }
        "kbnf" => {
            let parsed = larkspur_kbnf_frontend::parse(sources, body, &ReadOptions::new(&limits));
            (parsed.grammar, parsed.diagnostics)
        }
        _ => {
            let parsed = larkspur_json_schema::compile(sources, body, &SchemaOptions::new(&limits));
            let set_mode = |mut grammar: Grammar| {
                grammar.options.lexer = mode;
                grammar
            };
            (parsed.grammar.map(set_mode), parsed.diagnostics)
        }
    };
    grammar.ok_or(diagnostics)
}
