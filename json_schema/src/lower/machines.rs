//! Arrays and objects that are automata: their plans, with names as terminals and values as rules.

use std::sync::Arc;

use compact_str::CompactString;
use indexmap::IndexSet;
use larkspur_grammar::index::IdMap;
use larkspur_grammar::{Automaton, AutomatonId, ExprId, ExprKind, State, TerminalId};
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::Lowerer;
use crate::automata::few::Few;
use crate::automata::state::{Frame, ObjectFrame, ObjectPhase, Place};
use crate::automata::{Containers, Inline, KeyName, ObjectMachine, ScalarKind, ScalarSet, Value};
use crate::error::Mistake;
use crate::ir::{ArrayId, NodeId, ObjectId, Shape, ShapeId};
use crate::normal::Mode;
use crate::number_texts::Extent;
use crate::plan::Trouble;
use crate::plan::arrays::ArrayPlan;
use crate::plan::objects::ObjectPlan;
use crate::strings::quoted;
use crate::words::Words;

/// What the automaton is made of.
#[derive(Default)]
pub(super) struct Machines {
    arrays: Vec<ArrayPlan>,
    objects: Vec<ObjectMachine>,
    values: FxHashMap<NodeId, Value>,
    inline: Vec<Inline>,
    starts: IndexSet<Place, FxBuildHasher>,
    array_ids: IdMap<ArrayId, Option<u32>>,
    /// With or without the listed names.
    object_ids: [IdMap<ObjectId, Option<u32>>; 2],
    inline_ids: IdMap<ShapeId, u32>,
    /// Shapes whose values are read by the automaton and that are still to be made.
    waiting: Vec<(NodeId, u32)>,
}

/// So many listed names have terminals of their own where the order is free, too. Each set of names that were read expects all others,
/// which takes 1 MB in all for 32 names that are read one after the other, and 5 MB for 64.
const OWN_NAMES_MAX: usize = 32;

/// Why elements that must differ are refused.
const ELEMENTS_UNKNOWN: &str = "how many different elements there can be could not be found out";

impl Lowerer<'_, '_> {
    /// The finished automaton, if anything needs one.
    pub(super) fn automata(&mut self) -> Option<Arc<dyn Automaton>> {
        let machines = std::mem::take(&mut self.machines);
        if machines.starts.is_empty() {
            return None;
        }
        // Only where values are compared, brackets within are read by the automaton itself.
        let depth = if machines.inline.is_empty() { 1 } else { self.normalizer.limits.schema_unique_depth_max };
        let lines = self.lines(depth);
        let marks = self.marks;
        let mut containers = Containers {
            arrays: machines.arrays,
            objects: machines.objects,
            values: machines.values,
            inline: machines.inline,
            marks,
            lines,
            starts: machines.starts.into_iter().map(State::new).collect(),
            any_order: self.any_order,
            writing: self.writing,
            depth_max: self.normalizer.limits.schema_unique_depth_max,
            search_max: self.normalizer.limits.schema_search_max,
            terminals: Vec::new(),
            recorded: Vec::new(),
            rules: Vec::new(),
        };
        containers.note_symbols();
        Some(Arc::new(containers))
    }

    /// An array as an automaton; `None` if there is none.
    pub(super) fn array_automaton(&mut self, id: ArrayId) -> Option<ExprId> {
        let machine = self.array_machine(id)?;
        let plan = self.machines.arrays[machine as usize].clone();
        if plan.unique {
            self.inline_values(plan.choices_and_any());
            if !self.list_elements(&plan) {
                return None;
            }
            self.make_inline();
        } else {
            plan.choices_and_any().for_each(|node| self.value_rule(node));
        }
        let start = Frame::Array(crate::automata::state::ArrayFrame::new(machine, plan.start()));
        let open = self.mark(self.marks.open_bracket);
        let inside = self.start_at(start);
        Some(self.run(&[open, inside]))
    }

    /// An object as an automaton; `None` if there is none.
    pub(super) fn object_automaton(&mut self, id: ObjectId) -> Option<ExprId> {
        let machine = self.object_machine(id, true)?;
        self.member_rules(machine);
        let object = &self.machines.objects[machine as usize];
        let start = ObjectFrame::new(machine, object.cells.len(), object.plan.start(self.any_order));
        let open = self.mark(self.marks.open_brace);
        let inside = self.start_at(Frame::Object(start));
        Some(self.run(&[open, inside]))
    }

    /// The machine of an object's names that are not listed; `None` if there may be none.
    pub(super) fn extra_machine(&mut self, id: ObjectId) -> Option<u32> {
        let machine = self.object_machine(id, false)?;
        self.member_rules(machine);
        (!self.machines.objects[machine as usize].cells.is_empty()).then_some(machine)
    }

    /// What follows `count` listed members, up to the closing brace; `None` if there is no way on.
    pub(super) fn extra_start(&mut self, machine: u32, count: u64) -> Option<ExprId> {
        let object = &self.machines.objects[machine as usize];
        let progress = object.plan.behind_keys(count);
        let is_live = self.normalizer.charged(|work| object.plan.is_live_with(&progress, &|_| true, work));
        let mut frame = ObjectFrame::new(machine, object.cells.len(), progress);
        if count > 0 {
            frame.phase = ObjectPhase::After;
        }
        self.decided(is_live)?.then(|| self.start_at(Frame::Object(frame)))
    }

    fn start_at(&mut self, frame: Frame) -> ExprId {
        let place = Place { frames: vec![frame], is_untold: false };
        let (start, _) = self.machines.starts.insert_full(place);
        self.expr(ExprKind::Automaton(AutomatonId(0), start as u32))
    }

    fn decided<T>(&mut self, answer: Result<T, Trouble>) -> Option<T> {
        match answer {
            Ok(answer) => Some(answer),
            Err(trouble) => {
                let limits = self.normalizer.limits;
                let (what, limit, value) = match trouble {
                    Trouble::Reported => return None,
                    Trouble::SearchGivenUp => ("the search for a value", "schema_search_max", limits.schema_search_max),
                    Trouble::TooManyChoices => (
                        "the number of ways of one property or element",
                        "schema_choices_max",
                        limits.schema_choices_max,
                    ),
                };
                let demand = self.normalizer.demand();
                let mistake = Mistake::Limit { what, limit, value: value as u64, demand };
                self.normalizer.sink.report(self.place, mistake);
                None
            }
        }
    }

    fn array_machine(&mut self, id: ArrayId) -> Option<u32> {
        if let Some(&known) = self.machines.array_ids.get(id) {
            return known;
        }
        if !self.may_repeat(id)
            || self.normalizer.ir.arrays.get(id).unique && !self.normalizer.is_array_inhabited(id, self.place)
        {
            self.machines.array_ids.insert(id, None);
            return None;
        }
        let plan = self.normalizer.array_plan(id, self.place);
        let machine = self.decided(plan).and_then(|plan| {
            let mut plan = ArrayPlan::clone(&plan);
            plan.prune(|node| self.normalizer.is_inhabited(node, Mode::Exact));
            let is_live = self.normalizer.charged(|work| plan.is_live_with(&plan.start(), &|_| true, work));
            self.decided(is_live)?.then(|| {
                self.machines.arrays.push(plan);
                self.machines.arrays.len() as u32 - 1
            })
        });
        self.machines.array_ids.insert(id, machine);
        machine
    }

    fn object_machine(&mut self, id: ObjectId, with_keys: bool) -> Option<u32> {
        if let Some(&known) = self.machines.object_ids[usize::from(with_keys)].get(id) {
            return known;
        }
        let plan = self.normalizer.object_plan(id, self.place);
        let machine = self.decided(plan).and_then(|plan| {
            let mut plan = if with_keys { ObjectPlan::clone(&plan) } else { plan.without_keys() };
            plan.prune(|node| self.normalizer.is_inhabited(node, Mode::Exact));
            if with_keys {
                let is_live = self.normalizer.charged(|work| plan.is_live_with(&plan.start(false), &|_| true, work));
                if !self.decided(is_live)? {
                    return None;
                }
            }
            let machine = self.named_machine(plan);
            self.machines.objects.push(machine);
            Some(self.machines.objects.len() as u32 - 1)
        });
        self.machines.object_ids[usize::from(with_keys)].insert(id, machine);
        machine
    }

    /// A plan with its names as terminals.
    fn named_machine(&mut self, plan: ObjectPlan) -> ObjectMachine {
        // What follows a name of their terminal is not known before the name is read.
        let are_one = self.any_order && (plan.keys.len() > OWN_NAMES_MAX || !self.writing.has_one_text());
        let mut keys = Vec::with_capacity(plan.keys.len());
        let mut literals = Vec::new();
        for key in &plan.keys {
            let text: Arc<str> = Arc::from(&**self.normalizer.ir.keys.get(key.key));
            let literal = self.normalizer.set.literal(text.as_bytes());
            literals.push(literal);
            let terminal = (!are_one).then(|| self.string_terminal(literal, || quoted(&text)));
            keys.push(KeyName { text, terminal });
        }
        let names = (are_one && !keys.is_empty()).then(|| {
            let names = self.normalizer.set.or(&literals);
            self.string_terminal(names, || "name".into())
        });
        let mut cells = Vec::with_capacity(plan.cells.len());
        for cell in &plan.cells {
            cells.push(self.string_terminal(cell.regex, || "name".into()));
        }
        ObjectMachine::new(plan, keys, names, cells)
    }

    /// The strings of a language of characters as a terminal.
    fn string_terminal(
        &mut self,
        regex: larkspur_grammar::RegexId,
        name: impl FnOnce() -> CompactString,
    ) -> TerminalId {
        let regex = self.quoting.string(&mut self.normalizer.set, regex);
        self.terminal_id(regex, name)
    }

    /// Makes the rules of all values of an object's properties.
    fn member_rules(&mut self, machine: u32) {
        let nodes: Vec<NodeId> = self.machines.objects[machine as usize].plan.choices_and_any().collect();
        for node in nodes {
            if self.machines.values.get(&node).is_some_and(|value| value.member.is_some()) {
                continue;
            }
            let value = self.value(node);
            let colon = self.mark(self.marks.colon);
            let rule = self.reserve("member");
            self.grammar.rules[rule].body = self.run(&[colon, value]);
            self.machines.values.entry(node).or_default().member = Some(rule);
        }
    }

    fn value_rule(&mut self, node: NodeId) {
        if self.machines.values.get(&node).is_some_and(|value| value.rule.is_some()) {
            return;
        }
        let value = self.value(node);
        let rule = match self.grammar.exprs[value].kind {
            ExprKind::Rule(rule, None) => rule,
            _ => {
                let rule = self.reserve("element");
                self.grammar.rules[rule].body = value;
                rule
            }
        };
        self.machines.values.entry(node).or_default().rule = Some(rule);
    }

    fn inline_values(&mut self, nodes: impl Iterator<Item = NodeId>) {
        for node in nodes {
            self.inline_value(node);
        }
    }
    /// The values of a node that the automaton reads.
    fn inline_value(&mut self, node: NodeId) -> u32 {
        if let Some(known) = self.machines.values.get(&node).and_then(|value| value.inline) {
            return known;
        }
        let shape = self.normalizer.shape(node, Mode::Exact);
        let next = self.machines.inline.len() as u32;
        let inline = *self.machines.inline_ids.get_or_insert_with(shape, || next);
        if inline == next {
            self.machines.inline.push(Inline::default());
            self.machines.waiting.push((node, inline));
        }
        self.machines.values.entry(node).or_default().inline = Some(inline);
        inline
    }

    fn make_inline(&mut self) {
        while let Some((node, inline)) = self.machines.waiting.pop() {
            if !self.normalizer.charge(1) {
                return;
            }
            let outer = std::mem::replace(&mut self.place, self.normalizer.ir.origin(node));
            let scalars = self.scalar_sets(node);
            let shape = self.normalizer.shape(node, Mode::Exact);
            let shape = self.normalizer.ir.shapes.get(shape).clone();
            let mut made = Inline { scalars, ..Inline::default() };
            for &array in &shape.arrays {
                let Some(machine) = self.array_machine(array) else { continue };
                let plan = self.machines.arrays[machine as usize].clone();
                self.inline_values(plan.choices_and_any());
                if !plan.unique || self.list_elements(&plan) {
                    made.arrays.push(machine);
                }
            }
            for &object in &shape.objects {
                let Some(machine) = self.object_machine(object, true) else { continue };
                let nodes: Vec<NodeId> = self.machines.objects[machine as usize].plan.choices_and_any().collect();
                self.inline_values(nodes.into_iter());
                made.objects.push(machine);
            }
            made.few = self.machines.inline[inline as usize].few.take();
            self.machines.inline[inline as usize] = made;
            self.place = outer;
        }
    }

    fn scalar_sets(&mut self, node: NodeId) -> Vec<ScalarSet> {
        let shape = self.normalizer.shape(node, Mode::Exact);
        let shape = self.normalizer.ir.shapes.get(shape).clone();
        let strings = Shape { strings: shape.strings, ..self.normalizer.no_shape() };
        let others = Shape { strings: self.normalizer.set.nothing(), ..shape.clone() };
        let apart = [(strings, ScalarKind::Strings), (others, ScalarKind::Others)];
        let listed = apart.map(|(shape, kind)| (self.normalizer.few_scalars(&shape), shape, kind));
        let sets = match listed.iter().any(|(few, ..)| *few == Words::Unknown) {
            false => listed.into(),
            true => vec![(self.normalizer.few_scalars(&shape), shape, ScalarKind::Both)],
        };
        sets.into_iter().filter_map(|(few, shape, kind)| self.scalar_set(few, &shape, kind)).collect()
    }

    fn scalar_set(&mut self, few: Words, shape: &Shape, kind: ScalarKind) -> Option<ScalarSet> {
        let few = match few {
            Words::These(texts) if texts.is_empty() => return None,
            Words::These(texts) => Some(texts.iter().map(|text| Arc::from(text.as_bytes())).collect()),
            Words::Many => None,
            Words::Unknown => {
                self.refuse_unique(ELEMENTS_UNKNOWN);
                None
            }
        };
        let terminal = self.scalar_terminal(shape, Extent::Comparable)?;
        Some(ScalarSet { terminal, kind, few })
    }

    /// Lists the values of elements that must differ and have few; false if that cannot be found out.
    fn list_elements(&mut self, plan: &ArrayPlan) -> bool {
        for &node in &plan.nodes {
            if !self.normalizer.is_inhabited(node, Mode::Exact) {
                continue;
            }
            let inline = self.inline_value(node) as usize;
            if self.machines.inline[inline].few.is_some() {
                continue;
            }
            match self.normalizer.few(node) {
                // With counts, an element that may not be anything of its node has fewer.
                Few::These(values) if !plan.is_counted() => self.machines.inline[inline].few = Some(values),
                Few::Many => {}
                Few::These(_) => {
                    let reason = "beside `contains` its elements must have many values, and these have few; `enum` can list the arrays";
                    self.refuse_unique(reason);
                    return false;
                }
                _ => {
                    self.refuse_unique(ELEMENTS_UNKNOWN);
                    return false;
                }
            }
        }
        true
    }

    fn refuse_unique(&mut self, reason: &str) {
        self.normalizer.sink.report(self.place, Mistake::Refused { keyword: "uniqueItems", reason: reason.to_owned() });
    }
}
