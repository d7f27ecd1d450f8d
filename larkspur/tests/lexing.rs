//! The table of probes in `docs/lexing.md`: each mode gives the verdict that stands there.

use std::sync::Arc;

use larkspur::{CompileOptions, Engine, LexerMode, Source, Vocabulary};

/// The code spans of a table's cell, as they are meant.
fn spans(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(|span| span.replace("\\|", "|")).collect()
}

/// A row's cells; `\|` is text.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.replace("\\|", "\u{0}").split('|').map(|cell| cell.replace('\u{0}', "\\|")).collect()
}

fn is_accepted(lines: &[String], text: &str, mode: LexerMode, keywords: bool) -> bool {
    let option = if keywords { "%larkspur { \"keywords\": true }\n" } else { "" };
    let grammar = format!("{option}{}\n", lines.join("\n"));
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let options = CompileOptions { lexer: Some(mode), ..CompileOptions::default() };
    let compiled = match engine.compile_with(&Source::lark(&grammar), &options) {
        Ok(compiled) => compiled,
        // A grammar of which no text can be finished accepts none.
        Err(error) => {
            assert!(error.diagnostics.iter().any(|diagnostic| diagnostic.code == "P004"), "{grammar}\n{error}");
            return false;
        }
    };
    let mut matcher = compiled.matcher().unwrap();
    matcher.consume_bytes(text.as_bytes()).is_ok() && matcher.is_accepting().unwrap()
}

#[test]
fn probes() {
    let page = include_str!("../../docs/lexing.md");
    let rows = page.lines().skip_while(|line| !line.starts_with("| grammar")).skip(2);
    let mut count = 0;
    for row in rows.take_while(|line| line.starts_with('|')) {
        let cells = cells(row);
        let (lines, text) = (spans(&cells[0]), spans(&cells[1])[0].replace("\\n", "\n"));
        let modes = [(LexerMode::Longest, false), (LexerMode::Longest, true), (LexerMode::Exact, false)];
        for ((mode, keywords), expected) in modes.into_iter().zip(&cells[2..]) {
            let found = if is_accepted(&lines, &text, mode, keywords) { "yes" } else { "no" };
            assert_eq!(found, expected.trim(), "{mode:?}, keywords {keywords}: {row}");
        }
        count += 1;
    }
    assert!(count >= 12, "{count} rows");
}

/// What may follow at the start, by grammar, in `exact` mode.
#[test]
fn look_around_makes_no_traps_in_exact_mode() {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let options = CompileOptions { lexer: Some(LexerMode::Exact), ..CompileOptions::default() };
    let first = |text: &str| match engine.compile_with(&Source::lark(text), &options) {
        Ok(grammar) => {
            let matcher = grammar.matcher().expect("it starts");
            let bytes = matcher.allowed_bytes().expect("within limits");
            Ok(bytes.iter().map(char::from).collect::<String>())
        }
        Err(error) => Err(error.diagnostics[0].code),
    };
    let a = "A: /a(?!c)/\n";
    assert_eq!(first(&format!("start: \"x\" A \"c\" | \"y\"\n{a}")).as_deref(), Ok("y"));
    assert_eq!(first(&format!("start: \"x\" A \"c\" | \"y\"\n{a}%ignore \" \"\n")).as_deref(), Ok(" xy"));
    assert_eq!(first(&format!("start: \"x\" A \"c\"\n{a}")), Err("P004"));
    assert_eq!(first("start: A start | \"b\"\nA: /a(?=a)/\n").as_deref(), Ok("b"));
    assert_eq!(first("start: \"(\" start \")\" | \"b\" B\nB: /(?<!b)a/\n"), Err("P004"));
    let parameters = "start: n::0\nn::_: \"x\" A \"c\" | \"(\" n::incr(_) \")\" %if lt(_, 3) | \"y\"\n";
    assert_eq!(first(&format!("{parameters}{a}")).as_deref(), Ok("(y"));
}

/// What stands in the lines of blocks may be in another mode, or have parameters of its own.
#[test]
fn lines_of_blocks_are_grammars_of_their_own() {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let judge = |line: &str, text: &str| {
        let grammar = format!(
            "start: statement+\nstatement: \"if\" line \":\" _NEWLINE _INDENT statement+ _DEDENT | line _NEWLINE\n\
             line: {line}\n_NEWLINE: /(\\n *)+/\n%declare _INDENT _DEDENT\n%ignore \" \"\n"
        );
        let grammar = engine.compile(&Source::lark(grammar)).expect("it compiles");
        let mut matcher = grammar.matcher().expect("it starts");
        matcher.consume_bytes(text.as_bytes()).is_ok() && matcher.is_accepting().expect("within limits")
    };
    let exact = "%gbnf { root ::= (\"list\" | \"listen\") \"ed\"? }";
    assert!(judge(exact, "if list:\n  listed\n  if listen:\n   listed\n\nlist\n"));
    assert!(!judge(exact, "if list:\n  list\n   list\n") && !judge(exact, "if list:\nlist\n"));
    let members =
        "member::_: \"a\" member::set_bit(0) %if bit_clear(0) | \"b\" member::set_bit(1) %if bit_clear(1) | \"\"";
    let members = format!("%lark {{\nstart: member::0\n{members}\n}}");
    assert!(judge(&members, "if ba:\n b\n if a:\n  a\nab\n"));
    assert!(!judge(&members, "aa\n") && !judge(&members, "if a:\na\n"));
}

/// What follows a lexeme decides whether it may end where it goes on, and `dump` says so.
#[test]
fn forks_are_found() {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let forks = |lark: &str| {
        let source = Source::lark(format!("%larkspur {{ \"lexer\": \"exact\" }}\n{lark}"));
        let dump = engine.compile(&source).expect("it compiles").dump_lexer();
        let line = dump.lines().find_map(|line| line.strip_prefix("forks")).expect("it is said").trim().to_string();
        (line, dump)
    };
    let names = |lark: &str| -> Vec<String> {
        let (forks, dump) = forks(lark);
        let name = |id: &str| {
            let line = dump.lines().find(|line| line.split(' ').next() == Some(id)).expect("it is listed");
            line.split(' ').nth(1).expect("it has a name").to_string()
        };
        forks.split(' ').filter(|word| *word != "nowhere").map(name).collect()
    };
    assert_eq!(names("start: N (\",\" N)* \";\"\nN: /[0-9]+(\\.[0-9]+)?/\n%ignore \" \""), [""; 0]);
    assert_eq!(names("start: N \"..\" N\nN: /[0-9]+(\\.[0-9]*)?/"), ["N"]);
    assert_eq!(names("start: A B\nA: /a+/\nB: /a|b/"), ["A"]);
    assert_eq!(names("start: a B?\na: A | \"(\" a \")\"\nA: /[a-c]+/\nB: /[d-f]+/\n%ignore /b-/"), ["A"]);
    assert_eq!(names("start: W*\nW: /é[é-ü]*/"), ["W"]);
    assert_eq!(names("start: W*\nW: /[a-z]+ /"), [""; 0]);
}

/// An object's names in the middle of a Lark text.
#[test]
fn names_of_objects_swallow_nothing() {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let schema = "{\"properties\": {\"name\": {\"const\": \"get\"}, \"args\": {\"type\": \"object\"}}, \"type\": \"object\", \
                  \"required\": [\"name\", \"args\"], \"additionalProperties\": false}";
    let grammar = engine.compile(&Source::lark(format!("start: \"<call>\" %json {schema} \"</call>\"\n")));
    assert_eq!(grammar.expect("it compiles").warnings(), []);
}

/// What follows a value is looked at still, also where the value could go on with it.
#[test]
fn what_follows_a_value_may_be_swallowed() {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let codes = |grammar: &str| match engine.compile(&Source::lark(grammar)) {
        Ok(grammar) => grammar.warnings().iter().map(|warning| warning.code).collect::<Vec<_>>(),
        Err(error) => error.diagnostics.iter().filter(|one| one.is_error()).map(|one| one.code).collect(),
    };
    let object = "{\"type\": \"object\"}";
    // Behind a zero no digit goes on.
    assert_eq!(codes("start: %json {\"type\": \"integer\"} \"5\"\n"), ["P003"]);
    assert_eq!(codes("start: %json {\"type\": \"integer\"} \";5\"\n"), [""; 0]);
    assert_eq!(codes(&format!("start: %json {object} A \"a\"\nA: /a+/\n")), ["P004"]);
    assert_eq!(codes(&format!("start: %json {object} A \"b\"\nA: /a+/\n%ignore \" \"\n")), [""; 0]);
}

/// A character that begins with the bytes of a blank is none, and one slash is no comment.
#[test]
fn ignored_runs_end_before_what_only_begins_like_them() {
    let accepted = |grammar: &str, text: &str, mode: LexerMode| is_accepted(&[grammar.to_owned()], text, mode, false);
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        for ignored in [r"/\s+/", r"/[ \t\u3000]+/", r"(/\s/ | /#.*/)+", r"/(\s|\u00a0 )+/"] {
            let grammar = format!("start: W+\nW: /[^\\s#]+/\n%ignore {ignored}");
            for text in ["a あ", "a → b", "a “q”", "a £ b", "a  \u{3000} ế", "a\tア"] {
                assert!(accepted(&grammar, text, mode), "{text:?} {grammar} {mode:?}");
            }
        }
        let grammar = "start: W \"£\" W\nW: \"a\" | \"b\"\n%ignore /\\s+/";
        for text in ["a£b", "a £ b", "a\u{a0}£\u{3000} b"] {
            assert!(accepted(grammar, text, mode), "{text:?} {mode:?}");
        }
        let grammar = "start: e\ne: W | e \"/\" W\nW: /[a-z]+/\n%ignore /(\\s|\\/\\/[^\\n]*)+/";
        for (text, expected) in
            [("a / b", true), ("a // / b\n /b // c", true), ("a / / b", false), ("a // b / c", true)]
        {
            assert_eq!(accepted(grammar, text, mode), expected, "{text:?} {mode:?}");
        }
    }
    // One match only is the whole one.
    let once = "%larkspur { \"ignore_once\": true }\nstart: \"a\" \"b\"\n%ignore /\\s+/";
    assert!(accepted(once, "a \u{3000} b", LexerMode::Exact) && !accepted(once, "a£b", LexerMode::Exact));
}

/// The regex of names that are no keywords, as it is often written.
#[test]
fn names_are_no_keywords() {
    let words = "False None True and as assert async await break class continue def del elif else except finally for from \
                 global if import in is lambda nonlocal not or pass raise return try while with yield";
    let grammar = format!(
        "start: (NAME | \"if\" NAME \":\" | OP)+\nNAME: /(?!(?:{})\\b)[A-Za-z_]\\w*/\nOP: /[=+*-]/\n%ignore / +/\n",
        words.split_whitespace().collect::<Vec<_>>().join("|")
    );
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let compiled = engine.compile(&Source::lark(&grammar)).unwrap();
    assert!(compiled.warnings().is_empty(), "{:?}", compiled.warnings());
    let ends = |text: &str| {
        let mut matcher = compiled.matcher().unwrap();
        matcher.consume_bytes(text.as_bytes()).is_ok().then(|| matcher.is_accepting().unwrap())
    };
    for text in ["x", "iff", "x = i", "if iffy : asx", "nonloca", "lambdas", "ifé"] {
        assert_eq!(ends(text), Some(true), "{text}");
    }
    for word in words.split_whitespace() {
        assert_eq!(ends(word), Some(false), "{word}");
        assert_eq!(ends(&format!("{word}s")), Some(true), "{word}s");
        assert!(word == "if" || ends(&format!("{word} =")).is_none(), "{word} =");
    }
}

/// What is swallowed in the middle of a lexeme is not lost where a longer match leaves it.
#[test]
fn only_what_is_lost_is_warned_of() {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let warned = |grammar: &str| {
        let grammar = engine.compile(&Source::lark(grammar)).expect("it compiles");
        grammar.warnings().iter().any(|warning| warning.code == "P003")
    };
    // A comment that a line break ends, a blank that is a part of what may follow it, as is what is indented.
    assert!(!warned("start: (NAME NL)+\nNAME: /[a-z]+/\nNL: (/\\n/ | /#[^\\n]*/)+"));
    assert!(!warned("start: (\"H:\" \" \"? VALUE \"\\n\")+\nVALUE: /[^\\n]*/"));
    let body = "start: (NAME _NEWLINE | \"if\" _NEWLINE _INDENT (NAME _NEWLINE)+ _DEDENT)*\nNAME: /[a-z]+/\n";
    assert!(!warned(&format!("{body}_NEWLINE: (/\\n */ | /#[^\\n]*/)+\n%declare _INDENT _DEDENT\n%ignore / /")));
    let python =
        "start: file_input\n%import python (file_input)\n%ignore /[\\t \\f]+/\n%ignore /\\\\[\\t \\f]*\\r?\\n/";
    assert!(!warned(python));
    // No longer name leaves an `x`, and no comment is followed by anything but a comment.
    assert!(warned("start: NAME \"x\"? \";\"\nNAME: /[a-z]+/"));
    assert!(warned("start: \"[\" /[0-9]+/ \"]\"\n%ignore /#[^\\n]*/"));
}

/// A token of several bytes leads where its bytes do, also past ends of lexemes that nothing may stand behind.
#[test]
fn a_token_goes_where_its_bytes_go_past_ends_of_lexemes() {
    const LETTERS: [u8; 4] = *b"abc ";
    let mut texts: Vec<Vec<u8>> = vec![Vec::new()];
    for len in 1..=3 {
        let longer = |text: &Vec<u8>| LETTERS.map(|letter| [&text[..], &[letter]].concat());
        let last: Vec<Vec<u8>> = texts.iter().filter(|text| text.len() == len - 1).flat_map(longer).collect();
        texts.extend(last);
    }
    let mut vocabulary = Vocabulary::builder();
    texts.iter().skip(1).zip(0..).for_each(|(text, id)| _ = vocabulary.token(id, text));
    let vocabulary = Arc::new(vocabulary.build().expect("its tokens differ"));
    let grammars = [
        "start: W\nW: /([^ ]+ +){0,3}[^ ]+/\n",
        "start: W\nW: /([abc] ?){1,5}/\n",
        "start: \"a\" W\nW: /(ab?)+c*/\n",
        "start: A | B\nA: /ab*/\nB: /a[bc]*/\n",
        "start: A B?\nA: /[ab]+/\nB: /c+/\n",
        "start: A C\nA: /a+b/\nC: /c*/\n",
        "start: l\nl[lazy]: /[abc]{4}[ab]+c?/\n",
        "start: W\nW: /[abc]+/\n%ignore / /\n",
        "start: W*\nW: /a[abc]{0,2}/\n",
        "start: W\nW: /(a|b)+(?!c)[abc]*/\n",
    ];
    let mut past_ends = 0;
    for (grammar, mode) in grammars.iter().flat_map(|text| [(text, LexerMode::Longest), (text, LexerMode::Exact)]) {
        let options = CompileOptions { lexer: Some(mode), ..CompileOptions::default() };
        for (token, text) in (0..).zip(&texts[1..]) {
            // An engine for each token: what one has read leads others along.
            let engine = Engine::new(vocabulary.clone());
            let grammar = engine.compile_with(&Source::lark(*grammar), &options).expect(grammar);
            let [mut whole, mut bytes] = [(); 2].map(|()| grammar.matcher().expect("it starts"));
            for times in 0..3 {
                // Before its bytes, whose steps would be known then.
                let is_whole = whole.consume_token(token).is_ok();
                let mut ends = 0;
                let is_read = text.iter().all(|&byte| {
                    let single = LETTERS.iter().position(|&letter| letter == byte).expect("a letter") as u32;
                    let is_read = bytes.consume_token(single).is_ok();
                    ends += u32::from(is_read && bytes.is_accepting().expect("within limits"));
                    is_read
                });
                assert_eq!(is_whole, is_read, "{grammar:?} {mode:?} {text:?} {times}");
                if !is_read {
                    break;
                }
                past_ends += u32::from(ends > 1);
                let state = |matcher: &larkspur::Matcher| {
                    (
                        matcher.is_accepting(),
                        matcher.stop_reason(),
                        matcher.allowed_bytes().map(|bytes| bytes.iter().collect::<Vec<u8>>()),
                    )
                };
                assert_eq!(state(&whole), state(&bytes), "{grammar:?} {mode:?} {text:?} {times}");
            }
        }
    }
    assert!(past_ends > 300, "{past_ends}");
}
