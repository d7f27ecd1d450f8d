"""`LLMatcher`: one generated text, as servers use it."""

import ctypes
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from larkspur import Matcher, MatcherError, RollbackTooFar, Stopped

from ._compile import GrammarText, check_grammar, classified, warned
from ._errors import Reporter
from ._forced import forced_bytes
from ._json_schema import JsonCompileOptions, grammar_of_schema
from ._limits import LLParserLimits, engine_limits
from ._ll_tokenizer import LLTokenizer
from ._regex import grammar_of_regex
from ._util import (
    StopReason,
    TokenId,
    as_token,
    as_tokens,
    as_unsigned,
    check_pointer,
    expect,
    mask_byte_len,
    stop_reason_name,
)

T = TypeVar("T")
# What `compute_logit_bias` has for an allowed token.
_BIAS_ALLOWED = 200


class LLMatcher:
    """A matcher at the start of a text.

    A mistake in the grammar, a token that does not fit and a limit that is met raise nothing: the matcher is in an error
    state from then on, `get_error` tells which, its masks allow the EOS tokens only, and it takes no token any more.
    Wrong types and wrong mask sizes raise; so does a second thread that uses the matcher at the same time
    (`RuntimeError`).
    """

    def __init__(
        self,
        tokenizer: LLTokenizer,
        grammar: GrammarText,
        *,
        log_level: int = 1,
        limits: LLParserLimits | None = None,
    ) -> None:
        expect(tokenizer, LLTokenizer)
        if limits is not None:
            expect(limits, LLParserLimits)
        self._tokenizer = tokenizer
        self._report = Reporter(tokenizer, grammar, 1 if log_level is None else operator.index(log_level), limits)
        self._error = ""
        self._matcher: Matcher | None = None
        # The tokens of the text, but for EOS tokens after its end; as many as the engine's matcher has steps.
        self._tokens: list[TokenId] = []
        self._warnings: list[str] = []
        try:
            compiled = tokenizer._compile(grammar, limits)
            self._matcher = compiled.matcher()
            self._warnings = warned(compiled.warnings, classified(grammar)[0])
        except (ValueError, MatcherError) as error:
            self._error = str(error)

    @staticmethod
    def validate_grammar(
        grammar: GrammarText,
        tokenizer: LLTokenizer | None = None,
        *,
        limits: LLParserLimits | None = None,
    ) -> str:
        """The mistakes in a grammar, or an empty text. Without a tokenizer any special token may be named."""
        is_error, messages = LLMatcher.validate_grammar_with_warnings(grammar, tokenizer, limits=limits)
        return messages[0] if is_error else ""

    @staticmethod
    def validate_grammar_with_warnings(
        grammar: GrammarText,
        tokenizer: LLTokenizer | None = None,
        *,
        limits: LLParserLimits | None = None,
    ) -> tuple[bool, list[str]]:
        """Whether there are mistakes, and a text with them, or else the warnings."""
        if limits is not None:
            expect(limits, LLParserLimits)
        if tokenizer is None:
            return check_grammar(grammar, engine_limits(limits))
        expect(tokenizer, LLTokenizer)
        try:
            return False, warned(tokenizer._compile(grammar, limits).warnings, classified(grammar)[0])
        except ValueError as error:
            return True, [str(error)]

    @staticmethod
    def grammar_from_json_schema(
        schema: str | dict[str, Any],
        defaults: JsonCompileOptions | None = None,
        overrides: JsonCompileOptions | None = None,
    ) -> str:
        """A grammar from a JSON Schema: `defaults`, the schema's `x-guidance` and `overrides`, of which the later ones
        beat the earlier ones, say how values are written. Raises `ValueError` for what is not JSON."""
        return grammar_of_schema(schema, defaults, overrides)

    @staticmethod
    def grammar_from_lark(lark: str) -> str:
        """A grammar from a Lark text: the text."""
        expect(lark, str)
        return lark

    @staticmethod
    def grammar_from_regex(regex: str) -> str:
        """A grammar from a regex in the syntax of Rust's `regex` crate."""
        expect(regex, str)
        return grammar_of_regex(regex)

    def is_error(self) -> bool:
        """Whether the matcher is in an error state, which it never leaves."""
        return bool(self._error)

    def get_error(self) -> str:
        """What is wrong; empty if nothing is."""
        return self._error

    def get_grammar_warnings(self) -> list[str]:
        """What is doubtful in the grammar."""
        return list(self._warnings)

    def deep_copy(self) -> "LLMatcher":
        """Another matcher at the same place. Does not depend on the text's length but for its list of tokens."""
        copy = LLMatcher.__new__(LLMatcher)
        copy._tokenizer = self._tokenizer
        copy._report = self._report
        copy._error = self._error
        copy._matcher = None if self._matcher is None else self._matcher.fork()
        copy._tokens = list(self._tokens)
        copy._warnings = self._warnings
        return copy

    __copy__ = deep_copy

    def __deepcopy__(self, memo: object) -> "LLMatcher":
        return self.deep_copy()

    def is_accepting(self) -> bool:
        """Whether the text may end here."""
        return self._ask(lambda matcher: matcher.is_accepting(), False)

    def is_stopped(self) -> bool:
        """Whether only an EOS token can follow; also in an error state."""
        return self._ask(lambda matcher: matcher.is_stopped(), True)

    def stop_reason(self) -> StopReason:
        """Why the text has ended; `NotStopped` if it has not."""
        return self._ask(lambda matcher: stop_reason_name(matcher.stop_reason()), "InternalError")

    def rollback(self, num_tokens: int) -> bool:
        """Takes back tokens; `False` in an error state, which too many tokens lead to."""
        count = as_unsigned(num_tokens)

        def rollback(matcher: Matcher) -> None:
            # EOS tokens behind the first one stand in the list alone.
            repeated = len(self._tokens) - matcher.step_count
            matcher.rollback(max(count - repeated, 0))

        if not self._change(rollback):
            return False
        del self._tokens[len(self._tokens) - count :]
        return True

    def reset(self) -> bool:
        """Takes back all tokens; `False` in an error state."""
        return self.rollback(len(self._tokens))

    def compute_ff_tokens(self) -> list[TokenId]:
        """The tokens that must follow, as the tokenizer spells them."""
        return self._ask(lambda matcher: matcher.forced_tokens(), [])

    def compute_ff_bytes(self) -> bytes:
        """The bytes that must follow."""
        return self._ask(forced_bytes, b"")

    def try_consume_tokens(self, tokens: list[TokenId]) -> int:
        """Consumes tokens up to the first that cannot follow, or the end of the text. Returns how many."""
        ids = as_tokens(tokens)

        def consume(matcher: Matcher) -> int:
            for index, token in enumerate(ids):
                if matcher.is_stopped() or matcher.try_consume_tokens([token]) == 0:
                    return index
                self._tokens.append(token)
            return len(ids)

        return self._ask(consume, 0)

    def consume_token(self, sampled_token: TokenId) -> bool:
        """Consumes a token; `False` if the matcher is in an error state then. EOS after the text's end and in an error state, where the mask
        has nothing else, does nothing."""
        token = as_token(sampled_token)
        if self._error and self._is_eos(token):
            return True
        return self._consumed(token)

    def consume_tokens(self, tokens: list[TokenId]) -> bool:
        """Consumes tokens; `False` if the matcher is in an error state then.

        EOS tokens that follow the end of the text within the same call are tokens to roll back; otherwise, as in
        `consume_token`, EOS after the text's end does nothing.
        """
        ids = as_tokens(tokens)
        takes_eos = not self.is_stopped()
        return all(self._consumed(token, takes_eos) for token in ids) and not self._error

    def validate_tokens(self, tokens: list[TokenId]) -> int:
        """How many of the tokens could be consumed, one after the other; 0 after the text's end, and of EOS 1 in an error state."""
        ids = as_tokens(tokens)
        if self._error:
            return int(len(ids) > 0 and self._is_eos(ids[0]))
        return self._ask(lambda matcher: 0 if matcher.is_stopped() else matcher.validate_tokens(ids), 0)

    def compute_bitmask(self) -> bytes:
        """The allowed tokens, a bit each: words of 32 bits, the least significant one first. After the text's end and in
        an error state these are the EOS tokens."""
        return self._ask(lambda matcher: matcher.compute_mask(), None) or self._eos_mask()

    def compute_logit_bias(self) -> bytes:
        """The allowed tokens, a byte each: 200, or 0 where not allowed."""
        bias = self._ask(lambda matcher: matcher.compute_bias(), None)
        if bias is not None:
            return bias
        only_eos = bytearray(self._tokenizer.vocab_size)
        for token in self._tokenizer.eos_tokens:
            only_eos[token] = _BIAS_ALLOWED
        return bytes(only_eos)

    def unsafe_compute_mask_ptr(self, trg_ptr: int, trg_bytes: int) -> None:
        """`compute_bitmask` into memory, which must be there: 4-byte aligned, and as long as the mask.

        Raises `ValueError` for a wrong size, a null pointer and one that is not aligned.
        """
        address, size = check_pointer(trg_ptr, trg_bytes)
        if size != mask_byte_len(self._tokenizer.vocab_size):
            raise ValueError("Invalid buffer size")
        if not self._change(lambda matcher: matcher.fill_mask_at(address, size)):
            self._write_eos_mask(address)

    def unsafe_compute_mask_ptr_with_draft_token(
        self,
        trg_ptr: int,
        trg_bytes: int,
        draft_tokens: list[TokenId] | int,
        draft_in_rows: list[TokenId] | None = None,
    ) -> None:
        """Masks along a draft: one before it and one behind each of its tokens, `trg_bytes` each, one after the other from
        `trg_ptr` on, where there must be room for all. Those behind a token that cannot follow, or behind the end of the
        text, stay as they are. The matcher ends where it began.

        With four arguments the third is how many masks there is room for, and the fourth the draft.
        Raises as `unsafe_compute_mask_ptr`, and `ValueError` if there is too little room.
        """
        from ._executor import LLExecutor

        if draft_in_rows is None:
            ids = as_tokens(draft_tokens)  # type: ignore[arg-type]
            rows = len(ids) + 1
        else:
            ids, rows = as_tokens(draft_in_rows), as_unsigned(draft_tokens)
        if ids:
            LLExecutor(1).unsafe_compute_mask_ptr_with_draft_token([(self, 0, ids)], trg_ptr, trg_bytes, rows)
        else:
            self.unsafe_compute_mask_ptr(trg_ptr, trg_bytes)

    def get_capture(self, name: str) -> bytes | None:
        """What was last captured under a name."""
        expect(name, str)
        return self._ask(lambda matcher: matcher.capture(name), None)

    def get_captures(self) -> list[tuple[str, bytes]]:
        """All captures, in the order of their ends."""
        return self._ask(lambda matcher: matcher.captures(), [])

    def _ask(self, question: Callable[[Matcher], T], otherwise: T) -> T:
        """The answer of the engine's matcher, or `otherwise` in an error state, also one that the question led to."""
        if self._error or self._matcher is None:
            return otherwise
        try:
            return question(self._matcher)
        except MatcherError as error:
            self._fail(error)
            return otherwise

    def _change(self, change: Callable[[Matcher], object], *tokens: TokenId) -> bool:
        """Whether the change was made. `tokens` are shown with the others where it was not."""
        if self._error or self._matcher is None:
            return False
        try:
            change(self._matcher)
            return True
        except MatcherError as error:
            self._fail(error, *tokens)
            return False

    def _consumed(self, token: TokenId, takes_eos: bool = False) -> bool:
        """Whether a token was consumed; EOS after the end of the text only with `takes_eos`."""

        def consume(matcher: Matcher) -> None:
            if matcher.is_stopped():
                if not self._is_eos(token):
                    raise Stopped
                if not takes_eos:
                    return
            if not matcher.is_stopped() or matcher.stop_reason() != "end_of_sentence":
                matcher.consume_token(token)
            self._tokens.append(token)

        return self._change(consume, token)

    def _fail(self, error: MatcherError, *tokens: TokenId) -> None:
        assert self._matcher is not None
        expected: Sequence[str] = ()
        try:
            expected = self._matcher.expected()
        except MatcherError:
            pass
        if isinstance(error, RollbackTooFar):
            self._error = self._report(f"rollback: {error}", self._tokens)
        else:
            self._error = self._report(error, [*self._tokens, *tokens], expected)

    def _is_eos(self, token: TokenId) -> bool:
        return token in self._tokenizer.eos_tokens

    def _eos_mask(self) -> bytes:
        words = bytearray(mask_byte_len(self._tokenizer.vocab_size))
        for token in self._tokenizer.eos_tokens:
            words[token // 8] |= 1 << token % 8
        return bytes(words)

    def _write_eos_mask(self, address: int) -> None:
        mask = self._eos_mask()
        ctypes.memmove(address, mask, len(mask))
