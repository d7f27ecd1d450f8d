//! `%regex {…}`: substrings and numbers.

use larkspur_grammar::json::{JsonDocument, JsonId};
use larkspur_grammar::number::{Decimal, NumberError, NumberKind, NumberRange, number_regex};
use larkspur_grammar::substring::{self, substring};
use larkspur_grammar::{RegexId, Span};

use crate::error::LiteralMistake;
use crate::lower::Lowerer;

/// Fields of `%regex {…}` that are shapes of a substring.
const SUBSTRING_FIELDS: &[&str] = &["substring_chunks", "substring_words", "substring_chars"];
const NUMBER_FIELDS: &[&str] = &["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

impl<'a> Lowerer<'a, '_> {
    /// The regex of the JSON value with this index.
    pub(crate) fn regex_json(&mut self, json: usize, span: Span) -> RegexId {
        let ast = self.setting.ast;
        let Some(document) = &ast.json[json].document else { return self.grammar.regexes.nothing() };
        self.regex_document(document, span).unwrap_or_else(|(place, reason)| {
            self.sink.report(place, LiteralMistake::RegexJson { reason });
            self.grammar.regexes.nothing()
        })
    }

    /// Errors: the place and the reason.
    fn regex_document(&mut self, document: &'a JsonDocument, span: Span) -> Result<RegexId, (Span, String)> {
        let root = document.root();
        let Some(members) = document.object(root) else {
            return Err((document.span(root), "`%regex` takes a JSON object".to_string()));
        };
        let kind = document.get(root, "type");
        let allowed: &[&str] = match kind.map(|kind| (kind, document.string(kind))) {
            None => SUBSTRING_FIELDS,
            Some((_, Some("substring"))) => &["chunks", "words", "chars"],
            Some((_, Some("number" | "integer"))) => NUMBER_FIELDS,
            Some((kind, _)) => {
                let reason = "`type` is `\"substring\"`, `\"number\"` or `\"integer\"`";
                return Err((document.span(kind), reason.to_string()));
            }
        };
        if let Some(member) = members.iter().find(|member| &*member.key != "type" && !allowed.contains(&&*member.key)) {
            return Err((
                member.key_span,
                format!("there is no field `{}` here: there are {}", member.key, allowed.join(", ")),
            ));
        }
        if let Some("number" | "integer") = kind.and_then(|kind| document.string(kind)) {
            return self.number_document(document, root, span);
        }
        let fields: Vec<_> = members.iter().filter(|member| &*member.key != "type").collect();
        let [field] = fields.as_slice() else {
            let only = if fields.is_empty() { "" } else { "only " };
            return Err((document.span(root), format!("{only}one of {} is expected", allowed.join(", "))));
        };
        let wrong = |expected: &str| (document.span(field.value), format!("`{}` takes {expected}", field.key));
        let text = document.string(field.value);
        let chunks: Vec<&str> = match (&field.key["substring_".len() * usize::from(kind.is_none())..], text) {
            ("words", Some(text)) => substring::words(text),
            ("chars", Some(text)) => substring::chars(text),
            ("chunks", _) => {
                let items = document.array(field.value).ok_or_else(|| wrong("a list of strings"))?;
                let not_string = |id: &JsonId| (document.span(*id), "a chunk is a string".to_string());
                items.iter().map(|id| document.string(*id).ok_or_else(|| not_string(id))).collect::<Result<_, _>>()?
            }
            _ => return Err(wrong("a string")),
        };
        substring(&chunks, self.setting.limits, &mut self.grammar.regexes).map_err(|error| {
            (
                span,
                format!("this needs up to {} regex nodes, the limit `regex_nodes_max` is {}", error.used, error.limit),
            )
        })
    }

    fn number_document(
        &mut self,
        document: &JsonDocument,
        root: JsonId,
        span: Span,
    ) -> Result<RegexId, (Span, String)> {
        let kind = match document.get(root, "type").and_then(|kind| document.string(kind)) {
            Some("integer") => NumberKind::Integer,
            _ => NumberKind::Number,
        };
        let mut range = NumberRange::all(kind);
        for &field in NUMBER_FIELDS {
            let Some(value) = document.get(root, field) else { continue };
            let place = document.span(value);
            let number = document.number(value).ok_or_else(|| (place, format!("`{field}` takes a number")))?;
            let number = Decimal::parse(number).ok_or_else(|| (place, format!("`{field}` is too long a number")))?;
            range = match field {
                "minimum" => range.at_least(number, false),
                "exclusiveMinimum" => range.at_least(number, true),
                "maximum" => range.at_most(number, false),
                "exclusiveMaximum" => range.at_most(number, true),
                _ => range.multiple_of(number),
            };
        }
        number_regex(&range, self.setting.limits, &mut self.grammar.regexes).map_err(|error| {
            let reason = match error {
                NumberError::Empty => "no number fits these bounds".to_string(),
                NumberError::DivisorNotPositive => "`multipleOf` must be positive".to_string(),
                NumberError::DivisorTooLong => "`multipleOf` has too many digits".to_string(),
                NumberError::TooLarge { limit, used } => {
                    format!("this needs about {used} regex nodes, the limit `regex_nodes_max` is {limit}")
                }
            };
            (span, reason)
        })
    }
}
