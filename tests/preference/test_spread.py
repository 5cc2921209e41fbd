"""Standard errors, against matrices written out in full, and intervals from votes drawn anew."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ringtrue as rt
from preference.voting import matches, random_votes
from ringtrue.preference import spread
from ringtrue.preference.bradley_terry import fit
from ringtrue.preference.certainty import next_behind
from ringtrue.preference.matches import FloatArray, Matches
from ringtrue.preference.outcome import Outcome
from ringtrue.preference.resampling import resampled
from ringtrue.preference.spread import Told, covariance, standard_errors
from ringtrue.preference.workers import by_sensitivity, crowd_bt


def in_full(
    votes: Matches, told: Told, group: FloatArray, behind: FloatArray, ridge: float
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """The inverse of the whole information matrix of documents and judges, and each contrast written out."""
    docs, judges = votes.docs.height, 0 if told.own is None else len(votes.judges)
    matrix = np.zeros((docs + judges, docs + judges))
    matrix[np.diag_indices(docs)] = ridge
    for place in range(docs, docs + judges):
        matrix[place, place] = told.prior
    for row in range(votes.size):
        steer = np.zeros(docs + judges)
        steer[votes.first[row]], steer[votes.second[row]] = 1, -1
        matrix += told.difference[row] * np.outer(steer, steer)
        if judges:
            own = np.zeros(docs + judges)
            own[docs + votes.judge[row]] = 1
            matrix += told.both[row] * (np.outer(steer, own) + np.outer(own, steer))
            matrix += told.own[row] * np.outer(own, own)
    inverse = np.linalg.inv(matrix)
    errors, leads = [], []
    for doc in range(docs):
        lead = np.zeros(docs + judges)
        lead[doc] += 1
        lead[behind[doc]] -= 1
        leads.append(np.sqrt(lead @ inverse @ lead))
        contrast = np.zeros(docs + judges)
        same = np.flatnonzero(group == group[doc])
        contrast[same] = -1 / len(same)
        contrast[doc] += 1
        errors.append(np.sqrt(contrast @ inverse @ contrast))
    return np.array(errors), np.array(leads), np.sqrt(np.diag(inverse)[docs:]) if judges else None


@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_standard_errors_are_those_of_the_whole_matrix(seed: int) -> None:
    votes = Matches.of(random_votes(seed, queries=2, votes=30), repeats="all")
    ratings, group = fit(votes, ridge=0.25), votes.components()
    told = Told(difference=Outcome().information(ratings[votes.first] - ratings[votes.second]))
    behind = next_behind(ratings, group)
    found = standard_errors(votes, told, group, behind, ridge=0.25)
    errors, leads, _ = in_full(votes, told, group, behind, 0.25)
    assert found.judge is None
    assert found.rating.tolist() == pytest.approx(errors.tolist())
    assert found.lead.tolist() == pytest.approx(leads.tolist())


@pytest.mark.parametrize("model", [by_sensitivity, crowd_bt])
@pytest.mark.parametrize("seed", range(3))
def test_that_judges_are_estimated_too_is_counted_in(model: type, seed: int) -> None:
    votes = Matches.of(random_votes(seed, queries=3, judges=5, votes=150), repeats="all")
    found = model(votes, ridge=0.25, outcome=Outcome())
    group = votes.components()
    behind = next_behind(found.ratings, group)
    errors = standard_errors(votes, found.told, group, behind, ridge=0.25)
    in_all, leads, of_judges = in_full(votes, found.told, group, behind, 0.25)
    assert errors.rating.tolist() == pytest.approx(in_all.tolist())
    assert errors.lead.tolist() == pytest.approx(leads.tolist())
    assert errors.judge.tolist() == pytest.approx(of_judges.tolist())
    alone = standard_errors(votes, Told(difference=found.told.difference), group, behind, ridge=0.25)
    assert (errors.rating >= alone.rating - 1e-12).all()


def test_the_error_of_a_pair_by_hand() -> None:
    # Two documents, n votes at chance p: the contrast to the mean is half the difference, whose information is
    # n p (1 − p) + ridge / 2.
    votes = matches([("a", "b", "a")] * 3 + [("a", "b", "b")])
    found = rt.rate(rt.Preferences.of({"left": ["a"] * 4, "right": ["b"] * 4, "winner": [*"aaab"]}))
    apart = found.frame["rating"][0] - found.frame["rating"][1]
    chance = 1 / (1 + np.exp(-apart))
    assert found.frame["se"][0] == pytest.approx(1 / np.sqrt(4 * chance * (1 - chance) + 0.125) / 2)
    assert votes.size == 4


def test_errors_from_random_signs_are_nearly_those_of_the_inverse(monkeypatch: pytest.MonkeyPatch) -> None:
    votes = Matches.of(random_votes(1, docs=300, votes=4_000, judges=4), repeats="all")
    found = by_sensitivity(votes, ridge=0.25, outcome=Outcome())
    group = votes.components()
    behind = next_behind(found.ratings, group)
    exact = standard_errors(votes, found.told, group, behind, ridge=0.25)
    monkeypatch.setattr(spread, "DENSE", 10)
    near = standard_errors(votes, found.told, group, behind, ridge=0.25)
    assert np.abs(near.rating / exact.rating - 1).max() < 0.12
    assert np.abs(near.rating / exact.rating - 1).mean() < 0.03
    assert np.isnan(near.lead).all()  # unknown, and never a guess
    assert near.judge.tolist() == pytest.approx(exact.judge.tolist(), rel=1e-3)


def test_a_covariance_has_the_level_of_its_ridge() -> None:
    found = covariance(np.array([0, 1]), np.array([1, 2]), np.array([0.2, 0.3]), 3, ridge=0.5)
    assert found.sum(axis=1).tolist() == pytest.approx([2, 2, 2])  # the mean is only held by the ridge


def test_resampled_ratings_are_those_of_the_votes_that_were_drawn() -> None:
    votes = Matches.of(random_votes(2, votes=50), repeats="all")
    ratings = fit(votes, ridge=0.25)
    drawn = resampled(votes, ratings, ridge=0.25, outcome=Outcome(), resamples=3, rng=np.random.default_rng(7))
    again = np.random.default_rng(7).multinomial(50, np.full(50, 1 / 50), 3)
    for row, counts in zip(drawn, again, strict=True):
        own = fit(votes.keep(np.repeat(np.arange(50), counts)), ridge=0.25)
        assert row.tolist() == pytest.approx(own.tolist(), abs=2e-3)


def test_with_many_votes_both_kinds_of_interval_agree() -> None:
    votes = random_votes(4, votes=3_000, ties=0)
    laplace, bootstrap = (
        rt.rate(votes, interval=kind, resamples=400, rng=np.random.default_rng(1)).frame
        for kind in ("laplace", "bootstrap")
    )
    assert (bootstrap["se"] / laplace["se"]).to_list() == pytest.approx([1] * laplace.height, abs=0.15)
    assert bootstrap["ahead"][:-1].to_list() == pytest.approx(laplace["ahead"][:-1].to_list(), abs=0.1)
    assert bootstrap["ahead"][-1] is laplace["ahead"][-1] is None
    assert bootstrap["low"].to_list() == pytest.approx(laplace["low"].to_list(), abs=0.1)


def test_progress_adds_up_to_votes_times_resamples() -> None:
    told: list[int] = []
    rt.rate(random_votes(3, queries=2, votes=90), interval="bootstrap", resamples=120, progress=told.append)
    assert sum(told) == 90 * 120
