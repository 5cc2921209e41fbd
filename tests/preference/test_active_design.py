"""The pairs that teach most: what is believed, what a vote would tell, and what a budget buys."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from ringtrue.errors import UsageError
from ringtrue.preference import active_design
from ringtrue.preference.active_design import (
    Belief,
    choose_active_pairs,
    choose_most_informative,
    main_group,
    top_weights,
    update_belief,
)
from ringtrue.preference.bradley_terry import fit_bradley_terry
from ringtrue.preference.matches import FloatArray, Matches
from ringtrue.preference.pair_designs import Candidates, choose_random_pairs, choose_seed_pairs

Rows = NDArray[np.int64]
NOISE = np.random.default_rng(0).standard_normal((400, 40))


def matched(docs: int, queries: int = 1) -> Matches:
    names = {"query": np.repeat([f"q{q}" for q in range(queries)], docs), "doc": np.tile(np.arange(docs), queries)}
    return Candidates.of(names).to_matches(None)


def voted(known: Matches, first: Rows, second: Rows, score: FloatArray) -> Matches:
    """The same with one more vote for each of these pairs."""
    size = known.size + len(first)
    return replace(
        known, first=np.append(known.first, first).astype(np.int32), score=np.append(known.score, score),
        second=np.append(known.second, second).astype(np.int32), weight=np.ones(size), tied=np.zeros(size),
        judge=np.full(size, -1, dtype=np.int32),
    )  # fmt: skip


@st.composite
def voted_worlds(draw: st.DrawFn) -> Matches:
    docs, rng = draw(st.integers(3, 9)), np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pairs = np.sort(np.array([rng.permutation(docs)[:2] for _ in range(draw(st.integers(0, 30)))]).reshape(-1, 2))
    return voted(matched(docs), pairs[:, 0], pairs[:, 1], rng.choice([0.0, 0.5, 1.0], len(pairs)))


def rated(known: Matches) -> FloatArray:
    return fit_bradley_terry(known, ridge=0.25) if known.size else np.zeros(known.docs.height)


def groups_asked(known: Matches) -> list[int]:
    """How many groups the documents with votes are in, query by query."""
    met = np.bincount(np.concatenate([known.first, known.second]), minlength=known.docs.height) > 0
    group = known.components()
    return [len(np.unique(group[met & (known.query == q)])) for q in range(len(known.queries))]


def precision(known: Matches, ratings: FloatArray) -> FloatArray:
    """What the votes tell about the ratings, without any prior."""
    curve = np.zeros((len(ratings), len(ratings)))
    for first, second in zip(known.first, known.second, strict=True):
        p = 1 / (1 + np.exp(ratings[second] - ratings[first]))
        direction = np.zeros(len(ratings))
        direction[[first, second]] = 1, -1
        curve += p * (1 - p) * np.outer(direction, direction)
    return curve


def test_before_any_vote_the_initial_order_is_what_is_believed() -> None:
    belief = update_belief(matched(5), np.zeros(5))
    assert (np.diff(belief.mean) < 0).all()
    assert belief.mean[2] == pytest.approx(0)
    assert np.allclose(belief.covariance, np.eye(5) / 0.25 + np.outer(belief.mean, belief.mean))


@given(voted_worlds())
def test_the_covariance_is_the_inverse_of_what_votes_and_prior_tell(known: Matches) -> None:
    ratings = rated(known)
    x = update_belief(matched(len(ratings)), np.zeros(len(ratings))).mean
    prior = np.eye(len(ratings)) / 0.25 + np.outer(x, x)
    expected = np.linalg.inv(precision(known, ratings) + np.linalg.inv(prior))
    belief = update_belief(known, ratings)
    assert np.allclose(belief.covariance, expected)
    # One Newton step from the ratings: the slope of the log posterior there, where votes and ridge cancel.
    slope = 0.25 * ratings - np.linalg.inv(prior) @ (ratings - x)
    assert np.allclose(belief.mean, ratings + expected @ slope)


def test_votes_overrule_the_initial_order() -> None:
    first, second = np.triu_indices(4, 1)
    known = voted(matched(4), np.repeat(first, 20), np.repeat(second, 20), np.zeros(120))
    assert (np.diff(update_belief(known, rated(known)).mean) > 0).all()


@given(voted_worlds(), st.integers(1, 30), st.integers(1, 6))
def test_each_choice_is_the_best_that_is_allowed_by_brute_force(known: Matches, count: int, votes: int) -> None:
    ratings = rated(known)
    belief = update_belief(known, ratings)
    weight = top_weights(belief, NOISE) + np.linspace(0, 0.1, len(ratings))  # so that few gains are equal
    first, second, gain = choose_most_informative(belief, weight, group=known.components(), count=count, votes=votes)
    curve, asked = np.linalg.inv(belief.covariance), known
    every = [(i, j) for i in range(len(ratings)) for j in range(i + 1, len(ratings))]
    times = dict.fromkeys(every, 0)

    def allowed() -> list[tuple[int, int]]:
        main = main_group(asked.components(), weight)
        return [(i, j) for i, j in every if (main[i] or main[j]) and times[i, j] + votes <= max(4, votes)]

    for one, other, told in zip(first.tolist(), second.tolist(), gain.tolist(), strict=True):
        spread, best = np.linalg.inv(curve), {}
        for i, j in allowed():
            p = 1 / (1 + np.exp(belief.mean[j] - belief.mean[i]))
            variance = spread[i, i] + spread[j, j] - 2 * spread[i, j]
            best[i, j] = (weight[i] + weight[j]) / 2 * np.log(1 + votes * p * (1 - p) * variance) / 2
        assert told == pytest.approx(max(best.values()))
        assert best[one, other] == pytest.approx(told)
        p = 1 / (1 + np.exp(belief.mean[other] - belief.mean[one]))
        direction = np.zeros(len(ratings))
        direction[[one, other]] = 1, -1
        curve += votes * p * (1 - p) * np.outer(direction, direction)
        times[one, other] += votes
        asked = voted(asked, np.array([one]), np.array([other]), np.ones(1))
    assert len(first) == count or not allowed()


@pytest.mark.parametrize("turn", [5, 256])
@pytest.mark.parametrize("kept", [1, 7, 10**6])
def test_looking_at_few_pairs_at_a_time_changes_nothing(monkeypatch: pytest.MonkeyPatch, kept: int, turn: int) -> None:
    belief = update_belief(matched(40), np.zeros(40))
    weight = top_weights(belief, NOISE)
    group = np.arange(40) // 3
    whole = choose_most_informative(belief, weight, group=group, count=90)
    monkeypatch.setattr(active_design, "MAX_SHORTLIST", kept)
    monkeypatch.setattr(active_design, "MAX_STEPS", turn)
    few = choose_most_informative(belief, weight, group=group, count=90)
    assert np.array_equal(whole[0], few[0])
    assert np.array_equal(whole[1], few[1])
    assert np.allclose(whole[2], few[2])


def test_the_main_group_is_the_largest_then_the_one_that_is_likeliest_at_the_top_then_the_first() -> None:
    weight = np.array([0.9, 0.1, 0.1, 0.2, 0.3])
    assert main_group(np.array([0, 1, 1, 2, 2]), weight).nonzero()[0].tolist() == [3, 4]
    assert main_group(np.array([0, 1, 1, 1, 2]), weight).nonzero()[0].tolist() == [1, 2, 3]
    assert main_group(np.arange(5), weight).nonzero()[0].tolist() == [0]
    assert main_group(np.arange(5), np.ones(5)).nonzero()[0].tolist() == [0]


@given(voted_worlds(), st.integers(1, 40))
def test_whatever_was_asked_before_every_chosen_pair_hangs_together_with_the_main_group(
    known: Matches, count: int
) -> None:
    pairs = choose_active_pairs(known, votes=1, budget=count, rng=np.random.default_rng(0))
    before = groups_asked(known)[0] if known.size else 1
    after = voted(known, pairs.first, pairs.second, np.ones(len(pairs.first)))
    assert groups_asked(after)[0] <= before
    group = after.components()
    assert len(np.unique(group[pairs.first])) == 1
    assert (group == group[pairs.first[0]]).sum() == np.bincount(group).max()


def test_after_every_round_all_documents_that_were_asked_are_one_group() -> None:
    known, rng = matched(40, queries=12), np.random.default_rng(5)
    for _ in range(6):
        pairs = choose_active_pairs(known, votes=1, budget=12 * 15, rng=rng)
        known = voted(known, pairs.first, pairs.second, (rng.random(len(pairs.first)) < 0.6).astype(np.float64))
        assert groups_asked(known) == [1] * 12


def test_two_islands_are_joined_when_a_pair_across_is_chosen() -> None:
    belief = Belief(mean=np.zeros(5), covariance=4 * np.eye(5))
    island = np.array([0, 0, 0, 1, 1])
    first, second, _ = choose_most_informative(belief, np.array([0.1, 0.1, 0.1, 1.0, 1.0]), group=island, count=2)
    assert (first[0], second[0]) == (0, 3)
    assert (first[1], second[1]) == (3, 4)  # the smaller island has become part of the main group


def test_a_batch_comes_back_to_a_pair_when_nothing_else_is_left_but_asks_for_four_votes_at_most() -> None:
    belief = Belief(mean=np.zeros(3), covariance=4 * np.eye(3))
    first, second, _ = choose_most_informative(belief, np.ones(3), count=6)
    assert {(0, 1), (0, 2), (1, 2)} == set(zip(first[:3].tolist(), second[:3].tolist(), strict=True))
    assert len(first) == 6
    for votes, choices in ((1, 12), (2, 6), (3, 3), (4, 3), (7, 3)):
        assert len(choose_most_informative(belief, np.ones(3), count=100, votes=votes)[0]) == choices


def test_weights_are_chances_and_add_up_to_the_places_that_count() -> None:
    weight = top_weights(update_belief(matched(40), np.zeros(40)), NOISE)
    assert weight.sum() == pytest.approx(15)
    assert (weight <= 1).all()
    assert weight[:10].mean() > 2 * weight[-10:].mean()
    assert top_weights(update_belief(matched(9), np.zeros(9)), NOISE).tolist() == [1.0] * 9


def test_over_queries_the_best_of_all_are_chosen_as_if_each_were_asked_for_everything() -> None:
    known = matched(12, queries=3)
    rng = np.random.default_rng(3)
    first = rng.integers(0, 6, 60)  # the first query is known well, the others not at all
    known = voted(known, first, first + 6, (rng.random(60) < 0.8).astype(float))
    found = choose_active_pairs(known, votes=1, budget=45, rng=np.random.default_rng(0))
    whole = [
        choose_active_pairs(part, votes=1, budget=45, rng=np.random.default_rng(0)) for _, part in known.by_query()
    ]
    count = np.bincount(known.query[found.first], minlength=3)
    assert count.sum() == 45
    assert count[0] < count[1]
    for q, low in enumerate(known.start[:3]):
        own = known.query[found.first] == q
        assert (found.first[own] - low).tolist() == whole[q].first[: count[q]].tolist()


def test_a_query_that_takes_nearly_all_of_a_budget_may_do_so() -> None:
    known = matched(5, queries=30)
    pair = np.repeat([q * 5 + doc for q in range(29) for doc in range(4)], 400)  # one more teaches next to nothing
    known = voted(known, pair, pair + 1, np.tile([0.0, 1.0], 29 * 4 * 200))
    found = choose_active_pairs(known, votes=1, budget=38, rng=np.random.default_rng(0))
    assert (known.query[found.first] == 29).sum() == 38


def test_what_a_query_cannot_use_goes_to_others_until_none_can() -> None:
    known = Candidates.of({"query": [*"aabbb"], "doc": [*"xyxyz"]}).to_matches(None)
    for budget, shares in ((15, [4, 11]), (16, [4, 12]), (99, [4, 12])):
        found = choose_active_pairs(known, votes=1, budget=budget, rng=np.random.default_rng(0))
        assert np.bincount(known.query[found.first]).tolist() == shares


def test_a_choice_counts_for_no_more_than_those_before_it_in_its_query() -> None:
    # Query 0 reaches its gain of 9 only by way of 1: of three choices, two are those of query 1.
    sequences = [np.array([1.0, 9.0]), np.array([5.0, 2.0])]
    by_query = [lambda count, gain=gain: (*np.array([[0, 1], [2, 3]])[:, :count], gain[:count]) for gain in sequences]
    first, _, query = active_design._merge_choices(by_query, 3)
    assert (first.tolist(), query.tolist()) == ([0, 1, 0], [1, 1, 0])


def test_too_many_documents_or_choices_are_refused_with_a_way_out() -> None:
    with pytest.raises(UsageError) as refused:
        choose_active_pairs(matched(3001), votes=1, budget=1, rng=np.random.default_rng(0))
    assert refused.value.code == "too-many-documents"
    assert "'q0' has 3,001" in refused.value.text
    assert refused.value.note.suggestions[0].arguments == {"depth": 1000}
    with pytest.raises(UsageError) as refused:
        choose_active_pairs(matched(3), votes=1, budget=100_001, rng=np.random.default_rng(0))
    assert (refused.value.code, refused.value.parameter) == ("too-many-choices", "budget")


def ndcg(ratings: FloatArray, grades: Rows) -> float:
    """The mean nDCG@10 over queries, gain 2^grade − 1."""
    gain, discount = 2.0**grades - 1, 1 / np.log2(np.arange(2, 12))
    top = np.argsort(-ratings.reshape(grades.shape), axis=1, kind="stable")[:, :10]
    ideal = -np.sort(-gain, axis=1)[:, :10]
    return float(((np.take_along_axis(gain, top, axis=1) @ discount) / (ideal @ discount)).mean())


@pytest.mark.simulation
@pytest.mark.parametrize(
    ("quality", "queries"),
    # Where the first ranking is worthless, active is more than .015 above each bound, and half of the queries do.
    [
        pytest.param(1.0, 120, id="a useful first ranking", marks=pytest.mark.study),
        pytest.param(0.0, 60, id="a worthless first ranking"),
    ],
)
def test_active_reaches_the_published_design_with_a_third_of_its_votes_and_beats_random(
    quality: float, queries: int
) -> None:
    """Queries of 60 documents, 78% of grade 0; people choose with log odds of 1.2 for each grade of difference."""
    rng, docs = np.random.default_rng(7), 60
    grades = rng.choice(4, size=(queries, docs), p=(0.78, 0.10, 0.07, 0.05))
    order = np.argsort(-(quality * grades + rng.normal(size=grades.shape)), axis=1)
    grades = np.take_along_axis(grades, order, axis=1)
    true = (1.2 * grades + rng.normal(0, 0.3, grades.shape)).ravel()
    nobody = matched(docs, queries)

    def ask(known: Matches, first: Rows, second: Rows) -> Matches:
        won = rng.random(len(first)) < 1 / (1 + np.exp(true[second] - true[first]))
        return voted(known, first, second, won.astype(np.float64))

    design = choose_seed_pairs(nobody, votes=4, budget=None, rng=rng)
    full = ask(nobody, np.repeat(design.first, 4), np.repeat(design.second, 4))
    known, reached = nobody, {}
    for part in (1 / 4, 1 / 3):
        while known.size < part * full.size:
            pairs = choose_active_pairs(known, votes=1, budget=20 * queries, rng=rng)
            known = ask(known, pairs.first, pairs.second)
        reached[part] = ndcg(fit_bradley_terry(known, ridge=0.25), grades)
    drawn = choose_random_pairs(nobody, votes=1, budget=known.size, rng=rng)
    by_chance = ndcg(fit_bradley_terry(ask(nobody, drawn.first, drawn.second), ridge=0.25), grades)
    published = ndcg(fit_bradley_terry(full, ridge=0.25), grades)
    assert reached[1 / 3] > published - 0.005
    assert reached[1 / 4] > published - 0.015
    assert reached[1 / 4] > by_chance + 0.04
