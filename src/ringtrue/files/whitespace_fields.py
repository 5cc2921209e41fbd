"""Text in columns between white space: TREC runs, qrels, preferences.

A piece of a file whose lines all have the same number of fields, set apart by single characters, goes to
Polars' parser at once. One with other spacing or comments is tidied first. Whatever still does not fit is
read line by line, slowly, by the code that also finds the words for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from ringtrue.errors import FormatError
from ringtrue.files.byte_source import BOM, Source
from ringtrue.messages import Note
from ringtrue.tables.columns import INT32

BLOCK_SIZE = 1 << 18
NEWLINE, SPACE = 10, 32
NOT_BLANK = bytes(range(SPACE + 1, 256))
NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
BLANKS = re.compile(r"[\t-\r ]+")
CONTROL_BYTES = bytes({*range(SPACE)} - {*b"\t\n\v\f\r"})  # below the space, but no white space
LONE_RETURN = re.compile(rb"\r(?![ \t\r\v\f]*\n)")  # how lines ended on old Macs
NOT_FINITE = re.compile(r"[+-]?(?:nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The fields of a line, by name; those named `_` are not kept.

    `allows_extra` allows further fields after the last. A field called score is a finite number, one called label a
    whole number of 32 bits; all others are text.
    """

    fields: tuple[str, ...]
    description: str
    allows_extra: bool = False

    @property
    def kept_fields(self) -> dict[str, int]:
        """Which fields are kept, and where they stand."""
        return {name: position for position, name in enumerate(self.fields) if name != "_"}


def read_fields(source: Source, layout: Layout, note: Callable[[Note], None] = lambda _: None) -> pl.DataFrame:
    """All lines of a file; blank lines and those that begin with # are passed over, and `note` is told of long ones."""
    frames, first_line, with_extra = [], 1, 0
    for chunk in source.chunks():
        if (parsed := _parse_with_polars(chunk, layout)) is None:
            parsed = _parse_line_by_line(chunk, layout, source, first_line)
            with_extra += parsed.with_extra
        if parsed.frame.height:
            frames.append(parsed.frame)
        first_line += parsed.line_count
    if not frames:
        raise FormatError(
            "no-data", f"no line of data in this file; expected {layout.description}", file=source.display_name
        )
    if with_extra:
        text = f"{with_extra} lines have more than {len(layout.fields)} fields; what follows the last was ignored"
        note(Note("extra-fields", text, subject=source.display_name))
    return pl.concat(frames, rechunk=False)


def find_lines(source: Source, layout: Layout, **field_values: str) -> list[int]:
    """The numbers of the lines whose fields have these values."""
    value_at = {layout.kept_fields[name]: value for name, value in field_values.items()}
    return [
        number
        for number, fields in _split_lines(source)
        if all(position < len(fields) and fields[position] == value for position, value in value_at.items())
    ]


def line_of_row(source: Source, row: int) -> int:
    """The number of the line that became this row, from 0, of what was read."""
    return next(number for position, (number, _) in enumerate(_split_lines(source)) if position == row)


def _split_lines(source: Source) -> Iterator[tuple[int, list[str]]]:
    for number, line in source.lines():
        if not line.startswith("#") and (fields := split_fields(line)):
            yield number, fields


def split_fields(line: str) -> list[str]:
    """What stands between ASCII white space; no-break and other Unicode spaces may be part of an id."""
    return [field for field in BLANKS.split(line) if field]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ParsedChunk:
    """A piece of a file as columns, and how many lines it had."""

    frame: pl.DataFrame
    line_count: int
    with_extra: int = 0


def _parse_with_polars(chunk: bytes, layout: Layout) -> _ParsedChunk | None:
    """The piece by Polars' parser, or None where it has to be looked at line by line."""
    line_count = None  # as many as rows, if nothing has to be tidied away
    separator = _single_separator(chunk, len(layout.fields))
    if separator is None:
        if len(chunk.translate(None, CONTROL_BYTES)) < len(chunk) or LONE_RETURN.search(chunk):
            return None
        line_count = chunk.count(b"\n")
        chunk = _normalise_blanks(chunk)
        separator = _single_separator(chunk, len(layout.fields))
        if separator is None:
            return None
    if chunk.startswith(BOM):  # here it is part of an id, which Polars does not know
        return None
    names = [f"{name}{position}" if name == "_" else name for position, name in enumerate(layout.fields)]
    numeric = ("score", "label")
    try:
        frame = pl.read_csv(
            chunk,
            has_header=False,
            separator=separator,
            quote_char=None,
            schema={name: pl.Float64 if name in numeric else pl.String for name in names},
            columns=list(layout.kept_fields.values()),
        )
    except pl.exceptions.PolarsError:
        return None
    if "score" in layout.kept_fields and not frame["score"].is_finite().all():
        return None
    if "label" in layout.kept_fields:
        labels = frame["label"]
        if not ((labels == labels.round(0)) & labels.is_between(INT32.start, INT32.stop - 1)).all():
            return None
        frame = frame.with_columns(labels.cast(pl.Int32))
    if any(frame.null_count().row(0)):
        return None
    return _ParsedChunk(frame=frame, line_count=frame.height if line_count is None else line_count)


def _single_separator(chunk: bytes, field_count: int) -> str | None:
    """The one character between fields, if every line has just so many of them; else None."""
    blanks = chunk.translate(None, NOT_BLANK)
    separator = blanks[:1] if field_count > 1 else b" "
    if separator not in (b" ", b"\t") or blanks != (separator * (field_count - 1) + b"\n") * (
        len(blanks) // field_count
    ):
        return None
    if b"#" in chunk and (chunk.startswith(b"#") or b"\n#" in chunk):
        return None
    return None if chunk[0] <= SPACE or _has_adjacent_blanks(chunk) else separator.decode()


def _has_adjacent_blanks(chunk: bytes) -> bool:
    """Whether two blanks stand side by side; so few bytes at a time that what is computed stays in the cache."""
    codes = np.frombuffer(chunk, dtype=np.uint8)
    for start in range(0, len(codes), BLOCK_SIZE):
        is_blank = codes[start : start + BLOCK_SIZE + 1] <= SPACE
        if np.any(is_blank[1:] & is_blank[:-1]):
            return True
    return False


def _normalise_blanks(chunk: bytes) -> bytes:
    """Each run of white space as one space, or as one line break if there is one in it; no comments."""
    if b"#" in chunk:
        chunk = b"\n".join(line for line in chunk.split(b"\n") if not line.startswith(b"#"))
    codes = np.frombuffer(b"\n" + chunk, dtype=np.uint8).copy()
    is_blank = codes <= SPACE
    starts_blanks = is_blank.copy()
    starts_blanks[1:] &= ~is_blank[:-1]
    starts = np.flatnonzero(starts_blanks)
    has_newline = np.logical_or.reduceat(codes == NEWLINE, starts)
    # reduceat runs on to the next beginning, but between the two stands no further line break.
    codes[starts] = np.where(has_newline, NEWLINE, SPACE)
    return codes[~is_blank | starts_blanks][1:].tobytes()


def _parse_line_by_line(chunk: bytes, layout: Layout, source: Source, first_line: int) -> _ParsedChunk:
    """The piece, slowly, with an error that names the line where something is wrong."""
    columns: dict[str, list[Any]] = {name: [] for name in layout.kept_fields}
    kept_fields, field_count, with_extra = layout.kept_fields.items(), len(layout.fields), 0
    for number, raw in enumerate(chunk[:-1].split(b"\n"), start=first_line):
        if raw.startswith(b"#") or not (fields := split_fields(source.decode_line(raw, number))):
            continue
        if b"\r" in raw.strip():
            raise FormatError(
                "carriage-return",
                "a carriage return inside a line; end lines with a line feed",
                file=source.display_name,
                line=number,
            )
        if len(fields) != field_count:
            if len(fields) < field_count or not layout.allows_extra:
                raise FormatError(
                    "too-few-fields" if len(fields) < field_count else "too-many-fields",
                    f"expected {field_count} fields ({layout.description}), found {len(fields)}",
                    file=source.display_name,
                    line=number,
                )
            with_extra += 1
        for name, position in kept_fields:
            field: Any = fields[position]
            if name == "score":
                field = _parse_score(field, source, number)
            elif name == "label":
                field = _parse_label(field, source, number)
            columns[name].append(field)
    types = {"score": pl.Float64, "label": pl.Int32}
    frame = pl.DataFrame(columns, schema={name: types.get(name, pl.String) for name in columns})
    return _ParsedChunk(frame=frame, line_count=chunk.count(b"\n"), with_extra=with_extra)


def _parse_score(text: str, source: Source, line: int) -> float:
    if NUMBER.fullmatch(text):
        score = float(text)
        if score in (float("inf"), float("-inf")):
            raise FormatError(
                "bad-score", f"the score {text} is too large for a 64-bit number", file=source.display_name, line=line
            )
        return score
    if NOT_FINITE.fullmatch(text):
        raise FormatError(
            "bad-score",
            f"expected a finite score, found '{text}': it has no place in a ranking",
            file=source.display_name,
            line=line,
        )
    raise FormatError("bad-score", f"expected a number as score, found '{text}'", file=source.display_name, line=line)


def _parse_label(text: str, source: Source, line: int) -> int:
    label = float(text) if NUMBER.fullmatch(text) else float("nan")
    if label != label or label in (float("inf"), float("-inf")) or label != int(label):
        raise FormatError(
            "bad-label", f"expected a whole number as label, found '{text}'", file=source.display_name, line=line
        )
    if int(label) not in INT32:
        raise FormatError(
            "bad-label",
            f"the label {text} does not fit 32 bits; labels are small grades such as 0 to 3",
            file=source.display_name,
            line=line,
        )
    return int(label)
