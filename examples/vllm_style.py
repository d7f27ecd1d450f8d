"""A batched decoding loop as vLLM runs it: one table of masks for all requests, and drafts that are checked in one go.

Run: python examples/vllm_style.py
"""

import json

import numpy as np

from larkspur import Engine, Vocabulary
from larkspur import numpy as masks

SCHEMA = {
    "type": "object",
    "properties": {"city": {"enum": ["Oslo", "Rome"]}, "degrees": {"type": "integer", "minimum": -40, "maximum": 50}},
    "required": ["city", "degrees"],
    "additionalProperties": False,
}


def main() -> list[str]:
    rng = np.random.default_rng(1)
    engine = Engine(Vocabulary.single_bytes())  # a server has Engine.from_tokenizer(tokenizer)
    grammars = [
        engine.json_schema(SCHEMA, spelling={"whitespace": "compact"}),
        engine.regex("[A-Z][a-z]{2,5}!"),
        engine.choice(["yes", "no"]),
    ]
    requests = [grammar.matcher() for grammar in grammars]
    table = masks.allocate(len(requests), engine.vocabulary)

    while not all(request.is_stopped() for request in requests):
        logits = rng.normal(size=(len(requests), len(engine.vocabulary))).astype(np.float32)  # the model's
        masks.fill(requests, table)
        masks.apply(logits, table)
        for request, token in zip(requests, logits.argmax(axis=1).tolist()):
            if not request.is_stopped():
                request.consume_token(token)

    # Speculative decoding: a small model guessed five tokens; which of them may stay, and what after each?
    request = grammars[2].matcher()
    draft = list(b"yesno")
    rows = masks.allocate(len(draft) + 1, engine.vocabulary)
    (written,) = masks.fill_drafts([request], [draft], rows)
    print(f"{written - 1} tokens of the draft leave something to say, {request.try_consume_tokens(draft)} are accepted")
    request.rollback(2)
    print(f"after two are taken back: {request.text().decode()}")

    texts = [request.text().decode() for request in requests]
    for text in texts:
        print(text)
    json.loads(texts[0])
    return texts


if __name__ == "__main__":
    main()
