"""How an error of a matcher is told, in the shape that clients of llguidance know."""

import logging
from collections.abc import Sequence

from larkspur import MatcherError, Stopped, TokenRejected, UnknownToken

from ._compile import GrammarText
from ._limits import LLParserLimits
from ._ll_tokenizer import LLTokenizer
from ._util import TokenId

logger = logging.getLogger("llguidance")


class Reporter:
    """Makes the messages of one grammar's matchers."""

    __slots__ = ("_tokenizer", "_grammar", "_verbose", "_log_level")

    def __init__(
        self, tokenizer: LLTokenizer, grammar: GrammarText, log_level: int, limits: LLParserLimits | None
    ) -> None:
        self._tokenizer = tokenizer
        self._grammar = grammar
        self._verbose = limits is None or limits.verbose_errors
        self._log_level = log_level

    def __call__(self, error: MatcherError | str, tokens: Sequence[TokenId], expected: Sequence[str] = ()) -> str:
        """The sentence; with `verbose_errors` the tokens so far, what was expected instead, and the grammar."""
        sentence = self._sentence(error)
        if self._log_level >= 1:
            logger.warning("%s; stopping", sentence)
        if not self._verbose:
            return f"{sentence}\n<non-verbose/>"
        state = [f"Tokens: {self._tokenizer.dbg_tokens(list(tokens))}"]
        if expected:
            state.append(f"Expected: {', '.join(expected)}")
        lines = "\n".join(state)
        return f"{sentence}\n<state>\n{lines}\n</state><grammar>\n{self._grammar}\n</grammar>"

    def _sentence(self, error: MatcherError | str) -> str:
        if isinstance(error, UnknownToken):
            return f"token id {error.token} out of range"
        if isinstance(error, Stopped):
            return "parser stopped in consume_token; no error message"
        if isinstance(error, TokenRejected):
            shown = self._tokenizer.test_trace_tokens([error.token])
            text = self._tokenizer._vocabulary.token_bytes(error.token) or b""
            # Special tokens begin with 0xFF, as llguidance has them.
            byte = text[error.at_byte] if error.at_byte < len(text) else 0xFF
            return f'Parser Error: token "{shown}" doesn\'t satisfy the grammar; byte {_byte(byte)} fails parse'
        return str(error)


def _byte(byte: int) -> str:
    """A byte as Rust shows the character of this number."""
    escapes = {0: "\\0", 9: "\\t", 10: "\\n", 13: "\\r", 39: "\\'", 92: "\\\\"}
    is_printable = 0x20 <= byte < 0x7F or byte > 0xA0 and byte != 0xAD
    shown = chr(byte) if is_printable else "\\u{%x}" % byte
    return f"'{escapes.get(byte, shown)}'"
