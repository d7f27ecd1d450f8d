//! Ranges of numbers against the values of the texts, and substrings against all runs of chunks.

use larkspur_grammar::number::{Decimal, NumberError, NumberKind, NumberRange, number_regex};
use larkspur_grammar::substring::{chars, substring, words};
use larkspur_grammar::{Limits, RegexSet};
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
