"""Lines are broken where they can be, found again where they went, and a test that sees them is named."""

from __future__ import annotations

import ast
import importlib.util
import random
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "break_lines.py"
spec = importlib.util.spec_from_file_location("break_lines", SCRIPT)
assert spec is not None
assert spec.loader is not None
break_lines = importlib.util.module_from_spec(spec)
sys.modules["break_lines"] = break_lines  # dataclasses look their module up
spec.loader.exec_module(break_lines)

SOURCE = '"""Ages."""\n\n\ndef is_grown(age):\n    """Whether."""\n    return age >= 18\n'
SEEING = (
    "from ringtrue.ages import is_grown\n\n\ndef test_it():\n    assert is_grown(18)\n    assert not is_grown(17)\n"
)
BLIND = "def test_it():\n    assert True\n"


def checkout(folder: Path, test: str) -> Path:
    (folder / "src/ringtrue").mkdir(parents=True)
    (folder / "tests").mkdir()
    (folder / ".venv/bin").mkdir(parents=True)
    (folder / "src/ringtrue/__init__.py").touch()
    (folder / "src/ringtrue/ages.py").write_text(SOURCE)
    (folder / "tests/test_ages.py").write_text(test)
    (folder / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["src"]\nmarkers = ["slow", "simulation"]\n'
    )
    (folder / ".venv/bin/pytest").symlink_to(Path(sys.executable).with_name("pytest"))
    return folder


@pytest.mark.parametrize(
    ("before", "after"),
    [("a < b", "a <= b"), ("a + b", "a - b"), ("a and b", "a or b"), ("3", "4"), ("not a", "a"), ("True", "False")],
)
def test_an_expression_is_broken_in_one_place(before: str, after: str) -> None:
    assert ast.unparse(break_lines.broken(ast.parse(before, mode="eval").body)) == after


@pytest.mark.parametrize("text", ["a", "f(a)", "'a'", "None"])
def test_what_has_nothing_to_turn_round_is_left_alone(text: str) -> None:
    assert break_lines.broken(ast.parse(text, mode="eval").body) is None


@pytest.mark.slow
@pytest.mark.parametrize(("test", "seen"), [(SEEING, "FAILED tests/test_ages.py::test_it"), (BLIND, None)])
def test_a_test_that_sees_the_broken_line_is_named_and_the_line_mended(
    test: str, seen: str | None, tmp_path: Path
) -> None:
    folder = checkout(tmp_path, test)
    (drawn,) = break_lines.choose(folder / "src", 1, random.Random(1))
    ((path, node),) = break_lines.find(folder / "src", drawn)
    assert break_lines.first_failure(folder, path, node, break_lines.FAST) == seen
    assert path.read_text() == SOURCE


def test_a_line_is_found_again_in_another_module(tmp_path: Path) -> None:
    folder = checkout(tmp_path, BLIND)
    (drawn,) = break_lines.choose(folder / "src", 1, random.Random(1))
    (folder / "src/ringtrue/ages.py").rename(folder / "src/ringtrue/people.py")
    assert [path.name for path, _ in break_lines.find(folder / "src", drawn)] == ["people.py"]
