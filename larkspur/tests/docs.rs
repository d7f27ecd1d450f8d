//! The lists in `docs/` are those in the code. `UPDATE_EXPECT=1 cargo test -p larkspur --test docs` rewrites them.

use std::fmt::Write;
use std::fs;
use std::path::Path;

fn check(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, text).expect("docs can be written");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/{name} is out of date: run with UPDATE_EXPECT=1");
}

/// A fence longer than any run of backquotes in the text.
fn block(text: &str) -> String {
    let text = text.trim_end();
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

#[test]
fn diagnostics() {
    let mut text = String::from(
        "# Diagnostics\n\nEvery code that `larkspur check` can print, with a bad and a good example, and those of saved grammars \
         (`F020` on); `larkspur check --explain CODE` shows the same.\n`L` Lark, `R` regexes, `N` JSON, `J` JSON Schema, `E` GBNF, `K` KBNF, `G` structure, `P` the parser, `V` the \
         vocabulary, `B` limits, `F` front ends.\n\n| code | |\n|---|---|\n",
    );
    let codes = larkspur::codes();
    for info in &codes {
        let _ = writeln!(
            text,
            "| [{0}](#{1}) | {2} |",
            info.code,
            info.code.to_lowercase(),
            info.title.replace('|', "\\|")
        );
    }
    for info in &codes {
        let _ = write!(text, "\n## {}\n\n{}.\n\n{}\n", info.code, info.title.trim_end_matches('.'), info.explanation);
        for (title, example) in [("Bad", info.bad), ("Good", info.good)] {
            if !example.is_empty() {
                let _ = write!(text, "\n{title}:\n\n{}", block(example));
            }
        }
    }
    check("diagnostics.md", &text);
}

#[test]
fn limits() {
    let source = include_str!("../../grammar/src/limits.rs");
    let fields = source.split_once("\nlimits! {").expect("the table is there").1;
    let mut text = String::from(
        "# Limits\n\nFields of `Limits`. Past one there is a typed error that names it: a diagnostic for grammars, \
         `MatcherError::LimitExceeded` for texts,\nafter which the matcher is where it was.\nSome cut instead: past `mask_cache_bytes_max` and \
         `term_cache_bytes_max` masks and what they are made of are forgotten and made again,\npast `grammars_kept_bytes_max` grammars \
         are compiled again, and `forced_bytes` ends at `forced_bytes_max`\nand where it has touched a quarter of `earley_set_work_max` items.\n\n| limit | default | unit and reason |\n|---|---|---|\n",
    );
    let mut doc = String::new();
    for line in fields.lines().map(str::trim) {
        if let Some(part) = line.strip_prefix("///") {
            doc.push_str(part);
        } else if let Some((name, rest)) = line.strip_prefix("pub ").and_then(|field| field.split_once(':')) {
            let default = rest.split_once(" = ").expect("it has a default").1.trim_end_matches(',');
            let _ = writeln!(text, "| `{name}` | {default} | {} |", doc.trim().replace('|', "\\|"));
            doc.clear();
        }
    }
    check("limits.md", &text);
}

/// Every `yes` of ours in the README's table links to a file that has a test or case of the name that it gives.
#[test]
fn features() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let readme = fs::read_to_string(root.join("README.md")).expect("it can be read");
    let mut count = 0;
    for link in readme.split("| [yes](").skip(1) {
        let (link, _) = link.split_once(')').expect("a link ends");
        let (path, test) = link.split_once(' ').expect("a test is named");
        let test = test.trim_matches('"');
        let text = fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let is_there = text.contains(&format!("fn {test}(")) || text.contains(&format!("name = \"{test}\""));
        assert!(is_there, "{path} has no `{test}`");
        count += 1;
    }
    assert!(count > 25, "{count} features");
}
