"""The User Disagreement Model: p and weights of every label with 1,000 bootstrap draws, and what --verify adds.

    python -m benchmarks.disagreement estimate

Each turn is a process of its own that prints the CPU seconds; reading and importing do not count. The labels are those
of rf10 where RINGTRUE_DATA names a folder that has it; otherwise as many are made.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.process_cost import least_seconds

if TYPE_CHECKING:
    import polars as pl

TASKS = {
    "estimate": "p and weights of every label, 1,000 bootstrap draws",
    "verify": "the same, and seven M/N verified",
    "mutual": "mutual evaluation, nine measures",
}
TURNS = 3
LABELS, TOPICS, DOCUMENTS, WORKERS = 98_453, 100, 20_232, 766


def taken(task: str) -> float:
    """CPU seconds, the least of several turns."""
    return least_seconds("benchmarks.disagreement", task, turns=TURNS)


def where() -> str:
    """Which data are used."""
    return "rf10" if _real() is not None else "made"


def _real() -> Path | None:
    file = Path(os.environ.get("RINGTRUE_DATA", "")) / "rf10/labels.csv"
    return file if file.is_file() else None


def _data() -> pl.DataFrame:
    import numpy as np
    import polars as pl

    if (file := _real()) is not None:
        labels = pl.read_csv(file, schema_overrides={"topic": pl.String}).filter(pl.col("label") >= 0)
        return labels.select(query="topic", doc="doc", judge="worker", label="label")
    rng = np.random.default_rng(0)
    doc = rng.integers(0, DOCUMENTS, LABELS)
    return pl.DataFrame({"query": doc % TOPICS, "doc": doc, "judge": rng.integers(0, WORKERS, LABELS),
                         "label": np.minimum(rng.poisson(rng.gamma(1, 0.7, DOCUMENTS)[doc]), 2)})  # fmt: skip


def _seconds(task: str) -> float:
    import ringtrue as rt

    labels = _data()
    shares = ("1/2", "1/3", "1/4", "1/5", "2/3", "2/4", "2/5") if task == "verify" else ()
    before = time.process_time()
    if task == "mutual":
        rt.mutual_evaluation(labels, repeats="last")
    else:
        rt.disagree(labels, "1/3", repeats="all", verify=shares)
    return time.process_time() - before


if __name__ == "__main__":
    print(_seconds(sys.argv[1]))
