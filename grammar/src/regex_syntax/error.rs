//! What can be wrong in a regex.

use std::ops::Range;

use super::Dialect;
use crate::diagnostic::{CodeInfo, Diagnostic, Severity, more_problems};
use crate::limits::Limits;
use crate::text_map::TextMap;

/// One mistake. Ranges are of the regex's text.
#[derive(Clone, Debug)]
pub(super) enum RegexError {
    UnclosedGroup,
    UnmatchedParenthesis,
    UnclosedClass,
    RangeOrder { from: String, to: String },
    ClassInRange { item: String },
    NothingToRepeat { operator: String },
    MultipleRepeat { operator: String, first: Range<usize>, meant: String },
    CountOrder { min: u64, max: u64 },
    CountTooLarge { count: String, limit: u32 },
    BadCount,
    UnknownEscape { escape: String, dialect: Dialect, in_class: bool },
    BadHex { escape: String, wanted: &'static str },
    BadControl,
    NotACharacter { code: u32 },
    BadOctal { escape: String },
    UnknownProperty { name: String, nearest: Option<&'static str> },
    TrailingBackslash,
    NamedCharacter,
    UnknownGroup { start: String },
    BadGroupName { name: String },
    RepeatedGroupName { name: String, first: Range<usize> },
    UnknownFlag { flag: String },
    FlagsNotFirst { flags: String },
    LookAround,
    Look { fault: LookFault },
    WordBoundary { escape: String },
    LazyQuantifier { fault: LazyFault },
    InnerAnchor { is_start: bool, repeated: bool },
    BackReference { reference: String },
    Conditional,
    Atomic { what: &'static str },
    Recursion { reference: String },
    TooDeep { limit: usize },
    TooManyNodes { limit: usize },
    TooLong { limit: usize, used: usize },
    NotOneByte { item: String },
    BytesNotAllowed { item: String },
}

/// Why an assertion cannot be decided.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LookFault {
    Before,
    /// The regexes before this one have taken all the work that there is.
    NothingLeft,
    After,
    TooMany {
        limit: usize,
    },
    TooManySteps {
        limit: usize,
    },
    TooManyWays {
        limit: usize,
    },
    /// The automaton of what is looked for, of which more than `limit` of these are needed.
    TooLarge {
        limit: u64,
        of: &'static str,
    },
}

/// Why a lazy quantifier has no exact meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LazyFault {
    Inside,
    Body,
    Before,
    After,
    Overlap,
    Anchor,
    TooMany,
    Look,
    Undecided,
}

impl LazyFault {
    /// The second half of a sentence.
    pub(super) fn reason(self) -> &'static str {
        match self {
            LazyFault::Inside => "it stands in a repetition, whose next round may begin anywhere",
            LazyFault::Body => "what it repeats is not always of the same length",
            LazyFault::Before => "what stands before it may end in several places",
            LazyFault::After => "what follows it may end in several places",
            LazyFault::Overlap => "what follows it may hold another such match that ends before it",
            LazyFault::Anchor => "an anchor for the end stands behind it",
            LazyFault::TooMany => "the regex is too long, or has too many lazy quantifiers and alternatives",
            LazyFault::Look => "a look-ahead sees beyond the terminal, and decides where it ends",
            LazyFault::Undecided => "what stands around it is too large to decide that",
        }
    }
}

/// One lint.
#[derive(Clone, Debug)]
pub(super) enum RegexLint {
    ClassNotation { notation: String },
    EmptyEcmaClass { negated: bool },
    OpenCount { count: String },
    UnclosedCount { count: String },
    ForeignEscape { escape: String, meaning: &'static str },
    VerboseClass { ignored: bool },
    TextEdge { is_start: bool },
    Slashes { meant: String },
}

/// Collects the diagnostics of one regex.
pub(super) struct Report<'a> {
    map: &'a TextMap,
    max: usize,
    errors: Vec<Diagnostic>,
    /// Whether an error was left out, which the last one says.
    is_full: bool,
    lints: Vec<Diagnostic>,
}

impl<'a> Report<'a> {
    pub(super) fn new(map: &'a TextMap, limits: &Limits) -> Self {
        Self { map, max: limits.diagnostics_max.max(1), errors: Vec::new(), is_full: false, lints: Vec::new() }
    }
    pub(super) fn error(&mut self, error: RegexError, at: Range<usize>) {
        if self.errors.len() < self.max {
            self.errors.push(error.diagnostic(at, self.map));
        } else if !std::mem::replace(&mut self.is_full, true) {
            self.errors.push(more_problems("R099", Severity::Error, Some(self.map.span(at)), None));
        }
    }
    pub(super) fn lint(&mut self, lint: RegexLint, at: Range<usize>) {
        if self.lints.len() < self.max {
            self.lints.push(lint.diagnostic(at, self.map));
        }
    }
    pub(super) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }
    /// Errors, lints.
    pub(super) fn finish(self) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
        (self.errors, self.lints)
    }
}

impl RegexError {
    fn diagnostic(self, at: Range<usize>, map: &TextMap) -> Diagnostic {
        let error = |code, message: String| Diagnostic::error(code, map.span(at.clone()), message);
        match self {
            RegexError::UnclosedGroup => error("R001", "this group is never closed".into())
                .help("add a `)`, or write `\\(` for a parenthesis itself"),
            RegexError::UnmatchedParenthesis => error("R002", "`)` closes nothing".into())
                .help("remove it, or write `\\)` for a parenthesis itself"),
            RegexError::UnclosedClass => error("R003", "this character class is never closed".into())
                .help("add a `]`, or write `\\[` for a bracket itself"),
            RegexError::RangeOrder { from, to } => {
                error("R004", format!("the range `{from}-{to}` is the wrong way round"))
                    .help(format!("write `{to}-{from}`, or `\\-` for a hyphen itself"))
            }
            RegexError::ClassInRange { item } => error("R005", format!("`{item}` cannot be an end of a range"))
                .help("write `\\-` for a hyphen itself, or put it last in the class"),
            RegexError::NothingToRepeat { operator } => {
                error("R006", format!("`{operator}` has nothing before it to repeat"))
                    .help(format!("write `\\{operator}` for the character itself"))
            }
            RegexError::MultipleRepeat { operator, first, meant } => {
                error("R007", format!("`{operator}` repeats what is already repeated"))
                    .also(map.span(first), "repeated here")
                    .help(format!("keep one of them, or put the inner one into a group: `{meant}`"))
            }
            RegexError::CountOrder { min, max } => {
                error("R008", format!("the minimum {min} is above the maximum {max}"))
                    .help(format!("write `{{{max},{min}}}`"))
            }
            RegexError::CountTooLarge { count, limit } => {
                error("R009", format!("the count {count} is above {limit} (limit `repeat_max`)"))
                    .help("raise `repeat_max`, or leave the count open: `{n,}`")
            }
            RegexError::BadCount => error("R010", "`{` begins no count here".into())
                .help("write `{n}`, `{m,n}`, `{m,}` or `{,n}`, or `\\{` for a brace itself"),
            RegexError::UnknownEscape { escape, dialect, in_class } => {
                let language = match dialect {
                    Dialect::Python => "Python's regexes have",
                    Dialect::Rust => "Rust's regexes have",
                    Dialect::Ecma => "ECMA-262's regexes have",
                };
                let place = if in_class { " in a character class" } else { "" };
                let help = escape_help(&escape);
                error("R011", format!("{language} no escape `{escape}`{place}")).help(help)
            }
            RegexError::BadHex { escape, wanted } => {
                error("R012", format!("`{escape}` is incomplete: {wanted}")).help("as in `\\x41`, `\\u0041`, `\\u{41}`")
            }
            RegexError::BadControl => error("R012", "`\\c` is incomplete: a letter must follow".into())
                .help("as in `\\cJ` for a line break; write `\\\\c` for a backslash and a `c`"),
            RegexError::NotACharacter { code } => {
                let what = if (0xD800..0xE000).contains(&code) {
                    format!("U+{code:04X} is half of a surrogate pair, and no character by itself")
                } else {
                    format!("U+{code:X} is beyond the last character, U+10FFFF")
                };
                error("R013", what).help("name the character itself: `\\u{1F600}`; all above U+FFFF are `[\\u{10000}-\\u{10FFFF}]`")
            }
            RegexError::BadOctal { escape } => error("R014", format!("`{escape}` is not an octal escape that fits"))
                .help("write `\\x00` for the character NUL, `\\x41` for others"),
            RegexError::UnknownProperty { name, nearest } => {
                let diagnostic = error("R015", format!("there is no Unicode property `{name}`"));
                match nearest {
                    Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
                    None => diagnostic.help("as in `\\p{L}`, `\\p{Lu}`, `\\p{Greek}`, `\\p{Script=Greek}`, `\\p{Alphabetic}`"),
                }
            }
            RegexError::TrailingBackslash => {
                error("R016", "the regex ends in a backslash".into()).help("write `\\\\` for a backslash itself")
            }
            RegexError::NamedCharacter => error("R017", "characters cannot be written by their names".into())
                .help("write the character itself or its number: `\\u2014`"),
            RegexError::UnknownGroup { start } => error("R018", format!("`{start}` begins no known kind of group"))
                .help("there are `(…)`, `(?:…)`, `(?P<name>…)`, `(?<name>…)`, `(?i)`, `(?i:…)` and `(?#…)`"),
            RegexError::BadGroupName { name } => error("R019", format!("`{name}` is not a name for a group"))
                .help("names are letters, digits and `_`, and begin with no digit"),
            RegexError::RepeatedGroupName { name, first } => {
                error("R020", format!("two groups are named `{name}`")).also(map.span(first), "first here")
                    .help("give one of them another name, or none: `(?:…)`")
            }
            RegexError::UnknownFlag { flag } => error("R021", format!("there is no flag `{flag}` here"))
                .help("the flags are `i`, `m`, `s`, `x`, `u` and `a`, without some of them after `-`"),
            RegexError::FlagsNotFirst { flags } => {
                error("R022", "in Python, flags for the whole regex stand at its very start".into())
                    .help(format!("write `(?{flags}:…)` around what they are for"))
            }
            RegexError::LookAround => error("R023", "Rust's regexes have no look-around".into())
                .help(
                "in Lark a `/…/` takes look-around as it is, unless the text begins with `%llguidance`; there say it with `&` and `~` \
                 of terminals: `A & ~B` is what matches A but not B",
            ),
            RegexError::Look { fault } => match fault {
                LookFault::Before => error("R023", "what this looks at may stand before what can be seen here".into()).help(
                    "this must be decided by the regex itself, whatever stands before it: let something as long stand before \
                     the assertion, or write it where the start of a terminal may look behind",
                ),
                LookFault::After => error("R023", "what this looks at may stand after what can be seen here".into()).help(
                    "this must be decided by the regex itself, or by the look-behind that it is in, whatever follows: let \
                     something follow that decides it, or write it where the end of a terminal may look ahead",
                ),
                LookFault::TooMany { limit } => {
                    error("R023", format!("more than {limit} look-arounds and word boundaries in one regex"))
                        .help("write several patterns, or in Lark say some of it with `&` and `~`")
                }
                LookFault::TooManySteps { limit } => {
                    error("R023", format!("the alternatives around look-arounds take more than {limit} steps"))
                        .help("put alternatives that end alike into one group")
                }
                LookFault::TooManyWays { limit } => {
                    error("R023", format!("look-around in this needs more than {limit} states, or too many branches, to be decided"))
                        .help("look for shorter texts, for fewer of them, or fewer times")
                }
                LookFault::NothingLeft => {
                    error("R023", "the look-arounds of all regexes take too many steps to be decided".into())
                        .help("look for shorter texts, or in fewer regexes; the limit is `look_work_max`")
                }
                LookFault::TooLarge { limit, of } => error("R023", format!("what this looks for takes more than {limit} {of}"))
                    .help("look for something shorter; in Lark whole words are forbidden beside the regex: `/[a-z]\\w*/ & ~/if|else/`"),
            },
            RegexError::WordBoundary { escape } => error("R024", format!("the word boundary `{escape}` is not supported"))
                .help("name the characters that may stand there: `[^\\w]`"),
            RegexError::LazyQuantifier { fault } => {
                error("R025", format!("where this lazy quantifier ends is not clear: {}", fault.reason())).help(
                    "say what may be repeated (`\"[^\"]*\"` for `\".*?\"`), or give the rule the attribute `lazy` or `stop`",
                )
            }
            RegexError::InnerAnchor { is_start, repeated } => {
                let (what, edge) = if is_start { ("start", "beginning") } else { ("end", "end") };
                let place = if repeated { "inside a repetition" } else { "in the middle of a regex" };
                error("R026", format!("an anchor for the {what} of the text is not supported {place}")).help(format!(
                    "put it at the very {edge} of the regex or of an alternative, or write `\\{}` for the character",
                    if is_start { '^' } else { '$' }
                ))
            }
            RegexError::BackReference { reference } => {
                error("R027", format!("the back-reference `{reference}` makes the language irregular"))
                    .help("no automaton can follow it; write the alternatives out")
            }
            RegexError::Conditional => error("R028", "a group that depends on another group is not supported".into())
                .help("write both cases as alternatives: `ab|c`"),
            RegexError::Atomic { what } => error("R029", format!("{what} is not supported"))
                .help("it forbids matches for the order in which they are tried; use the plain form, or in Lark `&` and `~` of terminals"),
            RegexError::Recursion { reference } => error("R030", format!("the recursion `{reference}` is not regular"))
                .help("make it a rule of the grammar"),
            RegexError::TooDeep { limit } => {
                error("R031", format!("nested more than {limit} deep (limit `grammar_depth_max`)"))
                    .help("raise `grammar_depth_max`, or nest less")
            }
            RegexError::TooManyNodes { limit } => {
                error("R032", format!("the regexes take more than {limit} nodes (limit `regex_nodes_max`)"))
                    .help("raise `regex_nodes_max`, or shorten the regex")
            }
            RegexError::TooLong { limit, used } => {
                error("R033", format!("the regex has {used} bytes, more than {limit} (limit `source_bytes_max`)"))
                    .help("raise `source_bytes_max`, or shorten the regex")
            }
            RegexError::NotOneByte { item } => {
                error("R034", format!("with `allow_invalid_utf8`, `{item}` is several bytes, and has no complement"))
                    .help("use `~` of a terminal for all other texts, or name bytes: `[^\\x80-\\xFF]`")
            }
            RegexError::BytesNotAllowed { item } => {
                error("R035", format!("`{item}` with Rust's flag `-u` means single bytes, which may be parts of characters"))
                    .help("leave the flag out, or set the grammar's option `allow_invalid_utf8`")
            }
        }
    }
}

fn escape_help(escape: &str) -> String {
    let instead = match escape {
        "\\h" => "write `[ \\t]`",
        "\\H" => "write `[^ \\t]`",
        "\\R" => "write `(?:\\r\\n|\\n|\\r)`",
        "\\Q" | "\\E" => "escape each character by itself",
        "\\X" => "write `.`, or `\\P{M}\\p{M}*`",
        "\\K" | "\\G" => "there is no search here for it to act on",
        "\\e" => "write `\\x1B`",
        "\\l" | "\\L" | "\\U" => "write `[a-z]` or `[A-Z]`, or name the character: `\\U0001F600`",
        _ => {
            let character = escape.trim_start_matches('\\');
            return format!("write `{character}` for the character itself, `\\\\` for a backslash");
        }
    };
    instead.into()
}

/// A class for what stands in a POSIX class such as `[:alpha:]`.
fn posix_class(notation: &str) -> Option<&'static str> {
    Some(match notation.strip_prefix("[:")?.strip_suffix(":]")? {
        "alpha" => "[A-Za-z]",
        "digit" => "[0-9]",
        "alnum" => "[A-Za-z0-9]",
        "upper" => "[A-Z]",
        "lower" => "[a-z]",
        "space" => "[ \\t\\n\\r\\f\\v]",
        "blank" => "[ \\t]",
        "xdigit" => "[0-9A-Fa-f]",
        "word" => "[A-Za-z0-9_]",
        "punct" => "[!-\\/:-@\\[-`{-~]",
        "print" => "[ -~]",
        "graph" => "[!-~]",
        "cntrl" => "[\\x00-\\x1F\\x7F]",
        "ascii" => "[\\x00-\\x7F]",
        "^digit" => "[^0-9]",
        "^space" => "[^ \\t\\n\\r\\f\\v]",
        _ => return None,
    })
}

impl RegexLint {
    fn diagnostic(self, at: Range<usize>, map: &TextMap) -> Diagnostic {
        let lint = |code, message: String| Diagnostic::warning(code, map.span(at.clone()), message);
        match self {
            RegexLint::ClassNotation { notation } => lint(
                "R101",
                match posix_class(&notation) {
                    Some(_) => format!("`{notation}` stands for its characters here"),
                    None => format!("`{notation}` stands for its characters here; in Rust's regexes it is an operator"),
                },
            )
            .help(match posix_class(&notation) {
                Some(class) => format!("POSIX classes do not exist here; write `{class}`"),
                None => "escape it, `\\[`, `\\&`, `\\-`, `\\~`, so that it means the same everywhere".to_owned(),
            }),
            RegexLint::EmptyEcmaClass { negated: true } => {
                lint("R102", "`[^]` is any character in ECMA-262; elsewhere `]` would be part of the class".into())
                    .help("write `[\\s\\S]` for any character, `[^\\]…]` for a bracket in the class")
            }
            RegexLint::EmptyEcmaClass { negated: false } => {
                lint("R102", "`[]` matches nothing in ECMA-262; elsewhere `]` would be part of the class".into())
                    .help("write `[\\]…]` for a bracket in the class")
            }
            RegexLint::OpenCount { count } => {
                lint("R103", format!("`{count}` is read as a count from 0, which ECMA-262 does not have"))
                    .help(format!("write `{}`", count.replacen('{', "{0", 1)))
            }
            RegexLint::UnclosedCount { count } => lint("R108", format!("`{count}` is no count, but these characters"))
                .help(format!("write `{count}}}` for a count, or `\\{count}` for the characters")),
            RegexLint::ForeignEscape { escape, meaning } => {
                lint("R104", format!("`{escape}` is read as {meaning}, which ECMA-262 does not have")).help(
                    match meaning {
                        "the start of the text" => "write `^`",
                        "the end of the text" => "write `$`",
                        _ => "write `\\x07`",
                    },
                )
            }
            RegexLint::TextEdge { is_start } => {
                let (place, line) = if is_start { ("begins", "start") } else { ("ends", "end") };
                lint(
                    "R106",
                    format!("this anchor holds only where the whole text {place}, not where the terminal does"),
                )
                .help(format!(
                    "leave it out, since a terminal matches as a whole; for a line's {line} set the flag `m`"
                ))
            }
            RegexLint::Slashes { meant } => {
                lint("R107", "the slashes around this pattern, and flags behind them, are characters of it".into())
                    .help(format!("write `{meant}`"))
            }
            RegexLint::VerboseClass { ignored } => {
                let here = if ignored { "does not count" } else { "counts" };
                lint(
                    "R105",
                    format!(
                        "with flag `x`, white space in a character class {here} here; elsewhere it is the other way"
                    ),
                )
                .help("write `\\ ` for a space in a class, `\\#` for `#`")
            }
        }
    }
}

/// Everything that [`parse_regex`](super::parse_regex) reports. The examples are Lark grammars.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::new("R001", "group not closed", "Every `(` has its `)`.", "start: /(ab/", "start: /(ab)/"),
    CodeInfo::new(
        "R002",
        "unmatched parenthesis",
        "A `)` closes a group; as a character it is `\\)`.",
        "start: /ab)/",
        "start: /ab\\)/",
    ),
    CodeInfo::new(
        "R003",
        "class not closed",
        "Every `[` has its `]`; a `]` that stands first is a character.",
        "start: /[]/",
        "start: /[\\]]/",
    ),
    CodeInfo::new(
        "R004",
        "range the wrong way round",
        "A range goes from the lower to the higher code.",
        "start: /[z-a]/",
        "start: /[a-z]/",
    ),
    CodeInfo::new(
        "R005",
        "class as the end of a range",
        "The ends of a range are single characters.",
        "start: /[\\w-z]/",
        "start: /[\\wz-]/",
    ),
    CodeInfo::new("R006", "nothing to repeat", "A quantifier follows what it repeats.", "start: /*a/", "start: /\\*a/"),
    CodeInfo::new(
        "R007",
        "repeated twice",
        "Two quantifiers in a row are a mistake in Python and ECMA-262.",
        "start: /a{2}{3}/",
        "start: /(?:a{2}){3}/",
    ),
    CodeInfo::new("R008", "minimum above maximum", "`{m,n}` has m <= n.", "start: /a{3,2}/", "start: /a{2,3}/"),
    CodeInfo::new("R009", "count too large", "Counts are at most `repeat_max`.", "start: /a{9999999}/", "start: /a*/"),
    CodeInfo::new(
        "R010",
        "malformed count",
        "Rust's regexes take `{` for the start of a count.",
        "%llguidance {}\nstart: /{a}/",
        "%llguidance {}\nstart: /\\{a\\}/",
    ),
    CodeInfo::new(
        "R011",
        "unknown escape",
        "A backslash before a letter has a meaning, or is reserved.",
        "start: /\\h+/",
        "start: /[ \\t]+/",
    ),
    CodeInfo::new(
        "R012",
        "incomplete number of a character",
        "`\\x` takes two hexadecimal digits, `\\u` four, `\\U` eight, or any number in braces; `\\c` takes a letter.",
        "start: /\\x4/",
        "start: /\\x04/",
    ),
    CodeInfo::new(
        "R013",
        "not a character",
        "Characters are U+0000 to U+10FFFF without the surrogates U+D800 to U+DFFF.",
        "start: /\\ud800/",
        "start: /\\U00010000/",
    ),
    CodeInfo::new(
        "R014",
        "octal escape out of place",
        "Octal escapes end at `\\377`.",
        "start: /\\777/",
        "start: /\\u01ff/",
    ),
    CodeInfo::new(
        "R015",
        "unknown property",
        "`\\p{…}` takes general categories, scripts and properties of Unicode.",
        "start: /\\p{Letters}/",
        "start: /\\p{Letter}/",
    ),
    CodeInfo::new(
        "R016",
        "backslash at the end",
        "A backslash escapes what follows it.",
        "start: %regex \"a\\\\\"",
        "start: %regex \"a\"",
    ),
    CodeInfo::new(
        "R017",
        "character by name",
        "Tables of names are not built in.",
        "start: /\\N{EM DASH}/",
        "start: /\\u2014/",
    ),
    CodeInfo::new(
        "R018",
        "unknown kind of group",
        "After `(?` comes what kind of group it is.",
        "start: /(?~a)/",
        "start: /(?:a)/",
    ),
    CodeInfo::new(
        "R019",
        "bad name for a group",
        "Names are letters, digits and `_`, and begin with no digit.",
        "start: /(?P<1>a)/",
        "start: /(?P<one>a)/",
    ),
    CodeInfo::new(
        "R020",
        "two groups of one name",
        "A name stands for one group.",
        "start: /(?P<a>x)(?P<a>y)/",
        "start: /(?P<a>x)(?P<b>y)/",
    ),
    CodeInfo::new(
        "R021",
        "unknown flag",
        "Flags are `i`, `m`, `s`, `x`, `u` and `a`.",
        "start: /(?q)a/",
        "start: /(?i)a/",
    ),
    CodeInfo::new(
        "R022",
        "flags not at the start",
        "In Python, `(?i)` holds for the whole regex and must be at its start.",
        "start: /a(?i)b/",
        "start: /a(?i:b)/",
    ),
    CodeInfo::new(
        "R023",
        "look-around out of sight",
        "Look-around may see what stands around a terminal, and a pattern of a JSON Schema sees the whole string. A look-ahead in a \
         look-behind sees no further than to that one's end, and an operand of `&` and `~` not beyond itself: what stands there \
         must decide it. Where it stands in repetitions, what it looks for must not be too long. Rust's regexes have none of \
         them but the word boundaries.",
        "start: /a+(?<=a(?=b))-/",
        "start: /(?!0)[0-9]+/",
    ),
    CodeInfo::new(
        "R024",
        "word boundary",
        "Half boundaries (`\\b{start}`, `\\<`) are not built.",
        "%llguidance {}\nstart: /a\\b{end}/",
        "start: /if/",
    ),
    CodeInfo::new(
        "R025",
        "lazy quantifier",
        "`X Y*? Z` ends where `Z` first matches. That is one place only if the texts of `Y` have one length, and if no text of \
         `X` or `Z` goes on to another one.",
        "start: /(a.*?b)+/",
        "start: /(a[^b]*b)+/",
    ),
    CodeInfo::new(
        "R026",
        "anchor in the middle",
        "`^` and `$` stand at the edges of a terminal's regex; with Python's flag `m` they may stand anywhere.",
        "start: /a$b/",
        "start: /ab/",
    ),
    CodeInfo::new(
        "R027",
        "back-reference",
        "What a group matched cannot be asked for again: such languages are not regular.",
        "start: /(a|b)\\1/",
        "start: /aa|bb/",
    ),
    CodeInfo::new(
        "R028",
        "conditional group",
        "`(?(1)a|b)` depends on what a group matched.",
        "start: /(<)?a(?(1)>)/",
        "start: /<a>|a/",
    ),
    CodeInfo::new(
        "R029",
        "atomic or possessive",
        "`(?>…)` and `a++` depend on the order in which matches are tried.",
        "start: /a++b/",
        "start: /a+b/",
    ),
    CodeInfo::new(
        "R030",
        "recursion in a regex",
        "Recursion belongs in rules.",
        "start: /a(?1)?b/",
        "start: \"a\" start? \"b\"",
    ),
    CodeInfo::new(
        "R031",
        "nested too deeply",
        "Nesting has the limit `grammar_depth_max`.",
        "start: /((((…))))/",
        "start: /…/",
    ),
    CodeInfo::new(
        "R032",
        "too many nodes",
        "All regexes of a source have at most `regex_nodes_max` nodes.",
        "start: /…/",
        "start: /a/",
    ),
    CodeInfo::new("R033", "regex too long", "A text has at most `source_bytes_max` bytes.", "start: /…/", "start: /a/"),
    CodeInfo::new(
        "R034",
        "complement of several bytes",
        "With `allow_invalid_utf8` a negated class is one byte.",
        "%larkspur {\"allow_invalid_utf8\": true}\nstart: /[^é]/",
        "start: /[^é]/",
    ),
    CodeInfo::new(
        "R035",
        "bytes without allow_invalid_utf8",
        "Rust's flag `-u` describes bytes that need not be characters.",
        "start: /(?-u:\\xFF)/",
        "start: /\\xFF/",
    ),
    CodeInfo::new(
        "R099",
        "more problems",
        "There are more problems than `diagnostics_max`.",
        "start: /…/",
        "start: /a/",
    ),
    CodeInfo::new(
        "R101",
        "notation of Rust's classes",
        "`&&`, `--`, `~~` and `[` in a class are operators in Rust, characters in Python and ECMA-262.",
        "start: /[a-z&&x]/",
        "start: /[a-z\\&x]/",
    ),
    CodeInfo::new(
        "R102",
        "empty class",
        "`[]` and `[^]` mean nothing and anything in ECMA-262 only.",
        "start: %json {\"type\": \"string\", \"pattern\": \"^[^]*$\"}",
        "start: %json {\"type\": \"string\", \"pattern\": \"^[\\\\s\\\\S]*$\"}",
    ),
    CodeInfo::new(
        "R103",
        "count without a minimum",
        "ECMA-262 has no `{,n}`.",
        "start: %json {\"type\": \"string\", \"pattern\": \"^a{,5}$\"}",
        "start: %json {\"type\": \"string\", \"pattern\": \"^a{0,5}$\"}",
    ),
    CodeInfo::new(
        "R104",
        "escape of another dialect",
        "`\\A`, `\\Z`, `\\z` and `\\a` are not in ECMA-262; they are read as in Python.",
        "start: %json {\"type\": \"string\", \"pattern\": \"\\\\Aa\\\\Z\"}",
        "start: %json {\"type\": \"string\", \"pattern\": \"^a$\"}",
    ),
    CodeInfo::new(
        "R105",
        "white space in a verbose class",
        "With flag `x`, Python keeps white space in classes, Rust drops it.",
        "start: /[a b]/x",
        "start: /[a\\ b]/x",
    ),
    CodeInfo::new(
        "R106",
        "anchor of the text's edges",
        "`^`, `\\A`, `$` and `\\Z` see the whole text, as in Lark, and not the terminal, which matches as a whole anyway. With \
         flag `m`, `^` and `$` see lines.",
        "start: \"x=\" /^[a-z]+$/",
        "start: \"x=\" /[a-z]+/",
    ),
    CodeInfo::new(
        "R107",
        "slashes around a pattern",
        "`/…/i` is how JavaScript's programs write a regex; a `pattern` of JSON Schema is what stands between the slashes. \
         Behind or before a slash an anchor never holds.",
        "start: %json {\"pattern\": \"/^a$/\"}",
        "start: %json {\"pattern\": \"^a$\"}",
    ),
    CodeInfo::new(
        "R108",
        "count that is not closed",
        "As in Python `{` is a character where it begins no count.",
        "start: /[0-9]{3/",
        "start: /[0-9]{3}/",
    ),
];
