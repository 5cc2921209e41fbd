"""What the runs show: every document of their tops, its bronze label, and what a measure makes of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import polars as pl

from ringtrue.errors import MeasureError, UsageError
from ringtrue.evaluation.inputs import require_overlap
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, RankedLists
from ringtrue.messages import Note
from ringtrue.tables import Judgments, Run

if TYPE_CHECKING:
    from scipy.sparse import csr_array


NO_LABEL = -1  # the level of documents that the bronze judge did not label, or labelled as not judged
MAX_CELLS = 400_000_000  # of runs × documents
LINEAR = ("P", "CG", "DCG", "SDCG", "RBP")


@dataclass(frozen=True, kw_only=True, eq=False)
class Pool:
    """The union of the runs' first `depth` documents for the queries that the bronze judge knows.

    `docs` has a row for each document with its query and doc; `query` and `level` are its query and its bronze label as
    positions among `queries` and `levels`. Run `run[i]` shows document `doc_index[i]` at rank `rank[i]`.
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    levels: tuple[int, ...]
    depth: int
    docs: pl.DataFrame
    query: IntArray
    level: IntArray
    run: IntArray
    doc_index: IntArray
    rank: IntArray
    notes: tuple[Note, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.query)

    def weights(self, discounts: FloatArray) -> csr_array:
        """What each document adds to the mean over queries for each unit of gain: runs × documents."""
        from scipy.sparse import csr_array

        weight = discounts[self.rank - 1] / len(self.queries)
        nonzero = weight != 0
        return csr_array(
            (weight[nonzero], (self.run[nonzero], self.doc_index[nonzero])), shape=(len(self.runs), len(self))
        )

    @cached_property
    def runs_per_doc(self) -> IntArray:
        """How many runs show each document."""
        return np.bincount(self.doc_index, minlength=len(self)).astype(np.int64)

    @cached_property
    def similarity_key(self) -> IntArray:
        """A sort key that puts like documents next to each other: by bronze level, then by `runs_per_doc`."""
        order: IntArray = self.level * (self.runs_per_doc.max(initial=0) + 1) + self.runs_per_doc
        return order

    @cached_property
    def signature(self) -> str:
        """A short name for the documents, their bronze labels and how many runs show each, in whatever order."""
        label = pl.Series("label", np.array(self.levels)[self.level], dtype=pl.Int64)
        found_by = pl.Series("found_by", self.runs_per_doc, dtype=pl.Int64)
        labelled_docs = self.docs.select("query", "doc").with_columns(label, found_by).sort("query", "doc")
        return f"pool-{crc32(labelled_docs.write_csv().encode()):08x}"

    def positions_of(self, frame: pl.DataFrame) -> IntArray:
        """The position of each row's document here; −1 where no run shows it."""
        indexed = self.docs.with_row_index("place")
        joined = frame.select("query", "doc").join(indexed, on=["query", "doc"], how="left", maintain_order="left")
        return joined["place"].cast(pl.Int64).fill_null(-1).to_numpy()


def build_pool(runs: Sequence[Run], bronze: Judgments, *, depth: int) -> Pool:
    """The runs' tops against the bronze labels.

    A document without a bronze label has a level of its own. A query that a run does not have counts as having found
    nothing.

    Examples:
        >>> run = Run.of({"q": {"a": 2.0, "b": 1.0}})
        >>> pool = build_pool([run], Judgments.of({"q": {"a": 1}}), depth=10)
        >>> pool.docs["doc"].to_list(), [pool.levels[level] for level in pool.level]
        (['a', 'b'], [1, -1])
    """
    bronze.require_one_label_each()
    queries = bronze.frame["query"].unique(maintain_order=True)
    tops = []
    for index, run in enumerate(runs):
        require_overlap(run, queries.to_list())
        top = run.ranked(depth).filter(pl.col("query").is_in(queries.implode()))
        tops.append(top.select("query", "doc", "rank", run=pl.lit(index, dtype=pl.Int64)))
    ranked = pl.concat(tops)
    docs = ranked.select("query", "doc").unique(maintain_order=True).with_row_index("place")
    if docs.height * len(runs) > MAX_CELLS:
        raise UsageError(
            "too-many-documents",
            f"{len(runs)} runs show {docs.height:,} different documents: too many to correct at once; "
            f"choose a measure with a cutoff, such as DCG@10",
            parameter="measures",
        )
    appearances = ranked.join(docs, on=["query", "doc"], how="left", maintain_order="left")
    labelled_docs = docs.join(
        bronze.frame.select("query", "doc", "label"), on=["query", "doc"], how="left", maintain_order="left"
    )
    label = labelled_docs["label"].fill_null(NO_LABEL).to_numpy().astype(np.int64)
    label = np.where(label < 0, NO_LABEL, label)
    levels, level = np.unique(label, return_inverse=True)
    return Pool(
        runs=tuple(run.name for run in runs),
        queries=tuple(queries.to_list()),
        levels=tuple(int(bronze_label) for bronze_label in levels),
        depth=depth,
        docs=docs.select("query", "doc"),
        query=docs["query"].cast(pl.Enum(queries)).to_physical().to_numpy().astype(np.int64),
        level=level.astype(np.int64),
        run=appearances["run"].to_numpy(),
        doc_index=appearances["place"].to_numpy().astype(np.int64),
        rank=appearances["rank"].to_numpy().astype(np.int64),
        notes=_unlabelled_note(label, depth),
    )


def _unlabelled_note(label: IntArray, depth: int) -> tuple[Note, ...]:
    unlabelled = int((label == NO_LABEL).sum())
    if not unlabelled:
        return ()
    subject = "1 document has" if unlabelled == 1 else f"{unlabelled:,} documents have"
    text = f"of {len(label):,} documents in the top {depth}, {subject} no bronze label: a level of their own"
    return (Note("no-bronze-label", text),)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearMeasure:
    """A measure as Σ discount[rank] · gain(label): `discounts` for each rank, 1 at the first; `gains` by label.

    `reference_gain` is the gain of the label that told what the ranks weigh: the farthest from 0, or, where none of
    them is worth anything, one that would be.
    """

    measure: Measure
    discounts: FloatArray
    gains: dict[int, float]
    reference_gain: float

    def gain(self, labels: IntArray) -> FloatArray:
        """What each label is worth at rank 1."""
        distinct, index = np.unique(labels, return_inverse=True)
        return np.array([self.gains[int(label)] for label in distinct], dtype=np.float64)[index]

    @property
    def max_value(self) -> float:
        """What a list is worth that has the best label at every rank."""
        return float(self.discounts.sum()) * self.gain_limits[1]

    @property
    def gain_limits(self) -> tuple[float, float]:
        """The least and the greatest gain of a document that nobody judged."""
        gains = (0.0, self.reference_gain, *self.gains.values())
        return min(gains), max(gains)

    @property
    def gain_range(self) -> float:
        """How far the gains of two documents can lie apart, one of which nobody judged."""
        least, greatest = self.gain_limits
        return greatest - least


def is_linear(measure: Measure) -> bool:
    """Whether each document adds to the measure whatever stands above it, and whatever else could be found."""
    return measure.name in LINEAR and not dict(measure.parameters).get("judged_only", False)


def linearise(measure: Measure, labels: IntArray, *, depth: int) -> LinearMeasure:
    """The discounts and gains of a measure, found by asking its formula about lists with a single judged document.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> dcg = linearise(parse("DCG@3"), np.array([0, 2]), depth=5)
        >>> dcg.discounts.round(3).tolist(), dcg.gains
        ([1.0, 0.631, 0.5, 0.0, 0.0], {0: 0.0, 2: 2.0})
    """
    if not is_linear(measure):
        raise MeasureError(
            "no-sum-over-documents",
            f"{measure} is no sum over documents; those that are: {', '.join(LINEAR)}",
            parameter="measures",
        )
    parameters = dict(measure.parameters)
    distinct = sorted({int(label) for label in labels})
    gains = dict(
        zip(
            distinct,
            _score_single_documents(measure, np.ones(len(distinct), dtype=np.int64), np.array(distinct)).tolist(),
            strict=True,
        )
    )
    best = max(gains, key=lambda label: abs(gains[label]))
    if gains[best] == 0:  # no label is worth anything: any that is will tell what the ranks weigh
        best = max(1, parameters.get("rel", 1), max(distinct))
        if "gains" in parameters:
            best = max(parameters["gains"], key=lambda pair: abs(pair[1]))[0]
    ranks = np.arange(1, depth + 1)
    at_rank = _score_single_documents(measure, ranks, np.full(depth, best))
    first = at_rank[0] if at_rank[0] else 1.0
    return LinearMeasure(measure=measure, discounts=at_rank / first, gains=gains, reference_gain=float(at_rank[0]))


def _score_single_documents(measure: Measure, ranks: IntArray, labels: IntArray) -> FloatArray:
    """The measure of lists with one judged document each, at this rank with this label."""
    lists = RankedLists(
        offsets=np.arange(len(ranks) + 1),
        rank=ranks,
        label=labels,
        retrieved=ranks,
        pool_offsets=np.arange(len(ranks) + 1),
        pool=labels,
        max_label=int(labels.max()),
    )
    return measure(lists)
