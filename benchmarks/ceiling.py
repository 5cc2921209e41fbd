"""The ceiling on nDCG: 1,000 queries of 120 documents and 5 grades, by each of the three methods.

    python -m benchmarks.ceiling exact

Each turn is a process of its own that prints the CPU seconds; making the data and importing do not count.
"""

from __future__ import annotations

import sys
import time

from benchmarks.process_cost import least_seconds

TASKS = {
    "exact": "exact",
    "closed-form": "closed form",
    "simulation": "simulation, 1,000 draws for each query",
}
TURNS = 3
QUERIES, DOCUMENTS, GRADES = 1_000, 120, 5
WHAT = f"{QUERIES:,} queries of {DOCUMENTS} documents, {GRADES} grades"


def taken(task: str) -> float:
    """CPU seconds, the least of several turns."""
    return least_seconds("benchmarks.ceiling", task, turns=TURNS)


def _seconds(task: str) -> float:
    import numpy as np
    import polars as pl

    import ringtrue as rt

    rng = np.random.default_rng(0)
    # No two queries alike, as labels of web search are: half of the documents bad, hardly one perfect.
    shares = rng.dirichlet(20 * np.array([0.52, 0.32, 0.13, 0.02, 0.01]), QUERIES)
    labels = np.concatenate([rng.choice(GRADES, DOCUMENTS, p=share) for share in shares])
    judgments = rt.Judgments.of(
        pl.DataFrame(
            {
                "query": np.repeat([f"q{number}" for number in range(QUERIES)], DOCUMENTS),
                "doc": np.tile([f"d{number}" for number in range(DOCUMENTS)], QUERIES),
                "label": labels,
            }
        )
    )
    counts = 100 * (0.4 * rng.dirichlet(np.ones(GRADES), GRADES) + 0.6 * np.eye(GRADES))
    confusion = rt.Confusion(rows="gold", columns="crowd", labels=tuple(range(GRADES)), counts=counts)
    rt.ceiling({"q": {"a": 1, "b": 0}}, confusion)  # whatever is loaded when it is first used
    before = time.process_time()
    rt.ceiling(judgments, confusion, method=task)  # type: ignore[arg-type]
    return time.process_time() - before


if __name__ == "__main__":
    print(_seconds(sys.argv[1]))
