"""The corrected score drawn many times."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ringtrue.gold.correction import BronzeScore, Rates
from ringtrue.gold.correction.rate_bootstrap import bootstrap_fraction, draw_posterior_fraction
from ringtrue.gold.correction.rate_inversion import inversion_variance

RATES = Rates(relevant=(450, 500), nonrelevant=(400, 500))


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def algorithm_1(j: float, n: int, resamples: int, draw: np.random.Generator) -> float:
    """The published algorithm, line by line."""
    samples = []
    for _ in range(resamples):
        j_star = draw.binomial(n, j) / n
        j_r = draw.binomial(500, 450 / 500) / 500
        j_n = draw.binomial(500, 400 / 500) / 500
        samples.append((j_star - 1 + j_n) / (j_r + j_n - 1))
    return math.sqrt(np.var(samples))


def test_the_spread_of_the_draws_is_that_of_the_published_algorithm() -> None:
    top, bottom = bootstrap_fraction(BronzeScore(mean=0.6, queries=400, k=1), RATES, resamples=40_000, rng=rng())
    assert (top / bottom).std() == pytest.approx(algorithm_1(0.6, 400, 20_000, rng()), rel=0.02)


def test_with_many_labels_the_spread_is_that_of_the_equation() -> None:
    score = BronzeScore(mean=0.6, sd=0.3, queries=400, k=10)
    top, bottom = bootstrap_fraction(score, RATES, resamples=100_000, rng=rng())
    expected = math.sqrt(inversion_variance(0.6, score.variance, (0.9, 500), (0.8, 500)))
    assert (top / bottom).std() == pytest.approx(expected, rel=0.02)


def test_one_document_a_query_is_drawn_as_a_coin_and_more_as_a_mean() -> None:
    perfect = Rates(relevant=1.0, nonrelevant=1.0)
    coins, _ = bootstrap_fraction(BronzeScore(mean=0.6, queries=10, k=1), perfect, resamples=2_000, rng=rng())
    assert np.allclose(coins * 10, np.round(coins * 10))
    means, _ = bootstrap_fraction(BronzeScore(mean=0.6, sd=0.3, queries=10), perfect, resamples=2_000, rng=rng())
    assert len(np.unique(means)) == 2_000


def test_known_rates_are_not_drawn() -> None:
    known = Rates(relevant=0.9, nonrelevant=0.8)
    for draw in (bootstrap_fraction, draw_posterior_fraction):
        _, bottom = draw(BronzeScore(mean=0.6, queries=100, k=1), known, resamples=100, rng=rng())
        assert bottom == pytest.approx(0.7)


def test_the_posterior_of_a_rate_is_the_one_that_jeffreys_prior_gives() -> None:
    rates = Rates(relevant=(9, 10), nonrelevant=1.0)
    _, bottom = draw_posterior_fraction(BronzeScore(mean=0.6, queries=100, k=1), rates, resamples=50_000, rng=rng())
    assert np.quantile(bottom, [0.025, 0.5, 0.975]) == pytest.approx(
        stats.beta(9.5, 1.5).ppf([0.025, 0.5, 0.975]), abs=0.01
    )


def test_the_same_seed_gives_the_same_draws() -> None:
    score = BronzeScore(mean=0.6, sd=0.3, queries=10)
    for draw in (bootstrap_fraction, draw_posterior_fraction):
        one, two = (draw(score, RATES, resamples=10, rng=rng()) for _ in range(2))
        np.testing.assert_array_equal(one, two)
