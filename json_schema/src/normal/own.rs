//! What the keywords of a schema say of its own values, without the schemas in its place.

use larkspur_grammar::json::JsonId;
use larkspur_grammar::number::{Decimal, NumberKind, NumberRange};
use larkspur_grammar::{Dialect, RegexId, RegexOptions, parse_regex};

use super::Normalizer;
use crate::ast::{Keywords, Limit, PatternProperty, Types};
use crate::error::{ABOVE_ZERO, Mistake};
use crate::formats::{self, Meaning};
use crate::ir::Shape;
use crate::numbers::{COUNT_MAX, DIGITS_MAX, Numbers, RangeError};
use crate::patterns::{forgive, open_count};
use crate::spelling::UnknownFormat;
use crate::{arrays, objects};

impl<'a> Normalizer<'a> {
    pub(super) fn own_shape(&mut self, keywords: &Keywords, names: Option<RegexId>) -> Shape {
        let types = keywords.types.unwrap_or(Types::ALL);
        let mut shape = self.own_scalars(keywords);
        if types.has(Types::ARRAY) {
            shape.arrays = arrays::from_keywords(self, keywords).into_iter().collect();
        }
        if types.has(Types::OBJECT) {
            shape.objects = objects::from_keywords(self, keywords, names).into_iter().collect();
        }
        shape
    }

    pub(super) fn own_scalars(&mut self, keywords: &Keywords) -> Shape {
        let types = keywords.types.unwrap_or(Types::ALL);
        let mut shape = self.no_shape();
        shape.null = types.has(Types::NULL);
        shape.truth = [types.has(Types::BOOLEAN); 2];
        if types.has(Types::INTEGER) {
            shape.integers = self.own_numbers(keywords, types.has(Types::NUMBER));
            let by_spelling = self.has_any_spelling && keywords.integers_by_spelling && !types.has(Types::NUMBER);
            shape.numbers = if by_spelling { Numbers::NONE } else { shape.integers };
        }
        if types.has(Types::STRING) {
            shape.strings = self.own_strings(keywords);
        } else {
            self.check_format(keywords);
        }
        shape
    }

    fn own_numbers(&mut self, keywords: &Keywords, fractions: bool) -> Numbers {
        let kind = if fractions { NumberKind::Number } else { NumberKind::Integer };
        let mut range = NumberRange::all(kind);
        for limit in &keywords.minimum {
            if self.is_written_out(limit) {
                range = range.at_least(limit.value.clone(), limit.exclusive);
            }
        }
        for limit in &keywords.maximum {
            if self.is_written_out(limit) {
                range = range.at_most(limit.value.clone(), limit.exclusive);
            }
        }
        if let Some((divisor, _)) = &keywords.multiple_of {
            range = range.multiple_of(divisor.clone());
        }
        let numbers = match range == NumberRange::all(kind) {
            true if fractions => Numbers::ALL,
            true => Numbers::INTEGERS,
            false => self.range(keywords, range),
        };
        let Some(Meaning::Integers { low, high }) = self.format_name(keywords).map(formats::meaning) else {
            return numbers;
        };
        let bound = |text: &str| Decimal::parse(text).expect("a number");
        let range = NumberRange::all(NumberKind::Integer).at_least(bound(low), false).at_most(bound(high), false);
        let bounded = self.range(keywords, range);
        self.numbers.and(numbers, bounded)
    }

    /// Whether a bound has not too many digits, which is otherwise reported.
    fn is_written_out(&mut self, limit: &Limit) -> bool {
        let is_short = limit.value.digits().len() as i64 <= DIGITS_MAX;
        if !is_short {
            let reason = "a bound of over 10,000 digits is not written out".to_owned();
            self.sink.report(limit.place, Mistake::Refused { keyword: limit.keyword, reason });
        }
        is_short
    }

    fn range(&mut self, keywords: &Keywords, range: NumberRange) -> Numbers {
        let wider = if range.kind == NumberKind::Integer { Numbers::INTEGERS } else { Numbers::ALL };
        let without_divisor = NumberRange { multiple_of: None, ..range.clone() };
        match self.numbers.range(range, &mut self.set, self.limits) {
            Ok(numbers) => numbers,
            Err(error) => {
                let bound = keywords.minimum.first().or(keywords.maximum.first());
                let divisor = keywords.multiple_of.as_ref().map(|(_, place)| (*place, "multipleOf"));
                let place = divisor.or(bound.map(|limit| (limit.place, limit.keyword)));
                let (place, keyword) = place.unwrap_or((self.document.root(), "multipleOf"));
                let mistake = match error {
                    RangeError::NotPositive => Mistake::KeywordValue { keyword, expected: ABOVE_ZERO, hint: None },
                    RangeError::DivisorTooLarge => Mistake::Refused {
                        keyword,
                        reason: "remainders are computed in 64 bits, and its digits are too many".to_owned(),
                    },
                    RangeError::TooLarge { limit } => Mistake::Limit {
                        what: "a number written out",
                        limit: "regex_nodes_max",
                        value: limit as u64,
                        demand: None,
                    },
                };
                self.sink.report(place, mistake);
                if !self.sink.lenient {
                    return Numbers::NONE;
                }
                // The bounds can be enforced all the same.
                self.numbers.range(without_divisor, &mut self.set, self.limits).unwrap_or(wider)
            }
        }
    }

    fn format_name(&self, keywords: &Keywords) -> Option<&'a str> {
        keywords.format.filter(|_| !self.format_annotation).and_then(|place| self.document.string(place))
    }

    /// Says of a format that it is unknown.
    fn check_format(&mut self, keywords: &Keywords) {
        if let (Some(name), Some(place)) = (self.format_name(keywords), keywords.format)
            && formats::meaning(name) == Meaning::Unknown
        {
            let is_error = self.unknown_format == UnknownFormat::Error && !self.sink.lenient;
            self.sink.report(place, Mistake::FormatUnknown { format: name.to_owned(), is_error });
        }
    }

    /// The language of the schema's `format`, if it says something of texts.
    fn format(&mut self, keywords: &Keywords) -> Option<RegexId> {
        let name = self.format_name(keywords)?;
        match formats::meaning(name) {
            Meaning::Unknown => {
                self.check_format(keywords);
                None
            }
            Meaning::Text(format) => {
                let bound = keywords.max_length.map(|(max, _)| max);
                let is_short = bound.zip(formats::short_length(format)).is_some_and(|(max, short)| max <= short);
                if let Some(&known) = self.formats.get(&(format, is_short)) {
                    return Some(known);
                }
                let regex = formats::regex(&mut self.set, format, is_short);
                self.formats.insert((format, is_short), regex);
                Some(regex)
            }
            Meaning::Integers { .. } | Meaning::Nothing => None,
        }
    }

    fn own_strings(&mut self, keywords: &Keywords) -> RegexId {
        let format = self.format(keywords).unwrap_or(self.any_text);
        let pattern = keywords.pattern.map_or(self.any_text, |place| self.pattern(place, None));
        let strings = self.and_text(format, pattern);
        let lengths = self.own_lengths(keywords, strings);
        self.and_text(strings, lengths)
    }

    /// The texts that `minLength` and `maxLength` allow; a bound that holds for all of `strings` is left out.
    fn own_lengths(&mut self, keywords: &Keywords, strings: RegexId) -> RegexId {
        // Lengths in bytes, which are at least as many as the characters and at most four times as many.
        let info = self.set.info(strings);
        let min = keywords.min_length.filter(|&(min, _)| info.len_min.div_ceil(4) < min);
        let max = keywords.max_length.filter(|&(max, _)| info.len_max.is_none_or(|len| len > max));
        if min.is_none() && max.is_none() {
            return self.any_text;
        }
        if let (Some((min, _)), Some((max, _))) = (min, max)
            && max < min
        {
            return self.set.nothing();
        }
        let mut narrow = |bound: Option<(u64, JsonId)>, keyword: &'static str| {
            let (count, place) = bound?;
            let count = u32::try_from(count).ok().filter(|&count| count <= COUNT_MAX);
            if count.is_none() {
                self.sink.report(place, Mistake::CountTooLarge { keyword });
            }
            count
        };
        let (min, max) = (narrow(min, "minLength").unwrap_or(0), narrow(max, "maxLength"));
        let any = self.set.any_char();
        self.set.repeat(any, min, max)
    }

    /// The language of a key of `patternProperties`.
    pub fn pattern_of_key(&mut self, pattern: &PatternProperty) -> RegexId {
        self.pattern(pattern.object, Some(pattern.member))
    }

    /// Whether certainly no text matches the string, which is a regex.
    pub fn matches_nothing(&mut self, place: JsonId) -> bool {
        let pattern = self.pattern(place, None);
        self.is_nothing(pattern)
    }

    /// The language of a string that is a regex, or of the key of an object's member.
    pub(super) fn pattern(&mut self, place: JsonId, member: Option<usize>) -> RegexId {
        if let Some(&known) = self.patterns.get(&(place, member)) {
            return known;
        }
        let document = self.document;
        let (text, map) = match member {
            None => (document.string(place).unwrap_or_default(), document.string_map(place)),
            Some(member) => {
                let Some(member) = document.object(place).and_then(|members| members.get(member)) else {
                    return self.any_text;
                };
                (&*member.key, document.key_map(member))
            }
        };
        let options = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
        let mut said = Vec::new();
        let parsed = parse_regex(text, &map, &options, self.limits, &mut self.set, &mut said);
        let is_right = parsed.is_ok();
        let regex = parsed.unwrap_or_else(|mut errors| {
            let is_lenient = self.sink.lenient && forgive(&mut errors);
            said.extend(errors);
            // A name of which it is not known whether a pattern has it is one that is not listed.
            if is_lenient && member.is_some() { self.set.nothing() } else { self.any_text }
        });
        let open_count = open_count(text).filter(|_| is_right);
        if let Some(count) = open_count.clone() {
            let members = document.object(place).unwrap_or_default();
            let at = member.and_then(|member| members.get(member)).map_or(place, |member| member.value);
            self.sink.report_within(at, map.span(count.clone()), Mistake::OpenCount { text: text[count].to_owned() });
        }
        if !said.is_empty() || open_count.is_some() {
            self.sink.note_regex(place, member);
        }
        said.into_iter().for_each(|diagnostic| self.sink.push_within(place, diagnostic));
        self.patterns.insert((place, member), regex);
        regex
    }
}
