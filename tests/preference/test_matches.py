"""Votes as numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

from preference.random_votes import matches, preferences, random_votes
from ringtrue.errors import DuplicateError
from ringtrue.preference.matches import Matches, MatchRounds
from strategies import examples


def test_whichever_side_a_document_stands_on_the_match_is_the_same() -> None:
    found = matches([("a", "b", "left"), ("b", "a", "right"), ("b", "a", "b"), ("a", "b", "both_bad")])
    assert found.first.tolist() == [0, 0, 0, 0]
    assert found.second.tolist() == [1, 1, 1, 1]
    assert found.score.tolist() == [1, 1, 0, 0.5]
    assert found.tied.tolist() == [0, 0, 0, 1]


def test_a_document_of_two_queries_is_two_documents() -> None:
    found = matches([("p", "a", "b", "a"), ("q", "b", "a", "a"), ("p", "b", "c", "c")])
    assert found.docs.rows() == [("p", "a"), ("p", "b"), ("p", "c"), ("q", "a"), ("q", "b")]
    assert found.start.tolist() == [0, 3, 5]
    assert found.query.tolist() == [0, 0, 0, 1, 1]


def test_a_pair_has_the_mean_of_its_votes_in_order_of_appearance() -> None:
    found = matches([("c", "d", "c"), ("a", "b", "a"), ("d", "c", "tie"), ("b", "a", "b")]).merge_by_pair()
    names = found.docs["doc"].to_list()
    assert [(names[one], names[other]) for one, other in zip(found.first, found.second, strict=True)] == [
        ("c", "d"),
        ("a", "b"),
    ]
    assert found.score.tolist() == [0.75, 0.5]
    assert found.weight.tolist() == [2, 2]
    assert found.tied.tolist() == [0.5, 0]


def test_documents_joined_by_chains_are_one_group() -> None:
    group = matches([("a", "b", "a"), ("c", "d", "c"), ("b", "e", "b")]).components()
    names = ["a", "c", "b", "d", "e"]
    of = dict(zip(names, group.tolist(), strict=True))
    assert of["a"] == of["b"] == of["e"] != of["c"] == of["d"]


def test_a_named_judge_who_votes_again_is_asked_about() -> None:
    rows = [("q", "a", "b", "a", "ann"), ("q", "b", "a", "b", "ann"), ("q", "a", "b", "b", "bob")]
    with pytest.raises(DuplicateError) as refused:
        Matches.of(preferences(rows))
    assert refused.value.code == "repeated-labels"
    assert "judge 'ann' " in refused.value.text
    assert "2 times" in refused.value.text
    scores = {
        choice: Matches.of(preferences(rows), repeats=choice).score.tolist() for choice in ("first", "last", "all")
    }
    assert scores == {"first": [1, 0], "last": [1, 1], "all": [1, 0, 0]}  # without the first row, b comes first


def test_votes_of_nobody_in_particular_all_count() -> None:
    assert Matches.of(preferences([("a", "b", "a"), ("a", "b", "a")])).size == 2


def test_a_column_called_row_does_no_harm() -> None:
    frame = preferences([("q", "a", "b", "a", "x"), ("q", "a", "b", "b", "y")]).frame.with_columns(row=pl.lit(7))
    assert Matches.of(type(preferences([("a", "b", "a")]))(frame)).size == 2


@examples(50)
@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(1, 9))
def test_rounds_hold_every_match_once_each_query_in_order_and_no_document_twice(
    seed: int, queries: int, together: int
) -> None:
    votes = Matches.of(random_votes(seed, queries=queries, docs=5, votes=40), repeats="all")
    rounds = MatchRounds.of(votes, min_batch=together)
    played = np.concatenate([*rounds.batches, rounds.sequential])
    assert sorted(played.tolist()) == list(range(votes.size))
    query = votes.query[votes.first]
    for q in range(queries):
        own = [row for row in played.tolist() if query[row] == q]
        assert own == sorted(own)
    for rows in rounds.batches:
        assert len(rows) >= together
        assert len(set(query[rows].tolist())) == len(rows)


@examples(30)
@given(st.integers(0, 10_000))
def test_the_matches_of_each_query_by_themselves_are_all_matches(seed: int) -> None:
    votes = Matches.of(random_votes(seed, queries=3, judges=3), repeats="all")
    seen = 0
    for q, (rows, own) in enumerate(votes.by_query()):
        seen += own.size
        assert own.docs.equals(votes.docs[int(votes.start[q]) : int(votes.start[q + 1])])
        assert (own.docs["doc"].gather(own.first) == votes.docs["doc"].gather(votes.first[rows])).all()
        assert own.score.tolist() == votes.score[rows].tolist()
    assert seen == votes.size
