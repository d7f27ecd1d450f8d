//! What tokens are in units: of what runs repeat, such as the characters of a string. It is the same in all runs of that
//! unit, however often they repeat it and whatever comes behind them.

use larkspur_toktrie::{NO_TOKEN, TokenId, TokenTrie, mask};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::counting_sort::by_key;
use crate::error::Fault;
use crate::lexer::arena::Expr;
use crate::lexer::states::Lexer;
use crate::slicer::{PieceNode, Slicer};

/// States of a unit's automaton at most. A character of JSON, with its escapes, has some fifteen.
const STATES_MAX: usize = 128;
/// Pairs of states to see that texts are units. The letters of Unicode have two hundred.
const PAIRS_MAX: usize = 512;
/// What a byte leads to where it is no state: nothing, and a whole unit.
const DEAD: u8 = u8::MAX;
const WHOLE: u8 = u8::MAX - 1;
/// No unit ends before a node.
const NOT_BETWEEN: u8 = u8::MAX;

/// What a byte does in a unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum UnitStep {
    Dead,
    /// Ends it.
    Whole,
    /// Leads to a state of it, which is not 0.
    Inside(u8),
}

/// So many units have masks of their own; those of others are the next smaller one's and some tokens more.
const CHECKPOINTS: [u8; 7] = [2, 4, 6, 8, 12, 16, u8::MAX];

/// The tokens, and the nodes of the trie, by how many units they are.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct UnitMap {
    /// What bytes lead to from each state of the unit, 0 being its start.
    rows: Vec<[u8; 256]>,
    /// By node, how many units the bytes before it are, if none of them is begun and not ended.
    before: Box<[u8]>,
    /// Tokens that are units, the last one perhaps not to its end, by how many.
    tokens: Box<[TokenId]>,
    /// Where those of so many units end.
    ends: [u32; 256],
    /// The tokens of at most so many units as [`CHECKPOINTS`] has.
    checkpoints: [Box<[u32]>; CHECKPOINTS.len()],
}

/// A [`UnitMap`] that is being made, a part of the trie at a time: no request waits for all of it.
#[derive(Debug)]
pub(super) struct UnitWalk {
    rows: Vec<[u8; 256]>,
    before: Box<[u8]>,
    /// The tokens that were met, by how many units they are.
    counted: Vec<(u8, TokenId)>,
    /// The trie that is walked, by its number, and the next node in it.
    at: (usize, usize),
    path: Path,
}

/// At each depth a state, and how many units ended before it.
type Path = [(u8, u8); 256];

impl UnitWalk {
    /// `None` if units are not told apart by where they end, have too many states, or a token is too long.
    pub fn new(unit: Expr, slicer: &Slicer, lexer: &mut Lexer) -> Option<Self> {
        let rows = automaton(unit, lexer).ok().flatten()?;
        let depth_max = slicer.tries().map(|trie| trie.depth_max()).max().unwrap_or(0);
        (depth_max < usize::from(NOT_BETWEEN)).then(|| Self::of(rows, slicer))
    }

    fn of(rows: Vec<[u8; 256]>, slicer: &Slicer) -> Self {
        let before = vec![NOT_BETWEEN; slicer.nodes_len()].into_boxed_slice();
        let counted = Vec::with_capacity(slicer.words_len * 32);
        Self { rows, before, counted, at: (0, 1), path: [(0, 0); 256] }
    }

    /// Goes on for so many nodes, and returns how many of these were not there.
    pub fn go_on(&mut self, slicer: &Slicer, nodes: usize) -> usize {
        let mut left = nodes;
        for (trie, root) in slicer.rooted_tries().skip(self.at.0) {
            left -= self.walk(trie, root, left);
            if self.at.1 < trie.len() {
                break;
            }
            self.at = (self.at.0 + 1, 1);
        }
        left
    }

    /// Walks a trie from where it was left, over so many nodes at most; how many it was.
    fn walk(&mut self, trie: &TokenTrie, root: PieceNode, nodes: usize) -> usize {
        let len = trie.len();
        let (bytes, depths) = (&trie.bytes()[..len], &trie.depths()[..len]);
        let (subtree_ends, tokens) = (&trie.subtree_ends()[..len], &trie.tokens()[..len]);
        let (rows, path) = (&*self.rows, &mut self.path);
        let before = &mut self.before[root as usize..][..len];
        let mut node = self.at.1;
        let mut left = nodes;
        while node < len && left > 0 {
            left -= 1;
            let depth = depths[node] as u8;
            let (state, whole) = path[usize::from(depth - 1)];
            before[node] = if state == 0 { whole } else { NOT_BETWEEN };
            let next = rows[usize::from(state)][usize::from(bytes[node])];
            if next == DEAD {
                node = subtree_ends[node] as usize;
                continue;
            }
            if tokens[node] != NO_TOKEN {
                self.counted.push((whole + 1, tokens[node]));
            }
            path[usize::from(depth)] = if next == WHOLE { (0, whole + 1) } else { (next, whole) };
            node += 1;
        }
        self.at.1 = node;
        nodes - left
    }

    /// The map, after all was walked. Cost: linear in the tokens.
    pub fn finish(self, slicer: &Slicer) -> UnitMap {
        let Self { rows, before, counted, .. } = self;
        let (tokens, starts) = by_key(counted.into_iter());
        let ends = std::array::from_fn(|units| starts[units + 1]);
        let mut words: Box<[u32]> = vec![0; slicer.words_len].into();
        let mut added = 0;
        let checkpoints = CHECKPOINTS.map(|units| {
            let end = ends[usize::from(units)] as usize;
            tokens[added..end].iter().for_each(|&token| mask::allow(&mut words, token));
            added = end;
            words.clone()
        });
        UnitMap { rows, before, tokens, ends, checkpoints }
    }
}

impl UnitMap {
    /// Whether at least `min` and at most `max` units are before a node, each to its end.
    pub fn is_behind(&self, node: PieceNode, min: u32, max: u32) -> bool {
        let before = self.before[node as usize];
        before != NOT_BETWEEN && (min..=max).contains(&u32::from(before))
    }

    /// Whether fewer or more units are before a node, each to its end.
    pub fn is_elsewhere(&self, node: PieceNode, min: u32, max: u32) -> bool {
        let before = self.before[node as usize];
        before != NOT_BETWEEN && !(min..=max).contains(&u32::from(before))
    }

    /// What a byte does where a unit is begun so far; 0 where none is.
    pub fn step(&self, begun: u8, byte: u8) -> UnitStep {
        match self.rows[usize::from(begun)][usize::from(byte)] {
            DEAD => UnitStep::Dead,
            WHOLE => UnitStep::Whole,
            state => UnitStep::Inside(state),
        }
    }

    /// How many units a text is; `None` if it is not made of whole ones.
    pub fn count(&self, text: &[u8]) -> Option<u32> {
        let step = |(count, begun): (u32, u8), &byte: &u8| match self.step(begun, byte) {
            UnitStep::Dead => None,
            UnitStep::Whole => Some((count + 1, 0)),
            UnitStep::Inside(begun) => Some((count, begun)),
        };
        let (count, begun) = text.iter().try_fold((0, 0), step)?;
        (begun == 0).then_some(count)
    }

    /// Whether a unit can begin with a byte.
    pub fn begin_with(&self, byte: u8) -> bool {
        self.rows[0][usize::from(byte)] != DEAD
    }

    /// Whether each text of an expression, which has some, is one whole unit, as far as that is found out with little work.
    pub fn are_all_of(&self, expr: Expr, lexer: &mut Lexer) -> bool {
        let mut seen = FxHashSet::from_iter([(expr, 0u8)]);
        let mut agenda = vec![(expr, 0u8)];
        // What is left after a byte has texts, but the expression may be one of several of which it has none.
        let mut has_texts = false;
        while let Some((expr, state)) = agenda.pop() {
            let Ok(row) = lexer.expr_row(expr) else { return false };
            let mut last = None;
            for (&class, &next) in row.classes.of.iter().zip(&self.rows[usize::from(state)]) {
                // Bytes that are the same to both mostly follow on each other.
                if last.replace((class, next)) == Some((class, next)) {
                    continue;
                }
                let expr = row.next[usize::from(class)];
                match next {
                    _ if expr == Expr::NOTHING => {}
                    WHOLE if expr == Expr::EPSILON => has_texts = true,
                    DEAD | WHOLE => return false,
                    _ if seen.len() > PAIRS_MAX || lexer.arena().nullable(expr) => return false,
                    next if seen.insert((expr, next)) => agenda.push((expr, next)),
                    _ => {}
                }
            }
        }
        has_texts
    }

    /// The tokens of more than `min` and at most `max` units, of which the last one may not be ended.
    pub fn tokens_of(&self, min: u32, max: u32) -> &[TokenId] {
        let end = |units: u32| self.ends[units.min(255) as usize] as usize;
        &self.tokens[end(min)..end(max)]
    }

    /// The tokens of at most so many units, of which the last one may not be ended.
    pub fn tokens(&self, max: u32) -> &[TokenId] {
        &self.tokens[..self.ends[max.min(255) as usize] as usize]
    }

    /// The same as a mask.
    pub fn mask(&self, max: u32) -> Box<[u32]> {
        let max = max.min(255) as usize;
        let checkpoints = CHECKPOINTS.map(usize::from).into_iter().zip(&self.checkpoints);
        let (units, mut words) = match checkpoints.rev().find(|(units, _)| *units <= max) {
            Some((units, words)) => (units, words.clone()),
            None => (0, vec![0; self.checkpoints[0].len()].into()),
        };
        let more = &self.tokens[self.ends[units] as usize..self.ends[max] as usize];
        more.iter().for_each(|&token| mask::allow(&mut words, token));
        words
    }

    pub fn bytes(&self) -> usize {
        let masks: usize = self.checkpoints.iter().map(|words| size_of_val(&**words)).sum();
        size_of::<Self>() + size_of_val(&*self.rows) + size_of_val(&*self.before) + size_of_val(&*self.tokens) + masks
    }
}

/// What bytes lead to from each state of a unit, 0 being its start, to which none leads. `None` if more can follow a whole unit, or
/// if there are too many states.
fn automaton(unit: Expr, lexer: &mut Lexer) -> Result<Option<Vec<[u8; 256]>>, Fault> {
    let mut rows: Vec<[u8; 256]> = Vec::new();
    let mut states = vec![unit];
    let mut number: FxHashMap<Expr, u8> = FxHashMap::from_iter([(unit, 0)]);
    while let Some(&state) = states.get(rows.len()) {
        let row = lexer.expr_row(state)?;
        let mut next = Vec::with_capacity(row.next.len());
        for &expr in &row.next {
            let is_whole = lexer.arena().nullable(expr);
            next.push(match expr {
                Expr::NOTHING => DEAD,
                Expr::EPSILON => WHOLE,
                // A unit that has begun is told from one that has not.
                _ if is_whole || expr == unit || states.len() >= STATES_MAX => return Ok(None),
                _ => *number.entry(expr).or_insert_with(|| {
                    states.push(expr);
                    (states.len() - 1) as u8
                }),
            });
        }
        rows.push(std::array::from_fn(|byte| next[usize::from(row.classes.of[byte])]));
    }
    Ok(Some(rows))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use larkspur_grammar::Limits;
    use larkspur_toktrie::Vocabulary;

    use super::*;
    use crate::lexer::arena::Arena;
    use crate::shortcut::Shortcuts;

    #[test]
    fn a_walk_in_parts_finds_what_one_walk_finds() {
        let texts = [
            "a",
            "b",
            "ab",
            "abab",
            r"\n",
            r"a\nb",
            "\\",
            r"a\",
            "\"",
            r#"a"b"#,
            r#"\""#,
            "abcdefghijklmnopqrstuvwxyz",
            "é",
        ];
        let mut vocabulary = Vocabulary::builder();
        for (id, text) in (0..).zip(texts) {
            vocabulary.token(id, text);
        }
        let vocabulary = Arc::new(vocabulary.build().expect("some tokens"));
        let arena = Arena::new(&Limits::default(), vocabulary.clone(), Shortcuts::default());
        let slicer = Slicer::new(&vocabulary, &["[a-z]+".to_owned()], &arena, &Limits::default()).expect("a regex");
        // A letter, or a backslash and whatever there is in ASCII.
        let letter = std::array::from_fn(|byte| match byte as u8 {
            b'a'..=b'z' => WHOLE,
            b'\\' => 1,
            _ => DEAD,
        });
        let rows = vec![letter, std::array::from_fn(|byte| if byte < 128 { WHOLE } else { DEAD })];
        let mut whole = UnitWalk::of(rows.clone(), &slicer);
        assert!(whole.go_on(&slicer, 1_000) > 0);
        let whole = whole.finish(&slicer);
        for nodes in 1..8 {
            let mut walk = UnitWalk::of(rows.clone(), &slicer);
            while walk.go_on(&slicer, nodes) == 0 {}
            assert_eq!(walk.finish(&slicer), whole);
        }
        let units = |id: usize| (0..=30).find(|&max| whole.tokens(max).contains(&(id as TokenId)));
        let found: Vec<Option<u32>> = (0..texts.len()).map(units).collect();
        let begun = [1, 1, 2, 4, 1, 3, 1, 2].map(Some);
        assert_eq!(found, [&begun[..], &[None, None, Some(1), Some(26), None]].concat());
        assert_eq!(
            texts.map(|text| whole.count(text.as_bytes())),
            [Some(1), Some(1), Some(2), Some(4), Some(1), Some(3), None, None, None, None, Some(1), Some(26), None,]
        );
    }
}
