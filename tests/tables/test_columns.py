from __future__ import annotations

import datetime as dt
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import TableError
from ringtrue.tables.columns import (
    find_free_name,
    make_frame,
    parse_ids,
    parse_labels,
    parse_numbers,
    rename_columns,
    suggest_column,
)

COLUMNS: dict[str, list[Any]] = {"qid": ["q1", "q2"], "docno": ["d1", "d2"], "score": [1.5, 2.0]}
DOORS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "columns": dict,
    "polars": pl.DataFrame,
    "lazy": pl.LazyFrame,
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns).astype(object),
    "pandas extension types": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas with an index": lambda columns: pd.DataFrame(columns, index=[7, 7]),
    "arrow": pa.table,
    "records": lambda columns: list(records(columns)),
    "generator": lambda columns: records(columns),
}


def records(columns: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))


@pytest.mark.parametrize("door", list(DOORS))
def test_every_kind_of_table_comes_in_through_one_door(door: str) -> None:
    frame = make_frame(DOORS[door](COLUMNS))
    assert frame.columns == ["qid", "docno", "score"]
    assert frame.rows() == [("q1", "d1", 1.5), ("q2", "d2", 2.0)]


@pytest.mark.parametrize("door", ["columns", "pandas", "records", "generator"])
@pytest.mark.parametrize("late", [1.5, "1.5", 2**40])
def test_a_value_of_another_type_far_down_is_not_rounded(door: str, late: object) -> None:
    columns = {"score": [1] * 500 + [late]}
    frame = make_frame(DOORS[door](columns))
    assert parse_numbers(frame, "score")[500] == float(late)  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_what_pandas_calls_missing_is_no_id(missing: object) -> None:
    table = pd.DataFrame({"doc": pd.Series(["d1", missing], dtype=object)})
    with pytest.raises(TableError, match="row 2: column 'doc' is empty"):
        parse_ids(make_frame(table), "doc")


def test_pandas_strings_and_numbers_with_gaps_keep_them() -> None:
    table = pd.DataFrame({"a": pd.Series(["x", None], dtype="string"), "b": pd.Series([1, None], dtype="Int64")})
    assert make_frame(table).rows() == [("x", 1), (None, None)]


def test_a_pandas_column_that_stands_twice_is_refused() -> None:
    table = pd.DataFrame([["q1", "d1", 1, 2]], columns=["qid", "docno", "score", "score"])
    with pytest.raises(TableError, match="column 'score' stands there twice"):
        make_frame(table)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (3, "expected a table .*found int"),
        (None, "found NoneType"),
        ("runs/bm25.run", "found str; `ringtrue.read_run` and its sisters read files"),
        ({"a": [1], "b": [1, 2]}, "no table can be made of this dict"),
        ({"a": ["\ud800"]}, "no table can be made of this dict"),
        (pl.LazyFrame({"a": [1]}).select("b"), "no table can be made of this LazyFrame: unable to find column"),
    ],
)
def test_what_is_no_table_is_refused(data: object, says: str) -> None:
    with pytest.raises(TableError, match=says):
        make_frame(data)


@pytest.mark.parametrize(
    ("values", "ids"),
    [
        ([1, 20], ["1", "20"]),
        ([1.0, 2e5], ["1", "200000"]),
        (["a", "b c"], ["a", "b c"]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), ["a", "b"]),
        ([2**63, 2**64 - 1], [str(2**63), str(2**64 - 1)]),
        ([b"a", b"b"], ["a", "b"]),
    ],
)
def test_whole_numbers_are_ids_too(values: Any, ids: list[str]) -> None:
    assert parse_ids(pl.DataFrame({"doc": values}), "doc").to_list() == ids


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["a", None], "row 2: column 'doc' is empty"),
        (["a", "b", ""], "row 3: column 'doc' is empty"),
        ([1.0, 2.5], r"row 2: expected an id in column 'doc', found 2\.5"),
        ([1.0, float("nan")], "row 2: (expected an id|column 'doc' is empty)"),
        ([["a"]], "column 'doc': expected ids, found List"),
        ([{"a": 1}], "column 'doc': expected ids, found Struct"),
        ([uuid.UUID(int=1)], "column 'doc': expected ids, found Object"),
        ([b"\xff"], "column 'doc': expected ids, found Binary"),
    ],
)
def test_what_is_no_id_is_refused(values: list[Any], says: str) -> None:
    with pytest.raises(TableError, match=says):
        parse_ids(pl.DataFrame({"doc": values}), "doc")


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([1.0, None], "row 2: column 'score' is empty"),
        ([1.0, float("nan")], "row 2: .* found nan"),
        ([float("-inf")], "row 1: .* found -inf"),
        (["1", "x"], "row 2: .* found 'x'"),
        (["1_000"], "row 1: .* found '1_000'"),
        ([[1]], "column 'score': expected numbers, found List"),
        ([dt.date(2020, 1, 1)], "column 'score': expected numbers, found Date"),
    ],
)
def test_what_is_no_finite_number_is_refused(values: list[Any], says: str) -> None:
    with pytest.raises(TableError, match=says):
        parse_numbers(pl.DataFrame({"score": values}), "score")


def test_empty_cells_are_counted_and_told_how_to_leave_out() -> None:
    empty = "`--where COLUMN!=` leaves out the rows where COLUMN is empty"
    with pytest.raises(TableError) as error:
        parse_numbers(pl.DataFrame({"label": [1, *[None] * 2000]}), "label")
    says = f"row 2: column 'label' is empty, as in 2,000 of 2,001 rows; every row needs one; {empty}"
    assert str(error.value) == says
    with pytest.raises(TableError) as error:
        parse_ids(pl.DataFrame({"judge": ["a", ""]}), "judge")
    assert str(error.value) == f"row 2: column 'judge' is empty; every row needs one; {empty}"


def test_labels_are_whole_numbers_however_they_are_written() -> None:
    for values in ([1, 2], [1.0, 2.0], ["1", "2.0"], ["1e0", "2"]):
        assert parse_labels(pl.DataFrame({"label": values}), "label").to_list() == [1, 2]
    assert parse_labels(pl.DataFrame({"label": [-(2**31), 2**31 - 1]}), "label").dtype == pl.Int32


@pytest.mark.parametrize("value", [0.5, "0.5", 2**31, -(2**31) - 1, 2.0**40])
def test_a_label_that_is_no_whole_number_of_32_bits_is_refused(value: object) -> None:
    with pytest.raises(TableError, match="row 2: expected a whole number of 32 bits in column 'label'"):
        parse_labels(make_frame({"label": [type(value)(1), value]}), "label")  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("names", "query"),
    [
        (["qid", "docno", "score", "rank", "query"], "qid"),
        (["query_id", "doc_id", "relevance", "iteration"], "query_id"),
        (["q_id", "doc_id", "score"], "q_id"),
        (["query-id", "corpus-id", "score"], "query-id"),
        (["topic", "doc", "label", "worker"], "topic"),
        (["query", "doc", "label"], "query"),
    ],
)
def test_each_packages_word_for_a_query_is_understood(names: list[str], query: str) -> None:
    frame = pl.DataFrame({name: [name] for name in names})
    found = rename_columns(frame, required=["doc", "query"], table_kind="run")
    assert found.columns[:2] == ["doc", "query"]
    assert found["query"].to_list() == [query]


def test_a_column_whose_name_is_taken_steps_aside() -> None:
    frame = pl.DataFrame({"qid": ["1"], "query": ["text"], "query_text": ["other"]})
    found = rename_columns(frame, required=["query"], table_kind="topics")
    assert found.to_dicts() == [{"query": "1", "query_text_2": "text", "query_text": "other"}]


def test_a_missing_column_says_its_names_and_the_near_miss() -> None:
    frame = pl.DataFrame({"qid": ["1"], "dok": ["d"], "x": [1]})
    with pytest.raises(TableError) as caught:
        rename_columns(frame, required=["query", "doc"], table_kind="run")
    said = str(caught.value)
    assert said.startswith("a run table needs a column 'doc' (also known as docno, doc_id, ")
    assert said.endswith(
        "found qid, dok, x; did you mean 'dok'? Rename the one that is meant, or say `--columns doc=NAME`"
    )
    with pytest.raises(TableError, match=r"found no column\. Rename the one"):
        rename_columns(pl.DataFrame(), required=["query"], table_kind="run")


def test_all_the_columns_that_are_missing_are_named() -> None:
    frame = pl.DataFrame({"winner": ["left"], "mine": ["x"], "theirs": ["y"]})
    with pytest.raises(TableError) as caught:
        rename_columns(frame, required=["left", "right", "winner"], table_kind="preferences")
    assert str(caught.value) == (
        "a preferences table needs a column 'left' (also known as left, a, doc_a, left_doc, model_a, model_x) and a "
        "column 'right' (also known as right, b, doc_b, right_doc, model_b, model_y); found winner, mine, theirs. "
        "Rename those that are meant, or say `--columns left=NAME,right=NAME`"
    )


@given(st.sets(st.sampled_from(["a", "a_2", "a_3", "a_4"])))
def test_a_free_name_is_free(used: set[str]) -> None:
    assert find_free_name("a", used) not in used


@pytest.mark.parametrize(
    ("others", "says"),
    [
        (["url", "qery"], "; did you mean 'qery'? Then say `--columns query=qery`"),
        (["Querry"], "; did you mean 'Querry'? Then say `--columns query=Querry`"),
        (["topic_nr", "url"], "; did you mean 'topic_nr'? Then say `--columns query=topic_nr`"),
        (["prompt", "url"], "; if it is one of prompt, url, say `--columns query=NAME`"),
        (["prompt"], "; if it is prompt, say `--columns query=NAME`"),
        ([*"uvwxyzstr"], "; if it is one of u, v, w, x, y, z, s, t, …, say `--columns query=NAME`"),
        (["doc", "label", "seconds", "label_before"], ""),
        ([], ""),
    ],
)
def test_a_column_that_is_missing_may_be_one_of_the_others(others: list[str], says: str) -> None:
    assert suggest_column("query", others) == says
