//! Suites in files: the official one, and MaskBench.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use larkspur::grammar::json::{JsonDocument, JsonId, parse_json};
use larkspur::{Draft, Limits, Retriever, SourceId};

/// Where the official suite's `remotes/` are said to be.
const REMOTES: &str = "http://localhost:1234/";

/// Folders of the official suite, and what they are in.
const DRAFTS: [(&str, Draft); 5] = [
    ("draft4", Draft::Draft4),
    ("draft6", Draft::Draft6),
    ("draft7", Draft::Draft7),
    ("draft2019-09", Draft::Draft2019),
    ("draft2020-12", Draft::Draft2020),
];

/// Why a suite cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SuiteError {
    /// A file or folder cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why not.
        error: std::io::Error,
    },
    /// A file is not in the layout.
    #[error("{}: {reason}", path.display())]
    Shape {
        /// Which.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// Neither layout.
    #[error("{}: there is neither a folder `tests/draft…` nor a file with a `schema`", path.display())]
    Nothing {
        /// The folder.
        path: PathBuf,
    },
}

/// A schema with instances.
#[derive(Clone, Debug)]
pub struct Case {
    /// The set whose figures it counts in: `draft2020-12 required`, `maskbench`.
    pub set: String,
    /// The file in the suite's folder, without extension.
    pub file: String,
    /// What the suite calls it; empty in MaskBench.
    pub name: String,
    /// The schema's text.
    pub schema: String,
    /// The draft, where the schema does not say.
    pub draft: Draft,
    /// `format` is an annotation, as validators have it by default, and not an assertion.
    pub format_annotation: bool,
    /// Where the suite's label and a validator do not agree, the suite is right.
    pub labels_are_right: bool,
    /// The instances.
    pub tests: Vec<Test>,
}

/// An instance.
#[derive(Clone, Debug)]
pub struct Test {
    /// What the suite calls it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Whether it is valid.
    pub valid: bool,
}

/// All cases of a folder.
#[derive(Debug)]
pub struct Suite {
    /// In the order of drafts and file names.
    pub cases: Vec<Case>,
    /// The documents that the schemas refer to.
    pub retriever: Retriever,
}

impl Suite {
    /// Reads a folder: the official suite (with `tests/` and `remotes/`), or MaskBench (one file for each schema).
    ///
    /// Errors: what cannot be read.
    pub fn read(folder: &Path) -> Result<Self, SuiteError> {
        Self::read_some(folder, |_| true)
    }

    /// The same, of MaskBench only the wanted files.
    ///
    /// Errors: what cannot be read; that there is nothing wanted.
    pub fn read_some(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Result<Self, SuiteError> {
        let mut cases = Vec::new();
        let mut remotes = BTreeMap::new();
        if DRAFTS.iter().any(|(name, _)| folder.join("tests").join(name).is_dir()) {
            for (name, draft) in DRAFTS {
                for (part, title) in
                    [("", "required"), ("optional", "optional"), ("optional/format", "optional/format")]
                {
                    let files = files(&folder.join("tests").join(name).join(part), false)?;
                    for path in files {
                        official(&path, name, draft, part, title, &mut cases)?;
                    }
                }
            }
            let root = folder.join("remotes");
            for path in files(&root, true)? {
                let relative = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
                remotes.insert(format!("{REMOTES}{relative}"), text(&path)?);
            }
        } else {
            for path in files(folder, false)?.into_iter().filter(|path| wanted(path)) {
                maskbench(&path, &mut cases)?;
            }
        }
        if cases.is_empty() {
            return Err(SuiteError::Nothing { path: folder.to_owned() });
        }
        let retriever = Retriever::new(move |uri| Ok(remotes.get(uri).cloned()));
        Ok(Self { cases, retriever })
    }
}

/// The JSON files of a folder, in order; none if there is no such folder.
fn files(folder: &Path, nested: bool) -> Result<Vec<PathBuf>, SuiteError> {
    let mut found = Vec::new();
    let mut stack = vec![folder.to_owned()];
    while let Some(folder) = stack.pop() {
        if !folder.is_dir() {
            continue;
        }
        let io = |error| SuiteError::Io { path: folder.clone(), error };
        for entry in std::fs::read_dir(&folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            if path.is_dir() && nested {
                stack.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn text(path: &Path) -> Result<String, SuiteError> {
    std::fs::read_to_string(path).map_err(|error| SuiteError::Io { path: path.to_owned(), error })
}

/// A file of a suite, with its text.
struct File<'a> {
    path: &'a Path,
    text: String,
    document: JsonDocument,
}

impl<'a> File<'a> {
    fn read(path: &'a Path) -> Result<Self, SuiteError> {
        let text = text(path)?;
        let document = parse_json(SourceId(0), &text, &Limits::default()).map_err(|errors| SuiteError::Shape {
            path: path.to_owned(),
            reason: errors.first().map_or_else(String::new, |error| error.message.clone()),
        })?;
        Ok(Self { path, text, document })
    }
    fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
    fn get(&self, id: JsonId, key: &str) -> Result<JsonId, SuiteError> {
        let reason = || SuiteError::Shape { path: self.path.to_owned(), reason: format!("`{key}` is missing") };
        self.document.get(id, key).ok_or_else(reason)
    }
    /// A value as it is written.
    fn verbatim(&self, id: JsonId) -> String {
        let span = self.document.span(id);
        self.text.get(span.start as usize..span.end as usize).unwrap_or_default().to_owned()
    }
    fn name(&self, id: JsonId) -> String {
        let name = self.document.get(id, "description").and_then(|name| self.document.string(name));
        name.unwrap_or_default().to_owned()
    }
    fn tests(&self, id: JsonId) -> Result<Vec<Test>, SuiteError> {
        let tests = self.document.array(self.get(id, "tests")?).unwrap_or_default();
        let test = |&test: &JsonId| {
            let valid = self.document.bool(self.get(test, "valid")?) == Some(true);
            Ok(Test { name: self.name(test), text: self.verbatim(self.get(test, "data")?), valid })
        };
        tests.iter().map(test).collect()
    }
}

fn official(
    path: &Path,
    folder: &str,
    draft: Draft,
    part: &str,
    title: &str,
    cases: &mut Vec<Case>,
) -> Result<(), SuiteError> {
    let file = File::read(path)?;
    let stem = file.stem();
    let place = if part.is_empty() { format!("{folder}/{stem}") } else { format!("{folder}/{part}/{stem}") };
    for &group in file.document.array(file.document.root()).unwrap_or_default() {
        cases.push(Case {
            set: format!("{folder} {title}"),
            file: place.clone(),
            name: file.name(group),
            schema: file.verbatim(file.get(group, "schema")?),
            draft,
            format_annotation: !part.ends_with("format") && stem != "format-assertion",
            labels_are_right: true,
            tests: file.tests(group)?,
        });
    }
    Ok(())
}

fn maskbench(path: &Path, cases: &mut Vec<Case>) -> Result<(), SuiteError> {
    let file = File::read(path)?;
    let root = file.document.root();
    let Some(schema) = file.document.get(root, "schema") else { return Ok(()) };
    cases.push(Case {
        set: "maskbench".to_owned(),
        file: file.stem(),
        name: String::new(),
        schema: file.verbatim(schema),
        draft: Draft::Draft2020,
        format_annotation: false,
        labels_are_right: false,
        tests: file.tests(root)?,
    });
    Ok(())
}
