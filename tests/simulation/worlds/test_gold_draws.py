"""Gold labels for experiments: the fast way to an answer is the usual one."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import ringtrue as rt
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.compare_corrected import compare_corrected
from ringtrue.gold.correction.correct import correct
from ringtrue.gold.correction.gain_regression import build_predictors
from ringtrue.gold.correction.pool import build_pool
from ringtrue.gold.sampling import sample
from ringtrue.simulation.worlds.gold_draws import DESIGN_OF, Draw, draw_gold, make_document_estimator
from ringtrue.simulation.worlds.judged_runs import JudgedRuns, simulate_judged_runs
from ringtrue.simulation.worlds.judged_world import JudgedWorld

MEASURES = ["P@10", "DCG@10"]
WANTED = [parse(name) for name in MEASURES]
EVERY_DRAW = pytest.mark.parametrize("draw", list(DESIGN_OF))


def experiment(seed: int = 7, **world: Any) -> JudgedRuns:
    return simulate_judged_runs(np.random.default_rng(seed), JudgedWorld(grades=3, **world), replications=1)


def gold_of(one: JudgedRuns, draw: Draw, labels: int, **more: Any) -> Any:
    return draw_gold(np.random.default_rng(1), one.pool(0), one.pool_gold(0), labels=labels, draw=draw,
                      measures=WANTED, **more)  # fmt: skip


def _signature(one: JudgedRuns) -> str:
    runs, bronze, _ = one.tables(0)
    return build_pool(runs, bronze, depth=10).signature


def as_table(one: JudgedRuns, gold: Any, draw: Draw) -> rt.Judgments:
    """The same gold labels as a person has them."""
    query, doc = np.divmod(gold.positions, one.pooled_docs)
    frame = pl.DataFrame({"query": query, "doc": doc}).cast(pl.String)
    frame = frame.with_columns(label=gold.labels, prob=gold.prob, design=pl.lit(DESIGN_OF[draw]))
    told = {"stratum": pl.col("query"), "drawn": pl.len(), "drawn_from": pl.lit(_signature(one))}
    return rt.Judgments.of(frame.with_columns(**told) if draw == "sample" else frame)


@EVERY_DRAW
@pytest.mark.parametrize("labels", [20, 150])
@pytest.mark.parametrize("population", ["these", "like-these"])
def test_estimates_and_differences_are_those_from_tables(draw: Draw, labels: int, population: Any) -> None:
    one = experiment()
    runs, bronze, _ = one.tables(0)
    gold = gold_of(one, draw, labels)
    pool = one.pool(0)
    way = make_document_estimator(pool, build_predictors(pool), gold, design=DESIGN_OF[draw], population=population)
    table = as_table(one, gold, draw)
    usual = correct(runs, bronze, table, MEASURES, population=population)
    compared = compare_corrected(runs, bronze, table, MEASURES, population=population)
    for name, measure, comparison in zip(MEASURES, WANTED, compared, strict=True):
        for system, found in zip(one.names, way.estimates(measure), strict=True):
            expected = usual.corrected[system][name]
            for part in ("value", "se", "low", "high"):
                assert getattr(found, part) == pytest.approx(getattr(expected, part), abs=1e-12)
            assert found.method == expected.method
        (difference,) = way.differences(measure, np.array([[0, 1]]))
        assert difference.difference.value == pytest.approx(comparison.difference.value, abs=1e-12)
        assert difference.p_value == pytest.approx(comparison.p_value, abs=1e-9)


@EVERY_DRAW
def test_a_draw_has_as_many_labels_as_asked_for_and_they_are_the_true_ones(draw: Draw) -> None:
    one = experiment()
    gold = gold_of(one, draw, 60)
    assert len(gold) == 60 == len(set(gold.positions.tolist()))
    np.testing.assert_array_equal(gold.labels, one.pool_gold(0)[gold.positions])
    assert gold.balanced is (draw == "sample")


@pytest.mark.parametrize("compare", [False, True])
def test_probabilities_are_those_that_sample_gives(compare: bool) -> None:
    one = experiment(queries=20)
    runs, bronze, _ = one.tables(0)
    frame = sample(runs, bronze, MEASURES, budget=150, compare=compare).frame
    usual = {(query, doc): prob for query, doc, prob in frame.select("query", "doc", "prob").rows()}
    gold = gold_of(one, "sample", 150, compare=compare)
    query, doc = np.divmod(gold.positions, one.pooled_docs)
    mine = {(str(q), str(d)): prob for q, d, prob in zip(query, doc, gold.prob, strict=True)}
    both = usual.keys() & mine.keys()
    assert len(both) > 50
    assert [mine[pair] for pair in both] == pytest.approx([usual[pair] for pair in both])


def test_over_many_draws_every_document_comes_as_often_as_its_probability_says() -> None:
    one = experiment(queries=4)
    rng, count, sums = np.random.default_rng(3), np.zeros(60), np.zeros(60)
    for _ in range(2_000):
        gold = draw_gold(rng, one.pool(0), one.pool_gold(0), labels=20, draw="sample", measures=WANTED)
        count[gold.positions] += 1
        sums[gold.positions] = gold.prob
    assert np.abs(count / 2_000 - sums).max() < 0.05
