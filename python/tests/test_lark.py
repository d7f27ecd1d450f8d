"""Patterns as Lark text: what `larkspur.parserllm` completes, without a model."""

from __future__ import annotations

import re
from typing import Any

import pytest

from larkspur import Engine, Grammar
from larkspur._lark import patterns_text


def accepts(grammar: Grammar, text: str) -> bool:
    matcher = grammar.matcher()
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


TEXTS = ["", "1", "٣", "a", "A", "ab", "AB", "a b", "a\nb", "a/b", "/", "\\/", "12\r\n", "k", "K", "\u212a", "\n"]


@pytest.mark.parametrize(
    "pattern",
    [
        re.compile(r"\d", re.ASCII),
        re.compile(r"\d"),
        re.compile("(?a)k", re.IGNORECASE),
        re.compile("k", re.IGNORECASE),
        re.compile("(?i)ab"),
        "(?#names)(?i)(?s)a.b",
        re.compile("\n  # first\n (?s) a . b", re.VERBOSE),
        "(?x) a  # one / two",
        re.compile("a\nb"),
        re.compile("a\\\nb"),
        re.compile("a\nb", re.VERBOSE),
        re.compile("a [\n ] b | a \\\n b", re.VERBOSE),
        re.compile("\\d+\r\n"),
        re.compile("a/b"),
        re.compile(r"[/]"),
        re.compile(r"\\/"),
        re.compile(".", re.DOTALL),
        "a|b",
        "",
    ],
    ids=str,
)
def test_patterns_match_what_they_match_in_python(engine: Engine, pattern: Any) -> None:
    grammar = engine.lark(patterns_text([pattern]), lexer="exact")
    assert [text for text in TEXTS if accepts(grammar, text)] == [text for text in TEXTS if re.fullmatch(pattern, text)]


def test_patterns_of_regex(engine: Engine) -> None:
    regex = pytest.importorskip("regex")
    grammar = engine.lark(patterns_text([regex.compile(r"\d", regex.ASCII), regex.compile("x", regex.IGNORECASE)]))
    assert accepts(grammar, "1") and accepts(grammar, "X") and not accepts(grammar, "٣")
    with pytest.raises(ValueError, match="VERSION1"):
        patterns_text([regex.compile("[a--b]", regex.VERSION1)])
