//! Elements that differ: whether what is open can still become a value that was not there before.
//!
//! The *rivals* of an array whose elements differ are the values that its open element must not become, or had better
//! not: those that were read, and those that later elements need. Only rivals that agree with all that was read of the
//! element matter. Where none is left, whatever follows makes a new value; so a search for an end need only look at ways
//! along which some rival still agrees, and these are as long as the rivals. Each search first drops the rivals that do
//! not agree with where it starts, since thousands may have been read.

use std::collections::BTreeMap;
use std::sync::Arc;

use larkspur_grammar::{Exceptions, LimitExceeded};
use rustc_hash::FxHashSet;

use super::json::{Json, JsonKind};
use super::run::{Label, Read, of_string};
use super::state::{ArrayFrame, ArrayPhase, Frame, ObjectPhase, Place};
use super::{Containers, Inline, ScalarSet};
use crate::ir::NodeId;
use crate::plan::Trouble;
use crate::plan::objects::Place as Property;

/// A scalar and a name that stand for one that no rival has. No text has them: they are not in canonical form, and no
/// JSON text is as long as the latter's length says.
const NEW_SCALAR: &[u8] = b"?";
const NEW_NAME: &str = "\u{10FFFF}\u{0}new\u{0}\u{10FFFF}";

/// The same for one that was forgotten.
const UNTOLD_SCALAR: &[u8] = b"??";
const UNTOLD_NAME: &str = "\u{10FFFF}\u{0}untold\u{0}\u{10FFFF}";

/// Elements that must get different values of few, at most; past it the search is given up.
const MATCHED_MAX: usize = 2_000;

/// What an open element must not become.
struct Rival<'a> {
    whole: &'a Json,
    /// What agrees with the top of the stack, or what it has where the next value comes.
    part: &'a Json,
}

impl Containers {
    /// Whether an end can be reached with all values different that must be.
    pub(crate) fn is_live(&self, place: Place) -> Result<bool, LimitExceeded> {
        if let [Frame::Array(_)] = &place.frames[..]
            && let Some(decided) = self.is_decided(&place)?
        {
            return Ok(decided);
        }
        if self.can_be_new(&place)? {
            return Ok(true);
        }
        let rivals = self.rivals(&place, 0, false).map(|rival| rival.whole.clone()).collect();
        let mut tried: FxHashSet<Place> = FxHashSet::default();
        let mut stack = vec![self.narrowed(&place, rivals)];
        while let Some(place) = stack.pop() {
            if tried.contains(&place) {
                continue;
            }
            match self.is_decided(&place)? {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => self.ways_on(&place, &mut stack)?,
            }
            tried.insert(place);
            if tried.len() > self.search_max {
                return Err(self.search_limit(Trouble::SearchGivenUp));
            }
        }
        Ok(false)
    }

    /// Whether no array that is open has read a value twice or counts its values, so that a scalar that no rival has makes all
    /// open elements new.
    fn counts_nothing(&self, place: &Place) -> bool {
        place.frames.iter().all(|frame| match frame {
            Frame::Array(array) => {
                !self.is_unique(frame) || (!array.elements.repeats() && self.needed(array).next().is_none())
            }
            Frame::Object(_) => true,
        })
    }

    /// Whether a value may be a scalar that no rival has.
    fn has_new_scalars(&self, node: NodeId) -> bool {
        let inline = self.values.get(&node).and_then(|value| value.inline);
        inline.is_some_and(|inline| self.inline[inline as usize].scalars.iter().any(|set| set.few.is_none()))
    }

    /// Whether the next value may be a scalar that no rival has, and no array counts its values: what a search from here
    /// finds at once, without the rivals, of which there may be thousands.
    fn can_be_new(&self, place: &Place) -> Result<bool, LimitExceeded> {
        let Some(Frame::Object(frame)) = place.frames.last() else { return Ok(false) };
        let (ObjectPhase::Colon(property) | ObjectPhase::Value(property)) = frame.phase else { return Ok(false) };
        if !self.counts_nothing(place) {
            return Ok(false);
        }
        let plan = &self.machine(frame).plan;
        for choice in plan.choices_at(property).iter().filter(|choice| self.has_new_scalars(choice.node)) {
            let next = plan.after(&frame.progress, property, choice, self.any_order);
            let is_live = next.map_or(Ok(false), |next| plan.is_live(&next, self.any_order, &|_| true));
            if is_live.map_err(|trouble| self.search_limit(trouble))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether behind one of the labels of a place a search would [find](Self::can_be_new) a new scalar at once: a property that
    /// may come next has one choice, which then is one that leads to an end.
    pub(crate) fn is_surely_new(&self, place: &Place, label: Label) -> Result<bool, LimitExceeded> {
        let Some(Frame::Object(frame)) = place.frames.last() else { return Ok(false) };
        let plan = &self.machine(frame).plan;
        let is_new =
            |property: Property| matches!(plan.choices_at(property), [only] if self.has_new_scalars(only.node));
        let is_new = match (label, frame.phase) {
            (Label::Key(key), _) => is_new(Property::Key(key)),
            (Label::Colon, ObjectPhase::Colon(property)) => is_new(property),
            (Label::Comma, _) => {
                let open = plan.open_places(&frame.progress, self.any_order);
                open.map_err(|trouble| self.search_limit(trouble))?.into_iter().any(is_new)
            }
            _ => false,
        };
        Ok(is_new && self.counts_nothing(place))
    }

    /// The states behind a state, as far as they need to be told apart.
    fn ways_on(&self, place: &Place, stack: &mut Vec<Place>) -> Result<(), LimitExceeded> {
        let mut ways = Vec::new();
        for label in self.labels(place).map_err(|trouble| self.search_limit(trouble))? {
            let mut go = |read: Read| -> Result<(), LimitExceeded> {
                ways.push(self.apply(place, label, read)?);
                Ok(())
            };
            match (label, place.frames.last()) {
                (Label::Names, Some(Frame::Object(frame))) => {
                    for key in self.open_keys(frame).map_err(|trouble| self.search_limit(trouble))? {
                        go(Read::Name(&self.machine(frame).keys[key as usize].text))?;
                    }
                }
                (Label::Cell(cell), Some(Frame::Object(frame))) => {
                    match &self.machine(frame).cells[cell as usize].few {
                        Some(few) => {
                            let names = &frame.names[cell as usize];
                            for name in few.iter().filter(|name| !names.contains(&of_string(name))) {
                                go(Read::Name(name))?;
                            }
                        }
                        None => go(Read::Name(NEW_NAME))?,
                    }
                }
                (Label::Value(_, way), Some(frame)) => {
                    let value = self.inline_of(self.choice_node(frame, label));
                    match value.scalars.get(way as usize).map(|set| set.few.as_ref()) {
                        None => go(Read::Nothing)?,
                        Some(Some(few)) => {
                            for scalar in few.iter() {
                                go(Read::Scalar(&Json::scalar(scalar.clone())))?;
                            }
                        }
                        Some(None) => go(Read::Scalar(&Json::scalar(NEW_SCALAR)))?,
                    }
                }
                _ => go(Read::Nothing)?,
            }
        }
        stack.extend(ways.into_iter().rev());
        Ok(())
    }

    /// What can be said of a state without looking further.
    fn is_decided(&self, place: &Place) -> Result<Option<bool>, LimitExceeded> {
        let mut is_open = false;
        for (level, frame) in place.frames.iter().enumerate() {
            let Frame::Array(array) = frame else { continue };
            if !self.is_unique(frame) {
                continue;
            }
            if array.elements.repeats() || !self.has_values(array)? {
                return Ok(Some(false));
            }
            is_open |= level + 1 < place.frames.len() && self.rivals(place, level, false).next().is_some();
        }
        Ok(if is_open { None } else { Some(true) })
    }

    /// Whether the elements that are still needed can get values of their own.
    fn has_values(&self, frame: &ArrayFrame) -> Result<bool, LimitExceeded> {
        let needed: Vec<(&Arc<[Json]>, u64)> = self.needed(frame).collect();
        let Some((first, _)) = needed.first() else { return Ok(true) };
        if needed.iter().any(|(few, count)| *count > few.len() as u64) {
            return Ok(false);
        }
        let count = needed.iter().map(|(_, count)| *count as usize).sum();
        if needed.iter().all(|(few, _)| Arc::ptr_eq(few, first)) {
            let free = first.iter().filter(|&value| !frame.elements.set().contains(value)).take(count).count();
            return Ok(free == count);
        }
        if count > MATCHED_MAX {
            return Err(self.search_limit(Trouble::SearchGivenUp));
        }
        let each = needed.iter().flat_map(|&(few, count)| std::iter::repeat_n(few, count as usize));
        Ok(has_matching(&each.collect::<Vec<_>>(), frame.elements.set()))
    }

    /// Whether the next element of an array in which nothing is open may be any that it has not read, or none; `None` if some may
    /// be and some not. Where all that are needed have the same values, it does not matter which of them is next.
    pub(crate) fn any_is_next(&self, place: &Place) -> Result<Option<bool>, LimitExceeded> {
        let [Frame::Array(array)] = &place.frames[..] else { return Ok(None) };
        if array.phase != ArrayPhase::Element || !self.is_unique(&place.frames[0]) {
            return Ok(None);
        }
        let plan = &self.arrays[array.machine as usize];
        let Some(own) = self.few_of(plan.nodes[plan.cell(plan.index(&array.progress))]) else { return Ok(None) };
        if !self.needed(array).all(|(few, _)| Arc::ptr_eq(few, own)) {
            return Ok(None);
        }
        self.has_values(array).map(Some)
    }

    /// The values of the elements that are still needed and have few, each with how many of them follow each other.
    fn needed<'a>(&'a self, frame: &'a ArrayFrame) -> impl Iterator<Item = (&'a Arc<[Json]>, u64)> {
        let plan = &self.arrays[frame.machine as usize];
        let index = plan.index(&frame.progress);
        let must = index + u64::from(frame.phase == ArrayPhase::Element);
        let end = plan.min.max(must);
        // All elements of the last cell are alike.
        let last = plan.cells.len() as u64 - 1;
        let few = move |index: u64| self.few_of(plan.nodes[plan.cell(index)]);
        let before = (index..end.min(last)).filter_map(move |index| Some((few(index)?, 1)));
        let alike = end.saturating_sub(index.max(last));
        before.chain(few(last).filter(|_| alike > 0).map(|few| (few, alike)))
    }
    fn few_of(&self, node: NodeId) -> Option<&Arc<[Json]>> {
        let inline = self.values.get(&node)?.inline?;
        self.inline[inline as usize].few.as_ref()
    }

    /// What the element that is open at a level must not become, as far as it agrees with what was read. The part of it
    /// is at the top of the stack, or, with `at_value`, what comes next there. What an array at the top has read itself
    /// is left out: [`Elements::scalars`](super::elements::Elements::scalars) has it.
    fn rivals<'a>(
        &'a self,
        place: &'a Place,
        level: usize,
        at_value: bool,
    ) -> impl Iterator<Item = Rival<'a>> + use<'a> {
        let is_top = level + 1 == place.frames.len();
        let array = match place.frames.get(level) {
            Some(Frame::Array(array)) => Some(array),
            _ => None,
        };
        let read = array.filter(|_| !is_top).into_iter().flat_map(|array| array.elements.set());
        let mut known: Option<&Arc<[Json]>> = None;
        let needed = array.into_iter().flat_map(|array| self.needed(array)).flat_map(move |(few, _)| {
            let is_known = known.is_some_and(|known| Arc::ptr_eq(known, few));
            known = Some(few);
            if is_known { &[][..] } else { few }
        });
        let open = place.frames.get(level + 1..).unwrap_or_default();
        let part = move |whole: &'a Json| {
            let mut part = whole;
            for (index, frame) in open.iter().enumerate() {
                let is_top = index + 1 == open.len();
                if !agrees(frame, part, is_top) {
                    return None;
                }
                if !is_top || at_value {
                    part = inside(frame, part)?;
                }
            }
            Some(part)
        };
        read.chain(needed).filter_map(move |whole| Some(Rival { whole, part: part(whole)? }))
    }

    fn all_rivals<'a>(&'a self, place: &'a Place, at_value: bool) -> impl Iterator<Item = (usize, Rival<'a>)> + 'a {
        let levels = (0..place.frames.len()).filter(|&level| self.is_unique(&place.frames[level]));
        levels.flat_map(move |level| self.rivals(place, level, at_value).map(move |rival| (level, rival)))
    }

    /// The place behind a scalar or name that no rival has, and those that some have: with it the open elements differ from
    /// all others, and what it was counts no more until the next one begins.
    pub(crate) fn unlike_rivals(&self, place: &Place, label: Label) -> Option<(Place, Exceptions)> {
        let scalar = Json::scalar(UNTOLD_SCALAR);
        let (read, but_for) = match label {
            Label::Value(_, way) => {
                let Inline { scalars, .. } = self.inline_of(self.choice_node(place.frames.last()?, label));
                let ScalarSet { kind, few, .. } = scalars.get(way as usize)?;
                if few.is_some() && self.any_is_next(place).ok()?.is_some() {
                    // All are rivals.
                    return None;
                }
                let rivals = self.rival_scalars(place);
                let rivals = rivals.iter().map(|(scalar, _)| scalar).filter(|scalar| kind.contains(scalar));
                (Read::Scalar(&scalar), rivals.fold(Exceptions::default(), |set, scalar| set.with(scalar)))
            }
            Label::Cell(_) => {
                let rivals = self.rival_names(place);
                let add = |set: Exceptions, (name, _): &(Arc<str>, Place)| set.with(&of_string(name));
                (Read::Name(UNTOLD_NAME), rivals.iter().fold(Exceptions::default(), add))
            }
            _ => return None,
        };
        let next = self.apply(place, label, read).ok()?;
        Some((Place { is_untold: true, ..next }, but_for))
    }

    /// Whether it was forgotten which names stand in the object at the top, of which these are known, or which of its names to
    /// come a rival has.
    pub(crate) fn forgot_names(&self, place: &Place, names: &Exceptions) -> bool {
        place.is_untold && (names.contains(&of_string(UNTOLD_NAME)) || self.all_rivals(place, false).next().is_some())
    }

    /// Whether a place's edges depend on what was forgotten: something is compared with it, or values are counted.
    pub(crate) fn forgot_what_counts(&self, place: &Place) -> bool {
        let counts = |frame: &Frame| match frame {
            Frame::Array(array) => {
                let mut nodes = self.arrays[array.machine as usize].nodes.iter();
                self.is_unique(frame) && nodes.any(|&node| self.few_of(node).is_some())
            }
            Frame::Object(_) => false,
        };
        place.is_untold
            && (place.frames.iter().any(counts)
                || (self.all_rivals(place, false).next().is_some() && !self.is_settled(place)))
    }

    /// Whether each edge of a place is there whatever the rivals have where they were forgotten. Names need no look: what
    /// their edges leave out is not known either, and said so. Whether a rival has the next name must be known.
    fn is_settled(&self, place: &Place) -> bool {
        let is_named = |rival: &Rival| !matches!(rival.part.kind(), JsonKind::Object(members) if members.contains_key(UNTOLD_NAME));
        if !self.all_rivals(place, false).all(|(_, rival)| is_named(&rival)) {
            return false;
        }
        let is_settled = |label: Label| {
            let next = match label {
                Label::Names | Label::Cell(_) => return true,
                Label::Key(_) | Label::Colon | Label::Close => self.apply(place, label, Read::Nothing),
                _ => return false,
            };
            match (label, next) {
                // An empty object: none of those in which something was forgotten.
                (Label::Close, Ok(next)) => {
                    matches!(place.frames.last(), Some(Frame::Object(frame)) if frame.phase == ObjectPhase::Open)
                        && self.all_rivals(&next, false).next().is_none()
                }
                (_, Ok(next)) => matches!(self.can_be_new(&next), Ok(true)),
                (_, Err(_)) => false,
            }
        };
        self.labels(place).is_ok_and(|labels| labels.into_iter().all(is_settled))
    }

    /// The place with only these rivals of the outermost array's open element: when that ends, so does a search. Where later
    /// elements need values of few, all that was read counts.
    fn narrowed(&self, place: &Place, rivals: Vec<Json>) -> Place {
        let mut narrowed = place.clone();
        if let [Frame::Array(array), _, ..] = &mut narrowed.frames[..]
            && self.needed(array).next().is_none()
        {
            array.elements = array.elements.narrowed(rivals);
        }
        narrowed
    }

    /// The scalars that rivals have where a value comes next, besides those that an array at the top has read. With each the
    /// place for a search that is only about these rivals.
    pub(crate) fn rival_scalars(&self, place: &Place) -> Vec<(Arc<[u8]>, Place)> {
        let mut scalars: BTreeMap<Arc<[u8]>, Vec<Json>> = BTreeMap::new();
        for (level, Rival { whole, part }) in self.all_rivals(place, true) {
            if let Some(scalar) = part.as_scalar() {
                scalars.entry(scalar.clone()).or_default().extend((level == 0).then(|| whole.clone()));
            }
        }
        scalars.into_iter().map(|(scalar, rivals)| (scalar, self.narrowed(place, rivals))).collect()
    }

    /// The names that rivals have and the object at the top has not. With each the place for a search that is only about these
    /// rivals.
    pub(crate) fn rival_names(&self, place: &Place) -> Vec<(Arc<str>, Place)> {
        let Some(Frame::Object(frame)) = place.frames.last() else { return Vec::new() };
        let mut names: BTreeMap<Arc<str>, Vec<Json>> = BTreeMap::new();
        for (level, Rival { whole, part }) in self.all_rivals(place, false) {
            if let JsonKind::Object(members) = part.kind() {
                for name in members.keys().filter(|name| !frame.members.contains_key(*name)) {
                    names.entry(name.clone()).or_default().extend((level == 0).then(|| whole.clone()));
                }
            }
        }
        names.into_iter().map(|(name, rivals)| (name, self.narrowed(place, rivals))).collect()
    }
}

/// Whether a value may still be what is open.
fn agrees(frame: &Frame, rival: &Json, is_top: bool) -> bool {
    match (frame, rival.kind()) {
        (Frame::Array(frame), JsonKind::Array(elements)) => {
            let more = !is_top || frame.phase == ArrayPhase::Element;
            elements.len() >= frame.elements.len() + usize::from(more)
                && frame.elements.iter().zip(elements).all(|(mine, other)| mine == other)
        }
        (Frame::Object(frame), JsonKind::Object(members)) => {
            let more = frame.pending.is_some() || frame.phase == ObjectPhase::Key;
            members.len() >= frame.members.len() + usize::from(more)
                && frame.members.iter().all(|(name, value)| members.get(name) == Some(value))
                && frame.pending.as_ref().is_none_or(|name| members.contains_key(name))
        }
        _ => false,
    }
}

/// What a value has where the next one comes or is open.
fn inside<'r>(frame: &Frame, rival: &'r Json) -> Option<&'r Json> {
    match (frame, rival.kind()) {
        (Frame::Array(frame), JsonKind::Array(elements)) => elements.get(frame.elements.len()),
        (Frame::Object(frame), JsonKind::Object(members)) => members.get(frame.pending.as_ref()?),
        _ => None,
    }
}

/// Whether each list can give a value of its own that is not `seen`: a matching, by augmenting paths (H. Kuhn, Naval
/// Research Logistics Quarterly 2, 1955). Breadth first, so that nothing recurses.
pub(crate) fn has_matching(lists: &[&Arc<[Json]>], seen: &imbl::OrdSet<Json>) -> bool {
    let mut owner: rustc_hash::FxHashMap<&Json, usize> = rustc_hash::FxHashMap::default();
    for list in 0..lists.len() {
        // For each value that was reached, the list that asks for it.
        let mut asked: rustc_hash::FxHashMap<&Json, usize> = rustc_hash::FxHashMap::default();
        let mut queue = std::collections::VecDeque::from([list]);
        let mut free = None;
        while let Some(asking) = queue.pop_front() {
            for value in lists[asking].iter().filter(|&value| !seen.contains(value)) {
                if asked.contains_key(value) {
                    continue;
                }
                asked.insert(value, asking);
                match owner.get(value) {
                    Some(&other) => queue.push_back(other),
                    None => free = Some(value),
                }
            }
            if free.is_some() {
                break;
            }
        }
        let Some(mut value) = free else { return false };
        // Along the path, each list takes the value that it asked for and gives up its own.
        loop {
            let asking = asked[value];
            let before = owner.iter().find(|&(_, &other)| other == asking).map(|(&value, _)| value);
            owner.insert(value, asking);
            match before {
                Some(own) if asking != list => value = own,
                _ => break,
            }
        }
    }
    true
}
