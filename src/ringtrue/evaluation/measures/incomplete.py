"""Measures for judgments that are known to be incomplete."""

from __future__ import annotations

import numpy as np

from ringtrue.evaluation.measures.ranked_lists import FloatArray, RankedLists, share

__all__ = ["bpref", "inferred_ap"]

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
    found = lists.label >= rel
    above = np.minimum(lists.running((lists.label >= 0) & ~found), relevant[lists.owner])
    against = np.maximum(np.minimum(nonrelevant, relevant), 1)[lists.owner]
    return share(lists.total(found * (1 - above / against)), relevant)


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
    found, judged = lists.label >= rel, lists.label >= 0
    relevant_above = lists.running(found) - 1
    nonrelevant_above = lists.running(judged & ~found)
    pooled_above = lists.running(np.ones(len(lists.rank), dtype=bool)) - 1
    likely = (relevant_above + EPSILON) / (relevant_above + nonrelevant_above + 2 * EPSILON)
    expected = (1 + pooled_above * likely) / lists.rank
    return share(lists.total(found * expected), lists.relevant(rel))
