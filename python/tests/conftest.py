"""Small engines."""

from __future__ import annotations

import pytest

from larkspur import Engine, Vocabulary

@pytest.fixture
def engine() -> Engine:
    """Single bytes: token 97 is `a`, 256 is EOS."""
    return Engine(Vocabulary.single_bytes())


@pytest.fixture(scope="session")
def words() -> Engine:
    """A few tokens of several letters, with a tokenizer that takes the longest."""
    tokens = [b"a", b"b", b"ab", b"abc", b"c", b"1", b"23", b" ", b'"', b"{", b"}", b":"]
    vocabulary = Vocabulary.from_tokens(enumerate(tokens), [(len(tokens), "<eos>")], [len(tokens)])

    def tokenize(text: str) -> list[int]:
        return vocabulary.tokenize_greedy(text.encode()) or []

    return Engine(
        Vocabulary.from_tokens(enumerate(tokens), [(len(tokens), "<eos>")], [len(tokens)], tokenize=tokenize)
    )
