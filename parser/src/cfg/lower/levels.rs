//! Levels of operators as one rule: `sum: product ("+" product)*` over `product: factor ("*" factor)*` derives what
//! `factor (("+" | "*") factor)*` does.
//!
//! A grammar has such levels for the sake of its trees, often ten of them, and each is an item more in each set, and a
//! continuation. Who only asks what may follow needs none.
//! What a rule derives is regular over what it *calls* if it recurses at its edges only: at the end of its alternatives
//! (`p A`), at their begin (`A q`), or at both (`A s A`). It is `x (s x)*` with `x = p* b q*`, where b is its other
//! alternatives. What is called may contain it: of two equations one may be solved for what it has of the other (H. Bekić,
//! Definable Operations in General Algebras, 1969).
//! So levels are taken together from below, each as the [minimal automaton](super::automaton) of its own text in which
//! those below stand for what they call, and a rule with several becomes the rules of its states. Which alternatives derived
//! a text is not known then: where that is asked, in grammars with captures, rules stay as they are, and so they do where
//! what they derive is not all that counts. `docs/decisions/levels.md` tells what it is good for.

use larkspur_grammar::components;
use larkspur_grammar::index::Id;

use super::automaton::{Draft, Letter, Minimal};
use super::*;

/// States and edges of automata that are made in one grammar at most: twenty levels take some thousand, a hundred with as many
/// operators some ten thousand.
const WORK_MAX: usize = 200_000;

/// What decides whether a nonterminal is a level.
#[derive(Clone, Default, Debug)]
struct Shape {
    /// The grammar of all its symbols; `None` if they have several.
    grammar: Option<GrammarId>,
    /// What may be all of an alternative.
    units: SmallVec<[NonterminalId; 2]>,
    /// What an alternative may end with, those included, itself at its begin left out.
    tails: SmallVec<[NonterminalId; 2]>,
    /// Some alternative begins with it.
    is_left: bool,
    /// It repeats something: it recurses at its edges, or a part of it does.
    repeats: bool,
    /// Levels that it has with those that it passes on.
    levels: u32,
}

/// Levels that are taken together.
struct Levels<'a, 'b> {
    lowering: &'a mut Lowering<'b>,
    /// The nonterminal that a text starts with.
    start: NonterminalId,
    shapes: IndexVec<NonterminalId, Shape>,
    letters: IndexVec<Letter, (Symbol, ParamExpr)>,
    letter_ids: FxHashMap<(Symbol, ParamExpr), Letter>,
    automata: FxHashMap<NonterminalId, Minimal>,
    /// States and edges that were looked at.
    work: usize,
}

impl Lowering<'_> {
    /// Makes one rule of several levels of operators, where nobody can tell. Cost: linear in the grammar, and
    /// [`WORK_MAX`] for its levels.
    pub(super) fn merge_levels(&mut self, start: DotId) {
        let start = self.dots[start].symbol.nonterminal().expect("start is a nonterminal");
        let is_plain = |nonterminal: &Nonterminal| {
            let has_conditions = nonterminal.alternatives.iter().any(|alternative| alternative.condition.is_some());
            nonterminal.max_tokens.is_none() && !nonterminal.parametric && !has_conditions
        };
        let is_captured = |lexeme: &Lexeme| lexeme.tail.as_ref().is_some_and(|tail| tail.capture.is_some());
        let options = &self.linked.grammars[self.linked.root].options;
        let is_made = self.linked.grammars.iter().all(|grammar| grammar.options.is_made);
        if is_made
            || self.has_captures
            || self.lexemes.iter().any(is_captured)
            || options.unproductive == Unproductive::Allow
            || !self.nonterminals.iter().all(is_plain)
        {
            return;
        }
        let shapes = self.nonterminals.ids().map(|id| self.shape(id)).collect::<Vec<_>>().into();
        Levels {
            lowering: self,
            start,
            shapes,
            letters: IndexVec::new(),
            letter_ids: FxHashMap::default(),
            automata: FxHashMap::default(),
            work: 0,
        }
        .merge();
    }

    /// All that an alternative holds, in order.
    fn chain(&self, mut at: DotId) -> impl Iterator<Item = Dot> + '_ {
        std::iter::from_fn(move || {
            let dot = (at != DOT_END).then(|| self.dots[at])?;
            at = dot.next;
            Some(dot)
        })
    }

    fn shape(&self, id: NonterminalId) -> Shape {
        let mut shape = Shape::default();
        if self.nonterminals[id].automaton.is_some() {
            return shape;
        }
        let mut grammars: SmallVec<[Option<GrammarId>; 1]> = SmallVec::new();
        for alternative in &self.nonterminals[id].alternatives {
            // What may stand at the end, since all behind it is optional, and whether something before it is not.
            let (mut tails, mut needed): (SmallVec<[(NonterminalId, bool); 4]>, u32) = (SmallVec::new(), 0);
            for (number, dot) in self.chain(alternative.dot).enumerate() {
                let symbol = dot.symbol.nonterminal();
                if !grammars.contains(&dot.grammar) {
                    grammars.push(dot.grammar);
                }
                if !dot.optional {
                    tails.clear();
                    needed += 1;
                }
                match symbol {
                    Some(symbol) if symbol == id && number == 0 && !dot.optional => shape.is_left = true,
                    Some(symbol) => tails.push((symbol, needed == u32::from(!dot.optional))),
                    None => {}
                }
            }
            // A part that repeats behind an operand.
            shape.repeats |=
                tails.iter().any(|&(_, is_alone)| is_alone) && tails.iter().any(|&(id, _)| self.is_many(id));
            for (symbol, is_alone) in tails {
                shape.tails.push(symbol);
                if is_alone && symbol != id {
                    shape.units.push(symbol);
                }
            }
        }
        shape.repeats |= shape.is_left || shape.tails.contains(&id);
        shape.grammar = if let &[grammar] = grammars.as_slice() { grammar } else { None };
        shape
    }

    /// Whether it is a repetition that is a part of a rule.
    fn is_many(&self, id: NonterminalId) -> bool {
        let Nonterminal { is_rule, alternatives, .. } = &self.nonterminals[id];
        let begins = |dot: DotId| dot != DOT_END && self.dots[dot].symbol == Symbol::Nonterminal(id);
        !is_rule && alternatives.iter().any(|alternative| begins(alternative.dot))
    }
}

impl Levels<'_, '_> {
    fn merge(&mut self) {
        let tail =
            |node: usize, number: usize| Some(self.shapes[NonterminalId(node as u32)].tails.get(number)?.index());
        let components = components(self.shapes.len(), tail);
        self.count_levels(&components);
        let is_top = |id: &NonterminalId| {
            let Shape { repeats, levels, .. } = self.shapes[*id];
            repeats && levels > 1 && self.lowering.nonterminals[*id].is_rule
        };
        let tops: Vec<NonterminalId> = self.shapes.ids().filter(is_top).collect();
        if tops.is_empty() {
            return;
        }
        let wanted = self.wanted(&tops, &components);
        for component in &components {
            let component: Vec<NonterminalId> = component.iter().map(|&id| NonterminalId(id as u32)).collect();
            if wanted[component[0]] {
                self.make_automata(&component);
            }
        }
        self.rewrite_reached(tops.into_iter().collect());
    }

    /// Rewrites the levels that are still reached when others are rewritten: most are only parts of those above them.
    fn rewrite_reached(&mut self, tops: FxHashSet<NonterminalId>) {
        let mut agenda = vec![self.start];
        let mut reached = FxHashSet::from_iter([self.start]);
        while let Some(id) = agenda.pop() {
            if tops.contains(&id)
                && let Some(automaton) = self.automata.remove(&id)
            {
                self.rewrite(id, &automaton);
            }
            let Nonterminal { alternatives, automaton, .. } = &self.lowering.nonterminals[id];
            let of_automaton = automaton.iter().flat_map(|automaton| automaton.rules.values().copied());
            let dots = alternatives.iter().flat_map(|alternative| self.lowering.chain(alternative.dot));
            let symbols = dots.filter_map(|dot| dot.symbol.nonterminal());
            agenda.extend(of_automaton.chain(symbols).filter(|&id| reached.insert(id)));
        }
    }

    /// Counts levels, those that are passed on first.
    fn count_levels(&mut self, components: &[Vec<usize>]) {
        for component in components {
            let ids = || component.iter().map(|&id| NonterminalId(id as u32));
            let repeats = component.len() > 1 || ids().any(|id| self.shapes[id].repeats);
            let below = ids().flat_map(|id| &self.shapes[id].units).map(|&unit| self.shapes[unit].levels).max();
            let levels = below.unwrap_or(0) + u32::from(repeats);
            for id in ids() {
                let shape = &mut self.shapes[id];
                (shape.repeats, shape.levels) = (repeats, levels);
            }
        }
    }

    /// Levels, their parts, and all that is with one in a component.
    fn wanted(&self, tops: &[NonterminalId], components: &[Vec<usize>]) -> IndexVec<NonterminalId, bool> {
        let mut component_of: IndexVec<NonterminalId, u32> = vec![0; self.shapes.len()].into();
        for (number, component) in (0..).zip(components) {
            component.iter().for_each(|&id| component_of[NonterminalId(id as u32)] = number);
        }
        let mut wanted: IndexVec<NonterminalId, bool> = vec![false; self.shapes.len()].into();
        let mut agenda = tops.to_vec();
        while let Some(id) = agenda.pop() {
            if wanted[id] {
                continue;
            }
            for &mate in &components[component_of[id] as usize] {
                let mate = NonterminalId(mate as u32);
                wanted[mate] = true;
                agenda.extend(self.shapes[mate].units.iter().filter(|&&unit| self.shapes[unit].levels > 0));
                for alternative in &self.lowering.nonterminals[mate].alternatives {
                    let symbols = self.lowering.chain(alternative.dot).filter_map(|dot| dot.symbol.nonterminal());
                    agenda.extend(symbols.filter(|&symbol| !self.lowering.nonterminals[symbol].is_rule));
                }
            }
        }
        wanted
    }

    /// Makes the automata of nonterminals that end with each other. None if there are several and one begins with itself
    /// besides, or if they are too large.
    fn make_automata(&mut self, component: &[NonterminalId]) {
        let shapes = component.iter().map(|&id| &self.shapes[id]);
        let is_one_grammar =
            shapes.clone().all(|shape| shape.grammar.is_some() && shape.grammar == self.shapes[component[0]].grammar);
        let is_left = shapes.clone().any(|shape| shape.is_left);
        if !is_one_grammar || is_left && component.len() > 1 || self.work > WORK_MAX {
            return;
        }
        let mut draft = Draft::default();
        let entries: Vec<u32> = component.iter().map(|_| draft.state()).collect();
        let end = draft.state();
        if draft.is_too_large() {
            return;
        }
        for (&id, &entry) in component.iter().zip(&entries) {
            for number in 0..self.lowering.nonterminals[id].alternatives.len() {
                let chain: Vec<Dot> =
                    self.lowering.chain(self.lowering.nonterminals[id].alternatives[number].dot).collect();
                let begins_with_it = |dot: &&Dot| is_left && dot.symbol == Symbol::Nonterminal(id) && !dot.optional;
                let is_longer = chain.first().filter(begins_with_it).is_some();
                let (from, chain) = if is_longer { (end, &chain[1..]) } else { (entry, &chain[..]) };
                let to = self.draw(&mut draft, (component, &entries), chain, from);
                draft.skip(to, end);
                if draft.is_too_large() {
                    return;
                }
            }
        }
        for (&id, &entry) in component.iter().zip(&entries) {
            self.work += draft.size();
            if self.work <= WORK_MAX {
                self.automata.extend(draft.minimal(entry, end).map(|automaton| (id, automaton)));
            }
        }
    }

    /// Draws what an alternative reads from a state on. The state where it ends.
    fn draw(
        &mut self,
        draft: &mut Draft,
        (component, entries): (&[NonterminalId], &[u32]),
        chain: &[Dot],
        from: u32,
    ) -> u32 {
        let first = chain.iter().position(|dot| !dot.optional).unwrap_or(chain.len());
        let last = chain.iter().rposition(|dot| !dot.optional).unwrap_or(0);
        let mut at = from;
        for (number, dot) in chain.iter().enumerate() {
            let next = draft.state();
            let is_at_edge = number <= first || number >= last;
            let symbol = dot.symbol.nonterminal();
            let entry =
                symbol.and_then(|id| component.iter().position(|&other| other == id)).map(|index| entries[index]);
            let below = symbol.and_then(|id| self.below(id, dot, is_at_edge));
            if let Some(entry) = entry.filter(|_| number >= last) {
                // What is behind it, if anything, is left out.
                draft.skip(at, entry);
            }
            match below {
                Some(automaton) => draft.splice(at, automaton, next),
                None if entry.is_some() && number + 1 == chain.len() => {}
                None => {
                    let letter = self.letter(dot);
                    draft.edge(at, letter, next);
                }
            }
            if dot.optional {
                draft.skip(at, next);
            }
            at = next;
            if draft.is_too_large() {
                break;
            }
        }
        at
    }

    /// What stands for a nonterminal: a level at the edge of an alternative, or a part of a rule.
    fn below(&self, id: NonterminalId, dot: &Dot, is_at_edge: bool) -> Option<&Minimal> {
        let may_be = self.shapes[id].grammar == dot.grammar && (is_at_edge || !self.lowering.nonterminals[id].is_rule);
        self.automata.get(&id).filter(|_| may_be)
    }

    fn letter(&mut self, dot: &Dot) -> Letter {
        let key = (dot.symbol, dot.arg);
        *self.letter_ids.entry(key).or_insert_with(|| self.letters.push(key))
    }

    /// Makes a rule of each state of an automaton, the first of which is this one.
    fn rewrite(&mut self, top: NonterminalId, automaton: &Minimal) {
        let grammar = self.shapes[top].grammar.expect("it is one grammar's");
        let nonterminals = &mut self.lowering.nonterminals;
        let within = nonterminals[top].within;
        let mut rules: Vec<NonterminalId> = Vec::with_capacity(automaton.states.len());
        for (number, state) in automaton.states.iter().enumerate() {
            let id = match (number, state.edges.as_slice()) {
                // To a state that reads nothing nobody goes.
                (0, _) | (_, []) => top,
                _ => nonterminals.push(Nonterminal {
                    name: format_compact!("{}_{number}", nonterminals[top].name),
                    within,
                    ..Nonterminal::part()
                }),
            };
            rules.push(id);
        }
        for (state, &rule) in automaton.states.iter().zip(&rules).filter(|(state, _)| !state.edges.is_empty()) {
            let mut alternatives = LoweredAlternatives::new();
            for &(letter, to) in &state.edges {
                let (symbol, arg) = self.letters[letter];
                let next = &automaton.states[to as usize];
                let read = Atom { symbol, arg, optional: false, grammar };
                let rest = Atom {
                    symbol: Symbol::Nonterminal(rules[to as usize]),
                    arg: ParamExpr::Const(0),
                    optional: next.is_final,
                    grammar,
                };
                let atoms = if next.edges.is_empty() { &[read][..] } else { &[read, rest] };
                alternatives.push(self.lowering.alternative(atoms));
            }
            if rule == top && state.is_final {
                alternatives.push(LoweredAlternative { dot: DOT_END, condition: None });
            }
            self.lowering.nonterminals[rule].alternatives = alternatives;
        }
    }
}
