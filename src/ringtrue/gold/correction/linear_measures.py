"""Measures that are a sum over documents: what each rank weighs, and what each label is worth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure, RankedLists

LINEAR = ("P", "CG", "DCG", "SDCG", "RBP")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearMeasure:
    """A measure as Σ discount[rank] · gain(label): `discounts` for each rank, 1 at the first; `gains` by label.

    `reference_gain` is the gain of the label that told what the ranks weigh: the farthest from 0, or, where none of
    them is worth anything, one that would be.
    """

    measure: Measure
    discounts: FloatArray
    gains: dict[int, float]
    reference_gain: float

    def gain(self, labels: IntArray) -> FloatArray:
        """What each label is worth at rank 1."""
        distinct, index = np.unique(labels, return_inverse=True)
        return np.array([self.gains[int(label)] for label in distinct], dtype=np.float64)[index]

    @property
    def max_value(self) -> float:
        """What a list is worth that has the best label at every rank."""
        return float(self.discounts.sum()) * max(0.0, *self.gains.values())

    @property
    def min_value(self) -> float:
        """What a list is worth that has the worst label at every rank, or nothing at all."""
        return float(self.discounts.sum()) * min(0.0, *self.gains.values())

    @property
    def gain_range(self) -> float:
        """How far the gains of two documents can lie apart, one of which nobody judged."""
        return max(0.0, self.reference_gain, *self.gains.values()) - min(0.0, self.reference_gain, *self.gains.values())


def is_linear(measure: Measure) -> bool:
    """Whether each document adds to the measure whatever stands above it, and whatever else could be found."""
    return measure.name in LINEAR and not dict(measure.parameters).get("judged_only", False)


def linearise(measure: Measure, labels: IntArray, *, depth: int) -> LinearMeasure:
    """The discounts and gains of a measure, found by asking its formula about lists with a single judged document.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> dcg = linearise(parse("DCG@3"), np.array([0, 2]), depth=5)
        >>> dcg.discounts.round(3).tolist(), dcg.gains
        ([1.0, 0.631, 0.5, 0.0, 0.0], {0: 0.0, 2: 2.0})
    """
    if not is_linear(measure):
        raise MeasureError(f"{measure} is no sum over documents; those that are: {', '.join(LINEAR)}")
    parameters = dict(measure.parameters)
    distinct = sorted({int(label) for label in labels})
    gains = dict(
        zip(
            distinct,
            _score_single_documents(measure, np.ones(len(distinct), dtype=np.int64), np.array(distinct)).tolist(),
            strict=True,
        )
    )
    best = max(gains, key=lambda label: abs(gains[label]))
    if gains[best] == 0:  # no label is worth anything: any that is will tell what the ranks weigh
        best = max(1, parameters.get("rel", 1), max(distinct))
        if "gains" in parameters:
            best = max(parameters["gains"], key=lambda pair: abs(pair[1]))[0]
    ranks = np.arange(1, depth + 1)
    at_rank = _score_single_documents(measure, ranks, np.full(depth, best))
    first = at_rank[0] if at_rank[0] else 1.0
    return LinearMeasure(measure=measure, discounts=at_rank / first, gains=gains, reference_gain=float(at_rank[0]))


def _score_single_documents(measure: Measure, ranks: IntArray, labels: IntArray) -> FloatArray:
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
