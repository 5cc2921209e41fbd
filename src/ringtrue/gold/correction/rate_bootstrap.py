"""The corrected score drawn many times: the parametric bootstrap, and Jeffreys' posterior."""

from __future__ import annotations

import math

import numpy as np

from ringtrue.gold.correction.calculator_inputs import BronzeScore, Rate, Rates
from ringtrue.gold.correction.rate_inversion import Array


def bootstrap_fraction(
    score: BronzeScore, rates: Rates, *, resamples: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The score and the rates drawn anew around what was found: the top and the bottom of θ's fraction.

        j* ~ Binomial(n, j)/n,  m* ~ Binomial(n, m)/n,  θ* = (j* − 1 + m_N*) / (m_R* + m_N* − 1)

    This is Algorithm 1 of [Goldberg17], with j* ~ Normal(j, V_J) where a query has more than one document.

    Examples:
        >>> score, rates = BronzeScore(mean=0.6, queries=500, k=1), Rates(relevant=(90, 100), nonrelevant=(80, 100))
        >>> top, bottom = bootstrap_fraction(score, rates, resamples=10_000, rng=np.random.default_rng(1))
        >>> (top / bottom).std().round(3)
        np.float64(0.048)
    """
    if score.k == 1:
        scores = rng.binomial(score.queries, score.mean, resamples) / score.queries
    else:
        scores = rng.normal(score.mean, math.sqrt(score.variance), resamples)
    sensitivity, specificity = (_resample_rate(rate, resamples, rng) for rate in (rates.relevant, rates.nonrelevant))
    return scores - 1 + specificity, sensitivity + specificity - 1


def draw_posterior_fraction(
    score: BronzeScore, rates: Rates, *, resamples: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """The score and the rates drawn from what is believed of them, beginning with Jeffreys' prior [Jeffreys46].

        m* ~ Beta(x + ½, n − x + ½),  j* ~ Beta(wj + ½, w(1−j) + ½),  w what the queries are worth in documents

    Gives the top and the bottom of θ's fraction, as `bootstrap_fraction` does.

    Examples:
        >>> score, rates = BronzeScore(mean=0.6, queries=500, k=1), Rates(relevant=(90, 100), nonrelevant=(80, 100))
        >>> top, bottom = draw_posterior_fraction(score, rates, resamples=10_000, rng=np.random.default_rng(1))
        >>> np.median(top / bottom).round(2)
        np.float64(0.57)
    """
    scores = rng.beta(score.worth * score.mean + 0.5, score.worth * (1 - score.mean) + 0.5, resamples)
    sensitivity, specificity = (
        _draw_posterior_rate(rate, resamples, rng) for rate in (rates.relevant, rates.nonrelevant)
    )
    return scores - 1 + specificity, sensitivity + specificity - 1


def _resample_rate(rate: Rate, resamples: int, rng: np.random.Generator) -> Array:
    if not isinstance(rate, tuple):
        return np.full(resamples, rate)
    hits, n = rate
    return rng.binomial(n, hits / n, resamples) / n


def _draw_posterior_rate(rate: Rate, resamples: int, rng: np.random.Generator) -> Array:
    if not isinstance(rate, tuple):
        return np.full(resamples, rate)
    hits, n = rate
    return rng.beta(hits + 0.5, n - hits + 0.5, resamples)
