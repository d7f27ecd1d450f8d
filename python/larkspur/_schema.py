"""Schemas in the shapes that Python programs have them."""

from __future__ import annotations

import json
from typing import Any


def schema_text(schema: Any) -> str:
    """The text of a JSON Schema: a string as it is, a dict or bool dumped, a pydantic model or type asked.

    Raises `TypeError` for anything else.
    """
    if isinstance(schema, str):
        return schema
    if isinstance(schema, (dict, bool)):
        return json.dumps(schema, ensure_ascii=False)
    model_json_schema = getattr(schema, "model_json_schema", None)
    if callable(model_json_schema):
        return json.dumps(model_json_schema(), ensure_ascii=False)
    # A type, such as `list[int]`, or a `TypeAdapter`.
    json_schema = getattr(schema, "json_schema", None)
    if callable(json_schema):
        return json.dumps(json_schema(), ensure_ascii=False)
    try:
        from pydantic import TypeAdapter
    except ImportError:
        pass
    else:
        if isinstance(schema, type) or hasattr(schema, "__origin__"):
            return json.dumps(TypeAdapter(schema).json_schema(), ensure_ascii=False)
    raise TypeError(f"a schema is a dict, a bool, a JSON text or a pydantic model, not {type(schema).__name__}")
