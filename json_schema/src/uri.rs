//! URI references: RFC 3986, as far as `$id` and `$ref` need it.

use std::borrow::Cow;

/// `%25` and the like as bytes; `None` if that is no text.
pub(crate) fn percent_decoded(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(text.into());
    }
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let code = (byte == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                out.push(decoded);
                at += 3;
            }
            None => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).ok().map(Cow::Owned)
}

/// A URI reference without fragment against a base: RFC 3986, section 5.2.
pub(crate) fn join(base: &str, reference: &str) -> String {
    let (scheme, rest) = split_scheme(reference);
    if !scheme.is_empty() {
        return format!("{scheme}{}", without_dots(rest));
    }
    let (scheme, base_rest) = split_scheme(base);
    if reference.starts_with("//") {
        return format!("{scheme}{reference}");
    }
    let authority_end = match base_rest.strip_prefix("//") {
        Some(after) => 2 + after.find('/').unwrap_or(after.len()),
        None => 0,
    };
    let (authority, path) = base_rest.split_at(authority_end);
    let path = path.split('?').next().unwrap_or_default();
    let joined = if reference.starts_with('/') {
        reference.to_owned()
    } else if reference.starts_with('?') {
        format!("{path}{reference}")
    } else {
        let folder = path.rfind('/').map_or(if authority.is_empty() { "" } else { "/" }, |at| &path[..=at]);
        format!("{folder}{reference}")
    };
    format!("{scheme}{authority}{}", without_dots(&joined))
}

/// The scheme with its colon, and what follows.
fn split_scheme(uri: &str) -> (&str, &str) {
    match uri.find([':', '/', '?']) {
        Some(at) if uri[at..].starts_with(':') && at > 0 => uri.split_at(at + 1),
        _ => ("", uri),
    }
}

/// Without `.` and `..` in the path.
fn without_dots(path: &str) -> String {
    if !path.split(['/', '?']).any(|part| part == "." || part == "..") {
        return path.to_owned();
    }
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    let mut parts: Vec<&str> = Vec::new();
    let count = path.split('/').count();
    for (index, part) in path.split('/').enumerate() {
        match part {
            "." | ".." => {
                if part == ".." && parts.len() > 1 {
                    parts.pop();
                }
                if index + 1 == count {
                    parts.push("");
                }
            }
            part => parts.push(part),
        }
    }
    parts.join("/") + query
}
