//! What the regexes of every schema begin with: all strings and all numbers as texts, brackets and separators.
//!
//! Nearly every schema has them, and to make them takes a third of what a small one takes. They depend on the spelling only, so
//! that they are made once for those that are asked for again and again, as a [base](RegexSet::into_base) that each schema has a
//! copy of.

use std::sync::{Arc, Mutex, PoisonError};

use larkspur_grammar::{Diagnostic, Limits, RegexId, RegexSet};

use crate::number_texts::Extent;
use crate::numbers::{NumberTable, Numbers};
use crate::spelling::{KeyOrder, Separators, Spelling, StringEscapes, UnknownFormat, Whitespace};
use crate::strings::Quoting;
use crate::writing::Writing;

/// Spellings whose preludes are kept at most.
const KEPT_MAX: usize = 8;

/// Bytes of regexes in a spelling whose prelude is kept, at most: a schema may bring any.
const REGEXES_KEPT_MAX: usize = 256;

/// Regexes, and what is known of them.
#[derive(Debug)]
pub(crate) struct Prelude {
    pub set: RegexSet,
    pub numbers: NumberTable,
    pub quoting: Quoting,
    /// All texts.
    pub any_text: RegexId,
    pub separators: Separators,
    pub marks: MarkTexts,
}

/// Brackets and separators, with the white space that may stand there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkTexts {
    pub open_brace: RegexId,
    pub close_brace: RegexId,
    pub close_empty_brace: RegexId,
    pub open_bracket: RegexId,
    pub close_bracket: RegexId,
    pub close_empty_bracket: RegexId,
    pub comma: RegexId,
    pub colon: RegexId,
}

impl Prelude {
    /// That of a spelling.
    ///
    /// Errors: what is wrong with a regex of the spelling, and the name of the field that holds it.
    pub fn of(spelling: &Spelling, limits: &Limits) -> Result<Arc<Prelude>, (&'static str, Vec<Diagnostic>)> {
        // The one that was asked for last is the first.
        static KEPT: Mutex<Vec<(Spelling, Limits, Arc<Prelude>)>> = Mutex::new(Vec::new());
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = regexes_of(spelling);
        let position =
            |kept: &[(Spelling, Limits, _)]| kept.iter().position(|known| known.0 == wanted && known.1 == *limits);
        let mut known = kept();
        if let Some(at) = position(&known) {
            known[..=at].rotate_right(1);
            return Ok(known[0].2.clone());
        }
        drop(known);
        let made = Self::new(spelling, limits)?;
        if regexes_len(spelling) > REGEXES_KEPT_MAX {
            return Ok(Arc::new(made));
        }
        let made = Arc::new(Self { set: made.set.into_base(), ..made });
        let mut known = kept();
        known.insert(0, (wanted, limits.clone(), made.clone()));
        known.truncate(KEPT_MAX);
        Ok(made)
    }

    fn new(spelling: &Spelling, limits: &Limits) -> Result<Self, (&'static str, Vec<Diagnostic>)> {
        let mut set = RegexSet::new();
        let writing = Writing::new(spelling);
        let mut numbers = NumberTable::new();
        let mut quoting = Quoting::new(writing.escapes);
        let any_text = set.any_text();
        quoting.string(&mut set, any_text);
        for all in [Numbers::ALL, Numbers::INTEGERS] {
            numbers.texts(all, writing.numbers, Extent::All, &mut set);
        }
        let separators = spelling.separators(&mut set, limits)?;
        let marks = MarkTexts::new(&mut set, &separators);
        Ok(Self { set, numbers, quoting, any_text, separators, marks })
    }
}

impl MarkTexts {
    fn new(set: &mut RegexSet, separators: &Separators) -> Self {
        let Separators { space, item, key, .. } = *separators;
        let [left_brace, right_brace, left_bracket, right_bracket] =
            [b"{", b"}", b"[", b"]"].map(|mark| set.literal(mark));
        Self {
            open_brace: set.concat(&[left_brace, space]),
            close_brace: set.concat(&[space, right_brace]),
            close_empty_brace: right_brace,
            open_bracket: set.concat(&[left_bracket, space]),
            close_bracket: set.concat(&[space, right_bracket]),
            close_empty_bracket: right_bracket,
            comma: set.concat(&[space, item, space]),
            colon: set.concat(&[space, key, space]),
        }
    }
}

/// Bytes of what is written in a spelling.
fn regexes_len(spelling: &Spelling) -> usize {
    let Spelling { whitespace, item_separator, key_separator, string_escapes, .. } = spelling;
    let written = [
        item_separator.as_ref(),
        key_separator.as_ref(),
        if let Whitespace::Pattern(text) = whitespace { Some(text) } else { None },
        if let StringEscapes::Chosen { letters, .. } = string_escapes { Some(letters) } else { None },
    ];
    written.into_iter().flatten().map(String::len).sum()
}

/// The spelling as far as regexes depend on it.
fn regexes_of(spelling: &Spelling) -> Spelling {
    Spelling {
        key_order: KeyOrder::default(),
        unique_keys: true,
        unknown_format: UnknownFormat::default(),
        lenient: false,
        ..spelling.clone()
    }
}
