//! Parsed regexes to nodes of a [`RegexSet`].
//!
//! Assertions that are not at the edges are for `look`. Other anchors stand where nothing but anchors stands between them and the edge of the regex (first pass). There
//! a node's language depends on two things alone: what stands before the match and what stands after it. Each node that
//! holds anchors is lowered once for each such pair (second pass), and a search is the union over the pairs of
//! "text before · match · text after". Both passes are loops over the table.

use std::ops::Range;

use super::ast::{Anchor, Ast, AstId, Direction, Tree};
use super::error::{LazyFault, LookFault, RegexError, RegexLint, Report};
use super::follow::Automaton;
use super::lazy::{Beginning, Lazy, TREE_NODES_MAX};
use super::look::Way;
use super::undecided::Questions;
use super::{Dialect, LexemeRegex, Looking, RegexOptions, branches, look};
use crate::index::{Id, IndexVec};
use crate::limits::Limits;
use crate::regex::{CharClass, RegexId, RegexNode, RegexSet};

/// What stands before a match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing.
    Nothing,
    /// Text that ends with a line break.
    Line,
    /// Any text.
    Text,
}

/// What stands after a match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// Nothing.
    Nothing,
    /// One line feed.
    FinalNewline,
    /// Text that begins with a line break.
    Line,
    /// Any text.
    Text,
}

type Context = (Before, After);

/// The languages of a node.
#[derive(Clone)]
enum Lowered {
    /// The same in every context.
    Plain(RegexId),
    /// Indexed as the list of contexts.
    InContext(Box<[RegexId]>),
}

/// The texts that the tree matches from where it begins, as the order of attempts has it, and how it goes on if it ends
/// with a lazy quantifier. `None` if there is no tree or it has too many nodes, or a mistake.
pub(super) fn lower_lexeme(
    tree: &Tree,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    report: &mut Report,
) -> Option<LexemeRegex> {
    let lowered = lower_lexeme_inner(tree, options, limits, set, report)?;
    if look::anchors_look(options) {
        for node in tree.nodes.iter() {
            match node {
                Ast::Anchor(Anchor::LineStart | Anchor::LineEnd, _) => {}
                Ast::Anchor(anchor, span) => {
                    report.lint(RegexLint::TextEdge { is_start: anchor.is_start() }, span.clone());
                }
                _ => {}
            }
        }
    }
    Some(lowered)
}

fn lower_lexeme_inner(
    tree: &Tree,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    report: &mut Report,
) -> Option<LexemeRegex> {
    let root = tree.root?;
    if !tree.infos[root].lazy || report.has_errors() {
        let ways = lower_ways(tree, options, limits, set, report, true)?;
        return Some(lexeme(ways, set));
    }
    let options = &RegexOptions { whole: false, ..*options };
    let mut plain: IndexVec<AstId, RegexId> = IndexVec::new();
    let mut lowered: IndexVec<AstId, Lowered> = IndexVec::new();
    for node in tree.nodes.iter() {
        let regex = match node {
            Ast::Anchor(..) | Ast::Look { .. } | Ast::Boundary { .. } => set.epsilon(),
            _ => lower_node(tree, node, 0, &[], &lowered, set),
        };
        plain.push(regex);
        lowered.push(Lowered::Plain(regex));
        if set.len() > limits.regex_nodes_max {
            report.error(RegexError::TooManyNodes { limit: limits.regex_nodes_max }, 0..0);
            return None;
        }
    }
    let mut lazy = Lazy::new(tree, limits, plain);
    let found = lazy.branches(vec![root]).and_then(|branches| {
        let beginning = if tree.infos[root].anchored { Beginning::EndsOnce } else { Beginning::MayEndGreedily };
        let mut languages = Vec::with_capacity(branches.len());
        for branch in &branches {
            languages.push(lazy.language(branch, beginning, 0, set)?);
        }
        Ok((branches, languages))
    });
    let (branches, languages) = match found {
        Ok(found) => found,
        Err((fault, span)) => {
            report.error(RegexError::LazyQuantifier { fault }, span);
            return None;
        }
    };
    if !tree.infos[root].anchored {
        let regexes: Vec<RegexId> = languages.iter().map(|&(regex, _)| regex).collect();
        let tail = if let &[(_, tail)] = languages.as_slice() { tail } else { None };
        return Some(LexemeRegex { regex: set.or(&regexes), tail, looking: Vec::new() });
    }
    if branches.len().saturating_mul(tree.nodes.len()) > TREE_NODES_MAX {
        report.error(RegexError::LazyQuantifier { fault: LazyFault::TooMany }, 0..0);
        return None;
    }
    // With assertions each branch is lowered as if it were greedy; of what it matches, only the shortest counts.
    let mut ways: Vec<Way> = Vec::with_capacity(branches.len());
    for (branch, (closed, _)) in branches.into_iter().zip(languages) {
        let mut alone = tree.clone();
        let is_plain = lazy.ends_plainly(&branch);
        let is_lazy = branch.parts.iter().any(|&part| tree.infos[part].lazy);
        alone.root = Some(alone.concat(branch.parts));
        alone.drop_unused();
        let all = lower_ways(&alone, options, limits, set, report, true)?;
        if !is_lazy {
            ways.extend(all);
            continue;
        }
        // Assertions before it decide nothing of where it ends.
        if is_plain {
            ways.extend(all.into_iter().map(|way| Way { texts: set.and(&[way.texts, closed]), ..way }));
            continue;
        }
        match shortest_ways(all, set) {
            Ok(shortest) => ways.extend(shortest),
            Err(error) => {
                report.error(error, 0..0);
                return None;
            }
        }
    }
    Some(lexeme(ways, set))
}

fn lexeme(mut ways: Vec<Way>, set: &mut RegexSet) -> LexemeRegex {
    if ways.len() > 1 {
        let mut questions = Questions::new();
        ways.retain(|way| !questions.is_empty(set, way.texts));
    }
    let plain: Vec<RegexId> = ways.iter().filter(|way| way.is_plain()).map(|way| way.texts).collect();
    let looking = ways.into_iter().filter(|way| !way.is_plain());
    let looking = looking.map(|Way { texts, behind, follow }| Looking { texts, behind, follow }).collect();
    LexemeRegex { regex: set.or(&plain), tail: None, looking }
}

/// Of all these texts those of which none begins another. Where what follows one decides whether it is a match, nothing
/// that may follow it then may be a part of a longer one: else that would be the match.
fn shortest_ways(ways: Vec<Way>, set: &mut RegexSet) -> Result<Vec<Way>, RegexError> {
    if let &[way @ Way { follow: None, .. }] = ways.as_slice() {
        return Ok(vec![Way { texts: set.shortest(way.texts), ..way }]);
    }
    // Where what stands before them decides which of them are there, so it does which are the shortest.
    if ways.iter().any(|way| way.behind != ways[0].behind) {
        return Err(RegexError::LazyQuantifier { fault: LazyFault::Look });
    }
    let all: Vec<RegexId> = ways.iter().map(|way| way.texts).collect();
    let all = set.or(&all);
    let mut questions = Questions::new();
    for &Way { texts, follow, .. } in &ways {
        let Some(follow) = follow else { continue };
        let automaton = Automaton::new(set, follow).map_err(|fault| RegexError::Look { fault })?;
        let undecided = automaton.undecided(set);
        let longer = set.concat(&[texts, undecided]);
        let longer = set.and(&[longer, all]);
        if !questions.is_empty(set, longer) {
            return Err(RegexError::LazyQuantifier { fault: LazyFault::Look });
        }
    }
    let shortest = set.shortest(all);
    Ok(ways.into_iter().map(|way| Way { texts: set.and(&[way.texts, shortest]), ..way }).collect())
}

/// The regex of the tree, whose quantifiers are greedy or lazy alike; `None` if there is no tree or it has too many nodes.
pub(super) fn lower(
    tree: &Tree,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    report: &mut Report,
) -> Option<RegexId> {
    let ways = lower_ways(tree, options, limits, set, report, false)?;
    Some(ways[0].texts)
}

/// The same; with `follows`, what follows the texts may count. There is always one way.
fn lower_ways(
    tree: &Tree,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    report: &mut Report,
    follows: bool,
) -> Option<Vec<Way>> {
    let root = tree.root?;
    let anchors_look = follows && look::anchors_look(options);
    let is_anchored = tree.infos[root].anchored;
    let inner = if is_anchored { inner_anchors(tree, root, options, anchors_look) } else { Vec::new() };
    let walks = tree.infos[root].looks || !inner.is_empty() || anchors_look && is_anchored;
    if !options.sees_edges() || tree.crlf_lines {
        inner.into_iter().for_each(|(error, span)| report.error(error, span));
    }
    if report.has_errors() {
        return None;
    }
    if walks {
        return walk(tree, root, options, limits, set, report, follows);
    }
    let contexts = contexts(tree, options);
    let mut lowered: IndexVec<AstId, Lowered> = IndexVec::new();
    for (id, node) in tree.nodes.iter_enumerated() {
        let value = if tree.infos[id].anchored {
            let each = 0..contexts.len();
            Lowered::InContext(each.map(|c| lower_node(tree, node, c, &contexts, &lowered, set)).collect())
        } else {
            Lowered::Plain(lower_node(tree, node, 0, &contexts, &lowered, set))
        };
        lowered.push(value);
        if set.len() > limits.regex_nodes_max {
            let error = RegexError::TooManyNodes { limit: limits.regex_nodes_max };
            report.error(error, 0..0);
            return None;
        }
    }
    let regex = match (&lowered[root], options.search) {
        (Lowered::Plain(regex), false) => *regex,
        (Lowered::InContext(regexes), false) => regexes[0],
        (Lowered::Plain(regex), true) => {
            let any = any_text(options, set);
            set.concat(&[any, *regex, any])
        }
        (Lowered::InContext(regexes), true) => search(&contexts, regexes, options, set),
    };
    Some(vec![Way::plain(regex)])
}

/// The regex of a tree with assertions that are not at its edges.
fn walk(
    tree: &Tree,
    root: AstId,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    report: &mut Report,
    follows: bool,
) -> Option<Vec<Way>> {
    let plain = plain_nodes(tree, set);
    if set.len() > limits.regex_nodes_max {
        report.error(RegexError::TooManyNodes { limit: limits.regex_nodes_max }, 0..0);
        return None;
    }
    if set.lacks_look_work() {
        report.error(RegexError::Look { fault: LookFault::NothingLeft }, 0..0);
        return None;
    }
    match look::lower(tree, root, options, limits, set, &plain, follows) {
        Ok(ways) => Some(ways),
        Err((error @ RegexError::Look { fault }, span)) if !matches!(fault, LookFault::TooMany { .. }) => {
            let parts = if options.search { conjuncts(tree, root) } else { Vec::new() };
            if !parts.is_empty() {
                let each = parts.iter().map(|part| lower(part, options, limits, set, report));
                let each: Vec<RegexId> = each.collect::<Option<_>>()?;
                return Some(vec![Way::plain(set.and(&each))]);
            }
            // What they are about is told by the first, as far as it goes.
            let decidable = matches!(fault, LookFault::Before | LookFault::After);
            let ways = match options.sees_edges() {
                true => branches::whole(tree, root, options, set, &plain).map(|texts| vec![Way::plain(texts)]),
                false => branches::lower(tree, root, options, set, &plain, follows),
            };
            let error = match ways {
                Ok(ways) => return Some(ways),
                Err(_) if set.lacks_look_work() => RegexError::Look { fault: LookFault::NothingLeft },
                Err(LookFault::TooManyWays { .. }) if !decidable => error,
                Err(fault) => RegexError::Look { fault },
            };
            report.error(error, span);
            None
        }
        Err((error, span)) => {
            report.error(error, span);
            None
        }
    }
}

/// `^(?=A)(?!B)C` as `^(?=A)`, `^(?!B)` and `^C`, whose matches are in the same texts; nothing if it is not of that form.
fn conjuncts(tree: &Tree, root: AstId) -> Vec<Tree> {
    let Ast::Concat(parts) = &tree.nodes[root] else { return Vec::new() };
    let is_start = |part: &AstId| matches!(tree.nodes[*part], Ast::Anchor(Anchor::TextStart, _));
    let is_look = |part: &AstId| matches!(tree.nodes[*part], Ast::Look { direction: Direction::Ahead, .. });
    let leading = parts.iter().take_while(|part| is_start(part) || is_look(part)).count();
    let (leading, rest) = parts.split_at(leading);
    let Some(&start) = leading.iter().find(|part| is_start(part)) else { return Vec::new() };
    let looks: Vec<AstId> = leading.iter().copied().filter(is_look).collect();
    if looks.len() + usize::from(!rest.is_empty()) < 2 {
        return Vec::new();
    }
    let alone = |parts: &[AstId]| {
        let mut alone = tree.clone();
        alone.root = Some(alone.concat([&[start], parts].concat()));
        alone.drop_unused();
        alone
    };
    looks.iter().map(|&look| alone(&[look])).chain([alone(rest)]).collect()
}

/// The languages of the nodes without assertions; of others nothing. Linear in the tree.
pub(super) fn plain_nodes(tree: &Tree, set: &mut RegexSet) -> IndexVec<AstId, RegexId> {
    let mut plain: IndexVec<AstId, RegexId> = IndexVec::new();
    let mut lowered: IndexVec<AstId, Lowered> = IndexVec::new();
    for (id, node) in tree.nodes.iter_enumerated() {
        let regex = match tree.infos[id].anchored {
            true => set.nothing(),
            false => lower_node(tree, node, 0, &[], &lowered, set),
        };
        plain.push(regex);
        lowered.push(Lowered::Plain(regex));
    }
    plain
}

/// The anchors that something else than anchors separates from the edge that they are about, but for lines' where they look.
fn inner_anchors(
    tree: &Tree,
    root: AstId,
    options: &RegexOptions,
    anchors_look: bool,
) -> Vec<(RegexError, Range<usize>)> {
    let mut inner = Vec::new();
    /// Whether nothing stands before and after a node, or that it is repeated.
    #[derive(Clone, Copy)]
    struct Place {
        start: bool,
        end: bool,
        repeated: bool,
    }
    let inside = Place { start: false, end: false, repeated: false };
    let mut places = IndexVec::<AstId, Place>::from(vec![inside; tree.nodes.len()]);
    places[root] = Place { start: true, end: true, repeated: false };
    // Parents before children.
    for index in (0..tree.nodes.len()).rev() {
        let id = AstId::from_index(index);
        let place = places[id];
        match &tree.nodes[id] {
            Ast::Concat(parts) => {
                let width = |&part: &AstId| !tree.infos[part].zero_width;
                let first = parts.iter().position(width).unwrap_or(parts.len());
                let last = parts.iter().rposition(width).unwrap_or(0);
                for (at, &part) in parts.iter().enumerate() {
                    let (start, end) = (place.start && at <= first, place.end && at >= last);
                    places[part] = Place { start, end, ..place };
                }
            }
            Ast::Or(parts) => parts.iter().for_each(|&part| places[part] = place),
            &Ast::Repeat(child, _, Some(1)) => places[child] = place,
            &Ast::Repeat(child, ..) => places[child] = Place { start: false, end: false, repeated: true },
            Ast::Anchor(anchor, span) => {
                let crlf_search = options.search && tree.crlf_lines;
                let at_edge = if anchor.is_start() { place.start } else { place.end };
                let sees_lines = anchors_look && matches!(anchor, Anchor::LineStart | Anchor::LineEnd);
                if !at_edge && !sees_lines || crlf_search {
                    let is_start = anchor.is_start();
                    inner.push((RegexError::InnerAnchor { is_start, repeated: place.repeated }, span.clone()));
                }
            }
            Ast::Look { child, direction, .. } => {
                let (start, end) =
                    (anchors_look && *direction == Direction::Behind, anchors_look && *direction == Direction::Ahead);
                places[*child] = Place { start, end, repeated: false };
            }
            _ => {}
        }
    }
    inner
}

/// The contexts to tell apart; for a whole match the only one.
fn contexts(tree: &Tree, options: &RegexOptions) -> Vec<Context> {
    if !options.search {
        return vec![(Before::Nothing, After::Nothing)];
    }
    let has = |wanted: &dyn Fn(Anchor) -> bool| {
        tree.nodes.iter().any(|node| matches!(node, Ast::Anchor(anchor, _) if wanted(*anchor)))
    };
    let mut before = vec![Before::Text];
    if has(&|anchor| anchor == Anchor::LineStart) {
        before.push(Before::Line);
    }
    if has(&Anchor::is_start) {
        before.push(Before::Nothing);
    }
    let mut after = vec![After::Text];
    if has(&|anchor| anchor == Anchor::LineEnd) {
        after.push(After::Line);
    }
    if has(&|anchor| anchor == Anchor::TextEndOrFinalNewline) {
        after.push(After::FinalNewline);
    }
    if has(&|anchor| !anchor.is_start()) {
        after.push(After::Nothing);
    }
    before.iter().flat_map(|&before| after.iter().map(move |&after| (before, after))).collect()
}

fn holds(anchor: Anchor, (before, after): Context) -> bool {
    match anchor {
        Anchor::TextStart => before == Before::Nothing,
        Anchor::LineStart => matches!(before, Before::Nothing | Before::Line),
        Anchor::TextEnd => after == After::Nothing,
        Anchor::TextEndOrFinalNewline => matches!(after, After::Nothing | After::FinalNewline),
        Anchor::LineEnd => matches!(after, After::Nothing | After::FinalNewline | After::Line),
    }
}

fn lower_node(
    tree: &Tree,
    node: &Ast,
    context: usize,
    contexts: &[Context],
    lowered: &IndexVec<AstId, Lowered>,
    set: &mut RegexSet,
) -> RegexId {
    let child = |id: AstId| match &lowered[id] {
        Lowered::Plain(regex) => *regex,
        Lowered::InContext(regexes) => regexes[context],
    };
    match node {
        Ast::Empty => set.epsilon(),
        Ast::Literal(range) => set.literal(&tree.text[range.start as usize..range.end as usize]),
        Ast::Class(class) => set.class(class.clone()),
        Ast::Bytes(bytes) => set.bytes(*bytes),
        Ast::Concat(parts) => {
            let parts: Vec<RegexId> = parts.iter().map(|&part| child(part)).collect();
            concat(&parts, set)
        }
        Ast::Or(parts) => {
            let parts: Vec<RegexId> = parts.iter().map(|&part| child(part)).collect();
            set.or(&parts)
        }
        &Ast::Repeat(id, 0, Some(1)) => set.optional(child(id)),
        &Ast::Repeat(id, min, max) => set.repeat(child(id), min, max),
        Ast::Anchor(anchor, _) if holds(*anchor, contexts[context]) => set.epsilon(),
        Ast::Anchor(..) | Ast::Look { .. } | Ast::Boundary { .. } => set.nothing(),
    }
}

/// [`RegexSet::concat`], with runs of literals joined first: one by one they would take quadratic time.
fn concat(parts: &[RegexId], set: &mut RegexSet) -> RegexId {
    let mut joined: Vec<RegexId> = Vec::with_capacity(parts.len());
    let mut run: Vec<u8> = Vec::new();
    for &part in parts {
        match set.node(part) {
            RegexNode::Literal(bytes) => run.extend_from_slice(bytes),
            _ => {
                if !run.is_empty() {
                    joined.push(set.literal(&std::mem::take(&mut run)));
                }
                joined.push(part);
            }
        }
    }
    if !run.is_empty() {
        joined.push(set.literal(&run));
    }
    set.concat(&joined)
}

pub(super) fn any_text(options: &RegexOptions, set: &mut RegexSet) -> RegexId {
    if options.bytes {
        let any = set.any_byte();
        set.repeat(any, 0, None)
    } else {
        set.any_text()
    }
}

/// The characters that end lines.
pub(super) fn line_breaks(options: &RegexOptions) -> &'static [(u32, u32)] {
    match options.dialect {
        Dialect::Ecma => &[(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)],
        Dialect::Python | Dialect::Rust => &[(0x0A, 0x0A)],
    }
}

/// All texts that have a match in them.
fn search(contexts: &[Context], regexes: &[RegexId], options: &RegexOptions, set: &mut RegexSet) -> RegexId {
    let any = any_text(options, set);
    let line = set.class(CharClass::from_ranges(line_breaks(options).iter().copied()));
    let newline = set.literal(b"\n");
    let mut parts: Vec<RegexId> = Vec::new();
    for (&(before, after), &regex) in contexts.iter().zip(regexes) {
        // Any text may stand around it as well: that part has these texts too.
        let wider = |wider: Context| {
            wider != (before, after) && contexts.iter().zip(regexes).any(|(&c, &r)| c == wider && r == regex)
        };
        if wider((Before::Text, after)) || wider((before, After::Text)) {
            continue;
        }
        let mut pieces: Vec<RegexId> = Vec::with_capacity(5);
        match before {
            Before::Nothing => {}
            Before::Line => pieces.extend([any, line]),
            Before::Text => pieces.push(any),
        }
        pieces.push(regex);
        match after {
            After::Nothing => {}
            After::FinalNewline => pieces.push(newline),
            After::Line => pieces.extend([line, any]),
            After::Text => pieces.push(any),
        }
        parts.push(set.concat(&pieces));
    }
    set.or(&parts)
}
