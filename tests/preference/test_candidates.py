"""The documents that could be compared: where they come from, and what preferences know of them."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given

from ringtrue.errors import InputError, MismatchError, TableError, UsageError
from ringtrue.evaluation.inputs import pool
from ringtrue.preference.pair_designs import Candidates, list_tables
from ringtrue.tables import Preferences, Run
from strategies import examples, preferences, runs


def test_a_run_is_ranked_by_its_scores_and_cut_at_the_depth() -> None:
    found = Candidates.of({"q1": {"a": 1.0, "b": 3.0, "c": 2.0}, "q2": {"d": 0.5}}, depth=2)
    assert found.docs.rows() == [("q1", "b"), ("q1", "c"), ("q2", "d")]
    assert (found.queries, found.start.tolist()) == (("q1", "q2"), [0, 2, 3])


def test_a_pool_stands_in_its_own_order_and_the_rows_of_a_query_come_together() -> None:
    found = Candidates.of({"qid": [2, 1, 2], "docno": ["z", "y", "x"], "best_rank": [9, 1, 1]})
    assert found.docs.rows() == [("2", "z"), ("2", "x"), ("1", "y")]


@given(runs())
def test_the_pool_of_one_run_has_the_order_of_the_run_where_no_scores_are_equal(run: Run) -> None:
    deep = Candidates.of(run)
    assert deep.docs.equals(run.ranked().select("query", "doc"))
    pooled = Candidates.of(pool([run], depth=10**6))
    assert pooled.docs.sort("query", "doc").equals(deep.docs.sort("query", "doc"))


def test_several_runs_are_pooled_at_the_depth_and_stand_in_the_order_of_the_pool() -> None:
    one = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"z": 1.0}}
    other = {"q1": {"d": 9.0, "b": 8.0, "e": 7.0}}
    found = Candidates.of([one, other], depth=2)
    assert found.docs.rows() == [("q1", "b"), ("q1", "a"), ("q1", "d"), ("q2", "z")]
    frames = [Run.of(run).frame for run in (one, other)]
    for several in ([Run.of(one), Run.of(other)], (one, Run.of(other)), {"a": one, "b": other}, frames):
        assert Candidates.of(several, depth=2).docs.equals(found.docs)
    assert Candidates.of([one, other]).docs.height == 6
    assert Candidates.of([one]).docs.equals(Candidates.of(one).docs)


def test_several_pools_cannot_be_put_in_one_order() -> None:
    pooled = {"query": ["q", "q"], "doc": ["a", "b"]}
    with pytest.raises(UsageError) as refused:
        Candidates.of([{"q": {"a": 1.0}}, pooled])
    assert refused.value.code == "missing-score"
    assert "number 2 of 2" in refused.value.text


@pytest.mark.parametrize(
    ("data", "count"),
    [
        ([{"query": "q", "doc": "a"}, {"query": "q", "doc": "b"}], 1),
        ([("q", "a"), ("q", "b")], 1),
        ({"query": ["q"], "doc": ["a"]}, 1),
        ({"query": pl.Series(["q"]), "doc": pl.Series(["a"])}, 1),
        ({"q1": {"a": 1.0}, "q2": {"b": 1.0}}, 1),
        (pl.DataFrame({"query": ["q"]}), 1),
        (pl.DataFrame({"query": ["q"]}).lazy(), 1),
        ([pl.DataFrame({"query": ["q"]}), pl.DataFrame({"query": ["q"]}).lazy()], 2),
        ([{"query": ["q"], "doc": ["a"]}] * 3, 3),
        ([], 1),
    ],
)
def test_a_list_of_tables_is_told_from_a_table(data: object, count: int) -> None:
    assert len(list_tables(data)) == count


def test_a_document_that_stands_twice_in_a_pool_is_refused() -> None:
    with pytest.raises(TableError) as refused:
        Candidates.of({"query": ["q", "q"], "doc": ["a", "a"]})
    assert refused.value.code == "duplicate-document"
    assert "document 'a'" in refused.value.text


def test_an_empty_pool_is_refused() -> None:
    with pytest.raises(TableError) as refused:
        Candidates.of(pl.DataFrame(schema={"query": pl.String, "doc": pl.String}))
    assert refused.value.code == "empty-pool"


def test_a_depth_of_one_leaves_nothing_to_compare() -> None:
    with pytest.raises(UsageError) as refused:
        Candidates.of({"q": {"a": 1.0, "b": 0.0}}, depth=1)
    assert (refused.value.code, refused.value.parameter) == ("out-of-range", "depth")


def test_queries_with_one_document_are_left_out_with_a_word() -> None:
    found, notes = Candidates.of(
        {"q1": {"a": 1.0}, "q2": {"a": 1.0, "b": 0.0}, "q3": {"c": 1.0}}
    ).drop_single_documents()
    assert found.queries == ("q2",)
    assert [note.code for note in notes] == ["single-document-queries"]
    assert notes[0].startswith("query 'q1' and 1 more ")
    with pytest.raises(InputError) as refused:
        Candidates.of({"q1": {"a": 1.0}}).drop_single_documents()
    assert refused.value.code == "no-two-documents"


def test_documents_that_only_preferences_know_come_last_and_other_queries_say_nothing() -> None:
    votes = {"query": ["q1", "q1", "q9"], "left": ["x", "b", "m"], "right": ["a", "y", "n"], "winner": ["left"] * 3}
    found, kept, notes = Candidates.of({"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}).add_preferences(
        Preferences.of(votes)
    )
    assert found.docs.rows() == [("q1", "a"), ("q1", "b"), ("q1", "x"), ("q1", "y"), ("q2", "c")]
    assert kept.frame["query"].to_list() == ["q1", "q1"]
    assert [note.code for note in notes] == ["queries-without-candidates", "documents-not-candidates"]
    assert notes[0].startswith("1 of 3 ")
    assert notes[1].startswith("2 of 4 ")
    assert "'x' of query 'q1'" in notes[1]


def test_preferences_about_none_of_the_queries_are_refused() -> None:
    votes = Preferences.of({"query": ["7"], "left": ["a"], "right": ["b"], "winner": ["a"]})
    with pytest.raises(MismatchError) as refused:
        Candidates.of({"q1": {"a": 2.0}}).add_preferences(votes)
    assert refused.value.code == "no-common-query"
    assert "'7'" in refused.value.text
    assert "'q1'" in refused.value.text


@examples(40)
@given(preferences())
def test_votes_become_matches_between_rows_whoever_stood_left(votes: Preferences) -> None:
    names = pl.concat([votes.frame.select("query", doc=side) for side in ("right", "left")]).unique(maintain_order=True)
    found = Candidates.of(names)
    matches = found.to_matches(votes)
    assert (matches.first < matches.second).all()
    for row, (query, left, right, winner) in enumerate(votes.frame.select("query", "left", "right", "winner").rows()):
        first, second = (found.docs.row(int(side[row])) for side in (matches.first, matches.second))
        assert {first, second} == {(query, left), (query, right)}
        better = {"left": left, "right": right}.get(winner)
        assert matches.score[row] == (0.5 if better is None else float(first[1] == better))
    assert np.array_equal(matches.tied, (matches.score == 0.5).astype(float))
