"""Judges who differ: documents and judges rated together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from ringtrue.preference.bradley_terry import fit
from ringtrue.preference.outcome import Outcome
from ringtrue.preference.spread import Told

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["CROWD_PRIOR", "SENSITIVITY_SPREAD", "JudgeKind", "RatedTogether", "by_sensitivity", "crowd_bt"]

JudgeKind: TypeAlias = Literal["sensitivity", "crowd-bt"]
SENSITIVITY_SPREAD = 1.0  # how far judges are thought to lie around 1 before anything is known of them
CROWD_PRIOR = (4.0, 2.0)  # Beta: as if of six votes four had been honest
LEAST_MEAN = 0.05  # where judges contradict each other throughout, there is no scale to speak of
TURNS = 500
TOLERANCE = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedTogether:
    """Ratings of the documents in log odds, one number for each judge, and what each match told about both."""

    ratings: FloatArray
    judges: FloatArray
    kind: JudgeKind
    outcome: Outcome
    told: Told
    converged: bool

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

    The mean over votes is 1: ratings are in the log odds that the judges show on average. 0 is a judge who guesses,
    below 0 one who says the opposite. Documents given judges and judges given documents are each a concave problem;
    they are solved in turn until nothing moves.
    """
    votes = np.bincount(matches.judge, weights=matches.weight, minlength=len(matches.judges))
    sensitivity, ratings = np.ones(len(matches.judges)), np.zeros(matches.docs.height)
    converged = False
    for _ in range(TURNS):
        before = np.concatenate([ratings, sensitivity])
        slope = sensitivity[matches.judge]
        ratings = fit(matches, ridge=ridge, outcome=outcome, slope=slope, start=ratings, tolerance=TOLERANCE)
        apart = ratings[matches.first] - ratings[matches.second]
        sensitivity = _sensitivities(matches, outcome, apart, sensitivity, spread)
        mean = float(votes @ sensitivity / votes.sum())
        sensitivity = sensitivity / (mean if mean > LEAST_MEAN else 1)
        converged = _still(np.concatenate([ratings, sensitivity]), before)
        if converged:
            break
    slope = sensitivity[matches.judge]
    told = matches.weight * outcome.information(slope * apart)
    return RatedTogether(
        ratings=ratings,
        judges=sensitivity,
        kind="sensitivity",
        outcome=outcome,
        told=Told(difference=told * slope**2, both=told * slope * apart, own=told * apart**2, prior=spread**-2),
        converged=converged,
    )


def _sensitivities(
    matches: Matches, outcome: Outcome, apart: FloatArray, start: FloatArray, spread: float
) -> FloatArray:
    """The most probable sensitivity of every judge where the documents are known, by Newton's method."""
    found, size = start, len(start)
    for _ in range(50):
        z = found[matches.judge] * apart
        pull = matches.weight * apart * (matches.score - outcome.expected(z))
        told = matches.weight * apart * apart * outcome.information(z)
        slope = np.bincount(matches.judge, weights=pull, minlength=size) - (found - 1) / spread**2
        curve = np.bincount(matches.judge, weights=told, minlength=size) + spread**-2
        step = np.clip(slope / curve, -1, 1)
        found = found + step
        if np.abs(step).max(initial=0) < TOLERANCE / 10:
            break
    return found


def crowd_bt(
    matches: Matches, *, ridge: float, outcome: Outcome, prior: tuple[float, float] = CROWD_PRIOR
) -> RatedTogether:
    """Every judge votes honestly with probability η, and else the wrong way round.

        P(first wins | judge w) = η_w P(first wins) + (1 − η_w) P(second wins),   η_w ~ Beta(prior)    [Chen13]

    1 is honest, ½ one who guesses, 0 one who says the opposite. An EM algorithm: how likely each vote is to be honest,
    then the documents and judges for which that is most probable.
    """
    votes = np.bincount(matches.judge, weights=matches.weight, minlength=len(matches.judges))
    honest, ratings, meant = np.full(len(votes), prior[0] / sum(prior)), np.zeros(matches.docs.height), matches
    converged = False
    for _ in range(TURNS):
        before = np.concatenate([ratings, honest])
        ratings = fit(meant, ridge=ridge, outcome=outcome, start=ratings, tolerance=TOLERANCE)
        apart = ratings[matches.first] - ratings[matches.second]
        share = _honesty(matches, apart, honest[matches.judge])
        meant = replace(matches, score=share * matches.score + (1 - share) * (1 - matches.score))
        honest_votes = np.bincount(matches.judge, weights=matches.weight * share, minlength=len(votes))
        honest = (honest_votes + prior[0] - 1) / (votes + sum(prior) - 2)
        converged = _still(np.concatenate([ratings, honest]), before)
        if converged:
            break
    return RatedTogether(
        ratings=ratings,
        judges=honest,
        kind="crowd-bt",
        outcome=outcome,
        told=_told_by_crowd(matches, outcome, apart, honest[matches.judge], prior),
        converged=converged,
    )


def _honesty(matches: Matches, apart: FloatArray, honest: FloatArray) -> FloatArray:
    """How likely each vote is meant as it was given; a tie says nothing."""
    as_given = honest * np.exp((matches.score - 0.5) * apart)
    turned = (1 - honest) * np.exp((0.5 - matches.score) * apart)
    return as_given / (as_given + turned)


def _told_by_crowd(
    matches: Matches, outcome: Outcome, apart: FloatArray, honest: FloatArray, prior: tuple[float, float]
) -> Told:
    """What a vote is expected to tell of the difference and of the judge's honesty.

    Of a win with chance p it is (dp)² / p(1 − p), in which p = E + (2η − 1)-fold tilt; ties are left out of account.
    """
    tilt = outcome.expected(apart) - 0.5
    steer = 2 * honest - 1
    chance = 0.5 + steer * tilt
    per_vote = matches.weight / (chance * (1 - chance))
    by_difference, by_judge = steer * outcome.information(apart), 2 * tilt
    return Told(
        difference=per_vote * by_difference**2,
        both=per_vote * by_difference * by_judge,
        own=per_vote * by_judge**2,
        prior=sum(prior) - 2,
    )


def _still(now: FloatArray, before: FloatArray) -> bool:
    return bool(np.abs(now - before).max(initial=0) < TOLERANCE * 10)
