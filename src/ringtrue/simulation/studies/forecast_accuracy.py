"""Do the forecasts of `sample` hold? What `correct` gives on real judges against what was to be expected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ringtrue.evaluation.measures import Measure, parse
from ringtrue.gold.designs import Population
from ringtrue.gold.sampling.forecast import ExpectedSample, forecast_documents
from ringtrue.simulation.studies.real_judges import RealJudgeStudy, build_world

POPULATIONS: tuple[Population, ...] = ("these", "like-these")
DRAW_SHARE = 10  # one draw of so many: how wide intervals are is known sooner than how often they hold


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastAccuracy:
    """Half-widths from so many gold labels, on average over draws and runs, and those that were forecast.

    `ratio` is achieved/forecast: above 1, intervals are wider than was promised.
    """

    judge: str
    measure: str
    labels: int
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
                ExpectedSample.of(world.prob, None, 0.0),
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
