//! Classes of bytes that rows do not tell apart.

use std::sync::Arc;

use larkspur_grammar::ByteSet;
use smallvec::SmallVec;

/// Bytes side by side of one class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Run {
    pub first: u8,
    pub last: u8,
    pub class: u16,
}

/// All bytes in runs, ascending.
pub(super) type Runs = SmallVec<[Run; 32]>;

/// All bytes are one class.
pub(super) const ONE: [Run; 1] = [Run { first: 0, last: 255, class: 0 }];

/// Classes of bytes, numbered from 0.
#[derive(Debug)]
pub(crate) struct ByteClasses {
    /// By byte.
    pub of: [u8; 256],
    pub count: usize,
    pub(super) runs: Box<[Run]>,
    /// The first byte of each class.
    pub first: Box<[u8]>,
}

impl ByteClasses {
    /// The classes with these numbers.
    pub fn new(of: [u8; 256]) -> Self {
        let mut runs = Runs::new();
        let mut first = 0;
        for (byte, pair) in (0..=255).zip(of.windows(2)) {
            if pair[0] != pair[1] {
                runs.push(Run { first, last: byte, class: pair[0].into() });
                first = byte + 1;
            }
        }
        runs.push(Run { first, last: 255, class: of[255].into() });
        let count = usize::from(classes_len(&runs));
        let mut first = vec![0; count];
        runs.iter().rev().for_each(|run| first[usize::from(run.class)] = run.first);
        Self { of, count, runs: runs.into_boxed_slice(), first: first.into() }
    }

    /// The coarsest classes that are within all these; `None` if they are none.
    pub fn common<'a>(mut all: impl Iterator<Item = &'a Arc<Self>>) -> Option<Arc<Self>> {
        let first = all.next()?;
        let (mut of, mut count) = (first.of, first.count);
        let mut is_first = true;
        for classes in all.filter(|classes| !Arc::ptr_eq(classes, first)) {
            is_first = false;
            // Numbers of pairs of classes. There are no more pairs than bytes.
            let mut ids = vec![None; count * classes.count];
            count = 0;
            for (class, &other) in of.iter_mut().zip(&classes.of) {
                let id = &mut ids[usize::from(*class) * classes.count + usize::from(other)];
                *class = *id.get_or_insert_with(|| {
                    count += 1;
                    (count - 1) as u8
                });
            }
        }
        Some(if is_first { first.clone() } else { Arc::new(Self::new(of)) })
    }

    /// The bytes of some classes.
    pub fn bytes(&self, is_in: impl Fn(usize) -> bool) -> ByteSet {
        let runs = self.runs.iter().filter(|run| is_in(usize::from(run.class)));
        runs.fold(ByteSet::EMPTY, |all, run| all.union(&ByteSet::range(run.first, run.last)))
    }
}

fn classes_len(runs: &[Run]) -> u16 {
    runs.iter().map(|run| run.class + 1).max().unwrap_or(0)
}

/// The same runs, but each of these bytes has a class of its own.
pub(super) fn with_alone(runs: &[Run], alone: &ByteSet) -> Runs {
    if *alone == ByteSet::EMPTY {
        return Runs::from_slice(runs);
    }
    let mut split = Runs::new();
    let mut class = classes_len(runs);
    for &run in runs {
        let mut left = Some(run);
        for byte in ByteSet::range(run.first, run.last).intersect(alone).iter() {
            let rest = left.expect("bytes ascend");
            if rest.first < byte {
                split.push(Run { last: byte - 1, ..rest });
            }
            split.push(Run { first: byte, last: byte, class });
            class += 1;
            left = (byte < run.last).then(|| Run { first: byte + 1, ..run });
        }
        split.extend(left);
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(of: impl Fn(u8) -> u8) -> Arc<ByteClasses> {
        Arc::new(ByteClasses::new(std::array::from_fn(|byte| of(byte as u8))))
    }

    /// The class of each byte, by runs that cover all bytes.
    fn spread(runs: &[Run]) -> Vec<u16> {
        let mut of = Vec::new();
        for run in runs {
            assert_eq!(usize::from(run.first), of.len());
            of.resize(usize::from(run.last) + 1, run.class);
        }
        assert_eq!(of.len(), 256);
        of
    }

    #[test]
    fn common_classes_tell_apart_what_some_tell_apart() {
        let (halves, thirds) = (classes(|byte| byte / 128), classes(|byte| byte % 3));
        let common = ByteClasses::common([&halves, &thirds, &halves].into_iter()).expect("there are some");
        assert_eq!((common.count, halves.count, halves.runs.len(), thirds.runs.len()), (6, 2, 2, 256));
        assert_eq!(spread(&common.runs), common.of.map(u16::from));
        for (one, other) in (0..=255u8).flat_map(|one| (0..=255u8).map(move |other| (one, other))) {
            let [one, other] = [one, other].map(usize::from);
            let is_same = halves.of[one] == halves.of[other] && thirds.of[one] == thirds.of[other];
            assert_eq!(common.of[one] == common.of[other], is_same);
        }
        assert!(Arc::ptr_eq(&ByteClasses::common([&halves, &halves].into_iter()).expect("there are some"), &halves));
        assert_eq!(halves.bytes(|class| class == 1), ByteSet::range(128, 255));
        assert_eq!((&*halves.first, &*thirds.first), (&[0, 128][..], &[0, 1, 2][..]));
        assert!(ByteClasses::common([].into_iter()).is_none());
    }

    #[test]
    fn bytes_alone_have_classes_of_their_own() {
        let mut alone = ByteSet::EMPTY;
        for bytes in [&[0, 1, 127, 128, 200, 255][..], &[64], &[]] {
            bytes.iter().for_each(|&byte| alone.insert(byte));
            let of = spread(&with_alone(&classes(|byte| byte / 128).runs, &alone));
            for (byte, &class) in (0..=255).zip(&of) {
                let len = of.iter().filter(|&&other| other == class).count();
                match alone.contains(byte) {
                    true => assert_eq!(len, 1),
                    false => assert_eq!(class, u16::from(byte / 128)),
                }
            }
        }
        let all = spread(&with_alone(&ONE, &ByteSet::ALL));
        assert!((1..=256).eq(all));
    }
}
