"""The compilers of earlier versions of llguidance, which clients still use."""

from ._compile import check_grammar, list_of_lark
from ._json_schema import JsonCompileOptions, grammar_of_schema
from ._matcher import LLMatcher
from ._util import expect

__all__ = ["JsonCompileOptions", "JsonCompiler", "LarkCompiler", "RegexCompiler"]


class JsonCompiler:
    """JSON Schemas with these options. `LLMatcher.grammar_from_json_schema` does the same."""

    def __init__(
        self,
        separators: tuple[str, str] | None = None,
        whitespace_flexible: bool = False,
        coerce_one_of: bool = False,
        whitespace_pattern: str | None = None,
        json_allowed_escapes: str | None = None,
        json_allow_general_unicode_escapes: bool = False,
    ) -> None:
        if separators is not None:
            expect(separators, tuple)
        item, key = separators or ((",", ":") if whitespace_flexible else (", ", ": "))
        self._options: JsonCompileOptions = {
            "item_separator": item,
            "key_separator": key,
            "whitespace_flexible": whitespace_flexible,
            "whitespace_pattern": whitespace_pattern,
            "coerce_one_of": coerce_one_of,
            "json_allowed_escapes": json_allowed_escapes,
            "json_allow_general_unicode_escapes": json_allow_general_unicode_escapes,
        }

    def compile(self, schema: str, check: bool = True) -> str:
        """The grammar of a schema. Raises `ValueError` for what is not JSON, and with `check` for other mistakes."""
        expect(schema, str)
        return _checked(grammar_of_schema(schema, overrides=self._options), check)


class LarkCompiler:
    """Lark texts. `LLMatcher.grammar_from_lark` does the same."""

    def compile(self, lark: str, check: bool = True) -> str:
        """The grammar of a text. Raises `ValueError` with `check` for mistakes."""
        expect(lark, str)
        return _checked(list_of_lark("lark_grammar", lark), check)


class RegexCompiler:
    """Regexes. `LLMatcher.grammar_from_regex` does the same."""

    def compile(self, regex: str, check: bool = True) -> str:
        """The grammar of a regex. Raises `ValueError` with `check` for mistakes."""
        return _checked(LLMatcher.grammar_from_regex(regex), check)


def _checked(grammar: str, check: bool) -> str:
    if check:
        is_error, messages = check_grammar(grammar, {})
        if is_error:
            raise ValueError(messages[0])
    return grammar
