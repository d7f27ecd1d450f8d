"""`oneOf` that `coerce_one_of` makes `anyOf`: what llguidance warns of where values may be valid for several of its schemas."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

from ._schemas import at, schemas

_WARNING = "oneOf not fully supported, falling back to anyOf. This may cause validation errors in some cases."
# Keywords whose values are no schemas.
_VALUES = ("const", "enum", "default", "examples")
# Schemas within each other that are looked at, references followed, and ways in which one may be valid.
_DEPTH_MAX = 8
_WAYS_MAX = 64
# Steps of one grammar, some tenths of a second: behind them values are taken to be valid for several.
_STEPS_MAX = 200_000


@lru_cache(maxsize=32)
def one_of_warnings(grammar: str) -> tuple[str, ...]:
    """The warning, with how often it is due; none if it is not."""
    if '"coerce_one_of"' not in grammar.replace("\\", ""):
        return ()
    lookers = [(root, _Looker(root)) for root in schemas(grammar) if _coerces(root)]
    times = sum(any(map(looker.may_overlap, here)) for root, looker in lookers for here in _places(root))
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
                for number, each in enumerate(part):
                    yield from _elsewhere(each, {"allOf": [beside, *part[:number], *part[number + 1 :]]}, here)
            case "anyOf", list():
                for option in part:
                    own: list[_OneOf] = []
                    yield from _elsewhere(option, beside, own)
                    yield own
            case _ if name not in _VALUES:
                yield from _places(part)


@dataclass(frozen=True)
class _Way:
    """What holds of a value at once: schemas without `allOf`, `anyOf`, `oneOf` and references."""

    parts: tuple[dict[str, Any], ...] = field(default=())

    @cached_property
    def types(self) -> set[str]:
        return set(_ALL_TYPES).intersection(*map(_types, self.parts))

    @cached_property
    def constants(self) -> set[tuple[str, Any]] | None:
        """The values of the right types, if they are listed."""
        listed = [constants for part in self.parts if (constants := _constants(part)) is not None]
        return _of_types(set.intersection(*listed), self.types) if listed else None

    @cached_property
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


class _Looker:
    """Looks for schemas that a value may be valid for at once, in a schema that references lead into."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._steps_left = _STEPS_MAX

    def may_overlap(self, one_of: _OneOf) -> bool:
        """Whether a value may be valid for two of the schemas."""
        around, options = one_of
        ways = [self._ways({"allOf": [around, option]}, 0) for option in options]
        listed = [way.constants for each in ways for way in each if way.constants is not None]
        if len(listed) == sum(map(len, ways)) and sum(map(len, listed)) == len(set().union(*listed)):
            # A thousand constants have half a million pairs.
            return False
        return any(not self._are_disjoint(a, b, 0) for a, b in itertools.combinations(ways, 2))

    def _step(self) -> bool:
        self._steps_left -= 1
        return self._steps_left >= 0

    def _ways(self, schema: Any, depth: int) -> list[_Way]:
        """The ways in which a schema may be valid; one that says nothing if they are too many."""
        if schema is False:
            return []
        if not isinstance(schema, dict) or depth == _DEPTH_MAX or not self._step():
            return [_Way()]
        choices = [[_Way((schema,))]]
        if isinstance(schema.get("$ref"), str):
            choices.append(self._ways(at(self._root, schema["$ref"].removeprefix("#")), depth + 1))
        if isinstance(schema.get("allOf"), list):
            choices += [self._ways(part, depth + 1) for part in schema["allOf"]]
        for keyword in ("anyOf", "oneOf"):
            if isinstance(schema.get(keyword), list):
                choices.append([way for part in schema[keyword] for way in self._ways(part, depth + 1)])
        if math.prod(map(len, choices)) > _WAYS_MAX:
            return [_Way()]
        return [_Way(sum((way.parts for way in ways), ())) for ways in itertools.product(*choices)]

    def _are_disjoint(self, some: list[_Way], others: list[_Way], depth: int) -> bool:
        return all(self._exclude(a, b, depth) for a in some for b in others)

    def _exclude(self, a: _Way, b: _Way, depth: int) -> bool:
        """Whether types, constants, and what a property that one of them requires must be tell the two apart."""
        if not self._step():
            return False
        types = a.types & b.types
        if not types:
            return True
        constants = [way.constants for way in (a, b) if way.constants is not None]
        if constants:
            return not _of_types(set.intersection(*constants), types)
        if types != {"object"} or depth == _DEPTH_MAX:
            return False
        return any(self._differs(name, a, b, depth + 1) for name in a.required | b.required)

    def _differs(self, name: str, a: _Way, b: _Way, depth: int) -> bool:
        some, others = (self._ways(way.property(name), 0) for way in (a, b))
        return self._are_disjoint(some, others, depth)


def _of_types(values: set[tuple[str, Any]], types: set[str]) -> set[tuple[str, Any]]:
    """The values of these types."""
    return {value for value in values if value[0] in types or value[0] == "number" and "integer" in types}


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
    types = schema.get("type")
    if isinstance(types, str):
        types = [types]
    # What is no list of names stands where no schema is read.
    named = {name for name in types if isinstance(name, str)} if isinstance(types, list) else set(_ALL_TYPES)
    return named | ({"integer"} if "number" in named else set())
