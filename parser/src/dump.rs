//! The lowered grammar as text: `larkspur dump --stage lexer|cfg`, and what tests compare.
//!
//! Ids are those of this grammar alone: nothing that grammars share has a number here.

use std::fmt::Write;

use larkspur_grammar::algebra::{Algebra, Lowered, OverLimit};
use larkspur_grammar::index::Id;
use larkspur_grammar::{ByteSet, Grammar, LexerMode, ParamExpr, RegexId, RegexSet, Span, Tail, Terminal, TerminalId};
use rustc_hash::FxHashSet;

use crate::cfg::{Cfg, DOT_ACCEPT, DOT_END, DotId, Lexeme, LexemeId, LoweredAlternative, Pattern, Symbol};
use crate::engine::CompiledGrammar;
use crate::literal_trie::LiteralTrie;

/// Expressions and steps for one lexeme at most when forks are looked for.
const FORK_EXPRESSIONS_MAX: usize = 100_000;
const FORK_WORK_MAX: u64 = 2_000_000;

impl CompiledGrammar {
    /// The lexemes: one line each with its regex, then the parts that several regexes share, then what is ignored.
    pub fn dump_lexer(&self) -> String {
        let cfg = self.cfg();
        let mode = match cfg.mode {
            LexerMode::Longest => "longest",
            LexerMode::Exact => "exact",
        };
        let mut out = format!("lexer {mode}{}\n", if cfg.keywords { " keywords" } else { "" });
        // The IR knows how to write regexes, so the lexemes are shown as the terminals of a grammar. Its dump has them
        // behind the lines that a grammar without rules has, too.
        let mut shown = Grammar::new("");
        let lines_before = shown.to_string().lines().count();
        shown.regexes = cfg.regexes.clone();
        for lexeme in cfg.lexemes.iter() {
            let regex = regex_of(&mut shown, &lexeme.pattern);
            shown.terminals.push(as_terminal(lexeme, regex));
        }
        for line in shown.to_string().lines().skip(lines_before) {
            match line.strip_prefix('T') {
                Some(lexeme) => _ = writeln!(out, "x{lexeme}"),
                None => _ = writeln!(out, "{line}"),
            }
        }
        for (id, lexeme) in cfg.lexemes.iter_enumerated() {
            if let Some(temperature) = lexeme.temperature {
                let _ = writeln!(out, "temperature {temperature} {id}");
            }
        }
        for (id, _) in cfg.lexemes.iter_enumerated().filter(|(_, lexeme)| lexeme.recorded) {
            let _ = writeln!(out, "recorded {id}");
        }
        if cfg.mode == LexerMode::Exact && !cfg.after.is_empty() {
            let forks = |id: &LexemeId| {
                let (lexeme, regex) = (&cfg.lexemes[*id], shown.terminals[TerminalId(id.0)].regex);
                let ends_alone = lexeme.ignored_by.is_some() || lexeme.competes;
                !ends_alone && forks(&shown.regexes, regex, cfg.after[id.index()])
            };
            let forks: Vec<String> = cfg.lexemes.ids().filter(forks).map(|id| format!(" {id}")).collect();
            let _ = writeln!(out, "forks{}", if forks.is_empty() { " nowhere".to_string() } else { forks.concat() });
        }
        for (grammar, lexemes) in cfg.ignored.iter_enumerated().filter(|(_, lexemes)| !lexemes.is_empty()) {
            let ids: Vec<String> = lexemes.iter().map(ToString::to_string).collect();
            let once = if cfg.ignore_once[grammar] { " once" } else { "" };
            let _ = writeln!(out, "ignored {grammar}{once} {}", ids.join(" "));
        }
        out
    }

    /// The rules after lowering: one line for each nonterminal, symbols as `id:name`.
    pub fn dump_cfg(&self) -> String {
        let cfg = self.cfg();
        let mut out = format!("start {}\n", right_hand_side(cfg, cfg.start));
        for (id, nonterminal) in cfg.nonterminals.iter_enumerated() {
            let _ = write!(out, "{id}:{}", nonterminal.name);
            for (holds, word) in [(nonterminal.nullable, "nullable"), (!nonterminal.productive, "unproductive")] {
                if holds {
                    let _ = write!(out, " {word}");
                }
            }
            if nonterminal.priority != 0 {
                let _ = write!(out, " priority={}", nonterminal.priority);
            }
            if let Some(capture) = &nonterminal.capture {
                let _ = write!(out, " capture={capture:?}");
            }
            if let Some(tokens) = nonterminal.max_tokens {
                let _ = write!(out, " max_tokens={tokens}");
            }
            if let Some(automaton) = &nonterminal.automaton {
                let _ = writeln!(out, " = {}/{}", automaton.grammar, automaton.id);
                continue;
            }
            let alternatives: Vec<String> = nonterminal.alternatives.iter().map(|a| alternative(cfg, *a)).collect();
            let _ = writeln!(out, " = {}", alternatives.join(" | "));
        }
        for (id, letter) in cfg.token_letters.iter_enumerated() {
            let count = letter.tokens.len();
            let hidden = if letter.hidden { " hidden" } else { "" };
            let _ = writeln!(out, "{id}:{}{hidden} count={count}", letter.text);
        }
        out
    }
}

fn alternative(cfg: &Cfg, alternative: LoweredAlternative) -> String {
    let text = right_hand_side(cfg, alternative.dot);
    match alternative.condition {
        Some((grammar, condition)) => format!("{text} %if {grammar}/{condition}"),
        None => text,
    }
}

fn right_hand_side(cfg: &Cfg, start: DotId) -> String {
    let mut parts = Vec::new();
    let mut at = start;
    while at != DOT_END && at != DOT_ACCEPT {
        let dot = cfg.dots[at];
        let id = match dot.symbol {
            Symbol::Lexeme(id) => id.to_string(),
            Symbol::Tokens(id) => id.to_string(),
            Symbol::Nonterminal(id) => id.to_string(),
            Symbol::Nothing => break,
        };
        let name = cfg.symbol_name(dot.symbol).replace('\n', "\\n");
        let optional = if dot.optional { "?" } else { "" };
        parts.push(format!("{id}:{name}{}{optional}", argument(cfg, dot.symbol, dot.arg)));
        at = dot.next;
    }
    if parts.is_empty() { "()".to_owned() } else { parts.join(" ") }
}

/// What a parametric rule is passed. The parts of a rule are passed its own parameter, which is not shown.
fn argument(cfg: &Cfg, symbol: Symbol, arg: ParamExpr) -> String {
    let Symbol::Nonterminal(id) = symbol else { return String::new() };
    if let (Some(_), ParamExpr::Const(start)) = (&cfg.nonterminals[id].automaton, arg) {
        return format!(".{start}");
    }
    if !cfg.nonterminals[id].parametric {
        return String::new();
    }
    let range = |range: larkspur_grammar::ParamRange| format!("[{}:{}]", range.start, range.end);
    match arg {
        ParamExpr::Const(value) => format!("::{value}"),
        ParamExpr::Same => "::_".to_owned(),
        ParamExpr::SetBit(bit) => format!("::set_bit({bit})"),
        ParamExpr::ClearBit(bit) => format!("::clear_bit({bit})"),
        ParamExpr::And(mask) => format!("::bit_and({mask:#x})"),
        ParamExpr::Or(mask) => format!("::bit_or({mask:#x})"),
        ParamExpr::Increment(bits) => format!("::incr({})", range(bits)),
        ParamExpr::Decrement(bits) => format!("::decr({})", range(bits)),
        ParamExpr::Put(bits, number) => format!("::put({}, {number})", range(bits)),
        ParamExpr::Copy { from, to } => format!("::copy({}, {})", range(from), range(to)),
    }
}

fn regex_of(shown: &mut Grammar, pattern: &Pattern) -> RegexId {
    match pattern {
        Pattern::Regex(regex) => *regex,
        Pattern::Literal(bytes) => shown.regexes.literal(bytes),
        Pattern::Literals(trie) => {
            let literals: Vec<RegexId> = literals(trie).iter().map(|bytes| shown.regexes.literal(bytes)).collect();
            shown.regexes.or(&literals)
        }
    }
}

/// All strings of a trie, sorted.
fn literals(trie: &LiteralTrie) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let mut stack = vec![(0, Vec::new())];
    while let Some((node, bytes)) = stack.pop() {
        for (byte, child) in trie.children(node) {
            let mut longer = bytes.clone();
            longer.push(byte);
            stack.push((child, longer));
        }
        if trie.is_leaf(node) {
            found.push(bytes);
        }
    }
    found.sort_unstable();
    found
}

fn as_terminal(lexeme: &Lexeme, regex: RegexId) -> Terminal {
    // A lexeme's pattern holds its tail; both are shown, since they differ in what is captured and hidden.
    let (regex, tail) = match &lexeme.tail {
        Some(tail) => {
            let capture = tail.capture.clone();
            (tail.body, Some(Box::new(Tail { regex: tail.tail, hidden: tail.hidden, capture })))
        }
        None => (regex, None),
    };
    Terminal {
        name: lexeme.name.clone(),
        span: Span { start: 0, end: 0, ..lexeme.span },
        regex,
        priority: lexeme.priority,
        is_literal: lexeme.is_literal,
        lazy: lexeme.lazy,
        tail,
        follow: lexeme.follow,
        behind: lexeme.behind,
    }
}

/// Whether a text of a regex may end before one of these bytes, with which a longer one goes on; also if that is not found out.
fn forks(regexes: &RegexSet, regex: RegexId, after: ByteSet) -> bool {
    let mut algebra = Algebra::new(FORK_EXPRESSIONS_MAX);
    let mut ask = || -> Result<bool, OverLimit> {
        let start = algebra.lower(regexes, regex, &mut Lowered::default())?;
        let mut seen = FxHashSet::from_iter([start]);
        let mut agenda = vec![start];
        while let Some(state) = agenda.pop() {
            let may_end = algebra.is_nullable(state);
            for class in algebra.first_classes(state, FORK_WORK_MAX)? {
                let byte = class.iter().next().expect("classes are not empty");
                let next = algebra.derivative(state, byte, FORK_WORK_MAX)?;
                if !algebra.is_non_empty(next, FORK_WORK_MAX)? {
                    continue;
                }
                if may_end && !class.intersect(&after).is_empty() {
                    return Ok(true);
                }
                if seen.insert(next) {
                    agenda.push(next);
                }
            }
        }
        Ok(false)
    };
    ask().unwrap_or(true)
}
