//! Notations of other languages, which many write where Lark is meant, each with what Lark has in its place.

use larkspur_grammar::{Diagnostic, Span};

use crate::lexer::near_line;

/// What was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Foreign {
    /// `“…”`, with what stands between.
    Quotes { inner: String },
    /// `/* … */`.
    BlockComment,
    /// `-- …`.
    DashComment,
    /// `;` at the end of a line.
    Semicolon,
    /// A name whose `:` stands on the next line.
    ColonBelow,
    /// `fragment X: …`, `def x(): …`.
    Keyword { word: String },
    /// `grammar X`.
    Header { word: String },
    /// `import …` without `%`.
    NoPercent { word: String },
    /// `[a-z]+` without slashes.
    Class { class: String },
    /// `\d+` without slashes.
    Escape { regex: String },
    /// `(?:"a" | "b")`.
    GroupMark,
    /// `"x" / "y"`.
    ChoiceSlash,
    /// `t[max_tokens=5]` in a body.
    AttributesAtUse { name: String, inside: String },
    /// `%%`.
    Sections,
    /// `{"a"}`.
    Braces { inner: Option<String> },
    /// `"a", "b"`.
    Comma,
    /// `<start> ::= …`.
    AngleName { name: String },
    /// `.`
    AnyCharacter,
    /// `~2-5`, `{2-5}`, `{2..5}`, with the sign and the counts.
    CountSign { sign: String, braces: bool, min: String, max: String },
    /// `~{2,5}`, with what stands in the braces.
    CountBraces { counts: String },
    /// `"a"-"z"`.
    RangeDash { low: String, high: String },
    /// `NAME.2` in a body.
    PriorityAtUse { name: String, priority: String },
    /// `name:: …`.
    ColonTwice { name: String },
    /// `%import ./lib.x`.
    ImportSlash,
    /// `%import "lib.lark"`, with the module that it would be.
    ImportString { module: String },
    /// `%import module.NAME as NEW`.
    ImportAs { path: String, name: String },
    /// `%json schema.json`, with the file's name.
    JsonFile { file: String },
    /// `!"a"`, `&"a"`.
    Predicate { sign: &'static str },
    /// `EOF`.
    EndOfText { name: String },
    /// `epsilon`.
    EmptyText { name: String },
    /// `r"…"`.
    StringPrefix { prefix: String, inner: String },
    /// `list(x): …`, `list<x>: …`.
    Parameters { name: String },
    /// `name(max_tokens=5): …`.
    AttributesInParentheses { name: String, inside: String },
    /// `common.NUMBER` in a rule or behind `%ignore`.
    Path { module: String, name: String, ignored: bool },
    /// What is imported otherwise than `%import` takes it.
    Import { module: String, names: Vec<String> },
}

/// Words that other languages put before a definition.
pub(crate) const KEYWORDS: &[&str] = &["fragment", "def", "rule", "terminal", "token", "let"];

/// Words that other languages put before a grammar's name.
pub(crate) const HEADERS: &[&str] = &["grammar", "lexer", "parser"];

impl Foreign {
    /// The sentence and the way out.
    pub fn diagnostic(self, span: Span) -> Diagnostic {
        let code = "L010";
        let (message, help) = match self {
            Foreign::Quotes { inner } => {
                ("these are typographic quotes".to_string(), format!("write `\"{inner}\"`"))
            }
            Foreign::BlockComment => {
                ("`/*` begins no comment".to_string(), "a comment begins with `//` or `#` and ends with its line".into())
            }
            Foreign::DashComment => {
                ("`--` begins no comment".to_string(), "a comment begins with `//` or `#` and ends with its line".into())
            }
            Foreign::Semicolon => {
                ("statements end with their line, not with `;`".to_string(), "drop the `;`, here and elsewhere".into())
            }
            Foreign::ColonBelow => (
                "the `:` of a definition stands on the line of its name".to_string(),
                "write `name: …`; the next line goes on with `|`, and no `;` ends it".into(),
            ),
            Foreign::Keyword { word } => {
                (format!("`{word}` begins no definition"), "a rule is `name: …`, a terminal `NAME: …`".into())
            }
            Foreign::Header { word } => {
                (format!("`{word}` begins no statement"), "a Lark text has no name: drop the line".into())
            }
            Foreign::NoPercent { word } => (format!("`{word}` is a directive"), format!("write `%{word} …`")),
            Foreign::Class { class } => (
                "a class of characters stands in a regex".to_string(),
                format!("a regex stands between slashes: `/{class}/`"),
            ),
            Foreign::Escape { regex } => (
                "a backslash stands in regexes and strings only".to_string(),
                format!("a regex stands between slashes: `/{regex}/`"),
            ),
            Foreign::GroupMark => {
                ("`(?` begins a group in regexes only".to_string(), "a group is `(…)`: drop the `?:`".into())
            }
            Foreign::ChoiceSlash => {
                ("alternatives have a `|` between them, not a `/`".to_string(), "write `|`, here and elsewhere".into())
            }
            Foreign::AttributesAtUse { name, inside } => (
                "attributes stand where the rule is defined".to_string(),
                format!("define the rule as `{name}[{inside}]: …`, and write `{name}` here"),
            ),
            Foreign::Sections => (
                "`%%` divides no sections".to_string(),
                "a Lark text has definitions and directives in any order: drop the line".into(),
            ),
            Foreign::Braces { inner } => {
                let inner = inner.unwrap_or_else(|| "…".to_string());
                ("braces are no repetition".to_string(), format!("repetition is `({inner})*`"))
            }
            Foreign::Comma => (
                "parts of a sequence have no `,` between them".to_string(),
                "parts stand side by side: `\"a\" \"b\"`; alternatives have a `|`".into(),
            ),
            Foreign::AngleName { name } => {
                (format!("`<{name}>` is a special token, and not a rule's name"), format!("write `{name}: …`"))
            }
            Foreign::AnyCharacter => (
                "`.` stands in regexes only".to_string(),
                "any character is `/(.|\\n)/`, any text `/(.|\\n)*/`, any line `/.*/`".into(),
            ),
            Foreign::CountSign { sign, braces, min, max } => (
                format!("counts {}have no `{sign}` between them", if braces { "in braces " } else { "" }),
                if braces { format!("write `{{{min},{max}}}`") } else { format!("write `~{min}..{max}`") },
            ),
            Foreign::CountBraces { counts } => {
                let tilde = counts.replace(',', "..");
                let tilde = if tilde.ends_with("..") { String::new() } else { format!("`~{tilde}` or ") };
                ("counts stand behind `~` or in braces, not both".to_string(), format!("write {tilde}`{{{counts}}}`"))
            }
            Foreign::RangeDash { low, high } => (
                "a range of characters has `..` between them".to_string(),
                format!("write `\"{low}\"..\"{high}\"`, or the regex `/[{low}-{high}]/`"),
            ),
            Foreign::PriorityAtUse { name, priority } => (
                "a priority stands where the name is defined".to_string(),
                format!("define it as `{name}.{priority}: …`, and write `{name}` here"),
            ),
            Foreign::ColonTwice { name } => (
                "one `:` is too many".to_string(),
                format!("write `{name}: …`; a rule with a parameter is `{name}::_: …`"),
            ),
            Foreign::ImportSlash => (
                "`%import` takes a path with dots, not with slashes".to_string(),
                "write `%import .lib.x` for the `x` of the file `lib.lark` beside this one, `.folder.lib.x` for one in a folder".into(),
            ),
            Foreign::ImportString { module } => (
                "`%import` takes names, not the name of a file".to_string(),
                format!("write `%import {module}.NUMBER`, or `%import {module} (NUMBER, WS)`"),
            ),
            Foreign::ImportAs { path, name } => (
                "a new name stands behind `->`, not behind `as`".to_string(),
                format!("write `%import {path} -> {name}`"),
            ),
            Foreign::JsonFile { file } => (
                "`%json` takes a schema, not the name of a file".to_string(),
                format!("write the schema here, or `%json {{\"$ref\": \"{file}\"}}` and give the file as a document (`--ref`, `retriever`)"),
            ),
            Foreign::Predicate { sign } => (
                format!("`{sign}` before an item is no look-ahead here"),
                match sign {
                    "!" => "a regex takes look-ahead, `/(?!a)[a-z]+/`; a terminal without some texts is `/[a-z]+/ & ~\"a\"`",
                    _ => "a regex takes look-ahead, `/(?=a)[a-z]+/`; `A & B` is what both terminals match",
                }
                .into(),
            ),
            Foreign::EndOfText { name } => {
                (format!("`{name}` is not defined"), "the text ends where `start` does: drop it".into())
            }
            Foreign::EmptyText { name } => (
                format!("`{name}` is not defined"),
                "the empty text is `\"\"`; what may be left out stands in `[ ]` or before `?`".into(),
            ),
            Foreign::StringPrefix { prefix, inner } => {
                let help = match prefix.contains(['r', 'R']) {
                    true => format!("a regex stands between slashes: `/{}/`", inner.replace('/', "\\/")),
                    false => format!("write `\"{inner}\"`"),
                };
                (format!("Lark has no string prefixes such as `{prefix}`"), help)
            }
            Foreign::Parameters { name } => (
                "parameters stand in braces, attributes in brackets".to_string(),
                format!("write `{name}{{x}}: …` for a template, `{name}[max_tokens=5]: …` for attributes"),
            ),
            Foreign::AttributesInParentheses { name, inside } => {
                ("attributes stand in brackets".to_string(), format!("write `{name}[{inside}]: …`"))
            }
            Foreign::Path { module, name, ignored } => {
                let help = match ignored {
                    true => format!("write `%import {module}.{name}` on a line of its own, then `%ignore {name}`"),
                    false => format!("write `%import {module}.{name}` on a line of its own, then `{name}` here"),
                };
                ("only `%import` takes a path".to_string(), help)
            }
            Foreign::Import { module, names } => {
                let one = names.first().map_or("NUMBER", String::as_str);
                let all = if names.len() > 1 { names.join(", ") } else { "NUMBER, WS".to_string() };
                (
                    "`%import` takes a path, or a module and names in parentheses".to_string(),
                    format!("write `%import {module}.{one}`, or `%import {module} ({all})`"),
                )
            }
        };
        Diagnostic::error(code, span, message).help(help)
    }

    /// A name that nothing defines, and stands in another language for something that Lark has.
    pub fn name(text: &str, name: &str, at: usize) -> Option<Self> {
        let behind = &text[at + name.len()..];
        if let Some(inner) = behind.strip_prefix('"').filter(|_| is_prefix(name)) {
            let inner = inner[..inner.find('"')?].to_string();
            return Some(Foreign::StringPrefix { prefix: name.to_string(), inner });
        }
        let before = text[..at].strip_suffix('[').unwrap_or("");
        let before = without_repetition(before);
        let owner = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
        if ["lazy", "capture"].contains(&name) && owner < before.len() && behind.starts_with([']', ',']) {
            let (name, inside) = (before[owner..].to_string(), name.to_string());
            return Some(Foreign::AttributesAtUse { name, inside });
        }
        match name {
            "EOF" | "eof" | "EOS" | "END_OF_FILE" => Some(Foreign::EndOfText { name: name.to_string() }),
            "epsilon" | "EPSILON" | "empty" | "EMPTY" | "lambda" | "nil" => {
                Some(Foreign::EmptyText { name: name.to_string() })
            }
            _ => None,
        }
    }
}

/// A text without the repetition at its end.
pub(crate) fn without_repetition(text: &str) -> &str {
    let text = text.trim_end_matches(['*', '+', '?']);
    match text.strip_suffix('}').and_then(|open| open.rsplit_once('{')) {
        Some((item, counts)) if counts.chars().all(|c| c.is_ascii_digit() || c == ',') => item,
        _ => text,
    }
}

/// Whether a name may be the prefix of a string in Python.
pub(crate) fn is_prefix(name: &str) -> bool {
    name.len() <= 2 && name.bytes().all(|b| b"rRbBfFuU".contains(&b))
}

/// Whether `word`, right behind the literal that ends at `at`, is likely meant as its flags.
pub(crate) fn is_flag(text: &str, at: usize, word: &str) -> bool {
    let is_behind = text[..at].ends_with(['"', '/']);
    is_behind && (word.len() == 1 || word.bytes().all(|b| b"dgimsuvyxIMS".contains(&b)))
}

/// Where an expression of a regex ends that begins with `\d` or the like and stands outside of one.
pub(crate) fn escapes_end(text: &str, at: usize) -> Option<usize> {
    let line = near_line(text, at);
    let is_class = line[1..].starts_with(['d', 'D', 'w', 'W', 's', 'S', 'b', 'B']);
    // Up to what stands in no such expression.
    let end = line.find([' ', '\t', '\r', '"', '|', ')', '/', '#', ';']).unwrap_or(line.len());
    is_class.then_some(at + end)
}

/// Where classes of characters with their repetitions end that begin at `at` and stand outside of a regex. `None` if they
/// may as well be names in brackets.
pub(crate) fn class_end(text: &str, at: usize) -> Option<usize> {
    let mut end = at;
    let mut is_sure = false;
    // Few stand behind each other.
    for _ in 0..16 {
        let Some((class_end, sure)) = one_class(text, end) else { break };
        end = class_end;
        is_sure |= sure;
        if let Some(rest) = text[end..].strip_prefix('{') {
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(0);
            end += if digits > 0 && rest[digits..].starts_with('}') { digits + 2 } else { 0 };
        }
        end += usize::from(text[end..].starts_with(['*', '+', '?']));
    }
    is_sure.then_some(end)
}

/// The end of one class, and whether it can be nothing else: ranges, escapes and single characters, no words.
fn one_class(text: &str, at: usize) -> Option<(usize, bool)> {
    let line = near_line(text, at).strip_prefix('[')?;
    let mut chars = line.char_indices().peekable();
    let (mut sure, mut ranges, mut letters, mut all_name, mut blank) = (false, 0, 0, true, false);
    loop {
        let (offset, c) = chars.next()?;
        match c {
            ']' if offset > 0 => {
                let end = at + 1 + offset + 1;
                return (sure || !blank).then_some((end, sure || ranges > 0 && !all_name));
            }
            '^' if offset == 0 => sure = true,
            '\\' => {
                let (_, escaped) = chars.next()?;
                sure |= escaped.is_ascii_alphabetic() || "\\]-/\".".contains(escaped);
                (all_name, letters) = (false, 0);
            }
            '[' | ']' | '/' => return None,
            '"' | '|' | '<' | '(' | '{' if !sure => return None,
            ' ' => (blank, all_name, letters) = (true, false, 0),
            _ => {
                let mut rest = chars.clone();
                let is_range = rest.next().is_some_and(|(_, dash)| dash == '-')
                    && rest.next().is_some_and(|(_, high)| high.is_alphanumeric())
                    && c.is_alphanumeric();
                if is_range {
                    all_name &= offset == 0 && c.is_ascii_alphabetic();
                    (ranges, letters) = (ranges + 1, 0);
                    chars.next();
                    chars.next();
                    continue;
                }
                letters = if c.is_alphanumeric() { letters + 1 } else { 0 };
                if letters > 1 {
                    return None;
                }
                all_name = false;
            }
        }
    }
}
