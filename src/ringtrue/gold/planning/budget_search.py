"""The cheapest numbers of queries and gold labels that reach a goal, and the best that a budget buys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.gold.planning.goals import Array, Goal
from ringtrue.gold.planning.methods import Method
from ringtrue.messages import Suggestion

MIN_QUERIES = 10  # below, a mean over queries has no interval worth having
MAX_QUERIES = 10**9
GRID_POINTS = 300  # numbers of queries that are tried at once
KEPT_POINTS = 10  # on either side of the best: whole numbers of labels make the valley uneven, most where it is narrow


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What a bronze label, a gold label and one more query cost, in any unit.

    Examples:
        >>> Prices(bronze=0.1, gold=2.0, documents=10).per_query(bronze=True)
        1.0
    """

    bronze: float
    gold: float
    query: float = 0.0
    documents: float

    def __post_init__(self) -> None:
        require_price("a bronze label", self.bronze, parameter="cost_bronze")
        require_price("a gold label", self.gold, parameter="cost_gold")
        if not 0 <= self.query < np.inf:
            raise UsageError("bad-price", f"a query must cost 0 or more, found {self.query:g}", parameter="cost_query")

    def per_query(self, *, bronze: bool) -> float:
        """What a query costs before gold has seen it."""
        return self.query + (self.bronze * self.documents if bronze else 0.0)


def require_price(what: str, price: float, *, parameter: str) -> None:
    """Refuse a price that is none."""
    if not 0 < price < np.inf:
        hints = [Suggestion("fixes the number of queries that are labelled and paid for", queries=...)]
        raise UsageError(
            "bad-price",
            f"{what} must cost more than 0, found {price:g}; costs can be in any unit",
            parameter=parameter,
            suggestions=hints if price == 0 else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleSize:
    """How many queries and gold labels, what they cost, and the half-width or power that they achieve."""

    queries: int
    gold: int
    cost: float
    achieved: float


def find_cheapest(
    method: Method, goal: Goal, prices: Prices, *, queries: tuple[int, int] = (MIN_QUERIES, MAX_QUERIES)
) -> SampleSize | None:
    """The cheapest whole numbers that reach the goal, with queries in this range; None where none do.

    For V = A/n + B/m the best are n = √A(√A + √(B c_m/c_n))/V and m = √B(√B + √(A c_n/c_m))/V, at prices c_n of a query
    and c_m of a label. Limits, whole numbers and Student's t move them, so they are looked for.
    """

    def evaluate_queries(n: Array) -> tuple[Array, Array]:
        gold = _min_gold_labels(method, n, goal.max_variance(n, normal=method.normal))
        return gold, n * prices.per_query(bronze=method.bronze) + gold * prices.gold

    n, gold, cost = _minimise_over_queries(evaluate_queries, queries)
    return None if np.isinf(cost) else _sample_size(method, goal, prices, n, gold)


def find_best(
    method: Method, goal: Goal, prices: Prices, budget: float, *, queries: tuple[int, int] = (MIN_QUERIES, MAX_QUERIES)
) -> SampleSize | None:
    """The numbers that make the interval shortest, or the power largest, for this much; None if it buys too little."""

    def evaluate_queries(n: Array) -> tuple[Array, Array]:
        affordable = np.floor((budget - n * prices.per_query(bronze=method.bronze)) / prices.gold + 1e-9)
        gold = np.minimum(affordable, method.max_gold(n))
        enough = (gold >= method.min_gold(n)) & (affordable >= 0)
        gold = np.where(enough, gold, method.min_gold(n))
        achieved = goal.achieved(method.variance(n, gold), n, normal=method.normal)
        return gold, np.where(enough, goal.loss(achieved), np.inf)

    n, gold, loss = _minimise_over_queries(evaluate_queries, queries)
    return None if np.isinf(loss) else _sample_size(method, goal, prices, n, gold)


def _sample_size(method: Method, goal: Goal, prices: Prices, queries: float, gold: float) -> SampleSize:
    variance = method.variance(np.array(queries), np.array(gold))
    achieved = float(goal.achieved(variance, queries, normal=method.normal))
    cost = queries * prices.per_query(bronze=method.bronze) + gold * prices.gold
    return SampleSize(queries=int(queries), gold=int(gold), cost=float(cost), achieved=achieved)


def _minimise_over_queries(
    evaluate_queries: Callable[[Array], tuple[Array, Array]], queries: tuple[int, int]
) -> tuple[float, float, float]:
    """The number of queries where a curve with one uneven valley is lowest, looked at more and more closely."""
    low, high = queries
    while True:
        n = np.unique(np.rint(np.geomspace(low, high, GRID_POINTS)))
        gold, losses = evaluate_queries(n)
        best = int(np.argmin(losses))
        if len(n) >= high - low + 1 or np.isinf(losses[best]):
            return float(n[best]), float(gold[best]), float(losses[best])
        low, high = int(n[max(best - KEPT_POINTS, 0)]), int(n[min(best + KEPT_POINTS, len(n) - 1)])


def _min_gold_labels(method: Method, queries: Array, allowed: Array) -> Array:
    """The fewest gold labels with which the variance is no larger than allowed; infinite where none are enough."""
    low, high = method.min_gold(queries), method.max_gold(queries)
    # What is too much by rounding alone is not too much.
    allowed = allowed * (1 + 1e-12)
    enough = method.variance(queries, high) <= allowed
    while np.any(low < high):
        midpoint = np.floor((low + high) / 2)
        sufficient = method.variance(queries, midpoint) <= allowed
        low, high = np.where(sufficient, low, np.minimum(midpoint + 1, high)), np.where(sufficient, midpoint, high)
    return np.where(enough, low, np.inf)
