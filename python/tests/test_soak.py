"""Many matchers, one after the other: memory does not grow."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import pytest

import larkspur
from larkspur import Engine, Vocabulary

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "tags": {"type": "array", "items": {"enum": ["a", "b"]}}},
    "required": ["name", "tags"],
}
TEXT = b'{"name": "Ada", "tags": ["a", "b"]}'
GROWTH_MAX = 8 << 20


def resident() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def use(grammar: larkspur.Grammar, times: int) -> None:
    table = larkspur.allocate(1, grammar.vocabulary)
    for index in range(times):
        matcher = grammar.matcher()
        matcher.consume_bytes(TEXT[: index % len(TEXT)])
        branch = matcher.fork()
        larkspur.fill([branch], table)
        matcher.try_consume_tokens(list(TEXT[index % len(TEXT) :]))
        with pytest.raises(larkspur.MatcherError):
            matcher.consume_token(ord("x"))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize("times", [3_000, pytest.param(100_000, marks=pytest.mark.long)])
def test_matchers_leave_nothing_behind(times: int) -> None:
    grammar = Engine(Vocabulary.single_bytes()).json_schema(SCHEMA)
    use(grammar, 1_000)
    gc.collect()
    before = resident()
    use(grammar, times)
    gc.collect()
    assert resident() - before < GROWTH_MAX


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is read from /proc")
@pytest.mark.parametrize("times", [300, pytest.param(3_000, marks=pytest.mark.long)])
def test_grammars_leave_nothing_behind(times: int) -> None:
    """Each is another grammar: what the engine keeps of them is bounded by `expressions_max`."""
    engine = Engine(Vocabulary.single_bytes(), limits={"expressions_max": 100_000})

    def compile_some(count: int) -> None:
        for index in range(count):
            grammar = engine.regex(f"[a-z]{{1,9}}{index}")
            grammar.matcher().compute_mask()
            with pytest.raises(larkspur.GrammarError):
                engine.lark(f"start: a{index}")

    compile_some(times)
    gc.collect()
    before = resident()
    compile_some(times)
    gc.collect()
    assert resident() - before < GROWTH_MAX
