from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from ringtrue.errors import DuplicateError, TableError
from ringtrue.tables import Run
from strategies import finite, nested

ROWS = [("1", "d1", 2.0), ("1", "d2", 1.0), ("2", "d1", 3.0)]
QUERIES, DOCS, SCORES = ([row[place] for row in ROWS] for place in range(3))
PYTERRIER = pd.DataFrame(
    {"qid": QUERIES, "docno": DOCS, "score": SCORES, "rank": [0, 1, 0], "query": ["wifi", "wifi", "goldfish"]}
)


@pytest.mark.parametrize(
    "data",
    [
        {"1": {"d1": 2, "d2": 1.0}, "2": {"d1": np.float32(3)}},
        {1: {"d1": 2, "d2": 1}, 2: {"d1": 3}},
        {"query": QUERIES, "doc": DOCS, "score": SCORES},
        {"q_id": [1, 1, 2], "doc_id": DOCS, "score": ["2", "1.0", "3e0"]},
        PYTERRIER,
        pl.from_pandas(PYTERRIER).lazy(),
        pa.table({"query_id": QUERIES, "doc_id": DOCS, "score": SCORES}),
        pl.DataFrame({"query-id": QUERIES, "corpus-id": DOCS, "score": SCORES}),
        pl.DataFrame({"score": SCORES, "docid": DOCS, "topic": QUERIES}).to_dicts(),
    ],
)
def test_a_run_is_made_of_whatever_people_have(data: Any) -> None:
    run = Run.of(data, name="bm25")
    assert run.name == "bm25"
    assert run.frame.rows() == ROWS
    assert run.queries == ("1", "2")


def test_a_run_is_itself() -> None:
    run = Run.of({"q1": {"d1": 1}})
    assert Run.of(run) is run


@given(nested(finite))
def test_a_dictionary_comes_in_as_it_is(data: dict[str, dict[str, float]]) -> None:
    rows = Run.of(data).frame.rows()
    assert rows == [(query, doc, score) for query, docs in data.items() for doc, score in docs.items()]


@given(nested(finite))
def test_ranks_are_by_score_then_by_the_larger_id(data: dict[str, dict[str, float]]) -> None:
    ranked = Run.of(data).ranked()
    for query, docs in data.items():
        found = ranked.filter(query=query)
        expected = sorted(docs, key=lambda doc: (docs[doc], doc.encode()), reverse=True)
        assert found["doc"].to_list() == expected
        assert found["rank"].to_list() == list(range(1, len(docs) + 1))


def test_a_ranking_is_cut_at_a_depth() -> None:
    run = Run.of({"q1": {"d1": 1, "d2": 2, "d3": 3}, "q2": {"d1": 1}})
    assert run.ranked(2).select("query", "doc").rows() == [("q1", "d3"), ("q1", "d2"), ("q2", "d1")]


def test_rows_of_a_query_that_stand_apart_are_brought_together() -> None:
    run = Run.of({"query": ["a", "b", "a"], "doc": ["1", "1", "2"], "score": [1, 2, 3]})
    assert run.frame.rows() == [("a", "1", 1.0), ("a", "2", 3.0), ("b", "1", 2.0)]


def test_a_document_twice_under_a_query_is_refused_even_far_apart() -> None:
    data = {"query": ["a", "b", "a"], "doc": ["1", "1", "1"], "score": [1, 2, 3]}
    with pytest.raises(DuplicateError) as refused:
        Run.of(data, name="x")
    error = refused.value
    assert (error.code, error.note.subject, error.query, error.doc) == ("duplicate-document", "x", "a", "1")


@pytest.mark.parametrize(
    ("data", "code", "subject", "columns"),
    [
        ({}, "missing-column", None, ("query", "doc", "score")),
        ({"q1": {}}, "no-documents", "run", ()),
        ({"query": ["q"], "doc": ["d"]}, "missing-column", None, ("score",)),
        ({"query": ["q"], "doc": ["d"], "score": [None]}, "empty-cell", "row 1", ("score",)),
        ({"q1": {"d1": float("nan")}}, "bad-number", "row 1", ("score",)),
        ({"q1": {"d1": 1, "": 1}}, "empty-cell", "row 2", ("doc",)),
        ({"q1": {"d1": 1, None: 1}}, "empty-cell", "row 2", ("doc",)),
    ],
)
def test_what_is_no_run_is_refused(data: Any, code: str, subject: str | None, columns: tuple[str, ...]) -> None:
    with pytest.raises(TableError) as refused:
        Run.of(data)
    error = refused.value
    assert (error.code, error.note.subject, error.columns) == (code, subject, columns)


def test_a_run_under_another_name_is_the_same_run() -> None:
    run = Run.of({"q1": {"d1": 1}}, name="a")
    twin = run.called("b")
    assert (run.name, twin.name) == ("a", "b")
    assert twin.frame.equals(run.frame)


@pytest.mark.parametrize(
    ("frame", "code", "found"),
    [
        ({"qid": ["q"], "doc": ["d"], "score": [1.0]}, "missing-column", "'query'"),
        ({"query": [1], "doc": ["d"], "score": [1.0]}, "bad-column-type", "Int64"),
        ({"query": ["q"], "doc": [None], "score": [1.0]}, "bad-column-type", "'doc'"),
        ({"query": ["q", "q"], "doc": ["d", None], "score": [1.0, 2.0]}, "empty-cell", "row 2"),
        ({"query": ["q"], "doc": ["d"], "score": [float("nan")]}, "bad-score", "run"),
    ],
)
def test_a_frame_given_directly_is_checked_too(frame: dict, code: str, found: str) -> None:
    with pytest.raises(TableError, match=found) as refused:
        Run(pl.DataFrame(frame))
    assert refused.value.code == code
