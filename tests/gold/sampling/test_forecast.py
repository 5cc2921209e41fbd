"""What intervals are to be expected, before gold has judged."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import norm, t

import ringtrue as rt
from gold.correction.worlds import world
from gold.refusals import codes, names, refuses
from ringtrue.errors import UsageError
from ringtrue.evaluation.measures import parse
from ringtrue.gold.correction.difference import build_predictors
from ringtrue.gold.correction.pool import Pool, build_pool
from ringtrue.gold.sampling.forecast import between_queries, hidden_covariance, prediction_variance
from ringtrue.gold.sampling.weighted_measure import weigh_measure
from ringtrue.tables import Judgments, Run
from strategies import examples

SEEDS = st.integers(0, 2**32 - 1)
QUERIES, BUDGET = 100, 20
ONE_EACH = {f"q{i}": {"a": 1.0} for i in range(QUERIES)}
ALL_ALIKE = {f"q{i}": {"a": 1} for i in range(QUERIES)}
GRADE_VARIANCE = 1.25  # of 0, 1, 2 and 3, equally common


def pool_of(run: dict[str, dict[str, float]], bronze: dict[str, dict[str, int]], depth: int = 10) -> Pool:
    return build_pool([Run.of(run)], Judgments.of(bronze), depth=depth)


def expected(run: object, bronze: object, measure: str, budget: int, **settings: object) -> dict[str, float]:
    draw = rt.sample(run, bronze, measure, budget=budget, rng=np.random.default_rng(1), **settings)  # type: ignore[arg-type]
    return {name: row[measure] for name, row in draw.expected.items()}


def test_the_half_width_of_one_document_in_each_query_by_hand() -> None:
    # 20 of 100 labels: π = 0.2, W = 1/100, σ² = 0.64 of the variance of grades. One mean is fitted, from 20 labels, by
    # an intercept, a level and a run with penalties of 0.001, 0.2 and 0.5; and an effect of each query, held back by 4.
    of_mean = 1000 + 1 / 0.2 + 1 / 0.5
    fitted = BUDGET * (of_mean / (1 + BUDGET * of_mean)) ** 2 + 0.2 / (0.2 + 4) ** 2
    sampling = 100 * 0.01**2 * 0.8 / 0.2 * 0.64 * GRADE_VARIANCE * (1 + fitted)
    (half_width,) = expected(ONE_EACH, ALL_ALIKE, "CG@1", BUDGET, gold_top=3, population="these").values()
    assert half_width == pytest.approx(norm.ppf(0.975) * np.sqrt(sampling))
    # Queries differ by at least what documents do; bronze has nothing to say about that here.
    (half_width,) = expected(ONE_EACH, ALL_ALIKE, "CG@1", BUDGET, gold_top=3).values()
    assert half_width == pytest.approx(t.ppf(0.975, 99) * np.sqrt(sampling + GRADE_VARIANCE / 100))


def test_bronze_says_how_much_of_the_variance_lies_between_queries() -> None:
    pool = pool_of({f"q{i}": {"a": 2.0, "b": 1.0} for i in range(10)},
                   {f"q{i}": dict.fromkeys("ab", i % 2) for i in range(10)})  # fmt: skip
    part = weigh_measure(parse("CG@2"), pool, gold_top=3)
    # Both documents of a query are alike, and bronze's 0 and 1 lie one standard deviation off either way.
    found = between_queries(pool, part, part.weights)
    assert found == pytest.approx([10 / 9 * 10 * (2 / 10) ** 2 * GRADE_VARIANCE])


def test_a_judge_who_says_yes_too_often_hides_how_queries_differ_by_hand() -> None:
    # Four of five documents are called relevant: z = −0.8416, φ(z) = 0.28; φ(0)²/0.25 = 0.6366.
    hidden = (norm.pdf(0) ** 2 / 0.25) / (norm.pdf(norm.ppf(0.2)) ** 2 / 0.16)
    assert hidden_covariance(np.array([0.0, 1, 1, 1, 1]), np.full(5, 0.2)) == pytest.approx(hidden)
    bronze = {f"q{i}": {"a": 1, "b": int(i % 5 > 1)} for i in range(20)}
    pool = pool_of({f"q{i}": {"a": 2.0, "b": 1.0} for i in range(20)}, bronze)
    part = weigh_measure(parse("CG@2"), pool, gold_top=1)
    # The documents of a query add their gains; bronze's are stretched from a variance of 0.16 to 0.25.
    stretched = 20 / 19 * 20 * 0.24 / 20**2 * 0.25 / 0.16
    independent = 40 * 0.25 / 20**2
    found = between_queries(pool, part, part.weights)
    assert found == pytest.approx([independent + hidden * max(stretched - independent, 0)])


@given(st.lists(st.floats(0.05, 1), min_size=2, max_size=5), st.floats(0.1, 10), st.floats(-5, 5))
def test_what_labels_hide_does_not_depend_on_the_scale(shares: list[float], scale: float, shift: float) -> None:
    gains, weights = np.arange(len(shares), dtype=float), np.array(shares) / sum(shares)
    hidden = hidden_covariance(gains, weights)
    assert hidden_covariance(scale * gains + shift, weights) == pytest.approx(hidden)
    assert hidden_covariance(gains, np.full(len(gains), 1 / len(gains))) == pytest.approx(1)
    assert hidden_covariance(np.ones(len(gains)), weights) == 1


@examples(10)
@given(SEEDS, st.floats(0.02, 0.9))
def test_what_fitting_costs_is_that_of_the_whole_regression(seed: int, share: float) -> None:
    """Queries are taken one by one: the whole at once gives nearly the same."""
    made = world(seed, runs=4, queries=12, docs=15, length=8)
    pool = build_pool([Run.of(run, name=name) for name, run in made.runs.items()], Judgments.of(made.bronze), depth=8)
    count, noise = np.full(len(pool), share), np.where(pool.level == 0, 0.2, 0.7)
    predictors = build_predictors(pool)
    x = predictors.values.toarray()
    operator = np.linalg.solve((x.T * count) @ x + np.diag(predictors.penalty), x.T)
    exact = np.einsum("ij,ij->j", operator, (x.T * (count * noise)) @ x @ operator)
    found = prediction_variance(pool, count, noise)
    assert (found + noise).mean() == pytest.approx((exact + noise).mean(), rel=0.1)


@pytest.mark.slow
@examples(15)
@given(SEEDS, st.sampled_from(["P@5", "DCG@5", "RBP"]), st.sampled_from(["these", "like-these"]), st.booleans())
def test_more_labels_never_promise_a_wider_interval(seed: int, measure: str, population: str, compare: bool) -> None:
    made = world(seed, runs=3, queries=12, docs=15, length=6)
    widths = [expected(made.runs, made.bronze, measure, budget, population=population, compare=compare)
              for budget in (10, 15, 30, 60, 500)]  # fmt: skip
    for few, many in pairwise(widths):
        assert all(many[run] <= few[run] + 1e-12 for run in few)


@pytest.mark.parametrize("population", ["these", "like-these"])
def test_half_widths_grow_with_what_gold_labels_are_worth(population: str) -> None:
    made = world(3, runs=3, queries=20, docs=15, length=6)

    def widths(measure: str, top: int | None) -> np.ndarray:
        found = expected(made.runs, made.bronze, measure, 60, gold_top=top, population=population)
        return np.array(list(found.values()))

    tables = widths("DCG(gains={1:1000,2:2000})@6", None)
    assert tables == pytest.approx(1000 * widths("DCG@6", 2))
    # The standard deviation of 0, 1 … top is √((top + 1)² − 1)/√12; what few labels may hide goes by the range.
    assert widths("DCG@6", 4) == pytest.approx(np.sqrt(24 / 3) * widths("DCG@6", 1), rel=0.1)
    assert widths("P@6", 4) == pytest.approx(widths("P@6", 1))


def test_earlier_labels_tell_golds_scale_and_how_bronze_errs() -> None:
    made = world(5, runs=3, queries=30, docs=15, length=6, whole=True)
    first = rt.sample(made.runs, made.bronze, "DCG@6", budget=60, rng=np.random.default_rng(1))
    assert first.expected_range
    assert (first.notes[-1].code, first.notes[-1].parameter) == ("gold-top-unknown", "gold_top")
    assert names(first.notes[-1], "DCG@6")
    labels = [made.gold[query][doc] for query, doc in first.frame.select("query", "doc").rows()]
    gold = first.frame.with_columns(label=np.array(labels))
    more = rt.sample(made.runs, made.bronze, "DCG@6", budget=60, already=gold, rng=np.random.default_rng(2))
    assert (more.expected_range, more.notes) == ({}, ())
    with refuses(UsageError, "gold-top-exceeded", "1", max(labels)):
        rt.sample(made.runs, made.bronze, "DCG@6", budget=60, already=gold, gold_top=1)


def test_a_single_query_says_nothing_about_others() -> None:
    run, bronze = {"q": {"a": 2.0, "b": 1.0, "c": 0.5}}, {"q": {"a": 1, "b": 0, "c": 1}}
    draw = rt.sample(run, bronze, "P@3", budget=2)
    assert (draw.expected, codes(draw.notes)) == ({}, ["single-query"])
    assert rt.sample(run, bronze, "P@3", budget=2, population="these").expected["run"]["P@3"] > 0


# What comes out is what was promised.


def test_a_judge_of_yes_and_no_does_not_make_golds_grades_small() -> None:
    """Gold of four grades, bronze of two: the forecast for grades is what comes, the other one less than half of it."""
    rng = np.random.default_rng(1)
    relevance = rng.normal(0, 0.6, (40, 1)) + rng.normal(0, 1, (40, 30))
    truth = np.digitize(relevance, [-0.5, 0.3, 1.0])
    bronze_labels = relevance + rng.normal(0, 0.6, relevance.shape) > 0
    runs = {
        name: {f"q{q}": {f"d{d}": float(x) for d, x in enumerate(row)}
               for q, row in enumerate(relevance + rng.normal(0, 1, truth.shape))}
        for name in ("a", "b")
    }  # fmt: skip
    bronze = {f"q{q}": {f"d{d}": int(x) for d, x in enumerate(row)} for q, row in enumerate(bronze_labels)}
    for population in ("these", "like-these"):
        draw = rt.sample(runs, bronze, "DCG@10", budget=200, population=population, rng=rng)
        gold = [truth[int(query[1:]), int(doc[1:])] for query, doc in draw.frame.select("query", "doc").rows()]
        found = rt.correct(runs, bronze, draw.frame.with_columns(label=np.array(gold)), "DCG@10", population=population)
        for run in runs:
            estimate, (low, high) = found.corrected[run]["DCG@10"], draw.expected_range[run]["DCG@10"]
            assert 0.7 < (estimate.high - estimate.low) / 2 / high < 1.3
            assert draw.expected[run]["DCG@10"] == high > 2 * low


# Whole queries.


def test_whole_queries_promise_what_gold_alone_would_give_by_hand() -> None:
    ranks = [1 + i % 4 for i in range(40)]
    run = {f"q{i}": {f"d{rank}": 10.0 - rank for rank in range(1, 6)} for i in range(40)}
    bronze = {f"q{i}": {f"d{rank}": 1} for i, rank in enumerate(ranks)}
    variance = np.var([1 / rank for rank in ranks], ddof=1)
    for population, share in (("these", 1 - 10 / 40), ("like-these", 1.0)):
        draw = rt.sample_queries(run, bronze, "RR", queries=10, population=population)  # type: ignore[arg-type]
        assert draw.expected["run"]["RR"] == pytest.approx(t.ppf(0.975, 9) * np.sqrt(share * variance / 10))
        assert draw.population == population


def test_queries_that_gold_has_judged_tell_how_much_bronze_leaves_open() -> None:
    made = world(0, runs=2, queries=60, docs=15, length=6, whole=True)
    first = rt.sample_queries(made.runs, made.bronze, "nDCG@6", queries=20)
    widths = []
    for gold in (made.bronze, made.gold):  # a bronze judge who is gold, and one who is not
        labels = [gold[query].get(doc, 0) for query, doc in first.frame.select("query", "doc").rows()]
        judged = first.frame.with_columns(label=np.array(labels))
        more = rt.sample_queries(made.runs, made.bronze, "nDCG@6", queries=10, already=judged, population="these")
        widths.append(more.expected["run0"]["nDCG@6"])
    assert 0 < widths[0] < widths[1]


def test_sums_over_whole_queries_depend_on_golds_scale_and_ndcg_does_not() -> None:
    made = world(0, runs=2, queries=30, docs=15, length=6, whole=True)
    draw = rt.sample_queries(made.runs, made.bronze, "nDCG@6,DCG@6", queries=20)
    assert list(draw.expected_range["run0"]) == ["DCG@6"]
    low, high = draw.expected_range["run0"]["DCG@6"]
    assert high == pytest.approx(low * np.sqrt(5))  # √1.25 to ½


def test_a_label_that_the_measure_never_looks_at_hides_nothing() -> None:
    gains = np.array([0.0, 1.0, 2.0])
    with_it, without = (np.array([share, 0.3, 0.7 - share]) for share in (1e-12, 0.0))
    assert hidden_covariance(gains, without) == hidden_covariance(gains[1:], np.array([0.3, 0.7]))
    assert hidden_covariance(gains, with_it) == pytest.approx(hidden_covariance(gains, without))
    assert hidden_covariance(gains, np.array([0.0, 1.0, 0.0])) == 1.0
