"""What was read of each file, as far as it is needed to see how the files fit together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import polars as pl

from ringtrue.doctor.results import FileKind
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments, Preferences, Run

NoteHandler: TypeAlias = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileContents:
    """A file that could be read."""

    path: str
    kind: FileKind
    form: str | None
    counts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RunFile(FileContents):
    """A run: its first ten documents of each query as a run of their own, and which `gold_docs` it has."""

    queries: tuple[str, ...]
    top: Run
    gold_docs: pl.DataFrame


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelFile(FileContents):
    """Labels: all of them, and what commands have to be told about them.

    `shared_count` documents have labels by several judges; `repeat_count` counts labels by a judge who had labelled the
    document before. `trusted_column` names a further column with trusted labels.
    """

    judgments: Judgments
    has_query: bool
    shared_count: int
    repeat_count: int
    trusted_column: str | None = None

    @property
    def judged_docs(self) -> pl.DataFrame:
        """The documents with a label that says something: each once."""
        return self.judgments.frame.filter(pl.col("label") >= 0).select("query", "doc").unique(maintain_order=True)

    @property
    def highest_label(self) -> int:
        """The highest label."""
        return int(self.judgments.frame["label"].max())  # type: ignore[arg-type]  # labels are numbers, and some

    @property
    def is_crowd(self) -> bool:
        """Whether several judges labelled the same documents."""
        return self.shared_count > 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VoteFile(FileContents):
    """Preferences: all of them."""

    preferences: Preferences
    has_query: bool
    shared_count: int
    repeat_count: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnjudgedFile(FileContents):
    """Documents, or pairs of them, that wait for judges: `docs` has query and doc.

    `trusted_column` names a column with trusted labels, under a name of its own.
    """

    docs: pl.DataFrame
    trusted_column: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class IdFile(FileContents):
    """Topics or documents: their ids; per-query scores have those of queries."""

    ids: pl.Series


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatrixFile(FileContents):
    """A confusion matrix."""

    matrix: Confusion


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GainsFile(FileContents):
    """What each label is worth."""

    gains: Mapping[int, float] = field(default_factory=dict)
