"""Measures of the retrieved set, blind to its order, and the 2×2 table they come from."""

from __future__ import annotations

import numpy as np

from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures.binary import weighted_harmonic_mean
from ringtrue.evaluation.measures.ranked_lists import FloatArray, RankedLists, divide_or_zero


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
            f"a collection of {size} documents, but one query alone has {judged_or_retrieved.max():.0f} of them"
        )
    return np.full(len(lists), float(size))
