"""Guidance over transformers with small models of random weights, and Outlines' own processor: whatever the model wants,
the grammar holds."""

import json
import re
from functools import lru_cache

import pytest

from common import tokenizer_file

pytestmark = pytest.mark.long

FAMILIES = ["gpt2", "qwen3", "mistral-nemo", "phi-3-mini", "llama-3.1"]


@lru_cache
def hf_tokenizer(name):
    transformers = pytest.importorskip("transformers")
    loaded = transformers.PreTrainedTokenizerFast.from_pretrained(str(tokenizer_file(name)))
    if loaded.eos_token_id is None:
        loaded.eos_token = "<|endoftext|>"
    return loaded


@lru_cache
def random_model(name):
    torch = pytest.importorskip("torch")
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(3)
    config = GPT2Config(
        vocab_size=len(hf_tokenizer(name)), n_positions=1024, n_embd=32, n_layer=1, n_head=2,
        bos_token_id=None, eos_token_id=hf_tokenizer(name).eos_token_id,
    )  # fmt: skip
    return GPT2LMHeadModel(config).eval()


def guided(name):
    models = pytest.importorskip("guidance.models")
    made = models.Transformers(model=random_model(name), tokenizer=hf_tokenizer(name), echo=False)
    engine = made._interpreter.engine
    compute = engine.get_logits

    def get_logits(*arguments, **options):
        # Guidance 0.3 shortens transformers' cache in a way that transformers 5 has no more: it starts anew.
        engine._past_key_values, engine._cached_token_ids = None, []
        return compute(*arguments, **options)

    engine.get_logits = get_logits
    return made


@pytest.mark.parametrize("name", FAMILIES)
def test_programs(name):
    """`gen` of all kinds, `select`, JSON, lists and Lark in one text."""
    from guidance import gen, json as gen_json, lark, select

    lm = guided(name) + "The answer is " + gen("number", regex="[0-9]{1,3}") + ", which is "
    lm += select(["even", "odd"], name="parity") + ".\n"
    assert re.fullmatch("[0-9]{1,3}", lm["number"]) and lm["parity"] in ("even", "odd")
    assert str(lm).endswith(f"The answer is {lm['number']}, which is {lm['parity']}.\n")
    lm += gen("free", max_tokens=6) + "\n"
    lm += gen("line", regex="[a-z ]{0,8};?", stop=";", max_tokens=20) + "!"
    assert ";" not in lm["line"] and str(lm).endswith(lm["line"] + "!")
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "maxLength": 6}, "tags": {"type": "array", "items": {"enum": [1, "é"]}, "maxItems": 2}},
        "required": ["name", "tags"],
        "additionalProperties": False,
    }
    lm += gen_json("object", schema=schema, whitespace_flexible=False)
    assert list(json.loads(lm["object"])) == ["name", "tags"]
    for _ in range(2):
        lm += gen("items", regex="[a-c]", list_append=True) + ","
    assert len(lm["items"]) == 2
    lm += lark('start: "<" WORD ">"\nWORD: /[x-z]{2}/')
    assert re.search("<[x-z]{2}>$", str(lm))


@pytest.mark.parametrize("name", FAMILIES)
def test_outlines(name):
    outlines = pytest.importorskip("outlines.backends.llguidance")
    torch = pytest.importorskip("torch")
    import llguidance.hf
    from llguidance import grammar_from

    tokenizer = llguidance.hf.from_tokenizer(hf_tokenizer(name))
    processor = outlines.LLGuidanceLogitsProcessor(grammar_from("regex", "(ab|c){2,4}[0-9]{2}"), tokenizer, "torch")
    model = random_model(name)
    tokens = torch.tensor([hf_tokenizer(name)("start ").input_ids, hf_tokenizer(name)("other ").input_ids])
    first = tokens.shape[1]
    for _ in range(14):
        with torch.no_grad():
            logits = model(tokens).logits[:, -1].clone()
        tokens = torch.cat([tokens, processor.process_logits(tokens, logits).argmax(-1, keepdim=True)], 1)
    for row in tokens[:, first:].tolist():
        row = row[: row.index(tokenizer.eos_token)]
        assert re.fullmatch("(ab|c){2,4}[0-9]{2}", tokenizer.decode_str(row))


@pytest.mark.parametrize("name", FAMILIES)
def test_tokenizer_of_transformers(name):
    """Texts and their tokens as transformers has them."""
    import llguidance.hf

    tokenizer = hf_tokenizer(name)
    ours = llguidance.hf.from_tokenizer(tokenizer, n_vocab=len(tokenizer) + 100)
    assert ours.vocab_size == len(tokenizer) + 100 and ours.eos_token == tokenizer.eos_token_id
    for text in ["hello world", "def f(x):\n    return x  # é😀", "{\"a\": [1, 2]}", "  two  blanks", "数学"]:
        tokens = ours.tokenize_str(text)
        assert ours.decode_str(tokens) == text
        start, rest = ours.tokenize_partial(text.encode())
        assert ours.decode_bytes(start) + rest == text.encode()
        assert ours.tokenize_str(text + " more")[: len(start)] == start
    eos = tokenizer.convert_ids_to_tokens(ours.eos_token)
    assert ours.tokenize_str(f"a{eos}b", parse_special=True)[-2:-1] == [ours.eos_token]
    assert ours.eos_token not in ours.tokenize_str(f"a{eos}b")


def test_slow_tokenizers_are_refused():
    import llguidance.hf

    with pytest.raises(ValueError, match="fast"):
        llguidance.hf.from_tokenizer(object())
