"""What the runs show, and what bronze says of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from gold.correction.worlds import world
from ringtrue.errors import DuplicateError, MismatchError
from ringtrue.evaluation.pooling import pool as pool_table
from ringtrue.gold.correction.pool import Pool, build_pool
from ringtrue.tables import Judgments, Run


def pool_of(runs: dict[str, dict[str, dict[str, float]]], bronze: object, depth: int) -> Pool:
    return build_pool([Run.of(run, name=name) for name, run in runs.items()], Judgments.of(bronze), depth=depth)


def shown(pool: Pool) -> set[tuple[str, str, str, int]]:
    """run, query, doc, rank."""
    rows = zip(pool.run.tolist(), pool.doc_index.tolist(), pool.rank.tolist(), strict=True)
    return {(pool.runs[run], *pool.docs.row(doc), rank) for run, doc, rank in rows}


def test_by_hand() -> None:
    runs = {"new": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"x": 1.0}}, "old": {"q": {"b": 9.0, "d": 8.0}}}
    pool = pool_of(runs, {"q": {"a": 2, "b": 0}, "r": {"x": 1}, "s": {"z": 1}}, depth=2)
    assert (pool.runs, pool.queries, pool.levels, pool.depth) == (("new", "old"), ("q", "r", "s"), (-1, 0, 1, 2), 2)
    assert pool.docs.rows() == [("q", "a"), ("q", "b"), ("r", "x"), ("q", "d")]
    assert [pool.queries[place] for place in pool.query] == ["q", "q", "r", "q"]
    assert [pool.levels[place] for place in pool.level] == [2, 0, 1, -1]
    assert shown(pool) == {("new", "q", "a", 1), ("new", "q", "b", 2), ("new", "r", "x", 1), ("old", "q", "b", 1),
                           ("old", "q", "d", 2)}  # fmt: skip
    assert pool.runs_per_doc.tolist() == [1, 2, 1, 1]
    assert np.argsort(pool.similarity_key).tolist() == [3, 1, 2, 0]  # no label, 0, 1, 2
    weights = pool.weights(np.array([1.0, 0.5])).toarray()
    assert weights.tolist() == [[1 / 3, 1 / 6, 1 / 3, 0], [0, 1 / 3, 0, 1 / 6]]
    assert pool.notes == ("of 4 documents in the top 2, 1 document has no bronze label: a level of their own",)


def test_documents_of_one_bronze_level_are_the_more_alike_the_more_runs_show_both() -> None:
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    runs = {"x": run, "y": {"q": {"b": 2.0, "c": 1.0}}, "z": {"q": {"b": 1.0}}}
    pool = pool_of(runs, {"q": {"a": 1, "b": 1, "c": 0}}, depth=3)
    assert [pool.docs["doc"][place] for place in np.argsort(pool.similarity_key).tolist()] == ["c", "a", "b"]


def test_the_signature_of_a_pool_knows_documents_labels_and_runs_but_no_order() -> None:
    runs = {"x": {"q": {"a": 2.0, "b": 1.0}}, "y": {"q": {"b": 2.0, "c": 1.0}}}
    bronze = {"q": {"a": 1, "b": 0, "c": 1}}
    one = pool_of(runs, bronze, depth=2).signature
    assert one == pool_of({"y": runs["y"], "x": runs["x"]}, bronze, depth=2).signature
    assert one == pool_of(runs, {"q": dict(reversed(bronze["q"].items()))}, depth=2).signature
    assert one != pool_of(runs, {"q": bronze["q"] | {"a": 0}}, depth=2).signature
    assert one != pool_of(runs, bronze, depth=1).signature
    assert one != pool_of({"x": runs["x"], "y": {"q": {"a": 2.0, "c": 1.0}}}, bronze, depth=2).signature


def test_a_negative_bronze_label_is_none() -> None:
    pool = pool_of({"run": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}}, {"q": {"a": 1, "b": -2}}, depth=3)
    assert [pool.levels[place] for place in pool.level] == [1, -1, -1]
    assert pool.notes == ("of 3 documents in the top 3, 2 documents have no bronze label: a level of their own",)


def test_places_of_documents_and_of_those_that_no_run_shows() -> None:
    pool = pool_of({"run": {"q": {"a": 3.0, "b": 2.0}}}, {"q": {"a": 1, "b": 1}, "r": {"a": 1}}, depth=5)
    gold = Judgments.of({"q": {"b": 1, "z": 1, "a": 0}, "r": {"a": 1}})
    assert pool.positions_of(gold.frame).tolist() == [1, -1, 0, -1]
    assert pool.notes == ()


def test_a_query_that_bronze_does_not_know_is_not_pooled() -> None:
    pool = pool_of({"run": {"q": {"a": 1.0}, "z": {"a": 1.0}}}, {"q": {"a": 1}}, depth=1)
    assert pool.docs.rows() == [("q", "a")]


def test_a_run_without_a_judged_query_is_refused() -> None:
    with pytest.raises(MismatchError, match=r"run 'odd' and the judgments have no query in common.*'z'.*'q'"):
        pool_of({"run": {"q": {"a": 1.0}}, "odd": {"z": {"a": 1.0}}}, {"q": {"a": 1}}, depth=1)


def test_two_bronze_labels_of_a_document_are_refused() -> None:
    twice = {"query": ["q", "q"], "doc": ["a", "a"], "judge": ["x", "y"], "label": [0, 1]}
    with pytest.raises(DuplicateError, match="document 'a' of query 'q' has 2 labels"):
        pool_of({"run": {"q": {"a": 1.0}}}, twice, depth=1)


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), depth=st.integers(1, 7))
def test_the_pool_is_the_union_of_the_tops(seed: int, depth: int) -> None:
    here = world(seed)
    pool = pool_of(here.runs, here.bronze, depth)
    tops = {
        (name, query, doc, rank)
        for name, run in here.runs.items()
        for query, docs in run.items()
        for rank, doc in enumerate(sorted(docs, key=lambda doc: (docs[doc], doc), reverse=True)[:depth], start=1)
    }
    assert shown(pool) == tops
    assert len(set(pool.docs.rows())) == len(pool)
    found = pool_table([Run.of(run, name=name) for name, run in here.runs.items()], depth=depth)
    assert set(found.select("query", "doc").rows()) == set(pool.docs.rows())
