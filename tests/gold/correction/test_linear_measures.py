"""Measures that are sums over documents: their discounts and gains against the measures themselves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import ringtrue as rt
from gold.correction.worlds import world
from ringtrue.errors import MeasureError
from ringtrue.evaluation.measures import CATALOGUE, parse
from ringtrue.gold.correction.linear_measures import LINEAR, is_linear, linearise

SEEDS = st.integers(0, 2**32 - 1)
MEASURES = [
    "P@1", "P@3", "P@10", "P(rel=2)@3", "CG", "CG@3", "CG(gains={1:1,2:5})@4", "DCG", "DCG@3", "DCG@20",
    "DCG(dcg='exp-log2')@3", "DCG(gains={0:-1,1:2,2:-3})@4", "SDCG(max_rel=2)@3", "SDCG(max_rel=4)@5",
    "SDCG(dcg='exp-log2',max_rel=3)@3",
    "RBP", "RBP(p=0.5)", "RBP(p=0.95)@3", "RBP(rel=2)@4", "RBP(gains={1:0.3,2:1})",
]  # fmt: skip


def test_discounts_and_gains_by_hand() -> None:
    found = linearise(parse("DCG(dcg='exp-log2')@2"), np.array([3, 0, 1, 1]), depth=4)
    assert found.discounts.tolist() == pytest.approx([1, 1 / np.log2(3), 0, 0])
    assert found.gains == {0: 0.0, 1: 1.0, 3: 7.0}
    assert found.gain(np.array([3, 1, 0, 3])).tolist() == [7, 1, 0, 7]
    assert (found.max_value, found.min_value, found.gain_range) == (pytest.approx(7 * (1 + 1 / np.log2(3))), 0, 7)


def test_precision_counts_every_rank_down_to_k_alike() -> None:
    found = linearise(parse("P(rel=2)@4"), np.array([0, 1, 2, 3]), depth=6)
    assert found.discounts.tolist() == [1, 1, 1, 1, 0, 0]
    assert found.gains == {0: 0.0, 1: 0.0, 2: 0.25, 3: 0.25}
    assert found.max_value == 1


def test_rbp_by_hand() -> None:
    found = linearise(parse("RBP(p=0.5)"), np.array([0, 1]), depth=3)
    assert found.discounts.tolist() == pytest.approx([1, 0.5, 0.25])
    assert found.gains == {0: 0.0, 1: 0.5}


@settings(max_examples=12)
@given(seed=SEEDS)
def test_the_weights_add_up_to_what_evaluate_says_of_gold_labels(seed: int) -> None:
    here = world(seed)
    means = rt.evaluate(here.runs, here.gold, MEASURES).means()
    for measure in MEASURES:
        told = {run: means[run][str(parse(measure))].value for run in here.runs}
        assert here.asked(measure).truth.tolist() == pytest.approx(list(told.values()), abs=1e-12), measure


def test_the_top_grade_of_sdcg_is_the_largest_label() -> None:
    here = world(3, docs=5, whole=True)  # every document is in every list
    means = rt.evaluate(here.runs, here.gold, "SDCG@4").means()
    assert here.asked("SDCG@4", depth=5).truth.tolist() == pytest.approx(
        [row["SDCG@4"].value for row in means.values()]
    )


def test_a_grade_that_no_label_reaches_leaves_the_discounts_as_they_are() -> None:
    for measure, first in (("P(rel=3)@2", 0.5), ("DCG@2", 1.0), ("RBP(p=0.5)@2", 0.5), ("SDCG@2", 1 / 1.63093)):
        found = linearise(parse(measure), np.array([0, 0]), depth=2)
        same = linearise(parse(measure), np.array([0, 3]), depth=2)
        assert found.discounts.tolist() == pytest.approx(same.discounts.tolist())
        assert set(found.gains.values()) == {0.0}
        assert found.max_value == found.min_value == 0
        assert found.gain_range == pytest.approx(first, abs=1e-5)  # what could have been, and was not seen


def test_a_table_of_gains_in_which_the_seen_labels_are_worth_nothing() -> None:
    found = linearise(parse("CG(gains={1:5,2:0})@2"), np.array([0, 2]), depth=3)
    assert found.discounts.tolist() == [1, 1, 0]
    assert found.gains == {0: 0.0, 2: 0.0}
    assert found.gain_range == 5


def test_gains_below_0_bound_the_measure_from_below() -> None:
    found = linearise(parse("CG(gains={1:-2,2:1})@3"), np.array([1, 2]), depth=3)
    assert (found.min_value, found.max_value, found.gain_range) == (-6, 3, 3)
    only = linearise(parse("CG(gains={1:-2})@3"), np.array([1]), depth=3)
    assert (only.min_value, only.max_value, only.gain_range) == (-6, 0, 2)


def test_no_other_measure_is_taken_for_a_sum() -> None:
    at = {"required": "@5", "optional": "", "recall": "@0.5", "none": ""}
    named = {name: parse(name + at[definition.cutoff]) for name, definition in CATALOGUE.items()}
    assert {name for name, measure in named.items() if is_linear(measure)} == set(LINEAR)
    assert not is_linear(parse("P(judged_only=True)@5"))
    assert is_linear(parse("P(judged_only=False)@5"))


def test_a_measure_that_is_no_sum_is_refused_with_those_that_are() -> None:
    with pytest.raises(MeasureError, match="nDCG@10 is no sum over documents; those that are: P, CG, DCG, SDCG, RBP"):
        linearise(parse("nDCG@10"), np.array([0, 1]), depth=10)
