"""Many comparisons at once: what p must be multiplied by."""

from __future__ import annotations

import numpy as np

from ringtrue.significance.paired import FloatArray

__all__ = ["benjamini_hochberg", "holm"]


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down: the chance of any false finding in the family stays below the level [Holm79].

        p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) · p_(j))

    Holds however the comparisons hang together. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> holm(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.06, 0.06])
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    times = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(times * p[order]), 1.0)
    return adjusted


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's step-up: of all findings, the expected share of false ones stays below the level.

        p̃_(i) = min_{j ≥ i} min(1, m / j · p_(j))    [Benjamini95]

    Proven for independent comparisons and for those that lean the same way; for all pairs of runs it held in our
    simulations. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.04, 0.04])
    """
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    scaled = p[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted
