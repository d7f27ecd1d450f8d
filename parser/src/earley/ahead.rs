//! Looking ahead: sets that have forgotten the texts of recorded lexemes.
//!
//! Each recorded text is another state of an automaton, and so another set. Who only looks ahead, as a mask does at
//! thousands of texts, goes with [untold](larkspur_grammar::Automaton::untold) states instead, which are few: the sets are
//! the same wherever nothing depends on what the texts were. Where something does, there is [`Fault::Untold`], and the
//! way from where the look-ahead began is gone again with states that know.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::automata::{LiveSymbol, StateId, Without};
use super::goto::FAMILY;
use super::sets::{Item, Kernel, Mark, NO_SET, Param, ParamId, SetId, Sets};
use crate::cfg::LexemeId;
use crate::error::Fault;
use crate::growing::GrowingMap;
use crate::lexer::states::{LeftOutTexts, LexemeSetId, Lexer};

/// Lexemes that have ended, and the set in which they began.
type Ended = (SetId, LexemeSetId);

/// What those who look ahead have found.
#[derive(Default, Debug)]
pub(crate) struct Ahead {
    /// Whether one looks ahead.
    pub is_on: bool,
    /// Sets after recorded lexemes, where they are the same for all texts.
    scans: GrowingMap<Ended, SetId>,
    /// The same for all texts that are not left out.
    other_scans: GrowingMap<Ended, SetId>,
    /// The last scan that was only for its text, and where it led: the next one is most often of the same text, before
    /// another byte.
    last: Option<(Ended, Box<[u8]>, SetId)>,
    /// Untold sets.
    sets: GrowingMap<SetId, SetId>,
    /// [`Sets::left_out`].
    left_out: FxHashMap<(SetId, Option<LexemeId>), Option<LeftOut>>,
    /// Texts in those, but for the lexemes' own, of which there is one list each.
    left_out_texts: usize,
}

/// Of which texts of recorded lexemes one wants to know what follows them.
#[derive(Clone, Copy)]
enum Texts<'a> {
    One(&'a [u8]),
    All,
    /// Those that are not left out.
    Others,
}

/// What late lexemes leave out, or take in a way of its own.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// Lists of texts, each sorted.
    pub lists: Arc<[LeftOutTexts]>,
    /// Whether each of the texts is left out by all edges; otherwise by some.
    pub is_by_all: bool,
}

/// With more exceptions it is asked text by text whether one is among them.
const EXCEPTIONS_MAX: usize = 256;

/// Texts that lists of what is left out may hold in all; then they are dropped, and made again when they are asked for.
const LEFT_OUT_TEXTS_MAX: usize = 1 << 16;

impl Ahead {
    /// Bytes that it takes, roughly.
    pub fn bytes(&self) -> usize {
        (self.scans.len() + self.other_scans.len() + self.sets.len() + self.left_out.len()) * 16
    }
}

impl Sets {
    /// [`Sets::scan`] of recorded lexemes for one who looks ahead.
    pub(super) fn scan_ahead(
        &mut self,
        set: SetId,
        ended: LexemeSetId,
        text: &[u8],
        lexer: &mut Lexer,
    ) -> Result<SetId, Fault> {
        if let Some((key, of, next)) = &self.ahead.last
            && (*key, &**of) == ((set, ended), text)
        {
            return Ok(*next);
        }
        Ok(self.scan_some(set, ended, Texts::One(text), lexer)?.expect("with a text it is decided"))
    }

    /// The same whatever the text of the lexemes. `None` if the text counts.
    pub fn scan_any(&mut self, set: SetId, ended: LexemeSetId, lexer: &mut Lexer) -> Result<Option<SetId>, Fault> {
        self.scan_some(set, ended, Texts::All, lexer)
    }

    /// The same for all texts that are not [left out](Self::left_out), if those are known. `None` if the text counts.
    pub fn scan_other(&mut self, set: SetId, ended: LexemeSetId, lexer: &mut Lexer) -> Result<Option<SetId>, Fault> {
        if let Some(&known) = self.ahead.other_scans.get(&(set, ended)) {
            return Ok(Some(known));
        }
        self.scan_some(set, ended, Texts::Others, lexer)
    }

    fn scan_some(
        &mut self,
        set: SetId,
        ended: LexemeSetId,
        texts: Texts<'_>,
        lexer: &mut Lexer,
    ) -> Result<Option<SetId>, Fault> {
        if let Some(&known) = self.ahead.scans.get(&(set, ended)) {
            return Ok(Some(known));
        }
        let closure = self.closure(set, lexer)?;
        let mut kernel = Kernel::default();
        let mut is_for_all = !self.cfg.has_scopes;
        let mut is_for_others = is_for_all;
        for lexeme in lexer.lexemes(ended).to_vec() {
            if let Some(grammar) = self.cfg.lexemes[lexeme].ignored_by {
                self.ignore(&mut kernel, set, grammar);
                continue;
            }
            let scans = closure.scans_of(lexeme);
            // If it is one, the lexer has decided whether the edge takes the text. In a union of thousands of objects there
            // are as many, which have written no name yet: one scan for all texts, or each text would look at each of them.
            let is_alone = scans.len() == 1;
            for scan in scans {
                let param = match scan.recorded {
                    None => scan.param,
                    Some(edge) => {
                        let untold = self.behind_any(scan.param, edge, lexer)?;
                        let takes_all = is_alone || self.takes_all(scan.param, edge, lexer)?;
                        let takes_others = takes_all || self.takes_others(scan.param, edge, lexer)?;
                        let is_same = untold.as_ref().is_some_and(|behind| behind.but_for.is_empty());
                        is_for_all &= takes_all && is_same;
                        let is_listed = untold.is_some() && self.leaves_out_late(scan.param, edge, lexer)?;
                        is_for_others &= takes_others && (is_same || is_listed);
                        let untold = untold.filter(|behind| match texts {
                            Texts::One(text) => !self.is_among(scan.param, &behind.but_for, text),
                            Texts::All | Texts::Others => true,
                        });
                        let state = match (texts, untold) {
                            (Texts::All, _) if !is_for_all => return Ok(None),
                            (Texts::Others, _) if !is_for_others => return Ok(None),
                            (Texts::One(text), _) if !takes_all && !self.takes(scan.param, edge, text, lexer)? => {
                                continue;
                            }
                            (_, Some(behind)) => behind.state,
                            (Texts::One(text), None) => {
                                let state = self.behind_recorded(scan.param, edge, text, lexer)?;
                                self.untold_state(state, lexer)?
                            }
                            (Texts::All | Texts::Others, None) => unreachable!("the state is the same for them"),
                        };
                        self.param_in(scan.param, state)
                    }
                };
                let continuation = self.continuation(set, &closure, scan.owner, lexer)?;
                self.add(&mut kernel, scan.next, continuation, param, Mark::NONE, lexer)?;
            }
        }
        let next = self.close_kernel(kernel)?;
        if is_for_all {
            self.ahead.scans.insert((set, ended), next);
        } else if !self.cfg.has_scopes {
            // With scopes, sets are not the same at another time.
            match texts {
                Texts::One(text) => self.ahead.last = Some(((set, ended), text.into(), next)),
                Texts::Others => _ = self.ahead.other_scans.insert((set, ended), next),
                Texts::All => {}
            }
        }
        Ok(Some(next))
    }

    /// Whether the set after recorded lexemes is the same for all texts, as far as that is known.
    pub(super) fn knows_ahead(&self, set: SetId, ended: LexemeSetId) -> bool {
        self.ahead.scans.contains_key(&(set, ended))
    }

    /// The texts that late lexemes which begin in a set leave out, all of them or one, and those that lead elsewhere than
    /// others; `None` if they are not known as a list. Texts that are none of those lead on as any other text does: see [`Sets::scan_other`].
    pub fn left_out(
        &mut self,
        set: SetId,
        lexeme: Option<LexemeId>,
        lexer: &mut Lexer,
    ) -> Result<Option<LeftOut>, Fault> {
        if let Some(known) = self.ahead.left_out.get(&(set, lexeme)) {
            return Ok(known.clone());
        }
        let left_out = match self.list_left_out(set, lexeme, lexer) {
            Err(Fault::Untold) => None,
            listed => listed?,
        };
        if self.ahead.left_out_texts > LEFT_OUT_TEXTS_MAX {
            self.ahead.left_out.clear();
            self.ahead.left_out_texts = 0;
        }
        self.ahead.left_out.insert((set, lexeme), left_out.clone());
        Ok(left_out)
    }

    fn list_left_out(
        &mut self,
        set: SetId,
        lexeme: Option<LexemeId>,
        lexer: &mut Lexer,
    ) -> Result<Option<LeftOut>, Fault> {
        let closure = self.closure(set, lexer)?;
        let mut lists: Vec<LeftOutTexts> = Vec::new();
        let mut texts: Vec<Box<[u8]>> = Vec::new();
        let scans = match lexeme {
            Some(lexeme) => closure.scans_of(lexeme),
            None => closure.scans(),
        };
        let mut is_by_all = lexeme.is_some() && scans.len() == 1;
        for scan in scans {
            let Some(edge) = scan.recorded else { continue };
            let edges = self.edges(self.before(scan.param), lexer)?;
            let LiveSymbol::Recorded(lexeme, Without::Late(exceptions)) = &edges[edge as usize].symbol else {
                continue;
            };
            let of_lexeme = lexer.left_out(*lexeme);
            lists.extend(of_lexeme.filter(|list| !lists.contains(list)).cloned());
            let but_for = self.behind_any(scan.param, edge, lexer)?.map(|behind| behind.but_for).unwrap_or_default();
            is_by_all &= but_for.is_empty();
            if exceptions.is_untold() || exceptions.len() + but_for.len() > EXCEPTIONS_MAX {
                return Ok(None);
            }
            for exception in exceptions.iter().chain(but_for.iter()) {
                match self.spellings(scan.param, exception) {
                    Some(spellings) => texts.extend(spellings),
                    None => return Ok(None),
                }
            }
        }
        texts.sort_unstable();
        texts.dedup();
        if !texts.is_empty() {
            self.ahead.left_out_texts += texts.len();
            lists.push(texts.into());
        }
        Ok(Some(LeftOut { lists: lists.into(), is_by_all }))
    }

    /// The set with all states untold, those of continuations too. Cost: what is new beside sets that were asked for.
    pub fn untold(&mut self, set: SetId, lexer: &mut Lexer) -> Result<SetId, Fault> {
        if let Some(&known) = self.ahead.sets.get(&set) {
            return Ok(known);
        }
        let mut agenda: SmallVec<[SetId; 16]> = smallvec![set];
        while let Some(&at) = agenda.last() {
            if at == NO_SET || self.ahead.sets.contains_key(&at) {
                agenda.pop();
                continue;
            }
            let family = self.family_of.get(&at).cloned();
            let members = family.as_deref().unwrap_or(std::slice::from_ref(&at));
            let numbers: FxHashMap<SetId, u32> =
                family.iter().flat_map(|family| family.iter().copied().zip(0..)).collect();
            let outer = |id: &SetId| !numbers.contains_key(id) && *id != NO_SET && !self.ahead.sets.contains_key(id);
            let before = agenda.len();
            for &member in members {
                agenda.extend(self.items(member).iter().map(|item| item.continuation).filter(outer));
            }
            if agenda.len() > before {
                continue;
            }
            agenda.pop();
            let Some(family) = &family else {
                let items = self.untold_items(at, &numbers, lexer)?;
                let untold = self.intern(Kernel::of(items))?;
                self.ahead.sets.insert(at, untold);
                continue;
            };
            let mut contents = Vec::with_capacity(family.len());
            for &member in &**family {
                contents.push(self.untold_items(member, &numbers, lexer)?);
            }
            let ids = self.intern_untold(family, contents)?;
            family.iter().zip(ids).for_each(|(&id, untold)| _ = self.ahead.sets.insert(id, untold));
        }
        Ok(self.ahead.sets.get(&set).copied().unwrap_or(set))
    }

    /// The items of a set with untold states and the continuations that are known; those in `numbers` become references.
    fn untold_items(
        &mut self,
        set: SetId,
        numbers: &FxHashMap<SetId, u32>,
        lexer: &mut Lexer,
    ) -> Result<Vec<Item>, Fault> {
        let mut items = self.items(set).to_vec();
        for item in &mut items {
            item.param = self.untold_param(item.param, lexer)?;
            if let Some(number) = numbers.get(&item.continuation) {
                item.continuation = SetId(FAMILY | number);
            } else if item.continuation != NO_SET {
                item.continuation = self.ahead.sets[&item.continuation];
            }
        }
        items.sort_unstable();
        items.dedup();
        Ok(items)
    }

    fn intern_untold(&mut self, family: &[SetId], contents: Vec<Vec<Item>>) -> Result<Vec<SetId>, Fault> {
        let is_itself = (contents.iter().zip(family)).all(|(content, &id)| {
            content.len() == self.items(id).len() && super::goto::substitute(content, family) == self.items(id)
        });
        if is_itself { Ok(family.to_vec()) } else { self.intern_family(contents) }
    }

    fn untold_param(&mut self, id: ParamId, lexer: &mut Lexer) -> Result<ParamId, Fault> {
        let param = self.param_value(id);
        let Some(state) = param.state else { return Ok(id) };
        let untold: StateId = self.untold_state(state, lexer)?;
        Ok(self.param(Param { state: Some(untold), ..param }))
    }
}
