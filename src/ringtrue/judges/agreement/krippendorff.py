"""Krippendorff's alpha alone, from arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import TableError, UsageError, did_you_mean
from ringtrue.judges.agreement.coefficients import METRICS, Metric, alpha_of

__all__ = ["krippendorff_alpha"]

MOST = 5_000  # labels: tables of label by label must fit the memory


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
        near = did_you_mean(metric, METRICS) or "; there is " + ", ".join(METRICS)
        raise UsageError(f"no metric '{metric}' for alpha{near}")
    item, values = np.asarray(items), np.asarray(labels)
    if item.shape != values.shape or item.ndim != 1:
        raise TableError(f"expected two arrays of one length, found {item.shape} and {values.shape}")
    if not (np.issubdtype(values.dtype, np.integer) or np.issubdtype(values.dtype, np.floating)):
        raise TableError(f"expected labels that are numbers, found {values.dtype}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise TableError("expected labels that are finite numbers; leave the missing ones out of both arrays")
    if not len(values):
        return None
    item, found = _positions(item)
    label, grades = _positions(values)
    wide = len(grades)
    if wide > MOST:
        raise TableError(f"expected grades, at most {MOST:,} different ones, found {wide:,}; round them first")
    counts = np.bincount(item * wide + label, minlength=len(found) * wide).reshape(-1, wide).astype(np.float64)
    others = counts @ np.ones(wide) - 1
    weight = np.divide(1, others, out=np.zeros_like(others), where=others > 0)
    coincidences = counts.T @ (counts * weight[:, None]) - np.diag(weight @ counts)
    alpha = float(alpha_of(coincidences, grades.astype(np.float64), metric))
    return None if np.isnan(alpha) else alpha


def _positions(values: NDArray[np.generic]) -> tuple[NDArray[np.int64], NDArray[np.generic]]:
    """Each value as a position among the different ones in rising order; small numbers need no sorting."""
    if np.issubdtype(values.dtype, np.integer):
        numbers = values.astype(np.int64, copy=False)
        low, high = int(numbers.min()), int(numbers.max())
        if high - low <= 2 * len(values):
            numbers = numbers - low if low else numbers
            seen = np.bincount(numbers) > 0
            grades = np.flatnonzero(seen) + low
            return (numbers if seen.all() else (np.cumsum(seen) - 1)[numbers]), grades
    found, positions = np.unique(values, return_inverse=True)
    return positions, found
