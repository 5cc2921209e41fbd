"""One judge's labels given another's: a named matrix with counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.intervals import wilson

__all__ = ["Confusion"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusion:
    """How often `columns` says each label when `rows` says another: `counts[i, j]` for labels i and j.

    Counts need not be whole: where the truth itself is only probable, they are expected ones. `worth` is how many
    certain cases each row is worth; the counts themselves where nothing is said.

    Examples:
        >>> table = Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.array([[8, 2], [1, 9]]))
        >>> table.matrix.tolist(), table.accuracy
        ([[0.8, 0.2], [0.1, 0.9]], 0.85)
    """

    rows: str
    columns: str
    labels: tuple[int, ...]
    counts: NDArray[np.floating] | NDArray[np.integer]
    worth: NDArray[np.float64] | None = None

    @property
    def matrix(self) -> NDArray[np.float64]:
        """Shares in each row; NaN in the row of a label that `rows` never gave."""
        totals = self.counts.sum(axis=1, keepdims=True)
        shares = np.full(self.counts.shape, np.nan)
        np.divide(self.counts, totals, out=shares, where=totals > 0)
        return shares

    @property
    def accuracy(self) -> float:
        """The share of cases in which both say the same; NaN with no case."""
        total = float(self.counts.sum())
        return float(np.trace(self.counts)) / total if total else float("nan")

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wilson's interval for each share of a row."""
        worth = self.counts.sum(axis=1) if self.worth is None else self.worth
        return wilson(self.matrix, worth[:, None], level=level)

    def as_dict(self, level: float | None = None) -> dict[str, object]:
        """The matrix as plain data, in the key order of the command line's JSON; with intervals if a level is given."""
        plain: dict[str, object] = {
            "rows": self.rows,
            "columns": self.columns,
            "labels": list(self.labels),
            "matrix": _plain(self.matrix),
            "counts": self.counts.tolist(),
        }
        if level is not None:
            low, high = self.interval(level)
            plain |= {"low": _plain(low), "high": _plain(high)}
        return plain


def _plain(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if np.isnan(value) else float(value) for value in row] for row in matrix]
