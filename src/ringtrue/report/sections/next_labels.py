"""What should be judged next? What the runs show without a label, and what more gold labels would bring."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import polars as pl

from ringtrue.errors import InputError
from ringtrue.evaluation.pooling import pool
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.report.inputs import Material
from ringtrue.report.model import Figure, Line, Lines, Point, Section
from ringtrue.report.sections.number_phrases import percent
from ringtrue.report.sections.width_forecast import Forecast, forecast

__all__ = ["FIGURES", "NEEDS", "TITLE", "Lacking", "lacking_labels", "section"]

TITLE = "What to judge next"
NEEDS = "runs and judgments"
FIGURES = {"next": "How much shorter would more gold labels make the interval?"}
DEEP = 10  # documents of each query, for measures that look at the whole list
ENOUGH = 20  # whole queries: from there on intervals keep what they say
LITTLE = 0.1  # of the half-width: less is not worth a label


@dataclass(frozen=True, slots=True, kw_only=True)
class Lacking:
    """Documents at the top of the runs that nobody judged: how many in all, and the judged share for each run."""

    depth: int
    documents: int
    unjudged: int
    judged: dict[str, float]


def lacking_labels(material: Material) -> Lacking:
    """What the runs show for the judged queries, as deep as the measure looks, against what has a label."""
    assert material.judgments is not None
    depth = material.measures[0].reach or DEEP
    labels = material.judgments.frame.filter(pl.col("label") >= 0).select("query", "doc").unique()
    asked = labels.select("query").unique()

    def split(shown: pl.DataFrame) -> tuple[int, int]:
        here = shown.join(asked, on="query", how="semi")
        return here.height, here.join(labels, on=["query", "doc"], how="anti").height

    documents, unjudged = split(pool(material.runs, depth=depth))
    tops = {run.name: split(run.ranked(depth)) for run in material.runs}
    return Lacking(depth=depth, documents=documents, unjudged=unjudged,
                   judged={run: 1 - lacks / found for run, (found, lacks) in tops.items() if found})  # fmt: skip


def section(material: Material) -> Section | None:
    """Unjudged documents first, then the interval that further gold labels give, and the commands for both."""
    if material.scores is None:
        return None
    lacking = lacking_labels(material)
    try:
        ahead = forecast(material)
    except InputError as error:
        if not lacking.unjudged:
            raise
        return Section(name="next", title=TITLE, answer=_lacking_answer(lacking), notes=(str(error),),
                       tables=(_lacking_table(lacking), _commands_table(_pooling(material, lacking))))  # fmt: skip
    tables = (_lacking_table(lacking),) if lacking.unjudged else ()
    commands = [*_pooling(material, lacking), *_sampling(material, ahead)]
    return Section(
        name="next", title=TITLE, answer=_answer(lacking, ahead), figures=_figures(material, ahead),
        tables=(*tables, _commands_table(commands)) if commands else tables,
    )  # fmt: skip


def _answer(lacking: Lacking, ahead: Forecast) -> str:
    return f"{_lacking_answer(lacking)} {_gain(ahead)}"


def _lacking_answer(lacking: Lacking) -> str:
    if not lacking.unjudged:
        return f"Every document in the top {lacking.depth} of the runs has a label."
    has = "has" if lacking.unjudged == 1 else "have"
    return f"{counted(lacking.unjudged, 'document')} in the top {lacking.depth} of the runs {has} no label yet."


def _gain(ahead: Forecast) -> str:
    if not ahead.further:
        return f"Gold has judged all that it could: only more queries make the interval of {ahead.run} shorter."
    what, width = _amount(ahead), ahead.half_widths[_chosen(ahead)]
    if ahead.now is None:
        return (
            f"{what} would give {ahead.run} an interval of about ±{_about(width)}, if queries differ by gold as they "
            f"do by the labels that there are, and show how far these can be trusted."
        )
    if _hardly(ahead):
        return (
            f"More gold labels would hardly help: the interval of {ahead.run} is ±{ahead.now:.3f}, and were everything "
            f"judged by gold, about ±{_about(ahead.limit)}."
        )
    between = f" (roughly {_range(ahead.low[_chosen(ahead)], ahead.high[_chosen(ahead)])})" if ahead.low else ""
    return f"{what} would shorten the interval of {ahead.run} from ±{ahead.now:.3f} to about ±{_about(width)}{between}."


def _chosen(ahead: Forecast) -> int:
    """The first amount that brings half of what any amount could; of whole queries, as many as a correction needs."""
    last = len(ahead.further) - 1
    if ahead.alone:
        return next((place for place, count in enumerate(ahead.further) if count >= ENOUGH), last)
    enough = ((ahead.now if ahead.now is not None else ahead.half_widths[0]) + ahead.limit) / 2
    return next((place for place, width in enumerate(ahead.half_widths) if width <= enough), last)


def _hardly(ahead: Forecast) -> bool:
    """Whether more gold labels would change next to nothing, even if all goes well."""
    lowest = ahead.limit if ahead.limits is None else ahead.limits[0]
    return ahead.now is not None and ahead.now - lowest < LITTLE * ahead.now


def _amount(ahead: Forecast) -> str:
    """How much gold should judge."""
    count, more = ahead.further[_chosen(ahead)], "more " if ahead.labels else ""
    if ahead.unit == "document":
        return f"{count:,} {more}gold labels"
    return f"Gold labels for {count:,} {more}whole {'query' if count == 1 else 'queries'}"


def _figures(material: Material, ahead: Forecast) -> tuple[Figure, ...]:
    if not ahead.further:
        return ()
    began = () if ahead.now is None else (0,)
    x = tuple(float(one) for one in (*began, *ahead.further))
    y = (*(() if ahead.now is None else (ahead.now,)), *ahead.half_widths)
    units = "documents" if ahead.unit == "document" else "whole queries"
    name = "gold alone" if ahead.alone else "with such labels"
    band = {} if not ahead.low else {"low": (y[0], *ahead.low), "high": (y[0], *ahead.high)}
    limit = () if ahead.low else (Line(name="all judged by gold", x=(x[0], x[-1]), y=(ahead.limit, ahead.limit)),)
    chart = Lines(
        lines=(Line(name=name, x=x, y=y, **band), *limit),
        across=f"{'further ' if ahead.labels else ''}{units} that gold judges", up=f"half-width for {ahead.run}",
        y_range=(0.0, max(y) * 1.05), mark=None if ahead.now is None else Point(name="now", x=0.0, y=ahead.now),
    )  # fmt: skip
    figure = Figure(
        name="next", title=FIGURES["next"], sentence=_sentence(material, ahead), charts=(chart,), notes=_notes(ahead),
        table=_table(material, ahead),
    )  # fmt: skip
    return (figure,)


def _table(material: Material, ahead: Forecast) -> Grid:
    """A row for each amount; with a range, where there is gold that leaves one open."""
    units = "documents" if ahead.unit == "document" else "whole queries"
    amounts = [f"{count:,}" for count in ahead.further]
    widths, ranges = list(ahead.half_widths), list(zip(ahead.low, ahead.high, strict=True))
    if widths[-1] > ahead.limit:
        amounts.append("all")
        widths.append(ahead.limit)
        ranges += [] if ahead.limits is None else [ahead.limits]
    rows = [[amount, f"±{_about(width)}"] for amount, width in zip(amounts, widths, strict=True)]
    if ranges:
        rows = [[*row, _range(*ends)] for row, ends in zip(rows, ranges, strict=True)]
    if ahead.now is not None:
        rows.insert(0, ["0", f"±{ahead.now:.4f}", *(["–"] if ranges else [])])
    caption = f"half of the {material.level:.0%} interval of {material.measure} for {ahead.run}, forecast"
    return Grid(
        columns=[f"{'further ' if ahead.labels else ''}{units}", "half-width", *(["range"] if ranges else [])],
        rows=rows, left=0, caption=f"{caption}; range: what the gold so far leaves open" if ranges else caption,
    )  # fmt: skip


def _sentence(material: Material, ahead: Forecast) -> str:
    have = counted(ahead.labels, "gold label" if ahead.unit == "document" else "whole query")
    if ahead.now is not None:
        start = f"{ahead.run} has {material.measure} within ±{ahead.now:.3f} by {have}."
    elif material.gold is None:
        start = f"No gold label corrects {material.measure} yet."
    else:
        start = "The gold labels that there are cannot be added to, so this is about a new draw from the runs."
    count = 0 if len(ahead.further) == 1 else -1
    amounts = " and ".join(f"±{_about(ahead.half_widths[place])} with {ahead.further[place]:,}"
                           for place in dict.fromkeys((0, count)))  # fmt: skip
    more = "further " if ahead.labels else ""
    units = "documents" if ahead.unit == "document" else "whole queries"
    band = " The band is what the gold so far leaves open." if ahead.low else ""
    return (
        f"{start} The line is half of the interval to expect: about {amounts} {more}{units} judged by gold.{band} "
        f"{_limit_told(ahead)}"
    )


def _limit_told(ahead: Forecast) -> str:
    """What is left when gold has judged all."""
    if ahead.limits is None and ahead.limit == 0:
        return "Were everything judged by gold, nothing about these queries would be in doubt."
    left = f"about ±{_about(ahead.limit)}" if ahead.limits is None else _range(*ahead.limits)
    return (
        f"Were everything judged by gold, {left} would be left: so far do the queries themselves differ, and only more "
        f"queries can change that."
    )


def _range(low: float, high: float) -> str:
    """From low to high, as far as these can be told."""
    return f"±{_about(low)} to ±{_about(high)}" if low > 0 else f"up to ±{_about(high)}"


def _about(width: float) -> str:
    """Two digits that count: a forecast knows no more."""
    return "0" if width <= 0 else f"{width:.{max(0, 1 - floor(log10(width)))}f}"


def _notes(ahead: Forecast) -> tuple[str, ...]:
    notes = [f"a forecast: it rests on {ahead.rests_on}"]
    if ahead.low:
        notes.append("a range is rough: in simulations about nine of ten held what came")
    if ahead.alone:
        notes.append(
            "this is gold by itself: the better the labels that there are go along with it, the more they shorten the "
            "interval"
        )
    if ahead.now is None:
        notes.append("if the labels that there are come from the judge whom you trust most, no gold is needed")
    return tuple(notes)


def _lacking_told(lacking: Lacking) -> str:
    worst = min(lacking.judged, key=lambda run: lacking.judged[run])
    return (
        f"Of the {lacking.documents:,} documents in the top {lacking.depth} of any run, {lacking.unjudged:,} "
        f"{'has no label and counts' if lacking.unjudged == 1 else 'have no label and count'} as not relevant; {worst} "
        f"shows most of them ({percent(1 - lacking.judged[worst])} of its own)"
    )


def _lacking_table(lacking: Lacking) -> tuple[str, Grid]:
    ordered = sorted((item for item in lacking.judged.items() if item[1] < 1), key=lambda item: item[1])
    return _lacking_told(lacking), Grid(
        columns=["run", f"judged in the top {lacking.depth}"], rows=[[run, f"{share:.1%}"] for run, share in ordered],
        caption="runs that are not here have a label for each" if len(ordered) < len(lacking.judged) else "",
    )  # fmt: skip


def _pooling(material: Material, lacking: Lacking) -> list[tuple[str, str]]:
    """What to do about documents without a label, and the command that does it."""
    if not lacking.unjudged:
        return []
    runs = material.names.get("runs", "RUN…")
    return [(f"list what the runs show down to rank {lacking.depth}, and label what has no label",
             f"ringtrue pool {runs} --depth {lacking.depth} -o pool.csv")]  # fmt: skip


def _sampling(material: Material, ahead: Forecast) -> list[tuple[str, str]]:
    """The same about gold labels, where more of them help."""
    if not ahead.further or _hardly(ahead):
        return []
    runs, judgments, gold = (material.names.get(name, usual) for name, usual in
                             (("runs", "RUN…"), ("judgments", "JUDGMENTS"), ("gold", "GOLD")))  # fmt: skip
    count, further = ahead.further[_chosen(ahead)], "further " if ahead.continues else ""
    option, units = ("--budget", "document") if ahead.unit == "document" else ("--queries", "whole query")
    already = f" --already {gold}" if ahead.continues else ""
    drawn = f"{option} {count} --for '{material.measure}'{already} -o next.csv"
    return [(f"draw {counted(count, further + units)} for gold to judge",
             f"ringtrue sample {runs} --judgments {judgments} {drawn}")]  # fmt: skip


def _commands_table(commands: list[tuple[str, str]]) -> tuple[str, Grid]:
    return "To paste into a terminal", Grid(columns=["to", "command"], rows=[list(row) for row in commands], left=2)
