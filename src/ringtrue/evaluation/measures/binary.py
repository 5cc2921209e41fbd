"""Measures of binary relevance: a document counts from label `rel` on, or it does not."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

import numpy as np

from ringtrue.evaluation.measures.ranked_lists import FloatArray, IntArray, RankedLists, divide_or_zero

RECALL_LEVELS = tuple(i / 100 for i in range(101))
ELEVEN_POINTS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
EPSILON = 0.00001  # trec_eval's smoothing of infAP, for the share of relevant documents


def precision(lists: RankedLists, *, k: int, rel: int = 1) -> FloatArray:
    """Share of the first k documents that is relevant.

        P@k = |relevant in the first k| / k    [Cambridge18]

    A list shorter than k is filled up with non-relevant documents.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> precision(ranked([1, 0, 1]), k=2)
        array([0.5])
    """
    return lists.hits(rel, k) / k


def recall(lists: RankedLists, *, k: int, rel: int = 1) -> FloatArray:
    """Share of the relevant documents that stands among the first k.

        R@k = |relevant in the first k| / R    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> recall(ranked([1, 0, 1], missed=[1, 1]), k=3)
        array([0.5])
    """
    return divide_or_zero(lists.hits(rel, k), lists.relevant(rel))


def f_measure(lists: RankedLists, *, k: int, rel: int = 1, beta: float = 1.0, alpha: float | None = None) -> FloatArray:
    """Weighted harmonic mean of precision and recall among the first k.

        F@k = (1 + β²) P R / (β² P + R),  β² = (1 − α) / α    [Rijsbergen79]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> f_measure(ranked([1, 0], missed=[1]), k=2)
        array([0.5])
    """
    return weighted_harmonic_mean(precision(lists, k=k, rel=rel), recall(lists, k=k, rel=rel), beta=beta, alpha=alpha)


def weighted_harmonic_mean(p: FloatArray, r: FloatArray, *, beta: float, alpha: float | None) -> FloatArray:
    """The weighted harmonic mean of precision and recall, by β or by α."""
    beta_squared = beta**2 if alpha is None else (1 - alpha) / alpha
    return divide_or_zero((1 + beta_squared) * p * r, beta_squared * p + r)


def success(lists: RankedLists, *, k: int, rel: int = 1) -> FloatArray:
    """1 where the first k documents hold a relevant one, else 0.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> success(ranked([0, 0, 1]), k=3)
        array([1.])
    """
    return (lists.hits(rel, k) > 0).astype(np.float64)


def reciprocal_rank(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """1 over the rank of the first relevant document; 0 where there is none.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> reciprocal_rank(ranked([0, 1, 1]))
        array([0.5])
    """
    hits = (lists.label >= rel) & lists.within(k)
    first_hits = hits & (lists.running_count(lists.label >= rel) == 1)
    return lists.total(first_hits / lists.rank)


def average_precision(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """Precision at each relevant document, averaged over all R of them; one not retrieved adds 0.

        AP = Σ_{relevant i} (i-th relevant / its rank) / R    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> average_precision(ranked([1, 0, 1], missed=[1])).round(4)
        array([0.5556])
    """
    hits = (lists.label >= rel) & lists.within(k)
    return divide_or_zero(
        lists.total(hits * (lists.running_count(lists.label >= rel) / lists.rank)), lists.relevant(rel)
    )


def r_precision(lists: RankedLists, *, rel: int = 1, mult: float = 1.0) -> FloatArray:
    """Precision after as many documents as there are relevant ones, or a multiple of that number.

        Rprec = P@R;  Rprec(mult=m) = P@⌈m·R⌉    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> r_precision(ranked([1, 0, 1]))
        array([0.5])
    """
    relevant = lists.relevant(rel).astype(np.int64)
    cutoff = (mult * relevant + 0.9).astype(np.int64) if lists.compat else _ceil_multiple(mult, relevant)
    hits = lists.total((lists.label >= rel) & (lists.rank <= cutoff[lists.owner]))
    return divide_or_zero(hits, cutoff.astype(np.float64))


def interpolated_precision(lists: RankedLists, *, recall: float, rel: int = 1) -> FloatArray:
    """The best precision at this recall or any higher one; 0 where it is never reached.

        IPrec@r = max_{r' ≥ r} P(r')    [Cambridge18]

    Recall levels are compared as exact fractions: 3 of 10 reaches 0.3.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> interpolated_precision(ranked([0, 1, 1]), recall=0.5).round(4)
        array([0.6667])
    """
    needed = _relevant_needed(lists, recall, lists.relevant(rel).astype(np.int64))
    is_relevant = lists.label >= rel
    relevant_count = lists.running_count(is_relevant)
    eligible = is_relevant & (relevant_count >= np.maximum(needed, 1)[lists.owner])
    best = np.zeros(len(lists))
    np.maximum.at(best, lists.owner[eligible], (relevant_count / lists.rank)[eligible])
    return best


def interpolated_average(lists: RankedLists, *, rel: int = 1, at: Sequence[float] = ELEVEN_POINTS) -> FloatArray:
    """Interpolated precision averaged over recall levels: the 11-point average, unless told otherwise.

        IAP = (1/11) Σ_{r ∈ 0, .1, …, 1} IPrec@r    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> interpolated_average(ranked([1, 0, 1, 0, 0, 1, 0, 0, 0, 1], missed=[1])).round(4)
        array([0.5576])
    """
    total = np.zeros(len(lists))
    for recall in at:
        total += interpolated_precision(lists, recall=recall, rel=rel)
    return total / len(at)


def precision_at_recall(lists: RankedLists, *, recall: float, rel: int = 1) -> FloatArray:
    """Precision at the rank where this recall is first reached; 0 where it never is.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> precision_at_recall(ranked([1, 0, 1, 0, 0, 1, 0, 0, 1, 1]), recall=0.8).round(4)
        array([0.4444])
    """
    relevant = lists.relevant(rel).astype(np.int64)
    is_relevant = lists.label >= rel
    relevant_count = lists.running_count(is_relevant)
    reaches_recall = is_relevant & (relevant_count == np.maximum(_ceil_multiple(recall, relevant), 1)[lists.owner])
    return lists.total(reaches_recall * (relevant_count / lists.rank))


def precision_recall(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """Precision where each of 101 levels of recall, 0, 0.01, …, 1, is first reached; 0 where it never is.

        P(r) = precision at the ⌈r·R⌉-th relevant document;  ∫ P(r) dr = AP    [Cambridge18]

    Between two relevant documents it is constant, so that its integral is a sum: average precision. At
    recall 0 stands its limit from the right, the precision at the first relevant document.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> precision_recall(ranked([1, 0, 0, 1]))[0, [0, 50, 51, 100]]
        array([1. , 1. , 0.5, 0.5])
    """
    return np.stack([precision_at_recall(lists, recall=level, rel=rel) for level in RECALL_LEVELS], axis=1)


def eleven_points(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """Interpolated precision at the recall levels 0, 0.1, …, 1.

        IPrec@r = max_{r' ≥ r} P(r')    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> eleven_points(ranked([0, 1, 0, 1]))
        array([[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]])
    """
    return np.stack([interpolated_precision(lists, recall=level, rel=rel) for level in ELEVEN_POINTS], axis=1)


def bpref(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """How often a relevant document stands above a judged non-relevant one.

        bpref = (1/R) Σ_{relevant r} 1 − min(n above r, R) / min(N, R)    [Buckley04]

    n and N count judged non-relevant documents, those above r and all of them.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> bpref(ranked([1, 0, 1, None], missed=[0]))
        array([0.75])
    """
    relevant = lists.relevant(rel)
    nonrelevant = lists.pool_total(lists.pool >= 0) - relevant
    is_relevant = lists.label >= rel
    nonrelevant_above = np.minimum(lists.running_count((lists.label >= 0) & ~is_relevant), relevant[lists.owner])
    denominator = np.maximum(np.minimum(nonrelevant, relevant), 1)[lists.owner]
    return divide_or_zero(lists.total(is_relevant * (1 - nonrelevant_above / denominator)), relevant)


def inferred_ap(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """Average precision inferred from a pool of which only a random part was judged.

        infAP = (1/R) Σ_{relevant at i} 1/i + ((i−1)/i) · (pooled above / (i−1)) · (rel + ε)/(rel + nonrel + 2ε)

    [Yilmaz06]. Documents of the pool that were not judged have a negative label; those without any label
    were not in the pool and count as non-relevant.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> inferred_ap(ranked([1, -1, 1]))
        array([0.99999667])
    """
    is_relevant, judged = lists.label >= rel, lists.label >= 0
    relevant_above = lists.running_count(is_relevant) - 1
    nonrelevant_above = lists.running_count(judged & ~is_relevant)
    pooled_above = lists.running_count(np.ones(len(lists.rank), dtype=bool)) - 1
    relevance_probability = (relevant_above + EPSILON) / (relevant_above + nonrelevant_above + 2 * EPSILON)
    expected_precision = (1 + pooled_above * relevance_probability) / lists.rank
    return divide_or_zero(lists.total(is_relevant * expected_precision), lists.relevant(rel))


def _ceil_multiple(factor: float, relevant: IntArray) -> IntArray:
    """The smallest whole number that is at least this part of the relevant documents, exactly."""
    exact = Fraction(str(factor))
    counts, inverse = np.unique(relevant, return_inverse=True)
    needed = [ceil(exact * count) for count in counts.tolist()]  # Python's integers do not overflow
    return np.array(needed, dtype=np.int64)[inverse]


def _relevant_needed(lists: RankedLists, recall: float, relevant: IntArray) -> IntArray:
    """How many relevant documents make this recall; trec_eval rounds, each version in its own way."""
    if lists.compat is None:
        return _ceil_multiple(recall, relevant)
    rounding = 0.9 if lists.compat == "trec_eval-9" else 0.5
    needed: IntArray = np.floor(recall * relevant + rounding).astype(np.int64)
    return needed
