"""How high can nDCG go when judges disagree, and where does each run stand below that?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.ceiling import ceiling
from ringtrue.report.display_limits import DEFAULT_DEPTH, MAX_CHART_ROWS
from ringtrue.report.inputs import ReportInputs
from ringtrue.report.model import Figure, Forest, Section, Series
from ringtrue.report.sections.confusion_heatmaps import describe_mistake, worst_mistake
from ringtrue.report.sections.judge_differences import JudgeDifference, find_judge_difference
from ringtrue.report.sections.number_phrases import format_estimate, format_percent, join_names

if TYPE_CHECKING:
    from ringtrue.judges.ceiling import Ceiling, RunCeiling
    from ringtrue.judges.ceiling.label_counts import Gain

TITLE = "The ceiling"
NEEDS = "runs, judgments, and how judges differ: a confusion matrix, labels of several judges, or gold"
FIGURES = {"ceiling": "How far below the best nDCG that disagreement allows is each run?"}
NEAR_CEILING = 0.95  # of the ceiling, from which there is little left for a better ranker
ABOVE_CEILING = (
    "a run can be above the ceiling: it tells documents of one grade apart, or learned from other judges or from more "
    "than labels, or the judges differ less than the matrix says"
)


def section(inputs: ReportInputs) -> Section | None:
    """The ceiling as a line, and the runs' nDCG with intervals."""
    difference = find_judge_difference(inputs)
    if difference is None or not inputs.runs:
        return None
    k, gain = _cutoff_and_gain(inputs)
    bound = ceiling(
        difference.judgments,
        difference.confusion,
        k=k,
        gain=gain,
        runs=list(inputs.runs),
        covered=difference.covered,
        level=inputs.level,
    )
    if bound.estimate.value is None:
        no_ceiling = "No query has a document that is worth anything: there is no ceiling to speak of."
        return Section(name="ceiling", title=TITLE, notes=bound.notes, answer=no_ceiling)
    runs = dict(sorted(bound.runs.items(), key=lambda item: -(item[1].ndcg.value or 0.0)))
    figure = Figure(
        name="ceiling",
        title=FIGURES["ceiling"],
        sentence=_describe_ceiling(bound, runs, difference),
        table=_ceiling_table(bound, runs),
        charts=(_ceiling_forest(bound, runs),),
        notes=_ceiling_notes(bound, runs, difference),
    )
    return Section(
        name="ceiling",
        title=TITLE,
        answer=_summarise_ceiling(bound, runs, difference),
        figures=(figure,),
        notes=bound.notes,
    )


def _cutoff_and_gain(inputs: ReportInputs) -> tuple[int | None, Gain]:
    """The cutoff and the gains of the page's nDCG, or as deep as its measure looks."""
    for measure in inputs.measures:
        if measure.name == "nDCG":
            parameters = dict(measure.parameters)
            gain: Gain = "exp" if parameters.get("dcg") == "exp-log2" else "linear"
            return measure.reach, dict(parameters["gains"]) if "gains" in parameters else gain
    return inputs.measures[0].reach or DEFAULT_DEPTH, "linear"


def _ceiling_forest(bound: Ceiling, runs: Mapping[str, RunCeiling]) -> Forest:
    shown = dict(list(runs.items())[:MAX_CHART_ROWS])
    return Forest(
        names=tuple(shown),
        series=(Series(name=bound.measure, values=tuple(run_ceiling.ndcg for run_ceiling in shown.values())),),
        across=bound.measure,
        at=bound.estimate.value,
        marks=tuple(format_percent(run_ceiling.share) for run_ceiling in shown.values()),
        marks_title="of the ceiling",
    )


def _summarise_ceiling(bound: Ceiling, runs: Mapping[str, RunCeiling], difference: JudgeDifference) -> str:
    name, best = next(iter(runs.items()))
    expectation = (
        f"A ranker that has learned {difference.training_judge} perfectly can expect {bound.measure} of "
        f"{bound.estimate.value:.2f} by {difference.testing_judge}"
    )
    value = best.ndcg.value or 0.0
    above = sum(run_ceiling.above for run_ceiling in runs.values())
    if 2 * above > len(runs):
        return f"{expectation}; {_count_standing(above, len(runs))} above that, so that it bounds nothing here."
    if best.above:
        return (
            f"{expectation}; by the same labels the best run, {name}, has {value:.2f} and stands above it, as "
            "a run can."
        )
    return (
        f"{expectation}; by the same labels the best run, {name}, has {value:.2f}, "
        f"{format_percent(best.share)} of that."
    )


def _count_standing(above: int, runs: int) -> str:
    return f"{above} of {format_count(runs, 'run')} {'stands' if above == 1 else 'stand'}"


def _describe_ceiling(bound: Ceiling, runs: Mapping[str, RunCeiling], difference: JudgeDifference) -> str:
    name, best = next(iter(runs.items()))
    opening = (
        f"The line is the ceiling, {format_estimate(bound.estimate)}: what a ranker can expect by "
        f"{difference.testing_judge}"
    )
    words = [f"{opening} that puts every document where {difference.training_judge} would."]
    if mistake := worst_mistake(bound.confusion):
        words.append(
            f"It is not 1, for {describe_mistake(mistake, difference.testing_judge, difference.training_judge)}."
        )
    above = [run for run, run_ceiling in runs.items() if run_ceiling.above]
    if above:
        words.append(f"{_count_standing(len(above), len(runs))} above it ({join_names(above)}): no bound for these.")
        return " ".join(words)
    words.append(f"{name} is {format_estimate(best.room)} below it.")
    if difference.raw:
        words.append("This is by the labels as they are; what gold would say of the runs stands further up.")
    elif bound.is_stretched or best.is_thinly_judged:
        words.append("How much of that is room for a better ranker is open: see the notes.")
    elif (best.share or 0.0) >= NEAR_CEILING:
        words.append("Little is left for a better ranker; clearer guidelines or more judges would raise the ceiling.")
    else:
        words.append("That much is left for a better ranker before the judges' disagreement stops it.")
    return " ".join(words)


def _ceiling_notes(bound: Ceiling, runs: Mapping[str, RunCeiling], difference: JudgeDifference) -> tuple[str, ...]:
    notes = [f"the matrix: {difference.matrix_source}", *difference.notes]
    if any(run_ceiling.above for run_ceiling in runs.values()):
        notes.append(ABOVE_CEILING)
    if bound.skipped:
        notes.append(f"{format_count(bound.skipped, 'query')} without anything of worth left out")
    if len(runs) > MAX_CHART_ROWS:
        notes.append(f"the chart has the best {MAX_CHART_ROWS} of {len(runs)} runs, the table all")
    return tuple(notes)


def _ceiling_table(bound: Ceiling, runs: Mapping[str, RunCeiling]) -> Grid:
    rows = [["the ceiling", format_estimate(bound.estimate, 3), "", ""]]
    rows += [
        [
            name,
            format_estimate(run_ceiling.ndcg, 3),
            "–" if run_ceiling.share is None else f"{run_ceiling.share:.1%}",
            format_estimate(run_ceiling.room, 3),
        ]
        for name, run_ceiling in runs.items()
    ]
    return Grid(
        columns=["run", bound.measure, "share of the ceiling", "ceiling − run"],
        rows=rows,
        caption=f"mean over {format_count(bound.queries, 'query')}, with {bound.estimate.level:.0%} intervals for "
        "queries "
        f"like these and the matrix as it is",
    )
