"""The intervals of means and of shares."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from replications import room, short_and_long
from ringtrue.errors import UsageError
from ringtrue.stats.intervals import estimate_mean, estimate_share, resample_query_counts, t_quantile, wilson

# Cases as (cluster, hit); few of each, so that clusters are often of one mind.
cases = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=30)
levels = st.sampled_from([0.5, 0.8, 0.95, 0.999])


def test_a_mean_by_hand() -> None:
    estimate = estimate_mean(np.array([0.2, 0.4, 0.6, 0.8]))
    se = np.sqrt(np.var([0.2, 0.4, 0.6, 0.8], ddof=1) / 4)
    assert estimate.value == pytest.approx(0.5)
    assert estimate.se == pytest.approx(se)
    assert estimate.high == pytest.approx(0.5 + 3.182446 * se, abs=1e-6)
    assert (estimate.n, estimate.method, estimate.level, estimate.notes) == (4, "t", 0.95, ())


def test_scipy_gives_the_same_interval() -> None:
    values = np.random.default_rng(1).beta(2, 3, 43)
    low, high = stats.t.interval(0.9, 42, values.mean(), stats.sem(values))
    estimate = estimate_mean(values, level=0.9)
    assert (estimate.low, estimate.high) == (pytest.approx(low), pytest.approx(high))


def test_one_query_has_no_interval_and_says_so() -> None:
    estimate = estimate_mean(np.array([0.5]))
    assert (estimate.value, estimate.se, estimate.low, estimate.high) == (0.5, None, None, None)
    assert [note.code for note in estimate.notes] == ["single-query"]


def test_equal_values_have_an_interval_without_width_and_a_doubt() -> None:
    estimate = estimate_mean(np.full(30, 0.1))
    assert (estimate.value, estimate.low, estimate.high, estimate.se) == (0.1, 0.1, 0.1, 0.0)
    assert [note.code for note in estimate.notes] == ["equal-values"]


def test_no_query_is_undefined_in_words() -> None:
    estimate = estimate_mean(np.array([]))
    assert estimate.value is None
    assert estimate.value is None
    assert [note.code for note in estimate.notes] == ["no-queries"]


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, 1 - 1e-16, float("nan")])
def test_a_level_outside_0_and_1_is_refused(level: float) -> None:
    with pytest.raises(UsageError) as refused:
        estimate_mean(np.array([0.1, 0.2]), level=level)
    assert (refused.value.code, refused.value.parameter) == ("bad-level", "level")


@pytest.mark.simulation
@pytest.mark.parametrize("n", [20, 50, 200])
def test_intervals_cover_the_truth_as_often_as_they_say(n: int) -> None:
    # Per-query values like nDCG's: between 0 and 1, skewed, some exactly 0.
    rng = np.random.default_rng(20 + n)
    draws = 4000
    values = rng.beta(1.2, 1.8, (draws, n)) * (rng.random((draws, n)) > 0.1)
    truth = 0.9 * 1.2 / 3.0
    mean, half = values.mean(axis=1), t_quantile(0.975, n - 1) * values.std(axis=1, ddof=1) / np.sqrt(n)
    covered = np.mean(np.abs(mean - truth) <= half)
    assert 0.935 <= covered <= 0.965
    one = estimate_mean(values[0])
    assert (one.low, one.high) == (pytest.approx(mean[0] - half[0]), pytest.approx(mean[0] + half[0]))


def test_wilson_by_hand() -> None:
    # All of ten: low is n / (n + z²).
    low, high = wilson(1.0, 10)
    assert (float(low), float(high)) == (pytest.approx(10 / (10 + 1.959964**2), abs=1e-6), 1.0)
    assert [float(end) for end in wilson(0.3, 0)] == [0, 1]


@given(st.integers(1, 10_000), st.floats(0, 1), levels)
def test_statsmodels_gives_the_same_wilson_interval(n: int, share: float, level: float) -> None:
    hits = round(share * n)
    expected = proportion_confint(hits, n, alpha=1 - level, method="wilson")
    assert [float(end) for end in wilson(hits / n, n, level=level)] == pytest.approx(expected, abs=1e-12)


@given(st.floats(0, 1), st.floats(0.1, 1e6), levels)
def test_wilson_holds_the_share_and_narrows_with_more_cases(share: float, n: float, level: float) -> None:
    low, high = wilson([share, share], [n, 2 * n], level=level)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert (low <= share + 1e-12).all()
    assert (share - 1e-12 <= high).all()
    assert high[1] - low[1] <= high[0] - low[0] + 1e-12
    other_low, other_high = wilson(1 - share, n, level=level)
    assert (1 - other_high, 1 - other_low) == (pytest.approx(low[0], abs=1e-9), pytest.approx(high[0], abs=1e-9))


@pytest.mark.parametrize("level", [0, 1, 95, float("nan")])
def test_shares_refuse_a_level_that_no_interval_has(level: float) -> None:
    for ask in (lambda: wilson(0.5, 10, level=level), lambda: estimate_share([1, 0], [0, 1], level=level),
                lambda: estimate_share([], [], level=level)):  # fmt: skip
        with pytest.raises(UsageError) as refused:
            ask()
        assert refused.value.code == "bad-level"


def test_a_share_of_single_cases_has_wilsons_interval() -> None:
    one = estimate_share([1, 1, 0, 1, 1], clusters=["a", "b", "c", "d", "e"])
    low, high = wilson(0.8, 5)
    assert (one.value, one.low, one.high) == (0.8, float(low), float(high))
    assert one.se == pytest.approx(math.sqrt(0.8 * 0.2 / 5))
    assert (one.n, one.method, one.notes) == (5, "wilson", ())
    together = estimate_share([1, 1, 0, 1, 1], clusters=[0] * 5)
    assert together.low == one.low  # one cluster tells nothing of others
    assert [note.code for note in together.notes] == ["single-query"]


def test_no_case_is_undefined_in_words() -> None:
    (note,) = estimate_share([], [], case_name="trap").notes
    assert note.code == "no-cases"
    assert "trap" in note
    assert str(estimate_share([], [], case_name="trap")) == f"undefined: {note}"


def test_clusters_of_one_mind_are_worth_a_case_each() -> None:
    # Four clusters of three, each all hits or all misses: V is that of four cases, up to G/(G−1).
    one = estimate_share([1] * 9 + [0] * 3, clusters=np.repeat([0, 1, 2, 3], 3))
    assert one.se == pytest.approx(math.sqrt(0.75 * 0.25 / 4 * 4 / 3))


def plainly(rows: list[tuple[int, bool]], level: float) -> tuple[float, float]:
    """The same interval, one step after another."""
    n = len(rows)
    p = sum(hit for _, hit in rows) / n
    groups: dict[int, list[float]] = {}
    for cluster, hit in rows:
        groups.setdefault(cluster, []).append(hit - p)
    g = len(groups)
    worth = float(n)
    sums = [sum(group) for group in groups.values()]
    if 1 < g < n and p in (0, 1):
        worth = n**2 / sum(len(group) ** 2 for group in groups.values())
    elif 1 < g < n and max(map(abs, sums)) > 1e-9:
        variance = g / (g - 1) * sum(r**2 for r in sums) / n**2
        kurtosis = stats.moment(sums, 4, center=0) / stats.moment(sums, 2, center=0) ** 2
        df = g - 1 if kurtosis - 1 < 1e-9 else min(g - 1, 2 * g / (kurtosis - 1))
        ratio = stats.t.ppf((1 + level) / 2, n - 1) / stats.t.ppf((1 + level) / 2, df)
        worth = min(n, p * (1 - p) / variance * ratio**2)
    z = stats.norm.ppf((1 + level) / 2)
    centre = (p + z**2 / (2 * worth)) / (1 + z**2 / worth)
    half = z / (1 + z**2 / worth) * math.sqrt(p * (1 - p) / worth + z**2 / (4 * worth**2))
    return max(centre - half, 0), min(centre + half, 1)


@given(cases, levels)
@example([(0, True), (0, False), (1, True), (1, False)], 0.95)  # clusters alike: no variance between them
@example([(0, True)] * 5 + [(1, True)] * 2, 0.95)
@example([(0, True)] * 5 + [(1, False)] * 5, 0.95)
def test_a_plain_rewrite_gives_the_same_interval(rows: list[tuple[int, bool]], level: float) -> None:
    one = estimate_share([hit for _, hit in rows], [cluster for cluster, _ in rows], level=level)
    assert (one.low, one.high) == pytest.approx(plainly(rows, level), abs=1e-7)


@given(cases)
def test_hits_and_misses_mirror_each_other(rows: list[tuple[int, bool]]) -> None:
    clusters = [cluster for cluster, _ in rows]
    one, other = (estimate_share([hit == want for _, hit in rows], clusters) for want in (True, False))
    assert other.value == pytest.approx(1 - (one.value or 0))
    assert (other.low, other.high, other.se) == pytest.approx((1 - one.high, 1 - one.low, one.se))


@given(cases)
def test_clusters_never_narrow_an_interval(rows: list[tuple[int, bool]]) -> None:
    hits = [hit for _, hit in rows]
    clustered = estimate_share(hits, [cluster for cluster, _ in rows])
    alone = estimate_share(hits, range(len(rows)))
    assert clustered.value == alone.value
    assert clustered.low <= alone.low + 1e-12
    assert clustered.high >= alone.high - 1e-12
    assert clustered.low <= clustered.value + 1e-12
    assert clustered.value <= clustered.high + 1e-12


@pytest.mark.simulation
@short_and_long("draws", 200, 500)
@pytest.mark.parametrize("share", [0.5, 0.9, 0.97])
@pytest.mark.parametrize("alike", [0.0, 0.1, 0.5, 0.9])
@pytest.mark.parametrize(("clusters", "size"), [(10, 5), (10, 20), (25, 20), (60, 5)])
def test_shares_of_clustered_cases_are_covered(
    clusters: int, size: int, alike: float, share: float, draws: int
) -> None:
    # Hit rates of the clusters are beta distributed with this intraclass correlation. With t_{G−1} alone, and n cases
    # where all are hits, 10 clusters of 20, correlation 0.9 and share 0.97, would be covered 30 times of 100.
    rng = np.random.default_rng([clusters, size, int(alike * 10), int(share * 100)])
    covered = 0
    for _ in range(draws):
        sizes = 1 + rng.poisson(size - 1, clusters)
        rate = np.full(clusters, share)
        if alike:
            rate = rng.beta(share * (1 / alike - 1), (1 - share) * (1 / alike - 1), clusters)
        group = np.repeat(np.arange(clusters), sizes)
        one = estimate_share(rng.random(len(group)) < rate[group], group)
        covered += one.low <= share <= one.high
    hardest = clusters == 10 and size == 20 and alike == 0.5 and share == 0.9  # 0.905 in 20,000 draws
    assert covered / draws >= (0.87 if hardest else 0.925) - room(draws, 500, errors=2)


@pytest.mark.parametrize(("resamples", "batch"), [(10, 3), (9, 3), (1, 5)])
def test_every_resample_holds_as_many_queries_as_there_are(resamples: int, batch: int) -> None:
    parts = list(resample_query_counts(7, resamples, batch=batch, rng=np.random.default_rng(1)))
    assert [len(part) for part in parts[:-1]] == [batch] * (len(parts) - 1)
    counts = np.concatenate(parts)
    assert counts.shape == (resamples, 7)
    assert (counts.sum(axis=1) == 7).all()


def test_each_query_comes_up_as_often_as_any_other_and_independently() -> None:
    (counts,) = resample_query_counts(5, 40_000, batch=40_000, rng=np.random.default_rng(2))
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.02)
    spread = np.cov(counts.T)  # multinomial: 1 − 1/n for each, −1/n between two
    np.testing.assert_allclose(spread, np.eye(5) - 1 / 5, atol=0.02)
