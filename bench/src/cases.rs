//! The grammars and the texts they are measured on.

use crate::texts;

/// A grammar and a generator of its texts.
pub struct Case {
    pub name: &'static str,
    /// Lark text without options: see `engines::HEADER`.
    pub grammar: &'static str,
    /// A text of at least so many bytes, and not much more.
    pub text: fn(usize) -> String,
    /// Why the engines' masks differ in EOS, where they do so by definition.
    pub differs: Option<&'static str>,
}

/// A grammar of `sample_grammars/`.
macro_rules! sample {
    ($name:literal) => {
        include_str!(concat!("../../sample_grammars/", $name, ".lark"))
    };
}

/// A grammar that only the benchmark has: the samples' equivalents need what the peer lacks.
macro_rules! own {
    ($name:literal) => {
        include_str!(concat!("../grammars/", $name, ".lark"))
    };
}

/// What llguidance does at the end of a text.
const IGNORED_END: &str =
    "the peer takes ignored text at the end if more could follow; Larkspur, told to have none at the edges, does not";

pub const CASES: &[Case] = &[
    Case { name: "json", grammar: sample!("json"), text: texts::json, differs: None },
    Case { name: "arithmetic", grammar: sample!("arithmetic"), text: texts::arithmetic, differs: Some(IGNORED_END) },
    Case { name: "sql", grammar: own!("sql"), text: texts::sql, differs: Some(IGNORED_END) },
    Case { name: "c", grammar: own!("c"), text: texts::c, differs: Some(IGNORED_END) },
    Case { name: "right_list", grammar: sample!("right_list"), text: texts::list, differs: None },
    Case { name: "left_list", grammar: own!("left_list"), text: texts::list, differs: None },
    Case { name: "ambiguous_sum", grammar: own!("ambiguous_sum"), text: texts::sum, differs: None },
    Case { name: "tool_call", grammar: own!("tool_call"), text: texts::tool_call, differs: None },
    Case { name: "think_json", grammar: own!("think_json"), text: texts::think_json, differs: None },
    Case { name: "free_text", grammar: own!("free_text"), text: texts::free_text, differs: None },
];
