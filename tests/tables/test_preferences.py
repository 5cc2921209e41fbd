from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from ringtrue.errors import TableError
from ringtrue.tables import Preferences
from ringtrue.tables.preferences import OUTCOMES

COLUMNS = {"query": ["1", "1"], "left": ["d1", "d2"], "right": ["d2", "d3"], "winner": ["d2", "d2"]}
ROWS = [("1", "d1", "d2", "0", "right"), ("1", "d2", "d3", "0", "left")]


@pytest.mark.parametrize(
    "data",
    [
        COLUMNS,
        COLUMNS | {"winner": ["right", "left"]},
        COLUMNS | {"winner": ["right", "d2"], "query": [1, 1]},
        pl.DataFrame(COLUMNS),
        pl.LazyFrame(COLUMNS),
        pd.DataFrame(COLUMNS),
        pa.table(COLUMNS),
        pl.DataFrame(COLUMNS).to_dicts(),
        {"qid": [1, 1], "a": COLUMNS["left"], "b": COLUMNS["right"], "preferred": ["d2", "d2"], "rater": [0, 0]},
    ],
)
def test_preferences_are_made_of_whatever_people_have(data: Any) -> None:
    frame = Preferences.of(data).frame
    assert frame.columns == ["query", "left", "right", "judge", "winner"]
    assert frame.rows() == ROWS


def test_preferences_are_themselves() -> None:
    preferences = Preferences.of(COLUMNS)
    assert Preferences.of(preferences) is preferences


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_every_outcome_is_understood(outcome: str) -> None:
    assert Preferences.of({"left": ["a"], "right": ["b"], "winner": [outcome]}).frame["winner"].to_list() == [outcome]


def test_integer_documents_can_win() -> None:
    frame = Preferences.of({"left": [1, 1], "right": [2, 2], "winner": [2, 1]}).frame
    assert frame.rows() == [("0", "1", "2", "0", "right"), ("0", "1", "2", "0", "left")]


def test_further_columns_are_kept_whatever_they_are_called() -> None:
    frame = Preferences.of({**COLUMNS, "row": [7, 8], "time": [1, 2]}).frame
    assert frame.columns == ["query", "left", "right", "judge", "winner", "time", "row"]
    assert frame["row"].to_list() == [7, 8]


def test_how_long_it_took_and_in_which_batch_are_known_columns() -> None:
    (row,) = Preferences.of(
        {"a": ["d1"], "b": ["d2"], "winner": ["d1"], "duration": [3], "assignment": ["A"]}
    ).frame.to_dicts()
    assert (row["query"], row["seconds"], row["batch"]) == ("0", 3, "A")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "needs a column 'left'"),
        (COLUMNS | {"winner": ["d2", "d9"]}, "row 2: expected a winner of left, right, .*'d2' or 'd3', found 'd9'"),
        (COLUMNS | {"row": [1, 2], "winner": ["d2", "d9"]}, "row 2: expected a winner"),
        (COLUMNS | {"right": ["d2", "d2"]}, "row 2: document 'd2' is compared with itself"),
        (COLUMNS | {"winner": ["d2", None]}, "row 2: column 'winner' is empty"),
        (COLUMNS | {"left": ["d1", ""]}, "row 2: column 'left' is empty"),
        (pl.DataFrame(COLUMNS).clear(), "there is no preference here"),
    ],
)
def test_what_is_no_preference_is_refused(data: Any, says: str) -> None:
    with pytest.raises(TableError, match=says):
        Preferences.of(data)


@pytest.mark.parametrize(
    ("left", "right", "winner"), [("right", "left", "left"), ("a", "left", "left"), ("tie", "b", "tie")]
)
def test_a_document_called_like_an_outcome_leaves_no_doubt_who_won(left: str, right: str, winner: str) -> None:
    with pytest.raises(TableError, match=f"row 1: does the winner '{winner}' mean a document or an outcome"):
        Preferences.of({"left": [left], "right": [right], "winner": [winner]})
    clear = Preferences.of({"left": ["left"], "right": ["b"], "winner": ["left"]})
    assert clear.frame["winner"].to_list() == ["left"]
