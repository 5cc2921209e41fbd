"""What was collected → files: every format that `files` writes, the history, gold, and all of it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from ringtrue.collecting.golding import gold_frame
from ringtrue.collecting.settling import settled
from ringtrue.collecting.tabling import guarded_csv, told_of_ids
from ringtrue.errors import InputError, UsageError, did_you_mean
from ringtrue.files import Format, write_table
from ringtrue.files.writing import replace_file
from ringtrue.store.collected import collected, history, known_answers, verdict_frame
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.store import Store
    from ringtrue.store.values import Project, Queue

__all__ = ["ExportForm", "Exported", "Which", "export", "export_forms"]

Which: TypeAlias = Literal["every", "one"]
Note: TypeAlias = Callable[[str], None]
CSV, PLAIN = "text/csv; charset=utf-8", "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportForm:
    """A file that can be had: `key` is what `export` is asked for; `form` the format of `files`, where it is one."""

    key: str
    title: str
    ending: str
    media_type: str
    about: str
    form: Format | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    """A file that was written: how it should be called, how many rows it has, and what is doubtful about it."""

    path: Path
    name: str
    media_type: str
    rows: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    which: Which
    judge: str | None
    queue: Queue
    traps: bool
    failed: bool


def _form(key: str, title: str, ending: str, media_type: str, about: str, form: Format | None = None) -> ExportForm:
    return ExportForm(key=key, title=title, ending=ending, media_type=media_type, about=about, form=form)


TABLES = (
    _form("csv", "CSV", ".csv", CSV, "A table with judge, time, seconds and task; every command reads it.", "csv"),
    _form("tsv", "TSV", ".tsv", "text/tab-separated-values; charset=utf-8", "The same with tabs.", "tsv"),
    _form("jsonl", "JSON lines", ".jsonl", "application/x-ndjson", "The same, an object on each line.", "jsonl"),
    _form("parquet", "Parquet", ".parquet", "application/vnd.apache.parquet", "The same, packed.", "parquet"),
)
WHOLE = (
    _form("history", "History", ".history.csv", CSV, "Every answer ever given, also undone, unsure, late, set aside."),
    _form("all", "Everything", ".zip", "application/zip", "Labels, one label each, traps, history and gold."),
)
GRADED = (
    _form("qrels", "TREC qrels", ".qrels", PLAIN, "query judge doc label.", "trec-qrels"),
    _form("qrels-3", "Qrels of three fields", ".qrels", PLAIN, "query doc label, for one label each.", "qrels-3"),
    _form("trec-prefs", "Levels for trec_eval", ".prefs", PLAIN, "Labels as levels of preference.", "trec-prefs"),
    *TABLES,
    _form("gold", "Gold", ".gold.csv", CSV, "What gold judges said of the draw; `ringtrue evaluate --gold` reads it."),
    *WHOLE,
)  # fmt: skip
PAIRS = (
    _form("pairs", "Pairs", ".pref", PLAIN, "query doc doc winner.", "pairs"),
    _form("trec-prefs", "Preferences for trec_eval", ".prefs", PLAIN, "query judge subgroup doc level.", "trec-prefs"),
    *TABLES,
    *WHOLE,
)


def export_forms(project: Project) -> tuple[ExportForm, ...]:
    """The files that a project can be exported as."""
    return PAIRS if project.scale.kind == "preference" else GRADED


def export(
    store: Store, project: Project, key: str, folder: Path, *, which: Which = "every", judge: str | None = None,
    queue: Queue = "main", traps: bool = False, failed: bool = True,
) -> Exported:  # fmt: skip
    """Write a file into a folder: every judge's labels, or one label for each item, or one judge's.

    `traps` adds the answers to traps, with a column that tells them; without `failed`, tasks that failed their traps
    are left out. One label is the verdict, else the majority.
    """
    forms = {form.key: form for form in export_forms(project)}
    if key not in forms:
        raise UsageError(f"no export '{key}'{did_you_mean(key, forms) or '; there is ' + ', '.join(forms)}")
    if which not in ("every", "one"):
        raise UsageError(f"every judge's labels or one for each item; found '{which}'")
    if which == "one" and (judge is not None or traps):
        raise UsageError("one label for each item is of no judge, and of no trap; leave out one of the two")
    form, notes = forms[key], list[str]()
    path = folder / f"{project.name}{form.ending}"
    choice = _Choice(which=which, judge=judge, queue=queue, traps=traps, failed=failed)
    with store.read() as connection:
        rows = _write(connection, project, form, path, choice, notes.append)
    return Exported(path=path, name=path.name, media_type=form.media_type, rows=rows, notes=tuple(notes))


def _write(connection: Connection, project: Project, form: ExportForm, path: Path, choice: _Choice, note: Note) -> int:
    if form.key == "history":
        return guarded_csv(path, history(connection, project), note)
    if form.key == "gold":
        frame = gold_frame(connection, project, note)
        write_table(frame, path, form="csv")
        return frame.height
    if form.key == "all":
        return _write_all(connection, project, path, choice, note)
    table = _chosen(connection, project, choice)
    assert form.form is not None  # the others are above
    write_table(table, path, form=form.form, note=note)
    if form.form in ("csv", "tsv"):
        told_of_ids(table.frame, note)
    return table.frame.height


def _chosen(connection: Connection, project: Project, choice: _Choice) -> Judgments | Preferences:
    if choice.which == "one":
        found = settled(connection, project, queue=choice.queue, failed=choice.failed)
    else:
        found = collected(connection, project, queue=choice.queue, traps=choice.traps, failed=choice.failed)
    if found is None:
        raise InputError(f"nothing was collected in '{project.title}' yet that counts: there is nothing to export")
    if choice.judge is None:
        return found
    judges = found.frame["judge"].unique(maintain_order=True).to_list()
    if choice.judge not in judges:
        near = did_you_mean(choice.judge, judges) or f"; there is {', '.join(judges[:5])}"
        raise UsageError(f"no judge '{choice.judge}' has labels here that count{near}")
    return type(found)(found.frame.filter(pl.col("judge") == choice.judge))


def _write_all(connection: Connection, project: Project, path: Path, choice: _Choice, note: Note) -> int:
    """A .zip with all that there is; what nobody has said yet is left out, with a note."""
    folder = path.with_suffix(".parts")
    folder.mkdir()
    labels = "preferences" if project.scale.kind == "preference" else "labels"
    rows = 0
    written: list[Path] = []
    try:
        for name, other in ((f"{labels}.csv", choice), (f"one_{labels}.csv", _one(choice))):
            try:
                table = _chosen(connection, project, other)
            except InputError as error:
                note(f"{name}: {error}")
                continue
            write_table(table, folder / name, form="csv")
            rows += table.frame.height * (other is choice)
            written.append(folder / name)
        if (traps := known_answers(connection, project)) is not None:
            write_table(traps, folder / "traps.csv", form="csv")
            written.append(folder / "traps.csv")
        if project.scale.kind == "graded" and (gold := _gold(connection, project, note)) is not None:
            write_table(gold, folder / "gold.csv", form="csv")
            written.append(folder / "gold.csv")
        decided = verdict_frame(connection, project)
        if decided.height:
            guarded_csv(folder / "verdicts.csv", [decided], note)
            written.append(folder / "verdicts.csv")
        guarded_csv(folder / "history.csv", history(connection, project), note)
        written.append(folder / "history.csv")
        replace_file(path, lambda stream: _zipped(stream, written))
    finally:
        for one in written:
            one.unlink(missing_ok=True)
        folder.rmdir()
    return rows


def _one(choice: _Choice) -> _Choice:
    return _Choice(which="one", judge=None, queue=choice.queue, traps=False, failed=choice.failed)


def _gold(connection: Connection, project: Project, note: Note) -> pl.DataFrame | None:
    try:
        return gold_frame(connection, project, note)
    except InputError:  # nothing was drawn
        return None


def _zipped(stream: object, files: list[Path]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for file in files:
            archive.write(file, file.name)
