"""Ratings → labels."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray


def label_by_thresholds(ratings: FloatArray, thresholds: Sequence[float]) -> NDArray[np.int32]:
    """0 below the first threshold, 1 from there on, 2 from the second, and so on.

    Examples:
        >>> label_by_thresholds(np.array([-1.0, 0.0, 2.0]), [0, 1]).tolist()
        [0, 1, 2]
    """
    require_increasing("thresholds", thresholds)
    return np.searchsorted(np.asarray(thresholds, dtype=np.float64), ratings, side="right").astype(np.int32)


def label_by_quantiles(ratings: FloatArray, quantiles: Sequence[float]) -> NDArray[np.int32]:
    """0 for the documents below the first quantile, 1 from there on, and so on; equal ratings get equal labels.

    A document's place is the share of the others of its query that are rated below it, those rated the same half.

    Examples:
        >>> label_by_quantiles(np.array([5.0, 1.0, 3.0, 2.0]), [0.5, 0.9]).tolist()
        [2, 0, 1, 0]
    """
    require_quantiles(quantiles)
    ordered, other_count = np.sort(ratings), max(len(ratings) - 1, 1)
    below, up_to = (np.searchsorted(ordered, ratings, side=side) for side in ("left", "right"))
    percentile = (below + (up_to - below - 1) / 2) / other_count
    return np.searchsorted(np.asarray(quantiles, dtype=np.float64), percentile, side="right").astype(np.int32)


def label_by_gaps(ratings: FloatArray, labels: int) -> NDArray[np.int32]:
    """So many labels, cut where the ratings leave the widest gaps; fewer where fewer ratings differ.

    Examples:
        >>> label_by_gaps(np.array([0.0, 0.1, 2.0, 2.1, 5.0]), 3).tolist()
        [0, 0, 1, 1, 2]
    """
    if labels < 2:
        raise UsageError(f"gaps cut ratings into 2 labels or more, found {labels}")
    distinct = np.unique(ratings)
    widest = np.sort(np.argsort(-np.diff(distinct), kind="stable")[: labels - 1])
    return np.searchsorted(distinct[widest + 1], ratings, side="right").astype(np.int32)


def require_quantiles(quantiles: Sequence[float]) -> None:
    """Refuse what does not rise from above 0 to below 1."""
    require_increasing("quantiles", quantiles)
    if not all(0 < quantile < 1 for quantile in quantiles):
        raise UsageError(f"quantiles lie between 0 and 1, found {_format_cutoffs(quantiles)}")


def require_increasing(name: str, numbers: Sequence[float]) -> None:
    """Refuse no number, numbers that do not rise, and what is none."""
    if not numbers:
        raise UsageError(f"{name} need at least one number")
    if not np.isfinite(numbers).all():
        raise UsageError(f"{name} must be finite numbers, found {_format_cutoffs(numbers)}")
    if not all(lower < upper for lower, upper in pairwise(numbers)):
        raise UsageError(f"{name} must rise, found {_format_cutoffs(numbers)}")


def _format_cutoffs(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)
