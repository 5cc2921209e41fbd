"""Bradley and Terry's model against published values, other implementations, and plain optimisers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import choix
import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from scipy.optimize import minimize

import ringtrue as rt
from preference.random_votes import matches, preferences, random_votes
from ringtrue.preference.bradley_terry import OutcomeModel, fit_bradley_terry
from ringtrue.preference.matches import FloatArray, Matches
from ringtrue.preference.rating_methods import RatingSettings
from ringtrue.tables import Preferences
from strategies import examples

NO_RIDGE = 1e-9


@pytest.fixture(scope="module")
def anchors(data: Path) -> dict[str, Any]:
    return {one["name"]: one for one in json.loads((data.parent / "anchors-agreement.json").read_text())}


def least(votes: Matches, ridge: float) -> FloatArray:
    """The same by a general optimiser."""

    def cost(ratings: FloatArray) -> float:
        apart = ratings[votes.first] - ratings[votes.second]
        said = votes.score * np.logaddexp(0, -apart) + (1 - votes.score) * np.logaddexp(0, apart)
        return float(votes.weight @ said + ridge / 2 * ratings @ ratings)

    return np.asarray(minimize(cost, np.zeros(votes.docs.height), method="BFGS", options={"gtol": 1e-7}).x)


@pytest.mark.real
def test_agrestis_baseball(anchors: dict[str, Any]) -> None:
    given_, expected = (anchors["bradley_terry_agresti_baseball_1987"][key] for key in ("data", "expected"))
    teams, wins = given_["teams"], given_["wins"]
    rows = [(teams[i], teams[j], "left") for i in range(7) for j in range(7) for _ in range(wins[i][j])]
    ratings = dict(rt.rate(preferences(rows), ridge=NO_RIDGE).frame.select("doc", "rating").rows())
    assert [ratings[team] - ratings["Baltimore"] for team in teams] == pytest.approx(expected["log_ability"], abs=0.006)
    games = [(i, j) for i in range(7) for j in range(7) for _ in range(wins[i][j])]
    other = choix.ilsr_pairwise(7, games)
    assert [ratings[team] - ratings["Baltimore"] for team in teams] == pytest.approx(other - other[6], abs=1e-5)


@pytest.mark.real
@pytest.mark.parametrize("name", ["food", "simple", "llmfao"])
def test_evalicas_reference_scores_with_ties_as_half_wins_and_with_a_model_of_ties(data: Path, name: str) -> None:
    votes = rt.read_preferences(data / "arena" / f"{name}.csv")
    reference = pl.read_csv(data / "arena" / f"{name}-golden.csv", schema_overrides={"item": pl.String})
    for algorithm, ties, near in (("bradley_terry", "half", 1e-6), ("newman", "davidson", 1e-4)):
        known = dict(reference.filter(algorithm=algorithm).select("item", "score").rows())
        own = rt.rate(votes, repeats="all", ridge=NO_RIDGE, ties=ties, interval="none").frame
        scores = np.log([known[doc] for doc in own["doc"]])
        assert (own["rating"] - own["rating"].mean()).to_list() == pytest.approx(scores - scores.mean(), abs=near)


@examples(25)
@given(st.integers(0, 10_000), st.sampled_from([0.05, 0.25, 2.0]), st.integers(1, 3))
def test_ratings_are_those_of_a_general_optimiser(seed: int, ridge: float, queries: int) -> None:
    votes = Matches.of(random_votes(seed, queries=queries, votes=40), repeats="all")
    assert fit_bradley_terry(votes, ridge=ridge).tolist() == pytest.approx(least(votes, ridge).tolist(), abs=1e-4)


@examples(25)
@given(st.integers(0, 10_000))
def test_choix_says_the_same_with_its_ridge(seed: int) -> None:
    votes = Matches.of(random_votes(seed, ties=0), repeats="all")
    games = [
        (int(one), int(other)) if score else (int(other), int(one))
        for one, other, score in zip(votes.first, votes.second, votes.score, strict=True)
    ]
    other = choix.opt_pairwise(votes.docs.height, games, alpha=0.125)  # a penalty of alpha Σ θ²
    assert fit_bradley_terry(votes, ridge=0.25).tolist() == pytest.approx(other.tolist(), abs=1e-3)


@examples(25)
@given(st.integers(0, 10_000))
def test_pairs_and_single_votes_give_the_same_ratings(seed: int) -> None:
    votes = Matches.of(random_votes(seed), repeats="all")
    assert fit_bradley_terry(votes, ridge=0.25).tolist() == pytest.approx(
        fit_bradley_terry(votes.merge_by_pair(), ridge=0.25).tolist(), abs=1e-7
    )


def test_queries_know_nothing_of_each_other() -> None:
    votes = random_votes(3, queries=4, votes=200)
    together = rt.rate(votes).frame
    for (query,), rows in votes.frame.group_by("query"):
        alone = rt.rate(Preferences(rows)).frame
        both = together.filter(pl.col("query") == query).join(alone, on="doc")
        assert both["rating"].to_list() == pytest.approx(both["rating_right"].to_list(), abs=1e-7)
        assert both["se"].to_list() == pytest.approx(both["se_right"].to_list(), abs=1e-7)


def test_a_document_that_never_wins_has_a_rating_and_the_last_one() -> None:
    found = rt.rate(preferences([("a", "b", "a"), ("b", "a", "b"), ("a", "z", "a"), ("b", "z", "b")] * 50))
    last = found.frame.row(-1, named=True)
    assert last["doc"] == "z"
    assert -20 < last["low"] < last["rating"] < last["high"] < 0
    assert any("never won" in note for note in found.notes)


def test_the_mean_of_every_group_is_zero() -> None:
    votes = matches([("a", "b", "a"), ("b", "c", "c"), ("x", "y", "x"), ("x", "y", "x")])
    ratings, group = fit_bradley_terry(votes, ridge=0.25), votes.components()
    assert np.bincount(group, weights=ratings).tolist() == pytest.approx([0, 0], abs=1e-8)


def test_far_apart_documents_do_no_harm() -> None:
    rows = [(f"d{i}", f"d{j}", "left") for i in range(6) for j in range(i + 1, 6)] * 2_000
    ratings = fit_bradley_terry(matches(rows).merge_by_pair(), ridge=0.25)
    assert np.isfinite(ratings).all()
    assert (np.diff(ratings) < 0).all()


@examples(20)
@given(st.integers(0, 10_000))
def test_davidsons_ties_are_the_maximum_of_the_joint_posterior(seed: int) -> None:
    votes = Matches.of(random_votes(seed, ties=0.3, docs=5), repeats="all").merge_by_pair()

    def cost(values: FloatArray) -> float:
        ratings, nu = values[:-1], np.exp(values[-1])
        apart = ratings[votes.first] - ratings[votes.second]
        total = np.exp(apart / 2) + np.exp(-apart / 2) + nu
        said = (votes.score - 0.5) * apart + votes.tied * values[-1] - np.log(total)
        return float(-votes.weight @ said + 0.125 * ratings @ ratings)

    other = minimize(cost, np.zeros(votes.docs.height + 1), method="BFGS", options={"gtol": 1e-7}).x
    found = RatingSettings(ties="davidson", interval="none").rate_votes(votes)
    assert found.ratings.tolist() == pytest.approx(other[:-1].tolist(), abs=1e-4)
    assert found.outcome.ties == pytest.approx(np.exp(other[-1]), rel=1e-3)


@examples(100)
@given(st.floats(-700, 700), st.floats(0, 50))
def test_outcomes_are_chances_and_derivatives_of_one_another(z: float, nu: float) -> None:
    outcome = OutcomeModel(ties=nu)
    at = np.array([z])
    win = (outcome.expected_score(at) - outcome.tie_probability(at) / 2)[0]
    loss = (outcome.expected_score(-at) - outcome.tie_probability(at) / 2)[0]
    assert win + loss + outcome.tie_probability(at)[0] == pytest.approx(1)
    assert outcome.expected_score(at)[0] + outcome.expected_score(-at)[0] == pytest.approx(1)
    step = 1e-4
    slope = (outcome.expected_score(at + step) - outcome.expected_score(at - step))[0] / (2 * step)
    assert outcome.information(at)[0] == pytest.approx(slope, abs=1e-6)
