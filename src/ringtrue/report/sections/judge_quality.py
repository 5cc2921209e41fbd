"""How good is each judge, whom should somebody look at, and what do they mix up?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ringtrue.errors import MismatchError
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.quality import judge_quality
from ringtrue.messages import Note
from ringtrue.report.inputs import ReportInputs, labels_without_slips, scale_notes, traps_dominate
from ringtrue.report.model import MAX_CHART_ROWS, Figure, Forest, Point, Points, Section, SectionOutline, Series
from ringtrue.report.sections.confusion import (
    confusion_grid,
    confusion_heatmap,
    describe_mistake,
    worst_mistake,
)
from ringtrue.report.sections.number_phrases import (
    capitalize_first,
    drop_if_unknown,
    format_number,
    format_percent,
    format_percent_estimate,
    join_names,
)
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from ringtrue.judges.quality import JudgeQuality, JudgeReport, Traps
    from ringtrue.stats.results import Estimate

OUTLINE = SectionOutline(
    name="judges",
    title="The judges",
    needs="labels or preferences of several judges",
    figures={
        "judges": "How good is each judge?",
        "traps": "Who passes the traps, and how fast?",
        "confusion-by-judge": "What do the judges mix up?",
    },
)
MAX_MATRICES = 6
MAX_REASONS = 3  # reasons in the notes
RIGHT = {"gold": "right by gold", "consensus": "who say what most of the others say"}
AGAINST = {"gold": "gold", "consensus": "what most of the others say"}
TRAP_FLAGS = ("traps", "too fast", "guessing")  # flags that the figure of traps is about
ACCEPTANCE_RATE = 0.4  # of the traps: the rule of two in five
NO_TRAPS = Note("no-traps", "no traps were given: items among the others with a known answer show who looks at all")
FLAG_MEANING = Note("flag-meaning", "a flag is a reason to look at somebody's work, not to drop it unseen")


def section(inputs: ReportInputs) -> Section | None:
    """Accuracy by judge with flags, traps against speed, and confusion matrices."""
    labels, slip_notes = labels_without_slips(inputs)
    judged: Judgments | Preferences | None = labels or inputs.preferences
    if judged is None:
        return None
    quality, notes = _assess_judges(judged, inputs)
    if len(quality) == 1 and quality.against is None and not any(report.traps and report.traps.n for report in quality):
        return None
    traps_figure = trap_figure(quality)
    confusion_figure = None if labels is None else _confusion_figure(quality)
    figures = (_judge_figure(quality), traps_figure, confusion_figure)
    scale_remarks = () if labels is None else scale_notes(labels)
    missing_traps = () if traps_figure is not None else (NO_TRAPS,)
    return OUTLINE.section(
        _summarise_judges(quality),
        *(figure for figure in figures if figure is not None),
        notes=(*scale_remarks, *slip_notes, *notes, *quality.notes, *missing_traps),
    )


def _assess_judges(judged: Judgments | Preferences, inputs: ReportInputs) -> tuple[JudgeQuality, tuple[Note, ...]]:
    """The judges by gold, where that is about what they labelled, by traps, and by each other."""
    traps = inputs.traps if isinstance(inputs.traps, type(judged)) else None
    settings: dict[str, Any] = {"traps": traps, "repeats": inputs.repeats, "level": inputs.level}
    gold = None
    if isinstance(judged, Judgments):
        if isinstance(inputs.gold, Judgments):
            gold = inputs.gold
        elif isinstance(traps, Judgments) and traps_dominate(traps, judged):
            gold = traps
    try:
        return judge_quality(judged, gold=gold, **settings), ()
    except MismatchError as error:
        if gold is None:
            raise
        return judge_quality(judged, **settings), (error.note.about("gold says nothing about these judges"),)


def _summarise_judges(quality: JudgeQuality) -> str:
    summary = format_count(len(quality), "judge")
    if quality.against is not None:
        summary += f", {RIGHT[quality.against]} in {format_percent_estimate(quality.accuracy)} of cases"
    flagged = [report.judge for report in quality.flagged]
    return f"{summary}: look at {join_names(flagged)}." if flagged else f"{summary}: nobody stands out."


def _judge_figure(quality: JudgeQuality) -> Figure:
    shown = quality.worst_first[:MAX_CHART_ROWS]
    kinds: dict[str, list[Estimate | None]] = {
        "by gold": [report.gold_accuracy for report in shown],
        "by the others": [report.consensus_accuracy for report in shown],
    }
    series = tuple(
        Series(name=name, values=tuple(map(drop_if_unknown, values)))
        for name, values in kinds.items()
        if any(map(drop_if_unknown, values))
    )
    chart = Forest(
        names=tuple(report.judge for report in shown),
        series=series,
        across="share of labels that are right",
        marks=tuple(_flag_phrase(report) for report in shown),
        marks_title="flags",
        at=quality.accuracy.value,
    )
    notes = [FLAG_MEANING] if quality.flagged else []
    if quality.accuracy.value is not None:
        text = f"the line across is all judges together, by {AGAINST[quality.against or 'consensus']}"
        notes.append(Note("line-across", text))
    if len(quality) > MAX_CHART_ROWS:
        more = len(quality.flagged) - MAX_CHART_ROWS
        others = f", {more:,} of the others flagged too" if more > 0 else ""
        shown_judges = f"{MAX_CHART_ROWS} of {len(quality):,} judges, those to look at first"
        notes.append(Note("chart-shortened", f"the chart has {shown_judges}{others}; the table all"))
    return OUTLINE.figure("judges", _describe_judges(quality), _judge_table(quality), chart, notes=notes)


def _flag_phrase(report: JudgeReport) -> str:
    """The first two flags, and how many more there are; the table has them all."""
    kinds = [flag.kind for flag in report.flags]
    return ", ".join(kinds[:2]) + (f" +{len(kinds) - 2}" if len(kinds) > 2 else "")


def _has_few_checked_labels(report: JudgeReport) -> bool:
    return any(note.code == "few-checked-labels" for note in report.notes)


def _describe_judges(quality: JudgeQuality) -> str:
    measured = sorted(
        (report for report in quality if report.accuracy.value is not None),
        key=lambda report: report.accuracy.value or 0.0,
    )
    measured = [report for report in measured if not _has_few_checked_labels(report)] or measured
    words = []
    if len(measured) > 1:
        low, high = (
            f"{format_percent(report.accuracy.value)} ({report.judge})" for report in (measured[0], measured[-1])
        )
        reference = AGAINST[quality.against or "consensus"]
        words.append(f"By {reference}, the judges are right in {low} to {high} of cases.")
    elif measured:
        accuracy = format_percent_estimate(measured[0].accuracy)
        words.append(f"{measured[0].judge} is right in {accuracy} of labels.")
    if not quality.flagged:
        return " ".join([*words, "Nobody is further from the others than chance explains."])
    flags = [(report.judge, report.flags[0]) for report in quality.flagged]
    reasons = [f"{judge} is flagged ({flag.kind}): {flag.reason}" for judge, flag in flags[:MAX_REASONS]]
    more = len(flags) - MAX_REASONS
    words.append(". ".join(reasons) + (f"; and {format_count(more, 'more judge')}." if more > 0 else "."))
    return " ".join(words)


def _judge_table(quality: JudgeQuality) -> Grid:
    cells: dict[str, Callable[[JudgeReport], str]] = {
        "judge": lambda report: report.judge,
        "flags": lambda report: ", ".join(flag.kind for flag in report.flags),
        "labels": lambda report: f"{report.labels:,}",
        "right by gold": lambda report: _accuracy_cell(report.gold_accuracy),
        "right by the others": lambda report: _accuracy_cell(report.consensus_accuracy),
        "others on the same, by gold": lambda report: _others_accuracy(report, "gold"),
        "others on the same": lambda report: _others_accuracy(report, "consensus"),
        "lenient by": lambda report: format_number(None if report.leniency is None else report.leniency.value),
        "without this judge": lambda report: str(report.flags[0].effect).partition(": ")[2] if report.flags else "",
    }
    columns = {title: [cell(report) for report in quality.worst_first] for title, cell in cells.items()}
    shown = {title: column for title, column in columns.items() if title == "judge" or set(column) - {"–", ""}}
    return Grid(
        columns=list(shown),
        rows=list(zip(*shown.values(), strict=True)),
        left=2 if "flags" in shown else 1,
        caption=f"those to look at first; {quality.level:.0%} intervals; others on the same: how often these are right "
        f"on the same documents, {_reference_phrase(quality)}; lenient by: own label less the mean of the others'",
    )


def _others_accuracy(report: JudgeReport, against: str) -> str:
    return format_percent(report.others_accuracy) if report.against == against else "–"


def _reference_phrase(quality: JudgeQuality) -> str:
    """By what the others are right; a flag goes by what tells more, and so may have other numbers than the table."""
    if all(report.against != "gold" for report in quality):
        return "by what most say"
    flag_remark = " (a flag may go by the other of the two, and says so)" if quality.flagged else ""
    return f"by gold where the judge met some, else by what most say{flag_remark}"


def _accuracy_cell(estimate: Estimate | None) -> str:
    return "–" if estimate is None else format_percent_estimate(estimate)


def _confusion_figure(quality: JudgeQuality) -> Figure | None:
    """The matrices of the judges to look at, and then of those with the most labels that can be checked."""
    checkable = [report for report in quality if report.confusion.counts.sum()]
    by_work = sorted(checkable, key=lambda report: (not report.flags, -int(report.confusion.counts.sum())))
    shown = by_work[:MAX_MATRICES]
    if not shown:
        return None
    charts = tuple(
        confusion_heatmap(
            report.confusion,
            up="most others say" if _is_against_consensus(report) else "gold says",
            across=f"{report.judge} says",
            title=f"{report.judge} ({_flag_phrase(report)})" if report.flags else report.judge,
        )
        for report in shown
    )
    notes = []
    if any(map(_is_against_consensus, shown)):
        notes.append(Note("ties-left-out", "documents on which the others tie are not in a matrix"))
    if len(checkable) > len(shown):
        text = f"{len(shown)} of {len(quality):,} judges: flagged ones first, then those with the most labels"
        notes.append(Note("chart-shortened", text))
    return OUTLINE.figure(
        "confusion-by-judge",
        _describe_mistakes(shown),
        confusion_grid(
            [(report.judge, report.confusion, None) for report in shown],
            "truth",
            quality.level,
            about="Wilson, as if every label were drawn by itself",
        ),
        *charts,
        notes=notes,
    )


def _is_against_consensus(report: JudgeReport) -> bool:
    return report.confusion.rows == "consensus"


def _describe_mistakes(shown: Sequence[JudgeReport]) -> str:
    """The worst mistake of each in words, the most frequent first."""
    mistakes = [(mistake, report) for report in shown if (mistake := worst_mistake(report.confusion)) is not None]
    if not mistakes:
        return "None of these judges ever errs."
    mistakes.sort(key=lambda pair: -pair[0].share)
    words = [
        describe_mistake(mistake, "the majority of others" if _is_against_consensus(report) else "gold", report.judge)
        for mistake, report in mistakes[:MAX_REASONS]
    ]
    return f"{capitalize_first('; '.join(words))}."


def trap_figure(quality: JudgeQuality) -> Figure | None:
    """Pass rate against seconds for a label, or alone where nobody took the time; None without traps."""
    judges = [_TrappedJudge(report, report.traps) for report in quality if report.traps is not None and report.traps.n]
    if not judges:
        return None
    fewest_first = sorted(judges, key=lambda judge: (judge.pass_rate, -judge.traps.n, judge.report.judge))
    timed = [(judge, judge.report.speed.median) for judge in judges if judge.report.speed is not None]
    text = f"the line across: a batch of work is accepted from {ACCEPTANCE_RATE:.0%} of its traps on"
    notes = [Note("line-across", text)]
    if 0 < len(timed) < len(judges):
        untimed = f"{len(judges) - len(timed)} of {len(judges)} judges"
        text = f"{untimed} took an unknown time and are in the table alone"
        notes.append(Note("unknown-times", text))
    if not timed:
        text = "the labels have no column `seconds` or `time`: how fast they came is not known"
        notes.append(Note("unknown-times", text))
        if len(judges) > MAX_CHART_ROWS:
            fewest = f"the {MAX_CHART_ROWS} of {len(judges):,} judges who pass the fewest"
            notes.append(Note("chart-shortened", f"the chart has {fewest}; the table all"))
    return OUTLINE.figure(
        "traps",
        _describe_traps(fewest_first, sorted(seconds for _, seconds in timed)),
        _trap_table(fewest_first),
        _rate_against_speed(timed) if timed else _rate_forest(fewest_first[:MAX_CHART_ROWS]),
        notes=notes,
    )


class _TrappedJudge(NamedTuple):
    """A judge who met traps."""

    report: JudgeReport
    traps: Traps

    @property
    def pass_rate(self) -> float:
        return self.traps.passed / self.traps.n

    @property
    def flags(self) -> list[str]:
        """The flags that traps and speed give."""
        return [flag.kind for flag in self.report.flags if flag.kind in TRAP_FLAGS]


def _rate_against_speed(timed: Sequence[tuple[_TrappedJudge, float]]) -> Points:
    points = (
        Point(
            name=judge.report.judge,
            x=seconds,
            y=judge.pass_rate,
            low=judge.traps.rate.low,
            high=judge.traps.rate.high,
            noted=bool(judge.flags),
        )
        for judge, seconds in timed
    )
    return Points(
        points=tuple(points),
        across="seconds for a label (median)",
        up="share of traps passed",
        y_range=(0.0, 1.0),
        at=ACCEPTANCE_RATE,
        at_name="accepted from here on",
    )


def _rate_forest(judges: Sequence[_TrappedJudge]) -> Forest:
    return Forest(
        names=tuple(judge.report.judge for judge in judges),
        across="share of traps passed",
        at=ACCEPTANCE_RATE,
        series=(Series(name="traps passed", values=tuple(judge.traps.rate for judge in judges)),),
        marks=tuple(", ".join(flag.kind for flag in judge.report.flags) for judge in judges),
        marks_title="flags",
    )


def _describe_traps(judges: Sequence[_TrappedJudge], seconds: Sequence[float]) -> str:
    """How many pass, who does not, and whether these are fast."""
    passed, n = sum(judge.traps.passed for judge in judges), sum(judge.traps.n for judge in judges)
    failing = [
        f"{judge.report.judge} ({format_percent(judge.pass_rate)})"
        for judge in judges
        if judge.pass_rate < ACCEPTANCE_RATE
    ]
    flagged = [
        f"{judge.report.judge} ({', '.join(judge.flags)}"
        f"{'' if judge.report.speed is None else f', {judge.report.speed.median:.3g} s'})"
        for judge in judges
        if judge.flags
    ]
    words = [f"Of {n:,} traps that judges met, {format_percent(passed / n)} were passed."]
    if failing:
        words.append(f"Below the {ACCEPTANCE_RATE:.0%} that a batch needs: {join_names(failing)}.")
    else:
        words.append(f"Everybody passed at least the {ACCEPTANCE_RATE:.0%} that a batch needs.")
    if flagged:
        words.append(f"Flagged beyond chance: {join_names(flagged)}.")
    if seconds:
        words.append(f"A typical judge takes {seconds[len(seconds) // 2]:.3g} seconds for a label.")
    return " ".join(words)


def _trap_table(judges: Sequence[_TrappedJudge]) -> Grid:
    return Grid(
        columns=["judge", "flags", "passed", "share", "batches accepted", "seconds"],
        rows=[
            [
                report.judge,
                ", ".join(flag.kind for flag in report.flags),
                f"{traps.passed}/{traps.n}",
                format_percent_estimate(traps.rate),
                f"{traps.accepted}/{traps.batches}",
                "–" if report.speed is None else f"{report.speed.median:.3g}",
            ]
            for report, traps in judges
        ],
        left=2,
        caption="those who pass the fewest first; share with its interval; seconds: the median",
    )
