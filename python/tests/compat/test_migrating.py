"""Where llguidance 1.9.1 has it wrong and Larkspur right: the rows of docs/migrating-from-llguidance.md."""

import pytest

from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper, grammar_from

BYTES = LLTokenizer("byte")


def fits(grammar: str, text: str | bytes) -> bool:
    matcher = LLMatcher(BYTES, grammar, log_level=0)
    assert not matcher.is_error(), matcher.get_error()
    tokens = list(text.encode() if isinstance(text, str) else text)
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


def allowed(matcher: LLMatcher) -> list[int]:
    return [token for token, bias in enumerate(matcher.compute_logit_bias()) if bias]


IGNORES = 'start: a | b\na: %lark {\n  start: "x" "1"\n  %ignore " "\n}\nb: %lark {\n  start: "x" "2"\n  %ignore "_"\n}'
KEYS = 'start: %json {"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":{"type":"string"}}'
CASES = {
    "ignored text that a lexeme matches": ('start: "a" NL "b"\nNL: "\\n"\n%ignore /[ \\n]+/', ["a\nb"], []),
    "ignored text of each nested grammar": (IGNORES, ["x 1", "x_2"], ["x_1", "x 2"]),
    "ignored text before a nested grammar": (
        'start: "<" j ">"\nj: %json {"type":"object","x-guidance":{"whitespace_flexible":false}}\n%ignore " "', ["< {} >"], ["<{ }>"]
    ),
    "names written with escapes": (KEYS, ['{"a":1,"b":"x"}'], ['{"a":1,"\\u0061":"x"}', '{"a":1,"a":1}']),
    "large numbers": ('start: %json {"const":9007199254740993}', ["9007199254740993"], ["9007199254740992"]),
    "short escapes": ('start: %json {"type":"string"}', ['"\\t"', '"\\u0001"'], ['"\\u0009"']),
    "& in a rule": ("start: A & B\nA: /[a-z]+/\nB: /[abc]+/", ["ab"], ["xy"]),
    "names that repeat": ('start: %json {"type":"object","minProperties":2}', ['{"a":1,"b":1}'], ['{"a":1,"a":1}']),
    "DEL in a string": ('start: %json {"type":"string"}', ['"\x7f"'], ['"\x01"']),
    "not": ('start: %json {"not":{"type":"string"}}', ["1"], ['"a"']),
    "uniqueItems": ('start: %json {"uniqueItems":true,"type":"array","items":{"enum":[1,2]}}', ["[1,2]"], ["[1,1]"]),
    "if": (
        'start: %json {"type":"object","if":{"properties":{"a":{"const":1}},"required":["a"]},"then":{"required":["b"]}}',
        ['{"a":2}', '{"a":1,"b":0}'], ['{"a":1}'],
    ),
    "templates": ('start: list{"a"}\nlist{x}: x ("," x)*', ["a,a"], ["a,"]),
    "priorities": ('A.2: "ab"\nB: /[a-z]+/\nstart: A "!" | B "?"', ["ab!", "abc?"], ["ab?"]),
    "GBNF's alternatives": (grammar_from("gbnf", 'root ::= ("foo" | "foobar") "bar"'), ["foobar", "foobarbar"], ["foo"]),
    "GBNF's dot": (grammar_from("gbnf", 'root ::= . "x"'), ["\nx", "éx"], ["x"]),
    "bytes that are no UTF-8": ("start: ~/a/", ["b", "é", ""], ["a", b"\xff"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_language(name):
    grammar, accepted, rejected = CASES[name]
    for text in accepted:
        assert fits(grammar, text), text
    for text in rejected:
        assert not fits(grammar, text), text


@pytest.mark.parametrize(
    ("grammar", "code"),
    [
        ('start: start "a"', "G104"),
        ("start: A\nA: /a/ & /b/", "P001"),
        ('start: A B\nA: /a+/\nB: "ab"', "P004"),
        ('start: %json {"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}', "J021"),
    ],
    ids=["never ends", "no text", "swallowed", "schema without end"],
)
def test_mistakes_that_show_at_once(grammar, code):
    assert f" [{code}]\n" in LLMatcher.validate_grammar(grammar)


def test_all_mistakes_are_told():
    message = LLMatcher.validate_grammar("start: foo bar\nfoo: baz")
    assert message.startswith('at 1(12): unknown name: "bar": rule `bar` ') and "at 2(6): unknown name: \"baz\": rule `baz` " in message


class Words:
    eos_token_id = 256
    bos_token_id = None
    tokens = [bytes([byte]) for byte in range(256)] + [b"<eos>", b"x1", b"x2", b"<think>"]
    special_token_ids = [256, 259]

    def __call__(self, text):
        return [259] if text in ("<think>", b"<think>") else list(text if isinstance(text, bytes) else text.encode())


WORDS = LLTokenizer(TokenizerWrapper(Words()))


def test_masks_after_a_rollback():
    matcher = LLMatcher(WORDS, 'start: "a" X "1" "!"? | "b" X "2"\nX: "x"')
    assert matcher.consume_token(97) and allowed(matcher) == [120, 257]
    assert matcher.rollback(1) and matcher.consume_token(98)
    assert allowed(matcher) == [120, 258]


def test_masks_are_complete():
    """A mask has all tokens that fit, not only the one that the tokenizer would take."""
    assert allowed(LLMatcher(WORDS, 'start: "x1"')) == [120, 257]


def test_text_is_no_special_token():
    matcher = LLMatcher(WORDS, 'start: "<think>"')
    assert allowed(matcher) == [ord("<")]
    assert matcher.compute_ff_tokens() == list(b"<think>")
    assert matcher.consume_tokens(list(b"<think>"))


def test_captures_after_a_rollback():
    matcher = LLMatcher(BYTES, 'start: (w ",")*\nw[capture]: /[a-z]+/')
    assert matcher.consume_tokens(list(b"ab,")) and matcher.rollback(2)
    assert matcher.consume_tokens(list(b"x,cd,"))
    assert matcher.get_captures() == [("w", b"ax"), ("w", b"cd")]


def test_captures_are_all_there():
    matcher = LLMatcher(BYTES, 'start: (w ",")*\nw[capture]: /[a-z]+/')
    assert matcher.consume_tokens(list(b"ab,ab,cd,ab,"))
    assert matcher.get_captures() == [("w", word) for word in (b"ab", b"ab", b"cd", b"ab")]
    prefix = LLMatcher(BYTES, 'start: w\nw[capture]: "a" | "a" "b"')
    assert prefix.consume_tokens(list(b"ab")) and prefix.get_captures() == [("w", b"ab")]


def test_rollback_behind_stop_and_max_tokens():
    for grammar in ('start: x "c"\nx[max_tokens=2]: /a*/', 'start: x "c"\nx[stop="b"]: /a*/'):
        matcher = LLMatcher(BYTES, grammar)
        before = allowed(matcher)
        assert matcher.consume_token(97) and matcher.rollback(1) and allowed(matcher) == before


def test_max_tokens_ends_the_text():
    matcher = LLMatcher(BYTES, '{"grammars":[{"lark_grammar":"start: /a*/"}],"max_tokens":2}')
    assert matcher.consume_tokens([97, 97])
    assert matcher.stop_reason() == "MaxTokensTotal" and allowed(matcher) == [261] and not matcher.is_error()


def test_every_eos_ends_free_text():
    tokenizer = LLTokenizer(TokenizerWrapper(Words()), eos_token=[256, 259])
    assert {256, 259} <= set(allowed(LLMatcher(tokenizer, 'start: x\nx[stop=""]: /.*/')))


def test_eos_ends_free_text_in_the_middle():
    """llguidance's mask has the EOS token there, which its matcher then refuses."""
    matcher = LLMatcher(BYTES, 'start: x "1"\nx[stop=""]: /[a-z]*/')
    assert matcher.consume_token(97) and {98, 49, 261} <= set(allowed(matcher)) and not matcher.is_accepting()
    assert matcher.consume_token(261) and allowed(matcher) == [49] and matcher.compute_ff_tokens() == [49]


def test_a_named_eos_token_is_a_token():
    matcher = LLMatcher(BYTES, 'start: "a" <|end|> "b"?')
    assert matcher.consume_tokens([97, 261])
    assert matcher.is_accepting() and not matcher.is_stopped() and allowed(matcher) == [98, 261]


def test_a_token_across_the_end_of_a_stop():
    matcher = LLMatcher(WORDS, 'start: a "1"\na[stop="x"]: /[a-z]*/')
    assert 257 in allowed(matcher)
    assert matcher.consume_token(257) and matcher.is_accepting()


def test_right_recursion_and_many_alternatives():
    matcher = LLMatcher(BYTES, 'start: "a" start | "a"')
    assert matcher.consume_tokens([97] * 5000), matcher.get_error()
    options = " | ".join(f'"{number:05}x"' for number in range(20_000))
    assert fits(f"start: {options}", "12345x")


def test_lists_as_llguidance_writes_them():
    """Every field is there, `null` where it says nothing."""
    grammars = '[{"name":"regex","json_schema":null,"lark_grammar":"start: /a/"}]'
    assert fits(f'{{"grammars":{grammars},"max_tokens":null}}', "a")


def test_structural_tags_keep_their_schema():
    """A schema that `grammar_from_json_schema` made into a grammar is enforced; llguidance takes any value there."""
    from llguidance import StructTag

    schema = LLMatcher.grammar_from_json_schema({"type": "integer"}, defaults={"whitespace_flexible": False})
    text = StructTag.to_grammar([StructTag(trigger="[f", begin="[f=", grammar=schema, end="]")])
    assert fits(text, "[f=12]") and not fits(text, '[f="x"]')
