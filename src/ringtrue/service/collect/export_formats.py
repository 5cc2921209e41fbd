"""The files that a project can be exported as, and the command that reads each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ringtrue.files import Format
    from ringtrue.service.store.records import Project, Settings

CSV, PLAIN = "text/csv; charset=utf-8", "text/plain; charset=utf-8"
TABS = "text/tab-separated-values; charset=utf-8"
DEFAULT_TRAP_RULE = (4, 5)
JUDGES_COMMAND = "ringtrue judges NAME --traps TRAPS --accept RULE"


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A file that can be had: `key` is what `export_project` is asked for, `form` the format of `files`, if any.

    `command` reads it: NAME stands for the file, TRAPS for that of the traps, RULE for how many of them are needed.
    """

    key: str
    title: str
    ending: str
    media_type: str
    about: str
    command: str = ""
    form: Format | None = None


def _formats(*rows: tuple[Any, ...]) -> tuple[ExportFormat, ...]:
    return tuple(ExportFormat(*row) for row in rows)


def _table_formats(jsonl_command: str, parquet_command: str) -> tuple[ExportFormat, ...]:
    return _formats(
        ("csv", "CSV", ".csv", CSV, "A table with judge, time, seconds and task; every command reads it.",
         "ringtrue agree NAME", "csv"),
        ("tsv", "TSV", ".tsv", TABS, "The same with tabs.", "ringtrue judges NAME", "tsv"),
        ("jsonl", "JSON lines", ".jsonl", "application/x-ndjson", "The same, an object on each line.",
         jsonl_command, "jsonl"),
        ("parquet", "Parquet", ".parquet", "application/vnd.apache.parquet", "The same, packed.",
         parquet_command, "parquet"),
    )  # fmt: skip


COMMON_FORMATS = _formats(
    ("answers", "Answers with traps", ".answers.csv", CSV,
     "The table with the answers to traps too, in a column of their own, to see who pays attention.", JUDGES_COMMAND),
    ("traps", "Traps", ".traps.csv", CSV, "The questions with a known answer."),
    ("history", "History", ".history.csv", CSV, "Every answer ever given, also undone, unsure, late, set aside."),
    ("all", "Everything", ".zip", "application/zip",
     "Labels, one label each, traps, history and gold, with the commands that read them."),
)  # fmt: skip
GRADED_FORMATS = (
    *_formats(
        ("qrels", "TREC qrels", ".qrels", PLAIN, "query judge doc label.",
         "ringtrue evaluate my.run --judgments NAME --judges average", "trec-qrels"),
        ("qrels-3", "Qrels of three fields", ".three.qrels", PLAIN, "query doc label, for one label each.",
         "ringtrue evaluate my.run --judgments NAME", "qrels-3"),
        ("trec-prefs", "Levels for trec_eval", ".prefs", PLAIN, "Labels as levels of preference.", "", "trec-prefs"),
    ),
    *_table_formats("ringtrue aggregate NAME -o labels.csv", "ringtrue agree NAME"),
    *_formats(
        ("gold", "Gold", ".gold.csv", CSV, "What gold judges said of the draw; `ringtrue evaluate --gold` reads it.",
         "ringtrue evaluate my.run --judgments bronze.csv --gold NAME"),
    ),
    *COMMON_FORMATS,
)  # fmt: skip
PAIR_FORMATS = (
    *_formats(
        ("pairs", "Pairs", ".pref", PLAIN, "query doc doc winner.", "ringtrue rate NAME", "pairs"),
        ("trec-prefs", "Preferences for trec_eval", ".prefs", PLAIN, "query judge subgroup doc level.",
         "ringtrue rate NAME", "trec-prefs"),
    ),
    *_table_formats("ringtrue rate NAME", "ringtrue rate NAME"),
    *COMMON_FORMATS,
)  # fmt: skip


def list_export_formats(project: Project) -> tuple[ExportFormat, ...]:
    """The files that a project can be exported as."""
    return PAIR_FORMATS if project.scale.kind == "preference" else GRADED_FORMATS


def trap_rule(settings: Settings) -> tuple[int, int]:
    """How many traps have to be passed, of how many, for a task to be accepted."""
    return (max(settings.traps_needed, 1), settings.traps) if settings.traps else DEFAULT_TRAP_RULE


def fill_command(command: str, settings: Settings, *, name: str, traps: str) -> str:
    """A command with the names of files in their places."""
    needed, trap_count = trap_rule(settings)
    return command.replace("NAME", name).replace("TRAPS", traps).replace("RULE", f"{needed}/{trap_count}")
