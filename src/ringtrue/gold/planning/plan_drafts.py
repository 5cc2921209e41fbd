"""A plan for each method: its numbers, what is to be said about them, and what other sums would buy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ringtrue.gold.planning import explanations
from ringtrue.gold.planning.assumptions import Assumptions
from ringtrue.gold.planning.budget_search import FEWEST_QUERIES, MOST_QUERIES, Numbers, Prices, best_for, cheapest_for
from ringtrue.gold.planning.goals import Goal
from ringtrue.gold.planning.methods import Method, RandomGold, worth
from ringtrue.gold.planning.results import Plan, Point

__all__ = ["Desk"]

STEPS = 9  # points of a curve, from a quarter of the cost to four times as much


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What every plan of one question shares: the goal, the prices, the budget, and how many queries there are."""

    goal: Goal
    prices: Prices
    budget: float | None
    fixed: int | None
    known: Assumptions
    alone: RandomGold

    def planned(self, way: Method) -> Plan:
        """The numbers for this method, and what is to be said about them."""
        if self.budget is not None:
            found = best_for(way, self.goal, self.prices, self.budget, queries=self._queries(way))
            return self._impossible(way, explanations.too_little(way, self.prices, self.fixed)) if found is None else (
                self._told(way, found)
            )  # fmt: skip
        found = cheapest_for(way, self.goal, self.prices, queries=self._queries(way))
        return self._best_effort(way) if found is None else self._told(way, found)

    def chosen(self, plans: Sequence[Plan]) -> Plan | None:
        """The cheapest that reaches the goal; with a budget, the one that achieves most."""
        able = [one for one in plans if one.reached and one.cost is not None]
        if self.budget is None:
            return min(able, key=lambda one: one.cost or 0.0, default=None)
        return min(able, key=lambda one: float(self.goal.loss(np.array(one.achieved))), default=None)

    def curve(self, ways: Sequence[Method], middle: float | None) -> list[Point]:
        """What each method achieves for sums around this one."""
        if middle is None:
            return []
        points = []
        for way in ways:
            for budget in np.geomspace(middle / 4, middle * 4, STEPS).tolist():
                found = best_for(way, self.goal, self.prices, budget, queries=self._queries(way))
                if found is not None:
                    points.append(Point(method=way.name, budget=budget, cost=found.cost, queries=found.queries,
                                        gold=found.gold, achieved=found.achieved))  # fmt: skip
        return points

    def _queries(self, way: Method) -> tuple[int, int]:
        """How many queries a method may use: of a fixed number, gold by itself may leave some out."""
        if self.fixed is None:
            return FEWEST_QUERIES, MOST_QUERIES
        if way.bronze or self.known.population == "these":
            return self.fixed, self.fixed
        return min(FEWEST_QUERIES, self.fixed), self.fixed

    def _told(self, way: Method, found: Numbers) -> Plan:
        """A plan of these numbers."""
        one = Plan(
            method=way.name,
            queries=found.queries,
            bronze=round(found.queries * self.known.documents) if way.bronze else 0,
            gold=found.gold,
            cost=found.cost,
            worth=worth(way, self.alone, found.queries, found.gold) if way.bronze else None,
            any_judge=way.any_judge,
            notes=tuple(explanations.remarks(way, found, self.known)),
        )
        if self.goal.difference is None:
            return replace(one, half_width=found.achieved)
        return replace(one, power=found.achieved)

    def _best_effort(self, way: Method) -> Plan:
        """As many gold labels as there are, where the queries are too few to reach the goal."""
        if self.fixed is None:
            return self._impossible(
                way, f"it would take more than {MOST_QUERIES:,} queries, or as good as no end of gold"
            )
        n = np.array(float(self.fixed))
        gold = float(way.most(n))
        achieved = float(self.goal.achieved(way.variance(n, np.array(gold)), n, normal=way.normal))
        note = explanations.too_few(way, self.fixed, achieved, self.goal)
        if gold > self.fixed * self.known.documents:  # no number of gold labels is enough
            return self._impossible(way, note)
        cost = self.fixed * self.prices.each(bronze=way.bronze) + gold * self.prices.gold
        numbers = Numbers(queries=self.fixed, gold=int(gold), cost=cost, achieved=achieved)
        return replace(self._told(way, numbers), reached=False, worth=None, notes=(note,))

    def _impossible(self, way: Method, reason: str) -> Plan:
        return Plan(method=way.name, reached=False, any_judge=way.any_judge, notes=(reason,))
