"""Tool calling: free text, then calls of several tools, each with the arguments that its schema allows.

Run: python examples/tool_calling.py
"""

import json

from larkspur import Engine, Matcher, Vocabulary

TOOLS = {
    "get_weather": {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}, "unit": {"enum": ["C", "F"]}},
        "required": ["city", "unit"],
        "additionalProperties": False,
    },
    "add": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
        "additionalProperties": False,
    },
}


def grammar_text(tools: dict[str, dict]) -> str:
    """Free text up to `<tool_call>`, a call, and so on; the text may end where no call is open."""
    rules = [
        "%llguidance {}",
        f"start: (text ({' | '.join(f'call_{name}' for name in tools)}))* rest",
        "text[lazy]: /(.|\\n)*<tool_call>/",
        "rest: REST",
        "REST: /(.|\\n)*/ & ~/(.|\\n)*<tool_call>(.|\\n)*/",
    ]
    for name, schema in tools.items():
        head = json.dumps(f'{{"name": "{name}", "arguments": ')
        rules.append(f'call_{name}[capture="{name}"]: {head} args_{name} "}}</tool_call>"')
        rules.append(f"args_{name}[capture]: %json {json.dumps(schema | {'x-guidance': {'whitespace_flexible': False}})}")
    return "\n".join(rules)


def say(matcher: Matcher, wish: str) -> None:
    """What a model does: it says what it wishes to where the mask lets it, and what is forced needs no model."""
    for token in wish.encode():
        if matcher.is_allowed(token):
            matcher.consume_token(token)
        matcher.consume_tokens(matcher.forced_tokens())


def main() -> list[tuple[str, dict]]:
    engine = Engine(Vocabulary.single_bytes())  # with a model: Engine.from_tokenizer(tokenizer)
    matcher = engine.lark(grammar_text(TOOLS)).matcher()
    # There is no unit K, so that the model has to think again.
    say(matcher, 'Let me see. <tool_call>gOslo"KC Now the sum. <tool_call>a12,30} That is all.')
    assert matcher.is_accepting()
    print(matcher.text().decode())
    calls = []
    for name, text in matcher.captures():
        if name.startswith("args_"):
            calls.append((name.removeprefix("args_"), json.loads(text)))
    for name, arguments in calls:
        print(name, arguments)
    return calls


if __name__ == "__main__":
    main()
