//! What we tell the author of a grammar: plain data, rendered by the doors.

use crate::span::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Severity {
    /// The grammar does not compile.
    Error,
    /// The grammar compiles, and probably does not mean what its author thinks.
    Warning,
}

/// A place, and what to say about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What to say there; may be empty.
    pub message: String,
}

/// One mistake or lint. The first label is the primary one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Stable code, `L012`; documented in [`CodeInfo`] tables and `docs/diagnostics.md`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence that names the thing.
    pub message: String,
    /// Places, the primary one first. Empty only where there is no source text (a grammar built by a program).
    pub labels: Vec<Label>,
    /// The way out: "did you mean …".
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, Some(span), message)
    }
    /// A warning at a place.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, Some(span), message)
    }
    /// A diagnostic with a place or none.
    pub fn new(code: &'static str, severity: Severity, span: Option<Span>, message: impl Into<String>) -> Self {
        let labels = span.map(|span| Label { span, message: String::new() }).into_iter().collect();
        Self { code, severity, message: message.into(), labels, help: None }
    }
    /// Sets the text at the primary place.
    pub fn at(mut self, message: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.message = message.into();
        }
        self
    }
    /// Adds a secondary place.
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: message.into() });
        self
    }
    /// Sets the way out.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
    /// Whether this keeps the grammar from compiling.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Documentation of one code; every crate that reports diagnostics has a table of these named `CODES`.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// The code, `L012`.
    pub code: &'static str,
    /// A few words.
    pub title: &'static str,
    /// Why it is a mistake and what to do.
    pub explanation: &'static str,
    /// A grammar that gets this code.
    pub bad: &'static str,
    /// The same grammar mended.
    pub good: &'static str,
}

/// The candidate nearest to `name`, if it is near enough to be a slip of the pen:
/// Damerau-Levenshtein distance of at most a third of the longer name, or equal but for case and `-`/`_`.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let fold = |s: &str| s.to_lowercase().replace('-', "_");
    let folded = fold(name);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let distance = if fold(candidate) == folded { 0 } else { edit_distance(name, candidate) };
        let allowed = (name.chars().count().max(candidate.chars().count()) / 3).max(1);
        if distance <= allowed && best.is_none_or(|(d, c)| (distance, candidate) < (d, c)) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance; inputs over 64 characters count as unlike.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(65).collect();
    let b: Vec<char> = b.chars().take(65).collect();
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let substitute = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substitute.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = least;
        }
    }
    rows[a.len()][b.len()]
}
