"""What two judges' scores have in common."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import ringtrue as rt
from ringtrue.errors import MismatchError, UsageError
from ringtrue.evaluation.stability.common_scores import align_scores
from ringtrue.tables import Scores

RUNS = {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q1": {"d2": 2.0, "d1": 1.0}}}


def table(*rows: tuple[str, str, str, float]) -> Scores:
    return Scores(pl.DataFrame(list(rows), schema=["run", "query", "measure", "value"], orient="row"))


def square(runs: str, queries: str, measure: str = "AP") -> Scores:
    return table(*((run, query, measure, 0.5) for run in runs for query in queries))


def test_runs_and_queries_of_one_judge_alone_are_not_used_and_named() -> None:
    notes: list[str] = []
    runs, values = align_scores(square("abcx", "12345"), square("cbay", "562"), notes)
    assert runs == ["a", "b", "c"]
    assert values["AP"][0].shape == (3, 2)
    assert notes == [
        "1 run of the first judge only, not used: x",
        "1 run of the second judge only, not used: y",
        "3 queries of the first judge only, not used: 1, 3, 4",
        "1 query of the second judge only, not used: 6",
    ]


def test_values_stand_in_the_same_order_for_both() -> None:
    one = table(("a", "q1", "AP", 0.1), ("a", "q2", "AP", 0.2), ("b", "q1", "AP", 0.3), ("b", "q2", "AP", 0.4))
    two = table(("b", "q2", "AP", 0.4), ("b", "q1", "AP", 0.3), ("a", "q2", "AP", 0.2), ("a", "q1", "AP", 0.1))
    runs, values = align_scores(one, two, [])
    assert runs == ["a", "b"]
    assert values["AP"][0].tolist() == values["AP"][1].tolist() == [[0.1, 0.2], [0.3, 0.4]]


def test_what_a_run_lacks_is_nan() -> None:
    one = table(("a", "q1", "AP", 0.1), ("b", "q2", "AP", 0.4))
    _, values = align_scores(one, one, [])
    assert np.isnan(values["AP"][0]).tolist() == [[False, True], [True, False]]


def test_a_measure_finds_its_twin_with_another_rel() -> None:
    one = rt.evaluate(RUNS, {"q1": {"d1": 3, "d2": 1}}, "P(rel=2)@1, P(rel=3)@1, RR")
    two = rt.evaluate(RUNS, {"q1": {"d1": 1, "d2": 0}}, "P@1, RR")
    notes: list[str] = []
    _, values = align_scores(one, two, notes)
    assert list(values) == ["P(rel=2)@1", "P(rel=3)@1", "RR"]
    assert values["P(rel=2)@1"][1].tolist() == [[1.0], [0.0]]
    assert "P(rel=2)@1 by the first judge is held against P@1 by the second" in notes


def test_a_measure_of_one_judge_alone_is_not_used_and_named() -> None:
    one, two = (
        Scores(pl.concat([square("ab", "12", measure).frame for measure in measures]))
        for measures in (("AP", "P(rel=2)@5", "home-made"), ("AP", "P(rel=1)@5", "P(rel=3)@5", "RR"))
    )
    notes: list[str] = []
    _, values = align_scores(one, two, notes)
    assert list(values) == ["AP"]
    assert notes == [
        "P(rel=2)@5 is of the first judge only, not used",
        "home-made is of the first judge only, not used",
        "P(rel=1)@5 is of the second judge only, not used",
        "P(rel=3)@5 is of the second judge only, not used",
        "RR is of the second judge only, not used",
    ]


@pytest.mark.parametrize(
    ("one", "two", "says"),
    [
        (square("ab", "12"), square("cd", "12"), "no run in common: the first has a, b, the second has c, d"),
        (square("ab", "12"), square("ab", "34"), "no query in common: the first has 1, 2, the second has 3, 4"),
        (square("ab", "12"), square("ab", "12", "RR"), "no measure in common: the first has AP, the second has RR"),
    ],
)
def test_nothing_in_common_is_an_error_that_names_both(one: Scores, two: Scores, says: str) -> None:
    with pytest.raises(MismatchError, match=says):
        align_scores(one, two, [])


def test_one_run_has_no_order() -> None:
    with pytest.raises(UsageError, match="two runs or more, found only 'a'"):
        align_scores(square("ab", "12"), square("ac", "12"), [])
