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
from ringtrue.messages import Suggestion
from ringtrue.tables.columns import (
    find_free_name,
    make_frame,
    parse_ids,
    parse_labels,
    parse_numbers,
    rename_columns,
    suggest_columns,
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
    with pytest.raises(TableError) as refused:
        parse_ids(make_frame(table), "doc")
    assert (refused.value.code, refused.value.note.subject) == ("empty-cell", "row 2")


def test_pandas_strings_and_numbers_with_gaps_keep_them() -> None:
    table = pd.DataFrame({"a": pd.Series(["x", None], dtype="string"), "b": pd.Series([1, None], dtype="Int64")})
    assert make_frame(table).rows() == [("x", 1), (None, None)]


def test_a_pandas_column_that_stands_twice_is_refused() -> None:
    table = pd.DataFrame([["q1", "d1", 1, 2]], columns=["qid", "docno", "score", "score"])
    with pytest.raises(TableError) as refused:
        make_frame(table)
    assert (refused.value.code, refused.value.columns) == ("duplicate-column", ("score",))


@pytest.mark.parametrize(
    ("data", "kind", "readers"),
    [
        (3, "int", ["read_run"]),
        (None, "NoneType", ["read_run"]),
        ("runs/bm25.run", "str", ["read_run"]),
        ({"a": [1], "b": [1, 2]}, "dict", []),
        ({"a": ["\ud800"]}, "dict", []),
        (pl.LazyFrame({"a": [1]}).select("b"), "LazyFrame", []),
    ],
)
def test_what_is_no_table_is_refused(data: object, kind: str, readers: list[str]) -> None:
    with pytest.raises(TableError, match=rf"\b{kind}\b") as refused:
        make_frame(data)
    assert refused.value.code == "not-a-table"
    assert [suggestion.function for suggestion in refused.value.note.suggestions] == readers


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
    ("values", "code", "subject", "found"),
    [
        (["a", None], "empty-cell", "row 2", ""),
        (["a", "b", ""], "empty-cell", "row 3", ""),
        ([1.0, 2.5], "bad-id", "row 2", "2.5"),
        ([1.0, float("nan")], "empty-cell", "row 2", ""),
        ([["a"]], "bad-column-type", "column 'doc'", "List"),
        ([{"a": 1}], "bad-column-type", "column 'doc'", "Struct"),
        ([uuid.UUID(int=1)], "bad-column-type", "column 'doc'", "Object"),
        ([b"\xff"], "bad-column-type", "column 'doc'", "Binary"),
    ],
)
def test_what_is_no_id_is_refused(values: list[Any], code: str, subject: str, found: str) -> None:
    with pytest.raises(TableError) as refused:
        parse_ids(pl.DataFrame({"doc": values}), "doc")
    error = refused.value
    assert (error.code, error.note.subject, error.columns) == (code, subject, ("doc",))
    assert found in error.text


@pytest.mark.parametrize(
    ("values", "code", "subject", "found"),
    [
        ([1.0, None], "empty-cell", "row 2", ""),
        ([1.0, float("nan")], "bad-number", "row 2", "nan"),
        ([float("-inf")], "bad-number", "row 1", "-inf"),
        (["1", "x"], "bad-number", "row 2", "'x'"),
        (["1_000"], "bad-number", "row 1", "'1_000'"),
        ([[1]], "bad-column-type", "column 'score'", "List"),
        ([dt.date(2020, 1, 1)], "bad-column-type", "column 'score'", "Date"),
    ],
)
def test_what_is_no_finite_number_is_refused(values: list[Any], code: str, subject: str, found: str) -> None:
    with pytest.raises(TableError) as refused:
        parse_numbers(pl.DataFrame({"score": values}), "score")
    error = refused.value
    assert (error.code, error.note.subject, error.columns) == (code, subject, ("score",))
    assert found in error.text


def test_empty_cells_of_numbers_are_counted() -> None:
    with pytest.raises(TableError, match="2,000 of 2,001") as refused:
        parse_numbers(pl.DataFrame({"label": [1, *[None] * 2000]}), "label")
    assert (refused.value.code, refused.value.note.subject) == ("empty-cell", "row 2")


def test_labels_that_are_words_lead_to_what_takes_words() -> None:
    with pytest.raises(TableError, match="'good'") as refused:
        parse_labels(pl.DataFrame({"label": ["good"]}), "label")
    assert refused.value.code == "bad-label"
    assert refused.value.note.suggestions == (Suggestion("takes words", function="disagree", levels=...),)


def test_labels_are_whole_numbers_however_they_are_written() -> None:
    for values in ([1, 2], [1.0, 2.0], ["1", "2.0"], ["1e0", "2"]):
        assert parse_labels(pl.DataFrame({"label": values}), "label").to_list() == [1, 2]
    assert parse_labels(pl.DataFrame({"label": [-(2**31), 2**31 - 1]}), "label").dtype == pl.Int32


@pytest.mark.parametrize("value", [0.5, "0.5", 2**31, -(2**31) - 1, 2.0**40])
def test_a_label_that_is_no_whole_number_of_32_bits_is_refused(value: object) -> None:
    with pytest.raises(TableError) as refused:
        parse_labels(make_frame({"label": [type(value)(1), value]}), "label")  # type: ignore[call-arg]
    assert (refused.value.code, refused.value.note.subject) == ("bad-label", "row 2")


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
    with pytest.raises(TableError) as refused:
        rename_columns(frame, required=["query", "doc"], table_kind="run")
    assert (refused.value.code, refused.value.columns) == ("missing-column", ("doc",))
    assert all(name in str(refused.value) for name in ("docno", "doc_id", "qid, dok, x", "'dok'?"))
    with pytest.raises(TableError) as refused:
        rename_columns(pl.DataFrame(), required=["query"], table_kind="run")
    assert (refused.value.code, refused.value.columns) == ("missing-column", ("query",))


def test_all_the_columns_that_are_missing_are_named() -> None:
    frame = pl.DataFrame({"winner": ["left"], "mine": ["x"], "theirs": ["y"]})
    with pytest.raises(TableError, match=r"model_a.*model_b.*winner, mine, theirs$") as refused:
        rename_columns(frame, required=["left", "right", "winner"], table_kind="preferences")
    assert (refused.value.code, refused.value.columns) == ("missing-column", ("left", "right"))


@given(st.sets(st.sampled_from(["a", "a_2", "a_3", "a_4"])))
def test_a_free_name_is_free(used: set[str]) -> None:
    assert find_free_name("a", used) not in used


@pytest.mark.parametrize(
    ("others", "meant", "listed"),
    [
        (["url", "qery"], ["qery"], "qery"),
        (["Querry"], ["Querry"], "Querry"),
        (["topic_nr", "url"], ["topic_nr"], "topic_nr"),
        (["prompt", "url"], ["NAME"], "prompt, url"),
        (["prompt"], ["NAME"], "prompt"),
        ([*"uvwxyzstr"], ["NAME"], "u, v, w, x, y, z, s, t, …"),
        (["doc", "label", "seconds", "label_before"], [], ""),
        ([], [], ""),
    ],
)
def test_a_column_that_is_missing_may_be_one_of_the_others(others: list[str], meant: list[str], listed: str) -> None:
    suggestions = suggest_columns("query", others)
    assert [suggestion.arguments for suggestion in suggestions] == [{"columns": {"query": name}} for name in meant]
    assert all(listed in suggestion.purpose for suggestion in suggestions)
