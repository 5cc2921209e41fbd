"""What several sections need is worked out once, also where it cannot be had."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from report.small_inputs import by_hand, noisy, simulated
from ringtrue.errors import InputError, MismatchError
from ringtrue.evaluation.evaluate import evaluate
from ringtrue.evaluation.measures import parse_all
from ringtrue.gold.correction import Correction
from ringtrue.report.inputs import (
    ReportInputs,
    compare_run_pairs,
    estimate_run_means,
    find_contradicted_pairs,
    find_leaders,
    fit_strengths,
    order_runs,
    sort_runs_by_mean,
)
from ringtrue.tables import Judgments
from strategies import examples


def lost() -> ReportInputs:
    """Gold of which some rows were lost, which cannot correct anything."""
    material = simulated("documents")
    assert isinstance(material.gold, Judgments)
    return replace(material, gold=Judgments(material.gold.frame.head(3)))


def test_a_correction_is_worked_out_once() -> None:
    material = simulated("documents")
    assert isinstance(material.correction_or_error, Correction)
    assert material.correction is material.correction_or_error


def test_why_gold_cannot_correct_is_worked_out_once_and_told_to_each_who_asks() -> None:
    material = lost()
    assert isinstance(material.correction_or_error, InputError)
    assert material.correction_or_error.code == "too-many-lost"
    raised = []
    for _ in range(2):
        with pytest.raises(InputError) as told:
            _ = material.correction
        raised.append(told.value)
    assert raised[0].code == "too-many-lost"
    assert raised[0] is raised[1] is material.correction_or_error
    with pytest.raises(InputError):
        _ = material.comparisons
    assert isinstance(material.comparisons_or_error, InputError)


def test_without_gold_or_runs_there_is_nothing_to_correct() -> None:
    assert by_hand({"old": [2, 3], "new": [1, 1]}).correction is None
    empty = ReportInputs()
    assert (empty.scores, empty.correction, empty.comparisons) == (None, None, None)
    empty.require_measurable()


def test_gold_that_cannot_correct_is_refused() -> None:
    with pytest.raises(InputError) as refused:
        lost().require_measurable()
    assert refused.value.code == "too-many-lost"


def test_runs_and_judgments_without_a_common_query_are_refused() -> None:
    material = replace(by_hand({"old": [2, 3], "new": [1, 1]}), judgments=Judgments.of({"elsewhere": {"d": 1}}))
    with pytest.raises(MismatchError) as refused:
        material.require_measurable()
    assert refused.value.code == "no-common-query"


def test_runs_are_counted_as_somebody_asked() -> None:
    material = replace(by_hand({"old": [2, 3], "new": [1, 1]}), evaluation_options={"depth": 2})
    assert material.scores is not None
    cut = evaluate(material.runs, material.judgments, material.measures, depth=2)
    assert material.scores.means() == cut.means()
    assert material.scores.means() != evaluate(material.runs, material.judgments, material.measures).means()


def test_without_gold_the_order_is_that_of_the_means() -> None:
    assert order_runs(by_hand({"last": [9, 10], "first": [1, 1], "second": [2, 1]})) == ("first", "second", "last")


@examples(40)
@given(st.lists(st.lists(st.integers(1, 10), min_size=3, max_size=3), min_size=2, max_size=5))
def test_how_far_runs_are_ahead_is_their_mean_difference_from_all(ranks: list[list[int]]) -> None:
    material = by_hand({f"r{place}": row for place, row in enumerate(ranks)})
    means = [sum(1 / rank for rank in row) / 3 for row in ranks]
    middle = sum(means) / len(means)
    assert list(fit_strengths(material).values()) == pytest.approx([mean - middle for mean in means])


def test_runs_with_the_same_value_keep_the_order_in_which_they_were_given() -> None:
    assert order_runs(by_hand({"b": [1, 2, 3], "a": [3, 2, 1], "c": [1, 1, 1]})) == ("c", "b", "a")
    assert find_leaders(fit_strengths(by_hand({"b": [1, 2, 3], "a": [3, 2, 1]}))) == ("b", "a")


def test_where_values_and_differences_disagree_the_differences_give_the_order() -> None:
    material = noisy(156)
    means, pairs = estimate_run_means(material), compare_run_pairs(material)
    assert means is not None
    assert sort_runs_by_mean(means, material.measure)[0] == "r2"
    assert order_runs(material)[0] == "r0"
    assert ("r2", "r0") in find_contradicted_pairs(means, pairs, material.measure)
    assert (pairs["r0", "r2"].difference.value or 0.0) > 0


def external(measure: str) -> ReportInputs:
    """Gold that does not say how it was drawn, and is taken for gold from elsewhere."""
    material = simulated("documents")
    assert isinstance(material.gold, Judgments)
    gold = Judgments.of(material.gold.frame.select("query", "doc", "label"))
    return replace(material, gold=gold, measures=tuple(parse_all([measure])), correction_options={"design": "external"})


def test_rates_from_elsewhere_are_one_correction_for_all_and_keep_the_order_of_the_raw_labels() -> None:
    material = external("P(rel=2)@10")
    assert material.scores is not None
    assert order_runs(material) == sort_runs_by_mean(material.scores.means(), material.measure)


@pytest.mark.slow
def test_where_runs_cannot_be_compared_their_values_give_the_order() -> None:
    material = external("DCG@10")
    assert isinstance(material.comparisons_or_error, InputError)
    means = estimate_run_means(material)
    assert means is not None
    assert order_runs(material) == sort_runs_by_mean(means, "DCG@10")
    assert compare_run_pairs(material) == {}
