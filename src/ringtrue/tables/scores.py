"""Scores: the value of every measure for every query of every run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError
from ringtrue.messages import Note
from ringtrue.stats.intervals import estimate_mean
from ringtrue.stats.results import Estimate
from ringtrue.tables.columns import require_schema

SCHEMA = {"run": pl.String, "query": pl.String, "measure": pl.String, "value": pl.Float64}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cube:
    """Scores as numbers in three directions: `values[measure, run, query]`, NaN where there is none."""

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """What `evaluate` gives: `frame` has the columns run, query, measure and value.

    `notes` are the doubts that concern all of it: queries that were missing, queries without a relevant
    document, documents that nobody judged. `absent` says which judged queries a run does not have, whether
    they count as 0 or were left out.

    Examples:
        >>> frame = pl.DataFrame(
        ...     {"run": ["a", "a"], "query": ["q1", "q2"], "measure": ["AP", "AP"], "value": [0.5, 1.0]}
        ... )
        >>> print(Scores(frame).means()["a"]["AP"].value)
        0.75
    """

    frame: pl.DataFrame
    notes: tuple[Note, ...] = ()
    absent: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_schema(self.frame, SCHEMA, table_name="Scores", hint="`evaluate` makes them")
        if not self.frame["value"].is_finite().all():
            bad_row = self.frame.filter(~pl.col("value").is_finite()).row(0, named=True)
            raise TableError(
                "score-not-finite",
                f"{bad_row['measure']} of query '{bad_row['query']}' is no finite number",
                subject=str(bad_row["run"]),
            )

    def means(self, *, level: float = 0.95) -> dict[str, dict[str, Estimate]]:
        """The mean of each measure over the queries of each run, with its interval."""
        means: dict[str, dict[str, Estimate]] = {}
        for (run, measure), part in self.frame.group_by("run", "measure", maintain_order=True):
            means.setdefault(str(run), {})[str(measure)] = estimate_mean(part["value"].to_numpy(), level=level)
        return means

    def by_query(self) -> dict[str, dict[str, dict[str, float]]]:
        """run → query → measure → value."""
        nested: dict[str, dict[str, dict[str, float]]] = {}
        for (run, measure), part in self.frame.group_by("run", "measure", maintain_order=True):
            queries = nested.setdefault(str(run), {})
            for query, value in zip(part["query"].to_list(), part["value"].to_list(), strict=True):
                queries.setdefault(query, {})[str(measure)] = value
        return nested

    def cube(self) -> Cube:
        """The values as an array, the runs, measures and queries in order of appearance."""
        names_by_column = {
            column: self.frame[column].unique(maintain_order=True) for column in ("measure", "run", "query")
        }
        indices = tuple(
            self.frame[column].cast(pl.Enum(names)).to_physical().to_numpy()
            for column, names in names_by_column.items()
        )
        values = np.full([len(names) for names in names_by_column.values()], np.nan)
        values[indices] = self.frame["value"].to_numpy()
        if np.count_nonzero(~np.isnan(values)) < self.frame.height:
            twice = self.frame.filter(self.frame.select("run", "query", "measure").is_duplicated()).row(0, named=True)
            raise TableError(
                "duplicate-score",
                f"{twice['measure']} of query '{twice['query']}' stands twice in the scores",
                subject=str(twice["run"]),
            )
        measures, runs, queries = (tuple(names.to_list()) for names in names_by_column.values())
        return Cube(measures=measures, runs=runs, queries=queries, values=values)
