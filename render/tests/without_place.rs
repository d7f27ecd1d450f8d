//! What stands nowhere in a text.

use larkspur_grammar::{Diagnostic, Severity, SourceMap, Span};
use larkspur_render::rendered;

#[test]
fn a_way_out_stands_right_below_the_message() {
    let sources = SourceMap::new();
    let alone = Diagnostic::new("F006", Severity::Error, None, "there is nothing to do");
    assert_eq!(rendered(&alone, &sources, false), "error[F006]: there is nothing to do");
    let helped = alone.help("do something else, or `|`");
    let plain = "error[F006]: there is nothing to do\n = help: do something else, or `|`";
    assert_eq!(rendered(&helped, &sources, false), plain);
    // The same lines in colours.
    let coloured = rendered(&helped, &sources, true);
    assert_eq!(coloured.lines().count(), 2, "{coloured:?}");
}

/// A byte order mark is not shown, and has no column.
#[test]
fn a_byte_order_mark_takes_no_column() {
    let mut sources = SourceMap::new();
    let source = sources.add("a.lark", "\u{feff}start: x\n");
    let show =
        |start, end| rendered(&Diagnostic::error("L040", Span::new(source, start, end), "wrong"), &sources, false);
    assert_eq!(show(10, 11), "error[L040]: wrong\n --> a.lark:1:8\n  |\n1 | start: x\n  |        ^");
    assert!(show(0, 0).starts_with("error[L040]: wrong\n --> a.lark:1:1\n"));
}
