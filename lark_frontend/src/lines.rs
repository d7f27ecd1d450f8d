//! Where statements begin, and what goes on in the next line although it may not.
//!
//! A statement ends with its line. Whoever goes on all the same is told so once, and what follows is read as it is meant.

use rustc_hash::FxHashMap;

use crate::error::SyntaxMistake;
use crate::foreign::{HEADERS, KEYWORDS};
use crate::lexer::{Lexeme, SyntaxKind};
use crate::parser::Parser;

/// Lexemes that are looked at to find a bracket's end.
const LOOKED_AT: usize = 2_000;

/// What begins an item of a body, and no statement.
const ITEMS: &[SyntaxKind] = &[
    SyntaxKind::String,
    SyntaxKind::Regex,
    SyntaxKind::LParen,
    SyntaxKind::LBracket,
    SyntaxKind::GrammarRef,
    SyntaxKind::Tilde,
    SyntaxKind::KwRegex,
    SyntaxKind::KwJson,
    SyntaxKind::KwLark,
    SyntaxKind::Inner,
];

const NAMES: &[SyntaxKind] = &[SyntaxKind::RuleName, SyntaxKind::TerminalName];

/// What stands behind a name that is being defined, here or in other languages.
const SIGNS: &[SyntaxKind] = &[
    SyntaxKind::Colon,
    SyntaxKind::DoubleColon,
    SyntaxKind::Equals,
    SyntaxKind::LeftArrow,
    SyntaxKind::FatArrow,
    SyntaxKind::Dot,
];

/// Words that other languages put before what `%` begins here.
pub(crate) const BARE_DIRECTIVES: &[&str] = &["import", "ignore", "declare", "override", "extend"];

/// Of each name that seems to be defined, whether as a template.
fn heads<'a>(text: &'a str, lexemes: &[Lexeme]) -> FxHashMap<&'a str, bool> {
    let mut heads = FxHashMap::default();
    let mut is_start = true;
    for (at, pair) in lexemes.windows(2).enumerate() {
        let (lexeme, after) = (pair[0], pair[1].kind);
        let is_bracket = [SyntaxKind::LBracket, SyntaxKind::LBrace].contains(&after);
        let is_sign = || SIGNS.contains(&after) || is_bracket && has_sign(&lexemes[at..]);
        if is_start && NAMES.contains(&lexeme.kind) && is_sign() {
            let name = &text[lexeme.start as usize..lexeme.end as usize];
            *heads.entry(name).or_insert(false) |= after == SyntaxKind::LBrace;
        }
        let goes_before = [
            SyntaxKind::Newline,
            SyntaxKind::Bang,
            SyntaxKind::Question,
            SyntaxKind::LBrace,
            SyntaxKind::KwOverride,
            SyntaxKind::KwExtend,
        ];
        is_start = goes_before.contains(&lexeme.kind);
    }
    heads
}

/// Whether the sign of a definition stands on this line.
fn has_sign(lexemes: &[Lexeme]) -> bool {
    let mut line = lexemes.iter().take(1_000).take_while(|lexeme| lexeme.kind != SyntaxKind::Newline);
    line.any(|lexeme| lexeme.kind != SyntaxKind::Dot && SIGNS.contains(&lexeme.kind))
}

impl<'a> Parser<'a, '_> {
    /// Of each name that seems to be defined in the text, whether as a template. Only mistakes need to know.
    pub(crate) fn heads(&self) -> &FxHashMap<&'a str, bool> {
        self.heads.get_or_init(|| heads(self.text, self.lexemes))
    }

    pub(crate) fn kind(&self, at: usize) -> SyntaxKind {
        self.lexemes.get(at).map_or(SyntaxKind::Eof, |lexeme| lexeme.kind)
    }

    /// Whether a lexeme begins an item of a body. A name may as well begin a statement.
    pub(crate) fn begins_item(&self, at: usize) -> bool {
        let kind = self.kind(at);
        ITEMS.contains(&kind) || NAMES.contains(&kind) || kind == SyntaxKind::SpecialToken
    }

    /// Blanks before a lexeme on its line.
    fn column(&self, at: usize) -> usize {
        let start = self.lexemes[at].start as usize;
        start - self.text[..start].rfind('\n').map_or(0, |end| end + 1)
    }

    /// Whether a definition begins with the name at a lexeme, before which `!` and `?` may stand. One whose sign is missing is
    /// one where nothing else defines the name, and the line is not indented.
    pub(crate) fn is_head(&self, first: usize) -> bool {
        let marks = [SyntaxKind::Bang, SyntaxKind::Question];
        let Some(name) = (first..self.lexemes.len()).find(|&at| !marks.contains(&self.kind(at))) else { return false };
        if !NAMES.contains(&self.kind(name)) {
            return false;
        }
        let after = self.kind(name + 1);
        let word = self.str(self.lexemes[name]);
        let is_foreign = NAMES.contains(&after)
            && (KEYWORDS.contains(&word)
                || HEADERS.contains(&word)
                || BARE_DIRECTIVES.contains(&word)
                || word == "from");
        if SIGNS.contains(&after) || is_foreign || self.is_foreign_head(name) {
            return true;
        }
        if [SyntaxKind::LBracket, SyntaxKind::LBrace].contains(&after) && has_sign(&self.lexemes[name..]) {
            return true;
        }
        let lacks_sign = self.begins_item(name + 1) || [SyntaxKind::Arrow, SyntaxKind::LBrace].contains(&after);
        lacks_sign && self.column(first) <= self.column(self.statement) && !self.heads().contains_key(word)
    }

    /// Whether a line that begins with this lexeme goes on with the body before it.
    pub(crate) fn goes_on(&self, at: usize) -> bool {
        match self.kind(at) {
            SyntaxKind::SpecialToken => !SIGNS.contains(&self.kind(at + 1)),
            kind if NAMES.contains(&kind) => !self.is_head(at),
            kind => ITEMS.contains(&kind),
        }
    }

    /// Whether a statement begins with this lexeme, which stands between brackets.
    fn begins_statement(&self, at: usize) -> bool {
        match self.kind(at) {
            SyntaxKind::RuleName
            | SyntaxKind::TerminalName
            | SyntaxKind::Bang
            | SyntaxKind::Question
            | SyntaxKind::SpecialToken => has_sign(&self.lexemes[at..]),
            SyntaxKind::KwIgnore | SyntaxKind::KwImport | SyntaxKind::KwOverride | SyntaxKind::KwExtend => true,
            SyntaxKind::KwDeclare | SyntaxKind::KwLlguidance | SyntaxKind::KwLarkspur | SyntaxKind::Eof => true,
            _ => false,
        }
    }

    /// Whether the bracket that is open at a line break is closed in this statement.
    fn is_closed_behind(&self, at: usize, closing: SyntaxKind) -> bool {
        let mut open = vec![closing];
        for at in at..(at + LOOKED_AT).min(self.lexemes.len()) {
            match self.kind(at) {
                SyntaxKind::LParen => open.push(SyntaxKind::RParen),
                SyntaxKind::LBracket => open.push(SyntaxKind::RBracket),
                SyntaxKind::LBrace => open.push(SyntaxKind::RBrace),
                kind @ (SyntaxKind::RParen | SyntaxKind::RBracket | SyntaxKind::RBrace)
                    if open.pop() != Some(kind) || open.is_empty() =>
                {
                    return open.is_empty() && kind == closing;
                }
                SyntaxKind::Newline if self.begins_statement(at + 1) => return false,
                _ => {}
            }
        }
        false
    }

    /// Steps over a line break that does not end the statement, but for another reason than a `|`. The first in a statement
    /// is reported. `group` is the innermost bracket that is open, and the one that closes it.
    pub(crate) fn steps_over_break(&mut self, group: Option<(Lexeme, SyntaxKind)>) -> bool {
        let next = self.at + 1;
        if !self.is(SyntaxKind::Newline) || self.kind(next) == SyntaxKind::VBar {
            return false;
        }
        let steps = match group {
            Some((_, closing)) if self.kind(next) == closing => false,
            Some(_) if self.begins_statement(next) => false,
            Some((_, closing)) => self.has_break || self.is_closed_behind(self.at, closing),
            None => self.goes_on(next),
        };
        if !steps {
            return false;
        }
        let newline = self.next();
        if !std::mem::replace(&mut self.has_break, true) {
            match group {
                Some((opened, _)) => {
                    let (place, opened) = (self.span(newline), self.span(opened));
                    let place = larkspur_grammar::Span { end: place.start, ..place };
                    self.sink.report(place, SyntaxMistake::BreakInBrackets { opened });
                }
                None => {
                    let (place, found) = (self.here(), self.found());
                    self.sink.report(place, SyntaxMistake::StatementExpected { found, after_body: true });
                }
            }
        }
        true
    }
}
