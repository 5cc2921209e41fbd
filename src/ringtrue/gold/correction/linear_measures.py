"""Measures that are a sum over documents: what each rank weighs, and what each label is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, RankedLists

__all__ = ["LINEAR", "Linear", "is_linear", "linear"]

LINEAR = ("P", "CG", "DCG", "SDCG", "RBP")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Linear:
    """A measure as Σ discount[rank] · gain(label): `discounts` for each rank, 1 at the first; `gains` by label.

    `most` is the gain of the label that told what the ranks weigh: the farthest from 0, or, where none of them is worth
    anything, one that would be.
    """

    measure: Measure
    discounts: FloatArray
    gains: dict[int, float]
    most: float

    def gain(self, labels: IntArray) -> FloatArray:
        """What each label is worth at rank 1."""
        known, place = np.unique(labels, return_inverse=True)
        return np.array([self.gains[int(label)] for label in known], dtype=np.float64)[place]

    @property
    def highest(self) -> float:
        """What a list is worth that has the best label at every rank."""
        return float(self.discounts.sum()) * max(0.0, *self.gains.values())

    @property
    def lowest(self) -> float:
        """What a list is worth that has the worst label at every rank, or nothing at all."""
        return float(self.discounts.sum()) * min(0.0, *self.gains.values())

    @property
    def reach(self) -> float:
        """How far the gains of two documents can lie apart, one of which nobody judged."""
        return max(0.0, self.most, *self.gains.values()) - min(0.0, self.most, *self.gains.values())


def is_linear(measure: Measure) -> bool:
    """Whether each document adds to the measure whatever stands above it, and whatever else could be found."""
    return measure.name in LINEAR and not dict(measure.parameters).get("judged_only", False)


def linear(measure: Measure, labels: IntArray, *, depth: int) -> Linear:
    """The discounts and gains of a measure, found by asking its formula about lists with a single judged document.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> found = linear(parse("DCG@3"), np.array([0, 2]), depth=5)
        >>> found.discounts.round(3).tolist(), found.gains
        ([1.0, 0.631, 0.5, 0.0, 0.0], {0: 0.0, 2: 2.0})
    """
    if not is_linear(measure):
        raise MeasureError(f"{measure} is no sum over documents; those that are: {', '.join(LINEAR)}")
    given = dict(measure.parameters)
    seen = sorted({int(label) for label in labels})
    worth = dict(zip(seen, _alone(measure, np.ones(len(seen), dtype=np.int64), np.array(seen)).tolist(), strict=True))
    best = max(worth, key=lambda label: abs(worth[label]))
    if worth[best] == 0:  # no label is worth anything: any that is will tell what the ranks weigh
        best = max(1, given.get("rel", 1), max(seen))
        if "gains" in given:
            best = max(given["gains"], key=lambda pair: abs(pair[1]))[0]
    ranks = np.arange(1, depth + 1)
    at_rank = _alone(measure, ranks, np.full(depth, best))
    first = at_rank[0] if at_rank[0] else 1.0
    return Linear(measure=measure, discounts=at_rank / first, gains=worth, most=float(at_rank[0]))


def _alone(measure: Measure, ranks: IntArray, labels: IntArray) -> FloatArray:
    """The measure of lists with one judged document each, at this rank with this label."""
    lists = RankedLists(
        offsets=np.arange(len(ranks) + 1),
        rank=ranks,
        label=labels,
        retrieved=ranks,
        pool_offsets=np.arange(len(ranks) + 1),
        pool=labels,
        max_label=int(labels.max()),
    )
    return measure(lists)
