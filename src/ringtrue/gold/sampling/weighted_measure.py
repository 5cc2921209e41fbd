"""What each document adds to a measure of the runs, and how far gold is expected to lie from its prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import FloatArray, Measure
from ringtrue.gold.correction.difference import build_predictors, fit_gains
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import NO_LABEL, LinearMeasure, Pool, linearise
from ringtrue.gold.sampling.allocation import OTHER_LABEL_SD, assumed_residual_sd, graded_factor

if TYPE_CHECKING:
    from scipy.sparse import csr_array


PRIOR_LABELS = 4.0  # how many gold labels of a bronze level, or gold queries, the assumed spread is worth
USUAL_TOP = 3  # the highest gold label where nobody says: grades from 0 to 3, as TREC has them


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedMeasure:
    """One measure of the runs: what each document adds, and how far gold is expected from its prediction.

    `gain_sd` is the standard deviation of gold's gains: that of all of them equally common, or what earlier labels
    show, held back by it. `predicted` has the gain of every document as earlier gold labels predict it; None where
    there are none.
    """

    measure: LinearMeasure
    weights: csr_array
    residual_sd: FloatArray
    gain_sd: float
    predicted: FloatArray | None = None


def weigh_measure(
    measure: Measure, pool: Pool, earlier: GoldSample | None = None, *, gold_top: int | None = None
) -> WeightedMeasure:
    """A measure of the pool, with the spread that earlier labels show, held back by what is assumed.

    `gold_top` is the highest gold label; as far as the earlier labels or `USUAL_TOP` go, where it is not given.
    """
    judged_top = None if earlier is None else int(earlier.labels.max())
    top = max(possible_tops(measure, pool, gold_top=gold_top, judged_top=judged_top))
    labels = [0, *labels_with_gains(measure)] if labels_with_gains(measure) else range(top + 1)
    judged = np.array([], dtype=np.int64) if earlier is None else earlier.labels
    linear_measure = linearise(measure, np.array([*labels, *judged]), depth=pool.depth)
    distinct_gains = sorted(set(linear_measure.gains.values()))
    gain_sd = float(np.std(distinct_gains)) or 1.0
    shared_grades = min(len(distinct_gains), sum(label != NO_LABEL for label in pool.levels))
    scale = graded_factor(shared_grades) * gain_sd
    assumed_sd = assumed_residual_sd(pool) * scale
    weights = pool.weights(linear_measure.discounts)
    if earlier is None:
        return WeightedMeasure(measure=linear_measure, weights=weights, residual_sd=assumed_sd, gain_sd=gain_sd)
    predictors = build_predictors(pool)
    gains = linear_measure.gain(earlier.labels)
    fit = fit_gains(predictors, earlier.positions, gains)
    level = pool.level[earlier.positions]
    label_counts = np.bincount(level, minlength=len(pool.levels))
    squares = np.bincount(level, weights=fit.loo_residual**2, minlength=len(pool.levels))
    assumed_by_level = np.full(len(pool.levels), OTHER_LABEL_SD * scale)
    assumed_by_level[pool.level] = assumed_sd
    learned_sd = np.sqrt((squares + PRIOR_LABELS * assumed_by_level**2) / (label_counts + PRIOR_LABELS))
    worth = np.asarray(weights.sum(axis=0)).ravel()[earlier.positions] / earlier.prob
    gain_variance = np.average((gains - np.average(gains, weights=worth)) ** 2, weights=worth) if worth.any() else 0.0
    return WeightedMeasure(
        measure=linear_measure,
        weights=weights,
        residual_sd=learned_sd[pool.level],
        gain_sd=float(np.sqrt((len(gains) * gain_variance + PRIOR_LABELS * gain_sd**2) / (len(gains) + PRIOR_LABELS))),
        predicted=fit.predict(predictors, gains),
    )


def possible_tops(
    measure: Measure, pool: Pool, *, gold_top: int | None = None, judged_top: int | None = None
) -> tuple[int, ...]:
    """The highest label that gold may give: as said, as high as it has given, or yes and no and grades.

    Examples:
        >>> from ringtrue.evaluation.measures import parse
        >>> from ringtrue.gold.correction.pool import build_pool
        >>> from ringtrue.tables import Judgments, Run
        >>> pool = build_pool([Run.of({"q": {"a": 1.0}})], Judgments.of({"q": {"a": 4}}), depth=10)
        >>> possible_tops(parse("DCG@10"), pool), possible_tops(parse("P(rel=2)@10"), pool, gold_top=3)
        ((1, 4), (3,))
    """
    lowest = max(1, measure.rel)
    if labels := labels_with_gains(measure):
        return (max(labels),)
    if gold_top is None:
        if judged_top is not None:
            return (max(lowest, judged_top),)
        if measure.name == "P":  # yes and no, however high the labels go
            return (lowest,)
        return tuple(dict.fromkeys((lowest, max(lowest, USUAL_TOP, *pool.levels))))
    if gold_top < lowest:
        raise UsageError(
            "gold-top-too-low",
            f"the highest gold label is given as {gold_top}, and {measure} counts from {lowest} on",
            parameter="gold_top",
        )
    if judged_top is not None and gold_top < judged_top:
        raise UsageError(
            "gold-top-exceeded",
            f"the highest gold label is given as {gold_top}, and gold has given a {judged_top} already",
            parameter="gold_top",
        )
    return (gold_top,)


def labels_with_gains(measure: Measure) -> list[int]:
    """The labels for which the measure itself says what they are worth; none, if it does not."""
    return [int(label) for label, _ in dict(measure.parameters).get("gains", ())]
