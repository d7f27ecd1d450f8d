//! Reads texts into one [`Ast`]: the grammar's own and those that it imports.

use std::rc::Rc;

use larkspur_grammar::{IndexVec, SourceId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::LarkOptions;
use crate::ast::{Ast, AstGrammarId, Import, Item, Node, NodeId, NodeKind};
use crate::error::{ImportMistake, LimitMistake, Mistake, Sink, TooMuch, near};
use crate::modules::{built_in, built_in_names};
use crate::{lexer, parser};

/// Where a text's relative imports begin.
#[derive(Clone, Default)]
pub(crate) struct Home {
    root: usize,
    /// Empty, or ends with a slash.
    folder: String,
    /// There is nothing beside a text that is built in.
    built_in: bool,
}

/// A text that was imported.
pub(crate) struct Module {
    pub items: Rc<Vec<Item>>,
    pub home: Home,
    pub has_unread: bool,
    /// Nodes, alternatives and statements.
    symbols: usize,
}

/// What an import names.
pub(crate) enum Target {
    /// The table `common`.
    Common,
    /// An index in [`Loader::modules`].
    Module(usize),
    /// It was reported.
    Failed,
}

pub(crate) struct Loader<'a, 's> {
    pub sources: &'a mut SourceMap,
    pub ast: Ast,
    pub options: &'a LarkOptions<'a>,
    pub sink: &'s mut Sink,
    pub modules: Vec<Module>,
    /// Of `modules`, by root and path; libraries have no root.
    places: FxHashMap<(Option<usize>, String), usize>,
    /// The grammars of imported texts.
    module_grammars: FxHashSet<AstGrammarId>,
    /// Of each grammar. Those of the text itself need none.
    homes: IndexVec<AstGrammarId, Home>,
    /// Imports so far, and the bytes of what they read.
    imports: usize,
    bytes: usize,
    /// A limit was met, and reported: nothing more is read or copied.
    pub is_over: bool,
}

impl<'a, 's> Loader<'a, 's> {
    /// Reads the grammar's own text. `None` if it is over its limit.
    pub fn new(
        sources: &'a mut SourceMap,
        source: SourceId,
        options: &'a LarkOptions<'a>,
        sink: &'s mut Sink,
    ) -> Option<Self> {
        let mut loader = Self {
            sources,
            ast: Ast::default(),
            options,
            sink,
            modules: Vec::new(),
            places: FxHashMap::default(),
            module_grammars: FxHashSet::default(),
            homes: IndexVec::new(),
            imports: 0,
            bytes: 0,
            is_over: false,
        };
        let whole = Span::new(source, 0, 0);
        loader.read(source, Home::default(), whole)?;
        Some(loader)
    }

    /// Lexer and parser. `None` if the texts are over their limit.
    fn read(&mut self, source: SourceId, home: Home, place: Span) -> Option<AstGrammarId> {
        let text = &self.sources.get(source).text;
        let limits = self.options.limits;
        let limit = limits.source_bytes_max.min(u32::MAX as usize);
        let before = if self.ast.grammars.is_empty() { 0 } else { self.bytes };
        if before.saturating_add(text.len()) > limit {
            self.sink.report(place, TooMuch::SourceBytes { limit, used: before.saturating_add(text.len()) });
            return None;
        }
        if !self.ast.grammars.is_empty() {
            self.bytes += text.len();
        }
        // Whoever speaks of our options means our reading.
        let is_ours = text.trim_start().starts_with("%larkspur");
        let face = self.options.llguidance_face && !home.built_in && !is_ours;
        let lexed = lexer::lex(text, source, face, self.options.inner_languages, limits, self.sink);
        if face || lexed.begins_with_llguidance {
            self.ast.rust.insert(source);
        }
        let root = parser::parse(text, source, lexed, limits, &mut self.ast, self.sink);
        // The text itself says where it goes over the limit.
        self.is_over |= TooMuch::symbols(self.ast.symbols, limits).is_some() && self.sink.has_errors();
        while self.homes.len() < self.ast.grammars.len() {
            self.homes.push(home.clone());
        }
        Some(root)
    }

    /// Whether it is the text of an import.
    pub fn is_module(&self, id: AstGrammarId) -> bool {
        self.module_grammars.contains(&id)
    }

    /// Where the grammar's relative imports begin.
    pub fn home(&self, id: AstGrammarId) -> Home {
        self.homes[id].clone()
    }

    pub fn node(&mut self, kind: NodeKind, span: Span) -> NodeId {
        self.ast.symbols += 1;
        self.ast.nodes.push(Node { kind, span })
    }

    /// Counts one more import; false, and reported, if there are too many.
    pub fn may_import(&mut self, depth: usize, module: usize, span: Span) -> bool {
        let limits = self.options.limits;
        self.imports += 1;
        self.ast.symbols += self.modules[module].symbols;
        let mistake = if depth > limits.grammar_depth_max {
            LimitMistake::ImportsTooDeep { limit: limits.grammar_depth_max }
        } else if self.imports > limits.grammar_imports_max {
            LimitMistake::ImportsTooMany { limit: limits.grammar_imports_max }
        } else if let Some(too_much) = TooMuch::symbols(self.ast.symbols, limits) {
            LimitMistake::TooMuch(too_much)
        } else {
            return true;
        };
        self.over(span, mistake);
        false
    }

    /// Counts what a second name for a definition copies; false, and reported, if that is too much.
    pub fn may_copy(&mut self, symbols: usize, span: Span) -> bool {
        self.ast.symbols += symbols;
        let too_much = TooMuch::symbols(self.ast.symbols, self.options.limits);
        too_much.map(|too_much| self.over(span, too_much)).is_none()
    }

    fn over(&mut self, span: Span, mistake: impl Into<Mistake>) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.sink.report(span, mistake);
        }
    }

    /// The module of an import, which is read if it was not before. In Lark's order: search paths, beside the text that
    /// imports it, libraries.
    pub fn resolve(&mut self, import: &Import, home: &Home) -> Target {
        // Past the limits no text is read.
        if self.sink.must_stop() || self.is_over {
            return Target::Failed;
        }
        if import.above {
            self.sink.report(import.span, ImportMistake::Above);
            return Target::Failed;
        }
        let path: Vec<&str> = import.path.iter().map(|name| name.text.as_str()).collect();
        let file = format!("{}.lark", path.join("/"));
        let modules = self.options.modules;
        let mut candidates: Vec<(usize, String)> = Vec::new();
        if let Some(modules) = modules {
            candidates.extend((1..modules.resolver().roots()).map(|root| (root, file.clone())));
            if import.relative && !home.built_in {
                candidates.push((home.root, format!("{}{file}", home.folder)));
            }
        }
        for (root, file) in candidates {
            let key = (Some(root), file);
            if let Some(&module) = self.places.get(&key) {
                return Target::Module(module);
            }
            let resolver = modules.expect("only its roots are candidates").resolver();
            match resolver.load(root, &key.1) {
                Ok(None) => {}
                Ok(Some(found)) => {
                    let folder = key.1.rfind('/').map_or(String::new(), |end| key.1[..=end].to_string());
                    let home = Home { root, folder, built_in: false };
                    return self.module(key, found.name, found.text, home, import);
                }
                Err(reason) => {
                    let mistake = ImportMistake::Unreadable { path: key.1, reason };
                    self.sink.report(import.span, mistake);
                    return Target::Failed;
                }
            }
        }
        match path.as_slice() {
            ["common"] => return Target::Common,
            &[name] if let Some(text) = built_in(name) => {
                let key = (None, name.to_string());
                if let Some(&module) = self.places.get(&key) {
                    return Target::Module(module);
                }
                let home = Home { built_in: true, ..Home::default() };
                return self.module(key, format!("<{name}.lark>"), text.to_string(), home, import);
            }
            _ => {}
        }
        let libraries = || built_in_names().map(|name| (name, None));
        let near = match path.as_slice() {
            [name] if !import.relative => near(name, libraries()),
            _ => None,
        };
        let mistake = ImportMistake::Missing {
            module: import.module(),
            file,
            relative: import.relative,
            resolved: modules.is_some(),
            near,
        };
        self.sink.report(import.span, mistake);
        Target::Failed
    }

    fn module(
        &mut self,
        key: (Option<usize>, String),
        name: String,
        text: String,
        home: Home,
        import: &Import,
    ) -> Target {
        let source = self.sources.add(name, text);
        let before = self.ast.symbols;
        let Some(grammar) = self.read(source, home.clone(), import.span) else { return Target::Failed };
        self.module_grammars.insert(grammar);
        let parsed = &mut self.ast.grammars[grammar];
        let module = Module {
            items: Rc::new(std::mem::take(&mut parsed.items)),
            home,
            has_unread: parsed.has_unread,
            symbols: self.ast.symbols - before,
        };
        self.modules.push(module);
        self.places.insert(key, self.modules.len() - 1);
        Target::Module(self.modules.len() - 1)
    }
}
