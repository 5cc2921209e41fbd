"""The shape of the source stays what it is: few rooms, and names that say something."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "tools" / "shape.py"
spec = importlib.util.spec_from_file_location("shape", SCRIPT)
assert spec is not None
assert spec.loader is not None
shape = importlib.util.module_from_spec(spec)
spec.loader.exec_module(shape)
SOURCE = ROOT / "src" / "ringtrue"


@cache
def modules() -> dict[str, ast.Module]:
    """Every module of the source, parsed."""
    return {shape.module_name(path, SOURCE): ast.parse(path.read_text()) for path in SOURCE.rglob("*.py")}


def counts(*options: str) -> dict[str, str]:
    printed = subprocess.run([sys.executable, str(SCRIPT), *options], check=True, capture_output=True, text=True).stdout
    return {line.rsplit("  ", 1)[0].strip(): line.rsplit("  ", 1)[1] for line in printed.splitlines() if "  " in line}


def test_a_small_checkout_is_counted_as_by_hand(tmp_path: Path) -> None:
    package = tmp_path / "src/ringtrue"
    (package / "room").mkdir(parents=True)
    (tmp_path / "tests").mkdir()
    (package / "__init__.py").write_text("")
    (package / "loose.py").write_text("def _told():\n    one = 1\n    return one\n")
    (package / "room/__init__.py").write_text("")
    (package / "room/telling.py").write_text('from ringtrue.loose import _told\nHINT = "say --rel 1"\n')
    others = 'assert 1, "one two three"\n    assert rows("SELECT one FROM two")'
    (tmp_path / "tests/test_a.py").write_text(f'def test_a():\n    assert "one two three" in f()\n    {others}\n')
    contract = '[[tool.importlinter.contracts]]\ncontainers = ["ringtrue"]\nlayers = ["room", "loose"]\n'
    (tmp_path / "pyproject.toml").write_text(contract)
    found = counts(str(tmp_path))
    assert found["modules"] == "4"
    assert found["modules with a single importer"] == "1"
    assert (found["packages at the root"], found["loose modules at the root"], found["layers"]) == ("1", "1", "2")
    assert found["module names ending in -ing"] == "1 (25%)"
    assert found["literals outside cli/ that name options or commands"] == "1"
    assert (found["tests that assert prose"], found["assertions of prose"]) == ("1 of 1 (100%)", "1")


def test_there_are_at_most_seventeen_rooms_and_three_modules_beside_them() -> None:
    packages = {shape.module_name(path, SOURCE) for path in SOURCE.rglob("__init__.py")}
    assert sum(name.count(".") == 1 for name in packages) <= 17
    assert sum(name.count(".") == 1 for name in modules().keys() - packages) <= 3


def test_no_private_name_is_shared_by_many_functions() -> None:
    homes = shape.meanings(modules())
    assert {name: len(modules) for name, modules in homes.items() if len(modules) > shape.MANY_MEANINGS} == {}


@pytest.mark.slow
def test_nothing_is_called_one_or_found() -> None:
    bound = Counter(name for tree in modules().values() for name in shape.bound_names(tree))
    assert {name: bound[name] for name in ("one", "found", "told", "thing", "stuff") if bound[name] > 4} == {}


def test_modules_are_short_and_the_formatter_formats_them() -> None:
    texts = {name: path.read_text() for path in SOURCE.rglob("*.py") for name in [shape.module_name(path, SOURCE)]}
    assert {name: len(text.splitlines()) for name, text in texts.items() if len(text.splitlines()) > 400} == {}
    assert sum(text.count("# fmt: skip") for text in texts.values()) < 40
    assert [name for name, text in texts.items() if "__all__ = " in text] == []


@pytest.mark.slow
def test_a_name_is_imported_from_where_it_is_defined_or_from_a_package() -> None:
    packages = {shape.module_name(path, SOURCE) for path in SOURCE.rglob("__init__.py")}
    borrowed = {
        name: {
            alias.asname or alias.name for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        for name, tree in modules().items()
    }
    assert [
        (name, node.module, alias.name)
        for name, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module in borrowed and node.module not in packages
        for alias in node.names
        if alias.name in borrowed[node.module]
    ] == []
