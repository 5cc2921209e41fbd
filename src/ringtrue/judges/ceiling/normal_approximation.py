"""The ceiling in closed form: the number of documents ahead is taken for normal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.stats.ties import divisor

MIN_VARIANCE = 1e-9  # a variance below which a number is certain


def closed_form_dcg(counts: IntArray, matrix: FloatArray, gain: FloatArray, *, k: int | None = None) -> FloatArray:
    """The DCG of each list, where the h documents above one and the s beside it are taken for normal.

        E[DCG] = Σ_i n_i gain_i Σ_j c_ij Σ_{t,s} Ψ_ij(t, s) · (d_{t−s+1} + … + d_{t+1}) / (s + 1),    t = h + s
        (t, s) ~ N(μ, Σ),  a_kj = Σ_{l≥j} c_kl:    μ_t = Σ_k n_k a_kj − a_ij,    μ_s = Σ_k n_k c_kj − c_ij
        σ_t² = Σ_k n_k a_kj (1 − a_kj) − a_ij (1 − a_ij),    σ_s² = Σ_k n_k c_kj (1 − c_kj) − c_ij (1 − c_ij)
        cov = Σ_k n_k c_kj (1 − a_kj) − c_ij (1 − a_ij)    [Metrikov12]

    Ψ is the density at whole numbers 0 ≤ s ≤ t < n: that of t, and that of s given t, each made to add up to 1, so
    that it also stands where one of them is certain: no document is above the highest label or below the lowest.
    Meant for lists of 50 documents or more: nDCG is then right to 0.02 if five of them are worth something, at 500
    documents to 0.002. With a cutoff it errs more.

    Examples:
        >>> counts, matrix = np.array([[90, 30]]), np.array([[0.8, 0.2], [0.3, 0.7]])
        >>> closed_form_dcg(counts, matrix, np.array([0.0, 1.0])).round(3)
        array([7.321])
    """
    distinct, inverse = np.unique(counts, axis=0, return_inverse=True)
    return np.array([_closed_form_dcg_of_list(row, matrix, gain, k) for row in distinct])[inverse.ravel()]


def _closed_form_dcg_of_list(count: IntArray, matrix: FloatArray, gain: FloatArray, k: int | None) -> float:
    n = int(count.sum())
    discount = 1 / divisor(np.arange(1, n + 1))
    discount[n if k is None else k :] = 0.0
    cumulative_discount = np.concatenate([[0.0], np.cumsum(discount)])
    t, s = np.arange(n)[:, None], np.arange(n)
    mean_discount = np.where(
        s <= t, (cumulative_discount[t + 1] - cumulative_discount[np.maximum(t - s, 0)]) / (s + 1), 0.0
    )
    gainful = np.flatnonzero((gain > 0) & (count > 0))
    at_least = matrix[:, ::-1].cumsum(axis=1)[:, ::-1]
    total = 0.0
    for label in range(len(matrix)):
        reachable = gainful[matrix[gainful, label] > 0]
        a, c = at_least[:, label], matrix[:, label]
        mean_t, mean_s, var_t, var_s, cov = (
            (count @ terms - terms[reachable])[:, None] for terms in (a, c, a * (1 - a), c * (1 - c), c * (1 - a))
        )
        certain = var_t < MIN_VARIANCE
        slope = np.where(certain, 0.0, cov / np.where(certain, 1.0, var_t))
        density_t = _discretised_normal(s, mean_t, var_t)
        mean_s_given_t = (mean_s + slope * (s - mean_t))[:, :, None]
        density_s = _discretised_normal(s, mean_s_given_t, (var_s - slope * cov)[:, :, None], allowed=s <= t)
        expected_discount = np.einsum("it,its,ts->i", density_t, density_s, mean_discount, optimize=True)
        total += float((count * gain)[reachable] * matrix[reachable, label] @ expected_discount)
    return total


def _discretised_normal(
    numbers: IntArray, mean: FloatArray, variance: FloatArray, *, allowed: NDArray[np.bool_] | bool = True
) -> FloatArray:
    """The normal density at whole numbers, made to add up to 1; the nearest alone where there is no variance."""
    log_density = -((numbers - mean) ** 2) / (2 * np.maximum(variance, MIN_VARIANCE))
    log_density = np.where(allowed, log_density, -np.inf)
    density = np.exp(log_density - log_density.max(axis=-1, keepdims=True))
    return np.asarray(density / density.sum(axis=-1, keepdims=True))
