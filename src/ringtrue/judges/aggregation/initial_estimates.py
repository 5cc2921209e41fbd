"""Where the EM algorithm begins: with the votes, or where an earlier aggregation ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringtrue.judges.aggregation.em import Start, are_pairs, both_ways, expect, vote_shares
from ringtrue.judges.aggregation.results import Aggregation
from ringtrue.judges.votes import Codes, Votes

__all__ = ["starting_point"]

LEAST = 1e-12  # without a prior, an earlier aggregation takes for impossible what it has not seen


def starting_point(votes: Votes, said: Any, gold: Codes, earlier: Aggregation | None) -> tuple[Start, tuple[str, ...]]:
    """The vote shares, and judges of whom nothing is known; and a note where an earlier aggregation is of no use.

    With an earlier one, judges whom it knows have the rates that it found, and the first probabilities are those
    that follow from them; so a new item of known judges profits too. Of pairs, they are taken both ways round.
    """
    judges, wide = len(votes.judges), len(votes.labels)
    shares = vote_shares(said, wide, gold)
    rates = np.tile((np.eye(wide) + 1 / wide) / 2, (judges, 1, 1))
    cold = Start(truth=shares, rates=rates)
    if earlier is None:
        return cold, ()
    known = {one.judge: one.rates for one in earlier.judges if one.rates is not None}
    met = [place for place, judge in enumerate(votes.judges) if judge in known]
    if earlier.labels != votes.labels or not met:
        why = "knows other labels" if earlier.labels != votes.labels else "knows none of these judges"
        return cold, (f"the earlier aggregation {why}, and is no start; begun with the vote shares",)
    for place in met:
        rates[place] = known[votes.judges[place]].T
    common = np.array(list(earlier.class_shares.values()))
    if are_pairs(votes):
        rates, common = both_ways(rates), both_ways(common)
    expect(shares, said, np.maximum(rates, LEAST), np.maximum(common, LEAST), gold)
    return Start(truth=shares, rates=rates), ()
