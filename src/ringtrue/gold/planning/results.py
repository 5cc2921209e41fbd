"""What comes out of planning: a plan for each method, the cheapest, and what more or less money would buy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from ringtrue.errors import UsageError
from ringtrue.gold.planning.assumptions import AssumedNumber
from ringtrue.gold.planning.goals import Goal

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.stats.confusion import Confusion


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One method: how many queries, bronze and gold labels it takes, what they cost, and what they achieve.

    `half_width` or `power` is what these whole numbers achieve; the other is None. `reached` is whether that is what
    was asked for. `worth` is how many gold labels by themselves, on as many queries, would do the work of one here.
    `any_judge` is whether the method holds whatever errors the bronze judge makes. Numbers are None where the method
    cannot be planned; a note then says why.

    Examples:
        >>> print(Plan(method="difference", queries=200, bronze=2000, gold=150, cost=3500.0, half_width=0.0499,
        ...            worth=1.5))
        difference: 200 queries, 150 gold labels, cost 3,500, half-width 0.0499
    """

    method: str
    queries: int | None = None
    bronze: int | None = None
    gold: int | None = None
    cost: float | None = None
    half_width: float | None = None
    power: float | None = None
    reached: bool = True
    worth: float | None = None
    any_judge: bool = True
    notes: tuple[str, ...] = ()

    @property
    def achieved(self) -> float | None:
        """The half-width or the power, whichever was asked for."""
        return self.half_width if self.power is None else self.power

    def __str__(self) -> str:
        if self.queries is None or self.cost is None:
            return f"{self.method}: {'; '.join(self.notes)}"
        achieved = f"power {self.power:.3f}" if self.power is not None else f"half-width {self.half_width:.4f}"
        return f"{self.method}: {self.queries:,} queries, {self.gold:,} gold labels, cost {self.cost:,.6g}, {achieved}"

    def as_dict(self, measure: str) -> dict[str, object]:
        """The plan as plain data, with `half_width` or `power` as asked, in the key order of the JSON."""
        plain = {name: getattr(self, name) for name in ("method", "queries", "gold", "cost")}
        plain |= {measure: getattr(self, measure)}
        plain |= {name: getattr(self, name) for name in ("bronze", "reached", "worth", "any_judge")}
        return plain | {"notes": list(self.notes)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPoint:
    """A point of a method's curve: what it achieves when this much may be spent, and what of it is."""

    method: str
    budget: float
    cost: float
    queries: int
    gold: int
    achieved: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans:
    """What `plan` gives: a `Plan` for each method, and in words which is cheapest and why.

    `cheapest` is the method that costs least, `cheapest_any_judge` that among those which hold for any judge; in a plan
    for a budget, those that achieve most. `taken` is every number that the plans rest on and where it came from,
    `curve` what each method achieves for a quarter to four times the cost of the latter, `confusion` how the bronze
    judge did on the gold labels of the files.

    Examples:
        >>> import ringtrue as rt
        >>> plans = rt.plan(half_width=0.05, score=0.4, sd=0.3, accuracy=(0.85, 0.9), cost_bronze=1, cost_gold=50)
        >>> plans.cheapest, plans["gold"].queries
        ('stratified', 141)
    """

    plans: tuple[Plan, ...]
    goal: Goal
    budget: float | None = None
    cheapest: str | None
    cheapest_any_judge: str | None
    why: str
    taken: Mapping[str, AssumedNumber]
    curve: tuple[BudgetPoint, ...] = ()
    confusion: Confusion | None = None
    notes: tuple[str, ...] = field(default=())

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, method: str) -> Plan:
        plan_of = {plan.method: plan for plan in self.plans}
        if method not in plan_of:
            raise UsageError(f"no plan by '{method}' here; there is {', '.join(plan_of)}")
        return plan_of[method]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.plans), self.why])

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each method."""
        import polars as pl

        rows = [plan.as_dict(self.goal.target) for plan in self]
        return pl.DataFrame([row | {"notes": "; ".join(plan.notes)} for row, plan in zip(rows, self, strict=True)])

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        target = self.goal.target
        goal_settings = {name: value for name, value in asdict(self.goal).items() if value is not None}
        return {
            "plans": [plan.as_dict(target) for plan in self],
            "cheapest": self.cheapest,
            "cheapest_any_judge": self.cheapest_any_judge,
            "why": self.why,
            "asked": goal_settings | ({} if self.budget is None else {"budget": self.budget}),
            "taken": {name: asdict(assumed) for name, assumed in self.taken.items()},
            "curve": [
                {target if name == "achieved" else name: value for name, value in asdict(point).items()}
                for point in self.curve
            ],
            "judge": None if self.confusion is None else self.confusion.as_dict(),
            "notes": list(self.notes),
        }
