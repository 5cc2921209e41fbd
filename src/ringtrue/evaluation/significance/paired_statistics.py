"""Tests on differences: each row is a pair of runs, each column a query that both have.

Every function takes the whole matrix and gives one p for each row, two-sided.
"""

from __future__ import annotations

import numpy as np

from ringtrue.evaluation.measures import FloatArray
from ringtrue.evaluation.significance.resampling_tests import count_extreme_flips, enumerate_sign_flips
from ringtrue.stats.student_t import t_tail

DIGITS = 12  # significant; 0.3 − 0.2 is 0.1, and a sum does not depend on its order
EXACT_RANKS = 50  # up to here the exact distribution of Wilcoxon's statistic is used where no differences tie
ENUMERATED_RANKS = 13  # queries that do not tie: up to here all ways to flip their signs are tried
TINY = np.finfo(float).tiny  # a p that is too small for a number is not 0


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
