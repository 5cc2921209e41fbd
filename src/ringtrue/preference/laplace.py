"""How sure the ratings are: the curvature of the posterior at its top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.preference.bradley_terry import difference_matrix
from ringtrue.stats.encoding import encode_keys

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches

Solver: TypeAlias = "Callable[[FloatArray], FloatArray]"
MAX_DENSE_DOCS = 2_000  # documents of a query up to which its matrix is inverted
PROBES = 100  # beyond: the variances come from so many random signs
# How far off a variance may be; where documents hang together in long chains, signs say too little.
MAX_RELATIVE_ERROR = 0.1
MIN_INFORMATION = 1e-12
PROBES_PER_BATCH = 10  # of them in memory
CG_TOLERANCE = 1e-4
RATING_DRAWS = 200  # of the ratings, to see how far judges are known
MAX_DIFFERENCES = 1_000_000  # differences at once


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeEvidence:
    """What the matches say about judges.

    `difference` is that of the documents of each match, and `cross_information` how it hangs together with what its
    judge is like. `gradient_and_information` takes rows and possible differences of them, a row for each possibility,
    and gives which way each match pulls its judge and how much it tells about him. `prior_precision` is what was known
    of every judge before.
    """

    difference: FloatArray
    cross_information: FloatArray
    gradient_and_information: Callable[[NDArray[np.int64], FloatArray], tuple[FloatArray, FloatArray]]
    prior_precision: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchInformation:
    """What each match says: about the difference of its documents, and where judges differ about its judge too."""

    difference: FloatArray
    judges: JudgeEvidence | None = None


def covariance(
    first: NDArray[np.integer], second: NDArray[np.integer], information: FloatArray, size: int, *, ridge: float
) -> FloatArray:
    """The covariance of the ratings of so many documents, given what each match says about a difference.

        Σ = (ridge · I + Σ_m information_m (e_first − e_second)(e_first − e_second)ᵀ)⁻¹

    Examples:
        >>> covariance(np.array([0]), np.array([1]), np.array([0.25]), 2, ridge=0.5).tolist()
        [[1.5, 0.5], [0.5, 1.5]]
    """
    precision = np.zeros((size, size))
    np.subtract.at(precision, (first, second), information)
    precision += precision.T
    precision[np.diag_indices(size)] = ridge - precision.sum(axis=1)
    return np.asarray(np.linalg.inv(precision))


@dataclass(frozen=True, slots=True, kw_only=True)
class StandardErrors:
    """Standard errors: of each rating less the mean of its group, of its lead over the one behind, and of each judge.

    NaN is what could not be found out: in queries with more than 2,000 documents all leads, and ratings of documents
    that hang on long chains of matches. A lead is 0 where nobody is behind. Judges are None where all are alike.
    """

    rating: FloatArray
    lead: FloatArray
    judge: FloatArray | None = None


def standard_errors(
    matches: Matches,
    information: MatchInformation,
    group: NDArray[np.int32],
    behind: NDArray[np.int64],
    *,
    ridge: float,
) -> StandardErrors:
    """The standard errors of ratings in which each document has another one, or itself, behind it.

    A group is the documents that chains of matches join. Its level as a whole is free but for the ridge, and would be
    most of a plain standard error. Where judges differ, that they are estimated from the same votes is counted in.
    """
    rating_variance, lead_variance = np.empty(matches.docs.height), np.empty(matches.docs.height)
    judge_information = None if information.judges is None else _JudgeInformation(information.judges, matches)
    for (rows, part), low, high in zip(matches.by_query(), matches.start[:-1], matches.start[1:], strict=True):
        groups = np.unique(group[low:high], return_inverse=True)[1]
        solve, draw, rating_variance[low:high], lead_variance[low:high] = _query_covariance(
            part, information.difference[rows], groups, behind[low:high] - low, ridge
        )
        if judge_information is not None:
            judge_information.add(rows, part, draw, partial(_solve_centred, solve, groups))
    if judge_information is None:
        return StandardErrors(rating=np.sqrt(rating_variance), lead=np.sqrt(lead_variance))
    judge_covariance = judge_information.covariance()
    for effect, low, high in zip(judge_information.effects, matches.start[:-1], matches.start[1:], strict=True):
        rating_variance[low:high] += judge_covariance.variance_of_effects(*effect)
        lead_variance[low:high] += judge_covariance.variance_of_effects(
            effect[0], effect[1] - effect[1][behind[low:high] - low]
        )
    return StandardErrors(
        rating=np.sqrt(rating_variance), lead=np.sqrt(lead_variance), judge=np.sqrt(judge_covariance.variances())
    )


class _JudgeInformation:
    """What is known of the judges once the documents are averaged out, gathered query by query.

        I = prior precision + E[information about judges] − Var[gradient of judges]    [Louis82]

    Both over ratings drawn from what the votes leave possible. A judge whose votes explain documents that nobody else
    has seen is pulled a little by each possibility, and nothing is known of him.
    """

    def __init__(self, evidence: JudgeEvidence, matches: Matches) -> None:
        self.evidence = evidence
        self.information = np.zeros(len(matches.judges))
        self.gradients = np.zeros((RATING_DRAWS, len(matches.judges)))
        self.rng = np.random.default_rng(RATING_DRAWS)
        self.effects: list[tuple[NDArray[np.int32], FloatArray]] = []  # the judges of a query, and what they move

    def add(self, rows: NDArray[np.int64], part: Matches, draw: Solver, solve_centred: Solver) -> None:
        """Count in the matches of a query; `draw` makes standard normal numbers into ratings less their mean."""
        judges, judge = np.unique(part.judge, return_inverse=True)
        self.effects.append(
            (judges, solve_centred(_cross_information(part, judge, len(judges), self.evidence.cross_information[rows])))
        )
        judge_indicator = np.zeros((len(rows), len(judges)))
        judge_indicator[np.arange(len(rows)), judge] = 1
        batch = max(MAX_DIFFERENCES // max(len(rows), 1), 1)
        for begin in range(0, RATING_DRAWS, batch):
            draws = min(batch, RATING_DRAWS - begin)
            deviations = draw(self.rng.standard_normal((part.docs.height, draws))).T
            differences_drawn = self.evidence.difference[rows] + deviations[:, part.first] - deviations[:, part.second]
            gradient, information = self.evidence.gradient_and_information(rows, differences_drawn)
            self.gradients[begin : begin + draws, judges] += gradient @ judge_indicator
            self.information[judges] += np.bincount(judge, weights=information.sum(axis=0) / RATING_DRAWS)

    def covariance(self) -> _JudgeCovariance:
        """The covariance of what judges are like: what was known before, and no more than that is taken away."""
        information = np.maximum(self.information, MIN_INFORMATION)
        gradients = (self.gradients - self.gradients.mean(axis=0)).T / np.sqrt(RATING_DRAWS - 1)
        eigenvalues, eigenvectors = np.linalg.eigh(gradients.T @ (gradients / information[:, None]))
        shrink = np.sqrt(np.minimum(1, 1 / np.maximum(eigenvalues, MIN_INFORMATION)))
        factor = gradients @ (eigenvectors * shrink)
        diagonal = 1 / (self.evidence.prior_precision + information)
        core = np.eye(RATING_DRAWS) - factor.T @ (factor * diagonal[:, None])
        return _JudgeCovariance(diagonal=diagonal, factor=factor * diagonal[:, None], core=np.linalg.inv(core))


@dataclass(frozen=True, slots=True, kw_only=True)
class _JudgeCovariance:
    """A covariance of many judges that is diagonal but for a few directions: diagonal + factor · core · factorᵀ."""

    diagonal: FloatArray
    factor: FloatArray
    core: FloatArray

    def variances(self) -> FloatArray:
        """The variance of every judge."""
        return np.asarray(self.diagonal + ((self.factor @ self.core) * self.factor).sum(axis=1))

    def variance_of_effects(self, judges: NDArray[np.int32], effects: FloatArray) -> FloatArray:
        """The variance of documents that judges move, documents × these judges."""
        projected = effects @ self.factor[judges]
        return np.asarray((effects**2) @ self.diagonal[judges] + ((projected @ self.core) * projected).sum(axis=1))


def pair_variances(matches: Matches, information: FloatArray, *, ridge: float) -> FloatArray:
    """How far open the difference of each match is, with all other documents held where they are.

    That is the inverse of two rows of the information matrix, and a little less than the whole inverse would give.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> two = Matches.of({"left": ["a"], "right": ["b"], "winner": ["a"]})
        >>> pair_variances(two, np.array([0.25]), ridge=0.5).tolist()
        [2.0]
    """
    size, diagonal = matches.docs.height, _precision_diagonal(matches, information, ridge)
    pair = encode_keys(matches.first.astype(np.int64) * size + matches.second)[1]
    shared = np.bincount(pair, weights=information)[pair]
    first_diagonal, second_diagonal = diagonal[matches.first], diagonal[matches.second]
    return np.asarray(
        (first_diagonal + second_diagonal - 2 * shared) / (first_diagonal * second_diagonal - shared * shared)
    )


def _query_covariance(
    matches: Matches, information: FloatArray, groups: NDArray[np.int64], behind: NDArray[np.int64], ridge: float
) -> tuple[Solver, Solver, FloatArray, FloatArray]:
    """What multiplies by the covariance of a query's ratings and by a root of it, and variances of ratings and leads.

    Of a query too large for the whole matrix, the root takes the documents one by one.
    """
    size = matches.docs.height
    if size <= MAX_DENSE_DOCS:
        rating_covariance = covariance(matches.first, matches.second, information, size, ridge=ridge)
        variances, cholesky = np.diag(rating_covariance), np.linalg.cholesky(rating_covariance)
        lead_variance = variances + variances[behind] - 2 * rating_covariance[np.arange(size), behind]
        return (
            (lambda vectors: rating_covariance @ vectors),
            (lambda vectors: cholesky @ vectors),
            _centred_variances(rating_covariance, groups),
            lead_variance,
        )
    solve = _conjugate_gradient_solver(matches, information, ridge)
    rng, probe_mean, probe_square = np.random.default_rng(size), np.zeros(size), np.zeros(size)
    for _ in range(PROBES // PROBES_PER_BATCH):
        signs = rng.choice([-1.0, 1.0], (size, PROBES_PER_BATCH))
        probes = signs * _subtract_group_means(solve(_subtract_group_means(signs, groups)), groups)
        probe_mean += probes.sum(axis=1) / PROBES
        probe_square += (probes**2).sum(axis=1) / PROBES
    unreliable = np.sqrt(np.maximum(probe_square - probe_mean**2, 0) / PROBES) > MAX_RELATIVE_ERROR * probe_mean
    probe_mean[unreliable] = np.nan
    root = np.sqrt(_precision_diagonal(matches, information, ridge))[:, None]
    return solve, (lambda vectors: vectors / root), probe_mean, np.full(size, np.nan)


def _precision_diagonal(matches: Matches, information: FloatArray, ridge: float) -> FloatArray:
    """What is known of each document, all others held where they are."""
    size = matches.docs.height
    diagonal = ridge + np.bincount(matches.first, weights=information, minlength=size)
    return np.asarray(diagonal + np.bincount(matches.second, weights=information, minlength=size))


def ridge_shrinkage(
    matches: Matches, information: MatchInformation, ratings: FloatArray, *, ridge: float
) -> FloatArray:
    """About how far the ridge draws each rating towards the mean: ridge · Σ θ, which is Newton's step to no ridge.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> two = Matches.of({"left": ["a"], "right": ["b"], "winner": ["a"]})
        >>> information = MatchInformation(difference=np.array([0.25]))
        >>> ridge_shrinkage(two, information, np.array([1.0, -1.0]), ridge=0.5).round(6).tolist()
        [0.5, -0.5]
    """
    return ridge * _conjugate_gradient_solver(matches, information.difference, ridge)(ratings[:, None])[:, 0]


def _conjugate_gradient_solver(matches: Matches, information: FloatArray, ridge: float) -> Solver:
    """Multiplication by a covariance too large to be written down, by conjugate gradients."""
    from scipy.sparse import diags_array, eye_array
    from scipy.sparse.linalg import cg

    design = difference_matrix(matches)
    precision = (design.T @ diags_array(information) @ design + ridge * eye_array(matches.docs.height)).tocsr()
    preconditioner = diags_array(1 / precision.diagonal())
    return lambda vectors: np.stack(
        [cg(precision, column, rtol=CG_TOLERANCE, M=preconditioner)[0] for column in vectors.T], axis=1
    )


def _centred_variances(rating_covariance: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """The variance of each rating less its group's mean."""
    membership = np.zeros((len(groups), groups.max(initial=0) + 1))
    membership[np.arange(len(groups)), groups] = 1
    sizes = membership.sum(axis=0)
    with_mean = (rating_covariance @ membership / sizes)[np.arange(len(groups)), groups]
    of_mean = np.bincount(groups, weights=with_mean) / sizes
    return np.asarray(np.diag(rating_covariance) - 2 * with_mean + of_mean[groups])


def _solve_centred(solve: Solver, groups: NDArray[np.int64], vectors: FloatArray) -> FloatArray:
    """Where ratings go when they are pulled so, less the mean of their group."""
    return _subtract_group_means(solve(vectors), groups)


def _subtract_group_means(values: FloatArray, groups: NDArray[np.int64]) -> FloatArray:
    """Each row less the mean of its group's rows."""
    sizes = np.bincount(groups)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, groups, values)
    return values - (sums / sizes[:, None])[groups]


def _cross_information(
    matches: Matches, judge: NDArray[np.int64], judges: int, cross_information: FloatArray
) -> FloatArray:
    """How ratings and judges hang together: documents × judges."""
    cross = np.zeros((matches.docs.height, judges))
    np.add.at(cross, (matches.first, judge), cross_information)
    np.subtract.at(cross, (matches.second, judge), cross_information)
    return cross
