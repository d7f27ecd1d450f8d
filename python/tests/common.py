"""What the tests share: where the real tokenizers are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOKENIZERS = Path(os.environ.get("LARKSPUR_SHARED", ROOT.parent / "shared")) / "tokenizers"


def tokenizer_file(name: str) -> Path:
    """A real tokenizer's folder; the test is skipped where there is none."""
    folder = TOKENIZERS / name
    if not folder.is_dir():
        pytest.skip(f"there is no tokenizer {name} (LARKSPUR_SHARED names the folder that holds tokenizers/)")
    return folder
