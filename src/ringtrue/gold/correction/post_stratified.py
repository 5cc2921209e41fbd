"""P@k by bronze label: the share of relevant documents among those that bronze calls relevant, and among the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.difference import GoldSample
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.gold.correction.pool import Pool

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["FEW", "few_by_label", "few_of_a_kind", "precision_by_label", "share_by_label"]

FEW = 10  # gold labels of a run, or relevant or other ones among them: below, few labels that agree look certain


def share_by_label(
    called: ArrayLike,
    variance: ArrayLike,
    above: tuple[ArrayLike, ArrayLike],
    below: tuple[ArrayLike, ArrayLike],
    *,
    missed: tuple[ArrayLike, ArrayLike] = (1.0, 1.0),
    judged: tuple[ArrayLike, ArrayLike] = (0.0, 0.0),
) -> tuple[FloatArray, FloatArray]:
    """The share of relevant documents, and its variance, from gold labels drawn from these documents.

        θ = jP + (1−j)Q,  V = (P−Q)² V_J + j² P(1−P)/(n_P + 1) + (1−j)² Q(1−Q)/(n_Q + 1)

    j is the share that bronze calls relevant, V_J its variance; P and Q are (x + ½)/(n + 1), with `above` the (x
    relevant of n) gold labels on documents that bronze calls relevant and `below` those on the others. `missed` is the
    part of the last two terms that counts: for an answer about these documents alone, the share that gold has not seen.
    The halves keep few labels that all agree from looking certain. They are for documents that gold has not seen: of
    the share of each side that it has (`judged`), x/n stands for what it is.

    Examples:
        >>> value, variance = share_by_label(0.4, 0.0, (30, 40), (6, 60))
        >>> round(float(value), 4), round(float(variance) ** 0.5, 4)
        (0.3615, 0.0361)
    """
    j = np.asarray(called, dtype=np.float64)
    (p, of_p), (q, of_q) = (_smoothed(*counts) for counts in (above, below))
    whole_p, whole_q = (
        share + np.asarray(seen) * (_share(*counts) - share)
        for share, seen, counts in ((p, judged[0], above), (q, judged[1], below))
    )
    value = j * whole_p + (1 - j) * whole_q
    within = j**2 * np.asarray(missed[0]) * of_p + (1 - j) ** 2 * np.asarray(missed[1]) * of_q
    return value, (p - q) ** 2 * np.asarray(variance, dtype=np.float64) + within


def few_by_label(
    pool: Pool,
    weights: csr_array,
    sample: GoldSample,
    relevant: NDArray[np.bool_],
    called: NDArray[np.bool_],
    *,
    population: Population,
) -> dict[int, tuple[float, float]]:
    """P@k by bronze label and its standard error, for those runs whose gold labels are few of a kind.

    `relevant` is what gold says of the sample, `called` what bronze says of the pool.
    """
    found = {}
    for run in range(len(pool.runs)):
        shown = weights[[run]].toarray()[0] > 0
        own = shown[sample.places]
        if own.any() and few_of_a_kind(relevant[own], called[sample.places][own], sample.prob[own]):
            found[run] = precision_by_label(shown, called, pool.query, sample.places, relevant, sample.prob,
                                            k=pool.depth, queries=len(pool.queries), population=population)  # fmt: skip
    return found


def precision_by_label(
    shown: NDArray[np.bool_],
    called: NDArray[np.bool_],
    query: IntArray,
    sampled: IntArray,
    relevant: NDArray[np.bool_],
    prob: FloatArray,
    *,
    k: int,
    queries: int,
    population: Population,
) -> tuple[float, float]:
    """P@k of a run by bronze label, and its standard error, from gold labels with different probabilities.

        x = n Σ w y / Σ w,   n = (Σ w)² / Σ w²,   w = 1/π

    A label stands for w documents, and labels that stand for different numbers are worth fewer equal ones: n on each
    bronze side. Of *these queries* gold missed Σ w(w − 1) / Σ w² there, which is 1 − π where all π are the same.

    For each document of the pool: is it `shown` in the run's top k, `called` relevant by bronze, and of which `query`.
    The documents `sampled` have a gold label that says `relevant` or not, and were drawn with `prob`.

    Examples:
        >>> shown, called, query = np.full(8, True), np.arange(8) < 4, np.arange(8) // 4
        >>> found = precision_by_label(shown, called, query, np.array([0, 1, 4]), np.array([True, True, False]),
        ...                            np.array([0.5, 0.5, 0.25]), k=4, queries=2, population="these")
        >>> [round(float(one), 3) for one in found]
        [0.552, 0.153]
    """
    own = shown[sampled]
    up, says, weight = called[sampled][own], relevant[own], 1 / prob[own]
    above, below = (_worth(says[side], weight[side]) for side in (up, ~up))
    of_these = population == "these"
    by_query = np.bincount(query, weights=shown & called, minlength=queries) / k
    filled = float(shown.sum()) / (k * queries)
    value, variance = share_by_label(
        by_query.mean() / filled,
        0.0 if of_these or queries < 2 else by_query.var(ddof=1) / queries / filled**2,
        above,
        below,
        missed=(_missed(weight[up]), _missed(weight[~up])) if of_these else (1.0, 1.0),
        judged=(up.sum() / max((shown & called).sum(), 1), (~up).sum() / max((shown & ~called).sum(), 1)),
    )
    return float(value) * filled, float(np.sqrt(variance)) * filled


def few_of_a_kind(relevant: NDArray[np.bool_], called: NDArray[np.bool_], prob: FloatArray) -> bool:
    """Whether fewer than ten gold labels tell how sure P@k is: then they may agree by chance.

    Fewer than ten are relevant, or fewer than ten are not; or c = w(w − 1)(y − ȳ)², what each label adds to the
    variance around the mean of its bronze side, comes from fewer: (Σ c)² / Σ c². With a good judge these are the few
    labels that bronze gets wrong.

    Examples:
        >>> relevant = np.arange(100) < 50
        >>> few_of_a_kind(relevant, relevant, np.full(100, 0.5))  # bronze is never wrong
        True
        >>> few_of_a_kind(relevant, np.arange(100) % 2 == 0, np.full(100, 0.5))
        False
    """
    if min(relevant.sum(), (~relevant).sum()) < FEW:
        return True
    weight = 1 / prob
    by_chance = weight * (weight - 1)
    adds = np.zeros(len(relevant))
    for side in (called, ~called):
        if side.any():
            adds[side] = by_chance[side] * (relevant[side] - np.average(relevant[side], weights=weight[side])) ** 2
    if not adds.any():
        return bool(by_chance.any())  # where gold saw everything, nothing is left to chance
    return bool(adds.sum() ** 2 < FEW * (adds**2).sum())


def _worth(relevant: NDArray[np.bool_], weight: FloatArray) -> tuple[float, float]:
    """How many equal labels weighted ones are worth, and how many of these are relevant."""
    if not len(weight):
        return 0.0, 0.0
    n = float(weight.sum() ** 2 / (weight**2).sum())
    return n * float(np.average(relevant, weights=weight)), n


def _missed(weight: FloatArray) -> float:
    """The share of a side's variance that is left where some of its documents were judged."""
    return float((weight * (weight - 1)).sum() / (weight**2).sum()) if len(weight) else 1.0


def _share(hits: ArrayLike, n: ArrayLike) -> FloatArray:
    """As it is; 0 of 0 is 0, and weighs nothing."""
    of = np.asarray(n, dtype=np.float64)
    share: FloatArray = np.asarray(hits, dtype=np.float64) / np.where(of > 0, of, 1)
    return share


def _smoothed(hits: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    more = np.asarray(n, dtype=np.float64) + 1
    share = (np.asarray(hits, dtype=np.float64) + 0.5) / more
    return share, share * (1 - share) / more
