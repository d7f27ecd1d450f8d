//! `larkspur match GRAMMAR TEXT`.

use std::io::Write;

use anyhow::Result;
use larkspur::{ByteSet, Capture, InstancePlace, Matcher};
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
    /// Where the text fails or ends, in terms of a JSON Schema.
    place: Option<InstancePlace>,
}

pub(crate) fn run(args: &MatchArgs) -> Result<Outcome> {
    let prepared = prepare(&args.grammar, args.text.as_deref(), &args.read, &args.how, Default::Bytes)?;
    let Some(prepared) = prepared else { return Ok(Outcome::Failed) };
    let Prepared { vocabulary, grammar, text, .. } = &prepared;
    let mut matcher = grammar.matcher()?;
    let rejection = text.feed(&mut matcher, vocabulary)?;
    let mut verdict = Verdict::new(rejection, &matcher)?;
    if !verdict.is_accepting {
        let at = verdict.rejection.as_ref().map_or(text.shown.len(), |rejection| rejection.at);
        if prepared.is_schema() {
            verdict.name_white_space(&text.shown[..at]);
        }
        verdict.place = prepared.place(&args.read, at, &verdict.allowed)?;
    }
    match args.output {
        Output::Json => output::json(&verdict.json(text))?,
        Output::Text => verdict.print(text)?,
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
        Ok(Self { rejection, is_accepting, expected, allowed, captures, place: None })
    }

    /// In a JSON text, what was just read is expected still for the white space at its end: says that.
    fn name_white_space(&mut self, read: &[u8]) {
        let allowed = self.allowed;
        let read = read.trim_ascii_end();
        let is_read = |name: &str| {
            let sign = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or_default();
            let is_sign = ["{", "}", "[", "]", ":", ","].contains(&sign);
            is_sign && read.ends_with(sign.as_bytes()) && !allowed.contains(sign.as_bytes()[0])
        };
        let lists = [Some(&mut self.expected), self.rejection.as_mut().map(|rejection| &mut rejection.expected)];
        for name in lists.into_iter().flatten().flat_map(|list| list.iter_mut()).filter(|name| is_read(name)) {
            *name = "white space".to_owned();
        }
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
            "value": self.place.as_ref().map(|place| &place.pointer),
            "schemas": self.place.as_ref().map(|place| &place.schemas),
        })
    }

    /// The place in words, a line each.
    fn place_lines(&self) -> Vec<String> {
        let Some(InstancePlace { pointer, schemas }) = &self.place else { return Vec::new() };
        let value = if pointer.is_empty() { "the outermost value".to_owned() } else { format!("`{pointer}`") };
        let mut lines = vec![format!("value: {value}")];
        if !schemas.is_empty() {
            lines.push(format!("schema: {}", output::names(schemas)));
        }
        lines
    }

    fn print(&self, text: &Text) -> Result<()> {
        let mut out = anstream::stdout().lock();
        if let Some(rejection) = &self.rejection {
            return print_rejection(&mut out, rejection, text, &self.place_lines());
        }
        writeln!(out, "{}", result(None, self.is_accepting))?;
        for capture in &self.captures {
            writeln!(out, "  {} = {:?}", capture.name, String::from_utf8_lossy(&capture.bytes))?;
        }
        if !self.is_accepting {
            for line in expectation(&self.expected, &self.allowed).into_iter().chain(self.place_lines()) {
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

/// Says where a text is rejected, with the line, what could stand there, and more lines.
pub(crate) fn print_rejection(out: &mut impl Write, rejection: &Rejection, text: &Text, more: &[String]) -> Result<()> {
    writeln!(out, "reject at byte {}", rejection.at)?;
    let range = rejection.at..rejection.at + rejection.len;
    let label = rejection.label(text);
    let mut notes = rejection.notes();
    notes.extend_from_slice(more);
    writeln!(out, "{}", render::excerpt("text", &text.shown, range, &label, &notes))?;
    Ok(())
}
