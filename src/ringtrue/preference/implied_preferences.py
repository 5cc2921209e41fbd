"""The preferences that labels imply: of two documents, the one with the higher label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, TypeAlias

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import DuplicateError, TableError
from ringtrue.messages import Suggestion
from ringtrue.stats.encoding import encode_column, encode_keys
from ringtrue.tables import Judgments, Preferences

MAX_PAIRS = 50_000_000  # a table of so many takes some gigabytes
Rows: TypeAlias = NDArray[np.int64]


def implied_preferences(judgments: object, *, ties: bool = False) -> Preferences:
    """Of every two documents of a query that one judge labelled, the one with the higher label is preferred.

        left wins  ⇔  label(left) > label(right),    Σ_{a<b} n_a n_b pairs for n_a documents with label a

    Documents with equal labels say nothing, unless `ties` asks for them as ties. Labels below 0 say 'not judged' and
    are left out. Judges stay apart. The document that comes first in the judgments stands left: nobody saw the
    two side by side, so that these sides tell nothing about a judge.

    Examples:
        >>> judgments = Judgments.of({"bread": {"d1": 2, "d2": 0, "d3": 2, "d4": -1}})
        >>> implied_preferences(judgments).frame.select("left", "right", "winner").rows()
        [('d1', 'd2', 'left'), ('d2', 'd3', 'right')]
        >>> implied_preferences(judgments, ties=True).frame["winner"].to_list()
        ['left', 'tie', 'right']
    """
    labels = keep_usable_labels(Judgments.of(judgments))
    left, right = _label_levels(labels, ties=ties).pairs(ties=ties)
    return Preferences(build_pair_table(labels.frame, left, right, "label"))


def count_implied_pairs(labels: Judgments, *, ties: bool = False) -> int:
    """How many preferences are implied by labels that `keep_usable_labels` let through, without making them.

    Examples:
        >>> count_implied_pairs(Judgments.of({"bread": {"d1": 2, "d2": 0, "d3": 2}}))
        2
    """
    return _label_levels(labels, ties=ties).count(ties=ties)


def count_implying_queries(labels: Judgments, *, ties: bool = False) -> int:
    """How many queries have a preference implied by labels that `keep_usable_labels` let through.

    Examples:
        >>> count_implying_queries(Judgments.of({"bread": {"d1": 2, "d2": 0}, "jam": {"d3": 1, "d4": 1}}))
        1
    """
    distinct_labels = pl.len() if ties else pl.col("label").n_unique()
    return (
        labels.frame.group_by("query", "judge")
        .agg(distinct=distinct_labels)
        .filter(pl.col("distinct") > 1)["query"]
        .n_unique()
    )


def _label_levels(labels: Judgments, *, ties: bool) -> LabelGroups:
    levels = LabelGroups.of(labels.frame, ("query", "judge"), "label")
    if not levels.count(ties=True):
        raise TableError("no-two-labels", "no judge labelled two documents of a query: no preference is implied")
    if not levels.count(ties=ties):
        raise TableError(
            "only-equal-labels",
            "no judge gave two documents of a query different labels: no preference is implied",
            suggestions=[Suggestion("makes ties of equal labels", ties=True)],
        )
    return levels


def keep_usable_labels(judgments: Judgments) -> Judgments:
    """The judgments that can imply a preference: none below 0, and one for each document by each judge."""
    frame = judgments.frame.filter(pl.col("label") >= 0)
    if not frame.height:
        raise TableError("nothing-judged", "every label is below 0, which means 'not judged': no preference is implied")
    repeated = frame.filter(pl.struct("query", "doc", "judge").is_duplicated())
    if repeated.height:
        query, doc, judge = repeated.select("query", "doc", "judge").row(0)
        same = repeated.filter(pl.col("query") == query, pl.col("doc") == doc, pl.col("judge") == judge)
        labels_listed = ", ".join(map(str, same["label"][:4].to_list())) + ", …" * (same.height > 4)
        raise DuplicateError(
            "repeated-labels",
            f"judge '{judge}' labelled document '{doc}' of query '{query}' {same.height} times ({labels_listed})",
            table="judgments",
            query=query,
            doc=doc,
            judge=judge,
            suggestions=[Suggestion(repeats="first"), Suggestion("keeps one of them", repeats="last")],
        )
    return Judgments(frame)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelGroups:
    """Rows in groups, sorted by level: the rows of the group with a lower level than row i stand from `low` to `high`.

    Examples:
        >>> frame = pl.DataFrame({"query": ["q", "q", "q"], "level": [1.0, 0.0, 1.0]})
        >>> [rows.tolist() for rows in LabelGroups.of(frame, ("query",), "level").pairs()]
        [[0, 1], [1, 2]]
    """

    rows: Rows
    low: Rows
    high: Rows

    @classmethod
    def of(cls, frame: pl.DataFrame, keys: tuple[str, ...], level: str) -> Self:
        """The rows of a table, those with the same keys in one group."""
        group = np.zeros(frame.height, dtype=np.int64)
        for key in keys:
            key_codes, names = encode_column(frame[key])
            group = encode_keys(group * len(names) + key_codes)[1].astype(np.int64)
        levels = frame[level].to_numpy()
        rows = np.lexsort((levels, group))
        index = np.arange(len(rows))
        new_group = _differs_from_previous(group[rows])
        new_level = new_group | _differs_from_previous(levels[rows])
        return cls(rows=rows, low=_latest_start(index, new_group), high=_latest_start(index, new_level))

    def count(self, *, ties: bool = False) -> int:
        """How many pairs there are, without making them."""
        return int(self._count_partners(ties=ties).sum())

    def pairs(self, *, ties: bool = False) -> tuple[Rows, Rows]:
        """Every two rows of a group whose levels differ, or with `ties` every two: the earlier ones and the later."""
        total = self.count(ties=ties)
        if total > MAX_PAIRS:
            raise TableError(
                "too-many-pairs",
                f"{total:,} pairs of documents are too many for one table, {MAX_PAIRS:,} the most; take fewer "
                f"documents of each query (a shallower pool), or some of the queries",
                suggestions=[Suggestion("takes some of the queries", where={"COLUMN": "VALUE"})],
            )
        partners = self._count_partners(ties=ties)
        ends = np.cumsum(partners)
        row = np.repeat(self.rows, partners)
        partner = self.rows[np.arange(total) - np.repeat(ends - partners - self.low, partners)]
        size = len(self.rows)
        keys = np.minimum(row, partner) * size + np.maximum(row, partner)  # below 2⁶³ for any table that fits memory
        del row, partner
        keys.sort()
        return keys // size, keys % size

    def _count_partners(self, *, ties: bool) -> Rows:
        """How many rows each row is paired with: those below it, with `ties` also those before it on its level."""
        stop: Rows = np.arange(len(self.rows)) if ties else self.high
        return stop - self.low


def _differs_from_previous(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Which values differ from the one before; the first does."""
    return np.concatenate([[True], values[1:] != values[:-1]])


def _latest_start(index: Rows, new: NDArray[np.bool_]) -> Rows:
    """For each place the last one up to it where something new begins."""
    latest: Rows = index[new][np.cumsum(new) - 1]
    return latest


def build_pair_table(frame: pl.DataFrame, left: Rows, right: Rows, level: str) -> pl.DataFrame:
    """Two rows of a table of query, doc, judge and a level as a preference: query, left, right, judge and winner."""
    levels = frame[level].to_numpy()
    left_level, right_level = levels[left], levels[right]
    outcome = np.where(left_level > right_level, 0, np.where(left_level < right_level, 1, 2))
    first = frame.select("query", "doc", "judge")[left]
    return first.select(
        "query",
        pl.col("doc").alias("left"),
        frame["doc"].gather(right).alias("right"),
        "judge",
        pl.Series("winner", ["left", "right", "tie"]).gather(outcome),
    )
