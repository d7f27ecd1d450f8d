//! The commands, one file each.

pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod conformance;
pub(crate) mod convert;
pub(crate) mod dump;
pub(crate) mod generate;
pub(crate) mod mask;
pub(crate) mod match_text;
mod prepare;
pub(crate) mod trace;
