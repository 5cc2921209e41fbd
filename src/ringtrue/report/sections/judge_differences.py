"""How the judge who tests differs from the one whom a ranker may have learned from, and on which documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ringtrue.errors import InputError, MismatchError
from ringtrue.formatting.phrases import format_count
from ringtrue.judges.ceiling import estimate_confusion
from ringtrue.judges.ceiling.estimate_confusion import confusion_documents
from ringtrue.judges.ceiling.results import describe_orientation
from ringtrue.report.sections.gold_pairs import SAMPLED_FROM_RUNS, make_gold_problem, pair_gold_with_bronze
from ringtrue.report.sections.labels_without_traps import labels_without_traps
from ringtrue.report.sections.number_phrases import join_names
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from ringtrue.gold.correction.estimator import CorrectionProblem
    from ringtrue.report.inputs import ReportInputs

MIN_IDENTICAL_LABELS = 30  # labels that are all the same, from which on two judges are one
MIN_MATRIX_COVERAGE = 0.5  # of the judged documents, below which a matrix says little about the others


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeDifference:
    """The testing judge's labels, the matrix, and how many of the labelled documents it comes from, where known.

    `training_judge` is in words whom a ranker has learned, and `testing_judge` who tests it; `matrix_source` is where
    the matrix comes from.
    `raw` says that the testing judge is bronze, and gold would say something else of the runs.
    """

    judgments: Judgments
    confusion: Confusion
    training_judge: str
    testing_judge: str
    matrix_source: str
    covered: int | None = None
    raw: bool = False
    notes: tuple[str, ...] = ()


def find_judge_difference(inputs: ReportInputs) -> JudgeDifference | None:
    """The matrix that was given, or else estimated from labels of several judges, or from gold and bronze.

    None where there are no judgments, or nothing tells how judges differ.
    """
    if inputs.judgments is None:
        return None
    if inputs.confusion is not None:
        table = inputs.confusion
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
    whole_queries = problem is not None and problem.design == "whole_queries"
    trusted = problem.gold if problem is not None and whole_queries else None
    by_gold = isinstance(trusted, Judgments)
    testing = trusted if isinstance(trusted, Judgments) else inputs.judgments
    testing_judges = testing.judges
    sides: dict[str, Any] = {"gold": testing}
    if len(testing_judges) == 1 and testing_judges[0] in labels.judges and len(labels.judges) > 1:
        sides = {"testing": testing_judges[0]}  # a judge is never held against itself
    else:
        labels, duplicate_notes = _drop_duplicate_judges(labels, testing)
        notes = (*notes, *duplicate_notes)
    table = estimate_confusion(labels, repeats=inputs.repeats, **sides)
    matrix_documents = confusion_documents(labels, repeats=inputs.repeats, **sides)
    judgments, covered, coverage_notes = _restrict_to_matrix(matrix_documents, testing)
    raw = problem is not None and not by_gold
    tester = "gold" if by_gold else "the bronze judge" if raw else "the judge of the judgments"
    return JudgeDifference(
        judgments=judgments,
        confusion=table,
        training_judge="one of the judges in the labels",
        testing_judge=tester,
        raw=raw,
        covered=covered,
        notes=(*notes, *coverage_notes),
        matrix_source=f"estimated from {format_count(matrix_documents.height, 'document')} with labels of both sides",
    )


def _drop_duplicate_judges(labels: Judgments, testing: Judgments) -> tuple[Judgments, tuple[str, ...]]:
    """The labels without judges who say just what the testing judge says: they are the same one by another name."""
    common = labels.frame.join(testing.frame.select("query", "doc", known="label"), on=["query", "doc"])
    per_judge = common.group_by("judge").agg(n=pl.len(), same=(pl.col("label") == pl.col("known")).all())
    duplicates = per_judge.filter("same", pl.col("n") >= MIN_IDENTICAL_LABELS)["judge"].sort()
    remaining = labels.frame.filter(~pl.col("judge").is_in(duplicates.implode()))
    if not len(duplicates) or not remaining.height:
        return labels, ()
    return Judgments(remaining), (f"{join_names(duplicates.to_list())} left out: the same labels as those that test",)


def _restrict_to_matrix(matrix_documents: pl.DataFrame, judgments: Judgments) -> tuple[Judgments, int, tuple[str, ...]]:
    """The judgments, without documents that the matrix does not come from, where those are most of them."""
    common = judgments.frame.join(matrix_documents, on=["query", "doc"], how="semi", maintain_order="left")
    if common.height >= MIN_MATRIX_COVERAGE * judgments.frame.height:
        return judgments, common.height, ()
    note = (
        f"only the {format_count(common.height, 'document')} behind the matrix count here, of "
        f"{judgments.frame.height:,} judged ones: on the others judges may differ more or less, so that nDCG is not "
        "that of other figures"
    )
    return Judgments(common), common.height, (note,)


def _difference_from_gold(problem: CorrectionProblem, inputs: ReportInputs) -> JudgeDifference:
    """What bronze makes of gold's labels where gold has whole queries, else what gold makes of those of bronze."""
    if isinstance(problem.gold, Confusion) or problem.design not in (*SAMPLED_FROM_RUNS, "whole_queries"):
        raise InputError(
            "gold from elsewhere does not tell how gold and bronze differ on these documents: give the ceiling labels "
            "of several judges, or a confusion matrix (--confusion) of the judge who tests and the one who trains"
        )
    pairs = pair_gold_with_bronze(problem, inputs)
    if pairs.drawn_for_comparison:
        raise InputError(
            "the gold labels were drawn to compare runs, and say nothing about documents that all runs have at the "
            "same rank: the ceiling needs a sample of all that the runs show (`ringtrue sample`, without --compare), "
            "labels of several judges, or a confusion matrix (--confusion)"
        )
    if problem.design == "whole_queries":
        return JudgeDifference(
            judgments=problem.gold,
            confusion=pairs.count_confusion(),
            training_judge="the bronze judge",
            testing_judge="gold",
            covered=len(pairs.gold),
            matrix_source=f"estimated from {format_count(len(pairs.gold), 'document')} that both label",
            notes=("nDCG by gold, on the queries that gold judged",),
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
        notes=(f"only documents in a run's first {pairs.depth} count here, for gold was drawn from these",),
    )


def _judgments_in_tops(problem: CorrectionProblem, depth: int, judgments: Judgments) -> Judgments:
    """The judgments of documents in the runs' tops."""
    tops = pl.concat([run.ranked(depth).select("query", "doc") for run in problem.runs]).unique()
    return Judgments(judgments.frame.join(tops, on=["query", "doc"], how="semi", maintain_order="left"))
