//! Grammars with very many alternatives, and very long lists.

use std::fmt::Write;

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use crate::random::Random;

/// Where the alternatives stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Form {
    /// `start: "a" | "b" | …`
    Rule,
    /// `start: WORD`, `WORD: "a" | "b" | …`
    Terminal,
}

/// The grammar, and one of the strings.
pub fn alternatives(count: usize, form: Form) -> (String, String) {
    const SYLLABLES: &[&str] =
        &["ka", "po", "ri", "mu", "ten", "sol", "vi", "na", "gor", "el", "ash", "dim", "o", "ya", "st"];
    let mut random = Random::new(10);
    let mut seen = FxHashSet::default();
    let mut text = match form {
        Form::Rule => String::from("start: "),
        Form::Terminal => String::from("start: WORD\nWORD: "),
    };
    let mut sample = String::new();
    while seen.len() < count {
        let mut word = String::new();
        for _ in 0..3 + random.below(4) {
            word.push_str(random.pick(SYLLABLES));
        }
        if random.chance(30) {
            write!(word, "_{}", random.below(1000)).unwrap();
        }
        if !seen.insert(word.clone()) {
            continue;
        }
        let separator = if seen.len() == 1 { "" } else { "\n  | " };
        write!(text, "{separator}\"{word}\"").unwrap();
        if seen.len() == count / 2 {
            sample = word;
        }
    }
    text.push('\n');
    (text, sample)
}

/// How a list is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ListKind {
    Left,
    Right,
    MutualLeft,
    MutualRight,
    Repeat,
}

impl ListKind {
    pub const ALL: [ListKind; 5] = [Self::Left, Self::Right, Self::MutualLeft, Self::MutualRight, Self::Repeat];
}

pub fn list_grammar(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Left => "start: N | start \",\" N\nN: /[0-9]+/\n",
        ListKind::Right => "start: N | N \",\" start\nN: /[0-9]+/\n",
        ListKind::MutualLeft => "start: N | other \",\" N\nother: N | start \",\" N\nN: /[0-9]+/\n",
        ListKind::MutualRight => "start: N | N \",\" other\nother: N | N \",\" start\nN: /[0-9]+/\n",
        ListKind::Repeat => "start: N (\",\" N)*\nN: /[0-9]+/\n",
    }
}

/// So many lexemes: numbers and commas.
pub fn list_text(lexemes: usize) -> String {
    let mut random = Random::new(11);
    let mut text = String::new();
    for index in 0..lexemes {
        if index % 2 == 1 {
            text.push(',');
        } else {
            write!(text, "{}", random.below(1000)).unwrap();
        }
    }
    text
}
