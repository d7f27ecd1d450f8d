//! `larkspur mask GRAMMAR --after TEXT`.

use std::io::{BufWriter, Write};

use anyhow::Result;
use larkspur::{MatcherError, TokenId, TokenMask};
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::{MaskArgs, Output};
use crate::grammar::compile;
use crate::{output, render, vocabulary};

/// Tokens shown without `--all`.
const SAMPLE_LEN: usize = 20;

pub(crate) fn run(args: &MaskArgs) -> Result<Outcome> {
    let Some(linked) = args.read.linked(&args.grammar)? else { return Ok(Outcome::Failed) };
    let bytes = args.how.argument(Some(args.after.as_deref().unwrap_or_default()), &args.grammar)?;
    let vocabulary = vocabulary::named_or_default(args.read.tokenizer.as_deref())?;
    let Some(grammar) = compile(&args.grammar, linked, vocabulary.clone())? else { return Ok(Outcome::Failed) };
    let text = args.how.text(bytes, &vocabulary, args.read.tokenizer.is_some())?;
    let mut matcher = grammar.matcher()?;
    if let Some(rejection) = text.feed(&mut matcher, &vocabulary)? {
        render::error(&format!("the grammar rejects the text at byte {}", rejection.at));
        let excerpt = render::excerpt("text", &text.shown, rejection.at, &rejection.label(&text), &rejection.notes());
        writeln!(anstream::stderr(), "{excerpt}")?;
        return Ok(Outcome::Failed);
    }
    let mut mask = TokenMask::new(vocabulary.len());
    match matcher.compute_mask(&mut mask) {
        Ok(()) => {}
        Err(error @ MatcherError::NoToken) => render::note(&error.to_string()),
        Err(error) => return Err(error.into()),
    }

    let count = mask.count();
    let shown = if args.all { count } else { SAMPLE_LEN };
    // Special tokens first: they are few, and lost among the others.
    let (special, ordinary): (Vec<TokenId>, Vec<TokenId>) = mask.iter().partition(|&id| vocabulary.is_special(id));
    let sample: Vec<TokenId> = special.into_iter().chain(ordinary).take(shown).collect();
    match args.output {
        Output::Json => {
            let tokens: Vec<Value> = sample
                .iter()
                .map(|&id| json!({ "id": id, "text": vocabulary.display(id), "special": vocabulary.is_special(id) }))
                .collect();
            output::json(&json!({
                "allowed": count,
                "vocabulary": vocabulary.len(),
                "accepting": matcher.is_accepting()?,
                "tokens": tokens,
            }))?;
        }
        Output::Text => {
            let mut out = BufWriter::new(std::io::stdout().lock());
            writeln!(out, "{count} of {} tokens allowed", vocabulary.len())?;
            for &id in &sample {
                let special = if vocabulary.is_special(id) { "  (special)" } else { "" };
                writeln!(out, "{id:>8}  {}{special}", quoted(&vocabulary.display(id)))?;
            }
            if count > sample.len() {
                writeln!(out, "          and {} more; `--all` shows them", count - sample.len())?;
            }
            out.flush()?;
        }
    }
    Ok(Outcome::Good)
}

/// A token between quotes, so that blanks show.
pub(crate) fn quoted(token: &str) -> String {
    format!("\"{token}\"")
}
