"""A table → a file."""

from __future__ import annotations

import gzip
import os
import re
import tempfile
from collections.abc import Callable, Collection
from pathlib import Path
from typing import IO, TypeAlias, cast

import polars as pl

from ringtrue.errors import FileError, TableError, UsageError
from ringtrue.files.byte_source import COMPRESSED_SUFFIXES
from ringtrue.files.formats import FORMATS, Format, TableKind
from ringtrue.files.tabular import escape_guards, guard_formulas
from ringtrue.messages import Note, Suggestion
from ringtrue.tables import Judgments, Preferences, Run
from ringtrue.tables.judgments import NO_JUDGE

Table: TypeAlias = Run | Judgments | Preferences | pl.DataFrame
FORMAT_BY_EXTENSION: dict[str, Format] = {
    ".run": "trec-run",
    ".qrels": "trec-qrels",
    ".qrel": "trec-qrels",
    ".pref": "pairs",
    ".prefs": "trec-prefs",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}


def write_table(
    table: Table,
    path: str | Path,
    *,
    form: Format | None = None,
    note: Callable[[Note], None] = lambda _: None,
    guard: bool = False,
) -> Format:
    """Write a table in the format that the file's extension names, or in `form`; returns the format.

    The file appears whole or not at all. `note` is told what the format cannot hold. With `guard`, no cell of a CSV or
    TSV file is taken for a formula by a spreadsheet.

    Examples:
        >>> path = getfixture("tmp_path") / "copy.qrels"
        >>> write_table(Judgments.of({"q1": {"d1": 1}}), path)
        'trec-qrels'
        >>> path.read_text()
        'q1 0 d1 1\\n'
    """
    path = Path(path)
    if not isinstance(table, Run | Judgments | Preferences | pl.DataFrame):
        raise UsageError(
            "not-writable",
            f"only runs, judgments, preferences and Polars frames can be written, not {type(table).__name__}",
        )
    kind = _table_kind(table)
    form = form or _require_named_format(path, kind)
    if form not in _writable_formats(kind):
        table_name = "this table" if isinstance(table, pl.DataFrame) else kind
        pairs = Suggestion("makes preferences of them", function="implied_preferences")
        raise UsageError(
            "wrong-format",
            f"{table_name} cannot be written as {form}, only as {', '.join(_writable_formats(kind))}",
            file=str(path),
            suggestions=[pairs] if (kind, form) == ("judgments", "pairs") else (),
        )
    frame = _select_columns(table, form, note)
    replace_file(path, lambda stream: _write_frame(frame, form, stream, guard=guard))
    return form


def _table_kind(table: Table) -> TableKind:
    if isinstance(table, Run):
        return "run"
    if isinstance(table, Judgments):
        return "judgments"
    if isinstance(table, Preferences):
        return "preferences"
    return "topics" if "query" in table.columns else "documents"


def _writable_formats(kind: TableKind) -> tuple[Format, ...]:
    forms = tuple(form for form in FORMATS[kind] if form not in ("msmarco-run", "cranfield", "trec-topics"))
    return (*forms, "trec-prefs") if kind == "judgments" else forms  # labels are levels there


def format_from_extension(path: str | Path) -> Format | None:
    """The format that a file's extension names; None where it names none.

    Examples:
        >>> format_from_extension("human.pref.gz"), format_from_extension("human.txt")
        ('pairs', None)
    """
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in COMPRESSED_SUFFIXES]
    return FORMAT_BY_EXTENSION.get(suffixes[-1].lower()) if suffixes else None


def _require_named_format(path: Path, kind: TableKind) -> Format:
    named_form = format_from_extension(path)
    if named_form is None:
        endings = (ending for ending, form in FORMAT_BY_EXTENSION.items() if form in _writable_formats(kind))
        text = f"no format goes by this name; end it with {', '.join(endings)}"
        raise UsageError("unknown-extension", text, file=str(path))
    return named_form


def _select_columns(table: Table, form: Format, note: Callable[[Note], None]) -> pl.DataFrame:
    """The columns that the format has, in its order."""
    if form == "trec-run" and isinstance(table, Run):
        tag = re.sub(r"[\x00-\x20]+", "_", table.tag or table.name or "run")
        frame = table.ranked().select(
            "query", pl.lit("Q0").alias("Q0"), "doc", "rank", "score", pl.lit(tag).alias("tag")
        )
    elif form in ("trec-qrels", "qrels-3") and isinstance(table, Judgments):
        names = ["query", "judge", "doc", "label"] if form == "trec-qrels" else ["query", "doc", "label"]
        note_lost_columns(table.frame, names, form, note)
        frame = table.frame.select(names)
    elif form == "pairs" and isinstance(table, Preferences):
        kept_columns = ["query", "left", "right", "winner"]
        if (table.frame["judge"] == NO_JUDGE).all():  # which reading it gives back
            kept_columns.append("judge")
        note_lost_columns(table.frame, kept_columns, form, note)
        left_won, right_won = pl.col("winner") == "left", pl.col("winner") == "right"
        winner = pl.when(left_won).then("left").when(right_won).then("right").otherwise("winner").alias("winner")
        frame = table.frame.select("query", "left", "right", winner)
    elif form == "trec-prefs" and isinstance(table, Judgments | Preferences):
        from ringtrue.files.trec_prefs import labels_to_groups, pairs_to_groups

        frame = labels_to_groups(table, note) if isinstance(table, Judgments) else pairs_to_groups(table.frame, note)
    elif form == "id-text" and isinstance(table, pl.DataFrame):
        frame = _id_and_text(table, note)
    elif isinstance(table, Run):
        return table.ranked()
    else:
        return table if isinstance(table, pl.DataFrame) else table.frame
    _refuse_blanks(frame, r"[\t\r\n]" if form == "id-text" else r"[\x00-\x20]")
    return frame


def _id_and_text(table: pl.DataFrame, note: Callable[[Note], None]) -> pl.DataFrame:
    id_column = "query" if "query" in table.columns else "doc"
    text_columns = ("title", "text") if id_column == "query" else ("text", "title")
    text_column = next((name for name in text_columns if name in table.columns), None)
    if text_column is None or id_column not in table.columns:
        raise TableError(
            "missing-column",
            f"id-text needs columns '{id_column}' and '{text_columns[0]}', found {', '.join(table.columns)}",
            columns={id_column, text_columns[0]} - {*table.columns},
        )
    note_lost_columns(table, (id_column, text_column), "id-text", note)
    return table.select(pl.col(id_column, text_column).cast(pl.String).fill_null(""))


def note_lost_columns(frame: pl.DataFrame, kept: Collection[str], form: Format, note: Callable[[Note], None]) -> None:
    """A word on the columns that a format has no place for."""
    if lost_columns := [name for name in frame.columns if name not in kept]:
        note(Note("lost-columns", f"{form} has no place for {', '.join(lost_columns)}; csv keeps every column"))


def _refuse_blanks(frame: pl.DataFrame, blanks: str) -> None:
    """Refuse what would be read back as something else: separators in a field, a line that begins a comment."""
    faults = {blanks: "has a blank in it, which this format cannot hold"}
    first_column_faults = faults | {"^[#\ufeff]": "would begin a comment in this format"}
    for position, (name, dtype) in enumerate(frame.schema.items()):
        for pattern, fault in (faults if position else first_column_faults).items():
            if dtype == pl.String and (is_refused := frame[name].str.contains(pattern)).any():
                cell = frame[name][int(is_refused.arg_true()[0])]
                raise TableError("unwritable-cell", f"{cell!r} {fault}; write csv instead")


def _write_frame(frame: pl.DataFrame, form: Format, stream: IO[bytes], *, guard: bool) -> None:
    try:
        if form == "parquet":
            frame.write_parquet(stream)
        elif form == "jsonl":
            frame.write_ndjson(stream)
        elif form in ("csv", "tsv"):
            safe_frame = guard_formulas(frame) if guard else escape_guards(frame)
            safe_frame.write_csv(stream, separator="," if form == "csv" else "\t")
        else:
            separator = "\t" if form == "id-text" else " "
            frame.write_csv(stream, separator=separator, include_header=False, quote_style="never")
    except pl.exceptions.PolarsError as cause:
        reason = (str(cause).splitlines() or ["unknown"])[0]
        raise TableError(
            "unwritable-table", f"this table cannot be written as {form}: {reason}; try jsonl or parquet"
        ) from cause


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write beside the target and move it there, so that a failure leaves what was there before.

    A pipe or a device is written to as it is, and a link stays a link.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with open(path, "wb") as raw:
                _write_compressed(raw, path.suffix, write)
            return
        target = Path(os.path.realpath(path))
        if target.is_file() and not target.stat().st_mode & 0o222:
            raise FileError("read-only-file", "the file is read-only; write to another", file=str(path))
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as raw:
                _write_compressed(raw, path.suffix, write)
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except FileNotFoundError as error:
        text = f"cannot be written: there is no folder '{path.parent}'; make it first"
        raise FileError("no-such-folder", text, file=str(path)) from error
    except OSError as error:
        reason = error.strerror or error
        raise FileError("unwritable-file", f"cannot be written ({reason})", file=str(path)) from error


def _write_compressed(raw: IO[bytes], suffix: str, write: Callable[[IO[bytes]], object]) -> None:
    if suffix == ".gz":
        with gzip.GzipFile(fileobj=raw, mode="wb", mtime=0) as packed:
            write(cast("IO[bytes]", packed))
    elif suffix == ".zst":
        import zstandard

        with zstandard.ZstdCompressor().stream_writer(raw, closefd=False) as packed_zst:
            write(packed_zst)
    else:
        write(raw)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
