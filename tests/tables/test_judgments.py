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
    with pytest.raises(
        TableError,
        match=r"row 2: (expected a (probability above 0|finite number in column 'prob')|column 'prob' is empty)",
    ):
        Judgments.of(data)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({}, "found no column"),
        ({"q1": {}}, "there is no judgment here"),
        ({"q1": {"d1": "relevant"}}, "row 1: expected a finite number in column 'label', found 'relevant'"),
        ({"q1": {"d1": 1, "d2": 0.5}}, "row 2: expected a whole number"),
        ({"q1": {"d1": None}}, "row 1: column 'label' is empty"),
        ({"query": ["q"], "doc": ["d"], "label": [1], "judge": [None]}, "row 1: column 'judge' is empty"),
        ({"query": ["q"], "doc": ["d"]}, "needs a column 'label'"),
    ],
)
def test_what_is_no_judgment_is_refused(data: Any, says: str) -> None:
    with pytest.raises(TableError, match=says):
        Judgments.of(data)


SEVERAL = Judgments.of(
    {"query": ["q", "q", "q"], "doc": ["d", "e", "d"], "judge": ["anna", "anna", "ben"], "label": [1, 0, 2]}
)


def test_one_judges_labels_can_be_taken_alone() -> None:
    assert SEVERAL.judges == ("anna", "ben")
    assert SEVERAL.by("ben").frame.rows() == [("q", "d", "ben", 2)]
    with pytest.raises(UsageError, match=r"no judge 'ana' here, only anna, ben; did you mean 'anna'\?"):
        SEVERAL.by("ana")


def test_several_labels_of_one_document_are_told_with_what_to_do() -> None:
    with pytest.raises(
        DuplicateError, match=r"'d' of query 'q' has 2 labels \(1 by anna, 2 by ben\); make one label of them"
    ):
        SEVERAL.require_one_label_each()
    again = Judgments.of({"query": ["q", "r", "q"], "doc": ["d", "d", "d"], "label": [1, 1, 1]})
    with pytest.raises(DuplicateError, match=r"has 2 labels \(1 by 0, 1 by 0\); keep one of them"):
        again.require_one_label_each()
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
    with pytest.raises(TableError, match="needs a column 'query'"):
        Judgments.of(data)


def test_a_query_that_is_there_is_used_though_none_is_needed() -> None:
    data = {"label": [1], "qid": ["q7"], "query": ["what is it"], "doc": ["d"]}
    found = Judgments.of(data, needs_query=False).frame
    assert found.to_dicts() == [{"query": "q7", "doc": "d", "judge": "0", "label": 1, "query_text": "what is it"}]


@given(nested(int32))
def test_needing_no_query_changes_nothing_where_there_is_one(data: dict[str, dict[str, int]]) -> None:
    assert Judgments.of(data, needs_query=False).frame.equals(Judgments.of(data).frame)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ({"worker": ["x"], "label": [1]}, "needs a column 'doc'"),
        ({"item": ["a"], "worker": ["x"]}, "needs a column 'label'"),
        ({"item": ["a"], "query": [None], "label": [1]}, "row 1: column 'query' is empty"),
    ],
)
def test_only_the_query_may_be_missing(data: Any, says: str) -> None:
    with pytest.raises(TableError, match=says):
        Judgments.of(data, needs_query=False)


def test_how_long_it_took_and_in_which_batch_are_known_columns() -> None:
    data = {"doc": ["d"], "label": [1], "hit_id": ["H1"], "work_time": [12.5], "timestamp": ["t"]}
    (row,) = Judgments.of(data, needs_query=False).frame.to_dicts()
    assert (row["batch"], row["seconds"], row["time"]) == ("H1", 12.5, "t")
