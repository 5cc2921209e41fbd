"""Correction query by query, for measures that look at all of a query at once: nDCG, AP, RR, ERR."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ringtrue.evaluation.measures import FloatArray, IntArray
from ringtrue.gold.correction.joint_estimate import Population
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import t_quantile, t_tail

MIN_QUERIES = 20  # queries: below, intervals cover less than they say
MAX_LEVERAGE = 0.95  # of 1: the line goes through a query that nothing else supports
ROUNDING = 1e-24  # of squares
MIN_QUERIES_FOR_SLOPE = 10  # queries: below, the slope would be a guess, and 1 is taken


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QueryMeans:
    """A corrected mean for each row, its variance, degrees of freedom, and the gold mean alone with its variance."""

    values: FloatArray
    variances: FloatArray
    df: int
    gold: FloatArray
    gold_variances: FloatArray
    queries: int

    def estimate(self, row: int, *, level: float, gold_only: bool = False) -> Estimate:
        """The mean of one row with its interval; `n` counts the queries that gold judged."""
        values, variances = (self.gold, self.gold_variances) if gold_only else (self.values, self.variances)
        df = self.queries - 1 if gold_only else self.df
        value, se = float(values[row]), float(np.sqrt(variances[row]))
        half_width = t_quantile((1 + level) / 2, df) * se
        notes = () if self.queries >= MIN_QUERIES else (f"only {self.queries} queries with gold: trust it with care",)
        method = "gold only, whole queries" if gold_only else "difference, whole queries"
        return Estimate(
            value=value,
            se=se,
            low=value - half_width,
            high=value + half_width,
            level=level,
            n=self.queries,
            method=method,
            notes=notes,
        )

    def p_value(self, row: int, *, gold_only: bool = False) -> float | None:
        """Two-sided, for a value of 0; None where a value has no error."""
        values, variances = (self.gold, self.gold_variances) if gold_only else (self.values, self.variances)
        if variances[row] == 0:
            return 1.0 if values[row] == 0 else None
        ratio = abs(values[row]) / np.sqrt(variances[row])
        return max(2 * float(t_tail(ratio, self.queries - 1 if gold_only else self.df)), 5e-324)


def correct_by_query(
    bronze: FloatArray, gold: FloatArray, gold_index: IntArray, *, population: Population
) -> QueryMeans:
    """The mean over queries by gold, from bronze values of all queries and gold values of some, drawn at random.

        θ = λ·mean(b) + mean_S(g − λb),   λ = cov_S(g, b) / var_S(b)    [Angelopoulos24]

    Each row is a run, or a difference between two. `gold` has a column for each query of `gold_index`, n of all Q. The
    estimate is Σ_S w_q g_q and a part that gold does not change, and V = (1 − n/Q) Σ_S (w_q r_q)² for *these queries*,
    with r_q the residual of query q from a line fitted to the others: a run that fails most queries has a slope that
    rests on a few, and this sees it. V is no less than if the r_q² were (range of g)²/4(n + 1) on average. For *queries
    like these* the variance of g over Q comes to it. Student's t with n − 2. Holds for any judge; nearly unbiased, and
    so from 20 queries on.

    Examples:
        >>> bronze = np.array([[0.2, 0.4, 0.6, 0.8]])
        >>> means = correct_by_query(bronze, np.array([[0.1, 0.5]]), np.array([0, 2]), population="these")
        >>> means.values.round(6).tolist()
        [0.4]
    """
    n, total_queries = len(gold_index), bronze.shape[1]
    paired_bronze = bronze[:, gold_index]
    deviations = paired_bronze - paired_bronze.mean(axis=1, keepdims=True)
    squares = (deviations**2).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        leverage = np.nan_to_num(deviations**2 / squares[:, None], nan=1.0, posinf=1.0)
        # A slope that rests on a single query, or on what rounding leaves of equal values, says nothing.
        usable = (1 / n + leverage.max(axis=1) < MAX_LEVERAGE) & (squares > ROUNDING * (paired_bronze**2).sum(axis=1))
        slope = np.where(usable, (deviations * gold).sum(axis=1) / squares, 0.0)
        slope_weight = deviations * ((bronze.mean(axis=1) - paired_bronze.mean(axis=1)) / squares)[:, None]
    tuned = n >= MIN_QUERIES_FOR_SLOPE
    if not tuned:
        slope, usable = np.ones(len(bronze)), np.zeros(len(bronze), dtype=bool)
    residuals = gold - slope[:, None] * paired_bronze
    values = slope * bronze.mean(axis=1) + residuals.mean(axis=1)
    df = n - 2 if tuned else max(n - 1, 1)
    weight = 1 / n + np.where(usable[:, None], slope_weight, 0.0)
    own_leverage = 1 / n + np.where(usable[:, None], leverage, 0.0)
    unsampled = 1 - n / total_queries
    variances = unsampled * (
        (weight * (residuals - residuals.mean(axis=1, keepdims=True)) / (1 - own_leverage)) ** 2
    ).sum(axis=1)
    # Few queries that all fit are not certain: as for documents, no less than (range)²/4(n + 1) on average.
    variances = np.maximum(variances, unsampled / n * np.ptp(gold, axis=1) ** 2 / 4 / (n + 1))
    gold_variance = gold.var(axis=1, ddof=1) if n > 1 else np.zeros(len(bronze))
    gold_variances = gold_variance * unsampled / n
    if population == "like-these":
        variances = variances + gold_variance / total_queries
        gold_variances = gold_variance / n
    return QueryMeans(
        values=values,
        variances=variances,
        df=df,
        gold=gold.mean(axis=1),
        gold_variances=gold_variances,
        queries=n,
    )
