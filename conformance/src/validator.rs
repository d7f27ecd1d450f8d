//! The `jsonschema` crate as a second opinion.

use serde_json::Value;

use crate::run::Opinion;
use crate::suite::Case;

/// What the `jsonschema` crate says of instances of the case's schema, formats included; `None` if it refuses the schema.
pub fn validator(case: &Case) -> Option<Opinion> {
    let schema: Value = serde_json::from_str(&case.schema).ok()?;
    let validator = jsonschema::options().should_validate_formats(!case.format_annotation).build(&schema).ok()?;
    Some(Box::new(move |text| Some(validator.is_valid(&serde_json::from_str(text).ok()?))))
}
