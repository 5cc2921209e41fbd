"""Curves of each list, as a row of values at fixed levels, and the area under the ROC curve."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ringtrue.evaluation.measures.binary import ELEVEN_POINTS, interpolated_precision, precision_at_recall
from ringtrue.evaluation.measures.ranked_lists import FloatArray, RankedLists, divide_or_zero
from ringtrue.evaluation.measures.set_based import false_negatives, false_positives, num_documents

RECALL_LEVELS = tuple(i / 100 for i in range(101))
# Only the lower left corner tells systems apart, so every decade from a millionth on has as many levels.
FALLOUT_LEVELS = (0.0, *(half * 5 / 10**zeros for zeros in range(7, 1, -1) for half in range(2, 20)), 1.0)


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


def roc(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """Recall where each of 110 levels of fallout is about to be passed.

        ROC(f) = recall just above the (⌊f·N⌋ + 1)-th of the N documents that are not relevant    [Cambridge18]

    A step up for every relevant document and a step to the right for every other. Documents that were not
    retrieved are tied behind the last one that was: from there, a straight line leads to (1, 1). Without a
    relevant document, or without any other, the row is 0.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> curve = roc(ranked([1, 0, 1, 0]))[0]
        >>> [float(curve[FALLOUT_LEVELS.index(fallout)]) for fallout in (0, 0.1, 0.5, 1)]
        [0.5, 0.5, 1.0, 1.0]
    """
    negatives, positives, is_relevant = num_nonrelevant(lists, rel=rel), lists.relevant(rel), lists.label >= rel
    negatives_above = lists.rank - lists.running_count(is_relevant)
    retrieved_negatives, missed_positives = false_positives(lists, rel=rel), false_negatives(lists, rel=rel)
    columns = []
    for level in FALLOUT_LEVELS:
        exact = Fraction(str(level))  # of small numbers, so that 64 bits hold the product
        allowed_negatives = negatives.astype(np.int64) * exact.numerator // exact.denominator
        hits = lists.total(is_relevant & (negatives_above <= allowed_negatives[lists.owner]))
        tail_share = divide_or_zero(
            np.maximum(level * negatives - retrieved_negatives, 0), negatives - retrieved_negatives
        )
        columns.append(divide_or_zero(hits + missed_positives * tail_share, positives) * (negatives > 0))
    columns[-1] = ((positives > 0) & (negatives > 0)).astype(np.float64)
    return np.stack(columns, axis=1)


def area_under_roc(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """How often a relevant document stands above one that is not: the area under the ROC curve.

        AUC = (1/R) Σ_{relevant d} 1 − (n above d + ½ · n tied with d) / N    [Hanley82]

    n and N count documents of the collection that are not relevant or not judged, those above d and all of
    them. Documents that were not retrieved are tied behind all others, so that a run which finds nothing has
    0.5. The collection is as large as it was said to be; if nothing was said, it is the judged documents and
    those retrieved. Without a relevant document, or without any other, it is 0.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> area_under_roc(ranked([1, 0, 1, 0]))
        array([0.75])
    """
    negatives, is_relevant = num_nonrelevant(lists, rel=rel), lists.label >= rel
    negatives_above = lists.rank - lists.running_count(is_relevant)
    retrieved_credit = lists.total(
        is_relevant * (1 - divide_or_zero(negatives_above.astype(np.float64), negatives[lists.owner]))
    )
    missed_credit = (1 - divide_or_zero(false_positives(lists, rel=rel), negatives)) / 2
    total_credit = retrieved_credit + false_negatives(lists, rel=rel) * missed_credit
    return divide_or_zero(total_credit, lists.relevant(rel)) * (negatives > 0)


def num_nonrelevant(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """How many documents of the collection are not relevant, or not judged: the N of fallout.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> num_nonrelevant(ranked([1, 0, None], missed=[1, 0]))
        array([3.])
    """
    return num_documents(lists) - lists.relevant(rel)
