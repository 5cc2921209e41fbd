"""How often the intervals of corrected scores hold the truth."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

from ringtrue.errors import UsageError
from ringtrue.gold.correction import BronzeScore, Rates, correct_share
from ringtrue.simulation.studies.rate_coverage import (
    HARDER_WORLDS,
    SHARES,
    USUAL_WORLDS,
    RateWorld,
    _draw_scores,
    _score_distribution,
    _share_below_truth,
    coverage_of_rates,
    make_worlds,
    noisy_scores,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


WORLD = RateWorld(share=0.3, relevant=0.9, nonrelevant=0.8, relevant_labels=40, nonrelevant_labels=60, queries=50, k=10,
              alike=0.3)  # fmt: skip


def test_there_are_more_worlds_than_were_promised() -> None:
    assert len(USUAL_WORLDS) == len(set(USUAL_WORLDS)) >= 500
    assert len(HARDER_WORLDS) == len(set(HARDER_WORLDS))


@pytest.mark.simulation
def test_fiellers_interval_keeps_its_promise_where_walds_breaks_it() -> None:
    # Every eighth world and those where Wald is worst; `ringtrue simulate rates` looks at all of them.
    bad = make_worlds(
        shares=(0.98,), rates=((0.99, 0.9),), labels=((15, 15),), queries=(1000,), documents=((1, 0.0), (10, 0.05))
    )
    found = coverage_of_rates(rng(), [*USUAL_WORLDS[::8], *bad], replications=5_000, resamples=200)
    assert min(one.fieller for one in found) >= 0.90
    assert 0.95 <= np.mean([one.fieller for one in found]) <= 0.98
    assert min(one.wald for one in found) < 0.5
    assert min(one.bootstrap for one in found) < 0.5
    assert max(one.refused for one in found) < 1
    assert all(one.answered is None or one.answered >= 0.88 for one in found if one.refused < 0.5)


def test_the_scores_of_queries_are_those_of_a_world_drawn_document_by_document() -> None:
    shares = _score_distribution(WORLD)
    draw = rng()
    query = draw.beta(0.3 * (1 / 0.3 - 1), 0.7 * (1 / 0.3 - 1), 200_000)
    gold = draw.binomial(10, query)
    bronze = draw.binomial(gold, 0.9) + draw.binomial(10 - gold, 0.2)
    np.testing.assert_allclose(shares, np.bincount(bronze, minlength=11) / 200_000, atol=0.004)
    assert shares @ np.arange(11) / 10 == pytest.approx(0.3 * 0.9 + 0.7 * 0.2)


def test_with_a_perfect_judge_the_scores_are_beta_binomial() -> None:
    perfect = RateWorld(share=0.3, relevant=1.0, nonrelevant=1.0, relevant_labels=1, nonrelevant_labels=1, queries=50,
                        k=7, alike=0.2)  # fmt: skip
    expected = stats.betabinom(7, 0.3 * 4, 0.7 * 4).pmf(np.arange(8))
    np.testing.assert_allclose(_score_distribution(perfect), expected, atol=1e-12)


def test_means_and_variances_are_those_of_the_queries() -> None:
    scores, variance = _draw_scores(WORLD, rng(), 3)
    counts = rng().multinomial(50, _score_distribution(WORLD), 3)
    for row, mean, one in zip(counts, scores, variance, strict=True):
        values = np.repeat(np.arange(11) / 10, row)
        assert (mean, one) == pytest.approx((values.mean(), values.var(ddof=1) / 50))


def test_the_truth_is_held_in_the_study_where_the_package_says_so() -> None:
    draw = rng()
    scores, variance = _draw_scores(WORLD, draw, 40)
    right, wrong = draw.binomial(40, 0.9, 40) / 40, draw.binomial(60, 0.8, 40) / 60
    below = _share_below_truth(WORLD, scores, variance, (right, wrong), 4_000, draw)
    for j, v, r, n, share in zip(scores, variance, right, wrong, below, strict=True):
        score = BronzeScore(mean=float(j), sd=float(np.sqrt(v * 50)), queries=50, k=10)
        rates = Rates(relevant=(round(r * 40), 40), nonrelevant=(round(n * 60), 60))
        found = correct_share(score, rates, interval="bootstrap", resamples=4_000, rng=draw)
        if abs(abs(share - 0.5) - 0.475) > 0.01:  # not within a breath of an end
            assert (found.low <= 0.3 <= found.high) == (abs(share - 0.5) < 0.475)  # type: ignore[operator]


def test_experiments_without_an_answer_count_as_held_and_are_told() -> None:
    guessing = make_worlds(shares=(0.5,), rates=((0.5, 0.5),), labels=((20, 20),), queries=(50,), documents=((1, 0.0),))
    (found,) = coverage_of_rates(rng(), guessing, replications=500, resamples=50)
    assert found.refused > 0.9
    assert found.fieller >= found.refused
    assert list(found.as_dict())[:3] == ["share", "relevant", "nonrelevant"]
    worse = make_worlds(shares=(0.5,), rates=((0.1, 0.1),), labels=((90, 90),), queries=(50,), documents=((1, 0.0),))
    (none,) = coverage_of_rates(rng(), worse, replications=100, resamples=50)
    assert (none.refused, none.answered, none.fieller) == (1, None, 1)


def test_the_same_seed_makes_the_same_study_and_progress_is_told() -> None:
    done: list[int] = []
    one, two = (
        coverage_of_rates(rng(), USUAL_WORLDS[:3], replications=100, resamples=50, progress=done.append)
        for _ in range(2)
    )
    assert one == two
    assert done == [5_000] * 6


def test_a_study_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        coverage_of_rates(rng(), USUAL_WORLDS[:1], replications=0, resamples=10)
    assert refused.value.code == "study-too-small"


def test_the_shares_are_the_published_ones() -> None:
    assert list(SHARES) == pytest.approx([0.49, 0.47, 0.45, 0.43, 0.41, 0.39, 0.37, 0.35, 0.33, 0.31])


def test_the_naive_intervals_hold_the_truth_in_5_of_100_and_the_corrected_in_95() -> None:
    found = noisy_scores(rng(), replications=10_000)
    assert found.truth == pytest.approx(0.4)
    assert found.coverage["naive"] == pytest.approx(0.05, abs=0.015)
    assert found.coverage["wald"] == pytest.approx(0.95, abs=0.015)
    assert found.coverage["fieller"] == pytest.approx(0.95, abs=0.015)
    assert found.refused == 0


def test_the_naive_scores_are_nearly_all_too_high_and_the_corrected_are_right_on_average() -> None:
    found = noisy_scores(rng(), replications=5_000)
    assert (found.naive > 0.4).mean() > 0.99
    # What the judge calls relevant: 0.4 · 0.9 + 0.6 · 0.2.
    assert found.naive.mean() == pytest.approx(0.48, abs=0.002)
    assert found.corrected.mean() == pytest.approx(0.4, abs=0.003)


def test_a_perfect_judge_needs_no_correction() -> None:
    found = noisy_scores(rng(), replications=2_000, relevant=1.0, nonrelevant=1.0)
    np.testing.assert_allclose(found.naive, found.corrected)
    assert found.coverage["naive"] == pytest.approx(0.95, abs=0.015)


def test_the_histogram_holds_every_score_once_and_rounding_moves_none() -> None:
    found = noisy_scores(rng(), replications=2_000)
    edges, naive, corrected = found.histogram()
    assert (sum(naive), sum(corrected), len(edges)) == (2_000, 2_000, len(naive) + 1)
    assert np.diff(edges) == pytest.approx(0.01)
    place = edges.index(0.48)
    assert naive[place] == ((found.naive > 0.4799999) & (found.naive < 0.4899999)).sum()


def test_a_judge_who_guesses_leaves_scores_anywhere_and_mostly_no_answer() -> None:
    found = noisy_scores(rng(), replications=2_000, relevant=0.5, nonrelevant=0.5)
    assert found.refused > 0.9
    edges, _, corrected = found.histogram()
    assert edges[0] >= -0.21
    assert sum(corrected) == np.isfinite(found.corrected).sum()
    json.dumps(found.as_dict(), allow_nan=False)


def test_noisy_scores_of_the_same_seed_are_the_same_study_and_progress_is_told() -> None:
    done: list[int] = []
    one, two = (noisy_scores(rng(), replications=3_000, progress=done.append) for _ in range(2))
    assert one.as_dict() == two.as_dict()
    assert sum(done) == 2 * 3_000 * 50 * 10


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"queries": 1}, "study-too-small"),
        ({"replications": 0}, "study-too-small"),
        ({"relevant": 1.2}, "not-a-share"),
        ({"shares": ()}, "study-too-small"),
    ],
)
def test_a_world_that_cannot_be_is_refused(settings, code: str) -> None:
    with pytest.raises(UsageError) as refused:
        noisy_scores(rng(), **settings)
    assert refused.value.code == code
