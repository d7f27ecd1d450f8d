//! The pages about Lark: their `lark` blocks compile, their `lark-error` blocks get errors; `lark file=…` are files to import.

use larkspur::{CompileError, CompileOptions, Diagnostic, Limits, Linked, Modules, Source, link};

/// Reads a text that may import `files`, and use a grammar `@other`.
fn run(text: &str, files: &[(String, String)]) -> Result<Linked, CompileError> {
    let modules = Some(Modules::map(files.iter().cloned()));
    let other = serde_json::json!({ "name": "other", "lark_grammar": "start: \"x\"" });
    let list = serde_json::json!({ "grammars": [{ "lark_grammar": text }, other] });
    link(&Source::list(list.to_string()), &CompileOptions { modules, ..CompileOptions::default() }, &Limits::default())
}

/// Runs the blocks of a page; how many are good and bad.
fn blocks(page: &str) -> (usize, usize) {
    let path = format!("{}/../docs/{page}", env!("CARGO_MANIFEST_DIR"));
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
        match (info, run(&body, &files)) {
            ("", Ok(linked)) => {
                // Warnings are of lints: what is defined and not used.
                let is_lint = |diagnostic: &Diagnostic| diagnostic.code.starts_with('G');
                assert!(linked.warnings.iter().all(is_lint), "{body}\n{:#?}", linked.warnings);
                good += 1;
            }
            ("", Err(error)) => panic!("{body}\n{error}"),
            ("-error", Ok(_)) => panic!("no error in\n{body}"),
            ("-error", Err(_)) => bad += 1,
            (other, _) => panic!("a block of kind lark{other}"),
        }
    }
    (good, bad)
}

#[test]
fn blocks_of_the_reference() {
    let (good, bad) = blocks("lark.md");
    assert!(good > 20 && bad > 10, "{good} good and {bad} bad blocks");
}

#[test]
fn blocks_about_lexing() {
    assert_eq!(blocks("lexing.md"), (3, 0));
}

#[test]
fn blocks_about_structural_tags() {
    assert_eq!(blocks("structural-tags.md"), (2, 0));
}
