//! The dialect reference, `docs/lark-dialect.md`: its `lark` blocks compile, its `lark-error` blocks get errors;
//! `lark file=…` are files to import.
//! So do the codes' examples of the structural lints.

use larkspur_grammar::{Diagnostic, Limits, SourceMap, lints};
use larkspur_lark_frontend::{LarkOptions, Modules, Parsed, parse};

/// Reads a text that may import `files`.
fn run(text: &str, files: &[(String, String)]) -> Parsed {
    let mut sources = SourceMap::new();
    let source = sources.add("block.lark", text);
    let (limits, modules) = (Limits::default(), Modules::map(files.iter().cloned()));
    parse(&mut sources, source, &LarkOptions { modules: Some(&modules), ..LarkOptions::new(&limits) })
}

#[test]
fn blocks_of_the_reference() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/lark-dialect.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut good, mut bad) = (0, 0);
    // The blocks of files that later blocks import.
    let mut files: Vec<(String, String)> = Vec::new();
    for part in text.split("\n```lark").skip(1) {
        let (info, rest) = part.split_once('\n').expect("a block begins with a line");
        let body = rest.split("\n```").next().expect("a block ends").to_string() + "\n";
        if let Some(path) = info.strip_prefix(" file=") {
            files.push((path.to_string(), body));
            continue;
        }
        let parsed = run(&body, &files);
        let errors: Vec<&Diagnostic> = parsed.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
        match info {
            "" => {
                assert!(parsed.diagnostics.is_empty(), "{body}\n{:#?}", parsed.diagnostics);
                let lints: Vec<_> =
                    lints::lint(&parsed.grammar.unwrap()).into_iter().filter(Diagnostic::is_error).collect();
                assert!(lints.is_empty(), "{body}\n{lints:#?}");
                good += 1;
            }
            "-error" => {
                assert!(!errors.is_empty(), "no error in\n{body}");
                bad += 1;
            }
            other => panic!("a block of kind lark{other}"),
        }
    }
    assert!(good > 20 && bad > 10, "{good} good and {bad} bad blocks");
}

#[test]
fn examples_of_the_lints() {
    for info in lints::CODES {
        let codes = |text: &str| -> Vec<&str> {
            let parsed = run(text, &[]);
            assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
            lints::lint(&parsed.grammar.unwrap()).iter().map(|diagnostic| diagnostic.code).collect()
        };
        assert_eq!(codes(info.bad), [info.code]);
        assert_eq!(codes(info.good), [""; 0], "{}", info.code);
    }
}
