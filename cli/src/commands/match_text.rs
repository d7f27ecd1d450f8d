//! `larkspur match GRAMMAR TEXT`.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use crate::Outcome;
use crate::args::{MatchArgs, Output};
use crate::grammar::compile;
use crate::text::{expectation, special_names};
use crate::{output, render, vocabulary};

pub(crate) fn run(args: &MatchArgs) -> Result<Outcome> {
    let Some(linked) = args.read.linked(&args.grammar)? else { return Ok(Outcome::Failed) };
    let bytes = args.how.argument(args.text.as_deref(), &args.grammar)?;
    let vocabulary = match &args.read.tokenizer {
        Some(name) => vocabulary::named(name)?,
        None => vocabulary::bytes_for(&linked, if args.how.special { special_names(&bytes) } else { Vec::new() })?,
    };
    let Some(grammar) = compile(&args.grammar, linked, vocabulary.clone())? else { return Ok(Outcome::Failed) };
    let text = args.how.text(bytes, &vocabulary, args.read.tokenizer.is_some())?;
    let mut matcher = grammar.matcher()?;
    let rejection = text.feed(&mut matcher, &vocabulary)?;

    let accepting = rejection.is_none() && matcher.is_accepting()?;
    let (result, at) = match &rejection {
        Some(rejection) => ("reject", rejection.at),
        None if accepting => ("accept", text.shown.len()),
        None => ("incomplete", text.shown.len()),
    };
    let (expected, allowed) = match &rejection {
        Some(rejection) => (rejection.expected.clone(), rejection.allowed),
        None => (matcher.expected()?, matcher.allowed_bytes()?),
    };
    match args.output {
        Output::Json => output::json(&json!({
            "result": result,
            "at_byte": at,
            "expected": expected,
            "allowed_bytes": allowed.iter().collect::<Vec<u8>>(),
            "note": rejection.as_ref().and_then(|rejection| rejection.note.clone()),
        }))?,
        Output::Text => {
            let mut out = anstream::stdout().lock();
            match &rejection {
                Some(rejection) => {
                    writeln!(out, "reject at byte {at}")?;
                    let label = rejection.label(&text);
                    writeln!(out, "{}", render::excerpt("text", &text.shown, at, &label, &rejection.notes()))?;
                }
                None if accepting => writeln!(out, "accept")?,
                None => {
                    writeln!(out, "incomplete")?;
                    for line in expectation(&expected, &allowed, accepting) {
                        writeln!(out, "  {line}")?;
                    }
                }
            }
        }
    }
    Ok(if accepting { Outcome::Good } else { Outcome::Bad })
}
