"""How long a label took, and in which order a judge's labels came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError
from ringtrue.judges.quality.judge_findings import Speed
from ringtrue.judges.quality.reference_labels import rows_of_each
from ringtrue.judges.votes import Votes

__all__ = ["Durations", "durations"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durations:
    """Seconds that labels took: `seconds[i]` is one of `judge[i]`."""

    judge: NDArray[np.int32]
    seconds: NDArray[np.float64]
    source: Literal["seconds", "time"]

    def speeds(self, judges: int) -> list[Speed | None]:
        """The median for each judge; None for a judge of whom no duration is known."""
        pieces = (self.seconds[rows] for rows in rows_of_each(self.judge, judges))
        return [
            Speed(median=float(np.median(some)), n=len(some), source=self.source) if len(some) else None
            for some in pieces
        ]


def durations(votes: Votes) -> Durations | None:
    """How long each label took: the column `seconds`, else the gaps between a judge's stamps in `time`.

    Examples:
        >>> from ringtrue.judges.votes import votes_of
        >>> table = {"item": ["a", "b", "c"], "judge": ["x", "x", "x"], "label": [0, 1, 1], "time": [100, 107, 110]}
        >>> durations(votes_of(table)).speeds(1)
        [Speed(median=5.0, n=2, source='time')]
    """
    if "seconds" in votes.others.columns:
        seconds = _numbers(votes.others["seconds"])
        known = ~np.isnan(seconds)
        return Durations(judge=votes.judge[known], seconds=seconds[known], source="seconds")
    when = votes.moments()
    if when is None:
        return None
    order = np.lexsort((when, votes.judge))
    judge = votes.judge[order]
    same = judge[1:] == judge[:-1]
    return Durations(judge=judge[1:][same], seconds=np.diff(when[order])[same], source="time")


def _numbers(column: pl.Series) -> NDArray[np.float64]:
    """Durations; NaN where the cell is empty."""
    found = column.cast(pl.Float64, strict=False)
    bad = (found.is_null() & column.is_not_null()) | ~found.is_finite() | (found < 0)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise TableError(
            f"row {row + 1}: expected seconds, 0 or more, in column 'seconds', found {column[row]!r}; "
            f"leave the cell empty where it is not known"
        )
    return found.fill_null(float("nan")).to_numpy()
