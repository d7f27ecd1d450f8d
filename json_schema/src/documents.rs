//! Documents that a schema refers to: those that are built in, and those that the caller gives.

use std::fmt;
use std::sync::Arc;

/// Gives the text of the document with a URI, without fragment. `Ok(None)`: there is no such document.
type Retrieve = dyn Fn(&str) -> Result<Option<String>, String> + Send + Sync;

/// Where the documents come from that schemas refer to: a function of the caller's. Nothing is ever loaded from the
/// network or the disk without one.
///
/// The URI is absolute if the schema that refers to it has an absolute `$id`; else it is as it is written. What the
/// function does with `http:` and `file:` is its own decision: whoever writes the schema chooses the URI.
#[derive(Clone)]
pub struct Retriever(Arc<Retrieve>);

impl Retriever {
    /// A retriever that calls `retrieve`. An error is shown with the reference; `Ok(None)` says that there is no such
    /// document.
    pub fn new(retrieve: impl Fn(&str) -> Result<Option<String>, String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(retrieve))
    }
    pub(crate) fn get(&self, uri: &str) -> Result<Option<String>, String> {
        (self.0)(uri)
    }
}

/// Without the function, which has no text.
impl fmt::Debug for Retriever {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Retriever(..)")
    }
}

/// Whether it is the same function.
impl PartialEq for Retriever {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Retriever {}

/// The document that is built in under a URI.
pub(crate) fn built_in(uri: &str) -> Option<&'static str> {
    let bare = |uri: &str| -> Option<usize> {
        uri.find("://json-schema.org/").filter(|&at| ["http", "https"].contains(&&uri[..at]))
    };
    let at = bare(uri)?;
    METASCHEMAS
        .iter()
        .find(|(name, _)| bare(name).is_some_and(|other| name[other..] == uri[at..]))
        .map(|&(_, text)| text)
}

/// The meta-schemas, as published by json-schema.org.
const METASCHEMAS: &[(&str, &str)] = &[
    ("http://json-schema.org/draft-04/schema", include_str!("../metaschemas/draft4.json")),
    ("http://json-schema.org/draft-06/schema", include_str!("../metaschemas/draft6.json")),
    ("http://json-schema.org/draft-07/schema", include_str!("../metaschemas/draft7.json")),
    ("https://json-schema.org/draft/2019-09/schema", include_str!("../metaschemas/draft2019-09/schema.json")),
    ("https://json-schema.org/draft/2019-09/meta/core", include_str!("../metaschemas/draft2019-09/meta/core.json")),
    (
        "https://json-schema.org/draft/2019-09/meta/applicator",
        include_str!("../metaschemas/draft2019-09/meta/applicator.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/validation",
        include_str!("../metaschemas/draft2019-09/meta/validation.json"),
    ),
    (
        "https://json-schema.org/draft/2019-09/meta/meta-data",
        include_str!("../metaschemas/draft2019-09/meta/meta-data.json"),
    ),
    ("https://json-schema.org/draft/2019-09/meta/format", include_str!("../metaschemas/draft2019-09/meta/format.json")),
    (
        "https://json-schema.org/draft/2019-09/meta/content",
        include_str!("../metaschemas/draft2019-09/meta/content.json"),
    ),
    ("https://json-schema.org/draft/2020-12/schema", include_str!("../metaschemas/draft2020-12/schema.json")),
    ("https://json-schema.org/draft/2020-12/meta/core", include_str!("../metaschemas/draft2020-12/meta/core.json")),
    (
        "https://json-schema.org/draft/2020-12/meta/applicator",
        include_str!("../metaschemas/draft2020-12/meta/applicator.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/unevaluated",
        include_str!("../metaschemas/draft2020-12/meta/unevaluated.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/validation",
        include_str!("../metaschemas/draft2020-12/meta/validation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/meta-data",
        include_str!("../metaschemas/draft2020-12/meta/meta-data.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-annotation",
        include_str!("../metaschemas/draft2020-12/meta/format-annotation.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/format-assertion",
        include_str!("../metaschemas/draft2020-12/meta/format-assertion.json"),
    ),
    (
        "https://json-schema.org/draft/2020-12/meta/content",
        include_str!("../metaschemas/draft2020-12/meta/content.json"),
    ),
];
