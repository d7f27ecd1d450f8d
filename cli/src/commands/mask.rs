//! `larkspur mask GRAMMAR --after TEXT`.

use std::io::{BufWriter, Write};

use anyhow::Result;
use larkspur::{MatcherError, TokenId, TokenMask};
use serde_json::{Value, json};

use super::match_text::print_rejection;
use super::prepare::{Default, Prepared, prepare};
use crate::Outcome;
use crate::args::{MaskArgs, Output};
use crate::{output, render};

/// Tokens shown without `--all`.
const SAMPLE_LEN: usize = 20;

pub(crate) fn run(args: &MaskArgs) -> Result<Outcome> {
    let after = args.after.as_deref().unwrap_or_default();
    let prepared = prepare(&args.grammar, Some(after), &args.read, &args.how, Default::VocabularyAndBytes)?;
    let Some(Prepared { vocabulary, grammar, text, .. }) = prepared else { return Ok(Outcome::Failed) };
    let mut matcher = grammar.matcher()?;
    if let Some(rejection) = text.feed(&mut matcher, &vocabulary)? {
        render::error("the grammar rejects the text, so that there is no mask after it");
        print_rejection(&mut anstream::stderr().lock(), &rejection, &text, &[])?;
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
