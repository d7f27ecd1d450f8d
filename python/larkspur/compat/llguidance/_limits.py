"""`LLParserLimits`."""

from ._util import as_unsigned, expect


class LLParserLimits:
    """llguidance's limits. All are kept; `verbose_errors` has an effect, and so have those of the initial lexer, the lexer's
    states and the grammar's size where they are below their defaults.

    The others bound tables that Larkspur has not, or bounds by its own limits (`docs/limits.md`), which are meant to be
    far from what a grammar needs.
    """

    __slots__ = ("_values",)

    def __init__(
        self,
        *,
        max_items_in_row: int | None = None,
        initial_lexer_fuel: int | None = None,
        step_lexer_fuel: int | None = None,
        step_max_items: int | None = None,
        max_lexer_states: int | None = None,
        max_grammar_size: int | None = None,
        precompute_large_lexemes: bool | None = None,
        verbose_errors: bool | None = None,
    ) -> None:
        def count(value: int | None, default: int) -> int:
            return default if value is None else as_unsigned(value)

        for flag in (precompute_large_lexemes, verbose_errors):
            if flag is not None:
                expect(flag, bool)
        self._values = (
            count(max_items_in_row, 2_000),
            count(initial_lexer_fuel, 1_000_000),
            count(step_lexer_fuel, 200_000),
            count(step_max_items, 50_000),
            count(max_lexer_states, 250_000),
            count(max_grammar_size, 500_000),
            True if precompute_large_lexemes is None else precompute_large_lexemes,
            True if verbose_errors is None else verbose_errors,
        )

    @property
    def max_items_in_row(self) -> int:
        """Items in a row of the parser; 2,000."""
        return self._values[0]

    @property
    def initial_lexer_fuel(self) -> int:
        """Work on the regexes when a grammar is compiled; 1,000,000."""
        return self._values[1]

    @property
    def step_lexer_fuel(self) -> int:
        """Work of the lexer for a mask; 200,000."""
        return self._values[2]

    @property
    def step_max_items(self) -> int:
        """Items of the parser for a mask; 50,000."""
        return self._values[3]

    @property
    def max_lexer_states(self) -> int:
        """States of the lexer; 250,000."""
        return self._values[4]

    @property
    def max_grammar_size(self) -> int:
        """Symbols in a grammar; 500,000."""
        return self._values[5]

    @property
    def precompute_large_lexemes(self) -> bool:
        """Whether large regexes are run over the vocabulary when a grammar is compiled; true."""
        return self._values[6]

    @property
    def verbose_errors(self) -> bool:
        """Whether messages of errors hold the grammar and the text so far; true."""
        return self._values[7]

    def __repr__(self) -> str:
        names = (
            "max_items_in_row",
            "initial_lexer_fuel",
            "step_lexer_fuel",
            "step_max_items",
            "max_lexer_states",
            "max_grammar_size",
            "precompute_large_lexemes",
            "verbose_errors",
        )
        fields = (
            f"{name}: {str(value).lower() if isinstance(value, bool) else value}"
            for name, value in zip(names, self._values, strict=True)
        )
        return f"ParserLimits {{ {', '.join(fields)} }}"


def engine_limits(limits: LLParserLimits | None) -> dict[str, int]:
    """Those of Larkspur's limits that are set by lower ones of llguidance's."""
    if limits is None:
        return {}
    plain = LLParserLimits()
    given = {
        "regex_nodes_max": (limits.initial_lexer_fuel, plain.initial_lexer_fuel),
        "lexer_states_max": (limits.max_lexer_states, plain.max_lexer_states),
        "grammar_symbols_max": (limits.max_grammar_size, plain.max_grammar_size),
    }
    return {name: value for name, (value, default) in given.items() if value < default}
