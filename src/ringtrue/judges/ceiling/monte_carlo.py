"""The ceiling by simulation: training labels drawn again and again, ties at random."""

from __future__ import annotations

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.stats.ties import divisor

MAX_CELLS = 1 << 18  # of the largest array that is held at once


def simulated_dcg(
    counts: IntArray,
    matrix: FloatArray,
    gain: FloatArray,
    *,
    k: int | None = None,
    draws: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """The mean DCG of each list over draws of training labels, and the standard error that the draws leave.

    Each document of testing label i gets the training label j with probability c_ij; the list is sorted by them and
    scored by the testing labels [Metrikov12]. Documents with the same training label come in random order. That
    matters: a sort that leaves them as they were keeps the testing judge's own order where the list had it.

    Examples:
        >>> counts, matrix = np.array([[1, 1]]), np.array([[0.8, 0.2], [0.3, 0.7]])
        >>> rng, gain = np.random.default_rng(0), np.array([0.0, 1.0])
        >>> mean, error = simulated_dcg(counts, matrix, gain, draws=10_000, rng=rng)
        >>> bool(abs(mean - 0.907732) < 3 * error), error.round(3).item()
        (True, 0.002)
    """
    mean, error = np.zeros(len(counts)), np.zeros(len(counts))
    for i, row in enumerate(counts):
        values = _simulate_list_dcg(np.repeat(np.arange(len(row)), row), matrix, gain, k, draws, rng)
        mean[i] = values.mean()
        error[i] = values.std(ddof=1) / np.sqrt(draws)
    return mean, error


def _simulate_list_dcg(
    label: IntArray, matrix: FloatArray, gain: FloatArray, k: int | None, draws: int, rng: np.random.Generator
) -> FloatArray:
    """The DCG of one list, once for each draw."""
    discount = 1 / divisor(np.arange(1, len(label) + 1))
    discount[len(label) if k is None else k :] = 0.0
    cumulative = matrix.cumsum(axis=1)[label, :-1]
    cumulative[matrix[label][:, ::-1].cumsum(axis=1)[:, -2::-1] == 0] = 1.0  # rounding must not leave anything above
    gains, values = gain[label], []
    batch = max(MAX_CELLS // max(len(label), 1), 1)
    for first in range(0, draws, batch):
        size = (min(batch, draws - first), len(label))
        uniforms, training_labels = rng.random(size), np.zeros(size)
        for bound in cumulative.T:
            training_labels += uniforms >= bound
        best_first = np.argsort(-(training_labels + rng.random(size)), axis=1)
        values.append(gains[best_first] @ discount)
    return np.concatenate(values)
