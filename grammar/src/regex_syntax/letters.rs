//! Regexes over letters: characters that a regex does not tell apart are one, written as a character of ASCII.
//!
//! An automaton that reads letters has no states in the middle of characters, of which a word of Unicode's has 400, and what
//! it matches can be spelled as the contents of a JSON string, which bytes cannot.

use rustc_hash::{FxHashMap, FxHashSet};

use super::RegexOptions;
use super::ast::{Anchor, Ast, Tree};
use super::follow::Automaton;
use super::lower::line_breaks;
use crate::dfa::Table;
use crate::regex::{ByteSet, CharClass, RegexId, RegexSet};

/// Letters of one regex at most.
const LETTERS_MAX: usize = 128;

/// What is written as a letter, indexed by its code.
pub(super) struct Letters(Vec<CharClass>);

impl Letters {
    /// The letters of a regex, and the regex with them in place of characters. `None` if it is about bytes, or has too many.
    pub fn read(tree: &Tree, options: &RegexOptions) -> Option<(Self, Tree)> {
        // What anchors look at, too.
        let breaks = CharClass::from_ranges(line_breaks(options).iter().copied());
        let mut classes: FxHashSet<CharClass> = FxHashSet::from_iter([breaks.clone(), CharClass::single('\n')]);
        for node in tree.nodes.iter() {
            match node {
                Ast::Literal(range) => classes.extend(text(tree, range)?.chars().map(CharClass::single)),
                Ast::Class(class) | Ast::Boundary { word: class, .. } => {
                    classes.insert(class.clone());
                }
                Ast::Bytes(_) => return None,
                _ => {}
            }
        }
        let letters = Self(alike(&classes.into_iter().collect::<Vec<_>>())?);
        let has_lines = |node: &Ast| matches!(node, Ast::Anchor(Anchor::LineStart | Anchor::LineEnd, _));
        if tree.nodes.iter().any(has_lines) && letters.all(&letters.class(&breaks)) != letters.all(&breaks) {
            return None;
        }
        let mut lettered = tree.clone();
        lettered.text.clear();
        for (node, old) in lettered.nodes.iter_mut().zip(tree.nodes.iter()) {
            match (node, old) {
                (Ast::Literal(written), Ast::Literal(range)) => {
                    let start = lettered.text.len() as u32;
                    lettered.text.extend(text(tree, range)?.chars().map(|c| letters.letter(c)));
                    *written = start..lettered.text.len() as u32;
                }
                (Ast::Class(class) | Ast::Boundary { word: class, .. }, _) => *class = letters.class(class),
                _ => {}
            }
        }
        Some((letters, lettered))
    }

    /// The letter that a character is, where the regex has that character by itself.
    fn letter(&self, c: char) -> u8 {
        let letter = self.0.iter().position(|class| class.contains(c)).expect("every character is one");
        letter as u8
    }

    /// The letters of a class that none of them is in only in part.
    fn class(&self, class: &CharClass) -> CharClass {
        let is_in = |letter: &CharClass| letter.ranges().first().is_some_and(|&(low, _)| holds(class, low));
        let letters = self.0.iter().enumerate().filter(|(_, letter)| is_in(letter));
        CharClass::from_ranges(letters.map(|(code, _)| (code as u32, code as u32)))
    }

    /// The characters of these letters.
    fn all(&self, letters: &CharClass) -> CharClass {
        let letters = self.0.iter().enumerate().filter(|(code, _)| holds(letters, *code as u32));
        CharClass::from_ranges(letters.flat_map(|(_, class)| class.ranges().iter().copied()))
    }

    /// The texts of characters that lead from an automaton's start to one of these states.
    pub fn texts(&self, automaton: &Automaton, accepting: Vec<bool>, set: &mut RegexSet) -> RegexId {
        let reaches = automaton.reaching(accepting.clone());
        if !reaches[0] {
            return set.nothing();
        }
        // Bytes that are no letters, and letters that lead nowhere, are left out.
        let states = 0..automaton.states();
        let next = |state: usize, class: usize| automaton.step(state, class).filter(|&next| reaches[next]);
        let classes = automaton.classes().iter().enumerate().filter_map(|(class, bytes)| {
            let characters = self.all(&ascii(bytes));
            let is_used = !characters.is_empty() && states.clone().any(|state| next(state, class).is_some());
            is_used.then_some((class, characters))
        });
        let (classes, characters): (Vec<usize>, Vec<CharClass>) = classes.unzip();
        if classes.is_empty() {
            return set.epsilon();
        }
        let next = states.flat_map(|state| classes.iter().map(move |&class| next(state, class)));
        let dfa = Table::new(classes.len(), 0, next.collect::<Vec<_>>(), accepting);
        let letters: Vec<RegexId> = characters.into_iter().map(|class| set.class(class)).collect();
        set.dfa(&dfa, &letters)
    }
}

fn text<'a>(tree: &'a Tree, range: &std::ops::Range<u32>) -> Option<&'a str> {
    std::str::from_utf8(&tree.text[range.start as usize..range.end as usize]).ok()
}

fn holds(class: &CharClass, code: u32) -> bool {
    char::from_u32(code).is_some_and(|c| class.contains(c))
}

fn ascii(bytes: &ByteSet) -> CharClass {
    let bytes = bytes.iter().filter(u8::is_ascii).map(u32::from);
    CharClass::from_ranges(bytes.map(|byte| (byte, byte)))
}

/// All characters by the classes that they are in, indexed by the code of one of them, where that is one of ASCII. `None` if
/// there are too many.
fn alike(classes: &[CharClass]) -> Option<Vec<CharClass>> {
    let ranges = classes.iter().flat_map(CharClass::ranges);
    let mut cuts: Vec<u32> = ranges.flat_map(|&(low, high)| [low, high + 1]).chain([0, 0xE000]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut alike: FxHashMap<Vec<bool>, Vec<(u32, u32)>> = FxHashMap::default();
    for (index, &low) in cuts.iter().enumerate() {
        let high = cuts.get(index + 1).map_or(u32::from(char::MAX), |next| next - 1);
        if char::from_u32(low).is_none() {
            continue;
        }
        let within = classes.iter().map(|class| holds(class, low)).collect();
        alike.entry(within).or_default().push((low, high));
    }
    if alike.len() > LETTERS_MAX {
        return None;
    }
    let mut letters = vec![CharClass::from_ranges([]); LETTERS_MAX];
    let (ascii, others): (Vec<_>, Vec<_>) = alike.into_values().partition(|ranges| ranges[0].0 < LETTERS_MAX as u32);
    for ranges in ascii {
        let code = ranges[0].0 as usize;
        letters[code] = CharClass::from_ranges(ranges);
    }
    let mut others: Vec<CharClass> = others.into_iter().map(CharClass::from_ranges).collect();
    others.sort_unstable_by_key(|class| class.ranges()[0]);
    let free = letters.iter_mut().filter(|letter| letter.is_empty());
    free.zip(others).for_each(|(letter, class)| *letter = class);
    Some(letters)
}
