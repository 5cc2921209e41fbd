"""Who probably won each match, once it is known how good the judges are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from ringtrue.judges.aggregation import aggregate
from ringtrue.judges.votes import FIRST, SECOND, TIE, Votes

if TYPE_CHECKING:
    from ringtrue.preference.matches import Matches


def estimate_probable_scores(matches: Matches) -> Matches:
    """One match for each pair; its score is what the first document probably got, by an EM algorithm over judges.

    S = P(first won | votes) + ½ P(tie | votes)    [Dawid79] [Bashir13]
    """
    pairs = matches.merge_by_pair()
    probabilities = aggregate(matches_to_votes(matches, pairs), method="dawid-skene", repeats="all").probabilities
    return pairs.with_scores(probabilities @ np.array([0.0, 0.5, 1.0]))


def matches_to_votes(matches: Matches, pairs: Matches) -> Votes:
    """Every vote on its pair, as aggregation and agreement take them; pairs stand in their order."""
    docs = matches.docs["doc"]
    keys = pairs.first.astype(np.int64) * matches.docs.height + pairs.second
    order = np.argsort(keys)
    vote_keys = matches.first.astype(np.int64) * matches.docs.height + matches.second
    return Votes(
        items=pl.DataFrame(
            {
                "query": matches.docs["query"].gather(pairs.first),
                "first": docs.gather(pairs.first),
                "second": docs.gather(pairs.second),
            }
        ),
        judges=matches.judges,
        labels=(SECOND, TIE, FIRST),
        item=order[np.searchsorted(keys[order], vote_keys)].astype(np.int32),
        judge=matches.judge,
        label=np.rint(2 * matches.score).astype(np.int32),
        others=pl.DataFrame(),
    )
