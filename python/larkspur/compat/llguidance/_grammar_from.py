"""`grammar_from`: a grammar in any of the languages, as `LLMatcher` takes it."""

import json
from typing import Literal

from ._matcher import LLMatcher
from .gbnf_to_lark import any_to_lark

GrammarFormat = Literal[
    "lark",
    "gbnf",
    "ebnf",
    "cfg",
    "grammar",
    "json_schema",
    "json",
    "regex",
    "choice",
    "llguidance",
]


def grammar_from(format: GrammarFormat, text: str) -> str:
    """A grammar from a text of the given format.

    `gbnf`, `ebnf`, `cfg` and `grammar` are GBNF, or Lark if it looks like that; `choice` is a JSON array of strings, or a
    list of them; `llguidance` is a list of grammars as JSON.
    Raises `ValueError` for an unknown format, a mistake in GBNF and choices that are not JSON. Other mistakes show when
    the grammar is used.
    """
    if format == "lark":
        return LLMatcher.grammar_from_lark(text)
    if format in ("gbnf", "ebnf", "cfg", "grammar"):
        try:
            return LLMatcher.grammar_from_lark(any_to_lark(text))
        except Exception as error:
            raise ValueError(f"Failed to convert the grammar from GBNF to Lark: {error}") from error
    if format in ("json_schema", "json"):
        return LLMatcher.grammar_from_json_schema(text)
    if format == "regex":
        return LLMatcher.grammar_from_regex(text)
    if format == "choice":
        choices = json.loads(text) if isinstance(text, str) else text
        return LLMatcher.grammar_from_lark("start: " + " | ".join(_literal(choice) for choice in choices))
    if format == "llguidance":
        return text
    raise ValueError(f"Unknown grammar type: {format}")


def _literal(choice: object) -> str:
    return json.dumps(choice, ensure_ascii=False)
