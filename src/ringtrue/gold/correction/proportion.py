"""One corrected score with its interval, and every reason to doubt it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

import numpy as np

from ringtrue.errors import UsageError, did_you_mean
from ringtrue.gold.correction.post_stratified import post_stratified_share
from ringtrue.gold.correction.rate_inversion import (
    Array,
    BronzeScore,
    Rate,
    Rates,
    adjusted_interval,
    inversion_variance,
    invert_rates,
)
from ringtrue.messages import Note
from ringtrue.stats.intervals import normal_quantile, require_level
from ringtrue.stats.results import Estimate

Interval: TypeAlias = Literal["fieller", "wald", "bootstrap", "bayes"]
ASSUMPTION = Note(
    "same-error-rates",
    "holds where the judge errs on these documents as often as on those where the rates were measured",
)
MIN_LABELS = 30
MIN_QUERIES = 20
ROUNDING = 1e-12  # 0.7 + 0.3 may differ from 1 by less


def correct_share(
    score: BronzeScore,
    rates: Rates,
    *,
    interval: Interval = "fieller",
    level: float = 0.95,
    resamples: int = 10_000,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """The score that the gold judge would give, from the bronze score and how often the bronze judge is right.

        θ = (j − 1 + m_N) / J,  J = m_R + m_N − 1    [Goldberg17]

    Holds where the judge errs on these documents as often as on those where the rates were measured. The interval is
    Fieller's, adjusted and cut to 0 and 1; "wald" is θ ± z·se with the published standard error, "bootstrap" the middle
    of the published resamples, "bayes" that of the posterior, cut to 0 and 1. Where the rates allow a judge who is no
    better than chance, there is no value, the interval is 0 to 1, and a note says why. A value outside 0 and 1 is
    given as it is, and so is an interval that misses 0 to 1 altogether: both say that the rates do not fit.

    Examples:
        >>> rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
        >>> print(correct_share(BronzeScore(mean=0.626, sd=0.414, queries=10278), rates))
        0.80 (95% CI 0.66 to 1.00)
        >>> print(correct_share(BronzeScore(mean=0.5, queries=100, k=1), Rates(relevant=(5, 9), nonrelevant=(6, 9))))
        undefined: the judge may be no better than chance: right on 5 of 9 relevant and 6 of 9 non-relevant ...
    """
    require_level(level)
    if interval not in get_args(Interval):
        suggestion = did_you_mean(interval, get_args(Interval)) or f"; there is {', '.join(get_args(Interval))}"
        raise UsageError("unknown-interval", f"no interval '{interval}'{suggestion}", parameter="interval")
    if resamples < 1:
        raise UsageError(
            "bad-resamples", f"an interval needs at least 1 resample, found {resamples}", parameter="resamples"
        )
    reason = why_uncorrectable(rates, level=level)
    if reason is not None:
        return Estimate(
            value=None,
            low=0.0,
            high=1.0,
            level=level,
            n=score.queries,
            method=f"confusion, {interval}",
            notes=(reason,),
        )
    value = float(invert_rates(score.mean, rates.on_relevant[0], rates.on_nonrelevant[0]))
    se = math.sqrt(inversion_variance(score.mean, score.variance, rates.on_relevant, rates.on_nonrelevant))
    without_interval = Estimate(
        value=value,
        se=se,
        level=level,
        n=score.queries,
        method=f"confusion, {interval}",
        notes=_score_caveats(score, rates, interval),
    )
    z = normal_quantile((1 + level) / 2)
    if interval == "wald":
        estimate = replace(without_interval, low=value - z * se, high=value + z * se)
    elif interval == "fieller":
        low, high, _ = adjusted_interval(score.mean, score.worth, rates.on_relevant, rates.on_nonrelevant, z=z)
        estimate = replace(without_interval, low=float(low), high=float(high)).within(0, 1)
    else:
        estimate = _interval_from_draws(
            without_interval, score, rates, interval, resamples, rng or np.random.default_rng(0)
        )
    return replace(estimate, notes=(*estimate.notes, *_note_outside_unit(estimate)))


def why_uncorrectable(rates: Rates, *, level: float = 0.95) -> Note | None:
    """Why no score can be corrected with these rates; None where it can.

    The judge must be better than chance, J > 0, beyond doubt: z²(V_R' + V_N') < J'², with each rate nudged towards one
    half by one hit and one miss. Otherwise Fieller's interval has no end [Fieller54].

    Examples:
        >>> why_uncorrectable(Rates(relevant=(43, 59), nonrelevant=(67, 84)))
        >>> print(why_uncorrectable(Rates(relevant=0.5, nonrelevant=0.4)))
        the judge is no better than chance: right on 50% of relevant and 40% of non-relevant documents adds up to no
        more than 100%, and such labels say nothing; no score can be corrected with them
    """
    z = normal_quantile((1 + level) / 2)
    _, _, unusable = adjusted_interval(0.5, 1, rates.on_relevant, rates.on_nonrelevant, z=z)
    if rates.youden > ROUNDING and not unusable:
        return None
    if rates.youden <= ROUNDING:
        return Note(
            "judge-at-chance",
            f"the judge is no better than chance: right on {_describe_rates(rates, percent=True)} documents adds up to "
            f"no more than 100%, and such labels say nothing; no score can be corrected with them",
        )
    return Note(
        "judge-maybe-at-chance",
        f"the judge may be no better than chance: right on {_describe_rates(rates)} documents leaves that open at a "
        f"level of {level * 100:g}%, and then every score fits; measure the rates on more gold labels",
    )


def correct_share_by_label(score: BronzeScore, rates: Rates, *, level: float = 0.95) -> Estimate:
    """The score by the gold judge, where the gold labels are a random draw from these very documents.

        jP + (1−j)Q,  V = (P−Q)² V_J + j² P(1−P)/(n_P + 1) + (1−j)² Q(1−Q)/(n_Q + 1)

    P and Q are the shares of relevant documents among the gold labels on documents that bronze calls relevant, and on
    the others, (x + ½)/(n + 1) each. It leans on no rate measured elsewhere, and as many gold labels tell it far more.

    Examples:
        >>> rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
        >>> print(correct_share_by_label(BronzeScore(mean=0.42, sd=0.4, queries=10278), rates))
        0.41 (95% CI 0.34 to 0.48)
    """
    method = "difference, by bronze label"
    if not isinstance(rates.relevant, tuple) or not isinstance(rates.nonrelevant, tuple):
        note = Note("rates-without-counts", "the rates come without their numbers of gold labels")
        return Estimate(value=None, level=level, n=score.queries, method=method, notes=(note,))
    (hits, relevant), (rejections, nonrelevant) = rates.relevant, rates.nonrelevant
    above, below = (hits, hits + nonrelevant - rejections), (relevant - hits, relevant - hits + rejections)
    centre, variance = post_stratified_share(score.mean, score.variance, above, below)
    value, se = float(centre), math.sqrt(variance)
    half_width = normal_quantile((1 + level) / 2) * se
    return Estimate(
        value=value,
        se=se,
        low=max(value - half_width, 0.0),
        high=min(value + half_width, 1.0),
        level=level,
        n=score.queries,
        method=method,
    )


def _interval_from_draws(
    estimate: Estimate, score: BronzeScore, rates: Rates, interval: Interval, resamples: int, rng: np.random.Generator
) -> Estimate:
    """The middle of the draws; with Algorithm 1 their spread is also the standard error."""
    draw = bootstrap_fraction if interval == "bootstrap" else draw_posterior_fraction
    numerator, denominator = draw(score, rates, resamples=resamples, rng=rng)
    usable = denominator != 0
    shares = numerator[usable] / denominator[usable]
    low, high = (float(end) for end in np.quantile(shares, [(1 - estimate.level) / 2, (1 + estimate.level) / 2]))
    uninformative = int((denominator <= 0).sum())
    text = f"in {uninformative:,} of {resamples:,} draws the judge is no better than chance"
    notes = [Note("draws-at-chance", text)] if uninformative else []
    with_interval = replace(estimate, low=low, high=high, notes=(*estimate.notes, *notes))
    return replace(with_interval, se=float(shares.std())) if interval == "bootstrap" else with_interval.within(0, 1)


def _note_outside_unit(estimate: Estimate) -> tuple[Note, ...]:
    """What a value or an interval outside 0 to 1 means."""
    assert estimate.value is not None
    assert estimate.low is not None
    assert estimate.high is not None
    if estimate.high < 0 or estimate.low > 1:
        side = "below 0" if estimate.high < 0 else "above 1"
        text = f"the whole interval lies {side}, where no score can be: these are not the judge's rates here"
        return (Note("interval-outside-possible", text),)
    if not 0 <= estimate.value <= 1:
        side = "below 0" if estimate.value < 0 else "above 1"
        text = f"the corrected score {estimate.value:.3f} lies {side}: by chance, or because the rates do not fit"
        return (Note("value-outside-possible", text),)
    return ()


def _score_caveats(score: BronzeScore, rates: Rates, interval: Interval) -> tuple[Note, ...]:
    notes = []
    few = {
        name: n
        for name, (_, n) in (("relevant", rates.on_relevant), ("non-relevant", rates.on_nonrelevant))
        if n < MIN_LABELS
    }
    if few:
        few_text = " and ".join(f"{n:g} {name}" for name, n in few.items())
        single = list(few.values()) == [1]
        text = f"only {few_text} gold label{'' if single else 's'}: the judge's rates are known poorly"
        notes.append(Note("few-gold", text))
    if score.variance == 0:
        documents_each = f"{score.k} documents each" if score.k and score.k > 1 else "1 document each"
        counted = f"they count as {score.worth:,.0f} documents drawn one by one ({documents_each})"
        certainty = {
            "wald": "the interval takes their mean for certain",
            "bootstrap": "no draw departs from their mean",
        }
        text = f"all {score.queries:,} queries have the same score: {certainty.get(interval, counted)}"
        notes.append(Note("all-queries-alike", text))
    elif score.queries < MIN_QUERIES:
        text = f"only {score.queries} queries: how far they differ is known poorly, and the interval may be short"
        notes.append(Note("few-queries", text))
    exact = [
        name
        for name, rate in (("relevant", rates.relevant), ("non-relevant", rates.nonrelevant))
        if not isinstance(rate, tuple)
    ]
    if exact:
        exact_text = " and ".join(exact)
        notes.append(
            Note(
                "rates-taken-as-known",
                f"how often the judge is right on {exact_text} documents is taken for exactly known; right/labels, as "
                f"in 43/59, would give a wider interval",
            )
        )
    return (ASSUMPTION, *notes)


def _describe_rates(rates: Rates, *, percent: bool = False) -> str:
    """`5 of 9 relevant and 6 of 9 non-relevant`, or with percents where asked for or where there are no counts."""

    def describe(rate: tuple[int, int] | float) -> str:
        if isinstance(rate, tuple) and not percent:
            return f"{rate[0]} of {rate[1]}"
        return f"{100 * (rate[0] / rate[1] if isinstance(rate, tuple) else rate):.3g}% of"

    return f"{describe(rates.relevant)} relevant and {describe(rates.nonrelevant)} non-relevant"


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
