//! `regex`, `idn-hostname` and `idn-email`: lists, what stands beside them, and random texts judged by others.

mod common;

use common::{accepts, check, check_in, compiled, shared, spelled, walk_without_traps};
use larkspur_json_schema::Spelling;
use larkspur_parser::{CompiledGrammar, Matcher, MatcherOptions};
use larkspur_toktrie::{TokenMask, Vocabulary};
use proptest::prelude::*;

fn schema(format: &str) -> String {
    format!(r#"{{"type": "string", "format": "{format}"}}"#)
}

/// Checks texts as values of a format, in both profiles.
fn format(format: &str, good: &[&str], bad: &[&str]) {
    let values = |texts: &[&str]| texts.iter().map(|text| serde_json::to_string(text).unwrap()).collect::<Vec<_>>();
    let (good, bad) = (values(good), values(bad));
    let good: Vec<&str> = good.iter().map(String::as_str).collect();
    let bad: Vec<&str> = bad.iter().map(String::as_str).collect();
    check(&schema(format), &good, &bad);
    check_in(&Spelling::validator(), &schema(format), &good, &bad);
}

#[test]
fn regexes() {
    let deep = |depth: usize| format!("{}a{}", "(".repeat(depth), ")".repeat(depth));
    format(
        "regex",
        &[
            "",
            "a",
            "^$",
            "|",
            "a|b|",
            "([abc])+\\s+$",
            "(?:a(?=b)(?!c)(?<=d+)(?<!e)f)*?",
            "a*?b+?c??d{2}?",
            "a{0}b{1,}c{1,1}d{007,7}e{9,10}f{65535,100000000000}g{99999999}h{99999999,}",
            "[]",
            "[^]",
            "[^^]",
            "[a-]",
            "[-a]",
            "[--a]",
            "[a-b-c]",
            "[\\w-]",
            "[\\d\\-x\\]]",
            "[\\0-\\x1f]",
            "[\\x00-\\u{10FFFF}]",
            "[\\u4e00-\\u9fa5]",
            "[À-ÖØ-öø-ÿ]",
            "[一-龥]",
            "[\\ud800-\\udfff]",
            "[\\cA-\\cZ]",
            "\\0",
            "\\d\\D\\s\\S\\w\\W\\b\\B\\f\\n\\r\\t\\v\\cJ\\x41\\u0041\\u{000041}\\/\\.\\*\\|",
            "\\ud83d\\ude00",
            "(a)(b)\\1\\2+",
            "(?<n>a)\\k<n>",
            "(?<year>[0-9]{4})-(?<month>[0-9]{2})",
            "\\p{L}\\P{Lu}\\p{Script=Greek}\\p{scx=Hira}\\p{General_Category=Letter}\\p{Emoji}",
            "[\\p{L}\\p{Nd}_]",
            "é",
            "😀",
            "/",
            "a\n",
            "-",
            &deep(31),
        ],
        &[
            "^(abc]",
            "(",
            ")",
            "a)",
            "[",
            "]",
            "{",
            "}",
            "a{",
            "a{1",
            "a{,2}",
            "a{2,1}",
            "a{10,9}",
            "a{65536,1}",
            "*",
            "+a",
            "?",
            "a**",
            "a+++",
            "^*",
            "\\b+",
            "(?=a)*",
            "(?<=a)+",
            "(?",
            "(?P<name>x)",
            "(?P<n>a)(?P=n)",
            "(?#comment)a",
            "(?i)abc",
            "(?<>a)",
            "(?<1>a)",
            "(?<n>a)(?<n>b)",
            "\\k<n>",
            "\\k",
            "\\1",
            "(a)\\2",
            "\\00",
            "\\01",
            "\\a",
            "\\Z",
            "\\-",
            "\\_",
            "\\",
            "\\c",
            "\\c1",
            "\\x4",
            "\\u004",
            "\\u{}",
            "\\u{110000}",
            "\\u{41",
            "\\p",
            "\\pL",
            "\\p{}",
            "\\p{Lx}",
            "\\p{Script=}",
            "\\p{Lu",
            "[b-a]",
            "[a-\\d]",
            "[\\w-a]",
            "[\\w-\\.]",
            "[a--]",
            "[\\x41-\\x40]",
            "[\\u{10FFFF}-\\uFFFF]",
            "[\\B]",
            "[\\1]",
            "[\\00]",
            "[a",
            "[ÿ-À]",
        ],
    );
}

#[test]
fn what_the_automaton_of_regexes_leaves_out() {
    let deep = format!("{}a{}", "(".repeat(32), ")".repeat(32));
    format(
        "regex",
        &[],
        &[
            &deep,
            "\\1(a)",
            "(?<na>a)\\k<na>",
            "(?<ab>a)(?<ac>b)",
            "(?<é>a)",
            "a{65536,65536}",
            "[Ā-Ą]",
            "[\\ud83d\\ude00]",
            "(?i:a)",
        ],
    );
}

#[test]
fn internationalised_host_names() {
    let letters = |letter: &str, count: usize| letter.repeat(count);
    format(
        "idn-hostname",
        &[
            "실례.테스트",
            "example.com",
            "EXAMPLE.com",
            "1host",
            "ßς་〇",
            "۽۾",
            "l·l",
            "α͵β",
            "א׳ב",
            "א״ב",
            "・ぁ",
            "・丈",
            "a・ア",
            "ب٠ب",
            "۰0",
            "क्\u{200d}ष",
            "क्\u{200c}ष",
            "بي\u{200c}بي",
            "a.b",
            "a。b",
            "a．b",
            "a｡b",
            "münchen.de",
            "straßenverkehrsamt",
            "בדיקה.example",
            "example.בדיקה",
            "موقع.وزارة-الأتصالات.مصر",
            "中文网络信息中心",
            "क़",
            "a.b.c.d.e.f.실.례.g",
            &letters("a", 63),
            &letters("ü", 20),
            &[letters("a", 63), letters("a", 63), letters("a", 63), letters("a", 61)].join("."),
        ],
        &[
            "",
            ".",
            "。",
            ".a",
            "a.",
            "a。",
            "a..b",
            "〮실례.테스트",
            "실〮례.테스트",
            "-> $1.00 <--",
            "XN--aa---o47jg78q",
            "-a",
            "a-",
            "\u{903}hello",
            "\u{300}hello",
            "\u{488}hello",
            "ـߺ",
            "〱〲〳〴〵〮〯〻",
            "a·l",
            "·l",
            "l·a",
            "l·",
            "α͵S",
            "α͵",
            "A׳ב",
            "׳ב",
            "A״ב",
            "״ב",
            "def・abc",
            "・",
            "ب٠۰",
            "क\u{200d}ष",
            "\u{200d}ष",
            "क्\u{200c}षx\u{200c}y",
            "بي\u{200c}",
            "0a.א",
            "א.0a",
            "0ا",
            "aא",
            "א0٠",
            "אa",
            "א-.a",
            "cafe\u{301}",
            "Ünchen",
            "MÜnchen",
            "a_b",
            "\u{212a}elvin",
            &letters("a", 64),
            &letters("ü", 60),
            &[letters("a", 63), letters("a", 63), letters("a", 63), letters("a", 62)].join("."),
        ],
    );
}

#[test]
fn what_the_automaton_of_host_names_leaves_out() {
    let long = "παράδειγμα".repeat(4);
    format("idn-hostname", &[], &["xn--ihqwcrb4cv8a8dqg056pqjye", &long, "x\u{323}a"]);
}

#[test]
fn internationalised_mail_addresses() {
    let local = "a".repeat(64);
    format(
        "idn-email",
        &[
            "실례@실례.테스트",
            "joe.bloggs@example.com",
            "δοκιμή@example.com",
            "\"δοκιμή @\\\"\"@example.com",
            "user@cafe\u{301}.com",
            "\u{85}@example.com",
            "\u{ffff}@example.com",
            "𝕏@example.com",
            "a@[127.0.0.1]",
            "a@[IPv6:::1]",
            "a@[ipv6:::1]",
            &format!("{local}@b"),
            &format!("{}@b", "é".repeat(32)),
            &format!("\"{}\"@b", "a".repeat(62)),
        ],
        &[
            "2962",
            "@a",
            "a@",
            ".a@b",
            "a.@b",
            "a..b@c",
            "a b@c",
            "\"a@b",
            "user＠example.com",
            "a@-b",
            "a@[127.0.0.256]",
            &format!("{local}a@b"),
            &format!("{}a@b", "é".repeat(32)),
            &format!("\"{}\"@b", "a".repeat(63)),
        ],
    );
}

#[test]
fn ranges_of_lengths_are_left_out() {
    // 256 characters.
    let long = format!("\"{}@{}\"", "a".repeat(64), ["b"; 3].map(|letter| letter.repeat(63)).join("."));
    let shorter = &long.replacen("aa", "a", 1);
    for (min, others) in [(1, ""), (1, r#""maxLength": 1024, "#), (3, r#""maxLength": 1024, "#), (5, "")] {
        let not = format!(r#""not": {{"minLength": {min}, "maxLength": 255}}"#);
        let schema = format!(r#"{{"type": "string", "format": "email", {others}{not}}}"#);
        check(&schema, &[&long], &[r#""a@b.c""#, shorter]);
    }
    let schema = r#"{"type": "string", "format": "email", "not": {"minLength": 6, "maxLength": 255}}"#;
    check(schema, &[r#""a@b.c""#, &long], &[r#""aa@b.c""#]);
    let schema = r#"{"type": "string", "format": "email", "anyOf": [{"maxLength": 5}, {"minLength": 256}]}"#;
    check(schema, &[r#""a@b.c""#, &long], &[r#""aa@b.c""#, shorter]);
}

#[test]
fn keywords_beside_them() {
    check(
        r#"{"type": "string", "format": "regex", "maxLength": 5, "pattern": "^\\^"}"#,
        &[r#""^a$""#, r#""^(a)""#],
        &[r#""a""#, r#""^(a""#, r#""^(abc)""#],
    );
    check(
        r#"{"type": "string", "not": {"format": "regex"}, "maxLength": 3}"#,
        &[r#""(""#, r#""a**""#, r#""[""#],
        &[r#""a""#, r#""(a)""#, r#""""#, r#""((((""#],
    );
    check(
        r#"{"type": "string", "format": "idn-hostname", "minLength": 3, "maxLength": 6, "pattern": "\\.de$"}"#,
        &[r#""ä.de""#, r#""äöü.de""#],
        &[r#""äöüß.de""#, r#""a.b""#, r#""-.de""#],
    );
    check(
        r#"{"type": "string", "format": "idn-hostname", "not": {"format": "hostname"}}"#,
        &[r#""ä""#, r#""a。b""#],
        &[r#""a""#, r#""a.b""#, r#""-ä""#],
    );
    check(
        r#"{"anyOf": [{"format": "idn-email"}, {"format": "regex"}], "type": "string"}"#,
        &[r#""a@b""#, r#""[a]""#, r#""{@b""#],
        &[r#""[""#, r#""{""#],
    );
    check(
        r#"{"oneOf": [{"format": "regex"}, {"const": "("}, {"const": "a"}], "type": "string"}"#,
        &[r#""(""#, r#""b""#],
        &[r#""a""#, r#""["""#],
    );
    check(
        r#"{"type": "object", "propertyNames": {"format": "regex"}, "additionalProperties": {"type": "integer"}}"#,
        &["{}", r#"{"^a": 1, "b+": 2}"#],
        &[r#"{"*": 1}"#, r#"{"^a": 1, "^a": 2}"#],
    );
}

#[test]
fn meta_schemas_have_patterns() {
    let (grammar, _) = compiled(&shared(), r#"{"$ref": "http://json-schema.org/draft-07/schema#"}"#);
    let grammar = grammar.expect("the meta-schema compiles");
    let accepts = |text: &str| accepts(&grammar, text);
    assert_eq!(accepts(r#"{"pattern": "^[a-z]+(-[a-z]+)*$"}"#), Ok(true));
    assert_eq!(accepts(r#"{"pattern": "^[a-z+"}"#), Ok(false));
    assert_eq!(accepts(r#"{"patternProperties": {"^x-": true}}"#), Ok(true));
    assert_eq!(accepts(r#"{"patternProperties": {"*x": true}}"#), Ok(false));
}

/// A text of the grammar, by a walk that goes on at random for a while and then takes what ends soonest.
fn walk(grammar: &CompiledGrammar, choices: &[u16]) -> String {
    let mut matcher = Matcher::new(grammar, MatcherOptions::default()).expect("fits");
    let mut mask = TokenMask::new(Vocabulary::single_bytes().len());
    let mut text = Vec::new();
    for step in 0.. {
        assert!(step < 2_000, "a walk ends: {}", String::from_utf8_lossy(&text));
        matcher.compute_mask(&mut mask).expect("within the limits");
        let allowed: Vec<u8> = (0..=255u8).filter(|&byte| mask.is_allowed(byte.into())).collect();
        if allowed.is_empty() {
            assert_eq!(matcher.is_accepting(), Ok(true), "no dead end: {}", String::from_utf8_lossy(&text));
            break;
        }
        // Later on, quotes end strings; within escapes and names, early letters do not go on for ever.
        let byte = match choices.get(step) {
            Some(&choice) => allowed[usize::from(choice) % allowed.len()],
            None => {
                let ends = b"\"])}>a/-l";
                let end = ends.iter().copied().find(|byte| allowed.contains(byte));
                end.unwrap_or(allowed[step % allowed.len()])
            }
        };
        matcher.consume_bytes(&[byte]).expect("allowed");
        text.push(byte);
    }
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// The octets of the label's ASCII form: RFC 3492, section 6.3.
fn ascii_octets(label: &str) -> usize {
    let chars: Vec<u32> = label.chars().map(u32::from).collect();
    let basic = chars.iter().filter(|&&c| c < 0x80).count();
    if basic == chars.len() {
        return basic;
    }
    let (mut n, mut delta, mut bias, mut handled) = (0x80u64, 0u64, 72u64, basic as u64);
    let mut octets = 4 + basic + usize::from(basic > 0);
    while handled < chars.len() as u64 {
        let next = chars.iter().map(|&c| u64::from(c)).filter(|&c| c >= n).min().expect("one is left");
        delta += (next - n) * (handled + 1);
        n = next;
        for &c in &chars {
            if u64::from(c) < n {
                delta += 1;
            } else if u64::from(c) == n {
                let (mut q, mut k) = (delta, 36u64);
                loop {
                    let t = k.saturating_sub(bias).clamp(1, 26);
                    octets += 1;
                    if q < t {
                        break;
                    }
                    (q, k) = ((q - t) / (36 - t), k + 36);
                }
                let mut scaled = if handled == basic as u64 { delta / 700 } else { delta / 2 };
                scaled += scaled / (handled + 1);
                let mut steps = 0;
                while scaled > 455 {
                    (scaled, steps) = (scaled / 35, steps + 36);
                }
                bias = steps + 36 * scaled / (scaled + 38);
                (delta, handled) = (0, handled + 1);
            }
        }
        (delta, n) = (delta + 1, n + 1);
    }
    octets
}

#[test]
fn octets_of_known_labels() {
    assert_eq!(ascii_octets("example"), 7);
    assert_eq!(ascii_octets("münchen"), "xn--mnchen-3ya".len());
    assert_eq!(ascii_octets("实例"), "xn--fsq270a".len());
    assert_eq!(ascii_octets("παράδειγμα"), "xn--hxajbheg2az3al".len());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn walks_through_regexes_end_and_are_regexes(choices in prop::collection::vec(any::<u16>(), 0..60)) {
        let grammar = spelled(&shared(), &schema("regex"), &Spelling::default()).expect("compiles");
        let text = walk(&grammar, &choices);
        let value: String = serde_json::from_str(&text).expect("a string");
        // Names of properties in newer or older versions of Unicode, and what only ECMA-262 has, are not compared.
        let judge = jsonschema::options().should_validate_formats(true);
        let judge = judge.build(&serde_json::json!({"format": "regex"})).expect("a schema");
        let differs = ["\\p", "\\P", "\\c", "[]", "[^]", "\\u{", "(?<", "\\k", "\\0", "\\ud", "\\uD"];
        if !differs.iter().any(|part| value.contains(part)) {
            prop_assert!(judge.is_valid(&value.clone().into()), "{}", value);
        }
    }

    #[test]
    fn walks_through_host_names_end_and_are_short(choices in prop::collection::vec(any::<u16>(), 0..200)) {
        let grammar = spelled(&shared(), &schema("idn-hostname"), &Spelling::default()).expect("compiles");
        let text = walk(&grammar, &choices);
        let value: String = serde_json::from_str(&text).expect("a string");
        let labels: Vec<usize> = value.split(['.', '。', '．', '｡']).map(ascii_octets).collect();
        prop_assert!(labels.iter().all(|&octets| (1..=63).contains(&octets)), "{}", value);
        prop_assert!(labels.iter().sum::<usize>() + labels.len() - 1 <= 253, "{}", value);
        let judge = jsonschema::options().should_validate_formats(true);
        let judge = judge.build(&serde_json::json!({"format": "idn-hostname"})).expect("a schema");
        prop_assert!(judge.is_valid(&value.clone().into()), "{}", value);
    }
}

/// A leap second may be at many times and offsets; to find a text of a pattern among them must not take all of them.
#[test]
fn times_with_patterns() {
    let zoned = r#"{"type":"string","format":"date-time","pattern":".+(Z|[+\\-]\\d{2}:\\d{2})"}"#;
    check(
        zoned,
        &[r#""2026-11-23T20:00:00Z""#, r#""2026-11-23T20:00:00.5+01:00""#, r#""2016-12-31T18:59:60-05:00""#],
        &[r#""2026-11-23T20:00:00""#, r#""2016-12-31T18:59:60-06:00""#],
    );
    let universal = r#"{"type":"string","format":"date-time","pattern":"Z$"}"#;
    check(
        universal,
        &[r#""2026-11-23T20:00:00Z""#, r#""2016-12-31T23:59:60Z""#],
        &[r#""2026-11-23T20:00:00z""#, r#""2016-12-31T18:59:60-05:00""#],
    );
    walk_without_traps(universal, 20);
    walk_without_traps(r#"{"type":"string","format":"time","pattern":"[+-]\\d{2}:30$"}"#, 20);
}
