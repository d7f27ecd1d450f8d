//! The values of nodes that have few.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::json::{Json, JsonKind};
use super::run::of_string;
use crate::ir::{ANY, NEVER, NodeId, Shape};
use crate::normal::{Mode, Normalizer};
use crate::numbers::Numbers;
use crate::plan::arrays::ArrayPlan;
use crate::plan::objects::{ObjectPlan, ObjectProgress, Place as Property};
use crate::words::Words;
use crate::writing::canonical;

/// Values that are listed at most.
pub(crate) const FEW_MAX: usize = 4_096;
/// Steps of one listing at most.
const STEPS_MAX: usize = 20_000;
/// Values that are copied into containers in one step.
const VALUES_A_STEP: usize = 64;
/// Containers within each other that are looked at; nodes deeper inside have many values, since they can only be
/// reached by recursion or by a schema that is not written by hand.
const DEPTH_MAX: usize = 12;

/// How many values there are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Few {
    /// Exactly these.
    These(Arc<[Json]>),
    /// More than [`FEW_MAX`].
    Many,
    /// That could not be found out.
    Unknown,
}

impl Few {
    pub fn list(&self) -> Option<&[Json]> {
        match self {
            Few::These(values) => Some(values),
            _ => None,
        }
    }
}

/// What is known while values are listed.
#[derive(Default)]
struct Listing {
    steps: usize,
    /// Nodes of containers are asked for their values once for each beginning of a container. By node and depth.
    known: FxHashMap<(NodeId, usize), Few>,
}

impl Listing {
    /// Whether there is room for a step that copies so many values.
    fn step(&mut self, values: usize) -> bool {
        self.steps = self.steps.saturating_add(1 + values / VALUES_A_STEP);
        self.steps <= STEPS_MAX
    }
}

impl Normalizer<'_> {
    /// The values of a node.
    pub fn few(&mut self, node: NodeId) -> Few {
        self.few_within(node, 0, &mut Listing::default())
    }

    // Recurses to a fixed depth.
    fn few_within(&mut self, node: NodeId, depth: usize, listing: &mut Listing) -> Few {
        match node {
            ANY => return Few::Many,
            NEVER => return Few::These([].into()),
            _ if depth > DEPTH_MAX => return Few::Many,
            _ => {}
        }
        if let Some(known) = listing.known.get(&(node, depth)) {
            return known.clone();
        }
        let few = self.few_of_shape(node, depth, listing);
        listing.known.insert((node, depth), few.clone());
        few
    }

    fn few_of_shape(&mut self, node: NodeId, depth: usize, listing: &mut Listing) -> Few {
        let shape = self.shape(node, Mode::Exact);
        let origin = self.ir.origin(node);
        let shape = self.ir.shapes.get(shape).clone();
        let mut values: Vec<Json> = match self.few_scalars(&shape) {
            Words::These(texts) => texts.iter().map(|text| Json::scalar(text.as_bytes())).collect(),
            Words::Many => return Few::Many,
            Words::Unknown => return Few::Unknown,
        };
        for &array in &shape.arrays {
            let Ok(plan) = self.array_plan(array, origin) else { return Few::Unknown };
            match self.few_arrays(&plan, depth, listing) {
                Few::These(more) => values.extend_from_slice(&more),
                other => return other,
            }
        }
        for &object in &shape.objects {
            let Ok(plan) = self.object_plan(object, origin) else { return Few::Unknown };
            match self.few_objects(&plan, depth, listing) {
                Few::These(more) => values.extend_from_slice(&more),
                other => return other,
            }
        }
        values.sort_unstable();
        values.dedup();
        if values.len() > FEW_MAX { Few::Many } else { Few::These(values.into()) }
    }

    /// The scalars of a shape in canonical form.
    pub fn few_scalars(&mut self, shape: &Shape) -> Words {
        let mut texts: Vec<Box<str>> = Vec::new();
        for (has, text) in [(shape.null, "null"), (shape.truth[0], "false"), (shape.truth[1], "true")] {
            texts.extend(has.then(|| Box::from(text)));
        }
        let numbers = self.all_numbers(shape);
        let numbers = self.shortest_numbers(numbers);
        for (regex, is_string) in [(numbers, false), (shape.strings, true)] {
            match self.words(regex, FEW_MAX) {
                Words::These(words) => texts.extend(words.iter().filter_map(|word| {
                    if is_string {
                        String::from_utf8(of_string(word)).ok().map(String::into_boxed_str)
                    } else {
                        canonical(word.as_bytes())
                    }
                })),
                Words::Unknown if self.set.info(regex).len_max.is_none() => return Words::Many,
                other => return other,
            }
        }
        texts.sort_unstable();
        texts.dedup();
        Words::These(texts.into())
    }

    /// One text of each number: without zeros at the end of a fraction.
    fn shortest_numbers(&mut self, numbers: Numbers) -> larkspur_grammar::RegexId {
        if self.is_no_number(numbers) {
            return self.set.nothing();
        }
        let closed = self.numbers.closed(numbers, &mut self.set);
        let zero = self.set.literal(b"0");
        let zeros = self.set.repeat(zero, 1, None);
        let point = self.set.literal(b".");
        let digit = self.set.bytes(larkspur_grammar::ByteSet::range(b'0', b'9'));
        let digits = self.set.repeat(digit, 0, None);
        let minus = self.set.literal(b"-");
        let any = self.set.any_text();
        let long = self.set.concat(&[any, point, digits, zeros]);
        let minus_zero = self.set.concat(&[minus, zero]);
        let padded = self.set.or(&[long, minus_zero]);
        let short = self.set.complement(padded);
        self.set.and(&[closed, short])
    }

    fn few_arrays(&mut self, plan: &ArrayPlan, depth: usize, listing: &mut Listing) -> Few {
        let mut found = Vec::new();
        let mut stack = vec![(plan.start(), Vec::<Json>::new())];
        // Whether each beginning of an array is one of some array, each of another, and so these are no fewer.
        let mut all_end = true;
        while let Some((progress, elements)) = stack.pop() {
            if plan.can_close(&progress) {
                found.push(Json::new(JsonKind::Array(elements.clone())));
            }
            for (node, next) in plan.next(&progress) {
                if !self.is_inhabited(node, Mode::Exact) || self.has_no_end(plan, &next) {
                    continue;
                }
                let values = match self.few_within(node, depth + 1, listing) {
                    Few::These(values) => values,
                    other => return other,
                };
                let is_like_the_others = || !plan.is_counted() && plan.next(&next).all(|(other, _)| other == node);
                all_end = all_end
                    && plan.next(&progress).count() == 1
                    && (!plan.unique
                        || plan.can_close(&next)
                        || values.len() as u64 >= plan.min && is_like_the_others());
                let is_new = |value: &&Json| !plan.unique || !elements.contains(value);
                let new: Vec<&Json> = values.iter().filter(is_new).collect();
                if all_end && found.len() + stack.len() + new.len() > FEW_MAX {
                    return Few::Many;
                }
                if !listing.step(new.len() * (elements.len() + 1)) {
                    return Few::Unknown;
                }
                stack.extend(new.into_iter().map(|value| {
                    let mut elements = elements.clone();
                    elements.push(value.clone());
                    (next.clone(), elements)
                }));
            }
            if found.len() > FEW_MAX {
                return Few::Many;
            }
        }
        Few::These(found.into())
    }

    fn has_no_end(&mut self, plan: &ArrayPlan, progress: &crate::plan::arrays::ArrayProgress) -> bool {
        let mut pruned = plan.clone();
        pruned.prune(|node| self.is_inhabited(node, Mode::Exact));
        self.charged(|work| pruned.is_live_with(progress, &|_| true, work)) == Ok(false)
    }

    fn few_objects(&mut self, plan: &ObjectPlan, depth: usize, listing: &mut Listing) -> Few {
        let mut plan = plan.clone();
        plan.prune(|node| self.is_inhabited(node, Mode::Exact));
        let mut found = Vec::new();
        type Open = (ObjectProgress, std::collections::BTreeMap<Arc<str>, Json>);
        let mut stack: Vec<Open> = vec![(plan.start(false), Default::default())];
        // As in arrays.
        let mut all_end = true;
        while let Some((progress, members)) = stack.pop() {
            if !listing.step(0) {
                return Few::Unknown;
            }
            if plan.can_close(&progress, false) {
                found.push(Json::new(JsonKind::Object(members.clone())));
            }
            for property in plan.places(&progress, false) {
                for choice in plan.choices_at(property) {
                    let Some(next) = plan.after(&progress, property, choice, false) else { continue };
                    let mut work = 0;
                    let is_live = plan.is_live_with(&next, &|_| true, &mut work);
                    if !self.charge(work) {
                        return Few::Unknown;
                    }
                    if is_live == Ok(false) {
                        continue;
                    }
                    all_end = all_end && is_live == Ok(true) && plan.choices_at(property).len() == 1;
                    // Names that are not listed are many.
                    let Property::Key(key) = property else { return Few::Many };
                    let name: Arc<str> = Arc::from(&**self.ir.keys.get(plan.keys[key as usize].key));
                    let values = match self.few_within(choice.node, depth + 1, listing) {
                        Few::These(values) => values,
                        other => return other,
                    };
                    if all_end && found.len() + stack.len() + values.len() > FEW_MAX {
                        return Few::Many;
                    }
                    if !listing.step(values.len() * (members.len() + 1)) {
                        return Few::Unknown;
                    }
                    stack.extend(values.iter().map(|value| {
                        let mut members = members.clone();
                        members.insert(name.clone(), value.clone());
                        (next.clone(), members)
                    }));
                }
            }
            if found.len() > FEW_MAX {
                return Few::Many;
            }
        }
        Few::These(found.into())
    }
}
