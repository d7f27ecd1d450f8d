//! `format`: the names that are known, and the regexes of those that are regular.
//!
//! Sources: RFC 3339 (dates; durations in its appendix A), RFC 5321 (mailboxes), RFC 1123 (host names), RFC 2673 and 4291
//! (addresses), RFC 3986 and 3987 (URIs, IRIs), RFC 6570 (URI templates, with the apostrophe of erratum 6937 as a
//! literal), RFC 6901 (JSON pointers), RFC 9562 (UUIDs), RFC 4648 (base 64).
//! Differs: a leap second is the last of any day in UTC; a host name has no label with `--` as its third and fourth
//! characters, and so no internationalised one.

/// An enum that is packed into the state of an automaton as its number, with the way back.
macro_rules! numbered {
    ($(#[$doc:meta])* enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        enum $name { $($(#[$variant_doc])* $variant),* }
        impl $name {
            fn of_number(number: usize) -> Self {
                [$(Self::$variant),*][number]
            }
        }
    };
}

mod idn_email;
mod idna;
mod idna_table;
mod leap_seconds;
mod patterns;
mod properties;

use std::sync::OnceLock;

use larkspur_grammar::json::JsonDocument;
use larkspur_grammar::{DfaRef, Dialect, Limits, RegexId, RegexOptions, RegexSet, SourceId, TextMap, parse_regex};

/// What a format says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    /// Of texts: see [`regex`].
    Text(Format),
    /// Of numbers: integers between these bounds.
    Integers { low: &'static str, high: &'static str },
    /// Known to say nothing that could be wrong.
    Nothing,
    /// Not a name of any standard.
    Unknown,
}

/// The formats that are regular languages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Format {
    Date,
    Time,
    DateTime,
    Duration,
    Email,
    Hostname,
    Ipv4,
    Ipv6,
    Uuid,
    JsonPointer,
    RelativeJsonPointer,
    Uri,
    UriReference,
    Iri,
    IriReference,
    UriTemplate,
    Base64,
    Regex,
    IdnHostname,
    IdnEmail,
}

const FORMATS_LEN: usize = Format::IdnEmail as usize + 1;

/// A set of formats.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Formats(u32);

impl Formats {
    /// Those that a document names, wherever `format` stands in it. Cost: linear in the document.
    pub fn named_in(document: &JsonDocument) -> Self {
        let names = document.members().filter(|member| member.key == "format");
        let meanings = names.filter_map(|member| document.string(member.value)).map(meaning);
        let bits = meanings.map(|meaning| if let Meaning::Text(format) = meaning { 1 << format as u32 } else { 0 });
        Self(bits.fold(0, |all, bit| all | bit))
    }

    pub fn iter(self) -> impl Iterator<Item = Format> {
        let texts = NAMES.into_iter().map(meaning).filter_map(|meaning| match meaning {
            Meaning::Text(format) => Some(format),
            _ => None,
        });
        texts.filter(move |&format| self.0 >> format as u32 & 1 == 1)
    }
}

/// The names that [`meaning`] knows, for who has nearly written one.
pub(crate) const NAMES: [&str; 26] = [
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "byte",
    "int32",
    "int64",
    "float",
    "double",
    "binary",
    "password",
    "regex",
    "uri-template",
    "idn-hostname",
    "idn-email",
];

/// The meaning of a name.
pub(crate) fn meaning(name: &str) -> Meaning {
    use Meaning::{Integers, Nothing, Text};
    match name {
        "date" => Text(Format::Date),
        "time" => Text(Format::Time),
        "date-time" => Text(Format::DateTime),
        "duration" => Text(Format::Duration),
        "email" => Text(Format::Email),
        "hostname" => Text(Format::Hostname),
        "ipv4" => Text(Format::Ipv4),
        "ipv6" => Text(Format::Ipv6),
        "uuid" => Text(Format::Uuid),
        "json-pointer" => Text(Format::JsonPointer),
        "relative-json-pointer" => Text(Format::RelativeJsonPointer),
        "uri" => Text(Format::Uri),
        "uri-reference" => Text(Format::UriReference),
        "iri" => Text(Format::Iri),
        "iri-reference" => Text(Format::IriReference),
        "byte" => Text(Format::Base64),
        "int32" => Integers { low: "-2147483648", high: "2147483647" },
        "int64" => Integers { low: "-9223372036854775808", high: "9223372036854775807" },
        // `unknown` is llguidance's.
        "float" | "double" | "binary" | "password" | "unknown" => Nothing,
        "regex" => Text(Format::Regex),
        "uri-template" => Text(Format::UriTemplate),
        "idn-hostname" => Text(Format::IdnHostname),
        "idn-email" => Text(Format::IdnEmail),
        _ => Meaning::Unknown,
    }
}

const DATE: &str = "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)\
                    |02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])\
                    |(?:[02468][048]|[13579][26])00)-02-29)";
const TIME: &str = "(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])\
                    |23:59:60(?:\\.[0-9]+)?[zZ])";
const DURATION_TIME: &str = "T(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
const IPV4: &str =
    "(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\\.){3}(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const LABEL: &str = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const HEX: &str = "[0-9A-Fa-f]";

/// RFC 4291, the ABNF of RFC 3986.
fn ipv6() -> String {
    let h = format!("{HEX}{{1,4}}");
    let last = format!("(?:{h}:{h}|{IPV4})");
    let mut ways = vec![format!("(?:{h}:){{6}}{last}")];
    for before in 0..=5 {
        let left = if before == 0 { String::new() } else { format!("(?:(?:{h}:){{0,{}}}{h})?", before - 1) };
        let right = match 5 - before {
            0 => last.clone(),
            n => format!("(?:{h}:){{{n}}}{last}"),
        };
        ways.push(format!("{left}::{right}"));
    }
    ways.push(format!("(?:(?:{h}:){{0,5}}{h})?::{h}"));
    ways.push(format!("(?:(?:{h}:){{0,6}}{h})?::"));
    format!("(?:{})", ways.join("|"))
}

/// RFC 3986 with `unicode` added to the unreserved characters, and `private` to those of queries (RFC 3987).
fn uri(is_reference: bool, unicode: &str, private: &str) -> String {
    let percent = format!("%{HEX}{HEX}");
    let plain = format!("A-Za-z0-9._~!$&'()*+,;=\\-{unicode}");
    let pchar = format!("(?:[{plain}:@]|{percent})");
    let segment = format!("{pchar}*");
    let authority = format!(
        "(?:(?:[{plain}:]|{percent})*@)?(?:\\[(?:{}|[vV]{HEX}+\\.[A-Za-z0-9._~!$&'()*+,;=:\\-]+)\\]|(?:[{plain}]|{percent})*)(?::[0-9]*)?",
        ipv6()
    );
    let with_authority = format!("//{authority}(?:/{segment})*");
    let absolute = format!("/(?:{pchar}+(?:/{segment})*)?");
    let rootless = format!("{pchar}+(?:/{segment})*");
    let tail = format!("(?:\\?(?:[{plain}:@/?{private}]|{percent})*)?(?:#(?:[{plain}:@/?]|{percent})*)?");
    let full = format!("[A-Za-z][A-Za-z0-9+.\\-]*:(?:{with_authority}|{absolute}|{rootless})?{tail}");
    if !is_reference {
        return full;
    }
    let no_scheme = format!("(?:[{plain}@]|{percent})+(?:/{segment})*");
    format!("(?:{full}|(?:{with_authority}|{absolute}|{no_scheme})?{tail})")
}

const UNICODE: &str = "\\u{A0}-\\u{D7FF}\\u{F900}-\\u{FDCF}\\u{FDF0}-\\u{FFEF}\\u{10000}-\\u{1FFFD}\\u{20000}-\\u{2FFFD}\
    \\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}\\u{50000}-\\u{5FFFD}\\u{60000}-\\u{6FFFD}\\u{70000}-\\u{7FFFD}\
    \\u{80000}-\\u{8FFFD}\\u{90000}-\\u{9FFFD}\\u{A0000}-\\u{AFFFD}\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}\
    \\u{D0000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}";
const PRIVATE: &str = "\\u{E000}-\\u{F8FF}\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";

/// RFC 6570, section 2: literals, and expressions in braces.
fn uri_template() -> String {
    let percent = format!("%{HEX}{HEX}");
    let literal = format!("[!#$&'()*+,\\-./0-9:;=?@A-Z\\[\\]_a-z~{UNICODE}{PRIVATE}]");
    let letter = format!("(?:[A-Za-z0-9_]|{percent})");
    let name = format!("{letter}(?:\\.?{letter})*");
    let variable = format!("{name}(?::[1-9][0-9]{{0,3}}|\\*)?");
    format!("(?:{literal}|{percent}|\\{{[+#./;?&=,!@|]?{variable}(?:,{variable})*\\}})*")
}

/// RFC 5321, section 4.1.3, without tags of other protocols.
fn address_literal() -> String {
    format!("\\[(?:{IPV4}|[Ii][Pp][Vv]6:{})\\]", ipv6())
}

/// RFC 5321, sections 4.1.2 and 4.5.3.1. The bound of each side is within it, where it need not be counted far from its end.
fn email(set: &mut RegexSet, is_short: bool) -> RegexId {
    let atom = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~\\-]+";
    let quoted = "\"(?:[ !#-\\[\\]-~]|\\\\[ -~])*\"";
    let local = [format!("{atom}(?:\\.{atom})*|{quoted}"), "[ -~]{1,64}".to_owned()];
    let domain = [format!("{LABEL}(?:\\.{LABEL})*|{}", address_literal()), "[ -~]{1,253}".to_owned()];
    let domain = if is_short { &domain[..1] } else { &domain };
    let mut all = |texts: &[String]| {
        let parts: Vec<RegexId> = texts.iter().map(|text| parse(set, text)).collect();
        set.and(&parts)
    };
    let (local, domain) = (all(&local), all(domain));
    let at = set.literal(b"@");
    set.concat(&[local, at, domain])
}

/// The length from which on a format's own bound on its length is looser than a `maxLength` of that much or less.
pub(crate) fn short_length(format: Format) -> Option<u64> {
    match format {
        // One character, `@` and a domain of 253.
        Format::Email => Some(255),
        Format::Hostname => Some(253),
        _ => None,
    }
}

/// The regexes that a text must match; without the bound on its whole length if it is short anyhow.
fn source(format: Format, is_short: bool) -> Vec<String> {
    let pointer = "(?:/(?:[^~/]|~[01])*)*";
    match format {
        Format::Date => vec![DATE.to_owned()],
        Format::Time => vec![TIME.to_owned()],
        Format::DateTime => vec![format!("{DATE}[tT]")],
        Format::Duration => vec![format!(
            "P(?:[0-9]+W|{DURATION_TIME}|(?:[0-9]+D|[0-9]+M(?:[0-9]+D)?|[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?)(?:{DURATION_TIME})?)"
        )],
        Format::Hostname => {
            let (a, x) = ("[A-Za-z0-9]", "[A-Za-z0-9-]");
            let label = format!("{a}(?:{x}?{a}|{x}{x}{a}|{x}(?:{a}{x}|-{a}){x}{{0,58}}{a})?");
            let mut all = vec![format!("{label}(?:\\.{label})*")];
            if !is_short {
                all.push("[A-Za-z0-9.\\-]{1,253}".to_owned());
            }
            all
        }
        Format::Ipv4 => vec![IPV4.to_owned()],
        Format::Ipv6 => vec![ipv6()],
        Format::Uuid => vec![format!("{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}")],
        Format::JsonPointer => vec![pointer.to_owned()],
        Format::RelativeJsonPointer => vec![format!("(?:0|[1-9][0-9]*)(?:#|{pointer})")],
        Format::Uri => vec![uri(false, "", "")],
        Format::UriReference => vec![uri(true, "", "")],
        Format::Iri => vec![uri(false, UNICODE, PRIVATE)],
        Format::IriReference => vec![uri(true, UNICODE, PRIVATE)],
        Format::UriTemplate => vec![uri_template()],
        Format::Email | Format::Regex | Format::IdnHostname => Vec::new(),
        Format::IdnEmail => vec![address_literal()],
        Format::Base64 => vec!["(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?".to_owned()],
    }
}

fn parse(set: &mut RegexSet, text: &str) -> RegexId {
    let map = TextMap::verbatim(SourceId(0), 0);
    let options = RegexOptions::new(Dialect::Rust);
    // Our own limits: a user's may be too small for these, which is no mistake of the schema's.
    let limits = Limits { regex_nodes_max: set.len() + Limits::default().regex_nodes_max, ..Limits::default() };
    parse_regex(text, &map, &options, &limits, set, &mut Vec::new()).expect("regexes of formats are well-formed")
}

/// The texts of a format. `is_short`: they are bounded to [`short_length`] besides. Read once in a process, then copied.
pub(crate) fn regex(set: &mut RegexSet, format: Format, is_short: bool) -> RegexId {
    static MADE: [[OnceLock<(RegexSet, RegexId)>; 2]; FORMATS_LEN] =
        [const { [const { OnceLock::new() }; 2] }; FORMATS_LEN];
    let make = || {
        let mut set = RegexSet::new();
        let regex = made(&mut set, format, is_short);
        (set, regex)
    };
    let (made, regex) = MADE[format as usize][usize::from(is_short)].get_or_init(make);
    set.import(made, *regex)
}

/// The same, read anew.
fn made(set: &mut RegexSet, format: Format, is_short: bool) -> RegexId {
    match format {
        Format::Email => return email(set, is_short),
        Format::Regex => return patterns::regex(set),
        Format::IdnHostname => return idna::hostname(set, true),
        _ => {}
    }
    let parts: Vec<RegexId> = source(format, is_short).iter().map(|text| parse(set, text)).collect();
    let all = set.and(&parts);
    match format {
        Format::Time | Format::DateTime => {
            let date = if format == Format::Time { set.epsilon() } else { all };
            let time = parse(set, TIME);
            let leap_seconds = leap_seconds::regex(set);
            let time = set.or(&[time, leap_seconds]);
            set.concat(&[date, time])
        }
        Format::IdnEmail => {
            let (local, at, name) = (idn_email::local_part(set), set.literal(b"@"), idna::hostname(set, false));
            let domain = set.or(&[name, all]);
            set.concat(&[local, at, domain])
        }
        _ => all,
    }
}

/// The automaton of that name among those that formats are made of.
pub(crate) fn automaton(name: &str) -> Option<DfaRef> {
    Some(match name {
        idna::NAME => idna::automaton(true),
        idna::NAME_IN_ANY_FORM => idna::automaton(false),
        idn_email::NAME => idn_email::automaton(),
        leap_seconds::NAME => leap_seconds::automaton(),
        patterns::NAME => patterns::automaton(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use larkspur_test_support::Random;
    use rustc_hash::FxHashSet;

    use super::*;

    /// The shortest way to an accepting state, by what is left of it at least.
    fn shortest_rest(dfa: &DfaRef, state: u128) -> u32 {
        let mut agenda = BinaryHeap::from([(Reverse(dfa.letters_min(state)), 0, state)]);
        let mut seen = FxHashSet::from_iter([state]);
        while let Some((_, read, at)) = agenda.pop() {
            if dfa.is_accepting(at) {
                return read;
            }
            assert!(seen.len() < 200_000, "no end is found of a beginning of {}: {state:x}", dfa.name());
            for letter in 0..dfa.letters() {
                if let Some(next) = dfa.next(at, letter as u8).filter(|&next| seen.insert(next)) {
                    agenda.push((Reverse(read + 1 + dfa.letters_min(next)), read + 1, next));
                }
            }
        }
        panic!("a beginning of {} has no end: {state:x}", dfa.name())
    }

    #[test]
    fn every_beginning_of_a_word_is_soon_at_an_end() {
        let mut random = Random::new(1);
        for name in [idna::NAME, idna::NAME_IN_ANY_FORM, idn_email::NAME, leap_seconds::NAME, patterns::NAME] {
            let dfa = automaton(name).expect("is one");
            let most = dfa.shortest_rest_max().expect("is said");
            let mut longest = 0;
            for _ in 0..2_000 {
                let mut state = dfa.start();
                for _ in 0..80 {
                    let (rest, least) = (shortest_rest(&dfa, state), dfa.letters_min(state));
                    assert!(least <= rest && rest <= most, "{name}: {least} <= {rest} <= {most}, {state:x}");
                    assert!(dfa.shortest_rest(state).is_none_or(|said| said == rest), "{name}: {rest}, {state:x}");
                    longest = longest.max(rest);
                    let live: Vec<u8> = dfa.live_letters(state).iter().collect();
                    let Some(&letter) = live.get(random.below(live.len().max(1))) else { break };
                    state = dfa.next(state, letter).expect("is live");
                }
            }
            assert!(longest > 1, "{name}: {longest}");
        }
    }

    #[test]
    fn every_format_has_a_regex() {
        let without = ["int32", "int64", "float", "double", "binary", "password"];
        for name in NAMES.into_iter().filter(|name| !without.contains(name)) {
            let Meaning::Text(format) = meaning(name) else { panic!("{name}") };
            let mut set = RegexSet::new();
            regex(&mut set, format, false);
            regex(&mut set, format, true);
        }
    }
}
