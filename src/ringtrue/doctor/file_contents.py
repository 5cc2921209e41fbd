"""What was read of each file, as far as it is needed to see how the files fit together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import polars as pl

from ringtrue.doctor.results import FileKind
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments, Preferences, Run

__all__ = ["GainsFile", "IdFile", "LabelFile", "MatrixFile", "Note", "PairFile", "Read", "RunFile", "VoteFile"]

Note: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Read:
    """A file that could be read."""

    path: str
    kind: FileKind
    form: str | None
    counts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunFile(Read):
    """A run: its first ten documents of each query as a run of their own, and which `wanted` documents it has."""

    queries: tuple[str, ...]
    top: Run
    wanted: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelFile(Read):
    """Labels: all of them, and what commands have to be told about them.

    `shared` documents have labels by several judges; `again` counts labels by a judge who had labelled the document
    before. `inside` names a further column with trusted labels.
    """

    judgments: Judgments
    has_query: bool
    shared: int
    again: int
    inside: str | None = None

    @property
    def judged(self) -> pl.DataFrame:
        """The documents with a label that says something: each once."""
        return self.judgments.frame.filter(pl.col("label") >= 0).select("query", "doc").unique(maintain_order=True)

    @property
    def highest(self) -> int:
        """The highest label."""
        return int(self.judgments.frame["label"].max())  # type: ignore[arg-type]  # labels are numbers, and some

    @property
    def is_crowd(self) -> bool:
        """Whether several judges labelled the same documents."""
        return self.shared > 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteFile(Read):
    """Preferences: all of them."""

    preferences: Preferences
    has_query: bool
    shared: int
    again: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairFile(Read):
    """Documents, or pairs of them, that wait for judges: `docs` has query and doc.

    `trusted` names a column with trusted labels, under a name of its own.
    """

    docs: pl.DataFrame
    trusted: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IdFile(Read):
    """Topics or documents: their ids; per-query scores have those of queries."""

    ids: pl.Series


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatrixFile(Read):
    """A confusion matrix."""

    matrix: Confusion


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GainsFile(Read):
    """What each label is worth."""

    gains: Mapping[int, float] = field(default_factory=dict)
