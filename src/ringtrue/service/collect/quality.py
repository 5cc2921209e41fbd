"""What the labels so far say: one label from many, how far the judges agree, and how good each of them is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from ringtrue.errors import InputError
from ringtrue.judges.aggregation import aggregate
from ringtrue.judges.agreement import Agreement, agree
from ringtrue.judges.quality import JudgeQuality, judge_quality
from ringtrue.judges.votes.vote_table import FIRST, SECOND
from ringtrue.messages import Note
from ringtrue.service.store.label_queries import load_collected, load_known_answers, load_verdict_frame
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project, Queue, Settings

T = TypeVar("T")
DEFAULT_TRAP_RULE = (4, 5)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LabelQuality:
    """What the labels so far say of the judges; where they say nothing, a note says why in a sentence."""

    labels: int
    agreement: Agreement | None
    agreement_note: Note | None
    judges: JudgeQuality | None
    judges_note: Note | None
    notes: tuple[Note, ...] = ()


def trap_rule(settings: Settings) -> tuple[int, int]:
    """How many traps have to be passed, of how many, for a task to be accepted."""
    return (max(settings.traps_needed, 1), settings.traps) if settings.traps else DEFAULT_TRAP_RULE


def resolve_labels(
    connection: Connection, project: Project, *, queue: Queue = "main", failed: bool = True
) -> Judgments | Preferences | None:
    """One label, or one preference, for each item that has any; None while there is none.

    Where judges tie, it is the lower label, and of a pair neither document. The column `by` says verdict, majority or
    tie, `votes` how many judges there were, `share` how many of them said so.
    """
    votes = load_collected(connection, project, queue=queue, failed=failed)
    verdicts = load_verdict_frame(connection, project, queue=queue)
    is_pairs = project.scale.kind == "preference"
    item_columns = ["query", "left", "right"] if is_pairs else ["query", "doc"]
    verdicts = verdicts.rename({"doc": "left", "other": "right"} if is_pairs else {}).select(*item_columns, "answer")
    if votes is None:
        if not verdicts.height:
            return None
        frame = verdicts.with_columns(votes=pl.lit(0), share=pl.lit(None, dtype=pl.Float64), by=pl.lit("verdict"))
    else:
        verdicts = verdicts.rename({"answer": "verdict"})
        majority = _majority_votes(votes)
        frame = majority.join(verdicts, on=item_columns, how="full", coalesce=True, maintain_order="left_right")
        verdict = pl.col("verdict")
        frame = frame.select(
            *item_columns,
            pl.coalesce(verdict, "answer").alias("answer"),
            pl.col("votes").fill_null(0),
            "share",
            by=pl.when(verdict.is_not_null()).then(pl.lit("verdict")).otherwise("by"),
        )
    if is_pairs:
        return Preferences.of(frame.rename({"answer": "winner"}))
    return Judgments.of(frame.rename({"answer": "label"}))


def assess_quality(
    store: Store, project: Project, *, resamples: int = 200, level: float = 0.95, rng: np.random.Generator | None = None
) -> LabelQuality:
    """Agreement and judge quality of what was collected, with traps and gold labels as known answers."""
    with store.read() as connection:
        with_traps = load_collected(connection, project, traps="all")
        traps = load_known_answers(connection, project)
        gold = resolve_labels(connection, project, queue="gold") if project.scale.kind == "graded" else None
    if with_traps is None:
        nothing = Note("nothing-collected", "nobody has answered yet")
        return LabelQuality(labels=0, agreement=None, agreement_note=nothing, judges=None, judges_note=nothing)
    labels = _without_traps(with_traps)
    scale = [int(label.value) for label in project.scale.labels] if project.scale.kind == "graded" else None
    gold = _keep_if_overlapping(gold, with_traps)
    agreement, agreement_note = _compute_or_explain(lambda: _measure_agreement(labels, scale, resamples, level, rng))
    traps_met = _keep_if_overlapping(traps, with_traps)
    rule = trap_rule(project.settings)
    judges, judges_note = _compute_or_explain(
        lambda: judge_quality(
            with_traps, gold=gold, traps=traps_met, accept=rule, scale=scale, repeats="last", level=level
        )
    )
    notes = [*(agreement.notes if agreement else ()), *(judges.notes if judges else ())]
    return LabelQuality(
        labels=0 if labels is None else labels.frame.height,
        agreement=agreement,
        agreement_note=agreement_note,
        judges=judges,
        judges_note=judges_note,
        notes=tuple(dict.fromkeys(notes)),
    )


def _without_traps(answers: Judgments | Preferences) -> Judgments | Preferences | None:
    """The labels without the answers to traps; None where there is none."""
    frame = answers.frame.filter(~pl.col("trap"))
    return type(answers)(frame) if frame.height else None


def _majority_votes(votes: Judgments | Preferences) -> pl.DataFrame:
    """What most said of each item, as text; `by` tells where as many said something else."""
    aggregation = aggregate(votes, method="majority", repeats="last")
    tied = np.isclose(aggregation.probabilities, aggregation.probabilities.max(axis=1, keepdims=True)).sum(axis=1) > 1
    by = pl.when(pl.Series(tied)).then(pl.lit("tie")).otherwise(pl.lit("majority"))
    items = aggregation.items.rename({"probability": "share"}).with_columns(by=by)
    label = pl.col("label")
    if isinstance(votes, Judgments):
        return items.select("query", "doc", "share", "votes", "by", answer=label.cast(pl.String))
    winner = pl.when(label == FIRST).then(pl.lit("left")).when(label == SECOND).then(pl.lit("right"))
    return items.select(
        "query", "share", "votes", "by", left="first", right="second", answer=winner.otherwise(pl.lit("tie"))
    )


def _measure_agreement(
    labels: Judgments | Preferences | None,
    scale: list[int] | None,
    resamples: int,
    level: float,
    rng: np.random.Generator | None,
) -> Agreement:
    """How far judges agree, in our own words where there is nobody to agree with."""
    if labels is None:
        raise InputError("only-traps-answered", "nobody has answered yet but to traps")
    if labels.frame["judge"].n_unique() < 2:
        raise InputError("one-judge", "all answers are by one judge so far: agreement needs two")
    return agree(labels, scale=scale, repeats="last", resamples=resamples, level=level, rng=rng)


def _compute_or_explain(compute: Callable[[], T]) -> tuple[T | None, Note | None]:
    try:
        return compute(), None
    except InputError as error:
        return None, error.note


def _keep_if_overlapping(
    known_answers: Judgments | Preferences | None, labels: Judgments | Preferences
) -> Judgments | Preferences | None:
    """Known answers, unless none of them is about anything that was answered."""
    if known_answers is None:
        return None
    item_columns = ["query", "doc"] if isinstance(known_answers, Judgments) else ["query", "first", "second"]
    overlap = _item_keys(known_answers).join(_item_keys(labels), on=item_columns, how="semi")
    return known_answers if overlap.height else None


def _item_keys(table: Judgments | Preferences) -> pl.DataFrame:
    if isinstance(table, Judgments):
        return table.frame.select("query", "doc")
    left, right = pl.col("left"), pl.col("right")
    return table.frame.select("query", first=pl.min_horizontal(left, right), second=pl.max_horizontal(left, right))
