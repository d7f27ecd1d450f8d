"""`model.generate` of transformers with small models of random weights: whatever they want, the grammar holds."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

import pytest

from common import tokenizer_file
from larkspur import GrammarError

pytestmark = pytest.mark.long

FAMILIES = ["gpt2", "qwen3", "mistral-nemo", "phi-3-mini", "llama-3.1", "deepseek-v3", "gemma-3"]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 8}, "age": {"type": "integer", "maximum": 150, "minimum": 0}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


@lru_cache
def tokenizer(name: str) -> Any:
    transformers = pytest.importorskip("transformers")
    loaded = transformers.PreTrainedTokenizerFast.from_pretrained(str(tokenizer_file(name)))
    if loaded.eos_token_id is None:
        loaded.eos_token = "<|endoftext|>"
    if loaded.pad_token_id is None:
        loaded.pad_token = loaded.eos_token
    loaded.padding_side = "left"
    return loaded


@lru_cache
def model(name: str, padded: int = 0) -> Any:
    torch = pytest.importorskip("torch")
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    config = GPT2Config(
        vocab_size=len(tokenizer(name)) + padded, n_positions=512, n_embd=32, n_layer=1, n_head=2,
        bos_token_id=None, eos_token_id=tokenizer(name).eos_token_id,
    )
    return GPT2LMHeadModel(config).eval()


def generate(name: str, prompts: list[str], grammar: Any, padded: int = 0, **arguments: Any) -> list[str]:
    import torch
    from transformers import set_seed

    from larkspur.transformers import GrammarLogitsProcessor

    tok = tokenizer(name)
    set_seed(7)
    inputs = tok(prompts, return_tensors="pt", padding=True)
    processor = GrammarLogitsProcessor(grammar, tok)
    with torch.no_grad():
        output = model(name, padded).generate(
            inputs["input_ids"], attention_mask=inputs["attention_mask"], logits_processor=[processor],
            pad_token_id=tok.pad_token_id, **{"max_new_tokens": 200, **arguments},
        )
    return tok.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)


def check(text: str) -> None:
    value = json.loads(text)
    assert set(value) == {"name", "age"} and len(value["name"]) <= 8 and 0 <= value["age"] <= 150


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize("how", ["greedy", "sampled", "beams", "sampled beams"])
def test_a_schema_holds(name: str, how: str) -> None:
    arguments = {
        "greedy": {"do_sample": False},
        "sampled": {"do_sample": True, "num_return_sequences": 2},
        "beams": {"num_beams": 3, "do_sample": False, "num_return_sequences": 3},
        "sampled beams": {"num_beams": 2, "do_sample": True},
    }[how]
    prompts = ["One person:", "And another person, whose description is longer:"]
    for text in generate(name, prompts, SCHEMA, **arguments):
        check(text)


def test_padded_vocabularies_and_lark() -> None:
    for text in generate("gpt2", ["x", "a b c"], 'start: "yes" | "no" /[!?]{1,3}/', padded=100, do_sample=True):
        assert text == "yes" or (text.startswith("no") and text[2:] and set(text[2:]) <= set("!?"))


def test_more_beams_than_texts() -> None:
    """Beams that have nothing to go on with must not break those that have."""
    texts = generate("gpt2", ["x"], 'start: "a" | "b"', num_beams=4, do_sample=False, num_return_sequences=4)
    assert set(texts[:2]) == {"a", "b"}


def test_the_end_is_the_models_choice_only_where_the_text_is_complete() -> None:
    """A bias towards EOS ends a text as soon as it may."""
    eos = tokenizer("gpt2").eos_token_id
    texts = generate("gpt2", ["x"], "start: /[0-9]{3,9}/", sequence_bias=[[[eos], 100.0]])
    assert len(texts[0]) == 3 and texts[0].isdigit()


def test_one_processor_for_many_calls() -> None:
    import torch

    from larkspur.transformers import GrammarLogitsProcessor, engine_of

    tok = tokenizer("gpt2")
    processor = GrammarLogitsProcessor(engine_of(tok).lark('start: "abc"'))
    for prompt in ["x", "a longer prompt", "x"]:
        ids = tok(prompt, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            output = model("gpt2").generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=9, logits_processor=[processor],
                pad_token_id=tok.pad_token_id,
            )
        assert tok.decode(output[0, ids.shape[1] :], skip_special_tokens=True) == "abc"


def test_rows_by_what_they_hold() -> None:
    """Rows may be swapped, copied and dropped between calls, as beam search does."""
    import torch

    from larkspur import Engine
    from larkspur.transformers import GrammarLogitsProcessor

    grammar = Engine.from_tokenizer("bytes").lark('start: "a" "x" | "b" "y" | "c" "z"')
    processor = GrammarLogitsProcessor(grammar)

    def allowed(rows: list[list[int]]) -> list[list[int]]:
        scores = processor(torch.tensor(rows), torch.zeros(len(rows), 257))
        return [torch.isfinite(row).nonzero().flatten().tolist() for row in scores]

    a, b, c, x, y, z = b"abcxyz"
    assert allowed([[1, 2], [1, 3]]) == [[a, b, c]] * 2
    assert allowed([[1, 3, b], [1, 2, a], [1, 2, c]]) == [[y], [x], [z]]
    # A token that is not allowed: the row may only end; the others go on.
    assert allowed([[1, 2, c, y], [1, 3, b, y]]) == [[256], [256]]
    assert allowed([[1, 2]]) == [[a, b, c]]


def test_what_is_missing() -> None:
    from larkspur.transformers import GrammarLogitsProcessor

    with pytest.raises(TypeError, match="tokenizer"):
        GrammarLogitsProcessor("start: /a/")
    with pytest.raises(GrammarError):
        GrammarLogitsProcessor("start: b", tokenizer("gpt2"))


def test_torch_tables() -> None:
    torch = pytest.importorskip("torch")

    from larkspur import Engine
    from larkspur import torch as masks

    engine = Engine.from_tokenizer("bytes")
    table = masks.allocate(2, engine.vocabulary)
    assert table.shape == (2, 9) and table.dtype == torch.int32
    masks.fill([engine.regex("[ab]").matcher()], table)
    logits = torch.zeros(2, 300)
    masks.apply(logits, table)
    assert torch.isfinite(logits[0]).nonzero().flatten().tolist() == [97, 98]
    assert torch.isfinite(logits[1]).sum() == 288
    for wrong in (torch.zeros(2, 9), torch.zeros(2, 9, dtype=torch.int64)):
        with pytest.raises(TypeError):
            masks.fill([engine.regex("a").matcher()], wrong)
    with pytest.raises(ValueError, match="contiguous"):
        masks.fill([engine.regex("a").matcher()], torch.zeros(9, 2, dtype=torch.int32).T)
    with pytest.raises(ValueError, match="fit together"):
        masks.apply(logits[:1], table)


def test_kbnf_masks_tensors() -> None:
    torch = pytest.importorskip("torch")

    from larkspur.kbnf import Engine, Vocabulary

    engine = Engine("start ::= 'a' 'b';", Vocabulary({0: b"a", 1: b"b"}))
    logits, _ = engine.update_logits(0, torch.zeros(3))
    assert torch.isfinite(logits).tolist() == [False, True, False]
