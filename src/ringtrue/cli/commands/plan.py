"""`ringtrue plan`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.options.runs import RunInputs
from ringtrue.cli.output import OutputFormat, emit, spelled
from ringtrue.cli.spelling import CommandLine
from ringtrue.formatting.grid import Grid, exact_grid, format_number
from ringtrue.messages import Note, spell

if TYPE_CHECKING:
    from ringtrue.gold.planning import Plan, Plans

READING_OPTIONS = ("judge", "name", "run_columns", "forced", "columns", "where")  # of `RunInputs`
WIDTH = 100
BAR_WIDTH = 24  # characters
RATE_PATTERN = re.compile(r"\s*(?:(?P<hits>\d+)\s*/\s*(?P<n>\d+)|(?P<share>\d*\.?\d+))\s*")
QUANTITY_NAMES = {
    "relevant": "accuracy on relevant documents",
    "nonrelevant": "accuracy on other documents",
    "prevalence": "relevant by gold",
    "score": "relevant by bronze",
    "sd": "sd of the score over queries",
    "gold_sd": "the same by gold",
    "unshared": "unshared documents of a query",
    "difference_sd": "sd of the difference over queries",
}
SOURCE_NAMES = {"given": "given", "files": "the files", "guess": "a guess", "follows": "follows from the others"}


@click.command("plan", cls=common.Command)
@click.argument("runs", nargs=-1, metavar="[RUN [RUN]]")
@option("--half-width H", "Half of the interval of a mean P@k, such as 0.03.", type=float)
@option("--difference D", "A difference of two runs that is to be found.", type=float)
@option("--power P", "How often it is to be found; 0.8 if not said.", type=float)
@option("--budget COST", "What may be spent, to ask what it buys.", type=float)
@option("--queries N", "There are so many queries; only gold is to be found.", type=click.IntRange(2, 10**9))
@option("--score", "Mean score over queries by the bronze labels, from 0 to 1.", type=float)
@option("--sd", "Standard deviation of the score over queries.", type=float)
@option("--accuracy X/N,X/N", "How often bronze is right on relevant documents, on others: 43/59,67/84 or .85,.90.")
@option("--prevalence", "The share of the documents that gold calls relevant.", type=float)
@option("--difference-sd", "Standard deviation of the difference over queries.", type=float)
@option("--gold-sd", "The same as --sd or --difference-sd, by gold's labels.", type=float)
@option("--unshared", "How many documents of a query only one of the two runs has.", type=float)
@option("--cost-bronze COST", "Of a bronze label, in any unit.", type=float)
@option("--cost-gold COST", "Of a gold label; 10 bronze ones if not said.", type=float)
@option("--cost-query COST", "Of one more query.", type=float, default=0.0)
@option("-k, --k", "How many documents of each query count; 10 if not said.", type=click.IntRange(1, 10**6))
@common.population_option
@common.level_option
@option("--judgments, --qrels FILE", common.JUDGMENTS_HELP)
@option("--gold FILE", "With a run: some labels of the gold judge.")
@option("-m, --measure MEASURE", "With a run: P@10, 'P(rel=2)@10'; the usual P@k if not said.")
@common.rel_option
@common.bronze_rel_option
@common.judge_option
@common.name_option
@common.run_columns_option
@common.input_options
@common.output_options
def command(
    runs: tuple[str, ...],
    judgments: str | None,
    gold: str | None,
    measure: str | None,
    k: int | None,
    rel: int | None,
    bronze_rel: int | None,
    accuracy: str | None,
    level: float,
    form: OutputFormat,
    **options: Any,
) -> None:
    """How many queries and gold labels do I need?

    For an interval of some half-width, for a difference of two runs to be found, or for a budget: the numbers and the
    cost by each method, which is cheapest, and what other sums would buy. What is known of the judge and the queries
    can be given, or is taken from files: one run, or two for a difference, with the bronze judge's labels and some of
    gold's.
    """
    from ringtrue.gold.planning import plan

    reading = {name: options.pop(name) for name in READING_OPTIONS}
    options |= {"accuracy": None if accuracy is None else _parse_accuracy(accuracy), "level": level}
    options["measure"], options["k"] = _parse_measure(measure, k, rel)
    notes: list[Note] = []
    if not runs:
        file_options = {"judgments": judgments, "gold": gold, "bronze_rel": bronze_rel, "rel": rel}
        common.refuse_set(file_options, "says nothing without a run: plan RUN --judgments FILE …")
        plans = plan(**options)
    else:
        if judgments is None:
            raise OptionError(
                "needs-parameter",
                "a run says nothing without the bronze judge's labels: --judgments FILE",
                parameter="judgments",
            )
        common.require_one_stdin([*runs, judgments, gold])
        run_inputs = RunInputs(runs=runs, judgments=judgments, rel=rel, level=level, notes=notes, **reading)
        bronze, run_lists = run_inputs.read_labels(), list(run_inputs.read_runs())
        gold_labels = None if gold is None else replace(run_inputs, judge=None).read_labels(gold)
        for labels, path in ((bronze, judgments), (gold_labels, gold)):
            if labels is not None:
                run_inputs.explain_errors(labels.require_one_label_each, path)
        plans = plan(run_lists, bronze, gold=gold_labels, bronze_rel=bronze_rel, **options)
    notes += plans.notes
    grids = partial(_plan_grids, plans, bars=form == "table")
    emit(
        form,
        notes=notes,
        payload=plans.as_dict(),
        grid=grids,
        csv_grid=lambda: exact_grid(plans.frame.columns, plans.frame.iter_rows()),
    )


def _parse_accuracy(text: str) -> tuple[float, float]:
    """Two rates, as shares or as hits of cases; one that was never seen to err is not taken for perfect."""
    matches = [RATE_PATTERN.fullmatch(word) for word in text.split(",")]
    if len(matches) != 2 or not all(matches):
        raise OptionError(
            "bad-value",
            "--accuracy expects how often the bronze judge is right on relevant documents and on others, as "
            f"43/59,67/84 or .85,.90; found '{text}'",
            parameter="accuracy",
        )
    rates = []
    for rate_match in (match for match in matches if match):
        if rate_match["share"]:
            rates.append(float(rate_match["share"]))
            continue
        hits, n = int(rate_match["hits"]), int(rate_match["n"])
        if hits > n or not n:
            raise OptionError(
                "bad-value", f"--accuracy expects hits of cases, such as 43/59; found {hits}/{n}", parameter="accuracy"
            )
        rates.append((hits + 0.5) / (n + 1) if hits in (0, n) else hits / n)
    return rates[0], rates[1]


def _parse_measure(measure: str | None, k: int | None, rel: int | None) -> tuple[Any, int]:
    """The measure, with `--rel` where it does not say it itself, and how many documents it looks at."""
    from ringtrue.evaluation.measures import parse

    if measure is None:
        k = 10 if k is None else k
        return parse(f"P@{k}").with_default("rel", rel or 1), k
    parsed = parse(measure)
    if k is not None and parsed.cutoff != k:
        raise OptionError(
            "conflicting-parameters", f"-m {measure} and --k {k} do not agree: leave out one of the two", parameter="k"
        )
    return parsed.with_default("rel", rel or 1), int(parsed.cutoff) if isinstance(parsed.cutoff, int) else 10


def _plan_grids(plans: Plans, *, bars: bool) -> list[Grid]:
    return [
        _method_grid(plans),
        _assumption_grid(plans),
        *([_budget_curve_grid(plans, bars=bars)] if plans.curve else []),
    ]


def _method_grid(plans: Plans) -> Grid:
    goal_name = "half-width" if plans.goal.difference is None else "power"
    rows = [
        [
            plan.method,
            _mark_best(plan, plans),
            *("–" if count is None else f"{count:,}" for count in (plan.queries, plan.bronze, plan.gold)),
            _cost_cell(plan.cost),
            format_number(plan.achieved, 4),
            format_number(plan.worth, 2),
        ]
        for plan in plans
    ]
    lines = [
        f"{goal_name}: what these numbers achieve, at level {plans.goal.level:g}",
        "worth: how many gold labels by themselves, on as many queries, do the work of one here",
        "",
    ]
    lines += [_wrap_note(f"{plan.method}: {'; '.join(map(spelled, plan.notes))}") for plan in plans if plan.notes]
    return Grid(
        columns=["method", "", "queries", "bronze", "gold", "cost", goal_name, "worth"],
        rows=rows,
        caption="\n".join([*lines, "", fill(spell(plans.why, CommandLine.here()), WIDTH, break_on_hyphens=False)]),
        left=2,
    )


def _mark_best(plan: Plan, plans: Plans) -> str:
    if not plan.reached:
        return "not reached"
    best = "best" if plans.budget is not None else "cheapest"
    if plan.method == plans.cheapest:
        return best
    return f"{best} for any judge" if plan.method == plans.cheapest_any_judge else ""


def _wrap_note(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _cost_cell(cost: float | None) -> str:
    return "–" if cost is None else f"{cost:,.0f}" if cost >= 1000 else f"{cost:.4g}"


def _assumption_grid(plans: Plans) -> Grid:
    rows = [
        [QUANTITY_NAMES[name], SOURCE_NAMES[assumption.source], f"{assumption.value:.4g}"]
        for name, assumption in plans.taken.items()
    ]
    return Grid(columns=["taken", "from", "value"], rows=rows, left=2)


def _budget_curve_grid(plans: Plans, *, bars: bool) -> Grid:
    """What each method achieves for other sums, and bars for the one that is best."""
    methods = list(dict.fromkeys(point.method for point in plans.curve))
    achieved_at = {(point.method, point.budget): point.achieved for point in plans.curve}
    bar_method = plans.cheapest_any_judge or methods[0]
    full_bar = max((achieved for (method, _), achieved in achieved_at.items() if method == bar_method), default=1.0)
    full_bar = max(full_bar, 1.0) if plans.goal.difference is not None else full_bar
    rows = []
    for budget in sorted({point.budget for point in plans.curve}):
        row = [_cost_cell(budget), *(format_number(achieved_at.get((method, budget)), 4) for method in methods)]
        achieved = achieved_at.get((bar_method, budget), 0.0)
        rows.append([*row, ("█" * round(BAR_WIDTH * achieved / full_bar)).ljust(BAR_WIDTH)] if bars else row)
    goal_name = "half-width" if plans.goal.difference is None else "power"
    bar_text = f"; the bars are for {bar_method}" if bars else ""
    return Grid(
        columns=["cost", *methods, *([""] if bars else [])],
        rows=rows,
        caption=f"{goal_name} that so much buys{bar_text}",
        left=0,
    )
