"""Documents for trusted judges: drawn with known probabilities, judged in a queue of their own, and read back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from ringtrue.errors import ConflictError, InputError, UsageError
from ringtrue.files import read_judgments
from ringtrue.files.tabular import NoteHandler
from ringtrue.formatting.phrases import format_count
from ringtrue.gold.sampling import GoldDraw, sample, sample_queries
from ringtrue.messages import Note
from ringtrue.service.collect.inputs import read_runs
from ringtrue.service.collect.quality import resolve_labels
from ringtrue.service.collect.uploads import (
    UploadedFile,
    as_csv_file,
    load_files,
    open_source,
    read_own_csv,
    require_unpacked_size,
    store_file,
)
from ringtrue.service.store.items import load_gold_items, record_gold_draw
from ringtrue.service.store.projects import delete_uploads
from ringtrue.tables import Judgments

if TYPE_CHECKING:
    import numpy as np
    from sqlalchemy import Connection

    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project
    from ringtrue.tables import Run

BRONZE_FILE = "bronze.csv"
FRAME_KIND = "frame"  # of the file with all documents that could be drawn
UNDECIDED_LABEL = -1  # seen, and not judged


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldDrawSummary:
    """What was drawn for gold judges: all `documents` of the draw, those that are `new`, what to expect."""

    design: str
    documents: int
    new: int
    queries: int
    expected: dict[str, dict[str, float]]
    notes: tuple[Note, ...]


def draw_gold(
    store: Store,
    project: Project,
    *,
    measures: Sequence[str] = ("P@10",),
    budget: int | None = None,
    queries: int | None = None,
    compare: bool = False,
    bronze: UploadedFile | None = None,
    wanted: int = 1,
    now: float,
    rng: np.random.Generator,
) -> GoldDrawSummary:
    """Draw documents, or whole queries, from the project's runs into the queue of gold judges.

    Bronze labels are those of a file, or what was collected, one label for each document; they are kept, since the same
    belong to the answer. Where gold has labels already, the draw continues theirs.
    """
    if project.scale.kind != "graded":
        raise UsageError(
            "gold-needs-documents", "gold is drawn for labels of single documents, and this project compares pairs"
        )
    if (budget is None) == (queries is None):
        raise UsageError(
            "documents-or-queries",
            "how much can gold judge? So many documents, or so many whole queries: one of the two",
            parameter="budget",
        )
    if compare and queries is not None:
        raise UsageError(
            "comparison-draws-documents",
            "to compare runs, single documents are drawn: say how many documents",
            parameter="compare",
        )
    if wanted < 1:
        raise UsageError(
            "no-gold-judge", f"at least one gold judge is needed for each document, found {wanted}", parameter="wanted"
        )
    notes: list[Note] = []
    with store.read() as connection:
        runs = read_runs(load_files(connection, project.id, "run"), notes.append)
        if not runs:
            raise InputError(
                "no-runs-in-project", "gold is drawn from what runs show, and this project has none: add the runs first"
            )
        labels = _load_bronze_labels(connection, project, bronze, notes.append)
        notes += _uncovered_query_notes(runs, labels)
        judged_gold = _load_judged_gold(connection, project)
        drawn_before = load_gold_items(connection, project).height
        frames = load_files(connection, project.id, FRAME_KIND)
    draw: GoldDraw
    if queries is not None:
        draw = sample_queries(runs, labels, list(measures), queries=queries, already=judged_gold, rng=rng)
    else:
        draw = sample(
            runs,
            labels,
            list(measures),
            budget=budget or 0,
            compare=compare,
            already=judged_gold,
            sampling_frame=read_own_csv(frames[-1]) if frames else None,
            rng=rng,
        )
    with store.transaction() as connection:
        if load_gold_items(connection, project).height != drawn_before:
            raise ConflictError(
                "gold-drawn-meanwhile",
                "somebody else drew gold, or withdrew it, at the same moment: look at it, and draw again",
            )
        new = record_gold_draw(connection, project, draw.frame, wanted=wanted, rng=rng)
        bronze_file = as_csv_file(BRONZE_FILE, labels.frame.select("query", "doc", "label"))
        store_file(connection, project.id, bronze_file, kind="bronze", now=now)
        if draw.sampling_frame is not None:
            delete_uploads(connection, project.id, FRAME_KIND)
            frame_file = as_csv_file(f"{project.name}.frame.csv", draw.sampling_frame)
            store_file(connection, project.id, frame_file, kind=FRAME_KIND, now=now)
    return GoldDrawSummary(
        design=draw.design,
        documents=draw.frame.height,
        new=new,
        queries=draw.frame["query"].n_unique(),
        expected=draw.expected,
        notes=(*notes, *draw.notes),
    )


def load_gold_frame(connection: Connection, project: Project, note: NoteHandler = lambda _: None) -> pl.DataFrame:
    """What was drawn, with the labels of the gold judges, as corrected scores are computed from it.

    A document that gold judges saw and could not decide or skipped has the label −1 with the reason, until one of them
    or an owner decides; one that nobody judged yet has none. Both count as lost.
    """
    if project.scale.kind != "graded":
        raise InputError(
            "gold-needs-documents", "gold is drawn for labels of single documents, and this project compares pairs"
        )
    items = load_gold_items(connection, project)
    if not items.height:
        raise InputError("no-gold-drawn", f"no gold was drawn in '{project.title}' yet: there is nothing to export")
    consensus = resolve_labels(connection, project, queue="gold")
    labels = pl.DataFrame(schema={"query": pl.String, "doc": pl.String, "label": pl.Int32})
    if isinstance(consensus, Judgments):
        labels = consensus.frame.select("query", "doc", "label")
    frame = items.join(labels, on=["query", "doc"], how="left", maintain_order="left")
    reason = pl.when(pl.col("label").is_null()).then("undecided")
    undecided = pl.when(pl.col("undecided").is_not_null()).then(pl.lit(UNDECIDED_LABEL, dtype=pl.Int32))
    frame = frame.with_columns(label=pl.coalesce("label", undecided), reason=reason).drop("item", "undecided")
    if frame["reason"].null_count() == frame.height:
        frame = frame.drop("reason")
    _note_missing_gold(frame, note)
    first_columns = ["query", "doc", "label"]
    return frame.select(*first_columns, *(name for name in frame.columns if name not in first_columns))


def _load_bronze_labels(
    connection: Connection, project: Project, file: UploadedFile | None, note: NoteHandler
) -> Judgments:
    if file is not None:
        require_unpacked_size([file])
        labels = read_judgments(open_source(file), note=note)
        labels.require_one_label_each()
        return labels
    consensus = resolve_labels(connection, project)
    if not isinstance(consensus, Judgments):
        raise InputError(
            "no-bronze-labels",
            "gold checks labels that are there, and none was collected yet; judge first, or give a file",
        )
    return consensus


def _uncovered_query_notes(runs: Sequence[Run], labels: Judgments) -> list[Note]:
    """A word on queries of the runs of which no label is known yet."""
    run_queries = pl.concat([run.frame["query"] for run in runs]).unique()
    uncovered = run_queries.filter(~run_queries.is_in(labels.frame["query"].unique().implode())).sort()
    if not len(uncovered):
        return []
    covered = f"{len(run_queries) - len(uncovered):,} of {format_count(len(run_queries), 'query')} of the runs"
    return [
        Note(
            "queries-without-labels",
            f"the labels that gold is drawn from know {covered}, and not '{uncovered[0]}': unless that is meant, "
            f"withdraw this draw, and draw again when all are judged",
        )
    ]


def _load_judged_gold(connection: Connection, project: Project) -> Judgments | None:
    """The gold labels of an earlier draw, all of which must be judged before it is continued."""
    items = load_gold_items(connection, project)
    if not items.height:
        return None
    frame = load_gold_frame(connection, project)
    if unjudged := frame["label"].null_count():
        raise InputError(
            "draw-not-judged",
            f"{format_count(unjudged, 'document')} of the earlier draw still wait for gold: a draw is continued when "
            f"all of it is judged",
        )
    return Judgments.of(frame)


def _note_missing_gold(frame: pl.DataFrame, note: NoteHandler) -> None:
    unjudged = frame["label"].null_count()
    if unjudged:
        note(
            Note(
                "gold-not-judged",
                f"{unjudged:,} of {frame.height:,} gold documents have no label yet, and corrected scores need all of "
                f"them",
            )
        )
    undecided = int((frame["label"] == UNDECIDED_LABEL).sum())
    if undecided:
        note(
            Note(
                "gold-undecided",
                f"{undecided:,} of {frame.height:,} gold documents could not be decided: their label is −1, not judged",
            )
        )
