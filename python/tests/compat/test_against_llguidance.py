"""The same calls to the real llguidance and to ours; needs llguidance 1.9 beside larkspur, and is skipped without it."""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# What differs on purpose, by the names of scenarios; see docs/migrating-from-llguidance.md.
DIFFERENT = {
    "tokenizer, byte": "the byte 0xFF is text, not a special token without a name",
    "tokenizer, wrapper": "the byte 0xFF is text, not a special token without a name",
    "grammar_from, ebnf": "`.` in GBNF matches line breaks, too",
    "matcher, by id, [258, 97, 98]": "a token that can be read as text and by its id is followed both ways",
    "schema, lengths": "DEL (0x7F) may stand in a JSON string",
    "misuse, consume past the end": "an EOS token that is rolled back leaves the text ended, as it was",
    "interpreter, masks, temperature": "the temperature of a rule counts as soon as the rule can begin",
    "interpreter, special": "captures hold text, not the names of special tokens",
}


def real_version() -> str | None:
    """The version of the package itself, which `install` shadows."""
    found = importlib.metadata.MetadataPathFinder().find_distributions(
        importlib.metadata.DistributionFinder.Context(name="llguidance")
    )
    return next((distribution.version for distribution in found), None)


def answers(which: str) -> dict[str, object]:
    run = subprocess.run(
        [sys.executable, str(HERE / "scenarios.py"), which], capture_output=True, text=True, cwd=HERE, timeout=100
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def both() -> tuple[dict[str, object], dict[str, object]]:
    version = real_version()
    if version is None or not version.startswith("1.9.") or "+" in version:
        pytest.skip(f"needs the package llguidance 1.9, found {version}")
    return answers("real"), answers("ours")


def test_same_answers(both):
    real, ours = both
    assert len(ours) > 200
    assert ours.keys() == real.keys()
    different = {name for name, answer in ours.items() if answer != real[name]}
    assert different == DIFFERENT.keys()


def test_del_is_all_that_differs_in_strings(both):
    real, ours = both
    for theirs, mine in zip(real["schema, lengths"], ours["schema, lengths"]):
        assert set(mine["allowed"]) - set(theirs["allowed"]) <= {0x7F}
        assert set(theirs["allowed"]) <= set(mine["allowed"])
