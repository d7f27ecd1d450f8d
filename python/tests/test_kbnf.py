"""KBNF's engine."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest

from larkspur import GrammarError, LimitExceeded
from larkspur.kbnf import AcceptTokenError, AcceptTokenResult, Config, Engine, InvalidLogitsLength, Vocabulary

TOKENS = {0: b"a", 1: b"b", 2: b"ab", 3: b"bb"}


def engine(grammar: str = "start ::= 'a' {'a'} 'b';", **config: Any) -> Engine:
    names = {id: token.decode() for id, token in TOKENS.items()}
    return Engine(grammar, Vocabulary(TOKENS, names), Config(**config))


def test_a_text() -> None:
    e = engine()
    assert e.try_accept_new_token(0) is AcceptTokenResult.Ongoing
    e.compute_allowed_token_ids()
    assert e.get_allowed_token_ids_from_last_computation() == [0, 1, 2]
    assert e.get_disallowed_token_ids_from_last_computation() == [3]
    assert (e.get_number_of_allowed_token_ids(), e.get_number_of_disallowed_token_ids()) == (3, 1)
    assert e.check_if_token_is_allowed(2) and not e.check_if_token_is_allowed(3)
    assert e.get_index_of_allowed_token_ids() == bytes([7, 0, 0, 0])
    other = copy.copy(e)
    assert other.try_accept_new_bytes(b"ab") is AcceptTokenResult.Finished
    assert other.is_finished() and not e.is_finished()
    other.reset()
    assert not other.is_finished()


@pytest.mark.parametrize(("token", "reason"), [(9, "UnknownTokenID"), (-1, "UnknownTokenID"), (3, "Rejected")])
def test_refusals(token: int, reason: str) -> None:
    e = engine()
    with pytest.raises(AcceptTokenError) as caught:
        e.try_accept_new_token(token)
    assert caught.value.reason == reason
    assert e.try_accept_new_token(2) is AcceptTokenResult.Finished
    with pytest.raises(AcceptTokenError, match="finished"):
        e.try_accept_new_token(0)


def test_logits() -> None:
    np = pytest.importorskip("numpy")
    for logits in ([0.0] * 5, np.zeros(5, dtype=np.float32)):
        masked, result = engine().update_logits(0, logits)
        assert result is AcceptTokenResult.Ongoing
        assert [math.isfinite(logit) for logit in masked] == [True, True, True, False, False]
    with pytest.raises(InvalidLogitsLength):
        engine().mask_logits([0.0] * 3)
    with pytest.raises(AcceptTokenError):
        engine().update_logits(3, [0.0] * 4)
    e = engine()
    for wrong in (np.broadcast_to(np.float32(0), (4,)), np.zeros(4, dtype=np.int64), np.zeros((4, 4), dtype=np.float32)):
        with pytest.raises((ValueError, OverflowError, TypeError)):
            e.update_logits(0, wrong)
        # No token was taken.
        e.compute_allowed_token_ids()
        assert e.get_allowed_token_ids_from_last_computation() == [0, 2]
    untouched, result = engine().update_logits(2, [1.0] * 4)
    assert result is AcceptTokenResult.Finished and untouched == [1.0] * 4
    row = np.full(2, -1, dtype=np.int32)
    e = engine()
    e.compute_allowed_token_ids()
    e.fill_bitmask(row)
    assert row.tolist() == [5, 0]


def test_config() -> None:
    with pytest.raises(GrammarError):
        engine("start ::= ")
    assert engine("main ::= 'a';", start_nonterminal="main").try_accept_new_token(0) is AcceptTokenResult.Finished
    e = engine("start ::= {'a'} 'b';", limits={"text_bytes_max": 1})
    e.try_accept_new_token(0)
    with pytest.raises(LimitExceeded):
        e.try_accept_new_token(0)
    with pytest.raises(ValueError, match="finish"):
        engine(finish="never")
