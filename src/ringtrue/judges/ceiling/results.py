"""What `estimate_query_confusions`, `ceiling` and `ceiling_scatter` give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.results import Estimate, plain_fields, to_plain

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.evaluation.measures import FloatArray

MIN_COVERED_SHARE = 0.5  # of the judged documents, below which a matrix says little about the others
MIN_JUDGED_SHARE = 0.8  # of what a run found, below which it is judgments that are missing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryConfusions:
    """How two judges differ, query by query: `counts[q, i, j]` of each query, and the matrix `pooled` over all.

    Labels are in the order of `pooled.labels`, with the testing judge in the rows. `ceiling` takes it in place of one
    matrix: each query then has its own, shrunk towards the pooled one.

    Examples:
        >>> import ringtrue as rt
        >>> labels = {"query": [*"pppp", *"qqqq"], "doc": [*"aabb"] * 2, "judge": ["ann", "bob"] * 4,
        ...           "label": [1, 1, 0, 0, 1, 0, 0, 0]}
        >>> confusions = rt.estimate_query_confusions(labels, testing="ann", training="bob")
        >>> confusions.queries, confusions.counts.tolist(), confusions.pooled.matrix.tolist()
        (('p', 'q'), [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]], [[1.0, 0.0], [0.5, 0.5]])
        >>> confusions.of("p").accuracy
        1.0
    """

    pooled: Confusion
    queries: tuple[str, ...]
    counts: FloatArray = field(repr=False)

    def of(self, query: str) -> Confusion:
        """The matrix of one query by its own counts, not shrunk."""
        if query not in self.queries:
            raise UsageError("unknown-query", f"no labels of query '{query}'{did_you_mean(query, self.queries)}")
        return replace(self.pooled, counts=self.counts[self.queries.index(query)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunCeiling:
    """Where a run stands below the ceiling, on the queries that have one.

    `ceiling` is its mean on the run's queries, `share` how much of it the run's nDCG reaches, and `room` the mean of
    ceiling − nDCG, with an interval over queries. A run may stand above: it need not have learned from that judge.
    `judged` is the share of what it found, down to the cutoff, that was judged: the rest counts as worth nothing.

    Examples:
        >>> import ringtrue as rt
        >>> confusion = rt.Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=[[80, 20], [30, 70]])
        >>> labels = {f"q{number}": {"a": 1, "b": 0} for number in range(3)}
        >>> run = {query: {"a": 0.0, "b": 1.0} for query in labels}
        >>> run_ceiling = rt.ceiling(labels, confusion, runs=run).runs["run"]
        >>> round(run_ceiling.ndcg.value, 3), round(run_ceiling.ceiling, 3), round(run_ceiling.share, 3)
        (0.631, 0.908, 0.695)
    """

    ndcg: Estimate
    ceiling: float | None
    share: float | None
    room: Estimate
    per_query: Mapping[str, float] = field(repr=False)
    judged: float | None = None

    @property
    def is_thinly_judged(self) -> bool:
        """Whether so little of what it found was judged that `room` need not be room for a better ranker."""
        return self.judged is not None and self.judged < MIN_JUDGED_SHARE

    @property
    def above(self) -> bool:
        """Whether the run's mean is above the ceiling, by more than rounding."""
        return self.room.value is not None and self.room.value < -1e-9

    @property
    def surely_above(self) -> bool:
        """Whether the whole interval of `room` lies below 0."""
        return self.above and self.room.high is not None and self.room.high < 0

    def __str__(self) -> str:
        if self.share is None or self.ceiling is None:
            return "undefined: " + "; ".join(self.ndcg.notes)
        return f"nDCG {self.ndcg}, {self.share:.0%} of the ceiling of {self.ceiling:.{self.ndcg.decimals}f}"

    def as_dict(self) -> dict[str, object]:
        """The run as plain data, in the key order of the command line's JSON."""
        return {
            "ndcg": self.ndcg.value,
            "share": self.share,
            "ceiling": self.ceiling,
            "queries": self.ndcg.n,
            "estimate": self.ndcg.as_dict(),
            "room": self.room.as_dict(),
            "judged": self.judged,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Ceiling:
    """The nDCG to expect of a ranker that has learned the training judge perfectly, scored by the testing judge.

    It is an expectation and no upper bound. With one matrix for all queries (`pooled`) it is usually too low, and runs
    can exceed it: a judge who is lenient on one query and strict on another keeps the order within each, and one matrix
    takes that for errors. Otherwise `own_matrices` of the queries have a matrix of their own, with `shrinkage` cases of
    the pooled one added to each row, and `confusion` is the pooled one.
    `estimate` is the mean over `queries`, with an interval as `evaluate` has it: for queries like these, and the
    matrix as it is. `per_query` has every judged query: how many documents, and the ceiling, which is null for the
    `skipped` ones, whose labels are all worth nothing. `simulated_se` is what draws leave open in the mean. The
    matrix was estimated from `covered` of the judged `documents`, None where nothing tells.

    Examples:
        >>> import ringtrue as rt
        >>> confusion = rt.Confusion(rows="gold", columns="crowd", labels=(0, 1), counts=[[80, 20], [30, 70]])
        >>> print(rt.ceiling({"q": {"a": 1, "b": 0}}, confusion, gain="linear"))
        nDCG 0.9077 to be expected over 1 query: rows are the testing judge (gold), columns the training judge (crowd)
    """

    estimate: Estimate
    skipped: int
    runs: Mapping[str, RunCeiling]
    per_query: pl.DataFrame = field(repr=False)
    method: str
    measure: str
    confusion: Confusion
    simulated_se: float | None = None
    documents: int = 0
    covered: int | None = None
    own_matrices: int = 0
    shrinkage: float | None = None
    notes: tuple[Note, ...] = ()

    @property
    def pooled(self) -> bool:
        """Whether one matrix stands for all queries."""
        return self.shrinkage is None

    @property
    def is_stretched(self) -> bool:
        """Whether the matrix comes from less than half of the documents that it is applied to."""
        return self.covered is not None and self.covered < MIN_COVERED_SHARE * self.documents

    @property
    def queries(self) -> int:
        """How many queries the mean is over."""
        return self.estimate.n

    @property
    def orientation(self) -> str:
        """In words, which judge stands in the rows of the matrix and which in its columns."""
        return describe_orientation(self.confusion)

    def __str__(self) -> str:
        if self.estimate.value is None:
            return str(self.estimate)
        runs = [f"{name}: {run_ceiling}" for name, run_ceiling in self.runs.items()]
        mean = f"{self.measure} {self.estimate} to be expected over {format_count(self.queries, 'query')}"
        return "\n".join([f"{mean}: {self.orientation}", *runs])

    def as_dict(self, *, per_query: bool = False) -> dict[str, object]:
        """The ceiling as plain data, in the key order of the command line's JSON."""
        plain: dict[str, object] = {
            "ceiling": self.estimate.as_dict(),
            "queries": self.queries,
            "skipped": self.skipped,
            "runs": to_plain(self.runs),
        }
        if per_query:
            plain["per_query"] = {
                query: {
                    "documents": documents,
                    "ceiling": value,
                    "runs": {name: run.per_query[query] for name, run in self.runs.items() if query in run.per_query},
                }
                for query, documents, value in self.per_query.iter_rows()
            }
        settings = plain_fields(self, "method", "measure", "simulated_se", "documents", "covered", "orientation")
        matrices = plain_fields(self, "pooled", "own_matrices", "shrinkage")
        return plain | settings | matrices | plain_fields(self, "confusion", "notes")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CeilingScatter:
    """What a ranking by one judge's labels really reaches by another's, beside what the confusion matrix predicts.

    `points` has a row for each pair of judges and each query: training, testing, query, documents, real, predicted.
    Lists of one document, in which there is nothing to rank, are left out; `single` is their number.
    `correlation` is Pearson's over the points, None where one side never changes; `difference` the mean of
    real − predicted, first of each query and then over the queries, with an interval over them.

    Examples:
        >>> import ringtrue as rt
        >>> docs = ["a", "a", "b", "b", "c", "c"]
        >>> labels = {"query": ["q"] * 6, "doc": docs, "judge": ["x", "y"] * 3, "label": [1, 1, 0, 1, 0, 0]}
        >>> print(rt.ceiling_scatter(labels))
        2 points of 2 ordered pairs of judges: real − predicted -0.0038, correlation 1.000
    """

    points: pl.DataFrame = field(repr=False)
    pairs: int
    correlation: float | None
    difference: Estimate
    measure: str
    single: int = 0
    notes: tuple[Note, ...] = ()

    @property
    def documents(self) -> float | None:
        """How many documents a list has on average: the scatter says nothing about much longer ones."""
        return float(self.points["documents"].to_numpy().mean()) if self.points.height else None

    def __str__(self) -> str:
        correlation = "undefined" if self.correlation is None else f"{self.correlation:.3f}"
        points = f"{format_count(self.points.height, 'point')} of {self.pairs:,} ordered pairs of judges"
        return f"{points}: real − predicted {self.difference}, correlation {correlation}"

    def as_dict(self) -> dict[str, object]:
        """The scatter as plain data, in the key order of the command line's JSON."""
        plain = plain_fields(self, "pairs", "correlation", "difference", "measure", "documents", "single", "notes")
        return {"points": self.points.to_dicts()} | plain


def describe_orientation(confusion: Confusion) -> str:
    """In words, which judge stands in the rows of a matrix and which in its columns.

    Examples:
        >>> import numpy as np
        >>> describe_orientation(Confusion(rows="gold", columns="training judge", labels=(0, 1), counts=np.eye(2)))
        'rows are the testing judge (gold), columns the training judge'
    """

    def judge(name: str, role: str) -> str:
        return f"the {name}" if name.startswith(role) else f"the {role} ({name})"

    return f"rows are {judge(confusion.rows, 'testing judge')}, columns {judge(confusion.columns, 'training judge')}"
