//! Indentation: a grammar of blocks becomes one whose line breaks know how far the next line is indented.
//!
//! As Lark's `Indenter` has it, a line break is a lexeme that goes up to the next line's first character. The blanks
//! behind its last line feed are a width. Wider than the block's, it is followed by an *indent*; narrower, by a *dedent*
//! for each block that it ends, and the block that it ends in has exactly that width. Line breaks within brackets are
//! ignored text. At the end of the text all blocks end.
//!
//! No stack is needed: widths nest as blocks do. The width of the block that a rule stands in is its parameter, and the
//! line break's terminal becomes one for each width. What is left is that the last line break within a block says which
//! of the outer blocks goes on. A rule with line breaks becomes three, by where it leads to:
//!
//! - *within*: behind it the same block goes on;
//! - *out*: its last line break ends its block; the width behind it is part of the parameter;
//! - *end*: behind it there is nothing but the ends of blocks, since the text ends.
//!
//! A block in a rule that leads *within* is one that leads *out* to the rule's own width; in a rule that leads *out*, to
//! the same width as that. So there are no more derivations of a rule under way than blocks around it, and two.
//!
//! What stands between brackets becomes a grammar of its own, which ignores line breaks.
//!
//! A line break is taken whole: it ends only before what it cannot go on with. Where the lexer mode does not see to that,
//! it is a look-ahead. Parameters of the author's rules are the lower bits, widths the upper ones; what in a rule depends on
//! the parameter keeps its conditions.
//! `docs/decisions/indentation.md` has the reasons.

mod bits;
mod read;
mod widths;
mod write;

use rustc_hash::FxHashMap;

use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::index::IndexVec;
use crate::ir::{ExprId, Grammar, Indenter, RuleId, TerminalId};
use crate::param::{ConditionId, ParamExpr};
use crate::regex::{ByteSet, RegexId, RegexSet};
use crate::span::Span;
use bits::Bits;

/// Codes of this module.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "G003",
        title: "block without beginning or end",
        explanation: "`_INDENT` and `_DEDENT` stand in one alternative, `_NEWLINE _INDENT statement+ _DEDENT`, the first \
                      directly behind the line break.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\n",
    },
    CodeInfo {
        code: "G004",
        title: "brackets across rules",
        explanation: "Line breaks within brackets are ignored, so that an opening bracket and the closing one stand in one \
                      alternative.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"(\" rest _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\nrest: \"x\" \")\"\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: \"(\" rest \")\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\nrest: \"x\"\n",
    },
    CodeInfo {
        code: "G005",
        title: "parameters beside blocks",
        explanation: "The widths of blocks are the upper bits of the parameter, so that the numbers that rules count with have \
                      the lower ones, 43 with `width_max` 80; and what stands between brackets does not know the parameter \
                      of the rule around it.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: p::0 _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\np::_: \"x\" p::set_bit(60) %if bit_clear(60) | \"z\"\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\r?\\n[\\t ]*/\nstart: p::0 _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\np::_: \"x\" p::set_bit(0) %if bit_clear(0) | \"z\"\n",
    },
    CodeInfo {
        code: "G006",
        title: "line breaks are too large",
        explanation: "The terminal of line breaks is a regex with so many states that where it is taken whole cannot be found out.",
        bad: "%declare _INDENT _DEDENT\n_NEWLINE: /\\n(a|b)*a(a|b){20} */\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\n",
        good: "%declare _INDENT _DEDENT\n_NEWLINE: /\\n(a|b)* */\nstart: \"x\" _NEWLINE _INDENT \"y\" _NEWLINE _DEDENT\n",
    },
];

/// How often what a parameter may make empty must stand at most.
const WRITTEN_OUT_MAX: u32 = 64;

/// The widest width that a parameter holds.
pub const WIDTH_MAX: u32 = (1 << 16) - 1;

/// A node of a right-hand side with its brackets and blocks found. Children are older than their parents.
struct Node {
    kind: NodeKind,
    span: Span,
    /// Whether line breaks or blocks stand in it, outside of brackets.
    lined: bool,
    nullable: Nullable,
}

/// Whether a part may be empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nullable {
    No,
    /// The parameter decides.
    Sometimes,
    Yes,
}

type NodeId = usize;

#[derive(Clone)]
enum NodeKind {
    /// A terminal, token set, embed or automaton, as it stands.
    Leaf(ExprId),
    Newline,
    Rule(RuleId, Option<ParamExpr>),
    Sequence(Vec<NodeId>),
    Choice(Vec<(NodeId, Option<ConditionId>)>),
    Repeat(NodeId, u32, Option<u32>),
    /// Index in [`Rewriter::brackets`].
    Brackets(usize),
    /// What stands between an indent and a dedent.
    Block(NodeId),
}

/// Where a part of a text begins or ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    /// In the block where the rule is.
    Within,
    /// Behind a line break that leads out of it.
    Out,
    /// Where nothing but ends of blocks may follow.
    End,
}

/// Where a part may lead to.
const ENDS: [Place; 3] = [Place::Within, Place::Out, Place::End];

/// What a node derives by where it begins (within, behind a line break that begins a block) and where it leads to, as
/// [`ENDS`]; `None` is nothing.
#[derive(Clone, Copy, Default)]
struct Ways {
    within: [Option<ExprId>; 3],
    new: [Option<ExprId>; 3],
    /// The empty text alone, where the parameter allows it.
    empty: Option<ExprId>,
}

/// One part of a sequence before its brackets and blocks are found.
#[derive(Clone, Copy)]
struct Part {
    /// As it stands.
    expr: ExprId,
    node: Option<NodeId>,
    role: Role,
}

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Other,
    Open,
    Close,
    Indent,
    Dedent,
}

struct Rewriter<'g> {
    old: &'g Grammar,
    indenter: &'g Indenter,
    bits: Bits,
    new: Grammar,
    nodes: Vec<Node>,
    /// The node of each rule's body.
    bodies: IndexVec<RuleId, NodeId>,
    /// What stands in brackets, brackets included, as it stood.
    brackets: Vec<Vec<ExprId>>,
    /// The variants of each rule with line breaks, as [`ENDS`].
    variants: IndexVec<RuleId, Option<[RuleId; 3]>>,
    /// Of rules that the parameter makes empty, the one that is nothing else.
    empties: IndexVec<RuleId, Option<RuleId>>,
    /// Rules that pass on what an expression makes of the parameter's lower bits.
    passing: FxHashMap<(RuleId, ParamExpr), RuleId>,
    /// Blocks that directly follow a line break.
    begun: Vec<bool>,
    /// A line break that goes on within the block, and one that leads out.
    breaks: [RuleId; 2],
    /// Line breaks by width.
    newlines: Vec<Vec<TerminalId>>,
    diagnostics: Vec<Diagnostic>,
}

/// The grammar with its line breaks told apart, and, if it has brackets, the one that stands in them. Its embeds from
/// that number on are in the second.
///
/// Errors: [`CODES`].
pub(crate) fn rewrite(grammar: &Grammar, indenter: &Indenter) -> Result<(Grammar, Option<Grammar>), Vec<Diagnostic>> {
    let mut rewriter = Rewriter {
        old: grammar,
        indenter,
        bits: Bits::new(indenter),
        new: Grammar { rules: IndexVec::new(), indenter: None, ..grammar.clone() },
        nodes: Vec::new(),
        bodies: IndexVec::new(),
        brackets: Vec::new(),
        variants: IndexVec::new(),
        empties: IndexVec::new(),
        passing: FxHashMap::default(),
        begun: Vec::new(),
        breaks: [RuleId(0); 2],
        newlines: Vec::new(),
        diagnostics: Vec::new(),
    };
    rewriter.read();
    if rewriter.diagnostics.is_empty() {
        rewriter.facts();
    }
    if rewriter.diagnostics.is_empty() {
        rewriter.write();
    }
    if !rewriter.diagnostics.is_empty() {
        return Err(rewriter.diagnostics);
    }
    let inner = rewriter.within_brackets();
    Ok((rewriter.new, inner))
}

// What there is.

// What becomes of it.

/// The line breaks whose last line is a text of `tail`.
fn of_tail(newline: RegexId, tail: RegexId, regexes: &mut RegexSet) -> RegexId {
    let (any, feed) = (regexes.any_byte(), regexes.literal(b"\n"));
    let any = regexes.repeat(any, 0, None);
    let ends = regexes.concat(&[any, feed, tail]);
    regexes.and(&[newline, ends])
}

/// What may stand behind a last line feed, by its width: blanks, a tab counting for several, and what is neither.
fn tails(indenter: &Indenter, regexes: &mut RegexSet) -> Vec<RegexId> {
    let mut other = ByteSet::EMPTY;
    (0..=255u8).filter(|byte| !b"\t\n ".contains(byte)).for_each(|byte| other.insert(byte));
    let other = regexes.bytes(other);
    let other = regexes.repeat(other, 0, None);
    let (blank, tab) = (regexes.literal(b" "), regexes.literal(b"\t"));
    let mut tails = vec![other];
    for width in 1..=indenter.width_max as usize {
        let mut ways = vec![regexes.concat(&[blank, tails[width - 1]])];
        if let Some(rest) = width.checked_sub(indenter.tab as usize) {
            ways.push(regexes.concat(&[tab, tails[rest]]));
        }
        let ways = regexes.or(&ways);
        tails.push(regexes.concat(&[other, ways]));
    }
    tails
}
