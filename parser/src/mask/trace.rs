//! The trace of a place: the terms that make its mask. All that depends on Earley sets is asked here, once for all
//! tokens that need to know.

use rustc_hash::FxHashSet;

use super::terms::{ALL, PieceId, TermId, Terms};
use super::work::Work;
use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::states::{DEAD, Guarded, LexStateId, LexemeSetId};
use crate::machine::{Cursor, Machine, Thread};
use crate::slicer::{PieceNode, Slicer};

/// So many pieces in places are looked at; then a walk that joins threads byte by byte is the shorter way.
const PLACES_MAX: usize = 1024;

/// What looking at a place counts, as `Limits::mask_work_max` counts it.
const PLACE_WORK: u64 = 16;

/// What a mask is made of.
#[derive(Default, Debug)]
pub(super) struct Trace {
    /// Sorted, each once.
    pub terms: Vec<TermId>,
    /// Nodes at which the machine is to be asked, on the way from the place. Sorted, each once.
    pub asks: Vec<PieceNode>,
}

/// What lexemes lead to that end in a set.
enum After {
    Nothing,
    /// The next set, and the lexer state that starts there.
    Set(SetId, LexStateId),
    /// It depends on the text of the lexemes.
    Ask,
}

impl Trace {
    /// The terms of a place. `None` if they are too many, or if they do not hold in it.
    pub fn of(
        cursor: Cursor,
        machine: &mut Machine,
        terms: &mut Terms,
        slicer: &Slicer,
        work: &mut Work,
    ) -> Result<Option<Self>, Fault> {
        let mut trace = Trace::default();
        let threads = machine.threads(cursor);
        let mut agenda: Vec<(PieceId, LexStateId, SetId)> =
            threads.iter().map(|thread| (ALL, thread.lex, thread.set)).collect();
        let mut seen: FxHashSet<(PieceId, LexStateId, SetId)> = FxHashSet::default();
        while let Some((piece, lex, set)) = agenda.pop() {
            if seen.len() >= PLACES_MAX {
                return Ok(None);
            }
            work.add(PLACE_WORK)?;
            let lex = machine.lexer.clamped(lex)?;
            let id = terms.term(slicer, (piece, lex), &mut machine.lexer, work)?;
            let term = terms.get(id);
            for &lex in &term.stuck {
                match machine.leads_on(Thread { lex, set, began: 0 }) {
                    Ok(true) => {}
                    Ok(false) | Err(Fault::Untold) => return Ok(None),
                    Err(fault) => return Err(fault),
                }
            }
            for &(ended, rest) in &term.ends {
                match after(machine, set, ended)? {
                    After::Nothing => {}
                    After::Set(next, start) => {
                        if seen.insert((rest, start, next)) {
                            agenda.push((rest, start, next));
                        }
                    }
                    After::Ask => trace.asks.extend(terms.nodes(rest)),
                }
            }
            if !term.inside.is_empty() {
                trace.terms.push(id);
            }
            trace.asks.extend(&term.asks);
        }
        trace.terms.sort_unstable();
        trace.terms.dedup();
        trace.asks.sort_unstable();
        trace.asks.dedup();
        Ok(Some(trace))
    }
}

fn after(machine: &mut Machine, set: SetId, (guard, ended): Guarded<LexemeSetId>) -> Result<After, Fault> {
    let next = match machine.lexer.records(ended) {
        false => machine.sets.scan(set, ended, &[], &mut machine.lexer).map(Some),
        true => machine.sets.scan_any(set, ended, &mut machine.lexer),
    };
    let started = next.and_then(|next| match next {
        None => Ok(After::Ask),
        Some(NO_SET) => Ok(After::Nothing),
        Some(next) => Ok(match machine.guarded_start(next, guard)? {
            DEAD => After::Nothing,
            start => After::Set(next, start),
        }),
    });
    match started {
        Err(Fault::Untold) => Ok(After::Ask),
        started => started,
    }
}
