from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from ringtrue.errors import TableError
from ringtrue.tables import Scores

FRAME = pl.DataFrame(
    {
        "run": ["a", "a", "a", "b", "b", "b"],
        "query": ["q1", "q2", "q3", "q1", "q2", "q3"],
        "measure": ["AP"] * 6,
        "value": [0.0, 0.5, 1.0, 0.25, 0.25, 0.25],
    }
)


def test_means_are_over_the_queries_of_each_run() -> None:
    means = Scores(FRAME).means()
    assert list(means) == ["a", "b"]
    assert means["a"]["AP"].value == 0.5
    assert means["b"]["AP"].value == 0.25
    assert means["a"]["AP"].n == 3


def test_a_wider_level_makes_a_wider_interval() -> None:
    narrow, wide = (Scores(FRAME).means(level=level)["a"]["AP"] for level in (0.8, 0.99))
    assert wide.low is not None
    assert narrow.low is not None
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high  # type: ignore[operator]


def test_values_can_be_looked_up_by_run_query_and_measure() -> None:
    by_query = Scores(FRAME).by_query()
    assert by_query["a"] == {"q1": {"AP": 0.0}, "q2": {"AP": 0.5}, "q3": {"AP": 1.0}}
    assert by_query["b"]["q2"]["AP"] == pytest.approx(0.25)


def test_a_cube_holds_every_value_and_nan_where_there_is_none() -> None:
    cube = Scores(FRAME.filter(~((pl.col("run") == "b") & (pl.col("query") == "q2")))).cube()
    assert (cube.measures, cube.runs, cube.queries) == (("AP",), ("a", "b"), ("q1", "q2", "q3"))
    np.testing.assert_array_equal(cube.values, [[[0.0, 0.5, 1.0], [0.25, np.nan, 0.25]]])


def test_a_value_that_stands_twice_makes_no_cube() -> None:
    with pytest.raises(TableError, match=r"AP.*'q1'") as refused:
        Scores(pl.concat([FRAME, FRAME.head(1)])).cube()
    assert (refused.value.code, refused.value.note.subject) == ("duplicate-score", "a")
