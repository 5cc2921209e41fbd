"""How good is each judge, whom should somebody look at, and what do they mix up?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ringtrue.errors import MismatchError
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.quality import judge_quality
from ringtrue.report.display_limits import MAX_CHART_ROWS
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.sections.confusion_heatmaps import (
    confusion_grid,
    confusion_heatmap,
    describe_mistake,
    worst_mistake,
)
from ringtrue.report.sections.label_scales import scale_notes
from ringtrue.report.sections.labels_without_traps import labels_without_slips, traps_dominate
from ringtrue.report.sections.number_phrases import (
    capitalize_first,
    drop_if_unknown,
    format_number,
    format_percent,
    format_percent_estimate,
    join_names,
)
from ringtrue.report.sections.traps import QUESTION, trap_figure
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from ringtrue.judges.quality import JudgeQuality, JudgeReport
    from ringtrue.stats.results import Estimate

TITLE = "The judges"
NEEDS = "labels or preferences of several judges"
FIGURES = {
    "judges": "How good is each judge?",
    "traps": QUESTION,
    "confusion-by-judge": "What do the judges mix up?",
}
MAX_MATRICES = 6
MAX_REASONS = 3  # reasons in the notes
RIGHT = {"gold": "right by gold", "consensus": "who say what most of the others say"}
AGAINST = {"gold": "gold", "consensus": "what most of the others say"}
NO_TRAPS = "no traps were given: items among the others with a known answer show who looks at all"
FLAG_MEANING = "a flag is a reason to look at somebody's work, not to drop it unseen"


def section(inputs: ReportInputs) -> Section | None:
    """Accuracy by judge with flags, traps against speed, and confusion matrices."""
    labels, slip_notes = labels_without_slips(inputs)
    judged: Judgments | Preferences | None = labels or inputs.preferences
    if judged is None:
        return None
    quality, notes = _assess_judges(judged, inputs)
    if len(quality) == 1 and quality.against is None and not any(report.traps and report.traps.n for report in quality):
        return None
    figures = [_judge_figure(quality)]
    if (traps_figure := trap_figure(quality)) is not None:
        figures.append(traps_figure)
    if isinstance(judged, Judgments) and (confusion_figure := _confusion_figure(quality)) is not None:
        figures.append(confusion_figure)
    scale_remarks = scale_notes(judged) if isinstance(judged, Judgments) else ()
    missing_traps = () if traps_figure is not None else (NO_TRAPS,)
    return Section(
        name="judges",
        title=TITLE,
        answer=_summarise_judges(quality),
        figures=tuple(figures),
        notes=(*scale_remarks, *slip_notes, *notes, *quality.notes, *missing_traps),
    )


def _assess_judges(judged: Judgments | Preferences, inputs: ReportInputs) -> tuple[JudgeQuality, tuple[str, ...]]:
    """The judges by gold, where that is about what they labelled, by traps, and by each other."""
    judged_type = type(judged)
    traps = inputs.traps if isinstance(inputs.traps, judged_type) else None
    gold = inputs.gold if isinstance(inputs.gold, Judgments) and isinstance(judged, Judgments) else None
    if (
        gold is None
        and isinstance(judged, Judgments)
        and isinstance(traps, Judgments)
        and traps_dominate(traps, judged)
    ):
        gold = traps
    if gold is not None:
        try:
            return judge_quality(judged, gold=gold, traps=traps, repeats=inputs.repeats, level=inputs.level), ()
        except MismatchError as error:
            notes = (f"gold says nothing about these judges: {error}",)
            return judge_quality(judged, traps=traps, repeats=inputs.repeats, level=inputs.level), notes
    return judge_quality(judged, traps=traps, repeats=inputs.repeats, level=inputs.level), ()


def _summarise_judges(quality: JudgeQuality) -> str:
    size = format_count(len(quality), "judge")
    right = (
        ""
        if quality.against is None
        else f", {RIGHT[quality.against]} in {format_percent_estimate(quality.accuracy)} of cases"
    )
    flagged = [report.judge for report in quality.flagged]
    return f"{size}{right}: " + (f"look at {join_names(flagged)}." if flagged else "nobody stands out.")


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
        notes.append(f"the line across is all judges together, by {AGAINST[quality.against or 'consensus']}")
    if len(quality) > MAX_CHART_ROWS:
        more = len(quality.flagged) - MAX_CHART_ROWS
        others = f", {more:,} of the others flagged too" if more > 0 else ""
        notes.append(
            f"the chart has {MAX_CHART_ROWS} of {len(quality):,} judges, those to look at first{others}; the table all"
        )
    return Figure(
        name="judges",
        title=FIGURES["judges"],
        sentence=_describe_judges(quality),
        charts=(chart,),
        table=_judge_table(quality),
        notes=tuple(notes),
    )


def _flag_phrase(report: JudgeReport) -> str:
    """The first two flags, and how many more there are; the table has them all."""
    kinds = [flag.kind for flag in report.flags]
    return ", ".join(kinds[:2]) + (f" +{len(kinds) - 2}" if len(kinds) > 2 else "")


def _describe_judges(quality: JudgeQuality) -> str:
    by_accuracy = sorted(
        (report for report in quality if report.accuracy.value is not None),
        key=lambda report: report.accuracy.value or 0.0,
    )
    well_measured = [
        report for report in by_accuracy if not any("too little" in note for note in report.notes)
    ] or by_accuracy
    words = []
    if len(well_measured) > 1:
        low, high = well_measured[0], well_measured[-1]
        words.append(
            f"By {AGAINST[quality.against or 'consensus']}, the judges are right in "
            f"{format_percent(low.accuracy.value)} "
            f"({low.judge}) to {format_percent(high.accuracy.value)} ({high.judge}) of cases."
        )
    elif well_measured:
        words.append(
            f"{well_measured[0].judge} is right in {format_percent_estimate(well_measured[0].accuracy)} of labels."
        )
    if not quality.flagged:
        return " ".join([*words, "Nobody is further from the others than chance explains."])
    reasons = [
        f"{report.judge} is flagged ({report.flags[0].kind}): {report.flags[0].reason}" for report in quality.flagged
    ]
    more = len(reasons) - MAX_REASONS
    words.append(". ".join(reasons[:MAX_REASONS]) + (f"; and {format_count(more, 'more judge')}." if more > 0 else "."))
    return " ".join(words)


def _judge_table(quality: JudgeQuality) -> Grid:
    columns = {
        "judge": [report.judge for report in quality.worst_first],
        "flags": [", ".join(flag.kind for flag in report.flags) for report in quality.worst_first],
        "labels": [f"{report.labels:,}" for report in quality.worst_first],
        "right by gold": [_accuracy_cell(report.gold_accuracy) for report in quality.worst_first],
        "right by the others": [_accuracy_cell(report.consensus_accuracy) for report in quality.worst_first],
        "others on the same, by gold": [_others_accuracy(report, "gold") for report in quality.worst_first],
        "others on the same": [_others_accuracy(report, "consensus") for report in quality.worst_first],
        "lenient by": [
            format_number(None if report.leniency is None else report.leniency.value) for report in quality.worst_first
        ],
        "without this judge": [
            str(report.flags[0].effect).partition(": ")[2] if report.flags else "" for report in quality.worst_first
        ],
    }
    shown_columns = {title: cells for title, cells in columns.items() if title == "judge" or set(cells) - {"–", ""}}
    return Grid(
        columns=list(shown_columns),
        rows=list(zip(*shown_columns.values(), strict=True)),
        left=2 if "flags" in shown_columns else 1,
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
            report.confusion, up=_truth_title(report), across=f"{report.judge} says", title=_judge_title(report)
        )
        for report in shown
    )
    notes = (
        ["documents on which the others tie are not in a matrix"]
        if any(_is_against_consensus(report) for report in shown)
        else []
    )
    if len(checkable) > len(shown):
        notes.append(f"{len(shown)} of {len(quality):,} judges: flagged ones first, then those with the most labels")
    return Figure(
        name="confusion-by-judge",
        title=FIGURES["confusion-by-judge"],
        sentence=_describe_mistakes(shown),
        charts=charts,
        table=confusion_grid(
            [(report.judge, report.confusion, None) for report in shown],
            "truth",
            quality.level,
            about="Wilson, as if every label were drawn by itself",
        ),
        notes=tuple(notes),
    )


def _is_against_consensus(report: JudgeReport) -> bool:
    return report.confusion.rows == "consensus"


def _truth_title(report: JudgeReport) -> str:
    return "most others say" if _is_against_consensus(report) else "gold says"


def _judge_title(report: JudgeReport) -> str:
    return f"{report.judge} ({_flag_phrase(report)})" if report.flags else report.judge


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
