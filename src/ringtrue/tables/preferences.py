"""Preferences: which of two documents a judge found better."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Self

import polars as pl

from ringtrue.errors import TableError
from ringtrue.tables.columns import frame_from, identifiers, rename, require_schema
from ringtrue.tables.judgments import NO_JUDGE

__all__ = ["OUTCOMES", "Outcome", "Preferences"]

Outcome = Literal["left", "right", "tie", "both_good", "both_bad"]
SCHEMA = dict.fromkeys(("query", "left", "right", "judge", "winner"), pl.String)
OUTCOMES: tuple[Outcome, ...] = ("left", "right", "tie", "both_good", "both_bad")


@dataclass(frozen=True, slots=True, eq=False)
class Preferences:
    """Pairwise judgments: `frame` has the columns query, left, right, judge and winner.

    `winner` is `left`, `right`, `tie`, `both_good` or `both_bad`; a doc id is understood too, when it is one
    of the two. Where there is no query, all pairs belong to the query '0'.

    Examples:
        >>> pairs = Preferences.of({"query": ["q1"], "left": ["d1"], "right": ["d2"], "winner": ["d2"]})
        >>> pairs.frame.rows()
        [('q1', 'd1', 'd2', '0', 'right')]
    """

    frame: pl.DataFrame

    def __post_init__(self) -> None:
        require_schema(self.frame, SCHEMA, what="Preferences", instead="`Preferences.of` takes other names and types")
        if not self.frame.height:
            raise TableError("there is no preference here")

    @classmethod
    def of(cls, data: object) -> Self:
        """Preferences from any frame or dictionary of columns with the usual names."""
        if isinstance(data, cls):
            return data
        frame = rename(
            frame_from(data),
            required=["left", "right", "winner"],
            optional=["query", "judge", "time", "seconds", "batch"],
            what="preferences",
        )
        for missing in {"query", "judge"} - set(frame.columns):
            frame = frame.with_columns(pl.lit(NO_JUDGE).alias(missing))
        frame = frame.with_columns(
            identifiers(frame, column) for column in ("query", "left", "right", "judge", "winner")
        )
        said = pl.col("winner")
        for side in ("left", "right"):
            _refuse(
                frame,
                (said == pl.col(side)) & (said != side) & said.is_in(OUTCOMES),
                lambda row: f"does the winner '{row['winner']}' mean a document or an outcome? Rename the document",
            )
        frame = frame.with_columns(
            winner=pl.when(said == pl.col("left"))
            .then(pl.lit("left"))
            .when(said == pl.col("right"))
            .then(pl.lit("right"))
            .otherwise(said)
        )
        _refuse(
            frame,
            ~pl.col("winner").is_in(OUTCOMES),
            lambda row: (
                f"expected a winner of {', '.join(OUTCOMES)}, '{row['left']}' or '{row['right']}', "
                f"found '{row['winner']}'"
            ),
        )
        _refuse(
            frame,
            pl.col("left") == pl.col("right"),
            lambda row: f"document '{row['left']}' is compared with itself",
        )
        first = ["query", "left", "right", "judge", "winner"]
        return cls(frame.select(*first, *(name for name in frame.columns if name not in first)))


def _refuse(frame: pl.DataFrame, bad: pl.Expr, say: Callable[[dict[str, str]], str]) -> None:
    wrong = frame.select(bad).to_series().arg_true()
    if len(wrong):
        row = int(wrong[0])
        raise TableError(f"row {row + 1}: {say(frame.row(row, named=True))}")
