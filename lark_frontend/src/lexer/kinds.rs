//! The classes of lexemes, with their names in messages.

/// The class of a lexeme of a grammar file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SyntaxKind {
    /// `expr`, `_sep`, `tool-call`.
    RuleName,
    /// `NUMBER`, `_NL`.
    TerminalName,
    /// `"…"`, `"…"i`.
    String,
    /// `/…/imsux`.
    Regex,
    /// `12`, `0.7`, `0x1F`.
    Number,
    /// `<name>`, `<[1-9]>`.
    SpecialToken,
    /// `@name`.
    GrammarRef,
    /// The JSON value behind a directive that takes one.
    Json,
    /// `%gbnf { … }` and the like, whole.
    Inner,
    /// `%ignore`
    KwIgnore,
    /// `%import`
    KwImport,
    /// `%override`
    KwOverride,
    /// `%extend`
    KwExtend,
    /// `%declare`
    KwDeclare,
    /// `%json`
    KwJson,
    /// `%regex`
    KwRegex,
    /// `%lark`
    KwLark,
    /// `%if`
    KwIf,
    /// `%llguidance`
    KwLlguidance,
    /// `%larkspur`
    KwLarkspur,
    /// `::`
    DoubleColon,
    /// `:`
    Colon,
    /// `..`
    DotDot,
    /// `.`
    Dot,
    /// `->`
    Arrow,
    /// `-`
    Minus,
    /// `=`
    Equals,
    /// `<-`, with which other languages define.
    LeftArrow,
    /// `=>`, likewise.
    FatArrow,
    /// `,`
    Comma,
    /// `(`
    LParen,
    /// `)`
    RParen,
    /// `[`
    LBracket,
    /// `]`
    RBracket,
    /// `{`
    LBrace,
    /// `}`
    RBrace,
    /// `~`
    Tilde,
    /// `|`
    VBar,
    /// `&`
    And,
    /// `?`
    Question,
    /// `*`
    Star,
    /// `+`
    Plus,
    /// `!`
    Bang,
    /// `_` alone.
    Underscore,
    /// One or more line ends, with blank lines and comments between them.
    Newline,
    /// Something that was already reported.
    Error,
    /// The end of the text.
    Eof,
}

/// Lexemes that are always written alike, longer before shorter of the same beginning.
pub(super) const PUNCTUATION: &[(&str, SyntaxKind)] = &[
    ("::", SyntaxKind::DoubleColon),
    (":", SyntaxKind::Colon),
    ("..", SyntaxKind::DotDot),
    (".", SyntaxKind::Dot),
    ("->", SyntaxKind::Arrow),
    ("-", SyntaxKind::Minus),
    ("=>", SyntaxKind::FatArrow),
    ("=", SyntaxKind::Equals),
    (",", SyntaxKind::Comma),
    ("(", SyntaxKind::LParen),
    (")", SyntaxKind::RParen),
    ("[", SyntaxKind::LBracket),
    ("]", SyntaxKind::RBracket),
    ("{", SyntaxKind::LBrace),
    ("}", SyntaxKind::RBrace),
    ("~", SyntaxKind::Tilde),
    ("|", SyntaxKind::VBar),
    ("&", SyntaxKind::And),
    ("?", SyntaxKind::Question),
    ("*", SyntaxKind::Star),
    ("+", SyntaxKind::Plus),
    ("!", SyntaxKind::Bang),
];

/// Words behind `%`.
pub(super) const DIRECTIVES: &[(&str, SyntaxKind)] = &[
    ("%ignore", SyntaxKind::KwIgnore),
    ("%import", SyntaxKind::KwImport),
    ("%override", SyntaxKind::KwOverride),
    ("%extend", SyntaxKind::KwExtend),
    ("%declare", SyntaxKind::KwDeclare),
    ("%json", SyntaxKind::KwJson),
    ("%regex", SyntaxKind::KwRegex),
    ("%lark", SyntaxKind::KwLark),
    ("%if", SyntaxKind::KwIf),
    ("%llguidance", SyntaxKind::KwLlguidance),
    ("%larkspur", SyntaxKind::KwLarkspur),
];

impl SyntaxKind {
    /// How messages call it.
    pub fn describe(self) -> &'static str {
        match self {
            SyntaxKind::RuleName => "a rule name",
            SyntaxKind::TerminalName => "a terminal name",
            SyntaxKind::String => "a string",
            SyntaxKind::Regex => "a regex",
            SyntaxKind::Number => "a number",
            SyntaxKind::SpecialToken => "a special token",
            SyntaxKind::GrammarRef => "a grammar reference",
            SyntaxKind::Json => "a JSON value",
            SyntaxKind::Inner => "a grammar in another language",
            SyntaxKind::Underscore => "`_`",
            SyntaxKind::Newline => "the end of the line",
            SyntaxKind::Error => "a mistake",
            SyntaxKind::Eof => "the end of the text",
            SyntaxKind::KwIgnore => "`%ignore`",
            SyntaxKind::KwImport => "`%import`",
            SyntaxKind::KwOverride => "`%override`",
            SyntaxKind::KwExtend => "`%extend`",
            SyntaxKind::KwDeclare => "`%declare`",
            SyntaxKind::KwJson => "`%json`",
            SyntaxKind::KwRegex => "`%regex`",
            SyntaxKind::KwLark => "`%lark`",
            SyntaxKind::KwIf => "`%if`",
            SyntaxKind::KwLlguidance => "`%llguidance`",
            SyntaxKind::KwLarkspur => "`%larkspur`",
            SyntaxKind::DoubleColon => "`::`",
            SyntaxKind::Colon => "`:`",
            SyntaxKind::DotDot => "`..`",
            SyntaxKind::Dot => "`.`",
            SyntaxKind::Arrow => "`->`",
            SyntaxKind::Minus => "`-`",
            SyntaxKind::Equals => "`=`",
            SyntaxKind::LeftArrow => "`<-`",
            SyntaxKind::FatArrow => "`=>`",
            SyntaxKind::Comma => "`,`",
            SyntaxKind::LParen => "`(`",
            SyntaxKind::RParen => "`)`",
            SyntaxKind::LBracket => "`[`",
            SyntaxKind::RBracket => "`]`",
            SyntaxKind::LBrace => "`{`",
            SyntaxKind::RBrace => "`}`",
            SyntaxKind::Tilde => "`~`",
            SyntaxKind::VBar => "`|`",
            SyntaxKind::And => "`&`",
            SyntaxKind::Question => "`?`",
            SyntaxKind::Star => "`*`",
            SyntaxKind::Plus => "`+`",
            SyntaxKind::Bang => "`!`",
        }
    }
}
