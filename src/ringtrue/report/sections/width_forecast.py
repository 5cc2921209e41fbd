"""How short an interval further gold labels would make, by what is known so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np

from ringtrue.errors import InputError
from ringtrue.gold.correction import correct
from ringtrue.gold.correction.gold_sample import comparison_measures, resolve_design
from ringtrue.gold.correction.pool import is_linear
from ringtrue.gold.sampling import sample
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.run_order import order_runs, score_as_labelled
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile, t_quantile
from ringtrue.tables import Judgments

BUDGETS = (50, 100, 200, 400, 800)  # documents that gold could judge
QUERY_SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)  # of the queries that are left
FIRST_QUERY_COUNTS = (10, 20, 40, 80, 160, 320)  # whole queries, where gold begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """About how wide half of a run's interval will be, by how much more gold judges; `limit` is with all judged.

    `unit` is what gold judges: documents, or whole queries. `labels` is how much of it gold has judged so far, and
    `now` the half-width then, None where there is no gold yet. `low` and `high` are what the gold so far leaves open
    for each half-width, and `limits` for the limit; empty where there is no gold to tell. `rests_on` says what the
    forecast takes for granted.
    """

    run: str
    unit: Literal["document", "query"]
    labels: int
    now: float | None
    further: tuple[int, ...]
    half_widths: tuple[float, ...]
    limit: float
    continues: bool  # whether the gold that there is can be added to
    rests_on: str
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    limits: tuple[float, float] | None = None
    gold_only: bool = (
        False  # whether these are the widths of gold by itself, as if the labels that there are said nothing
    )


def forecast_half_widths(inputs: ReportInputs) -> Forecast:
    """For the best run, by the kind of gold that there is, or that the measure asks for.

    An interval for queries like these has two parts, V = V_queries + V_gold: how far queries differ, which no label
    changes, and what gold has not seen. Gold of single documents is forecast as `sample` does it. Of whole queries,
    V_gold = (1 − n/Q) R/n, with R as the gold queries show it.

    V_queries is known only as far as gold has seen the queries, and that makes the range of a forecast. Of single
    documents it is what is left of V without V_gold; were labels alike, both together would give it a variance of
    (4 V_queries V_gold + 4 V_gold²)/(Q − 1), and since they weigh unequally, 8 was chosen for the second 4 by
    simulation. Of whole queries, the variance is 2 V_queries² (1 − n/Q)/(n − 1). Rough: of 95% ranges in simulations,
    91% to 98% held what came with single documents, and 88% to 90% with 20 whole queries.
    """
    needs_whole_queries = not is_linear(inputs.measures[0])
    gold = inputs.gold if isinstance(inputs.gold, Judgments) else None
    design = None if gold is None else resolve_design(gold, inputs.correction_options.get("design"))
    if (
        gold is not None
        and inputs.correction_options.get("method") in (None, "difference")
        and not comparison_measures(gold)
    ):
        if design == "whole_queries":
            return _forecast_queries(inputs, gold)
        if design in ("pool_random", "pool_stratified") and "prob" in gold.frame.columns:
            return _forecast_documents(inputs, gold)
    return _forecast_first_queries(inputs) if needs_whole_queries else _forecast_first_documents(inputs)


def _forecast_documents(inputs: ReportInputs, gold: Judgments) -> Forecast:
    """Gold continues its draw."""
    run = order_runs(inputs)[0]
    now, parts = _split_variance(inputs, run)
    budgets = [budget for budget in BUDGETS if budget <= max(_document_count(inputs) - gold.frame.height, 0)]
    if not budgets:
        return _forecast_nothing_left(run, "document", gold.frame.height, now, inputs, parts.queries)
    gold_variances = [_expected_error(inputs, run, budget, gold) ** 2 for budget in budgets]
    low, widths, high = (
        _cap_at_current(now, [variance_parts.half_width(variance) for variance in gold_variances])
        for variance_parts in parts.range()
    )
    limits = _cap_at_current(now, [variance_parts.half_width(0.0) for variance_parts in parts.range()])
    return Forecast(
        run=run,
        unit="document",
        labels=gold.frame.height,
        now=_half_width(now),
        further=tuple(budgets),
        half_widths=widths,
        limit=limits[1],
        continues=True,
        rests_on="the labels that gold has given so far",
        low=low if parts.error else (),
        high=high if parts.error else (),
        limits=(limits[0], limits[2]) if parts.error else None,
    )


def _forecast_queries(inputs: ReportInputs, gold: Judgments) -> Forecast:
    run = order_runs(inputs)[0]
    total, judged = _query_count(inputs), gold.frame["query"].n_unique()
    now, parts = _split_variance(inputs, run, judged)
    unjudged = total - judged
    if unjudged < 1:
        return _forecast_nothing_left(run, "query", judged, now, inputs, parts.queries)
    residual = parts.gold * judged / (1 - judged / total)
    further = tuple(dict.fromkeys(max(1, round(unjudged * share)) for share in QUERY_SHARES))

    def width(parts: _VarianceParts, more: int) -> float:
        n = judged + more
        return parts.half_width((1 - n / total) * residual / n, df=n - 2)

    low, widths, high = (
        _cap_at_current(now, [width(variance_parts, more) for more in further]) for variance_parts in parts.range()
    )
    return Forecast(
        run=run,
        unit="query",
        labels=judged,
        now=_half_width(now),
        further=further,
        half_widths=widths,
        limit=widths[-1],
        continues=True,
        rests_on="the queries that gold has judged so far",
        low=low if parts.error else (),
        high=high if parts.error else (),
        limits=(low[-1], high[-1]) if parts.error else None,
    )


def _forecast_first_documents(inputs: ReportInputs) -> Forecast:
    """Gold begins, and bronze errs as judges usually do."""
    scores, measure = score_as_labelled(inputs)
    run = order_runs(inputs)[0]
    raw = scores.means(level=inputs.level)[run][measure]
    parts = _VarianceParts(queries=_variance(raw), gold=0.0, level=inputs.level, df=raw.n - 1)
    budgets = [budget for budget in BUDGETS if budget <= _document_count(inputs)] or [_document_count(inputs)]
    return Forecast(
        run=run,
        unit="document",
        labels=0,
        now=None,
        further=tuple(budgets),
        half_widths=tuple(parts.half_width(_expected_error(inputs, run, budget, None) ** 2) for budget in budgets),
        limit=parts.half_width(0.0),
        continues=False,
        rests_on="a judge who errs as judges usually do, and queries that differ by gold as much as by the labels that "
        "there are",
    )


def _forecast_first_queries(inputs: ReportInputs) -> Forecast:
    """Gold judges whole queries, and nothing is known of how bronze errs: so much would gold tell by itself."""
    scores, measure = score_as_labelled(inputs)
    run = order_runs(inputs)[0]
    raw = scores.means(level=inputs.level)[run][measure]
    total = _query_count(inputs)
    if not raw.se:
        raise InputError(f"{run} has one value for all queries: how much others would differ cannot be told")
    further = (*(count for count in FIRST_QUERY_COUNTS if count < total), total)
    spread = _variance(raw) * total

    def width(n: int) -> float:
        return float(t_quantile((1 + inputs.level) / 2, n - 1)) * sqrt(spread / n)

    return Forecast(
        run=run,
        unit="query",
        labels=0,
        now=None,
        further=further,
        half_widths=tuple(map(width, further)),
        limit=width(total),
        continues=False,
        gold_only=True,
        rests_on="queries that differ by gold as much as by the labels that there are",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _VarianceParts:
    """The two parts of a variance; `error` is the standard error of that of the queries."""

    queries: float
    gold: float
    level: float
    df: float
    error: float = 0.0

    def range(self) -> tuple[_VarianceParts, _VarianceParts, _VarianceParts]:
        """With as small, such, and as large a part of the queries as may be."""
        reach = normal_quantile((1 + self.level) / 2) * self.error
        return replace(self, queries=max(self.queries - reach, 0.0)), self, replace(self, queries=self.queries + reach)

    def half_width(self, gold: float, df: float | None = None) -> float:
        """With another part for gold."""
        df = self.df if df is None else max(df, 1)
        quantile = t_quantile((1 + self.level) / 2, df) if np.isfinite(df) else normal_quantile((1 + self.level) / 2)
        return float(quantile) * sqrt(self.queries + gold)


def _split_variance(
    inputs: ReportInputs, run: str, judged_queries: int | None = None
) -> tuple[Estimate, _VarianceParts]:
    """What the interval of a run is made of: that for these queries alone has no part of how far queries differ.

    `judged_queries` says how many whole queries gold has judged, where it judges whole ones.
    """
    assert inputs.correction is not None
    current = inputs.correction.corrected[run][inputs.measure]
    if current.se is None:
        raise InputError(f"{run} has no interval, and so none can be forecast: {'; '.join(current.notes)}")
    if inputs.correction.population == "these":
        return current, _VarianceParts(queries=0.0, gold=_variance(current), level=inputs.level, df=np.inf)
    settings = {**inputs.correction_options, "population": "these"}
    for_these_queries = correct(
        inputs.runs,
        inputs.judgments,
        inputs.gold,
        inputs.measures[0],
        level=inputs.level,
        rng=inputs.rng("forecast"),
        **settings,
    ).corrected[run][inputs.measure]
    gold = min(_variance(for_these_queries), _variance(current))
    queries, total = _variance(current) - gold, _query_count(inputs)
    if judged_queries is None:
        error = sqrt((4 * queries * gold + 8 * gold**2) / max(total - 1, 1))
    else:
        error = queries * sqrt(2 * (1 - judged_queries / total) / max(judged_queries - 1, 1))
    return current, _VarianceParts(queries=queries, gold=gold, level=inputs.level, df=total - 1, error=error)


def _expected_error(inputs: ReportInputs, run: str, budget: int, already: Judgments | None) -> float:
    """The standard error for these queries that a draw of so many documents may hope for."""
    sampled = sample(
        inputs.runs,
        inputs.judgments,
        inputs.measures[0],
        budget=budget,
        already=already,
        level=inputs.level,
        rng=inputs.rng("forecast"),
    )
    return sampled.expected[run][inputs.measure] / normal_quantile((1 + inputs.level) / 2)


def _forecast_nothing_left(
    run: str, unit: Literal["document", "query"], labels: int, now: Estimate, inputs: ReportInputs, queries: float
) -> Forecast:
    limit = _VarianceParts(queries=queries, gold=0.0, level=inputs.level, df=_query_count(inputs) - 1).half_width(0.0)
    return Forecast(
        run=run,
        unit=unit,
        labels=labels,
        now=_half_width(now),
        further=(),
        half_widths=(),
        limit=limit,
        continues=False,
        rests_on="",
    )


def _variance(estimate: Estimate) -> float:
    return (estimate.se or 0.0) ** 2


def _cap_at_current(current: Estimate, widths: list[float]) -> tuple[float, ...]:
    """Further labels make no interval longer, but for chance."""
    current_half_width = _half_width(current)
    return tuple(widths) if current_half_width is None else tuple(min(width, current_half_width) for width in widths)


def _half_width(estimate: Estimate) -> float | None:
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def _query_count(inputs: ReportInputs) -> int:
    assert inputs.judgments is not None
    return inputs.judgments.frame["query"].n_unique()


def _document_count(inputs: ReportInputs) -> int:
    """How many documents gold could judge: what the runs show, as deep as the measure looks."""
    from ringtrue.evaluation.pooling import pool

    assert inputs.judgments is not None
    depth = inputs.measures[0].reach or max(int(run.groups.sizes.max()) for run in inputs.runs)
    return pool(inputs.runs, depth=depth).join(inputs.judgments.frame, on="query", how="semi").height
