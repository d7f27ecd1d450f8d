//! Ignored blanks as what they are repeated from: `/\s+/` as runs of ASCII white space and single other characters, `/(\s|#.*)+/` as both.
//!
//! Any number of matches may stand side by side, so that nothing changes but where one ends. A lexeme goes on as long as it takes the next
//! byte; where that begins one of several characters of which only some are blanks, or a comment that does not come, the
//! run would go on into what follows it. Lark's unit is the character, and it tries what is shorter. Only what has blanks is taken apart:
//! elsewhere, as with `/[^a]+/`, what follows may begin with what is ignored, and a run is never cut before that.
//!
//! Blanks that are ignored by themselves are left out before other ignored text, such as comments (`/\s*#.*/`): they may stand there
//! in any case, and a blank would go on into a comment that does not come.

use larkspur_grammar::{ByteSet, CharClass, RegexId, RegexNode, RegexSet};
use rustc_hash::FxHashMap;

/// The first character that is more than one byte.
const BEYOND_ASCII: u32 = 0x80;

/// With more parts that are no single characters an ignored text stays whole: each is a lexeme.
const PARTS_MAX: usize = 8;

/// The regexes of which an ignored one is any number, besides the empty text; often only itself.
pub(crate) fn runs(set: &mut RegexSet, regex: RegexId) -> Vec<RegexId> {
    let mut parts = Vec::new();
    let mut ranges = Vec::new();
    collect(set, regex, false, &mut parts, &mut ranges);
    let blanks = CharClass::from_ranges(ranges);
    let is_blank = !blanks.is_empty() && blanks.ranges().iter().all(|&(first, last)| (first..=last).all(is_blank));
    if !is_blank || parts.len() > PARTS_MAX {
        return vec![regex];
    }
    let pieces = blanks.ranges().iter().flat_map(|&(first, last)| {
        let ascii = (first < BEYOND_ASCII).then(|| (first, last.min(BEYOND_ASCII - 1)));
        let other = (last >= BEYOND_ASCII).then(|| (first.max(BEYOND_ASCII), last));
        [ascii, other]
    });
    let (ascii, others): (Vec<_>, Vec<_>) = pieces.flatten().partition(|range| range.0 < BEYOND_ASCII);
    if parts.is_empty() && others.is_empty() {
        return vec![regex];
    }
    if !ascii.is_empty() {
        let ascii = set.class(CharClass::from_ranges(ascii));
        parts.push(set.repeat(ascii, 1, None));
    }
    if !others.is_empty() {
        parts.push(set.class(CharClass::from_ranges(others)));
    }
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// The characters that a regex matches, if it matches nothing else but runs of them.
pub(crate) fn blanks(set: &RegexSet, regex: RegexId) -> Option<CharClass> {
    let (mut parts, mut ranges) = (Vec::new(), Vec::new());
    let is_run = matches!(set.node(regex), RegexNode::Repeat(_, 0 | 1, None));
    collect(set, regex, !is_run, &mut parts, &mut ranges);
    (parts.is_empty() && !ranges.is_empty()).then(|| CharClass::from_ranges(ranges))
}

/// The characters that regexes may begin with, as far as they are ASCII's, all others, and perhaps more.
pub(crate) fn first_ascii(set: &RegexSet, regexes: impl Iterator<Item = RegexId>) -> CharClass {
    let mut known = FxHashMap::default();
    let first = regexes.fold(ByteSet::EMPTY, |all, regex| all.union(&first(set, regex, &mut known)));
    let ascii = first.iter().filter(u8::is_ascii).map(|byte| (u32::from(byte), u32::from(byte)));
    CharClass::from_ranges(ascii.chain([(BEYOND_ASCII, u32::from(char::MAX))]))
}

/// The bytes of ASCII that a regex may begin with, and perhaps others.
fn first(set: &RegexSet, regex: RegexId, known: &mut FxHashMap<RegexId, ByteSet>) -> ByteSet {
    if let Some(&known) = known.get(&regex) {
        return known;
    }
    let mut of = |part: RegexId| first(set, part, known);
    let bytes = match set.node(regex) {
        RegexNode::Nothing => ByteSet::EMPTY,
        RegexNode::Literal(text) => text.first().map_or(ByteSet::EMPTY, |&byte| ByteSet::range(byte, byte)),
        RegexNode::Class(class) => {
            let ascii = class.ranges().iter().filter(|range| range.0 < BEYOND_ASCII);
            let ascii = ascii.map(|&(low, high)| ByteSet::range(low as u8, high.min(BEYOND_ASCII - 1) as u8));
            ascii.fold(ByteSet::EMPTY, |all, range| all.union(&range))
        }
        RegexNode::Bytes(bytes) => *bytes,
        RegexNode::Concat(parts) => {
            let last = parts.iter().position(|&part| !set.info(part).nullable).unwrap_or(parts.len() - 1);
            parts[..=last].iter().fold(ByteSet::EMPTY, |all, &part| all.union(&of(part)))
        }
        RegexNode::Or(parts) => parts.iter().fold(ByteSet::EMPTY, |all, &part| all.union(&of(part))),
        RegexNode::And(parts) => parts.iter().fold(ByteSet::ALL, |all, &part| all.intersect(&of(part))),
        &RegexNode::Repeat(part, ..) | &RegexNode::Shortest(part) => of(part),
        RegexNode::Not(_) | RegexNode::MultipleOf { .. } | RegexNode::Values { .. } | RegexNode::Dfa(..) => {
            ByteSet::ALL
        }
    };
    known.insert(regex, bytes);
    bytes
}

/// A regex, or each of its alternatives, without the characters at its begin of which any number is ignored beside it: of `X* rest`
/// those are left that have none, or begin with another of `X`.
pub(crate) fn without(set: &mut RegexSet, regex: RegexId, ignored: &CharClass) -> RegexId {
    match set.node(regex).clone() {
        RegexNode::Or(ways) => {
            let ways: Vec<RegexId> = ways.iter().map(|&way| without(set, way, ignored)).collect();
            set.or(&ways)
        }
        RegexNode::Concat(parts) => {
            let &RegexNode::Repeat(child, 0, None) = set.node(parts[0]) else { return regex };
            let Some(first) = blanks(set, parts[0]) else { return regex };
            let rest = set.concat(&parts[1..]);
            let others = first.intersect(&ignored.negate());
            if set.info(rest).nullable || others == first {
                return regex;
            }
            let (others, more) = (set.class(others), set.repeat(child, 0, None));
            let behind_others = set.concat(&[others, more, rest]);
            set.or(&[rest, behind_others])
        }
        _ => regex,
    }
}

/// White space of Unicode and of Python's `\s`, and what has no width.
fn is_blank(c: u32) -> bool {
    let is_invisible =
        |c: char| matches!(c, '\u{1C}'..='\u{1F}' | '\u{180E}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FEFF}');
    char::from_u32(c).is_some_and(|c| c.is_whitespace() || is_invisible(c))
}

/// Takes a regex apart: characters of which any number may stand side by side to `ranges`, the rest to `parts`.
fn collect(set: &RegexSet, regex: RegexId, is_repeated: bool, parts: &mut Vec<RegexId>, ranges: &mut Vec<(u32, u32)>) {
    match set.node(regex) {
        &RegexNode::Repeat(child, 0 | 1, None) if !set.info(child).nullable => collect(set, child, true, parts, ranges),
        RegexNode::Or(ways) if is_repeated => {
            ways.iter().for_each(|&way| collect(set, way, is_repeated, parts, ranges))
        }
        RegexNode::Class(class) if is_repeated => ranges.extend(class.ranges()),
        RegexNode::Bytes(bytes) if is_repeated && bytes.iter().all(|byte| byte.is_ascii()) => {
            ranges.extend(bytes.iter().map(|byte| (u32::from(byte), u32::from(byte))));
        }
        RegexNode::Literal(text) if is_repeated => match single_char(text) {
            Some(c) => ranges.push((c, c)),
            None => parts.push(regex),
        },
        _ => parts.push(regex),
    }
}

/// The character that a text is.
fn single_char(text: &[u8]) -> Option<u32> {
    let mut chars = std::str::from_utf8(text).ok()?.chars();
    chars.next().filter(|_| chars.next().is_none()).map(u32::from)
}
