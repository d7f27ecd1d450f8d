"""Reasoning, then JSON: the model thinks between special tokens as it likes, and answers as the schema says.

Run: python examples/reasoning_then_json.py
"""

import json
import random

from larkspur import Engine, Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "integer"}, "sure": {"type": "boolean"}},
    "required": ["answer", "sure"],
    "additionalProperties": False,
}
GRAMMAR = f"""%llguidance {{}}
start: <think> thoughts </think> "\\n"? answer
thoughts[capture]: /(.|\\n)*/
answer[capture]: %json {json.dumps(SCHEMA)}
"""


def main() -> dict:
    random.seed(4)
    # A model's tokenizer has such tokens itself; here they stand beside the bytes.
    specials = [(256, "<eos>"), (257, "<think>"), (258, "</think>")]
    engine = Engine(Vocabulary.from_tokens(((byte, bytes([byte])) for byte in range(256)), specials, [256]))
    matcher = engine.lark(GRAMMAR).matcher()
    letters = b"abcdefghijklmnopqrstuvwxyz  .\n"
    while not matcher.is_stopped():
        allowed = matcher.allowed_tokens()
        if 258 in allowed:
            # Inside of the thoughts everything is allowed but the special tokens that don't belong there.
            token = 258 if random.random() < 0.02 else random.choice(letters)
        else:
            token = random.choice(allowed)
        matcher.consume_token(token)
    captures = dict(matcher.captures())
    print(captures["thoughts"].decode(errors="replace"))
    print(captures["answer"].decode())
    return json.loads(captures["answer"])


if __name__ == "__main__":
    main()
