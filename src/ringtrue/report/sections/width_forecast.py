"""How short an interval further gold labels would make, by what is known so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np

from ringtrue.errors import InputError
from ringtrue.evaluation.inputs import pool
from ringtrue.gold.correction.gold_sample import comparison_measures, resolve_design
from ringtrue.gold.correction.pool import is_linear
from ringtrue.gold.designs import Population
from ringtrue.gold.sampling import sample
from ringtrue.report.inputs import ReportInputs, order_runs, score_as_labelled
from ringtrue.report.sections.number_phrases import join_reasons
from ringtrue.stats.intervals import normal_quantile, t_quantile
from ringtrue.stats.results import Estimate
from ringtrue.tables import Judgments

Unit: TypeAlias = Literal["document", "query"]  # what gold judges: documents, or whole queries
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
    unit: Unit
    labels: int = 0
    now: float | None = None
    further: tuple[int, ...] = ()
    half_widths: tuple[float, ...] = ()
    limit: float
    continues: bool = False  # whether the gold that there is can be added to
    rests_on: str = ""
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    limits: tuple[float, float] | None = None
    gold_only: bool = False  # whether these are the widths of gold by itself, as if the other labels said nothing


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
    gold, options = inputs.gold, inputs.correction_options
    if isinstance(gold, Judgments):
        design = resolve_design(gold, options.get("design"))
        if options.get("method") in (None, "difference") and not comparison_measures(gold):
            if design == "whole_queries":
                return _forecast_queries(inputs, gold)
            if design in ("pool_random", "pool_stratified") and "prob" in gold.frame.columns:
                return _forecast_documents(inputs, gold)
    return _forecast_first_documents(inputs) if is_linear(inputs.measures[0]) else _forecast_first_queries(inputs)


def _forecast_documents(inputs: ReportInputs, gold: Judgments) -> Forecast:
    """Gold continues its draw."""
    run, labels = order_runs(inputs)[0], gold.frame.height
    now, parts = _split_variance(inputs, run)
    budgets = [budget for budget in BUDGETS if budget <= max(_document_count(inputs) - labels, 0)]
    so_far = Forecast(run=run, unit="document", labels=labels, now=_half_width(now), limit=_limit(parts, inputs))
    if not budgets:
        return so_far
    gold_variances = [_expected_error(inputs, run, budget, gold) ** 2 for budget in budgets]
    widths = [[part.half_width(variance) for variance in (*gold_variances, 0.0)] for part in parts.range()]
    rests_on = "the labels that gold has given so far"
    return _continue(replace(so_far, further=tuple(budgets), rests_on=rests_on), widths, known=not parts.error)


def _forecast_queries(inputs: ReportInputs, gold: Judgments) -> Forecast:
    """Gold judges further queries."""
    run, judged = order_runs(inputs)[0], gold.frame["query"].n_unique()
    total = _query_count(inputs)
    now, parts = _split_variance(inputs, run, judged)
    unjudged = total - judged
    so_far = Forecast(run=run, unit="query", labels=judged, now=_half_width(now), limit=_limit(parts, inputs))
    if unjudged < 1:
        return so_far
    residual = parts.gold * judged / (1 - judged / total)
    further = tuple(dict.fromkeys(max(1, round(unjudged * share)) for share in QUERY_SHARES))
    counts = [judged + more for more in further]
    widths = [
        [part.half_width((1 - n / total) * residual / n, df=n - 2) for n in (*counts, total)] for part in parts.range()
    ]
    rests_on = "the queries that gold has judged so far"
    return _continue(replace(so_far, further=further, rests_on=rests_on), widths, known=not parts.error)


def _continue(forecast: Forecast, widths: list[list[float]], *, known: bool) -> Forecast:
    """With the half-widths at their lowest, likely and highest, that of the limit last; one range is `known` exactly.

    Further labels make no interval longer, but for chance.
    """
    cap = float("inf") if forecast.now is None else forecast.now
    (*low, lowest), (*half_widths, limit), (*high, highest) = ([min(width, cap) for width in row] for row in widths)
    forecast = replace(forecast, half_widths=tuple(half_widths), limit=limit, continues=True)
    if known:
        return forecast
    return replace(forecast, low=tuple(low), high=tuple(high), limits=(lowest, highest))


def _limit(parts: _VarianceParts, inputs: ReportInputs) -> float:
    """The half-width that is left when gold has judged all."""
    return replace(parts, df=_query_count(inputs) - 1).half_width(0.0)


def _forecast_first_documents(inputs: ReportInputs) -> Forecast:
    """Gold begins, and bronze errs as judges usually do."""
    run, total = order_runs(inputs)[0], _document_count(inputs)
    budgets = [budget for budget in BUDGETS if budget <= total] or [total]
    *half_widths, limit = (
        _expected_half_width(inputs, run, budget, None, population="like-these") for budget in (*budgets, total)
    )
    return Forecast(
        run=run,
        unit="document",
        further=tuple(budgets),
        half_widths=tuple(half_widths),
        limit=limit,
        rests_on="a judge who errs as judges usually do, and queries that differ by gold as much as by the labels that "
        "there are",
    )


def _forecast_first_queries(inputs: ReportInputs) -> Forecast:
    """Gold judges whole queries, and nothing is known of how bronze errs: so much would gold tell by itself."""
    run, raw = _best_run_as_labelled(inputs)
    if not raw.se:
        text = "has one value for all queries, so that how much others would differ is unknown"
        raise InputError("all-queries-alike", text, subject=run)
    total = _query_count(inputs)
    further = (*(count for count in FIRST_QUERY_COUNTS if count < total), total)
    spread = _variance(raw) * total
    widths = [float(t_quantile((1 + inputs.level) / 2, n - 1)) * sqrt(spread / n) for n in further]
    return Forecast(
        run=run,
        unit="query",
        further=further,
        half_widths=tuple(widths),
        limit=widths[-1],
        gold_only=True,
        rests_on="queries that differ by gold as much as by the labels that there are",
    )


def _best_run_as_labelled(inputs: ReportInputs) -> tuple[str, Estimate]:
    """The best run, and its value by the labels as they are."""
    scores, measure = score_as_labelled(inputs)
    run = order_runs(inputs)[0]
    return run, scores.means(level=inputs.level)[run][measure]


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
        raise InputError(
            "no-forecast", f"no interval, and so none can be forecast: {join_reasons(current.notes)}", subject=run
        )
    if inputs.correction.population == "these":
        return current, _VarianceParts(queries=0.0, gold=_variance(current), level=inputs.level, df=np.inf)
    corrected = inputs.correct_runs("forecast", inputs.measures[:1], population="these").corrected
    for_these_queries = corrected[run][inputs.measure]
    gold = min(_variance(for_these_queries), _variance(current))
    queries, total = _variance(current) - gold, _query_count(inputs)
    if judged_queries is None:
        error = sqrt((4 * queries * gold + 8 * gold**2) / max(total - 1, 1))
    else:
        error = queries * sqrt(2 * (1 - judged_queries / total) / max(judged_queries - 1, 1))
    return current, _VarianceParts(queries=queries, gold=gold, level=inputs.level, df=total - 1, error=error)


def _expected_error(inputs: ReportInputs, run: str, budget: int, already: Judgments) -> float:
    """The standard error for these queries that a draw of so many documents may hope for."""
    half_width = _expected_half_width(inputs, run, budget, already, population="these")
    return half_width / normal_quantile((1 + inputs.level) / 2)


def _expected_half_width(
    inputs: ReportInputs, run: str, budget: int, already: Judgments | None, *, population: Population
) -> float:
    sampled = sample(
        inputs.runs,
        inputs.judgments,
        inputs.measures[0],
        budget=budget,
        already=already,
        sampling_frame=None if already is None else inputs.correction_options.get("sampling_frame"),
        population=population,
        level=inputs.level,
        rng=inputs.rng("forecast"),
    )
    if run not in sampled.expected:
        raise InputError("no-forecast", f"no interval can be forecast: {join_reasons(sampled.notes)}", subject=run)
    return sampled.expected[run][inputs.measure]


def _variance(estimate: Estimate) -> float:
    return (estimate.se or 0.0) ** 2


def _half_width(estimate: Estimate) -> float | None:
    return None if estimate.low is None or estimate.high is None else (estimate.high - estimate.low) / 2


def _query_count(inputs: ReportInputs) -> int:
    assert inputs.judgments is not None
    return inputs.judgments.frame["query"].n_unique()


def _document_count(inputs: ReportInputs) -> int:
    """How many documents gold could judge: what the runs show, as deep as the measure looks."""
    assert inputs.judgments is not None
    depth = inputs.measures[0].reach or max(int(run.groups.sizes.max()) for run in inputs.runs)
    return pool(inputs.runs, depth=depth).join(inputs.judgments.frame, on="query", how="semi").height
