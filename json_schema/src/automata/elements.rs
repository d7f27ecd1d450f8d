//! The elements that an array has read.

use std::hash::{Hash, Hasher};

use larkspur_grammar::Exceptions;
use larkspur_grammar::hashing::hash_in;
use rustc_hash::FxHasher;

use super::ScalarKind;
use super::json::{Json, JsonKind};

/// The elements so far, where they are compared. Shares memory with the lists it was made from, and knows its hash, so
/// that a state of thousands of elements is hashed at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elements {
    list: imbl::Vector<Json>,
    /// The same as a set, where they must differ; of a [narrowed](Self::narrowed) list a part of that.
    set: imbl::OrdSet<Json>,
    /// The strings among these, in canonical form.
    strings: Exceptions,
    /// The other scalars.
    others: Exceptions,
    /// One is there twice.
    repeats: bool,
    hash: u64,
}

impl Elements {
    pub fn len(&self) -> usize {
        self.list.len()
    }
    pub fn iter(&self) -> impl Iterator<Item = &Json> {
        self.list.iter()
    }
    /// Where they must differ, whether they do not.
    pub fn repeats(&self) -> bool {
        self.repeats
    }
    /// Where they must differ: the elements that another one is compared with.
    pub fn set(&self) -> &imbl::OrdSet<Json> {
        &self.set
    }
    /// Where they must differ: the scalars of a kind.
    pub fn scalars(&self, kind: ScalarKind) -> Exceptions {
        match kind {
            ScalarKind::Strings => self.strings.clone(),
            ScalarKind::Others => self.others.clone(),
            ScalarKind::Both => self.strings.iter().fold(self.others.clone(), |all, string| all.with(string)),
        }
    }
    pub fn value(&self) -> Json {
        Json::new(JsonKind::Array(self.list.iter().cloned().collect()))
    }
    /// Adds an element. Cost: logarithmic.
    pub fn push(&mut self, value: Json, differ: bool) {
        let mut hasher = FxHasher::default();
        (self.hash, &value).hash(&mut hasher);
        self.hash = hash_in(&hasher);
        if differ {
            if let Some(scalar) = value.as_scalar() {
                let of_kind = if ScalarKind::Strings.contains(scalar) { &mut self.strings } else { &mut self.others };
                *of_kind = of_kind.with(scalar);
            }
            self.repeats |= self.set.insert(value.clone()).is_some();
        }
        self.list.push_back(value);
    }
    /// The list for a search that is only about these of its elements: what is open can become no other.
    pub fn narrowed(&self, set: impl IntoIterator<Item = Json>) -> Self {
        Self { set: set.into_iter().collect(), ..self.clone() }
    }
}

impl PartialEq for Elements {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && (self.list.ptr_eq(&other.list) || self.list == other.list)
    }
}

impl Eq for Elements {}

impl Hash for Elements {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.hash);
    }
}
