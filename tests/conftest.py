"""What tests share."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Two processes share the cores, and as in the command line, threads that wait for each other cost more than they bring.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read by the processes that xdist starts
# A slow machine is no bug, and where nobody looks, every run tries the same examples; `make test` tries more of them.
for profile, examples in {"check": 15, "test": 50}.items():
    settings.register_profile(profile, deadline=None, derandomize=bool(os.environ.get("CI")), max_examples=examples)
settings.load_profile("check")
GC_THRESHOLDS = (10_000, 20, 20)  # the garbage collector comes far less often than it would: it is a tenth of the work
sys.path.insert(0, str(Path(__file__).parent))  # so that tests can import strategies
sys.path.append(str(Path(__file__).parents[1]))  # and the servers that benchmarks start, too
gc.disable()  # until all tests are there: until then next to nothing becomes garbage
# PostgreSQL and a store in each of the two databases, a browser, and the words that are held once
pytest_plugins = ["real_parts", "browsers", "golden_texts"]


def pytest_collection_finish() -> None:
    """What is there when the tests begin stays: the garbage collector need not look at it again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    gc.enable()


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
