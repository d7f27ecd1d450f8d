//! Every code that any part of Larkspur reports.

use larkspur_grammar::{CodeInfo, indentation, json, link, lints, regex_syntax};

/// The facade's own codes. The examples are of the kind that the title names, and else Lark.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "F002",
        title: "schema without text",
        explanation: "A grammar built by a program has a `%json` body, and comes without the sources in which its text \
                      stands. Give them as `SourceBody::Grammar { sources, … }`.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F003",
        title: "source too large",
        explanation: "The text is over the limit `source_bytes_max`.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F004",
        title: "start rule of what has no rules",
        explanation: "A regex or a JSON Schema has no rules, so that there is none to start with.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F005",
        title: "no syntax tree",
        explanation: "`dump --stage ast` shows Lark, GBNF and KBNF texts only. Of other sources there are the stages after it.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F006",
        title: "no conversion",
        explanation: "`convert` writes GBNF, regexes and JSON Schemas as Lark, and all of these as GBNF. GBNF is context-free \
                      over characters: it has no words for lazy lexemes, `stop`, `max_tokens`, parameters, and for \
                      objects whose names are counted or must not repeat.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F007",
        title: "structural tags",
        explanation: "Each tag of `StructuralTags` that begins with a text begins with a trigger, no trigger holds another, no \
                      text is empty but a tag's end, and contents are texts or structural tags.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F008",
        title: "another language",
        explanation: "The text cannot be read as what it was given out for, and is without a mistake in another language, or \
                      is the name of a file.",
        bad: "root ::= \"a\" [b-c]+\n",
        good: "start: \"a\" /[b-c]+/\n",
    },
    CodeInfo {
        code: "F009",
        title: "not UTF-8",
        explanation: "A grammar's file is UTF-8, and not Latin-1 or UTF-16. The message says at which byte it is not.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F010",
        title: "shape of a list of grammars",
        explanation: "A list of grammars is a JSON object whose key `grammars` has an array of at least one grammar.",
        bad: "{\"grammars\": []}",
        good: "{\"grammars\": [{\"lark_grammar\": \"start: \\\"a\\\"\"}]}",
    },
    CodeInfo {
        code: "F011",
        title: "element of a list of grammars",
        explanation: "Each element is an object with one of `lark_grammar`, `json_schema`, `gbnf_grammar`, `kbnf_grammar` and \
                      `regex`, and a `name` if others refer to it.",
        bad: "{\"grammars\": [{\"name\": \"a\"}]}",
        good: "{\"grammars\": [{\"name\": \"a\", \"lark_grammar\": \"start: \\\"a\\\"\"}]}",
    },
    CodeInfo {
        code: "F012",
        title: "not a string",
        explanation: "`name` and all grammars but schemas are strings.",
        bad: "{\"grammars\": [{\"lark_grammar\": 1}]}",
        good: "{\"grammars\": [{\"lark_grammar\": \"start: \\\"a\\\"\"}]}",
    },
    CodeInfo {
        code: "F013",
        title: "budget of tokens",
        explanation: "`max_tokens` of a list of grammars is the budget of the whole text: a whole number below 2^32.",
        bad: "{\"grammars\": [{\"lark_grammar\": \"start: \\\"a\\\"\"}], \"max_tokens\": -1}",
        good: "{\"grammars\": [{\"lark_grammar\": \"start: \\\"a\\\"\"}], \"max_tokens\": 10}",
    },
    CodeInfo {
        code: "F014",
        title: "unknown key",
        explanation: "A list of grammars has the keys `grammars` and `max_tokens`, its elements `name`, \
                      `lark_grammar`, `json_schema`, `gbnf_grammar`, `kbnf_grammar` and `regex`. Another key has no effect.",
        bad: "{\"grammars\": [{\"lark_gramar\": \"\", \"lark_grammar\": \"start: \\\"a\\\"\"}]}",
        good: "{\"grammars\": [{\"lark_grammar\": \"start: \\\"a\\\"\"}]}",
    },
    CodeInfo {
        code: "F015",
        title: "too much within a source",
        explanation: "The texts that stand in one source (`%json`, `%gbnf` and `%kbnf` in Lark, the elements of a list, the \
                      contents of tags) are more than `inner_texts_max`, or have together more symbols than \
                      `written_symbols_max` or more regex nodes than `regex_nodes_max`.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F020",
        title: "grammar that cannot be saved",
        explanation: "A program made the grammar of an `Automaton` or a `Dfa` whose `save` gives nothing. Grammars of texts can \
                      all be saved.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F021",
        title: "no saved grammar",
        explanation: "The bytes do not begin with `LARKSPUR`, as those of a saved grammar do.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F022",
        title: "other format of a saved grammar",
        explanation: "Another version of Larkspur saved the grammar. Compile it again from its source.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F023",
        title: "damaged saved grammar",
        explanation: "The bytes are not those that were saved: some are missing or have changed.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F024",
        title: "saved grammar of another vocabulary",
        explanation: "The grammar speaks of tokens of the vocabulary that it was compiled for, and the engine has another one. \
                      A grammar that speaks of text only loads with any.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F025",
        title: "inconsistent saved grammar",
        explanation: "The bytes are whole, and no version of Larkspur saved them so: somebody made them up.",
        bad: "",
        good: "",
    },
    CodeInfo {
        code: "F026",
        title: "saved grammar beyond a limit",
        explanation: "The message names a field of the engine's `Limits`. The grammar was saved where that was larger.",
        bad: "",
        good: "",
    },
];

/// Every code, in order: of the facade, the front ends, the grammar crate (regexes, JSON, linking, lints) and the
/// engine.
pub fn codes() -> Vec<&'static CodeInfo> {
    let mut all: Vec<&CodeInfo> = tables().into_iter().flatten().collect();
    all.sort_by_key(|info| info.code);
    all
}

/// The code that is written so, if there is one.
pub(crate) fn code(written: &str) -> Option<&'static str> {
    tables().into_iter().flatten().map(|info| info.code).find(|code| *code == written)
}

fn tables() -> [&'static [CodeInfo]; 11] {
    [
        CODES,
        larkspur_lark_frontend::CODES,
        larkspur_gbnf_frontend::CODES,
        larkspur_kbnf_frontend::CODES,
        larkspur_json_schema::CODES,
        regex_syntax::CODES,
        json::CODES,
        link::CODES,
        indentation::CODES,
        lints::CODES,
        larkspur_parser::CODES,
    ]
}
