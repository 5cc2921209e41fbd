"""Tests on differences: each row is a pair of runs, each column a query that both have.

Every function takes the whole matrix and gives one p for each row, two-sided. Tests that draw again use the same draws
for all pairs, so that many cost little more than one: a draw is a row of signs or of counts, and one matrix product
gives its mean for every pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.stats.intervals import resample_query_counts, t_quantile, t_tail

DIGITS = 12  # significant; 0.3 − 0.2 is 0.1, and a sum does not depend on its order
EXACT_RANKS = 50  # up to here the exact distribution of Wilcoxon's statistic is used where no differences tie
ENUMERATED_RANKS = 13  # queries that do not tie: up to here all ways to flip their signs are tried
TINY = np.finfo(float).tiny  # a p that is too small for a number is not 0
Progress: TypeAlias = Callable[[int], None]  # is told how many pairs × resamples were done
PAIR_BATCH = 4096  # pairs at a time: what belongs to one batch of draws stays below 20 MB
BATCH = 500  # draws at a time; fixed, so that a pair's p does not depend on how many others are tested
MAX_SHUFFLED = 8_000_000  # values dealt at a time in Tukey's test: 64 MB
TOLERANCE = 1e-9  # sums of the same numbers in another order differ by less than this, relatively


def paired_differences(first: FloatArray, second: FloatArray) -> FloatArray:
    """The difference for each query, without what only rounding makes: each row to 12 digits of its largest value.

    Examples:
        >>> paired_differences(np.array([0.3, 0.4]), np.array([0.2, 0.3])).tolist()
        [0.1, 0.1]
    """
    return _round_to_digits(first - second, np.maximum(np.abs(first), np.abs(second)))


def strip_rounding_noise(values: FloatArray) -> FloatArray:
    """Values without what only rounding makes: to 12 digits of the largest."""
    return _round_to_digits(values, np.abs(values))


def _round_to_digits(values: FloatArray, magnitudes: FloatArray) -> FloatArray:
    largest = magnitudes.max(axis=-1, keepdims=True, initial=1e-280)
    scale = 10.0 ** (DIGITS - np.ceil(np.log10(largest)))
    rounded_values: FloatArray = np.round(values * scale) / scale
    return rounded_values


def standard_error(differences: FloatArray) -> FloatArray:
    """Of the mean of each row: s / √n."""
    se: FloatArray = differences.std(axis=1, ddof=1) / np.sqrt(differences.shape[1])
    return se


def t_test(differences: FloatArray) -> FloatArray:
    """Student's paired t test.

        t = mean(d) / (s / √n),  n − 1 degrees of freedom    [Student08]

    Holds for many queries whatever the differences look like, and for few where they are not far from normal.

    Examples:
        >>> t_test(np.array([[0.1, 0.2, 0.3, 0.0]])).round(6)
        array([0.102728])
    """
    ratio = np.abs(differences.mean(axis=1)) / standard_error(differences)
    return np.maximum(2 * t_tail(ratio, differences.shape[1] - 1), TINY)


def sign_test(differences: FloatArray, *, mid_p: bool = False) -> FloatArray:
    """The exact sign test: are there too many wins for a fair coin? Queries that tie say nothing.

        p = 2 · P(X ≤ min(wins, losses)),  X ~ Binomial(wins + losses, ½)    [Cambridge18]

    It looks at who is ahead and never at how far, and errs on the safe side. `mid_p` counts the outcome itself
    by half, which takes most of that caution away [Lancaster61].

    Examples:
        >>> sign_test(np.array([[1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 0.0]]))
        array([0.21875])
    """
    from scipy.special import bdtr

    wins, losses = (differences > 0).sum(axis=1), (differences < 0).sum(axis=1)
    fewer, untied = np.minimum(wins, losses), wins + losses
    tail = bdtr(fewer.astype(float), untied, 0.5)
    if mid_p:
        below = np.where(fewer > 0, bdtr(np.maximum(fewer - 1, 0).astype(float), untied, 0.5), 0.0)
        tail = (tail + below) / 2
    p: FloatArray = np.minimum(2 * tail, 1.0)
    return p


def wilcoxon_test(differences: FloatArray) -> FloatArray:
    """Wilcoxon's signed-rank test: queries that tie are left out [Wilcoxon45].

    Exact where no more than 13 queries are left, and up to 50 queries where none ties and no two differences have the
    same size; otherwise by the normal approximation with the correction for ties, as SciPy does it. Each row is
    treated as if it stood alone. It asks whether the differences lie evenly around 0, which is not quite whether
    their mean is 0.

    Examples:
        >>> wilcoxon_test(np.array([[0.1, 0.2, 0.3, 0.4, 0.5, -0.05]]))
        array([0.0625])
    """
    from scipy import stats

    n = differences.shape[1]
    magnitudes = np.sort(np.abs(differences), axis=1)
    has_ties = (magnitudes[:, 0] == 0) | (np.diff(magnitudes, axis=1) == 0).any(axis=1)
    enumerable = np.count_nonzero(differences, axis=1) <= ENUMERATED_RANKS
    exact = ~has_ties & ~enumerable & (n <= EXACT_RANKS)
    p = np.ones(len(differences))
    if enumerable.any():
        ranks = signed_ranks(differences[enumerable])
        largest = np.argsort(-np.abs(ranks), axis=1)[:, :ENUMERATED_RANKS]
        nonzero_ranks = np.take_along_axis(ranks, largest, axis=1)
        p[enumerable] = count_extreme_flips(nonzero_ranks, enumerate_sign_flips(nonzero_ranks.shape[1])) / (
            1 << (nonzero_ranks.shape[1] - 1)
        )
    for rows, method in ((exact, "exact"), (~exact & ~enumerable, "asymptotic")):
        if rows.any():
            p[rows] = stats.wilcoxon(differences[rows], axis=1, method=method).pvalue
    return np.maximum(p, TINY)


def signed_ranks(differences: FloatArray) -> FloatArray:
    """The rank of each difference by its size among those that are not 0, with its sign; what is 0 has none.

    Where their sum is above 0, Wilcoxon's test speaks for the first run.

    Examples:
        >>> signed_ranks(np.array([[0.1, 0.2, 0.0, -0.9]]))
        array([[ 1.,  2.,  0., -3.]])
    """
    from scipy import stats

    zeros = (differences == 0).sum(axis=1, keepdims=True)
    ranks: FloatArray = np.sign(differences) * (stats.rankdata(np.abs(differences), axis=1) - zeros)
    return ranks


def welch_test(
    means: FloatArray, variances: FloatArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Welch's t test for runs that answered different queries; the last axis holds a and b [Welch47].

        t = (m_a − m_b) / √(v_a/n_a + v_b/n_b)

    Gives p, the standard error of the difference and the degrees of freedom.

    Examples:
        >>> p, se, df = welch_test(np.array([[0.5, 0.3]]), np.array([[0.04, 0.09]]), np.array([[40.0, 30.0]]))
        >>> p.round(5), se.round(5), df.round(3)
        (array([0.00272]), array([0.06325]), array([47.621]))
    """
    squared_errors = variances / counts
    se: FloatArray = np.sqrt(squared_errors.sum(axis=-1))
    df: FloatArray = squared_errors.sum(axis=-1) ** 2 / (squared_errors**2 / (counts - 1)).sum(axis=-1)
    return np.maximum(2 * t_tail(np.abs(means[..., 0] - means[..., 1]) / se, df), TINY), se, df


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
