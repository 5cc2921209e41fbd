"""The ceiling exactly: no draw, no approximation."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.stats.ties import divisor

LADDER = 1.1  # lists whose lengths differ by less than this share nodes and roots
MAX_PRODUCT = 1 << 18  # multiplications in a product of matrices: more, and threads that wait cost more than they bring
NEGLIGIBLE_LOG = -44.0  # e to this power is lost beside 1


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
    discount = 1 / divisor(np.arange(1, order + 1))
    discount[order if k is None else k :] = 0.0
    angle = 2 * np.pi * np.arange(order // 2 + 1) / order  # of the roots; the others are their conjugates
    transformed = np.fft.fft(discount)[: len(angle)] / order
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
