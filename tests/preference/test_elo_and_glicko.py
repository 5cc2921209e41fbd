"""Ratings match by match, against published examples, by hand, and against a plain loop."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import ringtrue as rt
from preference.random_votes import matches, random_votes
from ringtrue.preference.elo_and_glicko import (
    elo,
    find_inverted,
    glicko,
    learn_from_match,
    play_elo_pass,
    update_rating,
    win_rate,
)
from ringtrue.preference.matches import Matches, MatchRounds
from strategies import examples


@pytest.fixture(scope="module")
def anchors(data: Path) -> dict[str, Any]:
    return {one["name"]: one for one in json.loads((data.parent / "anchors-agreement.json").read_text())}


def elo_by_hand(votes: Matches, k: float, start: float, scale: float, passes: int) -> list[float]:
    ratings = [start] * votes.docs.height
    for _ in range(passes):
        for one, other, score in zip(votes.first, votes.second, votes.score, strict=True):
            expected = 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / scale))
            ratings[one] += k * (score - expected)
            ratings[other] -= k * (score - expected)
    return ratings


@pytest.mark.real
def test_the_elo_example_of_a_tournament(anchors: dict[str, Any]) -> None:
    given_, expected = (anchors["elo_wikipedia_tournament"][key] for key in ("data", "expected"))
    unit = given_["F"] / math.log(10)
    gained = 0.0
    for opponent, score in zip(given_["opponents"], given_["scores"], strict=True):
        word = {1: "left", 0: "right", 0.5: "tie"}[score]
        match = matches([("player", "opponent", word)])
        ratings = np.array([given_["rating"], opponent]) / unit
        play_elo_pass(match, MatchRounds.of(match), ratings, k=given_["K"] / unit)
        gained += ratings[0] * unit - given_["rating"]
    assert given_["rating"] + gained == pytest.approx(expected["new_rating"], abs=0.005)
    assert sum(given_["scores"]) - gained / given_["K"] == pytest.approx(expected["expected_score"], abs=1e-6)


@pytest.mark.real
def test_glickmans_worked_example(anchors: dict[str, Any]) -> None:
    given_, expected = (anchors["glicko1_glickman_example"][key] for key in ("data", "expected"))
    q = math.log(10) / given_["F"]
    told, pull = learn_from_match(
        given_["r"] * q,
        q * np.array(given_["opponents"]),
        (q * np.array(given_["opponent_RD"])) ** 2,
        np.array(given_["scores"]),
        1,
    )
    after, variance = update_rating(given_["r"] * q, (given_["RD"] * q) ** 2, told.sum(), pull.sum())
    assert after / q == pytest.approx(1464.106, abs=0.001)
    assert math.sqrt(variance) / q == pytest.approx(expected["new_RD"], abs=0.01)
    assert 1 / math.sqrt(told.sum()) / q == pytest.approx(231.70, abs=0.01)


@pytest.mark.real
@pytest.mark.parametrize("name", ["food", "simple", "llmfao"])
def test_evalicas_reference_scores_of_elo_and_of_counted_wins(data: Path, name: str) -> None:
    votes = Matches.of(rt.read_preferences(data / "arena" / f"{name}.csv"), repeats="all")
    reference = pl.read_csv(data / "arena" / f"{name}-golden.csv", schema_overrides={"item": pl.String})
    wins = np.bincount(votes.first, weights=votes.score, minlength=votes.docs.height)
    wins += np.bincount(votes.second, weights=1 - votes.score, minlength=votes.docs.height)
    for algorithm, own in (("elo", elo(votes, k=4, start=1000, scale=400)[0]), ("counting", wins)):
        known = dict(reference.filter(algorithm=algorithm).select("item", "score").rows())
        assert own.tolist() == pytest.approx([known[doc] for doc in votes.docs["doc"]], abs=1e-9)


@examples(30)
@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 3))
def test_elo_in_rounds_is_elo_in_a_plain_loop(seed: int, queries: int, passes: int) -> None:
    votes = Matches.of(random_votes(seed, queries=queries, votes=120), repeats="all")
    found = elo(votes, k=16, start=100, scale=200, passes=passes)[-1]
    assert found.tolist() == pytest.approx(elo_by_hand(votes, 16, 100, 200, passes), abs=1e-9)


@examples(30)
@given(st.integers(0, 10_000))
def test_what_one_document_gains_another_loses(seed: int) -> None:
    votes = Matches.of(random_votes(seed, queries=2), repeats="all")
    ratings = elo(votes, k=40, start=1500, scale=400, passes=3)[-1]
    means = [ratings[low:high].mean() for low, high in zip(votes.start[:-1], votes.start[1:], strict=True)]
    assert means == pytest.approx([1500] * len(means))


def test_a_share_of_votes_moves_ratings_as_much_as_a_single_vote_at_most() -> None:
    four = matches([("a", "b", "a")] * 4).merge_by_pair()
    assert elo(four, k=32, start=1500, scale=400)[0].tolist() == pytest.approx([1516, 1484])


@pytest.mark.parametrize("method", ["elo", "glicko", "win-rate"])
def test_what_is_in_other_queries_changes_nothing(method: str) -> None:
    votes = random_votes(3, queries=4, votes=200)
    together = rt.rate(votes, method=method).frame
    for (query,), rows in votes.frame.group_by("query"):
        alone = rt.rate(rt.Preferences(rows), method=method).frame
        both = together.filter(pl.col("query") == query).join(alone, on="doc")
        assert both["rating"].to_list() == pytest.approx(both["rating_right"].to_list(), abs=1e-7)


def test_inverted_pairs_are_those_that_change_places() -> None:
    votes = matches([("a", "b", "a"), ("b", "c", "b")])
    assert find_inverted(votes, np.array([3.0, 2.0, 1.0]), np.array([3.0, 1.0, 2.0])).tolist() == [False, True]


@examples(20)
@given(st.integers(0, 10_000))
def test_glicko_in_rounds_is_glicko_one_by_one(seed: int) -> None:
    votes = Matches.of(random_votes(seed, queries=40, votes=150), repeats="all")
    ratings, variances = glicko(votes, start=100, variance=10, scale=200, passes=1)
    q = math.log(10) / 200
    hand, spread = [100.0] * votes.docs.height, [10.0] * votes.docs.height
    for one, other, score in zip(votes.first, votes.second, votes.score, strict=True):
        after = []
        for me, you, won in ((one, other, score), (other, one, 1 - score)):
            g = 1 / math.sqrt(1 + 3 * q**2 * spread[you] / math.pi**2)
            expected = 1 / (1 + 10 ** (-g * (hand[me] - hand[you]) / 200))
            variance = 1 / (1 / spread[me] + q**2 * g**2 * expected * (1 - expected))
            after.append((hand[me] + q * variance * g * (won - expected), variance))
        (hand[one], spread[one]), (hand[other], spread[other]) = after
    assert ratings[0].tolist() == pytest.approx(hand, abs=1e-9)
    assert variances.tolist() == pytest.approx(spread, abs=1e-9)


def test_the_variances_are_those_of_the_first_pass() -> None:
    votes = matches([("a", "b", "a"), ("b", "c", "b")])
    once, many = (glicko(votes, start=0, variance=100, scale=200, passes=n)[1] for n in (1, 9))
    assert once.tolist() == many.tolist()


def test_win_rates_by_hand() -> None:
    votes = matches([("a", "b", "a"), ("a", "b", "tie"), ("a", "c", "a"), ("b", "c", "c")]).merge_by_pair()
    assert win_rate(votes, balance=0.5).tolist() == pytest.approx(
        [0.5 * 1.75 / 2 + 0.5 * 2 / 3, 0.5 * 0.25 / 2 + 0.5 * 2 / 3, 0.5 * 1 / 2 + 0.5 * 2 / 3]
    )
