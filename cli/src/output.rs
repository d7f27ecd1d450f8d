//! Small things about what is printed.

use std::io::Write;

use anyhow::Result;
use larkspur::ByteSet;

/// Ranges of bytes that are written out.
const RANGES_MAX: usize = 16;

/// Names that are written out.
const NAMES_MAX: usize = 12;

/// Prints a JSON document in one line.
pub(crate) fn json(value: &serde_json::Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, value)?;
    writeln!(out)?;
    Ok(())
}

/// A set of bytes for human eyes: `'0'-'9' '_' \x80-\xBF`.
pub(crate) fn byte_set(set: &ByteSet) -> String {
    let mut parts = Vec::new();
    let mut bytes = set.iter().peekable();
    let mut ranges = 0;
    while let Some(low) = bytes.next() {
        let mut high = low;
        while bytes.next_if(|&next| next == high + 1).is_some() {
            high += 1;
        }
        ranges += 1;
        if ranges > RANGES_MAX {
            continue;
        }
        parts.push(match high - low {
            0 => byte(low),
            1 => format!("{} {}", byte(low), byte(high)),
            _ => format!("{}-{}", byte(low), byte(high)),
        });
    }
    if ranges > RANGES_MAX {
        parts.push(format!("and {} more ranges", ranges - RANGES_MAX));
    }
    parts.join(" ")
}

/// A byte for human eyes: `'a'`, `'\n'`, `\xC3`.
pub(crate) fn byte(byte: u8) -> String {
    match byte {
        b'\'' | b'\\' => format!("'\\{}'", byte as char),
        b'\n' => "'\\n'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b' '..=b'~' => format!("'{}'", byte as char),
        _ => format!("\\x{byte:02X}"),
    }
}

/// The first names of a list, with how many more there are.
pub(crate) fn names(names: &[String]) -> String {
    let mut shown: Vec<String> = names.iter().take(NAMES_MAX).map(|name| name.replace('\n', "\\n")).collect();
    if names.len() > NAMES_MAX {
        shown.push(format!("and {} more", names.len() - NAMES_MAX));
    }
    shown.join(", ")
}
