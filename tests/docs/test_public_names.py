"""A walk over the public names: none without a docstring, an example that runs and a place in the reference."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path

import pytest

import ringtrue

REFERENCE = (Path(__file__).parents[2] / "docs/reference/python.md").read_text()
NAMES = [name for name in ringtrue.__all__ if name != "__version__"]  # a string has no docstring of its own
CLASSES = [name for name in NAMES if inspect.isclass(getattr(ringtrue, name))]
ERRORS = [name for name in CLASSES if issubclass(getattr(ringtrue, name), Exception)]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_has_a_docstring(name: str) -> None:
    thing = getattr(ringtrue, name)
    assert inspect.getdoc(thing)
    # A dataclass without a docstring gets its signature as one.
    assert not (inspect.getdoc(thing) or "").startswith(f"{name}(")


# What an error looks like is shown where it is raised, and on docs/reference/errors.md.
@pytest.mark.parametrize("name", [name for name in NAMES if name not in ERRORS])
def test_every_public_name_has_an_example_that_runs(name: str, request: pytest.FixtureRequest) -> None:
    thing = getattr(ringtrue, name)
    home = vars(inspect.getmodule(thing))
    names = home | {"getfixture": request.getfixturevalue}
    tests = [test for test in doctest.DocTestFinder(recurse=False).find(thing, name, globs=names) if test.examples]
    assert tests, f"ringtrue.{name} has no example in its docstring"
    for test in tests:
        said: list[str] = []
        assert not doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append).failed, "".join(said)


@pytest.mark.parametrize("name", ringtrue.__all__)
def test_every_public_name_has_a_section_in_the_python_reference(name: str) -> None:
    assert f"\n## {name}\n" in REFERENCE
    assert name == "__version__" or f"<!-- generated: name {name} -->" in REFERENCE


@pytest.mark.parametrize("name", CLASSES)
def test_everything_that_a_public_class_offers_has_a_docstring(name: str) -> None:
    for member, value in vars(getattr(ringtrue, name)).items():
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property | classmethod)):
            assert inspect.getdoc(getattr(value, "__func__", value)), f"ringtrue.{name}.{member}"
