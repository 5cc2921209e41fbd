"""Documents for trusted judges: drawn with known probabilities, judged in a queue of their own, and read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.errors import ConflictError, InputError, UsageError
from ringtrue.files import read_judgments
from ringtrue.formatting.phrases import counted
from ringtrue.gold.sampling import GoldDraw, sample, sample_queries
from ringtrue.service.collect.consensus import settled
from ringtrue.service.collect.items import read_runs
from ringtrue.service.collect.plainly import plainly, without_options
from ringtrue.service.collect.uploads import GivenFile, keep, kept, source_of
from ringtrue.service.store.gold_items import gold_items, record_draw
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project
    from ringtrue.tables import Run

__all__ = ["Golded", "draw_gold", "gold_frame"]

BRONZE = "bronze.csv"
UNDECIDED = -1  # seen, and not judged


@dataclass(frozen=True, slots=True, kw_only=True)
class Golded:
    """What was drawn for gold judges: all `documents` of the draw, those that are `new`, what to expect."""

    design: str
    documents: int
    new: int
    queries: int
    expected: dict[str, dict[str, float]]
    notes: tuple[str, ...]


@plainly()
def draw_gold(
    store: Store, project: Project, *, measures: Sequence[str] = ("P@10",), budget: int | None = None,
    queries: int | None = None, compare: bool = False, bronze: GivenFile | None = None, wanted: int = 1, now: float,
    rng: np.random.Generator,
) -> Golded:  # fmt: skip
    """Draw documents, or whole queries, from the project's runs into the queue of gold judges.

    Bronze labels are those of a file, or what was collected, one label for each document; they are kept, since the same
    belong to the answer. Where gold has labels already, the draw continues theirs.
    """
    if project.scale.kind != "graded":
        raise UsageError("gold is drawn for labels of single documents, and this project compares pairs")
    if (budget is None) == (queries is None):
        raise UsageError("how much can gold judge? So many documents, or so many whole queries: one of the two")
    if compare and queries is not None:
        raise UsageError("to compare runs, single documents are drawn: say how many documents")
    if wanted < 1:
        raise UsageError(f"at least one gold judge is needed for each document, found {wanted}")
    notes: list[str] = []
    with store.read() as connection:
        runs = read_runs(kept(connection, project.id, "run"), notes.append)
        if not runs:
            raise InputError("gold is drawn from what runs show, and this project has none: add the runs first")
        labels = _bronze(connection, project, bronze, notes.append)
        notes += _uncovered(runs, labels)
        before = _judged(connection, project)
        drawn = gold_items(connection, project).height
    draw: GoldDraw
    if queries is not None:
        draw = sample_queries(runs, labels, list(measures), queries=queries, already=before, rng=rng)
    else:
        draw = sample(runs, labels, list(measures), budget=budget or 0, compare=compare, already=before, rng=rng)
    with store.transaction() as connection:
        if gold_items(connection, project).height != drawn:
            raise ConflictError(
                "somebody else drew gold, or withdrew it, at the same moment: look at it, and draw again"
            )
        new = record_draw(connection, project, draw.frame, wanted=wanted, rng=rng)
        used = labels.frame.select("query", "doc", "label").write_csv().encode()  # without the judges' names
        keep(connection, project.id, GivenFile(name=BRONZE, content=used), kind="bronze", now=now)
    return Golded(
        design=draw.design, documents=draw.frame.height, new=new, queries=draw.frame["query"].n_unique(),
        expected=draw.expected, notes=(*notes, *map(without_options, draw.notes)),
    )  # fmt: skip


def gold_frame(connection: Connection, project: Project, note: Callable[[str], None] = lambda _: None) -> pl.DataFrame:
    """What was drawn, with the labels of the gold judges, as `ringtrue evaluate --gold` reads it.

    A document that gold judges saw and could not decide or skipped has the label −1, which says so, until one of them
    or an owner decides; one that nobody judged yet has none, and `evaluate` refuses it.
    """
    if project.scale.kind != "graded":
        raise InputError("gold is drawn for labels of single documents, and this project compares pairs")
    items = gold_items(connection, project)
    if not items.height:
        raise InputError(f"no gold was drawn in '{project.title}' yet: there is nothing to export")
    found = settled(connection, project, queue="gold")
    labels = pl.DataFrame(schema={"query": pl.String, "doc": pl.String, "label": pl.Int32})
    if isinstance(found, Judgments):
        labels = found.frame.select("query", "doc", "label")
    frame = items.join(labels, on=["query", "doc"], how="left", maintain_order="left")
    undecided = pl.when(pl.col("undecided")).then(pl.lit(UNDECIDED, dtype=pl.Int32))
    frame = frame.with_columns(label=pl.coalesce("label", undecided)).drop("item", "undecided")
    _doubts(frame, note)
    first = ["query", "doc", "label"]
    return frame.select(*first, *(name for name in frame.columns if name not in first))


def _bronze(connection: Connection, project: Project, file: GivenFile | None, note: Callable[[str], None]) -> Judgments:
    if file is not None:
        labels = read_judgments(source_of(file), note=note)
        labels.require_one_label_each()
        return labels
    found = settled(connection, project)
    if not isinstance(found, Judgments):
        raise InputError("gold checks labels that are there, and none was collected yet; judge first, or give a file")
    return found


def _uncovered(runs: Sequence[Run], labels: Judgments) -> list[str]:
    """A word on queries of the runs of which no label is known yet."""
    asked = pl.concat([run.frame["query"] for run in runs]).unique()
    without = asked.filter(~asked.is_in(labels.frame["query"].unique().implode())).sort()
    if not len(without):
        return []
    known = f"{len(asked) - len(without):,} of {counted(len(asked), 'query')} of the runs"
    doubt = f"the labels that gold is drawn from know {known}, and not '{without[0]}'"
    return [f"{doubt}: unless that is meant, withdraw this draw, and draw again when all are judged"]


def _judged(connection: Connection, project: Project) -> Judgments | None:
    """The gold labels of an earlier draw, all of which must be judged before it is continued."""
    items = gold_items(connection, project)
    if not items.height:
        return None
    frame = gold_frame(connection, project)
    if left := frame["label"].null_count():
        raise InputError(
            f"{counted(left, 'document')} of the earlier draw still wait for gold: a draw is continued when all of "
            f"it is judged"
        )
    return Judgments.of(frame)


def _doubts(frame: pl.DataFrame, note: Callable[[str], None]) -> None:
    open_ = frame["label"].null_count()
    if open_:
        note(f"{open_:,} of {frame.height:,} gold documents have no label yet: `ringtrue evaluate` wants all of them")
    undecided = int((frame["label"] == UNDECIDED).sum())
    if undecided:
        note(f"{undecided:,} of {frame.height:,} gold documents could not be decided: their label is −1, not judged")
