"""What people have who have only summary numbers: scores, rates, and what cannot be one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from ringtrue.errors import UsageError
from ringtrue.gold.correction import BronzeScore, Rates

COUNTS = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


def test_rates_by_hand() -> None:
    rates = Rates(relevant=(43, 59), nonrelevant=(67, 84))
    assert rates.on_relevant == (43 / 59, 59)
    assert rates.on_nonrelevant == (67 / 84, 84)
    assert rates.youden == pytest.approx(0.5264326)
    assert rates.bronze_relevant == (60, 143)  # 43 rightly, 17 wrongly
    assert not rates.known


def test_a_share_without_counts_is_taken_for_known() -> None:
    rates = Rates(relevant=0.9, nonrelevant=0.8)
    assert rates.known
    assert rates.bronze_relevant is None
    told = rates.estimates()
    assert [(one.value, one.se, one.low, one.high, one.method) for one in told.values()] == [
        (0.9, 0.0, 0.9, 0.9, "known"),
        (0.8, 0.0, 0.8, 0.8, "known"),
        (pytest.approx(0.7), 0.0, pytest.approx(0.7), pytest.approx(0.7), "known"),
    ]
    assert not Rates(relevant=0.9, nonrelevant=(8, 10)).known


@given(COUNTS, COUNTS)
def test_the_intervals_of_the_rates_are_those_of_statsmodels(relevant, nonrelevant) -> None:
    told = Rates(relevant=relevant, nonrelevant=nonrelevant).estimates()
    for name, (hits, n) in (("relevant", relevant), ("nonrelevant", nonrelevant)):
        expected = proportion_confint(hits, n, method="wilson")
        assert (told[name].low, told[name].high) == pytest.approx(expected, abs=1e-12)
    # J is the share of hits less the share of false alarms.
    false_alarms = nonrelevant[1] - nonrelevant[0]
    expected = confint_proportions_2indep(*relevant, false_alarms, nonrelevant[1], method="newcomb")
    assert (told["youden"].low, told["youden"].high) == pytest.approx(expected, abs=1e-9)


def test_the_variance_of_a_score_is_that_of_its_queries_or_of_coins() -> None:
    assert BronzeScore(mean=0.626, sd=0.414, queries=10278).variance == pytest.approx(0.414**2 / 10278)
    assert BronzeScore(mean=0.25, queries=48, k=1).variance == pytest.approx(0.25 * 0.75 / 48)


@given(st.lists(st.booleans(), min_size=2, max_size=200))
def test_a_query_of_one_document_is_worth_one_document(labels) -> None:
    score = BronzeScore(mean=float(np.mean(labels)), queries=len(labels), k=1)
    assert score.worth == pytest.approx(len(labels))


def test_queries_that_do_not_differ_are_worth_all_their_documents() -> None:
    assert BronzeScore(mean=1.0, sd=0.0, queries=50, k=10).worth == 500
    assert BronzeScore(mean=1.0, sd=0.0, queries=50).worth == 50
    # Rounding leaves a trace of a spread where all queries are 0.3.
    values = np.full(7, 0.1) + 0.2
    assert BronzeScore(mean=float(values.mean()), sd=float(values.std(ddof=1)), queries=7, k=10).worth == 70


@given(st.lists(st.integers(0, 10), min_size=2, max_size=60))
def test_every_list_of_scores_can_be_told_as_a_mean_and_a_spread(tenths) -> None:
    values = np.array(tenths) / 10
    score = BronzeScore(mean=float(values.mean()), sd=float(values.std(ddof=1)), queries=len(values), k=10)
    assert math.isfinite(score.worth)
    assert score.worth >= (len(values) - 1) * (1 - 1e-9)  # at the worst, all good or all bad


@pytest.mark.parametrize(
    ("said", "says"),
    [
        ({"mean": 62.6, "sd": 0.4}, "the score lies between 0 and 1, found 62.6; write 62.6% as 0.626"),
        ({"mean": -0.1, "sd": 0.4}, "the score lies between 0 and 1, found -0.1"),
        ({"mean": math.nan, "sd": 0.4}, "the score lies between 0 and 1, found nan"),
        ({"mean": 0.6, "sd": -0.4}, "a standard deviation is 0 or more, found -0.4"),
        ({"mean": 0.6, "sd": math.inf}, "a standard deviation is 0 or more, found inf"),
        ({"mean": 0.6, "sd": 0.7}, "have a standard deviation of 0.493 at most, found 0.7; is it a variance"),
        ({"mean": 0.6, "sd": 41.4}, "at most, found 41.4; write 41.4% as 0.414"),
        ({"mean": 1.0, "sd": 0.1}, "a mean of 1 leaves no room for a standard deviation of 0.1"),
        ({"mean": 0.6, "sd": 0.4, "queries": 0}, "at least 1 query, found 0"),
        ({"mean": 0.6, "sd": 0.4, "queries": 1}, "one query has no standard deviation"),
        ({"mean": 0.6, "sd": 0.4, "k": 0}, "is 1 or more; found 0"),
        ({"mean": 0.6}, "the spread of the score over queries is not given"),
        ({"mean": 0.6, "k": 10}, "the spread of the score over queries is not given"),
    ],
)
def test_what_no_score_can_be_is_refused_in_words(said, says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("?", r"\?")):
        BronzeScore(**({"queries": 100} | said))


@pytest.mark.parametrize(
    ("relevant", "says"),
    [
        ((0, 0), r"no gold label is on a relevant document \(0/0\)"),
        ((60, 59), "nobody is right on 60 of 59 relevant documents"),
        ((-1, 59), "nobody is right on -1 of 59 relevant documents"),
        (72.9, "the rate on relevant documents lies between 0 and 1, found 72.9; write 72.9% as 0.729"),
    ],
)
def test_what_no_rate_can_be_is_refused_in_words(relevant, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        Rates(relevant=relevant, nonrelevant=(67, 84))
