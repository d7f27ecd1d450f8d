//! What follows lexemes that end inside of tokens.

use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::guards::Guarded;
use crate::lexer::states::{DEAD, LexStateId, LexemeSetId};
use crate::machine::{Machine, Thread};

/// What lexemes lead to that end in a set.
pub(super) enum After {
    Nothing,
    /// The next set, and the lexer state that starts there.
    Set(SetId, LexStateId),
    /// It depends on the text of the lexemes, or a text may be read again.
    Ask,
}

/// What follows lexemes, if their text is not left out; with `is_told` whatever it is.
pub(super) fn after(
    machine: &mut Machine,
    set: SetId,
    (guard, ended): Guarded<LexemeSetId>,
    is_told: bool,
) -> Result<After, Fault> {
    if machine.may_read_again(ended) {
        return Ok(After::Ask);
    }
    let next = match machine.lexer.records(ended) {
        false => machine.sets.scan(set, ended, &[], &mut machine.lexer).map(Some),
        true if is_told => machine.sets.scan_any(set, ended, &mut machine.lexer),
        true => machine.sets.scan_other(set, ended, &mut machine.lexer),
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

/// Whether the states of a term in which lexemes may have nothing behind them lead on.
pub(super) fn lead_on(machine: &mut Machine, stuck: &[LexStateId], set: SetId) -> Result<bool, Fault> {
    for &lex in stuck {
        match machine.leads_on(Thread { lex, set, began: 0 }) {
            Ok(true) => {}
            Ok(false) | Err(Fault::Untold) => return Ok(false),
            Err(fault) => return Err(fault),
        }
    }
    Ok(true)
}
