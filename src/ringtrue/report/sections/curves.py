"""How precision falls as recall grows, and how recall grows with what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ringtrue.evaluation.curves import Kind, curve
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.report.inputs import Material
from ringtrue.report.model import Figure, Line, Lines, Section
from ringtrue.report.run_order import all_of, leaders
from ringtrue.report.sections.number_phrases import capital, listed
from ringtrue.stats.results import Curve, Curves

__all__ = ["FIGURES", "NEEDS", "TITLE", "crossings", "section"]

TITLE = "Precision and recall"
NEEDS = "runs and judgments"
FIGURES = {
    "pr": "How precise is a run when so much has been found?",
    "11pt": "How precise is it at best from there on?",
    "roc": "How much has been found when so much else has been seen?",
}
SHOWN = 8  # curves in a figure
TABLE = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
VISIBLE = 0.01  # of precision or recall: less cannot be seen
Found = Mapping[str, Curve]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """What a kind of curve shows; `low` and `high` are levels that a sentence tells."""

    across: str
    up: str
    area: str
    meaning: str
    low: float
    high: float


KINDS: dict[Kind, _Kind] = {
    "pr": _Kind(across="recall", up="precision", area="AP", low=0.1, high=0.8,
                meaning="precision where each share of the relevant documents has just been found; the area is mean "
                        "average precision"),
    "11pt": _Kind(across="recall", up="interpolated precision", area="11-point average", low=0.1, high=0.8,
                  meaning="the best precision at each recall or any higher one; the area is the 11-point average"),
    "roc": _Kind(across="fallout", up="recall", area="AUC", low=0.1, high=0.5,
                 meaning="the share of relevant documents found when this share of the others has been seen; the area "
                         "is how often a relevant document stands above another, and 0.5 is chance"),
}  # fmt: skip


def section(material: Material) -> Section | None:
    """The three curves by the labels as they are, of the runs with the largest areas."""
    if material.scores is None:
        return None
    rel = _rel(material)
    every = {
        kind: curve(material.runs, material.judgments, kind=kind, rel=rel, **material.evaluating) for kind in KINDS
    }
    drawn = _drawn(every)
    figures = tuple(_figure(kind, found, rel, drawn) for kind, found in every.items())
    notes = dict.fromkeys(note for found in every.values() for note in found.notes)
    if material.gold is not None:
        notes |= {"curves are by the labels as they are: gold corrects means, not curves": None}
    answer = _answer(_ranked(every["pr"]), "By the raw labels, when" if material.gold is not None else "When")
    return Section(name="curves", title=TITLE, answer=answer, figures=figures, notes=tuple(notes))


def crossings(x: Sequence[float], first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Where two curves cross: the levels at which the one that was ahead falls behind, by so much that it can be seen.

    Examples:
        >>> crossings([0.0, 0.5, 1.0], [0.9, 0.5, 0.1], [0.8, 0.5, 0.3])
        [1.0]
    """
    found, ahead = [], 0
    for level, one, other in zip(x, first, second, strict=True):
        side = 0 if abs(one - other) < VISIBLE else 1 if one > other else -1
        if side and ahead and side != ahead:
            found.append(level)
        ahead = side or ahead
    return found


def _rel(material: Material) -> int:
    """From which label on a document counts as relevant: as the measure has it, or else as the page does."""
    bronze = material.correcting.get("bronze_rel")
    own = dict(material.measures[0].parameters).get("rel")
    return int(bronze or own or material.rel)


def _ranked(found: Curves) -> dict[str, Curve]:
    """The runs that have a curve, the largest area first."""
    able = {name: one for name, one in found.runs.items() if one.area is not None}
    return dict(sorted(able.items(), key=lambda item: -(item[1].area or 0.0)))


def _drawn(every: Mapping[Kind, Curves]) -> list[str]:
    """The runs that are drawn, in one order for all figures, so that a run has the same colour in each.

    Those with the largest area of precision by recall; where a run lacks one of the curves, it comes last.
    """
    lacking = {name for found in every.values() for name, one in found.runs.items() if one.area is None}
    return sorted(_ranked(every["pr"]), key=lambda name: name in lacking)[:SHOWN]


def _figure(kind: Kind, found: Curves, rel: int, drawn: Sequence[str]) -> Figure:
    told, runs = KINDS[kind], _ranked(found)
    shown = {name: one for name, one in runs.items() if name in drawn}
    chart = Lines(
        lines=tuple(Line(name=name, x=runs[name].x, y=runs[name].y) for name in drawn if name in runs),
        across=told.across, up=told.up, x_range=(0.0, 1.0), y_range=(0.0, 1.0), diagonal=kind == "roc",
    )  # fmt: skip
    relevant = "" if rel == 1 else f", relevant from label {rel} on"
    parts = [
        f"{told.up.capitalize()} at each {told.across}: {told.meaning}.",
        *_seen(kind, shown, len(runs) > len(shown)),
    ]
    if len(runs) > SHOWN:
        area = KINDS["pr"].area
        parts.append(f"The {SHOWN} of {len(runs)} runs with the largest {area} are drawn; the table has all.")
    return Figure(
        name=kind, title=FIGURES[kind], sentence=" ".join(parts), charts=(chart,),
        table=Grid(
            columns=["run", told.area, *(f"@{level:g}" for level in TABLE)],
            rows=[[name, f"{one.area:.4f}", *(f"{_at(one, level):.3f}" for level in TABLE)]
                  for name, one in runs.items()],
            caption=f"{told.up} at each {told.across}, {_over(runs)}{relevant}; {told.area}: the area under the curve",
        ),
    )  # fmt: skip


def _seen(kind: Kind, runs: Found, in_part: bool) -> list[str]:
    """Who leads where among the runs that are drawn, and whether the first two cross."""
    told = KINDS[kind]
    if not runs:
        return ["No run has such a curve."]
    if len(runs) == 1:
        name, only = next(iter(runs.items()))
        values = f"{_at(only, told.low):.2f} at {told.low:g} and {_at(only, told.high):.2f} at {told.high:g}"
        return [f"{name} has {values}; its area is {only.area:.3f}."]
    first, last = (_leaders(runs, level) for level in (told.low, told.high))
    low, high = (f"{_at(runs[some[0]], level):.2f}" for some, level in ((first, told.low), (last, told.high)))
    one, other = list(runs)[:2]
    parts = [
        _areas(runs, "Of the runs drawn, " if in_part else ""),
        f"At {told.across} {told.low:g} {_lead(first, runs)} ({low}), at {told.high:g} {_who(last, runs)} ({high}).",
    ]
    crossed = crossings(runs[one].x, runs[one].y, runs[other].y)
    if not crossed:
        parts.append(f"The curves of {one} and {other} do not cross visibly.")
    elif len(crossed) == 1:
        parts.append(f"The curves of {one} and {other} cross near {told.across} {crossed[0]:.2g}.")
    else:
        parts.append(f"The curves of {one} and {other} cross several times, first near {told.across} {crossed[0]:.2g}.")
    return parts


def _leaders(runs: Found, level: float) -> tuple[str, ...]:
    """The runs that are ahead at a level: more than one, where several have the same."""
    return leaders({name: _at(one, level) for name, one in runs.items()})


def _areas(runs: Found, of: str) -> str:
    """The largest area and the next, or whose areas are the same."""
    largest = leaders({name: one.area for name, one in runs.items()})
    one, other = list(runs)[:2]
    if len(largest) == 1:
        return f"{of}{one} has the largest area ({runs[one].area:.3f}), then {other} ({runs[other].area:.3f})."
    if len(largest) == len(runs):
        return f"{capital(all_of(largest))}{' drawn' if of else ''} have the same area ({runs[one].area:.3f})."
    return f"{of}{listed(largest)} have the largest area ({runs[one].area:.3f})."


def _who(some: Sequence[str], runs: Found) -> str:
    return "all" if len(some) == len(runs) else listed(some)


def _lead(some: Sequence[str], runs: Found) -> str:
    return "all are level" if len(some) == len(runs) else f"{listed(some)} {'leads' if len(some) == 1 else 'lead'}"


def _at(one: Curve, level: float) -> float:
    """The curve at a level, or at the nearest that it has."""
    return one.y[min(range(len(one.x)), key=lambda place: abs(one.x[place] - level))]


def _over(runs: Found) -> str:
    counts = sorted({one.n for one in runs.values()})
    if not counts:
        return "no query"
    return (
        f"mean over {counted(counts[-1], 'query')}"
        if len(counts) == 1
        else f"mean over {counts[0]} to {counts[-1]} queries"
    )


def _answer(runs: Found, when: str) -> str:
    if not runs or not any(one.area for one in runs.values()):
        return "No run found anything relevant."
    low, high = KINDS["pr"].low, KINDS["pr"].high
    first, last = (_leaders(runs, level) for level in (low, high))
    one, other = f"{_at(runs[first[0]], low):.0%} precise", f"{_at(runs[last[0]], high):.0%}"
    found = f"{when} {low:.0%} of what is relevant has been found"
    if len(first) == len(last) == len(runs):
        who = f"{first[0]} is" if len(runs) == 1 else f"{all_of(first)} are"
        return f"{found}, {who} {one}; when {high:.0%} has, {other}."
    still = "it still does" if len(first) == 1 else "they still do"
    then = f"when {high:.0%} has, {still if first == last else _who(last, runs)} ({other})"
    if _at(runs[last[0]], high) < VISIBLE:
        then = f"hardly a list has {high:.0%} of it"
    return f"{found}, {_lead(first, runs)} ({one}); {then}."
