//! Options inside a schema, at its root: `x-guidance` with llguidance's meaning, and `x-larkspur` with ours. They beat the
//! profile of whoever runs the schema; of both, `x-larkspur` counts.

use larkspur_grammar::diagnostic::did_you_mean;
use larkspur_grammar::json::{JsonDocument, JsonId, JsonValue};

use crate::error::{Mistake, Sink};
use crate::hints::Hint;
use crate::spelling::{KeyOrder, NumberSpelling, Spelling, StringEscapes, UnknownFormat, Whitespace};

/// What the options say.
pub(crate) struct Guidance {
    pub spelling: Spelling,
    /// Read `oneOf` as `anyOf`.
    pub coerce_one_of: bool,
}

/// The options of `x-larkspur`.
const OPTIONS: [&str; 11] = [
    "profile",
    "key_order",
    "unique_keys",
    "whitespace",
    "whitespace_outside",
    "item_separator",
    "key_separator",
    "number_spelling",
    "string_escapes",
    "unknown_format",
    "lenient",
];

/// The options of `x-guidance`.
const GUIDANCE: [&str; 8] = [
    "whitespace_flexible",
    "whitespace_pattern",
    "item_separator",
    "key_separator",
    "coerce_one_of",
    "lenient",
    "json_allowed_escapes",
    "json_allow_general_unicode_escapes",
];

/// Reads the objects that are there. `spelling` holds where they say nothing.
pub(crate) fn read(document: &JsonDocument, spelling: &Spelling, sink: &mut Sink) -> Guidance {
    let mut guidance = Guidance { spelling: spelling.clone(), coerce_one_of: false };
    for keyword in ["x-guidance", "x-larkspur"] {
        let Some(object) = document.get(document.root(), keyword) else { continue };
        match document.object(object) {
            None => sink.report(object, Mistake::KeywordValue { keyword, expected: "an object", hint: None }),
            Some(_) if keyword == "x-guidance" => of_llguidance(document, object, &mut guidance, sink),
            Some(_) => ours(document, object, &mut guidance, sink),
        }
    }
    guidance
}

fn of_llguidance(document: &JsonDocument, object: JsonId, guidance: &mut Guidance, sink: &mut Sink) {
    let spelling = &mut guidance.spelling;
    let (mut letters, mut unicode, mut pattern) = (None, None, None);
    for member in document.object(object).unwrap_or_default() {
        let (field, value) = (&*member.key, member.value);
        let mut ignored = |reason: &'static str| {
            sink.report(value, Mistake::GuidanceField { field: field.to_owned(), reason, near: None });
        };
        match (field, document.bool(value), document.string(value)) {
            ("whitespace_flexible", Some(true), _) => {
                if spelling.whitespace == Whitespace::Compact {
                    spelling.whitespace = Whitespace::Flexible;
                }
            }
            ("whitespace_flexible", Some(false), _) => spelling.whitespace = Whitespace::Compact,
            ("whitespace_pattern", _, Some(text)) => pattern = Some(text.to_owned()),
            ("item_separator", _, Some(text)) => spelling.item_separator = Some(text.to_owned()),
            ("key_separator", _, Some(text)) => spelling.key_separator = Some(text.to_owned()),
            ("coerce_one_of", Some(coerce), _) => guidance.coerce_one_of = coerce,
            ("lenient", Some(lenient), _) => spelling.lenient = lenient,
            ("whitespace_pattern" | "json_allowed_escapes", ..) if is_null(document, value) => {}
            ("json_allowed_escapes", _, Some(text)) if text.chars().all(|c| "nrbtf\\\"u".contains(c)) => {
                letters = Some(text.to_owned());
            }
            ("json_allowed_escapes", ..) => ignored("takes some of the letters `nrbtf\\\"u`"),
            ("json_allow_general_unicode_escapes", Some(allow), _) => unicode = Some(allow),
            ("whitespace_flexible" | "coerce_one_of" | "lenient" | "json_allow_general_unicode_escapes", ..) => {
                ignored("takes a boolean")
            }
            ("whitespace_pattern" | "item_separator" | "key_separator", ..) => ignored("takes a string"),
            _ => {
                let near = did_you_mean(field, GUIDANCE);
                let mistake = Mistake::GuidanceField { field: field.to_owned(), reason: "is no option", near };
                sink.report_at(value, member.key_span, mistake);
            }
        }
    }
    // As in llguidance, a pattern beats `whitespace_flexible`.
    if let Some(pattern) = pattern {
        spelling.whitespace = Whitespace::Pattern(pattern);
    }
    if letters.is_some() || unicode == Some(true) {
        let letters = letters.unwrap_or_else(|| "nrbtf\\\"u".to_owned());
        spelling.string_escapes = StringEscapes::Chosen { letters, unicode: unicode == Some(true) };
    }
}

fn is_null(document: &JsonDocument, value: JsonId) -> bool {
    matches!(document.value(value), JsonValue::Null)
}

fn ours(document: &JsonDocument, object: JsonId, guidance: &mut Guidance, sink: &mut Sink) {
    let spelling = &mut guidance.spelling;
    // First, since the other fields change it.
    match document.get(object, "profile").map(|value| (value, document.string(value))) {
        None => {}
        Some((_, Some("generate"))) => *spelling = Spelling::generator(),
        Some((_, Some("validate"))) => *spelling = Spelling::validator(),
        Some((value, _)) => wrong(sink, value, "`profile` as `generate` or `validate`"),
    }
    for member in document.object(object).unwrap_or_default() {
        let value = member.value;
        let expected = match (&*member.key, document.bool(value), document.string(value)) {
            ("profile", ..) => Ok(()),
            ("key_order", _, Some("schema")) => set(&mut spelling.key_order, KeyOrder::Schema),
            ("key_order", _, Some("any")) => set(&mut spelling.key_order, KeyOrder::Any),
            ("key_order", ..) => Err("`key_order` as `schema` or `any`"),
            ("unique_keys", Some(unique), _) => set(&mut spelling.unique_keys, unique),
            ("unique_keys", ..) => Err("`unique_keys` as a boolean"),
            ("whitespace", _, Some("flexible")) => set(&mut spelling.whitespace, Whitespace::Flexible),
            ("whitespace", _, Some("compact")) => set(&mut spelling.whitespace, Whitespace::Compact),
            ("whitespace", _, Some("any")) => set(&mut spelling.whitespace, Whitespace::Any),
            ("whitespace", ..) => match whitespace(document, value) {
                Some(whitespace) => set(&mut spelling.whitespace, whitespace),
                None => {
                    Err("`whitespace` as `flexible`, `compact`, `any`, `{\"pattern\": …}` or `{\"indent\": 0 to 255}`")
                }
            },
            ("whitespace_outside", Some(outside), _) => set(&mut spelling.whitespace_outside, outside),
            ("whitespace_outside", ..) => Err("`whitespace_outside` as a boolean"),
            ("item_separator", _, Some(text)) => set(&mut spelling.item_separator, Some(text.to_owned())),
            ("item_separator", ..) => Err("`item_separator` as a regex"),
            ("key_separator", _, Some(text)) => set(&mut spelling.key_separator, Some(text.to_owned())),
            ("key_separator", ..) => Err("`key_separator` as a regex"),
            ("number_spelling", _, Some("plain")) => set(&mut spelling.number_spelling, NumberSpelling::Plain),
            ("number_spelling", _, Some("any")) => set(&mut spelling.number_spelling, NumberSpelling::Any),
            ("number_spelling", ..) => Err("`number_spelling` as `plain` or `any`"),
            ("string_escapes", _, Some("minimal")) => set(&mut spelling.string_escapes, StringEscapes::Minimal),
            ("string_escapes", _, Some("any")) => set(&mut spelling.string_escapes, StringEscapes::Any),
            ("string_escapes", ..) => match chosen(document, value) {
                Some(chosen) => set(&mut spelling.string_escapes, chosen),
                None => Err("`string_escapes` as `minimal`, `any` or `{\"chosen\": {\"letters\": …, \"unicode\": …}}`"),
            },
            ("unknown_format", _, Some("warning")) => set(&mut spelling.unknown_format, UnknownFormat::Warning),
            ("unknown_format", _, Some("error")) => set(&mut spelling.unknown_format, UnknownFormat::Error),
            ("unknown_format", ..) => Err("`unknown_format` as `warning` or `error`"),
            ("lenient", Some(lenient), _) => set(&mut spelling.lenient, lenient),
            ("lenient", ..) => Err("`lenient` as a boolean"),
            (field, ..) => {
                let hint = did_you_mean(field, OPTIONS).map(Hint::Name);
                let expected = "the options in `docs/json_schema.md`, and no other";
                let mistake = Mistake::KeywordValue { keyword: "x-larkspur", expected, hint };
                sink.report_at(value, member.key_span, mistake);
                Ok(())
            }
        };
        if let Err(expected) = expected {
            wrong(sink, value, expected);
        }
    }
}

fn set<T>(field: &mut T, value: T) -> Result<(), &'static str> {
    *field = value;
    Ok(())
}

fn wrong(sink: &mut Sink, place: JsonId, expected: &'static str) {
    sink.report(place, Mistake::KeywordValue { keyword: "x-larkspur", expected, hint: None });
}

/// The value of an object's only member, if that has this name.
fn only_member(document: &JsonDocument, object: JsonId, name: &str) -> Option<JsonId> {
    match document.object(object)? {
        [member] if &*member.key == name => Some(member.value),
        _ => None,
    }
}

/// `{"pattern": …}` or `{"indent": …}`.
fn whitespace(document: &JsonDocument, value: JsonId) -> Option<Whitespace> {
    if let Some(spaces) = only_member(document, value, "indent") {
        return Some(Whitespace::Indent(document.number(spaces)?.parse().ok()?));
    }
    let pattern = document.string(only_member(document, value, "pattern")?)?;
    Some(Whitespace::Pattern(pattern.to_owned()))
}

fn chosen(document: &JsonDocument, value: JsonId) -> Option<StringEscapes> {
    let chosen = only_member(document, value, "chosen")?;
    let letters = document.string(document.get(chosen, "letters")?)?;
    let unicode = match document.get(chosen, "unicode") {
        Some(unicode) => document.bool(unicode)?,
        None => false,
    };
    let is_known = letters.chars().all(|c| "\"\\/bfnrtu".contains(c));
    is_known.then(|| StringEscapes::Chosen { letters: letters.to_owned(), unicode })
}

/// The keyword that a field of ours stands in, its name there, and where that is; the root if it is not there.
pub(crate) fn place(document: &JsonDocument, field: &'static str) -> (&'static str, &'static str, JsonId) {
    let root = document.root();
    let found = ["x-larkspur", "x-guidance"].into_iter().find_map(|keyword| {
        let object = document.get(root, keyword)?;
        let name = if (keyword, field) == ("x-guidance", "whitespace") { "whitespace_pattern" } else { field };
        Some((keyword, name, document.get(object, name)?))
    });
    found.unwrap_or(("the options", field, root))
}
