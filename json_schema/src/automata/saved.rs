//! The automaton of arrays and objects as bytes, and back.
//!
//! Written is what cannot be found out again: plans, terminals, values. Whatever is read is checked once for all that
//! [`run`](super::run) takes for granted: that each value that may come has a rule or a way to be read here, that lines are
//! as deep as brackets, that texts are as they would be written.

use std::collections::BTreeMap;
use std::sync::Arc;

use larkspur_grammar::saved::{Inconsistent, SavedAutomaton, decoded};
use larkspur_grammar::{Limits, State, TerminalId};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::json::{Json, JsonKind};
use super::state::{ArrayFrame, Frame, ObjectFrame, ObjectPhase, Place};
use super::{Containers, Inline, KeyName, Lines, Marks, ObjectMachine, ScalarSet, Value};
use crate::ir::NodeId;
use crate::plan::arrays::ArrayPlan;
use crate::plan::objects::ObjectPlan;
use crate::writing::{Writing, canonical};

/// How the automaton is called in a saved grammar.
pub(crate) const KIND: &str = "json containers";

/// Bits of a choice's number and of a way's in a label: see [`run`](super::run).
const CHOICES_MAX: usize = 1 << 13;
const WAYS_MAX: usize = 1 << 16;
const KEYS_MAX: usize = 1 << 29;
/// Containers of a listed value within each other: [`few`](super::few) lists none as deep.
const DEPTH_MAX: usize = 64;
/// Words of the places where automata start at most: each has some for each cell of an object, however few bytes it is
/// saved in.
const START_WORDS_MAX: usize = 1 << 24;
/// Elements that an array of few values must have at most: more could not differ.
const FEW_ELEMENTS_MAX: u64 = 1 << 20;

#[derive(Serialize, Deserialize)]
struct Saved {
    arrays: Vec<ArrayPlan>,
    objects: Vec<SavedObject>,
    /// By ascending nodes.
    values: Vec<(NodeId, Value)>,
    inline: Vec<SavedInline>,
    marks: Marks,
    lines: Vec<Lines>,
    starts: Vec<SavedStart>,
    any_order: bool,
    writing: Writing,
}

#[derive(Serialize, Deserialize)]
struct SavedObject {
    plan: ObjectPlan,
    keys: Vec<KeyName>,
    names: Option<TerminalId>,
    cells: Vec<TerminalId>,
}

#[derive(Serialize, Deserialize)]
struct SavedInline {
    scalars: Vec<ScalarSet>,
    arrays: Vec<u32>,
    objects: Vec<u32>,
    few: Option<Vec<Step>>,
}

/// A place where the automaton starts.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum SavedStart {
    /// Behind the bracket.
    Array(u32),
    /// Behind the brace.
    Object(u32),
    /// Behind so many listed members, as far as they are told apart, of an object whose others are read here.
    Members(u32, u64),
}

/// Values as the steps that make them on a stack, so that no reader recurses.
#[derive(Serialize, Deserialize)]
enum Step {
    Scalar(Arc<[u8]>),
    /// Of the last values, so many.
    Array(u32),
    /// Of the last values, one for each name.
    Object(Vec<Arc<str>>),
}

impl Containers {
    /// What [`read`] makes the automaton from again.
    pub fn saved(&self) -> Option<SavedAutomaton> {
        let mut values: Vec<(NodeId, Value)> = self.values.iter().map(|(node, value)| (*node, value.clone())).collect();
        values.sort_unstable_by_key(|value| value.0);
        let objects = self.objects.iter().map(|object| SavedObject {
            plan: object.plan.clone(),
            keys: object.keys.clone(),
            names: object.names,
            cells: object.cells.iter().map(|cell| cell.terminal).collect(),
        });
        let inline = self.inline.iter().map(|inline| SavedInline {
            scalars: inline.scalars.clone(),
            arrays: inline.arrays.clone(),
            objects: inline.objects.clone(),
            few: inline.few.as_deref().map(steps),
        });
        let saved = Saved {
            arrays: self.arrays.clone(),
            objects: objects.collect(),
            values,
            inline: inline.collect(),
            marks: self.marks,
            lines: self.lines.clone(),
            starts: self.starts.iter().map(|start| saved_start(start.get())).collect::<Option<_>>()?,
            any_order: self.any_order,
            writing: self.writing,
        };
        SavedAutomaton::new(KIND, &saved)
    }
}

fn saved_start(place: &Place) -> Option<SavedStart> {
    match place.frames.as_slice() {
        [Frame::Array(frame)] => Some(SavedStart::Array(frame.machine)),
        [Frame::Object(frame)] if frame.phase == ObjectPhase::Open => Some(SavedStart::Object(frame.machine)),
        [Frame::Object(frame)] => Some(SavedStart::Members(frame.machine, frame.progress.count())),
        _ => None,
    }
}

/// The automaton that was written, within the limits of its new engine.
///
/// Errors: what no schema is lowered to.
pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Result<Containers, Inconsistent> {
    let Saved { mut arrays, objects, values, inline, marks, lines, starts, any_order, writing } = decoded(bytes)?;
    arrays.iter_mut().try_for_each(|plan| plan.read(limits.schema_search_max))?;
    let objects = objects.into_iter().map(|object| read_object(object, any_order, limits)).collect::<Result<_, _>>()?;
    let inline: Vec<Inline> = inline.into_iter().map(read_inline).collect::<Result<_, _>>()?;
    // There are lines for as many brackets as may be open.
    let mut depth_max = limits.schema_unique_depth_max;
    if !lines.is_empty() && !inline.is_empty() {
        depth_max = depth_max.min(lines.len());
    }
    let mut containers = Containers {
        arrays,
        objects,
        values: values.into_iter().collect(),
        inline,
        marks,
        lines,
        starts: Vec::new(),
        any_order,
        writing,
        depth_max,
        search_max: limits.schema_search_max,
        terminals: Vec::new(),
        recorded: Vec::new(),
        rules: Vec::new(),
    };
    containers.check_inline()?;
    let mut words = 0;
    for start in starts {
        words += containers.start_words(start);
        Inconsistent::unless(words <= START_WORDS_MAX, "there are too many places where automata start")?;
        let place = containers.read_start(start)?;
        containers.starts.push(State::new(place));
    }
    containers.check_starts()?;
    containers.note_symbols();
    Ok(containers)
}

fn read_object(object: SavedObject, any_order: bool, limits: &Limits) -> Result<ObjectMachine, Inconsistent> {
    let SavedObject { mut plan, keys, names, cells } = object;
    plan.read(limits.schema_search_max)?;
    let has_terminal = |key: &KeyName| key.terminal.is_some() == names.is_none();
    let texts: FxHashSet<&str> = keys.iter().map(|key| &*key.text).collect();
    let holds = keys.len() == plan.keys.len()
        && keys.len() < KEYS_MAX
        && texts.len() == keys.len()
        && cells.len() == plan.cells.len()
        && keys.iter().all(has_terminal)
        && (names.is_none() || any_order && !keys.is_empty());
    Inconsistent::unless(holds, "an object's names are not those of its plan")?;
    Ok(ObjectMachine::new(plan, keys, names, cells))
}

fn read_inline(inline: SavedInline) -> Result<Inline, Inconsistent> {
    let SavedInline { scalars, arrays, objects, few } = inline;
    let texts = scalars.iter().flat_map(|set| set.few.iter().flat_map(|few| few.iter()));
    let holds =
        texts.into_iter().all(|text| is_canonical(text)) && scalars.len() + arrays.len() + objects.len() <= WAYS_MAX;
    Inconsistent::unless(holds, "a scalar is not in canonical form")?;
    let few = few.map(|steps| read_values(steps).map(Arc::from)).transpose()?;
    Ok(Inline { scalars, arrays, objects, few })
}

fn is_canonical(text: &[u8]) -> bool {
    canonical(text).is_some_and(|canonical| canonical.as_bytes() == text)
}

/// The steps that make these values.
fn steps(values: &[Json]) -> Vec<Step> {
    let mut steps = Vec::new();
    // Last first; a value's step stands behind those of its parts.
    let mut stack: Vec<&Json> = values.iter().collect();
    while let Some(value) = stack.pop() {
        steps.push(match value.kind() {
            JsonKind::Scalar(text) => Step::Scalar(text.clone()),
            JsonKind::Array(elements) => {
                stack.extend(elements);
                Step::Array(elements.len() as u32)
            }
            JsonKind::Object(members) => {
                stack.extend(members.values());
                Step::Object(members.keys().cloned().collect())
            }
        });
    }
    steps.reverse();
    steps
}

fn read_values(steps: Vec<Step>) -> Result<Vec<Json>, Inconsistent> {
    let wrong = Inconsistent { what: "listed values are none" };
    // With the depth of each.
    let mut stack: Vec<(Json, usize)> = Vec::new();
    for step in steps {
        let count = match &step {
            Step::Scalar(_) => 0,
            Step::Array(count) => *count as usize,
            Step::Object(names) => names.len(),
        };
        let first = stack.len().checked_sub(count).ok_or(wrong)?;
        let parts = stack.split_off(first);
        let depth = parts.iter().map(|part| part.1 + 1).max().unwrap_or(0);
        Inconsistent::unless(depth <= DEPTH_MAX, "listed values are too deep")?;
        let parts = parts.into_iter().map(|part| part.0);
        let kind = match step {
            Step::Scalar(text) if is_canonical(&text) => JsonKind::Scalar(text),
            Step::Scalar(_) => return Err(wrong),
            Step::Array(_) => JsonKind::Array(parts.collect()),
            Step::Object(names) => JsonKind::Object(names.into_iter().zip(parts).collect::<BTreeMap<_, _>>()),
        };
        stack.push((Json::new(kind), depth));
    }
    Ok(stack.into_iter().map(|value| value.0).collect())
}

impl Containers {
    /// Words of memory of a place, roughly.
    fn start_words(&self, start: SavedStart) -> usize {
        match start {
            SavedStart::Object(machine) | SavedStart::Members(machine, _) => {
                let plan = self.objects.get(machine as usize).map(|object| &object.plan);
                plan.map_or(0, |plan| 32 + 8 * plan.cells.len() + plan.keys.len() / 64 + plan.alternatives_len() / 64)
            }
            SavedStart::Array(_) => 32,
        }
    }

    fn read_start(&self, start: SavedStart) -> Result<Place, Inconsistent> {
        let wrong = Inconsistent { what: "an automaton starts in no array or object" };
        let frame = match start {
            SavedStart::Array(machine) if (machine as usize) < self.arrays.len() => {
                Frame::Array(ArrayFrame::new(machine, self.arrays[machine as usize].start()))
            }
            SavedStart::Object(machine) | SavedStart::Members(machine, _)
                if (machine as usize) < self.objects.len() =>
            {
                let object = &self.objects[machine as usize];
                let (phase, count) = match start {
                    SavedStart::Members(_, count) => (ObjectPhase::After, count),
                    _ => (ObjectPhase::Open, 0),
                };
                let progress = object.plan.started(self.any_order, count).ok_or(wrong)?;
                let frame = ObjectFrame::new(machine, object.cells.len(), progress);
                Frame::Object(ObjectFrame { phase, ..frame })
            }
            _ => return Err(wrong),
        };
        Ok(Place { frames: vec![frame], is_untold: false })
    }

    /// Values that are read here have numbers of the tables.
    fn check_inline(&self) -> Result<(), Inconsistent> {
        let is_inline = |value: &Inline| {
            value.arrays.iter().all(|&machine| (machine as usize) < self.arrays.len())
                && value.objects.iter().all(|&machine| (machine as usize) < self.objects.len())
        };
        let is_value = |value: &Value| value.inline.is_none_or(|inline| (inline as usize) < self.inline.len());
        let holds = self.inline.iter().all(is_inline) && self.values.values().all(is_value);
        Inconsistent::unless(holds, "a value is read by no automaton")
    }

    /// Each value that may come has a way to be read: as a rule, or here where values are compared.
    fn check_starts(&self) -> Result<(), Inconsistent> {
        let unread = Inconsistent { what: "a value has no way to be read" };
        // Arrays (true) and objects whose values are read here.
        let mut agenda: Vec<(bool, u32)> = Vec::new();
        for start in &self.starts {
            match &start.get::<Place>().frames[0] {
                Frame::Array(frame) => {
                    let plan = &self.arrays[frame.machine as usize];
                    let has_rule = |node| self.values.get(&node).is_some_and(|value| value.rule.is_some());
                    if plan.unique {
                        agenda.push((true, frame.machine));
                    } else if !plan.choices_and_any().all(has_rule) {
                        return Err(unread);
                    }
                }
                Frame::Object(frame) => {
                    let has_rule = |node| self.values.get(&node).is_some_and(|value| value.member.is_some());
                    if !self.objects[frame.machine as usize].plan.choices_and_any().all(has_rule) {
                        return Err(unread);
                    }
                }
            }
        }
        let mut seen: FxHashSet<(bool, u32)> = FxHashSet::default();
        while let Some((is_array, machine)) = agenda.pop() {
            if !seen.insert((is_array, machine)) {
                continue;
            }
            let nodes: Vec<NodeId> = if is_array {
                let plan = &self.arrays[machine as usize];
                self.check_few(plan)?;
                plan.choices_and_any().collect()
            } else {
                let plan = &self.objects[machine as usize].plan;
                Inconsistent::unless(plan.choices_at_most(CHOICES_MAX), "a property has too many choices")?;
                plan.choices_and_any().collect()
            };
            for node in nodes {
                let inline = self.values.get(&node).and_then(|value| value.inline).ok_or(unread)?;
                let inline = &self.inline[inline as usize];
                agenda.extend(inline.arrays.iter().map(|&machine| (true, machine)));
                agenda.extend(inline.objects.iter().map(|&machine| (false, machine)));
            }
        }
        Ok(())
    }

    /// Elements that are told apart one by one are not without end.
    fn check_few(&self, plan: &ArrayPlan) -> Result<(), Inconsistent> {
        let is_few = |node: &NodeId| {
            let inline = self.values.get(node).and_then(|value| value.inline);
            inline.is_some_and(|inline| self.inline[inline as usize].few.is_some())
        };
        let holds = !plan.nodes.iter().any(is_few) || plan.min <= FEW_ELEMENTS_MAX;
        Inconsistent::unless(holds, "an array must have more elements than there are values")
    }
}
