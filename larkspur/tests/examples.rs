//! The examples in Rust do what they say.

#[allow(dead_code, reason = "its `main` is called")]
#[path = "../../examples/mock_model.rs"]
mod mock_model;

#[test]
fn a_mock_model() {
    mock_model::main().expect("it writes an order");
}
