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
    "web/test_kill", "studies/test_correction_coverage", "judge/test_in_browser", "significance/test_error_rates",
    "docs/test_pages_run", "studies/test_decision_errors", "web/test_story", "owner/test_story",
    "simulation/studies/test_real_judges", "studies/test_rating_designs", "docs/test_tables",
    "owner/test_accessibility", "agreement/test_coverage", "disagreement/test_coverage", "quality/test_flags",
    "web/test_load", "cli/studies/test_correction", "api/test_schemathesis",
)  # fmt: skip


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    def place(item: pytest.Item) -> int:
        path = item.path.with_suffix("").as_posix()
        return next((at for at, end in enumerate(FIRST) if path.endswith(end)), len(FIRST))

    items.sort(key=place)


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
