"""Many comparisons at once: what p must be multiplied by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ringtrue.evaluation.significance.paired_statistics import FloatArray

__all__ = ["benjamini_hochberg", "holm"]


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down: the chance of any false finding in the family stays below the level [Holm79].

        p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) · p_(j))

    Holds however the comparisons hang together. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> holm(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.06, 0.06])
    """
    return _stepwise(p, lambda rising: np.maximum.accumulate(np.arange(len(rising), 0, -1) * rising))


def benjamini_hochberg(p: FloatArray) -> FloatArray:
    """Benjamini and Hochberg's step-up: of all findings, the expected share of false ones stays below the level.

        p̃_(i) = min_{j ≥ i} min(1, m / j · p_(j))    [Benjamini95]

    Proven for independent comparisons and for those that lean the same way; for all pairs of runs it held in our
    simulations. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.04, 0.04])
    """
    return _stepwise(
        p, lambda rising: np.minimum.accumulate((rising * len(rising) / np.arange(1, len(rising) + 1))[::-1])[::-1]
    )


def _stepwise(p: FloatArray, step: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What a step makes of the known p in rising order, at most 1, each back in its place."""
    known = np.flatnonzero(~np.isnan(p))
    order = known[np.argsort(p[known], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(step(p[order]), 1.0)
    return adjusted
