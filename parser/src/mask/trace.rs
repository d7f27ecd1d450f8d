//! The trace of a place: the terms that make its mask. All that depends on Earley sets is asked here, once for all
//! tokens that need to know. Where no text is recorded or read again, there are [places](super::places) instead.

use larkspur_toktrie::{ROOT, TokenTrie};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::after::{After, after, lead_on};
use super::pieces::{ALL, PieceId, PieceRef};
use super::terms::{Term, TermId, Terms};
use super::work::Work;
use crate::cfg::LexemeId;
use crate::earley::ahead::LeftOut;
use crate::earley::sets::SetId;
use crate::error::Fault;
use crate::lexer::exceptions::{NO_TEXTS, TrieId};
use crate::lexer::states::{DEAD, LexStateId};
use crate::machine::{Cursor, Machine, Thread};
use crate::slicer::{PieceNode, Slicer};

/// So many pieces in places are looked at; then a walk that joins threads byte by byte is the shorter way.
pub(super) const PLACES_MAX: usize = 8_192;

/// New terms for one mask may take so many walks over the trie, as `Limits::mask_work_max` counts them. Grammars in use take two
/// at most, those in which each character is a lexeme some ten; where most tokens can be split at each of their bytes, what is
/// behind the ends takes hundreds.
pub(super) const WALKS_MAX: u64 = 16;

/// What looking at a place counts, as `Limits::mask_work_max` counts it.
pub(super) const PLACE_WORK: u64 = 16;

/// More different ways to leave out names are not kept apart in one mask.
const GROUPS_MAX: usize = 16;

/// What a mask is made of.
#[derive(Default, Debug)]
pub(super) struct Trace {
    /// Terms by what is left out. The first group leaves out nothing.
    pub groups: Groups,
    /// Nodes at which the machine is to be asked, on the way from the place. Sorted, each once.
    pub asks: Vec<PieceNode>,
    /// Whether it depends on what was read of the lexemes under way what is left out.
    pub depends_on_text: bool,
    /// How many lexeme ends deep it looks.
    pub depth: u8,
}

/// Most masks have one group.
pub(super) type Groups = SmallVec<[Group; 1]>;

/// Terms whose tokens count but for some.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub(super) struct Group {
    /// Nodes at which a lexeme leaves out its text: from there on terms say nothing. Sorted, each once.
    pub left_out: Box<[PieceNode]>,
    /// Sorted, each once.
    pub terms: SmallVec<[TermId; 12]>,
}

/// A piece, the lexer state and the set that it is looked at in, and the group.
type Place = (PieceId, LexStateId, SetId, usize);

/// What a trace is followed with, kept for its room.
#[derive(Default, Debug)]
pub(super) struct Agenda {
    /// Places with the thread whose lexemes began before them, or none, and how many lexeme ends deep they are.
    places: Vec<(Place, Option<Thread>, u8)>,
    seen: FxHashSet<Place>,
}

impl Trace {
    /// Of terms that leave out nothing, sorted, each once.
    pub fn plain(terms: &[TermId], depth: u8) -> Self {
        let group = Group { left_out: [].into(), terms: terms.into() };
        Self { groups: smallvec![group], depth, ..Self::default() }
    }

    /// The terms of a place. `None` if they are too many, or if they do not hold in it.
    pub fn of(
        cursor: Cursor,
        machine: &mut Machine,
        terms: &mut Terms,
        slicer: &Slicer,
        (work, Agenda { places, seen }): (&mut Work, &mut Agenda),
    ) -> Result<Option<Self>, Fault> {
        let mut trace = Trace { groups: smallvec![Group::default()], ..Trace::default() };
        let threads = machine.threads(cursor);
        seen.clear();
        places.clear();
        places.extend(threads.iter().map(|&thread| ((ALL, thread.lex, thread.set, 0), Some(thread), 0)));
        while let Some(((piece, lex, set, group), begun, depth)) = places.pop() {
            trace.depth = trace.depth.max(depth);
            let is_long = seen.len() >= PLACES_MAX || work.done() > WALKS_MAX * slicer.nodes_len() as u64;
            if is_long || trace.groups.len() > GROUPS_MAX {
                return Ok(None);
            }
            work.add(PLACE_WORK)?;
            let mut group = group;
            for lexeme in machine.lexer.counted_lexemes(lex) {
                let near = trace.near(machine, slicer, &terms.piece(piece), (lex, set, lexeme), begun)?;
                trace.asks.extend(&near);
                group = trace.group(group, near);
            }
            let lex = machine.repeated(lex, set)?;
            let lex = machine.lexer.clamped(lex)?;
            // What has just matched may be left out by one edge and taken by another, though not by all.
            let is_told = begun.is_some() && machine.lexer.state(lex).is_late;
            let of_piece = terms.of_piece((piece, lex, set), machine, slicer, work)?;
            let Some(of_piece) = of_piece else { return Ok(None) };
            for &id in &of_piece {
                let term = terms.get(id);
                if !lead_on(machine, &term.stuck, set)? {
                    return Ok(None);
                }
                let mut group = group;
                if !term.late.is_empty() {
                    let left_out = trace.left_out(machine, slicer, (&terms.piece(piece), term), set, begun)?;
                    group = trace.group(group, left_out);
                }
                for &(ended, rest) in &term.ends {
                    match after(machine, set, ended, is_told)? {
                        After::Nothing => {}
                        After::Set(next, start) => {
                            let place = (rest, start, next, group);
                            if seen.insert(place) {
                                places.push((place, None, depth.saturating_add(1)));
                            }
                        }
                        After::Ask => trace.asks.extend(&*terms.piece_nodes(slicer, rest)),
                    }
                }
                if !term.inside.is_empty() {
                    trace.groups[group].terms.push(id);
                }
            }
        }
        for group in &mut trace.groups {
            group.terms.sort_unstable();
            group.terms.dedup();
        }
        trace.asks.sort_unstable();
        trace.asks.dedup();
        Ok(Some(trace))
    }

    /// The group that leaves out what another one does and these nodes.
    fn group(&mut self, group: usize, mut left_out: Vec<PieceNode>) -> usize {
        if left_out.is_empty() {
            return group;
        }
        left_out.extend(&self.groups[group].left_out);
        left_out.sort_unstable();
        left_out.dedup();
        let known = self.groups.iter().position(|group| *group.left_out == *left_out);
        known.unwrap_or_else(|| {
            self.groups.push(Group { left_out: left_out.into(), terms: SmallVec::new() });
            self.groups.len() - 1
        })
    }

    /// Nodes of a piece, and below them, at which a counted lexeme may have used up all texts that begin so: there the machine is
    /// to be asked. It began in the set, at the nodes, or earlier in a thread. These are few, so that terms need not know them.
    fn near(
        &mut self,
        machine: &mut Machine,
        slicer: &Slicer,
        piece: &PieceRef,
        (lex, set, lexeme): (LexStateId, SetId, LexemeId),
        begun: Option<Thread>,
    ) -> Result<Vec<PieceNode>, Fault> {
        let mut found = Vec::new();
        let Some(mut texts) = machine.sets.counted_texts(set, lexeme, &mut machine.lexer)? else {
            // Few tokens begin a text and go on so far that few others do.
            let live = machine.lexer.row(lex)?.live;
            live.iter().for_each(|byte| piece.entered_by(slicer, byte, &mut found));
            return near_nodes(machine, slicer, &found, lex);
        };
        if texts == NO_TEXTS {
            return Ok(found);
        }
        if let Some(thread) = begun {
            self.depends_on_text = true;
            let tries = &machine.lexer.tries;
            texts = machine.text(thread).iter().fold(texts, |texts, &byte| tries.child(texts, byte));
        }
        let mut agenda: Vec<(TrieId, LexStateId, Option<Vec<PieceNode>>)> = vec![(texts, lex, None)];
        while let Some((texts, lex, nodes)) = agenda.pop() {
            for index in 0..machine.lexer.tries.children(texts).len() {
                let (byte, texts) = machine.lexer.tries.children(texts)[index];
                let mut entered = Vec::new();
                match &nodes {
                    Some(nodes) => entered.extend(nodes.iter().filter_map(|&node| slicer.child(node, byte))),
                    None => piece.entered_by(slicer, byte, &mut entered),
                }
                let lex = if entered.is_empty() { DEAD } else { machine.lexer.next(lex, byte)? };
                if lex == DEAD {
                    continue;
                }
                let len = machine.lexer.tries.len(texts);
                match machine.lexer.may_be_all(lex, lexeme, len) {
                    true => found.append(&mut entered),
                    false => agenda.push((texts, lex, Some(entered))),
                }
            }
        }
        Ok(found)
    }

    /// At which late nodes of a term its lexeme leaves out its text. It began in `set`, at the nodes of the piece, or earlier
    /// in a thread. Where edges may differ in that, the machine is to be asked.
    fn left_out(
        &mut self,
        machine: &mut Machine,
        slicer: &Slicer,
        (piece, term): (&PieceRef, &Term),
        set: SetId,
        begun: Option<Thread>,
    ) -> Result<Vec<PieceNode>, Fault> {
        let mut found = Vec::new();
        let Some(LeftOut { lists, is_by_all }) = machine.sets.left_out(set, term.lexeme, &mut machine.lexer)? else {
            found.extend(&*term.late);
            self.asks.extend(&*term.late);
            self.depends_on_text |= begun.is_some();
            return Ok(found);
        };
        let text = begun.map_or(&[][..], |thread| machine.text(thread));
        let mut entered = Vec::new();
        for texts in lists.iter() {
            self.depends_on_text |= begun.is_some();
            let texts = &texts[texts.partition_point(|other| **other < *text)..];
            let texts = &texts[..texts.partition_point(|other| other.starts_with(text))];
            if texts.is_empty() {
                continue;
            }
            let late = &*term.late;
            let mut finder = Finder { found: &mut found };
            if begun.is_some() {
                slicer.rooted_tries().for_each(|trie| finder.below(trie, ROOT, late, texts, text.len()));
                continue;
            }
            let mut from = texts.partition_point(|text| text.is_empty());
            while let Some(byte) = texts.get(from).map(|text| text[0]) {
                let len = texts[from..].partition_point(|text| text[0] == byte);
                piece.entered_by(slicer, byte, &mut entered);
                for node in entered.drain(..) {
                    let (trie, root) = slicer.trie_of(node);
                    finder.at((trie, root), node - root, late, &texts[from..from + len], 0);
                }
                from += len;
            }
        }
        if !is_by_all {
            self.asks.extend(&found);
        }
        Ok(found)
    }
}

/// Looks for nodes to which texts lead.
struct Finder<'a> {
    found: &'a mut Vec<PieceNode>,
}

impl Finder<'_> {
    /// Looks at a node, to which the texts lead by their bytes up to `at`, and below it. The texts are sorted; `late` are the
    /// nodes that count, ascending.
    fn at(
        &mut self,
        (trie, root): (&TokenTrie, PieceNode),
        node: u32,
        late: &[PieceNode],
        texts: &[Box<[u8]>],
        at: usize,
    ) {
        let late = within(late, root + node, root + trie.subtree_ends()[node as usize]);
        if late.is_empty() {
            return;
        }
        if texts.first().is_some_and(|first| first.len() == at + 1) && late[0] == root + node {
            self.found.push(root + node);
        }
        if texts.last().is_some_and(|last| last.len() > at + 1) {
            self.below((trie, root), node, late, texts, at + 1);
        }
    }

    /// Looks below a node, at most as deep as the trie. Texts that are over count no more.
    fn below(
        &mut self,
        (trie, root): (&TokenTrie, PieceNode),
        node: u32,
        late: &[PieceNode],
        texts: &[Box<[u8]>],
        at: usize,
    ) {
        let mut from = texts.partition_point(|text| text.len() <= at);
        while let Some(byte) = texts.get(from).map(|text| text[at]) {
            let len = texts[from..].partition_point(|text| text[at] == byte);
            if let Some(child) = trie.child(node, byte) {
                self.at((trie, root), child, late, &texts[from..from + len], at);
            }
            from += len;
        }
    }
}

/// Of ascending nodes those from `first` to before `end`.
fn within(nodes: &[PieceNode], first: PieceNode, end: PieceNode) -> &[PieceNode] {
    let nodes = &nodes[nodes.partition_point(|&node| node < first)..];
    &nodes[..nodes.partition_point(|&node| node < end)]
}

/// Of nodes and those below them the first ones at which few texts are left of a lexeme, entered from a state.
fn near_nodes(
    machine: &mut Machine,
    slicer: &Slicer,
    nodes: &[PieceNode],
    lex: LexStateId,
) -> Result<Vec<PieceNode>, Fault> {
    let mut found = Vec::new();
    let mut states = Vec::new();
    for &first in nodes {
        let (trie, root) = slicer.trie_of(first);
        let base = usize::from(trie.depths()[(first - root) as usize]) - 1;
        let (mut node, end) = (first - root, trie.subtree_ends()[(first - root) as usize]);
        states.clear();
        states.push(lex);
        while node < end {
            states.truncate(usize::from(trie.depths()[node as usize]) - base);
            let from = *states.last().expect("the state above");
            let next = machine.lexer.next(from, trie.bytes()[node as usize])?;
            if machine.lexer.state(next).is_near {
                found.push(root + node);
            }
            if next == DEAD || machine.lexer.state(next).is_near {
                node = trie.subtree_ends()[node as usize];
                continue;
            }
            states.push(next);
            node += 1;
        }
    }
    Ok(found)
}
