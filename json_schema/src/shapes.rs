//! The algebra of shapes: intersection, union, complement.

use larkspur_grammar::RegexId;
use larkspur_grammar::json::JsonId;
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use crate::arrays;
use crate::ir::{ANY, AnyOf, ArrayId, NEVER, NodeId, ObjectId, ObjectSpec, Shape, ShapeId};
use crate::normal::Normalizer;
use crate::numbers::Numbers;
use crate::objects;

/// Ways that are multiplied out, if they are more than those of both lists; more of them stay clauses.
const PRODUCT_MAX: usize = 32;

/// Pairs of ways that are compared at most; of more, none are told apart.
const COMPARED_MAX: usize = 100_000;

/// Names of all ways that are multiplied out; with more of them, the ways stay clauses.
const PRODUCT_NAMES_MAX: usize = 20_000;

/// The ways of all lists but one.
fn others<'a, T>(lists: &'a [&'a [T]], index: usize) -> impl Iterator<Item = &'a T> {
    lists.iter().enumerate().filter(move |&(other, _)| other != index).flat_map(|(_, list)| list.iter())
}

/// Whether several of the lists have the way: if that is any way, nothing is of one list only.
fn is_in_several<T: PartialEq>(lists: &[&[T]], way: T) -> bool {
    lists.iter().filter(|list| list.contains(&way)).nth(1).is_some()
}

/// Shapes that are put together one after the other, at most.
const PAIRED_MIN: usize = 16;

impl Normalizer<'_> {
    /// Every value.
    pub fn any_shape(&mut self) -> Shape {
        let array = self.any_array();
        let object = self.any_object();
        Shape {
            null: true,
            truth: [true; 2],
            numbers: Numbers::ALL,
            integers: Numbers::ALL,
            strings: self.any_text,
            arrays: smallvec![array],
            objects: smallvec![object],
        }
    }
    /// No value.
    pub fn no_shape(&mut self) -> Shape {
        Shape {
            null: false,
            truth: [false; 2],
            numbers: Numbers::NONE,
            integers: Numbers::NONE,
            strings: self.set.nothing(),
            arrays: smallvec![],
            objects: smallvec![],
        }
    }
    pub fn any_array(&mut self) -> ArrayId {
        self.ir.arrays.intern(arrays::any())
    }
    pub fn any_object(&mut self) -> ObjectId {
        let cells = [(self.any_text, ANY)].into();
        self.ir.objects.intern(ObjectSpec {
            named: [].into(),
            cells,
            min: 0,
            max: None,
            some: [].into(),
            clauses: [].into(),
        })
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
        let objects = self.both_objects(&a.objects, &b.objects, any_object, origin);
        let shape = Shape {
            null: a.null && b.null,
            truth: [a.truth[0] && b.truth[0], a.truth[1] && b.truth[1]],
            numbers: self.numbers.and(a.numbers, b.numbers),
            integers: self.numbers.and(a.integers, b.integers),
            strings: self.and_text(a.strings, b.strings),
            arrays,
            objects,
        };
        self.ir.shapes.intern(shape)
    }

    /// Values of all the shapes, of which there is one at least.
    pub fn and_all_shapes(&mut self, shapes: &[ShapeId], origin: JsonId) -> ShapeId {
        type Shapes = SmallVec<[ShapeId; 8]>;
        let (mut scalars, mut others): (Shapes, Shapes) = (Shapes::new(), shapes.into());
        if shapes.len() > PAIRED_MIN {
            let any = self.any_shape();
            let says_of_scalars = |&shape: &ShapeId| {
                let Shape { arrays, objects, .. } = self.ir.shapes.get(shape);
                let (is_no_array, is_no_object) = (arrays.is_empty(), objects.is_empty());
                (is_no_array || *arrays == any.arrays) && (is_no_object || *objects == any.objects)
            };
            (scalars, others) = shapes.iter().copied().partition(says_of_scalars);
        }
        // In pairs: one after the other, each would take as long as all before it.
        while scalars.len() > 1 {
            let pairs = scalars.chunks(2).map(|pair| match *pair {
                [a, b] => self.and_shapes(a, b, origin),
                _ => pair[0],
            });
            scalars = pairs.collect();
        }
        others.append(&mut scalars);
        others[1..].iter().fold(others[0], |all, &shape| self.and_shapes(all, shape, origin))
    }

    /// Values of either.
    pub fn or_shapes(&mut self, shapes: &[ShapeId]) -> ShapeId {
        let mut all = self.no_shape();
        let (mut arrays, mut objects, mut strings) = (Vec::new(), Vec::new(), Vec::new());
        let (mut numbers, mut integers) = (Vec::new(), Vec::new());
        for &shape in shapes {
            let shape = self.ir.shapes.get(shape).clone();
            self.charge(1 + shape.arrays.len() as u64 + shape.objects.len() as u64);
            all.null |= shape.null;
            all.truth = [all.truth[0] || shape.truth[0], all.truth[1] || shape.truth[1]];
            numbers.push(shape.numbers);
            integers.push(shape.integers);
            strings.push(shape.strings);
            arrays.extend(shape.arrays);
            objects.extend(shape.objects);
        }
        all.numbers = self.numbers.union(&numbers);
        all.integers = if integers == numbers { all.numbers } else { self.numbers.union(&integers) };
        all.strings = if strings.contains(&self.any_text) { self.any_text } else { self.set.or(&strings) };
        let any_array = self.any_array();
        all.arrays = self.alternatives(arrays, any_array);
        let any_object = self.any_object();
        all.objects = self.alternatives(objects, any_object);
        self.ir.shapes.intern(all)
    }

    /// All other values.
    pub fn not_shape(&mut self, shape: ShapeId, origin: JsonId) -> ShapeId {
        let shape = self.ir.shapes.get(shape).clone();
        let any_array = self.any_array();
        let mut arrays: AnyOf<ArrayId> = smallvec![any_array];
        for &array in &shape.arrays {
            let others = arrays::complement(self, array, origin);
            arrays = self.product(&arrays, &others, |this, x, y| match (x == any_array, y == any_array) {
                (true, _) => Some(y),
                (_, true) => Some(x),
                _ => this.and_arrays(x, y, origin),
            });
        }
        let any_object = self.any_object();
        let mut objects: AnyOf<ObjectId> = smallvec![any_object];
        for &object in &shape.objects {
            let others = objects::complement(self, object, origin);
            objects = self.both_objects(&objects, &others, any_object, origin);
        }
        let not = Shape {
            null: !shape.null,
            truth: [!shape.truth[0], !shape.truth[1]],
            numbers: self.numbers.not(shape.numbers),
            integers: self.numbers.not(shape.integers),
            strings: self.not_text(shape.strings),
            arrays,
            objects,
        };
        self.ir.shapes.intern(not)
    }

    /// Objects of both lists of ways: every way of the one with every way of the other, or, where these are many, one
    /// way with both lists as clauses.
    fn both_objects(&mut self, a: &[ObjectId], b: &[ObjectId], any: ObjectId, origin: JsonId) -> AnyOf<ObjectId> {
        if *a == [any] || *b == [any] {
            return if *a == [any] { b.into() } else { a.into() };
        }
        // Once there are clauses, one more is better than more ways with the same ones.
        let grows = |one: &[ObjectId], many: &[ObjectId]| {
            one.len() == 1 && many.len() > 1 && !self.ir.objects.get(one[0]).clauses.is_empty()
        };
        if grows(a, b) || grows(b, a) {
            return self.clauses_of(a, b, origin);
        }
        if let ([a], [b]) = (a, b) {
            return self.and_objects(*a, *b, origin).into_iter().collect();
        }
        let pairs_max = if a.len().min(b.len()) > 1 { PRODUCT_MAX.max(a.len() + b.len()) } else { usize::MAX };
        let Some(pairs) = self.pairs(a, b, pairs_max) else { return self.clauses_of(a, b, origin) };
        let names = |way: ObjectId| self.ir.objects.get(way).named.len() + 1;
        if pairs.iter().map(|&(x, y)| names(x) + names(y)).sum::<usize>() > PRODUCT_NAMES_MAX {
            return self.clauses_of(a, b, origin);
        }
        let mut seen = FxHashSet::default();
        let mut both = Vec::with_capacity(pairs.len());
        for (x, y) in pairs {
            let is_new = !self.is_way_implied(x, y);
            let way = if is_new { self.and_objects(x, y, origin) } else { Some(x) };
            both.extend(way.filter(|&way| seen.insert(way)).map(|way| (way, is_new)));
        }
        if self.has_too_many(both.len()) {
            return smallvec![];
        }
        objects::absorbed(self, &both)
    }

    /// Every way of the one with every way of the other, without those that constants tell apart; `None` if there are
    /// over `pairs_max`, or too many to look.
    fn pairs(&mut self, a: &[ObjectId], b: &[ObjectId], pairs_max: usize) -> Option<Vec<(ObjectId, ObjectId)>> {
        let is_asked = a.len() * b.len() <= COMPARED_MAX;
        if !is_asked && pairs_max < usize::MAX {
            return None;
        }
        let mut pairs = Vec::new();
        for &x in a {
            for &y in b {
                if !self.charge(1) || pairs.len() > pairs_max {
                    return None;
                }
                if !is_asked || !self.are_told_apart(x, y) {
                    pairs.push((x, y));
                }
            }
        }
        (pairs.len() <= pairs_max).then_some(pairs)
    }

    /// Objects of both lists of ways as one way, with lists of several as clauses.
    fn clauses_of(&mut self, a: &[ObjectId], b: &[ObjectId], origin: JsonId) -> AnyOf<ObjectId> {
        let lists = (objects::as_one(self, a), objects::as_one(self, b));
        let (Some(a), Some(b)) = lists else { return smallvec![] };
        self.and_objects(a, b, origin).into_iter().collect()
    }

    /// Values of exactly one of the shapes.
    pub fn one_of_shapes(&mut self, shapes: &[ShapeId], origin: JsonId) -> ShapeId {
        let shapes: Vec<Shape> = shapes.iter().map(|&shape| self.ir.shapes.get(shape).clone()).collect();
        let once = |has: &dyn Fn(&Shape) -> bool| shapes.iter().filter(|shape| has(shape)).count() == 1;
        let mut one = self.no_shape();
        one.null = once(&|shape| shape.null);
        one.truth = [once(&|shape| shape.truth[0]), once(&|shape| shape.truth[1])];
        one.strings = self.one_language(&shapes.iter().map(|shape| shape.strings).collect::<Vec<_>>());
        let numbers: Vec<Numbers> = shapes.iter().map(|shape| shape.numbers).collect();
        let integers: Vec<Numbers> = shapes.iter().map(|shape| shape.integers).collect();
        one.numbers = self.one_number_set(&numbers);
        one.integers = if integers == numbers { one.numbers } else { self.one_number_set(&integers) };
        let objects: Vec<Vec<ObjectId>> = shapes.iter().map(|shape| shape.objects.to_vec()).collect();
        let objects = self.split_by_discriminator(objects, origin);
        let objects: Vec<&[ObjectId]> = objects.iter().map(Vec::as_slice).collect();
        one.objects = self.one_object_list(&objects, origin);
        let arrays: Vec<&[ArrayId]> = shapes.iter().map(|shape| &*shape.arrays).collect();
        one.arrays = self.one_array_list(&arrays, origin);
        self.ir.shapes.intern(one)
    }

    /// Objects of exactly one of the lists: each way without those of other lists that it has objects in common with.
    fn one_object_list(&mut self, lists: &[&[ObjectId]], origin: JsonId) -> AnyOf<ObjectId> {
        let any = self.any_object();
        if is_in_several(lists, any) {
            return smallvec![];
        }
        let mut all = Vec::new();
        for (index, list) in lists.iter().enumerate() {
            for &way in *list {
                let mut ways: AnyOf<ObjectId> = smallvec![way];
                for &other in others(lists, index) {
                    if !self.charge(1) {
                        return smallvec![];
                    }
                    if self.are_told_apart(way, other) {
                        continue;
                    }
                    let both = self.and_objects(way, other, origin);
                    if both.is_some_and(|both| self.has_objects(both, origin)) {
                        let rest = objects::complement(self, other, origin);
                        ways = self.both_objects(&ways, &rest, any, origin);
                    }
                }
                all.extend(ways);
            }
        }
        self.alternatives(all, any)
    }

    /// The same of arrays.
    fn one_array_list(&mut self, lists: &[&[ArrayId]], origin: JsonId) -> AnyOf<ArrayId> {
        let any = self.any_array();
        if is_in_several(lists, any) {
            return smallvec![];
        }
        let mut all = Vec::new();
        for (index, list) in lists.iter().enumerate() {
            for &way in *list {
                let mut ways: AnyOf<ArrayId> = smallvec![way];
                for &other in others(lists, index) {
                    if !self.charge(1) {
                        return smallvec![];
                    }
                    let both = self.and_arrays(way, other, origin);
                    if both.is_some_and(|both| self.has_arrays(both, origin)) {
                        let rest = arrays::complement(self, other, origin);
                        ways = self.product(&ways, &rest, |this, x, y| match (x == any, y == any) {
                            (true, _) => Some(y),
                            (_, true) => Some(x),
                            _ => this.and_arrays(x, y, origin),
                        });
                    }
                }
                all.extend(ways);
            }
        }
        self.alternatives(all, any)
    }

    fn has_objects(&mut self, object: ObjectId, origin: JsonId) -> bool {
        let shape = Shape { objects: smallvec![object], ..self.no_shape() };
        self.has_values(shape, origin)
    }
    fn has_arrays(&mut self, array: ArrayId, origin: JsonId) -> bool {
        let shape = Shape { arrays: smallvec![array], ..self.no_shape() };
        self.has_values(shape, origin)
    }
    /// Whether there may be a value, without asking whether branches inside exclude each other.
    fn has_values(&mut self, shape: Shape, origin: JsonId) -> bool {
        let shape = self.ir.shapes.intern(shape);
        let node = self.ir.node(crate::ir::Node::Shape(shape), origin);
        self.is_inhabited(node, crate::normal::Mode::Wide)
    }

    /// Every way of the one with every way of the other.
    fn product<T: Copy + Eq + std::hash::Hash>(
        &mut self,
        a: &[T],
        b: &[T],
        mut and: impl FnMut(&mut Self, T, T) -> Option<T>,
    ) -> AnyOf<T> {
        let is_one = a.len() == 1 && b.len() == 1;
        let mut seen = FxHashSet::default();
        let mut out = AnyOf::new();
        for &x in a {
            for &y in b {
                if !self.charge(1) || self.has_too_many(out.len()) {
                    return out;
                }
                out.extend(and(self, x, y).filter(|&both| is_one || seen.insert(both)));
            }
        }
        out
    }

    /// Each way once; `any` alone if it is among them.
    fn alternatives<T: Copy + Eq + std::hash::Hash>(&mut self, ways: Vec<T>, any: T) -> AnyOf<T> {
        if ways.contains(&any) {
            return smallvec![any];
        }
        let is_one = ways.len() == 1;
        let mut seen = FxHashSet::default();
        let out: AnyOf<T> = ways.into_iter().filter(|&way| is_one || seen.insert(way)).collect();
        self.has_too_many(out.len());
        out
    }

    fn and_arrays(&mut self, a: ArrayId, b: ArrayId, origin: JsonId) -> Option<ArrayId> {
        if a == b {
            return Some(a);
        }
        let (a, b) = (self.ir.arrays.get(a).clone(), self.ir.arrays.get(b).clone());
        arrays::intersection(self, &a, &b, origin)
    }

    /// Objects of both; `None` if there is certainly none.
    pub fn and_objects(&mut self, a: ObjectId, b: ObjectId, origin: JsonId) -> Option<ObjectId> {
        if a == b {
            return Some(a);
        }
        let (a, b) = (self.ir.objects.get(a).clone(), self.ir.objects.get(b).clone());
        objects::intersection(self, &a, &b, origin)
    }

    /// All numbers of a shape, however they are written.
    pub fn all_numbers(&mut self, shape: &Shape) -> Numbers {
        if shape.integers == shape.numbers {
            return shape.numbers;
        }
        let integers = self.numbers.and(shape.integers, Numbers::INTEGERS);
        self.numbers.union(&[integers, shape.numbers])
    }
    /// Whether there is certainly no number in the set.
    pub fn is_no_number(&mut self, numbers: Numbers) -> bool {
        self.numbers.is_empty(numbers, &mut self.set, &mut self.search)
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
