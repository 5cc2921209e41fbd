"""Judges who differ: documents and judges rated together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ringtrue.preference.bradley_terry import OutcomeModel, fit_bradley_terry
from ringtrue.preference.laplace import JudgeEvidence, MatchInformation, pair_variances

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches

JudgeKind: TypeAlias = Literal["sensitivity", "crowd-bt"]
SENSITIVITY_SPREAD = 1.0  # how far judges are thought to lie around 1 before anything is known of them
CROWD_PRIOR = (6.0, 1.0)  # Beta: as if of seven votes six had been honest
CONTRARY_SHARE = 0.05  # of judges say the opposite, before anything is known of them
MIN_SCALE = 0.05  # where all judges guess, there is no scale to speak of
NODES = 9  # differences that stand for all that the votes leave possible
JUDGE_NODES = 3  # the same for what a judge may be like
MAX_ITERATIONS = 500
TOLERANCE = 1e-4
INNER_TOLERANCE = TOLERANCE / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeFit:
    """Ratings of the documents in log odds, one number for each judge, and what each match told about both.

    If everybody said the opposite and the order were turned round, the votes would be as likely. `mirror_probability`
    is how probable that is, if one judge in twenty does so. `information` is None where no interval can be defended.
    """

    ratings: FloatArray
    judges: FloatArray
    kind: JudgeKind
    outcome: OutcomeModel
    converged: bool
    mirror_probability: float
    information: MatchInformation | None = None

    def expected_scores(self, matches: Matches) -> FloatArray:
        """The score that the first document of each match can expect from the judge of that match."""
        difference, judge = self.ratings[matches.first] - self.ratings[matches.second], self.judges[matches.judge]
        if self.kind == "sensitivity":
            return self.outcome.expected_score(judge * difference)
        return 0.5 + (2 * judge - 1) * (self.outcome.expected_score(difference) - 0.5)


def fit_sensitivities(
    matches: Matches, *, ridge: float, outcome: OutcomeModel, spread: float = SENSITIVITY_SPREAD
) -> JudgeFit:
    """Every judge has a sensitivity a: the difference of two documents, as this judge sees it, is a times as large.

        P(first wins | judge w) = 1 / (1 + e^(−a_w (θ_first − θ_second))),   a_w ~ N(1, spread²)

    The mean of a² over votes is 1: ratings are in the log odds of a typical judge who looks. 0 is a judge who guesses,
    below 0 one who says the opposite. Judges are held against all differences that the votes leave possible, not
    against the most probable ones, which a judge's own votes have moved towards him; and documents are rated by all
    that is possible of their judges. With few votes a document, or a judge, everybody would agree with himself.
    """
    votes = np.bincount(matches.judge, weights=matches.weight, minlength=len(matches.judges))
    sensitivity, ratings, converged = np.ones(len(matches.judges)), np.zeros(matches.docs.height), False
    error = np.zeros(len(votes))
    for _ in range(MAX_ITERATIONS):
        previous = np.concatenate([ratings, sensitivity])
        ratings = _fit_ratings_over_judges(matches, sensitivity, error, ridge=ridge, outcome=outcome, start=ratings)
        difference, slope = ratings[matches.first] - ratings[matches.second], sensitivity[matches.judge]
        information = matches.weight * slope**2 * outcome.information(slope * difference)
        possible = _plausible_differences(difference, pair_variances(matches, information, ridge=ridge))
        sensitivity, error = _fit_judge_sensitivities(matches, outcome, possible, sensitivity, spread)
        scale = max(float(np.sqrt(votes @ sensitivity**2 / votes.sum())), MIN_SCALE)
        sensitivity, error = sensitivity / scale, error / scale
        converged = _has_converged(np.concatenate([ratings, sensitivity]), previous)
        if converged:
            break
    slope = sensitivity[matches.judge]
    information = matches.weight * outcome.information(slope * difference)

    def judge_gradient_and_information(
        rows: NDArray[np.int64], differences: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        z = slope[rows] * differences
        expected, vote_information = outcome.moments(z)
        gradient = differences * (matches.score[rows] - expected)
        return matches.weight[rows] * gradient, matches.weight[rows] * differences**2 * vote_information

    return JudgeFit(
        ratings=ratings,
        judges=sensitivity,
        kind="sensitivity",
        outcome=outcome,
        converged=converged,
        mirror_probability=_mirror_probability(_expected_sign(sensitivity / error)),
        information=MatchInformation(
            difference=information * slope**2,
            judges=JudgeEvidence(
                difference=difference,
                cross_information=information * slope * difference,
                gradient_and_information=judge_gradient_and_information,
                prior_precision=np.full(len(sensitivity), spread**-2),
            ),
        ),
    )


def _fit_judge_sensitivities(
    matches: Matches, outcome: OutcomeModel, possible: tuple[FloatArray, FloatArray], start: FloatArray, spread: float
) -> tuple[FloatArray, FloatArray]:
    """The sensitivity of every judge that is most probable on average over the possible differences, and its error."""
    (differences, node_weights), sensitivity, size = possible, start, len(start)
    for _ in range(50):
        z = sensitivity[matches.judge][:, None] * differences
        expected, information = outcome.moments(z)
        gradient = matches.weight * (((matches.score[:, None] - expected) * differences) @ node_weights)
        judge_information = matches.weight * ((differences * differences * information) @ node_weights)
        total_gradient = np.bincount(matches.judge, weights=gradient, minlength=size) - (sensitivity - 1) / spread**2
        curvature = np.bincount(matches.judge, weights=judge_information, minlength=size) + spread**-2
        step = np.clip(total_gradient / curvature, -1, 1)
        sensitivity = sensitivity + step
        if np.abs(step).max(initial=0) < INNER_TOLERANCE:
            break
    return sensitivity, 1 / np.sqrt(curvature)


def _fit_ratings_over_judges(
    matches: Matches,
    sensitivity: FloatArray,
    error: FloatArray,
    *,
    ridge: float,
    outcome: OutcomeModel,
    start: FloatArray,
) -> FloatArray:
    """The ratings that are most probable on average over what each judge may be like."""
    nodes, node_weights = _quadrature(JUDGE_NODES)
    slope = (sensitivity[matches.judge][:, None] + error[matches.judge][:, None] * nodes).ravel()
    expanded = matches.keep(np.repeat(np.arange(matches.size), len(nodes)))
    expanded = replace(expanded, weight=expanded.weight * np.tile(node_weights, matches.size))
    return fit_bradley_terry(
        expanded, ridge=ridge, outcome=outcome, slope=slope, start=start, tolerance=INNER_TOLERANCE
    )


def fit_crowd_bt(
    matches: Matches, *, ridge: float, outcome: OutcomeModel, prior: tuple[float, float] = CROWD_PRIOR
) -> JudgeFit:
    """Every judge votes honestly with probability η, and else the wrong way round.

        P(first wins | judge w) = η_w P(first wins) + (1 − η_w) P(second wins),   η_w ~ Beta(prior)    [Chen13]

    1 is honest, ½ one who guesses, 0 one who says the opposite. How likely each vote is to be honest, for judges on
    average over the differences that the votes leave possible, then documents and judges anew, until nothing moves.
    What is said of a judge is the mean of what he may be like, by which documents are rated too: chances are linear
    in it. Less honest judges and documents further apart explain votes nearly as well as honest judges and documents
    closer together, so that intervals would hold too seldom.
    """
    votes = np.bincount(matches.judge, weights=matches.weight, minlength=len(matches.judges))
    honest, ratings, converged = np.full(len(votes), prior[0] / sum(prior)), np.zeros(matches.docs.height), False
    intended = matches
    for _ in range(MAX_ITERATIONS):
        previous, vote_honesty = np.concatenate([ratings, honest]), honest[matches.judge]
        ratings = fit_bradley_terry(intended, ridge=ridge, outcome=outcome, start=ratings, tolerance=INNER_TOLERANCE)
        difference = ratings[matches.first] - ratings[matches.second]
        information = matches.weight * _crowd_information(outcome, difference, vote_honesty)
        differences, node_weights = _plausible_differences(
            difference, pair_variances(matches, information, ridge=ridge)
        )
        likely = _honest_vote_chance(matches.score[:, None], differences, vote_honesty[:, None]) @ node_weights
        honest_chance = _honest_vote_chance(matches.score, difference, vote_honesty)
        intended = replace(matches, score=honest_chance * matches.score + (1 - honest_chance) * (1 - matches.score))
        honest_votes = np.bincount(matches.judge, weights=matches.weight * likely, minlength=len(votes))
        honest = (honest_votes + prior[0]) / (votes + sum(prior))
        converged = _has_converged(np.concatenate([ratings, honest]), previous)
        if converged:
            break
    return JudgeFit(
        ratings=ratings,
        judges=honest,
        kind="crowd-bt",
        outcome=outcome,
        converged=converged,
        mirror_probability=_mirror_probability(2 * honest - 1),
    )


def _honest_vote_chance(score: FloatArray, difference: FloatArray, honest: FloatArray) -> FloatArray:
    """How likely each vote is meant as it was given; a tie says nothing."""
    as_given = honest * np.exp((score - 0.5) * difference)
    as_opposite = (1 - honest) * np.exp((0.5 - score) * difference)
    return np.asarray(as_given / (as_given + as_opposite))


def _crowd_information(outcome: OutcomeModel, difference: FloatArray, honest: FloatArray) -> FloatArray:
    """What a vote is expected to tell of the difference: Σ (∂P/∂d)² / P over a win, a tie and a loss."""
    win, tie, loss = outcome.probabilities(difference)
    tilt, dishonest = outcome.expected_score(difference) - 0.5, 1 - honest
    by_wins = honest * win * (0.5 - tilt) - dishonest * loss * (0.5 + tilt)
    by_losses = dishonest * win * (0.5 - tilt) - honest * loss * (0.5 + tilt)
    decided = by_wins**2 / (honest * win + dishonest * loss) + by_losses**2 / (honest * loss + dishonest * win)
    return np.asarray(decided + tie * tilt**2)


def _plausible_differences(difference: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A few differences for each match that stand for a normal distribution, and the share of each."""
    nodes, node_weights = _quadrature(NODES)
    return difference[:, None] + np.sqrt(variance)[:, None] * nodes, node_weights


@cache
def _quadrature(size: int) -> tuple[FloatArray, FloatArray]:
    """So many numbers, and their shares, that stand for a standard normal one."""
    from numpy.polynomial.hermite_e import hermegauss

    nodes, weights = hermegauss(size)
    return nodes, weights / weights.sum()


def _expected_sign(mean: FloatArray) -> FloatArray:
    """The sign to expect of a normal number with this mean and a standard deviation of 1."""
    from scipy.special import erf

    return np.asarray(erf(mean / math.sqrt(2)))


def _mirror_probability(sides: FloatArray) -> float:
    """How probable the mirror image is, if one judge in twenty says the opposite; sides are 1 or −1, or between."""
    odds = math.log(1 / CONTRARY_SHARE - 1) * float(sides.sum())
    return 1 / (1 + math.exp(min(max(odds, -700), 700)))


def _has_converged(current: FloatArray, previous: FloatArray) -> bool:
    return bool(np.abs(current - previous).max(initial=0) < TOLERANCE)
