"""The words of the sections, each situation under the name of its test: `tests/golden/report/SECTION.txt`."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from golden_texts import FOLDER
from report.page_words import words_of

HEADING = re.compile(r"^={10} (.+)\n", re.MULTILINE)


def pytest_itemcollected(item: pytest.Item) -> None:
    """`make golden` runs the tests that hold words."""
    if "words" in getattr(item, "fixturenames", ()):
        item.extra_keyword_matches.add("golden")


@pytest.fixture
def words(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Holds what parts of a page say against what they said before."""
    rewrite = request.config.getoption("--rewrite-golden")
    path = FOLDER / "report" / f"{Path(request.node.path).stem.removeprefix('test_')}.txt"

    def check(*parts: object) -> None:
        text = "\n\n".join(words_of(part) for part in parts)  # type: ignore[arg-type]
        known = _read_situations(path)
        if rewrite:
            known[request.node.name] = text
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(f"{'=' * 10} {name}\n{known[name]}\n" for name in sorted(known)))
        assert text == known.get(request.node.name), f"{path.name} has other words; `make golden` accepts these"

    return check


def _read_situations(path: Path) -> dict[str, str]:
    """The words by the test that holds them."""
    _, *parts = HEADING.split(path.read_text()) if path.exists() else [""]
    return {name: text.strip("\n") for name, text in zip(parts[::2], parts[1::2], strict=True)}
