"""Whether intervals hold the truth: counted right."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import ringtrue as rt
from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.compare_corrected import compare_corrected
from ringtrue.gold.correction.correct import correct
from ringtrue.gold.correction.difference import build_predictors
from ringtrue.gold.correction.pool import build_pool
from ringtrue.gold.sampling import sample
from ringtrue.simulation.studies.experiments import (
    DESIGN_OF,
    Draw,
    IntervalCoverage,
    Tally,
    Truth,
    draw_gold,
    make_document_estimator,
    simulate_batches,
    simulate_with_truth,
)
from ringtrue.simulation.worlds.judged_runs import JudgedRuns, JudgedWorld, simulate_judged_runs

CELL = ("P@10", "by hand", 20)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def row(tally: Tally) -> IntervalCoverage:
    return tally.row(CELL, "these", "drawn queries", setting="any", queries=5, replications=4)


def add(tally: Tally, *bounds: tuple[float, float], truth: float) -> None:
    tally.add(CELL, "these", np.array(bounds), Truth(of_all=np.array([0.0]), of_drawn=np.array([[truth]])), 0)


def test_a_truth_is_held_where_it_lies_between_the_ends_or_on_one() -> None:
    tally = Tally()
    add(tally, (0.1, 0.3), (0.2, 0.4), (0.3, 0.5), truth=0.3)
    add(tally, (0.4, 0.8), truth=0.3)
    found = row(tally)
    assert (found.coverage, found.width, found.unanswered) == (0.75, pytest.approx(0.25), 0.0)


def test_experiments_without_an_interval_are_counted_apart() -> None:
    tally = Tally()
    add(tally, (0.1, 0.3), (np.nan, np.nan), truth=0.2)
    found = row(tally)
    assert (found.coverage, found.unanswered) == (1.0, 0.5)
    tally = Tally()
    add(tally, (np.nan, np.nan), truth=0.2)
    assert (row(tally).coverage, row(tally).width, row(tally).unanswered) == (None, None, 1.0)


def test_a_truth_is_that_of_all_queries_or_of_those_drawn() -> None:
    truth = Truth(of_all=np.array([0.4, 0.5]), of_drawn=np.array([[0.3, 0.35], [0.6, 0.65]]))
    assert truth.about("all queries", 1).tolist() == [0.4, 0.5]
    assert truth.about("drawn queries", 1).tolist() == [0.35, 0.65]
    assert truth.about("all queries", None).tolist() == [0.4, 0.4, 0.5, 0.5]
    assert truth.about("drawn queries", None).tolist() == [0.3, 0.35, 0.6, 0.65]


def test_experiments_come_in_batches_with_their_truth() -> None:
    world, measure = JudgedWorld(queries=3), parse("P@10")
    assert [len(some) for some in simulate_batches(rng(), world, 1_100)] == [500, 500, 100]
    ((drawn, truths),) = simulate_with_truth(rng(), world, {"P@10": measure}, 20, 0.95)
    np.testing.assert_allclose(truths["P@10"].of_all, [0.4, 0.4], atol=0.01)
    np.testing.assert_allclose(truths["P@10"].of_drawn, drawn.values(measure, "gold").mean(axis=2))


def test_a_study_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        next(simulate_batches(rng(), JudgedWorld(), 0))
    assert refused.value.code == "study-too-small"
    with pytest.raises(UsageError) as refused:
        next(simulate_batches(rng(), JudgedWorld(), 5, 1.5))
    assert refused.value.code == "bad-level"


def test_a_row_is_plain_data() -> None:
    tally = Tally()
    add(tally, (0.1, 0.3), truth=0.2)
    assert list(row(tally).as_dict()) == [
        "setting", "measure", "queries", "gold", "method", "population", "about", "replications", "coverage", "width",
        "unanswered",
    ]  # fmt: skip


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


@pytest.mark.slow
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


@pytest.mark.simulation
def test_over_many_draws_every_document_comes_as_often_as_its_probability_says() -> None:
    one = experiment(queries=4)
    rng, count, sums = np.random.default_rng(3), np.zeros(60), np.zeros(60)
    for _ in range(2_000):
        gold = draw_gold(rng, one.pool(0), one.pool_gold(0), labels=20, draw="sample", measures=WANTED)
        count[gold.positions] += 1
        sums[gold.positions] = gold.prob
    assert np.abs(count / 2_000 - sums).max() < 0.05
