"""Where a gold sample does not stand for the documents that are asked about: no value, and why not, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.measures import Measure
from ringtrue.gold.correction.diagnostics import FAR_OFF, FAR_SURE, rank_check, stands_for
from ringtrue.gold.correction.difference import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["refused_if_unfit", "require_fit", "require_purpose"]

FLAT = ("P", "CG")  # measures in which all ranks weigh the same
HOPELESS = 1e-8  # p: no honest sample looks so


def require_purpose(drawn: Sequence[Measure], measure: Measure, *, comparing: bool) -> None:
    """Refuse a sample `drawn` to compare runs for anything else: some documents had no chance in it."""
    if not drawn or (comparing and any(_serves(one, measure) for one in drawn)):
        return
    by = ", ".join(map(str, drawn))
    if comparing:
        raise InputError(
            f"the gold labels were drawn to compare runs by {by}, and documents that differ only in {measure} had "
            f"no chance: compare by {by}, or draw anew (`ringtrue sample … --compare --for {measure}`)"
        )
    raise InputError(
        f"the gold labels were drawn to compare runs by {by}, and what the runs share had no chance: single runs "
        f"need a sample of their own (`ringtrue sample … --for {measure}`, without --compare)"
    )


def require_fit(pool: Pool, sample: GoldSample, among: NDArray[np.bool_]) -> None:
    """Refuse a sample that was not drawn from these documents of the pool: so many, at these ranks."""
    from scipy.sparse import csr_array

    counting = csr_array(np.asarray(among, dtype=np.float64).reshape(1, -1))
    (share,), (sure,) = stands_for(counting, sample)
    # Variances, not errors, shrink with the share; the larger error is for single runs, which differ by chance.
    sure /= np.sqrt(min(max(share, 1e-9), 1.0))
    if sure > FAR_SURE and abs(share - 1) > FAR_OFF:
        raise InputError(
            f"the gold sample stands for {share:.0%} of the {int(counting.sum()):,} documents in the runs' top "
            f"{pool.depth} by its probabilities: it was not drawn from them, or rows are missing. "
            f"`ringtrue sample` draws one that serves"
        )
    ranks = rank_check(pool, sample, np.asarray(among).ravel())
    if ranks.p_value is not None and ranks.p_value < HOPELESS:
        raise InputError(f"{ranks.text}. A sample from the tops says nothing about what stands below")


def refused_if_unfit(one: Estimate, share: float, sure: float, *, where: str = "in this run's list") -> Estimate:
    """Without a value where the sample stands for far less, or more, than what is asked about."""
    if one.n == 0:
        return _without(one, f"no gold label is {where}: nothing corrects it")
    if sure <= FAR_SURE or (abs(share - 1) <= FAR_OFF and np.isfinite(sure)):
        return one
    return _without(
        one,
        f"the gold sample stands for {share:.0%} of these documents by its probabilities: it was not drawn from "
        f"them, and corrects something else (`ringtrue sample` draws one that serves)",
    )


def _without(one: Estimate, why: str) -> Estimate:
    return replace(one, value=None, se=None, low=None, high=None, notes=(why,))


def _serves(drawn: Measure, measure: Measure) -> bool:
    """Whether every document that counts when runs are compared by a measure had a chance in a draw for another.

    A draw for P@k or CG@k has what only one of two tops holds; one for a measure with discounts has also what stands at
    different ranks, down to its cutoff.
    """
    if drawn.name in FLAT:
        return measure.name in FLAT and measure.cutoff == drawn.cutoff
    return drawn.cutoff is None or (measure.cutoff is not None and measure.cutoff <= drawn.cutoff)
