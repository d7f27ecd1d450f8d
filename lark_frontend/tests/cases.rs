//! Cases as data: `tests/cases/<topic>.lark` holds grammars under headings, `<topic>.out` what becomes of each:
//! diagnostics with places, then the IR. `UPDATE_EXPECT=1 cargo test` rewrites the `.out` files.
//!
//! A heading is `### name`, and may have options behind it: `start=NAME`, `face` (llguidance), `lexer=exact`, `ast`.

use std::fmt::Write;
use std::path::Path;

use larkspur_grammar::{Diagnostic, LexerMode, Limits, Severity, SourceId, SourceMap, lints};
use larkspur_lark_frontend::{LarkOptions, Modules, parse, parse_ast};

/// `error L040 2:5..9 message | label; also 1:1..4 label; help: …`
fn show(diagnostic: &Diagnostic, sources: &SourceMap, source: SourceId, out: &mut String) {
    let severity = if diagnostic.severity == Severity::Error { "error" } else { "warning" };
    let _ = write!(out, "{severity} {}", diagnostic.code);
    if diagnostic.labels.is_empty() {
        let _ = write!(out, " {}", diagnostic.message);
    }
    for (at, label) in diagnostic.labels.iter().enumerate() {
        let (line, column) = sources.line_column(label.span.source, label.span.start);
        let (end_line, end_column) = sources.line_column(label.span.source, label.span.end);
        let mut also = if at > 0 { "; also".to_string() } else { String::new() };
        if label.span.source != source {
            let _ = write!(also, " {}", sources.get(label.span.source).name);
        }
        let _ = match line == end_line {
            true => write!(out, "{also} {line}:{column}..{end_column}"),
            false => write!(out, "{also} {line}:{column}..{end_line}:{end_column}"),
        };
        if at == 0 {
            let _ = write!(out, " {}", diagnostic.message);
        }
        if !label.message.is_empty() {
            let _ = write!(out, " | {}", label.message);
        }
    }
    if let Some(help) = &diagnostic.help {
        let _ = write!(out, "; help: {help}");
    }
    out.push('\n');
}

/// The texts of `tests/cases/files`.
fn files() -> Modules {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/files");
    let mut texts: Vec<(String, String)> = Vec::new();
    for place in [folder.clone(), folder.join("folder")] {
        for entry in std::fs::read_dir(place).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let shown = path.strip_prefix(&folder).unwrap().to_str().unwrap().to_string();
                texts.push((shown, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    // In a search path, too.
    let again: Vec<_> = texts.iter().map(|(path, text)| (format!("/{path}"), text.clone())).collect();
    Modules::map(texts.into_iter().chain(again))
}

fn run(heading: &str, text: &str) -> String {
    let mut sources = SourceMap::new();
    let source = sources.add("case.lark", text);
    let limits = Limits::default();
    let modules = files();
    let mut options = LarkOptions { name: "main", modules: Some(&modules), ..LarkOptions::new(&limits) };
    let mut ast = false;
    for word in heading.split_whitespace().skip(1) {
        match word.split_once('=') {
            Some(("start", name)) => options.start = Some(name),
            Some(("lexer", "exact")) => options.lexer = Some(LexerMode::Exact),
            None if word == "face" => options.llguidance_face = true,
            None if word == "ast" => ast = true,
            _ => panic!("unknown option {word}"),
        }
    }
    let mut out = String::new();
    if ast {
        let (tree, diagnostics) = parse_ast(&sources, source, &options);
        diagnostics.iter().for_each(|diagnostic| show(diagnostic, &sources, source, &mut out));
        return out + &tree.expect("the text is short").dump(text);
    }
    let parsed = parse(&mut sources, source, &options);
    parsed.diagnostics.iter().for_each(|diagnostic| show(diagnostic, &sources, source, &mut out));
    if let Some(grammar) = parsed.grammar {
        lints::lint(&grammar).iter().for_each(|diagnostic| show(diagnostic, &sources, source, &mut out));
        let _ = write!(out, "{grammar}");
    }
    out
}

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut paths: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "lark")) {
        let text = std::fs::read_to_string(path).unwrap();
        let mut actual = String::new();
        for case in text.split("\n### ").map(|case| case.trim_start_matches("### ")) {
            let (heading, grammar) = case.split_once('\n').expect("a case has a heading");
            let _ = write!(actual, "### {heading}\n{}\n", run(heading, &format!("{grammar}\n")));
            count += 1;
        }
        let expect = path.with_extension("out");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expect, &actual).unwrap();
        } else if std::fs::read_to_string(&expect).unwrap_or_default() != actual {
            let expected = std::fs::read_to_string(&expect).unwrap_or_default();
            let line = expected.lines().zip(actual.lines()).position(|(a, b)| a != b).unwrap_or(0);
            let shown = actual.lines().nth(line).unwrap_or("");
            failures.push(format!("{}:{}: now {shown}", expect.display(), line + 1));
        }
    }
    assert!(count > 100, "{count} cases");
    assert!(failures.is_empty(), "UPDATE_EXPECT=1 rewrites them:\n{}", failures.join("\n"));
}
