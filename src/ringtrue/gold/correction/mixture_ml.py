"""Which shares of gold labels explain the bronze labels best: maximum likelihood, for many tables at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.errors import UsageError

__all__ = ["GradeShares", "grade_shares"]

Array: TypeAlias = NDArray[np.float64]
CLOSER = 0.1  # of the distance from the edges, after each turn
INSIDE = 0.995  # of the way to the nearest edge is as far as a step may go
SMALLEST = 1e-300  # keeps a division by 0 from being one


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GradeShares:
    """The share of each gold label, in the last axis, and whether the search came to its end."""

    shares: Array
    converged: NDArray[np.bool_]


def grade_shares(
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
        >>> (grade_shares([[45, 55], [5, 95]], matrix).shares.round(6) + 0).tolist()
        [[0.5, 0.5], [0.0, 1.0]]
    """
    counts, matrix = np.asarray(counts, dtype=np.float64), np.asarray(matrix, dtype=np.float64)
    if counts.shape[-1] != matrix.shape[-1]:
        raise UsageError(
            f"counts of {counts.shape[-1]} bronze labels do not fit a matrix with {matrix.shape[-1]} columns"
        )
    shape = np.broadcast_shapes(counts.shape[:-1], matrix.shape[:-2])
    grades, labels = matrix.shape[-2:]
    said = np.broadcast_to(counts, (*shape, labels)).reshape(-1, labels)
    said = said / np.maximum(said.sum(axis=1, keepdims=True), SMALLEST)
    rates = np.broadcast_to(matrix, (*shape, grades, labels)).reshape(-1, grades, labels)
    if ((rates.sum(axis=1) <= 0) & (said > 0)).any():
        raise UsageError("a bronze label was counted that no gold label gives rise to: its column of the matrix is 0")
    shares, lack = np.full((len(said), grades), 1 / grades), np.ones((len(said), grades))
    found, converged = shares.copy(), np.zeros(len(said), dtype=bool)
    searched = np.arange(len(said))  # where the search still goes on
    for _ in range(max_iterations):
        mixed = np.maximum((shares[:, None, :] @ rates)[:, 0], SMALLEST)
        ratio = said / mixed
        slope = (rates @ ratio[:, :, None])[:, :, 0]
        total = shares.sum(axis=1, keepdims=True)
        done = (slope * total).max(axis=1) - 1 <= tolerance
        found[searched] = shares / total
        converged[searched] = done
        if done.all():
            break
        bend = (rates * (ratio / mixed)[:, None, :]) @ rates.swapaxes(1, 2)
        left = ~done
        searched, said, rates = searched[left], said[left], rates[left]
        shares, lack = _closer(shares[left], lack[left], slope[left], bend[left])
    return GradeShares(shares=found.reshape(*shape, grades), converged=converged.reshape(shape))


def _closer(shares: Array, lack: Array, slope: Array, bend: Array) -> tuple[Array, Array]:
    """The shares and what their slopes lack of 1, after a step of Newton's method towards p_g (1 − D_g) = μ, a tenth
    of what it was."""
    goal = CLOSER * (shares * lack).mean(axis=1, keepdims=True) / shares
    ratio = lack / shares
    curved = bend + ratio[:, :, None] * np.eye(shares.shape[1])
    step = np.linalg.solve(curved, (slope - 1 + goal)[:, :, None])[:, :, 0]
    back = goal - lack - ratio * step
    return shares + _length(shares, step) * step, lack + _length(lack, back) * back


def _length(now: Array, step: Array) -> Array:
    """How far along the step one may go without leaving the inside; all of it at most."""
    steepest = (-step / now).max(axis=1, keepdims=True)
    return np.asarray(INSIDE / np.maximum(steepest, INSIDE))
