"""How many queries and gold labels, by each method, and which is cheapest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import require_choice
from ringtrue.evaluation.measures import Measure
from ringtrue.gold.planning import explanations
from ringtrue.gold.planning.assumptions import Assumptions, Known, Population, Source, assume
from ringtrue.gold.planning.available_methods import methods_for
from ringtrue.gold.planning.budget_search import Prices, require_price
from ringtrue.gold.planning.goals import Goal
from ringtrue.gold.planning.pilot import Observed, depth_of, observe
from ringtrue.gold.planning.plan_drafts import Desk
from ringtrue.gold.planning.results import Plans
from ringtrue.tables import Judgments, Run

__all__ = ["plan"]

USUAL_POWER = 0.8
USUAL_RATIO = 10.0  # the price of a gold label, in bronze ones


def plan(
    runs: object = None,
    judgments: object = None,
    *,
    gold: object = None,
    measure: str | Measure | None = None,
    bronze_rel: int | None = None,
    half_width: float | None = None,
    difference: float | None = None,
    power: float | None = None,
    budget: float | None = None,
    queries: int | None = None,
    score: float | None = None,
    prevalence: float | None = None,
    sd: float | None = None,
    gold_sd: float | None = None,
    difference_sd: float | None = None,
    unshared: float | None = None,
    accuracy: tuple[float, float] | None = None,
    k: int = 10,
    cost_bronze: float | None = None,
    cost_gold: float | None = None,
    cost_query: float = 0.0,
    population: Population = "like-these",
    level: float = 0.95,
) -> Plans:
    """How many queries and gold labels a mean P@k needs for an interval so short, or a comparison for its power.

        V = S²/n + B·(1/m − 1/(nK)),    half-width = t·√V    [Sarndal92]

    n queries, K documents of each, m gold labels; S is the sd of gold's score over queries and B the variance of what a
    gold label adds to what the method knows of a document. Ask for a `half_width`, or for a `difference` of two runs to
    be found with `power` (0.8 if not said), or say what may be spent (`budget`). `queries` fixes their number, and only
    gold is to be found. What is known can be given: `score` and `sd` by the bronze labels, `prevalence` and `gold_sd`
    by gold, the `accuracy` of the bronze judge on relevant documents and on others; for a comparison `difference_sd`,
    with `gold_sd` the same by gold, and how many documents of a query are `unshared`. Or it is taken from one run, or
    two, their bronze `judgments` and some `gold`. Every guess is named in a note.

    Holds for documents drawn at random among those that the runs retrieved, and for `accuracy` as it is there. The
    methods "confusion" and "shared judge" also need a judge who errs alike everywhere.

    Examples:
        >>> plans = plan(half_width=0.04, score=0.5, sd=0.25, accuracy=(0.95, 0.97), cost_bronze=1, cost_gold=50)
        >>> print(plans["stratified"])
        stratified: 388 queries, 144 gold labels, cost 11,080, half-width 0.0400
        >>> plans.cheapest
        'stratified'
    """
    require_choice("population", population, ("like-these", "these"))
    goal = _goal(half_width, difference, power, budget, level)
    if difference is None and (difference_sd is not None or unshared is not None):
        raise UsageError("how far differences vary and which documents are unshared is about a difference of two runs")
    given = {
        "score": score, "prevalence": prevalence, "sd": sd, "difference_sd": difference_sd, "unshared": unshared,
        "accuracy": accuracy, "gold_sd": gold_sd,
    }  # fmt: skip
    seen = _seen(runs, judgments, gold, measure, bronze_rel, k, paired=difference is not None)
    known = _merged(seen, {name: value for name, value in given.items() if value is not None}, measure, k)
    assumptions = assume(known, difference=difference, population=population)
    if population == "these" and queries is None:
        if seen is None:
            raise UsageError("for these queries and no others, say how many there are (--queries)")
        queries = seen.queries
    if queries is not None and queries < 2:
        raise UsageError(f"a mean over queries needs 2 or more, found {queries}")
    prices, told = _prices(cost_bronze, cost_gold, cost_query, assumptions)
    ways, alone = methods_for(assumptions)
    desk = Desk(goal=goal, prices=prices, budget=budget, fixed=queries, known=assumptions, alone=alone)
    plans = [desk.planned(way) for way in ways] + explanations.refused(assumptions)
    cheapest, safest = desk.chosen(plans), desk.chosen([one for one in plans if one.any_judge])
    middle = budget if budget is not None or safest is None else safest.cost
    return Plans(
        plans=tuple(plans),
        goal=goal,
        budget=budget,
        cheapest=None if cheapest is None else cheapest.method,
        cheapest_any_judge=None if safest is None else safest.method,
        why=explanations.why(plans, cheapest, safest, goal, budget, fixed=queries is not None),
        taken=assumptions.taken,
        curve=tuple(desk.curve(ways, middle)),
        confusion=None if seen is None else seen.confusion,
        notes=(*(() if seen is None else seen.notes), *assumptions.notes, *told),
    )


def _goal(
    half_width: float | None, difference: float | None, power: float | None, budget: float | None, level: float
) -> Goal:
    """What is asked for; one thing, and whether a budget goes with it."""
    if half_width is not None and difference is not None:
        raise UsageError("a half-width is about one run and a difference about two: ask for one of them at a time")
    if half_width is None and difference is None and budget is None:
        raise UsageError(
            "say what the labels are for: a half-width (--half-width 0.03), a difference to be found "
            "(--difference 0.05) or a budget (--budget 1000)"
        )
    if power is not None and difference is None:
        raise UsageError("power is about a difference to be found: say which (--difference 0.05)")
    if budget is not None:
        if not 0 < budget < np.inf:
            raise UsageError(f"a budget must be more than 0, found {budget:g}")
        asked = "half-width" if half_width is not None else "power" if power is not None else None
        if asked:
            raise UsageError(f"a budget is spent for the best {asked} that it buys: leave out --{asked} or --budget")
    usual = None if difference is None or budget is not None else USUAL_POWER
    return Goal(half_width=half_width, difference=difference, power=usual if power is None else power, level=level)


def _seen(
    runs: object,
    judgments: object,
    gold: object,
    measure: str | Measure | None,
    bronze_rel: int | None,
    k: int,
    *,
    paired: bool,
) -> Observed | None:
    """What the data say; None without data."""
    if runs is None:
        if judgments is not None or gold is not None:
            raise UsageError("labels say nothing without a run: which documents are at its top?")
        return None
    if judgments is None:
        raise UsageError("a run says nothing without the bronze judge's labels (--judgments)")
    several = list(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    lists = [Run.of(run, name=f"run{place}") for place, run in enumerate(several, start=1)]
    wanted = 2 if paired else 1
    if len(lists) != wanted:
        aim = "a difference is between two runs" if paired else "a half-width is planned for one run"
        todo = "" if paired else "; plan for each, or let `ringtrue sample` say what a draw for all of them gives"
        raise UsageError(f"{aim}, found {len(lists)}{todo}")
    if paired and lists[0].name == lists[1].name:
        lists[1] = lists[1].called(f"{lists[1].name} (2)")
    labels = None if gold is None else Judgments.of(gold)
    return observe(lists, Judgments.of(judgments), gold=labels, measure=measure or f"P@{k}", bronze_rel=bronze_rel)


def _merged(seen: Observed | None, given: dict[str, object], measure: str | Measure | None, k: int) -> Known:
    """What was given, and for the rest what was seen."""
    if seen is not None:
        if "accuracy" in given and seen.confusion is not None:
            raise UsageError("the accuracy is measured on the gold labels here: give one of the two")
        sources: dict[str, Source] = dict(seen.known.sources)
        sources |= dict.fromkeys(given, "given")
        return replace(seen.known, **given, sources=sources)  # type: ignore[arg-type]
    k = k if measure is None else depth_of(measure)
    return Known(k=k, **given)  # type: ignore[arg-type]


def _prices(bronze: float | None, gold: float | None, query: float, known: Assumptions) -> tuple[Prices, list[str]]:
    """The prices, and a note where they were not given."""
    told = []
    for what, price in (("a bronze label", bronze), ("a gold label", gold)):
        if price is not None:
            require_price(what, price)
    if bronze is None or gold is None:
        told.append(f"a gold label is taken to cost {USUAL_RATIO:g} bronze ones (--cost-bronze, --cost-gold)")
    if bronze is None:
        bronze = 1.0 if gold is None else gold / USUAL_RATIO
    if gold is None:
        gold = bronze * USUAL_RATIO
    return Prices(bronze=bronze, gold=gold, query=query, documents=known.documents), told
