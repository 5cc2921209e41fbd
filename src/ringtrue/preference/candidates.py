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
from ringtrue.tables.columns import COLUMN_ALIASES, make_frame, parse_ids, rename_columns
from ringtrue.tables.groups import first_duplicate, group_rows

MAX_DEPTH = 2**31 - 1  # of a pool: everything


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
    def of(cls, source: object, *, depth: int | None = None) -> Self:
        """From a run, in the order of its scores; from a pool, a table without scores, in the order of its rows.

        At most `depth` documents of each query. Several runs are pooled at that depth, in the order of `pool`.
        """
        if depth is not None and depth < 2:
            raise UsageError(f"two documents are the least that can be compared, found a depth of {depth}; 50 is usual")
        tables = list_tables(source)
        if len(tables) > 1:
            return cls._from_docs(_pool_runs(tables, depth or MAX_DEPTH))
        source = tables[0]
        if isinstance(source, cls):
            docs = source.docs
        elif isinstance(source, Run) or _has_scores(source):
            docs = Run.of(source).ranked().select("query", "doc")
        else:
            docs = _read_pool(source)
        return cls._from_docs(docs if depth is None else docs.filter(pl.int_range(pl.len()).over("query") < depth))

    @classmethod
    def _from_docs(cls, docs: pl.DataFrame) -> Self:
        rows, groups = group_rows(docs)
        return cls(docs=rows, queries=groups.queries, start=groups.offsets)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """How many documents each query has."""
        return np.diff(self.start)

    def drop_single_documents(self) -> tuple[Self, tuple[str, ...]]:
        """Without the queries that have a single document, and a note about them."""
        single = [query for query, size in zip(self.queries, self.sizes, strict=True) if size < 2]
        if not single:
            return self, ()
        if len(single) == len(self.queries):
            raise InputError("no query has two documents: there is nothing to compare; give a deeper run or pool")
        subject = f"query '{single[0]}'" + (f" and {len(single) - 1:,} more have" if len(single) > 1 else " has")
        comparable = self._from_docs(self.docs.filter(~pl.col("query").is_in(single)))
        return comparable, (f"{subject} a single document, and nothing to compare: left out",)

    def add_preferences(self, preferences: Preferences) -> tuple[Self, Preferences, tuple[str, ...]]:
        """With every document that preferences know of, after the others; and the preferences about these queries."""
        notes = []
        is_relevant = preferences.frame["query"].is_in(self.queries)
        if not is_relevant.any():
            raise MismatchError(
                f"the preferences are about none of the queries: the first of theirs is "
                f"'{preferences.frame['query'][0]}', the first candidates are of '{self.queries[0]}'; do both use the "
                f"same ids?"
            )
        if not is_relevant.all():
            notes.append(
                f"{(~is_relevant).sum():,} of {len(is_relevant):,} preferences are about queries with no candidates: "
                f"left out"
            )
            preferences = Preferences(preferences.frame.filter(is_relevant))
        names = pl.concat([preferences.frame.select("query", doc=side) for side in ("left", "right")])
        extra = names.unique(maintain_order=True).join(
            self.docs, on=["query", "doc"], how="anti", maintain_order="left"
        )
        if not extra.height:
            return self, preferences, tuple(notes)
        notes.append(
            f"{extra.height:,} of {names.n_unique():,} documents with preferences are not among the candidates, such "
            f"as '{extra['doc'][0]}' of query '{extra['query'][0]}': they stay in, after the others"
        )
        return self._from_docs(pl.concat([self.docs, extra])), preferences, tuple(notes)

    def to_matches(self, preferences: Preferences | None) -> Matches:
        """The votes so far between these documents, the rows of which they name; repeats all count."""
        empty = pl.DataFrame(schema=dict.fromkeys(("query", "left", "right", "winner"), pl.String))
        votes, numbered = empty if preferences is None else preferences.frame, self.docs.with_row_index("row")
        left, right = (
            votes.select("query", doc=side)
            .join(numbered, on=["query", "doc"], how="left", maintain_order="left")["row"]
            .to_numpy()
            .astype(np.int32)
            for side in ("left", "right")
        )
        nobody = np.full(len(left), -1, dtype=np.int32)
        return Matches.between(
            left,
            right,
            votes["winner"],
            judge=nobody,
            judges=(),
            docs=self.docs,
            queries=self.queries,
            start=self.start,
        )


def list_tables(source: object) -> list[object]:
    """The tables of a list, or those with names in a dictionary; anything else, such as records, is one table.

    Examples:
        >>> len(list_tables([{"q1": {"d1": 1.0}}, {"q1": {"d2": 3.0}}]))
        2
        >>> len(list_tables([{"query": "q1", "doc": "d1"}, {"query": "q1", "doc": "d2"}]))
        1
    """
    parts = list(source.values()) if isinstance(source, Mapping) else source if isinstance(source, list | tuple) else []
    return list(parts) if parts and all(map(_is_table, parts)) else [source]


def _is_table(table: object) -> bool:
    """Whether this is a table of its own, and not a row or a column of one."""
    if isinstance(table, Mapping):
        return any(isinstance(cell, Iterable) and not isinstance(cell, str | bytes) for cell in table.values())
    return isinstance(table, Run | Preferences) or hasattr(type(table), "columns")


def _pool_runs(tables: list[object], depth: int) -> pl.DataFrame:
    """The documents of several runs, in the order of their pool."""
    for number, table in enumerate(tables, 1):
        if not isinstance(table, Run) and not _has_scores(table):
            raise UsageError(
                f"several candidates are runs, to be pooled, and number {number} of {len(tables)} has no scores; "
                f"give runs alone, or one pool"
            )
    return pool([Run.of(table) for table in tables], depth=depth).select("query", "doc")


def _has_scores(table: object) -> bool:
    """Whether documents come with scores; a dictionary of dictionaries has nothing else."""
    if isinstance(table, Mapping) and table and all(isinstance(docs, Mapping) for docs in table.values()):
        return True
    return bool({name.lower() for name in make_frame(table).columns} & set(COLUMN_ALIASES["score"]))


def _read_pool(table: object) -> pl.DataFrame:
    """The documents of a table without scores, in the order of its rows."""
    frame = rename_columns(make_frame(table), required=["query", "doc"], table_kind="pool")
    docs = pl.DataFrame({name: parse_ids(frame, name) for name in ("query", "doc")})
    if not docs.height:
        raise TableError("the pool has no documents")
    rows, groups = group_rows(docs)
    if (duplicate := first_duplicate(groups, rows["doc"])) is not None:
        query, doc = duplicate
        raise TableError(f"document '{doc}' stands twice under query '{query}' in the pool; keep one of the two")
    return rows
