"""How probable it should be to draw each document."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.sparse import csr_array

from gold.correction.worlds import world
from gold.refusals import refuses
from ringtrue.errors import UsageError
from ringtrue.gold.correction.pool import build_pool
from ringtrue.gold.sampling.allocation import (
    LOWEST_LABEL_SD,
    MIN_RATE,
    OTHER_LABEL_SD,
    assumed_residual_sd,
    importance,
    neyman,
    pivotal_sample,
    require_budget,
)
from ringtrue.tables import Judgments, Run
from strategies import examples

PROBABILITIES = arrays(
    np.float64, st.integers(1, 40), elements=st.one_of(st.just(0.0), st.just(1.0), st.floats(0.01, 1))
)
SEEDS = st.integers(0, 2**32 - 1)
SIZES = arrays(np.float64, st.integers(2, 30), elements=st.one_of(st.just(0.0), st.floats(1e-3, 100)))


def clipped(size: np.ndarray, budget: float, most: float) -> np.ndarray:
    """In proportion to size between the two limits, by halving the interval that the factor lies in."""
    counts = size > 0
    least, low, high = MIN_RATE * budget / counts.sum(), 0.0, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        total = np.where(counts, np.clip(middle * size, least, most), 0).sum()
        low, high = (middle, high) if total < budget else (low, middle)
    return np.where(counts, np.clip(high * size, least, most), 0)


def test_probabilities_by_hand() -> None:
    assert neyman(np.array([1.0, 2.0, 3.0, 4.0]), 2).tolist() == pytest.approx([0.2, 0.4, 0.6, 0.8])
    # The last would be above 1: it is drawn for sure, and the others share what is left.
    assert neyman(np.array([1.0, 1.0, 2.0, 8.0]), 2).tolist() == pytest.approx([0.25, 0.25, 0.5, 1])
    # The first would be far below a tenth of 3/4.
    assert neyman(np.array([1e-6, 1.0, 1.0, 1.0]), 2).tolist() == pytest.approx([0.05, 0.65, 0.65, 0.65])


def test_a_budget_for_all_draws_all_that_count() -> None:
    assert neyman(np.array([1.0, 0.0, 2.0]), 2).tolist() == [1, 0, 1]
    assert neyman(np.array([1.0, 0.0, 2.0]), 50).tolist() == [1, 0, 1]
    assert neyman(np.array([1.0, 0.0, 2.0]), 50, max_prob=0.5).tolist() == [0.5, 0, 0.5]
    assert neyman(np.zeros(3), 2).tolist() == [0, 0, 0]


@given(SIZES, st.integers(2, 30), st.floats(0.05, 1))
def test_probabilities_add_up_to_the_budget_between_the_least_and_the_most(
    size: np.ndarray, budget: int, most: float
) -> None:
    prob, counts = neyman(size, budget, max_prob=most), size > 0
    assert prob[~counts].tolist() == [0] * int((~counts).sum())
    assert prob.sum() == pytest.approx(min(budget, most * counts.sum()))
    if counts.any():
        assert prob[counts].max() <= most * (1 + 1e-12)
        assert prob[counts].min() >= min(MIN_RATE * budget / counts.sum(), most) * (1 - 1e-12)
    order = np.argsort(size, kind="stable")
    assert (np.diff(prob[order]) >= -1e-12).all()


@given(SIZES, st.integers(2, 30), st.floats(0.05, 1))
def test_halving_finds_the_same(size: np.ndarray, budget: int, most: float) -> None:
    counts = size > 0
    if budget >= most * counts.sum():
        return
    assert neyman(size, budget, max_prob=most).tolist() == pytest.approx(clipped(size, budget, most).tolist(), abs=1e-9)


@given(SIZES, st.integers(2, 30), st.floats(0.01, 100))
def test_units_do_not_matter(size: np.ndarray, budget: int, unit: float) -> None:
    assert neyman(size * unit, budget).tolist() == pytest.approx(neyman(size, budget).tolist())


@examples(30)
@given(arrays(np.float64, st.integers(3, 12), elements=st.floats(0.1, 10)), st.integers(0, 2**32 - 1))
def test_no_other_probabilities_with_these_limits_have_a_smaller_variance(size: np.ndarray, seed: int) -> None:
    budget = max(2, len(size) // 2)
    best = neyman(size, budget)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        a, b = rng.choice(len(size), 2, replace=False)
        least = MIN_RATE * budget / len(size)
        moved = best.copy()
        step = rng.uniform(0, min(1 - best[a], best[b] - least))
        moved[a], moved[b] = moved[a] + step, moved[b] - step
        assert (size**2 / moved).sum() >= (size**2 / best).sum() - 1e-9 * (size**2 / best).sum()


def test_importance_by_hand() -> None:
    weights = csr_array([[0.1, 0.2, 0.0], [0.1, 0.0, 0.2], [0.1, 0.2, 0.4]])
    assert importance(weights, compare=False).tolist() == pytest.approx([0.1, np.sqrt(0.08 / 3), np.sqrt(0.20 / 3)])
    # Pairs: 0.2, 0, 0.2 apart in the second; 0.2, 0.4, 0.2 in the third; never in the first.
    assert importance(weights, compare=True).tolist() == pytest.approx([0, np.sqrt(0.08 / 3), np.sqrt(0.24 / 3)])


@given(
    arrays(
        np.float64, st.tuples(st.integers(2, 6), st.integers(1, 8)), elements=st.integers(0, 9).map(lambda n: n / 90)
    )
)
def test_importance_between_runs_is_the_root_mean_square_over_all_pairs(weights: np.ndarray) -> None:
    runs = len(weights)
    squares = [(weights[a] - weights[b]) ** 2 for a in range(runs) for b in range(a)]
    naive = np.sqrt(np.mean(squares, axis=0))
    found = importance(csr_array(weights), compare=True)
    assert found.tolist() == pytest.approx(naive.tolist(), abs=1e-7)
    assert not found[naive == 0].any()  # rounding must not make a document count that all runs have alike


def test_the_lowest_bronze_label_is_taken_to_be_the_surest() -> None:
    run = Run.of({"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}})
    told = assumed_residual_sd(build_pool([run], Judgments.of({"q": {"a": 2, "b": 0, "c": 1}}), depth=4))
    assert told.tolist() == [OTHER_LABEL_SD, LOWEST_LABEL_SD, OTHER_LABEL_SD, OTHER_LABEL_SD]
    alike = assumed_residual_sd(build_pool([run], Judgments.of({"q": dict.fromkeys("abcd", 0)}), depth=4))
    assert alike.tolist() == [OTHER_LABEL_SD] * 4  # one label tells nothing apart


def test_a_document_that_no_run_counts_is_never_drawn() -> None:
    asked = world(0, runs=2, whole=True).asked("P@3", depth=5)
    counts = importance(asked.weights, compare=False) > 0
    assert not counts.all()
    assert (neyman(importance(asked.weights, compare=False), 4)[~counts] == 0).all()


def test_a_budget_that_can_tell_nothing_is_refused() -> None:
    with refuses(UsageError, "budget-too-small", "2", "1", "100"):
        require_budget(1)
    require_budget(2)


def test_a_draw_by_hand() -> None:
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


@examples(30)
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


@pytest.mark.simulation
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
