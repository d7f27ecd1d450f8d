//! `%llguidance {…}` and `%larkspur {…}`.

use larkspur_grammar::diagnostic::did_you_mean;
use larkspur_grammar::json::{JsonDocument, JsonId};
use larkspur_grammar::{GrammarOptions, IgnoreEdges, LexerMode, Span, Unproductive};

use rustc_hash::FxHashMap;

use crate::ast::{Ast, AstGrammar, Item};
use crate::error::{OptionMistake, Sink};
use crate::indenter::BlockOptions;

const LLGUIDANCE_KEYS: &[&str] = &["no_forcing", "allow_invalid_utf8", "allow_initial_skip", "ignore_once"];

const LARKSPUR_KEYS: &[&str] = &[
    "lexer",
    "ignore_edges",
    "ignore_once",
    "allow_invalid_utf8",
    "no_forcing",
    "unproductive",
    "keywords",
    "declare",
    "indenter",
];

/// Options that only the outermost grammar sets.
const ROOT_KEYS: &[&str] = &["allow_invalid_utf8", "no_forcing", "unproductive"];

/// The tokens that `declare` binds names to: as they are written, and where.
pub(crate) type Bindings = FxHashMap<String, (String, Span)>;

/// What the options of a grammar say.
pub(crate) struct Read {
    pub options: GrammarOptions,
    pub bindings: Bindings,
    pub indenter: BlockOptions,
}

/// Reads the options of a grammar over `defaults`; a later statement wins.
pub(crate) fn read(ast: &Ast, grammar: &AstGrammar, defaults: GrammarOptions, nested: bool, sink: &mut Sink) -> Read {
    let (bindings, indenter) = (Bindings::default(), BlockOptions::default());
    let mut reader = Reader { options: defaults, bindings, indenter, nested, sink };
    for item in &grammar.items {
        let Item::Options { llguidance, json } = item else { continue };
        let block = &ast.json[*json];
        let Some(document) = &block.document else { continue };
        let Some(members) = document.object(document.root()) else {
            reader.sink.report(block.span, OptionMistake::NotObject);
            continue;
        };
        let keys = if *llguidance { LLGUIDANCE_KEYS } else { LARKSPUR_KEYS };
        for member in members {
            reader.option(keys, &member.key, member.key_span, document, member.value);
        }
    }
    Read { options: reader.options, bindings: reader.bindings, indenter: reader.indenter }
}

struct Reader<'s> {
    options: GrammarOptions,
    bindings: Bindings,
    indenter: BlockOptions,
    nested: bool,
    sink: &'s mut Sink,
}

impl Reader<'_> {
    fn option(&mut self, keys: &[&'static str], key: &str, key_span: Span, document: &JsonDocument, value: JsonId) {
        if !keys.contains(&key) {
            let near = did_you_mean(key, keys.iter().copied())
                .and_then(|near| keys.iter().copied().find(|candidate| *candidate == near));
            return self.sink.report(key_span, OptionMistake::Unknown { key: key.to_string(), near });
        }
        if self.nested && ROOT_KEYS.contains(&key) {
            return self.sink.report(key_span, OptionMistake::Nested { key: key.to_string() });
        }
        let expected = match key {
            "lexer" => "`\"longest\"` or `\"exact\"`",
            "ignore_edges" => "`\"both\"`, `\"leading\"`, `\"trailing\"`, `\"none\"`, `\"open\"` or `\"leading_open\"`",
            "unproductive" => "`\"error\"` or `\"allow\"`",
            "declare" => "an object of names and tokens, `{ \"NAME\": \"<token>\" }`",
            "indenter" => BlockOptions::EXPECTED,
            _ => "`true` or `false`",
        };
        if key == "declare" {
            return self.bind(document, value, expected);
        }
        if key == "indenter" {
            if let Err(place) = self.indenter.read(document, value) {
                self.sink.report(document.span(place), OptionMistake::Value { key: key.to_string(), expected });
            }
            return;
        }
        let set = match document.string(value) {
            Some(text) => self.set_text(key, text),
            None => document.bool(value).and_then(|value| self.set_bool(key, value)),
        };
        if set.is_none() {
            self.sink.report(document.span(value), OptionMistake::Value { key: key.to_string(), expected });
        }
    }

    fn bind(&mut self, document: &JsonDocument, value: JsonId, expected: &'static str) {
        let mistake = || OptionMistake::Value { key: "declare".to_string(), expected };
        let Some(members) = document.object(value) else {
            return self.sink.report(document.span(value), mistake());
        };
        for member in members {
            let place = document.span(member.value);
            match document.string(member.value) {
                Some(token) if token.len() > 2 && token.starts_with('<') && token.ends_with('>') => {
                    self.bindings.insert(member.key.to_string(), (token.to_string(), place));
                }
                _ => self.sink.report(place, mistake()),
            }
        }
    }

    fn set_text(&mut self, key: &str, text: &str) -> Option<()> {
        match (key, text) {
            ("lexer", "longest") => self.options.lexer = LexerMode::Longest,
            ("lexer", "exact") => self.options.lexer = LexerMode::Exact,
            ("ignore_edges", "both") => self.options.ignore_edges = IgnoreEdges::Both,
            ("ignore_edges", "leading") => self.options.ignore_edges = IgnoreEdges::Leading,
            ("ignore_edges", "trailing") => self.options.ignore_edges = IgnoreEdges::Trailing,
            ("ignore_edges", "none") => self.options.ignore_edges = IgnoreEdges::None,
            ("ignore_edges", "open") => self.options.ignore_edges = IgnoreEdges::Open,
            ("ignore_edges", "leading_open") => self.options.ignore_edges = IgnoreEdges::LeadingOpen,
            ("unproductive", "error") => self.options.unproductive = Unproductive::Error,
            ("unproductive", "allow") => self.options.unproductive = Unproductive::Allow,
            _ => return None,
        }
        Some(())
    }

    fn set_bool(&mut self, key: &str, value: bool) -> Option<()> {
        match key {
            "no_forcing" => self.options.no_forcing = value,
            "allow_invalid_utf8" => self.options.allow_invalid_utf8 = value,
            "ignore_once" => self.options.ignore_once = value,
            "keywords" => self.options.keywords = value,
            "allow_initial_skip" => {
                let edges = self.options.ignore_edges;
                self.options.ignore_edges = match (value, edges.trailing(), edges.may_end_open()) {
                    (true, true, _) => IgnoreEdges::Both,
                    (true, false, true) => IgnoreEdges::LeadingOpen,
                    (true, false, false) => IgnoreEdges::Leading,
                    (false, true, _) => IgnoreEdges::Trailing,
                    (false, false, true) => IgnoreEdges::Open,
                    (false, false, false) => IgnoreEdges::None,
                }
            }
            _ => return None,
        }
        Some(())
    }
}
