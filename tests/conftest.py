"""What tests share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# A slow machine is no bug; and where nobody looks, every run tries the same examples.
settings.register_profile("ringtrue", deadline=None, derandomize=bool(os.environ.get("CI")))
settings.load_profile("ringtrue")
sys.path.insert(0, str(Path(__file__).parent))  # so that tests can import strategies
sys.path.append(str(Path(__file__).parents[1]))  # and the servers that benchmarks start, too
pytest_plugins = ["real_parts", "browsers"]  # PostgreSQL, a store in each of the two databases, and a browser


# Files that take long begin first, by turns those that start servers and those that only compute, so that no process
# waits for another at the end. A file stays in one process (`--dist=loadfile`), and so does what its tests share.
FIRST = (
    "test_kill", "test_correcting", "test_judging_in_browser", "test_levels", "test_pages_run", "test_deciding",
    "test_story", "test_real_judges", "test_preferring", "test_tables", "test_owning_accessible", "test_coverage",
    "test_flagging", "test_load", "test_correction_studies", "test_schemathesis",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {name: at for at, name in enumerate(FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(FIRST)))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with real data that RINGTRUE_DATA names."""
    folder = os.environ.get("RINGTRUE_DATA")
    if not folder:
        pytest.skip("set RINGTRUE_DATA to the folder with real data to run this test")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"RINGTRUE_DATA names {folder}, which is no folder")
    return path
