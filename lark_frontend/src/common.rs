//! The terminals of `%import common.…`, with the meaning they have in Lark.

/// A terminal of `common`.
pub(crate) struct Common {
    pub name: &'static str,
    /// Python's regex of it, of ASCII classes only, so that it is the same in every dialect.
    pub regex: &'static str,
    /// In Lark its quantifier is lazy: with what follows it in a terminal it ends at the first match.
    pub lazy: bool,
}

const fn greedy(name: &'static str, regex: &'static str) -> Common {
    Common { name, regex, lazy: false }
}

/// All of them, in Lark's order.
const TABLE: &[Common] = &[
    greedy("DIGIT", "[0-9]"),
    greedy("HEXDIGIT", "[a-fA-F0-9]"),
    greedy("INT", "[0-9]+"),
    greedy("SIGNED_INT", r"[+\-]?[0-9]+"),
    greedy("DECIMAL", r"[0-9]+\.[0-9]*|\.[0-9]+"),
    greedy("_EXP", r"[eE][+\-]?[0-9]+"),
    greedy("FLOAT", r"[0-9]+[eE][+\-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+\-]?[0-9]+)?"),
    greedy("SIGNED_FLOAT", r"[+\-]?([0-9]+[eE][+\-]?[0-9]+|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+\-]?[0-9]+)?)"),
    greedy("NUMBER", r"[0-9]+([eE][+\-]?[0-9]+)?|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+\-]?[0-9]+)?"),
    greedy("SIGNED_NUMBER", r"[+\-]?([0-9]+([eE][+\-]?[0-9]+)?|([0-9]+\.[0-9]*|\.[0-9]+)([eE][+\-]?[0-9]+)?)"),
    Common { name: "_STRING_INNER", regex: r"[^\n]*", lazy: true },
    // No odd number of backslashes at the end.
    Common { name: "_STRING_ESC_INNER", regex: r"([^\\\n]|\\[^\n])*", lazy: true },
    greedy("ESCAPED_STRING", r#""([^"\\\n]|\\[^\n])*""#),
    greedy("LCASE_LETTER", "[a-z]"),
    greedy("UCASE_LETTER", "[A-Z]"),
    greedy("LETTER", "[A-Za-z]"),
    greedy("WORD", "[A-Za-z]+"),
    greedy("CNAME", "[_A-Za-z][_A-Za-z0-9]*"),
    greedy("WS_INLINE", r"[ \t]+"),
    greedy("WS", r"[ \t\f\r\n]+"),
    greedy("CR", r"\r"),
    greedy("LF", r"\n"),
    greedy("NEWLINE", r"(\r?\n)+"),
    greedy("SH_COMMENT", r"#[^\n]*"),
    greedy("CPP_COMMENT", r"//[^\n]*"),
    greedy("C_COMMENT", r"/\*([^*]|\*+[^*/])*\*+/"),
    greedy("SQL_COMMENT", r"--[^\n]*"),
];

/// The terminal of this name, as an index for [`get`].
pub(crate) fn index(name: &str) -> Option<usize> {
    TABLE.iter().position(|common| common.name == name)
}

/// The terminal at an index.
pub(crate) fn get(index: usize) -> &'static Common {
    &TABLE[index]
}

/// All names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|common| common.name)
}
