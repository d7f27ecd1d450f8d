//! Patterns that leave out a list of texts, as names of an object leave out those that are listed: taken apart, so that
//! what is left is the same in all objects.

use larkspur_grammar::{Parts, RegexId, RegexNode, RegexSet, Text};
use smallvec::smallvec;

use super::ButFor;

/// A pattern and the texts that it leaves out, if it does: literals, an intersection with the complement of literals, and
/// literals again.
pub(super) fn but_for(regexes: &mut RegexSet, pattern: RegexId) -> Option<ButFor> {
    let parts: Parts = match regexes.node(pattern) {
        RegexNode::Concat(parts) => parts.clone(),
        _ => smallvec![pattern],
    };
    let at = parts.iter().position(|&part| literal(regexes, part).is_none())?;
    let (before, after) = (texts(regexes, &parts[..at])?, texts(regexes, &parts[at + 1..])?);
    let operands: Parts = match regexes.node(parts[at]) {
        RegexNode::And(operands) => operands.clone(),
        _ => return None,
    };
    let mut left_out: Vec<Box<[u8]>> = Vec::new();
    let mut kept = Parts::new();
    for operand in operands {
        let &RegexNode::Not(child) = regexes.node(operand) else {
            kept.push(operand);
            continue;
        };
        let alternatives: Parts = match regexes.node(child) {
            RegexNode::Or(alternatives) => alternatives.clone(),
            _ => smallvec![child],
        };
        let mut others = Parts::new();
        for alternative in alternatives {
            match literal(regexes, alternative) {
                Some(text) => left_out.push([&before[..], text, &after].concat().into()),
                None => others.push(alternative),
            }
        }
        if !others.is_empty() {
            let others = regexes.or(&others);
            kept.push(regexes.not(others));
        }
    }
    if left_out.is_empty() || kept.is_empty() {
        return None;
    }
    left_out.sort_unstable();
    left_out.dedup();
    let mut parts = parts;
    parts[at] = regexes.and(&kept);
    Some(ButFor { pattern: regexes.concat(&parts), texts: left_out.into() })
}

fn literal(regexes: &RegexSet, regex: RegexId) -> Option<&[u8]> {
    match regexes.node(regex) {
        RegexNode::Literal(text) => Some(text),
        _ => None,
    }
}

fn texts(regexes: &RegexSet, parts: &[RegexId]) -> Option<Text> {
    let mut text = Text::new();
    for &part in parts {
        text.extend_from_slice(literal(regexes, part)?);
    }
    Some(text)
}
