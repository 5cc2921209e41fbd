"""The cheapest numbers, against the closed form and against trying everything."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

from ringtrue.errors import UsageError
from ringtrue.gold.planning.assumptions import KnownQuantities, assume
from ringtrue.gold.planning.budget_search import Prices, find_best, find_cheapest
from ringtrue.gold.planning.goals import Goal
from ringtrue.gold.planning.methods import (
    AllGold,
    Method,
    RandomDifference,
    RateInversion,
    SpreadGold,
    StratifiedDifference,
    available_methods,
)
from strategies import examples

PRICES = Prices(bronze=1.0, gold=20.0, documents=10)
judges = st.tuples(st.floats(0.6, 0.97), st.floats(0.6, 0.97))


def offered(**known) -> dict[str, Method]:
    return {way.name: way for way in available_methods(assume(KnownQuantities(**known)))[0]}


@pytest.mark.parametrize("accuracy", [(0.7, 0.8), (0.85, 0.9), (0.95, 0.97)])
def test_where_a_judge_errs_on_each_document_by_itself_the_closed_form_is_found(accuracy: tuple[float, float]) -> None:
    # Sb = |P−Q|s, Sg = j√(P(1−P)) + (1−j)√(Q(1−Q)), W = (h/z)², n = Sb(Sb + Sg√(cg/cb))/W, m alike; cb of a query
    known = assume(KnownQuantities(prevalence=0.4, accuracy=accuracy, sd=0.2))
    gap = known.gold_if_relevant - known.gold_if_not
    units = [share * (1 - share) for share in (known.gold_if_relevant, known.gold_if_not)]
    unit = known.score * units[0] + (1 - known.score) * units[1]
    s = 0.2
    way = StratifiedDifference(
        documents=10,
        between_variance=gap**2 * s**2 + unit / 10,
        shares=(known.score, 1 - known.score),
        label_variances=(units[0], units[1]),
    )
    found = find_cheapest(way, Goal(half_width=0.01), PRICES)
    assert found is not None
    bronze, gold = gap * s, known.score * math.sqrt(units[0]) + (1 - known.score) * math.sqrt(units[1])
    allowed = (0.01 / 1.959964) ** 2
    assert found.queries == pytest.approx(bronze * (bronze + gold * math.sqrt(20 / 10)) / allowed, rel=0.02)
    assert found.gold == pytest.approx(gold * (gold + bronze * math.sqrt(10 / 20)) / allowed, rel=0.02)
    assert found.cost == pytest.approx((bronze * math.sqrt(10) + gold * math.sqrt(20)) ** 2 / allowed, rel=0.002)


def test_the_closed_form_of_the_confusion_method() -> None:
    known = assume(KnownQuantities(prevalence=0.4, accuracy=(0.85, 0.9), sd=0.3))
    inverted = available_methods(known)[0][-1]
    assert isinstance(inverted, RateInversion)
    found = find_cheapest(inverted, Goal(half_width=0.01), PRICES)
    assert found is not None
    s, doubt = known.bronze_sd, 0.4 * math.sqrt(0.85 * 0.15) + 0.6 * 0.3
    allowed = (0.75 * 0.01 / 1.959964) ** 2
    assert found.queries == pytest.approx(s * (s + doubt * math.sqrt(2)) / allowed, rel=0.01)
    assert found.gold == pytest.approx(doubt * (doubt + s * math.sqrt(0.5)) / allowed, rel=0.01)


def test_gold_on_everything_needs_as_many_queries_as_a_textbook_says() -> None:
    found = find_cheapest(AllGold(documents=10, between_variance=0.09), Goal(half_width=0.05), PRICES)
    assert found is not None
    # smallest n with t_{n−1} · .3/√n ≤ .05
    assert (found.queries, found.gold, found.cost) == (141, 1410, 28200.0)


@pytest.mark.slow
@given(accuracy=judges, prevalence=st.floats(0.1, 0.9), price=st.floats(0.5, 200), half_width=st.floats(0.08, 0.2))
@examples(8)
def test_nothing_is_cheaper_when_all_numbers_of_queries_are_tried(
    accuracy: tuple[float, float], prevalence: float, price: float, half_width: float
) -> None:
    goal, prices = Goal(half_width=half_width), Prices(bronze=1.0, gold=price, query=0.5, documents=10)
    for way in offered(prevalence=prevalence, accuracy=accuracy).values():
        found = find_cheapest(way, goal, prices)
        assert found is not None
        assert found.achieved <= half_width * (1 + 1e-9)
        for queries in range(10, 2 * found.queries, max(1, found.queries // 20)):
            other = find_cheapest(way, goal, prices, queries=(queries, queries))
            # whole numbers make the valley uneven
            assert other is None or other.cost >= found.cost - 1.01 * price - 10.5


@given(accuracy=judges, prevalence=st.floats(0.1, 0.9), half_width=st.floats(0.02, 0.2))
@examples(20)
def test_one_label_or_query_less_is_not_enough_and_never_more_gold_than_documents(
    accuracy: tuple[float, float], prevalence: float, half_width: float
) -> None:
    goal = Goal(half_width=half_width)
    for name, way in offered(prevalence=prevalence, accuracy=accuracy).items():
        found = find_cheapest(way, goal, PRICES)
        assert found is not None
        if name != "confusion":
            assert found.gold <= 10 * found.queries
        n, less = np.array(float(found.queries)), np.array(float(found.gold - 1))
        if less >= way.min_gold(n):
            assert float(goal.achieved(way.variance(n, less), n, normal=way.normal)) > half_width * (1 - 1e-9)


@given(accuracy=judges, prevalence=st.floats(0.1, 0.9), half_width=st.floats(0.02, 0.1))
@example(accuracy=(0.75, 0.96875), prevalence=0.884765625, half_width=0.099609375)  # 29 queries, or 31
@examples(20)
def test_a_budget_of_what_it_costs_buys_what_was_asked(
    accuracy: tuple[float, float], prevalence: float, half_width: float
) -> None:
    goal = Goal(half_width=half_width)
    for way in offered(prevalence=prevalence, accuracy=accuracy).values():
        found = find_cheapest(way, goal, PRICES)
        assert found is not None
        again = find_best(way, Goal(), PRICES, found.cost)
        assert again is not None
        assert again.cost <= found.cost + 1e-6
        assert again.achieved <= found.achieved * 1.005
        half = find_best(way, Goal(), PRICES, found.cost / 2)
        assert half is None or half.achieved > again.achieved


def test_bronze_labels_that_cost_more_than_gold_make_gold_judge_nearly_everything() -> None:
    way = RandomDifference(documents=10, between_variance=0.03, label_variance=0.25)
    found = find_cheapest(way, Goal(half_width=0.05), Prices(bronze=100.0, gold=1.0, documents=10))
    assert found is not None
    assert 9.5 * found.queries <= found.gold <= 10 * found.queries


def test_free_queries_are_asked_one_document_each_and_dear_ones_more() -> None:
    way, goal = SpreadGold(documents=10, between_variance=0.05, label_variance=0.24), Goal(half_width=0.05)
    free = find_cheapest(way, goal, PRICES)
    dear = find_cheapest(way, goal, Prices(bronze=1.0, gold=20.0, query=200.0, documents=10))
    assert free is not None
    assert dear is not None
    assert free.gold - free.queries <= 1
    assert dear.gold > 2 * dear.queries
    assert dear.queries < free.queries


def test_too_few_queries_are_told_by_none() -> None:
    assert (
        find_cheapest(AllGold(documents=10, between_variance=0.09), Goal(half_width=0.05), PRICES, queries=(50, 50))
        is None
    )
    assert find_best(AllGold(documents=10, between_variance=0.09), Goal(), PRICES, 1000.0, queries=(50, 50)) is None


def test_power_is_reached_too() -> None:
    found = find_cheapest(AllGold(documents=10, between_variance=0.04), Goal(difference=0.05, power=0.9), PRICES)
    assert found is not None
    assert 0.9 <= found.achieved < 0.903
    assert found.queries == 171  # statsmodels: 170.1 for the two-sided test


@pytest.mark.parametrize(
    ("prices", "parameter"),
    [
        ({"bronze": 0.0, "gold": 1.0}, "cost_bronze"),
        ({"bronze": 1.0, "gold": -2.0}, "cost_gold"),
        ({"bronze": 1.0, "gold": float("inf")}, "cost_gold"),
        ({"bronze": 1.0, "gold": 1.0, "query": -1.0}, "cost_query"),
    ],
)
def test_prices_that_cannot_be_are_refused(prices: dict[str, float], parameter: str) -> None:
    with pytest.raises(UsageError) as refused:
        Prices(documents=10, **prices)
    assert (refused.value.code, refused.value.parameter) == ("bad-price", parameter)


@pytest.mark.parametrize(
    ("accuracy", "alike", "least", "most"),
    [
        ((0.95, 0.97), 0.0, 0.9, 0.95),
        ((0.95, 0.97), 0.4, 0.95, 1.05),
        ((0.85, 0.9), 0.2, 1.0, 1.1),
        ((0.7, 0.8), 0.2, 1.15, 1.25),
        ((0.7, 0.8), 0.4, 1.3, 1.4),
    ],
)
def test_the_closed_form_and_15_percent_serve_a_good_judge_and_not_a_weak_one(
    accuracy: tuple[float, float], alike: float, least: float, most: float
) -> None:
    """What its numbers achieve, as a part of the half-width asked for, where documents of a query are alike."""
    known = assume(KnownQuantities(prevalence=0.4, accuracy=accuracy))
    spread = 0.24 * (1 + 9 * alike) / 10
    bronze_sd = math.sqrt(known.youden**2 * spread + known.noise)  # the judge errs on each document by itself
    called, missed = known.gold_if_relevant, known.gold_if_not
    units = called * (1 - called), missed * (1 - missed)
    first = (called - missed) * bronze_sd
    second = known.score * math.sqrt(units[0]) + (1 - known.score) * math.sqrt(units[1])
    allowed = (0.01 / 1.959964) ** 2
    queries = 1.15 * first * (first + second * math.sqrt(20 / 10)) / allowed
    gold = 1.15 * second * (second + first * math.sqrt(10 / 20)) / allowed
    way = StratifiedDifference(
        documents=10, between_variance=spread, shares=(known.score, 1 - known.score), label_variances=units
    )
    achieved = Goal().achieved(way.variance(np.array(queries), np.array(gold)), queries)
    assert least < float(achieved) / 0.01 < most
