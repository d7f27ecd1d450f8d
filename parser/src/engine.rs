//! What all grammars of a vocabulary share, and what one compiled grammar holds.

use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

use larkspur_grammar::{Diagnostic, LexerMode, Limits, LinkedGrammar};
use larkspur_toktrie::Vocabulary;

use crate::captures::Plan;
use crate::cfg::Cfg;
use crate::lexer::arena::Arena;
use crate::lexer::states::lower;
use crate::machine::Machine;
use crate::mask::shared::SharedTerms;
use crate::mask::{MaskCache, MaskStats};
use crate::published::Published;
use crate::shortcut::Shortcuts;
use crate::slicer::{DEFAULT_SLICES, SliceError, Slicer};
use crate::token_steps::TokenSteps;

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Bounds on everything that input can make long.
    pub limits: Limits,
    /// Regexes (Rust's syntax) of the slices, at most [`SLICES_MAX`](crate::SLICES_MAX): see [`DEFAULT_SLICES`]. Empty switches
    /// the slicer off.
    pub slices: Vec<String>,
    /// What to do without, to measure what it is worth: masks are the same. Nothing by default.
    pub without: Shortcuts,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            slices: DEFAULT_SLICES.map(String::from).into(),
            without: Shortcuts::default(),
        }
    }
}

/// What all grammars of a vocabulary share: the regex algebra's expressions and the slices. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shared {
    inner: Arc<SharedInner>,
}

#[derive(Debug)]
struct SharedInner {
    vocabulary: Arc<Vocabulary>,
    limits: Limits,
    slicer: Slicer,
    era: Mutex<Era>,
}

/// What grammars share until the arena is worn.
#[derive(Clone, Debug)]
pub(crate) struct Era {
    pub arena: Arc<Arena>,
    /// Terms by the arena's expressions.
    pub terms: Arc<SharedTerms>,
    number: u64,
}

impl Era {
    fn new(number: u64, vocabulary: &Arc<Vocabulary>, limits: &Limits, without: Shortcuts) -> Self {
        let arena = Arc::new(Arena::new(limits, vocabulary.clone(), without));
        Self { arena, terms: Arc::new(SharedTerms::new(limits.term_cache_bytes_max, without)), number }
    }
}

impl Shared {
    /// Sorts the vocabulary into slices.
    ///
    /// Errors: [`SliceError`].
    /// Cost: tens of milliseconds for 200,000 tokens.
    pub fn new(vocabulary: Arc<Vocabulary>, options: &EngineOptions) -> Result<Self, SliceError> {
        let limits = options.limits.clone().within_stack();
        let era = Era::new(0, &vocabulary, &limits, options.without);
        let slicer = Slicer::new(&vocabulary, &options.slices, &era.arena, &limits)?;
        let inner = SharedInner { vocabulary, slicer, era: Mutex::new(era), limits };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.inner.vocabulary
    }

    /// The limits that grammars and matchers meet.
    pub fn limits(&self) -> &Limits {
        &self.inner.limits
    }

    pub(crate) fn slicer(&self) -> &Slicer {
        &self.inner.slicer
    }

    /// The era for a new grammar or epoch: a fresh one if half of the arena's budget is spent.
    pub(crate) fn era(&self) -> Era {
        let mut era = self.inner.era.lock().unwrap_or_else(PoisonError::into_inner);
        if era.arena.is_worn() {
            *era = Era::new(era.number + 1, &self.inner.vocabulary, &self.inner.limits, era.terms.without);
        }
        era.clone()
    }

    /// How often what grammars share has been begun anew, for those who keep grammars: the old ones keep what was shared
    /// before, up to half of `expressions_max`.
    pub fn era_number(&self) -> u64 {
        self.inner.era.lock().unwrap_or_else(PoisonError::into_inner).number
    }
}

/// A grammar, ready to match. Immutable but for what it remembers; `Send + Sync`, cheap to clone.
#[derive(Clone, Debug)]
pub struct CompiledGrammar {
    inner: Arc<GrammarInner>,
}

#[derive(Debug)]
struct GrammarInner {
    shared: Shared,
    cfg: Arc<Cfg>,
    warnings: Warnings,
    /// Made when captures are first asked for.
    capture_plan: OnceLock<Plan>,
    epoch: Mutex<Arc<Epoch>>,
}

/// What is probably not meant as it is written.
#[derive(Debug)]
pub(crate) struct Warnings {
    /// What compiling has found, if that is not all.
    found: Vec<Diagnostic>,
    /// With the lints that are looked for when somebody asks.
    all: OnceLock<Vec<Diagnostic>>,
}

impl Warnings {
    /// What compiling has found, and whether that is all.
    pub fn new(found: Vec<Diagnostic>, is_all: bool) -> Self {
        match is_all {
            true => Self { found: Vec::new(), all: OnceLock::from(found) },
            false => Self { found, all: OnceLock::new() },
        }
    }
}

/// What grows while a grammar is used. At half of its budget, or of that of the expressions that grammars share, a new epoch
/// begins for new matchers; those that run keep the old one.
///
/// In this order what is asked first shares a line of the cache with the lock, of which the tables stand behind.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Epoch {
    /// What is read without holding the tables, from when somebody has had to wait for them.
    published: OnceLock<Box<Published>>,
    /// Where tokens lead depends on nothing but places, and masks do, too.
    is_plain: bool,
    mask_bytes_max: usize,
    session: Mutex<Session>,
    /// With more expressions in the arena it is worn: half of what there may be, and not what the grammar itself takes.
    expressions_worn: usize,
}

/// A share of the budget for masks: so much of it may be published.
const PUBLISHED_SHARE: usize = 4;

/// The growing tables, held by one matcher at a time.
#[derive(Debug)]
pub(crate) struct Session {
    /// Some 4 kB, which compiling would copy wherever it hands them on.
    pub machine: Box<Machine>,
    pub masks: MaskCache,
    pub steps: TokenSteps,
    /// Masks of [`EagerMatcher`](crate::EagerMatcher)s, once there is one.
    pub eager_masks: Option<Box<MaskCache>>,
}

impl Session {
    fn all_masks(&self) -> impl Iterator<Item = &MaskCache> {
        iter::once(&self.masks).chain(self.eager_masks.as_deref())
    }
}

impl Epoch {
    pub fn new(machine: Box<Machine>, terms: &Arc<SharedTerms>, limits: &Limits) -> Self {
        let is_plain = !machine.cfg.has_scopes && !machine.cfg.has_hidden;
        let expressions_worn = (limits.expressions_max / 2).max(machine.lexer.arena().len().saturating_mul(2));
        Self {
            expressions_worn,
            session: Mutex::new(Session {
                machine,
                masks: MaskCache::new(limits.mask_cache_bytes_max, terms.clone()),
                steps: TokenSteps::new(is_plain && !terms.without.contains(Shortcuts::STEPS)),
                eager_masks: None,
            }),
            published: OnceLock::new(),
            is_plain,
            mask_bytes_max: limits.mask_cache_bytes_max / PUBLISHED_SHARE,
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, Session> {
        // Tables are only appended to, so that they are valid at every point.
        match self.session.try_lock() {
            Ok(session) => session,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => {
                self.publish();
                self.session.lock().unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    /// Publishes from now on what is found out.
    pub fn publish(&self) {
        if self.is_plain {
            self.published.get_or_init(|| Box::new(Published::new(self.mask_bytes_max)));
        }
    }

    /// What is read without holding the tables.
    #[inline]
    pub fn published(&self) -> Option<&Published> {
        self.published.get().map(|published| &**published)
    }

    fn read_without_lock(&self) -> MaskStats {
        MaskStats { hits: self.published().map_or(0, Published::hits), ..MaskStats::default() }
    }

    fn is_worn(&self) -> bool {
        let machine = &self.lock().machine;
        let limits = &machine.limits;
        machine.sets.len() > limits.earley_sets_max / 2
            || machine.bytes() > limits.earley_bytes_max / 2
            || machine.lexer.state_count() > limits.lexer_states_max / 2
            || machine.lexer.arena().len() > self.expressions_worn
    }
}

/// Sizes of what a grammar has built so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct GrammarStats {
    /// Lexer states.
    pub lexer_states: usize,
    /// Earley sets.
    pub earley_sets: usize,
    /// Items of all sets.
    pub earley_items: usize,
    /// Bytes of sets and what they expect, roughly.
    pub earley_bytes: usize,
    /// Hits of the memo (set, lexemes) -> set.
    pub scan_hits: u64,
    /// Misses of that memo.
    pub scan_misses: u64,
    /// Masks.
    pub masks: MaskStats,
}

impl CompiledGrammar {
    pub(crate) fn new(
        shared: Shared,
        cfg: Arc<Cfg>,
        (machine, terms): (Box<Machine>, &Arc<SharedTerms>),
        warnings: Warnings,
    ) -> Self {
        let epoch = Mutex::new(Arc::new(Epoch::new(machine, terms, shared.limits())));
        Self { inner: Arc::new(GrammarInner { shared, cfg, warnings, capture_plan: OnceLock::new(), epoch }) }
    }

    /// Compiles a linked grammar for a vocabulary.
    ///
    /// Errors: what [`CODES`](crate::CODES) lists.
    pub fn compile(shared: &Shared, linked: LinkedGrammar) -> Result<Self, Vec<Diagnostic>> {
        crate::compile::compile(shared, linked)
    }

    /// What all grammars of the vocabulary share.
    pub fn shared(&self) -> &Shared {
        &self.inner.shared
    }

    /// What is probably not meant as it is written. Cost: in `longest` mode a search the first time, some hundred microseconds; if
    /// that meets a limit, it finds nothing.
    pub fn warnings(&self) -> &[Diagnostic] {
        let Warnings { found, all } = &self.inner.warnings;
        let lints = || crate::compile::lints(&self.inner.cfg, &self.inner.shared);
        all.get_or_init(|| found.iter().cloned().chain(lints()).collect())
    }

    /// The lexer mode that holds.
    pub fn lexer_mode(&self) -> LexerMode {
        self.inner.cfg.mode
    }

    /// Sizes of what the current epoch has built.
    pub fn stats(&self) -> GrammarStats {
        let epoch = self.current();
        let session = epoch.lock();
        let (scan_hits, scan_misses) = session.machine.sets.scan_counts();
        GrammarStats {
            lexer_states: session.machine.lexer.state_count(),
            earley_sets: session.machine.sets.len(),
            earley_items: session.machine.sets.item_count(),
            earley_bytes: session.machine.sets.bytes(),
            scan_hits,
            scan_misses,
            masks: session.all_masks().fold(epoch.read_without_lock(), |stats, masks| stats + masks.stats()),
        }
    }

    /// Bytes of what the current epoch has built, roughly; `None` while a matcher is at work.
    pub fn bytes(&self) -> Option<usize> {
        let epoch = self.current();
        let session = epoch.session.try_lock().ok()?;
        let masks: usize = session.all_masks().map(MaskCache::bytes).sum();
        let published = epoch.published().map_or(0, Published::bytes);
        let machine = session.machine.sets.bytes() + session.machine.lexer.bytes();
        Some(machine + session.steps.bytes() + masks + published)
    }

    /// Has matchers on several threads read known masks, and where tokens lead, without waiting for each other. That begins by
    /// itself once one has had to wait, or with [`compute_masks`](crate::compute_masks) on several threads; before, a single thread is
    /// spared the making of what nobody reads. Without effect on grammars with `max_tokens` in rules or `stop`. Cost: up to
    /// 10 MB and a quarter of `mask_cache_bytes_max`, as they are filled.
    pub fn publish(&self) {
        self.current().publish();
    }

    pub(crate) fn cfg(&self) -> &Arc<Cfg> {
        &self.inner.cfg
    }

    pub(crate) fn capture_plan(&self) -> &Plan {
        self.inner.capture_plan.get_or_init(|| Plan::new(&self.inner.cfg))
    }

    pub(crate) fn current(&self) -> Arc<Epoch> {
        self.inner.epoch.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The epoch for a new matcher.
    pub(crate) fn epoch(&self) -> Arc<Epoch> {
        let mut epoch = self.inner.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        if epoch.is_worn() {
            let limits = self.inner.shared.limits();
            // What was lowered once can be lowered again, unless the arena is spent: then the old epoch has to do.
            let Era { arena, terms, .. } = self.inner.shared.era();
            let cfg = &self.inner.cfg;
            let machine = lower(cfg, &arena).and_then(|lowered| Machine::new(cfg.clone(), &lowered, arena, limits));
            if let Ok(machine) = machine {
                let new = Epoch::new(machine, &terms, limits);
                if epoch.published().is_some() {
                    new.publish();
                }
                *epoch = Arc::new(new);
            }
        }
        epoch.clone()
    }
}
