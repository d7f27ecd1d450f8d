//! Lark text to lexemes: a table of [`SyntaxKind`]s, one pass, no backtracking.
//!
//! Blanks, comments and a backslash before a line's end are dropped; a run of line ends is one [`SyntaxKind::Newline`].
//! A JSON value behind `%json`, `%regex`, `%llguidance` and `%larkspur` is one lexeme, read here so that its end is known.

mod kinds;
mod meant;

use larkspur_grammar::diagnostic::one_character_each;
use larkspur_grammar::json::{JsonDocument, parse_json_part, value_end};
use larkspur_grammar::{Diagnostic, Limits, SourceId, Span, behind_bom, typographic};

use crate::error::{LexerMistake, LimitMistake, Mistake, Sink, SyntaxMistake, near};
use crate::foreign::{Foreign, HEADERS, class_end, escapes_end, is_prefix};
pub use kinds::SyntaxKind;
use kinds::{DIRECTIVES, PUNCTUATION};
pub(crate) use meant::{class_at, near_line};
use meant::{escaped_quote, is_statement, json_file, meant_end};

/// A piece of the grammar file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lexeme {
    /// Its class.
    pub kind: SyntaxKind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// A JSON value in the grammar file.
#[derive(Clone, Debug)]
pub struct JsonBlock {
    /// Where it stands.
    pub span: Span,
    /// The value; `None` if it is not JSON, which is then already reported.
    pub document: Option<JsonDocument>,
}

/// A language whose texts can stand in a Lark text, as `%name { … }`.
#[derive(Clone, Copy, Debug)]
pub struct InnerLanguage {
    /// The word behind the `%`.
    pub name: &'static str,
    /// Where a body ends that begins at a byte of a text, behind its `{`: the `}` that closes it by the language's own rules.
    /// Errors: if none does, where the string or the like begins that the text ends in, or else the text's length.
    pub end: fn(text: &str, start: usize) -> Result<usize, usize>,
}

/// What the lexer returns.
pub(crate) struct Lexed {
    /// The lexemes; the last is [`SyntaxKind::Eof`].
    pub lexemes: Vec<Lexeme>,
    /// The JSON values in order; one for each [`SyntaxKind::Json`].
    pub json: Vec<JsonBlock>,
    /// Texts in other languages, in order; one for each [`SyntaxKind::Inner`].
    pub inner: Vec<(&'static str, Span)>,
    /// Comments, in order.
    pub comments: Vec<Span>,
    /// Whether the text begins with `%llguidance`.
    pub begins_with_llguidance: bool,
    /// The first `;` at a line's end. They are left out, and reported where nothing worse is.
    pub semicolon: Option<Span>,
}

/// Splits `text` into lexemes. Mistakes go to `sink`, each leaves a [`SyntaxKind::Error`] or a mended lexeme.
/// Stops early where not all of them are shown.
pub(crate) fn lex(
    text: &str,
    source: SourceId,
    llguidance_face: bool,
    languages: &[InnerLanguage],
    limits: &Limits,
    sink: &mut Sink,
) -> Lexed {
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        source,
        at: behind_bom(text),
        rust: llguidance_face,
        line: 0,
        is_behind_comments: false,
        has_choice: false,
        out: Lexed {
            lexemes: Vec::new(),
            json: Vec::new(),
            inner: Vec::new(),
            comments: Vec::new(),
            begins_with_llguidance: false,
            semicolon: None,
        },
        languages,
        limits,
        sink,
    };
    while lexer.at < text.len() && !lexer.sink.must_stop() {
        let before = lexer.at;
        lexer.next();
        assert!(lexer.at > before, "the lexer advances");
    }
    let end = text.len();
    lexer.push(SyntaxKind::Eof, end, end);
    lexer.out
}

struct Lexer<'a, 's> {
    text: &'a str,
    bytes: &'a [u8],
    source: SourceId,
    at: usize,
    /// Behind `%llguidance` regexes may span lines.
    rust: bool,
    /// Index of the first lexeme of this line.
    line: usize,
    /// No `*/` follows.
    is_behind_comments: bool,
    /// A `/` between alternatives was reported.
    has_choice: bool,
    out: Lexed,
    languages: &'a [InnerLanguage],
    limits: &'a Limits,
    sink: &'s mut Sink,
}

/// Whether `c` may stand in a name; a `-` is decided by what follows.
fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Lexer<'_, '_> {
    fn push(&mut self, kind: SyntaxKind, start: usize, end: usize) {
        if self.out.lexemes.is_empty() && kind == SyntaxKind::KwLlguidance {
            self.out.begins_with_llguidance = true;
            self.rust = true;
        }
        // A text's leading line ends say nothing; a run of them is one.
        let redundant = self.out.lexemes.last().is_none_or(|last| last.kind == SyntaxKind::Newline);
        if !(kind == SyntaxKind::Newline && redundant) {
            self.out.lexemes.push(Lexeme { kind, start: start as u32, end: end as u32 });
        }
        if kind == SyntaxKind::Newline {
            self.line = self.out.lexemes.len();
        }
        self.at = end;
    }
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, start, end)
    }
    fn report(&mut self, start: usize, end: usize, mistake: impl Into<Mistake>) {
        let span = self.span(start, end);
        self.sink.report(span, mistake);
    }
    fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }
    fn line_end(&self, from: usize) -> usize {
        self.bytes[from..].iter().position(|&b| b == b'\n').map_or(self.bytes.len(), |at| from + at)
    }

    fn comment(&mut self, start: usize) {
        self.at = self.line_end(start);
        let span = self.span(start, self.at);
        self.out.comments.push(span);
    }

    /// Reads one lexeme, or skips what is none.
    fn next(&mut self) {
        let start = self.at;
        if let Some(end) = self.block_comment_end() {
            self.report(start, end, Foreign::BlockComment);
            self.at = end;
            return;
        }
        match self.bytes[start] {
            b' ' | b'\t' | b'\r' | b'\x0C' => self.at += 1,
            b'\n' => self.push(SyntaxKind::Newline, start, start + 1),
            b'#' => self.comment(start),
            b'/' if self.byte(start + 1) == b'/' => self.comment(start),
            b'-' if self.text[start..].starts_with("--") => {
                self.report(start, start + 2, Foreign::DashComment);
                self.at = self.line_end(start);
            }
            b'-' if let Some((low, high)) = self.dashed_range() => {
                self.report(start, start + 1, Foreign::RangeDash { low, high });
                self.push(SyntaxKind::DotDot, start, start + 1);
            }
            b';' if self.is_line_end(start + 1) => {
                let span = self.span(start, start + 1);
                self.out.semicolon.get_or_insert(span);
                self.at += 1;
            }
            b'[' if let Some(end) = class_end(self.text, start) => {
                let class = self.text[start..end].to_string();
                self.report(start, end, Foreign::Class { class });
                self.push(SyntaxKind::Error, start, end);
            }
            b'/' if self.is_choice() => {
                if !std::mem::replace(&mut self.has_choice, true) {
                    self.report(start, start + 1, Foreign::ChoiceSlash);
                }
                self.push(SyntaxKind::VBar, start, start + 1);
            }
            b'/' if self.is_import() => {
                self.report(start, start + 1, Foreign::ImportSlash);
                let is_name = self
                    .out
                    .lexemes
                    .last()
                    .is_some_and(|last| matches!(last.kind, SyntaxKind::RuleName | SyntaxKind::TerminalName));
                match is_name {
                    true => self.push(SyntaxKind::Dot, start, start + 1),
                    false => self.at += 1,
                }
            }
            b'/' => self.regex(),
            b'"' => self.string(),
            b'\'' => self.single_quotes(),
            b'<' => self.special_token(),
            b'@' => self.grammar_ref(),
            b'%' => self.directive(),
            b'\\' if let Some(end) = escapes_end(self.text, start) => {
                let regex = self.text[start..end].to_string();
                self.report(start, end, Foreign::Escape { regex });
                self.push(SyntaxKind::Error, start, end);
            }
            b'\\' => self.line_continuation(),
            b'0'..=b'9' => self.number(),
            _ => {
                let rest = &self.text[start..];
                if let Some(&(text, kind)) = PUNCTUATION.iter().find(|(text, _)| rest.starts_with(text)) {
                    return self.push(kind, start, start + text.len());
                }
                let c = rest.chars().next().expect("not at the end");
                if is_name_char(c) {
                    return self.name();
                }
                let mut end = start + c.len_utf8();
                if let Some((inner, len)) = typographic(rest) {
                    end = start + len;
                    self.report(start, end, Foreign::Quotes { inner: inner.to_string() });
                    return self.push(SyntaxKind::Error, start, end);
                }
                self.report(start, end, LexerMistake::UnexpectedCharacter { found: c });
                self.push(SyntaxKind::Error, start, end);
            }
        }
    }

    /// The characters of the strings before and behind the `-` here, if each has one.
    fn dashed_range(&self) -> Option<(String, String)> {
        let last = self.out.lexemes.last().filter(|last| last.kind == SyntaxKind::String)?;
        let before = &self.text[last.start as usize..last.end as usize];
        let (low, high) = one_character_each(before, near_line(self.text, self.at + 1))?;
        Some((low.to_string(), high.to_string()))
    }

    /// Whether this stands in an import.
    fn is_import(&self) -> bool {
        self.out.lexemes.get(self.line).is_some_and(|first| first.kind == SyntaxKind::KwImport)
    }

    /// Whether only blanks, `;` and a comment follow on the line.
    fn is_line_end(&self, from: usize) -> bool {
        let rest = near_line(self.text, from).trim_matches([' ', '\t', '\r', ';']);
        rest.is_empty() || rest.starts_with("//") || rest.starts_with('#')
    }

    /// Where a `/* … */` of other languages ends: no regex begins with `*`.
    fn block_comment_end(&mut self) -> Option<usize> {
        let body = self.text[self.at..].strip_prefix("/*").filter(|_| !self.is_behind_comments)?;
        let len = body.find("*/");
        self.is_behind_comments = len.is_none();
        Some(self.at + len? + 4)
    }

    /// Whether the slash here stands between alternatives, as in a PEG: with blanks around it, behind `<-` or where something
    /// follows on the line, but no other slash; a regex with flag `x` may begin at a line's end.
    fn is_choice(&self) -> bool {
        let is_blank = |byte: u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let lexemes = &self.out.lexemes;
        let is_apart = self.at > 0 && is_blank(self.bytes[self.at - 1]) && is_blank(self.byte(self.at + 1));
        let is_peg = || lexemes[self.line..].iter().take(8).any(|lexeme| lexeme.kind == SyntaxKind::LeftArrow);
        let line = near_line(self.text, self.at + 1);
        let line = line.split("//").next().unwrap_or(line).trim();
        let is_behind = lexemes.last().is_some_and(|last| {
            ![SyntaxKind::Colon, SyntaxKind::VBar, SyntaxKind::LParen, SyntaxKind::LBracket].contains(&last.kind)
        });
        is_apart && is_behind && !self.rust && (!line.is_empty() && !line.contains('/') || is_peg())
    }

    /// A backslash, blanks and a line end are nothing.
    fn line_continuation(&mut self) {
        let start = self.at;
        let mut end = start + 1;
        while matches!(self.byte(end), b' ' | b'\t' | b'\r') {
            end += 1;
        }
        if self.byte(end) == b'\n' {
            self.at = end + 1;
        } else {
            self.report(start, start + 1, LexerMistake::UnexpectedCharacter { found: '\\' });
            self.push(SyntaxKind::Error, start, start + 1);
        }
    }

    /// The end of the run of name characters at `from`; a `-` is one of them unless it begins `->`.
    fn name_end(&self, from: usize, hyphens: bool) -> usize {
        let mut end = from;
        for c in self.text[from..].chars() {
            let hyphen = hyphens && c == '-' && end > from && self.byte(end + 1) != b'>';
            if !is_name_char(c) && !hyphen {
                break;
            }
            end += c.len_utf8();
        }
        end
    }

    fn name(&mut self) {
        let start = self.at;
        let end = self.name_end(start, true);
        let name = &self.text[start..end];
        if name == "_" {
            return self.push(SyntaxKind::Underscore, start, end);
        }
        let letters = name.trim_start_matches('_');
        let lower = letters.bytes().any(|b| b.is_ascii_lowercase());
        let upper = letters.bytes().any(|b| b.is_ascii_uppercase());
        let is_terminal = letters.starts_with(|c: char| c.is_ascii_uppercase());
        if self.is_reported_later() {
            // Whatever it is, it is no name here.
        } else if ["ε", "λ", "ϵ", "Ɛ"].contains(&name) {
            self.report(start, end, Foreign::EmptyText { name: name.to_string() });
        } else if let Some((at, c)) = name.char_indices().find(|(_, c)| !c.is_ascii()) {
            self.report(start + at, start + at + c.len_utf8(), LexerMistake::NameNotAscii { found: c });
        } else if (lower && upper) || !letters.starts_with(|c: char| c.is_ascii_alphabetic()) {
            let class = class_at(self.text, start);
            self.report(start, end, LexerMistake::NameOfMixedCase { name: name.to_string(), class });
        }
        self.push(if is_terminal { SyntaxKind::TerminalName } else { SyntaxKind::RuleName }, start, end);
    }

    /// Whether the name here is looked for in a module, or is that of a grammar in another language: the parser says more.
    fn is_reported_later(&self) -> bool {
        let lexemes = &self.out.lexemes;
        let line = self.line;
        match lexemes[line..] {
            [Lexeme { kind: SyntaxKind::KwImport, .. }, .., last] => last.kind != SyntaxKind::Arrow,
            [Lexeme { kind: SyntaxKind::RuleName, start, end }] => {
                HEADERS.contains(&&self.text[start as usize..end as usize])
            }
            _ => false,
        }
    }

    fn number(&mut self) {
        let start = self.at;
        let digits = |lexer: &Self, mut at: usize| {
            while lexer.byte(at).is_ascii_digit() {
                at += 1;
            }
            at
        };
        if self.byte(start) == b'0' && matches!(self.byte(start + 1), b'x' | b'X') {
            let mut end = start + 2;
            while self.byte(end).is_ascii_hexdigit() {
                end += 1;
            }
            return self.push(SyntaxKind::Number, start, end);
        }
        let mut end = digits(self, start);
        // In `2..3` the dots are not the number's.
        if self.byte(end) == b'.' && self.byte(end + 1).is_ascii_digit() {
            end = digits(self, end + 1);
        }
        if matches!(self.byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(end + 1), b'+' | b'-'));
            if self.byte(end + 1 + sign).is_ascii_digit() {
                end = digits(self, end + 1 + sign);
            }
        }
        self.push(SyntaxKind::Number, start, end);
    }

    fn string(&mut self) {
        let start = self.at;
        if self.bytes[start..].starts_with(b"\"\"\"") {
            return self.triple_quotes();
        }
        let mut end = start + 1;
        loop {
            match self.byte(end) {
                b'"' => break,
                b'\\' if !matches!(self.byte(end + 1), b'\n' | b'\r') && end + 1 < self.bytes.len() => end += 2,
                b'\n' if let Some(close) = self.continued_string(end) => {
                    self.report(start, end, LexerMistake::UnclosedString);
                    return self.push(SyntaxKind::Error, start, close);
                }
                b'\n' => return self.unclosed_string(start, end),
                _ if end >= self.bytes.len() => return self.unclosed_string(start, end),
                _ => end += 1,
            }
        }
        end += 1;
        let word_end = self.name_end(end, false);
        let word = &self.text[end..word_end];
        if word == "i" {
            end = word_end;
        }
        self.push(SyntaxKind::String, start, end);
        if word.starts_with('i') && word != "i" {
            self.flags_run_into_name(end, word_end);
        }
    }

    /// Where a string ends that a backslash at the end of its line, `end`, was meant to take to the next one.
    fn continued_string(&self, end: usize) -> Option<usize> {
        let is_continued = self.text[..end].trim_end_matches('\r').ends_with('\\');
        let next = near_line(self.text, end + 1);
        let is_odd = next.matches('"').count() % 2 == 1;
        next.find('"').filter(|_| is_continued && is_odd).map(|len| end + 1 + len + 1)
    }

    /// A string that its line ends. In `"\" "b"` it is the backslash before it that kept one open.
    fn unclosed_string(&mut self, start: usize, end: usize) {
        let end = end.min(self.bytes.len());
        let lexemes = &self.out.lexemes;
        let line = self.line;
        let before = (line..lexemes.len()).find_map(|at| {
            let Lexeme { kind, start, end } = lexemes[at];
            let (start, end) = (start as usize, end as usize);
            let runs_on = kind == SyntaxKind::String && !self.text[end..].starts_with([' ', '\t', '|', ')']);
            let escape = escaped_quote(&self.text[start..end]).filter(|_| runs_on)?;
            Some((at, start, start + escape))
        });
        let own = escaped_quote(&self.text[start..end]).map(|escape| (lexemes.len(), start, start + escape));
        let Some((at, string, escape)) = before.or(own) else {
            return self.unclosed(start, end, LexerMistake::UnclosedString);
        };
        self.out.lexemes.truncate(at);
        let end = string + self.text[string..end].trim_end().len();
        self.report(escape, escape + 2, LexerMistake::EscapedQuote);
        self.push(SyntaxKind::Error, string, end);
    }

    /// `'…'` is Python's, not Lark's: the whole of it is one mistake.
    fn single_quotes(&mut self) {
        let start = self.at;
        let line = &self.bytes[start + 1..self.line_end(start)];
        let end = line.iter().position(|&b| b == b'\'').map_or(start + 1, |at| start + at + 2);
        if let Some(&Lexeme { kind: SyntaxKind::RuleName, start: name, end: name_end }) = self.out.lexemes.last()
            && name_end as usize == start
            && end > start + 1
            && is_prefix(&self.text[name as usize..start])
        {
            let prefix = self.text[name as usize..start].to_string();
            let inner = self.text[start + 1..end - 1].to_string();
            self.out.lexemes.pop();
            self.report(name as usize, end, Foreign::StringPrefix { prefix, inner });
            return self.push(SyntaxKind::Error, name as usize, end);
        }
        self.report(start, end, LexerMistake::UnexpectedCharacter { found: '\'' });
        self.push(SyntaxKind::Error, start, end);
    }

    /// What is not closed ends at the end of its line.
    fn unclosed(&mut self, start: usize, end: usize, mistake: impl Into<Mistake>) {
        let mut end = end.min(self.bytes.len());
        while end > start + 1 && self.bytes[end - 1].is_ascii_whitespace() {
            end -= 1;
        }
        self.report(start, end, mistake);
        self.push(SyntaxKind::Error, start, end);
    }

    /// Lark has no `"""…"""`: the whole of it is one mistake.
    fn triple_quotes(&mut self) {
        let start = self.at;
        let close = self.text[start + 3..].find("\"\"\"").map(|at| start + at + 6);
        let end = close.unwrap_or_else(|| self.line_end(start));
        self.report(start, start + 3, LexerMistake::TripleQuotes);
        self.push(SyntaxKind::Error, start, end);
    }

    /// A regex ends at the first slash without a backslash, also inside a class.
    fn regex(&mut self) {
        let start = self.at;
        let mut end = start + 1;
        let mut line_end = None;
        while end < self.bytes.len() && self.bytes[end] != b'/' {
            match self.bytes[end] {
                b'\\' if self.byte(end + 1) != b'\n' => end += 1,
                b'\n' if line_end.is_none() => line_end = Some(end),
                _ => {}
            }
            end += 1;
        }
        if end >= self.bytes.len() {
            return self.unclosed_regex(start, self.line_end(start));
        }
        let flags_start = end + 1;
        let flags_end = self.name_end(flags_start, false);
        let flags = &self.text[flags_start..flags_end];
        let is_flag = |c: char| "imslux".contains(c);
        // Only a verbose regex (or Rust's) goes over lines; otherwise the slash of another line was found.
        let all_flags = flags.chars().all(is_flag);
        if let Some(line_end) = line_end
            && !(all_flags && flags.contains('x'))
            && !self.rust
        {
            return self.unclosed_regex(start, line_end);
        }
        if line_end.is_none()
            && let Some((slash, end)) = meant_end(self.text, start, end, all_flags)
        {
            self.report(slash, slash + 1, LexerMistake::SlashInRegex);
            return self.push(SyntaxKind::Error, start, end);
        }
        let end = if all_flags { flags_end } else { flags_start };
        self.push(SyntaxKind::Regex, start, end);
        if !all_flags && flags.starts_with(is_flag) {
            self.flags_run_into_name(flags_start, flags_end);
        } else if self.byte(end) == b'/' && flags.is_empty() {
            let rest = near_line(self.text, end);
            let rest = rest.split([' ', '\t']).next().unwrap_or(rest).trim_end();
            // A comment stands apart.
            if !rest.starts_with("//") || rest.len() > 2 {
                self.report(
                    flags_start - 1,
                    flags_start,
                    LexerMistake::SlashesTouch { comment: rest.starts_with("//") },
                );
            }
        }
    }

    /// A regex that its line ends.
    fn unclosed_regex(&mut self, start: usize, line_end: usize) {
        let line = self.text[start..line_end].trim_end();
        let mut places = line.match_indices("\\/").map(|(at, _)| at);
        let escaped = places.find(|&at| line[at + 2..].is_empty() || line[at + 2..].starts_with([' ', '|', ')']));
        match escaped {
            Some(at) => {
                self.report(start + at, start + at + 2, LexerMistake::EscapedSlash);
                self.push(SyntaxKind::Error, start, start + line.len());
            }
            None => self.unclosed(start, line_end, LexerMistake::UnclosedRegex),
        }
    }

    /// Neither flags nor a name of its own: reported, and skipped.
    fn flags_run_into_name(&mut self, start: usize, end: usize) {
        let word = self.text[start..end].to_string();
        self.report(start, end, LexerMistake::FlagsRunIntoName { word });
        self.at = end;
    }

    fn special_token(&mut self) {
        let start = self.at;
        let mut end = start + 1;
        if self.byte(end) == b'[' {
            let mut quoted = false;
            while end < self.bytes.len() && self.bytes[end] != b'\n' {
                match self.bytes[end] {
                    b'\\' if quoted => end += 1,
                    b'"' => quoted = !quoted,
                    b']' if !quoted && self.byte(end + 1) == b'>' => {
                        return self.push(SyntaxKind::SpecialToken, start, end + 2);
                    }
                    _ => {}
                }
                end += 1;
            }
            let end = self.line_end(start);
            return self.unclosed(start, end, LexerMistake::UnclosedToken);
        }
        while end < self.bytes.len()
            && !matches!(self.bytes[end], b'<' | b'>')
            && !self.bytes[end].is_ascii_whitespace()
        {
            end += 1;
        }
        if self.byte(end) == b'>' && end > start + 1 {
            self.push(SyntaxKind::SpecialToken, start, end + 1);
        } else if self.byte(start + 1) == b'-' {
            self.push(SyntaxKind::LeftArrow, start, start + 2);
        } else {
            self.report(start, end, LexerMistake::UnclosedToken);
            self.push(SyntaxKind::Error, start, end);
        }
    }

    fn grammar_ref(&mut self) {
        let start = self.at;
        let end = self.name_end(start + 1, true);
        if end == start + 1 {
            self.report(start, end, LexerMistake::UnexpectedCharacter { found: '@' });
            return self.push(SyntaxKind::Error, start, end);
        }
        self.push(SyntaxKind::GrammarRef, start, end);
    }

    fn directive(&mut self) {
        let start = self.at;
        if self.byte(start + 1) == b'%' {
            let end = self.line_end(start);
            self.report(start, start + 2, Foreign::Sections);
            self.at = end;
            return;
        }
        let end = self.name_end(start + 1, false);
        let word = &self.text[start..end];
        if let Some(&language) = self.languages.iter().find(|language| *language.name == word[1..]) {
            return self.inner(language, start, end);
        }
        let Some(&(_, kind)) = DIRECTIVES.iter().find(|(text, _)| *text == word) else {
            let languages = self.languages.iter().map(|language| format!("%{}", language.name)).collect::<Vec<_>>();
            let names = DIRECTIVES.iter().map(|&(name, _)| name).chain(languages.iter().map(String::as_str));
            let near = near(word, names.map(|name| (name, None)));
            let word = word.to_string();
            self.report(start, end, LexerMistake::UnknownDirective { word, near });
            // What stands in braces behind it is in whatever language that is.
            let open = end + near_line(self.text, end).len() - near_line(self.text, end).trim_start().len();
            let close = if self.byte(open) == b'{' { value_end(self.text, open) } else { end };
            let close = if close > end && self.byte(close - 1) == b'}' { close } else { end };
            return self.push(SyntaxKind::Error, start, close);
        };
        self.push(kind, start, end);
        let takes_json =
            [SyntaxKind::KwJson, SyntaxKind::KwRegex, SyntaxKind::KwLlguidance, SyntaxKind::KwLarkspur].contains(&kind);
        if takes_json {
            self.json();
        }
    }

    /// `{ … }` behind the name of a language.
    fn inner(&mut self, language: InnerLanguage, start: usize, name_end: usize) {
        let mut open = name_end;
        while self.byte(open).is_ascii_whitespace() {
            open += 1;
        }
        if self.byte(open) != b'{' {
            let found = if open == self.text.len() { "the end of the text" } else { "something else" };
            self.report(name_end, name_end, SyntaxMistake::Expected { expected: "`{`", found: found.to_string() });
            return self.push(SyntaxKind::Error, start, name_end);
        }
        match (language.end)(self.text, open + 1) {
            Ok(close) => {
                let body = self.span(open + 1, close);
                self.out.inner.push((language.name, body));
                self.push(SyntaxKind::Inner, start, close + 1);
            }
            Err(at) => {
                let inside = (at < self.text.len()).then(|| self.span(at, at + 1));
                self.report(open, open + 1, LexerMistake::InnerUnclosed { language: language.name, inside });
                // A brace on a line of its own is meant as the end.
                let end = self.text[open..].find("\n}").map_or(self.text.len(), |len| open + len + 2);
                self.push(SyntaxKind::Error, start, end);
            }
        }
    }

    fn json(&mut self) {
        let mut start = self.at;
        while self.byte(start).is_ascii_whitespace() {
            start += 1;
        }
        if start == self.bytes.len() || (start > self.line_end(self.at) && !matches!(self.byte(start), b'{' | b'[')) {
            // Nothing but a schema would stand on a line of its own: the value is missing.
            self.report(self.at, self.at, LexerMistake::JsonMissing);
            let span = self.span(self.at, self.at);
            self.out.json.push(JsonBlock { span, document: None });
            return self.push(SyntaxKind::Json, self.at, self.at);
        }
        if let Some(file) = json_file(self.text, start) {
            let end = start + near_line(self.text, start).split([' ', '\t', '\r', '|', ')']).next().map_or(0, str::len);
            self.report(start, end, Foreign::JsonFile { file });
            self.out.json.push(JsonBlock { span: self.span(start, end), document: None });
            return self.push(SyntaxKind::Json, start, end);
        }
        let limit = self.limits.inner_texts_max;
        if self.out.json.len() >= limit {
            let end = value_end(self.text, start);
            if self.out.json.len() == limit {
                self.report(start, start, LimitMistake::JsonTooMany { limit });
            }
            self.out.json.push(JsonBlock { span: self.span(start, end), document: None });
            return self.push(SyntaxKind::Json, start, end);
        }
        let (document, end) = match parse_json_part(self.source, self.text, start, self.limits) {
            Ok((document, end)) => {
                document.warnings().iter().for_each(|warning| self.sink.push(warning.clone()));
                (Some(document), end)
            }
            Err((diagnostics, end)) => {
                let place = |found: &Diagnostic| found.labels.first().map_or(start, |label| label.span.start as usize);
                // What is not closed is shown where it was opened.
                let first = diagnostics.iter().filter(|found| found.code != "N015").min_by_key(|found| place(found));
                let comma = first.filter(|found| found.code == "N013").map(place);
                let end = self.json_recovery(start, comma, end);
                let own: Vec<Diagnostic> = diagnostics.into_iter().filter(|found| place(found) < end).collect();
                if own.is_empty() {
                    let what = if self.byte(start) == b'[' { "[" } else { "{" };
                    self.report(end, end, SyntaxMistake::Unclosed { what, opened: self.span(start, start + 1) });
                }
                self.sink.extend(own);
                (None, end)
            }
        };
        let span = self.span(start, end);
        self.out.json.push(JsonBlock { span, document });
        self.push(SyntaxKind::Json, start, end);
    }

    /// The first line between two places that begins a statement.
    fn statement_line(&self, start: usize, end: usize) -> Option<usize> {
        let lines = self.text[start..end].match_indices('\n').map(|(at, _)| start + at + 1);
        lines.into_iter().find(|&line| is_statement(near_line(self.text, line)))
    }

    /// Where to go on after a JSON value that is none: at its `end`, if it was read as far as that, or its closing bracket,
    /// or else at the end of its line. One that first lacks a comma, at `comma`, before the next statement was not closed
    /// before that.
    fn json_recovery(&self, start: usize, comma: Option<usize>, end: Option<usize>) -> usize {
        if !matches!(self.byte(start), b'{' | b'[') {
            return self.line_end(start);
        }
        let value_end = end.unwrap_or_else(|| value_end(self.text, start));
        let is_behind = |&line: &usize| comma.map_or(value_end == self.text.len(), |comma| line <= comma);
        if let Some(line) = self.statement_line(start, value_end).filter(is_behind) {
            return start + self.text[start..line].trim_end().len();
        }
        match value_end {
            end if end >= self.text.len() && !matches!(self.text.trim_end().bytes().last(), Some(b'}' | b']')) => {
                self.line_end(start)
            }
            end => end,
        }
    }
}
