"""One judge's labels given another's."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from statsmodels.stats.proportion import proportion_confint

import ringtrue as rt
from ringtrue.stats.confusion import Confusion
from strategies import examples

squares = st.integers(2, 4).flatmap(lambda size: arrays(np.int64, (size, size), elements=st.integers(0, 30)))


def confused(counts: NDArray[np.integer] | NDArray[np.floating] | list[list[int]], **settings) -> Confusion:
    counts = np.array(counts)
    return Confusion(rows="gold", columns="ann", labels=tuple(range(len(counts))), counts=counts, **settings)


def test_a_matrix_by_hand() -> None:
    table = confused([[8, 2], [1, 9]])
    assert table.matrix.tolist() == [[0.8, 0.2], [0.1, 0.9]]
    assert table.accuracy == 0.85


@given(squares)
def test_rows_sum_to_one_and_intervals_hold_the_shares(counts: NDArray[np.int64]) -> None:
    table = confused(counts)
    given_rows = counts.sum(axis=1) > 0
    assert np.allclose(table.matrix[given_rows].sum(axis=1), 1)
    assert np.isnan(table.matrix[~given_rows]).all()
    low, high = table.interval()
    assert ((low <= table.matrix) & (table.matrix <= high))[given_rows].all()
    assert ((low >= 0) & (high <= 1))[given_rows].all()
    if counts.any():
        assert table.accuracy == pytest.approx(np.trace(counts) / counts.sum())
    else:
        assert np.isnan(table.accuracy)


@examples(40)
@given(squares, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_statsmodels_gives_the_same_intervals(counts: NDArray[np.int64], level: float) -> None:
    low, high = confused(counts).interval(level)
    for row in np.flatnonzero(counts.sum(axis=1)):
        for column, count in enumerate(counts[row]):
            expected = proportion_confint(count, counts[row].sum(), alpha=1 - level, method="wilson")
            assert (low[row, column], high[row, column]) == pytest.approx(expected, abs=1e-12)


def test_expected_counts_are_worth_what_is_said() -> None:
    counts = np.array([[7.5, 2.5], [0.5, 1.5]])
    as_many = confused(counts).interval()
    fewer = confused(counts, worth=np.array([5.0, 1.0])).interval()
    assert (fewer[0] < as_many[0]).all()
    assert (fewer[1] > as_many[1]).all()
    assert confused(counts, worth=np.array([10.0, 2.0])).interval()[0].tolist() == as_many[0].tolist()


def test_plain_data_has_no_nan_where_a_label_was_never_given() -> None:
    plain = confused([[3, 1], [0, 0]]).as_dict(level=0.9)
    assert list(plain) == ["rows", "columns", "labels", "matrix", "counts", "low", "high"]
    again = json.loads(json.dumps(plain, allow_nan=False))
    assert again["matrix"] == [[0.75, 0.25], [None, None]]
    assert again["counts"] == [[3, 1], [0, 0]]
    assert again["low"][1] == again["high"][1] == [None, None]
    assert "low" not in confused([[1, 0], [0, 1]]).as_dict()


def test_plain_data_has_counts_only_where_cases_were_counted() -> None:
    shares = np.array([[0.8, 0.2], [0.1, 0.9]])
    assert "counts" not in confused(shares, worth=np.full(2, np.inf)).as_dict()
    assert "counts" not in confused([[3, 1], [0, 0]], worth=np.array([np.inf, 0])).as_dict()
    mixed = json.loads(json.dumps(confused(shares, worth=np.array([10, np.inf])).as_dict(0.9), allow_nan=False))
    assert mixed["counts"] == [[0.8, 0.2], [None, None]]
    assert mixed["low"][1] == mixed["high"][1] == [0.1, 0.9]
    assert confused([[0, 0], [0, 0]], worth=np.zeros(2)).as_dict()["counts"] == [[0, 0], [0, 0]]


def test_people_may_write_lists() -> None:
    table = rt.Confusion(rows="gold", columns="ann", labels=(0, 1), counts=[[8, 2], [1, 9]], worth=[5.0, np.inf])  # type: ignore[arg-type]
    assert table.matrix.tolist() == [[0.8, 0.2], [0.1, 0.9]]
    low, high = table.interval()
    assert low[1].tolist() == high[1].tolist() == [0.1, 0.9]


@pytest.mark.parametrize(
    ("rows", "columns", "turned"),
    [
        ("gold", "bronze", False),
        ("testing judge", "training judge", False),
        ("testing judge (ann)", "gold", False),
        ("ann", "bob", False),
        ("bronze", "gold", True),
        ("training judge (bob)", "testing judge", True),
        ("ann", "gold", True),
    ],
)
def test_names_tell_whether_rows_and_columns_changed_places(rows: str, columns: str, turned: bool) -> None:
    assert Confusion(rows=rows, columns=columns, labels=(0, 1), counts=np.eye(2)).is_turned == turned


def test_several_judges_count_together_as_often_as_they_labelled() -> None:
    one, other = confused([[8, 2], [1, 9]]), confused([[1, 1], [0, 4]])
    both = Confusion.together([one, other])
    assert (both.rows, both.columns, both.labels) == ("gold", "all judges", (0, 1))
    assert both.counts.tolist() == [[9, 3], [1, 13]]
    assert both.worth is None
    assert Confusion.together([one]) is one
    expected = confused([[1.5, 0.5], [0, 1]], worth=np.array([1.0, 0.5]))
    assert Confusion.together([one, expected]).worth.tolist() == [11, 10.5]
