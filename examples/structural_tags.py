"""Structural tags: free text with calls of functions in it, as vLLM and xgrammar have them.

Run: python examples/structural_tags.py
"""

from larkspur import Engine, Matcher, Tag, Token, Vocabulary

TAGS = [
    Tag(
        "<function=get_weather>",
        "</function>",
        json_schema={
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
            "x-guidance": {"whitespace_flexible": False},
        },
    ),
    Tag("<function=add>", "</function>", gbnf='root ::= [0-9]+ ("+" [0-9]+)+'),
    Tag(Token("<|python|>"), Token("<|end|>"), regex="print\\([a-z]+\\)"),
    Tag("<think>", "</think>"),
]


def say(matcher: Matcher, wish: str) -> None:
    """What a model does: it says what it wishes to where the mask lets it, and what is forced needs no model."""
    for token in wish.encode():
        if matcher.is_allowed(token):
            matcher.consume_token(token)
        matcher.consume_tokens(matcher.forced_tokens())


def main() -> str:
    specials = [(256, "<eos>"), (257, "<|python|>"), (258, "<|end|>")]
    vocabulary = Vocabulary.from_tokens(
        ((byte, bytes([byte])) for byte in range(256)), specials, [256], tokenize=lambda text: list(text.encode())
    )
    engine = Engine(vocabulary)  # with a model: Engine.from_tokenizer(tokenizer)
    grammar = engine.structural_tags(TAGS, triggers=["<function=", "<think>"], excludes=["</function>"], at_least=1)
    matcher = grammar.matcher()
    say(matcher, "Two things. <think>hm, < is not yet a call</think>")
    # After `<function=` there are two functions; a third is not to be had.
    say(matcher, '<function=fgOslo"')
    say(matcher, " And: <function=a1+x2< Done.")
    matcher.consume_token(257)
    # The token that ends it is forced, too.
    say(matcher, "px)")
    assert matcher.is_accepting()
    text = matcher.text().decode()
    print(text)
    return text


if __name__ == "__main__":
    main()
