"""Krippendorff's alpha alone, from arrays, and what it is good for by the marks that its inventor set."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.agreement.coefficients import METRICS, Metric, alpha_from_coincidences
from ringtrue.stats.encoding import cross_tabulate
from ringtrue.stats.results import Estimate

MAX_LABELS = 5_000  # labels: tables of label by label must fit the memory
TENTATIVE, RELIABLE = 2 / 3, 0.8  # [Krippendorff04]


def krippendorff_alpha(items: ArrayLike, labels: ArrayLike, *, metric: Metric = "ordinal") -> float | None:
    """Krippendorff's alpha from two long arrays: which item, and what somebody said of it [Krippendorff11].

    Nothing else is computed, and no interval: `agree` has both. Missing labels are simply not there. None where it is
    undefined: no item has two labels, or everybody gave the same.

    Examples:
        >>> krippendorff_alpha(["a", "a", "b", "b"], [1, 1, 3, 3])
        1.0
        >>> krippendorff_alpha(["a", "a"], [1, 1]) is None
        True
    """
    if metric not in METRICS:
        suggestion = did_you_mean(metric, METRICS) or "; there is " + ", ".join(METRICS)
        raise UsageError(f"no metric '{metric}' for alpha{suggestion}")
    item, values = np.asarray(items), np.asarray(labels)
    if item.shape != values.shape or item.ndim != 1:
        raise TableError(f"expected two arrays of one length, found {item.shape} and {values.shape}")
    if not (np.issubdtype(values.dtype, np.integer) or np.issubdtype(values.dtype, np.floating)):
        raise TableError(f"expected labels that are numbers, found {values.dtype}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise TableError("expected labels that are finite numbers; leave the missing ones out of both arrays")
    if not len(values):
        return None
    item, item_ids = _encode_sorted(item)
    label, grades = _encode_sorted(values)
    n_labels = len(grades)
    if n_labels > MAX_LABELS:
        raise TableError(
            f"expected grades, at most {MAX_LABELS:,} different ones, found {n_labels:,}; round them first"
        )
    counts = cross_tabulate(item, label, len(item_ids), n_labels).astype(np.float64)
    n_others = counts @ np.ones(n_labels) - 1
    weight = np.divide(1, n_others, out=np.zeros_like(n_others), where=n_others > 0)
    coincidences = counts.T @ (counts * weight[:, None]) - np.diag(weight @ counts)
    alpha = float(alpha_from_coincidences(coincidences, grades.astype(np.float64), metric))
    return None if np.isnan(alpha) else alpha


def _encode_sorted(values: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.generic]]:
    """Each value as a position among the different ones in rising order; small numbers need no sorting."""
    if np.issubdtype(values.dtype, np.integer):
        numbers = values.astype(np.int64, copy=False)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low <= 2 * len(values):
            numbers = numbers - low if low else numbers
            seen = np.bincount(numbers) > 0
            uniques = np.flatnonzero(seen) + low
            return (numbers if seen.all() else (np.cumsum(seen) - 1)[numbers]), uniques
    uniques, codes = np.unique(values, return_inverse=True)
    return codes, uniques


def describe_alpha(alpha: Estimate) -> str:
    """What Krippendorff would conclude, at the interval's cautious end, as the end of a sentence.

    Examples:
        >>> describe_alpha(Estimate(value=0.9, low=0.85, high=0.95, n=50, method="bootstrap"))
        "reliable by Krippendorff's mark of 0.80."
    """
    cautious = alpha.value if alpha.low is None else alpha.low
    if cautious is None or alpha.value is None:
        return ""
    if cautious >= RELIABLE:
        return "reliable by Krippendorff's mark of 0.80."
    if cautious >= TENTATIVE:
        return "enough for tentative conclusions by Krippendorff's mark of 0.67, short of 0.80."
    if alpha.value >= TENTATIVE:
        return "around Krippendorff's mark of 0.67 for tentative conclusions, and not surely above it."
    return "below Krippendorff's mark of 0.67 for even tentative conclusions."
