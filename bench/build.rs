//! Tells the benchmark which commit it is built from: results name it, whatever is checked out when they are made.

use std::fs;
use std::path::Path;
use std::process::Command;

fn main() {
    // The script runs again when the commit changes, or the code of any crate: it may then be the commit's no longer.
    for path in ["logs/HEAD", "index"] {
        let path = Path::new("..").join(git(&["rev-parse", "--git-path", path]));
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    for entry in fs::read_dir("..").into_iter().flatten().flatten() {
        let sources = entry.path().join("src");
        if sources.is_dir() {
            println!("cargo::rerun-if-changed={}", sources.display());
        }
    }
    let mut commit = git(&["rev-parse", "--short=12", "HEAD"]);
    if !git(&["status", "--porcelain", "--untracked-files=no", "--", "*.rs", "*Cargo.toml", "Cargo.lock"]).is_empty() {
        commit.push_str(" with changes");
    }
    println!("cargo::rustc-env=LARKSPUR_COMMIT={commit}");
}

/// What git prints; nothing where there is no repository.
fn git(arguments: &[&str]) -> String {
    let output = Command::new("git").args(arguments).current_dir("..").output();
    output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default()
}
