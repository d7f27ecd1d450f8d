//! What masks are made with beside a walk over the trie. Each can be left out, to see what it is worth.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// Something without which all masks are the same, and most take longer. `docs/mask.md` explains each and says what it is
/// worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shortcut {
    /// The mask of a place is remembered.
    Memo,
    /// Places with the same terms have one mask.
    Traces,
    /// The terms of a place are remembered with all that is behind it.
    Places,
    /// A mask keeps its last words, to be shown again or written over.
    Copies,
    /// Grammars share what is found out of expressions, which runs and bounded texts need.
    Sharing,
    /// Lexemes that go their own ways have terms of their own.
    Split,
    /// Tokens that a state takes as a whole, sorted by regexes.
    Slices,
    /// Tokens of a slice by alphabet and length.
    Parts,
    /// States to which most texts lead back.
    Homes,
    /// Counted characters.
    Runs,
    /// Patterns within bounds.
    Bounded,
    /// States that resemble others.
    Beside,
    /// Lexemes beside one that takes whole slices.
    Covered,
    /// Counts that no token reaches.
    Horizon,
}

impl Shortcut {
    /// All of them, in the order of `docs/mask.md`.
    pub const ALL: [Self; 14] = [
        Self::Memo,
        Self::Traces,
        Self::Places,
        Self::Copies,
        Self::Sharing,
        Self::Split,
        Self::Slices,
        Self::Parts,
        Self::Homes,
        Self::Runs,
        Self::Bounded,
        Self::Beside,
        Self::Covered,
        Self::Horizon,
    ];

    /// As it is written where one is named.
    pub fn name(self) -> &'static str {
        match self {
            Self::Memo => "memo",
            Self::Traces => "traces",
            Self::Places => "places",
            Self::Copies => "copies",
            Self::Sharing => "sharing",
            Self::Split => "split",
            Self::Slices => "slices",
            Self::Parts => "parts",
            Self::Homes => "homes",
            Self::Runs => "runs",
            Self::Bounded => "bounded",
            Self::Beside => "beside",
            Self::Covered => "covered",
            Self::Horizon => "horizon",
        }
    }
}

impl fmt::Display for Shortcut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No [`Shortcut`] has this name.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("there is no `{0}` to leave out; there are {names}", names = Shortcut::ALL.map(Shortcut::name).join(", "))]
pub struct UnknownShortcut(String);

impl FromStr for Shortcut {
    type Err = UnknownShortcut;

    fn from_str(name: &str) -> Result<Self, UnknownShortcut> {
        Self::ALL.into_iter().find(|shortcut| shortcut.name() == name).ok_or_else(|| UnknownShortcut(name.to_owned()))
    }
}

/// Some of them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Shortcuts(u32);

impl Shortcuts {
    /// None.
    pub const NONE: Self = Self(0);

    /// Whether this is one of them.
    #[inline]
    pub fn has(self, shortcut: Shortcut) -> bool {
        self.0 & 1 << shortcut as u32 != 0
    }
}

impl FromIterator<Shortcut> for Shortcuts {
    fn from_iter<I: IntoIterator<Item = Shortcut>>(shortcuts: I) -> Self {
        Self(shortcuts.into_iter().fold(0, |all, shortcut| all | 1 << shortcut as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_named() {
        for shortcut in Shortcut::ALL {
            assert_eq!(shortcut.name().parse(), Ok(shortcut));
            let only: Shortcuts = [shortcut].into_iter().collect();
            assert!(Shortcut::ALL.iter().all(|&other| only.has(other) == (other == shortcut)));
        }
        let error = "slice".parse::<Shortcut>().expect_err("there is none");
        assert!(
            error.to_string().starts_with("there is no `slice` to leave out; there are memo, traces, places,"),
            "{error}"
        );
    }
}
