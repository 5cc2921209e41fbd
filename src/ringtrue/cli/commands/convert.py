"""`ringtrue convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ringtrue.cli.errors import OptionError
from ringtrue.cli.options import common
from ringtrue.cli.options.common import option
from ringtrue.cli.output import OutputFormat, emit
from ringtrue.errors import DuplicateError, TableError
from ringtrue.formatting.grid import Grid
from ringtrue.formatting.phrases import format_count
from ringtrue.messages import Note

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from ringtrue.files import Format, TableKind
    from ringtrue.tables import Judgments, Preferences, Run

KINDS = ("run", "judgments", "preferences", "topics", "documents")
Keep = Literal["first", "last"]


@click.command("convert", cls=common.Command)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@option("--kind", "What IN holds, where that cannot be told.", choices=KINDS)
@option("--as FORMAT", common.AS_HELP, to="source_format")
@option("--to FORMAT", "The format of OUT.", to="target_format")
@option(
    "--to-kind",
    "Write the preferences that judgments imply; .pref, and .prefs for trec_eval, say so by themselves.",
    choices=["preferences"],
)
@option("--ties", "Documents with equal labels are ties; otherwise they are left out.", is_flag=True)
@common.repeats_option(["first", "last"])
@common.table_options
@common.output_options
def command(
    source: str,
    target: str,
    kind: TableKind | None,
    source_format: str | None,
    target_format: str | None,
    to_kind: Literal["preferences"] | None,
    ties: bool,
    repeats: Keep | None,
    columns: tuple[str, ...],
    where: tuple[str, ...],
    form: OutputFormat,
) -> None:
    """The same data in another format.

    What IN holds (run, judgments, preferences, topics, documents) and its format are recognised from its
    content; the format of OUT from its extension. Both may end in .gz or .zst. Judgments can become the
    preferences that they imply: of two documents, the one with the higher label. A .pref has lines of `query doc doc
    winner`; a .prefs has documents in groups with levels, as trec_eval reads them.
    """
    import polars as pl

    from ringtrue import files
    from ringtrue.cli.options.files import parse_format
    from ringtrue.files.byte_source import Source
    from ringtrue.files.write import format_from_extension
    from ringtrue.tables import Judgments

    read_as, write_as = parse_format(source_format), parse_format(target_format)
    notes: list[Note] = []
    file, column_names, conditions = Source(source), common.parse_columns(columns), common.parse_conditions(where)
    _refuse_same_file(source, target)
    kind = kind or _only_kind_of(read_as) or files.recognise_kind(file, columns=column_names)
    readers: dict[TableKind, Callable[..., Run | Judgments | Preferences | pl.DataFrame]] = {
        "run": files.read_run,
        "judgments": files.read_judgments,
        "preferences": files.read_preferences,
        "topics": files.read_topics,
        "documents": files.read_documents,
    }
    table = readers[kind](file, form=read_as, columns=column_names, where=conditions, note=notes.append)
    out_form = write_as or format_from_extension(target)
    if kind == "preferences" and out_form in ("trec-qrels", "qrels-3"):
        raise OptionError(
            "wrong-format",
            f"preferences are no labels; ratings make labels of them: `ringtrue rate {source} --qrels "
            f"{target if format_from_extension(target) == 'trec-qrels' else 'labels.qrels'} --threshold 0`",
            parameter="target",
            file=target,
        )
    if isinstance(table, Judgments) and (to_kind or out_form in ("pairs", "trec-prefs")):
        try:
            table, n_rows = _imply_preferences(table, out_form, ties, repeats, notes.append)
        except DuplicateError as error:
            from ringtrue.files.read import explain_duplicate

            raise explain_duplicate(error, source, form=read_as, columns=column_names, where=conditions) from error
        except TableError as error:
            raise error.found_in(file.display_name) from error
        kind = "preferences"
    else:
        _refuse_preference_options(kind, to_kind, ties, repeats)
        n_rows = (table if isinstance(table, pl.DataFrame) else table.frame).height
    written_format = files.write_table(table, target, form=write_as, note=notes.append)
    emit(
        form,
        notes=notes,
        payload={"kind": kind, "rows": n_rows, "format": written_format, "file": target},
        grid=Grid(
            columns=["kind", "rows", "format", "file"], rows=[[kind, str(n_rows), written_format, target]], left=4
        ),
    )


def _imply_preferences(
    judgments: Judgments, form: Format | None, ties: bool, repeats: Keep | None, note: Callable[[Note], None]
) -> tuple[Judgments | Preferences, int]:
    """What to write where preferences are wanted of judgments, and how many preferences that is."""
    from ringtrue.preference.implied_preferences import (
        count_implied_pairs,
        count_implying_queries,
        implied_preferences,
        keep_usable_labels,
    )

    if ties and form == "trec-prefs":
        raise OptionError(
            "wrong-format", "--ties: trec-prefs has no place for ties; leave it out, or write csv", parameter="ties"
        )
    labels = keep_usable_labels(judgments.without_repeats(repeats) if repeats else judgments)
    count = count_implied_pairs(labels, ties=ties)
    n_left_out = judgments.frame.height - labels.frame.height
    left_out = f"; {n_left_out:,} labels left out (below 0, 'not judged'{', or repeated' if repeats else ''})"
    implied = f"{format_count(count, 'preference')} implied by {labels.frame.height:,} labels"
    note(Note("implied-preferences", implied + left_out * bool(n_left_out)))
    n_queries = judgments.frame["query"].n_unique()
    if n_silent := n_queries - count_implying_queries(labels, ties=ties):
        needed = "two labels" if ties else "two different labels"
        text = f"{n_silent:,} of {format_count(n_queries, 'query')} implied no preference: nobody gave {needed} there"
        note(Note("no-implied-preference", text))
    # There the labels are levels: a line for each document holds all that pairs would say.
    return (labels if form == "trec-prefs" else implied_preferences(labels, ties=ties)), count


def _refuse_preference_options(kind: TableKind, to_kind: str | None, ties: bool, repeats: str | None) -> None:
    """Refuse options that would change nothing."""
    preference_options = {
        "to_kind": ("--to-kind preferences", to_kind),
        "ties": ("--ties", ties),
        "repeats": (f"--repeats {repeats}", repeats),
    }
    for name, (given, setting) in preference_options.items():
        if setting and kind != "judgments":
            text = f"{given}: IN holds {kind}, and only judgments imply preferences; leave it out"
            raise OptionError("unused-parameter", text, parameter=name)
        if setting:
            text = f"{given} is about preferences that labels imply; say --to-kind preferences as well"
            raise OptionError("needs-parameter", text, parameter="to_kind")


def _refuse_same_file(source: str, target: str) -> None:
    if Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
        raise OptionError(
            "overwrites-input",
            "a file cannot be converted onto itself; write to another and keep both",
            parameter="target",
            file=target,
        )


def _only_kind_of(form: Format | None) -> TableKind | None:
    """The only kind of file that comes in this format, if there is only one."""
    from ringtrue.files import FORMATS

    kinds = [kind for kind, forms in FORMATS.items() if form in forms]
    return kinds[0] if len(kinds) == 1 else None
