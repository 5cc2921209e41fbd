"""Which column is which, by its name."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import TableError
from ringtrue.tables.column_aliases import find_free_name, rename_columns, suggest_column


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
