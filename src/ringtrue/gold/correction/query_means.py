"""The mean over queries by gold, from bronze values of all queries and gold values of some."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.designs import Population
from ringtrue.messages import Note
from ringtrue.stats.intervals import t_quantile, t_tail
from ringtrue.stats.results import Estimate

MIN_QUERIES = 20  # queries: below, intervals cover less than they say
SLOPE_PENALTY = 5  # queries that a slope is held back by
MIN_SQUARES = 1e-12  # of bronze values around their mean: below, they are equal but for rounding


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryMeans:
    """A corrected mean for each row and its variance, and the gold mean alone with its variance."""

    values: FloatArray
    variances: FloatArray
    gold: FloatArray
    gold_variances: FloatArray
    queries: int
    total_queries: int

    @property
    def df(self) -> int:
        """Degrees of freedom of either variance."""
        return max(self.queries - 1, 1)

    def estimate(self, row: int, *, level: float, gold_only: bool = False) -> Estimate:
        """The mean of one row with its interval; `n` counts the queries that gold judged."""
        values, variances = (self.gold, self.gold_variances) if gold_only else (self.values, self.variances)
        value, se = float(values[row]), float(np.sqrt(variances[row]))
        half_width = t_quantile((1 + level) / 2, self.df) * se
        notes = []
        if self.queries < MIN_QUERIES:
            notes.append(Note("few-queries", f"only {self.queries} queries with gold: trust it with care"))
        if se == 0 and self.queries < self.total_queries:
            text = "by gold all its queries are alike: the interval cannot show how far others differ"
            notes.append(Note("all-queries-alike", text))
        method = "gold only, whole queries" if gold_only else "difference, whole queries"
        return Estimate(
            value=value,
            se=se,
            low=value - half_width,
            high=value + half_width,
            level=level,
            n=self.queries,
            method=method,
            notes=tuple(notes),
        )

    def p_value(self, row: int, *, gold_only: bool = False) -> float | None:
        """Two-sided, for a value of 0; None where a value has no error."""
        values, variances = (self.gold, self.gold_variances) if gold_only else (self.values, self.variances)
        if variances[row] == 0:
            return 1.0 if values[row] == 0 else None
        ratio = abs(values[row]) / np.sqrt(variances[row])
        return max(2 * float(t_tail(ratio, self.df)), 5e-324)


def correct_by_query(
    bronze: FloatArray, gold: FloatArray, gold_index: IntArray, *, population: Population
) -> QueryMeans:
    """The mean over queries by gold, from bronze values of all queries and gold values of some, drawn at random.

        θ = mean_S(g) + λ (mean(b) − mean_S(b)),   λ = clip(cov_S(g, b) / var_S(b), 0, 1) · n/(n + 5)

    A prediction-powered mean [Angelopoulos24] whose slope is held back: from few queries a slope is a guess, and one
    outside of 0 to 1 would cost more than the bronze values bring. Each row is a run, or a difference between two.
    `gold` has a column for each query of `gold_index`, n of all Q. For *these queries*

        V = (1 − n/Q) (n − 1)/n Σ_S (θ_{−q} − mean θ_{−q})²

    with θ_{−q} the same without query q, its slope fitted to the others: a run that fails most queries has a slope that
    rests on a few, and this sees it. V is no less than if the squares of residuals were (range of g)²/4(n + 1) on
    average. For *queries like these* the variance of g over Q comes to it. Student's t with n − 1. Holds for any judge;
    nearly unbiased.

    Examples:
        >>> bronze = np.array([[0.2, 0.4, 0.6, 0.8]])
        >>> means = correct_by_query(bronze, np.array([[0.1, 0.5]]), np.array([0, 2]), population="these")
        >>> means.values.round(6).tolist()
        [0.328571]
    """
    n, total_queries = len(gold_index), bronze.shape[1]
    paired_bronze, bronze_mean = bronze[:, gold_index], bronze.mean(axis=1)
    bronze_deviations = paired_bronze - paired_bronze.mean(axis=1, keepdims=True)
    gold_deviations = gold - gold.mean(axis=1, keepdims=True)
    squares, products = (bronze_deviations**2).sum(axis=1), (bronze_deviations * gold_deviations).sum(axis=1)
    offsets = bronze_mean - paired_bronze.mean(axis=1)
    values = gold.mean(axis=1) + held_back_slope(products, squares, n) * offsets
    unsampled = 1 - n / total_queries
    gold_variance = gold.var(axis=1, ddof=1) if n > 1 else np.zeros(len(bronze))
    variances = gold_variances = gold_variance * unsampled / n
    if n > 1:
        # Sums of squares and products without a query, and means without it.
        loo_slopes = held_back_slope(
            products[:, None] - n / (n - 1) * bronze_deviations * gold_deviations,
            squares[:, None] - n / (n - 1) * bronze_deviations**2,
            n - 1,
        )
        loo_values = loo_slopes * (offsets[:, None] + bronze_deviations / (n - 1)) - gold_deviations / (n - 1)
        loo_deviations = loo_values - loo_values.mean(axis=1, keepdims=True)
        variances = unsampled * (n - 1) / n * (loo_deviations**2).sum(axis=1)
    # Few queries that all fit are not certain: as for documents, no less than (range)²/4(n + 1) on average.
    variances = np.maximum(variances, unsampled / n * np.ptp(gold, axis=1) ** 2 / 4 / (n + 1))
    if population == "like-these":
        variances = variances + gold_variance / total_queries
        gold_variances = gold_variance / n
    return QueryMeans(
        values=values,
        variances=variances,
        gold=gold.mean(axis=1),
        gold_variances=gold_variances,
        queries=n,
        total_queries=total_queries,
    )


def held_back_slope(products: FloatArray, squares: FloatArray, queries: int) -> FloatArray:
    """The slope of gold on bronze values, between 0 and 1, and less of it where it rests on few queries."""
    slope = np.divide(products, squares, out=np.zeros_like(products), where=squares > MIN_SQUARES)
    held_back: FloatArray = np.clip(slope, 0.0, 1.0) * queries / (queries + SLOPE_PENALTY)
    return held_back
