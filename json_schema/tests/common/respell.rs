//! The same value in other words: random white space, escapes, and ways to write numbers.

use serde_json::Value;

/// Numbers that look random and are the same every time.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % sides
    }
    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.roll(from.len())]
    }
}

/// A text of the value, its members in order.
pub fn value(value: &Value, dice: &mut Dice) -> String {
    let space = |dice: &mut Dice| "".to_owned() + dice.pick(&["", "", "", " ", "\n\t", "\r\n   \n\n\n"]);
    let mut out = space(dice);
    match value {
        Value::Number(text) => out += &number(&text.to_string(), dice),
        Value::String(text) => out += &string(text, dice),
        Value::Array(elements) => {
            let parts: Vec<String> = elements.iter().map(|element| self::value(element, dice)).collect();
            out += &format!("[{}]", if parts.is_empty() { space(dice) } else { parts.join(",") });
        }
        Value::Object(members) => {
            let mut parts = Vec::new();
            for (name, member) in members {
                let (before, name, after) = (space(dice), string(name, dice), space(dice));
                parts.push(format!("{before}{name}{after}:{}", self::value(member, dice)));
            }
            out += &format!("{{{}}}", if parts.is_empty() { space(dice) } else { parts.join(",") });
        }
        scalar => out += &scalar.to_string(),
    }
    out + &space(dice)
}

/// A text of the string, quotes included.
pub fn string(text: &str, dice: &mut Dice) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '/' => "\\/",
            '\u{8}' => "\\b",
            '\u{C}' => "\\f",
            '\n' => "\\n",
            '\r' => "\\r",
            '\t' => "\\t",
            _ => "",
        };
        match dice.roll(5) {
            0 => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let digits = if dice.roll(2) == 0 { format!("{unit:04x}") } else { format!("{unit:04X}") };
                    out += &format!("\\u{digits}");
                }
            }
            1 if !short.is_empty() => out += short,
            _ if c < ' ' || c == '"' || c == '\\' => {
                out += &if short.is_empty() { format!("\\u{:04x}", c as u32) } else { short.to_owned() };
            }
            _ => out.push(c),
        }
    }
    out + "\""
}

/// A text of a number: with the point moved, zeros added, and an exponent within 20, where there are not too many
/// digits for that.
pub fn number(text: &str, dice: &mut Dice) -> String {
    let (sign, magnitude) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (mantissa, exponent) = magnitude.split_once(['e', 'E']).unwrap_or((magnitude, "0"));
    let exponent: i64 = exponent.trim_start_matches('+').parse().expect("an exponent");
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let point = whole.len() as i64 + exponent;
    let digits = format!("{whole}{fraction}");
    let first = digits.find(|c| c != '0');
    let Some(first) = first else {
        let sign = dice.pick(&["", "-"]);
        return format!("{sign}{}{}", dice.pick(&["0", "0.0", "0.000"]), dice.pick(&["", "e0", "E+5", "e-0123"]));
    };
    let (digits, point) = (digits[first..].trim_end_matches('0'), point - first as i64);
    if point.abs() > 15 {
        // Scientific notation is good for every exponent.
        let (head, tail) = digits.split_at(1);
        let tail = if tail.is_empty() { dice.pick(&["", ".0"]).to_owned() } else { format!(".{tail}") };
        return format!("{sign}{head}{tail}{}{}", dice.pick(&["e", "E"]), point - 1);
    }
    // The value is `0.digits * 10^point`; the point is put `by` places further left.
    let by = if dice.roll(2) == 0 { 0 } else { dice.roll(9) as i64 - 4 };
    let at = point - by;
    let zeros = dice.pick(&["", "", "0", "000"]);
    let mantissa = if at <= 0 {
        format!("0.{}{digits}{zeros}", "0".repeat(-at as usize))
    } else if at as usize >= digits.len() {
        let whole = format!("{digits}{}", "0".repeat(at as usize - digits.len()));
        if zeros.is_empty() { whole } else { format!("{whole}.{zeros}") }
    } else {
        format!("{}.{}{zeros}", &digits[..at as usize], &digits[at as usize..])
    };
    let exponent = match by {
        0 => dice.pick(&["", "", "e0", "E-00"]).to_owned(),
        1.. => format!("{}{}{by}", dice.pick(&["e", "E"]), dice.pick(&["", "+", "0", "+00"])),
        _ => format!("{}-{}{}", dice.pick(&["e", "E"]), dice.pick(&["", "0"]), -by),
    };
    format!("{sign}{mantissa}{exponent}")
}
