//! Special tokens: `<name>`, `<[5]>`, `<[1-9,12]>`, `<[^1-9]>`, `<[^<name>]>`, `<["[INST]"]>`, `<[*]>`.

use larkspur_grammar::{Span, TokenItem, TokenSet};

use crate::error::{LiteralMistake, Sink};
use crate::strings::Written;

/// The set that `text` stands for; what is wrong in a list is reported and left out.
pub(crate) fn token_set(text: &str, span: Span, sink: &mut Sink) -> TokenSet {
    let set = |items, negated| TokenSet { text: text.to_string(), span, items, negated, hidden: false };
    let Some(list) = text.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>")) else {
        return set(vec![TokenItem::Name(text.to_string())], false);
    };
    let trimmed = list.trim_start();
    let negated = trimmed.starts_with('^');
    let list_start = text.len() - 2 - trimmed.len() + usize::from(negated);
    let list = &text[list_start..text.len() - 2];
    let mut items = Vec::new();
    let mut at = 0;
    let mut reported = false;
    for element in split(list) {
        let lead = element.len() - element.trim_start().len();
        let start = span.start as usize + list_start + at + lead;
        at += element.len() + 1;
        let element = element.trim();
        let place = Span::new(span.source, start, start + element.len());
        match item(element, place, sink) {
            Ok(Some(item)) => items.push(item),
            Ok(None) => {}
            Err(reason) => {
                sink.report(place, LiteralMistake::TokenList { reason });
                reported = true;
            }
        }
    }
    if reported {
        return set(items, negated);
    }
    let reason = match items.as_slice() {
        [] => "the list of tokens is empty",
        [TokenItem::Any] if negated => "no token is outside all tokens",
        [_, _, ..] if items.contains(&TokenItem::Any) => "`*` is every token and stands alone",
        _ => return set(items, negated),
    };
    sink.report(span, LiteralMistake::TokenList { reason: reason.to_string() });
    set(items, negated)
}

/// The elements between commas; commas inside quotes or angle brackets are none.
fn split(list: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut start, mut quoted, mut angle, mut escaped) = (0, false, false, false);
    for (at, c) in list.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            '<' if !quoted => angle = true,
            '>' if !quoted => angle = false,
            ',' if !quoted && !angle => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// One element; an empty one is nothing, as in `<[1,]>`.
fn item(element: &str, place: Span, sink: &mut Sink) -> Result<Option<TokenItem>, String> {
    if element.is_empty() {
        return Ok(None);
    }
    if element == "*" {
        return Ok(Some(TokenItem::Any));
    }
    if element.starts_with('<') {
        return if element.len() > 2 && element.ends_with('>') && !element.contains(char::is_whitespace) {
            Ok(Some(TokenItem::Name(element.to_string())))
        } else {
            Err(format!("`{element}` is not a token's name"))
        };
    }
    if element.starts_with('"') {
        return if element.len() > 2 && element.ends_with('"') {
            Ok(Some(TokenItem::Name(Written { text: element, span: place }.decode(false, sink))))
        } else {
            Err(format!("`{element}` is not a token's name"))
        };
    }
    let (low, high) = element.split_once('-').unwrap_or((element, element));
    let number = |text: &str| {
        let text = text.trim();
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        if !digits {
            return Err(format!("`{element}` is not a token id or a range of them"));
        }
        text.parse::<u32>().map_err(|_| format!("the token id {text} is too large"))
    };
    let (low, high) = (number(low)?, number(high)?);
    if low > high {
        return Err(format!("the range {low}-{high} is the wrong way round"));
    }
    Ok(Some(TokenItem::Range(low, high)))
}
