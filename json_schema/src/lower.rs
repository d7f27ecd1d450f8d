//! Shapes to rules and terminals.
//!
//! A value is a rule of as many alternatives as its shape has ways; all its scalars are one terminal. An object's
//! members are a chain of rules, "what may follow member i", so that commas are right and the grammar is linear in the
//! properties; where properties are counted, "what may follow member i if there are c so far". Elements beyond an
//! array's prefix are one counted repetition.

use compact_str::CompactString;
use larkspur_grammar::index::IdMap;
use larkspur_grammar::json::JsonId;
use larkspur_grammar::{
    Alternative, Alternatives, ExprId, ExprKind, Exprs, Grammar, GrammarOptions, IgnoreEdges, LexerMode, ParamExpr,
    RegexId, Rule, RuleId, Span, Terminal, TerminalId,
};
use smallvec::{SmallVec, smallvec};

mod lines;
mod machines;

use crate::automata::Marks;
use crate::error::Mistake;
use crate::ir::{ANY, ArrayId, ArraySpec, NEVER, Named, NodeId, ObjectId, ObjectSpec, Shape, ShapeId};
use crate::normal::{Mode, Normalizer};
use crate::number_texts::Extent;
use crate::numbers::COUNT_MAX;
use crate::prelude::{MarkTexts, Prelude};
use crate::spelling::{KeyOrder, Spelling};
use crate::strings::{Quoting, quoted};
use crate::writing::Writing;
use machines::Machines;

/// Rules for one object whose properties are counted, at most.
const COUNTED_STATES_MAX: usize = 20_000;

/// Expressions that a value of a schema makes, roughly.
const EXPRS_PER_VALUE: usize = 4;
/// Of the values of a schema about one in so many makes a terminal, beside brackets and the like, or a rule.
const VALUES_PER_TERMINAL: usize = 3;
const VALUES_PER_RULE: usize = 4;
const MARKS: usize = 16;

struct Lowerer<'n, 'a> {
    normalizer: &'n mut Normalizer<'a>,
    grammar: Grammar,
    quoting: Quoting,
    writing: Writing,
    marks: Marks,
    /// The rule for the start of a line, where values stand on lines of their own.
    line: Option<RuleId>,
    machines: Machines,
    any_order: bool,
    unique_keys: bool,
    terminals: IdMap<RegexId, TerminalId>,
    rules: IdMap<ShapeId, RuleId>,
    /// Shapes that are scalars and nothing else, `None` for all others.
    plain: IdMap<ShapeId, Option<TerminalId>>,
    /// Rules whose bodies are still to be made, each with the node that it was first made for.
    queue: Vec<(ShapeId, RuleId, NodeId)>,
    /// Where what is being made comes from.
    place: JsonId,
    span: Span,
}

/// What follows some place in an array or object: expressions, the last first. `None`: there is no way on.
type Tail = Option<Exprs>;
/// For each count of members told apart; mostly none and some.
type Tails = SmallVec<[Tail; 2]>;

/// The grammar of a node that is inhabited. Mistakes are reported to the normalizer's sink.
pub(crate) fn lower(
    normalizer: &mut Normalizer,
    root: NodeId,
    name: &str,
    spelling: &Spelling,
    prelude: &Prelude,
) -> Grammar {
    let writing = Writing::new(spelling);
    let place = normalizer.document.root();
    let span = normalizer.document.span(place);
    let mut grammar = Grammar::new(name);
    grammar.options = GrammarOptions {
        lexer: LexerMode::Exact,
        ignore_edges: IgnoreEdges::None,
        is_made: true,
        goes_on_with: spelling.goes_on_with(),
        ..GrammarOptions::default()
    };
    let room = crate::ir::room(normalizer.document);
    grammar.exprs.reserve(room * EXPRS_PER_VALUE);
    let terminals_room = MARKS + room / VALUES_PER_TERMINAL;
    grammar.terminals.reserve(terminals_room);
    grammar.rules.reserve(room / VALUES_PER_RULE);
    let mut terminals = IdMap::with_room(normalizer.set.len());
    let marks = marks(&mut grammar, &mut terminals, &prelude.marks, span);
    let separators = &prelude.separators;
    let mut lowerer = Lowerer {
        normalizer,
        grammar,
        quoting: prelude.quoting.clone(),
        writing,
        marks,
        line: None,
        machines: Machines::default(),
        any_order: spelling.key_order == KeyOrder::Any,
        unique_keys: spelling.unique_keys,
        terminals,
        rules: IdMap::new(),
        plain: IdMap::new(),
        queue: Vec::new(),
        place,
        span,
    };
    let start = lowerer.reserve("start");
    lowerer.line = separators.indent.map(|spaces| lowerer.make_line(spaces));
    let value = lowerer.outermost(root);
    let body = lowerer.outside(value, separators.outside);
    lowerer.grammar.rules[start].body = body;
    lowerer.grammar.start = start;
    while let Some((shape, rule, node)) = lowerer.queue.pop() {
        if !lowerer.normalizer.charge(1) || lowerer.normalizer.has_too_many_symbols(lowerer.grammar.exprs.len()) {
            break;
        }
        lowerer.place = lowerer.normalizer.ir.origin(node);
        lowerer.span = lowerer.normalizer.document.span(lowerer.place);
        let body = lowerer.alternatives(shape);
        lowerer.grammar.rules[rule].body = body;
    }
    let automata = lowerer.automata();
    let mut grammar = lowerer.grammar;
    if let Some(automata) = automata {
        grammar.automata.push(automata);
    }
    if !normalizer.sink.has_errors() {
        normalizer.warn_of_empty();
    }
    grammar.regexes = std::mem::take(&mut normalizer.set);
    grammar
}

fn push_terminal(
    grammar: &mut Grammar,
    terminals: &mut IdMap<RegexId, TerminalId>,
    regex: RegexId,
    name: CompactString,
    span: Span,
) -> TerminalId {
    *terminals.get_or_insert_with(regex, || grammar.terminals.push(Terminal::new(name, span, regex)))
}

fn marks(grammar: &mut Grammar, terminals: &mut IdMap<RegexId, TerminalId>, texts: &MarkTexts, span: Span) -> Marks {
    let mut push = |regex: RegexId, name: &'static str| {
        push_terminal(grammar, terminals, regex, CompactString::const_new(name), span)
    };
    Marks {
        open_brace: push(texts.open_brace, r#""{""#),
        open_bracket: push(texts.open_bracket, r#""[""#),
        close_brace: push(texts.close_brace, r#""}""#),
        close_empty_brace: push(texts.close_empty_brace, r#""}""#),
        close_bracket: push(texts.close_bracket, r#""]""#),
        close_empty_bracket: push(texts.close_empty_bracket, r#""]""#),
        comma: push(texts.comma, r#"",""#),
        colon: push(texts.colon, r#"":""#),
    }
}

impl Lowerer<'_, '_> {
    fn expr(&mut self, kind: ExprKind) -> ExprId {
        self.grammar.expr(kind, self.span)
    }
    /// One after the other.
    fn run(&mut self, parts: &[ExprId]) -> ExprId {
        self.expr(ExprKind::Sequence(Exprs::from_slice(parts)))
    }
    fn mark(&mut self, terminal: TerminalId) -> ExprId {
        self.expr(ExprKind::Terminal(terminal))
    }
    fn terminal(&mut self, regex: RegexId, name: impl FnOnce() -> CompactString) -> ExprId {
        let terminal = self.terminal_id(regex, name);
        self.mark(terminal)
    }
    fn terminal_id(&mut self, regex: RegexId, name: impl FnOnce() -> CompactString) -> TerminalId {
        match self.terminals.get(regex) {
            Some(&known) => known,
            None => push_terminal(&mut self.grammar, &mut self.terminals, regex, name(), self.span),
        }
    }
    fn choice(&mut self, ways: &[ExprId]) -> ExprId {
        match ways {
            &[only] => only,
            _ => {
                let mut alternatives = Alternatives::with_capacity(ways.len());
                ways.iter().for_each(|&expr| alternatives.push(Alternative { expr, condition: None }));
                self.expr(ExprKind::Choice(alternatives))
            }
        }
    }
    /// A rule whose body is set later.
    fn reserve(&mut self, name: impl Into<CompactString>) -> RuleId {
        let body = self.expr(ExprKind::choice([]));
        let parametric = self.line.is_some();
        self.grammar.rules.push(Rule { parametric, ..Rule::new(name, self.span, body) })
    }

    /// The whole text: the value with what may stand around it.
    fn outside(&mut self, value: ExprId, space: Option<RegexId>) -> ExprId {
        let Some(space) = space else { return value };
        let space = self.terminal(space, || "white space".into());
        let space = self.expr(ExprKind::Repeat(space, 0, Some(1)));
        self.run(&[space, value, space])
    }

    /// The value that is in no other.
    fn outermost(&mut self, node: NodeId) -> ExprId {
        match self.scalars_or_rule(node) {
            Ok(scalars) => scalars,
            Err(rule) => self.expr(ExprKind::Rule(rule, self.line.map(|_| ParamExpr::Const(0)))),
        }
    }
    /// A value of the node, which is inhabited, within an array or object.
    fn value(&mut self, node: NodeId) -> ExprId {
        match self.scalars_or_rule(node) {
            Ok(scalars) => scalars,
            Err(rule) => self.inner_rule(rule),
        }
    }
    fn scalars_or_rule(&mut self, node: NodeId) -> Result<ExprId, RuleId> {
        let id = self.normalizer.shape(node, Mode::Exact);
        if let Some(scalars) = self.plain_scalars(id) {
            return Ok(self.mark(scalars));
        }
        Err(match self.rules.get(id) {
            Some(&rule) => rule,
            None => {
                let place = self.normalizer.ir.origin(node);
                let mut name = CompactString::const_new(if node == ANY { "any" } else { "#" });
                if node != ANY {
                    name.push_str(&self.normalizer.document.pointer(place));
                }
                let rule = self.reserve(name);
                self.rules.insert(id, rule);
                self.queue.push((id, rule, node));
                rule
            }
        })
    }

    /// A shape as one terminal, if it is scalars and nothing else.
    fn plain_scalars(&mut self, id: ShapeId) -> Option<TerminalId> {
        if let Some(&known) = self.plain.get(id) {
            return known;
        }
        let shape = self.normalizer.ir.shapes.get(id);
        let plain = (shape.arrays.is_empty() && shape.objects.is_empty()).then(|| shape.clone());
        let scalars = plain.and_then(|shape| self.scalar_terminal(&shape, Extent::All));
        self.plain.insert(id, scalars);
        scalars
    }

    /// The scalars of a shape as one terminal; `None` if there are none.
    fn scalars(&mut self, shape: &Shape) -> Option<ExprId> {
        let terminal = self.scalar_terminal(shape, Extent::All)?;
        Some(self.mark(terminal))
    }
    fn scalar_terminal(&mut self, shape: &Shape, extent: Extent) -> Option<TerminalId> {
        let mut ways: SmallVec<[RegexId; 8]> = SmallVec::new();
        let mut names: SmallVec<[&str; 8]> = SmallVec::new();
        let set = &mut self.normalizer.set;
        for (has, text) in [(shape.null, "null"), (shape.truth[0], "false"), (shape.truth[1], "true")] {
            if has {
                ways.push(set.literal(text.as_bytes()));
                names.push(text);
            }
        }
        let numbers = self.normalizer.all_numbers(shape);
        if !self.normalizer.is_no_number(numbers) {
            let spelling = self.writing.numbers;
            let Normalizer { numbers, set, .. } = &mut *self.normalizer;
            ways.push(match shape.numbers == shape.integers {
                true => numbers.texts(shape.numbers, spelling, extent, set),
                false => numbers.texts_by_spelling(shape.integers, shape.numbers, spelling, extent, set),
            });
            names.push("number");
        }
        if !self.normalizer.is_nothing(shape.strings) {
            ways.push(self.quoting.string(&mut self.normalizer.set, shape.strings));
            names.push("string");
        }
        if ways.is_empty() {
            return None;
        }
        let regex = self.normalizer.set.or(&ways);
        Some(self.terminal_id(regex, || names.join(" or ").into()))
    }

    /// The body of a shape's rule.
    fn alternatives(&mut self, id: ShapeId) -> ExprId {
        let shape = self.normalizer.ir.shapes.get(id).clone();
        let mut ways: Exprs = self.scalars(&shape).into_iter().collect();
        for &array in &shape.arrays {
            ways.extend(self.array(array));
        }
        for &object in &shape.objects {
            ways.extend(self.object(object));
        }
        self.choice(&ways)
    }

    /// A sequence of a tail, and itself as a rule where it is needed more than once.
    fn sequence(&mut self, tail: Exprs) -> ExprId {
        match tail.as_slice() {
            &[only] => only,
            _ => {
                let mut parts = tail;
                parts.reverse();
                self.expr(ExprKind::Sequence(parts))
            }
        }
    }
    fn shared(&mut self, tail: Exprs, name: &str) -> ExprId {
        if let &[only] = tail.as_slice()
            && matches!(self.grammar.exprs[only].kind, ExprKind::Rule(..) | ExprKind::Terminal(_))
        {
            return only;
        }
        let body = self.sequence(tail);
        let rule = self.reserve(name);
        self.grammar.rules[rule].body = body;
        self.own_rule(rule)
    }
    /// `expr` `min` to `max` times.
    fn repeat(&mut self, expr: ExprId, min: u64, max: Option<u64>) -> ExprId {
        let narrow = |count: u64| u32::try_from(count).ok().filter(|&count| count <= COUNT_MAX);
        match (narrow(min), max.map(narrow)) {
            (Some(min), None) => self.expr(ExprKind::Repeat(expr, min, None)),
            (Some(min), Some(Some(max))) => self.expr(ExprKind::Repeat(expr, min, Some(max))),
            _ => {
                let keyword = if narrow(min).is_none() { "minItems" } else { "maxItems" };
                let place = self.normalizer.document.get(self.place, keyword).unwrap_or(self.place);
                self.normalizer.sink.report(place, Mistake::CountTooLarge { keyword });
                self.expr(ExprKind::Repeat(expr, narrow(min).unwrap_or(0), None))
            }
        }
    }
    fn is_inhabited(&mut self, node: NodeId) -> bool {
        node != NEVER && self.normalizer.is_inhabited(node, Mode::Exact)
    }

    /// Reports an array of which two elements must be equal. True if that is not asked, or forgiven.
    fn may_repeat(&mut self, id: ArrayId) -> bool {
        let Some(place) = self.normalizer.ir.arrays.get(id).repeats else { return true };
        let keyword = match self.normalizer.document.pointer(place).rsplit('/').next() {
            Some("if") => "if",
            Some("not") => "not",
            _ => "oneOf",
        };
        self.normalizer.sink.report(place, Mistake::EqualElements { keyword });
        self.normalizer.sink.lenient
    }

    /// An array; `None` if there is none.
    fn array(&mut self, id: ArrayId) -> Option<ExprId> {
        if !self.may_repeat(id) {
            return None;
        }
        let ArraySpec { prefix, mut rest, min, mut max, counts, unique, .. } =
            self.normalizer.ir.arrays.get(id).clone();
        if !counts.is_empty() || unique {
            return self.array_automaton(id);
        }
        let mut prefix = prefix.into_vec();
        if let Some(cut) = (0..prefix.len()).find(|&index| !self.is_inhabited(prefix[index])) {
            prefix.truncate(cut);
            max = Some(cut as u64);
        } else if max.is_none_or(|max| max > prefix.len() as u64) && !self.is_inhabited(rest) {
            max = Some(prefix.len() as u64);
        }
        if max.is_some_and(|max| max < min) {
            return None;
        }
        let len = prefix.len() as u64;
        let has_rest = max.is_none_or(|max| max > len);
        if !has_rest {
            rest = NEVER;
        }
        let mut tail: Exprs = smallvec![self.close_bracket()];
        let mut ways = Exprs::new();
        if min == 0 {
            ways.push(self.mark(self.marks.close_empty_bracket));
        }
        if has_rest {
            let element = self.value(rest);
            let separator = self.comma();
            let more = self.run(&[separator, element]);
            // The first element has no comma before it.
            let first = u64::from(len == 0);
            let repeated =
                self.repeat(more, min.saturating_sub(len).max(first) - first, max.map(|max| max - len - first));
            tail.push(repeated);
            if len == 0 {
                tail.push(element);
            }
        }
        for index in (0..prefix.len()).rev() {
            // `tail` is what follows element `index`.
            if (index as u64) + 1 >= min && index + 1 < prefix.len() {
                let close = self.close_bracket();
                let on = self.sequence(std::mem::take(&mut tail));
                let choice = self.choice(&[on, close]);
                tail = smallvec![self.shared_choice(choice)];
            }
            let element = self.value(prefix[index]);
            tail.push(element);
            if index > 0 {
                tail.push(self.comma());
            }
        }
        if has_rest || !prefix.is_empty() {
            tail.extend(self.first_line());
            ways.push(self.sequence(tail));
        }
        let inside = self.choice(&ways);
        let open = self.mark(self.marks.open_bracket);
        Some(self.run(&[open, inside]))
    }

    /// A choice as a rule, so that chains of them do not nest.
    fn shared_choice(&mut self, choice: ExprId) -> ExprId {
        let rule = self.reserve("elements");
        self.grammar.rules[rule].body = choice;
        self.own_rule(rule)
    }

    /// An object; `None` if there is none.
    fn object(&mut self, id: ObjectId) -> Option<ExprId> {
        let spec = self.normalizer.ir.objects.get(id).clone();
        let is_free = self.any_order && spec.named.len() + spec.cells.len() > 1;
        if !spec.some.is_empty() || !spec.clauses.is_empty() || is_free {
            return self.object_automaton(id);
        }
        let mut named: Vec<Named> = Vec::with_capacity(spec.named.len());
        for &property in &spec.named {
            if self.is_inhabited(property.node) {
                named.push(property);
            } else if property.required {
                return None;
            }
        }
        let extra = self.extra(id, &spec);
        let required = named.iter().filter(|property| property.required).count() as u64;
        let most = if extra.is_some() { None } else { Some(named.len() as u64) };
        let min = if spec.min <= required { 0 } else { spec.min };
        let max = spec.max.filter(|&max| most.is_none_or(|most| max < most));
        if max.is_some_and(|max| max < required.max(min)) || most.is_some_and(|most| most < min) {
            return None;
        }
        let states = Members::new(named, extra, min, max);
        if states.is_counted && states.len() > COUNTED_STATES_MAX {
            return self.object_automaton(id);
        }
        let inside = self.members(&states)?;
        let inside = self.sequence(inside);
        let open = self.mark(self.marks.open_brace);
        Some(self.run(&[open, inside]))
    }

    /// Members with names that are not listed, if there may be any.
    fn extra(&mut self, id: ObjectId, spec: &ObjectSpec) -> Option<Extra> {
        if spec.cells.is_empty() {
            return None;
        }
        if self.unique_keys || spec.min > spec.named.iter().filter(|named| named.required).count() as u64 + 1 {
            return self.extra_machine(id).map(Extra::Machine);
        }
        self.repeating(spec).map(Extra::Repeating)
    }

    /// A member with a name that is not listed and may repeat.
    fn repeating(&mut self, spec: &ObjectSpec) -> Option<ExprId> {
        if spec.cells.is_empty() {
            return None;
        }
        let names: Vec<RegexId> = spec
            .named
            .iter()
            .map(|property| {
                let name = self.normalizer.ir.keys.get(property.key).clone();
                self.normalizer.set.literal(name.as_bytes())
            })
            .collect();
        let names = self.normalizer.set.or(&names);
        let others = self.normalizer.not_text(names);
        let mut ways = Exprs::new();
        for &(regex, node) in &spec.cells {
            let regex = self.normalizer.and_text(regex, others);
            if self.normalizer.is_nothing(regex) || !self.is_inhabited(node) {
                continue;
            }
            let regex = self.quoting.string(&mut self.normalizer.set, regex);
            let key = self.terminal(regex, || "name".into());
            let colon = self.mark(self.marks.colon);
            let value = self.value(node);
            ways.push(self.run(&[key, colon, value]));
        }
        if ways.is_empty() { None } else { Some(self.choice(&ways)) }
    }

    /// What stands between the braces, the closing one included.
    fn members(&mut self, states: &Members) -> Tail {
        let count = states.top + 1;
        let mut tails: Tails = SmallVec::with_capacity(count);
        for so_far in 0..count {
            let reachable = states.reachable(states.named.len(), so_far);
            tails.push(if reachable { self.end(states, so_far) } else { None });
        }
        for index in (0..states.named.len()).rev() {
            let property = states.named[index];
            // How often each tail is needed: shared ones become rules.
            let mut needed: SmallVec<[u32; 2]> = smallvec![0; count];
            for so_far in (0..count).filter(|&so_far| states.reachable(index, so_far)) {
                if let Some(next) = states.after(so_far) {
                    needed[next] += 1;
                }
                if !property.required {
                    needed[so_far] += 1;
                }
            }
            for so_far in 0..count {
                if needed[so_far] > 1
                    && let Some(tail) = tails[so_far].take()
                {
                    tails[so_far] = Some(smallvec![self.shared(tail, "members")]);
                }
            }
            let mut member: Option<[ExprId; 3]> = None;
            let mut before: Tails = SmallVec::with_capacity(count);
            for so_far in 0..count {
                if !states.reachable(index, so_far) {
                    before.push(None);
                    continue;
                }
                let with = states.after(so_far).and_then(|next| {
                    let mut tail = if needed[next] > 1 { tails[next].clone() } else { tails[next].take() }?;
                    tail.extend_from_slice(member.get_or_insert_with(|| self.member(property)));
                    match so_far {
                        0 => tail.extend(self.first_line()),
                        _ => tail.push(self.comma()),
                    }
                    Some(tail)
                });
                let without = match property.required {
                    true => None,
                    false if needed[so_far] > 1 => tails[so_far].clone(),
                    false => tails[so_far].take(),
                };
                before.push(match (with, without) {
                    (Some(with), Some(without)) => {
                        let ways = [self.sequence(with), self.sequence(without)];
                        Some(smallvec![self.choice(&ways)])
                    }
                    (with, without) => with.or(without),
                });
            }
            tails = before;
        }
        tails.swap_remove(0)
    }

    /// A member, the last of it first.
    fn member(&mut self, property: Named) -> [ExprId; 3] {
        let value = self.value(property.node);
        let colon = self.mark(self.marks.colon);
        let Normalizer { ir, set, .. } = &mut *self.normalizer;
        let name = ir.keys.get(property.key);
        let literal = set.literal(name.as_bytes());
        let regex = self.quoting.string(set, literal);
        let key = match self.terminals.get(regex) {
            Some(&known) => known,
            None => push_terminal(&mut self.grammar, &mut self.terminals, regex, quoted(name), self.span),
        };
        [value, colon, self.mark(key)]
    }

    /// What follows the named properties, of which there were `so_far`.
    fn end(&mut self, states: &Members, so_far: usize) -> Tail {
        let min = states.min.saturating_sub(so_far as u64);
        let max = states.max.map(|max| max.saturating_sub(so_far as u64));
        let close = self.close_brace();
        let Some(extra) = states.extra.filter(|_| max != Some(0)) else {
            let empty = self.mark(self.marks.close_empty_brace);
            return (min == 0).then(|| smallvec![if so_far == 0 { empty } else { close }]);
        };
        let extra = match extra {
            Extra::Repeating(extra) => extra,
            Extra::Machine(machine) => return self.extra_start(machine, so_far as u64).map(|start| smallvec![start]),
        };
        let comma = self.comma();
        let more = self.run(&[comma, extra]);
        if so_far > 0 {
            let more = self.repeat(more, min, max);
            return Some(smallvec![close, more]);
        }
        let more = self.repeat(more, min.saturating_sub(1), max.map(|max| max - 1));
        let some = self.first_line().into_iter().chain([extra, more, close]);
        let some = self.expr(ExprKind::sequence(some));
        let mut ways: Exprs = smallvec![some];
        if min == 0 {
            ways.push(self.mark(self.marks.close_empty_brace));
        }
        Some(smallvec![self.choice(&ways)])
    }
}

/// Members with names that are not listed.
#[derive(Clone, Copy)]
enum Extra {
    /// A member that may repeat.
    Repeating(ExprId),
    /// A machine of the automaton.
    Machine(u32),
}

/// The states of an object's members: how many properties there were before the one that comes next.
struct Members {
    named: Vec<Named>,
    /// Required ones before each. Length: named + 1.
    required_before: Vec<usize>,
    extra: Option<Extra>,
    min: u64,
    max: Option<u64>,
    is_counted: bool,
    /// The largest count told apart. Without counting 1: "at least one".
    top: usize,
}

impl Members {
    fn new(named: Vec<Named>, extra: Option<Extra>, min: u64, max: Option<u64>) -> Self {
        // More than one beyond the named ones need not be told apart before these end.
        let most = named.len() as u64 + 1;
        let is_counted = min > 1 || max.is_some();
        let top = match (is_counted, max) {
            (false, _) => 1,
            (true, Some(max)) => max.min(most) as usize,
            (true, None) => min.min(most) as usize,
        };
        let mut required_before = Vec::with_capacity(named.len() + 1);
        required_before.push(0);
        for property in &named {
            required_before.push(required_before[required_before.len() - 1] + usize::from(property.required));
        }
        Self { named, required_before, extra, min, max, is_counted, top: top.max(usize::from(max != Some(0))) }
    }
    fn len(&self) -> usize {
        (self.named.len() + 1).saturating_mul(self.top + 1)
    }
    /// Whether there can be `so_far` before property `index`; the last count stands for all above it, too, unless there
    /// are none.
    fn reachable(&self, index: usize, so_far: usize) -> bool {
        so_far <= index && self.required_before[index].min(self.top) <= so_far
    }
    /// The count after one more; `None` if there may not be one more.
    fn after(&self, so_far: usize) -> Option<usize> {
        if self.max.is_some_and(|max| so_far as u64 >= max) {
            return None;
        }
        Some((so_far + 1).min(self.top))
    }
}
