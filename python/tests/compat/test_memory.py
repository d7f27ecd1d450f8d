"""Matchers, interpreters and copies by the thousand: memory does not grow."""

import gc
from pathlib import Path

import pytest

from llguidance import LLExecutor, LLInterpreter, LLMatcher, LLTokenizer

GRAMMARS = [
    'start: x "!"\nx[capture]: /[a-z]+/',
    'start: %json {"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}',
    'start: x\nx[capture,stop=";"]: /[a-z]*/',
    "start: foo",
]
TEXTS = [b"abc!", b'{"a":"xyz"}', b"abc;", b"a"]


def resident_bytes() -> int:
    path = Path("/proc/self/statm")
    if not path.exists():
        pytest.skip("needs /proc")
    return int(path.read_text().split()[1]) * 4096


def work(tokenizer: LLTokenizer, executor: LLExecutor, count: int) -> None:
    for number in range(count):
        grammar, text = GRAMMARS[number % 4], TEXTS[number % 4]
        matcher = LLMatcher(tokenizer, grammar, log_level=0)
        copy = matcher.deep_copy()
        matcher.compute_bitmask()
        matcher.consume_tokens(list(text))
        matcher.get_captures()
        matcher.rollback(1)
        executor.consume_token_par([(copy, text[0])])
        copy.consume_token(999)
        if number % 8 == 0:
            interpreter = LLInterpreter(tokenizer, GRAMMARS[0], log_level=0)
            interpreter.process_prompt([])
            interpreter.compute_mask()
            interpreter.commit_token(97)


def grown_bytes(count: int, warm: int) -> int:
    tokenizer, executor = LLTokenizer("byte"), LLExecutor(2)
    work(tokenizer, executor, warm)
    gc.collect()
    before = resident_bytes()
    work(tokenizer, executor, count)
    gc.collect()
    return resident_bytes() - before


def test_memory_is_steady():
    assert grown_bytes(2_000, 1_000) < 4_000_000


@pytest.mark.long
def test_memory_is_steady_over_100_000_matchers():
    assert grown_bytes(100_000, 5_000) < 8_000_000


def test_new_tokenizers_and_grammars_are_given_back():
    """Grammars are kept for their tokenizer only, and only so many."""

    def work(count: int) -> None:
        for number in range(count):
            tokenizer = LLTokenizer("byte")
            for length in range(3):
                LLMatcher(tokenizer, f'start: "a{number}" /[a-c]{{{length + 1}}}/').compute_bitmask()

    work(150)
    gc.collect()
    before = resident_bytes()
    work(300)
    gc.collect()
    assert resident_bytes() - before < 12_000_000
