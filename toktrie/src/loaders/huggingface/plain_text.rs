//! Rewrites a tokenizer's normalizers and pre-tokenizers so that its tokens spell the text that it is given.

use serde_json::{Value, json};

use super::Normalizers;

/// The normalizers of `configured` that are wanted, in order; `null` if none is.
pub(super) fn normalizer(configured: Value, wanted: Normalizers) -> Value {
    let mut kept = Vec::new();
    let mut pending = vec![configured];
    while let Some(mut normalizer) = pending.pop() {
        match type_of(&normalizer) {
            "Sequence" => pending.extend(take_list(&mut normalizer, "normalizers").into_iter().rev()),
            "" | "Prepend" => {}
            "ByteLevel" => kept.push(normalizer),
            "Replace" if normalizer["pattern"]["String"] == " " => kept.push(normalizer),
            _ if wanted == Normalizers::All => kept.push(normalizer),
            _ => {}
        }
    }
    if kept.is_empty() { Value::Null } else { json!({"type": "Sequence", "normalizers": kept}) }
}

/// `configured` with no blank put in front of the text.
pub(super) fn pre_tokenizer(configured: Value) -> Value {
    let mut kept = Vec::new();
    let mut pending = vec![configured];
    while let Some(mut pre_tokenizer) = pending.pop() {
        match type_of(&pre_tokenizer) {
            "Sequence" => pending.extend(take_list(&mut pre_tokenizer, "pretokenizers").into_iter().rev()),
            "" => {}
            "ByteLevel" => {
                pre_tokenizer["add_prefix_space"] = json!(false);
                kept.push(pre_tokenizer);
            }
            "Metaspace" => {
                // Both spellings of the setting, the old one and the new one.
                pre_tokenizer["add_prefix_space"] = json!(false);
                pre_tokenizer["prepend_scheme"] = json!("never");
                kept.push(pre_tokenizer);
            }
            _ => kept.push(pre_tokenizer),
        }
    }
    if kept.is_empty() { Value::Null } else { json!({"type": "Sequence", "pretokenizers": kept}) }
}

/// The `type` of a part; empty for one without, such as `null`.
pub(super) fn type_of(part: &Value) -> &str {
    part["type"].as_str().unwrap_or("")
}

fn take_list(part: &mut Value, key: &str) -> Vec<Value> {
    match part.get_mut(key).map(Value::take) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}
