//! What tokens are in units: of what runs repeat, such as the characters of a string. It is the same in all runs of that
//! unit, however often they repeat it and whatever comes behind them.

use larkspur_toktrie::{NO_TOKEN, TokenId, mask};
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
#[derive(Debug)]
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

impl UnitMap {
    /// `None` if units are not told apart by where they end, have too many states, or a token is too long. Cost: a walk
    /// over the trie as far as it is units.
    pub fn new(unit: Expr, slicer: &Slicer, lexer: &mut Lexer) -> Option<Self> {
        let rows = automaton(unit, lexer).ok().flatten()?;
        let depth_max = slicer.tries().map(|trie| trie.depth_max()).max().unwrap_or(0);
        if depth_max >= usize::from(NOT_BETWEEN) {
            return None;
        }
        let mut before = vec![NOT_BETWEEN; slicer.nodes_len()].into_boxed_slice();
        // One more than there are, so that what is no token can be written, too, and written over.
        let mut counted: Vec<(u8, TokenId)> = vec![(0, NO_TOKEN); slicer.words_len * 32 + 1];
        let mut counted_len = 0;
        // At each depth a state, and how many units ended before it.
        let mut path = [(0u8, 0u8); 256];
        for (trie, root) in slicer.rooted_tries() {
            let len = trie.len();
            let (bytes, depths) = (&trie.bytes()[..len], &trie.depths()[..len]);
            let (subtree_ends, tokens) = (&trie.subtree_ends()[..len], &trie.tokens()[..len]);
            let before = &mut before[root as usize..][..len];
            let mut node = 1;
            while node < len {
                let depth = depths[node] as u8;
                let (state, whole) = path[usize::from(depth - 1)];
                before[node] = if state == 0 { whole } else { NOT_BETWEEN };
                let next = rows[usize::from(state)][usize::from(bytes[node])];
                if next == DEAD {
                    node = subtree_ends[node] as usize;
                    continue;
                }
                counted[counted_len] = (whole + 1, tokens[node]);
                counted_len += usize::from(tokens[node] != NO_TOKEN);
                path[usize::from(depth)] = if next == WHOLE { (0, whole + 1) } else { (next, whole) };
                node += 1;
            }
        }
        counted.truncate(counted_len);
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
        Some(Self { rows, before, tokens, ends, checkpoints })
    }

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
            for (&class, &next) in row.classes.of.iter().zip(&self.rows[usize::from(state)]) {
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
