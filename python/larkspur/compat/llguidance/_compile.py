"""A client's grammar text, compiled: which of our languages it is in, and how mistakes are told."""

import json
import re
from typing import Any

from larkspur import Diagnostic, check

from ._one_of import one_of_warnings
from ._phrases import phrased
from ._unsatisfiable import said

GrammarText = str | dict[str, Any]


# As llguidance has it: what cannot be enforced is refused unless the schema's options say `lenient`.
SPELLING = {"unknown_format": "error"}
# The name of the source that is a list of grammars itself.
_LIST = "<list>"


def check_grammar(grammar: GrammarText, limits: dict[str, int]) -> tuple[bool, list[str]]:
    """Whether there are mistakes, and the mistakes (one text), or else the warnings. Any special token may be named."""
    try:
        text, kind = classified(grammar)
    except ValueError as error:
        return True, [str(error)]
    found = check(kind, text, llguidance_face=True, spelling=SPELLING, limits=limits)
    if any(map(_is_error, found)):
        return True, [message(found, text)]
    unchecked = len(re.findall(r"<\[[\^\d*,\- ]+\]>", text))
    times = [f"no tokenizer - can't validate <[...]> ({unchecked} times)"] if unchecked else []
    return False, times + warned(found, text)


def message(diagnostics: list[Diagnostic], grammar: str) -> str:
    """The errors among the diagnostics of a grammar's text, each headed by its place as llguidance has it, `at LINE(COLUMN): `."""
    return "\n".join(_shown(error, grammar) for error in diagnostics if _is_error(error))


def warned(warnings: list[Diagnostic], grammar: str) -> list[str]:
    """The warnings of a grammar's text, as llguidance's clients look for them."""
    return [*one_of_warnings(grammar), *map(phrased, warnings)]


def refused(warnings: list[Diagnostic]) -> bool:
    """Whether there is one among the warnings that llguidance takes for an error."""
    return any(map(_is_error, warnings))


def _is_error(diagnostic: Diagnostic) -> bool:
    # A field of `x-guidance`, `defaults` or `overrides` that there is not, or of another type, has no effect in Larkspur.
    return diagnostic.severity == "error" or diagnostic.code == "J032"


def _shown(error: Diagnostic, grammar: str) -> str:
    # A schema in a list has no lines: neither llguidance's sentence nor ours is headed by a place, and bounds have that
    # sentence alone, as clients compare it.
    is_listed = error.source == _LIST and error.code.startswith("J")
    theirs = said(error, grammar) if error.code == "J020" else None
    if is_listed and theirs is not None:
        return theirs
    told = f"{theirs} ({error.message})" if theirs is not None else phrased(error)
    if error.code.startswith("J") and not is_listed:
        told = f"failed to compile JSON schema: {told}"
    place = f"at {error.line}({error.column}): " if error.line is not None and not is_listed else ""
    # What is rendered begins with the message, too.
    frame = error.rendered.rstrip().partition("\n")[2]
    return f"{place}{told} [{error.code}]\n{frame}".rstrip()


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
