"""How sure the ratings are: the curvature of the posterior at its top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.preference.bradley_terry import differences

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["Errors", "Told", "covariance", "standard_errors"]

Solver: TypeAlias = "Callable[[FloatArray], FloatArray]"
DENSE = 2_000  # documents of a query up to which its matrix is inverted
PROBES = 100  # beyond: the variances come from so many random signs, and their roots are some 1% off
AT_ONCE = 10  # of them in memory
SOLVED = 1e-4


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What each match says: about the difference of its documents, and where judges differ about its judge too.

    The information matrix of the two has `difference` and `own` on its diagonal and `both` beside it; `prior` is what
    was known of every judge before.
    """

    difference: FloatArray
    both: FloatArray | None = None
    own: FloatArray | None = None
    prior: float = 0.0


def covariance(
    first: NDArray[np.integer], second: NDArray[np.integer], told: FloatArray, size: int, *, ridge: float
) -> FloatArray:
    """The covariance of the ratings of so many documents, given what each match says about a difference.

        Σ = (ridge · I + Σ_m told_m (e_first − e_second)(e_first − e_second)ᵀ)⁻¹

    Examples:
        >>> covariance(np.array([0]), np.array([1]), np.array([0.25]), 2, ridge=0.5).tolist()
        [[1.5, 0.5], [0.5, 1.5]]
    """
    curve = np.zeros((size, size))
    np.subtract.at(curve, (first, second), told)
    curve += curve.T
    curve[np.diag_indices(size)] = ridge - curve.sum(axis=1)
    return np.asarray(np.linalg.inv(curve))


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Standard errors: of each rating less the mean of its group, of its lead over the one behind, and of each judge.

    The lead is NaN where the query is too large for it, and 0 where nobody is behind; judges are None where all are
    alike.
    """

    rating: FloatArray
    lead: FloatArray
    judge: FloatArray | None = None


def standard_errors(
    matches: Matches, told: Told, group: NDArray[np.int32], behind: NDArray[np.int64], *, ridge: float
) -> Errors:
    """The standard errors of ratings in which each document has another one, or itself, behind it.

    A group is the documents that chains of matches join. Its level as a whole is free but for the ridge, and would be
    most of a plain standard error. Where judges differ, that they are estimated from the same votes is counted in, by
    the Schur complement of the joint information.
    """
    own, lead = np.empty(matches.docs.height), np.empty(matches.docs.height)
    judges = None if told.own is None else np.diag(
        told.prior + np.bincount(matches.judge, weights=told.own, minlength=len(matches.judges))
    )  # fmt: skip
    moved: list[FloatArray] = []
    for (rows, part), low, high in zip(matches.by_query(), matches.start[:-1], matches.start[1:], strict=True):
        groups = np.unique(group[low:high], return_inverse=True)[1]
        solve, own[low:high], lead[low:high] = _solver(
            part, told.difference[rows], groups, behind[low:high] - low, ridge
        )
        if judges is not None:
            joined = _joined(part, told.both[rows])  # type: ignore[index]  # both come together
            answer = solve(joined)
            judges -= joined.T @ answer
            moved.append(_less_mean(answer, groups))
    if judges is None:
        return Errors(rating=np.sqrt(own), lead=np.sqrt(lead))
    spread, both = np.linalg.inv(judges), np.concatenate(moved)
    own += ((both @ spread) * both).sum(axis=1)
    apart = both - both[behind]
    lead += ((apart @ spread) * apart).sum(axis=1)
    return Errors(rating=np.sqrt(own), lead=np.sqrt(lead), judge=np.sqrt(np.diag(spread)))


def _solver(
    matches: Matches, told: FloatArray, groups: NDArray[np.int64], behind: NDArray[np.int64], ridge: float
) -> tuple[Solver, FloatArray, FloatArray]:
    """What multiplies by the covariance of a query's ratings, and the variances of ratings and of leads."""
    size = matches.docs.height
    if size <= DENSE:
        spread = covariance(matches.first, matches.second, told, size, ridge=ridge)
        own = np.diag(spread)
        lead = own + own[behind] - 2 * spread[np.arange(size), behind]
        return (lambda some: spread @ some), _centred(spread, groups), lead
    solve = _by_steps(matches, told, ridge)
    rng, probed = np.random.default_rng(size), np.zeros(size)
    for _ in range(PROBES // AT_ONCE):
        signs = rng.choice([-1.0, 1.0], (size, AT_ONCE))
        probed += np.sum(signs * _less_mean(solve(_less_mean(signs, groups)), groups), axis=1)
    return solve, probed / PROBES, np.full(size, np.nan)


def _by_steps(matches: Matches, told: FloatArray, ridge: float) -> Solver:
    """Multiplication by a covariance too large to be written down, by conjugate gradients."""
    from scipy.sparse import diags_array, eye_array
    from scipy.sparse.linalg import cg

    between = differences(matches)
    curve = (between.T @ diags_array(told) @ between + ridge * eye_array(matches.docs.height)).tocsr()
    scaled = diags_array(1 / curve.diagonal())
    return lambda some: np.stack([cg(curve, one, rtol=SOLVED, M=scaled)[0] for one in some.T], axis=1)


def _centred(spread: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """The variance of each rating less its group's mean."""
    member = np.zeros((len(groups), groups.max(initial=0) + 1))
    member[np.arange(len(groups)), groups] = 1
    sizes = member.sum(axis=0)
    with_mean = (spread @ member / sizes)[np.arange(len(groups)), groups]
    of_mean = np.bincount(groups, weights=with_mean) / sizes
    return np.asarray(np.diag(spread) - 2 * with_mean + of_mean[groups])


def _less_mean(values: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Each row less the mean of its group's rows."""
    sizes = np.bincount(groups)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, groups, values)
    return values - (sums / sizes[:, None])[groups]


def _joined(matches: Matches, both: FloatArray) -> FloatArray:
    """How ratings and judges hang together: documents × judges."""
    found = np.zeros((matches.docs.height, len(matches.judges)))
    np.add.at(found, (matches.first, matches.judge), both)
    np.subtract.at(found, (matches.second, matches.judge), both)
    return found
