//! Where in a value a byte of its text stands, also where the text goes wrong there.

use super::{parse_json, pointer_step};
use crate::limits::Limits;
use crate::span::SourceId;

/// A step from a value to one inside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum PathStep {
    /// The member of an object with this key.
    Key(String),
    /// The element of an array, from 0.
    Index(u64),
}

/// The steps as a JSON pointer.
pub fn path_pointer(path: &[PathStep]) -> String {
    path.iter().fold(String::new(), |pointer, step| match step {
        PathStep::Key(key) => pointer + "/" + &pointer_step(key),
        PathStep::Index(index) => format!("{pointer}/{index}"),
    })
}

/// An array or object that is open.
enum Frame {
    Array {
        index: u64,
    },
    /// The key, once it is complete, and whether its colon has come.
    Object {
        key: Option<String>,
        colon: bool,
    },
}

/// The value that the byte at `at` belongs to, by its steps from the outermost one. What stands before `at` is taken to be
/// the beginning of a JSON text. A byte that ends or separates belongs to the array or object, a key to its object; but if
/// the value before it `may_end` there in no way, such as `1` where only `10` would do, to that value.
pub fn path_at(text: &[u8], at: usize, may_end: bool) -> Vec<PathStep> {
    let at = at.min(text.len());
    let mut frames: Vec<Frame> = Vec::new();
    // Something of the value that is expected has come.
    let mut begun = false;
    let mut in_string = false;
    let mut next = 0;
    while next < at {
        let byte = text[next];
        let start = next;
        next += 1;
        match byte {
            b'"' => {
                let end = string_end(text, start, at);
                next = end.unwrap_or(at);
                in_string = end.is_none();
                match frames.last_mut() {
                    Some(Frame::Object { key, colon: false }) => *key = end.and_then(|end| decoded(&text[start..end])),
                    _ => begun = true,
                }
            }
            b'{' => frames.push(Frame::Object { key: None, colon: false }),
            b'[' => {
                frames.push(Frame::Array { index: 0 });
                begun = false;
            }
            b'}' | b']' => {
                frames.pop();
                begun = true;
            }
            b':' => {
                begun = false;
                if let Some(Frame::Object { colon, .. }) = frames.last_mut() {
                    *colon = true;
                }
            }
            b',' => {
                begun = false;
                match frames.last_mut() {
                    Some(Frame::Array { index }) => *index += 1,
                    Some(object) => *object = Frame::Object { key: None, colon: false },
                    None => {}
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ => begun = true,
        }
    }
    // At the end of the text, too, the value may have ended.
    let ends = may_end && !in_string && text.get(at).is_none_or(|byte| b",}] \t\n\r".contains(byte));
    let is_outside = frames.last().is_some_and(|frame| match frame {
        Frame::Array { index } => (begun && ends) || (*index == 0 && !begun && text.get(at) == Some(&b']')),
        Frame::Object { colon, .. } => !colon || (begun && ends),
    });
    let shown = frames.len() - usize::from(is_outside);
    frames.into_iter().take(shown).map_while(Frame::step).collect()
}

impl Frame {
    fn step(self) -> Option<PathStep> {
        match self {
            Frame::Array { index } => Some(PathStep::Index(index)),
            Frame::Object { key, .. } => key.map(PathStep::Key),
        }
    }
}

/// The byte after the string that begins at `start`, if it ends before `at`.
fn string_end(text: &[u8], start: usize, at: usize) -> Option<usize> {
    let mut next = start + 1;
    while next < at {
        match text[next] {
            b'"' => return Some(next + 1),
            b'\\' => next += 2,
            _ => next += 1,
        }
    }
    None
}

fn decoded(text: &[u8]) -> Option<String> {
    let document = parse_json(SourceId(0), std::str::from_utf8(text).ok()?, &Limits::default()).ok()?;
    document.string(document.root()).map(str::to_owned)
}
