//! One schema as it is written: its keywords, read and checked, with references to sub-schemas by their place.

use std::rc::Rc;

use compact_str::CompactString;
use larkspur_grammar::json::JsonId;
use larkspur_grammar::number::Decimal;

/// A set of JSON types, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Types(pub u8);

impl Types {
    pub const NULL: Types = Types(1);
    pub const BOOLEAN: Types = Types(2);
    pub const INTEGER: Types = Types(4);
    /// With the integers.
    pub const NUMBER: Types = Types(8 | 4);
    pub const STRING: Types = Types(16);
    pub const ARRAY: Types = Types(32);
    pub const OBJECT: Types = Types(64);
    pub const ALL: Types = Types(127);

    /// All names of types.
    pub const NAMES: [&str; 7] = ["null", "boolean", "object", "array", "number", "integer", "string"];

    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "null" => Self::NULL,
            "boolean" => Self::BOOLEAN,
            "integer" => Self::INTEGER,
            "number" => Self::NUMBER,
            "string" => Self::STRING,
            "array" => Self::ARRAY,
            "object" => Self::OBJECT,
            _ => return None,
        })
    }
    pub fn has(self, other: Types) -> bool {
        self.0 & other.0 == other.0
    }
    pub fn with(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }
}

/// A bound of a number.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub value: Decimal,
    pub exclusive: bool,
    /// The keyword's value.
    pub place: JsonId,
    pub keyword: &'static str,
}

/// A pattern and the schema of the properties that it matches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatternProperty {
    /// The member's index in the object of `patternProperties`.
    pub member: usize,
    /// The object of `patternProperties`.
    pub object: JsonId,
    pub schema: JsonId,
}

/// The keywords of one schema. Places are those of the values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Keywords {
    pub types: Option<Types>,
    /// `integer` is a matter of spelling, as draft 4 has it (core, section 3.5): no fraction, no exponent.
    pub integers_by_spelling: bool,
    pub enumeration: Option<(JsonId, Vec<JsonId>)>,
    pub constant: Option<JsonId>,
    pub minimum: Vec<Limit>,
    pub maximum: Vec<Limit>,
    pub multiple_of: Option<(Decimal, JsonId)>,
    pub min_length: Option<(u64, JsonId)>,
    pub max_length: Option<(u64, JsonId)>,
    pub pattern: Option<JsonId>,
    pub format: Option<JsonId>,
    pub prefix: Vec<JsonId>,
    /// Of the elements behind the prefix.
    pub rest: Option<JsonId>,
    pub min_items: Option<u64>,
    pub max_items: Option<u64>,
    pub unique: Option<JsonId>,
    pub contains: Option<JsonId>,
    pub min_contains: Option<u64>,
    pub max_contains: Option<u64>,
    pub unevaluated_items: Option<JsonId>,
    /// Names and schemas, in order.
    pub properties: Vec<(CompactString, JsonId)>,
    pub patterns: Vec<PatternProperty>,
    pub additional: Option<JsonId>,
    pub unevaluated_properties: Option<JsonId>,
    pub names: Option<JsonId>,
    pub required: Vec<CompactString>,
    pub min_properties: Option<u64>,
    pub max_properties: Option<u64>,
    /// If the object has the first, it has the others.
    pub dependent_required: Vec<(CompactString, Vec<CompactString>)>,
    /// If the object has the property, the schema holds.
    pub dependent_schemas: Vec<(CompactString, JsonId)>,
    pub reference: Option<JsonId>,
    /// `$dynamicRef`, `$recursiveRef`.
    pub dynamic: Option<(JsonId, &'static str)>,
    pub all_of: Vec<JsonId>,
    pub any_of: Option<Vec<JsonId>>,
    pub one_of: Option<(JsonId, Vec<JsonId>)>,
    pub not: Option<JsonId>,
    pub condition: Option<JsonId>,
    pub then: Option<JsonId>,
    pub otherwise: Option<JsonId>,
}

/// A schema.
#[derive(Clone, Debug)]
pub(crate) enum Schema {
    /// `true`, `false`, and what is no schema.
    Bool,
    Keywords(Rc<Keywords>),
}
