"""How many queries and gold labels, by each method, which is cheapest, and what other sums would buy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.evaluation.inputs import require_choice
from ringtrue.evaluation.measures import Measure
from ringtrue.gold.designs import Population
from ringtrue.gold.planning import results
from ringtrue.gold.planning.assumptions import Assumptions, KnownQuantities, Source, assume
from ringtrue.gold.planning.budget_search import (
    MAX_QUERIES,
    MIN_QUERIES,
    Prices,
    SampleSize,
    find_best,
    find_cheapest,
    require_price,
)
from ringtrue.gold.planning.goals import Goal
from ringtrue.gold.planning.methods import Method, RandomGold, available_methods, relative_efficiency
from ringtrue.gold.planning.pilot import PilotObservations, observe_pilot, require_precision_depth
from ringtrue.gold.planning.results import BudgetPoint, Plan, Plans
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments, Run

DEFAULT_POWER = 0.8
DEFAULT_PRICE_RATIO = 10.0  # the price of a gold label, in bronze ones
CURVE_POINTS = 9  # points of a curve, from a quarter of the cost to four times as much


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
    goal = _build_goal(half_width, difference, power, budget, level)
    if difference is None and (difference_sd is not None or unshared is not None):
        raise UsageError(
            "needs-difference",
            "how far differences vary and which documents are unshared is about a difference of two runs",
            parameter="unshared" if difference_sd is None else "difference_sd",
            suggestions=[Suggestion("asks for a difference to be found", difference=0.05)],
        )
    overrides = {
        "score": score,
        "prevalence": prevalence,
        "sd": sd,
        "difference_sd": difference_sd,
        "unshared": unshared,
        "accuracy": accuracy,
        "gold_sd": gold_sd,
    }
    observed = _observe_inputs(runs, judgments, gold, measure, bronze_rel, k, paired=difference is not None)
    quantities = _merge_quantities(
        observed, {name: value for name, value in overrides.items() if value is not None}, measure, k
    )
    assumptions = assume(quantities, difference=difference, population=population)
    if population == "these" and queries is None:
        if observed is None:
            raise UsageError(
                "needs-queries",
                "a plan for these queries and no others needs their number",
                parameter="queries",
                suggestions=[Suggestion("gives it", queries=...)],
            )
        queries = observed.queries
    if queries is not None and queries < 2:
        raise UsageError(
            "too-few-queries", f"a mean over queries needs 2 or more, found {queries}", parameter="queries"
        )
    prices, price_notes = _build_prices(cost_bronze, cost_gold, cost_query, assumptions)
    methods, gold_baseline = available_methods(assumptions)
    drafter = PlanDrafter(
        goal=goal,
        prices=prices,
        budget=budget,
        fixed_queries=queries,
        assumptions=assumptions,
        gold_baseline=gold_baseline,
    )
    plans = [drafter.draft_plan(method) for method in methods] + results.refused_plans(assumptions)
    cheapest = drafter.choose_plan(plans)
    safest = drafter.choose_plan([candidate for candidate in plans if candidate.any_judge])
    curve_cost = budget if budget is not None or safest is None else safest.cost
    return Plans(
        plans=tuple(plans),
        goal=goal,
        budget=budget,
        cheapest=None if cheapest is None else cheapest.method,
        cheapest_any_judge=None if safest is None else safest.method,
        why=results.explain_choice(plans, cheapest, safest, goal, budget, fixed=queries is not None),
        taken=assumptions.taken,
        curve=tuple(drafter.build_curve(methods, curve_cost)),
        confusion=None if observed is None else observed.confusion,
        notes=(*(() if observed is None else observed.notes), *assumptions.notes, *price_notes),
    )


def _build_goal(
    half_width: float | None, difference: float | None, power: float | None, budget: float | None, level: float
) -> Goal:
    """What is asked for; one thing, and whether a budget goes with it."""
    if half_width is not None and difference is not None:
        raise UsageError(
            "two-goals",
            "a half-width is about one run and a difference about two: ask for one of them at a time",
            parameter="half_width",
        )
    if half_width is None and difference is None and budget is None:
        raise UsageError(
            "no-goal",
            "a plan needs to know what the labels are for",
            suggestions=[
                Suggestion("asks for an interval of this half-width", half_width=0.03),
                Suggestion("asks for a difference to be found", difference=0.05),
                Suggestion("asks for the best that a budget buys", budget=1000),
            ],
        )
    if power is not None and difference is None:
        raise UsageError(
            "needs-difference",
            "power is about a difference to be found",
            parameter="power",
            suggestions=[Suggestion("says which", difference=0.05)],
        )
    if budget is not None:
        if not 0 < budget < np.inf:
            raise UsageError("bad-budget", f"a budget must be more than 0, found {budget:g}", parameter="budget")
        if half_width is not None or power is not None:
            target, goal = ("half-width", "half_width") if half_width is not None else ("power", "power")
            without_goal: dict[str, Any] = {goal: None}
            raise UsageError(
                "budget-and-goal",
                f"a budget is spent for the best {target} that it buys",
                parameter=goal,
                suggestions=[Suggestion(**without_goal), Suggestion(budget=None)],
            )
    default_power = None if difference is None or budget is not None else DEFAULT_POWER
    return Goal(
        half_width=half_width, difference=difference, power=default_power if power is None else power, level=level
    )


def _observe_inputs(
    runs: object,
    judgments: object,
    gold: object,
    measure: str | Measure | None,
    bronze_rel: int | None,
    k: int,
    *,
    paired: bool,
) -> PilotObservations | None:
    """What the data say; None without data."""
    if runs is None:
        if judgments is not None or gold is not None:
            raise UsageError(
                "labels-without-run",
                "labels say nothing without a run: which documents are at its top?",
                parameter="runs",
            )
        return None
    if judgments is None:
        raise UsageError(
            "run-without-labels", "a run says nothing without the bronze judge's labels", parameter="judgments"
        )
    run_inputs = list(runs) if isinstance(runs, Sequence) and not isinstance(runs, str) else [runs]
    run_list = [Run.of(run, name=f"run{index}") for index, run in enumerate(run_inputs, start=1)]
    expected = 2 if paired else 1
    if len(run_list) != expected:
        requirement = "a difference is between two runs" if paired else "a half-width is planned for one run"
        hint = Suggestion("says what a draw for all of them gives", function="sample")
        raise UsageError(
            "wrong-number-of-runs",
            f"{requirement}, found {len(run_list)}",
            parameter="runs",
            suggestions=() if paired else [hint],
        )
    if paired and run_list[0].name == run_list[1].name:
        run_list[1] = run_list[1].called(f"{run_list[1].name} (2)")
    labels = None if gold is None else Judgments.of(gold)
    return observe_pilot(
        run_list, Judgments.of(judgments), gold=labels, measure=measure or f"P@{k}", bronze_rel=bronze_rel
    )


def _merge_quantities(
    observed: PilotObservations | None, overrides: dict[str, object], measure: str | Measure | None, k: int
) -> KnownQuantities:
    """What was given, and for the rest what was seen."""
    if observed is not None:
        if "accuracy" in overrides and observed.confusion is not None:
            raise UsageError(
                "accuracy-given-twice",
                "the accuracy is measured on the gold labels here: give one of the two",
                parameter="accuracy",
            )
        sources: dict[str, Source] = dict(observed.quantities.sources)
        sources |= dict.fromkeys(overrides, "given")
        return replace(observed.quantities, **overrides, sources=sources)  # type: ignore[arg-type]
    k = k if measure is None else require_precision_depth(measure)
    return KnownQuantities(k=k, **overrides)  # type: ignore[arg-type]


def _build_prices(
    bronze: float | None, gold: float | None, query: float, assumptions: Assumptions
) -> tuple[Prices, list[Note]]:
    """The prices, and a note where they were not given."""
    notes = []
    if bronze is not None:
        require_price("a bronze label", bronze, parameter="cost_bronze")
    if gold is not None:
        require_price("a gold label", gold, parameter="cost_gold")
    if bronze is None or gold is None:
        notes.append(
            Note(
                "price-guessed",
                f"a gold label is taken to cost {DEFAULT_PRICE_RATIO:g} bronze ones",
                parameter="cost_gold",
                suggestions=[Suggestion(cost_bronze=...), Suggestion("gives another price", cost_gold=...)],
            )
        )
    if bronze is None:
        bronze = 1.0 if gold is None else gold / DEFAULT_PRICE_RATIO
    if gold is None:
        gold = bronze * DEFAULT_PRICE_RATIO
    return Prices(bronze=bronze, gold=gold, query=query, documents=assumptions.documents), notes


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanDrafter:
    """What every plan of one question shares: the goal, the prices, the budget, and how many queries there are."""

    goal: Goal
    prices: Prices
    budget: float | None
    fixed_queries: int | None
    assumptions: Assumptions
    gold_baseline: RandomGold

    def draft_plan(self, method: Method) -> Plan:
        """The numbers for this method, and what is to be said about them."""
        if self.budget is not None:
            sample_size = find_best(method, self.goal, self.prices, self.budget, queries=self._query_range(method))
            if sample_size is None:
                return self._refuse(method, results.explain_small_budget(method, self.prices, self.fixed_queries))
            return self._build_plan(method, sample_size)
        sample_size = find_cheapest(method, self.goal, self.prices, queries=self._query_range(method))
        return self._best_effort(method) if sample_size is None else self._build_plan(method, sample_size)

    def choose_plan(self, plans: Sequence[Plan]) -> Plan | None:
        """The cheapest that reaches the goal; with a budget, the one that achieves most."""
        feasible = [plan for plan in plans if plan.reached and plan.cost is not None]
        if self.budget is None:
            return min(feasible, key=lambda plan: plan.cost or 0.0, default=None)
        return min(feasible, key=lambda plan: float(self.goal.loss(np.array(plan.achieved))), default=None)

    def build_curve(self, methods: Sequence[Method], centre: float | None) -> list[BudgetPoint]:
        """What each method achieves for sums around this one."""
        if centre is None:
            return []
        points = []
        for method in methods:
            for budget in np.geomspace(centre / 4, centre * 4, CURVE_POINTS).tolist():
                sample_size = find_best(method, self.goal, self.prices, budget, queries=self._query_range(method))
                if sample_size is not None:
                    points.append(BudgetPoint(method=method.name, budget=budget, **asdict(sample_size)))
        return points

    def _query_range(self, method: Method) -> tuple[int, int]:
        """How many queries a method may use: of a fixed number, gold by itself may leave some out."""
        if self.fixed_queries is None:
            return MIN_QUERIES, MAX_QUERIES
        if method.bronze or self.assumptions.population == "these":
            return self.fixed_queries, self.fixed_queries
        return min(MIN_QUERIES, self.fixed_queries), self.fixed_queries

    def _build_plan(self, method: Method, sample_size: SampleSize) -> Plan:
        """A plan of these numbers."""
        queries, gold = sample_size.queries, sample_size.gold
        return Plan(
            method=method.name,
            queries=queries,
            bronze=round(queries * self.assumptions.documents) if method.bronze else 0,
            gold=gold,
            cost=sample_size.cost,
            half_width=sample_size.achieved if self.goal.difference is None else None,
            power=None if self.goal.difference is None else sample_size.achieved,
            worth=relative_efficiency(method, self.gold_baseline, queries, gold) if method.bronze else None,
            any_judge=method.any_judge,
            notes=tuple(results.plan_notes(method, sample_size, self.assumptions)),
        )

    def _best_effort(self, method: Method) -> Plan:
        """As many gold labels as there are, where the queries are too few to reach the goal."""
        if self.fixed_queries is None:
            note = Note(
                "goal-out-of-reach", f"it would take more than {MAX_QUERIES:,} queries, or nearly endless gold labels"
            )
            return self._refuse(method, note)
        n = np.array(float(self.fixed_queries))
        gold = float(method.max_gold(n))
        achieved = float(self.goal.achieved(method.variance(n, np.array(gold)), n, normal=method.normal))
        note = results.explain_too_few_queries(method, self.fixed_queries, achieved, self.goal)
        if gold > self.fixed_queries * self.assumptions.documents:  # no number of gold labels is enough
            return self._refuse(method, note)
        cost = self.fixed_queries * self.prices.per_query(bronze=method.bronze) + gold * self.prices.gold
        sample_size = SampleSize(queries=self.fixed_queries, gold=int(gold), cost=cost, achieved=achieved)
        return replace(self._build_plan(method, sample_size), reached=False, worth=None, notes=(note,))

    def _refuse(self, method: Method, reason: Note) -> Plan:
        return Plan(method=method.name, reached=False, any_judge=method.any_judge, notes=(reason,))
