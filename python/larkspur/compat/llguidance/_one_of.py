"""`oneOf` that `coerce_one_of` makes `anyOf`: what llguidance warns of where values may be valid for several of its schemas."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ._schemas import at, schemas

_WARNING = "oneOf not fully supported, falling back to anyOf. This may cause validation errors in some cases."
# Keywords whose values are no schemas.
_VALUES = ("const", "enum", "default", "examples")
# Schemas within each other that are looked at, references followed, and ways in which one may be valid.
_DEPTH_MAX = 8
_WAYS_MAX = 64


@lru_cache(maxsize=32)
def one_of_warnings(grammar: str) -> tuple[str, ...]:
    """The warning, with how often it is due; none if it is not."""
    if '"coerce_one_of"' not in grammar.replace("\\", ""):
        return ()
    roots = [schema for schema in schemas(grammar) if _coerces(schema)]
    times = sum(any(_may_overlap(each, root) for each in here) for root in roots for here in _places(root))
    return () if times == 0 else (_WARNING if times == 1 else f"{_WARNING} ({times} times)",)


def _coerces(schema: Any) -> bool:
    options = schema.get("x-guidance") if isinstance(schema, dict) else None
    return isinstance(options, dict) and options.get("coerce_one_of") is True


# What a `oneOf` stands in, and its schemas.
_OneOf = tuple[dict[str, Any], list[Any]]


def _places(schema: Any) -> Iterator[list[_OneOf]]:
    """What is said by `oneOf` of the value in each place: also within another `oneOf` or an `allOf`."""
    if isinstance(schema, list):
        for part in schema:
            yield from _places(part)
    elif isinstance(schema, dict):
        here: list[_OneOf] = []
        yield from _elsewhere(schema, {}, here)
        yield here


def _elsewhere(schema: Any, around: dict[str, Any], here: list[_OneOf]) -> Iterator[list[_OneOf]]:
    """The other places in a schema, of whose own what is said is added to `here`. `around` holds of its value, too."""
    for name, part in schema.items() if isinstance(schema, dict) else ():
        beside = {"allOf": [around, {other: value for other, value in schema.items() if other != name}]}
        match name, part:
            case "oneOf", list():
                here.append((beside, part))
                for option in part:
                    yield from _elsewhere(option, beside, here)
            case "allOf", list():
                for at, each in enumerate(part):
                    yield from _elsewhere(each, {"allOf": [beside, *part[:at], *part[at + 1 :]]}, here)
            case "anyOf", list():
                for option in part:
                    own: list[_OneOf] = []
                    yield from _elsewhere(option, beside, own)
                    yield own
            case _ if name not in _VALUES:
                yield from _places(part)


def _may_overlap(one_of: _OneOf, root: Any) -> bool:
    """Whether a value may be valid for two of the schemas."""
    around, options = one_of
    ways = [_ways({"allOf": [around, option]}, root, 0) for option in options]
    return any(not _are_disjoint(a, b, root, 0) for a, b in itertools.combinations(ways, 2))


@dataclass(frozen=True)
class _Way:
    """What holds of a value at once: schemas without `allOf`, `anyOf`, `oneOf` and references."""

    parts: tuple[dict[str, Any], ...] = field(default=())

    def types(self) -> set[str]:
        return set(_ALL_TYPES).intersection(*map(_types, self.parts))

    def constants(self) -> set[tuple[str, Any]] | None:
        """The values of the right types, if they are listed."""
        listed = [constants for part in self.parts if (constants := _constants(part)) is not None]
        types = self.types()
        if "integer" in types:
            types.add("number")
        return {value for value in set.intersection(*listed) if value[0] in types} if listed else None

    def required(self) -> set[str]:
        names = (part.get("required") for part in self.parts)
        return {name for each in names if isinstance(each, list) for name in each if isinstance(name, str)}

    def property(self, name: str) -> dict[str, Any]:
        """What holds of a property."""
        found = []
        for part in self.parts:
            properties = part.get("properties")
            if isinstance(properties, dict) and name in properties:
                found.append(properties[name])
            elif "patternProperties" not in part:
                found.append(part.get("additionalProperties", True))
        return {"allOf": found}


def _ways(schema: Any, root: Any, depth: int) -> list[_Way]:
    """The ways in which a schema may be valid; one that says nothing if they are too many."""
    if schema is False:
        return []
    if not isinstance(schema, dict) or depth == _DEPTH_MAX:
        return [_Way()]
    choices = [[_Way((schema,))]]
    if isinstance(schema.get("$ref"), str):
        choices.append(_ways(at(root, schema["$ref"].removeprefix("#")), root, depth + 1))
    if isinstance(schema.get("allOf"), list):
        choices += [_ways(part, root, depth + 1) for part in schema["allOf"]]
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list):
            choices.append([way for part in schema[keyword] for way in _ways(part, root, depth + 1)])
    if math.prod(map(len, choices)) > _WAYS_MAX:
        return [_Way()]
    return [_Way(sum((way.parts for way in ways), ())) for ways in itertools.product(*choices)]


def _are_disjoint(some: list[_Way], others: list[_Way], root: Any, depth: int) -> bool:
    return all(_exclude(a, b, root, depth) for a in some for b in others)


def _exclude(a: _Way, b: _Way, root: Any, depth: int) -> bool:
    """Whether types, constants, and what a property that one of them requires must be tell the two apart."""
    types = a.types() & b.types()
    if not types:
        return True
    constants = _Way(a.parts + b.parts).constants()
    if constants is not None:
        return not constants
    if types != {"object"} or depth == _DEPTH_MAX:
        return False

    def property_differs(name: str) -> bool:
        some, others = (_ways(way.property(name), root, 0) for way in (a, b))
        return _are_disjoint(some, others, root, depth + 1)

    return any(map(property_differs, a.required() | b.required()))


def _constants(schema: dict[str, Any]) -> set[tuple[str, Any]] | None:
    """Listed values, each with its type. Numbers are not told apart."""
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    return {_typed(value) for value in values} if isinstance(values, list) else None


def _typed(value: Any) -> tuple[str, Any]:
    match value:
        case None:
            return "null", None
        case bool():
            return "boolean", value
        case str():
            return "string", value
        case int() | float():
            return "number", None
        case dict():
            return "object", repr(value)
    return "array", repr(value)


_ALL_TYPES = ("null", "boolean", "object", "array", "string", "number", "integer")


def _types(schema: dict[str, Any]) -> set[str]:
    types = schema.get("type", list(_ALL_TYPES))
    named = {types} if isinstance(types, str) else set(types)
    return named | ({"integer"} if "number" in named else set())
