"""The 2×2 table of retrieved and relevant: measures of the retrieved set, blind to its order, and the ROC curve."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures.binary import weighted_harmonic_mean
from ringtrue.evaluation.measures.ranked_lists import FloatArray, RankedLists, divide_or_zero

# Only the lower left corner tells systems apart, so every decade from a millionth on has as many levels.
FALLOUT_LEVELS = (0.0, *(half * 5 / 10**zeros for zeros in range(7, 1, -1) for half in range(2, 20)), 1.0)


def true_positives(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """Relevant documents that were retrieved (among the first k).

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> true_positives(ranked([1, 0, 1]))
        array([2.])
    """
    return lists.hits(rel, k)


def false_positives(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """Documents that were retrieved and are not relevant, or not judged.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> false_positives(ranked([1, 0, None]))
        array([2.])
    """
    return lists.depth(k) - lists.hits(rel, k)


def false_negatives(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """Relevant documents that were not retrieved.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> false_negatives(ranked([1], missed=[1, 1, 0]))
        array([2.])
    """
    return lists.relevant(rel) - lists.hits(rel, k)


def true_negatives(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """Documents of the collection that are neither relevant nor retrieved.

    The collection is as large as it was said to be; if nothing was said, it is the judged documents and
    those retrieved.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> true_negatives(ranked([1, 0], missed=[1, 0, 0]))
        array([2.])
    """
    retrieved = true_positives(lists, k=k, rel=rel) + false_positives(lists, k=k, rel=rel)
    return num_documents(lists) - retrieved - false_negatives(lists, k=k, rel=rel)


def set_precision(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """Share of the retrieved documents that is relevant.

        P = tp / (tp + fp)    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> set_precision(ranked([1, 0, 0, 1]))
        array([0.5])
    """
    return divide_or_zero(lists.hits(rel), lists.depth(None))


def set_recall(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """Share of the relevant documents that was retrieved.

        R = tp / (tp + fn)    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> set_recall(ranked([1, 0], missed=[1, 1, 1]))
        array([0.25])
    """
    return divide_or_zero(lists.hits(rel), lists.relevant(rel))


def set_f(lists: RankedLists, *, rel: int = 1, beta: float = 1.0, alpha: float | None = None) -> FloatArray:
    """Weighted harmonic mean of precision and recall of the retrieved set.

        F = (1 + β²) P R / (β² P + R),  β² = (1 − α) / α    [Rijsbergen79]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> set_f(ranked([1, 0], missed=[1]))
        array([0.5])
    """
    return weighted_harmonic_mean(set_precision(lists, rel=rel), set_recall(lists, rel=rel), beta=beta, alpha=alpha)


def accuracy(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """Share of the collection that was put on the right side.

        (tp + tn) / N    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> accuracy(ranked([1, 0], missed=[1, 0]))
        array([0.5])
    """
    correct = true_positives(lists, k=k, rel=rel) + true_negatives(lists, k=k, rel=rel)
    return divide_or_zero(correct, num_documents(lists))


def fallout(lists: RankedLists, *, k: int | None = None, rel: int = 1) -> FloatArray:
    """Share of the non-relevant documents that was retrieved all the same.

        fp / (fp + tn)    [Cambridge18]

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> fallout(ranked([1, 0], missed=[1, 0]))
        array([0.5])
    """
    retrieved_nonrelevant = false_positives(lists, k=k, rel=rel)
    return divide_or_zero(retrieved_nonrelevant, retrieved_nonrelevant + true_negatives(lists, k=k, rel=rel))


def judged_share(lists: RankedLists, *, k: int | None = None) -> FloatArray:
    """Share of the retrieved documents (among the first k) that somebody judged.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> judged_share(ranked([1, None, 0, None]), k=4)
        array([0.5])
    """
    return divide_or_zero(lists.total((lists.label >= 0) & lists.within(k)), lists.depth(k))


def num_retrieved(lists: RankedLists, *, k: int | None = None) -> FloatArray:
    """How many documents were retrieved.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> num_retrieved(ranked([1, None]))
        array([2.])
    """
    return lists.depth(k)


def num_relevant(lists: RankedLists, *, rel: int = 1) -> FloatArray:
    """How many documents are relevant.

    Examples:
        >>> from ringtrue.evaluation.measures import ranked
        >>> num_relevant(ranked([1, 0], missed=[1]))
        array([2.])
    """
    return lists.relevant(rel)


def num_documents(lists: RankedLists) -> FloatArray:
    """How many documents there are for each query: as was said, or the judged and the retrieved ones."""
    unjudged = lists.depth(None) - lists.total(np.ones(len(lists.rank), dtype=bool))
    judged_or_retrieved = np.diff(lists.pool_offsets) + unjudged
    size = lists.collection_size
    if size is None:
        return judged_or_retrieved
    if np.any(judged_or_retrieved > size):
        raise MeasureError(
            "small-collection",
            f"a collection of {size} documents, but one query alone has {judged_or_retrieved.max():.0f} of them",
            parameter="collection_size",
        )
    return np.full(len(lists), float(size))


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
