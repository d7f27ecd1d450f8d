"""parserllm's and ReLLM's functions, with models of random weights."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from larkspur import GrammarError, TextRejected
from test_transformers import model, tokenizer

pytestmark = pytest.mark.long

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


def complete(parser: Any, begun: str = "", name: str = "gpt2", **arguments: Any) -> str:
    from transformers import set_seed

    from larkspur.parserllm import complete_cf

    set_seed(3)
    return complete_cf("Write: ", parser, begun, tokenizer(name), model(name), **arguments)


def match(pattern: Any, **arguments: Any) -> str:
    from transformers import set_seed

    from larkspur.parserllm import complete_re

    set_seed(3)
    return complete_re("Write: ", pattern, tokenizer("gpt2"), model("gpt2"), **arguments)


@pytest.mark.parametrize("name", ["gpt2", "qwen3", "phi-3-mini"])
def test_json_as_its_readme_has_it(name: str) -> None:
    lark = pytest.importorskip("lark")
    ends = [[tokenizer(name).encode(end, add_special_tokens=False)[-1:], 12.0] for end in ('"', "]", "}", '"]')]
    parser = lark.Lark(JSON_GRAMMAR, parser="lalr")
    wish = {"max_new_tokens": 300, "do_sample": True, "sequence_bias": [[[tokenizer(name).eos_token_id], 20.0], *ends]}
    for given in (JSON_GRAMMAR, parser):
        text = complete(given, name=name, **wish)
        parser.parse(text)
        json.loads(text)
        begun = complete(given, '["a", {', name=name, **wish)
        assert begun.startswith('["a", {')


def test_a_number_is_not_cut_after_one_digit() -> None:
    text = complete("start: /[0-9]+/ \"!\"", max_new_tokens=50, do_sample=True)
    assert re.fullmatch(r"\d+!?", text) and len(text) > 2
    assert len(match(r"[0-9]+", max_new_tokens=20, stop_after_match=False)) > 1


def test_tokens_cross_terminals_and_ignored_text_appears() -> None:
    # ` the` is one token, of ignored text and a terminal.
    wishes = [[tokenizer("gpt2").encode(word), 100.0] for word in ("of", " the", "end", "<|endoftext|>")]
    text = complete('start: "of" "the" "end"\n%ignore " "', max_new_tokens=9, sequence_bias=wishes)
    assert text == "of theend"


def test_grammars_that_no_lalr_parser_reads() -> None:
    palindromes = 'start: "a" start "a" | "b" start "b" | "c"'
    text = complete(palindromes, max_new_tokens=60, sequence_bias=[[[tokenizer("gpt2").encode("c")[0]], 20.0]])
    assert "c" in text and text == text[::-1]


def test_budgets_and_beginnings() -> None:
    assert complete('start: "ab"', "a", max_new_tokens=0) == "a"
    assert complete('start: "ab"', "ab", max_new_tokens=5) == "ab"
    assert complete('start: "ab"', "a", max_new_tokens=5) == "ab"
    with pytest.raises(TextRejected):
        complete('start: "ab"', "b")
    with pytest.raises(GrammarError):
        complete("start: b")


def test_debug_shows_the_steps(capsys: pytest.CaptureFixture[str]) -> None:
    complete('start: "ab" "!"', max_new_tokens=5, debug=True)
    assert "step=0 completion=\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "pattern",
    [
        re.compile(r"Re[a-z]+ L[a-z]+ L[a-z]+ M[a-z]+"),
        re.compile(r'\["[a-z]", "[a-z]", "[a-z]"\]'),
        re.compile(r"(Yes|No)", re.IGNORECASE),
        re.compile(r"[0-9]{2}/[0-9]{2}/[0-9]{4}"),
        re.compile(r"a  # one letter\n /", re.VERBOSE),
        r"\d{3}",
        [r"abc+", re.compile(r"x|y/")],
    ],
    ids=str,
)
def test_patterns(pattern: Any) -> None:
    eos = tokenizer("gpt2").eos_token_id
    text = match(pattern, max_new_tokens=80, do_sample=True, sequence_bias=[[[eos], 20.0]])
    patterns = pattern if isinstance(pattern, list) else [pattern]
    assert any(re.fullmatch(one, text) for one in patterns), text


def test_wrong_patterns() -> None:
    with pytest.raises(GrammarError):
        match("a(")
    with pytest.raises(TypeError):
        match(re.compile(b"a"))
    with pytest.raises(ValueError):
        match([])
