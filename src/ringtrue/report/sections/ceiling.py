"""How high can nDCG go when judges disagree, and where does each run stand below that?

The judges are the one who tests, and the one whom a ranker may have learned from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ringtrue.errors import InputError, MismatchError
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.ceiling import ceiling, estimate_query_confusions
from ringtrue.judges.ceiling.inputs import confusion_documents
from ringtrue.judges.ceiling.results import describe_orientation
from ringtrue.messages import Note, Suggestion
from ringtrue.report.inputs import ReportInputs, labels_without_traps
from ringtrue.report.model import MAX_CHART_ROWS, Forest, Section, SectionOutline, Series
from ringtrue.report.sections.confusion import (
    SAMPLED_FROM_RUNS,
    describe_mistake,
    make_gold_problem,
    pair_gold_with_bronze,
    worst_mistake,
)
from ringtrue.report.sections.number_phrases import format_estimate, format_percent, join_names
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from ringtrue.gold.correction.results import CorrectionProblem
    from ringtrue.judges.ceiling import Ceiling, QueryConfusions, RunCeiling
    from ringtrue.judges.ceiling.inputs import Gain

OUTLINE = SectionOutline(
    name="ceiling",
    title="The ceiling",
    needs="runs, judgments, and how judges differ: a confusion matrix, labels of several judges, or gold",
    figures={"ceiling": "How far below the best nDCG that disagreement allows is each run?"},
)
NEAR_CEILING = 0.95  # of the ceiling, from which there is little left for a better ranker
MIN_IDENTICAL_LABELS = 30  # labels that are all the same, from which on two judges are one
OTHER_SOURCES = (
    Suggestion("takes the labels of several judges", labels=...),
    Suggestion("takes a matrix of the judge who tests and the one who trains", confusion=...),
)
MIN_MATRIX_COVERAGE = 0.5  # of the judged documents, below which a matrix says little about the others
ABOVE_CEILING = Note(
    "above-ceiling",
    "a run can be above the ceiling: it tells documents of one grade apart, or learned from other judges or from more "
    "than labels, or the judges differ less than the matrix says",
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeDifference:
    """The testing judge's labels, the matrix or matrices, and from how many of the labelled documents, where known.

    `training_judge` is in words whom a ranker has learned, and `testing_judge` who tests it; `matrix_source` is where
    the matrix comes from. `raw` says that the testing judge is bronze, and gold would say something else of the runs.
    """

    judgments: Judgments
    confusion: Confusion | QueryConfusions
    training_judge: str
    testing_judge: str
    matrix_source: str
    covered: int | None = None
    raw: bool = False
    notes: tuple[Note, ...] = ()


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
        answer = "No query has a document that is worth anything: there is no ceiling to speak of."
        return OUTLINE.section(answer, notes=bound.notes)
    runs = dict(sorted(bound.runs.items(), key=lambda item: -(item[1].ndcg.value or 0.0)))
    figure = OUTLINE.figure(
        "ceiling",
        _describe_ceiling(bound, runs, difference),
        _ceiling_table(bound, runs),
        _ceiling_forest(bound, runs),
        notes=_ceiling_notes(bound, runs, difference),
    )
    return OUTLINE.section(_summarise_ceiling(bound, runs, difference), figure, notes=bound.notes)


def _cutoff_and_gain(inputs: ReportInputs) -> tuple[int | None, Gain]:
    """The cutoff and the gains of the page's nDCG, or as deep as its measure looks."""
    for measure in inputs.measures:
        if measure.name == "nDCG":
            parameters = dict(measure.parameters)
            gain: Gain = "exp" if parameters.get("dcg") == "exp-log2" else "linear"
            return measure.reach, dict(parameters["gains"]) if "gains" in parameters else gain
    return inputs.depth, "linear"


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
    above = sum(run_ceiling.above for run_ceiling in runs.values())
    if 2 * above > len(runs):
        return f"{expectation}; {_count_standing(above, len(runs))} above that, so that it bounds nothing here."
    best_value = f"by the same labels the best run, {name}, has {best.ndcg.value or 0.0:.2f}"
    if best.above:
        return f"{expectation}; {best_value} and stands above it, as a run can."
    return f"{expectation}; {best_value}, {format_percent(best.share)} of that."


def _count_standing(above: int, runs: int) -> str:
    return f"{above} of {format_count(runs, 'run')} {'stands' if above == 1 else 'stand'}"


def _describe_ceiling(bound: Ceiling, runs: Mapping[str, RunCeiling], difference: JudgeDifference) -> str:
    name, best = next(iter(runs.items()))
    tester, trainer = difference.testing_judge, difference.training_judge
    height = format_estimate(bound.estimate)
    expectation = f"what a ranker can expect by {tester} that puts every document where {trainer} would"
    words = [f"The line is the ceiling, {height}: {expectation}."]
    if mistake := worst_mistake(bound.confusion):
        words.append(f"It is not 1, for {describe_mistake(mistake, tester, trainer)}.")
    if bound.pooled:
        words.append("It is no upper bound: one matrix stands for all queries, and runs can exceed it.")
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


def _ceiling_notes(bound: Ceiling, runs: Mapping[str, RunCeiling], difference: JudgeDifference) -> list[Note]:
    notes = [Note("matrix-source", f"the matrix: {difference.matrix_source}"), *difference.notes]
    if not bound.pooled:
        text = (
            f"{bound.own_matrices:,} of {format_count(bound.queries, 'query')} with a matrix of their own, shrunk "
            f"towards that of all (own counts + {bound.shrinkage:g} × its rows)"
        )
        notes.append(Note("query-matrices", text))
    if any(run_ceiling.above for run_ceiling in runs.values()):
        notes.append(ABOVE_CEILING)
    if bound.skipped:
        text = f"{format_count(bound.skipped, 'query')} without a relevant document left out"
        notes.append(Note("worthless-queries", text))
    if len(runs) > MAX_CHART_ROWS:
        text = f"the chart has the best {MAX_CHART_ROWS} of {len(runs)} runs, the table all"
        notes.append(Note("chart-shortened", text))
    return notes


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
        "queries like these and the matrix as it is",
    )


def find_judge_difference(inputs: ReportInputs) -> JudgeDifference | None:
    """The matrix that was given, or else estimated from labels of several judges, or from gold and bronze.

    None where there are no judgments, or nothing tells how judges differ.
    """
    if inputs.judgments is None:
        return None
    if (table := inputs.confusion) is not None:
        return JudgeDifference(
            judgments=inputs.judgments,
            confusion=table,
            training_judge=f"the judge '{table.columns}'",
            testing_judge=f"the judge '{table.rows}'",
            matrix_source=f"as it was given: {describe_orientation(table)}",
            raw=inputs.gold is not None,
        )
    problem = make_gold_problem(inputs)
    if inputs.labels is not None:
        try:
            return _difference_from_labels(problem, inputs)
        except MismatchError:  # judges of other documents
            if problem is None:
                raise
    return None if problem is None else _difference_from_gold(problem, inputs)


def _difference_from_labels(problem: CorrectionProblem | None, inputs: ReportInputs) -> JudgeDifference:
    """What each of the judges says of documents, given what gold says of whole queries, or else the judgments."""
    labels, notes = labels_without_traps(inputs)
    assert labels is not None
    assert inputs.judgments is not None
    testing, tester = inputs.judgments, "the judge of the judgments" if problem is None else "the bronze judge"
    if problem is not None and problem.design == "whole_queries" and isinstance(problem.gold, Judgments):
        testing, tester = problem.gold, "gold"
    sides: dict[str, Any] = {"gold": testing}
    if len(testing.judges) == 1 and testing.judges[0] in labels.judges and len(labels.judges) > 1:
        sides = {"testing": testing.judges[0]}  # a judge is never held against itself
    else:
        labels, duplicate_notes = _drop_duplicate_judges(labels, testing)
        notes = (*notes, *duplicate_notes)
    confusions = estimate_query_confusions(labels, repeats=inputs.repeats, **sides)
    matrix_documents = confusion_documents(labels, repeats=inputs.repeats, **sides)
    judgments, covered, coverage_notes = _restrict_to_matrix(matrix_documents, testing)
    return JudgeDifference(
        judgments=judgments,
        confusion=confusions,
        training_judge="one of the judges in the labels",
        testing_judge=tester,
        raw=tester == "the bronze judge",
        covered=covered,
        notes=(*notes, *coverage_notes),
        matrix_source=f"estimated from {format_count(matrix_documents.height, 'document')} with labels of both sides",
    )


def _drop_duplicate_judges(labels: Judgments, testing: Judgments) -> tuple[Judgments, tuple[Note, ...]]:
    """The labels without judges who say just what the testing judge says: they are the same one by another name."""
    common = labels.frame.join(testing.frame.select("query", "doc", known="label"), on=["query", "doc"])
    per_judge = common.group_by("judge").agg(n=pl.len(), same=(pl.col("label") == pl.col("known")).all())
    duplicates = per_judge.filter("same", pl.col("n") >= MIN_IDENTICAL_LABELS)["judge"].sort()
    remaining = labels.frame.filter(~pl.col("judge").is_in(duplicates.implode()))
    if not len(duplicates) or not remaining.height:
        return labels, ()
    text = f"{join_names(duplicates.to_list())} left out: the same labels as those that test"
    return Judgments(remaining), (Note("judge-left-out", text),)


def _restrict_to_matrix(
    matrix_documents: pl.DataFrame, judgments: Judgments
) -> tuple[Judgments, int, tuple[Note, ...]]:
    """The judgments, without documents that the matrix does not come from, where those are most of them."""
    common = judgments.frame.join(matrix_documents, on=["query", "doc"], how="semi", maintain_order="left")
    if common.height >= MIN_MATRIX_COVERAGE * judgments.frame.height:
        return judgments, common.height, ()
    text = (
        f"only the {format_count(common.height, 'document')} behind the matrix count here, of "
        f"{judgments.frame.height:,} judged ones: on the others judges may differ more or less, so that nDCG is not "
        "that of other figures"
    )
    return Judgments(common), common.height, (Note("matrix-of-few-documents", text),)


def _difference_from_gold(problem: CorrectionProblem, inputs: ReportInputs) -> JudgeDifference:
    """What bronze makes of gold's labels where gold has whole queries, else what gold makes of those of bronze."""
    if isinstance(problem.gold, Confusion) or problem.design not in (*SAMPLED_FROM_RUNS, "whole_queries"):
        raise InputError(
            "gold-from-elsewhere",
            "gold from elsewhere does not tell how gold and bronze differ on these documents",
            suggestions=OTHER_SOURCES,
        )
    pairs = pair_gold_with_bronze(problem, inputs)
    if pairs.drawn_for_comparison:
        raise InputError(
            "drawn-for-comparison",
            "the gold labels were drawn to compare runs, and say nothing about documents that all runs have at the "
            "same rank: the ceiling needs a sample of all that the runs show",
            suggestions=[Suggestion("draws one", function="sample", budget=...), *OTHER_SOURCES],
        )
    if problem.design == "whole_queries":
        return JudgeDifference(
            judgments=problem.gold,
            confusion=pairs.count_query_confusions(),
            training_judge="the bronze judge",
            testing_judge="gold",
            covered=len(pairs.gold),
            matrix_source=f"estimated from {format_count(len(pairs.gold), 'document')} that both label",
            notes=(Note("gold-queries-only", "nDCG by gold, on the queries that gold judged"),),
        )
    table = pairs.weigh_confusion()
    counts = table.counts.T * ((pairs.bronze >= 0).sum() / table.counts.sum())
    transposed = Confusion(
        rows="testing judge (bronze)", columns="training judge (gold)", labels=table.labels, counts=counts
    )
    top_judgments = _judgments_in_tops(problem, pairs.depth, inputs.judgments or problem.bronze)
    return JudgeDifference(
        judgments=top_judgments,
        confusion=transposed,
        training_judge="gold",
        testing_judge="the bronze judge",
        raw=True,
        covered=top_judgments.frame.height,
        matrix_source=f"estimated from {format_count(len(pairs.gold), 'gold label')}, weighted by what they stand for",
        notes=(
            Note(
                "tops-only", f"only documents in a run's first {pairs.depth} count here, for gold was drawn from these"
            ),
        ),
    )


def _judgments_in_tops(problem: CorrectionProblem, depth: int, judgments: Judgments) -> Judgments:
    """The judgments of documents in the runs' tops."""
    tops = pl.concat([run.ranked(depth).select("query", "doc") for run in problem.runs]).unique()
    return Judgments(judgments.frame.join(tops, on=["query", "doc"], how="semi", maintain_order="left"))
