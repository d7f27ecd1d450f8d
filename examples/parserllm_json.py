"""parserllm: its README's grammar as it stands, with a Lark parser and a transformers model.

Run: python examples/parserllm_json.py [MODEL]
Without a model's name, a small one with random weights is made: what it writes means nothing, but it is JSON.
"""

import json
import sys

from lark import Lark
from transformers import AutoModelForCausalLM, AutoTokenizer, set_seed

from larkspur.parserllm import complete_cf
from transformers_generate import random_model

JSON_GRAMMAR = r"""
    ?start: value

    ?value: object
          | array
          | string
          | "true"             -> true
          | "false"            -> false
          | "null"             -> null

    array  : "[" [value ("," value)*] "]"
    object : "{" [pair ("," pair)*] "}"
    pair   : string ":" value

    string : ESCAPED_STRING

    %import common.ESCAPED_STRING
    %import common.SIGNED_NUMBER
    %import common.WS

    %ignore WS
"""


def main(name: str | None = None) -> str:
    if name is None:
        tokenizer, model = random_model()
        # A model that knows nothing has to be told to come to an end.
        ends = [[tokenizer.encode(end), 8.0] for end in '"]}']
        wishes = {"sequence_bias": [[[tokenizer.eos_token_id], 20.0], *ends]}
    else:
        tokenizer, model, wishes = AutoTokenizer.from_pretrained(name), AutoModelForCausalLM.from_pretrained(name), {}
    set_seed(1)
    parser = Lark(JSON_GRAMMAR, parser="lalr")
    begun = '{"names": ['
    text = complete_cf("Some names: ", parser, begun, tokenizer, model, max_new_tokens=200, do_sample=True, **wishes)
    print(text)
    parser.parse(text)
    return json.loads(text)


if __name__ == "__main__":
    main(*sys.argv[1:2])
