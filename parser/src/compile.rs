//! The pipeline: linked grammar -> simplified -> lowered -> lexemes in the regex algebra -> pruned -> ready.

use std::sync::Arc;

use larkspur_grammar::index::Id;
use larkspur_grammar::passes::simplify;
use larkspur_grammar::{Diagnostic, LexerMode, LinkedGrammar, RegexNode};
use larkspur_toktrie::Vocabulary;
use rustc_hash::FxHashSet;

use crate::cfg::LexemeId;
use crate::cfg::lower::lower;
use crate::engine::{CompiledGrammar, Era, Shared};
use crate::error::Fault;
use crate::lexer::states;
use crate::machine::Machine;
use crate::machine::ways::Traps;
use crate::swallow::swallows;

/// Terminals of one grammar that may spend all of their `regex_emptiness_fuel`.
const EMPTINESS_SHARES: u64 = 3;

pub(crate) fn compile(shared: &Shared, mut linked: LinkedGrammar) -> Result<CompiledGrammar, Vec<Diagnostic>> {
    let limits = shared.limits();
    let root = &linked.grammars[linked.root];
    let start_span = root.rules[root.start].span;
    let limit_met = |fault: Fault| vec![limit_diagnostic(fault, start_span)];
    let spelled = spelled_tokens(&linked, shared.vocabulary());
    simplify(&mut linked, None);
    let root = &linked.grammars[linked.root];
    let simplified_start = root.rules[root.start].span;
    let (cfg, mut diagnostics) = lower(linked, shared.vocabulary(), limits)?;
    diagnostics.extend(spelled);

    let Era { arena, terms, .. } = shared.era();
    let mut cfg = Arc::new(cfg);
    let exprs = states::lower(&cfg, &arena).map_err(limit_met)?;
    let mut is_empty = Vec::with_capacity(cfg.lexemes.len());
    let mut said = FxHashSet::default();
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
                    diagnostics.push(Diagnostic::warning("P002", lexeme.span, message));
                }
                is_empty.push(!has_texts);
            }
            Err(fault) => {
                // Of what all terminals have together, less may have been left.
                let is_of_fuel = fault.limit().0 == "regex_emptiness_fuel";
                let fault = if is_of_fuel { Fault::exceeded("regex_emptiness_fuel", fuel) } else { fault };
                diagnostics.push(limit_diagnostic(fault, lexeme.span));
                if left == 0 {
                    break;
                }
                is_empty.push(false);
            }
        }
    }
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }

    let cfg_mut = Arc::get_mut(&mut cfg).expect("the lexer is gone");
    let literals: Vec<_> = cfg_mut.lexemes.iter().map(|lexeme| lexeme.pattern.literal_bytes(0)).collect();
    let first = |id: LexemeId| exprs[id].map_or(literals[id.index()], |expr| arena.first_bytes(expr));
    if let Err(error) = cfg_mut.prune(|id| is_empty[id.0 as usize], first, simplified_start) {
        diagnostics.push(error);
        return Err(diagnostics);
    }
    let mut machine = Machine::new(cfg.clone(), &exprs, arena.clone(), limits).map_err(limit_met)?;
    match machine.traps().map_err(limit_met)? {
        Traps::None => {}
        Traps::Some => {
            drop(machine);
            Arc::get_mut(&mut cfg).expect("the machine is gone").has_traps = true;
            machine = Machine::new(cfg.clone(), &exprs, arena, limits).map_err(limit_met)?;
        }
        Traps::Everywhere => {
            diagnostics.push(forbidden(start_span));
            return Err(diagnostics);
        }
    }
    machine.start().map_err(limit_met)?;
    if cfg.mode == LexerMode::Longest {
        if cfg.has_behinds && machine.is_stuck_at_start().map_err(limit_met)? {
            diagnostics.push(forbidden(start_span));
            return Err(diagnostics);
        }
        diagnostics.extend(swallows(&mut machine).map_err(limit_met)?);
        if diagnostics.iter().any(Diagnostic::is_error) {
            return Err(diagnostics);
        }
    }
    Ok(CompiledGrammar::new(shared.clone(), cfg, (machine, &terms), diagnostics))
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

fn forbidden(span: larkspur_grammar::Span) -> Diagnostic {
    let message = "the grammar can never be finished: look-around forbids whatever could follow";
    let help = "a look-ahead must allow some lexeme that the rules have next, a look-behind some that they have before";
    Diagnostic::error("P004", span, message).help(help)
}

fn limit_diagnostic(fault: Fault, span: larkspur_grammar::Span) -> Diagnostic {
    let (limit, value) = fault.limit();
    let message = format!("the limit `{limit}` of {value} is exceeded");
    Diagnostic::error("B002", span, message).help("make it simpler, or raise the limit if you trust the grammar")
}
