//! Whether a regular language of characters holds a text, and whether a text is in it: derivatives over [`RegexSet`].
//!
//! Follows J. Brzozowski, JACM 11(4), 1964: a breadth-first search over derivatives, one for each class of characters
//! that the expression cannot tell apart. Differs: expressions without `&` and `~` are not searched, since they hold a
//! text by construction; the search has fuel, and what it leaves open is said to be open.
//! Used to find out whether sub-schemas exclude each other; the engine decides emptiness of the finished terminals.

use larkspur_grammar::{ByteSet, RegexId, RegexNode, RegexSet};
use rustc_hash::{FxHashMap, FxHashSet};

/// Derivatives taken by one question at most. 4,000 = a few milliseconds.
const STEPS_MAX: usize = 4_000;
/// Classes of characters told apart in one state at most; beyond it the question stays open.
const CLASSES_MAX: usize = 2_000;

/// What is remembered between questions about one [`RegexSet`].
#[derive(Debug, Default)]
pub(crate) struct Search {
    derivatives: FxHashMap<(RegexId, char), Option<RegexId>>,
    /// Whether the expression is free of `&`, `~` and what cannot be derived, so that it holds a text.
    positive: FxHashMap<RegexId, bool>,
    answers: FxHashMap<RegexId, Option<bool>>,
}

impl Search {
    /// Whether the language has no text; `None` if the search was given up.
    pub fn is_empty(&mut self, set: &mut RegexSet, regex: RegexId) -> Option<bool> {
        if let Some(&answer) = self.answers.get(&regex) {
            return answer;
        }
        let answer = self.search(set, regex);
        self.answers.insert(regex, answer);
        answer
    }

    /// Whether the text is in the language; `None` if that cannot be found out.
    pub fn matches(&mut self, set: &mut RegexSet, regex: RegexId, text: &str) -> Option<bool> {
        let mut state = regex;
        for c in text.chars() {
            state = self.derivative(set, state, c)?;
            if *set.node(state) == RegexNode::Nothing {
                return Some(false);
            }
        }
        Some(set.info(state).nullable)
    }

    fn search(&mut self, set: &mut RegexSet, regex: RegexId) -> Option<bool> {
        let mut seen: FxHashSet<RegexId> = FxHashSet::default();
        let mut queue = std::collections::VecDeque::from([regex]);
        let mut steps = 0;
        let mut open = false;
        while let Some(state) = queue.pop_front() {
            if *set.node(state) == RegexNode::Nothing || !seen.insert(state) {
                continue;
            }
            let info = set.info(state);
            if info.nullable || self.is_positive(set, state) {
                return Some(false);
            }
            if info.len_max.is_some_and(|max| max < info.len_min) {
                continue;
            }
            let Some(letters) = first_letters(set, state) else {
                open = true;
                continue;
            };
            for letter in letters {
                steps += 1;
                if steps > STEPS_MAX {
                    return None;
                }
                match self.derivative(set, state, letter) {
                    Some(next) => queue.push_back(next),
                    None => open = true,
                }
            }
        }
        if open { None } else { Some(true) }
    }

    fn is_positive(&mut self, set: &RegexSet, regex: RegexId) -> bool {
        let mut stack = vec![regex];
        while let Some(&top) = stack.last() {
            if self.positive.contains_key(&top) {
                stack.pop();
                continue;
            }
            let node = set.node(top);
            let answer = match node {
                RegexNode::Nothing | RegexNode::And(_) | RegexNode::Not(_) | RegexNode::MultipleOf { .. } => {
                    Some(false)
                }
                RegexNode::Literal(_) | RegexNode::Class(_) | RegexNode::Bytes(_) => Some(true),
                RegexNode::Repeat(_, 0, _) => Some(true),
                RegexNode::Concat(_) | RegexNode::Or(_) | RegexNode::Repeat(..) | RegexNode::Shortest(_) => {
                    let mut known = node.children().iter().map(|child| self.positive.get(child).copied());
                    if matches!(node, RegexNode::Or(_)) {
                        let pending = known.clone().any(|answer| answer.is_none());
                        if known.any(|answer| answer == Some(true)) { Some(true) } else { (!pending).then_some(false) }
                    } else {
                        let pending = known.clone().any(|answer| answer.is_none());
                        if known.any(|answer| answer == Some(false)) { Some(false) } else { (!pending).then_some(true) }
                    }
                }
            };
            match answer {
                Some(answer) => {
                    self.positive.insert(top, answer);
                    stack.pop();
                }
                None => {
                    let pending = node.children().iter().copied().filter(|child| !self.positive.contains_key(child));
                    stack.extend(pending);
                }
            }
        }
        self.positive[&regex]
    }

    /// What may follow `letter`; `None` if a node has no derivative here.
    pub fn derivative(&mut self, set: &mut RegexSet, regex: RegexId, letter: char) -> Option<RegexId> {
        let mut stack = vec![regex];
        while let Some(&top) = stack.last() {
            if self.derivatives.contains_key(&(top, letter)) {
                stack.pop();
                continue;
            }
            let node = set.node(top).clone();
            // Of a concatenation only the parts up to the first that is not empty are looked at.
            let parts: &[RegexId] = match &node {
                RegexNode::Concat(parts) => {
                    let first = parts.iter().position(|&part| !set.info(part).nullable);
                    &parts[..first.map_or(parts.len(), |at| at + 1)]
                }
                RegexNode::Shortest(_) => &[],
                other => other.children(),
            };
            let pending = parts.iter().copied().filter(|&part| !self.derivatives.contains_key(&(part, letter)));
            let before = stack.len();
            stack.extend(pending);
            if stack.len() > before {
                continue;
            }
            let derived: Option<Vec<RegexId>> = parts.iter().map(|&part| self.derivatives[&(part, letter)]).collect();
            let answer = derived.and_then(|derived| derive(set, &node, &derived, letter));
            self.derivatives.insert((top, letter), answer);
            stack.pop();
        }
        self.derivatives[&(regex, letter)]
    }
}

/// The derivative of a node, given those of its children.
fn derive(set: &mut RegexSet, node: &RegexNode, derived: &[RegexId], letter: char) -> Option<RegexId> {
    Some(match node {
        RegexNode::Nothing => set.nothing(),
        RegexNode::Literal(bytes) => {
            let mut buffer = [0; 4];
            match bytes.strip_prefix(letter.encode_utf8(&mut buffer).as_bytes()) {
                Some(rest) => {
                    let rest = rest.to_vec();
                    set.literal(&rest)
                }
                None => set.nothing(),
            }
        }
        RegexNode::Class(class) => {
            if class.contains(letter) {
                set.epsilon()
            } else {
                set.nothing()
            }
        }
        RegexNode::Concat(parts) => {
            let mut ways = Vec::with_capacity(derived.len());
            for (index, &first) in derived.iter().enumerate() {
                let rest: Vec<RegexId> = std::iter::once(first).chain(parts[index + 1..].iter().copied()).collect();
                ways.push(set.concat(&rest));
            }
            set.or(&ways)
        }
        RegexNode::Or(_) => set.or(derived),
        RegexNode::And(_) => set.and(derived),
        RegexNode::Not(_) => set.not(derived[0]),
        RegexNode::Repeat(child, min, max) => {
            let rest = set.repeat(*child, min.saturating_sub(1), max.map(|max| max - 1));
            set.concat(&[derived[0], rest])
        }
        RegexNode::Bytes(bytes) if is_ascii(bytes) => {
            if u8::try_from(letter).is_ok_and(|byte| bytes.contains(byte)) {
                set.epsilon()
            } else {
                set.nothing()
            }
        }
        RegexNode::Bytes(_) | RegexNode::Shortest(_) | RegexNode::MultipleOf { .. } => return None,
    })
}

fn is_ascii(bytes: &ByteSet) -> bool {
    bytes.intersect(&ByteSet::range(0x80, 0xFF)).is_empty()
}

/// A class of characters: ranges of codes, both ends included.
type Ranges = Box<[(u32, u32)]>;

/// The classes of characters that stand at the expression's first position; `None` if a node's first characters are not
/// known.
pub(crate) fn first_classes(set: &RegexSet, regex: RegexId) -> Option<Vec<Ranges>> {
    let mut ranges: FxHashSet<Ranges> = FxHashSet::default();
    let mut seen: FxHashSet<RegexId> = FxHashSet::default();
    let mut stack = vec![regex];
    while let Some(top) = stack.pop() {
        if !seen.insert(top) {
            continue;
        }
        match set.node(top) {
            RegexNode::Nothing => {}
            RegexNode::Literal(bytes) => {
                if let Some(first) = std::str::from_utf8(bytes).ok()?.chars().next() {
                    ranges.insert(Box::new([(first as u32, first as u32)]));
                }
            }
            RegexNode::Class(class) => {
                ranges.insert(class.ranges().into());
            }
            RegexNode::Concat(parts) => {
                for &part in parts.iter() {
                    stack.push(part);
                    if !set.info(part).nullable {
                        break;
                    }
                }
            }
            RegexNode::Bytes(bytes) if is_ascii(bytes) => {
                ranges.insert(bytes.iter().map(|byte| (u32::from(byte), u32::from(byte))).collect());
            }
            RegexNode::Bytes(_) | RegexNode::Shortest(_) | RegexNode::MultipleOf { .. } => return None,
            node => stack.extend(node.children()),
        }
    }
    Some(ranges.into_iter().collect())
}

/// One character of each class that the expression's first position tells apart; `None` if there are too many or a
/// node's first characters are not known.
fn first_letters(set: &RegexSet, regex: RegexId) -> Option<Vec<char>> {
    // Sweep over all ends of ranges; characters in the same classes are alike.
    let classes = first_classes(set, regex)?;
    let mut events: Vec<(u32, usize)> = Vec::new();
    for (index, class) in classes.iter().enumerate() {
        events.extend(class.iter().flat_map(|&(low, high)| [(low, index), (high + 1, index)]));
    }
    events.sort_unstable();
    let mut inside: Vec<u64> = vec![0; classes.len().div_ceil(64)];
    let mut kinds: FxHashSet<Vec<u64>> = FxHashSet::default();
    let mut letters = Vec::new();
    let mut at = 0;
    let mut next = 0;
    loop {
        while events.get(next).is_some_and(|&(code, _)| code == at) {
            let index = events[next].1;
            inside[index / 64] ^= 1 << (index % 64);
            next += 1;
        }
        let end = events.get(next).map_or(0x110000, |&(code, _)| code);
        let letter = (at..end).find_map(char::from_u32);
        if let Some(letter) = letter
            && !kinds.contains(&inside)
        {
            kinds.insert(inside.clone());
            letters.push(letter);
            if letters.len() > CLASSES_MAX {
                return None;
            }
        }
        if end >= 0x110000 {
            return Some(letters);
        }
        at = end;
    }
}
