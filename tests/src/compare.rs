//! The engine against the oracle, state by state.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use larkspur_grammar::{Diagnostic, Limits, LinkedGrammar};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherError, MatcherOptions, Shared, Shortcuts};
use larkspur_toktrie::{TokenMask, Vocabulary};

use crate::cases::Step;
use crate::factor;
use crate::oracle::{Letter, Oracle, State, Token, Vocab};

/// The engine's tables for a vocabulary.
pub fn vocabulary(vocab: &Vocab) -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    for (id, token) in vocab.tokens.iter().enumerate() {
        match token {
            Token::Bytes(bytes) => builder.token(id as u32, bytes),
            Token::Special(name) => builder.special(id as u32, name.as_str()),
        };
    }
    for &eos in &vocab.eos {
        builder.eos(eos);
    }
    Arc::new(builder.build().expect("the vocabulary is sound"))
}

/// How the engine's caches are set up.
pub struct Caches {
    /// For messages.
    pub name: String,
    /// The engine's.
    pub options: EngineOptions,
    /// Whether what is found out is read without the lock.
    pub published: bool,
}

impl Caches {
    /// As they are by default.
    pub fn on() -> Self {
        Self::of("caches on", EngineOptions::default())
    }

    fn of(name: impl Into<String>, options: EngineOptions) -> Self {
        Self { name: name.into(), options, published: false }
    }

    /// All ways to set them up with all [`Shortcuts`], the default first.
    pub fn all() -> [Self; 4] {
        let of = |bytes| Limits { mask_cache_bytes_max: bytes, term_cache_bytes_max: bytes, ..Limits::default() };
        let off = EngineOptions { slices: vec![], limits: of(0), ..EngineOptions::default() };
        let tiny = EngineOptions { limits: of(200), ..EngineOptions::default() };
        [
            Self::on(),
            Self::of("caches off", off),
            Self { published: true, ..Self::of("caches tiny", tiny) },
            Self { published: true, ..Self::of("caches published", EngineOptions::default()) },
        ]
    }

    /// One way to leave out something: a shortcut, slices or what grammars share. Another one for the next number.
    pub fn without(number: usize) -> Self {
        let usual = EngineOptions::default();
        let shortcuts: Vec<(&str, Shortcuts)> = Shortcuts::all().iter_names().collect();
        let (name, options) = match number % Self::WITHOUT {
            0 => ("slices", EngineOptions { slices: vec![], ..usual }),
            1 => ("sharing", EngineOptions { limits: Limits { term_cache_bytes_max: 0, ..usual.limits }, ..usual }),
            shortcut => {
                let (name, without) = shortcuts[shortcut - 2];
                (name, EngineOptions { without, ..usual })
            }
        };
        Self::of(format!("without {name}"), options)
    }

    /// How many things can be left out.
    const WITHOUT: usize = Shortcuts::all().bits().count_ones() as usize + 2;

    /// All ways with all shortcuts, and two without something; in long runs ([`factor`]) all of these.
    pub fn some(number: usize) -> impl Iterator<Item = Self> {
        let ways = if factor() > 1 { Self::WITHOUT } else { 2 };
        Self::all().into_iter().chain((0..ways).map(move |way| Self::without(2 * number + way)))
    }
}

/// What the grammars of one engine share.
pub fn shared(vocab: &Vocab, options: &EngineOptions) -> Shared {
    Shared::new(vocabulary(vocab), options).expect("the slices are sound")
}

/// Compiles a grammar for a vocabulary.
pub fn compile(
    linked: &LinkedGrammar,
    vocab: &Vocab,
    options: &EngineOptions,
) -> Result<CompiledGrammar, Vec<Diagnostic>> {
    CompiledGrammar::compile(&shared(vocab, options), linked.clone())
}

/// Whether the engine refused a grammar because `longest` mode never lets a text of it end.
pub fn is_trap(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.code == "P004")
}

/// Whether an accepting state can be reached; `None` if it takes more than so many states to know.
pub fn reaches_an_end(oracle: &Oracle, state: &State, states_max: usize) -> Option<bool> {
    let mut queue = VecDeque::from([state.clone()]);
    for _ in 0..states_max {
        let Some(state) = queue.pop_front() else { return Some(false) };
        if oracle.is_accepting(&state) {
            return Some(true);
        }
        queue.extend(oracle.next_letters(&state).into_iter().filter_map(|letter| oracle.feed(&state, letter)));
    }
    None
}

/// A grammar compiled for a vocabulary, and what the oracle says of it.
pub struct Rig<'a> {
    oracle: &'a Oracle,
    grammar: CompiledGrammar,
    /// What the oracle says after each sequence of steps that was met; shared by all rigs of an oracle.
    answers: &'a mut Answers,
    /// Sequences after which all was checked; after that only masks are.
    seen: HashSet<Vec<Step>>,
    /// How many tokens to consume and take back in each state.
    trials: usize,
}

/// What an oracle has said.
pub type Answers = HashMap<Vec<Step>, Answer>;

/// What the oracle says of a state.
pub struct Answer {
    state: State,
    mask: BTreeSet<u32>,
    accepting: bool,
    /// Bytes that may follow, if nothing else may and the text may not end.
    forced: Option<u8>,
}

impl<'a> Rig<'a> {
    /// Compiles the grammar.
    pub fn new(
        oracle: &'a Oracle,
        answers: &'a mut Answers,
        linked: &LinkedGrammar,
        caches: &Caches,
    ) -> Result<Self, Vec<Diagnostic>> {
        Self::beside(oracle, answers, linked, (&shared(oracle.vocab(), &caches.options), caches))
    }

    /// Compiles the grammar in an engine that other grammars use, too.
    pub fn beside(
        oracle: &'a Oracle,
        answers: &'a mut Answers,
        linked: &LinkedGrammar,
        (shared, caches): (&Shared, &Caches),
    ) -> Result<Self, Vec<Diagnostic>> {
        let grammar = CompiledGrammar::compile(shared, linked.clone())?;
        if caches.published {
            grammar.publish();
        }
        Ok(Rig { oracle, grammar, answers, seen: HashSet::new(), trials: 6 })
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &'a Vocab {
        self.oracle.vocab()
    }

    /// A matcher at the start.
    pub fn matcher(&self) -> Result<Matcher> {
        Ok(Matcher::new(&self.grammar, MatcherOptions::default())?)
    }

    /// Feeds steps, with everything checked in every state. Returns how many could be fed.
    pub fn follow(&mut self, steps: &[Step]) -> Result<usize> {
        let mut matcher = self.matcher()?;
        for fed in 0..=steps.len() {
            let before = &steps[..fed];
            self.check_state(&mut matcher, before).with_context(|| format!("after {}", self.show(before)))?;
            let Some(step) = steps.get(fed) else { break };
            let expected = self.answer(&steps[..=fed]).map(|_| ());
            let ends = self.ends(before, step);
            let result = feed(&mut matcher, step);
            match (&result, expected) {
                (Ok(_), Some(())) => {}
                (Ok(_), None) if ends => {
                    ensure!(matcher.is_stopped(), "the engine goes on after EOS");
                    return Ok(fed + 1);
                }
                (Err(MatcherError::TokenRejected { .. } | MatcherError::TextRejected { .. }), None) if !ends => {
                    return Ok(fed);
                }
                (Err(MatcherError::Stopped), None) if !ends => return Ok(fed),
                _ => bail!(
                    "after {}: step {} is {} by the oracle, and {result:?} by the engine",
                    self.show(before),
                    self.show(&steps[fed..=fed]),
                    if expected.is_some() || ends { "taken" } else { "rejected" }
                ),
            }
        }
        Ok(steps.len())
    }

    /// Whether the step is an EOS token that ends the text.
    fn ends(&mut self, before: &[Step], step: &Step) -> bool {
        let is_eos = matches!(step, Step::Token(id) if self.oracle.vocab().eos.contains(id));
        is_eos && self.answer(before).is_some_and(|answer| answer.accepting)
    }

    fn answer(&mut self, steps: &[Step]) -> Option<&Answer> {
        if !self.answers.contains_key(steps) {
            let state = match steps.split_last() {
                None => self.oracle.start(),
                Some((last, before)) => {
                    let before = self.answer(before)?.state.clone();
                    self.oracle.feed_step(&before, last)?
                }
            };
            let mask = self.oracle.mask(&state);
            let accepting = self.oracle.is_accepting(&state);
            let first_bytes: BTreeSet<u8> = (mask.iter())
                .filter_map(|&id| match &self.oracle.vocab().tokens[id as usize] {
                    Token::Bytes(bytes) => bytes.first().copied(),
                    Token::Special(_) => None,
                })
                .collect();
            let has_choice = accepting || first_bytes.len() > 1;
            let next_letters = if has_choice { vec![] } else { self.oracle.next_letters(&state) };
            let forced = match next_letters.as_slice() {
                &[Letter::Byte(byte)] => Some(byte),
                _ => None,
            };
            self.answers.insert(steps.to_vec(), Answer { state, mask, accepting, forced });
        }
        self.answers.get(steps)
    }

    fn check_state(&mut self, matcher: &mut Matcher, steps: &[Step]) -> Result<()> {
        let answer = self.answer(steps).expect("the oracle has taken the steps");
        let (expected, accepting, forced, state) =
            (answer.mask.clone(), answer.accepting, answer.forced, answer.state.clone());
        let accepts = matcher.is_accepting()?;
        ensure!(accepts == accepting, "accepting is {accepting} by the oracle and {accepts} by the engine");
        self.check_mask(matcher, &expected)?;
        if !self.seen.insert(steps.to_vec()) {
            return Ok(());
        }
        let mut fork = matcher.fork();
        self.check_mask(&mut fork, &expected).context("in a fork")?;
        if !matcher.is_stopped() {
            for id in 0..self.oracle.vocab().tokens.len() as u32 {
                let allowed = matcher.is_allowed(id)?;
                ensure!(allowed == expected.contains(&id), "is_allowed says {allowed} for {}", self.name(id));
            }
        }
        self.check_forced(matcher, state, forced)?;
        self.check_rollback(matcher, &expected)
    }

    fn check_mask(&self, matcher: &mut Matcher, expected: &BTreeSet<u32>) -> Result<()> {
        let mut mask = TokenMask::new(self.oracle.vocab().tokens.len());
        match matcher.compute_mask(&mut mask) {
            Err(MatcherError::NoToken) if expected.is_empty() => return Ok(()),
            result => result?,
        }
        let mask: BTreeSet<u32> = mask.iter().collect();
        let names = |ids: Vec<&u32>| ids.iter().take(20).map(|&&id| self.name(id)).collect::<Vec<_>>().join(" ");
        let lacks = names(expected.difference(&mask).collect());
        let more = names(mask.difference(expected).collect());
        ensure!(mask == *expected, "the engine's mask lacks [{lacks}] and has [{more}] besides");
        Ok(())
    }

    /// Each forced byte is the only one that may follow, where the text may not end.
    fn check_forced(&self, matcher: &Matcher, mut state: State, first: Option<u8>) -> Result<()> {
        let forced = matcher.forced_bytes()?;
        ensure!(
            forced.first().copied() == first,
            "the first forced byte is {first:?} by the oracle; by the engine {:?}",
            String::from_utf8_lossy(&forced)
        );
        for &byte in forced.iter().take(8) {
            let next = self.oracle.next_letters(&state);
            ensure!(next == [Letter::Byte(byte)], "{byte:#x} is not forced, {next:?} may follow");
            ensure!(!self.oracle.is_accepting(&state), "{byte:#x} is forced though the text may end");
            state = self.oracle.feed_byte(&state, byte).expect("the byte may follow");
        }
        Ok(())
    }

    /// Consuming and taking back leaves everything as it was; what is rejected changes nothing.
    fn check_rollback(&self, matcher: &mut Matcher, expected: &BTreeSet<u32>) -> Result<()> {
        if matcher.is_stopped() {
            return Ok(());
        }
        let steps = matcher.step_count();
        let every = (expected.len() / self.trials).max(1);
        for &id in expected.iter().step_by(every) {
            let mut fork = matcher.fork();
            fork.consume_token(id).with_context(|| format!("allowed token {}", self.name(id)))?;
            matcher.consume_token(id)?;
            ensure!(masks_equal(matcher, &mut fork)?, "a fork's mask differs after {}", self.name(id));
            matcher.rollback(1)?;
            ensure!(matcher.step_count() == steps, "rollback does not restore the length");
            self.check_mask(matcher, expected).with_context(|| format!("after {} was taken back", self.name(id)))?;
        }
        let rejected: Vec<u32> =
            (0..self.oracle.vocab().tokens.len() as u32).filter(|id| !expected.contains(id)).collect();
        for &id in rejected.iter().step_by((rejected.len() / self.trials).max(1)) {
            ensure!(matcher.consume_token(id).is_err(), "consumes {}, which the mask forbids", self.name(id));
        }
        self.check_mask(matcher, expected).context("after tokens were rejected")
    }

    fn name(&self, id: u32) -> String {
        match &self.oracle.vocab().tokens[id as usize] {
            Token::Bytes(bytes) => format!("{:?}", bytes.escape_ascii().to_string()),
            Token::Special(name) => name.clone(),
        }
    }

    fn show(&self, steps: &[Step]) -> String {
        let shown: Vec<String> = (steps.iter())
            .map(|step| match step {
                Step::Text(bytes) => format!("={:?}", bytes.escape_ascii().to_string()),
                Step::Token(id) => self.name(*id),
            })
            .collect();
        format!("[{}]", shown.join(" "))
    }
}

fn masks_equal(a: &mut Matcher, b: &mut Matcher) -> Result<bool> {
    let len = a.grammar().shared().vocabulary().len();
    let (mut first, mut second) = (TokenMask::new(len), TokenMask::new(len));
    let (one, other) = (a.compute_mask(&mut first), b.compute_mask(&mut second));
    Ok(one == other && first.words() == second.words())
}

/// Feeds a step to the engine.
pub fn feed(matcher: &mut Matcher, step: &Step) -> Result<(), MatcherError> {
    match step {
        Step::Text(bytes) => matcher.consume_bytes(bytes),
        Step::Token(id) => matcher.consume_token(*id).map(drop),
    }
}

/// A text cut into tokens: always the longest, or of varying length.
pub fn tokenize(vocab: &Vocab, text: &[u8], longest: bool) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let mut fitting: Vec<(usize, u32)> = (vocab.tokens.iter().enumerate())
            .filter_map(|(id, token)| match token {
                Token::Bytes(bytes) if !bytes.is_empty() && text[at..].starts_with(bytes) => {
                    Some((bytes.len(), id as u32))
                }
                _ => None,
            })
            .collect();
        fitting.sort();
        let choice = if longest { fitting.len() - 1 } else { (at * 7 + 3) % fitting.len() };
        at += fitting[choice].0;
        steps.push(Step::Token(fitting[choice].1));
    }
    steps
}
