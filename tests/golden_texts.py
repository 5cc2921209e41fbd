"""Words are held once, in files under `tests/golden`; `pytest --rewrite-golden` writes them anew.

A test that looks at words says `golden("cli/evaluate.txt", text)`. Numbers, codes and types are asserted beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that accepts the words as they now are."""
    parser.addoption("--rewrite-golden", action="store_true", help="write the files of tests/golden anew")


@pytest.fixture(scope="session")
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Holds a text against the file of this name under `tests/golden`."""
    rewrite = request.config.getoption("--rewrite-golden")

    def check(name: str, text: str) -> None:
        path = FOLDER / name
        text = "\n".join(line.rstrip() for line in text.splitlines()) + "\n"
        if rewrite:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"there is no {path.name} yet: `make golden` writes it"
        assert text == path.read_text(), f"{name} has other words now; if they are better, `make golden` accepts them"

    return check
