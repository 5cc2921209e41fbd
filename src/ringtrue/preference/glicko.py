"""Elo's ratings with a variance each: Glickman's equations."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ringtrue.preference.match_rounds import Rounds

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches

__all__ = ["glicko", "learnt", "rated_anew"]


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
    rounds = Rounds.of(matches)
    q = math.log(10) / scale
    ratings, variances = np.full(matches.docs.height, start * q), np.full(matches.docs.height, variance * q * q)
    after, first = [], variances
    for turn in range(passes):
        _pass(matches, rounds, ratings, variances)
        after.append(ratings / q)
        if turn == 0:
            first = variances / q**2
    return after, first


def _pass(matches: Matches, rounds: Rounds, ratings: FloatArray, variances: FloatArray) -> None:
    """One pass through the matches, in log odds and in place."""
    for rows in rounds.together:
        one, other = matches.first[rows], matches.second[rows]
        mine, theirs = _both(
            ratings[one], variances[one], ratings[other], variances[other], matches.score[rows], matches.weight[rows]
        )
        (ratings[one], variances[one]), (ratings[other], variances[other]) = mine, theirs
    if not len(rounds.alone):
        return
    now, spread = ratings.tolist(), variances.tolist()
    columns = (matches.first, matches.second, matches.score, matches.weight)
    for one, other, score, votes in zip(*(some[rounds.alone].tolist() for some in columns), strict=True):
        mine, theirs = _both(now[one], spread[one], now[other], spread[other], score, votes, math)
        (now[one], spread[one]), (now[other], spread[other]) = mine, theirs
    ratings[:], variances[:] = now, spread


def _both(
    one: Any, spread: Any, other: Any, other_spread: Any, score: Any, votes: Any, numbers: Any = np
) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The ratings and variances of both documents after a match."""
    mine = rated_anew(one, spread, *learnt(one, other, other_spread, score, votes, numbers))
    theirs = rated_anew(other, other_spread, *learnt(other, one, spread, 1 - score, votes, numbers))
    return mine, theirs


def learnt(rating: Any, other: Any, other_variance: Any, score: Any, votes: Any, numbers: Any = np) -> tuple[Any, Any]:
    """What a match of so many votes says: how much it tells about the rating, and which way it pulls.

        g = 1 / √(1 + 3 v_other / π²),   E = 1 / (1 + e^(−g (r − r_other)))
        tells n g² E (1 − E),   pulls n g (S − E)    [Glickman99]

    In log odds; `numbers` has exp and sqrt. Of several matches, both are summed. In [Bashir13] the equations are
    misprinted: g has σ² where π² belongs, and E the wrong sign.
    """
    g = 1 / numbers.sqrt(1 + 3 * other_variance / math.pi**2)
    expected = 1 / (1 + numbers.exp(-g * (rating - other)))
    return votes * g * g * expected * (1 - expected), votes * g * (score - expected)


def rated_anew(rating: Any, variance: Any, told: Any, pull: Any) -> tuple[Any, Any]:
    """The rating and variance after a rating period.

        v' = 1 / (1/v + told),   r' = r + v' · pull    [Glickman99]

    Examples:
        >>> rated_anew(0.0, 1.0, 0.25, 0.5)
        (0.4, 0.8)
    """
    after = 1 / (1 / variance + told)
    return rating + after * pull, after
