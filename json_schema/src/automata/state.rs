//! States: a stack of arrays and objects that are open.

use std::collections::BTreeMap;
use std::sync::Arc;

use larkspur_grammar::Exceptions;
use smallvec::{SmallVec, smallvec};

use super::elements::Elements;
use super::json::{Json, JsonKind};
use crate::plan::arrays::ArrayProgress;
use crate::plan::objects::{ObjectProgress, Place as Property};

/// A place in a text: what is open, the outermost first. Nothing: the text has ended.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Place {
    pub frames: Vec<Frame>,
    /// A scalar or name among what is compared was forgotten, of which it is known that no rival had it.
    pub is_untold: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Frame {
    Array(ArrayFrame),
    Object(ObjectFrame),
}

/// An array that is open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ArrayFrame {
    pub machine: u32,
    pub phase: ArrayPhase,
    pub progress: ArrayProgress,
    /// What was read, where it is compared; without an element that is open.
    pub elements: Elements,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ArrayPhase {
    /// Behind the bracket.
    Open,
    /// Behind a comma.
    Element,
    /// Behind an element, or inside one that is open.
    After,
}

/// An object that is open.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ObjectFrame {
    pub machine: u32,
    pub phase: ObjectPhase,
    pub progress: ObjectProgress,
    /// Names that were written of each cell, in canonical form.
    pub names: SmallVec<[Exceptions; 1]>,
    /// What was read, where it is compared; without a property that is open.
    pub members: imbl::OrdMap<Arc<str>, Json>,
    /// The name of the property whose value is still to be read or is open, where values are compared.
    pub pending: Option<Arc<str>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ObjectPhase {
    /// Behind the brace.
    Open,
    /// Behind a comma.
    Key,
    /// Behind a key.
    Colon(Property),
    /// Behind the colon, where the automaton reads the value.
    Value(Property),
    /// Behind a property, or inside one that is open.
    After,
}

impl Place {
    /// Forgets which names the object at the top has, and that of a cell one was written.
    pub fn forget_names(&mut self, written: Option<u32>) {
        let Some(Frame::Object(frame)) = self.frames.last_mut() else { return };
        for (cell, names) in frame.names.iter_mut().enumerate() {
            if !names.is_empty() || written == Some(cell as u32) {
                *names = Exceptions::untold();
            }
        }
    }
}

impl ArrayFrame {
    pub fn new(machine: u32, progress: ArrayProgress) -> Self {
        Self { machine, phase: ArrayPhase::Open, progress, elements: Elements::default() }
    }
}

impl ObjectFrame {
    pub fn new(machine: u32, cells: usize, progress: ObjectProgress) -> Self {
        let names = smallvec![Exceptions::default(); cells];
        Self { machine, phase: ObjectPhase::Open, progress, names, members: imbl::OrdMap::new(), pending: None }
    }
    pub fn value(&self) -> Json {
        let members: BTreeMap<Arc<str>, Json> =
            self.members.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        Json::new(JsonKind::Object(members))
    }
}

impl Frame {
    pub fn value(&self) -> Json {
        match self {
            Frame::Array(frame) => frame.elements.value(),
            Frame::Object(frame) => frame.value(),
        }
    }
    /// Takes a value that was read.
    pub fn take(&mut self, value: Json, is_unique: bool) {
        match self {
            Frame::Array(frame) => frame.elements.push(value, is_unique),
            Frame::Object(frame) => {
                if let Some(name) = frame.pending.take() {
                    frame.members.insert(name, value);
                }
            }
        }
    }
}
