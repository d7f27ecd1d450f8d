//! The tokens of a model in a `tokenizer.json`.

use std::fmt;

use rustc_hash::FxHashMap;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::vocabulary::TokenId;

/// Ids by name: written as an object (BPE, WordPiece, WordLevel), or as an array of names with scores, in the order of
/// their ids (Unigram).
pub(super) struct Pieces(pub FxHashMap<String, TokenId>);

impl<'de> Deserialize<'de> for Pieces {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PiecesVisitor)
    }
}

struct PiecesVisitor;

impl<'de> Visitor<'de> for PiecesVisitor {
    type Value = Pieces;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of ids by token, or an array of tokens with scores")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pieces, A::Error> {
        let mut pieces = FxHashMap::default();
        while let Some((name, id)) = map.next_entry::<String, TokenId>()? {
            pieces.insert(name, id);
        }
        Ok(Pieces(pieces))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Pieces, A::Error> {
        let mut pieces = FxHashMap::default();
        let mut id = 0;
        while let Some((name, _score)) = list.next_element::<(String, IgnoredAny)>()? {
            pieces.insert(name, id);
            id += 1;
        }
        Ok(Pieces(pieces))
    }
}
