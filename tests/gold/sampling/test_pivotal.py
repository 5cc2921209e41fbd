"""Drawing with given probabilities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from ringtrue.gold.sampling.pivotal import pivotal_sample

PROBABILITIES = arrays(
    np.float64, st.integers(1, 40), elements=st.one_of(st.just(0.0), st.just(1.0), st.floats(0.01, 1))
)
SEEDS = st.integers(0, 2**32 - 1)


def test_by_hand() -> None:
    query = np.array([0, 0, 0, 1])
    drawn = pivotal_sample(np.array([1.0, 0.0, 1.0, 1.0]), query, np.zeros(4), np.random.default_rng(0))
    assert drawn.tolist() == [0, 2, 3]
    assert pivotal_sample(np.zeros(4), query, np.zeros(4), np.random.default_rng(0)).tolist() == []
    assert pivotal_sample(np.array([]), np.array([], dtype=int), np.array([]), np.random.default_rng(0)).tolist() == []


@given(PROBABILITIES, st.integers(1, 6), SEEDS)
def test_as_many_are_drawn_as_the_probabilities_add_up_to_in_all_and_from_each_query(
    prob: np.ndarray, queries: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    query, level = rng.integers(0, queries, len(prob)), rng.integers(0, 3, len(prob))
    drawn = pivotal_sample(prob, query, level, rng)
    assert drawn.tolist() == sorted(set(drawn.tolist()))
    assert (prob[drawn] > 0).all()
    assert set(np.flatnonzero(prob == 1)) <= set(drawn.tolist())
    assert abs(len(drawn) - prob.sum()) < 1 + 1e-9
    for one in range(queries):
        whole = prob[query == one].sum()
        assert abs((query[drawn] == one).sum() - whole) < 1 + 1e-9
        for kind in range(3):  # and of each bronze label, nearly
            inside = (query == one) & (level == kind)
            assert abs(np.isin(drawn, np.flatnonzero(inside)).sum() - prob[inside].sum()) < 2 + 1e-9


@settings(max_examples=30)
@given(st.integers(2, 30), st.integers(1, 6), SEEDS)
def test_a_whole_budget_is_met_exactly(documents: int, queries: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    budget = int(rng.integers(1, documents + 1))
    prob = rng.random(documents)
    for _ in range(50):  # to a sum that is whole, none above 1
        prob = np.minimum(prob * budget / prob.sum(), 1)
    if abs(prob.sum() - budget) < 1e-12:
        assert len(pivotal_sample(prob, rng.integers(0, queries, documents), np.zeros(documents), rng)) == budget


@pytest.mark.parametrize("third", [1 / 3, 0.1, 0.7])
def test_sums_of_thirds_and_tenths_lose_nothing_to_rounding(third: float) -> None:
    prob = np.full(300, third)
    sizes = {
        len(pivotal_sample(prob, np.repeat(np.arange(30), 10), np.zeros(300), np.random.default_rng(seed)))
        for seed in range(300)
    }
    assert sizes == {round(300 * third)}


def test_every_document_is_drawn_as_often_as_its_probability_says() -> None:
    rng, draws = np.random.default_rng(4), 20_000
    prob = np.array([0.1, 0.35, 0.6, 0.95, 0.5, 0.2, 0.8, 0.5, 1.0, 0.0])
    query, level = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2]), np.array([0, 1, 1, 0, 0, 1, 1, 0, 1, 1])
    counts = np.zeros(len(prob))
    for _ in range(draws):
        counts[pivotal_sample(prob, query, level, rng)] += 1
    free = (prob > 0) & (prob < 1)
    assert counts[~free].tolist() == [draws, 0]
    expected = draws * prob[free]
    squares = ((counts[free] - expected) ** 2 / (expected * (1 - prob[free]))).sum()
    assert stats.chi2.sf(squares, free.sum()) > 0.001


def test_documents_of_one_query_are_seldom_drawn_together_and_those_of_several_can_be() -> None:
    # Two queries with a half and a half each: one of each is drawn, never both of one.
    rng, together = np.random.default_rng(5), set()
    for _ in range(200):
        drawn = pivotal_sample(np.full(4, 0.5), np.array([0, 0, 1, 1]), np.zeros(4), rng)
        together.add(tuple(drawn.tolist()))
    assert together == {(0, 2), (0, 3), (1, 2), (1, 3)}


def test_queries_that_are_alike_are_not_all_drawn_from_at_the_same_place() -> None:
    # Two documents of each of 40 queries, on average two thirds of one of the rarer level: 27 in all, nearly.
    prob, level = np.tile([2 / 15] * 5 + [4 / 15] * 5, 40), np.tile([0] * 5 + [1] * 5, 40)
    counts = []
    for seed in range(300):
        drawn = pivotal_sample(prob, np.repeat(np.arange(40), 10), level, np.random.default_rng(seed))
        assert len(drawn) == 80
        counts.append((level[drawn] == 0).sum())
    assert np.mean(counts) == pytest.approx(80 / 3, abs=1)
    assert np.std(counts) <= np.sqrt(40 * 2 / 9) * 1.2  # as if each query were drawn from by itself


def test_the_same_seed_draws_the_same() -> None:
    prob, query = np.full(50, 0.3), np.repeat(np.arange(5), 10)
    one, two, three = (
        pivotal_sample(prob, query, np.zeros(50), np.random.default_rng(seed)).tolist() for seed in (1, 1, 2)
    )
    assert one == two != three
