//! Deterministic texts of any length, one function a grammar.

use std::fmt::Write;

use crate::random::Random;

const WORDS: &[&str] = &[
    "the",
    "model",
    "answers",
    "with",
    "a",
    "table",
    "of",
    "values",
    "and",
    "then",
    "explains",
    "each",
    "row",
    "in",
    "plain",
    "language",
    "before",
    "calling",
    "another",
    "function",
    "because",
    "users",
    "often",
    "need",
    "numbers",
    "that",
    "can",
    "be",
    "checked",
    "again",
    "later",
    "temperature",
    "window",
    "garden",
    "distance",
    "invoice",
    "customer",
    "station",
    "winter",
    "report",
    "signal",
    "coffee",
    "harbour",
    "ticket",
    "morning",
    "pressure",
];

const FOREIGN: &[&str] =
    &["café", "naïve", "Zürich", "смысл", "данные", "東京", "数据", "한국어", "🙂", "élève", "ñandú", "→"];

const NAMES: &[&str] = &[
    "id",
    "name",
    "price",
    "total",
    "created_at",
    "user_id",
    "status",
    "count",
    "index",
    "buffer",
    "length",
    "result",
    "offset",
    "node",
    "parent",
    "weight",
    "value",
    "key",
    "row_number",
    "maxDepth",
    "errorCode",
    "is_open",
];

/// JSON as a service would send it: an array of records, in part pretty-printed.
pub fn json(len: usize) -> String {
    let mut random = Random::new(1);
    let mut text = String::from("[");
    loop {
        let indent = random.chance(50).then_some(1);
        json_value(&mut random, &mut text, 0, indent, true);
        if text.len() >= len {
            break;
        }
        text.push_str(if indent.is_some() { ",\n" } else { ", " });
    }
    text.push(']');
    text
}

fn json_value(random: &mut Random, text: &mut String, depth: usize, indent: Option<usize>, record: bool) {
    let kind = if record { 0 } else { random.below(if depth < 4 { 10 } else { 8 }) };
    match kind {
        0 | 9 => json_list(random, text, depth, indent, ['{', '}']),
        8 => json_list(random, text, depth, indent, ['[', ']']),
        1..=3 => json_string(random, text),
        4 | 5 => number(random, text),
        6 => text.push_str(random.pick(&["true", "false", "null"])),
        _ => write!(text, "\"{}\"", random.pick(NAMES)).unwrap(),
    }
}

fn json_list(random: &mut Random, text: &mut String, depth: usize, indent: Option<usize>, [open, close]: [char; 2]) {
    text.push(open);
    let count = random.below(5) + u64::from(depth == 0);
    for index in 0..count {
        if index > 0 {
            text.push(',');
        }
        match indent {
            Some(width) => write!(text, "\n{:1$}", "", 2 * width * (depth + 1)).unwrap(),
            None if index > 0 => text.push(' '),
            None => {}
        }
        if open == '{' {
            write!(text, "\"{}\": ", random.pick(NAMES)).unwrap();
        }
        json_value(random, text, depth + 1, indent, false);
    }
    if let Some(width) = indent.filter(|_| count > 0) {
        write!(text, "\n{:1$}", "", 2 * width * depth).unwrap();
    }
    text.push(close);
}

fn json_string(random: &mut Random, text: &mut String) {
    text.push('"');
    for index in 0..1 + random.below(8) {
        if index > 0 {
            text.push(' ');
        }
        match random.below(20) {
            0 => text.push_str(random.pick(FOREIGN)),
            1 => text.push_str(random.pick(&["\\n", "\\\"", "\\u00e9", "\\\\", "\\t"])),
            2 => number(random, text),
            _ => text.push_str(random.pick(WORDS)),
        }
    }
    text.push('"');
}

fn number(random: &mut Random, text: &mut String) {
    match random.below(4) {
        0 => write!(text, "{}", random.below(10)),
        1 => write!(text, "{}", random.below(100_000)),
        2 => write!(text, "{}.{:02}", random.below(1000), random.below(100)),
        _ => write!(text, "{}", random.below(1 << 40)),
    }
    .unwrap();
}

/// A sum of products with parentheses and calls.
pub fn arithmetic(len: usize) -> String {
    let mut random = Random::new(2);
    let mut text = String::new();
    loop {
        arithmetic_product(&mut random, &mut text, 0);
        if text.len() >= len {
            return text;
        }
        text.push_str(random.pick(&[" + ", " - ", "+", "-"]));
    }
}

fn arithmetic_product(random: &mut Random, text: &mut String, depth: usize) {
    for index in 0..1 + random.below(3) {
        if index > 0 {
            text.push_str(random.pick(&[" * ", "*", " / ", "^"]));
        }
        match random.below(10) {
            0 | 1 if depth < 5 => {
                text.push('(');
                arithmetic_product(random, text, depth + 1);
                text.push_str(random.pick(&[" + ", "-"]));
                arithmetic_product(random, text, depth + 1);
                text.push(')');
            }
            2 if depth < 5 => {
                text.push_str(random.pick(&["sqrt(", "max(", "f("]));
                arithmetic_product(random, text, depth + 1);
                text.push_str(random.pick(&[")", ", 2)"]));
            }
            3..=6 => text.push_str(random.pick(NAMES)),
            7 => write!(text, "{}.{}", random.below(100), random.below(1000)).unwrap(),
            _ => write!(text, "{}", random.below(10_000)).unwrap(),
        }
    }
}

/// Statements of SQL.
pub fn sql(len: usize) -> String {
    let mut random = Random::new(3);
    let mut text = String::new();
    loop {
        let random = &mut random;
        match random.below(6) {
            0 => {
                let (a, b) = (random.pick(NAMES), random.pick(NAMES));
                write!(text, "INSERT INTO {} ({a}, {b}) VALUES (", random.pick(WORDS_SQL)).unwrap();
                sql_expression(random, &mut text, 1);
                text.push_str(", ");
                sql_expression(random, &mut text, 1);
                text.push(')');
            }
            1 => {
                write!(text, "UPDATE {} SET {} = ", random.pick(WORDS_SQL), random.pick(NAMES)).unwrap();
                sql_expression(random, &mut text, 0);
                sql_where(random, &mut text);
            }
            2 => {
                write!(text, "delete from {}", random.pick(WORDS_SQL)).unwrap();
                sql_where(random, &mut text);
            }
            _ => sql_select(random, &mut text),
        }
        if text.len() >= len {
            return text;
        }
        text.push_str(random.pick(&[";\n", ";\n\n", "; -- next\n"]));
    }
}

const WORDS_SQL: &[&str] = &["users", "orders", "invoice_items", "products", "stations", "log_2024"];

fn sql_select(random: &mut Random, text: &mut String) {
    text.push_str(random.pick(&["SELECT ", "select ", "SELECT DISTINCT "]));
    sql_expression(random, text, 0);
    for _ in 0..random.below(4) {
        text.push_str(", ");
        sql_expression(random, text, 1);
        if random.chance(40) {
            write!(text, " AS {}", random.pick(NAMES)).unwrap();
        }
    }
    write!(text, "\nFROM {}", random.pick(WORDS_SQL)).unwrap();
    if random.chance(50) {
        text.push_str(random.pick(&["\nJOIN ", "\n  LEFT JOIN ", "\ninner join "]));
        write!(text, "{} ON {}.id = ", random.pick(WORDS_SQL), random.pick(WORDS_SQL)).unwrap();
        sql_expression(random, text, 2);
    }
    sql_where(random, text);
    if random.chance(30) {
        write!(text, "\nGROUP BY {}", random.pick(NAMES)).unwrap();
    }
    if random.chance(40) {
        write!(text, "\nORDER BY {} DESC", random.pick(NAMES)).unwrap();
    }
    if random.chance(40) {
        write!(text, "\nLIMIT {}", random.below(1000)).unwrap();
    }
}

fn sql_where(random: &mut Random, text: &mut String) {
    text.push_str("\nWHERE ");
    for index in 0..1 + random.below(3) {
        if index > 0 {
            text.push_str(random.pick(&[" AND ", "\n  OR ", " and "]));
        }
        sql_expression(random, text, 1);
        match random.below(5) {
            0 => text.push_str(" IS NOT NULL"),
            1 => write!(text, " LIKE '%{}%'", random.pick(WORDS)).unwrap(),
            2 => write!(text, " IN ({}, {})", random.below(100), random.below(100)).unwrap(),
            _ => {
                text.push_str(random.pick(&[" = ", " < ", " >= ", " <> "]));
                sql_expression(random, text, 2);
            }
        }
    }
}

fn sql_expression(random: &mut Random, text: &mut String, depth: usize) {
    match random.below(if depth < 3 { 10 } else { 7 }) {
        0 | 1 => write!(text, "{}.{}", random.pick(WORDS_SQL), random.pick(NAMES)).unwrap(),
        2 | 3 => text.push_str(random.pick(NAMES)),
        4 => write!(text, "{}", random.below(100_000)).unwrap(),
        5 => write!(text, "{}.{:02}", random.below(1000), random.below(100)).unwrap(),
        6 => write!(text, "'{} {}''s {}'", random.pick(WORDS), random.pick(FOREIGN), random.pick(WORDS)).unwrap(),
        7 => {
            text.push_str(random.pick(&["count(", "coalesce(", "max("]));
            sql_expression(random, text, depth + 1);
            text.push(')');
        }
        8 => {
            text.push('(');
            sql_expression(random, text, depth + 1);
            text.push_str(random.pick(&[" + ", " * ", " || "]));
            sql_expression(random, text, depth + 1);
            text.push(')');
        }
        _ => {
            sql_expression(random, text, depth + 1);
            text.push_str(random.pick(&[" + ", " - ", " / "]));
            sql_expression(random, text, depth + 1);
        }
    }
}

/// Functions of C.
pub fn c(len: usize) -> String {
    let mut random = Random::new(4);
    let mut text = String::new();
    for index in 0.. {
        let random = &mut random;
        if random.chance(30) {
            writeln!(text, "/* {} {} */", random.pick(WORDS), random.pick(WORDS)).unwrap();
        }
        write!(text, "{} {}_{index}(", random.pick(C_TYPES), random.pick(WORDS)).unwrap();
        write!(text, "{} {}, char *{})\n{{\n", random.pick(C_TYPES), random.pick(NAMES), random.pick(NAMES)).unwrap();
        for _ in 0..2 + random.below(5) {
            c_statement(random, &mut text, 1);
        }
        text.push_str("}\n\n");
        if text.len() >= len {
            break;
        }
    }
    text.truncate(text.trim_end().len());
    text
}

const C_TYPES: &[&str] = &["int", "double", "unsigned long", "struct node *", "size_t", "const char *"];

fn c_statement(random: &mut Random, text: &mut String, depth: usize) {
    write!(text, "{:1$}", "", 4 * depth).unwrap();
    match random.below(if depth < 4 { 10 } else { 6 }) {
        0 | 1 => {
            write!(text, "{} {} = ", random.pick(C_TYPES), random.pick(NAMES)).unwrap();
            c_expression(random, text, 0);
            text.push_str(";\n");
        }
        2 | 3 => {
            c_place(random, text);
            text.push_str(random.pick(&[" = ", " += ", " <<= "]));
            c_expression(random, text, 0);
            text.push_str(";\n");
        }
        4 => {
            write!(text, "printf(\"%d {}\\n\", ", random.pick(WORDS)).unwrap();
            c_expression(random, text, 1);
            text.push_str("); // trace\n");
        }
        5 => {
            text.push_str("return ");
            c_expression(random, text, 1);
            text.push_str(";\n");
        }
        kind => {
            match kind {
                6 => writeln!(text, "for (int i = 0; i < {}; i++) {{", random.below(1000)).unwrap(),
                7 => {
                    text.push_str("while (");
                    c_expression(random, text, 1);
                    text.push_str(") {\n");
                }
                _ => {
                    text.push_str("if (");
                    c_expression(random, text, 1);
                    text.push_str(") {\n");
                }
            }
            for _ in 0..1 + random.below(3) {
                c_statement(random, text, depth + 1);
            }
            writeln!(text, "{:1$}}}", "", 4 * depth).unwrap();
        }
    }
}

fn c_place(random: &mut Random, text: &mut String) {
    text.push_str(random.pick(NAMES));
    match random.below(5) {
        0 => write!(text, "->{}", random.pick(NAMES)).unwrap(),
        1 => write!(text, "[{}]", random.pick(NAMES)).unwrap(),
        2 => write!(text, ".{}[{}]", random.pick(NAMES), random.below(16)).unwrap(),
        _ => {}
    }
}

fn c_expression(random: &mut Random, text: &mut String, depth: usize) {
    match random.below(if depth < 4 { 12 } else { 7 }) {
        0..=2 => c_place(random, text),
        3 | 4 => write!(text, "{}", random.below(10_000)).unwrap(),
        5 => write!(text, "0x{:X}", random.below(1 << 16)).unwrap(),
        6 => write!(text, "{}.{}f", random.below(10), random.below(100)).unwrap(),
        7 => {
            text.push('(');
            c_expression(random, text, depth + 1);
            text.push_str(random.pick(&[" & ", " | ", " >> "]));
            c_expression(random, text, depth + 1);
            text.push(')');
        }
        8 => {
            write!(text, "{}(", random.pick(WORDS_C)).unwrap();
            c_expression(random, text, depth + 1);
            text.push_str(", ");
            c_expression(random, text, depth + 1);
            text.push(')');
        }
        _ => {
            c_expression(random, text, depth + 1);
            text.push_str(random.pick(&[" + ", " * ", " - ", " == ", " && ", " < "]));
            c_expression(random, text, depth + 1);
        }
    }
}

const WORDS_C: &[&str] = &["compute", "lookup", "node_insert", "hash32", "memcmp", "clamp"];

/// A list of numbers, some of them in lists.
pub fn list(len: usize) -> String {
    let mut random = Random::new(5);
    let mut text = String::from("[");
    loop {
        if random.chance(10) {
            write!(text, "[{}, -{}]", random.below(100), random.below(1000) + 1).unwrap();
        } else {
            write!(text, "{}", random.below(100_000)).unwrap();
        }
        if text.len() >= len {
            break;
        }
        text.push_str(random.pick(&[", ", ","]));
    }
    text.push(']');
    text
}

/// A sum of numbers.
pub fn sum(len: usize) -> String {
    let mut random = Random::new(6);
    let mut text = String::new();
    loop {
        write!(text, "{}", random.below(1000)).unwrap();
        if text.len() >= len {
            return text;
        }
        text.push('+');
    }
}

fn prose(random: &mut Random, text: &mut String, len: usize) {
    let end = text.len() + len;
    while text.len() < end {
        for index in 0..4 + random.below(10) {
            if index > 0 {
                text.push(' ');
            }
            match random.below(25) {
                0 => text.push_str(random.pick(FOREIGN)),
                1 => write!(text, "{}", random.below(10_000)).unwrap(),
                2 => write!(text, "`{}`", random.pick(NAMES)).unwrap(),
                3 => text.push_str("a < b"),
                _ => text.push_str(random.pick(WORDS)),
            }
        }
        text.push_str(random.pick(&[". ", ", ", ".\n", ": ", "? "]));
    }
}

/// Paragraphs, each with a call after it.
pub fn tool_call(len: usize) -> String {
    let mut random = Random::new(7);
    let mut text = String::new();
    while text.len() < len {
        let words = 150 + random.below(500) as usize;
        prose(&mut random, &mut text, words);
        write!(text, "<tool>{{\"name\": \"{}\", \"arguments\": ", random.pick(WORDS_C)).unwrap();
        json_value(&mut random, &mut text, 1, None, true);
        text.push_str("}</tool>");
    }
    text
}

/// Thoughts, then an answer in JSON, about as long.
pub fn think_json(len: usize) -> String {
    let mut random = Random::new(8);
    let mut text = String::from("<think>");
    prose(&mut random, &mut text, len / 2);
    text.push_str("</think>");
    text.push_str(&json(len / 2));
    text
}

/// Prose.
pub fn free_text(len: usize) -> String {
    let mut random = Random::new(9);
    let mut text = String::new();
    prose(&mut random, &mut text, len);
    text
}
