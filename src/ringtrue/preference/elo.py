"""Elo's ratings: after every match the winner takes points from the loser."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringtrue.preference.match_rounds import MatchRounds

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches


def elo(matches: Matches, *, k: float, start: float, scale: float, passes: int = 1) -> list[FloatArray]:
    """The ratings after each pass through all matches, in their order.

        E = 1 / (1 + 10^((R_second − R_first) / scale)),   R_first ← R_first + K (S − E)    [Elo78]

    S is the share of the match's votes that the first document got, a tie half; what it gains, the other loses. In
    [Bashir13] S is a count, with which every match would lift both documents; a share is meant.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> from ringtrue.tables import Preferences
        >>> votes = {"left": ["a"], "right": ["b"], "winner": ["a"]}
        >>> elo(Matches.of(Preferences.of(votes)), k=32, start=1500, scale=400)[0].round(6).tolist()
        [1516.0, 1484.0]
    """
    rounds = MatchRounds.of(matches)
    unit = scale / math.log(10)
    ratings, pass_ratings = np.full(matches.docs.height, start / unit), []
    for _ in range(passes):
        play_elo_pass(matches, rounds, ratings, k=k / unit)
        pass_ratings.append(ratings * unit)
    return pass_ratings


def find_inverted(matches: Matches, before: FloatArray, after: FloatArray) -> NDArray[np.bool_]:
    """Which matches are between documents that changed places from one pass to the next."""
    difference_before, difference_after = (
        ratings[matches.first] - ratings[matches.second] for ratings in (before, after)
    )
    return np.asarray(np.sign(difference_before) != np.sign(difference_after))


def play_elo_pass(matches: Matches, rounds: MatchRounds, ratings: FloatArray, *, k: float) -> None:
    """One pass through the matches, which moves the ratings, in log odds, in place."""
    for rows in rounds.batches:
        first, second = matches.first[rows], matches.second[rows]
        gain = k * (matches.score[rows] - 1 / (1 + np.exp(ratings[second] - ratings[first])))
        ratings[first] += gain
        ratings[second] -= gain
    if not len(rounds.sequential):
        return
    # One match after another is work for plain Python: arrays of one element are ten times slower.
    current, exp = ratings.tolist(), math.exp
    # one Python number a document, not one a match: half of the time
    doc_numbers = np.arange(len(current)).astype(object)
    first, second = (doc_numbers[side[rounds.sequential]].tolist() for side in (matches.first, matches.second))
    for i, j, k_score in zip(first, second, (k * matches.score[rounds.sequential]).tolist(), strict=True):
        a = current[i]
        b = current[j]
        gain = k_score - k / (1 + exp(b - a))
        current[i] = a + gain
        current[j] = b - gain
    ratings[:] = current
