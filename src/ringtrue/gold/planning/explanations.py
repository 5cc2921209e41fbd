"""Plans in words: what each rests on, why one is cheapest, and why another cannot be had."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ringtrue.gold.planning.assumptions import Assumptions
from ringtrue.gold.planning.budget_search import MIN_QUERIES, Prices, SampleSize
from ringtrue.gold.planning.goals import Goal
from ringtrue.gold.planning.methods import (
    MIN_GOLD_LABELS,
    Method,
    RateInversion,
    SharedJudge,
    SpreadGold,
    StratifiedDifference,
)
from ringtrue.gold.planning.results import Plan

SMALL_SAMPLE = 20  # queries
NEARLY_ALL = 0.95


def plan_notes(method: Method, sample_size: SampleSize, assumptions: Assumptions) -> list[str]:
    """What is worth knowing about a plan."""
    n, gold = np.array(float(sample_size.queries)), np.array(float(sample_size.gold))
    notes = []
    if isinstance(method, SpreadGold):
        per_query = sample_size.gold / sample_size.queries
        single_label = "one document of each query" + (", two of a few" if per_query > 1 else "")
        notes.append(single_label if per_query < 1.05 else f"{per_query:.3g} documents of each query on average")
    if isinstance(method, StratifiedDifference):
        first, second = (round(float(labels)) for labels in method.allocate(n, gold))
        notes.append(f"{first:,} of what bronze calls relevant, {second:,} of the rest")
    if isinstance(method, RateInversion):
        first, second = (round(float(labels)) for labels in method.allocate(gold))
        notes.append(
            f"{first:,} relevant and {second:,} other documents by gold; holds only if the judge errs on the top "
            f"{assumptions.k} as on these"
        )
        if sample_size.gold > sample_size.queries * assumptions.documents:
            notes.append(
                f"gold could judge all {round(sample_size.queries * assumptions.documents):,} documents instead"
            )
    if isinstance(method, SharedJudge):
        points = 200 * assumptions.youden * assumptions.shift / assumptions.prevalence
        notes.append(
            f"holds only if the judge errs alike on both runs: one who is right on {points:.2g} points more of the "
            f"relevant documents of one run than of the other's makes such a difference out of nothing"
        )
    available = int(method.max_gold(n))
    nearly_all = method.bronze and method.any_judge and sample_size.gold >= NEARLY_ALL * available
    if nearly_all:
        notes.append(
            f"gold judges {sample_size.gold:,} of {available:,} documents: the bronze labels add next to nothing"
        )
    if method.bronze and sample_size.gold == MIN_GOLD_LABELS and not nearly_all:
        notes.append(f"{MIN_GOLD_LABELS} gold labels are the fewest that an interval can rest on")
    if sample_size.queries < SMALL_SAMPLE:
        fewest = f": {MIN_QUERIES} are the fewest that are planned" if sample_size.queries == MIN_QUERIES else ""
        notes.append(f"{sample_size.queries} queries are few{fewest or ': trust the interval with care'}")
    return notes


def explain_too_few_queries(method: Method, queries: int, achieved: float, goal: Goal) -> str:
    """Why a fixed number of queries is not enough."""
    outcome = f"a half-width of {achieved:.3g}" if goal.difference is None else f"a power of {achieved:.2g}"
    condition = "with gold on every document"
    if isinstance(method, RateInversion):
        condition = "with the judge's accuracy known exactly"
    if isinstance(method, SharedJudge):
        return f"{queries:,} queries are too few: they give {outcome}"
    return f"{queries:,} queries are too few: even {condition} they give {outcome}"


def explain_small_budget(method: Method, prices: Prices, fixed_queries: int | None) -> str:
    """Why a budget is not enough."""
    n = np.array(float(fixed_queries or MIN_QUERIES))
    if fixed_queries is not None and not method.bronze:
        n = np.minimum(n, MIN_QUERIES)
    fewest = float(method.min_gold(n))
    lowest_cost = float(n) * prices.per_query(bronze=method.bronze) + fewest * prices.gold
    return f"the budget is too small: {n:g} queries and {fewest:g} gold labels, the fewest, cost {lowest_cost:,.6g}"


def refused_plans(assumptions: Assumptions) -> list[Plan]:
    """The methods that rest on the judge's rates, where the judge is no better than chance."""
    if assumptions.youden > 0:
        return []
    reason = (
        f"the judge is no better than chance (right on {assumptions.relevant:.3g} of the relevant documents and on "
        f"{assumptions.nonrelevant:.3g} of the others, which does not come to more than 1): the rates cannot be turned "
        f"round"
    )
    name = SharedJudge.name if assumptions.paired else RateInversion.name
    return [Plan(method=name, reached=False, any_judge=False, notes=(reason,))]


def explain_choice(
    plans: Sequence[Plan], cheapest: Plan | None, safest: Plan | None, goal: Goal, budget: float | None, *, fixed: bool
) -> str:
    """Which is cheapest, or achieves most, and what a gold label is worth there."""
    if cheapest is None:
        if budget is not None:
            return "The budget is too small for any method."
        hint = "with so few queries; without --queries the plan says how many it takes"
        return f"No method reaches it {hint}." if fixed else "No method reaches it: ask for less."
    sentences = [_describe_best(cheapest, plans, goal, budget)]
    if safest is not None and safest is not cheapest:
        sentences.append(
            f"It rests on the judge's errors being alike; of those that hold for any judge, "
            f"{_describe_best(safest, plans, goal, budget, first=False)}"
        )
    return " ".join(sentences)


def _describe_best(best: Plan, plans: Sequence[Plan], goal: Goal, budget: float | None, *, first: bool = True) -> str:
    """A sentence about the best."""
    labels = f"{best.gold:,} gold labels" + (f" and {best.bronze:,} bronze ones" if best.bronze else "")
    if budget is not None:
        reached = f"half-width {best.half_width:.3g}" if goal.difference is None else f"power {best.power:.2f}"
        text = f"{best.method} achieves most, {reached}, with {labels} on {best.queries:,} queries."
    else:
        text = f"{best.method} is cheapest: {labels} on {best.queries:,} queries cost {best.cost:,.6g}."
    gold_sample = next((plan for plan in plans if plan.method == "gold sample"), None)
    if best.method in ("gold", "gold sample"):
        return f"{text} The bronze labels cost more than they save." if budget is None else text
    if (
        first
        and budget is None
        and gold_sample is not None
        and gold_sample.reached
        and gold_sample.cost is not None
        and best.cost
    ):
        text += f" Gold by itself costs {gold_sample.cost:,.6g}, {gold_sample.cost / best.cost:.2g} times as much."
    if best.worth is not None:
        text += f" A gold label does the work of {best.worth:.2g} gold labels by themselves on as many queries."
    return text
