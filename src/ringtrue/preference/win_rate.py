"""The share of matches won: what ratings have to beat."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ringtrue.preference.matches import FloatArray, Matches


def win_rate(matches: Matches, *, balance: float = 0.5) -> FloatArray:
    """How much of its matches a document won, and how many it had.

        λ · wins / matches + (1 − λ) · matches / all matches of the query    [Bashir13, eq. 8]

    λ is the balance. A match counts as won by the share of its votes. The second part rewards documents for being
    compared often, as the better ones are where pairs are chosen well; λ = 1 leaves it out.

    Examples:
        >>> from ringtrue.preference.matches import Matches
        >>> from ringtrue.tables import Preferences
        >>> votes = {"left": [*"aab"], "right": [*"bcc"], "winner": [*"aab"]}
        >>> win_rate(Matches.of(Preferences.of(votes)), balance=1).tolist()
        [1.0, 0.5, 0.0]
    """
    wins, match_counts, query = matches.win_totals(), matches.match_counts(), matches.query
    query_matches = np.bincount(query[matches.first], minlength=len(matches.queries))[query]
    won_share = np.divide(wins, match_counts, out=np.full(len(match_counts), 0.5), where=match_counts > 0)
    match_share = np.divide(match_counts, query_matches, out=np.zeros(len(match_counts)), where=query_matches > 0)
    return np.asarray(balance * won_share + (1 - balance) * match_share)
