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
pytest_plugins = ["real_parts"]  # PostgreSQL, and a store in each of the two databases


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
