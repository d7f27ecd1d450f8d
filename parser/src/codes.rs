//! The codes of this crate.

use larkspur_grammar::{CodeInfo, Diagnostic, Severity, Span};

/// Says that not all is shown.
pub(crate) const MORE: &str = "P099";

/// Every code that compiling for a vocabulary reports. The examples are Lark.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "B001",
        title: "too many symbols",
        explanation: "Lowered, with counts and scopes written out, the grammar is over the limit `grammar_symbols_max`.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "B002",
        title: "limit exceeded",
        explanation: "The message names a field of `Limits`. Most often a terminal with large counts needs too many \
                      states, or its complement or intersection too much work to decide whether it is empty.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "P001",
        title: "grammar matches no text",
        explanation: "The start rule can never be finished: each of its alternatives needs a terminal that matches no \
                      text, or itself.",
        bad: "start: A\nA: /a/ & /b/\n",
        good: "start: A\nA: /[ab]/ & /b/\n",
    },
    CodeInfo {
        code: "P002",
        title: "terminal matches no text",
        explanation: "What stands behind it is unreachable. Most often an intersection or a complement leaves nothing.",
        bad: "start: \"x\" | A\nA: /a/ & /b/\n",
        good: "start: \"x\" | A\nA: /[ab]/ & /b/\n",
    },
    CodeInfo {
        code: "P003",
        title: "terminal swallows what must follow it",
        explanation: "In the lexer mode `longest` a terminal goes on as long as it can. Here there is a text after which \
                      it takes every byte with which anything else could follow, so that nothing can. The label has \
                      such a text.",
        bad: "start: \"<\" /.*/ \">\"\n",
        good: "start: \"<\" /[^>]*/ \">\"\n",
    },
    CodeInfo {
        code: "P004",
        title: "grammar can never be finished",
        explanation: "In the lexer mode `longest` some terminal always swallows what must follow it, whatever the text. Or \
                      look-around forbids whatever the rules have next.",
        bad: "start: NAME \"x\"\nNAME: /[a-z]+/\n",
        good: "start: NAME\nNAME: /[a-z]*x/\n",
    },
    CodeInfo {
        code: "V001",
        title: "unknown special token",
        explanation: "The vocabulary has no special token of this name. Choose the vocabulary of the model that the \
                      grammar is for. Text in angle brackets is a string: `\"<think>\"`.",
        bad: "start: <|no_such_token|> \"a\"\n",
        good: "start: \"<|no_such_token|>\" \"a\"\n",
    },
    CodeInfo {
        code: "V002",
        title: "token id out of the vocabulary",
        explanation: "The vocabulary has fewer tokens.",
        bad: "start: <[4000000000]>\n",
        good: "start: <[100]>\n",
    },
    CodeInfo {
        code: "V003",
        title: "special token in quotes",
        explanation: "The vocabulary has a special token of this name. In quotes it is text, which a model that gives the token \
                      does not write.",
        bad: "start: \"a\" \"<eos>\"\n",
        good: "start: \"a\" <eos>\n",
    },
    CodeInfo::new(MORE, "more problems", "There are more problems of terminals than `diagnostics_max`.", "", ""),
];

/// What is said where compiling met a limit, a field of [`Limits`](larkspur_grammar::Limits).
pub fn limit_diagnostic(limit: &str, value: u64, span: Option<Span>) -> Diagnostic {
    let message = format!("the limit `{limit}` of {value} is exceeded");
    Diagnostic::new("B002", Severity::Error, span, message)
        .help("make it simpler, or raise the limit if you trust the grammar")
}
