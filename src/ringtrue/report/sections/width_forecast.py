"""How short an interval further gold labels would make, by what is known so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal

import numpy as np

from ringtrue.errors import InputError
from ringtrue.gold.correction import correct
from ringtrue.gold.correction.gold_sample import design_of, drawn_to_compare
from ringtrue.gold.correction.linear_measures import is_linear
from ringtrue.gold.sampling import sample
from ringtrue.report.inputs import Material
from ringtrue.report.run_order import as_labelled, order
from ringtrue.stats.results import Estimate
from ringtrue.stats.student_t import normal_quantile, t_quantile
from ringtrue.tables import Judgments

__all__ = ["Forecast", "forecast"]

BUDGETS = (50, 100, 200, 400, 800)  # documents that gold could judge
SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)  # of the queries that are left
FIRST = (10, 20, 40, 80, 160, 320)  # whole queries, where gold begins


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
    alone: bool = False  # whether these are the widths of gold by itself, as if the labels that there are said nothing


def forecast(material: Material) -> Forecast:
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
    whole = not is_linear(material.measures[0])
    gold = material.gold if isinstance(material.gold, Judgments) else None
    design = None if gold is None else design_of(gold, material.correcting.get("design"))
    if gold is not None and material.correcting.get("method") in (None, "difference") and not drawn_to_compare(gold):
        if design == "whole_queries":
            return _by_queries(material, gold)
        if design in ("pool_random", "pool_stratified") and "prob" in gold.frame.columns:
            return _by_documents(material, gold)
    return _whole_from_nothing(material) if whole else _documents_from_nothing(material)


def _by_documents(material: Material, gold: Judgments) -> Forecast:
    """Gold continues its draw."""
    run = order(material)[0]
    now, part = _parts(material, run)
    budgets = [budget for budget in BUDGETS if budget <= max(_documents(material) - gold.frame.height, 0)]
    if not budgets:
        return _nothing_left(run, "document", gold.frame.height, now, material, part.queries)
    left = [_expected(material, run, budget, gold) ** 2 for budget in budgets]
    low, widths, high = (_no_longer(now, [one.half_width(gold) for gold in left]) for one in part.range())
    limits = _no_longer(now, [one.half_width(0.0) for one in part.range()])
    return Forecast(
        run=run, unit="document", labels=gold.frame.height, now=_half(now), further=tuple(budgets),
        half_widths=widths, limit=limits[1], continues=True, rests_on="the labels that gold has given so far",
        low=low if part.error else (), high=high if part.error else (),
        limits=(limits[0], limits[2]) if part.error else None,
    )  # fmt: skip


def _by_queries(material: Material, gold: Judgments) -> Forecast:
    run = order(material)[0]
    total, judged = _queries(material), gold.frame["query"].n_unique()
    now, part = _parts(material, run, judged)
    left = total - judged
    if left < 1:
        return _nothing_left(run, "query", judged, now, material, part.queries)
    residual = part.gold * judged / (1 - judged / total)
    further = tuple(dict.fromkeys(max(1, round(left * share)) for share in SHARES))

    def width(part: _Parts, more: int) -> float:
        n = judged + more
        return part.half_width((1 - n / total) * residual / n, freedom=n - 2)

    low, widths, high = (_no_longer(now, [width(one, more) for more in further]) for one in part.range())
    return Forecast(
        run=run, unit="query", labels=judged, now=_half(now), further=further, half_widths=widths, limit=widths[-1],
        continues=True, rests_on="the queries that gold has judged so far",
        low=low if part.error else (), high=high if part.error else (),
        limits=(low[-1], high[-1]) if part.error else None,
    )  # fmt: skip


def _documents_from_nothing(material: Material) -> Forecast:
    """Gold begins, and bronze errs as judges usually do."""
    scores, measure = as_labelled(material)
    run = order(material)[0]
    raw = scores.means(level=material.level)[run][measure]
    part = _Parts(queries=_variance(raw), gold=0.0, level=material.level, freedom=raw.n - 1)
    budgets = [budget for budget in BUDGETS if budget <= _documents(material)] or [_documents(material)]
    return Forecast(
        run=run, unit="document", labels=0, now=None, further=tuple(budgets),
        half_widths=tuple(part.half_width(_expected(material, run, budget, None) ** 2) for budget in budgets),
        limit=part.half_width(0.0), continues=False,
        rests_on="a judge who errs as judges usually do, and queries that differ by gold as much as by the labels that "
        "there are",
    )  # fmt: skip


def _whole_from_nothing(material: Material) -> Forecast:
    """Gold judges whole queries, and nothing is known of how bronze errs: so much would gold tell by itself."""
    scores, measure = as_labelled(material)
    run = order(material)[0]
    raw = scores.means(level=material.level)[run][measure]
    total = _queries(material)
    if not raw.se:
        raise InputError(f"{run} has one value for all queries: how much others would differ cannot be told")
    further = (*(count for count in FIRST if count < total), total)
    spread = _variance(raw) * total

    def width(n: int) -> float:
        return float(t_quantile((1 + material.level) / 2, n - 1)) * sqrt(spread / n)

    return Forecast(
        run=run, unit="query", labels=0, now=None, further=further, half_widths=tuple(map(width, further)),
        limit=width(total), continues=False, alone=True,
        rests_on="queries that differ by gold as much as by the labels that there are",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The two parts of a variance; `error` is the standard error of that of the queries."""

    queries: float
    gold: float
    level: float
    freedom: float
    error: float = 0.0

    def range(self) -> tuple[_Parts, _Parts, _Parts]:
        """With as small, such, and as large a part of the queries as may be."""
        reach = normal_quantile((1 + self.level) / 2) * self.error
        return replace(self, queries=max(self.queries - reach, 0.0)), self, replace(self, queries=self.queries + reach)

    def half_width(self, gold: float, freedom: float | None = None) -> float:
        """With another part for gold."""
        df = self.freedom if freedom is None else max(freedom, 1)
        quantile = t_quantile((1 + self.level) / 2, df) if np.isfinite(df) else normal_quantile((1 + self.level) / 2)
        return float(quantile) * sqrt(self.queries + gold)


def _parts(material: Material, run: str, judged: int | None = None) -> tuple[Estimate, _Parts]:
    """What the interval of a run is made of: that for these queries alone has no part of how far queries differ.

    `judged` says how many whole queries gold has judged, where it judges whole ones.
    """
    assert material.correction is not None
    now = material.correction.corrected[run][material.measure]
    if now.se is None:
        raise InputError(f"{run} has no interval, and so none can be forecast: {'; '.join(now.notes)}")
    if material.correction.population == "these":
        return now, _Parts(queries=0.0, gold=_variance(now), level=material.level, freedom=np.inf)
    how = {**material.correcting, "population": "these"}
    these = correct(material.runs, material.judgments, material.gold, material.measures[0], level=material.level,
                    rng=material.rng("forecast"), **how).corrected[run][material.measure]  # fmt: skip
    gold = min(_variance(these), _variance(now))
    queries, total = _variance(now) - gold, _queries(material)
    if judged is None:
        error = sqrt((4 * queries * gold + 8 * gold**2) / max(total - 1, 1))
    else:
        error = queries * sqrt(2 * (1 - judged / total) / max(judged - 1, 1))
    return now, _Parts(queries=queries, gold=gold, level=material.level, freedom=total - 1, error=error)


def _expected(material: Material, run: str, budget: int, already: Judgments | None) -> float:
    """The standard error for these queries that a draw of so many documents may hope for."""
    drawn = sample(material.runs, material.judgments, material.measures[0], budget=budget, already=already,
                   level=material.level, rng=material.rng("forecast"))  # fmt: skip
    return drawn.expected[run][material.measure] / normal_quantile((1 + material.level) / 2)


def _nothing_left(
    run: str, unit: Literal["document", "query"], labels: int, now: Estimate, material: Material, queries: float
) -> Forecast:
    limit = _Parts(queries=queries, gold=0.0, level=material.level, freedom=_queries(material) - 1).half_width(0.0)
    return Forecast(run=run, unit=unit, labels=labels, now=_half(now), further=(), half_widths=(), limit=limit,
                    continues=False, rests_on="")  # fmt: skip


def _variance(one: Estimate) -> float:
    return (one.se or 0.0) ** 2


def _no_longer(now: Estimate, widths: list[float]) -> tuple[float, ...]:
    """Further labels make no interval longer, but for chance."""
    half = _half(now)
    return tuple(widths) if half is None else tuple(min(width, half) for width in widths)


def _half(one: Estimate) -> float | None:
    return None if one.low is None or one.high is None else (one.high - one.low) / 2


def _queries(material: Material) -> int:
    assert material.judgments is not None
    return material.judgments.frame["query"].n_unique()


def _documents(material: Material) -> int:
    """How many documents gold could judge: what the runs show, as deep as the measure looks."""
    from ringtrue.evaluation.pooling import pool

    assert material.judgments is not None
    depth = material.measures[0].reach or max(int(run.groups.sizes.max()) for run in material.runs)
    return pool(material.runs, depth=depth).join(material.judgments.frame, on="query", how="semi").height
