//! The engine against Lark itself (PyPI `lark`): `exact` mode on random grammars (`lexer="dynamic_complete"`), and the
//! grammars that Lark brings on real files.

use std::path::{Path, PathBuf};
use std::process::Command;

use larkspur_grammar::{LexerMode, Limits, SourceMap, link};
use larkspur_lark_frontend::{LarkOptions, parse};
use larkspur_parser::{EngineOptions, Matcher, MatcherOptions};
use larkspur_tests::compare::{compile, is_trap};
use larkspur_tests::oracle::{Oracle, Vocab};
use serde::Deserialize;

#[derive(Deserialize)]
struct Verdicts {
    grammar: String,
    texts: Vec<(String, bool)>,
}

/// A Python that has the package: `LARKSPUR_LARK_PYTHON`, a virtual environment `target/lark-venv`, or `python3`.
fn python() -> Option<PathBuf> {
    let venv = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/lark-venv/bin/python");
    let candidates = [std::env::var_os("LARKSPUR_LARK_PYTHON").map(PathBuf::from), Some(venv), Some("python3".into())];
    candidates.into_iter().flatten().find(|python| {
        Command::new(python).args(["-c", "import lark"]).output().is_ok_and(|output| output.status.success())
    })
}

#[test]
fn exact_mode_accepts_what_lark_accepts() {
    let Some(python) = python() else {
        println!("skipped: no Python with the package `lark`");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lark_oracle.py");
    let seed = std::env::var("LARKSPUR_TEST_SEED").unwrap_or_else(|_| "1".into());
    // Lark takes minutes for some random grammars further on.
    let count = larkspur_tests::property_config(60).cases.min(120);
    let output = Command::new(python).arg(script).args([seed, count.to_string()]).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let grammars: Vec<Verdicts> = serde_json::from_slice(&output.stdout).expect("the script prints JSON");
    assert_eq!(grammars.len(), count as usize, "the script prints as many as it was asked for");

    let mut failures = Vec::new();
    for Verdicts { grammar, texts } in &grammars {
        let limits = Limits::default();
        let mut sources = SourceMap::new();
        let source = sources.add("random.lark", grammar.clone());
        let options = LarkOptions { lexer: Some(LexerMode::Exact), ..LarkOptions::new(&limits) };
        let parsed = parse(&mut sources, source, &options);
        let Some(ir) = parsed.grammar else {
            failures.push(format!("{grammar}is refused: {:#?}", parsed.diagnostics));
            continue;
        };
        let linked = link(vec![ir], |_, _| unreachable!("no schemas")).expect("nothing to link");
        let vocab = Vocab::default();
        let Ok(oracle) = Oracle::new(&linked, &vocab) else {
            if let Some((text, _)) = texts.iter().find(|(_, accepted)| *accepted) {
                failures.push(format!("{grammar}is empty, but Lark accepts {text:?}"));
            }
            continue;
        };
        let compiled = match compile(&linked, &vocab, &EngineOptions::default()) {
            Ok(compiled) => compiled,
            // Look-around forbids all texts.
            Err(diagnostics) if is_trap(&diagnostics) => {
                if let Some((text, _)) = texts.iter().find(|(_, accepted)| *accepted) {
                    failures.push(format!("{grammar}can never be finished, but Lark accepts {text:?}"));
                }
                continue;
            }
            Err(diagnostics) => panic!("the oracle takes {grammar}: {diagnostics:#?}"),
        };
        for (text, accepted) in texts {
            let read = text.bytes().try_fold(oracle.start(), |state, byte| oracle.feed_byte(&state, byte));
            let by_oracle = read.is_some_and(|state| oracle.is_accepting(&state));
            // What it has given up says nothing of this text, nor of any behind it.
            let by_oracle = if oracle.is_undecided() { *accepted } else { by_oracle };
            let mut matcher = Matcher::new(&compiled, MatcherOptions::default()).expect("it starts");
            let by_engine = matcher.consume_bytes(text.as_bytes()).is_ok() && matcher.is_accepting().unwrap_or(false);
            if [by_oracle, by_engine] != [*accepted; 2] {
                failures.push(format!("{grammar}{text:?}: Lark {accepted}, oracle {by_oracle}, engine {by_engine}"));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} verdicts differ:\n{}",
        failures.len(),
        failures[..failures.len().min(8)].join("\n\n")
    );
}

#[derive(Deserialize)]
struct Files {
    #[serde(rename = "python.lark")]
    python: String,
    #[serde(rename = "lark.lark")]
    lark: String,
    texts: Vec<(String, String, bool)>,
}

/// `python.lark` and `lark.lark` as the package has them, on Python's standard library and Lark's grammars: all files with
/// `LARKSPUR_TEST_FACTOR`.
#[test]
fn grammars_of_lark_accept_what_lark_accepts() {
    let Some(python) = python() else {
        println!("skipped: no Python with the package `lark`");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("lark_files.py");
    let seed = std::env::var("LARKSPUR_TEST_SEED").unwrap_or_else(|_| "1".into());
    let count = if larkspur_tests::property_config(1).cases > 1 { "0" } else { "25" };
    let output = Command::new(python).arg(script).args([seed.as_str(), count]).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let files: Files = serde_json::from_slice(&output.stdout).expect("the script prints JSON");

    let compiled = |text: &str, start: &str, lexer: LexerMode| {
        let limits = Limits::default();
        let mut sources = SourceMap::new();
        let source = sources.add("grammar.lark", text.to_string());
        let options = LarkOptions { start: Some(start), lexer: Some(lexer), ..LarkOptions::new(&limits) };
        let parsed = parse(&mut sources, source, &options);
        let mut ir = parsed.grammar.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
        // Lark's contextual lexer has strings beat regexes.
        ir.options.keywords = true;
        let linked = link(vec![ir], |_, _| unreachable!("no schemas")).expect("nothing to link");
        compile(&linked, &Vocab::default(), &EngineOptions::default()).expect("Lark's grammars compile")
    };
    let python = compiled(&files.python, "file_input", LexerMode::Longest);
    // A comment may begin as a blank before a regex does: Lark's lexer then takes the shorter match, `longest` none.
    let lark = compiled(&files.lark, "start", LexerMode::Exact);
    let mut failures = Vec::new();
    let mut accepted = 0;
    for (grammar, text, expected) in &files.texts {
        let grammar = if grammar == "python.lark" { &python } else { &lark };
        let mut matcher = Matcher::new(grammar, MatcherOptions::default()).expect("it starts");
        let found = matcher.consume_bytes(text.as_bytes()).is_ok() && matcher.is_accepting().expect("within limits");
        accepted += usize::from(found);
        if found != *expected {
            failures.push(format!("{text}\n-- Lark says {expected}"));
        }
    }
    println!("{} texts, {accepted} accepted", files.texts.len());
    assert!(
        failures.is_empty(),
        "{} verdicts of {} differ:\n{}",
        failures.len(),
        files.texts.len(),
        failures[..failures.len().min(5)].join("\n\n")
    );
}
