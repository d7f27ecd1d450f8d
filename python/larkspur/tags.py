"""Structural tags: free text, and tags in it whose contents are grammars."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ._schema import schema_text

__all__ = ["Tag", "Token"]


@dataclass(frozen=True)
class Token:
    """A token of the vocabulary by name, such as `<|python_tag|>`, which no text matches."""

    name: str


@dataclass(frozen=True)
class Tag:
    """What stands between `begin` and `end`: of one grammar, or, if none is given, any text without `end`."""

    begin: str | Token
    end: str | Token
    json_schema: Any = None
    """A dict, a JSON text or a pydantic model."""
    lark: str | None = None
    gbnf: str | None = None
    kbnf: str | None = None
    regex: str | None = None

    def arguments(self) -> tuple[tuple[bool, str], tuple[str, str] | None, tuple[bool, str]]:
        """As the engine takes it. Raises `ValueError` if there are two grammars, `TypeError` for a wrong schema."""
        contents = [
            (kind, text)
            for kind in ("lark", "gbnf", "kbnf", "regex")
            if (text := getattr(self, kind)) is not None
        ]
        if self.json_schema is not None:
            contents.append(("json_schema", schema_text(self.json_schema)))
        if len(contents) > 1:
            raise ValueError(f"the tag {self.begin!r} has {len(contents)} grammars; one at most is its content")
        return _mark(self.begin), contents[0] if contents else None, _mark(self.end)


def _mark(mark: str | Token) -> tuple[bool, str]:
    if isinstance(mark, Token):
        return True, mark.name
    if not isinstance(mark, str):
        raise TypeError(f"a tag begins and ends with a text or a larkspur.Token, not with {type(mark).__name__}")
    return False, mark
