"""Schemas in the shapes that Python programs have them."""

from __future__ import annotations

import json
import re
import types
from typing import Any


def schema_text(schema: Any) -> str:
    """The text of a JSON Schema: a string as it is, a dict or bool dumped, a pydantic model or type asked.

    Raises `TypeError` for anything else.
    """
    if isinstance(schema, str):
        return schema
    if isinstance(schema, (dict, bool)):
        return _json(schema)
    model_json_schema = getattr(schema, "model_json_schema", None)
    if callable(model_json_schema):
        return _json(model_json_schema())
    # A type, such as `list[int]`, or a `TypeAdapter`.
    json_schema = getattr(schema, "json_schema", None)
    if callable(json_schema):
        return _json(json_schema())
    try:
        from pydantic import TypeAdapter
    except ImportError:
        pass
    else:
        if _is_type(schema):
            return _json(TypeAdapter(schema).json_schema())
    raise TypeError(f"a schema is a dict, a bool, a JSON text or a pydantic model, not {type(schema).__name__}")


def _is_type(schema: Any) -> bool:
    """Whether it is a class, or one of the forms of `typing`: `list[int]`, `int | None`, a `NewType`, `type X = …`."""
    forms = ("__origin__", "__supertype__", "__value__")
    return isinstance(schema, (type, types.UnionType)) or any(hasattr(schema, form) for form in forms)


def _json(schema: Any) -> str:
    """Dumped, with halves of surrogate pairs as escapes, which no UTF-8 has."""
    text = json.dumps(schema, ensure_ascii=False)
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text)
