"""`StructTag`: calls of functions in the middle of free text."""

import json
from collections.abc import Sequence
from typing import Any


class StructTag:
    """What must follow once `trigger` has been written: the rest of `begin`, a text of `grammar`, and `end`.

    `grammar` is a JSON Schema (a dict, or a text that begins with `{`) or a Lark text; a text of the form
    `{"grammars": […]}`, as `LLMatcher.grammar_from_json_schema` makes it, counts as what it holds.
    Raises `AssertionError` if `trigger` is empty or `begin` does not start with it.
    """

    def __init__(self, *, trigger: str, begin: str, grammar: str | dict[str, Any], end: str) -> None:
        self.trigger = trigger
        self.begin = begin
        self.grammar = grammar
        self.end = end
        self._validate()

    def _validate(self) -> None:
        assert self.trigger, "trigger must not be empty"
        assert self.begin.startswith(self.trigger), "begin must start with trigger"

    @staticmethod
    def to_grammar(tags: Sequence["StructTag"], *, assume_special: bool = True, text_regex: str = r"(.|\n)*") -> str:
        """Free text that matches `text_regex`, with calls in it, as a Lark text or a list of grammars.

        With `assume_special` a trigger of the form `<…>` is the special token of that name.
        Raises `AssertionError` for an empty list, for what is no `StructTag` and for a `/` in `text_regex`, `ValueError`
        for a grammar of another type.
        """
        assert tags, "tags must not be empty"
        assert "/" not in text_regex, "text_regex must not contain /"
        rules = [
            "%llguidance {}",
            f"start: ({' | '.join(f'tag_{index}' for index in range(len(tags)))})* tag_end",
            "tag_end: TAG_TEXT",
            f"TAG_TEXT: /{text_regex}/",
        ]
        others: list[dict[str, Any]] = []
        for index, tag in enumerate(tags):
            assert isinstance(tag, StructTag), "tags must be StructTag instances"
            tag._validate()
            name = f"tag_{index}"
            body = " ".join(
                filter(None, (_literal(tag.begin[len(tag.trigger) :]), _body(tag, name, others), _literal(tag.end)))
            )
            if assume_special and tag.trigger.startswith("<") and tag.trigger.endswith(">"):
                rules.append(f"{name}: TAG_TEXT {tag.trigger} {body}")
            else:
                rules.append(f"{name}_trig[lazy]: TAG_TEXT {_literal(tag.trigger)}")
                rules.append(f"{name}: {name}_trig {body}")
        lark = "\n".join(rules) + "\n"
        if others:
            return json.dumps({"grammars": [{"name": "struct_tag", "lark_grammar": lark}, *others]}, ensure_ascii=False)
        return lark


def _literal(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if text else ""


def _body(tag: StructTag, name: str, others: list[dict[str, Any]]) -> str:
    """What stands for the tag's grammar in a rule; a grammar of its own is added to `others`."""
    grammar = tag.grammar
    if isinstance(grammar, dict):
        return f"%json {json.dumps(grammar, ensure_ascii=False)}"
    if not isinstance(grammar, str):
        raise ValueError("grammar must be a string or a dictionary")
    if not grammar.lstrip().startswith("{"):
        others.append({"name": f"{name}_grm", "lark_grammar": grammar})
        return f"@{name}_grm"
    wrapped = _wrapped(grammar)
    if wrapped is None:
        return f"%json {grammar}"
    if "json_schema" in wrapped:
        return f"%json {json.dumps(wrapped['json_schema'], ensure_ascii=False)}"
    others.append({"name": f"{name}_grm", "lark_grammar": wrapped["lark_grammar"]})
    return f"@{name}_grm"


def _wrapped(text: str) -> dict[str, Any] | None:
    """The only grammar of a text of the form `{"grammars": [{…}]}`; `None` for others, which are schemas.

    llguidance reads such a text as a schema with an unknown keyword, which every value satisfies.
    """
    try:
        value = json.loads(text)
    except ValueError:
        return None
    grammars = value.get("grammars") if isinstance(value, dict) else None
    if not isinstance(grammars, list):
        return None
    present = [{key: part for key, part in grammar.items() if part is not None} for grammar in grammars]
    if len(present) != 1 or not {"json_schema", "lark_grammar"} & present[0].keys():
        raise ValueError("grammar must be a JSON Schema or a Lark text, not a list of grammars")
    return present[0]
