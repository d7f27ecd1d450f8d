"""Real programs of Guidance, with Larkspur in llguidance's place: its mock model, which writes a text as far as the
grammar allows it."""

import json

import pytest

guidance = pytest.importorskip("guidance", reason="needs the package guidance")

from guidance import (  # noqa: E402
    block,
    capture,
    gen,
    json as gen_json,
    lark,
    models,
    one_or_more,
    optional,
    regex,
    select,
    sequence,
    special_token,
    string,
    substring,
    token_limit,
    with_temperature,
    zero_or_more,
)
from guidance.library import at_most_n_repeats, exactly_n_repeats, gbnf_to_lark as gbnf  # noqa: E402
from guidance.library._subgrammar import lexeme, subgrammar  # noqa: E402


def model(text: bytes | list[bytes]) -> models.Mock:
    return models.Mock([b"<s>" + part for part in ([text] if isinstance(text, bytes) else text)])


def test_literals_are_forced():
    assert str(model(b"Hello, world") + "Hello" + ", world") == "Hello, world"


@pytest.mark.parametrize(
    ("arguments", "written", "captured"),
    [
        ({"regex": "[0-9]+"}, b"12 and", "12"),
        ({"regex": r"\d{3}"}, b"12345", "123"),
        ({"stop": "\n"}, b"a line\nnext", "a line"),
        ({"stop": [".", "!"]}, b"yes! no.", "yes"),
        ({"stop": "</end>"}, b"a </e> b</end>", "a </e> b"),
        ({"stop_regex": "[.!]+ "}, b"yes!! no", "yes"),
        ({"regex": "[a-z]+", "stop": "x"}, b"abcx", "abc"),
        ({"suffix": ";"}, b"abc; d", "abc"),
        # The mock model's tokens are of two letters.
        ({"max_tokens": 3}, b"abcdefgh", "abcdef"),
        ({"max_tokens": 10, "stop": "."}, b"abc. d", "abc"),
    ],
    ids=str,
)
def test_gen(arguments, written, captured):
    result = model(written) + gen("x", **arguments)
    assert result["x"] == captured
    assert str(result) == captured + (arguments.get("suffix") or "")


def test_gen_keeps_the_stop_text_where_asked():
    result = model(b"abc\ndef") + gen("x", stop="\n", save_stop_text="end") + "|"
    assert (result["x"], result["end"], str(result)) == ("abc", "\n", "abc|")


def test_text_goes_on_behind_a_stop():
    result = model(b"one, two. end") + gen("a", stop=",") + ", " + gen("b", stop=".") + "."
    assert (result["a"], result["b"], str(result)) == ("one", "two", "one, two.")


def test_gen_until_the_model_ends():
    assert (model(b"abc<s>") + gen("x"))["x"] == "abc"


def test_select():
    result = model(b"banana split") + select(["apple", "banana"], name="fruit") + "!"
    assert (result["fruit"], str(result)) == ("banana", "banana!")
    assert (model(b"<s>") + select(["apple", "banana"], name="fruit"))["fruit"] in ("apple", "banana")


def test_select_of_rules_and_recursion():
    @guidance(stateless=True, dedent=False)
    def number(lm):
        return lm + select([one_or_more(select(list("0123456789"))), "(" + expression() + ")"])

    @guidance(stateless=True, dedent=False)
    def expression(lm):
        return lm + select([number(), number() + select(["+", "*"]) + expression()])

    result = model(b"(1+23)*4=") + capture(expression(), "e") + "="
    assert (result["e"], str(result)) == ("(1+23)*4", "(1+23)*4=")


def test_lists():
    items = model(b"a,b,c.") + one_or_more(gen("items", regex="[a-z]", list_append=True) + select([",", "."]))
    assert items["items"] == ["a", "b", "c"]
    result = model([b"12 34"])
    for _ in range(2):
        result += gen("n", regex="[0-9]+", list_append=True) + optional(" ")
    assert result["n"] == ["12", "34"]


def test_captures_nest():
    inner = capture(gen("digits", regex="[0-9]+"), "number")
    result = model(b"x=42!") + capture("x=" + inner + "!", "all")
    assert (result["digits"], result["number"], result["all"]) == ("42", "42", "x=42!")


def test_block_and_roles_capture_text():
    lm = model(b"n: 12\n")
    with block("all"):
        lm += "n: " + gen("n", regex="[0-9]+")
    assert lm["all"] == "n: 12"


@pytest.mark.parametrize(
    ("grammar", "accepted", "rejected"),
    [
        (lambda: zero_or_more("a") + "b", ["b", "aaab"], ["a", "ab a"]),
        (lambda: sequence("ab", min_length=2, max_length=3), ["abab", "ababab"], ["ab", "abababab"]),
        (lambda: exactly_n_repeats("a", 2), ["aa"], ["a", "aaa"]),
        (lambda: at_most_n_repeats("a", 3), ["", "aaa"], ["aaaa"]),
        (lambda: "x" + optional(regex("[0-9]")), ["x", "x1"], ["x11"]),
        (lambda: select([regex("[a-z]+"), "("]), ["ab", "("], ["", "(a"]),
    ],
    ids=["zero_or_more", "sequence", "exactly", "at most", "optional", "select"],
)
def test_sequences(grammar, accepted, rejected):
    made = grammar()
    assert all(made.match(text) is not None for text in accepted)
    assert all(made.match(text) is None for text in rejected)


def test_regex_and_string():
    assert str(model(b"ab12c") + regex("[a-b]+") + regex("[0-9]+")) == "ab12"
    assert str(model(b"x") + string("ab")) == "ab"
    assert str(model(b"abab!") + (regex("(ab)+", name="r") + "!")) == "abab!"


def test_substring():
    result = model(b"quick brown cat") + substring("the quick brown fox", name="s")
    assert result["s"] == "quick brown "


SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "maxItems": 3},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


def test_json():
    text = '{"name": "Ann", "age": 41, "tags": ["a", "b"]}'
    result = model(text.encode()) + gen_json("person", schema=SCHEMA)
    assert json.loads(result["person"]) == json.loads(text)
    compact = model(b'{"name":"x","age":3}') + gen_json("person", schema=SCHEMA, separators=(",", ":"))
    assert json.loads(compact["person"]) == {"name": "x", "age": 3}


def test_json_of_a_model():
    pydantic = pytest.importorskip("pydantic")

    class Point(pydantic.BaseModel):
        x: int
        y: float | None = None

    result = model(b'{"x": 3, "y": 1.5}') + gen_json("p", schema=Point)
    assert Point.model_validate_json(result["p"]) == Point(x=3, y=1.5)


def test_json_without_a_schema():
    assert json.loads((model(b'{"a": [1, true]}') + gen_json("j"))["j"]) == {"a": [1, True]}


def test_json_that_cannot_be():
    with pytest.raises(ValueError, match="J020|no value"):
        gen_json("x", schema={"type": "string", "enum": [1]})


def test_lark():
    grammar = 'start: name "=" NUMBER\nname: /[a-z]+/\nNUMBER: /[0-9]+/\n%ignore " "'
    result = model(b"ab = 12") + capture(lark(grammar), "assignment")
    assert result["assignment"] == "ab = 12"


def test_gbnf():
    text = 'root ::= pair ("," pair)*\npair ::= [a-z]+ "=" ("x" | "xy" num)\nnum ::= [0-9]{2}'
    result = model(b"ab=xy12,c=x!") + lark(gbnf(text)) + "!"
    assert str(result) == "ab=xy12,c=x!"


def test_gbnf_has_no_longest_match():
    assert lark(gbnf('root ::= ("foo" | "foobar") "bar"')).match("foobar") is not None


def test_special_tokens():
    assert str(model(b"ab") + special_token("<s>") + "ab").endswith("ab")


def test_temperature_and_token_limit():
    lm = model(b"abcdef")
    lm += with_temperature(gen("a", regex="[a-z]{2}"), 0.7)
    lm += token_limit(regex("[a-z]*", name="b"), 2)
    assert (lm["a"], lm["b"]) == ("ab", "cdef")
    assert 0.7 in lm._interpreter.engine.called_temperatures


def test_match():
    grammar = one_or_more(capture(regex("[a-z]+"), "word") + select([",", "."]))
    found = grammar.match("ab,cd.")
    assert found is not None and found.captures["word"] == "cd"
    assert grammar.match("ab,1") is None
    assert grammar.match("ab") is None and grammar.match("ab", allow_partial=True) is not None


def test_subgrammar():
    assignment = subgrammar(body=capture(lexeme("[a-z]+"), "k") + "=" + lexeme("[0-9]+"), name="s", skip_regex="[ ]+")
    result = model(b"ab = 12;") + assignment + ";"
    assert (result["k"], result["s"]) == ("ab", "ab = 12")


def test_tool_grammars():
    """The calls of `guidance.Tool`, as it hands them to a server."""
    from guidance._ast import LarkSerializer

    call = 'start: "<tool>" args "</tool>"\nargs: %json {"type": "object", "properties": {"q": {"type": "string"}}}'
    text = b'hi <tool>{"q": "x"}</tool>!'
    result = model(text) + gen("before", stop="<tool>") + capture(lark(call), "call") + "!"
    assert (result["before"], result["call"]) == ("hi ", '<tool>{"q": "x"}</tool>')
    assert LarkSerializer().serialize(regex("a")).startswith("%llguidance")
