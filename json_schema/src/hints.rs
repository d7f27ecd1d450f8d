//! What authors write who think of another draft, of OpenAPI, of Avro, or of a tool's definition: what they meant, and how
//! it is written here.

use compact_str::CompactString;
use larkspur_grammar::diagnostic::did_you_mean;
use larkspur_grammar::json::{JsonDocument, JsonId, JsonValue, pointer_key, pointer_step};
use larkspur_grammar::number::Decimal;

use crate::ast::Types;
use crate::draft::{Draft, KEYWORDS};
use crate::formats::{self, Meaning};
use crate::strings::quoted;

/// Letters of a type's name that are taken to stand for all of it: `int`, `str`, `bool`.
const ABBREVIATION_MIN: usize = 3;

/// Names of types elsewhere that are formats here.
const FORMATS: [(&str, &str); 3] = [("datetime", "date-time"), ("timestamp", "date-time"), ("url", "uri")];

/// A text longer than this is no list of types.
const NAMES_BYTES_MAX: usize = 64;

/// Members of a root under which the schema itself stands: of OpenAI's formats and tools, Anthropic's and MCP's.
const WRAPPERS: [&str; 5] = ["schema", "json_schema", "parameters", "input_schema", "inputSchema"];

/// What other languages call the types.
const ALIASES: &[(&str, &[&str])] = &[
    ("null", &["none", "nonetype", "nil", "undefined", "void"]),
    ("number", &["float", "float32", "float64", "double", "decimal", "real"]),
    ("integer", &["int32", "int64", "long", "short", "uint"]),
    ("string", &["text", "char", "varchar"]),
    ("array", &["list", "tuple", "set", "sequence", "vector"]),
    ("object", &["dict", "dictionary", "map", "record", "struct", "hash"]),
];

/// Names of no type, but of all.
const ANY: [&str; 4] = ["any", "all", "mixed", "*"];

/// The way out of a mistake in a keyword. It holds nothing of where the schema stands, since it is said of equal schemas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Hint {
    Name(&'static str),
    /// Draft 4's `exclusiveMinimum` beside a bound, if there is one.
    ExclusiveFlag {
        keyword: &'static str,
        is_true: bool,
        bound: Option<String>,
    },
    /// Draft 3's `required` in a property.
    RequiredFlag {
        is_true: bool,
    },
    /// OpenAPI's `nullable`, with the types beside it.
    Nullable {
        types: Option<Vec<String>>,
    },
    /// Any value.
    AnyType,
    /// Several types in one string.
    Types(Vec<&'static str>),
    /// `null` itself for its name.
    NullName,
    /// The name of a format for that of a type.
    Format(&'static str),
    /// The name of a type for a schema.
    TypeAlone(&'static str),
    /// A keyword inside `properties`.
    Misplaced {
        keyword: &'static str,
    },
    /// A number or a boolean in quotes.
    Unquoted(String),
    /// One string for a list of them.
    InList(String),
    /// A property beside the keywords.
    Property(String),
    /// A whole OpenAPI document, with the pointer of a schema in it.
    OpenApi {
        pointer: String,
    },
    /// A sentence that needs nothing of the schema.
    Sentence(&'static str),
    /// What another draft has, and what this one has in its place.
    OtherDraft {
        first: Draft,
        written: Option<&'static str>,
    },
    /// The name of a keyword for that of a type.
    Enumeration,
    /// Avro's name of a type.
    Avro {
        name: &'static str,
        written: &'static str,
    },
    /// The schema itself stands at a pointer.
    Wrapped {
        pointer: &'static str,
        what: &'static str,
    },
}

impl Hint {
    /// What the boolean that stands for `exclusiveMinimum` or `exclusiveMaximum` means.
    pub fn exclusive(document: &JsonDocument, value: JsonId, keyword: &'static str) -> Option<Self> {
        let is_true = document.bool(value)?;
        let schema = document.parent(value)?;
        let bound = document.get(schema, bound_of(keyword)).and_then(|bound| document.number(bound));
        Some(Self::ExclusiveFlag { keyword, is_true, bound: bound.map(str::to_owned) })
    }

    /// What the boolean that stands for `required` means.
    pub fn required(document: &JsonDocument, value: JsonId) -> Option<Self> {
        document.bool(value).map(|is_true| Self::RequiredFlag { is_true })
    }

    /// What a value means of which a keyword takes no such.
    pub fn value(document: &JsonDocument, value: JsonId, expected: &str) -> Option<Self> {
        let found = document.string(value)?;
        let is_number = |text: &str| {
            let begins = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
            begins && text.len() <= NAMES_BYTES_MAX && Decimal::parse(text).is_some()
        };
        match expected {
            "a boolean" if ["true", "false"].contains(&found) => Some(Self::Unquoted(found.to_owned())),
            "an array of strings" => Some(Self::InList(quoted(found).into())),
            _ if expected.starts_with("a number") || expected.starts_with("a whole number") => {
                is_number(found).then(|| Self::Unquoted(found.to_owned()))
            }
            _ => None,
        }
    }

    /// What a value means that stands for a schema.
    pub fn not_schema(document: &JsonDocument, value: JsonId) -> Option<Self> {
        let holder = document.parent(value)?;
        let members = document.object(holder).filter(|_| is_properties(document, holder));
        let key = members.and_then(|members| members.iter().find(|member| member.value == value));
        let found = document.string(value);
        // One name for a list of them.
        if let Some(name) = found
            && document.parent(holder).is_some_and(|schema| document.get(schema, "dependencies") == Some(holder))
        {
            return Some(Self::InList(quoted(name).into()));
        }
        // In `{"type": "object", "properties": {…}}` it is the keyword, and else a property that is called so.
        let is_keyword = key.is_some_and(|key| &*key.key == "type") && document.get(holder, "properties").is_some();
        if let Some(name) = Types::NAMES.into_iter().find(|&name| found == Some(name) && !is_keyword) {
            return Some(Self::TypeAlone(name));
        }
        let row = key.and_then(|key| KEYWORDS.iter().find(|row| row.name == &*key.key));
        match (row, found) {
            (Some(row), _) => Some(Self::Misplaced { keyword: row.name }),
            (None, Some("true" | "false")) => found.map(|found| Self::Unquoted(found.to_owned())),
            _ => None,
        }
    }

    /// What stands in a schema's draft for a keyword that another draft has.
    pub fn of_draft(key: &str, draft: Draft) -> Option<Self> {
        let first = draft.lacks(key)?;
        let written = match key {
            "$defs" => Some("`definitions`"),
            "const" => Some("`\"enum\": […]` with this value alone"),
            "dependentRequired" | "dependentSchemas" => Some("`dependencies`"),
            "prefixItems" => Some("`items` with this array"),
            "$recursiveRef" if draft == Draft::Draft2020 => Some("`$dynamicRef`"),
            "$dynamicRef" if draft == Draft::Draft2019 => Some("`$recursiveRef`"),
            "$id" => Some("`id`"),
            "$anchor" => Some("`\"$id\": \"#…\"`"),
            _ => None,
        };
        Some(Self::OtherDraft { first, written })
    }

    /// What a member means that is no keyword.
    pub fn unknown(document: &JsonDocument, value: JsonId, key: &str, is_root: bool) -> Option<Self> {
        let schema = document.parent(value)?;
        let root = document.root();
        if is_root && document.get(root, "$ref").is_none() && ["openapi", "swagger", "components"].contains(&key) {
            return openapi(document).map(|pointer| Self::OpenApi { pointer });
        }
        match key {
            "nullable" if document.bool(value) == Some(false) => Some(Self::Nullable { types: Some(Vec::new()) }),
            "nullable" => Some(Self::Nullable { types: types(document, schema) }),
            _ if is_root && document.object(value).is_some() => {
                if let Some(found) = document.get(schema, "type").and_then(|value| document.string(value))
                    && let Some(hint) = wrapper(document, found)
                {
                    return WRAPPERS.contains(&key).then_some(hint);
                }
                if key == "json_schema" && document.get(value, "schema").is_some() {
                    return Some(Self::Wrapped { pointer: "json_schema/schema", what: "this is a response format" });
                }
                if let Some(name) = WRAPPERS.into_iter().find(|&name| name == key) {
                    return Some(Self::Wrapped { pointer: name, what: "this describes a schema or a tool" });
                }
                is_property(document, value, key).then(|| Self::Property(quoted(key).into()))
            }
            _ if is_property(document, value, key) => Some(Self::Property(quoted(key).into())),
            _ => alias(document, schema, key, value),
        }
    }

    /// What a type means that there is not. `value` is one name.
    pub fn type_(document: &JsonDocument, value: JsonId) -> Option<Self> {
        let found = match document.value(value) {
            JsonValue::Null => return Some(Self::NullName),
            JsonValue::Object(_) => {
                let is_in_list = document.parent(value).is_some_and(|list| document.array(list).is_some());
                let members = document.object(value).unwrap_or_default();
                let is_schema = members.iter().any(|member| KEYWORDS.iter().any(|row| row.name == &*member.key));
                return Some(match is_schema && !is_in_list {
                    true => Self::Property(quoted("type").into()),
                    false => {
                        Self::Sentence("a type is a name; alternatives that are schemas stand in `\"anyOf\": [{…}]`")
                    }
                });
            }
            JsonValue::String(found) => found,
            _ => return None,
        };
        if document.parent(value) == Some(document.root())
            && let Some(hint) = wrapper(document, found)
        {
            return Some(hint);
        }
        let has = |key: &str| document.parent(value).and_then(|schema| document.get(schema, key)).is_some();
        match found {
            "record" if has("fields") => {
                let written = r#"{"type": "object", "properties": {"…": {"type": "…"}}, "required": ["…"]}"#;
                return Some(Self::Avro { name: "record", written });
            }
            "enum" if has("symbols") => return Some(Self::Avro { name: "enum", written: r#"{"enum": ["…"]}"# }),
            "enum" => return Some(Self::Enumeration),
            _ => {}
        }
        if let Some(name) = format_for_type(found) {
            return Some(Self::Format(name));
        }
        if let Some(name) = known_type(found) {
            return Some(Self::Name(name));
        }
        if ANY.contains(&&*found.to_lowercase()) {
            return Some(Self::AnyType);
        }
        if found.len() > NAMES_BYTES_MAX {
            return None;
        }
        let parts = found.split(['|', ',', '/']).flat_map(|part| part.split(" or "));
        let parts: Option<Vec<&str>> =
            parts.map(|part| known_type(part.trim_matches([' ', '[', ']', '"', '\'']))).collect();
        parts.filter(|parts| parts.len() > 1).map(Self::Types)
    }

    /// The sentence; `pointer` leads to the keyword's value.
    pub fn sentence(&self, pointer: &str) -> String {
        match self {
            Self::Name(name) => format!("did you mean `{name}`?"),
            Self::ExclusiveFlag { is_true: false, .. } => "this is draft 4's form; leave it out".to_owned(),
            Self::ExclusiveFlag { keyword, bound: None, .. } => {
                format!("this is draft 4's form; write `\"{keyword}\": <{}>`", bound_of(keyword))
            }
            Self::ExclusiveFlag { keyword, bound: Some(bound), .. } => {
                let name = bound_of(keyword);
                format!("this is draft 4's form; write `\"{keyword}\": {bound}`, and leave `{name}` out")
            }
            Self::RequiredFlag { is_true: false } => {
                "this is draft 3's form; leave it out: only what the object's `required` lists is required".to_owned()
            }
            Self::RequiredFlag { is_true: true } => match property(pointer) {
                Some(name) => {
                    let name = quoted(&name);
                    format!("this is draft 3's form; list the property in its object: `\"required\": [{name}]`")
                }
                None => "list the names of the properties that are required: `\"required\": [\"…\"]`".to_owned(),
            },
            Self::Nullable { types: None } => {
                "this is OpenAPI's; write `\"anyOf\": [{…}, {\"type\": \"null\"}]`".to_owned()
            }
            Self::Nullable { types: Some(types) } if types.is_empty() => "this is OpenAPI's; leave it out".to_owned(),
            Self::Nullable { types: Some(types) } => format!("this is OpenAPI's; write `\"type\": {}`", list(types)),
            Self::AnyType => "leave `type` out where any value is valid".to_owned(),
            Self::Types(types) => format!("write `{}`", list(types)),
            Self::NullName => "the name of the type is a string: write `\"null\"`".to_owned(),
            Self::Format(name) => {
                format!("`{name}` is a format: write `{{\"type\": \"string\", \"format\": \"{name}\"}}`")
            }
            Self::TypeAlone(name) => format!("write `{{\"type\": \"{name}\"}}`"),
            Self::Misplaced { keyword } => {
                format!(
                    "the keyword `{keyword}` belongs beside `properties`, not inside it, where names of properties stand"
                )
            }
            Self::Unquoted(text) => format!("write `{text}`, without quotes"),
            Self::InList(text) => format!("write `[{text}]`"),
            Self::Property(name) => {
                format!(
                    "if it is the name of a property, put it into `properties`: `\"properties\": {{{name}: {{…}}}}`"
                )
            }
            Self::OpenApi { pointer } => {
                format!("this is an OpenAPI document; pick one of its schemas: `\"$ref\": \"#{pointer}\"`")
            }
            Self::Sentence(sentence) => (*sentence).to_owned(),
            Self::OtherDraft { written: Some(written), .. } => format!("write {written}"),
            Self::OtherDraft { first, written: None } => {
                let name = first.to_string();
                format!("it is a keyword of {name} and others; name that in `$schema`: `{}`", first.uri())
            }
            Self::Enumeration => "`enum` is a keyword of its own: write `\"enum\": [\"…\"]`".to_owned(),
            Self::Avro { name, written } => {
                format!("`{name}` is a type of Avro, which is another language; in JSON Schema write `{written}`")
            }
            Self::Wrapped { pointer, what } => {
                format!("{what}; the schema itself stands at `/{pointer}`: give that alone")
            }
        }
    }
}

/// The keyword that a name stands for elsewhere, by the types beside it.
fn alias(document: &JsonDocument, schema: JsonId, key: &str, value: JsonId) -> Option<Hint> {
    let folded: CompactString = key.chars().filter(|c| !['_', '-'].contains(c)).flat_map(char::to_lowercase).collect();
    let has = |name: &str| types(document, schema).unwrap_or_default().iter().any(|one| one == name);
    let by_type = |of: [&'static str; 4]| {
        let at = ["string", "array", "object"].iter().position(|name| has(name)).unwrap_or(3);
        Hint::Name(of[at])
    };
    let is = |names: &[&str]| names.contains(&&*folded);
    match document.value(value) {
        JsonValue::Number(_) => match &*folded {
            _ if is(&["min", "minvalue", "ge", "gte"]) => {
                Some(by_type(["minLength", "minItems", "minProperties", "minimum"]))
            }
            _ if is(&["max", "maxvalue", "le", "lte"]) => {
                Some(by_type(["maxLength", "maxItems", "maxProperties", "maximum"]))
            }
            "gt" => Some(Hint::Name("exclusiveMinimum")),
            "lt" => Some(Hint::Name("exclusiveMaximum")),
            _ if is(&["minlen", "minimumlength"]) => {
                Some(by_type(["minLength", "minItems", "minProperties", "minLength"]))
            }
            _ if is(&["maxlen", "maximumlength"]) => {
                Some(by_type(["maxLength", "maxItems", "maxProperties", "maxLength"]))
            }
            _ if is(&["length", "len", "size", "count"]) => Some(Hint::Sentence(match has("array") {
                true => "write `minItems` and `maxItems`",
                false => "write `minLength` and `maxLength`",
            })),
            _ => None,
        },
        JsonValue::String(_) if is(&["regex", "regexp", "match"]) => Some(Hint::Name("pattern")),
        JsonValue::Bool(_) if is(&["unique", "distinct"]) => Some(Hint::Name("uniqueItems")),
        JsonValue::Bool(_) if is(&["optional", "isoptional"]) => {
            Some(Hint::Sentence("a property is optional unless its object lists it in `required`"))
        }
        JsonValue::Array(_) if is(&["choices", "options", "allowedvalues", "allowed"]) => Some(Hint::Name("enum")),
        _ => None,
    }
}

/// Whether an unknown member looks like a property that stands beside the keywords: what it holds is a schema.
fn is_property(document: &JsonDocument, value: JsonId, key: &str) -> bool {
    let says = |key: &str| KEYWORDS.iter().any(|row| row.name == key && !row.is_annotation);
    let members = document.object(value).unwrap_or_default();
    let is_keyword = || did_you_mean(key, KEYWORDS.iter().map(|row| row.name)).is_some();
    members.iter().any(|member| says(&member.key)) && !is_keyword()
}

/// The pointer of the first schema of an OpenAPI document.
fn openapi(document: &JsonDocument) -> Option<String> {
    let root = document.root();
    let is_openapi = ["openapi", "swagger"].iter().any(|&key| document.get(root, key).is_some());
    let holder = document.get(root, "components").and_then(|components| document.get(components, "schemas"));
    let (place, holder) = match holder {
        Some(holder) => ("/components/schemas", holder),
        None => ("/definitions", document.get(root, "definitions").filter(|_| is_openapi)?),
    };
    let first = document.object(holder)?.first()?;
    Some(format!("{place}/{}", pointer_step(&first.key)))
}

/// The bound that is exclusive.
fn bound_of(keyword: &str) -> &'static str {
    if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" }
}

/// The types of a schema with `null`, none if that is one of them; `None` if the schema names no types.
fn types(document: &JsonDocument, schema: JsonId) -> Option<Vec<String>> {
    let value = document.get(schema, "type")?;
    let names = document.array(value).map_or(vec![value], <[JsonId]>::to_vec);
    let mut names: Vec<String> = names.iter().filter_map(|&name| document.string(name)).map(str::to_owned).collect();
    if names.iter().any(|name| name == "null") {
        return Some(Vec::new());
    }
    names.push("null".to_owned());
    Some(names)
}

/// What a root with a `type` is that no schema has.
fn wrapper(document: &JsonDocument, found: &str) -> Option<Hint> {
    let root = document.root();
    let has = |path: &[&str]| path.iter().try_fold(root, |at, step| document.get(at, step)).is_some();
    let (pointer, what) = match found {
        "function" if has(&["function", "parameters"]) => ("function/parameters", "this is a tool's definition"),
        "function" if has(&["parameters"]) => ("parameters", "this is a tool's definition"),
        "json_schema" if has(&["json_schema", "schema"]) => ("json_schema/schema", "this is a response format"),
        "json_schema" if has(&["schema"]) => ("schema", "this is a response format"),
        _ => return None,
    };
    Some(Hint::Wrapped { pointer, what })
}

/// The type that was perhaps meant: one that is written nearly so, that the name is short for, or that is called so
/// elsewhere.
fn known_type(found: &str) -> Option<&'static str> {
    let begins = |name: &&&str| found.len() >= ABBREVIATION_MIN && name.starts_with(found);
    let short = Types::NAMES.iter().find(begins).copied();
    let folded = found.to_lowercase();
    let alias = || ALIASES.iter().find(|(_, names)| names.contains(&&*folded)).map(|&(name, _)| name);
    short.or_else(alias).or_else(|| did_you_mean(found, Types::NAMES.iter().copied()))
}

/// The format that a type's name is, of those that say something of texts.
fn format_for_type(found: &str) -> Option<&'static str> {
    let folded = found.to_lowercase();
    let is_of_texts = |name: &&&str| **name == folded && matches!(formats::meaning(name), Meaning::Text(_));
    let alias = || FORMATS.iter().find(|(alias, _)| *alias == folded).map(|&(_, name)| name);
    formats::NAMES.iter().find(is_of_texts).copied().or_else(alias)
}

/// Whether the value is that of the keyword `properties`, and not that of a property of this name.
fn is_properties(document: &JsonDocument, mut value: JsonId) -> bool {
    let mut steps = 0;
    while let Some(parent) = document.parent(value)
        && document.get(parent, "properties") == Some(value)
    {
        (value, steps) = (parent, steps + 1);
    }
    steps % 2 == 1
}

/// The property whose `required` stands at a pointer.
fn property(pointer: &str) -> Option<String> {
    let mut steps = pointer.rsplit('/').skip(1);
    let name = steps.next()?;
    (steps.next()? == "properties").then(|| pointer_key(name).into_owned())
}

/// `["string", "null"]`
fn list(names: &[impl AsRef<str>]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("\"{}\"", name.as_ref())).collect();
    format!("[{}]", names.join(", "))
}
