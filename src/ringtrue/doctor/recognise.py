"""What a file holds, of all that ringtrue reads and writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from ringtrue.doctor.results import FileKind
from ringtrue.errors import FormatError
from ringtrue.files import holds_matrix, recognise_kind
from ringtrue.files.byte_source import Source
from ringtrue.files.formats import TABLE_FORMATS, Format, TableKind, find_separator, recognise_format
from ringtrue.files.tabular import read_column_names
from ringtrue.files.whitespace_fields import NUMBER
from ringtrue.messages import Suggestion
from ringtrue.tables.columns import COLUMN_ALIASES, Column

SCORE_COLUMNS = {"run", "query", "measure", "value"}  # what `evaluate --per-query --format csv` prints
FRAME_COLUMNS = {"query", "doc", "prob", "drawn"}  # what `sample` writes beside a sample
RATING_COLUMNS = {"doc", "rating", "matches", "votes"}  # what `rate -o` writes
RUN_FIELDS = 6
HTML_PEEK_BYTES = 20  # bytes
MAX_LISTED = 5  # columns that a message names
TEXT_FILE_WORDS: dict[FileKind, tuple[str, ...]] = {
    "topics": ("topic", "quer", "qry"),
    "documents": ("doc", "corpus", "collection", "passage"),
}
BINARY_MAGIC = {b"%PDF": "a PDF", b"\x89PNG": "a picture", b"\xff\xd8\xff": "a picture", b"GIF8": "a picture"}
DATABASE_SUFFIXES = (".db", ".sqlite", ".sqlite3")


def recognise_file_kind(source: Source) -> FileKind:
    """The kind of a file by what is in it; an error says what it looks like where it is nothing that we know.

    Examples:
        >>> path = getfixture("tmp_path") / "pool.csv"
        >>> _ = path.write_text("query,doc,runs\\nq1,d1,2\\n")
        >>> recognise_file_kind(Source(str(path)))
        'pool'
    """
    head = _read_text_head(source)
    if _is_single_json_object(head):
        return _json_object_kind(source)
    form = recognise_table_format(source)
    names = read_column_names(source, form) if form is not None else _first_line(head).split(",")
    columns = {name.strip().lower() for name in names}
    if columns >= SCORE_COLUMNS:
        return "scores"
    if columns >= RATING_COLUMNS:
        write_other = Suggestion("writes labels in their place", function="rate", qrels=...)
        raise FormatError(
            "ratings-file",
            "ratings of documents, which nothing reads",
            file=source.display_name,
            suggestions=[write_other],
        )
    try:
        kind = recognise_kind(source)
    except FormatError as error:
        raise _unknown_file_error(source, head) from error
    if kind != "preferences" and has_column("left", columns) and has_column("right", columns):
        return "pairs"
    if kind not in ("topics", "documents"):
        return kind
    if has_column("query", columns) and has_column("doc", columns):
        if FRAME_COLUMNS <= columns <= FRAME_COLUMNS | {"drawn_from"}:
            return "frame"
        return "sample" if columns >= {"prob", "design"} else "pool"
    if form is not None:
        if kind == "documents" and not has_column("doc", columns) and "_id" not in columns:
            raise _unknown_table_error(source, sorted(columns))
        return kind
    return _kind_by_name(source, kind)


def _kind_by_name(source: Source, kind: TableKind) -> FileKind:
    """Topics or documents: lines of id and text, and Cranfield's, look alike, and only the file's name tells."""
    name = Path(source.path).name.lower()
    for text_kind, words in TEXT_FILE_WORDS.items():
        if any(word in name for word in words):
            return text_kind
    return kind


def recognise_table_format(source: Source) -> Format | None:
    """The format of a table with named columns; None where it is something else."""
    try:
        form = recognise_format(source, "topics")
    except FormatError:
        return None
    return form if form in TABLE_FORMATS else None


def has_column(column: Column, names: Iterable[str]) -> bool:
    """Whether one of these names, in small letters, is one that we know for a column.

    Examples:
        >>> has_column("query", {"qid", "text"}), has_column("doc", {"qid", "text"})
        (True, False)
    """
    return not set(COLUMN_ALIASES[column]).isdisjoint(names)


def _read_text_head(source: Source) -> bytes:
    """The first bytes; errors about what is no text say a little more."""
    try:
        head = source.read_head()
    except FormatError as error:
        name = source.display_name
        if source.path.endswith(".xlsx"):
            raise FormatError("spreadsheet", "this is an Excel sheet; save it as CSV", file=name) from error
        if source.path.endswith(DATABASE_SUFFIXES):
            text = "a database; if it has collected judgments, export the labels on the project's page"
            raise FormatError("database-file", text, file=name) from error
        raise
    if head.lstrip()[:HTML_PEEK_BYTES].lower().startswith((b"<!doctype html", b"<html")):
        raise FormatError(
            "web-page", "a web page; of a report, give the files that it is about", file=source.display_name
        )
    for magic, description in BINARY_MAGIC.items():
        if head.startswith(magic):
            text = f"this is {description}; expected text (plain, .gz or .zst) or Parquet"
            raise FormatError("binary-file", text, file=source.display_name)
    return head


def _is_single_json_object(head: bytes) -> bool:
    """Whether a text is one JSON object, rather than an object on each line."""
    text = head.lstrip()
    if not text.startswith(b"{"):
        return False
    first_line, _, other_lines = text.partition(b"\n")
    try:
        parsed = json.loads(first_line)
    except ValueError:
        return True
    return (
        not other_lines.strip()
        and isinstance(parsed, dict)
        and any(isinstance(value, dict | list) for value in parsed.values())
    )


def _json_object_kind(source: Source) -> FileKind:
    from ringtrue.files.json_files import read_json

    content = read_json(source, "JSON")
    if isinstance(content, dict) and isinstance(content.get("gains"), dict):
        return "gains"
    if holds_matrix(source) or _has_matrix(content):
        return "confusion"
    keys = (", ".join(list(content)[:MAX_LISTED]) if isinstance(content, dict) else "") or "nothing"
    looks_like = f"JSON, but neither a confusion matrix nor gains; it has {keys}"
    raise FormatError("unknown-json", f"{looks_like}. A table has one object on each line", file=source.display_name)


def _has_matrix(content: object) -> bool:
    return isinstance(content, dict) and any(
        isinstance(content.get(key), dict) and {"labels", "confusion"} & set(content[key])
        for key in ("judge", "confusion")
    )


def _first_line(head: bytes) -> str:
    return next((line for line in head.decode("utf-8", "replace").split("\n") if line.strip()), "").strip()


def _unknown_table_error(source: Source, names: Sequence[str]) -> FormatError:
    nonempty = [name for name in names if name]
    listed_names = ", ".join(nonempty[:MAX_LISTED]) + ", …" * (len(nonempty) > MAX_LISTED)
    named = dict.fromkeys(("query", "doc", "label", "judge"), "NAME")
    return FormatError(
        "unknown-columns",
        f"a table of {listed_names}; rename the columns that are query, doc, label or score",
        file=source.display_name,
        suggestions=[Suggestion("says to each command which they are", columns=named)],
    )


def _unknown_file_error(source: Source, head: bytes) -> FormatError:
    """What a file that is none of ours looks like."""
    first_line = _first_line(head)
    if first_line.startswith("["):
        text = "a list in JSON; write one object on each line, as JSON lines have it"
        return FormatError("json-list", text, file=source.display_name)
    separator = find_separator(first_line)
    if separator is not None and first_line.count(separator) > 1:
        names = [name.strip() for name in first_line.split(separator)]
        if all(not name or NUMBER.fullmatch(name) for name in names):
            table = "a table of numbers without names for its columns"
            text = f"{table}; give it a first line such as query,doc,judge,label, with a row for each label"
            return FormatError("unnamed-columns", text, file=source.display_name)
        if all(re.fullmatch(r"[\w .\-]{0,40}", name) for name in names):
            return _unknown_table_error(source, names)
    fields = first_line.split()
    if len(fields) == RUN_FIELDS:
        text = f"6 fields a line, as a run has, but its first score is '{fields[4]}'"
        return FormatError("bad-score", text, file=source.display_name)
    expected = "a run has 6 fields a line, judgments 4"
    text = f"nothing that we know; {expected}, and its first line {len(fields)}"
    return FormatError("unknown-file", text, file=source.display_name)
