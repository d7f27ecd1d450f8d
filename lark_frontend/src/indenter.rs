//! Blocks by indentation: what `%declare _INDENT _DEDENT` and the option `indenter` say, for the linker to do.
//!
//! Names are those of Lark's `PythonIndenter` unless the option says otherwise. A name that was imported with what uses it
//! is known by its end.

use larkspur_grammar::indentation::WIDTH_MAX;
use larkspur_grammar::json::{JsonDocument, JsonId};
use larkspur_grammar::{Indenter, RegexNode, TerminalId, index::Id};

use crate::error::OptionMistake;
use crate::lower::Lowerer;

/// The widest block without an option: twice what Python's own library has.
const WIDTH_DEFAULT: u32 = 80;

/// The option `indenter`.
#[derive(Clone, Debug)]
pub(crate) struct BlockOptions {
    pub newline: String,
    indent: String,
    dedent: String,
    open: Vec<String>,
    close: Vec<String>,
    tab: u32,
    width_max: u32,
}

impl Default for BlockOptions {
    fn default() -> Self {
        let texts = |texts: [&str; 3]| texts.map(str::to_string).to_vec();
        Self {
            newline: "_NEWLINE".to_string(),
            indent: "_INDENT".to_string(),
            dedent: "_DEDENT".to_string(),
            open: texts(["(", "[", "{"]),
            close: texts([")", "]", "}"]),
            tab: 8,
            width_max: WIDTH_DEFAULT,
        }
    }
}

impl BlockOptions {
    /// What the option may be.
    pub const EXPECTED: &str = "an object with some of `newline`, `indent`, `dedent` (names), `brackets` (pairs of strings), \
                                `tab` and `width_max` (numbers)";

    /// Reads the option's value; where it is not as [`EXPECTED`](Self::EXPECTED).
    pub fn read(&mut self, document: &JsonDocument, value: JsonId) -> Result<(), JsonId> {
        let members = document.object(value).ok_or(value)?;
        for member in members {
            let value = member.value;
            let name = || document.string(value).map(str::to_string).ok_or(value);
            let number = |min: u32| {
                let number = document.number(value).and_then(|text| text.parse::<u32>().ok());
                number.filter(|&number| number >= min).ok_or(value)
            };
            match &*member.key {
                "newline" => self.newline = name()?,
                "indent" => self.indent = name()?,
                "dedent" => self.dedent = name()?,
                "tab" => self.tab = number(1)?,
                "width_max" => self.width_max = number(1)?,
                "brackets" => {
                    (self.open, self.close) = (Vec::new(), Vec::new());
                    for &pair in document.array(value).ok_or(value)? {
                        let &[open, close] = document.array(pair).ok_or(pair)? else { return Err(pair) };
                        self.open.push(document.string(open).ok_or(open)?.to_string());
                        self.close.push(document.string(close).ok_or(close)?.to_string());
                    }
                }
                _ => return Err(value),
            }
        }
        Ok(())
    }
}

/// Whether `name` is this one, or what an import made of it.
fn is_named(name: &str, wanted: &str) -> bool {
    let (rest, is_filtered) = (wanted.trim_start_matches('_'), wanted.starts_with('_'));
    name == wanted
        || name.starts_with('_') == is_filtered && name.strip_suffix(rest).is_some_and(|path| path.ends_with("__"))
}

impl Lowerer<'_, '_> {
    /// The terminal of a name; an imported one only if there is no other.
    fn block_terminal(&self, wanted: &str, declared: bool) -> Option<usize> {
        let is_one = |&index: &usize| {
            let terminal = &self.terminals[index];
            terminal.is_declared == declared
                && is_named(terminal.name, wanted)
                && !self.bindings.contains_key(terminal.name)
        };
        let mut found: Vec<usize> = (0..self.terminals.len()).filter(is_one).collect();
        found.sort_by_key(|&index| self.terminals[index].name != wanted);
        found.first().copied()
    }

    /// Looks for the declared terminals that make blocks.
    pub fn find_blocks(&mut self, options: &BlockOptions) {
        let indent = self.block_terminal(&options.indent, true);
        let dedent = self.block_terminal(&options.dedent, true);
        self.indenter = indent.zip(dedent).map(|(indent, dedent)| [indent, dedent]);
    }

    /// Enters the blocks into the grammar, if a rule uses them.
    pub fn blocks(&mut self, options: &BlockOptions) {
        let Some([indent, dedent]) = self.indenter else { return };
        let [indent, dedent] = [indent, dedent].map(TerminalId::from_index);
        let is_used = |id| self.grammar.exprs.iter().any(|expr| expr.kind == larkspur_grammar::ExprKind::Terminal(id));
        if !is_used(indent) && !is_used(dedent) {
            return;
        }
        let Some(newline) = self.block_terminal(&options.newline, false) else {
            let span = self.terminals[indent.index()].span;
            self.sink.report(span, OptionMistake::BlocksWithoutNewline { name: options.newline.clone() });
            return;
        };
        let limit = self.setting.limits.block_width_max.min(WIDTH_MAX);
        if options.width_max > limit {
            let span = self.terminals[indent.index()].span;
            self.sink.report(span, OptionMistake::BlocksTooWide { limit });
            return;
        }
        let are = |texts: &[String]| -> Vec<TerminalId> {
            let terminals = self.grammar.terminals.iter_enumerated();
            let is_one = terminals.filter(|(_, terminal)| match self.grammar.regexes.node(terminal.regex) {
                RegexNode::Literal(bytes) => texts.iter().any(|text| text.as_bytes() == &**bytes),
                _ => false,
            });
            is_one.map(|(id, _)| id).collect()
        };
        self.grammar.indenter = Some(Indenter {
            newline: TerminalId::from_index(newline),
            indent,
            dedent,
            open: are(&options.open),
            close: are(&options.close),
            tab: options.tab,
            width_max: options.width_max,
        });
    }
}
