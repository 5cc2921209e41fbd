"""Judges who differ: documents and judges rated together."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ringtrue.preference.bradley_terry import fit
from ringtrue.preference.laplace import Evidence, Told, pair_variances
from ringtrue.preference.outcome_model import Outcome

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["CROWD_PRIOR", "SENSITIVITY_SPREAD", "JudgeKind", "RatedTogether", "by_sensitivity", "crowd_bt"]

JudgeKind: TypeAlias = Literal["sensitivity", "crowd-bt"]
SENSITIVITY_SPREAD = 1.0  # how far judges are thought to lie around 1 before anything is known of them
CROWD_PRIOR = (6.0, 1.0)  # Beta: as if of seven votes six had been honest
CONTRARY = 0.05  # of judges say the opposite, before anything is known of them
LEAST_SCALE = 0.05  # where all judges guess, there is no scale to speak of
NODES = 9  # differences that stand for all that the votes leave possible
JUDGE_NODES = 3  # the same for what a judge may be like
TURNS = 500
TOLERANCE = 1e-4
NEAR = TOLERANCE / 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedTogether:
    """Ratings of the documents in log odds, one number for each judge, and what each match told about both.

    If everybody said the opposite and the order were turned round, the votes would be as likely. `mirrored` is how
    probable that is, if one judge in twenty does so. `told` is None where no interval can be defended.
    """

    ratings: FloatArray
    judges: FloatArray
    kind: JudgeKind
    outcome: Outcome
    converged: bool
    mirrored: float
    told: Told | None = None

    def expected(self, matches: Matches) -> FloatArray:
        """The score that the first document of each match can expect from the judge of that match."""
        apart, judge = self.ratings[matches.first] - self.ratings[matches.second], self.judges[matches.judge]
        if self.kind == "sensitivity":
            return self.outcome.expected(judge * apart)
        return 0.5 + (2 * judge - 1) * (self.outcome.expected(apart) - 0.5)


def by_sensitivity(
    matches: Matches, *, ridge: float, outcome: Outcome, spread: float = SENSITIVITY_SPREAD
) -> RatedTogether:
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
    for _ in range(TURNS):
        before = np.concatenate([ratings, sensitivity])
        ratings = _rated_by_all(matches, sensitivity, error, ridge=ridge, outcome=outcome, start=ratings)
        apart, slope = ratings[matches.first] - ratings[matches.second], sensitivity[matches.judge]
        told = matches.weight * slope**2 * outcome.information(slope * apart)
        possible = _possible(apart, pair_variances(matches, told, ridge=ridge))
        sensitivity, error = _sensitivities(matches, outcome, possible, sensitivity, spread)
        scale = max(float(np.sqrt(votes @ sensitivity**2 / votes.sum())), LEAST_SCALE)
        sensitivity, error = sensitivity / scale, error / scale
        converged = _still(np.concatenate([ratings, sensitivity]), before)
        if converged:
            break
    slope = sensitivity[matches.judge]
    told = matches.weight * outcome.information(slope * apart)

    def evidence(rows: NDArray[np.int64], differences: FloatArray) -> tuple[FloatArray, FloatArray]:
        z = slope[rows] * differences
        expected, information = outcome.moments(z)
        pull = differences * (matches.score[rows] - expected)
        return matches.weight[rows] * pull, matches.weight[rows] * differences**2 * information

    return RatedTogether(
        ratings=ratings, judges=sensitivity, kind="sensitivity", outcome=outcome, converged=converged,
        mirrored=_mirrored(_sign(sensitivity / error)),
        told=Told(
            difference=told * slope**2,
            judges=Evidence(
                apart=apart, both=told * slope * apart, about=evidence,
                prior=np.full(len(sensitivity), spread**-2),
            ),
        ),
    )  # fmt: skip


def _sensitivities(
    matches: Matches, outcome: Outcome, possible: tuple[FloatArray, FloatArray], start: FloatArray, spread: float
) -> tuple[FloatArray, FloatArray]:
    """The sensitivity of every judge that is most probable on average over the possible differences, and its error."""
    (apart, share), found, size = possible, start, len(start)
    for _ in range(50):
        z = found[matches.judge][:, None] * apart
        expected, information = outcome.moments(z)
        pull = matches.weight * (((matches.score[:, None] - expected) * apart) @ share)
        told = matches.weight * ((apart * apart * information) @ share)
        slope = np.bincount(matches.judge, weights=pull, minlength=size) - (found - 1) / spread**2
        curve = np.bincount(matches.judge, weights=told, minlength=size) + spread**-2
        step = np.clip(slope / curve, -1, 1)
        found = found + step
        if np.abs(step).max(initial=0) < NEAR:
            break
    return found, 1 / np.sqrt(curve)


def _rated_by_all(
    matches: Matches, sensitivity: FloatArray, error: FloatArray, *, ridge: float, outcome: Outcome, start: FloatArray
) -> FloatArray:
    """The ratings that are most probable on average over what each judge may be like."""
    nodes, share = _quadrature(JUDGE_NODES)
    slope = (sensitivity[matches.judge][:, None] + error[matches.judge][:, None] * nodes).ravel()
    each = matches.keep(np.repeat(np.arange(matches.size), len(nodes)))
    each = replace(each, weight=each.weight * np.tile(share, matches.size))
    return fit(each, ridge=ridge, outcome=outcome, slope=slope, start=start, tolerance=NEAR)


def crowd_bt(
    matches: Matches, *, ridge: float, outcome: Outcome, prior: tuple[float, float] = CROWD_PRIOR
) -> RatedTogether:
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
    meant = matches
    for _ in range(TURNS):
        before, own = np.concatenate([ratings, honest]), honest[matches.judge]
        ratings = fit(meant, ridge=ridge, outcome=outcome, start=ratings, tolerance=NEAR)
        apart = ratings[matches.first] - ratings[matches.second]
        told = matches.weight * _told_by_crowd(outcome, apart, own)
        possible, share = _possible(apart, pair_variances(matches, told, ridge=ridge))
        likely = _honesty(matches.score[:, None], possible, own[:, None]) @ share
        now = _honesty(matches.score, apart, own)
        meant = replace(matches, score=now * matches.score + (1 - now) * (1 - matches.score))
        honest_votes = np.bincount(matches.judge, weights=matches.weight * likely, minlength=len(votes))
        honest = (honest_votes + prior[0]) / (votes + sum(prior))
        converged = _still(np.concatenate([ratings, honest]), before)
        if converged:
            break
    return RatedTogether(
        ratings=ratings, judges=honest, kind="crowd-bt", outcome=outcome, converged=converged,
        mirrored=_mirrored(2 * honest - 1),
    )  # fmt: skip


def _honesty(score: FloatArray, apart: FloatArray, honest: FloatArray) -> FloatArray:
    """How likely each vote is meant as it was given; a tie says nothing."""
    as_given = honest * np.exp((score - 0.5) * apart)
    turned = (1 - honest) * np.exp((0.5 - score) * apart)
    return np.asarray(as_given / (as_given + turned))


def _told_by_crowd(outcome: Outcome, apart: FloatArray, honest: FloatArray) -> FloatArray:
    """What a vote is expected to tell of the difference: Σ (∂P/∂d)² / P over a win, a tie and a loss."""
    win, tie, loss = outcome.chances(apart)
    tilt, turned = outcome.expected(apart) - 0.5, 1 - honest
    by_wins = honest * win * (0.5 - tilt) - turned * loss * (0.5 + tilt)
    by_losses = turned * win * (0.5 - tilt) - honest * loss * (0.5 + tilt)
    decided = by_wins**2 / (honest * win + turned * loss) + by_losses**2 / (honest * loss + turned * win)
    return np.asarray(decided + tie * tilt**2)


def _possible(apart: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A few differences for each match that stand for a normal distribution, and the share of each."""
    nodes, share = _quadrature(NODES)
    return apart[:, None] + np.sqrt(variance)[:, None] * nodes, share


@cache
def _quadrature(size: int) -> tuple[FloatArray, FloatArray]:
    """So many numbers, and their shares, that stand for a standard normal one."""
    from numpy.polynomial.hermite_e import hermegauss

    nodes, weights = hermegauss(size)
    return nodes, weights / weights.sum()


def _sign(value: FloatArray) -> FloatArray:
    """The sign to expect of a normal number with this mean and a standard deviation of 1."""
    from scipy.special import erf

    return np.asarray(erf(value / math.sqrt(2)))


def _mirrored(sides: FloatArray) -> float:
    """How probable the mirror image is, if one judge in twenty says the opposite; sides are 1 or −1, or between."""
    odds = math.log(1 / CONTRARY - 1) * float(sides.sum())
    return 1 / (1 + math.exp(min(max(odds, -700), 700)))


def _still(now: FloatArray, before: FloatArray) -> bool:
    return bool(np.abs(now - before).max(initial=0) < TOLERANCE)
