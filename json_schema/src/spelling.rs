//! How values are written: the profile of whoever runs a schema.
//!
//! Many texts have the same value. A generator wants few of them, a validator all: [`Spelling::generator`] and
//! [`Spelling::validator`] are the two profiles, and every field can be set apart.

use larkspur_grammar::{
    ByteSet, Diagnostic, Dialect, Limits, RegexId, RegexOptions, RegexSet, SourceId, TextMap, parse_regex,
};
use serde::{Deserialize, Serialize};

/// How values are written, and what is done with what cannot be enforced. The default is [`Spelling::generator`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spelling {
    /// In which order properties are written.
    pub key_order: KeyOrder,
    /// No object has two properties of one name.
    pub unique_keys: bool,
    /// What may stand around `[`, `]`, `{`, `}` and the separators.
    pub whitespace: Whitespace,
    /// White space may stand before and behind the whole value, too.
    pub whitespace_outside: bool,
    /// A regex (in the syntax of the `regex` crate) for what separates elements and members; `,` if it is not given.
    pub item_separator: Option<String>,
    /// A regex for what separates a key from its value; `:` if it is not given.
    pub key_separator: Option<String>,
    /// Which texts a number has.
    pub number_spelling: NumberSpelling,
    /// Which texts a character has.
    pub string_escapes: StringEscapes,
    /// What a `format` of unknown name is.
    pub unknown_format: UnknownFormat,
    /// What cannot be enforced is not enforced, with a warning, instead of refused. Values that are not valid are then
    /// accepted.
    pub lenient: bool,
}

/// In which order properties are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeyOrder {
    /// Declared names first, in the schema's order, then the others.
    #[default]
    Schema,
    /// Any.
    Any,
}

/// White space between the parts of a value.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Whitespace {
    /// At most 2 line breaks and 20 blanks (space or tab) at each place, so that nobody can be trapped in them.
    #[default]
    Flexible,
    /// None.
    Compact,
    /// All that JSON has: any number of spaces, tabs, `\n` and `\r`.
    Any,
    /// A regex in the syntax of the `regex` crate, at most once at each place; it may match the empty text.
    Pattern(String),
    /// Each element and member on a line of its own, with so many spaces for each bracket around it, and a space behind
    /// the colon: what Python's `json.dumps(value, indent=N)` writes.
    Indent(u8),
}

/// Which texts a number has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberSpelling {
    /// Integers and constants as digits; other numbers with any zeros behind the point; exponents only where all numbers
    /// are allowed.
    #[default]
    Plain,
    /// Also `1.0`, `1e3`, `15e-1`, `-0`: see `docs/json_schema.md` for how far exponents go.
    Any,
}

/// Which texts a character has.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StringEscapes {
    /// One: itself where JSON has it so, else `\"`, `\\`, `\b`, `\f`, `\n`, `\r`, `\t`, else `\u00XX`.
    #[default]
    Minimal,
    /// All that JSON has.
    Any,
    /// Itself, and the escapes that are chosen. A character that would have no text keeps the one of `minimal`.
    Chosen {
        /// Letters behind the backslash, of `"\/bfnrtu`; `u` is `\u00XX` for control characters.
        letters: String,
        /// `u` is for all characters.
        #[serde(default)]
        unicode: bool,
    },
}

/// What a `format` of unknown name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownFormat {
    /// Without effect, with a warning.
    #[default]
    Warning,
    /// Refused.
    Error,
}

impl Default for Spelling {
    fn default() -> Self {
        Self::generator()
    }
}

impl Spelling {
    /// For who writes values: few ways to write each, no way to be trapped in white space.
    pub fn generator() -> Self {
        Self {
            key_order: KeyOrder::Schema,
            unique_keys: true,
            whitespace: Whitespace::Flexible,
            whitespace_outside: false,
            item_separator: None,
            key_separator: None,
            number_spelling: NumberSpelling::Plain,
            string_escapes: StringEscapes::Minimal,
            unknown_format: UnknownFormat::Warning,
            lenient: false,
        }
    }

    /// For who reads values that others wrote: all the ways of JSON.
    pub fn validator() -> Self {
        Self {
            key_order: KeyOrder::Any,
            whitespace: Whitespace::Any,
            whitespace_outside: true,
            number_spelling: NumberSpelling::Any,
            string_escapes: StringEscapes::Any,
            ..Self::generator()
        }
    }

    /// The bytes with which a value goes on that could be over: a number, or what may stand outside of it. `None` if separators
    /// are the user's own, which might take what follows them.
    pub(crate) fn goes_on_with(&self) -> Option<ByteSet> {
        let has_own = matches!(self.whitespace, Whitespace::Pattern(_))
            || self.item_separator.is_some()
            || self.key_separator.is_some();
        let outside: &[u8] = if self.whitespace_outside { b" \t\n\r" } else { b"" };
        let mut bytes = ByteSet::EMPTY;
        b"0123456789.eE+-".iter().chain(outside).for_each(|&byte| bytes.insert(byte));
        (!has_own).then_some(bytes)
    }

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
            Whitespace::Compact | Whitespace::Indent(_) => set.epsilon(),
            Whitespace::Any => {
                let mut bytes = ByteSet::EMPTY;
                b" \t\n\r".iter().for_each(|&byte| bytes.insert(byte));
                let space = set.bytes(bytes);
                set.repeat(space, 0, None)
            }
            Whitespace::Pattern(text) => {
                let pattern = regex(set, "whitespace", text)?;
                set.optional(pattern)
            }
        };
        let item = match &self.item_separator {
            Some(text) => regex(set, "item_separator", text)?,
            None => set.literal(b","),
        };
        let key = match &self.key_separator {
            Some(text) => regex(set, "key_separator", text)?,
            None if matches!(self.whitespace, Whitespace::Indent(_)) => set.literal(b": "),
            None => set.literal(b":"),
        };
        let has_space = set.info(space).len_max != Some(0);
        let outside = (self.whitespace_outside && has_space).then(|| {
            let any = set.any_byte();
            let some = set.repeat(any, 1, None);
            set.and(&[space, some])
        });
        let indent = match self.whitespace {
            Whitespace::Indent(spaces) => Some(spaces),
            _ => None,
        };
        Ok(Separators { space, item, key, outside, indent })
    }
}

/// The spelling's parts as regexes of one table.
#[derive(Clone, Debug)]
pub(crate) struct Separators {
    pub space: RegexId,
    pub item: RegexId,
    pub key: RegexId,
    /// Before and behind the whole value, if anything may stand there: not the empty text.
    pub outside: Option<RegexId>,
    /// Elements and members stand on lines of their own, with so many spaces for each bracket around them.
    pub indent: Option<u8>,
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
