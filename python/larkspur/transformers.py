"""Grammars for `model.generate` of transformers."""

from __future__ import annotations

import weakref
from typing import Any, cast

import torch
from transformers import LogitsProcessor

from . import torch as masks
from ._native import Grammar, Matcher
from .engine import Engine
from .errors import MatcherError

__all__ = ["GrammarLogitsProcessor", "engine_of"]

_engines: weakref.WeakKeyDictionary[Any, Engine] = weakref.WeakKeyDictionary()


def engine_of(tokenizer: Any) -> Engine:
    """The engine of a transformers tokenizer; made once for each."""
    if isinstance(tokenizer, Engine):
        return tokenizer
    engine = _engines.get(tokenizer)
    if engine is None:
        engine = _engines[tokenizer] = Engine.from_tokenizer(tokenizer)
    return engine


class GrammarLogitsProcessor(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Keeps what `model.generate(…, logits_processor=[processor])` generates inside a grammar.

    `grammar` is a compiled `Grammar`, a `Matcher` to start from, Lark text, or a JSON Schema (a dict or a pydantic model);
    the last two need `tokenizer`. EOS tokens are allowed only where the text is complete, and nothing else is after its
    end.

    Rows are known by what they hold, not by their order, so that beams may be reordered, copied and dropped, and prompts of a
    batch may have different lengths (padded on the left, as `generate` needs them). A row that was continued with a
    token that is not allowed, as beam search does when there are too few, may only end.

    For one `generate` at a time; the next call of `generate` is recognised by its rows. Where its prompt is the last
    output and one token more, call `reset` in between.
    """

    def __init__(self, grammar: Grammar | Matcher | str | dict[str, Any] | Any, tokenizer: Any = None) -> None:
        if isinstance(grammar, Matcher):
            self._start = grammar.fork()
        else:
            self._start = _grammar_of(grammar, tokenizer).matcher()
        self._vocabulary = self._start.grammar.vocabulary
        self.reset()

    def reset(self) -> None:
        """Forgets all rows: the next call begins new texts."""
        self._rows: dict[bytes, Matcher | None] = {}
        self._len = 0

    def __call__(self, input_ids: torch.LongTensor, scores: torch.FloatTensor) -> torch.FloatTensor:
        """The scores, with negative infinity for tokens that are not allowed. Shapes (rows, length), (rows, tokens)."""
        rows = input_ids.to("cpu", torch.int64).contiguous().numpy()
        matchers = self._matchers(rows)
        self._rows = {row.tobytes(): matcher for row, matcher in zip(rows, matchers)}
        self._len = rows.shape[1]

        table = masks.allocate(len(matchers), self._vocabulary)
        # Rows with the same text share a matcher, which is asked once.
        first_row: dict[int, int] = {}
        for row, matcher in enumerate(matchers):
            if matcher is not None:
                first_row.setdefault(id(matcher), row)
        alone = {row: matchers[row] for row in first_row.values()}
        masks.fill(list(alone.values()), table, list(alone))
        for row, matcher in enumerate(matchers):
            if matcher is None:
                table[row] = self._end()
            elif first_row[id(matcher)] != row:
                table[row] = table[first_row[id(matcher)]]
        # Not in place: beam search goes on using the scores.
        scores = cast("torch.FloatTensor", scores.clone())
        masks.apply(scores, table)
        return scores

    def _matchers(self, rows: Any) -> list[Matcher | None]:
        """The matcher of each row; `None` for one that may only end."""
        if rows.shape[1] == self._len + 1:
            before = [row[:-1].tobytes() for row in rows]
            if all(key in self._rows for key in before):
                known: dict[tuple[bytes, int], Matcher | None] = {}
                matchers = []
                for key, row in zip(before, rows):
                    place = (key, int(row[-1]))
                    if place not in known:
                        known[place] = _after(self._rows[key], place[1])
                    matchers.append(known[place])
                return matchers
        # New texts begin. All rows may share the matcher: nobody consumes with it.
        return [self._start] * len(rows)

    def _end(self) -> torch.Tensor:
        row = masks.allocate(1, self._vocabulary)[0].zero_()
        for token in self._vocabulary.eos:
            row[token // 32] |= torch.tensor(1 << token % 32).to(torch.int32)
        return row


def _after(matcher: Matcher | None, token: int) -> Matcher | None:
    """The matcher after a token; the same one after the end, where rows are padded."""
    if matcher is None or matcher.stop_reason() == "end_of_sentence":
        return matcher
    matcher = matcher.fork()
    try:
        matcher.consume_token(token)
    except MatcherError:
        return None
    return matcher


def _grammar_of(grammar: Any, tokenizer: Any) -> Grammar:
    if isinstance(grammar, Grammar):
        return grammar
    if tokenizer is None:
        raise TypeError("a tokenizer is needed to compile the grammar")
    engine = engine_of(tokenizer)
    return engine.lark(grammar) if isinstance(grammar, str) else engine.json_schema(grammar)
