"""What a file holds, of all that ringtrue reads and writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ringtrue.doctor.results import FileKind
from ringtrue.errors import FormatError
from ringtrue.files import holds_matrix, recognise_kind
from ringtrue.files.formats import TABLES, Format, Kind, recognise, separator_of
from ringtrue.files.source import Source
from ringtrue.files.tabular import column_names
from ringtrue.files.whitespace_fields import NUMBER
from ringtrue.tables.columns import NAMES, Column

__all__ = ["has_column", "table_form", "told_kind"]

SCORES = {"run", "query", "measure", "value"}  # what `evaluate --per-query --format csv` prints
RATINGS = {"doc", "rating", "matches", "votes"}  # what `rate -o` writes
RUN_FIELDS = 6
LOOK = 20  # bytes
LISTED = 5  # columns that a message names
TEXTS: dict[FileKind, tuple[str, ...]] = {
    "topics": ("topic", "quer", "qry"),
    "documents": ("doc", "corpus", "collection", "passage"),
}
BINARY = {b"%PDF": "a PDF", b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture"}
DATABASES = (".db", ".sqlite", ".sqlite3")


def told_kind(source: Source) -> FileKind:
    """The kind of a file by what is in it; an error says what it looks like where it is nothing that we know.

    Examples:
        >>> path = getfixture("tmp_path") / "pool.csv"
        >>> _ = path.write_text("query,doc,runs\\nq1,d1,2\\n")
        >>> told_kind(Source(str(path)))
        'pool'
    """
    start = _start(source)
    if _one_object(start):
        return _object(source)
    form = table_form(source)
    names = column_names(source, form) if form is not None else _first_line(start).split(",")
    columns = {name.strip().lower() for name in names}
    if columns >= SCORES:
        return "scores"
    if columns >= RATINGS:
        raise FormatError(
            f"{source.shown}: ratings, as `ringtrue rate -o` writes them, which no command reads; say -o FILE.run, or "
            f"--qrels FILE"
        )
    try:
        kind = recognise_kind(source)
    except FormatError as error:
        raise _unknown(source, start) from error
    if kind == "preferences" or (has_column("left", columns) and has_column("right", columns)):
        return "preferences" if kind == "preferences" else "pairs"
    if kind not in ("topics", "documents"):
        return kind
    if has_column("query", columns) and has_column("doc", columns):
        return "sample" if columns >= {"prob", "design"} else "pool"
    if form is not None:
        if kind == "documents" and not has_column("doc", columns) and "_id" not in columns:
            raise _unknown_table(source, sorted(columns))
        return kind
    return _by_name(source, kind)


def _by_name(source: Source, kind: Kind) -> FileKind:
    """Topics or documents: lines of id and text, and Cranfield's, look alike, and only the file's name tells."""
    name = Path(source.path).name.lower()
    for found, words in TEXTS.items():
        if any(word in name for word in words):
            return found
    return kind


def table_form(source: Source) -> Format | None:
    """The format of a table with named columns; None where it is something else."""
    try:
        form = recognise(source, "topics")
    except FormatError:
        return None
    return form if form in TABLES else None


def has_column(column: Column, names: Iterable[str]) -> bool:
    """Whether one of these names, in small letters, is one that we know for a column.

    Examples:
        >>> has_column("query", {"qid", "text"}), has_column("doc", {"qid", "text"})
        (True, False)
    """
    return not set(NAMES[column]).isdisjoint(names)


def _start(source: Source) -> bytes:
    """The first bytes; errors about what is no text say a little more."""
    try:
        start = source.head()
    except FormatError as error:
        told = str(error)
        if source.path.endswith(".xlsx"):
            told = f"{source.shown}: this is an Excel sheet; save it as CSV"
        elif source.path.endswith(DATABASES):
            told += "; if `ringtrue serve` made it, export its labels on the project's page"
        raise FormatError(told) from error
    if start.lstrip()[:LOOK].lower().startswith((b"<!doctype html", b"<html")):
        raise FormatError(
            f"{source.shown}: a web page, such as `ringtrue report` writes; give the files that it is about"
        )
    for magic, what in BINARY.items():
        if start.startswith(magic):
            raise FormatError(f"{source.shown}: this is {what}; expected text (plain, .gz or .zst) or Parquet")
    return start


def _one_object(start: bytes) -> bool:
    """Whether a text is one JSON object, rather than an object on each line."""
    text = start.lstrip()
    if not text.startswith(b"{"):
        return False
    first, _, rest = text.partition(b"\n")
    try:
        found = json.loads(first)
    except ValueError:
        return True
    return (
        not rest.strip() and isinstance(found, dict) and any(isinstance(value, dict | list) for value in found.values())
    )


def _object(source: Source) -> FileKind:
    from ringtrue.files.json_objects import read_json

    found = read_json(source, "JSON")
    if isinstance(found, dict) and isinstance(found.get("gains"), dict):
        return "gains"
    if holds_matrix(source) or _has_matrix(found):
        return "confusion"
    keys = ", ".join(list(found)[:LISTED]) if isinstance(found, dict) else ""
    raise FormatError(
        f"{source.shown}: JSON, but neither a confusion matrix nor gains; it has {keys or 'nothing'}. A table has one "
        f"object on each line"
    )


def _has_matrix(found: object) -> bool:
    return isinstance(found, dict) and any(
        isinstance(found.get(key), dict) and {"labels", "confusion"} & set(found[key]) for key in ("judge", "confusion")
    )


def _first_line(start: bytes) -> str:
    return next((line for line in start.decode("utf-8", "replace").split("\n") if line.strip()), "").strip()


def _unknown_table(source: Source, names: Sequence[str]) -> FormatError:
    known = [name for name in names if name]
    shown = ", ".join(known[:LISTED]) + ", …" * (len(known) > LISTED)
    return FormatError(
        f"{source.shown}: a table of {shown}; which is query, doc, label or score? Rename those "
        f"that are, or tell each command: --columns query=NAME,doc=NAME,label=NAME,judge=NAME"
    )


def _unknown(source: Source, start: bytes) -> FormatError:
    """What a file that is none of ours looks like."""
    first = _first_line(start)
    if first.startswith("["):
        return FormatError(f"{source.shown}: a list in JSON; write one object on each line, as JSON lines have it")
    separator = separator_of(first)
    if separator is not None and first.count(separator) > 1:
        names = [name.strip() for name in first.split(separator)]
        if all(not name or NUMBER.fullmatch(name) for name in names):
            return FormatError(
                f"{source.shown}: a table of numbers without names for its columns; give it a first line such as "
                f"query,doc,judge,label, with a row for each label"
            )
        if all(re.fullmatch(r"[\w .\-]{0,40}", name) for name in names):
            return _unknown_table(source, names)
    fields = len(first.split())
    if fields == RUN_FIELDS:
        return FormatError(
            f"{source.shown}: 6 fields a line, as a run has, but its first score is '{first.split()[4]}'"
        )
    return FormatError(
        f"{source.shown}: nothing that we know; a run has 6 fields a line, judgments 4, and its first line {fields}"
    )
