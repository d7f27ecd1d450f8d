//! Random right-hand sides as text, for languages in which parts stand side by side and `|` between alternatives.

use proptest::prelude::*;

/// How a language writes what is made of parts.
#[derive(Clone, Copy, Debug)]
pub struct Signs {
    /// What may stand between parts that stand side by side.
    pub between: &'static [&'static str],
    /// What may stand before and behind a part that is repeated or left out.
    pub around: &'static [(&'static str, &'static str)],
}

/// Right-hand sides of these leaves, at most three deep.
pub fn sides(leaf: impl Strategy<Value = String> + 'static, signs: Signs) -> impl Strategy<Value = String> + Clone {
    leaf.prop_recursive(3, 12, 3, move |inner| {
        let between = prop::sample::select(signs.between);
        let around = prop::sample::select(signs.around);
        prop_oneof![
            3 => (prop::collection::vec(inner.clone(), 1..4), between).prop_map(|(parts, sign)| parts.join(sign)),
            2 => prop::collection::vec(inner.clone(), 2..4).prop_map(|parts| format!("({})", parts.join(" | "))),
            3 => (inner, around).prop_map(|(inner, (before, behind))| format!("{before}{inner}{behind}")),
        ]
    })
}
