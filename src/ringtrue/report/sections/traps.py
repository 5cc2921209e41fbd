"""Who passes the traps, and how fast is each judge?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid
from ringtrue.report.display_limits import MAX_CHART_ROWS
from ringtrue.report.model import Chart, Figure, Forest, Point, Points, Series
from ringtrue.report.sections.number_phrases import format_percent, format_percent_estimate, join_names

if TYPE_CHECKING:
    from ringtrue.judges.quality import JudgeQuality, JudgeReport

QUESTION = "Who passes the traps, and how fast?"
TRAP_FLAGS = ("traps", "too fast", "guessing")  # flags that this figure is about
ACCEPTANCE_RATE = 0.4  # of the traps: the rule of two in five


def trap_figure(quality: JudgeQuality) -> Figure | None:
    """Pass rate against seconds for a label, or alone where nobody took the time; None without traps."""
    judges_with_traps = [report for report in quality if report.traps is not None and report.traps.n]
    if not judges_with_traps:
        return None
    timed = [report for report in judges_with_traps if report.speed is not None]
    chart: Chart = _rate_against_speed(timed) if timed else _rate_forest(judges_with_traps)
    notes = [f"the line across: a batch of work is accepted from {ACCEPTANCE_RATE:.0%} of its traps on"]
    if 0 < len(timed) < len(judges_with_traps):
        notes.append(
            f"{len(judges_with_traps) - len(timed)} of {len(judges_with_traps)} judges took an unknown time and "
            "are in the table alone"
        )
    if not timed:
        notes.append("the labels have no column `seconds` or `time`: how fast they came is not known")
        if len(judges_with_traps) > MAX_CHART_ROWS:
            notes.append(
                f"the chart has the {MAX_CHART_ROWS} of {len(judges_with_traps):,} judges who pass the fewest; "
                "the table all"
            )
    return Figure(
        name="traps",
        title=QUESTION,
        sentence=_describe_traps(judges_with_traps, timed),
        charts=(chart,),
        table=_trap_table(judges_with_traps),
        notes=tuple(notes),
    )


def _fewest_first(reports: Sequence[JudgeReport]) -> list[JudgeReport]:
    return sorted(reports, key=lambda report: (_pass_rate(report), -_trap_count(report), report.judge))


def _pass_rate(report: JudgeReport) -> float:
    assert report.traps is not None
    return report.traps.passed / report.traps.n


def _trap_count(report: JudgeReport) -> int:
    assert report.traps is not None
    return report.traps.n


def _is_flagged(report: JudgeReport) -> bool:
    return any(flag.kind in TRAP_FLAGS for flag in report.flags)


def _rate_against_speed(timed: Sequence[JudgeReport]) -> Points:
    points = []
    for report in timed:
        assert report.traps is not None
        assert report.speed is not None
        rate = report.traps.rate
        points.append(
            Point(
                name=report.judge,
                x=report.speed.median,
                y=_pass_rate(report),
                low=rate.low,
                high=rate.high,
                noted=_is_flagged(report),
            )
        )
    return Points(
        points=tuple(points),
        across="seconds for a label (median)",
        up="share of traps passed",
        y_range=(0.0, 1.0),
        at=ACCEPTANCE_RATE,
        at_name="accepted from here on",
    )


def _rate_forest(reports: Sequence[JudgeReport]) -> Forest:
    shown = _fewest_first(reports)[:MAX_CHART_ROWS]
    return Forest(
        names=tuple(report.judge for report in shown),
        across="share of traps passed",
        at=ACCEPTANCE_RATE,
        series=(
            Series(
                name="traps passed", values=tuple(report.traps.rate for report in shown if report.traps is not None)
            ),
        ),
        marks=tuple(", ".join(flag.kind for flag in report.flags) for report in shown),
        marks_title="flags",
    )


def _describe_traps(reports: Sequence[JudgeReport], timed: Sequence[JudgeReport]) -> str:
    """How many pass, who does not, and whether these are fast."""
    passed, n = (
        sum(report.traps.passed for report in reports if report.traps is not None),
        sum(map(_trap_count, reports)),
    )
    failing = [report for report in _fewest_first(reports) if _pass_rate(report) < ACCEPTANCE_RATE]
    flagged = [report for report in _fewest_first(reports) if _is_flagged(report)]
    words = [f"Of {n:,} traps that judges met, {format_percent(passed / n)} were passed."]
    if failing:
        names = join_names([f"{report.judge} ({format_percent(_pass_rate(report))})" for report in failing])
        words.append(f"Below the {ACCEPTANCE_RATE:.0%} that a batch needs: {names}.")
    else:
        words.append(f"Everybody passed at least the {ACCEPTANCE_RATE:.0%} that a batch needs.")
    if flagged:
        names = join_names([_judge_with_reasons(report) for report in flagged])
        words.append(f"Flagged beyond chance: {names}.")
    if timed:
        typical = sorted(report.speed.median for report in timed if report.speed is not None)[len(timed) // 2]
        words.append(f"A typical judge takes {typical:.3g} seconds for a label.")
    return " ".join(words)


def _judge_with_reasons(report: JudgeReport) -> str:
    seconds = "" if report.speed is None else f", {report.speed.median:.3g} s"
    return f"{report.judge} ({', '.join(flag.kind for flag in report.flags if flag.kind in TRAP_FLAGS)}{seconds})"


def _trap_table(reports: Sequence[JudgeReport]) -> Grid:
    rows = []
    for report in _fewest_first(reports):
        assert report.traps is not None
        seconds = "–" if report.speed is None else f"{report.speed.median:.3g}"
        flags = ", ".join(flag.kind for flag in report.flags)
        accepted = f"{report.traps.accepted}/{report.traps.batches}"
        rows.append(
            [
                report.judge,
                flags,
                f"{report.traps.passed}/{report.traps.n}",
                format_percent_estimate(report.traps.rate),
                accepted,
                seconds,
            ]
        )
    return Grid(
        columns=["judge", "flags", "passed", "share", "batches accepted", "seconds"],
        rows=rows,
        left=2,
        caption="those who pass the fewest first; share with its interval; seconds: the median",
    )
