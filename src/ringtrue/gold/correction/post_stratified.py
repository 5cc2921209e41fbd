"""P@k by bronze label: the share of relevant documents among those that bronze calls relevant, and among the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool
from ringtrue.gold.designs import Population

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MIN_LABELS = 10  # gold labels of a run, or relevant or other ones among them: below, few labels that agree look certain


def post_stratified_share(
    bronze_share: ArrayLike,
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
        >>> value, variance = post_stratified_share(0.4, 0.0, (30, 40), (6, 60))
        >>> round(float(value), 4), round(float(variance) ** 0.5, 4)
        (0.3615, 0.0361)
    """
    j = np.asarray(bronze_share, dtype=np.float64)
    (p, variance_p), (q, variance_q) = (_smoothed_share(*counts) for counts in (above, below))
    full_p, full_q = (
        share + np.asarray(judged_share) * (_observed_share(*counts) - share)
        for share, judged_share, counts in ((p, judged[0], above), (q, judged[1], below))
    )
    value = j * full_p + (1 - j) * full_q
    within = j**2 * np.asarray(missed[0]) * variance_p + (1 - j) ** 2 * np.asarray(missed[1]) * variance_q
    return value, (p - q) ** 2 * np.asarray(variance, dtype=np.float64) + within


def post_stratified_errors(
    pool: Pool,
    weights: csr_array,
    sample: GoldSample,
    relevant: NDArray[np.bool_],
    bronze_relevant: NDArray[np.bool_],
    *,
    population: Population,
) -> dict[int, float]:
    """The standard error of P@k by bronze label, for those runs whose gold labels are few of a kind.

    `relevant` is what gold says of the sample, `bronze_relevant` what bronze says of the pool. The value by bronze
    label is not used: where few documents are relevant, the halves that it adds make it too high.
    """
    errors = {}
    called = bronze_relevant[sample.positions]
    for run, in_run in enumerate(weights[:, sample.positions].toarray() > 0):
        if in_run.any() and is_too_few(relevant[in_run], called[in_run], sample.prob[in_run]):
            _, errors[run] = run_precision(
                weights[[run]].toarray()[0] > 0,
                bronze_relevant,
                pool.query,
                sample.positions,
                relevant,
                sample.prob,
                k=pool.depth,
                queries=len(pool.queries),
                population=population,
            )
    return errors


def run_precision(
    shown: NDArray[np.bool_],
    bronze_relevant: NDArray[np.bool_],
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

    For each document of the pool: is it `shown` in the run's top k, `bronze_relevant`, and of which `query`.
    The documents `sampled` have a gold label that says `relevant` or not, and were drawn with `prob`.

    Examples:
        >>> shown, bronze_relevant, query = np.full(8, True), np.arange(8) < 4, np.arange(8) // 4
        >>> sampled, relevant, prob = np.array([0, 1, 4]), np.array([True, True, False]), np.array([0.5, 0.5, 0.25])
        >>> value, se = run_precision(shown, bronze_relevant, query, sampled, relevant, prob, k=4, queries=2,
        ...                           population="these")
        >>> [round(float(value), 3), round(float(se), 3)]
        [0.552, 0.153]
    """
    in_run = shown[sampled]
    bronze_says, gold_says, weight = bronze_relevant[sampled][in_run], relevant[in_run], 1 / prob[in_run]
    above, below = (_effective_counts(gold_says[side], weight[side]) for side in (bronze_says, ~bronze_says))
    these_queries = population == "these"
    by_query = np.bincount(query, weights=shown & bronze_relevant, minlength=queries) / k
    filled_share = float(shown.sum()) / (k * queries)
    value, variance = post_stratified_share(
        by_query.mean() / filled_share,
        0.0 if these_queries or queries < 2 else by_query.var(ddof=1) / queries / filled_share**2,
        above,
        below,
        missed=(_unsampled_share(weight[bronze_says]), _unsampled_share(weight[~bronze_says]))
        if these_queries
        else (1.0, 1.0),
        judged=(
            bronze_says.sum() / max((shown & bronze_relevant).sum(), 1),
            (~bronze_says).sum() / max((shown & ~bronze_relevant).sum(), 1),
        ),
    )
    return float(value) * filled_share, float(np.sqrt(variance)) * filled_share


def is_too_few(relevant: NDArray[np.bool_], bronze_relevant: NDArray[np.bool_], prob: FloatArray) -> bool:
    """Whether fewer than ten gold labels tell how sure P@k is: then they may agree by chance.

    Fewer than ten are relevant, or fewer than ten are not; or c = w(w − 1)(y − ȳ)², what each label adds to the
    variance around the mean of its bronze side, comes from fewer: (Σ c)² / Σ c². With a good judge these are the few
    labels that bronze gets wrong.

    Examples:
        >>> relevant = np.arange(100) < 50
        >>> is_too_few(relevant, relevant, np.full(100, 0.5))  # bronze is never wrong
        True
        >>> is_too_few(relevant, np.arange(100) % 2 == 0, np.full(100, 0.5))
        False
    """
    if min(relevant.sum(), (~relevant).sum()) < MIN_LABELS:
        return True
    weight = 1 / prob
    sampling_factor = weight * (weight - 1)
    contributions = np.zeros(len(relevant))
    for side in (bronze_relevant, ~bronze_relevant):
        if side.any():
            contributions[side] = (
                sampling_factor[side] * (relevant[side] - np.average(relevant[side], weights=weight[side])) ** 2
            )
    if not contributions.any():
        return bool(sampling_factor.any())  # where gold saw everything, nothing is left to chance
    return bool(contributions.sum() ** 2 < MIN_LABELS * (contributions**2).sum())


def _effective_counts(relevant: NDArray[np.bool_], weight: FloatArray) -> tuple[float, float]:
    """How many equal labels weighted ones are worth, and how many of these are relevant."""
    if not len(weight):
        return 0.0, 0.0
    n = float(weight.sum() ** 2 / (weight**2).sum())
    return n * float(np.average(relevant, weights=weight)), n


def _unsampled_share(weight: FloatArray) -> float:
    """The share of a side's variance that is left where some of its documents were judged."""
    return float((weight * (weight - 1)).sum() / (weight**2).sum()) if len(weight) else 1.0


def _observed_share(hits: ArrayLike, n: ArrayLike) -> FloatArray:
    """As it is; 0 of 0 is 0, and weighs nothing."""
    totals = np.asarray(n, dtype=np.float64)
    share: FloatArray = np.asarray(hits, dtype=np.float64) / np.where(totals > 0, totals, 1)
    return share


def _smoothed_share(hits: ArrayLike, n: ArrayLike) -> tuple[FloatArray, FloatArray]:
    denominator = np.asarray(n, dtype=np.float64) + 1
    share = (np.asarray(hits, dtype=np.float64) + 0.5) / denominator
    return share, share * (1 - share) / denominator
