"""Schemas without values: what llguidance says of bounds that exclude each other, which clients compare word by word."""

import re
from decimal import Decimal
from typing import Any, TypeGuard

from larkspur import Diagnostic

from ._schemas import at, schemas

_EXCLUDE = re.compile(r"no value is valid for the schema at the root: (.*) exclude each other")
_LEAVES_NONE = re.compile(r"no value is valid for the schema at the root(?:: `(allOf|anyOf)` leaves none)?")
_REQUIRED = re.compile(r"no value is valid for the schema at `/properties/([^/`]*)`.*")


def said(diagnostic: Diagnostic, grammar: str) -> str | None:
    """llguidance's sentence of a `J020` about the bounds of a schema in a grammar; `None` if it is of something else."""
    message = diagnostic.message
    if found := _EXCLUDE.fullmatch(message):
        # With the place of each in the schema, where that is not at the root.
        places = re.findall(r"`(\w+)`(?: at `([^`]*)`)?", found[1])
        pointers = {name: pointer or f"/{name}" for name, pointer in places}
        for schema in schemas(grammar):
            values = {name: at(schema, pointer) for name, pointer in pointers.items()}
            if sentence := _bounds(values):
                return f"Unsatisfiable schema: {sentence}"
    elif found := _REQUIRED.fullmatch(message):
        return f"Unsatisfiable schema: required property '{found[1]}' is unsatisfiable"
    elif found := _LEAVES_NONE.fullmatch(message):
        for schema in schemas(grammar):
            parts = schema.get(found[1]) if isinstance(schema, dict) and found[1] else [schema]
            if isinstance(parts, list) and any(part is False for part in parts):
                return "Unsatisfiable schema: schema is false"
    return None


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
