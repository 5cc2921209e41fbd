"""Many comparisons at once: what p must be multiplied by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ringtrue.evaluation.significance.paired_statistics import FloatArray


def holm(p: FloatArray) -> FloatArray:
    """Holm's step-down: the chance of any false finding in the family stays below the level [Holm79].

        p̃_(i) = max_{j ≤ i} min(1, (m − j + 1) · p_(j))

    Holds however the comparisons hang together. What is undefined (NaN) stays so, and is not counted.

    Examples:
        >>> holm(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.06, 0.06])
    """
    return _stepwise(p, lambda p_ascending: np.maximum.accumulate(np.arange(len(p_ascending), 0, -1) * p_ascending))


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
        p,
        lambda p_ascending: np.minimum.accumulate(
            (p_ascending * len(p_ascending) / np.arange(1, len(p_ascending) + 1))[::-1]
        )[::-1],
    )


def _stepwise(p: FloatArray, step: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """What a step makes of the known p in rising order, at most 1, each back in its place."""
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    adjusted = np.full(len(p), np.nan)
    adjusted[order] = np.minimum(step(p[order]), 1.0)
    return adjusted
