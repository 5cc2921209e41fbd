"""Topics compared by a crowd: what is true of them, and who votes on what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.preference.pair_designs import Pairs, choose_random_pairs, choose_seed_pairs
from ringtrue.simulation.worlds.compared_topics import GRADES, PreferenceWorld, simulate_topics
from strategies import examples


def test_shares_of_grades_and_workers_are_those_of_the_world() -> None:
    topics = simulate_topics(PreferenceWorld(topics=200), np.random.default_rng(0))
    shares = np.bincount(topics.grade) / len(topics.grade)
    assert shares == pytest.approx(GRADES, abs=0.01)
    assert [int((topics.sense == kind).sum()) for kind in (1, 0, -1)] == [45, 12, 3]
    assert topics.crew.shape == (200, 12)
    assert all(len(set(crew)) == 12 for crew in topics.crew.tolist())


def test_the_initial_order_without_noise_is_that_of_the_grades() -> None:
    topics = simulate_topics(PreferenceWorld(initial=0, topics=3), np.random.default_rng(0))
    by_topic = topics.grade.reshape(3, -1)
    assert (np.diff(by_topic, axis=1) <= 0).all()


def test_honest_votes_are_won_as_often_as_the_model_says() -> None:
    world = PreferenceWorld(topics=1, docs=7, random=0, adversarial=0)
    topics = simulate_topics(world, np.random.default_rng(3))
    pairs = Pairs.of([(0, 1, 40_000)])
    votes = topics.collect_votes(topics.unvoted, pairs, np.random.default_rng(0))
    chance = 1 / (1 + np.exp(topics.quality[1] - topics.quality[0]))
    assert votes.score.mean() == pytest.approx(chance, abs=4 * 0.5 / 200)


def test_workers_who_guess_flip_a_coin_and_adversaries_turn_votes_round() -> None:
    for kind, sense in (("random", 0), ("adversarial", -1)):
        shares = {"random": 0.0, "adversarial": 0.0} | {kind: 1.0}
        topics = simulate_topics(PreferenceWorld(topics=1, docs=7, **shares), np.random.default_rng(3))
        votes = topics.collect_votes(topics.unvoted, Pairs.of([(0, 1, 40_000)]), np.random.default_rng(0))
        chance = 1 / (1 + np.exp(-sense * (topics.quality[0] - topics.quality[1])))
        assert votes.score.mean() == pytest.approx(chance, abs=4 * 0.5 / 200)


def test_ties_are_as_common_as_davidson_has_them() -> None:
    topics = simulate_topics(PreferenceWorld(topics=1, docs=7, step=0, within=0, ties=1.0), np.random.default_rng(0))
    votes = topics.collect_votes(topics.unvoted, Pairs.of([(0, 1, 30_000)]), np.random.default_rng(0))
    assert votes.tied.mean() == pytest.approx(1 / 3, abs=0.012)
    assert ((votes.score == 0.5) == (votes.tied == 1)).all()


@given(seed=st.integers(0, 1000), votes=st.integers(1, 6))
@examples(25)
def test_nobody_votes_twice_on_a_pair_while_others_of_the_crew_have_not(seed: int, votes: int) -> None:
    rng = np.random.default_rng(seed)
    topics = simulate_topics(PreferenceWorld(topics=2, docs=9, workers=20, crew=6), rng)
    known = topics.collect_votes(
        topics.unvoted, choose_seed_pairs(topics.unvoted, votes=votes, budget=10, rng=rng), rng
    )
    known = topics.collect_votes(known, choose_random_pairs(known, votes=votes, budget=20, rng=rng), rng)
    who = list(zip(known.first.tolist(), known.second.tolist(), known.judge.tolist(), strict=True))
    assert len(set(who)) == len(who)
    crew = topics.crew[known.query[known.first]]
    assert (crew == known.judge[:, None]).any(axis=1).all()


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"topics": 0}, "world-too-small"),
        ({"docs": 6}, "world-too-small"),
        ({"crew": 80}, "crew-too-large"),
        ({"random": 0.9, "adversarial": 0.2}, "not-a-share"),
        ({"initial": -1.0}, "below-zero"),
    ],
)
def test_impossible_worlds_are_refused(settings: dict[str, float], code: str) -> None:
    with pytest.raises(UsageError) as refused:
        PreferenceWorld(**settings)
    assert refused.value.code == code
