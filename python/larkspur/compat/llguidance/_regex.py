r"""`regex_to_lark`: a regex as it is written between the slashes of a Lark grammar."""

import re

from ._compile import list_of_lark
from ._util import expect

_ASCII = {"d": "0-9", "w": "0-9a-zA-Z_", "s": r" \t\n\r\f\v"}
_CONTROLS = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_PART = re.compile(r"\\.|[/\n\r\t]", re.DOTALL)


def regex_to_lark(regex: str, use_ascii: str | None = None) -> str:
    r"""The regex with `/` and line breaks escaped.

    `use_ascii` says which of `\d`, `\w` and `\s` (and their opposites) are to match ASCII only: `d` for `\d`, `dw` as in
    JSON Schema, `dws` as in Python's regexes over bytes; `""` and `None` for Unicode as in Python 3.
    """
    expect(regex, str)
    if use_ascii is None:
        use_ascii = ""
    expect(use_ascii, str)

    def written(part: re.Match[str]) -> str:
        text = part[0]
        if len(text) == 1:
            return _CONTROLS.get(text, "\\" + text)
        letter = text[1]
        if letter.lower() in use_ascii and letter.lower() in _ASCII:
            return f"[{'^' if letter.isupper() else ''}{_ASCII[letter.lower()]}]"
        return text

    return _PART.sub(written, regex)


def grammar_of_regex(regex: str) -> str:
    """A list of grammars, as JSON, with a regex in the syntax of Rust's `regex` crate."""
    body = f"/{regex_to_lark(regex, '')}/" if regex else '""'
    return list_of_lark("regex", f"start: {body}")
