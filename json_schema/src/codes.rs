//! The codes of this crate, each with a schema that gets it and the same schema mended. A test runs them all.

use larkspur_grammar::CodeInfo;

/// Every code of the JSON Schema front end. What is wrong with the text as JSON, and with patterns, has the codes of the
/// grammar crate.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::new(
        "J001",
        "not a schema",
        "A schema is an object or a boolean.",
        r#"{"properties": {"a": "string"}}"#,
        r#"{"properties": {"a": {"type": "string"}}}"#,
    ),
    CodeInfo::new(
        "J002",
        "value of a keyword",
        "The keyword takes a value of another kind.",
        r#"{"minLength": "1"}"#,
        r#"{"minLength": 1}"#,
    ),
    CodeInfo::new(
        "J003",
        "unknown draft",
        "`$schema` names a meta-schema of one's own that no retriever gives, or a draft before 4. The former is read as \
         draft 2020-12, with a warning; the latter is an error, since its keywords mean something else. So is a \
         meta-schema that asks for a vocabulary that is not known.",
        r#"{"$schema": "http://json-schema.org/draft-03/schema#", "type": "string"}"#,
        r#"{"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"}"#,
    ),
    CodeInfo::new(
        "J004",
        "reference that leads nowhere",
        "There is no such place or name in this document.",
        r##"{"$ref": "#/$defs/a"}"##,
        r##"{"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}"##,
    ),
    CodeInfo::new(
        "J005",
        "reference to another document",
        "Nothing is loaded from outside but what the caller's retriever gives; the meta-schemas are built in. Put the \
         schema into `$defs`, where it is found by its `$id`, or give a retriever that has the document.",
        r#"{"$ref": "https://example.com/a"}"#,
        r#"{"$ref": "https://example.com/a", "$defs": {"a": {"$id": "https://example.com/a", "type": "string"}}}"#,
    ),
    CodeInfo::new(
        "J006",
        "schema that is itself",
        "The schema applies itself to the same value, by `$ref`, `allOf` and the like. Recursion goes through \
         `properties` or `items`.",
        r##"{"anyOf": [{"$ref": "#"}, {"type": "string"}]}"##,
        r##"{"anyOf": [{"items": {"$ref": "#"}, "type": "array"}, {"type": "string"}]}"##,
    ),
    CodeInfo::new(
        "J010",
        "keyword that cannot be enforced",
        "The keyword, or this use of it, is not supported yet. It is not ignored, since values that are not valid \
         would then be accepted.",
        r#"{"const": 1e20000}"#,
        r#"{"const": 1e200}"#,
    ),
    CodeInfo::new(
        "J011",
        "`oneOf` whose branches overlap",
        "Two branches may be valid for one value, and what is valid for the one and not for the other cannot be said.",
        r#"{"oneOf": [{"type": "array", "uniqueItems": true}, {"type": "array", "minItems": 2}]}"#,
        r#"{"oneOf": [{"properties": {"t": {"const": 1}}, "required": ["t"]}, {"properties": {"t": {"const": 2}}, "required": ["t"]}]}"#,
    ),
    CodeInfo::new(
        "J012",
        "`not` that cannot be enforced",
        "The opposite of the schema (of `not`, or of `if` with `else`) cannot be said.",
        r#"{"not": {"type": "array", "uniqueItems": true}}"#,
        r#"{"not": {"required": ["a"]}}"#,
    ),
    CodeInfo::new(
        "J020",
        "no value is valid",
        "The keywords contradict each other. Where it takes little work to find out, those that exclude each other are named and marked.",
        r#"{"type": "string", "minLength": 2, "maxLength": 1}"#,
        r#"{"type": "string", "minLength": 1, "maxLength": 2}"#,
    ),
    CodeInfo::new(
        "J021",
        "value that never ends",
        "Each value of the schema holds another one.",
        r##"{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}"##,
        r##"{"type": "object", "properties": {"next": {"$ref": "#"}}}"##,
    ),
    CodeInfo::new(
        "J022",
        "property, element, name or branch that can have no value",
        "No value is valid for the schema of a property that is not required, or of the elements, so that there is never \
         one; or no string for `propertyNames`; or no value for one of the schemas of `anyOf` or `oneOf`. The object or \
         array is valid without, and so is what another branch takes. `false` says that it is meant.",
        r#"{"properties": {"a": {"type": "string", "minLength": 2, "maxLength": 1}}}"#,
        r#"{"properties": {"a": {"type": "string", "minLength": 1, "maxLength": 2}}}"#,
    ),
    CodeInfo::new(
        "J030",
        "keyword without effect",
        "No keyword of the schema's draft has this name, or the keyword says nothing where it stands: beside `$ref` up to \
         draft 7, beside a `type` that leaves out what it speaks of, `additionalItems` without an array in `items`, `then` and `else` without `if`, `if` without both, `minContains` and `maxContains` \
         without `contains`, definitions alone. By the specification it is ignored. What a reference leads to has an effect. Inside `properties`, `additionalProperties` is the name \
         of a property.",
        r#"{"type": "string", "minlength": 1}"#,
        r#"{"type": "string", "minLength": 1}"#,
    ),
    CodeInfo::new(
        "J031",
        "unknown format",
        "No standard has a format of this name. By the specification it is an annotation.",
        r#"{"type": "string", "format": "phone"}"#,
        r#"{"type": "string", "pattern": "^[0-9]+$"}"#,
    ),
    CodeInfo::new(
        "J032",
        "field of `x-guidance`",
        "The field has no effect: `x-guidance` has none of this name, or it takes a value of another kind.",
        r#"{"type": "string", "x-guidance": {"whitespace": "flexible"}}"#,
        r#"{"type": "string", "x-guidance": {"whitespace_flexible": false}}"#,
    ),
    CodeInfo::new(
        "J033",
        "number for draft 4's boolean",
        "In draft 4 `exclusiveMinimum` and `exclusiveMaximum` say whether `minimum` and `maximum` are valid themselves. A number \
         is read as in later drafts.",
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "exclusiveMinimum": 5}"#,
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 5, "exclusiveMinimum": true}"#,
    ),
    CodeInfo::new(
        "J034",
        "required property that is nearly another one",
        "The property is required, and nothing is said of it anywhere; one beside it has its name but for case, `_` and `-`, or \
         for one character; for more where `additionalProperties` is `false`.",
        r#"{"properties": {"userId": {"type": "string"}}, "required": ["user_id"]}"#,
        r#"{"properties": {"userId": {"type": "string"}}, "required": ["userId"]}"#,
    ),
    CodeInfo::new(
        "J035",
        "branches of `oneOf` that are equal",
        "A value must be valid for one branch and no other. What is valid for one of two equal branches is valid for both.",
        r#"{"oneOf": [{"type": "string"}, {"type": "null"}, {"type": "string"}]}"#,
        r#"{"oneOf": [{"type": "string"}, {"type": "null"}]}"#,
    ),
    CodeInfo::new(
        "J036",
        "count in a pattern that is not closed",
        "By ECMA-262 `{` is a character where it begins no count.",
        r#"{"type": "string", "pattern": "^[0-9]{3$"}"#,
        r#"{"type": "string", "pattern": "^[0-9]{3}$"}"#,
    ),
    CodeInfo::new(
        "J040",
        "limit exceeded",
        "What the schema asks for is over one of the limits.",
        r#"{"type": "string", "maxLength": 10000000000}"#,
        r#"{"type": "string", "maxLength": 1000000000}"#,
    ),
    CodeInfo::new("J099", "more problems", "Only the first `diagnostics_max` problems are shown.", "", ""),
];
