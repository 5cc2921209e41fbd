"""`ringtrue convert`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ringtrue.cli.options.common import Command, columns_of, conditions_of, input_options, output_options
from ringtrue.cli.output import Grid, OutputFormat, emit, tell
from ringtrue.errors import DuplicateError, TableError, UsageError
from ringtrue.formatting.phrases import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from ringtrue.files import Format, Kind
    from ringtrue.tables import Judgments, Preferences, Run

__all__ = ["command"]

KINDS = ("run", "judgments", "preferences", "topics", "documents")
Keep = Literal["first", "last"]


@click.command("convert", cls=Command)
@click.argument("source", metavar="IN")
@click.argument("target", metavar="OUT")
@click.option("--kind", type=click.Choice(KINDS), help="What IN holds, where that cannot be told.")
@click.option("--as", "given", metavar="FORMAT", help="The format of IN; see docs/reference/formats.md.")
@click.option("--to", "wanted", metavar="FORMAT", help="The format of OUT.")
@click.option("--to-kind", type=click.Choice(["preferences"]),
              help="Write the preferences that judgments imply; .pref, and .prefs for trec_eval, say so by "
              "themselves.")  # fmt: skip
@click.option("--ties", is_flag=True, help="Documents with equal labels are ties; otherwise they are left out.")
@click.option("--repeats", type=click.Choice(["first", "last"]),
              help="Which label implies preferences, where a judge labelled a document again.")  # fmt: skip
@input_options
@output_options
def command(
    source: str,
    target: str,
    kind: Kind | None,
    given: str | None,
    wanted: str | None,
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
    from ringtrue.cli.options.files import known_format
    from ringtrue.files.source import Source
    from ringtrue.files.write import form_of
    from ringtrue.tables import Judgments

    read_as, write_as = known_format(given), known_format(wanted)
    notes: list[str] = []
    file, names, rows_where = Source(source), columns_of(columns), conditions_of(where)
    _refuse_same(source, target)
    kind = kind or _kind_of(read_as) or files.recognise_kind(file, columns=names)
    readers: dict[Kind, Callable[..., Run | Judgments | Preferences | pl.DataFrame]] = {
        "run": files.read_run,
        "judgments": files.read_judgments,
        "preferences": files.read_preferences,
        "topics": files.read_topics,
        "documents": files.read_documents,
    }
    table = readers[kind](file, form=read_as, columns=names, where=rows_where, note=notes.append)
    out_form = write_as or form_of(target)
    if kind == "preferences" and out_form in ("trec-qrels", "qrels-3"):
        raise UsageError(
            f"{target}: preferences are no labels; ratings make labels of them: `ringtrue rate {source} --qrels "
            f"{target if form_of(target) == 'trec-qrels' else 'labels.qrels'} --threshold 0`"
        )
    if isinstance(table, Judgments) and (to_kind or out_form in ("pairs", "trec-prefs")):
        try:
            table, rows = _implied(table, out_form, ties, repeats, notes.append)
        except DuplicateError as error:
            from ringtrue.files.read import explain_duplicate

            raise explain_duplicate(error, source, form=read_as, columns=names, where=rows_where) from error
        except TableError as error:
            raise TableError(f"{file.shown}: {error}") from error
        kind = "preferences"
    else:
        _refuse_implying(kind, to_kind, ties, repeats)
        rows = (table if isinstance(table, pl.DataFrame) else table.frame).height
    written = files.write_table(table, target, form=write_as, note=notes.append)
    tell(notes)
    emit(
        form,
        data={"kind": kind, "rows": rows, "format": written, "file": target},
        grid=Grid(columns=["kind", "rows", "format", "file"], rows=[[kind, str(rows), written, target]], left=4),
    )


def _implied(
    judgments: Judgments, form: Format | None, ties: bool, repeats: Keep | None, note: Callable[[str], None]
) -> tuple[Judgments | Preferences, int]:
    """What to write where preferences are wanted of judgments, and how many preferences that is."""
    from ringtrue.preference.implied_preferences import count_implied, implied_preferences, implying, queries_implying

    if ties and form == "trec-prefs":
        raise UsageError("--ties: trec-prefs has no place for ties; leave it out, or write csv")
    labels = implying(judgments.without_repeats(repeats) if repeats else judgments)
    count = count_implied(labels, ties=ties)
    left_out = judgments.frame.height - labels.frame.height
    note(
        f"{count:,} preference{'s' * (count > 1)} implied by {labels.frame.height:,} labels"
        + f"; {left_out:,} labels left out (below 0, 'not judged'{', or repeated' if repeats else ''})" * bool(left_out)
    )
    queries = judgments.frame["query"].n_unique()
    if silent := queries - queries_implying(labels, ties=ties):
        differ = "two labels" if ties else "two different labels"
        note(f"{silent:,} of {counted(queries, 'query')} implied no preference: nobody gave {differ} there")
    # There the labels are levels: a line for each document holds all that pairs would say.
    return (labels if form == "trec-prefs" else implied_preferences(labels, ties=ties)), count


def _refuse_implying(kind: Kind, to_kind: str | None, ties: bool, repeats: str | None) -> None:
    """Refuse options that would change nothing."""
    asked = {"--to-kind preferences": to_kind, "--ties": ties, f"--repeats {repeats}": repeats}
    for option, value in asked.items():
        if value and kind != "judgments":
            raise UsageError(f"{option}: IN holds {kind}, and only judgments imply preferences; leave it out")
        if value:
            raise UsageError(f"{option} is about preferences that labels imply; say --to-kind preferences as well")


def _refuse_same(source: str, target: str) -> None:
    if Path(source).exists() and Path(target).exists() and Path(source).samefile(target):
        raise UsageError(f"{target}: a file cannot be converted onto itself; write to another and keep both")


def _kind_of(given: Format | None) -> Kind | None:
    """The only kind of file that comes in this format, if there is only one."""
    from ringtrue.files import FORMATS

    kinds = [kind for kind, forms in FORMATS.items() if given in forms]
    return kinds[0] if len(kinds) == 1 else None
