"""The documents that could be compared, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import InputError, MismatchError, TableError, UsageError
from ringtrue.evaluation.pooling import pool
from ringtrue.preference.matches import Matches
from ringtrue.tables import Preferences, Run
from ringtrue.tables.columns import NAMES, frame_from, identifiers, rename
from ringtrue.tables.groups import first_duplicate, group_rows

__all__ = ["Candidates", "tables_in"]

DEEPEST = 2**31 - 1  # of a pool: everything


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidates:
    """Documents to compare: `docs` has query and doc, those of a query side by side, in an initial order, best first.

    Query number q has the rows from `start[q]` to `start[q + 1]`.

    Examples:
        >>> Candidates.of({"q1": {"d1": 1.0, "d2": 3.0}}).docs.rows()
        [('q1', 'd2'), ('q1', 'd1')]
        >>> Candidates.of({"query": ["q1", "q1"], "doc": ["d1", "d2"], "best_rank": [1, 2]}).docs["doc"].to_list()
        ['d1', 'd2']
        >>> Candidates.of([{"q1": {"d1": 1.0}}, {"q1": {"d2": 3.0, "d1": 2.0}}]).docs["doc"].to_list()
        ['d1', 'd2']
    """

    docs: pl.DataFrame
    queries: tuple[str, ...]
    start: NDArray[np.int64]

    @classmethod
    def of(cls, data: object, *, depth: int | None = None) -> Self:
        """From a run, in the order of its scores; from a pool, a table without scores, in the order of its rows.

        At most `depth` documents of each query. Several runs are pooled at that depth, in the order of `pool`.
        """
        if depth is not None and depth < 2:
            raise UsageError(f"two documents are the least that can be compared, found a depth of {depth}; 50 is usual")
        tables = tables_in(data)
        if len(tables) > 1:
            return cls._grouped(_pooled(tables, depth or DEEPEST))
        data = tables[0]
        if isinstance(data, cls):
            docs = data.docs
        elif isinstance(data, Run) or _has_scores(data):
            docs = Run.of(data).ranked().select("query", "doc")
        else:
            docs = _in_order(data)
        return cls._grouped(docs if depth is None else docs.filter(pl.int_range(pl.len()).over("query") < depth))

    @classmethod
    def _grouped(cls, docs: pl.DataFrame) -> Self:
        rows, groups = group_rows(docs)
        return cls(docs=rows, queries=groups.queries, start=groups.offsets)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many documents each query has."""
        return np.diff(self.start)

    def comparable(self) -> tuple[Self, tuple[str, ...]]:
        """Without the queries that have a single document, and a note about them."""
        alone = [query for query, size in zip(self.queries, self.sizes, strict=True) if size < 2]
        if not alone:
            return self, ()
        if len(alone) == len(self.queries):
            raise InputError("no query has two documents: there is nothing to compare; give a deeper run or pool")
        told = f"query '{alone[0]}'" + (f" and {len(alone) - 1:,} more have" if len(alone) > 1 else " has")
        kept = self._grouped(self.docs.filter(~pl.col("query").is_in(alone)))
        return kept, (f"{told} a single document, and nothing to compare: left out",)

    def joined(self, preferences: Preferences) -> tuple[Self, Preferences, tuple[str, ...]]:
        """With every document that preferences know of, after the others; and the preferences about these queries."""
        notes = []
        known = preferences.frame["query"].is_in(self.queries)
        if not known.any():
            raise MismatchError(
                f"the preferences are about none of the queries: the first of theirs is "
                f"'{preferences.frame['query'][0]}', the first candidates are of '{self.queries[0]}'; do both use the "
                f"same ids?"
            )
        if not known.all():
            notes.append(
                f"{(~known).sum():,} of {len(known):,} preferences are about queries with no candidates: left out"
            )
            preferences = Preferences(preferences.frame.filter(known))
        names = pl.concat([preferences.frame.select("query", doc=side) for side in ("left", "right")])
        more = names.unique(maintain_order=True).join(self.docs, on=["query", "doc"], how="anti", maintain_order="left")
        if not more.height:
            return self, preferences, tuple(notes)
        notes.append(
            f"{more.height:,} of {names.n_unique():,} documents with preferences are not among the candidates, such as "
            f"'{more['doc'][0]}' of query '{more['query'][0]}': they stay in, after the others"
        )
        return self._grouped(pl.concat([self.docs, more])), preferences, tuple(notes)

    def matches(self, preferences: Preferences | None) -> Matches:
        """The votes so far between these documents, the rows of which they name; repeats all count."""
        left, right = np.array([], dtype=np.int32), np.array([], dtype=np.int32)
        won = np.array([])
        if preferences is not None:
            left, right = (self._rows(preferences.frame.select("query", doc=side)) for side in ("left", "right"))
            said = pl.col("winner")
            won = preferences.frame.select(
                pl.when(said == "left").then(1.0).when(said == "right").then(0.0).otherwise(0.5)
            )["literal"].to_numpy()
        turned = left > right
        return Matches(
            docs=self.docs, queries=self.queries, start=self.start,
            first=np.where(turned, right, left), second=np.where(turned, left, right),
            score=np.where(turned, 1 - won, won), weight=np.ones(len(left)), tied=(won == 0.5).astype(np.float64),
            judge=np.full(len(left), -1, dtype=np.int32), judges=(),
        )  # fmt: skip

    def _rows(self, names: pl.DataFrame) -> NDArray[np.int32]:
        numbered = self.docs.with_row_index("row")
        found = names.join(numbered, on=["query", "doc"], how="left", maintain_order="left")["row"]
        return found.to_numpy().astype(np.int32)


def tables_in(data: object) -> list[object]:
    """The tables of a list, or those with names in a dictionary; anything else, such as records, is one table.

    Examples:
        >>> len(tables_in([{"q1": {"d1": 1.0}}, {"q1": {"d2": 3.0}}]))
        2
        >>> len(tables_in([{"query": "q1", "doc": "d1"}, {"query": "q1", "doc": "d2"}]))
        1
    """
    parts = list(data.values()) if isinstance(data, Mapping) else data if isinstance(data, list | tuple) else []
    return list(parts) if parts and all(map(_is_table, parts)) else [data]


def _is_table(data: object) -> bool:
    """Whether this is a table of its own, and not a row or a column of one."""
    if isinstance(data, Mapping):
        return any(isinstance(cell, Iterable) and not isinstance(cell, str | bytes) for cell in data.values())
    return isinstance(data, Run | Preferences) or hasattr(type(data), "columns")


def _pooled(tables: list[object], depth: int) -> pl.DataFrame:
    """The documents of several runs, in the order of their pool."""
    for number, one in enumerate(tables, 1):
        if not isinstance(one, Run) and not _has_scores(one):
            raise UsageError(
                f"several candidates are runs, to be pooled, and number {number} of {len(tables)} has no scores; "
                f"give runs alone, or one pool"
            )
    return pool([Run.of(one) for one in tables], depth=depth).select("query", "doc")


def _has_scores(data: object) -> bool:
    """Whether documents come with scores; a dictionary of dictionaries has nothing else."""
    if isinstance(data, Mapping) and data and all(isinstance(docs, Mapping) for docs in data.values()):
        return True
    return bool({name.lower() for name in frame_from(data).columns} & set(NAMES["score"]))


def _in_order(data: object) -> pl.DataFrame:
    """The documents of a table without scores, in the order of its rows."""
    frame = rename(frame_from(data), required=["query", "doc"], what="pool")
    docs = pl.DataFrame({name: identifiers(frame, name) for name in ("query", "doc")})
    if not docs.height:
        raise TableError("the pool has no documents")
    rows, groups = group_rows(docs)
    if (twice := first_duplicate(groups, rows["doc"])) is not None:
        query, doc = twice
        raise TableError(f"document '{doc}' stands twice under query '{query}' in the pool; keep one of the two")
    return rows
