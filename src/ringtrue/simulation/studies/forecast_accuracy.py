"""Do the forecasts of `sample` hold? What `correct` gives on real judges against what was to be expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ringtrue.evaluation.measures import Measure, parse
from ringtrue.gold.correction.query_means import correct_by_query
from ringtrue.gold.designs import Population
from ringtrue.gold.sampling.forecast import ExpectedSample, forecast_documents
from ringtrue.gold.sampling.query_forecast import forecast_queries
from ringtrue.simulation.studies.real_judges import MAX_DEPTH, RealJudgeStudy, build_world
from ringtrue.stats.intervals import t_quantile

POPULATIONS: tuple[Population, ...] = ("these", "like-these")
DRAW_SHARE = 10  # one draw of so many: how wide intervals are is known sooner than how often they hold


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastAccuracy:
    """Half-widths from so much gold, on average over draws and runs, and those that were forecast.

    `labels` counts gold labels, or the queries that gold judged whole, where that is the `unit`.
    `ratio` is achieved/forecast: above 1, intervals are wider than was promised.
    """

    judge: str
    measure: str
    labels: int
    unit: Literal["document", "query"] = "document"
    population: Population
    draws: int
    runs: int
    forecast: float
    achieved: float

    @property
    def ratio(self) -> float | None:
        """How many times as wide intervals are; None where gold judges all, and none has a width."""
        return self.achieved / self.forecast if self.forecast > 0 else None


def compare_forecasts(
    study: RealJudgeStudy, measure: str | Measure, *, budgets: Sequence[int], rng: np.random.Generator
) -> list[ForecastAccuracy]:
    """Gold drawn as `sample` draws it, for each budget and population; gold's highest label is known.

    One draw for ten of the study.
    """
    measure = parse(measure)
    draws = max(1, study.draws // DRAW_SHARE)
    gold_top = max(measure.rel, int(study.collection.gold.frame["label"].max()))  # type: ignore[arg-type]
    accuracies = []
    for budget in budgets:
        world = build_world(study.collection, study.bronze, measure, budget=budget, compare=False)
        samples = [world.draw_sample(rng) for _ in range(draws)]
        for population in POPULATIONS:
            forecast = forecast_documents(
                world.pool,
                [measure],
                ExpectedSample.of(world.prob),
                gold_top=gold_top,
                population=population,
                level=study.level,
            )
            half_widths = [world.means(sample, level=study.level, population=population)[1] for sample in samples]
            accuracies.append(
                ForecastAccuracy(
                    judge=study.judge,
                    measure=str(measure),
                    labels=budget,
                    population=population,
                    draws=draws,
                    runs=len(world.pool.runs),
                    forecast=float(np.mean([row[str(measure)] for row in forecast.expected.values()])),
                    achieved=float(np.mean(half_widths)),
                )
            )
    return accuracies


def compare_query_forecasts(
    study: RealJudgeStudy, measure: str | Measure, *, queries: int, rng: np.random.Generator
) -> list[ForecastAccuracy]:
    """Whole queries drawn at random, for each population. One draw for ten of the study."""
    measure = parse(measure)
    draws = max(1, study.draws // DRAW_SHARE)
    bronze, gold = study.values_by_query(measure, more_than=queries)
    drawn = [rng.permutation(gold.shape[1])[:queries] for _ in range(draws)]
    accuracies = []
    for population in POPULATIONS:
        forecast = forecast_queries(
            study.collection.runs,
            study.bronze,
            [measure],
            queries,
            depth=measure.reach or MAX_DEPTH,
            population=population,
            level=study.level,
        )
        variances = [
            correct_by_query(bronze, gold[:, places], places, population=population).variances for places in drawn
        ]
        t = t_quantile((1 + study.level) / 2, max(queries - 1, 1))
        accuracies.append(
            ForecastAccuracy(
                judge=study.judge,
                measure=str(measure),
                labels=queries,
                unit="query",
                population=population,
                draws=draws,
                runs=len(bronze),
                forecast=float(np.mean([row[str(measure)] for row in forecast.expected.values()] or [0.0])),
                achieved=float(np.mean(t * np.sqrt(variances))),
            )
        )
    return accuracies
