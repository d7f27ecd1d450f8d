//! What the engine takes for granted of a lowered grammar, asked of one that was read: [`lower`](super::lower) makes it so.
//!
//! Every number is one of a table's, right-hand sides lead to their end, conditions are trees, and automata stand where they
//! start. What is said of lexemes and rules (which are empty, which can be finished) is believed: a lie there makes wrong
//! masks, and nothing worse.

use larkspur_grammar::index::Id;
use larkspur_grammar::saved::Inconsistent;
use larkspur_grammar::{Condition, ConditionId, GrammarId, IndexVec, ParamExpr, ParamRange, RegexId, RegexNode};

use super::{
    Cfg, DOT_ACCEPT, DOT_END, Lexeme, LexemeTail, LoweredAutomaton, Nonterminal, NonterminalId, Pattern, Symbol,
};

type Checked = Result<(), Inconsistent>;

/// What stands in the rest of a right-hand side.
#[derive(Clone, Copy, Default)]
struct Rest {
    /// It ends where the text does.
    accepts: bool,
    /// It begins behind an edge of an automaton, or holds such a place.
    has_tail: bool,
}

impl Cfg {
    /// Errors: what no lowering makes. Cost: linear in the tables.
    pub(super) fn check(&self) -> Checked {
        self.check_lengths()?;
        self.lexemes.iter().try_for_each(|lexeme| self.check_lexeme(lexeme))?;
        self.check_ignored()?;
        self.origins.iter().try_for_each(|origin| check_conditions(&origin.conditions))?;
        let rests = self.check_dots()?;
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            self.check_nonterminal(id, nonterminal, &rests)?;
        }
        let start = self.dots.get(self.start).ok_or(Inconsistent { what: "there is no start" })?;
        let is_start = match start.symbol {
            Symbol::Nonterminal(id) => self.nonterminals[id].productive && self.nonterminals[id].automaton.is_none(),
            _ => false,
        };
        let is_whole = start.next == DOT_ACCEPT && !start.optional && matches!(start.arg, ParamExpr::Const(_));
        Inconsistent::unless(is_start && is_whole, "the start is no rule")
    }

    fn check_lengths(&self) -> Checked {
        let (lexemes, dots, grammars) = (self.lexemes.len(), self.dots.len(), self.origins.len());
        let or_none = |len: usize, of: usize| len == 0 || len == of;
        let holds = self.empty_lexemes.len() == lexemes
            && or_none(self.after.len(), lexemes)
            && self.reads.len() == dots
            && self.ignored.len() == grammars
            && self.ignore_once.len() == grammars;
        Inconsistent::unless(holds, "tables that go together have other lengths")
    }

    fn is_regex(&self, id: RegexId) -> bool {
        id.index() < self.regexes.len()
    }
    fn is_grammar(&self, id: GrammarId) -> bool {
        id.index() < self.origins.len()
    }

    fn check_lexeme(&self, lexeme: &Lexeme) -> Checked {
        let Lexeme { pattern, lazy, tail, ignored_by, follow, behind, recorded, but_for, .. } = lexeme;
        let is_pattern = match pattern {
            Pattern::Literal(bytes) => !bytes.is_empty(),
            Pattern::Literals(trie) => trie.is_whole(),
            &Pattern::Regex(id) => self.is_regex(id) && !self.regexes.info(id).nullable,
        };
        Inconsistent::unless(is_pattern, "a lexeme has no pattern, or may be empty")?;
        let looks = [*follow, *behind];
        Inconsistent::unless(looks.iter().flatten().all(|&id| self.is_regex(id)), "look-around has no regex")?;
        Inconsistent::unless(ignored_by.is_none_or(|id| self.is_grammar(id)), "ignored text is of no grammar")?;
        let is_plain = pattern.is_regex() && !lazy && tail.is_none() && looks == [None, None] && ignored_by.is_none();
        Inconsistent::unless(!recorded || is_plain, "a lexeme is recorded that cannot be")?;
        if let Some(but_for) = but_for {
            let is_sorted = but_for.texts.is_sorted_by(|a, b| a < b);
            let holds = *recorded && self.is_regex(but_for.pattern) && is_sorted;
            Inconsistent::unless(holds, "texts are left out of a lexeme that has none")?;
        }
        tail.as_ref().map_or(Ok(()), |tail| self.check_tail(tail))
    }

    fn check_tail(&self, tail: &LexemeTail) -> Checked {
        Inconsistent::unless(self.is_regex(tail.body) && self.is_regex(tail.tail), "a lexeme's tail has no regex")?;
        let literal = match self.regexes.node(tail.tail) {
            RegexNode::Literal(bytes) => Some(&bytes[..]),
            _ => None,
        };
        let holds = tail.literal.as_deref() == literal && !self.regexes.info(tail.tail).nullable;
        Inconsistent::unless(holds, "a lexeme's tail is not its regex")
    }

    fn check_ignored(&self) -> Checked {
        for (grammar, lexemes) in self.ignored.iter_enumerated() {
            let is_its = |id| self.lexemes.get(id).is_some_and(|lexeme: &Lexeme| lexeme.ignored_by == Some(grammar));
            let holds = lexemes.is_sorted_by(|a, b| a < b) && lexemes.iter().all(|&id| is_its(id));
            Inconsistent::unless(holds, "a grammar ignores what is not its")?;
        }
        Ok(())
    }

    /// What stands in the rest behind each dot. Indexed by dot.
    fn check_dots(&self) -> Result<Vec<Rest>, Inconsistent> {
        let mut rests: Vec<Rest> = Vec::with_capacity(self.dots.len());
        for (id, dot) in self.dots.iter_enumerated() {
            Inconsistent::unless(dot.grammar.is_none_or(|id| self.is_grammar(id)), "a dot is in no grammar")?;
            Inconsistent::unless(is_argument(dot.arg), "an argument is beyond a parameter's bits")?;
            if id == DOT_END || id == DOT_ACCEPT {
                let is_end = dot.symbol == Symbol::Nothing && dot.next == DOT_END && !dot.optional;
                Inconsistent::unless(is_end, "a right-hand side ends with a symbol")?;
                rests.push(Rest { accepts: id == DOT_ACCEPT, has_tail: false });
                continue;
            }
            Inconsistent::unless(dot.next < id, "what follows a dot is not older")?;
            let mut rest = rests[dot.next.index()];
            let is_symbol = match dot.symbol {
                Symbol::Lexeme(lexeme) => lexeme.index() < self.lexemes.len(),
                Symbol::Tokens(letter) => letter.index() < self.token_letters.len(),
                Symbol::Nothing => false,
                Symbol::Nonterminal(child) => match self.nonterminals.get(child).map(|child| &child.automaton) {
                    None => false,
                    Some(None) => true,
                    Some(Some(automaton)) if dot.arg == ParamExpr::Same => {
                        rest.has_tail = true;
                        automaton.tail == id
                    }
                    Some(Some(automaton)) => self.starts(automaton, dot.arg),
                },
            };
            Inconsistent::unless(is_symbol, "behind a dot there is nothing that could be")?;
            rests.push(rest);
        }
        Inconsistent::unless(rests.len() > 2, "there are no right-hand sides")?;
        Ok(rests)
    }

    /// Whether an automaton may start so.
    fn starts(&self, automaton: &LoweredAutomaton, arg: ParamExpr) -> bool {
        let ParamExpr::Const(start) = arg else { return false };
        let automata = self.origins.get(automaton.grammar).map(|origin| &origin.automata);
        automata.and_then(|all| all.get(automaton.id)).is_some_and(|automaton| start < u64::from(automaton.starts()))
    }

    fn check_nonterminal(&self, id: NonterminalId, nonterminal: &Nonterminal, rests: &[Rest]) -> Checked {
        Inconsistent::unless(nonterminal.max_tokens != Some(0), "a rule without tokens is not empty")?;
        for alternative in &nonterminal.alternatives {
            let rest = rests.get(alternative.dot.index());
            let is_whole = rest.is_some_and(|rest| !rest.accepts && !rest.has_tail);
            Inconsistent::unless(is_whole, "an alternative does not end")?;
            let holds = alternative.condition.is_none_or(|(grammar, condition)| {
                let conditions = self.origins.get(grammar).map(|origin| &origin.conditions);
                conditions.is_some_and(|conditions| condition.index() < conditions.len())
            });
            Inconsistent::unless(holds, "an alternative has no condition")?;
        }
        let Some(automaton) = &nonterminal.automaton else { return Ok(()) };
        Inconsistent::unless(nonterminal.alternatives.is_empty(), "an automaton has alternatives")?;
        self.check_automaton(id, automaton)
    }

    fn check_automaton(&self, id: NonterminalId, lowered: &LoweredAutomaton) -> Checked {
        let tail = self.dots.get(lowered.tail);
        let is_tail = tail.is_some_and(|tail| {
            let is_itself = tail.symbol == Symbol::Nonterminal(id) && tail.arg == ParamExpr::Same;
            is_itself && !tail.optional && tail.next == DOT_END && lowered.tail > DOT_ACCEPT
        });
        Inconsistent::unless(is_tail, "an automaton does not follow its edges")?;
        let automata = self.origins.get(lowered.grammar).map(|origin| &origin.automata);
        let automaton = automata.and_then(|automata| automata.get(lowered.id));
        Inconsistent::unless(automaton.is_some(), "there is no such automaton")?;
        let has_lexeme = |id, recorded: bool| {
            let lexeme: Option<&Lexeme> = self.lexemes.get(id);
            lexeme.is_some_and(|lexeme| lexeme.recorded == recorded)
        };
        let holds = lowered.lexemes.values().all(|&lexeme| has_lexeme(lexeme, false))
            && lowered.recorded.values().all(|&lexeme| has_lexeme(lexeme, true))
            && lowered.rules.values().all(|rule| rule.index() < self.nonterminals.len());
        Inconsistent::unless(holds, "an automaton's edges read nothing")
    }
}

/// Whether it stays within a parameter's bits.
fn is_argument(arg: ParamExpr) -> bool {
    match arg {
        ParamExpr::Const(_) | ParamExpr::Same | ParamExpr::And(_) | ParamExpr::Or(_) => true,
        ParamExpr::SetBit(bit) | ParamExpr::ClearBit(bit) => bit < 64,
        ParamExpr::Increment(range) | ParamExpr::Decrement(range) | ParamExpr::Put(range, _) => is_range(range),
        ParamExpr::Copy { from, to } => is_range(from) && is_range(to) && from.end - from.start == to.end - to.start,
    }
}

fn is_range(range: ParamRange) -> bool {
    range.start < range.end && range.end <= 64
}

/// Children are older, and each is of one condition only, so that no condition is larger than the table.
fn check_conditions(conditions: &IndexVec<ConditionId, Condition>) -> Checked {
    let mut has_parent = vec![false; conditions.len()];
    for (id, condition) in conditions.iter_enumerated() {
        let (children, holds) = match *condition {
            Condition::True => (vec![], true),
            Condition::Compare(range, ..) | Condition::BitCount(range, ..) => (vec![], is_range(range)),
            Condition::And(a, b) | Condition::Or(a, b) => (vec![a, b], true),
            Condition::Not(child) => (vec![child], true),
        };
        Inconsistent::unless(holds, "a condition is beyond a parameter's bits")?;
        for child in children {
            let is_free = child < id && !std::mem::replace(&mut has_parent[child.index()], true);
            Inconsistent::unless(is_free, "a condition has a part that is not older, or another's")?;
        }
    }
    Ok(())
}
