"""A decoding loop as SGLang runs it: masks on threads while the model computes, and jumps over text that is forced.

Run: python examples/sglang_style.py
"""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from larkspur import Engine, Executor, Vocabulary
from larkspur import numpy as masks

SCHEMA = {
    "type": "object",
    "properties": {"temperature_celsius": {"type": "number"}, "humidity_percent": {"type": "integer"}},
    "required": ["temperature_celsius", "humidity_percent"],
    "additionalProperties": False,
}


def main() -> list[str]:
    rng = np.random.default_rng(2)
    engine = Engine(Vocabulary.single_bytes())  # a server has Engine.from_tokenizer(tokenizer)
    grammar = engine.json_schema(SCHEMA, spelling={"whitespace": "compact"})
    batch = [grammar.matcher(max_tokens=120) for _ in range(4)]
    table = masks.allocate(len(batch), engine.vocabulary)
    executor, background = Executor(), ThreadPoolExecutor(1)
    jumped = steps = 0

    while not all(matcher.is_stopped() for matcher in batch):
        # Text that cannot be otherwise needs no model.
        for matcher in batch:
            forced = matcher.forced_tokens()
            matcher.consume_tokens(forced)
            jumped += len(forced)
        filled = background.submit(masks.fill, batch, table, executor=executor)
        logits = rng.normal(size=(len(batch), len(engine.vocabulary))).astype(np.float32)  # the model's, meanwhile
        logits[:, list(b",}")] += 2
        filled.result()
        masks.apply(logits, table)
        tokens = zip(batch, logits.argmax(axis=1).tolist())
        running = [(matcher, token) for matcher, token in tokens if not matcher.is_stopped()]
        for error in executor.consume_tokens(running):
            assert error is None, error
        steps += 1

    texts = [matcher.text().decode() for matcher in batch]
    print(f"{steps} steps of the model, {jumped} tokens without it")
    for text in texts:
        print(text)
        json.loads(text)
    return texts


if __name__ == "__main__":
    main()
