//! `larkspur trace GRAMMAR TEXT`: a line for each token.

use std::io::{BufWriter, Write};
use std::time::Instant;

use anyhow::Result;
use larkspur::{Matcher, MatcherError, TokenId, TokenMask, Vocabulary};
use serde_json::{Value, json};

use super::mask::quoted;
use super::match_text::{print_rejection, result};
use super::prepare::{Default, Prepared, prepare};
use crate::Outcome;
use crate::args::{MatchArgs, Output};
use crate::output;
use crate::text::{PieceKind, Rejection, Text};

/// Characters of a column that may be long.
const COLUMN_WIDTH_MAX: usize = 24;

/// The state before a token, or at the text's end, and the token.
struct Row {
    at: usize,
    token: Option<TokenId>,
    allowed: usize,
    is_accepting: bool,
    forced: Vec<u8>,
    expected: Vec<String>,
    mask_time_us: f64,
    consume_time_us: Option<f64>,
}

pub(crate) fn run(args: &MatchArgs) -> Result<Outcome> {
    let prepared = prepare(&args.grammar, args.text.as_deref(), &args.read, &args.how, Default::Tokens)?;
    let Some(Prepared { vocabulary, grammar, text, .. }) = prepared else { return Ok(Outcome::Failed) };
    let mut matcher = grammar.matcher()?;
    let (rows, rejection) = follow(&mut matcher, &text, &vocabulary)?;
    let is_accepting = rejection.is_none() && matcher.is_accepting()?;
    let result = result(rejection.as_ref(), is_accepting);
    match args.output {
        Output::Json => {
            let steps: Vec<Value> = rows.iter().map(|row| row.json(&vocabulary)).collect();
            let at = rejection.as_ref().map(|rejection| rejection.at);
            output::json(&json!({ "result": result, "at_byte": at, "steps": steps }))?;
        }
        Output::Text => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            table(&mut out, &rows.iter().map(|row| row.cells(&vocabulary)).collect::<Vec<_>>())?;
            match &rejection {
                Some(rejection) => print_rejection(&mut out, rejection, &text, &[])?,
                None => writeln!(out, "{result}")?,
            }
            out.flush()?;
        }
    }
    Ok(if is_accepting { Outcome::Good } else { Outcome::Bad })
}

/// A row for each token, up to one that is rejected, and one for the end of the text.
fn follow(matcher: &mut Matcher, text: &Text, vocabulary: &Vocabulary) -> Result<(Vec<Row>, Option<Rejection>)> {
    let mut mask = TokenMask::new(vocabulary.len());
    let mut rows = Vec::with_capacity(text.pieces.len() + 1);
    for piece in text.pieces.iter().map(Some).chain([None]) {
        let start = Instant::now();
        match matcher.compute_mask(&mut mask) {
            Ok(()) | Err(MatcherError::NoToken) => {}
            Err(error) => return Err(error.into()),
        }
        let mask_time_us = start.elapsed().as_secs_f64() * 1e6;
        let mut row = Row {
            at: piece.map_or(text.shown.len(), |piece| piece.at),
            token: piece.and_then(|piece| match piece.kind {
                PieceKind::Token(token) => Some(token),
                PieceKind::Bytes(_) => None,
            }),
            allowed: mask.count(),
            is_accepting: matcher.is_accepting()?,
            forced: matcher.forced_bytes()?,
            expected: matcher.expected()?,
            mask_time_us,
            consume_time_us: None,
        };
        let mut rejection = None;
        if let Some(piece) = piece {
            let start = Instant::now();
            rejection = text.feed_piece(piece, matcher, vocabulary)?;
            row.consume_time_us = Some(start.elapsed().as_secs_f64() * 1e6);
        }
        rows.push(row);
        if rejection.is_some() {
            return Ok((rows, rejection));
        }
    }
    Ok((rows, None))
}

impl Row {
    fn json(&self, vocabulary: &Vocabulary) -> Value {
        json!({
            "at_byte": self.at,
            "id": self.token,
            "token": self.token.map(|token| vocabulary.display(token)),
            "allowed": self.allowed,
            "accepting": self.is_accepting,
            "forced": String::from_utf8_lossy(&self.forced),
            "expected": self.expected,
            "mask_time_us": round(self.mask_time_us),
            "consume_time_us": self.consume_time_us.map(round),
        })
    }

    fn cells(&self, vocabulary: &Vocabulary) -> [String; 8] {
        let forced = match self.forced.as_slice() {
            [] => String::new(),
            bytes => cut(&quoted(&bytes.escape_ascii().to_string())),
        };
        [
            self.at.to_string(),
            self.token.map_or(String::new(), |token| cut(&quoted(&vocabulary.display(token)))),
            self.allowed.to_string(),
            if self.is_accepting { "yes".to_owned() } else { String::new() },
            format!("{:.1}", self.mask_time_us),
            self.consume_time_us.map_or(String::new(), |time| format!("{time:.1}")),
            forced,
            output::names(&self.expected),
        ]
    }
}

const TITLES: [&str; 8] = ["byte", "token", "allowed", "end", "mask us", "consume us", "forced", "expected"];

/// Columns that hold numbers.
const IS_NUMBER: [bool; 8] = [true, false, true, false, true, true, false, false];

fn table(out: &mut impl Write, rows: &[[String; 8]]) -> Result<()> {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.max().unwrap_or_default().max(TITLES[column].len())
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    let mut line = |cells: [&str; 8]| -> Result<()> {
        let mut text = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let width = widths[column];
            let padding = " ".repeat(width - cell.chars().count());
            match IS_NUMBER[column] {
                true => text.extend([padding.as_str(), cell, "  "]),
                false => text.extend([cell, padding.as_str(), "  "]),
            }
        }
        writeln!(out, "{}", text.trim_end())?;
        Ok(())
    };
    line(TITLES)?;
    rows.iter().try_for_each(|row| line(row.each_ref().map(String::as_str)))
}

/// The beginning of a long cell.
fn cut(cell: &str) -> String {
    if cell.chars().count() <= COLUMN_WIDTH_MAX {
        return cell.to_owned();
    }
    cell.chars().take(COLUMN_WIDTH_MAX - 1).chain(['…']).collect()
}

fn round(time_us: f64) -> f64 {
    (time_us * 10.0).round() / 10.0
}
