"""What the tests share: the tokenizers at hand, and small engines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from larkspur import Engine, Vocabulary

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("LARKSPUR_SHARED", ROOT.parent / "shared"))
TOKENIZERS = SHARED / "tokenizers"


def tokenizer_file(name: str) -> Path:
    """A real tokenizer's folder; the test is skipped where there is none."""
    folder = TOKENIZERS / name
    if not folder.is_dir():
        pytest.skip(f"there is no tokenizer {name} (LARKSPUR_SHARED names the folder that holds tokenizers/)")
    return folder


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
