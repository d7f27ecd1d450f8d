"""transformers: `model.generate` keeps to a schema, with sampling and with beams.

Run: python examples/transformers_generate.py [MODEL]
Without a model's name, a small one with random weights is made: what it writes means nothing, but it is valid.
"""

import json
import sys
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

from larkspur.transformers import GrammarLogitsProcessor, engine_of

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "pattern": "^[A-Z][a-z]{1,8}$"}, "age": {"type": "integer", "minimum": 0, "maximum": 150}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


def random_model() -> tuple[Any, Any]:
    """A byte-level tokenizer without merges, and a model that knows nothing."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: id for id, letter in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>", padding_side="left")
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=len(fast), n_embd=32, n_layer=1, n_head=2, bos_token_id=None, eos_token_id=fast.eos_token_id)
    return fast, GPT2LMHeadModel(config).eval()


def main(name: str | None = None) -> list[str]:
    if name is None:
        tokenizer, model = random_model()
    else:
        tokenizer = AutoTokenizer.from_pretrained(name, padding_side="left")
        tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
        model = AutoModelForCausalLM.from_pretrained(name)
    inputs = tokenizer(["Somebody:", "Somebody else, of whom more is known:"], return_tensors="pt", padding=True)
    grammar = engine_of(tokenizer).json_schema(SCHEMA, spelling={"whitespace": "compact"})
    texts = []
    for how in ({"do_sample": True}, {"num_beams": 3}):
        processor = GrammarLogitsProcessor(grammar)
        output = model.generate(
            **{name: inputs[name] for name in ("input_ids", "attention_mask")},
            max_new_tokens=100, logits_processor=[processor], pad_token_id=tokenizer.pad_token_id, **how,
        )
        texts += tokenizer.batch_decode(output[:, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    for text in texts:
        print(text)
        json.loads(text)
    return texts


if __name__ == "__main__":
    main(*sys.argv[1:2])
