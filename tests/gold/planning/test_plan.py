"""plan: every method side by side, which is cheapest, and what is said about it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st
from statsmodels.stats.power import TTestPower
from statsmodels.stats.proportion import samplesize_confint_proportion

import ringtrue as rt
from ringtrue.errors import UsageError
from strategies import examples

USUAL: dict[str, Any] = {
    "score": 0.4, "sd": 0.3, "accuracy": (0.85, 0.9), "cost_bronze": 1.0, "cost_gold": 20.0
}  # fmt: skip
judges = st.tuples(st.floats(0.6, 0.97), st.floats(0.6, 0.97))


def codes(result: rt.Plan | rt.Plans) -> list[str]:
    return [getattr(note, "code", "") for note in result.notes]


def test_every_method_is_planned_and_the_cheapest_named() -> None:
    plans = rt.plan(half_width=0.05, **USUAL)
    assert [one.method for one in plans] == ["gold", "gold sample", "difference", "stratified", "confusion"]
    costs = {one.method: one.cost or 0.0 for one in plans}
    assert plans.cheapest == min(costs, key=lambda name: costs[name])
    assert plans.cheapest_any_judge == plans.cheapest
    for one in plans:
        assert one.half_width is not None
        assert 0.04 < one.half_width <= 0.05 + 1e-9
        assert one.power is None
        assert one.cost == pytest.approx((one.bronze or 0) * 1.0 + (one.gold or 0) * 20.0)
        assert one.bronze == (0 if one.method.startswith("gold") else 10 * (one.queries or 0))


def test_gold_alone_is_what_statsmodels_says() -> None:
    # One document of a query: a share, with the normal interval; Student's t adds a little.
    alone = rt.plan(half_width=0.03, prevalence=0.3, sd=0.4583, k=1, accuracy=(0.9, 0.9))["gold"]
    assert alone.queries == pytest.approx(samplesize_confint_proportion(0.3, 0.03), rel=0.005)
    pair = rt.plan(difference=0.05, power=0.9, difference_sd=0.2, gold_sd=0.25, accuracy=(0.9, 0.9), score=0.5)["gold"]
    assert pair.queries == int(np.ceil(TTestPower().solve_power(0.2, power=0.9, alpha=0.05)))
    assert pair.gold == 10 * (pair.queries or 0)


def test_a_comparison_has_a_power_and_the_shared_judge_asks_no_gold() -> None:
    plans = rt.plan(difference=0.05, **USUAL)
    assert [one.method for one in plans] == ["gold", "gold sample", "difference", "stratified", "shared judge"]
    assert all(one.power is not None and 0.8 - 1e-6 <= one.power < 0.83 for one in plans)
    shared = plans["shared judge"]
    assert (plans.cheapest, shared.gold, shared.any_judge, shared.worth) == ("shared judge", 0, False, None)
    # n = (z + z)² var(d) / (JΔ)², and a little for Student's t
    sd = plans.taken["difference_sd"].value
    assert shared.queries == pytest.approx((2.8016 * sd / (0.75 * 0.05)) ** 2, rel=0.02)
    assert plans.cheapest_any_judge in ("difference", "stratified")
    assert shared.notes[0].code == "equal-errors-on-both-runs"
    assert plans.why.code == "cheapest-method"
    assert f"{plans[plans.cheapest_any_judge].gold:,}" in plans.why


@pytest.mark.slow
@given(accuracy=judges, score=st.floats(0.3, 0.7), half_width=st.floats(0.03, 0.1), ratio=st.floats(1, 100))
@examples(20)
def test_a_narrower_interval_never_costs_less(
    accuracy: tuple[float, float], score: float, half_width: float, ratio: float
) -> None:
    known: dict[str, Any] = {"prevalence": score, "accuracy": accuracy, "cost_bronze": 1.0, "cost_gold": ratio}
    wide, narrow = rt.plan(half_width=half_width, **known), rt.plan(half_width=half_width * 0.8, **known)
    for one in wide:
        assert (narrow[one.method].cost or 0) >= (one.cost or 0)
        assert narrow[one.method].reached


@pytest.mark.slow
@given(accuracy=judges, score=st.floats(0.3, 0.7))
@examples(20)
def test_the_unit_of_money_changes_nothing_but_the_cost(accuracy: tuple[float, float], score: float) -> None:
    known: dict[str, Any] = {"half_width": 0.05, "prevalence": score, "accuracy": accuracy}
    one, other = (rt.plan(cost_bronze=unit, cost_gold=unit * 16, **known) for unit in (1.0, 0.25))
    assert [(each.queries, each.gold) for each in one] == [(each.queries, each.gold) for each in other]
    assert [each.cost for each in one] == pytest.approx([4 * (each.cost or 0) for each in other])


def test_a_better_judge_makes_gold_worth_more_and_the_confusion_method_costs_more_than_gold_until_it_is_very_good() -> (
    None
):
    worth = []
    for accuracy in ((0.7, 0.8), (0.85, 0.9), (0.95, 0.97)):
        plans = rt.plan(half_width=0.04, prevalence=0.4, sd=0.2, accuracy=accuracy, cost_bronze=1, cost_gold=100)
        worth.append([plans[name].worth or 0.0 for name in ("confusion", "difference", "stratified")])
        dearer = (plans["confusion"].cost or 0) > (plans["gold sample"].cost or 0)
        assert dearer == (accuracy[0] < 0.9)
    assert np.all(np.diff(worth, axis=0) > 0)
    assert all(confusion < difference for confusion, difference, _ in worth)


def test_a_fixed_number_of_queries_leaves_only_gold_to_be_found() -> None:
    plans = rt.plan(half_width=0.09, queries=100, **USUAL)
    for name in ("difference", "stratified", "confusion"):
        assert plans[name].queries == 100
    assert (plans["gold"].queries or 0) <= 100
    assert (plans["gold sample"].queries or 0) <= 100
    assert all(one.reached for one in plans)


def test_queries_that_are_too_few_are_told_with_what_they_give() -> None:
    plans = rt.plan(half_width=0.05, queries=50, **USUAL)
    assert plans.cheapest is None
    assert not any(one.reached for one in plans)
    difference = plans["difference"]
    assert (difference.queries, difference.gold) == (50, 500)
    assert codes(difference) == ["too-few-queries"]
    assert "0.0853" in difference.notes[0]
    assert plans["confusion"].queries is None
    assert codes(plans["confusion"]) == ["too-few-queries"]
    assert (plans.why.code, plans.why.suggestions[0].arguments) == ("too-few-queries", {"queries": None})
    assert plans.curve == ()
    few = rt.plan(difference=0.05, queries=20, **USUAL)
    assert "too-few-queries" in codes(few["shared judge"])


def test_a_budget_buys_the_best_that_it_can() -> None:
    plans = rt.plan(budget=5000, **USUAL)
    assert all(one.cost is not None and one.cost <= 5000 for one in plans)
    best = min(plans, key=lambda one: one.half_width or 1.0)
    assert plans.cheapest == best.method
    assert plans.why.code == "cheapest-method"
    assert best.method in plans.why
    powers = rt.plan(budget=5000, difference=0.05, **USUAL)
    assert all(one.power is not None for one in powers)
    small = rt.plan(budget=10, **USUAL)
    assert small.cheapest is None
    assert small.why.code == "budget-too-small"
    assert codes(small["difference"]) == ["budget-too-small"]
    assert "700" in small["difference"].notes[0]
    fixed = rt.plan(budget=800, queries=200, **USUAL)
    assert codes(fixed["difference"]) == ["budget-too-small"]
    assert "2,600" in fixed["difference"].notes[0]
    assert fixed["gold sample"].reached


def test_these_queries_and_no_others_need_less() -> None:
    these = rt.plan(half_width=0.03, queries=43, population="these", **USUAL)
    assert these["gold"].half_width == 0
    assert these.cheapest == "stratified"
    assert {one.queries for one in these if one.reached} == {43}
    assert not rt.plan(half_width=0.03, queries=43, **USUAL)["gold"].reached


def test_a_judge_no_better_than_chance_is_refused_in_words_and_the_others_are_planned() -> None:
    for settings_, name in (({"half_width": 0.05}, "confusion"), ({"difference": 0.05}, "shared judge")):
        plans = rt.plan(prevalence=0.4, accuracy=(0.5, 0.5), **settings_)
        refused = plans[name]
        assert (refused.queries, refused.gold, refused.cost, refused.reached) == (None, None, None, False)
        assert codes(refused) == ["judge-at-chance"]
        assert plans["difference"].reached
        assert str(refused) == f"{name}: {refused.notes[0]}"


def test_gold_that_would_judge_nearly_everything_is_told() -> None:
    plans = rt.plan(half_width=0.05, prevalence=0.4, sd=0.2, accuracy=(0.7, 0.7), cost_bronze=50, cost_gold=1)
    assert plans["difference"].notes[0].code == "bronze-adds-little"


def test_what_would_take_no_end_of_queries_is_told() -> None:
    plans = rt.plan(half_width=1e-6, **USUAL)
    assert plans["gold"].queries is None
    assert codes(plans["gold"]) == ["goal-out-of-reach"]
    assert plans.why.code == "goal-out-of-reach"
    # the judge is only just better than chance
    assert not rt.plan(half_width=0.01, prevalence=0.4, accuracy=(0.5, 0.50001))["confusion"].reached


def test_small_numbers_are_told() -> None:
    plans = rt.plan(half_width=0.3, **USUAL)
    assert plans["gold"].queries == 10
    assert "few-queries" in codes(plans["gold"])
    assert "fewest-gold" in codes(plans["difference"])


def test_the_curve_falls_with_the_cost_and_meets_the_plan() -> None:
    plans = rt.plan(half_width=0.05, **USUAL)
    for name in ("gold sample", "difference", "stratified", "confusion"):
        points = [point for point in plans.curve if point.method == name]
        assert len(points) == 9
        assert np.all(np.diff([point.achieved for point in points]) < 0)
        assert all(point.cost <= point.budget + 1e-6 for point in points)
    best = next(point for point in plans.curve if point.method == plans.cheapest and point.budget == pytest.approx(
        plans[plans.cheapest or ""].cost))  # fmt: skip
    assert best.achieved == pytest.approx(0.05, rel=0.01)
    power = [point.achieved for point in rt.plan(difference=0.05, **USUAL).curve if point.method == "stratified"]
    assert np.all(np.diff(power) > 0)


def test_costs_that_are_not_given_are_told() -> None:
    for costs in ({}, {"cost_gold": 5.0}, {"cost_bronze": 0.5}):
        assert "price-guessed" in codes(rt.plan(half_width=0.05, **costs))
    assert "price-guessed" not in codes(rt.plan(half_width=0.05, cost_gold=5.0, cost_bronze=0.5))
    assert rt.plan(half_width=0.05, cost_gold=5.0)["gold"].cost == pytest.approx(5 * 1410)
    assert rt.plan(half_width=0.05, cost_bronze=0.5)["gold"].cost == pytest.approx(5 * 1410)


def test_the_answer_is_plain_data_and_a_frame() -> None:
    plans = rt.plan(half_width=0.05, **USUAL)
    plain = json.loads(json.dumps(plans.as_dict(), allow_nan=False))
    assert list(plain) == [
        "plans", "cheapest", "cheapest_any_judge", "why", "asked", "taken", "curve", "judge", "notes", "note_codes",
    ]  # fmt: skip
    assert list(plain["plans"][0])[:5] == ["method", "queries", "gold", "cost", "half_width"]
    assert plain["asked"] == {"half_width": 0.05, "level": 0.95}
    assert plans.frame["method"].to_list() == [one.method for one in plans]
    assert len(plans) == 5
    assert str(plans).splitlines()[-1] == plans.why
    with pytest.raises(UsageError) as refused:
        plans["magic"]
    assert refused.value.code == "unknown-plan"


def files(seed: int = 1) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]]:
    rng = np.random.default_rng(seed)
    docs = {f"q{q}": [f"d{d}" for d in range(14)] for q in range(30)}
    a = {q: {doc: 20.0 - i for i, doc in enumerate(some[:10])} for q, some in docs.items()}
    b = {q: {doc: 20.0 + i for i, doc in enumerate(some[4:])} for q, some in docs.items()}
    easy = {q: rng.beta(2, 3) for q in docs}
    gold = {q: {doc: int(rng.random() < easy[q]) for doc in some} for q, some in docs.items()}
    bronze = {
        q: {doc: label if rng.random() < 0.85 else 1 - label for doc, label in some.items()} for q, some in gold.items()
    }
    return a, b, gold, bronze


def test_from_data_everything_is_taken_from_there() -> None:
    a, b, gold, bronze = files()
    plans = rt.plan(a, bronze, gold=gold, half_width=0.05, cost_bronze=1, cost_gold=20)
    assert {one.source for one in plans.taken.values()} == {"files"}
    assert plans.confusion is not None
    assert plans.as_dict()["judge"] == plans.confusion.as_dict()
    assert not any("guessed" in code for code in codes(plans))
    pair = rt.plan([a, b], bronze, gold=gold, difference=0.05, cost_bronze=1, cost_gold=20)
    assert pair.taken["unshared"].value == 8
    mixed = rt.plan(a, bronze, accuracy=(0.8, 0.8), half_width=0.05)
    assert (mixed.taken["relevant"].source, mixed.taken["sd"].source) == ("given", "files")
    these = rt.plan(a, bronze, gold=gold, half_width=0.03, population="these")
    assert these["stratified"].queries == 30


@pytest.mark.parametrize(
    ("asked", "code", "parameter"),
    [
        ({}, "no-goal", None),
        ({"half_width": 0.05, "difference": 0.05}, "two-goals", "half_width"),
        ({"half_width": 0.05, "power": 0.8}, "needs-difference", "power"),
        ({"half_width": 0.05, "budget": 100}, "budget-and-goal", "half_width"),
        ({"difference": 0.05, "power": 0.8, "budget": 100}, "budget-and-goal", "power"),
        ({"budget": 0}, "bad-budget", "budget"),
        ({"half_width": 0.05, "queries": 1}, "too-few-queries", "queries"),
        ({"half_width": 0.05, "population": "these"}, "needs-queries", "queries"),
        ({"half_width": 0.05, "unshared": 4}, "needs-difference", "unshared"),
        ({"half_width": 0.05, "difference_sd": 0.2}, "needs-difference", "difference_sd"),
        ({"half_width": 0.05, "measure": "nDCG@10"}, "plan-needs-precision", "measure"),
        ({"half_width": 0.05, "cost_bronze": 0.0}, "bad-price", "cost_bronze"),
        ({"half_width": 0.05, "cost_gold": 0.0}, "bad-price", "cost_gold"),
        ({"half_width": 0.05, "cost_query": -1.0}, "bad-price", "cost_query"),
        ({"half_width": 0.05, "judgments": {"q": {"d": 1}}}, "labels-without-run", "runs"),
        ({"half_width": 0.05, "runs": {"q": {"d": 1.0}}}, "run-without-labels", "judgments"),
        ({"half_width": 0.05, "runs": [{"q": {"d": 1.0}}] * 2, "judgments": {"q": {"d": 1}}}, "wrong-number-of-runs",
         "runs"),
        ({"difference": 0.05, "runs": {"q": {"d": 1.0}}, "judgments": {"q": {"d": 1}}}, "wrong-number-of-runs", "runs"),
    ],
)  # fmt: skip
def test_a_question_that_makes_no_sense_is_refused(asked: dict[str, Any], code: str, parameter: str | None) -> None:
    with pytest.raises(UsageError) as refused:
        rt.plan(**asked)
    assert (refused.value.code, refused.value.parameter) == (code, parameter)


def test_an_unknown_population_is_refused() -> None:
    with pytest.raises(UsageError):
        rt.plan(half_width=0.05, population="all")  # type: ignore[arg-type]


def test_an_accuracy_beside_gold_labels_is_one_too_many() -> None:
    a, _, gold, bronze = files()
    with pytest.raises(UsageError) as refused:
        rt.plan(a, bronze, gold=gold, accuracy=(0.9, 0.9), half_width=0.05)
    assert (refused.value.code, refused.value.parameter) == ("accuracy-given-twice", "accuracy")


@pytest.mark.real
def test_on_real_judges_queries_and_gold_drawn_anew_vary_as_planned(data: Path) -> None:
    """BM25 on dl19 with a model judge: 200 queries drawn from the 43, 300 gold labels among their 2,000 documents."""
    rng = np.random.default_rng(3)
    run = rt.read_run(data / "dl19/runs/bm25base_p.run")
    gold = rt.read_judgments(data / "dl19/human.qrels")
    bronze = rt.read_judgments(data / "dl19/llm-umbrela_gpt4.qrels")
    plans = rt.plan(run, bronze, gold=gold, measure="P(rel=2)@10", half_width=0.05, cost_bronze=1, cost_gold=10)
    one = plans["difference"]
    assert one.queries is not None
    assert one.gold is not None
    table = run.ranked(10)
    for name, labels in (("g", gold), ("b", bronze)):
        said = labels.frame.select("query", "doc", (pl.col("label") >= 2).alias(name))
        table = table.join(said, on=["query", "doc"], how="left", maintain_order="left")
    g, b = (table[name].fill_null(False).to_numpy().reshape(-1, 10) for name in ("g", "b"))
    estimates = []
    for _ in range(600):
        picked = rng.integers(0, len(g), one.queries)
        truth, said = g[picked].ravel(), b[picked].ravel()
        drawn = rng.permutation(len(truth))[: one.gold]
        share = said.mean()
        right, missed = (truth[drawn][said[drawn] == value].mean() for value in (True, False))
        estimates.append(share * right + (1 - share) * missed)
    assert 1.97 * np.std(estimates) == pytest.approx(0.05, rel=0.1)
