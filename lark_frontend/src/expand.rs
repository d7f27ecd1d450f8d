//! Imports, `%override`, `%extend`, `%declare` and templates: each grammar of an [`Ast`] becomes one of plain definitions.
//!
//! As in Lark, an import reads the module anew for each text that imports it: an *instance*, with a name space of its
//! own. What of it is used goes into the name space of the importing text, under its alias or as `module__name`, so that
//! `%override` and `%extend` there reach into it. Instances are made parents first and their names entered children
//! first; nothing recurses.
//!
//! Stages: [`load`](crate::load) (texts), this file (names), [`templates`] (bodies).

use std::rc::Rc;

use larkspur_grammar::{Span, index::Id};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{
    AstAlternative, AstGrammarId, Attribute, AttributeValue, Definition, Import, Item, Manner, Name, NodeId, NodeKind,
};
use crate::error::{ImportMistake, NameMistake, near};
use crate::load::{Home, Loader, Target};
use templates::Templates;

mod templates;

/// Makes every grammar of the tree one of plain definitions.
pub(crate) fn expand(loader: &mut Loader) {
    let mut next = 0;
    while next < loader.ast.grammars.len() && !loader.is_over {
        let id = AstGrammarId::from_index(next);
        if !loader.is_module(id) {
            expand_one(loader, id);
        }
        next += 1;
    }
}

fn expand_one(loader: &mut Loader, id: AstGrammarId) {
    let items = Rc::new(std::mem::take(&mut loader.ast.grammars[id].items));
    let root = Instance {
        items: Rc::clone(&items),
        home: loader.home(id),
        module: None,
        parent: 0,
        depth: 0,
        title: String::new(),
        prefix: String::new(),
        has_unread: loader.ast.grammars[id].has_unread,
        names: Vec::new(),
        children: Vec::new(),
        common: Vec::new(),
        failed: Vec::new(),
    };
    let mut expansion = Expansion { loader, instances: vec![root], spaces: Vec::new(), slots: Vec::new() };
    expansion.find_instances();
    if expansion.loader.is_over {
        return;
    }
    expansion.enter_names();
    if expansion.loader.is_over {
        return;
    }
    let templates = Templates::new(&mut expansion);
    let (expanded, unused) = templates.items(&items);
    let grammar = &mut loader.ast.grammars[id];
    (grammar.items, grammar.unused) = (expanded, unused);
}

/// A text, as it is read for one import.
struct Instance {
    items: Rc<Vec<Item>>,
    home: Home,
    /// `None` is the grammar that is expanded.
    module: Option<usize>,
    parent: usize,
    /// How many imports lead here.
    depth: usize,
    /// How messages call it.
    title: String,
    /// What goes before the names of what is not imported by name.
    prefix: String,
    has_unread: bool,
    /// Names that are imported, there and here.
    names: Vec<(Name, Name)>,
    children: Vec<usize>,
    /// Terminals of `common`: index in its table, and the name here.
    common: Vec<(usize, Name)>,
    /// Names whose import failed.
    failed: Vec<Name>,
}

/// What a name stands for; later statements may change it.
struct Slot {
    definition: Definition,
    /// Bodies, whose alternatives follow each other, and the instances in whose name spaces they stand.
    parts: Vec<(NodeId, usize)>,
    /// Where the name was entered.
    span: Span,
    /// Made of a change to nothing, which was reported: a definition behind it takes its place.
    tentative: bool,
    /// The slots that the parts refer to, once they are known.
    references: Option<Rc<Vec<usize>>>,
}

struct Expansion<'e, 'a, 's> {
    loader: &'e mut Loader<'a, 's>,
    instances: Vec<Instance>,
    /// Slots by name, of each instance.
    spaces: Vec<FxHashMap<String, usize>>,
    slots: Vec<Slot>,
}

impl Expansion<'_, '_, '_> {
    /// Loads what is imported, and what that imports.
    fn find_instances(&mut self) {
        let mut next = 0;
        while next < self.instances.len() {
            let items = Rc::clone(&self.instances[next].items);
            for item in items.iter() {
                if let Item::Import(import) = item {
                    self.import(next, import);
                }
            }
            next += 1;
        }
        self.spaces = self.instances.iter().map(|_| FxHashMap::default()).collect();
    }

    fn import(&mut self, importer: usize, import: &Import) {
        let target = self.loader.resolve(import, &self.instances[importer].home);
        let target = match target {
            Target::Module(module) if self.is_cyclic(importer, module, import) => Target::Failed,
            target => target,
        };
        match target {
            Target::Common => {
                for (name, alias) in &import.names {
                    match crate::common::index(&name.text) {
                        Some(index) => self.instances[importer].common.push((index, alias.clone())),
                        None => {
                            let names = crate::common::names().map(|name| (name, None));
                            self.unknown_import("common", name, names.collect());
                            self.loader.ast.excused.insert(name.text.to_ascii_lowercase());
                            self.instances[importer].failed.push(alias.clone());
                        }
                    }
                }
            }
            Target::Module(module) => {
                let prefix = import.path.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join("__");
                let same = |&child: &usize| {
                    self.instances[child].module == Some(module) && self.instances[child].prefix == prefix
                };
                let child = match self.instances[importer].children.iter().copied().find(same) {
                    Some(child) => Some(child),
                    None => self.new_instance(importer, module, prefix, import),
                };
                match child {
                    Some(child) => self.instances[child].names.extend(import.names.iter().cloned()),
                    None => self.import_failed(importer, import),
                }
            }
            Target::Failed => self.import_failed(importer, import),
        }
    }

    fn import_failed(&mut self, importer: usize, import: &Import) {
        let aliases = import.names.iter().map(|(_, alias)| alias.clone());
        self.instances[importer].failed.extend(aliases);
    }

    /// `None` if there are too many, which is then reported.
    fn new_instance(&mut self, parent: usize, module: usize, prefix: String, import: &Import) -> Option<usize> {
        let depth = self.instances[parent].depth + 1;
        if !self.loader.may_import(depth, module, import.span) {
            return None;
        }
        let loaded = &self.loader.modules[module];
        let child = self.instances.len();
        self.instances.push(Instance {
            items: Rc::clone(&loaded.items),
            home: loaded.home.clone(),
            module: Some(module),
            parent,
            depth,
            title: import.module(),
            prefix,
            has_unread: loaded.has_unread,
            names: Vec::new(),
            children: Vec::new(),
            common: Vec::new(),
            failed: Vec::new(),
        });
        self.instances[parent].children.push(child);
        Some(child)
    }

    /// Whether `module` is what `importer` is imported from. As in Lark, that has no end.
    fn is_cyclic(&mut self, importer: usize, module: usize, import: &Import) -> bool {
        let mut cycle = vec![import.module()];
        let mut at = importer;
        while let Some(open) = self.instances[at].module {
            cycle.push(self.instances[at].title.clone());
            if open == module {
                cycle.reverse();
                self.loader.sink.report(import.span, ImportMistake::Cycle { cycle });
                return true;
            }
            at = self.instances[at].parent;
        }
        false
    }

    fn unknown_import(&mut self, module: &str, name: &Name, names: Vec<(&str, Option<Span>)>) {
        let nearest = near(&name.text, names.iter().copied()).map(|near| near.name);
        // What it imports itself is seldom meant.
        let mut has: Vec<String> =
            names.iter().filter(|(name, _)| !name.contains("__")).map(|(name, _)| name.to_string()).collect();
        if module != "common" {
            has.sort_unstable();
        }
        let mistake =
            ImportMistake::Unknown { module: module.to_string(), name: name.text.clone(), near: nearest, has };
        self.loader.sink.report(name.span, mistake);
    }
}

// Names.
impl Expansion<'_, '_, '_> {
    /// Enters the names of all instances, those of children first.
    fn enter_names(&mut self) {
        for at in (0..self.instances.len()).rev() {
            for child in std::mem::take(&mut self.instances[at].children) {
                self.export(child, at);
            }
            for (index, alias) in std::mem::take(&mut self.instances[at].common) {
                let is_again = |slot: &Slot| match self.loader.ast.nodes[slot.parts[0].0].kind {
                    NodeKind::Common(other) => other == index,
                    _ => false,
                };
                if self.spaces[at].get(&alias.text).is_some_and(|&slot| is_again(&self.slots[slot])) {
                    continue;
                }
                self.imported_node(at, alias, true, NodeKind::Common(index));
            }
            for alias in std::mem::take(&mut self.instances[at].failed) {
                let is_terminal = alias.text.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase());
                self.imported_node(at, alias, is_terminal, NodeKind::Error);
            }
            let items = Rc::clone(&self.instances[at].items);
            for item in items.iter() {
                match item {
                    Item::Definition(definition) => self.define(at, definition),
                    Item::Declare(name) => {
                        let body = self.loader.node(NodeKind::Declared, name.span);
                        self.define(at, &Definition::new(name.clone(), true, body));
                    }
                    _ => {}
                }
            }
        }
    }

    fn imported_node(&mut self, at: usize, alias: Name, is_terminal: bool, kind: NodeKind) {
        let body = self.loader.node(kind, alias.span);
        let definition = Definition { imported: true, ..Definition::new(alias, is_terminal, body) };
        self.enter_new(at, definition, vec![(body, at)]);
    }

    /// Enters a name that must be new.
    fn enter_new(&mut self, at: usize, definition: Definition, parts: Vec<(NodeId, usize)>) {
        let (name, span) = (definition.name.text.clone(), definition.name.span);
        self.slots.push(Slot { definition, parts, span, tentative: false, references: None });
        self.enter(at, name, self.slots.len() - 1, span);
    }

    fn enter(&mut self, at: usize, name: String, slot: usize, span: Span) {
        if let Some(&first) = self.spaces[at].get(&name) {
            let mut places = [self.slots[first].span, span];
            // Imports are entered first, wherever they stand.
            if places[0].source == places[1].source {
                places.sort_by_key(|span| span.start);
            }
            self.slots[first].span = places[0];
            self.loader.sink.report(places[1], NameMistake::DefinedTwice { name, first: places[0] });
            return;
        }
        self.spaces[at].insert(name, slot);
    }

    /// A definition, or a change to one.
    fn define(&mut self, at: usize, definition: &Definition) {
        let (name, span) = (&definition.name.text, definition.name.span);
        let found = self.spaces[at].get(name).copied();
        let parts = vec![(definition.body, at)];
        let (extends, slot) = match (definition.manner, found) {
            (Manner::Define, Some(slot)) if self.slots[slot].tentative => (false, slot),
            (Manner::Define, _) => return self.enter_new(at, definition.clone(), parts),
            (manner, None) => {
                let extends = manner == Manner::Extend;
                let near = self.nearest(at, name);
                self.loader.sink.report(span, ImportMistake::NothingToChange { name: name.clone(), extends, near });
                // Its name counts as defined.
                self.enter_new(at, definition.clone(), parts);
                self.slots.last_mut().expect("it was entered").tentative = true;
                return;
            }
            (manner, Some(slot)) => (manner == Manner::Extend, slot),
        };
        if !extends {
            let slot = &mut self.slots[slot];
            let imported = slot.definition.imported;
            (slot.definition, slot.parts, slot.references) = (definition.clone(), parts, None);
            (slot.definition.imported, slot.span, slot.tentative) = (imported, span, false);
            return;
        }
        let first = self.slots[slot].span;
        let base = &self.slots[slot].definition;
        let params = |definition: &Definition| -> Vec<String> {
            definition.params.iter().map(|param| param.text.clone()).collect()
        };
        let is_declared = matches!(self.loader.ast.nodes[self.slots[slot].parts[0].0].kind, NodeKind::Declared);
        let reason = if is_declared {
            Some("it is declared and has no definition")
        } else if params(base) != params(definition) || base.parametric != definition.parametric {
            Some("it has other parameters")
        } else if base.is_terminal != definition.is_terminal {
            Some("one is a rule, the other a terminal")
        } else if !definition.attributes.is_empty() {
            Some("attributes belong to the definition itself")
        } else {
            None
        };
        match reason {
            Some(reason) => {
                let name = name.clone();
                self.loader.sink.report(span, ImportMistake::ExtendUnlike { name, reason, first });
            }
            None => {
                let slot = &mut self.slots[slot];
                slot.parts.insert(0, parts[0]);
                slot.references = None;
            }
        }
    }

    /// Enters what of an instance is used into the name space that imports it.
    fn export(&mut self, child: usize, parent: usize) {
        let names = std::mem::take(&mut self.instances[child].names);
        let title = self.instances[child].title.clone();
        let mut entered: FxHashSet<usize> = FxHashSet::default();
        let mut aliases: FxHashSet<(String, String)> = FxHashSet::default();
        let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
        let mut agenda: Vec<usize> = Vec::new();
        for (name, alias) in names {
            if !aliases.insert((name.text.clone(), alias.text.clone())) {
                continue;
            }
            let Some(&slot) = self.spaces[child].get(&name.text) else {
                if !self.instances[child].has_unread {
                    let mut names: Vec<(String, usize)> =
                        self.spaces[child].iter().map(|(name, &slot)| (name.clone(), slot)).collect();
                    names.sort_by_key(|&(_, slot)| slot);
                    let names = names.iter().map(|(name, _)| (name.as_str(), None)).collect();
                    self.unknown_import(&title, &name, names);
                }
                let is_terminal = alias.text.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase());
                self.imported_node(parent, alias, is_terminal, NodeKind::Error);
                continue;
            };
            if entered.insert(slot) {
                agenda.push(slot);
                self.slots[slot].span = alias.span;
                self.slots[slot].definition.imported = true;
                self.enter(parent, alias.text, slot, alias.span);
            } else {
                // A second name: a definition of its own, so that each may be overridden.
                let size = *sizes.entry(slot).or_insert_with(|| self.size(slot));
                if !self.loader.may_copy(size, alias.span) {
                    let is_terminal = self.slots[slot].definition.is_terminal;
                    self.imported_node(parent, alias, is_terminal, NodeKind::Error);
                    continue;
                }
                let again = &self.slots[slot];
                let (definition, parts) = (again.definition.clone(), again.parts.clone());
                self.slots.push(Slot { definition, parts, span: alias.span, tentative: false, references: None });
                self.enter(parent, alias.text, self.slots.len() - 1, alias.span);
            }
        }
        let mut dependencies: Vec<usize> = Vec::new();
        while let Some(slot) = agenda.pop() {
            for &next in self.references(slot).iter() {
                if entered.insert(next) {
                    agenda.push(next);
                    dependencies.push(next);
                }
            }
        }
        let mut names: FxHashMap<usize, String> = FxHashMap::default();
        for (name, &slot) in &self.spaces[child] {
            names.insert(slot, name.clone());
        }
        dependencies.sort_unstable();
        self.loader.ast.symbols += dependencies.len();
        for slot in dependencies {
            let name = &names[&slot];
            let prefix = &self.instances[child].prefix;
            let mangled = match name.strip_prefix('_') {
                Some(rest) => format!("_{prefix}__{rest}"),
                None => format!("{prefix}__{name}"),
            };
            self.slots[slot].definition.imported = true;
            let span = self.slots[slot].span;
            self.enter(parent, mangled, slot, span);
        }
    }

    /// Nodes of a definition.
    fn size(&self, slot: usize) -> usize {
        let mut stack: Vec<NodeId> = self.slots[slot].parts.iter().map(|&(node, _)| node).collect();
        let mut size = 0;
        while let Some(node) = stack.pop() {
            size += 1;
            stack.extend(self.loader.ast.children(node));
        }
        size
    }

    /// The slots that a definition refers to.
    fn references(&mut self, slot: usize) -> Rc<Vec<usize>> {
        if let Some(references) = &self.slots[slot].references {
            return Rc::clone(references);
        }
        let slot_ref = &self.slots[slot];
        let mut found: Vec<usize> = Vec::new();
        let own = slot_ref.parts[slot_ref.parts.len() - 1].1;
        let nodes = attribute_nodes(&slot_ref.definition.attributes).map(|node| (node, own));
        let mut stack: Vec<(NodeId, usize)> = slot_ref.parts.iter().copied().chain(nodes).collect();
        while let Some((node, scope)) = stack.pop() {
            match &self.loader.ast.nodes[node].kind {
                NodeKind::Rule(name, _) | NodeKind::Terminal(name) | NodeKind::Template(name, _) => {
                    let is_param = slot_ref.definition.params.iter().any(|param| param.text == *name);
                    found.extend(self.spaces[scope].get(name).filter(|_| !is_param));
                }
                _ => {}
            }
            stack.extend(self.loader.ast.children(node).into_iter().map(|child| (child, scope)));
        }
        found.sort_unstable();
        found.dedup();
        let references = Rc::new(found);
        self.slots[slot].references = Some(Rc::clone(&references));
        references
    }

    /// Names alike in a name space, and for terminals in `common`.
    fn nearest(&self, at: usize, name: &str) -> Option<crate::error::Near> {
        let is_terminal = name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase());
        // What an import was to bring and did not is reported there.
        let failed = |slot: &Slot| {
            slot.definition.imported && self.loader.ast.nodes[slot.definition.body].kind == NodeKind::Error
        };
        let own = self.spaces[at].iter().filter(|&(_, &slot)| !failed(&self.slots[slot]));
        let mut own: Vec<(usize, &str)> = own.map(|(name, &slot)| (slot, name.as_str())).collect();
        own.sort_unstable();
        let own = own.into_iter().map(|(slot, name)| (name, Some(self.slots[slot].span)));
        let common = crate::common::names().filter(|_| is_terminal).map(|name| (name, None));
        near(name, own.chain(common))
    }
}

/// Values of attributes that name terminals.
fn attribute_nodes(attributes: &[Attribute]) -> impl Iterator<Item = NodeId> + '_ {
    attributes.iter().filter_map(|attribute| match attribute.value {
        AttributeValue::Stop(node) | AttributeValue::Suffix(node) => Some(node),
        _ => None,
    })
}

/// The alternatives of a body.
fn alternatives(kind: &NodeKind, body: NodeId) -> Vec<AstAlternative> {
    match kind {
        NodeKind::Choice(alternatives) => alternatives.clone(),
        _ => vec![AstAlternative { body, alias: None, condition: None }],
    }
}
