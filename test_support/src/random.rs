//! Random numbers, the same in each run.

/// A linear congruential generator with Knuth's constants of MMIX, of which the high bits are taken.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Each seed has its own numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// 31 bits.
    fn half(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        self.half() << 33 | self.half() << 2 | self.half() & 3
    }

    /// A number below `bound`, which is at most 2^31.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.half() % bound as u64) as usize
    }

    /// Once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}
