"""A run: what a search system returned."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, field
from typing import Self

import numpy as np
import polars as pl

from ringtrue.errors import DuplicateError, TableError
from ringtrue.tables.columns import make_frame, parse_ids, parse_numbers, rename_columns, require_schema
from ringtrue.tables.groups import Groups, first_duplicate, group_rows

SCHEMA = {"query": pl.String, "doc": pl.String, "score": pl.Float64}


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Run:
    """Documents with scores for each query, made from a frame with the columns query, doc and score.

    A document is ranked by its score, the highest first; equal scores by doc id, the largest first, as
    trec_eval does. A rank column, if there is one, says nothing. No document may stand twice under one query.
    `tag` is the name that the system gave itself, where the data carry one.

    The columns are held with the rows of each query together and the query ids apart, in `groups`: a run of
    ten million lines has to fit beside what is computed from it.

    Examples:
        >>> run = Run.of({"q1": {"d1": 1.5, "d2": 3.0}}, name="bm25")
        >>> run.ranked()["doc"].to_list()
        ['d2', 'd1']
    """

    name: str
    tag: str | None
    groups: Groups = field(repr=False)
    docs: pl.Series = field(repr=False)
    scores: pl.Series = field(repr=False)

    def __init__(self, frame: pl.DataFrame, name: str = "run", tag: str | None = None) -> None:
        require_schema(frame, SCHEMA, table_name="Run", hint="`Run.of` takes other names and types")
        if not frame.height:
            raise TableError("no-documents", "the run has no documents", subject=name)
        if not frame["score"].is_finite().all():
            raise TableError("bad-score", "a score is no finite number; it has no place in a ranking", subject=name)
        frame, groups = group_rows(frame.select("query", "doc", "score"))
        if (duplicate := first_duplicate(groups, frame["doc"])) is not None:
            query, doc = duplicate
            raise DuplicateError(
                "duplicate-document",
                f"document '{doc}' stands twice under query '{query}', where it may stand once",
                subject=name,
                table="run",
                query=query,
                doc=doc,
            )
        attributes = {"name": name, "tag": tag, "groups": groups, "docs": frame["doc"], "scores": frame["score"]}
        for key, value in attributes.items():
            object.__setattr__(self, key, value)

    @classmethod
    def of(cls, data: object, *, name: str = "run") -> Self:
        """A run from a dictionary of dictionaries, or from any frame with the usual column names."""
        if isinstance(data, cls):
            return data
        frame = rename_columns(make_frame(data, nested="score"), required=["query", "doc", "score"], table_kind="run")
        return cls(
            pl.DataFrame(
                {
                    "query": parse_ids(frame, "query"),
                    "doc": parse_ids(frame, "doc"),
                    "score": parse_numbers(frame, "score"),
                }
            ),
            name=name,
        )

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries, in order of appearance."""
        return self.groups.queries

    @property
    def frame(self) -> pl.DataFrame:
        """The run as a table of query, doc and score, the rows of each query together."""
        codes = np.repeat(np.arange(len(self.queries)), self.groups.sizes)
        queries = pl.Series("query", self.queries, dtype=pl.String).gather(codes)
        return pl.DataFrame([queries, self.docs, self.scores])

    def called(self, name: str) -> Self:
        """The same run under another name."""
        renamed = copy(self)
        object.__setattr__(renamed, "name", name)
        return renamed

    def ranked(self, depth: int | None = None) -> pl.DataFrame:
        """query, doc, score and rank, best first, cut at `depth`."""
        codes = np.repeat(np.arange(len(self.queries)), self.groups.sizes)
        ordered = (
            self.frame.with_columns(code=pl.Series(codes))
            .sort("code", "score", "doc", descending=[False, True, True])
            .drop("code")
        )
        rank = np.arange(1, ordered.height + 1) - np.repeat(self.groups.offsets[:-1], self.groups.sizes)
        ordered = ordered.with_columns(rank=pl.Series(rank))
        return ordered if depth is None else ordered.filter(pl.col("rank") <= depth)
