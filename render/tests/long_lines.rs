//! Lines that are longer than anybody wants to see.

use larkspur_grammar::{Diagnostic, SourceMap, Span};
use larkspur_render::rendered;

#[test]
fn only_what_is_around_is_shown() {
    let mut sources = SourceMap::new();
    let line = "é ".repeat(50_000);
    let id = sources.add("long.lark", format!("start: a\n{line}here{line}\n"));
    let at = "start: a\n".len() + line.len();
    let here = Diagnostic::error("L001", Span::new(id, at, at + 4), "it is wrong".to_owned()).at("this".to_owned());
    let text = rendered(&here, &sources, false);
    assert!(text.contains("--> long.lark:2:100001\n"), "{text}");
    assert!(text.contains("^^^^ this") && text.contains("2 | ..."), "{text}");
    assert!(text.len() < 1_000, "{text}");

    let whole = Diagnostic::error("L001", Span::new(id, 0, at), "all is wrong".to_owned());
    let text = rendered(&whole, &sources, false);
    assert!(text.contains("--> long.lark:1:1\n") && text.len() < 4_000, "{text}");
}

#[test]
fn far_labels_have_excerpts_of_their_own() {
    let mut sources = SourceMap::new();
    let id = sources.add("long.lark", format!("start: ({}\n", "\"a\" ".repeat(50_000)));
    let end = sources.get(id).text.len() - 1;
    let unclosed = Diagnostic::error("L012", Span::new(id, end, end), "`(` is not closed here".to_owned());
    let opened = larkspur_grammar::Label { span: Span::new(id, 7, 8), message: "opened here".to_owned() };
    let mut both = unclosed.clone();
    both.labels.push(opened);
    let text = rendered(&both, &sources, false);
    assert!(text.contains("long.lark:1:8\n") && text.contains(&format!("long.lark:1:{}\n", end + 1)), "{text}");
    assert!(text.contains("opened here") && text.len() < 2_000, "{text}");
}
