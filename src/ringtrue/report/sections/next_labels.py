"""What should be judged next? What the runs show without a label, and what more gold labels would bring."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, log10

import polars as pl

from ringtrue.errors import InputError
from ringtrue.evaluation.inputs import pool
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Argument, Call, Note
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Line, Lines, Point, Section, SectionOutline
from ringtrue.report.sections.number_phrases import format_percent
from ringtrue.report.sections.width_forecast import Forecast, forecast_half_widths

OUTLINE = SectionOutline(
    name="next",
    title="What to judge next",
    needs="runs and judgments",
    figures={"next": "How much shorter would more gold labels make the interval?"},
)
MIN_WHOLE_QUERIES = 20  # whole queries: from there on intervals keep what they say
MIN_GAIN = 0.1  # of the half-width: less is not worth a label


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingLabels:
    """Documents at the top of the runs that nobody judged: how many in all, and the judged share for each run."""

    depth: int
    documents: int
    unjudged: int
    judged: dict[str, float]


def find_missing_labels(inputs: ReportInputs) -> MissingLabels:
    """What the runs show for the judged queries, as deep as the measure looks, against what has a label."""
    assert inputs.judgments is not None
    labels = inputs.judgments.frame.filter(pl.col("label") >= 0).select("query", "doc").unique()
    judged_queries = labels.select("query").unique()

    def split(shown: pl.DataFrame) -> tuple[int, int]:
        of_judged_queries = shown.join(judged_queries, on="query", how="semi")
        return of_judged_queries.height, of_judged_queries.join(labels, on=["query", "doc"], how="anti").height

    documents, unjudged = split(pool(inputs.runs, depth=inputs.depth))
    tops = {run.name: split(run.ranked(inputs.depth)) for run in inputs.runs}
    return MissingLabels(
        depth=inputs.depth,
        documents=documents,
        unjudged=unjudged,
        judged={run: 1 - missing / total for run, (total, missing) in tops.items() if total},
    )


def section(inputs: ReportInputs) -> Section | None:
    """Unjudged documents first, then the interval that further gold labels give, and the calls for both."""
    if inputs.scores is None:
        return None
    lacking = find_missing_labels(inputs)
    try:
        forecast = forecast_half_widths(inputs)
    except InputError as error:
        if not lacking.unjudged:
            raise
        return OUTLINE.section(
            _summarise_missing(lacking),
            tables=(_missing_table(lacking),),
            calls=_pool_calls(inputs, lacking),
            notes=(error.note,),
        )
    return OUTLINE.section(
        f"{_summarise_missing(lacking)} {_summarise_gain(forecast)}",
        *_forecast_figures(inputs, forecast),
        tables=(_missing_table(lacking),) if lacking.unjudged else (),
        calls=[*_pool_calls(inputs, lacking), *_sample_calls(inputs, forecast)],
    )


def _summarise_missing(lacking: MissingLabels) -> str:
    if not lacking.unjudged:
        return f"Every document in the top {lacking.depth} of the runs has a label."
    verb = "has" if lacking.unjudged == 1 else "have"
    return f"{format_count(lacking.unjudged, 'document')} in the top {lacking.depth} of the runs {verb} no label yet."


def _summarise_gain(forecast: Forecast) -> str:
    if not forecast.further:
        return f"Gold has judged all that it could: only more queries make the interval of {forecast.run} shorter."
    index = _recommended_index(forecast)
    amount, width = _amount_phrase(forecast, forecast.further[index]), _format_width(forecast.half_widths[index])
    if forecast.now is None:
        return (
            f"{amount} would give {forecast.run} an interval of about ±{width}, if queries differ by gold as they do "
            "by the labels that there are, and show how far these can be trusted."
        )
    if _is_hardly_worth_it(forecast):
        return (
            f"More gold labels would hardly help: the interval of {forecast.run} is ±{forecast.now:.3f}, and were "
            f"everything judged by gold, about ±{_format_width(forecast.limit)}."
        )
    between = f" (roughly {_format_range(forecast.low[index], forecast.high[index])})" if forecast.low else ""
    return f"{amount} would shorten the interval of {forecast.run} from ±{forecast.now:.3f} to about ±{width}{between}."


def _recommended_index(forecast: Forecast) -> int:
    """The first amount that brings half of what any amount could; of whole queries, as many as a correction needs."""
    last = len(forecast.further) - 1
    if forecast.gold_only:
        return next((index for index, count in enumerate(forecast.further) if count >= MIN_WHOLE_QUERIES), last)
    target = ((forecast.now if forecast.now is not None else forecast.half_widths[0]) + forecast.limit) / 2
    return next((index for index, width in enumerate(forecast.half_widths) if width <= target), last)


def _is_hardly_worth_it(forecast: Forecast) -> bool:
    """Whether more gold labels would change next to nothing, even if all goes well."""
    lowest = forecast.limit if forecast.limits is None else forecast.limits[0]
    return forecast.now is not None and forecast.now - lowest < MIN_GAIN * forecast.now


def _amount_phrase(forecast: Forecast, count: int) -> str:
    """How much gold should judge."""
    more = "more " if forecast.labels else ""
    if forecast.unit == "document":
        return f"{count:,} {more}gold labels"
    return f"Gold labels for {count:,} {more}whole {'query' if count == 1 else 'queries'}"


def _further_units(forecast: Forecast) -> str:
    units = "documents" if forecast.unit == "document" else "whole queries"
    return f"further {units}" if forecast.labels else units


def _forecast_figures(inputs: ReportInputs, forecast: Forecast) -> tuple[Figure, ...]:
    if not forecast.further:
        return ()
    x, y = tuple(map(float, forecast.further)), forecast.half_widths
    if forecast.now is not None:
        x, y = (0.0, *x), (forecast.now, *y)
    name = "gold alone" if forecast.gold_only else "with such labels"
    if forecast.low:
        lines = [Line(name=name, x=x, y=y, low=(y[0], *forecast.low), high=(y[0], *forecast.high))]
    else:
        limit = Line(name="all judged by gold", x=(x[0], x[-1]), y=(forecast.limit, forecast.limit))
        lines = [Line(name=name, x=x, y=y), limit]
    chart = Lines(
        lines=tuple(lines),
        across=f"{_further_units(forecast)} that gold judges",
        up=f"half-width for {forecast.run}",
        y_range=(0.0, max(y) * 1.05),
        mark=None if forecast.now is None else Point(name="now", x=0.0, y=forecast.now),
    )
    figure = OUTLINE.figure(
        "next",
        _describe_forecast(inputs, forecast),
        _forecast_table(inputs, forecast),
        chart,
        notes=_forecast_notes(forecast),
    )
    return (figure,)


def _forecast_table(inputs: ReportInputs, forecast: Forecast) -> Grid:
    """A row for each amount; with a range, where there is gold that leaves one open."""
    amounts = [f"{count:,}" for count in forecast.further]
    widths, ranges = list(forecast.half_widths), list(zip(forecast.low, forecast.high, strict=True))
    if widths[-1] > forecast.limit:
        amounts.append("all")
        widths.append(forecast.limit)
        ranges += [] if forecast.limits is None else [forecast.limits]
    rows = [[amount, f"±{_format_width(width)}"] for amount, width in zip(amounts, widths, strict=True)]
    columns = [_further_units(forecast), "half-width"]
    caption = f"half of the {inputs.level:.0%} interval of {inputs.measure} for {forecast.run}, forecast"
    if ranges:
        rows = [[*row, _format_range(*ends)] for row, ends in zip(rows, ranges, strict=True)]
        columns, caption = [*columns, "range"], f"{caption}; range: what the gold so far leaves open"
    if forecast.now is not None:
        rows.insert(0, ["0", f"±{forecast.now:.4f}", "–"][: len(columns)])
    return Grid(columns=columns, rows=rows, left=0, caption=caption)


def _describe_forecast(inputs: ReportInputs, forecast: Forecast) -> str:
    so_far = format_count(forecast.labels, "gold label" if forecast.unit == "document" else "whole query")
    if forecast.now is not None:
        start = f"{forecast.run} has {inputs.measure} within ±{forecast.now:.3f} by {so_far}."
    elif inputs.gold is None:
        start = f"No gold label corrects {inputs.measure} yet."
    else:
        start = "The gold labels that there are cannot be added to, so this is about a new draw from the runs."
    steps = list(zip(forecast.half_widths, forecast.further, strict=True))
    amounts = " and ".join(
        f"±{_format_width(width)} with {count:,}" for width, count in dict.fromkeys((steps[0], steps[-1]))
    )
    band = " The band is what the gold so far leaves open." if forecast.low else ""
    return (
        f"{start} The line is half of the interval to expect: about {amounts} {_further_units(forecast)} judged by "
        f"gold.{band} {_describe_limit(forecast)}"
    )


def _describe_limit(forecast: Forecast) -> str:
    """What is left when gold has judged all."""
    if forecast.limits is None and forecast.limit == 0:
        return "Were everything judged by gold, nothing about these queries would be in doubt."
    remaining = (
        f"about ±{_format_width(forecast.limit)}" if forecast.limits is None else _format_range(*forecast.limits)
    )
    return (
        f"Were everything judged by gold, {remaining} would be left: so far do the queries themselves differ, and only "
        "more queries can change that."
    )


def _format_range(low: float, high: float) -> str:
    """From low to high, as far as these can be told."""
    return f"±{_format_width(low)} to ±{_format_width(high)}" if low > 0 else f"up to ±{_format_width(high)}"


def _format_width(width: float) -> str:
    """Two digits that count: a forecast knows no more."""
    return "0" if width <= 0 else f"{width:.{max(0, 1 - floor(log10(width)))}f}"


def _forecast_notes(forecast: Forecast) -> list[Note]:
    notes = [Note("forecast", f"a forecast: it rests on {forecast.rests_on}")]
    if forecast.low:
        notes.append(Note("rough-range", "a range is rough: in simulations about nine of ten held what came"))
    if forecast.gold_only:
        text = (
            "this is gold by itself: the better the labels that there are go along with it, the more they shorten the "
            "interval"
        )
        notes.append(Note("gold-alone", text))
    if forecast.now is None:
        text = "if the labels that there are come from the judge you trust most, no gold is needed"
        notes.append(Note("gold-not-needed", text))
    return notes


def _describe_missing(lacking: MissingLabels) -> str:
    worst = min(lacking.judged, key=lambda run: lacking.judged[run])
    return (
        f"Of the {lacking.documents:,} documents in the top {lacking.depth} of any run, {lacking.unjudged:,} "
        f"{'has no label and counts' if lacking.unjudged == 1 else 'have no label and count'} as not relevant; {worst} "
        f"shows most of them ({format_percent(1 - lacking.judged[worst])} of its own)"
    )


def _missing_table(lacking: MissingLabels) -> tuple[str, Grid]:
    incomplete = {run: share for run, share in lacking.judged.items() if share < 1}
    return _describe_missing(lacking), Grid(
        columns=["run", f"judged in the top {lacking.depth}"],
        rows=[[run, f"{incomplete[run]:.1%}"] for run in sorted(incomplete, key=incomplete.__getitem__)],
        caption="runs that are not here have a label for each" if len(incomplete) < len(lacking.judged) else "",
    )


def _pool_calls(inputs: ReportInputs, lacking: MissingLabels) -> list[Call]:
    """What to do about documents without a label."""
    if not lacking.unjudged:
        return []
    purpose = f"lists what the runs show down to rank {lacking.depth}, to label what has no label"
    return [Call("pool", inputs.paths.get("runs", ()), {"depth": lacking.depth, "output": "pool.csv"}, purpose)]


def _sample_calls(inputs: ReportInputs, forecast: Forecast) -> list[Call]:
    """The same about gold labels, where more of them help."""
    if not forecast.further or _is_hardly_worth_it(forecast):
        return []
    count = forecast.further[_recommended_index(forecast)]
    size, unit = ("budget", "document") if forecast.unit == "document" else ("queries", "whole query")
    roles = {"judgments": "judgments", **({"already": "gold"} if forecast.continues else {})}
    arguments: dict[str, Argument] = {
        name: inputs.paths[role][0] for name, role in roles.items() if role in inputs.paths
    }
    arguments |= {size: count, "measures": inputs.measure, "output": "next.csv"}
    purpose = f"draws {format_count(count, ('further ' if forecast.continues else '') + unit)} for gold to judge"
    return [Call("sample", inputs.paths.get("runs", ()), arguments, purpose)]
