"""What a judge mixes up: confusion matrices as heatmaps, and the most frequent mistake in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.formatting.grid import Grid
from ringtrue.report.model import Heatmap
from ringtrue.report.sections.number_phrases import percent
from ringtrue.stats.confusion import Confusion

__all__ = ["Mistake", "as_grid", "as_heatmap", "mistake_told", "worst_mistake"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """Where the trusted side says `truth`, the judge says `said`, in this `share` of such documents."""

    truth: int
    said: int
    share: float


def as_heatmap(shares: Confusion, counts: Confusion | None = None, *, up: str, across: str, title: str = "") -> Heatmap:
    """Shares as colours, and in the cells the share and below it how many labels were seen, where that is known.

    `counts` has the labels that were seen, where `shares` weighs them by what they stand for.
    """
    seen = counts or shares
    known = "counts" in seen.as_dict()
    matrix = [[None if np.isnan(one) else float(one) for one in row] for row in shares.matrix]
    texts = tuple(
        tuple(_cell(share, cell if known else None) for cell, share in zip(cells, row, strict=True))
        for cells, row in zip(seen.counts.tolist(), matrix, strict=True)
    )
    names = tuple(str(label) for label in shares.labels)
    return Heatmap(rows=names, columns=names, values=tuple(map(tuple, matrix)), texts=texts, up=up, across=across,
                   title=title)  # fmt: skip


def as_grid(
    named: Sequence[tuple[str, Confusion, Confusion | None]], truth: str, level: float = 0.95, *,
    ends: tuple[FloatArray, FloatArray] | None = None, about: str = "Wilson",
) -> Grid:  # fmt: skip
    """A row for each label of each judge: shares, and the labels that were seen; one judge needs no name.

    `ends` are those of the intervals where they are not those of labels that are all drawn apart, and `about` says in
    words what the intervals are.
    """
    labels = named[0][1].labels
    alone = len(named) == 1
    rows = []
    for name, shares, counts in named:
        seen = counts or shares
        known = "counts" in seen.as_dict()
        low, high = shares.interval(level) if ends is None else ends
        for place, label in enumerate(labels):
            cells = [
                _share(share, low[place, at], high[place, at]) for at, share in enumerate(shares.matrix[place].tolist())
            ]
            total = _count(seen.counts[place].sum()) if known else "–"
            rows.append([*([] if alone else [name]), str(label), *cells, total])
    first = [] if alone else ["judge"]
    return Grid(columns=[*first, truth, *(f"says {label}" for label in labels), "labels"], rows=rows,
                caption=f"shares of each row, with {level:.0%} intervals ({about})", left=1 + len(first))  # fmt: skip


def worst_mistake(table: Confusion) -> Mistake | None:
    """The mistake that most labels make, with its share of the row; None where there is none.

    Examples:
        >>> worst_mistake(Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.array([[8, 2], [1, 0]])))
        Mistake(truth=0, said=1, share=0.2)
    """
    wrong = np.asarray(table.counts, dtype=np.float64) * (1 - np.eye(len(table.labels)))
    row, column = np.unravel_index(int(wrong.argmax()), wrong.shape)
    if not wrong[row, column]:
        return None
    share = float(table.matrix[row, column])
    return Mistake(truth=table.labels[int(row)], said=table.labels[int(column)], share=share)


def mistake_told(mistake: Mistake, truth: str, judge: str) -> str:
    """The mistake in words."""
    return f"where {truth} says {mistake.truth}, {judge} says {mistake.said} in {percent(mistake.share)} of cases"


def _cell(share: float | None, count: float | None) -> str:
    if count is None:
        return percent(share)
    return f"{percent(share)}\n{_count(count)}" if count else "0"


def _share(share: float, low: float, high: float) -> str:
    if np.isnan(share):
        return "–"
    return f"{share:.3f}" if np.isnan(low) else f"{share:.3f} ({low:.3f} to {high:.3f})"


def _count(cell: float) -> str:
    return f"{cell:,.0f}" if float(cell).is_integer() else f"{cell:,.1f}"
