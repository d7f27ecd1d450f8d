//! Where the texts come from that `%import` names: those that are built in, and those that the caller gives.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Gives the texts of `%import`. A path is of names and slashes and ends with `.lark`: `folder/module.lark`. It has no
/// `..` and does not begin with a slash.
///
/// There are several roots, in each of which paths are looked up. Root 0 is the folder of the grammar: relative imports
/// begin there. The others are search paths, which every import looks into first, and absolute imports only.
pub trait ModuleResolver: Send + Sync {
    /// Roots, root 0 included.
    fn roots(&self) -> usize;
    /// The text at a path, and the name under which it is shown. `Ok(None)`: there is none.
    ///
    /// Errors: why it cannot be given, to be shown with the import.
    fn load(&self, root: usize, path: &str) -> Result<Option<ModuleText>, String>;
}

/// A text that is imported.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleText {
    /// The name under which it is shown.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A [`ModuleResolver`] that is shared. Nothing is ever loaded without one, but for what is built in.
#[derive(Clone)]
pub struct Modules(Arc<dyn ModuleResolver>);

impl Modules {
    /// The texts that `resolver` gives.
    pub fn new(resolver: impl ModuleResolver + 'static) -> Self {
        Self(Arc::new(resolver))
    }
    /// Texts by path: `[("folder/module.lark", "…")]`. One that begins with a slash is in a search path.
    pub fn map<P: Into<String>, T: Into<String>>(texts: impl IntoIterator<Item = (P, T)>) -> Self {
        Self::new(TextsByPath(texts.into_iter().map(|(path, text)| (path.into(), text.into())).collect()))
    }
    pub(crate) fn resolver(&self) -> &dyn ModuleResolver {
        &*self.0
    }
}

/// Without the resolver, which has no text.
impl fmt::Debug for Modules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Modules(..)")
    }
}

/// Whether it is the same resolver.
impl PartialEq for Modules {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Modules {}

struct TextsByPath(BTreeMap<String, String>);

impl ModuleResolver for TextsByPath {
    fn roots(&self) -> usize {
        2
    }
    fn load(&self, root: usize, path: &str) -> Result<Option<ModuleText>, String> {
        let path = if root == 0 { path.to_string() } else { format!("/{path}") };
        Ok(self.0.get(&path).map(|text| ModuleText { name: path.clone(), text: text.clone() }))
    }
}

/// The library of this name; `common` is a table of its own.
pub(crate) fn built_in(name: &str) -> Option<&'static str> {
    LIBRARIES.iter().find(|(library, _)| *library == name).map(|&(_, text)| text)
}

/// The libraries besides `common`, with the names and meanings that they have in Lark.
pub(crate) const LIBRARIES: &[(&str, &str)] = &[
    ("lark", include_str!("../libraries/lark.lark")),
    ("python", include_str!("../libraries/python.lark")),
    ("unicode", include_str!("../libraries/unicode.lark")),
];

/// The names of all libraries.
pub(crate) fn built_in_names() -> impl Iterator<Item = &'static str> {
    std::iter::once("common").chain(LIBRARIES.iter().map(|&(name, _)| name))
}

/// The names of all libraries, for messages.
pub(crate) fn names() -> String {
    let names: Vec<String> = built_in_names().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}
