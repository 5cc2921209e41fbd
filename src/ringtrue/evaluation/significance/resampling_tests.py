"""Tests that draw again: sign flips, bootstrap resamples of queries, and runs thrown together.

All pairs share the same draws, so that many pairs cost little more than one: a draw is a row of signs or of
counts, and one matrix product gives its mean for every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.stats.intervals import resample_query_counts
from ringtrue.stats.student_t import t_quantile, t_tail

Progress: TypeAlias = Callable[[int], None]  # is told how many pairs × resamples were done

PAIR_BATCH = 4096  # pairs at a time: what belongs to one batch of draws stays below 20 MB
BATCH = 500  # draws at a time; fixed, so that a pair's p does not depend on how many others are tested
MAX_SHUFFLED = 8_000_000  # values dealt at a time in Tukey's test: 64 MB
TOLERANCE = 1e-9  # sums of the same numbers in another order differ by less than this, relatively


def is_exact(queries: int, resamples: int) -> bool:
    """Whether all ways to flip signs are tried: where they are no more than the resamples asked for."""
    return 1 << (queries - 1) <= resamples


def permutation_test(
    differences: FloatArray, *, resamples: int, rng: np.random.Generator, progress: Progress = lambda _: None
) -> FloatArray:
    """The permutation test of the mean: were the two runs swapped at random for each query, how often would
    their means lie as far apart?

        p = (1 + #{|Σ ±d| ≥ |Σ d|}) / (1 + resamples)    [Fisher35, Smucker07]

    Exact, over all 2ⁿ flips, where these are no more than twice the resamples. Holds for any number of queries
    where the two runs could be swapped; for equal means alone it needs as many queries as the t test.

    Examples:
        >>> permutation_test(np.array([[0.1, 0.2, 0.3, 0.4, -0.1]]), resamples=100, rng=np.random.default_rng(0))
        array([0.1875])
    """
    n = differences.shape[1]
    if is_exact(n, resamples):
        return count_extreme_flips(differences, enumerate_sign_flips(n)) / float(1 << (n - 1))
    return (1 + count_extreme_flips(differences, _draw_sign_flips(n, resamples, rng), progress=progress)) / (
        1 + resamples
    )


def count_extreme_flips(
    differences: FloatArray, flips: Iterable[FloatArray], *, progress: Progress = lambda _: None
) -> FloatArray:
    """For each row, how many of the flips bring its sum at least as far from 0 as it is."""
    threshold = np.abs(differences.sum(axis=1)) - TOLERANCE * np.abs(differences).sum(axis=1)
    counts = np.zeros(len(differences))
    for signs in flips:
        for first in range(0, len(differences), PAIR_BATCH):
            rows = slice(first, first + PAIR_BATCH)
            counts[rows] += (np.abs(signs @ differences[rows].T) >= threshold[rows]).sum(axis=0)
        progress(len(signs) * len(differences))
    return counts


def enumerate_sign_flips(queries: int) -> Iterator[FloatArray]:
    """All ways to flip signs, the first one held: flipping all of them changes no distance."""
    for first in range(0, 1 << (queries - 1), BATCH):
        patterns = np.arange(first, min(first + BATCH, 1 << (queries - 1)))
        yield _bits_to_signs((patterns[:, None] >> np.arange(queries)) & 1)


def _draw_sign_flips(queries: int, resamples: int, rng: np.random.Generator) -> Iterator[FloatArray]:
    for size in _batch_sizes(resamples):
        yield _bits_to_signs(rng.integers(0, 2, (size, queries), dtype=np.int8))


def _bits_to_signs(bits: NDArray[np.integer]) -> FloatArray:
    return 1.0 - 2.0 * bits.astype(np.float64)


def _batch_sizes(resamples: int, batch: int = BATCH) -> Iterator[int]:
    for first in range(0, resamples, batch):
        yield min(batch, resamples - first)


def bootstrap_means(
    differences: FloatArray, *, resamples: int, rng: np.random.Generator, progress: Progress = lambda _: None
) -> FloatArray:
    """The mean of each row over queries drawn again with replacement: rows × resamples."""
    n = differences.shape[1]
    means = np.empty((len(differences), resamples))
    done = 0
    for counts in resample_query_counts(n, resamples, batch=BATCH, rng=rng):
        means[:, done : done + len(counts)] = differences @ counts.T / n
        done += len(counts)
        progress(len(counts) * len(differences))
    return means


def bca(resampled: FloatArray, differences: FloatArray, *, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The bootstrap's interval, corrected for bias, acceleration and few queries, and the p at which it touches 0.

        α₁ = Φ(z₀ + (z₀ + z) / (1 − a (z₀ + z))),  z₀ = Φ⁻¹(#{m* < m} / B),  a = Σd³ / (6 (Σd²)^1.5)    [Efron87]

    with d the differences from their mean. Resamples of n queries spread too little, by √(1 − 1/n), and know nothing of
    Student's wider tails, so z is not the normal quantile but √(n/(n−1)) times that of t [Hesterberg15]. Still a little
    short for few skewed differences: 92 to 93% for 20 queries where it says 95%. Gives p, low and high.
    """
    from scipy.special import ndtr, ndtri

    resamples = resampled.shape[1]
    mean = differences.mean(axis=1)
    deviations = differences - mean[:, None]
    acceleration = (deviations**3).sum(axis=1) / (6 * (deviations**2).sum(axis=1) ** 1.5)

    noise = TOLERANCE * np.abs(differences).max(axis=1)

    def share_below(value: FloatArray) -> FloatArray:
        """The share of resamples below the value; those that only rounding keeps apart from it count by half."""
        less, more = ((resampled < (value + step)[:, None]).mean(axis=1) for step in (-noise, noise))
        return np.asarray((less + more) / 2)

    n = differences.shape[1]
    inflation = np.sqrt(n / (n - 1))
    bias = ndtri(share_below(mean))
    shifted = bias[:, None] + inflation * t_quantile((1 + level) / 2, n - 1) * np.array([-1.0, 1.0])
    denominator = 1 - acceleration[:, None] * shifted
    extreme = np.where(shifted > 0, 1.0, 0.0)  # what so skewed a sample asks for lies past every resample
    quantiles = np.where(
        denominator > TOLERANCE, ndtr(bias[:, None] + shifted / np.maximum(denominator, TOLERANCE)), extreme
    )
    positions = quantiles * (resamples - 1)
    ordered = np.sort(resampled, axis=1)
    floor_positions = np.floor(positions).astype(np.int64)
    neighbours = [
        np.take_along_axis(ordered, np.minimum(floor_positions + step, resamples - 1), axis=1) for step in (0, 1)
    ]
    bounds = neighbours[0] + (positions - floor_positions) * (neighbours[1] - neighbours[0])

    min_p = 1 / (resamples + 1)  # where no resample lies past 0, one in twice as many might
    shifted_zero = ndtri(np.clip(share_below(np.zeros(len(mean))), min_p / 2, 1 - min_p / 2)) - bias
    z_at_zero = shifted_zero / np.maximum(1 + acceleration * shifted_zero, TOLERANCE) - bias
    p = np.clip(2 * t_tail(np.abs(z_at_zero) / inflation, n - 1), min_p, 1.0)
    return p, bounds[:, 0], bounds[:, 1]


def smallest_bootstrap_p(queries: int, resamples: int) -> float:
    """The p of `bca` where no resample lies past 0, but for bias and skew: Student's tail of the last one seen.

    Examples:
        >>> round(smallest_bootstrap_p(43, 10_000), 5)
        0.0004
    """
    z_last = -NormalDist().inv_cdf(0.5 / (resamples + 1))
    return float(2 * t_tail(z_last / np.sqrt(queries / (queries - 1)), queries - 1))


def tukey_hsd(
    values: FloatArray,
    first: IntArray,
    second: IntArray,
    *,
    resamples: int,
    rng: np.random.Generator,
    progress: Progress = lambda _: None,
) -> FloatArray:
    """Tukey's honestly significant difference, randomised: p for each pair, adjusted for looking at all of them.

        p = (1 + #{max over pairs |m*_i − m*_j| ≥ |m_a − m_b|}) / (1 + resamples)    [Carterette12, Sakai14]

    where m* are the means after the values of each query were dealt to the runs at random. `values` are runs ×
    queries; pair i compares run `first[i]` with run `second[i]`. Holds where all runs could be swapped. Where many are
    variants of one, the others are called different too often, and real differences among the runs cost it power.

    Examples:
        >>> values = np.array([[0.9, 0.8, 0.9, 0.7, 0.8], [0.1, 0.2, 0.1, 0.3, 0.2], [0.1, 0.2, 0.2, 0.3, 0.1]])
        >>> first, second = np.array([0, 0, 1]), np.array([1, 2, 2])
        >>> tukey_hsd(values, first, second, resamples=1999, rng=np.random.default_rng(1)).round(2)
        array([0.01, 0.01, 1.  ])
    """
    observed = np.abs((values[first] - values[second]).mean(axis=1)) - TOLERANCE * np.abs(values).max()
    exceedances = np.zeros(len(first))
    all_pairs = len(first) == len(values) * (len(values) - 1) // 2
    batch = max(1, min(BATCH, MAX_SHUFFLED // values.size))
    shuffled = np.repeat(values.T[None], batch, axis=0)  # draws × queries × runs: dealt anew from any order of before
    for size in _batch_sizes(resamples, batch):
        rng.permuted(shuffled, axis=2, out=shuffled)
        means = shuffled[:size].mean(axis=1)
        if all_pairs:
            max_gap = means.max(axis=1) - means.min(axis=1)
        else:
            max_gap = np.abs(means[:, first] - means[:, second]).max(axis=1)
        exceedances += size - np.searchsorted(np.sort(max_gap), observed)
        progress(size * len(first))
    return (1 + exceedances) / (1 + resamples)
