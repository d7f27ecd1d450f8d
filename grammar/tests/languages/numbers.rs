//! Ranges of numbers against the values of the texts, and substrings against all runs of chunks.

use larkspur_grammar::number::{
    Decimal, NumberCombination, NumberError, NumberKind, NumberLeaf, NumberRange, PlainText, combined_numbers,
    is_number_in, number_regex,
};
use larkspur_grammar::substring::{chars, substring, words};
use larkspur_grammar::{Limits, RegexNode, RegexSet};
use proptest::prelude::*;

use crate::matcher::matches;

/// Thousandths of a plain decimal with at most three digits behind the point; `None` if the text is not a number.
fn thousandths(text: &str, kind: NumberKind) -> Option<i64> {
    let (sign, plain) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = plain.split_once('.').map_or((plain, None), |(whole, fraction)| (whole, Some(fraction)));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let valid = digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(digits);
    if !valid || kind == NumberKind::Integer && fraction.is_some() {
        return None;
    }
    let fraction = fraction.unwrap_or("");
    Some(sign * (whole.parse::<i64>().ok()? * 1000 + format!("{fraction:0<3}").parse::<i64>().ok()?))
}

fn written(thousandths: i64) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", thousandths.abs() / 1000, thousandths.abs() % 1000)
}

fn near() -> impl Strategy<Value = i64> {
    prop_oneof![
        -1200i64..1200,
        (-120i64..120).prop_map(|n| n * 100),
        (-130i64..130).prop_map(|n| n * 1000),
        -200_000i64..200_000
    ]
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        near().prop_map(written),
        near().prop_map(|n| (n / 1000).to_string()),
        near().prop_map(|n| written(n).trim_end_matches('0').trim_end_matches('.').to_owned()),
        prop::sample::select(vec!["-0", "-0.0", "0", "0.0", "00", "1.", ".5", "-", "", "0.00", "1e3", "+1"])
            .prop_map(str::to_owned),
    ]
}

/// A leaf of a combination, and what it holds.
#[derive(Clone, Debug)]
enum Part {
    Range { range: NumberRange, low: Option<(i64, bool)>, high: Option<(i64, bool)>, divisor: Option<i64> },
    Values { values: Vec<Decimal>, thousandths: Vec<i64> },
}

impl Part {
    fn leaf(&self) -> NumberLeaf<'_> {
        match self {
            Part::Range { range, .. } => NumberLeaf::Range(range),
            Part::Values { values, .. } => NumberLeaf::Values(values),
        }
    }
    fn has(&self, n: i64) -> bool {
        match self {
            Part::Values { thousandths, .. } => thousandths.contains(&n),
            Part::Range { range, low, high, divisor } => {
                low.is_none_or(|(low, exclusive)| if exclusive { n > low } else { n >= low })
                    && high.is_none_or(|(high, exclusive)| if exclusive { n < high } else { n <= high })
                    && divisor.is_none_or(|divisor| n % divisor == 0)
                    && (range.kind == NumberKind::Number || n % 1000 == 0)
            }
        }
    }
}

fn part() -> impl Strategy<Value = Part> {
    let value = |n: i64| Decimal::parse(&written(n)).expect("a number");
    let divisor = prop_oneof![(1i64..14).prop_map(|n| n * 1000), (1i64..30).prop_map(|n| n * 50)];
    let end = || prop::option::of((near(), any::<bool>()));
    let range =
        (any::<bool>(), end(), end(), prop::option::of(divisor)).prop_map(move |(integer, low, high, divisor)| {
            let mut range = NumberRange::all(if integer { NumberKind::Integer } else { NumberKind::Number });
            if let Some((n, exclusive)) = low {
                range = range.at_least(value(n), exclusive);
            }
            if let Some((n, exclusive)) = high {
                range = range.at_most(value(n), exclusive);
            }
            if let Some(n) = divisor {
                range = range.multiple_of(value(n));
            }
            Part::Range { range, low, high, divisor }
        });
    let values = prop::collection::vec(near(), 1..4).prop_map(move |thousandths| Part::Values {
        values: thousandths.iter().map(|&n| value(n)).collect(),
        thousandths,
    });
    prop_oneof![3 => range, 1 => values]
}

/// A combination as the list of what it says for all that the leaves may say, of at most four.
struct Truths {
    truths: u16,
    wanted: Wanted,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Wanted {
    All,
    WithoutPoint,
    Shortest,
}

impl NumberCombination for Truths {
    fn asks_for_shortest(&self) -> bool {
        self.wanted == Wanted::Shortest
    }

    fn holds(&mut self, leaves: &[Option<bool>], text: Option<PlainText>) -> Option<bool> {
        let agrees = |row: &usize| {
            leaves.iter().enumerate().all(|(at, leaf)| leaf.is_none_or(|leaf| leaf == (row >> at & 1 == 1)))
        };
        let rows = (0..1 << leaves.len()).filter(agrees).map(|row| self.truths >> row & 1 == 1);
        let rows: Vec<bool> = rows.collect();
        let is_wanted = text.is_none_or(|text| match self.wanted {
            Wanted::All => true,
            Wanted::WithoutPoint => !text.has_point,
            Wanted::Shortest => text.is_shortest,
        });
        match (rows.contains(&true) && is_wanted, rows.contains(&false) || !is_wanted) {
            (true, false) => Some(true),
            (false, _) => Some(false),
            (true, true) => None,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(3_000)) })]
    #[test]
    fn ranges(
        integer in any::<bool>(),
        minimum in prop::option::of((near(), any::<bool>())),
        maximum in prop::option::of((near(), any::<bool>())),
        divisor in prop::option::weighted(0.3, prop_oneof![1i64..3000, (1i64..30).prop_map(|n| n * 500)]),
        texts in prop::collection::vec(texts(), 30),
    ) {
        let kind = if integer { NumberKind::Integer } else { NumberKind::Number };
        let value = |n: i64| Decimal::parse(&written(n)).expect("a number");
        let mut range = NumberRange::all(kind);
        if let Some((n, exclusive)) = minimum { range = range.at_least(value(n), exclusive); }
        if let Some((n, exclusive)) = maximum { range = range.at_most(value(n), exclusive); }
        if let Some(n) = divisor { range = range.multiple_of(value(n)); }
        let inside = |n: i64| {
            minimum.is_none_or(|(low, exclusive)| if exclusive { n > low } else { n >= low })
                && maximum.is_none_or(|(high, exclusive)| if exclusive { n < high } else { n <= high })
                && divisor.is_none_or(|divisor| n % divisor == 0)
        };
        let free = minimum.is_none() && maximum.is_none() && divisor.is_none();
        let mut set = RegexSet::new();
        match number_regex(&range, &Limits::default(), &mut set) {
            Ok(regex) => {
                for text in &texts {
                    let expected = match thousandths(text, kind) {
                        Some(n) => inside(n),
                        None => text == "1e3" && free && !integer,
                    };
                    prop_assert_eq!(matches(&set, regex, text.as_bytes()), expected, "{:?} in {:?}", text, range);
                }
            }
            Err(error) => {
                prop_assert_eq!(&error, &NumberError::Empty);
                let (low, high) = (minimum.map_or(-300_000, |m| m.0), maximum.map_or(300_000, |m| m.0));
                let step = if integer { 1000 } else { 1 };
                let found = (low - 1000..=high + 1000).find(|&n| n % step == 0 && inside(n));
                // Between thousandths there are more numbers.
                prop_assert!(found.is_none(), "{:?} is in {:?}", found, range);
                prop_assert!(integer || divisor.is_some() || low >= high, "{:?}", range);
            }
        }
    }

    #[test]
    fn combinations(
        parts in prop::collection::vec(part(), 1..5),
        truths in any::<u16>(),
        wanted in prop::sample::select(vec![Wanted::All, Wanted::WithoutPoint, Wanted::Shortest]),
        texts in prop::collection::vec(texts(), 30),
    ) {
        let parts: Vec<Part> = parts;
        let leaves: Vec<NumberLeaf> = parts.iter().map(Part::leaf).collect();
        let mut all = Truths { truths, wanted: Wanted::All };
        let mut some = Truths { truths, wanted };
        let (mut set, mut left) = (RegexSet::new(), usize::MAX);
        let has_number = is_number_in(&leaves, &mut all, &mut left);
        let regex = combined_numbers(&leaves, &mut some, &mut left, &mut set);
        prop_assert!(regex.is_none() || has_number.is_some());
        let Some(regex) = regex else { return Ok(()) };
        if wanted == Wanted::All && let Some(has_number) = has_number {
            prop_assert_eq!(*set.node(regex) != RegexNode::Nothing, has_number);
        }
        for text in &texts {
            let value = thousandths(text, NumberKind::Number);
            let expected = value.is_some_and(|value| {
                let is_shortest = !(text.contains('.') && text.ends_with('0')) && (value != 0 || !text.starts_with('-'));
                let text = PlainText { has_point: text.contains('.'), is_shortest };
                let leaves: Vec<Option<bool>> = parts.iter().map(|part| Some(part.has(value))).collect();
                some.holds(&leaves, Some(text)) == Some(true)
            });
            let found = matches(&set, regex, text.as_bytes());
            prop_assert_eq!(found, expected, "{:?} {:?} {:b} {:?}", text, parts, truths, wanted);
            prop_assert!(!found || has_number != Some(false));
        }
    }

    #[test]
    fn substrings(
        chunks in prop::collection::vec(prop::sample::select(vec!["a", "b", "ab", "ba", "c", ""]), 0..9),
        text in "[abc]{0,8}",
    ) {
        let mut set = RegexSet::new();
        let regex = substring(&chunks, &Limits::default(), &mut set).expect("few nodes");
        let mut runs = (0..=chunks.len()).flat_map(|from| (from..=chunks.len()).map(move |to| (from, to)));
        let expected = runs.any(|(from, to)| chunks[from..to].concat() == text);
        prop_assert_eq!(matches(&set, regex, text.as_bytes()), expected, "{:?} in {:?}", text, chunks);
    }
}

#[test]
fn numbers_of_any_size() {
    let range = |minimum: &str, maximum: &str| {
        let value = |text| Decimal::parse(text).expect("a number");
        NumberRange::all(NumberKind::Number).at_least(value(minimum), false).at_most(value(maximum), true)
    };
    let mut set = RegexSet::new();
    let limits = Limits::default();
    let large = number_regex(&range("-1e40", "1.5e+40"), &limits, &mut set).expect("a range");
    let forty = |first: &str| format!("{first}{}", "0".repeat(39));
    assert!(matches(&set, large, forty("14.9").replace('.', "").as_bytes()) == ("149".len() + 39 < 41));
    assert!(matches(&set, large, forty("14").as_bytes()));
    assert!(!matches(&set, large, forty("15").as_bytes()));
    assert!(matches(&set, large, format!("-{}", forty("10")).as_bytes()));
    assert!(!matches(&set, large, format!("-{}.1", forty("10")).as_bytes()));
    let small = number_regex(&range("1e-30", "2E-30"), &limits, &mut set).expect("a range");
    assert!(matches(&set, small, format!("0.{}1", "0".repeat(29)).as_bytes()));
    assert!(!matches(&set, small, format!("0.{}2", "0".repeat(29)).as_bytes()));
    let huge = number_regex(&range("0", "1e1000000"), &limits, &mut set);
    assert!(matches!(huge, Err(NumberError::TooLarge { .. })), "{huge:?}");
    assert_eq!(Decimal::parse("1e99999999999999999999"), None);
    assert_eq!(Decimal::parse("0e99999999999999999999"), Some(Decimal::zero()));
    assert!(Decimal::parse("01").is_none());
}

#[test]
fn large_divisors() {
    let mut set = RegexSet::new();
    let limits = Limits::default();
    let value = |text| Decimal::parse(text).expect("a number");
    let of = |divisor, kind| NumberRange::all(kind).multiple_of(value(divisor));
    let regex = number_regex(&of("3e25", NumberKind::Number), &limits, &mut set).expect("multiples");
    let text = |first: &str| format!("{first}{}", "0".repeat(25));
    for good in ["0", "-0.0", &text("3"), &text("-12"), &(text("6") + ".00")] {
        assert!(matches(&set, regex, good.as_bytes()), "{good}");
    }
    for bad in ["3", &text("4"), &text("3")[1..], &(text("6") + ".01"), &text("03")] {
        assert!(!matches(&set, regex, bad.as_bytes()), "{bad}");
    }
    assert_eq!(number_regex(&of("0", NumberKind::Integer), &limits, &mut set), Err(NumberError::DivisorNotPositive));
    assert_eq!(number_regex(&of("-2", NumberKind::Integer), &limits, &mut set), Err(NumberError::DivisorNotPositive));
    let long = of("123456789012345678901", NumberKind::Integer);
    assert_eq!(number_regex(&long, &limits, &mut set), Err(NumberError::DivisorTooLong));
    // 6 is the only integer here that is a multiple of 1.5.
    let narrow = of("1.5", NumberKind::Integer).at_least(value("4"), false).at_most(value("8"), false);
    let regex = number_regex(&narrow, &limits, &mut set).expect("six");
    assert!(matches(&set, regex, b"6") && !matches(&set, regex, b"4") && !matches(&set, regex, b"7"));
    let none = of("1.5", NumberKind::Integer).at_least(value("7"), false).at_most(value("8"), false);
    assert_eq!(number_regex(&none, &limits, &mut set), Err(NumberError::Empty));
}

#[test]
fn chunks() {
    assert_eq!(words("foo bar. baz"), ["foo", " ", "bar", ".", " ", "baz"]);
    assert_eq!(words("  é_1, (x)\n"), ["  ", "é_1", ",", " ", "(", "x", ")", "\n"]);
    assert_eq!(words(""), [""; 0]);
    assert_eq!(chars("aé😀"), ["a", "é", "😀"]);
    let text = "lorem ipsum dolor sit amet ".repeat(2_000);
    let mut set = RegexSet::new();
    substring(&words(&text), &Limits::default(), &mut set).expect("linear");
    assert!(set.len() < 6 * words(&text).len(), "{}", set.len());
    let few = Limits { regex_nodes_max: 1_000, ..Limits::default() };
    assert!(substring(&words(&text), &few, &mut set).is_err());
}
