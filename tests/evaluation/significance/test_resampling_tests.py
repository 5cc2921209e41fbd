"""Tests that draw again: by enumeration, against SciPy, and what always holds."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy import stats

from ringtrue.evaluation.significance.paired_statistics import (
    FloatArray,
    bca,
    bootstrap_means,
    is_exact,
    permutation_test,
    tukey_hsd,
)
from strategies import examples

twentieths = st.lists(st.integers(-20, 20).map(lambda i: i / 20), min_size=2, max_size=9)
seeds = st.integers(0, 2**32 - 1)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def flipped(differences: list[float]) -> float:
    """The exact permutation test by its definition: all flips, one after the other."""
    seen = abs(sum(differences))
    sums = [abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
            for signs in product((1, -1), repeat=len(differences))]  # fmt: skip
    return sum(one >= seen - 1e-9 for one in sums) / len(sums)


def test_the_permutation_test_on_paper() -> None:
    # 1 + 2 + 3 = 6: only all and none flipped lie as far; 1 + 2 − 3 = 0: everything does
    np.testing.assert_array_equal(
        permutation_test(np.array([[1.0, 2, 3], [1, 2, -3]]), resamples=100, rng=rng()), [0.25, 1]
    )


@given(twentieths)
def test_for_few_queries_the_permutation_test_is_exact(differences: list[float]) -> None:
    assert permutation_test(np.array([differences]), resamples=256, rng=rng())[0] == flipped(differences)


@pytest.mark.parametrize("n", [2, 3, 6, 10])
def test_the_exact_permutation_test_agrees_with_scipy(n: int) -> None:
    d = np.vstack([rng(n).normal(0.4, 1, (3, n)), rng(n).integers(-2, 4, n)])
    expected = [
        stats.permutation_test((row,), np.mean, permutation_type="samples", n_resamples=np.inf, vectorized=True).pvalue
        for row in d
    ]
    np.testing.assert_allclose(permutation_test(d, resamples=10_000, rng=rng()), expected, rtol=1e-10)


@given(twentieths, st.randoms(use_true_random=False), st.integers(-20, 20))
def test_the_exact_permutation_test_knows_no_order_no_unit_and_no_side(
    differences: list[float], random, power: int
) -> None:
    one = permutation_test(np.array([differences]), resamples=256, rng=rng())
    other = -np.array([random.sample(differences, len(differences))]) * 2.0**power
    np.testing.assert_array_equal(permutation_test(other, resamples=256, rng=rng()), one)


@pytest.mark.parametrize(
    ("queries", "resamples", "answer"),
    [(1, 100, True), (14, 8_192, True), (14, 8_191, False), (14, 10_000, True), (15, 10_000, False)],
)
def test_all_flips_are_tried_where_that_costs_no_more(queries: int, resamples: int, answer: bool) -> None:
    assert is_exact(queries, resamples) is answer


def test_random_flips_come_near_all_flips() -> None:
    d = np.random.default_rng(5).normal(0.3, 1, (6, 16))
    exactly = permutation_test(d, resamples=1 << 15, rng=rng())
    about = permutation_test(d, resamples=20_000, rng=rng())
    assert (about != exactly).any()
    assert (np.abs(about - exactly) < 4.5 * np.sqrt(exactly * (1 - exactly) / 20_000) + 1e-4).all()


@pytest.mark.parametrize("resamples", [100, 499, 500, 501, 1_234])
def test_no_p_lies_below_what_so_many_resamples_can_show(resamples: int) -> None:
    d = np.ones((1, 60)) + np.linspace(0, 0.1, 60)
    assert permutation_test(d, resamples=resamples, rng=rng())[0] == 1 / (resamples + 1)
    p = bca(bootstrap_means(d, resamples=resamples, rng=rng()), d, level=0.95)[0][0]
    assert 1 <= p * (resamples + 1) < 2


def test_the_same_seed_gives_the_same_p_and_another_nearly_the_same() -> None:
    d = np.random.default_rng(1).normal(0.3, 1, (1, 40))
    p = [permutation_test(d, resamples=20_000, rng=rng(seed))[0] for seed in (1, 1, 2, 3)]
    assert p[0] == p[1]
    assert len(set(p)) == 3
    assert max(p) - min(p) < 6 * np.sqrt(p[0] * (1 - p[0]) / 20_000)


def test_a_pair_has_the_same_p_whichever_others_are_tested() -> None:
    d = np.round(np.random.default_rng(2).normal(0.1, 0.3, (30, 40)), 1)
    alone = [permutation_test(row[None], resamples=1_500, rng=rng(9))[0] for row in d]
    np.testing.assert_array_equal(permutation_test(d, resamples=1_500, rng=rng(9)), alone)
    np.testing.assert_array_equal(permutation_test(d[::-1], resamples=1_500, rng=rng(9)), alone[::-1])
    together = bca(bootstrap_means(d, resamples=1_500, rng=rng(9)), d, level=0.95)
    one_by_one = [bca(bootstrap_means(row[None], resamples=1_500, rng=rng(9)), row[None], level=0.95) for row in d]
    np.testing.assert_allclose(np.array(together), np.array(one_by_one)[:, :, 0].T, rtol=1e-9, atol=1e-12)


def test_two_queries_drawn_again_give_three_means() -> None:
    means = bootstrap_means(np.array([[1.0, 3.0]]), resamples=20_000, rng=rng())[0]
    values, counts = np.unique(means, return_counts=True)
    np.testing.assert_array_equal(values, [1, 2, 3])
    np.testing.assert_allclose(counts / 20_000, [0.25, 0.5, 0.25], atol=0.015)


def test_resampled_means_spread_as_the_theory_of_the_bootstrap_says() -> None:
    d = np.random.default_rng(3).exponential(1, (2, 50))
    means = bootstrap_means(d, resamples=40_000, rng=rng())
    np.testing.assert_allclose(means.mean(axis=1), d.mean(axis=1), atol=5 * 0.15 / np.sqrt(40_000) * 2)
    np.testing.assert_allclose(means.std(axis=1), d.std(axis=1) / np.sqrt(50), rtol=0.02)


def smooth(n: int, seed: int) -> FloatArray:
    return np.random.default_rng(seed).gamma(1.5, 0.2, n) - 0.2


def exact_sums(n: int, seed: int) -> FloatArray:
    """So few digits that no sum is rounded: SciPy takes a mean in another order of queries for another mean."""
    return np.round(smooth(n, seed) * 2**20) / 2**20


def eighths(n: int, seed: int) -> FloatArray:
    """The same with many ties."""
    return np.random.default_rng(seed).integers(-3, 6, n) / 8


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("make", [exact_sums, eighths])
@pytest.mark.parametrize("n", [4, 8, 32, 128])
def test_the_bca_interval_agrees_with_scipy_on_the_same_resamples(make, n: int, level: float) -> None:
    d = make(n, n)
    wider = 2 * stats.norm.cdf(np.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1)) - 1  # ours knows n is finite
    theirs = stats.bootstrap((d,), np.mean, method="BCa", confidence_level=wider, n_resamples=999, rng=rng(n))
    _, low, high = bca(theirs.bootstrap_distribution[None], d[None], level=level)
    np.testing.assert_allclose(
        [low[0], high[0]], [theirs.confidence_interval.low, theirs.confidence_interval.high], rtol=1e-10, atol=1e-12
    )


@given(st.integers(15, 60), seeds)  # fewer queries leave gaps between the resampled means
@examples(50)
def test_the_bca_interval_just_touches_0_at_the_level_that_p_leaves(n: int, seed: int) -> None:
    d = smooth(n, seed)[None]
    d += 0.8 * d.std() / np.sqrt(n) - d.mean()  # for a p in the middle: further out the resamples lie far apart
    means = bootstrap_means(d, resamples=2_000, rng=rng(seed))
    p = bca(means, d, level=0.95)[0][0]
    assert 0.05 < p < 0.95
    _, low, high = bca(means, d, level=1 - p)
    assert min(abs(low[0]), abs(high[0])) < 0.15 * means.std()


@given(st.integers(15, 60), seeds)
@examples(50)
def test_the_bca_interval_leaves_0_out_where_p_is_small(n: int, seed: int) -> None:
    d = smooth(n, seed)[None]
    p, low, high = bca(bootstrap_means(d, resamples=2_000, rng=rng(seed)), d, level=0.95)
    assume(abs(p[0] - 0.05) > 0.003)  # closer, it is a question of how to step between two resamples
    assert (low[0] > 0 or high[0] < 0) == (p[0] < 0.05)


@given(st.integers(5, 60), seeds)
@examples(50)
def test_swapping_the_runs_turns_the_bca_interval_round(n: int, seed: int) -> None:
    d = np.round(smooth(n, seed), 1)[None]
    assume(np.ptp(d) > 0)
    means = bootstrap_means(d, resamples=500, rng=rng(seed))
    p, low, high = bca(means, d, level=0.95)
    turned = bca(-means, -d, level=0.95)
    np.testing.assert_allclose(turned, (p, -high, -low), rtol=1e-9, atol=1e-12)


@given(st.integers(5, 40), seeds)
@examples(50)
def test_resampled_means_that_only_rounding_keeps_apart_count_as_equal(n: int, seed: int) -> None:
    tenths = np.random.default_rng(seed).integers(-3, 5, (1, n))
    assume(np.ptp(tenths) > 0)
    whole, parts = (bca(bootstrap_means(d, resamples=500, rng=rng(seed)), d, level=0.95)
                    for d in (tenths.astype(float), tenths / 10))  # fmt: skip
    np.testing.assert_allclose(parts[0], whole[0], rtol=1e-9)
    np.testing.assert_allclose(parts[1:], np.divide(whole[1:], 10), rtol=1e-9, atol=1e-12)


def dealt(values: FloatArray, pairs: list[tuple[int, int]]) -> FloatArray:
    """Tukey's randomised test by its definition: every way to deal the values of each query to the runs."""
    first, second = np.array(pairs).T
    seen = np.abs(values.mean(axis=1)[first] - values.mean(axis=1)[second])
    widest = []
    for deal in product(permutations(range(len(values))), repeat=values.shape[1]):
        means = np.array([values[list(order), query] for query, order in enumerate(deal)]).mean(axis=0)
        widest.append(np.abs(means[first] - means[second]).max())
    return (np.array(widest)[:, None] >= seen - 1e-9).mean(axis=0)


@pytest.mark.parametrize("pairs", [[(0, 1), (0, 2), (1, 2)], [(1, 0), (2, 0)]])
@pytest.mark.parametrize("queries", [2, 3, 4])
def test_tukeys_test_comes_near_all_ways_to_deal(queries: int, pairs: list[tuple[int, int]]) -> None:
    values = np.array([[0.9, 0.7, 0.8, 0.6], [0.4, 0.5, 0.1, 0.5], [0.5, 0.3, 0.2, 0.6]])[:, :queries]
    first, second = np.array(pairs).T
    exactly = dealt(values, pairs)
    about = tukey_hsd(values, first, second, resamples=10_000, rng=rng())
    assert (np.abs(about - exactly) < 4.5 * np.sqrt(exactly * (1 - exactly) / 10_000) + 2e-4).all()


def test_tukeys_test_of_two_runs_is_the_permutation_test() -> None:
    values = np.random.default_rng(4).beta(2, 3, (2, 12))
    exactly = permutation_test(values[:1] - values[1:], resamples=10_000, rng=rng())[0]
    about = tukey_hsd(values, np.array([0]), np.array([1]), resamples=10_000, rng=rng())[0]
    assert abs(about - exactly) < 4.5 * np.sqrt(exactly * (1 - exactly) / 10_000) + 1e-4


def test_tukeys_test_asks_for_more_the_more_runs_there_are_and_orders_pairs_by_their_difference() -> None:
    values = np.random.default_rng(6).beta(2, 3, (6, 30))
    first, second = np.array([(i, j) for i in range(6) for j in range(i)]).T
    p = tukey_hsd(values, first, second, resamples=2_000, rng=rng())
    alone = permutation_test(values[first] - values[second], resamples=2_000, rng=rng())
    assert (p >= alone - 0.05).all()
    apart = np.abs((values[first] - values[second]).mean(axis=1))
    assert (np.diff(p[np.argsort(-apart)]) >= 0).all()
    assert (p > 0).all()
    assert (p <= 1).all()


def test_tukeys_test_of_identical_runs_gives_p_1() -> None:
    values = np.random.default_rng(7).beta(2, 3, (2, 10))
    same = np.vstack([values, values[:1]])
    assert tukey_hsd(same, np.array([0]), np.array([2]), resamples=500, rng=rng())[0] == 1
