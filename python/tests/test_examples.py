"""Every example runs, and what it writes is what it promises. So do the Python blocks of the README and of docs/python.md."""

from __future__ import annotations

import importlib.util
import re
import sys
from typing import Any

import pytest

from common import ROOT

QUICK = ["guidance_program", "reasoning_then_json", "sglang_style", "structural_tags", "tool_calling", "vllm_style"]
LONG = ["parserllm_json", "transformers_generate"]


def run(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"example_{name}", ROOT / "examples" / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    # As when it is run: examples find each other.
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        spec.loader.exec_module(module)
        return module.main()
    finally:
        sys.path.pop(0)


def test_all_are_listed() -> None:
    found = sorted(file.stem for file in (ROOT / "examples").glob("*.py"))
    assert found == sorted(QUICK + LONG)


@pytest.mark.parametrize("name", QUICK)
def test_quick(name: str) -> None:
    pytest.importorskip("guidance" if name == "guidance_program" else "numpy")
    result = run(name)
    assert result
    if name == "guidance_program":
        assert (result["name"], result["born"], result["field"]) == ("Ada", "1815", "mathematics")
    if name == "tool_calling":
        assert result == [("get_weather", {"city": "Oslo", "unit": "C"}), ("add", {"a": 12, "b": 30})]
    if name == "structural_tags":
        assert '<function=get_weather>{"city":"Oslo"}</function> And: <function=add>1+2</function> Done.' in result
    if name == "reasoning_then_json":
        assert set(result) == {"answer", "sure"}


@pytest.mark.long
@pytest.mark.parametrize("name", LONG)
def test_long(name: str) -> None:
    pytest.importorskip("transformers")
    assert run(name)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_blocks(page: str) -> None:
    pytest.importorskip("numpy")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)
    assert blocks
    names: dict[str, Any] = {}
    for block in blocks:
        if not re.search(r"^(import|from) (torch|transformers|larkspur\.(torch|transformers|parserllm))", block, re.MULTILINE):
            exec(compile(block, page, "exec"), names)  # what the reader would paste
