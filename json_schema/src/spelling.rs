//! How values are written: white space, separators.

use larkspur_grammar::{
    ByteSet, Diagnostic, Dialect, Limits, RegexId, RegexOptions, RegexSet, SourceId, TextMap, parse_regex,
};

/// White space and separators of arrays and objects.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spelling {
    /// What may stand around `[`, `]`, `{`, `}` and the separators.
    pub whitespace: Whitespace,
    /// A regex (in the syntax of the `regex` crate) for what separates elements and members; `,` if it is not given.
    pub item_separator: Option<String>,
    /// A regex for what separates a key from its value; `:` if it is not given.
    pub key_separator: Option<String>,
}

/// White space between the parts of a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Whitespace {
    /// At most 2 line breaks and 20 blanks (space or tab) at each place, so that nobody can be trapped in them.
    Flexible,
    /// None.
    Compact,
    /// A regex in the syntax of the `regex` crate; it may match the empty text.
    Pattern(String),
}

impl Default for Spelling {
    fn default() -> Self {
        Self { whitespace: Whitespace::Flexible, item_separator: None, key_separator: None }
    }
}

/// The spelling's parts as regexes of one table.
pub(crate) struct Separators {
    pub space: RegexId,
    pub item: RegexId,
    pub key: RegexId,
}

impl Spelling {
    /// Reads the parts that are regexes.
    ///
    /// Errors: what is wrong with a regex; the name of the field is the one that holds it.
    pub(crate) fn separators(
        &self,
        set: &mut RegexSet,
        limits: &Limits,
    ) -> Result<Separators, (&'static str, Vec<Diagnostic>)> {
        let regex = |set: &mut RegexSet, field: &'static str, text: &str| {
            let map = TextMap::verbatim(SourceId(0), 0);
            let options = RegexOptions::new(Dialect::Rust);
            parse_regex(text, &map, &options, limits, set, &mut Vec::new()).map_err(|errors| (field, errors))
        };
        let space = match &self.whitespace {
            Whitespace::Flexible => flexible(set),
            Whitespace::Compact => set.epsilon(),
            Whitespace::Pattern(text) => {
                let pattern = regex(set, "whitespace_pattern", text)?;
                set.optional(pattern)
            }
        };
        let item = regex(set, "item_separator", self.item_separator.as_deref().unwrap_or(","))?;
        let key = regex(set, "key_separator", self.key_separator.as_deref().unwrap_or(":"))?;
        Ok(Separators { space, item, key })
    }
}

/// At most 2 line breaks (`\n` or `\r\n`) and 20 blanks, in any order.
fn flexible(set: &mut RegexSet) -> RegexId {
    let blank = set.bytes(ByteSet([1 << b' ' | 1 << b'\t', 0, 0, 0]));
    let return_ = set.literal(b"\r");
    let return_ = set.optional(return_);
    let newline = set.literal(b"\n");
    let line_break = set.concat(&[return_, newline]);
    let (blanks, breaks) = (set.repeat(blank, 0, None), set.repeat(line_break, 0, None));
    let limited = |set: &mut RegexSet, free: RegexId, counted: RegexId, max: u32| {
        let step = set.concat(&[free, counted]);
        let steps = set.repeat(step, 0, Some(max));
        set.concat(&[steps, free])
    };
    let few_breaks = limited(set, blanks, line_break, 2);
    let few_blanks = limited(set, breaks, blank, 20);
    set.and(&[few_breaks, few_blanks])
}
