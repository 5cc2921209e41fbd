"""How the judge who tests differs from the one whom a ranker may have learned from, and on which documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from ringtrue.errors import InputError, MismatchError
from ringtrue.formatting.phrases import counted
from ringtrue.judges.ceiling import estimate_confusion
from ringtrue.judges.ceiling.estimate_confusion import documents_behind
from ringtrue.judges.ceiling.results import orientation
from ringtrue.report.sections.gold_pairs import FROM_THE_RUNS, gold_task, pairs_of
from ringtrue.report.sections.number_phrases import listed
from ringtrue.report.sections.regular_labels import labels_of_work
from ringtrue.stats.confusion import Confusion
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    from ringtrue.gold.correction.estimator import Task
    from ringtrue.report.inputs import Material

__all__ = ["Between", "between_judges"]

ENOUGH = 30  # labels that are all the same, from which on two judges are one
STRETCHED = 0.5  # of the judged documents, below which a matrix says little about the others


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Between:
    """The testing judge's labels, the matrix, and how many of the labelled documents it comes from, where known.

    `teacher` is in words whom a ranker has learned, and `tester` who tests it; `whence` is where the matrix comes from.
    `raw` says that the testing judge is bronze, and gold would say something else of the runs.
    """

    judgments: Judgments
    confusion: Confusion
    teacher: str
    tester: str
    whence: str
    covered: int | None = None
    raw: bool = False
    notes: tuple[str, ...] = ()


def between_judges(material: Material) -> Between | None:
    """The matrix that was given, or else estimated from labels of several judges, or from gold and bronze.

    None where there are no judgments, or nothing tells how judges differ.
    """
    if material.judgments is None:
        return None
    if material.confusion is not None:
        table = material.confusion
        return Between(
            judgments=material.judgments, confusion=table, teacher=f"the judge '{table.columns}'",
            tester=f"the judge '{table.rows}'", whence=f"as it was given: {orientation(table)}",
            raw=material.gold is not None,
        )  # fmt: skip
    task = gold_task(material)
    if material.labels is not None:
        try:
            return _from_labels(task, material)
        except MismatchError:  # judges of other documents
            if task is None:
                raise
    return None if task is None else _from_gold(task, material)


def _from_labels(task: Task | None, material: Material) -> Between:
    """What each of the judges says of documents, given what gold says of whole queries, or else the judgments."""
    labels, notes = labels_of_work(material)
    assert labels is not None
    assert material.judgments is not None
    whole = task is not None and task.design == "whole_queries"
    trusted = task.gold if task is not None and whole else None
    by_gold = isinstance(trusted, Judgments)
    testing = trusted if isinstance(trusted, Judgments) else material.judgments
    own = testing.judges
    sides: dict[str, Any] = {"gold": testing}
    if len(own) == 1 and own[0] in labels.judges and len(labels.judges) > 1:
        sides = {"testing": own[0]}  # a judge is never held against itself
    else:
        labels, same = _without_same(labels, testing)
        notes = (*notes, *same)
    table = estimate_confusion(labels, repeats=material.repeats, **sides)
    behind = documents_behind(labels, repeats=material.repeats, **sides)
    judgments, covered, more = _on(behind, testing)
    raw = task is not None and not by_gold
    tester = "gold" if by_gold else "the bronze judge" if raw else "the judge of the judgments"
    return Between(
        judgments=judgments, confusion=table, teacher="one of the judges in the labels", tester=tester, raw=raw,
        covered=covered, notes=(*notes, *more),
        whence=f"estimated from {counted(behind.height, 'document')} with labels of both sides",
    )  # fmt: skip


def _without_same(labels: Judgments, testing: Judgments) -> tuple[Judgments, tuple[str, ...]]:
    """The labels without judges who say just what the testing judge says: they are the same one by another name."""
    both = labels.frame.join(testing.frame.select("query", "doc", known="label"), on=["query", "doc"])
    each = both.group_by("judge").agg(n=pl.len(), same=(pl.col("label") == pl.col("known")).all())
    alike = each.filter("same", pl.col("n") >= ENOUGH)["judge"].sort()
    kept = labels.frame.filter(~pl.col("judge").is_in(alike.implode()))
    if not len(alike) or not kept.height:
        return labels, ()
    return Judgments(kept), (f"{listed(alike.to_list())} left out: the same labels as those that test",)


def _on(behind: pl.DataFrame, judgments: Judgments) -> tuple[Judgments, int, tuple[str, ...]]:
    """The judgments, without documents that the matrix does not come from, where those are most of them."""
    common = judgments.frame.join(behind, on=["query", "doc"], how="semi", maintain_order="left")
    if common.height >= STRETCHED * judgments.frame.height:
        return judgments, common.height, ()
    told = (
        f"only the {counted(common.height, 'document')} behind the matrix count here, of {judgments.frame.height:,} "
        f"judged ones: on the others judges may differ more or less, so that nDCG is not that of other figures"
    )
    return Judgments(common), common.height, (told,)


def _from_gold(task: Task, material: Material) -> Between:
    """What bronze makes of gold's labels where gold has whole queries, else what gold makes of those of bronze."""
    if isinstance(task.gold, Confusion) or task.design not in (*FROM_THE_RUNS, "whole_queries"):
        raise InputError(
            "gold from elsewhere does not tell how gold and bronze differ on these documents: give the ceiling labels "
            "of several judges, or a confusion matrix (--confusion) of the judge who tests and the one who trains"
        )
    pairs = pairs_of(task, material)
    if pairs.compared:
        raise InputError(
            "the gold labels were drawn to compare runs, and say nothing about documents that all runs have at the "
            "same rank: the ceiling needs a sample of all that the runs show (`ringtrue sample`, without --compare), "
            "labels of several judges, or a confusion matrix (--confusion)"
        )
    if task.design == "whole_queries":
        return Between(
            judgments=task.gold, confusion=pairs.counted(), teacher="the bronze judge", tester="gold",
            covered=len(pairs.gold), whence=f"estimated from {counted(len(pairs.gold), 'document')} that both label",
            notes=("nDCG by gold, on the queries that gold judged",),
        )  # fmt: skip
    table = pairs.weighted()
    counts = table.counts.T * ((pairs.bronze >= 0).sum() / table.counts.sum())
    turned = Confusion(rows="testing judge (bronze)", columns="training judge (gold)", labels=table.labels,
                       counts=counts)  # fmt: skip
    shown = _shown(task, pairs.depth, material.judgments or task.bronze)
    return Between(
        judgments=shown, confusion=turned, teacher="gold", tester="the bronze judge", raw=True,
        covered=shown.frame.height,
        whence=f"estimated from {counted(len(pairs.gold), 'gold label')}, weighted by what they stand for",
        notes=(f"only documents in a run's first {pairs.depth} count here, for gold was drawn from these",),
    )  # fmt: skip


def _shown(task: Task, depth: int, judgments: Judgments) -> Judgments:
    """The judgments of documents in the runs' tops."""
    tops = pl.concat([run.ranked(depth).select("query", "doc") for run in task.runs]).unique()
    return Judgments(judgments.frame.join(tops, on=["query", "doc"], how="semi", maintain_order="left"))
