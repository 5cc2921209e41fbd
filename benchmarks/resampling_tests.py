"""The tests alone: CPU seconds of `compare` on scores that are in memory, importing apart.

    python -m benchmarks.resampling_tests permutation

Each runs in a process of its own, which says what it took: importing and making the scores do not count.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ringtrue.tables import Scores

QUERIES = 200
TURNS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """What to compare, and how; all pairs of the runs."""

    words: str
    runs: int = 20
    measures: int = 1
    test: str = "t"
    adjust: str = "holm"

    @property
    def pairs(self) -> int:
        """All comparisons, over all measures."""
        return self.measures * self.runs * (self.runs - 1) // 2


CASES = {
    "t": Case(words="paired t"),
    "permutation": Case(words="10,000 permutations", test="permutation"),
    "bootstrap": Case(words="10,000 bootstrap resamples", test="bootstrap"),
    "tukey": Case(words="paired t, Tukey's HSD by 10,000", adjust="tukey"),
    "many": Case(words="paired t", runs=37, measures=4),
    "many-permutation": Case(words="10,000 permutations", runs=37, measures=4, test="permutation"),
}


def seconds(name: str) -> float:
    """What the case takes: the least of several turns."""
    words = [sys.executable, "-m", "benchmarks.resampling_tests", name]
    return min(float(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout) for _ in range(TURNS))


def _scores(*, runs: int, measures: int, queries: int = QUERIES) -> Scores:
    """Values between 0 and 1: some queries are easier than others, and each run is a little better than the last."""
    import numpy as np
    import polars as pl

    from ringtrue.tables import Scores

    rng = np.random.default_rng(0)
    easy = rng.normal(0, 1, (measures, 1, queries))
    better = np.linspace(0, 0.5, runs)[None, :, None]
    values = 1 / (1 + np.exp(-(easy + better + rng.normal(0, 1, (measures, runs, queries)))))
    measure, run, query = (axis.ravel() for axis in np.indices(values.shape))
    return Scores(
        pl.DataFrame(
            {
                "run": [f"run-{number:02}" for number in run],
                "query": [f"q{number}" for number in query],
                "measure": [f"P@{number + 1}" for number in measure],
                "value": values.ravel(),
            }
        )
    )


def main() -> None:
    """Do one case, and print the CPU seconds of all threads."""
    from ringtrue.evaluation.significance import compare

    case = CASES[sys.argv[1]]
    how: Any = {"test": case.test, "adjust": case.adjust}
    compare(_scores(runs=3, measures=1, queries=20), **how, resamples=100)  # imports what is imported when needed
    scores = _scores(runs=case.runs, measures=case.measures)
    start = time.process_time()
    found = compare(scores, **how)
    taken = time.process_time() - start
    if len(found) != case.pairs:
        raise ValueError(f"expected {case.pairs} comparisons, found {len(found)}")
    print(taken)


if __name__ == "__main__":
    main()
