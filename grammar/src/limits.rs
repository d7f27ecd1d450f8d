//! Every limit, with its unit, its default and its reason.
//!
//! A limit that is met gives a typed error that names the field, so that a user knows what to raise.

/// Declares [`Limits`]: documentation, name, type and default of each stand in one place.
macro_rules! limits {
    ($($(#[doc = $doc:literal])+ pub $name:ident: $type:ty = $default:expr,)+) => {
        /// Bounds on everything that input can make long.
        #[derive(Clone, PartialEq, Eq, Debug)]
        pub struct Limits {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        impl Default for Limits {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }

        impl Limits {
            /// The names of all limits.
            pub const NAMES: &[&str] = &[$(stringify!($name)),+];

            /// Sets the limit of that name; a value past the largest means that one. `false` if there is no such limit.
            pub fn set(&mut self, name: &str, value: u64) -> bool {
                match name {
                    $(stringify!($name) => self.$name = <$type>::try_from(value).unwrap_or(<$type>::MAX),)+
                    _ => return false,
                }
                *self = std::mem::take(self).within_stack();
                true
            }
        }
    };
}

impl Limits {
    /// The largest `grammar_depth_max` and `schema_unique_depth_max`: what recurses this deep fits a thread's stack of 2 MB
    /// (tried with `opt-level = 1`, which this workspace's debug builds have; without optimisation frames are larger).
    pub const DEPTH_MAX: usize = 1_000;

    /// The same with no limit of recursion past what a stack holds.
    pub fn within_stack(mut self) -> Self {
        self.grammar_depth_max = self.grammar_depth_max.min(Self::DEPTH_MAX);
        self.schema_unique_depth_max = self.schema_unique_depth_max.min(Self::DEPTH_MAX);
        self
    }
}

limits! {
    /// Bytes of one source text, and of all that it imports. 16 MB: a 100,000-way enumeration is 2 MB.
    pub source_bytes_max: usize = 16 << 20,
    /// Diagnostics reported for one source. 100: more help nobody.
    pub diagnostics_max: usize = 100,
    /// Nesting of parentheses, brackets and embedded grammars in a source. 200: deeper is not written by hand, and
    /// readers recurse this deep, so that more than 1,000 means 1,000.
    pub grammar_depth_max: usize = 200,
    /// Texts that a Lark text imports, each counted for every text that imports it. 1,000.
    pub grammar_imports_max: usize = 1_000,
    /// Different lists of arguments of all templates of a Lark text. 10,000: a template that gives itself longer
    /// arguments has no end.
    pub template_instances_max: usize = 10_000,
    /// Width of the widest block by indentation that a grammar may have: there is a terminal for each width. 1,000.
    pub block_width_max: u32 = 1_000,
    /// Symbols, alternatives and definitions of a source as they are written, and with what templates and imports copy. 750,000:
    /// each takes up to 1.5 us and 400 bytes; 120,000 rules of two symbols each are as many.
    pub written_symbols_max: usize = 750_000,
    /// Symbols of all rules after lowering, 0.2 us each, and half of those that are looked at to find out which rules go on
    /// for ever. 2,000,000: a list of 100,000 properties has more than half of that.
    pub grammar_symbols_max: usize = 2_000_000,
    /// Nodes of all regexes of one source. 2,000,000.
    pub regex_nodes_max: usize = 2_000_000,
    /// Work for look-arounds and lazy quantifiers of all regexes of one source (20 ns a unit). 20,000,000 = 0.4 s: the first `\b`
    /// takes 100,000, further ones 7,000, one between texts that may be empty 900,000, a password of four look-aheads 1.4 million.
    pub look_work_max: u64 = 20_000_000,
    /// Largest count in a repetition (`{m,n}`, `~m..n`), of regexes and of rules. 1,000,000.
    pub repeat_max: u32 = 1_000_000,
    /// Steps of the regex algebra's emptiness search for one terminal at compile time (20 ns each), and three times
    /// as many for all terminals of a grammar. 2,000,000 = 40 ms.
    pub regex_emptiness_fuel: u64 = 2_000_000,
    /// The same for one derivative in a row of the lexer's automaton while masks are computed. 4,000,000 = 80 ms: a string beside a
    /// dozen patterns, `not`s and a length takes some millions for one row, most others some hundreds.
    pub lexer_row_emptiness_fuel: u64 = 4_000_000,
    /// Work of the regex algebra for one row of the lexer's automaton (20 ns a unit). 2,000,000 = 40 ms; a union of many
    /// sequences, such as `[ab]*a[ab]{1000}` becomes, makes every row dearer than the one before.
    pub lexer_row_work_max: u64 = 2_000_000,
    /// Both for all rows that one mask, one token, 128 bytes of a text or any other question to a matcher takes (20 ns a unit),
    /// and 50 for the derivatives of an expression, 1 for each lexeme of a state that is new or that a byte is tried for, 5,000 for
    /// what all tokens do in one lexeme, 250 for what those do that enter it behind another one. What was made stays, so that
    /// asking again goes further. 20,000,000 = 0.4 s.
    pub lexer_work_max: u64 = 20_000_000,
    /// Nodes of the shared expression arena, after which a new epoch begins; all derivatives of one count as four. 2,000,000 =
    /// 60 MB.
    pub expressions_max: usize = 2_000_000,
    /// Lexer states of one grammar and epoch; 128 lexemes in states count as another. 120,000 = up to 300 MB: a text of 100,000
    /// bytes that is written out, such as the name of a property, needs one for each.
    pub lexer_states_max: usize = 120_000,
    /// Earley sets of one grammar and epoch. 1,000,000.
    pub earley_sets_max: usize = 1_000_000,
    /// Bytes of all Earley sets of one grammar and epoch with what they expect, and a quarter of that for lists of threads
    /// besides. 256 MB: every new nesting depth is new sets, of 300 bytes for brackets and some kB in a programming language.
    pub earley_bytes_max: usize = 256 << 20,
    /// Items touched to build one Earley set; a quarter for all those of forced text, which ends there. 1,000,000 = about 50 ms;
    /// an alternative of 100,000 strings needs 100,000.
    pub earley_set_work_max: usize = 1_000_000,
    /// The same for all sets that one mask, one token, 128 bytes of a text or any other question to a matcher takes; what
    /// was made stays, so that asking again goes further. 10,000,000 = 0.4 s.
    pub earley_work_max: usize = 10_000_000,
    /// Threads of one matcher (ways to split the text into lexemes that are still open, or to read the text of a `stop` again).
    /// 10,000.
    pub threads_max: usize = 10_000,
    /// Places visited to find out whether ignored text that has begun can end, or something can follow that a look-ahead
    /// wants (`exact` mode). 4,096: a handful suffices for white space, comments and word boundaries.
    pub ignored_places_max: usize = 4_096,
    /// Work of one mask: trie nodes visited, 4 more for each at which a lexeme may end and go on, and 32 for each thread there
    /// where it is not known yet what follows. 100,000,000, about half a second.
    pub mask_work_max: u64 = 100_000_000,
    /// Steps to decide whether a parametric rule can be finished. 100,000.
    pub param_fuel: usize = 100_000,
    /// Bytes of cached masks of one grammar and of what they are made of. 64 MB: 2,600 masks of 200,000 tokens. A single
    /// mask may go past it.
    pub mask_cache_bytes_max: usize = 64 << 20,
    /// Bytes of what masks of all grammars of an engine are made of: what tokens do inside lexemes. 32 MB: that of some
    /// 2,500 wide lexemes (free text, strings) of 200,000 tokens, and unions of these.
    pub term_cache_bytes_max: usize = 32 << 20,
    /// Bytes that `forced_bytes` returns at most. 2,048: a grammar may force text without end, and each byte of it may
    /// cost a new Earley set.
    pub forced_bytes_max: usize = 2_048,
    /// Bytes of text of one matcher. 1 GB.
    pub text_bytes_max: usize = 1 << 30,
    /// Steps of the search for captures' derivation. 50,000,000.
    pub capture_work_max: u64 = 50_000_000,
    /// Nodes of the intermediate form of all JSON Schemas of one source: sub-schemas and what is made of them. 250,000: a list
    /// of 100,000 properties of a kind needs 100,000, the largest files of MaskBench up to 11,000.
    pub schema_nodes_max: usize = 250_000,
    /// Ways in which an array or object may be valid, after `allOf`, `anyOf` and the like are multiplied out. 4,096.
    pub schema_alternatives_max: usize = 4_096,
    /// Documents that a JSON Schema's references may have loaded. 1,000: FHIR's 650 in one document each.
    pub schema_documents_max: usize = 1_000,
    /// Bytes of all these documents. 64 MB.
    pub schema_documents_bytes_max: usize = 64 << 20,
    /// Steps to multiply out the JSON Schemas of one source, to decide whether they are disjoint, and to find out whether their objects
    /// and arrays have values. 5,000,000 = about half a second.
    pub schema_work_max: u64 = 5_000_000,
    /// Ways in which one property may be valid, where several schemas say something of it; an element that `contains` counts may in a
    /// sixteenth of these. 4,096.
    pub schema_choices_max: usize = 4_096,
    /// States of one search for a way to finish an array or object, at compile time and for each new state while
    /// parsing. In an object those of more than 256 bytes and every 16 ways on that are tried count, too, and the properties that
    /// may come next are one search of sixteen times as much. 30,000 = some milliseconds.
    pub schema_search_max: usize = 30_000,
    /// Open brackets within an array whose elements are compared (`uniqueItems`) while parsing; one more is not allowed. 200:
    /// comparing values recurses this deep, so that more than 1,000 means 1,000.
    pub schema_unique_depth_max: usize = 200,
    /// Texts in their own language that stand in one source: `%json`, `%gbnf` and `%kbnf` in Lark, elements of a list, contents of
    /// tags. 5,000: each takes 50 us and 20 kB at least.
    pub inner_texts_max: usize = 5_000,
    /// Bytes of compiled grammars that an engine keeps though nobody has them any more, for when the same source is compiled
    /// again; up to half as many wait to be freed. 8 MB: some tens of schemas.
    pub grammars_kept_bytes_max: usize = 8 << 20,
}
