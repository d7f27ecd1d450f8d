//! Structural tags from Python's tuples.

use larkspur::{Mark, Source, StructuralTags};
use pyo3::prelude::*;

use crate::options::source;

/// A text, or the name of a token.
#[derive(FromPyObject)]
pub(crate) struct MarkArguments(bool, String);

/// Beginning, kind and text of the content (none: any text), and end.
#[derive(FromPyObject)]
pub(crate) struct TagArguments(MarkArguments, Option<(String, String)>, MarkArguments);

impl From<MarkArguments> for Mark {
    fn from(MarkArguments(is_token, text): MarkArguments) -> Self {
        if is_token { Mark::token(text) } else { Mark::from(text.as_str()) }
    }
}

/// How tags and free text alternate.
pub(crate) struct Around {
    pub triggers: Vec<String>,
    pub excludes: Vec<String>,
    pub at_least: u8,
    pub at_most: Option<u8>,
    pub end_with_last_tag: bool,
}

/// The source of all of it.
pub(crate) fn tags_source(tags: Vec<TagArguments>, around: Around) -> PyResult<Source> {
    let mut made = StructuralTags::new().at_least(around.at_least);
    for TagArguments(begin, content, end) in tags {
        made = match content {
            Some((kind, text)) => made.tag(begin, source(&kind, text)?, end),
            None => made.text_tag(begin, end),
        };
    }
    made = around.triggers.into_iter().fold(made, StructuralTags::trigger);
    made = around.excludes.into_iter().fold(made, StructuralTags::exclude);
    if let Some(most) = around.at_most {
        made = made.at_most(most);
    }
    if around.end_with_last_tag {
        made = made.end_with_last_tag();
    }
    Ok(Source::from(made))
}
