"""How long a label took, and in which order a judge's labels came."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from ringtrue.errors import TableError
from ringtrue.judges.quality.checked_labels import rows_by_judge
from ringtrue.judges.quality.judge_findings import Speed
from ringtrue.judges.votes import Votes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Durations:
    """Seconds that labels took: `seconds[i]` is one of `judge[i]`."""

    judge: NDArray[np.int32]
    seconds: NDArray[np.float64]
    source: Literal["seconds", "time"]

    def speeds(self, judges: int) -> list[Speed | None]:
        """The median for each judge; None for a judge of whom no duration is known."""
        pieces = (self.seconds[rows] for rows in rows_by_judge(self.judge, judges))
        return [
            Speed(median=float(np.median(judge_seconds)), n=len(judge_seconds), source=self.source)
            if len(judge_seconds)
            else None
            for judge_seconds in pieces
        ]


def measure_durations(votes: Votes) -> Durations | None:
    """How long each label took: the column `seconds`, else the gaps between a judge's stamps in `time`.

    Examples:
        >>> from ringtrue.judges.votes import make_votes
        >>> table = {"item": ["a", "b", "c"], "judge": ["x", "x", "x"], "label": [0, 1, 1], "time": [100, 107, 110]}
        >>> measure_durations(make_votes(table)).speeds(1)
        [Speed(median=5.0, n=2, source='time')]
    """
    if "seconds" in votes.others.columns:
        seconds = _parse_seconds(votes.others["seconds"])
        is_known = ~np.isnan(seconds)
        return Durations(judge=votes.judge[is_known], seconds=seconds[is_known], source="seconds")
    timestamps = votes.times()
    if timestamps is None:
        return None
    order = np.lexsort((timestamps, votes.judge))
    judge = votes.judge[order]
    same_judge = judge[1:] == judge[:-1]
    return Durations(judge=judge[1:][same_judge], seconds=np.diff(timestamps[order])[same_judge], source="time")


def _parse_seconds(column: pl.Series) -> NDArray[np.float64]:
    """Durations; NaN where the cell is empty."""
    seconds = column.cast(pl.Float64, strict=False)
    bad = (seconds.is_null() & column.is_not_null()) | ~seconds.is_finite() | (seconds < 0)
    if bad.any():
        row = int(bad.arg_true()[0])
        raise TableError(
            f"row {row + 1}: expected seconds, 0 or more, in column 'seconds', found {column[row]!r}; "
            f"leave the cell empty where it is not known"
        )
    return seconds.fill_null(float("nan")).to_numpy()
