//! Bodies with the names that they have in the whole grammar, and an instance of a template for each list of arguments.
//!
//! As in Lark, an instance is a rule `name{arguments}`, so that a template may use itself with the same arguments.
//! Instances are made from a list of what is left to do; templates that grow their arguments meet a limit.

use std::rc::Rc;

use larkspur_grammar::Span;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Expansion, alternatives};
use crate::ast::{AttributeValue, Definition, Item, Name, NodeId, NodeKind};
use crate::error::{LimitMistake, NameMistake, TemplateMistake, TooMuch};

/// The longest name of an instance in bytes; a longer one is cut and numbered.
const NAME_BYTES_MAX: usize = 80;

/// What a parameter stands for.
#[derive(Clone)]
struct Argument {
    value: Value,
    /// Equal for equal arguments.
    key: Rc<str>,
    /// How it shows in the instance's name.
    shown: Rc<str>,
}

#[derive(Clone, Copy)]
enum Value {
    Node(NodeId),
    /// The slot of a template.
    Template(usize),
}

/// Where names are looked up.
struct Scope {
    instance: usize,
    /// Of a template's instance.
    arguments: FxHashMap<String, Argument>,
}

/// An instance whose rule is not made yet.
struct Pending {
    slot: usize,
    name: String,
    arguments: FxHashMap<String, Argument>,
}

enum Task {
    Enter(NodeId),
    Leave(NodeId),
}

pub(super) struct Templates<'t, 'e, 'a, 's> {
    expansion: &'t mut Expansion<'e, 'a, 's>,
    /// Names in the whole grammar, of the slots that are part of it.
    names: Vec<Option<String>>,
    /// Names of instances by slot and arguments.
    instances: FxHashMap<(usize, Vec<Rc<str>>), String>,
    /// Those names.
    taken: FxHashSet<String>,
    pending: Vec<Pending>,
    used: FxHashSet<usize>,
    is_over: bool,
    empty: Scope,
}

impl<'t, 'e, 'a, 's> Templates<'t, 'e, 'a, 's> {
    pub fn new(expansion: &'t mut Expansion<'e, 'a, 's>) -> Self {
        let mut names = vec![None; expansion.slots.len()];
        for (name, &slot) in &expansion.spaces[0] {
            names[slot] = Some(name.clone());
        }
        Self {
            expansion,
            names,
            instances: FxHashMap::default(),
            taken: FxHashSet::default(),
            pending: Vec::new(),
            used: FxHashSet::default(),
            is_over: false,
            empty: Scope { instance: 0, arguments: FxHashMap::default() },
        }
    }

    /// The grammar's statements: what the text defines and imports, in its order, then what that needs. The second are
    /// the bodies of templates that nothing uses.
    pub fn items(mut self, items: &[Item]) -> (Vec<Item>, Vec<NodeId>) {
        let mut expanded: Vec<Item> = Vec::new();
        let mut order: Vec<usize> = Vec::new();
        let space = &self.expansion.spaces[0];
        for item in items {
            match item {
                Item::Definition(definition) => order.extend(space.get(&definition.name.text)),
                Item::Declare(name) => order.extend(space.get(&name.text)),
                Item::Import(import) => order.extend(import.names.iter().filter_map(|(_, name)| space.get(&name.text))),
                Item::Ignore(_) | Item::Options { .. } => expanded.push(item.clone()),
            }
        }
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        order.retain(|&slot| seen.insert(slot));
        // Changed definitions may have left some without use.
        let mut needed: Vec<usize> = Vec::new();
        let mut agenda = order.clone();
        while let Some(slot) = agenda.pop() {
            for &next in self.expansion.references(slot).iter() {
                if seen.insert(next) {
                    agenda.push(next);
                    needed.push(next);
                }
            }
        }
        needed.sort_unstable();
        order.extend(needed);
        for item in &mut expanded {
            if let Item::Ignore(body) = item {
                *body = self.root_body(*body);
            }
        }
        for &slot in &order {
            if self.expansion.slots[slot].definition.params.is_empty() {
                let name = self.names[slot].clone().expect("it is part of the grammar");
                let definition = self.definition(slot, name, FxHashMap::default());
                expanded.push(Item::Definition(definition));
            } else {
                self.check(slot);
            }
        }
        // The order of the uses.
        let mut next = 0;
        while next < self.pending.len() {
            let name = self.pending[next].name.clone();
            let arguments = std::mem::take(&mut self.pending[next].arguments);
            let slot = self.pending[next].slot;
            let template = self.expansion.slots[slot].definition.name.text.clone();
            let definition = self.definition(slot, name, arguments);
            expanded.push(Item::Definition(Definition { template: Some(template), ..definition }));
            next += 1;
        }
        let unused = order
            .iter()
            .filter(|slot| !self.expansion.slots[**slot].definition.params.is_empty() && !self.used.contains(*slot));
        let unused = unused.flat_map(|&slot| self.expansion.slots[slot].parts.iter().map(|&(body, _)| body)).collect();
        (expanded, unused)
    }

    /// A body of the grammar's own text.
    fn root_body(&mut self, body: NodeId) -> NodeId {
        let scope = std::mem::replace(&mut self.empty, Scope { instance: 0, arguments: FxHashMap::default() });
        let body = self.body(body, &scope);
        self.empty = scope;
        body
    }

    /// A definition with its final name and body.
    fn definition(&mut self, slot: usize, name: String, arguments: FxHashMap<String, Argument>) -> Definition {
        let Some(last) = self.expansion.slots[slot].parts.last() else { unreachable!("a slot has a body") };
        let mut scope = Scope { instance: last.1, arguments };
        let source = &self.expansion.slots[slot];
        let name = Name { text: name, span: source.span };
        let mut definition = Definition { name, params: Vec::new(), ..source.definition.clone() };
        let parts = source.parts.clone();
        for attribute in &mut definition.attributes {
            match &mut attribute.value {
                AttributeValue::Stop(node) | AttributeValue::Suffix(node) => *node = self.body(*node, &scope),
                _ => {}
            }
        }
        let bodies: Vec<NodeId> = parts
            .iter()
            .map(|&(body, instance)| {
                scope.instance = instance;
                self.body(body, &scope)
            })
            .collect();
        definition.body = match bodies.as_slice() {
            &[body] => body,
            bodies => {
                let loader = &mut self.expansion.loader;
                let all = bodies.iter().flat_map(|&body| alternatives(&loader.ast.nodes[body].kind, body)).collect();
                let span = loader.ast.nodes[bodies[bodies.len() - 1]].span;
                loader.node(NodeKind::Choice(all), span)
            }
        };
        definition
    }

    /// A body in which names are those of the whole grammar and parameters are their arguments. Nodes in which nothing
    /// changes are shared.
    fn body(&mut self, root: NodeId, scope: &Scope) -> NodeId {
        let mut agenda = vec![Task::Enter(root)];
        let mut done: Vec<NodeId> = Vec::new();
        while let Some(task) = agenda.pop() {
            match task {
                Task::Enter(node) => {
                    let ast = &self.expansion.loader.ast;
                    match &ast.nodes[node].kind {
                        NodeKind::Template(_, arguments) => {
                            agenda.push(Task::Leave(node));
                            // A name that stands alone may be a template's.
                            let inner = arguments.iter().rev().filter(|&&argument| {
                                matches!(ast.nodes[argument].kind, NodeKind::Template(..) | NodeKind::Terminal(_))
                            });
                            agenda.extend(inner.map(|&argument| Task::Enter(argument)));
                        }
                        NodeKind::Choice(_) | NodeKind::Sequence(_) | NodeKind::And(_) => {
                            agenda.push(Task::Leave(node));
                            agenda.extend(ast.children(node).into_iter().rev().map(Task::Enter));
                        }
                        NodeKind::Repeat(inner, ..) | NodeKind::Complement(inner) | NodeKind::Group(inner) => {
                            agenda.extend([Task::Leave(node), Task::Enter(*inner)]);
                        }
                        _ => done.push(self.leaf(node, scope)),
                    }
                }
                Task::Leave(node) => {
                    let rebuilt = self.joined(node, scope, &mut done);
                    done.push(rebuilt);
                }
            }
        }
        done.pop().expect("the root is done")
    }

    fn joined(&mut self, node: NodeId, scope: &Scope, done: &mut Vec<NodeId>) -> NodeId {
        let ast = &self.expansion.loader.ast;
        if let NodeKind::Template(..) = ast.nodes[node].kind {
            return self.template(node, scope, done);
        }
        let children = ast.children(node);
        let parts = done.split_off(done.len() - children.len());
        if parts == children {
            return node;
        }
        let span = ast.nodes[node].span;
        let copied = parts.len();
        let kind = match &ast.nodes[node].kind {
            NodeKind::Choice(old) => {
                let mut new = old.clone();
                new.iter_mut().zip(&parts).for_each(|(alternative, &body)| alternative.body = body);
                NodeKind::Choice(new)
            }
            NodeKind::Sequence(_) => NodeKind::Sequence(parts),
            NodeKind::And(_) => NodeKind::And(parts),
            &NodeKind::Repeat(_, min, max) => NodeKind::Repeat(parts[0], min, max),
            NodeKind::Complement(_) => NodeKind::Complement(parts[0]),
            _ => NodeKind::Group(parts[0]),
        };
        self.expansion.loader.ast.symbols += copied;
        self.expansion.loader.node(kind, span)
    }

    /// A node without children.
    fn leaf(&mut self, node: NodeId, scope: &Scope) -> NodeId {
        let ast = &self.expansion.loader.ast;
        let span = ast.nodes[node].span;
        let (name, param) = match &ast.nodes[node].kind {
            NodeKind::Rule(name, param) => (name.clone(), param.clone()),
            NodeKind::Terminal(name) => (name.clone(), None),
            NodeKind::Broken(parts) => {
                let parts = parts.clone();
                return self.broken(node, &parts, scope);
            }
            _ => return node,
        };
        let (slot, is_argument) = match scope.arguments.get(&name).map(|argument| argument.value) {
            Some(Value::Node(argument)) if param.is_none() => return argument,
            Some(Value::Node(_)) => {
                self.expansion.loader.sink.report(span, TemplateMistake::ArgumentCalled { name, template: false });
                return self.error(span);
            }
            Some(Value::Template(slot)) => (Some(slot), true),
            None => (self.expansion.spaces[scope.instance].get(&name).copied(), false),
        };
        let is_root = scope.instance == 0 && scope.arguments.is_empty();
        match slot {
            // Lowering says so.
            None if is_root => node,
            None => {
                self.undefined(&name, scope.instance, span);
                self.error(span)
            }
            Some(slot) if is_argument || !self.expansion.slots[slot].definition.params.is_empty() => {
                self.wrong_count(name, slot, 0, span);
                self.error(span)
            }
            Some(_) if scope.instance == 0 => node,
            Some(slot) => {
                let name = self.final_name(slot);
                let terminal = matches!(self.expansion.loader.ast.nodes[node].kind, NodeKind::Terminal(_));
                let kind = if terminal { NodeKind::Terminal(name) } else { NodeKind::Rule(name, param) };
                self.expansion.loader.node(kind, span)
            }
        }
    }

    fn final_name(&self, slot: usize) -> String {
        self.names[slot].clone().expect("what a part of the grammar refers to is part of it")
    }

    fn error(&mut self, span: Span) -> NodeId {
        self.expansion.loader.node(NodeKind::Error, span)
    }

    /// What could be read of a body that was given up. Outside of the grammar's own rules its names are not looked at.
    fn broken(&mut self, node: NodeId, parts: &[NodeId], scope: &Scope) -> NodeId {
        let is_root = scope.instance == 0 && scope.arguments.is_empty();
        let ast = &self.expansion.loader.ast;
        let keeps = |part: NodeId| match &ast.nodes[part].kind {
            NodeKind::Rule(name, _) | NodeKind::Terminal(name) => {
                let slot = self.expansion.spaces[scope.instance].get(name);
                is_root && slot.is_none_or(|&slot| self.expansion.slots[slot].definition.params.is_empty())
            }
            _ => true,
        };
        let kept: Vec<NodeId> = parts.iter().copied().filter(|&part| keeps(part)).collect();
        let span = ast.nodes[node].span;
        if kept.len() == parts.len() { node } else { self.expansion.loader.node(NodeKind::Broken(kept), span) }
    }

    /// A template with its arguments: the rule that it becomes.
    fn template(&mut self, node: NodeId, scope: &Scope, done: &mut Vec<NodeId>) -> NodeId {
        let ast = &self.expansion.loader.ast;
        let span = ast.nodes[node].span;
        let NodeKind::Template(name, nodes) = &ast.nodes[node].kind else { unreachable!("only templates come here") };
        let (name, nodes) = (name.clone(), nodes.clone());
        let is_done = |node: NodeId| matches!(ast.nodes[node].kind, NodeKind::Template(..) | NodeKind::Terminal(_));
        let nodes: Vec<(NodeId, bool)> = nodes.into_iter().map(|node| (node, is_done(node))).collect();
        let mut inner = done.split_off(done.len() - nodes.iter().filter(|(_, done)| *done).count()).into_iter();
        let mut arguments: Vec<Argument> = Vec::with_capacity(nodes.len());
        for (node, is_done) in nodes {
            arguments.push(match is_done {
                true => {
                    let node = inner.next().expect("one for each");
                    self.argument(node)
                }
                false => self.plain_argument(node, scope),
            });
        }
        let name_span = Span { end: span.start + name.len() as u32, ..span };
        let slot = match scope.arguments.get(&name).map(|argument| argument.value) {
            Some(Value::Template(slot)) => slot,
            Some(Value::Node(_)) => {
                self.expansion.loader.sink.report(name_span, TemplateMistake::ArgumentCalled { name, template: true });
                return self.error(span);
            }
            None => match self.expansion.spaces[scope.instance].get(&name) {
                Some(&slot) => slot,
                None => {
                    self.undefined(&name, scope.instance, name_span);
                    return self.error(span);
                }
            },
        };
        if self.expansion.slots[slot].definition.params.len() != arguments.len() {
            self.wrong_count(name, slot, arguments.len(), name_span);
            return self.error(span);
        }
        match self.instance(slot, arguments, span) {
            Some(name) => self.expansion.loader.node(NodeKind::Rule(name, None), span),
            None => self.error(span),
        }
    }

    /// An argument that may be a name.
    fn plain_argument(&mut self, node: NodeId, scope: &Scope) -> Argument {
        if let NodeKind::Rule(name, None) = &self.expansion.loader.ast.nodes[node].kind {
            if let Some(argument) = scope.arguments.get(name) {
                return argument.clone();
            }
            if let Some(&slot) = self.expansion.spaces[scope.instance].get(name)
                && !self.expansion.slots[slot].definition.params.is_empty()
            {
                self.used.insert(slot);
                let shown = self.names[slot].clone().unwrap_or_default();
                return Argument { value: Value::Template(slot), key: format!("{{{slot}").into(), shown: shown.into() };
            }
            let node = self.leaf(node, scope);
            return self.argument(node);
        }
        self.argument(node)
    }

    /// An argument whose names are final.
    fn argument(&mut self, node: NodeId) -> Argument {
        let loader = &self.expansion.loader;
        let span = loader.ast.nodes[node].span;
        let (key, shown): (String, String) = match &loader.ast.nodes[node].kind {
            NodeKind::Rule(name, _) | NodeKind::Terminal(name) => (name.clone(), name.clone()),
            NodeKind::Error => ("\"?".to_string(), "?".to_string()),
            _ => {
                let text = &loader.sources.get(span.source).text[span.start as usize..span.end as usize];
                // The same letters may mean something else in another dialect.
                let dialect = if loader.ast.rust.contains(&span.source) { "\"r" } else { "\"p" };
                (format!("{dialect}{text}"), text.to_string())
            }
        };
        Argument { value: Value::Node(node), key: key.into(), shown: shown.into() }
    }

    /// The rule of a template with these arguments. `None` if there are too many, which is then reported.
    fn instance(&mut self, slot: usize, arguments: Vec<Argument>, span: Span) -> Option<String> {
        self.used.insert(slot);
        let key = (slot, arguments.iter().map(|argument| Rc::clone(&argument.key)).collect::<Vec<_>>());
        if let Some(name) = self.instances.get(&key) {
            return Some(name.clone());
        }
        let loader = &mut self.expansion.loader;
        let limits = loader.options.limits;
        let mistake = if self.instances.len() >= limits.template_instances_max {
            Some(LimitMistake::TemplatesTooMany { limit: limits.template_instances_max })
        } else {
            TooMuch::symbols(loader.ast.symbols, limits).map(LimitMistake::TooMuch)
        };
        if let Some(mistake) = mistake {
            if !self.is_over {
                self.is_over = true;
                loader.sink.report(span, mistake);
            }
            return None;
        }
        let template = self.names[slot].clone().unwrap_or_default();
        let shown: Vec<&str> = arguments.iter().map(|argument| &*argument.shown).collect();
        let mut name = format!("{template}{{{}}}", shown.join(","));
        if name.len() > NAME_BYTES_MAX || name.contains('\n') || self.taken.contains(&name) {
            let mut end = NAME_BYTES_MAX.min(name.len());
            while !name.is_char_boundary(end) {
                end -= 1;
            }
            // No other instance has this number.
            name = format!("{}…}}#{}", name[..end].replace('\n', " "), self.instances.len());
        }
        let params = self.expansion.slots[slot].definition.params.iter().map(|param| param.text.clone());
        let arguments = params.zip(arguments).collect();
        self.instances.insert(key, name.clone());
        self.taken.insert(name.clone());
        self.pending.push(Pending { slot, name: name.clone(), arguments });
        Some(name)
    }
}

// Mistakes.
impl Templates<'_, '_, '_, '_> {
    fn undefined(&mut self, name: &str, instance: usize, span: Span) {
        let span = Span { end: span.start + name.len() as u32, ..span };
        if self.expansion.loader.sink.has_error_in(span) {
            return;
        }
        let has_room = self.expansion.loader.sink.has_room();
        let near = if has_room { self.expansion.nearest(instance, name) } else { None };
        self.expansion.loader.sink.report(span, NameMistake::undefined(name, near));
    }

    fn wrong_count(&mut self, name: String, slot: usize, given: usize, span: Span) {
        let slot = &self.expansion.slots[slot];
        let mistake =
            TemplateMistake::Arguments { name, wanted: slot.definition.params.len(), given, defined: slot.span };
        self.expansion.loader.sink.report(span, mistake);
    }

    /// What can be said of a template without arguments.
    fn check(&mut self, slot: usize) {
        let params = self.expansion.slots[slot].definition.params.clone();
        let parts = self.expansion.slots[slot].parts.clone();
        for param in &params {
            let instance = parts[parts.len() - 1].1;
            if let Some(&other) = self.expansion.spaces[instance].get(&param.text) {
                let first = self.expansion.slots[other].span;
                let mistake = TemplateMistake::ParamDefined { name: param.text.clone(), first };
                self.expansion.loader.sink.report(param.span, mistake);
            }
        }
        let mut stack = parts;
        while let Some((node, instance)) = stack.pop() {
            let ast = &self.expansion.loader.ast;
            let span = ast.nodes[node].span;
            let (name, given) = match &ast.nodes[node].kind {
                NodeKind::Rule(name, _) | NodeKind::Terminal(name) => (name.clone(), None),
                NodeKind::Template(name, arguments) => (name.clone(), Some(arguments.len())),
                _ => (String::new(), None),
            };
            stack.extend(ast.children(node).into_iter().rev().map(|child| (child, instance)));
            if name.is_empty() || params.iter().any(|param| param.text == name) {
                continue;
            }
            let name_span = Span { end: span.start + name.len() as u32, ..span };
            match (self.expansion.spaces[instance].get(&name), given) {
                (None, _) => self.undefined(&name, instance, span),
                (Some(&other), Some(given)) if self.expansion.slots[other].definition.params.len() != given => {
                    self.wrong_count(name, other, given, name_span);
                }
                _ => {}
            }
        }
    }
}
