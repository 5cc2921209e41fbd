"""The bronze judge by the gold labels, as people want to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.stats.confusion import Confusion
from ringtrue.stats.intervals import share_estimate, wilson
from ringtrue.stats.results import Estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["confusion_of", "judge_told", "rate"]


def confusion_of(gold: IntArray, bronze: IntArray, weight: FloatArray | None = None) -> Confusion:
    """How often bronze says each label where gold says another; documents without a bronze label are left out."""
    labels = sorted({*gold.tolist(), *bronze[bronze >= 0].tolist()})
    place = {label: where for where, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)))
    for truth, said, one in zip(gold.tolist(), bronze.tolist(),
                                np.ones(len(gold)) if weight is None else weight, strict=True):  # fmt: skip
        if said >= 0:
            counts[place[truth], place[said]] += one
    if weight is None:
        counts = counts.astype(np.int64)
    return Confusion(rows="gold", columns="bronze", labels=tuple(labels), counts=counts)


def rate(
    hits: NDArray[np.bool_], weight: FloatArray, level: float, queries: IntArray | None = None
) -> Estimate:  # fmt: skip
    """The weighted share of hits, with Wilson's interval for as many labels as the weights are worth.

    Where gold judged whole queries, `queries` has that of each label: labels of one query are alike, and the interval
    is about queries like these, as `share_estimate` has it. One query alone tells nothing about others.

    Examples:
        >>> hits, query = np.array([True] * 90 + [False] * 10), np.repeat(np.arange(10), 10)
        >>> print(rate(hits, np.ones(100), 0.95), rate(hits, np.ones(100), 0.95, query), sep="; ")
        0.90 (95% CI 0.83 to 0.94); 0.9 (95% CI 0.4 to 1.0)
    """
    if not len(hits):
        return Estimate(value=None, level=level, n=0, method="wilson", notes=("there is no such gold label",))
    if queries is not None:
        found = share_estimate(hits, queries, level=level)
        if found.notes:
            note = "all of these labels are of one query: no interval can be given"
            return Estimate(value=found.value, level=level, n=len(hits), method="wilson", notes=(note,))
        return found
    share = float((weight * hits).sum() / weight.sum())
    worth = float(weight.sum()) ** 2 / float((weight**2).sum())
    low, high = wilson(share, worth, level=level)
    se = float(np.sqrt(share * (1 - share) / worth))
    return Estimate(value=share, se=se, low=float(low), high=float(high), level=level, n=len(hits), method="wilson")


def judge_told(
    gold: IntArray, bronze: IntArray, relevant: NDArray[np.bool_], called: NDArray[np.bool_], weight: FloatArray,
    level: float, queries: IntArray | None = None,
) -> dict[str, object]:  # fmt: skip
    """The confusion matrix of the gold labels, and how often bronze is right on relevant and on other documents.

    The rates stand for the whole pool: a label counts as often as documents it was drawn for. `queries` are those of
    the labels, where gold judged whole ones.
    """
    on_relevant, on_others = (
        rate((relevant == called)[kind], weight[kind], level, None if queries is None else queries[kind])
        for kind in (relevant, ~relevant)
    )
    both = None not in (on_relevant.value, on_others.value)
    return {
        "relevant": on_relevant.as_dict(),
        "nonrelevant": on_others.as_dict(),
        "youden": (on_relevant.value or 0) + (on_others.value or 0) - 1 if both else None,
        "confusion": confusion_of(gold, bronze).as_dict(),
    }
