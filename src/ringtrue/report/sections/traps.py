"""Who passes the traps, and how fast is each judge?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid
from ringtrue.report.limits import SHOWN
from ringtrue.report.model import Chart, Figure, Forest, Point, Points, Series
from ringtrue.report.sections.number_phrases import listed, percent, percent_told

if TYPE_CHECKING:
    from ringtrue.judges.quality import JudgeQuality, JudgeReport

__all__ = ["QUESTION", "trap_figure"]

QUESTION = "Who passes the traps, and how fast?"
TELLING = ("traps", "too fast", "guessing")  # flags that this figure is about
ACCEPTED = 0.4  # of the traps: the rule of two in five


def trap_figure(quality: JudgeQuality) -> Figure | None:
    """Pass rate against seconds for a label, or alone where nobody took the time; None without traps."""
    met = [one for one in quality if one.traps is not None and one.traps.n]
    if not met:
        return None
    slowly = [one for one in met if one.speed is not None]
    chart: Chart = _points(slowly) if slowly else _forest(met)
    notes = [f"the line across: a batch of work is accepted from {ACCEPTED:.0%} of its traps on"]
    if 0 < len(slowly) < len(met):
        notes.append(f"{len(met) - len(slowly)} of {len(met)} judges took an unknown time and are in the table alone")
    if not slowly:
        notes.append("the labels have no column `seconds` or `time`: how fast they came is not known")
        if len(met) > SHOWN:
            notes.append(f"the chart has the {SHOWN} of {len(met):,} judges who pass the fewest; the table all")
    return Figure(name="traps", title=QUESTION, sentence=_sentence(met, slowly), charts=(chart,), table=_table(met),
                  notes=tuple(notes))  # fmt: skip


def _fewest_first(met: Sequence[JudgeReport]) -> list[JudgeReport]:
    return sorted(met, key=lambda one: (_share(one), -_number(one), one.judge))


def _share(one: JudgeReport) -> float:
    assert one.traps is not None
    return one.traps.passed / one.traps.n


def _number(one: JudgeReport) -> int:
    assert one.traps is not None
    return one.traps.n


def _noted(one: JudgeReport) -> bool:
    return any(flag.kind in TELLING for flag in one.flags)


def _points(slowly: Sequence[JudgeReport]) -> Points:
    points = []
    for one in slowly:
        assert one.traps is not None
        assert one.speed is not None
        rate = one.traps.rate
        points.append(Point(name=one.judge, x=one.speed.median, y=_share(one), low=rate.low, high=rate.high,
                            noted=_noted(one)))  # fmt: skip
    return Points(points=tuple(points), across="seconds for a label (median)", up="share of traps passed",
                  y_range=(0.0, 1.0), at=ACCEPTED, at_name="accepted from here on")  # fmt: skip


def _forest(met: Sequence[JudgeReport]) -> Forest:
    shown = _fewest_first(met)[:SHOWN]
    return Forest(
        names=tuple(one.judge for one in shown), across="share of traps passed", at=ACCEPTED,
        series=(Series(name="traps passed", values=tuple(one.traps.rate for one in shown if one.traps is not None)),),
        marks=tuple(", ".join(flag.kind for flag in one.flags) for one in shown), marks_title="flags",
    )  # fmt: skip


def _sentence(met: Sequence[JudgeReport], slowly: Sequence[JudgeReport]) -> str:
    """How many pass, who does not, and whether these are fast."""
    passed, n = sum(one.traps.passed for one in met if one.traps is not None), sum(map(_number, met))
    failing = [one for one in _fewest_first(met) if _share(one) < ACCEPTED]
    noted = [one for one in _fewest_first(met) if _noted(one)]
    words = [f"Of {n:,} traps that judges met, {percent(passed / n)} were passed."]
    if failing:
        told = listed([f"{one.judge} ({percent(_share(one))})" for one in failing])
        words.append(f"Below the {ACCEPTED:.0%} that a batch needs: {told}.")
    else:
        words.append(f"Everybody passed at least the {ACCEPTED:.0%} that a batch needs.")
    if noted:
        told = listed([_reasons(one) for one in noted])
        words.append(f"Flagged beyond chance: {told}.")
    if slowly:
        typical = sorted(one.speed.median for one in slowly if one.speed is not None)[len(slowly) // 2]
        words.append(f"A typical judge takes {typical:.3g} seconds for a label.")
    return " ".join(words)


def _reasons(one: JudgeReport) -> str:
    seconds = "" if one.speed is None else f", {one.speed.median:.3g} s"
    return f"{one.judge} ({', '.join(flag.kind for flag in one.flags if flag.kind in TELLING)}{seconds})"


def _table(met: Sequence[JudgeReport]) -> Grid:
    rows = []
    for one in _fewest_first(met):
        assert one.traps is not None
        seconds = "–" if one.speed is None else f"{one.speed.median:.3g}"
        flags = ", ".join(flag.kind for flag in one.flags)
        accepted = f"{one.traps.accepted}/{one.traps.batches}"
        rows.append([one.judge, flags, f"{one.traps.passed}/{one.traps.n}", percent_told(one.traps.rate), accepted,
                     seconds])  # fmt: skip
    return Grid(columns=["judge", "flags", "passed", "share", "batches accepted", "seconds"], rows=rows, left=2,
                caption="those who pass the fewest first; share with its interval; seconds: the median")  # fmt: skip
