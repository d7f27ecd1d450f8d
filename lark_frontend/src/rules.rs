//! A rule's attributes to the IR: tails of terminals, captures, budgets.

use larkspur_grammar::algebra::{Algebra, Lowered};
use larkspur_grammar::ir::Tail;
use larkspur_grammar::{ExprId, ExprKind, RegexId, RegexNode, RegexSet, Rule, Span, TerminalId};

use crate::ast::{AttributeValue, Definition, NodeId};
use crate::error::{AttributeMistake, TerminalMistake};
use crate::lower::{Lowerer, TerminalScope};

/// Work to find out whether a text of a terminal begins another one, in steps of 20 ns. 50,000 = 1 ms.
const PREFIXES_WORK_MAX: u64 = 50_000;
/// Expressions of that question at most.
const PREFIXES_EXPRESSIONS_MAX: usize = 20_000;

/// A rule's attributes, decoded.
#[derive(Default)]
struct Attributes {
    capture: Option<String>,
    lazy: Option<Span>,
    /// `stop` or `suffix`.
    tail: Option<TailAttribute>,
    stop_capture: Option<String>,
    max_tokens: Option<u32>,
    temperature: Option<f32>,
}

struct TailAttribute {
    value: NodeId,
    span: Span,
    hidden: bool,
}

impl Lowerer<'_, '_> {
    /// A rule with its body; parameters are the caller's business.
    pub(crate) fn lower_rule(&mut self, definition: &Definition) -> Rule {
        let attributes = self.read_attributes(definition);
        let mut rule = Rule {
            name: definition.name.text.as_str().into(),
            span: definition.name.span,
            body: ExprId(0),
            parametric: definition.parametric,
            priority: definition.priority,
            capture: attributes.capture.clone(),
            max_tokens: attributes.max_tokens,
            temperature: attributes.temperature,
        };
        let asked = match (&attributes.tail, attributes.lazy) {
            (Some(tail), _) => Some((if tail.hidden { "stop" } else { "suffix" }, tail.span)),
            (None, Some(span)) => Some(("lazy", span)),
            (None, None) => None,
        };
        rule.body = match asked {
            Some((attribute, span)) => {
                let scope = TerminalScope::Attribute { attribute, rule: rule.name.to_string(), span };
                self.tailed(definition, attributes, scope, &mut rule)
            }
            None => self.expr(definition.body),
        };
        rule
    }

    fn read_attributes(&mut self, definition: &Definition) -> Attributes {
        let mut read = Attributes::default();
        for attribute in &definition.attributes {
            let span = attribute.span;
            match attribute.value {
                AttributeValue::Capture(None) => {
                    let name = definition.template.as_ref().unwrap_or(&definition.name.text);
                    read.capture = Some(name.clone());
                }
                AttributeValue::Capture(Some(name)) => read.capture = Some(self.string_value(name)),
                AttributeValue::StopCapture(name) => read.stop_capture = Some(self.string_value(name)),
                AttributeValue::Lazy => read.lazy = Some(span),
                AttributeValue::Stop(value) => read.tail = Some(TailAttribute { value, span, hidden: true }),
                AttributeValue::Suffix(value) => read.tail = Some(TailAttribute { value, span, hidden: false }),
                AttributeValue::MaxTokens(tokens) => read.max_tokens = Some(tokens),
                AttributeValue::Temperature(temperature) => read.temperature = Some(temperature),
            }
        }
        read
    }

    /// The body of a rule with `lazy`, `stop` or `suffix`.
    fn tailed(
        &mut self,
        definition: &Definition,
        attributes: Attributes,
        scope: TerminalScope,
        rule: &mut Rule,
    ) -> ExprId {
        let body = definition.body;
        self.scope = scope;
        let id = self.own_terminal(body);
        self.scope = TerminalScope::Definition;
        let span = self.setting.ast.nodes[body].span;
        let Some(tail) = attributes.tail else {
            self.grammar.terminals[id].lazy = true;
            self.warn_of_lazy_rule(id, definition, attributes.lazy);
            return self.terminal_expr(id, span);
        };
        let regex = self.terminal(tail.value);
        self.no_follows(tail.value);
        let info = self.grammar.regexes.info(regex);
        let empty = info.nullable && info.len_max == Some(0);
        if info.nullable && !(empty && tail.hidden) {
            let attribute = if tail.hidden { "stop" } else { "suffix" };
            let value_span = self.setting.ast.nodes[tail.value].span;
            self.sink.report(value_span, AttributeMistake::StopNullable { attribute });
        }
        let terminal = &mut self.grammar.terminals[id];
        terminal.lazy = !(empty && tail.hidden) || attributes.lazy.is_some();
        if !empty {
            let capture = attributes.stop_capture.clone();
            terminal.tail = Some(Box::new(Tail { regex, hidden: tail.hidden, capture }));
        }
        let body = self.terminal_expr(id, span);
        if !(empty && tail.hidden) {
            return body;
        }
        // `stop=""`: the text, then the end token, which the captures of this rule leave out. llguidance's may also be missing,
        // and is where no text goes on.
        let is_optional = self.is_rust(tail.span);
        let regex = self.grammar.terminals[id].regex;
        if is_optional && attributes.stop_capture.is_none() && is_prefix_free(&mut self.grammar.regexes, regex) {
            return body;
        }
        let end = self.end_tokens(tail.span, !is_optional);
        let body = self.captured(body, rule.capture.take(), rule, span);
        let mut end = self.captured(end, attributes.stop_capture, rule, tail.span);
        if is_optional {
            end = self.grammar.expr(ExprKind::Repeat(end, 0, Some(1)), tail.span);
        }
        self.grammar.expr(ExprKind::sequence([body, end]), span)
    }

    /// Warns of `lazy` on a terminal without an end of its own: it is empty, or repeats as seldom as it may.
    fn warn_of_lazy_rule(&mut self, id: TerminalId, definition: &Definition, place: Option<Span>) {
        let regex = self.grammar.terminals[id].regex;
        let is_empty = self.grammar.regexes.info(regex).nullable;
        let repeats = match *self.grammar.regexes.node(regex) {
            RegexNode::Repeat(_, min, max) => max.is_none_or(|max| max > min),
            _ => false,
        };
        if let Some(place) = place.filter(|_| is_empty || repeats) {
            let rule = definition.template.as_ref().unwrap_or(&definition.name.text).clone();
            self.sink.report(place, TerminalMistake::LazyEndless { rule, is_empty });
        }
    }

    /// `body` in a rule that captures it; as it is where there is nothing to capture.
    fn captured(&mut self, body: ExprId, capture: Option<String>, outer: &Rule, span: Span) -> ExprId {
        if capture.is_none() {
            return body;
        }
        let inner = Rule { body, capture, max_tokens: None, temperature: None, priority: 0, ..outer.clone() };
        let id = self.inner_rule(inner);
        self.grammar.expr(ExprKind::Rule(id, None), span)
    }
}

/// Whether it is certain that no text of the regex begins another one, as where it ends with a quote that it does not hold.
fn is_prefix_free(set: &mut RegexSet, regex: RegexId) -> bool {
    let any = set.any_byte();
    let more = set.repeat(any, 1, None);
    let longer = set.concat(&[regex, more]);
    let both = set.and(&[regex, longer]);
    let mut algebra = Algebra::new(PREFIXES_EXPRESSIONS_MAX);
    let lowered = algebra.lower(set, both, &mut Lowered::default());
    matches!(lowered.and_then(|expr| algebra.is_non_empty(expr, PREFIXES_WORK_MAX)), Ok(false))
}
