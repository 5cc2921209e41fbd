"""Judges and documents rated together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ringtrue as rt
from preference.random_votes import preferences, random_votes
from ringtrue.errors import UsageError
from ringtrue.preference.bradley_terry import OutcomeModel
from ringtrue.preference.judge_aware_ratings import CROWD_PRIOR, SENSITIVITY_SPREAD, fit_crowd_bt, fit_sensitivities
from ringtrue.preference.matches import FloatArray, Matches


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
    for model, middle in ((fit_sensitivities, 0.0), (fit_crowd_bt, 0.5)):
        found = model(votes, ridge=0.25, outcome=OutcomeModel())
        of = dict(zip(votes.judges, found.judges, strict=True))
        assert found.converged
        assert all(value < middle for name, value in of.items() if name.startswith("liar"))
        assert all(value > middle + 0.2 for name, value in of.items() if name.startswith("honest"))
        assert all(abs(value - middle) < 0.35 for name, value in of.items() if name.startswith("guesser"))
        order = np.argsort(found.ratings)
        truth = [int(doc[1:]) for doc in votes.docs["doc"].gather(order)]
        assert np.corrcoef(truth, range(10))[0, 1] > 0.95


def by_importance(votes: Matches, model: str, *, draws: int = 100_000) -> FloatArray:
    """The posterior mean of every judge by brute force: all of it drawn from the prior, and weighed by the votes."""
    rng = np.random.default_rng(0)
    ratings = rng.normal(0, 2, (draws, votes.docs.height))
    apart = ratings[:, votes.first] - ratings[:, votes.second]
    if model == "sensitivity":
        judges = rng.normal(1, SENSITIVITY_SPREAD, (draws, len(votes.judges)))
        won = 1 / (1 + np.exp(-judges[:, votes.judge] * apart))
    else:
        judges = rng.beta(*CROWD_PRIOR, (draws, len(votes.judges)))
        won = 0.5 + (2 * judges[:, votes.judge] - 1) * (1 / (1 + np.exp(-apart)) - 0.5)
    said = np.log(np.clip(np.where(votes.score == 1, won, 1 - won), 1e-12, 1)).sum(axis=1)
    weight = np.exp(said - said.max())
    if model == "sensitivity":
        shares = np.bincount(votes.judge) / votes.size
        judges = judges / np.sqrt(judges**2 @ shares)[:, None]
    return np.asarray(weight @ judges / weight.sum())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_judges_are_near_what_brute_force_says_of_them(seed: int) -> None:
    votes = crowd(seed, docs=3, votes=120, honest=2, liars=0, guessers=1)
    for model, kind, near in ((fit_crowd_bt, "crowd-bt", 0.06), (fit_sensitivities, "sensitivity", 0.3)):
        found = model(votes, ridge=0.25, outcome=OutcomeModel()).judges
        assert found.tolist() == pytest.approx(by_importance(votes, kind).tolist(), abs=near)


def test_the_mean_of_the_squared_sensitivities_is_one_over_votes() -> None:
    votes = crowd(2)
    found = fit_sensitivities(votes, ridge=0.25, outcome=OutcomeModel())
    counts = np.bincount(votes.judge)
    assert counts @ found.judges**2 / counts.sum() == pytest.approx(1)


@pytest.mark.simulation
def test_a_judge_who_guesses_is_found_out_although_most_documents_have_a_few_votes_only() -> None:
    rng = np.random.default_rng(4)
    rows = []
    for query in range(50):
        quality = rng.normal(0, 1.5, 20)
        for _ in range(30):
            left, right = rng.choice(20, 2, replace=False)
            judge = int(rng.integers(6))
            chance = 0.5 if judge == 5 else 1 / (1 + np.exp(quality[right] - quality[left]))
            rows.append(
                (f"q{query}", f"d{left}", f"d{right}", "left" if rng.random() < chance else "right", f"j{judge}")
            )
    found = rt.rate(preferences(rows), repeats="all", by_judge="sensitivity").judges
    guesser = found.pop("j5")
    assert guesser.low is not None
    assert guesser.low < 0.5
    assert all(one.value > guesser.value + 0.5 for one in found.values())
    honest = rt.rate(preferences(rows), repeats="all", by_judge="crowd-bt").judges
    assert honest.pop("j5").value < min(one.value for one in honest.values()) - 0.2


@pytest.mark.simulation
@pytest.mark.parametrize("each", [1, 2, 5])
def test_ratings_keep_their_scale_where_judges_have_few_votes(each: int) -> None:
    held, slopes = [], []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        quality, rows = rng.normal(0, 1, 8), []
        for vote in range(280):
            left, right = rng.choice(8, 2, replace=False)
            won = rng.random() < 1 / (1 + np.exp(quality[right] - quality[left]))
            rows.append(("q", f"d{left}", f"d{right}", "left" if won else "right", f"j{vote // each}"))
        frame = rt.rate(preferences(rows), repeats="all", by_judge="sensitivity").frame.sort("doc")
        truth = quality - quality.mean()
        held.append(((frame["low"].to_numpy() <= truth) & (truth <= frame["high"].to_numpy())).mean())
        slopes.append(float(frame["rating"].to_numpy() @ truth / (truth @ truth)))
    assert np.mean(held) > 0.88  # judges who are taken as they seem: 0.36, 0.53 and 0.79
    assert 0.9 < np.mean(slopes) < 1.25


def test_where_two_judges_contradict_each_other_nothing_is_sure() -> None:
    rows = [("q", "a", "b", "a", "ann")] * 60 + [("q", "a", "b", "b", "bob")] * 57
    for model in ("sensitivity", "crowd-bt"):
        found = rt.rate(preferences(rows), repeats="all", by_judge=model)
        assert found.frame["low"].null_count() == found.frame["ahead"].null_count() == 2
        assert "contradictory-judges" in [note.code for note in found.notes]


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
    assert once.high - once.low > 2
    assert any("single vote" in note for note in found.notes)


def test_judges_cannot_be_weighed_where_there_is_one() -> None:
    with pytest.raises(UsageError) as refused:
        rt.rate(random_votes(0), by_judge="crowd-bt")
    assert (refused.value.code, refused.value.parameter) == ("one-judge", "by_judge")
    with pytest.raises(UsageError) as refused:
        rt.rate(random_votes(0), em=True)
    assert (refused.value.code, refused.value.parameter) == ("one-judge", "em")


@pytest.mark.slow
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
