//! Everything that can be wrong with a Lark text: one [`Mistake`] each, and the [`Sink`] that collects them.

use larkspur_grammar::diagnostic::{Describe, plural};
use larkspur_grammar::{Diagnostic, Span};

pub(crate) use larkspur_grammar::diagnostic::{Near, NoStart, TooMuch, near};

use crate::codes::CODES;
use crate::foreign::Foreign;

/// A mistake of the grammar's author, or something that surely is not meant.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Mistake {
    // The lexer's.
    UnexpectedCharacter {
        found: char,
    },
    UnclosedString,
    UnclosedRegex,
    UnclosedToken,
    /// `\"` before what was meant as a string's end.
    EscapedQuote,
    /// `\/` before what was meant as a regex's end.
    EscapedSlash,
    SlashInRegex,
    SlashesTouch {
        comment: bool,
    },
    Foreign(Foreign),
    /// `%ignore` alone.
    IgnoreMissing,
    /// `C: //.*/`: the definition is a comment.
    OnlyComment {
        what: String,
        comment: String,
    },
    TripleQuotes,
    NameNotAscii {
        found: char,
    },
    NameOfMixedCase {
        name: String,
        class: Option<String>,
    },
    FlagsRunIntoName {
        word: String,
    },
    UnknownDirective {
        word: String,
        near: Option<Near>,
    },
    InnerUnclosed {
        language: &'static str,
        inside: Option<Span>,
    },
    JsonMissing,
    // The parser's.
    Expected {
        expected: &'static str,
        found: String,
    },
    DefinedOtherwise {
        sign: &'static str,
    },
    ColonMissing {
        name: String,
    },
    /// In the bracket that was opened there.
    BreakInBrackets {
        opened: Span,
    },
    /// `??x: …`.
    MarkTwice {
        mark: &'static str,
    },
    StatementExpected {
        found: String,
        after_body: bool,
    },
    Unclosed {
        what: &'static str,
        opened: Span,
    },
    /// `||`, `a[]`, `a()`.
    NothingBetween {
        signs: &'static str,
    },
    /// A bracket that closes nothing.
    NotOpen {
        close: &'static str,
        open: &'static str,
    },
    ImportsTooDeep {
        limit: usize,
    },
    RepeatTwice,
    RepeatOrder {
        min: u64,
        max: u64,
    },
    RepeatTooLarge {
        count: String,
        limit: u32,
    },
    NumberExpected {
        expected: &'static str,
        found: String,
    },
    AliasInGroup,
    AliasOnUnderscoreRule {
        rule: String,
    },
    InlineUnderscoreRule {
        rule: String,
    },
    AttributeUnknown {
        name: String,
    },
    AttributeTwice {
        name: String,
        first: Span,
    },
    AttributeValue {
        name: &'static str,
        expected: &'static str,
    },
    AttributeOnTerminal,
    StopAndSuffix {
        first: Span,
    },
    StopCaptureAlone,
    AttributeNeedsTerminal {
        attribute: &'static str,
        rule: String,
        attribute_span: Span,
    },
    AttributeOnParametric {
        attribute: &'static str,
        rule: String,
    },
    StopNullable {
        attribute: &'static str,
    },
    // Templates.
    TemplateArguments {
        name: String,
        wanted: usize,
        given: usize,
        defined: Span,
    },
    TemplateArgument,
    TemplateArgumentCalled {
        name: String,
        template: bool,
    },
    TemplateParamTwice {
        name: String,
        first: Span,
    },
    TemplateParamDefined {
        name: String,
        first: Span,
    },
    // Imports, and what changes a definition.
    ImportMissing {
        module: String,
        file: String,
        relative: bool,
        resolved: bool,
        near: Option<Near>,
    },
    ImportUnreadable {
        path: String,
        reason: String,
    },
    ImportAbove,
    ImportUnknown {
        module: String,
        name: String,
        near: Option<String>,
        has: Vec<String>,
    },
    ImportCycle {
        cycle: Vec<String>,
    },
    NothingToChange {
        name: String,
        extends: bool,
        near: Option<Near>,
    },
    ExtendUnlike {
        name: String,
        reason: &'static str,
        first: Span,
    },
    DeclaredUnbound {
        name: String,
        defined: Span,
    },
    // Names.
    RuleUndefined {
        name: String,
        near: Option<Near>,
    },
    TerminalUndefined {
        name: String,
        near: Option<Near>,
    },
    DefinedTwice {
        name: String,
        first: Span,
    },
    TerminalRecursive {
        cycle: Vec<String>,
        closing: Span,
    },
    NoRules,
    StartMissing(NoStart),
    StartNotRule {
        name: String,
    },
    StartParametric {
        name: String,
    },
    // Terminals.
    RuleInTerminal {
        name: String,
        terminal: bool,
    },
    NotInTerminal {
        what: &'static str,
    },
    AliasInTerminal,
    ConditionInTerminal,
    // Literals.
    EscapeBad {
        escape: String,
        reason: &'static str,
    },
    /// With what is written between the quotes.
    EscapeKept {
        escape: String,
        inner: String,
    },
    RangeBound,
    RangeOrder {
        low: char,
        high: char,
    },
    RangeFlag,
    RegexFlag,
    TokenList {
        reason: String,
    },
    RegexJson {
        reason: String,
    },
    LazyAlone {
        name: String,
        least: bool,
    },
    /// `t[lazy]: /.*/`.
    LazyEndless {
        rule: String,
        is_empty: bool,
    },
    LazyUnclear {
        reason: &'static str,
    },
    LookUnclear,
    LookEmpty,
    /// With the regex as it is meant.
    LookEdges {
        meant: String,
    },
    // Parameters.
    ParameterUnwanted {
        rule: String,
        defined: Span,
    },
    ParameterMissing {
        rule: String,
        defined: Span,
    },
    ParameterUnused {
        rule: String,
    },
    ParameterOutside {
        what: &'static str,
    },
    ParameterFunction {
        name: String,
        condition: bool,
    },
    BitIndex {
        max: u64,
    },
    BitRange {
        start: u64,
        end: u64,
    },
    // Options.
    OptionUnknown {
        key: String,
        near: Option<&'static str>,
    },
    OptionValue {
        key: String,
        expected: &'static str,
    },
    OptionNested {
        key: String,
    },
    BlocksWithoutNewline {
        name: String,
    },
    BlocksTooWide {
        limit: u32,
    },
    OptionsNotObject,
    // Limits.
    TooMuch(TooMuch),
    RegexNodesTooMany {
        limit: usize,
    },
    TemplatesTooMany {
        limit: usize,
    },
    ImportsTooMany {
        limit: usize,
    },
}

/// The diagnostics of one run.
pub(crate) type Sink = larkspur_grammar::diagnostic::Sink<Mistake>;

/// The way out for a character class that stands alone.
fn between_slashes(class: &str) -> String {
    format!("a regex stands between slashes: `/{class}/`")
}

impl From<NoStart> for Mistake {
    fn from(no_start: NoStart) -> Self {
        Mistake::StartMissing(no_start)
    }
}

impl From<TooMuch> for Mistake {
    fn from(too_much: TooMuch) -> Self {
        Mistake::TooMuch(too_much)
    }
}

impl Describe for Mistake {
    const MORE: &'static str = "L099";

    fn diagnostic(self, span: Span) -> Diagnostic {
        let code = self.code();
        debug_assert!(CODES.iter().any(|info| info.code == code), "{code} is in the table of codes");
        let error = |message: &str| Diagnostic::error(code, span, message);
        let say = |message: String| Diagnostic::error(code, span, message);
        let warn = |message: String| Diagnostic::warning(code, span, message);
        match self {
            Mistake::UnexpectedCharacter { found: '\'' } => {
                error("strings are written with double quotes").at("not a quote in Lark").help("write `\"…\"`")
            }
            Mistake::UnexpectedCharacter { found } => {
                say(format!("the character `{}` has no meaning here", found.escape_debug()))
            }
            Mistake::UnclosedString => error("this string is not closed on its line")
                .at("opened here")
                .help("close it with `\"`; a line break in a string is written `\\n`"),
            Mistake::UnclosedRegex => error("this regex is not closed on its line")
                .at("opened here")
                .help("close it with `/`; only a regex with flag `x` may go over several lines"),
            Mistake::EscapedQuote => error("this quote does not end the string: a backslash stands before it")
                .help("`\\\"` is a quote in the string; a backslash is `\"\\\\\"`"),
            Mistake::EscapedSlash => error("this slash does not end the regex: a backslash stands before it")
                .help("`\\/` is a slash in the regex; a backslash is `/\\\\/`"),
            Mistake::SlashInRegex => {
                error("a `/` ends the regex, also inside a class").at("ends it here").help("write `\\/`")
            }
            Mistake::SlashesTouch { comment: true } => warn("this `/` ends the regex, and what follows is a comment".into())
                .help("in a regex write `\\/` for a slash; before a comment write a blank"),
            Mistake::SlashesTouch { comment: false } => {
                warn("this `/` ends the regex, and the next one begins another".into())
                    .help("in a regex write `\\/` for a slash; between two regexes write a blank")
            }
            Mistake::IgnoreMissing => {
                error("nothing stands behind `%ignore`").help("name what to ignore: `%ignore /[ \\t\\n]+/`")
            }
            Mistake::OnlyComment { what, comment } => {
                let inner = comment.trim_start_matches('/').trim_end_matches(|c| "imslux".contains(c));
                let inner = inner.trim_end_matches('/');
                say(format!("{what} is empty: `//` begins a comment"))
                    .help(format!("in a regex write `\\/` for a slash: `/\\/\\/{}/`", inner.replace('/', "\\/")))
            }
            Mistake::Foreign(foreign) => foreign.diagnostic(code, span),
            Mistake::UnclosedToken => error("this special token is not closed")
                .at("opened here")
                .help("write `<name>` without blanks, or `<[ids]>`; the string is `\"<\"`"),
            Mistake::TripleQuotes => {
                error("Lark has no strings with three quotes").help("write `\"…\"`, with `\\n` for line breaks")
            }
            Mistake::NameNotAscii { found } => {
                say(format!("names are of ASCII letters, digits, `_` and `-`; `{found}` is none"))
            }
            Mistake::NameOfMixedCase { name, class } => {
                let diagnostic = say(format!("the name `{name}` is neither a rule's nor a terminal's"))
                    .at("rules are written in lower case, terminals in upper case, beginning with a letter");
                if let Some(class) = class {
                    return diagnostic.help(between_slashes(&class));
                }
                match (name.to_ascii_lowercase(), name.to_ascii_uppercase()) {
                    (lower, upper) if lower == upper => diagnostic,
                    (lower, upper) => diagnostic.help(format!("write `{lower}` for a rule, `{upper}` for a terminal")),
                }
            }
            Mistake::FlagsRunIntoName { word } => {
                let diagnostic = say(format!("`{word}` is not a flag, and not apart from the literal"));
                diagnostic.help(match word.as_str() {
                    "a" => "for the ASCII meaning of `\\w`, `\\d` and the like write `(?a:…)` within the regex",
                    _ => "put a blank before a name; flags are `i` for strings and `imsux` for regexes",
                })
            }
            Mistake::UnknownDirective { word, near } => {
                say(format!("there is no directive `{word}`")).did_you_mean(near)
            }
            Mistake::InnerUnclosed { language, inside } => {
                let diagnostic = say(format!("the `{{` of this `%{language}` is not closed"));
                match inside {
                    Some(inside) => diagnostic.also(inside, "what begins here goes on to the end of the text"),
                    None => diagnostic.help("a brace in a comment does not count: put `}` on a line of its own"),
                }
            }
            Mistake::JsonMissing => error("a JSON value is expected here").help("write `{ … }`"),
            Mistake::Expected { expected, found } => say(format!("expected {expected}, found {found}")),
            Mistake::ColonMissing { name } => say(format!("a `:` is missing behind `{name}`"))
                .help("a definition is `name: …`; a rule goes on in the next line only if that begins with `|`"),
            Mistake::BreakInBrackets { opened } => error("a line break stands inside of brackets")
                .also(opened, "opened here")
                .help("write it on one line, end the line with a backslash, or begin the next one with `|` for an alternative"),
            Mistake::MarkTwice { mark } => say(format!("`{mark}` stands twice before this rule")).help("drop one of them"),
            Mistake::DefinedOtherwise { sign } => say(format!("a definition is written with `:`, not with `{sign}`"))
                .help(match sign {
                    "<-" => "a rule is `name: …`; PEGs write `<-`",
                    "=>" | "->" => "a rule is `name: …`; `->` names an alternative, behind it",
                    _ => "a rule is `name: …`; GBNF and KBNF write `::=`",
                }),
            Mistake::StatementExpected { found, after_body } => {
                let diagnostic = say(format!("a definition or a directive is expected here, found {found}"));
                if after_body {
                    diagnostic.help(
                        "a rule goes on in the next line only if that begins with `|`, or if this one ends with a backslash",
                    )
                } else {
                    diagnostic.help("statements look like `name: …`, `NAME: …`, `%ignore …`")
                }
            }
            Mistake::Unclosed { what, opened } => {
                say(format!("`{what}` is not closed here")).also(opened, "opened here")
            }
            Mistake::NothingBetween { signs } => warn(format!("`{signs}` is the empty text here")).help(match signs {
                "||" => "one `|` stands between alternatives; for the empty text write `\"\"`",
                _ => "drop it; for the empty text write `\"\"`",
            }),
            Mistake::NotOpen { close, open } => say(format!("there is no `{open}` that this `{close}` could close"))
                .help(format!("drop it, or open the group with `{open}`; the character is `\"{close}\"`")),
            Mistake::ImportsTooDeep { limit } => say(format!("more than {limit} texts import each other in a row"))
                .help("the limit is `grammar_depth_max`"),
            Mistake::RepeatTwice => {
                error("an item takes one repetition").help("put the item and its first repetition in parentheses")
            }
            Mistake::RepeatOrder { min, max } => say(format!("this repetition wants at least {min} and at most {max}"))
                .help(format!("the smaller count stands first: `~{max}..{min}` or `{{{max},{min}}}`")),
            Mistake::RepeatTooLarge { count, limit } => {
                say(format!("the count {count} is over the limit of {limit}")).help("the limit is `repeat_max`")
            }
            Mistake::NumberExpected { expected, found } => {
                let diagnostic = say(format!("expected {expected}, found {found}"));
                match expected {
                    "a count" => diagnostic.help("counts are written `~3`, `~2..5`, `{3}`, `{2,5}` or `{2,}`"),
                    _ => diagnostic,
                }
            }
            Mistake::AliasInGroup => error("an alias stands only at the end of a rule's own alternative")
                .at("inside a group")
                .help("give the group a rule of its own"),
            Mistake::AliasOnUnderscoreRule { rule } => {
                warn(format!("the alias has no effect: `{rule}` begins with `_`"))
                    .help("Lark rejects this; drop the alias or the underscore")
            }
            Mistake::InlineUnderscoreRule { rule } => {
                say(format!("`{rule}` cannot be marked with `?`, since it begins with `_`")).help("drop one of the two")
            }
            Mistake::AttributeUnknown { name } => {
                let names = crate::attributes::NAMES.iter().map(|&name| (name, None));
                let near = near(&name, names);
                say(format!("there is no rule attribute `{name}`")).did_you_mean(near)
            }
            Mistake::AttributeTwice { name, first } => {
                say(format!("attribute `{name}` is given twice")).also(first, "first here")
            }
            Mistake::AttributeValue { name, expected } => say(format!("`{name}` takes {expected}")),
            Mistake::AttributeOnTerminal => error("attributes belong to rules, not to terminals")
                .help("make a rule of the terminal and put them there"),
            Mistake::StopAndSuffix { first } => {
                error("a rule has one of `stop` and `suffix`").also(first, "the other is here")
            }
            Mistake::StopCaptureAlone => {
                error("`stop_capture` has nothing to capture").help("add `stop=…` or `suffix=…`")
            }
            Mistake::AttributeNeedsTerminal { attribute, rule, attribute_span } => {
                say(format!("`{attribute}` is for rules that are one terminal, and `{rule}` is not"))
                    .at("not part of a terminal")
                    .also(attribute_span, "asked for here")
            }
            Mistake::AttributeOnParametric { attribute, rule } => {
                say(format!("`{attribute}` is not possible on the parametric rule `{rule}`"))
                    .help("put it on a rule without parameter that this one calls")
            }
            Mistake::StopNullable { attribute } => say(format!("`{attribute}` matches the empty text")).help(
                "it must match at least one character; `stop=\"\"`, for a text up to the end, is the special case without text",
            ),
            Mistake::TemplateArguments { name, wanted: 0, defined, .. } => {
                say(format!("rule `{name}` is not a template"))
                    .also(defined, "defined here")
                    .help(format!("write `{name}` without arguments, or define it as `{name}{{x}}: …`"))
            }
            Mistake::TemplateArguments { name, wanted, given, defined } => {
                let given = if given == 0 { "none".to_string() } else { given.to_string() };
                say(format!("template `{name}` takes {}, and is given {given}", plural(wanted, "argument")))
                    .also(defined, "defined here")
            }
            Mistake::TemplateArgument => error("an argument is a name, a literal, a range, a token or a template")
                .help("give it a rule of its own, and that rule's name as the argument"),
            Mistake::TemplateArgumentCalled { name, template: true } => {
                say(format!("`{name}` is given arguments, but stands for no template here"))
                    .help("pass a template's name without braces, as in `apply{list}`")
            }
            Mistake::TemplateArgumentCalled { name, template: false } => {
                say(format!("`{name}` is a parameter of a template and takes none itself"))
                    .help("call the parametric rule in a rule of its own")
            }
            Mistake::TemplateParamTwice { name, first } => {
                say(format!("parameter `{name}` is listed twice")).also(first, "first here")
            }
            Mistake::TemplateParamDefined { name, first } => {
                say(format!("parameter `{name}` is also the name of a rule"))
                    .also(first, "defined here")
                    .help("give one of them another name")
            }
            Mistake::ImportMissing { module, file, relative, resolved, near } => {
                let diagnostic = say(format!("there is no `{module}` to import from"));
                if near.is_some() {
                    diagnostic.did_you_mean(near)
                } else if !resolved {
                    diagnostic.help(format!(
                        "built in are {}; for other texts the caller gives `modules`",
                        crate::modules::names()
                    ))
                } else if relative {
                    diagnostic.help(format!("it is sought as `{file}` beside the text that imports it"))
                } else {
                    diagnostic.help(format!(
                        "write `.{module}` for the file `{file}` beside this one; built in are {}",
                        crate::modules::names()
                    ))
                }
            }
            Mistake::ImportUnreadable { path, reason } => say(format!("`{path}` cannot be read: {reason}")),
            Mistake::ImportAbove => error("an import cannot leave the folder")
                .help("one dot is the folder of this text; move the file there or give its folder as a search path"),
            Mistake::NothingToChange { name, extends, near } => {
                let verb = if extends { "extend" } else { "override" };
                let diagnostic = say(format!("there is no `{name}` to {verb} up to here"));
                match near {
                    Some(Near { name: near, defined: None }) => {
                        diagnostic.help(format!("`{near}` needs `%import common.{near}`"))
                    }
                    None => diagnostic.help("a change stands behind the definition or import that it changes"),
                    near => diagnostic.did_you_mean(near),
                }
            }
            Mistake::ExtendUnlike { name, reason, first } => {
                say(format!("`{name}` cannot be extended so: {reason}")).also(first, "first defined here")
            }
            Mistake::ImportCycle { cycle } => say(format!("this import goes in a circle: {}", cycle.join(" -> ")))
                .help("move what both need into a file that imports neither"),
            Mistake::ImportUnknown { module, name, near, has } => {
                let diagnostic = say(format!("`{module}` has no `{name}`"));
                match near {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None if has.is_empty() => diagnostic,
                    None if has.len() > 30 => diagnostic.help(format!("it has {}, …", has[..30].join(", "))),
                    None => diagnostic.help(format!("it has {}", has.join(", "))),
                }
            }
            Mistake::DeclaredUnbound { name, defined } => {
                let diagnostic = say(format!("`{name}` is declared, and nothing says which token it is"))
                    .also(defined, "declared here");
                // One's own `_INDENT` took the place of the library's.
                let imported = name.strip_prefix('_').and_then(|name| name.split_once("__"));
                if let Some((module, "INDENT" | "DEDENT")) = imported {
                    return diagnostic.help(format!(
                        "blocks have one `_INDENT` and one `_DEDENT`: in place of `%declare` write `%import {module} (_INDENT, _DEDENT)`"
                    ));
                }
                diagnostic.help(format!(
                        "bind it: `%larkspur {{ \"declare\": {{ \"{name}\": \"<token>\" }} }}`, or define it"
                    ))
            }
            Mistake::RuleUndefined { name, near } => {
                say(format!("rule `{name}` is used but never defined")).at("not defined").did_you_mean(near)
            }
            Mistake::TerminalUndefined { name, near } => {
                let diagnostic = say(format!("terminal `{name}` is used but never defined")).at("not defined");
                match near {
                    Some(Near { name: near, defined: None }) if near == name => {
                        diagnostic.help(format!("add `%import common.{name}`"))
                    }
                    Some(Near { name: near, defined: None }) => {
                        diagnostic.help(format!("did you mean `{near}`? It needs `%import common.{near}`"))
                    }
                    near => diagnostic.did_you_mean(near),
                }
            }
            Mistake::DefinedTwice { name, first } => {
                say(format!("`{name}` is defined twice")).also(first, "first defined here")
            }
            Mistake::TerminalRecursive { cycle, closing } => {
                say(format!("terminal `{}` refers to itself: {}", cycle[0], cycle.join(" -> ")))
                    .at("terminals are regexes and cannot be recursive")
                    .also(closing, "the circle closes here")
                    .help("write it as a rule, in lower case")
            }
            Mistake::NoRules => error("the grammar defines no rules").help("write `start: …`"),
            Mistake::StartMissing(no_start) => no_start.diagnostic(code, span, "rule"),
            Mistake::StartNotRule { name } => say(format!("`{name}` is a terminal; a grammar starts with a rule"))
                .help(format!("write `start: {name}`")),
            Mistake::StartParametric { name } => {
                say(format!("the start rule `{name}` takes a parameter, and nobody gives it one"))
                    .help(format!("add a start rule that calls `{name}::0`"))
            }
            Mistake::RuleInTerminal { name, terminal: true } => {
                say(format!("`{name}` is a rule and cannot stand in a terminal"))
                    .help("terminals are regexes: write this definition, or that one, in the other case")
            }
            Mistake::RuleInTerminal { name, terminal: false } => {
                say(format!("`{name}` is a rule; `&` and `~` are for terminals"))
                    .help("write it in upper case, as a terminal")
            }
            Mistake::NotInTerminal { what } => {
                say(format!("{what} cannot stand in a terminal")).help("use it in a rule, in lower case")
            }
            Mistake::AliasInTerminal => {
                error("terminals have no aliases").help("drop it; what is skipped is named by `%ignore NAME`")
            }
            Mistake::ConditionInTerminal => error("`%if` cannot stand in a terminal"),
            Mistake::EscapeBad { escape, reason } => say(format!("`{escape}` is not an escape: {reason}")),
            Mistake::EscapeKept { escape, inner } => {
                let bare = escape.chars().nth(1).unwrap_or('\\');
                let help = match bare {
                    'd' | 'w' | 's' | 'D' | 'W' | 'S' | 'B' => {
                        format!("{}; or write `\\\\{bare}` if this is meant", between_slashes(&inner.replace('/', "\\/")))
                    }
                    'b' if inner.len() > 2 && inner.contains(['[', '+', '*']) || inner.len() > 2 && inner.ends_with("\\b") => {
                        between_slashes(&inner.replace('/', "\\/"))
                    }
                    'b' => "write `\\x08` for a backspace, or `\\\\b` if this is meant".to_string(),
                    'v' => "write `\\x0b` for a vertical tab, or `\\\\v` if this is meant".to_string(),
                    '0' => "write `\\x00` for the character 0, or `\\\\0` if this is meant".to_string(),
                    _ => format!("write `{bare}`, or `\\\\{bare}` if this is meant"),
                };
                warn(format!("`{escape}` stands for a backslash and `{bare}`, as in Lark")).help(help)
            }
            Mistake::RangeBound => error("each side of a range is one character"),
            Mistake::RangeOrder { low, high } => {
                say(format!("the range from `{low}` to `{high}` is the wrong way round"))
            }
            Mistake::RangeFlag => {
                error("a range takes no flags").help("write both ranges: `\"a\"..\"z\" | \"A\"..\"Z\"`")
            }
            Mistake::RegexFlag => error("flag `l` depends on the machine's language and is not supported"),
            Mistake::TokenList { reason } => {
                say(reason).help("write `<[1]>`, `<[1-9,12]>`, `<[^1-9]>`, `<[^<name>]>` or `<[*]>`")
            }
            Mistake::RegexJson { reason } => {
                let is_form = ["there is no field `substring", "`type` is", "`%regex` takes"].iter().any(|start| reason.starts_with(start));
                let diagnostic = say(reason);
                match is_form {
                    true => diagnostic.help("write `%regex {\"substring_words\": \"one two\"}` or `%regex {\"type\": \"integer\", \"minimum\": 1}`"),
                    false => diagnostic,
                }
            }
            Mistake::LazyAlone { name, least } => match least {
                true => warn(format!("`{name}` takes as little as it can here: its lazy quantifier is its end")),
                false => warn(format!("`{name}` takes as much as it can here, in Lark as little as it can")),
            }
            .help("put what ends it behind it, in the same terminal"),
            Mistake::LazyEndless { rule, is_empty } => match is_empty {
                true => warn(format!("`{rule}` is always empty: `lazy` ends it where it first matches, at its start")),
                false => warn(format!("`{rule}` never repeats more than it must: `lazy` ends it where it first matches")),
            }
            .help("say what ends it, with `stop=…` or `suffix=…` in place of `lazy`, or at the end of the terminal"),
            Mistake::LazyUnclear { reason } => {
                say(format!("where the lazy quantifier at the end of this ends is not clear: {reason}"))
                    .help("write both as one regex, or say what may be repeated: `/[^\"]*/` for `/.*?/`")
            }
            Mistake::LookUnclear => say("look-around at an edge of this sees beyond it, where it must be decided".to_string())
                .help("only a terminal's edges may be open so, without `&`, `~`, repetition, `lazy`, `stop` and `suffix`"),
            Mistake::LookEmpty => say("look-around in this sees beyond it where it may be empty".to_string())
                .help("let the terminal match at least one character, and let the rules say where it is left out"),
            Mistake::LookEdges { meant } => {
                say("`^` and `$` are the edges of the whole text, and this may be empty there".to_string())
                    .help(format!("drop them, since a terminal matches as a whole: `{meant}`"))
            }
            Mistake::ParameterUnwanted { rule, defined } => say(format!("rule `{rule}` takes no parameter"))
                .also(defined, "defined here")
                .help(format!("define it as `{rule}::_`, or drop the `::…`")),
            Mistake::ParameterMissing { rule, defined } => say(format!("rule `{rule}` needs a parameter"))
                .also(defined, "defined here")
                .help(format!("write `{rule}::0` or `{rule}::_`")),
            Mistake::ParameterUnused { rule } => warn(format!("rule `{rule}` does not use its parameter"))
                .help("use `::_` or `%if` in it, or drop the `::_`"),
            Mistake::ParameterOutside { what } => {
                say(format!("{what} needs a parameter, and this rule has none")).help("define the rule as `name::_`")
            }
            Mistake::ParameterFunction { name, condition } => {
                let (what, names) = if condition {
                    ("condition", crate::params::CONDITIONS)
                } else {
                    ("parameter function", crate::params::FUNCTIONS)
                };
                let near = near(&name, names.iter().map(|&name| (name, None)));
                let listed = near.is_none();
                let diagnostic = say(format!("there is no {what} `{name}`")).did_you_mean(near);
                if listed { diagnostic.help(format!("there are {}", names.join(", "))) } else { diagnostic }
            }
            Mistake::BitIndex { max } => say(format!("a bit's number is at most {max}")),
            Mistake::BitRange { start, end } => {
                say(format!("the bits {start} to {end} are none: the end is exclusive"))
            }
            Mistake::OptionUnknown { key, near } => {
                let diagnostic = warn(format!("there is no option `{key}`; it has no effect"));
                match near {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic,
                }
            }
            Mistake::OptionValue { key, expected } => say(format!("option `{key}` takes {expected}")),
            Mistake::BlocksTooWide { limit } => say(format!("blocks are to be wider than {limit}, the limit `block_width_max`"))
                .help("make `width_max` of the option `indenter` smaller"),
            Mistake::BlocksWithoutNewline { name } => say(format!("blocks need the line break `{name}`, which is not defined"))
                .help("define it with the blanks of the next line, `_NEWLINE: /(\\r?\\n[\\t ]*)+/`, or name it with the option `indenter`"),
            Mistake::OptionNested { key } => {
                warn(format!("option `{key}` has no effect in a nested grammar")).help("set it in the outermost one")
            }
            Mistake::OptionsNotObject => error("options are a JSON object").help("write `{ \"name\": value }`"),
            Mistake::TooMuch(too_much) => too_much.diagnostic(code, span),
            Mistake::RegexNodesTooMany { limit } => {
                say(format!("the terminals have more than {}, or copy each other too often", plural(limit, "node")))
                    .help("the limit is `regex_nodes_max`")
            }
            Mistake::TemplatesTooMany { limit } => say(format!(
                "the templates have more than {limit} different lists of arguments"
            ))
            .at("one more here")
            .help("the limit is `template_instances_max`; a template that gives itself longer arguments has no end"),
            Mistake::ImportsTooMany { limit } => say(format!("the grammar has more than {}", plural(limit, "import")))
                .help("the limit is `grammar_imports_max`; what several texts import is read for each of them"),
        }
    }
}

impl Mistake {
    /// A name that nothing defines.
    pub(crate) fn undefined(name: &str, near: Option<Near>) -> Self {
        let name = name.to_string();
        match name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase()) {
            true => Mistake::TerminalUndefined { name, near },
            false => Mistake::RuleUndefined { name, near },
        }
    }
    /// The mistake's code; [`CODES`] explains each.
    fn code(&self) -> &'static str {
        match self {
            Mistake::UnexpectedCharacter { .. } => "L001",
            Mistake::UnclosedString | Mistake::EscapedQuote => "L002",
            Mistake::UnclosedRegex | Mistake::EscapedSlash => "L003",
            Mistake::SlashInRegex | Mistake::SlashesTouch { .. } => "L019",
            Mistake::Foreign(_) | Mistake::IgnoreMissing | Mistake::OnlyComment { .. } => "L010",
            Mistake::UnclosedToken => "L004",
            Mistake::TripleQuotes => "L005",
            Mistake::NameNotAscii { .. } | Mistake::NameOfMixedCase { .. } => "L006",
            Mistake::FlagsRunIntoName { .. } => "L007",
            Mistake::UnknownDirective { .. } => "L008",
            Mistake::JsonMissing => "L009",
            Mistake::Expected { .. }
            | Mistake::DefinedOtherwise { .. }
            | Mistake::ColonMissing { .. }
            | Mistake::MarkTwice { .. } => "L010",
            Mistake::StatementExpected { .. } | Mistake::BreakInBrackets { .. } => "L011",
            Mistake::Unclosed { .. } | Mistake::InnerUnclosed { .. } | Mistake::NotOpen { .. } => "L012",
            Mistake::RepeatTwice => "L013",
            Mistake::RepeatOrder { .. } => "L014",
            Mistake::NumberExpected { .. } => "L015",
            Mistake::AliasInGroup => "L016",
            Mistake::AliasOnUnderscoreRule { .. } => "L017",
            Mistake::InlineUnderscoreRule { .. } => "L018",
            Mistake::AttributeUnknown { .. } => "L020",
            Mistake::AttributeTwice { .. } => "L021",
            Mistake::AttributeValue { .. } => "L022",
            Mistake::AttributeOnTerminal => "L023",
            Mistake::StopAndSuffix { .. } => "L024",
            Mistake::StopCaptureAlone => "L025",
            Mistake::AttributeNeedsTerminal { .. } => "L026",
            Mistake::AttributeOnParametric { .. } => "L027",
            Mistake::StopNullable { .. } => "L028",
            Mistake::NothingBetween { .. } => "L029",
            Mistake::TemplateArguments { .. } => "L030",
            Mistake::ImportMissing { .. } | Mistake::ImportUnreadable { .. } | Mistake::ImportAbove => "L031",
            Mistake::NothingToChange { extends: false, .. } => "L032",
            Mistake::NothingToChange { extends: true, .. } | Mistake::ExtendUnlike { .. } => "L033",
            Mistake::DeclaredUnbound { .. } => "L034",
            Mistake::TemplateParamTwice { .. } | Mistake::TemplateParamDefined { .. } => "L035",
            Mistake::TemplateArgument | Mistake::TemplateArgumentCalled { .. } => "L036",
            Mistake::ImportCycle { .. } => "L037",
            Mistake::RuleUndefined { .. } => "L040",
            Mistake::TerminalUndefined { .. } => "L041",
            Mistake::DefinedTwice { .. } => "L042",
            Mistake::ImportUnknown { .. } => "L043",
            Mistake::TerminalRecursive { .. } => "L044",
            Mistake::NoRules | Mistake::StartMissing(_) => "L045",
            Mistake::StartNotRule { .. } => "L046",
            Mistake::StartParametric { .. } => "L047",
            Mistake::RuleInTerminal { .. } => "L050",
            Mistake::NotInTerminal { .. } => "L051",
            Mistake::AliasInTerminal => "L052",
            Mistake::ConditionInTerminal => "L053",
            Mistake::EscapeBad { .. } => "L060",
            Mistake::EscapeKept { .. } => "L061",
            Mistake::RangeBound => "L062",
            Mistake::RangeOrder { .. } => "L063",
            Mistake::RangeFlag => "L064",
            Mistake::RegexFlag => "L065",
            Mistake::TokenList { .. } => "L066",
            Mistake::RegexJson { .. } => "L067",
            Mistake::LazyAlone { .. } | Mistake::LazyEndless { .. } => "L068",
            Mistake::LazyUnclear { .. } => "L069",
            Mistake::LookUnclear | Mistake::LookEmpty | Mistake::LookEdges { .. } => "L054",
            Mistake::ParameterUnwanted { .. } => "L070",
            Mistake::ParameterMissing { .. } => "L071",
            Mistake::ParameterUnused { .. } => "L072",
            Mistake::ParameterOutside { .. } => "L073",
            Mistake::ParameterFunction { .. } => "L074",
            Mistake::BitIndex { .. } | Mistake::BitRange { .. } => "L075",
            Mistake::OptionUnknown { .. } => "L080",
            Mistake::OptionValue { .. } => "L081",
            Mistake::OptionNested { .. } => "L082",
            Mistake::OptionsNotObject => "L083",
            Mistake::BlocksWithoutNewline { .. } => "L084",
            Mistake::BlocksTooWide { .. } => "L085",
            Mistake::TooMuch(TooMuch::SourceBytes { .. }) => "L090",
            Mistake::TooMuch(TooMuch::Symbols { .. }) => "L091",
            Mistake::TooMuch(TooMuch::RegexNodes { .. }) | Mistake::RegexNodesTooMany { .. } => "L092",
            Mistake::TooMuch(TooMuch::Depth { .. }) | Mistake::ImportsTooDeep { .. } => "L093",
            Mistake::TooMuch(TooMuch::Count { .. }) | Mistake::RepeatTooLarge { .. } => "L094",
            Mistake::TemplatesTooMany { .. } => "L095",
            Mistake::ImportsTooMany { .. } => "L096",
        }
    }
}
