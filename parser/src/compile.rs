//! The pipeline: linked grammar -> simplified -> lowered -> lexemes in the regex algebra -> pruned -> ready.

use std::sync::Arc;

use larkspur_grammar::diagnostic::DiagnosticList;
use larkspur_grammar::index::{Id, IndexVec};
use larkspur_grammar::passes::simplify;
use larkspur_grammar::{Diagnostic, LexerMode, Limits, LinkedGrammar, RegexNode, Span};
use larkspur_toktrie::Vocabulary;
use rustc_hash::FxHashSet;

use crate::cfg::lower::lower;
use crate::cfg::{Cfg, LexemeId};
use crate::codes::{MORE, limit_diagnostic};
use crate::engine::{CompiledGrammar, Era, Shared, Warnings};
use crate::error::Fault;
use crate::lexer::arena::{Arena, Expr};
use crate::lexer::states::{self, LexemeExprs};
use crate::machine::Machine;
use crate::machine::ways::Traps;
use crate::swallow;

/// Terminals of one grammar that may spend all of their `regex_emptiness_fuel`.
const EMPTINESS_SHARES: u64 = 3;

pub(crate) fn compile(shared: &Shared, mut linked: LinkedGrammar) -> Result<CompiledGrammar, Vec<Diagnostic>> {
    let limits = shared.limits();
    let start_span = start_span(&linked);
    let limit_met = |fault: Fault| vec![exceeded(fault, start_span)];
    let spelled = spelled_tokens(&linked, shared.vocabulary());
    simplify(&mut linked, None);
    let simplified_start = self::start_span(&linked);
    let (cfg, mut diagnostics) = lower(linked, shared.vocabulary(), limits)?;
    diagnostics.extend(spelled);

    let Era { arena, terms, .. } = shared.era();
    let mut cfg = Arc::new(cfg);
    let lowered = states::lower(&cfg, &arena).map_err(limit_met)?;
    let is_empty = emptiness(&cfg, &lowered.exprs, (&arena, limits), &mut diagnostics);
    diagnostics = without_errors(diagnostics)?;

    let cfg_mut = Arc::get_mut(&mut cfg).expect("the lexer is gone");
    let literals: Vec<_> = cfg_mut.lexemes.iter().map(|lexeme| lexeme.pattern.literal_bytes(0)).collect();
    let first = |id: LexemeId| lowered.exprs[id].map_or(literals[id.index()], |expr| arena.first_bytes(expr));
    diagnostics.extend(cfg_mut.prune(|id| is_empty[id.index()], first, simplified_start, limits).err());
    diagnostics = without_errors(diagnostics)?;

    let Some(mut machine) = machine_with_traps(&mut cfg, &lowered, &arena, limits).map_err(limit_met)? else {
        diagnostics.push(forbidden(start_span));
        return Err(diagnostics);
    };
    let lints = swallow::lints_without_end(&mut machine).map_err(limit_met)?;
    let has_all_lints = lints.is_some();
    diagnostics.extend(lints.into_iter().flatten());
    diagnostics = without_errors(diagnostics)?;
    let warnings = Warnings::new(diagnostics, has_all_lints);
    Ok(CompiledGrammar::new(shared.clone(), cfg, (machine, &terms), warnings))
}

/// The lints of a compiled grammar that take a search; none if that meets a limit.
pub(crate) fn lints(cfg: &Arc<Cfg>, shared: &Shared) -> Vec<Diagnostic> {
    let Era { arena, .. } = shared.era();
    let machine =
        states::lower(cfg, &arena).and_then(|lowered| Machine::new(cfg.clone(), &lowered, arena, shared.limits()));
    machine.and_then(|mut machine| swallow::lints(&mut machine)).unwrap_or_default()
}

fn start_span(linked: &LinkedGrammar) -> Span {
    let root = &linked.grammars[linked.root];
    root.rules[root.start].span
}

fn without_errors(diagnostics: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    if diagnostics.iter().any(Diagnostic::is_error) { Err(diagnostics) } else { Ok(diagnostics) }
}

/// Which lexemes match no text. Reports these, and those of which that takes too much work to decide.
fn emptiness(
    cfg: &Cfg,
    exprs: &IndexVec<LexemeId, Option<Expr>>,
    (arena, limits): (&Arena, &Limits),
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<bool> {
    let mut is_empty = Vec::with_capacity(cfg.lexemes.len());
    let mut said = FxHashSet::default();
    let mut found = DiagnosticList::new(limits);
    let fuel = limits.regex_emptiness_fuel;
    let mut left = fuel.saturating_mul(EMPTINESS_SHARES);
    for (lexeme, expr) in cfg.lexemes.iter().zip(exprs.iter()) {
        let (answer, spent) = expr.map_or((Ok(true), 0), |expr| arena.is_non_empty(expr, fuel.min(left)));
        left = left.saturating_sub(spent);
        match answer {
            Ok(has_texts) => {
                // A terminal of an automaton may be recorded by some edges and not by others, which are two lexemes.
                if !has_texts && said.insert((&lexeme.name, lexeme.span)) {
                    let message = format!("{} matches no text", lexeme.name);
                    found.push(Diagnostic::warning("P002", lexeme.span, message));
                }
                is_empty.push(!has_texts);
            }
            Err(fault) => {
                // Of what all terminals have together, less may have been left.
                let is_of_fuel = fault.limit().0 == "regex_emptiness_fuel";
                let fault = if is_of_fuel { Fault::exceeded("regex_emptiness_fuel", fuel) } else { fault };
                found.push(exceeded(fault, lexeme.span));
                if left == 0 {
                    break;
                }
                is_empty.push(false);
            }
        }
    }
    diagnostics.extend(found.finish(MORE));
    is_empty
}

/// A machine at the start of a text that keeps out of the places where look-around lets nothing follow, if there are some.
/// `None` if there is nothing else.
fn machine_with_traps(
    cfg: &mut Arc<Cfg>,
    lowered: &LexemeExprs,
    arena: &Arc<Arena>,
    limits: &Limits,
) -> Result<Option<Box<Machine>>, Fault> {
    let mut machine = Machine::new(cfg.clone(), lowered, arena.clone(), limits)?;
    match machine.traps()? {
        Traps::None => {}
        Traps::Some => {
            drop(machine);
            Arc::get_mut(cfg).expect("the machine is gone").has_traps = true;
            machine = Machine::new(cfg.clone(), lowered, arena.clone(), limits)?;
        }
        Traps::Everywhere => return Ok(None),
    }
    machine.start()?;
    let may_be_stuck = cfg.mode == LexerMode::Longest && cfg.has_behinds;
    Ok((!may_be_stuck || !machine.is_stuck_at_start()?).then_some(machine))
}

/// Lints: strings that are the names of special tokens, which the tokens themselves never match.
fn spelled_tokens(linked: &LinkedGrammar, vocabulary: &Vocabulary) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let written = linked.grammars.iter().filter(|grammar| !grammar.options.is_made);
    for (grammar, terminal) in written.flat_map(|grammar| grammar.terminals.iter().map(move |it| (grammar, it))) {
        let RegexNode::Literal(bytes) = grammar.regexes.node(terminal.regex) else { continue };
        let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
        if let Some(token) = vocabulary.special_by_name(text).filter(|_| terminal.is_literal) {
            let token = if text.starts_with('<') && text.ends_with('>') { text.into() } else { format!("<[{token}]>") };
            let message =
                format!("the text {} is also the name of a special token, which does not match it", terminal.name);
            let help = format!("the token is written `{token}`, without quotes");
            found.push(Diagnostic::warning("V003", terminal.span, message).help(help));
        }
    }
    found
}

fn forbidden(span: Span) -> Diagnostic {
    let message = "the grammar can never be finished: look-around forbids whatever could follow";
    let help = "a look-ahead must allow some lexeme that the rules have next, a look-behind some that they have before";
    Diagnostic::error("P004", span, message).help(help)
}

fn exceeded(fault: Fault, span: Span) -> Diagnostic {
    let (limit, value) = fault.limit();
    limit_diagnostic(limit, value, Some(span))
}
