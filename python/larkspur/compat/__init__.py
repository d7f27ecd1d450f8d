"""Larkspur in llguidance's place.

`install()` puts a module `llguidance` with all its submodules in `sys.modules`, in the names, signatures, types and
error behaviour of llguidance 1.9; what differs on purpose is listed in `docs/migrating-from-llguidance.md`.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from os import PathLike
from types import CodeType, ModuleType
from typing import NoReturn

__all__ = ["install", "uninstall"]

_OURS = "larkspur.compat.llguidance"


def install() -> ModuleType:
    """Makes `import llguidance`, and of every submodule, give Larkspur's; returns the module. Again: no effect.

    Call it before anything imports llguidance: raises `RuntimeError` if the real one is loaded already, since names that
    were imported from it would stay. `importlib.metadata.version("llguidance")` answers too.
    """
    ours = importlib.import_module(_OURS)
    loaded = sys.modules.get("llguidance", ours)
    if loaded is not ours:
        raise RuntimeError("llguidance is imported already; call larkspur.compat.install() before that")
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    sys.modules["llguidance"] = ours
    return ours


def uninstall() -> None:
    """Takes back `install()`: later imports find what is installed under the name, if anything is."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
    for name, module in list(sys.modules.items()):
        if name == "llguidance" or name.startswith("llguidance."):
            if module.__name__.startswith(_OURS):
                del sys.modules[name]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `llguidance.x` as the module that `larkspur.compat.llguidance.x` is, so that there is one of each."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, _, rest = fullname.partition(".")
        if package != "llguidance" or rest and importlib.util.find_spec(f"{_OURS}.{rest}") is None:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=not rest)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_OURS + spec.name.removeprefix("llguidance"))
        # The import system is about to write the other name's spec over it.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state

    def get_code(self, fullname: str) -> CodeType | None:
        """For `runpy`."""
        spec = importlib.util.find_spec(_OURS + fullname.removeprefix("llguidance"))
        assert spec is not None and isinstance(spec.loader, importlib.abc.InspectLoader)
        return spec.loader.get_code(spec.name)

    def find_distributions(
        self, context: importlib.metadata.DistributionFinder.Context = importlib.metadata.DistributionFinder.Context()
    ) -> Iterable[importlib.metadata.Distribution]:
        return [_Distribution()] if context.name in (None, "llguidance") else []


class _Distribution(importlib.metadata.Distribution):
    """For those who look for the package by its name and version."""

    def read_text(self, filename: str) -> str | None:
        from .llguidance import __version__

        return f"Metadata-Version: 2.1\nName: llguidance\nVersion: {__version__}\n" if filename == "METADATA" else None

    def locate_file(self, path: str | PathLike[str]) -> NoReturn:
        raise FileNotFoundError(path)


_FINDER = _Finder()
