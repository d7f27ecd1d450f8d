//! Which keywords of a schema without values exclude each other.
//!
//! Found by leaving out one after the other for as long as there is no value: what is left is a smallest such set, of several
//! the one whose keywords stand last (A. Zeller, "Yesterday, my program worked. Today, it does not. Why?", 1999, for one at a time).

use larkspur_grammar::json::{JsonDocument, JsonId, JsonMember};

use crate::error::Excluding;

/// Keywords of a schema that are looked at; with more, nothing is said.
const KEYWORDS_MAX: usize = 32;
/// Values of a text that is looked at.
const VALUES_MAX: usize = 5_000;
/// `allOf` within `allOf` whose keywords count as the schema's own.
const NESTED_MAX: usize = 3;

/// The keywords of the schema at `place` that exclude each other; none where that cannot be told with little work. `is_empty` says
/// whether the schema there has no value in a document like this one.
pub(crate) fn contradiction(
    document: &JsonDocument,
    place: JsonId,
    mut is_empty: impl FnMut(&JsonDocument) -> bool,
) -> Vec<Excluding> {
    let mut keywords = Vec::new();
    collect(document, place, NESTED_MAX, &mut keywords);
    if keywords.len() > KEYWORDS_MAX || document.len() > VALUES_MAX {
        return Vec::new();
    }
    let mut left = document.clone();
    // What is said is true of a document that was looked at, not only of the one that another search found to be empty.
    if !is_empty(&left) {
        return Vec::new();
    }
    keywords.retain(|(holder, member)| {
        let mut without = left.clone();
        without.remove_member(*holder, &member.key);
        let is_left_out = is_empty(&without);
        if is_left_out {
            left = without;
        }
        !is_left_out
    });
    let excluding = |(holder, member): (JsonId, JsonMember)| {
        let pointer = (holder != place).then(|| document.pointer(member.value));
        Excluding { member, pointer }
    };
    keywords.into_iter().map(excluding).collect()
}

/// The members of a schema, with those of the schemas of `allOf` in its place.
fn collect(document: &JsonDocument, place: JsonId, nested: usize, keywords: &mut Vec<(JsonId, JsonMember)>) {
    for member in document.object(place).unwrap_or_default() {
        let schemas = document.array(member.value).filter(|schemas| {
            let is_split = member.key == "allOf" && nested > 0;
            is_split && schemas.iter().all(|&schema| document.object(schema).is_some())
        });
        match schemas {
            Some(schemas) => schemas.iter().for_each(|&schema| collect(document, schema, nested - 1, keywords)),
            None => keywords.push((place, member.clone())),
        }
        if keywords.len() > KEYWORDS_MAX {
            return;
        }
    }
}
