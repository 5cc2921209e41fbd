"""P@k by bronze label: the share of relevant documents among those that bronze calls relevant, and among the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ringtrue.measures import FloatArray

__all__ = ["share_by_label"]


def share_by_label(
    called: ArrayLike,
    variance: ArrayLike,
    above: tuple[ArrayLike, ArrayLike],
    below: tuple[ArrayLike, ArrayLike],
    *,
    missed: ArrayLike = 1.0,
    judged: tuple[ArrayLike, ArrayLike] = (0.0, 0.0),
) -> tuple[FloatArray, FloatArray]:
    """The share of relevant documents, and its variance, from gold labels drawn at random from these documents.

        θ = jP + (1−j)Q,  V = (P−Q)² V_J + j² P(1−P)/(n_P + 1) + (1−j)² Q(1−Q)/(n_Q + 1)

    j is the share that bronze calls relevant, V_J its variance; P and Q are (x + ½)/(n + 1), with `above` the (x
    relevant of n) gold labels on documents that bronze calls relevant and `below` those on the others. `missed` is the
    share of documents without a gold label, for an answer about these documents alone. The halves keep few labels that
    all agree from looking certain. They are for documents that gold has not seen: of the share of each side that it has
    (`judged`), x/n stands for what it is.

    Examples:
        >>> value, variance = share_by_label(0.4, 0.0, (30, 40), (6, 60))
        >>> round(float(value), 4), round(float(variance) ** 0.5, 4)
        (0.3615, 0.0361)
    """
    j = np.asarray(called, dtype=np.float64)
    (p, of_p), (q, of_q) = (_smoothed(*counts) for counts in (above, below))
    whole_p, whole_q = (
        share + np.asarray(seen) * (_share(*counts) - share)
        for share, seen, counts in ((p, judged[0], above), (q, judged[1], below))
    )
    value = j * whole_p + (1 - j) * whole_q
    within = j**2 * of_p + (1 - j) ** 2 * of_q
    return value, (p - q) ** 2 * np.asarray(variance, dtype=np.float64) + np.asarray(missed) * within


def _share(hits: ArrayLike, n: ArrayLike) -> FloatArray:
    """As it is; 0 of 0 is 0, and weighs nothing."""
    share: FloatArray = np.asarray(hits, dtype=np.float64) / np.maximum(np.asarray(n, dtype=np.float64), 1)
    return share


def _smoothed(hits: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    more = np.asarray(n, dtype=np.float64) + 1
    share = (np.asarray(hits, dtype=np.float64) + 0.5) / more
    return share, share * (1 - share) / more
