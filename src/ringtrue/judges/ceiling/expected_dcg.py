"""The expected DCG of lists ranked by one judge and scored by another: exactly, by draws, and in closed form."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.evaluation.measures.graded import discounts_to

LADDER = 1.1  # lists whose lengths differ by less than this share nodes and roots
MAX_PRODUCT = 1 << 18  # multiplications in a product of matrices: more, and threads that wait cost more than they bring
NEGLIGIBLE_LOG = -44.0  # e to this power is lost beside 1
MAX_CELLS = 1 << 18  # of the largest array of draws that is held at once
MIN_VARIANCE = 1e-9  # a variance below which a number is certain


def ideal_dcg(counts: IntArray, gain: FloatArray, *, k: int | None = None) -> FloatArray:
    """The DCG of each list when it is sorted by gain.

    Examples:
        >>> ideal_dcg(np.array([[5, 2]]), np.array([0.0, 1.0])).round(4)
        array([1.6309])
    """
    cumulative_discount = _cumulative_discounts(int(counts.sum(axis=1).max(initial=0)), k)
    best_first = np.argsort(-gain)
    ends = counts[:, best_first].cumsum(axis=1)
    label_discounts = cumulative_discount[ends] - cumulative_discount[ends - counts[:, best_first]]
    return np.asarray(label_discounts @ gain[best_first])


def _cumulative_discounts(n: int, k: int | None) -> FloatArray:
    """What all gains down to each rank are worth together, from rank 0 to n."""
    return np.concatenate([[0.0], np.cumsum(discounts_to(n, k))])


def exact_dcg(counts: IntArray, matrix: FloatArray, gain: FloatArray, *, k: int | None = None) -> FloatArray:
    """The expected DCG of each list, ranked by the training judge, scored by the testing judge.

        E[DCG] = Σ_i n_i gain_i Σ_j c_ij ∫₀¹ E[d(1 + N_ij(u))] du,    N_ij(u) = Σ_k Bin(n_k − [k = i], q_kj(u))
        q_kj(u) = Σ_{l>j} c_kl + u c_kj,    d(r) = 1 / log₂(r + 1) down to rank k, 0 below    [Metrikov12]

    `counts[q, i]` documents of list q have the testing label i, in rising order, and c_ij is how probable the training
    label j is for each. Ties are broken by a number u for each document, drawn evenly from 0 to 1: N documents then
    stand ahead of one with label j and number u, and their number is a sum of binomials. Its expectation is a sum over
    the roots of unity ω of an odd order above N, which −1 is not among, so that nothing divides by 0:

        E[d(1 + N)] = 1/M Σ_ω D(ω) Π_k (1 − q_k + q_k ω)^{n_k} / (1 − q_i + q_i ω),    D the Fourier transform of d

    It is a polynomial of degree n − 1 in u, on which Gauss and Legendre's nodes make no error.

    Examples:
        >>> counts, matrix = np.array([[1, 1]]), np.array([[0.8, 0.2], [0.3, 0.7]])
        >>> exact_dcg(counts, matrix, np.array([0.0, 1.0])).round(9)
        array([0.90773244])
    """
    expected = np.zeros(len(counts))
    size = _round_up_sizes(counts.sum(axis=1))
    for max_size in np.unique(size):
        rows = size == max_size
        distinct, inverse = np.unique(counts[rows], axis=0, return_inverse=True)
        batch = max(MAX_PRODUCT // len(gain) // (int(max_size) // 2 + 1), 1)
        pieces = np.array_split(distinct, math.ceil(len(distinct) / batch))
        dcgs = [_exact_dcg_up_to_size(piece, matrix, gain, k, int(max_size)) for piece in pieces]
        expected[rows] = np.concatenate(dcgs)[inverse.ravel()]
    return expected


def _round_up_sizes(size: IntArray) -> IntArray:
    """The next number of a ladder, so that lists of nearly the same length are worked on together."""
    rungs = [1]
    while rungs[-1] < size.max(initial=1):
        rungs.append(max(rungs[-1] + 1, int(rungs[-1] * LADDER)))
    return np.array(rungs)[np.searchsorted(rungs, size)]


def _exact_dcg_up_to_size(
    counts: IntArray, matrix: FloatArray, gain: FloatArray, k: int | None, max_size: int
) -> FloatArray:
    """The same for lists of at most so many documents, all at once."""
    order = max_size | 1
    angle = 2 * np.pi * np.arange(order // 2 + 1) / order  # of the roots; the others are their conjugates
    transformed = np.fft.fft(discounts_to(order, k))[: len(angle)] / order
    transformed[1:] *= 2
    nodes, weights = _gauss_legendre(min(math.ceil(max_size / 2), int(5 * math.sqrt(max_size)) + 8))
    above = matrix[:, ::-1].cumsum(axis=1)[:, ::-1] - matrix
    gain_labels = np.flatnonzero(gain > 0)
    expected = np.zeros((len(counts), len(gain_labels)))
    step = max(MAX_PRODUCT // len(gain) // (len(angle) * max(len(counts), len(gain))), 1)
    for label in np.flatnonzero(matrix[gain_labels].any(axis=0)):
        for first in range(0, len(nodes), step):
            node_batch = slice(first, first + step)
            ahead = np.clip(above[:, label, None] + matrix[:, label, None] * nodes[node_batch], 0, 1)
            weight = (weights[node_batch, None] * transformed).ravel()
            expected += _sum_over_roots(counts, ahead, angle, weight, gain_labels) * matrix[gain_labels, label]
    total: FloatArray = (expected * gain[gain_labels] * counts[:, gain_labels]).sum(axis=1)
    return total


def _sum_over_roots(
    counts: IntArray, ahead: FloatArray, angle: FloatArray, weight: NDArray[np.complex128], gain_labels: IntArray
) -> FloatArray:
    """Σ over nodes and roots of Re(weight · Π_k (1 − q_k + q_k ω)^{n_k} / (1 − q_i + q_i ω)): lists × labels i."""
    spread = -2 * ahead * (1 - ahead)
    log_modulus = np.log1p(spread[:, :, None] * (1 - np.cos(angle))).reshape(len(ahead), -1) / 2
    exponents = counts.astype(np.float64)
    modulus = exponents @ log_modulus
    significant = np.flatnonzero(modulus.max(axis=0) > NEGLIGIBLE_LOG)
    node, root = np.divmod(significant, len(angle))
    factor = 1 + ahead[:, node] * (np.exp(1j * angle) - 1)[root]
    modulus = np.exp(modulus[:, significant])
    phase = exponents @ np.angle(factor)
    quotient = weight[significant] / factor[gain_labels]
    sums: FloatArray = (modulus * np.cos(phase)) @ quotient.real.T - (modulus * np.sin(phase)) @ quotient.imag.T
    return sums


@lru_cache(maxsize=64)
def _gauss_legendre(number: int) -> tuple[FloatArray, FloatArray]:
    """Gauss and Legendre's nodes and weights from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(number)
    return (nodes + 1) / 2, weights / 2


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
    cumulative = matrix.cumsum(axis=1)[label, :-1]
    cumulative[matrix[label][:, ::-1].cumsum(axis=1)[:, -2::-1] == 0] = 1.0  # rounding must not leave anything above
    discount, gains, values = discounts_to(len(label), k), gain[label], []
    batch = max(MAX_CELLS // max(len(label), 1), 1)
    for first in range(0, draws, batch):
        size = (min(batch, draws - first), len(label))
        uniforms, training_labels = rng.random(size), np.zeros(size)
        for bound in cumulative.T:
            training_labels += uniforms >= bound
        best_first = np.argsort(-(training_labels + rng.random(size)), axis=1)
        values.append(gains[best_first] @ discount)
    return np.concatenate(values)


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
    cumulative_discount = _cumulative_discounts(n, k)
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
