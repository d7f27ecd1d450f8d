//! Who uses each nonterminal: what a fixed point asks when it has found something out.

use larkspur_grammar::index::Id;

use super::NonterminalId;

/// For each nonterminal those that were said to use it, each with a number, one list behind the other.
pub(super) struct Users {
    /// Where each list ends; it begins where the one before it ends.
    ends: Vec<u32>,
    users: Vec<(NonterminalId, u32)>,
}

impl Users {
    /// Of what is used, by whom, and the number, among so many nonterminals. Cost: linear.
    pub fn new(len: usize, pairs: &[(NonterminalId, NonterminalId, u32)]) -> Self {
        let mut ends = vec![0; len];
        for (used, ..) in pairs {
            ends[used.index()] += 1;
        }
        let mut end = 0;
        for count in &mut ends {
            // Where the list begins, until it is filled.
            end += std::mem::replace(count, end);
        }
        let mut users = vec![(NonterminalId(0), 0); pairs.len()];
        for &(used, user, number) in pairs {
            let at = &mut ends[used.index()];
            users[*at as usize] = (user, number);
            *at += 1;
        }
        Self { ends, users }
    }

    /// The users of one.
    pub fn of(&self, id: NonterminalId) -> &[(NonterminalId, u32)] {
        let start = id.index().checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.users[start as usize..self.ends[id.index()] as usize]
    }
}
