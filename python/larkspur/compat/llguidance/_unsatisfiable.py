"""Schemas without values: what llguidance says of bounds that exclude each other, which clients compare word by word."""

import re
from decimal import Decimal
from typing import Any, TypeGuard

from larkspur import Diagnostic

from ._schemas import at, schemas

_EXCLUDE = re.compile(r"no value is valid for the schema at the root: (.*) exclude each other")
_LEAVES_NONE = re.compile(r"no value is valid for the schema at the root(?:: `(allOf|anyOf|\$ref)` leaves none)?")
# Of a part that the schema must have.
_PART = re.compile(r"no value is valid for the schema at `/(properties|additionalProperties|prefixItems|items)(?:/([^/`]*))?`.*")


def said(diagnostic: Diagnostic, grammar: str) -> str | None:
    """llguidance's sentence of a `J020` about the bounds of a schema in a grammar; `None` if it is of something else."""
    message = diagnostic.message
    if found := _EXCLUDE.fullmatch(message):
        # With the place of each in the schema, where that is not at the root.
        places = re.findall(r"`(\w+)`(?: at `([^`]*)`)?", found[1])
        pointers = {name: pointer or f"/{name}" for name, pointer in places}
        for schema in schemas(grammar):
            values = {name: at(schema, pointer) for name, pointer in pointers.items()}
            if sentence := _bounds(values) or _parts(values):
                return f"Unsatisfiable schema: {sentence}"
    elif found := _PART.fullmatch(message):
        for schema in schemas(grammar):
            if sentence := _part(schema, found[1], found[2]):
                return f"Unsatisfiable schema: {sentence}"
    elif found := _LEAVES_NONE.fullmatch(message):
        for schema in schemas(grammar):
            if sentence := _alternatives(schema, found[1]):
                return f"Unsatisfiable schema: {sentence}"
    return None


def _alternatives(schema: Any, keyword: str | None) -> str | None:
    """What is wrong with the schemas of a keyword, of which none is left, or with the schema itself."""
    parts = schema.get(keyword) if isinstance(schema, dict) and keyword else schema
    if keyword == "$ref" and isinstance(parts, str):
        parts = at(schema, parts.removeprefix("#"))
    parts = parts if isinstance(parts, list) else [parts]
    # Of several alternatives the last one is what llguidance speaks of.
    bounds = (_bounds(part) for part in reversed(parts) if isinstance(part, dict) and keyword != "allOf")
    return next(filter(None, bounds), "schema is false" if any(part is False for part in parts) else None)


def _parts(values: dict[str, Any]) -> str | None:
    """What is wrong with these keywords of a schema, if it is a property or an element that must be and cannot."""
    properties, required = values.get("properties"), values.get("required")
    if isinstance(required, list):
        properties = properties if isinstance(properties, dict) else {}
        others = values.get("additionalProperties")
        name = next((name for name in required if properties.get(name, others) is False), None)
        return None if name is None else f"required property '{name}' is unsatisfiable"
    first = values.get("prefixItems")
    if isinstance(first, list) and False in first:
        return _part(values, "prefixItems", str(first.index(False)))
    return _part(values, "items", None) if values.get("items") is False and "minItems" in values else None


def _part(schema: Any, keyword: str, name: str | None) -> str | None:
    """That a property or an element must be and cannot."""
    if keyword == "properties":
        return f"required property '{name}' is unsatisfiable"
    if keyword == "additionalProperties":
        return _parts({**schema, keyword: False}) if isinstance(schema, dict) else None
    if keyword == "prefixItems":
        return f"prefixItems[{name}] is unsatisfiable but minItems is {schema.get('minItems')}"
    return "required item is unsatisfiable"


def _bounds(values: dict[str, Any]) -> str | None:
    """What is wrong with these keywords of a schema, if it is their numbers."""
    for low, high in (("minItems", "maxItems"), ("minLength", "maxLength")):
        if _is_above(values, low, high):
            return f"{low} ({_number(values[low])}) is greater than {high} ({_number(values[high])})"
    if _is_above(values, "minProperties", "maxProperties"):
        return "minProperties > maxProperties"
    required = values.get("required")
    if isinstance(required, list) and _is_above({**values, "required": len(required)}, "required", "maxProperties"):
        return "required > maxProperties"
    for low in ("minimum", "exclusiveMinimum"):
        for high in ("maximum", "exclusiveMaximum"):
            if sentence := _interval(values, low, high):
                return sentence
    return None


def _interval(values: dict[str, Any], low: str, high: str) -> str | None:
    least, most = values.get(low), values.get(high)
    if not _is_number(least) or not _is_number(most):
        return None
    if least > most:
        return f"{low} ({_number(least)}) is greater than {high} ({_number(most)})"
    if least == most and "exclusive" in low + high:
        return f"{low} ({_number(least)}) is equal to {high} ({_number(most)})"
    if values.get("type") == "integer" and "multipleOf" not in values:
        begin, end = "(" if low.startswith("exclusive") else "[", ")" if high.startswith("exclusive") else "]"
        return f"integer interval {begin}{_number(least)}, {_number(most)}{end} contains no integer values"
    return None


def _is_above(values: dict[str, Any], low: str, high: str) -> bool:
    least, most = values.get(low), values.get(high)
    return _is_number(least) and _is_number(most) and least > most


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _number(value: float) -> str:
    """A number as Rust writes it: all its digits, without an exponent, nor a fraction of zeros."""
    digits = format(Decimal(repr(value)), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
