"""How wide the interval will be: what `correct` is to be expected to give for a sample, before gold has judged it.

What nobody knows yet is taken from one assumption: gold's gains vary as if all of them were equally common. Of that
variance, a bronze label leaves open the share that `allocation` assumes, and as much of it lies between queries as
bronze labels show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.difference import build_predictors
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.pool import Pool, linearise
from ringtrue.gold.correction.possible_values import possible_values
from ringtrue.gold.correction.post_stratified import post_stratified_errors
from ringtrue.gold.designs import Population
from ringtrue.gold.sampling.allocation import pivotal_sample
from ringtrue.gold.sampling.weighted_measure import WeightedMeasure, labels_with_gains, possible_tops, weigh_measure
from ringtrue.messages import Note, Suggestion
from ringtrue.stats.intervals import normal_quantile, t_quantile

if TYPE_CHECKING:
    from scipy.sparse import csr_array

BATCH_DOCS = 10_000  # documents held at once
SIMULATED_DRAWS = 20  # of gold: how often P@k has few labels of a kind, and what its interval is then
HalfWidths = dict[str, dict[str, float]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecast:
    """Half-widths to expect, by run (or difference of runs) and measure.

    Where gold's scale is not known and matters, `expected` is the wider one, and `ranges` has the narrower and the
    wider: for gold labels of 0 and 1, and for grades.
    """

    expected: HalfWidths
    ranges: dict[str, dict[str, tuple[float, float]]] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ExpectedSample:
    """How many of each document gold will have judged (1 for those of an earlier draw), and with which probability.

    `prob` is as the sample's file will have it, for both draws together.
    """

    count: FloatArray
    prob: FloatArray

    @classmethod
    def of(cls, prob: FloatArray) -> ExpectedSample:
        """From the probabilities of a single draw."""
        return cls(count=prob, prob=np.where(prob > 0, prob, 1.0))

    @property
    def variance_factor(self) -> FloatArray:
        """What the squared residual of each document counts on average: (1 − π)/π² for one that was drawn."""
        return self.count * (1 - self.prob) / self.prob**2


def forecast_documents(
    pool: Pool,
    measures: Iterable[Measure],
    sample: ExpectedSample,
    earlier: GoldSample | None = None,
    *,
    gold_top: int | None = None,
    population: Population,
    level: float,
    compare: bool = False,
) -> Forecast:
    """The half-widths that `correct` is expected to give for single documents, with gold's scale as far as known."""
    if population == "like-these" and len(pool.queries) < 2:
        note = Note("single-query", "a single query says nothing about others: no interval can be forecast")
        return Forecast(expected={}, notes=(note,))
    judged_top = None if earlier is None else int(earlier.labels.max())
    return join_scales(
        {
            measure: {
                top: _half_widths(
                    pool,
                    weigh_measure(measure, pool, earlier, gold_top=top),
                    sample,
                    population,
                    level,
                    compare=compare,
                )
                for top in possible_tops(measure, pool, gold_top=gold_top, judged_top=judged_top)
            }
            for measure in measures
        }
    )


def join_scales(by_measure: Mapping[Measure, Mapping[int, Mapping[str, float]]]) -> Forecast:
    """One forecast from those for each highest gold label: the widest, and the range where they differ."""
    expected: HalfWidths = {}
    ranges: dict[str, dict[str, tuple[float, float]]] = {}
    notes = []
    for measure, by_top in by_measure.items():
        for run in next(iter(by_top.values())):
            low, high = (limit(widths[run] for widths in by_top.values()) for limit in (min, max))
            expected.setdefault(run, {})[str(measure)] = high
            if high > low * (1 + 1e-9):
                ranges.setdefault(run, {})[str(measure)] = low, high
        if any(str(measure) in row for row in ranges.values()):
            notes.append(
                Note(
                    "gold-top-unknown",
                    f"how wide the interval of {measure} will be depends on gold's labels: the range is for labels up "
                    f"to {min(by_top)} and up to {max(by_top)}",
                    parameter="gold_top",
                    suggestions=[Suggestion("says how high they go", gold_top=...)],
                )
            )
    return Forecast(expected=expected, ranges=ranges, notes=tuple(notes))


def _half_widths(
    pool: Pool, part: WeightedMeasure, sample: ExpectedSample, population: Population, level: float, *, compare: bool
) -> dict[str, float]:
    """Half of the interval for each run or difference of runs.

        V = Σ W² c (σ² + v) + between,   c = count · (1 − π)/π²

    σ is how far gold lies from the best prediction, and v what predicting from so few labels costs
    (`prediction_variance`); what earlier labels have shown of σ has that in it. For *queries like these*, what queries
    differ comes to it (`between_queries`), as in `correct_means`.
    """
    names, rows = pool.runs, part.weights
    if compare:
        names = tuple(f"{pool.runs[0]} − {name}" for name in pool.runs[1:])
        rows = rows[[0] * (len(pool.runs) - 1)] - rows[1:]
    variance = _sampling_variance(pool, part, rows, sample)
    if population == "like-these":
        variance = variance + between_queries(pool, part, rows)
    z, t = normal_quantile((1 + level) / 2), t_quantile((1 + level) / 2, max(len(pool.queries) - 1, 1))
    half_widths = (z if population == "these" else t) * np.sqrt(variance)
    if part.measure.measure.name == "P" and not compare:
        errors = _simulate_few_label_errors(pool, part, sample, population)
        widened = t * np.maximum(errors, np.sqrt(variance))
        half_widths = np.where(np.isnan(errors), half_widths, widened).mean(axis=0)
    lowest, highest = possible_values(part.measure.measure)
    return dict(zip(names, np.minimum(half_widths, highest - lowest).tolist(), strict=True))


def _sampling_variance(pool: Pool, part: WeightedMeasure, rows: csr_array, sample: ExpectedSample) -> FloatArray:
    """What is left to chance by which documents gold judges; with what `correct` adds where labels are few."""
    squared_residuals = part.residual_sd**2
    if part.predicted is None:
        squared_residuals = squared_residuals + prediction_variance(pool, sample.count, squared_residuals)
    quarter_range = part.measure.gain_range**2 / 4
    labels = np.bincount(pool.level, weights=sample.count, minlength=len(pool.levels))
    squared_residuals = np.maximum(squared_residuals, (quarter_range / (labels + 1))[pool.level])
    variance: FloatArray = (rows * rows) @ (sample.variance_factor * squared_residuals)
    # A level of which gold sees nothing adds (range · Σ W)²/4.
    with np.errstate(divide="ignore"):
        unseen = np.exp(np.bincount(pool.level, weights=np.log1p(-sample.count), minlength=len(pool.levels)))
    level_totals = _sum_columns(rows, pool.level, len(pool.levels))
    return variance + quarter_range * level_totals**2 @ unseen


def prediction_variance(pool: Pool, count: FloatArray, residual_variance: FloatArray) -> FloatArray:
    """The variance of each document's prediction from so many gold labels: what fitting costs.

        v = x' M⁻¹ (Σ n σ² x x') M⁻¹ x,   M = Σ n x x' + Λ

    n is how many labels each document is expected to have, x its predictors, Λ their penalties (`difference`). The
    predictors of queries are taken one by one, as if each told nothing of the others.

    Examples:
        >>> from ringtrue.gold.correction.pool import build_pool
        >>> from ringtrue.tables import Judgments, Run
        >>> pool = build_pool([Run.of({"q": {"a": 2.0, "b": 1.0}})], Judgments.of({"q": {"a": 1, "b": 0}}), depth=10)
        >>> few, many = (prediction_variance(pool, np.full(2, n), np.ones(2)) for n in (1.0, 10.0))
        >>> bool((many < few).all())
        True
    """
    predictors = build_predictors(pool)
    common = predictors.values.shape[1] - 2 * len(pool.queries)  # then come the queries, and their slopes
    values, penalty = predictors.values[:, :common], predictors.penalty[:common]
    information, noise = (
        (values.T @ values.multiply(weight[:, None]).tocsr()).toarray() for weight in (count, count * residual_variance)
    )
    information += np.diag(penalty)
    covariance = np.linalg.solve(information, np.linalg.solve(information, noise).T)
    variance = np.concatenate(
        [
            np.asarray(batch.multiply(batch @ covariance).sum(axis=1)).ravel()
            for batch in (values[start : start + BATCH_DOCS] for start in range(0, len(pool), BATCH_DOCS))
        ]
    )
    squares, penalty = predictors.values[:, common:] ** 2, predictors.penalty[common:]
    query_variance: FloatArray = squares @ (
        squares.T @ (count * residual_variance) / (squares.T @ count + penalty) ** 2
    )
    return variance + query_variance


def between_queries(pool: Pool, part: WeightedMeasure, rows: csr_array) -> FloatArray:
    """How far the mean of as many other queries may lie off by gold: Q/(Q−1) Σ_q (T_q − T̄)².

    By bronze labels, stretched so that they vary as much among the runs' documents as gold gains do. What they vary
    more than if the documents of a query had nothing in common counts as often as labels that are not equally common
    hide it (`hidden_covariance`). No less than without that; nor, where gold has labels, than what these predict, and
    residuals.
    """
    gains = bronze_gains(part.measure.measure, pool)
    independent: FloatArray = (rows * rows) @ np.full(len(pool), part.gain_sd**2)
    in_common = _spread_over_queries(pool, rows, gains * bronze_stretch(part, pool)) - independent
    spread: FloatArray = independent + hidden_covariance(gains, _shares_shown(part)) * np.maximum(in_common, 0.0)
    if part.predicted is not None:
        residuals: FloatArray = (rows * rows) @ part.residual_sd**2
        spread = np.maximum(spread, _spread_over_queries(pool, rows, part.predicted) + residuals)
    return spread


def bronze_stretch(part: WeightedMeasure, pool: Pool) -> float:
    """By how much gold gains vary more than bronze ones do among the runs' documents; 0 where bronze's do not vary."""
    gains, shares = bronze_gains(part.measure.measure, pool), _shares_shown(part)
    bronze_sd = float(np.sqrt(shares @ (gains - shares @ gains) ** 2))
    return part.gain_sd / bronze_sd if bronze_sd > 1e-9 * np.abs(gains).max(initial=0.0) else 0.0


def hidden_covariance(gains: FloatArray, shares: FloatArray) -> float:
    """How many times as much documents of a query would have in common if all gains were equally common.

        c(equal shares) / c(shares),   c = (Σ_k φ(z_k) Δ_k)² / variance of the gains

    A label is a normal impression cut at thresholds z, each worth Δ; c is what is left of the covariance, nearly.

    Examples:
        >>> [round(hidden_covariance(np.array([0.0, 1.0]), np.array([1 - yes, yes])), 2) for yes in (0.5, 0.8)]
        [1.0, 1.3]
    """
    distinct, index = np.unique(gains, return_inverse=True)
    shown = np.bincount(index, weights=shares).astype(np.float64)
    distinct, shown = distinct[shown > 1e-6], shown[shown > 1e-6]  # what a measure hardly looks at tells nothing
    if len(distinct) < 2:  # the measure looks at documents of one label
        return 1.0
    equal = np.full(len(distinct), 1 / len(distinct))
    return _kept_covariance(distinct, equal) / _kept_covariance(distinct, shown / shown.sum())


def _kept_covariance(gains: FloatArray, shares: FloatArray) -> float:
    """The share of the covariance of normal impressions that is left when they are cut into these gains."""
    thresholds = np.array([normal_quantile(share) for share in np.cumsum(shares)[:-1]])
    slope = np.exp(-(thresholds**2) / 2) @ np.diff(gains) / np.sqrt(2 * np.pi)
    return float(slope**2 / (shares @ (gains - shares @ gains) ** 2))


def _shares_shown(part: WeightedMeasure) -> FloatArray:
    """How much each document counts among what the runs show: shares that add up to 1."""
    weights: FloatArray = np.asarray(part.weights.sum(axis=0)).ravel()
    return weights / float(weights.sum())


def bronze_gains(measure: Measure, pool: Pool) -> FloatArray:
    """What each document is worth by its bronze label; a threshold above bronze's scale is its highest label."""
    top = max(1, *pool.levels)
    if "rel" in measure.definition.defaults and measure.rel > top:
        measure = measure.from_label(top)
    labels = np.maximum(np.array(pool.levels), 0)
    worth = labels_with_gains(measure)
    if worth and not set(labels.tolist()) <= {0, *worth}:  # a table for gold's labels
        by_level: FloatArray = labels.astype(np.float64)
        return by_level[pool.level]
    return linearise(measure, labels, depth=pool.depth).gain(labels)[pool.level]


def _spread_over_queries(pool: Pool, rows: csr_array, gains: FloatArray) -> FloatArray:
    parts = _sum_columns(rows * gains, pool.query, len(pool.queries))
    deviations = parts - parts.mean(axis=1, keepdims=True)
    spread: FloatArray = len(pool.queries) / max(len(pool.queries) - 1, 1) * (deviations**2).sum(axis=1)
    return spread


def _simulate_few_label_errors(
    pool: Pool, part: WeightedMeasure, sample: ExpectedSample, population: Population
) -> FloatArray:
    """The errors of P@k by bronze label in draws like the one to come: draws × runs, NaN where labels are enough.

    A document that bronze calls relevant is so by gold with probability p, another with 1 − p, so that p(1 − p) is what
    bronze leaves open.
    """
    rng = np.random.default_rng(0)  # a forecast is the same whenever it is asked for
    called = bronze_gains(part.measure.measure, pool) > 0
    label_variance = np.minimum((part.residual_sd / part.measure.gain_range) ** 2, 0.25)
    relevance = (1 + np.where(called, 1, -1) * np.sqrt(1 - 4 * label_variance)) / 2
    errors = np.full((SIMULATED_DRAWS, len(pool.runs)), np.nan)
    for row in errors:
        positions = pivotal_sample(sample.count, pool.query, pool.similarity_key, rng)
        relevant = rng.random(len(positions)) < relevance[positions]
        drawn = GoldSample(positions=positions, labels=relevant.astype(np.int64), prob=sample.prob[positions])
        by_run = post_stratified_errors(pool, part.weights, drawn, relevant, called, population=population)
        row[list(by_run)] = list(by_run.values())
    return errors


def _sum_columns(rows: csr_array, group: IntArray, groups: int) -> FloatArray:
    """Columns of documents added up by group: rows × groups."""
    from scipy.sparse import csr_array

    n = rows.shape[1]
    indicator = csr_array((np.ones(n), (np.arange(n), group)), shape=(n, groups))
    return np.asarray((rows @ indicator).toarray())
