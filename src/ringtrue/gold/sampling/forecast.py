"""How narrow the interval may become: what each document adds, and how far gold is expected from its prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, Measure
from ringtrue.gold.correction.difference import build_predictors, fit_gains
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import LinearMeasure, Pool, linearise
from ringtrue.gold.sampling.allocation import OTHER_LABEL_SD, assumed_residual_sd
from ringtrue.stats.intervals import normal_quantile

if TYPE_CHECKING:
    from scipy.sparse import csr_array

PRIOR_LABELS = 4.0  # how many gold labels of a bronze level the assumed spread is worth


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedMeasure:
    """One measure of the runs: what each document adds, and how far gold is expected from its prediction."""

    measure: LinearMeasure
    weights: csr_array
    residual_sd: FloatArray


def weigh_measure(measure: Measure, pool: Pool, earlier: GoldSample | None = None) -> WeightedMeasure:
    """A measure of the pool, with the spread that earlier labels show, held back by what is assumed."""
    assumed_sd = assumed_residual_sd(pool)
    if earlier is None:  # gold is taken to have the same scale as bronze
        top_label = max(1, *pool.levels, measure.rel)
        linear_measure = linearise(measure, np.array([0, top_label]), depth=pool.depth)
        return WeightedMeasure(
            measure=linear_measure,
            weights=pool.weights(linear_measure.discounts),
            residual_sd=assumed_sd * (linear_measure.gains[top_label] or 1.0),
        )
    linear_measure = linearise(measure, earlier.labels, depth=pool.depth)
    gains = linear_measure.gain(earlier.labels)
    gain_range = float(np.ptp(gains)) or 1.0
    residual = fit_gains(build_predictors(pool), earlier.positions, gains).loo_residual
    level = pool.level[earlier.positions]
    label_counts = np.bincount(level, minlength=len(pool.levels))
    squares = np.bincount(level, weights=residual**2, minlength=len(pool.levels))
    assumed_by_level = np.full(len(pool.levels), OTHER_LABEL_SD)
    assumed_by_level[pool.level] = assumed_sd
    learned_sd = np.sqrt(
        (squares + PRIOR_LABELS * (assumed_by_level * gain_range) ** 2) / (label_counts + PRIOR_LABELS)
    )
    return WeightedMeasure(
        measure=linear_measure, weights=pool.weights(linear_measure.discounts), residual_sd=learned_sd[pool.level]
    )


def expected_half_widths(
    pool: Pool,
    parts: Sequence[WeightedMeasure],
    prob: FloatArray,
    earlier: GoldSample | None,
    earlier_share: FloatArray,
    level: float,
    *,
    compare: bool,
) -> dict[str, dict[str, float]]:
    """The half-width of the interval for these queries, by the spread that is assumed or was learned."""
    z = normal_quantile((1 + level) / 2)
    variance_factor = np.divide(1 - prob, prob, out=np.zeros(len(prob)), where=prob > 0) * (1 - earlier_share) ** 2
    if earlier is not None:
        variance_factor[earlier.positions] = (
            earlier_share[earlier.positions] ** 2 * (1 - earlier.prob) / earlier.prob**2
        )
    half_widths: dict[str, dict[str, float]] = {}
    for part in parts:
        weights = part.weights.toarray() if compare else part.weights
        rows = {name: weights[[index]] for index, name in enumerate(pool.runs)}
        if compare:
            rows = {
                f"{pool.runs[0]} − {name}": weights[[0]] - weights[[index]]
                for index, name in enumerate(pool.runs)
                if index
            }
        for name, row in rows.items():
            variance = float(((row * row) @ (variance_factor * part.residual_sd**2)).sum())
            half_widths.setdefault(name, {})[str(part.measure.measure)] = z * variance**0.5
    return half_widths
