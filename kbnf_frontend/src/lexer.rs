//! KBNF text to lexemes, one pass. Blanks and comments are dropped; a string is one lexeme, decoded later.

use larkspur_grammar::diagnostic::{did_you_mean, escaped_end};
use larkspur_grammar::{SourceId, Span, behind_bom, typographic};

use crate::ast::PatternKind;
use crate::error::{Mistake, Sink};

/// The class of a lexeme of a grammar file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SyntaxKind {
    /// `start`, `_x1`.
    Name,
    /// `any!`, `except!`.
    Special,
    /// `50`.
    Number,
    /// `"…"`, `'…'`.
    String,
    /// `#"…"` and its like.
    Pattern(PatternKind),
    /// `::=`, `=`.
    Define,
    /// `;`
    Semicolon,
    /// `|`
    Bar,
    /// `,`
    Comma,
    /// `*`
    Star,
    /// `+`
    Plus,
    /// `?`
    Question,
    /// `(`, `[`, `{`
    Open(Bracket),
    /// `)`, `]`, `}`
    Close(Bracket),
    /// What was reported, and stands for something.
    Mistake,
    /// Counts of other languages, which were reported and stand for nothing.
    Counts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bracket {
    Round,
    Square,
    Curly,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexeme {
    pub kind: SyntaxKind,
    pub span: Span,
}

const PATTERNS: [PatternKind; 4] =
    [PatternKind::Regex, PatternKind::Early, PatternKind::Complement, PatternKind::Substrings];

impl Bracket {
    pub fn close(self) -> char {
        match self {
            Bracket::Round => ')',
            Bracket::Square => ']',
            Bracket::Curly => '}',
        }
    }
}

struct Lexer<'a, 's> {
    text: &'a str,
    at: usize,
    source: SourceId,
    sink: &'s mut Sink,
    /// Whether a definition has begun and not ended.
    in_definition: bool,
    /// A comment that is not closed.
    unclosed_comment: Option<Span>,
    /// Names with `-` or letters beyond ASCII that were reported.
    no_names: Vec<&'a str>,
    /// Whether all strings behind the last one that was closed are closed, if that was looked for.
    strings_close: Option<bool>,
}

/// Reads a part of a text, which ends with it. After a mistake it goes on with what follows.
pub(crate) fn lex(text: &str, body: Span, sink: &mut Sink) -> Vec<Lexeme> {
    let begin = body.start as usize;
    let at = begin + behind_bom(&text[begin..]);
    let source = body.source;
    let mut lexer = Lexer {
        text,
        at,
        source,
        sink,
        in_definition: false,
        unclosed_comment: None,
        no_names: Vec::new(),
        strings_close: None,
    };
    let mut lexemes = Vec::new();
    while lexer.space() && !lexer.sink.must_stop() {
        let start = lexer.at;
        let kind = lexer.lexeme();
        assert!(lexer.at > start, "a lexeme is not empty");
        lexer.in_definition = kind.map_or(lexer.in_definition, |kind| kind != SyntaxKind::Semicolon);
        lexemes.extend(kind.map(|kind| Lexeme { kind, span: lexer.since(start) }));
    }
    if let Some(span) = lexer.unclosed_comment.filter(|_| lexer.in_definition) {
        // Something stands in it, and an end of the definition.
        lexemes.extend([SyntaxKind::Mistake, SyntaxKind::Semicolon].map(|kind| Lexeme { kind, span }));
    }
    lexemes
}

impl<'a> Lexer<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }
    fn since(&self, start: usize) -> Span {
        Span::new(self.source, start, self.at)
    }
    fn skip_while(&mut self, mut is_part: impl FnMut(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    }
    fn skip_line(&mut self) {
        self.skip_while(|c| c != '\n' && c != '\r');
    }

    /// Skips blanks and comments; whether something follows.
    fn space(&mut self) -> bool {
        loop {
            self.skip_while(char::is_whitespace);
            if !self.rest().starts_with("(*") {
                return self.at < self.text.len();
            }
            let start = self.at;
            match self.text[start + 2..].find("*)") {
                Some(len) => self.at += 2 + len + 2,
                None => {
                    self.at += 2;
                    self.sink.report(self.since(start), Mistake::UnclosedComment);
                    self.unclosed_comment = Some(self.since(start));
                    self.at = self.text.len();
                }
            }
        }
    }

    /// `None` if what stands here was reported and stands for nothing.
    fn lexeme(&mut self) -> Option<SyntaxKind> {
        let start = self.at;
        let first = self.rest().chars().next().expect("a character");
        if let Some(len) = class_len(self.rest()) {
            self.at += len;
            let class = self.text[start..self.at].to_owned();
            self.sink.report(self.since(start), Mistake::Class { class });
            return Some(SyntaxKind::Mistake);
        }
        if let Some(counts) = counts(self.rest()) {
            self.at += counts.len() + 2;
            self.sink.report(self.since(start), Mistake::Counts { meant: meant_counts(counts) });
            return Some(SyntaxKind::Counts);
        }
        let single = match first {
            ';' => Some(SyntaxKind::Semicolon),
            '|' => Some(SyntaxKind::Bar),
            ',' => Some(SyntaxKind::Comma),
            '*' => Some(SyntaxKind::Star),
            '+' => Some(SyntaxKind::Plus),
            '?' => Some(SyntaxKind::Question),
            '=' => Some(SyntaxKind::Define),
            '(' => Some(SyntaxKind::Open(Bracket::Round)),
            '[' => Some(SyntaxKind::Open(Bracket::Square)),
            '{' => Some(SyntaxKind::Open(Bracket::Curly)),
            ')' => Some(SyntaxKind::Close(Bracket::Round)),
            ']' => Some(SyntaxKind::Close(Bracket::Square)),
            '}' => Some(SyntaxKind::Close(Bracket::Curly)),
            _ => None,
        };
        if single.is_some() {
            self.at += 1;
            return single;
        }
        match first {
            '"' | '\'' => Some(if self.string(start) { SyntaxKind::String } else { SyntaxKind::Mistake }),
            '#' => self.pattern(),
            ':' | '-' if self.rest().starts_with("->") || first == ':' => {
                let sign = ["::=", ":=", "->", "::", ":"].into_iter().find(|sign| self.rest().starts_with(sign));
                self.at += sign.map_or(1, str::len);
                if sign != Some("::=") {
                    let found = self.text[start..self.at].to_owned();
                    self.sink.report(self.since(start), Mistake::DefinitionSign { found: format!("`{found}`") });
                }
                Some(SyntaxKind::Define)
            }
            '0'..='9' => {
                self.skip_while(|c| c.is_ascii_digit());
                let digits_end = self.at;
                self.skip_while(is_word);
                if self.at == digits_end {
                    return Some(SyntaxKind::Number);
                }
                let name = self.text[start..self.at].to_owned();
                self.sink.report(self.since(start), Mistake::NameDigit { name });
                Some(SyntaxKind::Mistake)
            }
            _ if is_letter(first) => {
                self.skip_while(is_letter);
                self.no_name(start);
                if self.rest().starts_with('!') {
                    self.at += 1;
                    return Some(SyntaxKind::Special);
                }
                Some(SyntaxKind::Name)
            }
            _ => self.unexpected(first),
        }
    }

    /// The rest of a name that may be none, which is reported where it stands first.
    fn no_name(&mut self, start: usize) {
        while self.rest().starts_with('-') && self.rest()[1..].starts_with(is_letter) {
            self.at += 1;
            self.skip_while(is_letter);
        }
        let name = &self.text[start..self.at];
        if !is_name(name) && !self.no_names.contains(&name) {
            self.no_names.push(name);
            let name = name.to_owned();
            let mistake = if name.is_ascii() { Mistake::NameHyphen { name } } else { Mistake::NameNotAscii { name } };
            self.sink.report(self.since(start), mistake);
        }
    }

    /// Skips a string that begins here. One that is not closed is reported, and ends with its line, so that what follows
    /// is read; `start` is where it is shown.
    fn string(&mut self, start: usize) -> bool {
        let opened = self.at;
        if let Some(end) = string_end(self.text, opened)
            && !self.is_rather_unclosed(opened, end)
        {
            self.at = end;
            return true;
        }
        let quote = char::from(self.text.as_bytes()[opened]);
        self.skip_line();
        // The definition's end is meant as one.
        let line = self.text[opened..self.at].trim_end();
        self.at = opened + line.strip_suffix(';').unwrap_or(line).len();
        match escaped_end(&self.text[opened + 1..self.at], quote, " \t\r|)]},;*+?") {
            Some(len) => {
                let at = opened + 1 + len;
                self.sink.report(Span::new(self.source, at, at + 2), Mistake::EscapedEnd { quote });
            }
            None => self.sink.report(self.since(start), Mistake::UnclosedString { quote }),
        }
        false
    }

    /// Whether a string that goes over the beginning of a definition was likely meant to end before: behind it there is one
    /// that is not closed.
    fn is_rather_unclosed(&mut self, opened: usize, end: usize) -> bool {
        if !self.text[opened..end].split('\n').skip(1).any(is_definition) {
            return false;
        }
        let text = self.text;
        // Strings are looked at in the order in which they are read, so that the answer stays the same.
        let is_closed = *self.strings_close.get_or_insert_with(|| strings_close(text, end));
        if !is_closed {
            self.strings_close = None;
        }
        !is_closed
    }

    fn pattern(&mut self) -> Option<SyntaxKind> {
        let start = self.at;
        self.at += 1;
        self.skip_while(is_word);
        let prefix = &self.text[start..self.at];
        let kind = PATTERNS.into_iter().find(|kind| kind.prefix() == prefix);
        if !self.rest().starts_with(['"', '\'']) {
            let is_comment = kind == Some(PatternKind::Regex);
            if is_comment && self.in_definition && !self.rest().starts_with([' ', '\t']) {
                return self.bare_pattern();
            }
            self.sink.report(self.since(start), Mistake::PatternWithoutText { is_comment, text: None });
            if is_comment {
                self.skip_line();
                return None;
            }
            return Some(SyntaxKind::Mistake);
        }
        if kind.is_none() {
            let near = match prefix {
                "#r" | "#re" | "#regex" => Some("#\"…\""),
                _ => did_you_mean(prefix, PATTERNS.into_iter().map(PatternKind::prefix)),
            };
            let near = near.map(str::to_owned);
            self.sink.report(self.since(start), Mistake::PatternKindUnknown { prefix: prefix.to_owned(), near });
        }
        let is_closed = self.string(start);
        Some(kind.filter(|_| is_closed).map_or(SyntaxKind::Mistake, SyntaxKind::Pattern))
    }

    /// A regex without quotes behind `#`, up to a blank or the end of the definition.
    fn bare_pattern(&mut self) -> Option<SyntaxKind> {
        let (start, hash) = (self.at, self.at - 1);
        self.skip_while(|c| !c.is_whitespace());
        let text = self.text[start..self.at].trim_end_matches(';');
        self.at = start + text.len();
        let mistake = Mistake::PatternWithoutText { is_comment: true, text: Some(text.replace('\\', "\\\\")) };
        self.sink.report(self.since(hash), mistake);
        Some(SyntaxKind::Mistake)
    }

    /// What begins nothing. The whole of a regex or comment in another language's style is one mistake.
    fn unexpected(&mut self, found: char) -> Option<SyntaxKind> {
        let start = self.at;
        if let Some((inner, len)) = typographic(self.rest()) {
            self.at += len;
            self.sink.report(self.since(start), Mistake::TypographicQuotes { inner: inner.to_owned() });
            return Some(SyntaxKind::Mistake);
        }
        self.at += found.len_utf8();
        let span = self.since(start);
        self.sink.report(
            span,
            Mistake::UnexpectedCharacter { found, is_comment: found == '/' && self.rest().starts_with(['/', '*']) },
        );
        if found != '/' {
            return None;
        }
        let rest = self.rest();
        if let Some(len) = rest.strip_prefix('*').and_then(|rest| rest.find("*/")) {
            self.at += 1 + len + 2;
            return None;
        }
        if rest.starts_with(['/', '*']) {
            self.skip_line();
            return None;
        }
        let line = &rest[..rest.find(['\n', '\r']).unwrap_or(rest.len())];
        self.at += line.find('/').map_or(0, |len| len + 1);
        Some(SyntaxKind::Mistake)
    }
}

/// The length of a class of characters with its repetition, `[a-z_]+`: ranges, escapes and single characters, no words.
fn class_len(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let inside =
        &inside[..inside.find(['[', ']', '\n', ' ', '"', '\'', '|']).filter(|&end| inside[end..].starts_with(']'))?];
    let mut chars = inside.strip_prefix('^').unwrap_or(inside).chars().peekable();
    let (mut ranges, mut was_letter) = (0, false);
    while let Some(c) = chars.next() {
        if c == '\\' {
            chars.next();
            was_letter = false;
        } else if chars.peek() == Some(&'-') && c.is_ascii_alphanumeric() {
            chars.next();
            chars.next().filter(char::is_ascii_alphanumeric)?;
            (ranges, was_letter) = (ranges + 1, false);
        } else if c.is_ascii_alphanumeric() && was_letter {
            return None;
        } else {
            was_letter = c.is_ascii_alphanumeric();
        }
    }
    let len = inside.len() + 2;
    (ranges > 0).then(|| len + usize::from(text[len..].starts_with(['*', '+', '?'])))
}

/// What stands in braces that begin here, if it is counts of another language: `2,5`, `1..3`, `-1,`.
fn counts(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('{')?;
    let is_part = |c: char| c.is_ascii_digit() || c.is_whitespace() || [',', '.', '-'].contains(&c);
    let (inside, rest) = inside.split_at(inside.find(|c| !is_part(c))?);
    (rest.starts_with('}') && inside.contains(|c: char| c.is_ascii_digit() || c == ',')).then_some(inside)
}

/// Counts as a regex has them, if all of them are plain numbers.
fn meant_counts(inside: &str) -> Option<String> {
    let count = |text: &str| text.trim().parse::<u32>().ok();
    let Some((min, max)) = [",", "..", "-"].into_iter().find_map(|sign| inside.split_once(sign)) else {
        return count(inside).map(|count| format!("{{{count}}}"));
    };
    Some(match (min.trim(), max.trim()) {
        ("", max) => format!("{{0,{}}}", count(max)?),
        (min, "") => format!("{{{},}}", count(min)?),
        (min, max) => {
            let (min, max) = (count(min)?, count(max)?);
            format!("{{{},{}}}", min.min(max), min.max(max))
        }
    })
}

/// The byte behind the string that begins here, if it is closed.
fn string_end(text: &str, start: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            _ if byte == bytes[start] => return Some(at + 1),
            _ => at += 1,
        }
    }
    None
}

/// Whether each string behind a place is closed, where no string is open.
fn strings_close(text: &str, mut at: usize) -> bool {
    while let Some(len) = text[at..].find(['"', '\'', '(']) {
        at += len;
        let end = match text[at..].strip_prefix("(*") {
            Some(comment) => comment.find("*)").map(|len| at + len + 4),
            None if text[at..].starts_with('(') => Some(at + 1),
            None => string_end(text, at),
        };
        match end {
            Some(end) => at = end,
            None => return text[at..].starts_with("(*"),
        }
    }
    true
}

/// Whether a definition begins with this line.
fn is_definition(line: &str) -> bool {
    let name = line.trim_start();
    let rest = name.trim_start_matches(is_word);
    rest.len() < name.len() && rest.trim_start().starts_with("::=")
}

/// Whether a name is one as it should be.
pub(crate) fn is_name(name: &str) -> bool {
    name.chars().all(is_word)
}

fn is_letter(c: char) -> bool {
    is_word(c) || !c.is_ascii() && c.is_alphanumeric()
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
