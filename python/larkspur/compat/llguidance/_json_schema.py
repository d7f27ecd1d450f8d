"""JSON Schemas as grammars, with options."""

import json
from typing import Any, TypedDict


class JsonCompileOptions(TypedDict, total=False):
    """How JSON values are written; see `x-guidance` in docs/json_schema.md."""

    item_separator: str | None
    key_separator: str | None
    whitespace_pattern: str | None
    whitespace_flexible: bool | None
    coerce_one_of: bool | None
    lenient: bool | None
    json_allowed_escapes: str | None
    json_allow_general_unicode_escapes: bool | None


def grammar_of_schema(
    schema: str | dict[str, Any],
    defaults: JsonCompileOptions | None = None,
    overrides: JsonCompileOptions | None = None,
) -> str:
    """A list of grammars, as JSON, with the schema; `defaults`, the schema's `x-guidance` and `overrides` together are
    its `x-guidance`, where the later ones beat the earlier ones. Neither the schema nor the options are checked.

    Raises `ValueError` for what is not JSON, and for options where the schema is no object.
    """
    if defaults is None and overrides is None:
        # A text stays as it is: numbers may have more digits than Python's.
        text = _encodable(schema) if isinstance(schema, str) else _written(schema)
        return f'{{ "grammars": [{{ "json_schema": {text} }}] }}'
    value = json.loads(schema) if isinstance(schema, str) else schema
    if not isinstance(value, dict):
        raise ValueError("Expecting object schema to apply options")
    for given in (defaults, overrides):
        # An empty list is no options, as in llguidance.
        if given is not None and not isinstance(given, dict) and given != []:
            raise ValueError("JSON options are an object")
    options = _options(defaults) | _options(value.get("x-guidance")) | _options(overrides)
    if isinstance(schema, str) and "x-guidance" not in value:
        start = schema.index("{") + 1
        text = f'{_encodable(schema[:start])}"x-guidance":{_written(options)}{"," if value else ""}{_encodable(schema[start:])}'
    else:
        text = _written(value | {"x-guidance": options})
    return f'{{"grammars":[{{"name":"json_schema","json_schema":{text}}}]}}'


def _options(given: object) -> dict[str, Any]:
    """The fields that say something; llguidance takes `None` as if the field were not there. Unknown ones stay, for the
    error where the grammar is used."""
    if not isinstance(given, dict):
        return {}
    known = JsonCompileOptions.__annotations__
    return {key: part for key, part in given.items() if part is not None or key not in known}


def _written(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise ValueError(f"Value is not JSON serializable: {error}") from error
    return _encodable(text)


def _encodable(text: str) -> str:
    """The text. Raises `ValueError` for half of a surrogate pair, which no UTF-8 has."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"Value is not JSON serializable: {error}") from error
    return text
