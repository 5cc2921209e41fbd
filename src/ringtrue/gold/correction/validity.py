"""Does a sample stand for the documents that are asked about? Where it does not, there is no value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.measures import FloatArray, Measure
from ringtrue.gold.correction.diagnostics import check_ranks
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


# A sample that stands for so little of a run, so surely, was not drawn from it.
MAX_COVERAGE_ERROR, MAX_COVERAGE_Z = 0.1, 4.0
NOTED_UNSEEN_SHARE = 0.02  # of what counts: from here on, what documents out of reach could change is said
MAX_UNSEEN_SHARE = 0.1  # above, nothing is concluded
OUT_OF_REACH = "is on documents that the gold sample could not draw"
EXTEND_SAMPLE = Suggestion("extends the sample to them", function="sample", already=...)
DRAW_ANOTHER = Suggestion("draws one that serves", function="sample")
IMPLAUSIBLE_P = 1e-8  # p: no honest sample looks so


def sample_coverage(weights: csr_array, sample: GoldSample) -> tuple[FloatArray, FloatArray]:
    """How much of each row's weight the sample stands for by its probabilities, as a share, and how sure that is.

    Σ_S |W|/π should be Σ |W|, give or take √Σ_S (1 − π)(W/π)², which is as much too small as the sample stands for too
    little. Where what is left out by chance is just what was not probable, that sum knows nothing of it: the square is
    no less than Σ W² over what was not drawn, whose mean is no larger. The second is how many of these it is off; 0
    where no label tells.
    """
    magnitudes = abs(weights)
    totals = np.asarray(magnitudes.sum(axis=1)).ravel()
    expanded = magnitudes[:, sample.positions].toarray() / sample.prob
    covered = expanded.sum(axis=1)
    variance = (expanded**2 * (1 - sample.prob)).sum(axis=1)
    if (sample.prob < 1).any():
        squares = magnitudes.multiply(magnitudes).tocsr()
        not_drawn = np.asarray(squares.sum(axis=1) - squares[:, sample.positions].sum(axis=1)).ravel()
        variance = np.where(covered > 0, np.maximum(variance, not_drawn), variance)
    se = np.sqrt(variance)
    share = np.divide(covered, totals, out=np.ones(len(totals)), where=totals > 0)
    se *= np.maximum(1.0, np.divide(1.0, share, out=np.ones(len(totals)), where=share > 0))
    exact_z = np.where(np.isclose(covered, totals) | (covered == 0), 0.0, np.inf)
    z = np.divide(covered - totals, se, out=exact_z, where=se > 0)
    return share, np.abs(z)


def require_representative(pool: Pool, sample: GoldSample, eligible: NDArray[np.bool_]) -> None:
    """Refuse a sample that was not drawn from these documents of the pool: so many, at these ranks."""
    from scipy.sparse import csr_array

    counting = csr_array(np.asarray(eligible, dtype=np.float64).reshape(1, -1))
    (share,), (z,) = sample_coverage(counting, sample)
    # Variances, not errors, shrink with the share; the larger error is for single runs, which differ by chance.
    z /= np.sqrt(min(max(share, 1e-9), 1.0))
    if z > MAX_COVERAGE_Z and abs(share - 1) > MAX_COVERAGE_ERROR:
        raise InputError(
            "sample-does-not-fit",
            f"the gold sample stands for {share:.0%} of the {int(counting.sum()):,} documents in the runs' top "
            f"{pool.depth} by its probabilities: it was not drawn from them, or "
            f"{'rows are missing' if share < 1 else 'probabilities were changed'}",
            suggestions=[DRAW_ANOTHER],
        )
    check = check_ranks(pool, sample, np.asarray(eligible).ravel())
    if check.note is not None and check.p_value is not None and check.p_value < IMPLAUSIBLE_P:
        raise InputError(
            "ranks-do-not-fit", f"{check.note.text}; a sample from the tops says nothing about what stands below"
        )


def require_within_reach(unseen: FloatArray, measure: Measure, *, of: str) -> None:
    """Refuse where nothing can be concluded about any run, or any pair: so much of each could not be drawn."""
    if len(unseen) and unseen.min() > MAX_UNSEEN_SHARE:
        share, where = f"{unseen.min():.0%}", ""
        if len(unseen) > 1:
            share, where = f"at least {share}", f" in every {of}"
        raise InputError(
            "out-of-reach",
            f"for {measure}, {share} of what counts{where} {OUT_OF_REACH}",
            suggestions=[EXTEND_SAMPLE],
        )


def _describe_unseen(share: float) -> str:
    return f"{share:.0%} of what counts {OUT_OF_REACH}"


def withhold_if_unrepresentative(
    estimate: Estimate, share: float, z: float, unseen: float = 0.0, *, where: str = "in this run's list"
) -> Estimate:
    """Without a value where the sample stands for far less, or more, than what is asked about.

    `unseen` is how much of that lies on documents that it could not draw at all.
    """
    if unseen > MAX_UNSEEN_SHARE:
        return _withhold_value(estimate, Note("out-of-reach", _describe_unseen(unseen), suggestions=[EXTEND_SAMPLE]))
    if unseen >= NOTED_UNSEEN_SHARE:
        note = Note("partly-out-of-reach", _describe_unseen(unseen))
        estimate = replace(estimate, notes=(*estimate.notes, note))
    if estimate.n == 0:
        return _withhold_value(estimate, Note("too-few-gold", f"no gold label is {where}: nothing corrects it"))
    if z <= MAX_COVERAGE_Z or (abs(share - 1) <= MAX_COVERAGE_ERROR and np.isfinite(z)):
        return estimate
    reason = Note(
        "sample-does-not-fit",
        f"the gold sample stands for {share:.0%} of these documents by its probabilities: it was not drawn from "
        f"them, and corrects something else",
        suggestions=[DRAW_ANOTHER],
    )
    return _withhold_value(estimate, reason)


def _withhold_value(estimate: Estimate, reason: Note) -> Estimate:
    return replace(estimate, value=None, se=None, low=None, high=None, notes=(reason,))
