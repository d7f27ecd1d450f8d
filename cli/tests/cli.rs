//! Runs the program as a user does and compares all that it prints.
//!
//! A case file holds commands and what they print. `$ larkspur ARGS` begins a command (words as in a shell; only single
//! quotes quote), `< TEXT` is its standard input with Rust's escapes, plain lines are its standard output, lines that
//! begin with `! ` its standard error, and `? CODE` its exit code. `UPDATE_EXPECT=1 cargo test` rewrites the files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn tests_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

fn run(args: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_larkspur"))
        .args(args)
        .current_dir(tests_folder().join("grammars"))
        .env_remove("CLICOLOR_FORCE")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A command that does not read its input may end before it is written.
    let _ = child.stdin.take().expect("piped").write_all(stdin);
    child.wait_with_output().expect("the program ends")
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

fn unescape(text: &str) -> Vec<u8> {
    let json: Value = serde_json::from_str(&format!("\"{}\"", text.replace('"', "\\\""))).expect("an escaped text");
    json.as_str().expect("a string").as_bytes().to_vec()
}

/// The file with the output of each command as it is now.
fn rerun(text: &str) -> String {
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(command) = line.strip_prefix("$ larkspur") else {
            // A comment before the first command.
            out.push_str(line);
            out.push('\n');
            continue;
        };
        out.push_str(line);
        out.push('\n');
        let mut stdin = Vec::new();
        if let Some(input) = lines.peek().and_then(|line| line.strip_prefix("< ")) {
            stdin = unescape(input);
            out.push_str(&format!("< {input}\n"));
        }
        while lines.peek().is_some_and(|line| !line.starts_with("$ larkspur")) {
            lines.next();
        }
        let words = words(command);
        let output = run(&words.iter().map(String::as_str).collect::<Vec<_>>(), &stdin);
        out.push_str(&String::from_utf8_lossy(&output.stdout));
        if !out.ends_with('\n') {
            out.push('\n');
        }
        for line in String::from_utf8_lossy(&output.stderr).lines() {
            out.push_str(format!("! {line}").trim_end());
            out.push('\n');
        }
        out.push_str(&format!("? {}\n\n", output.status.code().expect("an exit code")));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn check_file(name: &str) {
    let path = tests_folder().join("cases").join(name);
    let expected = std::fs::read_to_string(&path).expect("the case file");
    let found = rerun(&expected);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, found).expect("the case file can be written");
    } else {
        assert!(found == expected, "{name} differs; UPDATE_EXPECT=1 rewrites it. Found:\n{found}");
    }
}

macro_rules! case_files {
    ($($name:ident)*) => {
        $(#[test] fn $name() { check_file(concat!(stringify!($name), ".txt")); })*

        #[test]
        fn every_file_is_run() {
            let mut known = vec![$(concat!(stringify!($name), ".txt")),*];
            known.sort_unstable();
            let files = std::fs::read_dir(tests_folder().join("cases")).expect("the folder");
            let mut found: Vec<String> =
                files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8")).collect();
            found.sort();
            assert_eq!(found, known);
        }
    };
}

case_files! { check convert match_text mask generate dump usage references schema imports kbnf }

#[test]
fn trace_follows_tokens() {
    let output = run(&["trace", "sum.lark", "12+3", "--tokenizer", "bytes", "--output", "json"], b"");
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["result"], "accept");
    let steps = document["steps"].as_array().expect("steps");
    let column = |key: &str| steps.iter().map(|step| step[key].clone()).collect::<Vec<_>>();
    assert_eq!(column("at_byte"), [0, 1, 2, 3, 4]);
    assert_eq!(column("token"), ["1".into(), "2".into(), "+".into(), "3".into(), Value::Null]);
    assert_eq!(column("allowed"), [11, 13, 13, 11, 13]);
    assert_eq!(column("accepting"), [false, true, true, false, true]);
    assert!(steps.iter().all(|step| step["mask_time_us"].as_f64().expect("a time") >= 0.0));

    let output = run(&["trace", "sum.lark", "1+*", "--tokenizer", "bytes"], b"");
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let titles: Vec<&str> = text.lines().next().expect("a line").split_whitespace().collect();
    assert_eq!(titles.join(" "), "byte token allowed end mask us consume us forced expected");
    assert!(text.contains("\nreject at byte 2\n"), "{text}");
}

#[test]
fn generated_sentences_are_accepted() {
    for grammar in ["sum.lark", "date.regex", "list.json", "invoice.json"] {
        for seed in ["0", "1", "2"] {
            let args = ["generate", grammar, "--tokenizer", "bytes", "--max-tokens", "100", "--seed", seed];
            let output = run(&args, b"");
            assert_eq!(output.status.code(), Some(0));
            assert_eq!(output, run(&args, b""), "the same seed gives the same sentence");
            let sentence = output.stdout.strip_suffix(b"\n").expect("a line break at the end");
            assert_eq!(output.stderr, b"");
            let verdict = run(&["match", grammar, "-"], sentence);
            assert_eq!(verdict.status.code(), Some(0), "{grammar}: {}", String::from_utf8_lossy(sentence));
        }
    }
}

#[test]
fn the_default_vocabulary_is_o200k() {
    let output = run(&["mask", "sum.lark", "--after", "1", "--output", "json"], b"");
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["vocabulary"], 200_019);
    assert_eq!(document["accepting"], true);
    assert_eq!(document["tokens"][0]["text"], "<|endoftext|>");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_larkspur"))
        .args(["generate", "sum.lark", "--tokenizer", "bytes", "--count", "100000", "--max-tokens", "9"])
        .current_dir(tests_folder().join("grammars"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn conformance_counts_verdicts() {
    let output = run(&["conformance", "suite", "--failures", "--output", "json"], b"");
    assert_eq!(output.status.code(), Some(0));
    let reports: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let report = &reports[0];
    let figures = ["schemas", "compiled", "all_right", "tests", "right", "lost", "wrong_accepts", "wrong_rejects"];
    assert_eq!(figures.map(|key| report[key].as_u64()), [3, 2, 2, 4, 3, 1, 0, 0].map(Some));
    assert_eq!(report["failures"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["failures"][0]["kind"], "refused");
    let output = run(&["conformance", "suite"], b"");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(text.contains("| larkspur | maskbench | 3 | 2 (66.67 %) |"), "{text}");
    assert!(text.contains("1  J005 `$ref` at … leads to …, which cannot be loaded"), "{text}");
    assert_eq!(run(&["conformance", "nowhere"], b"").status.code(), Some(2));
}

#[test]
fn a_grammar_that_is_not_utf8_says_where() {
    let output = run(&["check", "-"], b"start: \"a\"\n  | \"\xff\"\n");
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr);
    let expected = "error[F009]: <stdin>: the grammar is not UTF-8 at byte 16 (line 2)\n = help: save it as UTF-8\n";
    assert_eq!(message, expected);
}
