"""What gold and bronze say of the same documents, and where the runs have these."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.correct import build_problem
from ringtrue.gold.correction.gold_sample import comparison_measures
from ringtrue.gold.correction.results import count_confusion, weighted_rate
from ringtrue.report.display_limits import DEFAULT_DEPTH
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.gold.correction.estimator import CorrectionProblem
    from ringtrue.report.inputs import ReportInputs

SAMPLED_FROM_RUNS = ("pool_random", "pool_stratified")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldPairs:
    """A gold and a bronze label for each document, −1 where bronze has none, and how many documents it stands for.

    `relevant` is by gold, `bronze_relevant` by bronze. `best_rank` is the highest place that any run gives a document,
    0 where no run has it; `docs_by_run` has the documents in each run's first `depth`, as positions. `queries` are
    those of the documents where gold judged whole ones, whose documents are alike; `drawn_for_comparison` says that
    gold was drawn from what the runs do not share, and stands for nothing else.
    """

    gold: IntArray
    bronze: IntArray
    weight: FloatArray
    relevant: NDArray[np.bool_]
    bronze_relevant: NDArray[np.bool_]
    best_rank: IntArray
    docs_by_run: Mapping[str, IntArray]
    depth: int
    level: float
    queries: IntArray | None = None
    drawn_for_comparison: bool = False

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether bronze says of a document what gold says: relevant, or not."""
        right: NDArray[np.bool_] = self.relevant == self.bronze_relevant
        return right

    @property
    def interval_method(self) -> str:
        """What the intervals are, in words."""
        return "Wilson" if self.queries is None else "Wilson, for queries like these"

    def count_confusion(self) -> Confusion:
        """How many labels were seen of each kind."""
        return count_confusion(self.gold, self.bronze)

    def weigh_confusion(self) -> Confusion:
        """The same, each label counting as often as documents it stands for; `worth` is what a row is worth."""
        table = count_confusion(self.gold, self.bronze, self.weight)
        has_bronze = self.bronze >= 0
        row = np.searchsorted(table.labels, self.gold[has_bronze])
        total, squares = (
            np.bincount(row, weights=self.weight[has_bronze] ** power, minlength=len(table.labels)) for power in (1, 2)
        )
        effective_n = np.divide(total**2, squares, out=np.zeros(len(total)), where=squares > 0)
        return Confusion(
            rows=table.rows, columns=table.columns, labels=table.labels, counts=table.counts, worth=effective_n
        )

    def rates(self, among: NDArray[np.bool_] | IntArray | None = None) -> tuple[Estimate, Estimate]:
        """How often bronze is right on relevant and on other documents, of all or of these."""
        where = np.arange(len(self.gold)) if among is None else np.arange(len(self.gold))[among]
        relevant = self.relevant[where]
        of_relevant, of_others = (self._rate(self.right, where[selected]) for selected in (relevant, ~relevant))
        return of_relevant, of_others

    def intervals(self) -> tuple[FloatArray, FloatArray]:
        """The ends of the interval of each share in the matrix; NaN where there is none."""
        shares = self.weigh_confusion()
        if self.queries is None:
            return shares.interval(self.level)
        share_estimates = [
            [
                self._rate(self.bronze == label, np.flatnonzero((self.gold == truth) & (self.bronze >= 0)))
                for label in shares.labels
            ]
            for truth in shares.labels
        ]
        low, high = (
            np.array([[getattr(estimate, end) for estimate in row] for row in share_estimates], dtype=np.float64)
            for end in ("low", "high")
        )
        return low, high

    def _rate(self, hits: NDArray[np.bool_], where: IntArray) -> Estimate:
        queries = None if self.queries is None else self.queries[where]
        return weighted_rate(hits[where], self.weight[where], self.level, queries)


def make_gold_problem(inputs: ReportInputs) -> CorrectionProblem | None:
    """The question that correction answers; None where there is nothing to correct, or nothing to correct by."""
    if not inputs.runs or inputs.judgments is None or inputs.gold is None:
        return None
    defaults = {"design": None, "method": None, "population": "like-these", "bronze_rel": None}
    settings = defaults | dict(inputs.correction_options)
    rng = inputs.rng("bronze judge")
    return build_problem(inputs.runs, inputs.judgments, inputs.gold, level=inputs.level, rng=rng, **settings)[0]


def pair_gold_with_bronze(problem: CorrectionProblem, inputs: ReportInputs) -> GoldPairs:
    """The gold labels beside those of bronze: of documents that the runs show, where gold was drawn from these."""
    assert isinstance(problem.gold, Judgments)
    measure = inputs.measures[0]
    labelled = (problem.all_bronze or problem.bronze).frame.select("query", "doc", bronze="label")
    labels = problem.gold.frame.join(labelled, on=["query", "doc"], how="left", maintain_order="left")
    labels = labels.with_row_index("place").with_columns(pl.col("bronze").fill_null(-1).clip(lower_bound=-1))
    from_runs = problem.design in SAMPLED_FROM_RUNS
    best_rank, docs_by_run, depth = _find_in_runs(
        problem, labels, measure.reach, deepest=measure.reach if from_runs else None
    )
    kept = np.flatnonzero(best_rank > 0 if from_runs else labels["bronze"].to_numpy() >= 0)
    if not len(kept):
        raise MismatchError("no gold document has a bronze label, or none is in a run: what bronze mixes up is unknown")
    rows = labels[kept]
    gold, bronze = (rows[name].to_numpy().astype(np.int64) for name in ("label", "bronze"))
    weighted = from_runs and "prob" in rows.columns and not rows["prob"].null_count()
    position = np.full(labels.height, -1)
    position[kept] = np.arange(len(kept))
    whole_queries = problem.design == "whole_queries"
    return GoldPairs(
        gold=gold,
        bronze=bronze,
        weight=1 / rows["prob"].to_numpy() if weighted else np.ones(len(kept)),
        relevant=gold >= measure.rel,
        bronze_relevant=bronze >= problem.bronze_threshold(measure),
        best_rank=best_rank[kept],
        docs_by_run={name: position[places][position[places] >= 0] for name, places in docs_by_run.items()},
        depth=depth,
        level=inputs.level,
        queries=rows["query"].rank("dense").to_numpy().astype(np.int64) if whole_queries else None,
        drawn_for_comparison=bool(comparison_measures(problem.gold)),
    )


def _find_in_runs(
    problem: CorrectionProblem, gold: pl.DataFrame, reach: int | None, *, deepest: int | None
) -> tuple[IntArray, dict[str, IntArray], int]:
    """The best rank of each gold document down to `deepest`, and which of them each run has in its tops."""
    best_rank = np.full(gold.height, np.iinfo(np.int64).max)
    docs_by_run, depth = {}, reach or DEFAULT_DEPTH
    for run in problem.runs:
        retrieved = run.ranked(deepest).join(gold.select("query", "doc", "place"), on=["query", "doc"], how="inner")
        place, rank = retrieved["place"].to_numpy().astype(np.int64), retrieved["rank"].to_numpy()
        np.minimum.at(best_rank, place, rank)
        docs_by_run[run.name] = np.sort(place[rank <= depth])
    return np.where(best_rank == np.iinfo(np.int64).max, 0, best_rank), docs_by_run, depth
