"""Correction by gold labels: 37 runs, 300 labels, all 666 pairs, 10,000 draws.

    python -m benchmarks.correction correct

Each turn is a process of its own that prints the CPU seconds; reading, drawing the labels and importing do not count.
The runs are those of dl19 where RINGTRUE_DATA names a folder that has it; otherwise they are made.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.process_cost import least_seconds

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from ringtrue.tables import Judgments, Run

TASKS = {
    "sample": "300 of the documents that 37 runs show drawn for P@10 and DCG@10",
    "correct": "P@10 and DCG@10 of 37 runs corrected by 300 gold labels",
    "compare": "all 666 pairs of 37 runs compared by 300 gold labels",
    "bootstrap": "P@10 of 37 runs by the judge's rates, 10,000 draws for each",
    "graded": "DCG@10 of 37 runs by the judge's confusion matrix, 10,000 draws for each",
}
TURNS = 5
MEASURES = ["P(rel=2)@10", "DCG@10"]
RUNS, QUERIES = 37, 43


def taken(task: str) -> float:
    """CPU seconds, the least of several turns."""
    return least_seconds("benchmarks.correction", task, turns=TURNS)


def where() -> str:
    """Which data are used."""
    return "dl19" if _real() is not None else "made"


def _real() -> Path | None:
    folder = Path(os.environ.get("RINGTRUE_DATA", "")) / "dl19"
    return folder if (folder / "runs").is_dir() else None


def _data() -> tuple[list[Run], Judgments, Judgments]:
    """Runs, bronze and gold."""
    import numpy as np

    from ringtrue.files import read_judgments, read_run

    if (folder := _real()) is not None:
        runs = [read_run(path) for path in sorted((folder / "runs").iterdir())]
        return runs, read_judgments(folder / "llm-umbrela_gpt4.qrels"), read_judgments(folder / "human.qrels")
    from ringtrue.simulation import simulate_collection
    from ringtrue.tables import Run

    rng = np.random.default_rng(0)
    world = simulate_collection(rng=rng, queries=QUERIES)
    frames = [world.runs[place % 3].frame for place in range(RUNS)]
    noisy = [frame.with_columns(score=frame["score"] + rng.normal(size=frame.height)) for frame in frames]
    return [Run(frame, name=f"r{place}") for place, frame in enumerate(noisy)], world.bronze, world.gold


def with_gold() -> tuple[list[Run], Judgments, pl.DataFrame]:
    """Runs, bronze, and gold labels of 300 documents that were drawn from the runs."""
    import numpy as np

    import ringtrue as rt

    runs, bronze, truth = _data()
    drawn = rt.sample(runs, bronze, MEASURES, budget=300, rng=np.random.default_rng(0)).frame
    return runs, bronze, drawn.join(truth.frame.select("query", "doc", "label"), on=["query", "doc"])


def _task(task: str) -> Callable[[], object]:
    import numpy as np

    import ringtrue as rt
    from ringtrue.evaluation.measures import parse
    from ringtrue.gold.correction.correct import build_problem
    from ringtrue.gold.correction.proportion import correct_share
    from ringtrue.gold.correction.rate_estimator import RateEstimator

    runs, bronze, gold = with_gold()
    if task == "sample":
        return lambda: rt.sample(runs, bronze, MEASURES, budget=300, rng=np.random.default_rng(0))
    if task == "correct":
        return lambda: rt.correct(runs, bronze, gold, MEASURES)
    if task == "compare":
        return lambda: rt.compare_corrected(runs, bronze, gold, MEASURES[:1])
    elsewhere = gold.select("query", "doc", "label")
    asked, _ = build_problem(runs, bronze, elsewhere, design="external", method=None, population="like-these",
                       bronze_rel=None, level=0.95, rng=None)  # fmt: skip
    way = RateEstimator(problem=asked)
    if task == "graded":
        return lambda: way.estimates(parse("DCG@10"))
    p10 = parse(MEASURES[0])
    return lambda: [correct_share(score, way.rates(p10), interval="bootstrap", resamples=10_000)
                    for score in way.scores(p10)]  # fmt: skip


if __name__ == "__main__":
    run = _task(sys.argv[1])
    before = time.process_time()
    run()
    print(time.process_time() - before)
