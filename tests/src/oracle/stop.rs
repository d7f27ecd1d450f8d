//! Section "`stop`" of `docs/semantics.md`: text that is read again where it is forced.

use std::rc::Rc;

use super::configuration::Configuration;
use super::earley::Expected;
use super::{Letter, Oracle, State};

/// Lexemes that end within each other, and texts of a `stop` that are read again; past it the answer is given up. Such a text
/// may be read again without end.
const DEPTH_MAX: usize = 24;
const READ_AGAIN_MAX: usize = 2_000;

impl Oracle {
    /// The ended lexemes by the string that `stop` may have read again, none first.
    pub(super) fn by_text_read_again(
        &self,
        configuration: &Configuration,
        ends: &[usize],
    ) -> Vec<(Vec<u8>, Vec<usize>)> {
        let mut groups: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
        for &at in ends {
            let text = match configuration.live[at].what {
                Expected::Lexeme(lexeme) => match &self.symbols.lexeme(lexeme).tail {
                    Some(tail) if tail.hidden => tail.string.clone().unwrap_or_default(),
                    _ => vec![],
                },
                Expected::Ignored(..) => vec![],
            };
            match groups.iter_mut().find(|(other, _)| *other == text) {
                Some((_, group)) => group.push(at),
                None => groups.push((text, vec![at])),
            }
        }
        groups.sort();
        groups
    }

    /// Reads `text` once more if it is forced: each byte is the only letter that may follow, nor may the text end.
    pub(super) fn read_again(&self, reached: Rc<Configuration>, text: &[u8]) -> Vec<Rc<Configuration>> {
        self.read_again.set(self.read_again.get() + 1);
        if self.read_again.get() > READ_AGAIN_MAX {
            self.undecided.set(true);
            return vec![reached];
        }
        self.deeper(|| self.after_reading_again(reached, text))
    }

    pub(super) fn after_reading_again(&self, reached: Rc<Configuration>, text: &[u8]) -> Vec<Rc<Configuration>> {
        let mut state = State { configurations: vec![reached.clone()] };
        for &byte in text {
            if self.is_accepting(&state) || self.next_letters(&state) != [Letter::Byte(byte)] {
                return vec![reached];
            }
            // The byte is among the next letters, but an answer may have been given up meanwhile.
            let Some(next) = self.feed_byte(&state, byte) else { return vec![reached] };
            state = next;
        }
        state.configurations
    }

    /// An answer from further on; none past [`DEPTH_MAX`].
    pub(super) fn deeper<T: Default>(&self, answer: impl FnOnce() -> T) -> T {
        if self.depth.get() >= DEPTH_MAX {
            self.undecided.set(true);
            return T::default();
        }
        self.depth.set(self.depth.get() + 1);
        let answer = answer();
        self.depth.set(self.depth.get() - 1);
        answer
    }
}
