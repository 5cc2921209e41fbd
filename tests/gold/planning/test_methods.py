"""The variance of each way to spend labels, by hand, against other formulas, and what a gold label is worth."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from ringtrue.gold.planning.assumptions import Assumptions, KnownQuantities, assume
from ringtrue.gold.planning.methods import (
    Method,
    RandomDifference,
    RandomGold,
    RateInversion,
    SharedJudge,
    SpreadGold,
    StratifiedDifference,
    available_methods,
    relative_efficiency,
)

ACCURACIES = [(0.70, 0.80), (0.85, 0.90), (0.95, 0.97)]
judges = st.tuples(st.floats(0.55, 0.98), st.floats(0.55, 0.98))


def at(way: Method, queries: float, gold: float) -> float:
    return float(way.variance(np.array(queries), np.array(gold)))


def ways(known: KnownQuantities, **settings) -> dict[str, Method]:
    return {way.name: way for way in available_methods(assume(known, **settings))[0]}


def test_every_method_by_hand() -> None:
    # θ = .4, right on .9 of the relevant and .8 of the others: j = .48, P = .75, Q = .04/.52
    known = ways(KnownQuantities(prevalence=0.4, accuracy=(0.9, 0.8), sd=0.3, gold_sd=0.25, k=10))
    missed = 0.04 / 0.52
    units = 0.75 * 0.25, missed * (1 - missed)
    assert at(known["gold"], 100, 1000) == pytest.approx(0.0625 / 100)
    within = 10 / 9 * (0.24 - 0.0625)
    assert at(known["gold sample"], 100, 100) == pytest.approx(0.24 / 100)
    assert at(known["gold sample"], 100, 150) == pytest.approx(0.0625 / 100 + within * (0.75 - 0.1) / 100)
    assert at(known["gold sample"], 100, 1000) == pytest.approx(0.0625 / 100)
    unit = 0.48 * units[0] + 0.52 * units[1]
    assert at(known["difference"], 100, 200) == pytest.approx(0.0625 / 100 + unit * (1 / 200 - 1 / 1000))
    doubts = 0.48 * math.sqrt(units[0]), 0.52 * math.sqrt(units[1])
    neyman = 0.0625 / 100 + sum(doubts) ** 2 / 200 - unit / 1000
    assert at(known["stratified"], 100, 200) == pytest.approx(neyman)
    # the bronze sd is as large a part of what it could be as the gold sd that was given with the prevalence
    bronze = 0.3**2 / 0.24 * 0.48 * 0.52
    rates = (0.4 * 0.3 + 0.6 * 0.4) ** 2
    assert at(known["confusion"], 100, 200) == pytest.approx((bronze / 100 + rates / 200) / 0.7**2)


def test_a_comparison_by_hand() -> None:
    # 8 unshared documents of a query, weight .8; signed gold has mean .05/.8
    known = ways(
        KnownQuantities(prevalence=0.4, accuracy=(0.9, 0.8), difference_sd=0.2, gold_sd=0.25, unshared=8, k=10),
        difference=0.05,
    )
    assert at(known["gold"], 100, 800) == pytest.approx(0.0625 / 100)
    total = 0.64 * (0.4 - (0.05 / 0.8) ** 2)
    assert at(known["gold sample"], 100, 100) == pytest.approx(total / 100)
    missed = 0.04 / 0.52
    unit = 0.64 * (0.48 * 0.75 * 0.25 + 0.52 * missed * (1 - missed))
    assert at(known["difference"], 100, 200) == pytest.approx(0.0625 / 100 + unit * (1 / 200 - 1 / 800))
    assert at(known["shared judge"], 100, 0) == pytest.approx(0.2**2 / 100 / 0.7**2)


def test_confusion_is_the_published_standard_error_with_gold_where_it_tells_most() -> None:
    right, wrong = 43 / 59, 67 / 84

    def published(n_right: float, n_wrong: float) -> float:
        """The standard error by eq. 7."""
        youden = right + wrong - 1
        variances = right * (1 - right) / n_right, wrong * (1 - wrong) / n_wrong
        of_rates = variances[0] * (0.626 - 1 + wrong) ** 2 + variances[1] * (right - 0.626) ** 2
        return math.sqrt(0.414**2 / 10278 / youden**2 + of_rates / youden**4)

    assert published(59, 84) == pytest.approx(0.09029, abs=5e-6)
    inverted = available_methods(assume(KnownQuantities(score=0.626, sd=0.414, accuracy=(right, wrong), k=3)))[0][-1]
    assert isinstance(inverted, RateInversion)
    first, rest = (float(part) for part in inverted.allocate(np.array(143.0)))
    assert math.sqrt(at(inverted, 10278, 143)) == pytest.approx(published(first, rest))
    assert all(published(first, rest) < published(first + more, rest - more) for more in (-10, -1, 1, 10))


@pytest.mark.parametrize(
    ("accuracy", "confusion", "difference", "stratified"),
    [
        (ACCURACIES[0], 0.22, 1.06, 1.14),
        (ACCURACIES[1], 0.79, 1.51, 1.82),
        (ACCURACIES[2], 2.45, 2.79, 3.82),
    ],
)
def test_what_a_gold_label_is_worth_by_itself_and_beside_a_judge(
    accuracy: tuple[float, float], confusion: float, difference: float, stratified: float
) -> None:
    # Single documents, three in four of them relevant, a gold label for every ten; 15% off for alike documents.
    offered, alone = available_methods(
        assume(KnownQuantities(prevalence=0.75, accuracy=accuracy, sd=math.sqrt(0.1875), k=1))
    )
    found = {way.name: relative_efficiency(way, alone, 10_000, 1_000) for way in offered if way.bronze}
    assert found["stratified"] == pytest.approx(1.15 * stratified, rel=0.015)
    assert found["difference"] == pytest.approx(1.15 * difference, rel=0.07)
    assert found["confusion"] == pytest.approx(confusion, rel=0.06)


@given(accuracy=judges, prevalence=st.floats(0.05, 0.95), queries=st.integers(20, 5000), share=st.floats(0.02, 1))
def test_a_gold_label_is_never_worth_less_beside_a_judge_and_more_where_gold_goes_where_doubt_is(
    accuracy: tuple[float, float], prevalence: float, queries: int, share: float
) -> None:
    offered, alone = available_methods(assume(KnownQuantities(prevalence=prevalence, accuracy=accuracy)))
    gold = max(30, round(share * queries * 10))
    found = {way.name: relative_efficiency(way, alone, queries, gold) for way in offered if way.bronze}
    assert found["difference"] is not None
    assert found["stratified"] is not None
    assert found["difference"] >= 1 - 1e-9
    # a floor under each stratum may cost a little
    assert found["stratified"] >= 0.97 * found["difference"]


@given(accuracy=judges, prevalence=st.floats(0.05, 0.95), queries=st.integers(20, 5000))
def test_gold_on_every_document_is_the_same_by_each_method(
    accuracy: tuple[float, float], prevalence: float, queries: int
) -> None:
    known = ways(KnownQuantities(prevalence=prevalence, accuracy=accuracy))
    whole = at(known["gold"], queries, 10 * queries)
    for name in ("gold sample", "difference", "stratified"):
        assert at(known[name], queries, 10 * queries) == pytest.approx(whole)


@given(accuracy=judges, prevalence=st.floats(0.05, 0.95), queries=st.integers(20, 2000), gold=st.integers(30, 200))
def test_more_queries_or_more_gold_never_hurt(
    accuracy: tuple[float, float], prevalence: float, queries: int, gold: int
) -> None:
    for name, way in ways(KnownQuantities(prevalence=prevalence, accuracy=accuracy)).items():
        # one more label each, of the queries that have one
        labels = gold + (queries if name == "gold sample" else 0)
        assert at(way, queries, labels + 1) <= at(way, queries, labels) * (1 + 1e-12)
        if name != "gold sample":
            assert at(way, queries + 1, labels) <= at(way, queries, labels) * (1 + 1e-12)


def test_a_stratum_gets_no_more_than_it_has_and_no_less_than_a_tenth_of_its_part() -> None:
    scarce = StratifiedDifference(documents=10, between_variance=0.0, shares=(0.1, 0.9), label_variances=(0.25, 0.01))
    first, rest = scarce.allocate(np.array(100.0), np.array(500.0))
    assert (float(first), float(rest)) == (100.0, 400.0)
    sure = StratifiedDifference(documents=10, between_variance=0.0, shares=(0.5, 0.5), label_variances=(0.25, 0.0))
    first, rest = sure.allocate(np.array(100.0), np.array(110.0))
    assert float(rest) == pytest.approx(110 * 0.05 / 1.05)


def test_the_variance_of_a_random_sample_is_that_of_the_textbook() -> None:
    # All samples of 2 of 4 documents: the variance of their means, with no spread over queries.
    residual = np.array([0.1, -0.2, 0.4, -0.3])
    means = [(residual[i] + residual[j]) / 2 for i in range(4) for j in range(i)]
    way = RandomDifference(documents=2, between_variance=0.0, label_variance=float(residual.var(ddof=1)))
    assert np.var(means) == pytest.approx(at(way, 2, 2))


def test_these_queries_and_no_others_have_no_spread_and_normal_intervals() -> None:
    offered, alone = available_methods(assume(KnownQuantities(prevalence=0.4, sd=0.3), population="these"))
    assert alone.between_variance == 0
    assert all(way.normal for way in offered)
    assert isinstance(offered[1], RandomGold)
    assert at(offered[0], 50, 500) == 0


def test_a_judge_no_better_than_chance_has_no_rates_to_turn_round() -> None:
    names = [way.name for way in available_methods(assume(KnownQuantities(prevalence=0.4, accuracy=(0.5, 0.5))))[0]]
    assert names == ["gold", "gold sample", "difference", "stratified"]


def test_less_than_one_document_a_query_is_no_division_by_nothing() -> None:
    few = SpreadGold(documents=0.05, between_variance=0.01, label_variance=0.04)
    assert float(few.min_gold(np.array(10.0))) == float(few.max_gold(np.array(10.0))) == 1
    assert at(few, 10, 1) == pytest.approx(0.001)


def test_a_shared_judge_asks_no_gold_and_has_no_worth() -> None:
    shared = SharedJudge(between_variance=0.04, youden=0.5)
    assert (
        relative_efficiency(shared, RandomGold(documents=10, between_variance=0.01, label_variance=0.2), 100, 0) is None
    )


def test_more_precise_than_gold_on_everything_has_no_worth() -> None:
    known: Assumptions = assume(KnownQuantities(prevalence=0.4, sd=0.3))
    offered, alone = available_methods(known)
    assert relative_efficiency(replace(offered[-1], between_variance=0.0), alone, 20, 10**6) is None  # type: ignore[type-var]
