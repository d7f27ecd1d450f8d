//! What may come next in a state, and where it leads.

use std::sync::Arc;

use larkspur_grammar::automaton::LimitExceeded;
use larkspur_grammar::saved::SavedAutomaton;
use larkspur_grammar::{Automaton, Edge, EdgeSymbol, Exceptions, RegexId, RegexSet, RuleId, State, TerminalId, Untold};

use super::json::Json;
use super::state::{ArrayFrame, ArrayPhase, Frame, ObjectFrame, ObjectPhase, Place};
use super::{Containers, Inline, ObjectMachine, ScalarSet};
use crate::ir::NodeId;
use crate::plan::Trouble;
use crate::plan::objects::Place as Property;
use crate::strings::quoted;
use crate::writing::{canonical, decoded};

/// A way on, before it is known what is compared with what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    Close,
    /// The line of the first element or member.
    Line,
    Comma,
    Colon,
    /// Any of the listed names.
    Names,
    Key(u32),
    Cell(u32),
    /// A value of a choice, as a rule.
    Choice(u32),
    /// A value of a choice, in one of its ways: scalars, then arrays, then objects.
    Value(u32, u32),
}

/// Bits of a label below its kind, and of a value's for its way.
const VALUE_BITS: u32 = 29;
const WAY_BITS: u32 = 16;

impl Label {
    fn pack(self) -> u32 {
        let (kind, value) = match self {
            Label::Close => (0, 0),
            Label::Line => (0, 1),
            Label::Comma => (0, 2),
            Label::Colon => (0, 3),
            Label::Names => (0, 4),
            Label::Key(key) => (1, key),
            Label::Cell(cell) => (2, cell),
            Label::Choice(choice) => (3, choice),
            Label::Value(choice, way) => (4, choice << WAY_BITS | way),
        };
        debug_assert!(value < 1 << VALUE_BITS);
        kind << VALUE_BITS | value
    }
    fn unpack(packed: u32) -> Self {
        let value = packed & ((1 << VALUE_BITS) - 1);
        match (packed >> VALUE_BITS, value) {
            (0, 0) => Label::Close,
            (0, 1) => Label::Line,
            (0, 2) => Label::Comma,
            (0, 3) => Label::Colon,
            (0, _) => Label::Names,
            (1, _) => Label::Key(value),
            (2, _) => Label::Cell(value),
            (3, _) => Label::Choice(value),
            _ => Label::Value(value >> WAY_BITS, value & ((1 << WAY_BITS) - 1)),
        }
    }
}

/// What a label reads, as far as it decides where it leads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Read<'t> {
    /// Nothing that matters.
    Nothing,
    /// A name.
    Name(&'t str),
    /// A scalar.
    Scalar(&'t Json),
}

impl Automaton for Containers {
    fn start(&self, start: u32) -> State {
        self.starts[start as usize].clone()
    }
    fn is_final(&self, state: &State) -> bool {
        state.get::<Place>().frames.is_empty()
    }
    fn edges(&self, state: &State) -> Result<Vec<Edge>, LimitExceeded> {
        let place = state.get::<Place>();
        let too_deep = LimitExceeded { limit: "schema_unique_depth_max", value: self.depth_max as u64 };
        // Where the first bracket is too deep.
        if place.frames.len() > self.depth_max {
            return Err(too_deep);
        }
        let mut edges = Vec::new();
        let mut is_cut = false;
        for label in self.labels(place).map_err(|trouble| self.search_limit(trouble))? {
            if place.frames.len() == self.depth_max && self.opens(place, label) {
                is_cut = true;
            } else if let Some(symbol) = self.symbol(place, label)? {
                edges.push(Edge { symbol, label: label.pack() });
            }
        }
        // A text must not come to where nothing is allowed.
        if is_cut && edges.is_empty() { Err(too_deep) } else { Ok(edges) }
    }
    fn next(&self, state: &State, label: u32, text: &[u8]) -> Result<State, LimitExceeded> {
        let place = state.get::<Place>();
        let label = Label::unpack(label);
        let next = match label {
            Label::Names | Label::Cell(_) => {
                // What the terminals of names match is a string.
                let name = decoded(text).unwrap_or_default();
                self.apply(place, label, Read::Name(&name))?
            }
            // Brackets are not recorded.
            Label::Value(..) if !text.is_empty() => {
                let canonical = canonical(text).ok_or(NUMBER_LIMIT)?;
                self.apply(place, label, Read::Scalar(&Json::scalar(canonical.as_bytes())))?
            }
            _ => self.apply(place, label, Read::Nothing)?,
        };
        Ok(State::new(next))
    }
    fn terminals(&self) -> &[TerminalId] {
        &self.terminals
    }
    fn recorded(&self) -> &[TerminalId] {
        &self.recorded
    }
    fn rules(&self) -> &[RuleId] {
        &self.rules
    }
    fn excepted(&self, exception: &[u8], set: &mut RegexSet) -> RegexId {
        self.writing.scalar(&String::from_utf8_lossy(exception), set)
    }
    fn exception(&self, text: &[u8]) -> Vec<u8> {
        canonical(text).map_or_else(Vec::new, |text| text.into_string().into_bytes())
    }
    fn are_single_texts(&self, exceptions: &Exceptions) -> bool {
        // Numbers have several texts, and control characters hexadecimal digits in both cases.
        let is_plain = |exception: &[u8]| exception.first() == Some(&b'"') && !exception.contains(&b'\\');
        self.writing.has_one_text() && exceptions.iter().all(is_plain)
    }
    fn untold(&self, state: &State) -> State {
        let place = state.get::<Place>();
        match place.frames.last() {
            Some(Frame::Object(frame)) if !self.compares(place) && !frame.names.iter().all(Exceptions::is_empty) => {
                let mut untold = place.clone();
                untold.forget_names(None);
                State::new(untold)
            }
            _ => state.clone(),
        }
    }
    fn next_untold(&self, state: &State, label: u32) -> Option<Untold> {
        let place = state.get::<Place>();
        let label = Label::unpack(label);
        if self.compares(place) {
            let (next, but_for) = self.unlike_rivals(place, label)?;
            return Some(Untold { state: State::new(next), but_for });
        }
        let Label::Cell(cell) = label else { return None };
        let mut next = place.clone();
        next.forget_names(Some(cell));
        let Some(Frame::Object(frame)) = next.frames.last_mut() else { unreachable!("a name") };
        frame.phase = ObjectPhase::Colon(Property::Cell(cell));
        Some(Untold { state: State::new(next), but_for: Exceptions::default() })
    }
    fn save(&self) -> Option<SavedAutomaton> {
        self.saved()
    }
    fn starts(&self) -> u32 {
        self.starts.len() as u32
    }
    fn forgot_edges(&self, state: &State) -> bool {
        self.forgot_what_counts(state.get())
    }
}

/// The canonical form of a string.
pub(crate) fn of_string(text: &str) -> Vec<u8> {
    quoted(text).as_bytes().to_vec()
}

/// Numbers that are compared have exponents of 17 digits; the terminals have no others.
const NUMBER_LIMIT: LimitExceeded = LimitExceeded { limit: "exponent_digits_max", value: 17 };

fn every(_: NodeId) -> bool {
    true
}

impl Containers {
    /// What a search that was given up says. Other troubles end with the plans' making.
    pub(crate) fn search_limit(&self, _: Trouble) -> LimitExceeded {
        LimitExceeded { limit: "schema_search_max", value: self.search_max as u64 }
    }
    pub(crate) fn machine(&self, frame: &ObjectFrame) -> &ObjectMachine {
        &self.objects[frame.machine as usize]
    }
    pub(crate) fn is_unique(&self, frame: &Frame) -> bool {
        matches!(frame, Frame::Array(frame) if self.arrays[frame.machine as usize].unique)
    }
    /// Whether values are compared, and so read here.
    pub(crate) fn compares(&self, place: &Place) -> bool {
        place.frames.first().is_some_and(|frame| self.is_unique(frame))
    }

    /// Whether elements and members stand on lines of their own.
    fn has_lines(&self) -> bool {
        !self.lines.is_empty()
    }

    /// The ways on that lead to an end if all values differ.
    pub(crate) fn labels(&self, place: &Place) -> Result<Vec<Label>, Trouble> {
        let mut labels = Vec::new();
        let inline = self.compares(place);
        match place.frames.last() {
            None => {}
            Some(Frame::Array(frame)) => {
                let plan = &self.arrays[frame.machine as usize];
                if frame.phase != ArrayPhase::Element && plan.can_close(&frame.progress) {
                    labels.push(Label::Close);
                }
                for (index, (node, next)) in plan.next(&frame.progress).enumerate() {
                    if !plan.is_live(&next, &every)? {
                        continue;
                    }
                    match frame.phase {
                        ArrayPhase::After => labels.push(Label::Comma),
                        ArrayPhase::Open if self.has_lines() => labels.push(Label::Line),
                        _ => {
                            self.value_labels(node, index as u32, inline, &mut labels);
                            continue;
                        }
                    }
                    break;
                }
            }
            Some(Frame::Object(frame)) => {
                let plan = &self.machine(frame).plan;
                let is_end = matches!(frame.phase, ObjectPhase::Open | ObjectPhase::After);
                if is_end && plan.can_close(&frame.progress, self.any_order) {
                    labels.push(Label::Close);
                }
                match frame.phase {
                    ObjectPhase::Open | ObjectPhase::Key | ObjectPhase::After => {
                        let before = labels.len();
                        self.key_labels(frame, &mut labels)?;
                        let first = match frame.phase {
                            ObjectPhase::After => Some(Label::Comma),
                            ObjectPhase::Open if self.has_lines() => Some(Label::Line),
                            _ => None,
                        };
                        if let Some(first) = first.filter(|_| labels.len() > before) {
                            labels.truncate(before);
                            labels.push(first);
                        }
                    }
                    ObjectPhase::Colon(_) if inline => labels.push(Label::Colon),
                    ObjectPhase::Colon(property) | ObjectPhase::Value(property) => {
                        for index in plan.open_choices(&frame.progress, property, self.any_order)? {
                            let node = plan.choices_at(property)[index].node;
                            self.value_labels(node, index as u32, inline, &mut labels);
                        }
                    }
                }
            }
        }
        Ok(labels)
    }

    fn value_labels(&self, node: NodeId, choice: u32, inline: bool, labels: &mut Vec<Label>) {
        if !inline {
            labels.push(Label::Choice(choice));
            return;
        }
        let value = self.inline_of(node);
        let ways = (value.scalars.len() + value.arrays.len() + value.objects.len()) as u32;
        labels.extend((0..ways).map(|way| Label::Value(choice, way)));
    }

    pub(crate) fn inline_of(&self, node: NodeId) -> &super::Inline {
        let index = self.values[&node].inline.expect("a value that is read here");
        &self.inline[index as usize]
    }

    /// The names that may come next.
    fn key_labels(&self, frame: &ObjectFrame, labels: &mut Vec<Label>) -> Result<(), Trouble> {
        let mut has_names = false;
        let machine = self.machine(frame);
        for property in machine.plan.open_places(&frame.progress, self.any_order)? {
            labels.push(match property {
                Property::Key(_) if machine.names.is_some() => {
                    if std::mem::replace(&mut has_names, true) {
                        continue;
                    }
                    Label::Names
                }
                Property::Key(key) => Label::Key(key),
                Property::Cell(cell) => Label::Cell(cell),
            });
        }
        Ok(())
    }

    /// The listed names that may come next where the order is free.
    pub(crate) fn open_keys(&self, frame: &ObjectFrame) -> Result<Vec<u32>, Trouble> {
        let open = self.machine(frame).plan.open_places(&frame.progress, true)?;
        let key = |property: Property| if let Property::Key(key) = property { Some(key) } else { None };
        Ok(open.into_iter().filter_map(key).collect())
    }

    /// Whether a label reads a bracket that opens an array or object which is compared.
    fn opens(&self, place: &Place, label: Label) -> bool {
        let Label::Value(_, way) = label else { return false };
        let node = self.choice_node(place.frames.last().expect("a label"), label);
        way as usize >= self.inline_of(node).scalars.len()
    }

    /// What a label reads; `None` if there is nothing left of it.
    fn symbol(&self, place: &Place, label: Label) -> Result<Option<EdgeSymbol>, LimitExceeded> {
        let compares = self.compares(place);
        let fixed = |symbol: EdgeSymbol| -> Result<Option<EdgeSymbol>, LimitExceeded> {
            let is_live = !compares
                || self.is_surely_new(place, label)?
                || self.is_live(self.apply(place, label, Read::Nothing)?)?;
            Ok(is_live.then_some(symbol))
        };
        let (marks, lines) = (&self.marks, self.lines.get(place.frames.len().wrapping_sub(1)));
        match (label, place.frames.last().expect("a label")) {
            (Label::Close, Frame::Array(frame)) if frame.phase == ArrayPhase::Open => {
                fixed(EdgeSymbol::Terminal(marks.close_empty_bracket))
            }
            (Label::Close, Frame::Array(_)) => fixed(match lines {
                Some(lines) => EdgeSymbol::Rule(lines.close_bracket),
                None => EdgeSymbol::Terminal(marks.close_bracket),
            }),
            (Label::Close, Frame::Object(frame)) if frame.phase == ObjectPhase::Open => {
                fixed(EdgeSymbol::Terminal(marks.close_empty_brace))
            }
            (Label::Close, Frame::Object(_)) => fixed(match lines {
                Some(lines) => EdgeSymbol::Rule(lines.close_brace),
                None => EdgeSymbol::Terminal(marks.close_brace),
            }),
            (Label::Line, _) => fixed(EdgeSymbol::Rule(lines.expect("a line").first)),
            (Label::Comma, _) => fixed(match lines {
                Some(lines) => EdgeSymbol::Rule(lines.comma),
                None => EdgeSymbol::Terminal(marks.comma),
            }),
            (Label::Colon, _) => fixed(EdgeSymbol::Terminal(marks.colon)),
            (Label::Key(key), Frame::Object(frame)) => {
                let name = &self.machine(frame).keys[key as usize];
                fixed(EdgeSymbol::Terminal(name.terminal.expect("a name of its own")))
            }
            (Label::Names, Frame::Object(frame)) => self.names_symbol(place, frame),
            (Label::Cell(cell), Frame::Object(frame)) => self.cell_symbol(place, frame, cell),
            (Label::Choice(_) | Label::Value(..), frame) => {
                let node = self.choice_node(frame, label);
                match label {
                    Label::Value(_, way) => {
                        let Inline { scalars, arrays, .. } = self.inline_of(node);
                        match scalars.get(way as usize) {
                            Some(set) => self.scalar_symbol(place, label, set),
                            None if (way as usize) < scalars.len() + arrays.len() => {
                                fixed(EdgeSymbol::Terminal(marks.open_bracket))
                            }
                            None => fixed(EdgeSymbol::Terminal(marks.open_brace)),
                        }
                    }
                    _ => {
                        let value = &self.values[&node];
                        let rule = if matches!(frame, Frame::Array(_)) { value.rule } else { value.member };
                        Ok(Some(EdgeSymbol::Rule(rule.expect("a value that is a rule"))))
                    }
                }
            }
            (label, frame) => unreachable!("{label:?} in {frame:?}"),
        }
    }

    fn names_symbol(&self, place: &Place, frame: &ObjectFrame) -> Result<Option<EdgeSymbol>, LimitExceeded> {
        let machine = self.machine(frame);
        if self.forgot_names(place, &Exceptions::default()) {
            return Ok(Some(EdgeSymbol::Recorded(machine.names.expect("names"), Exceptions::untold())));
        }
        let open = self.open_keys(frame).map_err(|trouble| self.search_limit(trouble))?;
        let mut allowed = vec![false; machine.keys.len()];
        for key in open {
            let name = Read::Name(&machine.keys[key as usize].text);
            allowed[key as usize] = !self.compares(place)
                || self.is_surely_new(place, Label::Key(key))?
                || self.is_live(self.apply(place, Label::Names, name)?)?;
        }
        if allowed.iter().all(|allowed| !allowed) {
            return Ok(None);
        }
        let closed = machine.keys.iter().zip(allowed).filter(|(_, allowed)| !allowed);
        let exceptions = closed.fold(Exceptions::default(), |set, (key, _)| set.with(&of_string(&key.text)));
        Ok(Some(EdgeSymbol::Recorded(machine.names.expect("names"), exceptions)))
    }

    fn cell_symbol(&self, place: &Place, frame: &ObjectFrame, cell: u32) -> Result<Option<EdgeSymbol>, LimitExceeded> {
        let names = &self.machine(frame).cells[cell as usize];
        if self.forgot_names(place, &frame.names[cell as usize]) {
            return Ok(Some(EdgeSymbol::Recorded(names.terminal, Exceptions::untold())));
        }
        let mut exceptions = frame.names[cell as usize].clone();
        if self.compares(place) {
            for (name, place) in self.rival_names(place) {
                if !self.is_live(self.apply(&place, Label::Cell(cell), Read::Name(&name))?)? {
                    exceptions = exceptions.with(&of_string(&name));
                }
            }
        }
        let is_left = match &names.few {
            // As many as there are have been counted.
            Some(few) if !exceptions.is_untold() => few.iter().any(|name| !exceptions.contains(&of_string(name))),
            _ => true,
        };
        Ok(is_left.then_some(EdgeSymbol::Recorded(names.terminal, exceptions)))
    }

    fn scalar_symbol(&self, place: &Place, label: Label, set: &ScalarSet) -> Result<Option<EdgeSymbol>, LimitExceeded> {
        if place.is_untold && matches!(place.frames.last(), Some(Frame::Array(_))) {
            return Ok(Some(EdgeSymbol::Recorded(set.terminal, Exceptions::untold())));
        }
        // One that the array has read is wrong for certain: thousands are not tried each time.
        let mut exceptions = match place.frames.last() {
            Some(Frame::Array(frame)) => frame.elements.scalars(set.kind),
            _ => Exceptions::default(),
        };
        let rivals = match self.any_is_next(place)? {
            Some(true) => Vec::new(),
            Some(false) => return Ok(None),
            None => self.rival_scalars(place),
        };
        for (scalar, place) in rivals {
            if !set.kind.contains(&scalar) || exceptions.contains(&scalar) {
                continue;
            }
            let value = Json::scalar(scalar.clone());
            if !self.is_live(self.apply(&place, label, Read::Scalar(&value))?)? {
                exceptions = exceptions.with(&scalar);
            }
        }
        let is_left = match &set.few {
            Some(few) => few.iter().any(|scalar| !exceptions.contains(scalar)),
            None => true,
        };
        Ok(is_left.then_some(EdgeSymbol::Recorded(set.terminal, exceptions)))
    }

    /// The node of a label's choice.
    pub(crate) fn choice_node(&self, frame: &Frame, label: Label) -> NodeId {
        let (Label::Choice(choice) | Label::Value(choice, _)) = label else { unreachable!("a value") };
        match frame {
            Frame::Array(frame) => self.arrays[frame.machine as usize].choice(&frame.progress, choice).0,
            Frame::Object(frame) => {
                let (ObjectPhase::Colon(property) | ObjectPhase::Value(property)) = frame.phase else {
                    unreachable!("a value")
                };
                self.machine(frame).plan.choices_at(property)[choice as usize].node
            }
        }
    }

    /// The state behind a label.
    pub(crate) fn apply(&self, place: &Place, label: Label, read: Read) -> Result<Place, LimitExceeded> {
        let mut next = place.clone();
        let inline = self.compares(place);
        let top = next.frames.last_mut().expect("a label");
        match label {
            Label::Close => {
                let closed = next.frames.pop().expect("a label");
                if inline && let Some(parent) = next.frames.last_mut() {
                    let is_unique = self.is_unique(parent);
                    parent.take(closed.value(), is_unique);
                }
            }
            Label::Comma | Label::Line => match top {
                Frame::Array(frame) => frame.phase = ArrayPhase::Element,
                Frame::Object(frame) => frame.phase = ObjectPhase::Key,
            },
            Label::Colon => {
                if let Frame::Object(frame) = top
                    && let ObjectPhase::Colon(property) = frame.phase
                {
                    frame.phase = ObjectPhase::Value(property);
                }
            }
            Label::Names | Label::Key(_) | Label::Cell(_) => {
                let Frame::Object(frame) = top else { unreachable!("a name") };
                self.take_name(frame, label, read, inline);
            }
            Label::Choice(_) | Label::Value(..) => self.take_value(&mut next, label, read)?,
        }
        Ok(next)
    }

    fn take_name(&self, frame: &mut ObjectFrame, label: Label, read: Read, inline: bool) {
        let machine = &self.objects[frame.machine as usize];
        let property = match (label, read) {
            (Label::Key(key), _) => Property::Key(key),
            // The terminal has no other names, unless a saved grammar was forged.
            (Label::Names, Read::Name(name)) => Property::Key(machine.index.get(name).copied().unwrap_or(0)),
            (Label::Cell(cell), Read::Name(name)) => {
                let names = &mut frame.names[cell as usize];
                *names = names.with(&of_string(name));
                Property::Cell(cell)
            }
            _ => unreachable!("a name is read"),
        };
        if inline {
            frame.pending = match (property, read) {
                (Property::Key(key), _) => Some(machine.keys[key as usize].text.clone()),
                (_, Read::Name(name)) => Some(Arc::from(name)),
                _ => None,
            };
        }
        frame.phase = ObjectPhase::Colon(property);
    }

    fn take_value(&self, next: &mut Place, label: Label, read: Read) -> Result<(), LimitExceeded> {
        let top = next.frames.last_mut().expect("a label");
        let node = self.choice_node(top, label);
        let (Label::Choice(choice) | Label::Value(choice, _)) = label else { unreachable!("a value") };
        let is_unique = self.is_unique(top);
        match top {
            Frame::Array(frame) => {
                let plan = &self.arrays[frame.machine as usize];
                frame.progress = plan.choice(&frame.progress, choice).1;
                frame.phase = ArrayPhase::After;
            }
            Frame::Object(frame) => {
                let (ObjectPhase::Colon(property) | ObjectPhase::Value(property)) = frame.phase else {
                    unreachable!("a value")
                };
                let plan = &self.objects[frame.machine as usize].plan;
                let choice = &plan.choices_at(property)[choice as usize];
                frame.progress =
                    plan.after(&frame.progress, property, choice, self.any_order).expect("a choice that is offered");
                frame.phase = ObjectPhase::After;
            }
        }
        let Label::Value(_, way) = label else { return Ok(()) };
        let Inline { scalars, arrays, objects, .. } = self.inline_of(node);
        match (way as usize).checked_sub(scalars.len()) {
            None => {
                let Read::Scalar(scalar) = read else { unreachable!("a scalar is read") };
                top.take(scalar.clone(), is_unique);
            }
            Some(way) => next.frames.push(match arrays.get(way) {
                Some(&machine) => self.array_start(machine),
                None => self.object_start(objects[way - arrays.len()]),
            }),
        }
        Ok(())
    }

    /// An array behind its bracket.
    pub(crate) fn array_start(&self, machine: u32) -> Frame {
        Frame::Array(ArrayFrame::new(machine, self.arrays[machine as usize].start()))
    }
    /// An object behind its brace.
    pub(crate) fn object_start(&self, machine: u32) -> Frame {
        let object = &self.objects[machine as usize];
        Frame::Object(ObjectFrame::new(machine, object.cells.len(), object.plan.start(self.any_order)))
    }
}
