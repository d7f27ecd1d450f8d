//! What the regexes of every schema begin with: all strings, all numbers and all scalars as texts, brackets and separators, and
//! the formats that it names.
//!
//! Nearly every schema has them, and to make them takes a third of what a small one takes; `email` takes three times as much as all else.
//! They depend on the spelling and the formats only, so that they are made once for those that are asked for again and again, as
//! a [base](RegexSet::into_base) that each schema has a copy of.

use std::sync::{Arc, Mutex, PoisonError};

use larkspur_grammar::{Diagnostic, Limits, RegexId, RegexSet};
use rustc_hash::FxHashMap;

use crate::formats::{self, Format, Formats};
use crate::number_texts::Extent;
use crate::numbers::{NumberTable, Numbers};
use crate::spelling::{KeyOrder, Separators, Spelling, StringEscapes, UnknownFormat, Whitespace};
use crate::strings::Quoting;
use crate::writing::Writing;

/// Preludes that are kept at most, of less than 1,000 regexes each.
const KEPT_MAX: usize = 32;

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
    /// The texts of formats, which `quoting` knows as strings; without the bound that some have where texts are short anyhow.
    pub formats: FxHashMap<(Format, bool), RegexId>,
}

/// What a prelude depends on.
#[derive(PartialEq)]
struct Wanted {
    formats: Formats,
    spelling: Spelling,
    limits: Limits,
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
    /// That of a spelling, with formats.
    ///
    /// Errors: what is wrong with a regex of the spelling, and the name of the field that holds it.
    pub fn of(
        spelling: &Spelling,
        formats: Formats,
        limits: &Limits,
    ) -> Result<Arc<Prelude>, (&'static str, Vec<Diagnostic>)> {
        // The one that was asked for last is the first.
        static KEPT: Mutex<Vec<(Wanted, Arc<Prelude>)>> = Mutex::new(Vec::new());
        let kept = || KEPT.lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = Wanted { formats, spelling: regexes_of(spelling), limits: limits.clone() };
        let mut known = kept();
        if let Some(at) = known.iter().position(|known| known.0 == wanted) {
            known[..=at].rotate_right(1);
            return Ok(known[0].1.clone());
        }
        drop(known);
        let made = Self::new(spelling, formats, limits)?;
        if regexes_len(spelling) > REGEXES_KEPT_MAX {
            return Ok(Arc::new(made));
        }
        let made = Arc::new(Self { set: made.set.into_base(), ..made });
        let mut known = kept();
        known.insert(0, (wanted, made.clone()));
        known.truncate(KEPT_MAX);
        Ok(made)
    }

    fn new(spelling: &Spelling, formats: Formats, limits: &Limits) -> Result<Self, (&'static str, Vec<Diagnostic>)> {
        let mut set = RegexSet::new();
        let writing = Writing::new(spelling);
        let mut numbers = NumberTable::new();
        let mut quoting = Quoting::new(writing.escapes);
        let any_text = set.any_text();
        let string = quoting.string(&mut set, any_text);
        let number = numbers.texts(Numbers::ALL, writing.numbers, Extent::All, &mut set);
        numbers.texts(Numbers::INTEGERS, writing.numbers, Extent::All, &mut set);
        let [null, no, yes] = [&b"null"[..], b"false", b"true"].map(|word| set.literal(word));
        set.or(&[no, yes]);
        set.or(&[null, no, yes, number, string]);
        let separators = spelling.separators(&mut set, limits)?;
        let marks = MarkTexts::new(&mut set, &separators);
        let mut known = FxHashMap::default();
        for format in formats.iter() {
            let texts = formats::regex(&mut set, format, false);
            set.note_text(texts);
            quoting.string(&mut set, texts);
            known.insert((format, false), texts);
        }
        Ok(Self { set, numbers, quoting, any_text, separators, marks, formats: known })
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

#[cfg(test)]
mod tests {
    use larkspur_grammar::index::Id;
    use larkspur_grammar::json::parse_json;
    use larkspur_grammar::{Limits, SourceId};

    use super::Prelude;
    use crate::emptiness::Search;
    use crate::formats::{self, Formats, NAMES};
    use crate::spelling::Spelling;

    /// The prelude of a schema that names all formats there are.
    fn with_all() -> Prelude {
        let names: Vec<String> = NAMES.iter().map(|name| format!("{{\"format\": \"{name}\"}}")).collect();
        let text = format!("{{\"format\": 1, \"anyOf\": [{}]}}", names.join(","));
        let document = parse_json(SourceId(0), &text, &Limits::default()).expect("it is well-formed");
        Prelude::new(&Spelling::generator(), Formats::named_in(&document), &Limits::default()).expect("no regexes")
    }

    #[test]
    fn formats_of_a_prelude_are_those_that_are_read_and_have_texts_as_is_noted() {
        let Prelude { mut set, formats, .. } = with_all();
        assert_eq!(formats.len(), 20);
        for (&(format, is_short), &texts) in &formats {
            assert_eq!(formats::regex(&mut set, format, is_short), texts, "{format:?}");
            // In a table where nothing is noted.
            let mut other = larkspur_grammar::RegexSet::new();
            let texts = formats::regex(&mut other, format, is_short);
            assert_eq!(Search::default().is_empty(&other, texts), Some(false), "{format:?}");
        }
    }

    #[test]
    fn what_any_value_may_be_is_in_the_prelude() {
        let limits = Limits::default();
        let mut sources = larkspur_grammar::SourceMap::new();
        let id = sources.add("", "{}");
        let whole = sources.whole(id);
        let parsed = crate::compile(&mut sources, whole, &crate::SchemaOptions::new(&limits));
        let grammar = parsed.grammar.expect("it has values");
        let len = grammar.regexes.base().expect("there is a prelude").len;
        let of_scalars = grammar.terminals.iter().find(|terminal| terminal.name.starts_with("null or false"));
        assert!(of_scalars.expect("scalars are one terminal").regex.index() < len);
    }

    #[test]
    fn a_prelude_is_small() {
        assert!(with_all().set.len() < 1_000, "{}", with_all().set.len());
    }

    #[test]
    fn spellings_and_formats_have_preludes_of_their_own() {
        let limits = Limits::default();
        let of = |text: &str, spelling: &Spelling| {
            let document = parse_json(SourceId(0), text, &limits).expect("it is well-formed");
            Prelude::of(spelling, Formats::named_in(&document), &limits).expect("no regexes")
        };
        let (one, two) = (Spelling::generator(), Spelling::validator());
        let dates = of(r#"{"format": "date"}"#, &one);
        assert_eq!(dates.formats.len(), 1);
        assert_eq!(of(r#"{"format": "date"}"#, &one).set.base(), dates.set.base());
        assert_ne!(of(r#"{"format": "date"}"#, &two).set.base(), dates.set.base());
        assert_ne!(of(r#"{"format": "time"}"#, &one).set.base(), dates.set.base());
        assert!(of(r#"{"title": "date"}"#, &one).formats.is_empty());
    }
}
