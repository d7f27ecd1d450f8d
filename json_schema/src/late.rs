//! Warnings, put into words when somebody asks for them: few do, and to find the keyword that an unknown one may be meant for
//! takes longer than to read the schema around it.

use compact_str::CompactString;
use larkspur_grammar::diagnostic::{DiagnosticList, did_you_mean};
use larkspur_grammar::json::{JsonDocument, JsonId};
use larkspur_grammar::{Diagnostic, Limits, Severity, Span};

use crate::draft::{Draft, KEYWORDS};
use crate::error::Mistake;
use crate::hints::Hint;

/// Warnings of a schema that has no errors, with the JSON that they speak of.
#[derive(Clone, Debug)]
pub struct LateWarnings {
    document: JsonDocument,
    list: LateList,
}

impl LateWarnings {
    pub(crate) fn new(mut document: JsonDocument, list: LateList) -> Self {
        document.shrink();
        Self { document, list }
    }
    /// The warnings in words, in the order of the text. Cost: some microseconds each.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.list.clone().say(&self.document)
    }
}

/// Something that is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Found {
    pub place: JsonId,
    pub span: Span,
    pub mistake: Mistake,
    /// Why it is no error.
    pub forgiven: Option<&'static str>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Warning {
    Found(Found),
    Said(Diagnostic),
}

/// The diagnostics of one run, of which the warnings are still to be put into words. Past `limits.diagnostics_max` of either they
/// are only counted.
#[derive(Clone, Debug)]
pub(crate) struct LateList {
    /// The errors, and the number of what is left out.
    list: DiagnosticList,
    warnings: Vec<Warning>,
    limit: usize,
}

impl LateList {
    pub fn new(limits: &Limits) -> Self {
        Self { list: DiagnosticList::new(limits), warnings: Vec::new(), limit: limits.diagnostics_max.max(1) }
    }
    /// Adds an error; whether there was room for it.
    pub fn error(&mut self, found: Found, document: &JsonDocument) -> bool {
        // Before the pointer is looked for, which takes as long as the objects around the place are large.
        if self.list.skips_error() {
            return false;
        }
        self.list.push_new(Words::new(document).of(found));
        true
    }
    /// Adds a warning that may have been added before; whether there was room for it.
    pub fn warn(&mut self, found: Found) -> bool {
        self.add(Warning::Found(found))
    }
    /// Adds what another reader said.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.is_error() {
            self.list.push_new(diagnostic);
        } else {
            self.add(Warning::Said(diagnostic));
        }
    }
    fn add(&mut self, warning: Warning) -> bool {
        let has_room = self.warnings.len() < self.limit;
        if !has_room {
            self.list.leave_out();
        } else if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
        has_room
    }
    /// Whether another error would be kept.
    pub fn has_room(&self) -> bool {
        self.list.has_room()
    }
    pub fn has_errors(&self) -> bool {
        !self.list.errors().is_empty()
    }
    pub fn has_warnings(&self) -> bool {
        !self.warnings.is_empty()
    }
    /// All in words, in the order of the text.
    pub fn say(self, document: &JsonDocument) -> Vec<Diagnostic> {
        let Self { mut list, warnings, .. } = self;
        let mut words = Words::new(document);
        for warning in warnings {
            list.push_new(match warning {
                Warning::Found(found) => words.of(found),
                Warning::Said(diagnostic) => diagnostic,
            });
        }
        list.finish("J099")
    }
}

/// What puts mistakes into words.
struct Words<'a> {
    document: &'a JsonDocument,
    /// The unknown keyword that was met last, and the one that may be meant: schemas have the same one often.
    last_near: (CompactString, Option<&'static str>),
}

impl<'a> Words<'a> {
    fn new(document: &'a JsonDocument) -> Self {
        Self { document, last_near: (CompactString::default(), None) }
    }

    fn of(&mut self, Found { place, span, mut mistake, forgiven }: Found) -> Diagnostic {
        if let Mistake::KeywordUnknown { keyword, draft, hint } = &mut mistake {
            *hint = self.meant(place, keyword, *draft);
        }
        let is_warning = mistake.is_warning();
        let mut diagnostic = mistake.diagnostic(span, &self.document.pointer(place));
        debug_assert_eq!(is_warning, !diagnostic.is_error());
        if let Some(reason) = forgiven {
            diagnostic.severity = Severity::Warning;
            diagnostic.message.push_str("; ");
            diagnostic.message.push_str(reason);
        }
        diagnostic
    }

    /// What is probably meant by an unknown keyword, whose value is at `place`.
    fn meant(&mut self, place: JsonId, keyword: &str, draft: Draft) -> Option<Hint> {
        let is_root = self.document.parent(place) == Some(self.document.root());
        Hint::of_draft(keyword, draft)
            .or_else(|| Hint::unknown(self.document, place, keyword, is_root))
            .or_else(|| self.near(keyword).map(Hint::Name))
    }

    /// The keyword that an unknown one may be a slip for.
    fn near(&mut self, unknown: &str) -> Option<&'static str> {
        if self.last_near.0 != unknown {
            let is_known = KEYWORDS.iter().any(|row| row.name == unknown);
            let names = KEYWORDS.iter().map(|row| row.name);
            let near = if is_known { None } else { did_you_mean(unknown, names) };
            self.last_near = (unknown.into(), near);
        }
        self.last_near.1
    }
}
