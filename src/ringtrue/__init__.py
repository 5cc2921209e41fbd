"""ringtrue: search evaluation when the judges are imperfect.

    import ringtrue as rt

    run = rt.read_run("bm25.run")
    judgments = rt.read_judgments("human.qrels")
    print(rt.evaluate(run, judgments, "nDCG@10").means())

Everything public is named in `__init__.pyi` and loaded when it is first used, so that importing costs nothing.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from types import ModuleType

from ringtrue._version import __version__ as __version__


@cache
def _homes() -> dict[str, str]:
    """The module that each public name comes from, as the stub says."""
    import re

    stub = __spec__.loader.get_data(f"{__file__}i").decode()
    imports = re.findall(r"^from (\S+) import (\([^)]*\)|.+)", stub, re.MULTILINE)
    return {name: home for home, names in imports for name in re.findall(r"(\w+) as \1", names)}


def __getattr__(name: str) -> object:
    if name == "__all__":
        return sorted(_homes())
    if name not in _homes():
        raise AttributeError(f"module 'ringtrue' has no attribute '{name}'")
    return getattr(import_module(_homes()[name]), name)


def __dir__() -> list[str]:
    return sorted(_homes())


class _FrontDoor(ModuleType):
    """A room never hides a public name: `ringtrue.report` stays the function when the package is imported."""

    def __setattr__(self, name: str, value: object) -> None:
        is_room = isinstance(value, ModuleType) and value.__name__ == f"{__name__}.{name}"
        if not (is_room and name in _homes()):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _FrontDoor
