"""Where a gold sample does not stand for the documents that are asked about: no value, and why not, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.measures import Measure
from ringtrue.gold.correction.diagnostics import MAX_COVERAGE_ERROR, MAX_COVERAGE_Z, check_ranks, sample_coverage
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNDISCOUNTED = ("P", "CG")  # measures in which all ranks weigh the same
IMPLAUSIBLE_P = 1e-8  # p: no honest sample looks so


def require_drawn_for(drawn_for: Sequence[Measure], measure: Measure, *, comparing: bool) -> None:
    """Refuse a sample that was `drawn_for` comparing runs for anything else: some documents had no chance in it."""
    if not drawn_for or (comparing and any(_covers_measure(purpose, measure) for purpose in drawn_for)):
        return
    purposes = ", ".join(map(str, drawn_for))
    if comparing:
        raise InputError(
            f"the gold labels were drawn to compare runs by {purposes}, and documents that differ only in {measure} "
            f"had no chance: compare by {purposes}, or draw anew (`ringtrue sample … --compare --for {measure}`)"
        )
    raise InputError(
        f"the gold labels were drawn to compare runs by {purposes}, and what the runs share had no chance: single runs "
        f"need a sample of their own (`ringtrue sample … --for {measure}`, without --compare)"
    )


def require_representative(pool: Pool, sample: GoldSample, eligible: NDArray[np.bool_]) -> None:
    """Refuse a sample that was not drawn from these documents of the pool: so many, at these ranks."""
    from scipy.sparse import csr_array

    counting = csr_array(np.asarray(eligible, dtype=np.float64).reshape(1, -1))
    (share,), (z,) = sample_coverage(counting, sample)
    # Variances, not errors, shrink with the share; the larger error is for single runs, which differ by chance.
    z /= np.sqrt(min(max(share, 1e-9), 1.0))
    if z > MAX_COVERAGE_Z and abs(share - 1) > MAX_COVERAGE_ERROR:
        raise InputError(
            f"the gold sample stands for {share:.0%} of the {int(counting.sum()):,} documents in the runs' top "
            f"{pool.depth} by its probabilities: it was not drawn from them, or rows are missing. "
            f"`ringtrue sample` draws one that serves"
        )
    check = check_ranks(pool, sample, np.asarray(eligible).ravel())
    if check.p_value is not None and check.p_value < IMPLAUSIBLE_P:
        raise InputError(f"{check.text}. A sample from the tops says nothing about what stands below")


def withhold_if_unrepresentative(
    estimate: Estimate, share: float, z: float, *, where: str = "in this run's list"
) -> Estimate:
    """Without a value where the sample stands for far less, or more, than what is asked about."""
    if estimate.n == 0:
        return _withhold_value(estimate, f"no gold label is {where}: nothing corrects it")
    if z <= MAX_COVERAGE_Z or (abs(share - 1) <= MAX_COVERAGE_ERROR and np.isfinite(z)):
        return estimate
    return _withhold_value(
        estimate,
        f"the gold sample stands for {share:.0%} of these documents by its probabilities: it was not drawn from "
        f"them, and corrects something else (`ringtrue sample` draws one that serves)",
    )


def _withhold_value(estimate: Estimate, reason: str) -> Estimate:
    return replace(estimate, value=None, se=None, low=None, high=None, notes=(reason,))


def _covers_measure(drawn_for: Measure, measure: Measure) -> bool:
    """Whether every document that counts when runs are compared by a measure had a chance in a draw for another.

    A draw for P@k or CG@k has what only one of two tops holds; one for a measure with discounts has also what stands at
    different ranks, down to its cutoff.
    """
    if drawn_for.name in UNDISCOUNTED:
        return measure.name in UNDISCOUNTED and measure.cutoff == drawn_for.cutoff
    return drawn_for.cutoff is None or (measure.cutoff is not None and measure.cutoff <= drawn_for.cutoff)
