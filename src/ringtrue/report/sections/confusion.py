"""What a judge mixes up: gold and bronze labels of the same documents, matrices as heatmaps, mistakes in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.errors import MismatchError
from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.formatting.grid import Grid
from ringtrue.gold.correction.correct import build_problem
from ringtrue.gold.correction.gold_sample import comparison_measures
from ringtrue.gold.correction.results import count_confusion, weighted_rate
from ringtrue.judges.ceiling import QueryConfusions
from ringtrue.report.model import Heatmap
from ringtrue.report.sections.number_phrases import format_percent
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.encoding import cross_tabulate
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.gold.correction.results import CorrectionProblem
    from ringtrue.report.inputs import ReportInputs

SAMPLED_FROM_RUNS = ("pool_random", "pool_stratified")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GoldPairs:
    """A gold and a bronze label for each document, −1 where bronze has none, and how many documents it stands for.

    `relevant` is by gold, `bronze_relevant` by bronze. `best_rank` is the highest place that any run gives a document,
    0 where no run has it; `docs_by_run` has the documents in each run's first `depth`, as positions. `queries` are
    those of the documents where gold judged whole ones, whose documents are alike, as positions in `query_names`;
    `drawn_for_comparison` says that gold was drawn from what the runs do not share, and stands for nothing else.
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
    query_names: tuple[str, ...] = ()
    drawn_for_comparison: bool = False

    @property
    def right(self) -> NDArray[np.bool_]:
        """Whether bronze says of a document what gold says: relevant, or not."""
        return np.equal(self.relevant, self.bronze_relevant)

    @property
    def interval_method(self) -> str:
        """What the intervals are, in words."""
        return "Wilson" if self.queries is None else "Wilson, for queries like these"

    def count_confusion(self) -> Confusion:
        """How many labels were seen of each kind."""
        return count_confusion(self.gold, self.bronze)

    def count_query_confusions(self) -> QueryConfusions:
        """The same for each of the whole queries that gold judged."""
        assert self.queries is not None
        pooled, has_bronze = self.count_confusion(), self.bronze >= 0
        size = len(pooled.labels)
        gold, bronze = (np.searchsorted(pooled.labels, side[has_bronze]) for side in (self.gold, self.bronze))
        cells = cross_tabulate(self.queries[has_bronze], gold * size + bronze, len(self.query_names), size**2)
        counts = cells.reshape(-1, size, size).astype(np.float64)
        return QueryConfusions(pooled=pooled, queries=self.query_names, counts=counts)

    def weigh_confusion(self) -> Confusion:
        """The same, each label counting as often as documents it stands for; `worth` is what a row is worth."""
        table = count_confusion(self.gold, self.bronze, self.weight)
        has_bronze = self.bronze >= 0
        row = np.searchsorted(table.labels, self.gold[has_bronze])
        total, squares = (
            np.bincount(row, weights=self.weight[has_bronze] ** power, minlength=len(table.labels)) for power in (1, 2)
        )
        effective_n = np.divide(total**2, squares, out=np.zeros(len(total)), where=squares > 0)
        return replace(table, worth=effective_n)

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
        places = [np.flatnonzero((self.gold == truth) & (self.bronze >= 0)) for truth in shares.labels]
        estimates = [[self._rate(self.bronze == label, where) for label in shares.labels] for where in places]
        low, high = (
            np.array([[getattr(estimate, end) for estimate in row] for row in estimates], dtype=np.float64)
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
    defaults = {"design": None, "method": None, "population": "like-these", "bronze_rel": None, "sampling_frame": None}
    settings = defaults | dict(inputs.correction_options)
    rng = inputs.rng("bronze judge")
    return build_problem(inputs.runs, inputs.judgments, inputs.gold, level=inputs.level, rng=rng, **settings)[0]


def pair_gold_with_bronze(problem: CorrectionProblem, inputs: ReportInputs) -> GoldPairs:
    """The gold labels beside those of bronze: of documents that the runs show, where gold was drawn from these."""
    assert isinstance(problem.gold, Judgments)
    measure = inputs.measures[0]
    labelled = (problem.all_bronze or problem.bronze).frame.select("query", "doc", bronze="label")
    gold_rows = problem.gold.frame.drop("bronze", strict=False)  # a column of somebody's own may be called so
    labels = gold_rows.join(labelled, on=["query", "doc"], how="left", maintain_order="left")
    labels = labels.with_row_index("place").with_columns(pl.col("bronze").fill_null(-1).clip(lower_bound=-1))
    from_runs = problem.design in SAMPLED_FROM_RUNS
    deepest = measure.reach if from_runs else None
    best_rank, docs_by_run = _find_in_runs(problem, labels, inputs.depth, deepest=deepest)
    kept = np.flatnonzero(best_rank > 0 if from_runs else labels["bronze"].to_numpy() >= 0)
    if not len(kept):
        raise MismatchError(
            "gold-without-bronze",
            "no gold document has a bronze label, or none is in a run: what bronze mixes up is unknown",
        )
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
        depth=inputs.depth,
        level=inputs.level,
        queries=rows["query"].rank("dense").to_numpy().astype(np.int64) - 1 if whole_queries else None,
        query_names=tuple(rows["query"].unique().sort()) if whole_queries else (),
        drawn_for_comparison=bool(comparison_measures(problem.gold)),
    )


def _find_in_runs(
    problem: CorrectionProblem, gold: pl.DataFrame, depth: int, *, deepest: int | None
) -> tuple[IntArray, dict[str, IntArray]]:
    """The best rank of each gold document down to `deepest`, and which of them each run has in its first `depth`."""
    best_rank, docs_by_run = np.full(gold.height, np.iinfo(np.int64).max), {}
    for run in problem.runs:
        retrieved = run.ranked(deepest).join(gold.select("query", "doc", "place"), on=["query", "doc"], how="inner")
        place, rank = retrieved["place"].to_numpy().astype(np.int64), retrieved["rank"].to_numpy()
        np.minimum.at(best_rank, place, rank)
        docs_by_run[run.name] = np.sort(place[rank <= depth])
    return np.where(best_rank == np.iinfo(np.int64).max, 0, best_rank), docs_by_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """Where the trusted side says `truth`, the judge says `said`, in this `share` of such documents."""

    truth: int
    said: int
    share: float


def confusion_heatmap(
    shares: Confusion, counts: Confusion | None = None, *, up: str, across: str, title: str = ""
) -> Heatmap:
    """Shares as colours, and in the cells the share and below it how many labels were seen, where that is known.

    `counts` has the labels that were seen, where `shares` weighs them by what they stand for.
    """
    label_counts = counts or shares
    has_counts = "counts" in label_counts.as_dict()
    matrix = [[None if np.isnan(share) else float(share) for share in row] for row in shares.matrix]
    texts = tuple(
        tuple(_heatmap_cell(share, cell if has_counts else None) for cell, share in zip(cells, row, strict=True))
        for cells, row in zip(label_counts.counts.tolist(), matrix, strict=True)
    )
    names, values = tuple(map(str, shares.labels)), tuple(map(tuple, matrix))
    return Heatmap(rows=names, columns=names, values=values, texts=texts, up=up, across=across, title=title)


def confusion_grid(
    matrices: Sequence[tuple[str, Confusion, Confusion | None]],
    truth: str,
    level: float = 0.95,
    *,
    ends: tuple[FloatArray, FloatArray] | None = None,
    about: str = "Wilson",
) -> Grid:
    """A row for each label of each judge: shares, and the labels that were seen; one judge needs no name.

    `ends` are those of the intervals where they are not those of labels that are all drawn apart, and `about` says in
    words what the intervals are.
    """
    labels, names_judge = matrices[0][1].labels, len(matrices) > 1
    rows = []
    for name, shares, counts in matrices:
        label_counts = counts or shares
        has_counts = "counts" in label_counts.as_dict()
        low, high = shares.interval(level) if ends is None else ends
        for row, label in enumerate(labels):
            cells = [
                _share_with_interval(share, low[row, column], high[row, column])
                for column, share in enumerate(shares.matrix[row].tolist())
            ]
            total = _format_count(label_counts.counts[row].sum()) if has_counts else "–"
            rows.append([name, str(label), *cells, total])
    columns = ["judge", truth, *(f"says {label}" for label in labels), "labels"]
    caption = f"shares of each row, with {level:.0%} intervals ({about})"
    if not names_judge:
        return Grid(columns=columns[1:], rows=[row[1:] for row in rows], caption=caption)
    return Grid(columns=columns, rows=rows, caption=caption, left=2)


def worst_mistake(confusion: Confusion) -> Mistake | None:
    """The mistake that most labels make, with its share of the row; None where there is none.

    Examples:
        >>> worst_mistake(Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.array([[8, 2], [1, 0]])))
        Mistake(truth=0, said=1, share=0.2)
    """
    error_counts = np.asarray(confusion.counts, dtype=np.float64) * (1 - np.eye(len(confusion.labels)))
    row, column = np.unravel_index(int(error_counts.argmax()), error_counts.shape)
    if not error_counts[row, column]:
        return None
    share = float(confusion.matrix[row, column])
    return Mistake(truth=confusion.labels[int(row)], said=confusion.labels[int(column)], share=share)


def describe_mistake(mistake: Mistake, truth: str, judge: str) -> str:
    """The mistake in words."""
    share = format_percent(mistake.share)
    return f"where {truth} says {mistake.truth}, {judge} says {mistake.said} in {share} of cases"


def _heatmap_cell(share: float | None, count: float | None) -> str:
    if count is None:
        return format_percent(share)
    return f"{format_percent(share)}\n{_format_count(count)}" if count else "0"


def _share_with_interval(share: float, low: float, high: float) -> str:
    if np.isnan(share):
        return "–"
    return f"{share:.3f}" if np.isnan(low) else f"{share:.3f} ({low:.3f} to {high:.3f})"


def _format_count(cell: float) -> str:
    return f"{cell:,.0f}" if float(cell).is_integer() else f"{cell:,.1f}"
