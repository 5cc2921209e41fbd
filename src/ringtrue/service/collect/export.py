"""What was collected → files.

In tables for spreadsheets nothing is taken for a formula; ringtrue reads ids back as they were.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import IO, TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from ringtrue.errors import InputError, UsageError, did_you_mean
from ringtrue.files import write_table
from ringtrue.files.tabular import ID_COLUMNS, NoteHandler, guard_formulas
from ringtrue.files.write import replace_file
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import PYTHON_CALLS, Note
from ringtrue.service.collect.export_formats import ExportFormat, ExportUse, list_export_formats, make_export_call
from ringtrue.service.collect.gold_queue import load_gold_frame
from ringtrue.service.collect.quality import resolve_labels
from ringtrue.service.store.label_queries import (
    TrapRows,
    load_collected,
    load_known_answers,
    load_verdict_frame,
    stream_history,
)
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.messages import CallSpelling
    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project, Queue


LabelSelection: TypeAlias = Literal["every", "one"]
README = "README.txt"
FILE_DESCRIPTIONS = {
    "labels.csv": "every judge's labels that count, without traps",
    "preferences.csv": "every judge's votes that count, sides as they were seen, without traps",
    "one": "one for each item: what was decided, else what most said, else (by says tie) the lower, or neither",
    "answers.csv": "every judge's answers, those to traps too",
    "traps.csv": "the questions with a known answer",
    "gold.csv": "what gold judges said of the draw; bronze.csv, which belongs to it, is on the page Gold",
    "verdicts.csv": "what was decided where judges disagreed",
    "history.csv": "every answer ever given, also undone, unsure, late, set aside",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    """A file that was written: how it should be called, how many rows it has, and what is doubtful about it."""

    path: Path
    name: str
    media_type: str
    rows: int
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExportOptions:
    which: LabelSelection
    judge: str | None
    queue: Queue
    traps: TrapRows
    failed: bool
    spelling: CallSpelling


def export_project(
    store: Store,
    project: Project,
    key: str,
    folder: Path,
    *,
    which: LabelSelection = "every",
    judge: str | None = None,
    queue: Queue = "main",
    traps: bool = False,
    failed: bool = True,
    spelling: CallSpelling = PYTHON_CALLS,
) -> ExportedFile:
    """Write a file into a folder: every judge's labels, or one label for each item, or one judge's.

    `traps` adds the answers to traps, with a column that tells them; without `failed`, tasks that failed their traps
    are left out. One label is the verdict, else the majority, and where judges tie the lower label. `spelling` writes
    the calls in the README of everything.
    """
    formats = {export_format.key: export_format for export_format in list_export_formats(project)}
    if key not in formats:
        near = did_you_mean(key, formats) or f"; there is {', '.join(formats)}"
        raise UsageError("unknown-export", f"no export '{key}'{near}", parameter="key")
    if which not in ("every", "one"):
        raise UsageError(
            "unknown-selection", f"every judge's labels or one for each item; found '{which}'", parameter="which"
        )
    if key == "qrels-3" and judge is None:  # it names no judge, so that several could not be told apart
        which, traps = "one", False
    elif key in ("answers", "all"):
        which, traps = "every", False
    elif which == "one" and (judge is not None or traps):
        raise UsageError(
            "one-label-of-no-judge",
            "one label for each item is of no judge, and of no trap; leave out one of the two",
            parameter="which",
        )
    export_format, notes = formats[key], list[Note]()
    trap_rows: TrapRows = "all" if key == "answers" else "labels" if traps else "none"
    options = _ExportOptions(which=which, judge=judge, queue=queue, traps=trap_rows, failed=failed, spelling=spelling)
    path = folder / _export_name(project, export_format, options)
    with store.read() as connection:
        rows = _write_export(connection, project, export_format, path, options, notes.append)
    return ExportedFile(path=path, name=path.name, media_type=export_format.media_type, rows=rows, notes=tuple(notes))


def format_ties_note(project: Project, tied: int) -> Note:
    """What becomes of items on which as many judges say one thing as another."""
    instead = "neither document is taken for better" if project.scale.kind == "preference" else "the lower is taken"
    return Note(
        "judges-tie",
        f"judges tie on {format_count(tied, 'item')}: no answer has more votes than all others, and {instead}, until "
        f"somebody decides under Disagreements",
    )


def write_safe_csv(path: Path, frames: Iterable[pl.DataFrame], note: NoteHandler) -> int:
    """Write frames as one CSV as they come, formulas guarded; answers how many rows they have."""
    count = 0
    guarded_ids: set[str] = set()

    def write(stream: IO[bytes]) -> None:
        nonlocal count
        for place, frame in enumerate(frames):
            guarded = guard_formulas(frame)
            guarded.write_csv(stream, include_header=not place)
            guarded_ids.update(_find_guarded_ids(frame, guarded))
            count += frame.height

    replace_file(path, write)
    _note_guarded_ids(guarded_ids, note)
    return count


def _export_name(project: Project, export_format: ExportFormat, options: _ExportOptions) -> str:
    """How a file is called: two that differ in what is in them have different names."""
    judge = re.sub(r"[^\w-]+", "_", options.judge or "")[:60]
    parts = [project.name]
    if export_format.form is not None or export_format.key == "answers":
        parts += [
            word
            for word, applies in (
                ("one", options.which == "one" and export_format.key != "qrels-3"),
                (judge, judge),
                ("gold-judges", options.queue == "gold"),
                ("with-traps", options.traps == "labels"),
                ("passed", not options.failed),
            )
            if applies
        ]
    return ".".join(parts) + export_format.ending


def _write_export(
    connection: Connection,
    project: Project,
    export_format: ExportFormat,
    path: Path,
    options: _ExportOptions,
    note: NoteHandler,
) -> int:
    if export_format.key == "history":
        return write_safe_csv(path, stream_history(connection, project), note)
    if export_format.key == "all":
        return _write_all(connection, project, path, options, note)
    table: Judgments | Preferences | pl.DataFrame
    if export_format.key == "gold":
        table = load_gold_frame(connection, project, note)
    elif export_format.key == "traps":
        table = _trap_frame(connection, project)
    else:
        table = _select_labels(connection, project, options, note)
    frame = table if isinstance(table, pl.DataFrame) else table.frame
    if path.suffix in (".csv", ".tsv"):
        _note_guarded_ids(_find_guarded_ids(frame, guard_formulas(frame)), note)
    write_table(table, path, form=export_format.form or "csv", note=note, guard=True)
    return frame.height


def _trap_frame(connection: Connection, project: Project) -> pl.DataFrame:
    traps = load_known_answers(connection, project)
    if traps is None:
        raise InputError("no-traps-yet", f"there are no traps in '{project.title}': add them on the page Files")
    return traps.frame.drop("judge", strict=False)


def _select_labels(
    connection: Connection, project: Project, options: _ExportOptions, note: NoteHandler = lambda _: None
) -> Judgments | Preferences:
    if options.which == "one":
        labels = resolve_labels(connection, project, queue=options.queue, failed=options.failed)
        if labels is not None and (tied := int((labels.frame["by"] == "tie").sum())):
            note(format_ties_note(project, tied))
    else:
        labels = load_collected(connection, project, queue=options.queue, traps=options.traps, failed=options.failed)
    if labels is None:
        raise InputError(
            "nothing-collected",
            f"nothing was collected in '{project.title}' yet that counts: there is nothing to export",
        )
    if options.judge is None:
        return labels
    judges = labels.frame["judge"].unique(maintain_order=True).to_list()
    if options.judge not in judges:
        near = did_you_mean(options.judge, judges) or f"; there is {', '.join(judges[:5])}"
        raise UsageError(
            "unknown-judge", f"no judge '{options.judge}' has labels here that count{near}", parameter="judge"
        )
    return type(labels)(labels.frame.filter(pl.col("judge") == options.judge))


def _write_all(connection: Connection, project: Project, path: Path, options: _ExportOptions, note: NoteHandler) -> int:
    """A .zip with all that there is; what nobody has said yet is left out, with a note."""
    folder = path.with_suffix(".parts")
    folder.mkdir()
    label_kind = "preferences" if project.scale.kind == "preference" else "labels"
    answer_options = replace(options, traps="all")
    consensus_options = replace(options, which="one", judge=None)
    rows = 0
    uses: dict[str, ExportUse | None] = {}  # the name of each file, and what it is read for

    def put(name: str, table: Judgments | Preferences | pl.DataFrame, use: ExportUse | None = None) -> None:
        frame = table if isinstance(table, pl.DataFrame) else table.frame
        write_safe_csv(folder / name, [frame], lambda _: None)  # the history, which has all ids, tells of them
        uses[name] = use

    try:
        traps = load_known_answers(connection, project)
        label_files: list[tuple[str, _ExportOptions, ExportUse]] = [
            (f"{label_kind}.csv", options, "agree"),
            (f"one_{label_kind}.csv", consensus_options, "rate" if label_kind == "preferences" else "evaluate"),
        ]
        if traps is not None:
            label_files.append(("answers.csv", answer_options, "traps"))
        for name, file_options, use in label_files:
            try:
                table = _select_labels(connection, project, file_options, note)
            except InputError as error:
                note(error.note.about(name))
                continue
            put(name, table, use)
            rows += table.frame.height * (file_options is options)
        if traps is not None:
            put("traps.csv", _trap_frame(connection, project))
        if project.scale.kind == "graded" and (gold := _gold_frame_or_none(connection, project, note)) is not None:
            put("gold.csv", gold, "correct")
        verdicts = load_verdict_frame(connection, project)
        if verdicts.height:
            write_safe_csv(folder / "verdicts.csv", [verdicts], note)
            uses["verdicts.csv"] = None
        write_safe_csv(folder / "history.csv", stream_history(connection, project), note)
        uses["history.csv"] = None
        (folder / README).write_text(_readme_text(project, uses, options.spelling), encoding="utf-8")
        replace_file(path, lambda stream: _write_zip(stream, [folder / name for name in (*uses, README)]))
    finally:
        rmtree(folder, ignore_errors=True)
    return rows


def _readme_text(project: Project, uses: dict[str, ExportUse | None], spelling: CallSpelling) -> str:
    lines = [f"{project.title}: what was collected with ringtrue, and the commands that read it", ""]
    gold = "gold.csv" if "gold.csv" in uses else None
    for name, use in uses.items():
        lines.append(f"{name:20} {FILE_DESCRIPTIONS['one' if name.startswith('one_') else name]}")
        if use is not None:
            call = make_export_call(use, project, name=name, traps="traps.csv", gold=gold)
            lines.append(f"{'':20} {spelling.call(call)}")
    return "\n".join(lines) + "\n"


def _gold_frame_or_none(connection: Connection, project: Project, note: NoteHandler) -> pl.DataFrame | None:
    try:
        return load_gold_frame(connection, project, note)
    except InputError as error:
        if error.code != "no-gold-drawn":
            raise
        return None


def _write_zip(stream: object, files: list[Path]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for file in files:
            archive.write(file, file.name)


def _find_guarded_ids(frame: pl.DataFrame, guarded: pl.DataFrame) -> set[str]:
    """The ids that begin like a formula."""
    names = [name for name in frame.columns if name in ID_COLUMNS]
    return {identifier for name in names for identifier in frame[name].filter(frame[name] != guarded[name])}


def _note_guarded_ids(guarded_ids: set[str], note: NoteHandler) -> None:
    if guarded_ids:
        note(
            Note(
                "guarded-ids",
                f"{format_count(len(guarded_ids), 'id')} begin like a formula, such as {min(guarded_ids)!r}: in CSV "
                f"and TSV an apostrophe stands in front, which ringtrue takes off; other programs take JSON lines or "
                f"Parquet",
            )
        )
