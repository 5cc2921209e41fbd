"""How precision falls as recall grows, and how recall grows with what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ringtrue.evaluation.curves import CurveKind, curve
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note
from ringtrue.report.inputs import ReportInputs, all_runs_phrase, find_leaders
from ringtrue.report.model import Figure, Line, Lines, Section, SectionOutline
from ringtrue.report.sections.number_phrases import capitalize_first, join_names, pick_form
from ringtrue.stats.results import Curve, Curves

OUTLINE = SectionOutline(
    name="curves",
    title="Precision and recall",
    needs="runs and judgments",
    figures={
        "pr": "How precise is a run when so much has been found?",
        "11pt": "How precise is it at best from there on?",
        "roc": "How much has been found when so much else has been seen?",
    },
)
MAX_CURVES = 8  # curves in a figure
TABLE_LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MIN_VISIBLE_GAP = 0.01  # of precision or recall: less cannot be seen
CurvesByRun = Mapping[str, Curve]


@dataclass(frozen=True, slots=True, kw_only=True)
class _CurveLabels:
    """What a kind of curve shows; `low` and `high` are levels that a sentence tells."""

    x_label: str = "recall"
    y_label: str
    area: str
    meaning: str
    low: float = 0.1
    high: float = 0.8


KINDS: dict[CurveKind, _CurveLabels] = {
    "pr": _CurveLabels(
        y_label="precision",
        area="AP",
        meaning="precision where each share of the relevant documents has just been found; the area is mean average "
        "precision",
    ),
    "11pt": _CurveLabels(
        y_label="interpolated precision",
        area="11-point average",
        meaning="the best precision at each recall or any higher one; the area is the 11-point average",
    ),
    "roc": _CurveLabels(
        x_label="fallout",
        y_label="recall",
        area="AUC",
        high=0.5,
        meaning="the share of relevant documents found when this share of the others has been seen; the area is how "
        "often a relevant document stands above another, and 0.5 is chance",
    ),
}


def section(inputs: ReportInputs) -> Section | None:
    """The three curves by the labels as they are, of the runs with the largest areas."""
    if inputs.scores is None:
        return None
    rel = _relevance_threshold(inputs)
    curves_by_kind = {
        kind: curve(inputs.runs, inputs.judgments, kind=kind, rel=rel, **inputs.evaluation_options) for kind in KINDS
    }
    drawn_runs = _choose_drawn_runs(curves_by_kind)
    notes = list(dict.fromkeys(note for curves in curves_by_kind.values() for note in curves.notes))
    opening = "When"
    if inputs.gold is not None:
        text = "curves are by the labels as they are: gold corrects means, not curves"
        notes.append(Note("curves-uncorrected", text))
        opening = "By the raw labels, when"
    return OUTLINE.section(
        _summarise_curves(_rank_by_area(curves_by_kind["pr"]), opening),
        *(_curve_figure(kind, curves, rel, drawn_runs) for kind, curves in curves_by_kind.items()),
        notes=notes,
    )


def crossings(x: Sequence[float], first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Where two curves cross: the levels at which the one that was ahead falls behind, by so much that it can be seen.

    Examples:
        >>> crossings([0.0, 0.5, 1.0], [0.9, 0.5, 0.1], [0.8, 0.5, 0.3])
        [1.0]
    """
    levels, ahead = [], 0
    for level, first_value, second_value in zip(x, first, second, strict=True):
        side = 0 if abs(first_value - second_value) < MIN_VISIBLE_GAP else 1 if first_value > second_value else -1
        if side and ahead and side != ahead:
            levels.append(level)
        ahead = side or ahead
    return levels


def _relevance_threshold(inputs: ReportInputs) -> int:
    """From which label on a document counts as relevant: as the measure has it, or else as the page does."""
    bronze_rel = inputs.correction_options.get("bronze_rel")
    measure_rel = dict(inputs.measures[0].parameters).get("rel")
    return int(bronze_rel or measure_rel or inputs.rel)


def _rank_by_area(curves: Curves) -> dict[str, Curve]:
    """The runs that have a curve, the largest area first."""
    with_area = {name: curve_of_run for name, curve_of_run in curves.runs.items() if curve_of_run.area is not None}
    return dict(sorted(with_area.items(), key=lambda item: -(item[1].area or 0.0)))


def _choose_drawn_runs(curves_by_kind: Mapping[CurveKind, Curves]) -> list[str]:
    """The runs that are drawn, in one order for all figures, so that a run has the same colour in each.

    Those with the largest area of precision by recall; where a run lacks one of the curves, it comes last.
    """
    lacking = {
        name
        for curves in curves_by_kind.values()
        for name, curve_of_run in curves.runs.items()
        if curve_of_run.area is None
    }
    return sorted(_rank_by_area(curves_by_kind["pr"]), key=lambda name: name in lacking)[:MAX_CURVES]


def _curve_figure(kind: CurveKind, curves: Curves, rel: int, drawn_runs: Sequence[str]) -> Figure:
    labels, runs = KINDS[kind], _rank_by_area(curves)
    shown = {name: curve_of_run for name, curve_of_run in runs.items() if name in drawn_runs}
    chart = Lines(
        lines=tuple(Line(name=name, x=runs[name].x, y=runs[name].y) for name in drawn_runs if name in runs),
        across=labels.x_label,
        up=labels.y_label,
        x_range=(0.0, 1.0),
        y_range=(0.0, 1.0),
        diagonal=kind == "roc",
    )
    relevant = "" if rel == 1 else f", relevant from label {rel} on"
    parts = [
        f"{labels.y_label.capitalize()} at each {labels.x_label}: {labels.meaning}.",
        *_describe_leaders(kind, shown, len(runs) > len(shown)),
    ]
    if len(runs) > MAX_CURVES:
        area = KINDS["pr"].area
        parts.append(f"The {MAX_CURVES} of {len(runs)} runs with the largest {area} are drawn; the table has all.")
    return OUTLINE.figure(
        kind,
        " ".join(parts),
        Grid(
            columns=["run", labels.area, *(f"@{level:g}" for level in TABLE_LEVELS)],
            rows=[
                [name, f"{curve_of_run.area:.4f}", *(f"{_value_at(curve_of_run, level):.3f}" for level in TABLE_LEVELS)]
                for name, curve_of_run in runs.items()
            ],
            caption=f"{labels.y_label} at each {labels.x_label}, {_mean_over_phrase(runs)}{relevant}; {labels.area}: "
            "the area under the curve",
        ),
        chart,
    )


def _describe_leaders(kind: CurveKind, runs: CurvesByRun, in_part: bool) -> list[str]:
    """Who leads where among the runs that are drawn, and whether the first two cross."""
    labels = KINDS[kind]
    if not runs:
        return ["No run has such a curve."]
    first, last = (_leaders_at(runs, level) for level in (labels.low, labels.high))
    low, high = (
        f"{_value_at(runs[names[0]], level):.2f}" for names, level in ((first, labels.low), (last, labels.high))
    )
    if len(runs) == 1:
        name, single_curve = next(iter(runs.items()))
        values = f"{low} at {labels.low:g} and {high} at {labels.high:g}"
        return [f"{name} has {values}; its area is {single_curve.area:.3f}."]
    best, second = list(runs)[:2]
    crossed = crossings(runs[best].x, runs[best].y, runs[second].y)
    crossing = "do not cross visibly"
    if crossed:
        times = "near" if len(crossed) == 1 else "several times, first near"
        crossing = f"cross {times} {labels.x_label} {crossed[0]:.2g}"
    at_low = f"At {labels.x_label} {labels.low:g} {_who_leads(first, runs)} ({low})"
    return [
        _describe_areas(runs, "Of the runs drawn, " if in_part else ""),
        f"{at_low}, at {labels.high:g} {_name_runs(last, runs)} ({high}).",
        f"The curves of {best} and {second} {crossing}.",
    ]


def _leaders_at(runs: CurvesByRun, level: float) -> tuple[str, ...]:
    """The runs that are ahead at a level: more than one, where several have the same."""
    return find_leaders({name: _value_at(curve_of_run, level) for name, curve_of_run in runs.items()})


def _describe_areas(runs: CurvesByRun, prefix: str) -> str:
    """The largest area and the next, or whose areas are the same."""
    largest = find_leaders({name: curve_of_run.area for name, curve_of_run in runs.items()})
    first, second = list(runs)[:2]
    area = f"{runs[first].area:.3f}"
    if len(largest) == 1:
        return f"{prefix}{first} has the largest area ({area}), then {second} ({runs[second].area:.3f})."
    if len(largest) == len(runs):
        drawn = " drawn" if prefix else ""
        return f"{capitalize_first(all_runs_phrase(largest))}{drawn} have the same area ({area})."
    return f"{prefix}{join_names(largest)} have the largest area ({area})."


def _name_runs(names: Sequence[str], runs: CurvesByRun) -> str:
    return "all" if len(names) == len(runs) else join_names(names)


def _who_leads(names: Sequence[str], runs: CurvesByRun) -> str:
    return "all are level" if len(names) == len(runs) else f"{join_names(names)} {pick_form(names, 'leads', 'lead')}"


def _value_at(curve_of_run: Curve, level: float) -> float:
    """The curve at a level, or at the nearest that it has."""
    return curve_of_run.y[min(range(len(curve_of_run.x)), key=lambda place: abs(curve_of_run.x[place] - level))]


def _mean_over_phrase(runs: CurvesByRun) -> str:
    counts = sorted({curve_of_run.n for curve_of_run in runs.values()})
    if not counts:
        return "no query"
    queries = format_count(counts[-1], "query") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} queries"
    return f"mean over {queries}"


def _summarise_curves(runs: CurvesByRun, opening_words: str) -> str:
    if not any(curve_of_run.area for curve_of_run in runs.values()):
        return "No run found anything relevant."
    low, high = KINDS["pr"].low, KINDS["pr"].high
    first, last = (_leaders_at(runs, level) for level in (low, high))
    precise_low, precise_high = f"{_value_at(runs[first[0]], low):.0%} precise", f"{_value_at(runs[last[0]], high):.0%}"
    opening = f"{opening_words} {low:.0%} of what is relevant has been found"
    if len(first) == len(last) == len(runs):
        subject = f"{first[0]} is" if len(runs) == 1 else f"{all_runs_phrase(first)} are"
        return f"{opening}, {subject} {precise_low}; when {high:.0%} has, {precise_high}."
    still = "it still does" if len(first) == 1 else "they still do"
    then = f"when {high:.0%} has, {still if first == last else _name_runs(last, runs)} ({precise_high})"
    if _value_at(runs[last[0]], high) < MIN_VISIBLE_GAP:
        then = f"hardly a list has {high:.0%} of it"
    return f"{opening}, {_who_leads(first, runs)} ({precise_low}); {then}."
