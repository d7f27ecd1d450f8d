"""What Python has of grammars, as Lark text: patterns."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

_FLAGS = {re.ASCII: "a", re.IGNORECASE: "i", re.MULTILINE: "m", re.DOTALL: "s", re.VERBOSE: "x"}
# The package `regex` has other numbers, and flags that change what a pattern means.
_REGEX_FLAGS = {0x80: "a", 0x2: "i", 0x8: "m", 0x10: "s", 0x40: "x"}
_REGEX_ONLY = {0x100: "VERSION1", 0x800: "WORD", 0x4000: "FULLCASE"}


def patterns_text(patterns: Sequence[Any]) -> str:
    """A grammar of the texts that one of the patterns matches: compiled ones (of `re` or `regex`), or their texts.

    Raises `TypeError` for bytes, and `ValueError` for no patterns and for flags of `regex` that Larkspur does not have.
    """
    if not patterns:
        raise ValueError("one pattern at least is needed")
    lines = ["start: " + " | ".join(f"PATTERN_{index}" for index in range(len(patterns)))]
    for index, pattern in enumerate(patterns):
        text = pattern if isinstance(pattern, (str, bytes)) else pattern.pattern
        if isinstance(text, bytes):
            raise TypeError("patterns are of text, not of bytes")
        flags = 0 if isinstance(pattern, str) else pattern.flags
        lines.append(f"PATTERN_{index}: {_regex(text, _letters(flags, of_re=isinstance(pattern, (str, re.Pattern))))}")
    return "\n".join(lines) + "\n"


def _letters(flags: int, *, of_re: bool = True) -> set[str]:
    """Flags as in `(?i)`. Raises `ValueError` for those of `regex` that Larkspur does not have."""
    for flag, name in ({} if of_re else _REGEX_ONLY).items():
        if flags & flag:
            raise ValueError(f"Larkspur does not have the flag {name} of `regex`")
    return {letter for flag, letter in (_FLAGS if of_re else _REGEX_FLAGS).items() if flags & flag}


def _regex(pattern: str, flags: Iterable[str] = ()) -> str:
    letters = set(flags)
    while found := (_VERBOSE_START if "x" in letters else _START).match(pattern):
        letters |= set(found[1])
        pattern = pattern[found.end() :]
    # A slash ends the regex in Lark.
    pattern = re.sub(r"(\\.)|/", lambda found: found[1] or r"\/", pattern, flags=re.DOTALL)
    on = "".join(letter for letter in "aiLmsx" if letter in letters)
    # With `x` behind the slash the regex may go over lines; what white space means in it is up to the group.
    return f"/(?{on}:{pattern}\n)/x" if "x" in letters else f"/(?{on}-x:{pattern})/x"


# Flags for the whole pattern, with comments before them.
_START = re.compile(r"(?:\(\?#[^)]*\))*\(\?([aiLmsux]+)\)")
_VERBOSE_START = re.compile(r"(?:\s|#[^\n]*\n|\(\?#[^)]*\))*\(\?([aiLmsux]+)\)")
