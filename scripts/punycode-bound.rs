//! Prints `DIGITS` of json_schema/src/formats/idna.rs: how many digits Punycode (RFC 3492) writes at most for 1, 2, …
//! characters of a label that are not ASCII, if all of them are in one window of code points.
//!
//! A dynamic program over all that an encoder can do: for each count of ASCII characters, number of deltas written, digits
//! written and bias, the least sum of the deltas; all deltas but the first together step over the window once, so that
//! their sum is at most its size times the label's length. Run by: rustc -O -o /tmp/bound scripts/punycode-bound.rs && /tmp/bound

/// As in `scripts/idna-table`, and the whole of what is allowed. Han goes with kana.
const WINDOWS: [(u64, u64); 15] = [
    (0xB7, 0x17F), (0x370, 0x3FF), (0x430, 0x52F), (0x560, 0x58F), (0x5D0, 0x5F4), (0x620, 0x6FF), (0x900, 0x97F),
    (0x980, 0x9FF), (0xE00, 0xE7F), (0x10D0, 0x10FF), (0x1E00, 0x1EFF), (0x3041, 0x30FF), (0x3041, 0x9FFF),
    (0xAC00, 0xD7A3), (0x80, 0x3134A),
];
const LEN_MAX: usize = 63;
const BIAS_MAX: usize = 256;

fn adapt(delta: u64, points: u64, first: bool) -> usize {
    let mut delta = if first { delta / 700 } else { delta / 2 };
    delta += delta / points;
    let mut k = 0;
    while delta > 455 {
        delta /= 35;
        k += 36;
    }
    (k + 36 * delta / (delta + 38)) as usize
}

fn digits(mut q: u64, bias: usize) -> usize {
    let mut count = 1;
    for k in (36..).step_by(36) {
        let t = (k as i64 - bias as i64).clamp(1, 26) as u64;
        if q < t {
            return count;
        }
        q = (q - t) / (36 - t);
        count += 1;
    }
    unreachable!()
}

/// The least values at which a function that does not fall changes, up to `most`.
fn steps(from: u64, most: u64, f: impl Fn(u64) -> usize) -> Vec<u64> {
    let mut all = vec![from];
    loop {
        let last = *all.last().unwrap();
        let (mut low, mut high) = (last, most);
        if f(most) == f(last) {
            return all;
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            if f(middle) == f(last) { low = middle } else { high = middle }
        }
        all.push(high);
    }
}

fn main() {
    for (low, high) in WINDOWS {
        let mut longest = [0usize; LEN_MAX + 1];
        // `xn--`, the ASCII characters, a delimiter and the digits are 63 at most.
        for basic in 0..=57 {
            let mut cost = vec![[u64::MAX; LEN_MAX + 1]; BIAS_MAX];
            let (from, to) = ((low - 0x80) * (basic + 1), (high - 0x80) * (basic + 1) + basic);
            let mut firsts = steps(from, to, |delta| digits(delta, 72));
            firsts.extend(steps(from, to, |delta| adapt(delta, basic + 1, true)));
            for delta in firsts {
                cost[adapt(delta, basic + 1, true)][digits(delta, 72)] = 0;
            }
            for count in 1..=LEN_MAX as u64 - 4 - basic {
                let n = basic + count;
                let most = (high - low + 1) * n;
                if count > 1 {
                    let mut next = vec![[u64::MAX; LEN_MAX + 1]; BIAS_MAX];
                    let biases = steps(0, most, |delta| adapt(delta, n, false));
                    for bias in (0..BIAS_MAX).filter(|&bias| cost[bias].iter().any(|&c| c != u64::MAX)) {
                        let mut deltas = steps(0, most, |delta| digits(delta, bias));
                        deltas.extend(&biases);
                        for delta in deltas {
                            let (d, new) = (digits(delta, bias), adapt(delta, n, false));
                            for done in 0..=LEN_MAX {
                                let sum = cost[bias][done].saturating_add(delta);
                                let target = &mut next[new][(done + d).min(LEN_MAX)];
                                if sum <= most { *target = (*target).min(sum) }
                            }
                        }
                    }
                    cost = next;
                }
                let worst = (0..=LEN_MAX).rev().find(|&d| cost.iter().any(|row| row[d] <= most)).unwrap();
                longest[count as usize] = longest[count as usize].max(worst);
            }
        }
        let fits: Vec<String> = longest[1..].iter().take_while(|&&len| (1..=LEN_MAX - 4).contains(&len)).map(|len| len.to_string()).collect();
        println!("    // {low:04X}..={high:04X}\n    &[{}],", fits.join(", "));
    }
}
