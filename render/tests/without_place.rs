//! What stands nowhere in a text.

use larkspur_grammar::{Diagnostic, Severity, SourceMap};
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
