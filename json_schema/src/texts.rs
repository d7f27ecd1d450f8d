//! The algebra of languages of strings, in characters.

use larkspur_grammar::{Parts, RegexId, RegexNode};
use rustc_hash::FxHashSet;

use crate::error::Mistake;
use crate::normal::Normalizer;
use crate::numbers::COUNT_MAX;

/// Pairs of languages of which the texts of both are kept; then all are dropped.
const PAIRS_MAX: usize = 1 << 16;

/// Texts of a list that are compared with a language one by one, at most.
const LITERALS_MAX: usize = 512;

/// Unions and intersections within each other that are told by the opposites of their parts, at most.
const DEPTH_MAX: usize = 16;
/// Levels of these that are looked through for complements, and parts of each: lists of texts are longer.
const LEVELS_MAX: usize = 2;
const PARTS_MAX: usize = 32;
/// Parts that are looked at in a step of work.
const VISITED_PER_WORK: u64 = 8;

impl Normalizer<'_> {
    /// Texts of both. What several alternatives of an object demand of one property is asked for time and again.
    pub fn and_text(&mut self, a: RegexId, b: RegexId) -> RegexId {
        match (a == self.any_text, b == self.any_text) {
            (true, _) => return b,
            (_, true) => return a,
            _ if a == b => return a,
            _ => {}
        }
        let pair = (a.min(b), a.max(b));
        if let Some(&known) = self.texts_of_both.get(&pair) {
            return known;
        }
        let listed = match (self.literals(a), self.literals(b)) {
            (Some(texts), _) => self.texts_of(&texts, b),
            (_, Some(texts)) => self.texts_of(&texts, a),
            _ => {
                let operands = |regex| match self.set.node(regex) {
                    RegexNode::And(parts) => parts.len() as u64,
                    _ => 1,
                };
                let work = operands(a) + operands(b);
                self.charge(work);
                None
            }
        };
        let both = listed.unwrap_or_else(|| self.set.and(&[a, b]));
        if self.texts_of_both.len() >= PAIRS_MAX {
            self.texts_of_both.clear();
        }
        self.texts_of_both.insert(pair, both);
        both
    }
    /// The texts of a language that is written as a list of them.
    pub fn literals(&self, regex: RegexId) -> Option<Vec<RegexId>> {
        let is_literal = |&part: &RegexId| matches!(self.set.node(part), RegexNode::Literal(_));
        match self.set.node(regex) {
            RegexNode::Literal(_) => Some(vec![regex]),
            RegexNode::Or(parts) if parts.iter().all(is_literal) => Some(parts.to_vec()),
            _ => None,
        }
    }
    /// The texts that a language leaves out, if it is written as all texts but these.
    fn left_out(&self, regex: RegexId) -> Option<FxHashSet<RegexId>> {
        let parts = match self.set.node(regex) {
            RegexNode::And(parts) => &**parts,
            _ => &[regex],
        };
        let mut left_out = FxHashSet::default();
        for &part in parts.iter().filter(|&&part| part != self.any_text) {
            let RegexNode::Not(texts) = *self.set.node(part) else { return None };
            left_out.extend(self.literals(texts)?);
        }
        Some(left_out)
    }
    /// Those of the texts that are in the language; `None` if that takes too long to find out.
    fn texts_of(&mut self, texts: &[RegexId], regex: RegexId) -> Option<RegexId> {
        self.charge(texts.len() as u64);
        let mut kept = Vec::with_capacity(texts.len());
        if let Some(others) = self.literals(regex) {
            let others: FxHashSet<RegexId> = others.into_iter().collect();
            kept.extend(texts.iter().filter(|text| others.contains(text)));
            return Some(self.set.or(&kept));
        }
        if let Some(left_out) = self.left_out(regex) {
            kept.extend(texts.iter().filter(|text| !left_out.contains(text)));
            return Some(self.set.or(&kept));
        }
        if texts.len() > LITERALS_MAX {
            return None;
        }
        for &text in texts {
            let RegexNode::Literal(bytes) = self.set.node(text) else { continue };
            let Ok(chars) = String::from_utf8(bytes.to_vec()) else { continue };
            if self.search.matches(&self.set, regex, &chars)? {
                kept.push(text);
            }
        }
        Some(self.set.or(&kept))
    }
    /// Texts that are not in the language.
    ///
    /// Complements do not stand within complements, through which no search for a text could see: what all but a language
    /// leaves out is that language, and unions and intersections with complements in them are told by the opposites of their
    /// parts (A. De Morgan), as are lengths, which count with others then.
    pub fn not_text(&mut self, a: RegexId) -> RegexId {
        self.opposite_text(a, DEPTH_MAX)
    }

    fn opposite_text(&mut self, a: RegexId, depth: usize) -> RegexId {
        if a == self.any_text {
            return self.set.nothing();
        }
        if let Some(&known) = self.opposites.get(a) {
            return known;
        }
        let not = match self.set.node(a) {
            RegexNode::Nothing => return self.any_text,
            &RegexNode::Repeat(unit, min, max) if self.is_length(a) => match (min, max) {
                (0, Some(max)) if max < COUNT_MAX => self.set.repeat(unit, max + 1, None),
                (1.., None) => self.set.repeat(unit, 0, Some(min - 1)),
                (1.., Some(max)) if max < COUNT_MAX => {
                    let ways = [self.set.repeat(unit, 0, Some(min - 1)), self.set.repeat(unit, max + 1, None)];
                    self.set.or(&ways)
                }
                _ => self.all_but(a),
            },
            RegexNode::And(parts) => {
                let parts = parts.clone();
                let (mut ways, others) = self.opposites_in(&parts, depth, false);
                if others.iter().any(|&part| part != self.any_text) {
                    let others = self.set.and(&others);
                    ways.push(self.all_but(others));
                }
                self.set.or(&ways)
            }
            RegexNode::Or(parts) => {
                let parts = parts.clone();
                let (mut all, others) = self.opposites_in(&parts, depth, true);
                if !others.is_empty() {
                    let others = self.set.or(&others);
                    all.push(self.all_but(others));
                }
                let (lists, mut all): (Parts, Parts) = all.into_iter().partition(|&part| self.literals(part).is_some());
                if all.is_empty() {
                    all.push(self.any_text);
                }
                let all = self.set.and(&all);
                lists.into_iter().fold(all, |both, list| self.and_text(both, list))
            }
            _ => self.all_but(a),
        };
        self.opposites.insert(a, not);
        self.opposites.insert(not, a);
        not
    }

    /// All texts but those of the language, which is remembered for what this is a part of.
    fn all_but(&mut self, a: RegexId) -> RegexId {
        let not = self.set.complement(a);
        self.opposites.insert(a, not);
        not
    }

    /// The opposites of those parts that have complements in them, or are lengths if these count, if they are few; and the
    /// other parts.
    fn opposites_in(&mut self, parts: &[RegexId], depth: usize, with_lengths: bool) -> (Parts, Parts) {
        let mut visited = 0;
        let (told, others): (Parts, Parts) = parts.iter().copied().partition(|&part| {
            depth > 0 && self.has_opposite(part, LEVELS_MAX, &mut visited) || with_lengths && self.is_length(part)
        });
        self.charge(visited / VISITED_PER_WORK);
        if told.len() > PARTS_MAX {
            return (Parts::new(), parts.into());
        }
        let told = told.into_iter().map(|part| match *self.set.node(part) {
            RegexNode::Not(inner) => inner,
            _ => self.opposite_text(part, depth.saturating_sub(1)),
        });
        (told.collect(), others)
    }

    /// Whether it is what a language leaves out, or has such parts.
    fn has_opposite(&self, a: RegexId, levels: usize, visited: &mut u64) -> bool {
        *visited += 1;
        match self.set.node(a) {
            RegexNode::Not(inner) => self.opposites.contains(*inner),
            RegexNode::And(parts) | RegexNode::Or(parts) if levels > 0 && parts.len() <= PARTS_MAX => {
                parts.iter().any(|&part| self.has_opposite(part, levels - 1, visited))
            }
            _ => false,
        }
    }

    /// Whether it is all texts of some lengths.
    fn is_length(&self, a: RegexId) -> bool {
        let unit = |regex| match self.set.node(regex) {
            RegexNode::Repeat(unit, ..) => Some(*unit),
            _ => None,
        };
        unit(a).is_some_and(|of| unit(self.any_text) == Some(of))
    }

    /// Whether the language certainly has no text.
    pub fn is_nothing(&mut self, regex: RegexId) -> bool {
        self.search.is_empty(&self.set, regex) == Some(true)
    }
    /// Whether the language has the text. Where that cannot be found out, it is reported.
    pub fn matches(&mut self, regex: RegexId, text: &str) -> bool {
        self.charge(text.len() as u64);
        self.search.matches(&self.set, regex, text).unwrap_or_else(|| {
            let place = self.document.root();
            let reason =
                format!("whether a pattern has the name {} could not be found out", crate::strings::quoted(text));
            self.sink.report(place, Mistake::Refused { keyword: "patternProperties", reason });
            false
        })
    }
    /// Whether the language has the text, or that could not be found out.
    pub fn may_match(&mut self, regex: RegexId, text: &str) -> bool {
        self.charge(text.len() as u64);
        self.search.matches(&self.set, regex, text) != Some(false)
    }
}
