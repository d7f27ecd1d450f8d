"""A client's grammar text, compiled: which of our languages it is in, and how mistakes are told."""

import json
import re
from typing import Any

from larkspur import Diagnostic, check

GrammarText = str | dict[str, Any]


# As llguidance has it: what cannot be enforced is refused unless the schema's options say `lenient`.
SPELLING = {"unknown_format": "error"}


def check_grammar(grammar: GrammarText, limits: dict[str, int]) -> tuple[bool, list[str]]:
    """Whether there are mistakes, and the mistakes (one text), or else the warnings. Any special token may be named."""
    try:
        text, kind = classified(grammar)
    except ValueError as error:
        return True, [str(error)]
    found = check(kind, text, llguidance_face=True, spelling=SPELLING, limits=limits)
    if any(map(_is_error, found)):
        return True, [message(found)]
    unchecked = len(re.findall(r"<\[[\^\d*,\- ]+\]>", text))
    times = [f"no tokenizer - can't validate <[...]> ({unchecked} times)"] if unchecked else []
    return False, times + [sentence(warning) for warning in found]


def message(diagnostics: list[Diagnostic]) -> str:
    """The errors among the diagnostics, each headed by its place as llguidance has it, `at LINE(COLUMN): `."""
    return "\n".join(map(_shown, filter(_is_error, diagnostics)))


def refused(warnings: list[Diagnostic]) -> bool:
    """Whether there is one among the warnings that llguidance takes for an error."""
    return any(map(_is_error, warnings))


def _is_error(diagnostic: Diagnostic) -> bool:
    # A field of `x-guidance`, `defaults` or `overrides` that there is not, or of another type, has no effect in Larkspur.
    return diagnostic.severity == "error" or diagnostic.code == "J032"


def _shown(error: Diagnostic) -> str:
    place = f"at {error.line}({error.column}): " if error.line is not None else ""
    # What is rendered begins with the message, too.
    frame = error.rendered.rstrip().partition("\n")[2]
    return f"{place}{sentence(error)} [{error.code}]\n{frame}".rstrip()


def sentence(diagnostic: Diagnostic) -> str:
    """The message, behind the words that clients of llguidance look for in it."""
    if diagnostic.code == "R032":
        return f"initial lexer configuration (grammar) too big: {diagnostic.message}"
    if diagnostic.code.startswith("R") and diagnostic.severity == "error":
        return f"invalid regex: {diagnostic.message}"
    if diagnostic.code == "J031":
        return f"Unknown format: {diagnostic.message}"
    if diagnostic.code == "J032":
        kind = "unknown field" if "is no option" in diagnostic.message else "invalid type or value"
        return f"{kind}: {diagnostic.message}"
    return diagnostic.message


def classified(grammar: GrammarText) -> tuple[str, str]:
    """The text and the kind that `larkspur.Engine.compile` has for it. Raises `ValueError` for what is neither a text nor a JSON object."""
    if isinstance(grammar, str):
        if not grammar.strip():
            raise ValueError("Empty grammar")
        return grammar, "list" if grammar.lstrip().startswith("{") else "lark"
    if not isinstance(grammar, dict):
        raise ValueError(f"a grammar is a text or a dict, not `{type(grammar).__name__}`")
    try:
        return json.dumps(grammar, ensure_ascii=False, allow_nan=False), "list"
    except (TypeError, ValueError) as error:
        raise ValueError(f"Value is not JSON serializable: {error}") from error


def list_of_lark(name: str, lark: str) -> str:
    """A list of grammars, as JSON, with one Lark text."""
    return json.dumps({"grammars": [{"name": name, "lark_grammar": lark}]}, ensure_ascii=False)
