from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import TableError
from ringtrue.tables import Judgments, Preferences
from ringtrue.tables.preferences import OUTCOMES, concat_tables
from strategies import preferences

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


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("LEFT", "left"), ("Right ", "right"), ("A", "left"), ("b", "right"), ("doc_a", "left"), ("model_b", "right"),
        ("Tie", "tie"), ("draw", "tie"), ("Equal", "tie"), ("both good", "both_good"), ("Both-Bad", "both_bad"),
        ("tie (bothbad)", "both_bad"),
    ],
)  # fmt: skip
def test_other_words_for_an_outcome_are_understood(said: str, meant: str) -> None:
    frame = Preferences.of({"left": ["d1", "d1"], "right": ["d2", "d2"], "winner": [said, "d2"]}).frame
    assert frame["winner"].to_list() == [meant, "right"]


@pytest.mark.parametrize(("word", "doc"), [("a", "A"), ("A", "a"), ("DRAW", "Draw"), ("model_a", "model_a")])
def test_a_word_that_names_a_document_elsewhere_is_no_outcome(word: str, doc: str) -> None:
    with pytest.raises(TableError, match=f"'{word}'") as refused:
        Preferences.of({"left": ["d1", doc], "right": ["d2", "d2"], "winner": [word, "left"]})
    assert (refused.value.code, refused.value.note.subject) == ("bad-winner", "row 1")


@given(preferences(st.sampled_from(["a", "b", "A", "B", "draw", "model_a", "d1", "Left"])))
def test_a_document_called_like_another_word_for_an_outcome_wins_as_itself(table: Preferences) -> None:
    said = pl.col("winner")
    won = pl.when(said == "left").then(pl.col("left")).when(said == "right").then(pl.col("right")).otherwise(said)
    ids = table.frame.with_columns(winner=won)
    assert Preferences.of(ids).frame.rows() == table.frame.rows()


@pytest.mark.parametrize("number", [0, 1, -1])
def test_numbers_for_sides_are_refused_with_a_word(number: int) -> None:
    with pytest.raises(TableError, match=rf"'{number}'.*\bnumber\b") as refused:
        Preferences.of({"left": ["d1"], "right": ["d2"], "winner": [number]})
    assert (refused.value.code, refused.value.note.subject) == ("bad-winner", "row 1")


@pytest.mark.parametrize(
    ("said", "near"), [("rigth", "right"), ("both_god", "both_good"), ("D1", "d1"), ("ties", "tie")]
)
def test_a_winner_that_nobody_knows_suggests_the_near_miss(said: str, near: str) -> None:
    with pytest.raises(TableError, match=rf"'{said}'.*'{near}'\?") as refused:
        Preferences.of({"left": ["d1"], "right": ["d2"], "winner": [said]})
    assert refused.value.code == "bad-winner"


@pytest.mark.parametrize("empty", [None, "", "  "])
def test_rows_without_a_winner_can_be_left_out(empty: str | None) -> None:
    columns = COLUMNS | {"winner": ["d2", empty]}
    assert Preferences.of(columns, answered_only=True).frame.rows() == ROWS[:1]
    with pytest.raises(TableError) as refused:
        Preferences.of(columns)
    assert (refused.value.code, refused.value.note.subject) == (
        "bad-winner" if empty == "  " else "empty-cell",
        "row 2",
    )
    numbers = {"left": [1, 1], "right": [2, 3], "winner": [None, 3]}
    assert Preferences.of(numbers, answered_only=True).frame["winner"].to_list() == ["right"]


def test_a_mark_on_traps_is_kept_as_it_is() -> None:
    for marks in (["yes", "no"], [True, False], [1, 0]):
        assert Preferences.of({**COLUMNS, "trap": marks}).frame["trap"].to_list() == marks


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


def test_tables_that_do_not_fit_together_are_refused() -> None:
    one, other = (Preferences.of(COLUMNS | {"note": note}) for note in (["x", "y"], [[1], [2]]))
    assert concat_tables([one, one]).frame.height == 4
    assert isinstance(concat_tables([Judgments.of({"q": {"d": 1}}), Judgments.of({"q": {"e": 1}})]), Judgments)
    with pytest.raises(TableError) as refused:
        concat_tables([one, other])
    assert refused.value.code == "mismatched-columns"


def test_battles_of_models_are_understood() -> None:
    battles = {"model_a": ["gpt", "llama"], "model_b": ["claude", "gpt"], "winner": ["model_b", "tie (bothbad)"]}
    expected = [("0", "gpt", "claude", "0", "right"), ("0", "llama", "gpt", "0", "both_bad")]
    assert Preferences.of(battles).frame.rows() == expected
    # Where a table has names beside numbers, as evalica's has, the names of the sides count.
    frame = Preferences.of({"model_x": [7], "model_y": [8], "left": ["a"], "right": ["b"], "winner": ["a"]}).frame
    assert frame.to_dicts() == [
        {"query": "0", "left": "a", "right": "b", "judge": "0", "winner": "left", "model_x": 7, "model_y": 8}
    ]


@pytest.mark.parametrize(
    ("data", "code", "subject", "found"),
    [
        ({}, "missing-column", None, "'left'"),
        ("votes.csv", "not-a-table", None, "read_preferences"),
        (COLUMNS | {"winner": ["d2", "d9"]}, "bad-winner", "row 2", "'d9'"),
        (COLUMNS | {"row": [1, 2], "winner": ["d2", "d9"]}, "bad-winner", "row 2", "'d9'"),
        (COLUMNS | {"right": ["d2", "d2"]}, "self-comparison", "row 2", "'d2'"),
        (COLUMNS | {"winner": ["d2", None]}, "empty-cell", "row 2", "'winner'"),
        (COLUMNS | {"left": ["d1", ""]}, "empty-cell", "row 2", "'left'"),
        (pl.DataFrame(COLUMNS).clear(), "no-preferences", None, ""),
    ],
)
def test_what_is_no_preference_is_refused(data: Any, code: str, subject: str | None, found: str) -> None:
    with pytest.raises(TableError) as refused:
        Preferences.of(data)
    assert (refused.value.code, refused.value.note.subject) == (code, subject)
    assert found in str(refused.value)


@pytest.mark.parametrize(
    ("left", "right", "winner"), [("right", "left", "left"), ("a", "left", "left"), ("tie", "b", "tie")]
)
def test_a_document_called_like_an_outcome_leaves_no_doubt_who_won(left: str, right: str, winner: str) -> None:
    with pytest.raises(TableError, match=f"'{winner}'") as refused:
        Preferences.of({"left": [left], "right": [right], "winner": [winner]})
    assert (refused.value.code, refused.value.note.subject) == ("ambiguous-winner", "row 1")
    clear = Preferences.of({"left": ["left"], "right": ["b"], "winner": ["left"]})
    assert clear.frame["winner"].to_list() == ["left"]


def test_who_will_answer_what_is_open_need_not_be_known() -> None:
    table = {"left": [*"abc"], "right": [*"bcd"], "judge": ["ann", None, ""], "winner": ["a", "", None]}
    assert Preferences.of(table, answered_only=True).frame["judge"].to_list() == ["ann"]


def test_a_column_of_judges_that_nobody_filled_in_names_nobody() -> None:
    table = {"left": [*"ab"], "right": [*"bc"], "judge": ["", None], "winner": ["a", "b"]}
    assert Preferences.of(table, answered_only=True).frame["judge"].to_list() == ["0", "0"]
    numbers = pl.DataFrame({"left": [*"abc"], "right": [*"bcd"], "judge": [None, 7, None], "winner": ["", "b", None]})
    assert Preferences.of(numbers, answered_only=True).frame.select("judge", "winner").rows() == [("7", "left")]


def test_an_answer_of_nobody_among_those_of_others_is_refused_with_its_row() -> None:
    table = {"left": [*"abc"], "right": [*"bcd"], "judge": ["ann", "", ""], "winner": ["a", "", "c"]}
    with pytest.raises(TableError) as refused:
        Preferences.of(table, answered_only=True)
    error = refused.value
    assert (error.code, error.note.subject, error.columns) == ("empty-cell", "row 3", ("judge",))
