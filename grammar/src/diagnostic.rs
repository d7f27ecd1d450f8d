//! What we tell the author of a grammar: plain data, rendered by the doors.

mod shared;

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

use crate::limits::Limits;
use crate::span::Span;

pub use shared::{NoStart, TooMuch, escaped_end, one_character_each, plural, shown_character};

/// Names compared for one "did you mean": more would make a text with many mistakes slow to report.
const NAMES_COMPARED_MAX: usize = 5_000;
/// Names that a message lists.
const NAMES_SHOWN: usize = 8;
/// Bytes of a name that may be a slip of the pen: a longer one has no near names.
const NEAR_BYTES_MAX: usize = 64;
/// Steps of comparing one name with others letter by letter, which 8,000 names of 8 letters take.
const NEAR_STEPS_MAX: usize = 500_000;
/// Characters of a word in a message; of a longer one the first are shown.
const WORD_CHARS_MAX: usize = 80;
const WORD_CHARS_SHOWN: usize = 60;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub enum Severity {
    /// The grammar does not compile.
    Error,
    /// The grammar compiles, and probably does not mean what its author thinks.
    Warning,
}

/// A place, and what to say about it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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
    /// Places, the primary one first. Empty where there is no source text (a grammar built by a program), and where what is
    /// wrong stands in none (an option).
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
        Self { code, severity, message: brief(message.into()), labels, help: None }
    }
    /// Sets the text at the primary place.
    pub fn at(mut self, message: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.message = brief(message.into());
        }
        self
    }
    /// Adds a secondary place.
    pub fn also(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(Label { span, message: brief(message.into()) });
        self
    }
    /// Sets the way out.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(brief(help.into()));
        self
    }
    /// Sets the way out to a name that may have been meant, if there is one; it is shown if it is in the same source.
    pub fn did_you_mean(self, near: Option<Near>) -> Self {
        let Some(Near { name, defined }) = near else { return self };
        let source = self.labels.first().map(|label| label.span.source);
        let diagnostic = self.help(format!("did you mean `{name}`?"));
        match defined.filter(|at| Some(at.source) == source) {
            Some(at) => diagnostic.also(at, format!("`{name}` is defined here")),
            None => diagnostic,
        }
    }
    /// Whether this keeps the grammar from compiling.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// A message whose words are not too long: those of the text, such as names, are of any length.
fn brief(message: String) -> String {
    // Most have none, as their bytes tell.
    let may_be_within = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-') || !byte.is_ascii();
    if message.as_bytes().split(|byte| !may_be_within(byte)).all(|word| word.len() <= WORD_CHARS_MAX) {
        return message;
    }
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let mut brief = String::with_capacity(message.len().min(1_000));
    let mut rest = message.as_str();
    while !rest.is_empty() {
        let (word, behind) = rest.split_at(rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
        match word.char_indices().nth(WORD_CHARS_MAX) {
            Some(_) => {
                brief.extend(word.chars().take(WORD_CHARS_SHOWN));
                brief.push('…');
            }
            None => brief.push_str(word),
        }
        let (other, behind) = behind.split_at(behind.find(is_word).unwrap_or(behind.len()));
        brief.push_str(other);
        rest = behind;
    }
    brief
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

impl CodeInfo {
    /// A row of a table of codes.
    pub const fn new(
        code: &'static str,
        title: &'static str,
        explanation: &'static str,
        bad: &'static str,
        good: &'static str,
    ) -> Self {
        Self { code, title, explanation, bad, good }
    }
}

/// The diagnostics of one run of a front end. Past `limits.diagnostics_max` they are only counted.
#[derive(Clone, Debug)]
pub struct DiagnosticList {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    limit: usize,
    suppressed: usize,
    /// An error was left out.
    lacks_errors: bool,
    /// A reader stopped for that, so that nobody knows how many more there are.
    is_cut: bool,
}

impl DiagnosticList {
    /// An empty list. At least one error is always kept, so that a mistake is never taken for none.
    pub fn new(limits: &Limits) -> Self {
        let limit = limits.diagnostics_max.max(1);
        Self { errors: Vec::new(), warnings: Vec::new(), limit, suppressed: 0, lacks_errors: false, is_cut: false }
    }
    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.is_error();
        // Another reader stopped.
        if is_more(diagnostic.code) && !self.errors.is_empty() {
            (self.lacks_errors, self.suppressed) = (true, self.suppressed + 1);
            self.is_cut = true;
            return;
        }
        let list = if is_error { &mut self.errors } else { &mut self.warnings };
        if list.len() < self.limit {
            list.push(diagnostic);
        } else {
            self.suppressed += 1;
            self.lacks_errors |= is_error;
        }
    }
    /// Adds a diagnostic that may have been added before.
    pub fn push_new(&mut self, diagnostic: Diagnostic) {
        let list = if diagnostic.is_error() { &self.errors } else { &self.warnings };
        // Most often the place tells them apart.
        if !list.iter().any(|other| other.labels == diagnostic.labels && *other == diagnostic) {
            self.push(diagnostic);
        }
    }
    /// Whether another error would only be counted, which it then is: for what is dear to describe.
    pub fn skips_error(&mut self) -> bool {
        let is_full = !self.has_room();
        self.suppressed += usize::from(is_full);
        self.lacks_errors |= is_full;
        is_full
    }
    /// Counts a warning that is not kept.
    pub fn leave_out(&mut self) {
        self.suppressed += 1;
    }
    /// The errors that are kept.
    pub fn errors(&self) -> &[Diagnostic] {
        &self.errors
    }
    /// Whether a reader is to stop: an error was found that is not kept. From then on nobody knows how many there are.
    pub fn must_stop(&mut self) -> bool {
        self.is_cut |= self.lacks_errors;
        self.lacks_errors
    }
    /// Whether another error would be kept, so that it is worth while to say much of it.
    pub fn has_room(&self) -> bool {
        self.errors.len() < self.limit
    }
    /// The diagnostics in the order of the text; errors go before warnings where not all are shown. `more` is the code
    /// that says so.
    pub fn finish(mut self, more: &'static str) -> Vec<Diagnostic> {
        let room = self.limit - self.errors.len();
        self.suppressed += self.warnings.len().saturating_sub(room);
        self.warnings.truncate(room);
        let severity = if self.errors.is_empty() { Severity::Warning } else { Severity::Error };
        let mut all = self.errors;
        all.append(&mut self.warnings);
        let place = |span: Span| (span.source, span.start, span.end);
        all.sort_by_key(|diagnostic| diagnostic.labels.first().map(|label| place(label.span)));
        if self.suppressed > 0 {
            let count = (!self.is_cut).then_some(self.suppressed);
            all.push(more_problems(more, severity, None, count));
        }
        all
    }
}

/// Whether a code says that there are more problems than are shown, as the last one of each language does.
fn is_more(code: &str) -> bool {
    code.ends_with("099")
}

/// What says that not all is shown; at a place, that is where the first one stands that is not.
pub fn more_problems(code: &'static str, severity: Severity, span: Option<Span>, count: Option<usize>) -> Diagnostic {
    debug_assert!(is_more(code), "{code} is such a code");
    let message = match count {
        None => "there are more problems, which are not shown".to_owned(),
        Some(1) => "1 more problem is not shown".to_owned(),
        Some(count) => format!("{count} more problems are not shown"),
    };
    Diagnostic::new(code, severity, span, message).help("mend the first ones, or raise the limit `diagnostics_max`")
}

/// What can be wrong with a text of one language, each kind with its sentence.
pub trait Describe {
    /// The code that says that not all is shown.
    const MORE: &'static str;

    /// The sentence, with its code and places.
    fn diagnostic(self, span: Span) -> Diagnostic;
}

/// The diagnostics of one run of a front end, whose mistakes are `M`.
#[derive(Debug)]
pub struct Sink<M> {
    list: DiagnosticList,
    mistakes: PhantomData<M>,
}

impl<M: Describe> Sink<M> {
    /// An empty one.
    pub fn new(limits: &Limits) -> Self {
        Self { list: DiagnosticList::new(limits), mistakes: PhantomData }
    }
    /// Adds a mistake.
    pub fn report(&mut self, span: Span, mistake: impl Into<M>) {
        self.push(mistake.into().diagnostic(span));
    }
    /// Adds a diagnostic, unless it is there: what stands in a template or an import is read more than once.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.list.push_new(diagnostic);
    }
    /// Adds what another reader found, such as that of regexes.
    pub fn extend(&mut self, diagnostics: impl IntoIterator<Item = Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }
    /// Whether a reader is to stop: an error was found that is not shown.
    pub fn must_stop(&mut self) -> bool {
        self.list.must_stop()
    }
    /// Whether another error would be shown, so that it is worth while to say much of it.
    pub fn has_room(&self) -> bool {
        self.list.has_room()
    }
    /// Whether there is an error.
    pub fn has_errors(&self) -> bool {
        !self.list.errors().is_empty()
    }
    /// Whether an error is shown somewhere inside of `span`.
    pub fn has_error_in(&self, span: Span) -> bool {
        let mut places = self.list.errors().iter().filter_map(|error| error.labels.first());
        places
            .any(|label| label.span.source == span.source && label.span.start < span.end && span.start < label.span.end)
    }
    /// The diagnostics in the order of the text.
    pub fn finish(self) -> Vec<Diagnostic> {
        self.list.finish(M::MORE)
    }
}

/// A name that may have been meant, and where it is defined, if it is in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Near {
    /// The name.
    pub name: String,
    /// Where it is defined.
    pub defined: Option<Span>,
}

/// The nearest of `names`, of which only the first few thousand are compared. A long name has none.
pub fn near<'a>(name: &str, names: impl IntoIterator<Item = (&'a str, Option<Span>)>) -> Option<Near> {
    if name.len() > NEAR_BYTES_MAX {
        return None;
    }
    let length = name.chars().count();
    let mut names = names.into_iter().take(NAMES_COMPARED_MAX);
    // Of names of one or two letters each is like every other; only another case or `-` for `_` is a slip.
    if length <= 2 {
        let folded: String = fold(name).collect();
        let (name, defined) = names.find(|(other, _)| fold(other).eq(folded.chars()))?;
        return Some(Near { name: name.to_owned(), defined });
    }
    let alike = |other: &str| other.len().abs_diff(length) <= 2 + length.max(other.len()) / 3;
    let names: Vec<(&str, Option<Span>)> = names.filter(|(other, _)| alike(other)).collect();
    let found = did_you_mean(name, names.iter().map(|&(other, _)| other))?;
    let &(name, defined) = names.iter().find(|(other, _)| *other == found)?;
    Some(Near { name: name.to_owned(), defined })
}

/// The first of some names for a sentence; `None` if there are none.
pub(crate) fn names_there_are<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut names = names.into_iter();
    let shown: Vec<String> = names.by_ref().take(NAMES_SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.next().is_some() { ", …" } else { "" };
    (!shown.is_empty()).then(|| shown.join(", ") + more)
}

/// A name without case, and with `_` for `-`.
fn fold(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().flat_map(char::to_lowercase).map(|c| if c == '-' { '_' } else { c })
}

/// The candidate nearest to `name`, if it is near enough to be a slip of the pen:
/// Damerau-Levenshtein distance of at most a third of the longer name, or equal but for case and `-`/`_`.
/// Of many long candidates that are all alike, the last are not compared.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > NEAR_BYTES_MAX {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    let mut steps = 0;
    let (length, has, is_ascii) = (name.chars().count(), letters(name), name.is_ascii());
    for candidate in candidates {
        if candidate.len() > NEAR_BYTES_MAX {
            continue;
        }
        let are_ascii = is_ascii && candidate.is_ascii();
        let other = if are_ascii { candidate.len() } else { candidate.chars().count() };
        let allowed = (length.max(other) / 3).max(1);
        // The length tells most apart, then the characters.
        if are_ascii && length.abs_diff(other) > allowed {
            continue;
        }
        let others = letters(candidate);
        let unlike = (has & !others).count_ones().max((others & !has).count_ones()) as usize;
        // There are no more characters than bytes: most candidates are told apart before they are counted.
        if unlike > (name.len().max(candidate.len()) / 3).max(1) {
            continue;
        }
        let distance = match fold(name).eq(fold(candidate)) {
            true => Some(0),
            false if length.abs_diff(other) > allowed || bag_distance(name, candidate) > allowed => continue,
            false if steps > NEAR_STEPS_MAX => continue,
            false => {
                steps += name.len() * candidate.len();
                edits_within(name, candidate, allowed)
            }
        };
        if let Some(distance) = distance
            && best.is_none_or(|(d, c)| (distance, candidate) < (d, c))
        {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The ASCII characters of a name, each as one of 32 whatever its case: of names that are near, each has few that the other
/// lacks.
fn letters(name: &str) -> u32 {
    name.bytes().fold(0, |letters, byte| letters | LETTERS[usize::from(byte)])
}

/// The bit of each byte in [`letters`]: a schema with unknown keywords compares each with all that are known.
static LETTERS: [u32; 256] = {
    let mut letters = [0; 256];
    let mut byte: u8 = 0;
    while byte.is_ascii() {
        letters[byte as usize] = 1 << if byte == b'-' { b'_' % 32 } else { byte % 32 };
        byte += 1;
    }
    letters
};

/// At most the [`edit_distance`]: how many ASCII characters the one has that the other lacks. Few candidates are near.
fn bag_distance(a: &str, b: &str) -> usize {
    let mut left = [0u8; 128];
    let (mut more, mut less) = (0, 0);
    for byte in a.bytes().filter(u8::is_ascii) {
        left[usize::from(byte)] += 1;
        more += 1;
    }
    for byte in b.bytes().filter(u8::is_ascii) {
        match &mut left[usize::from(byte)] {
            0 => less += 1,
            count => (*count, more) = (*count - 1, more - 1),
        }
    }
    more.max(less)
}

/// Optimal string alignment distance: how many characters are one too many, one too few, another or swapped.
pub fn edit_distance(a: &str, b: &str) -> usize {
    edits_within(a, b, usize::MAX).expect("it is not bounded")
}

/// The same if it is at most a bound.
fn edits_within(a: &str, b: &str, max: usize) -> Option<usize> {
    if a.is_ascii() && b.is_ascii() {
        return edits(a.as_bytes(), b.as_bytes(), max);
    }
    let chars = |text: &str| text.chars().collect::<SmallVec<[char; NEAR_BYTES_MAX]>>();
    edits(&chars(a), &chars(b), max)
}

fn edits<T: PartialEq>(a: &[T], b: &[T], max: usize) -> Option<usize> {
    let width = b.len() + 1;
    // A row for the character before the last one, one for the last, and the one that is being made.
    let mut rows: SmallVec<[usize; 256]> = smallvec![0; 3 * width];
    let (mut before, rest) = rows.split_at_mut(width);
    let (mut last, mut row) = rest.split_at_mut(width);
    last.iter_mut().zip(0..).for_each(|(cell, at)| *cell = at);
    for i in 1..=a.len() {
        row[0] = i;
        for j in 1..width {
            let substitute = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = substitute.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row[j] = least;
        }
        // What follows is not less than both rows.
        if row.iter().chain(&*last).all(|&cell| cell > max) {
            return None;
        }
        (before, last, row) = (last, row, before);
    }
    Some(last[b.len()]).filter(|&distance| distance <= max)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 12] = [
        "minLength",
        "maxLength",
        "min_items",
        "pattern",
        "patternProperties",
        "if",
        "then",
        "$ref",
        "größe",
        "Ünit",
        "a-b",
        "id",
    ];

    /// What [`did_you_mean`] says of itself.
    fn nearest<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
        let distance = |candidate: &str| {
            let allowed = (name.chars().count().max(candidate.chars().count()) / 3).max(1);
            let distance = if fold(name).eq(fold(candidate)) { 0 } else { edit_distance(name, candidate) };
            (distance <= allowed).then_some(distance)
        };
        let near = candidates.iter().filter_map(|&candidate| Some((distance(candidate)?, candidate)));
        near.min().map(|(_, candidate)| candidate)
    }

    #[test]
    fn what_is_passed_over_is_not_near() {
        for name in NAMES {
            let chars: Vec<char> = name.chars().collect();
            let mut variants = vec![chars.clone(), name.to_uppercase().chars().collect(), vec!['x'; chars.len()]];
            for at in 0..chars.len() {
                let mut lacking = chars.clone();
                lacking.remove(at);
                let mut more = chars.clone();
                more.insert(at, chars[chars.len() - 1 - at]);
                let mut swapped = chars.clone();
                swapped.swap(at, chars.len() / 2);
                let other: Vec<char> = chars.iter().map(|&c| if c == '_' { '-' } else { c }).skip(at).collect();
                variants.extend([lacking, more, swapped, other]);
            }
            for variant in variants {
                let variant: String = variant.into_iter().collect();
                assert_eq!(did_you_mean(&variant, NAMES), nearest(&variant, &NAMES), "{variant}");
            }
        }
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abcd", "acbd"), 1);
        assert_eq!(edit_distance(&"a".repeat(70), &"a".repeat(65)), 5);
    }
}
