"""The schemas in a client's grammar, for what is said of them besides mistakes."""

import json
import re
from collections.abc import Iterator
from typing import Any


def schemas(grammar: str) -> Iterator[Any]:
    """The schemas in a grammar: those of a list, and behind `%json`."""
    try:
        grammars = json.loads(grammar)["grammars"]
    except (ValueError, KeyError, TypeError, RecursionError):
        grammars = [{"lark_grammar": grammar}]
    for each in grammars if isinstance(grammars, list) else ():
        if isinstance(each, dict):
            # A list as llguidance writes it has every field, `null` where it says nothing.
            if each.get("json_schema") is not None:
                yield each["json_schema"]
            yield from _in_lark(str(each.get("lark_grammar", "")))


def _in_lark(lark: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    for found in re.finditer(r"%json\s*", lark):
        try:
            yield decoder.raw_decode(lark, found.end())[0]
        except (ValueError, RecursionError):
            continue


def at(schema: Any, pointer: str) -> Any:
    """What stands at a JSON pointer; `None` if that is nothing."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict):
            schema = schema.get(name)
        elif isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return None
    return schema
