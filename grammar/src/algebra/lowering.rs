//! From [`RegexSet`] nodes to expressions.

use regex_syntax::utf8::{Utf8Range, Utf8Sequences};
use smallvec::SmallVec;

use super::{Algebra, Expr, MANY, OverLimit};
use crate::index::Id;
use crate::regex::{ByteSet, CharClass, RegexId, RegexNode, RegexSet};

/// The expressions of one table's nodes, as far as they were asked for.
#[derive(Clone, Debug, Default)]
pub struct Lowered {
    /// Indexed by node.
    exprs: Vec<Option<Expr>>,
}

impl Lowered {
    /// Those of the first nodes.
    pub fn first(&self, len: usize) -> Self {
        Self { exprs: self.exprs[..len.min(self.exprs.len())].to_vec() }
    }
    /// The same with room for those of so many nodes.
    pub fn with_room(&self, len: usize) -> Self {
        let mut exprs = Vec::with_capacity(len);
        exprs.extend_from_slice(&self.exprs);
        Self { exprs }
    }
    /// How many of the first nodes have an expression.
    pub fn count(&self, len: usize) -> usize {
        self.exprs.iter().take(len).flatten().count()
    }
}

impl Algebra {
    /// The expression of a node. `lowered` is of the same table, which may have grown.
    ///
    /// Errors: [`OverLimit::Size`]. Cost: linear in what is not lowered yet.
    pub fn lower(&mut self, regexes: &RegexSet, root: RegexId, lowered: &mut Lowered) -> Result<Expr, OverLimit> {
        lowered.exprs.resize(regexes.len(), None);
        let mut stack: SmallVec<[RegexId; 16]> = SmallVec::from_slice(&[root]);
        while let Some(&top) = stack.last() {
            if lowered.exprs[top.index()].is_some() {
                stack.pop();
                continue;
            }
            let node = regexes.node(top);
            let before = stack.len();
            stack.extend(node.children().iter().copied().filter(|child| lowered.exprs[child.index()].is_none()));
            if stack.len() > before {
                continue;
            }
            let expr = self.lower_node(regexes, node, lowered);
            self.check(u64::MAX)?;
            lowered.exprs[top.index()] = Some(expr);
            stack.pop();
        }
        Ok(lowered.exprs[root.index()].expect("it was the first on the stack"))
    }

    fn lower_node(&mut self, regexes: &RegexSet, node: &RegexNode, lowered: &Lowered) -> Expr {
        let of = |id: &RegexId| lowered.exprs[id.index()].expect("children come first");
        match node {
            RegexNode::Nothing => Expr::NOTHING,
            RegexNode::Literal(bytes) => self.literal(bytes, Expr::EPSILON),
            RegexNode::Class(class) => self.class(class),
            RegexNode::Bytes(set) => self.byte_set(*set),
            RegexNode::Concat(parts) => {
                parts.iter().rev().fold(Expr::EPSILON, |rest, part| self.concat(of(part), rest))
            }
            RegexNode::Or(parts) => {
                let mut literals: SmallVec<[&[u8]; 8]> = SmallVec::new();
                let mut others: Vec<Expr> = Vec::new();
                for part in parts {
                    match regexes.node(*part) {
                        RegexNode::Literal(bytes) if !bytes.is_empty() => literals.push(bytes),
                        _ => others.push(of(part)),
                    }
                }
                others.extend(self.prefix_tree(&mut literals));
                self.or(others)
            }
            RegexNode::And(parts) => self.and(parts.iter().map(of).collect()),
            RegexNode::Not(child) => self.not(of(child)),
            RegexNode::Repeat(child, min, max) => self.repeat(of(child), *min, max.unwrap_or(MANY)),
            RegexNode::Shortest(child) => {
                let longer = self.concat(of(child), Expr::NON_EMPTY);
                let not = self.not(longer);
                self.and(vec![of(child), not])
            }
            RegexNode::Dfa(dfa, letters) => {
                let letters = letters.iter().map(of).collect();
                self.dfa(dfa, letters)
            }
            RegexNode::Values { values, exponent_max } => self.values(values, *exponent_max),
            &RegexNode::MultipleOf { divisor, scale } => self.multiple_of(divisor, scale),
        }
    }

    /// Texts that share their prefixes, as a union of what differs.
    fn prefix_tree(&mut self, texts: &mut SmallVec<[&[u8]; 8]>) -> Option<Expr> {
        if texts.is_empty() {
            return None;
        }
        texts.sort_unstable();
        texts.dedup();
        // Texts of one prefix are neighbours. A group is open while texts follow that share `len` bytes; `ways` are its
        // alternatives so far, behind these bytes.
        struct Group {
            len: usize,
            ways: Vec<Expr>,
        }
        let mut groups: Vec<Group> = vec![Group { len: 0, ways: Vec::new() }];
        for (index, text) in texts.iter().enumerate() {
            let shared =
                texts.get(index + 1).map_or(0, |next| text.iter().zip(*next).take_while(|(a, b)| a == b).count());
            let top = groups.last().expect("the outermost group stays open").len;
            if shared > top {
                groups.push(Group { len: shared, ways: Vec::new() });
            }
            // The text ends in the innermost group that is open.
            let last = groups.last_mut().expect("the outermost group stays open");
            let rest = &text[last.len..];
            let way = self.literal(rest, Expr::EPSILON);
            groups.last_mut().expect("as before").ways.push(way);
            while let Some(group) = groups.pop_if(|group| group.len > shared) {
                let union = self.or(group.ways);
                let outer = groups.last().expect("the outermost group has no bytes").len;
                if outer < shared {
                    groups.push(Group { len: shared, ways: Vec::new() });
                }
                let outer = outer.max(shared);
                let way = self.literal(&text[outer..group.len], union);
                groups.last_mut().expect("as before").ways.push(way);
            }
        }
        let all = groups.pop().expect("the outermost group stays open");
        Some(self.or(all.ways))
    }

    /// The UTF-8 encodings of a class's characters: ranges of equal continuation share it.
    fn class(&mut self, class: &CharClass) -> Expr {
        if let Some(&known) = self.classes.get(class) {
            return known;
        }
        let mut sequences: Vec<Vec<Utf8Range>> = Vec::new();
        for &(low, high) in class.ranges() {
            let as_char = |code| char::from_u32(code).expect("classes hold scalar values");
            sequences.extend(Utf8Sequences::new(as_char(low), as_char(high)).map(|s| s.as_slice().to_vec()));
        }
        let views: Vec<&[Utf8Range]> = sequences.iter().map(Vec::as_slice).collect();
        let expr = self.utf8(&views);
        self.classes.insert(class.clone(), expr);
        expr
    }

    /// Sequences of byte ranges, sorted; at most four ranges each, which bounds the recursion.
    fn utf8(&mut self, sequences: &[&[Utf8Range]]) -> Expr {
        let mut by_tail: Vec<(Expr, ByteSet)> = Vec::new();
        let mut at = 0;
        while at < sequences.len() {
            let first = sequences[at][0];
            let end = at + sequences[at..].iter().take_while(|sequence| sequence[0] == first).count();
            let tails: Vec<&[Utf8Range]> =
                sequences[at..end].iter().map(|s| &s[1..]).filter(|s| !s.is_empty()).collect();
            let tail = if tails.is_empty() { Expr::EPSILON } else { self.utf8(&tails) };
            let bytes = ByteSet::range(first.start, first.end);
            match by_tail.iter_mut().find(|(known, _)| *known == tail) {
                Some((_, set)) => *set = set.union(&bytes),
                None => by_tail.push((tail, bytes)),
            }
            at = end;
        }
        let mut parts: Vec<Expr> = Vec::with_capacity(by_tail.len());
        for (tail, set) in by_tail {
            let first = self.byte_set(set);
            parts.push(self.concat(first, tail));
        }
        self.or(parts)
    }
}
