"""Where the EM algorithm begins: with the votes, or where an earlier aggregation ended."""

from __future__ import annotations

from typing import Any

import numpy as np

from ringtrue.judges.aggregation.em import EmStart, expectation_step, has_pairs, symmetrise_labels, vote_shares
from ringtrue.judges.aggregation.results import Aggregation
from ringtrue.judges.votes import Codes, Votes

MIN_RATE = 1e-12  # without a prior, an earlier aggregation takes for impossible what it has not seen


def make_start(
    votes: Votes, votes_matrix: Any, gold: Codes, earlier: Aggregation | None
) -> tuple[EmStart, tuple[str, ...]]:
    """The vote shares, and judges of whom nothing is known; and a note where an earlier aggregation is of no use.

    With an earlier one, judges whom it knows have the rates that it found, and the first probabilities are those
    that follow from them; so a new item of known judges profits too. Of pairs, they are taken both ways round.
    """
    n_judges, n_labels = len(votes.judges), len(votes.labels)
    shares = vote_shares(votes_matrix, n_labels, gold)
    rates = np.tile((np.eye(n_labels) + 1 / n_labels) / 2, (n_judges, 1, 1))
    cold_start = EmStart(truth=shares, rates=rates)
    if earlier is None:
        return cold_start, ()
    earlier_rates = {model.judge: model.rates for model in earlier.judges if model.rates is not None}
    known_codes = [code for code, judge in enumerate(votes.judges) if judge in earlier_rates]
    if earlier.labels != votes.labels or not known_codes:
        reason = "knows other labels" if earlier.labels != votes.labels else "knows none of these judges"
        return cold_start, (f"the earlier aggregation {reason}, and is no start; begun with the vote shares",)
    for code in known_codes:
        rates[code] = earlier_rates[votes.judges[code]].T
    class_shares = np.array(list(earlier.class_shares.values()))
    if votes.is_pairwise:
        rates, class_shares = symmetrise_labels(rates), symmetrise_labels(class_shares)
    expectation_step(shares, votes_matrix, np.maximum(rates, MIN_RATE), np.maximum(class_shares, MIN_RATE), gold)
    return EmStart(truth=shares, rates=rates), ()
