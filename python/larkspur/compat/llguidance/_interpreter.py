"""`LLInterpreter`: one generated text, as Guidance uses it, with a report of what was read."""

import json
import operator
import time
from collections.abc import Callable
from typing import Any, TypeVar

from larkspur import MatcherError, UnknownToken
from larkspur._native import capture_spans, unsettled_len

from ._errors import Reporter
from ._limits import LLParserLimits
from ._ll_tokenizer import LLTokenizer
from ._util import (
    StopReason,
    TokenId,
    as_token,
    as_tokens,
    check_pointer,
    expect,
    mask_byte_len,
    stop_reason_name,
)

T = TypeVar("T")
# Name, start and end in the text, and the captured text.
Capture = tuple[str, int, int, bytes]
# What can follow, as the engine calls it, where EOS is the `stop` of a lexeme.
_STOP_AT_EOS = 'stop=""'
# What llguidance counts besides; Larkspur's engine has nothing of the kind.
_NO_COUNTS = dict.fromkeys(
    (
        "rows",
        "cached_rows",
        "all_items",
        "lexer_cost",
        "slices_applied",
        "trie_nodes_walked",
        "definitive_bytes",
        "lexer_ops",
        "num_lex_errors",
        "num_lexemes",
    ),
    0,
)


class LLInterpreter:
    """An interpreter at the start of a text: `process_prompt` or `start_without_prompt`, then in turn `compute_mask` and
    `commit_token`.

    With `enable_backtrack` the text of a `stop` is taken back, with `enable_ff_tokens` (which the former needs) tokens
    that must follow are committed without being asked for. Every error is a `ValueError`.
    """

    def __init__(
        self,
        tokenizer: LLTokenizer,
        grammar: str,
        enable_backtrack: bool = True,
        enable_ff_tokens: bool = True,
        log_level: int = 1,
        limits: LLParserLimits | None = None,
    ) -> None:
        expect(tokenizer, LLTokenizer)
        expect(grammar, str)
        if limits is not None:
            expect(limits, LLParserLimits)
        if enable_backtrack and not enable_ff_tokens:
            raise ValueError("backtrack requires ff_tokens")
        self._log_level = 1 if log_level is None else operator.index(log_level)
        self._tokenizer = tokenizer
        self._report = Reporter(tokenizer, grammar, self._log_level, limits)
        self._ff_tokens = bool(enable_ff_tokens)
        self._matcher = tokenizer._compile(grammar, limits).matcher(backtracking=bool(enable_backtrack))
        self._failure: StopReason | None = None
        self._is_started = False
        self._is_over = False
        self._is_complete = False
        # Whether a mask was computed that a token must be sampled from.
        self._awaits_token = False
        # The tokens of the text, and where special ones stand in it: after how many bytes and tokens.
        self._tokens: list[TokenId] = []
        self._specials: list[tuple[int, int]] = []
        # What was reported of the text (with special tokens as `\xff[ID]`), its tokens and its captures.
        self._reported_len = 0
        self._reported_tokens = 0
        self._reported_captures: list[Capture] = []
        # Length of the text that the captures are those of.
        self._captured_len = 0
        self._is_generated = False

    @property
    def log_level(self) -> int:
        """0: no warnings."""
        return self._log_level

    def deep_copy(self) -> "LLInterpreter":
        """Another interpreter at the same place."""
        copy = LLInterpreter.__new__(LLInterpreter)
        copy.__dict__.update(self.__dict__)
        copy._matcher = self._matcher.fork()
        copy._tokens = list(self._tokens)
        copy._specials = list(self._specials)
        return copy

    __copy__ = deep_copy

    def __deepcopy__(self, memo: object) -> "LLInterpreter":
        return self.deep_copy()

    def is_accepting(self) -> bool:
        """Whether the text may end here."""
        return self._failure is None and self._call(lambda: self._matcher.is_accepting())

    def stop_reason(self) -> StopReason:
        """Why the text has ended; `NotStopped` if it has not."""
        if self._is_complete and not self._matcher.is_stopped():
            return "NoExtension"
        return self._failure or stop_reason_name(self._matcher.stop_reason())

    def process_prompt(self, prompt: list[TokenId]) -> list[TokenId]:
        """The prompt with what must follow, without tokens at its end that the model would not have split the text at;
        their text is then spelled by the first tokens generated. Raises `ValueError` once started."""
        ids = as_tokens(prompt)
        self._start()
        adjusted = self._call(lambda: self._matcher.process_prompt(ids))
        same = next((at for at, (a, b) in enumerate(zip(ids, adjusted, strict=False)) if a != b), len(ids))
        self._tokens = adjusted[same:]
        # The text begins behind what the prompt holds of them.
        at = len(self._matcher.text()) - len(self._matcher.grammar.vocabulary.decode(self._tokens))
        for number, token in enumerate(self._tokens):
            # An EOS token that must follow is one that the grammar names.
            if self._tokenizer.is_special_token(token):
                self._specials.append((at, number))
            else:
                at += len(self._matcher.grammar.vocabulary.decode([token]))
        return adjusted

    def start_without_prompt(self) -> None:
        """Starts the text at the beginning. Raises `ValueError` once started."""
        self._start()

    def validate_tokens_raw(self, tokens: list[TokenId]) -> int:
        """How many of the tokens could be committed, one after the other."""
        ids = as_tokens(tokens)
        return self._call(lambda: self._matcher.validate_tokens(ids))

    def compute_mask(self) -> tuple[bytes | None, str]:
        """The allowed tokens, a byte each (200, or 0 where not allowed), and the report as JSON. `None` at the end."""
        started = time.perf_counter_ns()
        mask = None if self._begin_mask() else self._call(lambda: self._matcher.compute_bias())
        return mask, self._end_mask(started)

    def compute_mask_into(self, trg: bytearray) -> str:
        """The allowed tokens, a bit each, into the beginning of `trg`; at the text's end none. Returns the report.

        Raises `ValueError` if `trg` is too short.
        """
        expect(trg, bytearray)
        size = mask_byte_len(self._tokenizer.vocab_size)
        if len(trg) < size:
            raise ValueError("Invalid buffer size")
        started = time.perf_counter_ns()
        trg[:size] = bytes(size) if self._begin_mask() else self._call(lambda: self._matcher.compute_mask())
        return self._end_mask(started)

    def unsafe_compute_mask_ptr(self, trg_ptr: int, trg_bytes: int) -> str:
        """`compute_mask_into` for memory at an address. Raises as `LLMatcher.unsafe_compute_mask_ptr`."""
        import ctypes

        address, size = check_pointer(trg_ptr, trg_bytes)
        if size != mask_byte_len(self._tokenizer.vocab_size):
            raise ValueError("Invalid buffer size")
        started = time.perf_counter_ns()
        if self._begin_mask():
            ctypes.memset(address, 0, size)
        else:
            self._call(lambda: self._matcher.fill_mask_at(address, size))
        return self._end_mask(started)

    def commit_token(self, sampled_token: TokenId | None) -> tuple[int, list[TokenId]]:
        """Commits the token that was sampled: how many tokens before it to take back, and which to put there instead
        (it itself among them, unless it is taken back). `None` after a mask that was `None`."""
        token = None if sampled_token is None else as_token(sampled_token)
        if self._is_over:
            return 0, []
        if token is None:
            if self._awaits_token:
                raise ValueError(self._report("sampled_token is required when mask was present", self._tokens))
            return 0, []
        self._begin()
        self._awaits_token = False
        self._is_generated = True
        before = len(self._tokens)
        kept = self._commit(token, before)
        # As in llguidance, a `stop=""` that ends is all that happens.
        forces = self._ff_tokens and token not in self._tokenizer.eos_tokens
        while forces and not self._matcher.is_stopped():
            forced = self._call(lambda: self._matcher.forced_tokens())
            if not forced:
                break
            for each in forced:
                kept = self._commit(each, kept)
        return before - kept, self._tokens[kept:]

    def has_pending_stop(self) -> bool:
        """Whether the next mask will be `None`."""
        return not self._is_over and self._matcher.is_stopped()

    def _commit(self, token: TokenId, kept: int) -> int:
        """Consumes a token. `kept` tokens from before stand in the text yet; returns how many then."""
        at = len(self._matcher.text())
        may_be_named = self._is_special(token) or self._may_name_eos(token)
        taken_back = self._call(lambda: self._matcher.consume_token(token), token)
        if may_be_named and self._matcher.stop_reason() != "end_of_sentence":
            self._specials.append((at, len(self._tokens)))
        self._tokens.append(token)
        if taken_back == 0:
            return kept
        # What the tokens held before the `stop` is spelled again by tokens that must follow.
        del self._tokens[len(self._tokens) - taken_back :]
        self._specials = [special for special in self._specials if special[1] < len(self._tokens)]
        self._reported_tokens = min(self._reported_tokens, len(self._tokens))
        return min(kept, len(self._tokens))

    def _is_special(self, token: TokenId) -> bool:
        return self._tokenizer.is_special_token(token) and token not in self._tokenizer.eos_tokens

    def _may_name_eos(self, token: TokenId) -> bool:
        """Whether it is an EOS token that does not end a `stop=""` here: if the text goes on behind it, the grammar names it."""
        return token in self._tokenizer.eos_tokens and _STOP_AT_EOS not in self._call(lambda: self._matcher.expected())

    def _start(self) -> None:
        if self._is_started:
            raise ValueError("the interpreter has started already")
        self._begin()

    def _begin(self) -> None:
        if self._failure is not None:
            raise ValueError(f"the interpreter is in an error state: {self._failure}")
        self._is_started = True

    def _begin_mask(self) -> bool:
        """Whether the text has ended."""
        self._begin()
        if self._is_over:
            raise ValueError(self._report("compute_mask() called after stop", self._tokens))
        if not self._tokens or not self._is_generated:
            # What the prompt completes ends at once: no token was consumed that could have ended it.
            allowed = self._call(lambda: self._matcher.allowed_tokens())
            self._is_complete = self.is_accepting() and set(allowed) <= set(self._tokenizer.eos_tokens)
        self._is_over = self._is_complete or self._matcher.is_stopped()
        return self._is_over

    def _end_mask(self, started_ns: int) -> str:
        self._awaits_token = not self._is_over
        single = 0.0 if self._is_over else self._call(lambda: self._matcher.temperature()) or 0.0
        # The digits that the grammar has, of which the engine keeps 32 bits.
        temperature = float(f"{single:.7g}")
        runtime_us = (time.perf_counter_ns() - started_ns) // 1000
        report = {"progress": self._progress(runtime_us), "stop": self._is_over, "temperature": temperature}
        return json.dumps(report, ensure_ascii=False, separators=(",", ":"))

    def _progress(self, runtime_us: int) -> list[dict[str, Any]]:
        """What is new since the last report: captures, and text that cannot be taken back any more."""
        progress: list[dict[str, Any]] = [
            {"object": "capture", "name": name, **_text_fields(text), "log_prob": 0.0}
            for name, _, _, text in self._new_captures()
        ]
        text = self._marked_text()
        open_len = 0 if self._is_over else self._call(lambda: unsettled_len(self._matcher))
        new = text[self._reported_len : len(text) - open_len]
        progress.append(
            {
                "object": "text",
                **_text_fields(new),
                "log_prob": 0.0,
                "num_tokens": len(self._tokens) - self._reported_tokens,
                "is_generated": self._is_generated,
                "stats": {"runtime_us": runtime_us, "compute_time_us": runtime_us, **_NO_COUNTS},
            }
        )
        self._reported_len += len(new)
        self._reported_tokens = len(self._tokens)
        if self._is_over:
            progress.append({"object": "final_text", **_text_fields(text), "stop_reason": self.stop_reason()})
        return progress

    def _new_captures(self) -> list[Capture]:
        """The captures that were not reported yet, but for those that reach the end of the text and may grow yet.

        Captures are derived from the whole text, so they are looked at each time that it has grown by a sixteenth.
        """
        end = len(self._matcher.text())
        if not self._is_over and end - self._captured_len < end // 16:
            return []
        self._captured_len = end
        captures = [
            capture
            for capture in self._call(lambda: capture_spans(self._matcher))
            if self._is_over or capture[2] < end
        ]
        old = self._reported_captures
        same = next((at for at, (a, b) in enumerate(zip(old, captures, strict=False)) if a != b), len(old))
        self._reported_captures = captures
        return captures[same:]

    def _marked_text(self) -> bytes:
        """The text, with special tokens as `\xff[ID]`."""
        text = self._matcher.text()
        parts, start = [], 0
        for at, number in self._specials:
            parts += [text[start:at], b"\xff[%d]" % self._tokens[number]]
            start = at
        return b"".join([*parts, text[start:]])

    def _call(self, call: Callable[[], T], *tokens: TokenId) -> T:
        try:
            return call()
        except MatcherError as error:
            self._failure = "InternalError" if isinstance(error, UnknownToken) else "ParserTooComplex"
            raise ValueError(self._report(error, [*self._tokens, *tokens])) from error


def _text_fields(text: bytes) -> dict[str, str]:
    return {"str": text.decode("utf-8", "replace"), "hex": text.hex()}
