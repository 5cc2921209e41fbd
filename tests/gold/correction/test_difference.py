"""The difference estimator: exact expectations over all samples, second opinions, and what must not matter."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from statsmodels.regression.linear_model import OLS

import ringtrue as rt
from gold.correction.worlds import Asked, World, by_loops, left_out, world
from ringtrue.gold.correction.difference import (
    INTERCEPT_PENALTY,
    LEVEL_PENALTY,
    POPULARITY_PENALTY,
    QUERY_PENALTY,
    RUN_PENALTY,
    SLOPE_PENALTY,
    build_predictors,
    correct_means,
    fit_gains,
    gold_only_means,
)
from ringtrue.gold.correction.gold_sample import GoldSample
from ringtrue.gold.correction.results import JointEstimate
from ringtrue.gold.designs import Population
from ringtrue.gold.sampling.allocation import pivotal_sample
from strategies import examples

SEEDS = st.integers(0, 2**32 - 1)
POPULATIONS: st.SearchStrategy[Population] = st.sampled_from(["these", "like-these"])


def corrected(
    asked: Asked, sample: GoldSample, gains: Any = None, *, population: Population = "these", gain_range: float = 0.0
) -> JointEstimate:
    told = asked.gains[sample.positions] if gains is None else gains
    return correct_means(
        asked.pool, asked.known, asked.weights, sample, told, population=population, gain_range=gain_range
    )


def alone(asked: Asked, sample: GoldSample, *, population: Population = "these") -> JointEstimate:
    return gold_only_means(asked.pool, asked.weights, sample, asked.gains[sample.positions], population=population)


def tiny() -> Asked:
    """One run with two documents of one bronze level, the first relevant: P@2 is a half."""
    here = World(runs={"r": {"q": {"a": 2.0, "b": 1.0}}}, bronze={"q": {"a": 1, "b": 1}}, gold={"q": {"a": 1, "b": 0}})
    return here.asked("P@2")


def test_two_documents_by_hand() -> None:
    # a was drawn with probability ½: its gain of ½ counts twice, and predicts that of b by what the two share.
    asked = tiny()
    same, other = 1000 + 5 + 2 + 0.25, 1000 + 5 + 2 / np.log2(3) + 0.25
    found = corrected(asked, asked.sample([0], 0.5))
    assert found.values.tolist() == pytest.approx([2 * 0.5 + 0.5 * other / (same + 1)])
    assert found.labels.tolist() == [1]
    # V = (1 − ½) a² r², with a = W/π + W·(weight of a in the prediction of b), r = 1 − 0.
    assert found.covariance[0, 0] == pytest.approx(0.5 * (2 * 0.5 + 0.5 * other / (same + 1)) ** 2)


def test_both_documents_drawn_by_hand() -> None:
    asked = tiny()
    other = 1000 + 5 + 2 / np.log2(3) + 0.25
    of_a, of_b = 0.0, other / (1000 + 5 + 2 + 0.25 + 1)  # each predicted by the other alone
    found = corrected(asked, asked.sample([0, 1], 0.5))
    value = 0.5 * (of_a + of_b) + (1 - of_a) + (0 - of_b)
    assert found.values.tolist() == pytest.approx([value])


def test_the_four_samples_of_two_documents_average_to_the_truth() -> None:
    asked = tiny()
    mean = np.mean([corrected(asked, asked.sample(places, 0.5)).values[0] for places in ([], [0], [1], [0, 1])])
    assert mean == pytest.approx(0.5, abs=1e-12)


@examples(6)
@given(SEEDS, st.sampled_from(["P@3", "DCG", "RBP(p=0.9)@2"]))
def test_over_all_samples_that_can_come_about_the_mean_is_the_truth_for_any_judge(seed: int, measure: str) -> None:
    asked = world(seed, runs=2, queries=2, docs=5, length=3).asked(measure)
    prob = np.random.default_rng(seed).uniform(0.1, 1, len(asked.pool))
    mean, total = np.zeros(len(asked.pool.runs)), 0.0
    for chance, sample in asked.every_sample(prob):
        mean, total = mean + chance * corrected(asked, sample).values, total + chance
    assert total == pytest.approx(1)
    assert mean.tolist() == pytest.approx(asked.truth.tolist(), abs=1e-10)


@examples(30)
@given(SEEDS)
def test_the_value_is_that_of_the_formula_with_every_prediction_fitted_anew(seed: int) -> None:
    asked = world(seed, queries=3, docs=5, length=4).asked("DCG@3")
    sample = asked.some(np.random.default_rng(seed))
    loops = by_loops(asked, sample, asked.gains[sample.positions])
    for population in ("these", "like-these"):
        assert corrected(asked, sample, population=population).values.tolist() == pytest.approx(
            loops.tolist(), abs=1e-7
        )


@examples(15)
@given(SEEDS, st.booleans(), st.floats(0, 3))
def test_the_covariance_for_these_queries_is_that_of_a_sum_of_gold_gains(
    seed: int, spread: bool, gain_range: float
) -> None:
    asked = world(seed, queries=3, docs=5, length=4).asked("DCG@3")
    drawn = asked.some(np.random.default_rng(seed))
    sample = GoldSample(positions=drawn.positions, labels=drawn.labels, prob=drawn.prob, balanced=spread)
    gains = asked.gains[sample.positions]
    found = corrected(asked, sample, gain_range=gain_range)
    # The estimate is Σ a_i g_i: a_i is what it says of a label of 1 where all others are 0.
    each = np.stack([corrected(asked, sample, one).values for one in np.eye(len(sample))], axis=1)
    assert found.values.tolist() == pytest.approx((each @ gains).tolist(), abs=1e-9)
    residual = gains - left_out(asked, sample, gains)[sample.positions]
    kept = gains - asked.known.values.toarray()[sample.positions] @ coefficients(asked, sample, gains)
    evened = each * np.sqrt((1 - sample.prob) * kept * residual) * np.sign(kept)
    of_query: dict[int, list[int]] = {}
    for i, place in enumerate(sample.positions):
        of_query.setdefault(int(asked.pool.query[place]), []).append(i)
    # Every order in which like is next to like counts alike.
    orders = {
        query: [
            some
            for some in permutations(places)
            if all(
                asked.pool.similarity_key[sample.positions[one]] <= asked.pool.similarity_key[sample.positions[other]]
                for one, other in pairwise(some)
            )
        ]
        for query, places in of_query.items()
    }
    weights = asked.weights.toarray()
    levels = asked.pool.level[sample.positions].tolist()
    squares = {level: np.mean([one**2 for one, of in zip(residual, levels, strict=True) if of == level])
               for level in levels}  # fmt: skip
    naive = np.zeros_like(found.covariance)
    for a in range(len(naive)):
        for b in range(len(naive)):
            for i, place in enumerate(sample.positions):
                missed = 1 - sample.prob[i]
                # Of a spread sample, the mean of two variances: as if each were drawn by itself, and by neighbours.
                share = (1 + 1 / len(of_query[int(asked.pool.query[place])])) / 2 if spread else 1
                naive[a, b] += missed * each[a, i] * each[b, i] * residual[i] ** 2 * share
                hidden = max(gain_range**2 / 4 / (levels.count(levels[i]) + 1) - squares[levels[i]], 0)
                naive[a, b] += missed * hidden * weights[a, place] * weights[b, place] / sample.prob[i] ** 2
            for some in orders.values() if spread else ():
                naive[a, b] += np.mean(
                    [sum(np.prod(evened[[a, b], i] - evened[[a, b], j]) / 4 for i, j in pairwise(one)) for one in some]
                )
            for level in set(asked.pool.level.tolist()) - set(levels):  # nothing is known of its gains
                whole = [weights[run, asked.pool.level == level].sum() for run in (a, b)]
                naive[a, b] += gain_range**2 / 4 * whole[0] * whole[1]
    assert found.covariance.ravel().tolist() == pytest.approx(naive.ravel().tolist(), abs=1e-6)
    assert found.df == np.inf


def coefficients(asked: Asked, sample: GoldSample, gains: Any) -> Any:
    rows, held = asked.known.values.toarray()[sample.positions], np.diag(np.sqrt(asked.known.penalty))
    return np.linalg.lstsq(np.vstack([rows, held]), np.concatenate([gains, np.zeros(len(held))]), rcond=None)[0]


@examples(30)
@given(SEEDS)
def test_the_covariance_for_queries_like_these_is_that_of_what_each_query_adds(seed: int) -> None:
    asked = world(seed, queries=4, docs=5, length=4).asked("P@4")
    sample = asked.some(np.random.default_rng(seed))
    gains, weights = asked.gains[sample.positions], asked.weights.toarray()
    predicted, queries = left_out(asked, sample, gains), len(asked.pool.queries)
    added = np.zeros((len(weights), queries))
    for run in range(len(weights)):
        for doc in range(len(asked.pool)):
            added[run, asked.pool.query[doc]] += weights[run, doc] * predicted[doc]
        for doc, gain, prob in zip(sample.positions, gains, sample.prob, strict=True):
            added[run, asked.pool.query[doc]] += weights[run, doc] * (gain - predicted[doc]) / prob
    found = corrected(asked, sample, population="like-these")
    # T_q is a sum, not a mean: Q² times the variance of the mean of Q values.
    assert found.covariance.tolist() == [pytest.approx(row, abs=1e-6) for row in (queries * np.cov(added)).tolist()]
    assert found.values.tolist() == pytest.approx(added.sum(axis=1).tolist(), abs=1e-7)
    assert found.df == queries - 1


@examples(30)
@given(SEEDS, POPULATIONS, st.floats(0, 3))
def test_a_census_gives_the_gold_value_and_for_these_queries_no_error(
    seed: int, population: Population, gain_range: float
) -> None:
    asked = world(seed).asked("DCG@4")
    found = corrected(
        asked, asked.sample(np.arange(len(asked.pool)), 1.0), population=population, gain_range=gain_range
    )
    assert found.values.tolist() == pytest.approx(asked.truth.tolist(), abs=1e-9)
    if population == "these":
        assert not found.covariance.any()


def test_a_census_for_queries_like_these_has_the_interval_of_a_mean_over_queries() -> None:
    here = world(4, runs=2, queries=9, whole=True)
    asked = here.asked("P@5")
    found = corrected(asked, asked.sample(np.arange(len(asked.pool)), 1.0), population="like-these")
    means = rt.evaluate(here.runs, here.gold, "P@5").means()
    for place, run in enumerate(here.runs):
        told, plain = found.estimate(place, level=0.9, method="difference"), rt.evaluate(here.runs, here.gold, "P@5")
        usual = plain.means(level=0.9)[run]["P@5"]
        assert (told.value, told.se, told.low, told.high) == pytest.approx(
            (usual.value, usual.se, usual.low, usual.high)
        )
        assert told.value == pytest.approx(means[run]["P@5"].value)


@examples(15)
@given(SEEDS)
def test_an_extended_sample_has_the_mean_of_residuals_left_out_and_evened_by_leverage(seed: int) -> None:
    asked = world(seed, queries=3, docs=5, length=4).asked("DCG@3")
    sample = replace(asked.some(np.random.default_rng(seed)), extended=True)
    gains = asked.gains[sample.positions]
    each = np.stack([corrected(asked, sample, one).values for one in np.eye(len(sample))], axis=1)
    residual = gains - left_out(asked, sample, gains)[sample.positions]
    kept = gains - asked.known.values.toarray()[sample.positions] @ coefficients(asked, sample, gains)
    squares = (1 - sample.prob) * (residual**2 + residual * kept) / 2
    found = corrected(asked, sample, gain_range=0.0).covariance
    assert found == pytest.approx((each * squares) @ each.T, abs=1e-9)
    plain = corrected(asked, replace(sample, extended=False), gain_range=0.0).covariance
    assert (np.diag(found) <= np.diag(plain) + 1e-12).all()


@examples(30)
@given(SEEDS, POPULATIONS, st.sampled_from(["balanced", "extended", None]), st.floats(0, 3))
def test_the_covariance_is_positive_semidefinite(
    seed: int, population: Population, kind: str | None, gain_range: float
) -> None:
    asked = world(seed, runs=4).asked("DCG@4")
    drawn = asked.some(np.random.default_rng(seed))
    sample = replace(drawn, **({} if kind is None else {kind: True}))
    found = corrected(asked, sample, population=population, gain_range=gain_range).covariance
    assert np.allclose(found, found.T)
    assert np.linalg.eigvalsh(found).min() >= -1e-9 * max(np.trace(found), 1)


@examples(30)
@given(SEEDS, st.floats(-5, 5), POPULATIONS)
def test_a_shift_of_all_gains_shifts_the_estimate_by_as_much_for_each_document(
    seed: int, shift: float, population: Population
) -> None:
    asked = world(seed, queries=6).asked("CG@3")
    sample = asked.some(np.random.default_rng(seed), least=5)
    plain = corrected(asked, sample, population=population)
    moved = corrected(asked, sample, asked.gains[sample.positions] + shift, population=population)
    whole = shift * np.asarray(asked.weights.sum(axis=1)).ravel()
    # The ridge takes a little of it: the predictor that all documents have is held back by a thousandth of a label.
    assert moved.values.tolist() == pytest.approx((plain.values + whole).tolist(), abs=0.02 * max(abs(shift), 1))


@examples(20)
@given(SEEDS, POPULATIONS)
def test_the_order_of_queries_documents_and_runs_changes_nothing(seed: int, population: Population) -> None:
    here = world(seed, runs=3)
    rng = np.random.default_rng(seed)
    names, queries = rng.permutation(list(here.runs)), rng.permutation(list(here.bronze))
    other = World(
        runs={name: {query: here.runs[name][query] for query in queries if query in here.runs[name]} for name in names},
        bronze={query: dict(sorted(here.bronze[query].items(), reverse=True)) for query in queries},
        gold=here.gold,
    )
    one, two = here.asked("DCG@4"), other.asked("DCG@4")
    sample = one.some(rng)
    where = {row: place for place, row in enumerate(two.pool.docs.rows())}
    moved = np.array([where[row] for row in one.pool.docs.rows()])[sample.positions]
    again = GoldSample(positions=moved, labels=sample.labels, prob=sample.prob)
    first, second = (corrected(asked, some, population=population, gain_range=2)
                     for asked, some in ((one, sample), (two, again)))  # fmt: skip
    order = [list(names).index(name) for name in here.runs]
    assert second.values[order].tolist() == pytest.approx(first.values.tolist(), abs=1e-9)
    assert second.covariance[np.ix_(order, order)].tolist() == [pytest.approx(row, abs=1e-9)
                                                                for row in first.covariance.tolist()]  # fmt: skip
    assert second.labels[order].tolist() == first.labels.tolist()


@examples(20)
@given(SEEDS)
def test_which_of_two_shared_documents_bronze_prefers_has_no_influence_on_a_difference(seed: int) -> None:
    here = world(seed, runs=2, queries=5, docs=8, length=5, whole=True)
    shared = {"d0": 99.0, "d1": 98.0}
    for run in here.runs.values():
        run["q0"] |= shared  # first and second in both
    ways = [World(runs=here.runs, bronze=here.bronze | {"q0": here.bronze["q0"] | {"d0": one, "d1": 1 - one}},
                  gold=here.gold).asked("P@5") for one in (0, 1)]  # fmt: skip
    places = {ways[0].pool.docs.rows().index(("q0", doc)) for doc in shared}
    rng = np.random.default_rng(seed)
    while places & set((sample := ways[0].some(rng, least=4)).positions.tolist()):
        pass
    first, second = (corrected(asked, sample).difference(0, 1, level=0.95, method="difference") for asked in ways)
    assert second.value == pytest.approx(first.value, abs=1e-9)
    assert second.se == pytest.approx(first.se, abs=1e-9)


def test_few_labels_of_a_level_that_agree_do_not_look_certain() -> None:
    asked = world(7, runs=1, queries=5, docs=6, length=5, grades=2, whole=True).asked("P@5")
    sample = asked.sample(np.arange(0, len(asked.pool), 3), 1 / 3)
    nothing = np.zeros(len(sample))
    assert corrected(asked, sample, nothing).covariance[0, 0] == 0
    hidden = corrected(asked, sample, nothing, gain_range=0.2).covariance[0, 0]
    levels = asked.pool.level[sample.positions]
    counts = np.bincount(levels)[levels]
    by_hand = ((1 / 25 * 5 / (1 / 3)) ** 2 * (2 / 3) * 0.2**2 / 4 / (counts + 1)).sum()
    assert hidden == pytest.approx(by_hand)


def test_gold_alone_by_hand() -> None:
    # W = 1/2 for all three documents; drawn with ½ and ¼, the gold labels count 2 and 4 times.
    runs, gold = {"r": {"q": {"a": 2.0, "b": 1.0}, "s": {"a": 1.0}}}, {"q": {"a": 1, "b": 0}, "s": {"a": 1}}
    here = World(runs=runs, bronze={"q": {"a": 1, "b": 1}, "s": {"a": 1}}, gold=gold)
    asked = here.asked("CG@2")
    found = alone(asked, asked.sample([0, 1], np.array([0.5, 0.25, 1.0])))
    assert found.values.tolist() == pytest.approx([1.5 * 2 / 6])
    mean, apart = 1 / 3, 1.5 / 3  # Σ W / Σ_S W/π
    residual = [1 * (1 - mean) * apart, 2 * (0 - mean) * apart]
    assert found.covariance[0, 0] == pytest.approx(2 * (0.5 * residual[0] ** 2 + 0.75 * residual[1] ** 2))


@examples(30)
@given(SEEDS)
def test_gold_alone_is_the_weighted_mean_of_each_runs_own_labels(seed: int) -> None:
    asked = world(seed).asked("DCG@3")
    sample = asked.some(np.random.default_rng(seed))
    found, weights = alone(asked, sample), asked.weights.toarray()
    for run in range(len(weights)):
        own = [
            (weights[run, doc] / prob, asked.gains[doc], prob)
            for doc, prob in zip(sample.positions, sample.prob, strict=True)
            if weights[run, doc]
        ]
        assert found.labels[run] == len(own)
        if len(own) < 2:
            continue
        whole, seen = weights[run].sum(), sum(weight for weight, _, _ in own)
        mean = sum(weight * gain for weight, gain, _ in own) / seen
        assert found.values[run] == pytest.approx(whole * mean)
        squares = sum((1 - prob) * (weight * (gain - mean) * whole / seen) ** 2 for weight, gain, prob in own)
        assert found.covariance[run, run] == pytest.approx(len(own) / (len(own) - 1) * squares)


@examples(20)
@given(SEEDS, POPULATIONS)
def test_gold_alone_takes_a_census_for_what_it_is(seed: int, population: Population) -> None:
    asked = world(seed).asked("DCG@3")
    found = alone(asked, asked.sample(np.arange(len(asked.pool)), 1.0), population=population)
    assert found.values.tolist() == pytest.approx(asked.truth.tolist())
    if population == "these":
        assert np.nan_to_num(found.covariance).max() == 0


def test_gold_alone_has_no_error_for_others_from_the_labels_of_one_query() -> None:
    # Residuals of one query add up to 0, and would look like no error at all.
    here = world(2, runs=2, queries=4, whole=True)
    asked = here.asked("P@5")
    one = asked.pool.query == 0
    found = alone(asked, asked.sample(np.flatnonzero(one), 0.5), population="like-these")
    assert np.isnan(found.covariance).all()
    assert not np.isnan(found.values).any()
    assert not np.isnan(alone(asked, asked.sample(np.flatnonzero(one), 0.5)).covariance).any()


@pytest.mark.simulation
def test_errors_are_as_large_as_they_are_said_to_be_and_intervals_hold_the_truth() -> None:
    asked = world(11, runs=3, queries=30, docs=20, length=10, whole=True).asked("P(rel=2)@10")
    rng, draws = np.random.default_rng(0), 1500
    prob = rng.uniform(0.1, 0.6, len(asked.pool))
    values, variances = np.zeros((draws, 3)), np.zeros((draws, 3))
    for place in range(draws):
        sample = asked.sample(np.flatnonzero(rng.random(len(asked.pool)) < prob), prob)
        found = corrected(asked, sample, gain_range=0.1)
        values[place], variances[place] = found.values, found.covariance.diagonal()
    spread = values.std(axis=0)
    assert np.abs(values.mean(axis=0) - asked.truth).max() < 4 * spread.max() / np.sqrt(draws)
    assert (np.sqrt(variances.mean(axis=0)) / spread).tolist() == pytest.approx([1] * 3, abs=0.07)
    covered = (np.abs(values - asked.truth) < 1.96 * np.sqrt(variances)).mean(axis=0)
    assert covered.tolist() == pytest.approx([0.95] * 3, abs=0.025)


def test_a_single_label_of_a_query_cancels_nothing() -> None:
    asked = world(7, runs=1, queries=12, docs=8, length=6, whole=True).asked("P@6")
    first = [int(np.flatnonzero(asked.pool.query == query)[0]) for query in range(12)]
    one = asked.sample(first, 1 / 6)
    spread = asked.sample(first, 1 / 6, spread=True)
    np.testing.assert_allclose(corrected(asked, spread).covariance, corrected(asked, one).covariance, rtol=1e-12)


def test_two_labels_of_a_query_count_by_how_they_differ_and_by_what_they_are_by_hand() -> None:
    asked = tiny()
    both = asked.sample([0, 1], 0.5, spread=True)
    # Both have bronze level 1; the ridge's inverse of the kernel of two documents gives residuals and leverages.
    design = asked.known.values.toarray()
    kernel = (design / asked.known.penalty) @ design.T
    inverse = np.linalg.inv(kernel + np.eye(2))
    held = inverse.diagonal()  # 1 − h of either document: H = I − (K + I)⁻¹
    kept = inverse @ asked.gains
    each = np.stack([corrected(asked, both, one).values for one in np.eye(2)], axis=1)[0]
    first, second = np.sqrt(0.5) * each * kept / np.sqrt(held)
    alone = 0.5 * each**2 * (kept / held) ** 2
    by_neighbours = (first - second) ** 2 / 2 + alone.sum() / 2
    assert corrected(asked, both).covariance[0, 0] == pytest.approx((by_neighbours + alone.sum()) / 2)
    plain = corrected(asked, asked.sample([0, 1], 0.5))
    assert plain.covariance[0, 0] == pytest.approx(alone.sum())


def test_documents_that_were_sure_to_be_drawn_add_nothing_to_the_error_and_are_no_neighbours() -> None:
    asked = world(7, runs=1, queries=1, docs=8, length=6, whole=True).asked("P@6")
    order = np.argsort(asked.pool.similarity_key, kind="stable")
    prob = np.full(len(asked.pool), 0.5)
    prob[order[1]] = 1.0  # between two that chance drew
    sample = asked.sample(order[:3], prob, spread=True)
    gains = asked.gains[sample.positions]
    each = np.stack([corrected(asked, sample, one).values for one in np.eye(3)], axis=1)[0]
    residual = gains - left_out(asked, sample, gains)[sample.positions]
    kept = gains - asked.known.values.toarray()[sample.positions] @ coefficients(asked, sample, gains)
    drawn = [0, 2]
    evened = (np.sqrt(0.5) * each * np.sqrt(kept * residual) * np.sign(kept))[drawn]
    alone = 0.5 * ((each * residual) ** 2)[drawn].sum()
    by_neighbours = np.diff(evened)[0] ** 2 / 2 + alone / 2
    assert corrected(asked, sample).covariance[0, 0] == pytest.approx((by_neighbours + alone) / 2)


@examples(20)
@given(SEEDS)
def test_the_order_of_the_gold_labels_changes_nothing(seed: int) -> None:
    asked = world(seed, runs=2, queries=3, docs=8, length=6).asked("DCG@4")
    rng = np.random.default_rng(seed)
    drawn = asked.some(rng)
    order = rng.permutation(len(drawn))
    one, two = (
        corrected(
            asked,
            GoldSample(
                positions=drawn.positions[some], labels=drawn.labels[some], prob=drawn.prob[some], balanced=True
            ),
        )
        for some in (np.arange(len(drawn)), order)
    )
    assert two.covariance.ravel().tolist() == pytest.approx(one.covariance.ravel().tolist(), abs=1e-9)


@pytest.mark.simulation
def test_documents_that_are_good_by_rank_do_not_look_surer_than_they_are() -> None:
    # All are equally alike, and relevance comes in blocks: labels in the order of the ranks would seem to vary little.
    gold = {f"q{q}": {f"d{d}": int(d // 10 % 2 == 0) for d in range(60)} for q in range(8)}
    bronze = {query: dict.fromkeys(row, 1) for query, row in gold.items()}
    run = {query: {doc: 60.0 - place for place, doc in enumerate(row)} for query, row in gold.items()}
    asked = World(runs={"run": run}, bronze=bronze, gold=gold).asked("P@60")
    rng, prob, held = np.random.default_rng(2), np.full(len(asked.pool), 0.4), []
    for _ in range(300):
        drawn = pivotal_sample(prob, asked.pool.query, asked.pool.similarity_key, rng)
        found = corrected(asked, asked.sample(drawn, prob, spread=True), gain_range=0.1)
        held.append(abs(found.values[0] - asked.truth[0]) < 1.96 * np.sqrt(found.covariance[0, 0]))
    assert 0.9 <= np.mean(held) <= 0.99


@pytest.mark.simulation
def test_a_sample_spread_over_what_is_alike_says_how_sure_it_is() -> None:
    # Queries and bronze levels differ in how good their documents are: chance only moves within what is alike.
    asked = world(12, runs=3, queries=30, docs=30, length=15, whole=True).asked("P(rel=2)@15")
    rng, draws = np.random.default_rng(1), 1000
    prob = np.full(len(asked.pool), 0.3)
    values, variances = np.zeros((draws, 3)), np.zeros((draws, 3))
    for place in range(draws):
        drawn = pivotal_sample(prob, asked.pool.query, asked.pool.similarity_key, rng)
        found = corrected(asked, asked.sample(drawn, prob, spread=True), gain_range=0.1)
        values[place], variances[place] = found.values, found.covariance.diagonal()
    assert (np.sqrt(variances.mean(axis=0)) / values.std(axis=0)).tolist() == pytest.approx([1] * 3, abs=0.1)
    covered = (np.abs(values - asked.truth) < 1.96 * np.sqrt(variances)).mean(axis=0)
    assert covered.tolist() == pytest.approx([0.95] * 3, abs=0.025)


@pytest.mark.simulation
@pytest.mark.parametrize("labels", [1, 2, 3])
def test_intervals_for_these_queries_hold_the_truth_with_few_labels_from_each(labels: int) -> None:
    # Easy and hard queries, and a judge who is kinder in some: what one label of a query says, another repeats.
    rng, draws = np.random.default_rng(50 + labels), 400
    queries = {f"q{i}": rng.beta(1, 1.5) for i in range(50)}
    gold = {query: {f"d{d}": int(rng.random() < share) for d in range(10)} for query, share in queries.items()}
    kind = {query: rng.uniform(0.05, 0.5) for query in gold}
    bronze = {query: {doc: int(rng.random() < (0.85 if label else kind[query])) for doc, label in row.items()}
              for query, row in gold.items()}  # fmt: skip
    run = {query: {f"d{d}": 10.0 - d for d in range(10)} for query in gold}
    asked = World(runs={"run": run}, bronze=bronze, gold=gold).asked("P@10")
    prob = np.full(len(asked.pool), labels / 10)
    values, variances = np.zeros(draws), np.zeros(draws)
    for place in range(draws):
        drawn = pivotal_sample(prob, asked.pool.query, asked.pool.similarity_key, rng)
        assert np.bincount(asked.pool.query[drawn]).tolist() == [labels] * 50
        found = corrected(asked, asked.sample(drawn, prob, spread=True), gain_range=0.1)
        values[place], variances[place] = found.values[0], found.covariance[0, 0]
    held = float(np.mean(np.abs(values - asked.truth[0]) < 1.96 * np.sqrt(variances)))
    assert held >= 0.9
    assert abs(values.mean() - asked.truth[0]) < 4 * values.std() / np.sqrt(draws)


def some(seed: int) -> Asked:
    return world(seed, queries=3, docs=5, length=4).asked("DCG")


def test_predictors_by_hand() -> None:
    runs = {"x": {"q0": {"d0": 2.0, "d1": 1.0}}, "y": {"q0": {"d1": 2.0, "d2": 1.0}}}
    bronze = {"q0": {"d0": 1, "d1": 0, "d2": 1}}
    asked = World(runs=runs, bronze=bronze, gold=bronze).asked("P@2")
    found = build_predictors(asked.pool)
    popular = np.log([1, 2, 1])
    popular = (popular - popular.mean()) / popular.std()
    second = 1 / np.log2(3)
    low, high = -2 / np.sqrt(2), 1 / np.sqrt(2)  # labels 1, 0, 1 have mean 2/3 and standard deviation √2/3
    rows = [  # all, levels 0 and 1, how many runs for each level, the two runs, the query, its slope
        [1, 0, 1, 0, popular[0], 1 / np.sqrt(2), 0, 1, high],
        [1, 1, 0, popular[1], 0, second / np.sqrt(2), 1 / np.sqrt(2), 1, low],
        [1, 0, 1, 0, popular[2], 0, second / np.sqrt(2), 1, high],
    ]
    assert found.values.toarray().tolist() == [pytest.approx(row) for row in rows]
    assert found.penalty.tolist() == [
        INTERCEPT_PENALTY,
        LEVEL_PENALTY,
        LEVEL_PENALTY,
        POPULARITY_PENALTY,
        POPULARITY_PENALTY,
        RUN_PENALTY,
        RUN_PENALTY,
        QUERY_PENALTY,
        SLOPE_PENALTY,
    ]


def test_a_document_without_a_bronze_label_has_no_part_in_the_slope_of_its_query() -> None:
    run = {"q0": {"d0": 3.0, "d1": 2.0, "d2": 1.0}, "q1": {"d0": 1.0}}
    gold = {query: dict.fromkeys(docs, 0) for query, docs in run.items()}
    asked = World(runs={"r": run}, bronze={"q0": {"d0": 3, "d1": 1}, "q1": {"d9": 0}}, gold=gold).asked("P@3")
    slopes = build_predictors(asked.pool).values.toarray()[:, -2:]
    rows = {doc: slopes[place].tolist() for place, doc in enumerate(asked.pool.docs.rows())}
    assert rows["q0", "d2"] == rows["q1", "d0"] == [0, 0]
    assert rows["q0", "d0"] == pytest.approx([np.sqrt(2), 0])  # 1 above the mean of 3 and 1; standard deviation √½
    assert rows["q0", "d1"] == pytest.approx([-np.sqrt(2), 0])


def test_documents_that_all_runs_show_alike_are_not_told_apart_by_it() -> None:
    asked = world(1, runs=1, queries=2, docs=4, length=4, whole=True).asked("P@4")
    popular = build_predictors(asked.pool).values.toarray()[:, 1 + len(asked.pool.levels) :][
        :, : len(asked.pool.levels)
    ]
    assert not popular.any()


def test_one_label_predicts_another_document_by_what_they_share() -> None:
    # One run, one query, one bronze level: the kernel of documents at ranks 1 and 2, by the penalties.
    asked = World(runs={"r": {"q0": {"d0": 2.0, "d1": 1.0}}}, bronze={"q0": {"d0": 1, "d1": 1}},
                       gold={"q0": {"d0": 1, "d1": 0}}).asked("CG@2")  # fmt: skip
    fit = fit_gains(asked.known, np.array([0]), np.array([1.0]))
    same, other = 1000 + 5 + 2 + 0.25, 1000 + 5 + 2 / np.log2(3) + 0.25
    assert fit.predict(asked.known, np.array([1.0])).tolist() == pytest.approx([0, other / (same + 1)])
    assert fit.leverage.tolist() == pytest.approx([same / (same + 1)])


@examples(30)
@given(SEEDS)
def test_leaving_one_out_by_the_closed_form_is_fitting_anew_without_it(seed: int) -> None:
    asked = some(seed)
    sample = asked.some(np.random.default_rng(seed))
    gains = asked.gains[sample.positions]
    fit = fit_gains(asked.known, sample.positions, gains)
    anew = left_out(asked, sample, gains)
    assert fit.predict(asked.known, gains).tolist() == pytest.approx(anew.tolist(), abs=1e-7)
    assert fit.loo_residual.tolist() == pytest.approx((gains - anew[sample.positions]).tolist(), abs=1e-7)
    assert (fit.leverage > 0).all()
    assert (fit.leverage < 1).all()


@examples(30)
@given(SEEDS)
def test_statsmodels_fits_the_same_with_a_row_more_for_each_penalty(seed: int) -> None:
    asked = some(seed)
    sample = asked.some(np.random.default_rng(seed))
    gains, held = asked.gains[sample.positions], np.diag(np.sqrt(asked.known.penalty))
    rows = asked.known.values.toarray()[sample.positions]
    told = OLS(np.concatenate([gains, np.zeros(len(held))]), np.vstack([rows, held])).fit()
    fit = fit_gains(asked.known, sample.positions, gains)
    assert fit.residual.tolist() == pytest.approx(told.resid[: len(gains)].tolist(), abs=1e-7)
    assert fit.leverage.tolist() == pytest.approx(told.get_influence().hat_matrix_diag[: len(gains)].tolist(), abs=1e-7)
    assert (fit.operator @ gains).tolist() == pytest.approx(fit.coefficients.tolist())


@examples(30)
@given(SEEDS, st.floats(-5, 5), st.floats(-3, 3))
def test_predictions_are_linear_in_the_gains_and_follow_a_shift_of_all_of_them(
    seed: int, shift: float, scale: float
) -> None:
    asked = some(seed)
    sample = asked.some(np.random.default_rng(seed), least=3)
    gains = asked.gains[sample.positions]
    plain, moved = (
        fit_gains(asked.known, sample.positions, told).predict(asked.known, told)
        for told in (gains, scale * gains + shift)
    )
    # All but a thousandth of a label of the shift is taken up by the predictor that all documents have.
    assert moved.tolist() == pytest.approx((scale * plain + shift).tolist(), abs=0.01 * max(abs(shift), 1))


def test_gold_labels_of_one_level_say_nothing_apart_about_another() -> None:
    runs, bronze = {"r": {"q0": {"d0": 3.0, "d1": 2.0, "d2": 1.0}}}, {"q0": {"d0": 1, "d1": 1, "d2": 0}}
    asked = World(runs=runs, bronze=bronze, gold={"q0": {"d0": 2, "d1": 0, "d2": 0}}).asked("CG@3")
    fit = fit_gains(asked.known, np.array([0, 1]), np.array([2.0, 0.0]))
    assert len(fit.used) < asked.known.values.shape[1]
    assert 0 < fit.predict(asked.known, np.array([2.0, 0.0]))[2] < 2


@examples(20)
@given(SEEDS)
def test_the_order_of_the_gold_labels_says_nothing(seed: int) -> None:
    asked = some(seed)
    rng = np.random.default_rng(seed)
    sample = asked.some(rng)
    gains, order = asked.gains[sample.positions], rng.permutation(len(sample))
    one, other = (
        fit_gains(asked.known, sample.positions, gains),
        fit_gains(asked.known, sample.positions[order], gains[order]),
    )
    assert other.loo_residual.tolist() == pytest.approx(one.loo_residual[order].tolist(), abs=1e-9)
    assert other.predict(asked.known, gains[order]).tolist() == pytest.approx(
        one.predict(asked.known, gains).tolist(), abs=1e-9
    )
