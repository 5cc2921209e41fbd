from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

from ringtrue.errors import DuplicateError, TableError, UsageError
from ringtrue.tables import Judgments
from strategies import int32, nested

ROWS = [("1", "d1", "0", 2), ("1", "d2", "0", 0), ("2", "d1", "0", 1)]
QUERIES, DOCS, JUDGES, LABELS = ([row[place] for row in ROWS] for place in range(4))


@pytest.mark.parametrize(
    "data",
    [
        {"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}},
        {"qid": QUERIES, "docno": DOCS, "label": LABELS},
        pd.DataFrame({"qid": [1, 1, 2], "docno": DOCS, "label": [2.0, 0.0, 1.0]}),
        pl.DataFrame({"query_id": QUERIES, "doc_id": DOCS, "relevance": LABELS, "iteration": JUDGES}),
        pl.LazyFrame({"q_id": QUERIES, "doc_id": DOCS, "score": LABELS}),
        pa.table({"query-id": QUERIES, "corpus-id": DOCS, "score": LABELS}),
        [{"topic": q, "document": d, "grade": str(r), "assessor": "0"} for q, d, _, r in ROWS],
    ],
)
def test_judgments_are_made_of_whatever_people_have(data: Any) -> None:
    frame = Judgments.of(data).frame
    assert frame.columns == ["query", "doc", "judge", "label"]
    assert frame.rows() == ROWS


@given(nested(int32))
def test_a_dictionary_comes_in_as_it_is(data: dict[str, dict[str, int]]) -> None:
    found = Judgments.of(data).frame
    assert found.rows() == [(query, doc, "0", label) for query, docs in data.items() for doc, label in docs.items()]


def test_judgments_are_themselves() -> None:
    judgments = Judgments.of({"q1": {"d1": 1}})
    assert Judgments.of(judgments) is judgments


def test_further_columns_are_kept() -> None:
    columns = {"design": ["pool"], "note": ["n"], "time": [5], "stratum": ["top"], "prob": ["0.25"], "label": [1]}
    frame = Judgments.of({**columns, "worker": ["w"], "doc": ["d"], "query": ["q"]}).frame
    assert frame.columns[:4] == ["query", "doc", "judge", "label"]
    expected = {"query": "q", "doc": "d", "judge": "w", "label": 1, "prob": 0.25, "stratum": "top", "time": 5}
    assert frame.to_dicts() == [expected | {"design": "pool", "note": "n"}]


def test_a_label_is_preferred_to_a_score() -> None:
    data = {"query": ["q"], "doc": ["d"], "score": [9], "label": [1]}
    assert Judgments.of(data).frame.to_dicts() == [{"query": "q", "doc": "d", "judge": "0", "label": 1, "score": 9}]


@pytest.mark.parametrize("prob", [0, -0.1, 1.01, float("nan"), None, "x"])
def test_a_probability_outside_its_range_is_refused(prob: Any) -> None:
    data = {"query": ["q", "q"], "doc": ["d", "e"], "label": [1, 1], "prob": [type(prob)(1) if prob else 1, prob]}
    with pytest.raises(TableError) as refused:
        Judgments.of(data)
    codes = {None: "empty-cell", "x": "bad-number"}
    code = "bad-number" if prob != prob else codes.get(prob, "bad-probability")
    assert (refused.value.code, refused.value.note.subject) == (code, "row 2")


@pytest.mark.parametrize(
    ("data", "code", "subject", "columns"),
    [
        ({}, "missing-column", None, ("query", "doc", "label")),
        ({"q1": {}}, "no-judgments", None, ()),
        ({"q1": {"d1": "relevant"}}, "bad-label", "row 1", ("label",)),
        ({"q1": {"d1": 1, "d2": 0.5}}, "bad-label", "row 2", ("label",)),
        ({"q1": {"d1": None}}, "empty-cell", "row 1", ("label",)),
        ({"query": ["q"], "doc": ["d"], "label": [1], "judge": [None]}, "empty-cell", "row 1", ("judge",)),
        ({"query": ["q"], "doc": ["d"]}, "missing-column", None, ("label",)),
    ],
)
def test_what_is_no_judgment_is_refused(data: Any, code: str, subject: str | None, columns: tuple[str, ...]) -> None:
    with pytest.raises(TableError) as refused:
        Judgments.of(data)
    error = refused.value
    assert (error.code, error.note.subject, error.columns) == (code, subject, columns)


SEVERAL = Judgments.of(
    {"query": ["q", "q", "q"], "doc": ["d", "e", "d"], "judge": ["anna", "anna", "ben"], "label": [1, 0, 2]}
)


def test_one_judges_labels_can_be_taken_alone() -> None:
    assert SEVERAL.judges == ("anna", "ben")
    assert SEVERAL.by("ben").frame.rows() == [("q", "d", "ben", 2)]
    with pytest.raises(UsageError, match=r"'ana'.*'anna'") as refused:
        SEVERAL.by("ana")
    assert (refused.value.code, refused.value.parameter) == ("unknown-judge", "judge")


def test_several_labels_of_one_document_are_told_with_what_to_do() -> None:
    with pytest.raises(DuplicateError, match="1 by anna, 2") as refused:
        SEVERAL.require_one_label_each()
    error = refused.value
    assert (error.code, error.query, error.doc, error.judge) == ("several-judges", "q", "d", None)
    assert [(hint.function, hint.arguments) for hint in error.note.suggestions] == [
        ("aggregate", {}),
        ("", {"judges": "average"}),
    ]
    again = Judgments.of({"query": ["q", "r", "q"], "doc": ["d", "d", "d"], "label": [1, 1, 1]})
    with pytest.raises(DuplicateError, match="1 by 0, 1 by 0") as refused:
        again.require_one_label_each()
    assert (refused.value.code, refused.value.judge) == ("repeated-label", "0")
    SEVERAL.by("anna").require_one_label_each()


@pytest.mark.parametrize(
    "data",
    [
        {"item": ["a", "b"], "worker": ["x", "y"], "label": [1, 0]},
        {"task": ["a", "b"], "worker": ["x", "y"], "label": [1, 0]},
        pd.DataFrame({"item": ["a", "b"], "rater": ["x", "y"], "truth": [1.0, 0.0]}),
        [{"doc": "a", "judge": "x", "grade": 1}, {"doc": "b", "judge": "y", "grade": 0}],
    ],
)
def test_judgments_may_do_without_queries_where_nothing_is_searched(data: Any) -> None:
    assert Judgments.of(data, needs_query=False).frame.rows() == [("0", "a", "x", 1), ("0", "b", "y", 0)]
    with pytest.raises(TableError) as refused:
        Judgments.of(data)
    assert (refused.value.code, refused.value.columns) == ("missing-column", ("query",))


def test_a_query_that_is_there_is_used_though_none_is_needed() -> None:
    data = {"label": [1], "qid": ["q7"], "query": ["what is it"], "doc": ["d"]}
    found = Judgments.of(data, needs_query=False).frame
    assert found.to_dicts() == [{"query": "q7", "doc": "d", "judge": "0", "label": 1, "query_text": "what is it"}]


@given(nested(int32))
def test_needing_no_query_changes_nothing_where_there_is_one(data: dict[str, dict[str, int]]) -> None:
    assert Judgments.of(data, needs_query=False).frame.equals(Judgments.of(data).frame)


@pytest.mark.parametrize(
    ("data", "code", "column"),
    [
        ({"worker": ["x"], "label": [1]}, "missing-column", "doc"),
        ({"item": ["a"], "worker": ["x"]}, "missing-column", "label"),
        ({"item": ["a"], "query": [None], "label": [1]}, "empty-cell", "query"),
    ],
)
def test_only_the_query_may_be_missing(data: Any, code: str, column: str) -> None:
    with pytest.raises(TableError) as refused:
        Judgments.of(data, needs_query=False)
    assert (refused.value.code, refused.value.columns) == (code, (column,))


def test_how_long_it_took_and_in_which_batch_are_known_columns() -> None:
    data = {"doc": ["d"], "label": [1], "hit_id": ["H1"], "work_time": [12.5], "timestamp": ["t"]}
    (row,) = Judgments.of(data, needs_query=False).frame.to_dicts()
    assert (row["batch"], row["seconds"], row["time"]) == ("H1", 12.5, "t")
