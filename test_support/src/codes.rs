//! Checks of tables of codes and of what a reader finds.

use larkspur_grammar::{CodeInfo, Diagnostic};

/// Each code's bad example gets this code and, unless `others` may show as well, nothing else; its good one gets nothing.
/// The codes are in order, none twice. `found` reads an example of a code.
pub fn check(codes: &[CodeInfo], others: bool, found: impl Fn(&CodeInfo, &str) -> Vec<Diagnostic>) {
    let mut failures = Vec::new();
    for info in codes {
        let messages = |text| -> Vec<_> { found(info, text).into_iter().map(|one| (one.code, one.message)).collect() };
        if !info.bad.is_empty() {
            let bad = messages(info.bad);
            let is_this = |(code, _): &(&str, String)| *code == info.code;
            let is_right = if others { bad.iter().any(is_this) } else { !bad.is_empty() && bad.iter().all(is_this) };
            if !is_right {
                failures.push(format!("{}: bad example gets {bad:?}", info.code));
            }
            let good = messages(info.good);
            if !good.is_empty() {
                failures.push(format!("{}: good example gets {good:?}", info.code));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(codes.windows(2).all(|pair| pair[0].code < pair[1].code), "codes are sorted and unique");
}

/// Codes with their places.
pub fn places(diagnostics: Vec<Diagnostic>) -> Vec<(&'static str, u32, u32)> {
    let place = |diagnostic: Diagnostic| {
        let span = diagnostic.labels[0].span;
        (diagnostic.code, span.start, span.end)
    };
    diagnostics.into_iter().map(place).collect()
}

/// Codes with what they point at in the text, and the way out.
pub fn ways_out(text: &str, diagnostics: Vec<Diagnostic>) -> Vec<(&'static str, String, String)> {
    let show = |diagnostic: Diagnostic| {
        let span = diagnostic.labels[0].span;
        let written = text[span.start as usize..span.end as usize].to_owned();
        (diagnostic.code, written, diagnostic.help.unwrap_or_default())
    };
    diagnostics.into_iter().map(show).collect()
}
