"""`install`, the module's submodules, the command line and the wheel that is named llguidance."""

import importlib
import importlib.metadata
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import larkspur.compat

ROOT = Path(__file__).parents[3]


def run(*arguments: str, **options) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, timeout=100, **options)


def python(code: str) -> str:
    done = run("-c", code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_module_and_submodules_are_one():
    import llguidance
    import llguidance.gbnf_to_lark
    import llguidance.numpy
    from llguidance.numpy import fill_next_token_bitmask

    import larkspur.compat.llguidance.numpy as ours

    assert llguidance is larkspur.compat.install()
    assert sys.modules["llguidance.numpy"] is ours and llguidance.numpy is ours
    assert fill_next_token_bitmask is ours.fill_next_token_bitmask
    assert ours.__spec__.name == "larkspur.compat.llguidance.numpy"
    assert importlib.util.find_spec("llguidance") is not None
    assert importlib.util.find_spec("llguidance.torch") is not None
    assert importlib.util.find_spec("llguidance.nothing") is None
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("llguidance.nothing")


def test_version_is_found_by_name():
    import llguidance

    assert importlib.metadata.version("llguidance") == llguidance.__version__ == "1.9.1+larkspur"
    assert llguidance.get_version().startswith("llguidance@1.9.1")


def test_numpy_and_torch_are_imported_when_asked_for():
    code = "import sys, larkspur.compat; larkspur.compat.install(); import llguidance; "
    assert python(code + "print([name in sys.modules for name in ('numpy', 'torch', 'transformers')])") == str([False] * 3)


def test_install_after_another_llguidance():
    code = """
import sys, types
sys.modules["llguidance"] = types.ModuleType("llguidance")
import larkspur.compat
try:
    larkspur.compat.install()
except RuntimeError as error:
    print(error)
"""
    assert "imported already" in python(code)


def test_uninstall():
    code = """
import larkspur.compat, sys
larkspur.compat.install()
import llguidance.gbnf_to_lark
larkspur.compat.uninstall()
print([name for name in sys.modules if name.startswith("llguidance")], "larkspur.compat.llguidance" in sys.modules)
"""
    assert python(code) == "[] True"


def cli(tmp_path: Path, module: list[str], *arguments: str) -> subprocess.CompletedProcess:
    (tmp_path / "grammar.lark").write_text('start: x "!"\nx[capture]: /[a-z]+/\n')
    (tmp_path / "text").write_text("ab!")
    return run(
        *module, "--tokenizer", "byte", "--lark", str(tmp_path / "grammar.lark"), "--text", str(tmp_path / "text"), *arguments
    )


def test_command_line(tmp_path):
    done = cli(tmp_path, ["-m", "larkspur.compat.llguidance.cli"])
    assert done.returncode == 0, done.stderr
    assert "⟦a‧b‧!⟧" in done.stdout and "'name': 'x', 'str': 'ab'" in done.stdout
    (tmp_path / "schema.json").write_text('{"type": "integer"}')
    arguments = ["--tokenizer", "byte", "--json-schema", str(tmp_path / "schema.json"), "--text", str(tmp_path / "text")]
    refused = run("-m", "larkspur.compat.llguidance.cli", *arguments, "--ff-tokens", "--backtrack", "--log-level", "0")
    assert refused.returncode == 0 and "Token not in mask" in refused.stdout
    assert "No grammar provided" in run("-m", "larkspur.compat.llguidance.cli").stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    done = run(str(ROOT / "scripts" / "llguidance_wheel"), str(folder))
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


def test_wheel_is_sound(wheel):
    assert wheel.name == "llguidance-1.9.1+larkspur-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        assert archive.testzip() is None
        names = archive.namelist()
        metadata = archive.read("llguidance-1.9.1+larkspur.dist-info/METADATA").decode()
    assert "llguidance/py.typed" in names and "llguidance/torch.py" in names
    assert not any(name.endswith(".so") for name in names)
    assert "Requires-Dist: larkspur" in metadata and "Version: 1.9.1+larkspur" in metadata
    again = run(str(ROOT / "scripts" / "llguidance_wheel"), str(wheel.parent / "again"))
    assert Path(again.stdout.strip()).read_bytes() == wheel.read_bytes()


def test_wheel_stands_in(wheel, tmp_path):
    target = tmp_path / "site"
    done = run("-m", "pip", "install", "--no-deps", "--quiet", "--target", str(target), str(wheel))
    assert done.returncode == 0, done.stderr
    code = f"""
import sys
sys.path.insert(0, {str(target)!r})
import llguidance, llguidance.gbnf_to_lark, importlib.metadata, larkspur.compat.llguidance as ours
assert llguidance.__file__.startswith({str(target)!r})
assert llguidance.LLMatcher is ours.LLMatcher
assert set(llguidance.__all__) == set(ours.__all__)
m = llguidance.LLMatcher(llguidance.LLTokenizer("byte"), llguidance.grammar_from("gbnf", 'root ::= "a"'))
print(importlib.metadata.version("llguidance"), m.consume_token(97), m.is_stopped())
"""
    assert python(code) == "1.9.1+larkspur True True"
    environment = {"PYTHONPATH": str(target)}
    done = cli_in(tmp_path, environment)
    assert done.returncode == 0 and "⟦a‧b‧!⟧" in done.stdout, done.stderr


def cli_in(tmp_path: Path, environment: dict[str, str]) -> subprocess.CompletedProcess:
    import os

    (tmp_path / "schema.json").write_text(json.dumps({"const": "ab"}))
    (tmp_path / "text").write_text("ab!")
    arguments = ["--tokenizer", "byte", "--json-schema", str(tmp_path / "schema.json"), "--text", str(tmp_path / "text")]
    path = os.pathsep.join(filter(None, [environment["PYTHONPATH"], os.environ.get("PYTHONPATH")]))
    return run("-m", "llguidance.cli", *arguments, env={**os.environ, "PYTHONPATH": path})
