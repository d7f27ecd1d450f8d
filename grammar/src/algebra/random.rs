//! Random regexes of three letters, for laws that hold for all.

use super::{Algebra, Expr, Lowered};
use crate::regex::{ByteSet, RegexId, RegexSet};

/// The letters of [`regex`].
pub const LETTERS: [u8; 3] = [b'a', b'b', 0x7F];

/// These bytes.
pub fn set_of(bytes: &[u8]) -> ByteSet {
    let mut set = ByteSet::EMPTY;
    bytes.iter().for_each(|&byte| set.insert(byte));
    set
}

/// The expression that a program makes: see [`regex`].
pub fn expr(program: &[u8]) -> (Algebra, Expr) {
    let mut set = RegexSet::new();
    let regex = regex(&mut set, program);
    let mut algebra = Algebra::new(100_000);
    let expr = algebra.lower(&set, regex, &mut Lowered::default()).expect("small");
    (algebra, expr)
}

/// What a program makes on a stack: a byte for each step, a letter or an operation on what was made last.
fn regex(set: &mut RegexSet, program: &[u8]) -> RegexId {
    let mut made = vec![set.literal(b"a")];
    for &step in program {
        let top = *made.last().expect("one at least");
        let next = match step % 12 {
            letter @ 0..3 => set.literal(&LETTERS[usize::from(letter)..][..1]),
            3 => set.literal(b"ab"),
            4 => set.bytes(set_of(b"b\x7F")),
            5 => {
                let any = set.bytes(set_of(&LETTERS));
                set.repeat(any, 0, None)
            }
            unary @ 6..9 => {
                made.pop();
                match unary {
                    6 => set.repeat(top, u32::from(step / 12 % 2), None),
                    7 => set.repeat(top, 0, Some(2)),
                    _ => set.not(top),
                }
            }
            _ if made.len() < 2 => continue,
            binary => {
                let both = [made[made.len() - 2], top];
                made.truncate(made.len() - 2);
                match binary {
                    9 => set.or(&both),
                    10 => set.and(&both),
                    _ => set.concat(&both),
                }
            }
        };
        made.push(next);
    }
    set.concat(&made)
}
