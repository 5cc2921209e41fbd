"""What gold and bronze say of the same documents, and where the runs have these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.correct import task_of
from ringtrue.gold.correction.gold_sample import drawn_to_compare
from ringtrue.gold.correction.judge_rates import confusion_of, rate
from ringtrue.report.limits import DEEP
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.gold.correction.estimator import Task
    from ringtrue.report.inputs import Material

__all__ = ["GoldPairs", "gold_task", "pairs_of"]

FROM_THE_RUNS = ("pool_random", "pool_stratified")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldPairs:
    """A gold and a bronze label for each document, −1 where bronze has none, and how many documents it stands for.

    `relevant` is by gold, `called` by bronze. `best` is the highest place that any run gives the document, 0 where no
    run has it; `shown` has the documents in each run's first `depth`, as positions. `queries` are those of the
    documents where gold judged whole ones, whose documents are alike; `compared` says that gold was drawn from what the
    runs do not share, and stands for nothing else.
    """

    gold: IntArray
    bronze: IntArray
    weight: FloatArray
    relevant: NDArray[np.bool_]
    called: NDArray[np.bool_]
    best: IntArray
    shown: Mapping[str, IntArray]
    depth: int
    level: float
    queries: IntArray | None = None
    compared: bool = False

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether bronze says of a document what gold says: relevant, or not."""
        right: NDArray[np.bool_] = self.relevant == self.called
        return right

    @property
    def about(self) -> str:
        """What the intervals are, in words."""
        return "Wilson" if self.queries is None else "Wilson, for queries like these"

    def counted(self) -> Confusion:
        """How many labels were seen of each kind."""
        return confusion_of(self.gold, self.bronze)

    def weighted(self) -> Confusion:
        """The same, each label counting as often as documents it stands for; `worth` is what a row is worth."""
        table = confusion_of(self.gold, self.bronze, self.weight)
        said = self.bronze >= 0
        row = np.searchsorted(table.labels, self.gold[said])
        total, squares = (np.bincount(row, weights=self.weight[said] ** power, minlength=len(table.labels))
                          for power in (1, 2))  # fmt: skip
        worth = np.divide(total**2, squares, out=np.zeros(len(total)), where=squares > 0)
        return Confusion(rows=table.rows, columns=table.columns, labels=table.labels, counts=table.counts, worth=worth)

    def rates(self, among: NDArray[np.bool_] | IntArray | None = None) -> tuple[Estimate, Estimate]:
        """How often bronze is right on relevant and on other documents, of all or of these."""
        where = np.arange(len(self.gold)) if among is None else np.arange(len(self.gold))[among]
        relevant = self.relevant[where]
        of_relevant, of_others = (self._rate(self.right, where[kind]) for kind in (relevant, ~relevant))
        return of_relevant, of_others

    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """The ends of the interval of each share in the matrix; NaN where there is none."""
        shares = self.weighted()
        if self.queries is None:
            return shares.interval(self.level)
        found = [
            [self._rate(self.bronze == said, np.flatnonzero((self.gold == truth) & (self.bronze >= 0)))
             for said in shares.labels]
            for truth in shares.labels
        ]  # fmt: skip
        low, high = (np.array([[getattr(one, end) for one in row] for row in found], dtype=np.float64)
                     for end in ("low", "high"))  # fmt: skip
        return low, high

    def _rate(self, hits: NDArray[np.bool_], where: IntArray) -> Estimate:
        queries = None if self.queries is None else self.queries[where]
        return rate(hits[where], self.weight[where], self.level, queries)


def gold_task(material: Material) -> Task | None:
    """The question that correction answers; None where there is nothing to correct, or nothing to correct by."""
    if not material.runs or material.judgments is None or material.gold is None:
        return None
    usual = {"design": None, "method": None, "population": "like-these", "bronze_rel": None}
    given = usual | dict(material.correcting)
    rng = material.rng("bronze judge")
    return task_of(material.runs, material.judgments, material.gold, level=material.level, rng=rng, **given)[0]


def pairs_of(task: Task, material: Material) -> GoldPairs:
    """The gold labels beside those of bronze: of documents that the runs show, where gold was drawn from these."""
    assert isinstance(task.gold, Judgments)
    measure = material.measures[0]
    labelled = (task.labelled or task.bronze).frame.select("query", "doc", bronze="label")
    both = task.gold.frame.join(labelled, on=["query", "doc"], how="left", maintain_order="left")
    both = both.with_row_index("place").with_columns(pl.col("bronze").fill_null(-1).clip(lower_bound=-1))
    drawn = task.design in FROM_THE_RUNS
    best, shown, depth = _places(task, both, measure.reach, deepest=measure.reach if drawn else None)
    kept = np.flatnonzero(best > 0 if drawn else both["bronze"].to_numpy() >= 0)
    if not len(kept):
        raise MismatchError("no gold document has a bronze label, or none is in a run: what bronze mixes up is unknown")
    rows = both[kept]
    gold, bronze = (rows[name].to_numpy().astype(np.int64) for name in ("label", "bronze"))
    weighted = drawn and "prob" in rows.columns and not rows["prob"].null_count()
    place = np.full(both.height, -1)
    place[kept] = np.arange(len(kept))
    whole = task.design == "whole_queries"
    return GoldPairs(
        gold=gold, bronze=bronze, weight=1 / rows["prob"].to_numpy() if weighted else np.ones(len(kept)),
        relevant=gold >= measure.rel, called=bronze >= task.threshold(measure), best=best[kept],
        shown={name: place[some][place[some] >= 0] for name, some in shown.items()}, depth=depth, level=material.level,
        queries=rows["query"].rank("dense").to_numpy().astype(np.int64) if whole else None,
        compared=bool(drawn_to_compare(task.gold)),
    )  # fmt: skip


def _places(
    task: Task, gold: pl.DataFrame, reach: int | None, *, deepest: int | None
) -> tuple[IntArray, dict[str, IntArray], int]:
    """The best rank of each gold document down to `deepest`, and which of them each run has in its tops."""
    best = np.full(gold.height, np.iinfo(np.int64).max)
    shown, depth = {}, reach or DEEP
    for run in task.runs:
        found = run.ranked(deepest).join(gold.select("query", "doc", "place"), on=["query", "doc"], how="inner")
        place, rank = found["place"].to_numpy().astype(np.int64), found["rank"].to_numpy()
        np.minimum.at(best, place, rank)
        shown[run.name] = np.sort(place[rank <= depth])
    return np.where(best == np.iinfo(np.int64).max, 0, best), shown, depth
