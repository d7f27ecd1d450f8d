//! Continuations of predicted symbols: `GOTO(set, symbol)`, also where they refer to themselves.
//!
//! An item of a predicted symbol X that waits for A makes the continuation of A refer to that of X. In left recursion
//! these references go round; then the continuations of one cycle are made together, as a *family* whose members refer
//! to each other by number. Two things keep equal futures equal: a family is interned by its contents with these
//! relative references, and *the knot is tied* where an older continuation k that the contents refer to solves the
//! same equations: if the contents with k in place of the reference are those of k, the answer is k. (Items consume
//! something before they pop, so the equations have one solution.) Otherwise `E: E "+" E` makes a new set for each `+`.

use std::sync::Arc;

use larkspur_grammar::hashing::hash_of;
use rustc_hash::FxHashMap;

use super::closure::{Closure, Owner, Waiter};
use super::sets::{Item, Kernel, Mark, NO_SET, ParamId, SetId, Sets};
use crate::cfg::{DOT_END, DotId};
use crate::error::Fault;
use crate::lexer::states::Lexer;

/// A reference to a member of the family that is being made: this bit and the member's number.
pub(super) const FAMILY: u32 = 1 << 31;

/// The contents of a family's members, and of each, sets whose contents are among them.
type FamilyContents = (Vec<Vec<Item>>, Vec<Vec<SetId>>);

/// How many older continuations are tried for tying the knot.
const KNOT_CANDIDATES: usize = 8;

impl Sets {
    /// The continuation of what waits in `set`.
    pub fn continuation(
        &mut self,
        set: SetId,
        closure: &Closure,
        owner: Owner,
        lexer: &mut Lexer,
    ) -> Result<SetId, Fault> {
        match owner {
            Owner::Kernel(place) => Ok(self.items(set)[place as usize].continuation),
            Owner::Predicted(node) => self.goto(set, closure, node, lexer),
        }
    }

    /// The continuation of predicted symbol `node` of `set`.
    fn goto(&mut self, set: SetId, closure: &Closure, node: u32, lexer: &mut Lexer) -> Result<SetId, Fault> {
        if let Some(&known) = self.gotos.get(&(set, node)) {
            return Ok(known);
        }
        let is_made = |waiter: &Waiter| match waiter.owner {
            Owner::Kernel(_) => true,
            Owner::Predicted(other) => self.gotos.contains_key(&(set, other)),
        };
        if closure.waiters(node).iter().all(is_made) {
            let id = self.goto_alone(set, closure, node, lexer)?;
            self.gotos.insert((set, node), id);
            return Ok(id);
        }
        for mut component in self.components(set, closure, node) {
            if let &[only] = component.as_slice()
                && !closure.waiters(only).iter().any(|waiter| waiter.owner == Owner::Predicted(only))
            {
                let id = self.goto_alone(set, closure, only, lexer)?;
                self.gotos.insert((set, only), id);
            } else {
                component.sort_unstable_by_key(|&node| closure.nodes[node as usize]);
                let ids = self.goto_family(set, closure, &component, lexer)?;
                component.iter().zip(ids).for_each(|(&node, id)| _ = self.gotos.insert((set, node), id));
            }
        }
        Ok(self.gotos[&(set, node)])
    }

    fn goto_alone(&mut self, set: SetId, closure: &Closure, node: u32, lexer: &mut Lexer) -> Result<SetId, Fault> {
        let made = |sets: &Self, waiter: &Waiter| match waiter.owner {
            Owner::Kernel(place) => sets.items(set)[place as usize].continuation,
            Owner::Predicted(other) => sets.gotos[&(set, other)],
        };
        // At the end of a rule what follows is what follows that.
        if let &[waiter] = closure.waiters(node)
            && waiter.next == DOT_END
        {
            return Ok(made(self, &waiter));
        }
        let mut kernel = Kernel::default();
        for waiter in closure.waiters(node) {
            let continuation = made(self, waiter);
            self.add(&mut kernel, waiter.next, continuation, waiter.param, Mark::NONE, lexer)?;
        }
        self.intern(kernel)
    }

    /// Strongly connected components of what `node` depends on, dependencies first (R. Tarjan, SIAM J. Comput. 1(2),
    /// 1972, without recursion). Nodes with known continuations are left out.
    fn components(&self, set: SetId, closure: &Closure, node: u32) -> Vec<Vec<u32>> {
        #[derive(Clone, Copy)]
        struct Visit {
            order: u32,
            low: u32,
            on_stack: bool,
        }
        let mut visits: FxHashMap<u32, Visit> = FxHashMap::default();
        let mut components = Vec::new();
        let mut path: Vec<(u32, usize)> = vec![(node, 0)];
        let mut stack: Vec<u32> = Vec::new();
        while let Some(&(node, edge)) = path.last() {
            if edge == 0 && !visits.contains_key(&node) {
                let order = visits.len() as u32;
                visits.insert(node, Visit { order, low: order, on_stack: true });
                stack.push(node);
            }
            let waiters = closure.waiters(node);
            if let Some(waiter) = waiters.get(edge) {
                path.last_mut().expect("not empty").1 += 1;
                let Owner::Predicted(next) = waiter.owner else { continue };
                if self.gotos.contains_key(&(set, next)) {
                    continue;
                }
                match visits.get(&next) {
                    None => path.push((next, 0)),
                    Some(seen) if seen.on_stack => {
                        let order = seen.order;
                        let visit = visits.get_mut(&node).expect("visited");
                        visit.low = visit.low.min(order);
                    }
                    Some(_) => {}
                }
                continue;
            }
            path.pop();
            let visit = visits[&node];
            if let Some(&(parent, _)) = path.last() {
                let parent = visits.get_mut(&parent).expect("visited");
                parent.low = parent.low.min(visit.low);
            }
            if visit.low == visit.order {
                let from = stack.iter().rposition(|&other| other == node).expect("on the stack");
                let component = stack.split_off(from);
                component.iter().for_each(|node| visits.get_mut(node).expect("visited").on_stack = false);
                components.push(component);
            }
        }
        components
    }

    fn goto_family(
        &mut self,
        set: SetId,
        closure: &Closure,
        members: &[u32],
        lexer: &mut Lexer,
    ) -> Result<Vec<SetId>, Fault> {
        let (mut contents, included) = self.family_contents(set, closure, members, lexer)?;
        let mut ids: Vec<Option<SetId>> = vec![None; members.len()];
        // Members that refer to no other are ordinary sets.
        while let Some(member) = (0..members.len())
            .find(|&m| ids[m].is_none() && contents[m].iter().all(|item| item.continuation.0 & FAMILY == 0))
        {
            let id = self.intern(Kernel::of(contents[member].clone()))?;
            self.note_included(id, &included[member]);
            ids[member] = Some(id);
            let reference = SetId(FAMILY | member as u32);
            for content in &mut contents {
                content
                    .iter_mut()
                    .filter(|item| item.continuation == reference)
                    .for_each(|item| item.continuation = id);
                content.sort_unstable();
                content.dedup();
            }
        }
        let rest: Vec<usize> = (0..members.len()).filter(|&member| ids[member].is_none()).collect();
        if !rest.is_empty() {
            for (number, &member) in rest.iter().enumerate() {
                let reference = SetId(FAMILY | member as u32);
                let renumbered = SetId(FAMILY | number as u32);
                for content in &mut contents {
                    content
                        .iter_mut()
                        .filter(|i| i.continuation == reference)
                        .for_each(|i| i.continuation = renumbered);
                }
            }
            let family: Vec<Vec<Item>> = rest.iter().map(|&member| std::mem::take(&mut contents[member])).collect();
            let family_ids = self.intern_family(family)?;
            for (&member, id) in rest.iter().zip(family_ids) {
                self.note_included(id, &included[member]);
                ids[member] = Some(id);
            }
        }
        Ok(ids.into_iter().map(|id| id.expect("every member has an id")).collect())
    }

    /// The contents of each member, with relative references, sorted; and sets whose contents are among them.
    fn family_contents(
        &mut self,
        set: SetId,
        closure: &Closure,
        members: &[u32],
        lexer: &mut Lexer,
    ) -> Result<FamilyContents, Fault> {
        let numbers: FxHashMap<u32, u32> = members.iter().enumerate().map(|(n, &node)| (node, n as u32)).collect();
        let mut contents: Vec<Vec<Item>> = Vec::with_capacity(members.len());
        let mut included: Vec<Vec<SetId>> = Vec::with_capacity(members.len());
        let mut includes: Vec<(usize, usize)> = Vec::new();
        for (number, &node) in members.iter().enumerate() {
            let mut kernel = Kernel::default();
            for waiter in closure.waiters(node) {
                match waiter.owner {
                    Owner::Kernel(place) => {
                        let continuation = self.items(set)[place as usize].continuation;
                        self.add(&mut kernel, waiter.next, continuation, waiter.param, Mark::NONE, lexer)?;
                    }
                    Owner::Predicted(other) => match numbers.get(&other) {
                        None => {
                            let continuation = self.gotos[&(set, other)];
                            self.add(&mut kernel, waiter.next, continuation, waiter.param, Mark::NONE, lexer)?;
                        }
                        Some(&member) => {
                            if self.add_relative(&mut kernel, waiter.next, member, waiter.param, lexer)? {
                                includes.push((number, member as usize));
                            }
                        }
                    },
                }
            }
            self.include(&mut kernel)?;
            self.work += kernel.items.len();
            kernel.items.sort_unstable();
            kernel.items.dedup();
            contents.push(kernel.items.into_vec());
            kernel.included.sort_unstable();
            included.push(kernel.included.into_vec());
        }
        // A member whose item finishes at once has the contents of that item's continuation.
        includes.sort_unstable();
        includes.dedup();
        let mut work = 0;
        let mut changed = true;
        while changed {
            changed = false;
            for &(number, member) in &includes {
                changed |= merge(&mut contents, number, member);
                merge(&mut included, number, member);
                work += contents[number].len();
                self.check_work(work)?;
            }
        }
        self.work += work;
        Ok((contents, included))
    }

    /// [`Sets::add`] with a relative continuation. True if the item can be finished at once.
    fn add_relative(
        &mut self,
        kernel: &mut Kernel,
        mut dot: DotId,
        member: u32,
        param: ParamId,
        lexer: &mut Lexer,
    ) -> Result<bool, Fault> {
        while dot != DOT_END {
            if !self.is_over(dot, param, lexer)? {
                kernel.items.push(Item { dot, continuation: SetId(FAMILY | member), param, mark: Mark::NONE });
            }
            if !self.can_skip(dot, param)? {
                return Ok(false);
            }
            dot = self.cfg.dots[dot].next;
        }
        Ok(true)
    }

    pub(super) fn intern_family(&mut self, family: Vec<Vec<Item>>) -> Result<Vec<SetId>, Fault> {
        let hash = hash_of(&family);
        let is_it = |(other, ids): &(u64, Arc<[SetId]>)| *other == hash && self.solves(&family, ids);
        if let Some((_, known)) = self.families.find(hash, is_it) {
            return Ok(known.to_vec());
        }
        let ids: Arc<[SetId]> = match self.tie_knot(&family) {
            Some(ids) => ids.into(),
            None => {
                self.check_size()?;
                let first = self.next_id().0;
                let ids: Arc<[SetId]> = (0..family.len() as u32).map(|number| SetId(first + number)).collect();
                for content in &family {
                    self.push(&substitute(content, &ids));
                }
                ids.iter().for_each(|&id| _ = self.family_of.insert(id, ids.clone()));
                ids
            }
        };
        self.families.insert_unique(hash, (hash, ids.clone()), |&(hash, _)| hash);
        Ok(ids.to_vec())
    }

    /// Whether sets solve a family's equations: with them in place of the references its contents are theirs. Most do not begin and
    /// end with the same dotted rules.
    fn solves(&self, family: &[Vec<Item>], ids: &[SetId]) -> bool {
        let dots = |items: &[Item]| (items.first().map(|item| item.dot), items.last().map(|item| item.dot));
        let may_be = |content: &[Item], items: &[Item]| content.len() >= items.len() && dots(content) == dots(items);
        family.len() == ids.len()
            && family.iter().zip(ids).all(|(content, &id)| may_be(content, self.items(id)))
            && family.iter().zip(ids).all(|(content, &id)| substitute(content, ids) == self.items(id))
    }

    /// Older continuations that solve the family's equations.
    fn tie_knot(&self, family: &[Vec<Item>]) -> Option<Vec<SetId>> {
        let mut referred: Vec<SetId> = family
            .iter()
            .flatten()
            .map(|item| item.continuation)
            .filter(|id| id.0 & FAMILY == 0 && *id != NO_SET)
            .collect();
        referred.sort_unstable_by(|a, b| b.cmp(a));
        referred.dedup();
        for &candidate in referred.iter().take(KNOT_CANDIDATES) {
            let ids: Vec<SetId> = match self.family_of.get(&candidate) {
                Some(ids) if ids.len() == family.len() => ids.to_vec(),
                _ if family.len() == 1 => vec![candidate],
                _ => continue,
            };
            if self.solves(family, &ids) {
                return Some(ids);
            }
        }
        None
    }
}

/// Adds what stands in `lists[from]` to `lists[to]`, which are sorted; true if it was not all there.
fn merge<T: Ord + Copy>(lists: &mut [Vec<T>], to: usize, from: usize) -> bool {
    let (mut own, mut added) = (&lists[to][..], &lists[from][..]);
    let mut all = Vec::with_capacity(own.len() + added.len());
    while let (&[first, ref others @ ..], &[other, ref rest @ ..]) = (own, added) {
        all.push(first.min(other));
        if first <= other {
            own = others;
        }
        if other <= first {
            added = rest;
        }
    }
    all.extend_from_slice(own);
    all.extend_from_slice(added);
    let is_more = all.len() > lists[to].len();
    lists[to] = all;
    is_more
}

/// A member's contents with ids in place of relative references, sorted.
pub(super) fn substitute(content: &[Item], ids: &[SetId]) -> Vec<Item> {
    let mut items = content.to_vec();
    for item in &mut items {
        if item.continuation.0 & FAMILY != 0 {
            item.continuation = ids[(item.continuation.0 & !FAMILY) as usize];
        }
    }
    items.sort_unstable();
    items.dedup();
    items
}
