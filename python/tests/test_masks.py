"""Tables of masks."""

from __future__ import annotations

from typing import Any

import pytest

import larkspur
from larkspur import Engine, Executor, Vocabulary

np = pytest.importorskip("numpy")


def bits(row: Any) -> list[int]:
    return [32 * index + bit for index, word in enumerate(row) for bit in range(32) if int(word) >> bit & 1]


def test_a_batch(engine: Engine) -> None:
    matchers = [engine.regex(regex).matcher() for regex in ("a", "[bc]", "d?")]
    table = larkspur.allocate(4, engine.vocabulary)
    larkspur.fill(matchers, table, rows=[3, 0, 1])
    assert [bits(row) for row in table.tolist()] == [[98, 99], [100, 256], [], [97]]
    larkspur.fill(matchers[0], table)
    assert bits(table.tolist()[0]) == [97]
    larkspur.fill([None, matchers[1]], table)
    assert [bits(row) for row in table.tolist()[:2]] == [[97], [98, 99]]


def test_numpy(engine: Engine) -> None:
    from larkspur import numpy as masks

    table = masks.allocate(2, engine.vocabulary)
    assert table.shape == (2, 9) and table.dtype == np.int32
    masks.fill([engine.regex("a").matcher()], table)
    assert bits(table[0].view(np.uint32)) == [97]
    logits = np.zeros((2, 257), dtype=np.float32)
    masks.apply(logits, table)
    assert np.flatnonzero(np.isfinite(logits[0])).tolist() == [97]
    assert np.isfinite(logits[1]).all()
    with pytest.raises(TypeError, match="int32"):
        masks.apply(np.zeros((2, 257), dtype=np.int32), table)
    # A model's logits may be longer than the vocabulary: what is past it is never allowed.
    padded = np.zeros((2, 300), dtype=np.float32)
    masks.apply(padded, table)
    assert not np.isfinite(padded[:, 288:]).any()
    with pytest.raises(ValueError, match="fit together"):
        masks.apply(logits[:1], table)


def test_longer_rows_are_cleared(engine: Engine) -> None:
    table = np.full((1, 20), -1, dtype=np.int32)
    larkspur.fill(engine.regex("a").matcher(), table)
    assert bits(table[0].view(np.uint32)) == [97]


def test_drafts(engine: Engine) -> None:
    matcher = engine.regex("ab[cd]").matcher()
    table = np.full((6, 9), 7, dtype=np.int32)
    written = larkspur.fill_drafts([matcher, matcher.fork()], [list(b"abx"), list(b"x")], table)
    assert written == [3, 1]
    assert [bits(row) for row in table[:3].view(np.uint32)] == [[97], [98], [99, 100]]
    assert bits(table[4].view(np.uint32)) == [97]
    # Rows behind a token that is not allowed stay as they were.
    assert (table[3] == 7).all() and (table[5] == 7).all()
    assert matcher.step_count == 0


def test_a_draft_that_ends_the_text(engine: Engine) -> None:
    matcher = engine.regex("a").matcher()
    table = np.full((3, 9), 7, dtype=np.int32)
    assert larkspur.fill_drafts([matcher], [[97, 256]], table) == [2]
    assert bits(table[1].view(np.uint32)) == [256], "only EOS may follow the end"
    assert (table[2] == 7).all()


def test_wrong_tables_are_refused(engine: Engine) -> None:
    matcher = engine.regex("a").matcher()
    frozen = np.zeros((1, 9), dtype=np.int32)
    frozen.flags.writeable = False
    wrong: list[tuple[Any, type[Exception]]] = [
        (np.zeros((1, 8), dtype=np.int32), ValueError),
        (np.zeros((1, 9), dtype=np.int64), TypeError),
        (np.zeros((1, 9), dtype=np.float32), TypeError),
        (np.zeros((1, 9), dtype=np.dtype(np.int32).newbyteorder()), TypeError),
        (memoryview(np.zeros(9, dtype=np.dtype(np.uint32).newbyteorder())), TypeError),
        (np.zeros((9, 2), dtype=np.int32).T, ValueError),
        (np.zeros((1, 1, 9), dtype=np.int32), ValueError),
        (frozen, ValueError),
        (bytes(36), ValueError),
        (bytearray(35), ValueError),
        (bytearray(0), ValueError),
        ([0] * 9, TypeError),
    ]
    for table, error in wrong:
        with pytest.raises(error):
            larkspur.fill(matcher, table)
    table = larkspur.allocate(1, engine.vocabulary)
    for rows in ([1], [-1], [0, 0]):
        with pytest.raises((ValueError, OverflowError)):
            larkspur.fill([matcher, matcher.fork()][: len(rows)], table, rows)
    with pytest.raises(ValueError, match="matchers"):
        larkspur.fill([matcher], table, rows=[])
    two = larkspur.allocate(2, engine.vocabulary)
    for call in (
        lambda: larkspur.fill([matcher, matcher], two),
        lambda: larkspur.fill_drafts([matcher, matcher], [[], []], two),
        lambda: Executor(1).consume_tokens([(matcher, 97), (matcher, 97)]),
    ):
        with pytest.raises(RuntimeError, match="the same matcher is given twice"):
            call()
    assert not any(map(any, two.tolist())) and matcher.step_count == 0
    with pytest.raises(TypeError, match="byte order"):
        larkspur.fill(matcher, np.zeros((1, 9), dtype=np.dtype(np.int32).newbyteorder()))
    with pytest.raises(ValueError, match="address"):
        matcher.fill_mask_at(3, 36)


def test_masks_that_fail(words: Engine) -> None:
    # The vocabulary has no `x`.
    bad = words.lark('start: "a" "x"').matcher()
    bad.consume_token(0)
    good = words.lark('start: "a"').matcher()
    table = larkspur.allocate(2, words.vocabulary)
    with pytest.raises(larkspur.BatchError) as caught:
        larkspur.fill([bad, good], table)
    assert list(caught.value.errors) == [0]
    assert isinstance(caught.value.errors[0], larkspur.NoToken)
    assert [bits(row) for row in table.tolist()] == [[], [0]]


def test_executors(engine: Engine) -> None:
    executor = Executor(2)
    assert executor.threads == 2
    with pytest.raises(ValueError):
        Executor(0)
    matchers = [engine.regex("a*").matcher() for _ in range(50)]
    table = larkspur.allocate(50, engine.vocabulary)
    larkspur.fill(matchers, table, executor=executor)
    assert all(bits(row) == [97, 256] for row in table.tolist())
    errors = executor.consume_tokens([(matcher, 97 + index % 2) for index, matcher in enumerate(matchers)])
    assert [error is None for error in errors] == [index % 2 == 0 for index in range(50)]


def test_vocabularies_of_any_length() -> None:
    for length in (1, 31, 32, 33, 64):
        tokens = [(index, bytes([index + 33])) for index in range(length - 1)]
        vocabulary = Vocabulary.from_tokens(tokens, [(length - 1, "<eos>")], [length - 1])
        matcher = Engine(vocabulary).regex(".*").matcher()
        table = larkspur.allocate(1, vocabulary)
        larkspur.fill(matcher, table)
        assert bits(table.tolist()[0]) == list(range(length)) == matcher.allowed_tokens()


@pytest.mark.long
def test_mlx(engine: Engine) -> None:
    mx = pytest.importorskip("mlx.core")
    from larkspur import mlx as masks

    table = masks.allocate(1, engine.vocabulary)
    masks.fill(engine.regex("[ab]").matcher(), table)
    logits = masks.apply(mx.zeros((1, 300)), table)
    assert np.flatnonzero(np.isfinite(np.array(logits)[0])).tolist() == [97, 98]
    with pytest.raises(ValueError, match="fit together"):
        masks.apply(mx.zeros((2, 300)), table)
