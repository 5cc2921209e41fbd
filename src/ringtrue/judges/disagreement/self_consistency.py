"""The same judge again, and other judges on the same documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ringtrue.judges.disagreement.ratio_estimates import Drawing, Ratios, ratios_of, transformed
from ringtrue.judges.disagreement.results import Consistency, Histogram

if TYPE_CHECKING:
    from ringtrue.judges.disagreement.levels import Levels
    from ringtrue.judges.votes import Votes
    from ringtrue.stats.results import Estimate

__all__ = ["consistency_of"]

Array: TypeAlias = NDArray[np.float64]
BINS = 10


def consistency_of(votes: Votes, levels: Levels, drawing: Drawing) -> Consistency | None:
    """How likely the top is again, given each level: by the same judge, and by another [Demeester14, §3.3].

    Within a judge, each pair of a judge and a document that has several of his labels weighs the same, and two of them
    are drawn; across judges, each document that somebody labelled again, and two labels by different judges. None
    where nobody labelled a document again.

    Examples:
        >>> from ringtrue.judges.disagreement.levels import votes_on_levels
        >>> table = {"doc": ["a"] * 3, "judge": ["x", "x", "y"], "label": [1, 1, 0]}
        >>> votes, levels = votes_on_levels(table, levels=None, top=None, scale=None, outside="refuse")
        >>> found = consistency_of(votes, levels, Drawing(resamples=0, level=0.95, rng=np.random.default_rng(0)))
        >>> found.within["1"].value, found.across["1"].value
        (1.0, 0.0)
    """
    item, judge, pair = votes.by_judge_and_item()
    own = votes.tally(pair, len(item))
    n = own.sum(axis=1)
    again = np.zeros(votes.items.height, dtype=bool)
    again[item[n > 1]] = True
    if not again.any():
        return None
    top = levels.top
    own_top = own[:, top].sum(axis=1)
    # The levels one by one, and all that count as the top together.
    given = np.hstack([own, own_top[:, None]])
    is_top = np.append(top, True)
    twice = n > 1
    pairs = (n * (n - 1))[twice, None]
    within_upper = given[twice] * np.maximum(own_top[twice, None] - is_top, 0) / pairs
    within_lower = given[twice] * (n[twice, None] - 1) / pairs
    counts = votes.counts()
    total, total_top = counts.sum(axis=1)[item], counts[:, top].sum(axis=1)[item]
    met = again[item] & (total > n)
    between = np.bincount(item, weights=n * (total - n), minlength=votes.items.height)[item]
    across_upper = given[met] * (total_top - own_top)[met, None] / between[met, None]
    across_lower = given[met] * (total - n)[met, None] / between[met, None]
    within = ratios_of(votes, within_upper, within_lower, drawing.again(), item=item[twice])
    across = ratios_of(votes, across_upper, across_lower, drawing.again(), item=item[met])
    why_within, why_across = "no judge labelled a document again", "no such document has labels of two judges"
    histograms = {
        by: Histogram(
            within=_binned(within_upper[:, -1], within_lower[:, -1], names[twice]),
            across=_binned(across_upper[:, -1], across_lower[:, -1], names[met]),
        )
        for by, names in (("judge", judge), ("item", item))
    }
    return Consistency(
        documents=int(again.sum()),
        within={name: within.estimate(at, f"{why_within} having said {name}") for at, name in enumerate(levels.names)},
        across={
            name: across.estimate(at, f"{why_across}, one of which is {name}") for at, name in enumerate(levels.names)
        },
        overlap_within=_overlap(within, f"{why_within} having said the top"),
        overlap_across=_overlap(across, f"{why_across}, one of which is the top"),
        by_judge=histograms["judge"],
        by_document=histograms["item"],
    )


def _overlap(found: Ratios, undefined: str) -> Estimate:
    """The share of pairs with a top label in which both are: p / (2 − p), each pair being taken in both directions."""
    last = len(found.values) - 1

    def overlap(p: Array) -> Array:
        return p / (2 - p)

    return transformed(found.estimate(last, undefined), overlap, found.standard_error(last, overlap))


def _binned(upper: Array, lower: Array, group: NDArray[np.int64]) -> tuple[int, ...]:
    """How many groups have a ratio of their sums in each tenth; the last has both its ends."""
    if not len(group):
        return (0,) * BINS
    sums = np.bincount(group, weights=upper), np.bincount(group, weights=lower)
    shares = sums[0][sums[1] > 0] / sums[1][sums[1] > 0]
    # A share of 0.3 may be a little less in floats.
    place = np.minimum((shares * BINS + 1e-9).astype(np.int64), BINS - 1)
    return tuple(np.bincount(place, minlength=BINS).tolist())
