"""Forecasts of intervals against what comes: in a small world, and on real judges as `simulate real` has them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ringtrue.simulation.studies.forecast_accuracy import compare_forecasts, compare_query_forecasts
from simulation.studies.test_real_judges import DCG, GOOD, PRECISION, WEAK, judged, real, small, study


def test_a_line_for_each_budget_and_population() -> None:
    collection, bronze = small(wrong=0.1)
    found = compare_forecasts(
        study(collection, bronze, draws=40), "P@5", budgets=[60, 120], rng=np.random.default_rng(1)
    )
    assert [(one.labels, one.population) for one in found] == [
        (60, "these"), (60, "like-these"), (120, "these"), (120, "like-these"),
    ]  # fmt: skip
    assert {(one.judge, one.measure, one.draws, one.runs) for one in found} == {("j", "P@5", 4, 3)}
    for one in found:
        assert one.ratio == one.achieved / one.forecast
        assert 0.75 < one.ratio < 1.3
    assert found[2].forecast < found[0].forecast < found[1].forecast


def test_where_gold_judges_everything_no_interval_was_promised_a_width() -> None:
    collection, bronze = small(queries=5, docs=12)
    these, _ = compare_forecasts(study(collection, bronze, draws=3), "P@5", budgets=[500], rng=np.random.default_rng(1))
    assert (these.forecast, these.ratio, these.draws) == (0, None, 1)


def test_whole_queries_have_a_line_for_each_population() -> None:
    collection, bronze = small(wrong=0.1)
    found = compare_query_forecasts(
        study(collection, bronze, draws=40), "nDCG@5", queries=15, rng=np.random.default_rng(1)
    )
    assert [(one.labels, one.unit, one.population, one.draws) for one in found] == [
        (15, "query", "these", 4), (15, "query", "like-these", 4),
    ]  # fmt: skip
    assert all(one.ratio is not None and 0.5 < one.ratio < 1.5 for one in found)


@pytest.mark.real
@pytest.mark.simulation
@pytest.mark.parametrize("measure", [PRECISION, DCG])
@pytest.mark.parametrize("judge", [GOOD, "binary_gpt4", "binary_gpt4o", WEAK])
@pytest.mark.parametrize(
    ("name", "draws", "off"),
    [
        ("dl19", 20, 0.25),  # forecasts are held against a tenth of the draws
        ("dl21", 60, 0.25),
        pytest.param("dl19", 30, 0.17, marks=pytest.mark.study),
        pytest.param("dl21", 200, 0.17, marks=pytest.mark.study),
    ],
)
def test_intervals_are_as_wide_as_forecast(
    data: Path, name: str, draws: int, off: float, judge: str, measure: str
) -> None:
    """A judge of yes and no says nothing of gold's grades: 300 labels for DCG@10 once came 2.5 times as wide.

    0.85 to 1.15 is the aim, here with room for the chance of a few draws; llama with 100 labels for P@10 was the worst.
    """
    folder = data / name
    found = compare_forecasts(
        study(real(folder), judged(folder, judge), judge=judge, draws=draws),
        measure,
        budgets=[100, 300],
        rng=np.random.default_rng(7),
    )
    for one in found:
        assert one.ratio is not None
        assert 1 - off < one.ratio < 1 + off
