"""How short an interval further gold labels would make, by what is known so far."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from ringtrue.correction import correct
from ringtrue.correction.designs import design_of, drawn_to_compare
from ringtrue.correction.linear import is_linear
from ringtrue.errors import InputError
from ringtrue.reporting.material import Material
from ringtrue.reporting.standing import as_labelled, order
from ringtrue.results import Estimate
from ringtrue.sampling import sample
from ringtrue.student import normal_quantile, t_quantile
from ringtrue.tables import Judgments

__all__ = ["Forecast", "forecast"]

BUDGETS = (50, 100, 200, 400, 800)  # documents that gold could judge
SHARES = (0.125, 0.25, 0.5, 0.75, 1.0)  # of the queries that are left
FIRST = (10, 20, 40, 80, 160, 320)  # whole queries, where gold begins


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The half-width of a run's interval by how much more gold judges; `limit` is what no number of labels can beat.

    `unit` is what gold judges: documents, or whole queries. `labels` is how much of it gold has judged so far, and
    `now` the half-width then, None where there is no gold yet. `rests_on` says what the forecast takes for granted.
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
    worst: bool = False  # whether these are the widths if the labels that there are said nothing


def forecast(material: Material) -> Forecast:
    """For the best run, by the kind of gold that there is, or that the measure asks for.

    An interval for queries like these has two parts, V = V_queries + V_gold: how far queries differ, which no label
    changes, and what gold has not seen. Gold of single documents is forecast as `sample` does it. Of whole queries,
    V_gold = (1 − n/Q) R/n, with R as the gold queries show it.
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
    widths = [part.half_width(_expected(material, run, budget, gold) ** 2) for budget in budgets]
    return Forecast(
        run=run, unit="document", labels=gold.frame.height, now=_half(now), further=tuple(budgets),
        half_widths=tuple(widths), limit=part.half_width(0.0), continues=True,
        rests_on="the labels that gold has given so far",
    )  # fmt: skip


def _by_queries(material: Material, gold: Judgments) -> Forecast:
    run = order(material)[0]
    now, part = _parts(material, run)
    total, judged = _queries(material), gold.frame["query"].n_unique()
    left = total - judged
    if left < 1:
        return _nothing_left(run, "query", judged, now, material, part.queries)
    residual = part.gold * judged / (1 - judged / total)
    further = tuple(dict.fromkeys(max(1, round(left * share)) for share in SHARES))

    def width(more: int) -> float:
        n = judged + more
        return part.half_width((1 - n / total) * residual / n, freedom=n - 2)

    return Forecast(
        run=run, unit="query", labels=judged, now=_half(now), further=further, half_widths=tuple(map(width, further)),
        limit=width(left), continues=True, rests_on="the queries that gold has judged so far",
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
        limit=part.half_width(0.0), continues=False, rests_on="a judge who errs as judges usually do",
    )  # fmt: skip


def _whole_from_nothing(material: Material) -> Forecast:
    """Gold judges whole queries, and nothing is known of how bronze errs: gold alone is the worst that can be."""
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
        limit=width(total), continues=False, worst=True,
        rests_on="queries that differ by gold as much as by the labels that there are",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """The two parts of a variance."""

    queries: float
    gold: float
    level: float
    freedom: float

    def half_width(self, gold: float, freedom: float | None = None) -> float:
        """With another part for gold."""
        df = self.freedom if freedom is None else max(freedom, 1)
        quantile = t_quantile((1 + self.level) / 2, df) if np.isfinite(df) else normal_quantile((1 + self.level) / 2)
        return float(quantile) * sqrt(self.queries + gold)


def _parts(material: Material, run: str) -> tuple[Estimate, _Parts]:
    """What the interval of a run is made of: that for these queries alone has no part of how far queries differ."""
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
    return now, _Parts(queries=_variance(now) - gold, gold=gold, level=material.level, freedom=_queries(material) - 1)


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


def _half(one: Estimate) -> float | None:
    return None if one.low is None or one.high is None else (one.high - one.low) / 2


def _queries(material: Material) -> int:
    assert material.judgments is not None
    return material.judgments.frame["query"].n_unique()


def _documents(material: Material) -> int:
    """How many documents gold could judge: what the runs show, as deep as the measure looks."""
    from ringtrue.pooling import pool

    assert material.judgments is not None
    depth = material.measures[0].reach or max(int(run.groups.sizes.max()) for run in material.runs)
    return pool(material.runs, depth=depth).join(material.judgments.frame, on="query", how="semi").height
