//! The algebra of shapes: intersection, union, complement.

use larkspur_grammar::json::JsonId;
use larkspur_grammar::{RegexId, RegexNode};

use crate::arrays;
use crate::error::Mistake;
use crate::ir::{ANY, ArrayId, ArraySpec, NEVER, NodeId, ObjectId, ObjectSpec, Shape, ShapeId};
use crate::normal::Normalizer;
use crate::numbers::Numbers;
use crate::objects;

impl Normalizer<'_> {
    /// Every value.
    pub fn any_shape(&mut self) -> Shape {
        let array = self.any_array();
        let object = self.any_object();
        Shape {
            null: true,
            truth: [true; 2],
            numbers: Numbers::ALL,
            strings: self.any_text,
            arrays: [array].into(),
            objects: [object].into(),
        }
    }
    /// No value.
    pub fn no_shape(&mut self) -> Shape {
        Shape {
            null: false,
            truth: [false; 2],
            numbers: Numbers::NONE,
            strings: self.set.nothing(),
            arrays: [].into(),
            objects: [].into(),
        }
    }
    pub fn any_array(&mut self) -> ArrayId {
        self.ir.arrays.intern(ArraySpec { prefix: [].into(), rest: ANY, min: 0, max: None, some: [].into() })
    }
    pub fn any_object(&mut self) -> ObjectId {
        let cells = [(self.any_text, ANY)].into();
        self.ir.objects.intern(ObjectSpec { named: [].into(), cells, min: 0, max: None, some: [].into() })
    }

    /// Values of both.
    pub fn and_shapes(&mut self, a: ShapeId, b: ShapeId, origin: JsonId) -> ShapeId {
        if a == b {
            return a;
        }
        let (a, b) = (self.ir.shapes.get(a).clone(), self.ir.shapes.get(b).clone());
        let any_array = self.any_array();
        let arrays = self.product(&a.arrays, &b.arrays, |this, x, y| match (x == any_array, y == any_array) {
            (true, _) => Some(y),
            (_, true) => Some(x),
            _ => this.and_arrays(x, y, origin),
        });
        let any_object = self.any_object();
        let objects = self.product(&a.objects, &b.objects, |this, x, y| match (x == any_object, y == any_object) {
            (true, _) => Some(y),
            (_, true) => Some(x),
            _ => this.and_objects(x, y, origin),
        });
        let objects = objects::absorbed(self, &objects);
        let shape = Shape {
            null: a.null && b.null,
            truth: [a.truth[0] && b.truth[0], a.truth[1] && b.truth[1]],
            numbers: self.numbers.and(a.numbers, b.numbers),
            strings: self.and_text(a.strings, b.strings),
            arrays,
            objects,
        };
        self.ir.shapes.intern(shape)
    }

    /// Values of either.
    pub fn or_shapes(&mut self, shapes: &[ShapeId]) -> ShapeId {
        let mut all = self.no_shape();
        let (mut arrays, mut objects, mut strings, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &shape in shapes {
            let shape = self.ir.shapes.get(shape).clone();
            self.charge(1 + shape.arrays.len() as u64 + shape.objects.len() as u64);
            all.null |= shape.null;
            all.truth = [all.truth[0] || shape.truth[0], all.truth[1] || shape.truth[1]];
            numbers.push(shape.numbers);
            strings.push(shape.strings);
            arrays.extend(shape.arrays);
            objects.extend(shape.objects);
        }
        all.numbers = self.numbers.union(&numbers);
        all.strings = if strings.contains(&self.any_text) { self.any_text } else { self.set.or(&strings) };
        let any_array = self.any_array();
        all.arrays = self.alternatives(arrays, any_array);
        let any_object = self.any_object();
        all.objects = self.alternatives(objects, any_object);
        self.ir.shapes.intern(all)
    }

    /// All other values.
    ///
    /// Errors: what cannot be said of arrays and objects, as the end of a sentence.
    pub fn not_shape(&mut self, shape: ShapeId, origin: JsonId) -> Result<ShapeId, String> {
        let shape = self.ir.shapes.get(shape).clone();
        let any_array = self.any_array();
        let mut arrays: Box<[ArrayId]> = [any_array].into();
        for &array in &shape.arrays {
            let others = arrays::complement(self, array, origin)?;
            arrays = self.product(&arrays, &others, |this, x, y| match (x == any_array, y == any_array) {
                (true, _) => Some(y),
                (_, true) => Some(x),
                _ => this.and_arrays(x, y, origin),
            });
        }
        let any_object = self.any_object();
        let mut objects: Box<[ObjectId]> = [any_object].into();
        for &object in &shape.objects {
            let others = objects::complement(self, object, origin);
            objects = self.product(&objects, &others, |this, x, y| match (x == any_object, y == any_object) {
                (true, _) => Some(y),
                (_, true) => Some(x),
                _ => this.and_objects(x, y, origin),
            });
            objects = objects::absorbed(self, &objects);
        }
        let not = Shape {
            null: !shape.null,
            truth: [!shape.truth[0], !shape.truth[1]],
            numbers: self.numbers.not(shape.numbers),
            strings: self.not_text(shape.strings),
            arrays,
            objects,
        };
        Ok(self.ir.shapes.intern(not))
    }

    /// Every way of the one with every way of the other.
    fn product<T: Copy + Eq + std::hash::Hash>(
        &mut self,
        a: &[T],
        b: &[T],
        mut and: impl FnMut(&mut Self, T, T) -> Option<T>,
    ) -> Box<[T]> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut out = Vec::new();
        for &x in a {
            for &y in b {
                if !self.charge(1) || self.has_too_many(out.len()) {
                    return out.into();
                }
                out.extend(and(self, x, y).filter(|&both| seen.insert(both)));
            }
        }
        out.into()
    }

    /// Each way once; `any` alone if it is among them.
    fn alternatives<T: Copy + Eq + std::hash::Hash>(&mut self, ways: Vec<T>, any: T) -> Box<[T]> {
        if ways.contains(&any) {
            return [any].into();
        }
        let mut seen = rustc_hash::FxHashSet::default();
        let out: Vec<T> = ways.into_iter().filter(|&way| seen.insert(way)).collect();
        self.has_too_many(out.len());
        out.into()
    }

    fn and_arrays(&mut self, a: ArrayId, b: ArrayId, origin: JsonId) -> Option<ArrayId> {
        if a == b {
            return Some(a);
        }
        let (a, b) = (self.ir.arrays.get(a).clone(), self.ir.arrays.get(b).clone());
        let len = a.prefix.len().max(b.prefix.len());
        self.charge(len as u64);
        let at = |spec: &ArraySpec, index: usize| spec.prefix.get(index).copied().unwrap_or(spec.rest);
        let prefix: Vec<NodeId> = (0..len).map(|index| self.ir.all(&[at(&a, index), at(&b, index)], origin)).collect();
        let rest = self.ir.all(&[a.rest, b.rest], origin);
        let max = a.max.into_iter().chain(b.max).min();
        let some: Vec<NodeId> = a.some.iter().chain(&b.some).copied().collect();
        arrays::spec(self, prefix, rest, a.min.max(b.min), max, some)
    }

    fn and_objects(&mut self, a: ObjectId, b: ObjectId, origin: JsonId) -> Option<ObjectId> {
        if a == b {
            return Some(a);
        }
        let (a, b) = (self.ir.objects.get(a).clone(), self.ir.objects.get(b).clone());
        objects::intersection(self, &a, &b, origin)
    }

    /// Texts of both.
    pub fn and_text(&mut self, a: RegexId, b: RegexId) -> RegexId {
        match (a == self.any_text, b == self.any_text) {
            (true, _) => b,
            (_, true) => a,
            _ => self.set.and(&[a, b]),
        }
    }
    /// Texts that are not in the language.
    pub fn not_text(&mut self, a: RegexId) -> RegexId {
        if a == self.any_text {
            self.set.nothing()
        } else if *self.set.node(a) == RegexNode::Nothing {
            self.any_text
        } else {
            self.set.complement(a)
        }
    }
    /// Whether the language certainly has no text.
    pub fn is_nothing(&mut self, regex: RegexId) -> bool {
        self.search.is_empty(&mut self.set, regex) == Some(true)
    }
    /// Whether there is certainly no number in the set.
    pub fn is_no_number(&mut self, numbers: Numbers) -> bool {
        self.numbers.is_empty(numbers, &mut self.set, &mut self.search)
    }
    /// Whether the language has the text. Where that cannot be found out, it is reported.
    pub fn matches(&mut self, regex: RegexId, text: &str) -> bool {
        self.charge(text.len() as u64);
        self.search.matches(&mut self.set, regex, text).unwrap_or_else(|| {
            let place = self.document.root();
            let reason =
                format!("whether a pattern has the name {} could not be found out", crate::strings::quoted(text));
            self.sink.report(place, Mistake::Refused { keyword: "patternProperties", reason });
            false
        })
    }
    /// What an object says of the property; [`NEVER`] if it must not be there.
    pub fn property(&mut self, cells: &[(RegexId, NodeId)], name: &str) -> NodeId {
        for &(regex, node) in cells {
            if regex == self.any_text || self.matches(regex, name) {
                return node;
            }
        }
        NEVER
    }
}
