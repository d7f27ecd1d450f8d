//! The syntax of a Lark text, as it is written: nothing is resolved or decoded.
//!
//! Nodes are entries of one table; children are older than their parents, so that dropping it does not recurse.

use larkspur_grammar::{Condition, ConditionId, IndexVec, ParamExpr, SourceId, Span, define_id};
use rustc_hash::FxHashSet;

use crate::lexer::JsonBlock;

define_id! {
    /// A node of a definition's body.
    pub struct NodeId = "n";
}
define_id! {
    /// A grammar of an [`Ast`]: the text's own, or that of a `%lark { … }`.
    pub struct AstGrammarId = "lark";
}

/// A Lark text, and once its imports are followed, those that it imports from.
#[derive(Clone, Default, Debug)]
pub struct Ast {
    /// The text's own grammar is the first one; nested ones are younger than what they stand in.
    pub grammars: IndexVec<AstGrammarId, AstGrammar>,
    /// Bodies' nodes.
    pub nodes: IndexVec<NodeId, Node>,
    /// Conditions of alternatives.
    pub conditions: IndexVec<ConditionId, Condition>,
    /// JSON values, in text order.
    pub json: Vec<JsonBlock>,
    /// The texts that are read as llguidance reads them: JSON's strings and Rust's regexes.
    pub rust: FxHashSet<SourceId>,
    /// Nodes, alternatives and statements so far.
    pub symbols: usize,
    /// Names, in lower case, of statements that could not be read: they may be defined there.
    pub excused: FxHashSet<String>,
}

impl Ast {
    /// The texts in other languages with the words behind their `%`, without `%json` that is no JSON.
    pub fn inner_texts(&self) -> Vec<(&'static str, Span)> {
        let texts = self.nodes.iter().filter_map(|node| match node.kind {
            NodeKind::Json(json) => self.json[json].document.is_some().then_some(("json", self.json[json].span)),
            NodeKind::Inner(language, body) => Some((language, body)),
            _ => None,
        });
        texts.collect()
    }
}

/// The statements of one grammar.
#[derive(Clone, Debug, Default)]
pub struct AstGrammar {
    /// The statements in order.
    pub items: Vec<Item>,
    /// Whether a statement was given up before it was known what it defines.
    pub has_unread: bool,
    /// Bodies that are read for their mistakes only: those of templates that nothing uses.
    pub unused: Vec<NodeId>,
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Item {
    /// `name: …` or `NAME: …`, also behind `%override` or `%extend`.
    Definition(Definition),
    /// `%ignore …`.
    Ignore(NodeId),
    /// `%import …`.
    Import(Import),
    /// `%declare NAME`, one for each name.
    Declare(Name),
    /// `%llguidance {…}`, `%larkspur {…}`.
    Options {
        /// Whether it is `%llguidance`.
        llguidance: bool,
        /// Index in [`Ast::json`].
        json: usize,
    },
}

/// A name and where it stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub text: String,
    /// Its place.
    pub span: Span,
}

/// What a definition does to one of the same name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// There must be none.
    Define,
    /// `%override`: it takes its place.
    Override,
    /// `%extend`: its alternatives go before the other's.
    Extend,
}

/// A rule or a terminal.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Whether it stands behind `%override` or `%extend`.
    pub manner: Manner,
    /// Its name, without `!` and `?`.
    pub name: Name,
    /// Whether it is a terminal.
    pub is_terminal: bool,
    /// `!name`: kept for the dump, no effect on masks.
    pub keep_all: bool,
    /// `?name`: kept for the dump, no effect on masks.
    pub inline: bool,
    /// `name{x, y}`: what a template takes.
    pub params: Vec<Name>,
    /// The template that this is an instance of: only in what `expand` makes.
    pub template: Option<String>,
    /// Whether it was imported: only in what `expand` makes.
    pub imported: bool,
    /// `name::_`.
    pub parametric: bool,
    /// `name.2`.
    pub priority: i32,
    /// `name[…]`.
    pub attributes: Vec<Attribute>,
    /// What it derives.
    pub body: NodeId,
}

impl Definition {
    /// A plain definition.
    pub fn new(name: Name, is_terminal: bool, body: NodeId) -> Self {
        Self {
            manner: Manner::Define,
            name,
            is_terminal,
            keep_all: false,
            inline: false,
            params: Vec::new(),
            template: None,
            imported: false,
            parametric: false,
            priority: 0,
            attributes: Vec::new(),
            body,
        }
    }
}

/// `capture`, `stop="x"`.
#[derive(Clone, PartialEq, Debug)]
pub struct Attribute {
    /// What it is and its value.
    pub value: AttributeValue,
    /// The whole of it.
    pub span: Span,
}

/// A rule attribute with its value.
#[derive(Clone, PartialEq, Debug)]
pub enum AttributeValue {
    /// `capture`, `capture="name"`: a string's node.
    Capture(Option<NodeId>),
    /// `lazy`.
    Lazy,
    /// `stop=…`: a string, regex or terminal.
    Stop(NodeId),
    /// `suffix=…`: a string, regex or terminal.
    Suffix(NodeId),
    /// `stop_capture="name"`: a string's node.
    StopCapture(NodeId),
    /// `max_tokens=N`.
    MaxTokens(u32),
    /// `temperature=T`.
    Temperature(f32),
}

/// `%import .folder.module.name -> alias`, `%import module (A, B)`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Import {
    /// Whether it begins with a dot: it is sought beside the text that imports it.
    pub relative: bool,
    /// Whether it begins with more than one dot, which Lark does not have: it would leave the folder.
    pub above: bool,
    /// Folders and the module.
    pub path: Vec<Name>,
    /// The path as it is written, with the name of a single import.
    pub span: Span,
    /// Names in the module, and here.
    pub names: Vec<(Name, Name)>,
}

impl Import {
    /// The module without its leading dot: `folder.module`.
    pub fn module(&self) -> String {
        self.path.iter().map(|name| name.text.as_str()).collect::<Vec<_>>().join(".")
    }
}

/// A node and where it stands.
#[derive(Clone, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Where it stands.
    pub span: Span,
}

/// What a node is.
#[derive(Clone, PartialEq, Debug)]
pub enum NodeKind {
    /// Alternatives, at least one.
    Choice(Vec<AstAlternative>),
    /// One after the other.
    Sequence(Vec<NodeId>),
    /// Sequences joined by `&`, at least two.
    And(Vec<NodeId>),
    /// `x?`, `x*`, `x+`, `x~n`, `x{m,n}`, `[x]`.
    Repeat(NodeId, u32, Option<u32>),
    /// `~x`.
    Complement(NodeId),
    /// `( … )`, without which the tree would not show an alternative's own place.
    Group(NodeId),
    /// A rule, and what it is passed; few are passed anything.
    Rule(String, Option<Box<ParamExpr>>),
    /// A terminal.
    Terminal(String),
    /// `name{x, "y"}`.
    Template(String, Vec<NodeId>),
    /// A terminal of `common`, an index in its table.
    Common(usize),
    /// What `%declare` makes.
    Declared,
    /// `"…"`, `"…"i`; the span has it as written.
    String,
    /// `/…/flags`; the span has it as written.
    Regex,
    /// `"a".."z"`; nodes of two strings.
    Range(NodeId, NodeId),
    /// `%regex {…}`; index in [`Ast::json`].
    RegexJson(usize),
    /// `%json {…}`; index in [`Ast::json`].
    Json(usize),
    /// `%gbnf { … }` and the like: the word behind the `%`, and where the text stands.
    Inner(&'static str, Span),
    /// `%lark {…}`.
    Lark(AstGrammarId),
    /// `@name`; the span has it as written.
    GrammarRef,
    /// `<…>`; the span has it as written.
    Token,
    /// Something that was already reported.
    Error,
    /// What could be read of a body that was given up: nodes of rules and terminals, whose names are still looked up,
    /// and of nested grammars.
    Broken(Vec<NodeId>),
}

/// One alternative.
#[derive(Clone, PartialEq, Debug)]
pub struct AstAlternative {
    /// What it derives.
    pub body: NodeId,
    /// `-> name`.
    pub alias: Option<Name>,
    /// `%if …`.
    pub condition: Option<(ConditionId, Span)>,
}

impl Ast {
    /// The text's own grammar.
    pub fn root(&self) -> &AstGrammar {
        &self.grammars[AstGrammarId(0)]
    }
    /// Nodes directly below `id`, in order.
    pub fn children(&self, id: NodeId) -> Vec<NodeId> {
        match &self.nodes[id].kind {
            NodeKind::Choice(alternatives) => alternatives.iter().map(|alternative| alternative.body).collect(),
            NodeKind::Sequence(parts) | NodeKind::And(parts) | NodeKind::Template(_, parts) => parts.clone(),
            NodeKind::Repeat(child, ..) | NodeKind::Complement(child) | NodeKind::Group(child) => vec![*child],
            NodeKind::Range(low, high) => vec![*low, *high],
            _ => Vec::new(),
        }
    }
    /// How many nodes are directly below `id`.
    pub fn child_count(&self, id: NodeId) -> usize {
        match &self.nodes[id].kind {
            NodeKind::Choice(alternatives) => alternatives.len(),
            NodeKind::Sequence(parts) | NodeKind::And(parts) | NodeKind::Template(_, parts) => parts.len(),
            NodeKind::Repeat(..) | NodeKind::Complement(_) | NodeKind::Group(_) => 1,
            NodeKind::Range(..) => 2,
            _ => 0,
        }
    }
}
