//! A text that is not written in the language that it was given out for: one sentence in place of all that is wrong with it.
//!
//! Asked only when reading has failed. That a text is in another language shows in that it can be read as such without a
//! mistake; a file's name and YAML show in their form.

use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::json::parse_json;
use larkspur_grammar::{Diagnostic, Limits, SourceId, SourceMap, Span};
use larkspur_lark_frontend::LarkOptions;

use crate::front_ends::{FRONT_ENDS, INNER_LANGUAGES};
use crate::mistake::Mistake;
use crate::source::SourceKind;

/// Longer texts are not read once more.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// What a text looks like.
pub(crate) enum Looks {
    /// A text of this kind.
    Kind(SourceKind),
    /// The name of a file.
    FileName,
    /// YAML where JSON is expected.
    Yaml,
}

/// What is wrong with a text of `kind` that could not be read, if it is that it is no such text.
pub(crate) fn other_language(kind: SourceKind, text: &str, source: SourceId, limits: &Limits) -> Option<Diagnostic> {
    let looks = looks_like(kind, text, limits)?;
    let start = text.len() - text.trim_start().len();
    let line = text[start..].lines().next().unwrap_or_default().trim_end();
    Some(Mistake::OtherLanguage { kind, looks }.diagnostic(Span::new(source, start, start + line.len())))
}

fn looks_like(kind: SourceKind, text: &str, limits: &Limits) -> Option<Looks> {
    if text.len() > TEXT_BYTES_MAX.min(limits.source_bytes_max) || kind == SourceKind::Regex {
        return None;
    }
    let trimmed = text.trim();
    let ends_as_file = || FRONT_ENDS.iter().any(|row| row.extension.is_some_and(|end| trimmed.ends_with(end)));
    let is_name = !trimmed.contains(['\n', '"', '\'', '{', '|', ';', '=']) && !trimmed.contains(": ");
    if is_name && ends_as_file() {
        return Some(Looks::FileName);
    }
    let is_json = matches!(kind, SourceKind::JsonSchema | SourceKind::List);
    if !is_json && trimmed.starts_with('{') && parse_json(SourceId(0), text, limits).is_ok() {
        let is_list = trimmed.contains("\"grammars\"");
        return Some(Looks::Kind(if is_list { SourceKind::List } else { SourceKind::JsonSchema }));
    }
    let others = [SourceKind::Gbnf, SourceKind::Kbnf, SourceKind::Lark];
    let has_sign = |other: &SourceKind| match other {
        SourceKind::Lark => trimmed.lines().any(|line| definition(line, ":").is_some()),
        _ => trimmed.lines().any(|line| definition(line, "::=").is_some()),
    };
    let other =
        others.into_iter().filter(|&other| other != kind).filter(has_sign).find(|&other| reads(other, text, limits));
    let other = other.filter(|&other| kind != SourceKind::Kbnf || other != SourceKind::Gbnf || !is_kbnf(text, limits));
    match other {
        Some(other) => Some(Looks::Kind(other)),
        None if is_json && !trimmed.starts_with(['{', '[', '"']) && is_yaml(trimmed) => Some(Looks::Yaml),
        None => None,
    }
}

/// The name that a line defines with this sign.
fn definition<'a>(line: &'a str, sign: &str) -> Option<&'a str> {
    let line = line.trim_start_matches([' ', '\t', '?', '!']);
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').filter(|&end| end > 0)?;
    let behind = line[end..].trim_start_matches([' ', '\t']).strip_prefix(sign)?;
    (sign != ":" || !behind.starts_with([':', '='])).then(|| &line[..end])
}

/// Whether a text is one of this kind without an error, whatever it starts with.
fn reads(kind: SourceKind, text: &str, limits: &Limits) -> bool {
    let mut sources = SourceMap::new();
    let id = sources.add("", text);
    let first = text.lines().find_map(|line| definition(line, "::="));
    match kind {
        SourceKind::Gbnf => {
            let options = ReadOptions { start: first, ..ReadOptions::new(limits) };
            larkspur_gbnf_frontend::parse(&sources, sources.whole(id), &options).grammar.is_some()
        }
        SourceKind::Kbnf => {
            let options = ReadOptions { start: first, ..ReadOptions::new(limits) };
            larkspur_kbnf_frontend::parse(&sources, sources.whole(id), &options).grammar.is_some()
        }
        _ => {
            let options = LarkOptions { inner_languages: &INNER_LANGUAGES, ..LarkOptions::new(limits) };
            larkspur_lark_frontend::parse(&mut sources, id, &options).grammar.is_some()
        }
    }
}

/// Whether a text that can be read as GBNF is rather KBNF with a mistake: it starts as KBNF does, or something of it is only
/// a comment in GBNF because KBNF's regexes begin with `#`.
fn is_kbnf(text: &str, limits: &Limits) -> bool {
    let defines = |name: &str| text.lines().any(|line| definition(line, "::=") == Some(name));
    if defines("start") && !defines("root") {
        return true;
    }
    let mut sources = SourceMap::new();
    let id = sources.add("", text);
    let (ast, _) = larkspur_gbnf_frontend::parse_ast(&sources, id, &ReadOptions::new(limits));
    let is_pattern = |comment: &Span| {
        let comment = &text[comment.start as usize + 1..comment.end as usize];
        comment.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with(['"', '\''])
    };
    ast.is_some_and(|ast| ast.has_empty_rule() || ast.comments().iter().any(is_pattern))
}

/// Whether each line that is not indented is `key: …`, a part of a list, or a comment.
fn is_yaml(text: &str) -> bool {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with([' ', '\t', '#', '-']));
    let is_member = |line: &str| {
        let key = line.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '$' || c == '-');
        key.len() < line.len() && (key.trim_end() == ":" || key.starts_with(": "))
    };
    lines.next().is_some_and(is_member) && lines.all(is_member)
}
