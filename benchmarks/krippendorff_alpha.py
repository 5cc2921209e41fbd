"""Krippendorff's alpha from long labels, beside the `krippendorff` package, which is given its matrix.

    python -m benchmarks.krippendorff_alpha dense ringtrue

Each turn is a process of its own that prints the CPU seconds and what it found; making the data and importing do not
count.
"""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABELS = 500_000
TURNS = 7
METRIC = "ordinal"
CONTESTANTS = ("ringtrue", "ringtrue from a table", "krippendorff")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Half a million labels: so many judges, of whom `each` label an item."""

    judges: int
    each: int

    @property
    def words(self) -> str:
        """What there is."""
        return f"Krippendorff's alpha, {LABELS:,} labels of {self.judges} judges, {self.each} an item"


CASES = {"dense": Case(judges=10, each=10), "crowd": Case(judges=200, each=5)}


def taken(case: str, contestant: str) -> tuple[float, float]:
    """CPU seconds, the least of several turns, and alpha."""
    words = [sys.executable, "-m", "benchmarks.krippendorff_alpha", case, contestant]
    turns = [subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.split() for _ in range(TURNS)]
    return min(float(seconds) for seconds, _ in turns), float(turns[0][1])


def _labels(case: Case) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Item, judge and label of every vote, in no order."""
    import numpy as np

    rng = np.random.default_rng(0)
    items = LABELS // case.each
    item = np.repeat(np.arange(items), case.each)
    judge = np.arange(LABELS) % case.each + np.repeat(rng.integers(0, case.judges - case.each + 1, items), case.each)
    label = np.clip(rng.integers(0, 4, items).repeat(case.each) + rng.integers(-1, 2, LABELS), 0, 3)
    order = rng.permutation(LABELS)
    return item[order], judge[order], label[order]


def main() -> None:
    """One turn of one contestant."""
    case, contestant = CASES[sys.argv[1]], sys.argv[2]
    item, judge, label = _labels(case)
    if contestant == "krippendorff":
        import krippendorff
        import numpy as np

        matrix = np.full((case.judges, int(item.max()) + 1), np.nan)
        matrix[judge, item] = label
        start = time.process_time()
        found = krippendorff.alpha(matrix, level_of_measurement=METRIC)
    elif contestant == "ringtrue":
        from ringtrue.judges.agreement import krippendorff_alpha

        start = time.process_time()
        found = krippendorff_alpha(item, label, metric=METRIC)
    else:
        import polars as pl

        from ringtrue.judges.agreement import agree
        from ringtrue.tables import Judgments

        words = {"doc": pl.Series(item).cast(pl.String), "judge": pl.Series(judge).cast(pl.String), "label": label}
        table = Judgments.of(words, needs_query=False)
        start = time.process_time()
        found = agree(table, resamples=0, pairs=0).overall[f"alpha_{METRIC}"].value
    print(time.process_time() - start, found)


if __name__ == "__main__":
    main()
