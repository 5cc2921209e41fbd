"""What a judge mixes up: confusion matrices as heatmaps, and the most frequent mistake in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.formatting.grid import Grid
from ringtrue.report.model import Heatmap
from ringtrue.report.sections.number_phrases import format_percent
from ringtrue.stats.confusion import Confusion


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """Where the trusted side says `truth`, the judge says `said`, in this `share` of such documents."""

    truth: int
    said: int
    share: float


def confusion_heatmap(
    shares: Confusion, counts: Confusion | None = None, *, up: str, across: str, title: str = ""
) -> Heatmap:
    """Shares as colours, and in the cells the share and below it how many labels were seen, where that is known.

    `counts` has the labels that were seen, where `shares` weighs them by what they stand for.
    """
    label_counts = counts or shares
    has_counts = "counts" in label_counts.as_dict()
    matrix = [[None if np.isnan(share) else float(share) for share in row] for row in shares.matrix]
    texts = tuple(
        tuple(_heatmap_cell(share, cell if has_counts else None) for cell, share in zip(cells, row, strict=True))
        for cells, row in zip(label_counts.counts.tolist(), matrix, strict=True)
    )
    names = tuple(str(label) for label in shares.labels)
    return Heatmap(
        rows=names, columns=names, values=tuple(map(tuple, matrix)), texts=texts, up=up, across=across, title=title
    )


def confusion_grid(
    matrices: Sequence[tuple[str, Confusion, Confusion | None]],
    truth: str,
    level: float = 0.95,
    *,
    ends: tuple[FloatArray, FloatArray] | None = None,
    about: str = "Wilson",
) -> Grid:
    """A row for each label of each judge: shares, and the labels that were seen; one judge needs no name.

    `ends` are those of the intervals where they are not those of labels that are all drawn apart, and `about` says in
    words what the intervals are.
    """
    labels = matrices[0][1].labels
    single_judge = len(matrices) == 1
    rows = []
    for name, shares, counts in matrices:
        label_counts = counts or shares
        has_counts = "counts" in label_counts.as_dict()
        low, high = shares.interval(level) if ends is None else ends
        for row, label in enumerate(labels):
            cells = [
                _share_with_interval(share, low[row, column], high[row, column])
                for column, share in enumerate(shares.matrix[row].tolist())
            ]
            total = _format_count(label_counts.counts[row].sum()) if has_counts else "–"
            rows.append([*([] if single_judge else [name]), str(label), *cells, total])
    judge_column = [] if single_judge else ["judge"]
    return Grid(
        columns=[*judge_column, truth, *(f"says {label}" for label in labels), "labels"],
        rows=rows,
        caption=f"shares of each row, with {level:.0%} intervals ({about})",
        left=1 + len(judge_column),
    )


def worst_mistake(confusion: Confusion) -> Mistake | None:
    """The mistake that most labels make, with its share of the row; None where there is none.

    Examples:
        >>> worst_mistake(Confusion(rows="gold", columns="ann", labels=(0, 1), counts=np.array([[8, 2], [1, 0]])))
        Mistake(truth=0, said=1, share=0.2)
    """
    error_counts = np.asarray(confusion.counts, dtype=np.float64) * (1 - np.eye(len(confusion.labels)))
    row, column = np.unravel_index(int(error_counts.argmax()), error_counts.shape)
    if not error_counts[row, column]:
        return None
    share = float(confusion.matrix[row, column])
    return Mistake(truth=confusion.labels[int(row)], said=confusion.labels[int(column)], share=share)


def describe_mistake(mistake: Mistake, truth: str, judge: str) -> str:
    """The mistake in words."""
    return (
        f"where {truth} says {mistake.truth}, {judge} says {mistake.said} in {format_percent(mistake.share)} of cases"
    )


def _heatmap_cell(share: float | None, count: float | None) -> str:
    if count is None:
        return format_percent(share)
    return f"{format_percent(share)}\n{_format_count(count)}" if count else "0"


def _share_with_interval(share: float, low: float, high: float) -> str:
    if np.isnan(share):
        return "–"
    return f"{share:.3f}" if np.isnan(low) else f"{share:.3f} ({low:.3f} to {high:.3f})"


def _format_count(cell: float) -> str:
    return f"{cell:,.0f}" if float(cell).is_integer() else f"{cell:,.1f}"
