//! Everything that can be wrong with a schema, or with us for it: one [`Mistake`] each, and the [`Sink`].

use std::fmt;

use compact_str::CompactString;
use larkspur_grammar::diagnostic::did_you_mean;
use larkspur_grammar::json::{JsonDocument, JsonId, JsonMember};
use larkspur_grammar::{Diagnostic, Limits, Span};
use rustc_hash::FxHashSet;

use crate::codes::CODES;
use crate::draft::{Draft, KEYWORDS};
use crate::formats;
use crate::hints::Hint;
use crate::late::{Found, LateList};
use crate::lints::Lacking;
use crate::numbers::COUNT_MAX;

/// A mistake of the schema's author, something that cannot be enforced, or something that has no effect.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Mistake {
    NotSchema {
        found: &'static str,
        hint: Option<Hint>,
    },
    KeywordValue {
        keyword: &'static str,
        expected: &'static str,
        hint: Option<Hint>,
    },
    TypeUnknown {
        hint: Option<Hint>,
    },
    /// A count that no list or text in memory could reach.
    CountTooLarge {
        keyword: &'static str,
    },
    DraftUnknown {
        uri: String,
        is_old: bool,
        read_as: Draft,
        /// That of a draft, if it is nearly written so.
        near: Option<&'static str>,
    },
    /// A meta-schema says that it must be known.
    VocabularyUnknown {
        uri: String,
    },
    RefMissing {
        keyword: &'static str,
        target: String,
        /// A reference that leads somewhere, if one is near.
        near: Option<String>,
        /// It leads to OpenAPI's `components`, which are not there.
        is_openapi: bool,
    },
    RefRemote {
        keyword: &'static str,
        uri: String,
        /// `None`: nobody gives documents.
        reason: Option<String>,
        /// A reference within the document, if it is what was meant.
        near: Option<String>,
    },
    RefToItself,
    /// The keyword is known and cannot be enforced.
    Refused {
        keyword: &'static str,
        reason: String,
    },
    /// `oneOf`, `not` or `if` asks for an array of which two elements are equal.
    EqualElements {
        keyword: &'static str,
    },
    /// With the keywords that exclude each other, if they are known.
    Unsatisfiable {
        keywords: Vec<Excluding>,
        /// The way out, if more is known than that they exclude each other.
        help: Option<String>,
    },
    NeverFinished,
    /// No value is valid for what need not be there.
    NeverThere {
        what: Lacking,
    },
    KeywordUnknown {
        keyword: CompactString,
        draft: Draft,
        /// The way out, which is looked for when it is said.
        hint: Option<Hint>,
    },
    /// A known keyword that says nothing where it stands.
    WithoutEffect {
        keyword: &'static str,
        cause: &'static str,
        help: &'static str,
    },
    /// A number for draft 4's boolean `exclusiveMinimum` or `exclusiveMaximum`.
    ExclusiveNumber {
        keyword: &'static str,
        bound: String,
    },
    /// A required property that no schema names, beside one that is nearly called so.
    RequiredNearly {
        name: String,
        near: String,
    },
    /// A branch of `oneOf` that says the same as one before it.
    BranchTwice {
        first: usize,
        second: usize,
    },
    /// `{` and digits in a pattern, which begin no count.
    OpenCount {
        text: String,
    },
    /// A property without values that is called as a keyword.
    KeywordAsName {
        keyword: String,
    },
    FormatUnknown {
        format: String,
        is_error: bool,
    },
    GuidanceField {
        field: String,
        reason: &'static str,
        near: Option<&'static str>,
    },
    Limit {
        what: &'static str,
        limit: &'static str,
        value: u64,
        /// What asks for much, if it is known.
        demand: Option<Demand>,
    },
}

/// A keyword of which much may be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Demand {
    /// Which branches hold, of each set of them.
    UnevaluatedProperties,
    UnevaluatedItems,
    /// Branches without each other.
    OneOf,
}

/// One of the keywords that exclude each other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Excluding {
    pub member: JsonMember,
    /// Where it stands, if that is in a schema inside the one without values.
    pub pointer: Option<String>,
}

/// Formats of integers that others have, with their bounds.
const INTEGERS: [(&str, &str, &str); 6] = [
    ("int8", "-128", "127"),
    ("int16", "-32768", "32767"),
    ("uint8", "0", "255"),
    ("uint16", "0", "65535"),
    ("uint32", "0", "4294967295"),
    ("uint64", "0", "18446744073709551615"),
];

/// Formats of identifiers that others have.
const IDENTIFIERS: [&str; 6] = ["cuid", "cuid2", "ksuid", "nanoid", "ulid", "xid"];

/// What lists of schemas take, and divisors.
pub(crate) const AT_LEAST_ONE: &str = "an array of at least one schema";
pub(crate) const ABOVE_ZERO: &str = "a number above 0";

/// What `type` takes.
const TYPES: &str = "`null`, `boolean`, `object`, `array`, `number`, `integer` or `string`";

/// What is noted of regexes to be said of other places, at most; of other mistakes, as many as are shown.
const SAID_MAX: usize = 1_000;

/// What was said of a place, so that it can be said of another.
#[derive(Clone, Debug)]
pub(crate) enum Said {
    Mistake {
        mistake: Mistake,
        /// Of the key before the value.
        is_of_key: bool,
    },
    /// Something of a regex: that of a string, or that of a member's key.
    Regex { member: Option<usize> },
}

/// The diagnostics of one run.
pub(crate) struct Sink<'a> {
    document: &'a JsonDocument,
    /// What we cannot enforce is a warning.
    pub lenient: bool,
    /// What is wrong stands in a definition that no reference leads to, and is a warning.
    pub is_unused: bool,
    list: LateList,
    said: Vec<(JsonId, Said)>,
    /// Schemas whose unknown keywords are no mistake of theirs, but of what stands around them.
    misplaced: FxHashSet<JsonId>,
}

impl<'a> Sink<'a> {
    pub fn new(document: &'a JsonDocument, limits: &Limits) -> Self {
        let list = LateList::new(limits);
        Self { document, lenient: false, is_unused: false, list, said: Vec::new(), misplaced: FxHashSet::default() }
    }
    /// Nothing is to be said of the schema's unknown keywords.
    pub fn misplace(&mut self, schema: JsonId) {
        self.misplaced.insert(schema);
    }
    pub fn is_misplaced(&self, schema: JsonId) -> bool {
        self.misplaced.contains(&schema)
    }
    /// Reports a mistake at the value of a keyword, or of a schema.
    pub fn report(&mut self, place: JsonId, mistake: Mistake) {
        self.report_at(place, self.document.span(place), mistake);
    }
    /// The same with another span: that of a key.
    pub fn report_at(&mut self, place: JsonId, span: Span, mistake: Mistake) {
        if self.report_within(place, span, mistake.clone()) {
            let is_of_key = span != self.document.span(place);
            self.said.push((place, Said::Mistake { mistake, is_of_key }));
        }
    }
    /// The same with a span in the value or key, for what is looked for at each place anew; whether there was room for it.
    pub fn report_within(&mut self, place: JsonId, span: Span, mistake: Mistake) -> bool {
        let is_warning = mistake.is_warning();
        let forgiven = match self.is_unused {
            true => (!is_warning).then_some("no reference leads to this definition"),
            false => (self.lenient && mistake.is_ours()).then_some("it is not enforced"),
        };
        let found = Found { place, span, mistake, forgiven };
        if forgiven.is_some() || is_warning { self.list.warn(found) } else { self.list.error(found, self.document) }
    }
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push(diagnostic);
    }
    /// Reports a mistake that was made in one place in another that says the same.
    pub fn repeat(&mut self, place: JsonId, mistake: &Mistake, is_of_key: bool) {
        let members = self.document.parent(place).and_then(|parent| self.document.object(parent)).unwrap_or_default();
        let key = members.iter().find(|member| is_of_key && member.value == place);
        let span = key.map_or(self.document.span(place), |member| member.key_span);
        self.report_at(place, span, mistake.clone());
    }
    /// Notes that something was said of a regex.
    pub fn note_regex(&mut self, place: JsonId, member: Option<usize>) {
        if self.said.len() < SAID_MAX {
            self.said.push((place, Said::Regex { member }));
        }
    }
    /// What was said since the last call, as far as there was room for it.
    pub fn take_said(&mut self) -> Vec<(JsonId, Said)> {
        std::mem::take(&mut self.said)
    }
    /// The same, with the JSON pointer of the text that it is in.
    pub fn push_within(&mut self, place: JsonId, mut diagnostic: Diagnostic) {
        if let Some(label) = diagnostic.labels.first_mut().filter(|label| label.message.is_empty()) {
            label.message = format!("in `{}`", self.document.pointer(place));
        }
        self.push(diagnostic);
    }
    /// Whether another error would be shown, so that it is worth while to say much of it.
    pub fn has_room(&self) -> bool {
        self.list.has_room()
    }
    pub fn has_errors(&self) -> bool {
        self.list.has_errors()
    }
    pub fn finish(self) -> LateList {
        self.list
    }
}

/// The diagnostic, with the name that was perhaps meant.
/// A JSON pointer as messages have it.
#[derive(Clone, Copy)]
struct At<'a>(&'a str);

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            "" => f.write_str("the root"),
            pointer => write!(f, "`{pointer}`"),
        }
    }
}

fn with_near(diagnostic: Diagnostic, near: Option<&str>) -> Diagnostic {
    match near {
        Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

/// What definitions stand under, of two references, and the keyword that the one which leads nowhere has in its place.
fn renamed<'r>(target: &'r str, near: &'r str) -> Option<(&'r str, &'r str)> {
    let (meant, written) = (target.strip_prefix("#/")?.split_once('/')?.0, near.strip_prefix("#/")?.split_once('/')?.0);
    let is_keyword = KEYWORDS.iter().any(|row| row.name == written);
    (["$defs", "definitions"].contains(&meant) && !is_keyword).then_some((written, meant))
}

/// The diagnostic, with the way out that is known.
fn with_hint(diagnostic: Diagnostic, hint: Option<Hint>, pointer: &str) -> Diagnostic {
    match hint {
        Some(hint) => diagnostic.help(hint.sentence(pointer)),
        None => diagnostic,
    }
}

/// A schema without values, with the keywords that exclude each other; the error is at the last of them.
fn unsatisfiable(
    error: impl Fn(String) -> Diagnostic,
    keywords: &[Excluding],
    help: Option<String>,
    at: At<'_>,
) -> Diagnostic {
    let diagnostic = excluding(error, keywords, at);
    match help {
        Some(help) => diagnostic.help(help),
        None => diagnostic,
    }
}

fn excluding(error: impl Fn(String) -> Diagnostic, keywords: &[Excluding], at: At<'_>) -> Diagnostic {
    let message = format!("no value is valid for the schema at {at}");
    let name = |Excluding { member, pointer }: &Excluding| match pointer {
        None => format!("`{}`", member.key),
        Some(pointer) => format!("`{}` at `{pointer}`", member.key),
    };
    let names: Vec<String> = keywords.iter().map(name).collect();
    match names.as_slice() {
        [] => error(message),
        [name] if keywords[0].member.key == "pattern" => error(format!("{message}: no text matches {name}")),
        [name] => error(format!("{message}: {name} leaves none")),
        [names @ .., last] => {
            let mut diagnostic = error(format!("{message}: {} and {last} exclude each other", names.join(", ")))
                .help("change one of them; a schema that no value is valid for is written `false`");
            for keyword in &keywords[..names.len()] {
                diagnostic = diagnostic.also(keyword.member.key_span, "beside this");
            }
            diagnostic
        }
    }
}

impl Mistake {
    /// Has no effect on what is valid.
    pub fn is_warning(&self) -> bool {
        matches!(
            self,
            Mistake::NeverThere { .. }
                | Mistake::KeywordUnknown { .. }
                | Mistake::WithoutEffect { .. }
                | Mistake::KeywordAsName { .. }
                | Mistake::ExclusiveNumber { .. }
                | Mistake::RequiredNearly { .. }
                | Mistake::BranchTwice { .. }
                | Mistake::OpenCount { .. }
                | Mistake::GuidanceField { .. }
                | Mistake::FormatUnknown { is_error: false, .. }
                | Mistake::DraftUnknown { is_old: false, .. }
        )
    }
    fn code(&self) -> &'static str {
        match self {
            Mistake::NotSchema { .. } => "J001",
            Mistake::KeywordValue { .. } | Mistake::TypeUnknown { .. } => "J002",
            Mistake::DraftUnknown { .. } | Mistake::VocabularyUnknown { .. } => "J003",
            Mistake::RefMissing { .. } => "J004",
            Mistake::RefRemote { .. } => "J005",
            Mistake::RefToItself => "J006",
            Mistake::Refused { .. } => "J010",
            Mistake::EqualElements { keyword: "oneOf" } => "J011",
            Mistake::EqualElements { .. } => "J012",
            Mistake::Unsatisfiable { .. } => "J020",
            Mistake::NeverFinished => "J021",
            Mistake::NeverThere { .. } => "J022",
            Mistake::KeywordUnknown { .. } | Mistake::WithoutEffect { .. } | Mistake::KeywordAsName { .. } => "J030",
            Mistake::FormatUnknown { .. } => "J031",
            Mistake::GuidanceField { .. } => "J032",
            Mistake::ExclusiveNumber { .. } => "J033",
            Mistake::RequiredNearly { .. } => "J034",
            Mistake::BranchTwice { .. } => "J035",
            Mistake::OpenCount { .. } => "J036",
            Mistake::Limit { .. } | Mistake::CountTooLarge { .. } => "J040",
        }
    }

    /// Whether a keyword says nothing where it stands.
    pub fn is_idle(&self) -> bool {
        matches!(self, Mistake::KeywordUnknown { .. } | Mistake::WithoutEffect { .. })
    }

    /// Whether we can do without: the schema is right, only we cannot enforce it, or says nothing there.
    pub fn is_ours(&self) -> bool {
        match self {
            Mistake::Refused { keyword, .. } => !["const", "uniqueItems"].contains(keyword),
            Mistake::EqualElements { .. } | Mistake::RefRemote { .. } | Mistake::CountTooLarge { .. } => true,
            // What the specification forbids, and says nothing, or has one meaning all the same.
            Mistake::KeywordValue { keyword: "allOf", expected: AT_LEAST_ONE, .. }
            | Mistake::KeywordValue { keyword: "multipleOf", expected: ABOVE_ZERO, .. } => true,
            _ => false,
        }
    }

    /// The sentence, with its code, place and JSON pointer.
    pub fn diagnostic(self, span: Span, pointer: &str) -> Diagnostic {
        let code = self.code();
        debug_assert!(CODES.iter().any(|info| info.code == code), "{code} is in the table of codes");
        let error = |message: String| Diagnostic::error(code, span, message);
        let warning = |message: String| Diagnostic::warning(code, span, message);
        let at = At(pointer);
        match self {
            Mistake::NotSchema { found, hint } => {
                let message = format!("a schema is an object or a boolean; at {at} stands {found}");
                with_hint(error(message), hint, pointer)
            }
            Mistake::KeywordValue { keyword, expected, hint } => {
                with_hint(error(format!("`{keyword}` at {at} takes {expected}")), hint, pointer)
            }
            Mistake::TypeUnknown { hint } => with_hint(error(format!("`type` at {at} takes {TYPES}")), hint, pointer),
            Mistake::CountTooLarge { keyword } => {
                error(format!("`{keyword}` at {at} is over the limit of {COUNT_MAX}"))
                    .help("take a smaller number, or leave the keyword out if nothing is to be bounded")
            }
            Mistake::DraftUnknown { uri, is_old: true, .. } => {
                error(format!("`$schema` at {at} names a draft that is not supported: `{uri}`"))
                    .help("the drafts are 4, 6, 7, 2019-09 and 2020-12")
            }
            Mistake::DraftUnknown { uri, read_as, near, .. } => {
                let message = format!("`$schema` at {at} names no known draft; the schema is read as {read_as}: `{uri}`");
                with_near(warning(message), near)
            }
            Mistake::VocabularyUnknown { uri } => {
                error(format!("the meta-schema that {at} names asks for a vocabulary that is not known: `{uri}`"))
            }
            Mistake::RefMissing { keyword, target, near, is_openapi } => {
                let diagnostic = error(format!("`{keyword}` at {at} leads nowhere: there is no `{target}`"));
                if is_openapi && near.is_none() {
                    return diagnostic
                        .help("this is out of an OpenAPI document: bring its `components` along, beside the schema");
                }
                if let Some(near) = &near
                    && let Some((written, meant)) = renamed(&target, near)
                {
                    let rest = &near[2 + written.len()..];
                    let also = if target.ends_with(rest) { String::new() } else { format!(", and write `#/{meant}{rest}`") };
                    return diagnostic.help(format!("`{written}` is no keyword: rename it to `{meant}`{also}"));
                }
                with_near(diagnostic, near.as_deref())
            }
            Mistake::RefRemote { keyword, uri, reason: None, near } => {
                let message = format!("`{keyword}` at {at} leads to another document, which is not loaded: `{uri}`");
                let way =
                    "put the schema into `$defs` with its `$id`, or give the document: a `Retriever`, or `--ref FILE`";
                with_near(error(message).help(way), near.as_deref())
            }
            Mistake::RefRemote { keyword, uri, reason: Some(reason), near } => {
                let message = format!("`{keyword}` at {at} leads to `{uri}`, which cannot be loaded: {reason}");
                with_near(error(message), near.as_deref())
            }
            Mistake::RefToItself => error(format!("the schema at {at} refers to itself before anything is read"))
                .help("a recursive schema goes through `properties` or `items`"),
            Mistake::Refused { keyword, reason } => error(format!("`{keyword}` at {at} cannot be enforced: {reason}")),
            Mistake::EqualElements { keyword: "oneOf" } => error(format!(
                "`oneOf` at {at} cannot be enforced: several branches may be valid, and that takes an array of which two elements \
                 are equal"
            ))
            .help(
                "make the branches exclude each other, by a required property with different constants; or use `anyOf`",
            ),
            Mistake::EqualElements { keyword } => error(format!(
                "`{keyword}` at {at} cannot be enforced: that takes an array of which two elements are equal"
            )),
            Mistake::Unsatisfiable { keywords, help } => unsatisfiable(error, &keywords, help, at),
            Mistake::NeverFinished => error(format!("a value of the schema at {at} must hold itself and never ends")),
            Mistake::NeverThere { what: Lacking::Branch } => warning(format!("no value is valid for the schema at {at}, so that this branch is never taken"))
                .help("change it, or leave it out"),
            Mistake::NeverThere { what: Lacking::Name } => warning(format!("no name is valid for the schema at {at}: only `{{}}` is left"))
                .help("names are strings, those of numbers, too: `{\"enum\": [\"1\", \"2\"]}`; where no property is meant, write `false`"),
            Mistake::NeverThere { what } => {
                let what = if what == Lacking::Element { "an element" } else { "a property" };
                warning(format!("no value is valid for the schema at {at}, so that there is never such {what}"))
                    .help("change it; where none is meant, write `false`")
            }
            Mistake::KeywordUnknown { keyword, hint: hint @ Some(Hint::OtherDraft { .. }), .. } => {
                let message = format!("`{keyword}` at {at} is no keyword of this schema's draft and has no effect");
                with_hint(warning(message), hint, pointer)
            }
            Mistake::KeywordUnknown { keyword, hint: Some(hint), .. } => with_hint(
                warning(format!("the unknown keyword `{keyword}` at {at} has no effect")),
                Some(hint),
                pointer,
            ),
            Mistake::KeywordUnknown { keyword, hint: None, .. } => {
                warning(match KEYWORDS.iter().any(|row| row.name == keyword) {
                    true => format!("`{keyword}` at {at} is no keyword of this schema's draft and has no effect"),
                    false => format!("the unknown keyword `{keyword}` at {at} has no effect"),
                })
            }
            Mistake::FormatUnknown { format, is_error } => {
                let diagnostic = match is_error {
                    false => warning(format!("the unknown format `{format}` at {at} has no effect")),
                    true => error(format!("the format `{format}` at {at} is unknown, which the options refuse")),
                };
                match INTEGERS.into_iter().find(|&(name, ..)| name == format) {
                    Some((_, low, high)) => {
                        diagnostic.help(format!("write its bounds: `\"minimum\": {low}, \"maximum\": {high}`"))
                    }
                    None if format == "ip" => {
                        diagnostic.help("write `\"anyOf\": [{\"format\": \"ipv4\"}, {\"format\": \"ipv6\"}]`, or one of them")
                    }
                    // Of something else, however near.
                    None if IDENTIFIERS.contains(&&*format) => diagnostic,
                    None => with_near(diagnostic, did_you_mean(&format, formats::NAMES.iter().copied())),
                }
            }
            Mistake::WithoutEffect { keyword, cause, help } => {
                warning(format!("`{keyword}` at {at} has no effect {cause}")).help(help)
            }
            Mistake::ExclusiveNumber { keyword, bound } => {
                let name = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
                let message = format!("`{keyword}` at {at} takes a boolean in draft 4; the number counts as in later drafts");
                warning(message).help(format!(
                    "write `\"{name}\": {bound}, \"{keyword}\": true`, or name a later draft in `$schema`"
                ))
            }
            Mistake::RequiredNearly { name, near } => {
                warning(format!("`{name}` at {at} is required, and no schema says anything of it"))
                    .help(format!("did you mean the property `{near}`?"))
            }
            Mistake::BranchTwice { first, second } => {
                let message = format!("the branches {first} and {second} of `oneOf` say the same, the latter at {at}");
                warning(format!("{message}: what is valid for one is valid for both, and for `oneOf` never"))
                    .help("leave one of them out, or write `anyOf`")
            }
            Mistake::OpenCount { text } => {
                warning(format!("`{text}` in the pattern at {at} is no count, but these characters"))
                    .help(format!("write `{text}}}` for a count, or `\\\\{text}` for the characters, in JSON with both backslashes"))
            }
            Mistake::KeywordAsName { keyword } => {
                warning(format!("`{keyword}` at {at} is the name of a property, which no object may then have"))
                    .help(format!("the keyword `{keyword}` belongs beside `properties`, not inside it"))
            }
            Mistake::GuidanceField { field, reason, near } => {
                with_near(warning(format!("`x-guidance` at {at}: `{field}` {reason}")), near)
            }
            Mistake::Limit { what, limit, value, demand } => {
                let diagnostic = error(format!("{what} at {at} is over the limit `{limit}` of {value}"));
                diagnostic.help(match demand {
                    None => "make the schema simpler, or raise the limit if you trust it",
                    Some(Demand::UnevaluatedItems) => {
                        "`unevaluatedItems` asks for each set of branches whether it holds; \
                         list the elements in `prefixItems` with `\"items\": false`"
                    }
                    Some(Demand::OneOf) => {
                        "make the schema simpler, or raise the limit if you trust it; `anyOf` takes less than `oneOf`, and \
                         `\"x-guidance\": {\"coerce_one_of\": true}` at the root reads each `oneOf` so"
                    }
                    Some(Demand::UnevaluatedProperties) => {
                        "`unevaluatedProperties` asks for each set of branches whether it holds; \
                         list all names in `properties` with `\"additionalProperties\": false`"
                    }
                })
            }
        }
    }
}
