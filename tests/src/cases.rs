//! Cases as data: `tests/cases/<front end>/<topic>.toml`.
//!
//! A text is fed as bytes; with `bytes = true`, `\xHH` in it is one byte. A sequence (`input`, `after`) is a list of
//! tokens by their text or name; an element that begins with `=` is fed as text, which belongs to no token.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};
use larkspur_grammar::{Diagnostic, LexerMode, Limits, LinkedGrammar, SourceMap, Span, link};
use larkspur_json_schema::SchemaOptions;
use larkspur_lark_frontend::{LarkOptions, Modules, parse};
use larkspur_parser::MatcherError;
use serde::Deserialize;

use crate::compare::{self, Answers, Caches, Rig, tokenize};
use crate::inner::{INNER_LANGUAGES, read_inner};
use crate::oracle::{Oracle, State, Token, Vocab};

/// A file of cases.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
struct File {
    case: Vec<Case>,
}

/// One grammar and what is known of it.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique in its file.
    pub name: String,
    /// A Lark text, or …
    pub grammar: Option<String>,
    /// … several, the first of which is the root, or …
    #[serde(default)]
    pub grammars: Vec<NamedGrammar>,
    /// … a JSON Schema; `x-larkspur` in it says how values are written.
    pub schema: Option<String>,
    /// Texts that Lark texts import, by path.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
    /// The mode that the verdicts are for. The grammar's own if it is not given.
    pub lexer: Option<Modes>,
    /// The start rule.
    pub start: Option<String>,
    /// Tokens from id 261 on, besides those that every vocabulary has.
    #[serde(default)]
    pub vocab: Vec<String>,
    /// `\xHH` in texts and tokens is a byte.
    #[serde(default)]
    pub bytes: bool,
    /// The grammar must not compile.
    #[serde(default)]
    pub error: bool,
    /// No text can be finished, although every rule can: `longest` mode's doing. The engine refuses the grammar.
    #[serde(default)]
    pub trap: bool,
    /// Accepted texts.
    #[serde(default)]
    pub accepts: Vec<String>,
    /// Viable prefixes that are not accepted.
    #[serde(default)]
    pub incomplete: Vec<String>,
    /// Texts that are not viable.
    #[serde(default)]
    pub rejects: Vec<Reject>,
    /// Verdicts on token sequences.
    #[serde(default)]
    pub tokens: Vec<Sequence>,
    /// Masks after token sequences.
    #[serde(default)]
    pub masks: Vec<Mask>,
    /// Captures after texts.
    #[serde(default)]
    pub captures: Vec<Captures>,
    /// Temperatures after texts.
    #[serde(default)]
    pub temperatures: Vec<Temperature>,
}

/// A grammar of a list.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct NamedGrammar {
    /// For `@name`.
    pub name: String,
    /// Its Lark text.
    pub lark: String,
}

/// Lexer modes of a case.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Modes {
    /// `longest`.
    Longest,
    /// `exact`.
    Exact,
    /// One after the other, with equal verdicts.
    Both,
}

/// A text and the first byte of it that cannot follow.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Reject {
    /// The text.
    pub text: String,
    /// Byte offset where the matcher must refuse.
    pub at: usize,
}

/// A token sequence and its verdict.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Tokens.
    pub input: Vec<String>,
    /// What becomes of it.
    pub verdict: Verdict,
    /// For `reject`: which element.
    pub at: Option<usize>,
}

/// What becomes of a token sequence.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The text is accepted.
    Accept,
    /// It may go on, but not end.
    Incomplete,
    /// An element cannot follow.
    Reject,
    /// The last element, an EOS token, ends the text.
    End,
}

/// A mask after a token sequence.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Mask {
    /// Tokens.
    pub after: Vec<String>,
    /// The allowed tokens, all of them.
    pub only: Option<Vec<String>>,
    /// Some allowed tokens.
    #[serde(default)]
    pub allowed: Vec<String>,
    /// Some that are not.
    #[serde(default)]
    pub forbidden: Vec<String>,
}

/// Captures after a text.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Captures {
    /// The text.
    pub text: String,
    /// Whether the text ends there.
    #[serde(default)]
    pub end: bool,
    /// Name and text of each, in order.
    pub spans: Vec<(String, String)>,
}

/// The temperature after a text.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Temperature {
    /// The text.
    pub after: String,
    /// `None` if none is set.
    pub value: Option<f32>,
}

/// Special tokens of every vocabulary, from id 256 on.
const SPECIAL: [&str; 5] = ["<|eos|>", "<|think|>", "<|end|>", "<|user|>", "<|eot|>"];

/// All cases of `tests/cases`, each with the path of its file from there.
pub fn all() -> Result<Vec<(PathBuf, Case)>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cases = Vec::new();
    for folder in ["cases/lark", "cases/json_schema", "regressions"] {
        let mut files: Vec<PathBuf> = fs::read_dir(root.join(folder))?
            .map(|entry| Ok(entry?.path()))
            .collect::<Result<Vec<PathBuf>>>()?
            .into_iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .collect();
        files.sort();
        for path in files {
            let text = fs::read_to_string(&path)?;
            let shown = path.strip_prefix(root).expect("files are below the root").to_path_buf();
            let file: File = toml::from_str(&text).with_context(|| shown.display().to_string())?;
            cases.extend(file.case.into_iter().map(|case| (shown.clone(), case)));
        }
    }
    Ok(cases)
}

impl Case {
    /// The modes to run it in.
    pub fn modes(&self) -> Vec<Option<LexerMode>> {
        match self.lexer {
            None => vec![None],
            Some(Modes::Longest) => vec![Some(LexerMode::Longest)],
            Some(Modes::Exact) => vec![Some(LexerMode::Exact)],
            Some(Modes::Both) => vec![Some(LexerMode::Longest), Some(LexerMode::Exact)],
        }
    }

    /// The linked grammar, or what is wrong with it.
    pub fn link(&self, mode: Option<LexerMode>) -> Result<LinkedGrammar, Vec<Diagnostic>> {
        let limits = Limits::default();
        let mut sources = SourceMap::new();
        let only = self.grammar.iter().map(|text| (String::new(), text.clone()));
        let modules = Modules::map(self.files.clone());
        let listed = self.grammars.iter().map(|grammar| (grammar.name.clone(), grammar.lark.clone()));
        let mut grammars = Vec::new();
        let mut diagnostics = Vec::new();
        if let Some(text) = &self.schema {
            let source = sources.add("schema.json", text.clone());
            let body = Span::new(source, 0, text.len());
            let parsed = larkspur_json_schema::compile(&mut sources, body, &SchemaOptions::new(&limits));
            diagnostics.extend(parsed.diagnostics.into_iter().filter(Diagnostic::is_error));
            grammars.extend(parsed.grammar);
        }
        for (name, text) in only.chain(listed) {
            let source = sources.add(name.clone(), text);
            let start = if grammars.is_empty() { self.start.as_deref() } else { None };
            let modules = Some(&modules);
            let options = LarkOptions {
                start,
                lexer: mode,
                name: &name,
                modules,
                inner_languages: INNER_LANGUAGES,
                ..LarkOptions::new(&limits)
            };
            let parsed = parse(&mut sources, source, &options);
            diagnostics.extend(parsed.diagnostics.into_iter().filter(Diagnostic::is_error));
            grammars.extend(parsed.grammar);
        }
        if !diagnostics.is_empty() {
            return Err(diagnostics);
        }
        let mode = grammars[0].options.lexer;
        link(grammars, |language, body| read_inner(&mut sources, mode, language, body))
    }

    /// Bytes of a text.
    pub fn text(&self, text: &str) -> Vec<u8> {
        if !self.bytes {
            return text.as_bytes().to_vec();
        }
        let mut bytes = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("\\x") {
            bytes.extend(rest[..at].bytes());
            bytes.push(u8::from_str_radix(&rest[at + 2..at + 4], 16).expect("two hexadecimal digits"));
            rest = &rest[at + 4..];
        }
        bytes.extend(rest.bytes());
        bytes
    }

    /// Every text of the case, as bytes.
    pub fn texts(&self) -> Vec<Vec<u8>> {
        let rejects = self.rejects.iter().map(|reject| &reject.text);
        let captures = self.captures.iter().map(|captures| &captures.text);
        (self.accepts.iter().chain(&self.incomplete).chain(rejects).chain(captures))
            .map(|text| self.text(text))
            .collect()
    }

    /// The single bytes, five special tokens, and the case's own tokens.
    pub fn byte_vocab(&self) -> Vocab {
        let bytes = (0..=255).map(|byte| Token::Bytes(vec![byte]));
        let special = SPECIAL.map(|name| Token::Special(name.into()));
        let own = self.vocab.iter().map(|text| Token::Bytes(self.text(text)));
        Vocab { tokens: bytes.chain(special).chain(own).collect(), eos: vec![256, 260] }
    }

    /// Besides those, pieces of the case's texts: they cross the borders of lexemes and split characters.
    pub fn piece_vocab(&self) -> Vocab {
        const PIECES_MAX: usize = 120;
        let mut vocab = self.byte_vocab();
        let mut pieces = BTreeSet::new();
        let mut texts = self.texts();
        texts.push("é\u{20ac}😀  \n".into());
        for len in [2, 3, 5] {
            for text in &texts {
                pieces.extend(text.windows(len).map(<[u8]>::to_vec));
            }
        }
        let step = pieces.len().div_ceil(PIECES_MAX).max(1);
        for piece in pieces.into_iter().step_by(step) {
            let token = Token::Bytes(piece);
            if !vocab.tokens.contains(&token) {
                vocab.tokens.push(token);
            }
        }
        vocab
    }

    /// An element of a token sequence.
    pub fn step(&self, vocab: &Vocab, element: &str) -> Result<Step> {
        if let Some(text) = element.strip_prefix('=') {
            return Ok(Step::Text(self.text(text)));
        }
        let bytes = Token::Bytes(self.text(element));
        let special = Token::Special(element.into());
        let found = vocab.tokens.iter().position(|token| *token == special || *token == bytes);
        Ok(Step::Token(found.with_context(|| format!("no token {element:?}"))? as u32))
    }

    /// The steps of a token sequence.
    pub fn steps(&self, vocab: &Vocab, elements: &[String]) -> Result<Vec<Step>> {
        elements.iter().map(|element| self.step(vocab, element)).collect()
    }
}

/// What is fed to a matcher at once.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Step {
    /// Bytes that belong to no token.
    Text(Vec<u8>),
    /// A token.
    Token(u32),
}

impl Oracle {
    /// The state after a step, or `None`.
    pub fn feed_step(&self, state: &State, step: &Step) -> Option<State> {
        match step {
            Step::Text(bytes) => bytes.iter().try_fold(state.clone(), |state, &byte| self.feed_byte(&state, byte)),
            Step::Token(id) => self.feed_token(state, *id).map(|state| self.token_end(&state)),
        }
    }
}

/// Checks all that a case says against the oracle.
pub fn check_oracle(case: &Case, linked: &LinkedGrammar) -> Result<()> {
    let vocab = case.byte_vocab();
    let oracle = match Oracle::new(linked, &vocab) {
        Ok(_) if case.error => bail!("compiles"),
        Err(_) if case.error => return Ok(()),
        other => other.map_err(anyhow::Error::msg)?,
    };
    let verdict = |text: &str| {
        let mut state = oracle.start();
        for (at, byte) in case.text(text).into_iter().enumerate() {
            match oracle.feed_byte(&state, byte) {
                Some(next) => state = next,
                None => return (Some(at), false),
            }
        }
        (None, oracle.is_accepting(&state))
    };
    for text in &case.accepts {
        ensure!(verdict(text) == (None, true), "accepts {text:?}: {:?}", verdict(text));
    }
    for text in &case.incomplete {
        ensure!(verdict(text) == (None, false), "incomplete {text:?}: {:?}", verdict(text));
    }
    for Reject { text, at } in &case.rejects {
        ensure!(verdict(text) == (Some(*at), false), "rejects {text:?}: {:?}", verdict(text));
    }
    for sequence in &case.tokens {
        check_sequence(case, &oracle, sequence).with_context(|| format!("{sequence:?}"))?;
    }
    for mask in &case.masks {
        let mut state = oracle.start();
        for step in case.steps(&vocab, &mask.after)? {
            state = oracle.feed_step(&state, &step).with_context(|| format!("{:?} is rejected", mask.after))?;
        }
        check_mask(case, &vocab, mask, &oracle.mask(&state)).with_context(|| format!("after {:?}", mask.after))?;
    }
    Ok(())
}

fn check_sequence(case: &Case, oracle: &Oracle, sequence: &Sequence) -> Result<()> {
    let vocab = oracle.vocab();
    let mut state = oracle.start();
    let steps = case.steps(vocab, &sequence.input)?;
    for (at, step) in steps.iter().enumerate() {
        match oracle.feed_step(&state, step) {
            Some(next) => state = next,
            None if sequence.verdict == Verdict::End => {
                let is_eos = matches!(step, Step::Token(id) if vocab.eos.contains(id));
                ensure!(is_eos && at + 1 == steps.len() && oracle.is_accepting(&state), "element {at} is rejected");
                return Ok(());
            }
            None => {
                let expected = sequence.verdict == Verdict::Reject && sequence.at == Some(at);
                ensure!(expected, "element {at} is rejected");
                let is_eos = matches!(step, Step::Token(id) if vocab.eos.contains(id));
                ensure!(!(is_eos && oracle.is_accepting(&state)), "element {at} ends the text");
                return Ok(());
            }
        }
    }
    let accepted = if oracle.is_accepting(&state) { Verdict::Accept } else { Verdict::Incomplete };
    ensure!(accepted == sequence.verdict, "the verdict is {accepted:?}");
    Ok(())
}

/// Checks a mask against what a case says of it.
pub fn check_mask(case: &Case, vocab: &Vocab, expected: &Mask, mask: &BTreeSet<u32>) -> Result<()> {
    let id = |element: &String| match case.step(vocab, element)? {
        Step::Token(id) => Ok(id),
        Step::Text(_) => bail!("{element} is not a token"),
    };
    if let Some(only) = &expected.only {
        let only = only.iter().map(id).collect::<Result<BTreeSet<u32>>>()?;
        let show =
            |ids: Vec<&u32>| ids.iter().map(|&&id| format!("{:?}", vocab.tokens[id as usize])).collect::<Vec<_>>();
        let (missing, more) = (show(only.difference(mask).collect()), show(mask.difference(&only).collect()));
        ensure!(missing.is_empty() && more.is_empty(), "the mask lacks {missing:?} and has {more:?}");
    }
    for element in &expected.allowed {
        ensure!(mask.contains(&id(element)?), "{element} is not allowed");
    }
    for element in &expected.forbidden {
        ensure!(!mask.contains(&id(element)?), "{element} is allowed");
    }
    Ok(())
}

/// Checks one case in so many. Panics if there are none, or if one fails.
///
/// Cost: of all, minutes of work in a debug build, shared by as many threads as there are processors.
pub fn for_each(step: usize, check: impl Fn(&Case, &LinkedGrammar) -> Result<()> + Sync) {
    let only = std::env::var("LARKSPUR_TEST_CASE").unwrap_or_default();
    let mut tries = Vec::new();
    let cases = all().expect("cases can be read").into_iter().filter(|(_, case)| case.name.contains(&only));
    for (path, case) in cases.step_by(step) {
        tries.extend(case.modes().into_iter().map(|mode| (path.clone(), case.clone(), mode)));
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failures = Vec::new();
        while let Some((path, case, mode)) = tries.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = match case.link(*mode) {
                Err(_) if case.error => Ok(()),
                Err(diagnostics) => Err(anyhow!("{diagnostics:#?}")),
                Ok(linked) => check(case, &linked),
            };
            if let Err(error) = result {
                failures.push(format!("{} {} {mode:?}: {error:#}", path.display(), case.name));
            }
        }
        failures
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let failures: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the worker has not panicked")).collect()
    });
    assert!(!tries.is_empty(), "no cases");
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), tries.len(), failures.join("\n"));
}

/// Checks all that a case says against the engine, and the engine against the oracle in every state on the way.
pub fn check_engine(case: &Case, linked: &LinkedGrammar) -> Result<()> {
    let oracle = Oracle::new(linked, &case.byte_vocab()).map_err(anyhow::Error::msg)?;
    let checked = check_engine_with(case, linked, &oracle, &mut Answers::new(), &Caches::on());
    ensure!(!oracle.is_undecided(), "the oracle has given up");
    checked.context("vocabulary of bytes, caches on")?;
    let oracle = Oracle::new(linked, &case.piece_vocab()).map_err(anyhow::Error::msg)?;
    let mut answers = Answers::new();
    let number = case.name.bytes().map(usize::from).sum();
    for caches in Caches::some(number) {
        let checked = check_engine_with(case, linked, &oracle, &mut answers, &caches);
        ensure!(!oracle.is_undecided(), "the oracle has given up");
        checked.with_context(|| format!("vocabulary of pieces, {}", caches.name))?;
    }
    Ok(())
}

fn check_engine_with(
    case: &Case,
    linked: &LinkedGrammar,
    oracle: &Oracle,
    answers: &mut Answers,
    caches: &Caches,
) -> Result<()> {
    let mut rig = match Rig::new(oracle, answers, linked, caches) {
        Err(diagnostics) if case.trap && compare::is_trap(&diagnostics) => return Ok(()),
        Err(diagnostics) => bail!("the engine does not compile it: {diagnostics:#?}"),
        Ok(_) if case.trap => bail!("the engine compiles it, though it can never be finished"),
        Ok(rig) => rig,
    };
    let vocab = oracle.vocab();
    for text in case.texts() {
        let bytes: Vec<Step> = text.iter().map(|&byte| Step::Text(vec![byte])).collect();
        for steps in [bytes, tokenize(vocab, &text, true), tokenize(vocab, &text, false)] {
            rig.follow(&steps)?;
        }
        // The text in one piece.
        let mut matcher = rig.matcher()?;
        let at = match matcher.consume_bytes(&text) {
            Ok(()) => None,
            Err(MatcherError::TextRejected { at_byte }) => Some(at_byte),
            Err(error) => bail!("{error}"),
        };
        let expected = (1..=text.len()).find(|&len| {
            let state = text[..len].iter().try_fold(oracle.start(), |state, &byte| oracle.feed_byte(&state, byte));
            state.is_none()
        });
        ensure!(at == expected.map(|len| len - 1), "{:?} in one piece is refused at {at:?}", text.escape_ascii());
    }
    for sequence in &case.tokens {
        let steps = case.steps(vocab, &sequence.input)?;
        rig.follow(&steps)?;
    }
    for mask in &case.masks {
        let steps = case.steps(vocab, &mask.after)?;
        rig.follow(&steps)?;
    }
    for expected in &case.captures {
        check_captures(case, &mut rig, expected).with_context(|| format!("captures of {:?}", expected.text))?;
    }
    for expected in &case.temperatures {
        let mut matcher = rig.matcher()?;
        matcher.consume_bytes(&case.text(&expected.after))?;
        let temperature = matcher.temperature()?;
        ensure!(temperature == expected.value, "temperature after {:?} is {temperature:?}", expected.after);
    }
    Ok(())
}

/// Checks captures after a text, and again after more text was consumed and taken back.
fn check_captures(case: &Case, rig: &mut Rig, expected: &Captures) -> Result<()> {
    let vocab = rig.vocab();
    let text = case.text(&expected.text);
    let mut steps = tokenize(vocab, &text, false);
    if expected.end {
        steps.push(Step::Token(vocab.eos[0]));
    }
    let mut matcher = rig.matcher()?;
    for step in &steps {
        // What will be taken back must leave no trace.
        for id in [b'a', b'x', b','].map(u32::from) {
            if matcher.is_allowed(id)? {
                matcher.consume_token(id)?;
                matcher.captures()?;
                matcher.rollback(1)?;
            }
        }
        compare::feed(&mut matcher, step)?;
    }
    let captures = matcher.captures()?.into_iter().map(|capture| (capture.name, capture.bytes));
    let captures: Vec<(String, String)> =
        captures.map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned())).collect();
    ensure!(captures == expected.spans, "{captures:?}");
    Ok(())
}
