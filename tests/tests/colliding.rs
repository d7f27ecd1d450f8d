//! With hashes that collide all is as it is with others: what is found by them is compared in full. Hashes of a whole process
//! collide, so that this is a program of its own; there are such only in builds with debug assertions.
#![cfg(debug_assertions)]

use std::collections::HashSet;

use larkspur_grammar::hashing::{collide, hash_of};
use larkspur_tests::cases::{check_engine, for_each};

/// One case in so many: tables are lists here.
const STEP: usize = 4;

#[test]
fn cases_with_colliding_hashes() {
    collide();
    let hashes: HashSet<u64> = (0..1_000).map(|number: u32| hash_of(&number)).collect();
    assert!(hashes.len() <= 4, "{hashes:?}");
    for_each(STEP, |case, linked| if case.error { Ok(()) } else { check_engine(case, linked) });
}
