"""How high can nDCG go when judges disagree, and where does each run stand below that?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import counted
from ringtrue.judges.ceiling import ceiling
from ringtrue.report.inputs import Material
from ringtrue.report.limits import DEEP, SHOWN
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.sections.confusion_heatmaps import mistake_told, worst_mistake
from ringtrue.report.sections.judge_differences import Between, between_judges
from ringtrue.report.sections.number_phrases import ends, listed, percent

if TYPE_CHECKING:
    from ringtrue.judges.ceiling import Ceiling, RunCeiling
    from ringtrue.judges.ceiling.label_counts import Gain

__all__ = ["FIGURES", "NEEDS", "TITLE", "section"]

TITLE = "The ceiling"
NEEDS = "runs, judgments, and how judges differ: a confusion matrix, labels of several judges, or gold"
FIGURES = {"ceiling": "How far below the best nDCG that disagreement allows is each run?"}
NEAR = 0.95  # of the ceiling, from which there is little left for a better ranker
ABOVE = (
    "a run can be above the ceiling: it tells documents of one grade apart, or learned from other judges or from more "
    "than labels, or the judges differ less than the matrix says"
)


def section(material: Material) -> Section | None:
    """The ceiling as a line, and the runs' nDCG with intervals."""
    between = between_judges(material)
    if between is None or not material.runs:
        return None
    k, gain = _asked(material)
    found = ceiling(between.judgments, between.confusion, k=k, gain=gain, runs=list(material.runs),
                    covered=between.covered, level=material.level)  # fmt: skip
    if found.estimate.value is None:
        nothing = "No query has a document that is worth anything: there is no ceiling to speak of."
        return Section(name="ceiling", title=TITLE, notes=found.notes, answer=nothing)
    runs = dict(sorted(found.runs.items(), key=lambda item: -(item[1].ndcg.value or 0.0)))
    figure = Figure(
        name="ceiling", title=FIGURES["ceiling"], sentence=_sentence(found, runs, between), table=_table(found, runs),
        charts=(_chart(found, runs),), notes=_notes(found, runs, between),
    )  # fmt: skip
    return Section(name="ceiling", title=TITLE, answer=_answer(found, runs, between), figures=(figure,),
                   notes=found.notes)  # fmt: skip


def _asked(material: Material) -> tuple[int | None, Gain]:
    """The cutoff and the gains of the page's nDCG, or as deep as its measure looks."""
    for measure in material.measures:
        if measure.name == "nDCG":
            given = dict(measure.parameters)
            worth: Gain = "exp" if given.get("dcg") == "exp-log2" else "linear"
            return measure.reach, dict(given["gains"]) if "gains" in given else worth
    return material.measures[0].reach or DEEP, "linear"


def _chart(found: Ceiling, runs: Mapping[str, RunCeiling]) -> Forest:
    shown = dict(list(runs.items())[:SHOWN])
    return Forest(
        names=tuple(shown), series=(Series(name=found.measure, values=tuple(one.ndcg for one in shown.values())),),
        across=found.measure, at=found.estimate.value, marks=tuple(percent(one.share) for one in shown.values()),
        marks_title="of the ceiling",
    )  # fmt: skip


def _answer(found: Ceiling, runs: Mapping[str, RunCeiling], between: Between) -> str:
    name, best = next(iter(runs.items()))
    reached = (
        f"A ranker that has learned {between.teacher} perfectly can expect {found.measure} of "
        f"{found.estimate.value:.2f} by {between.tester}"
    )
    value = best.ndcg.value or 0.0
    above = sum(one.above for one in runs.values())
    if 2 * above > len(runs):
        return f"{reached}; {_standing(above, len(runs))} above that, so that it bounds nothing here."
    if best.above:
        return f"{reached}; by the same labels the best run, {name}, has {value:.2f} and stands above it, as a run can."
    return f"{reached}; by the same labels the best run, {name}, has {value:.2f}, {percent(best.share)} of that."


def _standing(above: int, runs: int) -> str:
    return f"{above} of {counted(runs, 'run')} {'stands' if above == 1 else 'stand'}"


def _sentence(found: Ceiling, runs: Mapping[str, RunCeiling], between: Between) -> str:
    name, first = next(iter(runs.items()))
    first_words = f"The line is the ceiling, {ends(found.estimate)}: what a ranker can expect by {between.tester}"
    words = [f"{first_words} that puts every document where {between.teacher} would."]
    if mistake := worst_mistake(found.confusion):
        words.append(f"It is not 1, for {mistake_told(mistake, between.tester, between.teacher)}.")
    above = [run for run, one in runs.items() if one.above]
    if above:
        words.append(f"{_standing(len(above), len(runs))} above it ({listed(above)}): no bound for these.")
        return " ".join(words)
    words.append(f"{name} is {ends(first.room)} below it.")
    if between.raw:
        words.append("This is by the labels as they are; what gold would say of the runs stands further up.")
    elif found.is_stretched or first.is_thinly_judged:
        words.append("How much of that is room for a better ranker is open: see the notes.")
    elif (first.share or 0.0) >= NEAR:
        words.append("Little is left for a better ranker; clearer guidelines or more judges would raise the ceiling.")
    else:
        words.append("That much is left for a better ranker before the judges' disagreement stops it.")
    return " ".join(words)


def _notes(found: Ceiling, runs: Mapping[str, RunCeiling], between: Between) -> tuple[str, ...]:
    notes = [f"the matrix: {between.whence}", *between.notes]
    if any(one.above for one in runs.values()):
        notes.append(ABOVE)
    if found.skipped:
        notes.append(f"{counted(found.skipped, 'query')} without anything of worth left out")
    if len(runs) > SHOWN:
        notes.append(f"the chart has the best {SHOWN} of {len(runs)} runs, the table all")
    return tuple(notes)


def _table(found: Ceiling, runs: Mapping[str, RunCeiling]) -> Grid:
    rows = [["the ceiling", ends(found.estimate, 3), "", ""]]
    rows += [
        [name, ends(one.ndcg, 3), "–" if one.share is None else f"{one.share:.1%}", ends(one.room, 3)]
        for name, one in runs.items()
    ]
    return Grid(
        columns=["run", found.measure, "share of the ceiling", "ceiling − run"], rows=rows,
        caption=f"mean over {counted(found.queries, 'query')}, with {found.estimate.level:.0%} intervals for queries "
        f"like these and the matrix as it is",
    )  # fmt: skip
