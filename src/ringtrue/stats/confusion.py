"""One judge's labels given another's: a named matrix with counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ringtrue.stats.intervals import wilson

ROW_JUDGES = ("gold", "testing judge", "truth")  # who is asked first: bronze, or a training judge, is held against them
COLUMN_JUDGES = ("bronze", "training judge")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Confusion:
    """How often `columns` says each label when `rows` says another: `counts[i, j]` for labels i and j.

    Counts need not be whole: where the truth itself is only probable, they are expected ones. `worth` is how many
    certain cases each row is worth; the counts themselves where nothing is said, and infinitely many (`np.inf`) where
    shares stand for counts that are exactly known. `correct` takes one with gold in the rows and bronze in the columns
    in place of gold labels, `ceiling` one with the testing judge in the rows and the training judge in the columns.

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

    def __post_init__(self) -> None:
        for name in ("counts", "worth"):  # people write lists
            if isinstance(cells := getattr(self, name), list | tuple):
                object.__setattr__(self, name, np.array(cells))

    @classmethod
    def together(cls, tables: Sequence[Confusion], *, columns: str = "all judges") -> Confusion:
        """The matrix of several judges as of one, each counting as often as it labelled; the rows are the same for all.

        Examples:
            >>> ann, bob = (
            ...     Confusion(rows="gold", columns=name, labels=(0, 1), counts=counts)
            ...     for name, counts in (("ann", [[8, 2], [1, 9]]), ("bob", [[2, 0], [0, 1]]))
            ... )
            >>> Confusion.together([ann, bob]).counts.tolist()
            [[10, 2], [1, 10]]
        """
        if len(tables) == 1:
            return tables[0]
        first = tables[0]
        effective_n = [np.asarray(table.counts.sum(axis=1) if table.worth is None else table.worth) for table in tables]
        has_worth = any(table.worth is not None for table in tables)
        return cls(
            rows=first.rows,
            columns=columns,
            labels=first.labels,
            counts=np.sum([table.counts for table in tables], axis=0),
            worth=np.sum(effective_n, axis=0).astype(np.float64) if has_worth else None,
        )

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

    @property
    def is_turned(self) -> bool:
        """Whether the names say that rows and columns changed places: bronze or a training judge in the rows."""
        turned_columns = self.columns.startswith(ROW_JUDGES) and not self.rows.startswith(ROW_JUDGES)
        return self.rows.startswith(COLUMN_JUDGES) or turned_columns

    def interval(self, level: float = 0.95) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Wilson's interval for each share of a row; nothing but the share where it is exactly known."""
        effective_n = np.asarray(self.counts.sum(axis=1) if self.worth is None else self.worth)[:, None]
        is_exact = np.isinf(effective_n)
        low, high = wilson(self.matrix, np.where(is_exact, 1, effective_n), level=level)
        return np.where(is_exact, self.matrix, low), np.where(is_exact, self.matrix, high)

    def as_dict(self, level: float | None = None) -> dict[str, object]:
        """The matrix as plain data, in the key order of the command line's JSON; with intervals if a level is given.

        What is exactly known has no counts: shares would be taken for a case each. Where only some rows are, theirs
        are None.

        Examples:
            >>> exact = Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.eye(2), worth=np.full(2, np.inf))
            >>> list(exact.as_dict())
            ['rows', 'columns', 'labels', 'matrix']
        """
        plain: dict[str, object] = {
            "rows": self.rows,
            "columns": self.columns,
            "labels": list(self.labels),
            "matrix": _nan_to_none(self.matrix),
        }
        if (counts := self._plain_counts()) is not None:
            plain["counts"] = counts
        if level is not None:
            low, high = self.interval(level)
            plain |= {"low": _nan_to_none(low), "high": _nan_to_none(high)}
        return plain

    def _plain_counts(self) -> list[list[float | None]] | None:
        """The counts, with None in rows that are exactly known; None where all rows with a case are."""
        is_exact = np.zeros(len(self.counts), dtype=bool) if self.worth is None else np.isinf(self.worth)
        has_cases = self.counts.sum(axis=1) > 0
        if is_exact.any() and is_exact[has_cases].all():
            return None
        blank_row = [None] * len(self.labels)
        return [
            list(blank_row) if is_blank else row
            for is_blank, row in zip(is_exact & has_cases, self.counts.tolist(), strict=True)
        ]


def _nan_to_none(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[None if np.isnan(share) else float(share) for share in row] for row in matrix]
