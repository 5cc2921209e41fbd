"""Dawid and Skene's algorithm, 20 iterations, from a frame of item, worker and label in memory.

    python -m benchmarks.aggregation ringtrue 1000000

Each runs in a process of its own, which says what it took. Making the frame and importing do not count; everything
from the frame to the labels, their probabilities and the judges' matrices does.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any, TypeAlias

from benchmarks.process_cost import Cost, forget_peak, memory

JUDGES, LABELS, EACH, ITERATIONS = 2_000, 4, 5, 20
WHAT = f"{JUDGES:,} judges, {LABELS} classes, {ITERATIONS} iterations"
SMALL = 50_000  # labels, to compare what is found
Found: TypeAlias = dict[str, list[float]]  # item → the probability of every label


def frame(labels: int) -> Any:
    """As many labels of 2,000 judges, five for each item, in any order: all of it text."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(0)
    items = labels // EACH
    item = np.repeat(np.arange(items, dtype=np.int32), EACH)
    judge = (rng.integers(JUDGES, size=items)[:, None] + rng.permutation(JUDGES)[:EACH]).ravel() % JUDGES
    truth, right = rng.integers(LABELS, size=items), rng.beta(7, 3, JUDGES)
    said = np.where(rng.random(labels) < right[judge], truth[item], rng.integers(LABELS, size=labels))
    mixed = rng.permutation(labels)
    return pl.select(
        item=pl.lit("doc-") + pl.Series(item[mixed]).cast(pl.String).str.zfill(8),
        worker=pl.lit("w") + pl.Series(judge[mixed]).cast(pl.String),
        label=pl.Series(said[mixed]).cast(pl.String),
    )


def ringtrue(table: Any) -> Found:
    """Without a prior, as crowd-kit."""
    from ringtrue import aggregate

    found = aggregate(table, prior=None, max_iterations=ITERATIONS, tolerance=0)
    if found.iterations != ITERATIONS:
        raise ValueError(f"expected {ITERATIONS} iterations, found {found.iterations}")
    return _Lazily(lambda: dict(zip(found.items["doc"], found.probabilities.tolist(), strict=True)))


def crowd_kit(table: Any) -> Found:
    """As its documentation does; it must not stop before its time."""
    from crowdkit.aggregation import DawidSkene

    model = DawidSkene(n_iter=ITERATIONS, tol=-1.0).fit(table)
    if len(model.loss_history_) != ITERATIONS:
        raise ValueError(f"expected {ITERATIONS} iterations, found {len(model.loss_history_)}")
    return _Lazily(lambda: {item: list(row) for item, *row in model.probas_.sort_index(axis=1).itertuples()})


class _Lazily(dict):  # type: ignore[type-arg]
    """What was found, put into a dictionary only if somebody wants to see it."""

    def __init__(self, make: Callable[[], Found]) -> None:
        super().__init__()
        self.make = make


JOBS: dict[str, Callable[[Any], Found]] = {"ringtrue": ringtrue, "crowd-kit": crowd_kit}


def taken(name: str, labels: int) -> Cost:
    """What one turn takes: CPU seconds of all threads, and how much memory beside what was held before."""
    words = [sys.executable, "-m", "benchmarks.aggregation", name, str(labels)]
    return Cost(**json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout))


def agreement() -> str:
    """How far the probabilities that the two find for fewer labels are apart."""
    found = {}
    for name in JOBS:
        words = [sys.executable, "-m", "benchmarks.aggregation", name, str(SMALL), "--show"]
        found[name] = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
    ours, theirs = found.values()
    if ours.keys() != theirs.keys():
        raise ValueError(f"expected probabilities of {len(ours)} items, found {len(theirs)} or others")
    apart = [max(abs(a - b) for a, b in zip(ours[item], theirs[item], strict=True)) for item in ours]
    return f"largest difference of a probability, {SMALL:,} labels: {max(apart):.1e}"


def main() -> None:
    """Do one job, and print what it took; with --show what it found."""
    name, labels, *rest = sys.argv[1:]
    job, table = JOBS[name], _given(name, frame(int(labels)))
    job(_given(name, frame(1_000)))  # imports what is imported when needed
    forget_peak()
    held, start = memory("VmRSS"), time.process_time()
    found = job(table)
    seconds = time.process_time() - start
    if "--show" in rest:
        json.dump(found.make(), sys.stdout)  # type: ignore[attr-defined]
    else:
        json.dump({"seconds": seconds, "megabytes": memory("VmHWM") - held}, sys.stdout)


def _given(name: str, table: Any) -> Any:
    """The frame as each package wants it."""
    return table if name == "ringtrue" else table.rename({"item": "task"}).to_pandas()


if __name__ == "__main__":
    main()
