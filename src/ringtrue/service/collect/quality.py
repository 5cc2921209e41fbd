"""How far the judges agree so far, and how good each of them is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from ringtrue.errors import InputError
from ringtrue.judges.agreement import Agreement, agree
from ringtrue.judges.quality import JudgeQuality, judge_quality
from ringtrue.service.collect.consensus import settled
from ringtrue.service.collect.export_formats import trap_rule
from ringtrue.service.collect.plainly import without_options
from ringtrue.service.store.label_queries import collected, known_answers
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project

__all__ = ["Quality", "quality_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Quality:
    """What the labels so far say of the judges; where they say nothing, a note says why in a sentence."""

    labels: int
    agreement: Agreement | None
    agreement_note: str | None
    judges: JudgeQuality | None
    judges_note: str | None
    notes: tuple[str, ...] = ()


def quality_of(
    store: Store, project: Project, *, resamples: int = 200, level: float = 0.95, rng: np.random.Generator | None = None
) -> Quality:
    """Agreement and judge quality of what was collected, with traps and gold labels as known answers."""
    with store.read() as connection:
        work = collected(connection, project)
        with_traps = collected(connection, project, traps=True)
        traps = known_answers(connection, project)
        gold = settled(connection, project, queue="gold") if project.scale.kind == "graded" else None
    if with_traps is None:
        nothing = "nobody has answered yet"
        return Quality(labels=0, agreement=None, agreement_note=nothing, judges=None, judges_note=nothing)
    scale = [int(label.value) for label in project.scale.labels] if project.scale.kind == "graded" else None
    gold = _shared(gold, with_traps)
    agreement, why = _or_words(lambda: _agreement(work, scale, resamples, level, rng))
    met = _shared(traps, with_traps)
    rule = trap_rule(project.settings)
    judges, because = _or_words(
        lambda: judge_quality(with_traps, gold=gold, traps=met, accept=rule, scale=scale, repeats="last", level=level)
    )
    notes = [*(agreement.notes if agreement else ()), *(judges.notes if judges else ())]
    told = dict.fromkeys(filter(None, map(without_options, notes)))
    return Quality(
        labels=0 if work is None else work.frame.height, agreement=agreement, agreement_note=why, judges=judges,
        judges_note=because, notes=tuple(told),
    )  # fmt: skip


def _agreement(
    work: Judgments | Preferences | None, scale: list[int] | None, resamples: int, level: float,
    rng: np.random.Generator | None,
) -> Agreement:  # fmt: skip
    """How far judges agree, in our own words where there is nobody to agree with."""
    if work is None:
        raise InputError("nobody has answered yet but to traps")
    judges = work.frame["judge"].n_unique()
    if judges < 2:
        raise InputError("all answers are by one judge so far: agreement needs two")
    return agree(work, scale=scale, repeats="last", resamples=resamples, level=level, rng=rng)


def _or_words(make: Callable[[], T]) -> tuple[T | None, str | None]:
    try:
        return make(), None
    except InputError as error:
        return None, without_options(str(error))


def _shared(known: Judgments | Preferences | None, work: Judgments | Preferences) -> Judgments | Preferences | None:
    """Known answers, unless none of them is about anything that was answered."""
    if known is None:
        return None
    names = ["query", "doc"] if isinstance(known, Judgments) else ["query", "one", "other"]
    return known if _named(known).join(_named(work), on=names, how="semi").height else None


def _named(table: Judgments | Preferences) -> pl.DataFrame:
    if isinstance(table, Judgments):
        return table.frame.select("query", "doc")
    left, right = pl.col("left"), pl.col("right")
    return table.frame.select("query", one=pl.min_horizontal(left, right), other=pl.max_horizontal(left, right))
