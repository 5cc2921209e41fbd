"""Which files a project can be exported as, and the call that reads each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ringtrue.messages import Call
from ringtrue.service.collect.quality import trap_rule

if TYPE_CHECKING:
    from ringtrue.files import Format
    from ringtrue.messages import Argument
    from ringtrue.service.store.records import Project, Scale

# What a file is read for: `average` evaluates by every judge's labels, `correct` by gold, `traps` looks at judges.
ExportUse: TypeAlias = Literal["aggregate", "agree", "average", "correct", "evaluate", "judges", "rate", "traps"]
CSV, PLAIN = "text/csv; charset=utf-8", "text/plain; charset=utf-8"
TABS = "text/tab-separated-values; charset=utf-8"
RUN = "my.run"  # stands for a run of whoever reads the file


@dataclass(frozen=True, slots=True)
class ExportFormat:
    """A file that can be had: `key` is what `export_project` is asked for, `form` the format of `files`, if any.

    `use` is what it is read for, which `make_export_call` makes a call of.
    """

    key: str
    title: str
    ending: str
    media_type: str
    about: str
    use: ExportUse | None = None
    form: Format | None = None


def _formats(*rows: tuple[Any, ...]) -> tuple[ExportFormat, ...]:
    return tuple(ExportFormat(*row) for row in rows)


def _table_formats(csv: ExportUse, tsv: ExportUse, jsonl: ExportUse, parquet: ExportUse) -> tuple[ExportFormat, ...]:
    return _formats(
        ("csv", "CSV", ".csv", CSV, "A table with judge, time, seconds and task; every command reads it.", csv, "csv"),
        ("tsv", "TSV", ".tsv", TABS, "The same with tabs.", tsv, "tsv"),
        ("jsonl", "JSON lines", ".jsonl", "application/x-ndjson", "The same, an object on each line.", jsonl, "jsonl"),
        ("parquet", "Parquet", ".parquet", "application/vnd.apache.parquet", "The same, packed.", parquet, "parquet"),
    )


COMMON_FORMATS = _formats(
    ("answers", "Answers with traps", ".answers.csv", CSV,
     "The table with the answers to traps too, in a column of their own, to see who pays attention.", "traps"),
    ("traps", "Traps", ".traps.csv", CSV, "The questions with a known answer."),
    ("history", "History", ".history.csv", CSV, "Every answer ever given, also undone, unsure, late, set aside."),
    ("all", "Everything", ".zip", "application/zip",
     "Labels, one label each, traps, history and gold, with the commands that read them."),
)  # fmt: skip
GRADED_FORMATS = (
    *_formats(
        ("qrels", "TREC qrels", ".qrels", PLAIN, "query judge doc label.", "average", "trec-qrels"),
        ("qrels-3", "Qrels of three fields", ".three.qrels", PLAIN, "query doc label, for one label each.", "evaluate",
         "qrels-3"),
        ("trec-prefs", "Levels for trec_eval", ".prefs", PLAIN, "Labels as levels of preference.", None, "trec-prefs"),
    ),
    *_table_formats("agree", "judges", "aggregate", "agree"),
    *_formats(
        ("gold", "Gold", ".gold.csv", CSV, "What gold judges said of the draw; scores are corrected by it.", "correct"),
    ),
    *COMMON_FORMATS,
)  # fmt: skip
PAIR_FORMATS = (
    *_formats(
        ("pairs", "Pairs", ".pref", PLAIN, "query doc doc winner.", "rate", "pairs"),
        ("trec-prefs", "Preferences for trec_eval", ".prefs", PLAIN, "query judge subgroup doc level.", "rate",
         "trec-prefs"),
    ),
    *_table_formats("agree", "judges", "rate", "rate"),
    *COMMON_FORMATS,
)  # fmt: skip


def list_export_formats(project: Project) -> tuple[ExportFormat, ...]:
    """The files that a project can be exported as."""
    return PAIR_FORMATS if project.scale.kind == "preference" else GRADED_FORMATS


def make_export_call(use: ExportUse, project: Project, *, name: str, traps: str, gold: str | None = None) -> Call:
    """The call that reads the file of this name, with all that makes it count as the page Quality does.

    `traps` and `gold` are the names of the files of traps and gold. A scale has labels that nobody gave, and coin flips
    are the rarer right the more labels there are.
    """
    scale: dict[str, Argument] = {"scale": _format_scale(project.scale)} if project.scale.kind == "graded" else {}
    if use == "traps":
        needed, trap_count = trap_rule(project.settings)
        # what was lost has the label −1
        known: dict[str, Argument] = {} if gold is None else {"gold": gold, "outside": "exclude"}
        return Call("judges", [name], {"traps": traps, "accept": f"{needed}/{trap_count}", **known, **scale})
    if use == "correct":
        return Call("evaluate", [RUN], {"judgments": "bronze.csv", "gold": name})
    if use == "evaluate" or use == "average":
        return Call("evaluate", [RUN], {"judgments": name} | ({"judges": "average"} if use == "average" else {}))
    if use == "aggregate":
        return Call("aggregate", [name], {"output": "labels.csv"})
    return Call(use, [name], {} if use == "rate" else scale)


def _format_scale(scale: Scale) -> str:
    """The labels of a scale in short: 0-3, or 0,2,5."""
    labels = sorted(int(label.value) for label in scale.labels)
    is_range = labels == list(range(labels[0], labels[-1] + 1))
    return f"{labels[0]}-{labels[-1]}" if is_range else ",".join(map(str, labels))
