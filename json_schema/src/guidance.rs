//! `x-guidance` at the root: llguidance's options inside a schema, with their meaning there.

use larkspur_grammar::json::{JsonDocument, JsonId};

use crate::error::{Mistake, Sink};
use crate::spelling::{Spelling, Whitespace};

/// What `x-guidance` says.
pub(crate) struct Guidance {
    pub spelling: Spelling,
    /// Read `oneOf` as `anyOf`.
    pub coerce_one_of: bool,
}

/// Reads the object, if it is there. `spelling` holds where it says nothing.
pub(crate) fn read(document: &JsonDocument, spelling: &Spelling, sink: &mut Sink) -> Guidance {
    let mut guidance = Guidance { spelling: spelling.clone(), coerce_one_of: false };
    let Some(object) = document.get(document.root(), "x-guidance") else { return guidance };
    let Some(members) = document.object(object) else {
        sink.report(object, Mistake::KeywordValue { keyword: "x-guidance", expected: "an object" });
        return guidance;
    };
    let spelling = &mut guidance.spelling;
    for member in members {
        let (field, value) = (&*member.key, member.value);
        let mut ignored = |reason: &'static str| {
            sink.report(value, Mistake::GuidanceField { field: field.to_owned(), reason });
        };
        match (field, document.bool(value), document.string(value)) {
            ("whitespace_flexible", Some(true), _) => {
                if spelling.whitespace == Whitespace::Compact {
                    spelling.whitespace = Whitespace::Flexible;
                }
            }
            ("whitespace_flexible", Some(false), _) => spelling.whitespace = Whitespace::Compact,
            ("whitespace_pattern", _, Some(text)) => spelling.whitespace = Whitespace::Pattern(text.to_owned()),
            ("item_separator", _, Some(text)) => spelling.item_separator = Some(text.to_owned()),
            ("key_separator", _, Some(text)) => spelling.key_separator = Some(text.to_owned()),
            ("coerce_one_of", Some(coerce), _) => guidance.coerce_one_of = coerce,
            ("lenient", Some(false), _) => {}
            ("lenient", ..) => ignored("has no effect: what cannot be enforced is an error"),
            ("json_allowed_escapes" | "json_allow_general_unicode_escapes", ..) => {
                ignored("has no effect yet: characters have one spelling")
            }
            ("whitespace_flexible" | "coerce_one_of", ..) => ignored("takes a boolean"),
            ("whitespace_pattern" | "item_separator" | "key_separator", ..) => ignored("takes a string"),
            _ => ignored("is no option"),
        }
    }
    // As in llguidance, `whitespace_flexible: false` beats a pattern.
    if document.get(object, "whitespace_flexible").and_then(|value| document.bool(value)) == Some(false) {
        guidance.spelling.whitespace = Whitespace::Compact;
    }
    guidance
}

/// Where a field of `x-guidance` stands; the root if it is not there.
pub(crate) fn place(document: &JsonDocument, field: &str) -> JsonId {
    let object = document.get(document.root(), "x-guidance");
    object.and_then(|object| document.get(object, field)).unwrap_or(document.root())
}
