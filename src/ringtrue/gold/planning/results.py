"""What comes out of planning: a plan for each method, the cheapest, what other sums would buy, and why, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ringtrue.errors import UsageError
from ringtrue.gold.planning.assumptions import AssumedNumber, Assumptions
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
from ringtrue.messages import Note, Suggestion, notes_as_dict
from ringtrue.stats.results import plain_fields, to_plain

if TYPE_CHECKING:
    import polars as pl

    from ringtrue.stats.confusion import Confusion

SMALL_SAMPLE = 20  # queries
NEARLY_ALL = 0.95


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
    notes: tuple[Note, ...] = ()

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
        names = ("method", "queries", "gold", "cost", measure, "bronze", "reached", "worth", "any_judge")
        return plain_fields(self, *names) | notes_as_dict(self.notes)


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
    why: Note
    taken: Mapping[str, AssumedNumber]
    curve: tuple[BudgetPoint, ...] = ()
    confusion: Confusion | None = None
    notes: tuple[Note, ...] = field(default=())

    def __iter__(self) -> Iterator[Plan]:
        return iter(self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    def __getitem__(self, method: str) -> Plan:
        plan_of = {plan.method: plan for plan in self.plans}
        if method not in plan_of:
            raise UsageError(
                "unknown-plan", f"no plan by '{method}' here; there is {', '.join(plan_of)}", parameter="method"
            )
        return plan_of[method]

    def __str__(self) -> str:
        return "\n".join([*map(str, self.plans), self.why])

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each method."""
        import polars as pl

        rows = [plan.as_dict(self.goal.target) for plan in self]
        for row, plan in zip(rows, self, strict=True):
            row["notes"] = "; ".join(plan.notes)
            del row["note_codes"]
        return pl.DataFrame(rows)

    def as_dict(self) -> dict[str, object]:
        """The answer as plain data, in the key order of the command line's JSON."""
        target = self.goal.target
        goal_settings = {name: value for name, value in asdict(self.goal).items() if value is not None}
        return {
            "plans": [plan.as_dict(target) for plan in self],
            **plain_fields(self, "cheapest", "cheapest_any_judge", "why"),
            "asked": goal_settings | ({} if self.budget is None else {"budget": self.budget}),
            **plain_fields(self, "taken"),
            "curve": [
                {target if name == "achieved" else name: value for name, value in asdict(point).items()}
                for point in self.curve
            ],
            "judge": to_plain(self.confusion),
            **notes_as_dict(self.notes),
        }


def plan_notes(method: Method, sample_size: SampleSize, assumptions: Assumptions) -> list[Note]:
    """What is worth knowing about a plan."""
    n, gold = np.array(float(sample_size.queries)), np.array(float(sample_size.gold))
    notes = []
    if isinstance(method, SpreadGold):
        per_query = sample_size.gold / sample_size.queries
        single_label = "one document of each query" + (", two of a few" if per_query > 1 else "")
        average = f"{per_query:.3g} documents of each query on average"
        notes.append(Note("gold-per-query", single_label if per_query < 1.05 else average))
    if isinstance(method, StratifiedDifference):
        first, second = (round(float(labels)) for labels in method.allocate(n, gold))
        notes.append(Note("gold-by-bronze", f"{first:,} of what bronze calls relevant, {second:,} of the rest"))
    if isinstance(method, RateInversion):
        first, second = (round(float(labels)) for labels in method.allocate(gold))
        notes.append(
            Note(
                "gold-by-relevance",
                f"{first:,} relevant and {second:,} other documents by gold; holds only if the judge errs on the top "
                f"{assumptions.k} as on these",
            )
        )
        documents = round(sample_size.queries * assumptions.documents)
        if sample_size.gold > sample_size.queries * assumptions.documents:
            notes.append(Note("gold-could-judge-all", f"gold could judge all {documents:,} documents instead"))
    if isinstance(method, SharedJudge):
        points = 200 * assumptions.youden * assumptions.shift / assumptions.prevalence
        notes.append(
            Note(
                "equal-errors-on-both-runs",
                f"holds only if the judge errs alike on both runs: one who is right on {points:.2g} points more of the "
                f"relevant documents of one run than of the other's makes such a difference out of nothing",
            )
        )
    available = int(method.max_gold(n))
    nearly_all = method.bronze and method.any_judge and sample_size.gold >= NEARLY_ALL * available
    if nearly_all:
        notes.append(
            Note(
                "bronze-adds-little",
                f"gold judges {sample_size.gold:,} of {available:,} documents: the bronze labels add next to nothing",
            )
        )
    if method.bronze and sample_size.gold == MIN_GOLD_LABELS and not nearly_all:
        notes.append(Note("fewest-gold", f"{MIN_GOLD_LABELS} gold labels are the fewest that an interval can rest on"))
    if sample_size.queries < SMALL_SAMPLE:
        fewest = f": {MIN_QUERIES} are the fewest that are planned" if sample_size.queries == MIN_QUERIES else ""
        consequence = fewest or ": trust the interval with care"
        notes.append(Note("few-queries", f"{sample_size.queries} queries are few{consequence}"))
    return notes


def explain_too_few_queries(method: Method, queries: int, achieved: float, goal: Goal) -> Note:
    """Why a fixed number of queries is not enough."""
    outcome = f"a half-width of {achieved:.3g}" if goal.difference is None else f"a power of {achieved:.2g}"
    condition = "with gold on every document"
    if isinstance(method, RateInversion):
        condition = "with the judge's accuracy known exactly"
    limit = "they give" if isinstance(method, SharedJudge) else f"even {condition} they give"
    return Note("too-few-queries", f"{queries:,} queries are too few: {limit} {outcome}")


def explain_small_budget(method: Method, prices: Prices, fixed_queries: int | None) -> Note:
    """Why a budget is not enough."""
    n = np.array(float(fixed_queries or MIN_QUERIES))
    if fixed_queries is not None and not method.bronze:
        n = np.minimum(n, MIN_QUERIES)
    fewest = float(method.min_gold(n))
    lowest_cost = float(n) * prices.per_query(bronze=method.bronze) + fewest * prices.gold
    return Note(
        "budget-too-small",
        f"the budget is too small: {n:g} queries and {fewest:g} gold labels, the fewest, cost {lowest_cost:,.6g}",
        parameter="budget",
    )


def refused_plans(assumptions: Assumptions) -> list[Plan]:
    """The methods that rest on the judge's rates, where the judge is no better than chance."""
    if assumptions.youden > 0:
        return []
    reason = Note(
        "judge-at-chance",
        f"the judge is no better than chance (right on {assumptions.relevant:.3g} of the relevant documents and on "
        f"{assumptions.nonrelevant:.3g} of the others, which adds up to no more than 1): the rates cannot be inverted",
    )
    name = SharedJudge.name if assumptions.paired else RateInversion.name
    return [Plan(method=name, reached=False, any_judge=False, notes=(reason,))]


def explain_choice(
    plans: Sequence[Plan], cheapest: Plan | None, safest: Plan | None, goal: Goal, budget: float | None, *, fixed: bool
) -> Note:
    """Which is cheapest, or achieves most, and what a gold label is worth there."""
    if cheapest is None and budget is not None:
        return Note("budget-too-small", "The budget is too small for any method.", parameter="budget")
    if cheapest is None and fixed:
        hint = Suggestion("says how many it takes", queries=None)
        text = "No method reaches it with so few queries"
        return Note("too-few-queries", text, parameter="queries", suggestions=[hint])
    if cheapest is None:
        return Note("goal-out-of-reach", "No method reaches it: ask for less.")
    sentences = [_describe_best(cheapest, plans, goal, budget)]
    if safest is not None and safest is not cheapest:
        sentences.append(
            f"It rests on the judge's errors being alike; of those that hold for any judge, "
            f"{_describe_best(safest, plans, goal, budget, first=False)}"
        )
    return Note("cheapest-method", " ".join(sentences))


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
        text += f" Gold by itself costs {gold_sample.cost:,.6g}, {gold_sample.cost / best.cost:.3g} times as much."
    if best.worth is not None:
        text += f" A gold label does the work of {best.worth:.2g} gold labels by themselves on as many queries."
    return text
