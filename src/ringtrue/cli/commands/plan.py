"""`ringtrue plan`."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Any

import click

from ringtrue.cli.options.common import Command, input_options, output_options
from ringtrue.cli.options.runs import Question
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.errors import UsageError

if TYPE_CHECKING:
    from ringtrue.gold.planning import Plan, Plans, Population

__all__ = ["command"]

WIDTH = 100
BAR = 24  # characters
RATE = re.compile(r"\s*(?:(?P<hits>\d+)\s*/\s*(?P<n>\d+)|(?P<share>\d*\.?\d+))\s*")
WORDS = {
    "relevant": "accuracy on relevant documents", "nonrelevant": "accuracy on other documents",
    "prevalence": "relevant by gold", "score": "relevant by bronze", "sd": "sd of the score over queries",
    "gold_sd": "the same by gold", "unshared": "unshared documents of a query",
    "difference_sd": "sd of the difference over queries",
}  # fmt: skip
SOURCES = {"given": "given", "files": "the files", "guess": "a guess", "follows": "follows from the others"}


@click.command("plan", cls=Command)
@click.argument("runs", nargs=-1, metavar="[RUN [RUN]]")
@click.option("--half-width", type=float, metavar="H", help="Half of the interval of a mean P@k, such as 0.03.")
@click.option("--difference", type=float, metavar="D", help="A difference of two runs that is to be found.")
@click.option("--power", type=float, metavar="P", help="How often it is to be found; 0.8 if not said.")
@click.option("--budget", type=float, metavar="COST", help="What may be spent, to ask what it buys.")
@click.option("--queries", type=click.IntRange(2, 10**9), metavar="N",
              help="There are so many queries; only gold is to be found.")  # fmt: skip
@click.option("--score", type=float, help="The mean P@k by the bronze labels.")
@click.option("--sd", type=float, help="The standard deviation of P@k over queries.")
@click.option("--accuracy", metavar="X/N,X/N",
              help="How often bronze is right on relevant documents, on others: 43/59,67/84 or .85,.90.")  # fmt: skip
@click.option("--prevalence", type=float, help="The share of the documents that gold calls relevant.")
@click.option("--difference-sd", type=float, help="The standard deviation of the difference over queries.")
@click.option("--gold-sd", type=float, help="The same as --sd or --difference-sd, by gold's labels.")
@click.option("--unshared", type=float, help="How many documents of a query only one of the two runs has.")
@click.option("--cost-bronze", type=float, metavar="COST", help="Of a bronze label, in any unit.")
@click.option("--cost-gold", type=float, metavar="COST", help="Of a gold label; 10 bronze ones if not said.")
@click.option("--cost-query", type=float, metavar="COST", default=0.0, show_default=True, help="Of one more query.")
@click.option(
    "-k", "--k", type=click.IntRange(1, 10**6), help="How many documents of each query count; 10 if not said."
)
@click.option("--population", type=click.Choice(["like-these", "these"]), default="like-these", show_default=True,
              help="Is the answer about all queries that there could be, or about these and no others?")  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="How often such intervals hold.")
@click.option("--judgments", "--qrels", metavar="FILE", help="With a run: the bronze judge's labels.")
@click.option("--gold", metavar="FILE", help="With a run: some labels of the gold judge.")
@click.option("-m", "--measure", metavar="MEASURE", help="With a run: P@10, 'P(rel=2)@10'; the usual P@k if not said.")
@click.option("--rel", type=click.IntRange(1, 2**31 - 1), help="The lowest gold label that is relevant; 1 if not said.")
@click.option("--bronze-rel", type=click.IntRange(1, 2**31 - 1),
              help="The lowest bronze label that is relevant; that of --rel if not said.")  # fmt: skip
@click.option("--judge", metavar="NAME", help="Use this judge's labels in the bronze file only.")
@click.option("--name", type=click.Choice(["file", "tag"]), default="file", show_default=True,
              help="Call a run by its file, or by the tag inside.")  # fmt: skip
@click.option("--run-columns", multiple=True, metavar="NAME=COLUMN", help="As --columns, for runs that are tables.")
@click.option("--as", "forced", multiple=True, metavar="FORMAT", help="Force a format; see docs/reference/formats.md.")
@input_options
@output_options
def command(
    runs: tuple[str, ...],
    measure: str | None,
    k: int | None,
    accuracy: str | None,
    population: Population,
    level: float,
    judgments: str | None,
    gold: str | None,
    rel: int | None,
    bronze_rel: int | None,
    judge: str | None,
    name: Any,
    run_columns: tuple[str, ...],
    forced: tuple[str, ...],
    columns: tuple[str, ...],
    where: tuple[str, ...],
    form: OutputFormat,
    **asked: Any,
) -> None:
    """How many queries and gold labels do I need?

    For an interval of some half-width, for a difference of two runs to be found, or for a budget: the numbers and the
    cost by each method, which is cheapest, and what other sums would buy. What is known of the judge and the queries
    can be given, or is taken from files: one run, or two for a difference, with the bronze judge's labels and some of
    gold's.
    """
    from ringtrue.gold.planning import plan

    asked |= {"accuracy": None if accuracy is None else _accuracy(accuracy), "population": population, "level": level}
    asked["measure"], asked["k"] = _measure(measure, k, rel)
    notes: list[str] = []
    if not runs:
        _require_no_files(judgments=judgments, gold=gold, bronze_rel=bronze_rel, rel=rel)
        found = plan(**asked)
    else:
        if judgments is None:
            raise UsageError("a run says nothing without the bronze judge's labels: --judgments FILE")
        if [*runs, judgments, gold].count("-") > 1:
            raise UsageError("standard input (-) can be read only once; put one of the two into a file")
        question = Question(
            runs=runs, judgments=judgments, rel=rel, missing="zero", judge=judge, judges="one", repeats=None,
            compat=None, depth=None, collection_size=None, level=level, name=name, run_columns=run_columns,
            forced=forced, columns=columns, where=where, notes=notes,
        )  # fmt: skip
        bronze, lists = question.labels(), list(question.each_run())
        trusted = None if gold is None else replace(question, judge=None).labels(gold)
        for labels, path in ((bronze, judgments), (trusted, gold)):
            if labels is not None:
                question.explained(labels.require_one_label_each, path)
        found = plan(lists, bronze, gold=trusted, bronze_rel=bronze_rel, **asked)
    notes += found.notes
    tell(notes)
    grids = partial(_grids, found, bars=form == "table")
    emit(form, data=found.as_dict() | {"notes": notes}, grid=grids, flat=partial(_flat, found))


def _accuracy(said: str) -> tuple[float, float]:
    """Two rates, as shares or as hits of cases; one that was never seen to err is not taken for perfect."""
    found = [RATE.fullmatch(word) for word in said.split(",")]
    if len(found) != 2 or not all(found):
        raise UsageError(
            "--accuracy expects how often the bronze judge is right on relevant documents and on others, as "
            f"43/59,67/84 or .85,.90; found '{said}'"
        )
    rates = []
    for one in (match for match in found if match):
        if one["share"]:
            rates.append(float(one["share"]))
            continue
        hits, n = int(one["hits"]), int(one["n"])
        if hits > n or not n:
            raise UsageError(f"--accuracy expects hits of cases, such as 43/59; found {hits}/{n}")
        rates.append((hits + 0.5) / (n + 1) if hits in (0, n) else hits / n)
    return rates[0], rates[1]


def _measure(measure: str | None, k: int | None, rel: int | None) -> tuple[Any, int]:
    """The measure, with `--rel` where it does not say it itself, and how many documents it looks at."""
    from ringtrue.evaluation.measures import parse

    if measure is None:
        k = 10 if k is None else k
        return parse(f"P@{k}").with_default("rel", rel or 1), k
    one = parse(measure)
    if k is not None and one.cutoff != k:
        raise UsageError(f"-m {measure} and --k {k} do not agree: leave out one of the two")
    return one.with_default("rel", rel or 1), int(one.cutoff) if isinstance(one.cutoff, int) else 10


def _require_no_files(**given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise UsageError(f"--{name.replace('_', '-')} says nothing without a run: plan RUN --judgments FILE …")


def _grids(found: Plans, *, bars: bool) -> list[Grid]:
    return [_methods(found), _taken(found), *([_curve(found, bars=bars)] if found.curve else [])]


def _methods(found: Plans) -> Grid:
    aim = "half-width" if found.goal.difference is None else "power"
    rows = [
        [one.method, _mark(one, found), _whole(one.queries), _whole(one.bronze), _whole(one.gold), _cost(one.cost),
         _achieved(one.achieved), "–" if one.worth is None else f"{one.worth:.2f}"]
        for one in found
    ]  # fmt: skip
    lines = [
        f"{aim}: what these numbers achieve, at level {found.goal.level:g}",
        "worth: how many gold labels by themselves, on as many queries, do the work of one here",
        "",
    ]
    lines += [_folded(f"{one.method}: {'; '.join(one.notes)}") for one in found if one.notes]
    return Grid(
        columns=["method", "", "queries", "bronze", "gold", "cost", aim, "worth"],
        rows=rows,
        caption="\n".join([*lines, "", fill(found.why, WIDTH, break_on_hyphens=False)]),
        left=2,
    )


def _mark(one: Plan, found: Plans) -> str:
    if not one.reached:
        return "not reached"
    best = "best" if found.budget is not None else "cheapest"
    if one.method == found.cheapest:
        return best
    return f"{best} for any judge" if one.method == found.cheapest_any_judge else ""


def _folded(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ", break_on_hyphens=False)


def _whole(value: int | None) -> str:
    return "–" if value is None else f"{value:,}"


def _cost(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _achieved(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _taken(found: Plans) -> Grid:
    rows = [[WORDS[name], f"{one.value:.4g}", SOURCES[one.source]] for name, one in found.taken.items()]
    order = [[words, source, value] for words, value, source in rows]
    return Grid(columns=["taken", "from", "value"], rows=order, left=2)


def _curve(found: Plans, *, bars: bool) -> Grid:
    """What each method achieves for other sums, and bars for the one that is best."""
    names = list(dict.fromkeys(point.method for point in found.curve))
    at = {(point.method, point.budget): point.achieved for point in found.curve}
    shown = found.cheapest_any_judge or names[0]
    longest = max((value for (name, _), value in at.items() if name == shown), default=1.0)
    longest = max(longest, 1.0) if found.goal.difference is not None else longest
    rows = []
    for budget in sorted({point.budget for point in found.curve}):
        row = [_cost(budget), *(_achieved(at.get((name, budget))) for name in names)]
        value = at.get((shown, budget), 0.0)
        rows.append([*row, "█" * round(BAR * value / longest)] if bars else row)
    aim = "half-width" if found.goal.difference is None else "power"
    bar = f"; the bars are for {shown}" if bars else ""
    rows = [[row[-1].ljust(BAR) if place == len(row) - 1 and bars else cell for place, cell in enumerate(row)]
            for row in rows]  # fmt: skip
    return Grid(
        columns=["cost", *names, *([""] if bars else [])],
        rows=rows,
        caption=f"{aim} that so much buys{bar}",
        left=0,
    )


def _flat(found: Plans) -> Grid:
    frame = found.frame
    rows = [["" if cell is None else str(cell) for cell in row] for row in frame.iter_rows()]
    return Grid(columns=frame.columns, rows=rows)
