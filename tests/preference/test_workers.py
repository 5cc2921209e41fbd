"""Judges and documents rated together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import ringtrue as rt
from preference.voting import preferences, random_votes
from ringtrue.errors import UsageError
from ringtrue.preference.bradley_terry import fit
from ringtrue.preference.matches import FloatArray, Matches
from ringtrue.preference.outcome import Outcome
from ringtrue.preference.workers import CROWD_PRIOR, by_sensitivity, crowd_bt


def crowd(
    seed: int, *, honest: int = 6, liars: int = 2, guessers: int = 2, docs: int = 10, votes: int = 900
) -> Matches:
    """Votes of judges named after what they are."""
    rng = np.random.default_rng(seed)
    names = [*(f"honest{i}" for i in range(honest)), *(f"liar{i}" for i in range(liars))]
    names += [f"guesser{i}" for i in range(guessers)]
    rows = []
    for _ in range(votes):
        left, right = rng.choice(docs, 2, replace=False)
        name = names[rng.integers(len(names))]
        steer = 1 if name.startswith("honest") else -1 if name.startswith("liar") else 0
        chance = 1 / (1 + np.exp(-steer * (left - right) / 2))
        rows.append(("q", f"d{left}", f"d{right}", "left" if rng.random() < chance else "right", name))
    return Matches.of(preferences(rows), repeats="all")


def test_liars_and_guessers_are_told_from_honest_judges() -> None:
    votes = crowd(0)
    for model, middle in ((by_sensitivity, 0.0), (crowd_bt, 0.5)):
        found = model(votes, ridge=0.25, outcome=Outcome())
        of = dict(zip(votes.judges, found.judges, strict=True))
        assert found.converged
        assert all(value < middle for name, value in of.items() if name.startswith("liar"))
        assert all(value > middle + 0.2 for name, value in of.items() if name.startswith("honest"))
        assert all(abs(value - middle) < 0.35 for name, value in of.items() if name.startswith("guesser"))
        order = np.argsort(found.ratings)
        truth = [int(doc[1:]) for doc in votes.docs["doc"].gather(order)]
        assert np.corrcoef(truth, range(10))[0, 1] > 0.95


def test_crowd_bt_is_the_maximum_of_its_posterior() -> None:
    votes = crowd(1, docs=5, votes=300, honest=3, liars=1, guessers=1)
    size, (alpha, beta) = votes.docs.height, CROWD_PRIOR

    def cost(values: FloatArray) -> float:
        ratings, honest = values[:size], 1 / (1 + np.exp(-values[size:]))
        chance = 1 / (1 + np.exp(ratings[votes.second] - ratings[votes.first]))
        won = honest[votes.judge] * chance + (1 - honest[votes.judge]) * (1 - chance)
        said = votes.score * np.log(won) + (1 - votes.score) * np.log(1 - won)
        prior = (alpha - 1) * np.log(honest) + (beta - 1) * np.log(1 - honest)
        return float(-said.sum() - prior.sum() + 0.125 * ratings @ ratings)

    found = crowd_bt(votes, ridge=0.25, outcome=Outcome())
    start = np.concatenate([found.ratings, np.log(found.judges / (1 - found.judges))])
    other = minimize(cost, start, method="BFGS", options={"gtol": 1e-8})
    assert cost(start) == pytest.approx(other.fun, abs=1e-5)
    assert found.ratings.tolist() == pytest.approx(other.x[:size].tolist(), abs=2e-3)


def test_sensitivities_have_mean_one_over_votes_and_each_side_is_best_for_the_other() -> None:
    votes = crowd(2)
    found = by_sensitivity(votes, ridge=0.25, outcome=Outcome())
    counts = np.bincount(votes.judge)
    assert counts @ found.judges / counts.sum() == pytest.approx(1)
    again = fit(votes, ridge=0.25, slope=found.judges[votes.judge])
    assert found.ratings.tolist() == pytest.approx(again.tolist(), abs=1e-4)
    apart = found.ratings[votes.first] - found.ratings[votes.second]
    for place in range(len(votes.judges)):
        own = votes.judge == place

        def cost(value: FloatArray, own: FloatArray = own) -> float:
            z = value[0] * apart[own]
            said = votes.score[own] * np.logaddexp(0, -z) + (1 - votes.score[own]) * np.logaddexp(0, z)
            return float(said.sum() + (value[0] - 1) ** 2 / 2)

        best = minimize(cost, [1.0], method="BFGS").x[0]
        if place == 0:
            scale = best / found.judges[place]
        assert found.judges[place] * scale == pytest.approx(best, abs=1e-3)


def test_judges_who_are_all_alike_get_the_ratings_of_bradley_and_terry() -> None:
    votes = random_votes(5, judges=4, votes=400, ties=0)
    plain = rt.rate(votes, repeats="all").frame.sort("doc")
    weighed = rt.rate(votes, repeats="all", by_judge="sensitivity").frame.sort("doc")
    assert np.corrcoef(plain["rating"], weighed["rating"])[0, 1] > 0.99
    assert np.abs(plain["rating"] - weighed["rating"]).max() < 0.3


def test_of_a_judge_with_one_vote_nearly_nothing_is_known() -> None:
    votes = [*random_votes(6, votes=200).frame.select("query", "left", "right", "winner", "judge").rows()]
    found = rt.rate(preferences([*votes, ("q0", "d0", "d7", "d0", "once")]), repeats="all", by_judge="sensitivity")
    once = found.judges["once"]
    assert once.low is not None
    assert once.high is not None
    assert once.low < 0 < 1 < once.high  # may guess, may be as good as the others
    assert any("single vote" in note for note in found.notes)


def test_judges_cannot_be_weighed_where_there_is_one() -> None:
    with pytest.raises(UsageError, match="--by-judge weighs judges against each other, and there is one"):
        rt.rate(random_votes(0), by_judge="crowd-bt")
    with pytest.raises(UsageError, match="--em weighs judges"):
        rt.rate(random_votes(0), em=True)


@pytest.mark.real
def test_of_the_workers_of_llmfao_some_contradict_the_others(data: Path) -> None:
    votes = rt.read_preferences(data / "arena" / "llmfao.csv")
    found = rt.rate(votes, repeats="all", by_judge="sensitivity")
    assert len(found.judges) == 124
    against = [one for one in found.judges.values() if one.high is not None and one.high < 0]
    assert 1 <= len(against) <= 6
    assert found.frame["doc"][0] == "GPT 4"
    crowd_found = rt.rate(votes, repeats="all", by_judge="crowd-bt")
    assert {one.judge for one in against} <= {one.judge for one in crowd_found.judges.values() if one.value < 0.5}
