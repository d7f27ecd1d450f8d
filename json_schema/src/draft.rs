//! The drafts of JSON Schema, which keywords each knows, and the dialects that `$vocabulary` makes of them.

use std::borrow::Cow;
use std::fmt;

/// A version of the specification.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Draft {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// 2019-09.
    Draft2019,
    /// 2020-12, the default.
    Draft2020,
}

use Draft::*;

const ALL: [Draft; 5] = [Draft4, Draft6, Draft7, Draft2019, Draft2020];

impl Draft {
    /// The draft that a `$schema` names.
    pub fn from_uri(uri: &str) -> Option<Self> {
        // As most write it.
        if let Some(written) = ALL.into_iter().find(|draft| draft.uri() == uri) {
            return Some(written);
        }
        let name = uri.trim_end_matches('#').trim_start_matches("http://").trim_start_matches("https://");
        // What hyper-schemas add is annotations.
        let name = name.strip_suffix("/hyper-schema").map_or(name.into(), |name| Cow::from(format!("{name}/schema")));
        Some(match &*name {
            "json-schema.org/draft-04/schema" => Draft4,
            "json-schema.org/draft-06/schema" => Draft6,
            "json-schema.org/draft-07/schema" => Draft7,
            "json-schema.org/draft/2019-09/schema" => Draft2019,
            "json-schema.org/draft/2020-12/schema" => Draft2020,
            _ => return None,
        })
    }
    /// The URI of the draft that a `$schema` was probably meant to name.
    pub(crate) fn near_uri(uri: &str) -> Option<&'static str> {
        let folded = uri.to_ascii_lowercase();
        let mut uris = ["04", "06", "07", "2019-09", "2020-12"].into_iter().zip(ALL.map(Draft::uri));
        // The name of a draft alone.
        if !folded.contains("://") && !folded.contains("json-schema.org") {
            let name =
                folded.trim_end_matches('#').trim_start_matches("draft").trim_start_matches(['/', '-', '_', ' ', '0']);
            return uris.find(|(draft, _)| name == draft.trim_start_matches('0')).map(|(_, uri)| uri);
        }
        let rest = folded.split_once("json-schema.org")?.1;
        let name = rest.trim_start_matches(['/', '-']).strip_prefix("draft")?.trim_start_matches(['/', '-', '_', '0']);
        uris.find(|(draft, _)| name.starts_with(draft.trim_start_matches('0'))).map(|(_, uri)| uri)
    }
    /// The URI of its meta-schema.
    pub(crate) fn uri(self) -> &'static str {
        match self {
            Draft4 => "http://json-schema.org/draft-04/schema#",
            Draft6 => "http://json-schema.org/draft-06/schema#",
            Draft7 => "http://json-schema.org/draft-07/schema#",
            Draft2019 => "https://json-schema.org/draft/2019-09/schema",
            Draft2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }
    /// The draft that first has a keyword which this one has not, or has no longer.
    pub(crate) fn lacks(self, keyword: &str) -> Option<Draft> {
        let row = KEYWORDS.iter().find(|row| row.name == keyword)?;
        (self < row.first || self > row.last).then_some(row.first)
    }
    /// Whether keywords beside `$ref` count.
    pub fn ref_has_siblings(self) -> bool {
        self >= Draft2019
    }
    /// The keyword that names a schema resource.
    pub fn id_keyword(self) -> &'static str {
        if self == Draft4 { "id" } else { "$id" }
    }
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Draft4 => "draft 4",
            Draft6 => "draft 6",
            Draft7 => "draft 7",
            Draft2019 => "2019-09",
            Draft2020 => "2020-12",
        })
    }
}

/// A draft, or a part of it: the vocabularies that a meta-schema of 2019-09 or 2020-12 lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dialect {
    pub draft: Draft,
    /// One bit for each [`Vocabulary`].
    vocabularies: u8,
}

/// A group of keywords that a meta-schema may leave out. Annotations are of no group: they have no effect either way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Vocabulary {
    Core = 1,
    Applicator = 2,
    Unevaluated = 4,
    Validation = 8,
    Format = 16,
}

impl Dialect {
    /// All keywords of a draft.
    pub fn of(draft: Draft) -> Self {
        Self { draft, vocabularies: u8::MAX }
    }
    /// The keywords of the core; others are added by [`with`](Self::with).
    pub fn core(draft: Draft) -> Self {
        Self { draft, vocabularies: Vocabulary::Core as u8 }
    }
    /// With the vocabulary that has this URI, if it is one of the draft's.
    pub fn with(self, uri: &str) -> Option<Self> {
        let year = if self.draft == Draft2019 { "2019-09" } else { "2020-12" };
        let name = uri.strip_prefix("https://json-schema.org/draft/")?.strip_prefix(year)?.strip_prefix("/vocab/")?;
        let bits = match name {
            "core" | "meta-data" | "content" => 0,
            // Of one vocabulary in 2019-09.
            "applicator" if self.draft == Draft2019 => Vocabulary::Applicator as u8 | Vocabulary::Unevaluated as u8,
            "applicator" => Vocabulary::Applicator as u8,
            "unevaluated" => Vocabulary::Unevaluated as u8,
            "validation" => Vocabulary::Validation as u8,
            "format" | "format-annotation" | "format-assertion" => Vocabulary::Format as u8,
            _ => return None,
        };
        Some(Self { vocabularies: self.vocabularies | bits, ..self })
    }
    /// The row of a keyword that the dialect knows.
    pub fn keyword(self, name: &str) -> Option<&'static Row> {
        let row = keyword(name).filter(|row| row.first <= self.draft && self.draft <= row.last)?;
        let has_all = self.vocabularies == u8::MAX;
        (has_all || row.is_annotation || self.vocabularies & vocabulary(name) as u8 != 0).then_some(row)
    }
}

/// The vocabulary of a keyword that is no annotation.
fn vocabulary(keyword: &str) -> Vocabulary {
    match keyword {
        "$ref" | "$dynamicRef" | "$recursiveRef" | "$defs" | "definitions" => Vocabulary::Core,
        "unevaluatedItems" | "unevaluatedProperties" => Vocabulary::Unevaluated,
        "prefixItems"
        | "items"
        | "additionalItems"
        | "contains"
        | "properties"
        | "patternProperties"
        | "additionalProperties"
        | "propertyNames"
        | "dependencies"
        | "dependentSchemas"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "not"
        | "if"
        | "then"
        | "else" => Vocabulary::Applicator,
        "format" => Vocabulary::Format,
        _ => Vocabulary::Validation,
    }
}

/// What stands in a keyword's value, for the search for sub-schemas.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holds {
    /// No schema.
    Data,
    /// A schema.
    Schema,
    /// An array of schemas.
    List,
    /// An object whose values are schemas.
    Map,
    /// A schema or an array of schemas.
    SchemaOrList,
    /// An object whose values are schemas or arrays of names.
    Dependencies,
}

/// A keyword, the first and the last draft that know it, and what stands in it.
pub(crate) struct Row {
    pub name: &'static str,
    first: Draft,
    last: Draft,
    pub holds: Holds,
    /// Says nothing about which values are valid.
    pub is_annotation: bool,
}

const fn row(name: &'static str, first: Draft, last: Draft, holds: Holds) -> Row {
    Row { name, first, last, holds, is_annotation: false }
}

const fn note(name: &'static str, first: Draft) -> Row {
    Row { name, first, last: Draft2020, holds: Holds::Data, is_annotation: true }
}

/// Every keyword of every draft.
pub(crate) const KEYWORDS: &[Row] = &[
    row("$ref", Draft4, Draft2020, Holds::Data),
    row("$dynamicRef", Draft2020, Draft2020, Holds::Data),
    row("$recursiveRef", Draft2019, Draft2019, Holds::Data),
    row("$defs", Draft2019, Draft2020, Holds::Map),
    row("definitions", Draft4, Draft2020, Holds::Map),
    row("type", Draft4, Draft2020, Holds::Data),
    row("enum", Draft4, Draft2020, Holds::Data),
    row("const", Draft6, Draft2020, Holds::Data),
    row("minimum", Draft4, Draft2020, Holds::Data),
    row("maximum", Draft4, Draft2020, Holds::Data),
    row("exclusiveMinimum", Draft4, Draft2020, Holds::Data),
    row("exclusiveMaximum", Draft4, Draft2020, Holds::Data),
    row("multipleOf", Draft4, Draft2020, Holds::Data),
    row("minLength", Draft4, Draft2020, Holds::Data),
    row("maxLength", Draft4, Draft2020, Holds::Data),
    row("pattern", Draft4, Draft2020, Holds::Data),
    row("format", Draft4, Draft2020, Holds::Data),
    row("prefixItems", Draft2020, Draft2020, Holds::List),
    // An array of schemas is the form before 2020-12; it is read in all drafts.
    row("items", Draft4, Draft2020, Holds::SchemaOrList),
    row("additionalItems", Draft4, Draft2020, Holds::Schema),
    row("unevaluatedItems", Draft2019, Draft2020, Holds::Schema),
    row("contains", Draft6, Draft2020, Holds::Schema),
    row("minContains", Draft2019, Draft2020, Holds::Data),
    row("maxContains", Draft2019, Draft2020, Holds::Data),
    row("minItems", Draft4, Draft2020, Holds::Data),
    row("maxItems", Draft4, Draft2020, Holds::Data),
    row("uniqueItems", Draft4, Draft2020, Holds::Data),
    row("properties", Draft4, Draft2020, Holds::Map),
    row("patternProperties", Draft4, Draft2020, Holds::Map),
    row("additionalProperties", Draft4, Draft2020, Holds::Schema),
    row("unevaluatedProperties", Draft2019, Draft2020, Holds::Schema),
    row("propertyNames", Draft6, Draft2020, Holds::Schema),
    row("required", Draft4, Draft2020, Holds::Data),
    row("minProperties", Draft4, Draft2020, Holds::Data),
    row("maxProperties", Draft4, Draft2020, Holds::Data),
    // Not of the drafts from 2019-09 on, but "retained for compatibility": what authors write is meant.
    row("dependencies", Draft4, Draft2020, Holds::Dependencies),
    row("dependentRequired", Draft2019, Draft2020, Holds::Data),
    row("dependentSchemas", Draft2019, Draft2020, Holds::Map),
    row("allOf", Draft4, Draft2020, Holds::List),
    row("anyOf", Draft4, Draft2020, Holds::List),
    row("oneOf", Draft4, Draft2020, Holds::List),
    row("not", Draft4, Draft2020, Holds::Schema),
    row("if", Draft7, Draft2020, Holds::Schema),
    row("then", Draft7, Draft2020, Holds::Schema),
    row("else", Draft7, Draft2020, Holds::Schema),
    note("$schema", Draft4),
    note("id", Draft4),
    note("$id", Draft6),
    note("$anchor", Draft2019),
    note("$dynamicAnchor", Draft2020),
    note("$recursiveAnchor", Draft2019),
    note("$vocabulary", Draft2019),
    note("$comment", Draft4),
    note("title", Draft4),
    note("description", Draft4),
    note("default", Draft4),
    note("examples", Draft4),
    note("readOnly", Draft4),
    note("writeOnly", Draft4),
    note("deprecated", Draft4),
    note("contentEncoding", Draft4),
    note("contentMediaType", Draft4),
    note("contentSchema", Draft4),
    // Of OpenAPI.
    note("discriminator", Draft4),
    note("example", Draft4),
    note("externalDocs", Draft4),
    note("xml", Draft4),
];

/// Slots of [`INDEX`].
const SLOTS: usize = 256;

/// Of each keyword the number in [`KEYWORDS`] and one, at its [`slot`]: names are looked up several times for each member of a
/// schema.
const INDEX: [u8; SLOTS] = {
    let mut index = [0; SLOTS];
    let mut at = 0;
    while at < KEYWORDS.len() {
        let slot = slot(KEYWORDS[at].name.as_bytes());
        assert!(index[slot] == 0, "two keywords have the same slot: take other factors");
        at += 1;
        index[slot] = at as u8;
    }
    index
};

/// Where a name is if it is a keyword.
const fn slot(name: &[u8]) -> usize {
    let len = name.len();
    if len < 2 {
        return 0;
    }
    (name[0] as usize * 37 + name[1] as usize * 5 + name[len * 2 / 3] as usize * 43 + len * 9) % SLOTS
}

/// The row of a keyword that some draft knows.
fn keyword(name: &str) -> Option<&'static Row> {
    let number = usize::from(INDEX[slot(name.as_bytes())]).checked_sub(1)?;
    Some(&KEYWORDS[number]).filter(|row| row.name == name)
}
