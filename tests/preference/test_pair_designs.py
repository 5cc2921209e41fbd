"""The published design, random pairs and Swiss rounds."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.preference.matches import Matches
from ringtrue.preference.pair_designs import (
    Candidates,
    Pairs,
    choose_random_pairs,
    choose_seed_pairs,
    choose_swiss_pairs,
    published_pair_count,
    share_evenly,
)
from ringtrue.tables import Preferences
from strategies import examples

STATIC = {"seed": choose_seed_pairs, "random": choose_random_pairs, "swiss": choose_swiss_pairs}


def matched(sizes: list[int], votes: list[tuple[int, int, int, str]] = []) -> Matches:  # noqa: B006 - never changed
    """Documents d0, d1, … of the queries q0, q1, …, and votes as (query, left, right, winner)."""
    candidates = Candidates.of(
        {
            "query": [f"q{q}" for q, size in enumerate(sizes) for _ in range(size)],
            "doc": [f"d{doc}" for size in sizes for doc in range(size)],
        }
    )
    if not votes:
        return candidates.to_matches(None)
    query, left, right, winner = zip(*votes, strict=True)
    table = {"query": [f"q{q}" for q in query], "left": [f"d{doc}" for doc in left],
             "right": [f"d{doc}" for doc in right], "winner": winner}  # fmt: skip
    return candidates.to_matches(Preferences.of(table))


def pairs_of(pairs: Pairs) -> list[tuple[int, int]]:
    return list(zip(pairs.first.tolist(), pairs.second.tolist(), strict=True))


@st.composite
def worlds(draw: st.DrawFn) -> Matches:
    sizes = draw(st.lists(st.integers(2, 9), min_size=1, max_size=4))
    votes = []
    for _ in range(draw(st.integers(0, 12))):
        query = draw(st.integers(0, len(sizes) - 1))
        left, right = draw(st.permutations(range(sizes[query])))[:2]
        votes.append((query, left, right, draw(st.sampled_from(["left", "right", "tie"]))))
    return matched(sizes, votes)


def test_the_published_design_has_fifteen_pairs_of_six_documents_and_five_for_every_other() -> None:
    for size, count in ((2, 1), (5, 10), (6, 15), (7, 20), (40, 185)):
        pairs = choose_seed_pairs(matched([size]), votes=4, budget=None, rng=np.random.default_rng(0))
        assert len(set(pairs_of(pairs))) == len(pairs.first) == count == published_pair_count(np.array([size]))[0]
        assert set(pairs.copies) == {4}
        met = Counter(pairs.second.tolist())
        assert all(met[doc] == min(doc, 5) for doc in range(size))


def test_opponents_are_drawn_from_all_those_above_alike() -> None:
    rng, known = np.random.default_rng(1), matched([11])
    seen = Counter(
        first
        for _ in range(600)
        for first, second in pairs_of(choose_seed_pairs(known, votes=1, budget=None, rng=rng))
        if second == 10
    )
    assert sorted(seen) == list(range(10))
    assert all(abs(count - 300) < 5 * math.sqrt(600 / 4) for count in seen.values())


def test_a_budget_of_the_published_design_is_spent_from_the_top_down() -> None:
    pairs = choose_seed_pairs(matched([10]), votes=4, budget=4, rng=np.random.default_rng(0))
    assert pairs_of(pairs) == [(0, 1), (0, 2), (1, 2), (0, 3)]


def test_the_published_design_goes_on_with_the_opponents_that_a_document_has_met() -> None:
    met = [(0, 7, doc, "tie") for doc in (1, 3) for _ in range(2)] + [(0, 0, 1, "left")] * 4
    pairs = choose_seed_pairs(matched([8], met), votes=4, budget=None, rng=np.random.default_rng(0))
    asked = dict(zip(pairs_of(pairs), pairs.copies.tolist(), strict=True))
    assert (0, 1) not in asked  # it has its four votes
    assert (asked[1, 7], asked[3, 7]) == (2, 2)
    assert sum(second == 7 for _, second in asked) == 5


def test_a_document_with_many_opponents_gets_no_more() -> None:
    met = [(0, 9, doc, "left") for doc in range(8)]
    pairs = choose_seed_pairs(matched([10], met), votes=1, budget=None, rng=np.random.default_rng(0))
    assert 9 not in pairs.second


def test_a_swiss_round_pairs_neighbours_first_by_the_initial_order_then_by_the_votes() -> None:
    rng = np.random.default_rng(0)
    assert pairs_of(choose_swiss_pairs(matched([5]), votes=1, budget=None, rng=rng)) == [(0, 1), (2, 3)]
    # 1 beat 0 and 3 beat 2: the winners meet, then the losers; 4 has not played, and stands between them.
    played = [(0, 0, 1, "right"), (0, 2, 3, "right")]
    assert pairs_of(choose_swiss_pairs(matched([5], played), votes=1, budget=None, rng=rng)) == [(1, 3), (0, 4)]


def test_swiss_rounds_go_on_until_everybody_has_met() -> None:
    pairs = choose_swiss_pairs(matched([6]), votes=1, budget=100, rng=np.random.default_rng(0))
    assert sorted(pairs_of(pairs)) == [(first, second) for first in range(6) for second in range(first + 1, 6)]


def test_random_pairs_are_all_alike() -> None:
    rng = np.random.default_rng(2)
    known = matched([5], [(0, 0, 1, "left"), (0, 4, 2, "tie")])
    seen = Counter(
        pair for _ in range(800) for pair in pairs_of(choose_random_pairs(known, votes=1, budget=2, rng=rng))
    )
    assert len(seen) == 8
    assert not {(0, 1), (2, 4)} & set(seen)
    assert all(abs(count - 200) < 5 * math.sqrt(800 * 0.25 * 0.75) for count in seen.values())


def test_without_a_budget_random_pairs_are_as_many_as_the_published_design_has() -> None:
    assert (
        len(choose_random_pairs(matched([12, 3]), votes=4, budget=None, rng=np.random.default_rng(0)).first) == 45 + 3
    )


@examples(40)
@given(worlds(), st.sampled_from(sorted(STATIC)), st.integers(1, 4), st.none() | st.integers(1, 60), st.integers(0, 9))
def test_every_pair_is_asked_once_within_a_query_for_the_votes_that_it_lacks(
    known: Matches, design: str, votes: int, budget: int | None, seed: int
) -> None:
    pairs = STATIC[design](known, votes=votes, budget=budget, rng=np.random.default_rng(seed))
    found = pairs_of(pairs)
    assert len(set(found)) == len(found)
    assert (pairs.first < pairs.second).all()
    assert np.array_equal(known.query[pairs.first], known.query[pairs.second])
    tally = Counter(zip(known.first.tolist(), known.second.tolist(), strict=True))
    assert [votes - tally[pair] for pair in found] == pairs.copies.tolist()
    assert (pairs.copies > 0).all()
    sizes = np.diff(known.start)
    left = int((sizes * (sizes - 1) // 2).sum()) - sum(count >= votes for count in tally.values())
    if budget is not None:
        assert len(found) <= min(budget, left)
        if design != "seed":
            assert len(found) == min(budget, left)
    again = STATIC[design](known, votes=votes, budget=budget, rng=np.random.default_rng(seed))
    assert pairs_of(again) == found


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(0, 120), st.integers(0, 9))
def test_shares_are_as_even_as_the_queries_allow(most: list[int], budget: int, seed: int) -> None:
    share = share_evenly(np.array(most), budget, np.random.default_rng(seed))
    assert share.sum() == min(budget, sum(most))
    assert (share <= most).all()
    wanting = share[share < most]
    assert len(wanting) == 0 or share.max() <= wanting.min() + 1


@pytest.mark.parametrize("design", sorted(STATIC))
def test_a_budget_is_shared_evenly_over_queries(design: str) -> None:
    pairs = STATIC[design](matched([20, 20, 3]), votes=1, budget=23, rng=np.random.default_rng(0))
    assert Counter(np.searchsorted([20, 40], pairs.first, side="right").tolist()) == {0: 10, 1: 10, 2: 3}
