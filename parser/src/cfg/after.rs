//! The bytes that may come directly behind each lexeme, wherever it stands: FIRST and FOLLOW sets as in textbooks, of bytes.
//!
//! In `exact` mode a lexeme may end wherever it matches. Before a byte that nothing begins with that may follow it, it need not
//! be asked whether it does: where it also cannot go on so, the lexer's state after that byte is all there is, as in
//! `longest` mode. There a lexeme is cut only before what may follow it.

use larkspur_grammar::{ByteSet, IndexVec};

use super::{Cfg, DOT_END, DotId, LexemeId, NonterminalId, Symbol};
use crate::counting_sort::Lists;

impl Cfg {
    /// An upper bound of the bytes behind each lexeme; empty where it is not asked: where rules end
    /// before their time, texts are read again or automata decide what follows. `first` has the bytes that a lexeme begins with,
    /// at most.
    pub fn bytes_after(&self, first: impl Fn(LexemeId) -> ByteSet) -> Vec<ByteSet> {
        if self.has_automata || self.has_hidden || self.has_scopes {
            return Vec::new();
        }
        let lexemes: Vec<ByteSet> = self.lexemes.ids().map(first).collect();
        let dots = self.first_of_dots(&lexemes);
        let mut ignored = ByteSet::EMPTY;
        self.ignored.iter().flatten().for_each(|id| ignored = ignored.union(&lexemes[id.0 as usize]));
        let mut after = vec![ignored; lexemes.len()];
        // What follows a nonterminal follows those that end with it.
        let mut follow: IndexVec<NonterminalId, ByteSet> = vec![ByteSet::EMPTY; self.nonterminals.len()].into();
        let mut ends_with: Vec<(NonterminalId, NonterminalId)> = Vec::new();
        let mut last: Vec<(NonterminalId, LexemeId)> = Vec::new();
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            for alternative in &nonterminal.alternatives {
                let mut dot = alternative.dot;
                while dot != DOT_END {
                    let info = &self.dots[dot];
                    let (rest, may_end) = &dots[info.next.0 as usize];
                    match info.symbol {
                        Symbol::Nonterminal(child) => {
                            follow[child] = follow[child].union(rest);
                            if *may_end {
                                ends_with.push((id, child));
                            }
                        }
                        Symbol::Lexeme(lexeme) => {
                            let after = &mut after[lexeme.0 as usize];
                            *after = after.union(rest);
                            if *may_end {
                                last.push((id, lexeme));
                            }
                        }
                        _ => {}
                    }
                    dot = info.next;
                }
            }
        }
        let ends_with = Lists::new(self.nonterminals.len(), &ends_with);
        let mut agenda: Vec<NonterminalId> = self.nonterminals.ids().collect();
        while let Some(id) = agenda.pop() {
            for &child in ends_with.of(id) {
                let more = follow[child].union(&follow[id]);
                if more != follow[child] {
                    follow[child] = more;
                    agenda.push(child);
                }
            }
        }
        for (id, lexeme) in last {
            let after = &mut after[lexeme.0 as usize];
            *after = after.union(&follow[id]);
        }
        let any = lexemes.iter().fold(ByteSet::EMPTY, |any, first| any.union(first));
        for (lexeme, after) in self.lexemes.iter().zip(&mut after) {
            // Behind ignored text may stand whatever may stand before it.
            if lexeme.ignored_by.is_some() || lexeme.follow.is_some() {
                *after = any;
            }
        }
        after
    }

    /// What each rest of a right-hand side begins with, and whether it may be empty. Indexed by dot.
    fn first_of_dots(&self, lexemes: &[ByteSet]) -> Vec<(ByteSet, bool)> {
        let is_nullable = |dot: DotId| {
            let info = &self.dots[dot];
            info.optional || matches!(info.symbol, Symbol::Nonterminal(id) if self.nonterminals[id].nullable)
        };
        // What begins with what; lexemes count at once.
        let mut first: IndexVec<NonterminalId, ByteSet> = vec![ByteSet::EMPTY; self.nonterminals.len()].into();
        let mut used: Vec<(NonterminalId, NonterminalId)> = Vec::new();
        for (id, nonterminal) in self.nonterminals.iter_enumerated() {
            for alternative in &nonterminal.alternatives {
                let mut dot = alternative.dot;
                while dot != DOT_END {
                    match self.dots[dot].symbol {
                        Symbol::Nonterminal(child) => used.push((child, id)),
                        Symbol::Lexeme(lexeme) => first[id] = first[id].union(&lexemes[lexeme.0 as usize]),
                        _ => {}
                    }
                    if !is_nullable(dot) {
                        break;
                    }
                    dot = self.dots[dot].next;
                }
            }
        }
        let users = Lists::new(self.nonterminals.len(), &used);
        let mut agenda: Vec<NonterminalId> = self.nonterminals.ids().collect();
        while let Some(id) = agenda.pop() {
            for &user in users.of(id) {
                let more = first[user].union(&first[id]);
                if more != first[user] {
                    first[user] = more;
                    agenda.push(user);
                }
            }
        }
        let mut dots: Vec<(ByteSet, bool)> = Vec::with_capacity(self.dots.len());
        for (id, info) in self.dots.iter_enumerated() {
            let own = match info.symbol {
                Symbol::Nothing => {
                    dots.push((ByteSet::EMPTY, true));
                    continue;
                }
                Symbol::Lexeme(lexeme) => lexemes[lexeme.0 as usize],
                Symbol::Nonterminal(child) => first[child],
                Symbol::Tokens(_) => ByteSet::EMPTY,
            };
            debug_assert!(info.next < id, "what follows is older");
            let (rest, may_end) = dots[info.next.0 as usize];
            dots.push(if is_nullable(id) { (own.union(&rest), may_end) } else { (own, false) });
        }
        dots
    }
}
