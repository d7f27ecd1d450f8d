//! Schema text to [`ast`](crate::ast): one schema at a time, when it is first reached.

use compact_str::CompactString;
use larkspur_grammar::diagnostic::{did_you_mean, edit_distance};
use larkspur_grammar::json::{JsonDocument, JsonId, JsonMember, JsonValue};
use larkspur_grammar::number::Decimal;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Keywords, Limit, PatternProperty, Schema, Types};
use crate::draft::{Dialect, Draft};
use crate::error::{AT_LEAST_ONE, Mistake, Sink};
use crate::formats::{self, Meaning};
use crate::hints::Hint;
use crate::numbers::count;
use crate::refs::Resources;

/// Properties that each required name is compared with, before all keys of the document are looked up.
const PROPERTIES_COMPARED_MAX: usize = 64;
/// Required names that are looked for among so many others, of an object at most.
const REQUIRED_NEAR_MAX: usize = 16;
const PROPERTIES_NEAR_MAX: usize = 1_000;
/// Shorter names may well be others, of which one character is too much: `gid` and `guid`.
const SLIP_CHARS_MIN: usize = 4;

struct Parser<'a, 'b, 's> {
    document: &'a JsonDocument,
    resources: &'a Resources,
    dialect: Dialect,
    sink: &'b mut Sink<'s>,
    out: Keywords,
}

/// Reads the schema at `id`. What is wrong with it is reported, and the keyword then left out.
pub(crate) fn parse(document: &JsonDocument, resources: &Resources, id: JsonId, sink: &mut Sink) -> Schema {
    let members = match document.value(id) {
        JsonValue::Bool(_) => return Schema::Bool,
        JsonValue::Object(members) => members,
        _ => {
            let hint = if sink.has_room() { Hint::not_schema(document, id) } else { None };
            sink.report(id, Mistake::NotSchema { found: found(document, id), hint });
            return Schema::Bool;
        }
    };
    let dialect = resources.dialect(document, id);
    let mut parser = Parser { document, resources, dialect, sink, out: Keywords::default() };
    let reference = members.iter().find(|member| &*member.key == "$ref" && document.string(member.value).is_some());
    match reference {
        Some(reference) if !dialect.draft.ref_has_siblings() => {
            parser.out.reference = Some(reference.value);
            parser.beside_reference(members);
        }
        _ => {
            for member in members {
                parser.member(id, member);
            }
            parser.without_effect(id);
            parser.late(id);
        }
    }
    Schema::Keywords(parser.out.into())
}

/// Reads one keyword of the schema at `id`, for the sake of its mistakes.
pub(crate) fn parse_member(
    document: &JsonDocument,
    resources: &Resources,
    id: JsonId,
    member: &JsonMember,
    sink: &mut Sink,
) {
    let dialect = resources.dialect(document, id);
    Parser { document, resources, dialect, sink, out: Keywords::default() }.member(id, member);
}

/// Warns of a document that holds definitions, and says nothing itself.
pub(crate) fn check_definitions(document: &JsonDocument, resources: &Resources, sink: &mut Sink) {
    let dialect = resources.dialect(document, document.root());
    let members = document.object(document.root()).unwrap_or_default();
    let is_definitions = |member: &&JsonMember| ["$defs", "definitions"].contains(&&*member.key);
    let says_something = |member: &JsonMember| {
        dialect.keyword(&member.key).is_some_and(|row| !row.is_annotation) && !is_definitions(&member)
    };
    if members.iter().any(says_something) {
        return;
    }
    let has_some = |member: &&JsonMember| document.object(member.value).is_some_and(|map| !map.is_empty());
    if let Some(member) = members.iter().filter(is_definitions).find(has_some)
        && let Some(row) = dialect.keyword(&member.key)
    {
        let cause = "alone: any value is valid";
        let help = "refer to the definition that is meant: `\"$ref\": \"#/…/…\"`";
        sink.report_at(member.value, member.key_span, Mistake::WithoutEffect { keyword: row.name, cause, help });
    }
}

/// What a keyword takes that names a schema or holds definitions, if its value is something else. `loader` reads the others.
pub(crate) fn name_expects(
    document: &JsonDocument,
    dialect: Dialect,
    keyword: &str,
    value: JsonId,
) -> Option<&'static str> {
    match keyword {
        "$defs" | "definitions" => document.object(value).is_none().then_some("an object"),
        "$id" | "$anchor" | "$dynamicAnchor" => document.string(value).is_none().then_some("a string"),
        "id" if dialect.draft == Draft::Draft4 => document.string(value).is_none().then_some("a string"),
        _ => None,
    }
}

/// A value's type, for a sentence.
fn found(document: &JsonDocument, id: JsonId) -> &'static str {
    match document.type_name(id) {
        "array" => "an array",
        "string" => "a string",
        "number" => "a number",
        other => other,
    }
}

/// Which types a keyword says something of, and a sentence for where `type` has none of these; `None` for keywords of all
/// values and for formats of numbers, which are also written beside `string`.
fn type_of_keyword(document: &JsonDocument, keyword: &str, value: JsonId) -> Option<(Types, &'static str)> {
    Some(match keyword {
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
            (Types::INTEGER, "it says something of numbers only; add `number` to `type`, or leave it out")
        }
        "minLength" | "maxLength" | "pattern" => {
            (Types::STRING, "it says something of strings only; add `string` to `type`, or leave it out")
        }
        "format" if matches!(document.string(value).map(formats::meaning), Some(Meaning::Text(_))) => {
            (Types::STRING, "this format is of strings; add `string` to `type`, or leave it out")
        }
        "prefixItems" | "items" | "additionalItems" | "unevaluatedItems" | "contains" | "minContains"
        | "maxContains" | "minItems" | "maxItems" | "uniqueItems" => {
            (Types::ARRAY, "it says something of arrays only; add `array` to `type`, or leave it out")
        }
        "properties"
        | "patternProperties"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "required"
        | "minProperties"
        | "maxProperties"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies" => (
            Types::OBJECT,
            "it says something of objects only; add `object` to `type`, or put it into the schema of the object that is meant",
        ),
        _ => return None,
    })
}

/// Whether a keyword's value says nothing of any value: what programs write that fill in every field.
fn says_nothing(document: &JsonDocument, value: JsonId) -> bool {
    match document.value(value) {
        JsonValue::Object(members) => members.is_empty(),
        JsonValue::Array(elements) => elements.is_empty(),
        JsonValue::Number(text) => text == "0",
        JsonValue::Null => true,
        JsonValue::Bool(truth) => {
            let is_flag = document.parent(value).is_some_and(|schema| is_flag(document, schema, value));
            truth != is_flag
        }
        JsonValue::String(_) => false,
    }
}

/// Whether a value is that of a keyword which takes a boolean that is no schema.
fn is_flag(document: &JsonDocument, schema: JsonId, value: JsonId) -> bool {
    ["uniqueItems", "exclusiveMinimum", "exclusiveMaximum"].iter().any(|key| document.get(schema, key) == Some(value))
}

/// Whether two longer names are one but for one character, or two that are swapped.
fn differ_by_one(name: &str, other: &str) -> bool {
    let is_long = |name: &str| name.chars().count() >= SLIP_CHARS_MIN;
    is_long(name) && is_long(other) && edit_distance(name, other) == 1
}

/// A name without case, `_` and `-`.
fn folded(name: &str) -> String {
    name.chars().filter(|c| !['_', '-'].contains(c)).flat_map(char::to_lowercase).collect()
}

impl<'a> Parser<'a, '_, '_> {
    fn member(&mut self, schema: JsonId, member: &JsonMember) {
        let (key, value) = (&*member.key, member.value);
        let Some(row) = self.dialect.keyword(key) else {
            let is_mistake = !key.starts_with("x-") && !self.is_used(value) && !self.sink.is_misplaced(schema);
            if is_mistake {
                let draft = self.dialect.draft;
                let mistake = Mistake::KeywordUnknown { keyword: key.into(), draft, hint: None };
                self.sink.report_at(value, member.key_span, mistake);
            }
            return;
        };
        let name = row.name;
        if let Some(expected) = name_expects(self.document, self.dialect, name, value) {
            return self.wrong(name, value, expected);
        }
        if row.is_annotation {
            return;
        }
        match name {
            "$ref" => self.out.reference = self.string(name, value),
            "$dynamicRef" | "$recursiveRef" => self.out.dynamic = self.string(name, value).map(|at| (at, name)),
            "type" => self.types(value),
            "enum" => self.out.enumeration = self.list(name, value).map(|list| (value, list)),
            "const" => self.out.constant = Some(value),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => self.bound(name, value),
            "multipleOf" => self.out.multiple_of = self.decimal(name, value).map(|number| (number, value)),
            "minLength" => self.out.min_length = self.count(name, value).map(|count| (count, value)),
            "maxLength" => self.out.max_length = self.count(name, value).map(|count| (count, value)),
            "pattern" => self.out.pattern = self.string(name, value),
            "format" => self.out.format = self.string(name, value),
            "prefixItems" => self.out.prefix = self.list(name, value).unwrap_or_default(),
            "minItems" => self.out.min_items = self.count(name, value),
            "maxItems" => self.out.max_items = self.count(name, value),
            "uniqueItems" => match self.document.bool(value) {
                Some(unique) => self.out.unique = unique.then_some(value),
                None => self.wrong(name, value, "a boolean"),
            },
            "contains" => self.out.contains = Some(value),
            "minContains" => self.out.min_contains = self.count(name, value),
            "maxContains" => self.out.max_contains = self.count(name, value),
            "unevaluatedItems" => self.out.unevaluated_items = Some(value),
            "properties" => {
                let members = self.object(name, value);
                self.keywords_among_names(members);
                self.out.properties = members.iter().map(|member| (member.key.clone(), member.value)).collect();
            }
            "patternProperties" => {
                let members = self.object(name, value).iter().enumerate();
                let pattern = |(index, member): (usize, &JsonMember)| PatternProperty {
                    member: index,
                    object: value,
                    schema: member.value,
                };
                self.out.patterns = members.map(pattern).collect();
            }
            "additionalProperties" => self.out.additional = Some(value),
            "unevaluatedProperties" => self.out.unevaluated_properties = Some(value),
            "propertyNames" => self.out.names = Some(value),
            // In draft 3 and in careless schemas `required` is a boolean inside a property.
            "required" => match Hint::required(self.document, value) {
                None => self.out.required = self.names(name, value),
                hint => self.wrong_for(name, value, "an array of strings", hint),
            },
            "minProperties" => self.out.min_properties = self.count(name, value),
            "maxProperties" => self.out.max_properties = self.count(name, value),
            "dependentRequired" => {
                for member in self.object(name, value) {
                    let names = self.names(name, member.value);
                    self.out.dependent_required.push((member.key.clone(), names));
                }
            }
            "dependentSchemas" => {
                for member in self.object(name, value) {
                    self.out.dependent_schemas.push((member.key.clone(), member.value));
                }
            }
            "dependencies" => {
                for member in self.object(name, value) {
                    if self.document.array(member.value).is_some() {
                        let names = self.names(name, member.value);
                        self.out.dependent_required.push((member.key.clone(), names));
                    } else {
                        self.out.dependent_schemas.push((member.key.clone(), member.value));
                    }
                }
            }
            "allOf" => self.out.all_of = self.schemas(name, value).unwrap_or_default(),
            "anyOf" => self.out.any_of = self.schemas(name, value),
            "oneOf" => self.out.one_of = self.schemas(name, value).map(|list| (value, list)),
            "not" => self.out.not = Some(value),
            "if" => self.out.condition = Some(value),
            "then" => self.out.then = Some(value),
            "else" => self.out.otherwise = Some(value),
            _ => {}
        }
    }

    /// Whether a value that says nothing where it stands is what a reference leads to, or holds that.
    fn is_used(&self, value: JsonId) -> bool {
        self.resources.is_led_into(self.document, value)
    }

    /// Up to draft 7 `$ref` stands alone: what else says something of values has no effect.
    fn beside_reference(&mut self, members: &[JsonMember]) {
        for member in members {
            let Some(row) = self.dialect.keyword(&member.key) else { continue };
            let has_effect = row.is_annotation || ["$ref", "$defs", "definitions"].contains(&row.name);
            if !has_effect && !self.is_used(member.value) {
                let help = "up to draft 7 `$ref` stands alone; write `\"allOf\": [{\"$ref\": …}]` in its place";
                let mistake = Mistake::WithoutEffect { keyword: row.name, cause: "beside `$ref`", help };
                self.sink.report_at(member.value, member.key_span, mistake);
            }
        }
    }

    /// Keywords that say something only with another one, or only without it.
    fn without_effect(&mut self, id: JsonId) {
        let out = &self.out;
        let (no_contains, no_condition) = (out.contains.is_none(), out.condition.is_none());
        let counted = "it counts the elements that are valid for `contains`; add that";
        let chosen = "it holds by what `if` says; add that";
        let behind = "write `items` for what stands behind `prefixItems`";
        for (keyword, is_idle, cause, help) in [
            ("minContains", out.min_contains.is_some() && no_contains, "without `contains`", counted),
            ("maxContains", out.max_contains.is_some() && no_contains, "without `contains`", counted),
            ("then", out.then.is_some() && no_condition, "without `if`", chosen),
            ("else", out.otherwise.is_some() && no_condition, "without `if`", chosen),
            ("additionalItems", !out.prefix.is_empty(), "beside `prefixItems`", behind),
        ] {
            if is_idle && let Some(member) = self.document.member(id, keyword) {
                self.idle(member, keyword, cause, help);
            }
        }
        self.of_other_types(id);
        self.required_nearly(id);
        let document = self.document;
        // What `if` has evaluated counts for `unevaluatedProperties` and `unevaluatedItems`, here or further out.
        if let (Some(condition), None, None) = (self.out.condition, self.out.then, self.out.otherwise)
            && !says_nothing(document, condition)
            && !self.resources.has_unevaluated(document)
            && let Some(member) = document.member(id, "if")
        {
            self.idle(
                member,
                "if",
                "without `then` and `else`",
                "say what follows from it in `then`; or write `allOf` if it must hold",
            );
        }
        if self.out.prefix.is_empty()
            && document.get(id, "items").is_none_or(|items| document.array(items).is_none())
            && self.dialect.keyword("additionalItems").is_some()
            && let Some(member) = document.member(id, "additionalItems").filter(|it| !says_nothing(document, it.value))
        {
            let help =
                "it is for what stands behind an array of schemas in `items`; one schema there is for all elements";
            self.idle(member, "additionalItems", "without an array in `items`", help);
        }
    }

    /// Warns of a keyword that says nothing where it stands.
    fn idle(&mut self, member: &JsonMember, keyword: &'static str, cause: &'static str, help: &'static str) {
        if !self.is_used(member.value) {
            self.sink.report_at(member.value, member.key_span, Mistake::WithoutEffect { keyword, cause, help });
        }
    }

    /// Keywords of values that `type` beside them leaves out.
    fn of_other_types(&mut self, id: JsonId) {
        let Some(types) = self.out.types.filter(|&types| types != Types(0) && types != Types::ALL) else { return };
        for member in self.document.object(id).unwrap_or_default() {
            let Some(row) = self.dialect.keyword(&member.key) else { continue };
            let Some((of, help)) = type_of_keyword(self.document, row.name, member.value) else { continue };
            if types.0 & of.0 == 0 && !says_nothing(self.document, member.value) {
                self.idle(member, row.name, "beside `type`", help);
            }
        }
    }

    /// Names in `required` that are nearly those of properties, and that stand nowhere else: that are theirs but for case,
    /// `_` and `-`, or one character; but for more where no other property may be there.
    fn required_nearly(&mut self, id: JsonId) {
        let document = self.document;
        if self.out.required.is_empty() || self.out.properties.is_empty() || !self.out.patterns.is_empty() {
            return;
        }
        let Some(required) = document.get(id, "required") else { return };
        let names = document.array(required).unwrap_or_default().iter();
        let names = names.map(|&place| (place, document.string(place).unwrap_or_default()));
        let first = &self.out.properties[..self.out.properties.len().min(PROPERTIES_COMPARED_MAX)];
        let is_nowhere =
            |name: &str| first.iter().all(|(property, _)| property != name) && !self.resources.has_key(document, name);
        let missing: Vec<(JsonId, &str)> = names.filter(|(_, name)| is_nowhere(name)).collect();
        if missing.is_empty() {
            return;
        }
        let required: FxHashSet<&CompactString> = self.out.required.iter().collect();
        let others = || self.out.properties.iter().map(|(name, _)| name).filter(|name| !required.contains(name));
        let same: FxHashMap<String, &CompactString> = others().map(|name| (folded(name), name)).collect();
        let is_closed = document.get(id, "additionalProperties").and_then(|value| document.bool(value)) == Some(false);
        for (index, (place, name)) in missing.into_iter().enumerate() {
            let slip = || {
                let candidates = others().map(CompactString::as_str).take(PROPERTIES_NEAR_MAX);
                did_you_mean(name, candidates).filter(|near| is_closed || differ_by_one(name, near))
            };
            let near = same.get(&folded(name)).map(|near| near.as_str());
            if let Some(near) = near.or_else(|| (index < REQUIRED_NEAR_MAX).then(slip).flatten()) {
                let mistake = Mistake::RequiredNearly { name: name.to_owned(), near: near.to_owned() };
                self.sink.report(place, mistake);
            }
        }
    }

    /// Keywords inside `properties`, where they are names.
    fn keywords_among_names(&mut self, members: &[JsonMember]) {
        for member in members {
            let is_keyword = ["additionalProperties", "unevaluatedProperties"].contains(&&*member.key);
            if is_keyword && self.document.bool(member.value) == Some(false) {
                let mistake = Mistake::KeywordAsName { keyword: member.key.to_string() };
                self.sink.report_at(member.value, member.key_span, mistake);
            }
        }
        // A whole schema: what its own `properties` holds are names, too, and no keywords.
        let has_type = members.iter().any(|member| {
            let is_schema = self.document.object(member.value).is_some() || self.document.bool(member.value).is_some();
            &*member.key == "type" && !is_schema
        });
        if has_type && let Some(inner) = members.iter().find(|member| &*member.key == "properties") {
            self.sink.misplace(inner.value);
        }
    }

    /// Keywords whose meaning hangs on others.
    fn late(&mut self, id: JsonId) {
        let document = self.document;
        if let Some(items) = document.get(id, "items").filter(|_| self.dialect.keyword("items").is_some()) {
            match document.array(items) {
                // An array in `items` is read in all drafts, but not beside what took its place.
                Some(_)
                    if self.dialect.keyword("prefixItems").is_some() && document.get(id, "prefixItems").is_some() =>
                {
                    self.wrong("items", items, "one schema for what stands behind `prefixItems`");
                }
                Some(list) => {
                    self.out.prefix = list.to_vec();
                    self.out.rest = document.get(id, "additionalItems");
                }
                None => self.out.rest = Some(items),
            }
        }
        if self.dialect.draft == Draft::Draft4 {
            let is_true = |key: &str| document.get(id, key).and_then(|value| document.bool(value)) == Some(true);
            if is_true("exclusiveMinimum") {
                self.out.minimum.iter_mut().for_each(|limit| limit.exclusive = true);
            }
            if is_true("exclusiveMaximum") {
                self.out.maximum.iter_mut().for_each(|limit| limit.exclusive = true);
            }
        }
    }

    fn wrong(&mut self, keyword: &'static str, value: JsonId, expected: &'static str) {
        self.wrong_for(keyword, value, expected, Hint::value(self.document, value, expected));
    }

    fn wrong_for(&mut self, keyword: &'static str, value: JsonId, expected: &'static str, hint: Option<Hint>) {
        self.sink.report(value, Mistake::KeywordValue { keyword, expected, hint });
    }

    fn string(&mut self, keyword: &'static str, value: JsonId) -> Option<JsonId> {
        if self.document.string(value).is_none() {
            self.wrong(keyword, value, "a string");
            return None;
        }
        Some(value)
    }

    fn list(&mut self, keyword: &'static str, value: JsonId) -> Option<Vec<JsonId>> {
        let list = self.document.array(value).map(<[JsonId]>::to_vec);
        if list.is_none() {
            self.wrong(keyword, value, "an array");
        }
        list
    }

    fn schemas(&mut self, keyword: &'static str, value: JsonId) -> Option<Vec<JsonId>> {
        let list = self.document.array(value).filter(|list| !list.is_empty()).map(<[JsonId]>::to_vec);
        if list.is_none() {
            self.wrong(keyword, value, AT_LEAST_ONE);
        }
        list
    }

    fn object(&mut self, keyword: &'static str, value: JsonId) -> &'a [JsonMember] {
        let document = self.document;
        match document.object(value) {
            Some(members) => members,
            None => {
                self.wrong(keyword, value, "an object");
                &[]
            }
        }
    }

    fn names(&mut self, keyword: &'static str, value: JsonId) -> Vec<CompactString> {
        let document = self.document;
        let names = document.array(value).map(|list| {
            list.iter()
                .map(|&name| document.string(name).map(CompactString::from))
                .collect::<Option<Vec<CompactString>>>()
        });
        match names.flatten() {
            Some(names) => names,
            None => {
                self.wrong(keyword, value, "an array of strings");
                Vec::new()
            }
        }
    }

    fn decimal(&mut self, keyword: &'static str, value: JsonId) -> Option<Decimal> {
        let number = self.document.number(value).and_then(Decimal::parse);
        if number.is_none() {
            self.wrong(keyword, value, "a number (with an exponent within 10^17)");
        }
        number
    }

    fn count(&mut self, keyword: &'static str, value: JsonId) -> Option<u64> {
        let number = self.document.number(value).and_then(count);
        if number.is_none() {
            self.wrong(keyword, value, "a whole number from 0 up");
        }
        number
    }

    fn bound(&mut self, keyword: &'static str, value: JsonId) {
        let exclusive = keyword.starts_with("exclusive");
        if exclusive && let Some(hint) = Hint::exclusive(self.document, value, keyword) {
            // Draft 4: whether `minimum` itself is outside.
            if self.dialect.draft != Draft::Draft4 {
                self.wrong_for(keyword, value, "a number", Some(hint));
            }
            return;
        }
        if exclusive && self.dialect.draft == Draft::Draft4 && self.document.number(value).is_none() {
            return self.wrong(keyword, value, "a boolean");
        }
        if exclusive && self.dialect.draft == Draft::Draft4 {
            let bound = self.document.number(value).unwrap_or_default().to_owned();
            self.sink.report(value, Mistake::ExclusiveNumber { keyword, bound });
        }
        if let Some(number) = self.decimal(keyword, value) {
            let limit = Limit { value: number, exclusive, place: value, keyword };
            if keyword.ends_with("inimum") { self.out.minimum.push(limit) } else { self.out.maximum.push(limit) }
        }
    }

    fn types(&mut self, value: JsonId) {
        let document = self.document;
        let names = document.array(value).unwrap_or(std::slice::from_ref(&value));
        let mut types = Types(0);
        for &name in names {
            match document.string(name).and_then(Types::named) {
                Some(named) => types = types.with(named),
                None => {
                    self.sink.report(name, Mistake::TypeUnknown { hint: Hint::type_(document, name) });
                    // The other keywords count, so that what is wrong with them is said, too.
                    types = Types::ALL;
                }
            }
        }
        self.out.types = Some(types);
        self.out.integers_by_spelling = self.dialect.draft == Draft::Draft4;
    }
}
