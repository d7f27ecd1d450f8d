//! `larkspur trace GRAMMAR TEXT`: a line for each token.

use std::io::{BufWriter, Write};
use std::time::Instant;

use anyhow::Result;
use larkspur::{MatcherError, TokenId, TokenMask};
use serde_json::{Value, json};

use crate::Outcome;
use crate::args::{Output, TraceArgs};
use crate::commands::mask::quoted;
use crate::grammar::compile;
use crate::text::{PieceKind, Rejection};
use crate::{output, render, vocabulary};

/// Characters of a column that may be long.
const COLUMN_WIDTH_MAX: usize = 24;

/// The state before a token, or at the text's end, and the token.
struct Row {
    at: usize,
    token: Option<TokenId>,
    allowed: usize,
    accepting: bool,
    forced: Vec<u8>,
    expected: Vec<String>,
    mask_time_us: f64,
    consume_time_us: Option<f64>,
}

pub(crate) fn run(args: &TraceArgs) -> Result<Outcome> {
    let Some(linked) = args.read.linked(&args.grammar)? else { return Ok(Outcome::Failed) };
    let bytes = args.how.argument(args.text.as_deref(), &args.grammar)?;
    let vocabulary = vocabulary::named_or_default(args.read.tokenizer.as_deref())?;
    let Some(grammar) = compile(&args.grammar, linked, vocabulary.clone())? else { return Ok(Outcome::Failed) };
    let text = args.how.text(bytes, &vocabulary, true)?;
    let mut matcher = grammar.matcher()?;
    let mut mask = TokenMask::new(vocabulary.len());

    let mut rows = Vec::with_capacity(text.pieces.len() + 1);
    let mut rejection: Option<Rejection> = None;
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
            accepting: matcher.is_accepting()?,
            forced: matcher.forced_bytes()?,
            expected: matcher.expected()?,
            mask_time_us,
            consume_time_us: None,
        };
        if let Some(piece) = piece {
            let start = Instant::now();
            rejection = text.feed_piece(piece, &mut matcher, &vocabulary)?;
            row.consume_time_us = Some(start.elapsed().as_secs_f64() * 1e6);
        }
        rows.push(row);
        if rejection.is_some() {
            break;
        }
    }

    let accepting = rejection.is_none() && matcher.is_accepting()?;
    let result = match (&rejection, accepting) {
        (Some(_), _) => "reject",
        (None, true) => "accept",
        (None, false) => "incomplete",
    };
    let display = |token: Option<TokenId>| token.map(|token| vocabulary.display(token));
    match args.output {
        Output::Json => {
            let steps: Vec<Value> = rows
                .iter()
                .map(|row| {
                    json!({
                        "at_byte": row.at,
                        "id": row.token,
                        "token": display(row.token),
                        "allowed": row.allowed,
                        "accepting": row.accepting,
                        "forced": String::from_utf8_lossy(&row.forced),
                        "expected": row.expected,
                        "mask_time_us": round(row.mask_time_us),
                        "consume_time_us": row.consume_time_us.map(round),
                    })
                })
                .collect();
            let at = rejection.as_ref().map(|rejection| rejection.at);
            output::json(&json!({ "result": result, "at_byte": at, "steps": steps }))?;
        }
        Output::Text => {
            let mut out = BufWriter::new(anstream::stdout().lock());
            let cells = rows.iter().map(|row| cells(row, display(row.token))).collect::<Vec<_>>();
            table(&mut out, &cells)?;
            match &rejection {
                Some(rejection) => {
                    writeln!(out, "reject at byte {}", rejection.at)?;
                    let label = rejection.label(&text);
                    let excerpt = render::excerpt("text", &text.shown, rejection.at, &label, &rejection.notes());
                    writeln!(out, "{excerpt}")?;
                }
                None => writeln!(out, "{result}")?,
            }
            out.flush()?;
        }
    }
    Ok(if accepting { Outcome::Good } else { Outcome::Bad })
}

const TITLES: [&str; 8] = ["byte", "token", "allowed", "end", "mask us", "consume us", "forced", "expected"];

/// Columns that hold numbers.
const IS_NUMBER: [bool; 8] = [true, false, true, false, true, true, false, false];

fn cells(row: &Row, token: Option<String>) -> [String; 8] {
    let forced = match row.forced.as_slice() {
        [] => String::new(),
        bytes => cut(&quoted(&bytes.escape_ascii().to_string())),
    };
    [
        row.at.to_string(),
        token.map_or(String::new(), |token| cut(&quoted(&token))),
        row.allowed.to_string(),
        if row.accepting { "yes".to_owned() } else { String::new() },
        format!("{:.1}", row.mask_time_us),
        row.consume_time_us.map_or(String::new(), |time| format!("{time:.1}")),
        forced,
        output::names(&row.expected),
    ]
}

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
