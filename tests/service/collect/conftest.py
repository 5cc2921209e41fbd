"""A store for tests in which it does not matter which database it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ringtrue.service.store import Store


@pytest.fixture
def quick(sqlite_path: Path) -> Iterator[Store]:
    """An empty store in SQLite; `store` is one in each of the two databases."""
    with Store.open(str(sqlite_path)) as opened:
        yield opened
