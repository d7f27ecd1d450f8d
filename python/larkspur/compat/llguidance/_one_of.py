"""`oneOf` that `coerce_one_of` makes `anyOf`: what llguidance warns of where values may be valid for several of its schemas."""

import itertools
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from ._schemas import at, schemas

_WARNING = "oneOf not fully supported, falling back to anyOf. This may cause validation errors in some cases."
# Keywords whose values are no schemas.
_VALUES = ("const", "enum", "default", "examples")
# References that are followed, one from the other.
_DEPTH_MAX = 8


@lru_cache(maxsize=32)
def one_of_warnings(grammar: str) -> tuple[str, ...]:
    """The warning, with how often it is due; none if it is not."""
    if '"coerce_one_of"' not in grammar.replace("\\", ""):
        return ()
    roots = [schema for schema in schemas(grammar) if _coerces(schema)]
    times = sum(_may_overlap(options, root) for root in roots for options in _one_ofs(root))
    return () if times == 0 else (_WARNING if times == 1 else f"{_WARNING} ({times} times)",)


def _coerces(schema: Any) -> bool:
    options = schema.get("x-guidance") if isinstance(schema, dict) else None
    return isinstance(options, dict) and options.get("coerce_one_of") is True


def _one_ofs(schema: Any) -> Iterator[list[Any]]:
    """The schemas of each `oneOf`, but for those within another."""
    if isinstance(schema, list):
        for part in schema:
            yield from _one_ofs(part)
    elif isinstance(schema, dict):
        options = schema.get("oneOf")
        if isinstance(options, list):
            yield options
        for name, part in schema.items():
            if name not in _VALUES and (name != "oneOf" or not isinstance(part, list)):
                yield from _one_ofs(part)


def _may_overlap(options: list[Any], root: Any) -> bool:
    return any(not _are_disjoint(a, b, root, 0) for a, b in itertools.combinations(options, 2))


def _are_disjoint(a: Any, b: Any, root: Any, depth: int) -> bool:
    """Whether types, constants and what properties must be tell two schemas apart."""
    if a is False or b is False:
        return True
    if not isinstance(a, dict) or not isinstance(b, dict) or depth == _DEPTH_MAX:
        return False
    for one, other in ((a, b), (b, a)):
        if isinstance(one.get("$ref"), str):
            return _are_disjoint(at(root, one["$ref"].removeprefix("#")), other, root, depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if isinstance(one.get(keyword), list):
                return all(_are_disjoint(part, other, root, depth + 1) for part in one[keyword])
    constants, others = _constants(a), _constants(b)
    if constants is not None and others is not None and not constants & others:
        return True
    if not _types(a) & _types(b):
        return True
    both = set(a.get("required", ())) & set(b.get("required", ()))
    return any(_are_disjoint(at(a, f"/properties/{name}"), at(b, f"/properties/{name}"), root, depth + 1) for name in both)


def _constants(schema: dict[str, Any]) -> set[str] | None:
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return None if values is None else {repr(value) for value in values}


_ALL_TYPES = {"null", "boolean", "object", "array", "string", "number", "integer"}


def _types(schema: dict[str, Any]) -> set[str]:
    types = schema.get("type", sorted(_ALL_TYPES))
    named = {types} if isinstance(types, str) else set(types)
    return named | ({"integer"} if "number" in named else set())
