"""Whether intervals hold the truth: counted right."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import parse
from ringtrue.simulation.studies.coverage_tally import (
    IntervalCoverage,
    Tally,
    Truth,
    simulate_batches,
    simulate_with_truth,
)
from ringtrue.simulation.worlds.judged_world import JudgedWorld

ABOUT = {"setting": "any", "measure": "P@10", "queries": 5, "gold": 20, "method": "by hand", "replications": 4}


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def row(tally: Tally) -> IntervalCoverage:
    return tally.row(("x",), "these", "drawn queries", **ABOUT)  # type: ignore[arg-type]


def test_a_truth_is_held_where_it_lies_between_the_ends_or_on_one() -> None:
    tally = Tally()
    tally.add(("x", "these", "drawn queries"), np.array([0.1, 0.2, 0.3]), np.array([0.3, 0.4, 0.5]), np.array(0.3))
    tally.add(("x", "these", "drawn queries"), np.array([0.4]), np.array([0.8]), np.array([0.3]))
    found = row(tally)
    assert (found.coverage, found.width, found.unanswered) == (0.75, pytest.approx(0.25), 0.0)


def test_experiments_without_an_interval_are_counted_apart() -> None:
    tally = Tally()
    tally.add(("x", "these", "drawn queries"), np.array([0.1, np.nan]), np.array([0.3, np.nan]), np.array(0.2))
    found = row(tally)
    assert (found.coverage, found.unanswered) == (1.0, 0.5)
    tally = Tally()
    tally.add(("x", "these", "drawn queries"), np.array([np.nan]), np.array([np.nan]), np.array(0.2))
    assert (row(tally).coverage, row(tally).width, row(tally).unanswered) == (None, None, 1.0)


def test_a_truth_is_that_of_all_queries_or_of_those_drawn() -> None:
    truth = Truth(of_all=np.array([0.4, 0.5]), of_drawn=np.array([[0.3, 0.35], [0.6, 0.65]]))
    assert truth.about("all queries", 1).tolist() == [0.4, 0.5]
    assert truth.about("drawn queries", 1).tolist() == [0.35, 0.65]


def test_experiments_come_in_batches_with_their_truth() -> None:
    world, measure = JudgedWorld(queries=3), parse("P@10")
    assert [len(some) for some in simulate_batches(rng(), world, 1_100)] == [500, 500, 100]
    ((drawn, truths),) = simulate_with_truth(rng(), world, {"P@10": measure}, 20, 0.95)
    np.testing.assert_allclose(truths["P@10"].of_all, [0.4, 0.4], atol=0.01)
    np.testing.assert_allclose(truths["P@10"].of_drawn, drawn.values(measure, "gold").mean(axis=2))


def test_a_study_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="a study needs a replication, found 0"):
        next(simulate_batches(rng(), JudgedWorld(), 0))
    with pytest.raises(UsageError, match="level must lie between"):
        next(simulate_batches(rng(), JudgedWorld(), 5, 1.5))


def test_a_row_is_plain_data() -> None:
    tally = Tally()
    tally.add(("x", "these", "drawn queries"), np.array([0.1]), np.array([0.3]), np.array(0.2))
    assert list(row(tally).as_dict()) == [
        "setting", "measure", "queries", "gold", "method", "population", "about", "replications", "coverage", "width",
        "unanswered",
    ]  # fmt: skip
