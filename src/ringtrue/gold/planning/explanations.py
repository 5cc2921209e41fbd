"""Plans in words: what each rests on, why one is cheapest, and why another cannot be had."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ringtrue.gold.planning.assumptions import Assumptions
from ringtrue.gold.planning.budget_search import FEWEST_QUERIES, Numbers, Prices
from ringtrue.gold.planning.goals import Goal
from ringtrue.gold.planning.methods import FEWEST_GOLD, Inverted, Method, SharedJudge, Spread, Stratified
from ringtrue.gold.planning.results import Plan

__all__ = ["refused", "remarks", "too_few", "too_little", "why"]

SMALL_SAMPLE = 20  # queries
NEARLY_ALL = 0.95


def remarks(way: Method, found: Numbers, known: Assumptions) -> list[str]:
    """What is worth knowing about a plan."""
    n, gold = np.array(float(found.queries)), np.array(float(found.gold))
    told = []
    if isinstance(way, Spread):
        each = found.gold / found.queries
        few = "one document of each query" + (", two of a few" if each > 1 else "")
        told.append(few if each < 1.05 else f"{each:.3g} documents of each query on average")
    if isinstance(way, Stratified):
        first, rest = (round(float(part)) for part in way.allocated(n, gold))
        told.append(f"{first:,} of what bronze calls relevant, {rest:,} of the rest")
    if isinstance(way, Inverted):
        first, rest = (round(float(part)) for part in way.allocated(gold))
        told.append(
            f"{first:,} relevant and {rest:,} other documents by gold; holds only if the judge errs on the top "
            f"{known.k} as on these"
        )
        if found.gold > found.queries * known.documents:
            told.append(f"gold could judge all {round(found.queries * known.documents):,} documents instead")
    if isinstance(way, SharedJudge):
        points = 200 * known.youden * known.shift / known.prevalence
        told.append(
            f"holds only if the judge errs alike on both runs: one who is right on {points:.2g} points more of the "
            f"relevant documents of one run than of the other's makes such a difference out of nothing"
        )
    whole = int(way.most(n))
    nearly = way.bronze and way.any_judge and found.gold >= NEARLY_ALL * whole
    if nearly:
        told.append(f"gold judges {found.gold:,} of {whole:,} documents: the bronze labels add next to nothing")
    if way.bronze and found.gold == FEWEST_GOLD and not nearly:
        told.append(f"{FEWEST_GOLD} gold labels are the fewest that an interval can rest on")
    if found.queries < SMALL_SAMPLE:
        fewest = f": {FEWEST_QUERIES} are the fewest that are planned" if found.queries == FEWEST_QUERIES else ""
        told.append(f"{found.queries} queries are few{fewest or ': trust the interval with care'}")
    return told


def too_few(way: Method, queries: int, achieved: float, goal: Goal) -> str:
    """Why a fixed number of queries is not enough."""
    what = f"a half-width of {achieved:.3g}" if goal.difference is None else f"a power of {achieved:.2g}"
    with_what = "with gold on every document"
    if isinstance(way, Inverted):
        with_what = "with the judge's accuracy known exactly"
    if isinstance(way, SharedJudge):
        return f"{queries:,} queries are too few: they give {what}"
    return f"{queries:,} queries are too few: even {with_what} they give {what}"


def too_little(way: Method, prices: Prices, fixed: int | None) -> str:
    """Why a budget is not enough."""
    n = np.array(float(fixed or FEWEST_QUERIES))
    if fixed is not None and not way.bronze:
        n = np.minimum(n, FEWEST_QUERIES)
    fewest = float(way.fewest(n))
    least = float(n) * prices.each(bronze=way.bronze) + fewest * prices.gold
    return f"the budget is too small: {n:g} queries and {fewest:g} gold labels, the fewest, cost {least:,.6g}"


def refused(known: Assumptions) -> list[Plan]:
    """The methods that rest on the judge's rates, where the judge is no better than chance."""
    if known.youden > 0:
        return []
    reason = (
        f"the judge is no better than chance (right on {known.relevant:.3g} of the relevant documents and on "
        f"{known.nonrelevant:.3g} of the others, which does not come to more than 1): the rates cannot be turned round"
    )
    name = SharedJudge.name if known.paired else Inverted.name
    return [Plan(method=name, reached=False, any_judge=False, notes=(reason,))]


def why(
    plans: Sequence[Plan], cheapest: Plan | None, safest: Plan | None, goal: Goal, budget: float | None, *, fixed: bool
) -> str:
    """Which is cheapest, or achieves most, and what a gold label is worth there."""
    if cheapest is None:
        if budget is not None:
            return "The budget is too small for any method."
        few = "with so few queries; without --queries the plan says how many it takes"
        return f"No method reaches it {few}." if fixed else "No method reaches it: ask for less."
    parts = [_praise(cheapest, plans, goal, budget)]
    if safest is not None and safest is not cheapest:
        parts.append(f"It rests on the judge's errors being alike; of those that hold for any judge, "
                     f"{_praise(safest, plans, goal, budget, first=False)}")  # fmt: skip
    return " ".join(parts)


def _praise(one: Plan, plans: Sequence[Plan], goal: Goal, budget: float | None, *, first: bool = True) -> str:
    """A sentence about the best."""
    labels = f"{one.gold:,} gold labels" + (f" and {one.bronze:,} bronze ones" if one.bronze else "")
    if budget is not None:
        reached = f"half-width {one.half_width:.3g}" if goal.difference is None else f"power {one.power:.2f}"
        text = f"{one.method} achieves most, {reached}, with {labels} on {one.queries:,} queries."
    else:
        text = f"{one.method} is cheapest: {labels} on {one.queries:,} queries cost {one.cost:,.6g}."
    alone = next((other for other in plans if other.method == "gold sample"), None)
    if one.method in ("gold", "gold sample"):
        return f"{text} The bronze labels cost more than they save." if budget is None else text
    if first and budget is None and alone is not None and alone.reached and alone.cost is not None and one.cost:
        text += f" Gold by itself costs {alone.cost:,.6g}, {alone.cost / one.cost:.2g} times as much."
    if one.worth is not None:
        text += f" A gold label does the work of {one.worth:.2g} gold labels by themselves on as many queries."
    return text
