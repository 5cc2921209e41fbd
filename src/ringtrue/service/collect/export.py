"""What was collected → files: every format that `files` writes, the history, gold, and all of it."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import TYPE_CHECKING, Literal, TypeAlias

import polars as pl

from ringtrue.errors import InputError, UsageError, did_you_mean
from ringtrue.files import write_table
from ringtrue.files.write import replace_file
from ringtrue.formatting.phrases import counted
from ringtrue.service.collect.consensus import settled
from ringtrue.service.collect.export_formats import JUDGES, ExportForm, command_for, export_forms
from ringtrue.service.collect.gold_queue import gold_frame
from ringtrue.service.collect.plainly import plainly
from ringtrue.service.collect.safe_csv import guarded_csv, told_of_ids
from ringtrue.service.store.label_queries import collected, history, known_answers, verdict_frame
from ringtrue.tables import Judgments, Preferences

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from ringtrue.service.store import Store
    from ringtrue.service.store.records import Project, Queue

__all__ = ["Exported", "Which", "export", "told_of_ties"]

Which: TypeAlias = Literal["every", "one"]
Note: TypeAlias = Callable[[str], None]
README = "README.txt"
ABOUT = {
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


@plainly()
def export(
    store: Store, project: Project, key: str, folder: Path, *, which: Which = "every", judge: str | None = None,
    queue: Queue = "main", traps: bool = False, failed: bool = True,
) -> Exported:  # fmt: skip
    """Write a file into a folder: every judge's labels, or one label for each item, or one judge's.

    `traps` adds the answers to traps, with a column that tells them; without `failed`, tasks that failed their traps
    are left out. One label is the verdict, else the majority, and where judges tie the lower label.
    """
    forms = {form.key: form for form in export_forms(project)}
    if key not in forms:
        raise UsageError(f"no export '{key}'{did_you_mean(key, forms) or '; there is ' + ', '.join(forms)}")
    if which not in ("every", "one"):
        raise UsageError(f"every judge's labels or one for each item; found '{which}'")
    if key == "qrels-3" and judge is None:  # it names no judge, so that several could not be told apart
        which, traps = "one", False
    elif key in ("answers", "all"):
        which, traps = "every", key == "answers"
    elif which == "one" and (judge is not None or traps):
        raise UsageError("one label for each item is of no judge, and of no trap; leave out one of the two")
    form, notes = forms[key], list[str]()
    choice = _Choice(which=which, judge=judge, queue=queue, traps=traps, failed=failed)
    path = folder / _name(project, form, choice)
    with store.read() as connection:
        rows = _write(connection, project, form, path, choice, notes.append)
    return Exported(path=path, name=path.name, media_type=form.media_type, rows=rows, notes=tuple(notes))


def _name(project: Project, form: ExportForm, choice: _Choice) -> str:
    """How a file is called: two that differ in what is in them have different names."""
    judge = re.sub(r"[^\w-]+", "_", choice.judge or "")[:60]
    parts = [project.name]
    if form.form is not None or form.key == "answers":
        parts += [
            word
            for word, said in (
                ("one", choice.which == "one" and form.key != "qrels-3"), (judge, judge),
                ("gold-judges", choice.queue == "gold"), ("with-traps", choice.traps and form.key != "answers"),
                ("passed", not choice.failed),
            )
            if said
        ]  # fmt: skip
    return ".".join(parts) + form.ending


def _write(connection: Connection, project: Project, form: ExportForm, path: Path, choice: _Choice, note: Note) -> int:
    if form.key == "history":
        return guarded_csv(path, history(connection, project), note)
    if form.key == "all":
        return _write_all(connection, project, path, choice, note)
    table: Judgments | Preferences | pl.DataFrame
    if form.key == "gold":
        table = gold_frame(connection, project, note)
    elif form.key == "traps":
        table = _traps(connection, project)
    else:
        table = _chosen(connection, project, choice, note)
    write_table(table, path, form=form.form or "csv", note=note)
    frame = table if isinstance(table, pl.DataFrame) else table.frame
    if path.suffix in (".csv", ".tsv"):
        told_of_ids(frame, note)
    return frame.height


def _traps(connection: Connection, project: Project) -> pl.DataFrame:
    known = known_answers(connection, project)
    if known is None:
        raise InputError(f"there are no traps in '{project.title}': add them on the page Files")
    return known.frame.drop("judge", strict=False)


def _chosen(
    connection: Connection, project: Project, choice: _Choice, note: Note = lambda _: None
) -> Judgments | Preferences:
    if choice.which == "one":
        found = settled(connection, project, queue=choice.queue, failed=choice.failed)
        if found is not None and (tied := int((found.frame["by"] == "tie").sum())):
            note(told_of_ties(project, tied))
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


def told_of_ties(project: Project, tied: int) -> str:
    """What becomes of items on which as many judges say one thing as another."""
    instead = "neither document is taken for better" if project.scale.kind == "preference" else "the lower is taken"
    return (
        f"judges tie on {counted(tied, 'item')}: no answer has more votes than all others, and {instead}, until "
        f"somebody decides under Disagreements"
    )


def _write_all(connection: Connection, project: Project, path: Path, choice: _Choice, note: Note) -> int:
    """A .zip with all that there is; what nobody has said yet is left out, with a note."""
    folder = path.with_suffix(".parts")
    folder.mkdir()
    labels = "preferences" if project.scale.kind == "preference" else "labels"
    answers = replace(choice, traps=True)
    one = replace(choice, which="one", judge=None)
    rows = 0
    written: dict[str, str] = {}  # the name of each file, and the command that reads it

    def put(name: str, table: Judgments | Preferences | pl.DataFrame, command: str = "") -> None:
        write_table(table, folder / name, form="csv")
        written[name] = command

    try:
        traps = known_answers(connection, project)
        for name, which, command in (
            (f"{labels}.csv", choice, "ringtrue agree NAME"),
            (f"one_{labels}.csv", one, "ringtrue rate NAME" if labels == "preferences" else
             "ringtrue evaluate my.run --judgments NAME"),
            ("answers.csv", None if traps is None else answers, JUDGES),
        ):  # fmt: skip
            if which is None:
                continue
            try:
                table = _chosen(connection, project, which, note)
            except InputError as error:
                note(f"{name}: {error}")
                continue
            put(name, table, command)
            rows += table.frame.height * (which is choice)
        if traps is not None:
            put("traps.csv", _traps(connection, project))
        if project.scale.kind == "graded" and (gold := _gold(connection, project, note)) is not None:
            put("gold.csv", gold, "ringtrue evaluate my.run --judgments bronze.csv --gold NAME")
        decided = verdict_frame(connection, project)
        if decided.height:
            guarded_csv(folder / "verdicts.csv", [decided], note)
            written["verdicts.csv"] = ""
        guarded_csv(folder / "history.csv", history(connection, project), note)
        written["history.csv"] = ""
        (folder / README).write_text(_readme(project, written), encoding="utf-8")
        replace_file(path, lambda stream: _zipped(stream, [folder / name for name in (*written, README)]))
    finally:
        rmtree(folder, ignore_errors=True)
    return rows


def _readme(project: Project, written: dict[str, str]) -> str:
    lines = [f"{project.title}: what was collected with ringtrue, and the commands that read it", ""]
    for name, command in written.items():
        known = command_for(command, project.settings, name=name, traps="traps.csv")
        lines.append(f"{name:20} {ABOUT['one' if name.startswith('one_') else name]}")
        lines += [f"{'':20} {known}"] if known else []
    return "\n".join(lines) + "\n"


def _gold(connection: Connection, project: Project, note: Note) -> pl.DataFrame | None:
    try:
        return gold_frame(connection, project, note)
    except InputError:  # nothing was drawn
        return None


def _zipped(stream: object, files: list[Path]) -> None:
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:  # type: ignore[call-overload]
        for file in files:
            archive.write(file, file.name)
