"""Elo's ratings with a variance each: Glickman's equations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ringtrue.preference.match_rounds import MatchRounds

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches


def glicko(
    matches: Matches, *, start: float, variance: float, scale: float, passes: int = 1
) -> tuple[list[FloatArray], FloatArray]:
    """The ratings after each pass, and the variances after the first: later passes would count every vote again.

    Every match is a rating period of its own: both documents learn from it at once.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> from ringtrue.tables import Preferences
        >>> votes = {"left": ["a"], "right": ["b"], "winner": ["a"]}
        >>> ratings, variances = glicko(Matches.of(Preferences.of(votes)), start=1500, variance=350**2, scale=400)
        >>> ratings[0].round(1).tolist(), np.sqrt(variances).round(1).tolist()
        ([1662.2, 1337.8], [290.2, 290.2])
    """
    rounds = MatchRounds.of(matches)
    q = math.log(10) / scale
    ratings, variances = np.full(matches.docs.height, start * q), np.full(matches.docs.height, variance * q * q)
    pass_ratings, first_variances = [], variances
    for pass_index in range(passes):
        _play_glicko_pass(matches, rounds, ratings, variances)
        pass_ratings.append(ratings / q)
        if pass_index == 0:
            first_variances = variances / q**2
    return pass_ratings, first_variances


def _play_glicko_pass(matches: Matches, rounds: MatchRounds, ratings: FloatArray, variances: FloatArray) -> None:
    """One pass through the matches, in log odds and in place."""
    for rows in rounds.batches:
        first, second = matches.first[rows], matches.second[rows]
        updated_first, updated_second = _update_both(
            ratings[first],
            variances[first],
            ratings[second],
            variances[second],
            matches.score[rows],
            matches.weight[rows],
        )
        (ratings[first], variances[first]), (ratings[second], variances[second]) = updated_first, updated_second
    if not len(rounds.sequential):
        return
    r, v = ratings.tolist(), variances.tolist()
    columns = (matches.first, matches.second, matches.score, matches.weight)
    for first, second, score, votes in zip(*(column[rounds.sequential].tolist() for column in columns), strict=True):
        updated_first, updated_second = _update_both(r[first], v[first], r[second], v[second], score, votes, math)
        (r[first], v[first]), (r[second], v[second]) = updated_first, updated_second
    ratings[:], variances[:] = r, v


def _update_both(
    rating: Any, variance: Any, other_rating: Any, other_variance: Any, score: Any, votes: Any, xp: Any = np
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The ratings and variances of both documents after a match."""
    updated = update_rating(rating, variance, *learn_from_match(rating, other_rating, other_variance, score, votes, xp))
    other_updated = update_rating(
        other_rating, other_variance, *learn_from_match(other_rating, rating, variance, 1 - score, votes, xp)
    )
    return updated, other_updated


def learn_from_match(
    rating: Any, other_rating: Any, other_variance: Any, score: Any, votes: Any, xp: Any = np
) -> tuple[Any, Any]:
    """What a match of so many votes says: how much it tells about the rating, and which way it pulls.

        g = 1 / √(1 + 3 v_other / π²),   E = 1 / (1 + e^(−g (r − r_other)))
        tells n g² E (1 − E),   pulls n g (S − E)    [Glickman99]

    In log odds; `xp` has exp and sqrt. Of several matches, both are summed. In [Bashir13] the equations are
    misprinted: g has σ² where π² belongs, and E the wrong sign.
    """
    g = 1 / xp.sqrt(1 + 3 * other_variance / math.pi**2)
    expected = 1 / (1 + xp.exp(-g * (rating - other_rating)))
    return votes * g * g * expected * (1 - expected), votes * g * (score - expected)


def update_rating(rating: Any, variance: Any, information: Any, pull: Any) -> tuple[Any, Any]:
    """The rating and variance after a rating period.

        v' = 1 / (1/v + information),   r' = r + v' · pull    [Glickman99]

    Examples:
        >>> update_rating(0.0, 1.0, 0.25, 0.5)
        (0.4, 0.8)
    """
    new_variance = 1 / (1 / variance + information)
    return rating + new_variance * pull, new_variance
