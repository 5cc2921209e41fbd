"""How sure the ratings are: the curvature of the posterior at its top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.preference.bradley_terry import differences
from ringtrue.stats.encoding import positions

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["Errors", "Evidence", "Told", "covariance", "drawn_inwards", "pair_variances", "standard_errors"]

Solver: TypeAlias = "Callable[[FloatArray], FloatArray]"
DENSE = 2_000  # documents of a query up to which its matrix is inverted
PROBES = 100  # beyond: the variances come from so many random signs
MOST_UNSURE = 0.1  # how far off a variance may be; where documents hang together in long chains, signs say too little
LEAST_TOLD = 1e-12
AT_ONCE = 10  # of them in memory
SOLVED = 1e-4
DRAWS = 200  # of the ratings, to see how far judges are known
MOST_DRAWN = 1_000_000  # differences at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the matches say about judges.

    `apart` is the difference of each match, and `both` how it hangs together with what its judge is like. `about` takes
    rows and possible differences of them, a row for each possibility, and gives which way each match pulls its judge
    and how much it tells about him. `prior` is what was known of every judge before.
    """

    apart: FloatArray
    both: FloatArray
    about: Callable[[NDArray[np.int64], FloatArray], tuple[FloatArray, FloatArray]]
    prior: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What each match says: about the difference of its documents, and where judges differ about its judge too."""

    difference: FloatArray
    judges: Evidence | None = None


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

    NaN is what could not be found out: in queries with more than 2,000 documents all leads, and ratings of documents
    that hang on long chains of matches. A lead is 0 where nobody is behind. Judges are None where all are alike.
    """

    rating: FloatArray
    lead: FloatArray
    judge: FloatArray | None = None


def standard_errors(
    matches: Matches, told: Told, group: NDArray[np.int32], behind: NDArray[np.int64], *, ridge: float
) -> Errors:
    """The standard errors of ratings in which each document has another one, or itself, behind it.

    A group is the documents that chains of matches join. Its level as a whole is free but for the ridge, and would be
    most of a plain standard error. Where judges differ, that they are estimated from the same votes is counted in.
    """
    own, lead = np.empty(matches.docs.height), np.empty(matches.docs.height)
    known = None if told.judges is None else _Known(told.judges, matches)
    for (rows, part), low, high in zip(matches.by_query(), matches.start[:-1], matches.start[1:], strict=True):
        groups = np.unique(group[low:high], return_inverse=True)[1]
        solve, draw, own[low:high], lead[low:high] = _solver(
            part, told.difference[rows], groups, behind[low:high] - low, ridge
        )
        if known is not None:
            known.add(rows, part, draw, partial(_moved, solve, groups))
    if known is None:
        return Errors(rating=np.sqrt(own), lead=np.sqrt(lead))
    spread = known.spread()
    for moved, low, high in zip(known.moved, matches.start[:-1], matches.start[1:], strict=True):
        own[low:high] += spread.variance(*moved)
        lead[low:high] += spread.variance(moved[0], moved[1] - moved[1][behind[low:high] - low])
    return Errors(rating=np.sqrt(own), lead=np.sqrt(lead), judge=np.sqrt(spread.own()))


class _Known:
    """What is known of the judges once the documents are averaged out, gathered query by query.

        I = prior + E[told about judges] − Var[pull on judges]    [Louis82]

    Both over ratings drawn from what the votes leave possible. A judge whose votes explain documents that nobody else
    has seen is pulled a little by each possibility, and nothing is known of him.
    """

    def __init__(self, evidence: Evidence, matches: Matches) -> None:
        self.evidence = evidence
        self.told = np.zeros(len(matches.judges))
        self.pulls = np.zeros((DRAWS, len(matches.judges)))
        self.rng = np.random.default_rng(DRAWS)
        self.moved: list[tuple[NDArray[np.int32], FloatArray]] = []  # the judges of a query, and what they move

    def add(self, rows: NDArray[np.int64], part: Matches, draw: Solver, moved: Solver) -> None:
        """Count in the matches of a query; `draw` makes standard normal numbers into ratings less their mean."""
        judges, judge = np.unique(part.judge, return_inverse=True)
        self.moved.append((judges, moved(_joined(part, judge, len(judges), self.evidence.both[rows]))))
        whose = np.zeros((len(rows), len(judges)))
        whose[np.arange(len(rows)), judge] = 1
        batch = max(MOST_DRAWN // max(len(rows), 1), 1)
        for begin in range(0, DRAWS, batch):
            some = min(batch, DRAWS - begin)
            drawn = draw(self.rng.standard_normal((part.docs.height, some))).T
            possible = self.evidence.apart[rows] + drawn[:, part.first] - drawn[:, part.second]
            pull, told = self.evidence.about(rows, possible)
            self.pulls[begin : begin + some, judges] += pull @ whose
            self.told[judges] += np.bincount(judge, weights=told.sum(axis=0) / DRAWS)

    def spread(self) -> _JudgeSpread:
        """The covariance of what judges are like: what was known before, and no more than that is taken away."""
        told = np.maximum(self.told, LEAST_TOLD)
        pulls = (self.pulls - self.pulls.mean(axis=0)).T / np.sqrt(DRAWS - 1)
        size, axes = np.linalg.eigh(pulls.T @ (pulls / told[:, None]))
        shrink = np.sqrt(np.minimum(1, 1 / np.maximum(size, LEAST_TOLD)))
        taken = pulls @ (axes * shrink)
        inverse = 1 / (self.evidence.prior + told)
        inner = np.eye(DRAWS) - taken.T @ (taken * inverse[:, None])
        return _JudgeSpread(inverse=inverse, taken=taken * inverse[:, None], inner=np.linalg.inv(inner))


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeSpread:
    """A covariance of many judges that is diagonal but for a few directions: inverse + taken · inner · takenᵀ."""

    inverse: FloatArray
    taken: FloatArray
    inner: FloatArray

    def own(self) -> FloatArray:
        """The variance of every judge."""
        return np.asarray(self.inverse + ((self.taken @ self.inner) * self.taken).sum(axis=1))

    def variance(self, judges: NDArray[np.int32], moved: FloatArray) -> FloatArray:
        """The variance of documents that judges move, documents × these judges."""
        along = moved @ self.taken[judges]
        return np.asarray((moved**2) @ self.inverse[judges] + ((along @ self.inner) * along).sum(axis=1))


def pair_variances(matches: Matches, told: FloatArray, *, ridge: float) -> FloatArray:
    """How far open the difference of each match is, with all other documents held where they are.

    That is the inverse of two rows of the information matrix, and a little less than the whole inverse would give.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> from ringtrue.tables import Preferences
        >>> two = Matches.of(Preferences.of({"left": ["a"], "right": ["b"], "winner": ["a"]}))
        >>> pair_variances(two, np.array([0.25]), ridge=0.5).tolist()
        [2.0]
    """
    size = matches.docs.height
    own = ridge + np.bincount(matches.first, weights=told, minlength=size)
    own += np.bincount(matches.second, weights=told, minlength=size)
    pair = positions(matches.first.astype(np.int64) * size + matches.second)[1]
    both = np.bincount(pair, weights=told)[pair]
    one, other = own[matches.first], own[matches.second]
    return np.asarray((one + other - 2 * both) / (one * other - both * both))


def _solver(
    matches: Matches, told: FloatArray, groups: NDArray[np.int64], behind: NDArray[np.int64], ridge: float
) -> tuple[Solver, Solver, FloatArray, FloatArray]:
    """What multiplies by the covariance of a query's ratings and by a root of it, and variances of ratings and leads.

    Of a query too large for the whole matrix, the root takes the documents one by one.
    """
    size = matches.docs.height
    if size <= DENSE:
        spread = covariance(matches.first, matches.second, told, size, ridge=ridge)
        own, root = np.diag(spread), np.linalg.cholesky(spread)
        lead = own + own[behind] - 2 * spread[np.arange(size), behind]
        return (lambda some: spread @ some), (lambda some: root @ some), _centred(spread, groups), lead
    solve = _by_steps(matches, told, ridge)
    rng, probed, squares = np.random.default_rng(size), np.zeros(size), np.zeros(size)
    for _ in range(PROBES // AT_ONCE):
        signs = rng.choice([-1.0, 1.0], (size, AT_ONCE))
        found = signs * _less_mean(solve(_less_mean(signs, groups)), groups)
        probed, squares = probed + found.sum(axis=1) / PROBES, squares + (found**2).sum(axis=1) / PROBES
    unsure = np.sqrt(np.maximum(squares - probed**2, 0) / PROBES) > MOST_UNSURE * probed
    alone = ridge + np.bincount(matches.first, weights=told, minlength=size)
    alone += np.bincount(matches.second, weights=told, minlength=size)
    probed[unsure] = np.nan
    return solve, (lambda some: some / np.sqrt(alone)[:, None]), probed, np.full(size, np.nan)


def drawn_inwards(matches: Matches, told: Told, ratings: FloatArray, *, ridge: float) -> FloatArray:
    """About how far the ridge draws each rating towards the mean: ridge · Σ θ, which is Newton's step to no ridge.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> from ringtrue.tables import Preferences
        >>> two = Matches.of(Preferences.of({"left": ["a"], "right": ["b"], "winner": ["a"]}))
        >>> drawn_inwards(two, Told(difference=np.array([0.25])), np.array([1.0, -1.0]), ridge=0.5).round(6).tolist()
        [0.5, -0.5]
    """
    return ridge * _by_steps(matches, told.difference, ridge)(ratings[:, None])[:, 0]


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


def _moved(solve: Solver, groups: NDArray[np.int64], some: FloatArray) -> FloatArray:
    """Where ratings go when they are pulled so, less the mean of their group."""
    return _less_mean(solve(some), groups)


def _less_mean(values: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Each row less the mean of its group's rows."""
    sizes = np.bincount(groups)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, groups, values)
    return values - (sums / sizes[:, None])[groups]


def _joined(matches: Matches, judge: NDArray[np.int64], judges: int, both: FloatArray) -> FloatArray:
    """How ratings and judges hang together: documents × judges."""
    found = np.zeros((matches.docs.height, judges))
    np.add.at(found, (matches.first, judge), both)
    np.subtract.at(found, (matches.second, judge), both)
    return found
