//! `larkspur match GRAMMAR TEXT`.

use std::io::Write;

use anyhow::Result;
use larkspur::{ByteSet, Capture, Matcher};
use serde_json::{Value, json};

use super::prepare::{Default, Prepared, prepare};
use crate::Outcome;
use crate::args::{MatchArgs, Output};
use crate::text::{Rejection, Text, expectation};
use crate::{output, render};

/// Whether the text is in the language, and if not, how far it goes.
struct Verdict {
    rejection: Option<Rejection>,
    is_accepting: bool,
    /// What can follow the text, or what could stand where it is rejected.
    expected: Vec<String>,
    allowed: ByteSet,
    captures: Vec<Capture>,
}

pub(crate) fn run(args: &MatchArgs) -> Result<Outcome> {
    let prepared = prepare(&args.grammar, args.text.as_deref(), &args.read, &args.how, Default::Bytes)?;
    let Some(Prepared { vocabulary, grammar, text }) = prepared else { return Ok(Outcome::Failed) };
    let mut matcher = grammar.matcher()?;
    let rejection = text.feed(&mut matcher, &vocabulary)?;
    let verdict = Verdict::new(rejection, &matcher)?;
    match args.output {
        Output::Json => output::json(&verdict.json(&text))?,
        Output::Text => verdict.print(&text)?,
    }
    Ok(if verdict.is_accepting { Outcome::Good } else { Outcome::Bad })
}

impl Verdict {
    fn new(rejection: Option<Rejection>, matcher: &Matcher) -> Result<Self> {
        let is_accepting = rejection.is_none() && matcher.is_accepting()?;
        let (expected, allowed) = match &rejection {
            Some(rejection) => (rejection.expected.clone(), rejection.allowed),
            None => (matcher.expected()?, matcher.allowed_bytes()?),
        };
        let captures = if is_accepting { matcher.captures()? } else { Vec::new() };
        Ok(Self { rejection, is_accepting, expected, allowed, captures })
    }

    fn json(&self, text: &Text) -> Value {
        let captures: Vec<Value> = self
            .captures
            .iter()
            .map(|capture| json!({ "name": capture.name, "text": String::from_utf8_lossy(&capture.bytes) }))
            .collect();
        json!({
            "result": result(self.rejection.as_ref(), self.is_accepting),
            "at_byte": self.rejection.as_ref().map_or(text.shown.len(), |rejection| rejection.at),
            "expected": self.expected,
            "allowed_bytes": self.allowed.iter().collect::<Vec<u8>>(),
            "captures": captures,
            "note": self.rejection.as_ref().and_then(|rejection| rejection.note.clone()),
        })
    }

    fn print(&self, text: &Text) -> Result<()> {
        let mut out = anstream::stdout().lock();
        if let Some(rejection) = &self.rejection {
            return print_rejection(&mut out, rejection, text);
        }
        writeln!(out, "{}", result(None, self.is_accepting))?;
        for capture in &self.captures {
            writeln!(out, "  {} = {:?}", capture.name, String::from_utf8_lossy(&capture.bytes))?;
        }
        if !self.is_accepting {
            for line in expectation(&self.expected, &self.allowed) {
                writeln!(out, "  {line}")?;
            }
        }
        Ok(())
    }
}

/// The word for how a text ended.
pub(crate) fn result(rejection: Option<&Rejection>, is_accepting: bool) -> &'static str {
    match rejection {
        Some(_) => "reject",
        None if is_accepting => "accept",
        None => "incomplete",
    }
}

/// Says where a text is rejected, with the line and what could stand there.
pub(crate) fn print_rejection(out: &mut impl Write, rejection: &Rejection, text: &Text) -> Result<()> {
    writeln!(out, "reject at byte {}", rejection.at)?;
    let range = rejection.at..rejection.at + rejection.len;
    let label = rejection.label(text);
    writeln!(out, "{}", render::excerpt("text", &text.shown, range, &label, &rejection.notes()))?;
    Ok(())
}
