"""How wide the interval will be where gold judges whole queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import FloatArray, IntArray, Measure
from ringtrue.gold.correction.pool import Pool, build_pool, is_linear
from ringtrue.gold.correction.query_means import held_back_slope
from ringtrue.gold.correction.whole_queries import JudgedTops
from ringtrue.gold.designs import Population
from ringtrue.gold.sampling.forecast import Forecast, bronze_stretch, join_scales
from ringtrue.gold.sampling.weighted_measure import PRIOR_LABELS, possible_tops, weigh_measure
from ringtrue.messages import Note
from ringtrue.stats.intervals import t_quantile
from ringtrue.tables import Judgments, Run

MIN_VARIANCE = 1e-12  # of values over queries: below, it is rounding
MAX_NAMES = 3  # of runs that a note lists


def forecast_queries(
    runs: Sequence[Run],
    bronze: Judgments,
    measures: Iterable[Measure],
    queries: int,
    earlier: Judgments | None = None,
    *,
    depth: int,
    gold_top: int | None = None,
    population: Population,
    level: float,
) -> Forecast:
    """The half-widths that `correct` is expected to give from so many whole queries, those of `earlier` among them.

        V = (1 − n/Q) S/n,   for queries like these + G/Q

    with G the variance of a run's values over queries and S that of what bronze leaves of it. Nothing is known of how
    well bronze tells good queries from bad ones: S = G, which is gold alone, and G is the variance of the bronze
    values, which is rough: a judge who finds all queries alike makes it too small. From earlier gold queries both are
    learned, held back by what is assumed: S = G − 2λC + λ²B with their (co)variances C and B, and λ the slope of
    `correct_by_query`; not for runs whose documents gold has hardly judged. Student's t with n − 1.
    """
    pool = build_pool(runs, bronze, depth=depth)
    judged_tops = None if earlier is None else JudgedTops(runs=runs, gold_rows=earlier.frame)
    by_measure: dict[Measure, dict[int, dict[str, float]]] = {}
    judged_top = None if earlier is None else int(earlier.frame["label"].max())  # type: ignore[arg-type]
    for measure in measures:
        bronze_values, gold_values, gold_places = _values_by_query(runs, bronze, earlier, measure, pool)
        assumed = bronze_values.var(axis=1, ddof=1) if bronze_values.shape[1] > 1 else np.zeros(len(pool.runs))
        tops = possible_tops(measure, pool, gold_top=gold_top, judged_top=judged_top)
        # Sums grow with gold's gains; the other measures are shares of the best, whatever the labels.
        stretches = {
            top: bronze_stretch(weigh_measure(measure, pool, gold_top=top), pool)
            for top in (tops if is_linear(measure) else ())
        } or {max(tops): 1.0}
        by_measure[measure] = {}
        is_judged = np.zeros(len(runs), dtype=bool)
        if judged_tops is not None:
            is_judged[:] = [judged_tops.unjudged_reason(measure, [run]) is None for run in range(len(runs))]
        for top, stretch in stretches.items():
            scaled = assumed * stretch**2
            learned = _forecast_variance(bronze_values, gold_values, gold_places, scaled, queries, population)
            alone = _forecast_variance(bronze_values, gold_values[:, :0], gold_places[:0], scaled, queries, population)
            variance = np.where(is_judged, learned, alone)
            half_widths = t_quantile((1 + level) / 2, max(queries - 1, 1)) * np.sqrt(variance)
            by_measure[measure][top] = {
                run: half_width
                for run, half_width, differ in zip(pool.runs, half_widths.tolist(), assumed > MIN_VARIANCE, strict=True)
                if differ or judged_top is not None
            }
    forecast = join_scales(by_measure)
    return replace(forecast, notes=(*forecast.notes, *_missing_forecast_notes(pool.runs, by_measure)))


def _missing_forecast_notes(
    runs: Sequence[str], by_measure: Mapping[Measure, Mapping[int, Mapping[str, float]]]
) -> list[Note]:
    """For which runs nothing can be forecast, since bronze finds all queries alike."""
    notes = []
    for measure, by_top in by_measure.items():
        if missing := [run for run in runs if run not in next(iter(by_top.values()))]:
            names = ", ".join(missing[:MAX_NAMES]) + ("" if len(missing) <= MAX_NAMES else ", …")
            notes.append(
                Note(
                    "no-forecast",
                    f"by bronze, {measure} is the same for all queries of {names}: the width of the interval cannot be "
                    f"forecast",
                )
            )
    return notes


def _values_by_query(
    runs: Sequence[Run], bronze: Judgments, earlier: Judgments | None, measure: Measure, pool: Pool
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Bronze values of all queries, gold values of those that gold judged, and which these are."""
    bronze_top = max(1, *pool.levels)
    above_scale = "rel" in measure.definition.defaults and measure.rel > bronze_top
    by_bronze = evaluate(runs, bronze, measure.from_label(bronze_top) if above_scale else measure).cube()
    if earlier is None:
        return by_bronze.values[0], np.empty((len(runs), 0)), np.array([], dtype=np.int64)
    by_gold = evaluate(runs, earlier, measure).cube()
    place_of = {query: place for place, query in enumerate(by_bronze.queries)}
    shared = [query in place_of for query in by_gold.queries]
    places = [place_of[query] for query in by_gold.queries if query in place_of]
    return by_bronze.values[0], by_gold.values[0][:, shared], np.array(places, dtype=np.int64)


def _forecast_variance(
    bronze: FloatArray,
    gold: FloatArray,
    places: IntArray,
    assumed: FloatArray,
    queries: int,
    population: Population,
) -> FloatArray:
    """The variance of each run's mean, from bronze values (runs × queries) and the gold values of some `places`.

    `assumed` is the variance over queries that is taken for granted.
    """
    n, total = gold.shape[1], bronze.shape[1]
    gold_variance = left_over = assumed
    if n > 1:
        bronze_deviations, gold_deviations = (
            values - values.mean(axis=1, keepdims=True) for values in (bronze[:, places], gold)
        )
        bronze_squares, gold_squares = (bronze_deviations**2).sum(axis=1), (gold_deviations**2).sum(axis=1)
        products = (bronze_deviations * gold_deviations).sum(axis=1)
        slope = held_back_slope(products, bronze_squares, n)
        left_over, gold_variance = (
            (squares + PRIOR_LABELS * assumed) / (n - 1 + PRIOR_LABELS)
            for squares in (gold_squares - 2 * slope * products + slope**2 * bronze_squares, gold_squares)
        )
    variance: FloatArray = (1 - queries / total) * left_over / queries
    if population == "like-these":
        variance = variance + gold_variance / total
    return variance
