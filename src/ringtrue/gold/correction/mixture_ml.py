"""Which shares of gold labels explain the bronze labels best: maximum likelihood, for many tables at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError

Array: TypeAlias = NDArray[np.float64]
BARRIER_FACTOR = 0.1  # of the distance from the edges, after each turn
MAX_STEP = 0.995  # of the way to the nearest edge is as far as a step may go
TINY = 1e-300  # keeps a division by 0 from being one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradeShares:
    """The share of each gold label, in the last axis, and whether the search came to its end."""

    shares: Array
    converged: NDArray[np.bool_]


def fit_grade_shares(
    counts: ArrayLike, matrix: ArrayLike, *, tolerance: float = 1e-12, max_iterations: int = 100
) -> GradeShares:
    """The gold shares p ≥ 0, Σp = 1, under which bronze counts ~ multinomial(p C) are most likely.

        max Σ_b n_b log (pC)_b,    D_g = Σ_b n_b/n · C_gb / (pC)_b = 1 where p_g > 0, and ≤ 1 where p_g = 0

    `counts` are (…, bronze), `matrix` (…, gold, bronze) with rows that sum to 1: each set of counts may have a matrix
    of its own, and all are solved at once. Counts need not be whole. The EM algorithm, p_g ← p_g D_g [Dempster77],
    climbs to the same maximum, but takes thousands of turns where two grades look alike; Newton's method from inside
    [Koenker14] takes some twenty. The mean log likelihood lies below its maximum by max D − 1 at most [Lindsay83]:
    the search ends where that is no more than the tolerance.

    Examples:
        >>> matrix = [[0.8, 0.2], [0.1, 0.9]]
        >>> (fit_grade_shares([[45, 55], [5, 95]], matrix).shares.round(6) + 0).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    counts, matrix = np.asarray(counts, dtype=np.float64), np.asarray(matrix, dtype=np.float64)
    if counts.shape[-1] != matrix.shape[-1]:
        raise UsageError(
            f"counts of {counts.shape[-1]} bronze labels do not fit a matrix with {matrix.shape[-1]} columns"
        )
    shape = np.broadcast_shapes(counts.shape[:-1], matrix.shape[:-2])
    grades, labels = matrix.shape[-2:]
    bronze_shares = np.broadcast_to(counts, (*shape, labels)).reshape(-1, labels)
    bronze_shares = bronze_shares / np.maximum(bronze_shares.sum(axis=1, keepdims=True), TINY)
    rates = np.broadcast_to(matrix, (*shape, grades, labels)).reshape(-1, grades, labels)
    if ((rates.sum(axis=1) <= 0) & (bronze_shares > 0)).any():
        raise UsageError("a bronze label was counted that no gold label gives rise to: its column of the matrix is 0")
    shares, slack = np.full((len(bronze_shares), grades), 1 / grades), np.ones((len(bronze_shares), grades))
    best_shares, converged = shares.copy(), np.zeros(len(bronze_shares), dtype=bool)
    active = np.arange(len(bronze_shares))  # where the search still goes on
    for _ in range(max_iterations):
        mixture = np.maximum((shares[:, None, :] @ rates)[:, 0], TINY)
        ratio = bronze_shares / mixture
        gradient = (rates @ ratio[:, :, None])[:, :, 0]
        total = shares.sum(axis=1, keepdims=True)
        finished = (gradient * total).max(axis=1) - 1 <= tolerance
        best_shares[active] = shares / total
        converged[active] = finished
        if finished.all():
            break
        hessian = (rates * (ratio / mixture)[:, None, :]) @ rates.swapaxes(1, 2)
        unfinished = ~finished
        active, bronze_shares, rates = active[unfinished], bronze_shares[unfinished], rates[unfinished]
        shares, slack = _newton_step(shares[unfinished], slack[unfinished], gradient[unfinished], hessian[unfinished])
    return GradeShares(shares=best_shares.reshape(*shape, grades), converged=converged.reshape(shape))


def _newton_step(shares: Array, slack: Array, gradient: Array, hessian: Array) -> tuple[Array, Array]:
    """The shares and what their slopes lack of 1, after a step of Newton's method towards p_g (1 − D_g) = μ, a tenth
    of what it was."""
    target = BARRIER_FACTOR * (shares * slack).mean(axis=1, keepdims=True) / shares
    ratio = slack / shares
    curvature = hessian + ratio[:, :, None] * np.eye(shares.shape[1])
    step = np.linalg.solve(curvature, (gradient - 1 + target)[:, :, None])[:, :, 0]
    slack_step = target - slack - ratio * step
    return shares + _step_length(shares, step) * step, slack + _step_length(slack, slack_step) * slack_step


def _step_length(current: Array, step: Array) -> Array:
    """How far along the step one may go without leaving the inside; all of it at most."""
    steepest = (-step / current).max(axis=1, keepdims=True)
    return np.asarray(MAX_STEP / np.maximum(steepest, MAX_STEP))
