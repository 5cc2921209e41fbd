"""Ratings match by match: Elo's, Glickman's with a variance each, and the share of matches won."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringtrue.preference.matches import MatchRounds

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches


def elo(matches: Matches, *, k: float, start: float, scale: float, passes: int = 1) -> list[FloatArray]:
    """The ratings after each pass through all matches, in their order.

        E = 1 / (1 + 10^((R_second − R_first) / scale)),   R_first ← R_first + K (S − E)    [Elo78]

    S is the share of the match's votes that the first document got, a tie half; what it gains, the other loses. In
    [Bashir13] S is a count, with which every match would lift both documents; a share is meant.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> votes = {"left": ["a"], "right": ["b"], "winner": ["a"]}
        >>> elo(Matches.of(votes), k=32, start=1500, scale=400)[0].round(6).tolist()
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


def glicko(
    matches: Matches, *, start: float, variance: float, scale: float, passes: int = 1
) -> tuple[list[FloatArray], FloatArray]:
    """The ratings after each pass, and the variances after the first: later passes would count every vote again.

    Every match is a rating period of its own: both documents learn from it at once.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> votes = {"left": ["a"], "right": ["b"], "winner": ["a"]}
        >>> ratings, variances = glicko(Matches.of(votes), start=1500, variance=350**2, scale=400)
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
        before = ratings[first], variances[first], ratings[second], variances[second]
        updated_first, updated_second = _update_both(*before, matches.score[rows], matches.weight[rows])
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


def win_rate(matches: Matches, *, balance: float = 0.5) -> FloatArray:
    """How much of its matches a document won, and how many it had.

        λ · wins / matches + (1 − λ) · matches / all matches of the query    [Bashir13, eq. 8]

    λ is the balance. A match counts as won by the share of its votes. The second part rewards documents for being
    compared often, as the better ones are where pairs are chosen well; λ = 1 leaves it out.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> votes = {"left": [*"aab"], "right": [*"bcc"], "winner": [*"aab"]}
        >>> win_rate(Matches.of(votes), balance=1).tolist()
        [1.0, 0.5, 0.0]
    """
    wins, match_counts, query = matches.win_totals(), matches.match_counts(), matches.query
    query_matches = np.bincount(query[matches.first], minlength=len(matches.queries))[query]
    won_share = np.divide(wins, match_counts, out=np.full(len(match_counts), 0.5), where=match_counts > 0)
    match_share = np.divide(match_counts, query_matches, out=np.zeros(len(match_counts)), where=query_matches > 0)
    return np.asarray(balance * won_share + (1 - balance) * match_share)
