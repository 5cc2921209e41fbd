"""Measures for judgments that are known to be incomplete."""

from __future__ import annotations

import numpy as np

from ringtrue.evaluation.measures.ranked_lists import FloatArray, RankedLists, divide_or_zero

EPSILON = 0.00001  # trec_eval's smoothing of the share of relevant documents


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
