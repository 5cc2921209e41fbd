"""A table → a file."""

from __future__ import annotations

import gzip
import os
import re
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, TypeAlias, cast

import polars as pl

from ringtrue.errors import FileError, TableError, UsageError
from ringtrue.files.formats import FORMATS, Format, Kind
from ringtrue.files.source import COMPRESSED
from ringtrue.tables import Judgments, Preferences, Run
from ringtrue.tables.judgments import NO_JUDGE

__all__ = ["form_of", "replace_file", "write_table"]

Table: TypeAlias = Run | Judgments | Preferences | pl.DataFrame
EXTENSIONS: dict[str, Format] = {
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
    note: Callable[[str], None] = lambda _: None,
) -> Format:
    """Write a table in the format that the file's extension names, or in `form`; returns the format.

    The file appears whole or not at all. `note` is told what the format cannot hold.

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
            f"only runs, judgments, preferences and Polars frames can be written, not {type(table).__name__}"
        )
    kind = _kind(table)
    form = form or _named_form(path, kind)
    if form not in _writable(kind):
        what = "this table" if isinstance(table, pl.DataFrame) else kind
        todo = "; `implied_preferences` makes preferences of them" if (kind, form) == ("judgments", "pairs") else ""
        raise UsageError(f"{path}: {what} cannot be written as {form}, only as {', '.join(_writable(kind))}{todo}")
    frame = _columns(table, form, note)
    replace_file(path, lambda stream: _write(frame, form, stream))
    return form


def _kind(table: Table) -> Kind:
    if isinstance(table, Run):
        return "run"
    if isinstance(table, Judgments):
        return "judgments"
    if isinstance(table, Preferences):
        return "preferences"
    return "topics" if "query" in table.columns else "documents"


def _writable(kind: Kind) -> tuple[Format, ...]:
    forms = tuple(form for form in FORMATS[kind] if form not in ("msmarco-run", "cranfield", "trec-topics"))
    return (*forms, "trec-prefs") if kind == "judgments" else forms  # labels are levels there


def form_of(path: str | Path) -> Format | None:
    """The format that a file's extension names; None where it names none.

    Examples:
        >>> form_of("human.pref.gz"), form_of("human.txt")
        ('pairs', None)
    """
    suffixes = [suffix for suffix in Path(path).suffixes if suffix not in COMPRESSED]
    return EXTENSIONS.get(suffixes[-1].lower()) if suffixes else None


def _named_form(path: Path, kind: Kind) -> Format:
    found = form_of(path)
    if found is None:
        raise UsageError(
            f"{path}: no format goes by this name; end it with "
            + ", ".join(ending for ending, form in EXTENSIONS.items() if form in _writable(kind))
        )
    return found


def _columns(table: Table, form: Format, note: Callable[[str], None]) -> pl.DataFrame:
    """The columns that the format has, in its order."""
    if form == "trec-run" and isinstance(table, Run):
        tag = re.sub(r"[\x00-\x20]+", "_", table.tag or table.name or "run")
        frame = table.ranked().select(
            "query", pl.lit("Q0").alias("Q0"), "doc", "rank", "score", pl.lit(tag).alias("tag")
        )
    elif form in ("trec-qrels", "qrels-3") and isinstance(table, Judgments):
        names = ["query", "judge", "doc", "label"] if form == "trec-qrels" else ["query", "doc", "label"]
        lost = [name for name in table.frame.columns if name not in names]
        if lost:
            note(f"{form} has no place for {', '.join(lost)}; csv keeps every column")
        frame = table.frame.select(names)
    elif form == "pairs" and isinstance(table, Preferences):
        kept = ["query", "left", "right", "winner"]
        if (table.frame["judge"] == NO_JUDGE).all():  # which reading it gives back
            kept.append("judge")
        lost = [name for name in table.frame.columns if name not in kept]
        if lost:
            note(f"pairs has no place for {', '.join(lost)}; csv keeps every column")
        frame = table.frame.select("query", "left", "right", _winner_id())
    elif form == "trec-prefs" and isinstance(table, Judgments | Preferences):
        from ringtrue.files.trec_prefs import groups_of_labels, groups_of_pairs

        frame = groups_of_labels(table, note) if isinstance(table, Judgments) else groups_of_pairs(table.frame, note)
    elif form == "id-text" and isinstance(table, pl.DataFrame):
        frame = _id_and_text(table, note)
    elif isinstance(table, Run):
        return table.ranked()
    else:
        return table if isinstance(table, pl.DataFrame) else table.frame
    _refuse_blanks(frame, r"[\t\r\n]" if form == "id-text" else r"[\x00-\x20]")
    return frame


def _id_and_text(table: pl.DataFrame, note: Callable[[str], None]) -> pl.DataFrame:
    key = "query" if "query" in table.columns else "doc"
    wanted = ("title", "text") if key == "query" else ("text", "title")
    text = next((name for name in wanted if name in table.columns), None)
    if text is None or key not in table.columns:
        raise TableError(f"id-text needs columns '{key}' and '{wanted[0]}', found {', '.join(table.columns)}")
    lost = [name for name in table.columns if name not in (key, text)]
    if lost:
        note(f"id-text has no place for {', '.join(lost)}; csv keeps every column")
    return table.select(pl.col(key, text).cast(pl.String).fill_null(""))


def _winner_id() -> pl.Expr:
    said = pl.col("winner")
    return (
        pl.when(said == "left")
        .then(pl.col("left"))
        .when(said == "right")
        .then(pl.col("right"))
        .otherwise(said)
        .alias("winner")
    )


def _refuse_blanks(frame: pl.DataFrame, blanks: str) -> None:
    """Refuse what would be read back as something else: separators in a field, a line that begins a comment."""
    for place, (name, dtype) in enumerate(frame.schema.items()):
        if dtype == pl.String:
            bad = frame[name].str.contains(blanks)
            if bad.any():
                found = frame[name][int(bad.arg_true()[0])]
                raise TableError(f"{found!r} has a blank in it, which this format cannot hold; write csv instead")
            bad = frame[name].str.contains("^[#\ufeff]")
            if place == 0 and bad.any():
                found = frame[name][int(bad.arg_true()[0])]
                raise TableError(f"{found!r} would begin a comment in this format; write csv instead")


def _write(frame: pl.DataFrame, form: Format, stream: IO[bytes]) -> None:
    try:
        if form == "parquet":
            frame.write_parquet(stream)
        elif form == "jsonl":
            frame.write_ndjson(stream)
        elif form in ("csv", "tsv"):
            frame.write_csv(stream, separator="," if form == "csv" else "\t")
        else:
            separator = "\t" if form == "id-text" else " "
            frame.write_csv(stream, separator=separator, include_header=False, quote_style="never")
    except pl.exceptions.PolarsError as error:
        reason = (str(error).splitlines() or ["unknown"])[0]
        raise TableError(f"this table cannot be written as {form}: {reason}; try jsonl or parquet") from error


def replace_file(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write beside the target and move it there, so that a failure leaves what was there before.

    A pipe or a device is written to as it is, and a link stays a link.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            with open(path, "wb") as raw:
                _pack(raw, path.suffix, write)
            return
        target = Path(os.path.realpath(path))
        if target.is_file() and not target.stat().st_mode & 0o222:
            raise FileError(f"{path}: the file is read-only; write to another")
        handle, beside = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as raw:
                _pack(raw, path.suffix, write)
            os.chmod(beside, 0o666 & ~_umask())
            os.replace(beside, target)
        except BaseException:
            Path(beside).unlink(missing_ok=True)
            raise
    except FileNotFoundError as error:
        raise FileError(f"{path}: cannot be written: there is no folder '{path.parent}'; make it first") from error
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror or error})") from error


def _pack(raw: IO[bytes], suffix: str, write: Callable[[IO[bytes]], object]) -> None:
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
