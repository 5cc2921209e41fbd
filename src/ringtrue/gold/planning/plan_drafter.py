"""A plan for each method: its numbers, what is to be said about them, and what other sums would buy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringtrue.gold.planning import explanations
from ringtrue.gold.planning.assumptions import Assumptions
from ringtrue.gold.planning.budget_search import MAX_QUERIES, MIN_QUERIES, Prices, SampleSize, find_best, find_cheapest
from ringtrue.gold.planning.goals import Goal
from ringtrue.gold.planning.methods import Method, RandomGold, relative_efficiency
from ringtrue.gold.planning.results import BudgetPoint, Plan

CURVE_POINTS = 9  # points of a curve, from a quarter of the cost to four times as much


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
            return (
                self._refuse(method, explanations.explain_small_budget(method, self.prices, self.fixed_queries))
                if sample_size is None
                else (self._build_plan(method, sample_size))
            )
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
                    points.append(
                        BudgetPoint(
                            method=method.name,
                            budget=budget,
                            cost=sample_size.cost,
                            queries=sample_size.queries,
                            gold=sample_size.gold,
                            achieved=sample_size.achieved,
                        )
                    )
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
        plan = Plan(
            method=method.name,
            queries=sample_size.queries,
            bronze=round(sample_size.queries * self.assumptions.documents) if method.bronze else 0,
            gold=sample_size.gold,
            cost=sample_size.cost,
            worth=relative_efficiency(method, self.gold_baseline, sample_size.queries, sample_size.gold)
            if method.bronze
            else None,
            any_judge=method.any_judge,
            notes=tuple(explanations.plan_notes(method, sample_size, self.assumptions)),
        )
        if self.goal.difference is None:
            return replace(plan, half_width=sample_size.achieved)
        return replace(plan, power=sample_size.achieved)

    def _best_effort(self, method: Method) -> Plan:
        """As many gold labels as there are, where the queries are too few to reach the goal."""
        if self.fixed_queries is None:
            return self._refuse(
                method, f"it would take more than {MAX_QUERIES:,} queries, or as good as no end of gold"
            )
        n = np.array(float(self.fixed_queries))
        gold = float(method.max_gold(n))
        achieved = float(self.goal.achieved(method.variance(n, np.array(gold)), n, normal=method.normal))
        note = explanations.explain_too_few_queries(method, self.fixed_queries, achieved, self.goal)
        if gold > self.fixed_queries * self.assumptions.documents:  # no number of gold labels is enough
            return self._refuse(method, note)
        cost = self.fixed_queries * self.prices.per_query(bronze=method.bronze) + gold * self.prices.gold
        sample_size = SampleSize(queries=self.fixed_queries, gold=int(gold), cost=cost, achieved=achieved)
        return replace(self._build_plan(method, sample_size), reached=False, worth=None, notes=(note,))

    def _refuse(self, method: Method, reason: str) -> Plan:
        return Plan(method=method.name, reached=False, any_judge=method.any_judge, notes=(reason,))
